/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/cpu_inference.h"

#include <math.h>
#include <string.h>

#include "catalog/architecture/token_costs.h"
#include "estimate/methods/methods.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/cpu/cpu_tokens.h"
#include "physics/cpu/package_power.h"
#include "physics/fit_row.h"
#include "physics/rows/inputs.h"
#include "quantities/gguf.h"
#include "run/setup/training_setup.h"

/* Tuned software takes down to 1 / 2.5 of the time of a plain framework: the
 * interval of a run whose software is not given widens by that. */
#define SOFTWARE_DOUBT 0.6

/* Networks that the fit has not seen differ more in TensorFlow and ONNX Runtime
 * than in other software, whose errors gave most of the interval. */
#define NETWORK_DOUBT 0.5

/* The half-width by which the logarithm of the time is less known than the fit
 * says. */
static double software_doubt(const struct dl_run *run,
                             const struct dl_prediction *time) {
  enum dl_cpu_software software = dl_cpu_software_of(run);
  bool seen =
      time->novelty == DL_HELD_OUT_CONFIG || time->novelty == DL_HELD_OUT_GPU;
  if (!dl_cpu_software_given(run))
    return SOFTWARE_DOUBT;
  return !seen && (software == DL_CPU_TENSORFLOW ||
                   software == DL_CPU_ONNXRUNTIME)
             ? NETWORK_DOUBT
             : 0;
}

/* Whether the network of a job writes tokens one by one. */
static bool writes(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  return arch && dl_is_language_model(arch) && !isnan(arch->kv_cache_per_token);
}

bool dl_passes_on_cpu(const struct dl_job *job) {
  return dl_run_is_inference(job->run) && dl_is_cpu(job->found.gpu) &&
         !writes(job) && !dl_generator(job);
}

bool dl_writes_on_cpu(const struct dl_job *job) {
  return dl_run_is_inference(job->run) && dl_is_cpu(job->found.gpu) &&
         writes(job);
}

const char *dl_cpu_lacks(const struct dl_job *job) {
  switch (job->run->precision) {
  case DL_PRECISION_FP64:
  case DL_PRECISION_FP8:
  case DL_PRECISION_FP4:
    return "measured runs of that precision on CPUs";
  default:
    return NULL;
  }
}

/* Below a power limit clock and voltage fall together, so that what a package
 * draws beside its idle power falls with the third power of the clock. At the
 * lowest clock some of it is left. */
#define LEAST_LEFT 0.03

struct dl_package dl_package_of(const struct dl_job *job) {
  const struct dl_package_kind *kind = dl_package_kind_of(job->found.gpu);
  double limit = dl_or(job->run->power_limit_w, INFINITY);
  struct dl_package p = {.idle_w =
                             dl_or(job->idle_w, DL_PACKAGE_IDLE * job->tdp_w),
                         .doubt = kind->doubt};
  double share = dl_cores_share(job->run, job->found.gpu);
  double dynamic = share * (kind->full * job->tdp_w - p.idle_w);
  double left = fmin(dynamic, fmax(limit - p.idle_w, LEAST_LEFT * dynamic));
  p.power_w = p.idle_w + left;
  p.clock = cbrt(left / dynamic);
  return p;
}

/* No rate is above the peak at the highest clock of all cores. */
static void hold_clock(const struct dl_accelerator *cpu,
                       const struct dl_cpu_inputs *in,
                       struct dl_cpu_cost *cost) {
  double least =
      2 * in->macs *
      ((1 - in->depthwise) / in->matrix + in->depthwise / in->vector) /
      dl_cpu_most_clock(cpu);
  double more = fmax(least - cost->time_s, 0);
  cost->compute_s += more;
  cost->time_s += more;
}

