/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two logs of one run: their clocks, and memory beside the GPU. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "logs/readings/memory_join.h"
#include "unit.h"
#include "tests/messages.h"

#define S(x) ((int64_t)(x)*DL_SECOND)
#define H(x) S(3600 * (x))

/* 2024-03-05 10:00:00 */
#define START S(1709632800)

enum {
  WALL = DL_CLOCK_WALL,
  ZONED = DL_CLOCK_ZONED,
  RELATIVE = DL_CLOCK_RELATIVE,
  DAY = DL_CLOCK_DAY
};

static void shifts_clocks(void **state) {
  static const struct {
    int64_t start;
    int clock;
    int64_t other_start;
    int other;
    int64_t shift;
  } cases[] = {
      {START, WALL, START, WALL, 0},
      {START + S(59), WALL, START, WALL, 0},
      /* whole hours apart, but for a minute */
      {START - H(2), WALL, START, WALL, H(2)},
      {START + H(1) + S(20), WALL, START, WALL, -H(1)},
      {START - H(1) - S(70), WALL, START, WALL, 0},
      {START - H(24), WALL, START, WALL, 0},
      {START - H(2), ZONED, START, ZONED, 0},
      /* one of them has a zone: quarters of an hour */
      {START - H(1) + S(3), ZONED, START, WALL, H(1)},
      {START + H(5) - S(9), WALL, START, ZONED, -H(5)},
      {START - S(20700) + S(100), ZONED, START, WALL, S(20700)},
      {START + H(14), ZONED, START, WALL, -H(14)},
      {START + H(24), ZONED, START, WALL, 0},
      /* seconds since the beginning, or since anything */
      {0, RELATIVE, START, WALL, START},
      {S(1), RELATIVE, START, ZONED, START},
      {S(86400), RELATIVE, START, WALL, START - S(86400)},
      {START, WALL, S(5), RELATIVE, S(5) - START},
      {S(5), RELATIVE, S(70), RELATIVE, 0},
      /* times of day */
      {S(36005), DAY, START, WALL, START - S(36000)},
      {S(1), DAY, START + H(14) - S(1), WALL, START - S(36000) + H(24)},
      {START, WALL, S(36005), DAY, S(36000) - START},
      {S(36005), DAY, START + H(1), ZONED, START - S(36000) + H(1)},
      {S(3), DAY, S(86398), DAY, H(24)},
      {S(36005), DAY, S(36000), DAY, 0},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    int64_t got =
        dl_clock_shift(cases[i].start, (enum dl_clock)cases[i].clock,
                       &(struct dl_log_span){cases[i].other_start, 0,
                                             (enum dl_clock)cases[i].other});
    if (got != cases[i].shift)
      fail_msg("case %zu: %.2f h, want %.2f h", i, (double)got / 3600e9,
               (double)cases[i].shift / 3600e9);
  }
}

/* n epochs of `length` s whose log is `off` s ahead of the trace's clock. The
 * trace begins `lead` s before the first and ends `tail` s behind the last. */
static void assert_marks(size_t n, int length, int off, int clock, int other,
                         int lead, int tail, int64_t shift) {
  int64_t mark[64];

  assert_true(n > 0 && n <= COUNT(mark));
  for (size_t i = 0; i < n; i++)
    mark[i] = START + S(lead) + ((int64_t)i + 1) * S(length) + S(off);
  int64_t end = mark[n - 1] - S(off) + S(tail);
  int64_t got = dl_clock_shift_marks(
      mark, n, (enum dl_clock)clock,
      &(struct dl_log_span){START, end, (enum dl_clock)other});
  if (got != shift)
    fail_msg("%zu epochs of %d s, %d s off: %.2f h, want %.2f h", n, length,
             off, (double)got / 3600e9, (double)shift / 3600e9);
}

