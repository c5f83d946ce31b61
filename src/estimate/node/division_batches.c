/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/division_private.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/node/peak_memory.h"
#include "physics/language/language_prior.h"
#include "physics/rows/inputs.h"
#include "run/setup/padding.h"
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

/* A batch that is assumed is a multiple of a power of two this much smaller
 * than the sequences of a GPU, so that these divide into micro-batches. */
#define SHARED_WAYS 8.0

/* Sequences of a micro-batch, at most. */
#define MOST_SEQUENCES 4096.0

static double most_sequences(const struct dl_search *s) {
  return dl_pads_texts(s->row) ? DL_PADDED_BATCH : MOST_SEQUENCES;
}

/* Share of the time that a kind of division has to save. */
#define WORTH 0.01

/* Times that a board at its power limit is slower, at most, than where it
 * waits meanwhile. */
#define SLOWED 1.5

bool dl_is_settled(const struct dl_search *s, enum dl_run_id id) {
  return dl_run_set_has(&s->given, id);
}

double dl_copies(const struct dl_search *s) {
  return dl_degrees_of(&s->row->run).data;
}

/* --- Candidates are tried in the members of the row. */

struct dl_setup dl_setup_in(const struct dl_run *r) {
  return (struct dl_setup){.tensor = r->tensor_parallel,
                           .pipeline = r->pipeline_parallel,
                           .virtual_stages = r->virtual_stages,
                           .expert = r->expert_parallel,
                           .sharding = r->sharding,
                           .checkpointing = r->checkpointing,
                           .layers = r->checkpointed_layers,
                           .batch = r->batch_size,
                           .accum = r->grad_accum};
}

