/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers of the logs of GPU tools, and of plain tables of samples. A log
 * is written down as one line a reading: "LINE METER TIME POWER UTIL ENERGY",
 * then the limits of meters, warnings and the error. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit.h"

#include "base/number.h"
#include "base/text.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "tests/messages.h"

/* A log and what comes of it. */
struct log_case {
  const struct dl_importer *importer;
  const char *text, *expected;
};

static void add_number(struct dl_text *out, double x) {
  char buf[DL_NUMBER_SIZE];
  dl_text_printf(out, " %s", isnan(x) ? "-" : dl_format_short(buf, x));
}

static void add_reading(struct dl_text *out, const struct dl_log *log,
                        const struct dl_reading *r, size_t line) {
  static const char *const kinds[] = {"gpu", "cpu", "ram", "node"};
  const struct dl_meter_info *m = &log->meter[r->meter];
  enum dl_clock clock = log->clock;
  char buf[DL_TIMESTAMP_SIZE];
  dl_text_printf(out, "%zu %s%s", line, kinds[m->kind], m->id ? m->id : "");
  if (clock == DL_CLOCK_RELATIVE)
    add_number(out, (double)r->ns / 1e9);
  else
    dl_text_printf(out, " %s",
                   dl_format_timestamp(buf, r->ns, clock == DL_CLOCK_ZONED));
  add_number(out, r->power_w);
  add_number(out, r->util);
  add_number(out, r->energy_j);
  dl_text_add(out, "\n");
}

/* Messages begin with the path, which is left out. */
static void add_message(struct dl_text *out, const char *what,
                        const char *message) {
  const char *colon = strstr(message, "/log:");
  dl_text_printf(out, "%s%s\n", what, colon ? colon + 5 : message);
}

/* Reads a text; only readings up to line `last` are written down. */
static enum dl_status read_log(struct dl_text *out,
                               const struct dl_importer *from, const char *text,
                               size_t last, bool messages) {
  const char *path = put_file("log", text);
  struct dl_log_options o = {.from = from};
  struct dl_log_block b;
  struct dl_log *log;
  struct dl_diag d = {0};
  if (dl_log_open(&log, path, &o, &d) == DL_OK) {
    while (dl_log_next(log, &b, &d) == DL_OK && b.n_readings > 0)
      for (size_t i = 0; i < b.n_readings; i++)
        if (b.reading[i].line <= last)
          add_reading(out, log, &b.reading[i], b.reading[i].line);
    for (uint32_t i = 0; i < log->n_meters; i++)
      if (messages && log->meter[i].limit_w > 0)
        dl_text_printf(out, "limit %g\n", log->meter[i].limit_w);
    dl_log_free(log);
  }
  for (size_t i = 0; messages && i < d.n_warnings; i++)
    add_message(out, "W ", d.warnings[i]);
  if (messages && d.error)
    add_message(out, "E ", d.error);
  enum dl_status status = d.status;
  dl_diag_free(&d);
  return status;
}

static void check_case(const struct log_case *c) {
  struct dl_text out = {0};
  read_log(&out, c->importer, c->text, SIZE_MAX, true);
  if (strcmp(dl_text_str(&out), c->expected) != 0)
    fail_msg("%s\ngave\n%s\nnot\n%s", c->text, dl_text_str(&out), c->expected);
  dl_text_free(&out);
}

/* A log that ends anywhere gives what its whole lines say, or those and a last
 * one that ends as they do. */
static void check_prefixes(const struct log_case *c) {
  char *text = strdup(c->text);
  assert_non_null(text);
  for (size_t n = strlen(text); n-- > 0;) {
    struct dl_text got = {0}, want = {0}, ended = {0}, line = {0};
    size_t lines = 0;
    text[n] = '\0';
    for (size_t i = 0; i < n; i++)
      lines += text[i] == '\n';
    enum dl_status status = read_log(&got, c->importer, text, SIZE_MAX, false);
    assert_true(status == DL_OK || status == DL_EINPUT);
    if (status == DL_OK) {
      read_log(&want, c->importer, c->text, lines, false);
      dl_text_printf(&line, "%s\n", text);
      read_log(&ended, c->importer, line.s, SIZE_MAX, false);
      if (strcmp(dl_text_str(&got), dl_text_str(&ended)) != 0)
        assert_string_equal(dl_text_str(&got), dl_text_str(&want));
    }
    dl_text_free(&line);
    dl_text_free(&ended);
    dl_text_free(&got);
    dl_text_free(&want);
  }
  free(text);
}

static void check_cases(const struct log_case *c, size_t n) {
  for (size_t i = 0; i < n; i++) {
    check_case(&c[i]);
    check_prefixes(&c[i]);
  }
}

