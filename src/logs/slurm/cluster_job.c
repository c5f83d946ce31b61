/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/cluster_job.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The length of "1g.5gb" at the beginning of s; 0: there is none. */
static size_t profile_length(const char *s, const char *end) {
  const char *at = s;
  if (at == end || *at < '1' || *at > '7' || end - at < 6 ||
      strncasecmp(at + 1, "g.", 2) != 0)
    return 0;
  at += 3;
  while (at < end && isdigit((unsigned char)*at))
    at++;
  return at > s + 3 && end - at >= 2 && strncasecmp(at, "gb", 2) == 0
             ? (size_t)(at + 2 - s)
             : 0;
}

/* Slices of compute of a profile, as a share of a GPU: boards have seven, an
 * A30 four of 6 GB. */
static double profile_share(const char *s) {
  double slices = *s - '0';
  return strtod(s + 3, NULL) == 6 * slices ? slices / 4 : slices / 7;
}

size_t dl_mig_type(const char *type, size_t len, double *share) {
  const char *end = type + len;
  for (size_t i = 0; i < len; i++) {
    size_t n = profile_length(type + i, end);
    if (n == 0 || (i > 0 && isalnum((unsigned char)type[i - 1])))
      continue;
    *share = profile_share(type + i);
    while (i > 0 && strchr("_-.:+ ", type[i - 1]))
      i--;
    if (i >= 3 && strncasecmp(type + i - 3, "mig", 3) == 0)
      i -= 3;
    while (i > 0 && strchr("_-.:+ ", type[i - 1]))
      i--;
    return i;
  }
  *share = 1;
  return len;
}

struct dl_cluster_job dl_cluster_job_of(const struct dl_run *r) {
  double energy_j = r->energy_j;
  const char *boundary = r->boundary;
  /* Without a total, use the largest part that was measured. */
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
