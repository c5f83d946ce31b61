/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/read_job.h"

#include <math.h>
#include <string.h>

#include "estimate/assumptions.h"
#include "estimate/conditioning/known.h"
#include "run/setup/training_setup.h"

/* Whether estimators may read a member of the run: all that is known before it,
 * and what is measured of a training of which an estimate is made. */
static bool is_read(const struct dl_run_column *c) {
  static const enum dl_run_id measured[] = {
      DL_RUN_duration_s,    DL_RUN_epoch_s,      DL_RUN_step_s,
      DL_RUN_samples_per_s, DL_RUN_tokens_per_s, DL_RUN_gpu_util,
      DL_RUN_gpu_power_w};
  for (size_t i = 0; i < DL_LENGTH(measured); i++)
    if (c->id == measured[i])
      return true;
  return c->role != DL_ROLE_MEASURED && c->role != DL_ROLE_NAME;
}

enum dl_status dl_job_bind(struct dl_job_fields *s, struct dl_row_plan *f,
                           struct dl_diag *d) {
  struct dl_row_ref member;
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++)
    if (is_read(&dl_run_columns[i]))
      DL_TRY(dl_plan_member(f, i, false, &member, d));
  DL_TRY(dl_plan_member(f, DL_OF_GPU_tdp_w, false, &s->tdp_w, d));
  DL_TRY(dl_plan_member(f, DL_OF_GPU_idle_w, false, &s->idle_w, d));
  DL_TRY(dl_plan_member(f, DL_OF_GPU_context_w, false, &s->context_w, d));
  DL_TRY(dl_plan_member(f, DL_OF_GPU_bandwidth_gb_s, false, &s->bandwidth_gb_s,
                        d));
  dl_plan_assume(f, dl_assume, true);
  return dl_plan_want_descriptors(f, d);
}

/* The power of a GPU that the job holds while nothing runs on it: with a
 * process and no kernel, unless the user gave the idle power alone. */
static double held_w(const struct dl_row *row, const struct dl_job_fields *s) {
  const struct dl_accelerator *gpu = row->found.gpu;
  double idle_w = dl_row_number(row, &s->idle_w);
  double context_w = dl_row_number(row, &s->context_w);
  const char *from =
      gpu ? gpu->head.origin[dl_field_index(&gpu->head, &gpu->idle_w)].source
          : NULL;
  bool given = dl_is_word(from, "given");
  return given || isnan(context_w) ? idle_w : context_w;
}

/* Samples of all validations of a training whose tokens are known. */
static double all_validation(const struct dl_row *row) {
  const struct dl_run_set *given = &row->given;
  const struct dl_run *run = &row->run;
  bool per_epoch = dl_run_set_has(given, DL_RUN_train_tokens);
  return dl_run_set_has(given, DL_RUN_val_samples)
             ? run->val_samples * (per_epoch ? run->epochs : 1)
             : 0;
}

void dl_job_read(struct dl_job *job, const struct dl_job_fields *s,
                 const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  *job = (struct dl_job){
      .row = row,
      .run = run,
      .found = row->found,
      .seq_len = isnan(run->seq_len) && arch ? arch->seq_len : run->seq_len,
      .epochs = run->epochs,
      .train_samples = run->train_samples,
      .val_samples = run->val_samples,
      .tdp_w = dl_row_number(row, &s->tdp_w),
      .idle_w = held_w(row, s),
      .bandwidth_gb_s = dl_row_number(row, &s->bandwidth_gb_s),
      .peak_given = dl_run_set_has(&row->given, DL_RUN_peak_tflops)};
  if (!isnan(run->tokens)) {
    job->train_samples = run->tokens / job->seq_len;
    job->val_samples = all_validation(job->row);
    job->epochs = 1;
  }
  job->train_samples = dl_batched_samples(run, job->train_samples);
  job->val_samples = dl_batched_samples(run, job->val_samples);
  dl_known_fill(job, s->known);
  dl_known_of(job, s->known, &job->known);
  if (dl_lasts_so_long(job) && !job->fills)
    job->epochs = NAN;
}
