/* SPDX-License-Identifier: GPL-3.0-or-later */
/* getopt finds the options; command_help.c lays out --help. */

#include "cli/command_line.h"

#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/names/nearest_names.h"
#include "cli/spool.h"
#include "quantities/quantities.h"

/* getopt returns FIRST_LONG + index of the row for long options. */
enum { FIRST_LONG = 1000, MOST_SPOOLS = 8, MOST_NAME = 32 };

struct parser {
  struct dl_cli *cli;
  const struct dl_option *row[DL_MOST_OPTIONS];
  size_t offset[DL_MOST_OPTIONS], n, common;
  struct option longs[2 * DL_MOST_OPTIONS + 1];
  size_t n_longs, n_other; /* names, and then their other numbers */
  char other[DL_MOST_OPTIONS][MOST_NAME];
  char shorts[2 * DL_MOST_OPTIONS + 3];
  size_t of_letter[UCHAR_MAX + 1]; /* the row of a short option */
};

size_t dl_command_options(const struct dl_command *c,
                          const struct dl_option *row[DL_MOST_OPTIONS],
                          size_t offset[DL_MOST_OPTIONS], size_t *common) {
  static const struct dl_option_table none = {0};
  const struct dl_option_table last = {dl_common_options, 0};
  const struct dl_option_table *t = c->tables ? c->tables : &none;
  size_t n = 0;
  for (bool more = true; more; t++) {
    more = t->option != NULL;
    if (!more && common)
      *common = n;
    const struct dl_option_table *of = more ? t : &last;
    for (const struct dl_option *o = of->option; o->kind != DL_OPTION_END;
         o++) {
      if (!o->help)
        continue;
      assert(n < DL_MOST_OPTIONS);
      if (offset)
        offset[n] = of->offset + o->offset;
      row[n++] = o;
    }
  }
  return n;
}

static bool has_long(const struct parser *p, const char *name) {
  for (size_t i = 0; i < p->n_longs; i++)
    if (strcmp(p->longs[i].name, name) == 0)
      return true;
  return false;
}

/* Options with a value also go by their plural, or singular, where no other
 * option has that name: --methods, --epoch. */
static void add_numbers(struct parser *p) {
  size_t n = p->n_longs;
  for (size_t i = 0; i < n; i++) {
    struct option o = p->longs[i];
    char *name = p->other[p->n_other];
    size_t len = strlen(o.name);
    bool plural = o.name[len - 1] == 's';
    if (!o.has_arg || len + 2 > MOST_NAME)
      continue;
    snprintf(name, MOST_NAME, "%.*s%s", (int)(len - plural), o.name,
             plural ? "" : "s");
    if (has_long(p, name))
      continue;
    o.name = name;
    p->longs[n + p->n_other++] = o;
  }
}

static void make_tables(struct parser *p) {
  char *s = p->shorts;
  *s++ = ':'; /* distinguishes a missing value from an unknown option */
  for (size_t i = 0; i < p->n; i++) {
    const struct dl_option *o = p->row[i];
    const char *const names[] = {o->name, o->alias};
    for (size_t k = 0; k < 2 && names[k]; k++) {
      assert(p->n_longs < DL_MOST_OPTIONS);
      p->longs[p->n_longs++] = (struct option){
          .name = names[k],
          .has_arg = o->argument ? required_argument : no_argument,
          .val = FIRST_LONG + (int)i};
    }
    if (o->letter) {
      p->of_letter[(unsigned char)o->letter] = i;
      *s++ = o->letter;
      if (o->argument)
        *s++ = ':';
    }
  }
  add_numbers(p);
}

/* Lists the commands with an option of that name: "'dlest predict', 'step'". */
static void list_commands_with(const char *name, struct dl_text *to) {
  const struct dl_option *row[DL_MOST_OPTIONS];
  for (size_t i = 0; dl_commands[i]; i++) {
    size_t n = dl_command_options(dl_commands[i], row, NULL, NULL);
    bool has = false;
    for (size_t k = 0; k < n && !has; k++)
      has = row[k]->name && strcmp(row[k]->name, name) == 0;
    if (has)
      dl_text_printf(to, "%s%s'", to->len > 0 ? ", '" : "'dlest ",
                     dl_commands[i]->name);
  }
}

/* Appends how a column of the runs table is set, where the command takes
 * values of columns: "; write --set train_samples=VALUE". */
static void add_setting(const struct parser *p, const char *name,
                        struct dl_text *to) {
  char column[MOST_NAME];
  bool sets = false;
  size_t n = strnlen(name, sizeof column - 1);
  for (size_t i = 0; i < n; i++)
    column[i] = name[i] == '-' ? '_' : name[i];
  column[n] = '\0';
  for (size_t i = 0; i < p->n_longs; i++)
    sets |= strcmp(p->longs[i].name, "set") == 0;
  if (sets && dl_run_column_find(column))
    dl_text_printf(to, "; write --set %s=VALUE", column);
}

