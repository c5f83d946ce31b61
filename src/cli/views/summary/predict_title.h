/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line that says what was estimated. */

#ifndef DL_CLI_VIEWS_SUMMARY_PREDICT_TITLE_H
#define DL_CLI_VIEWS_SUMMARY_PREDICT_TITLE_H

#include "base/text.h"
#include "cli/options/node_options.h"
#include "estimate/job.h"

/* Appends "ResNet-50 on 4 x NVIDIA A100-SXM4-40GB: 90 epochs (defaults:
 * ImageNet, batch size 256, TF32)": the network, the machine, the settings that
 * were given, and those that were not. */
void dl_predict_title(struct dl_text *t, const struct dl_job *job,
                      const struct dl_job_options *o,
                      const struct dl_node_options *node);

#endif
