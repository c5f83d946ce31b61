/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers of Slurm's tables: sacct, sstat. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "system_log.h"
#include "logs/slurm/slurm.h"
#include "tests/messages.h"

/* --- sacct */

#define SACCT_HEAD                                                             \
  "JobID|JobName|User|Account|State|ElapsedRaw|Start|NNodes|NCPUS|TotalCPU|"   \
  "ConsumedEnergyRaw|AllocTRES\n"

static const char sacct_log[] = SACCT_HEAD
    "100|train|ann|ml|COMPLETED|3600|2024-02-29T14:28:31|1|8|04:00:00|720000|"
    "billing=8,cpu=8,energy=720000,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1\n"
    "100.batch|batch||ml|COMPLETED|3600|2024-02-29T14:28:31|1|8|03:59:59|"
    "719000|cpu=8,gres/gpu=2,mem=64G,node=1\n"
    "100.extern|extern||ml|COMPLETED|3600|2024-02-29T14:28:31|1|8|00:00:00|"
    "720000|billing=8,cpu=8,gres/gpu=2,mem=64G,node=1\n"
    "101_4|sweep|bob|ml|CANCELLED by 1000|60|2024-03-01T00:00:00|2|4|00:30.500|"
    "|cpu=4,node=2\n"
    "101_4.0|python||ml|CANCELLED by 1000|50|2024-03-01T00:00:00|2|4|00:30.500|"
    "5000|cpu=4,node=2\n"
    "102+0|het|ann|ml|RUNNING|10|2024-03-01T01:00:00|1|4|00:00:00|0|"
    "cpu=4,gres/gpu=1,node=1\n";

static void sacct_gives_one_run_a_job(void **state) {
  (void)state;
  check(&dl_import_sacct, sacct_log,
        "2: run_id=100 gpu=a100 n_gpus=2 duration_s=3600 "
        "node_energy_j=720000 energy_j=720000 boundary=node cpu_util=0.5 "
        "ram_gb=68.71947674 "
        "start_time=2024-02-29T14:28:31 project=ml job_name=train user=ann "
        "state=COMPLETED n_nodes=1 n_cpus=8\n"
        "5: run_id=101_4 duration_s=60 node_energy_j=5000 energy_j=5000 "
        "boundary=node cpu_util=0.1270833333 start_time=2024-03-01T00:00:00 "
        "project=ml job_name=sweep user=bob state=CANCELLED n_nodes=2 "
        "n_cpus=4\n"
        "7: run_id=102+0 n_gpus=1 duration_s=10 boundary=node "
        "start_time=2024-03-01T01:00:00 project=ml job_name=het user=ann "
        "state=RUNNING n_nodes=1 n_cpus=4\n",
        "");
  check_prefixes(&dl_import_sacct, sacct_log, false);
}

static void sacct_finds_overlapping_energies(void **state) {
#define HEAD "JobID|Elapsed|NNodes|ConsumedEnergy\n"
#define TWICE                                                                  \
  "energies of jobs are sums over steps that overlap: those of the steps are " \
  "used instead\n"
  (void)state;
  /* An older slurmctld: the job is the sum of its steps. */
  check(&dl_import_sacct,
        HEAD "1|1-10:13:13|54|4.16G\n1.batch|1-10:13:13|1|38.56M\n"
             "1.extern|1-10:13:13|54|2.08G\n1.0|1-10:13:00|54|2.04G\n",
        "2: run_id=1 duration_s=123193 node_energy_j=2080000000 "
        "energy_j=2080000000 boundary=node n_nodes=54\n",
        "5: " TWICE);
  /* Without .extern: on one node .batch covers it all. */
  check(&dl_import_sacct,
        HEAD "2|00:10:00|1|150K\n2.batch|00:10:00|1|80K\n2.0|00:09:00|1|70K\n",
        "2: run_id=2 duration_s=600 node_energy_j=80000 energy_j=80000 "
        "boundary=node n_nodes=1\n",
        "4: " TWICE);
  /* On several nodes the numbered steps do, in turn. */
  check(&dl_import_sacct,
        HEAD "3|00:10:00|2|230K\n3.batch|00:10:00|1|80K\n"
             "3.0|00:05:00|2|70K\n3.1|00:05:00|2|80K\n",
        "2: run_id=3 duration_s=600 node_energy_j=150000 energy_j=150000 "
        "boundary=node n_nodes=2\n",
        "5: " TWICE);
  /* Without .batch the job's own sum is right. */
  check(&dl_import_sacct,
        HEAD "4|00:10:00|2|150.5K\n4.0|00:05:00|2|70K\n4.1|00:05:00|2|80K\n",
        "2: run_id=4 duration_s=600 node_energy_j=150500 energy_j=150500 "
        "boundary=node n_nodes=2\n",
        "");
  /* Steps alone, as with -j 5.0. */
  check(&dl_import_sacct, HEAD "5.0|00:05:00|2|1.5M\n",
        "2: run_id=5 duration_s=300 node_energy_j=1500000 energy_j=1500000 "
        "boundary=node\n",
        "");
#undef HEAD
}

