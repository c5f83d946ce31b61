/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The composition of a node against what can be worked out by hand, and MIG
 * profiles against NVIDIA's table. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "estimate/node/node.h"
#include "unit.h"
#include "tests/messages.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct dl_diag d;

static void unknown(struct dl_descriptor *e, enum dl_kind kind,
                    const char *id) {
  dl_descriptor_init(e, kind);
  e->id = id;
  e->file = "f.xml";
}

struct parts {
  struct dl_node node;
  struct dl_accelerator cpu, gpu;
};

/* 2 CPUs of 200 W (50 W idle), 4 GPUs of 400 W (40 W idle), 100 GB at
 * 0.5 W/GB, 100 W more, a supply of 0.8; PUE 1.5. */
static void usual(struct parts *e) {
  unknown(&e->node.head, DL_NODE, "node");
  unknown(&e->cpu.head, DL_ACCELERATOR, "cpu");
  unknown(&e->gpu.head, DL_ACCELERATOR, "gpu");
  e->node.sockets = 2;
  e->node.cpu_idle_w = 50;
  e->node.gpus = 4;
  e->node.memory_gb = 100;
  e->node.memory_w_gb = 0.5;
  e->node.rest_w = 100;
  e->node.supply_efficiency = 0.8;
  e->cpu.tdp_w = 200;
  e->gpu.tdp_w = 400;
  e->gpu.idle_w = 40;
}

static const struct dl_node_use one_gpu = {
    .used = 1, .share = {1, 1}, .whole = true, .pue = 1.5};

static struct dl_node_power resolved(const struct dl_node_use *use) {
  struct parts e;
  struct dl_node_power n;
  usual(&e);
  assert_ok(dl_node_resolve(&n, &e.node, &e.cpu, &e.gpu, use, &d), &d);
  return n;
}

/* 100 s at 300 W: busy 30 kJ, idle 3 x 40 W, CPUs 2 x (50 + 0.25 x 150) W. */
static void adds_up(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  struct dl_node_load load = {
      .energy_j = {30e3, NAN, NAN}, .duration_s = 100, .time_given = true};
  struct dl_node_energy e;
  const double parts[DL_N_PARTS] = {30e3, 12e3,       17.5e3,          5e3,
                                    10e3, 74.5e3 / 4, 74.5e3 / 0.8 / 2};

  (void)state;
  dl_node_compose(&n, &load, &e);
  for (size_t i = 0; i < DL_N_PARTS; i++)
    assert_near(e.part[i].x, parts[i], 1e-14);
  assert_near(e.bound[DL_BOUND_GPU].x, 30e3, 1e-14);
  assert_near(e.bound[DL_BOUND_GPU_RAM].x, 35e3, 1e-14);
  assert_near(e.bound[DL_BOUND_NODE].x, 93125, 1e-14);
  assert_near(e.bound[DL_BOUND_FACILITY].x, 139687.5, 1e-14);
  for (size_t i = 0; i < DL_N_BOUNDS; i++)
    assert_true(isnan(e.bound[i].low) && isnan(e.bound[i].high));
}

/* The parts are those of the widest boundary. */
static void parts_are_the_whole(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  struct dl_node_load load = {.energy_j = {12345, 1, 1e6}, .duration_s = 17};
  struct dl_node_energy e;
  double all = 0;

  (void)state;
  dl_node_compose(&n, &load, &e);
  for (size_t i = 0; i < DL_N_PARTS; i++)
    all += e.part[i].x;
  assert_near(all, e.bound[DL_BOUND_FACILITY].x, 1e-14);
}

/* What the estimate counts as memory is counted once. */
static void memory_counts_once(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  struct dl_node_load load = {.energy_j = {30e3, 20e3, 40e3},
                              .memory_w = 10,
                              .duration_s = 100,
                              .time_given = true};
  struct dl_node_energy e;

  (void)state;
  dl_node_compose(&n, &load, &e);
  assert_near(e.part[DL_PART_BUSY].x, 29e3, 1e-14);
  assert_near(e.part[DL_PART_BUSY].low, 19e3, 1e-14);
  assert_near(e.part[DL_PART_BUSY].high, 39e3, 1e-14);
  assert_near(e.bound[DL_BOUND_GPU_RAM].x, 34e3, 1e-14);
}

