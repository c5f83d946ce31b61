/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known values of a training, and contradictions between them. */

#include "estimate/conditioning/known.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "catalog/architecture/token_costs.h"
#include "estimate/job.h"
#include "estimate/methods/work.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/cpu/package_power.h"
#include "run/setup/training_setup.h"

/* Values that were measured or rounded on their own agree within this. */
#define TOLERANCE 0.1

/* Meters are off. */
#define UNDER_IDLE 0.8

bool dl_known_words(const char *words, unsigned *known) {
  static const struct dl_named_bits table[] = {{"none", 0},
                                               {"duration", DL_KNOW_DURATION},
                                               {"time", DL_KNOW_TIME},
                                               {"gpu_util", DL_KNOW_UTIL},
                                               {"gpu_power", DL_KNOW_POWER}};
  *known = 0;
  for (const char *s = words;; s++) {
    size_t n = strcspn(s, ","), k = 0;
    while (k < DL_LENGTH(table) &&
           (strlen(table[k].name) != n || strncmp(table[k].name, s, n) != 0))
      k++;
    if (k == DL_LENGTH(table))
      return false;
    *known |= table[k].bits;
    s += n;
    if (!*s)
      return true;
  }
}

static bool gives(const struct dl_job *job, enum dl_run_id id) {
  return dl_run_set_has(&job->row->given, id);
}

/* A forward pass of validation is a third of the work of a training step, or
 * all of it where the backbone is frozen. */
static double samples_of(const struct dl_job *job) {
  double val = dl_or(job->val_samples, 0);
  bool head = dl_fine_tune_of(job->run) == DL_TUNE_HEAD;
  return (job->train_samples + val / (head ? 1 : 3)) * job->epochs;
}

/* Samples per second by each of the columns that say it; NaN. */
enum { RATES = 3 };
static const enum dl_run_id rate_ids[RATES] = {
    DL_RUN_samples_per_s, DL_RUN_tokens_per_s, DL_RUN_step_s};

static double rate_of(const struct dl_job *job, size_t i) {
  const struct dl_run *run = job->run;
  double accum = dl_or(run->grad_accum, 1);
  if (!gives(job, rate_ids[i]))
    return NAN;
  if (rate_ids[i] == DL_RUN_samples_per_s)
    return run->samples_per_s;
  if (rate_ids[i] == DL_RUN_tokens_per_s)
    return run->tokens_per_s / job->seq_len;
  return dl_global_batch(run) / accum / run->step_s;
}

/* The first known, and its column. */
static double any_rate(const struct dl_job *job, enum dl_run_id *id) {
  for (size_t i = 0; i < RATES; i++)
    if (rate_of(job, i) > 0) {
      *id = rate_ids[i];
      return rate_of(job, i);
    }
  return NAN;
}

static double epochs_s(const struct dl_job *job) {
  const struct dl_run *run = job->run;
  if (!gives(job, DL_RUN_epoch_s) || !(run->epoch_s > 0))
    return NAN;
  return run->epoch_s * (isnan(run->tokens) ? job->epochs : run->epochs);
}

/* Duration that the user gives of the run as such. */
static double duration_s(const struct dl_job *job) {
  return gives(job, DL_RUN_duration_s) ? job->run->duration_s : (double)NAN;
}

/* A column that counts and says a time, a speed or a utilization of 0, or
 * tokens of a training that has none; or NULL. */
static const char *impossible(const struct dl_job *job, unsigned which) {
  static const struct dl_quantity_of above_0[] = {
      {DL_RUN_duration_s, DL_KNOW_TIME | DL_KNOW_DURATION},
      {DL_RUN_epoch_s, DL_KNOW_TIME},
      {DL_RUN_step_s, DL_KNOW_TIME},
      {DL_RUN_gpu_util, DL_KNOW_UTIL}};
  for (size_t i = 0; i < DL_LENGTH(above_0); i++)
    if ((which & above_0[i].of) && gives(job, above_0[i].id) &&
        !(dl_run_number(job->run, above_0[i].id) > 0))
      return dl_run_columns[above_0[i].id].name;
  for (size_t i = 0; i < RATES && (which & DL_KNOW_TIME); i++)
    if (gives(job, rate_ids[i]) && !(rate_of(job, i) > 0))
      return dl_run_columns[rate_ids[i]].name;
  return NULL;
}

void dl_known_fill(struct dl_job *job, unsigned which) {
  enum dl_run_id id;
  double run = duration_s(job), rate = any_rate(job, &id);
  if (!(which & DL_KNOW_TIME) || dl_run_is_inference(job->run) || !(run > 0) ||
      dl_says_work(job->row))
    return;
  double epochs = job->epochs;
  job->epochs = 1;
  double each = dl_or(epochs_s(job), samples_of(job) / rate);
  job->fills = each > 0 || (isnan(job->train_samples) && rate > 0);
  if (each > 0) {
    job->epochs = run / each;
  } else if (job->fills) {
    job->train_samples = run * rate;
    job->val_samples = 0;
  } else {
    job->epochs = epochs;
  }
}

