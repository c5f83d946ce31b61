/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quantities/quantities.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "base/number.h"

/* --- The table. */

#define W(id, word, synonyms) word,
#define WORDS(list, LIST, words)                                               \
  const char *const dl_##list##_words[] = {NULL, words NULL};
#include "quantities/quantities.def"
#undef W

#define W(id, word, synonyms) synonyms,
#define WORDS(list, LIST, words)                                               \
  static const char *const list##_synonyms[] = {words NULL};
#include "quantities/quantities.def"
#undef W

#define OPTION(name_, letter_, argument_, help_) .option = (name_),
#define ALSO(name_)
#define SET_BY(name_) .set_by = (name_),
#define FORM(form_) .form = DL_FORM_##form_,
#define TYPED_WHOLE .typed_whole = true,
#define LEAST(x_) .least = (x_),
#define READS
#define SWEEPS .sweeps = true,
#define PHASE(phase_) .phase = DL_PHASE_##phase_,
#define METHODS(mask_) .methods = (mask_),
#define OFFERS(words_) .offers = (words_),
#define SETUP .setup = true,
#define LABEL(text_) .label = (text_),
#define LABEL_UNIT(unit_) .label_unit = (unit_),
#define HEADING(text_) .heading = (text_),
#define MAIN .is_main = true,
#define EXTRACTED .extracted = true,
#define CALLED(names_) .called = (names_),

#define ROW(name_, role_, summary_, ...)                                       \
  .id = DL_RUN_##name_, .name = #name_, .role = DL_ROLE_##role_,               \
  .summary = (summary_), __VA_ARGS__

const struct dl_run_column dl_run_columns[DL_N_RUN_MEMBERS] = {
#define NUMBER(name_, unit_, low_, high_, role_, ...)                          \
  {.unit = unit_, .low = low_, .high = high_, ROW(name_, role_, __VA_ARGS__)},
#define WHOLE(name_, unit_, low_, high_, role_, ...)                           \
  {.unit = unit_,                                                              \
   .low = low_,                                                                \
   .high = high_,                                                              \
   .whole = true,                                                              \
   ROW(name_, role_, __VA_ARGS__)},
#define TEXT(name_, role_, ...)                                                \
  {.is_text = true, ROW(name_, role_, __VA_ARGS__)},
#define WORD(name_, list_, role_, ...)                                         \
  {.is_text = true,                                                            \
   .words = dl_##list_##_words + 1,                                            \
   .synonyms = list_##_synonyms,                                               \
   ROW(name_, role_, __VA_ARGS__)},
#define OPEN(name_, list_, role_, ...)                                         \
  {.is_text = true,                                                            \
   .others = true,                                                             \
   .words = dl_##list_##_words + 1,                                            \
   .synonyms = list_##_synonyms,                                               \
   ROW(name_, role_, __VA_ARGS__)},
#include "quantities/quantities.def"
};

const struct dl_run_column *dl_run_member_find(const char *name) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++)
    if (*dl_run_columns[i].name == *name &&
        strcmp(dl_run_columns[i].name, name) == 0)
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
  for (size_t i = 0; c->words[i]; i++)
    if (c->synonyms[i] &&
        dl_word_among(c->synonyms[i], text, strlen(text)) >= 0)
      return c->words[i];
  for (const char *const *w = c->words; *w; w++)
    if (strcasecmp(*w, text) == 0)
      return *w;
  return NULL;
}

unsigned dl_word_id(const struct dl_run_column *c, const char *word) {
  size_t n = word ? strcspn(word, ":") : 0;
  unsigned id = 0;
  if (n == 0)
    return 0;
  while (c->words[id])
    if (strncmp(c->words[id++], word, n) == 0 && !c->words[id - 1][n])
      return id;
  return c->others ? id + 1 : 0;
}

double dl_rank_in(const char *fine_tune) {
  const char *colon = fine_tune ? strchr(fine_tune, ':') : NULL;
  double rank;
  return colon && dl_parse_double(colon + 1, &rank) ? rank : (double)NAN;
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
                                        "w4",   "awq", "gptq", "gguf"};
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
      dl_text_add(to, "for inference with weights of 4 bits give q4_k_m or "
                      "another GGUF type, or --set weight_bytes=0.53");
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
