/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a log of runs, and writing down all that comes of it. Include after
 * unit.h. */

#ifndef DL_TESTS_RUNS_LOG_H
#define DL_TESTS_RUNS_LOG_H

#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"
#include "logs/log_part.h"
#include "quantities/quantities.h"

/* " name=number" where it is known. */
static UNUSED void add_number(struct dl_text *out, const char *name, double x) {
  char buf[DL_NUMBER_SIZE];

  if (!isnan(x))
    dl_text_printf(out, " %s=%s", name, dl_format_short(buf, x));
}

/* " column=value" for all that is known, and a line an epoch. */
static UNUSED void add_run(struct dl_text *out, const struct dl_run *r) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    if (c->is_text && dl_run_text(r, (enum dl_run_id)i))
      dl_text_printf(out, " %s=%s", c->name, dl_run_text(r, (enum dl_run_id)i));
    else if (!c->is_text)
      add_number(out, c->name, dl_run_number(r, (enum dl_run_id)i));
  }
  dl_text_add(out, "\n");
  for (size_t i = 0; i < r->n_epochs; i++) {
    const struct dl_epoch *e = &r->epoch[i];
    assert_int_equal(e->part, DL_PART_EPOCH);
    add_number(out, "", e->number);
    add_number(out, "start", e->start_s);
    add_number(out, "s", e->duration_s);
    add_number(out, "gpu_w", e->gpu_power_w);
    add_number(out, "gpu", e->gpu_energy_j);
    add_number(out, "cpu", e->cpu_energy_j);
    add_number(out, "ram", e->ram_energy_j);
    add_number(out, "all", e->energy_j);
    dl_text_add(out, "\n");
  }
}

static UNUSED int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads a text of `len` bytes: runs, then "W:LINE: warning", sorted, and
 * "E:LINE: error". The result is the caller's. */
static UNUSED char *read_runs(const struct dl_importer *from, const char *text,
                              size_t len) {
  const struct dl_log_options o = {.from = from};
  const char *path = temp_path("log");
  struct dl_text out = {0};
  struct dl_log_block block;
  struct dl_log *log = NULL;
  struct dl_diag d = {0};
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
  enum dl_status status = dl_log_open(&log, path, &o, &d);
  struct dl_log_part *part = log ? dl_log_part_new(log) : NULL;
  while (status == DL_OK) {
    status = dl_log_part_next(log, part, &block, &d);
    if (status != DL_OK || (block.n_runs == 0 && block.n_readings == 0))
      break;
    assert_int_equal(block.n_readings, 0);
    for (size_t i = 0; i < block.n_runs; i++)
      add_run(&out, &block.run[i]);
  }
  assert_true(status == DL_OK || status == DL_EINPUT);
  size_t skip = strlen(path);
  if (d.n_warnings > 0)
    qsort(d.warnings, d.n_warnings, sizeof *d.warnings, by_text);
  for (size_t i = 0; i < d.n_warnings; i++)
    dl_text_printf(&out, "W%s\n", d.warnings[i] + skip);
  if (d.error)
    dl_text_printf(&out, "E%s\n", d.error + skip);
  dl_log_part_free(part);
  dl_log_free(log);
  dl_diag_free(&d);
  return out.s ? out.s : calloc(1, 1);
}

static UNUSED void assert_runs(const struct dl_importer *from, const char *text,
                               const char *expected) {
  char *got = read_runs(from, text, strlen(text));

  assert_string_equal(got, expected);
  free(got);
}

/* Cuts what was read down to its runs. */
static UNUSED void drop_messages(char *s) {
  while (*s != '\0' && *s != 'W' && *s != 'E') {
    char *end = strchr(s, '\n');
    assert_non_null(end);
    s = end + 1;
  }
  *s = '\0';
}

/* Reads all beginnings of a text. One that ends within a line must say what
 * the whole lines before it say; `more` allows for what a table's unfinished
 * last row adds to, or puts in the place of, the last `more` lines. */
static UNUSED void assert_prefixes(const struct dl_importer *from,
                                   const char *text, size_t more) {
  char *whole = calloc(1, 1);

  assert_non_null(whole);
  for (size_t len = 1; len <= strlen(text); len++) {
    char *got = read_runs(from, text, len);
    if (strstr(got, "quote not closed")) { /* a fault that loses all */
      free(got);
      continue;
    }
    drop_messages(got);
    if (text[len - 1] == '\n') {
      free(whole);
      whole = got;
      continue;
    }
    size_t same = strlen(whole);
    for (size_t n = more; n > 0 && same > 0; n--)
      for (same--; same > 0 && whole[same - 1] != '\n';)
        same--;
    if (strncmp(got, whole, same) != 0 || (more == 0 && got[same] != '\0'))
      fail_msg("cut off behind %zu bytes:\n%s\nbut whole lines:\n%s", len, got,
               whole);
    free(got);
  }
  free(whole);
}

static UNUSED bool probes(const struct dl_importer *importer,
                          const char *text) {
  const struct dl_head head = {text, strlen(text), "log"};

  return importer->probe(&head);
}

#endif
