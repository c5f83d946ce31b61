/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pipe is kept in a temporary file, so that it can be read as often as it
 * takes. */

#include "cli/passes/step_follow.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* A log that has not grown for so many epochs, and so long, has ended. */
#define QUIET_EPOCHS 3
#define QUIET_S 60

/* Set by the signal handler, which can be given nothing else than a global;
 * read by this file only. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

static enum dl_status read_epochs(struct dl_step_options *o, struct dl_step *s,
                                  struct dl_diag *d) {
  bool table = o->paths.n == 1 && !o->extract.log.from &&
               dl_epoch_series_is_table(o->paths.s[0]);
  enum dl_status status =
      table ? dl_epoch_series_from_table(&s->seen, o->paths.s[0],
                                         o->energy_column, &o->where, d)
            : dl_epoch_series_from_logs(&s->seen, o->paths.s, o->paths.n,
                                        &o->extract,
                                        o->stabilise == DL_STABLE_FLUSS, d);
  if (status == DL_OK && !table && (o->where.n > 0 || o->energy_column))
    status = dl_fail(d, DL_EUSAGE,
                     "--where and --energy-column are for tables of epochs");
  if (status == DL_OK && table && o->stabilise == DL_STABLE_FLUSS)
    status = dl_fail(d, DL_EUSAGE, "--stabilise fluss needs a power log");
  return status;
}

/* The epoch that dlest's own method projects from. */
static enum dl_status find_stable(const struct dl_measured_epochs *seen,
                                  struct dl_projection_options *p,
                                  struct dl_diag *d) {
  struct dl_projection own;
  enum dl_status status = dl_project(&own, dl_projector_at(0), seen, p, d);
  if (status == DL_OK && own.n_stable > 0)
    p->stable = own.stable_from;
  return status;
}

/* Reads the logs as they are now, and projects. Frees s->seen after a
 * failure. */
static enum dl_status look(struct dl_step_options *o, struct dl_step *s,
                           struct dl_diag *d) {
  struct dl_projection_options p = o->projection;
  *s = (struct dl_step){.input = o->name,
                        .n_low = p.n_low,
                        .n_high = p.n_high,
                        .coverage = p.coverage,
                        .foot = o->foot};
  enum dl_status status = read_epochs(o, s, d);
  if (status != DL_OK)
    return status;
  dl_epoch_series_truncate(&s->seen, o->seen);
  struct dl_measured_epochs seen = dl_epoch_series_get(&s->seen);
  p.phase = o->phase;
  if (!isnan(s->seen.regime_s))
    p.stable = dl_epoch_series_find(&s->seen, s->seen.regime_s);
  else if (o->stabilise == DL_STABLE_REGIME)
    status = find_stable(&seen, &p, d);
  s->stable = p.stable;
  for (size_t i = 0; status == DL_OK && i < DL_STEP_METHODS_MAX; i++) {
    const struct dl_projector *by = o->n_methods == 0  ? dl_projector_at(i)
                                    : i < o->n_methods ? o->method[i]
                                                       : NULL;
    if (!by)
      break;
    s->by[s->n] = by;
    status = dl_project(&s->p[s->n++], by, &seen, &p, d);
  }
  if (status != DL_OK)
    dl_epoch_series_free(&s->seen);
  return status;
}

/* What comes through a pipe. */
struct spool {
  FILE *f; /* NULL: no pipe */
  bool ended;
};

/* Takes what is there within `wait_ms` (-1: until something is). */
static enum dl_status take(struct spool *p, int wait_ms, struct dl_diag *d) {
  struct pollfd fd = {STDIN_FILENO, POLLIN, 0};
  char buf[1 << 16];
  if (poll(&fd, 1, wait_ms) <= 0)
    return DL_OK; /* nothing, or an interrupt */
  ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
  if (n < 0 && errno != EINTR && errno != EAGAIN)
    return dl_fail_errno(d, "<stdin>", "cannot read", errno);
  p->ended = n == 0;
  if (n > 0 &&
      (fwrite(buf, 1, (size_t)n, p->f) != (size_t)n || fflush(p->f) != 0))
    return dl_fail_errno(d, "temporary file", "cannot write", errno);
  return DL_OK;
}

