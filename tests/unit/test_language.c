/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training of language models: the formula against an independent
 * implementation (tests/reference/language_reference.py), its derivatives, the
 * fit against data made by known constants, and its state. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "math/regression/regression.h"
#include "physics/language/language_inputs.h"
#include "physics/language/language_parts.h"
#include "physics/rows/physics_regression.h"
#include "quantities/quantities.h"
#include "run/setup/training_setup.h"
#include "gradient.h"
#include "predict_rows.h"
#include "unit.h"

#define MATCH 1e-9

/* Inputs of the reference, in its order. */
static const double constants[DL_N_LANGUAGE] = {
    [DL_LANG_EC] = .7,      [DL_LANG_EC_TF32] = .65,  [DL_LANG_EC_FP32] = .98,
    [DL_LANG_EC_FP8] = .8,  [DL_LANG_TH] = .2,        [DL_LANG_H0] = 40,
    [DL_LANG_EA] = .28,     [DL_LANG_PHI] = .52,      [DL_LANG_EM] = .55,
    [DL_LANG_CT] = 3.5,     [DL_LANG_FUSED] = .4,     [DL_LANG_EAGER] = 2.3,
    [DL_LANG_WOPT] = 1.9,   [DL_LANG_TAU] = 2e-5,     [DL_LANG_C0] = 2.6e-3,
    [DL_LANG_GRAPH] = .33,  [DL_LANG_XL] = .54,       [DL_LANG_XP] = .18,
    [DL_LANG_XN] = 1.5,     [DL_LANG_XTP] = .42,      [DL_LANG_ALPHA] = 2.5e-6,
    [DL_LANG_STRAG] = .016, [DL_LANG_UNKNOWN] = 1.25, [DL_LANG_PA] = .1,
    [DL_LANG_PB] = .05,     [DL_LANG_PU] = .3,        [DL_LANG_PF] = .65,
    [DL_LANG_PM] = .42,     [DL_LANG_PCAP] = .96,     [DL_LANG_KAPPA] = .47};

/* Factors. */
static const double none[DL_N_LANGUAGE_EFFECTS] = {1, 1, 1, 1, 1, 1, 1};
/* Together GPU and source draw 1.06 times the power. */
static const double some[DL_N_LANGUAGE_EFFECTS] = {
    [DL_LANG_EFFECT_GPU_TIME] = .93,
    [DL_LANG_EFFECT_GPU_POWER] = 1.06 / .96,
    [DL_LANG_EFFECT_ARCH_TIME] = 1.05,
    [DL_LANG_EFFECT_STACK_TIME] = .9,
    [DL_LANG_EFFECT_FRAMEWORK_TIME] = 1.1,
    [DL_LANG_EFFECT_PAIR_TIME] = 1,
    [DL_LANG_EFFECT_SOURCE_POWER] = .96};

#define A100                                                                   \
  .peak = 312e12, .peak_16 = 312e12, .bandwidth = 2039e9, .link = 300e9,       \
  .network = 25e9, .tdp = 400, .limit = 400, .domain = 8
#define H100                                                                   \
  .peak = 1978.9e12, .peak_16 = 989.4e12, .bandwidth = 3350e9, .link = 450e9,  \
  .network = 50e9, .tdp = 700, .limit = 450, .domain = 8
#define L40S                                                                   \
  .peak = 362e12, .peak_16 = 362e12, .bandwidth = 864e9, .link = 31.5e9,       \
  .network = 12.5e9, .tdp = 350, .limit = 350, .domain = 8, .pcie = 1
#define NETWORK                                                                \
  .tokens = 2048, .linear = 6.6e9, .attention = 131072 * 1024.,                \
  .params = 6.7e9, .layers = 32, .hidden = 4096, .vocabulary = 50000,          \
  .state_bytes = 30
#define FULL .passes = 3, .trained = 6.7e9
#define IN_16_BITS .element = 2, .attention_passes = 3.5
#define EXPERTS .experts = 5e9, .trained_experts = 5e9
#define ADAPTED .adapted = 32 * (4 * (4096 + 4096.) + 3 * (4096 + 11008.))
#define ZERO3                                                                  \
  .sequences = 8, .micro_batches = 2, .n_gpus = 64, .tensor = 1,               \
  .pipeline = 1, .virtual_stages = 1, .shards = 64, .nodes = 8, .gathers = 1

