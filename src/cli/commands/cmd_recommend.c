/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest recommend: which accelerator, batch size and input for a model. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/names/intern.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/options/known_options.h"
#include "cli/passes/recommend.h"
#include "output/units.h"
#include "physics/cpu/cpu_inputs.h"
#include "run/formula/descriptor_filter.h"
#include "run/setup/training_setup.h"

static enum dl_status read_method(const struct dl_option *row, char *arg,
                                  void *at, struct dl_diag *d) {
  (void)row, (void)d;
  *(const char **)at = arg;
  return strchr(arg, ',') || strcmp(arg, "all") == 0 ? DL_EUSAGE : DL_OK;
}

#define AT(kind, member) DL_STORE(kind, struct dl_recommend_options, member)

static const struct dl_option options[] = {
    DL_HEADING("What counts:", 5),
    {"by", 0, "LIST",
     "compare by energy, time, co2e or cost: the first puts the choices in "
     "order, all make the Pareto front (default energy,time)",
     AT(WORDS, by)},
    {"gpu-price", 0, "PRICE",
     "price of an hour on an accelerator with its currency: 2.5USD/h, or by "
     "kind: h100=2.5USD/h,a100=1.3USD/h",
     DL_READ(dl_read_hour_prices, struct dl_recommend_options, gpu_price),
     .expected = "a number and a currency per hour: 2.5USD/h",
     .without = "price"},
    {"deadline", 0, "TIME", "exclude choices that take longer: 90m, 2 days",
     AT(TIME, limits.deadline_s)},
    {"budget-kwh", 0, "KWH", "exclude choices that take more energy",
     AT(ABOVE, budget_kwh)},
    {"accuracy", 0, "TABLE.csv",
     "accuracy of each architecture as a third objective: columns arch and "
     "accuracy",
     AT(TEXT, accuracy), .reads = true},
    {"table", 0, "RUNS.csv",
     "choose among the runs of a table, by their energies or, without column "
     "energy_j, by estimates (- is standard input)",
     AT(TEXT, table), .without = "node"},
    {"node", 0, "LIST",
     "choose among whole computers (dlest list nodes), by the energy of the "
     "node, instead of accelerators; all: each node of the catalogue",
     AT(TEXT, nodes)},
    {"boundary", 0, "WHAT",
     "where the energies of nodes are measured: gpu, gpu+ram, node-dc, node or "
     "facility, as for predict (default: facility with a PUE, else node)",
     AT(CHOICE, boundary), .words = DL_BOUNDARY_WORDS, .with = "node"},
    {"where", 0, "EXPRESSION",
     "choose among the accelerators for which it is true: 'memory_gb>=40', "
     "\"vendor = 'amd'\" (default: all that were sold; --gpu names your own)",
     AT(TEXT, where), .without = "gpu|cpu|node|table"},
    {"extrapolate", 0, NULL,
     "rank generations of accelerators outside the training data too, without "
     "--gpu",
     AT(FLAG, extrapolate), .without = "table"},
    {"method", 'm', "NAME", "estimator (default physical; dlest list methods)",
     AT(TEXT, method), .read = read_method,
     .expected = "one method, so that choices compare"},
    {"model", 0, "FILE",
     "model file of dlest fit (default: the installed ones)", AT(TEXT, model),
     .reads = true, .methods = DL_FITTED_METHODS},
    {"coverage", 0, "PERCENT", "coverage of the intervals (default 90)",
     AT(PERCENT, coverage), .methods = DL_FITTED_METHODS},
    {"all", 0, NULL, "print all choices", AT(FLAG, all)},
    {"explain", 0, NULL, "print the settings and what the intervals mean",
     AT(FLAG, explain)},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    DL_JOB_OPTION_TABLES(struct dl_recommend_options, job),
    {dl_hours_options_rows, offsetof(struct dl_recommend_options, hours)},
    {0},
};

static void init(void *options_at) {
  struct dl_recommend_options *o = options_at;
  o->method = "physical";
  o->coverage = 0.9;
  o->limits.deadline_s = o->budget_kwh = INFINITY;
  o->boundary = DL_N_BOUNDS;
  dl_job_options_init(&o->job);
  o->job.takes_lists = o->job.merges_cpus = true;
}

static void free_options(void *options_at) {
  struct dl_recommend_options *o = options_at;
  dl_job_options_free(&o->job);
  dl_strlist_free(&o->by);
  dl_hours_options_free(&o->hours);
}