static void sacct_leaves_out_what_is_no_energy(void **state) {
#define HEAD "JobID|ElapsedRaw|NNodes|ConsumedEnergyRaw\n"
  (void)state;
  check(&dl_import_sacct,
        HEAD "1|60|1|4294967294\n2|60|1|18446744073709551614\n3|60|1|0\n"
             "4|60|1|\n5|60|1|99999999999\n6|60|1|abc\n",
        "2: run_id=1 duration_s=60 boundary=node n_nodes=1\n"
        "3: run_id=2 duration_s=60 boundary=node n_nodes=1\n"
        "4: run_id=3 duration_s=60 boundary=node n_nodes=1\n"
        "5: run_id=4 duration_s=60 boundary=node n_nodes=1\n"
        "6: run_id=5 duration_s=60 boundary=node n_nodes=1\n",
        "7: job 5: an energy of 1e+11 J in 60 s is impossible and left out\n"
        "7: last line skipped: column 'ConsumedEnergy': invalid number "
        "'abc'\n");
#undef HEAD
  /* 18 GJ on one node in 2 h: 2.5 MW; 10 J: 1.4 mW; 1 W is possible. */
  check(&dl_import_sacct,
        "JobID|ElapsedRaw|AllocTRES|ConsumedEnergyRaw\n"
        "1|7200|cpu=8,node=1|18000000000\n2|7200|cpu=8,node=1|10\n"
        "3|7200|cpu=8,node=1|7200\n4|-7200|cpu=8,node=1|7200\n",
        "2: run_id=1 duration_s=7200 boundary=node n_nodes=1 n_cpus=8\n"
        "3: run_id=2 duration_s=7200 boundary=node n_nodes=1 n_cpus=8\n"
        "4: run_id=3 duration_s=7200 node_energy_j=7200 energy_j=7200 "
        "boundary=node n_nodes=1 n_cpus=8\n",
        "3: job 1: an energy of 1.8e+10 J in 7200 s is impossible and left "
        "out\n"
        "4: job 2: an energy of 10 J in 7200 s is impossible and left out\n"
        "5: last line skipped: column 'ElapsedRaw': invalid duration "
        "'-7200'\n");
}

static void sacct_reads_its_layouts(void **state) {
  static const char run[] = "duration_s=60 node_energy_j=6000 energy_j=6000 "
                            "boundary=node state=COMPLETED\n";
  static const char *const logs[] = {
      "State|JobID|ConsumedEnergyRaw|Elapsed|\nCOMPLETED|7|6000|00:01:00|\n",
      "State,ConsumedEnergy,JobID,Elapsed\r\nCOMPLETED,6K,7,01:00\r\n",
      "State;ConsumedEnergy;JobIDRaw;ElapsedRaw\nCOMPLETED;6.00K;7;60\n",
      "\n\nState\tElapsed\tAllocTRES\tJobID\nCOMPLETED\t00:01:00\tcpu=1,"
      "energy=6000\t7\n",
      "JobID^|^Elapsed^|^ConsumedEnergy^|^State\n7^|^01:00^|^6K^|^COMPLETED\n",
      "\357\273\277jobid|ELAPSED|consumedenergyraw|state|Extra\n"
      "7|00:01:00|6000|COMPLETED|x\n",
  };

  (void)state;
  for (size_t i = 0; i < COUNT(logs); i++) {
    char expected[256];
    snprintf(expected, sizeof expected, "%d: run_id=7 %s", i == 3 ? 4 : 2, run);
    check_probe(&dl_import_sacct, logs[i] + (i == 5 ? 3 : 0));
    if (i != 3) /* blank lines are not counted by the importer */
      check(&dl_import_sacct, logs[i], expected, "");
  }
}

