/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers of carbontracker's two logs. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit.h"
#include "runs_log.h"

extern const struct dl_importer dl_import_carbontracker,
    dl_import_carbontracker_output;

#define AT "2022-11-14 15:43:37 - "
#define VERSION AT "carbontracker version 1.1.6\n"
#define POWER AT "Average power usage (W) for "

static const char standard_log[] =
    "2022-11-14 15:42:43 - carbontracker version 1.1.6\n"
    "2022-11-14 15:42:43 - Only predicted and actual consumptions are "
    "multiplied by a PUE coefficient of 1.5 (Rhonda Ascierto, 2020).\n"
    "2022-11-14 15:42:43 - The following components were found: GPU with "
    "device(s) NVIDIA RTX 3060, NVIDIA RTX 3060, Tesla V100-SXM2-16GB. CPU "
    "with device(s) Intel(R) Core(TM) i7 @ 2.80GHz.\n"
    "2022-11-14 15:42:43 - Monitoring thread started.\n"
    "2022-11-14 15:43:37 - Epoch 1:\n"
    "2022-11-14 15:43:37 - Duration: 0:00:50.50\n"
    "2022-11-14 15:43:37 - Average power usage (W) for gpu: [61.5 73.5 65.  ]\n"
    "2022-11-14 15:43:37 - Average power usage (W) for cpu: [20.]\n"
    "2022-11-14 15:43:37 - Average carbon intensity during training was 102.00 "
    "gCO2/kWh at detected location: Copenhagen, DK.\n"
    "2022-11-14 15:44:50 - Epoch 2:\n"
    "2022-11-14 15:44:50 - Duration: 0:01:00.00\n"
    "2022-11-14 15:44:50 - Average power usage (W) for gpu: [1.0e+02 5.0e+01\n"
    " 5.0e+01]\n"
    "2022-11-14 15:44:50 - Average power usage (W) for cpu: [10.]\n"
    "2022-11-14 15:44:50 - Training was interrupted before all 10 epochs were "
    "monitored.\n"
    "2022-11-14 15:44:50 - Monitoring thread ended.\n"
    "2022-11-14 16:00:00 - carbontracker version 1.1.6\n"
    "2022-11-14 16:00:10 - Epoch 1:\n"
    "2022-11-14 16:00:10 - Duration: 0:00:10.00\n"
    "2022-11-14 16:00:10 - Average power usage (W) for gpu: [50.]\n";

/* 50.5 s at 200 W and 20 W; 60 s at 200 W and 10 W. */
#define FIRST_RUN                                                              \
  " gpu=NVIDIA RTX 3060/Tesla V100-SXM2-16GB n_gpus=3 epochs=2 "               \
  "duration_s=110.5 epoch_s=55.25 gpu_power_w=200 gpu_energy_j=22100 "         \
  "cpu_energy_j=1610 energy_j=23710 epoch_energy_j=11855 "                     \
  "facility_energy_j=35565 pue=1.5 cpu_power_w=14.570135746606335 "            \
  "boundary=gpu+cpu start_time=2022-11-14T15:42:46 state=interrupted\n"        \
  " =0 start=0 s=50.5 gpu_w=200 gpu=10100 cpu=1010 all=11110\n"                \
  " =1 start=50.5 s=60 gpu_w=200 gpu=12000 cpu=600 all=12600\n"

static void test_standard(void **state) {
  (void)state;
  assert_runs(&dl_import_carbontracker, standard_log,
              FIRST_RUN
              " n_gpus=1 epochs=1 duration_s=10 epoch_s=10 gpu_power_w=50 "
              "gpu_energy_j=500 energy_j=500 epoch_energy_j=500 boundary=gpu "
              "start_time=2022-11-14T16:00:00\n"
              " =0 start=0 s=10 gpu_w=50 gpu=500 all=500\n");
  assert_runs(&dl_import_carbontracker, VERSION, "");
}

