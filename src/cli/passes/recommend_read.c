/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices for dlest recommend: estimated, or measured. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "cli/passes/recommend.h"
#include "cli/views/row_notes.h"
#include "estimate/node/peak_memory.h"

void dl_recommend_free(struct dl_recommend_data *r) {
  dl_choices_free(&r->choices);
  dl_repeats_free(&r->repeats);
  dl_measured_free(&r->measured);
  dl_recommend_free_nodes(r);
  dl_strlist_free(&r->names);
  free(r->region);
  dl_engine_free(r->engine);
  dl_model_free(r->m);
  dl_plan_free(r->f);
}

enum dl_status dl_recommend_estimate(struct dl_cli *cli,
                                     struct dl_recommend_options *o,
                                     struct dl_recommend_data *r) {
  struct dl_diag *d = &cli->diag;
  r->f = dl_plan_new(dl_cli_catalog(cli));
  DL_TRY(dl_plan_axes(r->f, &o->job.axes, d));
  DL_TRY(dl_job_options_apply(&o->job, r->f, dl_cli_catalog(cli), true, d));
  DL_TRY(dl_engine_new(&r->engine, r->f, r->m, o->method, o->coverage, d));
  dl_plan_warn_unused(r->f, d);
  const struct dl_rows rows = {
      .f = r->f, .catalog = dl_cli_catalog(cli), .axes = &o->job.axes};
  return dl_choices_sweep(&r->choices, &rows, r->engine, NULL, d);
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
    DL_TRY(dl_catalog_look(dl_cli_catalog(cli), kind, a->text.s[i], &e,
                           &cli->diag));
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
  const struct dl_named_number numbers[] = {{"n_gpus", r->n_gpus},
                                            {"seq_len", r->seq_len},
                                            {"image_px", r->image_px},
                                            {"batch_size", r->batch_size}};
  const struct dl_axis *arch = dl_axes_find(axes, "arch");
  const struct dl_axis *gpu = dl_axes_find(axes, "gpu");
  *wanted = true;
  if (arch)
    DL_TRY(
        is_named(cli, arch, DL_ARCHITECTURE, r->arch, r->arch_known, wanted));
  if (*wanted && gpu)
    DL_TRY(is_named(cli, gpu, DL_ACCELERATOR, r->gpu, r->gpu_known, wanted));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && *wanted; i++) {
    const struct dl_axis *a = dl_axes_find(axes, numbers[i].name);
    *wanted = !a || is_among(a, numbers[i].x);
  }
  return DL_OK;
}

static struct dl_alternative as_choice(struct dl_repeat *r, bool estimated) {
  const char **beyond = r->beyond;
  r->beyond = NULL; /* the choice's */
  return (struct dl_alternative){.beyond = beyond,
                                 .n_beyond = r->n_beyond,
                                 .excluded = r->over_memory ? DL_CHOICE_MEMORY
                                                            : DL_CHOICE_MEETS,
                                 .arch = r->arch,
                                 .gpu = r->gpu,
                                 .n_gpus = r->n_gpus,
                                 .image_px = r->image_px,
                                 .seq_len = r->seq_len,
                                 .batch_size = r->batch_size,
                                 .accuracy = r->accuracy,
                                 .energy_j = {r->energy_j, r->low_j, r->high_j},
                                 .duration_s = r->duration_s,
                                 .response_s = NAN,
                                 .billed = r->n_gpus,
                                 .memory_need_gb = r->memory_need_gb,
                                 .boundary = r->boundary,
                                 .runs = estimated ? 0 : r->n};
}

/* Runs with energies. */
static enum dl_status read_measured(struct dl_cli *cli,
                                    struct dl_recommend_options *o,
                                    struct dl_recommend_data *r,
                                    struct dl_csv *csv) {
  struct dl_diag *d = &cli->diag;
  DL_TRY(dl_cli_refuse(cli, "method|model",
                       "with --table: its runs have energies"));
  DL_TRY(dl_job_options_refuse(cli, "with --table: its runs have settings"));
  DL_TRY(
      dl_cli_refuse(cli, "precision", "with --table: its runs have settings"));
  o->method = NULL;
  DL_TRY(dl_repeats_read(&r->repeats, csv, r->f, o->coverage, d));
  dl_plan_warn_unused(r->f, d);
  dl_plan_warn_aliases(r->f, d);
  return DL_OK;
}

/* Recommended estimates of a table. */
struct table_estimates {
  struct dl_repeats_reader *w;
  struct dl_row_notes notes;
};

