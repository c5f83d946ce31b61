/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest record: measures the energy of a program while it runs. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/options/hours_options.h"
#include "cli/passes/extract_rows.h"
#include "cli/record/record_answer.h"
#include "cli/record/record_files.h"
#include "cli/record/record_hours.h"
#include "cli/record/record_live.h"
#include "cli/record/record_page.h"
#include "cli/record/record_report.h"
#include "cli/record/record_sensors.h"
#include "logs/extract.h"
#include "record/recorder.h"

struct record_options {
  double interval_s, duration_s, epochs, batch_size;
  struct dl_record_machine machine;
  size_t pid;
  struct dl_live live;
  const char *trace, *arch, *dataset, *precision, *cpu, *serve;
  const char *hours_path;
  struct dl_hours hours; /* owned */
  bool no_trace, force, details;
  struct dl_strlist sets;
};

enum { LEAST_FOR_EPOCHS = 60 }; /* samples in which epochs are looked for */

#define AT(kind, member) DL_STORE(kind, struct record_options, member)

static const struct dl_option options[] = {
    DL_HEADING("What is measured:", 1),
    {"pid", 0, "PID", "measure until this process ends", AT(COUNT, pid),
     .low = 1, .high = 1 << 22},
    {"duration", 'd', "TIME", "stop measuring after this time: 10m",
     AT(TIME, duration_s)},
    {"interval", 'i', "TIME", "time between samples (default 1s)",
     AT(TIME, interval_s), .low = 0.001, .high = 3600},
    {"gpus", 0, "all|LIST",
     "GPUs, by index or UUID (default: those that the program sees by "
     "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or SLURM_JOB_GPUS)",
     AT(TEXT, machine.gpus), .words = "all"},
    {"cpu-tdp", 0, "W",
     "where no sensor measures the CPUs, assume W watts times their load "
     "(default without any sensor: by the catalogue); not added to the energy",
     AT(NUMBER, machine.cpu_tdp_w), .low = 1, .high = 1e5},
    {"cpu", 0, "NAME",
     "CPUs of this machine, as \"2 x Xeon Platinum 8380\": their TDP in place "
     "of "
     "--cpu-tdp; without GPUs they do the work that --arch names",
     AT(TEXT, cpu)},
    {"allow-none", 0, NULL, "run the program even if nothing can be measured",
     AT(FLAG, machine.allow_none)},
    DL_HEADING("The whole training:", 2),
    {"epochs", 'e', "N", "epochs that it takes: its energy is projected",
     AT(NUMBER, epochs), .low = 1, .high = 1e6},
    {"arch", 'a', "NAME",
     "architecture (dlest list archs): the summary compares the estimate of "
     "dlest predict",
     AT(TEXT, arch), .reads = true},
    {"dataset", 0, "NAME", "its data set (dlest list datasets)",
     AT(TEXT, dataset), .with = "arch|output"},
    {"batch-size", 'b', "N", "its samples per step on each GPU",
     AT(NUMBER, batch_size), .low = 1, .high = 1e9, .with = "arch|output"},
    {"precision", 0, "NAME", "its precision: fp32, amp, bf16, ...",
     AT(TEXT, precision), .with = "arch|output"},
    {"budget-kwh", 0, "KWH",
     "exit with status 4 if it takes more, or is projected to",
     AT(NUMBER, live.budget_kwh)},
    {"stop-over-budget", 0, NULL,
     "send SIGTERM to the program once even the lower end of the interval is "
     "over the budget",
     AT(FLAG, live.stop), .with = "budget-kwh"},
    DL_HEADING("Watching it:", 3),
    {"serve", 0, "[ADDR:]PORT",
     "serve a live page, its figures as /state.json, and /metrics for "
     "Prometheus while it runs; without an address for this machine alone",
     AT(TEXT, serve), .output = true},
    DL_HEADING("What is kept:", 4),
    {"trace", 0, "FILE",
     "the recording (default: dlest-DATE-TIME.csv); {host} and {job} stand for "
     "their names",
     AT(TEXT, trace), .output = true},
    {"no-trace", 0, NULL, "do not keep the recording", AT(FLAG, no_trace),
     .without = "trace", .output = true},
    {"force", 0, NULL, "replace the file of --trace if it exists",
     AT(FLAG, force), .with = "trace"},
    {"details", 0, NULL, "print all figures, by device and by phase",
     AT(FLAG, details), .output = true},
    {"set", 's', "NAME=VALUE",
     "a column of the row that --output gets: image_px=224", AT(LIST, sets)},
    {DL_HOURS_OPTION(struct record_options, hours_path), .group = 60},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_site_options_rows, offsetof(struct record_options, live.step.foot)},
    {0},
};

