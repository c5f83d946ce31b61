/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest predict: energy, power, time and CO2e before running. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/calibration/calibration_table.h"
#include "cli/options/known_options.h"
#include "cli/views/summary/better_setup.h"
#include "cli/passes/calibrated_model.h"
#include "cli/views/summary/predict_warnings.h"
#include "cli/views/summary/software_carbon.h"
#include "cli/passes/write_results.h"
#include "cli/views/node_report.h"
#include "cli/views/predict_report.h"
#include "cli/views/summary/job_parts.h"
#include "cli/views/summary/predict_summary.h"
#include "cli/views/summary/answer.h"
#include "estimate/methods/work.h"
#include "estimate/rules/estimate_rules.h"

#define AT(kind, member) DL_STORE(kind, struct dl_predict_options, member)

static const struct dl_option options[] = {
    DL_HEADING("How it is estimated:", 5),
    {"method", 'm', "LIST",
     "all (default) or names separated by commas (dlest list methods)",
     AT(TEXT, methods)},
    {"model", 0, "FILE",
     "model file of dlest fit (default: the installed ones)", AT(TEXT, model),
     .reads = true, .methods = DL_FITTED_METHODS},
    {"coverage", 0, "PERCENT", "coverage of the intervals (default 90)",
     AT(PERCENT, coverage), .methods = DL_FITTED_METHODS},
    {"budget-kwh", 0, "KWH",
     "exit with 4 if the recommended estimate is higher",
     AT(ABOVE, budget_kwh)},
    {"all", 0, NULL, "print the estimates of all methods", AT(FLAG, all)},
    {"explain", 0, NULL,
     "print the settings, the defaults taken, the sources, and the parts of "
     "time and energy",
     AT(FLAG, explain), .without = "input"},
    {"input", 0, "RUNS.csv",
     "estimate each row of a runs table (- is standard input)",
     AT(TEXT, input)},
    {"known", 0, "LIST",
     "measured columns of --input that condition the estimates: time, "
     "gpu_util, gpu_power (default: all three); duration alone, whatever was "
     "done in it; or none",
     DL_READ(dl_read_known_columns, struct dl_predict_options, known),
     .expected = "time, duration, gpu_util and gpu_power separated by commas, "
                 "or none",
     .with = "input", .methods = DL_TIMED_METHODS},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    DL_JOB_OPTION_TABLES(struct dl_predict_options, job),
    {dl_node_options_rows, offsetof(struct dl_predict_options, node)},
    {dl_hours_options_rows, offsetof(struct dl_predict_options, hours)},
    {0},
};

static void init(void *options_at) {
  struct dl_predict_options *o = options_at;
  o->methods = "all";
  o->coverage = 0.9;
  o->budget_kwh = INFINITY;
  o->known = DL_KNOW_ALL;
  o->node = dl_node_options_none;
  dl_job_options_init(&o->job);
  o->job.takes_lists = true;
}

static void free_options(void *options_at) {
  struct dl_predict_options *o = options_at;
  dl_job_options_free(&o->job);
  dl_hours_options_free(&o->hours);
}

/* Adds sentences below the table of methods: why some have no estimate, and
 * which quantities of others lie outside their training data. The answer above
 * says it for the recommended method. */
static void say_methods(struct dl_report *r,
                        const struct dl_predict_answer *s) {
  for (size_t i = 0; i < s->result.n; i++) {
    const struct dl_estimate *e = &s->result.est[i];
    DL_TEXT(t);
    if (isnan(e->energy_j.x) && e->lacks) {
      dl_text_add(&t, "no estimate without ");
      dl_add_setting(&t, e->lacks);
    } else if (e->n_outside > 0 && (long)i != s->result.best) {
      dl_text_add(&t, "outside the measured range: ");
      dl_add_quantities(&t, e->outside, e->n_outside);
    }
    if (t.len > 0)
      dl_report_say(r, "%s: %s.", e->method, dl_text_str(&t));
    if (t.len > 0 && isnan(e->energy_j.x))
      dl_report_as_hint(r); /* it names an option */
  }
  if (s->result.best >= 0)
    dl_report_say(r, "* recommended. Boundary gpu: the boards alone; gpu+ram: "
                     "with the memory of the node.");
}

