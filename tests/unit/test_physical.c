/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formula of the physical regression. Expected values: an independent
 * implementation in numpy, tests/reference/physical_reference.py. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "catalog/descriptor_kinds.h"
#include "physics/rows/inputs.h"
#include "physics/training/training_inputs.h"
#include "gradient.h"
#include "unit.h"

#define MATCH 1e-9

/* Inputs of the reference, in its order. */
static const double constants[DL_N_TRAINING_CONSTANTS] = {
    [DL_TRAIN_EC] = 1.1099,
    [DL_TRAIN_EC_TF32] = 0.734419,
    [DL_TRAIN_EC_HALF] = 0.4,
    [DL_TRAIN_EM] = 0.560272,
    [DL_TRAIN_TAU] = 9.66866e-06,
    [DL_TRAIN_LAMBDA] = 2.24895e-05,
    [DL_TRAIN_C0] = 0.00118424,
    [DL_TRAIN_BESIDE] = 0.47,
    [DL_TRAIN_SERVER] = 1.84966,
    [DL_TRAIN_T0] = 0.275637,
    [DL_TRAIN_WOPT] = 11.3664,
    [DL_TRAIN_CA] = 6.96977,
    [DL_TRAIN_PA] = 0.0960883,
    [DL_TRAIN_PB] = 0.0522051,
    [DL_TRAIN_PU] = 0.26597,
    [DL_TRAIN_PF] = 1.21749,
    [DL_TRAIN_PM] = 0.38122,
    [DL_TRAIN_PCAP] = 0.950854,
    [DL_TRAIN_PTC] = 0.714354,
    [DL_TRAIN_MTC] = 0.641,
    [DL_TRAIN_KAPPA] = 0.487044,
    [DL_TRAIN_NGC_EC] = 1.13,
    [DL_TRAIN_NGC_TF32] = 0.46,
    [DL_TRAIN_NGC_HALF] = 0.71,
    [DL_TRAIN_NGC_EM] = 0.68,
    [DL_TRAIN_NGC_TAU] = 5.3e-06,
    [DL_TRAIN_NGC_LAMBDA] = 7.1e-05,
    [DL_TRAIN_NGC_C0] = 0.00123,
    [DL_TRAIN_NGC_BETWEEN_32] = 1.3,
    [DL_TRAIN_NGC_BETWEEN_16] = 0.55,
    [DL_TRAIN_NGC_REGIONS] = 0.031,
    [DL_TRAIN_MLPERF_BETWEEN] = 0.42,
    [DL_TRAIN_MLPERF_REGIONS] = 0.0017,
    [DL_TRAIN_MLPERF_HALF] = 1.2,
    [DL_TRAIN_MLPERF_EM] = 1.07,
    [DL_TRAIN_MLPERF_TAU] = 0.53,
    [DL_TRAIN_MLPERF_LAMBDA] = 0.31,
    [DL_TRAIN_MLPERF_C0] = 0.61,
    [DL_TRAIN_TUNED_WOPT] = 9.1,
    [DL_TRAIN_DEPTHWISE] = 0.05,
    [DL_TRAIN_XL] = 0.71,
    [DL_TRAIN_XN] = 1.7,
    [DL_TRAIN_XS] = 0.029,
    [DL_TRAIN_XK] = 0.13,
    [DL_TRAIN_EAGER_DEPTHWISE] = 0.07};

/* Factors; 0 stands for 1. */
static const double none[DL_N_TRAINING_EFFECTS];
static const double inception_fx[DL_N_TRAINING_EFFECTS] = {
    [DL_EFFECT_HOST_LAUNCH] = 0.96503,   [DL_EFFECT_HOST_EPOCH] = 1.30414,
    [DL_EFFECT_GPU_COMPUTE] = 1.14944,   [DL_EFFECT_GPU_MEMORY] = 0.957168,
    [DL_EFFECT_GPU_POWER] = 1.10829,     [DL_EFFECT_ARCH_TIME] = 1.01953,
    [DL_EFFECT_ARCH_KERNELS] = 0.992315, [DL_EFFECT_ARCH_POWER] = 1.0123};
