/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/cluster_job.h"

#define TEXTS(X)                                                               \
  X(run_id)                                                                    \
  X(job_name)                                                                  \
  X(user) X(project) X(partition) X(state) X(start_time) X(gpu) X(boundary)
#define NUMBERS(X)                                                             \
  X(duration_s)                                                                \
  X(n_nodes) X(n_cpus) X(ram_gb) X(n_gpus) X(gpu_util) X(cpu_util) X(energy_j)

struct dl_cluster_job dl_cluster_job_of(const struct dl_run *r) {
#define COPY(name) .name = r->name,
  return (struct dl_cluster_job){TEXTS(COPY) NUMBERS(COPY).line = r->line};
}

void dl_cluster_job_fill(const struct dl_cluster_job *job, struct dl_run *r) {
#define LEND(name) dl_run_lend_text(r, DL_RUN_##name, job->name);
#define SET(name) dl_run_set_number(r, DL_RUN_##name, job->name);
  TEXTS(LEND)
  NUMBERS(SET)
  dl_run_set_number(r, DL_RUN_node_energy_j, job->energy_j);
  r->line = job->line;
}