/* The axes of the sweep, the last running fastest. A further one is a row
 * here and an option that may be a list (job_options.c). */
static const char *const axes[] = {"arch",      "gpu",      "n_gpus",
                                   "seq_len",   "image_px", "batch_size",
                                   "precision", NULL};

/* Axes that choose among the runs of a table. */
static const char *const table_axes[] = {
    "arch", "gpu", "n_gpus", "seq_len", "image_px", "batch_size", NULL};

/* CPUs of servers that came out at most so many years before the newest. */
enum { RECENT_YEARS = 5 };

/* Accelerators to search: all for which --where is true, else accelerators that
 * were sold, CPUs of recent servers, or both. */
struct searched {
  const char *where;
  bool gpus, cpus;
};

static double newest_cpu(const struct dl_descriptor *const *list, size_t n) {
  double year = 0;
  for (size_t i = 0; i < n; i++)
    if (dl_is_cpu(DL_AS(accelerator, list[i])))
      year = fmax(year, DL_AS(accelerator, list[i])->year);
  return year;
}

static bool is_sought(const struct dl_accelerator *gpu,
                      const struct searched *s, double newest) {
  if (s->where)
    return true;
  if (dl_is_cpu(gpu))
    return s->cpus && !dl_is_client_cpu(gpu) &&
           gpu->year >= newest - RECENT_YEARS && gpu->tdp_w > 0;
  return s->gpus && !gpu->availability;
}

/* Appends the accelerators of the catalogue that are searched to a list. */
static enum dl_status add_searched(struct dl_cli *cli, const struct searched *s,
                                   struct dl_text *names) {
  DL_FREED const struct dl_descriptor **list = NULL;
  struct dl_diag *d = &cli->diag;
  size_t n;
  DL_TRY(dl_catalog_all(dl_cli_catalog(cli), DL_ACCELERATOR, &list, &n, d));
  double newest = newest_cpu(list, n);
  if (s->where)
    DL_TRY(dl_filter(list, &n, DL_ACCELERATOR, s->where, d));
  for (size_t i = 0; i < n; i++)
    if (is_sought(DL_AS(accelerator, list[i]), s, newest))
      dl_text_printf(names, "%s%s", names->len > 0 ? "," : "", list[i]->id);
  return names->len > 0
             ? DL_OK
             : dl_fail(d, DL_EINPUT,
                       "--where '%s' is true for no accelerator; see 'dlest "
                       "list gpus'",
                       dl_text_or(s->where, ""));
}

/* Makes the axis of accelerators of --gpu and --cpu, of which either may be
 * "all"; without both, all GPUs. */
static enum dl_status find_accelerators(struct dl_cli *cli,
                                        struct dl_recommend_options *all) {
  struct dl_job_options *o = &all->job;
  const struct dl_axis *a = dl_axes_find(&o->axes, "gpu");
  bool every = a && a->n == 1 && strcmp(a->text.s[0], "all") == 0;
  bool cpus = o->cpus && strcmp(o->cpus, "all") == 0;
  const struct searched s = {all->where, every || (!a && !o->cpus), cpus};
  DL_TEXT(names);
  for (size_t i = 0; a && !every && i < a->n; i++)
    dl_text_printf(&names, "%s%s", i > 0 ? "," : "", a->text.s[i]);
  if (o->cpus && !cpus)
    dl_text_printf(&names, "%s%s", names.len > 0 ? "," : "", o->cpus);
  all->searched = s.gpus || s.where;
  if (all->extrapolate && !all->searched)
    return dl_fail(&cli->diag, DL_EUSAGE, "--%s does not go with --%s",
                   "extrapolate", a ? "gpu" : "cpu");
  if (all->searched || cpus)
    DL_TRY(add_searched(cli, &s, &names));
  return dl_axes_set(&o->axes, "gpu", dl_text_str(&names), false, &cli->diag);
}

/* Leaves each descriptor of an axis once, by the first of its names. */
static enum dl_status drop_synonyms(struct dl_cli *cli, struct dl_axes *among,
                                    const char *column, enum dl_kind kind) {
  const struct dl_axis *a = dl_axes_find(among, column);
  DL_SCOPED(dl_intern_free) struct dl_intern ids = {0};
  DL_TEXT(names);
  for (size_t i = 0; a && i < a->n; i++) {
    const struct dl_descriptor *e = NULL;
    size_t known = ids.n;
    DL_TRY(dl_catalog_look(dl_cli_catalog(cli), kind, a->text.s[i], &e,
                           &cli->diag));
    dl_intern(&ids, e ? e->id : a->text.s[i]);
    if (ids.n > known)
      dl_text_printf(&names, "%s%s", known > 0 ? "," : "", a->text.s[i]);
  }
  return !a || ids.n == a->n ? DL_OK
                             : dl_axes_set(among, column, dl_text_str(&names),
                                           false, &cli->diag);
}

