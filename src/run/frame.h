/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A frame gives the quantities of a row by name, wherever they come from:
 * the columns of a runs table, settings given by the user, definitions,
 * derived quantities, descriptors. One estimate from the command line is a
 * frame without columns.
 *
 * A name is looked for in this order, an unknown value passing on to the
 * next: override, definition, column, setting, derived (epoch_energy_j =
 * energy_j / epochs, macs_g = arch.macs_g, ...), field of a descriptor
 * (gpu.tdp_w, arch.params_m).
 *
 * Use: new, columns and settings, then a slot for each name that is needed,
 * then for each block dl_frame_block and for each row dl_frame_row. */

#ifndef DL_RUN_FRAME_H
#define DL_RUN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "io/csv.h"
#include "run/formula/formula.h"
#include "run/sweep_axis.h"

struct dl_frame;

/* `c` is borrowed. NULL when memory is out. */
struct dl_frame *dl_frame_new(struct dl_catalog *c);
void dl_frame_free(struct dl_frame *f); /* accepts NULL */

/* Takes the columns of a table; `csv` must outlive the frame. */
void dl_frame_columns(struct dl_frame *f, const struct dl_csv *csv);

/* Takes the columns of a sweep, whose rows are walked over (walk.h); `axes`
 * must outlive the frame. Opens the user's own descriptor files among the
 * values. */
enum dl_status dl_frame_axes(struct dl_frame *f, const struct dl_axes *axes,
                             struct dl_diag *d);

/* A value for rows that have none of their own. The name is not checked. */
enum dl_status dl_frame_setting(struct dl_frame *f, const char *name,
                                const char *value, struct dl_diag *d);

/* "NAME=VALUE": an override, before anything a row says. NAME is a column or
 * a field of a descriptor (gpu.tdp_w, arch.macs_g). */
enum dl_status dl_frame_override(struct dl_frame *f, const char *assignment,
                                 struct dl_diag *d);

/* "NAME=FORMULA": a quantity computed from others. A plain name renames a
 * column, texts too. */
enum dl_status dl_frame_define(struct dl_frame *f, const char *assignment,
                               struct dl_diag *d);

/* "NAME=ID": rows that call an architecture or a GPU NAME mean the
 * catalogue's ID. */
enum dl_status dl_frame_alias(struct dl_frame *f, const char *assignment,
                              struct dl_diag *d);

/* Whether a name has any place it could come from. */
bool dl_frame_has(const struct dl_frame *f, const char *name);

/* The slot of a name. `required`: an unknown name is an error (DL_EUSAGE)
 * that names the nearest, and a row without a value for it is at fault;
 * otherwise its value is then NaN or NULL. */
enum dl_status dl_frame_slot(struct dl_frame *f, const char *name,
                             bool required, size_t *slot, struct dl_diag *d);

/* Slots for all variables of a formula; *index (one a variable) is owned by
 * the caller. */
enum dl_status dl_frame_bind(struct dl_frame *f, const struct dl_formula *g,
                             bool required, size_t **index, struct dl_diag *d);

/* Warns of overrides and definitions that nothing uses: a misspelt name. To
 * be called when all slots have been taken. */
void dl_frame_warn_unused(const struct dl_frame *f, struct dl_diag *d);

/* Have descriptors looked up for each row, though no slot needs them. */
void dl_frame_want_descriptors(struct dl_frame *f);

size_t dl_frame_n_slots(const struct dl_frame *f);
const char *dl_frame_slot_name(const struct dl_frame *f, size_t slot);

/* What is wrong with a row. */
struct dl_fault {
  enum {
    DL_FAULT_NONE,
    DL_FAULT_INVALID,
    DL_FAULT_NOT_FINITE,
    DL_FAULT_RANGE,
    DL_FAULT_ABSENT
  } kind;
  size_t slot;
  const char *cell; /* the text at fault; belongs to the block */
};

/* A row's descriptors; NULL where the name is absent or unknown. */
struct dl_row_descriptors {
  const struct dl_accelerator *gpu;
  const struct dl_architecture *arch; /* at the row's input size */
  bool scaled;                        /* arch was scaled to that size */
};

/* Looks up the descriptors of all rows of a block (NULL: the one row of a
 * frame without columns). Call before dl_frame_row; not thread-safe. */
enum dl_status dl_frame_block(struct dl_frame *f,
                              const struct dl_csv_block *block,
                              struct dl_diag *d);

/* Values of row i of the block into cells (n_slots). Thread-safe after
 * dl_frame_block. fault->kind tells whether the row can be used. */
void dl_frame_row(const struct dl_frame *f, const struct dl_csv_block *block,
                  size_t i, struct dl_cell *cells, struct dl_fault *fault);

const struct dl_row_descriptors *dl_frame_descriptors(const struct dl_frame *f,
                                                      size_t i);

/* Puts a fault into words, as a skipped row (line > 0) or, for a frame
 * without columns, as an error. */
enum dl_status dl_frame_complain(struct dl_frame *f,
                                 const struct dl_fault *fault,
                                 const struct dl_cell *cells, const char *path,
                                 size_t line, struct dl_diag *d);

#endif