/* Version 1.0: thread and level in each line; processors alone. */
static void test_standard_old(void **state) {
  static const char log[] =
      "2020-05-17 19:02:11,123 - MainThread - INFO - carbontracker version "
      "1.0.0\n"
      "2020-05-17 19:02:11,123 - CarbonTrackerThread - INFO - The following "
      "components were found: CPU with device(s) cpu:0, cpu:1.\n"
      "2020-05-17 19:02:20,500 - MainThread - INFO - Epoch 1:\n"
      "2020-05-17 19:02:20,500 - MainThread - INFO - Duration: "
      "0:00:08.250000\n"
      "2020-05-17 19:02:20,501 - MainThread - INFO - Average power usage (W) "
      "for cpu: [ 2.   6. ]\n";

  (void)state;
  assert_true(probes(&dl_import_carbontracker, log));
  assert_runs(&dl_import_carbontracker, log,
              " epochs=1 duration_s=8.25 epoch_s=8.25 cpu_energy_j=66 "
              "energy_j=66 epoch_energy_j=66 cpu_power_w=8 "
              "boundary=cpu start_time=2020-05-17T19:02:12.500\n"
              " =0 start=0 s=8.25 cpu=66 all=66\n");
}

/* A new run where the number of the epoch does not grow; what has no power is
 * unknown; an epoch that is not whole at the end of a run is left out. */
static void test_standard_epochs(void **state) {
  (void)state;
  assert_runs(&dl_import_carbontracker,
              VERSION AT
              "Epoch 3:\n" AT "Epoch 3:\n" AT "Duration: 0:00:10\n" POWER
              "gpu: None\n" AT "Epoch 4:\n" AT "Duration: 0:00:10\n" POWER
              "gpu: 12.5\n" AT "Epoch 4:\n" AT "Duration: 0:00:02\n" POWER
              "gpu: [5.]\n" POWER "gpu: [4.]\n" AT "Epoch 5:\n" AT
              "Duration: 0:00:02\n",
              " n_gpus=1 epochs=2 duration_s=20 epoch_s=10 boundary=gpu "
              "start_time=2022-11-14T15:43:27\n"
              " =2 start=0 s=10\n"
              " =3 start=10 s=10 gpu_w=12.5 gpu=125 all=125\n"
              " n_gpus=1 epochs=1 duration_s=2 epoch_s=2 gpu_power_w=4 "
              "gpu_energy_j=8 energy_j=8 epoch_energy_j=8 boundary=gpu "
              "start_time=2022-11-14T15:43:35\n"
              " =3 start=0 s=2 gpu_w=4 gpu=8 all=8\n"
              "W:14: a run ends within an epoch, which is left out\n"
              "W:6: an epoch has no power or duration: the energy of its run "
              "is unknown\n");
}

/* Processors that are measured from the second epoch on. */
static void test_standard_late(void **state) {
  (void)state;
  assert_runs(
      &dl_import_carbontracker,
      VERSION AT "Epoch 1:\n" AT "Duration: 0:00:10\n" POWER "gpu: [5.]\n" AT
                 "Epoch 2:\n" AT "Duration: 0:00:10\n" POWER "gpu: [5.]\n" POWER
                 "cpu: [2.]\n",
      " n_gpus=1 epochs=2 duration_s=20 epoch_s=10 gpu_power_w=5 "
      "gpu_energy_j=100 boundary=gpu+cpu start_time=2022-11-14T15:43:27\n"
      " =0 start=0 s=10 gpu_w=5 gpu=50 all=50\n"
      " =1 start=10 s=10 gpu_w=5 gpu=50 cpu=20 all=70\n");
}

