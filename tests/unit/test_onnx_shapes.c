/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of operators that compute no products, worked out by hand from the
 * specification (https://onnx.ai/onnx/operators/). None of them has MACs. */

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "unit.h"

#include "onnx_model.h"

static void test_elementwise(void **state) {
  static const struct onnx_case cases[] = {
      {"Relu", "3x4x5", "", "3x4x5", 0, 0},
      {"Softmax", "3x4", "axis=-1", "float32:3x4", 0, 0},
      {"Add", "3x4x5 5", "", "3x4x5", 0, 0},
      {"Add", "3x1 1x4", "", "3x4", 0, 0},
      {"Add", "8x1x6x1 7x1x5", "", "8x7x6x5", 0, 0},
      {"Add", "2 3", "", "!inputs whose shapes do not fit each other", 0, 0},
      {"Add@6", "2x3x4x5 3x4", "axis=1 broadcast=1", "2x3x4x5", 0, 0},
      {"Mul", "2x3 *3", "", "2x3", 0, 3},
      {"Equal", "int64:3x4 int64:4", "", "bool:3x4", 0, 0},
      {"And", "bool:3x4 bool:3x4", "", "bool:3x4", 0, 0},
      {"Max", "3 3 3", "", "3", 0, 0},
      {"Max", "3", "", "3", 0, 0},
      {"Sum", "3 2x3 4x1x1", "", "4x2x3", 0, 0},
      {"Mean", "3 2", "", "!inputs whose shapes do not fit each other", 0, 0},
      {"Where", "bool:2x2 2x2 1", "", "2x2", 0, 0},
      {"Where", "bool:3x1 2 1", "", "3x2", 0, 0},
      {"Cast", "2x3", "to=7", "int64:2x3", 0, 0},
      {"Abs", "2x3", "", "2x3", 0, 0},
      {"Identity", "2x3", "", "2x3", 0, 0},
      {"Clip", "2x3 ~0. ~6.", "", "2x3", 0, 0},
      {"PRelu", "1x8x4x4 *8x1x1", "", "1x8x4x4", 0, 8},
      {"Dropout", "2x3", "", "2x3 bool:2x3", 0, 0},
      {"BatchNormalization", "2x3x4x5 *3 *3 *3 *3", "", "2x3x4x5", 0, 6},
      {"BatchNormalization@9", "2x3x4x5 *3 *3 *3 *3", "", "2x3x4x5 3 3", 0, 6},
      {"LayerNormalization", "2x3x4 *4 *4", "", "2x3x4 2x3x1 2x3x1", 0, 8},
      {"LayerNormalization", "2x3x4 *3x4", "axis=1", "2x3x4 2x1x1", 0, 12},
      {"InstanceNormalization", "2x3x4x4 *3 *3", "", "2x3x4x4", 0, 6},
      {"DynamicQuantizeLinear", "6", "", "uint8:6 float32:scalar uint8:scalar",
       0, 0},
      {"com.microsoft.SkipLayerNormalization", "2x3x8 2x3x8 *8 *8", "", "2x3x8",
       0, 16},
      {"com.microsoft.QuickGelu", "2x3", "", "2x3", 0, 0},
      {"SimplifiedLayerNormalization", "2x3x8 *8", "", "2x3x8", 0, 8},
      {"ai.onnx.Relu", "2", "", "2", 0, 0},
      {"own.Swirl", "2x3 4", "", "2x3", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

/* What sizes are computed with: the values themselves. */
static void test_known_values(void **state) {
  static const struct onnx_case cases[] = {
      {"Add", "=2,3 =4,5", "", "->6x8", 0, 0},
      {"Sub", "=6,7 =4,5", "", "->2x2", 0, 0},
      {"Mul", "=2,3 #4", "", "->8x12", 0, 0},
      {"Div", "=7,9 =2,3", "", "->3x3", 0, 0},
      {"Div", "=7,9 =0,3", "", "2", 0, 0},
      {"Mod", "=7,9 =4,5", "", "->3x4", 0, 0},
      {"Mod", "=-7 =4", "", "->1", 0, 0},
      {"Pow", "=2,3 =3,2", "", "->8x9", 0, 0},
      {"Max", "=2,9 =5,5", "", "->5x9", 0, 0},
      {"Min", "=2,9 =5,5", "", "->2x5", 0, 0},
      {"Sum", "=2,9 =5,5", "", "->7x14", 0, 0},
      {"Mean", "~2.,9. ~4.,5.", "", "->3x7", 0, 0},
      {"Equal", "=2,9 =2,5", "", "->1x0", 0, 0},
      {"Less", "=2,9 =5,5", "", "->1x0", 0, 0},
      {"LessOrEqual", "=5,9 =5,5", "", "->1x0", 0, 0},
      {"Greater", "=2,9 =5,5", "", "->0x1", 0, 0},
      {"GreaterOrEqual", "=5,9 =5,5", "", "->1x1", 0, 0},
      {"And", "=1,1 =1,0", "", "->1x0", 0, 0},
      {"Or", "=1,0 =1,0", "", "->1x0", 0, 0},
      {"Not", "=1,0", "", "->0x1", 0, 0},
      {"Neg", "=-3,-4", "", "->3x4", 0, 0},
      {"Abs", "=-3,4", "", "->3x4", 0, 0},
      {"Floor", "~2.5,3.", "", "->2x3", 0, 0},
      {"Ceil", "~2.5,3.", "", "->3x3", 0, 0},
      {"Sqrt", "~16.,9.", "", "->4x3", 0, 0},
      {"Cast", "~2.75,3.25", "to=7", "->2x3", 0, 0},
      {"Cast", "=2,3", "to=1", "->2x3", 0, 0},
      {"Where", "=1,0 =2,3 =4,5", "", "->2x5", 0, 0},
      {"Identity", "=2,3", "", "->2x3", 0, 0},
      {"Shape", "3x4x5", "", "->3x4x5", 0, 0},
      {"Shape", "3x4x5", "start=1", "->4x5", 0, 0},
      {"Shape", "3x4x5", "start=-3 end=-1", "->3x4", 0, 0},
      {"Shape", "3x4x5", "start=2 end=1", "->scalar", 0, 0},
      {"Size", "3x4x5", "", "->60", 0, 0},
      {"Reshape", "=2,3 =-1", "", "->2x3", 0, 0},
      {"Flatten", "#5", "axis=0", "->5", 0, 0},
      {"Squeeze", "=5 =0", "", "->5", 0, 0},
      {"Unsqueeze", "#5 =0", "", "->5", 0, 0},
      {"Expand", "#4 =2", "", "->4x4", 0, 0},
      {"Constant", "", "value=:int64:2", "->7x7", 0, 0},
      {"Constant", "", "value_int=4", "->4", 0, 0},
      {"Constant", "", "value_ints=[4,2]", "->4x2", 0, 0},
      {"Constant", "", "value_float=4.", "->4", 0, 0},
      {"ConstantOfShape", "=2", "value=:int64:1", "->7x7", 0, 0},
      {"Range", "#2 #8 #3", "", "->2x5", 0, 0},
      {"Range", "#8 #2 #-4", "", "->8x4", 0, 0},
      {"Concat", "=2,3 =4", "axis=0", "->2x3x4", 0, 0},
      {"Gather", "=2,3,4 =0,-1", "", "->2x4", 0, 0},
      {"Gather", "=2,3,4 #1", "", "->3", 0, 0},
      {"Slice", "=2,3,4,5 =1 =3", "", "->3x4", 0, 0},
      {"Slice", "=2,3,4,5 =-1 =-5 =0 =-2", "", "->5x3", 0, 0},
      {"Transpose", "=2,3", "perm=[0]", "->2x3", 0, 0},
      {"ReduceProd", "=2,3,4", "", "->24", 0, 0},
      {"ReduceSum", "=2,3,4 =0", "", "->9", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_views(void **state) {
  static const struct onnx_case cases[] = {
      {"Reshape", "2x3x4 =4,2,3", "", "4x2x3", 0, 0},
      {"Reshape", "2x3x4 =2,-1,2", "", "2x6x2", 0, 0},
      {"Reshape", "2x3x4 =0,-1", "", "2x12", 0, 0},
      {"Reshape", "0x3 =3,0", "allowzero=1", "3x0", 0, 0},
      {"Reshape", "0x3 =-1,5", "", "0x5", 0, 0},
      {"Reshape@4", "2x3", "shape=[3,2]", "3x2", 0, 0},
      {"Reshape", "2x3 int64:2", "", "?", 0, 0},
      {"Reshape", "2x3 =4,2", "", "!a shape of another number of elements", 0,
       0},
      {"Reshape", "2x3 =1,1,1,1,1,1,1,1,6", "", "!more dimensions than 8", 0,
       0},
      {"Flatten", "2x3x4x5", "", "2x60", 0, 0},
      {"Flatten", "2x3x4x5", "axis=0", "1x120", 0, 0},
      {"Flatten", "2x3x4x5", "axis=4", "120x1", 0, 0},
      {"Flatten", "2x3x4x5", "axis=-1", "24x5", 0, 0},
      {"Flatten", "2x3", "axis=3", "!an axis that its input does not have", 0,
       0},
      {"Squeeze", "1x3x1x5", "", "3x5", 0, 0},
      {"Squeeze", "1x3x1x5 =0", "", "3x1x5", 0, 0},
      {"Squeeze@11", "1x3x1x5", "axes=[-2]", "1x3x5", 0, 0},
      {"Squeeze", "1x3 =1", "", "!a dimension that is not 1 to be squeezed", 0,
       0},
      {"Squeeze", "1x3 =4", "", "!an axis that its input does not have", 0, 0},
      {"Unsqueeze", "3x4 =0,4", "", "!an axis that its input does not have", 0,
       0},
      {"Unsqueeze", "3x4x5 =2,4,5", "", "3x4x1x5x1x1", 0, 0},
      {"Unsqueeze@11", "3x4", "axes=[-2]", "3x1x4", 0, 0},
      {"Unsqueeze", "3 =0,0", "", "!an axis that is there twice", 0, 0},
      {"Unsqueeze", "3x3x3x3x3 =0,1,2,3", "", "!more dimensions than 8", 0, 0},
      {"Expand", "3x1 =2,1,6", "", "2x3x6", 0, 0},
      {"Expand", "3x1 =3,4", "", "3x4", 0, 0},
      {"Constant", "", "value=:float32:2x3", "float32:2x3", 0, 0},
      {"Constant", "", "value_floats=[1.,2.,3.]", "float32:3", 0, 0},
      {"ConstantOfShape", "=4,3,2", "", "float32:4x3x2", 0, 0},
      {"ConstantOfShape", "=100,100", "", "100x100", 0, 0},
      {"Range", "int64:scalar #9 #1", "", "?", 0, 0},
      {"Range", "#0 #9000 #1", "", "int64:9000", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_moved(void **state) {
  static const struct onnx_case cases[] = {
      {"Transpose", "2x3x4", "", "4x3x2", 0, 0},
      {"Transpose", "2x3x4", "perm=[1,2,0]", "3x4x2", 0, 0},
      {"Transpose", "2x3", "perm=[0]", "!a permutation of another number", 0,
       0},
      {"Transpose", "2x3", "perm=[0,0]", "!a permutation that has an axis", 0,
       0},
      {"Concat", "2x3 2x5", "axis=1", "2x8", 0, 0},
      {"Concat", "2x3 2x3 1x3", "axis=-2", "5x3", 0, 0},
      {"Concat", "2x3 3x3", "axis=1", "!inputs whose shapes do not fit", 0, 0},
      {"Concat", "2x3 3", "axis=0", "!inputs of different rank", 0, 0},
      {"Split", "2x6", "axis=1", "2x3 2x3", 0, 0},
      {"Split", "7", "", "3 3 1", 0, 0},
      {"Split", "2x6 =2,4", "axis=1", "2x2 2x4", 0, 0},
      {"Split@11", "6", "split=[1,5]", "1 5", 0, 0},
      {"Split", "6 =7,4", "", "!parts that do not add up", 0, 0},
      {"Slice", "20x10x5 =0,0 =3,10 =0,1 =1,1", "", "3x10x5", 0, 0},
      {"Slice", "20x10x5 =0,0,3 =20,10,4", "", "20x10x1", 0, 0},
      {"Slice", "20x10x5 =1 =1000 =1", "", "20x9x5", 0, 0},
      {"Slice", "20x10x5 =1000 =1000 =1", "", "20x0x5", 0, 0},
      {"Slice", "20x10x5 =20,10,4 =0,0,1 =0,1,2 =-1,-3,-2", "", "19x3x2", 0, 0},
      {"Slice@9", "20x10", "starts=[0,2] ends=[5,-1]", "5x7", 0, 0},
      {"Slice", "5 =0 =2,3", "", "!starts and ends of different number", 0, 0},
      {"Slice", "5 =0 =2 =0 =0", "", "!a step of 0", 0, 0},
      {"Slice", "5 int64:1 =2", "", "?", 0, 0},
      {"Gather", "5x4x3x2 int64:3", "axis=0", "3x4x3x2", 0, 0},
      {"Gather", "5x4x3 int64:2x6", "axis=1", "5x2x6x3", 0, 0},
      {"Gather", "3x4 #1", "axis=-1", "3", 0, 0},
      {"Gather", "*1000x64 int64:1x7", "", "1x7x64", 0, 64000},
      {"Gather", "=2,3 =2", "", "!an index beyond its input", 0, 0},
      {"GatherElements", "3x3 int64:2x3", "", "float32:2x3", 0, 0},
      {"GatherND", "2x2 int64:2x2", "", "2", 0, 0},
      {"GatherND", "2x2x2 int64:2x1", "batch_dims=1", "2x2", 0, 0},
      {"GatherND", "2x2 int64:2x3", "", "!indices of more axes", 0, 0},
      {"Tile", "2x3 =2,1", "", "4x3", 0, 0},
      {"Tile", "2x3 =-1,1", "", "!a dimension that is negative", 0, 0},
      {"Pad", "1x3x4x5 =0,0,1,3,0,0,2,4", "", "1x3x7x12", 0, 0},
      {"Pad@18", "1x3x4x5 =1,2 - =3", "", "1x3x4x8", 0, 0},
      {"Pad@2", "4x5", "pads=[1,0,0,2]", "5x7", 0, 0},
      {"Pad@1", "4x5", "paddings=[1,0,0,2]", "5x7", 0, 0},
      {"Pad", "4x5 =1,1", "", "!pads for another number of axes", 0, 0},
      {"Resize", "1x1x2x4 - ~1.,1.,.6,.6", "", "1x1x1x2", 0, 0},
      {"Resize", "1x1x4x4 - - =1,1,3,8", "", "1x1x3x8", 0, 0},
      {"Resize@18", "1x1x4x4 - - =3,8", "axes=[2,3]", "1x1x3x8", 0, 0},
      {"Resize@10", "1x1x2x2 ~1.,1.,2.,3.", "", "1x1x4x6", 0, 0},
      {"Resize", "1x1x2x2 - ~2.", "", "!sizes for another number of axes", 0,
       0},
      {"Upsample@9", "1x1x2x2 ~1.,1.,2.,3.", "", "1x1x4x6", 0, 0},
      {"Upsample@7", "1x1x2x2", "scales=[1.,1.,2.,3.]", "1x1x4x6", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_selected(void **state) {
  static const struct onnx_case cases[] = {
      {"DepthToSpace", "1x8x2x3", "blocksize=2", "1x2x4x6", 0, 0},
      {"SpaceToDepth", "1x2x4x6", "blocksize=2", "1x8x2x3", 0, 0},
      {"DepthToSpace", "1x8x2", "blocksize=2", "!blocks of no size", 0, 0},
      {"OneHot", "int64:2x3 #12 ~0.,1.", "", "float32:2x3x12", 0, 0},
      {"OneHot", "int64:2x3 #12 =0,1", "axis=1", "int64:2x12x3", 0, 0},
      {"TopK", "3x4 =2", "", "3x2 int64:3x2", 0, 0},
      {"TopK@1", "3x4", "k=2 axis=0", "2x4 int64:2x4", 0, 0},
      {"GridSample", "1x2x4x4 1x6x7x2", "", "1x2x6x7", 0, 0},
      {"RoiAlign", "1x2x10x10 3x4 int64:3", "output_height=5 output_width=6",
       "3x2x5x6", 0, 0},
      {"MaxRoiPool", "1x2x10x10 3x5", "pooled_shape=[4,3]", "3x2x4x3", 0, 0},
      {"EyeLike", "4x5", "dtype=7", "int64:4x5", 0, 0},
      {"RandomNormal", "", "shape=[2,3]", "float32:2x3", 0, 0},
      {"NonZero", "2x3", "", "?", 0, 0},
      {"SoftmaxCrossEntropyLoss", "3x5 int64:3", "", "scalar", 0, 0},
      {"SoftmaxCrossEntropyLoss", "3x5 int64:3", "reduction=none", "3 3x5", 0,
       0},
      {"ReduceSum", "3x2x2 =1", "", "3x1x2", 0, 0},
      {"ReduceMean", "3x2x2", "axes=[1,-1] keepdims=0", "3", 0, 0},
      {"ReduceMax", "3x2x2", "", "1x1x1", 0, 0},
      {"ReduceMax", "3x2x2", "keepdims=0", "scalar", 0, 0},
      {"ReduceSum", "3x2 int64:1", "", "?", 0, 0},
      {"ReduceSum", "3x2 =", "noop_with_empty_axes=1", "3x2", 0, 0},
      {"ReduceMin", "3x2", "axes=[2]", "!an axis that its input does not", 0,
       0},
      {"ArgMax", "2x3x4", "axis=1", "int64:2x1x4", 0, 0},
      {"ArgMin", "2x3x4", "axis=-1 keepdims=0", "int64:2x3", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_windows(void **state) {
  static const struct onnx_case cases[] = {
      {"MaxPool", "1x3x32x32", "kernel_shape=[2,2] strides=[2,2]",
       "1x3x16x16 int64:1x3x16x16", 0, 0},
      {"MaxPool", "1x3x32", "kernel_shape=[2]", "1x3x31", 0, 0},
      {"MaxPool", "1x1x4x4", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1",
       "1x1x2x2", 0, 0},
      {"MaxPool", "1x3x32x32", "kernel_shape=[5,5] pads=[2,2,2,2]", "1x3x32x32",
       0, 0},
      {"MaxPool", "1x1x4x4", "kernel_shape=[2,2] dilations=[2,2]", "1x1x2x2", 0,
       0},
      {"AveragePool", "1x3x32x32", "kernel_shape=[2,2] auto_pad=SAME_LOWER",
       "1x3x32x32", 0, 0},
      {"AveragePool", "1x3x5x5",
       "kernel_shape=[2,2] pads=[1,1,1,1] auto_pad=VALID", "1x3x4x4", 0, 0},
      /* The third window would begin in the padding behind the input. */
      {"AveragePool", "1x1x2x2",
       "kernel_shape=[1,1] strides=[2,2] pads=[0,0,1,1] ceil_mode=1", "1x1x1x1",
       0, 0},
      {"MaxPool", "1x3x32x32", "kernel_shape=[2]",
       "!strides, pads or kernels of another number of axes", 0, 0},
      {"MaxPool", "1x3x4x4", "kernel_shape=[2,2] strides=[0,1]",
       "!a stride, kernel or dilation out of its range", 0, 0},
      {"MaxPool", "1x3x4x4", "kernel_shape=[2,2] pads=[1,1]",
       "!strides, pads or kernels of another number of axes", 0, 0},
      {"MaxPool", "3x4", "kernel_shape=[2]", "!an input without spatial axes",
       0, 0},
      {"MaxPool", "1x3x4x4", "kernel_shape=[7,7]",
       "!a kernel that is larger than its input", 0, 0},
      {"GlobalAveragePool", "2x3x5x5", "", "2x3x1x1", 0, 0},
      {"MaxUnpool", "1x1x2x2 int64:1x1x2x2", "kernel_shape=[2,2] strides=[2,2]",
       "1x1x4x4", 0, 0},
      {"MaxUnpool", "1x1x2x2 int64:1x1x2x2 =1,1,5,5",
       "kernel_shape=[2,2] strides=[2,2]", "1x1x5x5", 0, 0},
      {"MaxUnpool", "1x1x1x1 int64:1x1x1x1",
       "kernel_shape=[1,1] pads=[2,2,2,2]", "!pads that leave nothing", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise), cmocka_unit_test(test_known_values),
      cmocka_unit_test(test_views),       cmocka_unit_test(test_moved),
      cmocka_unit_test(test_selected),    cmocka_unit_test(test_windows),
  };
  return cmocka_run_group_tests_name("onnx_shapes", tests, make_temp_dir,
                                     remove_temp_dir);
}
