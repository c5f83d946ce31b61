/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of nodes, and names to values. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

void dl_scope_set(struct dl_value_scope *s, const char *name,
                  struct dl_tensor *t) {
  size_t before = s->names.n;
  DL_GROW(s->t, s->cap, before + 1);
  long i = dl_intern(&s->names, name);
  if (s->names.n > before)
    s->t[i] = (struct dl_tensor){0};
  dl_tensor_clear(&s->t[i]);
  s->t[i] = *t;
  *t = (struct dl_tensor){0};
}

struct dl_tensor *dl_scope_find(const struct dl_value_scope *s,
                                const char *name) {
  for (; s; s = s->outer) {
    long i = dl_intern_find(&s->names, name);
    if (i >= 0)
      return &s->t[i];
  }
  return NULL;
}

void dl_scope_free(struct dl_value_scope *s) {
  for (size_t i = 0; i < s->names.n; i++)
    free(s->t[i].data);
  free(s->t);
  dl_intern_free(&s->names);
  *s = (struct dl_value_scope){0};
}

/* The nodes that each node reads from: need[from[i]..from[i+1]). */
struct node_needs {
  struct dl_intern outputs;
  size_t *producer; /* by number in outputs */
  size_t cap_producer;
  size_t *need, n, cap;
  size_t *from;
};

/* Adds the producer of a name as a need, unless it is the node itself: a graph
 * within a node may use the names of its outputs. */
static void add_need(struct node_needs *t, const char *name, size_t self) {
  long i = name && *name ? dl_intern_find(&t->outputs, name) : -1;
  if (i < 0 || t->producer[i] == self)
    return;
  DL_GROW(t->need, t->cap, t->n + 1);
  t->need[t->n++] = t->producer[i];
}

/* Adds the values that the graphs within a node read. Their depth is bounded by
 * the depth of messages in a file. */
static void add_needs(struct node_needs *t, const Onnx__NodeProto *node,
                      size_t self) {
  for (size_t a = 0; a < node->n_attribute; a++) {
    const Onnx__GraphProto *g = node->attribute[a]->g;
    for (size_t i = 0; g && i < g->n_node; i++) {
      for (size_t k = 0; k < g->node[i]->n_input; k++)
        add_need(t, g->node[i]->input[k], self);
      add_needs(t, g->node[i], self);
    }
    for (size_t i = 0; g && i < g->n_output; i++)
      add_need(t, g->output[i]->name, self);
  }
}

static enum dl_status twice(struct dl_onnx_walk *r, const char *name) {
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                    "two nodes give the value '%s'", name);
}

static enum dl_status collect(struct dl_onnx_walk *r,
                              const struct dl_node_list *body,
                              struct node_needs *t) {
  for (size_t i = 0; i < body->n; i++)
    for (size_t k = 0; k < body->node[i]->n_output; k++) {
      const char *name = body->node[i]->output[k];
      if (!*name)
        continue;
      size_t before = t->outputs.n;
      long at = dl_intern(&t->outputs, name);
      DL_GROW(t->producer, t->cap_producer, t->outputs.n);
      if (t->outputs.n == before)
        return twice(r, name);
      t->producer[at] = i;
    }
  t->from = dl_calloc(body->n + 1, sizeof *t->from);
  for (size_t i = 0; i < body->n; i++) {
    t->from[i] = t->n;
    const Onnx__NodeProto *node = body->node[i];
    for (size_t k = 0; k < node->n_input; k++)
      add_need(t, node->input[k], SIZE_MAX);
    add_needs(t, node, i);
  }
  t->from[body->n] = t->n;
  return DL_OK;
}

enum { NEW, OPEN, DONE };

/* Visits the nodes depth first, on a stack of its own. */
static enum dl_status visit(struct dl_onnx_walk *r,
                            const struct dl_node_list *body,
                            const struct node_needs *t, size_t *order) {
  unsigned char *state = dl_calloc(body->n, 1);
  DL_FREED size_t *stack = dl_calloc(body->n, sizeof *stack);
  DL_FREED size_t *next = dl_calloc(body->n, sizeof *next);
  enum dl_status status = DL_OK;
  size_t done = 0;
  for (size_t i = 0; i < body->n && status == DL_OK; i++) {
    size_t depth = 0;
    if (state[i] != NEW)
      continue;
    stack[depth++] = i;
    state[i] = OPEN;
    while (depth > 0 && status == DL_OK) {
      size_t at = stack[depth - 1];
      if (t->from[at] + next[at] == t->from[at + 1]) {
        state[at] = DONE;
        order[done++] = at;
        depth--;
        continue;
      }
      size_t need = t->need[t->from[at] + next[at]++];
      if (state[need] == NEW) {
        state[need] = OPEN;
        stack[depth++] = need;
      } else if (state[need] == OPEN) {
        status = dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                            "the graph has a cycle through node '%s' (%s)",
                            dl_or_empty(body->node[at]->name),
                            dl_or_empty(body->node[at]->op_type));
      }
    }
  }
  free(state);
  return status;
}

enum dl_status dl_onnx_order(struct dl_onnx_walk *r,
                             const struct dl_node_list *body, size_t *order) {
  struct node_needs t = {.n = 0};
  enum dl_status status = collect(r, body, &t);
  if (status == DL_OK)
    status = visit(r, body, &t, order);
  dl_intern_free(&t.outputs);
  free(t.producer);
  free(t.need);
  free(t.from);
  return status;
}
