/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest plot: pictures, through gnuplot. */

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/calibration/calibration_table.h"
#include "cli/command.h"
#include "cli/options/input_options.h"
#include "plot/plot.h"

static enum dl_status read_picture(const struct dl_option *row, char *arg,
                                   void *at, struct dl_diag *d) {
  (void)row, (void)d;
  return dl_picture_find(arg, at) ? DL_OK : DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_plot_options, member)

static const struct dl_option options[] = {
    DL_HEADING("Format:", 1),
    {"as", 0, "PICTURE",
     "svg, png, pdf, or dumb: ASCII plot (default: by FILE's extension; dumb "
     "without FILE)",
     DL_READ(read_picture, struct dl_plot_options, as),
     .expected = "svg, png, pdf or dumb"},
    {"script", 0, NULL, "print the script for gnuplot instead",
     AT(FLAG, script)},
    {"width", 0, "N", "width in pixels; in characters with dumb",
     AT(NUMBER, width), .low = 20, .high = 20000, .whole = true},
    {"height", 0, "N", "height in pixels or characters", AT(NUMBER, height),
     .low = 20, .high = 20000, .whole = true},
    {"title", 0, "TEXT", "title; '' for none", AT(TEXT, title)},
    DL_HEADING("Content:", 2),
    {"by", 0, "COLUMN",
     "fit, pareto: column whose values get their own colour (default gpu)",
     AT(TEXT, by)},
    {"shape", 0, "COLUMN",
     "fit, pareto: column whose values get their own marker, if at most 4 "
     "colours and 8 markers suffice (default arch; with --by, the same)",
     AT(TEXT, shape)},
    {"per", 0, "COLUMN",
     "fit: one point per value of the column, the geometric mean",
     AT(TEXT, per)},
    {"target", 0, "NAME", "fit: the target to draw, if there are several",
     AT(TEXT, target)},
    {"score", 0, "NAME",
     "errors: mape (default), median_ape, rmse_j, mae_j or bias_j",
     AT(TEXT, score)},
    {"from", 'F', "FORMAT", "trace: log format of the files",
     DL_READ(dl_read_importer, struct dl_plot_options, logs.log.from)},
    {"epoch-length", 0, "TIME", "trace: approximate epoch time, if known",
     AT(TIME, logs.epochs.hint_s), .high = 1e9},
    {0},
};

static const struct dl_option_table tables[] = {{options, 0}, {0}};

/* Finds the kind of picture; without a file it is made of standard input. */
static enum dl_status read_arguments(struct dl_cli *cli,
                                     struct dl_plot_options *p) {
  static char dash[] = "-";
  static char *standard_input[] = {dash};
  static const struct dl_named_bits takes[] = {
      {"by|shape", DL_PLOT_BY},
      {"per", DL_PLOT_PER},
      {"score", DL_PLOT_SCORE},
      {"target", DL_PLOT_TARGET},
      {"from|epoch-length", DL_PLOT_LOGS}};
  struct dl_diag *d = &cli->diag;
  char why[64];
  p->kind = dl_plot_kind_find(cli->argument[0]);
  if (!p->kind && access(cli->argument[0], F_OK) == 0)
    return dl_fail(d, DL_EUSAGE,
                   "missing argument before '%s': trace (of power logs), fit, "
                   "errors, parts or pareto",
                   cli->argument[0]);
  if (!p->kind)
    return dl_fail(d, DL_EUSAGE,
                   "unknown plot '%s'; use trace, fit, errors, parts or "
                   "pareto",
                   cli->argument[0]);
  p->n_paths = cli->n_arguments - 1;
  p->path = cli->argument + 1;
  if (p->n_paths == 0) {
    p->n_paths = 1;
    p->path = standard_input;
  }
  const bool of_table = !(p->kind->takes & DL_PLOT_LOGS);
  for (size_t i = 0; of_table && i < p->n_paths; i++)
    DL_TRY(dl_table_check(p->path[i], d));
  if (p->n_paths > 1 && of_table)
    return dl_fail(d, DL_EUSAGE, "one table at a time");
  snprintf(why, sizeof why, "on 'plot %s'", p->kind->name);
  for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
    if (!(p->kind->takes & takes[i].bits))
      DL_TRY(dl_cli_refuse(cli, takes[i].name, why));
  return DL_OK;
}

