/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"

/* A folder of its own, with the FIFO. */
static enum dl_status make_folder(struct dl_record_files *f, const char *marks,
                                  struct dl_diag *d) {
  const char *tmp = getenv("TMPDIR");
  dl_text_printf(&f->folder, "%s/dlest-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(f->folder.s)) {
    int error = errno;
    dl_text_clear(&f->folder);
    return dl_fail_errno(d, tmp && *tmp ? tmp : "/tmp", "cannot write", error);
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

static enum dl_status open_file(FILE **f, const struct dl_text *path, bool new,
                                struct dl_diag *d) {
  *f = fopen(path->s, new ? "wxbe" : "wbe");
  return *f ? DL_OK : dl_fail_errno(d, path->s, "cannot write", errno);
}

static enum dl_status open_trace(struct dl_record_files *f, const char *path,
                                 bool keep, const struct dl_record_job *job,
                                 struct dl_diag *d) {
  enum { TRIES = 100 };
  if (path)
    dl_record_job_path(job, path, &f->trace_path);
  else if (!keep)
    dl_text_printf(&f->trace_path, "%s/trace.csv", f->folder.s);
  if (!path && !keep)
    dl_temporary_add(f->trace_path.s);
  if (path || !keep)
    return open_file(&f->trace, &f->trace_path, false, d);
  for (unsigned i = 0; i < TRIES && !f->trace; i++) {
    default_name(&f->trace_path, job, i);
    f->trace = fopen(dl_text_str(&f->trace_path), "wxbe");
    if (!f->trace && errno != EEXIST)
      break;
  }
  return f->trace ? DL_OK
                  : dl_fail_errno(d, dl_text_str(&f->trace_path),
                                  "cannot write", errno);
}

enum dl_status dl_record_files_open(struct dl_record_files *f, const char *path,
                                    bool keep, const char *marks,
                                    const struct dl_record_job *job,
                                    struct dl_diag *d) {
  DL_TRY(make_folder(f, marks, d));
  DL_TRY(open_trace(f, path, keep, job, d));
  size_t n = f->trace_path.len;
  if (n > 4 && strcmp(f->trace_path.s + n - 4, ".csv") == 0)
    n -= 4;
  dl_text_add_n(&f->epochs_path, f->trace_path.s, n);
  dl_text_add(&f->epochs_path, "-epochs.csv");
  if (!path && !keep)
    dl_temporary_add(f->epochs_path.s);
  DL_TRY(open_file(&f->epochs, &f->epochs_path, false, d));
  fputs("epoch,end_time\n", f->epochs);
  fflush(f->epochs);
  return DL_OK;
}

/* Removes a file; devices and the like, which --trace may name, stay. */
static void remove_file(const char *path) {
  struct stat st;
  if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
    unlink(path);
}

void dl_record_files_close(struct dl_record_files *f, bool keep, bool epochs) {
  if (f->trace)
    fclose(f->trace);
  if (f->epochs)
    fclose(f->epochs);
  if (f->epochs && (!keep || !epochs))
    remove_file(f->epochs_path.s);
  if (f->trace && !keep)
    remove_file(f->trace_path.s);
  if (f->own_marks)
    unlink(f->marks.s);
  if (f->folder.len > 0)
    rmdir(f->folder.s);
  const struct dl_text *const made[] = {&f->trace_path, &f->epochs_path,
                                        &f->folder, &f->marks};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    dl_temporary_forget(made[i]->s);
  dl_text_free(&f->trace_path);
  dl_text_free(&f->epochs_path);
  dl_text_free(&f->folder);
  dl_text_free(&f->marks);
}
