/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns that find named parts of paths: {arch}/gpu-{run_id}.csv. */

#ifndef DL_LOGS_PATH_PATTERN_H
#define DL_LOGS_PATH_PATTERN_H

#include "base/diag.h"
#include "base/text.h"

struct dl_pattern {
  struct dl_strlist names;   /* in braces, in order */
  struct dl_strlist literal; /* before, between and after them: one more */
};

/* Parses a pattern; *p starts from {0}. DL_EUSAGE: braces that do not match, an
 * empty name, a name that occurs twice, two names with nothing between them. */
enum dl_status dl_pattern_parse(struct dl_pattern *p, const char *text,
                                struct dl_diag *d);
void dl_pattern_free(struct dl_pattern *p);

/* Matches the end of a path, from the beginning of a folder on. value[i] is an
 * owned text for each name; false if the path does not match (then none is
 * set). A name matches at least one character, as few as possible, and no
 * slash. */
bool dl_pattern_match(const struct dl_pattern *p, const char *path,
                      char **value);

#endif
