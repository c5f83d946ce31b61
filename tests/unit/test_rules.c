/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules between values: each finds what was planted, and errors that public
 * tables really have. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "catalog/catalog.h"
#include "catalog/catalog_file.h"
#include "catalog/validate/rules.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_diag d;

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

/* Appends values given as "name=number name=number", one a line, a note after
 * a comma: "tdp_w=250,disputed:_why". */
static void add_values(struct dl_text *t, const char *values) {
  char copy[1024], *save = NULL;
  snprintf(copy, sizeof copy, "%s", values);
  for (char *w = strtok_r(copy, " ", &save); w;
       w = strtok_r(NULL, " ", &save)) {
    char *equals = strchr(w, '='), *note = strchr(w, ',');
    assert_non_null(equals);
    *equals = '\0';
    if (note)
      *note++ = '\0';
    dl_text_printf(t, "<value name=\"%s\" note=\"%s\">%s</value>\n", w,
                   note ? note : "", equals + 1);
  }
}

/* A catalogue of one entry, or of several if `body` ends one. */
static void read_entry(struct dl_catalog_file *s, enum dl_kind kind,
                       const char *attributes, const char *values,
                       const char *rest) {
  struct dl_text t = {0};
  dl_text_printf(&t,
                 "<catalog kind=\"%s\" version=\"1\">\n"
                 "<entry id=\"x\" name=\"X\" %s>\n",
                 dl_kinds[kind].name, attributes);
  add_values(&t, values);
  dl_text_printf(&t, "%s</entry></catalog>", rest);
  assert_ok(dl_catalog_file_parse(s, kind, t.s, t.len, "my.xml", &d), &d);
  dl_text_free(&t);
}

/* `want` NULL: nothing is found; else a finding with that text, and no other
 * where `alone`. */
static void check_findings(const struct dl_findings *l, const char *want,
                           bool alone) {
  bool found = false;
  for (size_t i = 0; i < l->n; i++)
    found |= want && strstr(l->f[i].text, want) != NULL;
  if (want ? !found : l->n > 0)
    fail_msg("want \"%s\", got %zu: \"%s\"", want ? want : "", l->n,
             l->n ? l->f[0].text : "");
  if (want && alone)
    assert_int_equal(l->n, 1);
}

static void check_file(const struct dl_catalog_file *s, struct dl_findings *l) {
  struct dl_rules names = {0};
  for (size_t i = 0; i < s->n; i++)
    dl_rules_next(&names, s->e[i], l);
  dl_rules_free(&names);
}

static void expect_full(enum dl_kind kind, const char *attributes,
                        const char *values, const char *rest, const char *want,
                        bool alone) {
  struct dl_catalog_file s;
  struct dl_findings l = {0};
  read_entry(&s, kind, attributes, values, rest);
  check_file(&s, &l);
  check_findings(&l, want, alone);
  dl_findings_free(&l);
  dl_catalog_file_free(&s);
}

static void expect(enum dl_kind kind, const char *attributes,
                   const char *values, const char *want) {
  expect_full(kind, attributes, values, "", want, true);
}

#define PASCAL "family=\"pascal\" memory_type=\"gddr5x\""
#define AMPERE "family=\"ampere\" memory_type=\"gddr6\""
#define GA100 "family=\"ampere\" memory_type=\"hbm2\""
#define HOPPER "family=\"hopper\" memory_type=\"hbm3\""
#define ADA "family=\"ada\" memory_type=\"gddr6x\""
#define TURING "family=\"turing\" memory_type=\"gddr6\""
#define SOCKET "form=\"socket\" family=\"zen2\" memory_type=\"ddr4\""

/* Boards as their data sheets have them: GTX 1080 Ti, A100 SXM4 40 GB, H100
 * SXM5, T4, RTX 4090; EPYC 7742 with 64 x 16 lanes. */