static void runs_on_cpus(void **state) {
  struct dl_node_use use = one_gpu;
  use.on_cpu = true;
  use.used = 2;
  struct dl_node_power n = resolved(&use);
  struct dl_node_load load = {.energy_j = {40e3, NAN, NAN}, .duration_s = 100};
  struct dl_node_energy e;

  (void)state;
  dl_node_compose(&n, &load, &e);
  assert_near(e.part[DL_PART_IDLE].x, 16e3, 1e-14);
  assert_true(e.part[DL_PART_CPU].x == 0);
  assert_near(e.bound[DL_BOUND_NODE].x, (40e3 + 16e3 + 15e3) / 0.8, 1e-14);
  assert_near(dl_node_busy_tdp(&n, 100), 40e3, 1e-14);
}

/* Half of a GPU of four: an eighth of the rest, nothing that idles; charged as
 * a whole, the other half idles too. */
static void charges_a_share(void **state) {
  struct dl_node_use use = one_gpu;
  struct dl_node_load load = {.energy_j = {20e3, NAN, NAN}, .duration_s = 100};
  struct dl_node_energy e;

  (void)state;
  use.share = (struct dl_share){0.5, 0.5};
  use.whole = false;
  struct dl_node_power n = resolved(&use);
  dl_node_compose(&n, &load, &e);
  assert_true(e.part[DL_PART_IDLE].x == 0);
  assert_near(e.part[DL_PART_CPU].x, 17.5e3 / 8, 1e-14);
  assert_near(e.part[DL_PART_MEMORY].x, 5e3 / 8, 1e-14);
  assert_near(e.part[DL_PART_REST].x, 10e3 / 8, 1e-14);
  use.whole = true;
  n = resolved(&use);
  dl_node_compose(&n, &load, &e);
  assert_near(e.part[DL_PART_IDLE].x, 3.5 * 40 * 100, 1e-14);
  assert_near(dl_node_busy_tdp(&n, 100), 20e3, 1e-14);
}

/* Ranges: idle 12 +- 3, CPU 10 .. 25 (17.5), memory 5 +- 2.5, rest 10 +- 3.5
 * kJ; the estimate's -5 and +10 kJ stand alone with a given time. */
static void carries_intervals(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  struct dl_node_load load = {
      .energy_j = {30e3, 25e3, 40e3}, .duration_s = 100, .time_given = true};
  struct dl_node_energy e;
  const double all = 74.5e3;
  const double below = sqrt(9 + 56.25 + 6.25 + 6.25) * 1e3;
  const double above = sqrt(9 + 56.25 + 6.25 + 6.25) * 1e3;

  (void)state;
  dl_node_compose(&n, &load, &e);
  assert_near(e.bound[DL_BOUND_NODE].low, (all - hypot(below, 5e3)) / 0.8,
              1e-13);
  assert_near(e.bound[DL_BOUND_NODE].high, (all + hypot(above, 10e3)) / 0.8,
              1e-13);
  assert_near(e.bound[DL_BOUND_FACILITY].low, 1.5 * e.bound[DL_BOUND_NODE].low,
              1e-14);
  /* An estimated time is off for all parts: 1/6 below, 1/3 above. */
  load.time_given = false;
  dl_node_compose(&n, &load, &e);
  assert_near(e.bound[DL_BOUND_NODE].low, (all - hypot(below, all / 6)) / 0.8,
              1e-13);
  assert_near(e.bound[DL_BOUND_NODE].high, (all + hypot(above, all / 3)) / 0.8,
              1e-13);
  assert_near(e.bound[DL_BOUND_GPU].low, 25e3, 1e-14);
}

