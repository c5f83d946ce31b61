/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording the counts of a node, or its fault. */

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

enum dl_status dl_onnx_fault(struct dl_onnx_walk *r,
                             const struct dl_node_call *c) {
  const Onnx__NodeProto *n = c->node;
  const char *name = dl_or_empty(n->name);
  if (!*name && n->n_output > 0)
    name = n->output[0];
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0, "node '%s' (%s): %s", name,
                    dl_or_empty(n->op_type), c->fault);
}

/* An operator's name, with its domain outside the standard. */
static const char *op_name(struct dl_onnx_walk *r, const Onnx__NodeProto *n) {
  const char *op = dl_or_empty(n->op_type);
  if (dl_is_standard_domain(n->domain))
    return op;
  dl_text_clear(&r->key);
  dl_text_printf(&r->key, "%s.%s", n->domain, op);
  long i = dl_intern(&r->c->op_names, r->key.s); /* may move op_names.s */
  return r->c->op_names.s[i];
}

void dl_onnx_record(struct dl_onnx_walk *r, const struct dl_node_call *c,
                    double params, double bytes, bool weighted) {
  struct dl_onnx_count *to = r->c;
  const Onnx__NodeProto *n = c->node;
  if (c->launches == 0 && c->macs == 0 && params == 0)
    return;
  DL_GROW(to->layer, r->cap_layers, to->n_layers + 1);
  const char *name = dl_or_empty(n->name);
  if (!*name && n->n_output > 0)
    name = n->output[0];
  struct dl_onnx_layer *l = &to->layer[to->n_layers++];
  *l = (struct dl_onnx_layer){.name = name,
                              .op = op_name(r, n),
                              .macs = c->macs * r->times,
                              .attention_macs = c->attention_macs * r->times,
                              .padded_macs = c->macs * c->padding * r->times,
                              .params = params,
                              .bytes = bytes,
                              .launches = c->launches * r->times,
                              .times = r->times,
                              .in = c->features,
                              .out = c->units,
                              .weighted = weighted,
                              .unknown = !c->op,
                              .uncounted = c->uncounted};
  if (c->n_out > 0)
    l->output = c->out[0].s;
  if (c->macs > 0 && l->output.known)
    l->acts = dl_shape_elements(&l->output) * r->times;
}
