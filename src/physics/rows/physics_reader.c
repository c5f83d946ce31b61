/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/rows/physics_reader.h"

#include <stdlib.h>

#include "base/memory.h"

enum dl_status dl_physics_reader_bind(struct dl_physics_reader *r,
                                      struct dl_physics_rows *rows, size_t n,
                                      struct dl_frame *f, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  r->rows = rows;
  r->n = n;
  for (size_t k = 0; k < r->n && status == DL_OK; k++) {
    const struct dl_physics *physics = r->rows[k].physics;
    struct dl_row_ref q;
    status = dl_physics_bind(&r->bound[k], physics, f, true, d);
    for (size_t i = 0; i < physics->n_targets && status == DL_OK; i++)
      status = dl_frame_quantity(f, physics->target[i], false, &q, d);
  }
  return status;
}

bool dl_physics_reader_room(struct dl_physics_reader *r, size_t rows) {
  bool ok = true;
  for (size_t k = 0; k < r->n && ok; k++) {
    const struct dl_physics *physics = r->rows[k].physics;
    void *inputs = r->inputs[k], *values = r->values[k];
    ok = dl_grow(&inputs, &r->cap_inputs[k], rows * physics->input_size, 1);
    r->inputs[k] = inputs;
    ok = ok && dl_grow(&values, &r->cap_values[k], rows * physics->n_targets,
                       sizeof(double));
    r->values[k] = values;
  }
  return ok;
}

const char *dl_physics_reader_read(struct dl_physics_reader *r, size_t i,
                                   const struct dl_row *row) {
  const char *lacks = NULL;
  for (size_t k = 0; k < r->n && !lacks; k++) {
    const struct dl_physics *physics = r->rows[k].physics;
    lacks = dl_physics_read(&r->bound[k], row,
                            r->inputs[k] + i * physics->input_size);
    physics->measured(&row->run, r->values[k] + i * physics->n_targets);
  }
  return lacks;
}

bool dl_physics_reader_take(const struct dl_physics_reader *r, size_t i) {
  bool ok = true;
  for (size_t k = 0; k < r->n && ok; k++) {
    const struct dl_physics *physics = r->rows[k].physics;
    ok =
        dl_physics_rows_add(&r->rows[k], r->inputs[k] + i * physics->input_size,
                            r->values[k] + i * physics->n_targets);
  }
  return ok;
}

void dl_physics_reader_free(struct dl_physics_reader *r) {
  for (size_t k = 0; k < DL_MOST_PHYSICS; k++) {
    free(r->inputs[k]);
    free(r->values[k]);
  }
}
