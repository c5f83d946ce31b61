/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of pipes in temporary files. */

#include "base/file.h"
#include "cli/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_POLLED = 64 };

bool dl_is_pipe(const char *path) {
  struct stat st;
  return dl_is_stdio(path) || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

enum dl_status dl_spool_open(struct dl_spool *s, const char *path,
                             struct dl_diag *d) {
  *s = (struct dl_spool){.fd = -1, .f = tmpfile()};
  if (!s->f)
    return dl_fail_errno(d, "temporary file", "cannot create", errno);
  snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", fileno(s->f));
  s->fd = dl_is_stdio(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  s->ended = s->fd < 0;
  if (s->fd < 0 && errno != EINTR)
    return dl_fail_errno(d, path, "cannot open", errno);
  return DL_OK;
}

static enum dl_status take(struct dl_spool *s, struct dl_diag *d) {
  char buf[1 << 16];
  ssize_t n = read(s->fd, buf, sizeof buf);
  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return DL_OK;
  if (n < 0)
    return dl_fail_errno(d, s->fd == STDIN_FILENO ? "<stdin>" : "pipe",
                         "cannot read", errno);
  s->ended = n == 0;
  if (n > 0 &&
      (fwrite(buf, 1, (size_t)n, s->f) != (size_t)n || fflush(s->f) != 0))
    return dl_fail_errno(d, "temporary file", "cannot write", errno);
  return DL_OK;
}

enum dl_status dl_spool_take(struct dl_spool *s, size_t n, int wait_ms,
                             struct dl_diag *d) {
  struct pollfd fds[MOST_POLLED];
  if (n > MOST_POLLED)
    return dl_fail(d, DL_EUSAGE, "more than %d pipes", MOST_POLLED);
  for (size_t i = 0; i < n; i++)
    fds[i] = (struct pollfd){s[i].ended ? -1 : s[i].fd, POLLIN, 0};
  if (poll(fds, (nfds_t)n, wait_ms) <= 0)
    return DL_OK; /* nothing, or a signal */
  for (size_t i = 0; i < n; i++)
    if (fds[i].revents != 0)
      DL_TRY(take(&s[i], d));
  return DL_OK;
}

bool dl_spool_ended(const struct dl_spool *s, size_t n) {
  size_t i = 0;
  while (i < n && s[i].ended)
    i++;
  return i == n;
}

void dl_spool_close(struct dl_spool *s) {
  if (s->f)
    fclose(s->f);
  if (s->fd > STDIN_FILENO)
    close(s->fd);
}
