/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest list: what descriptors and models there are. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "catalog/datadir.h"
#include "cli/command_line.h"
#include "cli/views/list_catalog.h"
#include "cli/record/record_report.h"
#include "estimate/methods/estimator.h"
#include "logs/importers/importers.h"
#include "model/model.h"

#define KINDS                                                                  \
  "gpus, archs, datasets, grids, sites, nodes, models, methods, formats, "     \
  "importers, sensors or options"

#define AT(kind, member) DL_STORE(kind, struct dl_list_options, member)

static const struct dl_option options[] = {
    DL_HEADING("Descriptors:", 1),
    {"where", 0, "EXPRESSION",
     "only entries for which it is true: 'memory_gb>=40 && year>=2020', "
     "\"vendor = 'amd'\", \"name ~ 'rtx'\" (has the text)",
     AT(TEXT, where)},
    {"sort", 0, "FIELD,...",
     "sort by these fields; -FIELD: in descending order; unknown values last",
     AT(TEXT, sort)},
    {"columns", 0, "FIELD,...",
     "fields to print (default: some in text, all in JSON and CSV)",
     AT(TEXT, columns)},
    {"limit", 0, "N", "print the first N only", AT(COUNT, limit), .low = 1},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

static void init(void *options_at) {
  struct dl_list_options *o = options_at;
  o->limit = SIZE_MAX;
}

static enum dl_status unexpected(struct dl_cli *cli, const char *argument) {
  return dl_fail(&cli->diag, DL_EUSAGE,
                 "unexpected argument '%s'; see 'dlest list --help'", argument);
}

static enum dl_status add_model(struct dl_table *t, const char *dir,
                                const char *file, struct dl_diag *d) {
  DL_TEXT(path);
  struct dl_model *m;
  dl_text_printf(&path, "%s/models/%s", dir, file);
  DL_TRY(dl_model_read(&m, dl_text_str(&path), NULL, d));
  for (size_t i = 0; i < m->n_fits; i++) {
    const struct dl_fit *f = &m->fit[i];
    DL_ROW(t, NULL, dl_string(file), dl_string(f->target),
           dl_string(f->boundary), dl_string(f->method->name), dl_count(f->n),
           dl_count(f->configurations),
           dl_number(f->held_out_residuals[DL_HELD_OUT_CONFIG].pooled.mape),
           dl_number(f->held_out_residuals[DL_HELD_OUT_ARCH].pooled.mape),
           dl_number(f->held_out_residuals[DL_HELD_OUT_GPU].pooled.mape));
  }
  dl_model_free(m);
  return DL_OK;
}

static int model_file(const struct dirent *e) {
  size_t n = strlen(e->d_name);
  return n > 4 && strcmp(e->d_name + n - 4, ".xml") == 0;
}

static enum dl_status list_models(struct dl_cli *cli) {
  static const struct dl_column columns[] = {
      {"model", "model", NULL, DL_CODE, false},
      {"target", "target", NULL, DL_CODE, false},
      {"boundary", "boundary", NULL, DL_CODE, DL_SPARE},
      {"method", "method", NULL, DL_CODE, false},
      {"n", "runs", NULL, DL_CODE, DL_SPARE},
      {"configurations", "configurations", NULL, DL_CODE, DL_SPARE},
      {"mape_config", "config out", "%", DL_PERCENT, false},
      {"mape_arch", "arch out", "%", DL_PERCENT, false},
      {"mape_gpu", "GPU out", "%", DL_PERCENT, false}};
  DL_TEXT(data);
  DL_TEXT(dir);
  DL_FREED struct dirent **entry = NULL;
  struct dl_report *r = dl_report_new();
  dl_datadir(&data);
  dl_text_printf(&dir, "%s/models", data.s);
  struct dl_table *t = DL_TABLE(r, "models", NULL, columns, true);
  int n = scandir(dl_text_str(&dir), &entry, model_file, alphasort);
  enum dl_status status = DL_OK;
  if (n < 0)
    status = dl_fail_errno(&cli->diag, dl_text_str(&dir), "cannot read", errno);
  for (int i = 0; i < n; i++) {
    if (status == DL_OK)
      status = add_model(t, data.s, entry[i]->d_name, &cli->diag);
    free(entry[i]);
  }
  if (status != DL_OK) {
    dl_report_free(r);
    return status;
  }
  dl_report_say(r,
                "Errors: mean absolute percentage errors of runs held out by "
                "configuration, architecture or GPU.");
  return dl_cli_print(cli, r);
}

static void add_name(struct dl_table *t, const char *name,
                     const char *summary) {
  DL_ROW(t, NULL, dl_string(name), dl_string(summary));
}

/* Tables of what is built in: each entry has a name and a summary. */
enum registry { METHODS, FORMATS, IMPORTERS, N_REGISTRIES };
static const char *const registries[] = {"methods", "formats", "importers"};

static enum dl_status list_names(struct dl_cli *cli, enum registry list) {
  static const struct dl_column columns[] = {
      {"name", "name", NULL, DL_CODE, false},
      {"summary", "summary", NULL, DL_CODE, false}};
  struct dl_report *r = dl_report_new();
  struct dl_table *t = DL_TABLE(r, registries[list], NULL, columns, true);
  for (size_t i = 0; list == METHODS && dl_estimators[i]; i++)
    add_name(t, dl_estimators[i]->name, dl_estimators[i]->summary);
  for (size_t i = 0; list == FORMATS && dl_formats[i]; i++)
    add_name(t, dl_formats[i]->name, dl_formats[i]->summary);
  for (size_t i = 0; list == IMPORTERS && dl_importers[i]; i++)
    add_name(t, dl_importers[i]->name, dl_importers[i]->summary);
  return dl_cli_print(cli, r);
}

static enum dl_status list_sensors(struct dl_cli *cli) {
  struct dl_sensors s;
  dl_sensors_find(&s, NAN);
  dl_sensors_read(&s, &cli->diag);
  enum dl_status status = dl_cli_print(cli, dl_sensors_report(&s));
  dl_sensors_free(&s);
  return status;
}

/* --- options of commands */

/* The column that an option sets; NULL: none. */
static const struct dl_run_column *column_of(const struct dl_option *o) {
  const struct dl_run_column *c = &dl_run_columns[o->column];
  return c->option && dl_same_text(c->option, o->name) ? c : NULL;
}

/* Appends "training|inference": the words that an option takes. */
static void add_words(struct dl_text *t, const struct dl_option *o,
                      const struct dl_run_column *c) {
  const char *words = o->words;
  if (!words && c)
    words = c->offers;
  if (!words && o->argument && islower((unsigned char)*o->argument) &&
      strchr(o->argument, '|'))
    words = o->argument;
  dl_text_add(t, dl_text_or(words, ""));
  for (size_t i = 0; !words && c && c->words && c->words[i]; i++)
    dl_text_printf(t, "%s%s", i > 0 ? "|" : "", c->words[i]);
}

/* Adds an option under a heading of --help. */
static void add_option(struct dl_table *t, const struct dl_command *command,
                       const struct dl_option *o, const char *heading) {
  const struct dl_run_column *c = column_of(o);
  struct dl_value column = {0}, unit = {0}, words = {0};
  DL_TEXT(list);
  add_words(&list, o, c);
  if (list.len > 0)
    words = dl_string(dl_text_str(&list));
  if (c) {
    column = dl_string(c->name);
    unit = dl_string(c->unit);
  }
  DL_ROW(t, NULL, dl_string(command->name), dl_string(o->name),
         dl_string(o->argument), words, column, unit, dl_string(heading),
         dl_string(o->help));
}

/* Adds the options of a command with the headings of --help. */
static void add_options(struct dl_table *t, const struct dl_command *c) {
  const struct dl_option *row[DL_MOST_OPTIONS];
  const char *heading[DL_MOST_OPTIONS] = {0};
  const size_t n = dl_command_options(c, row, NULL, NULL);
  for (size_t i = 0; i < n; i++)
    if (!row[i]->name && row[i]->group > 0)
      heading[row[i]->group] = row[i]->help;
  const char *above = NULL;
  for (size_t i = 0; i < n; i++) {
    if (row[i]->group != 0)
      above = row[i]->group > 0 ? heading[row[i]->group] : NULL;
    if (row[i]->name)
      add_option(t, c, row[i], above);
  }
}

/* The options of all commands, or of those that are named. */
static enum dl_status list_options(struct dl_cli *cli) {
  static const struct dl_column columns[] = {
      {"command", "command", NULL, DL_CODE, DL_SPARE},
      {"option", "option", NULL, DL_CODE, DL_MAIN},
      {"value", "value", NULL, DL_CODE, 0},
      {"words", NULL, NULL, DL_CODE, 0},
      {"column", "column", NULL, DL_CODE, DL_SPARE},
      {"unit", "unit", NULL, DL_CODE, DL_SPARE},
      {"group", NULL, NULL, DL_CODE, 0},
      {"summary", "summary", NULL, DL_CODE, DL_MAIN}};
  const char *only = cli->n_arguments > 1 ? cli->argument[1] : NULL;
  if (only && !dl_command_find(only))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "unknown command '%s'%s; see 'dlest --help'", only, "");
  if (cli->n_arguments > 2)
    return unexpected(cli, cli->argument[2]);
  struct dl_report *r = dl_report_new();
  struct dl_table *t = DL_TABLE(r, "options", NULL, columns, true);
  for (size_t i = 0; dl_commands[i]; i++)
    if (!only || dl_same_text(only, dl_commands[i]->name))
      add_options(t, dl_commands[i]);
  return dl_cli_print(cli, r);
}