#define RESNET_FX                                                              \
  [DL_EFFECT_HOST_LAUNCH] = 0.71291, [DL_EFFECT_HOST_EPOCH] = 0.751769,        \
  [DL_EFFECT_GPU_COMPUTE] = 1.13237, [DL_EFFECT_GPU_MEMORY] = 1.26358,         \
  [DL_EFFECT_GPU_POWER] = 1.03753, [DL_EFFECT_ARCH_TIME] = 0.89488,            \
  [DL_EFFECT_ARCH_KERNELS] = 0.892686, [DL_EFFECT_ARCH_POWER] = 0.992518
static const double resnet_fx[DL_N_TRAINING_EFFECTS] = {RESNET_FX};
static const double framework_fx[DL_N_TRAINING_EFFECTS] = {
    RESNET_FX, [DL_EFFECT_FRAMEWORK_LAUNCH] = 1.21,
    [DL_EFFECT_FRAMEWORK_TIME] = 0.87};
static const double facts_fx[DL_N_TRAINING_EFFECTS] = {
    RESNET_FX, [DL_EFFECT_FACTS_FLOPS] = 1.3, [DL_EFFECT_FACTS_BYTES] = 0.8,
    [DL_EFFECT_FACTS_KERNELS] = 1.1};

static const double tuned_fx[DL_N_TRAINING_EFFECTS] = {
    RESNET_FX, [DL_EFFECT_FACTS_FLOPS] = 1.3, [DL_EFFECT_FAMILY_COMPUTE] = 0.93,
    [DL_EFFECT_FAMILY_MEMORY] = 1.07};

#define RTX_3090                                                               \
  .peak = 35.58e12, .bandwidth = 936e9, .tdp = 350, .limit = 350, .gddr = 936, \
  .chips = 936, .has_tensor = 1
#define RTX_3070                                                               \
  .peak = 20.31e12, .bandwidth = 448e9, .tdp = 220, .gddr = 448, .chips = 448, \
  .has_tensor = 1
#define A40                                                                    \
  .peak = 37.4e12, .bandwidth = 696e9, .tdp = 300, .gddr = 696, .chips = 1344, \
  .has_tensor = 1
#define INCEPTION                                                              \
  .batch = 32, .train = 3047, .val = 6097, .frozen = 1, .flops = 5671746240,   \
  .bytes = 147358720, .bytes_known = 1, .kernels = 310, .weights = 87142272,   \
  .head = 419438592
#define RESNET_NET                                                             \
  .batch = 32, .flops = 2518155264, .kernels = 175, .weights = 94138368
#define RESNET_RUN .train = 23807, .val = 10203, .frozen = 0.125
#define TRAFFIC .bytes = 104184672, .bytes_known = 1
#define RESNET RESNET_NET, RESNET_RUN, TRAFFIC