#define ASSUMED                                                                \
  " no times in this log: one sample a second assumed; --interval says "       \
  "otherwise\n"

static const struct log_case dmon_cases[] = {
    {&dl_import_nvidia_smi_dmon,
     "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk \n"
     "# Idx      W      C      C      %      %    MHz    MHz \n"
     "    0    119     59      -    100     42   6800   1665 \n"
     "    1     24     31      -      0      0    405    210 \n"
     "    0    121     60      -      -     41   6800   1665 \n"
     "    1      -     31      -      1      0    405    210 \n",
     "3 gpu0 0 119 1 -\n"
     "4 gpu1 0 24 0 -\n"
     "5 gpu0 1 121 - -\n"
     "6 gpu1 1 - 0.01 -\n"
     "W " ASSUMED},
    {&dl_import_nvidia_smi_dmon,
     "\r\n#Date       Time        gpu   pwr  temp    sm\r\n"
     "#YYYYMMDD   HH:MM:SS    Idx     W     C     %\r\n"
     " 20230309   23:59:59      3    37    19    50\r\n"
     "#Date       Time        gpu   pwr  temp    sm\r\n"
     "#YYYYMMDD   HH:MM:SS    Idx     W     C     %\r\n"
     " 20230310   00:00:00      3    39    19   101\r\n",
     "4 gpu3 2023-03-09T23:59:59 37 0.5 -\n"
     "7 gpu3 2023-03-10T00:00:00 39 - -\n"},
    /* Time alone, over midnight; other columns from line 4 on. */
    {&dl_import_nvidia_smi_dmon,
     "#Time        gpu    sm   pwr\n"
     "#HH:MM:SS    Idx     %     W\n"
     " 23:59:59      0    50    37\n"
     "#Time        gpu   pwr\n"
     " 00:00:01      0    38\n",
     "3 gpu0 1970-01-01T23:59:59 37 0.5 -\n"
     "5 gpu0 1970-01-02T00:00:01 38 - -\n"},
    {&dl_import_nvidia_smi_dmon,
     "#Date, Time, gpu, pwr, gtemp, mtemp, sm\n"
     "20230309, 13:27:53, 0, 61, 40, -, 35\n"
     "20230309, 13:27:54, 0, 62 W, 40, -, 36 %\n",
     "2 gpu0 2023-03-09T13:27:53 61 0.35 -\n"
     "3 gpu0 2023-03-09T13:27:54 62 0.36 -\n"},
    /* Rows that cannot be used. A missing row moves no other one. */
    {&dl_import_nvidia_smi_dmon,
     "    0    1\n"
     "# gpu    pwr\n"
     "    0    10\n"
     "    1    20\n"
     "    0    11    7\n"
     "    1    21\n"
     "    0    -5\n"
     "    x    5\n"
     "  256    5\n"
     "    0    12\n"
     "    1    22\n"
     "    0    12x\n"
     "# gpu    pid\n"
     "    0    12\n"
     "# gpu    pwr\n",
     "3 gpu0 0 10 - -\n"
     "4 gpu1 0 20 - -\n"
     "6 gpu1 1 21 - -\n"
     "10 gpu0 2 12 - -\n"
     "11 gpu1 2 22 - -\n"
     "W 1: no line '# gpu pwr ...' before this one\n"
     "W " ASSUMED "W 5: expected 2 fields, found 3\n"
     "W 7: column 'pwr': invalid number '-5'\n"
     "W 8: column 'gpu': invalid index 'x'\n"
     "W 9: column 'gpu': invalid index '256'\n"
     "W 12: column 'pwr': invalid number '12x'\n"
     "W 14: no column 'pwr' or 'sm' in the lines above\n"},
    {&dl_import_nvidia_smi_dmon, "#Time gpu pwr\n24:00:00 0 5\n0:00:00 0 6\n",
     "3 gpu0 1970-01-01T00:00:00 6 - -\n"
     "W 2: column 'time': invalid time ' 24:00:00'\n"},
    {&dl_import_nvidia_smi_dmon, "# gpu pwr\n", ""},
};

static void test_dmon(void **state) {
  (void)state;
  check_cases(dmon_cases, COUNT(dmon_cases));
}

