/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/sweep_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/plan_private.h"

struct dl_cursor {
  const struct dl_row_plan *f;
  struct descriptors lookup;
  struct dl_row *row; /* owned */
  size_t at[DL_MOST_AXES];
  bool begun;
};

void dl_cursor_free(struct dl_cursor *c) {
  if (!c)
    return;
  dl_descriptors_free(&c->lookup);
  free(c->row);
  free(c);
}

DL_FREES(dl_cursor_free, struct dl_cursor)

/* Refuses a name that the catalogue does not have, and keeps its entry, so that
 * threads find it without the catalogue. */
static enum dl_status check_name(struct dl_cursor *c, enum step_kind k,
                                 const char *name, struct dl_diag *d) {
  const struct dl_descriptor *e;
  if (!name && k == STEP_DATASET)
    name = c->f->usual_dataset;
  if (!name)
    return DL_OK;
  DL_TRY(dl_catalog_get(c->f->catalog, dl_look_ups[k].kind,
                        dl_plan_meant(c->f, name), &e, d));
  return dl_descriptors_named(&c->lookup, c->f, k, name, &e, d);
}

/* Checks every name that rows may have: the names of the first combination, and
 * the values of the axis. */
static enum dl_status check_names(struct dl_cursor *c, enum step_kind k,
                                  struct dl_diag *d) {
  const struct look_up *l = &dl_look_ups[k];
  const struct dl_axis *a = dl_axes_find(c->f->axes, dl_kinds[l->kind].word);
  DL_TRY(check_name(c, k, dl_row_text(c->row, &c->f->look_up_by[l->name]), d));
  for (size_t i = 0; a && i < a->n; i++)
    DL_TRY(check_name(c, k, a->cell[i].s, d));
  return DL_OK;
}

enum dl_status dl_cursor_new(struct dl_cursor **out,
                             const struct dl_row_plan *f, struct dl_diag *d) {
  *out = NULL;
  DL_SCOPED(dl_cursor_free_local)
  struct dl_cursor *c = dl_calloc(1, sizeof *c);
  c->f = f;
  c->row = dl_plan_rows(f, 1);
  const struct row_source from = {.at = c->at};
  DL_TRY(dl_plan_run(f, &from, EVERY_STEP, c->row, d));
  for (unsigned k = 0; k < N_LOOK_UPS; k++)
    if (f->looks_up[k])
      DL_TRY(check_names(c, (enum step_kind)k, d));
  *out = c;
  c = NULL;
  return DL_OK;
}

enum dl_status dl_cursor_to(struct dl_cursor *c, size_t combination,
                            struct dl_diag *d) {
  const struct row_source from = {.at = c->at, .lookup = &c->lookup};
  /* The fault of a row may lie in a step that no axis changes. */
  bool whole = !c->begun || dl_row_is_invalid(c->row);
  unsigned changed = whole ? EVERY_STEP : 0;
  size_t at[DL_MOST_AXES] = {0};
  dl_axes_at(c->f->axes, combination, at);
  for (size_t i = 0; i < c->f->axes->n; i++)
    if (at[i] != c->at[i])
      changed |= 1u << i;
  memcpy(c->at, at, sizeof at);
  c->begun = true;
  return dl_plan_run(c->f, &from, changed, c->row, d);
}

const struct dl_row *dl_cursor_row(const struct dl_cursor *c) {
  return c->row;
}
