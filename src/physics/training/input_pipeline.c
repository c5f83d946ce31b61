/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/training/input_pipeline.h"

#include <math.h>

#include "base/number.h"

/* Times of one process, s (docs/lab/input.md). */
static const double per_sample = 0.4e-3; /* t0: calls, collating */
static const double per_stored = 4.2e-9; /* d: decoding, per pixel */
static const double per_byte = 12.4e-9;  /* e: time per byte */
static const double per_input = 10e-9;   /* a: resizing and converting */

/* Augmentation adds these: images put together, times of its calls, s, and of
 * its operations on a pixel of the input. */
static const struct {
  double images, calls, per_pixel;
} augmented[] = {[DL_AUGMENT_UNKNOWN] = {1, 0, 0},
                 [DL_AUGMENT_CROP] = {1, 0, 0},
                 [DL_AUGMENT_RANDOM] = {1, 0.2e-3, 9e-9},
                 [DL_AUGMENT_CONTRASTIVE] = {1, 0.6e-3, 40e-9},
                 [DL_AUGMENT_MOSAIC] = {4, 0, 9e-9}};

static const double per_token = 1.4e-6; /* k: tokenising */

static const double bytes_per_pixel = 0.6; /* of a usual photograph */

/* 90 % half-widths of logarithms. */
static const double of_processors = 0.5;
static const double of_storage = 0.4;
static const double of_workers = 0.7;    /* two to four times 8, or less */
static const double of_tokenizers = 0.5; /* and of languages */

double dl_input_rate(const struct dl_input_pipeline *in) {
  double workers = isnan(in->workers) ? DL_LOADER_WORKERS : in->workers;
  if (in->tokens > 0)
    return workers / (per_sample + per_token * in->tokens);
  double pixels = 1e6 * in->stored_mpx;
  double bytes = dl_or(1e3 * in->stored_kb, bytes_per_pixel * pixels);
  double images = augmented[in->augmentation].images;
  double per_pixel = per_input + augmented[in->augmentation].per_pixel;
  return workers / (per_sample + augmented[in->augmentation].calls +
                    images * (per_stored * pixels + per_byte * bytes) +
                    per_pixel * in->image_px * in->image_px);
}

double dl_input_doubt(const struct dl_input_pipeline *in) {
  double storage = in->cached ? 0 : of_storage;
  if (in->tokens > 0)
    storage = of_tokenizers;
  return hypot(hypot(of_processors, storage),
               isnan(in->workers) ? of_workers : 0);
}

double dl_input_together(double gpu_s, double input_s) {
  return hypot(gpu_s, input_s);
}

struct dl_input_wait dl_input_wait(double gpu_s, double input_s,
                                   double half_width) {
  double factor = exp(half_width);
  return (struct dl_input_wait){
      dl_input_together(gpu_s, input_s) - gpu_s,
      dl_input_together(gpu_s, input_s / factor) - gpu_s,
      dl_input_together(gpu_s, input_s * factor) - gpu_s};
}
