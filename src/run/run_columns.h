/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs table: one row a run, in canonical columns. */

#ifndef DL_RUN_RUN_COLUMNS_H
#define DL_RUN_RUN_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* What a column is to repeated runs of one configuration. */
enum dl_role {
  DL_ROLE_NAME,    /* names a run or says where it comes from */
  DL_ROLE_SETTING, /* shared by the repeats */
  DL_ROLE_GIVEN,   /* known beforehand, but no part of the configuration */
  DL_ROLE_MEASURED /* differs from run to run */
};

struct dl_run_column {
  const char *name; /* "gpu_power_w" */
  const char *unit; /* "W"; NULL: plain number or text */
  bool is_text;
  double low, high; /* allowed range of a number */
  enum dl_role role;
  const char *summary;
};

size_t dl_run_column_count(void);
const struct dl_run_column *dl_run_column_at(size_t i);

/* By name, or NULL. */
const struct dl_run_column *dl_run_column_find(const char *name);

#endif
