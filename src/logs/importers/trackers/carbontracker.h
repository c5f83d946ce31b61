/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for the two logs of carbontracker. */

#ifndef DL_LOGS_IMPORTERS_TRACKERS_CARBONTRACKER_H
#define DL_LOGS_IMPORTERS_TRACKERS_CARBONTRACKER_H

#include "logs/importers/importer.h"

/* The message of a line, without the time, thread and level in front of it and
 * blanks around it; s is modified. t->dated is false if the line has no
 * time. */
char *dl_ct_message(char *s, struct dl_timestamp *t);

/* Skips `word` and blanks after it if *message begins with it. */
bool dl_ct_take(char **message, const char *word);

/* Whether `test` is true for the message of a line of the head. */
bool dl_ct_any(const struct dl_head *head,
               bool (*test)(char *message, bool dated));

/* Reads the text after "The following components were found: ": sets the run's
 * `gpu` to the names of the GPUs, each once, joined with "/", and returns
 * whether there are GPUs and CPUs. */
void dl_ct_components(const char *s, struct dl_run *r, bool *gpu, bool *cpu);

#endif
