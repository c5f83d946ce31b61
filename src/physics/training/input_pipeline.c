/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/training/input_pipeline.h"

#include <math.h>

/* Of one process, s (docs/input.md). */
static const double per_sample = 0.4e-3;  /* t0: calls, collating */
static const double per_stored = 11.7e-9; /* d: decoding, per pixel */
static const double per_input = 10e-9;    /* a: resizing and converting */

/* 90 % half-widths of logarithms. */
static const double of_processors = 0.5;
static const double of_storage = 0.4;
static const double of_workers = 0.7; /* two to four times 8, or less */

double dl_input_rate(const struct dl_input_pipeline *in) {
  double workers = isnan(in->workers) ? DL_LOADER_WORKERS : in->workers;
  return workers / (per_sample + per_stored * 1e6 * in->stored_mpx +
                    per_input * in->image_px * in->image_px);
}

double dl_input_doubt(const struct dl_input_pipeline *in) {
  return hypot(hypot(of_processors, in->cached ? 0 : of_storage),
               isnan(in->workers) ? of_workers : 0);
}

double dl_input_together(double gpu_s, double input_s) {
  return hypot(gpu_s, input_s);
}
