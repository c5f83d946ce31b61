/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scripts of each kind of picture: data, units, labels and what is left
 * out; gnuplot that fails. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "plot/plot.h"
#include "unit.h"
#include "tests/messages.h"

enum { MOST_LINES = 8 };

/* A table and lines of its script; says: the error or the warning, if any. */
struct picture {
  const char *kind, *table;
  struct dl_plot_options o;
  const char *line[MOST_LINES];
  const char *without, *says;
};

static bool has_line(const char *text, const char *line) {
  size_t n = strlen(line);
  for (const char *p = text; (p = strstr(p, line)) != NULL; p += n)
    if ((p == text || p[-1] == '\n') && p[n] == '\n')
      return true;
  return false;
}

static void check_picture(const struct picture *p) {
  struct dl_plot_options o = p->o;
  struct dl_text script = {0};
  struct dl_diag d = {0};
  char path[PATH_SIZE], *paths[] = {path};
  snprintf(path, sizeof path, "%s", put_file("table.csv", p->table));
  o.path = paths;
  o.n_paths = 1;
  enum dl_status status =
      dl_plot_script(&script, dl_plot_kind_find(p->kind), &o, &d);
  const char *said = d.error ? d.error : "";
  if (status != DL_OK && (!p->says || !strstr(said, p->says)))
    fail_msg("%s: '%s', want '%s'", p->kind, said, p->says ? p->says : "");
  if (status == DL_OK && p->says)
    fail_msg("%s: no error '%s'", p->kind, p->says);
  for (size_t i = 0; i < MOST_LINES && p->line[i]; i++)
    if (!has_line(dl_text_str(&script), p->line[i]))
      fail_msg("%s: no line '%s' in:\n%s", p->kind, p->line[i],
               dl_text_str(&script));
  if (p->without && strstr(dl_text_str(&script), p->without))
    fail_msg("%s: '%s' in:\n%s", p->kind, p->without, dl_text_str(&script));
  dl_text_free(&script);
  dl_diag_free(&d);
}

static void check_pictures(const struct picture *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    check_picture(&p[i]);
}

/* Columns of the data: value, place, and the box around it; interval. */
static void test_errors(void **state) {
  static const struct picture pictures[] = {
      {.kind = "errors",
       .table = "method,group,n,mape\ntdp,,9,0.4\nphysical,,9,0.125\n"
                "flops,,9,0.25\n",
       .line = {"set xlabel 'MAPE (%)'",
                "set title 'Mean absolute percentage error (MAPE) by method'",
                "set ytics ('tdp' 1, 'physical' 3, 'flops' 2)",
                "12.5 3 0 12.5 2.68 3.32", "unset key"}},
      {.kind = "errors",
       .table = "method,mape,mape_low,mape_high\ntdp,0.4,0.3,0.6\n",
       .line = {"40 1 0 40 0.68 1.32 30 60",
                "set title 'Mean absolute percentage error (MAPE) by method, "
                "with bootstrap intervals'"}},
      /* two groups: 0.15 above and below the middle of the method's row */
      {.kind = "errors",
       .table = "method,group,mape\ntdp,x,0.4\ntdp,y,0.2\n",
       .line = {"40 1.15 0 40 0.83 1.47", "20 0.85 0 20 0.53 1.17"},
       .without = "set label"},
      {.kind = "errors",
       .table = "method,table,rmse_j\ntdp,a/x.csv,14.4e6\ntdp,b/y.csv,7.2e6\n",
       .o = {.score = "rmse_j", .as = DL_PICTURE_DUMB},
       .line = {"set xlabel 'RMSE (kWh)'"}},
      /* 1 % and 90 %: a logarithmic axis without bars */
      {.kind = "errors",
       .table = "method,mape\ntdp,0.9\nphysical,0.01\n",
       .line = {"set logscale x"},
       .without = "boxxyerror"},
      {.kind = "errors",
       .table = "method,bias_j\ntdp,-5e3\nflops,5\n",
       .o = {.score = "bias_j", .title = "own title"},
       .line = {"set xlabel 'bias (kJ)'", "set title 'own title'"}},
      {.kind = "errors",
       .table = "method,mape\ntdp,0.4\nflops,\n",
       .without = "flops"},
      {.kind = "errors",
       .table = "method,mape\ntdp,\n",
       .says = MSG_no_row_that_can},
      {.kind = "errors",
       .table = "method,mape\ntdp,0.4\n",
       .o = {.score = "speed"},
       .says = "unknown score 'speed'"},
      {.kind = "errors", .table = "method,n\n", .says = MSG_no_column("mape")},
  };
  (void)state;
  check_pictures(pictures, COUNT(pictures));
}

