/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Insides of a frame, shared by frame.c (names) and row.c (rows). */

#ifndef DL_RUN_FRAME_PRIVATE_H
#define DL_RUN_FRAME_PRIVATE_H

#include "base/intern.h"
#include "run/frame.h"
#include "run/run_columns.h"

enum place_kind {
  PLACE_OVERRIDE,
  PLACE_FORMULA,
  PLACE_COLUMN,
  PLACE_AXIS,
  PLACE_SETTING,
  PLACE_GPU,
  PLACE_ARCH
};

/* One place where a value may come from. */
struct place {
  enum place_kind kind;
  size_t index;                 /* override, column, axis, setting */
  const struct dl_field *field; /* of the GPU or architecture */
  struct dl_formula *formula;   /* owned */
  size_t *vars;                 /* its slots, owned */
};

enum { MOST_PLACES = 6 };

/* Which places count for a slot. Two slots may share a name. */
enum scope {
  SCOPE_FULL, /* all */
  SCOPE_OWN,  /* what the user gave: nothing derived, no descriptor */
  SCOPE_RAW   /* column or setting: what a definition of itself refers to */
};

struct slot {
  char *name;
  enum scope scope;
  const struct dl_run_column *column; /* its canonical column, or NULL */
  struct place place[MOST_PLACES];    /* in the order they are tried */
  size_t n_places;
  bool required;
  bool early;  /* needed to look descriptors up */
  bool number; /* used as one: a text that is none is a fault */
};

/* A named value or formula as text. */
struct entry {
  char *name;
  char *text;
  struct dl_cell cell; /* settings: the value */
};

struct entries {
  struct entry *e;
  size_t n, cap;
};

struct dl_frame {
  struct dl_catalog *catalog;
  const struct dl_csv *csv;   /* borrowed; NULL without columns */
  const struct dl_axes *axes; /* borrowed; NULL without a sweep */
  struct entries overrides, settings, definitions, aliases;
  struct entries fields[2]; /* overridden fields: gpu, arch */
  struct slot *slots;
  size_t n_slots, cap_slots;
  struct dl_strlist resolving; /* names being resolved: cycles stop there */
  bool deriving;               /* in a derived formula, not a definition */
  bool want_gpu, want_arch;
  size_t gpu_slot, arch_slot; /* set with want_* */
  size_t px_slot, seq_slot, classes_slot;
  /* Descriptors already looked up, by the name as rows write it. */
  struct dl_intern gpu_names, arch_names;
  struct dl_text key; /* being looked up */
  struct dl_row_descriptors *gpus, *archs;
  struct dl_descriptor **copies; /* owned */
  size_t n_copies, cap_copies, cap_gpus, cap_archs;
  struct dl_row_descriptors *row; /* of the block */
  size_t cap_rows;
};

/* Where the values of a row come from. */
struct row_source {
  const struct dl_csv_block *block; /* NULL without columns */
  size_t row;                       /* of the block */
  const size_t *at;                 /* value of each axis; NULL without */
  struct dl_row_descriptors found;
};

/* The value of a slot, from the cells of the slots before it. */
struct dl_cell dl_slot_value(const struct dl_frame *f,
                             const struct row_source *from, size_t slot,
                             const struct dl_cell *cells,
                             struct dl_fault *fault);

/* The name a row's architecture or GPU goes by in the catalogue. */
const char *dl_frame_meant(const struct dl_frame *f, const char *name);

/* Index of an entry by name, or -1. */
long dl_entry_find(const struct entries *es, const char *name);

#endif