/* Whether batch sizes are choices where none is given. Language models in
 * training have one of their set-up, requests at a rate the one that keeps up,
 * and a single request has none. */
static bool varies_batch(const struct dl_job_options *o,
                         const struct dl_job_subject *s) {
  return s->inference ? dl_job_options_give(o, DL_RUN_requests) &&
                            !dl_job_options_give(o, DL_RUN_request_rate)
                      : !s->language;
}

/* Mixed precision is a choice where frameworks would compute in FP32 or TF32
 * and nothing says so. */
static enum dl_status offer_amp(struct dl_job_options *o,
                                const struct dl_job_subject *s,
                                struct dl_diag *d) {
  bool chosen = dl_axes_find(&o->axes, "precision") != NULL ||
                dl_job_options_give(o, DL_RUN_precision);
  return chosen || s->language || s->inference
             ? DL_OK
             : dl_axes_offer(&o->axes, "precision", "amp", d);
}

/* Defaults: every accelerator (nodes have their own), usual batch sizes. */
static enum dl_status fill_axes(struct dl_cli *cli,
                                struct dl_recommend_options *all) {
  struct dl_job_options *o = &all->job;
  bool nodes = all->nodes != NULL;
  struct dl_job_subject s;
  DL_TRY(dl_job_options_sweep(o, axes, &cli->diag));
  if (!dl_axes_find(&o->axes, "arch"))
    return dl_fail(&cli->diag, DL_EUSAGE, "missing option: --arch, or --table");
  DL_TRY(drop_synonyms(cli, &o->axes, "arch", DL_ARCHITECTURE));
  DL_TRY(dl_job_subject_find(&s, o, dl_cli_catalog(cli), &cli->diag));
  const char *given = o->cpus ? "cpu" : "gpu";
  if (nodes && (dl_axes_find(&o->axes, "gpu") || o->cpus))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--%s: nodes have accelerators of their own; give --%s or "
                   "--node",
                   given, given);
  if (!nodes)
    DL_TRY(find_accelerators(cli, all));
  DL_TRY(drop_synonyms(cli, &o->axes, "gpu", DL_ACCELERATOR));
  bool batches = dl_axes_find(&o->axes, "batch_size") != NULL;
  if (batches && s.inference && !dl_job_options_give(o, DL_RUN_requests) &&
      !dl_job_options_give(o, DL_RUN_request_rate))
    dl_warn(&cli->diag, "one request, the default, fills no batch; give "
                        "--requests");
  if (!batches && varies_batch(o, &s))
    DL_TRY(dl_axes_set(&o->axes, "batch_size", "16..256x2", true, &cli->diag));
  DL_TRY(offer_amp(o, &s, &cli->diag));
  return dl_job_options_sweep(o, axes, &cli->diag);
}

/* Names the place that a choice runs on. */
static const char *place_of(const struct dl_alternative *c) {
  if (c->node)
    return c->node;
  return c->gpu ? c->gpu : "-";
}

/* The choice with the least of what a limit is on. */
static const struct dl_alternative *least(const struct dl_choices *l,
                                          bool time) {
  const struct dl_alternative *best = NULL;
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_alternative *c = &l->c[i];
    double x = time ? c->duration_s : c->energy_j.x;
    if (c->excluded == DL_CHOICE_SILENT || c->excluded == DL_CHOICE_MEMORY ||
        isnan(x))
      continue;
    if (!best || x < (time ? best->duration_s : best->energy_j.x))
      best = c;
  }
  return best;
}

