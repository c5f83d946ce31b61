/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line from left to right: options that are called as here keep
 * their words, others are read by what they mean. */

#include "cli/pasted/pasted.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"

static void free_pasted(struct dl_pasted *p) {
  for (size_t i = 0; i < p->n + DL_PASTED_PARTS; i++) {
    struct dl_pasted_setting *s =
        i < p->n ? &p->setting[i] : &p->part[i - p->n];
    free(s->value);
    free(s->from);
  }
  free(p->setting);
  dl_strlist_free(&p->kept);
  dl_strlist_free(&p->shape);
  dl_strlist_free(&p->shape_from);
  dl_text_free(&p->unused);
  dl_text_free(&p->unknown);
  dl_text_free(&p->no_data);
}

/* The option of this name, or second name. */
static const struct dl_option *exact_option(const struct dl_pasted *p,
                                            const char *name) {
  const struct dl_option *o = dl_pasted_option(p, name);
  return o && (dl_same_text(o->name, name) || dl_same_text(o->alias, name))
             ? o
             : NULL;
}

/* The option that a long name begins, of one row alone; NULL: none. */
static const struct dl_option *begun(const struct dl_pasted *p,
                                     const char *name, size_t len) {
  const struct dl_option *found = NULL;
  for (size_t i = 0; i < p->n_rows; i++) {
    const struct dl_option *o = p->row[i];
    bool begins = (o->name && strncmp(o->name, name, len) == 0) ||
                  (o->alias && strncmp(o->alias, name, len) == 0);
    if (begins && found)
      return NULL;
    if (begins)
      found = o;
  }
  return found;
}

static const struct dl_option *of_letter(const struct dl_pasted *p, char c) {
  for (size_t i = 0; i < p->n_rows; i++)
    if (p->row[i]->letter == c)
      return p->row[i];
  return NULL;
}

/* Keeps an option, unless its value is one that is read in other ways. */
static enum dl_status keep(struct dl_pasted *p, const struct dl_option *o,
                           char *const *words, size_t n, const char *value) {
  bool taken = false;
  if (strcmp(o->name, "from") == 0 && value && !p->cli->command->arguments)
    return dl_pasted_file(p, value);
  if (value)
    DL_TRY(dl_pasted_value(p, o->name, value, value, &taken));
  if (taken)
    return DL_OK;
  dl_pasted_set(p, o->name, value, words[0], DL_PASTED_OPTION);
  for (size_t i = 0; i < n; i++)
    dl_strlist_add(&p->kept, words[i]);
  return DL_OK;
}

/* "--name", "--name=value", "--name value". *n: words read; 0: the parser of
 * options refuses it. */
static enum dl_status read_long(struct dl_pasted *p, char **words, size_t *n) {
  const char *name = words[0] + 2, *eq = strchr(name, '=');
  size_t len = eq ? (size_t)(eq - name) : strlen(name);
  bool taken = false, used = false;
  DL_TEXT(exact);
  for (size_t i = 0; i < len; i++)
    dl_text_add_n(&exact, name[i] == '_' ? "-" : name + i, 1);
  const struct dl_option *o = exact_option(p, dl_text_str(&exact));
  if (!o)
    DL_TRY(dl_pasted_word(p, name, words[1], &taken, &used));
  const char *dot = memchr(name, '.', len);
  if (!o && !taken && p->launcher && dot) /* "--train.epochs" */
    DL_TRY(dl_pasted_word(p, dot + 1, words[1], &taken, &used));
  *n = used ? 2 : 1;
  if (taken)
    return DL_OK;
  if (!o) /* a plural, or a singular */
    o = dl_pasted_option(p, dl_text_str(&exact));
  bool spelt = o && memchr(name, '_', len);
  if (!o)
    o = begun(p, name, len);
  *n = o && o->argument && !eq && words[1] ? 2 : o != NULL;
  if (!o)
    return DL_OK;
  const char *value = o->argument && !eq ? words[1] : NULL;
  if (eq)
    value = eq + 1;
  if (!spelt)
    return keep(p, o, words, *n, value);
  DL_TEXT(ours);
  dl_text_printf(&ours, "--%s", exact.s);
  if (eq)
    dl_text_add(&ours, eq);
  char *again[] = {ours.s, words[1]};
  return keep(p, o, again, *n, value);
}

/* "-g a100", "-ga100", "-qv". */
static enum dl_status read_short(struct dl_pasted *p, char **words, size_t *n) {
  const char *s = words[0] + 1;
  const struct dl_option *o = of_letter(p, *s);
  for (*n = 1; o && !o->argument && s[1];)
    o = of_letter(p, *++s);
  if (!o) {
    *n = 0;
    return DL_OK;
  }
  const char *value = s[1] ? s + 1 : words[1];
  *n = o->argument && !s[1] && words[1] ? 2 : 1;
  return keep(p, o, words, *n, o->argument ? value : NULL);
}

/* Whether a word of one hyphen is an option of the launcher before it. */
static bool is_foreign(const char *word) {
  return word[0] == '-' && word[1] && word[1] != '-' &&
         dl_word_among("-q|-f|-a", word, strlen(word)) < 0;
}

static enum dl_status read_plain(struct dl_pasted *p, const char *word,
                                 struct dl_strlist *plain) {
  bool taken = false;
  if (!p->launcher && dl_pasted_is_launcher(word)) {
    dl_pasted_launch(p, word);
    return DL_OK;
  }
  DL_TEXT(first); /* of a whole command line in quotes */
  dl_text_add_n(&first, word, strcspn(word, " "));
  if (strchr(word, ' ') && dl_pasted_is_launcher(dl_text_str(&first)))
    return dl_pasted_script(p, word);
  DL_TRY(dl_pasted_assigned(p, word, &taken));
  if (taken)
    return DL_OK;
  if (p->launcher)
    return dl_pasted_launched(p, word);
  dl_strlist_add(plain, word);
  return DL_OK;
}