/* Inference: samples may come at a known speed. */
static void known_of_inference(const struct dl_job *job, unsigned which,
                               struct dl_known *known) {
  const struct dl_run *run = job->run;
  bool rated = (which & DL_KNOW_TIME) && gives(job, DL_RUN_samples_per_s);
  double steps = rated ? run->requests / run->samples_per_s : (double)NAN;
  known->run_s = dl_or(run->duration_s, steps);
  known->steps_s = fmin(dl_or(steps, known->run_s), known->run_s);
  known->of_work = rated || gives(job, DL_RUN_requests);
  if (gives(job, DL_RUN_duration_s) && !(run->duration_s > 0))
    known->impossible = dl_run_columns[DL_RUN_duration_s].name;
  if (gives(job, DL_RUN_tokens_per_s) && (which & DL_KNOW_TIME))
    known->impossible = dl_run_columns[DL_RUN_tokens_per_s].name;
}

void dl_known_of(const struct dl_job *job, unsigned which,
                 struct dl_known *known) {
  enum dl_run_id id;
  bool training = !dl_run_is_inference(job->run), time = which & DL_KNOW_TIME;
  *known = (struct dl_known){.run_s = NAN,
                             .steps_s = NAN,
                             .util = NAN,
                             .power_w = NAN,
                             .misfit = NAN,
                             .static_w = NAN,
                             .least_static_w = NAN,
                             .most_w = NAN};
  if (!training) {
    known_of_inference(job, which, known);
    return;
  }
  known->impossible = impossible(job, which);
  if ((which & DL_KNOW_UTIL) && gives(job, DL_RUN_gpu_util))
    known->util = job->run->gpu_util;
  if ((which & DL_KNOW_POWER) && gives(job, DL_RUN_gpu_power_w))
    known->power_w = job->run->gpu_power_w;
  if (!time) {
    known->run_s = which & DL_KNOW_DURATION ? job->run->duration_s : NAN;
    return;
  }
  double steps = samples_of(job) / any_rate(job, &id), epochs = epochs_s(job);
  known->run_s = dl_or(dl_or(job->run->duration_s, epochs), steps);
  known->steps_s = dl_or(dl_or(steps, epochs), known->run_s);
  known->steps_s = fmin(known->steps_s, known->run_s);
  bool says = !isnan(steps) || !isnan(epochs) || dl_says_work(job->row);
  /* Epochs of a language model have no usual size. */
  const struct dl_architecture *arch = job->found.arch;
  bool sized = samples_of(job) > 0 || !arch || !dl_is_language_model(arch);
  known->of_work = says && sized;
}

/* --- Powers. */

/* Boards with HBM draw this share of the TDP with a context and their clocks
 * up: an H100 120 of 700 W (74 idle), an A100 62 to 64 of 400, a B300 183 of
 * 1100. */
#define CONTEXT_SHARE 0.16

double dl_waiting_w(const struct dl_job *job, double static_w) {
  const struct dl_accelerator *gpu = job->found.gpu;
  bool hbm = gpu && gpu->memory_type && gpu->peak_bf16_tensor_tflops > 0 &&
             strncmp(gpu->memory_type, "hbm", strlen("hbm")) == 0;
  double context = hbm ? CONTEXT_SHARE * dl_or(job->tdp_w, 0) : 0;
  return fmax(static_w, fmax(dl_or(job->idle_w, 0), context));
}

/* The TDP, or the limit above it that boards set for a CPU. */
static double own_limit_w(const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  return dl_is_cpu(gpu) ? dl_package_kind_of(gpu)->most * job->tdp_w
                        : job->tdp_w;
}

double dl_limit_of_all_w(const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  double most = dl_or(job->run->power_limit_w, own_limit_w(job));
  if (dl_is_cpu(job->found.gpu))
    return dl_or(most, INFINITY) * job->run->n_gpus;
  if (!arch || !dl_is_language_model(arch))
    most = fmin(most, job->tdp_w);
  return dl_or(most, INFINITY) * job->run->n_gpus;
}

/* --- Contradictions. */