static void sacct_reads_columns_of_fixed_width(void **state) {
  static const char log[] =
      "JobID           Elapsed      State ConsumedEnergy \n"
      "------------ ---------- ---------- -------------- \n"
      "2658300        02:19:48 CANCELLED+          4.58M \n"
      "2658300.bat+   02:19:48 CANCELLED           4.58M \n"
      "2658300.ext+   02:19:48  COMPLETED          4.59M \n"
      "2658300.0      02:19:09 CANCELLED+                \n"
      "JobID           Elapsed      State ConsumedEnergy \n"
      "------------ ---------- ---------- -------------- \n"
      "2658301        00:01:00 OUT_OF_ME+\n"
      "123456789_1+   00:01:00 COMPLETED             12K \n"
      "2658302      1-00:01:00toowideast             12K \n"
      "2658303        00:00:00    PENDING                \n";

  (void)state;
  check_probe(&dl_import_sacct, log);
  check(&dl_import_sacct, log,
        "3: run_id=2658300 duration_s=8388 node_energy_j=4590000 "
        "energy_j=4590000 boundary=node state=CANCELLED\n"
        "9: run_id=2658301 duration_s=60 boundary=node state=OUT_OF_ME\n",
        "10: column 'JobID': '123456789_1+' is cut off: sacct -P prints all of "
        "it\n"
        "11: expected 4 fields, found 1\n");
  check_prefixes(&dl_import_sacct, log, false);
  check(&dl_import_sacct, "JobID   Elapsed\n100  00:01:00\n", "",
        "2: " MSG_last_line_not_used("") MSG_no_line_dashes_below "\n");
}

static void sacct_reports_rows(void **state) {
  (void)state;
  check(&dl_import_sacct, SACCT_HEAD, "", "");
  check(&dl_import_sacct,
        "JobID|User|State\n1|ann|COMPLETED\ngarbage\n1.0||COMPLETED\n"
        "x|a|b\n2|a|b|c\n3|bob|FAILED\n",
        "2: run_id=1 boundary=node user=ann state=COMPLETED\n"
        "7: run_id=3 boundary=node user=bob state=FAILED\n",
        "3: expected 3 fields, found 1\n"
        "5: column 'JobID': invalid id 'x'\n"
        "6: expected 3 fields, found 4\n");
  check(&dl_import_sacct, "1|2|3\n4|5|6\n", "",
        "1: no header with a column 'JobID' before this line\n"
        "2: last line skipped: no header with a column 'JobID' before this "
        "line\n");
  /* The same job twice: it was queued again (--duplicates). */
  check(&dl_import_sacct,
        "JobID|State|ElapsedRaw\n9|NODE_FAIL|10\n9.0|FAILED|9\n"
        "9|COMPLETED|20\n",
        "2: run_id=9 duration_s=10 boundary=node state=NODE_FAIL\n"
        "4: run_id=9 duration_s=20 boundary=node state=COMPLETED\n",
        "");
}

