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
#include "model/file_walk_private.h"
#include "model/model.h"
#include "run/formula/formula.h"

static const struct model_field provenance_fields[] = {
    {"source", TEXT, offsetof(struct dl_model, source)},
    {"rows", COUNT, offsetof(struct dl_model, rows)},
    {"xxh3_128", TEXT, offsetof(struct dl_model, digest)},
    {"citation", TEXT, offsetof(struct dl_model, citation)},
    {"options", TEXT, offsetof(struct dl_model, options)},
    {0}};
static const struct model_field fit_fields[] = {
    {"target", TEXT, offsetof(struct dl_fit, target)},
    {"unit", TEXT, offsetof(struct dl_fit, unit)},
    {"boundary", TEXT, offsetof(struct dl_fit, boundary)},
    {"log", FLAG, offsetof(struct dl_fit, log_target)},
    {"method", METHOD, offsetof(struct dl_fit, method)},
    {"rows", COUNT, offsetof(struct dl_fit, n)},
    {"configurations", COUNT, offsetof(struct dl_fit, configurations)},
    {0}};
static const struct model_field before_fields[] = {
    {"rows", COUNT, offsetof(struct dl_fit, n_before)},
    {"configurations", COUNT, offsetof(struct dl_fit, configurations_before)},
    {"gpus", COUNT, offsetof(struct dl_fit, n_gpus_before)},
    {0}};
static const struct model_field run_fields[] = {
    {"file", TEXT, offsetof(struct dl_calibration_run, file)},
    {"line", COUNT, offsetof(struct dl_calibration_run, line)},
    {0}};
static const struct model_field range_fields[] = {
    {"name", TEXT, offsetof(struct dl_range, name)},
    {"low", NUMBER, offsetof(struct dl_range, low)},
    {"high", NUMBER, offsetof(struct dl_range, high)},
    {0}};
static const struct model_field score_fields[] = {
    {"n", COUNT, offsetof(struct dl_scores, n)},
    {"r2", NUMBER, offsetof(struct dl_scores, r2)},
    {"rmse", NUMBER, offsetof(struct dl_scores, rmse)},
    {"mae", NUMBER, offsetof(struct dl_scores, mae)},
    {"mape", NUMBER, offsetof(struct dl_scores, mape)},
    {"median_ape", NUMBER, offsetof(struct dl_scores, median_ape)},
    {"bias", NUMBER, offsetof(struct dl_scores, bias)},
    {0}};
static const struct model_field group_fields[] = {
    {"name", TEXT, offsetof(struct dl_group_residuals, name)},
    {"n", COUNT, offsetof(struct dl_group_residuals, n)},
    {0}};
static const struct model_field times_fields[] = {
    {"software", TEXT, offsetof(struct dl_time_residuals, software)}, {0}};
static const struct model_field array_fields[] = {
    {"rows", COUNT, offsetof(struct dl_array, rows)},
    {"cols", COUNT, offsetof(struct dl_array, cols)},
    {0}};

/* A formula that this dlest can evaluate. */
static enum dl_status check_formula(const struct model_walk *w, dl_node *node) {
  struct dl_formula *g;
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  enum dl_status status = dl_formula_parse(&g, dl_xml_text(node), &inner);
  dl_formula_free(g);
  return status == DL_OK
             ? DL_OK
             : dl_walk_refuse(w, node,
                              dl_text_or(inner.error, "invalid formula"));
}

static enum dl_status offset(const struct model_walk *w, dl_node *fit,
                             struct dl_fit *f) {
  dl_node *node =
      w->writing && !f->offset ? NULL : dl_walk_child(w, fit, "offset", NULL);
  if (!node)
    return DL_OK;
  if (w->writing) {
    dl_xml_set_text(w->x, node, f->offset);
    return DL_OK;
  }
  DL_TRY(check_formula(w, node));
  f->offset = dl_strdup(dl_xml_text(node));
  return DL_OK;
}

static enum dl_status hyper(const struct model_walk *w, dl_node *fit,
                            struct dl_fit *f) {
  enum dl_status status = DL_OK;
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < f->method->n_hyper; i++) {
    c = dl_xml_add(w->x, fit, "hyper");
    dl_xml_set(w->x, c, "name", f->method->hyper[i].name);
    dl_walk_numbers(w, c, &f->hyper[i], 1);
  }
  while (!w->writing && status == DL_OK &&
         (c = dl_walk_child(w, fit, "hyper", c))) {
    const char *name = dl_xml_attr(c, "name");
    size_t i = 0;
    while (i < f->method->n_hyper &&
           !(name && strcmp(name, f->method->hyper[i].name) == 0))
      i++;
    status = i < f->method->n_hyper
                 ? dl_walk_numbers(w, c, &f->hyper[i], 1)
                 : dl_walk_refuse(w, c, "not a hyper-parameter of this method");
  }
  return status;
}

