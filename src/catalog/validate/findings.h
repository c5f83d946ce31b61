/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: the errors and warnings of a check, each with its place. */

#ifndef DL_CATALOG_VALIDATE_FINDINGS_H
#define DL_CATALOG_VALIDATE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct dl_finding {
  bool error;  /* else a warning */
  char *file;  /* owned, as all texts here */
  size_t line; /* 0: not known */
  char *entry; /* identifier, or NULL where it concerns the whole file */
  char *text;
};

/* Start from {0}. */
struct dl_findings {
  struct dl_finding *f;
  size_t n, cap;
};

void dl_findings_free(struct dl_findings *l);

/* Appends an error or a warning at a line of a file (0: not known), in the
 * entry with an identifier (NULL: none). The texts are copied. */
void dl_findings_add(struct dl_findings *l, bool error, const char *file,
                     size_t line, const char *entry, const char *fmt, ...)
    DL_PRINTF(6, 7);

/* Moves all findings of `from` to the end of `to`. */
void dl_findings_move(struct dl_findings *to, struct dl_findings *from);

/* Counts the errors. */
size_t dl_findings_errors(const struct dl_findings *l);

#endif
