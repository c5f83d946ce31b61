/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements to paste: the carbon metadata of a model card, and a paragraph for
 * a paper with its citation, as plain text and as LaTeX.
 *
 * The card has the fields that the Hugging Face Hub reads (co2_eq_emissions:
 * emissions in grams, source, training_type, geographical_location,
 * hardware_used) and the lines of its template's section on environmental
 * impact. A statement is about the recommended estimate of a report (of the
 * whole node where there is one), about the measurement of `record`, the total
 * of `report`, or a row of `extract`. */

#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"
#include "output/format.h"
#include "output/formats/statement.h"
#include "output/units.h"

/* --- what is known */

static const struct dl_task no_task = {0};

/* The row of a table whose column `key` has that text, as a task; the last one
 * with an energy. */
static struct dl_task row_with(const struct dl_table *t, const char *key,
                               const char *value) {
  struct dl_task found = no_task;
  for (size_t i = 0; t && value && i < t->n_rows; i++) {
    const struct dl_task row = dl_task_row(t, i);
    const char *of = dl_task_text(&row, key);
    if (of && strcmp(of, value) == 0 &&
        !isnan(dl_task_number(&row, "energy_j")))
      found = row;
  }
  return found;
}

/* Takes the energy of a row, or of a report, and its interval. */
static void take_energy(struct dl_facts *x, const struct dl_task *t) {
  static const char *const keys[] = {"energy_j", "low_j", "high_j"};
  for (size_t i = 0; i < 3; i++)
    x->energy_j[i] = dl_task_number(t, keys[i]);
  x->boundary = dl_task_text(t, "boundary");
}

/* The emissions of the energy, with the PUE where the energy has none. */
static void set_emissions(struct dl_facts *x) {
  const double pue = dl_task_number(&x->place, "pue");
  const double kwh =
      dl_is_word(x->boundary, "facility") || isnan(pue) ? 1 : pue;
  for (size_t i = 0; i < 3; i++)
    x->co2e_g[i] = x->energy_j[i] / DL_J_PER_KWH * kwh *
                   dl_task_number(&x->place, "intensity_g_kwh");
  if (isnan(x->co2e_g[0]))
    x->co2e_g[0] = dl_fact_number(x, "co2e_g");
}

/* Finds the facts of a report; false: it has no energy. */
static bool facts_of(const struct dl_report *r, struct dl_facts *x) {
  const struct dl_task top = {.r = r};
  const struct dl_report *total = dl_task_group(r, "total");
  const struct dl_report *node = dl_task_group(r, "node");
  const char *best = dl_task_text(&top, "recommended");
  struct dl_task own = row_with(dl_task_table(r, "estimates"), "method", best);
  *x = (struct dl_facts){.t = top, .r = r, .place = top, .jobs = NAN};
  if (own.values) {
    own.r = r;
    x->t = own;
    x->method = best;
  } else if (total) {
    x->t.r = total;
    x->jobs = dl_fact_number(x, "jobs");
  }
  take_energy(x, &x->t);
  x->coverage = dl_fact_number(x, "coverage");
  x->duration_s = dl_fact_number(x, "duration_s");
  const struct dl_task whole =
      row_with(dl_task_table(node, "boundaries"), "estimate", best);
  if (whole.values)
    take_energy(x, &whole);
  set_emissions(x);
  return !isnan(x->energy_j[0]);
}

/* Writes `key: "text"`, as YAML quotes it. */
static void yaml_line(FILE *f, const char *key, const char *value) {
  fprintf(f, "  %s: \"", key);
  for (const char *s = value; *s; s++) {
    if (*s == '"' || *s == '\\')
      fputc('\\', f);
    fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
  }
  fputs("\"\n", f);
}

/* Writes "- **Hours used:** 1.5", or what the reader has to fill in. */
static void card_line(FILE *f, const char *label, const char *value) {
  fprintf(f, "- **%s:** %s\n", label,
          value[0] ? value : "[More Information Needed]");
}

