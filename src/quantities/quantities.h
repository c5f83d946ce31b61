/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantities of a run: what each is, how people give it, and how it is
 * shown. quantities.def is the table; struct dl_run (run/run.h) has a member
 * for each of its rows. */

#ifndef DL_QUANTITIES_QUANTITIES_H
#define DL_QUANTITIES_QUANTITIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* An enum for each list of words: DL_PRECISION_FP32, ...; 0: unknown. */
#define W(id, word, synonyms) DL_##id,
#define WORDS(list, LIST, words)                                               \
  enum dl_##list{DL_##LIST##_UNKNOWN, words DL_##LIST##_OTHER};
#include "quantities/quantities.def"

/* The words of each list, by its enum; NULL of unknown and other. */
#define WORDS(list, LIST, words)                                               \
  extern const char *const dl_##list##_words[DL_##LIST##_OTHER + 1];
#include "quantities/quantities.def"
#undef W

/* DL_RUN_batch_size, ... in the order of the table. */
enum dl_run_id {
#define NUMBER(name, unit, low, high, role, ...) DL_RUN_##name,
#define TEXT(name, role, ...) DL_RUN_##name,
#include "quantities/quantities.def"
  DL_N_RUN_MEMBERS,
  /* Columns of the runs table; assumptions of an estimate come after them. */
  DL_N_RUN_COLUMNS = DL_RUN_scaling
};

/* Sets of estimators. */
#define DL_METHOD_BIT(id) (1u << DL_METHOD_##id)
/* These methods predict by a fitted model, with intervals. */
#define DL_FITTED_METHODS                                                      \
  (DL_METHOD_BIT(PHYSICAL) | DL_METHOD_BIT(PRE_EPOCH) |                        \
   DL_METHOD_BIT(PRE_POWER))
/* These methods take a known time. */
#define DL_TIMED_METHODS                                                       \
  (DL_FITTED_METHODS | DL_METHOD_BIT(GREEN_ALGORITHMS) | DL_METHOD_BIT(TDP))
/* These methods compare the speed with the speed of the input. */
#define DL_LOADER_METHODS                                                      \
  (DL_METHOD_BIT(PHYSICAL) | DL_METHOD_BIT(GREEN_ALGORITHMS) |                 \
   DL_METHOD_BIT(TDP))

/* The role of a column in repeated runs of one configuration. */
enum dl_role {
  DL_ROLE_NAME,     /* identifies a run or its origin */
  DL_ROLE_SETTING,  /* shared by the repeats */
  DL_ROLE_GIVEN,    /* has a value before the run, but is no part of the
                       configuration */
  DL_ROLE_MEASURED, /* differs from run to run */
  DL_ROLE_ASSUMED   /* of an estimate; no column of the runs table */
};

/* How people write a number. */
enum dl_form {
  DL_FORM_PLAIN,
  DL_FORM_LARGE,     /* with a power of ten: 50k, 300B */
  DL_FORM_TIME,      /* 90m, 1h30m, 2 days */
  DL_FORM_STEP_TIME, /* a time or a rate: 250ms, 4.0it/s */
  DL_FORM_RATE,      /* of samples or tokens: 2500/s */
  DL_FORM_PERCENT    /* a share, in percent */
};

struct dl_run_column {
  enum dl_run_id id;
  const char *name; /* "gpu_power_w" */
  const char *unit; /* "W"; NULL: plain number or text */
  bool is_text;     /* words too */
  bool whole;       /* a whole number */
  double low, high; /* allowed range of a number */
  /* A text is one of these, NULL-terminated, in the order of their enum, which
   * begins at 1; NULL: any text. Of each, "synonym|synonym" or NULL. */
  const char *const *words, *const *synonyms;
  bool others; /* or another */
  enum dl_role role;
  const char *summary;
  /* The option that sets it, NULL: none; or the option of another member, which
   * sets it. */
  const char *option, *set_by;
  enum dl_form form;
  bool typed_whole;        /* by the option */
  double least;            /* of the option; 0: low */
  bool sweeps;             /* a list of values makes an axis of a sweep */
  enum dl_run_phase phase; /* in which it has an effect; UNKNOWN: in both */
  unsigned methods;        /* on which it has one; 0: all */
  const char *offers;      /* completion's words, in place of the list's */
  bool setup;              /* a line among the settings of predict */
  const char *label;       /* for people, among the settings of predict */
  const char *label_unit;  /* NULL: unit */
  const char *heading;     /* of tables */
  bool is_main;            /* shown on narrow terminals */
  bool extracted;          /* shown by extract */
  const char *called;      /* names in other tables, folded */
};

/* A row of a small constant table: a quantity and what it goes with there, a
 * set or a number. */
struct dl_quantity_of {
  enum dl_run_id id;
  unsigned of;
};

/* The columns by id; columns of the runs table have an id below
 * DL_N_RUN_COLUMNS. */
extern const struct dl_run_column dl_run_columns[DL_N_RUN_MEMBERS];

/* A column of the runs table by name, or NULL. The search is linear: look names
 * up once per file, not per row. */
const struct dl_run_column *dl_run_column_find(const char *name);

/* Searches all members, assumptions included. */
const struct dl_run_column *dl_run_member_find(const char *name);

/* Whether a name is the name of a measured column. */
bool dl_run_is_measured(const char *name);

/* The faults that the value of a column, and further a row, can have. */
enum dl_fault_kind {
  DL_FAULT_NONE,
  DL_FAULT_INVALID,    /* no number */
  DL_FAULT_NOT_FINITE, /* "nan", "inf", 1e400 */
  DL_FAULT_RANGE,      /* outside low .. high */
  DL_FAULT_FRACTION,   /* not whole */
  DL_FAULT_WORD,       /* none of the column's words */
  DL_FAULT_SETUP,      /* between settings, or with a descriptor:
                          dl_setup_check says what */
  DL_FAULT_UNDEFINED,  /* a definition: 0 / 0, log(-1) */
  DL_FAULT_ABSENT,
  DL_FAULT_CONTRADICTION /* between columns */
};

/* Reads the number in a text and checks it against column c (NULL: any
 * number). *x is set to what was read, NaN where it is no finite number. */
enum dl_fault_kind dl_run_column_parse(const struct dl_run_column *c,
                                       const char *text, double *x);

/* Checks a text of column c, which may hold words. */
enum dl_fault_kind dl_run_column_fault(const struct dl_run_column *c,
                                       const char *text);

/* Checks a number against the range and type of column c. NaN passes. */
enum dl_fault_kind dl_run_column_check(const struct dl_run_column *c, double x);

/* The word of column c that a text stands for, in any case ("AMP"); the text
 * itself where the column takes any. NULL: none. */
const char *dl_run_word(const struct dl_run_column *c, const char *text);

/* Whether the member of a column is an enum: it takes the words of its list
 * alone. */
static inline bool dl_is_listed(const struct dl_run_column *c) {
  return c->words && !c->others;
}

/* The enumerator of a word of column c, or of "lora:16"; 0 for none, OTHER for
 * another text of a column that takes any. */
unsigned dl_word_id(const struct dl_run_column *c, const char *word);

/* The rank in "lora:16"; NaN without one. */
double dl_rank_in(const char *fine_tune);

/* Appends what is wrong with the text of a cell: "invalid number 'abc'". */
void dl_run_column_explain(const struct dl_run_column *c,
                           enum dl_fault_kind fault, const char *cell,
                           struct dl_text *to);

#endif
