/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes `dlest report` from a scheduler's accounting to its totals: each job
 * that sacct lists gets an energy, and goes into groups and sums, which must
 * agree. Seeds: tests/fuzz/corpus/sacct and report. */

#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "estimate/accounting/group_totals.h"
#include "logs/importers/importers.h"
#include "logs/log.h"
#include "logs/log_part.h"

static int fd;
static char path[64];
static struct dl_catalog *catalog;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  fd = memfd_create("fuzz", MFD_CLOEXEC);
  catalog = dl_catalog_new(NULL);
  must(fd >= 0 && catalog);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return 0;
}

/* Unknown, or a number that is not negative. */
static bool sound(double x) {
  return isnan(x) || (x >= 0 && !isinf(x));
}

static void check_job(const struct dl_accounted *job) {
  must(isnan(job->energy_j) == (job->from == DL_ENERGY_UNKNOWN));
  must(sound(job->energy_j) && sound(job->duration_s) && sound(job->gpu_s));
  must(isnan(job->low_j) == isnan(job->high_j));
  must(isnan(job->low_j) ||
       (job->low_j <= job->energy_j && job->energy_j <= job->high_j));
  must(isnan(job->idle_gpu_s) ||
       (job->idle_gpu_s >= 0 && job->idle_gpu_s <= job->gpu_s * (1 + 1e-9)));
}

static void check_sums(const struct dl_sums *s) {
  must(s->measured + s->estimated + s->unknown == s->jobs);
  must(sound(s->energy_j) && s->measured_j <= s->energy_j * (1 + 1e-9));
  must(sound(s->gpu_s) && sound(s->duration_s));
  double idle = dl_sums_idle(s);
  must(isnan(idle) || (idle >= 0 && idle <= 1 + 1e-9));
  must(isnan(dl_sums_energy(s)) == (s->unknown == s->jobs));
}

static void check_groups(struct dl_group_totals *t, const struct dl_sums *all) {
  const char *key[DL_N_KEYS];
  struct dl_sums sum = {0};
  dl_group_totals_sort(t);
  for (size_t i = 0; i < dl_group_totals_n(t); i++) {
    const struct dl_sums *s = dl_group_totals_at(t, i, key);
    check_sums(s);
    must(s->jobs > 0);
    sum.jobs += s->jobs;
    sum.energy_j += s->energy_j;
    sum.gpu_s += s->gpu_s;
  }
  must(sum.jobs == all->jobs);
  must(fabs(sum.energy_j - all->energy_j) <= 1e-9 * all->energy_j);
  must(fabs(sum.gpu_s - all->gpu_s) <= 1e-9 * all->gpu_s);
}

static void account_all(struct dl_log *log, struct dl_accounting *a,
                        struct dl_diag *d) {
  bool keys[DL_N_KEYS] = {true, true, true, true};
  struct dl_group_totals *t = dl_group_totals_new(keys);
  struct dl_log_part *part = dl_log_part_new(log);
  struct dl_log_block block;
  struct dl_sums all = {0};
  while (dl_log_part_next(log, part, &block, d) == DL_OK && block.n_runs > 0)
    for (size_t i = 0; i < block.n_runs; i++) {
      struct dl_cluster_job job = dl_cluster_job_of(&block.run[i]);
      struct dl_accounted figures;
      must(dl_account(a, &job, &figures, d) == DL_OK);
      check_job(&figures);
      dl_sums_add(&all, &figures);
      dl_group_totals_add(t, &job, &figures);
    }
  check_sums(&all);
  check_groups(t, &all);
  dl_group_totals_free(t);
  dl_log_part_free(part);
}

/* Settings of the cluster, by the input's size. */
static void choose(struct dl_cluster *o, size_t size) {
  *o = (struct dl_cluster){.core_power_w = size & 1 ? 10 : NAN,
                           .threads = size & 8 ? 2 : NAN};
  if (size & 16)
    dl_strlist_add(&o->cpus, "epyc-7763");
  if (size & 2) {
    dl_strlist_add(&o->gpus, "v100=v100");
    dl_strlist_add(&o->gpus, "a100");
  }
  if (size & 4)
    dl_strlist_add(&o->node_power, "gpu=1800");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct dl_log_options o = {.from = dl_importer_find("sacct")};
  size_t n;
  struct dl_accounting *a;
  struct dl_cluster cluster;
  struct dl_log *log;
  struct dl_diag d = {0};
  must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
  choose(&cluster, size);
  must(dl_accounting_new(&a, &cluster, catalog, &d) == DL_OK);
  if (dl_log_open(&log, path, &o, &d) == DL_OK)
    account_all(log, a, &d);
  must(d.status == DL_OK || d.error);
  dl_log_free(log);
  dl_accounting_warn(a, &d);
  struct dl_constant *constant = dl_accounting_constants(a, &n);
  for (size_t i = 0; i < n; i++)
    must(constant[i].name && isfinite(constant[i].x));
  free(constant);
  dl_accounting_free(a);
  dl_strlist_free(&cluster.gpus);
  dl_strlist_free(&cluster.cpus);
  dl_strlist_free(&cluster.node_power);
  dl_diag_free(&d);
  return 0;
}
