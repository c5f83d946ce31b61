/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operators: a row for those that share a rule. Adding one is a word in
 * its row. */

#include <string.h>

#include "onnx/graph/graph.h"

/* Bits of inputs that hold no parameters. */
#define FROM_1 (~1u)   /* settings from the second input on */
#define Q_SCALES 0xf6u /* x s z w s z s z: all but x, w and what follows */

static const struct dl_operator_row standard[] = {
    {dl_infer_unary, DL_OP_ABS, 1, 0, 0, "Abs"},
    {dl_infer_cast, DL_OP_CAST, 1, 0, 0, "Cast"},
    {dl_infer_unary, DL_OP_CEIL, 1, 0, 0, "Ceil"},
    {dl_infer_unary, DL_OP_FLOOR, 1, 0, 0, "Floor"},
    {dl_infer_unary, DL_OP_NEG, 1, 0, 0, "Neg"},
    {dl_infer_unary, DL_OP_NOT, 1, 0, 0, "Not"},
    {dl_infer_unary, DL_OP_SQRT, 1, 0, 0, "Sqrt"},
    {dl_infer_same, 0, 0, 0, 0,
     "Acos Acosh Asin Asinh Atan Atanh Bernoulli BitwiseNot CastLike "
     "Celu Cos Cosh Elu Erf Exp Gelu HardSigmoid HardSwish Hardmax IsInf "
     "IsNaN LRN LeakyRelu Log LogSoftmax LpNormalization "
     "MeanVarianceNormalization Mish PRelu RMSNormalization "
     "RandomNormalLike RandomUniformLike Reciprocal Relu Round Scatter "
     "ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh "
     "Softmax Softplus Softsign Swish Tan Tanh ThresholdedRelu"},
    {dl_infer_binary, DL_OP_ADD, 3, 0, 0, "Add"},
    {dl_infer_binary, DL_OP_SUB, 3, 0, 0, "Sub"},
    {dl_infer_binary, DL_OP_MUL, 3, 0, 0, "Mul"},
    {dl_infer_binary, DL_OP_DIV, 3, 0, 0, "Div"},
    {dl_infer_binary, DL_OP_MOD, 3, 0, 0, "Mod"},
    {dl_infer_binary, DL_OP_POW, 3, 0, 0, "Pow"},
    {dl_infer_binary, DL_OP_OTHER, 3, 0, 0,
     "BitShift BitwiseAnd BitwiseOr BitwiseXor"},
    {dl_infer_compare, DL_OP_AND, 3, 0, 0, "And"},
    {dl_infer_compare, DL_OP_OR, 3, 0, 0, "Or"},
    {dl_infer_compare, DL_OP_EQUAL, 3, 0, 0, "Equal"},
    {dl_infer_compare, DL_OP_GREATER, 3, 0, 0, "Greater"},
    {dl_infer_compare, DL_OP_GREATER_OR_EQUAL, 3, 0, 0, "GreaterOrEqual"},
    {dl_infer_compare, DL_OP_LESS, 3, 0, 0, "Less"},
    {dl_infer_compare, DL_OP_LESS_OR_EQUAL, 3, 0, 0, "LessOrEqual"},
    {dl_infer_compare, DL_OP_OTHER, 3, 0, 0, "Xor"},
    {dl_infer_arg, 0, 1, 0, 0, "ArgMax ArgMin"},
    {dl_infer_attention, 0, 0, 0, 0, "Attention"},
    {dl_infer_pool, 0, 1, 0, 0, "AveragePool LpPool MaxPool"},
    {dl_infer_norm, 0, 1, DL_OP_NORM, 0x18, "BatchNormalization"},
    {dl_infer_same, 0, 0, 0, FROM_1,
     "Clip CumSum QuantizeLinear ReverseSequence RotaryEmbedding Trilu"},
    {dl_infer_nothing, 0, 0, 0, 0, "Compress"},
    {dl_infer_concat, 0, 1, 0, 0, "Concat"},
    {dl_infer_constant, 0, 0, DL_OP_VIEW, DL_OP_NO_PARAMS, "Constant"},
    {dl_infer_constant_of_shape, 0, 0, 0, DL_OP_NO_PARAMS, "ConstantOfShape"},
    {dl_infer_conv, 1, 3, DL_OP_LAYER, 0, "Conv DeformConv"},
    {dl_infer_conv, 1, 3, DL_OP_LAYER | DL_OP_INT32, 0xc, "ConvInteger"},
    {dl_infer_conv_transpose, 0, 3, DL_OP_LAYER, 0, "ConvTranspose"},
    {dl_infer_blocks, 1, 1, 0, 0, "DepthToSpace"},
    {dl_infer_same, 0, 0, DL_OP_DEQUANTIZE, FROM_1, "DequantizeLinear"},
    {dl_infer_dropout, 0, 1, DL_OP_VIEW, FROM_1, "Dropout"},
    {dl_infer_dynamic_quantize, 0, 1, 0, 0, "DynamicQuantizeLinear"},
    {dl_infer_einsum, 0, 0, DL_OP_LAYER, 0, "Einsum"},
    {dl_infer_expand, 0, 1, 0, 0, "Expand"},
    {dl_infer_eye, 0, 1, 0, DL_OP_NO_PARAMS, "EyeLike"},
    {dl_infer_flatten, 0, 1, DL_OP_VIEW, 0, "Flatten"},
    {dl_infer_recurrent, 3, 7, DL_OP_LAYER, 0x30, "GRU"},
    {dl_infer_gather, 0, 3, DL_OP_LOOKUP, 0, "Gather"},
    {dl_infer_gather_elements, 0, 3, 0, 0, "GatherElements"},
    {dl_infer_gather_nd, 0, 3, 0, 0, "GatherND"},
    {dl_infer_gemm, 1, 3, DL_OP_LAYER, 0, "Gemm"},
    {dl_infer_global_pool, 0, 1, 0, 0,
     "GlobalAveragePool GlobalLpPool GlobalMaxPool"},
    {dl_infer_grid_sample, 0, 3, 0, 0, "GridSample"},
    {dl_infer_norm, 0, 1, DL_OP_NORM, 0,
     "GroupNormalization InstanceNormalization"},
    {dl_infer_norm, DL_OP_LAYER_NORM, 1, DL_OP_NORM, 0, "LayerNormalization"},
    {dl_infer_identity, 0, 0, DL_OP_VIEW, 0, "Identity"},
    {dl_infer_recurrent, 4, 7, DL_OP_LAYER, 0x70, "LSTM"},
    {dl_infer_matmul, 1, 3, DL_OP_LAYER, 0, "MatMul"},
    {dl_infer_matmul, 1, 3, DL_OP_LAYER | DL_OP_INT32, 0xc, "MatMulInteger"},
    {dl_infer_variadic, DL_OP_MAX, 0, 0, 0, "Max"},
    {dl_infer_variadic, DL_OP_MEAN, 0, 0, 0, "Mean"},
    {dl_infer_variadic, DL_OP_MIN, 0, 0, 0, "Min"},
    {dl_infer_variadic, DL_OP_SUM, 0, 0, 0, "Sum"},
    {dl_infer_roi, 0, 3, 0, 0, "MaxRoiPool RoiAlign"},
    {dl_infer_unpool, 0, 1, 0, 0, "MaxUnpool"},
    {dl_infer_loss, 0, 0, 0, 0,
     "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"},
    {dl_infer_nothing, 0, 0, 0, DL_OP_NO_PARAMS,
     "NonMaxSuppression NonZero Unique"},
    {dl_infer_one_hot, 0, 1, 0, DL_OP_NO_PARAMS, "OneHot"},
    {dl_infer_pad, 0, 1, 0, FROM_1, "Pad"},
    {dl_infer_conv, 3, 9, DL_OP_LAYER, Q_SCALES, "QLinearConv"},
    {dl_infer_matmul, 3, 9, DL_OP_LAYER, Q_SCALES, "QLinearMatMul"},
    {dl_infer_recurrent, 1, 7, DL_OP_LAYER, 0x30, "RNN"},
    {dl_infer_random, 0, 0, 0, 0, "RandomNormal RandomUniform"},
    {dl_infer_range, 0, 0, 0, DL_OP_NO_PARAMS, "Range"},
    {dl_infer_reduce, 0, 1, 0, 0,
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax "
     "ReduceMean ReduceMin ReduceSumSquare"},
    {dl_infer_reduce, DL_OP_PRODUCT, 1, 0, 0, "ReduceProd"},
    {dl_infer_reduce, DL_OP_SUM, 1, 0, 0, "ReduceSum"},
    {dl_infer_reshape, 0, 1, DL_OP_VIEW, 0, "Reshape"},
    {dl_infer_resize, 0, 1, 0, FROM_1, "Resize"},
    {dl_infer_shape, 0, 1, DL_OP_VIEW, DL_OP_NO_PARAMS, "Shape"},
    {dl_infer_size, 0, 1, DL_OP_VIEW, DL_OP_NO_PARAMS, "Size"},
    {dl_infer_slice, 0, 1, 0, FROM_1, "Slice"},
    {dl_infer_blocks, 0, 1, 0, 0, "SpaceToDepth"},
    {dl_infer_split, 0, 1, 0, FROM_1, "Split"},
    {dl_infer_squeeze, 0, 1, DL_OP_VIEW, 0, "Squeeze"},
    {dl_infer_tile, 0, 1, 0, FROM_1, "Tile"},
    {dl_infer_top_k, 0, 1, 0, FROM_1, "TopK"},
    {dl_infer_transpose, 0, 1, 0, 0, "Transpose"},
    {dl_infer_unsqueeze, 0, 1, DL_OP_VIEW, 0, "Unsqueeze"},
    {dl_infer_upsample, 0, 1, 0, FROM_1, "Upsample"},
    {dl_infer_where, 0, 7, 0, 0, "Where"},
};

