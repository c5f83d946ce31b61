/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest show: the values of one descriptor, with their sources; a model. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/scaling.h"
#include "catalog/architecture/transformer.h"
#include "catalog/catalog_file.h"
#include "cli/command.h"
#include "quantities/quantities.h"

#define USE "image-px|classes"
#define AT(kind, member) DL_STORE(kind, struct dl_use, member)

static const struct dl_option options[] = {
    DL_HEADING("An architecture as a run uses it:", 1),
    {"image-px", 0, "PX", "with an input of that side", AT(NUMBER, image_px),
     .low = 1, .high = 1e9, .whole = true},
    {"classes", 0, "N", "with a classifier of N outputs", AT(NUMBER, classes),
     .low = 1, .high = 1e9, .whole = true},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

static void init(void *options_at) {
  *(struct dl_use *)options_at = dl_use_reference;
}

enum { REFERENCE = 32 };

/* "[2]", in `room`: text refers to sources by their number in a list. NULL
 * without a source. */
static const char *reference(struct dl_strlist *sources, const char *title,
                             char room[static REFERENCE]) {
  if (!title)
    return NULL;
  long i = dl_strlist_find(sources, title);
  if (i < 0) {
    i = (long)sources->n;
    dl_strlist_add(sources, title);
  }
  snprintf(room, REFERENCE, "[%ld]", i + 1);
  return room;
}

static void add_head(struct dl_report *r, const struct dl_descriptor *e) {
  const struct dl_kind_info *k = &dl_kinds[e->kind];
  dl_report_add(r, "kind", NULL, NULL, DL_CODE, dl_string(k->name));
  for (size_t i = 0; i < k->n_fields && k->fields[i].is_text; i++) {
    const char *text = dl_field_text(e, &k->fields[i]);
    if (text)
      dl_report_add(r, k->fields[i].name, k->fields[i].help, NULL, DL_CODE,
                    dl_string(text));
  }
  dl_report_add(r, "aliases", e->n_aliases ? "also" : NULL, NULL, DL_CODE,
                dl_strings(e->aliases, e->n_aliases));
}

/* People see the number of a source, programs its title. */
static const struct dl_column value_columns[] = {
    {"field", "value", NULL, DL_CODE, false},
    {"value", "", NULL, DL_CODE, false},
    {"unit", "unit", NULL, DL_CODE, false},
    {"source", NULL, NULL, DL_CODE, false},
    {NULL, "source", NULL, DL_CODE, false},
    {"note", "note", NULL, DL_CODE, false}};

static void add_values(struct dl_report *r, const struct dl_descriptor *e,
                       struct dl_strlist *s) {
  const struct dl_kind_info *k = &dl_kinds[e->kind];
  struct dl_table *t = DL_TABLE(r, "values", NULL, value_columns, true);
  for (size_t i = 0; i < k->n_fields; i++) {
    double x = dl_field_number(e, &k->fields[i]);
    const struct dl_origin *from = &e->origin[i];
    char room[REFERENCE];
    if (isnan(x))
      continue;
    DL_ROW(t, NULL, dl_string(k->fields[i].name), dl_number(x),
           dl_string(k->fields[i].unit), dl_string(from->source),
           dl_string(reference(s, from->source, room)), dl_string(from->note));
  }
}

static void add_inputs(struct dl_report *r, const struct dl_architecture *e,
                       struct dl_strlist *s) {
  static const struct dl_column columns[] = {
      {"image_px", "input", "px", DL_CODE, false},
      {"macs_g", "MACs", "G", DL_CODE, false},
      {"acts_m", "activations", "M", DL_CODE, false},
      {"source", NULL, NULL, DL_CODE, false},
      {NULL, "source", NULL, DL_CODE, false},
      {"note", "note", NULL, DL_CODE, false}};
  dl_report_add(r, "scaling", "scales with", NULL, DL_CODE,
                dl_string(dl_scaling_names[e->scaling]));
  if (e->transformer) {
    DL_TEXT(shape);
    dl_transformer_describe(e->transformer, &shape);
    dl_report_add(r, "shape", "shape", NULL, DL_CODE,
                  dl_string(dl_text_str(&shape)));
    dl_report_list(r, "inputs");
    return;
  }
  struct dl_table *t = DL_TABLE(r, "inputs", "At input sizes", columns, false);
  for (size_t i = 0; i < e->n_inputs; i++) {
    const struct dl_input_size *in = &e->inputs[i];
    const char *source = in->macs_origin.source;
    char room[REFERENCE];
    DL_ROW(t, NULL, dl_number(in->image_px), dl_number(in->macs_g),
           dl_number(in->acts_m), dl_string(source),
           dl_string(reference(s, source, room)),
           dl_string(in->macs_origin.note));
  }
}

static const char *const as_used =
    "Values as a run uses them; the notes say what was computed.";

/* Sets *at to the figures at the requested use. */
static void apply_use(struct dl_cli *cli, const struct dl_use *o,
                      const struct dl_architecture *e, struct dl_report *r,
                      struct dl_architecture *at) {
  bool scaled;
  *at = dl_architecture_at(e, o, &scaled);
  if (scaled && e->scaling == DL_SCALING_NONE)
    dl_warn(&cli->diag,
            "the weights of '%s' are for one input size: nothing was scaled",
            e->head.id);
  if (!isnan(o->classes) && isnan(e->head_inputs))
    dl_warn(&cli->diag,
            "the classifier of '%s' is not known: --classes changes no count",
            e->head.id);
  dl_report_say(r, "%s", as_used);
}

static void show_architecture(struct dl_cli *cli, const struct dl_use *o,
                              const struct dl_architecture *e,
                              struct dl_report *r, struct dl_strlist *s) {
  struct dl_architecture at = *e;
  bool scaled;
  if (e->transformer) /* its figures follow from its shape */
    at = dl_architecture_at(e, &dl_use_reference, &scaled);
  if (dl_cli_given(cli, USE))
    apply_use(cli, o, e, r, &at);
  add_values(r, &at.head, s);
  add_inputs(r, e, s);
}

static enum dl_status show(struct dl_cli *cli, const struct dl_use *o,
                           const struct dl_descriptor *e) {
  if (e->kind != DL_ARCHITECTURE &&
      dl_cli_refuse(cli, USE, "here: it is for architectures") != DL_OK)
    return DL_EUSAGE;
  DL_SCOPED(dl_strlist_free) struct dl_strlist sources = {0};
  struct dl_report *r = dl_report_new();
  add_head(r, e);
  if (e->kind == DL_ARCHITECTURE)
    show_architecture(cli, o, DL_AS(architecture, e), r, &sources);
  else
    add_values(r, e, &sources);
  for (size_t i = 0; i < sources.n; i++)
    dl_report_say(r, "[%zu] %s", i + 1, sources.s[i]);
  return dl_cli_print(cli, r);
}

/* --- a model */

static void add_fits(struct dl_report *r, const struct dl_model *m) {
  static const struct dl_column columns[] = {
      {"target", "target", NULL, DL_CODE, false},
      {"method", "method", NULL, DL_CODE, false},
      {"rows", "rows", NULL, DL_CODE, false},
      {"configurations", "configurations", NULL, DL_CODE, false},
      {"calibrated", "calibrated", NULL, DL_CODE, false}};
  struct dl_table *t = DL_TABLE(r, "fits", "Fits", columns, m->runs.n == 0);
  for (size_t i = 0; i < m->n_fits; i++) {
    const struct dl_fit *f = &m->fit[i];
    DL_ROW(t, NULL, dl_string(f->target), dl_string(f->method->name),
           dl_count(f->n), dl_count(f->configurations),
           dl_bool(f->state_before));
  }
}

/* Shows the settings and measurements of a run, if one was read. */
static const struct dl_column run_columns[] = {
    {"file", "file", NULL, DL_CODE, false},
    {"line", "line", NULL, DL_CODE, false},
    {"gpu", "GPU", NULL, DL_CODE, false},
    {"arch", "arch", NULL, DL_CODE, false},
    {"batch_size", "batch", NULL, DL_CODE, false},
    {"image_px", "input", "px", DL_CODE, false},
    {"framework", NULL, NULL, DL_CODE, false},
    {"precision", NULL, NULL, DL_CODE, false},
    {"host", NULL, NULL, DL_CODE, false},
    {"epochs", "epochs", NULL, DL_CODE, false},
    {"gpu_power_w", "power", "W", DL_WATTS, false},
    {"gpu_util", NULL, NULL, DL_PLAIN, false},
    {"duration_s", "time", NULL, DL_TIME, false},
    {"epoch_s", "epoch", NULL, DL_TIME, false},
    {"step_s", NULL, NULL, DL_PLAIN, false},
    {"samples_per_s", "samples/s", NULL, DL_PLAIN, false},
    {"tokens_per_s", NULL, NULL, DL_PLAIN, false},
    {"energy_j", "energy", "J", DL_ENERGY, false},
    {"boundary", NULL, NULL, DL_CODE, false},
};

static struct dl_value value_of(const struct dl_calibration_run *run,
                                const char *column) {
  const char *text = dl_calibration_run_value(run, column);
  double x;
  if (dl_run_column_find(column)->is_text)
    return dl_string(text);
  return dl_number(text && dl_parse_double(text, &x) ? x : (double)NAN);
}

static void add_runs(struct dl_report *r, const struct dl_model *m) {
  enum { COLUMNS = sizeof run_columns / sizeof *run_columns };
  struct dl_table *t = dl_report_table(r, "runs", "Calibrated with these runs",
                                       run_columns, COLUMNS, true);
  for (size_t i = 0; i < m->runs.n; i++) {
    const struct dl_calibration_run *kept = &m->runs.run[i];
    struct dl_value v[COLUMNS] = {dl_string(kept->file), dl_count(kept->line)};
    for (size_t k = 2; k < COLUMNS; k++)
      v[k] = value_of(kept, run_columns[k].key);
    dl_table_row(t, v, NULL);
  }
}

static void add_model(struct dl_report *r, const struct dl_model *m) {
  DL_LINES(
      r, {"kind", NULL, NULL, DL_CODE, dl_string("model")},
      {"file", "file", NULL, DL_CODE, dl_string(m->path)},
      {"fitted_on", "fitted on", NULL, DL_CODE, dl_string(m->source)},
      {"citation", "citation", NULL, DL_CODE, dl_known_string(m->citation)},
      {"command", "command", NULL, DL_CODE, dl_known_string(m->options)});
  add_fits(r, m);
  if (m->runs.n > 0)
    add_runs(r, m);
  else
    dl_report_list(r, "runs");
}

static enum dl_status show_model(struct dl_cli *cli, const char *path) {
  DL_SCOPED(dl_model_free_local) struct dl_model *m = NULL;
  DL_TRY(dl_cli_refuse(cli, USE, "on a model"));
  DL_TRY(dl_open_model(cli, path, DL_ANY_JOB, &m));
  struct dl_report *r = dl_report_new();
  add_model(r, m);
  DL_TRY(dl_cli_print(cli, r));
  return DL_OK;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  const struct dl_use *o = options_at;
  const char *word = cli->argument[0], *name = cli->argument[1];
  if (strcmp(word, "model") == 0)
    return show_model(cli, name);
  const struct dl_descriptor *e;
  enum dl_kind kind;
  if (!dl_kind_find(word, &kind))
    return dl_fail(
        &cli->diag, DL_EUSAGE,
        "cannot show '%s'; use gpu, arch, dataset, grid, site, node or model",
        word);
  DL_TRY(dl_catalog_open(dl_cli_catalog(cli), kind, name, &cli->diag));
  DL_TRY(dl_catalog_get(dl_cli_catalog(cli), kind, name, &e, &cli->diag));
  return show(cli, o, e);
}

const struct dl_command dl_cmd_show = {
    .name = "show",
    .summary = "show one descriptor with its sources, or a model",
    .arguments = "gpu|arch|dataset|grid|site|node|model NAME",
    .doc = "Show a descriptor: its values, their units and their sources; or a "
           "model: its fits, and the runs that it was calibrated with."
           "\vNAME is an identifier, a name or an alias in any spelling, the "
           "path of your own file, or the shape of a transformer; of a model, "
           "the path of its file.\n\n"
           "Examples:\n"
           "  dlest show gpu a100\n"
           "  dlest show arch resnet-50\n"
           "  dlest show site aws:eu-west-1\n"
           "  dlest show node dgx-a100\n"
           "  dlest show arch Llama-2-7b-hf\n"
           "  dlest show arch \\\n"
           "      transformer:layers=12,hidden=768,heads=12,vocab=50257,"
           "seq=1024\n"
           "  dlest show arch resnet-50 --image-px 288 --classes 10\n",
    .tables = tables,
    .options_size = sizeof(struct dl_use),
    .init = init,
    .rereads = true,
    .run = run,
};
