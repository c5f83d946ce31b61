/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/row_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/options/job_options.h"
#include "cli/views/summary/answer.h"
#include "cli/views/summary/predict_summary.h"
#include "estimate/methods/work.h"

/* Quantities that size a run and have defaults. */
static const enum dl_run_id sizes[DL_N_DEFAULT_SIZES] = {
    DL_RUN_train_samples, DL_RUN_epochs, DL_RUN_batch_size};

/* Skips a combination, which has a name in place of a line. */
static void skip_combination(const struct dl_result *r, struct dl_diag *d) {
  const struct dl_run *run = r->job.run;
  char batch[40] = "", name[160];
  DL_TEXT(lacks);
  if (!isnan(run->batch_size))
    snprintf(batch, sizeof batch, ", batch size %g", run->batch_size);
  snprintf(name, sizeof name, "%.55s, %.55s%s",
           dl_text_or(run->arch, "no architecture"),
           dl_text_or(run->gpu, "no GPU"), batch);
  dl_add_setting(&lacks, r->est[0].lacks ? r->est[0].lacks : "more");
  if (r->broken)
    dl_skip_at(d, name, 0, "%s", r->broken);
  else
    dl_skip_at(d, name, 0, "no estimate: %s needs %s", r->est[0].method,
               lacks.s);
}

/* Skips a row or combination that no method can estimate. */
static void skip_silent(const struct dl_row_notes *n, const struct dl_result *r,
                        struct dl_diag *d) {
  const struct dl_estimate *first = &r->est[0];
  if (n->rows->csv)
    dl_skip_at(d, dl_csv_path(n->rows->csv), r->line,
               "no estimate: %s needs %s", first->method,
               first->lacks ? first->lacks : "more");
  else
    skip_combination(r, d);
}

/* Whether the size of the training of a table's row is taken from the usual
 * data set of all rows. */
static bool takes_usual_size(const struct dl_row_notes *n,
                             const struct dl_result *r) {
  const struct dl_job *job = &r->job;
  const struct dl_dataset *own = job->run->dataset ? job->found.dataset : NULL;
  bool imagenet = !n->dataset || strcmp(n->dataset, "imagenet") == 0;
  return imagenet && job->found.arch && isnan(job->run->tokens) &&
         !dl_run_is_inference(job->run) &&
         !dl_run_set_has(&job->row->given, DL_RUN_train_samples) &&
         !(own && !isnan(own->train_samples));
}

/* Skips a row of a table without the size of its training: only networks that
 * are usually trained on ImageNet have a default. A training of no samples is
 * none either, as the option says too. */
static bool has_no_size(const struct dl_row_notes *n, const struct dl_result *r,
                        struct dl_diag *d) {
  const struct dl_job *job = &r->job;
  const char *path = dl_csv_path(n->rows->csv), *arch = job->run->arch;
  if (!dl_run_is_inference(job->run) && isnan(job->run->tokens) &&
      job->run->train_samples == 0) {
    dl_skip_at(d, path, r->line, "column '%s': %s is not above 0",
               "train_samples", "0");
    return true;
  }
  if (!takes_usual_size(n, r))
    return false;
  const char *usual = dl_usual_dataset(job->found.arch);
  bool language = dl_is_language_model(job->found.arch);
  if (language)
    dl_skip_at(d, path, r->line,
               "'%.64s' is a language model; give a column tokens or "
               "train_samples",
               arch);
  else if (!usual || strcmp(usual, "imagenet") != 0)
    dl_skip_at(d, path, r->line,
               "'%.64s' is usually not trained on ImageNet; give a column "
               "dataset or train_samples",
               arch);
  else
    return false;
  return true;
}

/* Notes that `rows` more rows took a default of size k, from low to high. */
static void take_defaults(struct dl_row_notes *n, size_t k, size_t rows,
                          const struct dl_span *x) {
  struct dl_span *all = &n->defaulted[k];
  if (n->n_defaulted[k] == 0)
    *all = *x;
  all->low = fmin(all->low, x->low);
  all->high = fmax(all->high, x->high);
  n->n_defaulted[k] += rows;
}

