/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the logs of a training once, or again and again while they grow. */

#include "cli/passes/step_follow.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/spool.h"

/* A log that has not grown for so many epochs, and so long, has ended. */
#define QUIET_EPOCHS 3
#define QUIET_S 60

/* Set by the signal handler, which can only write to a global;
 * read by this file only. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

static enum dl_status read_epochs(struct dl_step_options *o, struct dl_step *s,
                                  struct dl_diag *d) {
  bool table = o->paths.n == 1 && !o->extract.log.from &&
               dl_epoch_series_is_table(o->paths.s[0], o->energy_column);
  enum dl_status status =
      table ? dl_epoch_series_from_table(&s->seen, o->paths.s[0],
                                         o->energy_column, &o->where, d)
            : dl_epoch_series_from_logs(&s->seen, o->paths.s, o->paths.n,
                                        &o->extract,
                                        o->stabilise == DL_STABLE_FLUSS, d);
  if (status == DL_OK && !table && (o->where.n > 0 || o->energy_column))
    status = dl_fail(d, DL_EUSAGE,
                     "--where and --energy-column are for tables of epochs");
  if (status == DL_OK && table && o->log_options)
    status = dl_fail(d, DL_EUSAGE,
                     "--interval, --epoch-length, --truncate-watts and "
                     "--drop-last are for power logs");
  if (status == DL_OK && table && o->stabilise == DL_STABLE_FLUSS)
    status = dl_fail(d, DL_EUSAGE, "--stabilise fluss needs a power log");
  return status;
}

/* The epoch that dlest's own method projects from. */
static enum dl_status find_stable(const struct dl_measured_epochs *seen,
                                  struct dl_projection_options *p,
                                  struct dl_diag *d) {
  struct dl_projection own;
  DL_TRY(dl_project(&own, dl_projector_at(0), seen, p, d));
  if (own.n_stable > 0)
    p->stable = own.stable_from;
  return DL_OK;
}

enum dl_status dl_step_look(struct dl_step_options *o, struct dl_step *s,
                            struct dl_diag *d) {
  struct dl_projection_options p = o->projection;
  *s = (struct dl_step){.input = o->name,
                        .details = o->details,
                        .n_low = p.n_low,
                        .n_high = p.n_high,
                        .coverage = p.coverage,
                        .foot = o->foot};
  enum dl_status status = DL_OK;
  DL_TRY(read_epochs(o, s, d));
  dl_epoch_series_truncate(&s->seen, o->seen);
  struct dl_measured_epochs seen = dl_epoch_series_get(&s->seen);
  p.phase = o->phase;
  if (!isnan(s->seen.regime_s))
    p.stable = dl_epoch_series_find(&s->seen, s->seen.regime_s);
  else if (o->stabilise == DL_STABLE_REGIME)
    status = find_stable(&seen, &p, d);
  s->stable = p.stable;
  for (size_t i = 0; status == DL_OK && i < DL_STEP_METHODS_MAX; i++) {
    const struct dl_projector *by = NULL;
    if (o->n_methods == 0)
      by = dl_projector_at(i);
    else if (i < o->n_methods)
      by = o->method[i];
    if (!by)
      break;
    s->by[s->n] = by;
    status = dl_project(&s->p[s->n++], by, &seen, &p, d);
  }
  if (status != DL_OK)
    dl_epoch_series_free(&s->seen);
  return status;
}

/* The logs that are pipes, as copies, and those that are files. */
struct sources {
  struct dl_spool *pipe; /* owned */
  size_t n_pipes;
  struct stat *file; /* of each path at the last look; owned */
};

/* Puts the paths of the copies in the places of pipes. */
static enum dl_status open_sources(struct sources *p, struct dl_step_options *o,
                                   struct dl_diag *d) {
  bool standard_input = false;
  p->pipe = dl_calloc(o->paths.n, sizeof *p->pipe);
  p->file = dl_calloc(o->paths.n, sizeof *p->file);
  for (size_t i = 0; i < o->paths.n; i++) {
    char **path = &o->paths.s[i];
    bool stdin_again = standard_input && dl_is_stdio(*path);
    standard_input |= dl_is_stdio(*path);
    if (stdin_again)
      return dl_fail(d, DL_EUSAGE, "standard input can be read once");
    if (!dl_is_pipe(*path))
      continue;
    struct dl_spool *s = &p->pipe[p->n_pipes++];
    DL_TRY(dl_spool_open(s, *path, d));
    free(*path);
    *path = dl_strdup(s->path);
  }
  return DL_OK;
}

