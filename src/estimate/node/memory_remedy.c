/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/memory_remedy.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "estimate/node/division.h"
#include "estimate/node/peak_memory.h"

enum { MOST_GPUS = 1024 };

static bool is_language(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) && arch->transformer;
}

/* Whether a job fits with another set-up; UNKNOWN: with its own. */
static bool fits_with(const struct dl_job *job,
                      enum dl_checkpointing checkpointing,
                      enum dl_sharding sharding, double n_gpus) {
  struct dl_run run = *job->run;
  struct dl_job other = *job;
  struct dl_memory_need m;
  other.run = &run;
  if (checkpointing != DL_CHECKPOINT_UNKNOWN) {
    run.checkpointing = checkpointing;
    run.checkpointed_layers = NAN;
  }
  if (sharding != DL_SHARDING_UNKNOWN)
    run.sharding = sharding;
  if (run.scaling == DL_SCALE_STRONG) { /* each keeps its batch */
    dl_memory_of(job, &m);
    run.batch_size = m.batch * n_gpus;
  }
  run.n_gpus = n_gpus;
  dl_memory_of(&other, &m);
  return !m.over && !isnan(m.need_gb);
}

/* The least number of GPUs from n on that fits sharded, doubling; 0: none. */
static double least_sharded(const struct dl_job *job,
                            enum dl_checkpointing checkpointing, double n) {
  for (; is_language(job) && n <= MOST_GPUS; n *= 2)
    if (n > 1 && fits_with(job, checkpointing, DL_SHARDING_ZERO3, n))
      return n;
  return 0;
}

/* Whether the division among GPUs is assumed. */
static bool is_open(const struct dl_job *job) {
  return is_language(job) && job->row &&
         !dl_run_set_has(&job->row->given, DL_RUN_sharding);
}

/* The least number of GPUs, doubling, that fits with what is then assumed; 0:
 * none. */
static double least_gpus(const struct dl_job *job) {
  double n = 2 * job->run->n_gpus;
  while (n <= MOST_GPUS && !dl_division_fits(job, n))
    n *= 2;
  return n <= MOST_GPUS ? n : 0;
}

/* Checkpointing, and more GPUs or sharding. */
static bool remedy_by_storing_less(const struct dl_job *job,
                                   struct dl_text *to) {
  double n = job->run->n_gpus;
  bool full = fits_with(job, DL_CHECKPOINT_FULL, DL_SHARDING_UNKNOWN, n);
  bool open = is_open(job);
  double sharded =
      open ? least_gpus(job) : least_sharded(job, DL_CHECKPOINT_UNKNOWN, n);
  if (full)
    dl_text_add(to, "fits with --checkpointing full");
  if (open && sharded > 0)
    dl_text_printf(to, "%son %g GPUs", full ? ", or " : "fits ", sharded);
  if (open)
    return full || sharded > 0;
  if (sharded > 0)
    dl_text_printf(to, "%s--sharding zero3 on %g GPUs",
                   full ? ", or " : "fits with ", sharded);
  if (full || sharded > 0)
    return true;
  sharded = least_sharded(job, DL_CHECKPOINT_FULL, n);
  if (sharded > 0)
    dl_text_printf(to,
                   "fits with --checkpointing full and --sharding zero3 on %g "
                   "GPUs",
                   sharded);
  return sharded > 0;
}

bool dl_memory_remedy(const struct dl_job *job, struct dl_text *to) {
  if (dl_run_is_inference(job->run) || isnan(job->run->n_gpus))
    return false;
  if (remedy_by_storing_less(job, to))
    return true;
  if (job->run->attention != DL_ATTENTION_EAGER)
    return false;
  struct dl_run run = *job->run;
  struct dl_job flash = *job;
  DL_TEXT(then);
  flash.run = &run;
  run.attention = DL_ATTENTION_FLASH;
  bool alone =
      fits_with(&flash, DL_CHECKPOINT_UNKNOWN, DL_SHARDING_UNKNOWN, run.n_gpus);
  bool fits = alone || remedy_by_storing_less(&flash, &then);
  if (alone)
    dl_text_add(to, "fits with --attention flash");
  else if (fits)
    dl_text_printf(to, "with --attention flash it %s", dl_text_str(&then));
  return fits;
}
