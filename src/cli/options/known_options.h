/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for known values of a training (estimate/conditioning/known.h). */

#ifndef DL_CLI_OPTIONS_KNOWN_OPTIONS_H
#define DL_CLI_OPTIONS_KNOWN_OPTIONS_H

#include "cli/options/job_options.h"

/* Step time, throughput and utilization, as other programs print them. */
enum dl_status dl_read_known(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d);

/* Which measured columns of a table are known to the estimates
 * ("time,gpu_util", "none"), into an unsigned set
 * (estimate/conditioning/known.h). */
enum dl_status dl_read_known_columns(const struct dl_option *o, char *arg,
                                     void *at, struct dl_diag *d);

/* Refuses what is known of one training where several are estimated, by its
 * option, --set or --define; with `duration` also the duration. */
enum dl_status dl_known_refuse_several(struct dl_cli *cli,
                                       const struct dl_job_options *o,
                                       bool duration);

/* Settles the unit of a throughput: for a language model, one without a unit is
 * in tokens. */
void dl_settle_throughput(struct dl_job_options *o);

#endif
