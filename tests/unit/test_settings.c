/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What users say of runs: --set, tables, patterns for paths. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/memory.h"
#include "logs/path_pattern.h"
#include "quantities/quantities.h"
#include "logs/run_settings.h"
#include "unit.h"
#include "tests/messages.h"

/* --- patterns */

/* The names that a pattern reads off a path, "arch=vgg16 run_id=7"; "-" where
 * it does not match. */
static void assert_match(const char *pattern, const char *path,
                         const char *expected) {
  struct dl_pattern p = {0};
  struct dl_text out = {0};
  struct dl_diag d = {0};
  char *value[32] = {0};

  assert_ok(dl_pattern_parse(&p, pattern, &d), &d);
  assert_int_equal(p.literal.n, p.names.n + 1);
  if (!dl_pattern_match(&p, path, value))
    dl_text_add(&out, "-");
  else
    for (size_t i = 0; i < p.names.n; i++)
      dl_text_printf(&out, "%s%s=%s", i > 0 ? " " : "", p.names.s[i], value[i]);
  if (strcmp(dl_text_str(&out), expected) != 0)
    fail_msg("'%s' on '%s': %s", pattern, path, dl_text_str(&out));
  for (size_t i = 0; i < p.names.n; i++)
    free(value[i]);
  dl_text_free(&out);
  dl_pattern_free(&p);
}

static void matches_the_end_of_a_path(void **state) {
  static const char *const pattern = "{env}/{arch}/gpu-{id}.csv";

  (void)state;
  assert_match(pattern, "lab/vgg16/gpu-7.csv", "env=lab arch=vgg16 id=7");
  assert_match(pattern, "/a/b/lab/vgg16/gpu-7.csv", "env=lab arch=vgg16 id=7");
  assert_match(pattern, "./lab/vgg16/gpu-7.csv", "env=lab arch=vgg16 id=7");
  assert_match(pattern, "/lab/vgg16/gpu-7.csv", "env=lab arch=vgg16 id=7");
  assert_match(pattern, "vgg16/gpu-7.csv", "-");
  assert_match(pattern, "/vgg16/gpu-7.csv", "-");
  assert_match(pattern, "lab/vgg16/gpu-7.csv.old", "-");
  assert_match(pattern, "lab/vgg16/x/gpu-7.csv", "env=vgg16 arch=x id=7");
  assert_match(pattern, "lab/vgg16/gpu-.csv", "-");
  assert_match(pattern, "lab//gpu-7.csv", "-");
  assert_match(pattern, "lab/vgg16/xgpu-7.csv", "-");
  assert_match(pattern, "", "-");
  assert_match(pattern, "/", "-");
  assert_match("{file}", "/a/b/c d.csv", "file=c d.csv");
  assert_match("runs/{arch}/log", "my/runs/vgg/log", "arch=vgg");
  assert_match("runs/{arch}/log", "myruns/vgg/log", "-");
  assert_match("/data/{arch}.csv", "/data/vgg.csv", "arch=vgg");
}

/* Names are as short as the rest allows, and go on where it does not. */
static void backtracks(void **state) {
  (void)state;
  assert_match("{a}-{b}.csv", "x-y-z.csv", "a=x b=y-z");
  assert_match("{a}_b{n}.csv", "vgg_bn_b32.csv", "a=vgg n=n_b32");
  assert_match("{a}-b{n}-l.csv", "x-bee-b3-l.csv", "a=x n=ee-b3");
  assert_match("{a}.csv", "x.csv.csv", "a=x.csv");
  assert_match("{a}aa{b}", "aaaaa", "a=a b=aa");
  assert_match("{a}-{b}", "--", "-");
  assert_match("{a}-{b}", "---", "a=- b=-");
  assert_match("{a}/{b}-x", "p/q-y/r-x", "a=q-y b=r");
  assert_match("{a}/{b}", "p/q", "a=p b=q");
  assert_match("{a}/{b}", "p/q/r", "a=q b=r");
}

/* In a time that does not grow with the number of ways to cut the path. */
static void backtracks_quickly(void **state) {
  char pattern[200] = "", path[1000] = "";

  (void)state;
  for (char c = 'a'; c <= 't'; c++)
    snprintf(pattern + strlen(pattern), 8, "{%c}-", c);
  strcat(pattern, "{z}x");
  memset(path, '-', 400);
  assert_match(pattern, path, "-");
}

