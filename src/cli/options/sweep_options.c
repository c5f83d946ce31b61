/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes of a sweep from the options of a job. */

#include <string.h>

#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "cli/options/job_options.h"

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
    enum dl_run_id id = dl_run_column_find(*columns)->id;
    char buf[DL_NUMBER_SIZE];
    if (a)
      move(&axes, &o->axes, (size_t)(a - o->axes.a));
    else if (dl_run_has(&o->run, id))
      status = dl_axes_set_one(
          &axes, *columns,
          dl_run_columns[id].is_text
              ? dl_run_text(&o->run, id)
              : dl_format_short(buf, dl_run_number(&o->run, id)),
          d);
  }
  dl_axes_free(&o->axes);
  o->axes = axes;
  return status;
}

enum dl_status dl_job_options_language(struct dl_job_options *o,
                                       struct dl_catalog *c, bool *language,
                                       struct dl_diag *d) {
  const struct dl_axis *a = dl_axes_find(&o->axes, "arch");
  enum dl_status status = DL_OK;
  *language = false;
  o->arch = a ? a->text.s[0] : o->run.arch;
  for (size_t i = 0; o->arch && i < (a ? a->n : 1) && status == DL_OK; i++) {
    const char *arch = a ? a->text.s[i] : o->arch;
    const struct dl_descriptor *e = NULL;
    status = dl_catalog_open(c, DL_ARCHITECTURE, arch, d);
    if (status == DL_OK)
      status = dl_catalog_look(c, DL_ARCHITECTURE, arch, &e, d);
    bool is =
        status == DL_OK && e && dl_is_language_model(DL_AS(architecture, e));
    o->sequences |= is || (e && DL_AS(architecture, e)->transformer);
    const char *usual =
        e ? dl_usual_dataset(DL_AS(architecture, e)) : "imagenet";
    bool same = usual && o->usual && strcmp(usual, o->usual) == 0;
    o->usual = i == 0 || same ? usual : NULL;
    if (status == DL_OK && i > 0 && is != *language)
      status = dl_fail(d, DL_EUSAGE,
                       "'%.64s' and '%.64s': language models and others do "
                       "not go in one sweep",
                       o->arch, arch);
    *language = is;
  }
  return status;
}
