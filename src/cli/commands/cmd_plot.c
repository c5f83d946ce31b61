/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest plot: pictures, through gnuplot. */

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/command.h"
#include "logs/importers/importers.h"
#include "plot/plot.h"

enum {
  KEY_AS = 0x600,
  KEY_SCRIPT,
  KEY_WIDTH,
  KEY_HEIGHT,
  KEY_TITLE,
  KEY_BY,
  KEY_PER,
  KEY_SCORE,
  KEY_TARGET,
  KEY_FROM,
  KEY_LENGTH
};

struct plot_options {
  struct dl_plot_options o;
  const struct dl_plot_kind *kind;
  struct dl_strlist paths;
  unsigned given; /* DL_PLOT_... */
  bool as_given, script;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The picture:", 1},
    {"as", KEY_AS, "PICTURE", 0,
     "svg, png, pdf, or dumb for characters (default: by the end of FILE; "
     "dumb without one)",
     1},
    {"script", KEY_SCRIPT, NULL, 0, "print the script for gnuplot instead", 1},
    {"width", KEY_WIDTH, "N", 0, "in pixels; in characters with dumb", 1},
    {"height", KEY_HEIGHT, "N", 0, "the same", 1},
    {"title", KEY_TITLE, "TEXT", 0, "above the picture; '' for none", 1},
    {NULL, 0, NULL, 0, "What is shown:", 2},
    {"by", KEY_BY, "COLUMN", 0,
     "fit, pareto: tell its values apart (default gpu)", 2},
    {"per", KEY_PER, "COLUMN", 0,
     "fit: one point for each of its values, the geometric mean", 2},
    {"target", KEY_TARGET, "NAME", 0, "fit: of several targets that one", 2},
    {"score", KEY_SCORE, "NAME", 0,
     "errors: mape (default), median_ape, rmse_j, mae_j or bias_j", 2},
    {"from", KEY_FROM, "FORMAT", 0, "trace: take the logs for that format", 2},
    {"epoch-length", KEY_LENGTH, "SECONDS", 0,
     "trace: about how long an epoch is, where that is known", 2},
    {0},
};

static void want_size(const char *name, const char *arg, double *out,
                      struct argp_state *state) {
  size_t n;
  if (!dl_parse_count(arg, &n) || n < 20 || n > 20000)
    argp_error(state, "--%s: expected 20 to 20000, not '%s'", name, arg);
  *out = (double)n;
}