static void refuses_patterns(void **state) {
  static const struct {
    const char *pattern, *message;
  } cases[] = {
      {"gpu.csv", MSG_path_pattern_no_name("gpu.csv")},
      {"", MSG_path_pattern_no_name("")},
      {"{a}/{a}", MSG_path_pattern_name_twice("{a}/{a}", "a")},
      {"{a}{b}", MSG_path_pattern_nothing_between("{a}{b}")},
      {"{}", MSG_path_pattern_expected_names("{}")},
      {"{a", MSG_path_pattern_expected_names("{a")},
      {"a}", MSG_path_pattern_expected_names("a}")},
      {"{a{b}}", MSG_path_pattern_expected_names("{a{b}}")},
      {"{a/b}", MSG_path_pattern_expected_names("{a/b}")},
  };
  struct dl_diag d = {0};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_pattern p = {0};
    assert_int_equal(dl_pattern_parse(&p, cases[i].pattern, &d), DL_EUSAGE);
    assert_error(&d, DL_EUSAGE, cases[i].message);
    dl_pattern_free(&p);
  }
}

/* --- settings */

struct given {
  struct dl_settings *s;
  struct dl_diag d;
};

static struct given new_settings(void) {
  struct given g = {.s = dl_settings_new()};

  assert_non_null(g.s);
  return g;
}

static void free_settings(struct given *g) {
  dl_settings_free(g->s);
  dl_diag_free(&g->d);
}

static void set(struct given *g, const char *assignment) {
  assert_ok(dl_settings_set(g->s, assignment, &g->d), &g->d);
}

static void pattern(struct given *g, const char *text) {
  assert_ok(dl_settings_pattern(g->s, text, &g->d), &g->d);
}

static void table(struct given *g, const char *text) {
  assert_ok(dl_settings_table(g->s, put_file("set.csv", text), &g->d), &g->d);
}

/* Adds what a run is told, " column=value" in the order of the columns, with
 * those of the user's own behind "|". */
static void describe(struct dl_text *out, const struct dl_run *run,
                     const struct dl_intern *names, char *const *extra) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    if (c->is_text && dl_run_text(run, (enum dl_run_id)i))
      dl_text_printf(out, " %s=%s", c->name,
                     dl_run_text(run, (enum dl_run_id)i));
    else if (!c->is_text && !isnan(dl_run_number(run, (enum dl_run_id)i)))
      dl_text_printf(out, " %s=%g", c->name,
                     dl_run_number(run, (enum dl_run_id)i));
  }
  dl_text_add(out, " |");
  for (size_t i = 0; i < names->n; i++)
    if (extra[i])
      dl_text_printf(out, " %s=%s", names->s[i], extra[i]);
}

/* A run that the log measured: 150 W, one GPU named "Board". Only what differs
 * from that is expected, then each warning behind "!". */
static void assert_applied(struct given *g, const char *path,
                           const char *expected) {
  const struct dl_intern *names = dl_settings_extra(g->s);
  char **extra = dl_calloc(names->n, sizeof *extra);
  struct dl_text out = {0};
  struct dl_run run;

  assert_non_null(extra);
  run = dl_run_unknown;
  dl_run_set_number(&run, DL_RUN_gpu_power_w, 150);
  dl_run_copy_text(&run, DL_RUN_gpu, "Board");
  dl_settings_apply(g->s, path, &run, extra, &g->d);
  describe(&out, &run, names, extra);
  for (size_t i = 0; i < g->d.n_warnings; i++)
    dl_text_printf(&out, " ! %s", g->d.warnings[i]);
  if (strcmp(dl_text_str(&out), expected) != 0)
    fail_msg("%s: got\n%s\nfor\n%s", path, dl_text_str(&out), expected);
  for (size_t i = 0; i < names->n; i++)
    free(extra[i]);
  free(extra);
  dl_run_clear(&run);
  dl_text_free(&out);
  dl_diag_free(&g->d);
}

static void nothing_given(void **state) {
  struct given g = new_settings();

  (void)state;
  assert_applied(&g, "a.csv", " gpu=Board gpu_power_w=150 |");
  free_settings(&g);
  dl_settings_free(NULL);
}

/* Names and settings replace what the log says, what is measured they do not;
 * the last of several counts. */
static void sets_columns(void **state) {
  struct given g = new_settings();

  (void)state;
  set(&g, "gpu=rtx-3090");
  set(&g, "batch_size=16");
  set(&g, "batch_size=32");
  set(&g, "machine=node 7");
  set(&g, "note=a=b,c");
  set(&g, "image_px=");
  table(&g, "file,gpu_power_w,ram_power_w\na.csv,1,5\n");
  assert_applied(&g, "a.csv",
                 " gpu=rtx-3090 batch_size=32 gpu_power_w=150 ram_power_w=5 "
                 "file=a.csv | machine=node 7 note=a=b,c");
  free_settings(&g);
}

