/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/cpu/cpu_cost.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/constants.h"
#include "physics/tape.h"

struct cpu_sample {
  const double *c, *fx;
  const struct dl_cpu_inputs *in;
  struct dl_tape *tape; /* NULL: values alone */
  struct dl_taped compute, elements, memory, layers, time;
};

static void by(const struct cpu_sample *k, struct dl_taped *a, size_t i,
               double n) {
  *a = dl_taped_times(k->tape, *a, i, k->c[i], n);
}

static void by_effect(const struct cpu_sample *k, struct dl_taped *a,
                      enum dl_cpu_effect i) {
  *a = dl_taped_times(k->tape, *a, (size_t)DL_N_CPU + i, exp(k->fx[i]), 1);
}

static void by_clock(const struct cpu_sample *k, struct dl_taped *a) {
  if (k->in->client)
    by(k, a, DL_CPU_CLOCK, -1);
}

/* The constant of the software, of a row of three; only for software that is
 * not tuned. */
static size_t own(const struct cpu_sample *k, enum dl_cpu_constant first) {
  return (size_t)first + (size_t)k->in->software - 1;
}

static struct dl_taped products(const struct cpu_sample *k) {
  const struct dl_cpu_inputs *l = k->in;
  double flop = 2 * l->macs;
  struct dl_taped t = dl_taped_of(flop * (1 - l->depthwise) / l->matrix);
  by(k, &t, (size_t)l->matrix_share, -1);
  if (l->depthwise > 0) {
    struct dl_taped more = dl_taped_of(flop * l->depthwise / l->vector);
    by(k, &more, (size_t)l->vector_share, -1);
    t = dl_taped_sum(t, more);
  }
  by_clock(k, &t);
  if (l->software != DL_CPU_TUNED)
    by(k, &t, own(k, l->bytes > 1 ? DL_CPU_SHARE_FLOAT : DL_CPU_SHARE_INT8),
       -1);
  return t;
}

static struct dl_taped elements(const struct cpu_sample *k) {
  const struct dl_cpu_inputs *l = k->in;
  struct dl_taped t = dl_taped_of(l->activations * l->bytes / l->vector_bytes);
  by(k, &t, DL_CPU_ELEMENTS, 1);
  by_clock(k, &t);
  if (l->software != DL_CPU_TUNED)
    by(k, &t, own(k, DL_CPU_SOFTWARE_ELEMENTS), 1);
  return t;
}

static void sample_of(struct cpu_sample *r, const double *c, const double *fx,
                      const struct dl_cpu_inputs *in, struct dl_tape *tape) {
  *r = (struct cpu_sample){.c = c, .fx = fx, .in = in, .tape = tape};
  r->compute = products(r);
  r->elements = elements(r);
  r->memory =
      dl_taped_of(in->bytes * in->weights / (in->batch * in->bandwidth));
  by(r, &r->memory,
     in->software == DL_CPU_TUNED ? DL_CPU_MEMORY : DL_CPU_MEMORY_PLAIN, -1);
  r->layers = dl_taped_of(0);
  if (in->software != DL_CPU_TUNED) {
    struct dl_taped pass = dl_taped_of(1 / (in->batch * in->streams));
    r->layers = dl_taped_scaled(pass, in->layers);
    by(r, &r->layers, own(r, DL_CPU_LAYER), 1);
    by(r, &pass, DL_CPU_PASS, 1);
    r->layers = dl_taped_sum(r->layers, pass);
  }
  struct dl_taped *const part[] = {&r->compute, &r->elements, &r->memory,
                                   &r->layers};
  r->time = dl_taped_of(0);
  for (size_t i = 0; i < DL_LENGTH(part); i++)
    r->time = dl_taped_sum(r->time, *part[i]);
  for (size_t i = 0; i < DL_N_CPU_EFFECTS; i++)
    by_effect(r, &r->time, (enum dl_cpu_effect)i);
}

void dl_cpu_gradient(const double *c, const double *fx, const void *inputs,
                     double *log_target, struct dl_gradient *g) {
  struct dl_tape tape;
  struct cpu_sample r;
  dl_tape_begin(&tape);
  sample_of(&r, c, fx, inputs, g ? &tape : NULL);
  log_target[DL_CPU_TARGET_TIME] = log(r.time.x);
  if (g)
    dl_taped_gradient(r.time, &dl_cpu_physics, &g[DL_CPU_TARGET_TIME]);
}

void dl_cpu_cost_of(const double *c, const double *fx,
                    const struct dl_cpu_inputs *in, struct dl_cpu_cost *cost) {
  static const char *const names[] = {"compute", "elements", "memory",
                                      "layers"};
  struct cpu_sample r;
  sample_of(&r, c, fx, in, NULL);
  double part[] = {r.compute.x, r.elements.x, r.memory.x, r.layers.x};
  double sum = part[0] + part[1] + part[2] + part[3];
  double factor = r.time.x / sum;
  *cost = (struct dl_cpu_cost){
      .time_s = r.time.x,
      .compute_s = factor * part[0],
      .elements_s = factor * part[1],
      .memory_s = factor * part[2],
      .layers_s = factor * part[3],
      .bound = names[gsl_stats_max_index(part, 1, DL_LENGTH(part))],
  };
}
