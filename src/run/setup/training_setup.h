/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a training is set up, settled from the columns of its run: what is
 * trained, and how samples are spread over accelerators and steps. Columns that
 * are unknown take the plainest value: full training, no parallelism but of
 * the data, no accumulation. */

#ifndef DL_RUN_SETUP_TRAINING_SETUP_H
#define DL_RUN_SETUP_TRAINING_SETUP_H

#include "run/row.h"
#include "run/setup/fine_tune.h"
#include "run/setup/option_words.h"

/* Samples per step on each GPU in the training of an image network, or requests
 * at a time, at most, where the user gives none. */
#define DL_USUAL_BATCH 256

/* Samples per step on each GPU in the training of a network, where the user
 * gives none: the usual batch of images; of tables 65,536 rows, whose work is
 * so small that all trainings take many; of a graph the whole. Accepts NULL. */
double dl_trained_batch(const struct dl_architecture *arch);

/* Tensor x pipeline x data-parallel accelerators are all of them; `expert` of
 * the data-parallel ones divide the experts. NaN where n_gpus is unknown. */
struct dl_degrees {
  double tensor, pipeline, context, data, expert;
};

struct dl_degrees dl_degrees_of(const struct dl_run *r);

/* Samples that an accelerator, or a group of them with tensor, pipeline or
 * context parallelism, takes through a forward pass at once: batch_size, with
 * strong scaling its part of that, rounded up. */
double dl_micro_batch(const struct dl_run *r);

/* Samples per optimizer step on all accelerators. */
double dl_global_batch(const struct dl_run *r);

/* The samples, out of so many of a run, that its batches hold: all, or with
 * drop_last the samples of full batches on all accelerators. */
bool dl_drops_last(const struct dl_run *r);
double dl_batched_samples(const struct dl_run *r, double samples);

/* Batches in which each of n accelerators goes through its part of these: full
 * ones, and the samples of a last, smaller one (0: none). Samples are dealt out
 * so that all have as many. */
struct dl_epoch_batches {
  double full, last;
};
struct dl_epoch_batches dl_epoch_batches_of(double samples, double batch,
                                            double n);

/* The share of a network's layers that checkpointing computes again: 1 under
 * full checkpointing, unless the run has fewer layers; 0 under others. */
double dl_checkpointed_share(const struct dl_run *r, double layers);

/* Time of the micro-batches of a step, in times of one, with what stages of a
 * pipeline wait at its ends. Each stage holds v virtual stages, v chunks of
 * layers, and passes micro-batches through them in groups (Narayanan et al.,
 * arXiv 2104.04473): m + (P - 1) / v for m micro-batches and P stages, where m
 * is at least P, else P + (m - 1) / v. v = 1: m + P - 1. */
double dl_pipeline_rounds(double micro_batches, double stages,
                          double virtual_stages);

/* Whether layers are divided evenly, where up to `others` may count as one
 * each: the embedding, the output layer and, where it is said, a layer that
 * predicts a further token (DeepSeek-V3 and Kimi K2: 61 + 3 = 64; NVIDIA's
 * Megatron Bridge trains them with 8, 16 and 32 parts). */
bool dl_divides_layers(const struct dl_row *row, double parts, int others);

/* The most virtual stages of a pipeline stage, up to `most`, that all have an
 * equal number of layers: the embedding and the output layer may count as one
 * each. 1 if there are no others, or layers are unknown. */
double dl_most_virtual_stages(const struct dl_row *row, double most);

/* Weights of the experts that expert parallelism divides among accelerators, as
 * a share of all: 0 where it does not, or without the shape (NULL). */
double dl_divided_experts(const struct dl_run *r,
                          const struct dl_transformer *t);

/* Whether n data-parallel accelerators may divide the experts of a row, evenly
 * and in whole copies. */
bool dl_divides_experts(const struct dl_row *row, double n);

/* Sets a member of a row to what is assumed; its steps forget that when they
 * run again. */
void dl_assume_word(struct dl_row *row, enum dl_run_id id, unsigned word);
void dl_assume_number(struct dl_row *row, enum dl_run_id id, double x);
void dl_forget_assumed(struct dl_row *row);

/* Whether the length of a training is given: its epochs or its tokens. */
static inline bool dl_says_work(const struct dl_row *row) {
  return dl_run_set_has(&row->given, DL_RUN_epochs) ||
         dl_run_set_has(&row->given, DL_RUN_tokens) ||
         dl_run_set_has(&row->given, DL_RUN_train_tokens);
}

/* Whether an engine tuned for a network computes inference, as TensorRT. */
static inline bool dl_runs_engine(const struct dl_run *r) {
  enum dl_software stack = dl_stack_of(r);
  return stack == DL_SOFTWARE_MLPERF || stack == DL_SOFTWARE_TENSORRT;
}

static inline bool dl_is_assumed(const struct dl_row *row, enum dl_run_id id) {
  return dl_run_set_has(&row->assumed, id);
}

/* Whether the settings of a row contradict each other or its descriptors; then
 * appends what is wrong to *to, unless that is NULL. */
bool dl_setup_check(const struct dl_row *row, struct dl_message_style *to);

#endif