/* Whether a word is a plural, or its singular. */
static bool is_plural(const char *word, const char *plural) {
  size_t n = strlen(plural) - 1;
  return strncmp(word, plural, n) == 0 &&
         (word[n] == '\0' || strcmp(word + n, "s") == 0);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  const struct dl_list_options *o = options_at;
  const char *what = cli->argument[0];
  enum dl_kind kind;
  if (dl_kind_find(what, &kind))
    return dl_list_catalog(cli, kind, o);
  DL_TRY(
      dl_cli_refuse(cli, "where|sort|columns|limit",
                    "here: it is for gpus, archs, datasets, grids, sites and "
                    "nodes"));
  if (is_plural(what, "options"))
    return list_options(cli);
  if (cli->n_arguments > 1)
    return unexpected(cli, cli->argument[1]);
  if (is_plural(what, "models"))
    return list_models(cli);
  if (is_plural(what, "sensors"))
    return list_sensors(cli);
  for (size_t i = 0; i < N_REGISTRIES; i++)
    if (is_plural(what, registries[i]))
      return list_names(cli, (enum registry)i);
  return dl_fail(&cli->diag, DL_EUSAGE, "cannot list '%s'; use " KINDS, what);
}

const struct dl_command dl_cmd_list = {
    .name = "list",
    .summary =
        "list GPUs, architectures, data sets, grids, sites, nodes, models",
    .arguments = "KIND [TEXT...]",
    .doc =
        "List entries of the catalogue and what is built in: " KINDS
        ". Of the catalogue only entries that have TEXT in their identifier, "
        "name or aliases."
        "\vExamples:\n"
        "  dlest list gpus\n"
        "  dlest list archs resnet\n"
        "  dlest list gpus --where \"vendor = 'amd' && name ~ 'mi3'\"\n"
        "  dlest list gpus --where 'memory_gb>=40 && year>=2020' --sort "
        "tdp_w\n"
        "  dlest list archs --where 'image_px==224' --sort -params_m --limit "
        "10\n"
        "  dlest list sites --where \"vendor == 'gcp'\" --sort "
        "carbon_g_kwh\n"
        "  dlest list models --format json\n"
        "  dlest list options predict --format json\n",
    .tables = tables,
    .options_size = sizeof(struct dl_list_options),
    .init = init,
    .run = run,
};