static void test_standard_faults(void **state) {
  (void)state;
  assert_runs(
      &dl_import_carbontracker,
      VERSION AT
      "Duration: 0:00:10\n" POWER "gpu: [5.]\n" AT "Epoch -1:\n" AT
      "Epoch 1e99:\n" AT "Epoch 1\n" AT
      "Epoch duration is too short for a measurement to be "
      "collected.\n" AT "Epoch 1:\n" AT "Duration: soon\n" POWER
      "tpu: [5.]\n" POWER "gpu: [5. x]\n" POWER "gpu:\n" POWER "gpu: [5. -3.]\n"
      "Traceback (most recent call last):\n" AT "Duration: 0:00:10\n" POWER
      "cpu: []\n" AT "Epoch 2:\n" AT "Duration: 0:00:10\n" POWER
      "cpu: [1]\n" POWER "gpu: [1\n" AT "Monitoring thread ended.\n" AT
      "Epoch 1:\n",
      " epochs=1 duration_s=10 epoch_s=10 boundary=gpu+cpu "
      "start_time=2022-11-14T15:43:27\n"
      " =0 start=0 s=10\n"
      "W:10: power of an unknown component\n"
      "W:11: invalid power 'x'\n"
      "W:12: invalid power ''\n"
      "W:13: invalid power '-3.'\n"
      "W:17: an epoch has no power or duration: the energy of its run is "
      "unknown\n"
      "W:21: a run ends within an epoch, which is left out\n"
      "W:2: a duration without an epoch\n"
      "W:3: a power without an epoch\n"
      "W:5: invalid epoch '1e99:'\n"
      "W:6: invalid epoch '1'\n"
      "W:9: invalid duration 'soon'\n");
}

/* --- the output log */

static const char output_log[] =
    "2022-11-14 15:42:43 - CarbonTracker: The following components were "
    "found: GPU with device(s) NVIDIA RTX 3060. CPU with device(s) cpu:0.\n"
    "2022-11-14 15:43:37 - CarbonTracker: \n"
    "Actual consumption for 2 epoch(s):\n"
    "\tTime:\t0:00:54\n"
    "\tEnergy:\t0.500000 kWh\n"
    "\tCO2eq:\t51.250000 g\n"
    "\tThis is equivalent to:\n"
    "\t0.002969 km travelled by car\n"
    "2022-11-14 15:43:37 - CarbonTracker: \n"
    "Predicted consumption for 4 epoch(s):\n"
    "\tTime:\t0:03:33\n"
    "\tEnergy:\t2.000000 kWh\n"
    "\tCO2eq:\t205.000000 g\n"
    "2022-11-14 15:43:37 - CarbonTracker: Finished monitoring.\n"
    "2022-11-14 16:00:00 - CarbonTracker: The following components were "
    "found: CPU with device(s) cpu:0.\n"
    "2022-11-14 16:00:10 - CarbonTracker: \n"
    "Predicted consumption for 100 epoch(s):\n"
    "\tTime:\t0:16:40\n"
    "\tEnergy:\t2.000000 kWh\n"
    "\tCO2eq:\t205.000000 g\n";

static void test_output(void **state) {
  (void)state;
  assert_runs(&dl_import_carbontracker_output, output_log,
              " gpu=NVIDIA RTX 3060 epochs=2 duration_s=54 epoch_s=27 "
              "energy_j=1800000 epoch_energy_j=900000 "
              "facility_energy_j=1800000 co2e_g=51.25 boundary=facility "
              "start_time=2022-11-14T15:42:43\n"
              "W:20: a run has a prediction only: it was not measured, and is "
              "left out\n");
}

#define ACTUAL(epochs, time, energy)                                           \
  "CarbonTracker: \nActual consumption" epochs ":\n        Time:   " time      \
  "\n        Energy: " energy "\n"
#define PREDICTED                                                              \
  "CarbonTracker: \nPredicted consumption for 9 epoch(s):\n"                   \
  "        Time:   1:00:00\n        Energy: 9 kWh\n        CO2eq:  9 g\n"
#define CO2(x) "        CO2eq:  " x "\n"

