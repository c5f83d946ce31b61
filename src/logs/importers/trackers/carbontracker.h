/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two logs of carbontracker share. */

#ifndef DL_LOGS_IMPORTERS_TRACKERS_CARBONTRACKER_H
#define DL_LOGS_IMPORTERS_TRACKERS_CARBONTRACKER_H

#include "logs/importers/importer.h"

/* A part of a line. */
struct dl_ct_text {
  const char *s;
  size_t len;
};

/* The message of a line, without time, thread and level before it and blanks
 * around it. t->dated is false where the line has no time. */
struct dl_ct_text dl_ct_message(const char *s, size_t len,
                                struct dl_timestamp *t);

/* Takes `word` from the beginning of *m; false where it is not there. */
bool dl_ct_take(struct dl_ct_text *m, const char *word);

/* Whether `test` is true for the message of a whole line of the head. */
bool dl_ct_any(const struct dl_head *head,
               bool (*test)(struct dl_ct_text m, bool dated));

/* From what follows "The following components were found: ": the names of the
 * GPUs, each once, joined with "/", into the run's `gpu`; and whether there
 * are GPUs and CPUs. */
void dl_ct_components(struct dl_ct_text m, struct dl_run *r, bool *gpu,
                      bool *cpu);

#endif
