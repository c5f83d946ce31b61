/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files (models/model.rng): one description of their elements and
 * attributes, walked to read a file and to write one. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "config.h"
#include "io/xml.h"
#include "model/model.h"
#include "run/formula/formula.h"

enum kind {
  TEXT,   /* char *; absent: NULL */
  COUNT,  /* size_t; required */
  NUMBER, /* double; absent: NaN */
  FLAG,   /* bool: "true" or "false" */
  METHOD  /* const struct dl_regression *, by its name */
};

/* An attribute and the member of a struct that holds it. */
struct field {
  const char *name;
  enum kind kind;
  size_t offset;
};

static const struct field provenance_fields[] = {
    {"source", TEXT, offsetof(struct dl_model, source)},
    {"rows", COUNT, offsetof(struct dl_model, rows)},
    {"xxh3_128", TEXT, offsetof(struct dl_model, digest)},
    {"citation", TEXT, offsetof(struct dl_model, citation)},
    {"options", TEXT, offsetof(struct dl_model, options)},
    {0}};
static const struct field fit_fields[] = {
    {"target", TEXT, offsetof(struct dl_fit, target)},
    {"unit", TEXT, offsetof(struct dl_fit, unit)},
    {"boundary", TEXT, offsetof(struct dl_fit, boundary)},
    {"log", FLAG, offsetof(struct dl_fit, log_target)},
    {"method", METHOD, offsetof(struct dl_fit, method)},
    {"rows", COUNT, offsetof(struct dl_fit, n)},
    {"configurations", COUNT, offsetof(struct dl_fit, configurations)},
    {0}};
static const struct field range_fields[] = {
    {"name", TEXT, offsetof(struct dl_range, name)},
    {"low", NUMBER, offsetof(struct dl_range, low)},
    {"high", NUMBER, offsetof(struct dl_range, high)},
    {0}};
static const struct field score_fields[] = {
    {"n", COUNT, offsetof(struct dl_scores, n)},
    {"r2", NUMBER, offsetof(struct dl_scores, r2)},
    {"rmse", NUMBER, offsetof(struct dl_scores, rmse)},
    {"mae", NUMBER, offsetof(struct dl_scores, mae)},
    {"mape", NUMBER, offsetof(struct dl_scores, mape)},
    {"median_ape", NUMBER, offsetof(struct dl_scores, median_ape)},
    {"bias", NUMBER, offsetof(struct dl_scores, bias)},
    {0}};
static const struct field group_fields[] = {
    {"name", TEXT, offsetof(struct dl_group_residuals, name)},
    {"n", COUNT, offsetof(struct dl_group_residuals, n)},
    {0}};
static const struct field array_fields[] = {
    {"rows", COUNT, offsetof(struct dl_array, rows)},
    {"cols", COUNT, offsetof(struct dl_array, cols)},
    {0}};

/* The document that is read or written. */
struct walk {
  struct dl_xml *x;
  struct dl_diag *d;
  bool writing;
};

/* What an element consists of; `of`: the struct that it stands for. */
typedef enum dl_status element(const struct walk *w, dl_node *node, void *of);

static enum dl_status refuse(const struct walk *w, const dl_node *node,
                             const char *what) {
  return dl_fail_at(w->d, DL_EINPUT, dl_xml_path(w->x), dl_xml_line(node),
                    "<%s>: %s", dl_xml_name(node), what);
}

static void write_attribute(const struct walk *w, dl_node *node,
                            const char *name, enum kind kind,
                            const void *member) {
  char buf[DL_NUMBER_SIZE];
  const char *text = NULL;
  if (kind == TEXT)
    text = *(char *const *)member;
  else if (kind == FLAG)
    text = *(const bool *)member ? "true" : "false";
  else if (kind == METHOD)
    text = (*(const struct dl_regression *const *)member)->name;
  else if (kind == NUMBER && !isnan(*(const double *)member))
    text = dl_format_exact(buf, *(const double *)member);
  if (kind == COUNT)
    snprintf(buf, sizeof buf, "%zu", *(const size_t *)member);
  if (text || kind == COUNT)
    dl_xml_set(w->x, node, name, text ? text : buf);
}