/* Names the choice nearest to the limits in the error. */
static enum dl_status none_meets(struct dl_cli *cli,
                                 const struct dl_recommend_options *o,
                                 const struct dl_choices *l) {
  const struct dl_alternative *fast = least(l, true), *lowest = least(l, false);
  DL_TEXT(t);
  if (!lowest && l->n_excluded[DL_CHOICE_MEMORY] > 0)
    return dl_fail(&cli->diag, DL_EINPUT,
                   "no choice fits the memory of its GPU; try a smaller "
                   "--batch-size, --checkpointing full or more --gpus");
  if (!lowest && l->broken)
    return dl_fail(&cli->diag, DL_EINPUT, "%s", l->broken);
  if (!lowest) {
    dl_add_setting(&t, l->n > 0 && l->c[0].lacks ? l->c[0].lacks : "more");
    return dl_fail(&cli->diag, DL_EINPUT,
                   "no choice has an estimate: %s needs %s", o->method, t.s);
  }
  if (isfinite(o->limits.deadline_s) && fast) {
    char x[DL_NUMBER_SIZE];
    dl_text_printf(&t, "; the fastest takes %s h (%s, %s, batch size %g)",
                   dl_format_digits(x, fast->duration_s / DL_S_PER_HOUR, 3),
                   fast->arch ? fast->arch : "-", place_of(fast),
                   fast->batch_size);
  }
  if (isfinite(o->budget_kwh)) {
    const struct dl_value energy = dl_number(lowest->energy_j.x);
    dl_text_add(&t, "; the lowest-energy one takes ");
    dl_show(&t, DL_KWH, "J", &energy, NULL);
    dl_text_printf(&t, " (%s, %s, batch size %g)",
                   lowest->arch ? lowest->arch : "-", place_of(lowest),
                   lowest->batch_size);
  }
  const char *limits = "deadline and the budget";
  if (!isfinite(o->limits.deadline_s))
    limits = "budget";
  else if (!isfinite(o->budget_kwh))
    limits = "deadline";
  return dl_fail(&cli->diag, DL_EBUDGET, "no choice meets the %s%s", limits,
                 dl_text_str(&t));
}

/* Warns of choices whose speed is bound by the input of an assumed loader:
 * choices on the front, or all choices if none meets the deadline. `said`: the
 * answer says it of the first choice. */
static void warn_of_loader(const struct dl_choices *l, bool said,
                           struct dl_diag *d) {
  size_t front = 0, bound = 0, late = 0;
  for (size_t i = 0; i < l->n; i++) {
    const struct dl_alternative *c = &l->c[i];
    bool meets = c->excluded == DL_CHOICE_MEETS && c->place.front;
    front += meets;
    bound += meets && c->loader_assumed;
    late += c->excluded == DL_CHOICE_DEADLINE && c->loader_assumed;
  }
  if (said && l->c[0].loader_assumed && bound > 0)
    return;
  if (bound + late > 0)
    dl_warn(d,
            "%zu of %zu choices %s: bound by the input of loader processes "
            "that are assumed; give --loader-workers, or --loader synthetic "
            "if the input keeps up",
            bound > 0 ? bound : late,
            bound > 0 ? front : l->n_excluded[DL_CHOICE_DEADLINE],
            bound > 0 ? "on the Pareto front" : "past the deadline");
}

/* Warns of choices that leave out parts of an epoch that differ by their
 * batches. */
static void warn_of_work(const struct dl_choices *l, struct dl_diag *d) {
  double low = INFINITY, high = 0;
  for (size_t i = 0; i < l->n; i++)
    if (l->c[i].excluded == DL_CHOICE_MEETS && l->c[i].work > 0) {
      low = fmin(low, l->c[i].work);
      high = fmax(high, l->c[i].work);
    }
  if (high > 1.01 * low) {
    char from[DL_NUMBER_SIZE], to[DL_NUMBER_SIZE];
    dl_warn(
        d,
        "--drop-last: choices train on %s to %s samples or tokens, and what "
        "is left out costs nothing; leave it out to compare the same work",
        dl_format_digits(from, low, 3), dl_format_digits(to, high, 3));
  }
}

/* Opens the model, and finds which accelerators the physical method was
 * measured on. */
static enum dl_status open_model(struct dl_cli *cli,
                                 const struct dl_recommend_options *o,
                                 struct dl_recommend_data *r) {
  DL_TRY(dl_open_model(
      cli, o->model, dl_job_kinds(&o->job, dl_cli_catalog(cli), NULL), &r->m));
  if (strcmp(o->method, "physical") != 0)
    return DL_OK;
  r->choices.measured = &r->measured;
  return dl_measured_find(&r->measured, r->m, dl_cli_catalog(cli), &cli->diag);
}

