/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/job_rules.h"

#include <math.h>
#include <string.h>

#include "catalog/architecture/scaling.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/sample_kinds.h"
#include "catalog/processors.h"
#include "quantities/gguf.h"
#include "run/run.h"
#include "run/setup/training_setup.h"

/* A data set must hold what the network takes, unless all that it gives is
 * known without it: the sizes of training and validation, or tokens. */
static bool breaks_data(const struct dl_row *row, const struct dl_dataset *data,
                        struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  bool sized = dl_run_set_has(&row->given, DL_RUN_train_samples);
  if (!data || !arch || dl_run_is_inference(&row->run) ||
      !isnan(row->run.tokens) ||
      (sized && dl_run_set_has(&row->given, DL_RUN_val_samples)))
    return false;
  enum dl_samples holds = dl_samples_of_dataset(data);
  enum dl_samples takes = dl_samples_of_network(arch);
  char word[DL_WORD_SIZE];
  const char *size =
      takes == DL_SAMPLES_TEXT ? "train_tokens" : "train_samples";
  if (sized)
    size = "val_samples";
  return holds != takes && holds != DL_SAMPLES_UNKNOWN &&
         takes != DL_SAMPLES_UNKNOWN &&
         dl_rule_message(
             to,
             "data set '%s' holds %s, and '%s' takes %s; give another data "
             "set or %s",
             data->head.id, dl_samples_word(holds), arch->head.id,
             dl_samples_word(takes), dl_column_word(to, size, word));
}

/* An image must be one that the layers take, and whose work is known. */
static bool breaks_image(const struct dl_row *row,
                         struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  double px = row->run.image_px;
  if (!arch || isnan(px) || dl_run_set_has(&row->given, DL_RUN_macs_g))
    return false;
  double least = dl_smallest_image(arch);
  if (px < least)
    return dl_rule_message(
        to,
        "{image_px} %g is too small for the layers of '%s'; give at "
        "least %g",
        px, arch->head.id, least);
  bool unscaled = arch->recount || arch->scaling == DL_SCALING_NONE;
  return !arch->transformer && row->found.scaled && unscaled &&
         dl_rule_message(
             to,
             "{image_px} %g: the work of '%s' is known at %g px alone; leave "
             "{image_px} out",
             px, arch->head.id, arch->inputs[0].image_px);
}

/* Laptops, computers on a module and computers of one chip have one
 * accelerator. */
static bool is_built_in(const struct dl_accelerator *gpu) {
  static const char shared[] = "lpddr"; /* with the processor */
  return dl_is_word(gpu->form, "soc") || dl_is_word(gpu->form, "soldered") ||
         (dl_is_word(gpu->form, "module") && gpu->memory_type &&
          strncmp(gpu->memory_type, shared, sizeof shared - 1) == 0);
}

static bool breaks_machine(const struct dl_row *row,
                           struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_accelerator *gpu = row->found.gpu;
  return gpu && r->n_gpus > 1 && !(r->gpus_per_node <= 1) && is_built_in(gpu) &&
         dl_rule_message(
             to,
             "{n_gpus} %g: '%s' is built into its machine, which has one; "
             "for %g machines give {gpus_per_node} 1",
             r->n_gpus, gpu->head.id, r->n_gpus);
}

/* Engines and servers of inference train nothing, and the servers write
 * tokens. */
static bool breaks_server(const struct dl_row *row,
                          struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  enum dl_software stack = dl_stack_of(&row->run);
  bool server = stack == DL_SOFTWARE_VLLM;
  if (!dl_run_is_inference(&row->run))
    return (server || stack == DL_SOFTWARE_TENSORRT) &&
           dl_rule_message(to,
                           "{stack} %s is for inference; use transformers, "
                           "eager, tuned, compiled, ngc or mlperf",
                           dl_software_words[stack]);
  bool writes = !arch || (dl_is_language_model(arch) && !dl_encodes(arch));
  return server && !writes &&
         dl_rule_message(to,
                         "{stack} vllm is for models that write tokens, and "
                         "'%s' does not; use eager, transformers, compiled or "
                         "tensorrt",
                         arch->head.id);
}

