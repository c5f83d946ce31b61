/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of --help and --usage, laid out as GNU programs do: options by
 * group, sorted within one, their meanings in a column of their own. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/command_line.h"

enum {
  LONG_COLUMN = 6,
  HELP_COLUMN = 29,
  USAGE_INDENT = 12,
  FEWEST_COLUMNS = 79,
};

/* A text in lines of at most `width` columns. */
struct filled_text {
  struct dl_text *to;
  size_t width, column, indent;
};

/* 79, or more where the environment variable COLUMNS says so: programs that
 * read --help ask for whole lines by it. */
static size_t line_width(void) {
  const char *columns = getenv("COLUMNS");
  long n = columns ? strtol(columns, NULL, 10) : 0;
  return n > FEWEST_COLUMNS ? (size_t)n : FEWEST_COLUMNS;
}

static void break_line(struct filled_text *f) {
  dl_text_add(f->to, "\n");
  dl_text_printf(f->to, "%*s", (int)f->indent, "");
  f->column = f->indent;
}

static void add_word(struct filled_text *f, const char *word, size_t n) {
  dl_text_add_n(f->to, word, n);
  f->column += n;
}

/* Adds blanks and the word after them, in a new line where it does not fit. */
static void add_words(struct filled_text *f, const char *s) {
  while (*s) {
    size_t blanks = strspn(s, " "), n = strcspn(s + blanks, " \n");
    if (f->column + blanks + n > f->width && f->column > f->indent)
      break_line(f);
    else
      add_word(f, s, blanks);
    add_word(f, s + blanks, n);
    s += blanks + n;
    if (*s == '\n') {
      s++;
      dl_text_add(f->to, "\n");
      f->column = 0;
    }
  }
}

/* --- the order of options */

/* A row, and the group under whose heading it stands. */
struct listed {
  const struct dl_option *option;
  int group;
};

/* Groups come as 0, 1, 2, ..., -2, -1. */
static int compare_groups(int a, int b) {
  if ((a < 0) != (b < 0))
    return a < 0 ? 1 : -1;
  return (a > b) - (a < b);
}

/* Sorts by first letters; options without a short one come first. */
static int by_name(const void *a, const void *b) {
  const struct listed *x = a, *y = b;
  int order = compare_groups(x->group, y->group);
  if (order != 0)
    return order;
  const struct dl_option *o = x->option, *p = y->option;
  if (!o->name || !p->name)
    return (o->name != NULL) - (p->name != NULL);
  char i = o->letter ? o->letter : *o->name,
       k = p->letter ? p->letter : *p->name;
  if (tolower(i) != tolower(k))
    return tolower(i) - tolower(k);
  if ((o->letter != '\0') != (p->letter != '\0'))
    return o->letter ? 1 : -1;
  return o->letter ? k - i : strcasecmp(o->name, p->name);
}

/* Returns the number of options, in the order in which they are listed. */
static size_t list_options(const struct dl_command *c,
                           struct listed list[DL_MOST_OPTIONS]) {
  const struct dl_option *row[DL_MOST_OPTIONS];
  size_t n = dl_command_options(c, row, NULL, NULL);
  int group = 0;
  for (size_t i = 0; i < n; i++) {
    if (row[i]->group != 0)
      group = row[i]->group;
    else if (!row[i]->name)
      group++;
    list[i] = (struct listed){row[i], group};
  }
  qsort(list, n, sizeof *list, by_name);
  return n;
}

/* --- --usage */

/* Adds " [--name=ARG]", with its blank, whole. */
static void add_item(struct filled_text *f, const struct dl_text *item) {
  if (item->len == 0)
    return;
  if (f->column + item->len > f->width) {
    break_line(f);
    add_word(f, item->s + 1, item->len - 1);
  } else {
    add_word(f, item->s, item->len);
  }
}

static void add_long_usage(struct dl_text *item, const char *name,
                           const struct dl_option *o) {
  dl_text_clear(item);
  dl_text_printf(item, " [--%s%s%s]", name, o->argument ? "=" : "",
                 dl_text_or(o->argument, ""));
}

