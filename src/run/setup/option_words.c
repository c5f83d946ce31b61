/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/option_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/run_columns.h"

#define WORD "abcdefghijklmnopqrstuvwxyz0123456789_"

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

void dl_as_options(struct dl_text *message) {
  struct dl_text out = {0};
  for (const char *s = dl_text_str(message); *s != '\0';) {
    size_t n = strspn(s, WORD);
    char *word = dl_strndup(s, n);
    bool quoted = s > message->s && s[-1] == '\'';
    if (n > 0 && !quoted && strchr(word, '_') && dl_run_column_find(word))
      dl_add_option(&out, word);
    else
      dl_text_add_n(&out, s, n > 0 ? n : 1);
    free(word);
    s += n > 0 ? n : 1;
  }
  dl_text_free(message);
  *message = out;
}