static void refuses_what_cannot_be_set(void **state) {
  static const struct {
    const char *assignment, *message;
  } cases[] = {
      {"batch_size", MSG_set_expected_name_value("batch_size")},
      {"=32", MSG_set_expected_name_value("=32")},
      {"", MSG_set_expected_name_value("")},
      {"batch_size=many", MSG_invalid_number_2("set batch_size", "many")},
      {"batch_size=0",
       MSG_is_not_between("--set batch_size", "0", "1", "1e+09")},
      {"batch_size=1e10",
       MSG_is_not_between("--set batch_size", "1e10", "1", "1e+09")},
      {"energy_j=1", MSG_set_a_measured_column("energy_j")},
      {"n_gpus=nan", MSG_not_a_finite_number("--set n_gpus", "nan")},
  };
  struct given g = new_settings();

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_int_equal(dl_settings_set(g.s, cases[i].assignment, &g.d),
                     DL_EUSAGE);
    assert_error(&g.d, DL_EUSAGE, cases[i].message);
  }
  free_settings(&g);
}

static void first_with_a_value_counts(void **state) {
  struct given g = new_settings();

  (void)state;
  set(&g, "arch=of-set");
  table(&g, "file,arch,dataset,batch_size,machine\n"
            "gpu-7.csv,of-table,of-table,,\n");
  pattern(&g, "{machine}/{dataset}/{batch_size}/gpu-{arch}.csv");
  assert_applied(&g, "me/of-path/64/gpu-7.csv",
                 " arch=of-set gpu=Board dataset=of-table batch_size=64 "
                 "gpu_power_w=150 file=gpu-7.csv | machine=me");
  free_settings(&g);
}

static void invalid_values_of_a_path(void **state) {
  struct given g = new_settings();

  (void)state;
  pattern(&g, "{batch_size}/{epochs}.csv");
  assert_applied(
      &g, "many/5.csv",
      " gpu=Board epochs=5 gpu_power_w=150 | ! many/5.csv: " MSG_invalid_number(
          "{batch_size}", "many"));
  assert_applied(
      &g, "0/5.csv",
      " gpu=Board epochs=5 gpu_power_w=150 | ! 0/5.csv: " MSG_is_not_between(
          "{batch_size}", "0", "1", "1e+09"));
  assert_applied(
      &g, "5.csv",
      " gpu=Board gpu_power_w=150 | ! 5.csv: " MSG_does_not_match_path);
  free_settings(&g);
}

/* --- tables */

static void finds_rows_by_any_form_of_the_name(void **state) {
  static const char *const cells[] = {"gpu-7.csv", "gpu-7", "old/x/gpu-7.csv",
                                      "old/gpu-7"};
  char text[200];

  (void)state;
  for (size_t i = 0; i < COUNT(cells); i++) {
    struct given g = new_settings();
    snprintf(text, sizeof text,
             "batch_size,log,lr\n8,gpu-6.csv,1\n16,%s,0.5\n32,gpu-77.csv,2\n",
             cells[i]);
    table(&g, text);
    char want[200];
    snprintf(want, sizeof want,
             " gpu=Board batch_size=16 gpu_power_w=150 | log=%s lr=0.5",
             cells[i]);
    assert_applied(&g, "gpu-7.csv", want);
    assert_applied(&g, "/some/where/gpu-7.csv", want);
    free_settings(&g);
  }
}

/* A name may have dots, so that its ending cannot be told. */
static void finds_rows_by_names_with_dots(void **state) {
  struct given g = new_settings();

  (void)state;
  table(&g, "run_id,batch_size\nlr0.1,8\nlr0.01,16\nlr0,32\n");
  assert_applied(&g, "x/lr0.1.csv",
                 " run_id=lr0.1 gpu=Board batch_size=8 gpu_power_w=150 |");
  assert_applied(&g, "x/lr0.01.csv",
                 " run_id=lr0.01 gpu=Board batch_size=16 gpu_power_w=150 |");
  assert_applied(&g, "x/lr0.csv",
                 " run_id=lr0 gpu=Board batch_size=32 gpu_power_w=150 |");
  free_settings(&g);
}