/* Reads or writes an attribute. */
static enum dl_status attribute(const struct walk *w, dl_node *node,
                                const char *name, enum kind kind,
                                void *member) {
  if (w->writing) {
    write_attribute(w, node, name, kind, member);
    return DL_OK;
  }
  const char *text = dl_xml_attr(node, name);
  switch (kind) {
  case TEXT:
    *(char **)member = text ? dl_strdup(text) : NULL;
    return !text || *(char **)member ? DL_OK : dl_fail_memory(w->d);
  case COUNT:
    return text && dl_parse_count(text, member)
               ? DL_OK
               : refuse(w, node, "a count is missing or invalid");
  case NUMBER:
    *(double *)member = NAN;
    return !text || dl_parse_double(text, member)
               ? DL_OK
               : refuse(w, node, "invalid number");
  case FLAG:
    *(bool *)member = text && strcmp(text, "true") == 0;
    return DL_OK;
  default:
    *(const struct dl_regression **)member =
        text ? dl_regression_find(text) : NULL;
    return DL_OK;
  }
}

/* The attributes of a table that ends with a name of NULL. */
static enum dl_status fields(const struct walk *w, dl_node *node,
                             const struct field *f, void *of) {
  enum dl_status status = DL_OK;
  for (; f->name && status == DL_OK; f++)
    status = attribute(w, node, f->name, f->kind, (char *)of + f->offset);
  return status;
}

/* The child of that name behind c, or the first: added when a file is written,
 * found when it is read; NULL: there is none. */
static dl_node *child(const struct walk *w, dl_node *parent, const char *name,
                      dl_node *c) {
  return w->writing ? dl_xml_add(w->x, parent, name)
         : c        ? dl_xml_next(c, name)
                    : dl_xml_first(parent, name);
}

/* How the elements of an array are named and read or written. */
struct list {
  const char *name;
  element *each;
  size_t size; /* of a struct */
};

/* An array of structs, an element each. array: address of the pointer to it. */
static enum dl_status list(const struct walk *w, dl_node *parent,
                           const struct list *of, void *array, size_t *n) {
  size_t count = *n;
  char *items;
  if (!w->writing) {
    for (dl_node *c = dl_xml_first(parent, of->name); c;
         c = dl_xml_next(c, of->name))
      count++;
    items = dl_calloc(count, of->size);
    memcpy(array, &items, sizeof items);
  }
  memcpy(&items, array, sizeof items);
  enum dl_status status = items || count == 0 ? DL_OK : dl_fail_memory(w->d);
  dl_node *c = NULL;
  for (size_t i = 0; i < count && status == DL_OK; i++) {
    c = child(w, parent, of->name, c);
    *n = w->writing ? count : i + 1;
    status = of->each(w, c, items + i * of->size);
  }
  return status;
}

/* Exactly n numbers separated by blanks. */
static enum dl_status numbers(const struct walk *w, dl_node *node, double *x,
                              size_t n) {
  if (w->writing) {
    struct dl_text t = {0};
    char buf[DL_NUMBER_SIZE];
    for (size_t i = 0; i < n; i++) {
      dl_text_add(&t, i > 0 ? " " : "");
      dl_text_add(&t, dl_format_exact(buf, x[i]));
    }
    dl_xml_set_text(w->x, node, dl_text_str(&t));
    dl_text_free(&t);
    return DL_OK;
  }
  size_t found = 0;
  for (const char *p = dl_xml_text(node); *p; p += strspn(p, " \t\r\n")) {
    size_t len = strcspn(p, " \t\r\n");
    if (len == 0)
      continue;
    if (found == n || dl_parse_number(p, len, &x[found++]) != DL_NUMBER_OK)
      return refuse(w, node, "invalid or too many numbers");
    p += len;
  }
  return found == n ? DL_OK : refuse(w, node, "too few numbers");
}

