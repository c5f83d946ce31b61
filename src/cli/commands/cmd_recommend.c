/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest recommend: which accelerator, batch size and input for a model. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "cli/passes/recommend.h"

enum {
  KEY_METHOD = 0x300,
  KEY_MODEL,
  KEY_COVERAGE,
  KEY_DEADLINE,
  KEY_BUDGET,
  KEY_ACCURACY,
  KEY_TABLE,
  KEY_NODE,
  KEY_ALL
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What counts:", 5},
    {"deadline", KEY_DEADLINE, "TIME", 0,
     "leave out what takes longer: hours, or 90m, 2d", 5},
    {"budget-kwh", KEY_BUDGET, "KWH", 0, "leave out what takes more energy", 5},
    {"accuracy", KEY_ACCURACY, "TABLE.csv", 0,
     "accuracy of each architecture, a third thing to weigh: columns arch and "
     "accuracy",
     5},
    {"table", KEY_TABLE, "RUNS.csv", 0,
     "choose among measured runs, in place of estimates (- is standard input)",
     5},
    {"node", KEY_NODE, "LIST", 0,
     "choose among whole computers (dlest list nodes), by the energy of the "
     "node, in place of accelerators; all: every one of the catalogue",
     5},
    {"method", KEY_METHOD, "NAME", 0,
     "estimator (default physical; dlest list methods)", 5},
    {"model", KEY_MODEL, "FILE", 0,
     "model made by dlest fit, in place of those that ship", 5},
    {"coverage", KEY_COVERAGE, "PERCENT", 0,
     "coverage of the intervals (default 90)", 5},
    {"all", KEY_ALL, NULL, 0, "tell of every choice in text too", 5},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct dl_recommend_options *o = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &o->job;
    return 0;
  case KEY_METHOD:
    if (strchr(arg, ',') || strcmp(arg, "all") == 0)
      argp_error(state, "--method: one method, so that choices compare");
    o->method = arg;
    return 0;
  case KEY_MODEL:
    o->model = arg;
    return 0;
  case KEY_COVERAGE:
    o->coverage = dl_arg_percent(state, "coverage", arg);
    return 0;
  case KEY_DEADLINE:
    if (!dl_parse_duration(arg, 3600, &o->deadline_s) || o->deadline_s <= 0)
      argp_error(state, "--deadline: invalid value '%s'", arg);
    return 0;
  case KEY_BUDGET:
    o->budget_kwh = dl_arg_positive(state, "budget-kwh", arg, INFINITY);
    return 0;
  case KEY_ACCURACY:
    o->accuracy = arg;
    return 0;
  case KEY_TABLE:
    o->table = arg;
    return 0;
  case KEY_NODE:
    o->nodes = arg;
    return 0;
  case KEY_ALL:
    o->all = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&dl_job_argp, 0, NULL, 0}, {0}};
static const struct argp recommend_argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Tell which accelerator, batch size and input a model is best "
           "trained with: the choices that no other beats in energy and time."
           "\v--arch, --gpu, --gpus, --seq-len, --image-px and --batch-size "
           "take lists (32,64) and ranges (16..256x2, 96..224+32).\n\n"
           "Examples:\n"
           "  dlest recommend --arch resnet50 --gpu a100,t4,rtx-3090\n"
           "  dlest recommend -a resnet50,vgg16 -g a100 -b 32..256x2 "
           "--deadline 48\n"
           "  dlest recommend -a vit_base_patch16_224 -n 1,8 "
           "--node dgx-a100,dgx-h100\n"
           "  dlest recommend --table runs.csv\n",
};

/* The axes of the sweep, the last running fastest. A further one is a row
 * here and an option that may be a list (job_options.c). */
static const char *const axes[] = {
    "arch", "gpu", "n_gpus", "seq_len", "image_px", "batch_size", NULL};

/* All accelerators of the catalogue, as a list. */
static enum dl_status every_gpu(struct dl_cli *cli, struct dl_axes *to) {
  const struct dl_descriptor **list;
  struct dl_text names = {0};
  size_t n;
  enum dl_status status =
      dl_catalog_all(cli->catalog, DL_ACCELERATOR, &list, &n, &cli->diag);
  if (status != DL_OK)
    return status;
  for (size_t i = 0; i < n; i++)
    dl_text_printf(&names, "%s%s", i > 0 ? "," : "", list[i]->id);
  status = names.failed
               ? dl_fail_memory(&cli->diag)
               : dl_axes_set(to, "gpu", dl_text_str(&names), false, &cli->diag);
  dl_text_free(&names);
  free((void *)list);
  return status;
}

/* What was not given: every accelerator (nodes have theirs), usual batch
 * sizes. */
