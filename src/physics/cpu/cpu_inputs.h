/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of the physics of CPUs from a row: the run, its network and its
 * CPU. */

#ifndef DL_PHYSICS_CPU_CPU_INPUTS_H
#define DL_PHYSICS_CPU_CPU_INPUTS_H

#include "catalog/processors.h"
#include "physics/cpu/cpu_cost.h"

/* The quantities they are made of. */
enum { DL_N_CPU_QUANTITIES = 37 };
extern const struct dl_physics_quantity dl_cpu_quantities[DL_N_CPU_QUANTITIES];

/* The software of a run on CPUs: tuned (stack mlperf, OpenVINO), TensorFlow,
 * ONNX Runtime, else PyTorch. */
enum dl_cpu_software dl_cpu_software_of(const struct dl_run *run);

/* Whether a run says which software that is. */
bool dl_cpu_software_given(const struct dl_run *run);

/* Members `read`, `measured` and `check` of struct dl_physics; inputs: struct
 * dl_cpu_inputs. */
const char *dl_cpu_inputs_read(const struct dl_physics_row *row, void *inputs);
void dl_cpu_measured(const struct dl_run *run, double *value);
const char *dl_cpu_inputs_check(const void *inputs);

#endif
