/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest check: errors in a user's files, and values that methods need. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_file.h"
#include "catalog/datadir.h"
#include "catalog/validate/rules.h"
#include "base/file.h"
#include "cli/command.h"
#include "estimate/methods/estimator.h"
#include "model/model.h"

/* Entries from which on reading whole catalogues is faster than looking for
 * each in their text. */
enum { MANY = 16 };

/* Entries that lack values, listed at most. */
enum { MOST_LACKING = 1000 };

/* One file under check, in turn. */
struct checker {
  struct dl_cli *cli;
  struct dl_findings findings; /* of all files */
  struct dl_findings ruled;    /* of the file's rules: come last */
  struct dl_rules names;       /* of the file's entries */
  struct dl_report *report;
  struct dl_table *files;
  struct dl_strlist lacks; /* file, entry, method, values; then the next */
  size_t lacking;          /* entries that lack something */
};

/* --- what lacks */

/* The part of a need that is a field of this kind ("gpu.tdp_w"), or NULL. */
static const struct dl_field *needed_field(const char *need,
                                           enum dl_kind kind) {
  const char *word = dl_kinds[kind].word;
  size_t len = strlen(word);
  if (strncmp(need, word, len) != 0 || need[len] != '.')
    return NULL;
  return dl_field_find(kind, need + len + 1);
}

/* An architecture may have its work at input sizes alone, or by its shape. */
static bool has(const struct dl_descriptor *e, const struct dl_field *f) {
  if (!isnan(dl_field_number(e, f)))
    return true;
  if (e->kind != DL_ARCHITECTURE)
    return false;
  const struct dl_architecture *arch = DL_AS(architecture, e);
  if (arch->transformer)
    return true;
  return arch->n_inputs > 0 &&
         ((strcmp(f->name, "macs_g") == 0 && !isnan(arch->inputs[0].macs_g)) ||
          (strcmp(f->name, "acts_m") == 0 && !isnan(arch->inputs[0].acts_m)));
}

static void add_lacks(struct checker *c, const struct dl_descriptor *e) {
  const struct dl_dataset *data =
      e->kind == DL_DATASET ? DL_AS(dataset, e) : NULL;
  if (data && !isnan(data->tokens)) /* a corpus has no samples */
    return;
  bool lacking = false;
  for (size_t i = 0; dl_estimators[i]; i++) {
    const struct dl_estimator *est = dl_estimators[i];
    DL_TEXT(lacks);
    for (size_t j = 0; est->needs && est->needs[j]; j++) {
      const struct dl_field *f = needed_field(est->needs[j], e->kind);
      if (f && !has(e, f))
        dl_text_printf(&lacks, "%s%s", lacks.len ? ", " : "", f->name);
    }
    lacking |= lacks.len > 0;
    if (lacks.len && c->lacking < MOST_LACKING) {
      dl_strlist_add(&c->lacks, e->file);
      dl_strlist_add(&c->lacks, e->id);
      dl_strlist_add(&c->lacks, est->name);
      dl_strlist_add(&c->lacks, dl_text_str(&lacks));
    }
  }
  c->lacking += lacking;
}

/* --- one file */

/* Whether a line has an error already. The schema's message for it is then
 * left out. */
static bool has_error(const struct dl_findings *l, const char *path,
                      size_t line) {
  for (size_t i = 0; line > 0 && i < l->n; i++)
    if (l->f[i].error && l->f[i].line == line &&
        strcmp(l->f[i].file, path) == 0)
      return true;
  return false;
}

/* The error in `d` becomes a finding. */
static void take_error(struct checker *c, struct dl_diag *d, const char *path) {
  size_t len = strlen(path), line = 0;
  const char *text = d->error;
  if (strncmp(text, path, len) == 0 && text[len] == ':') {
    char *end;
    line = (size_t)strtoul(text + len + 1, &end, 10);
    text = *end == ':' ? end + 1 : text + len + 1;
    text += strspn(text, " ");
  }
  if (!has_error(&c->findings, path, line))
    dl_findings_error(&c->findings, path, line, NULL, "%s", text);
  dl_diag_free(d);
}

/* Compares e with the catalogue's entry of its name. An unreadable catalogue is
 * no fault of this file, or this file is the catalogue. */