/* Why commands that read measured energies lack an option. */
static void add_reason(const char *name, struct dl_text *to) {
  if (strcmp(name, "boundary") == 0)
    dl_text_add(to, "; measured energies have the boundary of their sensors "
                    "(column boundary)");
}

static enum dl_status unknown_long(const struct parser *p, const char *name) {
  DL_TEXT(near);
  DL_TEXT(others);
  struct dl_name_candidate c[DL_MOST_OPTIONS];
  char shown[DL_MOST_OPTIONS][MOST_NAME + 2];
  for (size_t i = 0; i < p->n_longs; i++) {
    snprintf(shown[i], sizeof shown[i], "--%s", p->longs[i].name);
    c[i] = (struct dl_name_candidate){p->longs[i].name, shown[i], i};
  }
  list_commands_with(name, &others);
  if (others.len > 0)
    dl_text_printf(&near, " (it is one of %s)", dl_text_str(&others));
  else
    dl_suggest(name, c, p->n_longs, 3, false, &near);
  add_reason(name, &near);
  add_setting(p, name, &near);
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "unknown option '--%s'%s; see 'dlest %s --help'", name,
                 dl_text_str(&near), p->cli->command->name);
}

/* Why getopt refuses a long option: `word` begins several names, or none. */
static enum dl_status refuse_long(const struct parser *p, const char *word) {
  size_t len = strcspn(word + 2, "="), n = 0;
  char name[MOST_NAME];
  DL_TEXT(t);
  for (size_t i = 0; i < p->n_longs; i++)
    if (strncmp(p->longs[i].name, word + 2, len) == 0)
      dl_text_printf(&t, "%s--%s", n++ ? ", " : "", p->longs[i].name);
  snprintf(name, sizeof name, "%.*s", (int)len, word + 2);
  return n > 0 ? dl_fail(&p->cli->diag, DL_EUSAGE,
                         "option '%.*s' is ambiguous: %s", (int)len + 2, word,
                         dl_text_str(&t))
               : unknown_long(p, name);
}

static enum dl_status refuse_option(const struct parser *p, int key,
                                    const char *word) {
  struct dl_diag *d = &p->cli->diag;
  char name[] = "-x";
  name[1] = (char)optopt;
  if (optopt == 0)
    return refuse_long(p, word);
  bool is_long = optopt >= FIRST_LONG;
  if (key != ':' && !is_long)
    return dl_fail(d, DL_EUSAGE, "unknown option '%s'; see 'dlest %s --help'",
                   name, p->cli->command->name);
  char option[64];
  if (is_long)
    snprintf(option, sizeof option, "--%s", p->row[optopt - FIRST_LONG]->name);
  else
    snprintf(option, sizeof option, "%s", name);
  return dl_fail(d, DL_EUSAGE,
                 key == ':' ? "option %s needs a value"
                            : "option %s takes no value",
                 option);
}

/* Puts the copy of a pipe in the place of its path. */
static enum dl_status copy_pipe(struct dl_cli *cli, char **path) {
  if (dl_is_stdio(*path) || !dl_is_pipe(*path) || cli->n_spools == MOST_SPOOLS)
    return DL_OK;
  struct dl_spool *s = &cli->spool[cli->n_spools++];
  enum dl_status status = dl_spool_open(s, *path, &cli->diag);
  while (status == DL_OK && !s->ended)
    status = dl_spool_take(s, 1, -1, &cli->diag);
  *path = s->path;
  return status;
}

