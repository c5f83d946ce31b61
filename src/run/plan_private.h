/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Insides of a plan, shared by its files and by sweep_cursor.c. */

#ifndef DL_RUN_PLAN_PRIVATE_H
#define DL_RUN_PLAN_PRIVATE_H

#include <stdint.h>

#include "base/names/intern.h"
#include "catalog/architecture/scaling.h"
#include "run/plan.h"

enum source_kind {
  SOURCE_OVERRIDE,
  SOURCE_DEFINITION,
  SOURCE_COLUMN,
  SOURCE_AXIS,    /* the user's up to here */
  SOURCE_DATASET, /* a size of the row's data set */
  SOURCE_DERIVED,
  SOURCE_USUAL, /* what jobs have that do not say it */
  SOURCE_DESCRIPTOR
};

struct derivation;

/* A value, or the look-up of a descriptor. */
enum step_kind { STEP_GPU, STEP_ARCH, STEP_DATASET, N_LOOK_UPS, STEP_VALUE };

/* The sources that a step may take its value from. */
struct source {
  enum source_kind kind;
  struct dl_cell value;             /* of an override: of every row */
  size_t index;                     /* column, axis */
  const struct dl_field *field;     /* of a descriptor, */
  enum step_kind look_up;           /* which this step finds */
  const struct derivation *derived; /* or usual */
  struct dl_formula *formula;       /* of a definition, owned */
  struct dl_row_ref *vars;          /* what it builds on, owned */
  size_t n_vars;
};

/* Definition, column, axis, data set, derived, usual, descriptor. */
enum { MOST_SOURCES = 8 };

/* Which sources count. Steps for several scopes may have one name. */
enum scope {
  SCOPE_FULL, /* all */
  SCOPE_OWN,  /* the user's: nothing derived, no descriptor */
  SCOPE_RAW,  /* column or setting: what a definition of itself refers to */
  N_SCOPES
};

/* The facts that are known of a name. Numbers of entries, axes and steps are
 * from 1; 0: there is none. */
struct name {
  const char *text; /* NULL: a field that nothing needs */
  size_t override, definition, axis;
  size_t step[N_SCOPES][2]; /* that sets a member of the run, or a cell */
  bool resolving;           /* cycles stop there */
};

/* A step without a name, and a name that the plan does not have. */
#define NO_NAME SIZE_MAX

struct step {
  enum step_kind kind;
  size_t name; /* NO_NAME: a formula of its own, or a look-up */
  enum scope scope;
  const struct dl_run_column *column; /* of that name, or NULL */
  struct dl_row_ref target;
  enum dl_run_id id;                  /* of the member that it sets */
  bool has_default;                   /* rows begin with a value of it */
  struct source source[MOST_SOURCES]; /* in the order they are tried */
  size_t n_sources;
  unsigned depends; /* bit i: on axis i */
  bool of_batch;    /* a formula over batch_size, which may be assumed */
  bool required;
  bool wanted;    /* not only to look a descriptor up */
  bool number;    /* used as one: a text that is none is a fault */
  bool on_demand; /* computed when it is wanted */
};

/* A named value or formula as the user gives it. */
struct entry {
  char *name;
  char *text;
  struct dl_cell cell;
};

struct entries {
  struct entry *e;
  size_t n, cap;
};

/* Descriptors already looked up, by the names that rows write. Start from {0}.
 */
struct descriptors {
  bool keep; /* all that rows use; without, an architecture lives until the
                next one is looked up */
  struct dl_intern names[N_LOOK_UPS];             /* by enum step_kind */
  const struct dl_descriptor **named[N_LOOK_UPS]; /* lists; NULL: unknown */
  size_t cap_named[N_LOOK_UPS];
  struct dl_intern uses; /* architectures by name and use */
  struct dl_row_descriptors *used;
  size_t cap_used;
  struct dl_text key;
  void **copy;                  /* owned */
  struct dl_architecture *last; /* among them */
  size_t n_copies, cap_copies;
};

void dl_descriptors_free(struct descriptors *l);

/* The entry of the catalogue that a row names, with the user's fields of an
 * accelerator; *e is NULL for an unknown name. */
enum dl_status dl_descriptors_named(struct descriptors *l,
                                    const struct dl_row_plan *f,
                                    enum step_kind k, const char *name,
                                    const struct dl_descriptor **e,
                                    struct dl_diag *d);

