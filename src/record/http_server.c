/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/portable.h"

/* The number of connections leaves most descriptors of a process (1024) to the
 * recording. A connection that sends or takes nothing is closed in time. */
enum { CONNECTIONS = 128, TIMEOUT_S = 10, MEMORY_PER_CONNECTION = 16384 };

/* Functions of libmicrohttpd. It is loaded when a page is served: the libraries
 * behind it would be loaded by every command. */
static struct {
  __typeof__(MHD_start_daemon) *start_daemon;
  __typeof__(MHD_stop_daemon) *stop_daemon;
  __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
  __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
  __typeof__(MHD_add_response_header) *add_response_header;
  __typeof__(MHD_queue_response) *queue_response;
  __typeof__(MHD_destroy_response) *destroy_response;
} mhd;

static bool load(void) {
  static const struct dl_library_function functions[] = {
      {"MHD_start_daemon", &mhd.start_daemon, false},
      {"MHD_stop_daemon", &mhd.stop_daemon, false},
      {"MHD_lookup_connection_value", &mhd.lookup_connection_value, false},
      {"MHD_create_response_from_buffer", &mhd.create_response_from_buffer,
       false},
      {"MHD_add_response_header", &mhd.add_response_header, false},
      {"MHD_queue_response", &mhd.queue_response, false},
      {"MHD_destroy_response", &mhd.destroy_response, false}};
  return dl_load_functions("libmicrohttpd.so.12", functions,
                           DL_LENGTH(functions));
}

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

struct dl_http_server {
  struct MHD_Daemon *daemon;
  const struct dl_http_page *pages;
  void *ctx;
  union address address;
  struct dl_text url;
};

static bool is_loopback(const union address *a) {
  if (a->any.sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
  return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool dl_http_is_local(const struct dl_http_server *s) {
  return is_loopback(&s->address);
}

const char *dl_http_url(const struct dl_http_server *s) {
  return dl_text_str(&s->url);
}

/* --- the address */

/* Reads the address in front of a port; an empty one is 127.0.0.1. */
static bool read_host(const char *text, size_t n, uint16_t port,
                      union address *to) {
  char host[INET6_ADDRSTRLEN] = "127.0.0.1";
  bool bracketed = n > 2 && text[0] == '[' && text[n - 1] == ']';
  if (bracketed) {
    text++;
    n -= 2;
  }
  if (n >= sizeof host)
    return false;
  if (n > 0 && !(n == 9 && strncasecmp(text, "localhost", n) == 0)) {
    memcpy(host, text, n);
    host[n] = '\0';
  }
  if (bracketed) {
    to->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                   .sin6_port = htons(port)};
    return inet_pton(AF_INET6, host, &to->v6.sin6_addr) == 1;
  }
  to->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
  return inet_pton(AF_INET, host, &to->v4.sin_addr) == 1;
}

static bool read_address(const char *text, union address *to) {
  const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
  size_t digits = strspn(port, "0123456789");
  if (digits == 0 || digits > 5 || port[digits] || atol(port) > UINT16_MAX)
    return false;
  return read_host(text, colon ? (size_t)(colon - text) : 0,
                   (uint16_t)atol(port), to);
}

/* Opens a socket that listens; -1 with errno. *to gets the chosen port. */
static int listen_at(union address *to) {
  const int on = 1;
  socklen_t size =
      to->any.sa_family == AF_INET6 ? sizeof to->v6 : sizeof to->v4;
  int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, &to->any, size) == 0 && listen(fd, CONNECTIONS) == 0 &&
      getsockname(fd, &to->any, &size) == 0)
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static enum dl_status refuse(const char *address, int error,
                             struct dl_diag *d) {
  const char *remedy =
      error == EADDRINUSE ? "; choose another port, or 0 for any free one" : "";
  if (error == EACCES)
    remedy = "; ports below 1024 may need root: choose another, as 8000";
  if (error == EADDRNOTAVAIL)
    remedy = "; give an address of this machine, or 0.0.0.0 for all";
  return dl_fail(d, DL_EUSAGE, "--serve: %s: %s%s", address, strerror(error),
                 remedy);
}

static void write_url(const union address *a, struct dl_text *to) {
  char host[INET6_ADDRSTRLEN];
  bool v6 = a->any.sa_family == AF_INET6;
  const void *at = v6 ? (const void *)&a->v6.sin6_addr : &a->v4.sin_addr;
  inet_ntop(a->any.sa_family, at, host, sizeof host);
  if (v6)
    dl_text_printf(to, "http://[%s]:%u/", host, ntohs(a->v6.sin6_port));
  else
    dl_text_printf(to, "http://%s:%u/", host, ntohs(a->v4.sin_port));
}

