/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The title of an estimate, and the lists of values that it assumes and that
 * are known. */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/names/arch_name.h"
#include "cli/options/count_text.h"
#include "cli/views/summary/predict_summary.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/work.h"
#include "run/setup/training_setup.h"

/* Settings in words, and the names of columns that are assumed. */
struct title_settings {
  const struct dl_job *job;
  struct dl_text list[2]; /* given, assumed */
  struct dl_assumed_names *names;
};

static void add(struct title_settings *s, bool given, const char *text) {
  struct dl_text *t = &s->list[given ? 0 : 1];
  dl_text_printf(t, "%s%s", t->len > 0 ? ", " : "", text);
}

/* Notes that a column is assumed; false if that is known. */
static bool note(struct title_settings *s, enum dl_run_id id) {
  struct dl_assumed_names *to = s->names;
  const char *name = dl_run_columns[id].name;
  if (dl_text_index(to->name, to->n, name) >= 0 || to->n == DL_LENGTH(to->name))
    return false;
  to->name[to->n++] = name;
  return true;
}

/* Adds the value of a column; of an assumed one, its name too. */
static void add_column(struct title_settings *s, enum dl_run_id id, bool given,
                       const char *text) {
  add(s, given, text);
  if (!given)
    note(s, id);
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
  dl_group_digits(number);
  bool several = before[0] == '\0' && (x > 1 || x < 1);
  const char *end = strstr(after, "(s)");
  dl_text_printf(&t, "%s%s%.*s%s%s", before, number,
                 end ? (int)(end - after) : (int)strlen(after), after,
                 end && several ? "s" : "", end ? end + 3 : "");
  add_column(s, id, is_given(s, id), dl_text_str(&t));
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
  add_column(s, DL_RUN_precision, is_given(s, DL_RUN_precision), upper);
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
      add_column(s, DL_RUN_dataset, is_given(s, DL_RUN_dataset), name);
    else if (!isnan(job->run->train_samples))
      add_number(s, DL_RUN_train_samples, "", job->run->train_samples,
                 " training sample(s)");
    if (job->fills)
      add_filled(s);
    else if (!dl_lasts_so_long(job))
      add_number(s, DL_RUN_epochs, "", job->epochs, " epoch(s)");
  }
}

/* "1,000 requests of 500 + 200 tokens" */
static void add_requests(struct title_settings *s) {
  const struct dl_run *run = s->job->run;
  const bool tokens =
      is_given(s, DL_RUN_prompt_tokens) && is_given(s, DL_RUN_output_tokens);
  char number[3][DL_NUMBER_SIZE];
  DL_TEXT(t);
  if (!tokens) {
    add_number(s, DL_RUN_requests, "", run->requests,
               isnan(run->prompt_tokens) ? " sample(s)" : " request(s)");
    add_number(s, DL_RUN_prompt_tokens, "", run->prompt_tokens,
               " prompt token(s)");
    add_number(s, DL_RUN_output_tokens, "", run->output_tokens,
               " output token(s)");
    return;
  }
  dl_group_digits(dl_format_large_count(number[1], run->prompt_tokens));
  dl_group_digits(dl_format_large_count(number[2], run->output_tokens));
  if (run->request_rate > 0)
    dl_text_printf(
        &t, "%s requests/s of ",
        dl_group_digits(dl_format_large_count(number[0], run->request_rate)));
  else if (is_given(s, DL_RUN_requests))
    dl_text_printf(
        &t, "%s request%s of ",
        dl_group_digits(dl_format_large_count(number[0], run->requests)),
        run->requests > 1 ? "s" : "");
  if (run->request_rate > 0 || !is_given(s, DL_RUN_requests))
    add_number(s, DL_RUN_requests, "", run->requests, " request(s)");
  dl_text_printf(&t, "%s + %s tokens%s", number[1], number[2],
                 t.len > 0 ? "" : " per request");
  add(s, true, dl_text_str(&t));
}

