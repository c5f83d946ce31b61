/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns that read names off a path: {arch}/gpu-{run_id}.csv. */

#ifndef DL_LOGS_PATH_PATTERN_H
#define DL_LOGS_PATH_PATTERN_H

#include "base/diag.h"
#include "base/text.h"

struct dl_pattern {
  struct dl_strlist names;   /* in braces, in order */
  struct dl_strlist literal; /* before, between and after them: one more */
};

/* Start from {0}. DL_EUSAGE: braces that do not match, an empty name, one that
 * comes twice, two without anything between them. */
enum dl_status dl_pattern_parse(struct dl_pattern *p, const char *text,
                                struct dl_diag *d);
void dl_pattern_free(struct dl_pattern *p);

/* Matches the end of a path, from a folder's beginning on. value[i] is an
 * owned text for each name; false where it does not match (then none is set).
 * A name takes as few characters as the rest allows, at least one, and no
 * slash. */
bool dl_pattern_match(const struct dl_pattern *p, const char *path,
                      char **value);

#endif
