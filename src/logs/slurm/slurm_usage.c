/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the resources that a job used and was allocated from lists of trackable
 * resources. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"
#include "logs/slurm/cluster_job.h"
#include "logs/slurm/slurm.h"

const char *dl_slurm_resource(const char *tres, const char *name, size_t *len) {
  size_t n = strlen(name);
  for (const char *s = tres; *s; s += *s == ',') {
    size_t width = strcspn(s, ",");
    if (width > n && *s == *name && strncmp(s, name, n) == 0 && s[n] == '=') {
      *len = width - n - 1;
      return s + n + 1;
    }
    s += width;
  }
  return NULL;
}

/* Whether a utilization was not measured. If Slurm cannot query the GPUs (AMD,
 * GH200, MIG), it reports both a utilization and a memory of 0. */
static bool is_not_measured(const char *tres, double util) {
  size_t len;
  const char *s = dl_slurm_resource(tres, "gres/gpumem", &len);
  return util == 0 && s && strspn(s, "0.KMGTP") >= len;
}

static double utilisation(const char *tres) {
  size_t len;
  double x;
  const char *s = dl_slurm_resource(tres, "gres/gpuutil", &len);
  bool ok =
      s && dl_parse_number(s, len, &x) == DL_NUMBER_OK && x >= 0 && x <= 1e8;
  return ok && !is_not_measured(tres, x) ? x / 100 : NAN;
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

bool dl_slurm_has_failed(const char *state) {
  return dl_word_among("FAILED|F|CANCELLED|CA|NODE_FAIL|NF|OUT_OF_MEMORY|OOM|"
                       "BOOT_FAIL|BF|LAUNCH_FAILED",
                       state, strlen(state)) >= 0;
}

bool dl_slurm_waits(const struct dl_slurm_row *row, const char *state,
                    double seconds) {
  const char *end = dl_slurm_cell(row, DL_SLURM_END);
  struct dl_timestamp t;
  if (state)
    return dl_slurm_is_unfinished(state) ||
           (seconds == 0 && strncasecmp(state, "REQUEUE", 7) == 0);
  return row->table->at[DL_SLURM_END] >= 0 &&
         !dl_parse_timestamp(end, strlen(end), &t);
}

/* No type of GPU is as long. */
enum { TYPE_SIZE = 64 };

/* A count at the beginning of s, NaN where there is no sensible one. */
static double count_at(const char *s) {
  size_t n = 0;
  double x;
  while (isdigit((unsigned char)s[n]))
    n++;
  bool ok = n > 0 && dl_parse_number(s, n, &x) == DL_NUMBER_OK && x < 1e6;
  return ok ? x : NAN;
}

/* One resource s[0..len): "gres/gpu=4", "gres/gpu:a100=4", "gpu:4",
 * "gpu:a100:4(IDX:0-3)". Returns whether it is of GPUs. */
static bool gpu_resource(const char *s, size_t len, const char **type,
                         size_t *type_len, double *count) {
  const char *end = s + len;
  if (len == 0 || *s != 'g')
    return false;
  if (len > 5 && strncmp(s, "gres/", 5) == 0)
    s += 5;
  if (end - s < 5 || strncmp(s, "gpu", 3) != 0 || (s[3] != '=' && s[3] != ':'))
    return false;
  s += 3;
  *type = s + 1;
  *type_len = 0;
  if (*s == ':') {
    size_t n = 0;
    while (s[1 + n] > '=' || (s[1 + n] && !strchr(":=,(", s[1 + n])))
      n++;                 /* most often a letter */
    if (s[1 + n] == ':') { /* "a100:1g.5gb=1" */
      size_t more = n + 1 + strcspn(s + 2 + n, ":=,(");
      n = s[1 + more] == ':' || s[1 + more] == '=' ? more : n;
    }
    if (s[1 + n] == ':' || s[1 + n] == '=') {
      *type_len = n;
      s += 1 + n;
    }
  }
  *count = s < end ? count_at(s + 1) : NAN;
  return !isnan(*count);
}

double dl_slurm_gpus(const char *tres, const char **type, size_t *type_len,
                     double *share) {
  double untyped = NAN, typed = NAN, whole = 0, part;
  bool several = false;
  *type = "";
  *type_len = 0;
  for (const char *s = tres; *s; s += *s == ',') {
    const char *name;
    size_t width = strcspn(s, ","), name_len;
    double count;
    if (gpu_resource(s, width, &name, &name_len, &count)) {
      double *sum = name_len > 0 ? &typed : &untyped;
      *sum = isnan(*sum) ? count : *sum + count;
      dl_mig_type(name, name_len, &part);
      whole += name_len > 0 ? count * part : 0;
      several = several || (name_len > 0 && *type_len > 0);
      if (name_len > 0 && name_len < TYPE_SIZE) {
        *type = name;
        *type_len = name_len;
      }
    }
    s += width;
  }
  if (several)
    *type_len = 0;
  *share = typed > 0 ? whole / typed : 1;
  return isnan(untyped) ? typed : untyped;
}
