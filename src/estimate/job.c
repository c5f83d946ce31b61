/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/job.h"

#include "estimate/assumptions.h"
#include "run/setup/training_setup.h"

/* Members of the run that estimators read. */
static const enum dl_run_id needs[] = {
    DL_RUN_arch,
    DL_RUN_gpu,
    DL_RUN_phase,
    DL_RUN_precision,
    DL_RUN_framework,
    DL_RUN_scaling,
    DL_RUN_n_gpus,
    DL_RUN_batch_size,
    DL_RUN_image_px,
    DL_RUN_seq_len,
    DL_RUN_tokens,
    DL_RUN_prompt_tokens,
    DL_RUN_output_tokens,
    DL_RUN_requests,
    DL_RUN_request_rate,
    DL_RUN_idle_s,
    DL_RUN_train_samples,
    DL_RUN_val_samples,
    DL_RUN_epochs,
    DL_RUN_frozen_base,
    DL_RUN_classes,
    DL_RUN_macs_g,
    DL_RUN_params_m,
    DL_RUN_acts_m,
    DL_RUN_launches,
    DL_RUN_ram_gb,
    DL_RUN_utilisation,
    DL_RUN_efficiency,
    DL_RUN_peak_tflops,
    DL_RUN_duration_s,
    DL_RUN_power_limit_w,
    DL_RUN_fine_tune,
    DL_RUN_lora_rank,
    DL_RUN_optimizer,
    DL_RUN_checkpointing,
    DL_RUN_attention,
    DL_RUN_sharding,
    DL_RUN_stack,
    DL_RUN_tensor_parallel,
    DL_RUN_grad_accum,
    DL_RUN_global_batch,
    DL_RUN_pipeline_parallel,
    DL_RUN_network_gbps,
    DL_RUN_gpus_per_node,
    DL_RUN_train_tokens,
    DL_RUN_epoch_s,
    DL_RUN_step_s,
    DL_RUN_samples_per_s,
    DL_RUN_tokens_per_s,
    DL_RUN_gpu_util,
    DL_RUN_gpu_power_w,
    DL_RUN_loader,
    DL_RUN_stored_mpx,
    DL_RUN_loader_workers,
    DL_RUN_expert_parallel,
    DL_RUN_virtual_stages,
    DL_RUN_context_parallel,
};

enum dl_status dl_job_bind(struct dl_job_fields *s, struct dl_frame *f,
                           struct dl_diag *d) {
  const struct {
    const char *name;
    struct dl_row_ref *to;
  } fields[] = {{"gpu.tdp_w", &s->tdp_w},
                {"gpu.idle_w", &s->idle_w},
                {"gpu.bandwidth_gb_s", &s->bandwidth_gb_s}};
  struct dl_row_ref member;
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < sizeof needs / sizeof *needs && status == DL_OK; i++)
    status =
        dl_frame_quantity(f, dl_run_columns[needs[i]].name, false, &member, d);
  for (size_t i = 0; i < 3 && status == DL_OK; i++)
    status = dl_frame_quantity(f, fields[i].name, false, fields[i].to, d);
  dl_frame_assume(f, dl_assume, true);
  return status == DL_OK ? dl_frame_want_descriptors(f, d) : status;
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
      .idle_w = dl_row_number(row, &s->idle_w),
      .bandwidth_gb_s = dl_row_number(row, &s->bandwidth_gb_s),
      .peak_given = dl_run_set_has(&row->given, DL_RUN_peak_tflops)};
  for (size_t i = 0; i < DL_N_RUN_MEMBERS && job->n_assumed < DL_MOST_ASSUMED;
       i++)
    if (dl_is_assumed(row, (enum dl_run_id)i))
      job->assumed[job->n_assumed++] = dl_run_columns[i].name;
  if (!isnan(run->tokens)) {
    job->train_samples = run->tokens / job->seq_len;
    job->val_samples = 0;
    job->epochs = 1;
  }
  dl_known_of(job, s->known, &job->known);
}
