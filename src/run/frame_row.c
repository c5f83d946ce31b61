/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a frame: descriptors of a block, values of a row. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/scaling.h"
#include "run/frame.h"
#include "run/frame_private.h"

static struct dl_cell absent(void) {
  return (struct dl_cell){NAN, NULL};
}

static struct dl_cell column_cell(const struct slot *s, const char *text,
                                  struct dl_fault *fault, size_t slot) {
  struct dl_cell c = {NAN, *text ? text : NULL};
  if (!c.s || (s->column && s->column->is_text && !s->number))
    return c;
  enum dl_number kind = dl_parse_number(text, strlen(text), &c.x);
  int wrong = DL_FAULT_NONE;
  if (kind == DL_NUMBER_INVALID)
    wrong = DL_FAULT_INVALID;
  else if (kind == DL_NUMBER_NOT_FINITE)
    wrong = DL_FAULT_NOT_FINITE;
  else if (s->column && (c.x < s->column->low || c.x > s->column->high))
    wrong = DL_FAULT_RANGE;
  if (wrong != DL_FAULT_NONE && s->number && fault->kind == DL_FAULT_NONE)
    *fault = (struct dl_fault){.kind = wrong, .slot = slot, .cell = text};
  return c;
}

/* A field of a descriptor, which may be NULL. */
static struct dl_cell field_cell(const void *e, const struct dl_field *f) {
  return e ? (struct dl_cell){dl_field_number(e, f), dl_field_text(e, f)}
           : absent();
}

/* A plain name hands its text on; anything else is a number. */
static struct dl_cell formula_cell(const struct place *p,
                                   const struct dl_cell *cells) {
  if (dl_formula_is_name(p->formula))
    return cells[p->vars[0]];
  return (struct dl_cell){dl_formula_eval(p->formula, cells, p->vars), NULL};
}

static struct dl_cell from_place(const struct dl_frame *f,
                                 const struct row_source *from, size_t slot,
                                 const struct place *p,
                                 const struct dl_cell *cells,
                                 struct dl_fault *fault) {
  const struct slot *s = &f->slots[slot];
  const struct dl_csv_block *block = from->block;
  switch (p->kind) {
  case PLACE_OVERRIDE:
    return f->overrides.e[p->index].cell;
  case PLACE_SETTING:
    return f->settings.e[p->index].cell;
  case PLACE_FORMULA:
    return formula_cell(p, cells);
  case PLACE_COLUMN:
    return block
               ? column_cell(s,
                             block->cell[from->row * block->n_cols + p->index],
                             fault, slot)
               : absent();
  case PLACE_AXIS:
    return from->at ? f->axes->a[p->index].cell[from->at[p->index]] : absent();
  case PLACE_GPU:
    return field_cell(from->found.gpu, p->field);
  default:
    return field_cell(from->found.arch, p->field);
  }
}

struct dl_cell dl_slot_value(const struct dl_frame *f,
                             const struct row_source *from, size_t slot,
                             const struct dl_cell *cells,
                             struct dl_fault *fault) {
  const struct slot *s = &f->slots[slot];
  for (size_t i = 0; i < s->n_places; i++) {
    struct dl_cell c = from_place(f, from, slot, &s->place[i], cells, fault);
    if (c.s || !isnan(c.x))
      return c;
  }
  return absent();
}

void dl_frame_row(const struct dl_frame *f, const struct dl_csv_block *block,
                  size_t row, struct dl_cell *cells, struct dl_fault *fault) {
  struct row_source from = {.block = block, .row = row};
  if (f->row)
    from.found = f->row[row];
  *fault = (struct dl_fault){.kind = DL_FAULT_NONE};
  for (size_t i = 0; i < f->n_slots; i++) {
    cells[i] = dl_slot_value(f, &from, i, cells, fault);
    if (f->slots[i].required && isnan(cells[i].x) && !cells[i].s &&
        fault->kind == DL_FAULT_NONE)
      *fault = (struct dl_fault){.kind = DL_FAULT_ABSENT, .slot = i};
  }
}

