/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest: energy of deep-learning training and inference. Finds the command,
 * runs it and prints its messages. */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "base/portable.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/completion/complete.h"
#include "cli/pasted/pasted.h"
#include "cli/spool.h"
#include "cli/version.h"
#include "io/json_read.h"
#include "math/numeric/math_setup.h"
#include "output/formats/table_fit.h"
#include "output/screen.h"

/* Columns by which the second and later lines of a message are indented. */
#define MESSAGE_HANG 2

/* Appends a message that begins in column `at` of a terminal of `width` columns
 * (0: unlimited), broken between words: a name longer than a line stays whole,
 * so that it can be copied. */
static void add_message(struct dl_text *t, const char *message, size_t at,
                        size_t width) {
  size_t room = width > at ? width - at : SIZE_MAX;
  for (;;) {
    size_t n = dl_wrapped_line(message, room, false);
    dl_text_add_n(t, message, n);
    message += n + strspn(message + n, " ");
    if (!*message)
      return;
    dl_text_printf(t, "\n%*s", MESSAGE_HANG, "");
    room = width - MESSAGE_HANG;
  }
}

/* Prints "dlest: KIND TEXT" (KIND: "" or "warning: "), whatever the text
 * quotes: input may hold line ends and control sequences of a terminal. On a
 * terminal the program's name is red in front of an error, and the kind of a
 * warning yellow. */
static void print_message(const char *kind, const char *text) {
  static const char name[] = "dlest:";
  struct dl_screen screen = dl_screen_of(stderr);
  DL_TEXT(line);
  DL_TEXT(clean);
  bool error = kind[0] == '\0';
  size_t n = strcspn(kind, " ");
  dl_screen_add(&line, &screen, error ? DL_RED : NULL, name, strlen(name));
  dl_text_add(&line, " ");
  if (!error)
    dl_screen_add(&line, &screen, DL_MAGENTA, kind, n);
  dl_text_add(&line, kind + n);
  dl_utf8_clean(&clean, text, false);
  add_message(&line, dl_text_str(&clean), sizeof name + strlen(kind),
              screen.width);
  fprintf(stderr, "%s\n", dl_text_str(&line));
}

static void print_warning(void *ctx, const char *text) {
  struct dl_cli *cli = ctx;
  dl_progress_bar_clear(&cli->bar);
  if (!cli->quiet)
    print_message("warning: ", text);
}

/* Ends the program with DL_EFAILED if standard output could not be written,
 * also by --help. */
static void check_end(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fprintf(stderr, "dlest: <stdout>: cannot write: %s\n",
          strerror(errno ? errno : EIO));
  _exit(DL_EFAILED);
}

/* Frees the lists of the command's options. */
static void free_options(const struct dl_command *c, char *options) {
  const struct dl_option_table *t = c->tables;
  for (; options && t && t->option; t++)
    for (const struct dl_option *o = t->option; o->kind != DL_OPTION_END; o++)
      if (o->kind == DL_OPTION_LIST || o->kind == DL_OPTION_WORDS)
        dl_strlist_free((void *)(options + t->offset + o->offset));
  if (options && c->free)
    c->free(options);
  free(options);
}

/* The format that the extension of --output says, unless --format does, and its
 * variant that --spreadsheet-safe requests. */
static enum dl_status choose_format(struct dl_cli *cli) {
  const struct dl_format *of_file =
      cli->output ? dl_format_of_file(cli->output) : NULL;
  const struct dl_command *c = cli->command;
  bool prints = c->prints && dl_cli_given(cli, c->prints);
  if (of_file && c->writes_model && !prints)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--output '%s': it gets the model, which is XML; write the "
                   "report with --format %s to standard output",
                   cli->output, of_file->name);
  if (of_file && !dl_cli_given(cli, "format"))
    cli->format = of_file;
  if (!cli->spreadsheet_safe)
    return DL_OK;
  if (!cli->format->spreadsheet)
    return dl_cli_refuse(cli, "spreadsheet-safe", "without --format csv");
  cli->format = cli->format->spreadsheet;
  return DL_OK;
}

