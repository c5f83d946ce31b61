/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/completion/complete.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ascii.h"

/* What argp adds by itself. */
static const struct argp_option argp_own[] = {
    {"help", '?', NULL, 0, "give this help list", 0},
    {"usage", 0x1000, NULL, 0, "give a short usage message", 0},
    {"version", 'V', NULL, 0, "print program version", 0},
    {0},
};
static const struct argp own_argp = {.options = argp_own};

/* The words of a command line, as far as they are read. */
struct line {
  const struct argp *argp[3];     /* the command's, the common, argp's own */
  const struct argp_option *open; /* waits for its value, or NULL */
  size_t n_arguments;
  bool arguments_only; /* behind "--" */
};

/* --- options */

static bool is_alias(const struct argp_option *o) {
  return o->flags & OPTION_ALIAS;
}

static bool ends(const struct argp_option *o) {
  return !o->name && !o->key && !o->doc && !o->group;
}

typedef bool visit(const struct argp_option *o, const struct argp_option *first,
                   void *ctx);

/* Every option of a parser and its children; `first` is what an alias stands
 * for. Stops where the visitor is done. */
static bool walk(const struct argp *a, visit *see, void *ctx) {
  const struct argp_option *first = NULL;
  for (const struct argp_option *o = a->options; o && !ends(o); o++) {
    if (!is_alias(o))
      first = o;
    if ((o->name || o->key) && !(o->flags & (OPTION_HIDDEN | OPTION_DOC)) &&
        see(o, first, ctx))
      return true;
  }
  for (const struct argp_child *k = a->children; k && k->argp; k++)
    if (walk(k->argp, see, ctx))
      return true;
  return false;
}

static bool walk_all(const struct line *l, visit *see, void *ctx) {
  for (size_t i = 0; i < sizeof l->argp / sizeof *l->argp; i++)
    if (l->argp[i] && walk(l->argp[i], see, ctx))
      return true;
  return false;
}

struct wanted {
  const char *name; /* long, or NULL */
  size_t len;
  int key;
  bool exact;
  const struct argp_option *found;
  size_t n;
};

static bool match_long(const struct argp_option *o,
                       const struct argp_option *first, void *ctx) {
  struct wanted *w = ctx;
  if (!o->name || strncmp(o->name, w->name, w->len) != 0)
    return false;
  w->found = first;
  w->n++;
  w->exact = o->name[w->len] == '\0';
  return w->exact;
}

static bool match_short(const struct argp_option *o,
                        const struct argp_option *first, void *ctx) {
  struct wanted *w = ctx;
  if (o->key != w->key)
    return false;
  w->found = first;
  return true;
}

/* By its long name, or what begins that of one option alone. */
static const struct argp_option *find_long(const struct line *l,
                                           const char *name, size_t len) {
  struct wanted w = {.name = name, .len = len};
  walk_all(l, match_long, &w);
  return w.exact || w.n == 1 ? w.found : NULL;
}

static const struct argp_option *find_short(const struct line *l, char key) {
  struct wanted w = {.key = (unsigned char)key};
  walk_all(l, match_short, &w);
  return w.found;
}

/* An option and where in its word the value begins; NULL: the next word. */
static const struct argp_option *
read_option(const struct line *l, const char *word, const char **value) {
  const struct argp_option *o = NULL;
  *value = NULL;
  if (word[1] == '-') {
    const char *eq = strchr(word, '=');
    *value = eq ? eq + 1 : NULL;
    return find_long(l, word + 2,
                     eq ? (size_t)(eq - word) - 2 : strlen(word + 2));
  }
  for (const char *s = word + 1; *s; s++) {
    o = find_short(l, *s);
    if (o && o->arg) {
      *value = s[1] ? s + 1 : NULL;
      return o;
    }
  }
  return o;
}

static bool offer_option(const struct argp_option *o,
                         const struct argp_option *first, void *ctx) {
  struct dl_completion *c = ctx;
  if (o->name) {
    char text[80];
    snprintf(text, sizeof text, "--%s", o->name);
    dl_offer(c, text, first->doc);
  }
  return false;
}

