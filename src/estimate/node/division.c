/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/division.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/node/peak_memory.h"
#include "physics/language/language_prior.h"
#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

/* Tokens of an optimizer step of pre-training, the order of what large models
 * are trained with, and of fine-tuning. With many GPUs a step of pre-training
 * has at least a sequence for each 8 of them, as in the largest published
 * trainings (Llama 3.1 405B: 2,048 sequences on 16,384 GPUs, arXiv 2407.21783),
 * one of fine-tuning a sequence for each. A run on fewer tokens than these
 * fine-tunes. */
#define PRE_TRAINING_BATCH 4194304.0
#define FINE_TUNING_BATCH 65536.0
#define PRE_TRAINING_TOKENS 2e9
#define GPUS_OF_A_SEQUENCE 8.0

/* Micro-batches of a step for each stage of a pipeline, so that stages wait
 * for less than a fifth of it (Huang et al., arXiv 1811.06965). */
#define MICRO_BATCHES_PER_STAGE 4.0

/* Degrees, at most: virtual stages of a pipeline stage as the largest trainings
 * published (Llama 3.1 405B; MLPerf's GPT-3, 4 to 8), experts as DeepSeek-V3
 * (arXiv 2412.19437). */
#define MOST_TENSOR 8.0
#define MOST_VIRTUAL_STAGES 8.0
#define MOST_EXPERT 64.0

/* Sequences of a micro-batch, at most. */
#define MOST_SEQUENCES 4096.0

/* GPUs of a node, if it is not given. */
#define GPUS_PER_NODE 8

/* Share of the time that a kind of division has to save. */
#define WORTH 0.01

/* What is searched for. */
struct setup {
  double tensor, pipeline, virtual_stages, expert; /* NaN: none */
  const char *sharding, *checkpointing;            /* NULL: none */
  double layers; /* that are computed again; NaN: all or none */
  double batch;  /* batch_size */
  double accum;  /* grad_accum; NaN: 1 */
};

struct search {
  struct dl_row *row;
  struct dl_job job;
  struct dl_physics_row physics;
  struct dl_run_set given; /* members that are settled before */
  bool divides;            /* tensor and pipeline parallelism are open */
  bool any;                /* also what is not usual (division.h) */
  struct setup best;
  bool found, fits;
  double cost, need; /* of the best */
};

static bool is_given(const struct search *s, enum dl_run_id id) {
  return dl_run_set_has(&s->given, id);
}

static double copies(const struct search *s) {
  return dl_degrees_of(&s->row->run).data;
}

/* --- Candidates are tried in the members of the row. */

static struct setup setup_in(const struct dl_run *r) {
  return (struct setup){.tensor = r->tensor_parallel,
                        .pipeline = r->pipeline_parallel,
                        .virtual_stages = r->virtual_stages,
                        .expert = r->expert_parallel,
                        .sharding = r->sharding,
                        .checkpointing = r->checkpointing,
                        .layers = r->checkpointed_layers,
                        .batch = r->batch_size,
                        .accum = r->grad_accum};
}

static void put_back(struct dl_run *r, const struct setup *of) {
  r->tensor_parallel = of->tensor;
  r->pipeline_parallel = of->pipeline;
  r->virtual_stages = of->virtual_stages;
  r->expert_parallel = of->expert;
  r->sharding = of->sharding;
  r->checkpointing = of->checkpointing;
  r->checkpointed_layers = of->layers;
  r->batch_size = of->batch;
  r->grad_accum = of->accum;
}

/* Seconds for a token, a little more for each kind of division. Without what
 * the formula needs, the plainest. */
static double cost_of(const struct search *s) {
  const struct dl_run *r = &s->row->run;
  bool zero3 = dl_is_word(r->sharding, "zero3");
  int kinds = (r->tensor_parallel > 1) + (r->pipeline_parallel > 1) +
              (r->expert_parallel > 1) + zero3 +
              (r->sharding && !dl_is_word(r->sharding, "ddp"));
  double t = dl_language_prior_s_per_token(&s->physics);
  double again = dl_checkpointed_share(r, s->row->found.arch->depth);
  return dl_or(t, 1 + again) * (1 + WORTH * kinds);
}

static double need_of(const struct search *s) {
  struct dl_memory_need m;
  dl_memory_of(&s->job, &m);
  return m.need_gb;
}

/* The fewest layers that must be computed again. What is needed falls evenly
 * from the first to the last of them. */
