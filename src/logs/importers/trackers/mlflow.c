/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MLflow: the system metrics of a run in its file store, a file for each metric
 * in RUN/metrics/system, with a line "ms since 1970, value, step" for each
 * sample:
 *
 *   gpu_0_power_usage_watts:         1700000000123 301.2 0
 *   gpu_0_utilization_percentage:    1700000000123 97.0 0
 *
 * The file of one GPU stands for the folder: files of other GPUs are read with
 * it. */

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "logs/log.h"

#define POWER "power_usage_watts"
#define UTIL "utilization_percentage"

enum { MOST_BYTES = 1 << 26 };

/* The samples of all files, by time. */
struct sample {
  int64_t ms;
  long gpu;
  bool util;
  double x;
};

struct samples {
  struct sample *e; /* owned */
  size_t n, cap;
};

/* Reads "gpu_3_power_usage_watts". */
static bool metric_of(const char *path, long *gpu, bool *util) {
  const char *name = dl_path_name(path);
  int at = 0;
  if (sscanf(name, "gpu_%ld_%n", gpu, &at) != 1 || at == 0)
    return false;
  *util = strcmp(name + at, UTIL) == 0;
  return *util || strcmp(name + at, POWER) == 0;
}

static bool read_sample(const char *s, struct sample *x) {
  long long ms, step;
  int at = 0;
  char value[64];
  if (sscanf(s, "%lld %63s %lld%n", &ms, value, &step, &at) != 3 ||
      s[at + (int)strspn(s + at, " \r\n")] != '\0' ||
      !dl_parse_double(value, &x->x))
    return false;
  x->ms = ms;
  return ms >= (long long)(DL_SINCE_1970_S * 1e3);
}

static bool probe(const struct dl_head *head) {
  char text[DL_HEAD_LINE];
  struct sample x;
  size_t at = 0;
  bool util;
  return metric_of(head->path, &x.gpu, &util) &&
         dl_head_line(head, &at, text, sizeof text) && read_sample(text, &x);
}

static enum dl_status add_file(struct samples *all, struct dl_log *log,
                               const char *path, char *text) {
  char *rest;
  struct sample x;
  size_t line = 0;
  if (!metric_of(path, &x.gpu, &x.util))
    return dl_fail_at(log->d, DL_EINPUT, path, 0,
                      "no name of a metric of MLflow, such as "
                      "'gpu_0_power_usage_watts'");
  for (char *s = strtok_r(text, "\n", &rest); s;
       s = strtok_r(NULL, "\n", &rest)) {
    line++;
    if (!read_sample(s, &x)) {
      dl_skip_at(log->d, path, line, "expected a time in ms, a value, a step");
      continue;
    }
    DL_GROW(all->e, all->cap, all->n + 1);
    all->e[all->n++] = x;
  }
  return DL_OK;
}

static int by_time(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if (x->ms != y->ms)
    return x->ms < y->ms ? -1 : 1;
  return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

/* Adds the other metrics of the folder. */
static enum dl_status add_folder(struct samples *all, struct dl_log *log,
                                 struct dl_diag *d) {
  const char *name = dl_path_name(log->path);
  DL_TEXT(folder);
  DL_TEXT(path);
  enum dl_status status = DL_OK;
  dl_text_add_n(&folder, log->path, (size_t)(name - log->path));
  DIR *dir = opendir(folder.len > 0 ? dl_text_str(&folder) : ".");
  for (struct dirent *e; dir && status == DL_OK && (e = readdir(dir));) {
    long gpu;
    bool util;
    char *text = NULL;
    size_t len;
    if (strcmp(e->d_name, name) == 0 || !metric_of(e->d_name, &gpu, &util))
      continue;
    dl_text_clear(&path);
    dl_text_printf(&path, "%s%s", dl_text_str(&folder), e->d_name);
    status = dl_read_file(dl_text_str(&path), MOST_BYTES, &text, &len, d);
    if (status == DL_OK)
      status = add_file(all, log, dl_text_str(&path), text);
    free(text);
  }
  if (dir)
    closedir(dir);
  return status;
}

static void set_value(struct dl_reading *r, const struct sample *x) {
  if (x->util)
    r->util = x->x >= 0 && x->x <= 100 ? x->x / 100 : (double)NAN;
  else
    r->power_w = x->x;
}

static enum dl_status text(struct dl_log *log, const char *s, size_t len,
                           struct dl_diag *d) {
  struct samples all = {0};
  char id[24], number[24];
  DL_FREED char *own = dl_strndup(s, len);
  enum dl_status status = add_file(&all, log, log->path, own);
  if (status == DL_OK)
    status = add_folder(&all, log, d);
  if (all.n > 0)
    qsort(all.e, all.n, sizeof *all.e, by_time);
  for (size_t i = 0; i < all.n && status == DL_OK; i++) {
    const struct sample *x = &all.e[i];
    snprintf(id, sizeof id, "%ld", x->gpu);
    snprintf(number, sizeof number, "%lld", (long long)x->ms);
    struct dl_reading r =
        dl_reading_at(dl_log_meter(log, DL_METER_GPU, id, NULL), 0);
    if (!dl_log_time(log, number, strlen(number), &r.ns))
      continue;
    for (; i < all.n && all.e[i].ms == x->ms && all.e[i].gpu == x->gpu; i++)
      set_value(&r, &all.e[i]);
    i--;
    dl_log_reading(log, &r);
  }
  free(all.e);
  return status;
}

const struct dl_importer dl_import_mlflow = {
    .name = "mlflow",
    .summary = "MLflow: the system metrics of a run (RUN/metrics/system)",
    .folders_up = 3,
    .probe = probe,
    .text = text,
};
