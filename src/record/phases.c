/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/phases.h"

#include <stdio.h>
#include <string.h>

void dl_phases_change(struct dl_phases *p, const char *name, int64_t ns) {
  size_t i = 1;
  if (p->n == 0)
    p->n = 1; /* the time before */
  while (i < p->n && strncmp(p->phase[i].name, name, DL_PHASE_NAME - 1) != 0)
    i++;
  if (i == DL_PHASES_MAX)
    i--;
  if (i == p->n) {
    snprintf(p->phase[i].name, DL_PHASE_NAME, "%s", name);
    p->n++;
  }
  if (p->n_changes == DL_PHASE_CHANGES)
    p->n_changes--;
  p->change_ns[p->n_changes] = ns;
  p->change_to[p->n_changes++] = i;
}

static void add(struct dl_phase *p, int64_t ns, int64_t all_ns,
                double energy_j) {
  if (ns <= 0)
    return;
  p->seconds += (double)ns * 1e-9;
  p->energy_j += energy_j * ((double)ns / (double)all_ns);
}

void dl_phases_add(struct dl_phases *p, int64_t from_ns, int64_t to_ns,
                   double energy_j) {
  int64_t at = from_ns;
  for (size_t i = 0; i < p->n_changes; i++) {
    int64_t ns = p->change_ns[i] < to_ns ? p->change_ns[i] : to_ns;
    ns = ns < at ? at : ns;
    add(&p->phase[p->now], ns - at, to_ns - from_ns, energy_j);
    at = ns;
    p->now = p->change_to[i];
  }
  add(&p->phase[p->now], to_ns - at, to_ns - from_ns, energy_j);
  p->n_changes = 0;
}
