/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers of tables of runs: CodeCarbon, Eco2AI, Zeus. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit.h"
#include "runs_log.h"
#include "tests/messages.h"

extern const struct dl_importer dl_import_codecarbon, dl_import_eco2ai,
    dl_import_zeus;

/* Heads of CodeCarbon by version. */
#define CC_1                                                                   \
  "timestamp,experiment_id,project_name,duration,emissions,energy_consumed,"   \
  "country_name,country_iso_code,region,on_cloud,cloud_provider,"              \
  "cloud_region\n"
#define CC_POWERS                                                              \
  "duration,emissions,emissions_rate,cpu_power,gpu_power,ram_power,"           \
  "cpu_energy,gpu_energy,ram_energy,energy_consumed,"
#define CC_PLACE                                                               \
  "country_name,country_iso_code,region,cloud_provider,cloud_region,os,"       \
  "python_version,"
#define CC_HARDWARE                                                            \
  "cpu_count,cpu_model,gpu_count,gpu_model,longitude,latitude,"                \
  "ram_total_size,tracking_mode,"
#define CC_2_0                                                                 \
  "timestamp,project_name,run_id," CC_POWERS CC_PLACE CC_HARDWARE "on_cloud\n"
#define CC_2_3                                                                 \
  "timestamp,project_name,run_id," CC_POWERS CC_PLACE                          \
  "codecarbon_version," CC_HARDWARE "on_cloud,pue\n"
#define CC_2_8                                                                 \
  "timestamp,project_name,run_id,experiment_id," CC_POWERS CC_PLACE            \
  "codecarbon_version," CC_HARDWARE "on_cloud,pue\n"
#define CC_3_3                                                                 \
  "timestamp,project_name,run_id,experiment_id," CC_POWERS                     \
  "water_consumed," CC_PLACE "codecarbon_version," CC_HARDWARE                 \
  "cpu_utilization_percent,gpu_utilization_percent,"                           \
  "ram_utilization_percent,ram_used_gb,on_cloud,pue,wue\n"
#define CC_TASK                                                                \
  "task_name,timestamp,project_name,run_id," CC_POWERS CC_PLACE                \
  "codecarbon_version," CC_HARDWARE "on_cloud\n"

/* A short table with the columns that matter. */
#define CC_SHORT                                                               \
  "timestamp,project_name,country_name,emissions,run_id,duration,"             \
  "energy_consumed\n"

/* Heads of Eco2AI. */
#define ECO_0_2                                                                \
  "project_name,experiment_description,start_time,duration(s),"                \
  "power_consumption(kWTh),CO2_emissions(kg),CPU_name,GPU_name,OS,country\n"
#define ECO_0_3                                                                \
  "id,project_name,experiment_description,epoch,start_time,duration(s),"       \
  "power_consumption(kWh),CO2_emissions(kg),CPU_name,GPU_name,OS,"             \
  "region/country,cost\n"

#define ZEUS "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n"

static void test_probes(void **state) {
  static const struct {
    const char *head;
    const struct dl_importer *of;
  } cases[] = {
      {CC_1, &dl_import_codecarbon},
      {CC_2_0, &dl_import_codecarbon},
      {CC_2_3, &dl_import_codecarbon},
      {CC_2_8, &dl_import_codecarbon},
      {CC_3_3, &dl_import_codecarbon},
      {CC_TASK, &dl_import_codecarbon},
      {"\n\n" CC_SHORT "2023-", &dl_import_codecarbon},
      {ECO_0_2, &dl_import_eco2ai},
      {ECO_0_3, &dl_import_eco2ai},
      {ZEUS, &dl_import_zeus},
      {"start_time,window_name,elapsed_time,gpu7_energy\r\n1,",
       &dl_import_zeus},
      {"gpu0_energy,elapsed_time,window_name,start_time", &dl_import_zeus},
      {"", NULL},
      {"\n", NULL},
      {"start_time,window,elapsed_time,gpu0_energy\n", NULL},
      {"start_times,window_names,elapsed_times\n", NULL},
      {"timestamp, name, power.draw [W]\n", NULL},
      {"timestamp,cpu usage (%),memory usage (MB)\n", NULL},
      {"JobID|JobName|Elapsed|ConsumedEnergyRaw\n", NULL},
      {"id,project_name,start_time,duration(s),power_consumption(kWh)\n", NULL},
      {"arch,gpu,duration_s,energy_j\n", NULL},
      {"2022-11-14 15:42:43 - carbontracker version 1.1.6\n", NULL},
  };
  static const struct dl_importer *const all[] = {
      &dl_import_codecarbon, &dl_import_eco2ai, &dl_import_zeus};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    for (size_t k = 0; k < COUNT(all); k++)
      if (probes(all[k], cases[i].head) != (all[k] == cases[i].of))
        fail_msg("%s: %s", all[k]->name, cases[i].head);
}

