/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts searches of a quantity by its name. The linker puts these functions
 * before the program's own (--wrap); the number is written to the file that
 * COUNTED_SEARCHES names as the program ends. */

#include <stdio.h>
#include <stdlib.h>

#include "catalog/descriptor.h"
#include "quantities/quantities.h"

/* The names that --wrap gives a function of the program and its replacement. */
#define PROGRAMS(name) __asm__("__real_" name)
#define COUNTED(name) __asm__("__wrap_" name)

const struct dl_run_column *own_member(const char *name)
    PROGRAMS("dl_run_member_find");
const struct dl_run_column *own_column(const char *name)
    PROGRAMS("dl_run_column_find");
const struct dl_field *own_field_of(const char *name, enum dl_kind *kind)
    PROGRAMS("dl_field_of");
const struct dl_run_column *counted_member(const char *name)
    COUNTED("dl_run_member_find");
const struct dl_run_column *counted_column(const char *name)
    COUNTED("dl_run_column_find");
const struct dl_field *counted_field_of(const char *name, enum dl_kind *kind)
    COUNTED("dl_field_of");

static unsigned long searches;

__attribute__((destructor)) static void write_count(void) {
  const char *path = getenv("COUNTED_SEARCHES");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (!f)
    return;
  fprintf(f, "%lu\n", searches);
  fclose(f);
}

const struct dl_run_column *counted_member(const char *name) {
  __atomic_add_fetch(&searches, 1, __ATOMIC_RELAXED);
  return own_member(name);
}

const struct dl_run_column *counted_column(const char *name) {
  __atomic_add_fetch(&searches, 1, __ATOMIC_RELAXED);
  return own_column(name);
}

const struct dl_field *counted_field_of(const char *name, enum dl_kind *kind) {
  __atomic_add_fetch(&searches, 1, __ATOMIC_RELAXED);
  return own_field_of(name, kind);
}
