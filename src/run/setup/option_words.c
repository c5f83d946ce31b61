/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/option_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Columns whose option has another name, or that have none ("set NAME"). */
static const char *const other[][2] = {
    {"n_gpus", "gpus"},
    {"network_gbps", "network"},
    {"duration_s", "duration"},
    {"epoch_s", "epoch-time"},
    {"step_s", "step-time"},
    {"samples_per_s", "throughput"},
    {"tokens_per_s", "throughput"},
    {"gpu_power_w", "gpu-power"},
    {"lora_rank", "set lora_rank"},
    {"checkpointed_layers", "set checkpointed_layers"},
    {"frozen_base", "set frozen_base"},
    {"power_limit_w", "set power_limit_w"},
};

void dl_add_option(struct dl_text *to, const char *column) {
  dl_text_add(to, "--");
  for (size_t i = 0; i < DL_LENGTH(other); i++)
    if (strcmp(column, other[i][0]) == 0) {
      dl_text_add(to, other[i][1]);
      return;
    }
  for (const char *c = column; *c != '\0'; c++)
    dl_text_add_n(to, *c == '_' ? "-" : c, 1);
}

const char *dl_column_word(const struct dl_wording *w, const char *column,
                           char buf[DL_WORD_SIZE]) {
  DL_TEXT(word);
  if (w && w->options)
    dl_add_option(&word, column);
  else
    dl_text_add(&word, column);
  snprintf(buf, DL_WORD_SIZE, "%s", dl_text_str(&word));
  return buf;
}

bool dl_says(struct dl_wording *w, const char *fmt, ...) {
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