static void sacct_reads_gpu_utilization(void **state) {
#define HEAD "JobID|Partition|ElapsedRaw|NTasks|AllocTRES|TRESUsageInAve\n"
  (void)state;
  /* One task of two GPUs, busy for 60 % and 90 %; the step ran half the time:
   * 1.5 x 50 s of 2 x 100 s. */
  check(&dl_import_sacct,
        HEAD "1|gpu|100||gres/gpu=2|\n"
             "1.batch||100|1|gres/gpu=2|cpu=00:01:00,gres/gpumem=9M,"
             "gres/gpuutil=0,mem=1K\n"
             "1.0||50|1|gres/gpu=2|gres/gpuutil=150\n",
        "2: run_id=1 n_gpus=2 duration_s=100 boundary=node gpu_util=0.375 "
        "partition=gpu\n",
        "");
  /* A mean over four tasks; more than all GPUs is all of them; the job's own
   * line does not count; nothing told is unknown. */
  check(&dl_import_sacct,
        HEAD "2|gpu|100||gres/gpu=4|gres/gpuutil=7\n"
             "2.0||100|4|gres/gpu=4|gres/gpuutil=50\n"
             "3|gpu|100||gres/gpu=1|\n3.0||100|8|gres/gpu=1|gres/gpuutil=99\n"
             "4|gpu|100||gres/gpu=1|gres/gpuutil=7\n"
             "4.0||100|1|gres/gpu=1|cpu=1\n"
             "5|cpu|100||cpu=1|\n5.0||100|1|cpu=1|gres/gpuutil=1e99\n",
        "2: run_id=2 n_gpus=4 duration_s=100 boundary=node gpu_util=0.5 "
        "partition=gpu\n"
        "4: run_id=3 n_gpus=1 duration_s=100 boundary=node gpu_util=1 "
        "partition=gpu\n"
        "6: run_id=4 n_gpus=1 duration_s=100 boundary=node partition=gpu\n"
        "8: run_id=5 duration_s=100 boundary=node partition=cpu n_cpus=1\n",
        "");
#undef HEAD
}

static void slurm_counts_what_was_used(void **state) {
  (void)state;
  assert_float_equal(
      dl_slurm_busy_gpus("gres/gpuutil=250", "gres/gpuutil=1", 4), 2.5, 0);
  assert_float_equal(dl_slurm_busy_gpus("", "gres/gpuutil=25", 4), 1, 0);
  assert_float_equal(dl_slurm_busy_gpus("", "a=1,gres/gpuutil=25", NAN), 0.25,
                     0);
  assert_true(isnan(dl_slurm_busy_gpus("", "gres/gpu=25", 1)));
  assert_true(isnan(dl_slurm_busy_gpus("", "gres/gpuutil=", 1)));
  assert_true(isnan(dl_slurm_busy_gpus("", "gres/gpuutil=-3", 1)));
  /* 0 with 0 of memory is not measured, with some it is. */
  assert_true(isnan(dl_slurm_busy_gpus("gres/gpumem=0,gres/gpuutil=0",
                                       "gres/gpumem=0M,gres/gpuutil=0", 1)));
  assert_float_equal(
      dl_slurm_busy_gpus("gres/gpumem=20M,gres/gpuutil=0", "", 1), 0, 0);
  assert_float_equal(dl_slurm_busy_gpus("gres/gpumem=0,gres/gpuutil=7", "", 1),
                     0.07, 1e-12);
  assert_float_equal(dl_slurm_memory_gb("cpu=1,mem=1000K"), 1.024e-3, 1e-15);
  assert_float_equal(dl_slurm_memory_gb("mem=1000"), 1.048576, 1e-12);
  assert_float_equal(dl_slurm_memory_gb("mem=1.5G,node=1"), 1.610612736, 1e-12);
  assert_float_equal(dl_slurm_memory_gb("mem=2T"), 2199.023255552, 1e-9);
  assert_true(isnan(dl_slurm_memory_gb("cpu=1")));
  assert_true(isnan(dl_slurm_memory_gb("mem=")));
  assert_true(isnan(dl_slurm_memory_gb("mem=G")));
  assert_true(isnan(dl_slurm_memory_gb("mem=0")));
  assert_true(isnan(dl_slurm_memory_gb("mem=9e300P")));
}