/* Texts, an element each; `what`: their attribute of that name, or NULL. */
static enum dl_status texts(const struct walk *w, dl_node *parent,
                            const char *name, const char *what,
                            struct dl_strlist *l) {
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < l->n; i++) {
    c = dl_xml_add(w->x, parent, name);
    if (what)
      dl_xml_set(w->x, c, "what", what);
    dl_xml_set_text(w->x, c, l->s[i]);
  }
  while (!w->writing && (c = child(w, parent, name, c))) {
    const char *its = dl_xml_attr(c, "what");
    if ((!what || (its && strcmp(its, what) == 0)) &&
        !dl_strlist_add(l, dl_xml_text(c)))
      return dl_fail_memory(w->d);
  }
  return DL_OK;
}

/* A formula that this dlest can evaluate. */
static enum dl_status check_formula(const struct walk *w, dl_node *node) {
  struct dl_formula *g;
  struct dl_diag inner;
  dl_diag_init(&inner);
  enum dl_status status = dl_formula_parse(&g, dl_xml_text(node), &inner);
  dl_formula_free(g);
  if (status != DL_OK)
    status = refuse(w, node, inner.error ? inner.error : "invalid formula");
  dl_diag_free(&inner);
  return status;
}

static enum dl_status offset(const struct walk *w, dl_node *fit,
                             struct dl_fit *f) {
  dl_node *node =
      w->writing && !f->offset ? NULL : child(w, fit, "offset", NULL);
  if (!node)
    return DL_OK;
  if (w->writing) {
    dl_xml_set_text(w->x, node, f->offset);
    return DL_OK;
  }
  enum dl_status status = check_formula(w, node);
  if (status == DL_OK && !(f->offset = dl_strdup(dl_xml_text(node))))
    status = dl_fail_memory(w->d);
  return status;
}

static enum dl_status hyper(const struct walk *w, dl_node *fit,
                            struct dl_fit *f) {
  enum dl_status status = DL_OK;
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < f->method->n_hyper; i++) {
    c = dl_xml_add(w->x, fit, "hyper");
    dl_xml_set(w->x, c, "name", f->method->hyper[i].name);
    numbers(w, c, &f->hyper[i], 1);
  }
  while (!w->writing && status == DL_OK && (c = child(w, fit, "hyper", c))) {
    const char *name = dl_xml_attr(c, "name");
    size_t i = 0;
    while (i < f->method->n_hyper &&
           !(name && strcmp(name, f->method->hyper[i].name) == 0))
      i++;
    status = i < f->method->n_hyper
                 ? numbers(w, c, &f->hyper[i], 1)
                 : refuse(w, c, "not a hyper-parameter of this method");
  }
  return status;
}

static enum dl_status features(const struct walk *w, dl_node *fit,
                               struct dl_fit *f) {
  if (w->writing && f->features.n == 0)
    return DL_OK;
  dl_node *parent = child(w, fit, "features", NULL), *c = NULL;
  enum dl_status status =
      parent ? texts(w, parent, "feature", NULL, &f->features) : DL_OK;
  if (status != DL_OK)
    return status;
  if (f->method->predict_rows)
    return f->features.n == 0
               ? DL_OK
               : refuse(w, fit, "of a model format before 2; fit it again");
  if (f->features.n == 0)
    return refuse(w, fit, "no features");
  c = dl_xml_first(parent, "feature");
  if (!w->writing && (f->scaled = dl_xml_attr(c, "mean") != NULL)) {
    f->scale.mean = gsl_vector_alloc(f->features.n);
    f->scale.sd = gsl_vector_alloc(f->features.n);
    if (!f->scale.mean || !f->scale.sd)
      return dl_fail_memory(w->d);
  }
  for (size_t i = 0; c && i < f->features.n && status == DL_OK; i++) {
    double *mean = f->scaled ? gsl_vector_ptr(f->scale.mean, i) : NULL;
    double *sd = f->scaled ? gsl_vector_ptr(f->scale.sd, i) : NULL;
    status = w->writing ? DL_OK : check_formula(w, c);
    if (status == DL_OK && mean)
      status = attribute(w, c, "mean", NUMBER, mean);
    if (status == DL_OK && mean)
      status = attribute(w, c, "sd", NUMBER, sd);
    if (status == DL_OK && mean && (isnan(*mean) || !(*sd > 0)))
      status = refuse(w, c, "invalid scaling");
    c = dl_xml_next(c, "feature");
  }
  return status;
}

