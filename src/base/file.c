/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input files, and output files that appear whole. */

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/temporary.h"
#include "base/text.h"

const char *dl_path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

size_t dl_path_stem(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

bool dl_is_stdio(const char *path) {
  return !path || (path[0] == '-' && path[1] == '\0');
}

const char *dl_input_name(const char *path) {
  return dl_is_stdio(path) ? "<stdin>" : path;
}

/* Refuses a directory, and names the files in it or below by a pattern. */
static enum dl_status fail_directory(const char *path, struct dl_diag *d) {
  static const char *const forms[] = {"*.csv", "*.?*", "*/*.csv", "*/*.?*",
                                      "*/*/*.csv"};
  DL_TEXT(form);
  size_t n = strlen(path);
  const char *slash = n > 0 && path[n - 1] == '/' ? "" : "/";
  glob_t found = {0};
  for (size_t i = 0; i < 5 && found.gl_pathc == 0; i++) {
    globfree(&found);
    dl_text_clear(&form);
    dl_text_printf(&form, "%s%s%s", path, slash, forms[i]);
    if (glob(form.s, 0, NULL, &found) != 0)
      found.gl_pathc = 0;
  }
  bool has = found.gl_pathc > 0;
  if (has && strchr(form.s, '?')) {
    form.s[form.len -= strlen(".?*")] = '\0';
    dl_text_add(&form, strrchr(found.gl_pathv[0], '.'));
  }
  globfree(&found);
  return dl_fail_at(d, DL_EINPUT, path, 0,
                    has ? "is a directory; give the files in it: %s"
                        : "is a directory",
                    dl_text_str(&form));
}

enum dl_status dl_open_input(FILE **f, const char *path, struct dl_diag *d) {
  *f = NULL;
  if (dl_is_stdio(path)) {
    *f = stdin;
    return DL_OK;
  }
  FILE *in = fopen(path, "rbe");
  if (!in)
    return dl_fail_errno(d, path, "cannot open", errno);
  struct stat st;
  if (fstat(fileno(in), &st) == 0 && S_ISDIR(st.st_mode)) {
    fclose(in);
    return fail_directory(path, d);
  }
  *f = in;
  return DL_OK;
}

void dl_close_input(FILE *f) {
  if (f && f != stdin)
    fclose(f);
}

/* Copies the rest of the input `path`. Errors name the file that fails: the
 * input or `to_path`. */
static enum dl_status copy(FILE *from, const char *path, FILE *to,
                           const char *to_path, struct dl_diag *d) {
  char buf[1 << 15];
  for (size_t n; (n = fread(buf, 1, sizeof buf, from)) > 0;)
    if (fwrite(buf, 1, n, to) != n)
      return dl_fail_errno(d, to_path, "cannot write", errno);
  return ferror(from) ? dl_fail_errno(d, path, "cannot read", errno) : DL_OK;
}

enum dl_status dl_open_seekable(FILE **f, const char *path, struct dl_diag *d) {
  static const char temporary[] = "a temporary file";
  struct stat st;
  DL_TRY(dl_open_input(f, path, d));
  FILE *in = *f;
  if (fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode))
    return DL_OK;
  *f = tmpfile();
  enum dl_status status =
      *f ? copy(in, path, *f, temporary, d)
         : dl_fail_errno(d, temporary, "cannot open", errno);
  dl_close_input(in);
  if (status == DL_OK && fseeko(*f, 0, SEEK_SET) != 0) /* flushes */
    status = dl_fail_errno(d, temporary, "cannot write", errno);
  if (status != DL_OK && *f) {
    fclose(*f);
    *f = NULL;
  }
  return status;
}

static void forget_temporary(struct dl_output *o) {
  dl_temporary_forget(o->temp);
  free(o->temp);
  o->temp = NULL;
}

/* Follows symbolic links from `path` to a file, which need not exist. The
 * caller owns the result; it is NULL, with errno set, on failure. */
static char *follow_links(const char *path) {
  enum { MOST_LINKS = 40 };
  char *at = dl_strdup(path), to[PATH_MAX];
  for (int i = 0;; i++) {
    ssize_t n = readlink(at, to, sizeof to - 1);
    if (n < 0)
      return at;
    to[n] = '\0';
    const char *name = strrchr(at, '/');
    struct dl_text next = {0};
    if (to[0] != '/' && name)
      dl_text_add_n(&next, at, (size_t)(name + 1 - at));
    dl_text_add(&next, to);
    free(at);
    at = next.s;
    if (i == MOST_LINKS) {
      free(at);
      errno = ELOOP;
      return NULL;
    }
  }
}