/* A copy of a descriptor with the user's overrides, kept by the frame. */
static void *keep(struct dl_frame *f, const struct dl_descriptor *e,
                  const struct entries *fields, struct dl_diag *d) {
  void *list = f->copies;
  size_t size = dl_kind_info(e->kind)->size;
  struct dl_descriptor *copy = dl_calloc(1, size);
  if (!copy ||
      !dl_grow(&list, &f->cap_copies, f->n_copies + 1, sizeof *f->copies)) {
    free(copy);
    dl_fail_memory(d);
    return NULL;
  }
  f->copies = list;
  f->copies[f->n_copies++] = copy;
  memcpy(copy, e, size);
  for (size_t i = 0; i < fields->n; i++)
    if (dl_descriptor_set(copy, fields->e[i].name, fields->e[i].text, d) !=
        DL_OK)
      return NULL;
  return copy;
}

/* Room for one more row_descriptors in *list, indexed as the intern table. */
static bool room(struct dl_row_descriptors **list, size_t *cap, size_t n) {
  void *p = *list;
  if (!dl_grow(&p, cap, n, sizeof **list))
    return false;
  *list = p;
  return true;
}

static enum dl_status find_gpu(struct dl_frame *f, const char *name,
                               struct dl_row_descriptors *row,
                               struct dl_diag *d) {
  size_t before = f->gpu_names.n;
  long i = dl_intern(&f->gpu_names, name);
  if (i < 0 || !room(&f->gpus, &f->cap_gpus, f->gpu_names.n))
    return dl_fail_memory(d);
  if ((size_t)i == before) {
    const struct dl_descriptor *e;
    f->gpus[i] = (struct dl_row_descriptors){0};
    enum dl_status status =
        dl_catalog_look(f->catalog, DL_ACCELERATOR, name, &e, d);
    if (status == DL_OK && e) {
      f->gpus[i].gpu = keep(f, e, &f->fields[0], d);
      status = f->gpus[i].gpu ? DL_OK : d->status;
    }
    if (status != DL_OK)
      return status;
  }
  row->gpu = f->gpus[i].gpu;
  return DL_OK;
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

/* Architectures are kept by name and use. */
static enum dl_status find_arch(struct dl_frame *f, const char *name,
                                const struct dl_use *use,
                                struct dl_row_descriptors *row,
                                struct dl_diag *d) {
  dl_text_clear(&f->key);
  add_bits(&f->key, use->image_px);
  add_bits(&f->key, use->seq_len);
  add_bits(&f->key, use->classes);
  dl_text_add(&f->key, name);
  size_t before = f->arch_names.n;
  long i = f->key.failed ? -1 : dl_intern(&f->arch_names, f->key.s);
  if (i < 0 || !room(&f->archs, &f->cap_archs, f->arch_names.n))
    return dl_fail_memory(d);
  if ((size_t)i == before) {
    const struct dl_descriptor *e;
    struct dl_row_descriptors found = {0};
    f->archs[i] = found;
    enum dl_status status =
        dl_catalog_look(f->catalog, DL_ARCHITECTURE, name, &e, d);
    if (status == DL_OK && e) {
      struct dl_architecture at =
          dl_architecture_at(DL_AS(architecture, e), use, &found.scaled);
      found.arch = keep(f, &at.head, &f->fields[1], d);
      status = found.arch ? DL_OK : d->status;
    }
    if (status != DL_OK)
      return status;
    f->archs[i] = found;
  }
  row->arch = f->archs[i].arch;
  row->scaled = f->archs[i].scaled;
  return DL_OK;
}

const char *dl_frame_meant(const struct dl_frame *f, const char *name) {
  long i = dl_entry_find(&f->aliases, name);
  return i >= 0 ? f->aliases.e[i].text : name;
}

static enum dl_status find_descriptors(struct dl_frame *f,
                                       const struct dl_csv_block *block,
                                       size_t i, struct dl_cell *cells,
                                       struct dl_diag *d) {
  struct dl_fault ignored = {.kind = DL_FAULT_NONE};
  struct dl_row_descriptors *row = &f->row[i];
  const struct row_source from = {.block = block, .row = i};
  *row = (struct dl_row_descriptors){0};
  for (size_t s = 0; s < f->n_slots; s++)
    if (f->slots[s].early)
      cells[s] = dl_slot_value(f, &from, s, cells, &ignored);
  enum dl_status status = DL_OK;
  if (f->want_gpu && cells[f->gpu_slot].s)
    status = find_gpu(f, dl_frame_meant(f, cells[f->gpu_slot].s), row, d);
  if (status == DL_OK && f->want_arch && cells[f->arch_slot].s) {
    struct dl_use use = {.image_px = cells[f->px_slot].x,
                         .seq_len = cells[f->seq_slot].x,
                         .classes = cells[f->classes_slot].x};
    status =
        find_arch(f, dl_frame_meant(f, cells[f->arch_slot].s), &use, row, d);
  }
  return status;
}

enum dl_status dl_frame_block(struct dl_frame *f,
                              const struct dl_csv_block *block,
                              struct dl_diag *d) {
  size_t n = block ? block->n_rows : 1;
  if (!f->want_gpu && !f->want_arch)
    return DL_OK;
  struct dl_cell *cells = dl_calloc(f->n_slots, sizeof *cells);
  if (!cells || !room(&f->row, &f->cap_rows, n)) {
    free(cells);
    return dl_fail_memory(d);
  }
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < n && status == DL_OK; i++)
    status = find_descriptors(f, block, i, cells, d);
  free(cells);
  return status;
}

