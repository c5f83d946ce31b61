/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a job, what follows from them, and which of them have an effect.
 */

#include "cli/options/job_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/constants.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/command.h"
#include "cli/options/known_options.h"
#include "run/run_columns.h"

/* Stores the number of a column, within the column's range, or the word that a
 * text stands for. */
static enum dl_status set_value(struct dl_run *run, const struct dl_option *o,
                                char *arg, struct dl_diag *d) {
  enum dl_run_id id = (enum dl_run_id)o->column;
  const struct dl_run_column *c = &dl_run_columns[id];
  enum dl_status status = DL_OK;
  if (c->is_text) {
    const char *word = dl_run_word(c, arg);
    DL_TEXT(what);
    if (!word) {
      dl_run_column_explain(c, DL_FAULT_WORD, arg, &what);
      status = dl_fail(d, DL_EUSAGE, "--%s: %s", o->name, dl_text_str(&what));
    }
    dl_run_lend_text(run, id, word);
    return status;
  }
  struct dl_option number = *o;
  double x = 1; /* of a flag */
  number.read = NULL;
  number.low = fmax(o->low, c->low);
  number.high = c->high;
  number.whole |= c->whole;
  if (o->kind == DL_OPTION_READ)
    number.kind = DL_OPTION_NUMBER;
  if (arg)
    status = dl_option_store(&number, arg, &x, d);
  dl_run_set_number(run, id, x);
  return status;
}

/* "lora:16" sets the rank too. */
static enum dl_status read_fine_tune(const struct dl_option *o, char *arg,
                                     void *at, struct dl_diag *d) {
  struct dl_job_options *job = at;
  char *colon = strchr(arg, ':');
  const struct dl_option rank = {.name = o->name,
                                 .kind = DL_OPTION_NUMBER,
                                 .column = DL_RUN_lora_rank,
                                 .whole = true};
  if (colon)
    *colon = '\0';
  enum dl_status status = set_value(&job->run, o, arg, d);
  return status == DL_OK && colon ? set_value(&job->run, &rank, colon + 1, d)
                                  : status;
}

static enum dl_status read_drop_last(const struct dl_option *o, char *arg,
                                     void *at, struct dl_diag *d) {
  static char yes[] = "yes";
  (void)arg;
  return set_value(&((struct dl_job_options *)at)->run, o, yes, d);
}

static enum dl_status read_frozen(const struct dl_option *o, char *arg,
                                  void *at, struct dl_diag *d) {
  static char head[] = "head";
  (void)arg;
  return set_value(&((struct dl_job_options *)at)->run, o, head, d);
}

/* "8xh100", "8 x H100", "8*h100": a number of accelerators and their name in
 * one, for which there are two options. */
static enum dl_status refuse_counted(const struct dl_option *o, const char *arg,
                                     struct dl_diag *d) {
  size_t digits = strspn(arg, "0123456789");
  const char *s = arg + digits + strspn(arg + digits, " ");
  bool times = *s == 'x' || *s == 'X' || *s == '*';
  s += times;
  s += strspn(s, " ");
  if (digits == 0 || !times || !isalpha((unsigned char)*s))
    return DL_OK;
  return dl_fail(
      d, DL_EUSAGE,
      "--%s: '%s' is a number and a name; write --gpus %.*s --gpu %s", o->name,
      arg, (int)digits, arg, s);
}

/* Stores the value of a row with a column in the job; a list makes an axis, of
 * values that the option takes. */