/* Language models have plain software and tuned trainers, images eager mode. */
static bool breaks_trainer(const struct dl_row *row,
                           struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  enum dl_software stack = dl_stack_of(&row->run);
  if (!arch || dl_run_is_inference(&row->run))
    return false;
  bool language = dl_is_language_model(arch);
  if (language && stack == DL_SOFTWARE_EAGER)
    return dl_rule_message(
        to, "{stack} eager: use transformers for plain Transformers or PyTorch "
            "without fused kernels, tuned for a trainer with fused attention "
            "and FSDP (llm-foundry, torchtitan)");
  return !language && stack == DL_SOFTWARE_TUNED &&
         dl_rule_message(to,
                         "{stack} tuned is for language models, and '%s' is "
                         "none; use eager, compiled, ngc or mlperf",
                         arch->head.id);
}

/* A known duration has all of a run in it; its start-up is a part of it that
 * counts where the work is known, and the power is not. */
static bool breaks_startup(const struct dl_row *row,
                           struct dl_message_style *to) {
  const struct dl_run *r = &row->run;
  const struct dl_run_set *given = &row->given;
  bool counts =
      dl_says_work(row) && !dl_run_is_inference(r) && isnan(r->gpu_power_w);
  bool starts = dl_run_set_has(given, DL_RUN_startup_s) && r->startup_s > 0;
  bool beside = dl_run_set_has(given, DL_RUN_overhead) && r->overhead > 0;
  const char *name = beside ? "overhead" : "startup_s";
  char word[DL_WORD_SIZE];
  if (!dl_run_set_has(given, DL_RUN_duration_s))
    return false;
  if (starts && counts && r->startup_s >= r->duration_s)
    return dl_rule_message(to,
                           "{startup_s} is %g s, but {duration_s}, which has "
                           "it in it, %g s; correct one of them",
                           r->startup_s, r->duration_s);
  if (r->idle_tail_s > 0)
    name = "idle_tail_s";
  return ((starts && !counts) || beside || r->idle_tail_s > 0) &&
         dl_rule_message(
             to,
             "%s does not go with a known duration, which has it in it; "
             "leave one out",
             dl_column_word(to, name, word));
}

/* More cores than the CPUs have. */
static bool breaks_cores(const struct dl_row *row,
                         struct dl_message_style *to) {
  const struct dl_accelerator *cpu = row->found.gpu;
  double n = row->run.n_gpus;
  double all = cpu ? cpu->multiprocessors * n : (double)NAN;
  return dl_is_cpu(cpu) && row->run.cpu_cores > all &&
         dl_rule_message(to,
                         "{cpu_cores} %g: %g x '%s' have %g; give no more, or "
                         "more sockets",
                         row->run.cpu_cores, n, cpu->head.id, all);
}

/* CPUs train in BF16, which PyTorch takes on them for mixed precision, where
 * they have it, else in FP32, and have no TF32, FP8 or FP4. */
static bool breaks_cpu_precision(const struct dl_row *row,
                                 struct dl_message_style *to) {
  const struct dl_accelerator *cpu = row->found.gpu;
  enum dl_precision p = row->run.precision;
  bool in_bf16 = p == DL_PRECISION_AMP || p == DL_PRECISION_BF16;
  bool none = p == DL_PRECISION_TF32 || p == DL_PRECISION_FP8 ||
              p == DL_PRECISION_FP4;
  bool foreign = none || p == DL_PRECISION_FP16;
  if (!dl_is_cpu(cpu) || (dl_run_is_inference(&row->run) && !none))
    return false;
  if (in_bf16 && isnan(cpu->peak_bf16_tflops) &&
      isnan(cpu->peak_bf16_tensor_tflops))
    return dl_rule_message(to,
                           "{precision} %s: '%s' has no BF16, in which CPUs "
                           "train with 16 bits; give fp32",
                           dl_precision_words[p], cpu->head.id);
  return foreign && dl_rule_message(to,
                                    "{precision} %s is for GPUs, and '%s' is "
                                    "a CPU; give fp32 or bf16",
                                    dl_precision_words[p], cpu->head.id);
}

