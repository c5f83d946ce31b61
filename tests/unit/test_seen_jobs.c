/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of an accounting that were read, against a list of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "logs/seen/seen_jobs.h"

enum { JOBS = 4000 };

static uint64_t next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return *state >> 33;
}

struct found {
  uint64_t sum;
  size_t n;
};

static uint64_t digest(const struct dl_seen_job *j) {
  return (uint64_t)j->start * 31 + j->rest * 1009 + j->number + j->part;
}

static void count(void *ctx, const struct dl_seen_job *job) {
  struct found *f = ctx;
  f->n++;
  f->sum += digest(job);
}

static void check(const struct dl_seen_jobs *s, const struct dl_seen_job *jobs,
                  const struct dl_seen_job *like) {
  struct found got = {0}, want = {0};
  dl_seen_jobs_find(s, like, count, &got);
  for (size_t i = 0; i < JOBS; i++)
    if (jobs[i].cluster == like->cluster && jobs[i].number == like->number &&
        jobs[i].part == like->part)
      count(&want, &jobs[i]);
  assert_int_equal(got.n, want.n);
  assert_int_equal(got.sum, want.sum);
}

/* Jobs `spread` numbers apart in `runs` rising sequences. */
static void finds_all(uint64_t spread, size_t runs) {
  static struct dl_seen_job jobs[JOBS];
  struct dl_seen_jobs *s = NULL;
  uint64_t state = 7, number = 1;
  for (size_t i = 0; i < JOBS; i++) {
    if (i % (JOBS / runs) == 0)
      number = next(&state) % 50;
    uint64_t kind = next(&state) % 8;
    number += kind == 0 ? 0 : next(&state) % spread;
    jobs[i] = (struct dl_seen_job){
        .cluster = next(&state) % 2,
        .number = kind == 1 ? UINT64_MAX >> 2 : number,
        .part = kind == 2 ? next(&state) % 5 + (UINT64_C(1) << 33) : 0,
        .start = kind == 3 ? INT64_MIN + (int64_t)next(&state)
                           : 1700000000 + (int64_t)(next(&state) % 99),
        .rest = next(&state) % 4 == 0 ? UINT64_MAX - i : 3};
    dl_seen_jobs_add(&s, &jobs[i]);
  }
  for (size_t i = 0; i < JOBS; i += 7)
    check(s, jobs, &jobs[i]);
  for (uint64_t i = 0; i < 200; i++)
    check(s, jobs, &(struct dl_seen_job){.number = i * 3, .cluster = 1});
  check(s, jobs, &(struct dl_seen_job){.number = 5, .cluster = 9});
  dl_seen_jobs_free(s);
}

static void finds_jobs_in_order(void **state) {
  (void)state;
  finds_all(2, 1);
  finds_all(1000000, 1);
}

static void finds_jobs_of_overlapping_exports(void **state) {
  (void)state;
  finds_all(3, 5);
}

static void finds_jobs_in_any_order(void **state) {
  (void)state;
  finds_all(3, 1000);
}

static void finds_none(void **state) {
  (void)state;
  struct found f = {0};
  dl_seen_jobs_find(NULL, &(struct dl_seen_job){0}, count, &f);
  assert_int_equal(f.n, 0);
  dl_seen_jobs_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_jobs_in_order),
      cmocka_unit_test(finds_jobs_of_overlapping_exports),
      cmocka_unit_test(finds_jobs_in_any_order),
      cmocka_unit_test(finds_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
