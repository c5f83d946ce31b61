/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of several commands for what they read: --shard, a part of the input
 * for job arrays of a scheduler, and the format of logs. */

#ifndef DL_CLI_OPTIONS_INPUT_OPTIONS_H
#define DL_CLI_OPTIONS_INPUT_OPTIONS_H

#include "cli/options/option.h"
#include "io/shard.h"

/* Reads "I/N", I from 1 to N, or "auto": the part of this task of a Slurm job
 * array, by SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP and _COUNT. The member is a
 * struct dl_shard. */
enum dl_status dl_read_shard(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d);

/* The members of its row in the table of a command. */
#define DL_SHARD_OPTION(type, member)                                          \
  .name = "shard", .argument = "I/N",                                          \
  .help = "part I of N of the input, or auto: that of this Slurm array task",  \
  DL_READ(dl_read_shard, type, member),                                        \
  .expected = "I/N with 1 <= I <= N, or auto"

/* For --from: finds the log format, a const struct dl_importer *. */
enum dl_status dl_read_importer(const struct dl_option *o, char *arg, void *at,
                                struct dl_diag *d);

/* Reads --since and --until of logs. */
#define DL_BOUND "a time: '2024-04-11 14:43', 14:43:00, or 90m after the first"
enum dl_status dl_read_bound(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d);

#endif
