/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models of one node, written for unit tests in the wire format of Protocol
 * Buffers, and what dlest counts of them. Include after unit.h. */

#ifndef DL_TESTS_ONNX_MODEL_H
#define DL_TESTS_ONNX_MODEL_H

#include <ctype.h>
#include <stdint.h>

#include "base/text.h"
#include "onnx/onnx.h"

/* A node and what is expected of it. Words are separated by blanks.
 *
 * op       "Conv", "Add@6" (operators of version 6, else 17), or
 *          "com.microsoft.Attention"
 * inputs   3x4 (float32), int64:3x4, scalar, *8x3 (a weight), *uint8:8x3,
 *          =1,-1 (a stored list of int64), #5 (a stored scalar), ~0.5,2 (a
 *          stored list of float32), - (left out)
 * attrs    axis=1 (int), alpha=0.5 (float), pads=[1,1] (ints), scales=[1.5,2.]
 *          (floats), mode=linear (string), value=:int64:2 (a tensor of 7s)
 * outputs  3x4 or int64:3x4 one per output; "?": no shape is known; "->2x3":
 *          one output, which holds 2 and 3; "!text": refused so
 * macs, params of the model, as they are for one batch */
struct onnx_case {
  const char *op, *inputs, *attrs, *outputs;
  double macs, params;
};

static const char *const onnx_types[] = {"",       "float32", "uint8",  "int8",
                                         "uint16", "int16",   "int32",  "int64",
                                         "string", "bool",    "float16"};

static UNUSED void put_varint(struct dl_text *t, uint64_t x) {
  for (; x >= 0x80; x >>= 7)
    dl_text_add_n(t, (char[]){(char)(x | 0x80)}, 1);
  dl_text_add_n(t, (char[]){(char)x}, 1);
}

static UNUSED void put_number(struct dl_text *t, unsigned field, int64_t x) {
  put_varint(t, field << 3);
  put_varint(t, (uint64_t)x);
}

static UNUSED void put_bytes(struct dl_text *t, unsigned field, const void *s,
                             size_t n) {
  put_varint(t, field << 3 | 2);
  put_varint(t, n);
  dl_text_add_n(t, s, n);
}

static UNUSED void put_string(struct dl_text *t, unsigned field,
                              const char *s) {
  put_bytes(t, field, s, strlen(s));
}

/* Appends a message as a field, and frees it. */
static UNUSED void put_message(struct dl_text *t, unsigned field,
                               struct dl_text *message) {
  put_bytes(t, field, dl_text_str(message), message->len);
  dl_text_free(message);
}

static UNUSED void put_float(struct dl_text *t, unsigned field, float x) {
  put_varint(t, field << 3 | 5);
  dl_text_add_n(t, (const char *)&x, sizeof x);
}

/* "int64:3x4": the type's number; *shape is what follows the colon. */
static UNUSED int read_type(const char *word, const char **shape) {
  const char *colon = strchr(word, ':');
  *shape = colon ? colon + 1 : word;
  for (int i = 1; colon && i < (int)COUNT(onnx_types); i++)
    if (strncmp(word, onnx_types[i], (size_t)(colon - word)) == 0)
      return i;
  return 1;
}

/* 3x4: the numbers, "N" as -1; returns how many. */
static UNUSED size_t read_dims(const char *s, int64_t dim[16]) {
  size_t n = 0;
  if (strncmp(s, "scalar", 6) == 0)
    return 0;
  for (char *end; *s && *s != ' '; s = *end == 'x' ? end + 1 : end) {
    dim[n++] = *s == 'N' ? -1 : strtoll(s, &end, 10);
    if (*s == 'N')
      end = (char *)s + 1;
  }
  return n;
}

/* A value of a graph: name, type, shape. */
static UNUSED struct dl_text value_info(const char *name, int type,
                                        const char *dims) {
  struct dl_text v = {0}, t = {0}, tensor = {0}, shape = {0};
  int64_t dim[16];
  size_t n = read_dims(dims, dim);
  for (size_t i = 0; i < n; i++) {
    struct dl_text d = {0};
    if (dim[i] >= 0)
      put_number(&d, 1, dim[i]);
    put_message(&shape, 1, &d);
  }
  put_number(&tensor, 1, type);
  put_message(&tensor, 2, &shape);
  put_message(&t, 1, &tensor);
  put_string(&v, 1, name);
  put_message(&v, 2, &t);
  return v;
}

/* A tensor of that type and shape whose elements are `x`; where that is NULL
 * they are in another file. */
