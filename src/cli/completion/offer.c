/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing what may follow. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/completion/complete.h"
#include "output/screen.h"

/* Neither blanks nor what a shell would take for its own. */
static bool is_plain(const char *text) {
  for (const char *s = text; *s; s++)
    if (!isalnum((unsigned char)*s) && !strchr("_-.:+=,@%/", *s))
      return false;
  return true;
}

/* The first line of a description, safe to print. */
static void print_about(const char *about) {
  DL_TEXT(line);
  DL_TEXT(clean);
  dl_text_add_n(&line, about, strcspn(about, "\n"));
  dl_utf8_clean(&clean, dl_text_str(&line), false);
  fputs(dl_text_str(&clean), stdout);
}

/* All in capitals, as far as there are letters. */
static bool is_upper(const char *word) {
  bool upper = false;
  for (const char *s = word; *s; s++) {
    if (islower((unsigned char)*s))
      return false;
    upper |= isupper((unsigned char)*s);
  }
  return upper;
}

void dl_offer(struct dl_completion *c, const char *text, const char *about) {
  size_t n = strlen(c->word);
  int differs =
      c->any_case ? strncasecmp(text, c->word, n) : strncmp(text, c->word, n);
  if (differs || !is_plain(text))
    return;
  /* The typed text stays, and the continuation keeps its case. */
  printf("%.*s%s", (int)c->head_len, c->head, c->word);
  bool upper = c->any_case && is_upper(c->word);
  for (const char *s = text + n; *s; s++)
    putchar(upper ? toupper((unsigned char)*s) : *s);
  if (about && *about) {
    putchar('\t');
    print_about(about);
  }
  putchar('\n');
  c->offered++;
}

void dl_completion_skip(struct dl_completion *c, size_t n) {
  c->head_len += n;
  c->word += n;
}
