/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the place of http_server.c where libmicrohttpd is absent. */

#include "record/http_server.h"

enum dl_status dl_http_start(struct dl_http_server **at, const char *address,
                             const struct dl_http_page *pages, void *ctx,
                             struct dl_diag *d) {
  (void)at, (void)address, (void)pages, (void)ctx;
  return dl_fail(d, DL_EUSAGE,
                 "--serve: this dlest was built without libmicrohttpd; install "
                 "it (Debian: libmicrohttpd-dev) and build dlest again");
}

const char *dl_http_url(const struct dl_http_server *s) {
  (void)s;
  return "";
}

bool dl_http_is_local(const struct dl_http_server *s) {
  (void)s;
  return true;
}

void dl_http_stop(struct dl_http_server *s) {
  (void)s;
}
