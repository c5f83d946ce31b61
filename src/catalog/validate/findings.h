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

/* Where a finding is; the members are those of struct dl_finding. */
struct dl_finding_place {
  const char *file;
  size_t line;
  const char *entry;
};

/* Appends an error or a warning. The texts are copied. */
void dl_findings_add(struct dl_findings *l, bool error,
                     const struct dl_finding_place *at, const char *fmt, ...)
    DL_PRINTF(4, 5);

/* Appends those of `from`, which is then empty. */
void dl_findings_move(struct dl_findings *to, struct dl_findings *from);

/* How many of them are errors. */
size_t dl_findings_errors(const struct dl_findings *l);

#endif