/* --- Zeus */

static const char zeus_log[] = ZEUS "1700000000.5,epoch_0,4.0,800.0,400.0\n"
                                    "1700000010.0,\"a,b\",2,100,50\n"
                                    "1700000020,short,0.5,0.0,3.0\n";

static const char zeus_runs[] =
    " run_id=epoch_0 n_gpus=2 duration_s=4 gpu_power_w=300 gpu_energy_j=1200 "
    "energy_j=1200 boundary=gpu start_time=2023-11-14T22:13:20.500Z\n"
    " run_id=a,b n_gpus=2 duration_s=2 gpu_power_w=75 gpu_energy_j=150 "
    "energy_j=150 boundary=gpu start_time=2023-11-14T22:13:30Z\n"
    " run_id=short n_gpus=2 duration_s=0.5 boundary=gpu "
    "start_time=2023-11-14T22:13:40Z\n"
    "W:4: a GPU's energy is 0: the window was too short for its counter; "
    "taken as unknown\n";

static void test_zeus(void **state) {
  (void)state;
  assert_runs(&dl_import_zeus, zeus_log, zeus_runs);
  assert_runs(&dl_import_zeus, ZEUS, "");
  assert_runs(&dl_import_zeus,
              "note,window_name,dram0_energy,cpu0_energy,cpu1_energy,"
              "gpu3_energy,elapsed_time\n"
              "x,w,10,20,30,40,5\n",
              " run_id=w n_gpus=1 duration_s=5 gpu_power_w=8 gpu_energy_j=40 "
              "ram_energy_j=10 cpu_energy_j=50 energy_j=100 cpu_power_w=10 "
              "ram_power_w=2 boundary=gpu+cpu+ram\n");
  assert_runs(&dl_import_zeus,
              "window_name,dram0_energy,gpu3_energy,elapsed_time,start_time\n"
              "w,10,40,5,soon\n"
              "v,,40,0,\n",
              " run_id=w n_gpus=1 duration_s=5 gpu_power_w=8 gpu_energy_j=40 "
              "ram_energy_j=10 energy_j=50 ram_power_w=2 boundary=gpu+ram\n"
              " run_id=v n_gpus=1 duration_s=0 gpu_energy_j=40 "
              "boundary=gpu+ram\n"
              "W:2: invalid time 'soon'\n");
  assert_runs(&dl_import_zeus, "elapsed_time,window_name,cpu0_energy\n2,w,6\n",
              " run_id=w duration_s=2 cpu_energy_j=6 energy_j=6 "
              "cpu_power_w=3 boundary=cpu\n");
}