static void compare(struct checker *c, const struct dl_descriptor *e) {
  const struct dl_descriptor *known;
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  if (dl_catalog_look_listed(dl_cli_catalog(c->cli), e->kind, e->id, false,
                             &known, &d) == DL_OK &&
      known)
    dl_rules_against(e, known, &c->ruled);
}

/* Has the catalogues read as a whole: many names are looked up. */
static void read_known(struct checker *c, enum dl_kind kind) {
  const struct dl_descriptor **list = NULL;
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  size_t n;
  if (dl_catalog_all(dl_cli_catalog(c->cli), kind, &list, &n, &d) == DL_OK)
    free(list);
}

static void check_entry(const struct dl_descriptor *e, void *ctx) {
  struct checker *c = ctx;
  if (c->names.n == MANY)
    read_known(c, e->kind);
  dl_rules_next(&c->names, e, &c->ruled);
  add_lacks(c, e);
  compare(c, e);
}

/* The rest of a catalogue's check, once its entries have been read. */
static enum dl_status check_catalog(struct checker *c,
                                    const struct dl_catalog_walk *w,
                                    struct dl_diag *d, const char **what) {
  if (w->n == 0)
    return dl_fail(d, DL_EINPUT,
                   "neither a catalogue of a known kind nor a model; see "
                   "'dlest show gpu' and dlest-check(1) for the form");
  const struct dl_kind_info *kind = &dl_kinds[w->kind];
  DL_TEXT(schema);
  *what = kind->name;
  enum dl_status status = dl_shipped_path(kind->schema, &schema, d);
  if (status == DL_OK)
    status = dl_xml_validate(w->xml, schema.s, d);
  /* Rules assume a valid file, but all findings are listed at once. */
  if (status == DL_EINPUT)
    take_error(c, d, dl_xml_path(w->xml));
  return status == DL_EINPUT ? DL_OK : status;
}

static enum dl_status check_model(const char *path, struct dl_diag *d,
                                  size_t *fits) {
  DL_TEXT(schema);
  DL_SCOPED(dl_model_free_local) struct dl_model *model = NULL;
  DL_TRY(dl_shipped_path("models/model.rng", &schema, d));
  if (dl_is_stdio(path))
    return dl_fail(d, DL_EINPUT, "a model: check it by the path of its file");
  DL_TRY(dl_model_read(&model, path, schema.s, d));
  *fits = model->n_fits;
  return DL_OK;
}

static enum dl_status check_file(struct checker *c, const char *path) {
  struct dl_catalog_walk w = {
      .findings = &c->findings, .entry = check_entry, .ctx = c};
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  size_t entries = 0, before = c->findings.n;
  size_t errors = dl_findings_count_errors(&c->findings);
  const char *what = NULL;
  d.progress = c->cli->diag.progress;
  enum dl_status status = dl_catalog_file_walk(&w, path, &d);
  bool model =
      status == DL_OK && strcmp(dl_xml_name(dl_xml_root(w.xml)), "model") == 0;
  if (status == DL_OK && !model) {
    status = check_catalog(c, &w, &d, &what);
    entries = w.n;
  }
  dl_xml_free(w.xml);
  dl_rules_free(&c->names);
  dl_findings_move(&c->findings, &c->ruled);
  if (model) {
    what = "model";
    status = check_model(path, &d, &entries);
  }
  if (status == DL_EINPUT && d.error) {
    take_error(c, &d, path);
    status = DL_OK;
  }
  if (status != DL_OK && d.error)
    dl_fail(&c->cli->diag, status, "%s", d.error);
  errors = dl_findings_count_errors(&c->findings) - errors;
  DL_ROW(c->files, NULL, dl_string(path), dl_string(what), dl_count(entries),
         dl_count(errors), dl_count(c->findings.n - before - errors));
  return status;
}

/* --- the report */

