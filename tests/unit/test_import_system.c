/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers of what the system measures: PTDaemon, perf stat, turbostat; and
 * which of these and Slurm's knows a file. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "system_log.h"
#include "tests/messages.h"

/* --- ptdaemon */

static const char ptd_log[] =
    "Time,12-28-2020 15:21:14.682,Watts,22.950000,Volts,228.310000,Amps,"
    "0.198450,PF,0.506500,Mark,2020-12-28_15-20-52_testing\n"
    "Time,12-28-2020 15:21:15.691,Watts,-1.000000,Volts,-1.000000,Amps,"
    "-1.000000,PF,-1.000000,Mark,notset\n"
    "Time,12-28-2020 15:21:16.700,Watts,272.930000,Volts,-1.000000,Amps,"
    "-1.000000,PF,-1.000000,Mark,notset,Ch1,Watts,91.060000,Volts,120.95,Amps,"
    "0.832100,PF,0.938900,Ch2,Watts,181.87,Volts,120.83,Amps,0.8,PF,0.93\n"
    "Time,12-28-2020 15:21:17.737,Watts,422.866000,Volts,-1.000000,Amps,"
    "-1.000000,PF,-1.000000,Mark,t,Analyzer1,Time,12-28-2020 15:21:17.737,"
    "Watts,8.066,Volts,244.83,Amps,0.08057,PF,0.4089,Mark,t,Analyzer2,Time,"
    "12-28-2020 15:21:17.480,Watts,414.8,Volts,244.35,Amps,1.8,PF,0.9,Mark,t\n";

static void ptdaemon_reads_powers(void **state) {
  (void)state;
  check_probe(&dl_import_ptdaemon, ptd_log);
  check(&dl_import_ptdaemon, ptd_log,
        "NODE at 2020-12-28T15:21:14.682: 22.95 W\n"
        "NODE at 2020-12-28T15:21:15.691:\n"
        "NODE at 2020-12-28T15:21:16.700: 272.93 W\n"
        "NODE at 2020-12-28T15:21:17.737: 422.866 W\n",
        "");
  check_prefixes(&dl_import_ptdaemon, ptd_log, true);
}

static void ptdaemon_distinguishes_days_from_months(void **state) {
  (void)state;
  check_probe(&dl_import_ptdaemon, "Time,28-12-2020 15:21:14.682,Watts,22.95");
  check(&dl_import_ptdaemon,
        "Time,11-03-2024 10:00:00.000,Watts,1,Mark,a\n"
        "Time,28-12-2020 15:21:14.682,Watts,2,Mark,a\n"
        "Time,11-03-2024 10:00:00,Watts,3\n"
        "Time,12-28-2020 10:00:00,Watts,4\n"
        "Time,01/02/2021 10:00:00,Watts,5\n"
        "Time,2021-01-02 10:00:01,Watts,6\n",
        "NODE at 2024-11-03T10:00:00: 1 W\n"
        "NODE at 2020-12-28T15:21:14.682: 2 W\n"
        "NODE at 2024-03-11T10:00:00: 3 W\n"
        "NODE at 2020-12-28T10:00:00: 4 W\n"
        "NODE at 2021-01-02T10:00:00: 5 W\n"
        "NODE at 2021-01-02T10:00:01: 6 W\n",
        "");
}

static void ptdaemon_reports_lines(void **state) {
  (void)state;
  check(&dl_import_ptdaemon,
        "Watts,12\nTime\nTime,13-13-2020 10:00:00,Watts,1\n"
        "Time,12-28-2020 10:00:00,Volts,1\n"
        "Time,12-28-2020 10:00:00,Watts,Error\n"
        "Time,12-28-2020 10:00:00,Watts\n"
        "Time,12-28-2020 10:00:00,Watts,-11.11,Volts,246\n"
        "Time,12-28-2020 10:00:00,watts,7\n",
        "NODE at 2020-12-28T10:00:00: 7 W\n",
        "1: expected 'Time', found 'Watts'\n"
        "2: expected 'Time', found 'Time'\n"
        "3: column 'Time': invalid time '13-13-2020 10:00:00'\n"
        "4: no column 'Watts'\n"
        "5: column 'Watts': invalid number 'Error'\n"
        "6: no column 'Watts'\n"
        "7: column 'Watts': negative power '-11.11'\n");
}

/* --- perf */

