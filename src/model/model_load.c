/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files: reading. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/xml.h"
#include "model/model.h"
#include "run/formula/formula.h"

/* Where an error is. */
struct reading {
  const struct dl_xml *x;
  struct dl_diag *d;
};

static enum dl_status refuse(const struct reading *r, const dl_node *node,
                             const char *what) {
  dl_fail_at(r->d, DL_EINPUT, dl_xml_path(r->x), dl_xml_line(node), "<%s>: %s",
             dl_xml_name(node), what);
  return DL_EINPUT;
}

static enum dl_status copy_attr(const struct reading *r, dl_node *node,
                                const char *name, char **to) {
  const char *value = dl_xml_attr(node, name);
  if (value && !(*to = dl_strdup(value)))
    return dl_fail_memory(r->d);
  return DL_OK;
}

static enum dl_status count_attr(const struct reading *r, dl_node *node,
                                 const char *name, size_t *to) {
  const char *value = dl_xml_attr(node, name);
  if (!value || !dl_parse_count(value, to))
    return refuse(r, node, "a count is missing or invalid");
  return DL_OK;
}

/* An absent number is NaN. */
static enum dl_status number_attr(const struct reading *r, dl_node *node,
                                  const char *name, double *to) {
  const char *value = dl_xml_attr(node, name);
  *to = NAN;
  if (value && !dl_parse_double(value, to))
    return refuse(r, node, "invalid number");
  return DL_OK;
}

/* Exactly `want` numbers separated by blanks. */
static enum dl_status numbers(const struct reading *r, dl_node *node,
                              double *to, size_t want) {
  const char *p = dl_xml_text(node);
  size_t n = 0;
  while (*p) {
    size_t len = strcspn(p, " \t\r\n");
    if (len > 0) {
      if (n == want || dl_parse_number(p, len, &to[n]) != DL_NUMBER_OK)
        return refuse(r, node, "invalid or too many numbers");
      n++;
    }
    p += len;
    p += strspn(p, " \t\r\n");
  }
  return n == want ? DL_OK : refuse(r, node, "too few numbers");
}

/* A formula that this dlest can evaluate. */
static enum dl_status check_formula(const struct reading *r, dl_node *node) {
  struct dl_formula *g;
  struct dl_diag inner;
  dl_diag_init(&inner);
  enum dl_status status = dl_formula_parse(&g, dl_xml_text(node), &inner);
  dl_formula_free(g);
  if (status != DL_OK)
    status = refuse(r, node, inner.error ? inner.error : "invalid formula");
  dl_diag_free(&inner);
  return status;
}

static size_t count(dl_node *node, const char *name) {
  size_t n = 0;
  for (dl_node *c = dl_xml_first(node, name); c; c = dl_xml_next(c, name))
    n++;
  return n;
}

static enum dl_status read_features(const struct reading *r, dl_node *fit,
                                    struct dl_fit *f) {
  dl_node *list = dl_xml_first(fit, "features");
  size_t n = list ? count(list, "feature") : 0;
  if (f->method->predict_rows)
    return n == 0 ? DL_OK
                  : refuse(r, fit, "of a model format before 2; fit it again");
  if (n == 0)
    return refuse(r, fit, "no features");
  dl_node *first = dl_xml_first(list, "feature");
  f->scaled = dl_xml_attr(first, "mean") != NULL;
  if (f->scaled) {
    f->scale.mean = gsl_vector_alloc(n);
    f->scale.sd = gsl_vector_alloc(n);
    if (!f->scale.mean || !f->scale.sd)
      return dl_fail_memory(r->d);
  }
  size_t i = 0;
  for (dl_node *c = first; c; c = dl_xml_next(c, "feature"), i++) {
    enum dl_status status = check_formula(r, c);
    if (status != DL_OK)
      return status;
    if (!dl_strlist_add(&f->features, dl_xml_text(c)))
      return dl_fail_memory(r->d);
    if (!f->scaled)
      continue;
    double mean, sd;
    status = number_attr(r, c, "mean", &mean);
    if (status == DL_OK)
      status = number_attr(r, c, "sd", &sd);
    if (status != DL_OK)
      return status;
    if (isnan(mean) || !(sd > 0))
      return refuse(r, c, "invalid scaling");
    gsl_vector_set(f->scale.mean, i, mean);
    gsl_vector_set(f->scale.sd, i, sd);
  }
  return DL_OK;
}

static enum dl_status read_ranges(const struct reading *r, dl_node *fit,
                                  struct dl_fit *f) {
  f->range = dl_calloc(count(fit, "range"), sizeof *f->range);
  if (!f->range)
    return dl_fail_memory(r->d);
  enum dl_status status = DL_OK;
  for (dl_node *c = dl_xml_first(fit, "range"); c && status == DL_OK;
       c = dl_xml_next(c, "range")) {
    struct dl_range *range = &f->range[f->n_ranges++];
    status = copy_attr(r, c, "name", &range->name);
    if (status == DL_OK)
      status = number_attr(r, c, "low", &range->low);
    if (status == DL_OK)
      status = number_attr(r, c, "high", &range->high);
  }
  return status;
}

