/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/missing_facts.h"

#include <math.h>

/* 1.645 sqrt(e^2 - .2^2) of the errors e in the header. */
#define DOUBT_TRAFFIC 0.27
#define DOUBT_KERNELS 0.38

const char *dl_facts_assumed(const struct dl_job *job, double *doubt) {
  const struct dl_architecture *arch = job->found.arch;
  bool acts = isnan(job->run->acts_m);
  bool kernels = isnan(job->run->launches) && (!arch || isnan(arch->layers));
  bool traffic = !arch || isnan(arch->traffic_ratio);
  if (doubt)
    *doubt = acts || kernels ? DOUBT_KERNELS : traffic ? DOUBT_TRAFFIC : 0;
  return acts && kernels ? "activations and kernels"
         : acts          ? "activations"
         : kernels       ? "kernels"
         : traffic       ? "memory traffic"
                         : NULL;
}