static void test_zeus_faults(void **state) {
  (void)state;
  assert_runs(&dl_import_zeus,
              ZEUS "1700000000,w,abc,1,2\n"
                   "1700000000,w,1,x,2\n"
                   "1700000000,w,1,-5,2\n"
                   "1700000000,w,1,1e306,2\n"
                   "1700000000,w,,1,2\n"
                   "1700000000,a,b,1,1,2\n"
                   "1700000000,last,1,1e300,1e300\n"
                   "garbage\n",
              " run_id=last n_gpus=2 duration_s=1 boundary=gpu "
              "start_time=2023-11-14T22:13:20Z\n"
              "W:2: column 'elapsed_time': invalid number 'abc'\n"
              "W:3: column 'gpu0_energy': invalid number 'x'\n"
              "W:4: column 'gpu0_energy': negative number '-5'\n"
              "W:5: column 'gpu0_energy': number '1e306' is out of range\n"
              "W:6: column 'elapsed_time' is empty\n"
              "W:7: expected 5 fields, found 6\n"
              "W:9: expected 5 fields, found 1\n");
}

static void test_columns_missing(void **state) {
  (void)state;
  assert_runs(&dl_import_zeus, "a,b\n1,2\n",
              "E:1: " MSG_no_columns_window_name_elapsed_time "\n");
  assert_runs(&dl_import_codecarbon, "a,b\n1,2\n",
              "E:1: " MSG_no_columns_duration_energy_consumed "\n");
  assert_runs(&dl_import_eco2ai, "a,b\n1,2\n",
              "E:1: " MSG_no_columns_duration_power_consumption "\n");
}

/* --- CodeCarbon */

static void test_codecarbon_versions(void **state) {
  (void)state;
  assert_runs(&dl_import_codecarbon,
              CC_1 "2021-10-18T15:13:22,3dc37555,codecarbon,100.0,0.0005,0.5,"
                   "France,FRA,\303\256le-de-france,N,,\n",
              " run_id=3dc37555 duration_s=100 energy_j=1800000 co2e_g=0.5 "
              "start_time=2021-10-18T15:11:42 project=codecarbon\n");
  /* A GPU of each kind; power is energy by duration. */
  assert_runs(&dl_import_codecarbon,
              CC_2_0 "2022-06-14T11:37:36,p,745672fc,1000.0,0.25,5e-05,42.5,"
                     "999,6.0,0.25,1.0,0.125,1.375,France,FRA,,,,Linux,3.8,"
                     "64,EPYC,5,4 x NVIDIA A401 x NVIDIA A100 80GB PCIe,2,48,"
                     "512.5,machine,N\n",
              " run_id=745672fc gpu=NVIDIA A40/NVIDIA A100 80GB PCIe n_gpus=5 "
              "ram_gb=512.5 duration_s=1000 gpu_power_w=3600 "
              "gpu_energy_j=3600000 ram_energy_j=450000 cpu_energy_j=900000 "
              "energy_j=4950000 co2e_g=250 cpu_power_w=900 ram_power_w=450 "
              "boundary=gpu+cpu+ram start_time=2022-06-14T11:20:56 "
              "project=p\n");
  /* The PUE is in all energies. There is no GPU. */
  assert_runs(&dl_import_codecarbon,
              CC_2_3 "2023-06-14T11:37:36,p,id,100,0.25,5e-05,42.5,0.0,6.0,"
                     "0.75,0,0.375,1.125,France,FRA,,,,Linux,3.8,2.3.1,64,"
                     "EPYC,,,2,48,16,machine,N,1.5\n",
              " run_id=id ram_gb=16 duration_s=100 ram_energy_j=900000 "
              "cpu_energy_j=1800000 energy_j=2700000 facility_energy_j=4050000 "
              "pue=1.5 co2e_g=250 cpu_power_w=18000 ram_power_w=9000 "
              "boundary=cpu+ram start_time=2023-06-14T11:35:56 project=p\n");
  assert_runs(&dl_import_codecarbon,
              CC_3_3 "2026-01-01T00:00:12,p,id,exp,12.5,0.25,5e-05,42.5,0.0,"
                     "6.0,0,0.5,0.125,0.625,0.0,France,FRA,,,,Linux,3.12,"
                     "3.3.0,8,Apple M1 Pro,1,Apple M1 Pro,2,48,16,process,"
                     "12.5,75,40,6.5,N,1.0,0.0\n",
              " run_id=id gpu=Apple M1 Pro n_gpus=1 ram_gb=16 duration_s=12.5 "
              "gpu_power_w=144000 gpu_util=0.75 gpu_energy_j=1800000 "
              "ram_energy_j=450000 cpu_energy_j=0 energy_j=2250000 co2e_g=250 "
              "cpu_power_w=0 ram_power_w=36000 cpu_util=0.125 "
              "start_time=2025-12-31T23:59:59 project=p\n");
  assert_runs(&dl_import_codecarbon,
              CC_TASK "load,2024-06-14T00:00:05,p,id,5,0.25,5e-05,42.5,0.0,6.0,"
                      "0.5,0,0.5,1,France,FRA,,,,Linux,3.8,2.3.1,64,EPYC,,,2,"
                      "48,16,machine,N\n",
              " run_id=id/load ram_gb=16 duration_s=5 ram_energy_j=1800000 "
              "cpu_energy_j=1800000 energy_j=3600000 co2e_g=250 "
              "cpu_power_w=360000 ram_power_w=360000 boundary=cpu+ram "
              "start_time=2024-06-14T00:00:00 project=p\n");
}

