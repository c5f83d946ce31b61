/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completing a command line that is being typed. */

#include "cli/completion/complete.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>


/* --- options */

/* Finds an option by its long name or a unique prefix of it. */
static const struct dl_option *find_long(const struct dl_completion *c,
                                         const char *name, size_t len) {
  const struct dl_option *found = NULL;
  size_t n = 0;
  for (size_t i = 0; i < c->n_rows; i++) {
    const char *const names[] = {c->row[i]->name, c->row[i]->alias};
    for (size_t k = 0; k < 2; k++) {
      if (!names[k] || strncmp(names[k], name, len) != 0)
        continue;
      if (names[k][len] == '\0')
        return c->row[i];
      found = c->row[i];
      n++;
    }
  }
  return n == 1 ? found : NULL;
}

static const struct dl_option *find_short(const struct dl_completion *c,
                                          char letter) {
  for (size_t i = 0; i < c->n_rows; i++)
    if (c->row[i]->letter == letter)
      return c->row[i];
  return NULL;
}

/* The option of a word, and its value if that word contains one, or NULL. */
static const struct dl_option *read_option(const struct dl_completion *c,
                                           const char *word,
                                           const char **value) {
  const struct dl_option *o = NULL;
  *value = NULL;
  if (word[1] == '-') {
    const char *eq = strchr(word, '=');
    *value = eq ? eq + 1 : NULL;
    return find_long(c, word + 2,
                     eq ? (size_t)(eq - word) - 2 : strlen(word + 2));
  }
  for (const char *s = word + 1; *s; s++) {
    o = find_short(c, *s);
    if (o && o->argument) {
      *value = s[1] ? s + 1 : NULL;
      return o;
    }
  }
  return o;
}

static void offer_options(struct dl_completion *c) {
  char text[80];
  for (size_t i = 0; i < c->n_rows; i++) {
    const struct dl_option *o = c->row[i];
    const char *const names[] = {o->name, o->alias};
    for (size_t k = 0; k < 2; k++) {
      snprintf(text, sizeof text, "--%s", names[k] ? names[k] : "");
      if (names[k])
        dl_offer(c, text, o->help);
    }
  }
  for (size_t i = 0; c->word[1] == '\0' && i < c->n_rows; i++)
    if (c->row[i]->letter)
      dl_offer(c, (char[]){'-', c->row[i]->letter, '\0'}, c->row[i]->help);
}

/* --- words */

/* Whether a word names a regular CSV file; reading from a pipe would consume
 * its data. */
static bool is_table(const char *word) {
  size_t n = strlen(word);
  struct stat st;
  return n > 4 && dl_word_among(".csv", word + n - 4, 4) == 0 &&
         stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

/* Reads a word that is complete. */
static void read_word(struct dl_completion *c, const char *word) {
  const char *value;
  if (c->open) {
    c->open = NULL;
  } else if (!c->arguments_only && dl_is_word(word, "--")) {
    c->arguments_only = true;
  } else if (!c->arguments_only && word[0] == '-' && word[1]) {
    const struct dl_option *o = read_option(c, word, &value);
    c->open = o && o->argument && !value ? o : NULL;
  } else {
    if (c->n_arguments++ == 0)
      c->argument = word;
    if (is_table(word))
      c->table = word;
  }
}

static void complete_option(struct dl_completion *c) {
  const char *value;
  const struct dl_option *o = read_option(c, c->word, &value);
  if (value && o && o->argument) {
    dl_completion_skip(c, (size_t)(value - c->word));
    dl_offer_values(c, o);
    return;
  }
  offer_options(c);
  if (c->word[1] && c->word[1] != '-' && c->word[2] == '\0' && o)
    dl_offer(c, c->word, o->help);
}

static void offer_commands(struct dl_completion *c, bool all) {
  for (size_t i = 0; dl_commands[i]; i++)
    dl_offer(c, dl_commands[i]->name, dl_commands[i]->summary);
  if (!all)
    return;
  dl_offer(c, "help", "help on a command");
  if (c->word[0] != '-')
    return;
  dl_offer(c, "--help", "the commands");
  dl_offer(c, "--version", "versions of dlest and its libraries");
}

static void complete_command(struct dl_completion *c, int argc, char **argv) {
  c->n_rows = dl_command_options(c->command, c->row, NULL, NULL);
  for (int i = 1; i < argc - 1; i++)
    read_word(c, argv[i]);
  c->catalog = dl_catalog_new(NULL);
  if (c->open)
    dl_offer_values(c, c->open);
  else if (!c->arguments_only && c->word[0] == '-')
    complete_option(c);
  else
    dl_offer_argument(c, c->n_arguments);
  if (c->files && (c->offered == 0 || strchr(c->word, '/')))
    printf(":files\t%.*s\n", (int)c->head_len, c->head);
  dl_catalog_free(c->catalog);
  dl_diag_free(&c->diag);
}

enum dl_status dl_complete(int argc, char **argv) {
  struct dl_completion c = {0};
  c.word = c.head = argc > 0 ? argv[argc - 1] : "";
  bool help = argc > 1 && dl_is_word(argv[0], "help");
  if (argc <= 1 || help) {
    if (argc <= 2)
      offer_commands(&c, !help);
    return DL_OK;
  }
  c.command = dl_command_find(argv[0]);
  if (c.command)
    complete_command(&c, argc, argv);
  return c.status;
}
