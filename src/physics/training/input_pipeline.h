/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many samples per second loader processes deliver to a GPU.
 *
 * A loader process decodes an image, crops and resizes it, and makes it a
 * tensor:
 *
 *   t = t0 + c + m (d S + e B) + (a + g) p^2
 *
 * S pixels of the stored image, B bytes of its file, p the side of the input; m
 * images are put together, c and g are calls of augmentation and its operations
 * on a pixel. W processes deliver W / t samples per second. GPU and loader work
 * at once, and wait for each other where their times are alike: of T the GPU
 * alone and I the loader alone, an epoch takes
 *
 *   sqrt(T^2 + I^2)
 *
 * Text that is tokenised while the training runs takes t = t0 + k n for a
 * sequence of n tokens.
 *
 * docs/lab/input.md has the published measurements that the constants come
 * from. */

#ifndef DL_PHYSICS_TRAINING_INPUT_PIPELINE_H
#define DL_PHYSICS_TRAINING_INPUT_PIPELINE_H

#include <stdbool.h>

#include "quantities/quantities.h"

struct dl_input_pipeline {
  double stored_mpx; /* mean size of a stored image, 1e6 pixels */
  double stored_kb;  /* of its file; NaN: 0.6 bytes per pixel are assumed */
  double image_px;   /* side of the network's input */
  double tokens;     /* of a sequence of text; 0: images */
  double workers;    /* loader processes per GPU; NaN: unknown, and */
                     /* DL_LOADER_WORKERS are assumed */
  bool cached;       /* encoded files are in main memory */
  enum dl_augmentation augmentation; /* of images; not known: crop */
};

/* Loader processes per GPU where their number is not known. */
#define DL_LOADER_WORKERS 8

/* Samples per second and GPU. */
double dl_input_rate(const struct dl_input_pipeline *in);

/* 90 % half-width of the logarithm of that rate: processors differ, storage is
 * not known unless files are cached, nor is the number of processes where it
 * is assumed. */
double dl_input_doubt(const struct dl_input_pipeline *in);

/* Time of an epoch, s: of the GPU alone, and of the input pipeline alone. */
double dl_input_together(double gpu_s, double input_s);

/* Time that a GPU waits for its input, s, and its bounds. */
struct dl_input_wait {
  double s, low_s, high_s;
};

/* half_width: of the logarithm of input_s. */
struct dl_input_wait dl_input_wait(double gpu_s, double input_s,
                                   double half_width);

#endif
