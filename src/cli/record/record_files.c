/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/portable.h"
#include "base/temporary.h"

/* Name of a recorder's folder, before six random letters. */
#define FOLDER "dlest-record-"

/* Removes the folder of a killed recorder, whose lock is free. */
static void remove_left(const char *path) {
  static const char *const files[] = {"marks", "trace.csv", "trace-epochs.csv"};
  struct stat st;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
      flock(fd, LOCK_EX | LOCK_NB) == 0) {
    for (size_t i = 0; i < DL_LENGTH(files); i++)
      unlinkat(fd, files[i], 0);
    rmdir(path);
  }
  close(fd);
}

static void remove_all_left(const char *tmp) {
  DL_TEXT(pattern);
  glob_t found;
  dl_text_printf(&pattern, "%s/" FOLDER "??????", tmp);
  if (glob(pattern.s, GLOB_NOSORT, NULL, &found) != 0)
    return;
  for (size_t i = 0; i < found.gl_pathc; i++)
    remove_left(found.gl_pathv[i]);
  globfree(&found);
}

/* Makes a folder and locks it; again where another recorder took it for one
 * that was left. */
static bool lock_folder(struct dl_record_files *f, const char *tmp) {
  enum { TRIES = 10 };
  for (int i = 0; i < TRIES; i++) {
    struct stat st;
    dl_text_clear(&f->folder);
    dl_text_printf(&f->folder, "%s/" FOLDER "XXXXXX", tmp);
    if (!mkdtemp(f->folder.s))
      return false;
    f->lock = open(f->folder.s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock >= 0 &&
        (flock(f->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        stat(f->folder.s, &st) == 0)
      return true;
    if (f->lock >= 0)
      close(f->lock);
  }
  return false;
}

/* A folder of its own, with the FIFO. */
static enum dl_status make_folder(struct dl_record_files *f, const char *marks,
                                  struct dl_diag *d) {
  const char *tmp = getenv("TMPDIR");
  tmp = tmp && *tmp ? tmp : "/tmp";
  remove_all_left(tmp);
  if (!lock_folder(f, tmp)) {
    int error = errno;
    dl_text_clear(&f->folder);
    return dl_fail_errno(d, tmp, "cannot write", error);
  }
  dl_temporary_add(f->folder.s);
  if (marks)
    dl_text_add(&f->marks, marks);
  else
    dl_text_printf(&f->marks, "%s/marks", f->folder.s);
  f->own_marks = !marks;
  if (marks)
    return DL_OK;
  dl_temporary_add(f->marks.s);
  return mkfifo(f->marks.s, 0600) == 0
             ? DL_OK
             : dl_fail_errno(d, f->marks.s, "cannot write", errno);
}

/* "dlest-20261122-140509.csv"; of a job of several nodes with the node's name,
 * since they may share the folder. `again`: how many such files are there. */
static void default_name(struct dl_text *to, const struct dl_record_job *job,
                         unsigned again) {
  time_t now = time(NULL);
  struct tm tm;
  char stamp[32];
  localtime_r(&now, &tm);
  strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
  dl_text_clear(to);
  dl_text_printf(to, "dlest-%s", stamp);
  if (job->nodes > 1)
    dl_text_printf(to, "-%s", job->host);
  if (again > 0)
    dl_text_printf(to, "-%u", again + 1);
  dl_text_add(to, ".csv");
}

/* Opens a file of the recording that is new or empty; with `replace` also one
 * that holds something. A lock keeps a second recorder away, where the file
 * system has locks. *fd is -1 for what is no file (a FIFO, a device), with
 * *other. */
static enum dl_status claim(const char *path, bool replace, int *fd, int *other,
                            struct dl_diag *d) {
  struct stat st;
  /* A FIFO is not waited for. */
  int at = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  if (at < 0 && errno == ENXIO)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "a FIFO that no program reads; start its reader first");
  if (at < 0 || fstat(at, &st) != 0)
    return dl_fail_errno(d, path, "cannot write", errno);
  if (!S_ISREG(st.st_mode)) {
    *other = at;
    fcntl(at, F_SETFL, fcntl(at, F_GETFL) & ~O_NONBLOCK);
    return DL_OK;
  }
  if (flock(at, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(at);
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "another dlest record writes this file; give each "
                      "recorder its own, as --trace {job}-{host}.csv");
  }
  if (fstat(at, &st) == 0 && st.st_size > 0 && !replace) {
    close(at);
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "the file exists; choose another name, or replace it "
                      "with --force");
  }
  if (ftruncate(at, 0) != 0) {
    int error = errno;
    close(at);
    return dl_fail_errno(d, path, "cannot write", error);
  }
  *fd = at;
  return DL_OK;
}

