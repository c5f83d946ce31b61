/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that move data: joining, cutting, picking. */

#include <math.h>
#include <string.h>

#include "onnx/graph/graph.h"

static int64_t clamp(double x, int64_t low, int64_t high) {
  if (isnan(x) || x < (double)low)
    return low;
  return x > (double)high ? high : (int64_t)x;
}

void dl_infer_transpose(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  size_t n;
  unsigned seen = 0;
  const int64_t *perm = dl_attr_ints(c, "perm", &n);
  int64_t dim[DL_ONNX_MAX_RANK], stride[DL_ONNX_MAX_RANK];
  if (c->n_out == 0)
    return;
  if (dl_fault_if(c, n > 0 && n != t->s.rank,
                  "a permutation of another number of axes"))
    return;
  for (unsigned i = 0; i < t->s.rank; i++) {
    unsigned from = t->s.rank - 1 - i;
    if (n > 0 && !dl_axis(c, perm[i], t->s.rank, &from))
      return;
    dim[i] = t->s.dim[from];
    stride[i] = (int64_t)dl_shape_product(&t->s, from + 1, t->s.rank);
    if (seen & 1u << from)
      dl_fault(c, "a permutation that has an axis twice");
    seen |= 1u << from;
  }
  if (!c->fault && dl_output_set(c, 0, dim, t->s.rank, t->type) && t->data)
    dl_output_strided(c, t->data, 0, stride);
}

/* Joins the elements of lists. */
static void join_lists(struct dl_node_call *c) {
  size_t n = 0, at = 0;
  for (size_t i = 0; i < c->n_in; i++) {
    if (!c->in[i] || !c->in[i]->data || c->in[i]->s.rank != 1)
      return;
    n += c->in[i]->n_data;
  }
  bool fits = c->n_out > 0 && dl_shape_elements(&c->out[0].s) == (double)n;
  double *x = fits ? dl_output_new_values(c, 0) : NULL;
  for (size_t i = 0; x && i < c->n_in; i++) {
    if (c->in[i]->n_data > 0)
      memcpy(x + at, c->in[i]->data, c->in[i]->n_data * sizeof *x);
    at += c->in[i]->n_data;
  }
}

void dl_infer_concat(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  unsigned axis;
  if (!dl_axis(c, dl_attr_int(c, "axis", 1), t->s.rank, &axis))
    return;
  struct dl_onnx_shape s = t->s;
  for (size_t i = 1; i < c->n_in; i++) {
    const struct dl_tensor *u = dl_input_known(c, i);
    if (!u)
      return;
    if (dl_fault_if(c, u->s.rank != s.rank,
                    "inputs of different rank to be joined"))
      return;
    for (unsigned k = 0; k < s.rank; k++)
      if (dl_fault_if(c, k != axis && u->s.dim[k] != s.dim[k],
                      "inputs whose shapes do not fit each other"))
        return;
    if (dl_fault_if(
            c,
            __builtin_add_overflow(s.dim[axis], u->s.dim[axis], &s.dim[axis]),
            "a tensor of more than 2^53 elements"))
      return;
  }
  if (dl_output_set(c, 0, s.dim, s.rank, t->type))
    join_lists(c);
}

void dl_infer_split(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  unsigned axis;
  size_t n, n_attr;
  const double *part = dl_input_values(c, 1, &n);
  const int64_t *sizes = dl_attr_ints(c, "split", &n_attr);
  if (!dl_axis(c, dl_attr_int(c, "axis", 0), t->s.rank, &axis) ||
      (dl_input(c, 1) && !part) || c->n_out == 0)
    return;
  int64_t whole = t->s.dim[axis], outs = (int64_t)c->n_out, left = whole;
  int64_t even = (whole + outs - 1) / outs;
  for (size_t i = 0; i < c->n_out; i++) {
    int64_t dim[DL_ONNX_MAX_RANK], size = even < left ? even : left;
    memcpy(dim, t->s.dim, sizeof dim);
    if (part)
      size = i < n ? clamp(part[i], -1, whole + 1) : -1;
    else if (sizes)
      size = i < n_attr ? sizes[i] : -1;
    if (dl_fault_if(c, size < 0 || size > left,
                    "parts that do not add up to what is split"))
      return;
    left -= size;
    dim[axis] = size;
    if (!dl_output_set(c, i, dim, t->s.rank, t->type))
      return;
    if (t->data && t->s.rank == 1)
      dl_output_values(c, i, t->data + (whole - left - size), (size_t)size);
  }
}

/* Reads starts, ends, axes or steps: inputs since version 10, attributes
 * before. Returns false if they are not known. */