static void init(void *options_at) {
  struct record_options *o = options_at;
  o->interval_s = 1;
  o->duration_s = o->epochs = o->batch_size = o->machine.cpu_tdp_w = NAN;
  o->live.step.foot = dl_footprint_none;
  o->live.budget_kwh = INFINITY;
}

/* A recording and its place. */
struct record_command {
  struct dl_cli *cli;
  struct record_options *o;
  struct dl_sensors sensors;
  struct dl_text command, assumed; /* the program; what is assumed; or "" */
  struct dl_record_job job;
  struct dl_record_result result;
  struct dl_record_files files;
  struct dl_settings *settings;
  struct dl_record_page page; /* of --serve */
  struct dl_http_server *server;
  struct dl_output out;         /* of --output; {0}: none */
  struct dl_extract_rows *rows; /* of it; NULL: none */
};

static enum dl_status open_files(struct record_command *c) {
  bool apart = c->cli->n_arguments == 0; /* the program runs already */
  c->files.keep = !c->o->no_trace;
  c->files.replace = c->o->force;
  c->files.name = c->o->trace;
  DL_TRY(dl_record_files_open(&c->files, apart ? getenv("DLEST_MARKS") : NULL,
                              &c->job, &c->cli->diag));
  return c->cli->output
             ? dl_output_open(&c->out, c->cli->output, false, &c->cli->diag)
             : DL_OK;
}

/* Starts the server of --serve, before the program. */
static enum dl_status serve(struct record_command *c) {
  struct dl_diag *d = &c->cli->diag;
  const struct record_options *o = c->o;
  if (!o->serve)
    return DL_OK;
  c->page.program = c->cli->n_arguments > 0 ? c->cli->argument[0] : NULL;
  c->page.arch = o->arch;
  c->page.job = &c->job;
  c->page.sensors = &c->sensors;
  c->page.live = &o->live;
  DL_TRY(dl_record_page_open(&c->page, d));
  DL_TRY(dl_http_start(&c->server, o->serve, dl_record_pages, &c->page, d));
  if (!dl_http_is_local(c->server))
    dl_warn(d, "--serve %s: everyone who reaches this machine can read it",
            o->serve);
  fprintf(stderr, "dlest: live page: %s\n", dl_http_url(c->server));
  return DL_OK;
}

/* Called after each sample. */
static bool tick(void *ctx, const struct dl_record_result *so_far) {
  struct record_command *c = ctx;
  bool stop = dl_live_tick(&c->o->live, so_far);
  if (c->server)
    dl_record_page_push(&c->page, so_far);
  return stop;
}

static enum dl_status record(struct record_command *c) {
  struct dl_diag *d = &c->cli->diag;
  struct dl_record_files *f = &c->files;
  struct dl_live *live = &c->o->live;
  const struct dl_record_options o = {
      .interval_s = c->o->interval_s,
      .duration_s = c->o->duration_s,
      .argv = c->cli->n_arguments > 0 ? c->cli->argument : NULL,
      .pid = (pid_t)c->o->pid,
      .marks = f->marks.s,
      .alone = c->job.ranks == 1,
      .epochs = f->epochs,
      .tick = tick,
      .ctx = c};
  dl_record_command_text(c->cli->argument, c->cli->n_arguments, &c->command);
  struct dl_trace trace = {.f = f->trace,
                           .path = f->trace_path.s,
                           .command = c->command.s,
                           .host = *c->job.host ? c->job.host : NULL,
                           .job = *c->job.id ? c->job.id : NULL,
                           .node = c->job.node,
                           .n_nodes = c->job.nodes};
  enum dl_status status = dl_trace_begin(&trace, &c->sensors, d);
  live->quiet = c->cli->quiet || c->job.node > 0;
  live->measures = dl_sensors_measure(&c->sensors);
  dl_live_init(live, c->o->epochs, f->samples_path.s, f->epochs_path.s);
  if (status == DL_OK)
    status = serve(c);
  if (status == DL_OK)
    status = dl_record(&o, &c->sensors, &trace, &c->result, d);
  dl_http_stop(c->server);
  dl_record_page_close(&c->page);
  dl_live_free(live);
  dl_trace_free(&trace);
  return status;
}

