/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest step: projects a training that has begun. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"
#include "cli/options/budget.h"
#include "cli/passes/step_follow.h"
#include "cli/views/step_report.h"
#include "logs/importers/importers.h"

enum {
  OPT_PHASES = 256,
  OPT_DURATION,
  OPT_STABLE,
  OPT_WINDOW,
  OPT_K,
  OPT_COVERAGE,
  OPT_SEEN,
  OPT_WHERE,
  OPT_COLUMN,
  OPT_STABILISE,
  OPT_TRUNCATE,
  OPT_DROP_LAST,
  OPT_LENGTH,
  OPT_INTERVAL,
  OPT_FOLLOW,
  OPT_EVERY,
  OPT_BUDGET
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The training:", 1},
    {"epochs", 'n', "N|LOW..HIGH", 0,
     "epochs of the whole training; a range where it may stop early", 1},
    {"phases", OPT_PHASES, "N,N,...", 0,
     "planned phases in epochs: 10,90 (frozen, then fine-tuned)", 1},
    {"duration", OPT_DURATION, "TIME", 0,
     "of the whole training, where it is known (3h, 90m, 5400s)", 1},
    {NULL, 0, NULL, 0, "Methods:", 2},
    {"method", 'm', "LIST", 0,
     "step, step-energy, step-power, carbontracker (default: all)", 2},
    {"stable", OPT_STABLE, "EPOCH", 0,
     "first epoch of the window of step-energy and step-power (default 10)", 2},
    {"window", OPT_WINDOW, "N", 0, "epochs in that window (default 5)", 2},
    {"stabilise", OPT_STABILISE, "epoch|fluss|regime", 0,
     "take --stable for it (default), find it in the power by FLUSS, or take "
     "the first epoch of the regime that step finds",
     2},
    {"k", OPT_K, "N", 0, "epochs that carbontracker's rule takes (default 1)",
     2},
    {"coverage", OPT_COVERAGE, "PERCENT", 0, "of the interval (default 90)", 2},
    {"budget-kwh", OPT_BUDGET, "KWH", 0,
     "exit with status 4 if the projection is over it", 2},
    {NULL, 0, NULL, 0, "Logs:", 3},
    {"from", 'F', "FORMAT", 0, "take the logs for that format", 3},
    {"interval", OPT_INTERVAL, "SECONDS", 0,
     "time between samples of logs without times (default 1 s)", 3},
    {"epoch-length", OPT_LENGTH, "SECONDS", 0,
     "about how long an epoch is, where that is known", 3},
    {"truncate-watts", OPT_TRUNCATE, NULL, 0,
     "count whole watts of the GPU only, as del Rey et al. do", 3},
    {"drop-last", OPT_DROP_LAST, "N", 0, "leave out the last N lines", 3},
    {"follow", OPT_FOLLOW, NULL, 0,
     "watch a log that grows; ends with the training, or on interrupt", 3},
    {"every", OPT_EVERY, "SECONDS", 0, "look that often (default 5 s)", 3},
    {NULL, 0, NULL, 0, "Tables with a row an epoch:", 4},
    {"where", OPT_WHERE, "COLUMN=VALUE", 0, "only rows with that value", 4},
    {"energy-column", OPT_COLUMN, "NAME", 0,
     "column of the energy, its unit at the end: gpu_energy_kwh", 4},
    {"seen", OPT_SEEN, "K", 0, "take the first K epochs only", 4},
    {0},
};

static bool parse_epochs(const char *arg, double *low, double *high) {
  const char *dots = strstr(arg, "..");
  char *first = dots ? strndup(arg, (size_t)(dots - arg)) : strdup(arg);
  bool ok = first && dl_parse_double(first, low) &&
            dl_parse_double(dots ? dots + 2 : first, high) && *low >= 1 &&
            *low <= *high;
  free(first);
  return ok;
}

