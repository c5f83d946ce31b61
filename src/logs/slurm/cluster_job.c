/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/cluster_job.h"

#include <math.h>

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
  return (struct dl_cluster_job){
      .run_id = r->run_id,
      .job_name = r->job_name,
      .user = r->user,
      .project = r->project,
      .partition = r->partition,
      .state = r->state,
      .start_time = r->start_time,
      .gpu = r->gpu,
      .boundary = boundary,
      .duration_s = r->duration_s,
      .n_nodes = r->n_nodes,
      .n_cpus = r->n_cpus,
      .ram_gb = r->ram_gb,
      .n_gpus = r->n_gpus,
      .gpu_util = r->gpu_util,
      .cpu_util = r->cpu_util,
      .energy_j = energy_j,
      .line = r->line,
  };
}

void dl_cluster_job_fill(const struct dl_cluster_job *job, struct dl_run *r) {
  dl_run_lend_text(r, DL_RUN_run_id, job->run_id);
  dl_run_lend_text(r, DL_RUN_job_name, job->job_name);
  dl_run_lend_text(r, DL_RUN_user, job->user);
  dl_run_lend_text(r, DL_RUN_project, job->project);
  dl_run_lend_text(r, DL_RUN_partition, job->partition);
  dl_run_lend_text(r, DL_RUN_state, job->state);
  dl_run_lend_text(r, DL_RUN_start_time, job->start_time);
  dl_run_lend_text(r, DL_RUN_gpu, job->gpu);
  dl_run_lend_text(r, DL_RUN_boundary, job->boundary);
  dl_run_set_number(r, DL_RUN_duration_s, job->duration_s);
  dl_run_set_number(r, DL_RUN_n_nodes, job->n_nodes);
  dl_run_set_number(r, DL_RUN_n_cpus, job->n_cpus);
  dl_run_set_number(r, DL_RUN_ram_gb, job->ram_gb);
  dl_run_set_number(r, DL_RUN_n_gpus, job->n_gpus);
  dl_run_set_number(r, DL_RUN_gpu_util, job->gpu_util);
  dl_run_set_number(r, DL_RUN_cpu_util, job->cpu_util);
  dl_run_set_number(r, DL_RUN_energy_j, job->energy_j);
  dl_run_set_number(r, DL_RUN_node_energy_j, job->energy_j);
  r->line = job->line;
}
