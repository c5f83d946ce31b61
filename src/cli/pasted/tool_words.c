/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of other tools, by the table of tool_words.def and the other names of
 * quantities. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/pasted/pasted_private.h"
#include "quantities/quantities.h"

enum word_kind {
  SAYS_VALUE,
  SAYS_SWITCH,
  WEAK_SWITCH,
  IS_PART,
  IS_LIST,
  IS_KNOWN,
  IS_SHAPE,
  IS_SHAPE_SWITCH,
  IS_LENGTH,
  READS_FILE,
  NOT_USED,
  NOT_USED_SWITCH,
  NOT_USED_LIST,
  NOT_ESTIMATED,
  ASKED
};

static const struct tool_word {
  const char *names;
  enum word_kind kind;
  const char *option, *values;
  enum dl_pasted_part part;
} words[] = {
#define SAYS(names_, option_, values_)                                         \
  {names_, SAYS_VALUE, option_, values_, 0},
#define IS(names_, option_, value_) {names_, SAYS_SWITCH, option_, value_, 0},
#define KNOWN(names_, option_) {names_, IS_KNOWN, option_, "%s", 0},
#define WEAK(names_, option_, value_) {names_, WEAK_SWITCH, option_, value_, 0},
#define PART(names_, part_) {names_, IS_PART, NULL, NULL, DL_PASTED_##part_},
#define COUNTS(names_, part_) {names_, IS_LIST, NULL, NULL, DL_PASTED_##part_},
#define SHAPE(names_, key_) {names_, IS_SHAPE, NULL, key_, 0},
#define SHAPE_IS(names_, text_) {names_, IS_SHAPE_SWITCH, NULL, text_, 0},
#define LENGTH(names_) {names_, IS_LENGTH, NULL, NULL, 0},
#define READS(names_) {names_, READS_FILE, NULL, NULL, 0},
#define UNUSED(names_) {names_, NOT_USED, NULL, NULL, 0},
#define UNUSED_SWITCH(names_) {names_, NOT_USED_SWITCH, NULL, NULL, 0},
#define UNUSED_LIST(names_) {names_, NOT_USED_LIST, NULL, NULL, 0},
#define LACKS(names_, text_) {names_, NOT_ESTIMATED, NULL, text_, 0},
#define ASKS(names_, text_) {names_, ASKED, NULL, text_, 0},
#include "cli/pasted/tool_words.def"
};

static bool is_among(const char *names, const char *s) {
  return dl_word_among(names, s, strlen(s)) >= 0;
}

/* A switch is off, or a value is none. */
static bool is_no(const char *s) {
  return is_among("false|no|off|none|null|0|-1|~|auto", s);
}

static bool is_truth(const char *s) {
  return is_among("true|false|yes|no|on|off|1|0|none|null|~|auto", s);
}

/* Appends what a value is here: its text in "theirs=ours|...", or in "%s".
 * False: no value is mapped so. */
static bool map_value(const char *values, const char *value,
                      struct dl_text *to) {
  const char *any = strstr(values, "%s");
  if (any) {
    dl_text_printf(to, "%.*s%s%s", (int)(any - values), values, value, any + 2);
    return true;
  }
  DL_TEXT(folded);
  dl_pasted_fold(&folded, value, strcspn(value, " ,"));
  for (const char *s = values;; s++) {
    size_t n = strcspn(s, "="), m = strcspn(s, "|");
    if (folded.len == n && strncmp(s, dl_text_str(&folded), n) == 0) {
      dl_text_add_n(to, s + n + 1, m - n - 1);
      return true;
    }
    s += m;
    if (!*s)
      return false;
  }
}

/* Appends the values of a map, "a, b, c". */
static void add_values(const char *values, struct dl_text *to) {
  for (const char *s = values;; s++) {
    size_t n = strcspn(s, "=");
    dl_text_printf(to, "%s%.*s", to->len > 0 ? ", " : "", (int)n, s);
    s += strcspn(s, "|");
    if (!*s)
      return;
  }
}

static const struct tool_word *find(const char *folded) {
  for (size_t i = 0; i < DL_LENGTH(words); i++)
    if (is_among(words[i].names, folded))
      return &words[i];
  return NULL;
}