static void test_dcgmi(void **state) {
  static const struct log_case cases[] = {
      {&dl_import_dcgmi_dmon,
       "#Entity   POWER             TOTEC                   GPUTL        \n"
       "ID        W                 mJ                      %            \n"
       "GPU 0     61.243            12345678901             0            \n"
       "GPU 1     60.000            2500                    10           \n"
       "GPU 0     300.500           12345739000             100          \n"
       "#Entity   POWER             TOTEC                   GPUTL        \n"
       "ID        W                 mJ                      %            \n"
       "GPU 1     N/A               3500                    N/A          \n"
       "\n\ndmon was stopped do to receiving a signal\n",
       "3 gpu0 0 61.243 0 12345678.901\n"
       "4 gpu1 0 60 0.1 2.5\n"
       "5 gpu0 1 300.5 1 12345739\n"
       "8 gpu1 1 - - 3.5\n"
       "W " ASSUMED},
      /* Of old releases; instances are part of their GPU. */
      {&dl_import_dcgmi_dmon,
       "# Entity  TOTEC  GRACT  SMACT  POWER\n"
       "      Id\n"
       "    GPU 0  1000  0.250  0.000  61.2\n"
       "  GPU-I 0  N/A  0.534  0.516  N/A\n"
       "  GPU-CI 0  N/A  0.534  0.516  N/A\n"
       "    GPU 0  9223372036854775792  0.457  0.442  140737488355328.000\n",
       "3 gpu0 0 61.2 0.25 1\n"
       "6 gpu0 1 - 0.457 -\n"
       "W " ASSUMED},
      /* Through ts; POWER before POWINST, EPLMT before PMLMT. */
      {&dl_import_dcgmi_dmon,
       "2023-03-09T13:27:53.079 #Entity   POWINST POWER   PMLMT EPLMT   GPUTL\n"
       "2023-03-09T13:27:53.079 ID        W       W       W     W       %\n"
       "2023-03-09T13:27:53.080 GPU 5     1       61.2    500   400.0   5\n"
       "2023-03-09 13:27:54.080 GPU 5     62      N/A     500   400.0   6\n"
       "Mar 09 13:27:55 GPU 5     62      N/A     500   400.0   6\n",
       "3 gpu5 2023-03-09T13:27:53.080 61.2 0.05 -\n"
       "4 gpu5 2023-03-09T13:27:54.080 62 0.06 -\n"
       "limit 400\n"
       "W 5: last line skipped: invalid time 'Mar 09 13:27:55'\n"},
      {&dl_import_dcgmi_dmon,
       "GPU 0 1\n"
       "#Entity POWER\n"
       "Switch 0 N/A\n"
       "GPU 0 1 2\n"
       "GPU 0\n"
       "GPU\n"
       "GPU x 1\n"
       "GPU 0 12...\n"
       "GPU 0 -1\n"
       "Error: no data\n"
       "# a comment\n"
       "GPU 0 1\n"
       "ID\n",
       "12 gpu0 0 1 - -\n"
       "W 1: no line '#Entity ...' before this one\n"
       "W 4: expected 1 values, found 2\n"
       "W 5: expected 1 values, found 0\n"
       "W 6: expected 1 values, found 0\n"
       "W 7: invalid index 'x'\n"
       "W 8: column 'POWER': invalid number '12...'\n"
       "W 9: column 'POWER': invalid number '-1'\n"
       "W 10: no entity such as 'GPU 0' in this line\n"
       "W " ASSUMED},
      {&dl_import_dcgmi_dmon, "#Entity POWER\n", ""},
  };
  (void)state;
  check_cases(cases, COUNT(cases));
}