/* A tenth of doubt about the time is one of all parts, a fifth about the power
 * one of the 30 of 74.5 kJ alone; independent errors of the estimate's energy
 * are their hypotenuse. */
static void divides_errors(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  const double both = hypot(0.1, 0.2), w = 30 / 74.5;
  const double others = sqrt(9 + 56.25 + 6.25 + 6.25) / 74.5;
  struct dl_node_load load = {
      .energy_j = {30e3, 30e3 * (1 - both), 30e3 * (1 + both)},
      .duration_s = 100,
      .time_s = {100, 90, 110},
      .power_w = {300, 240, 360}};
  struct dl_node_energy e;

  (void)state;
  dl_node_compose(&n, &load, &e);
  const double power = hypot(0.2 * w, others);
  assert_near(e.power_w[DL_BOUND_NODE].x, 931.25, 1e-13);
  assert_near(e.power_w[DL_BOUND_NODE].low, 931.25 * (1 - power), 1e-13);
  assert_near(e.power_w[DL_BOUND_NODE].high, 931.25 * (1 + power), 1e-13);
  assert_near(e.bound[DL_BOUND_NODE].high, 93125 * (1 + hypot(0.1, power)),
              1e-13);
  assert_near(e.power_w[DL_BOUND_FACILITY].low,
              1.5 * e.power_w[DL_BOUND_NODE].low, 1e-13);
  /* Without an interval of the time, all of the error is the time's. */
  load.time_s = (struct dl_interval){100, NAN, NAN};
  dl_node_compose(&n, &load, &e);
  assert_near(e.bound[DL_BOUND_NODE].high, 93125 * (1 + hypot(both, others)),
              1e-13);
  assert_true(isnan(e.power_w[DL_BOUND_NODE].low));
}

/* Fans at 80 W of 100: at half of the TDP of four GPUs an eighth of it. A
 * supply of 1 kW loses a quarter of 500 W at half load, 0.77 of it at any. */
static void follows_the_load(void **state) {
  struct parts e;
  struct dl_node_power n;
  struct dl_node_use use = one_gpu;
  struct dl_node_load load = {.energy_j = {80e3, NAN, NAN}, .duration_s = 100};
  struct dl_node_energy out;

  (void)state;
  usual(&e);
  e.node.fans_w = 80;
  e.node.supply_w = 1000;
  use.used = 4;
  assert_ok(dl_node_resolve(&n, &e.node, &e.cpu, &e.gpu, &use, &d), &d);
  dl_node_compose(&n, &load, &out);
  assert_near(out.part[DL_PART_REST].x, (20 + 80. / 8) * 100, 1e-13);
  const double dc = 800 + 175 + 50 + 30, lost = 125 * (0.77 + 0.23 * dc / 500);
  assert_near(out.efficiency, dc / (dc + lost), 1e-13);
  assert_near(out.bound[DL_BOUND_NODE].x, (dc + lost) * 100, 1e-13);
}

/* Three nodes have three times everything. */
static void counts_nodes(void **state) {
  struct dl_node_use use = one_gpu;
  struct dl_node_load load = {.energy_j = {160e3, NAN, NAN}, .duration_s = 100};
  struct dl_node_energy one, three;

  (void)state;
  use.used = 4;
  struct dl_node_power n = resolved(&use);
  dl_node_compose(&n, &load, &one);
  use.used = 12;
  use.nodes = 3;
  n = resolved(&use);
  load.energy_j.x *= 3;
  dl_node_compose(&n, &load, &three);
  for (size_t i = 0; i < DL_N_PARTS; i++)
    assert_near(three.part[i].x, 3 * one.part[i].x, 1e-13);
  assert_near(dl_node_rated(&n, 10, DL_BOUND_NODE), 3 * 26875, 1e-13);
  assert_near(dl_embodied_servers_g(&n, 100, 1) / dl_embodied_gpus_g(&n, 10, 1),
              300. / 120, 1e-13);
}

