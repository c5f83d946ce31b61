/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shapes of inputs: the model's, the requested ones, and a batch of one.
 *
 * A dimension that a model leaves open is 1 where it counts samples. Others
 * must be given: the model does not determine the size of an image or the
 * length of a text. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/graph/model_walk.h"

static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *v) {
  const Onnx__TypeProto *t = v->type;
  if (!t || t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return NULL;
  return t->tensor_type ? t->tensor_type->shape : NULL;
}

static int type_of(const Onnx__ValueInfoProto *v) {
  const Onnx__TypeProto *t = v->type;
  if (!t || t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
      !t->tensor_type)
    return DL_T_UNKNOWN;
  return t->tensor_type->elem_type;
}

/* Returns the value of a dimension, or -1 if it is open. */
static int64_t fixed(const Onnx__TensorShapeProto__Dimension *d) {
  bool said =
      d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
  return said && d->dim_value >= 0 ? d->dim_value : -1;
}

static const char *param(const Onnx__TensorShapeProto__Dimension *d) {
  bool said =
      d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
  return said ? dl_or_empty(d->dim_param) : "";
}

struct dl_onnx_shape dl_type_shape(const Onnx__TypeProto *t) {
  struct dl_onnx_shape s = {.known = false};
  if (!t || t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
      !t->tensor_type || !t->tensor_type->shape ||
      t->tensor_type->shape->n_dim > DL_ONNX_MAX_RANK)
    return s;
  const Onnx__TensorShapeProto *shape = t->tensor_type->shape;
  s.rank = (unsigned)shape->n_dim;
  s.known = true;
  for (size_t i = 0; i < shape->n_dim; i++) {
    s.dim[i] = fixed(shape->dim[i]);
    s.known = s.known && s.dim[i] >= 0;
  }
  return s;
}

static void set_param(struct dl_onnx_walk *r, const char *name, int64_t value) {
  size_t before = r->open.n;
  if (!*name)
    return;
  DL_GROW(r->open_value, r->cap_open, before + 1);
  long i = dl_intern(&r->open, name);
  if (r->open.n > before)
    r->open_value[i] = value;
}

/* Whether a recurrent node that has time first reads an input directly. */
static bool time_first(const Onnx__GraphProto *g, const char *name) {
  for (size_t i = 0; i < g->n_node; i++) {
    const Onnx__NodeProto *n = g->node[i];
    const struct dl_operator_row *op =
        dl_operators_find(dl_or_empty(n->domain), dl_or_empty(n->op_type));
    bool recurrent = op && op->infer == dl_infer_recurrent;
    const struct dl_node_call c = {.node = n};
    if (recurrent && n->n_input > 0 && strcmp(n->input[0], name) == 0 &&
        dl_attr_int(&c, "layout", 0) == 0)
      return true;
  }
  return false;
}

/* Returns the axis that counts samples; -1: none. */
static long batch_axis(const Onnx__GraphProto *g, const Onnx__ValueInfoProto *v,
                       const struct dl_onnx_shape *s) {
  if (s->rank == 0)
    return -1;
  if (s->rank == 3 && (time_first(g, dl_or_empty(v->name)) ||
                       (s->dim[1] == 1 && s->dim[0] > 1)))
    return 1;
  return 0;
}

static long asked_for(const struct dl_onnx_asked *a, const char *name) {
  for (size_t i = 0; i < a->n; i++)
    if (strcmp(a->name[i], name) == 0)
      return (long)i;
  return -1;
}

/* Returns the first of the two sides of an image: the last two axes, or the
 * middle ones if the last can only be colours. */
static unsigned image_axis(const struct dl_onnx_shape *s) {
  bool last = s->dim[3] >= 1 && s->dim[3] <= 4;
  return last && (s->dim[1] < 0 || s->dim[1] > 4) ? 1 : 2;
}

static enum dl_status open_dimension(struct dl_onnx_walk *r,
                                     const Onnx__ValueInfoProto *v,
                                     const struct dl_onnx_shape *s, size_t at) {
  DL_TEXT(example);
  const Onnx__TensorShapeProto *shape = shape_of(v);
  for (size_t i = 0; i < s->rank; i++)
    if (s->dim[i] >= 0)
      dl_text_printf(&example, "%s%lld", i ? "x" : "", (long long)s->dim[i]);
    else
      dl_text_printf(&example, "%sN", i ? "x" : "");
  DL_TEXT(quoted);
  const char *name = param(shape->dim[at]), *input = dl_or_empty(v->name);
  if (*name)
    dl_text_printf(&quoted, " ('%s')", name);
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                    "input '%s': dimension %zu%s is open; give it with "
                    "--input-shape %s=%s",
                    input, at + 1, dl_text_str(&quoted), input,
                    dl_text_str(&example));
}

