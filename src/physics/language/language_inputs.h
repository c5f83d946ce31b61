/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of the physics of training language models from a row: the run,
 * its architecture and its accelerator. */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_INPUTS_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_INPUTS_H

#include "physics/language/language_cost.h"

/* What is assumed of a training beside its steps: a share of their time for
 * evaluation, saving and interruptions, and seconds of imports and the start of
 * processes, and one for each GB of weights that fine-tuning loads. */
#define DL_LANGUAGE_OVERHEAD 0.05
double dl_language_startup_s(const struct dl_run *run);

/* The quantities they are made of. */
enum { DL_N_LANGUAGE_QUANTITIES = 66 };
extern const struct dl_physics_quantity
    dl_language_quantities[DL_N_LANGUAGE_QUANTITIES];

/* Members `read`, `measured` and `check` of struct dl_physics; inputs: struct
 * dl_language_inputs. */
const char *dl_language_inputs_read(const struct dl_physics_row *row,
                                    void *inputs);
void dl_language_measured(const struct dl_run *run, double *value);
const char *dl_language_inputs_check(const void *inputs);

#endif
