/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes `dlest predict --input`: definitions, overrides and aliases, then a
 * table of runs, whose rows are estimated. The first lines of the input may be
 * "define NAME=FORMULA", "set NAME=VALUE" and "alias NAME=ID"; the rest is the
 * table. Rows give the same estimates one by one as in a block where the table
 * is read to its end. Seeds: tests/fuzz/corpus/plan. */

#include "fuzz.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_errno.h>

#include "estimate/engine.h"
#include "model/model.h"

/* The catalogue keeps shapes that it meets: it is made anew now and then. */
enum { INPUTS_PER_CATALOG = 500 };

/* Intervals of a fitted model take most of the time: only some inputs have
 * one. */
enum { MODEL_EVERY = 32 };

static struct dl_catalog *catalog;
static struct dl_model *model;
static size_t n_inputs;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  struct dl_diag d = {0};
  (void)argc;
  (void)argv;
  gsl_set_error_handler_off();
  must(dl_model_read(&model, "models/pre.xml", NULL, &d) == DL_OK);
  dl_diag_free(&d);
  return 0;
}

struct outcome {
  enum dl_status status;
  size_t n_rows;
  uint64_t sum;
};

static const struct {
  const char *word;
  enum dl_status (*add)(struct dl_row_plan *, const char *, struct dl_diag *);
} instructions[] = {{"define ", dl_plan_define},
                    {"set ", dl_plan_override},
                    {"alias ", dl_plan_alias}};

/* Follows the instruction that a line gives; false if it gives none. */
static bool instruct(struct dl_row_plan *f, const char *line,
                     enum dl_status *status, struct dl_diag *d) {
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
    size_t len = strlen(instructions[i].word);
    if (strncmp(line, instructions[i].word, len) == 0) {
      *status = instructions[i].add(f, line + len, d);
      return true;
    }
  }
  return false;
}

/* Follows the first lines; *text becomes the table. */
static enum dl_status read_instructions(struct dl_row_plan *f, char **text,
                                        struct dl_diag *d) {
  enum dl_status status = DL_OK;
  char *end;
  while (status == DL_OK && (end = strchr(*text, '\n')) != NULL) {
    *end = '\0';
    bool followed = instruct(f, *text, &status, d);
    *end = '\n';
    if (!followed)
      break;
    *text = end + 1;
  }
  return status;
}

static void add_estimate(struct outcome *o, const struct dl_estimate *e) {
  const double x[] = {e->energy_j.x, e->energy_j.low, e->energy_j.high,
                      e->power_w.x, e->duration_s.x};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    must(!isinf(x[i]) || i == 2);
    o->sum = isnan(x[i]) ? digest(o->sum, "nan", 3)
                         : digest(o->sum, &x[i], sizeof x[i]);
  }
  must(!(e->energy_j.x < 0) && !(e->energy_j.low > e->energy_j.high));
  o->sum = digest(o->sum, &e->n_outside, sizeof e->n_outside);
}

static void estimate(struct outcome *o, struct dl_engine *s,
                     struct dl_row_plan *f, const struct dl_csv_block *block,
                     struct dl_diag *d) {
  struct dl_result r;
  dl_engine_make_room(s, &r);
  for (size_t i = 0; i < block->n_rows; i++) {
    const struct dl_row *row = dl_plan_row(f, i);
    o->n_rows++;
    o->sum = digest(o->sum, &row->fault.kind, sizeof row->fault.kind);
    if (row->fault.kind != DL_FAULT_NONE) {
      must(dl_plan_complain(f, row, "fuzz", block->line[i], d) == DL_OK);
      continue;
    }
    must(dl_engine_row(s, row, &r, d) == DL_OK);
    dl_engine_refuses(catalog, &r.job, "fuzz", block->line[i], d);
    for (size_t m = 0; m < r.n; m++)
      add_estimate(o, &r.est[m]);
  }
  free(r.est);
}

static struct outcome predict(char *text, const struct dl_model *m,
                              size_t block_size) {
  struct dl_row_plan *f = dl_plan_new(catalog);
  struct dl_engine *session = NULL;
  const struct dl_csv_block *block;
  struct dl_csv *csv = NULL;
  struct outcome o = {.sum = 1};
  struct dl_diag d = {0};
  must(f != NULL);
  o.status = read_instructions(f, &text, &d);
  if (o.status == DL_OK && *text) {
    FILE *in = fmemopen(text, strlen(text), "r");
    must(in != NULL);
    o.status = dl_csv_open_stream(&csv, in, "fuzz", 0, block_size, &d);
  }
  if (o.status == DL_OK && csv) {
    dl_plan_columns(f, csv);
    o.status = dl_engine_new(&session, f, m, "all", 0.9, &d);
  }
  if (o.status == DL_OK && session) {
    dl_plan_warn_unused(f, &d);
    while ((o.status = dl_plan_next(f, csv, &block, &d)) == DL_OK && block)
      estimate(&o, session, f, block, &d);
  }
  must(o.status == DL_OK || d.error);
  dl_engine_free(session);
  dl_csv_free(csv);
  dl_plan_free(f);
  dl_diag_free(&d);
  return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (memchr(data, '\0', size))
    return 0;
  if (n_inputs++ % INPUTS_PER_CATALOG == 0) {
    dl_catalog_free(catalog);
    catalog = dl_catalog_new(NULL);
    must(catalog != NULL);
  }
  char *text = text_of(data, size);
  const struct dl_model *m = size % MODEL_EVERY == 0 ? model : NULL;
  struct outcome a = predict(text, m, 1 << 16);
  struct outcome b = predict(text, m, 1);
  must(a.status == b.status);
  /* A table that is refused loses the rows of the block that has the fault. */
  must(a.status != DL_OK || (a.n_rows == b.n_rows && a.sum == b.sum));
  free(text);
  return 0;
}
