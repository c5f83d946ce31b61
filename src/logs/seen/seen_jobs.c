/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A record of a job has four numbers: the difference of its number to the job
 * before, times 4, plus 2 if a part follows and 1 if `rest` follows; the part
 * (0 if left out); the difference of the starts; `rest` (unchanged if left
 * out). Numbers are stored in 7 bits per byte, lowest first, and signed ones
 * are folded (0, -1, 1, -2, ...). The first job of a block is stored in the
 * index. */

#include "logs/seen/seen_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
  BLOCK_SIZE = 1024,
  RECORD_MOST = 40, /* four numbers of ten bytes */
  SEQUENCES = 16,
  SLOTS_MIN = 256
};

struct job_block {
  struct dl_seen_job first;
  unsigned char *bytes; /* of the others, owned */
  size_t used;
};

/* Jobs of one cluster in rising order. */
struct job_sequence {
  struct job_block *block;
  size_t n, cap;
  struct dl_seen_job last;
};

struct dl_seen_jobs {
  struct job_sequence *sequence; /* at most SEQUENCES of each cluster */
  size_t n, cap;
  /* The others, by open addressing. */
  struct dl_seen_job *slot; /* number FREE: not in use */
  size_t n_others, n_slots;
};

/* No job has this number: the accounting has 32 bits. */
#define FREE UINT64_MAX

