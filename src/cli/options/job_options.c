/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a job, what follows from them, and which of them have an effect.
 */

#include "cli/options/job_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/constants.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/command.h"
#include "cli/options/setting_readers.h"
#include "run/run_columns.h"

#define SETTING(id)                                                            \
  .kind = DL_OPTION_READ, .read = dl_read_setting, .column = DL_RUN_##id
#define NUMBER_OF(id) SETTING(id), .whole = true
#define SWEEPS .sweeps = true
#define KNOWN(id)                                                              \
  .kind = DL_OPTION_READ, .read = dl_read_known, .column = DL_RUN_##id,        \
  .phase = "training", .methods = DL_TIMED_METHODS

const struct dl_option dl_job_options_rows[] = {
    DL_HEADING("What is run:", 1),
    {"arch", 'a', "NAME",
     "architecture: a name (dlest list archs), your own file, or the shape "
     "of a transformer (transformer:layers=32,hidden=4096,heads=32,...)",
     SETTING(arch), SWEEPS, .reads = true},
    {"gpu", 'g', "NAME",
     "accelerator: a name (dlest list gpus) or your own file", SETTING(gpu),
     SWEEPS, .reads = true},
    {"gpus", 'n', "N", "number of accelerators (default 1)", NUMBER_OF(n_gpus),
     SWEEPS},
    {"batch-size", 'b', "N",
     "samples per step on each accelerator (default 256)",
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
     "tokens that a language model is trained on in total (300e9)",
     NUMBER_OF(tokens), .phase = "training",
     .methods = "physical|pre-epoch|pre-power|flops"},
    {"train-tokens", 0, "N",
     "tokens of a language model's data set, for --epochs (default 1)",
     NUMBER_OF(train_tokens), .phase = "training"},
    {"classes", 0, "N",
     "outputs of the classifier (default: the architecture's own)",
     NUMBER_OF(classes)},
    {"fine-tune", 0, "WHAT",
     "weights that are trained: full (default), head (the classifier alone), "
     "lora:RANK or qlora:RANK",
     .kind = DL_OPTION_READ, .read = dl_read_fine_tune,
     .column = DL_RUN_fine_tune, .phase = "training"},
    {"frozen", 0, NULL, "the same as --fine-tune head", .kind = DL_OPTION_READ,
     .read = dl_read_frozen, .column = DL_RUN_fine_tune},
    {"dataset", 0, "NAME",
     "sizes of a known data set (default imagenet; dlest list datasets)",
     DL_STORE(TEXT, struct dl_job_options, dataset), .phase = "training"},
    {"train-samples", 't', "N", "training samples per epoch",
     NUMBER_OF(train_samples), .low = 1, .phase = "training"},
    {"val-samples", 'v', "N", "validation samples per epoch",
     SETTING(val_samples), .phase = "training"},
    {"epochs", 'e', "N", "epochs of the whole training (default 90)",
     SETTING(epochs), .phase = "training"},
    {"duration", 'd', "TIME",
     "duration of the whole run: hours, or 90m, 3600s, 2h, 3d",
     .kind = DL_OPTION_HOURS, .read = dl_read_setting,
     .column = DL_RUN_duration_s, .methods = DL_TIMED_METHODS},
    {"epoch-time", 0, "TIME", "known time of an epoch: 12m",
     .kind = DL_OPTION_TIME, .read = dl_read_setting, .column = DL_RUN_epoch_s,
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
     "GPU utilization, a share, for green-algorithms (default 1)",
     SETTING(utilisation), .methods = "green-algorithms"},
    {"ram-gb", 'r', "GB",
     "memory of the node, for green-algorithms (default 32)", SETTING(ram_gb),
     .methods = "green-algorithms"},
    {"efficiency", 'E', "SHARE",
     "share of the peak rate that is reached, for flops (default 0.3; training "
     "of language models 0.4)",
     SETTING(efficiency), .methods = "flops"},
    {"precision", 0, "NAME",
     "precision of the arithmetic: fp64, fp32, tf32, fp16, bf16, amp, fp8, "
     "int8 or a synonym (half, mixed, bfloat16, ...)",
     SETTING(precision)},
    {"optimizer", 0, "NAME",
     "adamw (default), sgd, adafactor, adam8bit or another", SETTING(optimizer),
     .phase = "training"},
    {"checkpointing", 0, "KIND",
     "activation checkpointing: none (default), selective or full",
     SETTING(checkpointing), .phase = "training"},
    {"attention", 0, "KIND",
     "attention kernel: flash, or eager, which stores the scores",
     SETTING(attention)},
    {"sharding", 0, "KIND",
     "what data-parallel GPUs divide among them: ddp (default: nothing), zero1 "
     "(optimizer states), zero2 (gradients too), zero3 or fsdp (weights too)",
     SETTING(sharding), .phase = "training"},
    {"tensor-parallel", 0, "N", "GPUs that share each layer (default 1)",
     NUMBER_OF(tensor_parallel), .phase = "training"},
    {"pipeline-parallel", 0, "N", "stages of layers on GPUs (default 1)",
     NUMBER_OF(pipeline_parallel), .phase = "training"},
    {"grad-accum", 0, "N", "batches per optimizer step on each GPU (default 1)",
     NUMBER_OF(grad_accum), .phase = "training"},
    {"global-batch", 0, "N",
     "samples per optimizer step on all GPUs; sets --batch-size or "
     "--grad-accum, whichever is not given",
     NUMBER_OF(global_batch), .phase = "training"},
    {"stack", 0, "NAME",
     "software stack: eager, compiled, ngc, mlperf or another", SETTING(stack)},
    {"network", 0, "X", "Gbit/s per GPU between nodes", SETTING(network_gbps)},
    {"gpus-per-node", 0, "N", "GPUs in a node, which NVLink joins",
     NUMBER_OF(gpus_per_node)},
    {"framework", 0, "NAME",
     "deep-learning framework, for physical: pytorch, tensorflow",
     SETTING(framework), .methods = "physical|pre-epoch|pre-power"},
    {"phase", 0, "NAME", "training (default) or inference", SETTING(phase)},
    {"requests", 0, "N", "inference: requests or samples (default 1)",
     NUMBER_OF(requests), .alias = "samples", .phase = "inference"},
    {"prompt-tokens", 0, "N",
     "inference: prompt tokens per request of a language model",
     NUMBER_OF(prompt_tokens), .phase = "inference"},
    {"output-tokens", 0, "N", "inference: output tokens per request",
     SETTING(output_tokens), .phase = "inference"},
    {"request-rate", 0, "R",
     "inference: requests per second; --batch-size is then the maximum "
     "number at a time (default 256)",
     SETTING(request_rate), .phase = "inference"},
    {"idle-s", 0, "S", "inference: seconds that the GPUs idle after each batch",
     SETTING(idle_s), .phase = "inference", .methods = "physical"},
    {0},
};

