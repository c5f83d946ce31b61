/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values and attributes: see graph.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/graph.h"

/* A larger product of dimensions is an error. It is exact in a double. */
static const double most_elements = 0x1p53;

void dl_fault(struct dl_node_call *c, const char *why) {
  if (!c->fault)
    c->fault = why;
}

bool dl_fault_if(struct dl_node_call *c, bool wrong, const char *why) {
  if (wrong)
    dl_fault(c, why);
  return wrong;
}

/* Tensor cores take tiles of these sizes: outputs, inputs of a sum. */
#define TILE_OUT 64
#define TILE_IN 32

void dl_pad_tiles(struct dl_node_call *c, double inputs, double outputs,
                  double groups, double taps) {
  double of_group = inputs / groups;
  double ran = taps * (groups > 1 ? fmax(of_group, TILE_IN) : of_group);
  if (!(of_group * taps > 0 && outputs > 0))
    return;
  c->padding = groups > 1 && groups == inputs
                   ? 0
                   : ceil(ran / TILE_IN) * TILE_IN / (of_group * taps) *
                         ceil(outputs / TILE_OUT) * TILE_OUT / outputs;
}

const Onnx__AttributeProto *dl_attr(const struct dl_node_call *c,
                                    const char *name) {
  for (; c; c = c->caller) {
    const Onnx__AttributeProto *found = NULL;
    for (size_t i = 0; i < c->node->n_attribute && !found; i++) {
      const Onnx__AttributeProto *a = c->node->attribute[i];
      if (a->name && strcmp(a->name, name) == 0)
        found = a;
    }
    if (!found || !found->ref_attr_name || !*found->ref_attr_name)
      return found;
    name = found->ref_attr_name;
  }
  return NULL;
}

int64_t dl_attr_int(const struct dl_node_call *c, const char *name,
                    int64_t none) {
  const Onnx__AttributeProto *a = dl_attr(c, name);
  return a && a->has_i ? a->i : none;
}

const int64_t *dl_attr_ints(const struct dl_node_call *c, const char *name,
                            size_t *n) {
  const Onnx__AttributeProto *a = dl_attr(c, name);
  *n = a ? a->n_ints : 0;
  return a ? a->ints : NULL;
}

bool dl_attr_is(const struct dl_node_call *c, const char *name,
                const char *word) {
  const Onnx__AttributeProto *a = dl_attr(c, name);
  return a && a->has_s && a->s.len == strlen(word) &&
         memcmp(a->s.data, word, a->s.len) == 0;
}

const struct dl_tensor *dl_input_known(const struct dl_node_call *c, size_t i) {
  const struct dl_tensor *t = dl_input(c, i);
  return t && t->s.known ? t : NULL;
}

const double *dl_input_values(const struct dl_node_call *c, size_t i,
                              size_t *n) {
  const struct dl_tensor *t = dl_input(c, i);
  *n = t && t->data ? t->n_data : 0;
  return t ? t->data : NULL;
}

double dl_shape_product(const struct dl_onnx_shape *s, unsigned from,
                        unsigned to) {
  double n = 1;
  for (unsigned i = from; i < to; i++)
    n *= (double)s->dim[i];
  return n;
}

double dl_shape_elements(const struct dl_onnx_shape *s) {
  return s->known ? dl_shape_product(s, 0, s->rank) : -1;
}

/* Returns why dimensions make no shape, or NULL. */
static const char *unsound(const int64_t *dim, size_t rank) {
  double n = 1;
  if (rank > DL_ONNX_MAX_RANK)
    return "a tensor of more than 8 dimensions";
  for (size_t i = 0; i < rank; i++) {
    if (dim[i] < 0)
      return "a negative dimension";
    n *= dim[i] == 0 ? 1 : (double)dim[i];
  }
  return n > most_elements ? "a tensor of more than 2^53 elements" : NULL;
}

