/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One walk over a model, counting. For src/onnx alone. */

#ifndef DL_ONNX_GRAPH_MODEL_WALK_H
#define DL_ONNX_GRAPH_MODEL_WALK_H

#include "base/text.h"
#include "onnx/graph/graph.h"

struct dl_onnx {
  Onnx__ModelProto *model;
  char *path;
  uint64_t bytes;
};

/* Values by name: those of one graph, with the graph around it. */
struct dl_scope {
  const struct dl_scope *outer;
  struct dl_intern names;
  struct dl_tensor *t; /* by number in names */
  size_t cap;
};

/* A list of nodes: a graph's or a function's. */
struct dl_body {
  Onnx__NodeProto **node;
  size_t n;
  const Onnx__GraphProto *graph; /* NULL for a function */
  const struct dl_call *caller;  /* of a function */
};

struct dl_run {
  const struct dl_onnx *m;
  struct dl_onnx_count *c;
  struct dl_diag *d;
  struct dl_intern functions; /* of the model, by "domain:name" */
  struct dl_text key;
  size_t cap_layers;
  size_t work;    /* names looked up: bounds what functions expand to */
  unsigned depth; /* of graphs within graphs */
  double times;   /* that the current graph runs */
  int64_t opset;
};

/* Entering a value under a name: NULL when memory is out. Takes over what t
 * holds. */
struct dl_tensor *dl_scope_set(struct dl_scope *s, const char *name,
                               struct dl_tensor *t);
/* In this graph or those around it; NULL: not there. */
struct dl_tensor *dl_scope_find(const struct dl_scope *s, const char *name);
void dl_scope_free(struct dl_scope *s);

/* The nodes so that each comes after those it reads from; order[] has body->n
 * places. Stays with the order of the file where that does. */
enum dl_status dl_onnx_order(struct dl_run *r, const struct dl_body *body,
                             size_t *order);

/* Enters the initializers and looks at every node. */
enum dl_status dl_run_body(struct dl_run *r, struct dl_scope *s,
                           const struct dl_body *body);

/* Learns the model's functions. */
enum dl_status dl_run_functions(struct dl_run *r);

/* If, Loop, Scan and model-local functions; *done is false where the node is
 * none of them. Fills c->out. */
enum dl_status dl_run_control(struct dl_run *r, const struct dl_scope *s,
                              struct dl_call *c, bool *done);

/* Shapes of the model's inputs, and of what is asked. */
enum dl_status dl_run_inputs(struct dl_run *r, struct dl_scope *s,
                             const struct dl_onnx_asked *asked);

/* A type with a shape that is fixed, or made so by `params`. */
struct dl_onnx_shape dl_type_shape(const Onnx__TypeProto *t);

/* Keeps what was counted of a node. */
enum dl_status dl_run_keep(struct dl_run *r, const struct dl_call *c,
                           double params, double bytes, bool weighted);
enum dl_status dl_run_fault(struct dl_run *r, const struct dl_call *c);

/* "" in place of NULL. */
static inline const char *dl_or_empty(const char *s) {
  return s ? s : "";
}

#endif
