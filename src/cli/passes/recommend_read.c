/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices for dlest recommend: estimated, or measured. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/passes/recommend.h"

void dl_recommend_free(struct dl_recommend_data *r) {
  dl_choices_free(&r->choices);
  dl_repeats_free(&r->repeats);
  dl_measured_free(&r->measured);
  dl_recommend_free_nodes(r);
  dl_session_free(r->session);
  dl_model_free(r->m);
  dl_frame_free(r->f);
}

enum dl_status dl_recommend_estimate(struct dl_cli *cli,
                                     struct dl_recommend_options *o,
                                     struct dl_recommend_data *r) {
  struct dl_diag *d = &cli->diag;
  r->f = dl_frame_new(dl_cli_catalog(cli));
  DL_TRY(dl_frame_axes(r->f, &o->job.axes, d));
  DL_TRY(dl_job_options_apply(&o->job, r->f, dl_cli_catalog(cli), true, d));
  DL_TRY(dl_session_new(&r->session, r->f, r->m, o->method, o->coverage, d));
  DL_TRY(dl_session_find_families(r->session, NULL, dl_cli_catalog(cli), d));
  dl_frame_warn_unused(r->f, d);
  return dl_choices_sweep(&r->choices, r->f, &o->job.axes, r->session, NULL, d);
}

/* Whether a name, or the descriptor that it leads to, is among the values. */
static enum dl_status is_named(struct dl_cli *cli, const struct dl_axis *a,
                               enum dl_kind kind, const char *name,
                               const void *known, bool *is) {
  *is = false;
  for (size_t i = 0; i < a->n && !*is; i++) {
    const struct dl_descriptor *e = NULL;
    *is = name && strcmp(name, a->text.s[i]) == 0;
    if (*is || !known)
      continue;
    enum dl_status status = dl_catalog_look(dl_cli_catalog(cli), kind,
                                            a->text.s[i], &e, &cli->diag);
    if (status != DL_OK)
      return status;
    *is = e && strcmp(e->id, ((const struct dl_descriptor *)known)->id) == 0;
  }
  return DL_OK;
}

static bool is_among(const struct dl_axis *a, double x) {
  for (size_t i = 0; i < a->n; i++)
    if (!(a->cell[i].x < x) && !(a->cell[i].x > x))
      return true;
  return false;
}

/* Whether the options ask for a configuration. */
static enum dl_status is_wanted(struct dl_cli *cli, const struct dl_axes *axes,
                                const struct dl_repeat *r, bool *wanted) {
  const struct {
    const char *column;
    double x;
  } numbers[] = {{"n_gpus", r->n_gpus},
                 {"seq_len", r->seq_len},
                 {"image_px", r->image_px},
                 {"batch_size", r->batch_size}};
  const struct dl_axis *arch = dl_axes_find(axes, "arch");
  const struct dl_axis *gpu = dl_axes_find(axes, "gpu");
  enum dl_status status = DL_OK;
  *wanted = true;
  if (arch)
    status =
        is_named(cli, arch, DL_ARCHITECTURE, r->arch, r->arch_known, wanted);
  if (status == DL_OK && *wanted && gpu)
    status = is_named(cli, gpu, DL_ACCELERATOR, r->gpu, r->gpu_known, wanted);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && *wanted; i++) {
    const struct dl_axis *a = dl_axes_find(axes, numbers[i].column);
    *wanted = !a || is_among(a, numbers[i].x);
  }
  return status;
}

static struct dl_alternative as_choice(const struct dl_repeat *r) {
  return (struct dl_alternative){.arch = r->arch,
                                 .gpu = r->gpu,
                                 .n_gpus = r->n_gpus,
                                 .image_px = r->image_px,
                                 .seq_len = r->seq_len,
                                 .batch_size = r->batch_size,
                                 .accuracy = r->accuracy,
                                 .energy_j = r->energy_j,
                                 .low_j = r->low_j,
                                 .high_j = r->high_j,
                                 .duration_s = r->duration_s,
                                 .memory_need_gb = NAN,
                                 .boundary = r->boundary,
                                 .runs = r->n};
}

