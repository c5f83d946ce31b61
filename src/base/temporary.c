/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/temporary.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* A handler can reach nothing but globals. */
enum { MOST_TEMPORARY = 8 };
static char *volatile temporary[MOST_TEMPORARY];
static atomic_bool making;

static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,
                             SIGTERM, SIGXCPU, SIGXFSZ};
enum { N_ENDING = sizeof ending / sizeof *ending };

/* A signal may reach another thread while this one makes a file and has all
 * signals blocked: it waits until the file is known. */
void dl_temporary_remove(void) {
  while (making) {
  }
  for (size_t i = MOST_TEMPORARY; i-- > 0;)
    if (temporary[i] && unlink(temporary[i]) != 0)
      rmdir(temporary[i]);
}

/* Deletes the files and ends the process by the signal. SA_RESETHAND would not
 * do: signals often come twice, for the process and for its group, and the
 * second one would end the program in another thread before the files are
 * deleted. */
static void end_by_signal(int number) {
  dl_temporary_remove();
  signal(number, SIG_DFL);
  raise(number);
}

/* Signals that the program handles or ignores are left alone. Libraries may
 * end the program, too. */
static void set_handlers(void) {
  static bool at_exit;
  if (!at_exit)
    at_exit = atexit(dl_temporary_remove) == 0;
  struct sigaction action = {.sa_handler = end_by_signal};
  struct sigaction before;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < N_ENDING; i++)
    if (sigaction(ending[i], NULL, &before) == 0 &&
        before.sa_handler == SIG_DFL)
      sigaction(ending[i], &action, NULL);
}

void dl_temporary_add(char *name) {
  for (size_t i = 0; i < MOST_TEMPORARY; i++)
    if (!temporary[i]) {
      temporary[i] = name;
      break;
    }
}

int dl_temporary_make(char *name) {
  sigset_t signals, before;
  sigemptyset(&signals);
  for (size_t i = 0; i < N_ENDING; i++)
    sigaddset(&signals, ending[i]);
  set_handlers();
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  making = true;
  int fd = mkostemp(name, O_CLOEXEC);
  if (fd >= 0)
    dl_temporary_add(name);
  making = false;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return fd;
}

void dl_temporary_forget(const char *name) {
  for (size_t i = 0; i < MOST_TEMPORARY; i++)
    if (temporary[i] == name)
      temporary[i] = NULL;
}
