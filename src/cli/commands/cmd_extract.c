/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest extract: power logs to a table of runs, or of their epochs. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "io/intensity_hours.h"
#include "cli/command.h"
#include "cli/options/input_options.h"
#include "cli/passes/extract_rows.h"
#include "logs/importers/importers.h"
#include "logs/extract.h"

struct extract_options {
  struct dl_extract_options extract;
  struct dl_strlist sets;
  const char *settings, *pattern, *files_from;
  const char *hours_path;
  struct dl_hours hours; /* owned */
  bool each_epoch;
  unsigned gaps; /* a choice, or AS_LONG */
};

/* Gaps are bridged, but for those between the parts of a log. */
enum { BRIDGE, CUT, AS_LONG };

#define AT(kind, member) DL_STORE(kind, struct extract_options, member)

static const struct dl_option options[] = {
    DL_HEADING("Logs:", 1),
    {"from", 'F', "FORMAT", "log format of all files ('dlest list importers')",
     DL_READ(dl_read_importer, struct extract_options, extract.log.from)},
    {"columns", 0, "NAME,...",
     "columns of a log without a header, as in the query: "
     "timestamp,power.draw (--from nvidia-smi)",
     AT(TEXT, extract.log.columns), .with = "from"},
    {"files-from", 0, "FILE", "read more names of logs from FILE, one per line",
     AT(TEXT, files_from)},
    {DL_SHARD_OPTION(struct extract_options, extract.shard)},
    {"join", 0, NULL,
     "make one run of all logs: those of its nodes (default for recordings of "
     "the nodes of a job)",
     AT(FLAG, extract.nodes), .without = "no-join"},
    {"no-join", 0, NULL, "make a run of each log", AT(FLAG, extract.alone)},
    {"interval", 'i', "TIME",
     "time between samples of logs without times (default 1 s)",
     AT(TIME, extract.log.interval_s)},
    DL_HEADING("Settings of the runs:", 2),
    {"set", 's', "NAME=VALUE", "a column for all runs: batch_size=32",
     AT(LIST, sets)},
    {"settings", 0, "FILE",
     "a table with one row per log, matched by the log's name",
     AT(TEXT, settings)},
    {"path-pattern", 0, "PATTERN",
     "columns from the path: '{arch}/gpu-{run_id}.csv'", AT(TEXT, pattern)},
    DL_HEADING("Integration:", 3),
    {"max-gap", 0, "TIME",
     "a longer time between samples is a gap (default: ten usual intervals, "
     "at least 10 s)",
     AT(TIME, extract.meter.max_gap_s)},
    {"gaps", 0, "bridge|cut",
     "integrate straight across all gaps, or count nothing there (default: "
     "bridge those of up to 10 min or 100 samples)",
     AT(CHOICE, gaps)},
    {"truncate-watts", 0, NULL,
     "count whole watts of the GPU only, as del Rey et al. do",
     AT(FLAG, extract.meter.truncate_watts)},
    {"drop-last", 0, "N", "ignore the last N lines of each log",
     AT(COUNT, extract.log.drop_last), .high = 1e6},
    {"since", 0, "TIME",
     "leave out samples before this time: as in the log, a time of day, or "
     "since the first sample: 90m",
     DL_READ(dl_read_bound, struct extract_options, extract.log.since),
     .expected = DL_BOUND},
    {"until", 0, "TIME", "leave out samples after this time",
     DL_READ(dl_read_bound, struct extract_options, extract.log.until),
     .expected = DL_BOUND},
    {"split-idle", 0, "TIME",
     "make a run of each time of work between idle times of TIME or more",
     AT(TIME, extract.split_idle_s), .without = "join"},
    {"intensity-hours", 0, "FILE",
     "emissions (co2e_g) by the hour: a table of times and g CO2e/kWh, as "
     "Electricity Maps, WattTime, NESO and ENTSO-E give it",
     AT(TEXT, hours_path), .without = "epochs"},
    DL_HEADING("Epochs:", 4),
    {"epochs", 0, NULL,
     "one row per epoch: from a log of their ends, else detected in the "
     "power",
     AT(FLAG, each_epoch)},
    {"find-epochs", 0, NULL, "detect epochs in the power if no log gives them",
     AT(FLAG, extract.find_epochs), .without = "epochs"},
    {"epoch-length", 0, "TIME", "approximate epoch time, if known",
     AT(TIME, extract.epochs.hint_s), .high = 1e9,
     .with = "epochs|find-epochs"},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

/* Adds a log: of the folder of a run of MLflow its system metrics. */
static void add_log(struct dl_strlist *paths, const char *name) {
  static const char *const inside[] = {"metrics/system", "system", "."};
  DL_TEXT(path);
  struct stat st;
  bool folder = stat(name, &st) == 0 && S_ISDIR(st.st_mode);
  for (size_t i = 0; folder && i < DL_LENGTH(inside); i++) {
    dl_text_clear(&path);
    dl_text_printf(&path, "%s/%s/gpu_0_power_usage_watts", name, inside[i]);
    if (access(dl_text_str(&path), R_OK) == 0) {
      dl_strlist_add(paths, dl_text_str(&path));
      return;
    }
  }
  dl_strlist_add(paths, name);
}

/* Adds the ends of epochs that dlest record has kept beside a recording. */
static void add_epochs(struct dl_strlist *paths) {
  static const char mark[] = "# dlest record ";
  char line[sizeof mark];
  for (size_t i = 0, n = paths->n; i < n; i++) {
    DL_TEXT(epochs);
    const char *path = paths->s[i];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
      continue;
    FILE *f = fopen(path, "r");
    bool recording =
        f && fgets(line, sizeof line, f) && strcmp(line, mark) == 0;
    if (f)
      fclose(f);
    size_t stem = (size_t)(dl_path_name(path) - path);
    dl_text_add_n(&epochs, path, stem + dl_path_stem(path + stem));
    dl_text_add(&epochs, "-epochs.csv");
    if (!recording || access(dl_text_str(&epochs), R_OK) != 0 ||
        dl_strlist_find(paths, dl_text_str(&epochs)) >= 0)
      continue;
    dl_strlist_add(paths, dl_text_str(&epochs));
  }
}

/* The logs of the command line, and of --files-from: one name per line. */
static enum dl_status list_logs(struct dl_cli *cli,
                                const struct extract_options *o,
                                struct dl_strlist *paths) {
  struct dl_diag *d = &cli->diag;
  char *data = NULL, *rest;
  size_t len;
  for (size_t i = 0; i < cli->n_arguments; i++)
    add_log(paths, cli->argument[i]);
  if (!o->extract.alone)
    add_epochs(paths);
  if (!o->files_from)
    return paths->n > 0 ? DL_OK
                        : dl_fail(d, DL_EUSAGE,
                                  "missing argument: LOG, or --files-from; see "
                                  "'dlest extract --help'");
  enum dl_status status =
      dl_read_file(o->files_from, (size_t)1 << 28, &data, &len, d);
  for (char *name = data ? strtok_r(data, "\r\n", &rest) : NULL;
       name && status == DL_OK; name = strtok_r(NULL, "\r\n", &rest))
    dl_strlist_add(paths, name);
  free(data);
  if (status == DL_OK && paths->n == 0)
    status = dl_fail_at(d, DL_EINPUT, o->files_from, 0, "no names of logs");
  return status == DL_OK ? dl_cli_check_outputs(cli, NULL, paths->s, paths->n)
                         : status;
}

static enum dl_status make_settings(const struct extract_options *o,
                                    struct dl_settings **s, struct dl_diag *d) {
  *s = dl_settings_new();
  for (size_t i = 0; i < o->sets.n; i++)
    DL_TRY(dl_settings_set(*s, o->sets.s[i], d));
  if (o->settings)
    DL_TRY(dl_settings_table(*s, o->settings, d));
  if (o->pattern)
    DL_TRY(dl_settings_pattern(*s, o->pattern, d));
  return DL_OK;
}

static enum dl_status extract(struct dl_cli *cli, struct extract_options *o,
                              const struct dl_strlist *paths,
                              struct dl_extract_rows *rows) {
  o->extract.sink = dl_extract_rows_add;
  o->extract.progress = cli->bar.shown ? dl_extract_progress : NULL;
  o->extract.ctx = rows;
  return dl_extract(paths->s, paths->n, &o->extract, &cli->diag);
}

static enum dl_status write_rows(struct dl_cli *cli, struct extract_options *o,
                                 const struct dl_strlist *paths) {
  static const struct dl_intern none = {0};
  const struct dl_settings *settings = o->extract.settings;
  struct dl_output out;
  DL_TRY(dl_output_open(&out, cli->output, cli->strict, &cli->diag));
  struct dl_extract_rows *rows = dl_extract_rows_new(
      cli->format, out.f, o->each_epoch,
      settings ? dl_settings_extra(settings) : &none, &cli->bar);
  if (o->hours_path)
    dl_extract_rows_show_co2e(rows);
  enum dl_status status = extract(cli, o, paths, rows);
  enum dl_status ended = dl_extract_rows_end(rows, status == DL_OK, &cli->diag);
  return dl_cli_commit(cli, &out, NULL, status == DL_OK ? ended : status);
}

static void init(void *options_at) {
  ((struct extract_options *)options_at)->gaps = AS_LONG;
}

static void free_options(void *options_at) {
  struct extract_options *o = options_at;
  dl_hours_free(&o->hours);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct extract_options *o = options_at;
  DL_SCOPED(dl_settings_free_local) struct dl_settings *settings = NULL;
  DL_SCOPED(dl_strlist_free) struct dl_strlist paths = {0};
  o->extract.meter.cut_gaps = o->gaps == CUT;
  o->extract.meter.bridge_gaps = o->gaps == BRIDGE;
  o->extract.find_epochs |= o->each_epoch;
  if (o->extract.log.columns && o->extract.log.from != &dl_import_nvidia_smi)
    DL_TRY(dl_cli_refuse(cli, "columns", "without --from nvidia-smi"));
  DL_TRY(list_logs(cli, o, &paths));
  if (o->sets.n > 0 || o->settings || o->pattern)
    DL_TRY(make_settings(o, &settings, &cli->diag));
  o->extract.settings = settings;
  if (o->hours_path)
    DL_TRY(dl_hours_read(&o->hours, o->hours_path, &cli->diag));
  o->extract.hours = o->hours_path ? &o->hours : NULL;
  return write_rows(cli, o, &paths);
}

const struct dl_command dl_cmd_extract = {
    .name = "extract",
    .summary = "convert power logs of many tools to one table of runs",
    .arguments = "[LOG...]",
    .doc = "Convert power logs of many tools to one table of runs."
           "\vExamples:\n"
           "  dlest extract gpu-7.csv\n"
           "  dlest extract gpu-7.csv memory-7.csv --set arch=resnet50 -f csv "
           "-o one.csv\n"
           "  dlest extract gpu-*.csv --path-pattern 'gpu-{run_id}.csv'\n"
           "  dlest extract --epochs gpu-7.csv\n"
           "  tail -n +1 gpu-7.csv | dlest extract -\n"
           "  dlest extract gpu-7.csv -f csv | dlest report - --country DE\n",
    .tables = tables,
    .options_size = sizeof(struct extract_options),
    .init = init,
    .free = free_options,
    .run = run,
};
