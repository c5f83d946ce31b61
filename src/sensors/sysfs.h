/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of sysfs: one value each. */

#ifndef DL_SENSORS_SYSFS_H
#define DL_SENSORS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

/* Paths that match a pattern below the root of sysfs, in the order of their
 * numbers (hwmon2 before hwmon10). */
void dl_sysfs_find(const char *root, const char *pattern,
                   struct dl_strlist *paths);

/* The first line of FOLDER/FILE; false: it cannot be read. */
bool dl_sysfs_text(const char *folder, const char *file, char *to, size_t size);

/* The number that FOLDER/FILE begins with; NaN: none, or it cannot be read. */
double dl_sysfs_number(const char *folder, const char *file);

/* Whether FOLDER/FILE is there, and whether it can be read. */
bool dl_sysfs_exists(const char *folder, const char *file);
bool dl_sysfs_readable(const char *folder, const char *file);

#endif