/* Whether two speeds that are given contradict each other. */
static bool rates_differ(const struct dl_job *job,
                         struct dl_message_style *why) {
  char first[DL_WORD_SIZE], second[DL_WORD_SIZE];
  for (size_t i = 0; i < RATES; i++)
    for (size_t j = i + 1; j < RATES; j++) {
      double a = rate_of(job, i), b = rate_of(job, j);
      if (!(a > 0 && b > 0) || fabs(log(a / b)) <= TOLERANCE)
        continue;
      return dl_rule_message(
          why, "%s is %.4g samples/s, but %s is %.4g samples/s; leave one out",
          dl_column_word(why, dl_run_columns[rate_ids[i]].name, first), a,
          dl_column_word(why, dl_run_columns[rate_ids[j]].name, second), b);
    }
  return false;
}

/* A time that is shorter than a part of it. */
static bool exceeds(double part, double whole, const char *of,
                    const char *column, struct dl_message_style *why) {
  char word[DL_WORD_SIZE];
  const char *times = strcmp(column, "epoch_s") == 0 ? " x epochs" : "";
  return part > whole * (1 + TOLERANCE) &&
         dl_rule_message(
             why, "%s%s is %.6g s, but its %s take %.6g s; leave one out",
             dl_column_word(why, column, word), times, whole, of, part);
}

static bool times_differ(const struct dl_job *job,
                         struct dl_message_style *why) {
  enum dl_run_id id;
  double steps = job->train_samples * job->epochs / any_rate(job, &id);
  double epochs = epochs_s(job), run = duration_s(job);
  return exceeds(epochs, run, "epochs", "duration_s", why) ||
         exceeds(steps, run, "steps", "duration_s", why) ||
         exceeds(steps, epochs, "steps", "epoch_s", why);
}

/* The highest rate that a GPU has at the precision of a run, or in any, FLOP/s;
 * NaN. */
static double rate_at(const struct dl_job *job, bool any) {
  const struct dl_accelerator *gpu = job->found.gpu;
  const struct dl_architecture *arch = job->found.arch;
  enum dl_precision precision = job->run->precision;
  double peak = dl_work_most_tflops(job);
  bool products = arch && dl_is_language_model(arch);
  /* Peak rates of CPUs are at the base clock. */
  if (dl_is_cpu(gpu) && !job->peak_given)
    peak *= dl_cpu_most_clock(gpu);
  if (job->peak_given || !gpu || precision == DL_PRECISION_UNKNOWN)
    return 1e12 * peak;
  if (any)
    peak =
        fmax(fmax(peak, fmax(gpu->peak_tf32_tflops, gpu->peak_fp16_tflops)),
             fmax(gpu->peak_fp16_tensor_tflops, gpu->peak_bf16_tensor_tflops));
  if (precision != DL_PRECISION_FP64)
    peak = fmax(peak,
                gpu->peak_fp32_tflops * (products ? 1 : DL_FAST_CONVOLUTION));
  return 1e12 * peak;
}

/* Returns the rate of the precision that is given, else the highest in any. */
static double highest_rate(const struct dl_job *job) {
  return rate_at(job, dl_is_assumed(job->row, DL_RUN_precision));
}

bool dl_known_beats_assumed(const struct dl_job *job, double *needs,
                            double *most) {
  struct dl_work w;
  if (!job->known.of_work || isnan(job->known.steps_s) ||
      !dl_is_assumed(job->row, DL_RUN_precision))
    return false;
  dl_work_of(job, &w);
  *needs = w.flop / job->known.steps_s / 1e12;
  *most = rate_at(job, false) * job->run->n_gpus / 1e12;
  return *needs > *most;
}

/* The precision that this is for, in words. */
static const char *rated_at(const struct dl_job *job) {
  return job->run->precision != DL_PRECISION_UNKNOWN &&
                 !dl_is_assumed(job->row, DL_RUN_precision)
             ? dl_precision_words[job->run->precision]
             : "any precision";
}

/* Samples of the whole run, as passes of training or of inference. */
static double all_samples(const struct dl_job *job) {
  return dl_run_is_inference(job->run) ? job->run->requests : samples_of(job);
}

static bool beats_peak(const struct dl_job *job, struct dl_message_style *why) {
  const struct dl_known *known = &job->known;
  struct dl_work w;
  dl_work_of(job, &w);
  double needs = w.flop / known->steps_s;
  double most = highest_rate(job) * job->run->n_gpus;
  if (!known->of_work || !(needs > most))
    return false;
  return dl_rule_message(
      why,
      "%.4g samples/s need %.3g TFLOP/s, but %g x %s reach %.3g "
      "TFLOP/s at most in %s; check the time or throughput, the "
      "samples, and the precision",
      all_samples(job) / known->steps_s, needs / 1e12, job->run->n_gpus,
      job->found.gpu ? job->found.gpu->head.id : "GPU", most / 1e12,
      rated_at(job));
}

/* GPUs that are busy for a known share of a known time. Meters print whole
 * percents. */