static enum dl_status features(const struct model_walk *w, dl_node *fit,
                               struct dl_fit *f) {
  if (w->writing && f->features.n == 0)
    return DL_OK;
  dl_node *parent = dl_walk_child(w, fit, "features", NULL), *c = NULL;
  if (parent)
    dl_walk_texts(w, parent, "feature", NULL, &f->features);
  if (f->method->physics)
    return f->features.n == 0
               ? DL_OK
               : dl_walk_refuse(w, fit,
                                "of a model format before 2");
  if (f->features.n == 0)
    return dl_walk_refuse(w, fit, "no features");
  enum dl_status status = DL_OK;
  c = dl_xml_first(parent, "feature");
  if (!w->writing && (f->scaled = dl_xml_attr(c, "mean") != NULL)) {
    f->scale.mean = gsl_vector_alloc(f->features.n);
    f->scale.sd = gsl_vector_alloc(f->features.n);
  }
  for (size_t i = 0; c && i < f->features.n && status == DL_OK; i++) {
    double *mean = f->scaled ? gsl_vector_ptr(f->scale.mean, i) : NULL;
    double *sd = f->scaled ? gsl_vector_ptr(f->scale.sd, i) : NULL;
    status = w->writing ? DL_OK : check_formula(w, c);
    if (status == DL_OK && mean)
      status = dl_walk_attribute(w, c, "mean", NUMBER, mean);
    if (status == DL_OK && mean)
      status = dl_walk_attribute(w, c, "sd", NUMBER, sd);
    if (status == DL_OK && mean && (isnan(*mean) || !(*sd > 0)))
      status = dl_walk_refuse(w, c, "invalid scaling");
    c = dl_xml_next(c, "feature");
  }
  return status;
}

enum { MOST_STATE = 1 << 26 }; /* numbers */

/* The array of that name and shape in the state before. */
static const struct dl_array *find_before(const struct model_walk *w,
                                          const struct dl_array *a) {
  const struct dl_array *same = dl_arrays_find(w->before, a->name);
  return same && same->rows == a->rows && same->cols == a->cols ? same : NULL;
}

/* Targets of one physics have most of their arrays in common: what equals the
 * state before is not written again. */
static enum dl_status write_array(const struct model_walk *w, dl_node *node,
                                  const struct dl_array *a) {
  size_t n = a->rows * a->cols;
  const struct dl_array *same = find_before(w, a);
  if (!same || memcmp(same->data, a->data, n * sizeof *a->data) != 0)
    return dl_walk_numbers(w, node, a->data, n);
  dl_xml_set(w->x, node, "as_before", "true");
  return DL_OK;
}

static enum dl_status array(const struct model_walk *w, dl_node *node,
                            void *of) {
  struct dl_array *a = of;
  const char *name = dl_xml_attr(node, "name");
  if (w->writing)
    dl_xml_set(w->x, node, "name", a->name);
  DL_TRY(dl_walk_fields(w, node, array_fields, a));
  if (w->writing)
    return write_array(w, node, a);
  if (!name || a->rows == 0 || a->cols == 0 || a->rows > MOST_STATE ||
      a->cols > MOST_STATE / a->rows)
    return dl_walk_refuse(w, node, "invalid shape");
  snprintf(a->name, sizeof a->name, "%s", name);
  size_t n = a->rows * a->cols;
  const struct dl_array *same = find_before(w, a);
  bool as_before = dl_xml_attr(node, "as_before");
  if (as_before && !same)
    return dl_walk_refuse(w, node, "no such array in the state before");
  a->data = dl_calloc(n, sizeof *a->data);
  if (!as_before)
    return dl_walk_numbers(w, node, a->data, n);
  memcpy(a->data, same->data, n * sizeof *a->data);
  return DL_OK;
}

/* The names and arrays of a state of f's method. */
static enum dl_status state(const struct model_walk *w, dl_node *node,
                            const struct dl_fit *f, void **state) {
  static const struct model_list arrays = {"array", sizeof(struct dl_array),
                                           NULL, array};
  struct dl_arrays as = {0};
  if (w->writing)
    f->method->save(*state, &as);
  dl_walk_texts(w, node, "name", NULL, &as.names);
  enum dl_status status = dl_walk_list(w, node, &arrays, &as.a, &as.n);
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  if (status == DL_OK && !w->writing &&
      f->method->restore(f->method, state, &as, f->features.n, &inner) != DL_OK)
    status = dl_walk_refuse(
        w, node, dl_text_or(inner.error, "not a state of this method"));
  dl_arrays_free(w->before);
  *w->before = as;
  return status;
}

