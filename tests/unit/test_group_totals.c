/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's energy, measured or estimated, and sums over jobs. */

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit.h"

#include "catalog/catalog.h"
#include "estimate/accounting/group_totals.h"

struct job {
  const char *user, *month, *gpu, *partition;
  double s, gpus, use, cores, cpu_use, ram_gb, nodes, energy_j;
};

/* With the month's text in `start`. */
static struct dl_cluster_job job_of(const struct job *j, char start[32]) {
  snprintf(start, 32, "%s-07T08:00:00", j->month ? j->month : "");
  return (struct dl_cluster_job){.user = j->user,
                                 .start_time = j->month ? start : NULL,
                                 .gpu = j->gpu,
                                 .partition = j->partition,
                                 .boundary = "node",
                                 .duration_s = j->s,
                                 .n_gpus = j->gpus > 0 ? j->gpus : NAN,
                                 .gpu_share = 1,
                                 .gpu_util = j->use,
                                 .n_cpus = j->cores > 0 ? j->cores : NAN,
                                 .cpu_util = j->cpu_use,
                                 .ram_gb = j->ram_gb > 0 ? j->ram_gb : NAN,
                                 .n_nodes = j->nodes > 0 ? j->nodes : NAN,
                                 .energy_j =
                                     j->energy_j > 0 ? j->energy_j : NAN};
}

/* What the accounting of a cluster says of one job. */
static struct dl_accounted account(const struct dl_cluster *c, struct job j) {
  struct dl_catalog *catalog = dl_catalog_new(NULL);
  struct dl_accounting *a;
  struct dl_accounted out;
  char start[32];
  struct dl_cluster_job job = job_of(&j, start);
  struct dl_diag d = {0};

  assert_int_equal(dl_accounting_new(&a, c, catalog, &d), DL_OK);
  assert_int_equal(dl_account(a, &job, &out, &d), DL_OK);
  dl_accounting_free(a);
  dl_catalog_free(catalog);
  dl_diag_free(&d);
  return out;
}

#define EXPECT(out, how, joules, where)                                        \
  do {                                                                         \
    assert_int_equal((out).from, how);                                         \
    assert_true(fabs((out).energy_j - (joules)) < 1e-9 * (joules));            \
    assert_string_equal((out).boundary, where);                                \
  } while (0)

/* By hand: a V100 SXM2 has a TDP of 300 W, an A100 SXM4 of 400 W. */
static void energies_of_jobs(void **state) {
  struct dl_cluster c = {.core_power_w = NAN, .threads = NAN};
  (void)state;

  EXPECT(account(&c, (struct job){.s = 10,
                                  .energy_j = 5000,
                                  .gpus = 1,
                                  .gpu = "v100",
                                  .use = 1}),
         DL_ENERGY_MEASURED, 5000, "node");
  EXPECT(
      account(&c, (struct job){.s = 10, .gpus = 2, .gpu = "v100", .use = NAN}),
      DL_ENERGY_GPU_TDP, 6000, "gpu");
  EXPECT(
      account(&c, (struct job){.s = 10, .gpus = 2, .gpu = "v100", .use = 0.25}),
      DL_ENERGY_GPU_USE, 1500, "gpu");
  EXPECT(account(&c, (struct job){.s = 10,
                                  .gpus = 2,
                                  .gpu = "v100",
                                  .use = 0.25,
                                  .ram_gb = 100}),
         DL_ENERGY_GPU_USE, 1500 + 372.5, "gpu+ram");
  struct dl_accounted none =
      account(&c, (struct job){.s = 10, .ram_gb = 100, .use = NAN});
  assert_int_equal(none.from, DL_ENERGY_UNKNOWN);
  assert_true(isnan(none.energy_j));

  /* 280 W for 64 cores: .85 of it busy, .15 idle. */
  dl_strlist_add(&c.cpus, "epyc-7763");
  c.threads = 1;
  EXPECT(account(&c, (struct job){.s = 10, .cores = 8, .cpu_use = 1}),
         DL_ENERGY_CORES, 10 * 8 * 280.0 / 64 * 0.85, "cpu");
  EXPECT(account(&c, (struct job){.s = 10, .cores = 8}), DL_ENERGY_CORES,
         10 * 8 * 280.0 / 64 * 0.15, "cpu");
  dl_strlist_free(&c.cpus);
  c.cpus = (struct dl_strlist){0};

  c.core_power_w = 5;
  EXPECT(account(&c, (struct job){.s = 10, .cores = 8, .cpu_use = NAN}),
         DL_ENERGY_CORES, 400, "cpu");
  EXPECT(account(&c, (struct job){.s = 10,
                                  .cores = 8,
                                  .cpu_use = 0.5,
                                  .ram_gb = 100,
                                  .gpus = 1,
                                  .gpu = "v100",
                                  .use = NAN}),
         DL_ENERGY_GPU_TDP, 3000 + 200 + 372.5, "gpu+cpu+ram");
}

