/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a GPU works and how long it waits, by what is known of a training.
 *
 * A GPU that works W of T seconds draws its working power P for W, and for the
 * rest the static power s of a GPU:
 *
 *   b = W / T,   mean power = P (b + (1 - b) s / P),   energy = T x that
 *
 * Before anything is known of a run, log W and log P are normal, jointly
 * (physics/conditioning/joint_prediction.h), and a share of trainings waits,
 * for a part of its time that is uniform:
 *
 *   d = -log b = 0 with probability 1 - waits, else of density exp(-d)
 *
 * Where the input pipeline is described, the others are not free of waiting:
 * input that alone takes I, a log-normal time, makes the run sqrt(W^2 + I^2)
 * long (physics/training/input_pipeline.h), so that I = W sqrt(exp(2 d) - 1).
 *
 * Known values are conditions: log T = log W + d; the logarithm of the mean
 * power; the GPU utilization, b times its value at work. Given d all is normal,
 * so that the posterior is an integral over d, by the trapezoidal rule. A time
 * somewhat above the estimate is so a GPU slower than expected, at about equal
 * power, and one far above it a GPU that waits; a time below it is a GPU that
 * works faster, by the effects that are the most likely to make it so.
 *
 * Where the explanation changes from slow work to waiting, that mean falls
 * while the time grows, although a longer run of equal work cannot take less
 * energy. The estimate is therefore the isotonic regression of the mean on the
 * time, weighted by the density of the time: of all functions of the time that
 * do not fall, the one with the least expected squared error (Barlow,
 * Bartholomew, Bremner and Brunk 1972, Statistical Inference under Order
 * Restrictions). */

#ifndef DL_PHYSICS_CONDITIONING_GPU_WAITING_H
#define DL_PHYSICS_CONDITIONING_GPU_WAITING_H

#include <stdbool.h>

/* Probability that a training waits for anything that the physics does not
 * account for (docs/lab/known-times.md has others). */
#define DL_WAITS 0.3

/* All but static_share are logarithms, or their variances. */
struct dl_gpu_waiting_prior {
  double time, power; /* of the work, expected */
  double var_time, var_power, cov;
  double var_alone;    /* of the time where no power says anything of it: by its
                          own interval */
  double most_power;   /* that GPUs can draw at work; INFINITY: no limit */
  double static_share; /* static by working power */
  /* The power in the time beyond the work where neither a utilization nor a
   * power is known, relative to the working power, and the standard deviation
   * of its logarithm; static where that is more. */
  double surplus_share, surplus_sd;
  double var_util; /* of the utilization at work */
  double waits;    /* probability of waiting, 0 .. 1 */
  double input;    /* time of the input alone; NaN: it keeps up */
  double var_input;
  bool by_work; /* input and its variance are relative to the time of the work,
                   of which nothing is known */
};

/* NaN: not known. Logarithms; util: relative to the utilization at work. */
struct dl_gpu_waiting_known {
  double time, power, util;
};

/* Means and quantiles of the logarithms, and the mean of the share itself.
 * Quantiles of what is known are NaN. */
struct dl_gpu_waiting {
  double energy, energy_low, energy_high;
  double time, time_low, time_high;
  double power_low, power_high; /* of the mean power */
  double busy;
  double misfit; /* of the known values to the prior, in standard deviations,
                    however long the GPU waits */
};

/* coverage: of the intervals, 0 .. 1. */
void dl_gpu_waiting_posterior(const struct dl_gpu_waiting_prior *prior,
                              const struct dl_gpu_waiting_known *known,
                              double coverage, struct dl_gpu_waiting *out);

/* The factor either way within which a quantity is at that coverage, whose
 * logarithm is normal. */
double dl_normal_factor(double sd, double coverage);

/* How far the energy of waiting for a known time may be off at that coverage, a
 * factor; var_power: the variance of the logarithm of the power at work. */
double dl_static_factor(double var_power, double coverage);

/* The factor of an energy by a measured power and time. */
double dl_meter_factor(double coverage);

/* The standard deviation that the larger half of an interval stands for, whose
 * bounds are relative to the middle (logarithms). */
double dl_interval_sd(double low, double high, double coverage);

#endif