static enum dl_status read_setting(const struct dl_option *o, char *arg,
                                   void *at, struct dl_diag *d) {
  struct dl_job_options *job = at;
  const struct dl_run_column *c = &dl_run_columns[o->column];
  bool counted = o->column == DL_RUN_gpu || o->column == DL_RUN_n_gpus;
  if (counted && refuse_counted(o, arg, d) != DL_OK)
    return DL_EUSAGE;
  if (!arg || !job->takes_lists || !o->sweeps || !dl_axis_is_list(arg))
    return set_value(&job->run, o, arg, d);
  struct dl_run scratch = dl_run_unknown;
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  enum dl_status status =
      dl_axes_set(&job->axes, c->name, arg, !c->is_text, &inner);
  if (status != DL_OK)
    dl_fail(d, status, "--%s: %s", o->name, inner.error);
  const struct dl_axis *a = dl_axes_find(&job->axes, c->name);
  for (size_t i = 0; status == DL_OK && !c->is_text && i < a->n; i++)
    status = set_value(&scratch, o, a->text.s[i], d);
  return status;
}

#define SETTING(id)                                                            \
  .kind = DL_OPTION_READ, .read = read_setting, .column = DL_RUN_##id
#define NUMBER_OF(id) SETTING(id), .whole = true
#define LARGE_NUMBER_OF(id) NUMBER_OF(id), .large = true
#define SWEEPS .sweeps = true
#define KNOWN(id)                                                              \
  .kind = DL_OPTION_READ, .read = dl_read_known, .column = DL_RUN_##id,        \
  .phase = "training", .methods = DL_TIMED_METHODS
#define LOADER_METHODS "physical|green-algorithms|tdp"