/* Numbers between commas; the array is the options' own. */
static bool parse_phases(const char *arg, struct dl_step_options *o) {
  struct dl_strlist parts = {0};
  bool ok = dl_strlist_split(&parts, arg, ',') && parts.n > 0 &&
            parts.n <= DL_STEP_PHASES_MAX;
  for (size_t i = 0; ok && i < parts.n; i++)
    ok = dl_parse_double(parts.s[i], &o->phase[i]) && o->phase[i] > 0;
  o->projection.n_phases = parts.n;
  dl_strlist_free(&parts);
  return ok;
}

static bool parse_methods(const char *arg, struct dl_step_options *o) {
  struct dl_strlist parts = {0};
  bool ok = dl_strlist_split(&parts, arg, ',') && parts.n > 0 &&
            parts.n <= DL_STEP_METHODS_MAX;
  for (o->n_methods = 0; ok && o->n_methods < parts.n; o->n_methods += ok) {
    o->method[o->n_methods] = dl_projector_find(parts.s[o->n_methods]);
    ok = o->method[o->n_methods] != NULL;
  }
  dl_strlist_free(&parts);
  return ok;
}

static void want_count(const char *name, const char *arg, size_t low,
                       size_t *out, struct argp_state *state) {
  if (!dl_parse_count(arg, out) || *out < low || *out > 1000000)
    argp_error(state, "--%s: invalid number '%s'", name, arg);
}

static void want_time(const char *name, const char *arg, double *out,
                      struct argp_state *state) {
  if (!dl_parse_duration(arg, 1, out) || !(*out > 0))
    argp_error(state, "--%s: invalid time '%s'", name, arg);
}

static error_t parse_method_option(int key, char *arg,
                                   struct argp_state *state) {
  struct dl_step_options *o = state->input;
  struct dl_projection_options *p = &o->projection;
  switch (key) {
  case 'n':
    if (!parse_epochs(arg, &p->n_low, &p->n_high))
      argp_error(state, "--epochs: expected N or LOW..HIGH, not '%s'", arg);
    return 0;
  case OPT_PHASES:
    if (!parse_phases(arg, o))
      argp_error(state, "--phases: expected numbers of epochs, not '%s'", arg);
    return 0;
  case OPT_DURATION:
    want_time("duration", arg, &p->duration_s, state);
    return 0;
  case 'm':
    if (strcmp(arg, "all") != 0 && !parse_methods(arg, o))
      argp_error(state,
                 "--method: unknown in '%s'; there are step, "
                 "step-energy, step-power and carbontracker",
                 arg);
    return 0;
  case OPT_STABLE:
    want_count("stable", arg, 0, &p->stable, state);
    return 0;
  case OPT_WINDOW:
    want_count("window", arg, 1, &p->window, state);
    return 0;
  case OPT_STABILISE:
    if (strcmp(arg, "fluss") != 0 && strcmp(arg, "epoch") != 0 &&
        strcmp(arg, "regime") != 0)
      argp_error(state, "--stabilise: 'epoch', 'fluss' or 'regime', not '%s'",
                 arg);
    o->fluss = strcmp(arg, "fluss") == 0;
    o->regime = strcmp(arg, "regime") == 0;
    return 0;
  case OPT_K:
    want_count("k", arg, 1, &p->k, state);
    return 0;
  case OPT_COVERAGE:
    p->coverage = dl_arg_percent(state, "coverage", arg);
    return 0;
  case OPT_BUDGET:
    if (!dl_parse_double(arg, &o->budget_kwh) || o->budget_kwh < 0)
      argp_error(state, "--budget-kwh: invalid number '%s'", arg);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct dl_step_options *o = state->input;
  struct dl_extract_options *x = &o->extract;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &o->site;
    return 0;
  case 'F':
    x->log.from = dl_importer_find(arg);
    if (!x->log.from)
      argp_error(state, "unknown log format '%s'; see 'dlest list importers'",
                 arg);
    return 0;
  case OPT_INTERVAL:
    want_time("interval", arg, &x->log.interval_s, state);
    return 0;
  case OPT_LENGTH:
    want_time("epoch-length", arg, &x->epochs.hint_s, state);
    return 0;
  case OPT_TRUNCATE:
    x->meter.truncate_watts = true;
    return 0;
  case OPT_DROP_LAST:
    want_count("drop-last", arg, 0, &x->log.drop_last, state);
    return 0;
  case OPT_FOLLOW:
    o->follow = true;
    return 0;
  case OPT_EVERY:
    want_time("every", arg, &o->every_s, state);
    return 0;
  case OPT_WHERE:
    if (!dl_strlist_add(&o->where, arg))
      argp_failure(state, DL_EFAILED, 0, "out of memory");
    return 0;
  case OPT_COLUMN:
    o->energy_column = arg;
    return 0;
  case OPT_SEEN:
    want_count("seen", arg, 0, &o->seen, state);
    return 0;
  case ARGP_KEY_ARG:
    if (!dl_strlist_add(&o->paths, arg))
      argp_failure(state, DL_EFAILED, 0, "out of memory");
    return 0;
  case ARGP_KEY_END:
    if (o->paths.n == 0)
      argp_error(state, "which log?");
    if (isnan(o->projection.n_low))
      argp_error(state, "--epochs: how many has the whole training?");
    return 0;
  default:
    return parse_method_option(key, arg, state);
  }
}

