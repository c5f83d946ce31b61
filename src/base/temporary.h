/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary files: however the program ends, by itself, by a signal or because
 * memory runs out, none is left behind. */

#ifndef DL_BASE_TEMPORARY_H
#define DL_BASE_TEMPORARY_H

/* Makes a file by mkostemp and returns its descriptor, or -1 and errno. `name`
 * is borrowed until dl_temporary_forget. */
int dl_temporary_make(char *name);

/* The file stays: it was renamed, or deleted. */
void dl_temporary_forget(const char *name);

/* Deletes all. Safe in signal handlers. */
void dl_temporary_remove(void);

#endif
