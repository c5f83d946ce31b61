/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames: where the quantities of a row come from. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "table.h"
#include "tests/messages.h"

/* NaN is equal to NaN here. */
static void check(const struct table *t, struct dl_row_ref q, double want) {
  double got = number(t, q);

  if (!(fabs(got - want) <= 1e-14 * fabs(want)) &&
      !(got != got && want != want))
    fail_msg("'%s': got %.17g, want %.17g", dl_plan_step_name(t->f, q.step),
             got, want);
}

static void numbers_and_texts(void **state) {
  struct table t = open_table("arch,batch_size,note\nnet,32,7\n,,\n");
  struct dl_row_ref arch = quantity(&t, "arch", true),
                    batch = quantity(&t, "batch_size", false);
  struct dl_row_ref note = quantity(&t, "note", false),
                    none = quantity(&t, "none", false);

  (void)state;
  load(&t);
  row(&t, 0);
  assert_string_equal(text_of(&t, arch), "net");
  check(&t, batch, 32);
  check(&t, note, 7);
  assert_string_equal(text_of(&t, note), "7");
  check(&t, none, NAN);
  assert_null(text_of(&t, none));
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  row(&t, 1);
  assert_null(text_of(&t, arch));
  check(&t, batch, NAN);
  assert_int_equal(t.row->fault.kind, DL_FAULT_ABSENT);
  assert_int_equal(t.row->fault.step, arch.step);
  close_table(&t);
}

/* Figures of resnet50 and RTX 3090 are those of the catalogue's sources. */
static void order_of_places(void **state) {
  static const char text[] = "arch,gpu,image_px,batch_size,macs_g,params_m\n"
                             "resnet50,rtx 3090,224,5,,\n"
                             "resnet50,rtx 3090,224,,9,99\n";
  struct table t = open_table(text);

  (void)state;
  set(&t, "batch_size", "6");
  set(&t, "epochs", "3");
  define(&t, "params_m=batch_size*2");
  struct dl_row_ref x = quantity(&t, "batch_size", false),
                    macs = quantity(&t, "macs_g", false);
  struct dl_row_ref params = quantity(&t, "params_m", false),
                    y = quantity(&t, "epochs", false);
  struct dl_row_ref tdp = quantity(&t, "gpu.tdp_w", false);
  struct dl_row_ref acts = quantity(&t, "acts_m", false);
  load(&t);
  row(&t, 0);
  check(&t, x, 5); /* column before setting */
  check(&t, y, 3);
  check(&t, macs, 4.11);  /* empty cell: derived from the descriptor */
  check(&t, params, 10);  /* definition before descriptor */
  check(&t, acts, 11.11); /* no column at all */
  check(&t, tdp, 350);
  row(&t, 1);
  check(&t, x, 6);       /* empty cell: setting */
  check(&t, macs, 9);    /* column before descriptor */
  check(&t, params, 12); /* definition before column */
  close_table(&t);

  t = open_table(text);
  set(&t, "batch_size", "6");
  override(&t, "batch_size=7");
  override(&t, "macs_g=8");
  override(&t, "params_m=1");
  override(&t, "gpu.tdp_w=100");
  override(&t, "arch.acts_m=2");
  define(&t, "params_m=batch_size*2");
  x = quantity(&t, "batch_size", false), macs = quantity(&t, "macs_g", false);
  params = quantity(&t, "params_m", false),
  tdp = quantity(&t, "gpu.tdp_w", false);
  acts = quantity(&t, "acts_m", false);
  load(&t);
  for (size_t i = 0; i < 2; i++) {
    row(&t, i);
    check(&t, x, 7);
    check(&t, macs, 8);
    check(&t, params, 1);
    check(&t, tdp, 100);
    check(&t, acts, 2);
  }
  close_table(&t);
}

/* An unknown definition passes on to the column, and a required name is then
 * there. */
static void definitions_fall_through(void **state) {
  struct table t = open_table("energy_j,a,b\n5,1,2\n6,1,\n,1,\n");

  (void)state;
  define(&t, "energy_j=a+b");
  struct dl_row_ref e = quantity(&t, "energy_j", true);
  load(&t);
  row(&t, 0);
  check(&t, e, 3);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  row(&t, 1);
  check(&t, e, 6);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  row(&t, 2);
  assert_int_equal(t.row->fault.kind, DL_FAULT_ABSENT);
  assert_int_equal(t.row->fault.step, e.step);
  close_table(&t);
}