static const char perf_log[] =
    "# started on Mon Dec  5 09:55:42 2022\n"
    "\n"
    "     1.001048308,19.63,Joules,power/energy-pkg/,2002406532,100.00,,\n"
    "     1.001048308,9.00,Joules,power/energy-cores/,2002406532,100.00,,\n"
    "     1.001048308,5.50,Joules,power/energy-ram/,2002406532,100.00,,\n"
    "     1.001048308,<not supported>,Joules,power/energy-psys/,0,100.00,,\n"
    "     1.001048308,123456,,cycles,2002406532,100.00,,\n"
    "     2.002369058,19.41,Joules,power/energy-pkg/,2002617705,100.00,,\n"
    "     2.002369058,5.25,Joules,power/energy-ram/,2002617705,100.00,,\n";

static void perf_adds_intervals_up(void **state) {
  (void)state;
  check_probe(&dl_import_perf, perf_log);
  check(&dl_import_perf, perf_log,
        "CPU at 2022-12-05T09:55:42: 0 J\n"
        "CPU at 2022-12-05T09:55:43.001048308: 19.63 J\n"
        "RAM at 2022-12-05T09:55:42: 0 J\n"
        "RAM at 2022-12-05T09:55:43.001048308: 5.5 J\n"
        "CPU at 2022-12-05T09:55:44.002369058: 39.04 J\n"
        "RAM at 2022-12-05T09:55:44.002369058: 10.75 J\n",
        "");
  check_prefixes(&dl_import_perf, perf_log, true);
  /* Not counted for a while: the counter stands still. */
  static const char gap[] =
      "1.0;8,00;Joules;power/energy-pkg/;1;100,00\n"
      "2.0;<not counted>;Joules;power/energy-pkg/;0;100,00\n"
      "3.0;9,50;Joules;power/energy-pkg/;1;100,00\n";
  check_probe(&dl_import_perf, gap);
  check(&dl_import_perf, gap,
        "CPU at 0: 0 J\nCPU at 1: 8 J\nCPU at 2: 8 J\nCPU at 3: 17.5 J\n", "");
  /* The beginning is missing, and a second run follows. */
  check(&dl_import_perf,
        "61.0\t8.0\tJoules\tpower/energy-pkg/\n"
        "62.0\t9.0\tJoules\tpower/energy-pkg/\n"
        "63.0\t9.0\tJoules\tpower/energy-pkg/\n"
        "1.0\t7.0\tJoules\tpower/energy-pkg/\n",
        "CPU at 60: 0 J\nCPU at 61: 8 J\nCPU at 62: 17 J\nCPU at 63: 26 J\n"
        "CPU at 63: 26 J\nCPU at 64: 33 J\n",
        "4: " MSG_times_begin_anew_taken "\n");
}

static void perf_distinguishes_sockets(void **state) {
  static const char csv[] =
      "1.0,S0,1,10.00,Joules,power/energy-pkg/,1,100.00,,\n"
      "1.0,S1,1,20.00,Joules,power/energy-pkg/,1,100.00,,\n"
      "1.0,S0,1,1.50,Joules,power/energy-ram/,1,100.00,,\n"
      "1.0,S0-D0,1,1.00,Joules,power/energy-pkg/,1,100.00,,\n"
      "1.0,S0-D0-C0,1,1.00,Joules,power/energy-ram/,1,100.00,,\n"
      "1.0,CPU0,3.00,Joules,power/energy-psys/,1,100.00,,\n";

  (void)state;
  check_probe(&dl_import_perf, csv);
  check(&dl_import_perf, csv,
        "CPU package-0 at 0: 0 J\nCPU package-0 at 1: 10 J\n"
        "CPU package-1 at 0: 0 J\nCPU package-1 at 1: 20 J\n"
        "RAM package-0 at 0: 0 J\nRAM package-0 at 1: 1.5 J\n"
        "CPU S0-D0 at 0: 0 J\nCPU S0-D0 at 1: 1 J\n"
        "RAM S0-D0 at 0: 0 J\nRAM S0-D0 at 1: 1 J\n"
        "NODE CPU0 at 0: 0 J\nNODE CPU0 at 1: 3 J\n",
        "");
  /* The layout for people. */
  static const char people[] =
      "#           time socket cpus             counts unit events\n"
      "     1.001079482 S0        1              12.50 Joules "
      "power/energy-pkg/   \n"
      "     1.001079482 S0        1      <not counted> Joules "
      "power/energy-ram/\n"
      "     2.001079482 S0        1           1,200.25 Joules "
      "power/energy-pkg/\n"
      "     2.001079482 S0        1    <not supported> Joules "
      "power/energy-psys/\n";
  check_probe(&dl_import_perf, people);
  check(&dl_import_perf, people,
        "CPU package-0 at 0: 0 J\nCPU package-0 at 1.001079482: 12.5 J\n"
        "CPU package-0 at 2.001079482: 1212.75 J\n",
        "");
}

