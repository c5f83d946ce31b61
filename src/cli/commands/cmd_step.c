/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest step: projects a training that has begun. */

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/command.h"
#include "cli/passes/step_follow.h"
#include "cli/views/step_report.h"
#include "cli/options/input_options.h"

static enum dl_status read_epochs(const struct dl_option *row, char *arg,
                                  void *at, struct dl_diag *d) {
  struct dl_projection_options *p = at;
  char *dots = strstr(arg, "..");
  (void)row, (void)d;
  if (dots)
    *dots = '\0';
  bool ok = dl_parse_double(arg, &p->n_low) &&
            dl_parse_double(dots ? dots + 2 : arg, &p->n_high) &&
            p->n_low >= 1 && p->n_low <= p->n_high;
  if (dots)
    *dots = '.';
  return ok ? DL_OK : DL_EUSAGE;
}

static enum dl_status read_phases(const struct dl_option *row, char *arg,
                                  void *at, struct dl_diag *d) {
  struct dl_step_options *o = at;
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  (void)row, (void)d;
  dl_strlist_split(&parts, arg, ',');
  bool ok = parts.n > 0 && parts.n <= DL_STEP_PHASES_MAX;
  for (size_t i = 0; ok && i < parts.n; i++)
    ok = dl_parse_double(parts.s[i], &o->phase[i]) && o->phase[i] > 0;
  o->projection.n_phases = parts.n;
  return ok ? DL_OK : DL_EUSAGE;
}

static enum dl_status read_methods(const struct dl_option *row, char *arg,
                                   void *at, struct dl_diag *d) {
  struct dl_step_options *o = at;
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  (void)row, (void)d;
  o->n_methods = 0;
  if (strcmp(arg, "all") == 0)
    return DL_OK;
  dl_strlist_split(&parts, arg, ',');
  bool ok = parts.n > 0 && parts.n <= DL_STEP_METHODS_MAX;
  for (; ok && o->n_methods < parts.n; o->n_methods += ok) {
    o->method[o->n_methods] = dl_projector_find(parts.s[o->n_methods]);
    ok = o->method[o->n_methods] != NULL;
  }
  return ok ? DL_OK : DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_step_options, member)