static void shifts_ends_of_epochs(void **state) {
  static const int zones[] = {0, 1, 2, 9, 12, -5, -8, -11};
  static const int lengths[] = {5, 60, 600, 900, 2000, 3600, 4000, 8000};

  (void)state;
  for (size_t i = 0; i < COUNT(lengths); i++) {
    int length = lengths[i];
    /* on one clock there is nothing to shift, whatever an epoch takes */
    assert_marks(5, length, 0, WALL, WALL, 3, 20, 0);
    assert_marks(1, length, 0, WALL, WALL, 3, 20, 0);
    assert_marks(5, length, 0, ZONED, ZONED, 3, 9000, 0);
    assert_marks(5, length, 0, WALL, WALL, 900, 9000, 0);
    for (size_t k = 0; k < COUNT(zones); k++) {
      int off = zones[k] * 3600;
      assert_marks(20, length, off, ZONED, WALL, 10, 30, -S(off));
      assert_marks(20, length, off, WALL, ZONED, 600, 30, -S(off));
      assert_marks(20, length, off, ZONED, WALL, 10, 7000, -S(off));
      assert_marks(20, length, off, WALL, WALL, 10, 30, -S(off));
    }
    /* zones of half and quarter hours */
    assert_marks(20, length, 19800, ZONED, WALL, 10, 30, -S(19800));
    if (length < 900)
      assert_marks(20, length, 20700, ZONED, WALL, 10, 30, -S(20700));
    /* the trace was stopped a little early */
    assert_marks(20, length, 3600, ZONED, WALL, 10, -5, -S(3600));
  }
}

static int64_t shift_marks(const int64_t *mark, size_t n, enum dl_clock clock,
                           int64_t start_ns, int64_t end_ns,
                           enum dl_clock other) {
  return dl_clock_shift_marks(mark, n, clock,
                              &(struct dl_log_span){start_ns, end_ns, other});
}

static void shifts_relative_ends_of_epochs(void **state) {
  const int64_t mark[] = {S(100), S(200), S(300)};

  (void)state;
  assert_true(shift_marks(mark, 3, DL_CLOCK_RELATIVE, START, START + S(310),
                          DL_CLOCK_WALL) == START);
  assert_true(shift_marks(mark, 3, DL_CLOCK_RELATIVE, 0, S(310),
                          DL_CLOCK_RELATIVE) == 0);
  /* a trace without dates: both end together */
  assert_true(shift_marks(mark, 3, DL_CLOCK_WALL, 0, S(310),
                          DL_CLOCK_RELATIVE) == S(10));
  /* times of day: the day of the trace */
  assert_true(shift_marks((const int64_t[]){S(36100), S(36200)}, 2,
                          DL_CLOCK_DAY, START, START + S(210),
                          DL_CLOCK_WALL) == START - S(36000));
}

/* --- joining */

struct joining {
  struct dl_memory_join *j;
  struct dl_diag d;
};

/* A memory log with samples at START + `at` tenths of a second, whose powers
 * are 1, 2, 3 W; the GPU log begins at `start`. */
static struct joining open_join(const int *at, size_t n, int64_t start) {
  const struct dl_log_options o = {0};
  struct joining x;
  struct dl_log *log;
  char text[2000] = "timestamp,cpu usage (%),memory usage (MB)\n";
  size_t len = strlen(text);

  for (size_t i = 0; i < n; i++)
    len += (size_t)snprintf(text + len, sizeof text - len,
                            "2024-03-05 10:%02d:%02d.%d,%zu,%.10g\n",
                            at[i] / 600, at[i] / 10 % 60, at[i] % 10,
                            10 * (i + 1), (double)(i + 1) / 3.75e-4);
  x.d = (struct dl_diag){0};
  assert_ok(dl_log_open(&log, put_file("mem.csv", text), &o, &x.d), &x.d);
  assert_ok(dl_memory_join_open(&x.j, log,
                                &(struct dl_log_span){start, 0, DL_CLOCK_WALL},
                                &x.d),
            &x.d);
  return x;
}

