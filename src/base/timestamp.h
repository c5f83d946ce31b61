/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points in time as logs write them. */

#ifndef DL_BASE_TIMESTAMP_H
#define DL_BASE_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"

#define DL_SECOND INT64_C(1000000000) /* in ns */

/* Smaller numbers of seconds count from another start than 1970. */
#define DL_SINCE_1970_S 1e8

/* Room for the text that dl_format_timestamp writes. */
#define DL_TIMESTAMP_SIZE 40

struct dl_timestamp {
  int64_t ns; /* since 1970-01-01 00:00, UTC if the text names a zone, else
                 local time */
  bool zoned; /* the text names a zone */
  bool dated; /* false: a time of day alone, ns < one day */
  int zone_s; /* that zone's offset from UTC; 0 without one */
};

/* Reads a date and time that fills s[0..len) but for blanks around it:
 * 2022-12-05 09:55:42.535, 2022/12/05 09:55:42, 2022-12-05T09:55:42.5+01:00,
 * ...Z, 05-12-2022 09:55:42 (day first), 20221205 09:55:42, 09:55:42, or a
 * number of seconds since 1970 (1e11 on: milliseconds, 1e14 on: microseconds,
 * 1e17 on: nanoseconds) in the years 1990 to 2100. False for any other text and
 * for impossible dates. Digits beyond nanoseconds are ignored. */
bool dl_parse_timestamp(const char *s, size_t len, struct dl_timestamp *out);

/* Reads the start of a job or run as tables write it: also without seconds
 * (2022-12-05 09:55), or a date alone, which is its midnight. Returns false for
 * a time of day alone. */
bool dl_parse_start(const char *s, struct dl_timestamp *out);

/* The time so many seconds (>= 0) after another one; at most the largest. */
int64_t dl_time_after(int64_t ns, double seconds);

/* Compares two times or differences of times (int64_t), for qsort. */
int dl_order_times(const void *a, const void *b);

/* Reads a duration: [D-]H:MM:SS[.fff], MM:SS[.fff], "1 day, 2:03:04.5" or "2
 * days, 0:00:01". Returns false for everything else. */
bool dl_parse_elapsed(const char *s, size_t len, double *seconds);

/* Reads a duration that a person types, in seconds: numbers with their units,
 * the longest unit first ("90m", "1h30m", "2 days 4 h", "250ms", "1.5h"), or
 * [D-]H:MM:SS[.fff] ("1:30:00"). Units are ms, s, m, h, d and w, and longer
 * names of them (sec, min, hours), in any case. Returns false for everything
 * else, such as a number without a unit, or "1:30", whose unit is unknown. */
bool dl_parse_duration(const char *s, double *seconds);

/* Writes a duration for people, in seconds: below a minute with three
 * significant digits (12.3 ms), a longer one in two units of which the second
 * is whole (1 h 05 min), one of 100 days or more in days or years. Returns buf.
 */
char *dl_format_duration(char buf[DL_NUMBER_SIZE], double s);

/* Writes 2022-12-05T09:55:42.535 with as many decimals as it takes (none, 3, 6
 * or 9), and "Z" behind it if `zoned` is set. Returns buf. */
char *dl_format_timestamp(char buf[DL_TIMESTAMP_SIZE], int64_t ns, bool zoned);

/* Writes the time at which a document is made (UTC) as strftime does;
 * SOURCE_DATE_EPOCH, where it is set, makes documents that can be compared:
 * https://reproducible-builds.org/specs/source-date-epoch */
void dl_document_date(char date[32], const char *format);

#endif