/* The domain com.microsoft has the operators that ONNX Runtime's optimiser
 * makes. */
static const struct dl_operator_row microsoft[] = {
    {dl_infer_attention_fused, 0, 3, DL_OP_LAYER, 0, "Attention"},
    {dl_infer_same, 0, 0, 0, 0,
     "BiasAdd BiasGelu BiasSoftmax FastGelu Gelu GroupNorm QuickGelu "
     "SimplifiedLayerNormalization"},
    {dl_infer_same, 0, 0, DL_OP_DEQUANTIZE, FROM_1, "DequantizeLinear"},
    {dl_infer_matmul, 1, 3, DL_OP_LAYER, 0xc, "DynamicQuantizeMatMul"},
    {dl_infer_embed_layer_norm, 0, 5, 0, 0, "EmbedLayerNormalization"},
    {dl_infer_conv, 1, 3, DL_OP_LAYER, 0, "FusedConv"},
    {dl_infer_gemm, 1, 3, DL_OP_LAYER, 0, "FusedGemm"},
    {dl_infer_matmul, 1, 3, DL_OP_LAYER | DL_OP_TRANSPOSES, 0, "FusedMatMul"},
    {dl_infer_multi_head_attention, DL_OP_GROUPED, 0, 0, 0x180,
     "GroupQueryAttention"},
    {dl_infer_matmul, 1, 3, DL_OP_LAYER, 0x3c, "MatMulIntegerToFloat"},
    {dl_infer_gather_blocks, 0, 3, DL_OP_LOOKUP, FROM_1,
     "GatherBlockQuantized"},
    {dl_infer_matmul_nbits, 0, 1, DL_OP_LAYER, 0xdc, "MatMulBnb4 MatMulNBits"},
    {dl_infer_multi_head_attention, 0, 0, 0, 0, "MultiHeadAttention"},
    {dl_infer_attention_fused, 0, 3, DL_OP_LAYER, 0xd8, "QAttention"},
    {dl_infer_gemm, 3, 9, DL_OP_LAYER, 0x1b6, "QGemm"},
    {dl_infer_same, 0, 0, 0, Q_SCALES,
     "QLinearAdd QLinearLeakyRelu QLinearMul QLinearSigmoid"},
    {dl_infer_global_pool, 0, 1, 0, Q_SCALES, "QLinearGlobalAveragePool"},
    {dl_infer_same, 0, 0, 0, FROM_1, "QuantizeLinear RotaryEmbedding"},
    {dl_infer_skip_norm, 0, 0, DL_OP_NORM, 0,
     "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
};

bool dl_is_standard_domain(const char *domain) {
  static const char name[] = "ai.onnx";
  return !domain || !*domain || strcmp(domain, name) == 0;
}

static const char microsoft_domain[] = "com.microsoft";

/* This operator of the second table first came into the standard's domain. */
static const char first_standard[] = "SimplifiedLayerNormalization";

/* Whether a word is in a list that blanks separate. */
static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  const char *p = n > 0 && !strchr(word, ' ') ? strstr(words, word) : NULL;
  while (p && !((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n])))
    p = strstr(p + 1, word);
  return p != NULL;
}

const struct dl_operator_row *dl_operators_find(const char *domain,
                                                const char *name) {
  const struct dl_operator_row *rows = standard;
  size_t n = sizeof standard / sizeof *standard;
  if (strcmp(domain, microsoft_domain) == 0 ||
      strcmp(name, first_standard) == 0) {
    rows = microsoft;
    n = sizeof microsoft / sizeof *microsoft;
  } else if (!dl_is_standard_domain(domain)) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (has_word(rows[i].names, name))
      return &rows[i];
  return NULL;
}