static void add_estimates(struct dl_report *r,
                          const struct dl_predict_answer *s,
                          const struct dl_predict_options *o) {
  const struct dl_footprint *foot = &o->job.foot;
  dl_predict_known(r, &s->result.job, &s->result.predictions.conditioned);
  dl_report_add(r, "recommended", NULL, NULL, DL_CODE,
                dl_string(s->result.best >= 0
                              ? s->result.est[s->result.best].method
                              : NULL));
  struct dl_column columns[DL_MOST_RESULT_COLUMNS];
  size_t n = dl_result_columns(columns, DL_COLUMNS_OF_ESTIMATE, foot, true);
  for (size_t i = 0; i < n; i++) {
    if (columns[i].use & DL_RANGE)
      columns[i].heading = s->interval;
    /* The cost of a node is reported below. */
    if (o->node.found && strcmp(columns[i].key, "cost") == 0)
      columns[i].heading = NULL;
  }
  struct dl_table *t =
      dl_report_table(r, "estimates", "Methods", columns, n, !o->node.parts);
  for (size_t i = 0; i < s->result.n; i++) {
    struct dl_value v[DL_MOST_RESULT_COLUMNS];
    bool best = (long)i == s->result.best;
    const struct dl_result_view of = {&s->result.est[i], NULL, best, foot,
                                      o->coverage};
    dl_result_values(v, DL_COLUMNS_OF_ESTIMATE, &of, NULL);
    dl_table_row(t, v, best ? "*" : NULL);
  }
  t = dl_report_chart(r, "Energy by method", DL_KWH, "J");
  for (size_t i = 0; i < s->result.n; i++) {
    const struct dl_estimate *e = &s->result.est[i];
    if (!isnan(e->energy_j.x))
      dl_chart_bar(t, e->method, e->energy_j.x, e->energy_j.low,
                   e->energy_j.high);
  }
  say_methods(r, s);
}

/* The model that the recommended estimate is based on, for people. */
static void add_basis(struct dl_report *r, const struct dl_estimate *e,
                      const struct dl_model *m,
                      const struct dl_predict_answer *s) {
  const struct dl_job *job = &s->result.job;
  bool tokens = s->result.predictions.served.tokens;
  bool physical = e->id == DL_METHOD_PHYSICAL;
  const struct dl_model *owner;
  const char *target = "epoch_energy_j", *kind = physical ? "physical" : NULL;
  if (dl_run_is_inference(job->run))
    target = tokens ? "request_energy_j" : target;
  else if (strcmp(e->boundary, "gpu") == 0)
    target = "gpu_power_w";
  if (physical && tokens)
    kind = "serving";
  const struct dl_served *served = &s->result.predictions.served;
  if (physical && (served->on_cpu || served->tuned)) {
    target = "request_s";
    kind = served->on_cpu ? "cpu" : "tuned";
  }
  if (physical && s->result.predictions.language) {
    target = "tokens_per_s";
    kind = "language";
  }
  const struct dl_fit *fit = dl_model_search(m, target, kind, &owner);
  if (e->model && fit)
    dl_report_say(r, "Model %s: %zu runs of %zu configurations.", e->model,
                  fit->n, fit->configurations);
}

static void free_predictor(struct dl_predictor **p) {
  dl_predictor_free(*p);
}