/* What is printed, among other things; predictions before or behind. */
static void test_output_printed(void **state) {
  static const char runs[] =
      " epochs=1 duration_s=36000 epoch_s=36000 energy_j=900000 "
      "epoch_energy_j=900000 facility_energy_j=900000 co2e_g=2 "
      "boundary=facility\n"
      " epochs=3 duration_s=86405.5 epoch_s=28801.833333333332 "
      "energy_j=1800000 epoch_energy_j=600000 facility_energy_j=1800000 "
      "boundary=facility\n";
  static const char one[] = ACTUAL(" for 1 epoch(s)", "10:00:00", "0.25 kWh")
      CO2("2 g") "epoch 1: loss 0.5\n";
  static const char two[] = ACTUAL(" for 3 epoch(s)", "1 day, 0:00:05.500000",
                                   "0.5 kWh") CO2("nan g") "Energy: 77 kWh\n";
  char log[2048];

  (void)state;
  snprintf(log, sizeof log, "%s%s%s%s", one, PREDICTED, two, PREDICTED);
  assert_runs(&dl_import_carbontracker_output, log, runs);
  assert_true(probes(&dl_import_carbontracker_output, log));
  snprintf(log, sizeof log, "loss\n%s%s%s%s", PREDICTED, one, PREDICTED, two);
  assert_runs(&dl_import_carbontracker_output, log, runs);
  assert_true(probes(&dl_import_carbontracker_output, log));
  /* Aborted, then another run. */
  snprintf(log, sizeof log, "%s%s%s", PREDICTED, PREDICTED, one);
  assert_runs(&dl_import_carbontracker_output, log,
              " epochs=1 duration_s=36000 epoch_s=36000 energy_j=900000 "
              "epoch_energy_j=900000 facility_energy_j=900000 co2e_g=2 "
              "boundary=facility\n"
              "W:7: a run has a prediction only: it was not measured, and is "
              "left out\n");
}

static void test_output_faults(void **state) {
  (void)state;
  assert_runs(&dl_import_carbontracker_output,
              ACTUAL("", "soon", "0.25 kWh") "CarbonTracker: \n" ACTUAL(
                  " for 0 epoch(s)", "0:01:00", "0.25") "the end\n",
              " energy_j=900000 facility_energy_j=900000 boundary=facility\n"
              "W:3: invalid duration 'soon'\n"
              "W:9: invalid quantity '0.25'\n");
  assert_runs(&dl_import_carbontracker_output,
              ACTUAL(" for 0 epoch(s)", "0:01:00", "1e305 kWh") CO2("1 kg")
                  ACTUAL(" for 0 epoch(s)", "0:01:00", "0.25 kWh")
                      CO2("-1 g") "the end\n",
              " duration_s=60 energy_j=900000 facility_energy_j=900000 "
              "boundary=facility\n"
              "W:10: invalid quantity '-1 g'\n"
              "W:4: invalid quantity '1e305 kWh'\n"
              "W:5: invalid quantity '1 kg'\n");
}

static void test_probes(void **state) {
  static const struct {
    const char *head;
    const struct dl_importer *of;
  } cases[] = {
      {VERSION, &dl_import_carbontracker},
      {"\n" VERSION, &dl_import_carbontracker},
      {AT "carbontracker version 2.0\r\n" AT, &dl_import_carbontracker},
      {POWER "gpu: [1]\n", &dl_import_carbontracker},
      {output_log, &dl_import_carbontracker_output},
      {AT "CarbonTracker: \n", &dl_import_carbontracker_output},
      {AT "CarbonTracker: Actual consumption for 1 epoch(s):\n",
       &dl_import_carbontracker_output},
      {"", NULL},
      {"\n", NULL},
      {AT "carbontracker version 2.0", NULL}, /* cut off */
      {"carbontracker version 2.0\n", NULL},
      {"import CarbonTracker: no\n", NULL},
      {AT "Epoch 1:\n", NULL},
      {"timestamp, name, power.draw [W]\n", NULL},
      {"start_time,window_name,elapsed_time,gpu0_energy\n", NULL},
      {"2022/11/14 15:43:37.123, NVIDIA A100, 61.2 W\n", NULL},
  };
  static const struct dl_importer *const all[] = {
      &dl_import_carbontracker, &dl_import_carbontracker_output};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    for (size_t k = 0; k < COUNT(all); k++)
      if (probes(all[k], cases[i].head) != (all[k] == cases[i].of))
        fail_msg("%s: %s", all[k]->name, cases[i].head);
}

static void test_cut_off(void **state) {
  (void)state;
  assert_prefixes(&dl_import_carbontracker, standard_log, 0);
  assert_prefixes(&dl_import_carbontracker_output, output_log, 0);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_standard),
      cmocka_unit_test(test_standard_old),
      cmocka_unit_test(test_standard_epochs),
      cmocka_unit_test(test_standard_late),
      cmocka_unit_test(test_standard_faults),
      cmocka_unit_test(test_output),
      cmocka_unit_test(test_output_printed),
      cmocka_unit_test(test_output_faults),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_cut_off),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
