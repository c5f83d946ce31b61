/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/job_options.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "run/run_columns.h"

enum {
  KEY_CLASSES = 0x200,
  KEY_FROZEN,
  KEY_DATASET,
  KEY_SET,
  KEY_DEFINE,
  KEY_ALIAS,
  KEY_SEQ_LEN,
  KEY_TOKENS,
  KEY_PHASE,
  KEY_PRECISION,
  KEY_FRAMEWORK,
  KEY_PROMPT,
  KEY_ANSWER,
  KEY_RATE,
  KEY_IDLE,
  KEY_REQUESTS,
  KEY_SCALING
};

/* Options that set a member of the run, and the check on their value. */
static const struct setting {
  int key;
  enum dl_run_id id;
  enum { TEXT, AMOUNT, ABOVE_0, COUNT, SHARE, RATE, HOURS } kind;
  bool may_sweep; /* may be an axis of a sweep: a list of values */
} settings[] = {
    {'a', DL_RUN_arch, TEXT, true},
    {'g', DL_RUN_gpu, TEXT, true},
    {'n', DL_RUN_n_gpus, COUNT, true},
    {'b', DL_RUN_batch_size, COUNT, true},
    {'p', DL_RUN_image_px, COUNT, true},
    {'e', DL_RUN_epochs, ABOVE_0, false},
    {'d', DL_RUN_duration_s, HOURS, false},
    {'u', DL_RUN_utilisation, SHARE, false},
    {'r', DL_RUN_ram_gb, AMOUNT, false},
    {'t', DL_RUN_train_samples, COUNT, false},
    {'v', DL_RUN_val_samples, AMOUNT, false},
    {'E', DL_RUN_efficiency, RATE, false},
    {KEY_SEQ_LEN, DL_RUN_seq_len, COUNT, true},
    {KEY_TOKENS, DL_RUN_tokens, COUNT, false},
    {KEY_PHASE, DL_RUN_phase, TEXT, false},
    {KEY_PRECISION, DL_RUN_precision, TEXT, false},
    {KEY_FRAMEWORK, DL_RUN_framework, TEXT, false},
    {KEY_PROMPT, DL_RUN_prompt_tokens, COUNT, false},
    {KEY_ANSWER, DL_RUN_output_tokens, AMOUNT, false},
    {KEY_RATE, DL_RUN_request_rate, ABOVE_0, false},
    {KEY_IDLE, DL_RUN_idle_s, AMOUNT, false},
    {KEY_REQUESTS, DL_RUN_requests, COUNT, false},
    {KEY_CLASSES, DL_RUN_classes, COUNT, false},
    {KEY_SCALING, DL_RUN_scaling, TEXT, false},
};