/* Returns "PATH.XXXXXX", with the name cut to the length that the system
 * allows. */
static char *temporary_name(const char *path) {
  enum { SUFFIX = 7 };
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
  size_t most = folder + NAME_MAX - SUFFIX;
  struct dl_text name = {0};
  dl_text_add_n(&name, path, strnlen(path, most));
  dl_text_add(&name, ".XXXXXX");
  return name.s;
}

/* Gives a temporary file the owner and the permissions of the file that it
 * replaces, or the ones that a new file would have: mkostemp's are for the user
 * alone. */
static int set_mode(int fd, const char *path) {
  struct stat st;
  if (stat(path, &st) == 0) {
    if (fchown(fd, st.st_uid, st.st_gid) != 0)
      errno = 0; /* only some users may give files away */
    return fchmod(fd, st.st_mode & 0777);
  }
  mode_t mask = umask(0);
  umask(mask);
  return fchmod(fd, 0666 & ~mask);
}

static enum dl_status open_beside(struct dl_output *o, struct dl_diag *d) {
  o->target = follow_links(o->path);
  if (!o->target)
    return dl_fail_errno(d, o->path, "cannot write", errno);
  o->temp = temporary_name(o->target);
  int fd = dl_temporary_make(o->temp);
  if (fd < 0) {
    int err = errno;
    free(o->temp); /* it was not made, and needs no deletion */
    o->temp = NULL;
    return dl_fail_errno(d, o->path, "cannot write", err);
  }
  if (set_mode(fd, o->target) != 0 || !(o->f = fdopen(fd, "wb"))) {
    int err = errno;
    close(fd);
    return dl_fail_errno(d, o->path, "cannot write", err);
  }
  return DL_OK;
}

/* Tells whether a path is a device, a pipe or the like, which is written in
 * place because it cannot be replaced. */
static bool is_special(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

enum dl_status dl_output_open(struct dl_output *o, const char *path, bool spool,
                              struct dl_diag *d) {
  *o = (struct dl_output){0};
  enum dl_status status = DL_OK;
  o->path = dl_is_stdio(path) ? NULL : dl_strdup(path);
  if (!o->path) {
    o->spooled = spool;
    o->f = spool ? tmpfile() : stdout;
    if (!o->f)
      status = dl_fail_errno(d, "temporary file", "cannot create", errno);
  } else if (is_special(path)) {
    o->f = fopen(path, "wbe");
    if (!o->f)
      status = dl_fail_errno(d, path, "cannot write", errno);
  } else {
    status = open_beside(o, d);
  }
  if (status != DL_OK)
    dl_output_discard(o);
  return status;
}

/* Puts the temporary file in place once its content is on the disk: after a
 * crash there is the old file or the new one. Closes it in either case. */
static bool put_in_place(struct dl_output *o) {
  int err = fsync(fileno(o->f)) == 0 || errno == EINVAL ? 0 : errno;
  if (fclose(o->f) != 0 && err == 0)
    err = errno;
  o->f = NULL;
  if (err == 0 && rename(o->temp, o->target) != 0)
    err = errno;
  if (err == 0)
    forget_temporary(o);
  errno = err;
  return err == 0;
}

enum dl_status dl_output_commit(struct dl_output *o, struct dl_diag *d) {
  enum dl_status status = DL_OK;
  const char *name = o->path ? o->path : "<stdout>";
  if (o->spooled) {
    rewind(o->f);
    status = copy(o->f, "temporary file", stdout, name, d);
  }
  FILE *sink = o->spooled ? stdout : o->f;
  if (status == DL_OK && (fflush(sink) != 0 || ferror(sink)))
    status = dl_fail_errno(d, name, "cannot write", errno ? errno : EIO);
  if (status == DL_OK && o->temp && !put_in_place(o))
    status = dl_fail_errno(d, name, "cannot write", errno);
  if (status == DL_OK && o->path && o->f) { /* a device or a pipe */
    if (fclose(o->f) != 0)
      status = dl_fail_errno(d, name, "cannot write", errno);
    o->f = NULL;
  }
  dl_output_discard(o);
  return status;
}

void dl_output_discard(struct dl_output *o) {
  if (o->f && o->f != stdout)
    fclose(o->f);
  if (o->temp) {
    unlink(o->temp);
    forget_temporary(o);
  }
  free(o->target);
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
  dl_close_input(f);
  if (status != DL_OK) {
    dl_text_free(&t);
    return status;
  }
  dl_text_add_n(&t, "", 0); /* an empty file has a text, too */
  *data = t.s;
  *len = t.len;
  return DL_OK;
}