static void test_rocm_smi(void **state) {
  static const struct log_case cases[] = {
      {&dl_import_rocm_smi,
       "\ndevice,Average Graphics Package Power (W),GPU use (%)\n"
       "card0,35.0,0\n"
       "card1,40.5,12\n"
       "\n\n"
       "WARNING: AMD GPU device(s) is/are in a low-power state\n"
       "device,Average Graphics Package Power (W),GPU use (%)\n"
       "card0,36.0,99\n"
       "card1,N/A (Secondary die),13\n"
       "system,6.2.4,\n\n",
       "3 gpu0 0 35 0 -\n"
       "4 gpu1 0 40.5 0.12 -\n"
       "9 gpu0 1 36 0.99 -\n"
       "10 gpu1 1 0 0.13 -\n"
       "W " ASSUMED},
      /* `date` before each snapshot, but the last. */
      {&dl_import_rocm_smi,
       "Thu Mar  9 13:27:53 UTC 2023\n"
       "device,Current Socket Graphics Package Power (W),Energy counter,"
       "Accumulated Energy (uJ),Max Graphics Package Power (W)\n"
       "card3,139.0,62929744071539,1500000.5,750.0\n"
       "Thu 09 Mar 2023 01:27:54 PM UTC\n"
       "card3,140.0,62929744071540,2500000,750.0\n"
       "card3,141.0,62929744071541,2600000,750.0\n",
       "3 gpu3 2023-03-09T13:27:53Z 139 - 1.5000005\n"
       "5 gpu3 2023-03-09T13:27:54Z 140 - 2.5\n"
       "limit 750\n"
       "W 6: last line skipped: no time before this snapshot\n"},
      /* Times before the device, before the row, before header and row. */
      {&dl_import_rocm_smi,
       "timestamp  device,GPU use (%),Average Graphics Package Power (W)\n"
       "1700000000 card0,0,35.0\n"
       "1700000001 card0,100,80.0\n",
       "2 gpu0 2023-11-14T22:13:20Z 35 0 -\n"
       "3 gpu0 2023-11-14T22:13:21Z 80 1 -\n"},
      {&dl_import_rocm_smi,
       "device,Average Graphics Package Power (W)\n"
       "2023-03-09 13:27:53,card0,35.0\n"
       "2023-03-09 13:27:54.5,card0,36.0\n",
       "2 gpu0 2023-03-09T13:27:53 35 - -\n"
       "3 gpu0 2023-03-09T13:27:54.500 36 - -\n"},
      {&dl_import_rocm_smi,
       "2023-03-09 13:27:53,device,Average Graphics Package Power (W)\n"
       "2023-03-09 13:27:53,card0,35.0\n",
       "2 gpu0 2023-03-09T13:27:53 35 - -\n"},
      /* A table for the use and one for the power are one snapshot. */
      {&dl_import_rocm_smi,
       "device,GPU use (%)\ncard0,42\ncard1,17\n\n"
       "device,Average Graphics Package Power (W)\ncard0,210.0\ncard1,198.5\n\n"
       "device,Temperature (Sensor edge) (C)\ncard0,40\ncard1,41\n\n"
       "device,GPU use (%)\ncard0,43\ncard1,18\n",
       "2 gpu0 0 - 0.42 -\n3 gpu1 0 - 0.17 -\n"
       "6 gpu0 0 210 - -\n7 gpu1 0 198.5 - -\n"
       "14 gpu0 1 - 0.43 -\n15 gpu1 1 - 0.18 -\n"
       "W " ASSUMED},
  };
  (void)state;
  check_cases(cases, COUNT(cases));
}

static void test_rocm_smi_faults(void **state) {
  static const struct log_case cases[] = {
      {&dl_import_rocm_smi,
       "card0,1\n"
       "device,Average Graphics Package Power (W)\n"
       "card0,1,2\n"
       "cardx,1\n"
       "card0,abc\n"
       "Thu Mar\n"
       "card0,-1\n"
       "card0,1\n"
       "x card0,1\n"
       "\n",
       "8 gpu0 0 1 - -\n"
       "W 1: no line 'device,...' before this one\n"
       "W 3: expected 2 fields, found 3\n"
       "W 4: invalid device 'cardx'\n"
       "W 5: column 'Average Graphics Package Power (W)': invalid number "
       "'abc'\n"
       "W 6: neither a row nor a time\n"
       "W " ASSUMED
       "W 7: column 'Average Graphics Package Power (W)': invalid number "
       "'-1'\n"
       "W 9: invalid time 'x'\n"},
  };
  (void)state;
  check_cases(cases, COUNT(cases));
}

static void test_amd_smi(void **state) {
  static const struct log_case cases[] = {
      {&dl_import_rocm_smi,
       "'CTRL' + 'C' to stop watching output:\n"
       "timestamp,gpu,gfx_activity,vcn_activity,socket_power,"
       "total_energy_consumption\n"
       "1700000000,0,0,\"['N/A', 'N/A']\",288,1004.5\n"
       "1700000000,1,95,\"[0, 0]\",1180,N/A\n"
       "timestamp,gpu,gfx_activity,vcn_activity,socket_power,"
       "total_energy_consumption\n"
       "1700000001,0,50,\"[0, 1]\",N/A,1293\n",
       "3 gpu0 2023-11-14T22:13:20Z 288 0 1004.5\n"
       "4 gpu1 2023-11-14T22:13:20Z 1180 0.95 -\n"
       "6 gpu0 2023-11-14T22:13:21Z - 0.5 1293\n"},
      {&dl_import_rocm_smi,
       "timestamp,gpu,xcp,power_usage,max_power,gfx\n"
       "1700000000,0,0,288,750,0\n"
       "1700000000,0,1,N/A,N/A,7\n",
       "2 gpu0 2023-11-14T22:13:20Z 288 0 -\nlimit 750\n"},
  };
  (void)state;
  check_cases(cases, COUNT(cases));
}

