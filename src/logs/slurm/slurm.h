/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of Slurm's sacct and sstat, and the energies in them.
 *
 * Layouts: --parsable2 and --parsable (fields separated by "|", with the latter
 * also after the last field), the two with any --delimiter, and the default:
 * columns of fixed width, with a line of dashes below the header that states
 * the widths.
 *
 * Energies are J. Suffixes (ConsumedEnergy) are powers of 1000: sacct's print.c
 * converts with 1000, unlike sizes of memory. 0 and an empty cell mean "nothing
 * measured"; NO_VAL and INFINITE (2^32 and 2^64 less 2 or 1) occur if a sensor
 * failed.
 *
 * Each step has the energy of its whole nodes while it ran, so steps overlap:
 * ".extern" runs on all nodes of the job from beginning to end, ".batch" (or
 * ".interactive") on the first node from beginning to end, the numbered ones on
 * some nodes for some time. slurmctld (step_mgr.c, _internal_step_complete)
 * sums all steps into the job's own energy, each joule two or three times; only
 * newer versions, and only with PrologFlags=contain, take .extern alone.
 * Observed: job 4.16G of .extern 2.08G, .batch 38.56M and .0 the rest (2020);
 * job = .extern = .batch 4.58M, .0 4.57M (2022). Therefore, in this order:
 *   1. .extern, if it has an energy;
 *   2. on one node: .batch, which covers all numbered steps;
 *   3. on several, with .batch and numbered steps: the larger of .batch and the
 *      sum of the numbered steps (their time is covered on all nodes, .batch
 *      adds one node outside of them and counts it twice within);
 *   4. the job's own value, which without .batch comes from consecutive steps;
 *   5. the sum of the numbered steps. */

#ifndef DL_LOGS_SLURM_SLURM_H
#define DL_LOGS_SLURM_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "logs/importers/importer.h"

/* Columns and their names. If a table has several names of a column, the first
 * one here counts. The last is not of Slurm: scripts that call sstat add it. */
#define DL_SLURM_COLUMNS(X)                                                    \
  X(DL_SLURM_JOB_ID, "JobID|JobIDRaw")                                         \
  X(DL_SLURM_CLUSTER, "Cluster")                                               \
  X(DL_SLURM_NAME, "JobName")                                                  \
  X(DL_SLURM_USER, "User")                                                     \
  X(DL_SLURM_ACCOUNT, "Account")                                               \
  X(DL_SLURM_PARTITION, "Partition")                                           \
  X(DL_SLURM_STATE, "State")                                                   \
  X(DL_SLURM_ELAPSED, "Elapsed")                                               \
  X(DL_SLURM_ELAPSED_RAW, "ElapsedRaw")                                        \
  X(DL_SLURM_START, "Start")                                                   \
  X(DL_SLURM_END, "End")                                                       \
  X(DL_SLURM_NODE_LIST, "NodeList")                                            \
  X(DL_SLURM_NODES, "NNodes|AllocNodes")                                       \
  X(DL_SLURM_CPUS, "NCPUS|AllocCPUS")                                          \
  X(DL_SLURM_TASKS, "NTasks")                                                  \
  X(DL_SLURM_TOTAL_CPU, "TotalCPU")                                            \
  X(DL_SLURM_ENERGY, "ConsumedEnergy")                                         \
  X(DL_SLURM_ENERGY_RAW, "ConsumedEnergyRaw")                                  \
  X(DL_SLURM_ALLOC_TRES, "AllocTRES")                                          \
  X(DL_SLURM_REQ_TRES, "ReqTRES")                                              \
  X(DL_SLURM_ALLOC_GRES, "AllocGRES")                                          \
  X(DL_SLURM_USE_TOTAL, "TRESUsageInTot")                                      \
  X(DL_SLURM_USE_AVERAGE, "TRESUsageInAve")                                    \
  X(DL_SLURM_TIME, "Timestamp|Time|Date|DateTime|Epoch")

enum dl_slurm_column { DL_SLURM_COLUMNS(DL_COLUMN_ID) DL_SLURM_N };

enum { DL_SLURM_FIELDS = 256, DL_SLURM_DELIMITER = 8 };

/* The layout of a table. Starts as zero bytes. */
struct dl_slurm_table {
  char delimiter[DL_SLURM_DELIMITER]; /* "": columns of fixed width */
  size_t n_fields;                    /* 0: no header so far */
  bool ruled;                         /* the line of dashes was there */
  short at[DL_SLURM_N];               /* field of each column, -1 without */
  unsigned short from[DL_SLURM_FIELDS], to[DL_SLURM_FIELDS];
};

/* Reads a header; s is not changed. False if it is none: it must have a column
 * JobID or JobIDRaw and consist of names only. */
bool dl_slurm_header(struct dl_slurm_table *t, const char *s, size_t len);

/* Reads a header, or the line of dashes below it. False for other lines. */
bool dl_slurm_layout(struct dl_slurm_table *t, const char *s, size_t len);

enum dl_slurm_step {
  DL_SLURM_JOB,
  DL_SLURM_NUMBERED,
  DL_SLURM_BATCH,
  DL_SLURM_EXTERN,
  DL_SLURM_STEPS
};

/* A job or a step. Its texts point into the line. */
struct dl_slurm_row {
  const struct dl_slurm_table *table;
  char *field[DL_SLURM_FIELDS];
  const char *id; /* "123.0" */
  size_t id_len;  /* of the job's part: 3 */
  enum dl_slurm_step step;
  double joules; /* NaN: unknown */
};

