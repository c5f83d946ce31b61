/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of a recording: a timer, signals, and marks of the program. */

#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/portable.h"
#include "record/marks.h"
#include "record/process_tree.h"

enum { TIMER, SIGNALS, MARKS, N_FDS };

struct recording {
  const struct dl_record_options *o;
  struct dl_sensors *s;
  struct dl_trace *t;
  struct dl_record_result *r;
  struct dl_diag *d;
  struct pollfd fd[N_FDS];
  struct dl_marks marks;
  sigset_t before; /* signals blocked by who started dlest */
  pid_t child;     /* 0: none, or it has ended */
  bool done;
  bool broken;      /* the trace cannot be written */
  int64_t began_ns; /* boot time */
  int64_t wall_ns;  /* at began_ns: later changes of the clock do not count */
  int64_t slept_ns; /* boot time that the monotonic clock does not count */
  struct dl_process_tree tree;
  int64_t tree_ns;             /* of its last reading */
  double own_s, busy_s, cpu_j; /* up to there */
};

/* How often the program's processes are looked at. */
static const int64_t tree_every_ns = INT64_C(1000000000);

static int64_t now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The time of the recording: it goes on while the machine sleeps. */
static int64_t time_ns(const struct recording *c) {
  return c->wall_ns + now_ns(CLOCK_BOOTTIME) - c->began_ns;
}

static enum dl_status open_timer(struct recording *c) {
  double s = c->o->interval_s;
  struct timespec every = {.tv_sec = (time_t)floor(s),
                           .tv_nsec = (long)((s - floor(s)) * 1e9)};
  struct itimerspec spec = {.it_interval = every, .it_value = every};
  int fd = dl_timer_descriptor(&spec);
  if (fd < 0)
    return dl_fail_errno(c->d, "a timer", "cannot open", errno);
  c->fd[TIMER] = (struct pollfd){fd, POLLIN, 0};
  return DL_OK;
}

/* Signals come through a descriptor, in the order of the loop. */
static enum dl_status open_signals(struct recording *c) {
  static const int taken[] = {SIGCHLD, SIGINT, SIGQUIT,
                              SIGTERM, SIGHUP, SIGPIPE};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    sigaddset(&set, taken[i]);
  sigprocmask(SIG_BLOCK, &set, &c->before);
  int fd = dl_signal_descriptor(&set);
  if (fd < 0)
    return dl_fail_errno(c->d, "signals", "cannot open", errno);
  c->fd[SIGNALS] = (struct pollfd){fd, POLLIN, 0};
  return DL_OK;
}

static pid_t program; /* of one recording at a time */

/* A training goes on where memory for its recording runs out, and whoever waits
 * for dlest waits for it. */
static void wait_for_program(void) {
  while (waitpid(program, NULL, 0) < 0 && errno == EINTR) {
  }
}

/* The program gets the signal mask that dlest was started with. */
static enum dl_status start(struct recording *c) {
  posix_spawnattr_t attr;
  posix_spawnattr_init(&attr);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attr, &c->before);
  if (c->o->marks)
    setenv("DLEST_MARKS", c->o->marks, 1);
  dl_adopt_orphans();
  int error = dl_spawn(&c->child, NULL, &attr, c->o->argv);
  posix_spawnattr_destroy(&attr);
  if (error == 0) {
    program = c->child;
    dl_set_before_end(wait_for_program);
    return DL_OK;
  }
  c->child = 0;
  return dl_fail(c->d, DL_EUSAGE, "%s: cannot be started: %s", c->o->argv[0],
                 strerror(error));
}

/* Notes how the program ended, if it has. Others below dlest are waited for,
 * too: processes that the program left, and ipmitool. */