static void add_inference(struct title_settings *s) {
  const struct dl_run *run = s->job->run;
  add(s, true, "inference");
  if (dl_infers_tuned(s->job))
    add(s, run->stack, "tuned software (TensorRT)");
  add_requests(s);
  add_number(s, DL_RUN_beams, "", run->beams, " beam(s)");
  add_number(s, DL_RUN_denoising_steps, "", run->denoising_steps,
             " denoising step(s)");
  if (!isnan(run->request_rate) && !strstr(dl_text_str(&s->list[0]), "/s of"))
    add_number(s, DL_RUN_request_rate, "", run->request_rate, " requests/s");
}

/* Words for settings that are assumed; a row with a number is left out where it
 * is below 2, a row of a word where it is another word. */
static const struct assumed_words {
  enum dl_run_id id;
  const char *word; /* NULL: a number */
  const char *text; /* with %s for the number */
} assumed_words[] = {
    {DL_RUN_checkpointing, "none", "no recomputation"},
    {DL_RUN_checkpointing, "selective", "selective recomputation"},
    {DL_RUN_checkpointing, "full", "recomputed activations"},
    {DL_RUN_attention, "eager", "eager attention"},
    {DL_RUN_sharding, "zero1", "ZeRO-1"},
    {DL_RUN_sharding, "zero2", "ZeRO-2"},
    {DL_RUN_sharding, "zero3", "ZeRO-3"},
    {DL_RUN_stack, "transformers", "plain %s"},
    {DL_RUN_checkpointed_layers, NULL, "in %s layers"},
    {DL_RUN_lora_rank, NULL, "LoRA rank %s"},
    {DL_RUN_grad_accum, NULL, "%s batches per step"},
    {DL_RUN_tensor_parallel, NULL, "%s GPUs per copy"},
    {DL_RUN_pipeline_parallel, NULL, "%s pipeline stages"},
    {DL_RUN_virtual_stages, NULL, "%s virtual stages"},
    {DL_RUN_expert_parallel, NULL, "%s expert-parallel GPUs"},
    {DL_RUN_replicas, NULL, "%s copies of the model"},
    {DL_RUN_startup_s, NULL, "start-up %s s"},
    {DL_RUN_overhead, NULL, "%s times the steps beside them"}};

static bool has_words(enum dl_run_id id) {
  for (size_t i = 0; i < DL_LENGTH(assumed_words); i++)
    if (assumed_words[i].id == id)
      return true;
  return false;
}

/* Writes a whole number in full, another with so many digits. */
static const char *rounded(char number[DL_NUMBER_SIZE], double x, int digits) {
  if (x == round(x))
    return dl_group_digits(dl_format_short(number, x));
  return dl_format_digits(number, x, digits);
}

static void add_words(struct title_settings *s, bool given,
                      const struct assumed_words *w) {
  const struct dl_run *run = s->job->run;
  const struct dl_architecture *arch = s->job->found.arch;
  const char *library =
      arch && dl_is_language_model(arch) ? "Transformers" : "PyTorch";
  if (!isnan(run->denoising_steps))
    library = "Diffusers";
  const char *word = w->word ? dl_run_text(run, w->id) : NULL;
  double x = w->word ? (double)NAN : dl_run_number(run, w->id);
  DL_TEXT(t);
  if (w->word ? !word || strcmp(word, w->word) != 0 : !(x >= 2))
    return;
  const char *at = strstr(w->text, "%s");
  if (at) {
    char number[DL_NUMBER_SIZE];
    dl_text_printf(&t, "%.*s%s%s", (int)(at - w->text), w->text,
                   w->word ? library : rounded(number, x, 2), at + 2);
  } else
    dl_text_add(&t, w->text);
  add(s, given, dl_text_str(&t));
}

/* Adds what else is assumed: in the words of the table above, others by their
 * label. */
static void add_assumed(struct title_settings *s) {
  char number[DL_NUMBER_SIZE];
  for (size_t i = 0; i < DL_LENGTH(assumed_words); i++)
    if (dl_is_assumed(s->job->row, assumed_words[i].id))
      add_words(s, false, &assumed_words[i]);
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    DL_TEXT(t);
    if (!dl_is_assumed(s->job->row, c->id) || !note(s, c->id) ||
        has_words(c->id) || !c->label)
      continue;
    dl_text_printf(&t, "%s %s", c->label,
                   c->is_text
                       ? dl_run_text(s->job->run, c->id)
                       : rounded(number, dl_run_number(s->job->run, c->id), 3));
    add(s, false, dl_text_str(&t));
  }
}

