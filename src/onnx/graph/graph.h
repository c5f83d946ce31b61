/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view that operators have of a graph: values, attributes, one node at a
 * time. Only src/onnx uses it. */

#ifndef DL_ONNX_GRAPH_GRAPH_H
#define DL_ONNX_GRAPH_GRAPH_H

#include "base/names/intern.h"
#include "onnx/onnx.h"

#include "onnx.pb-c.h"

/* Element types, by TensorProto.DataType. */
enum {
  DL_T_UNKNOWN = 0,
  DL_T_FLOAT = 1,
  DL_T_UINT8 = 2,
  DL_T_INT8 = 3,
  DL_T_INT32 = 6,
  DL_T_INT64 = 7,
  DL_T_BOOL = 9,
  DL_T_FLOAT16 = 10,
  DL_T_DOUBLE = 11
};

enum {
  DL_ONNX_MOST_FOLDED = 4096, /* elements of a value that is computed */
  DL_ONNX_MOST_NESTED = 16,   /* graphs within graphs, functions in functions */
  DL_ONNX_MOST_WORK = 4 << 20 /* names looked up, functions expanded */
};

/* A value of the graph. */
struct dl_tensor {
  struct dl_onnx_shape s;
  int type;
  bool weight; /* known beforehand: held by the model or computed of such */
  double params, bytes;      /* that no node has been charged with yet */
  double maybe, maybe_bytes; /* so, from nodes that make constants, which are
                                parameters of layers alone */
  double *data;  /* its elements where they are few and known, else NULL */
  size_t n_data; /* also set to 1 for scalars */
};

/* A node while it is looked at. Arrays have n_in, n_out elements; an omitted
 * input is NULL. */
struct dl_node_call {
  const Onnx__NodeProto *node;
  const struct dl_node_call *caller; /* of the function it stands in, or NULL */
  struct dl_tensor **in, *out;
  size_t n_in, n_out;
  int64_t opset;
  const struct dl_operator_row *op;
  double macs, launches;   /* set by the operator; launches begin as 1 */
  double attention_macs;   /* part of macs whose product has no weights */
  double padding;          /* set by dl_pad_tiles; begins as 1 */
  bool uncounted;          /* could not be: a shape is missing */
  int64_t features, units; /* of a dense layer */
  const char *fault;       /* why it is refused; a literal, or NULL */
};

/* Sets the shapes of c->out, and what they hold where that is known. What it
 * leaves unset stays unknown. */
typedef void dl_infer(struct dl_node_call *c);

enum dl_operator_flags {
  DL_OP_VIEW = 1,       /* moves no data: no launch */
  DL_OP_LAYER = 2,      /* a layer where it has weights */
  DL_OP_DEQUANTIZE = 4, /* its 32-bit integers are parameters */
  DL_OP_NORM = 8,       /* has parameters as a layer has them */
  DL_OP_LOOKUP = 16,    /* has such ones in a table of two dimensions */
  DL_OP_INT32 = 32,     /* its output has 32-bit integers */
  DL_OP_TRANSPOSES = 64 /* attributes may transpose its inputs */
};
#define DL_OP_NO_PARAMS (~0u) /* for skip: what it takes are settings */

/* Variants of rules whose result depends on the operator. */
enum dl_operator_variant {
  DL_OP_OTHER,
  DL_OP_ABS,
  DL_OP_CAST,
  DL_OP_CEIL,
  DL_OP_FLOOR,
  DL_OP_NEG,
  DL_OP_NOT,
  DL_OP_SQRT,
  DL_OP_ADD,
  DL_OP_SUB,
  DL_OP_MUL,
  DL_OP_DIV,
  DL_OP_MOD,
  DL_OP_POW,
  DL_OP_AND,
  DL_OP_OR,
  DL_OP_EQUAL,
  DL_OP_GREATER,
  DL_OP_GREATER_OR_EQUAL,
  DL_OP_LESS,
  DL_OP_LESS_OR_EQUAL,
  DL_OP_MAX,
  DL_OP_MEAN,
  DL_OP_MIN,
  DL_OP_SUM,
  DL_OP_PRODUCT,
  DL_OP_LAYER_NORM,
  DL_OP_GROUPED /* queries of several heads share keys and values */
};

/* Operators that share a rule. */
struct dl_operator_row {
  dl_infer *infer;
  int variant;    /* the rule says its meaning, or enum dl_operator_variant */
  unsigned needs; /* bits of inputs without whose shapes there is no rule */
  unsigned flags;
  unsigned skip;     /* bits of inputs that hold no parameters */
  const char *names; /* within their domain, separated by blanks */
};

/* Whether a domain (or NULL) is the standard's own. */
bool dl_is_standard_domain(const char *domain);

/* Returns the row of an operator, or NULL if it is unknown. */
const struct dl_operator_row *dl_operators_find(const char *domain,
                                                const char *name);

/* These read the attributes of a node. */
const Onnx__AttributeProto *dl_attr(const struct dl_node_call *c,
                                    const char *name);
int64_t dl_attr_int(const struct dl_node_call *c, const char *name,
                    int64_t none);
/* Sets *n to 0 where there is none. */
const int64_t *dl_attr_ints(const struct dl_node_call *c, const char *name,
                            size_t *n);
bool dl_attr_is(const struct dl_node_call *c, const char *name,
                const char *word);

