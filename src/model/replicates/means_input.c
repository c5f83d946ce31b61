/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/replicates/means_input.h"

#include <stdlib.h>
#include <string.h>

#include "model/replicates/means_table.h"
#include "run/formula/formula.h"

/* Reads the files if they are tables of means; else leaves the first one
 * open. */
static enum dl_status read_means(char *const *path, size_t n,
                                 struct dl_means *m, struct dl_csv **csv,
                                 bool *means, struct dl_diag *d) {
  enum dl_status status = dl_csv_open(csv, path[0], 0, d);
  *means = status == DL_OK && (n > 1 || dl_means_is_table(*csv));
  if (status == DL_OK && !*means && dl_means_is_like(*csv)) {
    dl_csv_free(*csv);
    *csv = NULL;
    return dl_fail_at(d, DL_EINPUT, path[0], 0,
                      "the columns of a table of means are in another order "
                      "than dlest fit --means writes them");
  }
  if (!*means)
    return status;
  dl_csv_free(*csv);
  *csv = NULL;
  return dl_means_read(m, path, n, d);
}

enum dl_status dl_means_open(char *const *path, size_t n, bool logs,
                             struct dl_csv **csv, bool *means,
                             struct dl_diag *d) {
  DL_SCOPED(dl_means_free) struct dl_means m = {0};
  DL_TEXT(name);
  FILE *f = NULL;
  enum dl_status status = read_means(path, n, &m, csv, means, d);
  if (status == DL_OK && *means)
    status = dl_means_as_runs(&m, logs, &f, d);
  dl_text_add(&name, path[0]);
  if (n > 1)
    dl_text_printf(&name, " and %zu more", n - 1);
  if (f)
    status = dl_csv_open_stream(csv, f, name.s, 0, 0, d);
  return status;
}

/* A feature is equal in all runs of a row. */
static enum dl_status check_feature(const char *text, const struct dl_csv *csv,
                                    struct dl_diag *d) {
  DL_SCOPED(dl_formula_free_local) struct dl_formula *g = NULL;
  DL_TRY(dl_formula_parse(&g, text, d));
  for (size_t i = 0; i < g->n_vars; i++)
    if (dl_run_is_measured(g->var[i].name))
      return dl_fail_at(d, DL_EUSAGE, dl_csv_path(csv), 0,
                        "'%s' differs between the runs of a configuration: "
                        "fit the table of runs",
                        g->var[i].name);
  return DL_OK;
}

enum dl_status dl_means_formulas(struct dl_training *t,
                                 const struct dl_strlist *targets,
                                 const struct dl_csv *csv, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < t->formula.n && status == DL_OK; i++)
    if (dl_strlist_find(targets, t->formula.s[i]) < 0)
      status = check_feature(t->formula.s[i], csv, d);
  for (size_t i = 0; i < targets->n && status == DL_OK; i++) {
    DL_TEXT(within);
    dl_text_printf(&within, "%s_within", targets->s[i]);
    if (dl_csv_find(csv, within.s) < 0)
      status =
          dl_fail_at(d, DL_EUSAGE, dl_csv_path(csv), 0,
                     "no means of '%s': fit the table of runs", targets->s[i]);
    else
      dl_strlist_add(&t->formula, within.s);
  }
  dl_strlist_add(&t->formula, "n");
  t->means = true;
  return status;
}
