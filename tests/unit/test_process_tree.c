/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time of a program by its control group, in a made sysfs, and by its
 * processes. The group's files are written by the test. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/process_tree.h"
#include "unit.h"

static char root[64], group[4200];

static void write_file(const char *folder, const char *name, const char *text) {
  char path[4300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void make_folders(const char *path) {
  char part[4300];
  for (const char *s = path + 1;; s++) {
    if (*s && *s != '/')
      continue;
    snprintf(part, sizeof part, "%.*s", (int)(s - path), path);
    mkdir(part, 0700);
    if (!*s)
      return;
  }
}

/* Makes the control group of this process below a folder. */
static int setup(void **state) {
  (void)state;
  char line[4096], path[4096] = "";
  strcpy(root, "/tmp/test-process-tree-XXXXXX");
  assert_non_null(mkdtemp(root));
  FILE *f = fopen("/proc/self/cgroup", "r");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "0::", 3) == 0) {
      line[strcspn(line, "\n")] = '\0';
      strcpy(path, line + 3);
    }
  if (f)
    fclose(f);
  if (!*path)
    return 0;
  snprintf(group, sizeof group, "%s/fs/cgroup%s", root, path);
  make_folders(group);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

static void use_group(double seconds) {
  char text[64];
  snprintf(text, sizeof text, "usage_usec %.0f\nuser_usec 1\n", seconds * 1e6);
  write_file(group, "cpu.stat", text);
}

static void hold(pid_t a, pid_t b, pid_t c) {
  char text[64];
  snprintf(text, sizeof text, "%d\n%d\n%d\n", (int)a, (int)b, (int)c);
  write_file(group, "cgroup.procs", text);
}

static double own_cpu_s(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static pid_t start_child(void) {
  pid_t pid = fork();
  if (pid == 0)
    for (;;)
      pause();
  return pid;
}

static void end_child(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

/* Ticks of the machine go on while it waits. */
static void wait_ticks(void) {
  struct timespec t = {0, 60000000};
  double until = own_cpu_s() + 0.03;
  while (own_cpu_s() < until)
    ;
  nanosleep(&t, NULL);
}

/* The group's time counts, less that of this process. */
static void by_group(void **state) {
  (void)state;
  double own, busy;
  if (!*group)
    skip(); /* no version 2 here */
  pid_t child = start_child();
  struct dl_process_tree t = {.root = getpid(), .own = true, .sysfs = root};
  use_group(100);
  hold(getpid(), child, child);
  assert_false(dl_process_tree_read(&t, &own, &busy));
  assert_true(t.by_group);
  double before = own_cpu_s();
  wait_ticks();
  use_group(107.5);
  assert_true(dl_process_tree_read(&t, &own, &busy));
  assert_true(fabs(own - (7.5 - (own_cpu_s() - before))) < 0.02);
  dl_process_tree_free(&t);
  end_child(child);
}

/* A process that is not below this one, or one of the tree elsewhere: the
 * processes count, which did nothing. */
static void by_processes(void **state) {
  (void)state;
  if (!*group)
    skip();
  pid_t child = start_child(), other = start_child();
  for (int i = 0; i < 3; i++) {
    struct dl_process_tree t = {.root = getpid(), .own = true, .sysfs = root};
    double own, busy;
    use_group(100);
    if (i == 0)
      hold(getpid(), child, getppid());
    else if (i == 1)
      hold(getpid(), child, child); /* without the other */
    else
      hold(0, child, other); /* 0: of another name space */
    assert_false(dl_process_tree_read(&t, &own, &busy));
    assert_false(t.by_group);
    wait_ticks();
    use_group(107.5);
    assert_true(dl_process_tree_read(&t, &own, &busy));
    assert_true(own < 1);
    dl_process_tree_free(&t);
  }
  end_child(child);
  end_child(other);
}

/* A group that vanishes while it is read. */
static void group_is_gone(void **state) {
  (void)state;
  char path[4300];
  double own, busy;
  if (!*group)
    skip();
  struct dl_process_tree t = {.root = getpid(), .own = true, .sysfs = root};
  use_group(100);
  hold(getpid(), getpid(), getpid());
  dl_process_tree_read(&t, &own, &busy);
  assert_true(t.by_group);
  snprintf(path, sizeof path, "%s/cpu.stat", group);
  unlink(path);
  wait_ticks();
  assert_false(dl_process_tree_read(&t, &own, &busy));
  assert_false(t.by_group);
  wait_ticks();
  assert_true(dl_process_tree_read(&t, &own, &busy));
  assert_true(own < 1);
  dl_process_tree_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(by_group, setup, teardown),
      cmocka_unit_test_setup_teardown(by_processes, setup, teardown),
      cmocka_unit_test_setup_teardown(group_is_gone, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
