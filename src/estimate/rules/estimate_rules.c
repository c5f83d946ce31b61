/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/rules/estimate_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/conditioning/known.h"
#include "estimate/conditioning/lowered_clock.h"
#include "estimate/methods/work.h"
#include "estimate/node/memory_remedy.h"
#include "estimate/node/parallel.h"
#include "estimate/node/activations.h"
#include "estimate/node/peak_memory.h"
#include "estimate/rules/unused_settings.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

/* Appends a message, unless `say` is NULL; true, so that a broken rule can
 * return it. */
#define SAY(say, ...)                                                          \
  ((say) ? (dl_text_printf((say), __VA_ARGS__), true) : true)

/* --- requests */

/* A batch that the user gives without the number of requests, and that the
 * default number does not fill. Requests that come at a rate wait for each
 * other whatever their number is. */
static bool unfilled_batch(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_run_set *given = &r->job.row->given;
  const struct dl_architecture *arch = r->job.found.arch;
  const char *of = arch && dl_is_language_model(arch) ? "request" : "sample";
  return dl_run_is_inference(run) && dl_run_set_has(given, DL_RUN_batch_size) &&
         !dl_run_set_has(given, DL_RUN_requests) && !(run->request_rate > 0) &&
         run->batch_size > run->requests &&
         SAY(say,
             "one %s, the default, does not fill a batch of %g; give --%ss", of,
             run->batch_size, of);
}

/* A duration of inference without the work that it is of. */
static bool endless_work(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run_set *given = &r->job.row->given;
  const struct dl_run *run = r->job.run;
  return dl_run_is_inference(run) && dl_run_set_has(given, DL_RUN_duration_s) &&
         !dl_run_set_has(given, DL_RUN_requests) &&
         !dl_run_set_has(given, DL_RUN_samples_per_s) &&
         !(run->request_rate > 0) &&
         SAY(say, "full batches are taken to fill --duration, and a figure per "
                  "sample has no meaning; give --samples or --throughput");
}

/* Attention heads that the GPUs which serve them do not divide. */
static bool undivided_heads(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_architecture *arch = r->job.found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  double n = dl_or(run->tensor_parallel, run->n_gpus);
  return dl_run_is_inference(run) && t && dl_transformer_writes(t) && n > 1 &&
         fmod(t->heads, n) > 0 &&
         SAY(say,
             "%g GPUs do not divide the %g attention heads of '%s': servers "
             "refuse that; use another number, or copies of it side by side",
             n, t->heads, arch->head.id);
}

/* A known duration of inference that is not the estimate's. */
static bool unused_duration(const struct dl_result *r, struct dl_text *say) {
  const struct dl_estimate *best = dl_result_best(r);
  (void)say;
  return dl_run_is_inference(r->job.run) && best &&
         fabs(best->duration_s.x / r->job.run->duration_s - 1) > 0.01;
}

/* --- size */

/* Returns the most tokens of one sequence, as published; 0: unknown, or any
 * number (ALiBi). */
static double most_tokens(const struct dl_transformer *t) {
  return t->positions > 0 ? t->positions : t->context;
}

/* Returns the tokens of a sequence: of a language model that is served, prompt
 * and output. */
static double tokens_of(const struct dl_job *job) {
  const struct dl_run *r = job->run;
  double served = r->prompt_tokens + dl_or(r->output_tokens, 0);
  return dl_run_is_inference(r) ? dl_or(served, job->seq_len) : job->seq_len;
}

/* Sequences longer than the learned positions, or else the published context.
 */
static bool long_sequences(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_architecture *arch = r->job.found.arch;
  const struct dl_transformer *t = arch ? arch->transformer : NULL;
  bool one_stack = t && (t->kind == DL_TF_DECODER || t->kind == DL_TF_ENCODER);
  if (!one_stack || !(most_tokens(t) > 0) ||
      !(tokens_of(&r->job) > most_tokens(t)))
    return false;
  const char *of = dl_run_is_inference(run) && !isnan(run->prompt_tokens)
                       ? "prompt and output tokens of a request,"
                       : "--seq-len";
  const char *limit = t->positions > 0 ? "learned positions of"
                                       : "tokens of context published for";
  return SAY(say,
             "%s %.10g is more than the %.10g %s '%s': as published it takes "
             "no longer sequences",
             of, tokens_of(&r->job), most_tokens(t), limit, arch->head.id);
}

