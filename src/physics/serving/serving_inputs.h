/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of the physics of LLM serving from a row: the run, its
 * architecture and its accelerator. */

#ifndef DL_PHYSICS_SERVING_SERVING_INPUTS_H
#define DL_PHYSICS_SERVING_SERVING_INPUTS_H

#include "physics/serving/serving_cost.h"

/* The quantities they are made of. */
enum { DL_N_SERVING_QUANTITIES = 41 };
extern const struct dl_physics_quantity
    dl_serving_quantities[DL_N_SERVING_QUANTITIES];

/* Members `read`, `measured` and `check` of struct dl_physics; inputs: struct
 * dl_serving_inputs. */
const char *dl_serving_inputs_read(const struct dl_physics_row *row,
                                   void *inputs);
void dl_serving_measured(const struct dl_run *run, double *value);
const char *dl_serving_inputs_check(const void *inputs);

#endif
