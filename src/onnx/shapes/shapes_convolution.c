/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows that slide: convolution and pooling.
 *
 * An output is (in + pads - ((k - 1) dilation + 1)) / stride + 1 long, in /
 * stride with the pads of SAME. A convolution of G groups takes
 * k1 k2 .. C/G MACs an output element; a transposed one M/G an input one. */

#include <math.h>
#include <string.h>

#include "onnx/graph/graph.h"

/* A window that slides, by axis. */
struct sliding_window {
  unsigned n; /* spatial axes */
  double kernel[DL_ONNX_MAX_RANK], stride[DL_ONNX_MAX_RANK],
      dilation[DL_ONNX_MAX_RANK], pad[DL_ONNX_MAX_RANK] /* begin */,
      pads[DL_ONNX_MAX_RANK] /* begin + end */;
  bool same, valid, ceil;
};

/* Reads an attribute of one number per axis. */
static void per_axis(struct dl_node_call *c, const char *name, unsigned n,
                     double none, double least, double *to) {
  size_t m;
  const int64_t *v = dl_attr_ints(c, name, &m);
  if (m > 0 && m != n)
    dl_fault(c, "strides, pads or kernels of another number of axes");
  for (unsigned i = 0; i < n; i++) {
    to[i] = m == n ? (double)v[i] : none;
    if (!(to[i] >= least && to[i] <= 0x1p40))
      dl_fault(c, "a stride, kernel or dilation out of its range");
  }
}

static bool window_of(struct dl_node_call *c, unsigned rank,
                      struct sliding_window *w) {
  size_t m;
  const int64_t *pads = dl_attr_ints(c, "pads", &m);
  if (dl_fault_if(c, rank < 3, "an input without spatial axes"))
    return false;
  w->n = rank - 2;
  per_axis(c, "strides", w->n, 1, 1, w->stride);
  per_axis(c, "dilations", w->n, 1, 1, w->dilation);
  w->same = dl_attr_is(c, "auto_pad", "SAME_UPPER") ||
            dl_attr_is(c, "auto_pad", "SAME_LOWER");
  w->valid = dl_attr_is(c, "auto_pad", "VALID");
  w->ceil = dl_attr_int(c, "ceil_mode", 0) != 0;
  if (m > 0 && m != 2 * w->n && !w->same && !w->valid)
    dl_fault(c, "strides, pads or kernels of another number of axes");
  for (unsigned i = 0; i < w->n && !c->fault; i++) {
    bool given = m == 2 * w->n && !w->valid && !w->same;
    w->pad[i] = given ? (double)pads[i] : 0;
    w->pads[i] = given ? (double)pads[i] + (double)pads[w->n + i] : 0;
  }
  return !c->fault;
}

/* Computes the length of axis i of the output. */
static int64_t slid(struct dl_node_call *c, const struct sliding_window *w,
                    unsigned i, int64_t in) {
  double reach = (w->kernel[i] - 1) * w->dilation[i] + 1, n = (double)in;
  if (w->same)
    return (int64_t)ceil(n / w->stride[i]);
  double steps = (n + w->pads[i] - reach) / w->stride[i];
  double out = (w->ceil ? ceil(steps) : floor(steps)) + 1;
  /* A window that would begin in the padding at the end is skipped. */
  if (w->ceil && (out - 1) * w->stride[i] >= n + w->pad[i])
    out--;
  if (dl_fault_if(c, !(out >= 0 && out <= 0x1p53),
                  "a kernel that is larger than its input"))
    return 0;
  return (int64_t)out;
}

/* Checks and returns inputs x and w of a convolution. */
static bool conv_inputs(struct dl_node_call *c, size_t weights, bool transposed,
                        const struct dl_tensor **x, const struct dl_tensor **w,
                        int64_t *group) {
  *x = c->in[0];
  *w = c->in[weights];
  *group = dl_attr_int(c, "group", 1);
  unsigned rank = (*x)->s.rank;
  if (rank < 3 || (*w)->s.rank != rank || *group < 1)
    dl_fault(c, "an input and weights of different rank");
  else if (transposed ? (*x)->s.dim[1] != (*w)->s.dim[0]
                      : (double)(*x)->s.dim[1] !=
                            (double)(*w)->s.dim[1] * (double)*group)
    dl_fault(c, "weights for another number of channels");
  return !c->fault;
}

