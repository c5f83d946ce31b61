/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the values of settings into a run. */

#include "cli/options/setting_readers.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/timestamp.h"
#include "cli/options/job_options.h"
#include "estimate/conditioning/known.h"
#include "run/run_columns.h"

/* Stores the number of a column, within the column's range, or the word that a
 * text stands for. */
static enum dl_status set_value(struct dl_run *run, const struct dl_option *o,
                                char *arg, struct dl_diag *d) {
  enum dl_run_id id = (enum dl_run_id)o->column;
  const struct dl_run_column *c = &dl_run_columns[id];
  enum dl_status status = DL_OK;
  if (c->is_text) {
    const char *word = dl_run_word(c, arg);
    struct dl_text what = {0};
    if (!word) {
      dl_run_column_explain(c, DL_VALUE_WORD, arg, &what);
      status = dl_fail(d, DL_EUSAGE, "--%s: %s", o->name, dl_text_str(&what));
    }
    dl_text_free(&what);
    dl_run_lend_text(run, id, word);
    return status;
  }
  struct dl_option number = *o;
  double x = 1; /* of a flag */
  number.read = NULL;
  number.low = fmax(o->low, c->low);
  number.high = c->high;
  number.whole |= c->whole;
  if (o->kind == DL_OPTION_READ)
    number.kind = DL_OPTION_NUMBER;
  if (arg)
    status = dl_option_store(&number, arg, &x, d);
  dl_run_set_number(run, id, x);
  return status;
}

/* "lora:16" sets the rank too. */
enum dl_status dl_read_fine_tune(const struct dl_option *o, char *arg, void *at,
                                 struct dl_diag *d) {
  struct dl_job_options *job = at;
  char *colon = strchr(arg, ':');
  const struct dl_option rank = {.name = o->name,
                                 .kind = DL_OPTION_NUMBER,
                                 .column = DL_RUN_lora_rank,
                                 .whole = true};
  if (colon)
    *colon = '\0';
  enum dl_status status = set_value(&job->run, o, arg, d);
  return status == DL_OK && colon ? set_value(&job->run, &rank, colon + 1, d)
                                  : status;
}

enum dl_status dl_read_frozen(const struct dl_option *o, char *arg, void *at,
                              struct dl_diag *d) {
  static char head[] = "head";
  (void)arg;
  return set_value(&((struct dl_job_options *)at)->run, o, head, d);
}

/* Stores the value of a row with a column in the job; a list makes an axis, of
 * values that the option takes. */
enum dl_status dl_read_setting(const struct dl_option *o, char *arg, void *at,
                               struct dl_diag *d) {
  struct dl_job_options *job = at;
  const struct dl_run_column *c = &dl_run_columns[o->column];
  if (!arg || !job->takes_lists || !o->sweeps || !dl_axis_is_list(arg))
    return set_value(&job->run, o, arg, d);
  struct dl_run scratch = dl_run_unknown;
  struct dl_diag inner;
  dl_diag_init(&inner);
  enum dl_status status =
      dl_axes_set(&job->axes, c->name, arg, !c->is_text, &inner);
  if (status != DL_OK)
    dl_fail(d, status, "--%s: %s", o->name, inner.error);
  dl_diag_free(&inner);
  const struct dl_axis *a = dl_axes_find(&job->axes, c->name);
  for (size_t i = 0; status == DL_OK && !c->is_text && i < a->n; i++)
    status = set_value(&scratch, o, a->text.s[i], d);
  return status;
}

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
  return unit >= 0 || (dl_parse_duration(arg, NAN, x) && *x > 0) ? DL_OK
                                                                 : DL_EUSAGE;
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
  enum dl_run_id id = (enum dl_run_id)o->column;
  double x = NAN;
  if (id == DL_RUN_step_s && read_step_time(arg, &x) != DL_OK)
    return refuse(o, arg, "a time or a rate above 0: 250ms, 1.5s, 4.0it/s", d);
  if (id == DL_RUN_gpu_util && read_percent(arg, &x) != DL_OK)
    return refuse(o, arg, "percent, from 1 to 100", d);
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

void dl_settle_throughput(struct dl_job_options *o) {
  if (!o->any_throughput)
    return;
  dl_run_set_number(&o->run, DL_RUN_tokens_per_s, o->run.samples_per_s);
  dl_run_set_number(&o->run, DL_RUN_samples_per_s, NAN);
}
