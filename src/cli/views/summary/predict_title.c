/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line that says what was estimated. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/options/count_text.h"
#include "cli/views/summary/predict_summary.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/work.h"
#include "run/setup/training_setup.h"

/* Settings that were given, and defaults. */
struct title_settings {
  const struct dl_job *job;
  struct dl_text list[2]; /* given, default */
};

static void add(struct title_settings *s, bool given, const char *text) {
  struct dl_text *t = &s->list[given ? 0 : 1];
  dl_text_printf(t, "%s%s", t->len > 0 ? ", " : "", text);
}

/* A number that follows from given ones is no default. */
static bool is_given(const struct title_settings *s, enum dl_run_id id) {
  const struct dl_run_set *given = &s->job->row->given;
  bool from = false;
  if (id == DL_RUN_tokens)
    from = dl_run_set_has(given, DL_RUN_train_tokens);
  else if (id == DL_RUN_batch_size)
    from = dl_run_set_has(given, DL_RUN_global_batch);
  else if (id == DL_RUN_requests)
    from = dl_run_set_has(given, DL_RUN_request_rate) &&
           dl_run_set_has(given, DL_RUN_duration_s);
  return (from || dl_run_set_has(given, id)) && !dl_is_assumed(s->job->row, id);
}

/* A number between two texts: "batch size 256", "90 epochs"; an s follows a
 * noun of several. */
static void add_number(struct title_settings *s, enum dl_run_id id,
                       const char *before, double x, const char *after) {
  char number[DL_NUMBER_SIZE];
  DL_TEXT(t);
  if (isnan(x))
    return;
  dl_format_large_count(number, x);
  bool several = before[0] == '\0' && (x > 1 || x < 1);
  const char *end = strstr(after, "(s)");
  dl_text_printf(&t, "%s%s%.*s%s%s", before, number,
                 end ? (int)(end - after) : (int)strlen(after), after,
                 end && several ? "s" : "", end ? end + 3 : "");
  add(s, is_given(s, id), dl_text_str(&t));
}

/* "TF32"; words of more than formats and digits stay as they are. */
static void add_precision(struct title_settings *s) {
  const char *p = dl_precision_words[s->job->run->precision];
  char upper[16];
  size_t n = p ? strlen(p) : 0;
  if (n == 0 || n >= sizeof upper)
    return;
  for (size_t i = 0; i <= n; i++)
    upper[i] = (char)toupper((unsigned char)p[i]);
  add(s, is_given(s, DL_RUN_precision), upper);
}

/* "4.16 epochs": what fills a known duration at a known speed, else the tokens
 * or samples that do. */
static void add_filled(struct title_settings *s) {
  const struct dl_job *job = s->job;
  /* The number of epochs of unknown size is known. */
  bool epochs = !isnan(job->run->train_samples) || !(job->train_samples > 0);
  bool tokens = !isnan(job->seq_len);
  const char *unit = "training samples";
  double x = job->train_samples;
  if (epochs) {
    unit = "epochs";
    x = job->epochs;
  } else if (tokens) {
    unit = "tokens";
    x *= job->seq_len;
  }
  DL_TEXT(t);
  char number[DL_NUMBER_SIZE];
  dl_format_digits(number, x, 3);
  if (!epochs)
    dl_format_large_count(number, strtod(number, NULL));
  dl_text_printf(&t, "%s %s", number, unit);
  add(s, true, dl_text_str(&t));
}

static void add_data(struct title_settings *s) {
  const struct dl_job *job = s->job;
  if (!isnan(job->run->tokens)) {
    add_number(s, DL_RUN_tokens, "", job->run->tokens, " token(s)");
  } else {
    const char *name = dl_job_dataset(job);
    bool samples = is_given(s, DL_RUN_train_samples);
    if (name && !samples)
      add(s, is_given(s, DL_RUN_dataset), name);
    else if (!isnan(job->run->train_samples))
      add_number(s, DL_RUN_train_samples, "", job->run->train_samples,
                 " training sample(s)");
    if (job->fills)
      add_filled(s);
    else if (!dl_lasts_so_long(job))
      add_number(s, DL_RUN_epochs, "", job->epochs, " epoch(s)");
  }
}

static void add_inference(struct title_settings *s) {
  const struct dl_run *run = s->job->run;
  add(s, true, "inference");
  if (dl_infers_tuned(s->job))
    add(s, run->stack, "tuned software (TensorRT)");
  add_number(s, DL_RUN_requests, "", run->requests,
             isnan(run->prompt_tokens) ? " sample(s)" : " request(s)");
  add_number(s, DL_RUN_prompt_tokens, "", run->prompt_tokens,
             " prompt token(s)");
  add_number(s, DL_RUN_output_tokens, "", run->output_tokens,
             " output token(s)");
  add_number(s, DL_RUN_denoising_steps, "", run->denoising_steps,
             " denoising step(s)");
  if (!isnan(run->request_rate))
    add_number(s, DL_RUN_request_rate, "", run->request_rate,
               " requests per second");
}

