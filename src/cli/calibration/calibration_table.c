/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/calibration/calibration_table.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/number.h"
#include "cli/passes/extract_rows.h"
#include "logs/extract.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "output/format.h"

/* A file that no importer recognises is a table with columns of its own. */
bool dl_calibration_is_log(const char *path) {
  const struct dl_log_options o = {.interval_s = 0};
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  DL_SCOPED(dl_log_free_local) struct dl_log *log = NULL;
  return dl_log_open(&log, path, &o, &quiet) == DL_OK &&
         log->importer != &dl_import_table && !log->importer->has_jobs;
}

const struct dl_importer *dl_run_log_importer(const char *path) {
  const struct dl_log_options o = {.interval_s = 0};
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  DL_SCOPED(dl_log_free_local) struct dl_log *log = NULL;
  struct stat st;
  bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            dl_log_open(&log, path, &o, &quiet) == DL_OK &&
            log->importer->role < DL_LOG_RUNS;
  return is ? log->importer : NULL;
}

enum dl_status dl_table_check(const char *path, struct dl_diag *d) {
  const struct dl_importer *log = dl_run_log_importer(path);
  return !log ? DL_OK
              : dl_fail_at(d, DL_EINPUT, path, 0,
                           "a log of %s, no table of runs: dlest extract makes "
                           "one of it",
                           log->name);
}

static enum dl_status extract(struct dl_calibration_table *t,
                              struct dl_diag *d) {
  static const struct dl_intern none = {0};
  struct dl_extract_rows *rows =
      dl_extract_rows_new(&dl_format_csv, t->runs, false, &none, NULL);
  char *path = (char *)t->path;
  struct dl_extract_options o = {.sink = dl_extract_rows_add, .ctx = rows};
  enum dl_status status = dl_extract(&path, 1, &o, d);
  enum dl_status ended = dl_extract_rows_end(rows, status == DL_OK, d);
  if (status == DL_OK)
    status = ended;
  if (status == DL_OK && (ferror(t->runs) || fflush(t->runs) != 0))
    status = dl_fail_errno(d, "temporary file", "cannot write", errno);
  return status;
}

enum dl_status dl_calibration_table_make(struct dl_calibration_table *t,
                                         const char *path, struct dl_diag *d) {
  *t = (struct dl_calibration_table){.path = path};
  if (!dl_calibration_is_log(path))
    return DL_OK;
  t->runs = tmpfile();
  return t->runs ? extract(t, d)
                 : dl_fail_errno(d, "temporary file", "cannot create", errno);
}

/* The file's own offset stays where it is. */
static FILE *reopen(FILE *f) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
  return fopen(path, "r");
}

enum dl_status dl_calibration_table_open(const struct dl_calibration_table *t,
                                         struct dl_csv **csv,
                                         struct dl_diag *d) {
  if (!t->runs)
    return dl_csv_open(csv, t->path, 0, d);
  FILE *f = reopen(t->runs);
  return f ? dl_csv_open_stream(csv, f, t->path, 0, 0, d)
           : dl_fail_errno(d, "temporary file", "cannot open", errno);
}

void dl_calibration_table_close(struct dl_calibration_table *t) {
  if (t->runs)
    fclose(t->runs);
}

enum dl_status dl_calibration_table_keep(struct dl_calibration_table *t,
                                         const struct dl_model *m,
                                         struct dl_diag *d) {
  dl_calibration_table_close(t);
  *t = (struct dl_calibration_table){.path = m->path ? m->path : "runs",
                                     .runs = tmpfile()};
  if (t->runs)
    dl_calibration_runs_write(&m->runs, t->runs);
  return t->runs && !ferror(t->runs) && fflush(t->runs) == 0
             ? DL_OK
             : dl_fail_errno(d, "temporary file", "cannot write", errno);
}
