/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting of Slurm: sacct -P, -p, --delimiter=..., or its default output
 * (slurm.h describes the layouts, and which of the energies counts).
 *
 * One run per job. The line of a job comes first, followed by those of its
 * steps, which usually lack user and state: "123", "123.batch", "123.extern",
 * "123.0"; array tasks are "123_4", parts of a heterogeneous job "123+0".
 * Pending jobs have not run and are ignored. Any columns in any order; used are
 *   JobID or JobIDRaw, JobName, User, Account, Partition, State ("CANCELLED by
 * 1000"), Elapsed ([D-]HH:MM:SS) or ElapsedRaw (s), Start and End ("Unknown"),
 *   NNodes or AllocNodes, NCPUS or AllocCPUS, TotalCPU ([D-][HH:]MM:SS[.mmm];
 *   0 with --allocations, since it comes from the steps), ConsumedEnergy,
 *   ConsumedEnergyRaw, AllocTRES (also "energy=..."), AllocGRES (before 20.11),
 *   ReqTRES if neither is there,
 *   TRESUsageInTot or TRESUsageInAve with NTasks: gres/gpuutil, of steps.
 *
 * energy_j is what AcctGatherEnergyType collected over the nodes of the job:
 * with ipmi, pm_counters and xcc the whole node, hence the boundary; with rapl
 * only CPUs and memory, with gpu only GPUs, which the table does not state. The
 * energy of a node that jobs share is included in each of them. */

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/number.h"
#include "logs/log.h"
#include "logs/seen_rows.h"
#include "logs/slurm/slurm.h"

/* No node draws more: a higher power comes from a failed sensor. */
#define MOST_W_PER_NODE 2e5
#define MOST_NODES 1e5

struct sacct {
  struct dl_slurm_table table;
  bool has_job_line;
  uint64_t cluster; /* hash of the cluster of the open job */
  struct dl_slurm_energies energies;
  double step_s; /* the longest step */
  double n_nodes;
  double cpu_s;      /* processor time used, over all processors */
  double busy_gpu_s; /* GPU time in use, summed over steps; NaN: unknown */
};

static bool probe(const struct dl_head *head) {
  return dl_slurm_kind(head->text) == DL_SLURM_JOBS;
}

/* sacct's own choice of columns has neither times nor energies. */
static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct dl_slurm_table t;
  struct dl_text missing = {0};
  const char *s = head->text + strspn(head->text, " \t\r\n");
  enum dl_status status = DL_OK;
  if (!log->o.accounting || !dl_slurm_header(&t, s, strcspn(s, "\r\n")) ||
      dl_slurm_has_figures(&t))
    return DL_OK;
  dl_slurm_missing(&t, &missing);
  status = missing.failed
               ? dl_fail_memory(d)
               : dl_fail_at(d, DL_EINPUT, log->path, 0,
                            "no times and no energies of jobs: columns %s are "
                            "missing; use sacct -P -o %s",
                            dl_text_str(&missing), DL_SLURM_USED);
  dl_text_free(&missing);
  return status;
}

/* A number of nodes or processors: "2048", "2K". */
static double count_of(const char *s) {
  double x;
  size_t n = strlen(s);
  double scale = n > 1 && s[n - 1] == 'K' ? 1024 : 1;
  bool ok = dl_parse_number(s, n - (scale > 1), &x) == DL_NUMBER_OK && x > 0 &&
            x * scale <= 1e9;
  return ok ? x * scale : NAN;
}

/* Hash of the cluster of a row: clusters number their jobs independently. */
static uint64_t cluster_of(const struct dl_slurm_row *row) {
  const char *name = dl_slurm_cell(row, DL_SLURM_CLUSTER);
  return dl_seen_hash(DL_SEEN_START, name, strlen(name) + 1);
}

/* Key of a job whose rows were read. */
static uint64_t closed_key(uint64_t cluster, const char *id, size_t len) {
  return dl_seen_hash(dl_seen_hash(cluster, "closed ", 7), id, len);
}

/* Whether a row was read before: one of the same job or step with the same
 * start, or the same line if it has none. `line` is the hash of the line. */
static bool is_repeat(struct dl_log *log, const struct dl_slurm_row *row,
                      uint64_t line) {
  const char *start = dl_slurm_cell(row, DL_SLURM_START);
  struct dl_timestamp t;
  if (dl_parse_timestamp(start, strlen(start), &t))
    line = dl_seen_hash(
        dl_seen_hash(cluster_of(row), row->id, strlen(row->id) + 1), start,
        strlen(start));
  return dl_log_is_repeat(log, line);
}

