/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/nearest_names.h"
#include "base/number.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define MEMBER(name)                                                           \
  .id = DL_RUN_##name, .offset = offsetof(struct dl_run, name)

const struct dl_run_column dl_run_columns[DL_N_RUN_MEMBERS] = {
#define NUMBER(name_, unit_, low_, high_, role_, summary_)                     \
  {MEMBER(name_), .name = #name_,          .unit = unit_,      .low = low_,    \
   .high = high_, .role = DL_ROLE_##role_, .summary = summary_},
#define WHOLE(name_, unit_, low_, high_, role_, summary_)                      \
  {                                                                            \
      MEMBER(name_),       .name = #name_, .unit = unit_,                      \
      .low = low_,         .high = high_,  .role = DL_ROLE_##role_,            \
      .summary = summary_, .whole = true},
#define TEXT(name_, role_, summary_)                                           \
  {MEMBER(name_), .name = #name_, .is_text = true, .role = DL_ROLE_##role_,    \
   .summary = summary_},
#define WORD(name_, words_, others_, role_, summary_)                          \
  {MEMBER(name_),           .name = #name_,      .is_text = true,              \
   .role = DL_ROLE_##role_, .summary = summary_, .words = words_,              \
   .others = others_},
#include "run/run_columns_body.h"
};

const struct dl_run_column *dl_run_member_find(const char *name) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++)
    if (strcmp(dl_run_columns[i].name, name) == 0)
      return &dl_run_columns[i];
  return NULL;
}

const struct dl_run_column *dl_run_column_find(const char *name) {
  const struct dl_run_column *c = dl_run_member_find(name);
  return c && c->id < DL_N_RUN_COLUMNS ? c : NULL;
}

bool dl_run_is_measured(const char *name) {
  const struct dl_run_column *c = dl_run_column_find(name);
  return c && c->role == DL_ROLE_MEASURED;
}

enum dl_fault_kind dl_run_column_check(const struct dl_run_column *c,
                                       double x) {
  if (x < c->low || x > c->high)
    return DL_FAULT_RANGE;
  return c->whole && x != floor(x) && !isnan(x) ? DL_FAULT_FRACTION
                                                : DL_FAULT_NONE;
}

enum dl_fault_kind dl_run_column_parse(const struct dl_run_column *c,
                                       const char *text, double *x) {
  enum dl_number kind = dl_parse_number(text, strlen(text), x);
  if (kind == DL_NUMBER_INVALID)
    return DL_FAULT_INVALID;
  if (kind == DL_NUMBER_NOT_FINITE)
    return DL_FAULT_NOT_FINITE;
  return c ? dl_run_column_check(c, *x) : DL_FAULT_NONE;
}

/* What people also write for the word of a column; for optimizers by the
 * moments that they keep: two, one. */
static const struct {
  enum dl_run_id id;
  const char *word, *synonyms;
} synonyms[] = {
    {DL_RUN_precision, "fp64", "double|float64"},
    {DL_RUN_precision, "fp32", "float|float32|single"},
    {DL_RUN_precision, "tf32", "tfloat32"},
    {DL_RUN_precision, "fp16", "float16|half"},
    {DL_RUN_precision, "bf16", "bfloat16|bf16-mixed"},
    {DL_RUN_precision, "amp", "mixed|16-mixed"},
    {DL_RUN_precision, "fp8", "float8"},
    {DL_RUN_optimizer, "adamw",
     "adam|nadam|lamb|adamw_torch|adamw_torch_fused"},
    {DL_RUN_optimizer, "sgd", "lars|lion|rmsprop|nesterov|momentum"},
    {DL_RUN_optimizer, "adam8bit",
     "adamw8bit|adamw_bnb_8bit|paged_adamw_8bit|adamw_8bit"},
    {DL_RUN_sharding, "ddp", "none"},
    {DL_RUN_sharding, "zero1", "zero-1"},
    {DL_RUN_sharding, "zero2", "zero-2"},
    {DL_RUN_sharding, "zero3", "zero-3|fsdp"},
    {DL_RUN_stack, "compiled", "compile"},
    {DL_RUN_drop_last, "yes", "true|1"},
    {DL_RUN_drop_last, "no", "false|0"},
};

