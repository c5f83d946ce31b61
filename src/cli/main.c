/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest: energy of deep-learning training and inference. */

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "config.h"
#include "output/utf8.h"

#ifdef HAVE_OPENBLAS
void openblas_set_num_threads(int n);
#endif

static const char usage[] =
    "Usage: dlest COMMAND [OPTION...] [ARGUMENT...]\n"
    "How much energy training or running a deep-learning model takes, and how\n"
    "sure that is.\n\nCommands:\n";

static void help(FILE *f) {
  fputs(usage, f);
  for (size_t i = 0; i < dl_command_count(); i++)
    fprintf(f, "  %-10s %s\n", dl_command_at(i)->name,
            dl_command_at(i)->summary);
  fputs("\n'dlest COMMAND --help' tells a command's options.\n"
        "Example: dlest predict --arch resnet50 --gpu a100\n",
        f);
}

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

/* At exit, so that what argp prints is seen to as well. */
static void check_stdout(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fprintf(stderr, "dlest: <stdout>: cannot write: %s\n",
          strerror(errno ? errno : EIO));
  _exit(DL_EFAILED);
}

static int finish(struct dl_cli *cli, enum dl_status status) {
  if (cli->diag.n_more > 0 && !cli->quiet)
    fprintf(stderr, "dlest: warning: %zu more like these\n", cli->diag.n_more);
  if (cli->diag.n_skipped > 0 && !cli->quiet)
    fprintf(stderr, "dlest: %zu row%s skipped\n", cli->diag.n_skipped,
            cli->diag.n_skipped == 1 ? "" : "s");
  if (status != DL_OK && cli->diag.error)
    print_message("", cli->diag.error);
  if (status == DL_EFAILED && ferror(stdout)) { /* has been told */
    __fpurge(stdout);
    clearerr(stdout);
  }
  dl_catalog_free(cli->catalog);
  dl_diag_free(&cli->diag);
  return (int)status;
}

static int run(const struct dl_command *c, int argc, char **argv) {
  struct dl_cli cli = {0};
  char name[64];
  snprintf(name, sizeof name, "dlest %s", c->name);
  argv[0] = name;
  dl_diag_init(&cli.diag);
  cli.diag.on_warning = print_warning;
  cli.diag.ctx = &cli;
  cli.catalog = dl_catalog_new(dl_datadir());
  if (!cli.catalog)
    return finish(&cli, dl_fail_memory(&cli.diag));
  return finish(&cli, c->run(&cli, argc, argv));
}

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "");
  atexit(check_stdout);
  argp_err_exit_status = DL_EUSAGE;
  argp_program_version = "dlest " PACKAGE_VERSION;
  gsl_set_error_handler_off();
#ifdef HAVE_OPENBLAS
  openblas_set_num_threads(1); /* dlest spreads the work itself */
#endif
#ifdef _OPENMP
  /* One thread more than there are processors makes libgomp put idle threads
   * to sleep at once; by default they spin, which on a busy machine takes the
   * processor from those that have work. */
  if (!getenv("OMP_NUM_THREADS"))
    omp_set_num_threads(omp_get_num_procs() + 1);
#endif
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
    return puts(argp_program_version) < 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
      (strcmp(word, "help") == 0 && argc == 2)) {
    help(stdout);
    return DL_OK;
  }
  if (strcmp(word, "help") == 0) {
    char *again[] = {argv[0], argv[2], "--help", NULL};
    return main(3, again);
  }
  const struct dl_command *c = dl_command_find(word);
  if (!c) {
    if (*word)
      fprintf(stderr, "dlest: unknown command '%s'\n", word);
    help(stderr);
    return DL_EUSAGE;
  }
  return run(c, argc - 1, argv + 1);
}
