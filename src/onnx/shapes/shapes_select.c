/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators whose outputs have a shape of their own. */

#include <math.h>
#include <string.h>

#include "onnx/graph/graph.h"

/* The variant is 1 for depth to space, 0 for space to depth. */
void dl_infer_blocks(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  int64_t b = dl_attr_int(c, "blocksize", 0);
  if (dl_fault_if(c, t->s.rank != 4 || b < 1 || b > 1 << 20,
                  "blocks of no size, or an input that is no image"))
    return;
  const int64_t *d = t->s.dim;
  if ((double)d[1] * (double)b * (double)b > 0x1p53 ||
      (double)(d[2] > d[3] ? d[2] : d[3]) * (double)b > 0x1p53)
    dl_fault(c, "a tensor of more than 2^53 elements");
  else
    dl_output_set(c, 0,
                  c->op->variant
                      ? (int64_t[]){d[0], d[1] / (b * b), d[2] * b, d[3] * b}
                      : (int64_t[]){d[0], d[1] * b * b, d[2] / b, d[3] / b},
                  4, t->type);
}

void dl_infer_one_hot(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  size_t n;
  const double *depth = dl_input_values(c, 1, &n);
  unsigned axis;
  int64_t dim[DL_ONNX_MAX_RANK + 1];
  if (!depth || n != 1 || !(*depth >= 0 && *depth < 0x1p53) ||
      !dl_axis(c, dl_attr_int(c, "axis", -1), t->s.rank + 1, &axis))
    return;
  for (unsigned i = 0, from = 0; i <= t->s.rank; i++)
    dim[i] = i == axis ? (int64_t)*depth : t->s.dim[from++];
  const struct dl_tensor *values = dl_input(c, 2);
  dl_output_set(c, 0, dim, t->s.rank + 1, values ? values->type : 0);
}

void dl_infer_top_k(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  size_t n;
  const double *k = dl_input_values(c, 1, &n);
  double most = k && n == 1 ? *k : (double)dl_attr_int(c, "k", -1);
  unsigned axis;
  if (!(most >= 0 && most < 0x1p53) ||
      !dl_axis(c, dl_attr_int(c, "axis", -1), t->s.rank, &axis))
    return;
  int64_t dim[DL_ONNX_MAX_RANK];
  memcpy(dim, t->s.dim, sizeof dim);
  dim[axis] = (int64_t)most;
  dl_output_set(c, 0, dim, t->s.rank, t->type);
  dl_output_set(c, 1, dim, t->s.rank, DL_T_INT64);
}

void dl_infer_grid_sample(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0], *grid = c->in[1];
  if (t->s.rank < 3 || grid->s.rank != t->s.rank)
    return;
  int64_t dim[DL_ONNX_MAX_RANK] = {t->s.dim[0], t->s.dim[1]};
  for (unsigned i = 2; i < t->s.rank; i++)
    dim[i] = grid->s.dim[i - 1];
  dl_output_set(c, 0, dim, t->s.rank, t->type);
}

void dl_infer_roi(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0], *rois = c->in[1];
  size_t n;
  const int64_t *pooled = dl_attr_ints(c, "pooled_shape", &n);
  if (t->s.rank != 4 || rois->s.rank != 2)
    return;
  int64_t dim[4] = {rois->s.dim[0], t->s.dim[1],
                    n == 2 ? pooled[0] : dl_attr_int(c, "output_height", 1),
                    n == 2 ? pooled[1] : dl_attr_int(c, "output_width", 1)};
  dl_output_set(c, 0, dim, 4, t->type);
}

void dl_infer_eye(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  dl_output_set(c, 0, t->s.dim, t->s.rank,
                (int)dl_attr_int(c, "dtype", t->type));
}

void dl_infer_random(struct dl_node_call *c) {
  size_t n;
  const int64_t *dim = dl_attr_ints(c, "shape", &n);
  if (dim)
    dl_output_set(c, 0, dim, n, (int)dl_attr_int(c, "dtype", DL_T_FLOAT));
}

/* The shape of the output depends on the data. */
void dl_infer_nothing(struct dl_node_call *c) {
  (void)c;
}

void dl_infer_loss(struct dl_node_call *c) {
  const struct dl_tensor *t = dl_input_known(c, 0),
                         *labels = dl_input_known(c, 1);
  if (!dl_attr_is(c, "reduction", "none"))
    dl_output_set(c, 0, NULL, 0, t ? t->type : DL_T_FLOAT);
  else if (labels)
    dl_output_set(c, 0, labels->s.dim, labels->s.rank,
                  t ? t->type : DL_T_FLOAT);
  dl_output_like(c, 1, t);
}

/* Finds the axes that are reduced, in the attribute, in input 1, or all.
 * Returns false if they are not known. */
static bool reduced_axes(struct dl_node_call *c, unsigned rank, bool *gone) {
  size_t n, n_in;
  const int64_t *axes = dl_attr_ints(c, "axes", &n);
  const double *in = dl_input_values(c, 1, &n_in);
  if (dl_input(c, 1) && !in)
    return false;
  size_t count = in ? n_in : n;
  bool all = count == 0 && !dl_attr_int(c, "noop_with_empty_axes", 0);
  for (unsigned i = 0; i < rank; i++)
    gone[i] = all;
  for (size_t i = 0; i < count; i++) {
    unsigned axis;
    double at = in ? in[i] : (double)axes[i];
    if (dl_fault_if(c,
                    !(fabs(at) < 99) || !dl_axis(c, (int64_t)at, rank, &axis),
                    "an axis that its input does not have"))
      return false;
    gone[axis] = true;
  }
  return true;
}

/* Computes the product or sum of a list, which sizes depend on. */
static void fold_list(struct dl_node_call *c, const struct dl_tensor *t,
                      bool whole) {
  bool product = c->op->variant == DL_OP_PRODUCT;
  if (!t->data || !whole || (!product && c->op->variant != DL_OP_SUM))
    return;
  double x = product ? 1 : 0;
  for (size_t i = 0; i < t->n_data; i++)
    x = product ? x * t->data[i] : x + t->data[i];
  dl_output_values(c, 0, &x, 1);
}

void dl_infer_reduce(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  bool gone[DL_ONNX_MAX_RANK], keep = dl_attr_int(c, "keepdims", 1) != 0;
  int64_t dim[DL_ONNX_MAX_RANK];
  size_t rank = 0;
  bool whole = true;
  if (!reduced_axes(c, t->s.rank, gone))
    return;
  for (unsigned i = 0; i < t->s.rank; i++) {
    whole = whole && gone[i];
    if (!gone[i])
      dim[rank++] = t->s.dim[i];
    else if (keep)
      dim[rank++] = 1;
  }
  if (dl_output_set(c, 0, dim, rank, t->type))
    fold_list(c, t, whole);
}

void dl_infer_arg(struct dl_node_call *c) {
  const struct dl_tensor *t = c->in[0];
  unsigned axis;
  int64_t dim[DL_ONNX_MAX_RANK];
  size_t rank = 0;
  if (!dl_axis(c, dl_attr_int(c, "axis", 0), t->s.rank, &axis))
    return;
  for (unsigned i = 0; i < t->s.rank; i++)
    if (i != axis)
      dim[rank++] = t->s.dim[i];
    else if (dl_attr_int(c, "keepdims", 1))
      dim[rank++] = 1;
  dl_output_set(c, 0, dim, rank, DL_T_INT64);
}
