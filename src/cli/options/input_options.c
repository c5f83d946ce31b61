/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/input_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "logs/importers/importers.h"
#include "logs/importers/time_bound.h"

/* A variable that Slurm sets for the tasks of a job array. */
static enum dl_status task_variable(const char *name, size_t *x,
                                    struct dl_diag *d) {
  const char *text = getenv(name);
  if (!text)
    return dl_fail(d, DL_EUSAGE,
                   "--shard auto: %s is not set; submit with 'sbatch "
                   "--array=1-N', or use --shard I/N",
                   name);
  return dl_parse_count(text, x)
             ? DL_OK
             : dl_fail(d, DL_EUSAGE, "--shard auto: %s: invalid number '%.64s'",
                       name, text);
}

/* Tasks MIN, MIN + STEP, ... MAX are the parts 1 to COUNT. */
static enum dl_status read_task(struct dl_shard *s, struct dl_diag *d) {
  enum { ID, MIN, MAX, STEP, COUNT, N };
  static const char *const names[N] = {
      "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
      "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT"};
  size_t v[N];
  for (size_t i = 0; i < N; i++) {
    enum dl_status status = task_variable(names[i], &v[i], d);
    if (status != DL_OK)
      return status;
  }
  bool regular = v[STEP] > 0 && v[MIN] <= v[ID] && v[ID] <= v[MAX] &&
                 (v[ID] - v[MIN]) % v[STEP] == 0 &&
                 v[COUNT] <= DL_MOST_SHARDS &&
                 (v[MAX] - v[MIN]) / v[STEP] + 1 == v[COUNT];
  if (!regular)
    return dl_fail(d, DL_EUSAGE,
                   "--shard auto: the tasks of this array are not evenly "
                   "spaced; use --shard I/N");
  *s = (struct dl_shard){(v[ID] - v[MIN]) / v[STEP], v[COUNT]};
  return DL_OK;
}

enum dl_status dl_read_shard(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d) {
  struct dl_shard *s = at;
  char index[24];
  (void)o;
  if (strcmp(arg, "auto") == 0)
    return read_task(s, d);
  size_t n = strcspn(arg, "/");
  if (arg[n] != '/' || n >= sizeof index)
    return DL_EUSAGE;
  memcpy(index, arg, n);
  index[n] = '\0';
  if (!dl_parse_count(index, &s->index) ||
      !dl_parse_count(arg + n + 1, &s->count) || s->index < 1 ||
      s->index > s->count || s->count > DL_MOST_SHARDS)
    return DL_EUSAGE;
  s->index--;
  return DL_OK;
}

enum dl_status dl_read_importer(const struct dl_option *o, char *arg, void *at,
                                struct dl_diag *d) {
  const struct dl_importer **importer = at;
  *importer = dl_importer_find(arg);
  return *importer ? DL_OK
                   : dl_fail(d, DL_EUSAGE,
                             "--%s: unknown log format '%s'; see 'dlest list "
                             "importers'",
                             o->name, arg);
}

enum dl_status dl_read_bound(const struct dl_option *o, char *arg, void *at,
                             struct dl_diag *d) {
  (void)o, (void)d;
  return dl_time_bound_read(at, arg) ? DL_OK : DL_EUSAGE;
}
