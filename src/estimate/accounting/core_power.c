/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/accounting/core_power.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "physics/cpu/cpu_inputs.h"

#define STATIC_SHARE 0.15
#define DYNAMIC_SHARE 0.7
#define USUAL_USE 0.7
#define LEAST_USE 0.1
#define LOAD_DOUBT 0.35 /* half-width of the logarithm */

static double share(double use) {
  return STATIC_SHARE + DYNAMIC_SHARE * use;
}

void dl_core_power_range(const double core_w[3], double use, double threads,
                         struct dl_interval *w) {
  double x = share(dl_or(use, USUAL_USE)), n = dl_or(threads, 1);
  double low = hypot(LOAD_DOUBT, log(core_w[0] / core_w[1]));
  double high = hypot(LOAD_DOUBT, log(core_w[2] / core_w[0]));
  if (isnan(use)) {
    low = hypot(low, log(x / share(LEAST_USE)));
    high = hypot(high, log(share(1) / x));
  }
  if (isnan(threads))
    low = hypot(low, log(2));
  w->x = x * core_w[0] / n;
  w->low = w->x * exp(-low);
  w->high = w->x * exp(high);
}

void dl_core_power(const struct dl_accelerator *cpu, double use, double threads,
                   struct dl_interval *w) {
  const double of = cpu->tdp_w / cpu->multiprocessors;
  dl_core_power_range((const double[3]){of, of, of}, use, threads, w);
}

enum dl_status dl_server_core_power(struct dl_catalog *catalog, double w[3],
                                    struct dl_diag *d) {
  static const double at[3] = {0.5, 0.05, 0.95};
  DL_FREED const struct dl_descriptor **list = NULL;
  size_t n, servers = 0;
  DL_TRY(dl_catalog_all(catalog, DL_ACCELERATOR, &list, &n, d));
  DL_FREED double *x = dl_calloc(n + 1, sizeof *x);
  for (size_t i = 0; i < n; i++) {
    const struct dl_accelerator *cpu = DL_AS(accelerator, list[i]);
    if (dl_is_cpu(cpu) && !dl_is_client_cpu(cpu) && cpu->tdp_w > 0 &&
        cpu->multiprocessors > 0)
      x[servers++] = cpu->tdp_w / cpu->multiprocessors;
  }
  if (servers == 0)
    return dl_fail(d, DL_EINPUT,
                   "the catalogue has no server CPU; name the "
                   "CPUs of jobs without GPUs with --cpu");
  qsort(x, servers, sizeof *x, dl_order_numbers);
  for (size_t i = 0; i < 3; i++)
    w[i] = x[(size_t)(at[i] * (double)(servers - 1))];
  return DL_OK;
}

enum dl_status dl_cpu_check(const struct dl_accelerator *cpu, const char *name,
                            struct dl_diag *d) {
  if (dl_is_cpu(cpu))
    return DL_OK;
  return dl_fail(d, DL_EINPUT,
                 "--cpu: '%.64s' is no CPU; give GPUs with --gpu, or one of "
                 "'dlest list gpus epyc' or xeon",
                 name);
}
