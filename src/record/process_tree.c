/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows processes by /proc (proc_pid_stat(5), proc_stat(5)). */

#include "record/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

static const int64_t search_every_ns = INT64_C(5000000000);
/* A search may take this share of the time. */
enum { SEARCH_SHARE = 500 };

struct process {
  pid_t pid, parent;
  char state;
  bool helper;    /* ipmitool, which a sensor runs */
  double seconds; /* its own, and of children that it waited for */
};

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool read_process(pid_t pid, struct process *p) {
  char path[64], text[1024];
  unsigned long user, system;
  long child_user, child_system;
  int parent;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  const char *at = strrchr(text, ')'); /* behind the name */
  if (!at || sscanf(at,
                    ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld "
                    "%ld",
                    &p->state, &parent, &user, &system, &child_user,
                    &child_system) != 6)
    return false;
  p->pid = pid;
  p->helper = strstr(text, "(ipmitool)") != NULL;
  p->parent = parent;
  p->seconds = ((double)user + (double)system + (double)child_user +
                (double)child_system) /
               (double)sysconf(_SC_CLK_TCK);
  return true;
}

/* All processes of the machine; NULL: no /proc. */
static struct process *list_processes(size_t *n) {
  struct process *all = NULL;
  size_t cap = 0;
  DIR *folder = opendir("/proc");
  *n = 0;
  for (struct dirent *e; folder && (e = readdir(folder));) {
    long pid = strtol(e->d_name, NULL, 10);
    if (pid <= 0)
      continue;
    DL_GROW(all, cap, *n + 1);
    *n += read_process((pid_t)pid, &all[*n]);
  }
  if (folder)
    closedir(folder);
  return all;
}

static bool is_in(const struct dl_process_tree *t, pid_t pid) {
  for (size_t i = 0; i < t->n; i++)
    if (t->pid[i] == pid)
      return true;
  return false;
}

static void add(struct dl_process_tree *t, pid_t pid) {
  DL_GROW(t->pid, t->cap, t->n + 1);
  t->pid[t->n++] = pid;
}

/* Finds the processes below the root: children of those found, until there are
 * no more. */
static void search(struct dl_process_tree *t) {
  int64_t before = now_ns();
  size_t n, found;
  DL_FREED struct process *all = list_processes(&n);
  t->n = 0;
  if (!t->own)
    add(t, t->root);
  do {
    found = t->n;
    for (size_t i = 0; all && i < n; i++)
      if ((all[i].parent == t->root || is_in(t, all[i].parent)) &&
          all[i].pid != t->root && !is_in(t, all[i].pid))
        add(t, all[i].pid);
  } while (t->n > found);
  t->searched_ns = now_ns();
  t->search_cost_ns = t->searched_ns - before;
}

/* Seconds in which a CPU of the machine was busy. */
static double busy_seconds(void) {
  unsigned long long t[8] = {0};
  FILE *f = fopen("/proc/stat", "re");
  if (!f)
    return NAN;
  int n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1],
                 &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
  fclose(f);
  double ticks = 0;
  for (int i = 0; i < n; i++)
    ticks += i == 3 || i == 4 ? 0 : (double)t[i]; /* idle, iowait */
  return n >= 5 ? ticks / (double)sysconf(_SC_CLK_TCK) : NAN;
}

static double seconds_of(const struct timeval *t) {
  return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static double used_seconds(int who) {
  struct rusage used;
  getrusage(who, &used);
  return seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime);
}

/* CPU time by the processes found. */
static double tree_seconds(const struct dl_process_tree *t) {
  struct process p;
  /* Processes that have ended, and were waited for. */
  double seconds = t->own ? used_seconds(RUSAGE_CHILDREN) : 0;
  for (size_t i = 0; i < t->n; i++)
    if (read_process(t->pid[i], &p))
      seconds += p.seconds;
  return seconds;
}

/* Whether a process has been started below the tree since the last search. */
static bool descends(const struct dl_process_tree *t, pid_t pid) {
  struct process p;
  for (int depth = 0; depth < 64 && pid > 1; depth++, pid = p.parent)
    if (pid == t->root || is_in(t, pid))
      return true;
    else if (!read_process(pid, &p))
      return depth == 0; /* it has ended meanwhile */
  return false;
}

/* Whether the group holds the tree, and no other process but dlest. */
static bool holds_tree(struct dl_process_tree *t) {
  struct dl_cgroup *g = &t->group;
  struct process p;
  bool ok = dl_cgroup_list(g);
  t->with_self = false;
  for (size_t i = 0; ok && i < g->n; i++)
    if (g->pid[i] == getpid())
      t->with_self = true;
    else
      ok = descends(t, g->pid[i]);
  for (size_t i = 0; ok && i < t->n; i++) {
    size_t k = 0;
    while (k < g->n && g->pid[k] != t->pid[i])
      k++;
    ok = k < g->n || !read_process(t->pid[i], &p) || p.state == 'Z';
  }
  return ok;
}

/* Searches for processes; true: from now on times are counted otherwise. */
static bool search_and_choose(struct dl_process_tree *t, bool first) {
  search(t);
  if (first)
    t->by_group = t->sysfs && dl_cgroup_find(&t->group, t->sysfs, t->root);
  bool before = t->by_group;
  t->by_group = before && holds_tree(t);
  return t->by_group != before;
}

static double group_seconds(const struct dl_process_tree *t) {
  return dl_cgroup_seconds(&t->group) -
         (t->with_self ? used_seconds(RUSAGE_SELF) : 0);
}

bool dl_process_tree_read(struct dl_process_tree *t, double *own_s,
                          double *busy_s) {
  int64_t now = now_ns();
  double busy = busy_seconds(), seconds = NAN;
  if (t->root == 0)
    return false;
  bool first = t->searched_ns == 0;
  if (first || (now - t->searched_ns > search_every_ns &&
                now - t->searched_ns > t->search_cost_ns * SEARCH_SHARE))
    first |= search_and_choose(t, first);
  if (t->by_group)
    seconds = group_seconds(t);
  if (isnan(seconds)) { /* the group is gone */
    first |= t->by_group;
    t->by_group = false;
    seconds = tree_seconds(t);
  }
  *own_s = fmax(0, seconds - t->seconds);
  *busy_s = busy - t->busy_s;
  t->seconds = first ? seconds : fmax(seconds, t->seconds);
  t->busy_s = busy;
  return !first && *busy_s > 0;
}

size_t dl_process_tree_alive(struct dl_process_tree *t, pid_t *first) {
  struct process p;
  size_t n = 0;
  search(t);
  for (size_t i = 0; i < t->n; i++)
    if (read_process(t->pid[i], &p) && p.state != 'Z' && !p.helper && n++ == 0)
      *first = p.pid;
  return n;
}

void dl_process_tree_free(struct dl_process_tree *t) {
  free(t->pid);
  dl_cgroup_free(&t->group);
  *t = (struct dl_process_tree){0};
}