static void sound_boards_pass(void **state) {
  (void)state;
  expect(DL_ACCELERATOR, PASCAL,
         "tdp_w=250 peak_fp32_tflops=11.34 memory_gb=11 bandwidth_gb_s=484 "
         "cuda_cores=3584 multiprocessors=28 base_mhz=1480 boost_mhz=1582",
         NULL);
  expect(DL_ACCELERATOR, GA100,
         "tdp_w=400 peak_fp64_tflops=9.7 peak_fp32_tflops=19.5 "
         "peak_fp16_tflops=78 peak_fp64_tensor_tflops=19.5 "
         "peak_tf32_tflops=156 peak_fp16_tensor_tflops=312 "
         "peak_bf16_tensor_tflops=312 peak_int8_tensor_tops=624 memory_gb=40 "
         "bandwidth_gb_s=1555 cuda_cores=6912 multiprocessors=108 "
         "boost_mhz=1410",
         NULL);
  expect(DL_ACCELERATOR, HOPPER,
         "tdp_w=700 peak_fp64_tflops=33.5 peak_fp32_tflops=66.9 "
         "peak_tf32_tflops=494.7 peak_fp16_tensor_tflops=989.4 "
         "peak_fp8_tensor_tflops=1978.9 peak_int8_tensor_tops=1978.9 "
         "memory_gb=80 bandwidth_gb_s=3350 cuda_cores=16896 "
         "multiprocessors=132 boost_mhz=1980",
         NULL);
  expect(DL_ACCELERATOR, TURING,
         "tdp_w=70 peak_fp32_tflops=8.1 peak_fp16_tensor_tflops=65 "
         "peak_int8_tensor_tops=130 memory_gb=16 bandwidth_gb_s=320 "
         "cuda_cores=2560 multiprocessors=40 boost_mhz=1590",
         NULL);
  expect(DL_ACCELERATOR, ADA,
         "tdp_w=450 peak_fp32_tflops=82.58 peak_fp16_tensor_tflops=330.3 "
         "peak_fp8_tensor_tflops=660.6 peak_int8_tensor_tops=660.6 "
         "bandwidth_gb_s=1008 cuda_cores=16384 boost_mhz=2520",
         NULL);
  expect(DL_ACCELERATOR, SOCKET,
         "tdp_w=225 peak_fp32_tflops=4.608 bandwidth_gb_s=204.8 "
         "cuda_cores=1024 multiprocessors=64 base_mhz=2250 boost_mhz=3400",
         NULL);
}

