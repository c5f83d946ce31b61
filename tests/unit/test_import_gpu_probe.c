/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files the importers of GPU tools' logs and of tables of samples take
 * for theirs, and what the columns of such tables mean. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit.h"

#include "logs/importers/importers.h"
#include "logs/importers/tables/sample_columns.h"
#include "logs/importers/importer.h"

static const struct dl_importer *const importers[] = {
    &dl_import_nvidia_smi_dmon, &dl_import_dcgmi_dmon, &dl_import_rocm_smi,
    &dl_import_samples};

/* Beginnings of files, and the importer above that takes each; -1: none. */
static const struct {
  int whose;
  const char *text;
} heads[] = {
    {0, "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec"},
    {0, "# gpu   pwr  temp    sm   mem   enc   dec  mclk  pclk\n# Idx W"},
    {0, "\r\n#Date       Time        gpu   pwr gtemp\r\n#YYYYMMDD"},
    {0, "#Time        gpu    sm   mem\n"},
    {0, "#Date       gpu    sm   mem\n"},
    {0, "#gpu, pwr, gtemp, mtemp, sm\n#Idx, W, C, C, %\n0, 1, 2, 3, 4\n"},
    {0, "# time,gpu,pwr,gtemp,mystery\n23:59:59,0,300,70,alpha\n"},
    {0, "some warning\n# gpu pwr\n"},
    {1, "#Entity   POWER   TOTEC   GPUTL\nID  W  mJ  %\n"},
    {1, "# Entity  GRACT  SMACT\n      Id\n    GPU 0  0.0  0.0\n"},
    {1, "2023-03-09T13:27:53.079 #Entity   POWINST\n"},
    {2, "device,Average Graphics Package Power (W),GPU use (%)\ncard0,35.0,0"},
    {2, "\n\ndevice,Current Socket Graphics Package Power (W)\n"},
    {2, "Thu Mar  9 13:27:53 UTC 2023\nWARNING: x\n\ndevice,GPU use (%)\n"},
    {2, "1787485761 device,Accumulated Energy (uJ)\n"},
    {2, "timestamp,device,Average Graphics Package Power (W)\n"},
    {2, "gpu,power_usage,max_power,hotspot_temperature,gfx,mem\n"},
    {2, "timestamp,gpu,socket_power,gfx_voltage\n1,0,5,6\n"},
    {2, "'CTRL' + 'C' to stop watching output:\ntimestamp,gpu,gfx_activity,"
        "average_socket_power\n"},
    {3, "timestamp,power_w\n"},
    {3, "Timestamp,GPU_Power_W,GPU_Util_Pct,GPU_Temp_C\n"},
    {3, "time_sec,gpu0_temp_C,gpu1_temp_C,gpu0_power_W,gpu1_power_W\n"},
    {3, "# meter of the rack\n# time;watts\n0;5\n"},
    {3, "ts_iso,hostname,cpu_pkg0_w,system_w\n"},
    {3, "elapsed_s\tenergy_mj\n"},
    {3, "\"time\",\"energy [kWh]\"\r\n"},
    {3, "epoch,timestamp,gpu_power_w\n"},
    /* Of no one here: other tools, tables of runs and of epochs, no time, no
     * power, units that are not clear. */
    {-1, "# gpu         pid   type     sm    mem    enc    dec    command\n"},
    {-1, "# gpu    fb\n"},
    {-1, "#Entity   SMCLK\n"},
    {-1, "device,Temperature (Sensor edge) (C)\ncard0,40\n"},
    {-1, "timestamp,gpu,power_usage\n"},
    {-1, "run_id,gpu,duration_s,gpu_power_w,energy_j,timestamp\n"},
    {-1, "timestamp,project_name,run_id,experiment_id,duration,emissions,"
         "cpu_power,gpu_power,ram_power,cpu_energy\n"},
    {-1, "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n"},
    {-1, "id,project_name,experiment_description,epoch,start_time,duration(s),"
         "power_consumption(kWh),CO2_emissions(kg),CPU_name\n"},
    {-1, "timestamp,cpu usage (%),memory usage (MB),temperature (Celsius)\n"},
    {-1, "timestamp, name, utilization.gpu [%], temperature.gpu\n"},
    {-1, "JobID|JobName|Elapsed|ConsumedEnergyRaw\n"},
    {-1, "Time,28-12-2020 15:21:14.682,Watts,22.95,Volts,228.4\n"},
    {-1, "2023-03-09 13:27:53 - Epoch 1:\n"},
    {-1, "gpu_power_w,cpu_power_w\n1,2\n"},
    {-1, "a line\ntimestamp,power_w\n"},
    {-1, "{\"timestamp\": 1, \"power_w\": 2}\n"},
    {-1, ""},
    {-1, "\n\n"},
    {-1, "#"},
    {-1, "# gpu"},
    {-1, "timestamp"},
};