/* Returns the format of --output: formats of tables get a row of a runs table,
 * the others the summary. */
static const struct dl_format *output_format(const struct dl_cli *cli) {
  bool chosen = dl_cli_given(cli, "format") || cli->format != dl_formats[0];
  return chosen ? cli->format : dl_format_find("csv");
}

static bool has_rows(const struct dl_format *format) {
  return !format->document && !format->sums_up &&
         format != dl_format_find("json");
}

/* Formats for programs and pages get all figures, people the answer. */
static struct dl_report *make_summary(const struct record_command *c,
                                      const struct dl_record_summary *x,
                                      const struct dl_format *format) {
  struct dl_report *r = dl_report_new();
  if (c->o->details || format->whole || !format->document)
    dl_record_details(r, x);
  else
    dl_record_answer(r, x);
  return r;
}

static enum dl_status write_summary(const struct record_command *c,
                                    const struct dl_record_summary *x,
                                    const struct dl_format *format, FILE *f,
                                    struct dl_diag *d) {
  DL_SCOPED(dl_report_free_local)
  struct dl_report *r = make_summary(c, x, format);
  dl_report_add(r, "warnings", NULL, NULL, DL_CODE,
                dl_strings((const char *const *)d->warnings, d->n_warnings));
  return dl_format_report(format, r, f, NULL, d);
}

static enum dl_status print_summary(const struct record_command *c,
                                    const struct dl_run *run,
                                    struct dl_diag *d) {
  const struct dl_format *format = output_format(c->cli);
  struct dl_record_estimate estimate;
  dl_record_hours_weigh(run, &c->o->live.step.foot);
  DL_TRY(dl_record_estimate(c->cli, run, &estimate));
  const struct dl_record_summary x = {
      .run = run,
      .sensors = &c->sensors,
      .result = &c->result,
      .job = &c->job,
      .estimate = &estimate,
      .foot = &c->o->live.step.foot,
      .trace = c->o->no_trace ? NULL : c->files.trace_path.s,
      .command = c->command.s,
      .assumed = c->assumed.s};
  bool own = c->cli->n_arguments == 0; /* else stdout is the program's */
  if (own && !c->cli->output)
    return dl_cli_print(c->cli, make_summary(c, &x, c->cli->format));
  if (c->out.f && (!has_rows(format) || !dl_sensors_measure(&c->sensors)))
    DL_TRY(write_summary(c, &x, format, c->out.f, d));
  if (c->cli->quiet)
    return DL_OK;
  return write_summary(c, &x, dl_formats[0], own ? stdout : stderr, d);
}

/* Prints the run that was made of the recording, and adds it to the output. */
static enum dl_status take_run(void *ctx, const struct dl_run *run,
                               char *const *extra, struct dl_diag *d) {
  const struct record_command *c = ctx;
  if (c->rows)
    DL_TRY(dl_extract_rows_add(c->rows, run, extra, d));
  return print_summary(c, run, d);
}

static const struct dl_hours *take_hours(struct record_command *c) {
  struct record_options *o = c->o;
  return dl_record_hours_take(&o->hours, o->hours_path, &c->result,
                              &o->live.step.foot, &c->cli->diag);
}

static enum dl_status summarise(struct record_command *c) {
  static const struct dl_intern none = {0};
  struct dl_cli *cli = c->cli;
  char *paths[] = {c->files.samples_path.s, c->files.epochs_path.s};
  struct dl_extract_options o = {
      .meter.cut_gaps = c->result.suspended_s > 0,
      .find_epochs = c->result.n_samples > LEAST_FOR_EPOCHS,
      .epochs.n_total = isnan(c->o->epochs) ? 0 : c->o->epochs,
      .settings = c->settings,
      .hours = take_hours(c),
      .sink = take_run,
      .ctx = c};
  const struct dl_format *format = output_format(cli);
  if (c->out.f && has_rows(format))
    c->rows = dl_extract_rows_new(
        format, c->out.f, false,
        c->settings ? dl_settings_extra(c->settings) : &none, NULL);
  size_t skipped = cli->diag.n_skipped;
  enum dl_status status =
      dl_extract(paths, c->result.n_epochs > 0 ? 2 : 1, &o, &cli->diag);
  cli->diag.n_skipped = skipped; /* the exit status is the program's */
  enum dl_status ended =
      dl_extract_rows_end(c->rows, status == DL_OK, &cli->diag);
  status = status == DL_OK ? ended : status;
  return c->out.f ? dl_cli_commit(cli, &c->out, NULL, status) : status;
}