static void checkpoint(const struct search *s) {
  struct dl_run *r = &s->row->run;
  const struct dl_transformer *t = s->row->found.arch->transformer;
  double has = s->row->found.gpu->memory_gb;
  double layers = t->layers + t->decoder_layers;
  double least = need_of(s);
  r->checkpointed_layers = 1;
  double most = need_of(s);
  double n = ceil(1 + (layers - 1) * (most - has) / (most - least));
  r->checkpointed_layers = n >= 1 && n < layers ? n : (double)NAN;
}

/* Keeps the set-up of the row if it is the best so far. Whether it fits without
 * computing anything again that could be left. */
static bool consider(struct search *s) {
  struct dl_run *r = &s->row->run;
  double has = s->row->found.gpu->memory_gb;
  bool open = !is_given(s, DL_RUN_checkpointing);
  if (open) {
    r->checkpointing = "none";
    r->checkpointed_layers = NAN;
  }
  double need = need_of(s);
  bool again = open && need > has;
  if (again) {
    r->checkpointing = "full";
    need = need_of(s);
  }
  bool fits = !(need > has);
  if (s->found && s->fits && !fits)
    return false;
  if (again && fits)
    checkpoint(s);
  double cost = cost_of(s);
  if (!s->found || fits > s->fits || (fits && cost < s->cost) ||
      (!fits && (need < s->need || (need <= s->need && cost < s->cost)))) {
    s->best = setup_in(r);
    s->found = true;
    s->fits = fits;
    s->cost = cost;
    s->need = need;
  }
  return fits && !again;
}

/* --- Batches. */

/* The largest divisor of n that is at most `most`, of which there are few. */
static double divisor(double n, double most) {
  double d = floor(fmin(n, fmax(most, 1)));
  while (d > 1 && fmod(n, d) > 0)
    d--;
  return d;
}

/* Of interleaved stages, which wait for less, at least one for each. */
static double fewest_micro_batches(const struct dl_run *r) {
  double stages = dl_degrees_of(r).pipeline;
  double per_stage = MICRO_BATCHES_PER_STAGE / dl_or(r->virtual_stages, 1);
  return stages > 1 ? ceil(fmax(per_stage, 1) * stages) : 1;
}

/* Sequences of an optimizer step on each copy, in micro-batches of `batch`, if
 * the batch of all is not given. */
static double usual_sequences(const struct search *s, double batch) {
  const struct dl_run *r = &s->row->run;
  double whole = dl_or(r->train_tokens, r->tokens);
  double seq_len = s->job.seq_len, data = copies(s);
  bool pre_training =
      dl_fine_tune_of(r) == DL_TUNE_FULL && r->tokens >= PRE_TRAINING_TOKENS;
  double all = r->n_gpus * seq_len;
  double tokens = pre_training
                      ? fmax(PRE_TRAINING_BATCH, all / GPUS_OF_A_SEQUENCE)
                      : fmax(FINE_TUNING_BATCH, all);
  double n = tokens / (seq_len * data);
  if (dl_degrees_of(r).pipeline > 1)
    n = fmax(n, fewest_micro_batches(r) * batch);
  return fmin(n, dl_or(whole, INFINITY) / (seq_len * data));
}

/* Micro-batches of `batch` sequences; accum: NaN, one. Whether smaller ones are
 * slower: they make less wait only at the ends of a pipeline. */
static bool try_batch(struct search *s, double batch, double accum) {
  struct dl_run *r = &s->row->run;
  bool strong = dl_is_word(r->scaling, "strong");
  if (!is_given(s, DL_RUN_batch_size))
    r->batch_size = strong ? batch * copies(s) : batch;
  if (!is_given(s, DL_RUN_grad_accum))
    r->grad_accum = accum;
  return consider(s) && !(dl_degrees_of(r).pipeline > 1);
}

/* Parts of the batch of all. */
static void share_batch(struct search *s) {
  const struct dl_run *r = &s->row->run;
  double all = r->global_batch / copies(s);
  bool batch_given = is_given(s, DL_RUN_batch_size);
  bool accum_given = is_given(s, DL_RUN_grad_accum);
  if (!(all >= 1) || fmod(all, 1) > 0)
    return;
  if (batch_given || accum_given) {
    double batch = batch_given ? dl_micro_batch(r) : all / r->grad_accum;
    double accum = accum_given ? r->grad_accum : all / batch;
    if (!(batch >= 1) || !(accum >= 1) || fmod(batch, 1) > 0 ||
        fmod(accum, 1) > 0 || fabs(batch * accum - all) > 0.5)
      return;
    try_batch(s, batch, accum);
    return;
  }
  double most = fmin(all, MOST_SEQUENCES), batch;
  do {
    batch = divisor(all, most);
    most = exp2(ceil(log2(batch)) - 1);
  } while (!try_batch(s, batch, all / batch) && batch > 1);
}