static UNUSED struct dl_text tensor_proto(const char *name, int type,
                                          const char *dims, const void *x,
                                          size_t bytes) {
  struct dl_text t = {0};
  int64_t dim[16];
  size_t n = read_dims(dims, dim);
  for (size_t i = 0; i < n; i++)
    put_number(&t, 1, dim[i]);
  put_number(&t, 2, type);
  put_string(&t, 8, name);
  if (x)
    put_bytes(&t, 9, x, bytes);
  else
    put_number(&t, 14, 1);
  return t;
}

/* What is stored: =1,2 or #5 or ~0.5,2 or *uint8:2x3. */
static UNUSED struct dl_text stored_value(const char *name, const char *word) {
  int64_t whole[32];
  float real[32];
  size_t n = 0;
  char dims[16] = "scalar";
  const char *shape;
  if (*word == '*') {
    int type = read_type(word + 1, &shape);
    return tensor_proto(name, type, shape, NULL, 0);
  }
  for (const char *p = word + 1; *p && *p != ' '; n++) {
    char *end;
    real[n] = strtof(p, &end);
    whole[n] = (int64_t)strtoll(p, NULL, 10);
    p = *end == ',' ? end + 1 : end;
  }
  if (*word != '#')
    snprintf(dims, sizeof dims, "%zu", n);
  return *word == '~' ? tensor_proto(name, 1, dims, real, n * sizeof *real)
                      : tensor_proto(name, 7, dims, whole, n * sizeof *whole);
}

/* A tensor of 7s for ":int64:2" and its like. */
static UNUSED struct dl_text sevens(const char *word) {
  int64_t seven[16], dim[16];
  const char *shape;
  int type = read_type(word + 1, &shape);
  size_t n = read_dims(shape, dim), bytes = 8;
  for (size_t i = 0; i < COUNT(seven); i++)
    seven[i] = 7;
  for (size_t i = 0; i < n; i++)
    bytes *= (size_t)dim[i];
  return tensor_proto("", type, shape, seven, bytes);
}

static UNUSED void put_list(struct dl_text *a, const char *word) {
  bool floats = strchr(word, '.') != NULL;
  for (const char *p = word + 1; *p && *p != ']';) {
    char *end;
    if (floats)
      put_float(a, 7, strtof(p, &end));
    else
      put_number(a, 8, strtoll(p, &end, 10));
    p = *end == ',' ? end + 1 : end;
  }
  put_number(a, 20, floats ? 6 : 7);
}

static UNUSED struct dl_text attribute(const char *name, const char *value) {
  struct dl_text a = {0};
  bool number = isdigit((unsigned char)*value) || *value == '-';
  put_string(&a, 1, name);
  if (*value == ':') {
    struct dl_text t = sevens(value);
    put_message(&a, 5, &t);
    put_number(&a, 20, 4);
  } else if (*value == '[') {
    put_list(&a, value);
  } else if (number && strchr(value, '.')) {
    put_float(&a, 2, strtof(value, NULL));
    put_number(&a, 20, 1);
  } else if (number) {
    put_number(&a, 3, strtoll(value, NULL, 10));
    put_number(&a, 20, 2);
  } else {
    put_string(&a, 4, value);
    put_number(&a, 20, 3);
  }
  return a;
}

/* Adds the inputs of a case to its node and its graph; cuts `words`. */
static UNUSED void put_inputs(struct dl_text *node, struct dl_text *graph,
                              char *words) {
  char *save, name[32];
  size_t n = 0;
  for (char *w = strtok_r(words, " ", &save); w;
       w = strtok_r(NULL, " ", &save)) {
    const char *shape;
    snprintf(name, sizeof name, "x%zu", n++);
    put_string(node, 1, *w == '-' ? "" : name);
    if (*w == '-')
      continue;
    bool stored = strchr("*=#~", *w) != NULL;
    int type = read_type(w, &shape);
    struct dl_text v =
        stored ? stored_value(name, w) : value_info(name, type, shape);
    put_message(graph, stored ? 5 : 11, &v);
  }
}

/* Adds `n` outputs, or one that ConstantOfShape makes of the node's. */
static UNUSED void put_outputs(struct dl_text *node, struct dl_text *graph,
                               size_t n, bool holds) {
  struct dl_text v = {0}, after = {0};
  char name[32];
  for (size_t i = 0; i < n; i++) {
    snprintf(name, sizeof name, "y%zu", i);
    put_string(node, 2, name);
    put_string(&v, 1, holds ? "z" : name);
    put_message(graph, 12, &v);
  }
  if (!holds)
    return;
  put_string(&after, 1, "y0");
  put_string(&after, 2, "z");
  put_string(&after, 4, "ConstantOfShape");
  put_message(graph, 1, &after);
}

