/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes runs, or their epochs, as rows of a table. */

#include "cli/passes/extract_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/views/summary/answer.h"
#include "output/units.h"
#include "quantities/quantities.h"

struct dl_extract_rows {
  const struct dl_format *format;
  FILE *f;
  struct dl_stream *stream; /* NULL before the first row */
  struct dl_column *columns;
  struct dl_value *values;
  size_t n_columns, n_extra;
  bool each_epoch;
  struct dl_progress_bar *bar; /* or NULL */
  size_t runs, unknown;        /* of the table of runs; without an energy */
  double energy_j, co2e_g;
  bool emissions; /* people are shown co2e_g */
  char *boundary; /* of the first run with an energy, owned; NULL: none */
  bool mixed;     /* energies have different boundaries */
};

/* Columns of the table of epochs. */
#define OF(member) DL_MEMBER(dl_epoch, member)
static const struct dl_member_column epoch_columns[] = {
    {.column = {"run_id", "run", NULL, DL_CODE, 0}},
    {.column = {"part", "part", NULL, DL_CODE, 0}},
    {{"epoch", "epoch", NULL, DL_CODE, 0}, OF(number)},
    {{"start_s", "start", NULL, DL_TIME, 0}, OF(start_s)},
    {{"duration_s", "time", NULL, DL_TIME, 0}, OF(duration_s)},
    {{"gpu_power_w", "power", "W", DL_WATTS, 0}, OF(gpu_power_w)},
    {{"gpu_util", "GPU use", NULL, DL_PERCENT, 0}, OF(gpu_util)},
    {{"gpu_energy_j", "GPU energy", "J", DL_ENERGY, 0}, OF(gpu_energy_j)},
    {{"ram_energy_j", NULL, NULL, DL_ENERGY, 0}, OF(ram_energy_j)},
    {{"cpu_energy_j", NULL, NULL, DL_ENERGY, 0}, OF(cpu_energy_j)},
    {{"node_energy_j", NULL, NULL, DL_ENERGY, 0}, OF(node_energy_j)},
    {{"energy_j", "energy", "J", DL_ENERGY, 0}, OF(energy_j)},
    {.column = {"boundary", "boundary", NULL, DL_CODE, 0}},
    {.column = {"epochs_verdict", "verdict", NULL, DL_CODE, 0}},
    {.column = {"file", NULL, NULL, DL_CODE, 0}},
};

enum { N_EPOCH_COLUMNS = sizeof epoch_columns / sizeof *epoch_columns };

/* How people are shown a measured column. */
static enum dl_style style_of(const struct dl_run_column *c) {
  const char unit = c->unit ? *c->unit : '\0';
  bool share = !c->unit && c->low >= 0 && c->high <= 1;
  if (c->is_text || c->role != DL_ROLE_MEASURED)
    return DL_CODE;
  switch (unit) {
  case 'J':
    return DL_KWH;
  case 'W':
    return DL_WATTS;
  case 's':
    return DL_TIME;
  default:
    return share ? DL_PERCENT : DL_CODE;
  }
}

/* Text output has the columns with a heading; other formats have all. */
static struct dl_column run_column(const struct dl_run_column *c) {
  static const enum dl_run_id spare[] = {
      DL_RUN_n_gpus,  DL_RUN_gpu_util, DL_RUN_gpu_energy_j,
      DL_RUN_missing, DL_RUN_boundary, DL_RUN_epochs_verdict};
  enum dl_style style = style_of(c);
  if (!c->extracted)
    return (struct dl_column){c->name, NULL, NULL, DL_CODE, 0};
  unsigned char use = c->is_main ? DL_MAIN : 0;
  for (size_t i = 0; i < DL_LENGTH(spare); i++)
    use = c->id == spare[i] ? DL_SPARE : use;
  return (struct dl_column){c->name, c->heading,
                            style == DL_TIME ? NULL : c->unit, style, use};
}

struct dl_extract_rows *dl_extract_rows_new(const struct dl_format *format,
                                            FILE *f, bool each_epoch,
                                            const struct dl_intern *extra,
                                            struct dl_progress_bar *bar) {
  size_t n_runs = DL_N_RUN_COLUMNS;
  struct dl_extract_rows *r = dl_calloc(1, sizeof *r);
  r->format = format;
  r->f = f;
  r->bar = bar;
  r->each_epoch = each_epoch;
  r->n_extra = each_epoch ? 0 : extra->n;
  r->n_columns = each_epoch ? N_EPOCH_COLUMNS : n_runs + extra->n;
  r->columns = dl_calloc(r->n_columns, sizeof *r->columns);
  r->values = dl_calloc(r->n_columns, sizeof *r->values);
  if (each_epoch)
    dl_member_headings(r->columns, epoch_columns, N_EPOCH_COLUMNS);
  for (size_t i = 0; !each_epoch && i < r->n_columns; i++)
    r->columns[i] = i < n_runs ? run_column(&dl_run_columns[i])
                               : (struct dl_column){.key = extra->s[i - n_runs],
                                                    .style = DL_CODE};
  return r;
}

void dl_extract_rows_show_co2e(struct dl_extract_rows *r) {
  r->emissions = true;
}