/* Checkpointing that dlest assumes, since a training would not fit or is slower
 * otherwise. */
static void add_checkpointing(struct title_settings *s) {
  const struct dl_run *run = s->job->run;
  char n[DL_NUMBER_SIZE];
  DL_TEXT(t);
  if (run->checkpointing != DL_CHECKPOINT_FULL ||
      is_given(s, DL_RUN_checkpointing))
    return;
  dl_text_add(&t, "full checkpointing");
  if (!isnan(run->checkpointed_layers))
    dl_text_printf(&t, " of %s layers",
                   dl_format_short(n, run->checkpointed_layers));
  add(s, false, dl_text_str(&t));
}

static void add_settings(struct title_settings *s) {
  static const char *const tuning[DL_TUNE_OTHER] = {[DL_TUNE_HEAD] =
                                                        "classifier alone",
                                                    [DL_TUNE_LORA] = "LoRA",
                                                    [DL_TUNE_QLORA] = "QLoRA"};
  const struct dl_job *job = s->job;
  const struct dl_run *run = job->run;
  bool language = job->found.arch && dl_is_language_model(job->found.arch);
  if (dl_run_is_inference(job->run))
    add_inference(s);
  else
    add_data(s);
  if (is_given(s, DL_RUN_global_batch))
    add_number(s, DL_RUN_global_batch, "global batch size ", run->global_batch,
               "");
  add_number(s, DL_RUN_batch_size, "batch size ", run->batch_size, "");
  bool generates = dl_run_is_inference(run) && !isnan(run->prompt_tokens);
  if (language && !generates)
    add_number(s, DL_RUN_seq_len, "", job->seq_len, " token(s) per sequence");
  /* Data sets are often used at another size than the network's, and images are
   * generated at any. */
  if (!language &&
      (is_given(s, DL_RUN_image_px) || is_given(s, DL_RUN_dataset) ||
       !isnan(run->denoising_steps)))
    add_number(s, DL_RUN_image_px, "", run->image_px, " px");
  add_precision(s);
  if (tuning[run->fine_tune])
    add(s, true, tuning[run->fine_tune]);
  if (run->cached_latents == DL_CACHED_LATENTS_YES)
    add(s, true, "cached latents");
  add_checkpointing(s);
  if (run->stack && !dl_run_is_inference(run)) {
    DL_TEXT(t);
    dl_text_printf(&t, "software %s", run->stack);
    add(s, true, dl_text_str(&t));
  }
}

static void add_machine(struct dl_text *t, const struct dl_job *job,
                        const struct dl_node_options *node) {
  const struct dl_accelerator *gpu = job->found.gpu;
  const char *name = gpu ? gpu->head.name : job->run->gpu;
  char n[DL_NUMBER_SIZE];
  dl_text_printf(t, "%s x %s", dl_format_short(n, job->run->n_gpus),
                 name ? name : "unknown accelerator");
  if (node->profile)
    dl_text_printf(t, " (%s)", node->profile);
  else if (!isnan(node->gpu_share))
    dl_text_printf(t, " (%g %% of it)", 100 * node->gpu_share);
  if (node->found && node->use.nodes > 1)
    dl_text_printf(t, " in %s x %s", dl_format_short(n, node->use.nodes),
                   node->entry.head.name);
  else if (node->found)
    dl_text_printf(t, " in node %s", node->entry.head.id);
}

void dl_predict_title(struct dl_text *t, const struct dl_job *job,
                      const struct dl_node_options *node) {
  const struct dl_architecture *arch = job->found.arch;
  const char *name = arch ? arch->head.name : job->run->arch;
  struct title_settings s = {.job = job};
  if (name)
    dl_text_printf(t, "%s on ", name);
  add_machine(t, job, node);
  if (name) /* else the duration alone counts */
    add_settings(&s);
  if (s.list[0].len > 0)
    dl_text_printf(t, ": %s", dl_text_str(&s.list[0]));
  if (s.list[1].len > 0)
    dl_text_printf(t, s.list[0].len > 0 ? " (defaults: %s)" : "; defaults: %s",
                   dl_text_str(&s.list[1]));
  dl_text_free(&s.list[0]);
  dl_text_free(&s.list[1]);
}