static bool busy_beats_peak(const struct dl_job *job,
                            struct dl_message_style *why) {
  const struct dl_known *known = &job->known;
  const double half_percent = 0.005;
  struct dl_work w;
  dl_work_of(job, &w);
  double most = highest_rate(job) * job->run->n_gpus;
  double busy_s = known->run_s * (known->util + half_percent);
  double needs = w.flop / busy_s;
  if (!known->of_work || !(needs > most * (1 + TOLERANCE)))
    return false;
  return dl_rule_message(
      why,
      "busy for %.3g %% of %.6g s ({gpu_util}), the work needs %.3g TFLOP/s, "
      "but %g x %s reach %.3g TFLOP/s at most in %s; check both, the samples, "
      "and the precision",
      100 * known->util, known->run_s, needs / 1e12, job->run->n_gpus,
      job->found.gpu ? job->found.gpu->head.id : "GPU", most / 1e12,
      rated_at(job));
}

static bool power_is_off(const struct dl_job *job,
                         struct dl_message_style *why) {
  double w = job->known.power_w, n = job->run->n_gpus;
  double limit = fmax(own_limit_w(job), dl_or(job->run->power_limit_w, 0));
  double idle = dl_or(job->idle_w, DL_LEAST_IDLE_SHARE * job->tdp_w);
  const char *plural = n == 1 ? "" : "s"; /* of the GPUs */
  const char *draws = n == 1 ? "s" : "";  /* the ending of their verb */
  if (w > n * limit * DL_MOST_OF_LIMIT)
    return dl_rule_message(
        why,
        "{gpu_power_w} is %.4g W, but the limit of %g GPU%s is %.4g W; "
        "give the mean power of all GPUs",
        w, n, plural, n * limit);
  if (w < n * idle * UNDER_IDLE)
    return dl_rule_message(
        why,
        "{gpu_power_w} is %.4g W, but %g idle GPU%s %.4g W; give "
        "the mean power of all GPUs together",
        w, n, n == 1 ? " draws" : "s draw", n * idle);
  if (w > job->known.most_w * DL_MOST_OF_LIMIT)
    return dl_rule_message(
        why,
        "{gpu_power_w} is %.4g W, but %g GPU%s busy for %.3g %% of "
        "the time ({gpu_util}) draw%s %.3g W at most; check both",
        w, n, plural, 100 * job->known.util, draws, job->known.most_w);
  /* A known time makes it an energy, however long they work. */
  return isnan(job->known.run_s) && w < job->known.least_static_w &&
         dl_rule_message(
             why,
             "{gpu_power_w} is %.4g W, but %g waiting GPU%s %.3g W, and no "
             "less than %.3g W; give the mean power of all GPUs together, "
             "or {duration_s}",
             w, n, n == 1 ? " draws" : "s draw", job->known.static_w,
             job->known.least_static_w);
}

static const char *why_impossible(const struct dl_job *job) {
  bool tokens = strcmp(job->known.impossible, "tokens_per_s") == 0;
  const struct dl_architecture *arch = job->found.arch;
  if (tokens && (isnan(job->seq_len) || !arch || !dl_is_language_model(arch)))
    return "it has no tokens; give samples per second";
  return tokens && dl_run_is_inference(job->run)
             ? "its requests have prompts and output; give duration_s"
             : "it is 0";
}

static bool inference_contradicts(const struct dl_job *job,
                                  struct dl_message_style *why) {
  const struct dl_run *run = job->run;
  bool rated = gives(job, DL_RUN_samples_per_s);
  if (rated && run->request_rate > 0) {
    char word[DL_WORD_SIZE], rate[DL_WORD_SIZE];
    return dl_rule_message(
        why, "%s and %s both say how fast requests are served; leave one out",
        dl_column_word(why, "samples_per_s", word),
        dl_column_word(why, "request_rate", rate));
  }
  return (rated && exceeds(run->requests / run->samples_per_s, duration_s(job),
                           "samples", "duration_s", why)) ||
         (job->known.of_work && !isnan(job->known.steps_s) &&
          beats_peak(job, why));
}

bool dl_known_contradicts(const struct dl_job *job,
                          struct dl_message_style *why) {
  const struct dl_known *known = &job->known;
  if (known->impossible) {
    char word[DL_WORD_SIZE];
    return dl_rule_message(why, "%s is none of this job: %s",
                           dl_column_word(why, known->impossible, word),
                           why_impossible(job));
  }
  if (dl_run_is_inference(job->run))
    return inference_contradicts(job, why);
  return (!isnan(known->steps_s) &&
          (rates_differ(job, why) || times_differ(job, why) ||
           beats_peak(job, why) || busy_beats_peak(job, why))) ||
         (!isnan(known->power_w) && power_is_off(job, why));
}
