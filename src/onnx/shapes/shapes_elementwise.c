/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elementwise operators, and what shapes are computed with. */

#include <math.h>
#include <string.h>

#include "onnx/graph/graph.h"

void dl_infer_same(struct dl_call *c) {
  dl_give_like(c, 0, dl_shaped(c, 0));
}

void dl_infer_identity(struct dl_call *c) {
  size_t n;
  const double *x = dl_elements(c, 0, &n);
  if (dl_give_like(c, 0, dl_shaped(c, 0)) && x)
    dl_give_data(c, 0, x, n);
}

void dl_infer_dropout(struct dl_call *c) {
  dl_infer_identity(c);
  const struct dl_tensor *t = c->in[0];
  dl_give(c, 1, t->s.dim, t->s.rank, DL_T_BOOL);
}

static double whole(double x) {
  return trunc(x);
}

typedef double unary(double x);

static double opposite(double x) {
  return -x;
}

static double inverse(double x) {
  return x == 0;
}

/* Operators on one value whose results shapes depend on. */
static unary *unary_of(const struct dl_call *c) {
  static const struct {
    const char *op;
    unary *f;
  } table[] = {{"Floor", floor},  {"Ceil", ceil}, {"Sqrt", sqrt},
               {"Neg", opposite}, {"Abs", fabs},  {"Not", inverse}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(c->name, table[i].op) == 0)
      return table[i].f;
  return NULL;
}

static void map(struct dl_call *c, unary *f) {
  size_t n;
  const double *x = dl_elements(c, 0, &n);
  double *y = f && x ? dl_new_data(c, 0) : NULL;
  for (size_t i = 0; y && i < n; i++)
    y[i] = f(x[i]);
}

void dl_infer_cast(struct dl_call *c) {
  const struct dl_tensor *t = c->in[0];
  if (strcmp(c->name, "Cast") != 0) {
    if (dl_give_like(c, 0, t))
      map(c, unary_of(c));
    return;
  }
  int type = (int)dl_attr_int(c, "to", t->type);
  if (!dl_give(c, 0, t->s.dim, t->s.rank, type))
    return;
  size_t n;
  const double *x = dl_elements(c, 0, &n);
  if (x && dl_type_is_float(type))
    dl_give_data(c, 0, x, n);
  else if (x)
    map(c, whole);
}

static bool apply(const char *op, bool integers, double x, double y,
                  double *z) {
  switch (*op) {
  case 'A':
    *z = op[1] == 'd' ? x + y : x != 0 && y != 0; /* Add, And */
    return true;
  case 'S':
    *z = strcmp(op, "Sum") == 0 ? x + y : x - y;
    return true;
  case 'M':
    if (strcmp(op, "Mul") == 0)
      *z = x * y;
    else if (strcmp(op, "Max") == 0)
      *z = fmax(x, y);
    else if (strcmp(op, "Min") == 0)
      *z = fmin(x, y);
    else if (strcmp(op, "Mean") == 0)
      *z = (x + y) / 2;
    else
      *z = y == 0 ? NAN : x - y * floor(x / y); /* Mod */
    return !isnan(*z);
  case 'D':
    if (y == 0)
      return false;
    *z = integers ? trunc(x / y) : x / y;
    return true;
  case 'P':
    *z = pow(x, y);
    return isfinite(*z);
  case 'E':
    *z = x == y;
    return true;
  case 'L':
    *z = strcmp(op, "LessOrEqual") == 0 ? x <= y : x < y;
    return true;
  case 'G':
    *z = strcmp(op, "GreaterOrEqual") == 0 ? x >= y : x > y;
    return true;
  case 'O':
    *z = x != 0 || y != 0;
    return true;
  default:
    return false;
  }
}

/* Index into a tensor of shape s for element i of shape `of`. */
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