/* A batch of all that is usual. */
static void usual_batches(struct search *s) {
  const struct dl_run *r = &s->row->run;
  double accum = dl_or(r->grad_accum, 1);
  bool accum_given = is_given(s, DL_RUN_grad_accum);
  if (is_given(s, DL_RUN_batch_size)) {
    double batch = dl_micro_batch(r);
    double n = floor(usual_sequences(s, batch) / batch);
    bool pipeline = dl_degrees_of(r).pipeline > 1 && n > 1;
    try_batch(s, batch, pipeline ? n : (double)NAN);
    return;
  }
  double fewest = accum_given ? accum : fewest_micro_batches(r);
  double usual = usual_sequences(s, 0) / fewest;
  if (!s->any && usual < 1)
    return;
  double batch = exp2(floor(log2(fmin(fmax(usual, 1), MOST_SEQUENCES)))), n;
  do {
    n = floor(usual_sequences(s, batch) / batch);
  } while (!try_batch(s, batch, n >= 2 ? n : (double)NAN) && (batch /= 2) >= 1);
}

static void over_batches(struct search *s) {
  if (is_given(s, DL_RUN_global_batch))
    share_batch(s);
  else
    usual_batches(s);
}

/* --- Division. */

static double gpus_of_node(const struct dl_row *row) {
  return dl_or(row->run.gpus_per_node,
               dl_or(row->found.gpu->link_domain, GPUS_PER_NODE));
}

/* The most experts' GPUs up to `most`; 1: none. */
static double experts_up_to(const struct dl_row *row, double most) {
  double n = floor(most);
  while (n > 1 && !dl_divides_experts(row, n))
    n--;
  return n;
}

static void over_experts(struct search *s) {
  struct dl_run *r = &s->row->run;
  over_batches(s);
  if (is_given(s, DL_RUN_expert_parallel) || !(copies(s) > 1) ||
      dl_is_word(r->sharding, "zero3") ||
      !(s->row->found.arch->transformer->experts > 1))
    return;
  double node = floor(gpus_of_node(s->row) / dl_degrees_of(r).tensor);
  double last = 1;
  for (double most = 2; most <= MOST_EXPERT; most *= 2) {
    bool in_node = node > most && node < 2 * most;
    for (int i = 0; i <= in_node; i++) {
      double n = experts_up_to(s->row, i ? node : most);
      if (n > last) {
        r->expert_parallel = last = n;
        over_batches(s);
      }
    }
  }
  r->expert_parallel = NAN;
}

static void over_sharding(struct search *s) {
  static const char *const kinds[] = {"ddp", "zero1", "zero3"};
  struct dl_run *r = &s->row->run;
  bool pipeline =
      r->pipeline_parallel > 1 && !is_given(s, DL_RUN_pipeline_parallel);
  if (is_given(s, DL_RUN_sharding) || !(copies(s) > 1)) {
    over_experts(s);
    return;
  }
  for (size_t i = 0; i < DL_LENGTH(kinds) - pipeline; i++) {
    r->sharding = kinds[i];
    over_experts(s);
  }
  r->sharding = NULL;
}

static void over_pipeline(struct search *s) {
  struct dl_run *r = &s->row->run;
  bool open = s->divides && r->n_gpus > gpus_of_node(s->row);
  bool stages_given = is_given(s, DL_RUN_virtual_stages);
  static const double stages[] = {1, 2, 3, 4, 6, 8, 12, 16};
  for (size_t i = 0; i < (open ? DL_LENGTH(stages) : 1); i++) {
    double p = stages[i];
    if (open)
      r->pipeline_parallel = p > 1 ? p : (double)NAN;
    double data = copies(s);
    if (!(data >= 1) || fmod(data, 1) > 0 ||
        (r->expert_parallel > 1 && fmod(data, r->expert_parallel) > 0) ||
        (open && p > 1 && !dl_divides_layers(s->row, p, 3)))
      continue;
    double v = dl_most_virtual_stages(s->row, MOST_VIRTUAL_STAGES);
    if (!stages_given)
      r->virtual_stages = v > 1 ? v : (double)NAN;
    over_sharding(s);
  }
}

static void over_tensor(struct search *s) {
  struct dl_run *r = &s->row->run;
  double heads = s->row->found.arch->transformer->heads;
  double most = fmin(fmin(gpus_of_node(s->row), r->n_gpus), MOST_TENSOR);
  if (!s->any && !(s->row->found.gpu->link_gb_s > DL_SLOWEST_NVLINK_GB_S))
    most = 1;
  for (double t = 1; t <= (s->divides ? most : 1); t *= 2) {
    if (s->divides && fmod(heads, t) > 0)
      continue;
    if (s->divides)
      r->tensor_parallel = t > 1 ? t : (double)NAN;
    over_pipeline(s);
  }
}

