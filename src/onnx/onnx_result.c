/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a count: layers, their sums, and the classifier. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

static void sum_ops(struct dl_onnx_count *c) {
  DL_SCOPED(dl_intern_free) struct dl_intern ops = {0};
  c->op = dl_calloc(c->n_layers, sizeof *c->op);
  for (size_t i = 0; i < c->n_layers; i++) {
    const struct dl_onnx_layer *l = &c->layer[i];
    struct dl_onnx_op *op = &c->op[dl_intern(&ops, l->op)];
    op->op = l->op;
    op->n++;
    op->macs += l->macs;
    op->launches += l->launches;
    op->unknown = l->unknown;
  }
  c->n_ops = ops.n;
}

/* Whether a layer may pool over the whole of an image: the layer behind it is
 * the classifier. */
static bool pools(const struct dl_onnx_layer *l) {
  static const char *const ops[] = {"GlobalAveragePool", "GlobalMaxPool",
                                    "AveragePool", "ReduceMean", "MaxPool"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(l->op, ops[i]) == 0)
      return true;
  return false;
}

/* The classifier is the last layer with MACs, if it is dense, gives the output
 * of the model, and there is a pooling before it. */
static void find_head(struct dl_onnx_count *c) {
  size_t i = c->n_layers;
  while (i > 0 && c->layer[i - 1].macs == 0)
    i--;
  if (i == 0 || c->layer[i - 1].out == 0 || c->n_outputs == 0)
    return;
  const struct dl_onnx_layer *l = &c->layer[i - 1];
  const struct dl_onnx_shape *s = &c->output[0].shape;
  bool pooled = false;
  for (size_t k = 0; k < i; k++)
    pooled = pooled || pools(&c->layer[k]);
  if (pooled && s->known && s->rank == 2 && s->dim[1] == l->out)
    c->head = l;
}

static enum dl_status finish(struct dl_onnx_walk *r) {
  struct dl_onnx_count *c = r->c;
  for (size_t i = 0; i < c->n_layers; i++) {
    struct dl_onnx_layer *l = &c->layer[i];
    l->macs /= c->batch;
    l->attention_macs /= c->batch;
    l->padded_macs /= c->batch;
    l->acts /= c->batch;
    c->macs += l->macs;
    c->attention_macs += l->attention_macs;
    c->padded_macs += l->padded_macs;
    c->depthwise_macs += l->padded_macs > 0 ? 0 : l->macs;
    c->acts += l->acts;
    c->params += l->params;
    c->weight_bytes += l->bytes;
    c->launches += l->launches;
    c->weighted += l->weighted;
    c->n_unknown += l->unknown;
    c->n_shapeless += l->uncounted;
  }
  if (!(c->macs < 1e30 && c->launches < 1e30))
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "more than 1e30 multiply-accumulates or launches");
  find_head(c);
  sum_ops(c);
  return DL_OK;
}

static enum dl_status take_outputs(struct dl_onnx_walk *r,
                                   const struct dl_value_scope *s) {
  const Onnx__GraphProto *g = r->m->model->graph;
  struct dl_onnx_count *c = r->c;
  c->output = dl_calloc(g->n_output, sizeof *c->output);
  for (size_t i = 0; i < g->n_output; i++) {
    const char *name = dl_or_empty(g->output[i]->name);
    const struct dl_tensor *t = dl_scope_find(s, name);
    if (!t)
      return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                        "nothing gives the output '%s'", name);
    c->output[i].name = name;
    c->output[i].type = dl_type_name(t->type);
    c->output[i].shape = t->s;
    c->n_outputs = i + 1;
  }
  return DL_OK;
}

void dl_onnx_count_free(struct dl_onnx_count *c) {
  if (!c)
    return;
  dl_intern_free(&c->op_names);
  free(c->layer);
  free(c->op);
  free(c->input);
  free(c->output);
  free(c);
}

DL_FREES(dl_onnx_count_free, struct dl_onnx_count)

enum dl_status dl_onnx_count(const struct dl_onnx *m,
                             const struct dl_onnx_asked *asked,
                             struct dl_onnx_count **out, struct dl_diag *d) {
  const Onnx__GraphProto *g = m->model->graph;
  struct dl_onnx_count *c = dl_calloc(1, sizeof *c);
  DL_SCOPED(dl_scope_free) struct dl_value_scope s = {.outer = NULL};
  struct dl_onnx_walk r = {.m = m,
                           .c = c,
                           .d = d,
                           .times = 1,
                           .opset = dl_onnx_opset(m),
                           .walk_nodes = dl_onnx_walk_nodes};
  c->batch = c->image_px = c->seq_len = NAN;
  struct dl_node_list body = {g->node, g->n_node, g, NULL};
  enum dl_status status = dl_onnx_read_functions(&r);
  if (status == DL_OK)
    status = dl_onnx_enter_inputs(&r, &s, asked);
  if (status == DL_OK)
    status = dl_onnx_walk_nodes(&r, &s, &body);
  if (status == DL_OK)
    status = take_outputs(&r, &s);
  if (status == DL_OK)
    status = finish(&r);
  dl_intern_free(&r.functions);
  dl_intern_free(&r.constants);
  dl_intern_free(&r.open);
  free(r.open_value);
  dl_text_free(&r.key);
  if (status != DL_OK) {
    dl_onnx_count_free(c);
    return status;
  }
  *out = c;
  return DL_OK;
}