const struct dl_option dl_job_options_rows[] = {
    DL_HEADING("What is run:", 1),
    {"arch", 'a', "NAME",
     "architecture: a name (dlest list archs), your own file (.xml, .onnx, or "
     "config.json of a model hub), or the shape of a transformer "
     "(transformer:layers=32,hidden=4096,heads=32,...)",
     SETTING(arch), SWEEPS, .reads = true},
    {"gpu", 'g', "NAME",
     "accelerator: a name (dlest list gpus) or your own file", SETTING(gpu),
     SWEEPS, .reads = true},
    {"gpus", 'n', "N", "number of accelerators (default 1)", NUMBER_OF(n_gpus),
     SWEEPS},
    {"batch-size", 'b', "N",
     "samples per step on each accelerator (default 256, or what fits)",
     NUMBER_OF(batch_size), SWEEPS},
    {"scaling", 0, "KIND",
     "several accelerators: weak (default): --batch-size samples per step on "
     "each; strong: divided among them",
     SETTING(scaling), .phase = "training"},
    {"image-px", 'p', "PX",
     "side of the input (default: the architecture's own)", NUMBER_OF(image_px),
     SWEEPS},
    {"seq-len", 0, "N", "tokens per sequence (default: the architecture's own)",
     NUMBER_OF(seq_len), SWEEPS},
    {"tokens", 0, "N",
     "tokens that a language model is trained on in total: 300B, 300e9",
     LARGE_NUMBER_OF(tokens), .phase = "training",
     .methods = "physical|pre-epoch|pre-power|flops"},
    {"train-tokens", 0, "N",
     "tokens of a language model's data set, for --epochs (default 1 epoch)",
     LARGE_NUMBER_OF(train_tokens), .phase = "training"},
    {"classes", 0, "N",
     "outputs of the classifier (default: the architecture's own)",
     NUMBER_OF(classes)},
    {"fine-tune", 0, "WHAT",
     "weights that are trained: full (default), head (the classifier alone), "
     "lora:RANK or qlora:RANK",
     .kind = DL_OPTION_READ, .read = read_fine_tune, .column = DL_RUN_fine_tune,
     .phase = "training"},
    {"frozen", 0, NULL, "the same as --fine-tune head", .kind = DL_OPTION_READ,
     .read = read_frozen, .column = DL_RUN_fine_tune},
    {"dataset", 0, "NAME",
     "sizes of a known data set (default by task: imagenet, coco2017, ade20k, "
     "librispeech; dlest list datasets)",
     SETTING(dataset), .phase = "training"},
    {"train-samples", 't', "N", "training samples per epoch",
     LARGE_NUMBER_OF(train_samples), .low = 1, .phase = "training"},
    {"val-samples", 'v', "N", "validation samples per epoch",
     SETTING(val_samples), .large = true, .phase = "training"},
    {"drop-last", 0, NULL,
     "leave out the samples that do not fill the last batch of an epoch",
     .kind = DL_OPTION_READ, .read = read_drop_last, .column = DL_RUN_drop_last,
     .phase = "training"},
    {"loader", 0, "KIND",
     "input pipeline that bounds the speed: disk, cached (files in main "
     "memory) or synthetic (default: disk, where it is slower)",
     SETTING(loader), .phase = "training", .methods = LOADER_METHODS},
    {"loader-workers", 0, "N", "loader processes per GPU (default 8)",
     NUMBER_OF(loader_workers), .phase = "training", .methods = LOADER_METHODS},
    {"epochs", 'e', "N", "epochs of the whole training (default 90)",
     SETTING(epochs), .phase = "training"},
    {"duration", 'd', "TIME",
     "duration of the whole run: 90m, 1h30m, 1:30:00, 2 days",
     .kind = DL_OPTION_TIME, .read = read_setting, .column = DL_RUN_duration_s,
     .methods = DL_TIMED_METHODS},
    {"epoch-time", 0, "TIME", "known time of an epoch: 12m",
     .kind = DL_OPTION_TIME, .read = read_setting, .column = DL_RUN_epoch_s,
     .phase = "training", .methods = DL_TIMED_METHODS},
    {"step-time", 0, "TIME",
     "known time of a training step, a batch on each GPU: 250ms or 4.0it/s",
     KNOWN(step_s)},
    {"throughput", 0, "RATE",
     "known samples (of language models tokens) per second, all GPUs: 2500/s",
     KNOWN(samples_per_s)},
    {"gpu-util", 0, "PERCENT",
     "known mean GPU utilization in percent, as nvidia-smi prints it",
     KNOWN(gpu_util)},
    {"gpu-power", 0, "W", "known mean power of all GPUs together",
     SETTING(gpu_power_w), .phase = "training", .methods = DL_TIMED_METHODS},
    {"utilisation", 'u', "SHARE",
     "GPU utilization as a share, for method green-algorithms (default 1)",
     SETTING(utilisation), .alias = "utilization",
     .methods = "green-algorithms"},
    {"ram-gb", 'r', "GB",
     "memory of the node, for method green-algorithms (default 32)",
     SETTING(ram_gb), .methods = "green-algorithms"},
    {"efficiency", 'E', "SHARE",
     "share of the peak rate that is reached, for method flops (default 0.3; "
     "training of language models 0.4)",
     SETTING(efficiency), .methods = "flops"},
    {"precision", 0, "NAME",
     "precision of the arithmetic: fp64, fp32, tf32, fp16, bf16, amp, fp8, "
     "int8 or a synonym (half, mixed, bfloat16, ...)",
     SETTING(precision)},
    {"optimizer", 0, "NAME",
     "adamw (default), sgd, adafactor, adam8bit or a synonym (lamb, lars, "
     "lion, ...)",
     SETTING(optimizer), .phase = "training"},
    {"checkpointing", 0, "KIND",
     "activation checkpointing: none (default; language models: as little "
     "as memory needs), selective or full",
     SETTING(checkpointing), .phase = "training"},
    {"attention", 0, "KIND",
     "attention kernel: flash, or eager, which stores the scores",
     SETTING(attention)},
    {"sharding", 0, "KIND",
     "what data-parallel GPUs divide: ddp (default; language models: the "
     "fastest): nothing; zero1: optimizer states; zero2: gradients too; zero3 "
     "or fsdp: weights too",
     SETTING(sharding), .phase = "training"},
    {"tensor-parallel", 0, "N",
     "GPUs that share each layer (default 1; language models: the fastest)",
     NUMBER_OF(tensor_parallel), .phase = "training"},
    {"pipeline-parallel", 0, "N",
     "stages of layers on GPUs (default 1; language models: the fastest)",
     NUMBER_OF(pipeline_parallel), .phase = "training"},
    {"virtual-stages", 0, "N",
     "virtual stages of each pipeline stage, an interleaved schedule (default: "
     "the fastest of up to 8; 1: not interleaved)",
     NUMBER_OF(virtual_stages), .phase = "training"},
    {"expert-parallel", 0, "N",
     "data-parallel GPUs that divide the experts of each layer (default: the "
     "fastest number)",
     NUMBER_OF(expert_parallel), .phase = "training"},
    {"context-parallel", 0, "N", "GPUs that share each sequence (default 1)",
     NUMBER_OF(context_parallel), .phase = "training"},
    {"grad-accum", 0, "N",
     "batches per optimizer step, on each GPU (default 1)",
     NUMBER_OF(grad_accum), .phase = "training"},
    {"global-batch", 0, "N",
     "samples per optimizer step on all GPUs; sets --batch-size or "
     "--grad-accum, whichever is not given",
     NUMBER_OF(global_batch), .phase = "training"},
    {"stack", 0, "NAME", "software stack: eager, compiled, ngc or mlperf",
     SETTING(stack)},
    {"network", 0, "X", "Gbit/s per GPU between nodes", SETTING(network_gbps)},
    {"gpus-per-node", 0, "N", "GPUs in a node, which NVLink joins",
     NUMBER_OF(gpus_per_node)},
    {"framework", 0, "NAME",
     "deep-learning framework: pytorch, tensorflow, jax", SETTING(framework),
     .methods = "physical|pre-epoch|pre-power"},
    {"phase", 0, "NAME", "training (default) or inference", SETTING(phase)},
    {"requests", 0, "N", "inference: requests or samples (default 1)",
     LARGE_NUMBER_OF(requests), .alias = "samples", .phase = "inference"},
    {"prompt-tokens", 0, "N",
     "inference: prompt tokens per request of a language model",
     NUMBER_OF(prompt_tokens), .phase = "inference"},
    {"output-tokens", 0, "N", "inference: output tokens per request",
     SETTING(output_tokens), .phase = "inference"},
    {"denoising-steps", 0, "N",
     "inference: denoising steps per sample of a diffusion model (default: of "
     "the network, 50 or 28)",
     NUMBER_OF(denoising_steps), .phase = "inference"},
    {"request-rate", 0, "R",
     "inference: requests per second; --batch-size is then the maximum "
     "number at a time (default 256, or what fits)",
     SETTING(request_rate), .phase = "inference"},
    {"idle-s", 0, "S", "inference: seconds that the GPUs idle after each batch",
     SETTING(idle_s), .phase = "inference", .methods = "physical"},
    {0},
};

