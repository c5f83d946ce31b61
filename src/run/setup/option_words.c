/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/setup/option_words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/run_columns.h"

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

static void add_column(struct dl_wording *w, const char *s, size_t n) {
  DL_FREED char *name = dl_strndup(s, n);
  if (!dl_run_member_find(name)) /* a text of the user */
    dl_text_printf(&w->text, "{%s}", name);
  else if (w->options)
    dl_add_option(&w->text, name);
  else
    dl_text_add(&w->text, name);
}

bool dl_says(struct dl_wording *w, const char *fmt, ...) {
  DL_TEXT(said);
  va_list args;
  if (!w)
    return true;
  va_start(args, fmt);
  dl_text_vprintf(&said, fmt, args);
  va_end(args);
  for (const char *s = dl_text_str(&said); *s != '\0';) {
    size_t n = strcspn(s, "{");
    dl_text_add_n(&w->text, s, n);
    s += n;
    n = strcspn(s, "}");
    if (s[n] == '}')
      add_column(w, s + 1, n - 1);
    else
      dl_text_add_n(&w->text, s, n);
    s += n + (s[n] == '}');
  }
  return true;
}
