/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of the physics of training from a row: the run, its architecture
 * and its accelerator. */

#ifndef DL_PHYSICS_TRAINING_TRAINING_INPUTS_H
#define DL_PHYSICS_TRAINING_TRAINING_INPUTS_H

#include "physics/training/training_cost.h"

/* The quantities they are made of. */
enum { DL_N_TRAINING_QUANTITIES = 62 };
extern const struct dl_physics_quantity
    dl_training_quantities[DL_N_TRAINING_QUANTITIES];

/* Elements that a network reads and writes, by activation (output of a
 * convolution, dense layer or product of attention): as its descriptor has it,
 * or what the operators between layers do and a usual 1.7 of the layers. NaN:
 * neither is known. */
double dl_traffic_ratio(const struct dl_architecture *arch);

/* Members `read`, `measured`, `scored` and `check` of struct dl_physics;
 * inputs: struct dl_training_inputs. */
const char *dl_training_inputs_read(const struct dl_physics_row *row,
                                    void *inputs);
void dl_training_measured(const struct dl_run *run, double *value);
double dl_training_scored(const void *inputs, const double *value,
                          size_t target);
const char *dl_training_inputs_check(const void *inputs);

/* Power of main memory within the boundary gpu+ram, W: DL_PHYSICAL_MEMORY_W; 0
 * where the TDP has it, of a GPU that shares the memory of the computer
 * (LPDDR). Accepts NULL. */
double dl_training_memory_w(const struct dl_accelerator *gpu);

#endif
