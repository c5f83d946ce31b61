/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of dlest record --serve: a live page, its figures as JSON, and
 * metrics for Prometheus. */

#ifndef DL_CLI_RECORD_RECORD_PAGE_H
#define DL_CLI_RECORD_RECORD_PAGE_H

#include "cli/options/site_options.h"
#include "cli/record/record_job.h"
#include "cli/record/record_live.h"
#include "record/http_server.h"
#include "record/recorder.h"

/* The recorded run; all is borrowed until dl_record_page_free. */
struct dl_record_page_of {
  const char *program, *arch; /* NULL: unknown */
  const struct dl_record_job *job;
  const struct dl_sensors *sensors;
  const struct dl_live *live; /* its projection */
  const struct dl_footprint *foot;
};

struct dl_record_page;

/* Reads the page that ships with dlest. */
enum dl_status dl_record_page_new(struct dl_record_page **at,
                                  const struct dl_record_page_of *of,
                                  struct dl_diag *d);
void dl_record_page_free(struct dl_record_page *p); /* accepts NULL */

/* Takes the figures after a sample, in the thread that records. It never waits
 * for the server's thread: while that copies, a sample is left out. */
void dl_record_page_push(struct dl_record_page *p,
                         const struct dl_record_result *so_far);

/* For dl_http_start, with the page as ctx. */
extern const struct dl_http_page dl_record_pages[];

#endif