enum dl_status dl_recommend_measured(struct dl_cli *cli,
                                     const struct dl_recommend_options *o,
                                     struct dl_recommend_data *r) {
  struct dl_diag *d = &cli->diag;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  struct dl_choices *l = &r->choices;
  r->f = dl_frame_new(dl_cli_catalog(cli));
  enum dl_status status = dl_csv_open(&csv, o->table, 0, d);
  if (status == DL_OK) {
    dl_frame_columns(r->f, csv);
    status = dl_job_options_apply_table(&o->job, r->f, d);
  }
  if (status == DL_OK)
    status = dl_repeats_read(&r->repeats, csv, r->f, o->coverage, d);
  if (status == DL_OK) {
    dl_frame_warn_unused(r->f, d);
    dl_frame_warn_aliases(r->f, d);
  }
  l->c = status == DL_OK ? dl_calloc(r->repeats.n, sizeof *l->c) : NULL;
  l->epochs = l->train_samples = l->val_samples = NAN;
  l->requests = l->prompt_tokens = l->output_tokens = NAN;
  for (size_t i = 0; i < r->repeats.n && status == DL_OK; i++) {
    bool wanted;
    status = is_wanted(cli, &o->job.axes, &r->repeats.r[i], &wanted);
    if (status == DL_OK && wanted)
      l->c[l->n++] = as_choice(&r->repeats.r[i]);
  }
  if (status == DL_OK && l->n == 0)
    status = dl_fail_at(d, DL_EINPUT, o->table, 0,
                        "no run of what --arch, --gpu and others ask for");
  return status;
}

/* A running mean of an architecture. */
struct merit {
  const char *id; /* of the catalogue, or the name itself */
  double sum;
  size_t n;
};

struct merits {
  struct dl_strlist names;
  struct merit *m; /* one a name, owned */
  size_t cap;
};

static enum dl_status add_merit(struct dl_cli *cli, struct merits *t,
                                const char *name, double x) {
  const struct dl_descriptor *e = NULL;
  DL_TRY(dl_catalog_look(dl_cli_catalog(cli), DL_ARCHITECTURE, name, &e,
                         &cli->diag));
  const char *id = e ? e->id : name;
  long i = dl_strlist_find(&t->names, id);
  if (i < 0) {
    DL_GROW(t->m, t->cap, t->names.n + 1);
    dl_strlist_add(&t->names, id);
    i = (long)t->names.n - 1;
    t->m[i] = (struct merit){.id = t->names.s[i]};
  }
  /* What has a name has a merit.
   * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  t->m[i].sum += x;
  t->m[i].n++;
  return DL_OK;
}

static enum dl_status read_merits(struct dl_cli *cli, struct dl_csv *csv,
                                  struct merits *t) {
  struct dl_diag *d = &cli->diag;
  const char *path = dl_csv_path(csv);
  long arch = dl_csv_find(csv, "arch"), of = dl_csv_find(csv, "accuracy");
  const struct dl_csv_block *block;
  enum dl_status status;
  if (arch < 0 || of < 0)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "no column '%s'; --accuracy takes arch and accuracy",
                      arch < 0 ? "arch" : "accuracy");
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block)
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++) {
      const char *const *row = block->cell + i * block->n_cols;
      double x;
      if (!dl_parse_double(row[of], &x))
        dl_skip_at(d, path, block->line[i],
                   "column 'accuracy': invalid number '%.64s'", row[of]);
      else
        status = add_merit(cli, t, row[arch], x);
    }
  return status;
}

enum dl_status dl_recommend_accuracy(struct dl_cli *cli, const char *path,
                                     struct dl_choices *l) {
  struct merits t = {0};
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  struct dl_diag *d = &cli->diag;
  enum dl_status status = dl_csv_open(&csv, path, 0, d);
  const char *without = NULL;
  if (status == DL_OK)
    status = read_merits(cli, csv, &t);
  for (size_t i = 0; i < l->n && status == DL_OK; i++) {
    const struct dl_descriptor *e = NULL;
    const char *name = l->c[i].arch ? l->c[i].arch : "";
    status = dl_catalog_look(dl_cli_catalog(cli), DL_ARCHITECTURE, name, &e, d);
    long k = dl_strlist_find(&t.names, e ? e->id : name);
    if (k >= 0) /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
      l->c[i].accuracy = t.m[k].sum / (double)t.m[k].n;
    else
      without = name;
  }
  if (status == DL_OK && without)
    dl_warn_at(d, path, 0,
               "no accuracy of '%.64s': without one a choice is on no front",
               without);
  dl_strlist_free(&t.names);
  free(t.m);
  return status;
}
