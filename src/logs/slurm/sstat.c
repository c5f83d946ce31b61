/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's sstat, of steps that run: ConsumedEnergy and ConsumedEnergyRaw (J)
 * grow from the beginning of the step. Slurm reads its sensors every 30 s or
 * so, whatever the pause between samples (AcctGatherNodeFreq, JobAcctGather-
 * Frequency). Layouts are in slurm.h. sstat has no column of a time, hence:
 *
 *  - samples with a column Timestamp (Time, Date, DateTime, Epoch), which a
 * script puts before or behind the columns of sstat -P; or each sample below a
 *    line that is a time; or, sampled with sacct, a column Elapsed or
 *    ElapsedRaw. The header may stand once or above every sample. Readings of
 *    one meter a job, kind NODE.
 *  - samples without any time: readings at the interval that the user gives.
 *  - a single sample: one run a job, with its energy so far.
 *
 * A sample has a line for each step (-a); slurm.h describes which of their
 * energies counts. Lines belong to one sample until a step comes again. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "logs/log.h"
#include "logs/slurm/slurm.h"

struct sstat {
  struct dl_slurm_table table;
  char *id; /* of the job being read, owned; NULL: none */

  /* The sample being read. */
  double energy_j[DL_SLURM_STEPS]; /* of its steps */
  bool seen[DL_SLURM_STEPS];       /* steps in it, and the last numbered one */
  double number;
  bool has_energy; /* even if 0 */
  double elapsed_s;
  int64_t ns;

  size_t n_samples; /* of this job, handed on */
  bool zero;        /* an energy of 0 J is held back */
  struct dl_reading held;
  bool stamped; /* by a line that is a time */
  int64_t stamp_ns;
};

static bool has(const struct dl_slurm_table *t, enum dl_slurm_column c) {
  return t->at[c] >= 0;
}

static bool probe(const struct dl_head *head) {
  return dl_slurm_kind(head->text) == DL_SLURM_SAMPLES;
}

/* Readings whose energy is 0 are held back until it grows: where nothing
 * measures, it stays 0, which is then unknown. */
static void hand_on(struct dl_log *log, struct sstat *st,
                    const struct dl_reading *r) {
  if (st->zero) {
    if (!(r->energy_j > 0) || r->meter != st->held.meter)
      st->held.energy_j = NAN;
    dl_log_reading(log, &st->held);
  }
  st->zero = r->energy_j == 0;
  if (st->zero)
    st->held = *r;
  else
    dl_log_reading(log, r);
}

static void release(struct dl_log *log, struct sstat *st) {
  if (st->zero) {
    st->held.energy_j = NAN;
    dl_log_reading(log, &st->held);
  }
  st->zero = false;
}

static bool is_timed(const struct sstat *st) {
  return st->stamped || has(&st->table, DL_SLURM_TIME) ||
         dl_slurm_has_elapsed(&st->table);
}

static bool has_sample(const struct sstat *st) {
  for (int i = 0; i < DL_SLURM_STEPS; i++)
    if (st->seen[i])
      return true;
  return false;
}

/* The sample is complete: a reading, or a run where it is the only one and has
 * no time. */
static void finish_sample(struct dl_log *log, struct sstat *st, bool last) {
  bool counted_twice;
  if (!st->id || !has_sample(st))
    return;
  double joules = dl_slurm_job_energy(st->energy_j, NAN, &counted_twice);
  if (last && st->n_samples == 0 && !is_timed(st)) {
    struct dl_run *r = dl_log_run(log);
    dl_run_copy_text(r, DL_RUN_run_id, st->id);
    dl_run_lend_text(r, DL_RUN_state, "RUNNING");
    dl_run_set_number(r, DL_RUN_node_energy_j, joules);
    dl_run_set_number(r, DL_RUN_energy_j, joules);
    dl_run_lend_text(r, DL_RUN_boundary, "node");
  } else {
    if (isnan(joules) && st->has_energy)
      joules = 0;
    struct dl_reading r = {.meter =
                               dl_log_meter(log, DL_METER_NODE, st->id, NULL),
                           .power_w = NAN,
                           .util = NAN,
                           .energy_j = joules};
    if (st->stamped || has(&st->table, DL_SLURM_TIME))
      r.ns = st->ns;
    else if (dl_slurm_has_elapsed(&st->table))
      r.ns = dl_log_time_since(log, st->elapsed_s);
    else
      r.ns = dl_log_time_of(log, st->n_samples);
    st->n_samples++;
    hand_on(log, st, &r);
  }
  memset(st->seen, 0, sizeof st->seen);
  memset(st->energy_j, 0, sizeof st->energy_j);
  st->has_energy = false;
}