static const struct argp_child children[] = {{&dl_site_argp, 0, NULL, 0}, {0}};
static const struct argp step_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "LOG...",
    .doc = "Project the energy of a training that has begun from the epochs "
           "seen so far."
           "\vExamples:\n"
           "  dlest step gpu-7.csv memory-7.csv --epochs 90\n"
           "  dlest step gpu-7.csv --epochs 40..90 --phases 10,80\n"
           "  dlest step epochs.csv --epochs 50 --seen 3 --country ES\n"
           "  tail -n +1 gpu-7.csv | dlest step - --epochs 90 --follow\n",
};

static enum dl_status print(struct dl_cli *cli, const struct dl_step_options *o,
                            const struct dl_step *s) {
  size_t best = dl_step_best(s);
  const struct dl_projection *p = &s->p[best];
  if (p->verdict == DL_PROJECTION_DRIFTING)
    dl_warn(&cli->diag, "do not trust the projection: %s",
            p->reason ? p->reason : "the epochs drift");
  struct dl_report *r = dl_step_report(s);
  enum dl_status status = r ? dl_cli_print(cli, r) : dl_fail_memory(&cli->diag);
  if (status != DL_OK)
    return status;
  char what[64];
  snprintf(what, sizeof what, "%s projects", s->by[best]->name);
  return dl_check_budget(what, p->energy_j, o->budget_kwh, &cli->diag);
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct dl_step_options o = {.every_s = 5,
                              .seen = SIZE_MAX,
                              .budget_kwh = INFINITY,
                              .site = dl_site_options_none};
  struct dl_step s = {0};
  dl_projection_defaults(&o.projection);
  dl_cli_parse(cli, &step_argp, argc, argv, &o);
  o.extract.epochs.n_total = o.projection.n_high;
  o.extract.epochs.n_first = o.projection.n_phases > 1 ? o.phase[0] : 0;
  o.name = strcmp(o.paths.s[0], "-") == 0 ? "<stdin>" : o.paths.s[0];
  enum dl_status status =
      dl_site_find(&o.site, cli->catalog, &o.foot, &cli->diag);
  if (status == DL_OK)
    status = dl_step_follow(cli, &o, &s);
  if (status == DL_OK)
    status = print(cli, &o, &s);
  dl_epoch_series_free(&s.seen);
  dl_strlist_free(&o.paths);
  dl_strlist_free(&o.where);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_step = {
    .name = "step",
    .summary = "project a training from the epochs seen so far, live",
    .argp = &step_argp,
    .run = run,
};