static void the_cluster_says_what_is_what(void **state) {
  struct dl_cluster c = {.core_power_w = NAN, .threads = NAN};
  const struct job plain = {.s = 10, .gpus = 1, .use = NAN};
  struct job named = plain, there = plain;
  (void)state;
  named.gpu = "big";
  there.partition = "fast";
  dl_strlist_add(&c.gpus, "v100");
  dl_strlist_add(&c.gpus, "big=a100");
  dl_strlist_add(&c.gpus, "fast=a100");
  EXPECT(account(&c, plain), DL_ENERGY_GPU_TDP, 3000, "gpu");
  EXPECT(account(&c, named), DL_ENERGY_GPU_TDP, 4000, "gpu");
  EXPECT(account(&c, there), DL_ENERGY_GPU_TDP, 4000, "gpu");
  dl_strlist_add(&c.node_power, "1000");
  dl_strlist_add(&c.node_power, "fast=2000");
  there.nodes = 3;
  EXPECT(account(&c, named), DL_ENERGY_NODE_POWER, 10000, "node");
  EXPECT(account(&c, there), DL_ENERGY_NODE_POWER, 60000, "node");
  dl_strlist_free(&c.gpus);
  dl_strlist_free(&c.node_power);
}

static void add(struct dl_group_totals *t, const char *user, const char *month,
                const struct dl_accounted *figures) {
  char start[32];
  struct dl_cluster_job job =
      job_of(&(struct job){.user = user, .month = month}, start);
  struct dl_accounted of_job = *figures;

  of_job.job = &job;
  dl_group_totals_add(t, &job, &of_job);
}

static void sums_by_group(void **state) {
  const bool users[DL_N_KEYS] = {[DL_KEY_USER] = true};
  const bool both[DL_N_KEYS] = {[DL_KEY_USER] = true, [DL_KEY_MONTH] = true};
  const struct dl_cluster_job job = {.n_gpus = 1, .gpu_share = 1};
  const struct dl_accounted measured = {
      &job, DL_ENERGY_MEASURED, "node", 100, 3000, NAN, NAN, 200, 50, NAN};
  const struct dl_accounted estimated = {
      &job, DL_ENERGY_GPU_TDP, "gpu", 50, 1000, NAN, NAN, 50, NAN, NAN};
  const struct dl_accounted unknown = {
      &job, DL_ENERGY_UNKNOWN, NULL, 7, NAN, NAN, NAN, 0, NAN, NAN};
  const char *key[DL_N_KEYS];
  (void)state;

  for (int k = 0; k < 2; k++) {
    struct dl_group_totals *t = dl_group_totals_new(k ? both : users);
    assert_non_null(t);
    add(t, "bob", "2024-02", &unknown);
    add(t, "ann", "2024-03", &measured);
    add(t, "ann", "2024-02", &estimated);
    add(t, NULL, NULL, &unknown);
    dl_group_totals_sort(t);
    assert_int_equal(dl_group_totals_n(t), k ? 4 : 3);
    if (k) { /* by names; unknown ones first */
      assert_null((dl_group_totals_at(t, 0, key), key[DL_KEY_USER]));
      dl_group_totals_at(t, 1, key);
      assert_string_equal(key[DL_KEY_USER], "ann");
      assert_string_equal(key[DL_KEY_MONTH], "2024-02");
      dl_group_totals_at(t, 3, key);
      assert_string_equal(key[DL_KEY_USER], "bob");
    } else { /* by energy */
      const struct dl_sums *s = dl_group_totals_at(t, 0, key);
      assert_string_equal(key[DL_KEY_USER], "ann");
      assert_null(key[DL_KEY_MONTH]);
      assert_int_equal(s->jobs, 2);
      assert_int_equal(s->measured + s->estimated, 2);
      assert_int_equal(s->at_tdp, 1);
      assert_float_equal(dl_sums_energy(s), 4000, 0);
      assert_float_equal(s->measured_j, 3000, 0);
      assert_float_equal(s->duration_s, 150, 0);
      assert_float_equal(s->gpu_s, 250, 0);
      assert_float_equal(s->known_gpu_s, 200, 0);
      assert_float_equal(dl_sums_idle(s), 0.25, 0);
      assert_string_equal(s->boundary, "mixed");
      s = dl_group_totals_at(t, 1, key);
      assert_int_equal(s->unknown, 1);
      assert_true(isnan(dl_sums_energy(s)));
      assert_true(isnan(dl_sums_idle(s)));
    }
    dl_group_totals_free(t);
  }
  dl_group_totals_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_of_jobs),
      cmocka_unit_test(the_cluster_says_what_is_what),
      cmocka_unit_test(sums_by_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
