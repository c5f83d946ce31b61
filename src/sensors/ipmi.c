/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node's power as its management controller reports it: ipmitool's "dcmi
 * power reading" (IPMI Data Center Manageability Interface 1.5, 6.6.1). That
 * takes tens of milliseconds, so that it runs in parallel with the recording: a
 * sample is the last reading that has come. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/portable.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

/* The first reading has so many ms; later ones fail after as many readings. */
enum { FIRST_MS = 5000, MOST_PENDING = 100, REPLY_SIZE = 2048 };

struct controller {
  int fd; /* ipmitool's output; -1: it is not running */
  pid_t pid;
  size_t len, n_pending;
  char reply[REPLY_SIZE];
  double power_w;
};

/* Starts ipmitool. False: it is not installed, or nothing can be started. */
static bool start(struct controller *c) {
  static char *const argv[] = {"ipmitool", "dcmi", "power", "reading", NULL};
  posix_spawn_file_actions_t actions;
  int pipe_fd[2];
  if (!dl_pipe(pipe_fd))
    return false;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  int error = dl_spawn(&c->pid, &actions, NULL, argv);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fd[1]);
  if (error != 0) {
    close(pipe_fd[0]);
    return false;
  }
  c->fd = pipe_fd[0];
  c->len = c->n_pending = 0;
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  return true;
}

static void stop(struct controller *c) {
  if (c->fd < 0)
    return;
  close(c->fd);
  c->fd = -1;
  while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
  }
}

/* "    Instantaneous power reading:                   220 Watts" */
static double parse(const char *reply) {
  static const char label[] = "Instantaneous power reading:";
  const char *at = strstr(reply, label);
  double x;
  if (!at || strstr(reply, "deactivated"))
    return NAN;
  at += sizeof label - 1;
  at += strspn(at, " ");
  return dl_parse_number(at, strspn(at, "0123456789."), &x) == DL_NUMBER_OK
             ? x
             : NAN;
}

/* Takes what has come. True: the reply is complete, power_w is set. */
static bool take(struct controller *c) {
  ssize_t n;
  while ((n = read(c->fd, c->reply + c->len, REPLY_SIZE - 1 - c->len)) > 0)
    c->len += (size_t)n;
  if (n < 0 && errno == EAGAIN)
    return false;
  c->reply[c->len] = '\0';
  stop(c);
  c->power_w = parse(c->reply);
  return true;
}

static bool read_power(struct dl_sensor *s) {
  struct controller *c = s->state;
  if (c->fd >= 0 && !take(c) && c->n_pending++ > MOST_PENDING)
    return false;
  if (c->fd < 0 && !start(c))
    return false;
  s->power_w = c->power_w;
  return !isnan(s->power_w);
}

static void free_controller(struct dl_sensor *s) {
  DL_FREED struct controller *c = s->state;
  if (c->fd >= 0)
    kill(c->pid, SIGKILL);
  stop(c);
}

/* Waits for the first reading. */
static bool read_first(struct controller *c) {
  struct pollfd p = {c->fd, POLLIN, 0};
  for (bool done = false; !done; done = take(c))
    if (poll(&p, 1, FIRST_MS) <= 0) {
      kill(c->pid, SIGKILL);
      stop(c);
      return false;
    }
  return !isnan(c->power_w);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist devices = {0};
  dl_sysfs_find(s->root, "class/ipmi/ipmi*", &devices);
  bool there = devices.n > 0;
  if (!there || dl_sensors_has(s, kind, DL_METER_NODE))
    return;
  struct controller *c = dl_calloc(1, sizeof *c);
  *c = (struct controller){.fd = -1, .power_w = NAN};
  bool started = start(c);
  if (!started || !read_first(c)) {
    free(c);
    dl_sensors_note(
        s, kind, DL_METER_NODE,
        started ? "'ipmitool dcmi power reading' gave no power; it needs root, "
                  "or a group that may read and write /dev/ipmi0"
                : "the node's power can be read where ipmitool is installed");
    return;
  }
  struct dl_sensor *new = dl_sensors_add(s, kind, DL_METER_NODE);
  new->state = c;
  snprintf(new->name, sizeof new->name, "management controller");
  snprintf(new->id, sizeof new->id, "ipmi0");
}

const struct dl_sensor_kind dl_sensor_ipmi = {
    .name = "ipmi",
    .summary = "the node: management controller, by ipmitool's DCMI",
    .find = find,
    .read = read_power,
    .free = free_controller,
};
