/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job used and was given, from lists of trackable resources. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"
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

double dl_slurm_count(const char *s) {
  double x;
  size_t n = strlen(s);
  double scale = n > 1 && s[n - 1] == 'K' ? 1024 : 1;
  bool ok = dl_parse_number(s, n - (scale > 1), &x) == DL_NUMBER_OK && x > 0 &&
            x * scale <= 1e9;
  return ok ? x * scale : NAN;
}

double dl_slurm_allocated(const struct dl_slurm_row *row,
                          enum dl_slurm_column column, const char *tres,
                          const char *name) {
  char text[32];
  size_t len;
  double x = dl_slurm_count(dl_slurm_cell(row, column));
  const char *s = isnan(x) ? dl_slurm_resource(tres, name, &len) : NULL;
  if (!s || len >= sizeof text)
    return x;
  memcpy(text, s, len);
  text[len] = '\0';
  return dl_slurm_count(text);
}

bool dl_slurm_is_unfinished(const char *state) {
  return dl_word_among("RUNNING|R|SUSPENDED|S|COMPLETING|CG|CONFIGURING|CF|"
                       "STOPPED|SIGNALING|STAGE_OUT",
                       state, strlen(state)) >= 0;
}
