/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking at node after node, and counting its work. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

/* Enters a tensor that the model stores as a weight. */
static enum dl_status enter_stored(struct dl_onnx_walk *r,
                                   struct dl_value_scope *s, const char *name,
                                   const Onnx__TensorProto *t,
                                   const int64_t *dims, size_t n_dims) {
  struct dl_tensor value;
  Onnx__TensorProto plain = *t;
  if (dims) { /* a sparse one: its values are fewer */
    plain = (Onnx__TensorProto)ONNX__TENSOR_PROTO__INIT;
    plain.dims = (int64_t *)dims;
    plain.n_dims = n_dims;
    plain.data_type = t->data_type;
  }
  const char *fault = dl_tensor_of(&plain, &value);
  if (fault)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0, "tensor '%s': %s", name,
                      fault);
  value.params = dl_shape_elements(&value.s);
  value.bytes = value.params * dl_type_bytes(value.type);
  dl_scope_set(s, name, &value);
  return DL_OK;
}

static enum dl_status enter_weights(struct dl_onnx_walk *r,
                                    struct dl_value_scope *s,
                                    const Onnx__GraphProto *g) {
  for (size_t i = 0; i < g->n_initializer; i++)
    DL_TRY(enter_stored(r, s, dl_or_empty(g->initializer[i]->name),
                        g->initializer[i], NULL, 0));
  for (size_t i = 0; i < g->n_sparse_initializer; i++) {
    const Onnx__SparseTensorProto *t = g->sparse_initializer[i];
    static const int64_t none;
    if (t->values)
      DL_TRY(enter_stored(r, s, dl_or_empty(t->values->name), t->values,
                          t->dims ? t->dims : &none, t->n_dims));
  }
  return DL_OK;
}

/* Whether the elements of an input may be parameters, by their type and by what
 * the operator takes there. */
static bool counts(const struct dl_node_call *c, size_t i,
                   const struct dl_tensor *t) {
  unsigned flags = c->op ? c->op->flags : 0;
  unsigned skip = c->op ? c->op->skip : 0;
  if (!t->weight || (i < 32 && skip >> i & 1) ||
      (i >= 32 && skip == DL_OP_NO_PARAMS))
    return false;
  if (dl_type_is_float(t->type))
    return true;
  if (t->type == DL_T_INT32)
    return (flags & (DL_OP_LAYER | DL_OP_DEQUANTIZE)) && t->s.rank > 0;
  return (t->type == DL_T_INT8 || t->type == DL_T_UINT8 || t->type > 16) &&
         t->params + t->maybe > 1;
}

/* Whether constants are parameters there. */
static bool has_constants(const struct dl_node_call *c, size_t i,
                          const struct dl_tensor *t) {
  unsigned flags = c->op ? c->op->flags : 0;
  return (flags & (DL_OP_LAYER | DL_OP_NORM)) ||
         ((flags & DL_OP_LOOKUP) && i == 0 && t->s.rank == 2);
}

/* Moves the parameters of the inputs to the node that uses them first. `early`:
 * the node is computed from weights, and its user decides on constants. */
static void charge(const struct dl_node_call *c, bool early,
                   struct dl_tensor *to) {
  for (size_t i = 0; i < c->n_in; i++) {
    struct dl_tensor *t = c->in[i];
    if (!t || !counts(c, i, t))
      continue;
    to->params += t->params > 0 ? dl_packed_elements(c, i, t->params) : 0;
    to->bytes += t->bytes;
    t->params = t->bytes = 0;
    if (!early && !has_constants(c, i, t))
      continue;
    to->maybe += t->maybe > 0 ? dl_packed_elements(c, i, t->maybe) : 0;
    to->maybe_bytes += t->maybe_bytes;
    t->maybe = t->maybe_bytes = 0;
  }
}

