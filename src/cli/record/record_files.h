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

/* Start from {0}. */
struct dl_record_files {
  struct dl_text trace_path, epochs_path;
  struct dl_text marks; /* path of the FIFO, or of the file of the user */
  FILE *trace, *epochs;

  /* Private. */
  struct dl_text folder; /* of the FIFO, and of a recording that is not kept */
  bool own_marks;
};

/* Opens all. `path` of the recording: NULL is dlest-DATE-TIME.csv, which never
 * replaces a file. `keep`: false puts it where it is removed afterwards.
 * `marks`: a FIFO or file that the program writes to already, or NULL. */
enum dl_status dl_record_files_open(struct dl_record_files *f, const char *path,
                                    bool keep, const char *marks,
                                    const struct dl_record_job *job,
                                    struct dl_diag *d);

/* Closes and removes what is not to stay: all without `keep`, and without
 * epochs the file for them. */
void dl_record_files_close(struct dl_record_files *f, bool keep, bool epochs);

#endif
