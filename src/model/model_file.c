/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files: writing. The form is described by models/model.rng. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "config.h"
#include "io/xml.h"
#include "model/model.h"

/* An element being written and the document it belongs to. */
struct at {
  struct dl_xml *x;
  dl_node *node;
};

static struct at child(struct at a, const char *name) {
  return (struct at){a.x, dl_xml_add(a.x, a.node, name)};
}

static void text_attr(struct at a, const char *name, const char *value) {
  if (value)
    dl_xml_set(a.x, a.node, name, value);
}

static void number_attr(struct at a, const char *name, double x) {
  if (isnan(x))
    return; /* unknown: left out */
  char buf[DL_NUMBER_SIZE];
  dl_xml_set(a.x, a.node, name, dl_format_exact(buf, x));
}

static void count_attr(struct at a, const char *name, size_t n) {
  char buf[DL_NUMBER_SIZE];
  snprintf(buf, sizeof buf, "%zu", n);
  dl_xml_set(a.x, a.node, name, buf);
}

static void numbers(struct at a, const double *v, size_t n) {
  struct dl_text t = {0};
  char buf[DL_NUMBER_SIZE];
  for (size_t i = 0; i < n; i++) {
    if (i > 0)
      dl_text_add(&t, " ");
    dl_text_add(&t, dl_format_exact(buf, v[i]));
  }
  dl_xml_set_text(a.x, a.node, dl_text_str(&t));
  dl_text_free(&t);
}

static void text_child(struct at a, const char *name, const char *text) {
  struct at c = child(a, name);
  dl_xml_set_text(c.x, c.node, text);
}

static void write_features(struct at fit, const struct dl_fit *f) {
  struct at list = {fit.x, NULL};
  if (f->features.n > 0)
    list = child(fit, "features");
  for (size_t i = 0; i < f->features.n; i++) {
    struct at c = child(list, "feature");
    if (f->scaled) {
      number_attr(c, "mean", gsl_vector_get(f->scale.mean, i));
      number_attr(c, "sd", gsl_vector_get(f->scale.sd, i));
    }
    dl_xml_set_text(c.x, c.node, f->features.s[i]);
  }
  for (size_t i = 0; i < f->n_ranges; i++) {
    struct at c = child(fit, "range");
    text_attr(c, "name", f->range[i].name);
    number_attr(c, "low", f->range[i].low);
    number_attr(c, "high", f->range[i].high);
  }
}

static enum dl_status write_state(struct at fit, const struct dl_fit *f,
                                  struct dl_diag *d) {
  struct dl_arrays arrays = {0};
  enum dl_status status = f->method->save(f->state, &arrays, d);
  struct at list = child(fit, "state");
  for (size_t i = 0; status == DL_OK && i < arrays.names.n; i++)
    text_child(list, "name", arrays.names.s[i]);
  for (size_t i = 0; status == DL_OK && i < arrays.n; i++) {
    const struct dl_array *a = &arrays.a[i];
    struct at c = child(list, "array");
    text_attr(c, "name", a->name);
    count_attr(c, "rows", a->rows);
    count_attr(c, "cols", a->cols);
    numbers(c, a->data, a->rows * a->cols);
  }
  dl_arrays_free(&arrays);
  return status;
}

static void write_residuals(struct at fit, const struct dl_residuals *r,
                            enum dl_left_out left) {
  if (r->n == 0)
    return;
  struct at list = child(fit, "residuals");
  text_attr(list, "left_out", dl_left_out_name(left));
  count_attr(list, "n", r->pooled.n);
  number_attr(list, "r2", r->pooled.r2);
  number_attr(list, "rmse", r->pooled.rmse);
  number_attr(list, "mae", r->pooled.mae);
  number_attr(list, "mape", r->pooled.mape);
  number_attr(list, "median_ape", r->pooled.median_ape);
  number_attr(list, "bias", r->pooled.bias);
  for (size_t i = 0; i < r->n; i++) {
    struct at c = child(list, "group");
    text_attr(c, "name", r->g[i].name);
    count_attr(c, "n", r->g[i].n);
    numbers(c, r->g[i].value, r->g[i].n_values);
  }
}

static void write_seen(struct at fit, const struct dl_strlist *l,
                       const char *what) {
  for (size_t i = 0; i < l->n; i++) {
    struct at c = child(fit, "seen");
    text_attr(c, "what", what);
    dl_xml_set_text(c.x, c.node, l->s[i]);
  }
}

static enum dl_status write_fit(struct at root, const struct dl_fit *f,
                                struct dl_diag *d) {
  struct at fit = child(root, "fit");
  text_attr(fit, "target", f->target);
  text_attr(fit, "unit", f->unit);
  text_attr(fit, "boundary", f->boundary);
  text_attr(fit, "log", f->log_target ? "true" : "false");
  text_attr(fit, "method", f->method->name);
  count_attr(fit, "rows", f->n);
  count_attr(fit, "configurations", f->configurations);
  if (f->offset)
    text_child(fit, "offset", f->offset);
  for (size_t i = 0; i < f->method->n_hyper; i++) {
    struct at c = child(fit, "hyper");
    text_attr(c, "name", f->method->hyper[i].name);
    numbers(c, &f->hyper[i], 1);
  }
  write_features(fit, f);
  enum dl_status status = write_state(fit, f, d);
  for (size_t i = 0; i < DL_N_LEFT_OUT; i++)
    write_residuals(fit, &f->left_out[i], (enum dl_left_out)i);
  write_seen(fit, &f->archs, "arch");
  write_seen(fit, &f->gpus, "gpu");
  return status;
}

enum dl_status dl_model_write(const struct dl_model *m, const char *path,
                              struct dl_diag *d) {
  struct dl_xml *x = dl_xml_new("model");
  if (!x)
    return dl_fail_memory(d);
  struct at root = {x, dl_xml_root(x)};
  count_attr(root, "format", DL_MODEL_FORMAT);
  text_attr(root, "dlest", PACKAGE_VERSION);
  struct at from = child(root, "provenance");
  text_attr(from, "source", m->source);
  count_attr(from, "rows", m->rows);
  text_attr(from, "xxh3_128", m->digest);
  text_attr(from, "citation", m->citation);
  text_attr(from, "options", m->options);
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < m->n_fits && status == DL_OK; i++)
    status = write_fit(root, &m->fit[i], d);
  if (status == DL_OK)
    status = dl_xml_write(x, path, d);
  dl_xml_free(x);
  return status;
}