#define LEFT_OUT                                                               \
  "gpu,config,target,unit,measured,predicted,low,high\n"                       \
  "a100,c0,energy_j,J,1000,1100,500,2000\n"                                    \
  "a100,c0,energy_j,J,4000,4400,2000,8000\n"                                   \
  "v100,c1,energy_j,J,2000,1800,,\n"

/* All three rows are 10 % off; both intervals hold their measurement. */
static void test_fit(void **state) {
  static const struct picture pictures[] = {
      {.kind = "fit",
       .table = LEFT_OUT,
       .line = {"set xlabel 'measured energy (kJ)'",
                "set ylabel 'predicted energy (kJ)'", "1 1.1 0.5 2", "2 1.8",
                "set title 'Held-out energy: MAPE 10 %, coverage 100 %'",
                "set key title '3 rows'"}},
      {.kind = "fit",
       .table = LEFT_OUT,
       .o = {.per = "config", .as = DL_PICTURE_DUMB},
       .line = {"2 2.2 1 4",
                "set title 'Held-out energy: MAPE 10 %, coverage 100 %'",
                "set key title '3 rows in 2 points'"}},
      {.kind = "fit",
       .table = LEFT_OUT "a100,c0,gpu_power_w,W,100,110,,\n",
       .o = {.target = "gpu_power_w"},
       .line = {"set xlabel 'measured GPU power (W)'", "100 110"}},
      {.kind = "fit",
       .table = "measured,predicted,unit,target\n5,6,,speed\n",
       .line = {"set xlabel 'measured speed'", "5 6"}},
      {.kind = "fit",
       .table = LEFT_OUT "a100,c0,gpu_power_w,W,100,110,,\n",
       .says = ":5: several targets ('energy_j', 'gpu_power_w')"},
      {.kind = "fit",
       .table = LEFT_OUT,
       .o = {.target = "epoch_s"},
       .says = MSG_no_row_target("epoch_s")},
      /* two architectures on two GPUs: colours and markers, each in the legend
       */
      {.kind = "fit",
       .table = "gpu,arch,measured,predicted\na100,vgg16,5,6\n"
                "a100,resnet50,7,8\nt4,vgg16,9,9\n",
       .line = {"$g0 << EOD\n5 6\nEOD", "$g1 << EOD\n7 8\nEOD",
                "$g2 << EOD\n9 9\nEOD", "$g3 << EOD\nEOD"}},
      {.kind = "fit",
       .table = "gpu,arch,measured,predicted\na100,vgg16,5,6\n"
                "a100,resnet50,7,8\n",
       .o = {.by = "arch"},
       .line = {"$g0 << EOD\n5 6\nEOD", "$g1 << EOD\n7 8\nEOD"},
       .without = "title 'a100'"},
      {.kind = "fit",
       .table = LEFT_OUT,
       .o = {.per = "target"},
       .says = MSG_is_in_two_groups("energy_j", "a100", "v100")},
  };
  (void)state;
  check_pictures(pictures, COUNT(pictures));
}

