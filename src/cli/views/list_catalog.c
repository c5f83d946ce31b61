/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/list_catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/scaling.h"
#include "catalog/attributes.h"
#include "run/descriptor_filter.h"

/* What text shows of a kind. */
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
  struct dl_attribute attribute[DL_MOST_ATTRIBUTES];
  struct dl_column column[DL_MOST_ATTRIBUTES];
  size_t n;
};

/* Counts of architectures range over many orders of magnitude: three digits
 * in text. */
static bool is_count(const struct dl_attribute *a) {
  size_t n = strlen(a->name);
  return n > 2 && (strcmp(a->name + n - 2, "_g") == 0 ||
                   strcmp(a->name + n - 2, "_m") == 0);
}

static struct dl_column column_of(const struct dl_attribute *a, bool show) {
  return (struct dl_column){a->name, show ? a->name : NULL, a->unit,
                            is_count(a) ? DL_PLAIN : DL_CODE, false};
}

static enum dl_status columns_given(struct columns *c, enum dl_kind kind,
                                    const char *names, struct dl_diag *d) {
  struct dl_strlist list = {0};
  enum dl_status status =
      dl_strlist_split(&list, names, ',') ? DL_OK : dl_fail_memory(d);
  for (size_t i = 0; i < list.n && status == DL_OK; i++) {
    struct dl_attribute a;
    status = dl_attribute_get(kind, "--columns", list.s[i], &a, d);
    for (size_t j = 0; j < c->n && status == DL_OK; j++)
      if (strcmp(c->attribute[j].name, a.name) == 0)
        status =
            dl_fail(d, DL_EUSAGE, "--columns: '%s' is there twice", a.name);
    if (status != DL_OK)
      break;
    c->attribute[c->n] = a;
    c->column[c->n++] = column_of(&a, true);
  }
  dl_strlist_free(&list);
  return status;
}

/* Every attribute; headings for those that text shows. */
static enum dl_status columns_usual(struct columns *c, enum dl_kind kind,
                                    const struct dl_list_options *o,
                                    struct dl_diag *d) {
  struct dl_strlist list = {0};
  bool ok = dl_strlist_split(&list, shown[kind], ',') &&
            (!o->sort || dl_strlist_split(&list, o->sort, ','));
  enum dl_status status = ok ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK && o->where)
    status = dl_formula_names(o->where, &list, d);
  c->n = dl_attributes(kind, c->attribute);
  for (size_t i = 0; i < c->n; i++) {
    bool show = false;
    for (size_t j = 0; j < list.n && !show; j++)
      show =
          strcmp(list.s[j] + (list.s[j][0] == '-'), c->attribute[i].name) == 0;
    c->column[i] = column_of(&c->attribute[i], show);
  }
  dl_strlist_free(&list);
  return status;
}

/* Copies of all descriptors; an architecture at its reference input. */
static enum dl_status take_all(struct dl_cli *cli, enum dl_kind kind,
                               struct dl_descriptor **e, size_t *n) {
  const struct dl_descriptor **all;
  *e = NULL;
  enum dl_status status =
      dl_catalog_all(cli->catalog, kind, &all, n, &cli->diag);
  if (status != DL_OK)
    return status;
  *e = dl_calloc(*n, sizeof **e);
  for (size_t i = 0; *e && i < *n; i++) {
    bool scaled;
    (*e)[i] = kind == DL_ARCHITECTURE
                  ? dl_architecture_at(all[i], &dl_use_reference, &scaled)
                  : *all[i];
  }
  free(all);
  return *e ? DL_OK : dl_fail_memory(&cli->diag);
}

static enum dl_status print(struct dl_cli *cli, enum dl_kind kind,
                            const struct columns *c,
                            const struct dl_descriptor *e, size_t n) {
  struct dl_report *r = dl_report_new();
  if (!r)
    return dl_fail_memory(&cli->diag);
  struct dl_table *t = dl_report_table(r, dl_kind_info(kind)->words, NULL,
                                       c->column, c->n, true);
  for (size_t i = 0; i < n; i++) {
    struct dl_value v[DL_MOST_ATTRIBUTES];
    for (size_t j = 0; j < c->n; j++) {
      const struct dl_attribute *a = &c->attribute[j];
      v[j] = a->is_text ? dl_string(dl_attribute_text(&e[i], a))
                        : dl_number(dl_attribute_number(&e[i], a));
    }
    dl_table_row(t, v, NULL);
  }
  return dl_cli_print(cli, r);
}

enum dl_status dl_list_catalog(struct dl_cli *cli, enum dl_kind kind,
                               const struct dl_list_options *o) {
  struct dl_diag *d = &cli->diag;
  struct columns c = {.n = 0};
  struct dl_descriptor *e = NULL;
  size_t n = 0;
  enum dl_status status = o->columns ? columns_given(&c, kind, o->columns, d)
                                     : columns_usual(&c, kind, o, d);
  if (status == DL_OK)
    status = take_all(cli, kind, &e, &n);
  if (status == DL_OK && o->where)
    status = dl_filter(e, &n, kind, o->where, d);
  if (status == DL_OK && o->sort)
    status = dl_sort(e, n, kind, o->sort, d);
  if (status == DL_OK)
    status = print(cli, kind, &c, e, n < o->limit ? n : o->limit);
  free(e);
  return status;
}