/* Adds the job that the lines so far describe. */
static void finish(struct dl_log *log, struct sacct *c) {
  struct dl_run *r = &log->open_run;
  bool counted_twice;
  if (!log->in_run)
    return;
  if (isnan(r->duration_s) && c->step_s > 0)
    dl_run_set_number(r, DL_RUN_duration_s, c->step_s);
  double seconds = r->duration_s;
  double gpu_util = c->busy_gpu_s / (seconds * r->n_gpus);
  if (gpu_util >= 0)
    dl_run_set_number(r, DL_RUN_gpu_util, fmin(gpu_util, 1));
  /* TotalCPU is rounded: it may be slightly more than all processors. */
  double cpu_util = c->cpu_s / (seconds * r->n_cpus);
  if (cpu_util > 0 && cpu_util < 1.1)
    dl_run_set_number(r, DL_RUN_cpu_util, fmin(cpu_util, 1));
  double joules = dl_slurm_job_energy(&c->energies, c->n_nodes, &counted_twice);
  if (counted_twice)
    dl_log_warn(log, "energies of jobs are sums over steps that overlap: those "
                     "of the steps are used instead");
  double nodes = c->n_nodes > 0 ? c->n_nodes : MOST_NODES;
  if (joules > MOST_W_PER_NODE * nodes * fmax(seconds, 1) && !isnan(seconds)) {
    dl_log_warn(log,
                "job %s: an energy of %g J in %g s is impossible and left "
                "out",
                r->run_id, joules, seconds);
    joules = NAN;
  }
  dl_run_set_number(r, DL_RUN_node_energy_j, joules);
  dl_run_set_number(r, DL_RUN_energy_j, joules);
  dl_run_lend_text(r, DL_RUN_boundary, "node");
  if (r->run_id)
    dl_log_remember(log, closed_key(c->cluster, r->run_id, strlen(r->run_id)) +
                             c->has_job_line);
  dl_log_close_run(log, true);
}

static void start_job(struct dl_log *log, struct sacct *c,
                      const struct dl_slurm_row *row) {
  struct dl_run *r = dl_log_open_run(log);
  r->line = log->line;
  c->has_job_line = false;
  c->energies = (struct dl_slurm_energies){0};
  c->step_s = 0;
  c->n_nodes = c->cpu_s = c->busy_gpu_s = NAN;
  dl_run_copy_text_n(r, DL_RUN_run_id, row->id, row->id_len);
}

static void set_gpus(struct dl_run *r, const struct dl_slurm_row *row) {
  static const enum dl_slurm_column from[] = {
      DL_SLURM_ALLOC_TRES, DL_SLURM_ALLOC_GRES, DL_SLURM_REQ_TRES};
  char type[64];
  for (size_t i = 0; i < 3; i++) {
    const char *tres = dl_slurm_cell(row, from[i]);
    double n = dl_slurm_gpus(tres, type, sizeof type);
    if (n > 0) {
      dl_run_set_number(r, DL_RUN_n_gpus, n);
      dl_run_copy_text(r, DL_RUN_gpu, type);
    }
    if (n > 0 || tres[0] != '\0')
      return; /* the allocation takes precedence over the request */
  }
}

