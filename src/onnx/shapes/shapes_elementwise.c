/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elementwise operators, some of which shapes are computed with. */

#include <math.h>

#include "onnx/graph/graph.h"

void dl_infer_same(struct dl_node_call *c) {
  dl_output_like(c, 0, dl_input_known(c, 0));
}

void dl_infer_identity(struct dl_node_call *c) {
  size_t n;
  const double *x = dl_input_values(c, 0, &n);
  if (dl_output_like(c, 0, dl_input_known(c, 0)) && x)
    dl_output_values(c, 0, x, n);
}

void dl_infer_dropout(struct dl_node_call *c) {
  dl_infer_identity(c);
  const struct dl_tensor *t = c->in[0];
  dl_output_set(c, 1, t->s.dim, t->s.rank, DL_T_BOOL);
}

typedef double unary(double x);

static double opposite(double x) {
  return -x;
}

static double inverse(double x) {
  return x == 0;
}

/* Applies a function to the elements, if they are known. */
static void map(struct dl_node_call *c, unary *f) {
  size_t n;
  const double *x = dl_input_values(c, 0, &n);
  double *y = x ? dl_output_new_values(c, 0) : NULL;
  for (size_t i = 0; y && i < n; i++)
    y[i] = f(x[i]);
}

/* Operators on one value whose results shapes depend on. */
void dl_infer_unary(struct dl_node_call *c) {
  static unary *const functions[] = {
      [DL_OP_ABS] = fabs,     [DL_OP_CEIL] = ceil,   [DL_OP_FLOOR] = floor,
      [DL_OP_NEG] = opposite, [DL_OP_NOT] = inverse, [DL_OP_SQRT] = sqrt};
  if (dl_output_like(c, 0, c->in[0]))
    map(c, functions[c->op->variant]);
}

void dl_infer_cast(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int type = (int)dl_attr_int(c, "to", t->type);
  if (!dl_output_set(c, 0, t->s.dim, t->s.rank, type))
    return;
  size_t n;
  const double *x = dl_input_values(c, 0, &n);
  if (x && dl_type_is_float(type))
    dl_output_values(c, 0, x, n);
  else
    map(c, trunc);
}

/* Computes *z of two elements. Returns false if it is not known. */
static bool apply(int op, bool integers, double x, double y, double *z) {
  switch (op) {
  case DL_OP_ADD:
  case DL_OP_SUM:
    *z = x + y;
    return true;
  case DL_OP_SUB:
    *z = x - y;
    return true;
  case DL_OP_MUL:
    *z = x * y;
    return !isnan(*z);
  case DL_OP_DIV:
    if (y == 0)
      return false;
    *z = integers ? trunc(x / y) : x / y;
    return true;
  case DL_OP_MOD:
    *z = y == 0 ? NAN : x - y * floor(x / y);
    return !isnan(*z);
  case DL_OP_POW:
    *z = pow(x, y);
    return isfinite(*z);
  case DL_OP_MAX:
    *z = fmax(x, y);
    return !isnan(*z);
  case DL_OP_MIN:
    *z = fmin(x, y);
    return !isnan(*z);
  case DL_OP_MEAN:
    *z = (x + y) / 2;
    return !isnan(*z);
  case DL_OP_AND:
    *z = x != 0 && y != 0;
    return true;
  case DL_OP_OR:
    *z = x != 0 || y != 0;
    return true;
  case DL_OP_EQUAL:
    *z = x == y;
    return true;
  case DL_OP_LESS:
    *z = x < y;
    return true;
  case DL_OP_LESS_OR_EQUAL:
    *z = x <= y;
    return true;
  case DL_OP_GREATER:
    *z = x > y;
    return true;
  case DL_OP_GREATER_OR_EQUAL:
    *z = x >= y;
    return true;
  default:
    return false;
  }
}

/* Returns the index into a tensor of shape s for element i of shape `of`. */
static size_t broadcast_index(const struct dl_onnx_shape *s,
                              const struct dl_onnx_shape *of, size_t i) {
  size_t index = 0, step = 1;
  for (unsigned k = 0; k < of->rank; k++) {
    size_t n = (size_t)of->dim[of->rank - 1 - k], at = i % n;
    i /= n;
    if (k < s->rank) {
      size_t own = (size_t)s->dim[s->rank - 1 - k];
      index += own == 1 ? 0 : at * step;
      step *= own;
    }
  }
  return index;
}