/* Finds an architecture by its name, as it is used, and stores it in
 * found->arch. */
enum dl_status dl_descriptors_arch(struct descriptors *l,
                                   const struct dl_row_plan *f,
                                   const char *name, const struct dl_use *use,
                                   struct dl_row_descriptors *found,
                                   struct dl_diag *d);

/* The keys that descriptors are looked up by. */
enum {
  GPU_NAME,
  ARCH_NAME,
  ARCH_PX,
  ARCH_SEQ,
  ARCH_CLASSES,
  DATASET_NAME,
  N_LOOK_UP_INPUTS
};

/* The descriptor that a step looks up, by its name and the inputs behind it. */
struct look_up {
  enum dl_kind kind;
  size_t name, end;
};
extern const struct look_up dl_look_ups[N_LOOK_UPS];

enum { MOST_WORD_COLUMNS = 4, MOST_CHECKED_COLUMNS = 24, MOST_RULES = 16 };

/* Rows that are outside of what a rule expects and used: how many, the line of
 * the first, and its ratio. */
struct dl_doubted_rows {
  size_t n, line;
  double x;
};

struct dl_row_plan {
  struct dl_catalog *catalog;
  const struct dl_csv *csv;   /* borrowed; NULL without columns */
  const struct dl_axes *axes; /* borrowed; NULL without a sweep */
  struct dl_row defaults;     /* what rows begin with; owns its texts */
  size_t cap_cells;           /* of that */
  struct dl_strlist texts;    /* of numbers among its cells */
  bool usual;                 /* rows have usual values */
  char *usual_dataset;        /* NULL: none */
  struct name *name;          /* by number */
  size_t n_names, cap_names;
  struct dl_intern own; /* names behind DL_N_PLAN_NAMES */
  struct dl_strlist field_names;
  struct dl_intern formulas; /* of steps without a name, */
  size_t *formula_step;      /* which these are */
  size_t cap_formulas;
  struct entries overrides, definitions, aliases;
  struct entries fields[2]; /* overridden fields: gpu, arch */
  struct step *step;
  size_t n_steps, cap_steps, n_cells;
  bool deriving;             /* in a derived quantity, not a definition */
  bool looks_up[N_LOOK_UPS]; /* the step is there */
  unsigned look_up_depends[N_LOOK_UPS]; /* axes that it depends on */
  struct dl_row_ref look_up_by[N_LOOK_UP_INPUTS];
  /* Columns of the table whose words are checked, and those warned of. */
  long words_at[MOST_WORD_COLUMNS];
  const struct dl_run_column *word_column[MOST_WORD_COLUMNS];
  size_t n_words_at;
  bool words_at_known;
  struct dl_intern words;
  struct descriptors lookup; /* of rows of a table */
  struct dl_row *row;        /* of the block, room for n_rows; owned */
  size_t n_rows;
  void (*assume)(struct dl_row *row);    /* NULL: nothing is assumed */
  bool for_estimates;                    /* rows are jobs, not measured runs */
  bool of_estimates;                     /* rows have been estimated */
  unsigned checks;                       /* of measured rows; 0: none */
  long checked_at[MOST_CHECKED_COLUMNS]; /* columns; -1: a step reads it */
  struct dl_doubted_rows doubted[MOST_RULES];
};

/* The sources of a row's values, beside settings and the like. */
struct row_source {
  const struct dl_csv_block *block; /* NULL without columns */
  size_t row;                       /* of the block */
  const size_t *at;                 /* value of each axis; NULL without */
  struct descriptors *lookup;       /* NULL: none are looked up */
};

/* In place of the axes whose steps run. */
#define EVERY_STEP (~0U)

/* Whether a column takes words that it does not have: names of what was
 * measured. Estimates compute with those that it has. */
static inline bool dl_plan_takes_others(const struct dl_row_plan *f,
                                        const struct dl_run_column *c) {
  return c->others && !f->for_estimates;
}

/* `n` rows in which nothing is known, when all steps have been added; to be
 * freed by free(). */
struct dl_row *dl_plan_rows(const struct dl_row_plan *f, size_t n);

/* Sets a row by all steps, or those that depend on one of the axes `changed`,
 * as bits; then what is assumed, and its fault. Errors: of the look-up. */
