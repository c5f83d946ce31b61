/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of one row: the typed run, its descriptors, and cells for names
 * that are no columns of the runs table. */

#ifndef DL_RUN_ROW_H
#define DL_RUN_ROW_H

#include <math.h>

#include "catalog/descriptor_kinds.h"
#include "run/run.h"

/* Quantities have numbers: the number of the run's member, or of a field of the
 * row's accelerator or architecture; higher ones are names of the user's own.
 */
enum dl_row_name {
#define TEXT(name, help) DL_OF_GPU_##name,
#define NUMBER(name, unit, low, high, help) DL_OF_GPU_##name,
  DL_OF_GPU_id = DL_N_RUN_MEMBERS,
  DL_OF_GPU_name,
#define FIELDS_OF_ACCELERATOR
#include "catalog/descriptor_fields_body.h"
#undef TEXT
#undef NUMBER
#define TEXT(name, help) DL_OF_ARCH_##name,
#define NUMBER(name, unit, low, high, help) DL_OF_ARCH_##name,
  DL_OF_ARCH_id,
  DL_OF_ARCH_name,
#define FIELDS_OF_ARCHITECTURE
#include "catalog/descriptor_fields_body.h"
#undef TEXT
#undef NUMBER
  DL_N_PLAN_NAMES
};

/* A number, or a text, or both. */
struct dl_cell {
  double x;      /* NaN: unknown */
  const char *s; /* borrowed; NULL: unknown */
};

/* The error in a row. */
struct dl_fault {
  enum dl_fault_kind kind;
  size_t step;      /* of the plan; of a contradiction: its rule */
  const char *cell; /* the text at fault, which belongs to the block; NULL: x */
  double x;         /* of a contradiction: its ratio */
};

/* A row's descriptors; NULL where the name is absent or unknown. */
struct dl_row_descriptors {
  const struct dl_accelerator *gpu;
  const struct dl_architecture *arch; /* at the row's input size */
  bool scaled;                        /* arch was scaled to that size */
  const struct dl_dataset *dataset;   /* only where its sizes are needed */
};

struct dl_row {
  struct dl_run run; /* texts are borrowed */
  /* Members that the user gave: a setting, a column, an override or a
   * definition. Others follow from them or from descriptors. */
  struct dl_run_set given;
  struct dl_run_set assumed; /* members that dl_plan_assume's function set */
  struct dl_row_descriptors found;
  struct dl_cell *cell;
  struct dl_fault fault;
};

/* Whether a value that the user gives is wrong, not merely absent. */
static inline bool dl_row_is_invalid(const struct dl_row *r) {
  return r->fault.kind != DL_FAULT_NONE && r->fault.kind < DL_FAULT_ABSENT;
}

/* The place of a quantity in rows. */
struct dl_row_ref {
  /* All but the first are members of the run. */
  enum { DL_IN_CELL, DL_IN_NUMBER, DL_IN_TEXT, DL_IN_WORD } in;
  size_t at; /* index of the cell, id of the word, or offset in struct dl_run */
  size_t step; /* of the plan that sets it */
};

/* NaN and NULL where unknown, or of the other type. */
static inline double dl_row_number(const struct dl_row *r,
                                   const struct dl_row_ref *q) {
  if (q->in == DL_IN_NUMBER)
    return *(const double *)(const void *)((const char *)&r->run + q->at);
  return q->in == DL_IN_CELL ? r->cell[q->at].x : (double)NAN;
}

static inline const char *dl_row_text(const struct dl_row *r,
                                      const struct dl_row_ref *q) {
  if (q->in == DL_IN_TEXT)
    return *(const char *const *)(const void *)((const char *)&r->run + q->at);
  if (q->in == DL_IN_WORD)
    return dl_run_text(&r->run, (enum dl_run_id)q->at);
  return q->in == DL_IN_CELL ? r->cell[q->at].s : NULL;
}

/* The word of a member; 0 where unknown. */
static inline unsigned dl_row_word(const struct dl_row *r,
                                   const struct dl_row_ref *q) {
  return q->in == DL_IN_WORD ? dl_run_word_of(&r->run, (enum dl_run_id)q->at)
                             : 0;
}

#endif