static void slurm_counts_gpus(void **state) {
  static const struct {
    const char *tres;
    double n;
    const char *type;
  } cases[] = {
      {"cpu=8,mem=64G", NAN, ""},
      {"", NAN, ""},
      {"gres/gpu=4,gres/gpu:a100=4", 4, "a100"},
      {"gres/gpu:a100=3,gres/gpu:v100=1", 4, ""},
      {"gres/gpu:a100=3,gres/gpu:v100=1,gres/gpu=4,node=1", 4, ""},
      {"billing=1,gres/gpu:2080ti=2", 2, "2080ti"},
      {"gres/gpu:1g.5gb=1", 1, "1g.5gb"},
      {"gres/gpumem=80G,gres/gpuutil=10", NAN, ""},
      {"gpu:4", 4, ""},
      {"gpu:a100:4(IDX:0-3)", 4, "a100"},
      {"gpu:4(IDX:0-3)", 4, ""},
      {"gpu:a100", NAN, ""},
      {"gpu:", NAN, ""},
      {"gres/gpu=", NAN, ""},
      {"gpu=,gpu::,gpu:=,", NAN, ""},
  };
  const char *type;
  size_t len;
  double share;

  (void)state;
  dl_slurm_gpus("gres/gpu:a100_1g.5gb=2,gres/gpu:a100_3g.20gb=2,gres/gpu=4",
                &type, &len, &share);
  assert_float_equal(share, 2. / 7, 1e-12); /* (2 + 2 x 3) / 7 of 4 */
  dl_slurm_gpus("gres/gpu:a100=2,gres/gpu=2", &type, &len, &share);
  assert_float_equal(share, 1, 0);
  for (size_t i = 0; i < COUNT(cases); i++) {
    double n = dl_slurm_gpus(cases[i].tres, &type, &len, &share);
    if (isnan(cases[i].n) ? !isnan(n) : n != cases[i].n)
      fail_msg("%s: %g", cases[i].tres, n);
    assert_int_equal(len, strlen(cases[i].type));
    assert_memory_equal(type, cases[i].type, len);
  }
}

static void slurm_reads_energies(void **state) {
  static const struct {
    const char *s;
    bool ok;
    double joules;
  } cases[] = {
      {"", true, NAN},
      {"0", true, 0},
      {"720000", true, 720000},
      {"101.63K", true, 101630},
      {"4.58M", true, 4580000},
      {"4.16G", true, 4.16e9},
      {"1.5T", true, 1.5e12},
      {"18446.74P", true, NAN},
      {"18.45E", true, NAN},
      {"4294967295", true, NAN},
      {"8589934588", true, NAN}, /* NO_VAL of two nodes */
      {"9223372036854775807", true, NAN},
      {"[N/A]", true, NAN},
      {"<not counted>", true, NAN},
      {"[N/B]", false, NAN},
      {"K", false, NAN},
      {"-1", false, NAN},
      {"12 J", false, NAN},
      {"nan", false, NAN},
  };
  double x;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (dl_slurm_energy(cases[i].s, strlen(cases[i].s), &x) != cases[i].ok)
      fail_msg("%s", cases[i].s);
    if (isnan(cases[i].joules))
      assert_true(isnan(x));
    else
      assert_near(x, cases[i].joules, 1e-12);
  }
}

/* --- sstat */

