/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest describe: the work of an ONNX model, and a descriptor of it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/from_onnx.h"
#include "cli/command.h"

struct describe_options {
  struct dl_strlist shapes;
  struct dl_onnx_asked asked;
  size_t top;
};

#define AT(kind, member) DL_STORE(kind, struct describe_options, member)

static const struct dl_option options[] = {
    DL_HEADING("Counting:", 1),
    {"input-shape", 0, "NAME=SHAPE",
     "shape of an input, as in image=1x3x224x224; may be repeated",
     AT(LIST, shapes)},
    {"image-px", 0, "N", "sides of the image input", AT(NUMBER, asked.image_px),
     .low = 1, .high = 1e6, .whole = true},
    {"seq-len", 0, "N", "tokens of the sequence inputs",
     AT(NUMBER, asked.seq_len), .low = 1, .high = 1e6, .whole = true},
    {"batch", 0, "N", "samples that the inputs hold (default: by their shapes)",
     AT(NUMBER, asked.batch), .low = 1, .high = 1e6, .whole = true},
    {"top", 0, "N", "layers to list in text, heaviest first (10)",
     AT(COUNT, top), .high = 1e6},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

static void init(void *options_at) {
  struct describe_options *o = options_at;
  o->asked = dl_onnx_as_it_is;
  o->top = 10;
}

static void show_shape(struct dl_text *t, const struct dl_onnx_shape *s) {
  if (!s->known)
    dl_text_add(t, "?");
  else if (s->rank == 0)
    dl_text_add(t, "scalar");
  for (unsigned i = 0; s->known && i < s->rank; i++)
    dl_text_printf(t, "%s%lld", i ? "x" : "", (long long)s->dim[i]);
}

static void add_values(struct dl_report *r, const char *key, const char *title,
                       const struct dl_onnx_value *v, size_t n) {
  const struct dl_column columns[] = {{"name", title, NULL, DL_CODE, false},
                                      {"type", "type", NULL, DL_CODE, false},
                                      {"shape", "shape", NULL, DL_CODE, false}};
  struct dl_table *table = DL_TABLE(r, key, "", columns, false);
  for (size_t i = 0; i < n; i++) {
    DL_TEXT(shape);
    show_shape(&shape, &v[i].shape);
    DL_ROW(table, NULL, dl_string(v[i].name), dl_string(v[i].type),
           v[i].shape.known ? dl_string(dl_text_str(&shape)) : dl_string(NULL));
  }
}

static void add_totals(struct dl_report *r, const struct dl_onnx *m,
                       const struct dl_onnx_count *c) {
  DL_LINES(
      r, {"model", "model", NULL, DL_CODE, dl_string(dl_onnx_path(m))},
      {"file_bytes", NULL, NULL, DL_CODE,
       dl_number((double)dl_onnx_file_bytes(m))},
      {"producer", "made by", NULL, DL_CODE,
       *dl_onnx_producer(m) ? dl_string(dl_onnx_producer(m)) : dl_string(NULL)},
      {"opset", "opset", NULL, DL_CODE, dl_number((double)dl_onnx_opset(m))},
      {"macs_g", "MACs", "G", DL_PLAIN, dl_number(c->macs * 1e-9)},
      {"attention_macs_g",
       c->attention_macs > 0 ? "of them without weights" : NULL, "G", DL_PLAIN,
       dl_number(c->attention_macs * 1e-9)},
      {"params_m", "parameters", "M", DL_PLAIN, dl_number(c->params * 1e-6)},
      {"acts_m", "activations", "M", DL_PLAIN, dl_number(c->acts * 1e-6)},
      {"weights_mb", "weights", "MB", DL_PLAIN,
       dl_number(c->weight_bytes * 1e-6)},
      {"weighted_layers", "layers with weights", NULL, DL_CODE,
       dl_count(c->weighted)},
      {"launches", "launches", NULL, DL_CODE, dl_number(c->launches)},
      {"nodes", "nodes", NULL, DL_CODE, dl_count(c->n_nodes)},
      {"batch", c->batch > 1 ? "batch" : NULL, NULL, DL_CODE,
       dl_number(c->batch)},
      {"image_px", NULL, "px", DL_CODE, dl_number(c->image_px)},
      {"seq_len", NULL, "tokens", DL_CODE, dl_number(c->seq_len)});
  add_values(r, "inputs", "input", c->input, c->n_inputs);
  add_values(r, "outputs", "output", c->output, c->n_outputs);
}

static void add_ops(struct dl_report *r, const struct dl_onnx_count *c) {
  static const struct dl_column columns[] = {
      {"op", "operator", NULL, DL_CODE, false},
      {"layers", "layers", NULL, DL_CODE, false},
      {"macs_g", "MACs", "G", DL_PLAIN, false},
      {"launches", "launches", NULL, DL_CODE, false},
      {"known", NULL, NULL, DL_CODE, false}};
  struct dl_table *t = DL_TABLE(r, "operators", "Operators", columns, false);
  for (size_t i = 0; i < c->n_ops; i++) {
    const struct dl_onnx_op *op = &c->op[i];
    DL_ROW(t, NULL, dl_string(op->op), dl_count(op->n),
           dl_number(op->macs * 1e-9), dl_number(op->launches),
           dl_bool(!op->unknown));
  }
}

/* Sorts layers by their MACs, equal ones in the order of the graph. */
static int heavier(const void *a, const void *b) {
  const struct dl_onnx_layer *x = *(const struct dl_onnx_layer *const *)a;
  const struct dl_onnx_layer *y = *(const struct dl_onnx_layer *const *)b;
  if (x->macs != y->macs)
    return x->macs < y->macs ? 1 : -1;
  return x < y ? -1 : 1;
}

static void add_layer(struct dl_table *t, const struct dl_onnx_layer *l,
                      double all) {
  DL_TEXT(shape);
  show_shape(&shape, &l->output);
  DL_ROW(t, NULL, dl_string(l->name), dl_string(l->op),
         l->output.known ? dl_string(dl_text_str(&shape)) : dl_string(NULL),
         l->uncounted ? dl_number(NAN) : dl_number(l->macs * 1e-9),
         dl_number(all > 0 ? l->macs / all : NAN), dl_number(l->params * 1e-6),
         dl_number(l->acts * 1e-6), dl_number(l->launches),
         dl_number(l->bytes * 1e-6));
}

/* JSON and CSV have all layers, text the heaviest. */
static void add_layers(struct dl_report *r, const struct dl_onnx_count *c,
                       size_t top) {
  static const struct dl_column columns[] = {
      {"name", "layer", NULL, DL_CODE, false},
      {"op", "operator", NULL, DL_CODE, false},
      {"output", "output", NULL, DL_CODE, false},
      {"macs_g", "MACs", "G", DL_PLAIN, false},
      {"share", "share", "%", DL_PERCENT, false},
      {"params_m", "parameters", "M", DL_PLAIN, false},
      {"acts_m", "activations", "M", DL_PLAIN, false},
      {"launches", "launches", NULL, DL_CODE, false},
      {"weights_mb", "weights", "MB", DL_PLAIN, false}};
  const struct dl_onnx_layer **order = dl_calloc(c->n_layers, sizeof *order);
  size_t n = 0;
  for (size_t i = 0; i < c->n_layers; i++)
    if (top == 0 || c->layer[i].macs > 0 || c->layer[i].uncounted)
      order[n++] = &c->layer[i];
  if (top > 0)
    qsort(order, n, sizeof *order, heavier);
  if (top > 0 && n > top)
    n = top;
  struct dl_table *t =
      DL_TABLE(r, "layers", top > 0 ? "Heaviest layers" : NULL, columns, true);
  for (size_t i = 0; i < n; i++)
    add_layer(t, order[i], c->macs);
  free(order);
}

static void warn(struct dl_cli *cli, const struct dl_onnx *m,
                 const struct dl_onnx_count *c) {
  const char *path = dl_onnx_path(m);
  DL_TEXT(names);
  for (size_t i = 0; i < c->n_ops; i++)
    if (c->op[i].unknown)
      dl_text_printf(&names, "%s%s (%zu)", names.len ? ", " : "", c->op[i].op,
                     c->op[i].n);
  if (names.len)
    dl_warn_at(&cli->diag, path, 0,
               "unknown operators, counted as elementwise: %s",
               dl_text_str(&names));
  if (c->n_shapeless > 0)
    dl_warn_at(&cli->diag, path, 0,
               "%zu layer%s could not be counted: the shapes of their inputs "
               "depend on data",
               c->n_shapeless, c->n_shapeless == 1 ? "" : "s");
  if (c->n_guessed > 0)
    dl_warn_at(&cli->diag, path, 0,
               "%zu loop%s or branch%s of unknown course: a loop counts once, "
               "a branch as the heavier",
               c->n_guessed, c->n_guessed == 1 ? "" : "s",
               c->n_guessed == 1 ? "" : "es");
  if (c->batch > 1)
    dl_warn_at(&cli->diag, path, 0,
               "holds %g samples: MACs and activations are divided by %g",
               c->batch, c->batch);
}

static enum dl_status report(struct dl_cli *cli, const struct dl_onnx *m,
                             const struct dl_onnx_count *c, size_t top) {
  struct dl_report *r = dl_report_new();
  bool brief = cli->format->on_screen;
  add_totals(r, m, c);
  if (!brief || top > 0)
    add_layers(r, c, brief ? top : 0);
  add_ops(r, c);
  return dl_cli_print(cli, r);
}

/* The descriptor goes to -o, the report to standard output. */
static enum dl_status write_descriptor(struct dl_cli *cli,
                                       const struct dl_onnx *m,
                                       const struct dl_onnx_asked *asked,
                                       const struct dl_onnx_count *c) {
  if (!cli->output)
    return DL_OK;
  enum dl_status status = dl_cli_strict(cli);
  if (status != DL_OK)
    return status;
  struct dl_xml *x = dl_onnx_descriptor(m, asked, c);
  status = dl_xml_write(x, cli->output, &cli->diag);
  dl_xml_free(x);
  cli->output = NULL;
  return status;
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct describe_options *o = options_at;
  DL_SCOPED(dl_onnx_free_local) struct dl_onnx *m = NULL;
  DL_SCOPED(dl_onnx_count_free_local) struct dl_onnx_count *c = NULL;
  if (!cli->format->on_screen)
    DL_TRY(dl_cli_refuse(cli, "top", "here: other formats list all layers"));
  for (size_t i = 0; i < o->shapes.n; i++)
    DL_TRY(dl_onnx_ask(&o->asked, o->shapes.s[i], &cli->diag));
  DL_TRY(dl_onnx_open(&m, cli->argument[0], &cli->diag));
  DL_TRY(dl_onnx_count(m, &o->asked, &c, &cli->diag));
  warn(cli, m, c);
  DL_TRY(write_descriptor(cli, m, &o->asked, c));
  return report(cli, m, c, o->top);
}

const struct dl_command dl_cmd_describe = {
    .name = "describe",
    .summary = "count the work of an ONNX model",
    .arguments = "MODEL.onnx",
    .doc = "Count the work of an ONNX model: multiply-accumulates, parameters, "
           "activations and launches, by layer."
           "\v-o FILE writes a descriptor of the architecture, which --arch "
           "reads; --arch MODEL.onnx does both at once. Neither weights nor "
           "the files that hold them are read. A batch that the model leaves "
           "open is one sample.\n\n"
           "Examples:\n"
           "  dlest describe tiny-cnn.onnx\n"
           "  dlest describe tiny-cnn.onnx --image-px 64 -o my-arch.xml\n"
           "  dlest predict --arch tiny-cnn.onnx --gpu a100\n",
    .tables = tables,
    .options_size = sizeof(struct describe_options),
    .init = init,
    .rereads = true,
    .run = run,
};