/* Summarises assumed powers alone, which are no run: formats of tables get the
 * summary as a row, which says that they are assumed. */
static enum dl_status summarise_assumed(struct record_command *c) {
  struct dl_run assumed = dl_run_unknown;
  dl_run_set_number(&assumed, DL_RUN_duration_s, c->result.duration_s);
  take_hours(c);
  enum dl_status status = print_summary(c, &assumed, &c->cli->diag);
  dl_run_clear(&assumed);
  return c->out.f ? dl_cli_commit(c->cli, &c->out, NULL, status) : status;
}

static void clean_up(struct record_command *c) {
  bool keep = !c->o->no_trace && c->result.n_samples > 0 && c->sensors.n > 0;
  dl_record_files_close(&c->files, keep, c->result.n_epochs > 0);
  dl_sensors_free(&c->sensors);
  dl_settings_free(c->settings);
  free(c->o->machine.cpu);
  dl_hours_free(&c->o->hours);
  dl_text_free(&c->command);
  dl_text_free(&c->assumed);
  dl_output_discard(&c->out);
}

/* Makes the settings from the user's options and the GPU's name. */
static enum dl_status make_settings(struct record_command *c) {
  struct dl_diag *d = &c->cli->diag;
  const struct record_options *o = c->o;
  char batch[DL_NUMBER_SIZE], sockets[DL_NUMBER_SIZE];
  const bool on_cpu =
      o->cpu && !dl_sensors_has(&c->sensors, NULL, DL_METER_GPU);
  const char *name = on_cpu ? o->machine.cpu : dl_record_gpu_name(&c->sensors);
  dl_format_short(sockets, o->machine.n_cpus);
  const struct dl_named_text known[] = {
      {"gpu", name},
      {"n_gpus", on_cpu ? sockets : NULL},
      {"arch", o->arch},
      {"dataset", o->dataset},
      {"precision", o->precision},
      {"batch_size",
       isnan(o->batch_size) ? NULL : dl_format_short(batch, o->batch_size)}};
  DL_TEXT(t);
  c->settings = dl_settings_new();
  for (size_t i = 0; i < DL_LENGTH(known); i++) {
    dl_text_clear(&t);
    dl_text_printf(&t, "%s=%s", known[i].name,
                   known[i].text ? known[i].text : "");
    if (known[i].text)
      DL_TRY(dl_settings_set(c->settings, dl_text_str(&t), d));
  }
  for (size_t i = 0; i < o->sets.n; i++)
    DL_TRY(dl_settings_set(c->settings, o->sets.s[i], d));
  return DL_OK;
}

/* Names are looked up before hours are spent. */
static enum dl_status check_names(struct dl_cli *cli,
                                  struct record_options *o) {
  const struct dl_descriptor *found;
  struct dl_diag *d = &cli->diag;
  if (o->arch)
    DL_TRY(dl_catalog_open(dl_cli_catalog(cli), DL_ARCHITECTURE, o->arch, d));
  if (o->arch)
    DL_TRY(dl_catalog_get(dl_cli_catalog(cli), DL_ARCHITECTURE, o->arch, &found,
                          d));
  if (o->dataset)
    DL_TRY(
        dl_catalog_get(dl_cli_catalog(cli), DL_DATASET, o->dataset, &found, d));
  if (o->cpu)
    DL_TRY(dl_record_cpus_find(cli, o->cpu, &o->machine));
  if (o->cpu)
    o->machine.cpu_tdp_w = dl_or(o->machine.cpu_tdp_w, o->machine.tdp_w);
  return dl_site_find(&o->live.step.foot, dl_cli_catalog(cli), d);
}

