/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/sweep_cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/scaling.h"
#include "run/frame_private.h"

/* Descriptors by the names that axes and settings give. */
struct known {
  struct dl_intern names;
  const struct dl_descriptor **e; /* one a name, owned list */
};

struct dl_walk {
  const struct dl_frame *f;
  struct dl_cell *cells;
  unsigned *depends; /* one a slot: bit i, on axis i */
  unsigned arch_depends, gpu_depends;
  struct known gpus, archs;
  struct dl_accelerator *copies; /* of GPUs with the user's fields, owned */
  struct dl_architecture arch;   /* as the row uses it */
  size_t at[DL_MOST_AXES];
  struct row_source from;
  bool begun;
};

static void free_known(struct known *k) {
  dl_intern_free(&k->names);
  free((void *)k->e);
}

void dl_walk_free(struct dl_walk *w) {
  if (!w)
    return;
  free_known(&w->gpus);
  free_known(&w->archs);
  free(w->copies);
  free(w->cells);
  free(w->depends);
  free(w);
}

/* Slots that a slot builds on come before it. */
static unsigned dependence(const struct dl_walk *w, const struct slot *s) {
  unsigned on = 0;
  for (size_t i = 0; i < s->n_places; i++) {
    const struct place *p = &s->place[i];
    if (p->kind == PLACE_AXIS)
      on |= 1u << p->index;
    else if (p->kind == PLACE_GPU)
      on |= w->gpu_depends;
    else if (p->kind == PLACE_ARCH)
      on |= w->arch_depends;
    for (size_t v = 0; p->formula && v < dl_formula_n_vars(p->formula); v++)
      on |= w->depends[p->vars[v]];
  }
  return on;
}

static void find_dependences(struct dl_walk *w) {
  const struct dl_frame *f = w->f;
  /* First what descriptors are looked up by. */
  for (int early = 1; early >= 0; early--) {
    for (size_t i = 0; i < f->n_slots; i++)
      if (!early || f->slots[i].early)
        w->depends[i] = dependence(w, &f->slots[i]);
    if (f->want_gpu)
      w->gpu_depends = w->depends[f->gpu_slot];
    if (f->want_arch)
      w->arch_depends = w->depends[f->arch_slot] | w->depends[f->px_slot] |
                        w->depends[f->seq_slot] | w->depends[f->classes_slot];
  }
}

/* Looks up one more name. */
static enum dl_status know(struct dl_walk *w, struct known *k,
                           enum dl_kind kind, const char *name, size_t most,
                           struct dl_diag *d) {
  if (!k->e)
    k->e = dl_calloc(most, sizeof *k->e);
  const char *meant = name ? dl_frame_meant(w->f, name) : NULL;
  size_t before = k->names.n;
  if (!meant)
    return DL_OK;
  if (!k->e || dl_intern(&k->names, meant) < 0)
    return dl_fail_memory(d);
  if (k->names.n == before)
    return DL_OK;
  return dl_catalog_get(w->f->catalog, kind, meant, &k->e[before], d);
}

/* Every name that a slot may have: what it is at the first combination, and
 * the values of its axis. */
static enum dl_status know_all(struct dl_walk *w, struct known *k,
                               enum dl_kind kind, const char *column,
                               size_t slot, struct dl_diag *d) {
  const struct dl_axis *a = dl_axes_find(w->f->axes, column);
  size_t n = a ? a->n : 0;
  enum dl_status status = know(w, k, kind, w->cells[slot].s, n + 1, d);
  for (size_t i = 0; i < n && status == DL_OK; i++)
    status = know(w, k, kind, a->cell[i].s, n + 1, d);
  return status;
}

/* GPUs with what --set says of their fields. */
static enum dl_status set_gpu_fields(struct dl_walk *w, struct dl_diag *d) {
  const struct entries *fields = &w->f->fields[0];
  enum dl_status status = DL_OK;
  if (fields->n == 0)
    return DL_OK;
  w->copies = dl_calloc(w->gpus.names.n, sizeof *w->copies);
  if (!w->copies)
    return dl_fail_memory(d);
  for (size_t i = 0; i < w->gpus.names.n; i++) {
    w->copies[i] = *DL_AS(accelerator, w->gpus.e[i]);
    w->gpus.e[i] = &w->copies[i].head;
    for (size_t j = 0; j < fields->n && status == DL_OK; j++)
      status = dl_descriptor_set(&w->copies[i].head, fields->e[j].name,
                                 fields->e[j].text, d);
  }
  return status;
}

