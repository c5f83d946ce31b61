/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/job.h"

#include <math.h>
#include <stddef.h>

/* Name of each slot and the member of the job that its number goes to;
 * texts come first. */
enum { TEXTS = 6 };
static const struct {
  const char *name;
  size_t offset;
} members[] = {
    {"arch", offsetof(struct dl_job, arch)},
    {"gpu", offsetof(struct dl_job, gpu)},
    {"phase", offsetof(struct dl_job, phase)},
    {"precision", offsetof(struct dl_job, precision)},
    {"framework", offsetof(struct dl_job, framework)},
    {"scaling", offsetof(struct dl_job, scaling)},
    {"n_gpus", offsetof(struct dl_job, n_gpus)},
    {"batch_size", offsetof(struct dl_job, batch_size)},
    {"image_px", offsetof(struct dl_job, image_px)},
    {"seq_len", offsetof(struct dl_job, seq_len)},
    {"tokens", offsetof(struct dl_job, tokens)},
    {"prompt_tokens", offsetof(struct dl_job, prompt_tokens)},
    {"output_tokens", offsetof(struct dl_job, output_tokens)},
    {"requests", offsetof(struct dl_job, requests)},
    {"request_rate", offsetof(struct dl_job, request_rate)},
    {"idle_s", offsetof(struct dl_job, idle_s)},
    {"train_samples", offsetof(struct dl_job, train_samples)},
    {"val_samples", offsetof(struct dl_job, val_samples)},
    {"epochs", offsetof(struct dl_job, epochs)},
    {"frozen_base", offsetof(struct dl_job, frozen_base)},
    {"classes", offsetof(struct dl_job, classes)},
    {"macs_g", offsetof(struct dl_job, macs_g)},
    {"params_m", offsetof(struct dl_job, params_m)},
    {"acts_m", offsetof(struct dl_job, acts_m)},
    {"launches", offsetof(struct dl_job, launches)},
    {"ram_gb", offsetof(struct dl_job, ram_gb)},
    {"utilisation", offsetof(struct dl_job, utilisation)},
    {"efficiency", offsetof(struct dl_job, efficiency)},
    {"peak_tflops", offsetof(struct dl_job, peak_tflops)},
    {"gpu.tdp_w", offsetof(struct dl_job, tdp_w)},
    {"gpu.idle_w", offsetof(struct dl_job, idle_w)},
    {"gpu.bandwidth_gb_s", offsetof(struct dl_job, bandwidth_gb_s)},
    {"duration_s", offsetof(struct dl_job, duration_s)},
};

enum { MEMBERS = sizeof members / sizeof *members };
_Static_assert(MEMBERS <= sizeof((struct dl_job_slots *)0)->at /
                              sizeof(struct dl_quantity),
               "too few slots");

enum dl_status dl_job_bind(struct dl_job_slots *s, struct dl_frame *f,
                           struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < MEMBERS && status == DL_OK; i++)
    status = dl_frame_quantity(f, members[i].name, false, &s->at[i], d);
  return status == DL_OK ? dl_frame_want_descriptors(f, d) : status;
}

void dl_job_read(struct dl_job *job, const struct dl_job_slots *s,
                 const struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  job->found = row->found;
  job->row = row;
  for (size_t i = 0; i < MEMBERS; i++) {
    void *to = (char *)job + members[i].offset;
    if (i < TEXTS)
      *(const char **)to = dl_row_text(row, &s->at[i]);
    else
      *(double *)to = dl_row_number(row, &s->at[i]);
  }
  if (isnan(job->seq_len) && arch)
    job->seq_len = arch->seq_len;
  if (!isnan(job->tokens)) {
    job->train_samples = job->tokens / job->seq_len;
    job->val_samples = 0;
    job->epochs = 1;
  }
}
