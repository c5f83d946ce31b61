/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a log of the system gives, written down as text: a line for each reading
 * ("CPU package-0 at 1.5: 12.5 J"), run and warning. Include after cmocka.h. */

#ifndef DL_TESTS_SYSTEM_LOG_H
#define DL_TESTS_SYSTEM_LOG_H

#include "base/text.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "logs/log_part.h"
#include "quantities/quantities.h"
#include "unit.h"

static UNUSED void add_number(struct dl_text *out, double x, const char *unit) {
  if (!isnan(x))
    dl_text_printf(out, " %.10g %s", x, unit);
}

static UNUSED void add_reading(struct dl_text *out, const struct dl_log *log,
                               const struct dl_reading *r) {
  static const char *const kinds[] = {"GPU", "CPU", "RAM", "NODE"};
  const struct dl_meter_info *m = &log->meter[r->meter];
  char time[DL_TIMESTAMP_SIZE];

  dl_text_printf(out, "%s%s%s at ", kinds[m->kind], m->id ? " " : "",
                 m->id ? m->id : "");
  if (log->clock == DL_CLOCK_RELATIVE)
    dl_text_printf(out, "%.10g:", (double)r->ns / 1e9);
  else
    dl_text_printf(
        out,
        "%s:", dl_format_timestamp(time, r->ns, log->clock == DL_CLOCK_ZONED));
  add_number(out, r->power_w, "W");
  add_number(out, r->energy_j, "J");
  assert_true(isnan(r->util));
  dl_text_add(out, "\n");
}

/* The cells that are set, in this order. */
static UNUSED void add_run(struct dl_text *out, const struct dl_run *r,
                           bool lines) {
  static const char *const names[] = {
      "run_id",       "gpu",          "n_gpus",        "duration_s",
      "ram_energy_j", "cpu_energy_j", "node_energy_j", "energy_j",
      "boundary",     "cpu_util",     "gpu_util",      "ram_gb",
      "partition",    "start_time",   "project",       "job_name",
      "user",         "state",        "n_nodes",       "n_cpus"};
  size_t set = 0;

  if (lines)
    dl_text_printf(out, "%zu:", r->line);
  for (size_t i = 0; i < COUNT(names); i++) {
    const struct dl_run_column *c = dl_run_column_find(names[i]);
    enum dl_run_id id = c->id;
    if (!dl_run_has(r, id))
      continue;
    set++;
    if (c->is_text)
      dl_text_printf(out, " %s=%s", names[i], dl_run_text(r, id));
    else
      dl_text_printf(out, " %s=%.10g", names[i], dl_run_number(r, id));
  }
  dl_text_add(out, "\n");
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++)
    set -= dl_run_has(r, (enum dl_run_id)i);
  assert_int_equal(set, 0);
}

/* Reads a log; *notes gets what was reported. Without, lines of runs are left
 * out. */
static UNUSED void read_text(const struct dl_importer *from, const char *text,
                             size_t len, struct dl_text *out,
                             struct dl_text *notes) {
  const char *path = temp_path("log");
  FILE *f = fopen(path, "wb");
  struct dl_log_options o = {.from = from};
  struct dl_log_block block;
  struct dl_log *log;
  struct dl_diag d = {0};

  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
  enum dl_status status = dl_log_open(&log, path, &o, &d);
  struct dl_log_part *part = log ? dl_log_part_new(log) : NULL;
  while (status == DL_OK &&
         (status = dl_log_part_next(log, part, &block, &d)) == DL_OK &&
         block.n_readings + block.n_runs > 0) {
    for (size_t i = 0; i < block.n_readings; i++)
      add_reading(out, log, &block.reading[i]);
    for (size_t i = 0; i < block.n_runs; i++)
      add_run(out, &block.run[i], notes != NULL);
  }
  assert_true(status == DL_OK || status == DL_EINPUT);
  for (size_t i = 0; notes && i < d.n_warnings; i++)
    dl_text_printf(notes, "%s\n", d.warnings[i] + strlen(path) + 1);
  if (notes && d.error)
    dl_text_printf(notes, "%s\n", d.error + strlen(path) + 1);
  dl_log_part_free(part);
  dl_log_free(log);
  dl_diag_free(&d);
}

/* A log, what it gives, and what is reported. */
static UNUSED void check(const struct dl_importer *from, const char *log,
                         const char *expected, const char *reports) {
  struct dl_text out = {0}, notes = {0};

  read_text(from, log, strlen(log), &out, &notes);
  assert_string_equal(out.s ? out.s : "", expected);
  assert_string_equal(notes.s ? notes.s : "", reports);
  dl_text_free(&out);
  dl_text_free(&notes);
}

/* Every beginning of a log gives what its complete lines say, or those and a
 * last one that has all its fields; where `growing`, that is how the whole one
 * begins. */
static UNUSED void check_prefixes(const struct dl_importer *from,
                                  const char *log, bool growing) {
  struct dl_text whole = {0};
  size_t len = strlen(log);

  read_text(from, log, len, &whole, NULL);
  for (size_t n = 0; n < len; n++) {
    struct dl_text out = {0}, lines = {0}, ended = {0}, text = {0};
    size_t complete = n;
    while (complete > 0 && log[complete - 1] != '\n')
      complete--;
    read_text(from, log, n, &out, NULL);
    read_text(from, log, complete, &lines, NULL);
    dl_text_printf(&text, "%.*s\n", (int)n, log);
    read_text(from, text.s, n + 1, &ended, NULL);
    if (strcmp(dl_text_str(&out), dl_text_str(&ended)) != 0)
      assert_string_equal(dl_text_str(&out), dl_text_str(&lines));
    if (growing && out.s)
      assert_int_equal(strncmp(whole.s, out.s, strlen(out.s)), 0);
    dl_text_free(&out);
    dl_text_free(&lines);
    dl_text_free(&ended);
    dl_text_free(&text);
  }
  dl_text_free(&whole);
}

/* Of all importers the first that knows a head is this one, and of those of
 * the system it is the only one; NULL: none of these. */
static UNUSED void check_probe(const struct dl_importer *wanted,
                               const char *text) {
  static const struct dl_importer *const ours[] = {
      &dl_import_sacct, &dl_import_sstat, &dl_import_ptdaemon, &dl_import_perf,
      &dl_import_turbostat};
  struct dl_head head = {text, strlen(text), "log"};

  for (size_t i = 0; i < COUNT(ours); i++)
    if (ours[i]->probe(&head) != (ours[i] == wanted))
      fail_msg("%s: \"%.60s\"", ours[i]->name, text);
  for (size_t i = 0; wanted && dl_importers[i] != wanted; i++)
    if (dl_importers[i]->probe(&head))
      fail_msg("%s: \"%.60s\"", dl_importers[i]->name, text);
}

#endif