static enum dl_status fill_axes(struct dl_cli *cli, struct dl_job_options *o,
                                bool nodes) {
  bool language;
  enum dl_status status = dl_job_options_sweep(o, axes, &cli->diag);
  if (status == DL_OK && !dl_axes_find(&o->axes, "arch"))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "which architecture? give --arch, or --table");
  if (status == DL_OK)
    status = dl_job_options_language(o, cli->catalog, &language, &cli->diag);
  if (status == DL_OK && nodes && dl_axes_find(&o->axes, "gpu"))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--gpu: nodes have accelerators of their own; give --gpu or "
                   "--node");
  if (status == DL_OK && !nodes && !dl_axes_find(&o->axes, "gpu"))
    status = every_gpu(cli, &o->axes);
  if (status == DL_OK && !language && !dl_axes_find(&o->axes, "batch_size"))
    status = dl_axes_set(&o->axes, "batch_size", "16..256x2", true, &cli->diag);
  return status == DL_OK ? dl_job_options_sweep(o, axes, &cli->diag) : status;
}

/* Where a choice runs. */
static const char *place_of(const struct dl_alternative *c) {
  return c->node ? c->node : c->gpu ? c->gpu : "-";
}

/* The choice with the least of what a limit is on. */
static const struct dl_alternative *least(const struct dl_choices *l,
                                          bool time) {
  const struct dl_alternative *best = NULL;
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_alternative *c = &l->c[i];
    double x = time ? c->duration_s : c->energy_j;
    if (c->excluded == DL_CHOICE_SILENT || c->excluded == DL_CHOICE_MEMORY ||
        isnan(x))
      continue;
    if (!best || x < (time ? best->duration_s : best->energy_j))
      best = c;
  }
  return best;
}

/* Of what stands in the way, the nearest choice is told. */
static enum dl_status none_meets(struct dl_cli *cli,
                                 const struct dl_recommend_options *o,
                                 const struct dl_choices *l) {
  const struct dl_alternative *fast = least(l, true),
                              *thrifty = least(l, false);
  struct dl_text t = {0};
  char x[DL_NUMBER_SIZE];
  if (!thrifty && l->n_excluded[DL_CHOICE_MEMORY] > 0)
    return dl_fail(&cli->diag, DL_EINPUT,
                   "no choice fits the memory of its GPU; try a smaller "
                   "--batch-size or --image-px");
  if (!thrifty)
    return dl_fail(&cli->diag, DL_EINPUT,
                   "no choice has an estimate: %s needs %s", o->method,
                   l->n > 0 && l->c[0].lacks ? l->c[0].lacks : "more");
  if (isfinite(o->deadline_s) && fast)
    dl_text_printf(&t, "; the fastest takes %s h (%s, %s, batch size %g)",
                   dl_format_digits(x, fast->duration_s / DL_S_PER_HOUR, 3),
                   fast->arch ? fast->arch : "-", place_of(fast),
                   fast->batch_size);
  if (isfinite(o->budget_kwh))
    dl_text_printf(&t, "; the thriftiest takes %s kWh (%s, %s, batch size %g)",
                   dl_format_digits(x, thrifty->energy_j / DL_J_PER_KWH, 3),
                   thrifty->arch ? thrifty->arch : "-", place_of(thrifty),
                   thrifty->batch_size);
  enum dl_status status =
      dl_fail(&cli->diag, DL_EBUDGET, "no choice meets the %s%s",
              !isfinite(o->deadline_s)   ? "budget"
              : !isfinite(o->budget_kwh) ? "deadline"
                                         : "deadline and the budget",
              dl_text_str(&t));
  dl_text_free(&t);
  return status;
}

static enum dl_status recommend(struct dl_cli *cli,
                                struct dl_recommend_options *o,
                                struct dl_recommend_data *r) {
  const struct dl_choice_limits limits = {o->deadline_s,
                                          o->budget_kwh * DL_J_PER_KWH};
  enum dl_status status;
  if (o->table && o->nodes)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--table has runs of its own; it does not go with --node");
  if (o->table) {
    status = dl_job_options_sweep(&o->job, axes, &cli->diag);
    if (status == DL_OK)
      status = dl_recommend_measured(cli, o, r);
  } else {
    status = fill_axes(cli, &o->job, o->nodes);
    if (status == DL_OK)
      status = o->nodes ? dl_recommend_nodes(cli, o, r)
                        : dl_recommend_estimate(cli, o, r);
  }
  if (status == DL_OK && o->accuracy)
    status = dl_recommend_accuracy(cli, o->accuracy, &r->choices);
  if (status == DL_OK)
    status = dl_choices_judge(&r->choices, &limits, &cli->diag);
  if (status == DL_OK && r->choices.n_excluded[DL_CHOICE_MEETS] == 0)
    status = none_meets(cli, o, &r->choices);
  return status == DL_OK ? dl_recommend_report(cli, o, &r->choices) : status;
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct dl_recommend_options o = {.method = "physical",
                                   .coverage = 0.9,
                                   .deadline_s = INFINITY,
                                   .budget_kwh = INFINITY};
  struct dl_recommend_data r = {0};
  o.job.takes_lists = true;
  dl_cli_parse(cli, &recommend_argp, argc, argv, &o);
  enum dl_status status = recommend(cli, &o, &r);
  dl_recommend_free(&r);
  dl_job_options_free(&o.job);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_recommend = {
    .name = "recommend",
    .summary = "which accelerator for a model: energy against time",
    .argp = &recommend_argp,
    .run = run,
};
