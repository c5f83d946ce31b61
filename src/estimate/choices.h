/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A choice is made among settings of a run, each with its energy and time. */

#ifndef DL_ESTIMATE_CHOICES_H
#define DL_ESTIMATE_CHOICES_H

#include "estimate/measured.h"
#include "estimate/node/node.h"
#include "estimate/rows.h"
#include "math/numeric/pareto.h"

/* Choices are compared by these. */
enum dl_objective {
  DL_BY_ENERGY,
  DL_BY_TIME,
  DL_BY_CO2E,
  DL_BY_COST,
  DL_N_OBJECTIVES
};

/* "energy", "time", "co2e", "cost" */
const char *dl_objective_name(enum dl_objective o);

/* Why a choice is none; the first that holds. */
enum dl_excluded {
  DL_CHOICE_MEETS,
  DL_CHOICE_SILENT,   /* no estimate, no measured energy */
  DL_CHOICE_MEMORY,   /* needs more than its GPU has */
  DL_CHOICE_DEADLINE, /* takes longer */
  DL_CHOICE_BUDGET,   /* takes more energy */
  DL_CHOICE_OUTSIDE,  /* no accelerator of its generation was measured */
  DL_CHOICE_UNTIMED,  /* no time, though others have one */
  DL_CHOICE_UNPRICED, /* its carbon intensity or price is not known, and choices
                         are compared by it */
  DL_N_EXCLUDED
};

/* "memory", ...; NULL for DL_CHOICE_MEETS. */
const char *dl_excluded_name(enum dl_excluded why);

/* Numbers are NaN where unknown. Names belong to the catalogue, or to the
 * table that was read. */
struct dl_alternative {
  const char *arch, *gpu;
  const char *title;  /* the network's, as people call it; NULL: by a table */
  const char *node;   /* the computer; NULL: the GPUs alone */
  const char *region; /* of several: a country or cloud region; or NULL */
  double n_gpus, image_px, seq_len, batch_size;
  double billed; /* accelerators by the hour: of a node all */
  double work;   /* samples or tokens that it trains on; 0: by a table */
  double accuracy;
  struct dl_interval energy_j;
  struct dl_interval paid_j; /* that emissions and cost are of */
  double duration_s;
  double response_s; /* of inference: time per output token, or of a batch */
  struct dl_interval co2e_g, cost; /* cost by the hour: exact */
  double memory_need_gb;
  const char *bound;     /* by what an epoch is ("compute", ...), or
                            the requests of inference; or NULL */
  const char *boundary;  /* of the energy */
  const char *precision; /* NULL: unknown */
  const char *lacks;     /* where there is no estimate */
  size_t runs;           /* measured; 0: estimated */
  bool outside;          /* no accelerator of its generation was measured */
  bool has_16_bits;      /* its accelerator has a rate of tensors in these */
  bool loader_assumed;   /* it is bound by the input of a loader that is */
  const char **beyond;   /* quantities outside the training data; owned */
  size_t n_beyond;
  enum dl_excluded excluded;
  struct dl_pareto_place place;
};

struct dl_choices {
  struct dl_alternative *c; /* owned */
  size_t n, cap;
  size_t n_excluded[DL_N_EXCLUDED]; /* by why; [0]: those that meet */
  bool unmeasured; /* none of a measured generation meets the other limits, so
                      that all that do count */
  char *broken; /* why the settings of the first do not go together; or NULL */
  const struct dl_measured *measured; /* borrowed; NULL: all were */
  /* All choices share these, which the first one sets; NaN where measured. */
  double epochs, train_samples, val_samples;
  bool at_rate; /* requests come at a rate: the time is a response's */
  enum dl_objective by[DL_N_OBJECTIVES];         /* as they were judged */
  double requests, prompt_tokens, output_tokens; /* NaN: no inference */
};

/* A choice takes about 200 bytes: for more there is dlest predict. */
#define DL_MOST_CHOICES 1000000

void dl_choices_free(struct dl_choices *l);

/* A node on which choices run: their energies are then its own. */
struct dl_choice_node {
  const char *id, *region; /* outlive the choices; region NULL: one for all */
  struct dl_node_power node;
  enum dl_boundary boundary; /* of the energies that are compared */
  enum dl_boundary paid;     /* of emissions and cost: the widest */
};

/* Adds the estimates of all combinations of rows->axes by the first method of
 * an engine, on a node or (NULL) without. Errors as dl_rows_each, and too many
 * choices (DL_EUSAGE). The last axis may be precisions that begin with none
 * (dl_axes_offer): the second counts where it takes the place of FP32 or TF32.
 */
enum dl_status dl_choices_sweep(struct dl_choices *l,
                                const struct dl_rows *rows, struct dl_engine *e,
                                const struct dl_choice_node *node,
                                struct dl_diag *d);

/* Adds the first n choices again, in another region (borrowed). */
void dl_choices_repeat(struct dl_choices *l, size_t n, const char *region);

/* The value of an objective, which may be unknown (NaN). */
double dl_choice_value(const struct dl_choices *l,
                       const struct dl_alternative *c, enum dl_objective by);

/* A choice has to meet these limits; INFINITY: none. */
struct dl_choice_limits {
  enum dl_objective by[DL_N_OBJECTIVES]; /* the first puts them in order */
  size_t n_by;                           /* 2; 3 without an accuracy */
  double deadline_s, budget_j;
  bool measured; /* a generation that was measured, unless none meets that */
};

/* Settles what is excluded and the place of the others, and puts them in
 * order: the front by the first objective, then those whose interval leaves it
 * open, then those that are beaten, then the excluded as they came. Where no
 * choice has a duration (an accuracy), that does not count; where some have
 * one, those without are on no front. */
void dl_choices_judge(struct dl_choices *l,
                      const struct dl_choice_limits *limits);

#endif