/* Adds what the user bounds: the memory of activations, the GPU's power and
 * clock. */
static void add_bounds(struct title_settings *s) {
  const struct dl_run *run = s->job->run;
  if (is_given(s, DL_RUN_checkpointing))
    for (size_t i = 0; i < DL_LENGTH(assumed_words); i++)
      if (assumed_words[i].id == DL_RUN_checkpointing)
        add_words(s, true, &assumed_words[i]);
  if (is_given(s, DL_RUN_power_limit_w))
    add_number(s, DL_RUN_power_limit_w, "power limit ", run->power_limit_w,
               " W");
  if (is_given(s, DL_RUN_gpu_clock_mhz))
    add_number(s, DL_RUN_gpu_clock_mhz, "GPU clock ", run->gpu_clock_mhz,
               " MHz");
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
  if (tuning[run->fine_tune]) {
    DL_TEXT(t);
    dl_text_add(&t, tuning[run->fine_tune]);
    if (run->lora_rank > 0 && is_given(s, DL_RUN_lora_rank))
      dl_text_printf(&t, " rank %g", run->lora_rank);
    add(s, true, dl_text_str(&t));
  }
  if (run->cached_latents == DL_CACHED_LATENTS_YES)
    add(s, true, "cached latents");
  if (run->stack && !dl_run_is_inference(run)) {
    DL_TEXT(t);
    dl_text_printf(&t, "software %s", run->stack);
    add(s, true, dl_text_str(&t));
  }
  add_bounds(s);
}

static void add_machine(struct dl_text *t, const struct dl_job *job,
                        const struct dl_node_options *node) {
  const struct dl_accelerator *gpu = job->found.gpu;
  const char *name = gpu ? gpu->head.name : job->run->gpu;
  static const char maker[] = "NVIDIA "; /* most boards name it */
  if (name && strncmp(name, maker, sizeof maker - 1) == 0)
    name += sizeof maker - 1;
  char n[DL_NUMBER_SIZE];
  dl_text_printf(t, "%s x %s",
                 dl_group_digits(dl_format_short(n, job->run->n_gpus)),
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

void dl_predict_title(struct dl_text *t, struct dl_text *assumed,
                      struct dl_assumed_names *names, const struct dl_job *job,
                      const struct dl_node_options *node) {
  const struct dl_architecture *arch = job->found.arch;
  const char *typed = job->run->arch;
  const char *name = arch ? dl_arch_title(&arch->head, typed) : typed;
  struct title_settings s = {.job = job, .names = names};
  *names = (struct dl_assumed_names){0};
  if (name)
    dl_text_printf(t, "%s on ", name);
  add_machine(t, job, node);
  if (name) { /* else the duration alone counts */
    add_settings(&s);
    add_assumed(&s);
  }
  if (s.list[0].len > 0)
    dl_text_printf(t, ": %s", dl_text_str(&s.list[0]));
  dl_text_add(assumed, dl_text_str(&s.list[1]));
  dl_text_free(&s.list[0]);
  dl_text_free(&s.list[1]);
}

/* --- what is known */

void dl_predict_known(struct dl_report *r, const struct dl_job *job,
                      const struct dl_conditioned *known) {
  static const enum dl_run_id ids[] = {
      DL_RUN_duration_s,    DL_RUN_epoch_s,      DL_RUN_step_s,
      DL_RUN_samples_per_s, DL_RUN_tokens_per_s, DL_RUN_gpu_util,
      DL_RUN_gpu_power_w};
  const char *names[DL_LENGTH(ids)];
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(ids); i++)
    if (dl_run_set_has(&job->row->given, ids[i]))
      names[n++] = dl_run_columns[ids[i]].name;
  if (n == 0)
    return;
  dl_report_add(r, "known", NULL, NULL, DL_CODE, dl_strings(names, n));
  if (!known->applies)
    return;
  DL_LINES(r,
           {"busy_share", "GPU busy", "%", DL_PERCENT, dl_number(known->busy)},
           {"static_power_w", "power of waiting GPUs", "W", DL_WATTS,
            dl_number(known->static_w)});
}