/* Returns the axis that counts tokens or steps; -1: none. */
static long seq_axis(const Onnx__GraphProto *g, const Onnx__ValueInfoProto *v,
                     const struct dl_onnx_shape *s) {
  if (s->rank == 2 && !dl_type_is_float(type_of(v)))
    return 1;
  return s->rank == 3 ? 1 - batch_axis(g, v, s) : -1;
}

/* Sets the requested size of a dimension by its meaning. */
static void put(struct dl_onnx_walk *r, const Onnx__TensorShapeProto *shape,
                struct dl_onnx_shape *s, size_t axis, double x) {
  s->dim[axis] = (int64_t)x;
  if (shape)
    set_param(r, param(shape->dim[axis]), s->dim[axis]);
}

/* Stores the model's shape with the requested sizes; open dimensions are -1. */
static enum dl_status first_look(struct dl_onnx_walk *r,
                                 const struct dl_onnx_asked *a,
                                 const Onnx__ValueInfoProto *v,
                                 struct dl_onnx_shape *s) {
  const Onnx__TensorShapeProto *shape = shape_of(v);
  const char *name = dl_or_empty(v->name);
  long asked = asked_for(a, name);
  *s = dl_type_shape(v->type);
  if (shape && shape->n_dim > DL_ONNX_MAX_RANK)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "input '%s' has more than %d dimensions", name,
                      DL_ONNX_MAX_RANK);
  if (asked >= 0 && shape && a->shape[asked].rank != shape->n_dim)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "input '%s' has %zu dimensions, not %u", name,
                      shape->n_dim, a->shape[asked].rank);
  if (asked >= 0)
    *s = a->shape[asked];
  for (size_t i = 0; shape && asked >= 0 && i < shape->n_dim; i++)
    set_param(r, param(shape->dim[i]), s->dim[i]);
  if (asked < 0 && shape && s->rank > 0) {
    long axis = batch_axis(r->m->model->graph, v, s);
    if (s->dim[axis] < 0) {
      s->dim[axis] = 1;
      set_param(r, param(shape->dim[axis]), 1);
    }
  }
  if (!isnan(a->image_px) && s->rank == 4) {
    unsigned axis = image_axis(s);
    put(r, shape, s, axis, a->image_px);
    put(r, shape, s, axis + 1, a->image_px);
  }
  long axis = seq_axis(r->m->model->graph, v, s);
  if (!isnan(a->seq_len) && axis >= 0)
    put(r, shape, s, (size_t)axis, a->seq_len);
  return DL_OK;
}

static enum dl_status settle(struct dl_onnx_walk *r,
                             const Onnx__ValueInfoProto *v,
                             struct dl_onnx_shape *s) {
  const Onnx__TensorShapeProto *shape = shape_of(v);
  for (size_t i = 0; shape && i < s->rank; i++) {
    const char *name = param(shape->dim[i]);
    long at = *name ? dl_intern_find(&r->open, name) : -1;
    if (s->dim[i] < 0 && at >= 0)
      s->dim[i] = r->open_value[at];
  }
  for (size_t i = 0; shape && i < s->rank; i++)
    if (s->dim[i] < 0)
      return open_dimension(r, v, s, i);
  s->known = shape || s->known;
  double n = dl_shape_elements(s);
  if (n > 0x1p53)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "input '%s' has more than 2^53 elements",
                      dl_or_empty(v->name));
  return DL_OK;
}

