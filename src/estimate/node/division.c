/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/node/division.h"

#include <assert.h>
#include <math.h>

#include "catalog/architecture/transformer.h"
#include "estimate/node/division_private.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* Degrees, at most: virtual stages of a pipeline stage as the largest trainings
 * published (Llama 3.1 405B; MLPerf's GPT-3, 4 to 8), experts as DeepSeek-V3
 * (arXiv 2412.19437). */
#define MOST_TENSOR 8.0
#define MOST_EXPERT 64.0
static const double stages[] = {1, 2, 3, 4, 6, 8, 12, 16};

/* GPUs of a node, if it is not given. */
#define GPUS_PER_NODE 8

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

static void over_sharding(struct dl_search *s) {
  static const enum dl_sharding kinds[] = {DL_SHARDING_DDP, DL_SHARDING_ZERO1,
                                           DL_SHARDING_ZERO3};
  struct dl_run *r = &s->row->run;
  if (dl_is_settled(s, DL_RUN_sharding) || !(dl_copies(s) > 1)) {
    dl_try_batches(s);
    return;
  }
  bool experts =
      r->expert_parallel > 1 && !dl_is_settled(s, DL_RUN_expert_parallel);
  for (size_t i = 0; i < DL_LENGTH(kinds) - experts; i++) {
    r->sharding = kinds[i];
    dl_try_batches(s);
  }
  r->sharding = DL_SHARDING_UNKNOWN;
}

/* From the most virtual stages to none, which send and keep the least. */
static void over_virtual_stages(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  bool open = !dl_is_settled(s, DL_RUN_virtual_stages);
  double v = dl_most_virtual_stages(s->row, DL_MOST_VIRTUAL_STAGES);
  do {
    if (open)
      r->virtual_stages = v > 1 ? v : (double)NAN;
    over_sharding(s);
    v = v > 1 ? dl_most_virtual_stages(s->row, v - 1) : 0;
  } while (open && v >= 1);
  if (open)
    r->virtual_stages = NAN;
}

static void note(struct dl_search *s) {
  assert(s->n < DL_MOST_DIVISIONS);
  s->division[s->n] = dl_setup_in(&s->row->run);
  s->division[s->n++].least = dl_least_cost(s);
}

static void note_experts(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  note(s);
  if (dl_is_settled(s, DL_RUN_expert_parallel) || !(dl_copies(s) > 1) ||
      r->sharding == DL_SHARDING_ZERO3 ||
      !(s->row->found.arch->transformer->experts > 1))
    return;
  double node = floor(gpus_of_node(s->row) / dl_degrees_of(r).tensor);
  double last = 1;
  for (double most = 2; most <= MOST_EXPERT; most *= 2) {
    size_t ends = node > most && node < 2 * most ? 2 : 1;
    for (size_t i = 0; i < ends; i++) {
      double n = experts_up_to(s->row, i > 0 ? node : most);
      if (n > last) {
        r->expert_parallel = last = n;
        note(s);
      }
    }
  }
  r->expert_parallel = NAN;
}

static void note_pipelines(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  bool open = s->divides && !s->plain;
  for (size_t i = 0; i < (open ? DL_LENGTH(stages) : 1); i++) {
    double p = stages[i];
    if (s->divides)
      r->pipeline_parallel = p > 1 ? p : (double)NAN;
    double data = dl_copies(s);
    if (!(data >= 1) || fmod(data, 1) > 0 ||
        (r->expert_parallel > 1 && fmod(data, r->expert_parallel) > 0) ||
        (s->divides && p > 1 && !dl_divides_layers(s->row, p, 3)))
      continue;
    note_experts(s);
  }
}

static void note_divisions(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  double heads = s->row->found.arch->transformer->heads;
  double most = fmin(fmin(gpus_of_node(s->row), r->n_gpus), MOST_TENSOR);
  for (double t = 1; t <= (s->divides && !s->plain ? most : 1); t *= 2) {
    if (s->divides && fmod(heads, t) > 0)
      continue;
    if (s->divides)
      r->tensor_parallel = t > 1 ? t : (double)NAN;
    note_pipelines(s);
  }
}

/* The next one, of the least bound, in front of those from i on. */
static void put_in_front(struct dl_search *s, size_t i) {
  size_t best = i;
  for (size_t j = i + 1; j < s->n; j++)
    if (s->division[j].least < s->division[best].least)
      best = j;
  const struct dl_setup next = s->division[best];
  for (; best > i; best--)
    s->division[best] = s->division[best - 1];
  s->division[i] = next;
}

/* Searches with a batch of all, `all`; NaN: one that follows. */
static void search_at(struct dl_search *s, double all) {
  struct dl_run *r = &s->row->run;
  const struct dl_setup before = dl_setup_in(r);
  s->all = all;
  s->n = 0;
  s->found = s->fits = false;
  note_divisions(s);
  for (size_t i = 0; i < s->n; i++) {
    put_in_front(s, i);
    if (s->fits && s->division[i].least >= s->cost)
      break;
    dl_setup_put(r, &s->division[i]);
    over_virtual_stages(s);
  }
  dl_setup_put(r, &before);
}

/* The batch of all is given or assumed before, or follows from parts of it that
 * are given: then set-ups with the best one's batch are compared once more.
 * Whole copies of the network say what it is, if they fit: those that are
 * divided have other ones with equal parts. A batch below what the copies of
 * the network need grows up to a sequence for each GPU. */
static void search(struct dl_search *s) {
  struct dl_run *r = &s->row->run;
  if (dl_is_settled(s, DL_RUN_global_batch)) {
    search_at(s, r->global_batch);
    return;
  }
  if (!dl_is_settled(s, DL_RUN_batch_size) &&
      !dl_is_settled(s, DL_RUN_grad_accum)) {
    double all = dl_usual_batch(s);
    search_at(s, all);
    while (!s->found && (all *= 2) < 2 * r->n_gpus)
      search_at(s, fmin(all, r->n_gpus));
    return;
  }
  s->plain = s->divides;
  search_at(s, NAN);
  s->plain = false;
  if (s->divides && !s->fits)
    search_at(s, NAN);
  if (!s->found)
    return;
  const struct dl_setup before = dl_setup_in(r);
  dl_setup_put(r, &s->best);
  double all = dl_global_batch(r);
  dl_setup_put(r, &before);
  search_at(s, all);
}

/* --- The best. */

static void assume_number(const struct dl_search *s, enum dl_run_id id,
                          double x) {
  if (!dl_is_settled(s, id) && !isnan(x))
    dl_assume_number(s->row, id, x);
}

static void assume_word(const struct dl_search *s, enum dl_run_id id,
                        unsigned word) {
  if (!dl_is_settled(s, id) && word != 0)
    dl_assume_word(s->row, id, word);
}

static void assume(const struct dl_search *s) {
  const struct dl_setup *best = &s->best;
  assume_number(s, DL_RUN_tensor_parallel, best->tensor);
  assume_number(s, DL_RUN_pipeline_parallel, best->pipeline);
  assume_number(s, DL_RUN_virtual_stages, best->virtual_stages);
  assume_number(s, DL_RUN_expert_parallel, best->expert);
  assume_word(s, DL_RUN_sharding, best->sharding);
  assume_word(s, DL_RUN_checkpointing, best->checkpointing);
  assume_number(s, DL_RUN_checkpointed_layers, best->layers);
  assume_number(s, DL_RUN_batch_size, best->batch);
  assume_number(s, DL_RUN_grad_accum, best->accum);
}

/* Members that are searched for, beside batches. */
static const enum dl_run_id searched[] = {
    DL_RUN_tensor_parallel, DL_RUN_pipeline_parallel,  DL_RUN_virtual_stages,
    DL_RUN_expert_parallel, DL_RUN_context_parallel,   DL_RUN_sharding,
    DL_RUN_checkpointing,   DL_RUN_checkpointed_layers};

/* Returns what is given, and all that is known beside batches, which may follow
 * from the batch of all in another division. */
static struct dl_run_set settled(const struct dl_row *row) {
  struct dl_run_set set = row->given;
  for (size_t i = 0; i < DL_LENGTH(searched); i++)
    dl_run_set_put(&set, searched[i], dl_run_has(&row->run, searched[i]));
  return set;
}

void dl_assume_division(struct dl_row *row) {
  struct dl_run *r = &row->run;
  struct dl_search s = {.row = row, .given = settled(row)};
  s.job = (struct dl_job){
      .row = row,
      .run = r,
      .found = row->found,
      .seq_len = isnan(r->seq_len) ? row->found.arch->seq_len : r->seq_len};
  s.physics = (struct dl_physics_row){
      .run = r, .gpu = row->found.gpu, .arch = row->found.arch};
  for (size_t i = 0; i < DL_MAX_OTHER; i++)
    s.physics.other[i] = NAN;
  s.divides = !dl_is_settled(&s, DL_RUN_tensor_parallel) &&
              !dl_is_settled(&s, DL_RUN_pipeline_parallel) &&
              !dl_is_settled(&s, DL_RUN_context_parallel) &&
              !dl_is_settled(&s, DL_RUN_sharding);
  if (!dl_is_settled(&s, DL_RUN_batch_size))
    r->batch_size = NAN;
  if (!dl_is_settled(&s, DL_RUN_grad_accum))
    r->grad_accum = NAN;
  search(&s);
  if (s.found)
    assume(&s);
  else if (dl_is_settled(&s, DL_RUN_global_batch) &&
           !dl_is_settled(&s, DL_RUN_batch_size)) /* which is refused */
    dl_assume_number(row, DL_RUN_batch_size,
                     r->global_batch / dl_or(r->grad_accum, 1) / dl_copies(&s));
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
