/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large counts as people write them: 50M tokens, 1.5k requests. */

#ifndef DL_CLI_OPTIONS_COUNT_TEXT_H
#define DL_CLI_OPTIONS_COUNT_TEXT_H

#include <stdbool.h>

#include "base/number.h"
#include "base/text.h"

/* A number, or one with a prefix behind it: k or K (1e3), M (1e6), G or B
 * (1e9), T (1e12). Correctly rounded: "1.281167M" is 1281167. */
bool dl_parse_large_count(const char *s, double *out);

/* For people: 50M, 300B, 1.41T; in full below ten million. Returns buf. */
char *dl_format_large_count(char buf[DL_NUMBER_SIZE], double x);

/* Appends what to write in place of a count with two meanings: "50M or 50e6"
 * for "50m", "4000 or 4096" for "4k", "1281167" for "1,281,167". Appends
 * nothing for other texts. */
void dl_count_forms(const char *s, struct dl_text *to);

#endif
