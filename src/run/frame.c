/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest_names.h"
#include "run/frame_private.h"

/* Quantities that follow from others. Where two follow from each other
 * (duration_s, epoch_s) each builds on what the user gave for the other. */
static const struct {
  const char *name, *formula;
} derived[] = {
    {"macs_g", "arch.macs_g"},
    {"params_m", "arch.params_m"},
    {"acts_m", "arch.acts_m"},
    {"image_px", "arch.image_px"},
    {"launches", "arch.launches"},
    {"power_limit_w", "gpu.power_limit_w"},
    /* What frameworks use unless told otherwise: TF32 where there is any, of
     * which about half is reached on data-centre boards; else FP32. */
    {"peak_tflops",
     "max(gpu.peak_fp32_tflops, 0.5*coalesce(gpu.peak_tf32_tflops, 0))"},
    {"duration_s", "epoch_s*epochs"},
    {"epoch_s", "duration_s/epochs"},
    {"epoch_energy_j", "energy_j/epochs"},
    {"gpu_power_w", "gpu_energy_j/duration_s"},
};

static void free_entries(struct entries *es) {
  for (size_t i = 0; i < es->n; i++) {
    free(es->e[i].name);
    free(es->e[i].text);
  }
  free(es->e);
}

static void free_slot(struct slot *s) {
  for (size_t i = 0; i < s->n_places; i++) {
    dl_formula_free(s->place[i].formula);
    free(s->place[i].vars);
  }
  free(s->name);
}

struct dl_frame *dl_frame_new(struct dl_catalog *c) {
  struct dl_frame *f = dl_calloc(1, sizeof *f);
  if (f)
    f->catalog = c;
  return f;
}

void dl_frame_free(struct dl_frame *f) {
  if (!f)
    return;
  free_entries(&f->overrides);
  free_entries(&f->settings);
  free_entries(&f->definitions);
  free_entries(&f->aliases);
  free_entries(&f->fields[0]);
  free_entries(&f->fields[1]);
  for (size_t i = 0; i < f->n_slots; i++)
    free_slot(&f->slots[i]);
  free(f->slots);
  dl_strlist_free(&f->resolving);
  dl_intern_free(&f->gpu_names);
  dl_intern_free(&f->arch_names);
  dl_text_free(&f->key);
  free(f->gpus);
  free(f->archs);
  for (size_t i = 0; i < f->n_copies; i++)
    free(f->copies[i]);
  free(f->copies);
  free(f->row);
  free(f);
}

void dl_frame_columns(struct dl_frame *f, const struct dl_csv *csv) {
  f->csv = csv;
}

static const char *derived_formula(const char *name) {
  for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
    if (strcmp(derived[i].name, name) == 0)
      return derived[i].formula;
  return NULL;
}

/* The field of a name as "gpu.tdp_w" or "arch.family", or NULL. */
static const struct dl_field *descriptor_field(const char *name,
                                               enum dl_kind *kind) {
  bool gpu = strncmp(name, "gpu.", 4) == 0;
  if (!gpu && strncmp(name, "arch.", 5) != 0)
    return NULL;
  *kind = gpu ? DL_ACCELERATOR : DL_ARCHITECTURE;
  return dl_field_find(*kind, name + (gpu ? 4 : 5));
}

static bool has_own(const struct dl_frame *f, const char *name) {
  return dl_entry_find(&f->overrides, name) >= 0 ||
         dl_entry_find(&f->definitions, name) >= 0 ||
         (f->csv && dl_csv_find(f->csv, name) >= 0) ||
         (f->axes && dl_axes_find(f->axes, name)) ||
         dl_entry_find(&f->settings, name) >= 0;
}

/* Whether the derived formula of a name has all it needs. */
static bool can_derive(const struct dl_frame *f, const char *formula) {
  struct dl_diag quiet;
  struct dl_formula *g;
  dl_diag_init(&quiet);
  bool all = dl_formula_parse(&g, formula, &quiet) == DL_OK;
  for (size_t i = 0; all && i < dl_formula_n_vars(g); i++) {
    const char *var = dl_formula_var(g, i);
    if (!dl_formula_var_is_needed(g, i))
      continue;
    if (strncmp(var, "arch.", 5) == 0)
      all = has_own(f, "arch");
    else if (strncmp(var, "gpu.", 4) == 0)
      all = has_own(f, "gpu");
    else
      all = has_own(f, var);
  }
  dl_formula_free(g);
  dl_diag_free(&quiet);
  return all;
}

bool dl_frame_has(const struct dl_frame *f, const char *name) {
  enum dl_kind kind;
  if (has_own(f, name))
    return true;
  if (descriptor_field(name, &kind))
    return has_own(f, kind == DL_ACCELERATOR ? "gpu" : "arch");
  const char *formula = derived_formula(name);
  return formula && can_derive(f, formula);
}

static enum dl_status add_place(struct slot *s, struct place p,
                                struct dl_diag *d) {
  if (s->n_places == MOST_PLACES) {
    dl_formula_free(p.formula);
    free(p.vars);
    return dl_fail(d, DL_EFAILED, "too many places for '%s'", s->name);
  }
  s->place[s->n_places++] = p;
  return DL_OK;
}

