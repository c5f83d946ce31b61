/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest record: measures the energy of a program while it runs. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/options/budget.h"
#include "cli/passes/extract_rows.h"
#include "cli/record/record_live.h"
#include "cli/record/record_report.h"
#include "logs/extract.h"
#include "record/recorder.h"

struct record_options {
  double interval_s, duration_s, epochs;
  size_t pid;
  struct dl_live live;
  const char *gpus, *trace;
  bool no_trace, allow_none;
  struct dl_strlist sets;
};

enum { LEAST_FOR_EPOCHS = 60 }; /* samples in which epochs are looked for */

#define AT(kind, member) DL_STORE(kind, struct record_options, member)

static const struct dl_option options[] = {
    DL_HEADING("What is measured:", 1),
    {"pid", 0, "PID", "measure until this process ends", AT(COUNT, pid),
     .low = 1, .high = 1 << 22},
    {"duration", 'd', "TIME", "measure for so long: 10m", AT(TIME, duration_s)},
    {"interval", 'i', "TIME", "time between samples (default 1s)",
     AT(TIME, interval_s), .low = 0.01, .high = 3600},
    {"gpus", 0, "all|LIST",
     "GPUs, by index or UUID (default: those that the program sees by "
     "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or SLURM_JOB_GPUS)",
     AT(TEXT, gpus), .words = "all"},
    {"allow-none", 0, NULL,
     "run the program also where nothing can be measured",
     AT(FLAG, allow_none)},
    DL_HEADING("The whole training:", 2),
    {"epochs", 'e', "N", "epochs that it takes: its energy is projected",
     AT(NUMBER, epochs), .low = 1, .high = 1e6},
    {"budget-kwh", 0, "KWH",
     "exit with status 4 if it takes more, or is projected to",
     AT(NUMBER, live.budget_kwh)},
    {"stop-over-budget", 0, NULL,
     "send SIGTERM to the program once even the lower end of the interval is "
     "over the budget",
     AT(FLAG, live.stop), .with = "budget-kwh"},
    DL_HEADING("What is kept:", 3),
    {"trace", 0, "FILE", "the recording (default: dlest-DATE-TIME.csv)",
     AT(TEXT, trace), .output = true},
    {"no-trace", 0, NULL, "keep no recording", AT(FLAG, no_trace),
     .without = "trace", .output = true},
    {"set", 's', "NAME=VALUE",
     "a column of the row that --output gets: arch=resnet50", AT(LIST, sets)},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

static void init(void *options_at) {
  struct record_options *o = options_at;
  o->interval_s = 1;
  o->duration_s = o->epochs = NAN;
  o->live.budget_kwh = INFINITY;
}

/* A recording and its place. */
struct recording {
  struct dl_cli *cli;
  struct record_options *o;
  struct dl_sensors sensors;
  struct dl_record_result result;
  struct dl_text trace_path, epochs_path, folder, fifo;
  FILE *trace, *epochs;
  struct dl_output out; /* of --output */
  bool has_out;
};

/* The devices that the program sees; NULL: all. */
static const char *visible_gpus(const char *given) {
  static const char *const names[] = {"CUDA_VISIBLE_DEVICES",
                                      "ROCR_VISIBLE_DEVICES", "SLURM_JOB_GPUS"};
  if (given)
    return strcmp(given, "all") == 0 ? NULL : given;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i]))
      return getenv(names[i]);
  return NULL;
}

static enum dl_status find_sensors(struct recording *c) {
  struct dl_diag *d = &c->cli->diag;
  struct dl_sensors *s = &c->sensors;
  enum dl_status status = dl_sensors_find(s, d);
  if (status != DL_OK)
    return status;
  for (size_t i = 0; i < s->n_notes; i++)
    dl_warn(d, "%s: %s", s->note[i].kind->name, s->note[i].text);
  dl_sensors_select(s, visible_gpus(c->o->gpus));
  dl_sensors_read(s, d);
  if (s->n > 0 || c->o->allow_none)
    return DL_OK;
  return dl_fail(d, DL_EINPUT,
                 "no sensor can be read on this machine: see 'dlest list "
                 "sensors'; --allow-none runs the program nevertheless");
}

static enum dl_status open_file(FILE **f, const char *path, struct dl_diag *d) {
  *f = fopen(path, "wbe");
  return *f ? DL_OK : dl_fail_errno(d, path, "cannot write", errno);
}

/* A folder of its own for the FIFO of marks, and for a recording that is not
 * kept. */
