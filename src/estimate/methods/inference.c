/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/inference.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "estimate/methods/cpu_inference.h"
#include "estimate/conditioning/lowered_clock.h"
#include "estimate/methods/input_bound.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/plain_software.h"
#include "estimate/methods/work.h"
#include "estimate/node/serving_groups.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/fit_row.h"
#include "physics/serving/serving_cost.h"
#include "physics/training/training_inputs.h"
#include "physics/tuned/tuned_cost.h"
#include "run/setup/training_setup.h"

/* Share of the TDP that an idle GPU draws if nothing is known of it: the prior
 * of the physical method. */
#define AWAKE_SHARE 0.15

/* Time of a pass outside of training, relative to one of the three of a
 * training step, for arithmetic and traffic (docs/lab/inference.md): nothing is
 * kept for a backward pass, and normalisations read once. Dense layers in FP32
 * reach the peak rate at most: fast algorithms save products of convolutions.
 */
#define WITHOUT_TRAINING 0.75

/* Share of a server's time on the host that an engine without one takes:
 * published speeds of TensorRT-LLM. docs/lab/inference.md. */
#define TUNED_HOST 0.25

struct problem {
  const struct dl_bound_fit *fit;
  const struct dl_job *job;
  struct dl_predictor_row at;
  bool tokens, on_cpu;
  bool plain;                      /* by plain software */
  bool tuned;                      /* forward passes by tuned software */
  bool waits;                      /* a GPU without images has had some */
  const struct problem *framework; /* whose passes engines are no slower than */
};

/* Takes off the time that a tuned engine saves on the host, while GPUs draw
 * static power. */
static void tune_host(double gpus, struct dl_serving_cost *r) {
  double less = (1 - TUNED_HOST) * r->host_s;
  r->time_s -= less;
  r->host_s -= less;
  r->decode_s -= less;
  r->decode_j -= less * gpus * r->static_w;
}

/* Copies of the model divide the requests; those without one wait. */
static void served_round(const struct problem *p, double batch,
                         struct dl_serving_cost *r) {
  struct dl_serving_inputs in =
      *(const struct dl_serving_inputs *)&p->at.inputs;
  struct dl_fit_row row;
  double all = in.replicas * in.n_gpus, copies = fmin(in.replicas, batch);
  in.batch = batch / copies;
  if (dl_works_in_turn(p->job))
    in.n_gpus = 1;
  if (p->plain) {
    in.batch *= in.beams; /* each beam reads the prompt */
    in.beams = 1;
  }
  dl_fit_row_make(&row, p->fit->fit->state, &in);
  dl_serving_cost_of(row.fit->c, row.fx, &in, r);
  if (dl_runs_engine(p->job->run))
    tune_host(in.n_gpus, r);
  r->prefill_j *= copies;
  r->decode_j *= copies;
  if (p->plain)
    dl_add_plain_host(p->job, 0, copies, r);
  double waiting_w = (all - copies * in.n_gpus) * r->static_w;
  r->prefill_j += waiting_w * r->prefill_s;
  r->decode_j += waiting_w * r->decode_s;
}

/* Adds a pass on one GPU, so many times, at its idle power or more. */
static void add_pass(const struct problem *p, double times,
                     const struct dl_serving_cost *pass,
                     struct dl_serving_cost *r) {
  double idle_w = dl_or(p->job->idle_w, 0);
  if (times * pass->time_s > r->time_s)
    r->bound = pass->bound;
  r->static_w = fmax(pass->static_w, idle_w);
  r->time_s += times * pass->time_s;
  r->prefill_s += times * pass->time_s;
  r->prefill_j += times * fmax(pass->prefill_j, idle_w * pass->time_s);
  r->memory_s += times * pass->memory_s;
  r->compute_s += times * pass->compute_s;
  r->layers_s += times * pass->layers_s;
  r->host_s += times * pass->host_s;
}