/* (4 x 400 + 2 x 200 + 50 + 100) W / 0.8 */
static void rates_by_runtime(void **state) {
  struct dl_node_power n = resolved(&one_gpu);

  (void)state;
  assert_near(dl_node_rated(&n, 10, DL_BOUND_NODE), 26875, 1e-14);
  assert_near(dl_node_rated(&n, 10, DL_BOUND_FACILITY), 40312.5, 1e-14);
  assert_true(isnan(dl_node_rated(&n, 10, DL_BOUND_GPU)));
}

/* A node that says the least: what is assumed, and that it is. */
static void assumes(void **state) {
  struct parts e;
  struct dl_node_power n;

  (void)state;
  usual(&e);
  e.node.cpu_idle_w = e.node.memory_w_gb = NAN;
  e.node.rest_w = e.node.supply_efficiency = NAN;
  e.gpu.idle_w = NAN;
  assert_ok(dl_node_resolve(&n, &e.node, &e.cpu, &e.gpu, &one_gpu, &d), &d);
  assert_near(n.cpu_idle_w.x, 0.15 * 200, 1e-15);
  assert_near(n.gpu_idle_w.x, 0.12 * 400, 1e-15);
  assert_near(n.memory_w_gb.x, 0.3725, 1e-15);
  assert_true(n.rest_w.x == 0 && n.efficiency.x == 0.9);
  const struct dl_figure *figures[] = {
      &n.cpu_idle_w, &n.gpu_idle_w, &n.memory_w_gb, &n.rest_w, &n.efficiency};
  for (size_t i = 0; i < COUNT(figures); i++)
    assert_string_equal(figures[i]->from, "assumed");
}

static struct dl_origin *from(struct dl_node *e, const double *member) {
  return &e->head.origin[dl_field_index(&e->head, member)];
}

static void names_the_source(void **state) {
  struct parts e;
  struct dl_node_power n;

  (void)state;
  usual(&e);
  from(&e.node, &e.node.rest_w)->note = "assumed: a guess";
  from(&e.node, &e.node.supply_efficiency)->note = "derived: at half load";
  e.node.gpu_idle_w = 30; /* over that of the accelerator */
  from(&e.node, &e.node.gpu_idle_w)->source = "given";
  assert_ok(dl_node_resolve(&n, &e.node, &e.cpu, &e.gpu, &one_gpu, &d), &d);
  assert_string_equal(n.rest_w.from, "assumed");
  assert_string_equal(n.efficiency.from, "derived");
  assert_string_equal(n.gpu_idle_w.from, "given");
  assert_string_equal(n.cpu_idle_w.from, "published");
  assert_true(n.gpu_idle_w.x == 30);
}

static void refuses(void **state) {
  static const struct {
    const char *field;
    double x;
    const char *text;
  } cases[] = {
      {"sockets", NAN,
       "f.xml: " MSG_node_has_no_give("node", "sockets", "sockets")},
      {"memory_gb", NAN,
       "f.xml: " MSG_node_has_no_give("node", "memory_gb", "memory_gb")},
      {"cpu_idle_w", 201,
       "f.xml: " MSG_node_cpu_idle_w_is_more("node", "201", "200")},
      {"gpu_idle_w", 401,
       "f.xml: " MSG_node_gpu_idle_w_is_more("node", "401", "400")},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct parts e;
    struct dl_node_power n;
    usual(&e);
    dl_field_set(&e.node.head, dl_field_find(DL_NODE, cases[i].field),
                 cases[i].x, (struct dl_origin){0});
    assert_int_equal(dl_node_resolve(&n, &e.node, &e.cpu, &e.gpu, &one_gpu, &d),
                     DL_EINPUT);
    assert_string_equal(d.error, cases[i].text);
    dl_diag_free(&d);
  }
}

/* The BLOOM paper: 2500 kg over six years in use 85 % of the time are 56 g an
 * hour, 150 kg 3 g (arXiv 2211.02001). */
