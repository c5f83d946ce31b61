/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: a row of the runs table, with its epochs where they are known. */

#ifndef DL_RUN_RUN_H
#define DL_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* One epoch, or what lies before the first or behind the last one. NaN:
 * unknown. Energies of a run's parts add up to the run's exactly. */
enum dl_part { DL_PART_EPOCH, DL_PART_START, DL_PART_END };

struct dl_epoch {
  enum dl_part part;
  double number;  /* from 0; NaN for other parts */
  double start_s; /* from the beginning of the run */
  double duration_s;
  double gpu_power_w, gpu_util;
  double gpu_energy_j, ram_energy_j, cpu_energy_j, node_energy_j;
  double energy_j;
};

/* Cells of a run by column (dl_run_column_at). All unknown at first. */
struct dl_run {
  size_t line;    /* of the row it comes from; 0: the whole file */
  double *number; /* one a column; NaN: unknown */
  char **text;    /* one a column, owned; NULL: unknown */
  struct dl_epoch *epoch;
  size_t n_epochs, epochs_cap;
  bool failed; /* memory ran out */
};

/* An empty run in *r; dl_run_clear frees what it holds. */
bool dl_run_init(struct dl_run *r);
void dl_run_clear(struct dl_run *r);

/* Set a cell by column name; the name must be in the registry and of that
 * kind (asserted). An unknown number (NaN), NULL or "" leave it unknown. */
void dl_run_set(struct dl_run *r, const char *column, double x);
void dl_run_set_text(struct dl_run *r, const char *column, const char *s);

/* Fills what is unknown in r from `from`, which keeps its numbers and gives its
 * texts away. */
void dl_run_fill(struct dl_run *r, struct dl_run *from);

/* NaN / NULL where unknown. */
double dl_run_get(const struct dl_run *r, const char *column);
const char *dl_run_get_text(const struct dl_run *r, const char *column);

/* The word for an energy of these parts of a node: "gpu", "gpu+ram",
 * "gpu+cpu+ram", "cpu", ...; NULL for none of them. "node" is more: fans,
 * drives and the loss of supplies, which a meter at the wall plug sees. */
const char *dl_parts_boundary(bool gpu, bool cpu, bool ram);

/* A new epoch at the end, all unknown but `part` and its number; NULL: out of
 * memory (and r->failed is set). */
struct dl_epoch *dl_run_add_epoch(struct dl_run *r, enum dl_part part);

#endif
