/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/calibration/suggest_report.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/views/summary/answer.h"

/* The settings of a configuration. */
#define OF(member) DL_MEMBER(dl_suggestion_row, member)
static const struct dl_member_column settings[] = {
    {{"line", "line", NULL, DL_CODE, DL_MAIN}, OF(line)},
    {{"arch", "arch", NULL, DL_CODE, DL_MAIN}, OF(arch)},
    {{"gpu", "GPU", NULL, DL_CODE, 0}, OF(gpu)},
    {{"n_gpus", "GPUs", NULL, DL_CODE, 0}, OF(n_gpus)},
    {{"precision", "precision", NULL, DL_CODE, 0}, OF(precision)},
    {{"batch_size", "batch", NULL, DL_CODE, DL_MAIN}, OF(batch_size)},
    {{"image_px", "px", NULL, DL_CODE, 0}, OF(image_px)},
    {{"seq_len", "sequence", NULL, DL_CODE, 0}, OF(seq_len)}};
enum { SETTINGS = DL_LENGTH(settings), LINE = 0, ARCH = 1 };

static const struct dl_column errors_after[] = {
    {"time_error", "time", "%", DL_PERCENT, DL_MAIN},
    {"energy_error", "energy", "%", DL_PERCENT, 0}};
enum { ERRORS = DL_LENGTH(errors_after) };

static bool prints_all(const struct dl_suggesting *w) {
  return w->o->all || w->cli->format->whole;
}

static bool same_value(const struct dl_value *a, const struct dl_value *b) {
  if (a->type != b->type || a->type == DL_NULL)
    return a->type == b->type;
  if (a->type == DL_STRING)
    return strcmp(a->string, b->string) == 0;
  if (a->type == DL_COUNT)
    return a->count == b->count;
  return !(a->number < b->number) && !(a->number > b->number);
}

/* The settings as columns; one with a single value in all rows of a table has
 * no heading. */
static void setting_columns(const struct dl_suggestion_table *t,
                            struct dl_column columns[SETTINGS]) {
  bool varies[SETTINGS] = {[LINE] = true, [ARCH] = true};
  struct dl_value first[SETTINGS], v[SETTINGS];
  dl_member_values(settings, SETTINGS, &t->row[0], first);
  for (size_t i = 1; i < t->n; i++) {
    dl_member_values(settings, SETTINGS, &t->row[i], v);
    for (size_t k = 0; k < SETTINGS; k++)
      varies[k] |= !same_value(&v[k], &first[k]);
  }
  dl_member_headings(columns, settings, SETTINGS);
  for (size_t k = 0; k < SETTINGS; k++)
    if (!varies[k])
      columns[k].heading = NULL;
}

static void error_values(const double e[ERRORS], struct dl_value v[ERRORS]) {
  for (size_t q = 0; q < ERRORS; q++)
    v[q] = dl_number(e[q]);
}

/* Appends "line 7 of runs.csv: resnet50 on a100, batch size 64". */
static void add_run(struct dl_text *t, const struct dl_suggesting *w,
                    size_t run) {
  const struct dl_suggestion_row *row = &w->rows.runs.row[run];
  char number[DL_NUMBER_SIZE];
  dl_text_printf(t, "line %zu", row->line);
  if (run == w->s.run[0].run)
    dl_text_printf(t, " of %s", dl_path_name(w->cli->argument[0]));
  dl_text_printf(t, ": %s on ", row->arch ? row->arch : "the network");
  if (row->n_gpus > 1)
    dl_text_printf(t, "%s x ", dl_format_short(number, row->n_gpus));
  dl_text_add(t, row->gpu ? row->gpu : "the GPU");
  if (!isnan(row->batch_size))
    dl_text_printf(t, ", batch size %s",
                   dl_format_short(number, row->batch_size));
}