#define AT(member) DL_STORE(LIST, struct dl_job_options, member)

const struct dl_option dl_table_options_rows[] = {
    DL_HEADING("Values and columns:", 3),
    {"set", 's', "NAME=VALUE",
     "set a column or a field of a descriptor (gpu.tdp_w=300); overrides all "
     "else",
     AT(overrides)},
    {"define", 0, "NAME=FORMULA",
     "compute a column from others (macs_g=GFLOPs/2), or rename one",
     AT(defines)},
    {"alias", 0, "NAME=ID",
     "use descriptor ID for the architecture or GPU NAME of a table",
     AT(aliases)},
    {0},
};

void dl_job_options_init(struct dl_job_options *o) {
  *o = (struct dl_job_options){.run = dl_run_unknown,
                               .site = dl_site_options_none,
                               .foot = dl_footprint_none};
}

void dl_job_options_free(void *options) {
  struct dl_job_options *o = options;
  dl_strlist_free(&o->overrides);
  dl_strlist_free(&o->defines);
  dl_strlist_free(&o->aliases);
  dl_axes_free(&o->axes);
}

bool dl_job_options_give(const struct dl_job_options *o, enum dl_run_id id) {
  const char *name = dl_run_columns[id].name;
  return dl_run_has(&o->run, id) || dl_value_in(&o->overrides, name) ||
         dl_value_in(&o->defines, name);
}

