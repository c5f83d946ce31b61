/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the value of one option. */

#include "cli/options/option.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/timestamp.h"
#include "cli/options/count_text.h"

/* Index of a word in "one|two|three", or -1. */
static int word_index(const char *words, const char *arg) {
  size_t n = strlen(arg);
  for (int i = 0;; i++) {
    size_t len = strcspn(words, "|");
    if (n == len && memcmp(words, arg, len) == 0)
      return i;
    if (!words[len])
      return -1;
    words += len + 1;
  }
}

static bool read_number(const struct dl_option *o, const char *arg,
                        double *to) {
  double x;
  bool ok;
  if (o->kind == DL_OPTION_TIME)
    ok = dl_parse_duration(arg, &x) ||
         (o->from_zero && dl_parse_double(arg, &x) && !(fabs(x) > 0));
  else if (o->large)
    ok = dl_parse_large_count(arg, &x);
  else
    ok = dl_parse_double(arg, &x);
  if (!ok || (o->high > 0 && x > o->high) || (o->whole && x != floor(x)))
    return false;
  if (o->kind == DL_OPTION_PERCENT) {
    *to = x / 100;
    return x >= 1 && x < 100;
  }
  *to = x;
  return o->kind == DL_OPTION_NUMBER || o->from_zero ? x >= o->low : x > o->low;
}

static bool read_count(const struct dl_option *o, const char *arg, size_t *to) {
  return dl_parse_count(arg, to) && (double)*to >= o->low &&
         !(o->high > 0 && (double)*to > o->high);
}

/* False: one of the words is empty. */
static bool read_words(struct dl_strlist *to, const char *arg) {
  size_t i = to->n;
  dl_strlist_split(to, arg, ',');
  while (i < to->n && *to->s[i])
    i++;
  return i == to->n;
}

/* Adds "a|b" as "a or b". */
static void add_alternatives(struct dl_text *t, const char *words) {
  for (const char *s = words; *s; s++)
    if (*s == '|')
      dl_text_add(t, " or ");
    else
      dl_text_add_n(t, s, 1);
}

/* Describes the values that an option takes. */
static void add_expected(const struct dl_option *o, struct dl_text *t) {
  const char *words = o->words ? o->words : o->argument;
  bool whole = o->kind == DL_OPTION_COUNT || o->whole;
  if (o->expected)
    dl_text_add(t, o->expected);
  else if (o->kind == DL_OPTION_PERCENT)
    dl_text_add(t, "percent, from 1 to below 100");
  else if (o->kind == DL_OPTION_TIME && o->high > 0)
    dl_text_printf(
        t, "a time above 0, at most %g s: 90s, 30m, 1h30m, 1:30:00, 2 days",
        o->high);
  else if (o->kind == DL_OPTION_TIME)
    dl_text_add(t, "a time above 0: 90s, 30m, 1h30m, 1:30:00, 2 days");
  else if (o->kind == DL_OPTION_WORDS)
    dl_text_add(t, "values separated by commas");
  else if (o->kind == DL_OPTION_CHOICE)
    add_alternatives(t, words);
  else if (o->kind == DL_OPTION_ABOVE && o->high > 0)
    dl_text_printf(t, "a number above %g, at most %g", o->low, o->high);
  else if (o->kind == DL_OPTION_ABOVE)
    dl_text_printf(t, "a number above %g", o->low);
  else if (o->high > 0)
    dl_text_printf(
        t, whole ? "a whole number from %g to %g" : "a number from %g to %g",
        o->low, o->high);
  else
    dl_text_printf(t, whole ? "a whole number from %g" : "a number from %g",
                   o->low);
  if (o->large)
    dl_text_add(t, ": 1281167, 50k, 1.5M, 2e12");
}

/* Whether the value of an option is a count of something. */
static bool is_count(const struct dl_option *o) {
  return o->kind == DL_OPTION_COUNT || o->whole || o->large;
}

static enum dl_status refuse(const struct dl_option *o, const char *arg,
                             struct dl_diag *d) {
  DL_TEXT(t);
  double x;
  if (o->kind == DL_OPTION_TIME && dl_parse_double(arg, &x) && x > 0)
    return dl_fail(d, DL_EUSAGE,
                   "--%s: '%s' has no unit; write %ss, %sm, %sh or %sd",
                   o->name, arg, arg, arg, arg, arg);
  if (is_count(o) && !(o->large && dl_parse_large_count(arg, &x)))
    dl_count_forms(arg, &t);
  if (t.len > 0) {
    dl_fail(d, DL_EUSAGE, "--%s: '%s' is ambiguous; write %s", o->name, arg,
            dl_text_str(&t));
    return DL_EUSAGE;
  }
  add_expected(o, &t);
  return dl_fail(d, DL_EUSAGE, "--%s: invalid value '%s'; expected %s", o->name,
                 arg, dl_text_str(&t));
}

enum dl_status dl_option_store(const struct dl_option *o, char *arg, void *at,
                               struct dl_diag *d) {
  enum dl_status status = DL_OK;
  bool ok = true;
  int i;
  switch (o->read ? DL_OPTION_READ : o->kind) {
  case DL_OPTION_FLAG:
    *(bool *)at = true;
    break;
  case DL_OPTION_TEXT:
    *(const char **)at = arg;
    break;
  case DL_OPTION_LIST:
    dl_strlist_add(at, arg);
    break;
  case DL_OPTION_WORDS:
    ok = read_words(at, arg);
    break;
  case DL_OPTION_COUNT:
    ok = read_count(o, arg, at);
    break;
  case DL_OPTION_CHOICE:
    i = word_index(o->words ? o->words : o->argument, arg);
    *(unsigned *)at = (unsigned)i;
    ok = i >= 0;
    break;
  case DL_OPTION_READ: /* its row has the function
                        * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    status = o->read(o, arg, at, d);
    break;
  default:
    ok = read_number(o, arg, at);
  }
  if (status == DL_EFAILED)
    return status;
  if (ok && status == DL_OK)
    return DL_OK;
  return d->error ? DL_EUSAGE : refuse(o, arg, d);
}

const char *dl_value_in(const struct dl_strlist *l, const char *name) {
  size_t n = strlen(name);
  for (size_t i = l->n; i > 0; i--)
    if (strncmp(l->s[i - 1], name, n) == 0 && l->s[i - 1][n] == '=')
      return l->s[i - 1] + n + 1;
  return NULL;
}