static void finish_job(struct dl_log *log, struct sstat *st) {
  finish_sample(log, st, true);
  release(log, st);
  free(st->id);
  st->id = NULL;
  st->n_samples = 0;
}

/* The number of a step, "123.4": 4. */
static double step_number(const char *id) {
  const char *s = strchr(id, '.');
  double x;
  return s && dl_parse_number(s + 1, strspn(s + 1, "0123456789"), &x) ==
                     DL_NUMBER_OK
             ? x
             : 0;
}

static bool read_time(struct dl_log *log, const struct sstat *st,
                      const struct dl_slurm_row *row, int64_t *ns,
                      double *elapsed_s) {
  const struct dl_slurm_table *t = row->table;
  *ns = st->stamp_ns;
  *elapsed_s = 0;
  if (has(t, DL_SLURM_TIME)) {
    const char *s = dl_slurm_cell(row, DL_SLURM_TIME);
    return dl_log_time(log, s, strlen(s), ns) ||
           dl_log_bad(log, "column 'Timestamp': invalid time '%.40s'", s);
  }
  if (st->stamped || !dl_slurm_has_elapsed(t))
    return true;
  *elapsed_s = dl_slurm_elapsed(row);
  return !isnan(*elapsed_s) ||
         dl_log_bad(log, "column 'Elapsed': invalid duration '%.40s'",
                    dl_slurm_cell(row, has(t, DL_SLURM_ELAPSED_RAW)
                                           ? DL_SLURM_ELAPSED_RAW
                                           : DL_SLURM_ELAPSED));
}

static bool add_row(struct dl_log *log, struct sstat *st,
                    const struct dl_slurm_row *row) {
  double elapsed_s;
  int64_t ns;
  if (!read_time(log, st, row, &ns, &elapsed_s))
    return false;
  if (st->id && (strlen(st->id) != row->id_len ||
                 strncmp(st->id, row->id, row->id_len) != 0))
    finish_job(log, st);
  if (!st->id)
    st->id = dl_strndup(row->id, row->id_len);
  double number = step_number(row->id);
  if (st->seen[row->step] &&
      (row->step != DL_SLURM_NUMBERED || number <= st->number))
    finish_sample(log, st, false);
  if (!has_sample(st)) {
    st->ns = ns;
    st->elapsed_s = elapsed_s;
  }
  st->seen[row->step] = true;
  if (row->step == DL_SLURM_NUMBERED)
    st->number = number;
  st->elapsed_s = fmax(st->elapsed_s, elapsed_s);
  st->has_energy = st->has_energy || !isnan(row->joules);
  dl_slurm_add(st->energy_j, row->step, row->joules);
  return true;
}

static bool line(struct dl_log *log, char *s) {
  const size_t len = log->len;
  struct sstat *st = log->state;
  struct dl_slurm_row row;
  int64_t ns;
  if (dl_slurm_layout(&st->table, s, len))
    return true;
  if (dl_log_time(log, s, len, &ns)) {
    finish_sample(log, st, false);
    st->stamp_ns = ns;
    st->stamped = true;
    return true;
  }
  return dl_slurm_read(log, &st->table, s, len, &row) && add_row(log, st, &row);
}

static void end(struct dl_log *log) {
  finish_job(log, log->state);
}

static void free_state(void *state) {
  struct sstat *st = state;
  free(st->id);
}

const struct dl_importer dl_import_sstat = {
    .name = "sstat",
    .summary = "samples of Slurm's sstat -P -o JobID,ConsumedEnergyRaw",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(struct sstat),
    .probe = probe,
    .line = line,
    .end = end,
    .free = free_state,
};
