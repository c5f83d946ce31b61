/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trainings, and what tests/reference/physical_reference.py prints for them. */

#ifndef DL_TESTS_UNIT_PHYSICAL_CASES_H
#define DL_TESTS_UNIT_PHYSICAL_CASES_H

#include "physics/training/training_cost.h"

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
    {resnet_fx,
     0,
     {RESNET, RTX_3070, .limit = 220, .in_tensor = 1, .other_peak = 18.1e12,
      .other_flops = 2.1e9}},
    {resnet_fx,
     0,
     {RESNET, .peak = 112e12, .bandwidth = 900e9, .tdp = 250, .limit = 250,
      .has_tensor = 1, .in_tensor = 2, .other_peak = 20.31e12,
      .other_in_tensor = 1, .other_flops = 2.6e9}},
    {none,
     0,
     {RESNET_NET, .train = 23807, .val = 10203, .again = 0.25, TRAFFIC,
      RTX_3070, .limit = 220}},
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
    {"inception", 7.9444555002314905, 2381.7125535314522, 299.79556855243914,
     2421.4348310326095, 7.9444555002314905},
    {"inception_alone", 7.9537239772435422, 2294.0429408133755,
     288.42375563658965, 2333.811560699593, 7.9537239772435422},
    {"resnet", 39.184894848731545, 7591.789814433675, 193.74276347405916,
     7787.7142886773327, 39.184894848731545},
    {"resnet_alone", 52.530276759759431, 9947.3611046612714, 189.36433840153305,
     10210.012488460068, 52.530276759759431},
    {"capped", 43.897600176529963, 4986.5965552447296, 113.59610856155263,
     5206.0845561273791, 43.897600176529963},
    {"floored", 1444.770900831541, 54952.417838188761, 38.035385268737613,
     54952.417838188761, 1444.770900831541},
    {"limit_over_tdp", 48.166134115502011, 8615.7554997416737,
     178.87579433053855, 8615.7554997416737, 48.166134115502011},
    {"fp32", 48.166134115502011, 8615.7554997416737, 178.87579433053855,
     8856.586170319184, 48.166134115502011},
    {"half", 20.701716049306327, 3548.6179583575868, 171.41660864759535,
     3548.6179583575868, 20.701716049306327},
    {"no_tensor", 58.353082386024468, 9104.4918533384316, 156.02418040420352,
     9104.4918533384316, 58.353082386024468},
    {"outputs", 32.560676974174307, 6299.7447794377904, 193.47708232339488,
     6462.5481643086623, 32.560676974174307},
    {"mid_run", 35.442971587310673, 6558.3737413882727, 185.04017715422901,
     6558.3737413882727, 35.442971587310673},
    {"part", 0.32272175543057668, 20.180010724130049, 62.530679709540486,
     20.180010724130049, 0.32272175543057668},
    {"other", 35.216034992608677, 6430.8022855778509, 182.61006064219271,
     6430.8022855778509, 35.216034992608677},
    {"not_other", 20.500599240119953, 3607.3899021784882, 175.96509545529659,
     3607.3899021784882, 20.500599240119953},
    {"again", 55.665777124944711, 9963.4560340250537, 178.98710030871504,
     9963.4560340250537, 55.665777124944711},
    {"no_validation", 45.93851627616796, 8210.2031641953545, 178.72155719697577,
     8210.2031641953545, 45.93851627616796},
    {"framework", 35.019296135127114, 6740.7883656501526, 192.48783126993266,
     6915.8848463257882, 35.019296135127114},
    {"ngc", 5.7244283845958943, 1682.9046782445541, 293.98650226337941,
     13491.859567879412, 5.7244283845958943},
    {"mlperf", 2.257128919361886, 298.63467424824529, 132.30731824244776,
     9556.3095759438493, 2.257128919361886},
    {"containers", 772.37256503823141, 29506.427580061278, 38.202324779105467,
     29506.427580061278, 772.37256503823141},
    {"three", 18.737778781930526, 3423.1751181261934, 182.68841563159432,
     10363.214248288234, 18.737778781930526},
    {"depthwise", 53.113330254186224, 9469.5243765731375, 178.28903462190229,
     9735.0910278440679, 53.113330254186224},
    {"chips", 46.920620460576693, 5564.4355725827818, 118.59254029383716,
     5564.4355725827818, 46.920620460576693},
};

#endif
