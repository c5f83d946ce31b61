/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that describe a job, shared by the commands that estimate. */

#ifndef DL_CLI_OPTIONS_JOB_OPTIONS_H
#define DL_CLI_OPTIONS_JOB_OPTIONS_H

#include "base/text.h"
#include "catalog/catalog.h"
#include "cli/options/option.h"
#include "cli/options/site_options.h"
#include "io/csv.h"
#include "run/plan.h"

struct dl_job_options {
  struct dl_run run;           /* set by options; texts are borrowed */
  struct dl_strlist overrides; /* --set NAME=VALUE */
  struct dl_strlist defines;   /* --define */
  struct dl_strlist aliases;   /* --alias */
  struct dl_axes axes;         /* columns that were given as lists */
  const char *dataset;         /* or the usual one; by dl_job_options_apply */
  struct dl_footprint foot;    /* looked up by dl_job_options_apply */
  bool any_throughput; /* --throughput without the unit of what is counted */
  bool has_table;      /* rows come from a table; set before apply */
  /* Set before the options are parsed: the command sweeps, and takes CPUs
     beside GPUs. */
  bool takes_lists, merges_cpus;
  const char *cpus; /* names by --cpu, of one or several; NULL: none */
  struct dl_text cpu_names;
};

/* Rows of options that have a member in struct dl_job_options: the options of a
 * job, --set, --define and --alias. A table of the options of a job needs a
 * table of dl_site_options_rows for the member `foot`. */
extern const struct dl_option dl_job_options_rows[], dl_table_options_rows[];

/* Tables of all options of a job, which is member `member` of `type`. */
#define DL_JOB_OPTION_TABLES(type, member)                                     \
  {dl_job_options_rows, offsetof(type, member)},                               \
      {dl_table_options_rows, offsetof(type, member)}, {                       \
    dl_site_options_rows, offsetof(type, member.foot)                          \
  }

/* "8xh100", "8 x H100", "8*h100": a number of accelerators and their name in
 * one, which this returns; NULL: it is no such text. */
char *dl_counted_name(char *arg);

void dl_job_options_init(struct dl_job_options *o);

/* Frees the lists and axes of a struct dl_job_options. */
void dl_job_options_free(void *options);

/* Whether an option, --set or --define gives a quantity. */
bool dl_job_options_give(const struct dl_job_options *o, enum dl_run_id id);

/* The word of a quantity by --set, or the option; 0: neither gives one. */
unsigned dl_job_options_word(const struct dl_job_options *o, enum dl_run_id id);

/* Makes axes of options that were given one value, too: the options of
 * `columns` (NULL-terminated), in this order, the last running fastest. Options
 * that were not given are left out. */
enum dl_status dl_job_options_sweep(struct dl_job_options *o,
                                    const char *const *columns,
                                    struct dl_diag *d);

/* The subject of the job, as the options describe it. */
struct dl_job_subject {
  const char *arch;    /* the first of several; NULL: none */
  const char *usual;   /* data set of all; NULL: none, or they differ */
  const char *example; /* data set of a language model; NULL: no such one */
  bool described;      /* the catalogue has one of the architectures */
  bool language;       /* they are language models */
  bool sequences;      /* one of them takes sequences */
  bool encodes;        /* one of them encodes texts (BERT) */
  bool attends;        /* one of them has attention, as far as is known */
  bool denoising;      /* one of them generates by denoising */
  bool images;         /* one of them takes images, as far as is known */
  bool inference;
};

/* Finds it out. Of several architectures all are language models, or none
 * (DL_EUSAGE): what a run is has other defaults. */
enum dl_status dl_job_subject_find(struct dl_job_subject *s,
                                   const struct dl_job_options *o,
                                   struct dl_catalog *catalog,
                                   struct dl_diag *d);

/* The kinds of jobs (DL_TRAINS_LANGUAGE, ... of command.h) that the options, or
 * the rows of `table` (NULL: there is none), may have. */
unsigned dl_job_kinds(const struct dl_job_options *o,
                      struct dl_catalog *catalog, const struct dl_csv *table);

/* Appends what sets a quantity: its option, "--set macs_g=VALUE" for a column
 * without one and for a field. A name of something else is its own. */
void dl_add_setting(struct dl_text *to, const char *name);

struct dl_cli;

/* DL_EUSAGE if an option has no effect in the phase of the job. Warns if it has
 * none on the estimators ("all", or names separated by commas). */
enum dl_status dl_job_options_check(struct dl_cli *cli,
                                    const struct dl_job_options *o,
                                    const char *methods);

/* DL_EUSAGE if a setting of a run was given that makes no axis of a sweep. */
enum dl_status dl_job_options_refuse(struct dl_cli *cli, const char *why);

/* For a job whose rows come from a table: DL_EUSAGE if an option has no effect
 * in the phase of the rows; warns of options for which the table has a
 * column. */
enum dl_status dl_job_options_check_table(struct dl_cli *cli,
                                          const struct dl_job_options *o,
                                          const struct dl_csv *csv);

/* Puts the options into a plan. With `defaults`, rows have the usual data set,
 * epochs, batch size and requests of jobs. The size of the training of a
 * language model must be given (DL_EUSAGE). Then looks up the site: o->dataset
 * and o->foot are filled in. */
enum dl_status dl_job_options_apply(struct dl_job_options *o,
                                    struct dl_row_plan *f,
                                    struct dl_catalog *catalog, bool defaults,
                                    struct dl_diag *d);

/* --alias, --define and --set alone. */
enum dl_status dl_job_options_apply_table(const struct dl_job_options *o,
                                          struct dl_row_plan *f,
                                          struct dl_diag *d);

#endif