enum { MOST_STATE = 1 << 26 }; /* numbers */

static enum dl_status read_array(const struct reading *r, dl_node *node,
                                 struct dl_arrays *as) {
  size_t rows, cols;
  const char *name = dl_xml_attr(node, "name");
  enum dl_status status = count_attr(r, node, "rows", &rows);
  if (status == DL_OK)
    status = count_attr(r, node, "cols", &cols);
  if (status != DL_OK)
    return status;
  if (!name || rows == 0 || cols == 0 || rows > MOST_STATE ||
      cols > MOST_STATE / rows)
    return refuse(r, node, "invalid shape");
  gsl_matrix *m = gsl_matrix_alloc(rows, cols);
  if (!m)
    return dl_fail_memory(r->d);
  status = numbers(r, node, m->data, rows * cols);
  if (status == DL_OK && !dl_arrays_add_matrix(as, name, m))
    status = dl_fail_memory(r->d);
  gsl_matrix_free(m);
  return status;
}

static enum dl_status read_state(const struct reading *r, dl_node *fit,
                                 struct dl_fit *f) {
  dl_node *list = dl_xml_first(fit, "state");
  if (!list)
    return refuse(r, fit, "no state");
  struct dl_arrays as = {0};
  enum dl_status status = DL_OK;
  for (dl_node *c = dl_xml_first(list, "name"); c && status == DL_OK;
       c = dl_xml_next(c, "name"))
    if (!dl_strlist_add(&as.names, dl_xml_text(c)))
      status = dl_fail_memory(r->d);
  for (dl_node *c = dl_xml_first(list, "array"); c && status == DL_OK;
       c = dl_xml_next(c, "array"))
    status = read_array(r, c, &as);
  struct dl_diag inner;
  dl_diag_init(&inner);
  if (status == DL_OK &&
      f->method->restore(&f->state, &as, f->features.n, &inner) != DL_OK)
    status = refuse(r, list,
                    inner.error ? inner.error : "not a state of this method");
  dl_diag_free(&inner);
  dl_arrays_free(&as);
  return status;
}

static enum dl_status read_group(const struct reading *r, dl_node *node,
                                 struct dl_group_residuals *g) {
  enum dl_status status = copy_attr(r, node, "name", &g->name);
  if (status == DL_OK)
    status = count_attr(r, node, "n", &g->n);
  const size_t most = sizeof g->value / sizeof *g->value;
  if (status == DL_OK) {
    g->n_values = g->n < most ? g->n : most;
    status = numbers(r, node, g->value, g->n_values);
  }
  return status;
}

static enum dl_status read_scores(const struct reading *r, dl_node *node,
                                  struct dl_scores *s) {
  const struct {
    const char *name;
    double *to;
  } scores[] = {{"r2", &s->r2},     {"rmse", &s->rmse},
                {"mae", &s->mae},   {"mape", &s->mape},
                {"bias", &s->bias}, {"median_ape", &s->median_ape}};
  enum dl_status status = count_attr(r, node, "n", &s->n);
  for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
    if (status == DL_OK)
      status = number_attr(r, node, scores[i].name, scores[i].to);
  return status;
}

static enum dl_status read_residuals(const struct reading *r, dl_node *node,
                                     struct dl_fit *f) {
  const char *name = dl_xml_attr(node, "left_out");
  struct dl_residuals *res = NULL;
  for (size_t i = 0; i < DL_N_LEFT_OUT; i++)
    if (name && strcmp(name, dl_left_out_name((enum dl_left_out)i)) == 0)
      res = &f->left_out[i];
  if (!res || res->g)
    return refuse(r, node, "unknown or repeated protocol");
  enum dl_status status = read_scores(r, node, &res->pooled);
  res->g = dl_calloc(count(node, "group"), sizeof *res->g);
  if (!res->g)
    return dl_fail_memory(r->d);
  for (dl_node *c = dl_xml_first(node, "group"); c && status == DL_OK;
       c = dl_xml_next(c, "group"))
    status = read_group(r, c, &res->g[res->n++]);
  return status;
}

static enum dl_status read_hyper(const struct reading *r, dl_node *node,
                                 struct dl_fit *f) {
  const char *name = dl_xml_attr(node, "name");
  for (size_t i = 0; i < f->method->n_hyper; i++)
    if (name && strcmp(name, f->method->hyper[i].name) == 0)
      return numbers(r, node, &f->hyper[i], 1);
  return refuse(r, node, "not a hyper-parameter of this method");
}