static const struct {
  const double *fx;
  double ram_w;
  struct dl_training_inputs load;
} cases[] = {
    {inception_fx, 5, {INCEPTION, RTX_3090, .server = 1, .in_tensor = 1}},
    {none, 5, {INCEPTION, RTX_3090, .server = 1, .in_tensor = 1}},
    {resnet_fx, 5, {RESNET, RTX_3070, .limit = 220, .in_tensor = 1}},
    {none, 5, {RESNET, RTX_3070, .limit = 220, .in_tensor = 1}},
    {resnet_fx, 5, {RESNET, RTX_3070, .limit = 120}},
    {none, 0, {RESNET, RTX_3070, .limit = 40}},
    {none, 0, {RESNET, RTX_3070, .limit = 300}},
    {none, 5, {RESNET, RTX_3070, .limit = 220}},
    {none,
     0,
     {RESNET_NET, RESNET_RUN, .bytes = 52092336, .bytes_known = 1,
      .peak = 112e12, .bandwidth = 900e9, .tdp = 250, .limit = 250,
      .has_tensor = 1, .in_tensor = 2}},
    {none,
     0,
     {RESNET, .peak = 9.526e12, .bandwidth = 732e9, .tdp = 250, .limit = 250,
      .server = 1}},
    {facts_fx,
     5,
     {RESNET_NET, RESNET_RUN, .bytes = 13828096, RTX_3070, .limit = 220}},
    {resnet_fx, 0, {RESNET, RTX_3070, .limit = 220, .mid_run = 1}},
    {none,
     0,
     {RESNET_NET, .train = 20, .val = 8, .frozen = 0.125, TRAFFIC, RTX_3070,
      .limit = 220}},
    {none, 0, {RESNET_NET, .train = 23807, TRAFFIC, RTX_3070, .limit = 220}},
    {framework_fx,
     5,
     {RESNET, RTX_3070, .limit = 220, .in_tensor = 1, .beside = 61}},
    {tuned_fx,
     5,
     {RESNET, RTX_3090, .server = 0, .in_tensor = 1, .stack = DL_STACK_NGC,
      .n_gpus = 8, .per_node = 8, .link = 300e9, .network = 12.5e9,
      .gradients = 1, .between = 6.1e7, .depthwise = 1.3e8, .plain = 35.58e12,
      .clock = .8}},
    {tuned_fx,
     0,
     {RESNET, RTX_3070, .limit = 180, .in_tensor = 2, .stack = DL_STACK_MLPERF,
      .n_gpus = 32, .per_node = 8, .link = 300e9, .network = 25e9,
      .gradients = 0.5, .between = 4.7e7, .regions = 1, .clock = 1.25}},
    {tuned_fx,
     0,
     {RESNET, .peak = 14.13e12, .bandwidth = 900e9, .tdp = 250, .limit = 250,
      .has_tensor = 1, .in_tensor = 2, .stack = DL_STACK_NGC, .between = 4.7e7,
      .regions = 1}},
    {none,
     5,
     {RESNET, RTX_3070, .limit = 220, .in_tensor = 1, .n_gpus = 3,
      .per_node = 2, .link = 16e9, .network = 1.25e9, .gradients = 1}},
    {resnet_fx,
     5,
     {RESNET, RTX_3070, .limit = 220, .in_tensor = 1, .depthwise = 3e8,
      .plain = 20.31e12}},
    {resnet_fx, 0, {RESNET, A40, .limit = 125}},
};

/* What physical_reference.py prints. */
static const struct {
  const char *name;
  double time, energy, power, energy_with_ram, again;
} expected[] = {
    {"inception", 7.9045708968733974, 2371.506145176751, 300.0170630533259,
     2411.0289996611182, 7.9045708968733974},
    {"inception_alone", 7.9130924981174706, 2284.604620859981,
     288.71198225011142, 2324.1700833505683, 7.9130924981174706},
    {"resnet", 39.126837153468507, 7580.51793694154, 193.74215981752423,
     7776.1521227088824, 39.126837153468507},
    {"resnet_alone", 52.452414614693083, 9932.5951334871806, 189.36392550181742,
     10194.857206560646, 52.452414614693083},
    {"capped", 43.832778424814371, 4979.2127258041637, 113.59564473753184,
     5198.3766179282356, 43.832778424814371},
    {"floored", 1442.6624029993463, 54872.222924050388, 38.035387080143693,
     54872.222924050388, 1442.6624029993463},
    {"limit_over_tdp", 48.094704184281731, 8602.9733731000742,
     178.87568951742696, 8602.9733731000742, 48.094704184281731},
    {"fp32", 48.094704184281731, 8602.9733731000742, 178.87568951742696,
     8843.4468940214829, 48.094704184281731},
    {"half", 20.67039974184841, 3543.3269454616866, 171.42033969899566,
     3543.3269454616866, 20.67039974184841},
    {"no_tensor", 58.265857830541378, 9090.9729187603953, 156.02572856989937,
     9090.9729187603953, 58.265857830541378},
    {"outputs", 32.512338697577974, 6290.3758909069538, 193.47657359928891,
     6452.9375843948437, 32.512338697577974},
    {"mid_run", 35.390126835717432, 6548.6268237353233, 185.04106679623797,
     6548.6268237353233, 35.390126835717432},
    {"part", 0.31552454211768816, 19.438974534285613, 61.608439089454507,
     19.438974534285613, 0.31552454211768816},
    {"no_validation", 45.878687434080696, 8199.482255384044, 178.72094242376059,
     8199.482255384044, 45.878687434080696},
    {"framework", 34.967370833026422, 6730.7747729130615, 192.48729923257184,
     6905.611627078194, 34.967370833026422},
    {"ngc", 5.6567805405622718, 1662.4471410732522, 293.88574104167185,
     13327.861031288829, 5.6567805405622718},
    {"mlperf", 2.1909903066619689, 290.64772573229874, 132.65587020104536,
     9300.7272234335596, 2.1909903066619689},
    {"containers", 771.0581019125076, 29458.483241305985, 38.205270352828293,
     29458.483241305985, 771.0581019125076},
    {"three", 18.806373856823011, 3423.3005843660953, 182.02874251189635,
     10363.933622382401, 18.806373856823011},
    {"depthwise", 53.034649506367266, 9455.4831756606636, 178.28878410001468,
     9720.6564231925004, 53.034649506367266},
    {"chips", 46.851796421277413, 5556.25803931261, 118.59220913009163,
     5556.25803931261, 46.851796421277413},
};