static void fold_binary(struct dl_node_call *c) {
  size_t na, nb;
  const double *a = dl_input_values(c, 0, &na), *b = dl_input_values(c, 1, &nb);
  double *z = a && b ? dl_output_new_values(c, 0) : NULL;
  bool integers = !dl_type_is_float(c->in[0]->type), ok = true;
  const struct dl_onnx_shape *s = &c->out[0].s;
  for (size_t i = 0; z && i < c->out[0].n_data && ok; i++)
    ok = apply(c->op->variant, integers, a[broadcast_index(&c->in[0]->s, s, i)],
               b[broadcast_index(&c->in[1]->s, s, i)], &z[i]);
  if (!ok)
    dl_output_drop_values(c, 0);
}

static bool binary(struct dl_node_call *c, int type) {
  const struct dl_tensor *a = dl_input_known(c, 0), *b = dl_input_known(c, 1);
  struct dl_onnx_shape s;
  if (!a || !b || c->n_out == 0)
    return false;
  /* Before version 7 the second input was aligned by an axis. */
  if (c->opset < 7 && b->s.rank <= a->s.rank &&
      (dl_attr(c, "axis") || dl_attr_int(c, "broadcast", 0)))
    s = a->s;
  else if (!dl_broadcast(c, &a->s, &b->s, &s))
    return false;
  return dl_output_set(c, 0, s.dim, s.rank, type ? type : a->type);
}

void dl_infer_binary(struct dl_node_call *c) {
  if (binary(c, 0) && c->opset >= 7)
    fold_binary(c);
}

void dl_infer_compare(struct dl_node_call *c) {
  if (binary(c, DL_T_BOOL) && c->opset >= 7)
    fold_binary(c);
}

void dl_infer_variadic(struct dl_node_call *c) {
  if (c->n_in == 2) {
    dl_infer_binary(c);
    return;
  }
  const struct dl_tensor *a = dl_input_known(c, 0);
  struct dl_onnx_shape s = a ? a->s : (struct dl_onnx_shape){0};
  for (size_t i = 1; i < c->n_in && s.known; i++) {
    const struct dl_tensor *b = dl_input_known(c, i);
    if (!b || !dl_broadcast(c, &s, &b->s, &s))
      return;
  }
  if (s.known)
    dl_output_set(c, 0, s.dim, s.rank, a->type);
}

void dl_infer_where(struct dl_node_call *c) {
  const struct dl_tensor *when = c->in[0], *a = c->in[1], *b = c->in[2];
  struct dl_onnx_shape s;
  if (!dl_broadcast(c, &when->s, &a->s, &s) ||
      !dl_broadcast(c, &s, &b->s, &s) ||
      !dl_output_set(c, 0, s.dim, s.rank, a->type))
    return;
  double *z =
      when->data && a->data && b->data ? dl_output_new_values(c, 0) : NULL;
  for (size_t i = 0; z && i < c->out[0].n_data; i++)
    z[i] = when->data[broadcast_index(&when->s, &s, i)] != 0
               ? a->data[broadcast_index(&a->s, &s, i)]
               : b->data[broadcast_index(&b->s, &s, i)];
}

void dl_infer_norm(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  dl_output_like(c, 0, t);
  bool layer = c->op->variant == DL_OP_LAYER_NORM;
  unsigned axis = 0;
  if (layer && c->n_out > 1 &&
      dl_axis(c, dl_attr_int(c, "axis", -1), t->s.rank, &axis)) {
    struct dl_onnx_shape s = t->s;
    for (unsigned i = axis; i < s.rank; i++)
      s.dim[i] = 1;
    for (size_t i = 1; i < c->n_out; i++)
      dl_output_set(c, i, s.dim, s.rank, t->type);
  }
  if (!layer && t->s.rank > 1) /* statistics, by channel */
    for (size_t i = 1; i < c->n_out; i++)
      dl_output_set(c, i, t->s.dim + 1, 1, t->type);
}

void dl_infer_dynamic_quantize(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  dl_output_set(c, 0, t->s.dim, t->s.rank, DL_T_UINT8);
  dl_output_set(c, 1, NULL, 0, DL_T_FLOAT);
  dl_output_set(c, 2, NULL, 0, DL_T_UINT8);
}