/* --- The best. */

static void assume_number(const struct search *s, enum dl_run_id id, double x) {
  if (!is_given(s, id) && !isnan(x))
    dl_assume_number(s->row, id, x);
}

static void assume_text(const struct search *s, enum dl_run_id id,
                        const char *word) {
  if (!is_given(s, id) && word)
    dl_assume_text(s->row, id, word);
}

static void assume(const struct search *s) {
  const struct setup *best = &s->best;
  assume_number(s, DL_RUN_tensor_parallel, best->tensor);
  assume_number(s, DL_RUN_pipeline_parallel, best->pipeline);
  assume_number(s, DL_RUN_virtual_stages, best->virtual_stages);
  assume_number(s, DL_RUN_expert_parallel, best->expert);
  assume_text(s, DL_RUN_sharding, best->sharding);
  assume_text(s, DL_RUN_checkpointing, best->checkpointing);
  assume_number(s, DL_RUN_checkpointed_layers, best->layers);
  assume_number(s, DL_RUN_batch_size, best->batch);
  assume_number(s, DL_RUN_grad_accum, best->accum);
}

/* Members that are searched for, beside batches. */
static const enum dl_run_id searched[] = {
    DL_RUN_tensor_parallel, DL_RUN_pipeline_parallel,  DL_RUN_virtual_stages,
    DL_RUN_expert_parallel, DL_RUN_context_parallel,   DL_RUN_sharding,
    DL_RUN_checkpointing,   DL_RUN_checkpointed_layers};

/* What is given, and all that is known beside batches, which may follow from
 * the batch of all in another division. */
static struct dl_run_set settled(const struct dl_row *row) {
  struct dl_run_set set = row->given;
  for (size_t i = 0; i < DL_LENGTH(searched); i++)
    dl_run_set_put(&set, searched[i], dl_run_has(&row->run, searched[i]));
  return set;
}

void dl_assume_division(struct dl_row *row) {
  struct dl_run *r = &row->run;
  struct search s = {.row = row, .given = settled(row)};
  s.job = (struct dl_job){
      .row = row,
      .run = r,
      .found = row->found,
      .seq_len = isnan(r->seq_len) ? row->found.arch->seq_len : r->seq_len};
  s.physics = (struct dl_physics_row){
      .run = r, .gpu = row->found.gpu, .arch = row->found.arch};
  for (size_t i = 0; i < DL_MAX_OTHER; i++)
    s.physics.other[i] = NAN;
  s.divides = !is_given(&s, DL_RUN_tensor_parallel) &&
              !is_given(&s, DL_RUN_pipeline_parallel) &&
              !is_given(&s, DL_RUN_context_parallel) &&
              !is_given(&s, DL_RUN_sharding);
  if (!is_given(&s, DL_RUN_batch_size))
    r->batch_size = NAN;
  if (!is_given(&s, DL_RUN_grad_accum))
    r->grad_accum = NAN;
  const struct setup before = setup_in(r);
  over_tensor(&s);
  put_back(r, &before);
  if (!s.found) {
    s.any = true;
    over_tensor(&s);
    put_back(r, &before);
  }
  if (s.found)
    assume(&s);
  else if (is_given(&s, DL_RUN_global_batch) &&
           !is_given(&s, DL_RUN_batch_size)) /* which is refused */
    dl_assume_number(row, DL_RUN_batch_size,
                     r->global_batch / dl_or(r->grad_accum, 1) / copies(&s));
}

bool dl_division_fits(const struct dl_job *job, double n_gpus) {
  struct dl_row row = *job->row;
  struct dl_job other = *job;
  struct dl_memory_need m;
  for (size_t i = 0; i < DL_LENGTH(searched); i++) {
    bool text = dl_run_columns[searched[i]].is_text;
    if (dl_is_assumed(&row, searched[i]) && text)
      dl_run_lend_text(&row.run, searched[i], NULL);
    else if (dl_is_assumed(&row, searched[i]))
      dl_run_set_number(&row.run, searched[i], NAN);
  }
  dl_run_set_number(&row.run, DL_RUN_n_gpus, n_gpus);
  dl_assume_division(&row);
  other.row = &row;
  other.run = &row.run;
  dl_memory_of(&other, &m);
  return !m.over && !isnan(m.need_gb);
}