bool dl_output_set(struct dl_node_call *c, size_t i, const int64_t *dim,
                   size_t rank, int type) {
  const char *why = unsound(dim, rank);
  if (why)
    dl_fault(c, why);
  if (why || i >= c->n_out)
    return !why;
  struct dl_tensor *t = &c->out[i];
  t->s = (struct dl_onnx_shape){.known = true, .rank = (unsigned)rank};
  for (size_t k = 0; k < rank; k++)
    t->s.dim[k] = dim[k];
  t->type = type;
  return true;
}

bool dl_output_like(struct dl_node_call *c, size_t i,
                    const struct dl_tensor *t) {
  return t && dl_output_set(c, i, t->s.dim, t->s.rank, t->type);
}

double *dl_output_new_values(struct dl_node_call *c, size_t i) {
  double n = i < c->n_out ? dl_shape_elements(&c->out[i].s) : -1;
  if (n < 0 || n > DL_ONNX_MOST_FOLDED)
    return NULL;
  double *x = dl_calloc((size_t)n, sizeof *x);
  free(c->out[i].data);
  c->out[i].data = x;
  c->out[i].n_data = (size_t)n;
  return x;
}

void dl_output_drop_values(struct dl_node_call *c, size_t i) {
  free(c->out[i].data);
  c->out[i].data = NULL;
  c->out[i].n_data = 0;
}

void dl_output_values(struct dl_node_call *c, size_t i, const double *x,
                      size_t n) {
  bool fits = i < c->n_out && dl_shape_elements(&c->out[i].s) == (double)n;
  double *copy = fits ? dl_output_new_values(c, i) : NULL;
  if (copy && n > 0)
    memcpy(copy, x, n * sizeof *copy);
}

void dl_output_strided(struct dl_node_call *c, const double *x, int64_t first,
                       const int64_t *stride) {
  double *y = dl_output_new_values(c, 0);
  for (size_t i = 0; y && i < c->out[0].n_data; i++) {
    const struct dl_onnx_shape *s = &c->out[0].s;
    int64_t rest = (int64_t)i, at = first;
    for (unsigned k = s->rank; k-- > 0; rest /= s->dim[k])
      at += rest % s->dim[k] * stride[k];
    y[i] = x[at];
  }
}

void dl_tensor_clear(struct dl_tensor *t) {
  free(t->data);
  *t = (struct dl_tensor){0};
}

bool dl_axis(struct dl_node_call *c, int64_t axis, unsigned rank,
             unsigned *out) {
  int64_t n = (int64_t)rank;
  if (dl_fault_if(c, axis < -n || axis >= n,
                  "an axis that its input does not have"))
    return false;
  *out = (unsigned)(axis < 0 ? axis + n : axis);
  return true;
}

bool dl_broadcast(struct dl_node_call *c, const struct dl_onnx_shape *a,
                  const struct dl_onnx_shape *b, struct dl_onnx_shape *out) {
  struct dl_onnx_shape s = {.known = true,
                            .rank = a->rank > b->rank ? a->rank : b->rank};
  for (unsigned i = 0; i < s.rank; i++) {
    int64_t x = i < a->rank ? a->dim[a->rank - 1 - i] : 1;
    int64_t y = i < b->rank ? b->dim[b->rank - 1 - i] : 1;
    if (dl_fault_if(c, x != y && x != 1 && y != 1,
                    "inputs whose shapes do not fit each other"))
      return false;
    s.dim[s.rank - 1 - i] = x == 1 ? y : x;
  }
  *out = s;
  return true;
}

/* Element types, in the order of TensorProto.DataType: name and bytes. */
#define TYPES(X)                                                               \
  X("unknown", 0)                                                              \
  X("float32", 4)                                                              \
  X("uint8", 1)                                                                \
  X("int8", 1)                                                                 \
  X("uint16", 2)                                                               \
  X("int16", 2)                                                                \
  X("int32", 4)                                                                \
  X("int64", 8)                                                                \
  X("string", 0)                                                               \
  X("bool", 1)                                                                 \
  X("float16", 2)                                                              \
  X("float64", 8)                                                              \
  X("uint32", 4)                                                               \
  X("uint64", 8)                                                               \
  X("complex64", 8)                                                            \
  X("complex128", 16)                                                          \
  X("bfloat16", 2)                                                             \
  X("float8e4m3fn", 1)                                                         \
  X("float8e4m3fnuz", 1)                                                       \
  X("float8e5m2", 1)                                                           \
  X("float8e5m2fnuz", 1)                                                       \
  X("uint4", 0.5)                                                              \
  X("int4", 0.5)                                                               \
  X("float4e2m1", 0.5) X("float8e8m0", 1) X("uint2", 0.25) X("int2", 0.25)
