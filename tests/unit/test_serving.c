/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Language models that serve: the formula against an independent
 * implementation (tests/reference/serving_reference.py), the fit against
 * data made by known constants, and its state. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "math/regression/regression.h"
#include "physics/rows/physics_regression.h"
#include "physics/rows/physics_rows.h"
#include "physics/serving/serving_inputs.h"
#include "gradient.h"
#include "predict_rows.h"
#include "unit.h"
#include "tests/messages.h"

#define MATCH 1e-9

/* Inputs of the reference, in its order. */
static const double constants[DL_N_SERVING] = {
    [DL_SERVE_EM] = .861,    [DL_SERVE_EC] = .926,       [DL_SERVE_EP] = .987,
    [DL_SERVE_TAU] = 85e-6,  [DL_SERVE_ALPHA] = 24.2e-6, [DL_SERVE_X] = .71,
    [DL_SERVE_C0] = .692e-3, [DL_SERVE_C1] = 30.2e-6,    [DL_SERVE_OLD] = 13.5,
    [DL_SERVE_UNEVEN] = 1.4, [DL_SERVE_PA] = .181,       [DL_SERVE_PU] = .126,
    [DL_SERVE_PF] = 1.53,    [DL_SERVE_PM] = .577,       [DL_SERVE_PCAP] = .95,
    [DL_SERVE_KAPPA] = .6,   [DL_SERVE_C2] = 13e-6};

/* Factors; 0 stands for 1. */
static const double none[DL_N_SERVING_EFFECTS];
static const double some[DL_N_SERVING_EFFECTS] = {
    [DL_SERVE_EFFECT_GPU_COMPUTE] = 1.15, [DL_SERVE_EFFECT_GPU_MEMORY] = .9,
    [DL_SERVE_EFFECT_GPU_POWER] = 1.07,   [DL_SERVE_EFFECT_ARCH_TIME] = .93,
    [DL_SERVE_EFFECT_ARCH_POWER] = 1.02,  [DL_SERVE_EFFECT_PROMPT] = 1.6};

#define H100_AT(limit_w)                                                       \
  .peak = 989.4e12, .peak_keys = 989.4e12, .bandwidth = 3350e9, .link = 450e9, \
  .tdp = 700, .limit = limit_w, .replicas = 1
#define H100 H100_AT(700)
#define A100                                                                   \
  .peak = 312e12, .peak_keys = 312e12, .bandwidth = 1555e9, .link = 300e9,     \
  .tdp = 400, .limit = 400, .replicas = 1
#define L40                                                                    \
  .peak = 181e12, .peak_keys = 181e12, .bandwidth = 864e9, .link = 31.5e9,     \
  .tdp = 300, .limit = 300, .replicas = 1
#define IN_16_BITS .weight_bytes = 2, .kept_bytes = 2
#define SHAPE_OF(n)                                                            \
  .pair_macs = 262144, .kept = 65536, .layers = 32, .width = 4096, .beams = n
#define SHAPE SHAPE_OF(1)
#define DENSE .weights = 7504658432, .token_weights = 7504658432, SHAPE
#define EXPERTS (8 * 32 * 3 * 4096 * 14336.)
#define MIXTURE                                                                \
  .weights = 1.47e9, .experts = EXPERTS, .share = .25,                         \
  .token_weights = 1.47e9 + EXPERTS / 4
#define MIXED MIXTURE, SHAPE
#define FOUR_BEAMS MIXTURE, SHAPE_OF(4)

