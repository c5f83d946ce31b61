/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/job_energy.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logs/readings/measure.h"

#define DURATIONS_APART 0.02

/* Whether the path contains the number, not as a part of a longer one. */
static bool has_number(const char *path, const char *number) {
  size_t n = strlen(number);
  for (const char *s = path; (s = strstr(s, number)); s++) {
    bool before = s > path && isdigit((unsigned char)s[-1]);
    if (!before && !isdigit((unsigned char)s[n]))
      return true;
  }
  return false;
}

struct dl_waiting_run *dl_job_log(struct dl_waiting_run *waiting, size_t n,
                                  const struct dl_run *job, bool only_job) {
  const char *id = job->run_id;
  for (size_t i = 0; id && i < n; i++)
    if (!waiting[i].taken && waiting[i].path && has_number(waiting[i].path, id))
      return &waiting[i];
  return only_job && n == 1 && !waiting[0].taken ? &waiting[0] : NULL;
}

/* The node was metered as a whole: the energy of its epochs is unknown. */
static void take_epochs(struct dl_run *job, struct dl_run *run) {
  if (job->n_epochs > 0)
    return;
  free(job->epoch);
  job->epoch = run->epoch;
  job->n_epochs = run->n_epochs;
  job->epochs_cap = run->epochs_cap;
  run->epoch = NULL;
  run->n_epochs = run->epochs_cap = 0;
  for (size_t i = 0; i < job->n_epochs; i++)
    job->epoch[i].energy_j = NAN;
}

void dl_job_add(struct dl_run *job, struct dl_waiting_run *log,
                struct dl_diag *d) {
  struct dl_run *run = &log->run;
  log->taken = true;
  if (fabs(run->duration_s / job->duration_s - 1) > DURATIONS_APART)
    dl_warn_at(d, log->path, 0,
               "covers %.6g s of the %.6g s of job %s: the rest of the node "
               "includes its GPUs in between",
               run->duration_s, job->duration_s, job->run_id);
  /* The number of metered GPUs replaces the number of granted ones. */
  if (dl_run_has(run, DL_RUN_n_gpus))
    dl_run_set_number(job, DL_RUN_n_gpus, run->n_gpus);
  dl_run_fill(job, run);
  take_epochs(job, run);
  dl_measure_boundary(job);
}
