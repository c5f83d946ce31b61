/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs an importer over the lines or rows of a log, and collects its readings
 * and runs in blocks.
 *
 * A problem with a line is reported once another line follows: on the last line
 * it means that the file is incomplete or still being written. Readings are
 * kept back by as many lines as are to be ignored at the end. */

#include "logs/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/json_read.h"
#include "io/lines.h"
#include "logs/importers/importers.h"
#include "logs/importers/unknown_format.h"
#include "logs/log_private.h"
#include "logs/seen/seen_jobs.h"
#include "logs/seen/seen_rows.h"
#include "logs/slurm/held_jobs.h"
#include "logs/slurm/sacct_json.h"

enum { BLOCK_READINGS = 512, BLOCK_RUNS = 64 };

/* Bytes of a table read at once: tables have few rows. */
#define TABLE_BLOCK ((size_t)1 << 18)

/* --- opening */

static enum dl_status fail_unknown(const struct dl_log *log,
                                   const struct dl_head *head,
                                   struct dl_diag *d) {
  const char *why = dl_unknown_format(head);
  if (why)
    return dl_fail_at(d, DL_EINPUT, log->path, 0, "unknown log format: %s",
                      why);
  return dl_fail_at(d, DL_EINPUT, log->path, 0,
                    "unknown log format; see 'dlest list importers', and "
                    "--from");
}

/* Reads the rest of the file, of DL_JSON_MOST_BYTES at most. */
static enum dl_status read_all(struct dl_log *log, struct dl_text *text) {
  char piece[1 << 14];
  size_t n;
  FILE *f = dl_lines_stream(log->lines);
  while (text->len <= DL_JSON_MOST_BYTES &&
         (n = fread(piece, 1, sizeof piece, f)) > 0)
    dl_text_add_n(text, piece, n);
  bool failed = ferror(f);
  dl_close_input(f);
  if (failed)
    return dl_fail_at(log->d, DL_EFAILED, log->path, 0, "cannot read");
  if (text->len > DL_JSON_MOST_BYTES)
    return dl_fail_at(log->d, DL_EINPUT, log->path, 0,
                      "more than %d MiB: split the range of times",
                      DL_JSON_MOST_BYTES >> 20);
  return DL_OK;
}

/* JSON of sacct is read as the table that sacct -P prints. */
static enum dl_status take_table(struct dl_log *log, struct dl_head *head,
                                 struct dl_diag *d) {
  DL_TEXT(text);
  DL_TEXT(table);
  if (!dl_sacct_json_is(head->text))
    return DL_OK;
  DL_TRY(read_all(log, &text));
  DL_TRY(
      dl_sacct_json_table(&table, dl_text_str(&text), text.len, log->path, d));
  DL_TRY(dl_lines_read_text(log->lines, dl_text_str(&table), table.len, d));
  head->text = dl_lines_head(log->lines, &head->len);
  return DL_OK;
}