static const struct log_case samples_cases[] = {
    {&dl_import_samples,
     "timestamp,gpu_index,power_w,util_gpu_pct,util_mem_pct\n"
     "2023-03-09T13:27:53.079Z,0,61.2,10,3\n"
     "2023-03-09T13:27:53.081Z,1,,20,3\n",
     "2 gpu0 2023-03-09T13:27:53.079Z 61.2 0.1 -\n"
     "3 gpu1 2023-03-09T13:27:53.081Z - 0.2 -\n"},
    /* Columns for each device; their sum is left out. */
    {&dl_import_samples,
     "t_s,gpu0_power_w,gpu1_power_w,cpu_energy_uj,Node Power [kW],"
     "ram power (mW),total_gpu_w,gpu1_util_fraction,gpu_util\n"
     "0.5,100,200,1000000,0.5,5000,300,0.5,7\n"
     "1,,201,2000000,,,302,2,7\n"
     "abc,1,1,1,1,1,1,1,1\n",
     "2 gpu0 0.5 100 - -\n"
     "2 gpu1 0.5 200 0.5 -\n"
     "2 cpu 0.5 - - 1\n"
     "2 node 0.5 500 - -\n"
     "2 ram 0.5 5 - -\n"
     "3 gpu1 1 201 - -\n"
     "3 cpu 1 - - 2\n"
     "W 1: a column without a device's number is left out, since others "
     "have one\n"
     "W 4: last line skipped: column 't_s': invalid time 'abc'\n"},
    /* A comment for a header, another separator. */
    {&dl_import_samples,
     "# made by a script\n# elapsed_ms;Watts;note\n0;10.5;a\n500;11 W;b\n"
     "# end\n500;11\n1e3;1e400;c\n5;nan;d\n-5;-1;e\n",
     "3 gpu 0 10.5 - -\n4 gpu 0.5 11 - -\n8 gpu 0.005 - - -\n"
     "W 1: column 'Watts' does not say of what: taken for a GPU's\n"
     "W 6: expected 3 fields, found 2\n"
     "W 7: field 2 (power): invalid number '1e400'\n"
     "W 9: last line skipped: field 2 (power): invalid number '-1'\n"},
    {&dl_import_samples,
     "unix_time\ttotal_energy_consumption\tgpu_util\n"
     "1700000000.25\t1000\t0.5\n"
     "unix_time\ttotal_energy_consumption\tgpu_util\n"
     "12\t1000\t50\n"
     "1700000001252\t251000\t50\n",
     "2 gpu 2023-11-14T22:13:20.250Z - 0.005 1\n"
     "5 gpu 2023-11-14T22:13:21.252Z - 0.5 251\n"
     "W 2: field 3 (utilisation): read as percent; name it '..._fraction' "
     "if it is none\n"
     "W 4: column 'unix_time': '12' is no point in time, as those before "
     "are\n"},
    /* A date of its own, quotes, hosts, what is of the whole node. */
    {&dl_import_samples,
     "date,time,\"power [W]\",hostname,uuid,cpu_power_w\n"
     "2023-03-09,23:59:59,\"15.5\",a,GPU-1,90\n"
     "2023-03-10,00:00:00,16,b,GPU-1,91\n",
     "2 gpua:GPU-1 2023-03-09T23:59:59 15.5 - -\n"
     "2 cpua 2023-03-09T23:59:59 90 - -\n"
     "3 gpub:GPU-1 2023-03-10T00:00:00 16 - -\n"
     "3 cpub 2023-03-10T00:00:00 91 - -\n"},
    {&dl_import_samples,
     "elapsed,gpu,power_mw,node_power\n"
     "0:00:01.5,0,100,700\n"
     "0:00:01.5,1,200,700\n"
     "30:00:00,0,300,701\n",
     "2 gpu0 1.5 0.1 - -\n"
     "2 node 1.5 700 - -\n"
     "3 gpu1 1.5 0.2 - -\n"
     "4 gpu0 108000 0.3 - -\n"
     "4 node 108000 701 - -\n"},
    {&dl_import_samples, "timestamp,power_limit_w\n1,2\n",
     "E 1: " MSG_no_header_with_a "\n"},
    {&dl_import_samples, "timestamp,gpu_power_w\n", ""},
};

static void test_samples(void **state) {
  (void)state;
  check_cases(samples_cases, COUNT(samples_cases));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dmon),     cmocka_unit_test(test_dcgmi),
      cmocka_unit_test(test_rocm_smi), cmocka_unit_test(test_rocm_smi_faults),
      cmocka_unit_test(test_amd_smi),  cmocka_unit_test(test_samples),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
