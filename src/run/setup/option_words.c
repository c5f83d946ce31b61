/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/option_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "quantities/quantities.h"

void dl_add_option(struct dl_text *to, const char *column) {
  const struct dl_run_column *c = dl_run_member_find(column);
  const char *option = c ? c->set_by : NULL;
  if (c && c->option)
    option = c->option;
  if (option)
    dl_text_printf(to, "--%s", option);
  else
    dl_text_printf(to, "--set %s", column);
}

const char *dl_column_word(const struct dl_message_style *w, const char *column,
                           char buf[DL_WORD_SIZE]) {
  DL_TEXT(word);
  if (w && w->options)
    dl_add_option(&word, column);
  else
    dl_text_add(&word, column);
  snprintf(buf, DL_WORD_SIZE, "%s", dl_text_str(&word));
  return buf;
}

bool dl_rule_message(struct dl_message_style *w, const char *fmt, ...) {
  DL_TEXT(plain);
  char column[DL_WORD_SIZE], word[DL_WORD_SIZE];
  va_list args;
  if (!w)
    return true;
  for (const char *s = fmt; *s != '\0';) {
    size_t n = strcspn(s, "{"), end = n + strcspn(s + n, "}");
    dl_text_add_n(&plain, s, n);
    if (s[n] == '{') {
      snprintf(column, sizeof column, "%.*s", (int)(end - n - 1), s + n + 1);
      dl_text_add(&plain, dl_column_word(w, column, word));
    }
    s += end + (s[end] == '}');
  }
  va_start(args, fmt);
  dl_text_vprintf(&w->text, dl_text_str(&plain), args);
  va_end(args);
  return true;
}
