/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/replicates.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "run/config_key.h"

/* A running mean (Welford's recurrence). */
struct mean {
  size_t n;
  double x, squares;
};

struct sums {
  struct mean energy, duration, accuracy;
};

struct reading {
  struct dl_frame *f;
  struct dl_repeats *l;
  struct dl_key_maker *key;
  struct dl_intern configs;
  struct sums *sums; /* one a repeat */
  size_t cap, cap_sums;
  struct dl_row_ref accuracy; /* no column of the runs table */
  struct dl_row *row;
};

void dl_repeats_free(struct dl_repeats *l) {
  for (size_t i = 0; i < l->n; i++) {
    free(l->r[i].arch);
    free(l->r[i].gpu);
    free(l->r[i].boundary);
  }
  free(l->r);
  *l = (struct dl_repeats){0};
}

static void add(struct mean *m, double x) {
  if (isnan(x))
    return;
  double delta = x - m->x;
  m->n++;
  m->x += delta / (double)m->n;
  m->squares += delta * (x - m->x);
}

static double mean_of(const struct mean *m) {
  return m->n > 0 ? m->x : (double)NAN;
}

/* Half the interval of a mean. */
static double half_width(const struct mean *m, double coverage) {
  if (m->n < 2)
    return NAN;
  double n = (double)m->n, t = gsl_cdf_tdist_Pinv((1 + coverage) / 2, n - 1);
  return t * sqrt(m->squares / (n - 1) / n);
}

static bool copy(char **to, const char *text) {
  *to = text ? dl_strdup(text) : NULL;
  return !text || *to;
}

/* Settings of the first run of a configuration. */
static enum dl_status begin(struct reading *w, struct dl_diag *d) {
  void *list = w->l->r, *sums = w->sums;
  const struct dl_run *run = &w->row->run;
  if (!dl_grow(&list, &w->cap, w->l->n + 1, sizeof *w->l->r))
    return dl_fail_memory(d);
  w->l->r = list;
  if (!dl_grow(&sums, &w->cap_sums, w->l->n + 1, sizeof *w->sums))
    return dl_fail_memory(d);
  w->sums = sums;
  w->sums[w->l->n] = (struct sums){0};
  struct dl_repeat *r = &w->l->r[w->l->n++];
  *r = (struct dl_repeat){.arch_known = w->row->found.arch,
                          .gpu_known = w->row->found.gpu,
                          .n_gpus = run->n_gpus,
                          .image_px = run->image_px,
                          .seq_len = run->seq_len,
                          .batch_size = run->batch_size};
  bool ok = copy(&r->arch, run->arch) && copy(&r->gpu, run->gpu) &&
            copy(&r->boundary, run->boundary);
  return ok ? DL_OK : dl_fail_memory(d);
}

static enum dl_status add_row(struct reading *w, struct dl_diag *d) {
  struct dl_text key = {0};
  const struct dl_run *run = &w->row->run;
  dl_text_add(&key, run->config ? run->config : "");
  if (key.len == 0 && w->key)
    dl_key_make(w->key, w->row, &key);
  size_t before = w->configs.n;
  long i = key.failed ? -1 : dl_intern(&w->configs, dl_text_str(&key));
  dl_text_free(&key);
  if (i < 0)
    return dl_fail_memory(d);
  enum dl_status status = DL_OK;
  if (w->configs.n > before)
    status = begin(w, d);
  if (status != DL_OK)
    return status;
  add(&w->sums[i].energy, run->energy_j);
  add(&w->sums[i].duration, run->duration_s);
  add(&w->sums[i].accuracy, dl_row_number(w->row, &w->accuracy));
  return DL_OK;
}

static enum dl_status bind(struct reading *w, struct dl_diag *d) {
  static const char *const columns[] = {
      "arch",    "gpu",        "boundary", "config",     "n_gpus",  "image_px",
      "seq_len", "batch_size", "energy_j", "duration_s", "accuracy"};
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < sizeof columns / sizeof *columns && status == DL_OK;
       i++) /* the last is the accuracy */
    status = dl_frame_quantity(
        w->f, columns[i], strcmp(columns[i], "energy_j") == 0, &w->accuracy, d);
  if (status == DL_OK)
    status = dl_key_maker_new(&w->key, w->f, d);
  if (status == DL_OK)
    status = dl_frame_want_descriptors(w->f, d);
  if (status == DL_OK && !(w->row = dl_frame_rows(w->f, 1)))
    status = dl_fail_memory(d);
  return status;
}

/* Accuracy is no column of the runs table, which would see to it. */
static bool is_bad(const struct reading *w, const struct dl_csv *csv,
                   size_t line, struct dl_diag *d) {
  const char *text = dl_row_text(w->row, &w->accuracy);
  if (!text || !isnan(dl_row_number(w->row, &w->accuracy)))
    return false;
  dl_skip_at(d, dl_csv_path(csv), line,
             "column 'accuracy': invalid number '%.64s'", text);
  return true;
}

static enum dl_status read_rows(struct reading *w, struct dl_csv *csv,
                                struct dl_diag *d) {
  const struct dl_csv_block *block;
  enum dl_status status;
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block) {
    status = dl_frame_block(w->f, block, d);
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++) {
      dl_frame_row(w->f, block, i, w->row);
      if (w->row->fault.kind != DL_FAULT_NONE)
        status = dl_frame_complain(w->f, w->row, dl_csv_path(csv),
                                   block->line[i], d);
      else if (!is_bad(w, csv, block->line[i], d))
        status = add_row(w, d);
    }
    if (status != DL_OK)
      return status;
  }
  return status;
}

enum dl_status dl_repeats_read(struct dl_repeats *l, struct dl_csv *csv,
                               struct dl_frame *f, double coverage,
                               struct dl_diag *d) {
  struct reading w = {.f = f, .l = l};
  enum dl_status status = bind(&w, d);
  if (status == DL_OK)
    status = read_rows(&w, csv, d);
  for (size_t i = 0; i < l->n; i++) {
    struct dl_repeat *r = &l->r[i];
    double half = half_width(&w.sums[i].energy, coverage);
    r->n = w.sums[i].energy.n;
    r->energy_j = mean_of(&w.sums[i].energy);
    r->low_j = r->energy_j - half;
    r->high_j = r->energy_j + half;
    r->duration_s = mean_of(&w.sums[i].duration);
    r->accuracy = mean_of(&w.sums[i].accuracy);
  }
  if (status == DL_OK && l->n == 0)
    status = dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0, "no usable row");
  dl_key_maker_free(w.key);
  dl_intern_free(&w.configs);
  free(w.sums);
  free(w.row);
  return status;
}