/* Reads all words; those behind the first that no one knows are kept. */
static enum dl_status read_words(struct dl_pasted *p, int argc, char **argv,
                                 struct dl_strlist *plain) {
  size_t i = 1, end = (size_t)argc;
  while (i < end) {
    char *word = argv[i];
    size_t n = 1;
    bool foreign = p->launcher && is_foreign(word);
    if (strcmp(word, "--") == 0)
      break;
    if (word[0] == '-' && word[1] == '-')
      DL_TRY(read_long(p, argv + i, &n));
    else if (word[0] == '-' && word[1] && !foreign)
      DL_TRY(read_short(p, argv + i, &n));
    else if (foreign)
      n = 0;
    else if (!p->cli->command->arguments)
      DL_TRY(read_plain(p, word, plain));
    else if (strncmp(p->cli->command->arguments, "[PROGRAM", 8) == 0)
      break; /* its options are its own */
    else
      dl_strlist_add(&p->kept, word);
    if (n == 0 && p->launcher)
      DL_TRY(dl_pasted_foreign(p, argv + i, &n));
    if (n == 0)
      break;
    i += n;
  }
  for (; i < end; i++)
    dl_strlist_add(&p->kept, argv[i]);
  return DL_OK;
}

/* Whether another setting of the option holds in the place of i. */
static bool is_beaten(const struct dl_pasted *p, size_t i) {
  for (size_t k = 0; k < p->n; k++)
    if (strcmp(p->setting[k].option, p->setting[i].option) == 0 &&
        (p->setting[k].rank > p->setting[i].rank ||
         (k < i && p->setting[k].rank == p->setting[i].rank)))
      return true;
  return false;
}

/* Adds "'FROM' as --OPTION VALUE", without what was said of FROM before. */
static void say(struct dl_text *to, const char *before,
                const struct dl_pasted_setting *s, const char *column) {
  bool again = before && strcmp(before, s->from) == 0;
  bool blank = s->value && strpbrk(s->value, " ;");
  if (!again)
    dl_text_printf(to, "%s'%s' as", to->len > 0 ? ", " : "read ", s->from);
  dl_text_printf(to, " --%s", column ? "set " : s->option);
  if (column)
    dl_text_printf(to, "%s=%s", column, dl_text_or(s->value, ""));
  else if (s->value)
    dl_text_printf(to, blank ? " '%s'" : " %s", s->value);
  if (strcmp(s->option, "arch") == 0 && s->value &&
      strncmp(s->value, "transformer:", 12) == 0 &&
      strcmp(s->value, s->from) != 0 && s->rank != DL_PASTED_IMPLIED)
    dl_text_add(to, " (a usual shape of this size, assumed)");
}

/* The words of the settings, and what is said of them. */
static void write_words(struct dl_pasted *p, const char *program,
                        struct dl_strlist *words) {
  struct dl_text *said = &p->cli->read_as;
  const char *before = NULL;
  dl_strlist_add(words, program);
  for (size_t i = 0; i < p->n; i++) {
    const struct dl_pasted_setting *s = &p->setting[i];
    DL_TEXT(word);
    if (s->rank == DL_PASTED_OPTION || s->rank == DL_PASTED_PASSED ||
        is_beaten(p, i))
      continue;
    const char *column =
        dl_pasted_option(p, s->option) ? NULL : dl_pasted_column(p, s->option);
    dl_text_printf(&word, "--%s%s%s%s", column ? "set=" : "",
                   column ? column : s->option, s->value ? "=" : "",
                   dl_text_or(s->value, ""));
    dl_strlist_add(words, word.s);
    say(said, before, s, column);
    before = s->from;
  }
  if (p->unused.len > 0)
    dl_text_printf(said, "%snot used: %s", said->len > 0 ? "; " : "",
                   p->unused.s);
  for (size_t i = 0; i < p->kept.n; i++) {
    const char *word = p->kept.s[i];
    DL_TEXT(ours);
    if (p->samples_train && strncmp(word, "--samples", 9) == 0) {
      dl_text_printf(&ours, "--train-samples%s", word + 9);
      dl_text_printf(said, "%s'--samples' as --train-samples",
                     said->len > 0 ? ", " : "read ");
      word = ours.s;
    }
    dl_strlist_add(words, word);
  }
}

enum dl_status dl_pasted_read(struct dl_cli *cli, int argc, char **argv,
                              struct dl_strlist *words) {
  DL_SCOPED(free_pasted)
  struct dl_pasted p = {.cli = cli, .read_file = dl_pasted_file};
  DL_SCOPED(dl_strlist_free) struct dl_strlist plain = {0};
  p.n_rows = dl_command_options(cli->command, p.row, NULL, NULL);
  const char *arguments = cli->command->arguments;
  bool of_job = dl_pasted_option(&p, "arch") && !arguments;
  if (!of_job && !cli->command->reads_words) {
    for (int i = 0; i < argc; i++)
      dl_strlist_add(words, argv[i]);
    return DL_OK;
  }
  DL_TRY(read_words(&p, argc, argv, &plain));
  if (of_job)
    DL_TRY(dl_pasted_plain(&p, plain.s, plain.n));
  dl_pasted_settle_phase(&p);
  DL_TRY(dl_pasted_settle(&p));
  DL_TRY(dl_pasted_settle_shape(&p));
  dl_pasted_settle_length(&p);
  DL_TRY(dl_pasted_check(&p));
  write_words(&p, argv[0], words);
  if (p.unknown.len > 0)
    dl_warn(&cli->diag, "not known here, left out: %s", p.unknown.s);
  return DL_OK;
}
