/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest list of descriptors. */

#include "cli/views/list_catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/scaling.h"
#include "run/formula/descriptor_filter.h"

/* The columns that text shows of each kind. */
static const char *const shown[DL_N_KINDS] = {
    [DL_ACCELERATOR] = "id,name,tdp_w,memory_gb,year",
    [DL_ARCHITECTURE] = "id,params_m,macs_g,acts_m,image_px,seq_len",
    [DL_DATASET] = "id,name,train_samples,val_samples,classes",
    [DL_GRID] = "id,name,carbon_g_kwh,year",
    [DL_SITE] = "id,place,grid,pue,carbon_g_kwh,year",
    [DL_NODE] = "id,sockets,cpu,gpus,gpu,memory_gb",
};

/* The columns of a list. */
struct columns {
  const struct dl_field *field[DL_MOST_FIELDS];
  struct dl_column column[DL_MOST_FIELDS];
  size_t n;
};

/* Counts of architectures range over many orders of magnitude: three digits
 * in text. */
static bool is_count(const struct dl_field *f) {
  size_t n = strlen(f->name);
  return n > 2 && (strcmp(f->name + n - 2, "_g") == 0 ||
                   strcmp(f->name + n - 2, "_m") == 0);
}

static struct dl_column column_of(const struct dl_field *f, bool show) {
  return (struct dl_column){f->name, show ? f->name : NULL, f->unit,
                            is_count(f) ? DL_PLAIN : DL_CODE, false};
}

static enum dl_status columns_given(struct columns *c, enum dl_kind kind,
                                    const char *names, struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist list = {0};
  dl_strlist_split(&list, names, ',');
  for (size_t i = 0; i < list.n; i++) {
    const struct dl_field *f;
    DL_TRY(dl_field_get(kind, "--columns", list.s[i], &f, d));
    for (size_t j = 0; j < c->n; j++)
      if (c->field[j] == f)
        return dl_fail(d, DL_EUSAGE, "--columns: '%s' is there twice", f->name);
    c->field[c->n] = f;
    c->column[c->n++] = column_of(f, true);
  }
  return DL_OK;
}

/* Every attribute; headings for those that text shows. */
static enum dl_status columns_usual(struct columns *c, enum dl_kind kind,
                                    const struct dl_list_options *o,
                                    struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist list = {0};
  dl_strlist_split(&list, shown[kind], ',');
  if (o->sort)
    dl_strlist_split(&list, o->sort, ',');
  if (o->where)
    DL_TRY(dl_formula_names(o->where, &list, d));
  const struct dl_kind_info *k = &dl_kinds[kind];
  for (c->n = 0; c->n < k->n_fields; c->n++) {
    const struct dl_field *f = &k->fields[c->n];
    bool show = false;
    for (size_t j = 0; j < list.n && !show; j++)
      show = strcmp(list.s[j] + (list.s[j][0] == '-'), f->name) == 0;
    c->field[c->n] = f;
    c->column[c->n] = column_of(f, show);
  }
  return DL_OK;
}

/* Replaces the architectures in the list by copies at their reference input,
 * which it returns. */
static struct dl_architecture *at_reference(const struct dl_descriptor **list,
                                            size_t n) {
  struct dl_architecture *at = dl_calloc(n, sizeof *at);
  for (size_t i = 0; i < n; i++) {
    bool scaled;
    at[i] = dl_architecture_at(DL_AS(architecture, list[i]), &dl_use_reference,
                               &scaled);
    list[i] = &at[i].head;
  }
  return at;
}

static enum dl_status print(struct dl_cli *cli, enum dl_kind kind,
                            const struct columns *c,
                            const struct dl_descriptor *const *e, size_t n) {
  struct dl_report *r = dl_report_new();
  struct dl_table *t =
      dl_report_table(r, dl_kinds[kind].words, NULL, c->column, c->n, true);
  for (size_t i = 0; i < n; i++) {
    struct dl_value v[DL_MOST_FIELDS];
    for (size_t j = 0; j < c->n; j++)
      v[j] = c->field[j]->is_text
                 ? dl_string(dl_field_text(e[i], c->field[j]))
                 : dl_number(dl_field_number(e[i], c->field[j]));
    dl_table_row(t, v, NULL);
  }
  return dl_cli_print(cli, r);
}

enum dl_status dl_list_catalog(struct dl_cli *cli, enum dl_kind kind,
                               const struct dl_list_options *o) {
  struct dl_diag *d = &cli->diag;
  struct columns c = {.n = 0};
  DL_FREED const struct dl_descriptor **e = NULL;
  DL_FREED struct dl_architecture *at = NULL;
  size_t n = 0;
  DL_TRY(o->columns ? columns_given(&c, kind, o->columns, d)
                    : columns_usual(&c, kind, o, d));
  DL_TRY(dl_catalog_all(dl_cli_catalog(cli), kind, &e, &n, d));
  if (kind == DL_ARCHITECTURE)
    at = at_reference(e, n);
  if (o->where)
    DL_TRY(dl_filter(e, &n, kind, o->where, d));
  dl_filter_texts(e, &n, cli->argument + 1, cli->n_arguments - 1);
  if (n == 0 && cli->n_arguments > 1)
    dl_warn(d, "no %s match", dl_kinds[kind].words);
  if (o->sort)
    DL_TRY(dl_sort(e, n, kind, o->sort, d));
  return print(cli, kind, &c, e, n < o->limit ? n : o->limit);
}