static error_t parse_shown(int key, char *arg, struct argp_state *state) {
  struct plot_options *p = state->input;
  struct dl_plot_options *o = &p->o;
  switch (key) {
  case KEY_BY:
    o->by = arg;
    p->given |= DL_PLOT_BY;
    return 0;
  case KEY_PER:
    o->per = arg;
    p->given |= DL_PLOT_PER;
    return 0;
  case KEY_TARGET:
    o->target = arg;
    p->given |= DL_PLOT_TARGET;
    return 0;
  case KEY_SCORE:
    o->score = arg;
    p->given |= DL_PLOT_SCORE;
    return 0;
  case KEY_FROM:
    o->logs.log.from = dl_importer_find(arg);
    if (!o->logs.log.from)
      argp_error(state, "unknown log format '%s'; see 'dlest list importers'",
                 arg);
    p->given |= DL_PLOT_LOGS;
    return 0;
  case KEY_LENGTH:
    if (!dl_parse_duration(arg, 1, &o->logs.epochs.hint_s) ||
        !(o->logs.epochs.hint_s > 0))
      argp_error(state, "--epoch-length: invalid time '%s'", arg);
    p->given |= DL_PLOT_LOGS;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static void take_argument(struct plot_options *p, char *arg,
                          struct argp_state *state) {
  if (p->kind) {
    if (!dl_strlist_add(&p->paths, arg))
      argp_failure(state, DL_EFAILED, 0, "out of memory");
    return;
  }
  p->kind = dl_plot_kind_find(arg);
  if (!p->kind)
    argp_error(state,
               "unknown picture '%s'; there are trace, fit, errors, parts "
               "and pareto",
               arg);
}

static void check_arguments(struct plot_options *p, struct argp_state *state) {
  static const char *const names[] = {"by", "per", "score", "target",
                                      "from or --epoch-length"};
  if (!p->kind) {
    argp_error(state, "which picture? trace, fit, errors, parts or pareto");
    return; /* for who does not know that argp_error ends the program */
  }
  if (p->paths.n == 0 && !dl_strlist_add(&p->paths, "-"))
    argp_failure(state, DL_EFAILED, 0, "out of memory");
  if (p->paths.n > 1 && !(p->kind->takes & DL_PLOT_LOGS))
    argp_error(state, "one table at a time");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (p->given & ~p->kind->takes & 1U << i)
      argp_error(state, "%s takes no --%s", p->kind->name, names[i]);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct plot_options *p = state->input;
  switch (key) {
  case KEY_AS:
    if (!dl_picture_find(arg, &p->o.as))
      argp_error(state,
                 "unknown picture format '%s'; use svg, png, pdf or "
                 "dumb",
                 arg);
    p->as_given = true;
    return 0;
  case KEY_SCRIPT:
    p->script = true;
    return 0;
  case KEY_WIDTH:
    want_size("width", arg, &p->o.width, state);
    return 0;
  case KEY_HEIGHT:
    want_size("height", arg, &p->o.height, state);
    return 0;
  case KEY_TITLE:
    p->o.title = arg;
    return 0;
  case ARGP_KEY_ARG:
    take_argument(p, arg, state);
    return 0;
  case ARGP_KEY_END:
    check_arguments(p, state);
    return 0;
  default:
    return parse_shown(key, arg, state);
  }
}

static const struct argp plot_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "KIND [FILE...]",
    .doc = "Draw what dlest tells, with gnuplot: power logs with their epochs "
           "(trace), predicted against measured (fit), error by estimator "
           "(errors), energy by part of the node (parts), energy against time "
           "(pareto). Without FILE standard input is read; without -o the "
           "picture is made of characters."
           "\vExamples:\n"
           "  dlest plot trace gpu-7.csv memory-7.csv --script -o trace.gp\n"
           "  dlest compare runs.csv --format csv | dlest plot errors "
           "--script\n",
};

static const char *file_of(const struct dl_cli *cli) {
  return cli->output && strcmp(cli->output, "-") != 0 ? cli->output : NULL;
}

/* What the picture is made of: as told, by its file's name, or characters as
 * many as the terminal has. */
static enum dl_status choose_picture(const struct dl_cli *cli,
                                     struct plot_options *p,
                                     struct dl_diag *d) {
  const char *file = file_of(cli);
  if (!cli->format->on_screen)
    return dl_fail(d, DL_EUSAGE,
                   "a picture is no %s; choose svg, png, pdf or dumb by --as",
                   cli->format->name);
  if (!p->as_given && p->script)
    p->o.as = DL_PICTURE_SVG;
  else if (!p->as_given && !file)
    p->o.as = DL_PICTURE_DUMB;
  else if (!p->as_given && !dl_picture_of_file(file, &p->o.as))
    return dl_fail(d, DL_EUSAGE,
                   "'%s' ends with none of .svg, .png, .pdf and .txt: say "
                   "--as svg, png, pdf or dumb",
                   file);
  bool binary = p->o.as == DL_PICTURE_PNG || p->o.as == DL_PICTURE_PDF;
  if (binary && !file && !p->script && isatty(STDOUT_FILENO))
    return dl_fail(d, DL_EUSAGE,
                   "a terminal cannot show it; name a file with -o");
  return DL_OK;
}

static void fit_terminal(const struct dl_cli *cli, struct dl_plot_options *o) {
  struct winsize size;
  if (o->as != DL_PICTURE_DUMB || file_of(cli))
    return;
  o->colour = dl_wants_colour(stdout);
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40 ||
      size.ws_row < 12)
    return;
  if (!(o->width > 0))
    o->width = size.ws_col - 1;
  if (!(o->height > 0))
    o->height = size.ws_row > 42 ? 40 : size.ws_row - 2;
}

static enum dl_status print_script(const struct dl_cli *cli, const char *script,
                                   struct dl_diag *d) {
  struct dl_output out;
  enum dl_status status = dl_output_open(&out, cli->output, false, d);
  if (status != DL_OK)
    return status;
  fputs(script, out.f);
  return dl_output_commit(&out, d);
}

static enum dl_status run(struct dl_cli *cli, int argc, char **argv) {
  struct plot_options p = {0};
  struct dl_diag *d = &cli->diag;
  struct dl_text script = {0};
  dl_cli_parse(cli, &plot_argp, argc, argv, &p);
  p.o.path = p.paths.s;
  p.o.n_paths = p.paths.n;
  enum dl_status status = choose_picture(cli, &p, d);
  if (status == DL_OK) {
    fit_terminal(cli, &p.o);
    status = dl_plot_script(&script, p.kind, &p.o, d);
  }
  if (status == DL_OK)
    status = dl_cli_strict(cli);
  if (status == DL_OK)
    status = p.script ? print_script(cli, script.s, d)
                      : dl_plot_draw(script.s, cli->output, d);
  dl_text_free(&script);
  dl_strlist_free(&p.paths);
  return dl_cli_end(cli, status);
}

const struct dl_command dl_cmd_plot = {
    .name = "plot",
    .summary = "draw traces, fits, errors, parts and trade-offs with gnuplot",
    .argp = &plot_argp,
    .run = run,
};