static const struct {
  const double *fx;
  struct dl_language_inputs in;
} cases[] = {
    {none, {A100, NETWORK, FULL, IN_16_BITS, ZERO3}},
    {some, {A100, NETWORK, FULL, IN_16_BITS, ZERO3}},
    {none,
     {A100, NETWORK, FULL, ZERO3, .element = 2, .attention_passes = 4.5,
      .again = 1, .unknown = 1}},
    {some,
     {H100, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 16,
      .n_gpus = 512, .tensor = 4, .pipeline = 8, .virtual_stages = 1,
      .shards = 16, .nodes = 64, .format = DL_LANG_FP8, .fused = 1,
      .graphs = 1}},
    {some,
     {H100, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 16,
      .n_gpus = 512, .tensor = 4, .pipeline = 8, .virtual_stages = 4,
      .shards = 16, .nodes = 64, .format = DL_LANG_FP8, .fused = 1,
      .graphs = 1}},
    {none,
     {A100, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 2,
      .n_gpus = 8, .tensor = 2, .pipeline = 4, .virtual_stages = 2, .shards = 1,
      .nodes = 1}},
    {none,
     {L40S, NETWORK, IN_16_BITS, .passes = 2.006, .trained = 4e7, .unpack = 5,
      .sequences = 2, .micro_batches = 1, .n_gpus = 4, .tensor = 1,
      .pipeline = 1, .virtual_stages = 1, .shards = 1, .nodes = 1, ADAPTED}},
    {none,
     {L40S, NETWORK, IN_16_BITS, .passes = 2.006, .trained = 4e7,
      .sequences = 1, .micro_batches = 1, .n_gpus = 2, .tensor = 2,
      .pipeline = 1, .virtual_stages = 1, .shards = 1, .nodes = 1, .again = 1,
      .fused = 1, ADAPTED}},
    {none,
     {.peak = 362e12,
      .peak_16 = 362e12,
      .bandwidth = 864e9,
      .gddr = 864,
      .chips = 1344,
      .link = 31.5e9,
      .network = 12.5e9,
      .tdp = 350,
      .limit = 200,
      .domain = 8,
      .pcie = 1,
      NETWORK,
      FULL,
      IN_16_BITS,
      .sequences = .5,
      .micro_batches = 1,
      .n_gpus = 8,
      .tensor = 2,
      .pipeline = 1,
      .virtual_stages = 1,
      .shards = 4,
      .nodes = 1}},
    {none,
     {A100, NETWORK, FULL, .element = 4, .attention_passes = 3,
      .scores = 32 * 32 * 2048., .sequences = 8, .micro_batches = 2,
      .n_gpus = 1, .tensor = 1, .pipeline = 1, .virtual_stages = 1, .shards = 1,
      .nodes = 1, .format = DL_LANG_TF32}},
    {some,
     {A100, NETWORK, FULL, IN_16_BITS, .sequences = 8, .micro_batches = 4,
      .n_gpus = 16, .tensor = 1, .pipeline = 1, .virtual_stages = 1,
      .shards = 1, .nodes = 2, .by_weight = 1}},
    /* 4 GPUs in each of 4 nodes have 16 of the 64 experts, a token 4 */
    {some,
     {A100, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 4,
      .again = 1, .n_gpus = 64, .tensor = 2, .pipeline = 2, .virtual_stages = 1,
      .shards = 16, .nodes = 8, EXPERTS, .expert_parallel = 16,
      .moe_layers = 31, .members = 4, .to_members = 3,
      .to_nodes = 3 * (1 - 194580 / 635376.)}},
    {none,
     {H100,
      NETWORK,
      FULL,
      IN_16_BITS,
      .sequences = 2,
      .micro_batches = 2,
      .n_gpus = 64,
      .tensor = 1,
      .pipeline = 1,
      .virtual_stages = 1,
      .shards = 1,
      .nodes = 8,
      EXPERTS,
      .expert_parallel = 4,
      .moe_layers = 16,
      .members = 4,
      .to_members = 1.5,
      .expert_linear = 2e9,
      .chosen = 2,
      .expert_width = 1408,
      .own_experts = 2,
      .launched = 2}},
    /* 8 of 32 experts on 4 nodes */
    {none,
     {A100, NETWORK, FULL, IN_16_BITS, ZERO3, EXPERTS, .expert_parallel = 32,
      .moe_layers = 32, .members = 8, .to_members = 7,
      .to_nodes = 3 * (1 - 735471 / 10518300.)}},
    /* 6 of 64 experts, 24 tokens each of 256, 24 of 32 layers */
    {some,
     {A100,
      NETWORK,
      FULL,
      IN_16_BITS,
      .tiles = 16384 * 108.,
      .again = 1,
      .sequences = .125,
      .micro_batches = 2,
      .n_gpus = 8,
      .tensor = 1,
      .pipeline = 1,
      .virtual_stages = 1,
      .shards = 8,
      .nodes = 1,
      .gathers = 1,
      .expert_parallel = 1,
      .moe_layers = 24,
      .expert_linear = 3e9,
      .chosen = 6,
      .expert_width = 768,
      .own_experts = 64,
      .launched = 1}},
    {some,
     {A100, NETWORK, FULL, IN_16_BITS, .tiles = 16384 * 108., .sequences = .5,
      .micro_batches = 2, .n_gpus = 16, .tensor = 2, .pipeline = 1,
      .virtual_stages = 1, .shards = 8, .nodes = 2}},
    {none,
     {L40S, NETWORK, FULL, IN_16_BITS, .sequences = 2, .micro_batches = 2,
      .n_gpus = 4, .tensor = 1, .pipeline = 1, .virtual_stages = 1, .shards = 1,
      .nodes = 1, .reduces_last = 1}},
    {none,
     {A100, NETWORK, FULL, ZERO3, .element = 2, .attention_passes = 4,
      .again = .5}},
    {none,
     {.peak = 918e12,
      .peak_16 = 918e12,
      .bandwidth = 1640e9,
      .link = 400e9,
      .network = 12.5e9,
      .tdp = 390,
      .limit = 390,
      .domain = 8,
      NETWORK,
      FULL,
      IN_16_BITS,
      ZERO3,
      .systolic = 1}},
    {none,
     {A100, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 2,
      .n_gpus = 1, .tensor = 1, .pipeline = 1, .virtual_stages = 1, .shards = 1,
      .nodes = 1, .untuned = 1, .composed = 1}},
    {some,
     {L40S, NETWORK, FULL, IN_16_BITS, .sequences = 1, .micro_batches = 2,
      .n_gpus = 2, .tensor = 1, .pipeline = 1, .virtual_stages = 1, .shards = 1,
      .nodes = 1, .untuned = .5, .unknown = 1}},
};

