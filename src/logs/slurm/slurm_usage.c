/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job used and was given, from lists of trackable resources. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "logs/slurm/slurm.h"

const char *dl_slurm_resource(const char *tres, const char *name, size_t *len) {
  size_t n = strlen(name);
  for (const char *s = tres; *s; s += *s == ',') {
    size_t width = (size_t)(strchrnul(s, ',') - s);
    if (width > n && *s == *name && strncmp(s, name, n) == 0 && s[n] == '=') {
      *len = width - n - 1;
      return s + n + 1;
    }
    s += width;
  }
  return NULL;
}

static double utilisation(const char *tres) {
  size_t len;
  double x;
  const char *s = dl_slurm_resource(tres, "gres/gpuutil", &len);
  bool ok =
      s && dl_parse_number(s, len, &x) == DL_NUMBER_OK && x >= 0 && x <= 1e8;
  return ok ? x / 100 : NAN;
}

double dl_slurm_busy_gpus(const char *total, const char *average,
                          double tasks) {
  double all = utilisation(total);
  if (!isnan(all))
    return all;
  return utilisation(average) * (tasks >= 1 ? tasks : 1);
}

double dl_slurm_memory_gb(const char *tres) {
  static const char units[] = "KMGTP";
  static const double scales[] = {1.0 / 1024, 1, 1024, 1024. * 1024,
                                  1024. * 1024 * 1024};
  size_t len;
  double x;
  const char *s = dl_slurm_resource(tres, "mem", &len);
  if (!s || len == 0)
    return NAN;
  const char *unit = memchr(units, s[len - 1], sizeof units - 1);
  double scale = unit ? scales[unit - units] : 1;
  if (dl_parse_number(s, len - (unit != NULL), &x) != DL_NUMBER_OK || x <= 0)
    return NAN;
  x *= scale * DL_BYTES_PER_MIB / 1e9;
  return x <= 1e9 ? x : NAN;
}
