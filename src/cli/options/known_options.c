/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for known values of a training. */

#include "cli/options/known_options.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/options/job_options.h"
#include "estimate/conditioning/known.h"
#include "quantities/quantities.h"
#include "run/setup/option_words.h"

/* A number with one of some units behind it; NULL ends the units. Returns the
 * unit's index, or -1. */
static int read_unit(const char *arg, const char *const *units, double *x) {
  size_t n = strspn(arg, "0123456789.eE+-");
  for (int i = 0; units[i]; i++)
    if (strcmp(arg + n, units[i]) == 0 && n > 0)
      return dl_parse_number(arg, n, x) == DL_NUMBER_OK && *x > 0 ? i : -1;
  return -1;
}

/* 250ms, 1.5s, 4.0it/s, 1.5s/it */
static enum dl_status read_step_time(const char *arg, double *x) {
  static const char *const units[] = {"it/s", "s/it", NULL};
  int unit = read_unit(arg, units, x);
  if (unit == 0)
    *x = 1 / *x;
  return unit >= 0 || (dl_parse_duration(arg, x) && *x > 0) ? DL_OK : DL_EUSAGE;
}

static enum dl_status read_throughput(struct dl_job_options *job,
                                      const char *arg, enum dl_run_id *id,
                                      double *x) {
  static const char *const units[] = {
      "", "/s", "samples/s", "images/s", "img/s", "tokens/s", "tok/s", NULL};
  int unit = read_unit(arg, units, x);
  job->any_throughput = unit == 0 || unit == 1;
  *id = unit >= 5 ? DL_RUN_tokens_per_s : DL_RUN_samples_per_s;
  return unit < 0 ? DL_EUSAGE : DL_OK;
}

/* 63 or 63%. A number below 1 is more likely a share. */
static enum dl_status read_percent(const char *arg, double *x) {
  static const char *const units[] = {"", "%", NULL};
  int unit = read_unit(arg, units, x);
  bool ok = unit >= 0 && *x >= 1 && *x <= 100;
  *x /= 100;
  return ok ? DL_OK : DL_EUSAGE;
}

static enum dl_status refuse(const struct dl_option *o, const char *arg,
                             const char *expected, struct dl_diag *d) {
  return dl_fail(d, DL_EUSAGE, "--%s: invalid value '%s'; expected %s", o->name,
                 arg, expected);
}

enum dl_status dl_read_known(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d) {
  struct dl_job_options *job = at;
  enum dl_run_id id = o->column;
  double x = NAN;
  if (id == DL_RUN_step_s && read_step_time(arg, &x) != DL_OK)
    return refuse(o, arg, "a time or a rate above 0: 250ms, 1.5s, 4.0it/s", d);
  if (id == DL_RUN_gpu_util && read_percent(arg, &x) != DL_OK)
    return refuse(o, arg, "percent, from 1 to 100", d);
  if (id == DL_RUN_gpu_util && strcmp(arg, "1") == 0)
    dl_warn(d,
            "--gpu-util 1 is one percent; give 100 if the GPU is always busy");
  if (id == DL_RUN_samples_per_s && read_throughput(job, arg, &id, &x) != DL_OK)
    return refuse(o, arg, "a rate above 0: 2500/s, 2500samples/s, 2500tokens/s",
                  d);
  dl_run_set_number(&job->run, id, x);
  return DL_OK;
}

enum dl_status dl_read_known_columns(const struct dl_option *o, char *arg,
                                     void *at, struct dl_diag *d) {
  (void)o, (void)d;
  return dl_known_words(arg, at) ? DL_OK : DL_EUSAGE;
}

/* The option, --set or --define that gives a column of a training, or NULL. */
static const char *given_by(const struct dl_job_options *o,
                            const struct dl_run_column *c, struct dl_text *to) {
  dl_text_clear(to);
  if (dl_value_in(&o->overrides, c->name))
    dl_text_printf(to, "--set %s", c->name);
  else if (dl_value_in(&o->defines, c->name))
    dl_text_printf(to, "--define %s", c->name);
  else if (dl_run_has(&o->run, c->id))
    dl_add_option(to, c->name);
  return to->len > 0 ? to->s : NULL;
}

enum dl_status dl_known_refuse_several(struct dl_cli *cli,
                                       const struct dl_job_options *o,
                                       bool duration) {
  static const enum dl_run_id ids[] = {
      DL_RUN_epoch_s,      DL_RUN_step_s,   DL_RUN_samples_per_s,
      DL_RUN_tokens_per_s, DL_RUN_gpu_util, DL_RUN_gpu_power_w};
  DL_TEXT(name);
  if (duration && given_by(o, &dl_run_columns[DL_RUN_duration_s], &name))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "%s is known of one training: estimate that one by "
                   "'dlest predict'; choices that take longer are excluded by "
                   "--deadline",
                   name.s);
  for (size_t i = 0; i < DL_LENGTH(ids); i++)
    if (given_by(o, &dl_run_columns[ids[i]], &name))
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "%s is known of one training: estimate that one by "
                     "'dlest predict', or several by --input with a column",
                     name.s);
  return DL_OK;
}

void dl_settle_throughput(struct dl_job_options *o) {
  if (!o->any_throughput)
    return;
  dl_run_set_number(&o->run, DL_RUN_tokens_per_s, o->run.samples_per_s);
  dl_run_set_number(&o->run, DL_RUN_samples_per_s, NAN);
}