static void logarithms(const double *factor, double fx[DL_N_TRAINING_EFFECTS]) {
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    fx[i] = factor[i] > 0 ? log(factor[i]) : 0;
}

/* One GPU, and the clock of the A100, where a case does not say. */
static struct dl_training_inputs load_of(size_t i) {
  struct dl_training_inputs in = cases[i].load;
  in.ram_w = cases[i].ram_w;
  in.n_gpus = fmax(in.n_gpus, 1);
  in.clock = in.clock > 0 ? in.clock : 1;
  return in;
}

static void same(const char *name, const char *what, double got, double want) {
  if (!(fabs(got - want) <= MATCH * want))
    fail_msg("%s: %s %.17g, want %.17g", name, what, got, want);
}

static void epoch_as_reference(void **state) {
  (void)state;
  assert_int_equal(COUNT(cases), COUNT(expected));
  for (size_t i = 0; i < COUNT(cases); i++) {
    double fx[DL_N_TRAINING_EFFECTS];
    struct dl_cost cost;
    logarithms(cases[i].fx, fx);
    const struct dl_training_inputs in = load_of(i);
    dl_training_epoch(constants, fx, &in, &cost);
    same(expected[i].name, "time", cost.time, expected[i].time);
    same(expected[i].name, "energy", cost.energy, expected[i].energy);
  }
}

static void targets_as_reference(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double fx[DL_N_TRAINING_EFFECTS], out[DL_N_PHYSICAL_TARGETS];
    const char *name = expected[i].name;
    logarithms(cases[i].fx, fx);
    const struct dl_training_inputs in = load_of(i);
    dl_training_physics.predict(constants, fx, &in, out);
    same(name, "power", exp(out[DL_TARGET_POWER]), expected[i].power);
    same(name, "energy", exp(out[DL_TARGET_ENERGY]),
         expected[i].energy_with_ram);
    same(name, "time", exp(out[DL_TARGET_TIME]), expected[i].again);
  }
}

/* A run in the units of its columns is the load of the reference's ResNet on an
 * RTX 3070: 1.259 GMACs, 26.046 million elements of 4 bytes. */
