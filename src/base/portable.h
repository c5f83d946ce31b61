/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of Linux or the GNU C library that other systems lack. Nothing else
 * in src calls them (tests/lint/portable.sh); each has a replacement here, or
 * fails as a missing system call does. */

#ifndef DL_BASE_PORTABLE_H
#define DL_BASE_PORTABLE_H

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/* How many threads OpenMP uses, without it one; and sets it. */
int dl_threads(void);
void dl_set_threads(int n);

/* Starts a program, which is searched for in PATH, as posix_spawnp. */
int dl_spawn(pid_t *pid, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attr, char *const argv[]);

/* Descriptors that poll() waits for, which are closed by exec and do not block:
 * the signals of a blocked set (dl_next_signal), and the number of times that a
 * timer has expired. -1 and errno. */
int dl_signal_descriptor(const sigset_t *set);
int dl_timer_descriptor(const struct itimerspec *spec);

/* The signal of a descriptor's next record, 0 without any; `by_process`:
 * whether a process sent it rather than the terminal. */
int dl_next_signal(int fd, bool *by_process);

/* Processes that outlive their parent become children of this process. */
void dl_adopt_orphans(void);

/* The last byte c of n, or NULL. */
const void *dl_last_byte(const void *s, char c, size_t n);

/* A pipe whose ends exec closes. */
bool dl_pipe(int fd[2]);

/* A stream whose bytes a function gives or takes (the other one NULL), which
 * returns how many, 0 at the end or if it cannot. NULL: it cannot be opened. */
FILE *dl_stream(void *ctx, ssize_t (*reads)(void *ctx, char *to, size_t n),
                ssize_t (*writes)(void *ctx, const char *data, size_t n));

/* Forgets what a stream has not written yet. */
void dl_discard_output(FILE *f);

/* A shared library of the system for dlsym(), or NULL. */
void *dl_load_library(const char *name);

/* A function of a shared library, and the pointer that is to hold it. */
struct dl_library_function {
  const char *name;
  void *pointer;
  bool optional; /* the pointer is NULL where the library lacks it */
};

/* Loads the first of the libraries "A|B" that has the n functions, and sets
 * their pointers. The library stays loaded. Returns false where there is
 * none. */
bool dl_load_functions(const char *libraries,
                       const struct dl_library_function *functions, size_t n);

/* The function that comes after this program's own of the name, in a shared
 * library that it is linked with. */
void *dl_next_symbol(const char *name);

#endif
