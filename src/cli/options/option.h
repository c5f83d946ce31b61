/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options are data: a row has the text for --help, the values that the option
 * takes, and the member that they are stored in. cli/command_line.c parses
 * them; --help and completion read these rows, too. */

#ifndef DL_CLI_OPTIONS_OPTION_H
#define DL_CLI_OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "quantities/quantities.h"

/* How a value is read, and the type of the member that it is stored in. */
enum dl_option_kind {
  DL_OPTION_END,     /* ends a table */
  DL_OPTION_HEADING, /* of --help */
  DL_OPTION_FLAG,    /* bool: set to true; the option takes no value */
  DL_OPTION_TEXT,    /* const char *, borrowed from argv */
  DL_OPTION_LIST,    /* struct dl_strlist: each use appends its value */
  DL_OPTION_WORDS,   /* struct dl_strlist: appends values between commas */
  DL_OPTION_COUNT,   /* size_t: a whole number, low to high */
  DL_OPTION_NUMBER,  /* double: low to high */
  DL_OPTION_ABOVE,   /* double: above low, at most high */
  DL_OPTION_PERCENT, /* double, a share: 1 % to below 100 %, since 0.9 is meant
                        as a share more often than as 0.9 % */
  DL_OPTION_TIME,    /* double, s: a time above 0 with its unit (timestamp.h) */
  DL_OPTION_CHOICE,  /* unsigned or enum: the index of one of the words */
  DL_OPTION_READ     /* what the row's function stores */
};

struct dl_option {
  const char *name;     /* long name; NULL: a heading, or no option */
  char letter;          /* short option, or '\0' */
  const char *argument; /* stands for the value in --help; NULL: a flag */
  const char *help;     /* NULL: no option */
  enum dl_option_kind kind;
  size_t offset;     /* of the member; see DL_STORE */
  double low, high;  /* high 0: no upper limit */
  const char *words; /* "node|share"; NULL: as `argument` has them */
  /* Reads a value into `at`, in the place of the kind's function. Returns
   * DL_EUSAGE without an error in d for a value that is to be refused with
   * "expected EXPECTED". */
  enum dl_status (*read)(const struct dl_option *o, char *arg, void *at,
                         struct dl_diag *d);
  const char *expected;
  const char *alias; /* second long name, or NULL */
  /* Options that this one needs, any of them, and options that exclude it:
   * "node|share". Without them it would have no effect. */
  const char *with, *without;
  int group;   /* of --help; 0: the group of the heading above */
  bool reads;  /* the value may be a file, which is read several times */
  bool output; /* sets where and how results are written, not what they are */
  bool whole;  /* whole numbers only */
  bool from_zero;   /* a time may be 0, with a unit or without */
  bool large;       /* a count in powers of ten: 50k and 2T are numbers too */
  unsigned methods; /* estimators on which it has an effect; 0: all */
  enum dl_run_id column; /* of a setting of a run (job_options.c) */
};

/* The kind of an option, and the offset of its member; a member of another
 * type than the kind stores does not compile. */
#define DL_STORE(stored, type, member)                                         \
  .kind = DL_OPTION_##stored,                                                  \
  .offset = offsetof(type, member) +                                           \
            _Generic(((type *)0)->member, DL_STORED_##stored : 0U)
#define DL_STORED_FLAG bool
#define DL_STORED_TEXT const char *
#define DL_STORED_LIST struct dl_strlist
#define DL_STORED_WORDS struct dl_strlist
#define DL_STORED_COUNT size_t
#define DL_STORED_NUMBER double
#define DL_STORED_ABOVE double
#define DL_STORED_PERCENT double
#define DL_STORED_TIME double
#define DL_STORED_CHOICE unsigned

/* A row whose function stores the value in a member of any type. */
#define DL_READ(function, type, member)                                        \
  .read = function, .kind = DL_OPTION_READ, .offset = offsetof(type, member)

/* A heading of --help; groups are sorted by their number. */
#define DL_HEADING(text, number)                                               \
  { .kind = DL_OPTION_HEADING, .help = (text), .group = (number) }

/* A table of options and the offset in the command's options of the struct
 * that its members belong to. Lists of tables end with a table without
 * options. */
struct dl_option_table {
  const struct dl_option *option;
  size_t offset;
};

/* Reads the value of an option, or sets its flag, in `at`. Errors name the
 * option and what it takes (DL_EUSAGE). */
enum dl_status dl_option_store(const struct dl_option *o, char *arg, void *at,
                               struct dl_diag *d);

/* The value of the last "NAME=VALUE" of a list with that name, or NULL. */
const char *dl_value_in(const struct dl_strlist *l, const char *name);

#endif