static void test_probe(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(heads); i++) {
    struct dl_head head = {heads[i].text, strlen(heads[i].text), "log"};
    for (size_t k = 0; k < COUNT(importers); k++)
      if (importers[k]->probe(&head) != ((int)k == heads[i].whose))
        fail_msg("%s: '%s'", importers[k]->name, heads[i].text);
  }
}

/* The first importer of the whole table that knows a file. */
static const char *recognised(const char *text) {
  struct dl_head head = {text, strlen(text), "log"};
  for (size_t i = 0; dl_importers[i]; i++)
    if (dl_importers[i]->probe(&head))
      return dl_importers[i]->name;
  return "none";
}

/* Seeds of the fuzzers lie in folders with their importers' names. */
static void test_seeds(void **state) {
  char folder[2 * PATH_SIZE], path[4 * PATH_SIZE];
  (void)state;
  for (size_t k = 0; k < COUNT(importers); k++) {
    size_t n = 0;
    snprintf(folder, sizeof folder, "%s/%s", in_tree("tests/fuzz/corpus"),
             importers[k]->name);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
      if (e->d_name[0] == '.')
        continue;
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      char *text = get_file(path);
      if (strcmp(recognised(text), importers[k]->name) != 0)
        fail_msg("%s is taken for one of %s", path, recognised(text));
      free(text);
      n++;
    }
    closedir(dir);
    assert_true(n > 0);
  }
}

static const char *describe(const char *name) {
  static const char *const kinds[] = {"gpu", "cpu", "ram", "node"};
  static const char *const quantities[] = {"power", "energy", "util"};
  static char buf[128];
  struct dl_sample_column c;
  if (!dl_sample_column(name, &c))
    return "";
  snprintf(buf, sizeof buf, "%s%s %ld %s %g%s", kinds[c.kind],
           c.names_meter ? "" : "?", c.index, quantities[c.quantity], c.scale,
           c.no_unit ? " no unit" : "");
  return buf;
}

