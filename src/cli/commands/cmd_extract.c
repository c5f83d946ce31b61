/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest extract: power logs to a table of runs, or of their epochs. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/command.h"
#include "cli/passes/extract_rows.h"
#include "cli/progress.h"
#include "logs/extract.h"
#include "logs/importers/importers.h"

enum {
  OPT_SETTINGS = 256,
  OPT_PATTERN,
  OPT_FILES_FROM,
  OPT_MAX_GAP,
  OPT_GAPS,
  OPT_TRUNCATE,
  OPT_DROP_LAST,
  OPT_INTERVAL,
  OPT_NO_JOIN,
  OPT_FIND,
  OPT_LENGTH
};

struct extract_options {
  struct dl_extract_options extract;
  struct dl_strlist paths, sets;
  const char *settings, *pattern, *files_from;
  bool each_epoch;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Logs:", 1},
    {"from", 'F', "FORMAT", 0,
     "take all logs for that format ('dlest list importers')", 1},
    {"files-from", OPT_FILES_FROM, "FILE", 0,
     "read more names of logs from FILE, one a line", 1},
    {"no-join", OPT_NO_JOIN, NULL, 0, "each log is a run of its own", 1},
    {"interval", OPT_INTERVAL, "SECONDS", 0,
     "time between samples of logs without times (default 1 s)", 1},
    {NULL, 0, NULL, 0, "Settings of the runs:", 2},
    {"set", 's', "NAME=VALUE", 0, "a column for all runs: batch_size=32", 2},
    {"settings", OPT_SETTINGS, "FILE", 0,
     "a table with a row a log, found by the log's name", 2},
    {"path-pattern", OPT_PATTERN, "PATTERN", 0,
     "columns from the path: '{arch}/gpu-{run_id}.csv'", 2},
    {NULL, 0, NULL, 0, "Integration:", 3},
    {"max-gap", OPT_MAX_GAP, "SECONDS", 0,
     "a longer time between samples is a gap (default: ten usual intervals, "
     "at least 10 s)",
     3},
    {"gaps", OPT_GAPS, "bridge|cut", 0,
     "integrate straight across gaps (default), or count nothing there", 3},
    {"truncate-watts", OPT_TRUNCATE, NULL, 0,
     "count whole watts of the GPU only, as del Rey et al. do", 3},
    {"drop-last", OPT_DROP_LAST, "N", 0,
     "leave out the last N lines of each log", 3},
    {NULL, 0, NULL, 0, "Epochs:", 4},
    {"epochs", 'e', NULL, 0,
     "a row an epoch: from a log of their ends, else found in the power", 4},
    {"find-epochs", OPT_FIND, NULL, 0,
     "count the epochs in the power where no log gives them", 4},
    {"epoch-length", OPT_LENGTH, "SECONDS", 0,
     "about how long an epoch is, where that is known", 4},
    {0},
};

static error_t parse_seconds(const char *name, const char *arg, double *out,
                             struct argp_state *state) {
  if (!dl_parse_duration(arg, 1, out) || !(*out > 0))
    argp_error(state, "--%s: invalid time '%s'", name, arg);
  return 0;
}

static error_t add(struct dl_strlist *l, const char *arg,
                   struct argp_state *state) {
  if (!dl_strlist_add(l, arg))
    argp_failure(state, DL_EFAILED, 0, "out of memory");
  return 0;
}

static error_t parse_log_option(int key, char *arg, struct argp_state *state) {
  struct extract_options *o = state->input;
  struct dl_log_options *log = &o->extract.log;
  switch (key) {
  case 'F':
    log->from = dl_importer_find(arg);
    if (!log->from)
      argp_error(state, "unknown log format '%s'; see 'dlest list importers'",
                 arg);
    return 0;
  case OPT_FILES_FROM:
    o->files_from = arg;
    return 0;
  case OPT_NO_JOIN:
    o->extract.alone = true;
    return 0;
  case OPT_INTERVAL:
    return parse_seconds("interval", arg, &log->interval_s, state);
  case OPT_DROP_LAST:
    if (!dl_parse_count(arg, &log->drop_last) || log->drop_last > 1000000)
      argp_error(state, "--drop-last: invalid number '%s'", arg);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct extract_options *o = state->input;
  struct dl_extract_options *x = &o->extract;
  switch (key) {
  case 's':
    return add(&o->sets, arg, state);
  case OPT_SETTINGS:
    o->settings = arg;
    return 0;
  case OPT_PATTERN:
    o->pattern = arg;
    return 0;
  case OPT_MAX_GAP:
    return parse_seconds("max-gap", arg, &x->meter.max_gap_s, state);
  case OPT_GAPS:
    if (strcmp(arg, "cut") != 0 && strcmp(arg, "bridge") != 0)
      argp_error(state, "--gaps: 'bridge' or 'cut', not '%s'", arg);
    x->meter.cut_gaps = strcmp(arg, "cut") == 0;
    return 0;
  case OPT_TRUNCATE:
    x->meter.truncate_watts = true;
    return 0;
  case 'e':
    o->each_epoch = x->epochs.find = true;
    return 0;
  case OPT_FIND:
    x->epochs.find = true;
    return 0;
  case OPT_LENGTH:
    return parse_seconds("epoch-length", arg, &x->epochs.hint_s, state);
  case ARGP_KEY_ARG:
    return add(&o->paths, arg, state);
  case ARGP_KEY_END:
    if (o->paths.n == 0 && !o->files_from)
      argp_error(state, "which logs?");
    return 0;
  default:
    return parse_log_option(key, arg, state);
  }
}

static const struct argp extract_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "LOG...",
    .doc = "Turn power logs of every known tool into one table of runs."
           "\vExamples:\n"
           "  dlest extract gpu-7.csv\n"
           "  dlest extract gpu-7.csv memory-7.csv --set arch=resnet50 -f csv "
           "-o one.csv\n"
           "  dlest extract gpu-*.csv --path-pattern 'gpu-{run_id}.csv'\n"
           "  dlest extract --epochs gpu-7.csv\n"
           "  tail -n +1 gpu-7.csv | dlest extract -\n",
};