/* Sockets share layers and requests by their memory. */
static bool breaks_cpu(const struct dl_row *row, struct dl_message_style *to) {
  const struct dl_accelerator *cpu = row->found.gpu;
  const struct dl_run *r = &row->run;
  const struct dl_named_number parts[] = {
      {"tensor_parallel", r->tensor_parallel},
      {"pipeline_parallel", r->pipeline_parallel},
      {"expert_parallel", r->expert_parallel},
      {"context_parallel", r->context_parallel},
      {"replicas", r->replicas},
      {"gpu_clock_mhz", r->gpu_clock_mhz}};
  const char *name = NULL;
  char word[DL_WORD_SIZE];
  if (!dl_is_cpu(cpu))
    return false;
  for (size_t i = 0; i < DL_LENGTH(parts) && !name; i++)
    if (parts[i].x > 1 &&
        dl_run_set_has(&row->given, dl_run_column_find(parts[i].name)->id))
      name = parts[i].name;
  return name && dl_rule_message(to,
                                 "%s is for GPUs, and '%s' is a CPU; leave it "
                                 "out",
                                 dl_column_word(to, name, word), cpu->head.id);
}

static bool has_avx512(const struct dl_accelerator *cpu) {
  static const char *const without[] = {
      "haswell",    "broadwell",   "kaby-lake",   "coffee-lake",   "comet-lake",
      "alder-lake", "raptor-lake", "meteor-lake", "sierra-forest", "lunar-lake",
      "arrow-lake", "zen",         "zen2",        "zen3"};
  for (size_t i = 0; i < DL_LENGTH(without); i++)
    if (dl_is_word(cpu->family, without[i]))
      return false;
  return true;
}

/* Instruction sets are of CPUs, which have them or not. */
static bool breaks_isa(const struct dl_row *row, struct dl_message_style *to) {
  const struct dl_accelerator *cpu = row->found.gpu;
  enum dl_isa isa = row->run.isa;
  if (isa == DL_ISA_UNKNOWN || !cpu)
    return false;
  if (!dl_is_cpu(cpu))
    return dl_rule_message(to,
                           "{isa} is for CPUs, and '%s' is none; leave it "
                           "out",
                           cpu->head.id);
  static const char *const vendors[] = {"intel", "amd"};
  bool x86 = false;
  for (size_t i = 0; i < DL_LENGTH(vendors); i++)
    x86 |= dl_is_word(cpu->vendor, vendors[i]);
  const bool has[] = {[DL_ISA_AVX2] = x86,
                      [DL_ISA_AVX512] = x86 && has_avx512(cpu),
                      [DL_ISA_VNNI] = x86 && cpu->peak_int8_tops >
                                                 3 * cpu->peak_fp32_tflops,
                      [DL_ISA_BF16] = x86 && !isnan(cpu->peak_bf16_tflops),
                      [DL_ISA_AMX] = !isnan(cpu->peak_int8_tensor_tops)};
  return !has[isa] && dl_rule_message(to,
                                      "{isa} %s: '%s' does not have it; leave "
                                      "it out for what it has",
                                      dl_isa_words[isa], cpu->head.id);
}

/* Weights of a few bits are for models that write tokens, and do not learn. */
static bool breaks_gguf(const struct dl_row *row, struct dl_message_style *to) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_run *r = &row->run;
  bool serves = dl_run_is_inference(r) && arch && dl_is_language_model(arch) &&
                !isnan(arch->kv_cache_per_token);
  return dl_is_gguf(r->precision) && arch && !serves &&
         dl_rule_message(to,
                         "{precision} %s is a format of weights for inference "
                         "of language models that write tokens; give another",
                         dl_precision_words[r->precision]);
}

bool dl_dataset_check(const struct dl_row *row, const struct dl_dataset *data,
                      struct dl_message_style *to) {
  return breaks_data(row, data, to) || breaks_image(row, to) ||
         breaks_machine(row, to) || breaks_trainer(row, to) ||
         breaks_server(row, to) || breaks_startup(row, to) ||
         breaks_cores(row, to) || breaks_cpu_precision(row, to) ||
         breaks_cpu(row, to) || breaks_isa(row, to) || breaks_gguf(row, to);
}
