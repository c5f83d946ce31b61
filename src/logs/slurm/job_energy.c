/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/job_energy.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logs/readings/measure.h"

#define DURATIONS_APART 0.02

/* Whether the number stands in the path, not within a longer one. */
static bool has_number(const char *path, const char *number) {
  size_t n = strlen(number);
  for (const char *s = path; (s = strstr(s, number)); s++) {
    bool before = s > path && isdigit((unsigned char)s[-1]);
    if (!before && !isdigit((unsigned char)s[n]))
      return true;
  }
  return false;
}

struct dl_waiting *dl_job_log(struct dl_waiting *waiting, size_t n,
                              const struct dl_run *job, bool only_job) {
  const char *id = dl_run_get_text(job, "run_id");
  for (size_t i = 0; id && i < n; i++)
    if (!waiting[i].taken && waiting[i].path && has_number(waiting[i].path, id))
      return &waiting[i];
  return only_job && n == 1 && !waiting[0].taken ? &waiting[0] : NULL;
}

/* The node was metered as a whole: what an epoch took of it is not known. */
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

void dl_job_add(struct dl_run *job, struct dl_waiting *log, struct dl_diag *d) {
  double job_s = dl_run_get(job, "duration_s");
  double log_s = dl_run_get(&log->run, "duration_s");
  log->taken = true;
  if (fabs(log_s / job_s - 1) > DURATIONS_APART)
    dl_warn_at(d, log->path, 0,
               "covers %.4g s of the %.4g s of job %s: the rest of the node "
               "includes its GPUs in between",
               log_s, job_s, dl_run_get_text(job, "run_id"));
  dl_run_fill(job, &log->run);
  /* The GPUs that were metered, rather than those that were granted. */
  double n_gpus = dl_run_get(&log->run, "n_gpus");
  if (!isnan(n_gpus))
    dl_run_set(job, "n_gpus", n_gpus);
  take_epochs(job, &log->run);
  dl_measure_boundary(job);
}