static enum dl_status unknown_name(const struct dl_frame *f, const char *name,
                                   struct dl_diag *d) {
  struct dl_text near = {0};
  size_t n = f->csv ? dl_csv_n_cols(f->csv) : 0;
  const char **names = dl_calloc(n + dl_run_column_count(), sizeof *names);
  if (!names)
    return dl_fail_memory(d);
  for (size_t i = 0; i < n; i++)
    names[i] = dl_csv_name(f->csv, i);
  if (n == 0)
    while (n < dl_run_column_count()) {
      names[n] = dl_run_column_at(n)->name;
      n++;
    }
  dl_nearest_names(name, names, n, 3, &near);
  free(names);
  if (f->csv)
    dl_fail_at(d, DL_EUSAGE, dl_csv_path(f->csv), 0,
               "no column '%s'; nearest: %s", name, dl_text_str(&near));
  else
    dl_fail(d, DL_EUSAGE, "'%s' has no value; give it with --set %s=VALUE",
            name, name);
  dl_text_free(&near);
  return DL_EUSAGE;
}

/* With `known` its names must come from somewhere; a row may still lack their
 * values, and the next place is tried. */
static enum dl_status add_formula(struct dl_frame *f, struct slot *s,
                                  const char *text, bool known,
                                  struct dl_diag *d) {
  struct place p = {.kind = PLACE_FORMULA};
  enum dl_status status = dl_formula_parse(&p.formula, text, d);
  bool outer = f->deriving;
  f->deriving = !known;
  if (status == DL_OK)
    status = dl_frame_bind(f, p.formula, false, &p.vars, d);
  f->deriving = outer;
  for (size_t i = 0;
       status == DL_OK && known && i < dl_formula_n_vars(p.formula); i++)
    if (dl_formula_var_is_needed(p.formula, i) &&
        f->slots[p.vars[i]].n_places == 0)
      status = unknown_name(f, dl_formula_var(p.formula, i), d);
  if (status != DL_OK) {
    dl_formula_free(p.formula);
    free(p.vars);
    return status;
  }
  return add_place(s, p, d);
}

static enum dl_status slot_in(struct dl_frame *f, const char *name,
                              enum scope scope, bool required, size_t *slot,
                              struct dl_diag *d);

/* A slot and those it builds on are evaluated before descriptors are known. */
static void want_early(struct dl_frame *f, size_t slot) {
  struct slot *s = &f->slots[slot];
  s->early = true;
  for (size_t i = 0; i < s->n_places; i++)
    for (size_t v = 0;
         s->place[i].formula && v < dl_formula_n_vars(s->place[i].formula); v++)
      want_early(f, s->place[i].vars[v]);
}

void dl_frame_want_descriptors(struct dl_frame *f) {
  struct dl_diag quiet;
  dl_diag_init(&quiet);
  if (!f->want_gpu)
    f->want_gpu =
        slot_in(f, "gpu", SCOPE_OWN, false, &f->gpu_slot, &quiet) == DL_OK;
  if (!f->want_arch)
    f->want_arch =
        slot_in(f, "arch", SCOPE_OWN, false, &f->arch_slot, &quiet) == DL_OK &&
        slot_in(f, "image_px", SCOPE_OWN, false, &f->px_slot, &quiet) ==
            DL_OK &&
        slot_in(f, "seq_len", SCOPE_OWN, false, &f->seq_slot, &quiet) ==
            DL_OK &&
        slot_in(f, "classes", SCOPE_OWN, false, &f->classes_slot, &quiet) ==
            DL_OK;
  if (f->want_gpu)
    want_early(f, f->gpu_slot);
  if (f->want_arch) {
    want_early(f, f->arch_slot);
    want_early(f, f->px_slot);
    want_early(f, f->seq_slot);
    want_early(f, f->classes_slot);
  }
  dl_diag_free(&quiet);
}

static enum dl_status place_at(struct slot *s, enum place_kind kind, long i,
                               struct dl_diag *d) {
  if (i < 0)
    return DL_OK;
  return add_place(s, (struct place){.kind = kind, .index = (size_t)i}, d);
}

/* A field of a descriptor, where there is a descriptor to look up. */
static enum dl_status add_field(struct dl_frame *f, struct slot *s,
                                struct dl_diag *d) {
  enum dl_kind kind;
  const struct dl_field *field = descriptor_field(s->name, &kind);
  if (!field || !has_own(f, kind == DL_ACCELERATOR ? "gpu" : "arch"))
    return DL_OK;
  dl_frame_want_descriptors(f);
  struct place p = {.kind = kind == DL_ACCELERATOR ? PLACE_GPU : PLACE_ARCH,
                    .field = field};
  return add_place(s, p, d);
}

