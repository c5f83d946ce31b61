/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the inputs of a physics from the rows of a frame. */

#include "physics/rows/physics_binding.h"

#include "run/run_columns.h"

enum dl_status dl_physics_bind(struct dl_physics_binding *b,
                               const struct dl_physics *physics,
                               struct dl_frame *f, bool required,
                               struct dl_diag *d) {
  size_t n_other = 0;
  *b = (struct dl_physics_binding){.physics = physics};
  dl_descriptor_init(&b->no_gpu.head, DL_ACCELERATOR);
  dl_descriptor_init(&b->no_arch.head, DL_ARCHITECTURE);
  enum dl_status status = dl_frame_want_descriptors(f, d);
  for (size_t i = 0; i < physics->n_quantities && status == DL_OK; i++) {
    const struct dl_physics_quantity *p = &physics->quantity[i];
    struct dl_row_ref q;
    enum dl_kind kind;
    const struct dl_field *field = dl_field_of(p->name, &kind);
    status = dl_frame_quantity(f, p->name, required && p->required, &q, d);
    if (status == DL_OK && field && b->n_given < DL_MAX_GIVEN &&
        dl_frame_is_given(f, p->name)) {
      b->given[b->n_given].field = field;
      b->given[b->n_given].is_gpu = kind == DL_ACCELERATOR;
      b->given[b->n_given++].q = q;
    } else if (status == DL_OK && !field && !dl_run_column_find(p->name)) {
      b->other[n_other++] = q;
    }
  }
  return status;
}

bool dl_physics_available(const struct dl_physics *physics,
                          const struct dl_frame *f) {
  for (size_t i = 0; i < physics->n_quantities; i++)
    if (physics->quantity[i].required &&
        !dl_frame_has(f, physics->quantity[i].name))
      return false;
  return true;
}

/* Copies of the row's descriptors with what the user gives. */
static void apply_given(const struct dl_physics_binding *b,
                        const struct dl_row *row, struct dl_accelerator *gpu,
                        struct dl_architecture *arch) {
  for (size_t i = 0; i < b->n_given; i++) {
    char *of = b->given[i].is_gpu ? (char *)gpu : (char *)arch;
    void *member = of + b->given[i].field->offset;
    if (b->given[i].field->is_text)
      *(const char **)member = dl_row_text(row, &b->given[i].q);
    else
      *(double *)member = dl_row_number(row, &b->given[i].q);
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