static const struct argp_option job_option_table[] = {
    {NULL, 0, NULL, 0, "What is run:", 1},
    {"arch", 'a', "NAME", 0,
     "architecture: a name (dlest list archs), your own file, or the shape "
     "of a transformer (transformer:layers=32,hidden=4096,heads=32,...)",
     1},
    {"gpu", 'g', "NAME", 0,
     "accelerator: a name (dlest list gpus) or your own "
     "file",
     1},
    {"gpus", 'n', "N", 0, "number of accelerators (default 1)", 1},
    {"batch-size", 'b', "N", 0,
     "samples a step on each accelerator (default 256)", 1},
    {"scaling", KEY_SCALING, "KIND", 0,
     "several accelerators: weak (default), each takes --batch-size samples a "
     "step, or strong, they share them",
     1},
    {"image-px", 'p', "PX", 0,
     "side of the input (default: the "
     "architecture's own)",
     1},
    {"seq-len", KEY_SEQ_LEN, "N", 0,
     "tokens of a sequence (default: the architecture's own)", 1},
    {"tokens", KEY_TOKENS, "N", 0,
     "tokens that a language model is trained on in all (300e9)", 1},
    {"classes", KEY_CLASSES, "N", 0,
     "outputs of the classifier, in place of the architecture's own", 1},
    {"frozen", KEY_FROZEN, NULL, 0, "train the classifier alone", 1},
    {"dataset", KEY_DATASET, "NAME", 0,
     "sizes of a known data set (default "
     "imagenet; dlest list datasets)",
     1},
    {"train-samples", 't', "N", 0, "training samples an epoch", 1},
    {"val-samples", 'v', "N", 0, "validation samples an epoch", 1},
    {"epochs", 'e', "N", 0, "epochs of the whole training (default 90)", 1},
    {"duration", 'd', "TIME", 0,
     "duration of the whole run: hours, or 90m, "
     "3600s, 2h, 3d",
     1},
    {"utilisation", 'u', "SHARE", 0,
     "share of the GPU in use, for "
     "green-algorithms (default 1)",
     1},
    {"ram-gb", 'r', "GB", 0,
     "memory of the node, for green-algorithms "
     "(default 32)",
     1},
    {"efficiency", 'E', "SHARE", 0,
     "share of the peak rate reached, for flops "
     "(default 0.3)",
     1},
    {"precision", KEY_PRECISION, "NAME", 0,
     "of the arithmetic: fp64, fp32, tf32, fp16, bf16, amp, fp8, int8", 1},
    {"framework", KEY_FRAMEWORK, "NAME", 0,
     "that trains, for physical: pytorch, tensorflow", 1},
    {"phase", KEY_PHASE, "NAME", 0, "training (default) or inference", 1},
    {"requests", KEY_REQUESTS, "N", 0,
     "inference: requests or samples (default 1)", 1},
    {"samples", 0, NULL, OPTION_ALIAS, NULL, 1},
    {"prompt-tokens", KEY_PROMPT, "N", 0,
     "inference: tokens of each request of a language model", 1},
    {"output-tokens", KEY_ANSWER, "N", 0,
     "inference: tokens that it writes for each", 1},
    {"request-rate", KEY_RATE, "R", 0,
     "inference: requests that come a second; --batch-size is then the most at "
     "once (default 256)",
     1},
    {"idle-s", KEY_IDLE, "S", 0,
     "inference: seconds that the GPUs idle after each batch", 1},
    {0},
};

static const struct argp_option table_option_table[] = {
    {NULL, 0, NULL, 0, "Values and columns:", 3},
    {"set", KEY_SET, "NAME=VALUE", 0,
     "set a column or a field of a "
     "descriptor (gpu.tdp_w=300), over all else",
     3},
    {"define", KEY_DEFINE, "NAME=FORMULA", 0,
     "a column made from others "
     "(macs_g=GFLOPs/2); a plain name renames",
     3},
    {"alias", KEY_ALIAS, "NAME=ID", 0,
     "take the arch or gpu NAME of a table "
     "as the descriptor ID",
     3},
    {0},
};

static void add(struct argp_state *state, struct dl_strlist *list,
                const char *text) {
  if (!dl_strlist_add(list, text))
    argp_failure(state, 1, 0, "out of memory");
}

static const char *option_name(int key) {
  const struct argp_option *o = job_option_table;
  while (!o->name || o->key != key)
    o++;
  return o->name;
}

/* Reads a number and checks it; a column of the runs table has a range. */
static bool parse_value(const struct setting *s, const char *arg, double *x) {
  const struct dl_run_column *c = &dl_run_columns[s->id];
  bool valid = s->kind == HOURS ? dl_parse_duration(arg, 3600, x)
                                : dl_parse_double(arg, x);
  if (!valid || *x < 0 ||
      (s->id < DL_N_RUN_COLUMNS && (*x < c->low || *x > c->high)))
    return false;
  switch (s->kind) {
  case COUNT:
    return *x > 0 && *x == floor(*x);
  case SHARE:
    return *x <= 1;
  case RATE:
    return *x > 0 && *x <= 1;
  case HOURS:
  case ABOVE_0:
    return *x > 0;
  default:
    return true;
  }
}

/* A list of values, each of which must be one that the option takes. */
static void add_axis(struct argp_state *state, struct dl_job_options *o,
                     const struct setting *s, const char *arg) {
  const char *column = dl_run_columns[s->id].name;
  struct dl_diag d;
  double x;
  dl_diag_init(&d);
  if (dl_axes_set(&o->axes, column, arg, s->kind != TEXT, &d) != DL_OK)
    argp_error(state, "--%s: %s", option_name(s->key), d.error);
  dl_diag_free(&d);
  const struct dl_axis *a = dl_axes_find(&o->axes, column);
  for (size_t i = 0; s->kind != TEXT && i < a->n; i++)
    if (!parse_value(s, a->text.s[i], &x))
      argp_error(state, "--%s: invalid value '%s'", option_name(s->key),
                 a->text.s[i]);
}

