/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accelerators as vendors, drivers and submitters of benchmarks write them. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "catalog/catalog.h"
#include "catalog/names/gpu_name.h"
#include "unit.h"

static struct dl_catalog *catalog;
static struct dl_diag d;

static int start(void **state) {
  (void)state;
  catalog = dl_catalog_new(in_tree("."));
  return catalog ? 0 : -1;
}

static int finish(void **state) {
  (void)state;
  dl_catalog_free(catalog);
  dl_diag_free(&d);
  return 0;
}

struct spelling {
  const char *name, *id;
  double watts; /* 0: none in the name */
};

static void means(const struct spelling *s) {
  const struct dl_descriptor *e;
  assert_ok(dl_catalog_look(catalog, DL_ACCELERATOR, s->name, &e, &d), &d);
  if (!e)
    fail_msg("'%s' is unknown", s->name);
  else if (strcmp(e->id, s->id) != 0)
    fail_msg("'%s' means %s, not %s", s->name, e->id, s->id);
  double limit = DL_AS(accelerator, e)->power_limit_w;
  if (s->watts > 0 ? limit != s->watts : !isnan(limit))
    fail_msg("'%s': power limit %g", s->name, limit);
}

static const struct spelling published_spellings[] = {
    {"A100-40GB", "a100-sxm4-40gb", 0},
    {"A100-80GB", "a100-sxm4-80gb", 0},
    {"A100-SXM4-40GB", "a100-sxm4-40gb", 0},
    {"A100-SXM4-80GB", "a100-sxm4-80gb", 0},
    {"AMD Radeon RX 7900 XTX", "rx-7900-xtx", 0},
    {"Ascend 910 Premium A", "ascend-910-premium", 0},
    {"Ascend 910 Pro A", "ascend-910-pro", 0},
    {"Ascend910", "ascend-910", 0},
    {"Graphcore Bow IPU", "ipu-bow", 0},
    {"Graphcore IPU GC200", "ipu-gc200", 0},
    {"H100", "h100-sxm5-80gb", 0},
    {"Habana Gaudi", "gaudi", 0},
    {"Habana Gaudi HL-205", "gaudi", 0},
    {"Habana Gaudi2", "gaudi2", 0},
    {"Intel Gaudi2", "gaudi2", 0},
    {"Intel(R) Gaudi(R) 2 AI Accelerator", "gaudi2", 0},
    {"L40S", "l40s", 0},
    {"NVIDIA A100", "a100-sxm4-40gb", 0},
    {"NVIDIA A100 - PCIe - 80 GB", "a100-pcie-80gb", 0},
    {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb", 0},
    {"NVIDIA A100-PCIE-40GB (250W)", "a100-pcie-40gb", 250},
    {"NVIDIA A100-PCIE-80GB", "a100-pcie-80gb", 0},
    {"NVIDIA A100-PCIE-80GB (300W)", "a100-pcie-80gb", 300},
    {"NVIDIA A100-PCIe-40GB", "a100-pcie-40gb", 0},
    {"NVIDIA A100-PCIe-40GB (250W)", "a100-pcie-40gb", 250},
    {"NVIDIA A100-PCIe-40GB(250W)", "a100-pcie-40gb", 250},
    {"NVIDIA A100-PCIe-80GB", "a100-pcie-80gb", 0},
    {"NVIDIA A100-PCIe-80GB (300W)", "a100-pcie-80gb", 300},
    {"NVIDIA A100-SXM-40GB", "a100-sxm4-40gb", 0},
    {"NVIDIA A100-SXM-80GB", "a100-sxm4-80gb", 0},
    {"NVIDIA A100-SXM-80GB (400W)", "a100-sxm4-80gb", 400},
    {"NVIDIA A100-SXM-80GB (500W)", "a100-sxm4-80gb", 500},
    {"NVIDIA A100-SXM-80GB CTS", "a100-sxm4-80gb", 0},
    {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb", 0},
    {"NVIDIA A100-SXM4-40GB (400W)", "a100-sxm4-40gb", 400},
    {"NVIDIA A100-SXM4-40GB(400W)", "a100-sxm4-40gb", 400},
    {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb", 0},
    {"NVIDIA A100-SXM4-80GB (400W)", "a100-sxm4-80gb", 400},
    {"NVIDIA A100-SXM4-80GB (500W)", "a100-sxm4-80gb", 500},
    {"NVIDIA A100-SXM4-80GB(400W)", "a100-sxm4-80gb", 400},
    {"NVIDIA A10G", "a10g", 0},
    {"NVIDIA A30", "a30", 0},
    {"NVIDIA A30-PCIE-24GB", "a30", 0},
    {"NVIDIA A40", "a40", 0},
    {"NVIDIA GeForce RTX 4090", "rtx-4090", 0},
    {"NVIDIA H100-PCIe", "h100-pcie", 0},
    {"NVIDIA H100-PCIe-80GB", "h100-pcie", 0},
    {"NVIDIA H100-SXM-80GB", "h100-sxm5-80gb", 0},
    {"NVIDIA H100-SXM5-80GB", "h100-sxm5-80gb", 0},
    {"NVIDIA H100-SXM5-96GB", "h100-sxm5-96gb", 0},
    {"NVIDIA H200-SXM5-141GB", "h200", 0},
    {"NVIDIA L4", "l4", 0},
    {"NVIDIA L40", "l40", 0},
    {"NVIDIA L40S", "l40s", 0},
    {"NVIDIA RTX A5000", "rtx-a5000", 0},
    {"NVIDIA V100", "v100-sxm2-16gb", 0},
    {"NVIDIA V100-SXM2-16GB (300W)", "v100-sxm2-16gb", 300},
    {"NVIDIA V100-SXM2-32GB", "v100-sxm2-32gb", 0},
    {"NVIDIA V100-SXM3-32GB (350W)", "v100-sxm3-32gb", 350},
    {"NVIDIA V100-SXM3-32GB (450W)", "v100-sxm3-32gb", 450},
    {"Nvidia Tesla V100", "v100-sxm2-16gb", 0},
    {"Nvidia Tesla V100-SXM2-32GB", "v100-sxm2-32gb", 0},
    {"Nvidia Tesla V100S-PCIe-32GB", "v100s-pcie-32gb", 0},
    {"TPU v3", "tpu-v3", 0},
    {"TPU-v4", "tpu-v4", 0},
    {"TPU-v5e", "tpu-v5e", 0},
    {"TPU-v5p", "tpu-v5p", 0},
    {"V100-16GB", "v100-sxm2-16gb", 0},
    {"V100-32GB", "v100-sxm2-32gb", 0},
    {"V100-32GB(DGX-2H,450W)", "v100-sxm2-32gb", 450},
    {"a100_40gb", "a100-sxm4-40gb", 0},
    {"a100_80gb", "a100-sxm4-80gb", 0},
    {"h100_80gb", "h100-sxm5-80gb", 0},
};

/* All spellings of MLPerf Training v0.7 to v4.0, NVIDIA's DeepLearningExamples,
 * Milabench and llm-foundry, but for "TPU" and "N/A", which name none. */
static void reads_published_spellings(void **state) {
  (void)state;
  for (size_t i = 0;
       i < sizeof published_spellings / sizeof *published_spellings; i++)
    means(&published_spellings[i]);
}

/* Forms that vendors, drivers and clusters use, and memory as drivers report
 * it. */
static void reads_other_spellings(void **state) {
  static const struct spelling table[] = {
      {"NVIDIA GB10", "gb10", 0},
      {"DGX Spark", "gb10", 0},
      {"NVIDIA Thor", "jetson-thor", 0},
      {"NVIDIA A100-SXM-64GB", "a100-sxm4-64gb", 0},
      {"NVIDIA H800 PCIe", "h800-pcie", 0},
      {"Ascend 910B3", "ascend-910b3", 0},
      {"Ascend910C", "ascend-910c", 0},
      {"AWS Trainium3", "trainium3", 0},
      {"NVIDIA Blackwell GPU (GB200-SXM-186GB)", "gb200", 0},
      {"NVIDIA Blackwell Ultra GPU (GB300)", "gb300", 0},
      {"NVIDIA GB200 (1200W)", "gb200", 1200},
      {"NVIDIA GH200-GraceHopper-Superchip", "gh200", 0},
      {"NVIDIA Blackwell GPU (B200-SXM-180GB)", "b200", 0},
      {"NVIDIA H200-SXM-141GB-CTS", "h200", 0},
      {"NVIDIA H200-NVL-141GB (600 W)", "h200-nvl", 600},
      {"NVIDIA GB200 Grace Blackwell Superchip", "gb200", 0},
      {"NVIDIA GB200-NVL72 186GB", "gb200", 0},
      {"NVIDIA GB300 (288GB HBM3e)", "gb300", 0},
      {"NVIDIA GH200 144 GB HBM3e", "gh200-144gb", 0},
      {"AMD Instinct MI300X 192GB HBM3", "mi300x", 0},
      {"AMD Instinct\xe2\x84\xa2 MI325X 256GB HBM3e", "mi325x", 0},
      {"AMD MI355X OAM (1400W)", "mi355x", 1400},
      {"Intel\xc2\xae Gaudi\xc2\xae 3 (HL-325L)", "gaudi3", 0},
      {"Google Cloud TPU v5p 95 GB", "tpu-v5p", 0},
      {"TPU-trillium", "tpu-v6e", 0},
      {"DGX A100 80GB", "a100-sxm4-80gb", 0},
      {"NVIDIA A100 Tensor Core GPU 80GB PCIe", "a100-pcie-80gb", 0},
      {"H100 SXM5 81559 MiB", "h100-sxm5-80gb", 0},
      {"H100 94GB", "h100-nvl", 0},
      {"NVIDIA H100 94 GB", "h100-nvl", 0},
      {"H100 95830 MiB", "h100-nvl", 0},
      {"NVIDIA H100-PCIe-94GB", "h100-nvl", 0},
      {"NVIDIA H100-PCIe-NVL-94GB", "h100-nvl", 0},
      {"NVIDIA H100-SXM5-94GB", "h100-sxm5-96gb", 0},
      {"H100 96GB", "h100-sxm5-96gb", 0},
      {"NVIDIA H200 143771MiB", "h200", 0},
      {"NVIDIA L40S 46068 MiB", "l40s", 0},
      {"NVIDIA A10G 22.056640625 GB", "a10g", 0},
      {"NVIDIA A40 (48GiB)", "a40", 0},
      {"H100 80GB HBM2e", "h100-pcie", 0},
      {"V100 PCIe (250W)", "v100-pcie-16gb", 250},
      {"NVIDIA RTX 6000 Ada 48GB", "rtx-6000-ada", 0},
      {"GTX 1080 Ti 11GB", "gtx-1080-ti", 0},
      {"1080 Ti", "gtx-1080-ti", 0},
      {"1660 SUPER", "gtx-1660-super", 0},
      {"GeForce 3090", "rtx-3090", 0},
      {"4090", "rtx-4090", 0},
      {"M1", "apple-m1", 0},
      {"Apple M3", "apple-m3", 0},
      {"4090 (350W)", "rtx-4090", 350},
      {"5090", "rtx-5090", 0},
      {"7900 XTX", "rx-7900-xtx", 0},
      {"v5e", "tpu-v5e", 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    means(&table[i]);
}

/* Products that do not exist, or not so: no neighbour takes their place. */
static void refuses_near_misses(void **state) {
  static const char *const names[] = {
      "Ascend 910B",
      "A1100",
      "NVIDIA A1000-SXM4-80GB",
      "H900",
      "H1000-SXM5-80GB",
      "NVIDIA A100-SXM4-96GB",
      "A100-SXM5-80GB",
      "A100-PCIe-NVL-80GB",
      "NVIDIA H100-SXM5-64GB",
      "H100 SXM5 PCIe",
      "A100 40GB 80GB",
      "A100 (400W) (500W)",
      "A100-SXM4-80GB (2000W)",
      "A30 (30W)",
      "V100-SXM2-24GB",
      "V100-SXM4-32GB",
      "B200-PCIe-180GB",
      "B250",
      "RTX 3080 11GB",
      "RTX 3060 8GB",
      "RTX 6000 Blackwell",
      "RTX A6000 24GB",
      "MI300X 256GB",
      "MI325X 192GB",
      "MI300",
      "MI200",
      "TPU",
      "TPU v8",
      "TPU-v4 16GB",
      "N/A",
      "GPU",
      "NVIDIA",
      "80GB",
      "(400W)",
      "Hopper",
      "NVIDIA Blackwell GPU",
      "Gaudi 4",
      "Gaudi 2 128GB",
      "8xA100-SXM4-80GB",
      "2x 24 GB",
      "DGX-2",
      "DGX-2H (450W)",
      "A100 1g.10gb",
      "L4 48GB",
      "L40S 24GB",
      "Ascend 920",
      "A100 GDDR6",
      "T4G",
      "6000",
      "4000",
      "100",
      "4090 Ti",
      "Tesla M4", /* no Apple M4 */
      "4090 48GB",
      "nope",
  };
  const struct dl_descriptor *e;
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_ok(dl_catalog_look(catalog, DL_ACCELERATOR, names[i], &e, &d), &d);
    if (e)
      fail_msg("'%s' means %s", names[i], e->id);
  }
}

static void keeps_one_copy_of_a_limited_board(void **state) {
  const struct dl_descriptor *a, *b, *other;
  (void)state;
  assert_ok(
      dl_catalog_look(catalog, DL_ACCELERATOR, "A100 80GB (300W)", &a, &d), &d);
  assert_ok(dl_catalog_look(catalog, DL_ACCELERATOR, "a100-80gb 300 W", &b, &d),
            &d);
  assert_ok(dl_catalog_look(catalog, DL_ACCELERATOR, "A100 80GB", &other, &d),
            &d);
  assert_ptr_equal(a, b);
  assert_true(isnan(DL_AS(accelerator, other)->power_limit_w));
  const double *limit = &DL_AS(accelerator, a)->power_limit_w;
  assert_string_equal(a->origin[dl_field_index(a, limit)].source, "given");
}

static void takes_long_names_apart(void **state) {
  struct dl_gpu_name g;
  char name[400];
  (void)state;
  memset(name, 'a', sizeof name);
  name[sizeof name - 1] = '\0';
  assert_false(dl_gpu_name_parse(name, true, &g));
  for (size_t i = 3; i < sizeof name - 1; i += 4)
    name[i] = ' ';
  assert_false(dl_gpu_name_parse(name, true, &g));
  assert_false(dl_gpu_name_parse("", true, &g));
  assert_true(dl_gpu_name_parse("Ampere A100 SXM4 80GB HBM2e", false, &g));
  assert_string_equal(g.product, "a100");
  assert_string_equal(g.form, "sxm4");
  assert_string_equal(g.memory_type, "hbm2e");
  assert_string_equal(g.family, "ampere");
  assert_true(g.memory_gb == 80 && isnan(g.watts));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_published_spellings),
      cmocka_unit_test(reads_other_spellings),
      cmocka_unit_test(refuses_near_misses),
      cmocka_unit_test(keeps_one_copy_of_a_limited_board),
      cmocka_unit_test(takes_long_names_apart),
  };
  return cmocka_run_group_tests(tests, start, finish);
}