static const char cc_log[] = CC_SHORT "2023-01-01 00:01:40,p,,0.1,a,100,0.5\n"
                                      "2023-01-01 00:01:00,p,,0.1,b,60,0.25\n"
                                      "2023-01-01 00:03:20,p,,0.2,c,200,1\n";

#define CC_A                                                                   \
  " run_id=a duration_s=100 energy_j=1800000 co2e_g=100 "                      \
  "start_time=2023-01-01T00:00:00 project=p\n"

/* Rows of one run are its states, also where another run's are between. */
static void test_codecarbon_states(void **state) {
  (void)state;
  assert_runs(&dl_import_codecarbon,
              CC_SHORT "2023-01-01 00:00:40,p,,0.1,a,40,0.25\n"
                       "2023-01-01 00:01:00,p,,,b,60,0.25\n"
                       "2023-01-01 00:01:40,p,,0.1,a,100,0.5\n"
                       "2023-01-01 00:02:00,p,,,b,20,0.5\n",
              CC_A " run_id=b energy_j=1800000 project=p\n"
                   "W:4: rows with the same run_id are states of one run: the "
                   "last one counts\n");
  /* Not so where the energy does not grow, or there is no name. */
  assert_runs(&dl_import_codecarbon,
              CC_SHORT "2023-01-01 00:01:40,p,,0.1,a,100,0.5\n"
                       ",,,,a,50,0.25\n,,,,,1,0.25\n,,,,,2,0.5\n",
              CC_A " run_id=a duration_s=50 energy_j=900000\n"
                   " duration_s=1 energy_j=900000\n"
                   " duration_s=2 energy_j=1800000\n");
}

/* More runs than are kept open. */
static void test_codecarbon_many(void **state) {
  struct dl_text log = {0}, runs = {0};
  char buf[DL_NUMBER_SIZE];

  (void)state;
  dl_text_add(&log, CC_SHORT);
  for (int i = 0; i < 200; i++) {
    dl_text_printf(&log, ",,,,run %d,%d,0.5\n", i, i);
    dl_text_printf(&runs, " run_id=run %d duration_s=%s energy_j=1800000\n", i,
                   dl_format_short(buf, i));
  }
  assert_runs(&dl_import_codecarbon, log.s, runs.s);
  dl_text_free(&log);
  dl_text_free(&runs);
}

static void test_codecarbon_faults(void **state) {
  (void)state;
  assert_runs(&dl_import_codecarbon, CC_SHORT, "");
  assert_runs(&dl_import_codecarbon,
              "pue,duration,energy_consumed,gpu_count,run_id,timestamp\n"
              "1,abc,1,1,r,\n"
              "1,1,-1,1,r,\n"
              "0,1,1,1,r,\n"
              "1,,N/A,1,r,\n"
              "1,1,1,1\n"
              "1,1e301,1,1,r,\n"
              "nan,1,0.5,1e300,N/A,yesterday\n"
              ",1e300,0.5,,,2023-01-01 00:00:00\n",
              " duration_s=1 energy_j=1800000\n"
              " energy_j=1800000\n"
              "W:2: column 'duration': invalid number 'abc'\n"
              "W:3: column 'energy_consumed': negative number '-1'\n"
              "W:4: column 'pue': 0 leaves no energy\n"
              "W:5: neither a duration nor an energy\n"
              "W:6: expected 6 fields, found 4\n"
              "W:7: column 'duration': number '1e301' is out of range\n"
              "W:8: invalid time 'yesterday'\n");
}

