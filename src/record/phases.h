/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and energy by phase of a program ("validation"), which it marks. */

#ifndef DL_RECORD_PHASES_H
#define DL_RECORD_PHASES_H

#include <stddef.h>
#include <stdint.h>

enum { DL_PHASES_MAX = 32, DL_PHASE_CHANGES = 64, DL_PHASE_NAME = 48 };

struct dl_phase {
  char name[DL_PHASE_NAME]; /* of the first: "" up to the first mark */
  double seconds, energy_j;
};

/* Start from {0}. */
struct dl_phases {
  struct dl_phase phase[DL_PHASES_MAX];
  size_t n;   /* 0: none was marked */
  size_t now; /* at the last sample */
  /* Changes since the last sample: their times, and the phases that began. */
  int64_t change_ns[DL_PHASE_CHANGES];
  size_t change_to[DL_PHASE_CHANGES], n_changes;
};

/* Another phase begins. Of more names than DL_PHASES_MAX the last ones share a
 * phase. */
void dl_phases_change(struct dl_phases *p, const char *name, int64_t ns);

/* Adds the energy between two samples; changes between them take their part of
 * it by time. */
void dl_phases_add(struct dl_phases *p, int64_t from_ns, int64_t to_ns,
                   double energy_j);

#endif
