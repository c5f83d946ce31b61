/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest: energy of deep-learning training and inference. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest_names.h"
#include "cli/command_run.h"
#include "cli/completion/complete.h"
#include "cli/version.h"
#include "io/json_read.h"
#include "math/numeric/math_setup.h"

static const char usage[] =
    "Usage: dlest COMMAND [OPTION...] [ARGUMENT...]\n"
    "Estimate the energy of training and running deep-learning models.\n\n"
    "Commands:\n";

static void help(FILE *f) {
  fputs(usage, f);
  for (size_t i = 0; dl_commands[i]; i++)
    fprintf(f, "  %-10s %s\n", dl_commands[i]->name, dl_commands[i]->summary);
  fputs("\nRun 'dlest COMMAND --help' for its options.\n"
        "Example: dlest predict --arch resnet50 --gpu a100\n",
        f);
}

static void refuse_command(const char *word) {
  const char *names[DL_MOST_COMMANDS];
  DL_TEXT(t);
  DL_TEXT(near);
  size_t n = 0;
  for (; dl_commands[n]; n++)
    names[n] = dl_commands[n]->name;
  dl_suggest_names(word, names, n, &near);
  dl_text_printf(&t, "unknown command '%s'%s; see 'dlest --help'", word,
                 dl_text_str(&near));
  dl_print_message("", dl_text_str(&t));
}

/* Opens the standard streams that are closed, so that no file takes their
 * numbers; reading or writing them fails as before. */
static void guard_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(DL_EFAILED);
}

int main(int argc, char **argv) {
  guard_descriptors();
  /* A command's help fits, so that why it could not be written is still known
   * at exit. */
  if (!isatty(STDOUT_FILENO)) {
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  }
  atexit(dl_check_end);
  dl_math_setup();
  dl_json_setup();
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
    return dl_print_version(stdout), DL_OK;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
      (strcmp(word, "help") == 0 && argc == 2)) {
    help(stdout);
    return DL_OK;
  }
  if (strcmp(word, "help") == 0) {
    char *again[] = {argv[0], argv[2], "--help", NULL};
    return main(3, again);
  }
  if (strcmp(word, "--complete") == 0)
    return (int)dl_complete(argc - 2, argv + 2);
  const struct dl_command *c = dl_command_find(word);
  if (c)
    return dl_run_command(c, argc - 1, argv + 1);
  if (*word)
    refuse_command(word);
  else
    help(stderr);
  return DL_EUSAGE;
}
