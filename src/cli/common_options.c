/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every command does: common options, strictness, printing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 90},
    {"format", 'f', "FORMAT", 0,
     "text (default), json, csv, markdown, latex, boamps or prometheus", 90},
    {"output", 'o', "FILE", 0, "write to FILE, not to standard output", 90},
    {"strict", 'S', NULL, 0,
     "refuse (exit 3) where there would be a warning; nothing is written", 90},
    {"quiet", 'q', NULL, 0, "no warnings on standard error", 90},
    {0},
};

static void unknown_format(struct argp_state *state, const char *name) {
  struct dl_text names = {0};
  size_t n = dl_format_count();
  for (size_t i = 0; i < n; i++)
    dl_text_printf(&names, "%s%s",
                   i == 0       ? ""
                   : i == n - 1 ? " or "
                                : ", ",
                   dl_format_at(i)->name);
  argp_error(state, "unknown format '%s'; use %s", name, dl_text_str(&names));
  dl_text_free(&names);
}

static error_t parse_common(int key, char *arg, struct argp_state *state) {
  struct dl_cli *cli = state->input;
  switch (key) {
  case 'f':
    cli->format = dl_format_find(arg);
    if (!cli->format)
      unknown_format(state, arg);
    return 0;
  case 'o':
    cli->output = arg;
    return 0;
  case 'S':
    cli->strict = true;
    return 0;
  case 'q':
    cli->quiet = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp dl_common_argp = {.options = options, .parser = parse_common};

/* The command's own parser and the common one, side by side. */
struct inputs {
  void *own;
  struct dl_cli *cli;
};

static error_t hand_inputs(int key, char *arg, struct argp_state *state) {
  (void)arg;
  if (key != ARGP_KEY_INIT)
    return ARGP_ERR_UNKNOWN;
  struct inputs *in = state->input;
  state->child_inputs[0] = in->own;
  state->child_inputs[1] = in->cli;
  return 0;
}

void dl_cli_parse(struct dl_cli *cli, const struct argp *own, int argc,
                  char **argv, void *input) {
  struct argp options_of = *own; /* its texts belong to the whole */
  options_of.args_doc = options_of.doc = NULL;
  const struct argp_child children[] = {
      {&options_of, 0, NULL, 0}, {&dl_common_argp, 0, NULL, 0}, {0}};
  const struct argp whole = {.parser = hand_inputs,
                             .args_doc = own->args_doc,
                             .doc = own->doc,
                             .children = children};
  cli->format = dl_format_at(0);
  struct inputs in = {input, cli};
  argp_parse(&whole, argc, argv, 0, NULL, &in);
}

error_t dl_cli_table(const char **input, int key, char *arg,
                     struct argp_state *state) {
  if (key == ARGP_KEY_ARG && *input)
    argp_error(state, "one table at a time");
  if (key == ARGP_KEY_END && !*input)
    argp_error(state, "which table of runs?");
  if (key == ARGP_KEY_ARG)
    *input = arg;
  return key == ARGP_KEY_ARG || key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

double dl_arg_positive(struct argp_state *state, const char *option,
                       const char *arg, double limit) {
  double x;
  if (!dl_parse_double(arg, &x) || x <= 0 || x >= limit)
    argp_error(state, "--%s: invalid value '%s'", option, arg);
  return x;
}

double dl_arg_percent(struct argp_state *state, const char *option,
                      const char *arg) {
  double x;
  if (!dl_parse_double(arg, &x) || x < 1 || x >= 100)
    argp_error(state, "--%s: invalid value '%s' (percent, 1 to below 100)",
               option, arg);
  return x / 100;
}

enum dl_status dl_cli_strict(struct dl_cli *cli) {
  size_t n = cli->diag.n_warnings + cli->diag.n_more;
  if (!cli->strict || (n == 0 && cli->diag.n_skipped == 0))
    return DL_OK;
  return dl_fail(&cli->diag, DL_EINPUT,
                 "%zu warning%s with --strict: nothing written", n,
                 n == 1 ? "" : "s");
}

enum dl_status dl_cli_commit(struct dl_cli *cli, struct dl_output *out,
                             enum dl_status status) {
  if (status == DL_OK)
    status = dl_cli_strict(cli);
  if (status == DL_OK)
    return dl_output_commit(out, &cli->diag);
  dl_output_discard(out);
  return status;
}

enum dl_status dl_cli_print(struct dl_cli *cli, struct dl_report *r) {
  struct dl_output out;
  enum dl_status status = dl_cli_strict(cli);
  dl_report_add(r, "warnings", NULL, NULL, DL_CODE,
                dl_strings((const char *const *)cli->diag.warnings,
                           cli->diag.n_warnings));
  if (status == DL_OK && dl_report_failed(r))
    status = dl_fail_memory(&cli->diag);
  if (status == DL_OK)
    status = dl_output_open(&out, cli->output, false, &cli->diag);
  if (status == DL_OK) {
    bool colour = !cli->output && dl_wants_colour(out.f);
    status = dl_format_report(cli->format, r, out.f, colour, &cli->diag);
    if (status == DL_OK)
      status = dl_output_commit(&out, &cli->diag);
    else
      dl_output_discard(&out);
  }
  dl_report_free(r);
  return status;
}

enum dl_status dl_cli_end(const struct dl_cli *cli, enum dl_status status) {
  return status == DL_OK && cli->diag.n_skipped > 0 ? DL_EINPUT : status;
}

/* Words that an option takes which only says what is written and how. */
static int output_words(const char *arg) {
  static const struct {
    const char *name;
    int words;
  } options_of[] = {{"-o", 2},       {"--output", 2}, {"-f", 2},
                    {"--format", 2}, {"-q", 1},       {"--quiet", 1},
                    {"-S", 1},       {"--strict", 1}, {"--predictions", 2}};
  for (size_t i = 0; i < sizeof options_of / sizeof *options_of; i++)
    if (strcmp(arg, options_of[i].name) == 0)
      return options_of[i].words;
  return strncmp(arg, "--output=", 9) == 0 ||
         strncmp(arg, "--format=", 9) == 0 ||
         strncmp(arg, "--predictions=", 14) == 0;
}

char *dl_cli_command_line(int argc, char **argv, const char *input) {
  struct dl_text t = {0};
  const char *slash = strrchr(input, '/');
  dl_text_printf(&t, "%s %s", argv[0], slash ? slash + 1 : input);
  for (int i = 1; i < argc; i++) {
    int words = output_words(argv[i]);
    if (words > 0 || argv[i] == input) {
      i += words == 2;
      continue;
    }
    bool quote = strpbrk(argv[i], " ()*'`&|<>") != NULL;
    dl_text_printf(&t, quote ? " \"%s\"" : " %s", argv[i]);
  }
  return t.s;
}