static const char *file_of(const struct dl_cli *cli) {
  return cli->output && !dl_is_stdio(cli->output) ? cli->output : NULL;
}

/* Chooses the picture format: --as, else the file's extension, else
 * characters. */
static enum dl_status choose_picture(const struct dl_cli *cli,
                                     struct dl_plot_options *p,
                                     struct dl_diag *d) {
  const char *file = file_of(cli);
  bool given = dl_cli_given(cli, "as");
  if (!cli->format->on_screen)
    return dl_fail(
        d, DL_EUSAGE,
        "a plot cannot be %s; choose svg, png, pdf or dumb with --as",
        cli->format->name);
  if (!given && p->script)
    p->as = DL_PICTURE_SVG;
  else if (!given && !file)
    p->as = DL_PICTURE_DUMB;
  else if (!given && !dl_picture_of_file(file, &p->as))
    return dl_fail(d, DL_EUSAGE,
                   "'%s' does not end in .svg, .png, .pdf or .txt; set "
                   "--as svg, png, pdf or dumb",
                   file);
  bool binary = p->as == DL_PICTURE_PNG || p->as == DL_PICTURE_PDF;
  if (binary && !file && !p->script && isatty(STDOUT_FILENO))
    return dl_fail(d, DL_EUSAGE,
                   "a terminal cannot show it; name a file with -o");
  return DL_OK;
}

static void fit_terminal(const struct dl_cli *cli, struct dl_plot_options *o) {
  struct winsize size;
  if (o->as != DL_PICTURE_DUMB || file_of(cli))
    return;
  o->colour = dl_screen_of(stdout).colour;
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
  DL_TRY(dl_output_open(&out, cli->output, false, d));
  fputs(script, out.f);
  return dl_output_commit(&out, d);
}

/* Prints the data of the picture in place of it. */
static enum dl_status print_data(struct dl_cli *cli,
                                 const struct dl_plot_options *p) {
  struct dl_report *r = NULL;
  DL_TRY(dl_cli_refuse(cli, "as|script|width|height|title",
                       "with --format json or csv"));
  DL_TRY(p->kind->report(&r, p, &cli->diag));
  return dl_cli_print(cli, r);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct dl_plot_options *p = options_at;
  struct dl_diag *d = &cli->diag;
  const char *format = cli->format->name;
  DL_TEXT(script);
  DL_TRY(read_arguments(cli, p));
  if (p->kind->report && dl_word_among("json|csv", format, strlen(format)) >= 0)
    return print_data(cli, p);
  DL_TRY(choose_picture(cli, p, d));
  fit_terminal(cli, p);
  DL_TRY(dl_plot_script(&script, p->kind, p, d));
  DL_TRY(dl_cli_strict(cli));
  return p->script ? print_script(cli, script.s, d)
                   : dl_plot_draw(script.s, cli->output, d);
}

const struct dl_command dl_cmd_plot = {
    .name = "plot",
    .summary = "draw traces, fits, errors, parts and trade-offs with gnuplot",
    .arguments = "KIND [FILE...]",
    .doc =
        "Draw the results of dlest with gnuplot: power logs with their epochs "
        "(trace), predicted against measured (fit), error by method "
        "(errors), energy by part of the node (parts), energy against time "
        "(pareto). Without FILE dlest reads standard input; without -o the "
        "plot consists of characters. With --format json or csv, trace prints "
        "the "
        "data of its picture."
        "\vExamples:\n"
        "  dlest plot trace gpu-7.csv memory-7.csv -o trace.svg\n"
        "  dlest fit runs.csv --target gpu_power_w --predictions p.csv\n"
        "  dlest plot fit p.csv -o fit.png\n"
        "  dlest compare runs.csv -f csv | dlest plot errors -o errors.png\n"
        "  dlest predict -a resnet50 --node dgx-a100 --parts -f csv | \\\n"
        "      dlest plot parts\n"
        "  dlest recommend -a resnet50 -g a100,t4 -f csv | dlest plot pareto\n",
    .tables = tables,
    .options_size = sizeof(struct dl_plot_options),
    .rereads = true,
    .run = run,
};