/* Puts a path for the spooled pipe in the place of "-". */
static enum dl_status open_spool(struct spool *p, struct dl_step_options *o,
                                 struct dl_diag *d) {
  for (size_t i = 0; i < o->paths.n; i++) {
    if (strcmp(o->paths.s[i], "-") != 0)
      continue;
    if (p->f)
      return dl_fail(d, DL_EUSAGE, "standard input once only");
    p->f = tmpfile();
    if (!p->f)
      return dl_fail_errno(d, "temporary file", "cannot create", errno);
    struct dl_text t = {0};
    dl_text_printf(&t, "/proc/self/fd/%d", fileno(p->f));
    if (t.failed)
      return dl_fail_memory(d);
    free(o->paths.s[i]);
    o->paths.s[i] = t.s;
  }
  return DL_OK;
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t size_of(const struct dl_step_options *o) {
  size_t sum = 0;
  struct stat st;
  for (size_t i = 0; i < o->paths.n; i++)
    if (stat(o->paths.s[i], &st) == 0)
      sum += (size_t)st.st_size;
  return sum;
}

/* One look whose complaints do not count: the log may have just begun. */
static bool glance(struct dl_step_options *o, struct dl_step *s) {
  struct dl_diag d;
  dl_diag_init(&d);
  enum dl_status status = look(o, s, &d);
  dl_diag_free(&d);
  return status == DL_OK;
}

static void show(const struct dl_cli *cli, const struct dl_step *s) {
  struct dl_text t = {0};
  if (cli->quiet)
    return;
  dl_step_line(s, &t);
  fprintf(stderr, "dlest: %s\n", dl_text_str(&t));
  dl_text_free(&t);
}

static double quiet_after(const struct dl_step *s) {
  double longest = 0;
  for (size_t i = 0; i < s->seen.n; i++)
    longest = fmax(longest, s->seen.duration_s[i]);
  return fmax(QUIET_S, QUIET_EPOCHS * longest);
}

/* Waits for more; what a pipe brings meanwhile is taken. */
static enum dl_status wait_more(struct spool *p, double seconds,
                                struct dl_diag *d) {
  double until = now_s() + seconds;
  enum dl_status status = DL_OK;
  while (status == DL_OK && !interrupted && !p->ended) {
    double left = until - now_s();
    if (left <= 0)
      break;
    if (p->f) {
      status = take(p, (int)(left * 1000) + 1, d);
    } else {
      struct timespec t = {(time_t)left, (long)((left - floor(left)) * 1e9)};
      nanosleep(&t, NULL); /* an interrupt ends it, which is what is meant */
    }
  }
  return status;
}

static enum dl_status watch(struct dl_cli *cli, struct dl_step_options *o,
                            struct spool *p) {
  double quiet_since = now_s(), quiet = QUIET_S;
  size_t size = 0;
  bool over = false;
  enum dl_status status = DL_OK;
  while (status == DL_OK && !over && !interrupted && !p->ended) {
    struct dl_step s = {0};
    if (size_of(o) != size) {
      size = size_of(o);
      quiet_since = now_s();
      if (glance(o, &s)) {
        show(cli, &s);
        quiet = quiet_after(&s);
        over = (double)s.seen.n >= o->projection.n_high;
        dl_epoch_series_free(&s.seen);
      }
    }
    over = over || now_s() - quiet_since > quiet;
    if (!over)
      status = wait_more(p, o->every_s, &cli->diag);
  }
  return status;
}

static void catch_interrupts(void) {
  struct sigaction action = {.sa_handler = interrupt};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

enum dl_status dl_step_follow(struct dl_cli *cli, struct dl_step_options *o,
                              struct dl_step *s) {
  struct spool p = {0};
  enum dl_status status = open_spool(&p, o, &cli->diag);
  if (status == DL_OK && o->follow) {
    catch_interrupts();
    status = watch(cli, o, &p);
  }
  while (status == DL_OK && p.f && !p.ended && !o->follow)
    status = take(&p, -1, &cli->diag);
  if (status == DL_OK)
    status = look(o, s, &cli->diag);
  if (p.f)
    fclose(p.f);
  return status;
}