static const struct {
  const double *fx;
  struct dl_serving_inputs load;
} cases[] = {
    {none,
     {DENSE, H100, IN_16_BITS, .batch = 32, .prompt = 512, .answer = 256,
      .n_gpus = 1}},
    {some,
     {DENSE, H100, IN_16_BITS, .batch = 32, .prompt = 512, .answer = 256,
      .n_gpus = 1}},
    {none,
     {DENSE, A100, IN_16_BITS, .batch = 1, .prompt = 100, .answer = 50,
      .n_gpus = 1, .old = 1}},
    {none,
     {MIXED, H100, IN_16_BITS, .batch = 8, .prompt = 300, .answer = 400,
      .n_gpus = 4}},
    {some,
     {MIXED, .peak = 1978.9e12, .peak_keys = 989.4e12, .bandwidth = 3350e9,
      .link = 450e9, .tdp = 700, .limit = 700, .replicas = 1, .weight_bytes = 1,
      .kept_bytes = 2, .batch = 700, .prompt = 300, .answer = 400,
      .n_gpus = 2}},
    {none,
     {DENSE, L40, IN_16_BITS, .batch = 16, .prompt = 512, .answer = 256,
      .n_gpus = 8}},
    {none, {DENSE, H100, IN_16_BITS, .batch = 64, .prompt = 2000, .n_gpus = 1}},
    {none, {DENSE, H100, IN_16_BITS, .batch = 64, .answer = 300, .n_gpus = 1}},
    {none,
     {DENSE, H100, IN_16_BITS, .batch = 32, .prompt = 512, .answer = 256,
      .n_gpus = 1, .window = 600, .windowed = .75}},
    {some,
     {DENSE, H100, IN_16_BITS, .batch = 8, .prompt = 4000, .answer = 500,
      .n_gpus = 1, .window = 1000, .windowed = .5}},
    {none,
     {DENSE, H100_AT(350), IN_16_BITS, .batch = 32, .prompt = 512,
      .answer = 256, .n_gpus = 1}},
    {none,
     {FOUR_BEAMS, H100, IN_16_BITS, .batch = 8, .prompt = 300, .answer = 400,
      .n_gpus = 4}},
};

/* What serving_reference.py prints: time, power, prefill s, decode s, prefill
 * J, decode J. */
static const struct {
  const char *name;
  double x[6];
} expected[] = {
    {"dense",
     {3.0830032908165323, 503.88926418342476, 0.25411638939457437,
      2.8288869014219582, 318.60788131894378, 1234.8843783656757}},
    {"effects",
     {3.2585676183072101, 558.95424319165181, 0.33083535646104789,
      2.9277322618461623, 443.05967411828374, 1378.3305228614463}},
    {"one",
     {1.1921167717169987, 199.30008554745194, 0.0048825561987460419,
      1.1872342155182527, 3.5463098187943762, 234.04266476695571}},
    {"mixture",
     {6.2903719139540311, 442.26997123041633, 0.027900508295060224,
      6.2624714056589719, 116.40666082949549, 11011.763760822776}},
    {"mixture_fp8",
     {28.817438783784546, 493.15914132980242, 3.019784556446099,
      25.797654227338448, 7114.8390328306823, 21308.327699039983}},
    {"slow_link",
     {2.7880754072555836, 146.06242627252061, 0.42287192794152861,
      2.3652034793140548, 625.7934541763376, 2632.0710147396348}},
    {"prompts_alone",
     {2.7530578447500407, 664.53750129475463, 2.7530578447500407, 0,
      1829.5101810701146, 0}},
    {"answers_alone",
     {3.6116781971986462, 443.20912987358213, 0, 3.6116781971986462, 0,
      1600.7287511637999}},
    {"window",
     {3.0674120316663025, 503.62363723551033, 0.25411600972938536,
      2.8132960219369174, 318.62786737466348, 1226.1933369130861}},
    {"window_passed",
     {5.8882956696873192, 567.67457484620763, 0.68313992970262405,
      5.2051557399846953, 909.79342519613704, 2432.8423156623771}},
    {"capped",
     {3.5781178348528559, 331.19181009904668, 0.30144343464780343,
      3.276674400205053, 243.04217796412289, 942.00114450847627}},
    {"beams",
     {7.3155367772562983, 441.35359901854821, 0.027900489477616145,
      7.2876362877786827, 116.41600354133787, 12798.537938037136}},
};

enum { CASES = sizeof cases / sizeof *cases };

static void logs(const double *factors, double fx[DL_N_SERVING_EFFECTS]) {
  for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
    fx[i] = factors[i] > 0 ? log(factors[i]) : 0;
}