/* One slip in a sound board each. */
static void planted_errors_are_found(void **state) {
  static const struct {
    const char *attributes, *values, *want;
  } cases[] = {
      /* cores: 3584 mistyped */
      {PASCAL,
       "tdp_w=250 peak_fp32_tflops=11.34 cuda_cores=3854 boost_mhz=1582",
       "is not cuda_cores x 2 x boost_mhz = 12.19"},
      {PASCAL, "cuda_cores=3854 multiprocessors=28",
       "is not multiprocessors x 128 = 3584"},
      /* 4 % off is beyond the 3 % */
      {PASCAL, "peak_fp32_tflops=11.8 cuda_cores=3584 boost_mhz=1582",
       "is not cuda_cores x 2"},
      /* TDP ten times */
      {TURING, "tdp_w=700 peak_fp32_tflops=8.1", "TFLOP/s a watt"},
      {PASCAL, "tdp_w=1800 peak_fp32_tflops=8.87", "TFLOP/s a watt"},
      {SOCKET, "tdp_w=2000 peak_fp32_tflops=0.61", "TFLOP/s a watt"},
      /* bandwidth in Gbit/s: 8 x */
      {PASCAL, "bandwidth_gb_s=3872", "is not what gddr5x gives"},
      {GA100, "bandwidth_gb_s=12440", "is not what hbm2 gives"},
      {AMPERE, "bandwidth_gb_s=2880", "is not what gddr6 gives"},
      {SOCKET, "bandwidth_gb_s=1638", "is not what ddr4 gives"},
      /* sparse rates: A100, H100, RTX A6000, RTX 4090, H100's FP8 */
      {GA100, "peak_fp32_tflops=19.5 peak_fp16_tensor_tflops=624",
       "is 32 x peak_fp32_tflops"},
      {HOPPER, "peak_fp32_tflops=66.9 peak_fp16_tensor_tflops=1979",
       "is 29.6 x peak_fp32_tflops"},
      {AMPERE, "peak_fp32_tflops=38.7 peak_fp16_tensor_tflops=309.7",
       "is 8 x peak_fp32_tflops"},
      {ADA, "peak_fp32_tflops=82.58 peak_fp16_tensor_tflops=1321",
       "is 16 x peak_fp32_tflops"},
      {HOPPER, "peak_fp16_tensor_tflops=989.4 peak_fp8_tensor_tflops=3958",
       "is 4 x peak_fp16_tensor_tflops"},
      {HOPPER, "peak_fp16_tensor_tflops=989.4 peak_int8_tensor_tops=3958",
       "is 4 x peak_fp16_tensor_tflops"},
      {GA100, "peak_tf32_tflops=312 peak_fp16_tensor_tflops=312",
       "is 1 x peak_tf32_tflops"},
      /* FP64 of the data-centre chip on another */
      {PASCAL, "peak_fp64_tflops=5.67 peak_fp32_tflops=11.34",
       "is 0.5 x peak_fp32_tflops"},
      {PASCAL, "tdp_w=250 idle_w=125", "is half of tdp_w 250 or more"},
      {PASCAL, "tdp_w=250 power_limit_w=25", "is 0.1 x tdp_w"},
      {PASCAL, "tdp_w=250 power_limit_w=400", "is 1.6 x tdp_w"},
      {PASCAL, "base_mhz=1582 boost_mhz=1480", "is below base_mhz 1582"},
      {PASCAL, "memory_gb=4096", "is not between 0.1 and 1000"},
      {PASCAL, "cuda_cores=3584.5", "is no whole number"},
      {"", "peak_fp32_tflops=20 peak_tf32_tflops=10",
       "is below peak_fp32_tflops 20"},
      {"", "peak_tf32_tflops=20 peak_fp16_tensor_tflops=10",
       "is below peak_tf32_tflops 20"},
      {"", "peak_fp16_tensor_tflops=20 peak_int8_tensor_tops=10",
       "is below peak_fp16_tensor_tflops 20"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    expect(DL_ACCELERATOR, cases[i].attributes, cases[i].values, cases[i].want);
}

/* Rows that public tables have. ML CO2 Impact (gpus.csv): GTX 750 with 250 W,
 * 1111 TFLOPS and 24 GB; H100 SXM with FP32 989 and FP16 1979; H100 NVL with
 * 835 and 1671. gpu-info-api: GTX 1080 Ti with FP32 0.007, TITAN V with 0.002;
 * sparse tensor rates of RTX 3060, RTX A4000, RTX 4090, MI300X. */
static void errors_of_tables_are_found(void **state) {
  static const struct {
    const char *attributes, *values, *want;
  } cases[] = {
      {"", "tdp_w=250 peak_fp32_tflops=1111 memory_gb=24", "TFLOP/s a watt"},
      {"", "tdp_w=700 peak_fp32_tflops=989 peak_fp16_tensor_tflops=1979",
       "TFLOP/s a watt"},
      {HOPPER, "tdp_w=700 peak_fp32_tflops=989 peak_fp16_tensor_tflops=1979",
       "is 2 x peak_fp32_tflops"},
      {"", "tdp_w=400 peak_fp32_tflops=835 peak_fp16_tensor_tflops=1671",
       "TFLOP/s a watt"},
      {"", "tdp_w=250 peak_fp32_tflops=0.007 memory_gb=11", "TFLOP/s a watt"},
      {PASCAL, "peak_fp32_tflops=0.007 cuda_cores=3584 boost_mhz=1582",
       "is not cuda_cores x 2"},
      {"", "tdp_w=250 peak_fp32_tflops=0.002 memory_gb=12", "TFLOP/s a watt"},
      {AMPERE, "peak_fp32_tflops=12.74 peak_fp16_tensor_tflops=101.9",
       "is 8 x peak_fp32_tflops"},
      {AMPERE, "peak_fp32_tflops=19.17 peak_fp16_tensor_tflops=153.4",
       "is 8 x peak_fp32_tflops"},
      {ADA, "peak_fp32_tflops=82.6 peak_fp16_tensor_tflops=661",
       "is 8 x peak_fp32_tflops"},
      {"family=\"cdna3\" memory_type=\"hbm3\"",
       "peak_fp32_tflops=163.4 peak_fp16_tensor_tflops=2614.9",
       "is 16 x peak_fp32_tflops"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    expect_full(DL_ACCELERATOR, cases[i].attributes, cases[i].values, "",
                cases[i].want, false);
}

/* A note excuses the value it stands at, and only with its first word. */
static void notes_excuse(void **state) {
  (void)state;
  expect(DL_ACCELERATOR, HOPPER,
         "peak_fp32_tflops=44 peak_fp16_tensor_tflops=148,exception:_export",
         NULL);
  expect(DL_ACCELERATOR, PASCAL, "bandwidth_gb_s=3872,disputed:_elsewhere_484",
         NULL);
  expect(DL_ACCELERATOR, PASCAL, "bandwidth_gb_s=3872,not_disputed:_at_all",
         "is not what gddr5x gives");
}

static void unknown_memory_is_a_warning(void **state) {
  struct dl_catalog_file s;
  struct dl_findings l = {0};
  (void)state;
  read_entry(&s, DL_ACCELERATOR, "memory_type=\"gddr66\"", "tdp_w=5", "");
  check_file(&s, &l);
  check_findings(&l, "memory_type 'gddr66' is not known", true);
  assert_int_equal(dl_findings_errors(&l), 0);
  assert_false(l.f[0].error);
  assert_string_equal(l.f[0].file, "my.xml");
  assert_string_equal(l.f[0].entry, "x");
  assert_int_equal(l.f[0].line, 2);
  dl_findings_free(&l);
  dl_catalog_file_free(&s);
}

#define AREA "scaling=\"area\""
#define INPUT(px, macs)                                                        \
  "<input image_px=\"" px "\"><value name=\"macs_g\">" macs "</value></"       \
  "input>\n"

static void architectures(void **state) {
  (void)state;
  expect_full(
      DL_ARCHITECTURE, AREA, "params_m=25.6 head_params_m=2 classes=1e3",
      INPUT("224", "4.1") INPUT("128", "1.3") INPUT("160", "2.1"), NULL, true);
  expect(DL_ARCHITECTURE, AREA, "params_m=1e8",
         "is not between 1e-06 and 1e+07");
  expect(DL_ARCHITECTURE, AREA, "params_m=2 head_params_m=3",
         "is more than params_m 2");
  expect(DL_ARCHITECTURE, AREA, "macs_g=2 head_macs_g=3",
         "is more than macs_g 2");
  expect(DL_ARCHITECTURE, AREA, "classes=10.5", "is no whole number");
  expect_full(DL_ARCHITECTURE, AREA, "head_macs_g=3", INPUT("224", "2"),
              "is less than head_macs_g 3", true);
  expect_full(DL_ARCHITECTURE, AREA, "params_m=2",
              INPUT("224", "4") INPUT("160", "2.1") INPUT("128", "1.3"),
              "input 128 px comes after 160 px", true);
  expect_full(DL_ARCHITECTURE, AREA, "params_m=2",
              INPUT("224", "4") INPUT("224", "4"),
              "input 224 px comes after 224 px", true);
  expect_full(DL_ARCHITECTURE, AREA, "params_m=2",
              INPUT("224", "4") INPUT("288", "3"),
              "macs_g 3 at 288 px, but 4 at 224 px", true);
}

static void data_sets_grids_sites(void **state) {
  (void)state;
  expect(DL_DATASET, "", "train_samples=50000 val_samples=1e4 classes=10",
         NULL);
  expect(DL_DATASET, "", "val_samples=10", "no train_samples");
  expect(DL_DATASET, "", "train_samples=10.5", "is no whole number");
  expect(DL_DATASET, "", "train_samples=5 classes=10",
         "is more than train_samples 5");
  expect(DL_GRID, "", "carbon_g_kwh=300 year=2023", NULL);
  expect(DL_GRID, "", "carbon_g_kwh=3000 year=2023",
         "is not between 0 and 2000");
  expect(DL_GRID, "", "carbon_g_kwh=300", "no year");
  expect(DL_GRID, "", "year=2020", "no carbon_g_kwh");
  expect(DL_SITE, "", "pue=1.2", NULL);
  expect(DL_SITE, "", "pue=6", "is not between 1 and 4");
}

static void nodes(void **state) {
  static const char parts[] = "cpu=\"c\" gpu=\"g\"";
  (void)state;
  expect(DL_NODE, parts, "sockets=2 gpus=4 memory_gb=512", NULL);
  expect(DL_NODE, parts, "gpus=4 memory_gb=512", "no sockets");
  expect(DL_NODE, parts, "sockets=2 gpus=4", "no memory_gb");
  expect(DL_NODE, parts, "sockets=2 gpus=1.5 memory_gb=512",
         "is no whole number");
  expect(DL_NODE, parts, "sockets=2 cores=31.5 gpus=1 memory_gb=512",
         "is no whole number");
  expect(DL_NODE, parts, "sockets=2 gpus=4 memory_gb=512 memory_w_gb=5",
         "is not between 0.02 and 1.5");
  expect(DL_NODE, parts, "sockets=2 gpus=4 memory_gb=9 supply_efficiency=0.3",
         "is not between 0.5 and 1");
  expect(DL_NODE, parts, "sockets=2 gpus=4 memory_gb=9 pue=6",
         "is not between 1 and 4");
  expect(DL_NODE, parts,
         "sockets=2 gpus=4 memory_gb=9 cpu_tdp_w=100 cpu_idle_w=120",
         "is more than cpu_tdp_w 100");
  expect(DL_NODE, "", "sockets=2 memory_gb=9", "neither a cpu nor a cpu_tdp_w");
  expect(DL_NODE, "cpu=\"c\"", "sockets=2 gpus=4 memory_gb=9",
         "without a gpu; name one of the catalogue");
  expect(DL_NODE, parts, "sockets=2 memory_gb=9",
         "gpu 'g', but no number of gpus");
}

static void names_are_unique(void **state) {
  (void)state;
  expect_full(DL_ACCELERATOR, "", "tdp_w=5",
              "</entry><entry id=\"y\" name=\"Y\"><alias>NVIDIA X</alias>",
              "'NVIDIA X' is also a name of 'x'", true);
}

/* The A10G of ML CO2 Impact has 150 W and 31.52 TFLOPS: sound in itself, but
 * Amazon's data sheet has 300 W. */
static void known_boards_are_compared(void **state) {
  struct dl_catalog *c = dl_catalog_new(in_tree("."));
  const struct dl_descriptor *known;
  struct dl_catalog_file s;
  struct dl_findings l = {0};

  (void)state;
  assert_non_null(c);
  assert_ok(dl_catalog_get(c, DL_ACCELERATOR, "a10g", &known, &d), &d);
  read_entry(&s, DL_ACCELERATOR, "", "tdp_w=150 peak_fp32_tflops=31.52", "");
  dl_rules_against(s.e[0], known, &l);
  check_findings(&l, "tdp_w 150 is not the 300 of 'a10g'", true);
  assert_int_equal(dl_findings_errors(&l), 0);
  dl_rules_against(known, known, &l);
  assert_int_equal(l.n, 1);
  dl_findings_free(&l);
  dl_catalog_file_free(&s);
  dl_catalog_free(c);
}

/* All that is refused in a file is told, with its line. */
static void refused_values_are_collected(void **state) {
  static const char text[] =
      "<catalog kind=\"accelerator\" version=\"1\">\n"
      "<entry id=\"a\"><value name=\"tdp_w\">1e30</value>\n"
      "<value name=\"memory_gb\">11</value>\n"
      "<value name=\"speed\">5</value></entry>\n"
      "<entry id=\"b\"><value name=\"peak_fp32_tflops\">1e30</value>\n"
      "<value name=\"tdp_w\">abc</value>\n"
      "<value name=\"memory_gb\">1</value><value name=\"memory_gb\">2</value>\n"
      "</entry></catalog>";
  static const struct {
    size_t line;
    const char *entry, *text;
  } want[] = {
      {2, "a", MSG_value_is_not_between("tdp_w", "1e30", "1", "2000")},
      {4, "a", MSG_unknown_value("speed")},
      {5, "b", "value 'peak_fp32_tflops': 1e30 is not between 0.0001 and"},
      {6, "b", MSG_value_invalid_number("tdp_w", "abc")},
      {7, "b", MSG_value_is_given_twice("memory_gb")},
  };
  struct dl_xml *xml;
  struct dl_catalog_file s;
  struct dl_findings l = {0};

  (void)state;
  assert_ok(dl_xml_parse(&xml, text, strlen(text), "my.xml", NULL, &d), &d);
  assert_ok(dl_catalog_file_take(&s, xml, &l, &d), &d);
  assert_int_equal(s.kind, DL_ACCELERATOR);
  assert_int_equal(s.n, 2);
  assert_true(DL_AS(accelerator, s.e[0])->memory_gb == 11);
  assert_true(isnan(DL_AS(accelerator, s.e[0])->tdp_w));
  assert_int_equal(l.n, COUNT(want));
  for (size_t i = 0; i < l.n; i++) {
    assert_int_equal(l.f[i].line, want[i].line);
    assert_string_equal(l.f[i].entry, want[i].entry);
    if (strncmp(l.f[i].text, want[i].text, strlen(want[i].text)) != 0)
      fail_msg("\"%s\" is not \"%s\"", l.f[i].text, want[i].text);
  }
  dl_catalog_file_free(&s);
  dl_findings_free(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(sound_boards_pass, finish),
      cmocka_unit_test_teardown(planted_errors_are_found, finish),
      cmocka_unit_test_teardown(errors_of_tables_are_found, finish),
      cmocka_unit_test_teardown(notes_excuse, finish),
      cmocka_unit_test_teardown(unknown_memory_is_a_warning, finish),
      cmocka_unit_test_teardown(architectures, finish),
      cmocka_unit_test_teardown(data_sets_grids_sites, finish),
      cmocka_unit_test_teardown(nodes, finish),
      cmocka_unit_test_teardown(names_are_unique, finish),
      cmocka_unit_test_teardown(known_boards_are_compared, finish),
      cmocka_unit_test_teardown(refused_values_are_collected, finish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
