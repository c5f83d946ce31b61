/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/count_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static const char prefixes[] = "kMGBT";
static const int powers[] = {3, 6, 9, 9, 12}; /* of 10, of each prefix */

/* The number of the one prefix that follows a decimal number of n bytes, in
 * either case; -1 without. */
static int prefix_of(const char *s, size_t *n) {
  *n = strspn(s, "0123456789.");
  for (int i = 0; *n > 0 && prefixes[i]; i++)
    if (tolower((unsigned char)prefixes[i]) == tolower((unsigned char)s[*n]) &&
        !s[*n + 1])
      return i;
  return -1;
}

bool dl_parse_large_count(const char *s, double *out) {
  char text[DL_NUMBER_SIZE];
  size_t n;
  int prefix = prefix_of(s, &n);
  if (prefix < 0)
    return dl_parse_double(s, out);
  if (powers[prefix] > 3 &&
      islower((unsigned char)s[n])) /* m may mean a thousandth */
    return false;
  int len = snprintf(text, sizeof text, "%.*se%d", (int)n, s, powers[prefix]);
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
  int p = prefix_of(s, &n);
  if (is_grouped(s)) {
    for (; *s; s++)
      if (isdigit((unsigned char)*s))
        dl_text_add_n(to, s, 1);
  } else if (p >= 0 && dl_parse_large_count(s, &x)) {
    const int thousands = powers[p] / 3;
    dl_format_short(digits, x);
    dl_format_short(binary, x / pow(10, powers[p]) * pow(1024, thousands));
    dl_text_printf(to, "%s or %s", digits, binary);
  } else if (p >= 0) {
    dl_text_printf(to, "%.*s%c or %.*se%d", (int)n, s, prefixes[p], (int)n, s,
                   powers[p]);
  }
}
