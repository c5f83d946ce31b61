/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/job_fault.h"

#include <math.h>

#include "base/constants.h"
#include "base/text.h"

/* No node draws more, or less for longer than sensors take to report: such a
 * power comes from a failed sensor. */
#define MOST_W_PER_NODE 5e4
#define LEAST_W_PER_NODE 1
#define LEAST_S 300
#define MOST_NODES 1e5

size_t dl_job_figures(struct dl_cluster_job *job,
                      const struct dl_job_rows *rows,
                      struct dl_job_fault fault[DL_JOB_FAULTS]) {
  bool counted_twice;
  size_t n = 0;
  if (isnan(job->duration_s) && rows->step_s > 0)
    job->duration_s = rows->step_s;
  double seconds = job->duration_s;
  double gpu_util = rows->busy_gpu_s / (seconds * job->n_gpus);
  job->gpu_util = gpu_util >= 0 ? fmin(gpu_util, 1) : NAN;
  /* TotalCPU is rounded: it may be slightly more than all processors. */
  double cpu_util = rows->cpu_s / (seconds * job->n_cpus);
  job->cpu_util = cpu_util > 0 && cpu_util < 1.1 ? fmin(cpu_util, 1) : NAN;
  double joules =
      dl_slurm_job_energy(rows->energy_j, rows->n_nodes, &counted_twice);
  double nodes = rows->n_nodes > 0 ? rows->n_nodes : MOST_NODES;
  double most_w = MOST_W_PER_NODE * nodes, least_w = LEAST_W_PER_NODE;
  /* If the duration is unknown, no energy is impossible. */
  bool impossible = joules > most_w * (seconds < 1 ? 1 : seconds) ||
                    (seconds >= LEAST_S && joules < least_w * seconds);
  if (counted_twice)
    fault[n++] = (struct dl_job_fault){
        .kind = DL_JOB_COUNTED_TWICE, .x = NAN, .of_s = NAN};
  if (impossible)
    fault[n++] = (struct dl_job_fault){
        .kind = DL_JOB_ENERGY, .x = joules, .of_s = seconds};
  job->energy_j = impossible ? NAN : joules;
  job->boundary = "node";
  return n;
}

void dl_job_fault_warn(const struct dl_job_fault *f, struct dl_log *log,
                       const char *id) {
  DL_TEXT(times);
  size_t last = log->line;
  log->line = f->line;
  if (f->kind == DL_JOB_COUNTED_TWICE)
    dl_log_warn(log, "energies of jobs are sums over steps that overlap: "
                     "those of the steps are used instead");
  if (f->kind == DL_JOB_ENERGY)
    dl_log_warn(log,
                "job %s: an energy of %g J in %g s is impossible and left out",
                id, f->x, f->of_s);
  if (f->kind == DL_JOB_DURATION) {
    if (!isnan(f->of_s))
      dl_text_printf(&times, ", %.4g h from start to end",
                     f->of_s / DL_S_PER_HOUR);
    dl_log_warn(log,
                "job %s: %.4g h elapsed%s: left out; 'sacctmgr show "
                "runaway' lists jobs that have lost their end",
                id, f->x / DL_S_PER_HOUR, dl_text_str(&times));
  }
  log->line = last;
}