/* Appends how many samples fit in place of the batch. */
static void say_fits(const struct dl_job *job, const struct dl_memory_need *m,
                     bool split, struct dl_text *to) {
  double n = job->run->n_gpus;
  bool shared = n > 1 && m->shared;
  char need[DL_NUMBER_SIZE];
  if (m->model_gb > m->has_gb)
    dl_text_printf(to, "%s GB without any sample",
                   dl_format_digits(need, m->model_gb, 3));
  else if (m->fits > 0) {
    const char *where = n > 1 && !split && !shared ? " on each GPU" : "";
    dl_text_printf(to, "about %g fits%s", split ? m->fits * n : m->fits, where);
  } else
    dl_text_add(to, "not even one sample fits");
}

/* A batch that exceeds the GPU's memory. */
static bool over_memory(const struct dl_result *r, struct dl_text *say) {
  const struct dl_job *job = &r->job;
  struct dl_memory_need m;
  dl_memory_of(job, &m);
  if (!m.over || !say)
    return m.over;
  bool split = job->run->scaling == DL_SCALE_STRONG && job->run->n_gpus > 1;
  char need[DL_NUMBER_SIZE], has[DL_NUMBER_SIZE];
  DL_TEXT(remedy);
  dl_text_printf(say, "batch of %g", split ? job->run->batch_size : m.batch);
  if (split)
    dl_text_printf(say, " (%g on each GPU)", m.batch);
  dl_text_printf(
      say,
      " needs about %s GB, more than the %s GB that programs can use "
      "of %s; ",
      dl_format_digits(need, m.need_gb, 3), dl_format_digits(has, m.has_gb, 3),
      job->found.gpu->head.id);
  say_fits(job, &m, split, say);
  if (!dl_is_cpu(job->found.gpu) && dl_memory_remedy(job, &remedy))
    dl_text_printf(say, "; %s", dl_text_str(&remedy));
  return true;
}

/* A step on several GPUs, or of several batches, that takes more samples than
 * an epoch has and so is never full. Language models: training_setup.h. */
static bool step_over_epoch(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_architecture *arch = r->job.found.arch;
  double batches = dl_or(run->grad_accum, 1);
  double step = dl_micro_batch(run) * run->n_gpus * batches;
  char samples[DL_NUMBER_SIZE], all[DL_NUMBER_SIZE];
  return (run->n_gpus > 1 || batches > 1) && !dl_run_is_inference(run) &&
         !(arch && dl_is_language_model(arch)) && step > run->train_samples &&
         SAY(say,
             "a step on all GPUs takes %s samples, more than the %s of an "
             "epoch; use fewer GPUs, or a smaller --batch-size or --grad-accum",
             dl_format_short(samples, step),
             dl_format_short(all, run->train_samples));
}

/* Stages of a pipeline that wait for its micro-batches (Narayanan et al., arXiv
 * 2104.04473) for more than a third of a step. */
static bool pipeline_bubble(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_architecture *arch = r->job.found.arch;
  double batches = dl_or(run->grad_accum, 1);
  double bubble = 1 - batches / dl_pipeline_rounds(
                                    batches, dl_or(run->pipeline_parallel, 1),
                                    dl_or(run->virtual_stages, 1));
  return arch && dl_is_language_model(arch) && !dl_run_is_inference(run) &&
         bubble > 1.0 / 3 &&
         SAY(say,
             "%g micro-batches for %g pipeline stages: stages wait for %.0f %% "
             "of a step; use a larger --global-batch or --grad-accum, more "
             "--virtual-stages or fewer stages",
             batches, run->pipeline_parallel, 100 * bubble);
}

/* Whether a number of tokens, which is the whole training, is given beside
 * epochs or samples that make another. */
static bool other_tokens(const struct dl_result *of, struct dl_text *say) {
  const struct dl_job *job = &of->job;
  (void)say;
  const struct dl_run_set *given = &job->row->given;
  const struct dl_run *r = job->run;
  double epoch = NAN;
  if (dl_run_set_has(given, DL_RUN_train_tokens))
    epoch = r->train_tokens;
  else if (dl_run_set_has(given, DL_RUN_train_samples))
    epoch = r->train_samples * job->seq_len;
  if (!dl_run_set_has(given, DL_RUN_tokens) ||
      (isnan(epoch) && !dl_run_set_has(given, DL_RUN_epochs)))
    return false;
  return isnan(epoch) ? r->epochs > 1
                      : fabs(log(r->tokens / (epoch * r->epochs))) > 0.1;
}

