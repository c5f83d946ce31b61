/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one command: parses its options, prints its messages. */

#include "cli/command_run.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/command_line.h"
#include "cli/spool.h"
#include "cli/version.h"
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

/* Prints one message, whatever the text quotes: input may hold line ends and
 * control sequences of a terminal. On a terminal the program's name is red in
 * front of an error, and the kind of a warning yellow. */
void dl_print_message(const char *kind, const char *text) {
  static const char name[] = "dlest:";
  struct dl_screen screen = dl_screen_of(stderr);
  DL_TEXT(line);
  DL_TEXT(clean);
  bool error = kind[0] == '\0';
  size_t n = strcspn(kind, " ");
  dl_screen_add(&line, &screen, error ? DL_RED : NULL, name, strlen(name));
  dl_text_add(&line, " ");
  if (!error)
    dl_screen_add(&line, &screen, DL_YELLOW, kind, n);
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
    dl_print_message("warning: ", text);
}

void dl_check_end(void) {
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
    for (const struct dl_option *o = t->option; o->help; o++)
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
  if (of_file && cli->command->writes_model)
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
  enum dl_status status = dl_cli_parse(cli, argc, argv, options);
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

int dl_run_command(const struct dl_command *c, int argc, char **argv) {
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
    dl_print_message("", cli.diag.error);
  if (status == DL_EFAILED && ferror(stdout)) { /* has been reported */
    __fpurge(stdout);
    clearerr(stdout);
  }
  for (size_t i = 0; i < cli.n_spools; i++)
    dl_spool_close(&cli.spool[i]);
  free(cli.spool);
  free(cli.given);
  if (cli.catalog)
    dl_catalog_free(cli.catalog);
  dl_diag_free(&cli.diag);
  return status == DL_OK ? cli.exit_status : (int)status;
}