static void add_text(struct argp_state *state, struct dl_job_options *o,
                     const struct setting *s, const char *arg) {
  const struct dl_run_column *c = &dl_run_columns[s->id];
  const char *word = dl_run_word(c, arg);
  if (!word) {
    struct dl_text what = {0};
    dl_run_column_explain(c, DL_VALUE_WORD, arg, &what);
    argp_error(state, "--%s: %s", option_name(s->key), dl_text_str(&what));
  }
  dl_run_lend_text(&o->run, s->id, word);
}

static void add_setting(struct argp_state *state, struct dl_job_options *o,
                        const struct setting *s, const char *arg) {
  double x;
  if (o->takes_lists && s->may_sweep && dl_axis_is_list(arg)) {
    add_axis(state, o, s, arg);
  } else if (s->kind == TEXT) {
    add_text(state, o, s, arg);
  } else if (parse_value(s, arg, &x)) {
    dl_run_set_number(&o->run, s->id, x);
  } else {
    argp_error(state, "--%s: invalid value '%s'%s", option_name(s->key), arg,
               s->kind == SHARE  ? " (between 0 and 1)"
               : s->kind == RATE ? " (above 0, at most 1)"
                                 : "");
  }
}

static error_t parse_table(int key, char *arg, struct argp_state *state) {
  struct dl_job_options *o = state->input;
  switch (key) {
  case KEY_SET:
    add(state, &o->overrides, arg);
    return 0;
  case KEY_DEFINE:
    add(state, &o->defines, arg);
    return 0;
  case KEY_ALIAS:
    add(state, &o->aliases, arg);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_job(int key, char *arg, struct argp_state *state) {
  struct dl_job_options *o = state->input;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (settings[i].key == key) {
      add_setting(state, o, &settings[i], arg);
      return 0;
    }
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = o;
    state->child_inputs[1] = &o->site;
    o->run = dl_run_unknown;
    o->site = dl_site_options_none;
    o->foot = dl_footprint_none;
    return 0;
  case KEY_FROZEN:
    dl_run_set_number(&o->run, DL_RUN_frozen_base, 1);
    return 0;
  case KEY_DATASET:
    o->dataset = arg;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp dl_table_argp = {.options = table_option_table,
                                   .parser = parse_table};

static const struct argp_child job_children[] = {
    {&dl_table_argp, 0, NULL, 0}, {&dl_site_argp, 0, NULL, 0}, {0}};
const struct argp dl_job_argp = {
    .options = job_option_table, .parser = parse_job, .children = job_children};

void dl_job_options_free(struct dl_job_options *o) {
  dl_strlist_free(&o->overrides);
  dl_strlist_free(&o->defines);
  dl_strlist_free(&o->aliases);
  dl_axes_free(&o->axes);
}

/* What "NAME=..." of a list says of a name, or NULL; the last counts. */
static const char *value_in(const struct dl_strlist *l, const char *name) {
  size_t n = strlen(name);
  for (size_t i = l->n; i > 0; i--)
    if (strncmp(l->s[i - 1], name, n) == 0 && l->s[i - 1][n] == '=')
      return l->s[i - 1] + n + 1;
  return NULL;
}

bool dl_job_options_give(const struct dl_job_options *o, enum dl_run_id id) {
  const char *name = dl_run_columns[id].name;
  return dl_run_has(&o->run, id) || value_in(&o->overrides, name) ||
         value_in(&o->defines, name);
}

/* How much there is to train on, which a language model must be told. */
static enum dl_status check_size(const struct dl_job_options *o, bool inference,
                                 bool language, struct dl_diag *d) {
  static const enum dl_run_id others[] = {DL_RUN_train_samples,
                                          DL_RUN_val_samples, DL_RUN_epochs};
  if (dl_job_options_give(o, DL_RUN_tokens)) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
      if (dl_run_has(&o->run, others[i]))
        return dl_fail(d, DL_EUSAGE,
                       "--tokens is the whole training; it does not go with "
                       "%s",
                       dl_run_columns[others[i]].name);
    return o->dataset ? dl_fail(d, DL_EUSAGE,
                                "--tokens is the whole training; it does not "
                                "go with --dataset")
                      : DL_OK;
  }
  if (!language || o->has_table || o->dataset || inference ||
      dl_job_options_give(o, DL_RUN_train_samples) ||
      dl_job_options_give(o, DL_RUN_duration_s))
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "'%.64s' is a language model; give --tokens N, of the whole "
                 "training, or --train-samples N",
                 o->arch);
}

/* Sizes of the data set, where samples are not given one by one. */
static enum dl_status apply_dataset(struct dl_job_options *o,
                                    struct dl_frame *f,
                                    struct dl_catalog *catalog, bool images,
                                    struct dl_diag *d) {
  bool train = dl_run_has(&o->run, DL_RUN_train_samples);
  if (!o->dataset && images && !train)
    o->dataset = "imagenet";
  if (!o->dataset)
    return DL_OK;
  const struct dl_descriptor *found;
  enum dl_status status =
      dl_catalog_get(catalog, DL_DATASET, o->dataset, &found, d);
  const struct dl_dataset *e = DL_AS(dataset, found);
  if (status == DL_OK && !train && !isnan(e->train_samples))
    status = dl_frame_set(f, DL_RUN_train_samples, e->train_samples, d);
  if (status == DL_OK && !dl_run_has(&o->run, DL_RUN_val_samples) &&
      !isnan(e->val_samples))
    status = dl_frame_set(f, DL_RUN_val_samples, e->val_samples, d);
  return status;
}

/* Values for what no option gives. Language models serve in 16 bits. */
static enum dl_status apply_defaults(const struct dl_job_options *o,
                                     struct dl_frame *f, bool defaults,
                                     bool inference, bool language,
                                     struct dl_diag *d) {
  bool rate = dl_job_options_give(o, DL_RUN_request_rate);
  const struct {
    enum dl_run_id id;
    double x;
    bool on;
  } values[] = {{DL_RUN_n_gpus, 1, true},
                {DL_RUN_utilisation, 1, true},
                {DL_RUN_efficiency, 0.3, true},
                {DL_RUN_ram_gb, 32, true},
                {DL_RUN_requests, 1, defaults && inference},
                {DL_RUN_batch_size, rate ? 256 : 1, defaults && inference},
                {DL_RUN_batch_size, 256, defaults && !inference && !language},
                {DL_RUN_epochs, language ? 1 : 90, defaults && !inference}};
  enum dl_status status = DL_OK;
  if (defaults && inference && rate && dl_job_options_give(o, DL_RUN_idle_s))
    return dl_fail(d, DL_EUSAGE,
                   "--idle-s does not go with --request-rate, which says how "
                   "long the GPUs idle");
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (status == DL_OK && values[i].on)
      status = dl_frame_set(f, values[i].id, values[i].x, d);
  if (status == DL_OK && defaults && inference && language)
    status = dl_frame_setting(f, "precision", "fp16", d);
  return status;
}

enum dl_status dl_job_options_apply_table(const struct dl_job_options *o,
                                          struct dl_frame *f,
                                          struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < o->aliases.n && status == DL_OK; i++)
    status = dl_frame_alias(f, o->aliases.s[i], d);
  for (size_t i = 0; i < o->defines.n && status == DL_OK; i++)
    status = dl_frame_define(f, o->defines.s[i], d);
  for (size_t i = 0; i < o->overrides.n && status == DL_OK; i++)
    status = dl_frame_override(f, o->overrides.s[i], d);
  return status;
}

enum dl_status dl_job_options_apply(struct dl_job_options *o,
                                    struct dl_frame *f,
                                    struct dl_catalog *catalog, bool defaults,
                                    struct dl_diag *d) {
  const char *phase = value_in(&o->overrides, "phase");
  if (!phase)
    phase = o->run.phase;
  phase = phase ? dl_run_word(&dl_run_columns[DL_RUN_phase], phase) : NULL;
  bool language, inference = phase && strcmp(phase, "inference") == 0;
  enum dl_status status = dl_job_options_apply_table(o, f, d);
  if (status == DL_OK)
    status = dl_job_options_language(o, catalog, &language, d);
  if (status == DL_OK && defaults)
    status = check_size(o, inference, language, d);
  if (status == DL_OK)
    status = apply_defaults(o, f, defaults, inference, language, d);
  if (status == DL_OK)
    status = apply_dataset(o, f, catalog,
                           defaults && !language && !inference &&
                               !dl_job_options_give(o, DL_RUN_tokens),
                           d);
  if (status == DL_OK)
    status = dl_frame_set_run(f, &o->run, d);
  if (status == DL_OK)
    status = dl_site_find(&o->site, catalog, &o->foot, d);
  return status;
}
