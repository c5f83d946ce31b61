/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch scripts: the directives of Slurm, and the line that launches a
 * training, with its options. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/pasted/pasted_private.h"

/* The words of a line, and the variables that the script has set. */
struct script {
  struct dl_pasted *p;
  struct dl_strlist names, values, words;
};

static const char *value_of(const struct script *s, const char *name) {
  long i = dl_strlist_find(&s->names, name);
  static const char *const of_nodes[] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"};
  for (size_t k = 0; k < DL_LENGTH(of_nodes); k++)
    if (strcmp(name, of_nodes[k]) == 0)
      return s->p->part[DL_PASTED_NODES].value;
  return i >= 0 ? s->values.s[i] : NULL;
}

/* Appends the value of a variable at "$NAME" or "${NAME}", and returns what
 * stands behind it. One that is not known stays as it is. */
static const char *add_variable(const struct script *s, const char *at,
                                struct dl_text *to) {
  bool braces = at[1] == '{';
  const char *from = at + 1 + braces;
  size_t n = 0;
  while (isalnum((unsigned char)from[n]) || from[n] == '_')
    n++;
  DL_FREED char *name = dl_strndup(from, n);
  const char *value = n > 0 ? value_of(s, name) : NULL;
  const char *end = from + n + (braces && from[n] == '}');
  if (value)
    dl_text_add(to, value);
  else
    dl_text_add_n(to, at, (size_t)(end - at));
  return end > at ? end : at + 1;
}

/* Splits a line into words, without quotes and with variables replaced. */
static void split(struct script *s, const char *line) {
  dl_strlist_free(&s->words);
  s->words = (struct dl_strlist){0};
  while (*line) {
    DL_TEXT(word);
    char quote = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
      return;
    for (; *line && (quote || !strchr(" \t;|&", *line));) {
      if (*line == quote)
        quote = '\0', line++;
      else if (!quote && (*line == '"' || *line == '\''))
        quote = *line++;
      else if (*line == '$' && quote != '\'')
        line = add_variable(s, line, &word);
      else if (*line == '\\' && line[1])
        dl_text_add_n(&word, line + 1, 1), line += 2;
      else
        dl_text_add_n(&word, line++, 1);
    }
    line += strspn(line, ";|&");
    dl_strlist_add(&s->words, dl_text_str(&word));
  }
}

/* Options that mean processes and not GPUs to Slurm. */
static bool is_of_tasks(const char *name) {
  return strncmp(name, "ntasks", 6) == 0 || strncmp(name, "tasks", 5) == 0;
}

/* Reads the options among words[from..]; a name of a file of settings that is
 * there is read too. */
static enum dl_status read_options(struct script *s, size_t from) {
  const bool serves = from > 0 && dl_pasted_serves(s->p, s->words.s[from - 1]);
  for (size_t i = from; i < s->words.n; i++) {
    const char *word = s->words.s[i];
    const char *next = i + 1 < s->words.n ? s->words.s[i + 1] : NULL;
    bool taken = false, used = false;
    if (strncmp(word, "--", 2) != 0 || !word[2] || is_of_tasks(word + 2)) {
      if (word[0] != '-' && dl_pasted_is_file(word) &&
          !dl_same_text(word, s->p->file) && access(word, R_OK) == 0)
        DL_TRY(s->p->read_file(s->p, word));
      else if (word[0] != '-' && from > 0)
        DL_TRY(dl_pasted_assigned(s->p, word, &taken));
      if (word[0] != '-' && serves && !taken && !strchr(word, '$'))
        DL_TRY(dl_pasted_plain_word(s->p, word, &taken));
      continue;
    }
    if (strchr(word, '$') || (next && *next == '$' && !strchr(word, '=')))
      continue;
    if (next && strncmp(word, "--deepspeed", 11) == 0 &&
        access(next, R_OK) != 0)
      continue;
    DL_TRY(dl_pasted_word(s->p, word + 2, next, &taken, &used));
    i += used;
    if (!taken)
      dl_text_printf(&s->p->unused, "%s%.*s", s->p->unused.len > 0 ? ", " : "",
                     (int)strcspn(word, "="), word);
  }
  return DL_OK;
}

/* "NAME=value", "export NAME=value". */
static bool take_assignment(struct script *s) {
  size_t i = s->words.n > 1 && strcmp(s->words.s[0], "export") == 0;
  bool any = false;
  for (; i < s->words.n; i++) {
    char *word = s->words.s[i], *eq = strchr(word, '=');
    if (!eq || word[0] == '-' ||
        strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"
                     "ghijklmnopqrstuvwxyz_0123456789") < (size_t)(eq - word))
      return any;
    *eq = '\0';
    dl_strlist_add(&s->names, word);
    dl_strlist_add(&s->values, eq + 1);
    any = true;
  }
  return any;
}

static enum dl_status read_line(struct script *s, const char *line) {
  static const char directive[] = "#SBATCH";
  line += strspn(line, " \t");
  bool sbatch = strncmp(line, directive, strlen(directive)) == 0;
  split(s, sbatch ? line + strlen(directive) : line);
  if (sbatch)
    return read_options(s, 0);
  for (size_t i = 0; i < s->words.n; i++)
    if (dl_pasted_is_launcher(s->words.s[i]))
      return read_options(s, i + 1);
  const char *first = s->words.n > 0 ? s->words.s[0] : "";
  if (strstr(first, "=(") || strncmp(first, "--", 2) == 0) /* an array */
    return read_options(s, 0);
  size_t before = s->values.n;
  if (!take_assignment(s))
    return DL_OK;
  for (size_t i = before; i < s->values.n; i++) /* "--num-layers 24 ..." */
    if (strncmp(s->values.s[i] + strspn(s->values.s[i], " "), "--", 2) == 0) {
      DL_FREED char *options = dl_strdup(s->values.s[i]);
      split(s, options);
      return read_options(s, 0);
    }
  return DL_OK;
}

enum dl_status dl_pasted_script(struct dl_pasted *p, const char *text) {
  struct script s = {.p = p};
  enum dl_status status = DL_OK;
  while (*text && status == DL_OK) {
    DL_TEXT(line);
    for (bool more = true; more && *text;) { /* lines that "\" continues */
      size_t n = strcspn(text, "\n"), own = n;
      while (own > 0 && isspace((unsigned char)text[own - 1]))
        own--;
      more = own > 0 && text[own - 1] == '\\';
      dl_text_add_n(&line, text, own - more);
      dl_text_add(&line, more ? " " : "");
      text += n + (text[n] == '\n');
    }
    status = read_line(&s, dl_text_str(&line));
  }
  dl_strlist_free(&s.names);
  dl_strlist_free(&s.values);
  dl_strlist_free(&s.words);
  return status;
}
