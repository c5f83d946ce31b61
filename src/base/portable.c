/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/portable.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#endif

int dl_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

void dl_set_threads(int n) {
#ifdef _OPENMP
  omp_set_num_threads(n);
#else
  (void)n;
#endif
}

int dl_spawn(pid_t *pid, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attr, char *const argv[]) {
#ifdef __EMSCRIPTEN__ /* has no processes */
  (void)pid, (void)actions, (void)attr, (void)argv;
  return ENOSYS;
#else
  extern char **environ;
  return posix_spawnp(pid, argv[0], actions, attr, argv, environ);
#endif
}

const void *dl_last_byte(const void *s, char c, size_t n) {
  const char *from = s;
  while (n > 0 && from[n - 1] != c)
    n--;
  return n > 0 ? from + n - 1 : NULL;
}

bool dl_pipe(int fd[2]) {
  if (pipe(fd) != 0)
    return false;
  fcntl(fd[0], F_SETFD, FD_CLOEXEC);
  fcntl(fd[1], F_SETFD, FD_CLOEXEC);
  return true;
}

/* The BSDs have funopen in its place. */
FILE *dl_stream(void *ctx, ssize_t (*reads)(void *ctx, char *to, size_t n),
                ssize_t (*writes)(void *ctx, const char *data, size_t n)) {
  return fopencookie(ctx, reads ? "r" : "w",
                     (cookie_io_functions_t){.read = reads, .write = writes});
}

/* The BSDs have fpurge in its place. */
void dl_discard_output(FILE *f) {
  __fpurge(f);
}

void *dl_load_library(const char *name) {
#ifdef __EMSCRIPTEN__ /* aborts in dlopen */
  (void)name;
  return NULL;
#else
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
#endif
}

static bool has_functions(void *library,
                          const struct dl_library_function *functions,
                          size_t n) {
  for (size_t i = 0; i < n; i++) {
    void *found = dlsym(library, functions[i].name);
    if (!found && !functions[i].optional)
      return false;
    *(void **)functions[i].pointer = found;
  }
  return true;
}

bool dl_load_functions(const char *libraries,
                       const struct dl_library_function *functions, size_t n) {
  for (const char *s = libraries; *s; s += *s == '|') {
    char name[64];
    size_t len = strcspn(s, "|");
    snprintf(name, sizeof name, "%.*s", (int)len, s);
    s += len;
    void *library = dl_load_library(name);
    if (library && has_functions(library, functions, n))
      return true;
    if (library)
      dlclose(library);
  }
  return false;
}

void *dl_next_symbol(const char *name) {
#ifdef RTLD_NEXT
  return dlsym(RTLD_NEXT, name);
#else
  (void)name;
  return NULL;
#endif
}

#ifdef __linux__

int dl_signal_descriptor(const sigset_t *set) {
  return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int dl_next_signal(int fd, bool *by_process) {
  struct signalfd_siginfo info;
  if (read(fd, &info, sizeof info) != sizeof info)
    return 0;
  *by_process = info.ssi_code == SI_USER;
  return (int)info.ssi_signo;
}

int dl_timer_descriptor(const struct itimerspec *spec) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd < 0 || timerfd_settime(fd, 0, spec, NULL) == 0)
    return fd;
  close(fd);
  return -1;
}

void dl_adopt_orphans(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

#else /* nothing can be recorded */

int dl_signal_descriptor(const sigset_t *set) {
  (void)set;
  errno = ENOSYS;
  return -1;
}

int dl_next_signal(int fd, bool *by_process) {
  (void)fd, (void)by_process;
  return 0;
}

int dl_timer_descriptor(const struct itimerspec *spec) {
  (void)spec;
  errno = ENOSYS;
  return -1;
}

void dl_adopt_orphans(void) {
}

#endif