/* --- answers */

/* Whether a Host header is an address or localhost: the names by which a
 * program of this machine reaches the loopback interface. */
static bool is_own_host(const char *host) {
  union address a;
  DL_TEXT(text);
  const char *bracket = strchr(host, ']');
  const bool has_port = strchr(bracket ? bracket : host, ':') != NULL;
  dl_text_printf(&text, "%s%s", host, has_port ? "" : ":80");
  return read_address(dl_text_str(&text), &a);
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned code,
                                 const char *type, struct dl_text *body) {
  /* The library frees the body. */
  struct MHD_Response *r = mhd.create_response_from_buffer(
      body->len, body->s, MHD_RESPMEM_MUST_FREE);
  static const char *const headers[][2] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Content-Security-Policy",
       "default-src 'none'; style-src 'unsafe-inline'; "
       "script-src 'unsafe-inline'; connect-src 'self'"}};
  if (!r)
    return MHD_NO;
  body->s = NULL;
  mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
    mhd.add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  for (size_t i = 0; i < DL_LENGTH(headers); i++)
    mhd.add_response_header(r, headers[i][0], headers[i][1]);
  enum MHD_Result result = mhd.queue_response(c, code, r);
  mhd.destroy_response(r);
  return result;
}

static enum MHD_Result mhd_answer(void *server, struct MHD_Connection *c,
                                  const char *url, const char *method,
                                  const char *version, const char *upload,
                                  size_t *upload_size, void **request) {
  static const char plain[] = "text/plain; charset=utf-8";
  const struct dl_http_server *s = server;
  DL_TEXT(body);
  (void)version, (void)upload, (void)upload_size, (void)request;
  const char *host =
      mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
  if (dl_http_is_local(s) && host && !is_own_host(host)) {
    dl_text_add(&body, "use the address that dlest printed\n");
    return send_text(c, MHD_HTTP_FORBIDDEN, plain, &body);
  }
  if (!dl_is_word(method, "GET") && !dl_is_word(method, "HEAD")) {
    dl_text_add(&body, "only GET and HEAD are answered\n");
    return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, plain, &body);
  }
  for (const struct dl_http_page *p = s->pages; p->path; p++)
    if (strcmp(p->path, url) == 0) {
      p->write(s->ctx, &body);
      return send_text(c, MHD_HTTP_OK, p->type, &body);
    }
  dl_text_add(&body, "not found; there are");
  for (const struct dl_http_page *p = s->pages; p->path; p++)
    dl_text_printf(&body, " %s", p->path);
  dl_text_add(&body, "\n");
  return send_text(c, MHD_HTTP_NOT_FOUND, plain, &body);
}

/* --- start and end */

enum dl_status dl_http_start(struct dl_http_server **at, const char *address,
                             const struct dl_http_page *pages, void *ctx,
                             struct dl_diag *d) {
  union address a;
  sigset_t all, before;
  if (!read_address(address, &a))
    return dl_fail(d, DL_EUSAGE,
                   "--serve: '%s' is no address; give PORT or ADDRESS:PORT, as "
                   "8000, 127.0.0.1:8000 or [::1]:8000",
                   address);
  if (!load())
    return dl_fail(d, DL_EUSAGE,
                   "--serve: libmicrohttpd.so.12 cannot be loaded; install it "
                   "(Debian: libmicrohttpd12)");
  int fd = listen_at(&a);
  if (fd < 0)
    return refuse(address, errno, d);
  struct dl_http_server *s = *at = dl_calloc(1, sizeof *s);
  s->pages = pages;
  s->ctx = ctx;
  s->address = a;
  write_url(&a, &s->url);
  /* Signals are for the thread that records. */
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  s->daemon = mhd.start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, mhd_answer,
      s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_PER_CONNECTION,
      MHD_OPTION_END);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (s->daemon)
    return DL_OK;
  close(fd);
  dl_http_stop(s);
  *at = NULL;
  return dl_fail(d, DL_EFAILED, "--serve: %s: the server cannot be started",
                 address);
}

void dl_http_stop(struct dl_http_server *s) {
  if (!s)
    return;
  if (s->daemon)
    mhd.stop_daemon(s->daemon);
  dl_text_free(&s->url);
  free(s);
}