/* A word as the launcher of the command line means it, or as all others do. */
static const struct tool_word *find_of(const struct dl_pasted *p,
                                       const char *folded) {
  DL_TEXT(own);
  if (p->launcher)
    dl_pasted_fold(&own, p->launcher, strlen(p->launcher));
  dl_text_add(&own, folded);
  const struct tool_word *w = p->launcher ? find(own.s) : NULL;
  return w ? w : find(folded);
}

/* The option of a quantity that others call so. */
static const char *renamed(const char *folded) {
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    DL_TEXT(own);
    dl_pasted_fold(&own, c->name, strlen(c->name));
    bool is = c->called && is_among(c->called, folded);
    if (c->option && (is || strcmp(dl_text_str(&own), folded) == 0))
      return c->option;
  }
  return NULL;
}

static void add_unused(struct dl_pasted *p, const char *from) {
  dl_text_printf(&p->unused, "%s%s", p->unused.len > 0 ? ", " : "", from);
}

/* Sets an option, by the ways in which its values are written. */
static enum dl_status set(struct dl_pasted *p, const char *option,
                          const char *value, const char *from, bool weak) {
  bool taken = false;
  enum dl_pasted_rank rank = weak ? DL_PASTED_SWITCH : DL_PASTED_WORD;
  if (p->file)
    rank = weak ? DL_PASTED_FILE_SWITCH : DL_PASTED_FILE;
  if (!dl_pasted_option(p, option)) {
    if (!p->file && value && dl_pasted_column(p, option)) {
      dl_pasted_set(p, option, value, from, rank);
      return DL_OK;
    }
    if (p->file)
      add_unused(p, from);
    if (!p->file && strncmp(from, "--", 2) == 0 &&
        strcmp(from + 2, option) == 0)
      return dl_fail(&p->cli->diag, DL_EUSAGE,
                     "unknown option '%s'; see 'dlest %s --help'", from,
                     p->cli->command->name);
    return p->file ? DL_OK
                   : dl_fail(&p->cli->diag, DL_EUSAGE,
                             "%s is --%s, which 'dlest %s' does not take", from,
                             option, p->cli->command->name);
  }
  if (is_among("dataset", option) && !dl_pasted_dataset(p->cli, value)) {
    dl_text_printf(&p->no_data, "%s%s %s", p->no_data.len > 0 ? ", " : "", from,
                   value);
    return DL_OK;
  }
  DL_TRY(dl_pasted_value(p, option, value, from, &taken));
  if (!taken)
    dl_pasted_set(p, option, value, from, rank);
  return DL_OK;
}

static enum dl_status say(struct dl_pasted *p, const struct tool_word *w,
                          const char *value, const char *from) {
  DL_TEXT(ours);
  DL_TEXT(all);
  if (p->file && is_no(value) && !strstr(w->values, "%s") &&
      !map_value(w->values, value, &ours))
    return DL_OK;
  dl_text_clear(&ours);
  if (map_value(w->values, value, &ours))
    return ours.len > 0 ? set(p, w->option, ours.s, from, false) : DL_OK;
  add_values(w->values, &all);
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "%s: '%.64s' is not known here (%s); write --%s VALUE", from,
                 value, dl_text_str(&all), w->option);
}

/* Reads a word that is a switch where no value stands behind it. */
static enum dl_status take_switch(struct dl_pasted *p,
                                  const struct tool_word *w, const char *value,
                                  const char *from) {
  if (value && is_no(value))
    return DL_OK;
  if (w->kind == NOT_ESTIMATED) {
    dl_warn(&p->cli->diag, "%s: %s is not estimated", from, w->values);
    return DL_OK;
  }
  return set(p, w->option, w->values, from, w->kind == WEAK_SWITCH);
}

/* Composer's lengths: 10ep, 4800ba, 1e12tok, 50000sp; a number alone is of
 * epochs. */
static enum dl_status take_length(struct dl_pasted *p, const char *value,
                                  const char *from) {
  static const struct dl_named_text options[] = {{"ep", "epochs"},
                                                 {"", "epochs"},
                                                 {"tok", "tokens"},
                                                 {"sp", "train-samples"}};
  const size_t n = strspn(value, "0123456789.eE+");
  const size_t cut = n > 1 && tolower(value[n - 1]) == 'e' ? n - 1 : n;
  const char *unit = value + cut;
  DL_TEXT(number);
  dl_text_add_n(&number, value, cut);
  if (cut > 0 && strcasecmp(unit, "ba") == 0) {
    dl_pasted_part(p, DL_PASTED_STEPS, number.s, from);
    return DL_OK;
  }
  const char *option = dl_text_of_name(options, DL_LENGTH(options), unit, NULL);
  if (cut > 0 && option)
    return set(p, option, number.s, from, false);
  return dl_fail(&p->cli->diag, DL_EUSAGE,
                 "%s: invalid value '%.64s'; expected a number and ep, ba, tok "
                 "or sp, as 10ep",
                 from, value);
}

