/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diagnostics are the errors and warnings that the library reports.
 *
 * A diag holds at most one error (the first one reported) and a list of
 * warnings. Library functions that can fail take one and return a status; they
 * never print. A skip is a warning about a row that could not be used.
 *
 * Not safe for use from several threads at once: parallel code collects its
 * findings and reports them afterwards, in order. Start from {0}. */

#ifndef DL_BASE_DIAG_H
#define DL_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/progress/progress.h"
#include "base/status.h"

#define DL_PRINTF(f, a) __attribute__((format(printf, f, a)))

struct dl_diag {
  enum dl_status status; /* of the error, DL_OK without one */
  char *error;           /* "FILE:LINE: what", owned; NULL without one */
  char **warnings;       /* owned, in order, each text once */
  char **kinds;          /* of the warnings: texts without names and numbers */
  size_t n_warnings;     /* length of the list */
  size_t n_more;         /* warnings of known kinds that the list lacks */
  size_t n_skipped;      /* rows that could not be used */
  /* Is called with each warning as it comes, when set. */
  void (*on_warning)(void *ctx, const char *text);
  void *ctx;
  struct dl_progress *progress; /* of the work, borrowed; or NULL */
};

/* Frees what d holds and empties it. */
void dl_diag_free(struct dl_diag *d);

/* Appends the findings of `from` to `to`, as if they had been reported there,
 * and empties `from`. Work that several threads share needs it. */
void dl_diag_take(struct dl_diag *to, struct dl_diag *from);

/* Hands over the warnings alone. */
void dl_diag_take_warnings(struct dl_diag *to, const struct dl_diag *from);

/* Record an error, at a place (file NULL: none; line 0: the file), and return
 * its status. The first error is kept. */
#define dl_fail(d, status, ...) dl_fail_at(d, status, NULL, 0, __VA_ARGS__)
enum dl_status dl_fail_at(struct dl_diag *d, enum dl_status status,
                          const char *file, size_t line, const char *fmt, ...)
    DL_PRINTF(5, 6);

/* Records that a system call on `path` failed with errno value `err`. `what`
 * reads "cannot open", "cannot write", ... */
enum dl_status dl_fail_errno(struct dl_diag *d, const char *path,
                             const char *what, int err);

#define dl_warn(d, ...) dl_warn_at(d, NULL, 0, __VA_ARGS__)
void dl_warn_at(struct dl_diag *d, const char *file, size_t line,
                const char *fmt, ...) DL_PRINTF(4, 5);

/* Turns the skip of that line into a warning, if it was the last report. */
void dl_diag_forgive(struct dl_diag *d, const char *file, size_t line);

/* Warns that a row of `file` cannot be used, and counts it as skipped. */
void dl_skip_at(struct dl_diag *d, const char *file, size_t line,
                const char *fmt, ...) DL_PRINTF(4, 5);

#endif