static enum dl_status parse_and_run(struct dl_cli *cli, int argc, char **argv) {
  const struct dl_command *c = cli->command;
  void *options = dl_calloc(1, c->options_size);
  if (c->init)
    c->init(options);
  enum dl_status status = dl_pasted_read(cli, argc, argv, &cli->words);
  cli->argv = dl_calloc(cli->words.n + 1, sizeof *cli->argv);
  if (cli->words.n > 0)
    memcpy(cli->argv, cli->words.s, cli->words.n * sizeof *cli->argv);
  if (status == DL_OK)
    status = dl_cli_parse(cli, (int)cli->words.n, cli->argv, options);
  if (status == DL_OK && cli->read_as.len > 0 && !cli->quiet)
    print_message("note: ", cli->read_as.s);
  if (status == DL_OK && cli->version)
    dl_print_version(stdout);
  else if (status == DL_OK && (cli->help || cli->usage))
    dl_command_help(c, cli->usage);
  else if (status == DL_OK)
    status = choose_format(cli);
  if (status == DL_OK && !cli->version && !cli->help && !cli->usage) {
    dl_progress_bar_init(&cli->bar, cli->quiet);
    cli->progress =
        (struct dl_progress){dl_progress_bar_show, &cli->bar, {0, 1}};
    cli->diag.progress = cli->bar.shown ? &cli->progress : NULL;
    status = c->run(cli, options);
  }
  dl_progress_bar_end(&cli->bar);
  if (status == DL_OK && cli->diag.n_skipped > 0)
    status = DL_EINPUT;
  free_options(c, options);
  return status;
}

/* Returns the exit status. argv[0] is the command's name, which is skipped. */
static int run_command(const struct dl_command *c, int argc, char **argv) {
  struct dl_cli cli = {.command = c, .format = dl_formats[0]};
  cli.diag.on_warning = print_warning;
  cli.diag.ctx = &cli;
  enum dl_status status = parse_and_run(&cli, argc, argv);
  if (cli.diag.n_more > 0 && !cli.quiet)
    fprintf(stderr, "dlest: warning: %zu more like these\n", cli.diag.n_more);
  if (cli.diag.n_skipped > 0 && !cli.quiet)
    fprintf(stderr, "dlest: %zu row%s skipped\n", cli.diag.n_skipped,
            cli.diag.n_skipped == 1 ? "" : "s");
  if (status != DL_OK && cli.diag.error)
    print_message("", cli.diag.error);
  if (status == DL_EFAILED && ferror(stdout)) { /* has been reported */
    dl_discard_output(stdout);
    clearerr(stdout);
  }
  for (size_t i = 0; i < cli.n_spools; i++)
    dl_spool_close(&cli.spool[i]);
  free(cli.spool);
  free(cli.given);
  dl_text_free(&cli.read_as);
  free(cli.argv);
  dl_strlist_free(&cli.words);
  if (cli.catalog)
    dl_catalog_free(cli.catalog);
  dl_diag_free(&cli.diag);
  return status == DL_OK ? cli.exit_status : (int)status;
}

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
  print_message("", dl_text_str(&t));
}

/* Opens the standard streams that are closed, so that no file takes their
 * numbers; reading or writing them fails as before. */
static void guard_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(DL_EFAILED);
}

enum { ASKS_COMMAND, ASKS_VERSION, ASKS_HELP, ASKS_COMPLETION };

/* The meaning of the first word; a command unless it is listed. */
static unsigned meaning_of(const char *word) {
  static const struct dl_named_bits words[] = {
      {"--version", ASKS_VERSION}, {"-V", ASKS_VERSION},
      {"--help", ASKS_HELP},       {"-h", ASKS_HELP},
      {"help", ASKS_HELP},         {"--complete", ASKS_COMPLETION}};
  for (size_t i = 0; i < DL_LENGTH(words); i++)
    if (strcmp(words[i].name, word) == 0)
      return words[i].bits;
  return ASKS_COMMAND;
}

int main(int argc, char **argv) {
  guard_descriptors();
  /* A command's help fits, so that why it could not be written is still known
   * at exit. */
  if (!isatty(STDOUT_FILENO)) {
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  }
  atexit(check_end);
  dl_math_setup();
  dl_json_setup();
  const char *word = argc > 1 ? argv[1] : "";
  switch (meaning_of(word)) {
  case ASKS_VERSION:
    return dl_print_version(stdout), DL_OK;
  case ASKS_HELP:
    if (argc == 2 || *word == '-') {
      help(stdout);
      return DL_OK;
    }
    return main(3, (char *[]){argv[0], argv[2], "--help", NULL});
  case ASKS_COMPLETION:
    return (int)dl_complete(argc - 2, argv + 2);
  case ASKS_COMMAND:
    break;
  }
  const struct dl_command *c = dl_command_find(word);
  if (c)
    return run_command(c, argc - 1, argv + 1);
  if (*word)
    refuse_command(word);
  else
    help(stderr);
  return DL_EUSAGE;
}