static enum dl_status range(const struct walk *w, dl_node *node, void *of) {
  return fields(w, node, range_fields, of);
}

static enum dl_status ranges(const struct walk *w, dl_node *fit,
                             struct dl_fit *f) {
  return list(w, fit, &(struct list){"range", range, sizeof *f->range},
              &f->range, &f->n_ranges);
}

enum { MOST_STATE = 1 << 26 }; /* numbers */

static enum dl_status array(const struct walk *w, dl_node *node, void *of) {
  struct dl_array *a = of;
  const char *name = dl_xml_attr(node, "name");
  if (w->writing)
    dl_xml_set(w->x, node, "name", a->name);
  enum dl_status status = fields(w, node, array_fields, a);
  if (status != DL_OK || w->writing)
    return status == DL_OK ? numbers(w, node, a->data, a->rows * a->cols)
                           : status;
  if (!name || a->rows == 0 || a->cols == 0 || a->rows > MOST_STATE ||
      a->cols > MOST_STATE / a->rows)
    return refuse(w, node, "invalid shape");
  snprintf(a->name, sizeof a->name, "%s", name);
  a->data = dl_calloc(a->rows * a->cols, sizeof *a->data);
  return a->data ? numbers(w, node, a->data, a->rows * a->cols)
                 : dl_fail_memory(w->d);
}

static enum dl_status state(const struct walk *w, dl_node *fit,
                            struct dl_fit *f) {
  struct dl_arrays as = {0};
  enum dl_status status =
      w->writing ? f->method->save(f->state, &as, w->d) : DL_OK;
  dl_node *node = child(w, fit, "state", NULL);
  if (!node)
    return refuse(w, fit, "no state");
  if (status == DL_OK)
    status = texts(w, node, "name", NULL, &as.names);
  if (status == DL_OK)
    status = list(w, node, &(struct list){"array", array, sizeof *as.a}, &as.a,
                  &as.n);
  struct dl_diag inner;
  dl_diag_init(&inner);
  if (status == DL_OK && !w->writing &&
      f->method->restore(f->method, &f->state, &as, f->features.n, &inner) !=
          DL_OK)
    status = refuse(w, node,
                    inner.error ? inner.error : "not a state of this method");
  dl_diag_free(&inner);
  dl_arrays_free(&as);
  return status;
}

static enum dl_status group(const struct walk *w, dl_node *node, void *of) {
  struct dl_group_residuals *g = of;
  const size_t most = sizeof g->value / sizeof *g->value;
  enum dl_status status = fields(w, node, group_fields, g);
  if (!w->writing)
    g->n_values = g->n < most ? g->n : most;
  return status == DL_OK ? numbers(w, node, g->value, g->n_values) : status;
}

static enum dl_status protocol(const struct walk *w, dl_node *node,
                               struct dl_residuals *r) {
  enum dl_status status = fields(w, node, score_fields, &r->pooled);
  if (status == DL_OK)
    status = list(w, node, &(struct list){"group", group, sizeof *r->g}, &r->g,
                  &r->n);
  return status;
}