/* Predictions of all targets of a user's model. */
static enum dl_status add_predictions(struct dl_report *r,
                                      const struct dl_model *m,
                                      struct dl_row_plan *f,
                                      const struct dl_predict_options *o,
                                      struct dl_diag *d) {
  static const struct dl_column columns[] = {
      {"target", "target", NULL, DL_CODE, false},
      {"value", "value", NULL, DL_PLAIN, false},
      {"low", "interval", NULL, DL_PLAIN, true},
      {"high", "", NULL, DL_PLAIN, false},
      {"unit", "unit", NULL, DL_CODE, false},
      {"boundary", "boundary", NULL, DL_CODE, false}};
  struct dl_table *t =
      DL_TABLE(r, "predictions", "The model's targets", columns, false);
  bool said = false;
  for (size_t i = 0; i < m->n_fits; i++) {
    const struct dl_fit *fit = &m->fit[i];
    DL_SCOPED(free_predictor) struct dl_predictor *p = NULL;
    struct dl_prediction out = {.value = NAN, .low = NAN, .high = NAN};
    const struct dl_row *row;
    struct dl_predictor_row at;
    DL_TRY(dl_predictor_new(&p, fit, f, o->coverage, false, d));
    DL_TRY(dl_plan_single(f, &row, d));
    if (!dl_fit_is_for(m, fit, row->found.arch))
      continue;
    const char *lacks = dl_predictor_lacks(p, row);
    dl_predictor_take(p, row, &at);
    if (lacks && dl_fit_is_of_others(fit, row->found.arch)) {
      if (!said)
        dl_warn(d,
                "%s has no fit of language models; leave out --model, or "
                "calibrate one with runs of both kinds",
                o->model);
      said = true;
      continue;
    }
    if (lacks)
      dl_warn(d, "%s: '%s' has no value; give it with --set %s=VALUE",
              fit->target, lacks, lacks);
    else
      DL_TRY(dl_predict(&at, &out, d));
    DL_ROW(t, NULL, dl_string(fit->target), dl_number(out.value),
           dl_number(out.low), dl_number(out.high), dl_string(fit->unit),
           dl_string(fit->boundary));
  }
  return DL_OK;
}

/* The answer, for people: it comes first and is filled in when all is known. */
struct answer {
  struct dl_report *group; /* NULL: there is none */
  struct dl_text assumed;
  struct dl_assumed_names names;
};

static void free_answer(struct answer *a) {
  dl_text_free(&a->assumed);
}

static void begin_answer(struct answer *a, struct dl_report *r,
                         const struct dl_predict_answer *s) {
  DL_TEXT(title);
  dl_predict_title(&title, &a->assumed, &a->names, &s->result.job, s->node);
  if (s->result.best >= 0)
    a->group = dl_report_group(r, "summary", dl_text_str(&title));
}

static void end_answer(struct answer *a, const struct dl_predict_answer *s,
                       const struct dl_predict_options *o) {
  DL_TEXT(hint);
  if (!a->group)
    return;
  dl_predict_summary(a->group, s, dl_text_str(&a->assumed));
  if (!o->all)
    dl_text_add(&hint, "Other methods: --all.");
  if (!o->explain)
    dl_text_printf(&hint, "%sSettings and sources: --explain.",
                   hint.len > 0 ? " " : "");
  if (hint.len > 0)
    dl_report_hint(a->group, dl_text_str(&hint));
}

/* CSV repeats these in front of each estimate, in their order in JSON. */
static const char *const identifying[] = {
    "arch",     "gpu",           "n_gpus",        "phase",     "dataset",
    "epochs",   "batch_size",    "image_px",      "seq_len",   "tokens",
    "requests", "prompt_tokens", "output_tokens", "precision", "assumed"};

static enum dl_status report_single(struct dl_cli *cli,
                                    struct dl_predict_answer *s,
                                    const struct dl_predict_options *o,
                                    const struct dl_model *m,
                                    struct dl_row_plan *f) {
  if (s->result.predictions.served.too_slow)
    return dl_fail(
        &cli->diag, DL_EINPUT, "%g GPU%s cannot serve %g requests/s; give %s",
        s->result.job.run->n_gpus, s->result.job.run->n_gpus > 1 ? "s" : "",
        s->result.job.run->request_rate, s->result.predictions.served.lacks);
  DL_TRY(dl_predict_warn(cli, s, o, f));
  DL_SCOPED(dl_report_free_local) struct dl_report *r = dl_report_new();
  DL_SCOPED(free_answer) struct answer answer = {0};
  begin_answer(&answer, r, s);
  struct dl_report *all = o->all || !answer.group ? r : NULL;
  if (o->explain)
    dl_predict_settings(r, &s->result.job, &o->job, &answer.names);
  if (all)
    add_estimates(r, s, o);
  if (o->explain)
    dl_predict_job_parts(r, &s->result);
  if (o->explain || o->node.found)
    DL_TRY(dl_node_report(o->explain ? r : NULL, s, &cli->diag));
  if (answer.group && o->explain)
    add_basis(r, &s->result.est[s->result.best], m, s);
  if (o->explain) {
    dl_predict_sources(r, &s->result.job);
    dl_say_footprint(r, &o->job.foot);
    dl_report_sci(r, s);
    dl_add_equivalents(r, &o->job.foot, dl_sci_energy(s));
  }
  end_answer(&answer, s, o);
  if (isfinite(o->budget_kwh))
    DL_LINES(r, {.key = "budget_kwh", .value = dl_number(o->budget_kwh)},
             {.key = "budget_share_above",
              .value = dl_number(dl_predict_over_budget(s))});
  if (o->hours.path && s->result.best >= 0)
    dl_predict_start(r, s);
  if (o->model)
    DL_TRY(add_predictions(all, m, f, o, &cli->diag));
  if (!o->node.parts)
    dl_report_identify(r, identifying, DL_LENGTH(identifying));
  struct dl_report *whole = r;
  r = NULL;
  return dl_cli_print(cli, whole);
}