static void fold_binary(struct dl_call *c) {
  size_t na, nb;
  const double *a = dl_elements(c, 0, &na), *b = dl_elements(c, 1, &nb);
  double *z = a && b ? dl_new_data(c, 0) : NULL;
  bool integers = !dl_type_is_float(c->in[0]->type), ok = true;
  const struct dl_onnx_shape *s = &c->out[0].s;
  for (size_t i = 0; z && i < c->out[0].n_data && ok; i++)
    ok = apply(c->name, integers, a[broadcast_index(&c->in[0]->s, s, i)],
               b[broadcast_index(&c->in[1]->s, s, i)], &z[i]);
  if (!ok)
    dl_drop_data(c, 0);
}

static bool binary(struct dl_call *c, int type) {
  const struct dl_tensor *a = dl_shaped(c, 0), *b = dl_shaped(c, 1);
  struct dl_onnx_shape s;
  if (!a || !b || c->n_out == 0)
    return false;
  /* Before version 7 the second input was aligned by an axis. */
  if (c->opset < 7 && b->s.rank <= a->s.rank &&
      (dl_attr(c, "axis") || dl_attr_int(c, "broadcast", 0)))
    s = a->s;
  else if (!dl_broadcast(c, &a->s, &b->s, &s))
    return false;
  return dl_give(c, 0, s.dim, s.rank, type ? type : a->type);
}

void dl_infer_binary(struct dl_call *c) {
  if (binary(c, 0) && c->opset >= 7)
    fold_binary(c);
}

void dl_infer_compare(struct dl_call *c) {
  if (binary(c, DL_T_BOOL) && c->opset >= 7)
    fold_binary(c);
}

void dl_infer_variadic(struct dl_call *c) {
  if (c->n_in == 2) {
    dl_infer_binary(c);
    return;
  }
  const struct dl_tensor *a = dl_shaped(c, 0);
  struct dl_onnx_shape s = a ? a->s : (struct dl_onnx_shape){0};
  for (size_t i = 1; i < c->n_in && s.known; i++) {
    const struct dl_tensor *b = dl_shaped(c, i);
    if (!b || !dl_broadcast(c, &s, &b->s, &s))
      return;
  }
  if (s.known)
    dl_give(c, 0, s.dim, s.rank, a->type);
}

void dl_infer_where(struct dl_call *c) {
  const struct dl_tensor *when = c->in[0], *a = c->in[1], *b = c->in[2];
  struct dl_onnx_shape s;
  if (!dl_broadcast(c, &when->s, &a->s, &s) ||
      !dl_broadcast(c, &s, &b->s, &s) || !dl_give(c, 0, s.dim, s.rank, a->type))
    return;
  double *z = when->data && a->data && b->data ? dl_new_data(c, 0) : NULL;
  for (size_t i = 0; z && i < c->out[0].n_data; i++)
    z[i] = when->data[broadcast_index(&when->s, &s, i)] != 0
               ? a->data[broadcast_index(&a->s, &s, i)]
               : b->data[broadcast_index(&b->s, &s, i)];
}

void dl_infer_norm(struct dl_call *c) {
  const struct dl_tensor *t = c->in[0];
  dl_give_like(c, 0, t);
  bool layer = strcmp(c->name, "LayerNormalization") == 0;
  unsigned axis = 0;
  if (layer && c->n_out > 1 &&
      dl_axis(c, dl_attr_int(c, "axis", -1), t->s.rank, &axis)) {
    struct dl_onnx_shape s = t->s;
    for (unsigned i = axis; i < s.rank; i++)
      s.dim[i] = 1;
    for (size_t i = 1; i < c->n_out; i++)
      dl_give(c, i, s.dim, s.rank, t->type);
  }
  if (!layer && t->s.rank > 1) /* statistics, by channel */
    for (size_t i = 1; i < c->n_out; i++)
      dl_give(c, i, t->s.dim + 1, 1, t->type);
}

void dl_infer_dynamic_quantize(struct dl_call *c) {
  const struct dl_tensor *t = c->in[0];
  dl_give(c, 0, t->s.dim, t->s.rank, DL_T_UINT8);
  dl_give(c, 1, NULL, 0, DL_T_FLOAT);
  dl_give(c, 2, NULL, 0, DL_T_UINT8);
}
