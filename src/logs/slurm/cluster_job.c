/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/cluster_job.h"

#include <math.h>
#include <string.h>

#include "catalog/mig.h"

struct dl_cluster_job dl_cluster_job_of(const struct dl_run *r) {
  double energy_j = r->energy_j;
  const char *boundary = r->boundary;
  /* Of a table that has no total, the largest part that was measured. */
  if (isnan(energy_j) && !isnan(r->node_energy_j)) {
    energy_j = r->node_energy_j;
    boundary = "node";
  } else if (isnan(energy_j) && !isnan(r->gpu_energy_j)) {
    energy_j = r->gpu_energy_j;
    boundary = "gpu";
  } else if (isnan(energy_j) && !isnan(r->node_power_w * r->duration_s)) {
    energy_j = r->node_power_w * r->duration_s;
    boundary = "node";
  } else if (isnan(energy_j) && !isnan(r->gpu_power_w * r->duration_s)) {
    energy_j = r->gpu_power_w * r->duration_s;
    boundary = "gpu";
  }
#define COPY(name) job.name = r->name;
  struct dl_cluster_job job = {
      .energy_j = energy_j, .boundary = boundary, .line = r->line};
  DL_CLUSTER_TEXTS(COPY)
  DL_CLUSTER_NUMBERS(COPY)
#undef COPY
  job.gpu_share = 1;
  if (job.gpu)
    dl_mig_type(job.gpu, strlen(job.gpu), &job.gpu_share);
  return job;
}

void dl_cluster_job_fill(const struct dl_cluster_job *job, struct dl_run *r) {
#define LEND(name) dl_run_lend_text(r, DL_RUN_##name, job->name);
#define SET(name) dl_run_set_number(r, DL_RUN_##name, job->name);
  DL_CLUSTER_TEXTS(LEND)
  DL_CLUSTER_NUMBERS(SET)
#undef LEND
#undef SET
  dl_run_lend_text(r, DL_RUN_boundary, job->boundary);
  dl_run_set_number(r, DL_RUN_energy_j, job->energy_j);
  dl_run_set_number(r, DL_RUN_node_energy_j, job->energy_j);
  if (job->path)
    dl_run_lend_text(r, DL_RUN_file, job->path);
  r->line = job->line;
}
