/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a recording: its samples, the ends of its epochs, and the FIFO
 * that the program writes its marks to. */

#ifndef DL_CLI_RECORD_RECORD_FILES_H
#define DL_CLI_RECORD_RECORD_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"
#include "cli/record/record_job.h"

/* Start from {0}, and set the first three. */
struct dl_record_files {
  bool keep;        /* else the recording is removed afterwards */
  bool replace;     /* a file of that name that is not empty */
  const char *name; /* NULL: dlest-DATE-TIME.csv, which is a new file */
  struct dl_text trace_path;                /* as the user named it */
  struct dl_text samples_path, epochs_path; /* where they can be read */
  struct dl_text marks; /* path of the FIFO, or of the file of the user */
  FILE *trace, *epochs;

  /* Private. */
  struct dl_text folder; /* of the FIFO, and of a recording that is not kept */
  bool own_marks;
  int lock;       /* the folder, locked while its recorder lives */
  int own, other; /* of a trace that is a FIFO or a device: the copy that is
                     read, and the place itself; else -1 */
};

/* Opens all. `marks`: a FIFO or file that the program writes to already, or
 * NULL. Errors (DL_EINPUT): the file is there, another recorder writes it, a
 * FIFO has no reader. */
enum dl_status dl_record_files_open(struct dl_record_files *f,
                                    const char *marks,
                                    const struct dl_record_job *job,
                                    struct dl_diag *d);

/* Closes and removes what is not to stay: all without `keep`, and without
 * epochs the file for them. */
void dl_record_files_close(struct dl_record_files *f, bool keep, bool epochs);

#endif