static void reap(struct recording *c, bool wait) {
  int status;
  for (pid_t pid;
       (pid = waitpid(-1, &status, wait && c->child > 0 ? 0 : WNOHANG)) > 0;) {
    if (pid != c->child)
      continue;
    c->child = 0;
    c->done = true;
    c->r->exit_status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

static void take_signals(struct recording *c) {
  bool by_process = false;
  int number;
  while ((number = dl_next_signal(c->fd[SIGNALS].fd, &by_process)) != 0) {
    bool terminal = number == SIGINT || number == SIGQUIT;
    if (number == SIGCHLD) {
      reap(c, false);
    } else if (number == SIGPIPE) {
      continue; /* the reader of the trace has gone: writing says so */
    } else if (c->child == 0) { /* nothing to wait for */
      c->done = c->r->interrupted = true;
    } else if (!terminal || by_process) {
      /* Input typed by the user reaches the program from the terminal. */
      kill(c->child, number);
      c->r->interrupted = true;
    }
  }
}

/* Adds the program's part of the CPUs' energy since the last look, by its part
 * of their work. */
static void share_cpus(struct recording *c, int64_t ns) {
  double cpu_j = 0, own_s, busy_s;
  bool any = false, measured = false;
  if (c->tree.root == 0 || (ns - c->tree_ns < tree_every_ns && !c->done))
    return;
  for (size_t i = 0; i < c->s->n; i++)
    if (c->s->s[i].part == DL_METER_CPU) {
      any = true;
      measured = measured || !c->s->s[i].assumed;
      cpu_j += c->s->s[i].assumed ? 0 : c->s->s[i].used_j;
    }
  c->tree_ns = ns;
  if (!any)
    return;
  if (dl_process_tree_read(&c->tree, &own_s, &busy_s)) {
    double share = fmin(1, own_s / busy_s);
    c->own_s += own_s;
    c->busy_s += busy_s;
    if (measured)
      c->r->own_cpu_j = (isnan(c->r->own_cpu_j) ? 0 : c->r->own_cpu_j) +
                        share * (cpu_j - c->cpu_j);
    c->r->cpu_share = fmin(1, c->own_s / c->busy_s);
    c->r->share_by_group = c->tree.by_group;
  }
  c->cpu_j = cpu_j;
}

/* Seconds that the machine has slept since the last call. */
static double slept(struct recording *c) {
  int64_t before = c->slept_ns;
  c->slept_ns = now_ns(CLOCK_BOOTTIME) - now_ns(CLOCK_MONOTONIC);
  double s = (double)(c->slept_ns - before) * 1e-9;
  return s > 0.5 ? s : 0;
}

/* Adds up the energy of each sensor: by its counter, else by trapezoids over
 * its power. The sum is the node's energy if the node is measured. */
static void integrate(struct recording *c, double seconds) {
  double energy[2] = {0, 0}, power[2] = {0, 0}, assumed_j = NAN;
  bool node = false;
  for (size_t i = 0; i < c->s->n; i++) {
    struct dl_sensor *s = &c->s->s[i];
    bool whole = s->part == DL_METER_NODE;
    double before = s->used_j;
    s->since_s += seconds;
    if (!isnan(s->energy_j))
      s->used_j = s->energy_j;
    else if (!isnan(s->power_w) && !isnan(s->last_w))
      s->used_j += (s->power_w + s->last_w) / 2 * s->since_s;
    if (!isnan(s->power_w)) {
      s->last_w = s->power_w;
      s->since_s = 0;
    }
    if (s->assumed) {
      assumed_j = s->used_j;
      continue;
    }
    node = node || whole;
    energy[whole] += s->used_j;
    if (!isnan(s->last_w))
      power[whole] += s->last_w;
    else if (seconds > 0)
      power[whole] += (s->used_j - before) / seconds;
  }
  c->r->energy_j = energy[node];
  c->r->power_w = power[node];
  c->r->assumed_j = assumed_j;
}

/* A line of the recording. Once that has failed, the program is still waited
 * for. */
static void write_sample(struct recording *c, int64_t ns, double asleep_s) {
  if (c->broken)
    return;
  if (asleep_s > 0)
    dl_trace_comment(c->t, "suspended for %.0f s", asleep_s);
  if (dl_trace_sample(c->t, c->s, ns, c->d) == DL_OK)
    return;
  c->broken = true;
  dl_warn(c->d, "%s", c->d->error);
}

/* Seconds that are left; infinite: until the program ends, or a signal. */
static double left_s(const struct recording *c) {
  double past_s = (double)(time_ns(c) - c->r->start_ns) * 1e-9;
  return fmin(INFINITY, c->o->duration_s - past_s);
}

static bool is_over(const struct recording *c) {
  return left_s(c) <= 0 ||
         (c->o->pid > 0 && kill(c->o->pid, 0) != 0 && errno == ESRCH);
}

/* How long the loop may wait for events, ms. */
static int patience_ms(const struct recording *c) {
  double s = fmin(left_s(c), c->o->pid > 0 ? 1 : INFINITY);
  return isinf(s) ? -1 : (int)ceil(fmin(fmax(s, 0), 1e6) * 1e3);
}

static void sample(struct recording *c) {
  struct dl_record_result *r = c->r;
  int64_t ns = time_ns(c);
  bool first = r->n_samples++ == 0;
  double asleep_s = slept(c), before_j = r->energy_j;
  dl_sensors_read(c->s, c->d);
  if (first) {
    dl_sensors_restart(c->s);
    r->start_ns = r->end_ns = ns;
    asleep_s = 0;
  }
  /* A sleeping machine draws almost nothing, so no power counts for that time.
   */
  integrate(c, fmax(0, (double)(ns - r->end_ns) * 1e-9 - asleep_s));
  r->suspended_s += asleep_s;
  if (c->marks.is_file)
    dl_marks_take(&c->marks, ns);
  dl_phases_add(&c->marks.phases, r->end_ns, ns, r->energy_j - before_j);
  share_cpus(c, ns);
  r->end_ns = ns;
  r->duration_s = (double)(ns - r->start_ns) * 1e-9;
  r->n_epochs = c->marks.n_epochs;
  write_sample(c, ns, asleep_s);
  c->done |= is_over(c);
  if (c->o->tick && !c->done && c->o->tick(c->o->ctx, c->r) && !c->r->stopped) {
    c->r->stopped = true;
    c->done = c->child == 0;
    if (c->child > 0)
      kill(c->child, SIGTERM);
  }
}

static void loop(struct recording *c) {
  sample(c);
  while (!c->done) {
    if (poll(c->fd, N_FDS, patience_ms(c)) < 0 && errno != EINTR)
      break;
    c->done |= is_over(c);
    if (c->fd[MARKS].revents)
      dl_marks_take(&c->marks, time_ns(c));
    if (c->fd[SIGNALS].revents)
      take_signals(c);
    uint64_t expired = 0;
    if (c->fd[TIMER].revents && !c->done &&
        read(c->fd[TIMER].fd, &expired, sizeof expired) == sizeof expired) {
      c->r->n_late += expired > 1;
      sample(c);
    }
  }
  if (c->fd[MARKS].fd >= 0)
    dl_marks_take(&c->marks, time_ns(c));
  sample(c); /* up to the last moment */
  c->r->phases = c->marks.phases;
  c->r->train_samples = c->marks.samples;
  if (c->o->argv && c->o->alone)
    c->r->n_left = dl_process_tree_alive(&c->tree, &c->r->left);
}

static enum dl_status open_all(struct recording *c) {
  enum dl_status status = open_signals(c);
  if (status == DL_OK)
    status = open_timer(c);
  if (status == DL_OK && c->o->marks) {
    status = dl_marks_open(&c->marks, c->o->marks, c->o->epochs, c->d);
    c->fd[MARKS] =
        (struct pollfd){c->marks.is_file ? -1 : c->marks.fd, POLLIN, 0};
  }
  if (status == DL_OK && c->o->argv)
    status = start(c);
  return status;
}

enum dl_status dl_record(const struct dl_record_options *o,
                         struct dl_sensors *s, struct dl_trace *t,
                         struct dl_record_result *result, struct dl_diag *d) {
  struct recording c = {.o = o, .s = s, .t = t, .r = result, .d = d};
  *result = (struct dl_record_result){.assumed_j = NAN,
                                      .cpu_share = NAN,
                                      .own_cpu_j = NAN,
                                      .train_samples = NAN};
  c.marks.fd = -1;
  if (o->alone && (o->argv || o->pid > 0))
    c.tree = (struct dl_process_tree){.root = o->argv ? getpid() : o->pid,
                                      .own = o->argv != NULL,
                                      .sysfs = s->root};
  slept(&c);
  for (size_t i = 0; i < N_FDS; i++)
    c.fd[i] = (struct pollfd){-1, 0, 0};
  c.began_ns = now_ns(CLOCK_BOOTTIME);
  c.wall_ns = now_ns(CLOCK_REALTIME);
  enum dl_status status = open_all(&c);
  if (status == DL_OK)
    loop(&c);
  take_signals(&c);
  reap(&c, true);
  dl_set_before_end(NULL);
  for (size_t i = 0; i < N_FDS; i++)
    if (i != MARKS && c.fd[i].fd >= 0)
      close(c.fd[i].fd);
  if (c.marks.fd >= 0)
    close(c.marks.fd);
  dl_process_tree_free(&c.tree);
  sigprocmask(SIG_SETMASK, &c.before, NULL);
  return status == DL_OK && c.broken ? DL_EFAILED : status;
}
