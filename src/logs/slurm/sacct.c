/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's accounting: sacct -P, -p, --delimiter=..., or as it prints by
 * default (slurm.h has the layouts, and which of the energies counts).
 *
 * One run a job. Its line comes first and its steps' lines follow, which most
 * often lack user and state: "123", "123.batch", "123.extern", "123.0"; array
 * tasks are "123_4", parts of a heterogeneous job "123+0". Pending jobs have
 * not run and are passed over. Any columns in any order; of these names:
 *   JobID or JobIDRaw, JobName, User, Account, Partition, State ("CANCELLED by
 * 1000"), Elapsed ([D-]HH:MM:SS) or ElapsedRaw (s), Start and End ("Unknown"),
 *   NNodes or AllocNodes, NCPUS or AllocCPUS, TotalCPU ([D-][HH:]MM:SS[.mmm];
 *   0 with --allocations, since it comes from the steps), ConsumedEnergy,
 *   ConsumedEnergyRaw, AllocTRES (also "energy=..."), AllocGRES (before 20.11),
 *   ReqTRES where neither is there,
 *   TRESUsageInTot or TRESUsageInAve with NTasks: gres/gpuutil, of steps.
 *
 * energy_j is what AcctGatherEnergyType gathered over the job's nodes: with
 * ipmi, pm_counters and xcc the whole node, therefore the boundary; with rapl
 * only CPUs and memory, with gpu only GPUs, which the table does not tell. A
 * node that jobs share is in the energy of each of them. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "logs/importers/importer.h"
#include "logs/slurm/slurm.h"

/* No node takes more: what is above comes from a failed sensor. */
#define MOST_W_A_NODE 2e5
#define MOST_NODES 1e5

struct sacct {
  struct dl_slurm_table table;
  bool open;         /* a job is being read */
  char *id;          /* its id, owned */
  struct dl_run run; /* what its line says */
  bool has_job_line;
  struct dl_slurm_energies energies;
  double step_s; /* the longest step */
  double n_nodes;
  double cpu_s, n_cpus;
  double busy_s; /* GPU time in use, over the steps that tell; NaN: none */
  size_t calls, job_call; /* lines so far, and at the job's line */
};

static bool has(const struct dl_slurm_table *t, enum dl_slurm_column c) {
  return t->at[c] >= 0;
}

static bool probe(const struct dl_head *head) {
  return dl_slurm_kind(head->text) == DL_SLURM_JOBS;
}

/* A count of nodes or processors: "2048", "2K". */
static double number_of(const char *s) {
  double x;
  size_t n = strlen(s);
  double scale = n > 1 && s[n - 1] == 'K' ? 1024 : 1;
  bool ok = dl_parse_number(s, n - (scale > 1), &x) == DL_NUMBER_OK && x > 0 &&
            x * scale <= 1e9;
  return ok ? x * scale : NAN;
}

/* The share of its processors that the job used. TotalCPU may exceed them a
 * little where it is rounded. */
static double cpu_share(const struct sacct *c, double seconds) {
  double share = c->cpu_s / (seconds * c->n_cpus);
  if (!(share > 0) || !(share < 1.1))
    return NAN;
  return fmin(share, 1);
}

/* The share of its GPUs that the job used. */
static double gpu_share(const struct sacct *c, double seconds) {
  double share = c->busy_s / (seconds * dl_run_get(&c->run, "n_gpus"));
  return share >= 0 ? fmin(share, 1) : NAN;
}

/* Hands the job on, whose last line was before. */
static void finish(struct dl_log *log, struct sacct *c) {
  bool counted_twice;
  if (!c->open)
    return;
  c->open = false;
  struct dl_run *r = dl_log_run(log);
  if (!r)
    return;
  double seconds = dl_run_get(&c->run, "duration_s");
  if (isnan(seconds) && c->step_s > 0)
    dl_run_set(&c->run, "duration_s", seconds = c->step_s);
  dl_run_set(&c->run, "gpu_util", gpu_share(c, seconds));
  size_t behind = c->calls - c->job_call, number = r->line;
  dl_run_clear(r);
  *r = c->run;
  c->run = (struct dl_run){0};
  r->line = number > behind ? number - behind : 1;
  double joules = dl_slurm_job_energy(&c->energies, c->n_nodes, &counted_twice);
  if (counted_twice)
    dl_log_warn(log, "energies of jobs are sums over steps that overlap: those "
                     "of the steps are used instead");
  double nodes = c->n_nodes > 0 ? c->n_nodes : MOST_NODES;
  double most = MOST_W_A_NODE * nodes * fmax(seconds, 1);
  if (!isnan(seconds) && joules > most) {
    dl_log_warn(log,
                "job %s: an energy of %g J in %g s is impossible and left "
                "out",
                c->id, joules, seconds);
    joules = NAN;
  }
  dl_run_set(r, "cpu_util", cpu_share(c, seconds));
  dl_run_set(r, "node_energy_j", joules);
  dl_run_set(r, "energy_j", joules);
  dl_run_set_text(r, "boundary", "node");
}

static void forget(struct sacct *c) {
  dl_run_clear(&c->run);
  free(c->id);
  c->id = NULL;
  c->open = false;
}

/* A new job, of whose id the first `len` characters are given. */
static bool start_job(struct sacct *c, const char *id, size_t len) {
  struct dl_slurm_table table = c->table;
  size_t calls = c->calls;
  forget(c);
  *c = (struct sacct){.table = table,
                      .calls = calls,
                      .job_call = calls,
                      .open = true,
                      .n_nodes = NAN,
                      .cpu_s = NAN,
                      .n_cpus = NAN,
                      .busy_s = NAN};
  c->id = dl_strndup(id, len);
  if (!c->id || !dl_run_init(&c->run)) {
    c->open = false;
    return false;
  }
  dl_run_set_text(&c->run, "run_id", c->id);
  return true;
}

static void set_state(struct dl_run *r, const char *state) {
  char word[32];
  size_t n = strcspn(state, " +"); /* "CANCELLED by 1000", "CANCELLED+" */
  if (n >= sizeof word)
    n = sizeof word - 1;
  memcpy(word, state, n);
  word[n] = '\0';
  dl_run_set_text(r, "state", word);
}

static void set_gpus(struct sacct *c, char *const *field) {
  static const enum dl_slurm_column from[] = {
      DL_SLURM_ALLOC_TRES, DL_SLURM_ALLOC_GRES, DL_SLURM_REQ_TRES};
  char type[64];
  for (size_t i = 0; i < 3; i++) {
    double n = dl_slurm_gpus(dl_slurm_cell(&c->table, field, from[i]), type,
                             sizeof type);
    if (n > 0) {
      dl_run_set(&c->run, "n_gpus", n);
      dl_run_set_text(&c->run, "gpu", type);
      return;
    }
    if (dl_slurm_cell(&c->table, field, from[i])[0] != '\0')
      return; /* what was allocated goes before what was asked for */
  }
}

static void set_memory(struct sacct *c, char *const *field) {
  const char *given = dl_slurm_cell(&c->table, field, DL_SLURM_ALLOC_TRES);
  if (given[0] == '\0')
    given = dl_slurm_cell(&c->table, field, DL_SLURM_REQ_TRES);
  dl_run_set(&c->run, "ram_gb", dl_slurm_memory_gb(given));
}

static void set_start(struct dl_run *r, const char *s) {
  struct dl_timestamp t;
  if (dl_parse_timestamp(s, strlen(s), &t) && t.dated) {
    char text[DL_TIMESTAMP_SIZE];
    dl_run_set_text(r, "start_time", dl_format_timestamp(text, t.ns, t.zoned));
  }
}

static void read_job(struct sacct *c, char *const *field) {
  const struct dl_slurm_table *t = &c->table;
  struct dl_run *r = &c->run;
  double x;
  c->has_job_line = true;
  c->n_nodes = number_of(dl_slurm_cell(t, field, DL_SLURM_NODES));
  c->n_cpus = number_of(dl_slurm_cell(t, field, DL_SLURM_CPUS));
  const char *cpu = dl_slurm_cell(t, field, DL_SLURM_TOTAL_CPU);
  if (dl_parse_elapsed(cpu, strlen(cpu), &x))
    c->cpu_s = x;
  dl_run_set_text(r, "job_name", dl_slurm_cell(t, field, DL_SLURM_NAME));
  dl_run_set_text(r, "user", dl_slurm_cell(t, field, DL_SLURM_USER));
  dl_run_set_text(r, "project", dl_slurm_cell(t, field, DL_SLURM_ACCOUNT));
  dl_run_set_text(r, "partition", dl_slurm_cell(t, field, DL_SLURM_PARTITION));
  set_state(r, dl_slurm_cell(t, field, DL_SLURM_STATE));
  set_start(r, dl_slurm_cell(t, field, DL_SLURM_START));
  set_gpus(c, field);
  set_memory(c, field);
  dl_run_set(r, "n_nodes", c->n_nodes);
  dl_run_set(r, "n_cpus", c->n_cpus);
  dl_run_set(r, "duration_s", dl_slurm_elapsed(t, field));
}

/* Steps run side by side, each with processes of its own. */
static void add_use(struct sacct *c, char *const *field, double seconds) {
  const struct dl_slurm_table *t = &c->table;
  double busy =
      dl_slurm_busy_gpus(dl_slurm_cell(t, field, DL_SLURM_USE_TOTAL),
                         dl_slurm_cell(t, field, DL_SLURM_USE_AVERAGE),
                         number_of(dl_slurm_cell(t, field, DL_SLURM_TASKS)));
  if (busy * seconds >= 0)
    c->busy_s = (isnan(c->busy_s) ? 0 : c->busy_s) + busy * seconds;
}

static bool is_pending(const char *state) {
  return strncasecmp(state, "PENDING", 7) == 0;
}

static bool read_row(struct dl_log *log, struct sacct *c, char *const *field) {
  const struct dl_slurm_table *t = &c->table;
  const char *id = dl_slurm_cell(t, field, DL_SLURM_JOB_ID);
  double joules;
  size_t len;
  enum dl_slurm_step step = dl_slurm_step_of(id, &len);
  if (*id < '0' || *id > '9')
    return dl_log_bad(log, "column 'JobID': invalid id '%.40s'", id);
  if (step == DL_SLURM_JOB && id[len - 1] == '+')
    return dl_log_bad(log,
                      "column 'JobID': '%.40s' is cut off: sacct -P "
                      "prints all of it",
                      id);
  if (!dl_slurm_row_energy(t, field, &joules))
    return dl_log_bad(log, "column 'ConsumedEnergy': invalid number '%.40s'",
                      dl_slurm_cell(t, field,
                                    has(t, DL_SLURM_ENERGY_RAW)
                                        ? DL_SLURM_ENERGY_RAW
                                        : DL_SLURM_ENERGY));
  bool same = c->open && strlen(c->id) == len && strncmp(c->id, id, len) == 0;
  if (!same || (step == DL_SLURM_JOB && c->has_job_line)) {
    finish(log, c);
    if (is_pending(dl_slurm_cell(t, field, DL_SLURM_STATE)))
      return true;
    if (!start_job(c, id, len))
      return dl_log_bad(log, "out of memory");
  }
  dl_slurm_add(&c->energies, step, joules);
  if (step == DL_SLURM_JOB) {
    read_job(c, field);
  } else {
    double x = dl_slurm_elapsed(t, field);
    if (x > c->step_s)
      c->step_s = x;
    add_use(c, field, x);
    x = number_of(dl_slurm_cell(t, field, DL_SLURM_NODES));
    if (!c->has_job_line && !(x <= c->n_nodes))
      c->n_nodes = x;
  }
  return true;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct sacct *c = dl_log_state(log);
  char *field[DL_SLURM_FIELDS];
  c->calls++;
  if (strcasestr(s, "JobID") && dl_slurm_header(&c->table, s, len))
    return true;
  if (dl_slurm_ruler(&c->table, s))
    return true;
  return dl_slurm_fields(log, &c->table, s, len, field) &&
         read_row(log, c, field);
}

static void end(struct dl_log *log) {
  finish(log, dl_log_state(log));
}

static void free_state(void *state) {
  forget(state);
}

const struct dl_importer dl_import_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct -P -o JobID,ElapsedRaw,"
               "ConsumedEnergyRaw,...",
    .role = DL_LOG_RUNS,
    .has_jobs = true,
    .state_size = sizeof(struct sacct),
    .probe = probe,
    .line = line,
    .end = end,
    .free = free_state,
};