/* Adds such passes in eager mode, at the highest rate of arithmetic at most. */
static void add_passes(const struct problem *p, double times,
                       const struct dl_training_inputs *in,
                       struct dl_serving_cost *r) {
  struct dl_physical_parts e;
  struct dl_fit_row row;
  dl_fit_row_make(&row, p->fit->fit->state, in);
  dl_training_parts_of(&row, &e);
  double least_s =
      dl_work_least_pass_s(p->job, in->batch * in->flops / WITHOUT_TRAINING);
  double by = fmax(least_s / e.time_s, 1), more_s = (by - 1) * e.time_s;
  const struct dl_serving_cost pass = {.time_s = e.time_s + more_s,
                                       .prefill_j = by * e.gpu_energy_j,
                                       .memory_s = e.memory_s,
                                       .compute_s = e.compute_s + more_s,
                                       .layers_s = e.kernels_s,
                                       .host_s = e.launch_s,
                                       .static_w = e.static_w,
                                       .bound = e.bound};
  add_pass(p, times, &pass, r);
}

/* The networks of a pipeline beside the one that denoises. */
static void add_pipeline(const struct problem *p, double images,
                         struct dl_training_inputs *in,
                         struct dl_serving_cost *r) {
  const struct dl_architecture *arch = p->job->found.arch;
  double share =
      arch->pipeline_traffic_m / (arch->acts_m * dl_traffic_ratio(arch));
  in->batch = in->val = images;
  in->flops = in->other_flops = WITHOUT_TRAINING * 2e9 * arch->pipeline_macs_g;
  in->depthwise = 0;
  in->bytes *= dl_or(share, 0);
  in->between *= dl_or(share, 0);
  in->kernels = dl_or(arch->pipeline_launches, 0);
  add_passes(p, 1, in, r);
}

/* Adds such passes by tuned software. */
static void add_tuned_passes(const struct problem *p, double times,
                             const struct dl_tuned_inputs *in,
                             struct dl_serving_cost *r) {
  struct dl_tuned_cost e;
  struct dl_fit_row row;
  dl_fit_row_make(&row, p->fit->fit->state, in);
  dl_tuned_cost_of(row.fit->c, row.fx, in, &e);
  const struct dl_serving_cost pass = {.time_s = e.time_s,
                                       .prefill_j = e.power_w * e.time_s,
                                       .memory_s = e.memory_s,
                                       .compute_s = e.compute_s,
                                       .layers_s = e.kernels_s,
                                       .static_w = e.static_w,
                                       .bound = e.bound};
  add_pass(p, times, &pass, r);
}

/* Does as forward_pass for tuned software. A pipeline's other networks write as
 * much for an operation as the one that denoises. */
static void tuned_pass(const struct problem *p, double images,
                       struct dl_serving_cost *r) {
  const struct dl_architecture *generator = dl_generator(p->job);
  struct dl_tuned_inputs in = *(const struct dl_tuned_inputs *)&p->at.inputs;
  in.batch = images * dl_passes_per_step(p->job);
  in.n_gpus = 1;
  add_tuned_passes(p, dl_denoising_steps(p->job), &in, r);
  if (!generator || !(generator->pipeline_macs_g > 0))
    return;
  double share = 2e9 * generator->pipeline_macs_g / in.flops;
  in.batch = images;
  in.flops *= share;
  in.bytes *= share;
  in.weights *= dl_or(generator->pipeline_params_m / generator->params_m, 0);
  in.kernels = dl_or(generator->pipeline_launches, 0);
  add_tuned_passes(p, 1, &in, r);
}

static void forward_pass(const struct problem *p, double images,
                         struct dl_serving_cost *r);

/* Takes the pass by a framework of this stack where it is faster: engines
 * choose among kernels that include its own. The fit of tuned software has
 * networks in 8 bits of which parts were computed in 16, and estimates them too
 * slow in 16 bits alone. */
static void take_faster(const struct problem *p, double images,
                        struct dl_serving_cost *r) {
  struct dl_serving_cost other;
  if (!p->framework)
    return;
  forward_pass(p->framework, images, &other);
  if (other.time_s < r->time_s)
    *r = other;
}