static void add_usage(struct filled_text *f, const struct listed *list,
                      size_t n) {
  DL_TEXT(item);
  for (size_t i = 0; i < n; i++)
    if (list[i].option->letter && !list[i].option->argument)
      dl_text_printf(&item, "%s%c", item.len > 0 ? "" : " [-",
                     list[i].option->letter);
  if (item.len > 0)
    dl_text_add(&item, "]");
  add_item(f, &item);
  for (size_t i = 0; i < n; i++) {
    const struct dl_option *o = list[i].option;
    dl_text_clear(&item);
    if (o->letter && o->argument)
      dl_text_printf(&item, " [-%c %s]", o->letter, o->argument);
    add_item(f, &item);
  }
  for (size_t i = 0; i < n; i++) {
    const struct dl_option *o = list[i].option;
    if (!o->name)
      continue;
    add_long_usage(&item, o->name, o);
    add_item(f, &item);
    if (!o->alias)
      continue;
    add_long_usage(&item, o->alias, o);
    add_item(f, &item);
  }
}

/* --- --help */

/* Adds "  -a, --arch=NAME" and blanks up to the column of the meanings. */
static void add_names(struct filled_text *f, const struct dl_option *o) {
  DL_TEXT(names);
  if (o->letter)
    dl_text_printf(&names, "  -%c, ", o->letter);
  else
    dl_text_printf(&names, "%*s", LONG_COLUMN, "");
  const char *const name[] = {o->name, o->alias};
  for (size_t i = 0; i < 2 && name[i]; i++)
    dl_text_printf(&names, "%s--%s%s%s", i > 0 ? ", " : "", name[i],
                   o->argument ? "=" : "", dl_text_or(o->argument, ""));
  f->indent = 0;
  add_word(f, dl_text_str(&names), names.len);
  f->indent = HELP_COLUMN;
  if (f->column > HELP_COLUMN + 3)
    break_line(f);
  else if (f->column >= HELP_COLUMN)
    add_word(f, "   ", 3);
  else
    add_word(f, "                             ", HELP_COLUMN - f->column);
}

static void add_option(struct filled_text *f, const struct listed *l,
                       bool new_group) {
  if (new_group)
    dl_text_add(f->to, "\n");
  f->column = f->indent = 0;
  if (l->option->name) {
    add_names(f, l->option);
    add_words(f, l->option->help);
  } else {
    dl_text_printf(f->to, " %s", l->option->help);
  }
  dl_text_add(f->to, "\n");
}

/* Adds a part of what the command does, if there is one, after a blank line. */
static void add_prose(struct filled_text *f, const char *text, size_t n) {
  DL_TEXT(part);
  f->column = f->indent = 0;
  dl_text_add_n(&part, text, n);
  add_words(f, dl_text_str(&part));
  if (n > 0 && f->column > 0)
    dl_text_add(f->to, "\n");
}

void dl_command_help(const struct dl_command *c, bool brief) {
  DL_TEXT(text);
  struct listed list[DL_MOST_OPTIONS];
  struct filled_text f = {
      .to = &text, .width = line_width(), .indent = USAGE_INDENT};
  size_t n = list_options(c, list), before = strcspn(c->doc, "\v");
  dl_text_printf(&text, "Usage: dlest %s", c->name);
  f.column = text.len;
  if (brief)
    add_usage(&f, list, n);
  else
    add_words(&f, " [OPTION...]");
  if (c->arguments) {
    DL_TEXT(arguments);
    dl_text_printf(&arguments, " %s\n", c->arguments);
    add_words(&f, dl_text_str(&arguments));
  } else {
    dl_text_add(&text, "\n");
  }
  if (!brief) {
    add_prose(&f, c->doc, before);
    for (size_t i = 0; i < n; i++)
      add_option(&f, &list[i], i == 0 || list[i].group != list[i - 1].group);
    dl_text_add(&text, "\nMandatory or optional arguments to long options are "
                       "also mandatory or optional\nfor any corresponding "
                       "short options.\n");
    if (c->doc[before]) {
      dl_text_add(&text, "\n");
      add_prose(&f, c->doc + before + 1, strlen(c->doc + before + 1));
    }
  }
  fputs(dl_text_str(&text), stdout);
}
