/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A power log in the place of a runs table. */

#include "cli/log_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/passes/extract_rows.h"
#include "logs/extract.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "output/format.h"

/* Whether a file is a log, not a runs table. A file that no importer recognises
 * is a table with columns of its own. */
static bool is_log(const char *path) {
  const struct dl_log_options o = {.interval_s = 0};
  struct dl_diag quiet;
  struct dl_log *log = NULL;
  dl_diag_init(&quiet);
  bool is = dl_log_open(&log, path, &o, &quiet) == DL_OK &&
            log->importer != &dl_import_table && !log->importer->has_jobs;
  dl_log_free(log);
  dl_diag_free(&quiet);
  return is;
}

static enum dl_status extract(struct dl_log_table *t, struct dl_diag *d) {
  static const struct dl_intern none = {0};
  struct dl_progress_bar no_bar = {0};
  struct dl_extract_context ctx = {.bar = &no_bar};
  char *path = (char *)t->path;
  enum dl_status status =
      dl_extract_rows_new(&ctx.rows, &dl_format_csv, t->runs, false, &none, d);
  struct dl_extract_options o = {.sink = dl_extract_rows_add, .ctx = &ctx};
  if (status == DL_OK)
    status = dl_extract(&path, 1, &o, d);
  enum dl_status ended = dl_extract_rows_end(ctx.rows, status == DL_OK, d);
  if (status == DL_OK)
    status = ended;
  if (status == DL_OK && (ferror(t->runs) || fflush(t->runs) != 0))
    status = dl_fail_errno(d, "temporary file", "cannot write", errno);
  return status;
}

enum dl_status dl_log_table_make(struct dl_log_table *t, const char *path,
                                 struct dl_diag *d) {
  *t = (struct dl_log_table){.path = path};
  if (!is_log(path))
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

enum dl_status dl_log_table_open(const struct dl_log_table *t,
                                 struct dl_csv **csv, struct dl_diag *d) {
  if (!t->runs)
    return dl_csv_open(csv, t->path, 0, d);
  FILE *f = reopen(t->runs);
  return f ? dl_csv_open_stream(csv, f, t->path, 0, 0, d)
           : dl_fail_errno(d, "temporary file", "cannot open", errno);
}

void dl_log_table_free(struct dl_log_table *t) {
  if (t->runs)
    fclose(t->runs);
}
