/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/job.h"

#include <math.h>

bool dl_lasts_so_long(const struct dl_job *job) {
  return job->fills || (!dl_run_is_inference(job->run) &&
                        !isnan(job->known.run_s) && !job->known.of_work);
}

const char *dl_job_dataset(const struct dl_job *job) {
  bool sized = dl_run_set_has(&job->row->given, DL_RUN_train_samples);
  return job->run->dataset || sized || !job->found.dataset
             ? job->run->dataset
             : job->found.dataset->head.id;
}

const struct dl_architecture *dl_generator(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  bool generates =
      dl_run_is_inference(job->run) && arch && !isnan(arch->denoising_steps);
  return generates ? arch : NULL;
}

double dl_denoising_steps(const struct dl_job *job) {
  const struct dl_architecture *arch = dl_generator(job);
  return arch ? dl_or(job->run->denoising_steps, arch->denoising_steps) : 1;
}

double dl_passes_per_step(const struct dl_job *job) {
  const struct dl_architecture *arch = dl_generator(job);
  return arch ? dl_or(arch->passes_per_step, 1) : 1;
}

double dl_sparse_params_m(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch ? fmin(dl_or(arch->sparse_params_m, 0),
                     dl_or(job->run->params_m, 0))
              : 0;
}
