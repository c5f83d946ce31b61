/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the options of a job read their values (option.h). */

#ifndef DL_CLI_OPTIONS_SETTING_READERS_H
#define DL_CLI_OPTIONS_SETTING_READERS_H

#include "cli/options/job_options.h"

/* The value of a row with a column, into a struct dl_job_options; a list makes
 * an axis, of values that the option takes. */
enum dl_status dl_read_setting(const struct dl_option *o, char *arg, void *at,
                               struct dl_diag *d);

/* "lora:16" sets the rank too. */
enum dl_status dl_read_fine_tune(const struct dl_option *o, char *arg, void *at,
                                 struct dl_diag *d);
enum dl_status dl_read_frozen(const struct dl_option *o, char *arg, void *at,
                              struct dl_diag *d);

/* Step time, throughput and utilization, as other programs print them. */
enum dl_status dl_read_known(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d);

/* Which measured columns of a table are known to the estimates
 * ("time,gpu_util", "none"), into an unsigned set
 * (estimate/conditioning/known.h). */
enum dl_status dl_read_known_columns(const struct dl_option *o, char *arg,
                                     void *at, struct dl_diag *d);

/* Of a language model: a throughput without a unit is in tokens. */
void dl_settle_throughput(struct dl_job_options *o);

#endif