void dl_cpu_round(const struct dl_hierarchical_fit *fit,
                  const struct dl_job *job, const void *inputs, double batch,
                  struct dl_serving_cost *r) {
  struct dl_cpu_inputs in = *(const struct dl_cpu_inputs *)inputs;
  struct dl_package package = dl_package_of(job);
  struct dl_cpu_cost cost;
  struct dl_fit_row row;
  double sockets = job->run->n_gpus, busy = fmin(sockets, batch);
  double *const rates[] = {&in.matrix, &in.vector, &in.vector_bytes,
                           &in.bandwidth, &in.streams};
  for (size_t i = 0; i < DL_LENGTH(rates); i++)
    *rates[i] *= busy / sockets;
  in.batch = batch / busy;
  in.matrix *= package.clock;
  in.vector *= package.clock;
  in.vector_bytes *= package.clock;
  dl_fit_row_make(&row, fit, &in);
  dl_cpu_cost_of(row.fit->c, row.fx, &in, &cost);
  hold_clock(job->found.gpu, &in, &cost);
  *r = (struct dl_serving_cost){
      .time_s = batch * cost.time_s,
      .prefill_s = batch * cost.time_s,
      .prefill_j = batch * cost.time_s *
                   (busy * package.power_w + (sockets - busy) * package.idle_w),
      .power_w = package.power_w,
      .memory_s = batch * cost.memory_s,
      .compute_s = batch * (cost.compute_s + cost.elements_s),
      .layers_s = batch * cost.layers_s,
      .static_w = package.idle_w,
      .bound = strcmp(cost.bound, "elements") == 0 ? "compute" : cost.bound,
  };
}

static void set_bounds(struct dl_interval *x, double low, double high) {
  x->low = x->x * exp(-low);
  x->high = x->x * exp(high);
}

void dl_cpu_interval(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *p,
                     struct dl_estimate *est) {
  const struct dl_prediction *time = &p->of[DL_CPU_TIME];
  struct dl_package package = dl_package_of(job);
  double doubt = package.doubt * ctx->of_90;
  double more = software_doubt(job->run, time) * ctx->of_90;
  double low = hypot(log(time->value / time->low), more);
  double high = hypot(log(time->high / time->value), more);
  est->model = ctx->fit[DL_CPU_TIME].model;
  set_bounds(&est->power_w, doubt, doubt);
  set_bounds(&est->energy_j, hypot(low, doubt), hypot(high, doubt));
  est->software_matters = !dl_cpu_software_given(job->run);
  dl_note_interval(est, ctx->fit[DL_CPU_TIME].fit, time);
  if (p->served.idle_s > 0 || job->run->request_rate > 0)
    return;
  set_bounds(&est->duration_s, low, high);
}

void dl_cpu_training_power(const struct dl_engine *ctx,
                           const struct dl_job *job, struct dl_estimate *est) {
  struct dl_package package = dl_package_of(job);
  double doubt = package.doubt * ctx->of_90;
  if (isnan(est->energy_j.x) || isnan(est->duration_s.x))
    return;
  double low = dl_or(log(est->duration_s.x / est->duration_s.low), 0);
  double high = dl_or(log(est->duration_s.high / est->duration_s.x), 0);
  double busy = isnan(est->busy_share) ? 1 : est->busy_share;
  est->boundary = "gpu";
  est->memory_w = 0;
  est->power_w.x =
      job->run->n_gpus * (busy * package.power_w + (1 - busy) * package.idle_w);
  set_bounds(&est->power_w, doubt, doubt);
  est->energy_j.x = est->power_w.x * est->duration_s.x;
  set_bounds(&est->energy_j, hypot(low, doubt), hypot(high, doubt));
}

/* --- language models */

/* Packages that wait for memory draw this share of what arithmetic adds to
 * their idle power. */
#define ANSWER_POWER 0.8

/* Shares of the FP32 peak that prompts reach in 8 and 16 bits, as GGUF types
 * do (gguf.h), relative to it without dot products of 8 bits, and of the tiles'
 * peak in tuned software. */
#define RATE_OF_8_BITS 0.96
#define RATE_OF_16_BITS 0.5
#define WITHOUT_DOT_PRODUCTS 0.55
#define TILE_RATE 0.3
#define LEAST_DOT_PRODUCTS 3 /* times the rate of FP32 */

static double prompt_rate(const struct dl_job *job) {
  const struct dl_accelerator *cpu = job->found.gpu;
  enum dl_precision p = job->run->precision;
  double fp32 = cpu->peak_fp32_tflops, rate = RATE_OF_16_BITS;
  double tiles = dl_or(cpu->peak_bf16_tensor_tflops, 0) / fp32;
  if (dl_is_gguf(p))
    rate = dl_gguf_rate(p);
  else if (p == DL_PRECISION_INT8)
    rate = RATE_OF_8_BITS;
  bool dots = cpu->peak_int8_tops > LEAST_DOT_PRODUCTS * fp32 || tiles > 0;
  if (!dots)
    rate *= WITHOUT_DOT_PRODUCTS;
  bool tuned = dl_cpu_software_given(job->run) &&
               dl_cpu_software_of(job->run) == DL_CPU_TUNED;
  return tuned ? fmax(rate, TILE_RATE * tiles) : rate;
}

