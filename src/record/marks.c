/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads marks. */

#include "record/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum dl_status dl_marks_open(struct dl_marks *m, const char *path,
                             struct dl_diag *d) {
  m->len = 0;
  /* Open for writing too, so that it never ends. */
  m->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  return m->fd >= 0 ? DL_OK : dl_fail_errno(d, path, "cannot open", errno);
}

/* Whether a line is "epoch N". */
static bool is_epoch(const char *line, const char **number) {
  static const char word[] = "epoch ";
  if (strncmp(line, word, sizeof word - 1) != 0)
    return false;
  *number = line + sizeof word - 1;
  size_t n = strspn(*number, "0123456789");
  return n > 0 && n <= 9 && ((*number)[n] == '\0' || (*number)[n] == '\r');
}

static size_t take_line(struct dl_marks *m, const char *stamp, FILE *epochs) {
  const char *number;
  m->line[m->len] = '\0';
  m->len = 0;
  if (!is_epoch(m->line, &number))
    return 0;
  if (epochs) {
    fprintf(epochs, "%.*s,%s\n", (int)strspn(number, "0123456789"), number,
            stamp);
    fflush(epochs);
  }
  return 1;
}

size_t dl_marks_take(struct dl_marks *m, const char *stamp, FILE *epochs) {
  char buf[4096];
  ssize_t got;
  size_t n = 0;
  while ((got = read(m->fd, buf, sizeof buf)) > 0)
    for (ssize_t i = 0; i < got; i++)
      if (buf[i] == '\n')
        n += take_line(m, stamp, epochs);
      else if (m->len < sizeof m->line - 1)
        m->line[m->len++] = buf[i];
  return n;
}