#define AT(member) DL_STORE(LIST, struct dl_job_options, member)

const struct dl_option dl_table_options_rows[] = {
    DL_HEADING("Values and columns:", 3),
    {"set", 0, "NAME=VALUE",
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

/* The value of the last "NAME=VALUE" of a list with that name, or NULL. */
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

/* Whether one of "a|b" is among "b,c". */
static bool any_method(const char *names, const char *list) {
  for (; *names; names += strspn(names, "|")) {
    size_t n = strcspn(names, "|");
    for (const char *s = list; *s; s += strcspn(s, ","), s += *s == ',')
      if (strcspn(s, ",") == n && strncmp(s, names, n) == 0)
        return true;
    names += n;
  }
  return false;
}

static const char *phase_of(const struct dl_job_options *o) {
  const char *phase = value_in(&o->overrides, "phase");
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
      dl_csv_find(csv, "phase") >= 0 || value_in(&o->defines, "phase");
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    const char *column =
        row->read == dl_read_setting || row->read == dl_read_known
            ? dl_run_columns[row->column].name
        : strcmp(row->name, "dataset") == 0 ? "train_samples"
                                            : "";
    char why[80];
    snprintf(why, sizeof why, "here: it is for --phase %s", row->phase);
    if (row->phase && !phases && dl_strcasecmp(row->phase, phase_of(o)) != 0)
      return dl_cli_refuse(cli, row->name, why);
    if (*column && dl_csv_find(csv, column) >= 0)
      dl_warn_at(&cli->diag, dl_csv_path(csv), 0,
                 "--%s has an effect only on rows where column '%s' is empty; "
                 "--set %s=VALUE overrides it",
                 row->name, column, column);
  }
  return DL_OK;
}

enum dl_status dl_job_options_check(struct dl_cli *cli,
                                    const struct dl_job_options *o,
                                    const char *methods) {
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *row = cli->given[i].option;
    char why[64];
    snprintf(why, sizeof why, "here: it is for --phase %s", row->phase);
    if (row->phase && !o->has_table &&
        dl_strcasecmp(row->phase, phase_of(o)) != 0)
      return dl_cli_refuse(cli, row->name, why);
    if (row->methods && strcmp(methods, "all") != 0 &&
        !any_method(row->methods, methods))
      dl_warn(&cli->diag, "--%s has no effect on --method %s", row->name,
              methods);
  }
  return DL_OK;
}