static void test_parts(void **state) {
  static const struct picture pictures[] = {
      {.kind = "parts",
       .table = "estimate,part,energy_j\none,gpu,10.8e6\none,cpu,3.6e6\n"
                "two,gpu,7.2e6\ntwo,cooling,\n",
       .line = {"set xlabel 'energy (kWh)'", "set ytics ('one' 2, 'two' 1)",
                "set title 'Energy by part of the node'", "0 2 0 3 1.68 2.32",
                "3 2 3 4 1.68 2.32", "0 1 0 2 0.68 1.32"},
       .without = "cooling"},
      {.kind = "parts",
       .table = "estimate,part,energy_j\none,rest,3e3\n",
       .o = {.as = DL_PICTURE_DUMB},
       .line = {"set xlabel 'energy (kJ)'"}},
      {.kind = "parts",
       .table = "estimate,part,energy_j\none,gpu,-1\n",
       .says = ":2: column 'energy_j': a part of less than 0 J"},
      {.kind = "parts",
       .table = "estimate,part,energy_j\none,gpu,0\n",
       .says = MSG_no_energy_to_draw},
      {.kind = "parts",
       .table = "estimate,part,energy_j\none,gpu,\n",
       .says = MSG_no_energy_to_draw},
      {.kind = "parts",
       .table = "estimate,part,energy_j\na,1,1\na,2,1\na,3,1\na,4,1\na,5,1\n"
                "a,6,1\na,7,1\na,8,1\na,9,1\n",
       .says = "1 estimates of 9 parts are too many for a plot"},
  };
  (void)state;
  check_pictures(pictures, COUNT(pictures));
}

#define SETTINGS                                                               \
  "arch,gpu,batch_size,energy_j,energy_low_j,energy_high_j,duration_s"
/* The v100 is slower than both others and takes more than either. */
static void test_pareto(void **state) {
  static const struct picture pictures[] = {
      {.kind = "pareto",
       .table = SETTINGS "\nresnet50,a100,64,18e6,14.4e6,21.6e6,7200\n"
                         "resnet50,h100,64,21.6e6,18e6,28.8e6,3600\n"
                         "resnet50,v100,64,32.4e6,25.2e6,43.2e6,9000\n",
       .o = {.by = "arch"},
       .line = {"set xlabel 'time (min)'", "set ylabel 'energy (kWh)'",
                "set title 'Energy against time: 3 settings, 2 on the "
                "Pareto front'",
                "120 5 4 6", "60 6 5 8", "150 9 7 12",
                "$front << EOD\n60 6\n120 5\nEOD"}},
      {.kind = "pareto",
       .table = SETTINGS ",pareto,excluded\n"
                         "resnet50,a100,64,18e6,,,7200,1,\n"
                         "resnet50,h100,64,21.6e6,,,3600,0,\n"
                         "resnet50,t4,64,,,,,0,no estimate\n",
       .o = {.as = DL_PICTURE_DUMB, .title = "fronts"},
       .line = {"set title 'fronts'", "$front << EOD\n120 5\nEOD"},
       .without = "t4"},
      {.kind = "pareto",
       .table = "node,gpu,energy_j,duration_s,batch_size,boundary,pareto\n"
                "one,x,1000,200,64,node,1\ntwo,y,1100,100,64,node,1\n"
                "two,y,1500,200,32,node,0\n",
       .line = {"set ylabel 'energy, boundary node (kJ)'"},
       .without = "set label"},
  };
  (void)state;
  check_pictures(pictures, COUNT(pictures));
}

/* Of more than 16 groups five are told apart, the others are grey. */
static void test_many_groups(void **state) {
  struct dl_text table = {0};
  (void)state;
  dl_text_add(&table, "gpu,energy_j,duration_s,pareto\n");
  for (int i = 1; i <= 20; i++)
    dl_text_printf(&table, "g%d,%d,%d,0\n", i, 1000 + i, 100 + i);
  dl_text_add(&table, "g7,1500,150,0\nbest,900,90,1\n");
  check_picture(
      &(struct picture){.kind = "pareto",
                        .table = dl_text_str(&table),
                        .line = {"$g0 << EOD\n90 0.9\nEOD",
                                 "$g1 << EOD\n107 1.007\n150 1.5\nEOD"},
                        .without = "title 'g4'"});
  dl_text_free(&table);
}

/* Rows that cannot be used are left out, each with its reason. */
static void test_rows(void **state) {
  static const char table[] = LEFT_OUT "a100,c2,energy_j,J,,1,,\n"
                                       "a100,c2,energy_j,J,nan,1,,\n"
                                       "a100,c2,energy_j,J,-3,1,,\n"
                                       "a100,c2,energy_j,J,x,1,,\n";
  struct picture p = {.kind = "fit", .table = table, .line = {"2 1.8"}};
  (void)state;
  check_picture(&p);
  p.table = "measured,predicted\n-1,2\n";
  p.line[0] = NULL;
  p.says = MSG_no_row_that_can;
  check_picture(&p);
}