static void spreads_embodied_carbon(void **state) {
  struct dl_node_power n = resolved(&one_gpu);
  double hour = dl_life_share(3600, 6, 0.85);

  (void)state;
  assert_true(fabs(dl_embodied_servers_g(&n, 2500, hour) - 56) < 0.5);
  assert_true(fabs(dl_embodied_gpus_g(&n, 150, hour) / 4 - 3) < 0.5);
  assert_true(isnan(dl_embodied_servers_g(&n, NAN, hour)));
}

/* NVIDIA MIG User Guide, supported profiles: eighths of memory, sevenths of
 * multiprocessors. */
static void has_mig_profiles(void **state) {
  static const struct {
    const char *gpu, *profile;
    double sevenths, eighths;
  } cases[] = {
      {"a100-sxm4-40gb", "1g.5gb", 1, 1},
      {"a100-pcie-40gb", "1g.5gb+me", 1, 1},
      {"a100-sxm4-40gb", "1g.10gb", 1, 2},
      {"a100-sxm4-40gb", "2g.10gb", 2, 2},
      {"a100-sxm4-40gb", "3g.20gb", 3, 4},
      {"a100-sxm4-40gb", "4g.20gb", 4, 4},
      {"a100-sxm4-40gb", "7g.40gb", 7, 8},
      {"a100-sxm4-80gb", "1g.10gb", 1, 1},
      {"h100-sxm5-80gb", "3g.40gb", 3, 4},
      {"h200", "2g.35gb", 2, 2},
  };
  struct dl_accelerator gpu;
  struct dl_share s;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    unknown(&gpu.head, DL_ACCELERATOR, cases[i].gpu);
    assert_ok(dl_mig_share(&gpu, cases[i].profile, &s, &d), &d);
    assert_near(s.compute, cases[i].sevenths / 7, 1e-15);
    assert_near(s.memory, cases[i].eighths / 8, 1e-15);
  }
  unknown(&gpu.head, DL_ACCELERATOR, "a30");
  assert_ok(dl_mig_share(&gpu, "2g.12gb", &s, &d), &d);
  assert_true(s.compute == 0.5 && s.memory == 0.5);
  assert_int_equal(dl_mig_share(&gpu, "2g.12", &s, &d), DL_EUSAGE);
  dl_diag_free(&d);
  unknown(&gpu.head, DL_ACCELERATOR, "v100-sxm2-16gb");
  assert_int_equal(dl_mig_share(&gpu, "1g.5gb", &s, &d), DL_EINPUT);
  dl_diag_free(&d);
}

static void cuts_to_a_share(void **state) {
  const struct dl_share share = {0.25, 0.5};
  struct dl_accelerator gpu;

  (void)state;
  unknown(&gpu.head, DL_ACCELERATOR, "gpu");
  gpu.tdp_w = 400;
  gpu.peak_fp32_tflops = 20;
  gpu.bandwidth_gb_s = 1000;
  gpu.memory_gb = 40;
  gpu.boost_mhz = 1400;
  dl_share_cut(&gpu, &share);
  assert_true(gpu.tdp_w == 100);
  assert_true(gpu.peak_fp32_tflops == 5);
  assert_true(gpu.bandwidth_gb_s == 500);
  assert_true(gpu.memory_gb == 20);
  assert_true(gpu.boost_mhz == 1400);
  assert_true(isnan(gpu.idle_w));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adds_up),
      cmocka_unit_test(parts_are_the_whole),
      cmocka_unit_test(memory_counts_once),
      cmocka_unit_test(runs_on_cpus),
      cmocka_unit_test(charges_a_share),
      cmocka_unit_test(carries_intervals),
      cmocka_unit_test(divides_errors),
      cmocka_unit_test(follows_the_load),
      cmocka_unit_test(counts_nodes),
      cmocka_unit_test(rates_by_runtime),
      cmocka_unit_test(assumes),
      cmocka_unit_test(names_the_source),
      cmocka_unit_test(refuses),
      cmocka_unit_test(spreads_embodied_carbon),
      cmocka_unit_test(has_mig_profiles),
      cmocka_unit_test(cuts_to_a_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