static enum dl_status open_file(FILE **f, const char *path, bool replace,
                                struct dl_diag *d) {
  int fd = -1, other = -1;
  DL_TRY(claim(path, replace, &fd, &other, d));
  *f = fdopen(fd >= 0 ? fd : other, "wb");
  return *f ? DL_OK : dl_fail_errno(d, path, "cannot write", errno);
}

/* Writes to the file from which the summary is made and to what --trace names,
 * a FIFO or a device, which cannot be read again. */
static ssize_t write_both(void *cookie, const char *data, size_t n) {
  const struct dl_record_files *f = cookie;
  const int to[] = {f->own, f->other};
  for (size_t i = 0; i < DL_LENGTH(to); i++)
    for (size_t at = 0; at < n;) {
      ssize_t wrote = write(to[i], data + at, n - at);
      if (wrote < 0 && errno != EINTR)
        return 0;
      at += wrote > 0 ? (size_t)wrote : 0;
    }
  return (ssize_t)n;
}

/* The recording in the folder, which is removed. */
static void name_own(struct dl_record_files *f) {
  dl_text_printf(&f->samples_path, "%s/trace.csv", f->folder.s);
  dl_temporary_add(f->samples_path.s);
}

/* --trace: a file, or something else of which there is a copy. */
static enum dl_status open_named(struct dl_record_files *f, bool replace,
                                 struct dl_diag *d) {
  int fd = -1;
  DL_TRY(claim(f->trace_path.s, replace, &fd, &f->other, d));
  if (fd >= 0) {
    dl_text_add(&f->samples_path, f->trace_path.s);
    f->trace = fdopen(fd, "wb");
    return DL_OK;
  }
  name_own(f);
  f->own = open(f->samples_path.s, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (f->own < 0)
    return dl_fail_errno(d, f->samples_path.s, "cannot write", errno);
  f->trace = dl_stream(f, NULL, write_both);
  return DL_OK;
}

static enum dl_status open_trace(struct dl_record_files *f,
                                 const struct dl_record_job *job,
                                 struct dl_diag *d) {
  enum { TRIES = 100 };
  if (f->name) {
    dl_record_job_path(job, f->name, &f->trace_path);
    return open_named(f, f->replace, d);
  }
  if (!f->keep) {
    name_own(f);
    dl_text_add(&f->trace_path, f->samples_path.s);
    return open_file(&f->trace, f->samples_path.s, false, d);
  }
  for (unsigned i = 0; i < TRIES && !f->trace; i++) {
    default_name(&f->trace_path, job, i);
    f->trace = fopen(dl_text_str(&f->trace_path), "wxbe");
    if (!f->trace && errno != EEXIST)
      break;
  }
  dl_text_add(&f->samples_path, f->trace_path.s);
  return f->trace ? DL_OK
                  : dl_fail_errno(d, dl_text_str(&f->trace_path),
                                  "cannot write", errno);
}

enum dl_status dl_record_files_open(struct dl_record_files *f,
                                    const char *marks,
                                    const struct dl_record_job *job,
                                    struct dl_diag *d) {
  f->lock = f->own = f->other = -1;
  DL_TRY(make_folder(f, marks, d));
  DL_TRY(open_trace(f, job, d));
  size_t n = f->samples_path.len;
  if (n > 4 && dl_is_word(f->samples_path.s + n - 4, ".csv"))
    n -= 4;
  dl_text_add_n(&f->epochs_path, f->samples_path.s, n);
  dl_text_add(&f->epochs_path, "-epochs.csv");
  if (strncmp(f->epochs_path.s, f->folder.s, f->folder.len) == 0)
    dl_temporary_add(f->epochs_path.s);
  DL_TRY(open_file(&f->epochs, f->epochs_path.s, f->replace, d));
  fputs("epoch,end_time\n", f->epochs);
  fflush(f->epochs);
  return DL_OK;
}

void dl_record_files_close(struct dl_record_files *f, bool keep, bool epochs) {
  const bool own = f->other >= 0;
  const int fds[] = {f->lock, f->own, f->other};
  if (f->trace)
    fclose(f->trace);
  if (f->epochs)
    fclose(f->epochs);
  if (f->epochs && (!keep || !epochs || own))
    unlink(f->epochs_path.s);
  if (f->trace && (!keep || own))
    unlink(f->samples_path.s);
  if (f->own_marks)
    unlink(f->marks.s);
  if (f->folder.len > 0)
    rmdir(f->folder.s);
  for (size_t i = 0; f->folder.len > 0 && i < DL_LENGTH(fds); i++)
    if (fds[i] >= 0)
      close(fds[i]);
  struct dl_text *const made[] = {&f->trace_path, &f->samples_path,
                                  &f->epochs_path, &f->folder, &f->marks};
  for (size_t i = 0; i < DL_LENGTH(made); i++) {
    dl_temporary_forget(made[i]->s);
    dl_text_free(made[i]);
  }
}
