/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bits of dl_seen_job.rest: whether the job itself has a row and its start is
 * known, which steps there are, and from bit 5 on the number of numbered steps,
 * if these are 0, 1, 2, ... Hashes record other steps. */

#include "logs/slurm/settle_jobs.h"

#include <ctype.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "logs/slurm/node_times.h"

enum { HAS_LINE = 1, TIMED = 2, STEP = 2, COUNT_SHIFT = 5 };

/* Parts of a number: none is 0. */
#define TASK UINT64_C(1)
#define COMPONENT (UINT64_C(1) << 33)
#define OTHER_PART (UINT64_C(1) << 34)

static uint64_t hash_of(const char *s, size_t len) {
  uint64_t h = dl_seen_hash(DL_SEEN_START, s, len);
  return h ^ h >> 32;
}

/* Digits at the beginning of s, at most `most`; false for none or more. */
static bool take_number(const char **s, const char *end, int most,
                        uint64_t *x) {
  const char *from = *s;
  for (*x = 0; *s < end && isdigit((unsigned char)**s) && *s - from < most;
       ++*s)
    *x = *x * 10 + (uint64_t)(**s - '0');
  return *s > from && (*s == end || !isdigit((unsigned char)**s));
}

void dl_job_number(struct dl_seen_job *job, const char *id, size_t len) {
  const char *s = id, *end = id + len;
  uint64_t part = 0;
  bool known = take_number(&s, end, 18, &job->number);
  job->part = 0;
  if (known && s == end)
    return;
  uint64_t kind = 0;
  if (known && (*s == '_' || *s == '+'))
    kind = *s == '_' ? TASK : COMPONENT;
  if (kind > 0) {
    s++;
    kind = take_number(&s, end, 9, &part) && s == end ? kind : 0;
  }
  if (!known)
    job->number = hash_of(id, len) >> 2;
  job->part =
      kind > 0 ? kind + part : OTHER_PART + (hash_of(id, len) & UINT32_MAX);
}

uint32_t dl_step_name(const char *s) {
  const char *end = s + strlen(s), *at = s;
  uint64_t n;
  if (take_number(&at, end, 9, &n) && at == end)
    return (uint32_t)(DL_STEP_FIRST + n);
  switch (*s) { /* names may be cut off: "123.ext+" */
  case 'b':
    return DL_STEP_BATCH;
  case 'e':
    return DL_STEP_EXTERN;
  case 'i':
    return DL_STEP_INTERACTIVE;
  default:
    return (uint32_t)hash_of(s, (size_t)(end - s)) | UINT32_C(1) << 31;
  }
}

static uint64_t step_hash(const struct dl_seen_job *job, uint32_t name) {
  const uint64_t key[] = {job->cluster, job->number, job->part, name};
  return dl_seen_hash(DL_SEEN_START, key, sizeof key);
}

/* Hash of the elapsed time of a job that may still run. */
static uint64_t state_hash(const struct dl_job_rows *rows) {
  const double elapsed_s = dl_or(rows->elapsed_s, -1);
  const uint64_t key[] = {rows->job.cluster, rows->job.number, rows->job.part,
                          (uint64_t)rows->job.start};
  return dl_seen_hash(dl_seen_hash(DL_SEEN_START, key, sizeof key), &elapsed_s,
                      sizeof elapsed_s);
}

static bool is_numbered(const struct dl_job_step *step) {
  return step->name >= DL_STEP_FIRST && step->name >> 31 == 0;
}

void dl_remember_job(struct dl_log *log, const struct dl_job_rows *rows,
                     const struct dl_job_step *steps) {
  struct dl_seen_job job = rows->job;
  uint64_t n = 0, sum = 0;
  job.rest = rows->has_line ? HAS_LINE : 0;
  job.rest |= rows->timed ? TIMED : 0;
  for (size_t i = 0; i < rows->n_steps; i++)
    if (is_numbered(&steps[i])) {
      n++;
      sum += steps[i].name - DL_STEP_FIRST;
    }
  bool in_turn = sum == n * (n - (n > 0)) / 2;
  for (size_t i = 0; i < rows->n_steps; i++)
    in_turn = in_turn &&
              (!is_numbered(&steps[i]) || steps[i].name - DL_STEP_FIRST < n);
  for (size_t i = 0; i < rows->n_steps; i++) {
    if (steps[i].name < DL_STEP_FIRST)
      job.rest |= (uint64_t)STEP << steps[i].name;
    else if (!in_turn || !is_numbered(&steps[i]))
      dl_seen_add(log->o.seen, step_hash(&job, steps[i].name));
  }
  if (in_turn)
    job.rest |= n << COUNT_SHIFT;
  dl_seen_jobs_add(&log->o.seen->jobs, &job);
  if (rows->stateless)
    dl_seen_add(log->o.seen, state_hash(rows));
}

/* The rows of a job that were read before. */
struct job_lookup {
  const struct dl_log *log;
  const struct dl_job_rows *rows;
  const struct dl_job_step *step; /* NULL: the job's own row */
  bool any, same, headless;       /* headless: there are only steps of it */
};

