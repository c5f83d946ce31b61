/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/log_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/portable.h"
#include "logs/importers/tables/run_overlaps.h"
#include "logs/log_private.h"
#include "logs/slurm/held_jobs.h"

/* Large enough that threads seldom wait for each other, small enough for the
 * second cache of a core. */
#define PART_SIZE ((size_t)256 * 1024)

struct dl_log_part {
  struct dl_log log; /* has the importer's state, runs and problems */
  struct dl_lines_block lines;
  struct dl_diag diag;
  enum dl_status status; /* of reading */
  size_t bytes;          /* of the log, read with this part */
  bool cut_off;          /* the last line lacks its end, and was not used */
};

struct dl_log_part *dl_log_part_new(const struct dl_log *log) {
  struct dl_log_part *p = dl_calloc(1, sizeof *p);
  p->log.importer = log->importer;
  p->log.path = log->path;
  p->log.o = log->o;
  p->log.d = &p->diag;
  p->log.state = dl_calloc(1, log->importer->state_size + 1);
  return p;
}

void dl_log_part_free(struct dl_log_part *p) {
  if (!p)
    return;
  dl_log_free_contents(&p->log);
  free(p->lines.s);
  dl_diag_free(&p->diag);
  free(p);
}

static bool is_blank(const char *s, size_t len) {
  while (len > 0 && (*s == ' ' || *s == '\t' || *s == '\r')) {
    s++;
    len--;
  }
  return len == 0;
}

/* Finds the beginning of the last run in a block. Lines without a run belong to
 * the run before. `line` has room for a copy of a line. */
static size_t last_run(const struct dl_log *log, const struct dl_lines_block *b,
                       char *line) {
  uint64_t run = 0, other;
  size_t cut = 0, end = b->len;
  bool any = false;
  while (end > 0) {
    const char *before = dl_last_byte(b->s, '\n', end - 1);
    size_t start = before ? (size_t)(before + 1 - b->s) : 0;
    size_t len = end - start - (b->s[end - 1] == '\n');
    if (len <= DL_LINE_MAX) {
      memcpy(line, b->s + start, len);
      len -= len > 0 && line[len - 1] == '\r';
      line[len] = '\0';
      if (log->importer->run_of(log, line, len, &other)) {
        if (any && other != run)
          return cut;
        any = true;
        run = other;
        cut = start;
      }
    }
    end = start;
  }
  return cut;
}

/* Notes the headers in the first `len` bytes of a block; returns the end of the
 * last one. Most rows begin with a digit. */
static size_t note_headers(struct dl_log *log, struct dl_lines_block *b,
                           size_t len) {
  size_t behind = 0;
  char *end = b->s + len, *next;
  for (char *s = b->s; s < end; s = next) {
    char *stop = memchr(s, '\n', (size_t)(end - s));
    next = stop ? stop + 1 : end;
    if (*s >= '0' && *s <= '9')
      continue;
    size_t n = (size_t)((stop ? stop : end) - s);
    if (is_blank(s, n) || n > DL_LINE_MAX)
      continue;
    n -= s[n - 1] == '\r';
    char kept = s[n];
    s[n] = '\0';
    if (log->importer->layout(log, s, n))
      behind = (size_t)(next - b->s);
    s[n] = kept;
  }
  return behind;
}

/* Fills the part with lines up to the end of a run; the lines after it are kept
 * for the next part. */
static enum dl_status read_lines(struct dl_log *log, struct dl_log_part *p) {
  struct dl_lines_block *b = &p->lines, own = *b;
  size_t cut = 0, want = log->carry.len + PART_SIZE;
  DL_FREED char *line = dl_malloc(DL_LINE_MAX + 1);
  enum dl_status status = DL_OK;
  *b = log->carry;
  own.len = 0;
  own.last = false;
  log->importer->begin_part(&p->log, log);
  while (status == DL_OK && cut == 0 && !b->last) {
    size_t before = b->len;
    status = dl_lines_take(log->lines, b, want, &p->diag);
    if (status != DL_OK || b->len == 0)
      break;
    size_t header = note_headers(log, b, b->len);
    cut = b->last || b->len == before ? b->len : last_run(log, b, line);
    if (cut < header) { /* comes with the next part */
      log->importer->begin_part(log, &p->log);
      note_headers(log, b, cut);
    }
    want = 2 * b->len;
  }
  log->carry = own;
  size_t rest = b->len - cut;
  if (status != DL_OK || rest == 0)
    return status;
  DL_GROW(own.s, own.cap, rest + 1);
  memcpy(own.s, b->s + cut, rest);
  own.len = rest;
  own.first = b->first;
  for (const char *c = b->s; (c = memchr(c, '\n', (size_t)(b->s + cut - c)));
       c++)
    own.first++;
  b->len = cut;
  log->carry = own;
  return DL_OK;
}

/* Reads the next runs, for importers without parts. */
static enum dl_status read_runs(struct dl_log *log, struct dl_log_part *p) {
  struct dl_log_block block;
  struct dl_log own = p->log;
  enum dl_status status = dl_log_next(log, &block, &p->diag);
  p->log.run = log->run;
  p->log.n_runs = log->n_runs;
  p->log.runs_cap = log->runs_cap;
  p->log.n_blank = log->n_blank;
  log->run = own.run;
  log->n_runs = 0;
  log->runs_cap = own.runs_cap;
  log->n_blank = own.n_blank;
  return status;
}

