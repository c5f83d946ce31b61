/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for a carbon intensity that changes by the hour, and for when a run
 * starts. */

#ifndef DL_CLI_OPTIONS_HOURS_OPTIONS_H
#define DL_CLI_OPTIONS_HOURS_OPTIONS_H

#include "io/intensity_hours.h"
#include "cli/options/site_options.h"

/* Start from zero bytes. */
struct dl_hours_options {
  const char *path;      /* or NULL: the intensity does not change */
  const char *start;     /* as given, or NULL */
  double within_s;       /* the start may be so much later; 0: it may not */
  struct dl_hours hours; /* owned */
  int64_t start_ns;
};

/* A row for --intensity-hours with its path in member `path` of a command's
 * options. */
#define DL_HOURS_OPTION(type, member)                                          \
  "intensity-hours", 0, "FILE",                                                \
      "carbon intensity by the hour: a table of times and g/kWh, as "          \
      "Electricity "                                                           \
      "Maps, WattTime, NESO and ENTSO-E give it",                              \
      DL_STORE(TEXT, type, member), .without = "intensity|country"

/* --intensity-hours, --start and --start-within. */
extern const struct dl_option dl_hours_options_rows[];

/* Reads the file and the start. DL_EUSAGE: a file without a start. */
enum dl_status dl_hours_options_read(struct dl_hours_options *o,
                                     struct dl_diag *d);
void dl_hours_options_free(struct dl_hours_options *o);

/* Finds when a run of that length starts: as given, or at the best time within
 * --start-within. *at_start is the mean intensity from the given start. Errors
 * as dl_hours_mean. */
enum dl_status dl_hours_find_start(const struct dl_hours_options *o,
                                   double duration_s,
                                   struct dl_hours_start *start,
                                   double *at_start, struct dl_diag *d);

/* The start that was taken, the mean intensity from the given one (NaN: the
 * file does not have it), and in words where the intensity is from; owned. */
struct dl_hours_used {
  int64_t start_ns;
  double given_g_kwh;
  struct dl_text of;
};

/* Sets the intensity of a footprint to the mean of the time of a run, and what
 * was used, from which the footprint borrows. DL_EUSAGE: the time is unknown.
 */
enum dl_status dl_hours_take(const struct dl_hours_options *o,
                             double duration_s, struct dl_footprint *foot,
                             struct dl_hours_used *used, struct dl_diag *d);

#endif