/* The number of indices in "0,1,2,3", "[0,1]" or "localhost:0,1". */
static void take_list(struct dl_pasted *p, const struct tool_word *w,
                      const char *value, const char *from) {
  const char *colon = strrchr(value, ':');
  const char *list = colon ? colon + 1 : value;
  size_t n = 1, digits = 0;
  for (const char *c = list; *c; c++) {
    n += *c == ',';
    digits += isdigit((unsigned char)*c) != 0;
  }
  if (digits == 0 || strspn(list, "0123456789, []") < strlen(list) ||
      strchr(value, '@') || (n == 1 && colon))
    add_unused(p, from);
  else {
    char buf[DL_NUMBER_SIZE];
    dl_pasted_part(p, w->part, dl_format_short(buf, (double)n), from);
  }
}

static enum dl_status take_value(struct dl_pasted *p, const struct tool_word *w,
                                 const char *value, const char *from) {
  if (p->file && strcmp(value, "auto") == 0)
    return DL_OK;
  if (w->kind == READS_FILE)
    return p->read_file(p, value);
  bool named = w->kind == IS_PART && w->part == DL_PASTED_NODES &&
               !isdigit((unsigned char)*value);
  if (named) /* the plural of --node */
    return set(p, "node", value, from, false);
  if (w->kind == IS_PART) {
    dl_pasted_part(p, w->part, value, from);
    return DL_OK;
  }
  if (w->kind == IS_LENGTH)
    return take_length(p, value, from);
  if (w->kind == IS_KNOWN) {
    DL_TEXT(arch);
    if (dl_pasted_network(p->cli, value, &arch))
      return set(p, w->option, value, from, false);
    add_unused(p, from);
    return DL_OK;
  }
  if (w->kind == IS_LIST) {
    take_list(p, w, value, from);
    return DL_OK;
  }
  if (w->kind == IS_SHAPE) {
    DL_TEXT(text);
    dl_text_printf(&text, "%s=%s", w->values, value);
    dl_pasted_shape(p, text.s, from);
    return DL_OK;
  }
  return say(p, w, value, from);
}

/* Applies a word, with its value or NULL. */
static enum dl_status apply(struct dl_pasted *p, const struct tool_word *w,
                            const char *value, const char *from) {
  struct dl_diag *d = &p->cli->diag;
  switch (w->kind) {
  case NOT_USED:
  case NOT_USED_SWITCH:
  case NOT_USED_LIST:
    add_unused(p, from);
    return DL_OK;
  case SAYS_SWITCH:
  case WEAK_SWITCH:
  case NOT_ESTIMATED:
    return take_switch(p, w, value, from);
  case IS_SHAPE_SWITCH:
    if (!value || !is_no(value))
      dl_pasted_shape(p, w->values, from);
    return DL_OK;
  case ASKED:
    if (p->file || (value && is_among("false|no|none|null", value))) {
      add_unused(p, from);
      return DL_OK;
    }
    return dl_fail(d, DL_EUSAGE, "%s is not certain here; write %s", from,
                   w->values);
  default:
    if (!value && w->kind == READS_FILE) {
      add_unused(p, from);
      return DL_OK;
    }
    if (!value && w->kind == IS_PART && w->part == DL_PASTED_LORA_RANK) {
      dl_pasted_part(p, DL_PASTED_ADAPTERS, "lora", from); /* the usual rank */
      return DL_OK;
    }
    if (!value && w->kind == SAYS_VALUE &&
        strncmp(w->values, "qlora:", 6) == 0) {
      dl_pasted_part(p, DL_PASTED_ADAPTERS, "qlora", from);
      return DL_OK;
    }
    if (!value && w->kind == IS_PART)
      value = "true";
    return value ? take_value(p, w, value, from)
                 : dl_fail(d, DL_EUSAGE, "option %s needs a value", from);
  }
}

