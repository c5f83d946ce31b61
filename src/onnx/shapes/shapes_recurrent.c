/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recurrent layers, and attention in one node.
 *
 * A recurrent layer of G gates (LSTM 4, GRU 3, RNN 1) with H units and I
 * features takes G H (I + H) MACs a step, sample and direction. Attention of S
 * tokens upon L takes S L (width of keys + width of values). */

#include "onnx/graph/graph.h"

/* The variant is the number of gates. */
void dl_infer_recurrent(struct dl_node_call *c) {
  int64_t gates = c->op->variant;
  const struct dl_tensor *x = c->in[0], *w = c->in[1], *r = c->in[2];
  if (dl_fault_if(
          c,
          x->s.rank != 3 || w->s.rank != 3 || r->s.rank != 3 ||
              w->s.dim[2] != x->s.dim[2] || w->s.dim[0] != r->s.dim[0] ||
              w->s.dim[1] != r->s.dim[1] ||
              (double)r->s.dim[1] != (double)gates * (double)r->s.dim[2],
          "weights that do not fit the input or each other"))
    return;
  bool batch_first = dl_attr_int(c, "layout", 0) == 1;
  int64_t dirs = w->s.dim[0], h = r->s.dim[2];
  int64_t seq = x->s.dim[batch_first ? 1 : 0];
  int64_t batch = x->s.dim[batch_first ? 0 : 1];
  int64_t all[4] = {seq, dirs, batch, h}, all_b[4] = {batch, seq, dirs, h};
  int64_t last[3] = {dirs, batch, h}, last_b[3] = {batch, dirs, h};
  dl_output_set(c, 0, batch_first ? all_b : all, 4, x->type);
  for (size_t i = 1; i < c->n_out; i++)
    dl_output_set(c, i, batch_first ? last_b : last, 3, x->type);
  c->macs = (double)seq * (double)batch * (double)dirs * (double)gates *
            (double)h * ((double)x->s.dim[2] + (double)h);
  c->launches = (double)seq * (double)dirs;
  dl_pad_tiles(c, (double)x->s.dim[2] + (double)h, (double)gates * (double)h, 1,
               1);
}

/* Counts the tokens that a cache [batch, heads, tokens, width] brings. */
static double cached(const struct dl_node_call *c, size_t i) {
  const struct dl_tensor *t = dl_input_known(c, i);
  return t && t->s.rank == 4 ? (double)t->s.dim[2] : 0;
}

/* The operator com.microsoft.Attention has projections of the input and
 * attention upon it. */
void dl_infer_attention_fused(struct dl_node_call *c) {
  const struct dl_tensor *x = c->in[0], *w = c->in[1];
  size_t n;
  const int64_t *widths = dl_attr_ints(c, "qkv_hidden_sizes", &n);
  if (dl_fault_if(
          c, x->s.rank != 3 || w->s.rank != 2 || x->s.dim[2] != w->s.dim[0],
          "weights that do not fit the input or each other"))
    return;
  double tokens = (double)x->s.dim[1], batch = (double)x->s.dim[0];
  int64_t third = w->s.dim[1] / 3;
  int64_t keys = third, values = third;
  if (n == 3) {
    keys = widths[1];
    values = widths[2];
  }
  if (dl_fault_if(c, keys < 0 || keys > w->s.dim[1],
                  "weights that do not fit the input or each other"))
    return;
  int64_t dim[3] = {x->s.dim[0], x->s.dim[1], values};
  if (!dl_output_set(c, 0, dim, 3, x->type))
    return;
  double projections = batch * tokens * dl_shape_elements(&w->s);
  c->attention_macs = batch * tokens * (tokens + cached(c, 4)) *
                      ((double)keys + (double)values);
  c->macs = projections + c->attention_macs;
}

/* Queries, keys and values are [batch, tokens, width]; several heads use keys
 * of fewer heads. */
void dl_infer_multi_head_attention(struct dl_node_call *c) {
  const struct dl_tensor *q = dl_input_known(c, 0), *k = dl_input_known(c, 1),
                         *v = dl_input_known(c, 2);
  if (q && q->s.rank == 3 && (!k || k->s.rank >= 3) && (!v || v->s.rank >= 3)) {
    double most = (double)q->s.dim[1];
    bool grouped = c->op->variant == DL_OP_GROUPED;
    if (k)
      most = (double)k->s.dim[k->s.rank == 4 ? 2 : 1];
    int64_t width = q->s.dim[2];
    int64_t out = !grouped && v && v->s.rank == 3 ? v->s.dim[2] : width;
    int64_t dim[3] = {q->s.dim[0], q->s.dim[1], out};
    most += cached(c, grouped ? 3 : 6);
    dl_output_set(c, 0, dim, 3, q->type);
    c->attention_macs = c->macs = (double)q->s.dim[0] * (double)q->s.dim[1] *
                                  most * ((double)width + (double)out);
  } else if (q && q->s.rank == 5) { /* [batch, tokens, heads, 3, width] */
    int64_t width = (int64_t)dl_shape_product(&q->s, 2, 5) / 3;
    int64_t dim[3] = {q->s.dim[0], q->s.dim[1], width};
    dl_output_set(c, 0, dim, 3, q->type);
    c->attention_macs = c->macs =
        2 * dl_shape_product(&q->s, 0, 2) * (double)q->s.dim[1] * (double)width;
  } else {
    c->uncounted = true;
  }
}

/* The standard's Attention takes [batch, heads, tokens, width], or no heads. */
void dl_infer_attention(struct dl_node_call *c) {
  const struct dl_tensor *q = dl_input_known(c, 0), *k = dl_input_known(c, 1),
                         *v = dl_input_known(c, 2);
  if (!q || !k || !v || q->s.rank < 3 || q->s.rank > 4 ||
      k->s.rank != q->s.rank || v->s.rank != q->s.rank) {
    c->uncounted = true;
    return;
  }
  unsigned last = q->s.rank - 1;
  struct dl_onnx_shape s = q->s;
  double most = (double)k->s.dim[last - 1] + cached(c, 4);
  int64_t share = 1;
  if (last == 2) {
    int64_t heads = dl_attr_int(c, "q_num_heads", 1);
    int64_t held = dl_attr_int(c, "kv_num_heads", heads);
    share = held > 0 && heads > held && heads < 1 << 20 ? heads / held : 1;
  }
  if (dl_fault_if(c, (double)v->s.dim[last] * (double)share > 0x1p53,
                  "a tensor of more than 2^53 elements"))
    return;
  s.dim[last] = v->s.dim[last] * share;
  double rows = dl_shape_product(&q->s, 0, last);
  dl_output_set(c, 0, s.dim, s.rank, q->type);
  c->attention_macs = c->macs =
      rows * most * ((double)q->s.dim[last] + (double)s.dim[last]);
}

void dl_infer_embed_layer_norm(struct dl_node_call *c) {
  const struct dl_tensor *ids = c->in[0], *words = c->in[2];
  if (ids->s.rank != 2 || words->s.rank != 2)
    return;
  int64_t dim[3] = {ids->s.dim[0], ids->s.dim[1], words->s.dim[1]};
  dl_output_set(c, 0, dim, 3, words->type);
  dl_output_set(c, 1, dim, 1, DL_T_INT32);
  dl_output_set(c, 2, dim, 3, words->type);
}

void dl_infer_skip_norm(struct dl_node_call *c) {
  const struct dl_tensor *x = dl_input_known(c, 0);
  dl_output_like(c, 0, x);
  dl_output_like(c, 3, x);
}