const struct dl_row_descriptors *dl_frame_descriptors(const struct dl_frame *f,
                                                      size_t i) {
  static const struct dl_row_descriptors none = {0};
  return f->row ? &f->row[i] : &none;
}

/* Whether the last place of a slot leads to a descriptor, and to which. */
static bool from_descriptor(const struct dl_frame *f, const struct slot *s,
                            bool *gpu) {
  if (s->n_places == 0)
    return false;
  const struct place *p = &s->place[s->n_places - 1];
  *gpu = p->kind == PLACE_GPU;
  if (p->kind != PLACE_FORMULA)
    return p->field && !p->field->is_text;
  for (size_t v = 0; v < dl_formula_n_vars(p->formula); v++)
    if (from_descriptor(f, &f->slots[p->vars[v]], gpu))
      return true;
  return false;
}

/* Why a required value is absent, where a descriptor was to give it. */
static bool explain_descriptor(struct dl_frame *f, const struct slot *s,
                               const struct dl_cell *cells,
                               struct dl_text *why) {
  bool gpu;
  if (!from_descriptor(f, s, &gpu))
    return false;
  const char *name = cells[gpu ? f->gpu_slot : f->arch_slot].s;
  if (!name)
    return false;
  struct dl_diag inner;
  const struct dl_descriptor *e;
  dl_diag_init(&inner);
  if (dl_catalog_get(f->catalog, gpu ? DL_ACCELERATOR : DL_ARCHITECTURE,
                     dl_frame_meant(f, name), &e, &inner) != DL_OK)
    dl_text_add(why, inner.error ? inner.error : "");
  else
    dl_text_printf(why,
                   "the descriptor of '%s' has no value for '%s'; give it "
                   "with --set %s=VALUE",
                   e->id, s->name, s->name);
  dl_diag_free(&inner);
  return true;
}

enum dl_status dl_frame_complain(struct dl_frame *f,
                                 const struct dl_fault *fault,
                                 const struct dl_cell *cells, const char *path,
                                 size_t line, struct dl_diag *d) {
  const struct slot *s = &f->slots[fault->slot];
  struct dl_text why = {0};
  if (fault->kind == DL_FAULT_ABSENT) {
    if (!explain_descriptor(f, s, cells, &why))
      dl_text_printf(&why, "column '%s': no value", s->name);
  } else if (fault->kind == DL_FAULT_RANGE) {
    dl_text_printf(&why, "column '%s': %s is not between %g and %g", s->name,
                   fault->cell, s->column->low, s->column->high);
  } else {
    dl_text_printf(&why, "column '%s': %s '%s'", s->name,
                   fault->kind == DL_FAULT_INVALID ? "invalid number"
                                                   : "not a finite number",
                   fault->cell);
  }
  enum dl_status status = DL_OK;
  if (why.failed)
    status = dl_fail_memory(d);
  else if (line > 0)
    dl_skip_at(d, path, line, "%s", why.s);
  else
    status = dl_fail(d, DL_EINPUT, "%s", why.s);
  dl_text_free(&why);
  return status;
}
