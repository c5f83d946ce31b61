/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the processes and nodes of a job dlest record is, as torchrun, Slurm
 * and MPI specify it in environment variables. */

#ifndef DL_CLI_RECORD_RECORD_JOB_H
#define DL_CLI_RECORD_RECORD_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"

struct dl_record_job {
  char host[64];      /* name of the machine, without its domain */
  char id[160];       /* that the recordings of all nodes have in common; "" */
  size_t rank;        /* of this process on its node, from 0 */
  size_t ranks;       /* processes on this node; 1: alone, or unknown */
  size_t node, nodes; /* this one, from 0, of so many */
};

/* Warns where the job has nodes that are not recorded. */
void dl_record_job_find(struct dl_record_job *j, struct dl_diag *d);

/* Adds a path to *to, {host} and {job} in it replaced; NULL: nothing. */
void dl_record_job_path(const struct dl_record_job *j, const char *path,
                        struct dl_text *to);

/* Appends a program's name and arguments, without control characters. */
void dl_record_command_text(char *const *argument, size_t n,
                            struct dl_text *to);

#endif
