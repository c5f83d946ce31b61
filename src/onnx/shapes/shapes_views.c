/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reshape family and constants. */

#include <math.h>
#include <string.h>

#include "onnx/graph/graph.h"

/* Rounds an element, which may be beyond an integer's range, towards 0. */
static int64_t integer(double x) {
  if (isnan(x))
    return 0;
  if (x >= 0x1p62)
    return INT64_MAX / 2;
  return x <= -0x1p62 ? INT64_MIN / 2 : (int64_t)x;
}

/* Reads dimensions from input i, or from an attribute if that is absent.
 * Returns false if they are not known, or too many. */
static bool list_of(struct dl_node_call *c, size_t i, const char *attribute,
                    int64_t to[DL_ONNX_MAX_RANK], size_t *n) {
  const double *x = dl_input_values(c, i, n);
  if (x) {
    for (size_t k = 0; k < *n && k < DL_ONNX_MAX_RANK; k++)
      to[k] = integer(x[k]);
  } else {
    const int64_t *v = dl_attr_ints(c, attribute, n);
    if (!dl_attr(c, attribute))
      return false;
    for (size_t k = 0; k < *n && k < DL_ONNX_MAX_RANK; k++)
      to[k] = v[k];
  }
  if (*n > DL_ONNX_MAX_RANK)
    dl_fault(c, "more dimensions than 8");
  return *n <= DL_ONNX_MAX_RANK;
}

/* The output holds what the first input holds. */
static void same_data(struct dl_node_call *c) {
  size_t n;
  const double *x = dl_input_values(c, 0, &n);
  if (x)
    dl_output_values(c, 0, x, n);
}

static int64_t limited(int64_t x, int64_t low, int64_t high) {
  if (x < low)
    return low;
  return x > high ? high : x;
}

void dl_infer_shape(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int64_t rank = (int64_t)t->s.rank;
  int64_t from = dl_attr_int(c, "start", 0), to = dl_attr_int(c, "end", rank);
  if (from < 0)
    from += rank;
  if (to < 0)
    to += rank;
  from = limited(from, 0, rank);
  to = limited(to, from, rank);
  int64_t n = to - from;
  double x[DL_ONNX_MAX_RANK];
  for (int64_t i = 0; i < n; i++)
    x[i] = (double)t->s.dim[from + i];
  if (dl_output_set(c, 0, &n, 1, DL_T_INT64))
    dl_output_values(c, 0, x, (size_t)n);
}

void dl_infer_size(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  if (!dl_output_set(c, 0, NULL, 0, DL_T_INT64))
    return;
  double n = dl_shape_elements(&t->s);
  dl_output_values(c, 0, &n, 1);
}

void dl_infer_reshape(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int64_t dim[DL_ONNX_MAX_RANK];
  size_t n;
  if (!list_of(c, 1, "shape", dim, &n))
    return;
  bool zero = dl_attr_int(c, "allowzero", 0) != 0;
  double all = dl_shape_elements(&t->s), rest = 1;
  long open = -1;
  for (size_t i = 0; i < n; i++) {
    if (dim[i] == 0 && !zero && i < t->s.rank)
      dim[i] = t->s.dim[i];
    if (dim[i] == -1 && open < 0)
      open = (long)i;
    else
      rest *= (double)dim[i];
  }
  if (open >= 0 && rest > 0)
    dim[open] = integer(all / rest);
  else if (open >= 0)
    dim[open] = 0;
  if (dl_output_set(c, 0, dim, n, t->type) && c->n_out &&
      dl_shape_elements(&c->out[0].s) != all)
    dl_fault(c, "a shape of another number of elements");
  else
    same_data(c);
}

void dl_infer_flatten(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  unsigned axis;
  int64_t at = dl_attr_int(c, "axis", 1);
  if (at == (int64_t)t->s.rank)
    axis = t->s.rank;
  else if (!dl_axis(c, at, t->s.rank, &axis))
    return;
  int64_t dim[2] = {(int64_t)dl_shape_product(&t->s, 0, axis),
                    (int64_t)dl_shape_product(&t->s, axis, t->s.rank)};
  if (dl_output_set(c, 0, dim, 2, t->type))
    same_data(c);
}

void dl_infer_squeeze(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int64_t dim[DL_ONNX_MAX_RANK];
  size_t n = 0, rank = 0;
  bool drop[DL_ONNX_MAX_RANK] = {false};
  if (dl_input(c, 1) || dl_attr(c, "axes")) {
    int64_t axes[DL_ONNX_MAX_RANK];
    if (!list_of(c, 1, "axes", axes, &n))
      return;
    for (size_t i = 0; i < n; i++) {
      unsigned axis;
      if (!dl_axis(c, axes[i], t->s.rank, &axis))
        return;
      drop[axis] = true;
    }
  } else {
    for (unsigned i = 0; i < t->s.rank; i++)
      drop[i] = t->s.dim[i] == 1;
  }
  for (unsigned i = 0; i < t->s.rank; i++)
    if (!drop[i])
      dim[rank++] = t->s.dim[i];
    else if (t->s.dim[i] != 1)
      dl_fault(c, "a dimension that is not 1 to be squeezed");
  if (dl_output_set(c, 0, dim, rank, t->type))
    same_data(c);
}