/* Reads a row; false, and reported, if the line is none. s is modified. */
bool dl_slurm_read(struct dl_log *log, const struct dl_slurm_table *t, char *s,
                   size_t len, struct dl_slurm_row *row);

/* The job's part of the JobID in a line that is not yet split, and its length;
 * NULL where the line has none. */
const char *dl_slurm_job_of(const struct dl_slurm_table *t, const char *s,
                            size_t len, size_t *id_len);

/* The cell of a column, "" if there is no such column. */
static inline const char *dl_slurm_cell(const struct dl_slurm_row *row,
                                        enum dl_slurm_column c) {
  short at = row->table->at[c];
  return at >= 0 ? row->field[at] : "";
}

/* Whether there is a column of elapsed time, and its value in s (NaN:
 * unknown). */
bool dl_slurm_has_elapsed(const struct dl_slurm_table *t);
double dl_slurm_elapsed(const struct dl_slurm_row *row);

/* The columns that an accounting of energy uses. dl_slurm_missing() appends the
 * ones that a table lacks: "User, ElapsedRaw, ...". */
#define DL_SLURM_USED                                                          \
  "JobID,JobName,User,Account,Partition,State,ElapsedRaw,Start,End,NodeList,"  \
  "NNodes,NCPUS,NTasks,TotalCPU,ConsumedEnergyRaw,AllocTRES,TRESUsageInTot,"   \
  "TRESUsageInAve"
void dl_slurm_missing(const struct dl_slurm_table *t, struct dl_text *to);

/* Whether jobs of the table have an elapsed time or an energy. */
bool dl_slurm_has_figures(const struct dl_slurm_table *t);

/* Finds whether a file with this beginning contains jobs (sacct), or energies
 * of steps over time (sstat, or repeated calls of sacct). Samples have a column
 * or a line with the time, none of the columns that only sacct has, or several
 * elapsed times for one step. */
enum dl_slurm_kind { DL_SLURM_OTHER, DL_SLURM_JOBS, DL_SLURM_SAMPLES };

enum dl_slurm_kind dl_slurm_kind(const char *head);

/* Why a file with this beginning, which is neither, is no table of Slurm though
 * it looks like one; NULL for other files. */
const char *dl_slurm_lacks(const char *head);

/* Parses an energy, J, with or without a suffix; NaN for an unknown one. False:
 * no number. */
bool dl_slurm_energy(const char *s, size_t n, double *joules);

/* Adds an energy to the sums of a job, J by kind of step, which start at 0.
 * Unknown energies (NaN) and 0 are ignored. */
static inline void dl_slurm_add(double energy_j[DL_SLURM_STEPS],
                                enum dl_slurm_step step, double joules) {
  if (joules > 0)
    energy_j[step] += joules;
}

/* The job's energy by the rules above, NaN where unknown. n_nodes may be NaN.
 * *counted_twice: the job's own value is more than that by over 1 %. */
double dl_slurm_job_energy(const double energy_j[DL_SLURM_STEPS],
                           double n_nodes, bool *counted_twice);

/* GPUs of "...,gres/gpu=4,gres/gpu:a100=4,..." or "gpu:a100:4(IDX:0-3)":
 * returns their number (NaN: none named), and points *type to their type in
 * that text; its length is 0 if there is none or several. *share is the mean
 * share of a GPU that each has (MIG slices); 1: all of it. */
double dl_slurm_gpus(const char *tres, const char **type, size_t *type_len,
                     double *share);

/* The amount of "NAME=" in a list of trackable resources, *len characters of
 * it, or NULL. */
const char *dl_slurm_resource(const char *tres, const char *name, size_t *len);

/* Whether a job in this state runs, or will run on. */
bool dl_slurm_is_unfinished(const char *state);

/* Whether a job failed or was cancelled; one that reached its time limit may
 * have done its work. */
bool dl_slurm_has_failed(const char *state);

/* Whether another state of a job will follow: it has not ended, or was put back
 * into the queue before it ran. `state` is NULL where the table has none. */
bool dl_slurm_waits(const struct dl_slurm_row *row, const char *state,
                    double seconds);

/* A number of nodes or processors, "2048" or "2K"; NaN for other texts. */
double dl_slurm_count(const char *s);

/* Reads such a number from a column, or from the allocation: "cpu=8,node=2". */
double dl_slurm_allocated(const struct dl_slurm_row *row,
                          enum dl_slurm_column column, const char *tres,
                          const char *name);

/* Mean number of GPUs that a step kept busy, by gres/gpuutil: 1.5 if one was
 * busy all the time and another half of it; NaN: unknown. Slurm (gpu/nvml,
 * AccountingStorageTRES=gres/gpuutil) samples the utilisation of each process
 * in percent, adds it up over a task's processes on all its GPUs, and gives the
 * sum over tasks (TRESUsageInTot) and their mean (TRESUsageInAve). `tasks`
 * (NTasks) belongs to the mean; 1 if unknown. */
double dl_slurm_busy_gpus(const char *total, const char *average, double tasks);

/* Memory of "mem=64G", GB (1e9 bytes; Slurm counts in 1024, and in M where
 * there is no letter); NaN where there is none. */
double dl_slurm_memory_gb(const char *tres);

#endif