static void perf_reads_totals(void **state) {
  static const char people[] =
      "\n Performance counter stats for 'system wide':\n\n"
      "              3.59 Joules power/energy-cores/            \n"
      "              8.18 Joules power/energy-ram/              \n"
      "          1,012.74 Joules power/energy-pkg/      ( +-  0.83% )\n"
      "\n"
      "       5.001965465 +- 0.000736 seconds time elapsed  ( +-  0.00% )\n\n";

  (void)state;
  check_probe(&dl_import_perf, people);
  check(&dl_import_perf, people,
        "8: duration_s=5.001965465 ram_energy_j=8.18 cpu_energy_j=1012.74 "
        "energy_j=1020.92 boundary=cpu+ram\n",
        "");
  check(&dl_import_perf,
        "# started on Mon Dec  5 09:55:42 2022\n"
        "893.33,Joules,power/energy-pkg/,20005559241,100.00,,\n"
        "2000.00,Joules,power/energy-psys/,20005559241,100.00,,\n"
        "892.02,Joules,power/energy-pkg/,20005343388,100.00,,\n",
        "4: cpu_energy_j=893.33 node_energy_j=2000 energy_j=2000 "
        "boundary=node start_time=2022-12-05T09:55:42\n"
        "4: cpu_energy_j=892.02 energy_j=892.02 boundary=cpu "
        "start_time=2022-12-05T09:55:42\n",
        "");
  /* Per socket, added up; French digits. */
  check(&dl_import_perf,
        "S0  1  1\342\200\257000,25 Joules power/energy-pkg/\n"
        "S1  1  0,50 Joules power/energy-pkg/\n"
        "   0,000810670 seconds time elapsed\n",
        "3: duration_s=0.00081067 cpu_energy_j=1000.75 energy_j=1000.75 "
        "boundary=cpu\n",
        "");
}

static void perf_reports_lines(void **state) {
  (void)state;
  check(&dl_import_perf,
        "1.0,8.00,Joules,power/energy-pkg/,1,100.00,,\n"
        "2.0,x,Joules,power/energy-pkg/,1,100.00,,\n"
        "garbage\n"
        "2.0,S0,1,2,8.00,Joules,power/energy-pkg/,1,100.00,,\n"
        "3.0,8.00,Joules,power/energy-pkg/,1,100.00,,\n"
        "         summary,16.00,Joules,power/energy-pkg/,1,100.00,,\n",
        "CPU at 0: 0 J\nCPU at 1: 8 J\nCPU at 3: 16 J\n",
        "2: no event of perf stat: '2.0'\n"
        "3: no event of perf stat: 'garbage'\n"
        "4: no event of perf stat: '2.0'\n");
  check(&dl_import_perf, "# started on yesterday\n", "", "");
}

/* --- turbostat */

static const char turbo_log[] =
    "turbostat version 2023.11.07 - Len Brown <lenb@kernel.org>\n"
    "CPUID(0): GenuineIntel 0x16 CPUID levels\n"
    "cpu0: MSR_PKG_POWER_LIMIT: 0x1 (UNlocked)\n"
    "5.031399 sec\n"
    "Time_Of_Day_Seconds\tPackage\tCore\tCPU\tBusy%\tPkgWatt\tRAMWatt\tPKG_%\n"
    "1643720006.332280\t-\t-\t-\t0.80\t193.12\t111.17\t0.00\n"
    "1643720006.332290\t0\t0\t0\t0.41\t44.66\t25.49\t0.00\n"
    "1643720006.332300\t0\t0\t64\t0.04\n"
    "1643720006.332310\t1\t0\t8\t0.01\t148.46\t85.68\t0.00\n"
    "Time_Of_Day_Seconds\tPackage\tCore\tCPU\tBusy%\tPkgWatt\tRAMWatt\tPKG_%\n"
    "1643720011.332280\t-\t-\t-\t0.80\t10.00\t11.00\t0.00\n"
    "1643720011.332290\t0\t0\t0\t0.41\t9.00\t10.00\t0.00\n"
    "1643720011.332310\t1\t0\t8\t0.01\t1.00\t1.00\t0.00\n";