static void test_gpu_models(void **state) {
  static const struct {
    const char *model, *gpu;
  } cases[] = {
      {"1 x NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"},
      {"16 x Tesla V100", "Tesla V100"},
      {"2 x A, 1 x B", "A/B"},
      {"2 x A1 x B3 x C", "A/B/C"},
      {"Apple M1 Pro", "Apple M1 Pro"},
      {"1 x NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce GTX 1080 Ti"},
      {"A x B", "A x B"},
      {"1 x 2 x B", "B"},
      {"1 x ", NULL},
  };
  char log[256], runs[256];

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    snprintf(log, sizeof log,
             "gpu_model,duration,energy_consumed\n\"%s\",1,0.5\n",
             cases[i].model);
    snprintf(runs, sizeof runs, " %s%s%sduration_s=1 energy_j=1800000\n",
             cases[i].gpu ? "gpu=" : "", cases[i].gpu ? cases[i].gpu : "",
             cases[i].gpu ? " " : "");
    assert_runs(&dl_import_codecarbon, log, runs);
  }
}

/* --- Eco2AI */

static const char eco_log[] = ECO_0_3
    "A,p,d,\"epoch: 1, loss: 0.5, \",2023-10-24 18:10:25,100,0.5,0.1,"
    "\"Intel/1 device(s), TDP:45\",Quadro T1000 2 device(s),Linux,US,0\n"
    "A,p,d,\"epoch: 2, loss: 0.25, \",2023-10-24 18:12:05,150,0.25,0.05,"
    "\"Intel/1 device(s), TDP:45\",Quadro T1000 2 device(s),Linux,US,0\n"
    "B,p,d,N/A,2023-10-24 19:00:00,60.5,0.125,,i,"
    "CPU 0 device(s),Linux,US,0\n"
    "C,p,d,epoch: 0,2023-10-24 19:10:00,10,,,i, 0 device(s),Linux,US,0\n"
    "C,p,d,epoch: 1,2023-10-24 19:10:10,10,1,,i, 0 device(s),Linux,US,0\n";

static void test_eco2ai(void **state) {
  (void)state;
  assert_runs(
      &dl_import_eco2ai, eco_log,
      " run_id=A gpu=Quadro T1000 n_gpus=2 epochs=2 duration_s=250 epoch_s=125 "
      "energy_j=2700000 epoch_energy_j=1350000 co2e_g=150 "
      "start_time=2023-10-24T18:10:25 project=p job_name=d\n"
      " =0 start=0 s=100 all=1800000\n"
      " =1 start=100 s=150 all=900000\n"
      " run_id=B duration_s=60.5 energy_j=450000 "
      "start_time=2023-10-24T19:00:00 project=p job_name=d\n"
      " run_id=C epochs=2 duration_s=20 epoch_s=10 "
      "start_time=2023-10-24T19:10:00 project=p job_name=d\n"
      " =0 start=0 s=10\n"
      " =1 start=10 s=10 all=3600000\n");
  assert_runs(&dl_import_eco2ai,
              ECO_0_2 "p,d,2022-01-02 03:04:05,10,0.5,0.1,i,Tesla K80,Linux,"
                      "US\n",
              " gpu=Tesla K80 duration_s=10 energy_j=1800000 co2e_g=100 "
              "start_time=2022-01-02T03:04:05 project=p job_name=d\n");
  assert_runs(&dl_import_eco2ai, ECO_0_3, "");
}

