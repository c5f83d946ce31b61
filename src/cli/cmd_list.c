/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest list: what descriptors and models there are. */

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/scaling.h"
#include "cli/command.h"
#include "model/model.h"
#include "estimate/estimator.h"
#include "trace/importer.h"

struct list_options {
  const char *what;
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct list_options *o = state->input;
  if (key == ARGP_KEY_ARG && !o->what) {
    o->what = arg;
    return 0;
  }
  if (key == ARGP_KEY_ARG)
    argp_error(state, "one kind at a time");
  if (key == ARGP_KEY_END && !o->what)
    argp_error(state, "what? gpus, archs, datasets, grids, models, methods, "
                      "formats or importers");
  return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp list_argp = {
    .parser = parse,
    .args_doc = "gpus|archs|datasets|grids|models|methods|formats|"
                "importers",
    .doc = "List what dlest knows by name."
           "\vExamples:\n"
           "  dlest list gpus\n"
           "  dlest list models --format json\n",
};

/* Columns of a kind: identifier, name and the fields worth a column. */
static size_t catalog_columns(enum dl_kind kind, struct dl_column *columns) {
  const struct dl_kind_info *k = dl_kind_info(kind);
  columns[0] = (struct dl_column){"id", "id", NULL, DL_CODE, false};
  columns[1] = (struct dl_column){"name", "name", NULL, DL_CODE, false};
  for (size_t i = 0; i < k->n_fields; i++)
    columns[2 + i] = (struct dl_column){k->fields[i].name, k->fields[i].name,
                                        k->fields[i].unit, DL_CODE, false};
  return 2 + k->n_fields;
}

static enum dl_status list_catalog(struct dl_cli *cli, enum dl_kind kind) {
  const struct dl_descriptor **all;
  size_t n;
  enum dl_status status =
      dl_catalog_all(cli->catalog, kind, &all, &n, &cli->diag);
  if (status != DL_OK)
    return status;
  struct dl_column columns[2 + DL_MAX_FIELDS];
  size_t m = catalog_columns(kind, columns);
  struct dl_report *r = dl_report_new();
  if (!r) {
    free(all);
    return dl_fail_memory(&cli->diag);
  }
  struct dl_table *t =
      dl_report_table(r, dl_kind_info(kind)->words, NULL, columns, m, true);
  for (size_t i = 0; i < n; i++) {
    bool scaled;
    struct dl_descriptor e =
        kind == DL_ARCHITECTURE
            ? dl_architecture_at(all[i], &dl_use_reference, &scaled)
            : *all[i];
    struct dl_value v[2 + DL_MAX_FIELDS] = {dl_string(e.id), dl_string(e.name)};
    for (size_t j = 2; j < m; j++)
      v[j] = dl_number(e.value[j - 2].x);
    dl_table_row(t, v, NULL);
  }
  free(all);
  return dl_cli_print(cli, r);
}

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
  return dl_importer_at(i)->name;
}

static const char *importer_summary(size_t i) {
  return dl_importer_at(i)->summary;
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct list_options o = {0};
  dl_cli_parse(cli, &list_argp, argc, argv, &o);
  for (size_t k = 0; k < DL_N_KINDS; k++)
    if (strcmp(o.what, dl_kind_info((enum dl_kind)k)->words) == 0)
      return list_catalog(cli, (enum dl_kind)k);
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
  return dl_fail(&cli->diag, DL_EUSAGE,
                 "cannot list '%s'; use gpus, archs, datasets, grids, models, "
                 "methods, formats or importers",
                 o.what);
}

const struct dl_command dl_cmd_list = {
    .name = "list",
    .summary = "list GPUs, architectures, data sets, models, importers",
    .run = run,
};
