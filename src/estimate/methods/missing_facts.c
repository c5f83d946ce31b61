/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/missing_facts.h"

#include <math.h>

/* 1.645 sqrt(e^2 - .2^2) of the errors e in the header. */
#define DOUBT_TRAFFIC 0.27
#define DOUBT_KERNELS 0.38

static bool lacks_acts(const struct dl_job *job) {
  return isnan(job->run->acts_m);
}

static bool lacks_kernels(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return isnan(job->run->launches) && (!arch || isnan(arch->layers));
}

static bool lacks_traffic(const struct dl_job *job) {
  return !job->found.arch || isnan(job->found.arch->traffic_ratio);
}

const char *dl_facts_assumed(const struct dl_job *job) {
  bool acts = lacks_acts(job), kernels = lacks_kernels(job);
  return acts && kernels      ? "activations and kernels"
         : acts               ? "activations"
         : kernels            ? "kernels"
         : lacks_traffic(job) ? "memory traffic"
                              : NULL;
}

double dl_facts_doubt(const struct dl_job *job) {
  if (lacks_acts(job) || lacks_kernels(job))
    return DOUBT_KERNELS;
  return lacks_traffic(job) ? DOUBT_TRAFFIC : 0;
}