static void turbostat_reads_packages(void **state) {
  (void)state;
  check_probe(&dl_import_turbostat, turbo_log);
  check(&dl_import_turbostat, turbo_log,
        "CPU package-0 at 2022-02-01T12:53:26.332290Z: 44.66 W\n"
        "RAM package-0 at 2022-02-01T12:53:26.332290Z: 25.49 W\n"
        "CPU package-1 at 2022-02-01T12:53:26.332310Z: 148.46 W\n"
        "RAM package-1 at 2022-02-01T12:53:26.332310Z: 85.68 W\n"
        "CPU package-0 at 2022-02-01T12:53:31.332290Z: 9 W\n"
        "RAM package-0 at 2022-02-01T12:53:31.332290Z: 10 W\n"
        "CPU package-1 at 2022-02-01T12:53:31.332310Z: 1 W\n"
        "RAM package-1 at 2022-02-01T12:53:31.332310Z: 1 W\n",
        "");
  check_prefixes(&dl_import_turbostat, turbo_log, true);
}

#define ASSUMED                                                                \
  " no times in this log: one sample a second assumed; --interval says "       \
  "otherwise\n"

static void turbostat_counts_packages_once(void **state) {
  (void)state;
  /* Core and CPU: the row of the sum. */
  check(&dl_import_turbostat,
        "Core\tCPU\tAvg_MHz\tPkgWatt\tSysWatt\n-\t-\t10\t76.94\t200\n"
        "0\t0\t4\t76.95\t200\n1\t1\t4\nCore\tCPU\tAvg_MHz\tPkgWatt\tSysWatt\n"
        "-\t-\t10\t80\t210\n0\t0\t4\t80\t210\n",
        "CPU at 0: 76.94 W\nNODE at 0: 200 W\nCPU at 1: 80 W\n"
        "NODE at 1: 210 W\n",
        ASSUMED);
  /* Package, without times; between blanks. */
  check(&dl_import_turbostat,
        " Package CPU PkgWatt SysWatt\n  - - 30 99\n 0 0 10 98\n 1 1 20\n"
        " - - 50 97\n 0 0 20\n 1 1 30\n",
        "NODE at 0: 99 W\nCPU package-0 at 0: 10 W\nCPU package-1 at 0: 20 W\n"
        "NODE at 1: 97 W\nCPU package-0 at 1: 20 W\nCPU package-1 at 1: 30 W\n",
        ASSUMED);
  /* Neither: the first row is the sum of the others. */
  check(&dl_import_turbostat,
        "PkgWatt\tRAMWatt\n30.01\t3\n10.00\t1.5\n20.00\t1.5\nPkgWatt\tRAMWatt\n"
        "50\t5\n20\t3\n30\t2\n",
        "CPU at 0: 30.01 W\nRAM at 0: 3 W\nCPU at 1: 50 W\nRAM at 1: 5 W\n",
        ASSUMED);
}

static void turbostat_reads_summaries(void **state) {
  static const char log[] =
      "Avg_MHz\tBusy%\tPkgWatt\tCorWatt\tGFXWatt\tRAMWatt\n"
      "1\t0.04\t63.01\t9\t9\t33.18\n1\t0.03\t62.98\t9\t9\t33.20\n"
      "1\t0.03\t60\t9\t9\t30\n";
  struct dl_text text = {0}, expected = {0};

  (void)state;
  check_probe(&dl_import_turbostat, log);
  check(&dl_import_turbostat, log,
        "CPU at 0: 63.01 W\nRAM at 0: 33.18 W\nCPU at 1: 62.98 W\n"
        "RAM at 1: 33.2 W\nCPU at 2: 60 W\nRAM at 2: 30 W\n",
        ASSUMED);
  check_prefixes(&dl_import_turbostat, log, true);
  /* More rows than are held back, and a header in between. */
  dl_text_add(&text, "PkgWatt\n");
  for (int i = 0; i < 40; i++) {
    dl_text_printf(&text, i == 30 ? "PkgWatt\n%d\n" : "%d\n", 100 + i % 7);
    dl_text_printf(&expected, "CPU at %d: %d W\n", i, 100 + i % 7);
  }
  check(&dl_import_turbostat, text.s, expected.s, ASSUMED);
  dl_text_free(&text);
  dl_text_free(&expected);
}