void dl_infer_unsqueeze(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int64_t axes[DL_ONNX_MAX_RANK], dim[DL_ONNX_MAX_RANK];
  size_t n;
  bool add[DL_ONNX_MAX_RANK] = {false};
  if (!list_of(c, 1, "axes", axes, &n))
    return;
  size_t rank = t->s.rank + n, from = 0;
  if (dl_fault_if(c, rank > DL_ONNX_MAX_RANK, "more dimensions than 8"))
    return;
  for (size_t i = 0; i < n; i++) {
    unsigned axis;
    if (!dl_axis(c, axes[i], (unsigned)rank, &axis))
      return;
    if (add[axis])
      dl_fault(c, "an axis that is there twice");
    add[axis] = true;
  }
  for (size_t i = 0; i < rank && !c->fault; i++)
    dim[i] = add[i] ? 1 : t->s.dim[from++];
  if (!c->fault && dl_output_set(c, 0, dim, rank, t->type))
    same_data(c);
}

void dl_infer_expand(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  struct dl_onnx_shape s = {.known = true};
  size_t n;
  if (!list_of(c, 1, "shape", s.dim, &n))
    return;
  s.rank = (unsigned)n;
  if (!dl_broadcast(c, &t->s, &s, &s) ||
      !dl_output_set(c, 0, s.dim, s.rank, t->type))
    return;
  double *x = t->data && t->n_data == 1 ? dl_output_new_values(c, 0) : NULL;
  for (size_t i = 0; x && i < c->out[0].n_data; i++)
    x[i] = t->data[0];
}

/* Reads value_float, value_ints and their like in place of a tensor. */
static void plain_constant(struct dl_node_call *c) {
  const Onnx__AttributeProto *a;
  size_t n;
  if ((a = dl_attr(c, "value_float")) && a->has_f) {
    double x = (double)a->f;
    dl_output_set(c, 0, NULL, 0, DL_T_FLOAT);
    dl_output_values(c, 0, &x, 1);
  } else if ((a = dl_attr(c, "value_int")) && a->has_i) {
    double x = (double)a->i;
    dl_output_set(c, 0, NULL, 0, DL_T_INT64);
    dl_output_values(c, 0, &x, 1);
  } else if (dl_attr(c, "value_ints")) {
    const int64_t *v = dl_attr_ints(c, "value_ints", &n);
    int64_t dim = (int64_t)n;
    double *x = dl_output_set(c, 0, &dim, 1, DL_T_INT64)
                    ? dl_output_new_values(c, 0)
                    : NULL;
    for (size_t i = 0; x && i < n; i++)
      x[i] = (double)v[i];
  } else if ((a = dl_attr(c, "value_floats"))) {
    int64_t dim = (int64_t)a->n_floats;
    dl_output_set(c, 0, &dim, 1, DL_T_FLOAT);
  } else if ((a = dl_attr(c, "sparse_value")) && a->sparse_tensor) {
    dl_output_set(c, 0, a->sparse_tensor->dims, a->sparse_tensor->n_dims,
                  a->sparse_tensor->values ? a->sparse_tensor->values->data_type
                                           : 0);
  }
}

void dl_infer_constant(struct dl_node_call *c) {
  const Onnx__AttributeProto *a = dl_attr(c, "value");
  if (!a || !a->t) {
    plain_constant(c);
    return;
  }
  if (c->n_out == 0)
    return;
  const char *fault = dl_tensor_of(a->t, &c->out[0]);
  if (fault)
    dl_fault(c, fault);
}

void dl_infer_constant_of_shape(struct dl_node_call *c) {
  struct dl_tensor value = {.type = DL_T_FLOAT};
  const Onnx__AttributeProto *a = dl_attr(c, "value");
  int64_t dim[DL_ONNX_MAX_RANK];
  const char *fault = NULL;
  size_t n;
  if (!list_of(c, 0, "shape", dim, &n))
    return;
  if (a && a->t)
    fault = dl_tensor_of(a->t, &value);
  if (fault)
    dl_fault(c, fault);
  double with = value.data && value.n_data ? value.data[0] : 0;
  double *x = dl_output_set(c, 0, dim, n, value.type)
                  ? dl_output_new_values(c, 0)
                  : NULL;
  for (size_t i = 0; x && i < c->out[0].n_data; i++)
    x[i] = with;
  dl_tensor_clear(&value);
}

void dl_infer_range(struct dl_node_call *c) {
  size_t n[3];
  const double *from = dl_input_values(c, 0, &n[0]),
               *to = dl_input_values(c, 1, &n[1]),
               *step = dl_input_values(c, 2, &n[2]);
  if (!from || !to || !step || n[0] != 1 || n[1] != 1 || n[2] != 1 ||
      *step == 0)
    return;
  double count = ceil((*to - *from) / *step);
  int64_t dim = count > 0 ? integer(count) : 0;
  bool ok = dl_output_set(c, 0, &dim, 1, c->in[0]->type);
  double *x = ok ? dl_output_new_values(c, 0) : NULL;
  for (int64_t i = 0; x && i < dim; i++)
    x[i] = *from + (double)i * *step;
}