/* Learns sides, tokens and samples from the first input that has them. */
static void learn(struct dl_onnx_walk *r, const Onnx__ValueInfoProto *v,
                  const struct dl_onnx_shape *s) {
  struct dl_onnx_count *c = r->c;
  if (!s->known || s->rank < 2)
    return;
  long axis = batch_axis(r->m->model->graph, v, s);
  if (isnan(c->batch))
    c->batch = (double)s->dim[axis];
  unsigned side = s->rank == 4 ? image_axis(s) : 0;
  if (s->rank == 4 && isnan(c->image_px) && s->dim[side] == s->dim[side + 1])
    c->image_px = (double)s->dim[side];
  long seq = seq_axis(r->m->model->graph, v, s);
  if (isnan(c->seq_len) && seq >= 0)
    c->seq_len = (double)s->dim[seq];
}

static enum dl_status unknown_input(struct dl_onnx_walk *r, const char *name) {
  DL_TEXT(all);
  for (size_t i = 0; i < r->c->n_inputs; i++)
    dl_text_printf(&all, "%s'%s'", i ? ", " : "", r->c->input[i].name);
  return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                    "there is no input '%s'; its inputs: %s", name,
                    dl_text_str(&all));
}

static enum dl_status check_asked(struct dl_onnx_walk *r,
                                  const struct dl_onnx_asked *a) {
  bool image = false, sequence = false;
  for (size_t i = 0; i < r->c->n_inputs; i++) {
    const struct dl_onnx_value *in = &r->c->input[i];
    image = image || in->shape.rank == 4;
    sequence = sequence || in->shape.rank == 3 ||
               (in->shape.rank == 2 && strncmp(in->type, "int", 3) == 0);
  }
  if (!isnan(a->image_px) && !image)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "no input is an image: it takes no image size");
  if (!isnan(a->seq_len) && !sequence)
    return dl_fail_at(r->d, DL_EINPUT, r->m->path, 0,
                      "no input is a sequence: it takes no length");
  for (size_t i = 0; i < a->n; i++) {
    bool found = false;
    for (size_t k = 0; k < r->c->n_inputs; k++)
      found = found || strcmp(r->c->input[k].name, a->name[i]) == 0;
    if (!found)
      return unknown_input(r, a->name[i]);
  }
  return DL_OK;
}

/* Enters all inputs that are no weights, in two rounds: a dimension that one
 * leaves open may be settled by another. */
static enum dl_status all_inputs(struct dl_onnx_walk *r,
                                 struct dl_value_scope *s,
                                 const struct dl_onnx_asked *a,
                                 struct dl_intern *stored) {
  const Onnx__GraphProto *g = r->m->model->graph;
  struct dl_onnx_value *in = dl_calloc(g->n_input, sizeof *in);
  enum dl_status status = DL_OK;
  r->c->input = in;
  for (int round = 0; round < 2 && status == DL_OK; round++) {
    size_t n = 0;
    for (size_t i = 0; i < g->n_input && status == DL_OK; i++) {
      const Onnx__ValueInfoProto *v = g->input[i];
      const char *name = dl_or_empty(v->name);
      if (dl_intern_find(stored, name) >= 0)
        continue;
      struct dl_onnx_value *to = &in[n++];
      if (round == 0) {
        *to = (struct dl_onnx_value){name, dl_type_name(type_of(v)), {0}};
        status = first_look(r, a, v, &to->shape);
        r->c->n_inputs = n;
        continue;
      }
      status = settle(r, v, &to->shape);
      learn(r, v, &to->shape);
      struct dl_tensor t = {.s = to->shape, .type = type_of(v)};
      if (status == DL_OK)
        dl_scope_set(s, name, &t);
    }
    if (round == 0 && status == DL_OK)
      status = check_asked(r, a);
  }
  return status;
}

enum dl_status dl_onnx_enter_inputs(struct dl_onnx_walk *r,
                                    struct dl_value_scope *s,
                                    const struct dl_onnx_asked *asked) {
  const Onnx__GraphProto *g = r->m->model->graph;
  DL_SCOPED(dl_intern_free) struct dl_intern stored = {0};
  for (size_t i = 0; i < g->n_initializer; i++)
    dl_intern(&stored, dl_or_empty(g->initializer[i]->name));
  enum dl_status status = all_inputs(r, s, asked, &stored);
  if (!isnan(asked->batch))
    r->c->batch = asked->batch;
  if (isnan(r->c->batch) || r->c->batch < 1)
    r->c->batch = 1;
  return status;
}