/* --- known values */

/* A power that waiting GPUs may draw, which thus says little about the time.
 * Their power is uncertain by one factor either way. */
static bool idle_power(const struct dl_result *r, struct dl_text *say) {
  const struct dl_known *known = &r->job.known;
  double n = r->job.run->n_gpus;
  double factor = known->static_w / known->least_static_w;
  return isnan(known->run_s) && known->power_w < known->static_w * factor &&
         SAY(say,
             "--gpu-power %g W may be of %g waiting GPU%s, about %.3g W: the "
             "time is hardly known; give --duration or --gpu-util",
             known->power_w, n, n > 1 ? "s" : "", known->static_w);
}

/* Known values far from what the fit expects: of 2,042 measured speeds and
 * powers 2 are off by more than 5 standard deviations, none by 6. */
static bool misfit(const struct dl_result *r, struct dl_text *say) {
  return r->job.known.misfit > 6 &&
         SAY(say,
             "what is known is %.0f standard deviations from what the fit "
             "expects, however long GPUs wait; check times, --gpu-util, "
             "--gpu-power and the size of the training",
             r->job.known.misfit);
}

/* A known time faster than the precision that is assumed allows. */
static bool over_assumed_peak(const struct dl_result *r, struct dl_text *say) {
  double needs, most;
  return dl_known_beats_assumed(&r->job, &needs, &most) &&
         SAY(say,
             "the known time needs %.3g TFLOP/s, more than the %.3g of %s, "
             "which is assumed; give --precision",
             needs, most, dl_precision_words[r->job.run->precision]);
}

/* --- input */

static bool loader_assumed(const struct dl_result *r, struct dl_text *say) {
  const struct dl_estimate *best = dl_result_best(r);
  return best && best->loader_assumed &&
         SAY(say,
             "bound by the input of %g loader processes per GPU, which are "
             "assumed; give --loader-workers, or --loader synthetic if the "
             "input keeps up",
             best->loader_workers);
}

/* A training faster than its described loader by more than twice the half-width
 * of its 90 % interval. */
static bool loader_outpaced(const struct dl_result *r, struct dl_text *say) {
  const struct dl_estimate *best = dl_result_best(r);
  char trained[DL_NUMBER_SIZE], loaded[DL_NUMBER_SIZE];
  return best &&
         best->samples_per_s >
             best->loader_rate * exp(2 * best->loader_doubt) &&
         SAY(say,
             "by what is known %s samples/s are trained on, far more than the "
             "%s of the loader; check --loader-workers and what is known",
             dl_format_digits(trained, best->samples_per_s, 3),
             dl_format_digits(loaded, best->loader_rate, 3));
}

/* --- hardware and network */

/* An unknown link between several accelerators. The sockets of a node are
 * joined by its board. */
static bool unknown_link(const struct dl_result *r, struct dl_text *say) {
  const struct dl_run *run = r->job.run;
  const struct dl_accelerator *gpu = r->job.found.gpu;
  return run->n_gpus > 1 && !(run->gpus_per_node <= 1) && gpu &&
         isnan(gpu->link_gb_s) && !dl_is_word(gpu->form, "socket") &&
         SAY(say,
             "the link between several '%s' is not known: PCIe 3.0 x16 is "
             "assumed, %g GB/s; give --set gpu.link_gb_s=VALUE",
             gpu->head.id, DL_PCIE_3_X16_GB_S);
}

/* A locked clock that no estimate depends on: of a CPU, of a GPU whose boost
 * clock is not known, or not below it. */
static bool unused_clock(const struct dl_result *r, struct dl_text *say) {
  const struct dl_job *job = &r->job;
  const struct dl_accelerator *gpu = job->found.gpu;
  if (!(job->run->gpu_clock_mhz > 0) || !isnan(dl_relative_clock(job)))
    return false;
  if (gpu && !dl_is_cpu(gpu) && !isnan(gpu->boost_mhz))
    return SAY(say,
               "--gpu-clock %g has no effect: '%s' boosts to %g MHz, not "
               "more; give a lower clock",
               job->run->gpu_clock_mhz, gpu->head.id, gpu->boost_mhz);
  return SAY(say,
             "--gpu-clock %g has no effect: no boost clock of a GPU is known; "
             "give --set gpu.boost_mhz=VALUE",
             job->run->gpu_clock_mhz);
}