/* Energies by device, with how the power was found; a run that goes on. */
static void test_eco2ai_devices(void **state) {
  static const char head[] =
      "id,epoch,duration(s),power_consumption(kWh),CPU_consumption(kWh),"
      "GPU_consumption(kWh),RAM_consumption(kWh),GPU_name\n";
  char log[1024];

  (void)state;
  snprintf(log, sizeof log, "%s%s", head,
           "A,epoch: 11,100,1,0.5,0.25,0.25,RTX 1 device(s) method:nvml\n"
           "A,epoch: 12,100,1,0.5,0.25,0.25,RTX 1 device(s) method:nvml\n"
           "A,N/A,4,1,0.5,0,0.5,CPU 0 device(s)\n");
  assert_runs(
      &dl_import_eco2ai, log,
      " run_id=A gpu=RTX n_gpus=1 epochs=2 duration_s=200 epoch_s=100 "
      "gpu_power_w=9000 gpu_energy_j=1800000 ram_energy_j=1800000 "
      "cpu_energy_j=3600000 energy_j=7200000 epoch_energy_j=3600000 "
      "cpu_power_w=18000 ram_power_w=9000\n"
      " =10 start=0 s=100 gpu_w=9000 gpu=900000 cpu=1800000 ram=900000 "
      "all=3600000\n"
      " =11 start=100 s=100 gpu_w=9000 gpu=900000 cpu=1800000 ram=900000 "
      "all=3600000\n"
      " run_id=A duration_s=4 ram_energy_j=1800000 cpu_energy_j=1800000 "
      "energy_j=3600000 cpu_power_w=450000 ram_power_w=450000\n");
}

static void test_eco2ai_faults(void **state) {
  (void)state;
  assert_runs(&dl_import_eco2ai,
              "id,epoch,duration(s),power_consumption(kWh),GPU_name\n"
              "A,epoch: x,1,0.5, device(s)\n"
              "A,epoch: 99999999999999999999,1,0.5,\n"
              "A,\"epoch: 5, \",z,0.5,\n"
              "A,epoch: 1,,,\n"
              ",epoch: 1,1,0.5,999999999999999999999999 device(s)\n"
              ",epoch: 2,1,0.5,\n"
              "VGhlIGlk,ZXBvY2g=,MTAw,MC41,R1BV\n",
              " run_id=A gpu=device(s) epochs=2 duration_s=2 epoch_s=1 "
              "energy_j=3600000 epoch_energy_j=1800000\n"
              " =0 start=0 s=1 all=1800000\n"
              " =1 start=1 s=1 all=1800000\n"
              " epochs=1 duration_s=1 epoch_s=1 energy_j=1800000 "
              "epoch_energy_j=1800000\n"
              " =0 start=0 s=1 all=1800000\n"
              " epochs=1 duration_s=1 epoch_s=1 energy_j=1800000 "
              "epoch_energy_j=1800000\n"
              " =1 start=0 s=1 all=1800000\n"
              "W:4: column 'duration(s)': invalid number 'z'\n"
              "W:5: neither a duration nor an energy\n"
              "W:8: column 'duration(s)': invalid number 'MTAw'\n");
}

static void test_cut_off(void **state) {
  (void)state;
  assert_prefixes(&dl_import_zeus, zeus_log, 1);
  assert_prefixes(&dl_import_codecarbon, cc_log, 1);
  assert_prefixes(&dl_import_eco2ai, eco_log, 3);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_zeus),
      cmocka_unit_test(test_zeus_faults),
      cmocka_unit_test(test_columns_missing),
      cmocka_unit_test(test_codecarbon_versions),
      cmocka_unit_test(test_codecarbon_states),
      cmocka_unit_test(test_codecarbon_many),
      cmocka_unit_test(test_codecarbon_faults),
      cmocka_unit_test(test_gpu_models),
      cmocka_unit_test(test_eco2ai),
      cmocka_unit_test(test_eco2ai_devices),
      cmocka_unit_test(test_eco2ai_faults),
      cmocka_unit_test(test_cut_off),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