static enum dl_status make_folder(struct recording *c) {
  struct dl_diag *d = &c->cli->diag;
  const char *tmp = getenv("TMPDIR");
  dl_text_printf(&c->folder, "%s/dlest-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (c->folder.failed)
    return dl_fail_memory(d);
  if (!mkdtemp(c->folder.s)) {
    int error = errno;
    dl_text_clear(&c->folder);
    return dl_fail_errno(d, tmp && *tmp ? tmp : "/tmp", "cannot write", error);
  }
  dl_text_printf(&c->fifo, "%s/marks", c->folder.s);
  if (c->fifo.failed)
    return dl_fail_memory(d);
  return mkfifo(c->fifo.s, 0600) == 0
             ? DL_OK
             : dl_fail_errno(d, c->fifo.s, "cannot write", errno);
}

static enum dl_status name_files(struct recording *c) {
  time_t now = time(NULL);
  struct tm tm;
  char stamp[32];
  localtime_r(&now, &tm);
  strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
  if (c->o->trace)
    dl_text_add(&c->trace_path, c->o->trace);
  else if (c->o->no_trace)
    dl_text_printf(&c->trace_path, "%s/trace.csv", c->folder.s);
  else
    dl_text_printf(&c->trace_path, "dlest-%s.csv", stamp);
  const char *path = dl_text_str(&c->trace_path);
  size_t n = strlen(path);
  if (n > 4 && strcmp(path + n - 4, ".csv") == 0)
    n -= 4;
  dl_text_add_n(&c->epochs_path, path, n);
  dl_text_add(&c->epochs_path, "-epochs.csv");
  return c->trace_path.failed || c->epochs_path.failed
             ? dl_fail_memory(&c->cli->diag)
             : DL_OK;
}

static enum dl_status open_files(struct recording *c) {
  struct dl_diag *d = &c->cli->diag;
  enum dl_status status = make_folder(c);
  if (status == DL_OK)
    status = name_files(c);
  if (status == DL_OK)
    status = open_file(&c->trace, c->trace_path.s, d);
  if (status == DL_OK)
    status = open_file(&c->epochs, c->epochs_path.s, d);
  if (status == DL_OK) {
    fputs("epoch,end_time\n", c->epochs);
    fflush(c->epochs);
  }
  if (status == DL_OK && c->cli->output) {
    status = dl_output_open(&c->out, c->cli->output, false, d);
    c->has_out = status == DL_OK;
  }
  return status;
}

/* The program's name and arguments as a comment of the recording. */
static void command_text(const struct dl_cli *cli, struct dl_text *to) {
  for (size_t i = 0; i < cli->n_arguments; i++) {
    dl_text_add(to, i ? " " : "");
    for (const char *p = cli->argument[i]; *p; p++)
      dl_text_add_n(to, (unsigned char)*p < ' ' ? "?" : p, 1);
  }
}

static enum dl_status record(struct recording *c) {
  struct dl_diag *d = &c->cli->diag;
  struct dl_text command = {0};
  struct dl_trace trace;
  const struct dl_record_options o = {
      .interval_s = c->o->interval_s,
      .duration_s = c->o->duration_s,
      .argv = c->cli->n_arguments > 0 ? c->cli->argument : NULL,
      .pid = (pid_t)c->o->pid,
      .marks = c->fifo.s,
      .epochs = c->epochs,
      .tick = dl_live_tick,
      .ctx = &c->o->live};
  command_text(c->cli, &command);
  enum dl_status status = dl_trace_begin(&trace, c->trace, c->trace_path.s,
                                         &c->sensors, command.s, d);
  dl_text_free(&command);
  c->o->live.quiet = c->cli->quiet;
  if (status == DL_OK)
    status = dl_live_init(&c->o->live, c->o->epochs, c->trace_path.s,
                          c->epochs_path.s, d);
  if (status == DL_OK)
    status = dl_record(&o, &c->sensors, &trace, &c->result, d);
  dl_live_free(&c->o->live);
  dl_trace_free(&trace);
  return status;
}

/* Keeps the run that was made of the recording, and adds it to the output. */
struct taking {
  struct dl_extract_rows *rows; /* NULL: none */
  const struct recording *c;
  enum dl_status status;
};

static enum dl_status print_summary(const struct recording *c,
                                    const struct dl_run *run,
                                    struct dl_diag *d) {
  bool kept = !c->o->no_trace;
  struct dl_report *r = dl_record_report(run, &c->sensors, &c->result,
                                         kept ? c->trace_path.s : NULL);
  if (!r)
    return dl_fail_memory(d);
  bool own = c->cli->n_arguments == 0; /* else stdout is the program's */
  if (own && !c->cli->output)
    return dl_cli_print(c->cli, r);
  enum dl_status status =
      c->cli->quiet ? DL_OK
                    : dl_format_report(dl_format_at(0), r,
                                       own ? stdout : stderr, false, d);
  dl_report_free(r);
  return status;
}

static enum dl_status take_run(void *ctx, const struct dl_run *run,
                               char *const *extra, struct dl_diag *d) {
  struct taking *t = ctx;
  if (t->rows) {
    struct dl_progress_bar none = {0};
    struct dl_extract_context rows = {t->rows, &none};
    enum dl_status status = dl_extract_rows_add(&rows, run, extra, d);
    if (status != DL_OK)
      return status;
  }
  return print_summary(t->c, run, d);
}

static enum dl_status summarise(struct recording *c, struct dl_settings *s) {
  static const struct dl_intern none = {0};
  struct dl_cli *cli = c->cli;
  struct taking taking = {.c = c};
  char *paths[] = {c->trace_path.s, c->epochs_path.s};
  struct dl_extract_options o = {
      .epochs = {.find = c->result.n_samples > LEAST_FOR_EPOCHS,
                 .n_total = isnan(c->o->epochs) ? 0 : c->o->epochs},
      .settings = s,
      .sink = take_run,
      .ctx = &taking};
  const struct dl_format *format =
      dl_cli_given(cli, "format") ? cli->format : dl_format_find("csv");
  enum dl_status status = DL_OK;
  if (c->has_out)
    status = dl_extract_rows_new(&taking.rows, format, c->out.f, false,
                                 s ? dl_settings_extra(s) : &none, &cli->diag);
  size_t skipped = cli->diag.n_skipped;
  if (status == DL_OK)
    status = dl_extract(paths, c->result.n_epochs > 0 ? 2 : 1, &o, &cli->diag);
  cli->diag.n_skipped = skipped; /* the exit status is the program's */
  enum dl_status ended =
      dl_extract_rows_end(taking.rows, status == DL_OK, &cli->diag);
  status = status == DL_OK ? ended : status;
  return c->has_out ? dl_cli_commit(cli, &c->out, status) : status;
}

static void clean_up(struct recording *c) {
  if (c->trace)
    fclose(c->trace);
  if (c->epochs)
    fclose(c->epochs);
  if (c->epochs && c->result.n_epochs == 0)
    unlink(c->epochs_path.s);
  if (c->trace &&
      (c->o->no_trace || c->result.n_samples == 0 || c->sensors.n == 0)) {
    unlink(c->trace_path.s);
    unlink(c->epochs_path.s);
  }
  if (c->fifo.s)
    unlink(c->fifo.s);
  if (c->folder.len > 0)
    rmdir(c->folder.s);
  dl_text_free(&c->trace_path);
  dl_text_free(&c->epochs_path);
  dl_text_free(&c->folder);
  dl_text_free(&c->fifo);
  dl_sensors_free(&c->sensors);
}

/* The name that all GPUs have; NULL: they differ, or there are none. */
static const char *gpu_name(const struct dl_sensors *s) {
  const char *name = NULL;
  for (size_t i = 0; i < s->n; i++) {
    if (s->s[i].part != DL_METER_GPU)
      continue;
    if (name && strcmp(name, s->s[i].name) != 0)
      return NULL;
    name = s->s[i].name;
  }
  return name;
}

/* What the user says of the run, and the GPU's name. */
static enum dl_status make_settings(const struct recording *c,
                                    struct dl_settings **s) {
  struct dl_diag *d = &c->cli->diag;
  struct dl_text gpu = {0};
  const char *name = gpu_name(&c->sensors);
  *s = dl_settings_new();
  enum dl_status status = *s ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK && name) {
    dl_text_printf(&gpu, "gpu=%s", name);
    status = gpu.failed ? dl_fail_memory(d) : dl_settings_set(*s, gpu.s, d);
  }
  for (size_t i = 0; status == DL_OK && i < c->o->sets.n; i++)
    status = dl_settings_set(*s, c->o->sets.s[i], d);
  dl_text_free(&gpu);
  return status;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct record_options *o = options_at;
  struct recording c = {.cli = cli, .o = o};
  struct dl_settings *settings = NULL;
  if ((o->pid > 0 || !isnan(o->duration_s)) && cli->n_arguments > 0)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--%s and a program exclude each other",
                   o->pid > 0 ? "pid" : "duration");
  enum dl_status status = find_sensors(&c);
  if (status == DL_OK)
    status = make_settings(&c, &settings);
  if (status == DL_OK)
    status = open_files(&c);
  if (status == DL_OK)
    status = record(&c);
  if (status == DL_OK && c.sensors.n > 0)
    status = summarise(&c, settings);
  else if (c.has_out)
    dl_output_discard(&c.out);
  cli->exit_status = c.result.exit_status;
  if (status == DL_OK && c.result.stopped)
    status = dl_fail(&cli->diag, DL_EBUDGET,
                     "stopped: the training was projected to take more than "
                     "the budget of %g kWh",
                     o->live.budget_kwh);
  if (status == DL_OK)
    status = dl_check_budget("the run took", c.result.energy_j,
                             o->live.budget_kwh, &cli->diag);
  clean_up(&c);
  if (settings)
    dl_settings_free(settings);
  return status;
}

const struct dl_command dl_cmd_record = {
    .name = "record",
    .summary = "measure the energy of a program while it runs",
    .arguments = "[PROGRAM...]",
    .doc = "Measure the energy of a program while it runs, of a process, or "
           "until Ctrl-C."
           "\vThe program's standard streams and exit status are its own. "
           "Summary and warnings go to standard error.\n\n"
           "Examples:\n"
           "  dlest record -- python3 train.py\n"
           "  dlest record --epochs 90 --set arch=resnet50 -o measured.csv -- "
           "python3 train.py\n"
           "  dlest record --duration 3s --interval 100ms\n",
    .tables = tables,
    .options_size = sizeof(struct record_options),
    .init = init,
    .run = run,
};