static void row_as_reference(void **state) {
  struct dl_run run = dl_run_unknown;
  struct dl_accelerator gpu;
  struct dl_architecture arch;
  struct dl_physics_row row = {.run = &run, .gpu = &gpu, .arch = &arch};
  struct dl_training_inputs in;
  double out[DL_N_PHYSICAL_TARGETS];

  (void)state;
  dl_descriptor_init(&gpu.head, DL_ACCELERATOR);
  dl_descriptor_init(&arch.head, DL_ARCHITECTURE);
  run.batch_size = 32;
  run.image_px = 128;
  run.train_samples = 23807;
  run.val_samples = 10203;
  run.frozen_base = 0.125;
  run.macs_g = 1.259077632;
  run.acts_m = 26.046168 / 2;
  run.launches = 175;
  run.params_m = 23.534592;
  arch.traffic_ratio = 2;
  gpu.peak_fp32_tflops = gpu.peak_tf32_tflops = 20.31;
  gpu.peak_fp16_tensor_tflops = 81.3;
  gpu.bandwidth_gb_s = 448;
  gpu.tdp_w = 220;
  gpu.memory_type = "gddr6";
  assert_null(dl_training_inputs_read(&row, &in));
  dl_training_physics.predict(constants, none, &in, out);
  same("row", "power", exp(out[DL_TARGET_POWER]), expected[3].power);
  same("row", "energy", exp(out[DL_TARGET_ENERGY]),
       expected[3].energy_with_ram);
  same("row", "time", exp(out[DL_TARGET_TIME]), expected[3].again);
  /* 1.259077632 GMACs: 1.5 times as many in padded tiles; an eighth depthwise
   */
  arch.padding_ratio = 1.5;
  arch.depthwise_share = 0.125;
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "padded", in.flops, 1.5 * 2518155264);
  same("row", "depthwise", in.depthwise, 2518155264 / 8.0);
  /* Of attention's networks, in 16 bits and eager mode: .70 / .50 */
  arch.heads = 12;
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "dense in TF32", in.peak, 20.31e12);
  run.precision = "amp";
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "dense", in.peak, 1.4 * 81.3e12);
  run.stack = "ngc";
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "tuned", in.peak, 81.3e12);
  run.stack = run.precision = NULL;
  arch.heads = NAN;
  gpu.peak_tf32_tflops = NAN;
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "no tensor cores", in.flops, 2518155264 * 7 / 8.0);
  /* Of operators between layers 3 an activation, and a usual 1.7 of layers */
  arch.traffic_ratio = NAN;
  arch.elementwise_ratio = 3;
  assert_null(dl_training_inputs_read(&row, &in));
  same("row", "traffic", in.bytes, 13.023084e6 * 4.7 * 4);
  assert_int_equal(in.bytes_known, 1);
  arch.elementwise_ratio = NAN;
  assert_null(dl_training_inputs_read(&row, &in));
  assert_int_equal(in.bytes_known, 0);
  gpu.bandwidth_gb_s = NAN;
  assert_string_equal(dl_training_inputs_read(&row, &in), "gpu.bandwidth_gb_s");
}

/* Chips of 2 GB on 32 pins of 14 Gbit/s, 56 GB/s: 24 of them on an A40, 1344
 * GB/s, twice those of its bus of 384 bits; 12 on a Quadro RTX 6000. 4 would do
 * for the 8 GB of an RTX 3070, but its bus of 256 bits has 8, at 448 GB/s. An
 * L4 has 12 on a bus of 192 bits, two on each channel, at 12.5 Gbit/s: 600
 * GB/s. */
static void chips_of_memory(void **state) {
  static const struct {
    const char *type;
    double memory_gb, bandwidth_gb_s, gddr, chips;
  } boards[] = {{"gddr6", 48, 696, 696, 1344}, {"gddr6", 24, 672, 672, 672},
                {"gddr6", 24, 300, 300, 600},  {"gddr6", 8, 448, 448, 448},
                {"gddr6", NAN, 448, 448, 448}, {"hbm2", 32, 900, 0, 0},
                {"gddr5", 2, 86.4, 0, 0}};
  (void)state;
  for (size_t i = 0; i < COUNT(boards); i++) {
    const struct dl_accelerator gpu = {.memory_type = boards[i].type,
                                       .memory_gb = boards[i].memory_gb,
                                       .bandwidth_gb_s =
                                           boards[i].bandwidth_gb_s};
    assert_true(fabs(dl_gddr_gb_s(&gpu) - boards[i].gddr) < MATCH);
    assert_true(fabs(dl_gddr_chips_gb_s(&gpu) - boards[i].chips) < MATCH);
  }
}

/* Numerical Recipes' linear congruential generator: 0 .. 1. */
static double draw(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 16777216.0;
}

/* Between two positive numbers, evenly in the logarithm. */
static double between(uint32_t *seed, double low, double high) {
  return low * pow(high / low, draw(seed));
}

static void any_constants(uint32_t *seed, double c[DL_N_TRAINING_CONSTANTS],
                          double fx[DL_N_TRAINING_EFFECTS]) {
  for (size_t i = 0; i < DL_N_TRAINING_CONSTANTS; i++)
    c[i] = constants[i] * between(seed, 0.4, 2.5);
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    fx[i] = 2 * draw(seed) - 1;
}