/* The forward passes of a batch on one GPU, as such a round. */
static void forward_pass(const struct problem *p, double images,
                         struct dl_serving_cost *r) {
  const struct dl_architecture *generator = dl_generator(p->job);
  const struct dl_hierarchical_fit *fit = p->fit->fit->state;
  *r = (struct dl_serving_cost){0};
  if (p->tuned) {
    tuned_pass(p, images, r);
    take_faster(p, images, r);
    return;
  }
  struct dl_training_inputs in =
      *(const struct dl_training_inputs *)&p->at.inputs;
  in.batch = in.val = images * dl_passes_per_step(p->job);
  in.flops *= WITHOUT_TRAINING;
  in.other_flops *= WITHOUT_TRAINING;
  in.depthwise *= WITHOUT_TRAINING;
  in.bytes *= WITHOUT_TRAINING;
  in.between *= WITHOUT_TRAINING;
  if (dl_work_is_plain_dense(p->job) && in.in_tensor == 0 &&
      in.stack == DL_STACK_EAGER)
    in.peak *= fmin(WITHOUT_TRAINING / fit->c[DL_TRAIN_EC], 1);
  in.n_gpus = 1; /* each passes its own part */
  in.train = in.frozen = 0;
  in.mid_run = 1;
  add_passes(p, dl_denoising_steps(p->job), &in, r);
  if (generator && generator->pipeline_macs_g > 0)
    add_pipeline(p, images, &in, r);
  if (p->plain)
    dl_add_plain_host(p->job, images, 1, r);
}

/* The batches of all GPUs. No image is divided: some GPUs may have one more
 * than others, which wait, or idle if they had none; on average at a rate. */
static void forward_passes(const struct problem *p, double batch,
                           struct dl_serving_cost *r) {
  double n = p->job->run->n_gpus, each = floor(batch / n);
  double more = batch - each * n, busy = more > 0 ? more : n, time_s;
  double images = more > 0 ? each + 1 : each;
  struct dl_serving_cost less;
  if (p->job->run->request_rate > 0) {
    busy = fmin(n, batch);
    images = batch / busy;
    each = 0;
  }
  forward_pass(p, images, r);
  time_s = r->time_s;
  double idle_w = dl_or(p->job->idle_w, AWAKE_SHARE * p->job->tdp_w);
  double others_j = (p->waits ? r->static_w : idle_w) * time_s;
  if (each > 0 && more > 0) {
    forward_pass(p, each, &less);
    others_j = less.prefill_j + r->static_w * (time_s - less.time_s);
  }
  r->prefill_j = busy * r->prefill_j + (n - busy) * others_j;
  r->plain_j *= busy;
  r->static_w = idle_w;
}

static void round_of(const struct problem *p, double batch,
                     struct dl_serving_cost *r) {
  if (p->tokens && p->on_cpu)
    dl_cpu_tokens_round(p->job, (const void *)&p->at.inputs, batch, r);
  else if (p->tokens)
    served_round(p, batch, r);
  else if (p->on_cpu)
    dl_cpu_round(p->fit->fit->state, p->job, &p->at.inputs, batch, r);
  else
    forward_passes(p, batch, r);
  dl_lower_clock_of_round(p->job, r);
  r->input_s = 0;
  if (!p->tokens)
    dl_add_input(p->job, batch, r);
}

/* The least batch from 1 to `most` that serves `rate` requests a second; 0:
 * none does. Time grows slower than the batch. */
static double keeps_up(const struct problem *p, double rate, double most) {
  struct dl_serving_cost r;
  double low = 1, high = most;
  round_of(p, 1, &r);
  if (1 / r.time_s >= rate)
    return 1;
  round_of(p, most, &r);
  if (most / r.time_s < rate)
    return 0;
  while (high / low > 1.0001) {
    double middle = sqrt(low * high);
    round_of(p, middle, &r);
    if (middle / r.time_s < rate)
      low = middle;
    else
      high = middle;
  }
  return high;
}

bool dl_infers_tuned(const struct dl_job *job) {
  const struct dl_run *run = job->run;
  const struct dl_architecture *arch = job->found.arch;
  bool served = arch && dl_is_language_model(arch) && !dl_encodes(arch);
  bool few_bits = run->precision == DL_PRECISION_INT8 ||
                  run->precision == DL_PRECISION_FP8 ||
                  run->precision == DL_PRECISION_FP4;
  if (!dl_run_is_inference(run) || served || dl_passes_on_cpu(job) ||
      run->precision == DL_PRECISION_FP64)
    return false;
  return dl_runs_engine(run) || dl_stack_of(run) == DL_SOFTWARE_TUNED ||
         (few_bits && !run->stack);
}