/* Takes a row. A run of which something was measured fitted into its memory. */
static enum dl_status take_estimate(void *ctx, size_t part,
                                    const struct dl_result *r,
                                    struct dl_diag *d) {
  struct table_estimates *e = ctx;
  const struct dl_estimate *est = dl_result_best(r);
  const struct dl_known *known = &r->job.known;
  const double measured[] = {known->run_s, known->steps_s, known->util,
                             known->power_w};
  struct dl_memory_need memory;
  bool ran = false;
  (void)part;
  if (!dl_row_notes_add(&e->notes, r, d) || !est)
    return DL_OK;
  dl_memory_of(&r->job, &memory);
  for (size_t i = 0; i < DL_LENGTH(measured); i++)
    ran |= !isnan(measured[i]);
  const struct dl_repeat of = {.energy_j = est->energy_j.x,
                               .low_j = est->energy_j.low,
                               .high_j = est->energy_j.high,
                               .duration_s = est->duration_s.x,
                               .boundary = (char *)est->boundary,
                               .memory_need_gb = memory.need_gb,
                               .over_memory = memory.over && !ran,
                               .beyond = (const char **)(uintptr_t)est->outside,
                               .n_beyond = est->n_outside};
  dl_repeats_add(e->w, r->job.row, &of, dl_csv_path(e->notes.rows->csv),
                 r->line, d);
  return DL_OK;
}

/* Values that are the only one of their axis, for a table without the column.
 */
static enum dl_status fill_columns(const struct dl_job_options *o,
                                   struct dl_row_plan *f, struct dl_diag *d) {
  const struct dl_axes *axes = &o->axes;
  for (size_t i = 0; i < axes->n; i++) {
    const struct dl_axis *a = &axes->a[i];
    DL_TEXT(t);
    if (a->n > 1 || dl_plan_has(f, a->column) ||
        dl_value_in(&o->defines, a->column))
      continue;
    dl_text_printf(&t, "%s=%s", a->column, a->text.s[0]);
    DL_TRY(dl_plan_override(f, t.s, d));
  }
  return DL_OK;
}

static enum dl_status read_estimates(struct dl_recommend_data *r,
                                     const struct dl_rows *rows,
                                     struct table_estimates *e,
                                     struct dl_diag *d) {
  const struct dl_row_sink sink = {e, take_estimate, NULL, NULL};
  DL_TRY(dl_repeats_begin(&e->w, r->f, d));
  dl_plan_warn_unused(r->f, d);
  enum dl_status status = dl_rows_each(rows, r->engine, &sink, d);
  dl_row_notes_warn(&e->notes, d);
  dl_plan_warn_aliases(r->f, d);
  return status;
}

/* Runs without energies: settings, and what is known of their times. */
static enum dl_status estimate_runs(struct dl_cli *cli,
                                    struct dl_recommend_options *o,
                                    struct dl_recommend_data *r,
                                    struct dl_csv *csv) {
  struct dl_diag *d = &cli->diag;
  struct dl_catalog *catalog = dl_cli_catalog(cli);
  const struct dl_rows rows = {.f = r->f, .catalog = catalog, .csv = csv};
  struct table_estimates e = {.notes.rows = &rows};
  DL_TRY(dl_job_options_check_table(cli, &o->job, csv));
  DL_TRY(fill_columns(&o->job, r->f, d));
  DL_TRY(dl_job_options_apply(&o->job, r->f, catalog, true, d));
  e.notes.dataset = o->job.dataset;
  DL_TRY(dl_engine_new(&r->engine, r->f, r->m, o->method, o->coverage, d));
  enum dl_status status = read_estimates(r, &rows, &e, d);
  dl_repeats_end(e.w, &r->repeats);
  o->job.dataset = o->job.run.dataset; /* rows have their own */
  return status;
}

/* Refuses to estimate runs of which other columns seem to have the energy. */
static enum dl_status refuse_energies(const struct dl_csv *csv,
                                      struct dl_diag *d) {
  for (size_t i = 0; i < dl_csv_n_cols(csv); i++) {
    const char *name = dl_csv_name(csv, i);
    if (strstr(name, "energy") && strcmp(name, "energy_j") != 0)
      return dl_fail_at(d, DL_EUSAGE, dl_csv_path(csv), 0,
                        "no column 'energy_j', but '%s'; give --define "
                        "energy_j=FORMULA, or leave that column out",
                        name);
  }
  return DL_OK;
}

/* Whether the runs of a table have energies, by a column, --define or --set. */
static enum dl_status has_energies(struct dl_cli *cli,
                                   const struct dl_recommend_options *o,
                                   const struct dl_csv *csv, bool *has) {
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(cli));
  dl_plan_columns(f, csv);
  DL_TRY(dl_job_options_apply_table(&o->job, f, &cli->diag));
  *has = dl_plan_has(f, "energy_j");
  return DL_OK;
}

/* Warns of runs that train on more than others, unless a formula divides. */
static void warn_of_work(const struct dl_recommend_options *o, double low,
                         double high, struct dl_diag *d) {
  const struct dl_strlist *formulas = &o->job.defines;
  if (high > 1.01 * low && !dl_value_in(formulas, "energy_j") &&
      !dl_value_in(formulas, "duration_s")) {
    char least[DL_NUMBER_SIZE], most[DL_NUMBER_SIZE];
    dl_warn_at(
        d, o->table, 0,
        "runs of different work are compared: %s to %s samples, "
        "tokens or requests; give them the same epochs, or divide energies "
        "and times by --define",
        dl_format_digits(least, low, 3), dl_format_digits(most, high, 3));
  }
}

