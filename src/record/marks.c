/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads marks. */

#include "record/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "record/trace.h"

enum dl_status dl_marks_open(struct dl_marks *m, const char *path, FILE *epochs,
                             struct dl_diag *d) {
  struct stat st;
  *m = (struct dl_marks){.epochs = epochs, .samples = NAN};
  /* A FIFO is open for writing too, so that it never ends. */
  m->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (m->fd < 0 || fstat(m->fd, &st) != 0)
    return dl_fail_errno(d, path, "cannot open", errno);
  m->is_file = S_ISREG(st.st_mode);
  if (m->is_file)
    lseek(m->fd, 0, SEEK_END);
  return DL_OK;
}

/* Returns the text behind "WORD " in a line, or NULL. */
static const char *behind(const char *line, const char *word) {
  size_t n = strlen(word);
  return strncmp(line, word, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

static void end_epoch(struct dl_marks *m, const char *number, int64_t ns) {
  size_t n = strspn(number, "0123456789");
  char stamp[DL_STAMP_SIZE];
  if (n == 0 || n > 9 || number[n] != '\0')
    return;
  m->n_epochs++;
  if (!m->epochs)
    return;
  dl_time_stamp(ns, stamp);
  fprintf(m->epochs, "%s,%s\n", number, stamp);
  fflush(m->epochs);
}

/* A name of letters, digits and a few signs: it becomes a cell. */
static bool is_name(const char *s) {
  return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                           "XYZ0123456789_-. ")] == '\0';
}

static bool has_control(const struct dl_marks *m) {
  for (size_t i = 0; i < m->len; i++)
    if ((unsigned char)m->line[i] < ' ' || m->line[i] == 0x7f)
      return true;
  return false;
}

static void take_line(struct dl_marks *m, int64_t ns) {
  const char *text;
  double x;
  bool whole = m->len < sizeof m->line;
  while (m->len > 0 &&
         (m->line[m->len - 1] == '\r' || m->line[m->len - 1] == ' '))
    m->len--;
  m->line[whole && !has_control(m) ? m->len : 0] = '\0';
  m->len = 0;
  if ((text = behind(m->line, "epoch")))
    end_epoch(m, text, ns);
  else if ((text = behind(m->line, "phase")) && is_name(text))
    dl_phases_change(&m->phases, text, ns);
  else if ((text = behind(m->line, "samples")) && dl_parse_double(text, &x) &&
           x > 0)
    m->samples = x;
}

void dl_marks_take(struct dl_marks *m, int64_t ns) {
  char buf[4096];
  ssize_t got;
  while ((got = read(m->fd, buf, sizeof buf)) > 0)
    for (ssize_t i = 0; i < got; i++)
      if (buf[i] == '\n')
        take_line(m, ns);
      else if (m->len < sizeof m->line)
        m->line[m->len++] = buf[i];
}
