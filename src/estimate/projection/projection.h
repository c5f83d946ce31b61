/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projects the energy and duration of a whole training from its first epochs.
 *
 * N epochs are planned, n of them are over. Epochs count from 0, e_i and d_i
 * are energy and duration of epoch i, t(i) the time at which it begins.
 *
 *   step-power     E = P T, P the mean of the epochs' mean powers (GPU + RAM)
 *                  in the window s ... s+w-1, T the duration of the training
 *   step-energy    E = sum_{i<s} e_i + (N - s)/w sum_{i=s}^{s+w-1} e_i
 *   carbontracker  E = N/k sum_{i<k} e_i, no power usage effectiveness
 *   step           what was measured, and the rest by the present regime
 *
 * The first two are STEP of del Rey et al., arXiv 2307.05520, with s = 10 and
 * w = 5; T is the realised duration where it is given, else t(s) + (N - s)
 * times the mean duration in the window. The third is the rule of Anthony et
 * al., "Carbontracker", arXiv 2007.03051. The fourth is in docs/lab/step.md. */

#ifndef DL_ESTIMATE_PROJECTION_PROJECTION_H
#define DL_ESTIMATE_PROJECTION_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

/* Parts of equal duration into which an epoch is divided. */
enum { DL_EPOCH_BLOCKS = 8 };

/* Measured so far. J, s, W; all finite, energies and durations >= 0. */
struct dl_measured_epochs {
  size_t n;                 /* whole epochs */
  const double *duration_s; /* n, > 0 */
  const double *energy_j;   /* n, > 0 */
  const double *power_w;    /* n, mean power; NULL: energy by duration */
  double head_s, head_j;    /* before the first epoch */
  double open_s, open_j;    /* of the epoch that is going on */
  const double *block_j;    /* n x DL_EPOCH_BLOCKS: energy of each part of an
                             * epoch; NULL: unknown */
  bool found; /* epochs were detected in the power: their number may be wrong */
  double parts; /* each may be so many; 1: no sign of it */
};

struct dl_projection_options {
  double n_low, n_high;  /* epochs of the whole training; equal where known */
  const double *phase;   /* lengths of the planned phases, epochs, > 0 */
  size_t n_phases;       /* 0: no plan given */
  double duration_s;     /* of the whole training; NaN: unknown */
  size_t stable, window; /* s and w above */
  size_t k;              /* of carbontracker */
  double coverage;       /* of the interval, in (0, 1) */
};

enum dl_projection_verdict {
  DL_PROJECTION_NOT_YET, /* too few epochs of the present regime */
  DL_PROJECTION_STABLE,  /* stable since stable_from */
  DL_PROJECTION_DRIFTING /* do not trust */
};

/* NaN: unknown, or not computed by this projector. */
struct dl_projection {
  double energy_j, low_j, high_j; /* of the whole training */
  double duration_s, duration_low_s, duration_high_s;
  double power_w;      /* mean, in the epochs that the rest is projected from */
  bool duration_given; /* duration_s is the one that was given */
  size_t stable_from;  /* the epochs that the rest is projected from: the */
  size_t n_stable;     /* first, and how many */
  enum dl_projection_verdict verdict;
  /* Evidence, of those epochs' energies; shares of the level, not %. */
  double level_j;         /* energy of a coming epoch, without a pattern */
  double level_share;     /* its standard error */
  double scatter;         /* standard deviation of single epochs */
  double drift, drift_se; /* per epoch */
  double outliers;        /* share of epochs far from the others */
  size_t n_regimes;       /* found so far */
  double last_change;     /* level by the level before; NaN: one regime */
  size_t pattern_every;   /* every k-th epoch takes longer; 0: none found; */
  size_t pattern_first;   /* the first that does, < every; */
  size_t pattern_seen;    /* and how many did */
  double pattern_share;   /* their excess by ordinary epochs' level_j */
  const char *reason;     /* of the verdict; static; NULL where none is due */
  const char *lacks; /* why there is no estimate; static; NULL: one exists */
};

/* Fills in a projection whose numbers are NaN at first. */
typedef enum dl_status dl_project_fn(struct dl_projection *p,
                                     const struct dl_measured_epochs *epochs,
                                     const struct dl_projection_options *o,
                                     struct dl_diag *d);

struct dl_projector {
  const char *name;
  const char *summary;
  dl_project_fn *project;
};

/* s = 10, w = 5, k = 1, 90 %, no phases, no duration, N unknown (NaN). */
void dl_projection_defaults(struct dl_projection_options *o);

/* All projectors, the recommended one first; NULL where i is past the end. */
const struct dl_projector *dl_projector_at(size_t i);
const struct dl_projector *dl_projector_find(const char *name);

/* Projects with one projector. Too few epochs for it is no error: the result
 * says so in `lacks`, its numbers are NaN. Errors (DL_EINPUT): a number of
 * `seen` is out of its range; n_low > n_high, n_high < n, or either is no
 * number >= 1; a phase is not positive; window or k is 0; coverage is outside
 * (0, 1); the duration given is shorter than what was seen; DL_EFAILED: out of
 * memory. Takes about 10 ms for some hundred epochs, 0.1 s for 100,000. */
enum dl_status dl_project(struct dl_projection *p,
                          const struct dl_projector *by,
                          const struct dl_measured_epochs *epochs,
                          const struct dl_projection_options *o,
                          struct dl_diag *d);

#endif
