/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs as a model file keeps them. */

#include "model/calibration_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"

void dl_calibration_run_free(struct dl_calibration_run *run) {
  free(run->file);
  dl_strlist_free(&run->value);
  *run = (struct dl_calibration_run){0};
}

void dl_calibration_runs_free(struct dl_calibration_runs *runs) {
  for (size_t i = 0; i < runs->n; i++)
    dl_calibration_run_free(&runs->run[i]);
  free(runs->run);
  *runs = (struct dl_calibration_runs){0};
}

/* Below 0, 0 or above 0: "NAME=VALUE" by a name. */
static int compare_name(const char *value, const char *name) {
  size_t n = strlen(name);
  int by = strncmp(value, name, n);
  if (by)
    return by;
  return value[n] == '=' ? 0 : 1;
}

void dl_calibration_run_set(struct dl_calibration_run *run, const char *name,
                            const char *value) {
  struct dl_strlist *l = &run->value;
  struct dl_text t = {0};
  size_t at = 0;
  if (!value || !*value)
    return;
  dl_text_printf(&t, "%s=%s", name, value);
  while (at < l->n && compare_name(l->s[at], name) < 0)
    at++;
  if (at < l->n && compare_name(l->s[at], name) == 0) {
    free(l->s[at]);
    l->s[at] = t.s;
    return;
  }
  dl_strlist_add(l, t.s);
  char *new = l->s[l->n - 1];
  memmove((void *)&l->s[at + 1], (void *)&l->s[at],
          (l->n - 1 - at) * sizeof *l->s);
  l->s[at] = new;
  dl_text_free(&t);
}

const char *dl_calibration_run_value(const struct dl_calibration_run *run,
                                     const char *name) {
  for (size_t i = 0; i < run->value.n; i++)
    if (compare_name(run->value.s[i], name) == 0)
      return run->value.s[i] + strlen(name) + 1;
  return NULL;
}

static int compare_values(const struct dl_calibration_run *a,
                          const struct dl_calibration_run *b) {
  for (size_t i = 0; i < a->value.n && i < b->value.n; i++) {
    int by = strcmp(a->value.s[i], b->value.s[i]);
    if (by)
      return by;
  }
  return (a->value.n > b->value.n) - (a->value.n < b->value.n);
}

static int compare_places(const struct dl_calibration_run *a,
                          const struct dl_calibration_run *b) {
  int by = strcmp(a->file, b->file);
  return by ? by : (a->line > b->line) - (a->line < b->line);
}

const struct dl_calibration_run *
dl_calibration_runs_add(struct dl_calibration_runs *to,
                        struct dl_calibration_run *run) {
  size_t low = 0, high = to->n;
  while (low < high) {
    size_t at = low + (high - low) / 2;
    int by = compare_values(&to->run[at], run);
    if (by == 0) {
      struct dl_calibration_run *there = &to->run[at];
      if (compare_places(run, there) < 0) {
        struct dl_calibration_run other = *there;
        *there = *run;
        *run = other;
      }
      return there;
    }
    if (by < 0)
      low = at + 1;
    else
      high = at;
  }
  DL_GROW(to->run, to->cap, to->n + 1);
  memmove(&to->run[low + 1], &to->run[low], (to->n++ - low) * sizeof *run);
  to->run[low] = *run;
  *run = (struct dl_calibration_run){0};
  return NULL;
}

static void add_names(struct dl_strlist *names,
                      const struct dl_calibration_run *run) {
  for (size_t i = 0; i < run->value.n; i++) {
    const char *value = run->value.s[i];
    DL_FREED char *name = dl_strndup(value, strcspn(value, "="));
    if (dl_strlist_find(names, name) < 0)
      dl_strlist_add(names, name);
  }
}

void dl_calibration_runs_write(const struct dl_calibration_runs *runs,
                               FILE *f) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist names = {0};
  for (size_t i = 0; i < runs->n; i++)
    add_names(&names, &runs->run[i]);
  for (size_t k = 0; k < names.n; k++)
    fprintf(f, "%s%s", k > 0 ? "," : "", names.s[k]);
  fputc('\n', f);
  for (size_t i = 0; i < runs->n; i++)
    for (size_t k = 0; k < names.n; k++) {
      const char *value = dl_calibration_run_value(&runs->run[i], names.s[k]);
      dl_csv_write_cell(f, value ? value : "");
      fputc(k + 1 < names.n ? ',' : '\n', f);
    }
}
