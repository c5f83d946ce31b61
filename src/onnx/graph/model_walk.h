/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk over the nodes of a model that counts their work. Only src/onnx uses
 * it. */

#ifndef DL_ONNX_GRAPH_MODEL_WALK_H
#define DL_ONNX_GRAPH_MODEL_WALK_H

#include "base/text.h"
#include "onnx/graph/graph.h"

struct dl_onnx {
  Onnx__ModelProto *model;
  char *path;
  uint64_t bytes;
};

/* The values of one graph by name, with the graph around it. */
struct dl_value_scope {
  const struct dl_value_scope *outer;
  struct dl_intern names;
  struct dl_tensor *t; /* by number in names */
  size_t cap;
};

/* A list of nodes: a graph's or a function's. */
struct dl_node_list {
  Onnx__NodeProto **node;
  size_t n;
  const Onnx__GraphProto *graph;     /* NULL for a function */
  const struct dl_node_call *caller; /* of a function */
};

struct dl_onnx_walk;
struct dl_value_scope;

struct dl_onnx_walk {
  const struct dl_onnx *m;
  struct dl_onnx_count *c;
  struct dl_diag *d;
  struct dl_intern functions; /* of the model, by "domain:name" */
  struct dl_intern constants; /* of functions, that were counted */
  struct dl_text key;
  size_t cap_layers;
  struct dl_intern open; /* names of open dimensions of inputs */
  int64_t *open_value;   /* by number in `open`; owned */
  size_t cap_open;
  size_t work;    /* names looked up: bounds what functions expand to */
  unsigned depth; /* of graphs within graphs */
  double times;   /* that the current graph runs */
  int64_t opset;
  /* dl_onnx_walk_nodes, for the graphs within nodes. */
  enum dl_status (*walk_nodes)(struct dl_onnx_walk *r, struct dl_value_scope *s,
                               const struct dl_node_list *body);
};

/* Enters a value under a name and takes over what t holds. */
void dl_scope_set(struct dl_value_scope *s, const char *name,
                  struct dl_tensor *t);
/* Returns the value of a name in this graph or an enclosing one, or NULL. */
struct dl_tensor *dl_scope_find(const struct dl_value_scope *s,
                                const char *name);
void dl_scope_free(struct dl_value_scope *s);

/* Orders the nodes so that each comes after those it reads from, and keeps the
 * order of the file where possible. order[] has body->n places. */
enum dl_status dl_onnx_order(struct dl_onnx_walk *r,
                             const struct dl_node_list *body, size_t *order);

/* Enters the initializers and counts every node. */
enum dl_status dl_onnx_walk_nodes(struct dl_onnx_walk *r,
                                  struct dl_value_scope *s,
                                  const struct dl_node_list *body);

/* Reads the model's functions. */
enum dl_status dl_onnx_read_functions(struct dl_onnx_walk *r);

/* Counts If, Loop, Scan and model-local functions and fills c->out. *done is
 * false where the node is none of them. */
enum dl_status dl_onnx_control_flow(struct dl_onnx_walk *r,
                                    const struct dl_value_scope *s,
                                    struct dl_node_call *c, bool *done);

/* Enters the shapes of the model's inputs, with the sizes that are requested.
 */
enum dl_status dl_onnx_enter_inputs(struct dl_onnx_walk *r,
                                    struct dl_value_scope *s,
                                    const struct dl_onnx_asked *asked);

/* Returns the shape of a type; open dimensions are -1. */
struct dl_onnx_shape dl_type_shape(const Onnx__TypeProto *t);

/* Records the counts of a node. */
void dl_onnx_record(struct dl_onnx_walk *r, const struct dl_node_call *c,
                    double params, double bytes, bool weighted);
/* Fails with the fault of a node, its name and its operator. */
enum dl_status dl_onnx_fault(struct dl_onnx_walk *r,
                             const struct dl_node_call *c);

/* Returns "" in place of NULL. */
static inline const char *dl_or_empty(const char *s) {
  return s ? s : "";
}

#endif
