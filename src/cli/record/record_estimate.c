/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/options/job_options.h"
#include "cli/views/estimate_rows.h"
#include "estimate/session.h"
#include "run/run_columns.h"

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

/* Copies the recommended estimate of the GPUs, without the memory that its
 * method adds. */
static void copy_recommended(const struct dl_estimate *est, size_t n,
                             bool given, struct dl_record_estimate *e) {
  long best = dl_recommended(est, n, given);
  if (best < 0)
    return;
  const struct dl_estimate *x = &est[best];
  double memory_j = x->memory_w > 0 ? x->memory_w * x->duration_s : 0;
  e->method = x->method;
  e->energy_j = x->energy_j - memory_j;
  e->low_j = x->low_j - memory_j;
  e->high_j = x->high_j - memory_j;
  e->duration_s = x->duration_s;
}

static enum dl_status estimate(struct dl_cli *cli, struct dl_frame *f,
                               const struct dl_model *m,
                               struct dl_record_estimate *e) {
  struct dl_diag *d = &cli->diag;
  DL_SCOPED(dl_session_free_local) struct dl_session *session = NULL;
  struct dl_job job;
  struct dl_job_predictions p = {0};
  const struct dl_row *row;
  DL_TRY(dl_session_new(&session, f, m, "all", 0.9, d));
  DL_FREED struct dl_estimate *est = dl_calloc(session->n, sizeof *est);
  DL_TRY(dl_frame_single(f, &row, d));
  DL_TRY(dl_session_find_families(session, row, dl_cli_catalog(cli), d));
  if (dl_row_is_invalid(row))
    return DL_OK;
  DL_TRY(dl_session_row(session, row, &job, &p, est, d));
  if (job.found.arch && job.found.gpu)
    copy_recommended(est, session->n, false, e);
  return DL_OK;
}

/* The first quantity that an estimate would need. */
static enum dl_record_lack find_lack(const struct dl_run *run) {
  if (!run->gpu)
    return DL_LACKS_GPU;
  if (isnan(run->gpu_energy_j))
    return DL_LACKS_GPU_ENERGY;
  if (!dl_run_has(run, DL_RUN_epochs))
    return DL_LACKS_EPOCHS;
  bool sized = run->dataset || !isnan(run->train_samples) ||
               !isnan(run->tokens) || !isnan(run->train_tokens);
  return sized ? DL_LACKS_NOTHING : DL_LACKS_SAMPLES;
}

enum dl_status dl_record_estimate(struct dl_cli *cli, const struct dl_run *run,
                                  struct dl_record_estimate *e) {
  DL_SCOPED(dl_model_free_local) struct dl_model *m = NULL;
  *e = (struct dl_record_estimate){
      .energy_j = NAN, .low_j = NAN, .high_j = NAN, .duration_s = NAN};
  e->lacks = find_lack(run);
  if (!run->arch || e->lacks != DL_LACKS_NOTHING)
    return DL_OK;
  DL_SCOPED(dl_job_options_free) struct dl_job_options o;
  dl_job_options_init(&o);
  copy_settings(run, &o.run);
  DL_SCOPED(dl_frame_free_local)
  struct dl_frame *f = dl_frame_new(dl_cli_catalog(cli));
  DL_TRY(dl_job_options_apply(&o, f, dl_cli_catalog(cli), false, &cli->diag));
  DL_TRY(dl_open_model(cli, NULL, dl_job_kinds(&o, dl_cli_catalog(cli), NULL),
                       &m));
  return estimate(cli, f, m, e);
}