static void read_job(struct sacct *c, struct dl_run *r,
                     const struct dl_slurm_row *row) {
  static const struct {
    enum dl_slurm_column from;
    enum dl_run_id to;
  } texts[] = {{DL_SLURM_NAME, DL_RUN_job_name},
               {DL_SLURM_USER, DL_RUN_user},
               {DL_SLURM_ACCOUNT, DL_RUN_project},
               {DL_SLURM_PARTITION, DL_RUN_partition}};
  struct dl_timestamp t;
  c->has_job_line = true;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    dl_run_copy_text(r, texts[i].to, dl_slurm_cell(row, texts[i].from));
  const char *state = dl_slurm_cell(row, DL_SLURM_STATE);
  size_t word = strcspn(state, " +"); /* "CANCELLED by 1000", "CANCELLED+" */
  dl_run_copy_text_n(r, DL_RUN_state, state, word < 31 ? word : 31);
  const char *start = dl_slurm_cell(row, DL_SLURM_START);
  if (dl_parse_timestamp(start, strlen(start), &t) && t.dated) {
    char text[DL_TIMESTAMP_SIZE];
    dl_run_copy_text(r, DL_RUN_start_time,
                     dl_format_timestamp(text, t.ns, t.zoned));
  }
  const char *cpu = dl_slurm_cell(row, DL_SLURM_TOTAL_CPU);
  if (!dl_parse_elapsed(cpu, strlen(cpu), &c->cpu_s))
    c->cpu_s = NAN;
  set_gpus(r, row);
  const char *tres = dl_slurm_cell(row, DL_SLURM_ALLOC_TRES);
  if (tres[0] == '\0')
    tres = dl_slurm_cell(row, DL_SLURM_REQ_TRES);
  dl_run_set_number(r, DL_RUN_ram_gb, dl_slurm_memory_gb(tres));
  c->n_nodes = count_of(dl_slurm_cell(row, DL_SLURM_NODES));
  dl_run_set_number(r, DL_RUN_n_nodes, c->n_nodes);
  dl_run_set_number(r, DL_RUN_n_cpus,
                    count_of(dl_slurm_cell(row, DL_SLURM_CPUS)));
  dl_run_set_number(r, DL_RUN_duration_s, dl_slurm_elapsed(row));
}

/* Steps run side by side, each with its own processes. */
static void read_step(struct sacct *c, const struct dl_slurm_row *row) {
  double seconds = dl_slurm_elapsed(row);
  double busy =
      dl_slurm_busy_gpus(dl_slurm_cell(row, DL_SLURM_USE_TOTAL),
                         dl_slurm_cell(row, DL_SLURM_USE_AVERAGE),
                         count_of(dl_slurm_cell(row, DL_SLURM_TASKS)));
  if (seconds > c->step_s)
    c->step_s = seconds;
  if (busy * seconds >= 0)
    c->busy_gpu_s = (isnan(c->busy_gpu_s) ? 0 : c->busy_gpu_s) + busy * seconds;
  double nodes = count_of(dl_slurm_cell(row, DL_SLURM_NODES));
  if (!c->has_job_line && !(nodes <= c->n_nodes))
    c->n_nodes = nodes;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct sacct *c = log->state;
  struct dl_slurm_row row;
  if (dl_slurm_layout(&c->table, s, len))
    return true;
  uint64_t hash = dl_seen_hash(DL_SEEN_START, s, len);
  if (!dl_slurm_read(log, &c->table, s, len, &row))
    return false;
  if (is_repeat(log, &row, hash))
    return true;
  bool is_job = row.step == DL_SLURM_JOB;
  if (is_job && row.id[row.id_len - 1] == '+')
    return dl_log_bad(log,
                      "column 'JobID': '%.40s' is cut off: sacct -P "
                      "prints all of it",
                      row.id);
  const char *id = log->in_run ? log->open_run.run_id : NULL;
  uint64_t cluster = cluster_of(&row);
  bool same = id && strncmp(id, row.id, row.id_len) == 0 &&
              id[row.id_len] == '\0' && cluster == c->cluster;
  uint64_t closed = closed_key(cluster, row.id, row.id_len);
  if (!same && (dl_seen_has(log->o.seen, closed) ||
                (!is_job && dl_seen_has(log->o.seen, closed + 1))))
    return dl_log_bad(log,
                      "row of job %.*s apart from its others: sort the table "
                      "by JobID",
                      (int)row.id_len, row.id);
  if (!same || (is_job && c->has_job_line)) {
    finish(log, c);
    if (dl_strncasecmp(dl_slurm_cell(&row, DL_SLURM_STATE), "PENDING", 7) == 0)
      return true;
    start_job(log, c, &row);
    c->cluster = cluster;
  }
  dl_slurm_add(&c->energies, row.step, row.joules);
  if (is_job)
    read_job(c, &log->open_run, &row);
  else
    read_step(c, &row);
  return true;
}

static void end(struct dl_log *log) {
  finish(log, log->state);
}

const struct dl_importer dl_import_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct -P -o JobID,ElapsedRaw,"
               "ConsumedEnergyRaw,...",
    .role = DL_LOG_RUNS,
    .has_jobs = true,
    .state_size = sizeof(struct sacct),
    .probe = probe,
    .begin = begin,
    .line = line,
    .end = end,
};