static enum dl_status find_choices(struct dl_cli *cli,
                                   struct dl_recommend_options *o,
                                   struct dl_recommend_data *r) {
  if (o->table && o->nodes)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--table has runs of its own; it does not go with --node");
  if (o->table) {
    DL_TRY(dl_table_check(o->table, &cli->diag));
    if (dl_axes_find(&o->job.axes, "precision"))
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "--precision: a list does not go with --table, whose "
                     "runs have one");
    DL_TRY(dl_job_options_sweep(&o->job, table_axes, &cli->diag));
    return dl_recommend_table(cli, o, r);
  }
  DL_TRY(dl_known_refuse_several(cli, &o->job, true));
  DL_TRY(fill_axes(cli, o));
  DL_TRY(open_model(cli, o, r));
  return o->nodes ? dl_recommend_nodes(cli, o, r)
                  : dl_recommend_estimate(cli, o, r);
}

/* The objectives of --by. A single one goes with the time, the time with the
 * energy. */
static enum dl_status set_objectives(struct dl_cli *cli,
                                     struct dl_recommend_options *o) {
  struct dl_choice_limits *l = &o->limits;
  size_t most = o->accuracy ? 2 : 3;
  l->by[0] = DL_BY_ENERGY;
  for (size_t i = 0; i < o->by.n; i++) {
    enum dl_objective by = DL_BY_ENERGY;
    while (by < DL_N_OBJECTIVES &&
           strcmp(o->by.s[i], dl_objective_name(by)) != 0)
      by++;
    for (size_t k = 0; k < i; k++)
      by = l->by[k] == by ? DL_N_OBJECTIVES : by;
    if (by == DL_N_OBJECTIVES || i == most)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "--by: expected up to %zu of energy, time, co2e and cost, "
                     "each once",
                     most);
    l->by[i] = by;
  }
  l->n_by = o->by.n > 1 ? o->by.n : 2;
  if (o->by.n < 2)
    l->by[1] = l->by[0] == DL_BY_TIME ? DL_BY_ENERGY : DL_BY_TIME;
  return DL_OK;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  DL_SCOPED(dl_recommend_free) struct dl_recommend_data r = {0};
  struct dl_recommend_options *o = options_at;
  o->explain |= cli->format->whole;
  if (!o->job.cpus)
    DL_TRY(dl_cli_refuse(cli, "cores", "without --cpu"));
  DL_TRY(dl_cli_refuse(cli, "wue|equivalents", "here: it is for predict"));
  DL_TRY(set_objectives(cli, o));
  o->job.has_table = o->table != NULL;
  DL_TRY(dl_job_options_check(cli, &o->job, o->method));
  DL_TRY(dl_recommend_regions(cli, o, &r));
  DL_TRY(find_choices(cli, o, &r));
  DL_TRY(dl_recommend_costs(cli, o, &r));
  if (o->accuracy)
    DL_TRY(dl_recommend_accuracy(cli, o->accuracy, &r.choices));
  o->limits.budget_j = o->budget_kwh * DL_J_PER_KWH;
  o->limits.measured = o->searched && !o->extrapolate;
  dl_choices_judge(&r.choices, &o->limits);
  warn_of_loader(&r.choices, cli->format->document && !cli->strict, &cli->diag);
  if (dl_drops_last(&o->job.run))
    warn_of_work(&r.choices, &cli->diag);
  if (r.choices.unmeasured)
    dl_warn(&cli->diag, "no accelerator of a measured generation meets the "
                        "limits; all generations are ranked");
  return r.choices.n_excluded[DL_CHOICE_MEETS] == 0
             ? none_meets(cli, o, &r.choices)
             : dl_recommend_report(cli, o, &r);
}

const struct dl_command dl_cmd_recommend = {
    .name = "recommend",
    .summary = "recommend accelerators for a model: energy against time",
    .doc = "Recommend accelerator, batch size and input size for a model: the "
           "Pareto front of energy and time."
           "\v--arch, --gpu, --gpus, --seq-len, --image-px and --batch-size "
           "take lists (32,64) and ranges (16..256x2, 96..224+32).\n\n"
           "Examples:\n"
           "  dlest recommend --arch resnet50 --gpu a100,t4,rtx-3090\n"
           "  dlest recommend -a resnet50,vgg16 -g a100 -b 32..256x2 "
           "--deadline 48h\n"
           "  dlest recommend -a vit_base_patch16_224 -n 1,8 "
           "--node dgx-a100,dgx-h100\n"
           "  dlest recommend -a resnet50 --where 'memory_gb>=40'\n"
           "  dlest recommend -a resnet50 --phase inference --gpu all --cpu "
           "all\n"
           "  dlest recommend --table runs.csv\n",
    .tables = tables,
    .options_size = sizeof(struct dl_recommend_options),
    .init = init,
    .free = free_options,
    .run = run,
};
