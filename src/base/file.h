/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input files, and output files that are replaced as a whole. */

#ifndef DL_BASE_FILE_H
#define DL_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

/* dl_path_name returns the name of a path without its folders, dl_path_stem the
 * length of a name without its extension. */
const char *dl_path_name(const char *path);
size_t dl_path_stem(const char *name);

/* Whether a path stands for standard input or output: "-" or NULL. */
bool dl_is_stdio(const char *path);

/* Returns the name of an input in messages: "<stdin>" for "-". */
const char *dl_input_name(const char *path);

/* Opens `path` for reading, "-" is stdin. Refuses directories. */
enum dl_status dl_open_input(FILE **f, const char *path, struct dl_diag *d);
void dl_close_input(FILE *f);

/* Opens a file for readers that seek or read twice. A pipe, or another file
 * that is not regular, is first copied to an unnamed temporary file. */
enum dl_status dl_open_seekable(FILE **f, const char *path, struct dl_diag *d);

/* An output is a file that is written under a temporary name beside its place
 * and renamed when complete, or stdout ("-" or NULL). Symbolic links are
 * followed; a file that is replaced hands on its permissions. A signal that
 * ends the program (SIGINT, SIGTERM, SIGPIPE, ...) removes the temporary file
 * first. One thread at a time opens, commits or discards outputs. */
struct dl_output {
  FILE *f;      /* write here */
  char *path;   /* owned; NULL for stdout */
  char *target; /* file that path leads to; owned; NULL where temp is NULL */
  char *temp;   /* owned; NULL for stdout, devices and pipes */
  bool spooled;
};

/* Opens an output. If `spool` is set, stdout receives nothing before
 * dl_output_commit. */
enum dl_status dl_output_open(struct dl_output *o, const char *path, bool spool,
                              struct dl_diag *d);

/* Flushes, checks, syncs to the disk, renames. Frees o in either case. */
enum dl_status dl_output_commit(struct dl_output *o, struct dl_diag *d);

/* Deletes the temporary file. Does nothing on a committed or zeroed output. */
void dl_output_discard(struct dl_output *o);

/* Reads all of a file of at most `most` bytes. *data is owned by the caller
 * and has a NUL behind its *len bytes. */
enum dl_status dl_read_file(const char *path, size_t most, char **data,
                            size_t *len, struct dl_diag *d);

#endif