/* Whether a node makes a value of nothing but attributes and sizes. */
static bool makes_constant(const struct dl_node_call *c) {
  return c->op && (c->op->infer == dl_infer_constant ||
                   c->op->infer == dl_infer_constant_of_shape);
}

/* Whether outputs are known before the first sample: computed from weights
 * alone, or folded. */
static bool beforehand(const struct dl_node_call *c) {
  bool all_weights = c->n_in > 0, all_known = c->n_out > 0;
  for (size_t i = 0; i < c->n_in; i++)
    all_weights = all_weights && (!c->in[i] || c->in[i]->weight);
  for (size_t i = 0; i < c->n_out; i++)
    all_known = all_known && (c->out[i].data || !*c->node->output[i]);
  bool constant = c->op && c->op->infer == dl_infer_constant;
  return all_weights || all_known || constant;
}

/* An unknown operator is taken for an elementwise one. */
static void guess(struct dl_node_call *c) {
  for (size_t i = 0; i < c->n_out; i++)
    dl_output_like(c, i, dl_input_known(c, 0));
}

static bool has_shapes(const struct dl_node_call *c) {
  bool all = true;
  for (size_t i = 0; c->op->needs >> i; i++)
    all = all && (!(c->op->needs >> i & 1) || dl_input_known(c, i));
  return all;
}

static bool has_weights(const struct dl_node_call *c) {
  for (size_t i = 0; i < c->n_in; i++)
    if (c->in[i] && c->in[i]->weight && c->in[i]->s.rank > 0)
      return true;
  return false;
}

/* Whether an earlier call of a function had this constant. */
static bool is_again(struct dl_onnx_walk *r, const struct dl_node_call *c) {
  const void *what = dl_attr(c, "value");
  size_t before = r->constants.n;
  if (!c->caller)
    return false;
  dl_text_clear(&r->key);
  dl_text_printf(&r->key, "%p", what ? what : c->node);
  dl_intern(&r->constants, r->key.s);
  return r->constants.n == before;
}

/* A value that is known beforehand holds the parameters that it is computed
 * from. */
static void hand_on(struct dl_onnx_walk *r, struct dl_node_call *c,
                    const struct dl_tensor *got) {
  for (size_t i = 0; i < c->n_out; i++)
    c->out[i].weight = true;
  if (c->n_out == 0)
    return;
  struct dl_tensor *t = &c->out[0];
  t->params = got->params;
  t->bytes = got->bytes;
  t->maybe = got->maybe;
  t->maybe_bytes = got->maybe_bytes;
  if (makes_constant(c) && t->s.known && !is_again(r, c)) {
    t->maybe = dl_shape_elements(&t->s);
    t->maybe_bytes = t->maybe * dl_type_bytes(t->type);
  }
}

static enum dl_status look(struct dl_onnx_walk *r, struct dl_value_scope *s,
                           struct dl_node_call *c) {
  bool done = false;
  c->launches = c->padding = 1;
  enum dl_status status = dl_onnx_control_flow(r, s, c, &done);
  if (status != DL_OK || done)
    return status;
  c->op = dl_operators_find(dl_or_empty(c->node->domain),
                            dl_or_empty(c->node->op_type));
  if (!c->op)
    guess(c);
  else if (has_shapes(c))
    c->op->infer(c);
  else
    c->uncounted = c->op->flags & DL_OP_LAYER;
  if (c->fault)
    return dl_onnx_fault(r, c);
  bool layer = c->op && (c->op->flags & DL_OP_LAYER) && has_weights(c);
  bool early = beforehand(c);
  struct dl_tensor got = {0};
  charge(c, early, &got);
  if (early) {
    hand_on(r, c, &got);
    return DL_OK;
  }
  if (c->op && c->op->flags & DL_OP_VIEW)
    c->launches = 0;
  dl_onnx_record(r, c, got.params + got.maybe, got.bytes + got.maybe_bytes,
                 layer);
  return DL_OK;
}

/* Gives outputs whose shape the rules leave open the shape that the model
 * declares. */