/* Adds the operator and its domain; returns the version of the operators. */
static UNUSED int put_operator(struct dl_text *node, const char *op) {
  char name[64];
  snprintf(name, sizeof name, "%s", op);
  char *at = strchr(name, '@'), *dot;
  if (at)
    *at = '\0';
  dot = strrchr(name, '.');
  put_string(node, 4, dot ? dot + 1 : name);
  if (dot)
    put_bytes(node, 7, name, (size_t)(dot - name));
  return at ? atoi(at + 1) : 17;
}

/* The model of a case, to be freed. */
static UNUSED struct dl_text onnx_of_case(const struct onnx_case *c) {
  struct dl_text model = {0}, graph = {0}, node = {0}, opset = {0};
  char inputs[512], attrs[512], *save;
  size_t n_outputs = 1;
  snprintf(inputs, sizeof inputs, "%s", c->inputs);
  snprintf(attrs, sizeof attrs, "%s", c->attrs);
  for (const char *p = c->outputs; *p && *c->outputs != '!'; p++)
    n_outputs += *p == ' ';
  put_inputs(&node, &graph, inputs);
  put_outputs(&node, &graph, n_outputs, strncmp(c->outputs, "->", 2) == 0);
  int version = put_operator(&node, c->op);
  for (char *w = strtok_r(attrs, " ", &save); w;
       w = strtok_r(NULL, " ", &save)) {
    char *equals = strchr(w, '=');
    *equals = '\0';
    struct dl_text a = attribute(w, equals + 1);
    put_message(&node, 5, &a);
  }
  put_message(&graph, 1, &node);
  put_number(&model, 1, 8);
  put_message(&model, 7, &graph);
  put_number(&opset, 2, version);
  put_message(&model, 8, &opset);
  return model;
}

/* Writes a model and counts it; *m and *c are the caller's. */
static UNUSED enum dl_status
count_bytes(const struct dl_text *model, const struct dl_onnx_asked *asked,
            struct dl_onnx **m, struct dl_onnx_count **c, struct dl_diag *d) {
  const char *path = temp_path("model.onnx");
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(dl_text_str(model), 1, model->len, f), model->len);
  assert_int_equal(fclose(f), 0);
  *m = NULL;
  *c = NULL;
  enum dl_status status = dl_onnx_open(m, path, d);
  return status == DL_OK ? dl_onnx_count(*m, asked, c, d) : status;
}

/* "float32:1x3", or "?" where no shape is known. */
static UNUSED void shape_text(const struct dl_onnx_value *v, bool typed,
                              struct dl_text *t) {
  if (!v->shape.known) {
    dl_text_add(t, "?");
    return;
  }
  if (typed)
    dl_text_printf(t, "%s:", v->type);
  for (unsigned i = 0; i < v->shape.rank; i++)
    dl_text_printf(t, "%s%lld", i ? "x" : "", (long long)v->shape.dim[i]);
  if (v->shape.rank == 0)
    dl_text_add(t, "scalar");
}

/* Whether a case is counted as expected; prints what is not. */
static UNUSED bool case_holds(const struct onnx_case *c) {
  struct dl_text model = onnx_of_case(c), got = {0};
  struct dl_onnx_asked asked = dl_onnx_as_it_is;
  struct dl_onnx *m;
  struct dl_onnx_count *count;
  struct dl_diag d = {0};
  asked.batch = 1;
  enum dl_status status = count_bytes(&model, &asked, &m, &count, &d);
  bool holds = strncmp(c->outputs, "->", 2) == 0, ok;
  if (status != DL_OK) {
    ok = *c->outputs == '!' && d.error && strstr(d.error, c->outputs + 1);
    dl_text_printf(&got, "!%s", d.error ? d.error : "");
  } else {
    const char *want = c->outputs;
    dl_text_add(&got, holds ? "->" : "");
    for (size_t i = 0; i < count->n_outputs; i++) {
      bool typed = strcspn(want, ":") < strcspn(want, " ");
      dl_text_add(&got, i ? " " : "");
      shape_text(&count->output[i], typed, &got);
      want += strcspn(want, " ");
      want += *want == ' ';
    }
    ok = strcmp(dl_text_str(&got), c->outputs) == 0 && count->macs == c->macs &&
         count->params == c->params;
    dl_text_printf(&got, " macs %g params %g", count->macs, count->params);
  }
  if (!ok)
    fprintf(stderr, "%s (%s) %s: want %s macs %g params %g, got %s\n", c->op,
            c->inputs, c->attrs, c->outputs, c->macs, c->params,
            dl_text_str(&got));
  dl_onnx_count_free(count);
  dl_onnx_free(m);
  dl_diag_free(&d);
  dl_text_free(&model);
  dl_text_free(&got);
  return ok;
}

static UNUSED void assert_cases(const struct onnx_case *c, size_t n) {
  size_t failed = 0;
  for (size_t i = 0; i < n; i++)
    failed += !case_holds(&c[i]);
  assert_int_equal(failed, 0);
}

#endif
