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

void dl_findings_add(struct dl_findings *l, bool error,
                     const struct dl_finding_place *at, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  void *list = l->f;
  dl_grow(&list, &l->cap, l->n + 1, sizeof *l->f);
  l->f = list;
  struct dl_finding *f = &l->f[l->n++];
  *f = (struct dl_finding){error, dl_strdup(at->file), at->line,
                           at->entry ? dl_strdup(at->entry) : NULL,
                           dl_strdup(text)};
  if (!f->file || !f->text || (at->entry && !f->entry))
    l->failed = true;
}

void dl_findings_move(struct dl_findings *to, struct dl_findings *from) {
  void *list = to->f;
  to->failed |= from->failed;
  if (from->n > 0 && dl_grow(&list, &to->cap, to->n + from->n, sizeof *to->f)) {
    to->f = list;
    memcpy(to->f + to->n, from->f, from->n * sizeof *from->f);
    to->n += from->n;
    from->n = 0;
  }
  to->failed |= from->n > 0;
  dl_findings_free(from);
}

size_t dl_findings_errors(const struct dl_findings *l) {
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++)
    n += l->f[i].error;
  return n;
}