static enum dl_status check(const struct record_command *c) {
  struct dl_diag *d = &c->cli->diag;
  if ((c->o->pid > 0 || !isnan(c->o->duration_s)) && c->cli->n_arguments > 0)
    return dl_fail(d, DL_EUSAGE, "--%s and a program exclude each other",
                   c->o->pid > 0 ? "pid" : "duration");
  if (c->cli->n_arguments > 0 && !c->cli->output &&
      output_format(c->cli) != dl_formats[0] && dl_cli_given(c->cli, "format"))
    return dl_fail(d, DL_EUSAGE,
                   "--format %s needs --output FILE here: standard output "
                   "belongs to the program",
                   c->cli->format->name);
  if (c->cli->output && c->job.nodes > 1)
    return dl_fail(d, DL_EUSAGE,
                   "--output would be the row of one of %zu nodes; make it of "
                   "all recordings with 'dlest extract'",
                   c->job.nodes);
  DL_TRY(check_names(c->cli, c->o));
  return dl_record_hours_open(&c->o->hours, c->o->hours_path,
                              &c->o->live.step.foot, d);
}

/* Only the first of a node's processes records. */
static enum dl_status run_only(struct dl_cli *cli) {
  if (cli->n_arguments == 0)
    return DL_OK;
  execvp(cli->argument[0], cli->argument);
  return dl_fail(&cli->diag, DL_EUSAGE, "%s: cannot be started: %s",
                 cli->argument[0], strerror(errno));
}

/* Results of the recording other than its energy. */
static enum dl_status add_results(const struct record_command *c) {
  const struct dl_record_result *r = &c->result;
  struct dl_diag *d = &c->cli->diag;
  if (r->suspended_s > 0)
    dl_warn(d, "the machine was suspended for %.0f s, which do not count",
            r->suspended_s);
  if (r->n_left > 0)
    dl_warn(d,
            "the program has ended and left processes running, which are not "
            "measured any more; to go on: dlest record --pid %d",
            (int)r->left);
  char text[DL_NUMBER_SIZE + 16] = "train_samples=";
  dl_format_short(text + strlen(text), r->train_samples);
  return isnan(r->train_samples) ? DL_OK
                                 : dl_settings_set(c->settings, text, d);
}

/* The exit status where all went well: a budget may be exceeded. */
static enum dl_status check_budget(const struct record_command *c) {
  double budget_kwh = c->o->live.budget_kwh;
  if (c->result.stopped)
    return dl_fail(&c->cli->diag, DL_EBUDGET,
                   "stopped: the training was projected to take more than "
                   "the budget of %g kWh",
                   budget_kwh);
  return dl_check_budget("the run took", c->result.energy_j, budget_kwh,
                         &c->cli->diag);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  DL_SCOPED(clean_up) struct record_command c = {.cli = cli, .o = options_at};
  dl_record_job_find(&c.job, &cli->diag);
  DL_TRY(check(&c));
  if (c.job.rank > 0)
    return run_only(cli);
  DL_TRY(dl_record_sensors_find(cli, &c.o->machine, &c.job, &c.sensors));
  dl_record_describe_assumed(&c.sensors, &c.o->machine, &c.assumed);
  DL_TRY(make_settings(&c));
  DL_TRY(open_files(&c));
  enum dl_status status = record(&c);
  cli->exit_status = c.result.exit_status;
  DL_TRY(status);
  DL_TRY(add_results(&c));
  if (dl_sensors_measure(&c.sensors))
    DL_TRY(summarise(&c));
  else if (c.sensors.n > 0)
    DL_TRY(summarise_assumed(&c));
  return check_budget(&c);
}

const struct dl_command dl_cmd_record = {
    .name = "record",
    .summary = "measure the energy of a program while it runs",
    .arguments = "[PROGRAM...]",
    .doc =
        "Measure the energy of a program while it runs, of a process, or "
        "until Ctrl-C."
        "\vThe program's standard streams and exit status are its own. "
        "Summary and warnings go to standard error. --output gets a row of a "
        "runs table, or the summary with --format json, html, markdown, "
        "latex or text.\n\n"
        "Examples:\n"
        "  dlest record -- python3 train.py\n"
        "  dlest record --epochs 90 --arch resnet50 --dataset imagenet \\\n"
        "      -o measured.csv -- python3 train.py\n"
        "  dlest record --duration 3s --interval 100ms\n",
    .reads_words = true,
    .tables = tables,
    .options_size = sizeof(struct record_options),
    .init = init,
    .run = run,
};