static void declared(const struct dl_node_list *body, struct dl_intern *names,
                     struct dl_node_call *c) {
  const Onnx__GraphProto *g = body->graph;
  for (size_t i = 0; g && i < c->n_out; i++) {
    long at =
        c->out[i].s.known ? -1 : dl_intern_find(names, c->node->output[i]);
    if (at < 0)
      continue;
    const Onnx__TypeProto *t = g->value_info[at]->type;
    struct dl_onnx_shape s = dl_type_shape(t);
    if (s.known &&
        dl_output_set(c, i, s.dim, s.rank, t->tensor_type->elem_type))
      continue;
  }
}

static enum dl_status find_inputs(struct dl_onnx_walk *r,
                                  const struct dl_value_scope *s,
                                  struct dl_node_call *c) {
  const Onnx__NodeProto *n = c->node;
  c->in = dl_calloc(n->n_input, sizeof *c->in);
  c->out = dl_calloc(n->n_output, sizeof *c->out);
  c->n_in = n->n_input;
  c->n_out = n->n_output;
  for (size_t i = 0; i < c->n_in; i++) {
    c->in[i] = *n->input[i] ? dl_scope_find(s, n->input[i]) : NULL;
    if (*n->input[i] && !c->in[i])
      return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                        "node '%s' (%s) reads '%s', which nothing gives",
                        dl_or_empty(n->name), dl_or_empty(n->op_type),
                        n->input[i]);
  }
  return DL_OK;
}

static enum dl_status spend(struct dl_onnx_walk *r, size_t work) {
  r->work += work;
  if (r->work <= DL_ONNX_MOST_WORK)
    return DL_OK;
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                    "more than 4 million values, functions expanded");
}

static enum dl_status run_node(struct dl_onnx_walk *r, struct dl_value_scope *s,
                               const struct dl_node_list *body,
                               struct dl_intern *names, size_t i) {
  struct dl_node_call c = {
      .node = body->node[i], .caller = body->caller, .opset = r->opset};
  r->c->n_nodes++;
  enum dl_status status =
      spend(r, 1 + c.node->n_input + c.node->n_output + c.node->n_attribute);
  if (status == DL_OK)
    status = find_inputs(r, s, &c);
  if (status == DL_OK)
    status = look(r, s, &c);
  if (status == DL_OK)
    declared(body, names, &c);
  if (status == DL_OK && c.fault)
    status = dl_onnx_fault(r, &c);
  free(c.in); /* entering outputs moves what it points to */
  for (size_t k = 0; k < c.n_out; k++) {
    if (status == DL_OK && *c.node->output[k])
      dl_scope_set(s, c.node->output[k], &c.out[k]);
    dl_tensor_clear(&c.out[k]);
  }
  free(c.out);
  return status;
}

enum dl_status dl_onnx_walk_nodes(struct dl_onnx_walk *r,
                                  struct dl_value_scope *s,
                                  const struct dl_node_list *body) {
  DL_SCOPED(dl_intern_free) struct dl_intern names = {0};
  DL_FREED size_t *order = dl_calloc(body->n, sizeof *order);
  const Onnx__GraphProto *g = body->graph;
  if (g)
    DL_TRY(spend(r, g->n_value_info + g->n_initializer));
  for (size_t i = 0; g && i < g->n_value_info; i++) {
    size_t before = names.n;
    const char *name = dl_or_empty(g->value_info[i]->name);
    /* Numbers are places in the list: a second one of a name takes none. */
    dl_intern(&names, name);
    if (names.n == before)
      return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                        "the shape of '%s' is declared twice", name);
  }
  if (g)
    DL_TRY(enter_weights(r, s, g));
  DL_TRY(dl_onnx_order(r, body, order));
  for (size_t i = 0; i < body->n; i++)
    DL_TRY(run_node(r, s, body, &names, order[i]));
  return DL_OK;
}
