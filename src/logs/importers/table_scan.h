/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What importers of tables line by line share. */

#ifndef DL_LOGS_IMPORTERS_TABLE_SCAN_H
#define DL_LOGS_IMPORTERS_TABLE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logs/importers/importer.h"

/* Copies the head's next line that is not blank to buf, from *at on, which is
 * 0 at first; blanks around it and what does not fit in are left out. False
 * after the last line. */
bool dl_scan_head(const struct dl_head *head, size_t *at, char *buf,
                  size_t size);

/* Cuts s at each `separator` in place, but for those in quotes, and takes
 * quotes and blanks off the fields; at most `most` of them, *n is how many
 * there are in all. */
void dl_scan_fields(char *s, char separator, char **field, size_t most,
                    size_t *n);

/* Devices with a number below this can be told apart in rounds. */
#define DL_ROUND_DEVICES 256

/* Logs without times list their devices in turn. Starts as zero bytes. */
struct dl_rounds {
  size_t round;
  size_t first; /* the device that began the first round */
  bool begun;
  uint64_t seen[DL_ROUND_DEVICES / 64]; /* in this round */
};

/* The round, from 0, that a row of `device` belongs to: a new one begins with
 * the device that began the first, and with one that has had its turn. */
size_t dl_scan_round(struct dl_rounds *r, size_t device);

#endif