/* Requires the size of the training of a language model. */
static enum dl_status check_size(const struct dl_job_options *o, bool inference,
                                 bool language, struct dl_diag *d) {
  static const enum dl_run_id others[] = {DL_RUN_train_samples,
                                          DL_RUN_val_samples, DL_RUN_epochs};
  bool per_epoch = dl_job_options_give(o, DL_RUN_train_tokens);
  if (per_epoch && dl_run_has(&o->run, DL_RUN_train_samples))
    return dl_fail(d, DL_EUSAGE,
                   "--train-tokens and --train-samples exclude each other");
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
  if (!language || o->has_table || o->dataset || inference || per_epoch ||
      dl_job_options_give(o, DL_RUN_train_samples) ||
      dl_job_options_give(o, DL_RUN_duration_s))
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "'%.64s' is a language model; give --tokens N, of the whole "
                 "training, --train-tokens N or --train-samples N",
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

/* Values for what no option gives. */
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

/* Warns of settings that have no effect on the job of the options. */
static void warn_unused(const struct dl_job_options *o, bool language,
                        struct dl_diag *d) {
  static const enum dl_run_id of_sequences[] = {
      DL_RUN_seq_len, DL_RUN_prompt_tokens, DL_RUN_output_tokens,
      DL_RUN_train_tokens, DL_RUN_attention};
  static const enum dl_run_id of_several[] = {
      DL_RUN_scaling,       DL_RUN_sharding,        DL_RUN_network_gbps,
      DL_RUN_gpus_per_node, DL_RUN_tensor_parallel, DL_RUN_pipeline_parallel};
  const struct dl_run *run = &o->run;
  bool one = isnan(run->n_gpus) || run->n_gpus <= 1;
  if (language && dl_run_has(run, DL_RUN_image_px))
    dl_warn(d, "image_px has no effect on '%.64s', a language model", o->arch);
  for (size_t i = 0; o->arch && !o->sequences && i < DL_LENGTH(of_sequences);
       i++)
    if (dl_run_has(run, of_sequences[i]))
      dl_warn(d, "%s has no effect on '%.64s', which takes no sequences",
              dl_run_columns[of_sequences[i]].name, o->arch);
  one = one && !dl_axes_find(&o->axes, "n_gpus");
  for (size_t i = 0; one && i < DL_LENGTH(of_several); i++)
    if (dl_run_has(run, of_several[i]))
      dl_warn(d, "%s has no effect on one accelerator",
              dl_run_columns[of_several[i]].name);
  for (size_t i = 0; i < o->aliases.n && o->axes.n == 0; i++) {
    const char *alias = o->aliases.s[i];
    size_t n = strcspn(alias, "=");
    const char *const names[] = {run->arch, run->gpu};
    bool used = false;
    for (size_t k = 0; k < 2; k++)
      used |= names[k] && strlen(names[k]) == n &&
              dl_strncasecmp(names[k], alias, n) == 0;
    if (!used)
      dl_warn(d, "--alias %.*s: nothing uses this name", (int)n, alias);
  }
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
  if (status == DL_OK && language)
    dl_settle_throughput(o);
  if (status == DL_OK && defaults && !o->has_table)
    warn_unused(o, language, d);
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