/* Whether a word takes the word behind it as its value. */
static bool takes_next(const struct tool_word *w, const char *next) {
  if (!next || (next[0] == '-' && isalpha((unsigned char)next[1])) ||
      (next[0] == '-' && next[1] == '-'))
    return false;
  bool is_switch = w->kind == SAYS_SWITCH || w->kind == WEAK_SWITCH ||
                   w->kind == NOT_USED_SWITCH || w->kind == IS_SHAPE_SWITCH;
  bool may_switch = w->kind == IS_PART && (w->part == DL_PASTED_BITS ||
                                           w->part == DL_PASTED_ADAPTERS);
  if (w->kind == IS_PART && w->part == DL_PASTED_LORA_RANK)
    return isdigit((unsigned char)*next);
  if (w->kind == NOT_ESTIMATED)
    return is_truth(next) || is_among("cpu|nvme", next);
  if (w->kind == READS_FILE)
    return strchr(next, '.') != NULL;
  if (may_switch)
    return is_truth(next) || isdigit((unsigned char)*next) ||
           is_among("lora|qlora|full|freeze", next);
  return !is_switch || is_truth(next);
}

enum dl_status dl_pasted_word(struct dl_pasted *p, const char *name,
                              const char *next, bool *taken, bool *used) {
  DL_TEXT(folded);
  DL_TEXT(from);
  size_t n = strcspn(name, "=");
  const char *given = name[n] == '=' ? name + n + 1 : NULL;
  dl_pasted_fold(&folded, name, n);
  dl_text_printf(&from, "--%.*s", (int)n, name);
  const struct tool_word *w = find_of(p, dl_text_str(&folded));
  const char *option = w ? NULL : renamed(dl_text_str(&folded));
  *taken = w || option;
  *used = false;
  if (!*taken)
    return DL_OK;
  if (w) {
    *used = !given && takes_next(w, next);
    return apply(p, w, *used ? next : given, from.s);
  }
  const struct dl_option *row = dl_pasted_option(p, option);
  *used = !given && next && (!row || row->argument);
  const char *value = *used ? next : given;
  if (row && row->argument && !value)
    return dl_fail(&p->cli->diag, DL_EUSAGE, "option %s needs a value", from.s);
  return set(p, option, value, from.s, false);
}

bool dl_pasted_takes(const struct dl_pasted *p, const char *name,
                     const char *next) {
  DL_TEXT(folded);
  dl_pasted_fold(&folded, name, strlen(name));
  const struct tool_word *w = find_of(p, dl_text_str(&folded));
  if (w)
    return takes_next(w, next);
  const char *option = renamed(dl_text_str(&folded));
  const struct dl_option *row = option ? dl_pasted_option(p, option) : NULL;
  return option && (!row || row->argument);
}

enum dl_status dl_pasted_switch(struct dl_pasted *p, const char *word,
                                bool *taken) {
  DL_TEXT(folded);
  dl_pasted_fold(&folded, word, strlen(word));
  const struct tool_word *w = find_of(p, dl_text_str(&folded));
  *taken = w && (w->kind == SAYS_SWITCH || w->kind == NOT_USED_SWITCH ||
                 w->kind == ASKED);
  return *taken ? apply(p, w, NULL, word) : DL_OK;
}

/* The part of a path behind its last dot. */
static const char *leaf(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : path;
}

/* The option of a member of a file, by its path or by its last name. */
static const char *option_of(const char *whole, const char *last) {
  const char *option = renamed(whole);
  return option ? option : renamed(last);
}

enum dl_status dl_pasted_member(struct dl_pasted *p, const char *path,
                                const char *meaning, const char *value) {
  DL_TEXT(whole);
  DL_TEXT(last);
  const char *name = meaning ? meaning : path;
  dl_pasted_fold(&whole, name, strlen(name));
  dl_pasted_fold(&last, leaf(name), strlen(leaf(name)));
  const struct tool_word *w = find(dl_text_str(&whole));
  if (!w && !strstr(path, "scheduler"))
    w = find(dl_text_str(&last));
  if (w)
    return apply(p, w, value, path);
  const char *option = option_of(dl_text_str(&whole), dl_text_str(&last));
  const struct dl_option *row = option ? dl_pasted_option(p, option) : NULL;
  if (!option) {
    add_unused(p, path);
    return DL_OK;
  }
  if (is_among("none|null|~|auto|-1|", value))
    return DL_OK;
  if (row && !row->argument)
    return is_no(value) ? DL_OK : set(p, option, NULL, path, false);
  return set(p, option, value, path, false);
}