static void close_sources(struct sources *p) {
  for (size_t i = 0; i < p->n_pipes; i++)
    dl_spool_close(&p->pipe[i]);
  free(p->pipe);
  free(p->file);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Change of the logs since the last look. */
enum change { SAME, GROWN, REPLACED };

static enum change look_at_files(struct sources *p,
                                 const struct dl_step_options *o) {
  enum change change = SAME;
  for (size_t i = 0; i < o->paths.n; i++) {
    struct stat st, *old = &p->file[i];
    if (stat(o->paths.s[i], &st) != 0)
      st = (struct stat){0};
    if (old->st_ino != 0 &&
        (st.st_ino != old->st_ino || st.st_dev != old->st_dev ||
         st.st_size < old->st_size))
      change = REPLACED;
    else if (change == SAME && st.st_size != old->st_size)
      change = GROWN;
    *old = st;
  }
  return change;
}

/* One look whose errors are ignored: the log may have just begun. */
static bool glance(struct dl_step_options *o, struct dl_step *s) {
  DL_SCOPED(dl_diag_free) struct dl_diag d = {0};
  return dl_step_look(o, s, &d) == DL_OK;
}

static void show(const struct dl_cli *cli, const struct dl_step *s) {
  DL_TEXT(t);
  if (cli->quiet)
    return;
  dl_step_line(s, &t);
  fprintf(stderr, "dlest: %s\n", dl_text_str(&t));
}

static double quiet_after(const struct dl_step *s) {
  double longest = 0;
  for (size_t i = 0; i < s->seen.n; i++)
    longest = fmax(longest, s->seen.duration_s[i]);
  return fmax(QUIET_S, QUIET_EPOCHS * longest);
}

/* Waits for more; copies what pipes bring meanwhile. */
static enum dl_status wait_more(struct sources *p, double seconds,
                                struct dl_diag *d) {
  double until = now_s() + seconds, left;
  enum dl_status status = DL_OK;
  while (status == DL_OK && !interrupted && (left = until - now_s()) > 0 &&
         !(p->n_pipes > 0 && dl_spool_ended(p->pipe, p->n_pipes)))
    status = dl_spool_take(p->pipe, p->n_pipes, (int)(left * 1000) + 1, d);
  return status;
}

/* Keeps the last look in *last. A log that was truncated or replaced ends the
 * watch: the epochs that it held before are in that look only (*kept). */
static enum dl_status watch(struct dl_cli *cli, struct dl_step_options *o,
                            struct sources *p, struct dl_step *last,
                            bool *kept) {
  double quiet_since = now_s(), quiet = QUIET_S;
  bool over = false;
  *kept = false;
  while (!over && !interrupted &&
         !(p->n_pipes > 0 && dl_spool_ended(p->pipe, p->n_pipes))) {
    struct dl_step s = {0};
    enum change change = look_at_files(p, o);
    if (change == GROWN && glance(o, &s)) {
      if (s.seen.n < last->seen.n)
        change = REPLACED;
      struct dl_step *old = change == REPLACED ? &s : last;
      dl_epoch_series_free(&old->seen);
      if (change == GROWN) {
        *last = s;
        show(cli, &s);
        quiet = quiet_after(&s);
        over = (double)s.seen.n >= o->projection.n_high;
      }
    }
    if (change == GROWN)
      quiet_since = now_s();
    if (change == REPLACED && last->seen.n > 0) {
      dl_warn_at(&cli->diag, o->name, 0,
                 "truncated or replaced: the projection is based on the %zu "
                 "epochs before",
                 last->seen.n);
      *kept = over = true;
    }
    over = over || now_s() - quiet_since > quiet;
    if (!over)
      DL_TRY(wait_more(p, o->every_s, &cli->diag));
  }
  return DL_OK;
}

static void catch_interrupts(void) {
  struct sigaction action = {.sa_handler = interrupt};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

enum dl_status dl_step_follow(struct dl_cli *cli, struct dl_step_options *o,
                              struct dl_step *s) {
  struct sources p = {0};
  struct dl_step last = {0};
  bool kept = false;
  if (o->follow)
    catch_interrupts(); /* opening a pipe may wait for its writer */
  enum dl_status status = open_sources(&p, o, &cli->diag);
  if (status == DL_OK && o->follow)
    status = watch(cli, o, &p, &last, &kept);
  while (status == DL_OK && !o->follow && !dl_spool_ended(p.pipe, p.n_pipes))
    status = dl_spool_take(p.pipe, p.n_pipes, -1, &cli->diag);
  if (status == DL_OK && kept)
    *s = last;
  else
    dl_epoch_series_free(&last.seen);
  if (status == DL_OK && !kept)
    status = dl_step_look(o, s, &cli->diag);
  close_sources(&p);
  return status;
}