/* Mean tokens that a token of an answer attends to. */
static double attended(const struct dl_serving_inputs *in, double tokens) {
  return (1 - in->windowed) * tokens + in->windowed * fmin(tokens, in->window);
}

static void tokens_of(const struct dl_job *job,
                      const struct dl_serving_inputs *in, double batch,
                      struct dl_cpu_tokens *t) {
  const struct dl_accelerator *cpu = job->found.gpu;
  double sockets = job->run->n_gpus;
  double share = dl_cores_share(job->run, cpu);
  double picked = in->experts > 0 ? -expm1(batch * log1p(-in->share)) : 0;
  double context = attended(in, in->prompt + in->answer / 2);
  *t = (struct dl_cpu_tokens){
      .batch = batch,
      .prompt = in->prompt,
      .answer = in->answer,
      .weights_b = in->weight_bytes * (in->weights + picked * in->experts),
      .kept_b = in->kept_bytes * context * in->kept,
      .step_macs = in->token_weights + in->pair_macs * context,
      .prompt_macs =
          in->encode_macs > 0
              ? in->encode_macs
              : in->prompt * (in->token_weights +
                              in->pair_macs * attended(in, in->prompt / 2)),
      .layers = in->layers,
      .peak = 1e12 * cpu->peak_fp32_tflops * sockets * share *
              dl_package_of(job).clock,
      .prompt_rate = prompt_rate(job),
      .bandwidth = in->bandwidth * sockets,
      .cores_bandwidth =
          cpu->multiprocessors * sockets * share * dl_core_bandwidth(cpu),
      .sockets = sockets,
      .cores = cpu->multiprocessors * sockets * share,
      .client = dl_is_client_cpu(cpu),
      .plain = dl_cpu_software_given(job->run) &&
               dl_cpu_software_of(job->run) == DL_CPU_PYTORCH};
}

void dl_cpu_tokens_round(const struct dl_job *job,
                         const struct dl_serving_inputs *in, double batch,
                         struct dl_serving_cost *r) {
  struct dl_package package = dl_package_of(job);
  struct dl_cpu_tokens t;
  struct dl_cpu_tokens_cost c;
  double sockets = job->run->n_gpus;
  tokens_of(job, in, batch, &t);
  dl_cpu_tokens_of(&t, &c);
  double answers_s = c.memory_s + c.compute_s + c.layers_s;
  double answers_w =
      package.idle_w + ANSWER_POWER * (package.power_w - package.idle_w);
  *r = (struct dl_serving_cost){
      .time_s = c.prompts_s + answers_s,
      .prefill_s = c.prompts_s,
      .decode_s = answers_s,
      .prefill_j = c.prompts_s * sockets * package.power_w,
      .decode_j = answers_s * sockets * answers_w,
      .memory_s = c.memory_s,
      .compute_s = c.compute_s,
      .layers_s = c.layers_s,
      .power_w = answers_w,
      .static_w = package.idle_w,
      .bound = c.layers_s > c.memory_s + c.compute_s ? "layers" : "memory"};
  if (c.prompts_s > answers_s)
    r->bound = "prompts";
  else if (c.compute_s > fmax(c.memory_s, c.layers_s))
    r->bound = "compute";
}

void dl_cpu_tokens_interval(const struct dl_engine *ctx,
                            const struct dl_job *job, const struct dl_served *s,
                            struct dl_estimate *est) {
  const struct dl_cpu_tokens t = {.client = dl_is_client_cpu(job->found.gpu)};
  double power = dl_package_of(job).doubt * ctx->of_90;
  double answer = dl_cpu_answer_doubt(&t) * ctx->of_90;
  double prompt = DL_CPU_PROMPT_DOUBT * ctx->of_90;
  double busy_s = s->prefill_s + s->decode_s;
  double low =
      -log((s->prefill_s * exp(-prompt) + s->decode_s * exp(-answer)) / busy_s);
  double high =
      log((s->prefill_s * exp(prompt) + s->decode_s * exp(answer)) / busy_s);
  double busy_j = s->prefill_j + s->decode_j;
  est->energy_j.low = est->energy_j.x + busy_j * expm1(-hypot(low, power));
  est->energy_j.high = est->energy_j.x + busy_j * expm1(hypot(high, power));
  set_bounds(&est->power_w, power, power);
  if (s->idle_s > 0 || job->run->request_rate > 0)
    return;
  set_bounds(&est->duration_s, low, high);
}
