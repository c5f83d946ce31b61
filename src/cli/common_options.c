/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options and steps that commands share: strictness, printing, models. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/constants.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/number.h"
#include "catalog/datadir.h"
#include "cli/command.h"
#include "output/units.h"

static enum dl_status read_format(const struct dl_option *o, char *arg,
                                  void *at, struct dl_diag *d) {
  const struct dl_format **format = at;
  DL_TEXT(names);
  *format = dl_format_find(arg);
  if (*format)
    return DL_OK;
  for (size_t i = 0; dl_formats[i]; i++) {
    if (i > 0)
      dl_text_add(&names, dl_formats[i + 1] ? ", " : " or ");
    dl_text_add(&names, dl_formats[i]->name);
  }
  dl_fail(d, DL_EUSAGE, "--%s: unknown format '%s'; use %s", o->name, arg,
          dl_text_str(&names));
  return DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_cli, member)

const struct dl_option dl_common_options[] = {
    DL_HEADING("Output:", 90),
    {"format", 'f', "FORMAT",
     "text (default), json, csv, markdown, latex, html, boamps, prometheus, "
     "card, paper or paper-latex",
     DL_READ(read_format, struct dl_cli, format), .output = true},
    {"output", 'o', "FILE",
     "write to FILE instead of standard output; without --format, FILE.csv is "
     "CSV, FILE.html a page, ...",
     AT(TEXT, output), .output = true},
    {"spreadsheet-safe", '\0', NULL,
     "with --format csv: an apostrophe before texts that a spreadsheet would "
     "evaluate (= + - @ and tab)",
     AT(FLAG, spreadsheet_safe), .output = true},
    {"strict", 'S', NULL,
     "treat warnings as errors (exit 3); nothing is written", AT(FLAG, strict),
     .output = true},
    {"quiet", 'q', NULL, "print no warnings and no progress on standard error",
     AT(FLAG, quiet), .output = true},
    {"help", 'h', NULL, "print this help", AT(FLAG, help), .group = -1},
    {"usage", '\0', NULL, "print a short usage message", AT(FLAG, usage),
     .group = -1},
    {"version", 'V', NULL, "print the program's version", AT(FLAG, version),
     .group = -1},
    {0},
};

struct dl_catalog *dl_cli_catalog(struct dl_cli *cli) {
  if (!cli->catalog)
    cli->catalog = dl_catalog_new(NULL);
  return cli->catalog;
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
                             struct dl_stream *rows, enum dl_status status) {
  enum dl_status ended = dl_stream_end(rows, &cli->diag);
  if (status == DL_OK)
    status = ended;
  if (status == DL_OK)
    status = dl_cli_strict(cli);
  if (status == DL_OK)
    return dl_output_commit(out, &cli->diag);
  dl_output_discard(out);
  return status;
}

void dl_cli_rows_follow(struct dl_cli *cli) {
  if (!cli->output && isatty(STDOUT_FILENO))
    dl_progress_bar_end(&cli->bar);
}

enum dl_status dl_cli_print(struct dl_cli *cli, struct dl_report *r) {
  DL_SCOPED(dl_report_free_local) struct dl_report *owned = r;
  DL_SCOPED(dl_output_discard) struct dl_output out = {0};
  DL_TRY(dl_cli_strict(cli));
  dl_report_add(r, "warnings", NULL, NULL, DL_CODE,
                dl_strings((const char *const *)cli->diag.warnings,
                           cli->diag.n_warnings));
  DL_TRY(dl_output_open(&out, cli->output, false, &cli->diag));
  dl_progress_bar_end(&cli->bar);
  const struct dl_screen screen = dl_screen_of(out.f);
  DL_TRY(dl_format_report(cli->format, r, out.f, &screen, &cli->diag));
  return dl_output_commit(&out, &cli->diag);
}

char *dl_cli_command_line(const struct dl_cli *cli, const char *input) {
  struct dl_text t = {0};
  dl_text_printf(&t, "dlest %s %s", cli->command->name, dl_path_name(input));
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_given *g = &cli->given[i];
    if (g->option->output)
      continue;
    dl_text_printf(&t, " --%s", g->option->name);
    if (g->value)
      dl_text_printf(&t, strpbrk(g->value, " ()*'`&|<>") ? " \"%s\"" : " %s",
                     g->value);
  }
  return t.s;
}

enum dl_status dl_check_budget(const char *what, double energy_j,
                               double budget_kwh, struct dl_diag *d) {
  const struct dl_value v = dl_number(energy_j);
  DL_TEXT(t);
  if (isnan(energy_j) && isfinite(budget_kwh))
    dl_warn(d, "no energy is known: the budget of %g kWh is not checked",
            budget_kwh);
  if (!(energy_j > budget_kwh * DL_J_PER_KWH))
    return DL_OK;
  dl_show(&t, DL_KWH, "J", &v, NULL);
  return dl_fail(d, DL_EBUDGET, "%s %s, over the budget of %g kWh", what,
                 dl_text_str(&t), budget_kwh);
}

/* --- models */

/* Reads those that ship behind each other. Reports name the file of PRE for all
 * jobs. */
static enum dl_status open_shipped(struct dl_model **m, unsigned kinds,
                                   struct dl_diag *d) {
  static const struct dl_named_bits shipped[] = {
      {"models/physical.xml", DL_TRAINS_OTHER | DL_SERVES_OTHER},
      {"models/pre.xml", DL_ANY_JOB},
      {"models/inference.xml", DL_SERVES_LANGUAGE},
      {"models/cpu.xml", DL_SERVES_LANGUAGE | DL_SERVES_OTHER},
      {"models/tuned.xml", DL_SERVES_LANGUAGE | DL_SERVES_OTHER},
      {"models/language.xml", DL_TRAINS_LANGUAGE}};
  DL_TEXT(file);
  for (size_t i = 0; i < DL_LENGTH(shipped); i++) {
    if (!(shipped[i].bits & kinds))
      continue;
    dl_text_clear(&file);
    DL_TRY(dl_shipped_path(shipped[i].name, &file, d));
    DL_TRY(dl_model_read(m, file.s, NULL, d));
    m = &(*m)->next;
  }
  return DL_OK;
}

enum dl_status dl_open_model(struct dl_cli *cli, const char *path,
                             unsigned kinds, struct dl_model **m) {
  struct dl_diag *d = &cli->diag;
  DL_TEXT(schema);
  *m = NULL;
  if (!path)
    return open_shipped(m, kinds, d);
  DL_TRY(dl_shipped_path("models/model.rng", &schema, d));
  return dl_model_read(m, path, schema.s, d);
}

enum dl_status dl_save_model(struct dl_cli *cli, const struct dl_model *m,
                             const char *suffix, struct dl_report *r,
                             bool *printed) {
  const char *in = strcmp(cli->argument[0], "-") ? cli->argument[0] : "stdin";
  size_t n = strlen(in);
  DL_TEXT(path);
  if (n > 4 && strcmp(in + n - 4, ".csv") == 0)
    n -= 4;
  if (cli->output)
    dl_text_add(&path, cli->output);
  else
    dl_text_printf(&path, "%.*s%s", (int)n, in, suffix);
  DL_TRY(dl_cli_check_outputs(cli, dl_text_str(&path), cli->argument,
                              cli->n_arguments));
  DL_TRY(dl_model_write(m, dl_text_str(&path), &cli->diag));
  dl_report_add(r, "model", "Model", NULL, DL_CODE,
                dl_string(dl_text_str(&path)));
  *printed = dl_is_stdio(dl_text_str(&path));
  cli->output = NULL;
  return DL_OK;
}
