/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities of a run that follow from others. */

#include <math.h>
#include <string.h>

#include "run/frame_private.h"

static double product(const double *x) {
  return x[0] * x[1];
}

static double ratio(const double *x) {
  return x[0] / x[1];
}

static double same(const double *x) {
  return x[0];
}

/* The rate that frameworks reach by default, 1e12 FLOP/s: TF32 where there is
 * any, of which about half is reached on data-centre boards; else FP32. */
static double usual_peak(const double *x) {
  return isnan(x[0]) ? (double)NAN : fmax(x[0], isnan(x[1]) ? 0 : 0.5 * x[1]);
}

/* Quantities that follow from others. Where two follow from each other
 * (duration_s, epoch_s) each builds on what the user gave for the other. */
static const struct derived derived[] = {
    {DL_RUN_macs_g, {"arch.macs_g", NULL}, same, false},
    {DL_RUN_params_m, {"arch.params_m", NULL}, same, false},
    {DL_RUN_acts_m, {"arch.acts_m", NULL}, same, false},
    {DL_RUN_image_px, {"arch.image_px", NULL}, same, false},
    {DL_RUN_launches, {"arch.launches", NULL}, same, false},
    {DL_RUN_power_limit_w, {"gpu.power_limit_w", NULL}, same, false},
    {DL_RUN_peak_tflops,
     {"gpu.peak_fp32_tflops", "gpu.peak_tf32_tflops"},
     usual_peak,
     true},
    {DL_RUN_duration_s, {"epoch_s", "epochs"}, product, false},
    {DL_RUN_epoch_s, {"duration_s", "epochs"}, ratio, false},
    {DL_RUN_epoch_energy_j, {"energy_j", "epochs"}, ratio, false},
    {DL_RUN_gpu_power_w, {"gpu_energy_j", "duration_s"}, ratio, false},
};

const struct derived *dl_derived_of(const char *name) {
  for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
    if (strcmp(dl_run_columns[derived[i].target].name, name) == 0)
      return &derived[i];
  return NULL;
}