/* Returns input i, or NULL where it is omitted. */
static inline struct dl_tensor *dl_input(const struct dl_node_call *c,
                                         size_t i) {
  return i < c->n_in ? c->in[i] : NULL;
}
/* Returns input i if it is there and its shape is known, else NULL. */
const struct dl_tensor *dl_input_known(const struct dl_node_call *c, size_t i);
/* Returns the elements of input i, *n of them, or NULL if they are not known.
 */
const double *dl_input_values(const struct dl_node_call *c, size_t i,
                              size_t *n);

/* Counts the elements of a shape; -1 if it is not known. */
double dl_shape_elements(const struct dl_onnx_shape *s);
/* Multiplies the dimensions from..to-1. */
double dl_shape_product(const struct dl_onnx_shape *s, unsigned from,
                        unsigned to);

/* Gives output i a shape of `rank` dimensions. Returns false, with a fault, if
 * a dimension is negative, or there are too many dimensions or elements. */
bool dl_output_set(struct dl_node_call *c, size_t i, const int64_t *dim,
                   size_t rank, int type);
bool dl_output_like(struct dl_node_call *c, size_t i,
                    const struct dl_tensor *t);
/* Gives output i its elements as well; copies them. */
void dl_output_values(struct dl_node_call *c, size_t i, const double *x,
                      size_t n);

/* Gives output i, whose shape is set, elements of zero to be filled in, and
 * returns them; the output owns them. NULL if they would be too many or there
 * is no such output. */
double *dl_output_new_values(struct dl_node_call *c, size_t i);
/* Makes the elements of output i unknown again. */
void dl_output_drop_values(struct dl_node_call *c, size_t i);

/* Finds an axis by its number, which may count from the end. Returns false,
 * with a fault, if there is none. */
bool dl_axis(struct dl_node_call *c, int64_t axis, unsigned rank,
             unsigned *out);

/* Broadcasts a and b to each other (a may be out). Returns false, with a fault,
 * if they do not fit. */
bool dl_broadcast(struct dl_node_call *c, const struct dl_onnx_shape *a,
                  const struct dl_onnx_shape *b, struct dl_onnx_shape *out);

/* Sets c->padding: what tensor cores compute by what the layer has. They take
 * tiles: output channels are padded to multiples of 64, the inputs of a sum
 * (channels of a group x taps) to multiples of 32, channels of several groups
 * to 32. 0: depthwise, which does not run there. */
void dl_pad_tiles(struct dl_node_call *c, double inputs, double outputs,
                  double groups, double taps);

/* Keeps the first fault of a call. */
void dl_fault(struct dl_node_call *c, const char *why);
/* Records a fault if something is wrong; returns `wrong`. */
bool dl_fault_if(struct dl_node_call *c, bool wrong, const char *why);

/* Shape and type of a tensor that the model holds, and its elements where they
 * are few and known. Returns a fault where the shape is not sound, else NULL.
 */
const char *dl_tensor_of(const Onnx__TensorProto *t, struct dl_tensor *to);
/* Gives output 0, whose shape is set, elements of x: those at `first` and on
 * by stride[] along its axes. */
void dl_output_strided(struct dl_node_call *c, const double *x, int64_t first,
                       const int64_t *stride);

void dl_tensor_clear(struct dl_tensor *t);

/* Counts the elements of the weights that an input packs into `stored` ones. */
double dl_packed_elements(const struct dl_node_call *c, size_t i,
                          double stored);

/* Returns the bytes of an element; 0.5 for four-bit types, 0 unknown. */
double dl_type_bytes(int type);
const char *dl_type_name(int type);
bool dl_type_is_float(int type);

/* The rules of operators are in shapes_*.c. */
dl_infer dl_infer_same, dl_infer_unary, dl_infer_binary, dl_infer_variadic,
    dl_infer_where, dl_infer_compare, dl_infer_cast;
dl_infer dl_infer_shape, dl_infer_size, dl_infer_reshape, dl_infer_flatten,
    dl_infer_squeeze, dl_infer_unsqueeze, dl_infer_constant,
    dl_infer_constant_of_shape, dl_infer_range, dl_infer_identity,
    dl_infer_expand;
dl_infer dl_infer_transpose, dl_infer_concat, dl_infer_split, dl_infer_slice,
    dl_infer_gather, dl_infer_gather_blocks, dl_infer_gather_nd,
    dl_infer_gather_elements, dl_infer_tile, dl_infer_pad, dl_infer_resize,
    dl_infer_upsample, dl_infer_blocks, dl_infer_one_hot, dl_infer_top_k,
    dl_infer_grid_sample, dl_infer_roi, dl_infer_eye, dl_infer_random,
    dl_infer_nothing, dl_infer_loss;
dl_infer dl_infer_reduce, dl_infer_arg, dl_infer_pool, dl_infer_global_pool,
    dl_infer_unpool, dl_infer_norm, dl_infer_dropout, dl_infer_dynamic_quantize;
dl_infer dl_infer_conv, dl_infer_conv_transpose;
dl_infer dl_infer_gemm, dl_infer_matmul, dl_infer_matmul_nbits, dl_infer_einsum;
dl_infer dl_infer_recurrent;
dl_infer dl_infer_attention, dl_infer_attention_fused,
    dl_infer_multi_head_attention, dl_infer_embed_layer_norm,
    dl_infer_skip_norm;

#endif
