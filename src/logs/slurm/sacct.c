/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounting of Slurm: sacct -P, -p, --delimiter=..., or its default output
 * (slurm.h describes the layouts, and which of the energies counts).
 *
 * One run per job. The line of a job comes first, followed by the lines of its
 * steps, which usually lack user and state: "123", "123.batch", "123.extern",
 * "123.0"; array tasks are "123_4", parts of a heterogeneous job "123+0".
 * Pending jobs have not run and are ignored. Any columns in any order; used are
 *   JobID or JobIDRaw, JobName, User, Account, Partition, State ("CANCELLED by
 * 1000"), Elapsed ([D-]HH:MM:SS) or ElapsedRaw (s), Start and End ("Unknown"),
 *   NodeList ("gpu[01-04],cpu1"),
 *   NNodes or AllocNodes, NCPUS or AllocCPUS, TotalCPU ([D-][HH:]MM:SS[.mmm];
 *   0 with --allocations, since it comes from the steps), ConsumedEnergy,
 *   ConsumedEnergyRaw, AllocTRES (also "energy=..."), AllocGRES (before 20.11),
 *   ReqTRES if neither is there,
 *   TRESUsageInTot or TRESUsageInAve with NTasks: gres/gpuutil, of steps.
 *
 * energy_j is the energy that AcctGatherEnergyType measured on the nodes of the
 * job: with ipmi, pm_counters and xcc the whole node, hence the boundary; with
 * rapl only CPUs and memory, with gpu only GPUs, which the table does not
 * state. The energy of a node that jobs share is included in each of them: with
 * NodeList it counts once (node_times.h). The latest of several states of a job
 * counts (held_jobs.h). */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"
#include "logs/seen/seen_rows.h"
#include "logs/slurm/held_jobs.h"
#include "logs/slurm/job_fault.h"
#include "logs/slurm/settle_jobs.h"
#include "logs/slurm/slurm.h"

/* A job that is said to run for longer is a "runaway": its end was lost. Times
 * on the wall may be an hour off (daylight saving). */
#define MOST_S (366 * 86400.0)
#define TIMES_APART_S 3700.0

struct sacct {
  struct dl_slurm_table table;
  bool open;                /* the last job is being read */
  struct dl_job_rows *rows; /* of each job */
  struct dl_job_step *step;
  size_t n_rows, rows_cap, n_steps, steps_cap;
  struct dl_seen_rows many; /* steps of the open job, if it has many */
  struct dl_strlist starts; /* times that the table writes in another way */
  struct dl_job_fault *fault;
  size_t n_faults, faults_cap, fault_at; /* fault_at: next to be reported */
  size_t n_settled;                      /* jobs of the log */
};

/* More steps than these are looked up by hashes. */
enum { MANY_STEPS = 64 };

static bool probe(const struct dl_head *head) {
  return dl_slurm_kind(head->text) == DL_SLURM_JOBS;
}

static const char *lacks(const struct dl_head *head) {
  return dl_slurm_lacks(head->text);
}

/* sacct's own choice of columns has neither times nor energies. */
static enum dl_status begin(struct dl_log *log, const struct dl_head *head,
                            struct dl_diag *d) {
  struct dl_slurm_table t;
  DL_TEXT(missing);
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (!log->o.accounting || !dl_slurm_header(&t, s, strcspn(s, "\r\n")) ||
      dl_slurm_has_figures(&t))
    return DL_OK;
  dl_slurm_missing(&t, &missing);
  return dl_fail_at(d, DL_EINPUT, log->path, 0,
                    "no times and no energies of jobs: columns %s are "
                    "missing; use sacct -P -o %s",
                    dl_text_str(&missing), DL_SLURM_USED);
}

/* Hash of the cluster of a row: clusters number their jobs independently. */
static uint64_t cluster_of(const struct dl_slurm_row *row) {
  const char *name = dl_slurm_cell(row, DL_SLURM_CLUSTER);
  return dl_seen_hash(DL_SEEN_START, name, strlen(name) + 1);
}

/* Reads when a job or step began: s since 1970, or, unless *timed, a hash of
 * the line. t->dated is false if the start is unknown. */
static int64_t start_of(const struct dl_slurm_row *row, const char *line,
                        size_t len, struct dl_timestamp *t, bool *timed) {
  const char *start = dl_slurm_cell(row, DL_SLURM_START);
  bool known = *start && (dl_parse_timestamp(start, strlen(start), t) ||
                          dl_parse_start(start, t));
  if (!known)
    *t = (struct dl_timestamp){0};
  *timed = known && t->ns % DL_SECOND == 0;
  if (*timed)
    return t->ns / DL_SECOND;
  uint64_t hash = dl_seen_hash(DL_SEEN_START, line, len);
  return (int64_t)((hash ^ hash >> 32) & UINT32_MAX);
}

/* Stores a fault of the open job, for the case that it counts. */
static void note_fault(struct dl_log *log, struct sacct *c,
                       enum dl_job_fault_kind kind, double x, double of_s) {
  DL_GROW(c->fault, c->faults_cap, c->n_faults + 1);
  c->fault[c->n_faults++] =
      (struct dl_job_fault){log->n_jobs - 1, log->line, kind, x, of_s};
}

/* Ends the job that the lines so far describe. */
static void finish(struct dl_log *log, struct sacct *c) {
  struct dl_job_fault fault[DL_JOB_FAULTS];
  if (!c->open)
    return;
  c->open = false;
  size_t n = dl_job_figures(&log->job[log->n_jobs - 1], &c->rows[c->n_rows - 1],
                            fault);
  for (size_t i = 0; i < n; i++)
    note_fault(log, c, fault[i].kind, fault[i].x, fault[i].of_s);
}

/* The job of a row becomes the open one. */
static void start_job(struct dl_log *log, struct sacct *c,
                      const struct dl_slurm_row *row,
                      const struct dl_job_rows *rows) {
  struct dl_cluster_job *job = dl_log_job(log);
  DL_GROW(c->rows, c->rows_cap, c->n_rows + 1);
  c->rows[c->n_rows] = *rows;
  struct dl_job_rows *open = &c->rows[c->n_rows++];
  open->first = c->n_steps;
  open->n_nodes = open->cpu_s = open->busy_gpu_s = NAN;
  c->open = true;
  dl_seen_rows_free(&c->many);
  job->run_id = row->id;
  job->duration_s = job->n_nodes = job->n_cpus = NAN;
  job->ram_gb = job->n_gpus = NAN;
  job->gpu_share = 1;
}

static uint64_t hash_of(const struct dl_job_step *step) {
  uint64_t hash = dl_seen_hash(DL_SEEN_START, &step->name, sizeof step->name);
  return dl_seen_hash(hash, &step->start, sizeof step->start);
}

/* Adds a step to the open job; false if it has the step already. */
static bool add_step(struct sacct *c, const struct dl_job_step *step) {
  struct dl_job_rows *rows = &c->rows[c->n_rows - 1];
  uint64_t hash = hash_of(step);
  bool many = rows->n_steps >= MANY_STEPS;
  for (size_t i = rows->first; i < c->n_steps; i++) {
    const struct dl_job_step *other = &c->step[i];
    if (!many && other->name == step->name && other->start == step->start)
      return false;
    if (many && rows->n_steps > MANY_STEPS)
      break;
    if (many) /* once: the first ones */
      dl_seen_add(&c->many, hash_of(other));
  }
  if (many && dl_seen_has(&c->many, hash))
    return false;
  if (many)
    dl_seen_add(&c->many, hash);
  DL_GROW(c->step, c->steps_cap, c->n_steps + 1);
  c->step[c->n_steps++] = *step;
  rows->n_steps++;
  return true;
}

/* Cuts the cell behind the type of the GPUs, so that the job can borrow it:
 * what else it has must have been read. */
static void set_gpus(struct dl_cluster_job *job,
                     const struct dl_slurm_row *row) {
  static const enum dl_slurm_column from[] = {
      DL_SLURM_ALLOC_TRES, DL_SLURM_ALLOC_GRES, DL_SLURM_REQ_TRES};
  for (size_t i = 0; i < 3; i++) {
    const char *tres = dl_slurm_cell(row, from[i]), *type;
    size_t len;
    double n = dl_slurm_gpus(tres, &type, &len, &job->gpu_share);
    if (n > 0) {
      job->n_gpus = n;
      if (len > 0)
        row->field[row->table->at[from[i]]][type + len - tres] = '\0';
      job->gpu = len > 0 ? type : NULL;
    }
    if (n > 0 || tres[0] != '\0')
      return; /* the allocation takes precedence over the request */
  }
}

/* The text of most times is what would be written. */
static const char *start_text(struct sacct *c, const char *start,
                              const struct dl_timestamp *t) {
  char text[DL_TIMESTAMP_SIZE];
  if (!t->dated)
    return NULL;
  if (strlen(start) == 19 && start[4] == '-' && start[10] == 'T' &&
      start[17] < '6')
    return start;
  dl_strlist_add(&c->starts, dl_format_timestamp(text, t->ns, t->zoned));
  return c->starts.s[c->starts.n - 1];
}

/* The duration of a job: what elapsed, or the time from start to end. NaN if
 * it is not known, or contradicts that time. */
static double duration_of(struct dl_log *log, struct sacct *c,
                          const struct dl_slurm_row *row,
                          const struct dl_timestamp *start) {
  const char *text = dl_slurm_cell(row, DL_SLURM_END);
  double elapsed_s = dl_slurm_elapsed(row), from_start_s = NAN;
  struct dl_timestamp end;
  if (start->dated && dl_parse_timestamp(text, strlen(text), &end) &&
      end.dated && end.zoned == start->zoned && end.ns >= start->ns)
    from_start_s = (double)(end.ns - start->ns) / DL_SECOND;
  double s = isnan(elapsed_s) ? from_start_s : elapsed_s;
  if (!(s > MOST_S) && !(s > from_start_s + TIMES_APART_S))
    return s;
  note_fault(log, c, DL_JOB_DURATION, s, from_start_s);
  return NAN;
}

static const char *known_text(const char *s) {
  return *s ? s : NULL;
}

static void read_job(struct dl_log *log, struct sacct *c,
                     const struct dl_slurm_row *row,
                     const struct dl_timestamp *start) {
  struct dl_cluster_job *job = &log->job[log->n_jobs - 1];
  struct dl_job_rows *open = &c->rows[c->n_rows - 1];
  job->job_name = known_text(dl_slurm_cell(row, DL_SLURM_NAME));
  job->user = known_text(dl_slurm_cell(row, DL_SLURM_USER));
  job->project = known_text(dl_slurm_cell(row, DL_SLURM_ACCOUNT));
  job->partition = known_text(dl_slurm_cell(row, DL_SLURM_PARTITION));
  const char *state = dl_slurm_cell(row, DL_SLURM_STATE);
  size_t word = 0; /* "CANCELLED by 1000", "CANCELLED+" */
  while (state[word] && state[word] != ' ' && state[word] != '+' && word < 31)
    word++;
  if (word > 0) {
    row->field[row->table->at[DL_SLURM_STATE]][word] = '\0';
    job->state = state;
  }
  job->start_time = start_text(c, dl_slurm_cell(row, DL_SLURM_START), start);
  const char *cpu = dl_slurm_cell(row, DL_SLURM_TOTAL_CPU);
  if (!dl_parse_elapsed(cpu, strlen(cpu), &open->cpu_s))
    open->cpu_s = NAN;
  const char *tres = dl_slurm_cell(row, DL_SLURM_ALLOC_TRES);
  if (tres[0] == '\0')
    tres = dl_slurm_cell(row, DL_SLURM_REQ_TRES);
  job->ram_gb = dl_slurm_memory_gb(tres);
  job->n_nodes = open->n_nodes =
      dl_slurm_allocated(row, DL_SLURM_NODES, tres, "node");
  job->n_cpus = dl_slurm_allocated(row, DL_SLURM_CPUS, tres, "cpu");
  set_gpus(job, row);
  job->duration_s = duration_of(log, c, row, start);
  open->unfinished = dl_slurm_waits(row, job->state, job->duration_s);
  open->stateless =
      row->table->at[DL_SLURM_STATE] < 0 && row->table->at[DL_SLURM_END] < 0;
  open->elapsed_s = job->duration_s;
  open->nodes = known_text(dl_slurm_cell(row, DL_SLURM_NODE_LIST));
}

/* Steps run side by side, each with its own processes. */
static void read_step(struct sacct *c, const struct dl_slurm_row *row) {
  struct dl_job_rows *open = &c->rows[c->n_rows - 1];
  double seconds = dl_slurm_elapsed(row);
  double busy =
      dl_slurm_busy_gpus(dl_slurm_cell(row, DL_SLURM_USE_TOTAL),
                         dl_slurm_cell(row, DL_SLURM_USE_AVERAGE),
                         dl_slurm_count(dl_slurm_cell(row, DL_SLURM_TASKS)));
  if (seconds > open->step_s && seconds <= MOST_S)
    open->step_s = seconds;
  if (busy * seconds >= 0)
    open->busy_gpu_s = dl_or(open->busy_gpu_s, 0) + busy * seconds;
  double nodes = dl_slurm_count(dl_slurm_cell(row, DL_SLURM_NODES));
  if (!open->has_line && !(nodes <= open->n_nodes))
    open->n_nodes = nodes;
}

/* Whether the duration of a row can be read, or is one of the words that Slurm
 * writes in its place: where a job ended before it began, or never. */
static bool check_elapsed(struct dl_log *log, const struct dl_slurm_row *row) {
  const char *elapsed = dl_slurm_cell(row, DL_SLURM_ELAPSED);
  const char *raw = dl_slurm_cell(row, DL_SLURM_ELAPSED_RAW);
  if (!isnan(dl_slurm_elapsed(row)) || (!*raw && !*elapsed))
    return true;
  if (*raw)
    return dl_log_bad(log, "column 'ElapsedRaw': invalid duration '%.40s'",
                      raw);
  if (dl_word_among("INVALID|UNLIMITED|Unknown|None|N/A", elapsed,
                    strlen(elapsed)) >= 0) {
    if (log)
      dl_log_warn(log,
                  "column 'Elapsed': '%s' is no duration: the time from Start "
                  "to End counts, if known",
                  elapsed);
    return true;
  }
  bool seconds = !elapsed[strspn(elapsed, "0123456789")];
  return dl_log_bad(log, "column 'Elapsed': invalid duration '%.40s'%s",
                    elapsed,
                    seconds ? ": seconds are a column ElapsedRaw" : "");
}

/* Whether a row describes jobs, and which: a job, or one that a step is of. */
static bool read_row(struct dl_log *log, const struct dl_slurm_table *t,
                     char *s, size_t len, struct dl_slurm_row *row,
                     struct dl_seen_job *job) {
  if (!dl_slurm_read(log, t, s, len, row))
    return false;
  if (row->step == DL_SLURM_JOB && row->id[row->id_len - 1] == '+')
    return dl_log_bad(log,
                      "column 'JobID': '%.40s' is cut off: sacct -P "
                      "prints all of it",
                      row->id);
  if (!check_elapsed(log, row))
    return false;
  job->cluster = cluster_of(row);
  dl_job_number(job, row->id, row->id_len);
  return true;
}

static bool is_same(const struct dl_seen_job *a, const struct dl_seen_job *b) {
  return a->cluster == b->cluster && a->number == b->number &&
         a->part == b->part;
}

/* Whether a line is of a job of another shard. */
static bool is_elsewhere(const struct dl_log *log, const struct sacct *c,
                         const char *s, size_t len) {
  size_t n;
  const char *id =
      log->o.shard.count > 0 ? dl_slurm_job_of(&c->table, s, len, &n) : NULL;
  return id &&
         !dl_shard_takes(&log->o.shard, dl_seen_hash(DL_SEEN_START, id, n));
}

/* Whether a second row of a job repeats the first; otherwise it is another
 * state of that run. */
static bool is_same_state(const struct dl_cluster_job *job,
                          const struct dl_slurm_row *row) {
  double s = dl_slurm_elapsed(row);
  return (isnan(s) || s == job->duration_s) &&
         (!job->state || strncasecmp(dl_slurm_cell(row, DL_SLURM_STATE),
                                     job->state, strlen(job->state)) == 0);
}

static bool line(struct dl_log *log, char *s) {
  const size_t len = log->len;
  struct sacct *c = log->state;
  struct dl_slurm_row row;
  struct dl_timestamp start;
  struct dl_job_rows rows = {.line = log->line};
  if (dl_slurm_layout(&c->table, s, len)) {
    if (c->open)
      c->rows[c->n_rows - 1].last = true;
    return true;
  }
  if (is_elsewhere(log, c, s, len)) {
    finish(log, c);
    return true;
  }
  if (!read_row(log, &c->table, s, len, &row, &rows.job))
    return false;
  bool is_job = row.step == DL_SLURM_JOB;
  rows.job.start = start_of(&row, s, len, &start, &rows.timed);
  struct dl_job_rows *open = c->open ? &c->rows[c->n_rows - 1] : NULL;
  bool same = open && is_same(&open->job, &rows.job);
  if (same && is_job && open->has_line && open->job.start == rows.job.start) {
    if (is_same_state(&log->job[log->n_jobs - 1], &row)) {
      open->repeat = log->line;
      return true;
    }
    open->unfinished = true;
  }
  const struct dl_job_step step = {
      .name = is_job ? 0 : dl_step_name(row.id + row.id_len + 1),
      .start = rows.job.start,
      .timed = rows.timed,
      .line = log->line};
  if (!same || (is_job && open->has_line)) {
    finish(log, c);
    if (strncasecmp(dl_slurm_cell(&row, DL_SLURM_STATE), "PENDING", 7) == 0)
      return true;
    row.field[c->table.at[DL_SLURM_JOB_ID]][row.id_len] = '\0';
    start_job(log, c, &row, &rows);
    open = &c->rows[c->n_rows - 1];
  }
  if (!is_job && !add_step(c, &step)) {
    open->repeat = log->line;
    return true;
  }
  dl_slurm_add(open->energy_j, row.step, row.joules);
  if (is_job) {
    open->has_line = true;
    open->job.start = rows.job.start;
    open->timed = rows.timed;
    open->line = log->line;
    read_job(log, c, &row, &start);
  } else {
    read_step(c, &row);
  }
  return true;
}

static void end(struct dl_log *log) {
  finish(log, log->state);
}

static void begin_part(struct dl_log *part, const struct dl_log *log) {
  struct sacct *c = part->state;
  c->table = ((const struct sacct *)log->state)->table;
  c->n_rows = c->n_steps = c->n_faults = c->fault_at = 0;
  dl_strlist_free(&c->starts);
}

static bool layout(struct dl_log *log, const char *s, size_t len) {
  return dl_slurm_layout(&((struct sacct *)log->state)->table, s, len);
}

static bool run_of(const struct dl_log *log, char *s, size_t len,
                   uint64_t *run) {
  const struct sacct *c = log->state;
  struct dl_slurm_row row;
  struct dl_seen_job job = {0};
  if (!read_row(NULL, &c->table, s, len, &row, &job))
    return false;
  *run = dl_seen_hash(DL_SEEN_START, &job, sizeof job);
  return true;
}

/* Reports what was found in job i of a part. */
static void warn_faults(struct sacct *c, struct dl_log *part, size_t i) {
  for (; c->fault_at < c->n_faults && c->fault[c->fault_at].job <= i;
       c->fault_at++) {
    const struct dl_job_fault *f = &c->fault[c->fault_at];
    if (f->job == i)
      dl_job_fault_warn(f, part, part->job[i].run_id);
  }
}

/* Rows at the beginning and at the end of a table may be a part of a job whose
 * others are in another one. */
static bool settle(struct dl_log *log, struct dl_log *part, size_t i) {
  struct sacct *c = part->state;
  const struct dl_job_rows *rows = &c->rows[i];
  const struct dl_job_step *steps = c->step ? c->step + rows->first : NULL;
  bool first = ((struct sacct *)log->state)->n_settled++ == 0 &&
               !rows->has_line && i + 1 < c->n_rows && c->rows[i + 1].has_line;
  bool last = log->o.more && part->at_end && i + 1 == c->n_rows;
  enum dl_hold hold =
      dl_hold_job(log, part, &part->job[i], rows, steps,
                  rows->unfinished || rows->last || first || last);
  bool counts = hold == DL_HOLD_NOT &&
                dl_settle_job(log, part, part->job[i].run_id, rows, steps);
  if (counts || hold == DL_HOLD_WAITS)
    warn_faults(c, part, i);
  if (counts)
    dl_share_nodes(log->o.seen, &log->o.shard, &part->job[i], rows);
  return counts;
}

static void free_state(void *state) {
  struct sacct *c = state;
  free(c->rows);
  free(c->step);
  free(c->fault);
  dl_seen_rows_free(&c->many);
  dl_strlist_free(&c->starts);
}

const struct dl_importer dl_import_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct -P -o JobID,ElapsedRaw,"
               "ConsumedEnergyRaw,...",
    .role = DL_LOG_RUNS,
    .has_jobs = true,
    .state_size = sizeof(struct sacct),
    .probe = probe,
    .lacks = lacks,
    .begin = begin,
    .line = line,
    .end = end,
    .begin_part = begin_part,
    .layout = layout,
    .run_of = run_of,
    .settle = settle,
    .free = free_state,
};