static void definitions_rename(void **state) {
  struct table t = open_table("model,GPU power (W),n\nResNet-50,120,4\n");

  (void)state;
  define(&t, "arch=model");
  define(&t, "gpu_power_w=`GPU power (W)`");
  define(&t, "twice=2*n");
  define(&t, "four=2*twice");
  struct dl_row_ref arch = quantity(&t, "arch", true),
                    power = quantity(&t, "gpu_power_w", true);
  struct dl_row_ref four = quantity(&t, "four", true),
                    macs = quantity(&t, "macs_g", true);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  assert_string_equal(text_of(&t, arch), "ResNet-50");
  check(&t, power, 120);
  check(&t, four, 16);
  check(&t, macs, 4.11); /* the renamed column is looked up */
  assert_string_equal(t.row->found.arch->head.id, "resnet50");
  close_table(&t);
}

static void definitions_of_themselves(void **state) {
  struct table t = open_table("macs_g,a,b\n8,2,3\n");

  (void)state;
  define(&t, "macs_g=macs_g/2");
  define(&t, "a=b+1");
  define(&t, "b=a+10");
  struct dl_row_ref macs = quantity(&t, "macs_g", true),
                    a = quantity(&t, "a", true);
  struct dl_row_ref b = quantity(&t, "b", true);
  load(&t);
  row(&t, 0);
  check(&t, macs, 4);
  check(&t, a, 13); /* a = b + 1 with b = (column a) + 10 */
  (void)b;
  close_table(&t);

  /* There is no column to build on. */
  struct dl_row_ref q;
  t = open_table("arch\nresnet50\n");
  define(&t, "ram_gb=ram_gb/2");
  assert_int_equal(dl_plan_quantity(t.f, "ram_gb", false, &q, &t.d), DL_EUSAGE);
  assert_error_has(&t.d, DL_EUSAGE, MSG_no_column_nearest("ram_gb", ""));
  close_table(&t);
}

static void derives(void **state) {
  struct table t =
      open_table("energy_j,epochs,duration_s,epoch_s,gpu_energy_j\n"
                 "600,10,50,,500\n"
                 "600,10,,6,500\n"
                 "600,,50,,\n");
  struct dl_row_ref e = quantity(&t, "epoch_energy_j", false);
  struct dl_row_ref dur = quantity(&t, "duration_s", false),
                    ep = quantity(&t, "epoch_s", false);
  struct dl_row_ref p = quantity(&t, "gpu_power_w", false);

  (void)state;
  load(&t);
  row(&t, 0);
  check(&t, e, 60);
  check(&t, dur, 50);
  check(&t, ep, 5);
  check(&t, p, 10);
  row(&t, 1);
  check(&t, dur, 60);
  check(&t, ep, 6);
  check(&t, p, 500.0 / 60);
  row(&t, 2);
  check(&t, e, NAN);
  check(&t, ep, NAN);
  check(&t, p, NAN);
  close_table(&t);
}

/* Whichever is asked for first, a definition counts in what follows. */
static void order_of_slots_does_not_count(void **state) {
  for (int first = 0; first < 2; first++) {
    struct table t = open_table("epoch_s,minutes,epochs\n,1,10\n3,,10\n");
    struct dl_row_ref ep = {0}, dur;
    define(&t, "duration_s=minutes*60");
    if (first == 0)
      ep = quantity(&t, "epoch_s", false);
    dur = quantity(&t, "duration_s", false);
    ep = quantity(&t, "epoch_s", false);
    load(&t);
    row(&t, 0);
    check(&t, dur, 60);
    check(&t, ep, 6);
    row(&t, 1);
    check(&t, dur, 30);
    check(&t, ep, 3);
    close_table(&t);

    /* The input size decides on the architecture's figures. */
    t = open_table("arch,side\nresnet50,128\n");
    define(&t, "image_px=side");
    struct dl_row_ref px = {0};
    if (first == 0)
      px = quantity(&t, "image_px", true);
    struct dl_row_ref macs = quantity(&t, "macs_g", true);
    px = quantity(&t, "image_px", true);
    load(&t);
    row(&t, 0);
    check(&t, px, 128);
    check(&t, macs, 1.26219);
    close_table(&t);
  }
  (void)state;
}