/* What language_reference.py prints: s, W. */
static const struct {
  const char *name;
  double x[2];
} expected[] = {
    {"zero3", {7.7430527106518632, 357.33388023758494}},
    {"effects", {7.5210143987771154, 365.37499575042756}},
    {"whole", {12.866714086966534, 357.36426307847722}},
    {"pipeline", {0.093153814019088219, 424.27852258230337}},
    {"interleaved", {0.077107753068084067, 428.56587814963615}},
    {"few", {0.32035944372846797, 273.47763992878811}},
    {"adapters", {1.2448999661984841, 299.57171569632209}},
    {"adapters again", {0.58538844883223895, 244.53507874291444}},
    {"shared sequences", {1.9074352056772685, 182.14909092696021}},
    {"eager", {15.884411453214103, 343.69085804438481}},
    {"by weight", {15.437219465331145, 364.58285031912391}},
    {"experts", {0.79063897871231514, 344.08598103139929}},
    {"few experts", {0.69927586253623808, 429.33952302356255}},
    {"gathered experts", {7.7281381788768631, 357.05512438293562}},
    {"mixture", {0.55312563736313336, 347.60494170465495}},
    {"tiles", {0.32541596024070918, 363.47796274148851}},
    {"summed up last", {6.5090838278519998, 223.74412610073551}},
    {"half again", {9.0182089077303171, 357.35125613032807}},
    {"systolic", {3.2257531626342666, 337.92348326395546}},
    {"plain", {1.8816980562252104, 343.49489285201071}},
    {"half plain", {5.0485299915532531, 248.93177666248579}},
};

enum { CASES = sizeof cases / sizeof *cases };

static void logs(const double *factors, double fx[DL_N_LANGUAGE_EFFECTS]) {
  for (size_t i = 0; i < DL_N_LANGUAGE_EFFECTS; i++)
    fx[i] = log(factors[i]);
}