/* Whether the job as it ran then has the step. */
static bool has_step(const struct job_lookup *l,
                     const struct dl_seen_job *job) {
  const struct dl_job_step *step = l->step;
  bool known = false;
  if (step->name < DL_STEP_FIRST)
    known = job->rest & (uint64_t)STEP << step->name;
  else if (is_numbered(step))
    known = step->name - DL_STEP_FIRST < job->rest >> COUNT_SHIFT;
  if (!known && step->name >= DL_STEP_FIRST)
    known = dl_seen_has(l->log->o.seen, step_hash(job, step->name));
  bool timed = job->rest & TIMED;
  if (!known || !timed || !(job->rest & HAS_LINE))
    return known && step->timed == timed;
  if (!step->timed)
    return false;
  return step->name < DL_STEP_FIRST ? step->start == job->start
                                    : step->start >= job->start;
}

static void compare(void *ctx, const struct dl_seen_job *job) {
  struct job_lookup *l = ctx;
  l->any = true;
  if (l->step)
    l->same = l->same || has_step(l, job);
  else if (!(job->rest & HAS_LINE))
    l->headless = true;
  else
    l->same = l->same || (l->rows->job.start == job->start &&
                          l->rows->timed == ((job->rest & TIMED) != 0));
}

static struct job_lookup look_up(struct dl_log *log,
                                 const struct dl_job_rows *rows,
                                 const struct dl_job_step *step) {
  struct job_lookup l = {.log = log, .rows = rows, .step = step};
  dl_seen_jobs_find(log->o.seen->jobs, &rows->job, compare, &l);
  return l;
}

bool dl_job_counts(struct dl_log *log, const struct dl_job_rows *rows,
                   bool *any) {
  struct job_lookup l = look_up(log, rows, NULL);
  *any = l.any;
  return rows->has_line && (l.same || (l.any && !rows->timed));
}

void dl_warn_repeat(struct dl_log *log, struct dl_log *part, size_t line) {
  size_t last = part->line;
  part->line = line;
  if (!log->warned_repeat)
    dl_log_warn(part, DL_LOG_REPEATED);
  log->warned_repeat = true;
  part->line = last;
}

static void refuse_row(struct dl_log *part, const char *id, size_t line) {
  part->line = line;
  dl_log_bad(
      part, "row of job %s apart from its others: sort the table by JobID", id);
}

bool dl_settle_job(struct dl_log *log, struct dl_log *part, const char *id,
                   const struct dl_job_rows *rows,
                   const struct dl_job_step *steps) {
  struct job_lookup job = look_up(log, rows, NULL);
  bool again = job.any && (!rows->has_line || job.same || job.headless);
  size_t last = part->line;
  if (rows->repeat > 0)
    dl_warn_repeat(log, part, rows->repeat);
  if (!again)
    dl_remember_job(log, rows, steps);
  bool known = job.same && rows->has_line;
  if (again && known && rows->stateless &&
      !dl_seen_has(log->o.seen, state_hash(rows))) {
    part->line = rows->line;
    dl_log_bad(part,
               "job %s is here in several states, and which is the latest is "
               "not known: add columns State and End",
               id);
  } else if (again && known)
    dl_warn_repeat(log, part, rows->line);
  else if (again && rows->has_line)
    refuse_row(part, id, rows->line);
  for (size_t i = 0; again && i < rows->n_steps; i++) {
    bool apart = rows->has_line && !known;
    if (!apart && look_up(log, rows, &steps[i]).same)
      dl_warn_repeat(log, part, steps[i].line);
    else
      refuse_row(part, id, steps[i].line);
  }
  part->line = last;
  return !again;
}

void dl_share_nodes(struct dl_seen_rows *seen, const struct dl_shard *shard,
                    struct dl_cluster_job *job,
                    const struct dl_job_rows *rows) {
  if (!rows->nodes || !rows->timed || !(job->energy_j > 0))
    return;
  seen->n_uncompared += shard->count > 0;
  if (shard->count > 0)
    return;
  double own = dl_node_times_add(&seen->nodes, rows->nodes, rows->job.start,
                                 job->duration_s);
  if (own == 1)
    return;
  seen->nodes.n_shared++;
  seen->nodes.shared_j += job->energy_j * (1 - own);
  job->energy_j *= own;
  job->shared = true;
}

void dl_warn_shared_nodes(const struct dl_seen_rows *seen, struct dl_diag *d) {
  const char *s = seen->nodes.n_shared == 1 ? "" : "s";
  if (seen->nodes.n_shared > 0)
    dl_warn(d,
            "%zu job%s on nodes that other jobs had at the same time: the "
            "energy of a node counts once, in the job that is read first (%.3g "
            "kWh are left out of the others)",
            seen->nodes.n_shared, s, seen->nodes.shared_j / DL_J_PER_KWH);
  if (seen->n_uncompared > 0)
    dl_warn(d, "energies of nodes that jobs share count in each of them, since "
               "a shard has not all jobs");
}