static enum dl_status parse_options(struct parser *p, int argc, char **argv,
                                    char *options) {
  struct dl_cli *cli = p->cli;
  enum dl_status status = DL_OK;
  int key;
  opterr = optind = optopt = 0;
  while (status == DL_OK &&
         (key = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
    if (key == '?' && optopt == '?') { /* -? is --help */
      cli->help = true;
      return DL_OK;
    }
    if (key == '?' || key == ':')
      return refuse_option(p, key, argv[optind - 1]);
    size_t i =
        key < FIRST_LONG ? p->of_letter[key] : (size_t)(key - FIRST_LONG);
    const struct dl_option *o = p->row[i];
    char *base = i < p->common ? options : (char *)cli;
    if (o->reads)
      status = copy_pipe(cli, &optarg);
    if (status != DL_OK)
      break;
    status = dl_option_store(o, optarg, base + p->offset[i], &cli->diag);
    cli->given[cli->n_given++] =
        (struct dl_given){o, o->argument ? optarg : NULL};
    if (cli->help || cli->usage || cli->version)
      break;
    optopt = 0;
  }
  return status;
}

/* --- options that need or exclude each other */

static bool is_among(const char *names, const char *name) {
  return dl_word_among(names, name, strlen(name)) >= 0;
}

const char *dl_cli_given(const struct dl_cli *cli, const char *names) {
  for (size_t i = 0; i < cli->n_given; i++)
    if (is_among(names, cli->given[i].option->name))
      return cli->given[i].option->name;
  return NULL;
}

enum dl_status dl_cli_refuse(struct dl_cli *cli, const char *names,
                             const char *why) {
  const char *name = dl_cli_given(cli, names);
  return name ? dl_fail(&cli->diag, DL_EUSAGE, "--%s has no effect %s", name,
                        why)
              : DL_OK;
}

/* "with" and "without" of the rows. */
static enum dl_status check_company(struct dl_cli *cli) {
  for (size_t i = 0; i < cli->n_given; i++) {
    const struct dl_option *o = cli->given[i].option;
    const char *other = o->without ? dl_cli_given(cli, o->without) : NULL;
    if (other)
      return dl_fail(&cli->diag, DL_EUSAGE, "--%s does not go with --%s",
                     o->name, other);
    if (!o->with || dl_cli_given(cli, o->with))
      continue;
    DL_TEXT(names);
    for (const char *s = o->with; *s; s++)
      if (*s == '|')
        dl_text_add(&names, " or --");
      else
        dl_text_add_n(&names, s, 1);
    dl_fail(&cli->diag, DL_EUSAGE, "--%s has no effect without --%s", o->name,
            dl_text_str(&names));
    return DL_EUSAGE;
  }
  return DL_OK;
}

/* --- files that are written */

static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Files that options write, which must differ. */
static const char written[] = "output|means|predictions|totals|trace";

static bool is_written(const struct dl_given *g) {
  return g->value && is_among(written, g->option->name);
}

static enum dl_status check_apart(struct dl_cli *cli) {
  for (size_t i = 0; i < cli->n_given; i++)
    for (size_t k = 0; k < i; k++) {
      const struct dl_given *a = &cli->given[k], *b = &cli->given[i];
      if (is_written(a) && is_written(b) && a->option != b->option &&
          !dl_is_stdio(a->value) &&
          (strcmp(a->value, b->value) == 0 || is_same_file(a->value, b->value)))
        return dl_fail(&cli->diag, DL_EUSAGE,
                       "--%s and --%s write to the same file '%s'",
                       a->option->name, b->option->name, b->value);
    }
  return DL_OK;
}

enum dl_status dl_cli_check_outputs(struct dl_cli *cli, const char *path,
                                    char *const *inputs, size_t n_inputs) {
  DL_TRY(check_apart(cli));
  size_t n = cli->n_given + (path != NULL);
  for (size_t i = 0; i < n; i++) {
    const struct dl_given *g = i < cli->n_given ? &cli->given[i] : NULL;
    const char *out = g ? g->value : path;
    bool read = false;
    if (!out || (g && !is_written(g)))
      continue;
    for (size_t k = 0; k < n_inputs && !read; k++)
      read = is_same_file(out, inputs[k]);
    for (size_t k = 0; k < cli->n_given && !read; k++)
      read = cli->given[k].value && !is_written(&cli->given[k]) &&
             is_same_file(out, cli->given[k].value);
    if (read)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "'%s' is also read by this command: write to another file",
                     out);
  }
  return DL_OK;
}

/* Their number by the command's row: "LOG...", "KIND [FILE]". */
static enum dl_status check_arguments(struct dl_cli *cli) {
  const char *s = cli->command->arguments ? cli->command->arguments : "";
  size_t n = 0, word = 0;
  bool more = false;
  for (; *s; s += word + strspn(s + word, " "), n++) {
    word = strcspn(s, " ");
    more = memmem(s, word, "...", 3) != NULL;
    if (n == cli->n_arguments && *s != '[' && n > 0)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "missing argument: %.*s; write dlest %s %s", (int)word, s,
                     cli->command->name, cli->command->arguments);
    if (n == cli->n_arguments && *s != '[')
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "missing argument: %.*s; see 'dlest %s --help'", (int)word,
                     s, cli->command->name);
  }
  if (cli->n_arguments > n && !more)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "unexpected argument '%s'; see 'dlest %s --help'",
                   cli->argument[n], cli->command->name);
  return DL_OK;
}

enum dl_status dl_cli_parse(struct dl_cli *cli, int argc, char **argv,
                            void *options) {
  struct parser p = {.cli = cli};
  p.n = dl_command_options(cli->command, p.row, p.offset, &p.common);
  make_tables(&p);
  cli->spool = dl_calloc(MOST_SPOOLS, sizeof *cli->spool);
  cli->given = dl_calloc((size_t)argc + 1, sizeof *cli->given);
  enum dl_status status = parse_options(&p, argc, argv, options);
  if (status != DL_OK || cli->help || cli->usage || cli->version)
    return status;
  cli->argument = argv + optind;
  cli->n_arguments = (size_t)(argc - optind);
  status = check_arguments(cli);
  if (status == DL_OK)
    status = check_company(cli);
  if (status == DL_OK)
    status = dl_cli_check_outputs(cli, NULL, cli->argument, cli->n_arguments);
  for (size_t i = 0; cli->command->rereads && i < cli->n_arguments; i++)
    if (status == DL_OK)
      status = copy_pipe(cli, &cli->argument[i]);
  return status;
}