enum dl_status dl_plan_run(const struct dl_row_plan *f,
                           const struct row_source *from, unsigned changed,
                           struct dl_row *row, struct dl_diag *d);

/* How a quantity follows from others: from numbers, of which the first n_needed
 * must have a source, and from a word, the only one needed where n_needed is 0.
 * And what jobs have that do not say it, by what is run. */
enum { MOST_DERIVED_INPUTS = 6, MOST_USUAL_INPUTS = 4 };
struct derivation {
  size_t input[MOST_DERIVED_INPUTS], n_inputs, n_needed;
  double (*compute)(const double *x, const struct dl_row *row,
                    const struct dl_row_ref *word); /* NULL: none */
  enum dl_run_id word;                              /* 0: none */
  bool of_text;  /* the word as it is written */
  bool of_given; /* of what the user gave alone, not of what follows */
  size_t by[MOST_USUAL_INPUTS], n_by;
  double (*usual)(const struct dl_row *row); /* NULL: none */
};

/* indexed by the number of the quantity */
extern const struct derivation dl_derivations[DL_N_RUN_MEMBERS];

/* The number of a name. dl_plan_find does not enter a new one: NO_NAME. */
size_t dl_plan_name(struct dl_row_plan *f, const char *text);
size_t dl_plan_find(const struct dl_row_plan *f, const char *text);
const char *dl_name_text(struct dl_row_plan *f, size_t name);

/* The column of a name; NULL: it is no member of the run. */
static inline const struct dl_run_column *dl_name_column(size_t name) {
  return name < DL_N_RUN_MEMBERS ? &dl_run_columns[name] : NULL;
}

/* Whether rows begin with a value of a name, given or default; whether an
 * option gave it. */
bool dl_plan_has_default(const struct dl_row_plan *f, size_t name);
bool dl_plan_is_option(const struct dl_row_plan *f, size_t name);

/* The column of the table of that name, or -1. */
long dl_plan_column(const struct dl_row_plan *f, size_t name);

/* The field that a name like "gpu.tdp_w" or "arch.family" means, where the user
 * names a descriptor to take it from; else NULL. */
const struct dl_field *dl_plan_descriptor_field(const struct dl_row_plan *f,
                                                size_t name);

/* How a quantity follows from others; NULL where one that it needs has no
 * source. */
const struct derivation *dl_plan_derivation(const struct dl_row_plan *f,
                                            size_t name);

/* The size that data sets have of that name, where rows have one; else NULL. */
const struct dl_field *dl_plan_size_field(const struct dl_row_plan *f,
                                          size_t name);

/* The catalogue's name of a row's architecture or GPU. */
const char *dl_plan_meant(const struct dl_row_plan *f, const char *name);

/* Warns, once each, of words and data sets of row i of a block that are not
 * known. */
void dl_plan_warn_words(struct dl_row_plan *f, const struct dl_csv_block *block,
                        size_t i, const struct dl_row *row, struct dl_diag *d);

/* Whether there is a step of that name; `wanted`: not only to look a descriptor
 * up. */
bool dl_plan_uses(const struct dl_row_plan *f, size_t name, bool wanted);

/* Appends " (did you mean 'a' or 'b'?)" with the columns of the table, or
 * without one of the runs table, that a name probably means: those that state
 * the quantity in another unit or by another name, and those written alike. */
void dl_plan_suggest_columns(const struct dl_row_plan *f, const char *name,
                             struct dl_text *to);

/* Finds out whether the rows of a table are to be checked, and where their
 * columns are, when all steps have been added. */
void dl_plan_prepare_checks(struct dl_row_plan *f);

/* Checks row i of a block, whose steps have run: sets its fault where it is to
 * be skipped, or counts it among those to warn of. */
void dl_plan_check_row(struct dl_row_plan *f, const struct dl_csv_block *block,
                       size_t i, struct dl_row *row);
/* Warns of the rows counted, once per rule. */
void dl_plan_warn_doubted(struct dl_row_plan *f, struct dl_diag *d);
/* Appends what is wrong with a row whose ratio by a rule is x. */
void dl_plan_explain_rule(size_t rule, double x, struct dl_text *to);

/* "; the table has 'a', 'b', 'c'" */
void dl_list_columns(const struct dl_csv *csv, struct dl_text *to);

/* Index of an entry by name, or -1. */
long dl_entry_find(const struct entries *es, const char *name);

#endif
