/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples sensors at regular times while a program runs. */

#ifndef DL_RECORD_RECORDER_H
#define DL_RECORD_RECORDER_H

#include <sys/types.h>

#include "record/phases.h"
#include "record/trace.h"

struct dl_record_result {
  int64_t start_ns, end_ns; /* of the first and the last sample, since 1970 */
  double duration_s;        /* between them */
  double energy_j;          /* of the node where it has a sensor, else of its
                               parts; without what is assumed */
  double power_w;           /* likewise at the last sample */
  double assumed_j;         /* energy that is assumed, by load and TDP; NaN */
  double cpu_share;         /* of the CPUs' work: the program's, with all that
                               it started; NaN: unknown */
  double own_cpu_j;         /* of the CPUs' energy, by that share; NaN */
  bool share_by_group;      /* counted by the program's control group; else by
                               its processes */
  double suspended_s;       /* the machine slept */
  double train_samples;     /* per epoch, from the marks of the program; NaN */
  struct dl_phases phases;
  size_t n_samples, n_epochs;
  size_t n_late;    /* samples that came an interval late, or more */
  size_t n_left;    /* processes that the program left running, */
  pid_t left;       /* one of them */
  bool interrupted; /* ended by a signal to dlest */
  bool stopped;     /* by dl_record_options.tick */
  int exit_status;  /* of the program that was started, 128 + N where signal N
                     * ended it; else 0 */
};

struct dl_record_options {
  double interval_s; /* > 0 */
  double duration_s; /* NaN: until the program ends, or a signal */
  char *const *argv; /* program to start, NULL-terminated; NULL: none */
  pid_t pid;         /* program to watch; 0: none */
  const char *marks; /* path of a FIFO or file, $DLEST_MARKS of the program, or
                        NULL */
  bool alone;        /* no other program of the node is recorded with it */
  FILE *epochs;      /* where marks of epochs go, as epoch,end_time; or NULL */
  /* Called after each sample; true: the program is to end (SIGTERM), once. May
   * be NULL. */
  bool (*tick)(void *ctx, const struct dl_record_result *so_far);
  void *ctx;
};

/* Records until the end. Sensors have been read once. The program has the
 * terminal, the standard streams and the signals of dlest: SIGINT and SIGQUIT
 * reach both, SIGTERM and SIGHUP are passed on. Errors: DL_EUSAGE, the program
 * cannot be started; DL_EFAILED, the trace cannot be written (the program is
 * waited for nevertheless). */
enum dl_status dl_record(const struct dl_record_options *o,
                         struct dl_sensors *s, struct dl_trace *t,
                         struct dl_record_result *result, struct dl_diag *d);

#endif