static enum dl_status residuals(const struct walk *w, dl_node *fit,
                                struct dl_fit *f) {
  enum dl_status status = DL_OK;
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < DL_N_HELD_OUT; i++) {
    if (f->held_out_residuals[i].n == 0)
      continue;
    c = dl_xml_add(w->x, fit, "residuals");
    dl_xml_set(w->x, c, "left_out",
               dl_held_out_group_name((enum dl_held_out_group)i));
    protocol(w, c, &f->held_out_residuals[i]);
  }
  while (!w->writing && status == DL_OK &&
         (c = child(w, fit, "residuals", c))) {
    const char *name = dl_xml_attr(c, "left_out");
    struct dl_residuals *r = NULL;
    for (size_t i = 0; name && i < DL_N_HELD_OUT; i++)
      if (strcmp(name, dl_held_out_group_name((enum dl_held_out_group)i)) == 0)
        r = &f->held_out_residuals[i];
    status = r && !r->g ? protocol(w, c, r)
                        : refuse(w, c, "unknown or repeated protocol");
  }
  return status;
}

static enum dl_status seen(const struct walk *w, dl_node *fit,
                           struct dl_fit *f) {
  enum dl_status status = texts(w, fit, "seen", "arch", &f->archs);
  return status == DL_OK ? texts(w, fit, "seen", "gpu", &f->gpus) : status;
}

static enum dl_status fit(const struct walk *w, dl_node *node, void *of) {
  static enum dl_status (*const parts[])(const struct walk *, dl_node *,
                                         struct dl_fit *) = {
      offset, hyper, features, ranges, state, residuals, seen};
  struct dl_fit *f = of;
  enum dl_status status = fields(w, node, fit_fields, f);
  if (status == DL_OK && (!f->method || !f->target))
    status = refuse(w, node, "no target or method known");
  for (size_t i = 0; i < sizeof parts / sizeof *parts && status == DL_OK; i++)
    status = parts[i](w, node, f);
  return status;
}

static enum dl_status model(const struct walk *w, struct dl_model *m) {
  dl_node *root = dl_xml_root(w->x);
  size_t format = DL_MODEL_FORMAT;
  if (strcmp(dl_xml_name(root), "model") != 0)
    return refuse(w, root, "not a model file");
  enum dl_status status = attribute(w, root, "format", COUNT, &format);
  if (status == DL_OK && format != DL_MODEL_FORMAT && format != 1)
    return dl_fail_at(w->d, DL_EINPUT, dl_xml_path(w->x), dl_xml_line(root),
                      "model format %zu; this dlest reads format %d", format,
                      DL_MODEL_FORMAT);
  if (status == DL_OK)
    status = attribute(w, root, "dlest", TEXT, &m->version);
  dl_node *from = status == DL_OK ? child(w, root, "provenance", NULL) : NULL;
  if (from)
    status = fields(w, from, provenance_fields, m);
  if (status == DL_OK)
    status = list(w, root, &(struct list){"fit", fit, sizeof *m->fit}, &m->fit,
                  &m->n_fits);
  if (status == DL_OK && !w->writing && m->n_fits == 0)
    status = refuse(w, root, "holds no fit");
  return status;
}

enum dl_status dl_model_write(const struct dl_model *m, const char *path,
                              struct dl_diag *d) {
  struct dl_model view = *m; /* only read from */
  struct walk w = {dl_xml_new("model"), d, true};
  char version[] = PACKAGE_VERSION;
  if (!w.x)
    return dl_fail_memory(d);
  view.version = version;
  enum dl_status status = model(&w, &view);
  if (status == DL_OK)
    status = dl_xml_write(w.x, path, d);
  dl_xml_free(w.x);
  return status;
}

enum dl_status dl_model_read(struct dl_model **out, const char *path,
                             const char *schema, struct dl_diag *d) {
  struct walk w = {.d = d};
  *out = NULL;
  enum dl_status status = dl_xml_read(&w.x, path, NULL, d);
  if (status != DL_OK)
    return status;
  struct dl_model *m = dl_calloc(1, sizeof *m);
  if (!m || !(m->path = dl_strdup(path)))
    status = dl_fail_memory(d);
  else
    status = model(&w, m);
  /* Validated last, so that a file of another version or kind is reported as
   * such before the schema complains about its first element. */
  if (status == DL_OK && schema)
    status = dl_xml_validate(w.x, schema, d);
  dl_xml_free(w.x);
  if (status == DL_OK)
    *out = m;
  else
    dl_model_free(m);
  return status;
}
