/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the inputs of a physics from the rows of a plan, block by block. */

#include "physics/rows/physics_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/plan.h"

enum dl_status dl_physics_bind(struct dl_physics_binding *b,
                               const struct dl_physics *physics,
                               struct dl_row_plan *f, bool required,
                               struct dl_diag *d) {
  size_t n_other = 0;
  *b = (struct dl_physics_binding){.physics = physics};
  dl_descriptor_init(&b->no_gpu.head, DL_ACCELERATOR);
  dl_descriptor_init(&b->no_arch.head, DL_ARCHITECTURE);
  enum dl_status status = dl_plan_want_descriptors(f, d);
  for (size_t i = 0; i < physics->n_quantities && status == DL_OK; i++) {
    const struct dl_physics_quantity *p = &physics->quantity[i];
    struct dl_row_ref q;
    enum dl_kind kind;
    bool own = p->id == DL_N_PLAN_NAMES;
    const struct dl_field *field = dl_name_field(p->id, &kind);
    status = own ? dl_plan_quantity(f, p->name, required && p->required, &q, d)
                 : dl_plan_member(f, p->id, required && p->required, &q, d);
    if (status == DL_OK && field && b->n_given < DL_MAX_GIVEN &&
        dl_plan_is_given(f, p->name)) {
      b->given[b->n_given] = field;
      b->given_of_gpu[b->n_given] = kind == DL_ACCELERATOR;
      b->given_at[b->n_given++] = q;
    } else if (status == DL_OK && !field && !dl_run_column_find(p->name)) {
      b->other[n_other++] = q;
    }
  }
  return status;
}

bool dl_physics_available(const struct dl_physics *physics,
                          const struct dl_row_plan *f) {
  for (size_t i = 0; i < physics->n_quantities; i++)
    if (physics->quantity[i].required &&
        !dl_plan_has_source(f, physics->quantity[i].id))
      return false;
  return true;
}

/* Copies of the row's descriptors with what the user gives. */
static void apply_given(const struct dl_physics_binding *b,
                        const struct dl_row *row, struct dl_accelerator *gpu,
                        struct dl_architecture *arch) {
  for (size_t i = 0; i < b->n_given; i++) {
    char *of = b->given_of_gpu[i] ? (char *)gpu : (char *)arch;
    void *member = of + b->given[i]->offset;
    if (b->given[i]->is_text)
      *(const char **)member = dl_row_text(row, &b->given_at[i]);
    else
      *(double *)member = dl_row_number(row, &b->given_at[i]);
  }
}

const char *dl_physics_read(const struct dl_physics_binding *b,
                            const struct dl_row *row, void *inputs) {
  struct dl_accelerator gpu;
  struct dl_architecture arch;
  struct dl_physics_row of = {
      .run = &row->run,
      .gpu = row->found.gpu ? row->found.gpu : &b->no_gpu,
      .arch = row->found.arch ? row->found.arch : &b->no_arch};
  if (b->n_given > 0) {
    gpu = *of.gpu;
    arch = *of.arch;
    apply_given(b, row, &gpu, &arch);
    of.gpu = &gpu;
    of.arch = &arch;
  }
  for (size_t i = 0; i < DL_MAX_OTHER; i++)
    of.other[i] = dl_row_number(row, &b->other[i]);
  return b->physics->read(&of, inputs);
}

void dl_physics_rows_free(struct dl_physics_rows *rows) {
  dl_intern_free(&rows->inputs);
  free(rows->input);
  free(rows->value);
  free(rows->block);
  dl_intern_free(&rows->names);
  *rows = (struct dl_physics_rows){0};
}

void dl_physics_rows_room(struct dl_physics_rows *rows, size_t block) {
  size_t want = rows->n + block;
  rows->inputs.size = rows->physics->input_size;
  rows->block =
      dl_grown(rows->block, &rows->cap_block, block, rows->inputs.size);
  DL_GROW(rows->input, rows->cap_input, want);
  rows->value = dl_grown(rows->value, &rows->cap_value, want,
                         rows->physics->n_targets * sizeof *rows->value);
  rows->first = rows->n;
}

void *dl_physics_rows_inputs(const struct dl_physics_rows *rows, size_t i) {
  return rows->block + i * rows->inputs.size;
}

double *dl_physics_rows_value(const struct dl_physics_rows *rows, size_t i) {
  return rows->value + (rows->first + i) * rows->physics->n_targets;
}

const char *dl_physics_rows_read(struct dl_physics_rows *rows,
                                 const struct dl_physics_binding *b,
                                 const struct dl_row *row, size_t i) {
  const char *lacks = dl_physics_read(b, row, dl_physics_rows_inputs(rows, i));
  rows->physics->measured(&row->run, dl_physics_rows_value(rows, i));
  if (!lacks && !rows->physics->inference && dl_run_is_inference(&row->run))
    lacks = DL_LACKS_TRAINING;
  if (!lacks || !rows->tried)
    return lacks;
#pragma omp atomic write
  rows->lacking = true;
  return NULL;
}

void dl_physics_rows_take(struct dl_physics_rows *rows, size_t i) {
  size_t n_targets = rows->physics->n_targets;
  struct dl_grouping *g = dl_physics_rows_inputs(rows, i);
  memmove(rows->value + rows->n * n_targets, dl_physics_rows_value(rows, i),
          n_targets * sizeof *rows->value);
  for (size_t k = 0; k < DL_N_NAMES; k++)
    if (g->name[k]) {
      long name = dl_intern(&rows->names, g->name[k]);
      g->name[k] = rows->names.s[name];
    }
  rows->input[rows->n++] = (size_t)dl_intern(&rows->inputs, g);
}

struct dl_observed dl_physics_row_at(const struct dl_physics_rows *rows,
                                     size_t i) {
  return (struct dl_observed){rows->inputs.s[rows->input[i]],
                              rows->value + i * rows->physics->n_targets};
}

long dl_physics_target(const struct dl_physics *physics, const char *column) {
  for (size_t t = 0; t < physics->n_targets; t++)
    if (strcmp(physics->target[t], column) == 0)
      return (long)t;
  return -1;
}