/* The log of data/examples begins with 31 W; its epochs are detected. */
static void test_trace(void **state) {
  struct dl_plot_options o = {.as = DL_PICTURE_SVG,
                              .logs = {.find_epochs = true}};
  char path[PATH_SIZE], *paths[] = {path};
  struct dl_text script = {0};
  struct dl_diag d = {0};
  (void)state;
  snprintf(path, sizeof path, "%s", in_tree("data/examples/gpu-7.csv"));
  o.path = paths;
  o.n_paths = 1;
  assert_ok(dl_plot_script(&script, dl_plot_kind_find("trace"), &o, &d), &d);
  const char *s = dl_text_str(&script);
  assert_true(has_line(s, "set ylabel 'GPU power (W)'"));
  assert_true(has_line(s, "set x2label 'epoch'"));
  assert_non_null(strstr(s, "$power << EOD\n0 31\n"));
  assert_non_null(strstr(s, "epochs detected ("));
  dl_text_free(&script);
  dl_diag_free(&d);
}

static void test_names(void **state) {
  enum dl_picture as;
  (void)state;
  assert_true(dl_picture_find("pdf", &as) && as == DL_PICTURE_PDF);
  assert_false(dl_picture_find("gif", &as));
  assert_true(dl_picture_of_file("a/b.PNG", &as) && as == DL_PICTURE_PNG);
  assert_true(dl_picture_of_file("b.txt", &as) && as == DL_PICTURE_DUMB);
  assert_false(dl_picture_of_file(".svg", &as));
  assert_string_equal(dl_plot_kinds[0]->name, "trace");
  assert_null(dl_plot_kind_find("pie"));
}

/* Draws with a program in place of gnuplot. */
static enum dl_status draw_with(const char *program, struct dl_diag *d) {
  char path[PATH_SIZE];
  const char *before = getenv("PATH");
  char *was = before ? strdup(before) : NULL;
  *d = (struct dl_diag){0};
  if (program) {
    const char *gnuplot = put_file("gnuplot", program);
    assert_int_equal(chmod(gnuplot, 0755), 0);
  } else {
    unlink(temp_path("gnuplot"));
  }
  snprintf(path, sizeof path, "%s", temp_path("picture.svg"));
  setenv("PATH", temp_dir, 1);
  enum dl_status status = dl_plot_draw("plot x\n", path, d);
  if (was)
    setenv("PATH", was, 1);
  free(was);
  return status;
}

static void test_gnuplot(void **state) {
  struct dl_diag d;
  (void)state;
  assert_ok(draw_with("#!/bin/sh\necho drawn\n", &d), &d);
  char *s = get_file(temp_path("picture.svg"));
  assert_string_equal(s, "drawn\n");
  free(s);
  assert_int_equal(
      draw_with("#!/bin/sh\necho half; echo 'line 3: no' >&2; exit 1\n", &d),
      DL_EFAILED);
  assert_error(&d, DL_EFAILED, MSG_gnuplot_failed("line 3: no"));
  assert_int_equal(draw_with("#!/bin/sh\nexit 0\n", &d), DL_EFAILED);
  assert_error(&d, DL_EFAILED, MSG_gnuplot_drew_nothing(MSG_does_not_say_why));
  assert_int_equal(draw_with("#!/bin/sh\nkill -9 $$\n", &d), DL_EFAILED);
  assert_error(&d, DL_EFAILED, MSG_gnuplot_was_ended_by("9"));
  assert_int_equal(draw_with(NULL, &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "gnuplot is not installed");
  s = get_file(temp_path("picture.svg")); /* what failed left it as it was */
  assert_string_equal(s, "drawn\n");
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors),  cmocka_unit_test(test_fit),
      cmocka_unit_test(test_parts),   cmocka_unit_test(test_pareto),
      cmocka_unit_test(test_rows),    cmocka_unit_test(test_many_groups),
      cmocka_unit_test(test_trace),   cmocka_unit_test(test_names),
      cmocka_unit_test(test_gnuplot),
  };
  return cmocka_run_group_tests_name("plot_kinds", tests, make_temp_dir,
                                     remove_temp_dir);
}
