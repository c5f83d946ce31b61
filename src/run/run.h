/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: a row of the runs table, with its epochs where a log has them.
 *
 * struct dl_run has a typed member for each row of quantities.def. Read
 * members directly; write them through the functions below, which keep the set
 * of known columns. A member that is not known is NaN or NULL, so that
 * arithmetic on it gives NaN.
 *
 * A text is the run's own (dl_run_copy_text) or borrowed
 * (dl_run_lend_text); the set `owned` has those that dl_run_clear frees. */

#ifndef DL_RUN_RUN_H
#define DL_RUN_RUN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "quantities/quantities.h"

/* One epoch, or what lies before the first or behind the last one. NaN:
 * unknown. Energies of a run's parts add up to the run's exactly. */
enum dl_run_part { DL_PART_EPOCH, DL_PART_START, DL_PART_END };

struct dl_epoch {
  enum dl_run_part part;
  double number;  /* from 0; NaN for other parts */
  double start_s; /* from the beginning of the run */
  double duration_s;
  double gpu_power_w, gpu_util;
  double gpu_energy_j, ram_energy_j, cpu_energy_j, node_energy_j;
  double energy_j;
};

/* A set of columns: bit id % 64 of word id / 64. */
struct dl_run_set {
  uint64_t word[(DL_N_RUN_MEMBERS + 63) / 64];
};

static inline bool dl_run_set_has(const struct dl_run_set *s,
                                  enum dl_run_id id) {
  return s->word[id / 64] >> (id % 64) & 1;
}

/* Adds a column to a set, or removes it. */
static inline void dl_run_set_put(struct dl_run_set *s, enum dl_run_id id,
                                  bool in) {
  uint64_t bit = UINT64_C(1) << (id % 64);
  s->word[id / 64] = (s->word[id / 64] & ~bit) | (in ? bit : 0);
}

struct dl_run {
#define NUMBER(name, ...) double name;
#define TEXT(name, ...) const char *name;
#define WORD(name, list, ...) enum dl_##list name;
#include "quantities/quantities.def"
  struct dl_run_set known, owned;
  size_t line; /* of the row it comes from; 0: the whole file */
  struct dl_epoch *epoch;
  size_t n_epochs, epochs_cap;
};

extern const size_t dl_run_offsets[DL_N_RUN_MEMBERS];

/* A run without any value. */
extern const struct dl_run dl_run_unknown;

/* Frees what a run holds; it has no values after that. */
void dl_run_clear(struct dl_run *r);

static inline bool dl_run_has(const struct dl_run *r, enum dl_run_id id) {
  return dl_run_set_has(&r->known, id);
}

static inline bool dl_run_is_inference(const struct dl_run *r) {
  return r->phase == DL_PHASE_INFERENCE;
}

/* The member of a column: a number, or NaN; a text, the text of a word, or
 * NULL; a word, or 0. The column must be of that type (asserted). */
double dl_run_number(const struct dl_run *r, enum dl_run_id id);
const char *dl_run_text(const struct dl_run *r, enum dl_run_id id);
unsigned dl_run_word_of(const struct dl_run *r, enum dl_run_id id);

/* Words of columns that take other texts too: dl_stack_of(run). */
#define OPEN(name, list, ...)                                                  \
  static inline enum dl_##list dl_##name##_of(const struct dl_run *r) {        \
    return (enum dl_##list)dl_word_id(&dl_run_columns[DL_RUN_##name],          \
                                      r->name);                                \
  }
#define WORD(name, list, ...)
#include "quantities/quantities.def"

/* Sets a number; a value that is not finite makes the column unknown. */
void dl_run_set_number(struct dl_run *r, enum dl_run_id id, double x);

/* Sets a word; 0 makes the column unknown. */
void dl_run_set_word(struct dl_run *r, enum dl_run_id id, unsigned word);

/* Sets a text, or the word that a text is: a copy that the run owns, or one
 * that is borrowed and must outlive the run. NULL and "" make the column
 * unknown. */
void dl_run_copy_text(struct dl_run *r, enum dl_run_id id, const char *s);
void dl_run_lend_text(struct dl_run *r, enum dl_run_id id, const char *s);

/* Sets a column from a text: a number, a copy of a text, or the word that it
 * stands for. dl_run_column_fault says whether it is one. */
void dl_run_read(struct dl_run *r, const struct dl_run_column *c,
                 const char *text);

/* Fills what is unknown in r from `from`, which keeps its numbers and gives its
 * texts away. */
void dl_run_fill(struct dl_run *r, struct dl_run *from);

/* The word for an energy of these parts of a node: "gpu", "gpu+ram",
 * "gpu+cpu+ram", "cpu", ...; NULL for none of them. "node" is more: fans,
 * drives and the loss of supplies, which a meter at the wall plug sees. */
const char *dl_parts_boundary(bool gpu, bool cpu, bool ram);

/* A new epoch at the end, all unknown but `part` and its number. */
struct dl_epoch *dl_run_add_epoch(struct dl_run *r, enum dl_run_part part);

#endif