bool dl_log_part_read(struct dl_log *log, struct dl_log_part *p) {
  while (p->log.n_runs > 0)
    dl_run_clear(&p->log.run[--p->log.n_runs]);
  p->log.n_jobs = 0;
  if (!log->importer->settle) {
    p->status = read_runs(log, p);
    p->bytes = log->bytes;
    /* Messages about the last rows come with the runs, if there are any. */
    return p->status != DL_OK || p->log.n_runs > 0 || p->diag.n_warnings > 0 ||
           p->diag.n_skipped > 0;
  }
  if (log->at_end)
    return false;
  p->status = read_lines(log, p);
  p->bytes = log->lines->bytes;
  log->at_end = p->log.at_end = p->lines.last || p->status != DL_OK;
  return true;
}

void dl_log_part_import(struct dl_log_part *p) {
  struct dl_log *log = &p->log;
  struct dl_lines_block *b = &p->lines;
  struct dl_line line = {.number = b->first - 1};
  if (!log->importer->settle || p->status != DL_OK)
    return;
  char *at = b->s, *end = b->s + b->len;
  memset(log->above, 0, sizeof log->above);
  while (dl_lines_split(log->path, &at, end, &line, log->d))
    p->cut_off = !dl_log_import_line(log, &line);
  if (log->importer->end)
    log->importer->end(log);
}

/* Lines of runs that do not count are reported behind others. */
static int by_line(const void *a, const void *b) {
  size_t x = ((const struct dl_log_problem *)a)->line;
  size_t y = ((const struct dl_log_problem *)b)->line;
  return (x > y) - (x < y);
}

/* Keeps the jobs that count. */
static void drop_repeats(struct dl_log *log, struct dl_log *part) {
  size_t kept = 0;
  for (size_t i = 0; i < part->n_jobs; i++) {
    if (!log->importer->settle(log, part, i))
      continue;
    if (kept < i)
      part->job[kept] = part->job[i];
    kept++;
  }
  part->n_jobs = kept;
}

static int by_job_line(const void *a, const void *b) {
  size_t x = ((const struct dl_cluster_job *)a)->line;
  size_t y = ((const struct dl_cluster_job *)b)->line;
  return (x > y) - (x < y);
}

/* In the last part, jobs that waited for a later state count: jobs of this
 * table in their places, jobs of other tables after them. */
static void add_rest(struct dl_log *log, struct dl_log *part) {
  size_t n;
  const struct dl_cluster_job *rest =
      dl_held_jobs_rest(log->o.seen, &log->o.shard, log->path, &n);
  for (size_t i = 0; i < n; i++)
    *dl_log_job(part) = rest[i];
  if (n > 0)
    qsort(part->job, part->n_jobs, sizeof *part->job, by_job_line);
  rest = dl_held_jobs_rest(log->o.seen, &log->o.shard, NULL, &n);
  for (size_t i = 0; i < n; i++)
    *dl_log_job(part) = rest[i];
}

/* The runs of a table that has no parts as jobs. */
static void list_jobs(struct dl_log *log, struct dl_log *part) {
  for (size_t i = 0; i < part->n_runs; i++) {
    const struct dl_run *run = &part->run[i];
    struct dl_cluster_job job = dl_cluster_job_of(run);
    double time_share;
    if (!dl_hold_run(log, part, &job))
      continue;
    double energy_j =
        dl_run_overlaps_add(&log->o.seen->hardware, run, log->importer->name,
                            log->path, &time_share);
    if (time_share < 1) {
      job.energy_j = energy_j;
      job.gpu_share *= time_share;
      job.shared = true;
    }
    *dl_log_job(part) = job;
  }
}

enum dl_status dl_log_part_settle(struct dl_log *log, struct dl_log_part *p,
                                  struct dl_diag *d) {
  struct dl_log *part = &p->log;
  if (log->importer->settle)
    drop_repeats(log, part);
  else
    list_jobs(log, part);
  if (log->importer->settle && part->at_end && !log->o.more)
    add_rest(log, part);
  if (part->n_problems > 1)
    qsort(part->problem, part->n_problems, sizeof *part->problem, by_line);
  if (p->lines.last)
    dl_log_report_last(part, p->cut_off);
  else
    dl_log_report(part, SIZE_MAX);
  dl_diag_take(d, &p->diag);
  return p->status;
}

size_t dl_log_part_bytes(const struct dl_log_part *p) {
  return p->bytes;
}

const struct dl_cluster_job *dl_log_part_jobs(const struct dl_log_part *p,
                                              size_t *n) {
  *n = p->log.n_jobs;
  return p->log.job;
}

enum dl_status dl_log_part_next(struct dl_log *log, struct dl_log_part *p,
                                struct dl_log_block *block, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  struct dl_log *part = &p->log;
  if (!log->importer->settle)
    return dl_log_next(log, block, d);
  do {
    *block = (struct dl_log_block){0};
    if (!dl_log_part_read(log, p))
      return DL_OK;
    dl_log_part_import(p);
    status = dl_log_part_settle(log, p, d);
    for (size_t i = 0; status == DL_OK && i < part->n_jobs; i++)
      dl_cluster_job_fill(&part->job[i], dl_log_run(part));
    block->run = part->run;
    block->n_runs = part->n_runs;
  } while (status == DL_OK && block->n_runs == 0);
  return status;
}
