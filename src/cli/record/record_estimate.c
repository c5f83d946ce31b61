/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/options/job_options.h"
#include "cli/views/result_columns.h"
#include "estimate/accounting/core_power.h"
#include "estimate/rows.h"
#include "physics/cpu/cpu_inputs.h"
#include "quantities/quantities.h"

/* Copies the settings of a run, which are known before it starts. Texts are
 * lent. */
static void copy_settings(const struct dl_run *run, struct dl_run *to) {
  *to = dl_run_unknown;
  for (unsigned i = 0; i < DL_N_RUN_COLUMNS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    const struct dl_run_column *c = &dl_run_columns[id];
    if (c->role == DL_ROLE_MEASURED || c->role == DL_ROLE_NAME)
      continue;
    if (c->is_text)
      dl_run_lend_text(to, id, dl_run_text(run, id));
    else
      dl_run_set_number(to, id, dl_run_number(run, id));
  }
}

/* Copies the estimate of the GPUs alone, without the memory that its method
 * adds. */
static void copy_estimate(const struct dl_estimate *x,
                          struct dl_record_estimate *e) {
  double memory_j = x->memory_w > 0 ? x->memory_w * x->duration_s.x : 0;
  e->method = x->method;
  e->energy_j =
      (struct dl_interval){x->energy_j.x - memory_j, x->energy_j.low - memory_j,
                           x->energy_j.high - memory_j};
  e->duration_s = x->duration_s.x;
}

/* Estimates the run; a run that cannot be estimated has none. */
static enum dl_status estimate(struct dl_cli *cli, struct dl_row_plan *f,
                               const struct dl_model *m,
                               struct dl_record_estimate *e) {
  DL_SCOPED(dl_engine_free_local) struct dl_engine *engine = NULL;
  DL_SCOPED(dl_diag_free) struct dl_diag why = {0};
  const struct dl_rows rows = {.f = f, .catalog = dl_cli_catalog(cli)};
  struct dl_result r;
  DL_TRY(dl_engine_new(&engine, f, m, "all", 0.9, &cli->diag));
  enum dl_status status = dl_rows_single(&rows, engine, &r, &why);
  DL_FREED struct dl_estimate *est = r.est;
  const struct dl_estimate *best = dl_result_best(&r);
  if (status == DL_OK && best && r.job.found.arch && r.job.found.gpu)
    copy_estimate(best, e);
  return DL_OK;
}

/* The first quantity that an estimate would need. */
static enum dl_record_lack find_lack(const struct dl_run *run, bool of_cpus) {
  if (!run->gpu)
    return DL_LACKS_GPU;
  if (of_cpus && isnan(run->cpu_energy_j))
    return DL_LACKS_CPU_ENERGY;
  if (!of_cpus && isnan(run->gpu_energy_j))
    return DL_LACKS_GPU_ENERGY;
  if (run->phase == DL_PHASE_INFERENCE)
    return isnan(run->requests) ? DL_LACKS_REQUESTS : DL_LACKS_NOTHING;
  if (!dl_run_has(run, DL_RUN_epochs))
    return DL_LACKS_EPOCHS;
  bool sized = run->dataset || !isnan(run->train_samples) ||
               !isnan(run->tokens) || !isnan(run->train_tokens);
  return sized ? DL_LACKS_NOTHING : DL_LACKS_SAMPLES;
}

/* Whether the accelerator of a run is a CPU. */
static enum dl_status find_cpu(struct dl_cli *cli, const struct dl_run *run,
                               bool *is) {
  const struct dl_descriptor *e = NULL;
  *is = false;
  if (run->gpu)
    DL_TRY(dl_catalog_look(dl_cli_catalog(cli), DL_ACCELERATOR, run->gpu, &e,
                           &cli->diag));
  *is = e && dl_is_cpu(DL_AS(accelerator, e));
  return DL_OK;
}

enum dl_status dl_record_estimate(struct dl_cli *cli, const struct dl_run *run,
                                  struct dl_record_estimate *e) {
  DL_SCOPED(dl_model_free_local) struct dl_model *m = NULL;
  *e = (struct dl_record_estimate){.energy_j = DL_NO_INTERVAL,
                                   .duration_s = NAN};
  DL_TRY(find_cpu(cli, run, &e->of_cpus));
  e->measured_j = e->of_cpus ? run->cpu_energy_j : run->gpu_energy_j;
  e->lacks = find_lack(run, e->of_cpus);
  if (!run->arch || e->lacks != DL_LACKS_NOTHING)
    return DL_OK;
  DL_SCOPED(dl_job_options_free) struct dl_job_options o;
  dl_job_options_init(&o);
  copy_settings(run, &o.run);
  DL_SCOPED(dl_plan_free_local)
  struct dl_row_plan *f = dl_plan_new(dl_cli_catalog(cli));
  DL_TRY(dl_job_options_apply(&o, f, dl_cli_catalog(cli), false, &cli->diag));
  DL_TRY(dl_open_model(cli, NULL, dl_job_kinds(&o, dl_cli_catalog(cli), NULL),
                       &m));
  return estimate(cli, f, m, e);
}

enum dl_status dl_record_cpus_find(struct dl_cli *cli, const char *text,
                                   struct dl_record_machine *m) {
  const struct dl_descriptor *e;
  struct dl_catalog *catalog = dl_cli_catalog(cli);
  struct dl_diag *d = &cli->diag;
  char *all = m->cpu = dl_strdup(text);
  const char *name = dl_counted_name(all);
  m->n_cpus = name ? strtod(all, NULL) : 1;
  if (name)
    memmove(all, name, strlen(name) + 1);
  DL_TRY(dl_catalog_open(catalog, DL_ACCELERATOR, all, d));
  DL_TRY(dl_catalog_get(catalog, DL_ACCELERATOR, all, &e, d));
  m->tdp_w = m->n_cpus * DL_AS(accelerator, e)->tdp_w;
  return dl_cpu_check(DL_AS(accelerator, e), all, d);
}
