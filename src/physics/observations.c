/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/observations.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct dl_observed *row(const struct dl_observations *o,
                                     size_t i) {
  return o->row[i];
}

/* Mixes the words of the inputs with the multiplier and the shifts of
 * MurmurHash3's finaliser. */
static uint64_t hash(const void *inputs, size_t size, size_t target) {
  uint64_t h = target, word;
  for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
    memcpy(&word, (const char *)inputs + i, sizeof word);
    h = (h ^ word) * 0xff51afd7ed558ccd;
    h ^= h >> 33;
  }
  return h;
}

/* Numbers the configurations in of_run, and returns how many there are; first
 * gets the first run of each, slot (mask + 1 zeros) works. */
static size_t number_runs(size_t *of_run, size_t *first, size_t *slot,
                          size_t mask, const struct dl_physics *physics,
                          const struct dl_observations *o) {
  size_t n = 0, size = physics->input_size;
  for (size_t i = 0; i < o->n; i++) {
    const struct dl_observed *own = row(o, i);
    size_t at = (size_t)hash(own->inputs, size, own->target) & mask, k;
    while ((k = slot[at]) > 0 &&
           (row(o, first[k - 1])->target != own->target ||
            memcmp(row(o, first[k - 1])->inputs, own->inputs, size) != 0))
      at = (at + 1) & mask;
    if (k == 0) {
      first[n] = i;
      slot[at] = k = ++n;
    }
    of_run[i] = k - 1;
  }
  return n;
}

/* Means by configuration and target. */
static bool average(struct dl_configurations *c,
                    const struct dl_physics *physics,
                    const struct dl_observations *o, const size_t *of_run) {
  size_t n_targets = physics->n_targets;
  struct dl_measurement *m = dl_calloc(c->n * n_targets, sizeof *m);
  if (!m)
    return false;
  for (size_t i = 0; i < o->n; i++)
    for (size_t t = 0; t < n_targets; t++) {
      double x = row(o, i)->value[t];
      bool weighs =
          o->weight && (physics->weighted || t == row(o, i)->target);
      double w = weighs ? gsl_vector_get(o->weight, i) : 1;
      if (isnan(x))
        continue;
      m[of_run[i] * n_targets + t].mean += w * x;
      m[of_run[i] * n_targets + t].weight += w;
    }
  for (size_t i = 0; i < c->n * n_targets; i++)
    if (m[i].weight > 0)
      m[c->n_measurements++] = (struct dl_measurement){
          i / n_targets, i % n_targets, m[i].mean / m[i].weight, m[i].weight};
  c->m = m;
  return true;
}

bool dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o) {
  size_t places = 16;
  while (places < 2 * o->n)
    places *= 2;
  size_t *slot = dl_calloc(places, sizeof *slot);
  size_t *first = dl_calloc(o->n, sizeof *first);
  size_t *of_run = dl_calloc(o->n, sizeof *of_run);
  *c = (struct dl_configurations){0};
  bool ok = slot && first && of_run;
  if (ok) {
    c->n = number_runs(of_run, first, slot, places - 1, physics, o);
    c->inputs = dl_calloc(c->n, sizeof *c->inputs);
    c->target = dl_calloc(c->n, sizeof *c->target);
    ok = c->inputs && c->target && average(c, physics, o, of_run);
  }
  for (size_t i = 0; ok && i < c->n; i++) {
    c->inputs[i] = row(o, first[i])->inputs;
    c->target[i] = row(o, first[i])->target;
  }
  free(slot);
  free(first);
  free(of_run);
  return ok;
}

bool dl_configurations_name(struct dl_configurations *c,
                            struct dl_intern *names) {
  c->names = dl_calloc(c->n, sizeof *c->names);
  if (!c->names)
    return false;
  for (size_t i = 0; i < c->n; i++) {
    const struct dl_grouping *inputs = c->inputs[i];
    for (size_t k = 0; k < DL_N_NAMES; k++)
      if (inputs->name[k] && dl_intern(names, inputs->name[k]) < 0)
        return false;
    dl_row_names_find(&c->names[i], names, inputs);
  }
  return true;
}

void dl_configurations_free(struct dl_configurations *c) {
  free((void *)c->inputs);
  free(c->target);
  free(c->m);
  free(c->names);
}
