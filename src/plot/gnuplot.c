/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/portable.h"
#include "plot/plot.h"

enum { MOST_READ = 4096 }; /* bytes of gnuplot's messages that are read */

/* The last line of gnuplot's messages that is not blank, or NULL; points into
 * buf. */
static char *last_message(FILE *said, char buf[MOST_READ]) {
  rewind(said);
  size_t n = fread(buf, 1, MOST_READ - 1, said);
  buf[n] = '\0';
  char *last = NULL;
  for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n")) {
    line += strspn(line, " \t^");
    if (*line)
      last = line;
  }
  return last;
}

/* Starts gnuplot without the user's settings (-d). Returns an errno value. */
static int start(pid_t *pid, FILE *in, FILE *out, FILE *err) {
  char *const argv[] = {"gnuplot", "-d", NULL};
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed)
    return failed;
  failed = posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
  if (!failed)
    failed = posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
  if (!failed)
    failed = posix_spawn_file_actions_adddup2(&actions, fileno(err), 2);
  if (!failed)
    failed = dl_spawn(pid, &actions, NULL, argv);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

static bool is_empty(FILE *f) {
  struct stat st;
  return fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* Runs gnuplot and waits for it. */
static enum dl_status run(FILE *in, FILE *out, FILE *err, struct dl_diag *d) {
  pid_t pid;
  int failed = start(&pid, in, out, err), how;
  if (failed == ENOENT || failed == ENOTDIR)
    return dl_fail(d, DL_EFAILED,
                   "gnuplot is not installed; install it (Debian: "
                   "gnuplot-nox), or print the script with --script");
  if (failed)
    return dl_fail_errno(d, "gnuplot", "cannot run", failed);
  while (waitpid(pid, &how, 0) < 0)
    if (errno != EINTR)
      return dl_fail_errno(d, "gnuplot", "cannot wait for", errno);
  char buf[MOST_READ];
  const char *said = last_message(err, buf);
  if (WIFSIGNALED(how))
    return dl_fail(d, DL_EFAILED, "gnuplot was ended by signal %d",
                   WTERMSIG(how));
  if (WEXITSTATUS(how) != 0)
    return dl_fail(d, DL_EFAILED, "gnuplot failed: %s",
                   said ? said : "it does not say why");
  if (is_empty(out))
    return dl_fail(d, DL_EFAILED, "gnuplot drew nothing: %s",
                   said ? said : "it does not say why");
  return DL_OK;
}

enum dl_status dl_plot_draw(const char *script, const char *path,
                            struct dl_diag *d) {
  struct dl_output out;
  enum dl_status status = dl_output_open(&out, path, true, d);
  if (status != DL_OK)
    return status;
  FILE *in = tmpfile(), *err = tmpfile();
  if (!in || !err || fputs(script, in) == EOF || fflush(in) != 0)
    status = dl_fail_errno(d, "temporary file", "cannot write", errno);
  if (status == DL_OK) {
    rewind(in);
    status = run(in, out.f, err, d);
  }
  if (in)
    fclose(in);
  if (err)
    fclose(err);
  if (status == DL_OK)
    return dl_output_commit(&out, d);
  dl_output_discard(&out);
  return status;
}
