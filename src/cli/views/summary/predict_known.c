/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/predict_known.h"

#include "base/memory.h"

void dl_predict_known(struct dl_report *r, const struct dl_job *job,
                      const struct dl_conditioned *known) {
  static const enum dl_run_id ids[] = {
      DL_RUN_duration_s,    DL_RUN_epoch_s,      DL_RUN_step_s,
      DL_RUN_samples_per_s, DL_RUN_tokens_per_s, DL_RUN_gpu_util,
      DL_RUN_gpu_power_w};
  const char *names[DL_LENGTH(ids)];
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(ids); i++)
    if (dl_run_set_has(&job->row->given, ids[i]))
      names[n++] = dl_run_columns[ids[i]].name;
  if (n == 0)
    return;
  dl_report_add(r, "known", NULL, NULL, DL_CODE, dl_strings(names, n));
  if (!known->is)
    return;
  dl_report_add(r, "busy_share", "GPU busy", "%", DL_PERCENT,
                dl_number(known->busy));
  dl_report_add(r, "static_power_w", "power of waiting GPUs", "W", DL_PLAIN,
                dl_number(known->static_w));
}
