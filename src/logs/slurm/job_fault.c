/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/job_fault.h"

#include <math.h>

#include "base/constants.h"
#include "base/text.h"

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
