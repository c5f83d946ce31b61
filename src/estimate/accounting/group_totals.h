/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over jobs, by group: memory grows with the groups alone. */

#ifndef DL_ESTIMATE_ACCOUNTING_GROUP_TOTALS_H
#define DL_ESTIMATE_ACCOUNTING_GROUP_TOTALS_H

#include "estimate/accounting/accounting.h"

enum dl_key {
  DL_KEY_USER,
  DL_KEY_ACCOUNT,
  DL_KEY_PARTITION,
  DL_KEY_STATE,
  DL_KEY_GPU,
  DL_KEY_MONTH
};
enum { DL_N_KEYS = DL_KEY_MONTH + 1 };

/* The last sum is not in files of totals. */
enum { DL_N_STORED_SUMS = 10, DL_N_SUMS };

/* Starts as zero bytes. Sums are over what is known. They are carried with
 * twice the digits of a double (Dekker 1971, doi 10.1007/BF01397083), so that
 * they do not depend on the order of the jobs, nor on how they are split. */
struct dl_sums {
  size_t jobs, measured, estimated, unknown; /* by the job's energy */
  size_t at_tdp;                   /* estimated, use of GPUs unknown */
  size_t failed;                   /* failed or cancelled */
  size_t unknown_mig, unknown_cpu; /* of the unknown: slices; without GPUs */
  double duration_s, gpu_s;
  double known_gpu_s, idle_gpu_s; /* if the GPU utilization is known */
  double energy_j, measured_j;
  double cores_j, cores_low_j, cores_high_j; /* estimated by cores */
  double failed_j;
  double emitting_j;      /* energies times their intensities, J g/kWh */
  double rest[DL_N_SUMS]; /* of these, in their order: sum - double */
  char boundary[24]; /* that all energies share, or "mixed"; "" without any */
};

void dl_sums_add(struct dl_sums *s, const struct dl_accounted *job);

/* Adds the jobs of `more`. */
void dl_sums_join(struct dl_sums *s, const struct dl_sums *more);

/* The i-th of the sums. */
double *dl_sums_at(struct dl_sums *s, size_t i);

/* Idle share of the GPU time with a known utilization; NaN if there is none. */
double dl_sums_idle(const struct dl_sums *s);

/* The energy, NaN where no job has one. */
double dl_sums_energy(const struct dl_sums *s);

struct dl_group_totals;

/* Groups by the keys that are set. */
struct dl_group_totals *dl_group_totals_new(const bool keys[DL_N_KEYS]);
void dl_group_totals_free(struct dl_group_totals *t); /* accepts NULL */

/* A job belongs to the month in which it began. */
void dl_group_totals_add(struct dl_group_totals *t,
                         const struct dl_cluster_job *job,
                         const struct dl_accounted *figures);

/* Adds the sums of jobs of one group; key[k] is NULL where it is unknown. */
void dl_group_totals_join(struct dl_group_totals *t,
                          const char *const key[DL_N_KEYS],
                          const struct dl_sums *sums);

size_t dl_group_totals_n(const struct dl_group_totals *t);

/* Sorts by month where that is a key (and by the names before it), otherwise by
 * the GPU time known to be idle where the GPU is a key, then by energy, the
 * highest first. Nothing may be added afterwards. */
void dl_group_totals_sort(struct dl_group_totals *t);

/* Sorts by the GPU time known to be idle, and keeps the first n groups. */
void dl_group_totals_top(struct dl_group_totals *t, size_t n);

/* The i-th group; key[k] is NULL where it is unknown, or not a key. */
const struct dl_sums *dl_group_totals_at(const struct dl_group_totals *t,
                                         size_t i, const char *key[DL_N_KEYS]);

#endif