static enum dl_status predict_single(struct dl_cli *cli,
                                     struct dl_predict_options *o,
                                     const struct dl_rows *rows,
                                     struct dl_engine *e,
                                     const struct dl_model *m) {
  struct dl_predict_answer s = {.o = &o->job,
                                .node = &o->node,
                                .coverage = o->coverage,
                                .budget_kwh = o->budget_kwh,
                                .node_j = DL_NO_INTERVAL,
                                .node_power_w = DL_NO_INTERVAL,
                                .embodied_g = NAN};
  snprintf(s.interval, sizeof s.interval, "%g %% interval", 100 * o->coverage);
  enum dl_status status = dl_rows_single(rows, e, &s.result, &cli->diag);
  DL_FREED struct dl_estimate *est = s.result.est;
  DL_TEXT(better);
  const struct dl_estimate *first = dl_result_best(&s.result);
  if (status == DL_OK && o->hours.path && first)
    status = dl_hours_take(&o->hours, first->duration_s.x, &o->job.foot,
                           &s.hours, &cli->diag);
  if (status == DL_OK &&
      (cli->format->document || dl_same_text(cli->format->name, "json")))
    dl_better_setups(&better, o, rows->catalog, m, &s.result);
  s.better = dl_text_str(&better);
  if (status == DL_OK)
    status = report_single(cli, &s, o, m, rows->f);
  o->job.foot.intensity.of = NULL;
  dl_text_free(&s.hours.of);
  const struct dl_estimate *best = dl_result_best(&s.result);
  if (status != DL_OK || !best)
    return status;
  char what[64];
  snprintf(what, sizeof what, "%s estimates", best->method);
  /* The budget covers the whole node, if one is given. */
  return dl_check_budget(what, dl_predict_energy(&s).x, o->budget_kwh,
                         &cli->diag);
}

/* Axes in the order in which a sweep runs through them. */
static const char *const axes[] = {
    "arch", "gpu", "n_gpus", "seq_len", "image_px", "batch_size", NULL};

/* Lists are a sweep; a table has rows of its own. */
static enum dl_status make_axes(struct dl_predict_options *o,
                                struct dl_row_plan *f, struct dl_diag *d) {
  if (o->input)
    return dl_fail(d, DL_EUSAGE,
                   "--input has rows of its own: give one value, not a list");
  size_t n;
  DL_TRY(dl_job_options_sweep(&o->job, axes, d));
  DL_TRY(dl_axes_combinations(&o->job.axes, &n, d));
  return dl_plan_axes(f, &o->job.axes, d);
}

/* Settles how formats for programs, a choice of methods, and CSV affect --all
 * and similar options. */
static void settle_parts(struct dl_cli *cli, struct dl_predict_options *o) {
  bool csv = strcmp(cli->format->name, "csv") == 0;
  const char *unused = dl_cli_given(cli, "all") ? "all" : "explain";
  if (cli->format->whole)
    o->all = o->explain = true;
  if (strcmp(o->methods, "all") != 0 && (o->input || o->job.axes.n > 0))
    o->all = true; /* those that were chosen */
  if (csv && dl_cli_given(cli, unused))
    dl_warn(&cli->diag, "--%s has no effect with --format csv", unused);
  if (csv && dl_cli_given(cli, "equivalents"))
    dl_warn(&cli->diag, "--equivalents has no effect with --format csv");
  if (o->node.parts && !csv)
    dl_warn(&cli->diag, "--parts has no effect without --format csv");
}