static bool slice_list(struct dl_node_call *c, size_t i, const char *name,
                       double to[DL_ONNX_MAX_RANK], size_t *n) {
  size_t m;
  const double *x = dl_input_values(c, i, &m);
  const int64_t *v = dl_attr_ints(c, name, n);
  if (dl_input(c, i) && !x)
    return false;
  if (x)
    *n = m;
  if (dl_fault_if(c, *n > DL_ONNX_MAX_RANK, "more axes than 8"))
    return false;
  for (size_t k = 0; k < *n; k++)
    to[k] = x ? x[k] : (double)v[k];
  return true;
}

/* Computes where a slice of `size` elements begins, and how many it takes. */
static int64_t slice_axis(double from, double to, double step, int64_t size,
                          int64_t *first) {
  double n = (double)size;
  from += from < 0 ? n : 0;
  to += to < 0 ? n : 0;
  from = fmin(fmax(from, 0), step > 0 ? n : n - 1);
  to = fmin(fmax(to, step > 0 ? 0 : -1), n);
  double count = ceil((to - from) / step);
  *first = (int64_t)from;
  return count > 0 ? (int64_t)fmin(count, n) : 0;
}

void dl_infer_slice(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  double from[DL_ONNX_MAX_RANK], to[DL_ONNX_MAX_RANK], axes[DL_ONNX_MAX_RANK],
      steps[DL_ONNX_MAX_RANK];
  size_t n, n_to, n_axes, n_steps;
  bool twice = false;
  if (!slice_list(c, 1, "starts", from, &n) ||
      !slice_list(c, 2, "ends", to, &n_to) ||
      !slice_list(c, 3, "axes", axes, &n_axes) ||
      !slice_list(c, 4, "steps", steps, &n_steps))
    return;
  if (dl_fault_if(
          c, n_to != n || (n_axes && n_axes != n) || (n_steps && n_steps != n),
          "starts and ends of different number"))
    return;
  struct dl_onnx_shape s = t->s;
  int64_t first = 0, stride[DL_ONNX_MAX_RANK];
  for (unsigned i = 0; i < s.rank; i++)
    stride[i] = (int64_t)dl_shape_product(&t->s, i + 1, s.rank);
  for (size_t i = 0; i < n; i++) {
    unsigned axis;
    int64_t begin;
    if (!dl_axis(c, n_axes ? clamp(axes[i], -99, 99) : (int64_t)i, s.rank,
                 &axis))
      return;
    double step = n_steps ? trunc(steps[i]) : 1;
    if (dl_fault_if(c, !(fabs(step) >= 1), "a step of 0"))
      return;
    if (s.dim[axis] != t->s.dim[axis])
      twice = true; /* an axis that was cut already: not followed */
    s.dim[axis] = slice_axis(from[i], to[i], step, t->s.dim[axis], &begin);
    if (!t->data)
      continue;
    first += begin * stride[axis];
    stride[axis] *= clamp(step, -DL_ONNX_MOST_FOLDED, DL_ONNX_MOST_FOLDED);
  }
  if (dl_output_set(c, 0, s.dim, s.rank, t->type) && t->data && !twice &&
      c->n_out)
    dl_output_strided(c, t->data, first, stride);
}

/* Picks elements of a list. */
static void pick(struct dl_node_call *c) {
  size_t n, m;
  const double *x = dl_input_values(c, 0, &n), *at = dl_input_values(c, 1, &m);
  if (!x || !at || c->in[0]->s.rank != 1)
    return;
  double *y = dl_output_new_values(c, 0);
  for (size_t i = 0; y && i < m && !c->fault; i++) {
    double k = at[i] < 0 ? at[i] + (double)n : at[i];
    if (k >= 0 && k < (double)n)
      y[i] = x[(size_t)k];
    else
      dl_fault(c, "an index beyond its input");
  }
  if (c->fault && y)
    dl_output_drop_values(c, 0);
}

void dl_infer_gather(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0], *at = c->in[1];
  unsigned axis;
  int64_t dim[2 * DL_ONNX_MAX_RANK];
  size_t rank = 0;
  if (!dl_axis(c, dl_attr_int(c, "axis", 0), t->s.rank, &axis))
    return;
  for (unsigned i = 0; i < t->s.rank; i++) {
    if (i != axis)
      dim[rank++] = t->s.dim[i];
    for (unsigned k = 0; i == axis && k < at->s.rank; k++)
      dim[rank++] = at->s.dim[k];
  }
  if (dl_output_set(c, 0, dim, rank, t->type))
    pick(c);
}

void dl_infer_gather_elements(struct dl_node_call *c) {
  dl_output_set(c, 0, c->in[1]->s.dim, c->in[1]->s.rank, c->in[0]->type);
}

