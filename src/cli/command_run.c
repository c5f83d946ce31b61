/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/utf8.h"

/* One line whatever the text quotes: input may hold line ends and what a
 * terminal acts upon. */
static void print_message(const char *kind, const char *text) {
  struct dl_text clean = {0};
  dl_utf8_clean(&clean, text, false);
  fprintf(stderr, "dlest: %s%s\n", kind, dl_text_str(&clean));
  dl_text_free(&clean);
}

static void print_warning(void *ctx, const char *text) {
  const struct dl_cli *cli = ctx;
  if (!cli->quiet)
    print_message("warning: ", text);
}

/* At exit, so that what argp prints is checked as well. */
void dl_check_stdout(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fprintf(stderr, "dlest: <stdout>: cannot write: %s\n",
          strerror(errno ? errno : EIO));
  _exit(DL_EFAILED);
}

int dl_run_command(const struct dl_command *c, int argc, char **argv) {
  struct dl_cli cli = {0};
  char name[64];
  snprintf(name, sizeof name, "dlest %s", c->name);
  argv[0] = name;
  dl_diag_init(&cli.diag);
  cli.diag.on_warning = print_warning;
  cli.diag.ctx = &cli;
  cli.catalog = dl_catalog_new(dl_datadir());
  enum dl_status status =
      cli.catalog ? c->run(&cli, argc, argv) : dl_fail_memory(&cli.diag);
  if (cli.diag.n_more > 0 && !cli.quiet)
    fprintf(stderr, "dlest: warning: %zu more like these\n", cli.diag.n_more);
  if (cli.diag.n_skipped > 0 && !cli.quiet)
    fprintf(stderr, "dlest: %zu row%s skipped\n", cli.diag.n_skipped,
            cli.diag.n_skipped == 1 ? "" : "s");
  if (status != DL_OK && cli.diag.error)
    print_message("", cli.diag.error);
  if (status == DL_EFAILED && ferror(stdout)) { /* has been reported */
    __fpurge(stdout);
    clearerr(stdout);
  }
  dl_catalog_free(cli.catalog);
  dl_diag_free(&cli.diag);
  return (int)status;
}
