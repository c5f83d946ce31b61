/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptors of rows: looked up once per name, and architectures once per
 * name and input size. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/plan_private.h"

void dl_descriptors_free(struct descriptors *l) {
  for (size_t k = 0; k < N_LOOK_UPS; k++) {
    dl_intern_free(&l->names[k]);
    free((void *)l->named[k]);
  }
  dl_intern_free(&l->uses);
  free(l->used);
  dl_text_free(&l->key);
  for (size_t i = 0; i < l->n_copies; i++)
    free(l->copy[i]);
  free(l->copy);
  *l = (struct descriptors){0};
}

const char *dl_plan_meant(const struct dl_row_plan *f, const char *name) {
  long i = dl_entry_find(&f->aliases, name);
  return i >= 0 ? f->aliases.e[i].text : name;
}

/* Sets the fields that the user overrides. */
static enum dl_status set_fields(struct dl_descriptor *e,
                                 const struct entries *fields,
                                 struct dl_diag *d) {
  for (size_t i = 0; i < fields->n; i++)
    DL_TRY(dl_descriptor_set(e, fields->e[i].name, fields->e[i].text, d));
  return DL_OK;
}

/* Room for a descriptor that is not as in the catalogue. */
static void *new_copy(struct descriptors *l, size_t size) {
  DL_GROW(l->copy, l->cap_copies, l->n_copies + 1);
  return l->copy[l->n_copies++] = dl_calloc(1, size);
}

enum dl_status dl_descriptors_named(struct descriptors *l,
                                    const struct dl_row_plan *f,
                                    enum step_kind k, const char *name,
                                    const struct dl_descriptor **e,
                                    struct dl_diag *d) {
  size_t before = l->names[k].n;
  long i = dl_intern(&l->names[k], name);
  DL_GROW(l->named[k], l->cap_named[k], l->names[k].n);
  *e = NULL;
  if ((size_t)i < before) {
    *e = l->named[k][i];
    return DL_OK;
  }
  enum dl_status status = dl_catalog_look(f->catalog, dl_look_ups[k].kind,
                                          dl_plan_meant(f, name), e, d);
  if (*e && k == STEP_GPU && f->fields[0].n > 0) {
    struct dl_accelerator *copy = new_copy(l, sizeof *copy);
    *copy = *DL_AS(accelerator, *e);
    *e = &copy->head;
    status = set_fields(&copy->head, &f->fields[0], d);
  }
  l->named[k][i] = *e;
  return status;
}

/* The bits of x as text: this is done for every row, and need not be read. */
static void add_bits(struct dl_text *to, double x) {
  uint64_t bits;
  char buf[2 * sizeof x];
  memcpy(&bits, &x, sizeof bits);
  for (size_t i = 0; i < sizeof buf; i++, bits >>= 4)
    buf[i] = "0123456789abcdef"[bits & 15];
  dl_text_add_n(to, buf, sizeof buf);
}

/* An architecture at the size of the row, with the user's fields. */
static enum dl_status scale(struct descriptors *l, const struct dl_row_plan *f,
                            const struct dl_architecture *e,
                            const struct dl_use *use,
                            struct dl_row_descriptors *found,
                            struct dl_diag *d) {
  struct dl_architecture *copy =
      l->keep || !l->last ? new_copy(l, sizeof *copy) : l->last;
  l->last = copy;
  if (e->recount) /* counts in a graph that all threads share */
#pragma omp critical(recount)
    *copy = dl_architecture_at(e, use, &found->scaled);
  else
    *copy = dl_architecture_at(e, use, &found->scaled);
  found->arch = copy;
  return set_fields(&copy->head, &f->fields[1], d);
}

enum dl_status dl_descriptors_arch(struct descriptors *l,
                                   const struct dl_row_plan *f,
                                   const char *name, const struct dl_use *use,
                                   struct dl_row_descriptors *found,
                                   struct dl_diag *d) {
  const struct dl_descriptor *e;
  enum dl_status status = dl_descriptors_named(l, f, STEP_ARCH, name, &e, d);
  if (status != DL_OK || !e)
    return status;
  if (!l->keep)
    return scale(l, f, DL_AS(architecture, e), use, found, d);
  dl_text_clear(&l->key);
  add_bits(&l->key, use->image_px);
  add_bits(&l->key, use->seq_len);
  add_bits(&l->key, use->classes);
  dl_text_add(&l->key, name);
  size_t before = l->uses.n;
  long i = dl_intern(&l->uses, l->key.s);
  DL_GROW(l->used, l->cap_used, l->uses.n);
  if ((size_t)i == before) {
    l->used[i] = (struct dl_row_descriptors){0};
    status = scale(l, f, DL_AS(architecture, e), use, &l->used[i], d);
  }
  found->arch = l->used[i].arch;
  found->scaled = l->used[i].scaled;
  return status;
}