/* The peak rate of derived.c: FP32, or half of TF32 where that is more. */
static void derives_the_peak_rate(void **state) {
  static const struct {
    const char *gpu;
    double peak;
  } cases[] = {{"rtx-3090", 35.58}, {"a100-sxm4-40gb", 78}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_table(NULL);
    set(&t, "gpu", cases[i].gpu);
    struct dl_row_ref peak = quantity(&t, "peak_tflops", true);
    load(&t);
    row(&t, 0);
    check(&t, peak, cases[i].peak);
    close_table(&t);
  }
}

static void scales_architectures(void **state) {
  struct table t = open_table("arch,image_px\nresnet50,448\nresnet50,128\n"
                              "resnet50,\nno such,64\n");
  struct dl_row_ref macs = quantity(&t, "macs_g", false);

  (void)state;
  load(&t);
  row(&t, 0);
  assert_true(t.row->found.scaled);
  assert_true(number(&t, macs) > 2 * 4.11);
  row(&t, 1);
  check(&t, macs, 1.26219); /* listed */
  assert_false(t.row->found.scaled);
  row(&t, 2);
  check(&t, macs, 4.11); /* the reference input */
  row(&t, 3);
  check(&t, macs, NAN);
  assert_null(t.row->found.arch);
  close_table(&t);
}

static void aliases(void **state) {
  struct table t = open_table("arch,gpu\nmy-net,card\nresnet50,rtx-3090\n");

  (void)state;
  assert_ok(dl_plan_alias(t.f, "my-net=resnet50", &t.d), &t.d);
  assert_ok(dl_plan_alias(t.f, "card=RTX 3070", &t.d), &t.d);
  struct dl_row_ref macs = quantity(&t, "macs_g", true),
                    tdp = quantity(&t, "gpu.tdp_w", true);
  struct dl_row_ref arch = quantity(&t, "arch", true);
  load(&t);
  row(&t, 0);
  check(&t, macs, 4.11);
  check(&t, tdp, 220);
  assert_string_equal(text_of(&t, arch), "my-net");
  assert_string_equal(t.row->found.gpu->head.id, "rtx-3070");
  row(&t, 1);
  check(&t, tdp, 350);
  close_table(&t);
}

static void finds_what_it_has(void **state) {
  static const struct {
    const char *name;
    bool has;
  } cases[] = {
      {"arch", true},           {"energy_j", true},   {"gpu", false},
      {"macs_g", true},         {"arch.depth", true}, {"gpu.tdp_w", false},
      {"epoch_energy_j", true}, {"epoch_s", false},   {"defined", true},
      {"batch_size", true},     {"given", true},      {"arch.nothing", false},
      {"peak_tflops", false},
  };
  struct table t = open_table("arch,energy_j,epochs\nresnet50,1,2\n");

  (void)state;
  define(&t, "defined=epochs");
  set(&t, "batch_size", "2");
  override(&t, "given=1");
  for (size_t i = 0; i < COUNT(cases); i++)
    if (dl_plan_has(t.f, cases[i].name) != cases[i].has)
      fail_msg("'%s'", cases[i].name);
  close_table(&t);
}

static void binds_formulas(void **state) {
  struct table t = open_table("a,b\n2,\n");
  struct dl_formula *g;
  struct dl_row_ref *vars;

  (void)state;
  assert_ok(dl_formula_parse(&g, "a*coalesce(b, 10)", &t.d), &t.d);
  assert_ok(dl_plan_bind(t.f, g, true, &vars, &t.d), &t.d);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE); /* b is not needed */
  assert_true(dl_formula_eval(g, vars, t.row) == 20);
  free(vars);
  dl_formula_free(g);
  assert_ok(dl_formula_parse(&g, "a*no_such", &t.d), &t.d);
  assert_int_equal(dl_plan_bind(t.f, g, true, &vars, &t.d), DL_EUSAGE);
  assert_null(vars);
  assert_error_has(&t.d, DL_EUSAGE,
                   "runs.csv: " MSG_no_column_nearest("no_such", ""));
  dl_formula_free(g);
  close_table(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_and_texts),
      cmocka_unit_test(order_of_places),
      cmocka_unit_test(definitions_fall_through),
      cmocka_unit_test(definitions_rename),
      cmocka_unit_test(definitions_of_themselves),
      cmocka_unit_test(derives),
      cmocka_unit_test(order_of_slots_does_not_count),
      cmocka_unit_test(derives_the_peak_rate),
      cmocka_unit_test(scales_architectures),
      cmocka_unit_test(aliases),
      cmocka_unit_test(finds_what_it_has),
      cmocka_unit_test(binds_formulas),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
