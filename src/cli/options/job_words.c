/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/job_words.h"

#include <string.h>

#include "base/ascii.h"
#include "base/nearest_names.h"

enum { MOST_WORDS = 8 };

static const struct {
  const char *column;
  const char *words[MOST_WORDS + 1];
} lists[] = {
    {"phase", {"training", "inference"}},
    {"scaling", {"weak", "strong"}},
    {"precision",
     {"fp64", "fp32", "tf32", "fp16", "bf16", "amp", "fp8", "int8"}},
    {"framework", {"pytorch", "tensorflow"}},
};

static const char *word_of(const char *const *words, const char *arg,
                           struct dl_text *near) {
  size_t n = 0;
  for (; words[n]; n++)
    if (dl_strcasecmp(words[n], arg) == 0)
      return words[n];
  dl_nearest_names(arg, words, n, 2, near);
  return NULL;
}

const char *dl_job_word(const char *column, const char *arg,
                        struct dl_text *near) {
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (strcmp(lists[i].column, column) == 0)
      return word_of(lists[i].words, arg, near);
  return arg;
}
