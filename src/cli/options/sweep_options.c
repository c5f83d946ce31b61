/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes of a sweep from the options of a job. */

#include <string.h>

#include "catalog/architecture/token_costs.h"
#include "cli/options/job_options.h"

/* What "NAME=..." says of a column, or NULL; the last counts. */
static const char *setting(const struct dl_job_options *o, const char *name) {
  size_t n = strlen(name);
  for (size_t i = o->settings.n; i > 0; i--)
    if (strncmp(o->settings.s[i - 1], name, n) == 0 &&
        o->settings.s[i - 1][n] == '=')
      return o->settings.s[i - 1] + n + 1;
  return NULL;
}

/* Hands an axis over, which then belongs to `to`. */
static void move(struct dl_axes *to, struct dl_axes *from, size_t i) {
  to->a[to->n++] = from->a[i];
  from->a[i] = from->a[--from->n];
}

enum dl_status dl_job_options_sweep(struct dl_job_options *o,
                                    const char *const *columns,
                                    struct dl_diag *d) {
  struct dl_axes axes = {0};
  enum dl_status status = DL_OK;
  for (; *columns && status == DL_OK; columns++) {
    const struct dl_axis *a = dl_axes_find(&o->axes, *columns);
    const char *one = setting(o, *columns);
    if (a)
      move(&axes, &o->axes, (size_t)(a - o->axes.a));
    else if (one)
      status = dl_axes_set_one(&axes, *columns, one, d);
  }
  dl_axes_free(&o->axes);
  o->axes = axes;
  return status;
}

static enum dl_status look_language(const char *arch, struct dl_catalog *c,
                                    bool *language, struct dl_diag *d) {
  const struct dl_descriptor *e = NULL;
  enum dl_status status = dl_catalog_open(c, DL_ARCHITECTURE, arch, d);
  if (status == DL_OK)
    status = dl_catalog_look(c, DL_ARCHITECTURE, arch, &e, d);
  *language =
      status == DL_OK && e && dl_is_language_model(DL_AS(architecture, e));
  return status;
}

enum dl_status dl_job_options_language(struct dl_job_options *o,
                                       struct dl_catalog *c, bool *language,
                                       struct dl_diag *d) {
  const struct dl_axis *a = dl_axes_find(&o->axes, "arch");
  bool other;
  *language = false;
  if (a)
    o->arch = a->text.s[0];
  if (!o->arch)
    return DL_OK;
  enum dl_status status = look_language(o->arch, c, language, d);
  for (size_t i = 1; a && i < a->n && status == DL_OK; i++) {
    status = look_language(a->text.s[i], c, &other, d);
    if (status == DL_OK && other != *language)
      status = dl_fail(d, DL_EUSAGE,
                       "'%.64s' and '%.64s': language models and others do "
                       "not go in one sweep",
                       o->arch, a->text.s[i]);
  }
  return status;
}