static void evaluate(struct dl_walk *w, unsigned changed, bool early) {
  struct dl_fault ignored = {.kind = DL_FAULT_NONE};
  const struct dl_frame *f = w->f;
  for (size_t i = 0; i < f->n_slots; i++)
    if ((w->depends[i] & changed || !w->begun) && (!early || f->slots[i].early))
      w->cells[i] = dl_slot_value(f, &w->from, i, w->cells, &ignored);
}

static const struct dl_descriptor *look(const struct dl_walk *w,
                                        const struct known *k, size_t slot) {
  const char *name = w->cells[slot].s;
  long i = name ? dl_intern_find(&k->names, dl_frame_meant(w->f, name)) : -1;
  return i < 0 ? NULL : k->e[i];
}

static enum dl_status scale_arch(struct dl_walk *w,
                                 const struct dl_architecture *e,
                                 struct dl_diag *d) {
  const struct dl_frame *f = w->f;
  const struct dl_use use = {.image_px = w->cells[f->px_slot].x,
                             .seq_len = w->cells[f->seq_slot].x,
                             .classes = w->cells[f->classes_slot].x};
  enum dl_status status = DL_OK;
  bool *scaled = &w->from.found.scaled;
  if (e->recount) /* counts in a graph that all walks share */
#pragma omp critical(recount)
    w->arch = dl_architecture_at(e, &use, scaled);
  else
    w->arch = dl_architecture_at(e, &use, scaled);
  for (size_t i = 0; i < f->fields[1].n && status == DL_OK; i++)
    status = dl_descriptor_set(&w->arch.head, f->fields[1].e[i].name,
                               f->fields[1].e[i].text, d);
  return status;
}

static enum dl_status find_descriptors(struct dl_walk *w, unsigned changed,
                                       struct dl_diag *d) {
  const struct dl_frame *f = w->f;
  if (f->want_gpu && (changed & w->gpu_depends || !w->begun))
    w->from.found.gpu = DL_AS(accelerator, look(w, &w->gpus, f->gpu_slot));
  if (!f->want_arch || !(changed & w->arch_depends || !w->begun))
    return DL_OK;
  const struct dl_descriptor *e = look(w, &w->archs, f->arch_slot);
  w->from.found.arch = e ? &w->arch : NULL;
  w->from.found.scaled = false;
  return e ? scale_arch(w, DL_AS(architecture, e), d) : DL_OK;
}

enum dl_status dl_walk_new(struct dl_walk **out, struct dl_frame *f,
                           struct dl_diag *d) {
  *out = NULL;
  struct dl_walk *w = dl_calloc(1, sizeof *w);
  if (!w)
    return dl_fail_memory(d);
  enum dl_status status = DL_OK;
  w->f = f;
  w->from.at = w->at;
  w->cells = dl_calloc(f->n_slots, sizeof *w->cells);
  w->depends = dl_calloc(f->n_slots, sizeof *w->depends);
  if (!w->cells || !w->depends) {
    dl_walk_free(w);
    return dl_fail_memory(d);
  }
  find_dependences(w);
  evaluate(w, 0, true);
  if (f->want_gpu)
    status = know_all(w, &w->gpus, DL_ACCELERATOR, "gpu", f->gpu_slot, d);
  if (status == DL_OK && f->want_arch)
    status = know_all(w, &w->archs, DL_ARCHITECTURE, "arch", f->arch_slot, d);
  if (status == DL_OK)
    status = set_gpu_fields(w, d);
  if (status != DL_OK) {
    dl_walk_free(w);
    return status;
  }
  *out = w;
  return DL_OK;
}

enum dl_status dl_walk_to(struct dl_walk *w, size_t combination,
                          struct dl_diag *d) {
  size_t at[DL_MOST_AXES] = {0};
  unsigned changed = 0;
  dl_axes_at(w->f->axes, combination, at);
  for (size_t i = 0; i < w->f->axes->n; i++)
    if (at[i] != w->at[i])
      changed |= 1u << i;
  memcpy(w->at, at, sizeof at);
  evaluate(w, changed, true);
  enum dl_status status = find_descriptors(w, changed, d);
  evaluate(w, changed, false);
  w->begun = true;
  return status;
}

const struct dl_cell *dl_walk_cells(const struct dl_walk *w) {
  return w->cells;
}

const struct dl_row_descriptors *dl_walk_found(const struct dl_walk *w) {
  return &w->from.found;
}

const size_t *dl_walk_at(const struct dl_walk *w) {
  return w->at;
}