static void as_the_reference(void **state) {
  (void)state;
  assert_int_equal(CASES, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < CASES; i++) {
    double fx[DL_N_SERVING_EFFECTS];
    struct dl_serving_cost c;
    logs(cases[i].fx, fx);
    dl_serving_cost_of(constants, fx, &cases[i].load, &c);
    const double got[] = {c.time_s,   c.power_w,   c.prefill_s,
                          c.decode_s, c.prefill_j, c.decode_j};
    for (size_t j = 0; j < 6; j++)
      if (!(fabs(got[j] - expected[i].x[j]) <=
            MATCH * fmax(fabs(expected[i].x[j]), 1e-3)))
        fail_msg("%s: value %zu is %.17g, not %.17g", expected[i].name, j,
                 got[j], expected[i].x[j]);
  }
}

/* What decoding consists of adds up to it. */
static void parts_add_up(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    struct dl_serving_cost c;
    dl_serving_cost_of(constants, none, &cases[i].load, &c);
    double sum =
        c.memory_s + c.compute_s + c.layers_s + c.exchange_s + c.host_s;
    assert_true(fabs(sum - c.decode_s) <= 1e-12 * fmax(c.decode_s, 1e-9));
    assert_true(fabs(c.prefill_s + c.decode_s - c.time_s) <= 1e-12 * c.time_s);
    double energy = c.power_w * c.time_s * cases[i].load.n_gpus;
    assert_true(fabs(c.prefill_j + c.decode_j - energy) <= 1e-12 * energy);
  }
}

static void derivatives_as_differences(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (size_t k = 0; k < 2; k++) {
      double fx[DL_N_SERVING_EFFECTS];
      struct dl_serving_inputs in = cases[i].load;
      logs(k ? some : none, fx);
      check_gradient(&dl_serving_physics, constants, fx, &in);
      in.limit *= 0.4; /* it binds */
      check_gradient(&dl_serving_physics, constants, fx, &in);
    }
}

/* Rows of a made-up table: two GPUs, networks of five sizes, eight batches. */
enum { ROWS = 80 };

static void make_row(struct dl_serving_inputs *in, size_t i) {
  static const char *const gpu_names[] = {"g0", "g1"}, *const nets[] = {
                                                           "n0", "n1", "n2",
                                                           "n3", "n4"};
  size_t net = i / 2 % 5;
  double billions = 3 * exp2((double)net);
  const double gpus[2][4] = {{989.4, 3350, 450, 700}, {312, 1555, 300, 400}};
  const double *gpu = gpus[i % 2];
  memset(in, 0, sizeof *in);
  in->batch = exp2((double)(i / 10) + 2);
  in->prompt = 200;
  in->answer = 400;
  in->weights = in->token_weights = 1e9 * billions;
  in->pair_macs = 262144;
  in->kept = 65536;
  in->layers = 32 + 8 * (double)net;
  in->width = 4096;
  in->weight_bytes = in->kept_bytes = 2;
  in->n_gpus = net < 3 ? 1 : 4;
  in->peak = in->peak_keys = 1e12 * gpu[0];
  in->bandwidth = 1e9 * gpu[1];
  in->link = 1e9 * gpu[2];
  in->tdp = in->limit = gpu[3];
  in->replicas = 1;
  struct dl_grouping *p = &in->grouping;
  p->name[DL_NAME_GPU] = gpu_names[i % 2];
  p->name[DL_NAME_ARCH] = nets[net];
  p->name[DL_NAME_DATASET] = "chat";
  p->level[DL_SERVE_FACTOR_GPU].name = DL_NAME_GPU;
  p->level[DL_SERVE_FACTOR_ARCH].name = DL_NAME_ARCH;
  p->level[DL_SERVE_FACTOR_PROMPTS].name = DL_NAME_DATASET;
  p->level_sd = .7;
}

struct table {
  struct dl_serving_inputs in[ROWS];
  double value[ROWS][DL_N_SERVING_TARGETS];
  double energy[ROWS]; /* logarithms */
  struct dl_observed observed[ROWS];
};