static enum dl_status states(const struct model_walk *w, dl_node *fit,
                             struct dl_fit *f) {
  dl_node *node = dl_walk_child(w, fit, "state", NULL);
  if (!node)
    return dl_walk_refuse(w, fit, "no state");
  DL_TRY(state(w, node, f, &f->state));
  node = w->writing && !f->state_before
             ? NULL
             : dl_walk_child(w, fit, "uncalibrated", NULL);
  if (!node)
    return DL_OK;
  DL_TRY(dl_walk_fields(w, node, before_fields, f));
  return state(w, node, f, &f->state_before);
}

static enum dl_status group(const struct model_walk *w, dl_node *node,
                            void *of) {
  struct dl_group_residuals *g = of;
  const size_t most = sizeof g->value / sizeof *g->value;
  double number[2 * sizeof g->value / sizeof *g->value];
  if (!w->writing) {
    g->n_values = g->n < most ? g->n : most;
    g->by_run = dl_xml_attr(node, "by_run");
  } else if (g->by_run) {
    dl_xml_set(w->x, node, "by_run", "true");
  }
  size_t n = g->n_values, size = n * sizeof *number;
  memcpy(number, g->value, size);
  memcpy(number + n, g->spread, size);
  enum dl_status status =
      dl_walk_numbers(w, node, number, g->by_run ? 2 * n : n);
  memcpy(g->value, number, size);
  memcpy(g->spread, number + n, size);
  return status;
}

static enum dl_status protocol(const struct model_walk *w, dl_node *node,
                               struct dl_residuals *r) {
  static const struct model_list groups = {
      "group", sizeof(struct dl_group_residuals), group_fields, group};
  DL_TRY(dl_walk_fields(w, node, score_fields, &r->pooled));
  return dl_walk_list(w, node, &groups, &r->g, &r->n);
}

/* Residuals of each protocol, DL_N_HELD_OUT of them. */
static enum dl_status protocols(const struct model_walk *w, dl_node *parent,
                                struct dl_residuals *held_out) {
  enum dl_status status = DL_OK;
  dl_node *c = NULL;
  for (size_t i = 0; w->writing && i < DL_N_HELD_OUT; i++) {
    if (held_out[i].n == 0)
      continue;
    c = dl_xml_add(w->x, parent, "residuals");
    dl_xml_set(w->x, c, "left_out",
               dl_held_out_group_name((enum dl_held_out_group)i));
    protocol(w, c, &held_out[i]);
  }
  while (!w->writing && status == DL_OK &&
         (c = dl_walk_child(w, parent, "residuals", c))) {
    const char *name = dl_xml_attr(c, "left_out");
    struct dl_residuals *r = NULL;
    for (size_t i = 0; name && i < DL_N_HELD_OUT; i++)
      if (strcmp(name, dl_held_out_group_name((enum dl_held_out_group)i)) == 0)
        r = &held_out[i];
    status = r && !r->g ? protocol(w, c, r)
                        : dl_walk_refuse(w, c, "unknown or repeated protocol");
  }
  return status;
}

/* A setting has the residuals of its values. */
static enum dl_status range(const struct model_walk *w, dl_node *node,
                            void *of) {
  const char *setting = dl_held_out_group_name(DL_HELD_OUT_SETTING);
  struct dl_range *r = of;
  dl_node *c = w->writing && r->held_out.n == 0
                   ? NULL
                   : dl_walk_child(w, node, "residuals", NULL);
  if (c && w->writing)
    dl_xml_set(w->x, c, "left_out", setting);
  return c ? protocol(w, c, &r->held_out) : DL_OK;
}

static enum dl_status times(const struct model_walk *w, dl_node *node,
                            void *of) {
  struct dl_time_residuals *t = of;
  return t->software ? protocols(w, node, t->held_out)
                     : dl_walk_refuse(w, node, "no software");
}