/* All places for a name into s, in the order of frame.h. */
static enum dl_status find_places(struct dl_frame *f, struct slot *s,
                                  struct dl_diag *d) {
  long i = dl_entry_find(&f->overrides, s->name);
  if (i >= 0)
    return place_at(s, PLACE_OVERRIDE, i, d);
  enum dl_status status = DL_OK;
  i = dl_entry_find(&f->definitions, s->name);
  if (i >= 0 && s->scope != SCOPE_RAW)
    status = add_formula(f, s, f->definitions.e[i].text, true, d);
  if (status == DL_OK && f->csv)
    status = place_at(s, PLACE_COLUMN, dl_csv_find(f->csv, s->name), d);
  const struct dl_axis *axis = f->axes ? dl_axes_find(f->axes, s->name) : NULL;
  if (status == DL_OK && axis)
    status = place_at(s, PLACE_AXIS, axis - f->axes->a, d);
  if (status == DL_OK)
    status =
        place_at(s, PLACE_SETTING, dl_entry_find(&f->settings, s->name), d);
  if (status != DL_OK || s->scope != SCOPE_FULL)
    return status;
  const char *formula = derived_formula(s->name);
  if (formula && can_derive(f, formula))
    status = add_formula(f, s, formula, false, d);
  return status == DL_OK ? add_field(f, s, d) : status;
}

static long find_slot(const struct dl_frame *f, const char *name,
                      enum scope scope) {
  for (size_t i = 0; i < f->n_slots; i++)
    if (f->slots[i].scope == scope && strcmp(f->slots[i].name, name) == 0)
      return (long)i;
  return -1;
}

/* Appends the finished slot, so that the slots it uses come before it. */
static enum dl_status append_slot(struct dl_frame *f, struct slot *s,
                                  size_t *slot, struct dl_diag *d) {
  void *list = f->slots;
  if (!dl_grow(&list, &f->cap_slots, f->n_slots + 1, sizeof *f->slots)) {
    free_slot(s);
    return dl_fail_memory(d);
  }
  f->slots = list;
  *slot = f->n_slots;
  f->slots[f->n_slots++] = *s;
  return DL_OK;
}

/* A slot is to hold numbers, and so is the one that it merely renames. */
static void want_number(struct dl_frame *f, size_t slot) {
  struct slot *s = &f->slots[slot];
  s->number = true;
  for (size_t i = 0; i < s->n_places; i++)
    if (s->place[i].formula && dl_formula_is_name(s->place[i].formula))
      want_number(f, s->place[i].vars[0]);
}

/* While a name is being resolved it stands for its raw value: a definition
 * may build on the column of the same name. In a derived quantity it stands
 * for what the user gave, a definition included. */
static enum dl_status resolve(struct dl_frame *f, struct slot *s,
                              struct dl_diag *d) {
  if (!dl_strlist_add(&f->resolving, s->name))
    return dl_fail_memory(d);
  enum dl_status status = find_places(f, s, d);
  free(f->resolving.s[--f->resolving.n]);
  return status;
}

static enum dl_status slot_in(struct dl_frame *f, const char *name,
                              enum scope scope, bool required, size_t *slot,
                              struct dl_diag *d) {
  if (dl_strlist_find(&f->resolving, name) >= 0)
    scope = f->deriving ? SCOPE_OWN : SCOPE_RAW;
  long known = find_slot(f, name, scope);
  if (known >= 0) {
    *slot = (size_t)known;
    f->slots[known].required |= required;
    return required && f->slots[known].n_places == 0 ? unknown_name(f, name, d)
                                                     : DL_OK;
  }
  struct slot s = {.name = dl_strdup(name),
                   .scope = scope,
                   .column = dl_run_column_find(name),
                   .required = required};
  if (!s.name)
    return dl_fail_memory(d);
  enum dl_status status =
      scope == SCOPE_RAW ? find_places(f, &s, d) : resolve(f, &s, d);
  if (status == DL_OK && required && s.n_places == 0)
    status = unknown_name(f, name, d);
  if (status != DL_OK) {
    free_slot(&s);
    return status;
  }
  status = append_slot(f, &s, slot, d);
  if (status == DL_OK && s.column && !s.column->is_text)
    want_number(f, *slot);
  return status;
}

enum dl_status dl_frame_slot(struct dl_frame *f, const char *name,
                             bool required, size_t *slot, struct dl_diag *d) {
  return slot_in(f, name, SCOPE_FULL, required, slot, d);
}

enum dl_status dl_frame_bind(struct dl_frame *f, const struct dl_formula *g,
                             bool required, size_t **index, struct dl_diag *d) {
  size_t n = dl_formula_n_vars(g);
  *index = dl_calloc(n, sizeof **index);
  if (!*index)
    return dl_fail_memory(d);
  for (size_t i = 0; i < n; i++) {
    enum dl_status status = dl_frame_slot(
        f, dl_formula_var(g, i), required && dl_formula_var_is_needed(g, i),
        &(*index)[i], d);
    if (status != DL_OK) {
      free(*index);
      *index = NULL;
      return status;
    }
    if (!dl_formula_var_is_text(g, i) && !dl_formula_is_name(g))
      want_number(f, (*index)[i]);
  }
  return DL_OK;
}

size_t dl_frame_n_slots(const struct dl_frame *f) {
  return f->n_slots;
}

const char *dl_frame_slot_name(const struct dl_frame *f, size_t slot) {
  return f->slots[slot].name;
}