static void distinguishes_rows_by_folders(void **state) {
  struct given g = new_settings();

  (void)state;
  table(&g, "env,arch,trace,epochs\n"
            "lab,vgg16,gpu.csv,1\n"
            "lab,resnet50,gpu.csv,2\n"
            "cloud,vgg16,gpu.csv,3\n");
  assert_applied(&g, "d/lab/vgg16/gpu.csv",
                 " arch=vgg16 gpu=Board epochs=1 gpu_power_w=150 | env=lab "
                 "trace=gpu.csv");
  assert_applied(&g, "lab/resnet50/gpu.csv",
                 " arch=resnet50 gpu=Board epochs=2 gpu_power_w=150 | env=lab "
                 "trace=gpu.csv");
  assert_applied(&g, "vgg16/x/cloud/gpu.csv",
                 " arch=vgg16 gpu=Board epochs=3 gpu_power_w=150 | env=cloud "
                 "trace=gpu.csv");
  free_settings(&g);
}

static void warns_where_no_row_is_found(void **state) {
  struct given g = new_settings();
  char want[PATH_SIZE + 100];
  const char *path = temp_path("set.csv");

  (void)state;
  table(&g, "arch,trace,epochs\nvgg16,gpu.csv,1\nresnet50,gpu.csv,2\n");
  snprintf(want, sizeof want,
           " gpu=Board gpu_power_w=150 | ! vgg/gpu.csv: 2 rows in %s: none "
           "taken",
           path);
  assert_applied(&g, "vgg/gpu.csv", want);
  snprintf(want, sizeof want,
           " gpu=Board gpu_power_w=150 | ! vgg16/cpu.csv: no row in %s", path);
  assert_applied(&g, "vgg16/cpu.csv", want);
  free_settings(&g);
}

static void invalid_values_of_a_table(void **state) {
  struct given g = new_settings();
  char want[PATH_SIZE + 200];

  (void)state;
  table(&g, "file,batch_size,epochs\na.csv,many,5\n");
  snprintf(want, sizeof want,
           " gpu=Board epochs=5 gpu_power_w=150 file=a.csv | ! %s:2: column "
           "'batch_size': invalid number 'many'",
           temp_path("set.csv"));
  assert_applied(&g, "a.csv", want);
  free_settings(&g);
}

static void refuses_tables(void **state) {
  struct given g = new_settings();
  char want[PATH_SIZE + 100];

  (void)state;
  const char *path = put_file("set.csv", "arch,epochs\nvgg16,5\n");
  snprintf(want, sizeof want, "%s: no column names logs; name it 'file'", path);
  assert_int_equal(dl_settings_table(g.s, path, &g.d), DL_EINPUT);
  assert_error(&g.d, DL_EINPUT, want);
  assert_int_equal(dl_settings_table(g.s, path, &g.d), DL_EUSAGE);
  assert_error(&g.d, DL_EUSAGE, MSG_one_table_settings_at);
  pattern(&g, "{arch}.csv");
  assert_int_equal(dl_settings_pattern(g.s, "{arch}.csv", &g.d), DL_EUSAGE);
  assert_error(&g.d, DL_EUSAGE, MSG_one_path_pattern_at);
  free_settings(&g);
  g = new_settings();
  assert_int_equal(dl_settings_table(g.s, temp_path("absent"), &g.d),
                   DL_EFAILED);
  free_settings(&g);
}

/* Columns that the runs table does not have, once each, as they come. */
static void lists_columns_of_its_own(void **state) {
  struct given g = new_settings();

  (void)state;
  set(&g, "machine=a");
  set(&g, "arch=b");
  set(&g, "machine=c");
  table(&g, "file,lr,machine\na.csv,0.1,d\n");
  pattern(&g, "{rack}/{lr}/{run_id}.csv");
  const struct dl_intern *extra = dl_settings_extra(g.s);
  assert_int_equal(extra->n, 3);
  assert_string_equal(extra->s[0], "machine");
  assert_string_equal(extra->s[1], "lr");
  assert_string_equal(extra->s[2], "rack");
  free_settings(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_the_end_of_a_path),
      cmocka_unit_test(backtracks),
      cmocka_unit_test(backtracks_quickly),
      cmocka_unit_test(refuses_patterns),
      cmocka_unit_test(nothing_given),
      cmocka_unit_test(sets_columns),
      cmocka_unit_test(refuses_what_cannot_be_set),
      cmocka_unit_test(first_with_a_value_counts),
      cmocka_unit_test(invalid_values_of_a_path),
      cmocka_unit_test(finds_rows_by_any_form_of_the_name),
      cmocka_unit_test(finds_rows_by_names_with_dots),
      cmocka_unit_test(distinguishes_rows_by_folders),
      cmocka_unit_test(warns_where_no_row_is_found),
      cmocka_unit_test(invalid_values_of_a_table),
      cmocka_unit_test(refuses_tables),
      cmocka_unit_test(lists_columns_of_its_own),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