/* Names what a forward pass, which has no training samples, lacks; or NULL. */
static const char *lacks_of_pass(const struct dl_training_inputs *in) {
  bool rates = in->peak > 0 && (in->plain > 0 || !(in->depthwise > 0));
  if (!(in->bandwidth > 0))
    return "gpu.bandwidth_gb_s";
  if (!rates)
    return "gpu.peak_fp32_tflops";
  if (!(in->tdp > 0))
    return "gpu.tdp_w";
  if (!isfinite(in->flops))
    return "macs_g";
  return !isfinite(in->batch) ? "batch_size" : NULL;
}

/* Names what forward passes lack; or NULL. */
static const char *lacks_of_passes(const struct problem *p) {
  const char *lacks = p->tuned ? p->at.lacks : dl_unlearnt_precision(p->job);
  if (lacks || p->tuned)
    return lacks;
  return lacks_of_pass((const void *)&p->at.inputs);
}

/* The features at hand; false, and what is missing in s->lacks. */
static bool set_up(struct problem *p, const struct dl_engine *ctx,
                   const struct dl_job *job, struct dl_served *s) {
  const struct dl_architecture *arch = job->found.arch;
  bool language = arch && dl_is_language_model(arch);
  p->tokens = language && !dl_encodes(arch);
  p->tuned = s->tuned = dl_infers_tuned(job);
  enum dl_fit_of other = p->tuned ? DL_TUNED_TIME : DL_PHYSICAL_EPOCH;
  p->fit = &ctx->fit[p->tokens ? DL_SERVING_EPOCH : other];
  p->job = job;
  p->plain = dl_is_plain(job) && !dl_is_cpu(job->found.gpu);
  s->tokens = p->tokens;
  p->on_cpu = dl_writes_on_cpu(job) ||
              (dl_passes_on_cpu(job) && ctx->fit[DL_CPU_TIME].p);
  s->on_cpu = p->on_cpu;
  if (p->on_cpu && !p->tokens)
    p->fit = &ctx->fit[DL_CPU_TIME];
  if (!p->fit->p) {
    s->lacks = "a model of inference";
    return false;
  }
  if (isnan(job->run->requests)) {
    s->lacks = "requests";
    return false;
  }
  dl_predictor_take(p->fit->p, job->row, &p->at);
  if ((p->tokens || p->on_cpu) && p->at.lacks) {
    s->lacks = p->at.lacks;
    return false;
  }
  if (p->on_cpu)
    s->lacks = dl_cpu_lacks(job);
  if (s->lacks || (p->on_cpu && !p->tokens))
    return !s->lacks;
  if (!p->tokens) {
    s->lacks = lacks_of_passes(p);
    return !s->lacks;
  }
  if (!(job->run->prompt_tokens + job->run->output_tokens > 0)) {
    s->lacks = "prompt_tokens";
    return false;
  }
  return true;
}

/* The passes of *p by a framework; false where these have no estimate, as in
 * fewer than 16 bits. */
static bool set_up_framework(struct problem *p, const struct dl_engine *ctx) {
  p->tuned = false;
  p->fit = &ctx->fit[DL_PHYSICAL_EPOCH];
  if (!p->fit->p)
    return false;
  dl_predictor_take(p->fit->p, p->job->row, &p->at);
  return !lacks_of_passes(p);
}

static void add_idle(struct dl_served *s, const struct dl_job *job,
                     double rounds, double static_w) {
  double busy_s = s->prefill_s + s->decode_s;
  s->idle_assumed = isnan(job->idle_w);
  s->idle_w = s->idle_assumed ? static_w : job->idle_w;
  s->idle_s = 0;
  if (job->run->request_rate > 0 && !(s->batch > 1))
    s->idle_s = fmax(s->requests / job->run->request_rate - busy_s, 0);
  else if (job->run->idle_s > 0)
    s->idle_s = rounds * job->run->idle_s;
  s->idle_j = s->idle_s * s->idle_w * job->run->n_gpus;
  s->time_s = busy_s + s->idle_s;
}

