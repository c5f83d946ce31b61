/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* The first warnings are kept; beyond that the first of each further kind is,
 * and the others are counted. */
enum { MOST_WARNINGS = 20, MOST_KINDS = 200 };

void dl_diag_free(struct dl_diag *d) {
  free(d->error);
  for (size_t i = 0; i < d->n_warnings; i++) {
    free(d->warnings[i]);
    free(d->kinds[i]);
  }
  free(d->warnings);
  free(d->kinds);
  *d = (struct dl_diag){0};
}

static void add_place(struct dl_text *to, const char *file, size_t line) {
  if (file && line > 0)
    dl_text_printf(to, "%s:%zu: ", file, line);
  else if (file)
    dl_text_printf(to, "%s: ", file);
}

/* Returns "FILE:LINE: what" in fresh memory. */
static char *placed(const char *file, size_t line, const char *fmt,
                    va_list ap) {
  struct dl_text t = {0};
  add_place(&t, file, line);
  char what[2048];
  vsnprintf(what, sizeof what, fmt, ap);
  dl_text_add(&t, what);
  return t.s;
}

enum dl_status dl_fail_at(struct dl_diag *d, enum dl_status status,
                          const char *file, size_t line, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (d->status == DL_OK) {
    d->status = status;
    d->error = placed(file, line, fmt, ap);
  }
  va_end(ap);
  return status;
}

enum dl_status dl_fail_errno(struct dl_diag *d, const char *path,
                             const char *what, int err) {
  if (err == ENOMEM)
    dl_end_without_memory();
  return dl_fail_at(d, DL_EFAILED, path, 0, "%s: %s", what, strerror(err));
}

static bool known(char *const *list, size_t n, const char *text) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i], text) == 0)
      return true;
  return false;
}

/* Copies a text without its place, words with digits and quoted texts other
 * than names of columns, so that rows with an equal fault have an equal kind.
 */
static char *kind_of(const char *text, const char *place) {
  struct dl_text kind = {0};
  size_t n = strlen(place);
  const char *s = text + (strncmp(text, place, n) == 0 ? n : 0);
  bool column = false;
  while (*s != '\0') {
    n = strcspn(s, " ");
    const char *end = *s == '\'' && !column ? strchr(s + 1, '\'') : NULL;
    column = n == strlen("column") && strncmp(s, "column", n) == 0;
    if (end)
      n = (size_t)(end + 1 - s);
    else if (strcspn(s, "0123456789") >= n)
      dl_text_add_n(&kind, s, n);
    s += n;
    n = strspn(s, " ");
    s += n;
  }
  return kind.s ? kind.s : dl_strdup("");
}

/* Keeps a warning, or counts it. Takes text and kind over. */
static void keep(struct dl_diag *d, char *text, char *kind) {
  bool new =
      d->n_warnings < MOST_WARNINGS ||
      (d->n_warnings < MOST_KINDS && !known(d->kinds, d->n_warnings, kind));
  if (!new || known(d->warnings, d->n_warnings, text)) {
    d->n_more += !new;
    free(text);
    free(kind);
    return;
  }
  size_t n = d->n_warnings++;
  d->warnings = dl_reallocarray(d->warnings, n + 1, sizeof *d->warnings);
  d->kinds = dl_reallocarray(d->kinds, n + 1, sizeof *d->kinds);
  d->warnings[n] = text;
  d->kinds[n] = kind;
  if (d->on_warning)
    d->on_warning(d->ctx, text);
}

static void warn(struct dl_diag *d, const char *file, size_t line,
                 const char *fmt, va_list ap) {
  struct dl_text place = {0};
  char *text = placed(file, line, fmt, ap);
  add_place(&place, file, line);
  keep(d, text, kind_of(text, dl_text_str(&place)));
  dl_text_free(&place);
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

void dl_diag_take_warnings(struct dl_diag *to, const struct dl_diag *from) {
  for (size_t i = 0; i < from->n_warnings; i++)
    keep(to, dl_strdup(from->warnings[i]), dl_strdup(from->kinds[i]));
  to->n_more += from->n_more;
}

void dl_diag_take(struct dl_diag *to, struct dl_diag *from) {
  dl_diag_take_warnings(to, from);
  to->n_skipped += from->n_skipped;
  if (from->error)
    dl_fail(to, from->status, "%s", from->error);
  dl_diag_free(from);
}