enum dl_status dl_log_open(struct dl_log **out, const char *path,
                           const struct dl_log_options *o, struct dl_diag *d) {
  struct dl_log *log = *out = dl_calloc(1, sizeof *log);
  struct dl_head head = {.path = path};
  log->o = *o;
  log->o.seen = o->seen ? o->seen : &log->own_seen;
  log->d = d;
  log->line = 1;
  log->importer = o->from;
  enum dl_status status = dl_lines_open(&log->lines, path, d);
  if (status == DL_OK) {
    log->path = log->lines->path;
    head.text = dl_lines_head(log->lines, &head.len);
    status = take_table(log, &head, d);
  }
  if (status == DL_OK) {
    for (size_t i = 0; !log->importer && dl_importers[i]; i++)
      if (dl_importers[i]->probe(&head))
        log->importer = dl_importers[i];
    if (!log->importer)
      status = fail_unknown(log, &head, d);
  }
  if (status == DL_OK) /* there is an importer, or the above failed
                        * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    log->state = dl_calloc(1, log->importer->state_size + 1);
  if (status == DL_OK && log->importer->row) {
    FILE *f = dl_lines_stream(log->lines);
    status = dl_csv_open_stream(&log->csv, f, log->path,
                                log->importer->delimiter, TABLE_BLOCK, d);
  }
  if (status == DL_OK && log->csv) {
    dl_csv_let_grow(log->csv);
    log->n_columns = dl_csv_n_cols(log->csv);
  }
  if (status == DL_OK && log->importer->begin)
    status = log->importer->begin(log, &head, d);
  if (status != DL_OK) {
    dl_log_free(log);
    *out = NULL;
  }
  return status;
}

void dl_seen_rows_free(struct dl_seen_rows *s) {
  free(s->slot);
  dl_seen_jobs_free(s->jobs);
  dl_held_jobs_free(s->held);
  dl_seen_times_free(&s->nodes);
  dl_seen_times_free(&s->hardware);
  *s = (struct dl_seen_rows){0};
}

void dl_log_free(struct dl_log *log) {
  if (!log)
    return;
  dl_log_free_contents(log);
  free(log->carry.s);
  dl_seen_rows_free(&log->own_seen);
  dl_csv_free(log->csv);
  dl_lines_free(log->lines);
  free(log);
}

DL_FREES(dl_log_free, struct dl_log)

/* --- reading */

/* After the last line; cut_off: it was incomplete and has been reported. */
static void end(struct dl_log *log, bool cut_off) {
  size_t drop = log->o.drop_last;
  size_t last = log->line > drop ? log->line - drop : 0;
  log->at_end = true;
  if (log->importer->end)
    log->importer->end(log);
  while (log->n_readings > 0 && log->reading[log->n_readings - 1].line > last)
    log->n_readings--;
  dl_log_report_last(log, cut_off);
}

static enum dl_status read_line(struct dl_log *log) {
  struct dl_line line;
  DL_TRY(dl_lines_next(log->lines, &line, log->d));
  if (!line.s)
    end(log, false);
  else if (!dl_log_import_line(log, &line))
    end(log, true);
  return DL_OK;
}

/* Imports all of a log that is one text. */
static enum dl_status read_text(struct dl_log *log) {
  DL_TEXT(text);
  DL_TRY(read_all(log, &text));
  DL_TRY(log->importer->text(log, dl_text_str(&text), text.len, log->d));
  end(log, false);
  return DL_OK;
}

/* Whether a row with this hash was read before, with a warning; otherwise
 * remembers it. */
static bool is_repeat(struct dl_log *log, uint64_t hash) {
  if (!dl_seen_has(log->o.seen, hash)) {
    dl_seen_add(log->o.seen, hash);
    return false;
  }
  if (!log->warned_repeat)
    dl_log_warn(log, DL_LOG_REPEATED);
  log->warned_repeat = true;
  return true;
}

/* The next rows of the table. If it ends within quotes, it was cut off there:
 * the rows before count. */
static enum dl_status next_rows(struct dl_log *log) {
  struct dl_diag own = {0};
  enum dl_status status = dl_csv_next(log->csv, &log->block, &own);
  if (status == DL_EINPUT) {
    dl_warn(log->d, "%s; what is before is used", own.error);
    free(own.error);
    own.error = NULL;
    log->block = NULL;
    status = DL_OK;
  }
  if (dl_csv_at_end(log->csv) && dl_lines_cut(log->lines) > 0)
    dl_diag_forgive(&own, log->path, dl_lines_cut(log->lines));
  dl_diag_take(log->d, &own);
  log->row = 0;
  if (status != DL_OK || dl_csv_n_cols(log->csv) == log->n_columns)
    return status;
  log->n_columns = dl_csv_n_cols(log->csv);
  return log->importer->begin(log, &(struct dl_head){.path = log->path},
                              log->d);
}

static enum dl_status read_row(struct dl_log *log) {
  if (!log->block || log->row == log->block->n_rows) {
    DL_TRY(next_rows(log));
    if (!log->block) {
      end(log, false);
      return DL_OK;
    }
  }
  size_t row = log->row++, n = log->block->n_cols;
  const char *const *cell = log->block->cell + row * n;
  uint64_t hash = DL_SEEN_START;
  log->line = log->block->line[row];
  for (size_t i = 0; i < n; i++)
    hash = dl_seen_hash(hash, cell[i], strlen(cell[i]) + 1);
  bool cut = log->row == log->block->n_rows && dl_csv_is_cut(log->csv);
  bool taken = !cut || log->importer->role == DL_LOG_RUNS;
  if (taken && !log->importer->equal_rows && is_repeat(log, hash))
    return DL_OK;
  taken = taken && log->importer->row(log, cell);
  if (cut && taken) {
    dl_log_warn_uncertain(log, cell[n - 1]);
  } else if (cut) {
    dl_log_forget_line(log);
    dl_warn_at(log->d, log->path, log->line, DL_LOG_CUT_OFF);
  }
  return DL_OK;
}

/* How many readings may be returned. */
static size_t ready(const struct dl_log *log) {
  size_t n = log->n_readings;
  if (!log->at_end && log->o.drop_last > 0)
    while (n > 0 && log->reading[n - 1].line + log->o.drop_last > log->line)
      n--;
  return n;
}

static enum dl_status read_next(struct dl_log *log) {
  if (log->csv)
    return read_row(log);
  return log->importer->text ? read_text(log) : read_line(log);
}

enum dl_status dl_log_next(struct dl_log *log, struct dl_log_block *block,
                           struct dl_diag *d) {
  size_t hold = log->o.drop_last;
  log->d = d;
  log->n_readings -= log->n_used;
  if (log->n_used > 0 && log->n_readings > 0)
    memmove(log->reading, log->reading + log->n_used,
            log->n_readings * sizeof *log->reading);
  while (log->n_runs > 0)
    dl_run_clear(&log->run[--log->n_runs]);
  *block = (struct dl_log_block){0};
  size_t left = ready(log);
  while (!log->at_end && log->n_runs < BLOCK_RUNS &&
         (log->n_readings < BLOCK_READINGS + 2 * hold || ready(log) <= left)) {
    DL_TRY(read_next(log));
    if (log->n_problems > 0 && !log->at_end)
      dl_log_report(log, log->line > hold + 1 ? log->line - hold - 1 : 0);
  }
  log->bytes = log->lines->bytes;
  log->n_used = ready(log);
  *block =
      (struct dl_log_block){log->reading, log->n_used, log->run, log->n_runs};
  return DL_OK;
}