static void add_findings(struct checker *c) {
  static const struct dl_column columns[] = {
      {"file", NULL, NULL, DL_CODE, false},
      {"line", NULL, NULL, DL_CODE, false},
      {"level", NULL, NULL, DL_CODE, false},
      {"entry", NULL, NULL, DL_CODE, false},
      {"message", NULL, NULL, DL_CODE, false}};
  struct dl_table *t = DL_TABLE(c->report, "findings", NULL, columns, true);
  for (size_t i = 0; i < c->findings.n; i++) {
    const struct dl_finding *f = &c->findings.f[i];
    const char *level = f->error ? "error" : "warning";
    struct dl_value v[] = {
        dl_string(f->file), f->line ? dl_count(f->line) : dl_string(NULL),
        dl_string(level), dl_string(f->entry), dl_string(f->text)};
    char line[24] = "";
    dl_table_row(t, v, NULL);
    if (f->line)
      snprintf(line, sizeof line, "%zu:", f->line);
    dl_report_say(c->report, "%s:%s %s: %s%s%s", f->file, line, level,
                  dl_text_or(f->entry, ""), f->entry ? ": " : "", f->text);
  }
}

static void add_files(struct checker *c) {
  static const struct dl_column files[] = {
      {"file", "file", NULL, DL_CODE, false},
      {"kind", "kind", NULL, DL_CODE, false},
      {"entries", "entries", NULL, DL_CODE, false},
      {"errors", "errors", NULL, DL_CODE, false},
      {"warnings", "warnings", NULL, DL_CODE, false}};
  c->files = DL_TABLE(c->report, "files", NULL, files, false);
}

static void add_lacking(struct checker *c) {
  static const struct dl_column columns[] = {
      {"file", NULL, NULL, DL_CODE, false},
      {"entry", "entry", NULL, DL_CODE, false},
      {"method", "method", NULL, DL_CODE, false},
      {"lacks", "lacks", NULL, DL_CODE, false}};
  struct dl_table *t =
      DL_TABLE(c->report, "lacking",
               "Values that methods need and the files lack", columns, false);
  for (size_t i = 0; i + 3 < c->lacks.n; i += 4) {
    DL_ROW(t, NULL, dl_string(c->lacks.s[i]), dl_string(c->lacks.s[i + 1]),
           dl_string(c->lacks.s[i + 2]), dl_string(c->lacks.s[i + 3]));
  }
  if (c->lacking > MOST_LACKING)
    dl_report_say(c->report, "%zu more entries lack values that methods need",
                  c->lacking - MOST_LACKING);
}

/* The exit status, with a message on standard error. */
static enum dl_status judge(struct dl_cli *cli, const struct checker *c) {
  size_t errors = dl_findings_count_errors(&c->findings);
  size_t bad = cli->strict ? c->findings.n : errors;
  if (bad == 0)
    return DL_OK;
  const char *what = cli->strict && bad > errors ? "finding" : "error";
  return dl_fail(&cli->diag, DL_EINPUT, "%zu %s%s found", bad, what,
                 bad == 1 ? "" : "s");
}

static void free_checker(struct checker *c) {
  dl_report_free(c->report);
  dl_findings_free(&c->findings);
  dl_strlist_free(&c->lacks);
}

static enum dl_status run(struct dl_cli *cli, void *options) {
  DL_SCOPED(free_checker)
  struct checker c = {.cli = cli, .report = dl_report_new()};
  (void)options;
  add_files(&c);
  for (size_t i = 0; i < cli->n_arguments; i++) {
    struct dl_progress_span outer =
        dl_progress_enter(cli->diag.progress, i, cli->n_arguments);
    DL_TRY(check_file(&c, cli->argument[i]));
    dl_progress_leave(cli->diag.progress, outer);
  }
  add_findings(&c);
  add_lacking(&c);
  struct dl_report *r = c.report;
  c.report = NULL;
  DL_TRY(dl_cli_print(cli, r));
  return judge(cli, &c);
}

const struct dl_command dl_cmd_check = {
    .name = "check",
    .summary = "check a catalogue of your own or a model file",
    .arguments = "FILE...",
    .doc =
        "Check catalogues of your own and model files."
        "\vEvery finding names its line. An error means that the file or the "
        "entry is wrong (exit status 3); a warning may be intended.\n\n"
        "Examples:\n"
        "  dlest check lab-card.xml\n"
        "  dlest check lab-card.xml --format json\n",
    .rereads = true,
    .run = run,
};