static const struct dl_option options[] = {
    DL_HEADING("The training:", 1),
    {"epochs", 'e', "N|LOW..HIGH",
     "epochs of the whole training; a range where it may stop early",
     DL_READ(read_epochs, struct dl_step_options, projection),
     .expected = "N or LOW..HIGH, 1 or more"},
    {"phases", 0, "N,N,...",
     "planned phases in epochs: 10,90 (frozen, then fine-tuned)",
     .kind = DL_OPTION_READ, .read = read_phases,
     .expected = "numbers of epochs separated by commas"},
    {"duration", 'd', "TIME",
     "duration of the whole training, if known (90m, 1h30m, 2 days)",
     AT(TIME, projection.duration_s)},
    DL_HEADING("Methods:", 2),
    {"method", 'm', "LIST",
     "step, step-energy, step-power, carbontracker (default: all)",
     .kind = DL_OPTION_READ, .read = read_methods,
     .expected = "all, or step, step-energy, step-power and carbontracker "
                 "separated by commas"},
    {"stable", 0, "EPOCH",
     "first epoch of the window of step-energy and step-power (default 10)",
     AT(COUNT, projection.stable), .high = 1e6},
    {"window", 0, "N", "epochs in that window (default 5)",
     AT(COUNT, projection.window), .low = 1, .high = 1e6},
    {"stabilise", 0, "epoch|fluss|regime",
     "first epoch of the window of step-energy and step-power: epoch "
     "(default): --stable; fluss: found in the power by FLUSS; regime: the "
     "first of the regime that method step finds",
     AT(CHOICE, stabilise)},
    {"k", 0, "N", "epochs that method carbontracker uses (default 1)",
     AT(COUNT, projection.k), .low = 1, .high = 1e6},
    {"coverage", 0, "PERCENT", "coverage of the interval (default 90)",
     AT(PERCENT, projection.coverage)},
    {"budget-kwh", 0, "KWH", "exit with status 4 if the projection is higher",
     AT(NUMBER, budget_kwh)},
    DL_HEADING("Logs:", 3),
    {"from", 'F', "FORMAT", "log format of the files",
     DL_READ(dl_read_importer, struct dl_step_options, extract.log.from)},
    {"interval", 'i', "TIME",
     "time between samples of logs without times (default 1 s)",
     AT(TIME, extract.log.interval_s)},
    {"epoch-length", 0, "TIME", "approximate epoch time, if known",
     AT(TIME, extract.epochs.hint_s), .high = 1e9},
    {"truncate-watts", 0, NULL,
     "count whole watts of the GPU only, as del Rey et al. do",
     AT(FLAG, extract.meter.truncate_watts)},
    {"drop-last", 0, "N", "ignore the last N lines",
     AT(COUNT, extract.log.drop_last), .high = 1e6},
    {"since", 0, "TIME",
     "leave out samples before this time: as in the log, a time of day, or "
     "since the first sample: 90m",
     DL_READ(dl_read_bound, struct dl_step_options, extract.log.since),
     .expected = DL_BOUND, .without = "follow"},
    {"until", 0, "TIME", "leave out samples after this time",
     DL_READ(dl_read_bound, struct dl_step_options, extract.log.until),
     .expected = DL_BOUND, .without = "follow"},
    {"follow", 0, NULL,
     "watch a log that grows, until the training ends or an interrupt",
     AT(FLAG, follow)},
    {"every", 0, "TIME", "time between reads (default 5 s)", AT(TIME, every_s),
     .high = 1e6, .with = "follow"},
    DL_HEADING("Tables with one row per epoch:", 4),
    {"where", 0, "COLUMN=VALUE", "only rows with that value", AT(LIST, where)},
    {"energy-column", 0, "NAME",
     "column of the energy, its unit at the end: gpu_energy_kwh",
     AT(TEXT, energy_column)},
    {"seen", 0, "K", "use the first K epochs only", AT(COUNT, seen),
     .high = 1e6},
    {"details", 0, NULL, "print the evidence for the verdict",
     AT(FLAG, details)},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_site_options_rows, offsetof(struct dl_step_options, foot)},
    {0},
};

static void init(void *options_at) {
  struct dl_step_options *o = options_at;
  o->every_s = 5;
  o->seen = SIZE_MAX;
  o->budget_kwh = INFINITY;
  o->foot = dl_footprint_none;
  dl_projection_defaults(&o->projection);
}

static enum dl_status print(struct dl_cli *cli, const struct dl_step_options *o,
                            const struct dl_step *s) {
  size_t best = dl_step_best(s);
  const struct dl_projection *p = &s->p[best];
  bool any = o->n_methods == 0;
  for (size_t i = 0; i < s->n; i++)
    any |= !s->p[i].lacks;
  if (!any) /* `step` is the last to have an answer */
    return dl_fail(&cli->diag, DL_EINPUT, "--method %s: %s; %s",
                   s->by[best]->name, p->lacks,
                   strcmp(s->by[best]->name, "step") == 0
                       ? "wait until one is"
                       : "leave it out, or wait");
  if (p->verdict == DL_PROJECTION_DRIFTING)
    dl_warn(&cli->diag, "do not trust the projection: %s",
            p->reason ? p->reason : "the epochs drift");
  DL_TRY(dl_cli_print(cli, dl_step_report(s)));
  char what[64];
  snprintf(what, sizeof what, "%s projects", s->by[best]->name);
  return dl_check_budget(what, p->energy_j, o->budget_kwh, &cli->diag);
}

static bool uses(const struct dl_step_options *o, const char *a,
                 const char *b) {
  bool used = o->n_methods == 0;
  for (size_t i = 0; i < o->n_methods; i++)
    used |= strcmp(o->method[i]->name, a) == 0 ||
            strcmp(o->method[i]->name, b) == 0;
  return used;
}

