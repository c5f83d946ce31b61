/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MACs, shapes and parameters of operators that compute products, worked out
 * by hand. */

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "unit.h"

#include "onnx_model.h"

/* A convolution takes (output elements) x (kernel elements x input channels /
 * groups) MACs; transposed, (input elements) x (kernel x output channels /
 * groups). */
static void test_convolutions(void **state) {
  static const struct onnx_case cases[] = {
      {"Conv", "1x3x8x8 *16x3x3x3", "", "1x16x6x6", 576 * 27, 432},
      {"Conv", "1x3x8x8 *16x3x3x3 *16", "pads=[1,1,1,1]", "1x16x8x8", 1024 * 27,
       448},
      {"Conv", "1x8x5x5 *8x1x3x3", "group=8", "1x8x3x3", 72 * 9, 72},
      {"Conv", "1x2x9 *4x2x3", "strides=[2]", "1x4x4", 16 * 6, 24},
      {"Conv", "1x1x4x4x4 *2x1x2x2x2", "", "1x2x3x3x3", 54 * 8, 16},
      {"Conv", "2x3x4x4 *1x3x1x1", "", "2x1x4x4", 32 * 3, 3},
      {"Conv", "1x3x8x8 *16x3x3", "", "!an input and weights of different", 0,
       0},
      {"Conv", "1x3x8x8 *16x4x3x3", "", "!weights for another number", 0, 0},
      {"ConvInteger", "uint8:1x1x3x3 *uint8:1x1x2x2", "", "int32:1x1x2x2",
       4 * 4, 4},
      {"QLinearConv", "uint8:1x1x7x7 ~0.5 #0 *uint8:2x1x1x1 ~0.5 #0 ~0.5 #0",
       "", "uint8:1x2x7x7", 98, 2},
      {"DeformConv", "1x1x3x3 *1x1x2x2 1x8x2x2", "", "1x1x2x2", 4 * 4, 4},
      {"ConvTranspose", "1x1x3x3 *1x2x3x3", "", "1x2x5x5", 9 * 18, 18},
      {"ConvTranspose", "1x1x3x3 *1x2x3x3",
       "strides=[3,2] output_padding=[1,1]", "1x2x10x8", 9 * 18, 18},
      {"ConvTranspose", "1x1x3x3 *1x2x3x3", "strides=[3,2] output_shape=[10,8]",
       "1x2x10x8", 9 * 18, 18},
      {"ConvTranspose", "1x1x3x3 *1x2x3x3", "strides=[2,2] auto_pad=SAME_UPPER",
       "1x2x6x6", 9 * 18, 18},
      {"ConvTranspose", "1x4x3x3 *4x1x3x3", "group=4", "1x4x5x5", 36 * 9, 36},
      {"ConvTranspose", "1x1x1x1 *1x1x1x1", "pads=[1,1,1,1]",
       "!pads that leave nothing of the output", 0, 0},
      {"com.microsoft.FusedConv", "1x3x8x8 *16x3x3x3", "activation=Relu",
       "1x16x6x6", 576 * 27, 432},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_products(void **state) {
  static const struct onnx_case cases[] = {
      {"MatMul", "3x4 *4x5", "", "3x5", 60, 20},
      {"MatMul", "2x3x4 2x4x5", "", "2x3x5", 120, 0},
      {"MatMul", "7x1x3x4 2x4x5", "", "7x2x3x5", 14 * 60, 0},
      {"MatMul", "4 *4x5", "", "5", 20, 20},
      {"MatMul", "3x4 *4", "", "3", 12, 4},
      {"MatMul", "4 4", "", "scalar", 4, 0},
      {"MatMul", "scalar 4", "", "!inputs that are no matrices", 0, 0},
      {"MatMul", "3x4 5x6", "", "!matrices whose sizes do not fit", 0, 0},
      {"MatMulInteger", "uint8:3x4 *uint8:4x5", "", "int32:3x5", 60, 20},
      {"QLinearMatMul", "uint8:3x4 ~0.5 #0 *uint8:4x5 ~0.5 #0 ~0.5 #0", "",
       "uint8:3x5", 60, 20},
      {"Gemm", "3x4 *4x5 *5", "", "3x5", 60, 25},
      {"Gemm", "4x3 *5x4", "transA=1 transB=1", "3x5", 60, 20},
      {"Gemm@6", "2x3x4 *12x5", "", "2x5", 120, 60},
      {"Gemm", "2x3x4 *12x5", "", "!inputs that are no matrices", 0, 0},
      {"Gemm", "3x4 *5x4", "", "!matrices whose sizes do not fit", 0, 0},
      {"com.microsoft.QGemm", "uint8:3x4 ~0.5 #0 *uint8:4x5 ~0.5 #0 *int32:5",
       "", "uint8:3x5", 60, 25},
      {"com.microsoft.FusedMatMul", "2x4x3 2x5x4", "transA=1 transB=1", "2x3x5",
       120, 0},
      {"com.microsoft.MatMulNBits", "1x3x64 *uint8:5x2x16 *10", "K=64 N=5",
       "1x3x5", 3 * 64 * 5, 64 * 5},
      {"com.microsoft.MatMulNBits", "1x3x64 *uint8:5x2x16 *10", "K=32 N=5",
       "!matrices whose sizes do not fit", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

static void test_einsum(void **state) {
  static const struct onnx_case cases[] = {
      {"Einsum", "3x4 *4x5", "equation=ij,jk->ik", "3x5", 60, 20},
      {"Einsum", "3x4 4x5", "equation=ij,jk", "3x5", 60, 0},
      {"Einsum", "5x2x3 5x3x4", "equation=bij,bjk->bik", "5x2x4", 120, 0},
      {"Einsum", "3x4 3x4", "equation=ij,ij->ij", "3x4", 0, 0},
      {"Einsum", "3x4", "equation=ij->ji", "4x3", 0, 0},
      {"Einsum", "5x5", "equation=...ii->...i", "5", 0, 0},
      {"Einsum", "2x3x4 4x5", "equation=...ij,jk->...ik", "2x3x5", 120, 0},
      {"Einsum", "2x3x4 2x4x5", "equation=...ij,...jk", "2x3x5", 120, 0},
      /* (3 x 4) x (4 x 5), then x (5 x 6) */
      {"Einsum", "3x4 4x5 5x6", "equation=ij,jk,kl->il", "3x6", 60 + 90, 0},
      {"Einsum", "3x4 5", "equation=ij,j->i", "!an equation that does not fit",
       0, 0},
      {"Einsum", "3x4", "equation=ij->k", "!an equation that does not fit", 0,
       0},
      {"Einsum", "3x4", "equation=i?->i", "!an equation that does not fit", 0,
       0},
      {"Einsum", "3x4 4", "equation=ij->i", "!an equation that does not fit", 0,
       0},
      {"Einsum", "3x4", "", "!an equation that does not fit", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

/* G gates of H units, I features: G H (I + H) MACs per step, sample and
 * direction. Here 7 steps of 2 samples, I = 3, H = 5. */
static void test_recurrent(void **state) {
  static const struct onnx_case cases[] = {
      {"LSTM", "7x2x3 *1x20x3 *1x20x5 *1x40", "hidden_size=5",
       "7x1x2x5 1x2x5 1x2x5", 14 * 20 * 8, 200},
      {"GRU", "7x2x3 *1x15x3 *1x15x5", "hidden_size=5", "7x1x2x5 1x2x5",
       14 * 15 * 8, 120},
      {"RNN", "2x7x3 *1x5x3 *1x5x5", "hidden_size=5 layout=1", "2x7x1x5 2x1x5",
       14 * 5 * 8, 40},
      {"GRU", "7x2x3 *2x15x3 *2x15x5", "direction=bidirectional",
       "7x2x2x5 2x2x5", 2 * 14 * 15 * 8, 240},
      {"LSTM", "7x2x3 *1x15x3 *1x15x5", "hidden_size=5",
       "!weights that do not fit the input or each other", 0, 0},
      {"LSTM", "7x2x4 *1x20x3 *1x20x5", "hidden_size=5",
       "!weights that do not fit the input or each other", 0, 0},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

/* S queries of width K on L keys, values of width V: S L (K + V) MACs. */
static void test_attention(void **state) {
  static const struct onnx_case cases[] = {
      {"Attention@23", "1x4x6x8 1x4x9x8 1x4x9x8", "", "1x4x6x8", 4 * 6 * 9 * 16,
       0},
      {"Attention@23", "1x6x32 1x9x32 1x9x16", "q_num_heads=4", "1x6x16",
       6 * 9 * 48, 0},
      /* 4 heads of queries use 2 of keys and values, half as wide in all */
      {"Attention@23", "1x6x32 1x9x16 1x9x16", "q_num_heads=4 kv_num_heads=2",
       "1x6x32", 6 * 9 * 64, 0},
      {"Attention@23", "1x4x1x8 1x4x1x8 1x4x1x8 - 1x4x10x8 1x4x10x8", "",
       "1x4x1x8", 4 * 11 * 16, 0},
      {"Attention@23", "6x8 6x8 6x8", "", "?", 0, 0},
      {"com.microsoft.Attention", "1x6x8 *8x24 *24", "num_heads=2", "1x6x8",
       6 * 192 + 36 * 16, 216},
      {"com.microsoft.Attention", "1x6x8 *8x20 *20", "qkv_hidden_sizes=[8,8,4]",
       "1x6x4", 6 * 160 + 36 * 12, 180},
      {"com.microsoft.Attention", "1x6x8 *7x24 *24", "",
       "!weights that do not fit the input or each other", 0, 0},
      {"com.microsoft.Attention", "1x6x8 *8x24", "qkv_hidden_sizes=[8,99,8]",
       "!weights that do not fit the input or each other", 0, 0},
      {"com.microsoft.MultiHeadAttention", "1x6x32 1x9x32 1x9x32",
       "num_heads=4", "1x6x32", 6 * 9 * 64, 0},
      {"com.microsoft.MultiHeadAttention", "1x6x4x3x8", "num_heads=4", "1x6x32",
       6 * 6 * 64, 0},
      {"com.microsoft.GroupQueryAttention",
       "1x1x32 1x1x16 1x1x16 1x2x10x8 1x2x10x8", "num_heads=4 kv_num_heads=2",
       "1x1x32", 11 * 64, 0},
      {"com.microsoft.MultiHeadAttention", "6x32", "", "?", 0, 0},
      {"com.microsoft.EmbedLayerNormalization",
       "int32:1x6 - *50x8 *6x8 - *8 *8", "", "1x6x8 int32:1", 0, 400 + 48 + 16},
  };
  (void)state;
  assert_cases(cases, COUNT(cases));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_convolutions), cmocka_unit_test(test_products),
      cmocka_unit_test(test_einsum),       cmocka_unit_test(test_recurrent),
      cmocka_unit_test(test_attention),
  };
  return cmocka_run_group_tests_name("onnx_work", tests, make_temp_dir,
                                     remove_temp_dir);
}
