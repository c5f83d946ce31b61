/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

static bool is_stdio(const char *path) {
  return !path || strcmp(path, "-") == 0;
}

enum dl_status dl_open_input(FILE **f, const char *path, struct dl_diag *d) {
  *f = NULL;
  if (is_stdio(path)) {
    *f = stdin;
    return DL_OK;
  }
  FILE *in = fopen(path, "rbe");
  if (!in)
    return dl_fail_errno(d, path, "cannot open", errno);
  struct stat st;
  if (fstat(fileno(in), &st) == 0 && S_ISDIR(st.st_mode)) {
    fclose(in);
    return dl_fail_at(d, DL_EINPUT, path, 0, "is a directory");
  }
  *f = in;
  return DL_OK;
}

void dl_close_input(FILE *f) {
  if (f && f != stdin)
    fclose(f);
}

/* A temporary file beside `path`, with the permissions a new file would have:
 * mkostemp's own are for the user alone. */
static enum dl_status open_beside(struct dl_output *o, const char *path,
                                  struct dl_diag *d) {
  struct dl_text temp = {0};
  dl_text_printf(&temp, "%s.XXXXXX", path);
  o->path = dl_strdup(path);
  if (temp.failed || !o->path) {
    dl_text_free(&temp);
    return dl_fail_memory(d);
  }
  int fd = mkostemp(temp.s, O_CLOEXEC);
  if (fd < 0) {
    int err = errno;
    dl_text_free(&temp);
    return dl_fail_errno(d, path, "cannot write", err);
  }
  o->temp = temp.s;
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, 0666 & ~mask) != 0 || !(o->f = fdopen(fd, "wb"))) {
    int err = errno;
    close(fd);
    return dl_fail_errno(d, path, "cannot write", err);
  }
  return DL_OK;
}

/* Devices, pipes and the like are written in place: they cannot be
 * replaced. */
static bool is_special(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

enum dl_status dl_output_open(struct dl_output *o, const char *path, bool spool,
                              struct dl_diag *d) {
  *o = (struct dl_output){0};
  enum dl_status status = DL_OK;
  if (is_stdio(path)) {
    o->spooled = spool;
    o->f = spool ? tmpfile() : stdout;
    if (!o->f)
      status = dl_fail_errno(d, "temporary file", "cannot create", errno);
  } else if (is_special(path)) {
    o->path = dl_strdup(path);
    o->f = fopen(path, "wbe");
    if (!o->f)
      status = dl_fail_errno(d, path, "cannot write", errno);
  } else {
    status = open_beside(o, path, d);
  }
  if (status != DL_OK)
    dl_output_discard(o);
  return status;
}

static enum dl_status copy_to_stdout(FILE *from, struct dl_diag *d) {
  char buf[1 << 16];
  rewind(from);
  for (size_t n; (n = fread(buf, 1, sizeof buf, from)) > 0;)
    if (fwrite(buf, 1, n, stdout) != n)
      return dl_fail_errno(d, "<stdout>", "cannot write", errno);
  if (ferror(from))
    return dl_fail_errno(d, "temporary file", "cannot read", errno);
  return DL_OK;
}

enum dl_status dl_output_commit(struct dl_output *o, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  const char *name = o->path ? o->path : "<stdout>";
  if (o->spooled)
    status = copy_to_stdout(o->f, d);
  FILE *sink = o->spooled ? stdout : o->f;
  if (status == DL_OK && (fflush(sink) != 0 || ferror(sink)))
    status = dl_fail_errno(d, name, "cannot write", errno ? errno : EIO);
  if (status == DL_OK && o->path) {
    FILE *f = o->f;
    o->f = NULL;
    if (fclose(f) != 0 || (o->temp && rename(o->temp, o->path) != 0))
      status = dl_fail_errno(d, name, "cannot write", errno);
    else {
      free(o->temp);
      o->temp = NULL;
    }
  }
  dl_output_discard(o);
  return status;
}

void dl_output_discard(struct dl_output *o) {
  if (o->f && o->f != stdout)
    fclose(o->f);
  if (o->temp)
    unlink(o->temp);
  free(o->temp);
  free(o->path);
  *o = (struct dl_output){0};
}

enum dl_status dl_read_file(const char *path, size_t most, char **data,
                            size_t *len, struct dl_diag *d) {
  FILE *f;
  enum dl_status status = dl_open_input(&f, path, d);
  *data = NULL;
  *len = 0;
  if (status != DL_OK)
    return status;
  struct dl_text t = {0};
  char buf[1 << 15];
  size_t n;
  while ((n = fread(buf, 1, sizeof buf, f)) > 0 && t.len <= most)
    dl_text_add_n(&t, buf, n);
  if (ferror(f))
    status = dl_fail_errno(d, path, "cannot read", errno);
  else if (t.len > most)
    status = dl_fail_at(d, DL_EINPUT, path, 0,
                        "larger than the %zu bytes allowed", most);
  else if (dl_text_add_n(&t, "", 0), t.failed)
    status = dl_fail_memory(d);
  dl_close_input(f);
  if (status != DL_OK) {
    dl_text_free(&t);
    return status;
  }
  *data = t.s;
  *len = t.len;
  return DL_OK;
}
