/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as Slurm's sacct and sstat print them, and the energies in them.
 *
 * Layouts: --parsable2 and --parsable (fields between "|", with the latter one
 * behind the last field too), the same with any --delimiter, and the default
 * one: columns of fixed width, under which a line of dashes says how wide.
 *
 * Energies are J. With a suffix (ConsumedEnergy) they count in steps of 1000:
 * sacct's print.c converts with 1000, unlike sizes of memory. 0 and an empty
 * cell stand for "nothing measured"; NO_VAL and INFINITE (2^32 and 2^64 less 2
 * or 1) leak into tables where a sensor failed.
 *
 * Each step has the energy of its whole nodes as long as it ran. So steps
 * overlap: ".extern" runs on all nodes of the job from beginning to end,
 * ".batch" (or ".interactive") on the first node from beginning to end, the
 * numbered ones on some nodes for some time. slurmctld (step_mgr.c,
 * _internal_step_complete) sums all steps into the job's own energy, each
 * joule two or three times; only newer versions, and only with
 * PrologFlags=contain, take .extern alone. Seen in the wild: job 4.16G of
 * .extern 2.08G, .batch 38.56M and .0 the rest (2020); job = .extern = .batch
 * 4.58M, .0 4.57M (2022). Therefore, in this order:
 *   1. .extern, where it has an energy;
 *   2. on one node: .batch, which covers all that the numbered steps do;
 *   3. on several, with .batch: the larger of .batch and the sum of the
 *      numbered steps (their time is covered on all nodes, .batch adds one
 *      node outside of them and counts it twice within);
 *   4. the job's own value, which without .batch is that of steps in turn;
 *   5. the sum of the numbered steps. */

#ifndef DL_LOGS_SLURM_SLURM_H
#define DL_LOGS_SLURM_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "logs/importers/importer.h"

enum dl_slurm_column {
  DL_SLURM_JOB_ID,
  DL_SLURM_NAME,
  DL_SLURM_USER,
  DL_SLURM_ACCOUNT,
  DL_SLURM_PARTITION,
  DL_SLURM_STATE,
  DL_SLURM_ELAPSED,
  DL_SLURM_ELAPSED_RAW,
  DL_SLURM_START,
  DL_SLURM_END,
  DL_SLURM_NODES,
  DL_SLURM_CPUS,
  DL_SLURM_TASKS,
  DL_SLURM_TOTAL_CPU,
  DL_SLURM_ENERGY,
  DL_SLURM_ENERGY_RAW,
  DL_SLURM_ALLOC_TRES,
  DL_SLURM_REQ_TRES,
  DL_SLURM_ALLOC_GRES,
  DL_SLURM_USE_TOTAL,
  DL_SLURM_USE_AVERAGE,
  DL_SLURM_TIME, /* none of Slurm's: what scripts put before sstat's columns */
  DL_SLURM_N
};

enum { DL_SLURM_FIELDS = 256, DL_SLURM_DELIMITER = 8 };

/* The layout of a table. Starts as zero bytes. */
struct dl_slurm_table {
  char delimiter[DL_SLURM_DELIMITER]; /* "": columns of fixed width */
  size_t n_fields;                    /* 0: no header so far */
  bool ruled;                         /* the line of dashes was there */
  short at[DL_SLURM_N];               /* field of each column, -1 without */
  unsigned short from[DL_SLURM_FIELDS], to[DL_SLURM_FIELDS];
};

/* Reads a header; s is not changed. False where it is none: it must have a
 * column JobID or JobIDRaw (or, for a line that is cut off, whatever is there),
 * and no word that no header has. */
bool dl_slurm_header(struct dl_slurm_table *t, const char *s, size_t len);

/* A line of dashes that says how wide columns are. */
bool dl_slurm_ruler(struct dl_slurm_table *t, const char *s);

/* Cuts a row; field needs room for DL_SLURM_FIELDS. Returns how many fields
 * there are, as in the header where the row is sound. */
size_t dl_slurm_row(const struct dl_slurm_table *t, char *s, size_t len,
                    char **field);

/* The same for an importer: false, and the line told as bad, where there is no
 * header yet, no line of dashes below it, or another number of fields. */
bool dl_slurm_fields(struct dl_log *log, const struct dl_slurm_table *t,
                     char *s, size_t len, char **field);

/* The field of a column, "" without such a column. */
const char *dl_slurm_cell(const struct dl_slurm_table *t, char *const *field,
                          enum dl_slurm_column c);

/* Whether there is a column of elapsed time, and its value in s; NaN where it
 * is unknown. */
bool dl_slurm_has_elapsed(const struct dl_slurm_table *t);
double dl_slurm_elapsed(const struct dl_slurm_table *t, char *const *field);

/* What a file is that begins like that: jobs (sacct), or energies of steps over
 * time (sstat, or sacct called again and again). Samples have a column of the
 * time, or a line of it above; none of those that only sacct has; or the same
 * step comes with several elapsed times. */
enum dl_slurm_kind { DL_SLURM_OTHER, DL_SLURM_JOBS, DL_SLURM_SAMPLES };

enum dl_slurm_kind dl_slurm_kind(const char *head);

/* An energy in J with or without a suffix; NaN for an unknown one. False: no
 * number. */
bool dl_slurm_energy(const char *s, double *joules);

/* Of a job's line or a step's, from the better of both columns. */
bool dl_slurm_row_energy(const struct dl_slurm_table *t, char *const *field,
                         double *joules);

enum dl_slurm_step {
  DL_SLURM_JOB,
  DL_SLURM_NUMBERED,
  DL_SLURM_BATCH,
  DL_SLURM_EXTERN
};

/* What a JobID is of; *len is the length of the job's part ("123_4"). */
enum dl_slurm_step dl_slurm_step_of(const char *id, size_t *len);

/* Energies of a job by step, J; 0 where unknown. Starts as zero bytes. */
struct dl_slurm_energies {
  double job, outer, batch, numbered;
};

void dl_slurm_add(struct dl_slurm_energies *e, enum dl_slurm_step step,
                  double joules);

/* The job's energy by the rules above, NaN where unknown. n_nodes may be NaN.
 * *counted_twice: the job's own value is more than that by over 1 %. */
double dl_slurm_job_energy(const struct dl_slurm_energies *e, double n_nodes,
                           bool *counted_twice);

/* GPUs of "...,gres/gpu=4,gres/gpu:a100=4,..." or "gpu:a100:4(IDX:0-3)": how
 * many (NaN: none named), and their type, "" where there is none or several. */
double dl_slurm_gpus(const char *tres, char *type, size_t size);

/* The amount of "NAME=" in a list of trackable resources, *len characters of
 * it, or NULL. */
const char *dl_slurm_resource(const char *tres, const char *name, size_t *len);

/* How many GPUs a step kept busy on the mean, by gres/gpuutil: 1.5 where one
 * was busy all the time and another half of it; NaN: not told. Slurm (gpu/nvml,
 * AccountingStorageTRES=gres/gpuutil) samples the utilisation of each process
 * in percent, adds that of a task's processes on all its GPUs, and gives the
 * sum over tasks (TRESUsageInTot) and their mean (TRESUsageInAve). `tasks`
 * (NTasks) goes with the mean; one where it is not told. */
double dl_slurm_busy_gpus(const char *total, const char *average, double tasks);

/* Memory of "mem=64G", GB (1e9 bytes; Slurm counts in 1024, and in M where
 * there is no letter); NaN where there is none. */
double dl_slurm_memory_gb(const char *tres);

#endif