static void add_answer(const struct dl_suggesting *w, struct dl_report *r) {
  static const char *const labels[] = {"Time", "Energy"};
  static const char *const others[] = {"Next", "Third"};
  struct dl_answer_line line[ERRORS + DL_LENGTH(others)] = {0};
  DL_TEXT(title);
  dl_text_add(&title, "Measure ");
  add_run(&title, w, w->s.run[0].run);
  struct dl_report *g = dl_report_group(r, NULL, dl_text_str(&title));
  for (size_t q = 0; q < ERRORS; q++) {
    double after = w->s.run[0].after[q];
    dl_answer_figure(&line[q], &(struct dl_answer){labels[q], DL_PERCENT, "%",
                                                   after, NAN, NAN, NAN});
    dl_answer_number(&line[q], "", 100 * w->s.before[q], " % before");
  }
  dl_answer_remark(&line[0], "expected error of %zu configuration%s",
                   w->rows.runs.n, w->rows.runs.n == 1 ? "" : "s");
  for (size_t i = 0; i < DL_LENGTH(others) && i + 1 < w->rows.runs.n; i++) {
    const struct dl_suggested_run *run = &w->s.run[i + 1];
    struct dl_answer_line *l = &line[ERRORS + i];
    char number[ERRORS][DL_NUMBER_SIZE];
    DL_TEXT(t);
    add_run(&t, w, run->run);
    for (size_t q = 0; q < ERRORS; q++)
      dl_format_digits(number[q], 100 * run->after[q], 3);
    dl_text_printf(&t, ": %s and %s %%", number[0], number[1]);
    dl_answer_text(l, others[i], dl_text_str(&t));
  }
  dl_answer_lines(g, line, DL_LENGTH(line));
  if (!prints_all(w))
    dl_report_hint(g, "All runs, and the best one for each: --all.");
}

static void add_runs(const struct dl_suggesting *w, struct dl_report *r) {
  struct dl_column columns[SETTINGS + ERRORS];
  struct dl_value v[SETTINGS + ERRORS];
  setting_columns(&w->rows.runs, columns);
  memcpy(columns + SETTINGS, errors_after, sizeof errors_after);
  struct dl_table *t =
      dl_report_table(r, "runs", "Expected errors after one run", columns,
                      SETTINGS + ERRORS, true);
  for (size_t i = 0; i < w->rows.runs.n; i++) {
    dl_member_values(settings, SETTINGS, &w->rows.runs.row[w->s.run[i].run], v);
    error_values(w->s.run[i].after, v + SETTINGS);
    dl_table_row(t, v, NULL);
  }
}

static void add_best(const struct dl_suggesting *w, struct dl_report *r) {
  static const struct dl_column more[] = {
      {"time_error_before", "before", "%", DL_PERCENT, DL_MAIN},
      {.key = "energy_error_before"},
      {"run_line", "measure line", NULL, DL_CODE, DL_MAIN}};
  enum { MORE = DL_LENGTH(more), COLUMNS = SETTINGS + MORE + ERRORS };
  struct dl_column columns[COLUMNS];
  struct dl_value v[COLUMNS];
  setting_columns(&w->rows.runs, columns);
  memcpy(columns + SETTINGS, more, sizeof more);
  memcpy(columns + SETTINGS + MORE, errors_after, sizeof errors_after);
  struct dl_table *t =
      dl_report_table(r, "wanted", "Best run of another configuration for each",
                      columns, COLUMNS, false);
  for (size_t i = 0; i < w->rows.runs.n; i++) {
    const struct dl_suggested_run *best = &w->s.best[i];
    dl_member_values(settings, SETTINGS, &w->rows.runs.row[i], v);
    error_values(best->before, v + SETTINGS);
    v[SETTINGS + 2] = best->run == SIZE_MAX
                          ? dl_string(NULL)
                          : dl_count(w->rows.runs.row[best->run].line);
    error_values(best->after, v + SETTINGS + MORE);
    dl_table_row(t, v, NULL);
  }
}

enum dl_status dl_suggest_report(const struct dl_suggesting *w) {
  struct dl_report *r = dl_report_new();
  const double *before = w->s.before;
  add_answer(w, r);
  DL_LINES(
      r, {.key = "configurations", .value = dl_count(w->rows.runs.n)},
      {.key = "time_error_before", .value = dl_number(before[DL_SUGGEST_TIME])},
      {.key = "energy_error_before",
       .value = dl_number(before[DL_SUGGEST_ENERGY])});
  if (prints_all(w)) {
    add_runs(w, r);
    add_best(w, r);
    dl_report_say(r,
                  "Expected errors: half of all estimates are off by less; of "
                  "several configurations, the root mean square. Those of "
                  "times are after the time of a run alone is measured, those "
                  "of energies after its time and power.");
  }
  return dl_cli_print(w->cli, r);
}