static bool offer_short(const struct argp_option *o,
                        const struct argp_option *first, void *ctx) {
  if (o->key > ' ' && o->key < 127 && o->key != '?')
    dl_offer(ctx, (char[]){'-', (char)o->key, '\0'}, first->doc);
  return false;
}

/* --- words */

/* A file, that is: reading a pipe would take what it holds. */
static bool is_table(const char *word) {
  size_t n = strlen(word);
  struct stat st;
  return n > 4 && dl_strcasecmp(word + n - 4, ".csv") == 0 &&
         stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

/* A word that is finished. */
static void read_word(struct line *l, struct dl_completion *c,
                      const char *word) {
  const char *value;
  if (l->open) {
    l->open = NULL;
  } else if (!l->arguments_only && strcmp(word, "--") == 0) {
    l->arguments_only = true;
  } else if (!l->arguments_only && word[0] == '-' && word[1]) {
    const struct argp_option *o = read_option(l, word, &value);
    l->open = o && o->arg && !value ? o : NULL;
  } else {
    if (l->n_arguments++ == 0)
      c->argument = word;
    if (is_table(word))
      c->table = word;
  }
}

static enum dl_status complete_option(const struct line *l,
                                      struct dl_completion *c,
                                      struct dl_diag *d) {
  const char *value;
  const struct argp_option *o = read_option(l, c->word, &value);
  if (value && o && o->arg) {
    dl_completion_skip(c, (size_t)(value - c->word));
    return dl_offer_values(c, o->name, o->arg, d);
  }
  walk_all(l, offer_option, c);
  if (c->word[1] == '\0')
    walk_all(l, offer_short, c);
  else if (c->word[1] != '-' && c->word[2] == '\0' && o)
    dl_offer(c, c->word, o->doc);
  return DL_OK;
}

static enum dl_status complete_word(const struct line *l,
                                    struct dl_completion *c,
                                    struct dl_diag *d) {
  if (l->open)
    return dl_offer_values(c, l->open->name, l->open->arg, d);
  if (!l->arguments_only && c->word[0] == '-')
    return complete_option(l, c, d);
  return dl_offer_argument(c, l->n_arguments, d);
}

static void offer_commands(struct dl_completion *c, bool all) {
  for (size_t i = 0; i < dl_command_count(); i++)
    dl_offer(c, dl_command_at(i)->name, dl_command_at(i)->summary);
  if (!all)
    return;
  dl_offer(c, "help", "help on a command");
  if (c->word[0] != '-')
    return;
  dl_offer(c, "--help", "the commands");
  dl_offer(c, "--version", "versions of dlest and its libraries");
}

static void quiet(void *ctx, const char *text) {
  (void)ctx;
  (void)text;
}

static enum dl_status complete_command(struct dl_completion *c, int argc,
                                       char **argv) {
  struct line l = {.argp = {c->command->argp, &dl_common_argp, &own_argp}};
  struct dl_diag d;
  for (int i = 1; i < argc - 1; i++)
    read_word(&l, c, argv[i]);
  dl_diag_init(&d);
  d.on_warning = quiet;
  c->catalog = dl_catalog_new(dl_datadir());
  enum dl_status status =
      c->catalog ? complete_word(&l, c, &d) : dl_fail_memory(&d);
  if (c->files && (c->offered == 0 || strchr(c->word, '/')))
    printf(":files\t%.*s\n", (int)c->head_len, c->head);
  dl_catalog_free(c->catalog);
  dl_diag_free(&d);
  return status;
}

enum dl_status dl_complete(int argc, char **argv) {
  struct dl_completion c = {0};
  c.word = c.head = argc > 0 ? argv[argc - 1] : "";
  bool help = argc > 1 && strcmp(argv[0], "help") == 0;
  if (argc <= 1 || help) {
    if (argc <= 2)
      offer_commands(&c, !help);
    return DL_OK;
  }
  c.command = dl_command_find(argv[0]);
  return c.command ? complete_command(&c, argc, argv) : DL_OK;
}