/* Options that none of the methods uses. */
static enum dl_status check_methods(struct dl_cli *cli,
                                    const struct dl_step_options *o) {
  bool windowed = uses(o, "step-energy", "step-power");
  if (!uses(o, "carbontracker", ""))
    DL_TRY(dl_cli_refuse(cli, "k", "without --method carbontracker"));
  if (!windowed)
    DL_TRY(dl_cli_refuse(cli, "stable|window|stabilise",
                         "without --method step-energy or step-power"));
  if (!windowed && !uses(o, "step", ""))
    DL_TRY(dl_cli_refuse(cli, "phases|coverage", "on --method carbontracker"));
  if (o->stabilise != DL_STABLE_EPOCH)
    DL_TRY(dl_cli_refuse(cli, "stable", "with --stabilise fluss or regime"));
  return DL_OK;
}

/* A log that cannot be opened is the first thing to say. */
static enum dl_status check_logs(struct dl_cli *cli) {
  for (size_t i = 0; i < cli->n_arguments; i++)
    if (!dl_is_stdio(cli->argument[i]) && access(cli->argument[i], R_OK) != 0)
      return dl_fail_errno(&cli->diag, cli->argument[i], "cannot open", errno);
  return DL_OK;
}

/* Adds a log, or the logs in a folder; a folder without any is refused where it
 * is opened. */
static void add_logs(struct dl_strlist *paths, const char *path) {
  struct dirent **entry;
  const size_t before = paths->n;
  const int n = scandir(path, &entry, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    DL_TEXT(file);
    dl_text_printf(&file, "%s/%s", path, entry[i]->d_name);
    if (entry[i]->d_name[0] != '.' && dl_run_log_importer(file.s))
      dl_strlist_add(paths, file.s);
    free(entry[i]);
  }
  if (n >= 0)
    free(entry);
  if (paths->n == before)
    dl_strlist_add(paths, path);
}

/* Phases cover the whole training, which may stop early. */
static enum dl_status check_phases(const struct dl_step_options *o,
                                   struct dl_diag *d) {
  double sum = 0;
  for (size_t i = 0; i < o->projection.n_phases; i++)
    sum += o->phase[i];
  if (o->projection.n_phases == 0 || fabs(sum - o->projection.n_high) < 1e-6)
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "--phases add up to %g epochs, but --epochs is %g", sum,
                 o->projection.n_high);
}

static void free_step(struct dl_step *s) {
  dl_epoch_series_free(&s->seen);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct dl_step_options *o = options_at;
  DL_TRY(check_logs(cli));
  if (isnan(o->projection.n_low))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "missing option: --epochs N, of the whole training");
  o->extract.epochs.n_total = o->projection.n_high;
  o->extract.epochs.n_first = o->projection.n_phases > 1 ? o->phase[0] : 0;
  o->details |= !cli->format->document || cli->format->whole;
  o->name = dl_is_stdio(cli->argument[0]) ? "<stdin>" : cli->argument[0];
  o->log_options =
      dl_cli_given(cli, "interval|epoch-length|truncate-watts|drop-last");
  DL_TRY(check_methods(cli, o));
  DL_TRY(check_phases(o, &cli->diag));
  for (size_t i = 0; i < cli->n_arguments; i++)
    add_logs(&o->paths, cli->argument[i]);
  DL_TRY(dl_site_find(&o->foot, dl_cli_catalog(cli), &cli->diag));
  DL_SCOPED(free_step) struct dl_step s = {0};
  DL_TRY(dl_step_follow(cli, o, &s));
  return print(cli, o, &s);
}

static void free_paths(void *options_at) {
  dl_strlist_free(&((struct dl_step_options *)options_at)->paths);
}

const struct dl_command dl_cmd_step = {
    .name = "step",
    .summary = "project a training from the epochs seen so far, live",
    .arguments = "LOG...",
    .doc = "Project the energy of a training that has begun from the epochs "
           "seen so far. A folder stands for the power logs in it."
           "\vExamples:\n"
           "  dlest step gpu-7.csv memory-7.csv --epochs 90\n"
           "  dlest step gpu-7.csv --epochs 40..90 --phases 10,80\n"
           "  dlest step epochs.csv --epochs 50 --seen 3 --country ES\n"
           "  tail -n +1 gpu-7.csv | dlest step - --epochs 90 --follow\n",
    .reads_words = true,
    .tables = tables,
    .options_size = sizeof(struct dl_step_options),
    .init = init,
    .free = free_paths,
    .run = run,
};