static void sstat_reads_samples(void **state) {
  /* A column of the time, each step once a sample, nothing gathered at first;
   * the header again. */
  static const char timed[] =
      "Timestamp|JobID|ConsumedEnergyRaw\n"
      "2024-01-01 10:00:00|5.extern|0\n2024-01-01 10:00:00|5.batch|0\n"
      "2024-01-01 10:00:01|5.extern|0\n2024-01-01 10:00:01|5.batch|0\n"
      "Timestamp|JobID|ConsumedEnergyRaw\n"
      "2024-01-01 10:00:02|5.extern|900\n2024-01-01 10:00:02|5.batch|890\n"
      "2024-01-01 10:00:03|5.extern|1200\n2024-01-01 10:00:03|5.batch|1190\n";
  static const char readings[] = "NODE 5 at 2024-01-01T10:00:00:\n"
                                 "NODE 5 at 2024-01-01T10:00:01: 0 J\n"
                                 "NODE 5 at 2024-01-01T10:00:02: 900 J\n"
                                 "NODE 5 at 2024-01-01T10:00:03: 1200 J\n";

  (void)state;
  check_probe(&dl_import_sstat, timed);
  check(&dl_import_sstat, timed, readings, "");
  check_prefixes(&dl_import_sstat, timed, false);
  /* A line of the time above each sample. */
  static const char stamped[] =
      "2024-01-01 10:00:00\nJobID|ConsumedEnergy|\n5.batch|1.2K|\n"
      "2024-01-01 10:00:01\nJobID|ConsumedEnergy|\n5.batch|1.5K|\n"
      "2024-01-01 10:00:02\nJobID|ConsumedEnergy|\n5.0|1.8K|\n";
  check_probe(&dl_import_sstat, stamped);
  check(&dl_import_sstat, stamped,
        "NODE 5 at 2024-01-01T10:00:00: 1200 J\n"
        "NODE 5 at 2024-01-01T10:00:01: 1500 J\n"
        "NODE 5 at 2024-01-01T10:00:02: 1800 J\n",
        "");
  check_prefixes(&dl_import_sstat, stamped, true);
  /* Sampled with sacct: the time since the job began. */
  static const char elapsed[] =
      "JobID|ElapsedRaw|ConsumedEnergyRaw\n5|1|0\n5.batch|1|200\n"
      "5.0|0|100\n5|2|0\n5.batch|2|500\n5.0|1|390\n";
  check_probe(&dl_import_sstat, elapsed);
  check(&dl_import_sstat, elapsed, "NODE 5 at 1: 200 J\nNODE 5 at 2: 500 J\n",
        "");
  /* No time at all. */
  static const char bare[] = "JobID|ConsumedEnergyRaw|AveCPU\n5.0|100|x\n"
                             "5.0|250|x\n5.0|400|x\n";
  check_probe(&dl_import_sstat, bare);
  check(&dl_import_sstat, bare,
        "NODE 5 at 0: 100 J\nNODE 5 at 1: 250 J\nNODE 5 at 2: 400 J\n",
        " no times in this log: one sample a second assumed; --interval says "
        "otherwise\n");
}

static void sstat_reads_a_snapshot(void **state) {
  static const char log[] = "       JobID ConsumedEnergy ConsumedEnergyRaw \n"
                            "------------ -------------- ----------------- \n"
                            "5.extern             12.35K             12345 \n"
                            "5.batch              12.30K             12300 \n"
                            "6_1.0                     0                 0 \n";

  (void)state;
  check_probe(&dl_import_sstat, log);
  check(&dl_import_sstat, log,
        "5: run_id=5 node_energy_j=12345 energy_j=12345 boundary=node "
        "state=RUNNING\n"
        "5: run_id=6_1 boundary=node state=RUNNING\n",
        "");
  check_prefixes(&dl_import_sstat, log, false);
}

static void sstat_reports_rows(void **state) {
  (void)state;
  check(&dl_import_sstat,
        "Time|JobID|ConsumedEnergyRaw\nx|5.0|1\n1700000000|5.0|x\n"
        "1700000000|y|1\n1700000001|5.0\n1700000002.5|5.0|7\n",
        "NODE 5 at 2023-11-14T22:13:22.500Z: 7 J\n",
        "2: column 'Timestamp': invalid time 'x'\n"
        "3: column 'ConsumedEnergy': invalid number 'x'\n"
        "4: column 'JobID': invalid id 'y'\n"
        "5: expected 3 fields, found 2\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sacct_gives_one_run_a_job),
      cmocka_unit_test(sacct_finds_overlapping_energies),
      cmocka_unit_test(sacct_leaves_out_what_is_no_energy),
      cmocka_unit_test(sacct_reads_its_layouts),
      cmocka_unit_test(sacct_reads_columns_of_fixed_width),
      cmocka_unit_test(sacct_reports_rows),
      cmocka_unit_test(sacct_reads_gpu_utilization),
      cmocka_unit_test(slurm_counts_what_was_used),
      cmocka_unit_test(slurm_counts_gpus),
      cmocka_unit_test(slurm_reads_energies),
      cmocka_unit_test(sstat_reads_samples),
      cmocka_unit_test(sstat_reads_a_snapshot),
      cmocka_unit_test(sstat_reports_rows),
  };
  return cmocka_run_group_tests_name("import_slurm", tests, make_temp_dir,
                                     remove_temp_dir);
}
