/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of a physics from the rows of a frame. */

#ifndef DL_PHYSICS_ROWS_PHYSICS_BINDING_H
#define DL_PHYSICS_ROWS_PHYSICS_BINDING_H

#include "catalog/descriptor_kinds.h"
#include "physics/physics.h"
#include "run/frame.h"

enum { DL_MAX_GIVEN = 16 };

struct dl_physics_binding {
  const struct dl_physics *physics;
  struct dl_row_ref other[DL_MAX_OTHER];
  /* Fields of descriptors for which the user gives values. */
  struct {
    const struct dl_field *field;
    bool is_gpu;
    struct dl_row_ref q;
  } given[DL_MAX_GIVEN];
  size_t n_given;
  struct dl_accelerator no_gpu; /* of which nothing is known */
  struct dl_architecture no_arch;
};

/* Adds the steps of the physics' quantities to the frame. `required`: a row
 * without one that is required is at fault (dl_frame_quantity). */
enum dl_status dl_physics_bind(struct dl_physics_binding *b,
                               const struct dl_physics *physics,
                               struct dl_frame *f, bool required,
                               struct dl_diag *d);

/* Whether the frame has all required quantities. */
bool dl_physics_available(const struct dl_physics *physics,
                          const struct dl_frame *f);

/* Inputs of a row, whose texts they borrow. Returns the first required quantity
 * that is unknown, or NULL. Thread-safe. */
const char *dl_physics_read(const struct dl_physics_binding *b,
                            const struct dl_row *row, void *inputs);

#endif