static enum dl_status fit(const struct model_walk *w, dl_node *node, void *of) {
  static const struct model_list of_ranges = {"range", sizeof(struct dl_range),
                                              range_fields, range};
  static const struct model_list of_times = {
      "times", sizeof(struct dl_time_residuals), times_fields, times};
  struct dl_fit *f = of;
  if (!f->method || !f->target)
    return dl_walk_refuse(w, node, "no target or method known");
  DL_TRY(offset(w, node, f));
  DL_TRY(hyper(w, node, f));
  DL_TRY(features(w, node, f));
  DL_TRY(dl_walk_list(w, node, &of_ranges, &f->range, &f->n_ranges));
  DL_TRY(states(w, node, f));
  DL_TRY(protocols(w, node, f->held_out_residuals));
  DL_TRY(dl_walk_list(w, node, &of_times, &f->times, &f->n_times));
  dl_walk_texts(w, node, "seen", "arch", &f->archs);
  dl_walk_texts(w, node, "seen", "gpu", &f->gpus);
  return DL_OK;
}

static enum dl_status run(const struct model_walk *w, dl_node *node, void *of) {
  dl_walk_texts(w, node, "value", NULL,
                &((struct dl_calibration_run *)of)->value);
  return DL_OK;
}

/* The runs of a calibrated model. */
static enum dl_status runs(const struct model_walk *w, dl_node *root,
                           struct dl_calibration_runs *runs) {
  static const struct model_list each = {
      "run", sizeof(struct dl_calibration_run), run_fields, run};
  dl_node *node = w->writing && runs->n == 0
                      ? NULL
                      : dl_walk_child(w, root, "calibration", NULL);
  enum dl_status status =
      node ? dl_walk_list(w, node, &each, &runs->run, &runs->n) : DL_OK;
  runs->cap = runs->n;
  return status;
}

static enum dl_status model(const struct model_walk *w, struct dl_model *m) {
  static const struct model_list fits = {"fit", sizeof(struct dl_fit),
                                         fit_fields, fit};
  dl_node *root = dl_xml_root(w->x);
  size_t format = DL_MODEL_FORMAT;
  if (strcmp(dl_xml_name(root), "model") != 0)
    return dl_walk_refuse(w, root, "not a model file");
  DL_TRY(dl_walk_attribute(w, root, "dlest", TEXT, &m->version));
  dl_node *from = dl_walk_child(w, root, "provenance", NULL);
  if (from)
    DL_TRY(dl_walk_fields(w, from, provenance_fields, m));
  DL_TRY(dl_walk_attribute(w, root, "format", COUNT, &format));
  if (format != DL_MODEL_FORMAT && format != 1)
    return dl_fail_at(w->d, DL_EINPUT, dl_xml_path(w->x), dl_xml_line(root),
                      "model format %zu; this dlest reads format %d", format,
                      DL_MODEL_FORMAT);
  DL_TRY(runs(w, root, &m->runs));
  DL_TRY(dl_walk_list(w, root, &fits, &m->fit, &m->n_fits));
  return w->writing || m->n_fits > 0 ? DL_OK
                                     : dl_walk_refuse(w, root, "holds no fit");
}

enum dl_status dl_model_write(const struct dl_model *m, const char *path,
                              struct dl_diag *d) {
  struct dl_model view = *m; /* only read from */
  DL_SCOPED(dl_arrays_free) struct dl_arrays before = {0};
  struct model_walk w = {dl_xml_new("model"), d, true, &before};
  char version[] = PACKAGE_VERSION;
  view.version = version;
  enum dl_status status = model(&w, &view);
  if (status == DL_OK)
    status = dl_xml_write(w.x, path, d);
  dl_xml_free(w.x);
  return status;
}

/* Reports why a model was refused; for a file of another version or format,
 * with the command that makes it again. */
static enum dl_status refused(const struct model_walk *w,
                              const struct dl_model *m, struct dl_diag *why,
                              struct dl_diag *d) {
  const char *format = dl_xml_attr(dl_xml_root(w->x), "format");
  enum dl_status status = why->status;
  if (m->version && format &&
      (strcmp(m->version, PACKAGE_VERSION) != 0 || strcmp(format, "2") != 0))
    return dl_fail(d, status,
                   "%s; the file is of dlest %s; make it again: %s -o %s",
                   why->error, m->version, dl_text_or(m->options, "dlest fit"),
                   m->path);
  dl_diag_take(d, why);
  return status;
}

enum dl_status dl_model_read(struct dl_model **out, const char *path,
                             const char *schema, struct dl_diag *d) {
  struct dl_arrays before = {0};
  DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
  struct model_walk w = {.d = &why, .before = &before};
  *out = NULL;
  enum dl_status status = dl_xml_read(&w.x, path, NULL, d);
  if (status != DL_OK)
    return status;
  struct dl_model *m = dl_calloc(1, sizeof *m);
  m->path = dl_strdup(path);
  status = model(&w, m);
  dl_arrays_free(&before);
  if (status == DL_OK)
    dl_diag_take(d, &why);
  else
    refused(&w, m, &why, d);
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