/* The parts that come in any number. */
static enum dl_status read_parts(const struct reading *r, dl_node *node,
                                 struct dl_fit *f) {
  enum dl_status status = DL_OK;
  for (dl_node *c = dl_xml_first(node, NULL); c && status == DL_OK;
       c = dl_xml_next(c, NULL)) {
    const char *name = dl_xml_name(c);
    if (strcmp(name, "hyper") == 0) {
      status = read_hyper(r, c, f);
    } else if (strcmp(name, "residuals") == 0) {
      status = read_residuals(r, c, f);
    } else if (strcmp(name, "seen") == 0) {
      const char *what = dl_xml_attr(c, "what");
      bool gpu = what && strcmp(what, "gpu") == 0;
      if (!dl_strlist_add(gpu ? &f->gpus : &f->archs, dl_xml_text(c)))
        status = dl_fail_memory(r->d);
    }
  }
  return status;
}

static enum dl_status read_method(const struct reading *r, dl_node *node,
                                  struct dl_fit *f) {
  const char *log_target = dl_xml_attr(node, "log");
  const char *method = dl_xml_attr(node, "method");
  f->log_target = log_target && strcmp(log_target, "true") == 0;
  f->method = method ? dl_regression_find(method) : NULL;
  return f->method && f->target ? DL_OK
                                : refuse(r, node, "no target or method known");
}

static enum dl_status read_fit(const struct reading *r, dl_node *node,
                               struct dl_fit *f) {
  enum dl_status status = copy_attr(r, node, "target", &f->target);
  if (status == DL_OK)
    status = copy_attr(r, node, "unit", &f->unit);
  if (status == DL_OK)
    status = copy_attr(r, node, "boundary", &f->boundary);
  if (status == DL_OK)
    status = count_attr(r, node, "rows", &f->n);
  if (status == DL_OK)
    status = count_attr(r, node, "configurations", &f->configurations);
  if (status == DL_OK)
    status = read_method(r, node, f);
  dl_node *offset = dl_xml_first(node, "offset");
  if (status == DL_OK && offset)
    status = check_formula(r, offset);
  if (status == DL_OK && offset &&
      !(f->offset = dl_strdup(dl_xml_text(offset))))
    status = dl_fail_memory(r->d);
  if (status == DL_OK)
    status = read_features(r, node, f);
  if (status == DL_OK)
    status = read_ranges(r, node, f);
  if (status == DL_OK)
    status = read_parts(r, node, f);
  if (status == DL_OK)
    status = read_state(r, node, f);
  return status;
}

static enum dl_status read_root(const struct reading *r, struct dl_model *m) {
  dl_node *root = dl_xml_root(r->x);
  size_t format = 0;
  if (strcmp(dl_xml_name(root), "model") != 0)
    return refuse(r, root, "not a model file");
  enum dl_status status = count_attr(r, root, "format", &format);
  if (status != DL_OK)
    return status;
  if (format != DL_MODEL_FORMAT && format != 1)
    return dl_fail_at(r->d, DL_EINPUT, dl_xml_path(r->x), dl_xml_line(root),
                      "model format %zu; this dlest reads format %d", format,
                      DL_MODEL_FORMAT);
  status = copy_attr(r, root, "dlest", &m->version);
  dl_node *from = dl_xml_first(root, "provenance");
  if (status != DL_OK || !from)
    return status;
  status = copy_attr(r, from, "source", &m->source);
  if (status == DL_OK)
    status = copy_attr(r, from, "xxh3_128", &m->digest);
  if (status == DL_OK)
    status = copy_attr(r, from, "citation", &m->citation);
  if (status == DL_OK)
    status = copy_attr(r, from, "options", &m->options);
  return status == DL_OK ? count_attr(r, from, "rows", &m->rows) : status;
}

static enum dl_status read_model(const struct reading *r, struct dl_model *m) {
  enum dl_status status = read_root(r, m);
  if (status != DL_OK)
    return status;
  dl_node *root = dl_xml_root(r->x);
  m->fit = dl_calloc(count(root, "fit"), sizeof *m->fit);
  if (!m->fit)
    return dl_fail_memory(r->d);
  for (dl_node *c = dl_xml_first(root, "fit"); c && status == DL_OK;
       c = dl_xml_next(c, "fit"))
    status = read_fit(r, c, &m->fit[m->n_fits++]);
  if (status == DL_OK && m->n_fits == 0)
    status = refuse(r, root, "holds no fit");
  return status;
}

enum dl_status dl_model_read(struct dl_model **out, const char *path,
                             const char *schema, struct dl_diag *d) {
  *out = NULL;
  struct dl_xml *x;
  enum dl_status status = dl_xml_read(&x, path, NULL, d);
  if (status != DL_OK)
    return status;
  struct reading r = {x, d};
  struct dl_model *m = dl_calloc(1, sizeof *m);
  if (!m || !(m->path = dl_strdup(path)))
    status = dl_fail_memory(d);
  else
    status = read_model(&r, m);
  /* Validated last, so that a file of another version or another kind is
   * told apart before the schema complains about its first element. */
  if (status == DL_OK && schema)
    status = dl_xml_validate(x, schema, d);
  dl_xml_free(x);
  if (status != DL_OK) {
    dl_model_free(m);
    return status;
  }
  *out = m;
  return DL_OK;
}
