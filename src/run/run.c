/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* The offset of each column's member. */
const size_t dl_run_offsets[DL_N_RUN_MEMBERS] = {
#define NUMBER(name, ...) offsetof(struct dl_run, name),
#define TEXT(name, ...) offsetof(struct dl_run, name),
#include "quantities/quantities.def"
};

const struct dl_run dl_run_unknown = {
#define NUMBER(name, ...) .name = (double)NAN,
#include "quantities/quantities.def"
};

/* The type of a member. */
enum type { IS_NUMBER, IS_TEXT, IS_WORD };

static enum type type_of(enum dl_run_id id) {
  const struct dl_run_column *c = &dl_run_columns[id];
  if (!c->is_text)
    return IS_NUMBER;
  return dl_is_listed(c) ? IS_WORD : IS_TEXT;
}

/* Returns the member of a column; it must be of that type. */
static void *member(const struct dl_run *r, enum dl_run_id id, enum type type) {
  assert(type_of(id) == type);
  (void)type;
  return (char *)(uintptr_t)r + dl_run_offsets[id];
}

double dl_run_number(const struct dl_run *r, enum dl_run_id id) {
  return *(double *)member(r, id, IS_NUMBER);
}

unsigned dl_run_word_of(const struct dl_run *r, enum dl_run_id id) {
  return *(unsigned *)member(r, id, IS_WORD);
}

const char *dl_run_text(const struct dl_run *r, enum dl_run_id id) {
  if (type_of(id) == IS_TEXT)
    return *(const char **)member(r, id, IS_TEXT);
  unsigned word = dl_run_word_of(r, id);
  return word ? dl_run_columns[id].words[word - 1] : NULL;
}

void dl_run_set_number(struct dl_run *r, enum dl_run_id id, double x) {
  double *to = member(r, id, IS_NUMBER);
  *to = isfinite(x) ? x : (double)NAN;
  dl_run_set_put(&r->known, id, isfinite(x) != 0);
}

void dl_run_set_word(struct dl_run *r, enum dl_run_id id, unsigned word) {
  *(unsigned *)member(r, id, IS_WORD) = word;
  dl_run_set_put(&r->known, id, word != 0);
}

void dl_run_lend_text(struct dl_run *r, enum dl_run_id id, const char *s) {
  if (type_of(id) == IS_WORD) {
    dl_run_set_word(r, id, dl_word_id(&dl_run_columns[id], s));
    return;
  }
  const char **to = member(r, id, IS_TEXT);
  if (dl_run_set_has(&r->owned, id))
    free((void *)(uintptr_t)*to);
  dl_run_set_put(&r->owned, id, false);
  *to = s && *s ? s : NULL;
  dl_run_set_put(&r->known, id, *to != NULL);
}

void dl_run_copy_text(struct dl_run *r, enum dl_run_id id, const char *s) {
  char *copy = s && *s && type_of(id) == IS_TEXT ? dl_strdup(s) : NULL;
  dl_run_lend_text(r, id, copy ? copy : s);
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
  if (c->id == DL_RUN_fine_tune && isnan(r->lora_rank))
    dl_run_set_number(r, DL_RUN_lora_rank, dl_rank_in(text));
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
      void *at = (char *)r + dl_run_offsets[c->id];
      if (dl_is_listed(c))
        *(unsigned *)at = 0;
      else if (c->is_text)
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