static void as_the_reference(void **state) {
  (void)state;
  assert_int_equal(CASES, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < CASES; i++) {
    double fx[DL_N_LANGUAGE_EFFECTS];
    struct dl_language_cost c;
    logs(cases[i].fx, fx);
    dl_language_cost_of(constants, fx, &cases[i].in, &c);
    const double got[] = {c.time, c.power};
    for (size_t j = 0; j < 2; j++)
      if (!(fabs(got[j] - expected[i].x[j]) <= MATCH * expected[i].x[j]))
        fail_msg("%s: value %zu is %.17g, not %.17g", expected[i].name, j,
                 got[j], expected[i].x[j]);
  }
}

static void derivatives_as_differences(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (size_t k = 0; k < 2; k++) {
      double fx[DL_N_LANGUAGE_EFFECTS];
      struct dl_language_inputs in = cases[i].in;
      logs(k ? some : none, fx);
      check_gradient(&dl_language_physics, constants, fx, &in);
      in.limit *= 0.5; /* the power limit binds */
      check_gradient(&dl_language_physics, constants, fx, &in);
    }
}

/* Rows of a made-up table: two GPUs, networks of five sizes, eight batches. */
enum { ROWS = 80 };

static void make_row(struct dl_language_inputs *in, size_t i) {
  static const char *const gpu_names[] = {"g0", "g1"}, *const nets[] = {
                                                           "n0", "n1", "n2",
                                                           "n3", "n4"};
  size_t net = i / 2 % 5;
  double times = exp2((double)net);
  *in = cases[i % 2 ? 3 : 0].in;
  in->sequences = exp2((double)(i / 10) / 2);
  in->linear *= times;
  in->params *= times;
  in->trained *= times;
  in->layers = 24 + 8 * (double)net;
  struct dl_grouping *p = &in->grouping;
  p->name[DL_NAME_GPU] = gpu_names[i % 2];
  p->name[DL_NAME_ARCH] = nets[net];
  p->name[DL_NAME_STACK] = "eager";
  p->level[DL_LANG_FACTOR_GPU].name = DL_NAME_GPU;
  p->level[DL_LANG_FACTOR_ARCH].name = DL_NAME_ARCH;
  p->level[DL_LANG_FACTOR_STACK].name = DL_NAME_STACK;
  p->level[DL_LANG_FACTOR_FRAMEWORK].name = DL_NAME_FRAMEWORK;
}

struct table {
  struct dl_language_inputs in[ROWS];
  double value[ROWS][DL_N_LANGUAGE_TARGETS];
  struct dl_observed observed[ROWS];
};

static void make_table(struct table *t) {
  double fx[DL_N_LANGUAGE_EFFECTS] = {0};
  for (size_t i = 0; i < ROWS; i++) {
    make_row(&t->in[i], i);
    dl_language_physics.predict(constants, fx, &t->in[i], t->value[i]);
    t->observed[i] = (struct dl_observed){&t->in[i], t->value[i]};
  }
}

/* Far from all rows of the fit nothing but the physics predicts. */
static void parts_give_the_rate(void *state,
                                const struct dl_language_inputs *near) {
  struct dl_language_inputs in = *near;
  struct dl_language_parts e;
  in.grouping.x[0] += 100;
  struct dl_fit_row far_row;
  dl_fit_row_make(&far_row, state, &in);
  dl_language_parts_of(&far_row, &e);
  double rate = exp(dl_fit_row_value(&far_row, DL_LANG_TARGET_RATE));
  assert_true(fabs(e.cost.tokens / e.cost.time - rate) < 1e-9 * rate);
  assert_non_null(e.bound);
}

static bool has_neighbours(const void *state,
                           const struct dl_language_inputs *in) {
  struct dl_fit_row row;
  dl_fit_row_make(&row, state, in);
  return dl_fit_row_has_neighbours(&row, DL_LANG_TARGET_RATE);
}

/* Rows of make_table are in one place. At a distance d from it the share in
 * common is exp(-d^2 / 2), one half at sqrt(2 ln 2) = 1.1774. */
static void neighbours_end_at_one_half(const void *state,
                                       const struct dl_language_inputs *near) {
  struct dl_language_inputs in = *near;
  in.grouping.x[0] = 1.177;
  assert_true(has_neighbours(state, &in));
  in.grouping.x[0] = 1.178;
  assert_false(has_neighbours(state, &in));
  in.grouping.x[0] = 0;
  in.grouping.name[DL_NAME_ARCH] = "another";
  assert_false(has_neighbours(state, &in));
}

