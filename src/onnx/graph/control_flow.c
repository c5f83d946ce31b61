/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs within graphs, and functions of the model's own.
 *
 * A body counts as often as it runs, if that is known: the trip count of a
 * Loop, the length of the inputs of a Scan. Else a loop counts once, and the
 * branch with more MACs counts; both cases are reported. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

static bool is(const struct dl_node_call *c, const char *op) {
  return dl_is_standard_domain(c->node->domain) &&
         strcmp(dl_or_empty(c->node->op_type), op) == 0;
}

static enum dl_status too_deep(struct dl_onnx_walk *r) {
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                    "graphs or functions within each other more than %d deep",
                    DL_ONNX_MOST_NESTED);
}

/* Copies a value to another name in another scope, without its parameters,
 * which stay where they are counted. */
static void hand_in(struct dl_value_scope *to, const char *name,
                    const struct dl_tensor *t, bool with_data) {
  struct dl_tensor copy = {0};
  if (t) {
    copy = *t;
    copy.data = NULL;
    copy.params = copy.bytes = copy.maybe = copy.maybe_bytes = 0;
    if (t->data && with_data) {
      copy.data = dl_calloc(t->n_data, sizeof *copy.data);
      memcpy(copy.data, t->data, t->n_data * sizeof *copy.data);
    }
  }
  dl_scope_set(to, name, &copy);
}

static void move_params(struct dl_tensor *to, struct dl_tensor *from) {
  to->params += from->params;
  to->bytes += from->bytes;
  to->maybe += from->maybe;
  to->maybe_bytes += from->maybe_bytes;
  from->params = from->bytes = from->maybe = from->maybe_bytes = 0;
}

/* Copies a value to another scope and moves its parameters there. */
static void hand_over(struct dl_value_scope *to, const char *name,
                      struct dl_tensor *t) {
  hand_in(to, name, t, true);
  if (t)
    move_params(dl_scope_find(to, name), t);
}

/* Gives parameters back that nothing inside took. */
static void hand_back(const struct dl_value_scope *from, const char *name,
                      struct dl_tensor *t) {
  struct dl_tensor *own = t ? dl_scope_find(from, name) : NULL;
  if (own)
    move_params(t, own);
}

/* Whether a body hands on a carried value, input `in`, unchanged. */
static bool stays(const Onnx__GraphProto *g, size_t in, size_t out) {
  if (out >= g->n_output)
    return false;
  static const char identity[] = "Identity";
  const char *from = dl_or_empty(g->input[in]->name);
  const char *to = dl_or_empty(g->output[out]->name);
  for (size_t i = 0; i < g->n_node && strcmp(from, to) != 0; i++) {
    const Onnx__NodeProto *n = g->node[i];
    if (n->n_output == 1 && n->n_input == 1 && strcmp(n->output[0], to) == 0 &&
        strcmp(dl_or_empty(n->op_type), identity) == 0)
      to = n->input[0];
  }
  return strcmp(from, to) == 0;
}

/* A carried value is a weight in the body if it is one outside and does not
 * change between turns, or is a turn's part of a stack of weights. */
static void carry(const struct dl_value_scope *s, const char *name,
                  struct dl_tensor *t, bool same) {
  struct dl_tensor *own = dl_scope_find(s, name);
  own->weight = t && t->weight && same;
  if (own->weight)
    move_params(own, t);
}

/* Runs a graph whose inputs are in s, `times` times. */
static enum dl_status run_graph(struct dl_onnx_walk *r,
                                struct dl_value_scope *s,
                                const Onnx__GraphProto *g, double times) {
  struct dl_node_list body = {g->node, g->n_node, g, NULL};
  double before = r->times;
  if (r->depth == DL_ONNX_MOST_NESTED)
    return too_deep(r);
  r->depth++;
  r->times = before * times;
  enum dl_status status = r->walk_nodes(r, s, &body);
  r->times = before;
  r->depth--;
  return status;
}

/* Gives output `to` of the node the shape of output i of a graph. If a loop
 * stacks `stacked` of them there is one more axis in front; below 0 it does
 * not, NaN is an unknown number. */
static void take_output(struct dl_node_call *c, const struct dl_value_scope *s,
                        const Onnx__GraphProto *g, size_t i, size_t to,
                        double stacked) {
  const struct dl_tensor *t =
      i < g->n_output ? dl_scope_find(s, dl_or_empty(g->output[i]->name))
                      : NULL;
  if (!t || !t->s.known)
    return;
  if (isnan(stacked))
    return;
  int64_t dim[DL_ONNX_MAX_RANK + 1] = {0};
  size_t extra = stacked >= 0;
  if (extra)
    dim[0] = (int64_t)fmin(stacked, 0x1p53);
  for (size_t k = 0; k < t->s.rank; k++)
    dim[k + extra] = t->s.dim[k];
  dl_output_set(c, to, dim, t->s.rank + extra, t->type);
}

static const Onnx__GraphProto *graph_of(struct dl_node_call *c,
                                        const char *name) {
  const Onnx__AttributeProto *a = dl_attr(c, name);
  if (!a || !a->g)
    dl_fault(c, "no graph to run");
  return a ? a->g : NULL;
}

