/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded by tests: clocks that jump some seconds after the program began.
 *
 *   FAKE_CLOCK_AFTER    seconds until then
 *   FAKE_CLOCK_ASLEEP   the machine was suspended for so many s
 *   FAKE_CLOCK_SET      the time of day was set ahead by so many s */

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double setting(const char *name) {
  const char *s = getenv(name);
  return s ? atof(s) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  static time_t start;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  if (start == 0)
    start = now.tv_sec;
  int result = (int)syscall(SYS_clock_gettime, clock, t);
  if ((double)(now.tv_sec - start) < setting("FAKE_CLOCK_AFTER"))
    return result;
  if (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME)
    t->tv_sec += (time_t)setting("FAKE_CLOCK_ASLEEP");
  if (clock == CLOCK_REALTIME)
    t->tv_sec += (time_t)setting("FAKE_CLOCK_SET");
  return result;
}