/* The variant is the input that holds the weights. */
void dl_infer_conv(struct dl_node_call *c) {
  const struct dl_tensor *x, *k;
  struct sliding_window w;
  int64_t group, dim[DL_ONNX_MAX_RANK];
  if (!conv_inputs(c, (size_t)c->op->variant, false, &x, &k, &group) ||
      !window_of(c, x->s.rank, &w))
    return;
  dim[0] = x->s.dim[0];
  dim[1] = k->s.dim[0];
  for (unsigned i = 0; i < w.n; i++) {
    w.kernel[i] = (double)k->s.dim[i + 2];
    dim[i + 2] = slid(c, &w, i, x->s.dim[i + 2]);
  }
  if (c->fault ||
      !dl_output_set(c, 0, dim, x->s.rank,
                     c->op->flags & DL_OP_INT32 ? DL_T_INT32 : x->type))
    return;
  struct dl_onnx_shape out = {.known = true, .rank = x->s.rank};
  memcpy(out.dim, dim, sizeof dim);
  c->macs = dl_shape_elements(&out) * dl_shape_product(&k->s, 1, k->s.rank);
  dl_pad_tiles(c, (double)x->s.dim[1], (double)dim[1], (double)group,
               dl_shape_product(&k->s, 2, k->s.rank));
}

void dl_infer_conv_transpose(struct dl_node_call *c) {
  const struct dl_tensor *x, *k;
  struct sliding_window w;
  double extra[DL_ONNX_MAX_RANK];
  int64_t group, dim[DL_ONNX_MAX_RANK];
  size_t n_given;
  const int64_t *given = dl_attr_ints(c, "output_shape", &n_given);
  if (!conv_inputs(c, 1, true, &x, &k, &group) || !window_of(c, x->s.rank, &w))
    return;
  per_axis(c, "output_padding", w.n, 0, 0, extra);
  dim[0] = x->s.dim[0];
  dim[1] = (int64_t)fmin((double)k->s.dim[1] * (double)group, 0x1p60);
  for (unsigned i = 0; i < w.n; i++) {
    double n = (double)x->s.dim[i + 2];
    double reach = ((double)k->s.dim[i + 2] - 1) * w.dilation[i] + 1;
    double out = w.stride[i] * (n - 1) + extra[i] + reach - w.pads[i];
    if (w.same)
      out = n * w.stride[i];
    if (given && n_given >= w.n)
      out = (double)given[n_given - w.n + i];
    if (dl_fault_if(c, !(out >= 0 && out <= 0x1p53),
                    "pads that leave nothing of the output"))
      return;
    dim[i + 2] = (int64_t)out;
  }
  if (c->fault || !dl_output_set(c, 0, dim, x->s.rank, x->type))
    return;
  c->macs = dl_shape_elements(&x->s) * dl_shape_product(&k->s, 1, k->s.rank);
  dl_pad_tiles(c, (double)x->s.dim[1], (double)dim[1], (double)group, 1);
}

void dl_infer_pool(struct dl_node_call *c) {
  const struct dl_tensor *x = c->in[0];
  struct sliding_window w;
  size_t n;
  int64_t dim[DL_ONNX_MAX_RANK];
  dl_attr_ints(c, "kernel_shape", &n);
  if (!window_of(c, x->s.rank, &w))
    return;
  if (n != w.n)
    dl_fault(c, "strides, pads or kernels of another number of axes");
  per_axis(c, "kernel_shape", w.n, 1, 1, w.kernel);
  dim[0] = x->s.dim[0];
  dim[1] = x->s.dim[1];
  for (unsigned i = 0; i < w.n && !c->fault; i++)
    dim[i + 2] = slid(c, &w, i, x->s.dim[i + 2]);
  if (!c->fault && dl_output_set(c, 0, dim, x->s.rank, x->type))
    dl_output_set(c, 1, dim, x->s.rank, DL_T_INT64);
}

void dl_infer_global_pool(struct dl_node_call *c) {
  const struct dl_tensor *x = c->in[0];
  struct dl_onnx_shape s = x->s;
  for (unsigned i = 2; i < s.rank; i++)
    s.dim[i] = 1;
  dl_output_set(c, 0, s.dim, s.rank, x->type);
}

void dl_infer_unpool(struct dl_node_call *c) {
  const struct dl_tensor *x = c->in[0];
  struct sliding_window w;
  size_t n;
  const double *given = dl_input_values(c, 2, &n);
  int64_t dim[DL_ONNX_MAX_RANK];
  if (!window_of(c, x->s.rank, &w) || (dl_input(c, 2) && !given))
    return;
  per_axis(c, "kernel_shape", w.n, 1, 1, w.kernel);
  for (unsigned i = 0; i < x->s.rank && !c->fault; i++) {
    double out = (double)x->s.dim[i];
    if (i >= 2)
      out = (out - 1) * w.stride[i - 2] - w.pads[i - 2] + w.kernel[i - 2];
    if (given && n == x->s.rank)
      out = given[i];
    if (!(out >= 0 && out <= 0x1p53))
      dl_fault(c, "pads that leave nothing of the output");
    else
      dim[i] = (int64_t)out;
  }
  if (!c->fault)
    dl_output_set(c, 0, dim, x->s.rank, x->type);
}
