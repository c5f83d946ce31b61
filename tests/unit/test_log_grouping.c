/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which logs belong to one run. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>

#include "base/text.h"
#include "logs/log_grouping.h"
#include "tests/messages.h"
#include "unit.h"

static const char gpu[] = "timestamp, power.draw [W]\n"
                          "2022-12-05 09:55:42.000, 100.00 W\n"
                          "2022-12-05 09:55:43.000, 100.00 W\n";
static const char mem[] = "timestamp,cpu usage (%),memory usage (MB)\n"
                          "2022-12-05 09:55:42.000,5,8000\n";
static const char ends[] = "epoch,end_time\n0,2022-12-05 09:55:43\n";
static const char perf[] =
    "     1.000123456     50.00 Joules power/energy-pkg/\n"
    "     2.000123456     50.00 Joules power/energy-pkg/\n";
static const char jobs[] =
    "JobIDRaw|Elapsed|ElapsedRaw|ConsumedEnergyRaw|AllocTRES\n"
    "7|00:10:00|600|100000|node=1\n";

/* --- files in folders below that of the test */

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *at) {
  (void)st;
  (void)type;
  return at->level == 0 ? 0 : remove(path);
}

/* With n empty lines, so that no file is a copy of another one. */
static void put(const char *name, const char *text, size_t n) {
  char path[PATH_SIZE];

  snprintf(path, sizeof path, "%s", temp_path(name));
  for (char *s = path + strlen(temp_dir) + 1; (s = strchr(s, '/'));
       *s++ = '/') {
    *s = '\0';
    mkdir(path, 0700);
  }
  struct dl_text own = {0};
  dl_text_add(&own, text);
  while (n-- > 0)
    dl_text_add(&own, "\n");
  put_file(name, dl_text_str(&own));
  dl_text_free(&own);
}

/* Plans for files, given as "NAME text" pairs; the last name is NULL. In
 * `expected` stand the numbers of the sources that each goes to, "0 0 2". */