void dl_infer_gather_nd(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0], *at = c->in[1];
  int64_t dim[2 * DL_ONNX_MAX_RANK], batch = dl_attr_int(c, "batch_dims", 0);
  size_t rank = 0;
  if (at->s.rank == 0)
    return;
  int64_t deep = at->s.dim[at->s.rank - 1];
  if (dl_fault_if(c,
                  batch < 0 || deep < 0 || deep > DL_ONNX_MAX_RANK ||
                      batch + deep > (int64_t)t->s.rank,
                  "indices of more axes than their input has"))
    return;
  for (unsigned i = 0; i + 1 < at->s.rank; i++)
    dim[rank++] = at->s.dim[i];
  for (unsigned i = (unsigned)(batch + deep); i < t->s.rank; i++)
    dim[rank++] = t->s.dim[i];
  dl_output_set(c, 0, dim, rank, t->type);
}

/* Returns a dimension that was computed in doubles. */
static int64_t sized(struct dl_node_call *c, double x) {
  if (dl_fault_if(c, !(x >= 0 && x <= 0x1p53),
                  "a dimension that is negative or over 2^53"))
    return 0;
  return (int64_t)x;
}

void dl_infer_tile(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  size_t n;
  const double *times = dl_input_values(c, 1, &n);
  int64_t dim[DL_ONNX_MAX_RANK];
  if (!times || n != t->s.rank)
    return;
  for (unsigned i = 0; i < t->s.rank; i++)
    dim[i] = sized(c, (double)t->s.dim[i] * times[i]);
  if (!c->fault)
    dl_output_set(c, 0, dim, t->s.rank, t->type);
}

void dl_infer_pad(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  size_t n, n_attr, n_axes;
  const double *pads = dl_input_values(c, 1, &n),
               *axes = dl_input_values(c, 3, &n_axes);
  const char *name = dl_attr(c, "pads") ? "pads" : "paddings";
  const int64_t *old = dl_attr_ints(c, name, &n_attr);
  double by[DL_ONNX_MAX_RANK] = {0};
  if ((!pads && !old) || (dl_input(c, 3) && !axes))
    return;
  size_t half = pads ? n / 2 : n_attr / 2;
  if (dl_fault_if(
          c, half != (axes ? n_axes : t->s.rank) || half > DL_ONNX_MAX_RANK,
          "pads for another number of axes"))
    return;
  for (size_t i = 0; i < half; i++) {
    unsigned axis = (unsigned)i;
    if (axes && !dl_axis(c, clamp(axes[i], -99, 99), t->s.rank, &axis))
      return;
    by[axis] = pads ? pads[i] + pads[half + i]
                    : (double)old[i] + (double)old[half + i];
  }
  int64_t dim[DL_ONNX_MAX_RANK];
  for (unsigned i = 0; i < t->s.rank; i++)
    dim[i] = sized(c, (double)t->s.dim[i] + by[i]);
  if (!c->fault)
    dl_output_set(c, 0, dim, t->s.rank, t->type);
}

/* Gives the output sizes of floor(size x scale), or the given ones. */
static void resize_by(struct dl_node_call *c, const struct dl_tensor *t,
                      const double *scales, const double *sizes, size_t n) {
  size_t n_axes;
  const int64_t *axes = dl_attr_ints(c, "axes", &n_axes);
  int64_t dim[DL_ONNX_MAX_RANK];
  memcpy(dim, t->s.dim, sizeof dim);
  if (dl_fault_if(c, n != (n_axes ? n_axes : t->s.rank),
                  "sizes for another number of axes"))
    return;
  for (size_t i = 0; i < n; i++) {
    unsigned axis = (unsigned)i;
    if (n_axes && !dl_axis(c, axes[i], t->s.rank, &axis))
      return;
    dim[axis] = sized(
        c, sizes ? sizes[i] : floor((double)t->s.dim[axis] * scales[i] + 1e-6));
  }
  if (!c->fault)
    dl_output_set(c, 0, dim, t->s.rank, t->type);
}

void dl_infer_resize(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  bool old = c->opset < 11; /* scales come second */
  size_t n_scales, n_sizes;
  const double *scales = dl_input_values(c, old ? 1 : 2, &n_scales);
  const double *sizes = old ? NULL : dl_input_values(c, 3, &n_sizes);
  if (sizes && n_sizes > 0)
    resize_by(c, t, NULL, sizes, n_sizes);
  else if (scales && n_scales > 0)
    resize_by(c, t, scales, NULL, n_scales);
}

void dl_infer_upsample(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  const Onnx__AttributeProto *a = dl_attr(c, "scales");
  size_t n;
  const double *scales = dl_input_values(c, 1, &n);
  double own[DL_ONNX_MAX_RANK];
  if (scales)
    resize_by(c, t, scales, NULL, n);
  else if (a && a->n_floats <= DL_ONNX_MAX_RANK) {
    for (size_t i = 0; i < a->n_floats; i++)
      own[i] = (double)a->floats[i];
    resize_by(c, t, own, NULL, a->n_floats);
  }
}
