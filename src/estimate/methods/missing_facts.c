/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/missing_facts.h"

#include <math.h>

/* 1.645 sqrt(e^2 - .2^2) of the errors e in the header. */
#define DOUBT_TRAFFIC 0.27
#define DOUBT_KERNELS 0.38

static bool lacks(const struct dl_job *job, enum dl_architecture_field field) {
  const struct dl_descriptor *e = job->found.arch;
  return !e || isnan(e->value[field].x);
}

static bool lacks_acts(const struct dl_job *job) {
  return isnan(job->acts_m);
}

static bool lacks_kernels(const struct dl_job *job) {
  return isnan(job->launches) && lacks(job, DL_ARCH_LAYERS);
}

const char *dl_facts_assumed(const struct dl_job *job) {
  bool acts = lacks_acts(job), kernels = lacks_kernels(job);
  return acts && kernels                     ? "activations and kernels"
         : acts                              ? "activations"
         : kernels                           ? "kernels"
         : lacks(job, DL_ARCH_TRAFFIC_RATIO) ? "memory traffic"
                                             : NULL;
}

double dl_facts_doubt(const struct dl_job *job) {
  if (lacks_acts(job) || lacks_kernels(job))
    return DOUBT_KERNELS;
  return lacks(job, DL_ARCH_TRAFFIC_RATIO) ? DOUBT_TRAFFIC : 0;
}