static double macs_since(const struct dl_onnx_count *c, size_t from) {
  double macs = 0;
  for (size_t i = from; i < c->n_layers; i++)
    macs += c->layer[i].macs;
  return macs;
}

/* An output of a branch may be a weight. Parameters that the node's output has
 * from the other branch stay parameters of the model. */
static void take_weight(struct dl_onnx_walk *r, struct dl_node_call *c,
                        const struct dl_value_scope *s,
                        const Onnx__GraphProto *g, size_t i) {
  struct dl_tensor *to = &c->out[i];
  r->c->params += to->params;
  r->c->weight_bytes += to->bytes;
  to->params = to->bytes = 0;
  struct dl_tensor *t = i < g->n_output
                            ? dl_scope_find(s, dl_or_empty(g->output[i]->name))
                            : NULL;
  to->weight = t && t->weight;
  if (to->weight)
    move_params(to, t);
}

static enum dl_status branch(struct dl_onnx_walk *r,
                             const struct dl_value_scope *outer,
                             struct dl_node_call *c, const char *name) {
  const Onnx__GraphProto *g = graph_of(c, name);
  struct dl_value_scope s = {.outer = outer};
  if (!g)
    return dl_onnx_fault(r, c);
  enum dl_status status = run_graph(r, &s, g, 1);
  for (size_t i = 0; i < c->n_out && status == DL_OK; i++) {
    take_output(c, &s, g, i, i, -1);
    take_weight(r, c, &s, g, i);
  }
  dl_scope_free(&s);
  return status;
}

/* Counts the parameters of the branch that is not taken, whose layers are left
 * out: the model holds them, and the other branch may share them. */
static void keep_params(struct dl_onnx_count *c, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    c->params += c->layer[i].params;
    c->weight_bytes += c->layer[i].bytes;
  }
}

static enum dl_status run_if(struct dl_onnx_walk *r,
                             const struct dl_value_scope *outer,
                             struct dl_node_call *c) {
  size_t n;
  const double *when = dl_input_values(c, 0, &n);
  if (when && n == 1)
    return branch(r, outer, c, *when != 0 ? "then_branch" : "else_branch");
  size_t start = r->c->n_layers;
  r->c->n_guessed++;
  DL_TRY(branch(r, outer, c, "else_branch"));
  size_t middle = r->c->n_layers;
  DL_TRY(branch(r, outer, c, "then_branch"));
  size_t n_else = middle - start;
  size_t n_then = r->c->n_layers - middle;
  struct dl_onnx_layer *l = r->c->layer;
  double then_macs = macs_since(r->c, middle);
  double else_macs = macs_since(r->c, start) - then_macs;
  if (then_macs >= else_macs) {
    keep_params(r->c, start, middle);
    if (n_else > 0 && n_then > 0)
      memmove(l + start, l + middle, n_then * sizeof *l);
    r->c->n_layers = start + n_then;
  } else {
    keep_params(r->c, middle, middle + n_then);
    r->c->n_layers = middle;
  }
  return DL_OK;
}

/* The inputs of a Loop are the trip count, the condition, and carried values.
 */
static enum dl_status run_loop(struct dl_onnx_walk *r,
                               const struct dl_value_scope *outer,
                               struct dl_node_call *c) {
  const Onnx__GraphProto *g = graph_of(c, "body");
  struct dl_value_scope s = {.outer = outer};
  size_t n;
  const double *trips = dl_input_values(c, 0, &n);
  bool known = trips && n == 1 && *trips >= 0 && *trips <= 0x1p53;
  double times = known ? *trips : 1;
  if (!g)
    return dl_onnx_fault(r, c);
  if (c->n_in < 2 || g->n_input < c->n_in) {
    dl_fault(c, "a body of other inputs");
    return dl_onnx_fault(r, c);
  }
  r->c->n_guessed += !known;
  for (size_t i = 0; i < g->n_input; i++) {
    /* Elements of a carried value change from one turn to the next. */
    struct dl_tensor counter = {.s = {.known = true}, .type = DL_T_INT64};
    struct dl_tensor *carried = i >= 2 ? dl_input(c, i) : NULL;
    const char *name = dl_or_empty(g->input[i]->name);
    hand_in(&s, name, i < 2 ? &counter : carried, false);
    carry(&s, name, carried, i >= 2 && stays(g, i, i - 1));
  }
  enum dl_status status = run_graph(r, &s, g, times);
  for (size_t i = 2; i < c->n_in; i++)
    hand_back(&s, dl_or_empty(g->input[i]->name), c->in[i]);
  size_t carried = c->n_in - 2;
  double stacked = known ? times : NAN;
  for (size_t i = 0; i < c->n_out && status == DL_OK; i++)
    take_output(c, &s, g, i + 1, i, i < carried ? -1 : stacked);
  dl_scope_free(&s);
  return status;
}

/* M inputs of a Scan are scanned along their first axis, the others are state.
 */