/* Notes which sizes a row takes by default. */
static void note_defaults(struct dl_row_notes *n, const struct dl_result *row) {
  const struct dl_run *r = row->job.run;
  const struct dl_run_set *given = &row->job.row->given;
  const bool follows[DL_N_DEFAULT_SIZES] = {
      dl_run_is_inference(r) || r->dataset || !isnan(r->tokens) ||
          !isnan(r->train_tokens),
      dl_run_is_inference(r) || !isnan(r->tokens) ||
          dl_lasts_so_long(&row->job),
      dl_run_set_has(given, DL_RUN_global_batch)};
  for (size_t k = 0; k < DL_N_DEFAULT_SIZES; k++) {
    double x = dl_run_number(r, sizes[k]);
    if (follows[k] || isnan(x) || dl_run_set_has(given, sizes[k]))
      continue;
    take_defaults(n, k, 1, &(struct dl_span){x, x});
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Notes a quantity outside the training data, in an order that does not depend
 * on the order of rows. */
static void note_quantity(struct dl_row_notes *n, const char *name) {
  for (size_t i = 0; i < n->n_quantities; i++)
    if (strcmp(n->quantity[i], name) == 0)
      return;
  if (n->n_quantities == DL_MOST_OUTSIDE)
    return;
  n->quantity[n->n_quantities++] = name;
  qsort(n->quantity, n->n_quantities, sizeof *n->quantity, by_name);
}

static void note_estimate(struct dl_row_notes *n,
                          const struct dl_estimate *best) {
  n->n++;
  n->n_outside += best->n_outside > 0;
  n->most_j = fmax(n->most_j, best->energy_j.x);
  for (size_t i = 0; i < best->n_outside; i++)
    note_quantity(n, best->outside[i]);
}

/* Keeps of a list, "imagenet, 90 epochs", the items that another has too. */
static void keep_shared(struct dl_text *list, const char *other) {
  DL_TEXT(kept);
  const char *end;
  for (const char *item = dl_text_str(list); *item;
       item = *end ? end + 2 : end) {
    end = strstr(item, ", ");
    end = end ? end : item + strlen(item);
    const size_t n = (size_t)(end - item);
    const char *at = other;
    while ((at = strstr(at, ", ")) != NULL && strncmp(at + 2, item, n) != 0)
      at += 2;
    if (at)
      at += 2;
    if (strncmp(other, item, n) == 0)
      at = other;
    if (at && (!at[n] || strncmp(at + n, ", ", 2) == 0))
      dl_text_printf(&kept, "%s%.*s", kept.len > 0 ? ", " : "", (int)n, item);
  }
  dl_text_clear(list);
  dl_text_add(list, dl_text_str(&kept));
}

/* Notes what all rows assume: the first row's list, less what others lack. */
static void note_assumed(struct dl_row_notes *n, const struct dl_job *job) {
  struct dl_assumed_names names;
  DL_TEXT(title);
  DL_TEXT(assumed);
  if (!n->node || (n->n > 1 && n->assumed.len == 0))
    return;
  dl_predict_title(&title, &assumed, &names, job, n->node);
  if (n->n > 1)
    keep_shared(&n->assumed, dl_text_str(&assumed));
  else
    dl_text_add(&n->assumed, dl_text_str(&assumed));
}

bool dl_row_notes_add(struct dl_row_notes *n, const struct dl_result *r,
                      struct dl_diag *d) {
  const struct dl_estimate *best = dl_result_best(r);
  if (n->rows->csv && has_no_size(n, r, d))
    return false;
  if (!dl_result_has_energy(r)) {
    skip_silent(n, r, d);
    return false;
  }
  if (best)
    note_estimate(n, best);
  if (best)
    note_assumed(n, &r->job);
  dl_estimate_rules_count(r, n->broken);
  if (n->rows->csv)
    note_defaults(n, r);
  return true;
}

void dl_row_notes_merge(struct dl_row_notes *n,
                        const struct dl_row_notes *more) {
  n->most_j = fmax(n->most_j, more->most_j);
  if (n->n > 0 && more->n > 0)
    keep_shared(&n->assumed, dl_text_str(&more->assumed));
  else
    dl_text_add(&n->assumed, dl_text_str(&more->assumed));
  n->n += more->n;
  n->n_outside += more->n_outside;
  for (size_t i = 0; i < DL_N_ESTIMATE_RULES; i++)
    n->broken[i] += more->broken[i];
  for (size_t i = 0; i < more->n_quantities; i++)
    note_quantity(n, more->quantity[i]);
  for (size_t k = 0; k < DL_N_DEFAULT_SIZES; k++)
    if (more->n_defaulted[k] > 0)
      take_defaults(n, k, more->n_defaulted[k], &more->defaulted[k]);
}

/* Warns of the default of a size, unless the plan warns of the data set. */
static void warn_default(const struct dl_row_notes *n, size_t k,
                         struct dl_diag *d) {
  const struct dl_csv *csv = n->rows->csv;
  const char *name = dl_run_columns[sizes[k]].name, *path = dl_csv_path(csv);
  bool column = dl_csv_find(csv, name) >= 0;
  bool by_dataset =
      dl_csv_find(csv, "dataset") >= 0 && sizes[k] == DL_RUN_train_samples;
  size_t rows = n->n_defaulted[k];
  double least = n->defaulted[k].low, most = n->defaulted[k].high;
  char low[DL_NUMBER_SIZE], high[DL_NUMBER_SIZE], taken[100];
  snprintf(taken, sizeof taken, least < most ? "%s to %s" : "%s",
           dl_format_short(low, least), dl_format_short(high, most));
  if (column)
    dl_warn_at(d, path, 0, "column '%s' is empty in %zu row%s: %s is taken",
               name, rows, rows == 1 ? "" : "s", taken);
  else if (!by_dataset)
    dl_warn_at(d, path, 0, "no column '%s': %s is taken", name, taken);
}

void dl_row_notes_warn(const struct dl_row_notes *n, struct dl_diag *d) {
  for (size_t k = 0; k < DL_N_DEFAULT_SIZES; k++)
    if (n->n_defaulted[k] > 0)
      warn_default(n, k, d);
  dl_estimate_rules_warn_many(
      n->broken, n->rows->csv ? dl_csv_path(n->rows->csv) : "the sweep", d);
}

void dl_row_notes_say(const struct dl_row_notes *n, struct dl_report *r) {
  DL_TEXT(t);
  if (n->assumed.len > 0)
    dl_report_say(r, "Assumed%s: %s.", n->n > 1 ? " in all rows" : "",
                  dl_text_str(&n->assumed));
  dl_add_quantities(&t, n->quantity, n->n_quantities);
  if (n->n_outside > 0)
    dl_report_say(r, "Outside the measured range in %zu of %zu row%s: %s.",
                  n->n_outside, n->n, n->n == 1 ? "" : "s", dl_text_str(&t));
}
