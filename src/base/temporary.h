/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary files: however the program ends, by itself, by a signal or because
 * memory runs out, none is left behind. */

#ifndef DL_BASE_TEMPORARY_H
#define DL_BASE_TEMPORARY_H

/* Makes a file by mkostemp and returns its descriptor, or -1 and errno. `name`
 * is borrowed until dl_temporary_forget. */
int dl_temporary_make(char *name);

/* Adds a file or a folder that was made otherwise, a folder before its files.
 * `name` is borrowed as above. It is deleted where memory runs out, and by
 * signals once dl_temporary_make was called. */
void dl_temporary_add(char *name);

/* Removes a name from the list: the file was renamed, or deleted. */
void dl_temporary_forget(const char *name);

/* Deletes all files of the list. It is safe in signal handlers. */
void dl_temporary_remove(void);

#endif