/* A limit above the TDP, which networks for images do not reach, but in tuned
 * software. */
static bool raised_limit(const struct dl_result *r, struct dl_text *say) {
  const struct dl_job *job = &r->job;
  const struct dl_architecture *arch = job->found.arch;
  const struct dl_served *served = &r->predictions.served;
  bool tuned =
      dl_run_is_inference(job->run) && (served->tuned || served->on_cpu);
  bool reaches = tuned || (arch && dl_is_language_model(arch));
  return dl_run_set_has(&job->row->given, DL_RUN_power_limit_w) && !reaches &&
         job->run->power_limit_w > job->tdp_w &&
         SAY(say,
             "--power-limit %g has no effect above the TDP of %g W: "
             "networks for images draw no more; give --set gpu.tdp_w=VALUE for "
             "another board",
             job->run->power_limit_w, job->tdp_w);
}

/* A precision for which the accelerator has no peak rate. */
static bool lacks_rate(const struct dl_result *r, struct dl_text *say) {
  const struct dl_job *job = &r->job;
  const char *used, *rate;
  if (r->predictions.served.on_cpu) {
    const struct dl_accelerator *cpu = job->found.gpu;
    return !r->predictions.served.tokens && dl_is_16_bit(job->run->precision) &&
           isnan(cpu->peak_bf16_tflops) &&
           isnan(cpu->peak_bf16_tensor_tflops) &&
           SAY(say, "%s computes 16-bit formats in FP32, whose rate is used",
               cpu->head.id);
  }
  if (isnan(dl_work_peak_tflops(job)))
    return false;
  rate = dl_work_lacks_rate(job, &used);
  if (!rate || (dl_is_cpu(job->found.gpu) && strcmp(used, "FP32") != 0))
    return false; /* CPUs multiply 8 and 16 bits without matrix units too */
  if (job->run->precision == DL_PRECISION_BF16)
    return SAY(say,
               "%s has no BF16 arithmetic: frameworks emulate it, and its %s "
               "peak of %.3g TFLOP/s is used; --precision fp16 needs no "
               "emulation",
               job->found.gpu->head.id, used, dl_work_peak_tflops(job));
  return SAY(say,
             "%s has no %s rate for --precision %s: its %s peak of %.3g "
             "TFLOP/s is used instead",
             job->found.gpu->head.id, rate,
             dl_precision_words[job->run->precision], used,
             dl_work_peak_tflops(job));
}

/* Cores where no CPU works. */
static bool unused_cores(const struct dl_result *r, struct dl_text *say) {
  return !isnan(r->job.run->cpu_cores) && !dl_is_cpu(r->job.found.gpu) &&
         SAY(say, "--cores has an effect on CPUs alone");
}

/* A classifier to be replaced whose size is unknown. */
static bool unknown_classes(const struct dl_result *r, struct dl_text *say) {
  const struct dl_architecture *arch = r->job.found.arch;
  return arch && isnan(arch->head_inputs) && !isnan(r->job.run->classes) &&
         dl_pixel_classes(arch) == 0 &&
         SAY(say,
             "the classifier of '%s' is not known: --classes changes no count",
             arch->head.id);
}

/* A classifier to be trained alone whose size is unknown. */
static bool unknown_head(const struct dl_result *r, struct dl_text *say) {
  const struct dl_architecture *arch = r->job.found.arch;
  return arch && isnan(arch->head_inputs) && r->job.run->frozen_base > 0 &&
         SAY(say,
             "the classifier of '%s' is not known: its training counts nothing",
             arch->head.id);
}

