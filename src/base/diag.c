/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Warnings kept; beyond that only their number is. */
enum { MOST_WARNINGS = 20 };

void dl_diag_free(struct dl_diag *d) {
  free(d->error);
  for (size_t i = 0; i < d->n_warnings; i++)
    free(d->warnings[i]);
  free(d->warnings);
  *d = (struct dl_diag){0};
}

/* "FILE:LINE: what" in fresh memory. */
static char *placed(const char *file, size_t line, const char *fmt,
                    va_list ap) {
  struct dl_text t = {0};
  if (file && line > 0)
    dl_text_printf(&t, "%s:%zu: ", file, line);
  else if (file)
    dl_text_printf(&t, "%s: ", file);
  char what[2048];
  vsnprintf(what, sizeof what, fmt, ap);
  dl_text_add(&t, what);
  return t.s;
}

static enum dl_status fail(struct dl_diag *d, enum dl_status status,
                           const char *file, size_t line, const char *fmt,
                           va_list ap) {
  if (d->status == DL_OK) {
    d->status = status;
    d->error = placed(file, line, fmt, ap);
  }
  return status;
}

enum dl_status dl_fail(struct dl_diag *d, enum dl_status status,
                       const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fail(d, status, NULL, 0, fmt, ap);
  va_end(ap);
  return status;
}

enum dl_status dl_fail_at(struct dl_diag *d, enum dl_status status,
                          const char *file, size_t line, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fail(d, status, file, line, fmt, ap);
  va_end(ap);
  return status;
}

enum dl_status dl_fail_errno(struct dl_diag *d, const char *path,
                             const char *what, int err) {
  char reason[128];
  if (err == ENOMEM)
    dl_end_without_memory();
  return dl_fail_at(d, DL_EFAILED, path, 0, "%s: %s", what,
                    strerror_r(err, reason, sizeof reason));
}

static bool known(const struct dl_diag *d, const char *text) {
  for (size_t i = 0; i < d->n_warnings; i++)
    if (strcmp(d->warnings[i], text) == 0)
      return true;
  return false;
}

static void warn(struct dl_diag *d, const char *file, size_t line,
                 const char *fmt, va_list ap) {
  if (d->n_warnings >= MOST_WARNINGS) {
    d->n_more++;
    return;
  }
  char *text = placed(file, line, fmt, ap);
  if (known(d, text)) {
    free(text);
    return;
  }
  d->warnings =
      dl_reallocarray(d->warnings, d->n_warnings + 1, sizeof *d->warnings);
  d->warnings[d->n_warnings++] = text;
  if (d->on_warning)
    d->on_warning(d->ctx, text);
}

void dl_warn(struct dl_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  warn(d, NULL, 0, fmt, ap);
  va_end(ap);
}

void dl_warn_at(struct dl_diag *d, const char *file, size_t line,
                const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  warn(d, file, line, fmt, ap);
  va_end(ap);
}

void dl_skip_at(struct dl_diag *d, const char *file, size_t line,
                const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  warn(d, file, line, fmt, ap);
  va_end(ap);
  d->n_skipped++;
}

void dl_diag_forgive(struct dl_diag *d, const char *file, size_t line) {
  DL_TEXT(place);
  dl_text_printf(&place, "%s:%zu: ", file, line);
  if (d->n_skipped > 0 && d->n_more == 0 && d->n_warnings > 0 &&
      strncmp(d->warnings[d->n_warnings - 1], place.s, place.len) == 0)
    d->n_skipped--;
}

void dl_diag_take(struct dl_diag *to, struct dl_diag *from) {
  for (size_t i = 0; i < from->n_warnings; i++)
    dl_warn(to, "%s", from->warnings[i]);
  to->n_more += from->n_more;
  to->n_skipped += from->n_skipped;
  if (from->error)
    dl_fail(to, from->status, "%s", from->error);
  dl_diag_free(from);
}