static void turbostat_reports_lines(void **state) {
  (void)state;
  check(&dl_import_turbostat,
        "Package\tTime_Of_Day_Seconds\tPkgWatt\nx\t1643720006\t1\n"
        "0\tx\t1\n0\t1643720006\tx\n0\t1643720006\t-5\n0\t1643720006\t\n"
        "0\t1643720006.5\t2\n10.003 sec\n",
        "CPU package-0 at 2022-02-01T12:53:26.500Z: 2 W\n",
        "2: column 'Package': invalid number 'x'\n"
        "3: column 'Time_Of_Day_Seconds': invalid time 'x'\n"
        "4: column 'PkgWatt': invalid number 'x'\n"
        "5: column 'PkgWatt': invalid number '-5'\n");
  check(&dl_import_turbostat, "nothing\nat all\n", "", "");
}

/* --- recognising */

static void probes_refuse_others(void **state) {
  static const char *const others[] = {
      "",
      "\n\n",
      "timestamp, name, power.draw [W]\n2022/12/05 09:55:42, A100, 85.23 W\n",
      "timestamp,gpu_name,gpu_usage,gpu_power_draw\n",
      "timestamp,cpu usage (%),memory usage (MB)\n",
      "timestamp,project_name,run_id,duration,emissions,energy_consumed\n",
      "start_time,window_name,elapsed_time,gpu0_energy\n",
      "id,project_name,epoch,start_time,duration(s),power_consumption(kWh)\n",
      "2022-12-05 09:55:42 - Epoch 1:\n",
      "Time,Watts,Volts\n12-28-2020 15:21:14.682,22.95,228\n",
      "Time,Power\n12:00:00,5\n",
      "JobID|QOS\n1|normal\n",
      "run_id,arch,gpu,n_gpus,duration_s,energy_j\n",
      "#Entity Power\n# Id W\nGPU 0 85.2\n",
      "1.0,2.0,3.0\n4.0,5.0,6.0\n",
      "12 Joules of energy-pkg\n",
      "x PkgWatts RAMWatts\n",
      "PkgWatt,RAMWatt\n1,2\n",
      "Some text about Joules and PkgWatt_\n",
  };

  (void)state;
  for (size_t i = 0; i < COUNT(others); i++)
    check_probe(NULL, others[i]);
}

static void probes_know_heads(void **state) {
  static const struct {
    const struct dl_importer *importer;
    const char *head;
  } cases[] = {
      {&dl_import_sacct, "JobID|JobName|User|State|AllocTRES\n"},
      {&dl_import_sacct, "JobID|State"},
      {&dl_import_sacct, "JobID|ElapsedRaw|ConsumedEnergyRaw\n1|2|3\n2|3|4\n"},
      {&dl_import_sstat, "JobID|ConsumedEnergyRaw\n"},
      {&dl_import_sstat, "Timestamp,JobID,ConsumedEnergyRaw"},
      {&dl_import_sstat, "JobID|Elapsed|ConsumedEnergyRaw\n1|00:00:02|3\n"
                         "1|00:00:03|4\n1|0"},
      {&dl_import_ptdaemon, "\r\nTime,12-28-2020 15:21:14,Watts,2"},
      {&dl_import_perf, "# started on Mon Dec  5 09:55:42 2022\n"},
      {&dl_import_perf, "1.0,1,,cycles\n1.0,1.0,Joules,power/energy-pkg/,1\n"},
      {&dl_import_turbostat, "PkgWatt\tRAMWatt"},
      {&dl_import_turbostat, "10.003 sec\nPkgWatt\n1\n"},
      {&dl_import_turbostat, "     CPU Avg_MHz   %Busy PkgWatt\n"},
      {&dl_import_turbostat, "turbostat version 20.09.30 - Len Brown\n"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    check_probe(cases[i].importer, cases[i].head);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ptdaemon_reads_powers),
      cmocka_unit_test(ptdaemon_distinguishes_days_from_months),
      cmocka_unit_test(ptdaemon_reports_lines),
      cmocka_unit_test(perf_adds_intervals_up),
      cmocka_unit_test(perf_distinguishes_sockets),
      cmocka_unit_test(perf_reads_totals),
      cmocka_unit_test(perf_reports_lines),
      cmocka_unit_test(turbostat_reads_packages),
      cmocka_unit_test(turbostat_counts_packages_once),
      cmocka_unit_test(turbostat_reads_summaries),
      cmocka_unit_test(turbostat_reports_lines),
      cmocka_unit_test(probes_refuse_others),
      cmocka_unit_test(probes_know_heads),
  };
  return cmocka_run_group_tests_name("import_system", tests, make_temp_dir,
                                     remove_temp_dir);
}
