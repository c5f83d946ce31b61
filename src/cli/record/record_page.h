/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of dlest record --serve: a live page, its figures as JSON, and
 * metrics for Prometheus. */

#ifndef DL_CLI_RECORD_RECORD_PAGE_H
#define DL_CLI_RECORD_RECORD_PAGE_H

#include <pthread.h>

#include "cli/record/record_job.h"
#include "cli/record/record_live.h"
#include "record/http_server.h"
#include "record/recorder.h"

enum { DL_PAGE_POINTS = 240 };

/* The figures of a moment, and energy over time in at most DL_PAGE_POINTS
 * points. When they are full every second one is dropped; between two points
 * the power is a mean. */
struct dl_page_state {
  double time_s[DL_PAGE_POINTS], total_j[DL_PAGE_POINTS];
  size_t n;
  double apart_s; /* least time between points */
  double duration_s, energy_j, power_w, assumed_j;
  size_t n_epochs, n_samples;
  struct dl_projection whole; /* of the training, */
  double n_whole;             /* of so many epochs; 0: unknown, */
  size_t n_seen;              /* from so many */
};

/* Start from {0}, and set the first five: the recorded run. */
struct dl_record_page {
  const char *program, *arch; /* NULL: unknown */
  const struct dl_record_job *job;
  const struct dl_sensors *sensors;
  const struct dl_live *live; /* its projection, emission factors and price */

  /* Private. */
  char *html;                /* owned; NULL: the page is not open */
  struct dl_page_state next; /* of the recording thread */
  pthread_mutex_t lock;      /* of the rest */
  struct dl_page_state now;
  struct dl_sensor *copy; /* of the sensors, owned; their state is not theirs */
};

/* Reads the page that ships with dlest. */
enum dl_status dl_record_page_open(struct dl_record_page *p, struct dl_diag *d);
void dl_record_page_close(struct dl_record_page *p);

/* Takes the figures after a sample, in the thread that records. It never waits
 * for the server's thread: while that copies, a sample is left out. */
void dl_record_page_push(struct dl_record_page *p,
                         const struct dl_record_result *so_far);

/* For dl_http_start, with the page as ctx. */
extern const struct dl_http_page dl_record_pages[];

#endif
