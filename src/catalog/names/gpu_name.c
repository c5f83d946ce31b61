/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/names/gpu_name.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

enum { WORD = 40, MOST_GB = 1100 };

/* A name in words: runs of letters and digits; a dot between digits belongs to
 * them. */
struct name_words {
  const char *p;   /* what is left of the name */
  char word[WORD]; /* in lower case; "" at the end */
  bool lost;       /* a word was too long */
};

static void next_word(struct name_words *w) {
  size_t n = 0;
  while (*w->p && !isalnum((unsigned char)*w->p))
    w->p += *w->p == '@' ? strlen(w->p) : 1; /* a clock follows */
  for (; isalnum((unsigned char)*w->p) ||
         (*w->p == '.' && n > 0 && isdigit((unsigned char)w->p[-1]) &&
          isdigit((unsigned char)w->p[1]));
       w->p++)
    if (n + 1 < WORD)
      w->word[n++] = (char)tolower((unsigned char)*w->p);
    else
      w->lost = true;
  w->word[n] = '\0';
}

static bool is_one_of(const char *word, const char *const *list) {
  for (; *list; list++)
    if (strcmp(word, *list) == 0)
      return true;
  return false;
}

static const char *const no_part[] = {
    "nvidia", "amd",    "intel",     "habana",       "google",      "cloud",
    "huawei", "aws",    "amazon",    "graphcore",    "geforce",     "tesla",
    "radeon", "r",      "tm",        "instinct",     "graphics",    "gpu",
    "gpus",   "tensor", "core",      "ai",           "accelerator", "cts",
    "hgx",    "module", "card",      "superchip",    "labs",        "aarch64",
    "dlc",    "lc",     "aircooled", "liquidcooled", NULL};
static const char *const families[] = {
    "kepler", "maxwell", "pascal", "volta",     "turing",
    "ampere", "ada",     "hopper", "blackwell", NULL};
static const char *const memory_types[] = {"gddr", "lpddr", "ddr", "hbm", NULL};
static const char *const cpus[] = {"grace", NULL};
static const char *const systems[] = {"dgx", NULL};

/* Whether a word is one of the stems and what may follow it: "hbm2e". */
static bool begins_with(const char *word, const char *const *stems) {
  for (; *stems; stems++) {
    size_t n = strlen(*stems);
    if (strncmp(word, *stems, n) == 0 &&
        (word[n] == '\0' || isdigit((unsigned char)word[n])))
      return true;
  }
  return false;
}

static bool is_form(const char *word) {
  static const char *const stems[] = {"sxm", NULL};
  static const char *const words[] = {"pcie", "oam", NULL};
  return begins_with(word, stems) || is_one_of(word, words);
}

/* Stores a part that may occur once, or again with an equal text. */
static bool put(char to[DL_GPU_WORD], const char *word) {
  if (strlen(word) >= DL_GPU_WORD || (*to && strcmp(to, word) != 0))
    return false;
  strcpy(to, word);
  return true;
}

static bool put_number(double *to, double x) {
  bool same = isnan(*to) || *to == x;
  *to = x;
  return same;
}

/* Whether a word is "w/", and no part of a name, as in "W-2295", or watts. */
static bool is_with(const struct name_words *w) {
  return w->word[0] == 'w' && !w->word[1] && *w->p == '/';
}

/* Returns the unit of a word that begins with a number ("80gb"), which is
 * stored in *x, or the word after it if that is a unit ("80 GB"); else NULL. */
static const char *unit_of(struct name_words *w, double *x) {
  static const char *const units[] = {"g", "gb", "gib", "mib", "w", NULL};
  size_t digits = strspn(w->word, "0123456789.");
  if (digits == 0 || dl_parse_number(w->word, digits, x) != DL_NUMBER_OK)
    return NULL;
  if (w->word[digits] && *x > MOST_GB && strcmp(w->word + digits, "g") == 0)
    return NULL; /* "E-2288G" */
  if (w->word[digits])
    return is_one_of(w->word + digits, units) ? w->word + digits : NULL;
  struct name_words ahead = *w;
  next_word(&ahead);
  if (!is_one_of(ahead.word, units + 1) || is_with(&ahead))
    return NULL; /* "g" alone is no unit */
  *w = ahead;
  return w->word;
}

/* Skips the number of a system in front of the accelerator: "DGX", "DGX-1",
 * "DGX-2H". */
static void skip_system(struct name_words *w) {
  struct name_words ahead = *w;
  next_word(&ahead);
  if (isdigit((unsigned char)*ahead.word) && strlen(ahead.word) <= 2)
    *w = ahead;
}

/* Skips what systems report of a CPU beside its name: "CPU @ 2.30GHz",
 * "32-Core Processor", "13th Gen", "with Radeon Graphics". */
static bool skip_cpu_word(struct name_words *w) {
  static const char *const words[] = {"cpu", "processor", "gen", NULL};
  static const char *const ends[] = {"with", NULL};
  static const char *const cores[] = {"core", "cores", NULL};
  static const char *const numbers[] = {
      "dual", "two", "quad", "four", "six", "eight", "twelve", "sixteen", NULL};
  size_t digits = strspn(w->word, "0123456789");
  struct name_words ahead = *w;
  next_word(&ahead);
  if (is_one_of(w->word, ends) || is_with(w)) {
    w->p += strlen(w->p);
    return true;
  }
  bool number = digits > 0 && !w->word[digits];
  if ((number || is_one_of(w->word, numbers)) && is_one_of(ahead.word, cores)) {
    *w = ahead;
    return true;
  }
  return is_one_of(w->word, words) ||
         (digits > 0 && strcmp(w->word + digits, "th") == 0 &&
          strcmp(ahead.word, "gen") == 0);
}

static bool put_word(struct name_words *w, bool keep_family,
                     struct dl_gpu_name *g) {
  if (skip_cpu_word(w))
    return true;
  double x = NAN;
  const char *unit = unit_of(w, &x);
  if (unit && *unit == 'w')
    return put_number(&g->watts, x);
  if (unit)
    return put_number(&g->memory_gb, *unit == 'm' ? x / 1024 : x);
  if (is_form(w->word))
    return put(g->form, w->word);
  if (begins_with(w->word, memory_types))
    return put(g->memory_type, w->word);
  if (!keep_family && is_one_of(w->word, families))
    return put(g->family, w->word);
  if (is_one_of(w->word, no_part) || (!keep_family && is_one_of(w->word, cpus)))
    return true;
  if (is_one_of(w->word, systems)) {
    skip_system(w);
    return true;
  }
  if (strlen(g->product) + strlen(w->word) >= DL_GPU_PRODUCT)
    return false;
  strcat(g->product, w->word);
  return true;
}

bool dl_gpu_name_parse(const char *name, bool keep_family,
                       struct dl_gpu_name *g) {
  *g = (struct dl_gpu_name){.memory_gb = NAN, .watts = NAN};
  struct name_words w = {.p = name};
  for (next_word(&w); *w.word; next_word(&w))
    if (!put_word(&w, keep_family, g))
      return false;
  return strpbrk(g->product, "0123456789") && !w.lost;
}