/* Gives the plan the columns of the table. */
static enum dl_status take_table(struct dl_cli *cli,
                                 const struct dl_predict_options *o,
                                 struct dl_row_plan *f, struct dl_csv *csv) {
  DL_TRY(dl_job_options_check_table(cli, &o->job, csv));
  dl_plan_columns(f, csv);
  return DL_OK;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct dl_predict_options *o = options_at;
  struct dl_catalog *catalog = dl_cli_catalog(cli);
  struct dl_diag *d = &cli->diag;
  bool sweeps = o->job.axes.n > 0;
  DL_SCOPED(dl_model_free_local) struct dl_model *m = NULL;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_SCOPED(dl_plan_free_local) struct dl_row_plan *f = dl_plan_new(catalog);
  DL_SCOPED(dl_engine_free_local) struct dl_engine *e = NULL;
  o->job.has_table = o->input != NULL;
  if (sweeps)
    DL_TRY(dl_cli_refuse(cli, "explain|equivalents", "with a list of values"));
  else if (o->input)
    DL_TRY(dl_cli_refuse(cli, "equivalents", "with a table"));
  settle_parts(cli, o);
  if (o->hours.path && (sweeps || o->input))
    return dl_fail(d, DL_EUSAGE, "--intensity-hours is for one run, not for %s",
                   sweeps ? "a list of values" : "--input");
  DL_TRY(dl_hours_options_read(&o->hours, d));
  DL_TRY(dl_job_options_check(cli, &o->job, o->methods));
  if (sweeps) {
    DL_TRY(dl_known_refuse_several(cli, &o->job, false));
    DL_TRY(make_axes(o, f, d));
  }
  DL_TRY(dl_node_options_apply(&o->node, &o->job, catalog, d));
  DL_TRY(dl_job_options_apply(&o->job, f, catalog, true, d));
  if (o->node.found)
    dl_node_footprint(&o->node, &o->job.foot);
  if (o->input) {
    DL_TRY(dl_table_check(o->input, d));
    DL_TRY(dl_csv_open(&csv, o->input, 0, d));
  }
  DL_TRY(dl_open_model(cli, o->model, dl_job_kinds(&o->job, catalog, csv), &m));
  if (csv)
    DL_TRY(take_table(cli, o, f, csv));
  DL_TRY(dl_engine_new(&e, f, m, o->methods, o->coverage, d));
  e->fields.known = o->known;
  const struct dl_rows rows = {.f = f,
                               .catalog = catalog,
                               .csv = csv,
                               .axes = sweeps ? &o->job.axes : NULL};
  return csv || sweeps ? dl_write_results(cli, o, &rows, e)
                       : predict_single(cli, o, &rows, e, m);
}

const struct dl_command dl_cmd_predict = {
    .name = "predict",
    .summary = "estimate energy, power, time and CO2e before running",
    .doc =
        "Estimate the energy of a training, or of inference, before it runs, "
        "by every method that applies."
        "\vExamples:\n"
        "  dlest predict --arch resnet50 --gpu a100\n"
        "  dlest predict --arch vgg16 --gpu rtx-3090 --dataset cifar10\n"
        "  dlest predict --arch vgg16 --gpu t4,a100 --epochs 20 --country ES\n"
        "  dlest predict --arch resnet50 --gpu v100 --duration 12h\n"
        "  dlest predict --arch llama-2-7b --gpu a100 --gpus 512 --tokens "
        "2e12\n"
        "  dlest predict --arch llama-2-7b --gpu a100 --phase inference \\\n"
        "      --prompt-tokens 500 --output-tokens 200 --requests 1000\n"
        "  dlest predict --arch resnet50 --node xeon-8368-4xa100 "
        "--use-gpus 1\n"
        "  dlest predict --input runs.csv --format csv -o estimates.csv\n",
    .tables = tables,
    .options_size = sizeof(struct dl_predict_options),
    .init = init,
    .free = free_options,
    .run = run,
};