/* A state that reads back predicts the same. */
static void fits_and_reads_back(void **state) {
  static struct table t;
  (void)state;
  const struct dl_regression *method = dl_regression_find("language");
  const struct dl_observations rows = {
      .n = ROWS, .row = t.observed, .target = DL_LANG_TARGET_RATE};
  struct dl_design s = {.rows = &rows, .target = DL_LANG_TARGET_RATE};
  struct dl_diag d = {0};
  struct dl_arrays saved = {0};
  void *fitted = NULL, *again = NULL;
  gsl_vector *got = gsl_vector_alloc(ROWS), *same = gsl_vector_alloc(ROWS);
  make_table(&t);
  assert_non_null(method);
  assert_int_equal(method->fit(method, &fitted, &s, NULL, &d), DL_OK);
  predict_rows(fitted, t.observed, ROWS, DL_LANG_TARGET_RATE, got->data);
  for (size_t i = 0; i < ROWS; i++) {
    double off = gsl_vector_get(got, i) - t.value[i][DL_LANG_TARGET_RATE];
    if (!(fabs(off) < .05))
      fail_msg("row %zu: off by %g", i, off);
  }
  method->save(fitted, &saved);
  assert_int_equal(method->restore(method, &again, &saved, 0, &d), DL_OK);
  predict_rows(again, t.observed, ROWS, DL_LANG_TARGET_RATE, same->data);
  assert_memory_equal(got->data, same->data, ROWS * sizeof(double));
  parts_give_the_rate(again, &t.in[0]);
  neighbours_end_at_one_half(again, &t.in[0]);
  method->free(fitted);
  method->free(again);
  dl_arrays_free(&saved);
  gsl_vector_free(got);
  gsl_vector_free(same);
  dl_diag_free(&d);
}

/* Bounds that hold whatever the constants: a pipeline of one micro-batch is
 * idle but for one stage, adapters save a third of the products, full
 * checkpointing adds a third. */
static void bounds_of_the_form(void **state) {
  (void)state;
  struct dl_language_inputs in = cases[0].in;
  struct dl_language_cost full, other;
  double fx[DL_N_LANGUAGE_EFFECTS] = {0};
  dl_language_cost_of(constants, fx, &in, &full);
  in.passes = 2;
  dl_language_cost_of(constants, fx, &in, &other);
  assert_true(fabs(other.compute - full.compute * 2 / 3) < 1e-9);
  in.passes = 3;
  in.again = 1;
  dl_language_cost_of(constants, fx, &in, &other);
  assert_true(fabs(other.compute - full.compute * 4 / 3) < 1e-9);
  in = cases[3].in;
  dl_language_cost_of(constants, fx, &in, &full);
  in.micro_batches = 1;
  dl_language_cost_of(constants, fx, &in, &other);
  /* 16 + 7 slots against 1 + 7, with what comes once a step in both. */
  assert_true(other.time > full.time * 8 / 23);
  assert_true(other.time / other.tokens > 4 * full.time / full.tokens);
}

/* As the schedule drawn by Narayanan et al. (arXiv 2104.04473, figure 4) for 8
 * micro-batches, 4 stages and 2 chunks: 19 slots of half a stage. */
static void rounds_of_a_pipeline(void **state) {
  (void)state;
  assert_true(dl_pipeline_rounds(8, 4, 1) == 11);
  assert_true(dl_pipeline_rounds(8, 4, 2) == 19 / 2.);
  /* One micro-batch passes the stages one after another. */
  assert_true(dl_pipeline_rounds(1, 4, 2) == 4);
  assert_true(dl_pipeline_rounds(5, 1, 1) == 5);
}

/* Quantities that are neither columns of a run nor fields of descriptors come
 * as numbers in their order, which the enum in language_inputs.c states. */
static void other_columns_are_the_doubts(void **state) {
  (void)state;
  static const char *const names[] = {"doubt", "power_doubt"};
  size_t n = 0;
  for (size_t i = 0; i < dl_language_physics.n_quantities; i++) {
    const char *name = dl_language_physics.quantity[i].name;
    if (strchr(name, '.') || dl_run_column_find(name))
      continue;
    assert_true(n < 2);
    assert_string_equal(name, names[n++]);
  }
  assert_int_equal(n, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_the_reference),
      cmocka_unit_test(derivatives_as_differences),
      cmocka_unit_test(fits_and_reads_back),
      cmocka_unit_test(bounds_of_the_form),
      cmocka_unit_test(rounds_of_a_pipeline),
      cmocka_unit_test(other_columns_are_the_doubts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
