/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/validate/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_findings_free(struct dl_findings *l) {
  for (size_t i = 0; i < l->n; i++) {
    free(l->f[i].file);
    free(l->f[i].entry);
    free(l->f[i].text);
  }
  free(l->f);
  *l = (struct dl_findings){0};
}

void dl_findings_add(struct dl_findings *l, bool error, const char *file,
                     size_t line, const char *entry, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  DL_GROW(l->f, l->cap, l->n + 1);
  l->f[l->n++] =
      (struct dl_finding){error, dl_strdup(file), line,
                          entry ? dl_strdup(entry) : NULL, dl_strdup(text)};
}

void dl_findings_move(struct dl_findings *to, struct dl_findings *from) {
  if (from->n > 0) {
    DL_GROW(to->f, to->cap, to->n + from->n);
    memcpy(to->f + to->n, from->f, from->n * sizeof *from->f);
    to->n += from->n;
    from->n = 0;
  }
  dl_findings_free(from);
}

size_t dl_findings_errors(const struct dl_findings *l) {
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++)
    n += l->f[i].error;
  return n;
}
