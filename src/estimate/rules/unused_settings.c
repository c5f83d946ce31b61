/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/rules/unused_settings.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "estimate/methods/methods.h"
#include "run/setup/training_setup.h"

/* Kinds of jobs. */
enum kind {
  IMAGES = 1,
  LANGUAGE = 2,
  PASSES = 4, /* forward passes, of images and encoders */
  TUNED = 8,
  SERVED = 16,  /* language models that answer requests */
  ON_CPUS = 32, /* forward passes */
  WRITTEN_ON_CPUS = 64,
  GENERATED = 128, /* passes of diffusion models, too */
  CPUS = ON_CPUS | WRITTEN_ON_CPUS,
  INFERENCE = PASSES | TUNED | SERVED | CPUS,
  ALL = 255
};

static const struct dl_quantity_of all[] = {
    {DL_RUN_host_class, ALL},
    {DL_RUN_n_nodes, INFERENCE},
    {DL_RUN_frozen_base, INFERENCE},
    {DL_RUN_classes, LANGUAGE | SERVED},
    {DL_RUN_launches, LANGUAGE | SERVED | CPUS},
    {DL_RUN_isa, WRITTEN_ON_CPUS},
    {DL_RUN_loader, SERVED | WRITTEN_ON_CPUS | GENERATED},
    {DL_RUN_loader_workers, SERVED | CPUS | GENERATED},
    {DL_RUN_framework, TUNED | SERVED},
    {DL_RUN_seq_len, SERVED},
    {DL_RUN_gpus_per_node, SERVED},
    {DL_RUN_network_gbps, SERVED},
    {DL_RUN_acts_m, SERVED},
    {DL_RUN_macs_g, SERVED}};

static unsigned kind_of(const struct dl_result *r) {
  const struct dl_architecture *arch = r->job.found.arch;
  const struct dl_served *served = &r->predictions.served;
  if (!dl_run_is_inference(r->job.run))
    return arch && dl_is_language_model(arch) ? LANGUAGE : IMAGES;
  if (served->on_cpu)
    return served->tokens ? WRITTEN_ON_CPUS : ON_CPUS;
  if (served->tokens)
    return SERVED;
  return (served->tuned ? TUNED : PASSES) |
         (dl_generator(&r->job) ? GENERATED : 0U);
}

/* A compiler and NVIDIA's containers, of which serving knows nothing, and
 * servers on CPUs. */
static bool has_unused_stack(const struct dl_result *r, unsigned kind) {
  enum dl_software stack = dl_stack_of(r->job.run);
  if (dl_is_assumed(r->job.row, DL_RUN_stack))
    return false;
  if (kind == WRITTEN_ON_CPUS)
    return stack == DL_SOFTWARE_VLLM;
  return kind == SERVED &&
         (stack == DL_SOFTWARE_COMPILED || stack == DL_SOFTWARE_NGC);
}

static void list(struct dl_text *to, enum dl_run_id id) {
  const struct dl_run_column *c = &dl_run_columns[id];
  dl_text_printf(to, "%s%s%s", to->len > 0 ? ", " : "",
                 c->option ? "--" : "--set ", dl_text_or(c->option, c->name));
}

static bool estimates_physics(const struct dl_result *r) {
  for (size_t i = 0; i < r->n; i++)
    if (r->est[i].id == DL_METHOD_PHYSICAL)
      return !isnan(r->est[i].energy_j.x);
  return false;
}

bool dl_has_other_phase(const struct dl_result *r, struct dl_text *say) {
  enum dl_run_phase phase =
      dl_run_is_inference(r->job.run) ? DL_PHASE_INFERENCE : DL_PHASE_TRAINING;
  DL_TEXT(names);
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    if (c->option && c->phase != DL_PHASE_UNKNOWN && c->phase != phase &&
        dl_run_set_has(&r->job.row->given, c->id))
      list(&names, c->id);
  }
  if (names.len > 0 && say)
    dl_text_printf(say, "no effect on %s: %s", dl_run_phase_words[phase],
                   names.s);
  return names.len > 0;
}

bool dl_has_unused_settings(const struct dl_result *r, struct dl_text *say) {
  unsigned kind = kind_of(r);
  DL_TEXT(names);
  if (!estimates_physics(r))
    return false;
  for (size_t i = 0; i < DL_LENGTH(all); i++)
    if ((all[i].of & kind) && dl_run_set_has(&r->job.row->given, all[i].id))
      list(&names, all[i].id);
  if (has_unused_stack(r, kind))
    list(&names, DL_RUN_stack);
  if (names.len > 0 && say)
    dl_text_printf(say, "no effect on method physical: %s", names.s);
  return names.len > 0;
}