/* "lora:16" and "qlora:16": words with a rank, which lora_rank follows from. */
static bool is_ranked(const struct dl_run_column *c, const char *text) {
  size_t n = strcspn(text, ":");
  size_t rank;
  return c->id == DL_RUN_fine_tune && text[n] &&
         (strncmp(text, "lora:", n + 1) == 0 ||
          strncmp(text, "qlora:", n + 1) == 0) &&
         dl_parse_count(text + n + 1, &rank) && rank >= 1 &&
         (double)rank <= dl_run_columns[DL_RUN_lora_rank].high;
}

const char *dl_run_word(const struct dl_run_column *c, const char *text) {
  if (!c->words || is_ranked(c, text))
    return text;
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (synonyms[i].id == c->id &&
        dl_word_among(synonyms[i].synonyms, text, strlen(text)) >= 0)
      return synonyms[i].word;
  for (const char *const *w = c->words; *w; w++)
    if (strcasecmp(*w, text) == 0)
      return *w;
  return NULL;
}

enum dl_fault_kind dl_run_column_fault(const struct dl_run_column *c,
                                       const char *text) {
  double x;
  if (c->is_text)
    return c->others || dl_run_word(c, text) ? DL_FAULT_NONE : DL_FAULT_WORD;
  return dl_run_column_parse(c, text, &x);
}

/* Formats of weights, with arithmetic in 16 bits. */
static bool is_4_bit(const char *text) {
  static const char *const formats[] = {"int4", "fp4", "nf4",  "4bit", "4-bit",
                                        "w4",   "awq", "gptq", "q4",   "gguf"};
  for (size_t i = 0; i < DL_LENGTH(formats); i++)
    if (strcasestr(text, formats[i]))
      return true;
  return false;
}

void dl_run_column_explain(const struct dl_run_column *c,
                           enum dl_fault_kind fault, const char *cell,
                           struct dl_text *to) {
  enum { MOST_SHOWN = 64, NEAREST = 2 };
  size_t n = 0;
  switch (fault) {
  case DL_FAULT_RANGE:
    dl_text_printf(to, "%.*s is not between %g and %g", MOST_SHOWN, cell,
                   c->low, c->high);
    break;
  case DL_FAULT_FRACTION:
    dl_text_printf(to, "%.*s is not a whole number", MOST_SHOWN, cell);
    break;
  case DL_FAULT_WORD:
    dl_text_printf(to, "invalid value '%.*s'; ", MOST_SHOWN, cell);
    if (c->id == DL_RUN_precision && is_4_bit(cell)) {
      dl_text_add(to, "for inference with weights of 4 bits give --set "
                      "weight_bytes=0.53");
      break;
    }
    while (c->words[n])
      n++;
    dl_text_add(to, "nearest: ");
    dl_nearest_names(cell, c->words, n, NEAREST, to);
    break;
  default:
    dl_text_printf(to, "%s '%.*s'",
                   fault == DL_FAULT_INVALID ? "invalid number"
                                             : "not a finite number",
                   MOST_SHOWN, cell);
  }
}

const struct dl_run dl_run_unknown = {
#define NUMBER(name, unit, low, high, role, summary) .name = (double)NAN,
#include "run/run_columns_body.h"
};

/* Where the member of a column is; it must be of that type. */
static void *member(const struct dl_run *r, enum dl_run_id id, bool is_text) {
  const struct dl_run_column *c = &dl_run_columns[id];
  assert(c->is_text == is_text);
  (void)is_text;
  return (char *)(uintptr_t)r + c->offset;
}

double dl_run_number(const struct dl_run *r, enum dl_run_id id) {
  return *(double *)member(r, id, false);
}