static int compare(const struct dl_seen_job *a, const struct dl_seen_job *b) {
  if (a->number != b->number)
    return a->number < b->number ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

static unsigned char *put(unsigned char *to, uint64_t x) {
  for (; x >= 128; x >>= 7)
    *to++ = (unsigned char)(x | 128);
  *to++ = (unsigned char)x;
  return to;
}

static const unsigned char *get(const unsigned char *from, uint64_t *x) {
  *x = *from & 127;
  for (unsigned shift = 7; *from++ >= 128; shift += 7)
    *x |= (uint64_t)(*from & 127) << shift;
  return from;
}

static uint64_t fold(uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfold(uint64_t x) {
  return x >> 1 ^ (0 - (x & 1));
}

static size_t encode(unsigned char *to, const struct dl_seen_job *before,
                     const struct dl_seen_job *job) {
  unsigned char *at = to;
  bool same = job->rest == before->rest;
  unsigned flags = job->part != 0 ? 2 : 0;
  flags |= same ? 0 : 1;
  at = put(at, (job->number - before->number) << 2 | flags);
  if (job->part != 0)
    at = put(at, fold(job->part - before->part));
  at = put(at, fold((uint64_t)job->start - (uint64_t)before->start));
  if (!same)
    at = put(at, job->rest);
  return (size_t)(at - to);
}

/* Replaces *job by the one behind it. */
static const unsigned char *decode(const unsigned char *from,
                                   struct dl_seen_job *job) {
  uint64_t head, x;
  from = get(from, &head);
  job->number += head >> 2;
  if (head & 2) {
    from = get(from, &x);
    job->part += unfold(x);
  } else {
    job->part = 0;
  }
  from = get(from, &x);
  job->start = (int64_t)((uint64_t)job->start + unfold(x));
  if (head & 1)
    from = get(from, &job->rest);
  return from;
}

void dl_seen_jobs_free(struct dl_seen_jobs *s) {
  if (!s)
    return;
  for (size_t q = 0; q < s->n; q++) {
    for (size_t i = 0; i < s->sequence[q].n; i++)
      free(s->sequence[q].block[i].bytes);
    free(s->sequence[q].block);
  }
  free(s->sequence);
  free(s->slot);
  free(s);
}

/* A block of the job alone, at the end of a sequence. */
static void add_block(struct job_sequence *q, const struct dl_seen_job *job) {
  DL_GROW(q->block, q->cap, q->n + 1);
  q->block[q->n++] = (struct job_block){*job, dl_malloc(BLOCK_SIZE), 0};
  q->last = *job;
}

static void append(struct job_sequence *q, const struct dl_seen_job *job) {
  struct job_block *b = &q->block[q->n - 1];
  /* Numbers beyond 62 bits do not go with the flags. */
  if (b->used + RECORD_MOST > BLOCK_SIZE ||
      job->number - q->last.number > UINT64_MAX >> 2) {
    add_block(q, job);
    return;
  }
  b->used += encode(b->bytes + b->used, &q->last, job);
  q->last = *job;
}

static size_t slot_of(const struct dl_seen_jobs *s,
                      const struct dl_seen_job *job) {
  uint64_t h = (job->cluster ^ job->number ^ job->part << 32) *
               UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(h ^ h >> 32) & (s->n_slots - 1);
}

static void put_other(struct dl_seen_jobs *s, const struct dl_seen_job *job) {
  size_t i = slot_of(s, job);
  while (s->slot[i].number != FREE)
    i = (i + 1) & (s->n_slots - 1);
  s->slot[i] = *job;
}

static void add_other(struct dl_seen_jobs *s, const struct dl_seen_job *job) {
  if (2 * (s->n_others + 1) > s->n_slots) {
    struct dl_seen_jobs wider = *s;
    wider.n_slots = s->n_slots > 0 ? 2 * s->n_slots : SLOTS_MIN;
    wider.slot = dl_reallocarray(NULL, wider.n_slots, sizeof *s->slot);
    for (size_t i = 0; i < wider.n_slots; i++)
      wider.slot[i].number = FREE;
    for (size_t i = 0; i < s->n_slots; i++)
      if (s->slot[i].number != FREE)
        put_other(&wider, &s->slot[i]);
    free(s->slot);
    *s = wider;
  }
  put_other(s, job);
  s->n_others++;
}

void dl_seen_jobs_add(struct dl_seen_jobs **out,
                      const struct dl_seen_job *job) {
  if (!*out)
    *out = dl_calloc(1, sizeof **out);
  struct dl_seen_jobs *s = *out;
  /* Append to the sequence of the cluster that ends closest before the job. */
  struct job_sequence *best = NULL;
  size_t n_of_cluster = 0;
  for (size_t i = 0; i < s->n; i++) {
    struct job_sequence *q = &s->sequence[i];
    if (q->last.cluster != job->cluster)
      continue;
    n_of_cluster++;
    if (compare(&q->last, job) <= 0 &&
        (!best || compare(&q->last, &best->last) > 0))
      best = q;
  }
  if (best) {
    append(best, job);
  } else if (n_of_cluster == SEQUENCES) {
    add_other(s, job);
  } else {
    DL_GROW(s->sequence, s->cap, s->n + 1);
    s->sequence[s->n] = (struct job_sequence){0};
    add_block(&s->sequence[s->n++], job);
  }
}

static void find_in(const struct job_sequence *q, const struct dl_seen_job *job,
                    void (*found)(void *, const struct dl_seen_job *),
                    void *ctx) {
  if (compare(&q->last, job) < 0 || compare(&q->block[0].first, job) > 0)
    return;
  size_t low = 0, high = q->n; /* the last block that begins below the job */
  while (high - low > 1) {
    size_t mid = (low + high) / 2;
    if (compare(&q->block[mid].first, job) < 0)
      low = mid;
    else
      high = mid;
  }
  for (; low < q->n && compare(&q->block[low].first, job) <= 0; low++) {
    const struct job_block *b = &q->block[low];
    const unsigned char *at = b->bytes, *end = at + b->used;
    struct dl_seen_job one = b->first;
    for (;;) {
      int order = compare(&one, job);
      if (order > 0)
        return;
      if (order == 0)
        found(ctx, &one);
      if (at == end)
        break;
      at = decode(at, &one);
    }
  }
}

void dl_seen_jobs_find(const struct dl_seen_jobs *s,
                       const struct dl_seen_job *job,
                       void (*found)(void *, const struct dl_seen_job *),
                       void *ctx) {
  for (size_t i = 0; s && i < s->n; i++)
    if (s->sequence[i].last.cluster == job->cluster)
      find_in(&s->sequence[i], job, found, ctx);
  if (!s || s->n_others == 0)
    return;
  for (size_t i = slot_of(s, job); s->slot[i].number != FREE;
       i = (i + 1) & (s->n_slots - 1))
    if (s->slot[i].cluster == job->cluster && compare(&s->slot[i], job) == 0)
      found(ctx, &s->slot[i]);
}