/* Costs by the constants above, with prompts 1.5 times as long as said. */
static void make_table(struct table *t) {
  double fx[DL_N_SERVING_EFFECTS] = {[DL_SERVE_EFFECT_PROMPT] = log(1.5)};
  for (size_t i = 0; i < ROWS; i++) {
    make_row(&t->in[i], i);
    dl_serving_physics.predict(constants, fx, &t->in[i], t->value[i]);
    t->energy[i] = t->value[i][DL_SERVE_TARGET_ENERGY];
    t->value[i][DL_SERVE_TARGET_ENERGY] = NAN;
    t->observed[i] = (struct dl_observed){&t->in[i], t->value[i]};
  }
}

/* A state that reads back predicts the same. */
static void fits_and_reads_back(void **state) {
  static struct table t;
  (void)state;
  const struct dl_regression *method = dl_regression_find("serving");
  const struct dl_observations rows = {
      .n = ROWS, .row = t.observed, .target = DL_SERVE_TARGET_ENERGY};
  struct dl_design s = {.rows = &rows, .target = DL_SERVE_TARGET_ENERGY};
  struct dl_diag d = {0};
  struct dl_arrays saved = {0};
  void *fitted = NULL, *again = NULL;
  gsl_vector *got = gsl_vector_alloc(ROWS), *same = gsl_vector_alloc(ROWS);
  make_table(&t);
  assert_non_null(method);
  assert_int_equal(method->fit(method, &fitted, &s, NULL, &d), DL_OK);
  predict_rows(fitted, t.observed, ROWS, DL_SERVE_TARGET_ENERGY, got->data);
  for (size_t i = 0; i < ROWS; i++)
    if (!(fabs(gsl_vector_get(got, i) - t.energy[i]) < .05))
      fail_msg("row %zu: off by %g", i, gsl_vector_get(got, i) - t.energy[i]);
  method->save(fitted, &saved);
  assert_int_equal(method->restore(method, &again, &saved, 0, &d), DL_OK);
  predict_rows(again, t.observed, ROWS, DL_SERVE_TARGET_ENERGY, same->data);
  assert_memory_equal(got->data, same->data, ROWS * sizeof(double));
  struct dl_serving_cost e;
  struct dl_fit_row first;
  dl_fit_row_make(&first, again, &t.in[0]);
  dl_serving_cost_of(first.fit->c, first.fx, &t.in[0], &e);
  double energy = exp(gsl_vector_get(got, 0)) * t.in[0].batch;
  assert_true(fabs(e.prefill_j + e.decode_j - energy) < 1e-9 * energy);
  assert_non_null(e.bound);
  method->free(fitted);
  method->free(again);
  dl_arrays_free(&saved);
  gsl_vector_free(got);
  gsl_vector_free(same);
  dl_diag_free(&d);
}

static void refuses(void **state) {
  static struct table t;
  (void)state;
  const struct dl_regression *method = dl_regression_find("serving");
  const struct dl_observations rows = {
      .n = ROWS, .row = t.observed, .target = DL_SERVE_TARGET_ENERGY};
  struct dl_design s = {.rows = &rows, .target = DL_SERVE_TARGET_ENERGY},
                   matrix = {0};
  struct dl_diag d = {0};
  void *fitted = NULL;
  make_table(&t);
  t.in[3].bandwidth = 0;
  assert_int_equal(method->fit(method, &fitted, &s, NULL, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_row_batch_gpus_weights("4"));
  dl_diag_free(&d);
  t.in[3].bandwidth = 1555e9;
  t.in[5].prompt = t.in[5].answer = 0;
  assert_int_equal(method->fit(method, &fitted, &s, NULL, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_row_neither_prompt_nor("6"));
  dl_diag_free(&d);
  assert_int_equal(method->fit(method, &fitted, &matrix, NULL, &d), DL_EUSAGE);
  assert_null(fitted);
  dl_diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_the_reference),
      cmocka_unit_test(parts_add_up),
      cmocka_unit_test(derivatives_as_differences),
      cmocka_unit_test(fits_and_reads_back),
      cmocka_unit_test(refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
