/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of the physics of tuned inference from a row: the run, its
 * architecture and its accelerator. */

#ifndef DL_PHYSICS_TUNED_TUNED_INPUTS_H
#define DL_PHYSICS_TUNED_TUNED_INPUTS_H

#include "physics/tuned/tuned_cost.h"

/* The quantities they are made of. */
enum { DL_N_TUNED_QUANTITIES = 37 };
extern const struct dl_physics_quantity
    dl_tuned_quantities[DL_N_TUNED_QUANTITIES];

/* Members `read`, `measured` and `check` of struct dl_physics; inputs: struct
 * dl_tuned_inputs. */
const char *dl_tuned_inputs_read(const struct dl_physics_row *row,
                                 void *inputs);
void dl_tuned_measured(const struct dl_run *run, double *value);
const char *dl_tuned_inputs_check(const void *inputs);

#endif
