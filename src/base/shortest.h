/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/base: short decimals without printf(). */

#ifndef DL_BASE_SHORTEST_H
#define DL_BASE_SHORTEST_H

#include <stdbool.h>

#include "base/number.h"

/* dl_format_short for 0 and for |x| between 1e-12 and 1e16, but for powers of
 * two; false (and nothing written) for others. */
bool dl_format_shortest(char buf[DL_NUMBER_SIZE], double x);

#endif