const struct dl_estimate_rule dl_estimate_rules[DL_N_ESTIMATE_RULES] = {
    {"unknown_classes", unknown_classes, NULL, NULL},
    {"unknown_head", unknown_head, NULL, NULL},
    {"unused_cores", unused_cores, NULL,
     "cpu_cores has an effect on CPUs alone"},
    {"unfilled_batch", unfilled_batch, NULL,
     "one request, the default, does not fill batch_size; give requests"},
    {"endless_work", endless_work, NULL,
     "full batches are taken to fill duration_s; give requests or "
     "samples_per_s"},
    {"undivided_heads", undivided_heads, NULL,
     "the GPUs do not divide the network's attention heads: servers refuse "
     "that"},
    {"unused_duration", unused_duration,
     "--duration has no effect on this estimate; for GPUs that idle give "
     "--request-rate or --idle-s",
     "duration_s has no effect on an estimate of inference; for GPUs that idle "
     "give request_rate or idle_s"},
    {"long_sequences", long_sequences, NULL,
     "seq_len, or prompt_tokens with output_tokens, is more than the "
     "network's learned positions or published context"},
    {"over_memory", over_memory, NULL,
     "the batch needs more than the GPU's memory (memory_need_gb)"},
    {"step_over_epoch", step_over_epoch, NULL,
     "a step on all GPUs takes more samples than an epoch has"},
    {"pipeline_bubble", pipeline_bubble, NULL,
     "stages of a pipeline wait for more than a third of a step (grad_accum)"},
    {"other_tokens", other_tokens, NULL,
     "tokens is the whole training, all epochs, and not what its samples and "
     "epochs make; give tokens per epoch in a column train_tokens"},
    {"idle_power", idle_power, NULL,
     "gpu_power_w may be of waiting GPUs: the time is hardly known; give "
     "duration_s or gpu_util"},
    {"misfit", misfit, NULL,
     "what is known of the training is more than 6 standard deviations from "
     "what the fit expects; check times, gpu_util, gpu_power_w and sizes"},
    {"over_assumed_peak", over_assumed_peak, NULL,
     "the known time needs more than the peak rate of the precision that is "
     "assumed; give a column precision"},
    {"loader_assumed", loader_assumed, NULL,
     "bound by the input of loader processes that are assumed; give "
     "loader_workers, or the loader synthetic if the input keeps up"},
    {"loader_outpaced", loader_outpaced, NULL,
     "what is known makes the training far faster than the described loader; "
     "check loader_workers"},
    {"unknown_link", unknown_link, NULL,
     "the link between the GPUs is not known: PCIe 3.0 x16 is assumed "
     "(gpu.link_gb_s)"},
    {"other_phase", dl_has_other_phase, NULL,
     "columns of the other phase have no effect (training: epochs, "
     "train_samples; inference: requests, prompt_tokens)"},
    {"unused_settings", dl_has_unused_settings, NULL, NULL},
    {"unused_clock", unused_clock, NULL,
     "gpu_clock_mhz has no effect at or above the boost clock, and on CPUs"},
    {"raised_limit", raised_limit, NULL,
     "power_limit_w has no effect above the TDP on networks for images; give "
     "gpu.tdp_w for another board"},
    {"lacks_rate", lacks_rate, NULL,
     "the GPU has no tensor rate for the precision; its next best peak is used "
     "instead"}};

void dl_estimate_rules_warn(const struct dl_result *r, bool answered,
                            struct dl_diag *d) {
  for (size_t i = 0; i < DL_N_ESTIMATE_RULES; i++) {
    const struct dl_estimate_rule *rule = &dl_estimate_rules[i];
    DL_TEXT(say);
    if ((answered && rule->broken == loader_assumed) || !rule->broken(r, &say))
      continue;
    if (rule->one || say.len > 0)
      dl_warn(d, "%s", rule->one ? rule->one : dl_text_str(&say));
  }
}

void dl_estimate_rules_count(const struct dl_result *r,
                             size_t n[DL_N_ESTIMATE_RULES]) {
  for (size_t i = 0; i < DL_N_ESTIMATE_RULES; i++)
    if (dl_estimate_rules[i].many)
      n[i] += dl_estimate_rules[i].broken(r, NULL);
}

void dl_estimate_rules_warn_many(const size_t n[DL_N_ESTIMATE_RULES],
                                 const char *path, struct dl_diag *d) {
  for (size_t i = 0; i < DL_N_ESTIMATE_RULES; i++)
    if (n[i] > 0)
      dl_warn_at(d, path, 0, "%zu row%s: %s", n[i], n[i] == 1 ? "" : "s",
                 dl_estimate_rules[i].many);
}