const char *dl_run_text(const struct dl_run *r, enum dl_run_id id) {
  return *(const char **)member(r, id, true);
}

void dl_run_set_number(struct dl_run *r, enum dl_run_id id, double x) {
  double *to = member(r, id, false);
  *to = isfinite(x) ? x : (double)NAN;
  dl_run_set_put(&r->known, id, isfinite(x) != 0);
}

void dl_run_lend_text(struct dl_run *r, enum dl_run_id id, const char *s) {
  const char **to = member(r, id, true);
  if (dl_run_set_has(&r->owned, id))
    free((void *)(uintptr_t)*to);
  dl_run_set_put(&r->owned, id, false);
  *to = s && *s ? s : NULL;
  dl_run_set_put(&r->known, id, *to != NULL);
}

void dl_run_copy_text(struct dl_run *r, enum dl_run_id id, const char *s) {
  char *copy = s && *s ? dl_strdup(s) : NULL;
  dl_run_lend_text(r, id, copy);
  if (copy)
    dl_run_set_put(&r->owned, id, true);
}

void dl_run_read(struct dl_run *r, const struct dl_run_column *c,
                 const char *text) {
  double x;
  const char *word = c->is_text ? dl_run_word(c, text) : NULL;
  if (c->is_text)
    dl_run_copy_text(r, c->id, word ? word : text);
  else if (dl_parse_double(text, &x))
    dl_run_set_number(r, c->id, x);
}

void dl_run_clear(struct dl_run *r) {
  for (size_t i = 0; i < sizeof r->owned.word / sizeof *r->owned.word; i++)
    while (r->owned.word[i] != 0) /* lending removes the bit */
      dl_run_lend_text(
          r,
          (enum dl_run_id)(i * 64 + (size_t)__builtin_ctzll(r->owned.word[i])),
          NULL);
  /* Few of all members are known. */
  for (size_t i = 0; i < sizeof r->known.word / sizeof *r->known.word; i++)
    for (; r->known.word[i] != 0; r->known.word[i] &= r->known.word[i] - 1) {
      const struct dl_run_column *c =
          &dl_run_columns[i * 64 + (size_t)__builtin_ctzll(r->known.word[i])];
      void *at = (char *)r + c->offset;
      if (c->is_text)
        *(const char **)at = NULL;
      else
        *(double *)at = NAN;
    }
  free(r->epoch);
  r->epoch = NULL;
  r->line = r->n_epochs = r->epochs_cap = 0;
}

void dl_run_fill(struct dl_run *r, struct dl_run *from) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    if (dl_run_has(r, id) || !dl_run_has(from, id))
      continue;
    if (!dl_run_columns[i].is_text) {
      dl_run_set_number(r, id, dl_run_number(from, id));
      continue;
    }
    dl_run_lend_text(r, id, dl_run_text(from, id));
    if (dl_run_set_has(&from->owned, id))
      dl_run_set_put(&r->owned, id, true);
    dl_run_set_put(&from->owned, id, false);
    dl_run_lend_text(from, id, NULL);
  }
}

const char *dl_parts_boundary(bool gpu, bool cpu, bool ram) {
  static const char *const words[] = {NULL,      "ram",        "cpu",
                                      "cpu+ram", "gpu",        "gpu+ram",
                                      "gpu+cpu", "gpu+cpu+ram"};
  return words[gpu * 4 + cpu * 2 + ram];
}

struct dl_epoch *dl_run_add_epoch(struct dl_run *r, enum dl_run_part part) {
  DL_GROW(r->epoch, r->epochs_cap, r->n_epochs + 1);
  double number = 0;
  for (size_t i = r->n_epochs; i > 0 && number == 0; i--)
    if (r->epoch[i - 1].part == DL_PART_EPOCH)
      number = r->epoch[i - 1].number + 1;
  struct dl_epoch *e = &r->epoch[r->n_epochs++];
  *e = (struct dl_epoch){part, part == DL_PART_EPOCH ? number : NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN,  NAN,
                         NAN};
  return e;
}