enum dl_status dl_recommend_table(struct dl_cli *cli,
                                  struct dl_recommend_options *o,
                                  struct dl_recommend_data *r) {
  struct dl_diag *d = &cli->diag;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  struct dl_choices *l = &r->choices;
  double low = INFINITY, high = 0; /* work */
  const char *boundary = NULL, *other = NULL;
  bool measured;
  DL_TRY(dl_csv_open(&csv, o->table, 0, d));
  DL_TRY(has_energies(cli, o, csv, &measured));
  r->f = dl_plan_new(dl_cli_catalog(cli));
  dl_plan_columns(r->f, csv);
  if (measured) {
    DL_TRY(dl_job_options_apply_table(&o->job, r->f, d));
    DL_TRY(read_measured(cli, o, r, csv));
  } else {
    DL_TRY(refuse_energies(csv, d));
    DL_TRY(dl_open_model(
        cli, o->model, dl_job_kinds(&o->job, dl_cli_catalog(cli), csv), &r->m));
    DL_TRY(estimate_runs(cli, o, r, csv));
  }
  l->c = dl_calloc(r->repeats.n, sizeof *l->c);
  l->epochs = l->train_samples = l->val_samples = NAN;
  l->requests = l->prompt_tokens = l->output_tokens = NAN;
  for (size_t i = 0; i < r->repeats.n; i++) {
    bool wanted;
    DL_TRY(is_wanted(cli, &o->job.axes, &r->repeats.r[i], &wanted));
    if (!wanted)
      continue;
    low = fmin(low, r->repeats.r[i].work);
    high = fmax(high, r->repeats.r[i].work);
    boundary = boundary ? boundary : r->repeats.r[i].boundary;
    if (boundary && r->repeats.r[i].boundary &&
        strcmp(boundary, r->repeats.r[i].boundary) != 0)
      other = r->repeats.r[i].boundary;
    l->c[l->n++] = as_choice(&r->repeats.r[i], r->repeats.estimated);
  }
  warn_of_work(o, low, high, d);
  if (other)
    dl_warn_at(d, o->table, 0,
               "energies of different boundaries are compared: %s and %s",
               boundary, other);
  if (l->n > 0)
    return DL_OK;
  if (r->repeats.n == 0)
    return dl_fail_at(d, DL_EINPUT, o->table, 0, "no usable row");
  return dl_fail_at(d, DL_EINPUT, o->table, 0,
                    "no run of what --arch, --gpu and others ask for");
}

/* Finds the catalogue's name of an architecture. */
static enum dl_status identify(struct dl_cli *cli, const char *name,
                               const char **id) {
  const struct dl_descriptor *e = NULL;
  DL_TRY(dl_catalog_look(dl_cli_catalog(cli), DL_ARCHITECTURE, name, &e,
                         &cli->diag));
  *id = e ? e->id : name;
  return DL_OK;
}

/* Adds an accuracy to the sums of the choices with that architecture, whose
 * identifiers are `ids`; n: accuracies of each. */
static enum dl_status add_merit(struct dl_cli *cli, struct dl_choices *l,
                                const struct dl_strlist *ids, size_t *n,
                                const char *name, double x) {
  const char *id;
  DL_TRY(identify(cli, name, &id));
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(ids->s[i], id) == 0)
      l->c[i].accuracy = n[i]++ > 0 ? l->c[i].accuracy + x : x;
  return DL_OK;
}

static enum dl_status read_merits(struct dl_cli *cli, struct dl_csv *csv,
                                  struct dl_choices *l,
                                  const struct dl_strlist *ids, size_t *n) {
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
        status = add_merit(cli, l, ids, n, row[arch], x);
    }
  return status;
}

enum dl_status dl_recommend_accuracy(struct dl_cli *cli, const char *path,
                                     struct dl_choices *l) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist ids = {0};
  DL_FREED size_t *n = dl_calloc(l->n, sizeof *n);
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  const char *without = NULL, *id;
  DL_TRY(dl_csv_open(&csv, path, 0, &cli->diag));
  for (size_t i = 0; i < l->n; i++) {
    DL_TRY(identify(cli, l->c[i].arch ? l->c[i].arch : "", &id));
    dl_strlist_add(&ids, id);
  }
  DL_TRY(read_merits(cli, csv, l, &ids, n));
  for (size_t i = 0; i < l->n; i++) {
    if (n[i] > 0)
      l->c[i].accuracy /= (double)n[i];
    else
      without = l->c[i].arch ? l->c[i].arch : "";
  }
  if (without)
    dl_warn_at(&cli->diag, path, 0,
               "no accuracy of '%.64s': without one a choice is on no front",
               without);
  return DL_OK;
}