static void assert_plan(bool join, const char *expected,
                        const char *const (*file)[2]) {
  const struct dl_log_options o = {0};
  char *path[16] = {0};
  struct dl_text out = {0};
  struct dl_log_grouping p;
  struct dl_diag d = {0};
  size_t n = 0;

  for (; file[n][0]; n++) {
    put(file[n][0], file[n][1], n);
    path[n] = strdup(temp_path(file[n][0]));
  }
  dl_log_grouping_make(&p, path, n, &o, join, &d);
  assert_int_equal(p.n, n);
  for (size_t i = 0; i < n; i++) {
    if (!p.source[i].importer)
      fail_msg("%s", p.source[i].error);
    assert_ptr_equal(p.source[i].path, path[i]);
    assert_null(p.source[i].opened);
    dl_text_printf(&out, "%s%zu", i > 0 ? " " : "", p.source[i].run);
  }
  if (strcmp(dl_text_str(&out), expected) != 0)
    fail_msg("%s, want %s", out.s, expected);
  dl_log_grouping_free(&p);
  dl_text_free(&out);
  for (size_t i = 0; i < n; i++)
    free(path[i]);
  nftw(temp_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define PLAN(join, expected, ...)                                              \
  assert_plan(join, expected,                                                  \
              (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})

static void joins_by_digits(void **state) {
  (void)state;
  PLAN(true, "0 1 1 0", {"gpu-20221205T095541.csv", gpu},
       {"gpu-20221205T104713.csv", gpu}, {"mem-20221205T104713.csv", mem},
       {"mem-20221205T095541.csv", mem});
  PLAN(true, "1 1 3 3", {"mem7.csv", mem}, {"gpu7.csv", gpu}, {"mem8.csv", mem},
       {"gpu8.csv", gpu});
  /* of one folder, though others have the same */
  PLAN(true, "0 1 1 0", {"a/gpu-1.csv", gpu}, {"b/gpu-1.csv", gpu},
       {"b/mem-1.csv", mem}, {"a/mem-1.csv", mem});
  /* digits of the ending do not count, those of several groups do */
  PLAN(true, "0 1 0 1", {"gpu-1.v2", gpu}, {"gpu-2.v1", gpu}, {"mem-1.v9", mem},
       {"mem-2.v8", mem});
  PLAN(true, "0 1 1", {"gpu-1-23.csv", gpu}, {"gpu-12-3.csv", gpu},
       {"mem-12-3.csv", mem});
}

static void joins_by_folder(void **state) {
  (void)state;
  PLAN(true, "0 0", {"gpu.csv", gpu}, {"mem.csv", mem});
  PLAN(true, "0 0", {"gpu-1.csv", gpu}, {"mem-2.csv", mem});
  PLAN(true, "0 0 2 2", {"a/gpu.csv", gpu}, {"a/mem.csv", mem},
       {"b/gpu.csv", gpu}, {"b/mem.csv", mem});
  PLAN(true, "0 1 1 0", {"a/x/gpu.csv", gpu}, {"a/y/gpu.csv", gpu},
       {"a/y/mem.csv", mem}, {"a/x/mem.csv", mem});
}

static void joins_to_the_only_trace(void **state) {
  (void)state;
  PLAN(true, "0 0", {"a/gpu.csv", gpu}, {"b/mem.csv", mem});
  PLAN(true, "0 0 0", {"a/gpu.csv", gpu}, {"b/mem.csv", mem},
       {"c/ends.csv", ends});
}

static void two_traces_in_a_folder(void **state) {
  (void)state;
  PLAN(true, "0 1 2", {"x.csv", gpu}, {"y.csv", gpu}, {"mem.csv", mem});
  PLAN(true, "0 1 0 3", {"x1.csv", gpu}, {"y2.csv", gpu}, {"mem1.csv", mem},
       {"mem3.csv", mem});
  /* the same digits twice tell nothing */
  PLAN(true, "0 1 2", {"x1.csv", gpu}, {"y1.csv", gpu}, {"mem1.csv", mem});
}

static void two_companions_of_a_kind(void **state) {
  (void)state;
  PLAN(true, "0 1 2", {"gpu.csv", gpu}, {"m.csv", mem}, {"n.csv", mem});
  PLAN(true, "0 0 2", {"gpu1.csv", gpu}, {"m1.csv", mem}, {"m2.csv", mem});
}

static void companions_of_several_kinds(void **state) {
  (void)state;
  PLAN(true, "0 0 0 0", {"gpu.csv", gpu}, {"mem.csv", mem}, {"cpu.txt", perf},
       {"ends.csv", ends});
  PLAN(true, "1 1 1 1 4 4", {"mem1.csv", mem}, {"gpu1.csv", gpu},
       {"cpu1.txt", perf}, {"ends1.csv", ends}, {"gpu2.csv", gpu},
       {"ends2.csv", ends});
  /* one by digits, one by its folder */
  PLAN(true, "0 0 0", {"gpu-1.csv", gpu}, {"mem-1.csv", mem},
       {"ends.csv", ends});
}

static void others_stay_on_their_own(void **state) {
  (void)state;
  PLAN(true, "0", {"mem.csv", mem});
  PLAN(true, "0 1", {"mem.csv", mem}, {"ends.csv", ends});
  PLAN(true, "0 1", {"gpu-7.csv", gpu}, {"jobs-7.txt", jobs});
  PLAN(true, "0 1", {"gpu-7.csv", gpu}, {"gpu-8.csv", gpu});
}

static void joins_nothing_where_forbidden(void **state) {
  (void)state;
  PLAN(false, "0 1", {"gpu.csv", gpu}, {"mem.csv", mem});
  PLAN(false, "0 1 2 3", {"gpu1.csv", gpu}, {"mem1.csv", mem},
       {"gpu2.csv", gpu}, {"mem2.csv", mem});
}

/* A log counts once: the memory log belongs to the only trace. */
static void a_log_given_twice(void **state) {
  const struct dl_log_options o = {0};
  char path[2][PATH_SIZE], want[PATH_SIZE + 100];
  char *const paths[] = {path[0], path[0], path[1]};
  struct dl_log_grouping p;
  struct dl_diag d = {0};

  (void)state;
  strcpy(path[0], put_file("gpu.csv", gpu));
  strcpy(path[1], put_file("mem.csv", mem));
  dl_log_grouping_make(&p, paths, 3, &o, true, &d);
  assert_int_equal(p.source[2].run, 0);
  assert_null(p.source[1].importer);
  assert_int_equal(p.source[1].status, DL_EINPUT);
  snprintf(want, sizeof want, MSG_same_file_twice("%s"), path[0]);
  assert_string_equal(p.source[1].error, want);
  dl_log_grouping_free(&p);
  nftw(temp_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* What is wrong with a file is kept with it. */
static void keeps_faults(void **state) {
  const struct dl_log_options o = {0};
  char path[4][PATH_SIZE], want[2 * PATH_SIZE + 100];
  char *const paths[] = {path[0], path[1], path[2], path[3]};
  struct dl_log_grouping p;
  struct dl_diag d = {0};

  (void)state;
  strcpy(path[0], temp_path("absent"));
  strcpy(path[1], put_file("gpu.csv", gpu));
  strcpy(path[2], put_file("poem.txt", "roses are red\nviolets are blue\n"));
  strcpy(path[3], temp_dir);
  dl_log_grouping_make(&p, paths, 4, &o, true, &d);
  assert_int_equal(d.n_warnings, 0);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(p.source[i].run, i);
  snprintf(want, sizeof want, "%s: cannot open: No such file or directory",
           path[0]);
  assert_string_equal(p.source[0].error, want);
  assert_int_equal(p.source[0].status, DL_EFAILED);
  assert_non_null(p.source[1].importer);
  assert_null(p.source[1].error);
  snprintf(want, sizeof want, "%s: unknown log format", path[2]);
  assert_int_equal(strncmp(p.source[2].error, want, strlen(want)), 0);
  assert_int_equal(p.source[2].status, DL_EINPUT);
  snprintf(want, sizeof want, "%s: " MSG_is_a_directory_give_files("%s/*.csv"),
           path[3], path[3]);
  assert_string_equal(p.source[3].error, want);
  dl_log_grouping_free(&p);
  dl_log_grouping_free(&p);
}

static void no_logs(void **state) {
  const struct dl_log_options o = {0};
  struct dl_log_grouping p;
  struct dl_diag d = {0};

  (void)state;
  dl_log_grouping_make(&p, NULL, 0, &o, true, &d);
  assert_int_equal(p.n, 0);
  dl_log_grouping_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joins_by_digits),
      cmocka_unit_test(joins_by_folder),
      cmocka_unit_test(joins_to_the_only_trace),
      cmocka_unit_test(two_traces_in_a_folder),
      cmocka_unit_test(two_companions_of_a_kind),
      cmocka_unit_test(companions_of_several_kinds),
      cmocka_unit_test(others_stay_on_their_own),
      cmocka_unit_test(joins_nothing_where_forbidden),
      cmocka_unit_test(a_log_given_twice),
      cmocka_unit_test(keeps_faults),
      cmocka_unit_test(no_logs),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
