/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the runs table, one row per run: name, type, unit, range and
 * role of each. run_columns_body.h is the table; struct dl_run (run.h) has a
 * member for each of its rows. */

#ifndef DL_RUN_RUN_COLUMNS_H
#define DL_RUN_RUN_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* DL_RUN_batch_size, ... in the order of the table. */
enum dl_run_id {
#define NUMBER(name, unit, low, high, role, summary) DL_RUN_##name,
#define TEXT(name, role, summary) DL_RUN_##name,
#include "run/run_columns_body.h"
  DL_N_RUN_MEMBERS,
  /* Columns of the runs table; assumptions of an estimate come after them. */
  DL_N_RUN_COLUMNS = DL_RUN_scaling
};

/* What a column is to repeated runs of one configuration. */
enum dl_role {
  DL_ROLE_NAME,     /* identifies a run or its origin */
  DL_ROLE_SETTING,  /* shared by the repeats */
  DL_ROLE_GIVEN,    /* has a value before the run, but is no part of the
                       configuration */
  DL_ROLE_MEASURED, /* differs from run to run */
  DL_ROLE_ASSUMED   /* of an estimate; no column of the runs table */
};

struct dl_run_column {
  enum dl_run_id id;
  const char *name; /* "gpu_power_w" */
  const char *unit; /* "W"; NULL: plain number or text */
  bool is_text;
  bool whole;               /* a whole number */
  double low, high;         /* allowed range of a number */
  const char *const *words; /* NULL-terminated: a text is one of these; NULL:
                               any text */
  bool others;              /* or another */
  enum dl_role role;
  const char *summary;
  size_t offset; /* of its member in struct dl_run */
};

/* By id; those of the runs table have an id below DL_N_RUN_COLUMNS. */
extern const struct dl_run_column dl_run_columns[DL_N_RUN_MEMBERS];

/* A column of the runs table by name, or NULL. The search is linear: look names
 * up once per file, not per row. */
const struct dl_run_column *dl_run_column_find(const char *name);

/* The same among all members, assumptions included. */
const struct dl_run_column *dl_run_member_find(const char *name);

/* Whether a name is that of a measured column. */
bool dl_run_is_measured(const char *name);

/* What is wrong with the value of a column, and further with a row. */
enum dl_fault_kind {
  DL_FAULT_NONE,
  DL_FAULT_INVALID,    /* no number */
  DL_FAULT_NOT_FINITE, /* "nan", "inf", 1e400 */
  DL_FAULT_RANGE,      /* outside low .. high */
  DL_FAULT_FRACTION,   /* not whole */
  DL_FAULT_WORD,       /* none of the column's words */
  DL_FAULT_SETUP,      /* between settings, or with a descriptor:
                          dl_setup_is_broken says what */
  DL_FAULT_UNDEFINED,  /* a definition: 0 / 0, log(-1) */
  DL_FAULT_ABSENT,
  DL_FAULT_CONTRADICTION /* between columns */
};

/* Reads the number in a text and checks it against column c (NULL: any
 * number). *x is set to what was read, NaN where it is no finite number. */
enum dl_fault_kind dl_run_column_parse(const struct dl_run_column *c,
                                       const char *text, double *x);

/* The same for a text of column c, which may hold words. */
enum dl_fault_kind dl_run_column_fault(const struct dl_run_column *c,
                                       const char *text);

/* Checks a number against the range and type of column c. NaN passes. */
enum dl_fault_kind dl_run_column_check(const struct dl_run_column *c, double x);

/* The word of column c that a text stands for, in any case ("AMP"); the text
 * itself where the column takes any. NULL: none. */
const char *dl_run_word(const struct dl_run_column *c, const char *text);

/* Appends what is wrong with the text of a cell: "invalid number 'abc'". */
void dl_run_column_explain(const struct dl_run_column *c,
                           enum dl_fault_kind fault, const char *cell,
                           struct dl_text *to);

#endif