static enum dl_status begin(struct dl_extract_rows *r, struct dl_diag *d) {
  const struct dl_table_form table = {r->each_epoch ? "epochs" : "runs",
                                      r->columns, r->n_columns};
  return r->stream ? DL_OK
                   : dl_stream_begin(&r->stream, r->format, r->f, &table, d);
}

/* A cell of a user's column: a number where it is one. */
static struct dl_value own_value(const char *cell) {
  double x;
  return cell && dl_parse_double(cell, &x) ? dl_number(x) : dl_string(cell);
}

/* Adds up what people are shown below the rows. */
static void sum_run(struct dl_extract_rows *r, const struct dl_run *run) {
  const double energy = dl_run_number(run, DL_RUN_energy_j);
  const char *boundary = run->boundary ? run->boundary : "";
  r->runs++;
  r->co2e_g += dl_or(run->co2e_g, 0);
  if (isnan(energy)) {
    r->unknown++;
    return;
  }
  r->energy_j += energy;
  if (!r->boundary)
    r->boundary = dl_strdup(boundary);
  r->mixed |= strcmp(r->boundary, boundary) != 0;
}

/* "2 runs, 0.683 kWh, GPU and memory" */
static struct dl_report *sums_of(const struct dl_extract_rows *r) {
  const struct dl_value energy = dl_number(r->energy_j);
  struct dl_report *sums = dl_report_new();
  DL_TEXT(t);
  if (r->runs < 2 && !r->emissions)
    return sums;
  dl_text_printf(&t, "%zu run%s", r->runs, r->runs == 1 ? "" : "s");
  if (r->mixed)
    dl_text_add(&t, "; their boundaries differ: energies are not added up");
  else if (r->boundary) {
    dl_text_add(&t, ", ");
    dl_show(&t, DL_KWH, "J", &energy, NULL);
    dl_text_printf(&t, ", %s",
                   r->boundary[0] ? dl_boundary_words(r->boundary, true)
                                  : "boundary unknown");
  }
  if (r->emissions) {
    const struct dl_value grams = dl_number(r->co2e_g);
    dl_text_add(&t, "; ");
    dl_show(&t, DL_MASS, "g CO2e", &grams, NULL);
    dl_text_add(&t, " by the hour");
  }
  if (r->unknown > 0)
    dl_text_printf(&t, "; the energy of %zu is unknown", r->unknown);
  dl_report_say(sums, "%s", dl_text_str(&t));
  return sums;
}

static enum dl_status add_run(struct dl_extract_rows *r,
                              const struct dl_run *run, char *const *extra,
                              struct dl_diag *d) {
  size_t n = DL_N_RUN_COLUMNS;
  sum_run(r, run);
  for (size_t i = 0; i < n; i++)
    r->values[i] = dl_run_columns[i].is_text
                       ? dl_string(dl_run_text(run, (enum dl_run_id)i))
                       : dl_number(dl_run_number(run, (enum dl_run_id)i));
  for (size_t i = 0; i < r->n_extra; i++)
    r->values[n + i] = own_value(extra[i]);
  return dl_stream_row(r->stream, r->values, NULL, d);
}

static enum dl_status add_epoch(struct dl_extract_rows *r,
                                const struct dl_run *run,
                                const struct dl_epoch *e, struct dl_diag *d) {
  static const char *const parts[] = {"epoch", "start", "end"};
  enum { BOUNDARY = N_EPOCH_COLUMNS - 3, VERDICT, FILE_NAME };
  struct dl_value *v = r->values;
  dl_member_values(epoch_columns, N_EPOCH_COLUMNS, e, v);
  v[0] = dl_string(run->run_id);
  v[1] = dl_string(parts[e->part]);
  v[BOUNDARY] = dl_string(run->boundary);
  v[VERDICT] = dl_string(run->epochs_verdict);
  v[FILE_NAME] = dl_string(run->file);
  return dl_stream_row(r->stream, v, NULL, d);
}

enum dl_status dl_extract_rows_add(void *ctx, const struct dl_run *run,
                                   char *const *extra, struct dl_diag *d) {
  struct dl_extract_rows *r = ctx;
  enum dl_status status = begin(r, d);
  if (r->bar)
    dl_progress_bar_clear(r->bar);
  if (status == DL_OK && !r->each_epoch)
    return add_run(r, run, extra, d);
  if (run->n_epochs == 0 && !run->epochs_verdict)
    dl_warn_at(d, run->file, 0, "no epochs in this log");
  for (size_t i = 0; status == DL_OK && i < run->n_epochs; i++)
    status = add_epoch(r, run, &run->epoch[i], d);
  return status;
}

void dl_extract_progress(void *ctx, size_t done, size_t total) {
  const struct dl_extract_rows *r = ctx;
  dl_progress_bar_bytes(r->bar, done, total);
}

enum dl_status dl_extract_rows_end(struct dl_extract_rows *r, bool complete,
                                   struct dl_diag *d) {
  if (!r)
    return DL_OK;
  enum dl_status status = complete ? begin(r, d) : DL_OK;
  struct dl_report *sums = sums_of(r);
  if (r->stream && complete)
    dl_stream_tail(r->stream, sums);
  enum dl_status ended = dl_stream_end(r->stream, d);
  dl_report_free(sums);
  free(r->boundary);
  if (status == DL_OK)
    status = ended;
  free(r->columns);
  free(r->values);
  free(r);
  return status;
}