/* Whether one of "a|b" is among "b,c". */
static bool any_method(const char *names, const char *list) {
  bool any = false;
  for (size_t n; *list && !any; list += n + (list[n] == ',')) {
    n = strcspn(list, ",");
    any = dl_word_among(names, list, n) >= 0;
  }
  return any;
}

static const char *phase_of(const struct dl_job_options *o) {
  const char *phase = dl_value_in(&o->overrides, "phase");
  return phase ? phase : o->run.phase ? o->run.phase : "training";
}

static bool is_setting(const struct dl_option *o) {
  return o >= dl_job_options_rows &&
         o < dl_job_options_rows +
                 sizeof dl_job_options_rows / sizeof *dl_job_options_rows;
}

enum dl_status dl_job_options_refuse(struct dl_cli *cli, const char *why) {
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    if (is_setting(row) && !row->sweeps)
      return dl_cli_refuse(cli, row->name, why);
  }
  return DL_OK;
}

enum dl_status dl_job_options_check_table(struct dl_cli *cli,
                                          const struct dl_job_options *o,
                                          const struct dl_csv *csv) {
  bool phases =
      dl_csv_find(csv, "phase") >= 0 || dl_value_in(&o->defines, "phase");
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    const char *column =
        strcmp(row->name, "dataset") == 0 ? "train_samples"
        : row->read == read_setting || row->read == dl_read_known
            ? dl_run_columns[row->column].name
            : "";
    char why[80];
    snprintf(why, sizeof why, "here: it is for --phase %s", row->phase);
    if (row->phase && !phases && strcasecmp(row->phase, phase_of(o)) != 0)
      return dl_cli_refuse(cli, row->name, why);
    bool selects = dl_axes_find(&o->axes, column) != NULL;
    if (*column && !selects && dl_csv_find(csv, column) >= 0)
      dl_warn_at(&cli->diag, dl_csv_path(csv), 0,
                 "--%s has an effect only on rows where column '%s' is empty; "
                 "--set %s=VALUE overrides it",
                 row->name, column, column);
  }
  return DL_OK;
}

/* DL_EUSAGE where --set gives what an option of the other phase does. */
static enum dl_status check_set(const struct dl_job_options *o,
                                const char *phase, struct dl_diag *d) {
  for (const struct dl_option *row = dl_job_options_rows; row->help; row++) {
    const char *name = row->read ? dl_run_columns[row->column].name : "";
    if (row->phase && strcasecmp(row->phase, phase) != 0 &&
        dl_value_in(&o->overrides, name))
      return dl_fail(d, DL_EUSAGE,
                     "--set %s has no effect here: it is for --phase %s", name,
                     row->phase);
  }
  return DL_OK;
}

enum dl_status dl_job_options_check(struct dl_cli *cli,
                                    const struct dl_job_options *o,
                                    const char *methods) {
  if (!o->has_table)
    DL_TRY(check_set(o, phase_of(o), &cli->diag));
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    char why[64];
    snprintf(why, sizeof why, "here: it is for --phase %s", row->phase);
    if (row->phase && !o->has_table && strcasecmp(row->phase, phase_of(o)) != 0)
      return dl_cli_refuse(cli, row->name, why);
    if (row->methods && strcmp(methods, "all") != 0 &&
        !any_method(row->methods, methods))
      dl_warn(&cli->diag, "--%s has no effect on --method %s", row->name,
              methods);
  }
  return DL_OK;
}

void dl_add_setting(struct dl_text *to, const char *name) {
  const struct dl_run_column *c = dl_run_column_find(name);
  const struct dl_option *row = dl_job_options_rows;
  for (; c && row->help; row++)
    if (row->name && row->read && row->column == (int)c->id) {
      dl_text_printf(to, "--%s", row->name);
      return;
    }
  enum dl_kind kind;
  if (c || dl_field_of(name, &kind))
    dl_text_printf(to, "--set %s=VALUE", name);
  else
    dl_text_add(to, name);
}