static const char *const described_columns[][2] = {
    {"power_w", "gpu? -1 power 1"},
    {"power [W]", "gpu? -1 power 1"},
    {"Power (mW)", "gpu? -1 power 0.001"},
    {"Power_Watts", "gpu? -1 power 1"},
    {"watts", "gpu? -1 power 1"},
    {"power_draw", "gpu? -1 power 1 no unit"},
    {"gpu_power_w", "gpu -1 power 1"},
    {"GPU0 power [W]", "gpu 0 power 1"},
    {"gpu_12_power_mw", "gpu 12 power 0.001"},
    {"power_gpu3_w", "gpu 3 power 1"},
    {"cpu_power_w", "cpu -1 power 1"},
    {"rapl_package_w", "cpu -1 power 1"},
    {"rapl_energy_uj", "cpu -1 energy 1e-06"},
    {"rapl_dram_energy_\xC2\xB5J", "ram -1 energy 1e-06"},
    {"cpu_pkg1_w", "cpu 1 power 1"},
    {"ram_power_w", "ram -1 power 1"},
    {"node_power_w", "node -1 power 1"},
    {"system_w", "node -1 power 1"},
    {"total_power_w", "node -1 power 1"},
    {"total_gpu_w", "gpu -1 power 1"},
    {"energy_j", "gpu? -1 energy 1"},
    {"energy_j_cumulative", "gpu? -1 energy 1"},
    {"energy_mj", "gpu? -1 energy 0.001"},
    {"gpu0_energy_mj", "gpu 0 energy 0.001"},
    {"total_energy_consumption", "gpu -1 energy 0.001"},
    {"node energy (kWh)", "node -1 energy 3.6e+06"},
    {"gpu_util", "gpu -1 util 0.01 no unit"},
    {"GPU0_UTIL_PERC", "gpu 0 util 0.01"},
    {"gpu utilization [%]", "gpu -1 util 0.01"},
    {"cpu usage (%)", "cpu -1 util 0.01"},
    {"gpu_util_fraction", "gpu -1 util 1"},
    {"system.gpu.0.powerWatts", "gpu 0 power 1"},
    {"system/gpu.12.powerWatts", "gpu 12 power 1"},
    {"gpu.1.gpu", "gpu 1 util 0.01"},
    /* Others, or not clear. */
    {"system.gpu.process.0.powerWatts", ""},
    {"system.gpu.0.powerPercent", ""},
    {"system.gpu.0.enforcedPowerLimitWatts", ""},
    {"system.gpu.0.powerWatts/l:n1", ""},
    {"power_usage", ""},
    {"energy", ""},
    {"gpu0_energy", ""},
    {"power_limit_w", ""},
    {"max_power_w", ""},
    {"power_j", ""},
    {"energy_w", ""},
    {"power_energy_w", ""},
    {"gpu_cpu_power_w", ""},
    {"gpu_mem_util_pct", ""},
    {"memory usage (MB)", ""},
    {"mem_util_pct", ""},
    {"temperature", ""},
    {"gpu0_1_power_w", ""},
    {"power1_w", "gpu? 1 power 1"},
    {"gpu_power_2", "gpu 2 power 1 no unit"},
    {"gpu12345_power_w", ""},
    {"power_w_mw", ""},
    {"percent", ""},
    {"\xC3\xA9nergie_j", ""},
    {"gpu_power_w_gpu_power_w_gpu_power_w_gpu_power_w_gpu_power_w_gpu_w", ""},
    {"", ""},
    {"_", ""},
};

static void test_columns(void **state) {
  size_t rank, better;
  (void)state;
  for (size_t i = 0; i < COUNT(described_columns); i++)
    if (strcmp(describe(described_columns[i][0]), described_columns[i][1]) != 0)
      fail_msg("'%s' is '%s', not '%s'", described_columns[i][0],
               describe(described_columns[i][0]), described_columns[i][1]);
  assert_true(dl_sample_time("Elapsed (ms)", &rank) == 1e-3);
  assert_true(dl_sample_time("Timestamp", &better) == 1);
  assert_true(better < rank);
  assert_true(dl_sample_time("power_w", &rank) == 0);
  assert_int_equal(dl_sample_label("GPU UUID", false), DL_LABEL_UUID);
  assert_int_equal(dl_sample_label("run_id", false), DL_LABEL_OTHER);
  assert_int_equal(dl_sample_label("run_id", true), DL_LABEL_RUN);
  assert_int_equal(dl_sample_label("name", false), DL_LABEL_NAME);
  assert_int_equal(dl_sample_label("loss", false), DL_LABEL_NONE);
}

static void test_fields(void **state) {
  char text[] = " a ,\"b,\"\"c\"\" \", \"d\" , e\"f,g\" ,,\"", *field[6];
  static const char *const want[] = {"a",        "b,\"c\" ", "d",
                                     "e\"f,g\"", "",         "\""};
  size_t n;
  (void)state;
  n = dl_cell_split(text, ',', field, 6);
  assert_int_equal(n, 6);
  for (size_t i = 0; i < n; i++)
    assert_string_equal(field[i], want[i]);
  char more[] = "a,b,c";
  n = dl_cell_split(more, ',', field, 2);
  assert_int_equal(n, 3);
}

static void test_rounds(void **state) {
  struct dl_rounds r = {0};
  static const size_t device[] = {2, 1, 0, 2, 0, 2, 1, 1, 300, 300};
  static const size_t round[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4};
  (void)state;
  for (size_t i = 0; i < COUNT(device); i++)
    assert_int_equal(dl_round_of(&r, device[i]), round[i]);
  assert_int_equal(r.n_twice, 1); /* 1, before 300 */
  assert_int_equal(r.twice, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_probe),   cmocka_unit_test(test_seeds),
      cmocka_unit_test(test_columns), cmocka_unit_test(test_fields),
      cmocka_unit_test(test_rounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