static void write_card(FILE *f, const struct dl_facts *x) {
  const char *site = dl_task_text(&x->place, "site");
  const char *of = dl_task_text(&x->place, "intensity_of");
  const char *colon = site ? strchr(site, ':') : NULL;
  struct dl_writer source = {0}, hardware = {0}, carbon = {0};
  char grams[DL_NUMBER_SIZE], hours[DL_NUMBER_SIZE] = "";
  char provider[64] = "";
  const double gpu_s =
      x->jobs >= 0 ? dl_fact_number(x, "gpu_s")
                   : x->duration_s * fmax(1, dl_fact_number(x, "n_gpus"));
  dl_text_printf(&source.t, "dlest %s, ", PACKAGE_VERSION);
  if (x->method)
    dl_text_printf(&source.t, "estimated %s the training by its method %s",
                   dl_fact_text(x, "input") ? "during" : "before", x->method);
  else
    dl_text_add(&source.t, dl_fact_number(x, "measured_share") < 1
                               ? "measured and estimated"
                               : "measured");
  dl_write_hardware(&hardware, x);
  dl_write_estimate(&carbon, DL_MASS, "g CO2e", x->co2e_g);
  if (!isnan(x->co2e_g[1])) {
    dl_text_printf(&source.t, "; %g %% prediction interval ",
                   100 * x->coverage);
    dl_write_interval(&source, DL_MASS, "g", x->co2e_g);
    dl_text_add(&carbon.t, " (");
    dl_write_interval(&carbon, DL_MASS, "g", x->co2e_g);
    dl_text_add(&carbon.t, ")");
  }
  if (!isnan(gpu_s))
    dl_format_digits(hours, gpu_s / DL_S_PER_HOUR, 3);
  if (colon)
    snprintf(provider, sizeof provider, "%.*s", (int)(colon - site), site);
  fprintf(f, "---\nco2_eq_emissions:\n  emissions: %s\n",
          dl_format_digits(grams, x->co2e_g[0], 3));
  yaml_line(f, "source", dl_text_str(&source.t));
  if (x->method && !dl_fact_text(x, "input"))
    yaml_line(f, "training_type",
              dl_fact_text(x, "fine_tune") ? "fine-tuning" : "pre-training");
  if (of && !dl_is_word(of, "given"))
    yaml_line(f, "geographical_location", of);
  if (hardware.t.len > 0)
    yaml_line(f, "hardware_used", dl_text_str(&hardware.t));
  fputs("---\n\n## Environmental Impact\n\n", f);
  card_line(f, "Hardware Type", dl_text_str(&hardware.t));
  card_line(f, "Hours used (of all GPUs)", hours);
  card_line(f, "Cloud Provider", provider);
  card_line(f, "Compute Region", site ? site : dl_text_or(of, ""));
  card_line(f, "Carbon Emitted", dl_text_str(&carbon.t));
  dl_text_free(&source.t);
  dl_text_free(&hardware.t);
  dl_text_free(&carbon.t);
}

/* --- the formats */

static enum dl_status no_energy(struct dl_diag *d) {
  return dl_fail(d, DL_EUSAGE,
                 "a card or a paragraph describes the energy of a task, and "
                 "there is none here: it goes with predict, step, record, "
                 "extract and report");
}

static enum dl_status write_statement(const struct dl_format *format, FILE *f,
                                      const struct dl_facts *x,
                                      struct dl_diag *d) {
  if (format != &dl_format_card) {
    dl_write_paper(f, x, format == &dl_format_paper_latex);
    return DL_OK;
  }
  if (dl_is_word(dl_fact_text(x, "phase"), "inference"))
    return dl_fail(d, DL_EUSAGE,
                   "a model card states the emissions of a training; for "
                   "inference use --format paper");
  if (isnan(x->co2e_g[0]))
    return dl_fail(d, DL_EUSAGE,
                   "a model card needs the emissions: give --country, --cloud "
                   "or --intensity (of logs: dlest extract LOG -f csv | dlest "
                   "report - --country DE -f card)");
  write_card(f, x);
  return DL_OK;
}

static enum dl_status report(const struct dl_format *format,
                             const struct dl_report *r, FILE *f,
                             struct dl_diag *d) {
  struct dl_facts x;
  return facts_of(r, &x) ? write_statement(format, f, &x, d) : no_energy(d);
}

/* Runs have a statement each, jobs one together. */
static enum dl_status begin(struct dl_stream *s, struct dl_diag *d) {
  static const char *const tables[] = {"runs", "jobs"};
  return dl_text_index(tables, DL_LENGTH(tables), s->key) >= 0 ? DL_OK
                                                               : no_energy(d);
}

static enum dl_status row(struct dl_stream *s, const struct dl_value *values,
                          struct dl_diag *d) {
  const struct dl_task t = {NULL, s->columns, values, s->n_cols};
  struct dl_facts x = {.t = t, .place = t, .coverage = NAN, .jobs = NAN};
  if (!dl_is_word(s->key, "runs"))
    return DL_OK;
  take_energy(&x, &t);
  x.duration_s = dl_fact_number(&x, "duration_s");
  set_emissions(&x);
  if (isnan(x.energy_j[0]))
    return DL_OK;
  if (s->n_rows++ > 0)
    fputc('\n', s->f);
  return write_statement(s->format, s->f, &x, d);
}

static enum dl_status end(struct dl_stream *s, struct dl_diag *d) {
  return s->tail && dl_task_group(s->tail, "total")
             ? report(s->format, s->tail, s->f, d)
             : DL_OK;
}

#define FORMAT(called, about)                                                  \
  {                                                                            \
    .name = called, .summary = about, .whole = true, .sums_up = true,          \
    .report = report, .begin = begin, .row = row, .end = end                   \
  }
const struct dl_format dl_format_card =
    FORMAT("card", "carbon metadata and lines of a model card");
const struct dl_format dl_format_paper =
    FORMAT("paper", "a paragraph for a paper, with its citation");
const struct dl_format dl_format_paper_latex =
    FORMAT("paper-latex", "the paragraph in LaTeX");
