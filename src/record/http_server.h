/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server of a few pages by HTTP (libmicrohttpd), in a thread of its own, so
 * that clients never delay the caller. It takes GET and HEAD alone, closes
 * connections that idle, and limits their number. */

#ifndef DL_RECORD_HTTP_SERVER_H
#define DL_RECORD_HTTP_SERVER_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"

struct dl_http_page {
  const char *path, *type; /* "/state.json", "application/json" */
  /* Appends the body; called in the server's thread. */
  void (*write)(void *ctx, struct dl_text *body);
};

struct dl_http_server;

/* Serves the pages, which end with a path of NULL and like ctx must live until
 * dl_http_stop. `address`: "8000" and ":8000" are of 127.0.0.1, others are
 * "ADDRESS:PORT" or "[IPv6]:PORT"; port 0 is any free one. No name is looked
 * up, except localhost. Only if the address is of the loopback interface are
 * requests for other names of hosts refused, which a page of another site may
 * send (DNS rebinding). Errors: DL_EUSAGE, `address` is none, or cannot be
 * listened at, or dlest was built without the library. */
enum dl_status dl_http_start(struct dl_http_server **at, const char *address,
                             const struct dl_http_page *pages, void *ctx,
                             struct dl_diag *d);

/* "http://127.0.0.1:8000/", with the port that was chosen. */
const char *dl_http_url(const struct dl_http_server *s);

/* Whether only programs of this machine can connect. */
bool dl_http_is_local(const struct dl_http_server *s);

/* Closes all connections and ends the thread; accepts NULL. */
void dl_http_stop(struct dl_http_server *s);

#endif