static enum dl_status run_scan(struct dl_onnx_walk *r,
                               const struct dl_value_scope *outer,
                               struct dl_node_call *c) {
  const Onnx__GraphProto *g = graph_of(c, "body");
  struct dl_value_scope s = {.outer = outer};
  int64_t m = dl_attr_int(c, "num_scan_inputs", 0);
  if (!g)
    return dl_onnx_fault(r, c);
  if (m < 1 || (uint64_t)m > c->n_in || c->opset < 9 || g->n_input < c->n_in ||
      dl_attr(c, "scan_input_axes")) {
    c->uncounted = true; /* of another form */
    r->c->n_guessed++;
    return DL_OK;
  }
  size_t states = c->n_in - (size_t)m;
  double times = 1;
  for (size_t i = 0; i < c->n_in; i++) {
    struct dl_tensor t = c->in[i] ? *c->in[i] : (struct dl_tensor){0};
    const char *name = dl_or_empty(g->input[i]->name);
    if (i >= states && t.s.known && t.s.rank > 0) {
      times = (double)t.s.dim[0];
      t.s.rank--;
      memmove(t.s.dim, t.s.dim + 1, t.s.rank * sizeof *t.s.dim);
    }
    hand_in(&s, name, &t, false);
    carry(&s, name, c->in[i], i >= states || stays(g, i, i));
  }
  enum dl_status status = run_graph(r, &s, g, times);
  for (size_t i = 0; i < c->n_in; i++)
    hand_back(&s, dl_or_empty(g->input[i]->name), c->in[i]);
  for (size_t i = 0; i < c->n_out && status == DL_OK; i++)
    take_output(c, &s, g, i, i, i < states ? -1 : times);
  dl_scope_free(&s);
  return status;
}

static void function_key(struct dl_text *key, const char *domain,
                         const char *name) {
  dl_text_clear(key);
  dl_text_printf(key, "%s:%s", dl_or_empty(domain), dl_or_empty(name));
}

enum dl_status dl_onnx_read_functions(struct dl_onnx_walk *r) {
  const Onnx__ModelProto *m = r->m->model;
  for (size_t i = 0; i < m->n_functions; i++) {
    const Onnx__FunctionProto *f = m->functions[i];
    size_t before = r->functions.n;
    function_key(&r->key, f->domain, f->name);
    dl_intern(&r->functions, r->key.s);
    if (r->functions.n == before)
      return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                        "the function '%s' is there twice",
                        dl_or_empty(f->name));
  }
  return DL_OK;
}

static const Onnx__FunctionProto *function_of(struct dl_onnx_walk *r,
                                              const struct dl_node_call *c) {
  if (r->functions.n == 0)
    return NULL;
  function_key(&r->key, c->node->domain, c->node->op_type);
  long i = dl_intern_find(&r->functions, r->key.s);
  return i < 0 ? NULL : r->m->model->functions[i];
}

/* Returns the version of the standard's operators that a function uses. */
static int64_t function_opset(const Onnx__FunctionProto *f, int64_t none) {
  for (size_t i = 0; i < f->n_opset_import; i++)
    if (!*dl_or_empty(f->opset_import[i]->domain) &&
        f->opset_import[i]->has_version)
      return f->opset_import[i]->version;
  return none;
}

static enum dl_status run_function(struct dl_onnx_walk *r,
                                   struct dl_node_call *c,
                                   const Onnx__FunctionProto *f) {
  struct dl_value_scope s = {.outer = NULL};
  struct dl_node_list body = {f->node, f->n_node, NULL, c};
  int64_t opset = r->opset;
  if (r->depth == DL_ONNX_MOST_NESTED)
    return too_deep(r);
  for (size_t i = 0; i < f->n_input; i++)
    hand_over(&s, f->input[i], dl_input(c, i));
  r->depth++;
  r->opset = function_opset(f, opset);
  enum dl_status status = r->walk_nodes(r, &s, &body);
  r->opset = opset;
  r->depth--;
  for (size_t i = 0; i < c->n_out && i < f->n_output && status == DL_OK; i++) {
    struct dl_tensor *t = dl_scope_find(&s, f->output[i]);
    if (t) {
      c->out[i] = *t;
      t->data = NULL;
      t->params = t->bytes = t->maybe = t->maybe_bytes = 0;
    }
  }
  for (size_t i = 0; i < f->n_input && status == DL_OK; i++)
    hand_back(&s, f->input[i], dl_input(c, i));
  dl_scope_free(&s);
  return status;
}

enum dl_status dl_onnx_control_flow(struct dl_onnx_walk *r,
                                    const struct dl_value_scope *s,
                                    struct dl_node_call *c, bool *done) {
  const Onnx__FunctionProto *f = function_of(r, c);
  *done = true;
  if (f)
    return run_function(r, c, f);
  if (is(c, "If"))
    return run_if(r, s, c);
  if (is(c, "Loop"))
    return run_loop(r, s, c);
  if (is(c, "Scan"))
    return run_scan(r, s, c);
  *done = false;
  return DL_OK;
}
