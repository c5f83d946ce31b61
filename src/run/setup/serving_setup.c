/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/serving_setup.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"

/* Copies of a served language model, and the accelerators of each, are all of
 * them. */
static bool breaks_replicas(const struct dl_row *row,
                            struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  double n = dl_or(r->n_gpus, 1);
  double tensor = dl_or(r->tensor_parallel, n / r->replicas);
  if (!(r->replicas > 1))
    return false;
  if (arch && !dl_is_language_model(arch))
    return dl_rule_message(
        to, "{replicas} is for language models, and '%s' is none; leave it out",
        arch->head.id);
  return (fabs(tensor * r->replicas - n) > 1e-9 * n ||
          fabs(tensor - nearbyint(tensor)) > 1e-9 * tensor) &&
         dl_rule_message(to,
                         "{n_gpus} %g is not {tensor_parallel} x {replicas}, "
                         "%g x %g; change one of them",
                         n, tensor, r->replicas);
}

#define FOR_WRITING                                                            \
  " is for language models that write, and '%s' does not; leave it out"

static bool breaks_writing(const struct dl_row *row,
                           struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  if (!arch || (dl_is_language_model(arch) && !dl_encodes(arch)))
    return false;
  const char *id = arch->head.id;
  return (r->beams > 1 && dl_rule_message(to, "{beams}" FOR_WRITING, id)) ||
         (!isnan(r->weight_bytes) &&
          dl_rule_message(to, "{weight_bytes}" FOR_WRITING, id)) ||
         (!isnan(r->kv_bytes) &&
          dl_rule_message(to, "{kv_bytes}" FOR_WRITING, id));
}

/* A rate says how long GPUs idle, and how many requests come in a time. */
static bool breaks_rate(const struct dl_row *row, struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  double come = r->request_rate * r->duration_s;
  if (!dl_run_is_inference(r) || !(r->request_rate > 0))
    return false;
  if (r->idle_s > 0)
    return dl_rule_message(
        to, "{idle_s} does not go with {request_rate}, which says how long "
            "the GPUs idle; leave one out");
  return fabs(come - r->requests) > 0.01 * come &&
         dl_rule_message(
             to,
             "{request_rate} %g makes %g requests in {duration_s} %g, not "
             "%g; leave out {requests}",
             r->request_rate, come, r->duration_s, r->requests);
}

bool dl_serving_check(const struct dl_row *row, struct dl_message_style *to) {
  return dl_run_is_inference(&row->run) &&
         (breaks_replicas(row, to) || breaks_writing(row, to) ||
          breaks_rate(row, to));
}