/* Names of logs, one a line. */
static enum dl_status read_names(struct extract_options *o, struct dl_diag *d) {
  char *data, *rest;
  size_t len;
  enum dl_status status =
      dl_read_file(o->files_from, (size_t)1 << 28, &data, &len, d);
  if (status != DL_OK)
    return status;
  for (char *name = strtok_r(data, "\r\n", &rest); name && status == DL_OK;
       name = strtok_r(NULL, "\r\n", &rest))
    if (!dl_strlist_add(&o->paths, name))
      status = dl_fail_memory(d);
  free(data);
  if (status == DL_OK && o->paths.n == 0)
    status = dl_fail_at(d, DL_EINPUT, o->files_from, 0, "no names of logs");
  return status;
}

static enum dl_status make_settings(const struct extract_options *o,
                                    struct dl_settings **s, struct dl_diag *d) {
  *s = dl_settings_new();
  enum dl_status status = *s ? DL_OK : dl_fail_memory(d);
  for (size_t i = 0; status == DL_OK && i < o->sets.n; i++)
    status = dl_settings_set(*s, o->sets.s[i], d);
  if (status == DL_OK && o->settings)
    status = dl_settings_table(*s, o->settings, d);
  if (status == DL_OK && o->pattern)
    status = dl_settings_pattern(*s, o->pattern, d);
  return status;
}

/* Warnings go to the line that the bar is drawn in. */
struct warner {
  struct dl_progress *progress;
  void (*warn)(void *ctx, const char *text);
  void *ctx;
};

static void warn_below(void *ctx, const char *text) {
  struct warner *w = ctx;
  dl_progress_clear(w->progress);
  w->warn(w->ctx, text);
}

static enum dl_status extract(struct dl_cli *cli, struct extract_options *o,
                              struct dl_extract_rows *rows) {
  struct dl_progress progress;
  struct warner warner = {&progress, cli->diag.on_warning, cli->diag.ctx};
  struct dl_extract_context ctx = {rows, &progress};
  dl_progress_init(&progress, cli->quiet);
  cli->diag.on_warning = warn_below;
  cli->diag.ctx = &warner;
  o->extract.sink = dl_extract_rows_add;
  o->extract.progress = progress.shown ? dl_extract_progress : NULL;
  o->extract.ctx = &ctx;
  enum dl_status status =
      dl_extract(o->paths.s, o->paths.n, &o->extract, &cli->diag);
  dl_progress_end(&progress);
  cli->diag.on_warning = warner.warn;
  cli->diag.ctx = warner.ctx;
  return status;
}

static enum dl_status write_rows(struct dl_cli *cli, struct extract_options *o,
                                 const struct dl_settings *settings) {
  static const struct dl_intern none = {0};
  struct dl_extract_rows *rows = NULL;
  struct dl_output out;
  enum dl_status status =
      dl_output_open(&out, cli->output, cli->strict, &cli->diag);
  if (status != DL_OK)
    return status;
  status = dl_extract_rows_new(&rows, cli->format, out.f, o->each_epoch,
                               settings ? dl_settings_extra(settings) : &none,
                               &cli->diag);
  o->extract.settings = settings;
  if (status == DL_OK)
    status = extract(cli, o, rows);
  enum dl_status ended = dl_extract_rows_end(rows, status == DL_OK, &cli->diag);
  if (status == DL_OK)
    status = ended;
  return dl_cli_commit(cli, &out, status);
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct extract_options o = {0};
  struct dl_settings *settings = NULL;
  dl_cli_parse(cli, &extract_argp, argc, argv, &o);
  enum dl_status status = o.files_from ? read_names(&o, &cli->diag) : DL_OK;
  if (status == DL_OK && (o.sets.n > 0 || o.settings || o.pattern))
    status = make_settings(&o, &settings, &cli->diag);
  if (status == DL_OK)
    status = write_rows(cli, &o, settings);
  if (settings)
    dl_settings_free(settings);
  dl_strlist_free(&o.paths);
  dl_strlist_free(&o.sets);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_extract = {
    .name = "extract",
    .summary = "power logs of every known tool to one table of runs",
    .argp = &extract_argp,
    .run = run,
};