#define TYPE_NAME(name, bytes) name,
#define TYPE_BYTES(name, bytes) bytes,
static const char *const type_names[] = {TYPES(TYPE_NAME)};
static const double type_bytes[] = {TYPES(TYPE_BYTES)};

static int known_type(int type) {
  return type > 0 && (size_t)type < DL_LENGTH(type_names) ? type : 0;
}

double dl_type_bytes(int type) {
  return type_bytes[known_type(type)];
}

const char *dl_type_name(int type) {
  return type_names[known_type(type)];
}

bool dl_type_is_float(int type) {
  const char *name = dl_type_name(type);
  return strncmp(name, "float", 5) == 0 || strncmp(name, "bfloat", 6) == 0 ||
         strncmp(name, "complex", 7) == 0;
}

/* Reads an element of a type that is readable. */
static double raw_element(const uint8_t *p, int type) {
  union {
    float f;
    double d;
    int32_t i;
    int64_t l;
  } x;
  memcpy(&x, p, (size_t)dl_type_bytes(type));
  switch (type) {
  case DL_T_FLOAT:
    return (double)x.f;
  case DL_T_DOUBLE:
    return x.d;
  case DL_T_INT32:
    return x.i;
  case DL_T_INT64:
    return (double)x.l;
  case DL_T_INT8:
    return (int8_t)*p;
  default:
    return *p; /* bool, uint8 */
  }
}

static bool readable(int type) {
  return type == DL_T_FLOAT || type == DL_T_DOUBLE || type == DL_T_INT32 ||
         type == DL_T_INT64 || type == DL_T_INT8 || type == DL_T_UINT8 ||
         type == DL_T_BOOL;
}

/* Reads the elements from the member that has them; false if none has. */
static bool fill(const Onnx__TensorProto *t, int type, double *x, size_t n) {
  size_t bytes = (size_t)dl_type_bytes(type);
  bool raw = t->has_raw_data && t->raw_data.len == n * bytes;
  bool floats = type == DL_T_FLOAT && t->n_float_data == n;
  bool longs = type == DL_T_INT64 && t->n_int64_data == n;
  bool doubles = type == DL_T_DOUBLE && t->n_double_data == n;
  if (!raw && !floats && !longs && !doubles &&
      (type == DL_T_FLOAT || t->n_int32_data != n))
    return n == 0;
  for (size_t i = 0; i < n; i++)
    if (raw)
      x[i] = raw_element(t->raw_data.data + i * bytes, type);
    else if (floats)
      x[i] = (double)t->float_data[i];
    else if (longs)
      x[i] = (double)t->int64_data[i];
    else
      x[i] = doubles ? t->double_data[i] : t->int32_data[i];
  return true;
}

const char *dl_tensor_of(const Onnx__TensorProto *t, struct dl_tensor *to) {
  *to = (struct dl_tensor){.weight = true, .type = t->data_type};
  const char *fault = unsound(t->dims, t->n_dims);
  if (fault)
    return fault;
  to->s.known = true;
  to->s.rank = (unsigned)t->n_dims;
  for (size_t i = 0; i < t->n_dims; i++)
    to->s.dim[i] = t->dims[i];
  double n = dl_shape_elements(&to->s);
  bool external = t->has_data_location && t->data_location == 1;
  if (n > DL_ONNX_MOST_FOLDED || external || !readable(to->type))
    return NULL;
  double *x = dl_calloc((size_t)n, sizeof *x);
  if (!fill(t, to->type, x, (size_t)n)) {
    free(x);
    return NULL;
  }
  to->data = x;
  to->n_data = (size_t)n;
  return NULL;
}