static struct dl_training_inputs any_load(uint32_t *seed) {
  double tdp = between(seed, 60, 1000);
  return (struct dl_training_inputs){
      .batch = floor(between(seed, 1, 1024)),
      .train = floor(between(seed, 1, 1e6)),
      .val = floor(between(seed, 0.1, 1e5)),
      .frozen = floor(5 * draw(seed)) / 4,
      .flops = between(seed, 1e7, 1e13),
      .bytes = between(seed, 1e5, 1e10),
      .bytes_known = draw(seed) < 0.5,
      .beside = draw(seed) < 0.5 ? between(seed, 1, 9) : 0,
      .between = between(seed, 1e5, 1e10),
      .depthwise = draw(seed) < 0.5 ? between(seed, 1e5, 1e10) : 0,
      .plain = between(seed, 1e12, 1e14),
      .regions = draw(seed) < 0.3,
      .kernels = between(seed, 10, 3000),
      .weights = between(seed, 1e5, 1e10),
      .head = between(seed, 1e4, 1e8),
      .peak = between(seed, 1e12, 1e15),
      .bandwidth = between(seed, 1e11, 8e12),
      .tdp = tdp,
      .limit = tdp * between(seed, 0.2, 1),
      .gddr = draw(seed) < 0.5 ? between(seed, 1e2, 1e3) : 0,
      .chips = draw(seed) < 0.5 ? between(seed, 1e2, 2e3) : 0,
      .server = draw(seed) < 0.5,
      .in_tensor = (int)(3 * draw(seed)),
      .has_tensor = draw(seed) < 0.7,
      .n_gpus = floor(between(seed, 1, 64)),
      .per_node = floor(between(seed, 1, 9)),
      .link = between(seed, 1e10, 1e12),
      .network = between(seed, 1e9, 1e11),
      .gradients = 0.5,
      .clock = between(seed, 0.5, 2),
      .stack = (int)(3 * draw(seed))};
}

enum { TRIALS = 200, STEPS = 40 };

static void more_samples_cost_more(void **state) {
  uint32_t seed = 7;
  (void)state;
  for (size_t i = 0; i < TRIALS; i++) {
    double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS];
    struct dl_cost before, after;
    any_constants(&seed, c, fx);
    struct dl_training_inputs load = any_load(&seed);
    dl_training_epoch(c, fx, &load, &before);
    assert_true(isfinite(before.energy) && before.time > 0);
    double first = before.time;
    for (size_t k = 0; k < STEPS; k++, before = after) {
      load.train = floor(load.train * 1.13) + 1;
      dl_training_epoch(c, fx, &load, &after);
      assert_true(after.time >= before.time);
      assert_true(after.energy >= before.energy);
    }
    assert_true(after.time > first);
  }
}

static void higher_limits_are_no_slower(void **state) {
  uint32_t seed = 11;
  size_t faster = 0;
  (void)state;
  for (size_t i = 0; i < TRIALS; i++) {
    double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS];
    struct dl_cost before, after;
    any_constants(&seed, c, fx);
    struct dl_training_inputs load = any_load(&seed);
    load.limit = 0.1 * load.tdp;
    dl_training_epoch(c, fx, &load, &before);
    double slowest = before.time;
    for (size_t k = 0; k < STEPS; k++, before = after) {
      load.limit *= 1.08;
      dl_training_epoch(c, fx, &load, &after);
      assert_true(after.time <= before.time * (1 + 1e-12));
    }
    faster += after.time < 0.99 * slowest;
  }
  assert_in_range(faster, TRIALS / 4, TRIALS);
}

static void derivatives_as_differences(void **state) {
  uint32_t seed = 13;
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double fx[DL_N_TRAINING_EFFECTS];
    const struct dl_training_inputs in = load_of(i);
    logarithms(cases[i].fx, fx);
    check_gradient(&dl_training_physics, constants, fx, &in);
  }
  for (size_t i = 0; i < TRIALS; i++) {
    double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS];
    any_constants(&seed, c, fx);
    struct dl_training_inputs in = any_load(&seed);
    in.ram_w = 5;
    check_gradient(&dl_training_physics, c, fx, &in);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(epoch_as_reference),
      cmocka_unit_test(targets_as_reference),
      cmocka_unit_test(row_as_reference),
      cmocka_unit_test(chips_of_memory),
      cmocka_unit_test(more_samples_cost_more),
      cmocka_unit_test(higher_limits_are_no_slower),
      cmocka_unit_test(derivatives_as_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