static void add_round(struct dl_served *s, double times,
                      const struct dl_serving_cost *r) {
  s->prefill_s += times * r->prefill_s;
  s->decode_s += times * r->decode_s;
  s->prefill_j += times * r->prefill_j;
  s->decode_j += times * r->decode_j;
  s->memory_s += times * r->memory_s;
  s->compute_s += times * r->compute_s;
  s->layers_s += times * r->layers_s;
  s->exchange_s += times * r->exchange_s;
  s->host_s += times * r->host_s;
  s->input_s += times * r->input_s;
  s->plain_s += times * r->plain_s;
  s->plain_j += times * r->plain_j;
}

/* Adds whole rounds of images, the last with the images that are left. Requests
 * at a rate are so many on average, and a server of language models takes the
 * next request when one is done. Returns how many rounds; *r is a full one. */
static double add_rounds(struct problem *p, struct dl_served *s,
                         struct dl_serving_cost *r) {
  bool on_average = p->tokens || p->job->run->request_rate > 0;
  double left = on_average ? 0 : fmod(s->requests, s->batch);
  double rounds = (s->requests - left) / s->batch;
  struct dl_serving_cost last;
  round_of(p, s->batch, r);
  s->latency_s = r->time_s;
  s->most_a_second = s->batch / r->time_s;
  s->bound = r->bound;
  add_round(s, rounds, r);
  if (!(left > 0))
    return rounds;
  p->waits = true;
  round_of(p, left, &last);
  add_round(s, 1, &last);
  return rounds + 1;
}

/* The time that plain software would add to requests that it may serve. */
static void add_doubt(const struct problem *p, double rounds,
                      const struct dl_serving_cost *round,
                      struct dl_served *s) {
  struct dl_serving_cost r = *round;
  if (!p->tokens || p->on_cpu || !dl_may_be_plain(p->job))
    return;
  dl_add_plain_host(p->job, 0, p->job->run->n_gpus, &r);
  s->maybe_s = rounds * r.plain_s;
  s->maybe_j = rounds * r.plain_j;
}

/* No board draws more than its limit or less than when idle, although a fit may
 * expect so of boards unlike its own. */
static void keep_limits(struct dl_served *s, const struct dl_job *job) {
  if (s->on_cpu)
    return;
  double n = job->run->n_gpus, idle = n * dl_or(job->idle_w, 0);
  double limit = n * dl_or(job->run->power_limit_w, job->tdp_w);
  double power = (s->prefill_j + s->decode_j) / (s->prefill_s + s->decode_s);
  double kept = fmin(fmax(power, idle), limit);
  if (!(power > 0) || isnan(limit))
    return;
  s->prefill_j *= kept / power;
  s->decode_j *= kept / power;
}

void dl_infer(const struct dl_engine *ctx, const struct dl_job *job,
              struct dl_served *s) {
  struct problem p = {0};
  struct dl_serving_cost r;
  *s = (struct dl_served){
      .time_s = NAN, .most_a_second = NAN, .requests = job->run->requests};
  if (!dl_run_is_inference(job->run) || !set_up(&p, ctx, job, s))
    return;
  struct problem framework = p;
  if (p.tuned && set_up_framework(&framework, ctx))
    p.framework = &framework;
  double most = p.tokens ? dl_served_at_once(job)
                         : job->run->batch_size * job->run->n_gpus;
  double batch = fmin(most, job->run->requests);
  if (job->run->request_rate > 0)
    batch = keeps_up(&p, job->run->request_rate, most);
  s->too_slow = job->run->request_rate > 0 && !(batch > 0);
  if (!(batch > 0)) {
    bool largest = !dl_run_set_has(&job->row->given, DL_RUN_batch_size) &&
                   job->run->batch_size < DL_USUAL_BATCH;
    s->lacks = largest
                   ? "a lower --request-rate or more GPUs: no larger batch fits"
                   : "a lower --request-rate, a larger --batch-size or more "
                     "GPUs";
    return;
  }
  s->batch = batch;
  double rounds = add_rounds(&p, s, &r);
  if (job->run->request_rate > 0) { /* they could be served faster */
    struct dl_serving_cost full;
    round_of(&p, most, &full);
    s->most_a_second = fmax(s->most_a_second, most / full.time_s);
  }
  add_doubt(&p, rounds, &r, s);
  keep_limits(s, job);
  s->static_w = r.static_w;
  s->power_w = (s->prefill_j + s->decode_j) / (s->prefill_s + s->decode_s) /
               job->run->n_gpus;
  add_idle(s, job, rounds, r.static_w);
}
