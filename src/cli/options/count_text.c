/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/count_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static const struct prefix {
  char c;
  int power; /* of 10 */
} prefixes[] = {{'k', 3}, {'M', 6}, {'G', 9}, {'B', 9}, {'T', 12}};

/* The one prefix that follows a decimal number of n bytes, in either case. */
static const struct prefix *prefix_of(const char *s, size_t *n) {
  *n = strspn(s, "0123456789.");
  for (size_t i = 0; *n > 0 && i < DL_LENGTH(prefixes); i++)
    if (tolower((unsigned char)prefixes[i].c) ==
            tolower((unsigned char)s[*n]) &&
        !s[*n + 1])
      return &prefixes[i];
  return NULL;
}

bool dl_parse_large_count(const char *s, double *out) {
  char text[DL_NUMBER_SIZE];
  size_t n;
  const struct prefix *p = prefix_of(s, &n);
  if (!p)
    return dl_parse_double(s, out);
  if (p->power > 3 &&
      islower((unsigned char)s[n])) /* m may mean a thousandth */
    return false;
  int len = snprintf(text, sizeof text, "%.*se%d", (int)n, s, p->power);
  return (size_t)len < sizeof text && dl_parse_double(text, out);
}

char *dl_format_large_count(char buf[DL_NUMBER_SIZE], double x) {
  char prefix = 'M';
  double unit = 1e6;
  if (x < 1e7)
    return dl_format_short(buf, x);
  if (!(x < 1e12)) {
    prefix = 'T';
    unit = 1e12;
  } else if (!(x < 1e9)) {
    prefix = 'B';
    unit = 1e9;
  }
  dl_format_digits(buf, x / unit, 3);
  size_t n = strlen(buf);
  if (strchr(buf, '.')) /* 50, not 50.0 */
    while (n > 1 && (buf[n - 1] == '0' || buf[n - 1] == '.'))
      if (buf[--n] == '.')
        break;
  buf[n] = prefix;
  buf[n + 1] = '\0';
  return buf;
}

/* Whether digits stand in groups of three with one separator between them. */
static bool is_grouped(const char *s) {
  size_t n = strspn(s, "0123456789");
  const char separator = s[n];
  if (n == 0 || n > 3 || !separator || !strchr(",_' ", separator))
    return false;
  for (s += n; *s; s += 4)
    if (*s != separator || strspn(s + 1, "0123456789") < 3)
      return false;
  return true;
}

void dl_count_forms(const char *s, struct dl_text *to) {
  char digits[DL_NUMBER_SIZE], binary[DL_NUMBER_SIZE];
  size_t n;
  double x;
  const struct prefix *p = prefix_of(s, &n);
  if (is_grouped(s)) {
    for (; *s; s++)
      if (isdigit((unsigned char)*s))
        dl_text_add_n(to, s, 1);
  } else if (p && dl_parse_large_count(s, &x)) {
    const int thousands = p->power / 3;
    dl_format_short(digits, x);
    dl_format_short(binary, x / pow(10, p->power) * pow(1024, thousands));
    dl_text_printf(to, "%s or %s", digits, binary);
  } else if (p) {
    dl_text_printf(to, "%.*s%c or %.*se%d", (int)n, s, p->c, (int)n, s,
                   p->power);
  }
}