void dl_setup_put(struct dl_run *r, const struct dl_setup *of) {
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

/* Seconds for a token. Without what the formula needs, the plainest. */
static double seconds_of(const struct dl_search *s) {
  double t = dl_language_prior_s_per_token(&s->physics);
  double again = dl_checkpointed_share(&s->row->run, s->row->found.arch->depth);
  return dl_or(t, 1 + again);
}

/* A little more for each kind of division. */
static double worth(const struct dl_run *r) {
  int kinds = (r->tensor_parallel > 1) + (r->pipeline_parallel > 1) +
              (r->expert_parallel > 1) + (r->sharding == DL_SHARDING_ZERO3) +
              (r->sharding > DL_SHARDING_DDP);
  return 1 + WORTH * kinds;
}

static double cost_of(const struct dl_search *s) {
  return seconds_of(s) * worth(&s->row->run);
}

static double need_of(const struct dl_search *s) {
  struct dl_memory_need m;
  dl_memory_of(&s->job, &m);
  return m.need_gb;
}

/* The fewest layers that must be computed again. What is needed falls evenly
 * from the first to the last of them. */
static void checkpoint(const struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  const struct dl_transformer *t = s->row->found.arch->transformer;
  double has = dl_usable_gb(s->row->found.gpu);
  double layers = t->layers + t->decoder_layers;
  double least = need_of(s);
  r->checkpointed_layers = 1;
  double most = need_of(s);
  double n = ceil(1 + (layers - 1) * (most - has) / (most - least));
  r->checkpointed_layers = n >= 1 && n < layers ? n : (double)NAN;
}

/* Keeps the set-up of the row if it is the best so far. Its cost, if it fits
 * without computing anything again that could be left, or NaN. */
static double consider(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  double has = dl_usable_gb(s->row->found.gpu);
  bool open = !dl_is_settled(s, DL_RUN_checkpointing);
  if (open) {
    r->checkpointing = DL_CHECKPOINT_NONE;
    r->checkpointed_layers = NAN;
  }
  double need = need_of(s);
  bool again = open && need > has;
  if (again) {
    r->checkpointing = DL_CHECKPOINT_FULL;
    need = need_of(s);
  }
  bool fits = !(need > has);
  if (s->found && !fits && (s->fits || need > s->need))
    return NAN;
  if (again && fits)
    checkpoint(s);
  double cost = cost_of(s);
  if (!s->found || fits > s->fits || (fits && cost < s->cost) ||
      (!fits && (need < s->need || (need <= s->need && cost < s->cost)))) {
    s->best = dl_setup_in(r);
    s->found = true;
    s->fits = fits;
    s->cost = cost;
    s->need = need;
  }
  return fits && !again ? cost : (double)NAN;
}

/* --- Batches. */

/* The largest divisor of n that is at most `most`, of which there are few. */
static double divisor(double n, double most) {
  double d = floor(fmin(n, fmax(most, 1)));
  while (d > 1 && fmod(n, d) > 0)
    d--;
  return d;
}

/* Sequences of an optimizer step on all GPUs, if the batch of all is not
 * given. */
static double usual_sequences(const struct dl_search *s) {
  const struct dl_run *r = &s->row->run;
  double whole = dl_or(r->train_tokens, r->tokens);
  double seq_len = s->job.seq_len;
  bool pre_training =
      dl_fine_tune_of(r) == DL_TUNE_FULL && r->tokens >= PRE_TRAINING_TOKENS;
  double all = r->n_gpus * seq_len;
  double tokens = pre_training
                      ? fmax(PRE_TRAINING_BATCH, all / GPUS_OF_A_SEQUENCE)
                      : fmax(FINE_TUNING_BATCH, all);
  return fmin(tokens, dl_or(whole, INFINITY)) / seq_len;
}

/* The largest batch of all up to the usual one that GPUs share in many ways: a
 * few times a power of two for each, or one for a power of two of them. */
double dl_usual_batch(const struct dl_search *s) {
  double n = s->row->run.n_gpus, each = usual_sequences(s) / n;
  double unit = exp2(floor(log2(each)));
  if (unit >= 1)
    unit = fmax(unit / SHARED_WAYS, 1);
  return fmax(ceil(n * unit * floor(each / unit)), 1);
}

/* Micro-batches of `batch` sequences; accum: NaN, one. Its cost, as above. */
static double try_batch(struct dl_search *s, double batch, double accum) {
  struct dl_run *r = &s->row->run;
  bool strong = r->scaling == DL_SCALE_STRONG;
  if (!dl_is_settled(s, DL_RUN_batch_size))
    r->batch_size = strong ? batch * dl_copies(s) : batch;
  if (!dl_is_settled(s, DL_RUN_grad_accum))
    r->grad_accum = accum;
  return consider(s);
}

/* Whether micro-batches below some of this cost, of which the next larger ones
 * cost `last`, are slower: stages of a pipeline wait less for small ones, which
 * take longer by themselves. */
static bool is_least(const struct dl_search *s, double cost, double last) {
  bool pipeline = dl_degrees_of(&s->row->run).pipeline > 1;
  return !isnan(cost) && (!pipeline || cost >= last);
}

/* How much longer a step of some micro-batches takes for what stages of a
 * pipeline wait, at least: a board at its power limit may be faster after it
 * waited. */
static double waiting(const struct dl_search *s, double micro_batches) {
  double p = dl_degrees_of(&s->row->run).pipeline;
  double v = dl_or(s->row->run.virtual_stages, 1);
  return fmax(dl_pipeline_rounds(micro_batches, p, v) / micro_batches, 1);
}

/* Micro-batches; of a batch that is assumed, one is not said. */
static double of_step(const struct dl_search *s, double n) {
  return n > 1 || dl_is_settled(s, DL_RUN_global_batch) ? n : (double)NAN;
}

/* Parts of the batch of all. Micro-batches have `most` sequences at most, and
 * cost `least` at least, as many as there are sequences. */
static void share_batch(struct dl_search *s, double most, double least) {
  const struct dl_run *r = &s->row->run;
  double all = s->all / dl_copies(s);
  bool batch_given = dl_is_settled(s, DL_RUN_batch_size);
  bool accum_given = dl_is_settled(s, DL_RUN_grad_accum);
  if (!(all >= 1) || fmod(all, 1) > 0)
    return;
  if (batch_given || accum_given) {
    double batch = batch_given ? dl_micro_batch(r) : all / r->grad_accum;
    double accum = accum_given ? r->grad_accum : all / batch;
    if (!(batch >= 1) || !(accum >= 1) || fmod(batch, 1) > 0 ||
        fmod(accum, 1) > 0 || fabs(batch * accum - all) > 0.5)
      return;
    try_batch(s, batch, of_step(s, accum));
    return;
  }
  double batch, cost = NAN, last;
  do {
    last = cost;
    batch = divisor(all, most);
    most = exp2(ceil(log2(batch)) - 1);
    double wait = waiting(s, all / batch) / waiting(s, all);
    bool slower = s->fits && least * wait >= s->cost;
    cost = slower ? (double)NAN : try_batch(s, batch, of_step(s, all / batch));
  } while (!is_least(s, cost, last) && batch > 1);
}

/* A part of it is given, and the batch of all follows. */
static void usual_parts(struct dl_search *s) {
  const struct dl_run *r = &s->row->run;
  double each = usual_sequences(s) / dl_copies(s);
  if (dl_is_settled(s, DL_RUN_batch_size)) {
    double n = floor(each / dl_micro_batch(r));
    bool pipeline = dl_degrees_of(r).pipeline > 1 && n > 1;
    try_batch(s, dl_micro_batch(r), pipeline ? n : (double)NAN);
    return;
  }
  double most = fmin(fmax(each / r->grad_accum, 1), most_sequences(s));
  double batch = exp2(floor(log2(most)));
  while (isnan(try_batch(s, batch, r->grad_accum)) && (batch /= 2) >= 1)
    ;
}

/* --- Bounds, of what is open in the division that the row has. */

/* Sequences of a step on each copy. */
static double own_sequences(const struct dl_search *s) {
  return fmax(dl_or(s->all, usual_sequences(s)) / dl_copies(s), 1);
}

/* Sets what is open: micro-batches of `batch` sequences, `parts` times as many
 * as the step then has. */
static void put_open(struct dl_search *s, double batch, double parts,
                     enum dl_checkpointing checkpointing) {
  struct dl_run *r = &s->row->run;
  bool strong = r->scaling == DL_SCALE_STRONG;
  if (!dl_is_settled(s, DL_RUN_batch_size))
    r->batch_size = strong ? batch * dl_copies(s) : batch;
  if (!dl_is_settled(s, DL_RUN_grad_accum))
    r->grad_accum = fmax(own_sequences(s) / dl_micro_batch(r), 1) * parts;
  if (!dl_is_settled(s, DL_RUN_checkpointing)) {
    r->checkpointing = checkpointing;
    r->checkpointed_layers = NAN;
  }
}

/* Whether the smallest micro-batches fit, all layers computed again. */
static bool may_fit(struct dl_search *s) {
  const struct dl_setup before = dl_setup_in(&s->row->run);
  put_open(s, 1, 1, DL_CHECKPOINT_FULL);
  double need = need_of(s);
  dl_setup_put(&s->row->run, &before);
  return !(need > dl_usable_gb(s->row->found.gpu));
}

/* Seconds for a token that no micro-batches undercut: the largest are the
 * fastest for each of its tokens, and stages of a pipeline wait least for as
 * many as there are sequences. `ways`: of virtual stages that are open. */
static double least_seconds(struct dl_search *s, double ways) {
  const struct dl_setup before = dl_setup_in(&s->row->run);
  double batch = fmin(own_sequences(s), most_sequences(s));
  bool pipeline = dl_degrees_of(&s->row->run).pipeline > 1;
  put_open(s, batch, pipeline ? batch * ways : 1, DL_CHECKPOINT_NONE);
  double seconds = seconds_of(s);
  dl_setup_put(&s->row->run, &before);
  return seconds;
}

/* A bound of the cost of set-ups with the tensor, pipeline and expert
 * parallelism that the row has: without virtual stages, which send more, but
 * as short a wait, and ZeRO-1, whose exchange and optimizer take the least.
 * ZeRO-3 needs the least memory, but in a pipeline ZeRO-1. */
double dl_least_cost(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  const struct dl_setup before = dl_setup_in(r);
  bool open = !dl_is_settled(s, DL_RUN_sharding) && dl_copies(s) > 1;
  double ways = 1, least = worth(r);
  if (!dl_is_settled(s, DL_RUN_virtual_stages))
    ways = dl_most_virtual_stages(s->row, DL_MOST_VIRTUAL_STAGES);
  bool stays = r->expert_parallel > 1 || r->pipeline_parallel > 1;
  if (open)
    r->sharding = stays ? DL_SHARDING_ZERO1 : DL_SHARDING_ZERO3;
  if (!may_fit(s)) {
    least = INFINITY;
  } else {
    if (open)
      r->sharding = DL_SHARDING_ZERO1;
    least *= least_seconds(s, ways);
  }
  dl_setup_put(r, &before);
  return least;
}

void dl_try_batches(struct dl_search *s) {
  bool room = may_fit(s);
  double least = 0;
  if (s->fits && room)
    least = least_seconds(s, 1) * worth(&s->row->run);
  if (s->fits && (!room || least >= s->cost))
    return;
  if (isnan(s->all))
    usual_parts(s);
  else
    share_batch(s, room ? most_sequences(s) : 1, least / SLOWED);
}