/* The power at a tenth of a second; 0: the GPU sample is dropped. */
static void assert_at(struct joining *x, int tenth, double power_w) {
  double got;
  bool drop;

  assert_ok(dl_memory_join_at(x->j, START + tenth * (DL_SECOND / 10), &got,
                              &drop, &x->d),
            &x->d);
  if (drop != (power_w == 0) || (!drop && fabs(got - power_w) > 1e-6))
    fail_msg("at %d: %g W, %s", tenth, got, drop ? "dropped" : "kept");
}

static void end_join(struct joining *x, double cpu_util) {
  double util;

  bool matched;
  assert_ok(dl_memory_join_end(x->j, &util, &matched, &x->d), &x->d);
  assert_near(util, cpu_util, 1e-12);
  dl_memory_join_free(x->j);
}

static void takes_the_nearest_sample(void **state) {
  struct joining x = open_join((const int[]){1, 11, 21}, 3, START);

  (void)state;
  assert_at(&x, 0, 1);
  assert_at(&x, 5, 1);
  assert_at(&x, 6, 1); /* as near to both: the earlier one */
  assert_at(&x, 7, 2);
  assert_at(&x, 7, 2);
  assert_at(&x, 15, 2);
  assert_at(&x, 21, 3);
  assert_at(&x, 30, 3);
  end_join(&x, 0.2);
  assert_int_equal(x.d.n_warnings, 0);
  dl_diag_free(&x.d);
}

static void drops_what_comes_before(void **state) {
  struct joining x = open_join((const int[]){200, 210}, 2, START);
  char want[PATH_SIZE + 100];

  (void)state;
  for (int i = 0; i < 19; i++)
    assert_at(&x, i * 10, 0);
  assert_at(&x, 190, 1); /* one second before */
  assert_at(&x, 200, 1);
  end_join(&x, 0.15);
  assert_int_equal(x.d.n_warnings, 1);
  snprintf(want, sizeof want, "%s: " MSG_begins_later_than_gpu("19", "s"),
           temp_path("mem.csv"));
  assert_string_equal(x.d.warnings[0], want);
  dl_diag_free(&x.d);
}

static void holds_over_holes_and_the_end(void **state) {
  struct joining x = open_join((const int[]){0, 10, 300, 310}, 4, START);
  char want[PATH_SIZE + 100];

  (void)state;
  for (int i = 0; i <= 50; i++)
    assert_at(&x, i * 10, i < 1 ? 1 : i < 29 ? 2 : i < 31 ? 3 : 4);
  end_join(&x, 0.25);
  assert_int_equal(x.d.n_warnings, 1);
  /* seconds 3 .. 28 in the hole, 33 .. 50 behind the end */
  snprintf(want, sizeof want,
           "%s: no sample within 1 s of 44 GPU samples: the one before held",
           temp_path("mem.csv"));
  assert_string_equal(x.d.warnings[0], want);
  dl_diag_free(&x.d);
}

static void moves_a_memory_log_of_another_zone(void **state) {
  struct joining x = open_join((const int[]){0, 10}, 2, START - H(2));

  (void)state;
  assert_int_equal(x.d.n_warnings, 1);
  assert_non_null(strstr(x.d.warnings[0], "times moved by -2.00 h"));
  assert_at(&x, -72000, 1);
  assert_at(&x, -71990, 2);
  end_join(&x, 0.15);
  dl_diag_free(&x.d);
}

static void an_empty_memory_log(void **state) {
  struct joining x = open_join(NULL, 0, START);

  (void)state;
  assert_null(x.j);
  assert_int_equal(x.d.n_warnings, 1);
  assert_non_null(strstr(x.d.warnings[0], MSG_no_samples_not_joined));
  dl_diag_free(&x.d);
  dl_memory_join_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shifts_clocks),
      cmocka_unit_test(shifts_ends_of_epochs),
      cmocka_unit_test(shifts_relative_ends_of_epochs),
      cmocka_unit_test(takes_the_nearest_sample),
      cmocka_unit_test(drops_what_comes_before),
      cmocka_unit_test(holds_over_holes_and_the_end),
      cmocka_unit_test(moves_a_memory_log_of_another_zone),
      cmocka_unit_test(an_empty_memory_log),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
