/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The status line that dlest record prints while the program runs. */

#ifndef DL_CLI_RECORD_RECORD_LIVE_H
#define DL_CLI_RECORD_RECORD_LIVE_H

#include "cli/passes/step_follow.h"
#include "record/recorder.h"

struct dl_live {
  struct dl_step_options step; /* of the whole training; its paths are the
                                  recording and the epochs that were marked */
  double budget_kwh;           /* INFINITY: none */
  bool stop;                   /* the program, once the budget is exceeded */
  bool quiet, measures;        /* else all energy is assumed */
  struct dl_projection whole;  /* the last one, of the whole training */
  double n_whole;              /* its epochs; 0: none was made yet */
  size_t n_seen;               /* epochs that it is from */

  /* Private. */
  bool terminal, drawn, over;
  int64_t looked_ns, look_cost_ns, wrote_ns;
  size_t n_epochs; /* marked at the last look */
  struct dl_text projected;
};

/* A training of `epochs` epochs (NaN: unknown), recorded in the two files. */
void dl_live_init(struct dl_live *l, double epochs, const char *trace,
                  const char *marks);

/* A line on stderr: on a terminal after each sample, else each minute. True:
 * the program is to be stopped, as even the lower end of the projection is
 * over the budget. For dl_record_options; ctx is a struct dl_live. */
bool dl_live_tick(void *ctx, const struct dl_record_result *so_far);

/* Wipes the line. */
void dl_live_free(struct dl_live *l);

#endif
