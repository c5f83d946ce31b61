/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest list: what descriptors and models there are. */

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/views/list_catalog.h"
#include "estimate/methods/estimator.h"
#include "logs/importers/importers.h"
#include "model/model.h"

#define KINDS                                                                  \
  "gpus, archs, datasets, grids, sites, nodes, models, methods, formats or "   \
  "importers"

struct list_options {
  const char *what;
  struct dl_list_options catalog;
};

enum { KEY_WHERE = 0x300, KEY_SORT, KEY_COLUMNS, KEY_LIMIT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Descriptors:", 1},
    {"where", KEY_WHERE, "EXPRESSION", 0,
     "only those for which it is true: 'memory_gb>=40 && year>=2020', "
     "\"vendor == 'amd'\"",
     1},
    {"sort", KEY_SORT, "FIELD,...", 0,
     "in that order; -FIELD: the largest first; unknown values come last", 1},
    {"columns", KEY_COLUMNS, "FIELD,...", 0,
     "show these (text otherwise shows some, JSON and CSV all)", 1},
    {"limit", KEY_LIMIT, "N", 0, "the first N only", 1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct list_options *o = state->input;
  switch (key) {
  case KEY_WHERE:
    o->catalog.where = arg;
    return 0;
  case KEY_SORT:
    o->catalog.sort = arg;
    return 0;
  case KEY_COLUMNS:
    o->catalog.columns = arg;
    return 0;
  case KEY_LIMIT:
    if (!dl_parse_count(arg, &o->catalog.limit) || o->catalog.limit == 0)
      argp_error(state, "--limit: invalid number '%s'", arg);
    return 0;
  case ARGP_KEY_ARG:
    if (o->what)
      argp_error(state, "one kind at a time");
    o->what = arg;
    return 0;
  case ARGP_KEY_END:
    if (!o->what)
      argp_error(state, "what? " KINDS);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp list_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "KIND",
    .doc =
        "List what dlest knows by name: " KINDS "."
        "\vExamples:\n"
        "  dlest list gpus\n"
        "  dlest list gpus --where 'memory_gb>=40 && year>=2020' --sort "
        "tdp_w\n"
        "  dlest list archs --where 'image_px==224' --sort -params_m --limit "
        "10\n"
        "  dlest list sites --where \"vendor == 'gcp'\" --sort "
        "carbon_g_kwh\n"
        "  dlest list models --format json\n",
};

static enum dl_status add_model(struct dl_table *t, const char *dir,
                                const char *file, struct dl_diag *d) {
  struct dl_text path = {0};
  struct dl_model *m;
  dl_text_printf(&path, "%s/models/%s", dir, file);
  enum dl_status status =
      path.failed ? dl_fail_memory(d) : dl_model_read(&m, path.s, NULL, d);
  dl_text_free(&path);
  if (status != DL_OK)
    return status;
  for (size_t i = 0; i < m->n_fits; i++) {
    const struct dl_fit *f = &m->fit[i];
    struct dl_value v[] = {dl_string(file),
                           dl_string(f->target),
                           dl_string(f->boundary),
                           dl_string(f->method->name),
                           dl_count(f->n),
                           dl_count(f->configurations),
                           dl_number(f->left_out[DL_LEFT_CONFIG].pooled.mape),
                           dl_number(f->left_out[DL_LEFT_ARCH].pooled.mape),
                           dl_number(f->left_out[DL_LEFT_GPU].pooled.mape)};
    dl_table_row(t, v, NULL);
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
      {"boundary", "boundary", NULL, DL_CODE, false},
      {"method", "method", NULL, DL_CODE, false},
      {"n", "runs", NULL, DL_CODE, false},
      {"configurations", "configurations", NULL, DL_CODE, false},
      {"mape_config", "config out", "%", DL_PERCENT, false},
      {"mape_arch", "arch out", "%", DL_PERCENT, false},
      {"mape_gpu", "GPU out", "%", DL_PERCENT, false}};
  struct dl_text dir = {0};
  struct dirent **entry = NULL;
  struct dl_report *r = dl_report_new();
  dl_text_printf(&dir, "%s/models", dl_datadir());
  if (!r || dir.failed) {
    dl_report_free(r);
    dl_text_free(&dir);
    return dl_fail_memory(&cli->diag);
  }
  struct dl_table *t = dl_report_table(r, "models", NULL, columns,
                                       sizeof columns / sizeof *columns, true);
  int n = scandir(dir.s, &entry, model_file, alphasort);
  enum dl_status status = DL_OK;
  if (n < 0)
    status = dl_fail_errno(&cli->diag, dir.s, "cannot read", errno);
  for (int i = 0; i < n; i++) {
    if (status == DL_OK)
      status = add_model(t, dl_datadir(), entry[i]->d_name, &cli->diag);
    free(entry[i]);
  }
  free(entry);
  dl_text_free(&dir);
  if (status != DL_OK) {
    dl_report_free(r);
    return status;
  }
  dl_report_say(r, "Errors are mean absolute percentage errors of runs whose "
                   "configuration, architecture or GPU was left out.");
  return dl_cli_print(cli, r);
}

/* A registry: names and what they are. */
static enum dl_status list_names(struct dl_cli *cli, const char *key, size_t n,
                                 const char *(*name)(size_t),
                                 const char *(*summary)(size_t)) {
  static const struct dl_column columns[] = {
      {"name", "name", NULL, DL_CODE, false},
      {"summary", "summary", NULL, DL_CODE, false}};
  struct dl_report *r = dl_report_new();
  if (!r)
    return dl_fail_memory(&cli->diag);
  struct dl_table *t = dl_report_table(r, key, NULL, columns, 2, true);
  for (size_t i = 0; i < n; i++) {
    struct dl_value v[] = {dl_string(name(i)), dl_string(summary(i))};
    dl_table_row(t, v, NULL);
  }
  return dl_cli_print(cli, r);
}

static const char *estimator_name(size_t i) {
  return dl_estimator_at(i)->name;
}

static const char *estimator_summary(size_t i) {
  return dl_estimator_at(i)->summary;
}

static const char *format_name(size_t i) {
  return dl_format_at(i)->name;
}

static const char *format_summary(size_t i) {
  return dl_format_at(i)->summary;
}

static const char *importer_name(size_t i) {
  return dl_importers[i]->name;
}

static const char *importer_summary(size_t i) {
  return dl_importers[i]->summary;
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct list_options o = {.catalog.limit = SIZE_MAX};
  dl_cli_parse(cli, &list_argp, argc, argv, &o);
  for (size_t k = 0; k < DL_N_KINDS; k++)
    if (strcmp(o.what, dl_kind_info((enum dl_kind)k)->words) == 0)
      return dl_list_catalog(cli, (enum dl_kind)k, &o.catalog);
  const struct dl_list_options *c = &o.catalog;
  if (c->where || c->sort || c->columns || c->limit != SIZE_MAX)
    return dl_fail(
        &cli->diag, DL_EUSAGE,
        "--where, --sort, --columns and --limit are for gpus, archs, "
        "datasets, grids, sites and nodes");
  if (strcmp(o.what, "models") == 0)
    return list_models(cli);
  if (strcmp(o.what, "methods") == 0)
    return list_names(cli, "methods", dl_estimator_count(), estimator_name,
                      estimator_summary);
  if (strcmp(o.what, "formats") == 0)
    return list_names(cli, "formats", dl_format_count(), format_name,
                      format_summary);
  if (strcmp(o.what, "importers") == 0)
    return list_names(cli, "importers", dl_importer_count(), importer_name,
                      importer_summary);
  return dl_fail(&cli->diag, DL_EUSAGE, "cannot list '%s'; use " KINDS, o.what);
}

const struct dl_command dl_cmd_list = {
    .name = "list",
    .summary =
        "list GPUs, architectures, data sets, grids, sites, nodes, models",
    .argp = &list_argp,
    .run = run,
};
