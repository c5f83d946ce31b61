/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What importers read cells with. */

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/number.h"
#include "logs/importers/importer.h"

static const char *skip_blanks(const char *s, const char *end) {
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  return s;
}

/* What stands where there is no value. */
static bool is_missing(const char *s, size_t len) {
  static const char *const words[] = {"[n/a]",
                                      "n/a",
                                      "[not supported]",
                                      "not supported",
                                      "[unknown error]",
                                      "-",
                                      "nan",
                                      "none",
                                      "null"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == len && dl_strncasecmp(s, words[i], len) == 0)
      return true;
  return len == 0;
}

/* The plain decimals of sensors: up to 15 digits, exact in a double before
 * the one division. Where the number ends, or NULL for others. */
static const char *plain_decimal(const char *s, const char *end, double *x) {
  static const double power[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  int64_t digits = 0;
  int n = 0, decimals = 0;
  bool point = false;
  for (; s < end; s++) {
    if (*s == '.' && !point && n > 0) {
      point = true;
    } else if (*s >= '0' && *s <= '9' && n < 15) {
      digits = digits * 10 + (*s - '0');
      n++;
      decimals += point;
    } else {
      break;
    }
  }
  if (n == 0 || n == 15 || (point && decimals == 0))
    return NULL;
  *x = (double)digits / power[decimals];
  return s;
}

/* A unit: a blank and a word, or a percent sign. */
static bool is_unit(const char *s, const char *end) {
  if (s < end && *s == '%')
    s++;
  else if (s < end && *s == ' ')
    for (s = skip_blanks(s, end);
         s<end && * s> ' ' && *s != '.' && !(*s >= '0' && *s <= '9');)
      s++;
  return s == end;
}

bool dl_cell_number(const char *s, size_t len, double *x) {
  const char *end = s + len;
  s = skip_blanks(s, end);
  while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  const char *behind = plain_decimal(s, end, x);
  if (behind && (behind == end || is_unit(behind, end)))
    return true;
  *x = NAN;
  if (is_missing(s, (size_t)(end - s)))
    return true;
  /* The longest text that may be a number, then its unit. */
  size_t n = 0;
  while (s + n < end && (strchr("+-.eE", s[n]) || (s[n] >= '0' && s[n] <= '9')))
    n++;
  return n > 0 && is_unit(s + n, end) &&
         dl_parse_number(s, n, x) == DL_NUMBER_OK;
}

char *dl_cell_trim(char *s, char *end) {
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  *end = '\0';
  return s;
}

void dl_cell_split(char *s, char separator, char **field, size_t most,
                   size_t *n) {
  *n = 0;
  for (bool last = false; !last; (*n)++) {
    char *end = strchrnul(s, separator);
    last = *end == '\0';
    char *cell = dl_cell_trim(s, end);
    if (*n < most)
      field[*n] = cell;
    s = end + 1;
  }
}

void dl_cell_words(char *s, char **field, size_t most, size_t *n) {
  *n = 0;
  for (;; (*n)++) {
    s += strspn(s, " \t");
    if (*s == '\0')
      return;
    if (*n < most)
      field[*n] = s;
    s += strcspn(s, " \t");
    if (*s != '\0')
      *s++ = '\0';
  }
}

int dl_cell_among(const char *names, const char *s, size_t len) {
  for (int at = 0; names; at++) {
    const char *end = strchrnul(names, '|');
    if ((size_t)(end - names) == len && dl_strncasecmp(names, s, len) == 0)
      return at;
    names = *end == '\0' ? NULL : end + 1;
  }
  return -1;
}

void dl_cell_columns(char *const *field, size_t n, const char *const *names,
                     size_t n_columns, int *at) {
  for (size_t c = 0; c < n_columns; c++) {
    at[c] = -1;
    for (size_t i = 0; at[c] < 0 && i < n; i++)
      if (dl_cell_among(names[c], field[i], strlen(field[i])) >= 0)
        at[c] = (int)i;
  }
}

bool dl_cell_quantity(struct dl_log *log, const char *column, const char *s,
                      double *x) {
  return (dl_cell_number(s, strlen(s), x) && !(*x < 0)) ||
         dl_log_bad(log, "column '%s': invalid number '%.40s'", column, s);
}

bool dl_cell_time(struct dl_log *log, const char *column, const char *s,
                  int64_t *ns) {
  return dl_log_time(log, s, strlen(s), ns) ||
         dl_log_bad(log, "column '%s': invalid time '%.40s'", column, s);
}

/* Whether one field of s[0..len) is `name`. */
static bool has_field(const char *s, size_t len, char separator,
                      const char *name) {
  const char *end = s + len;
  size_t want = strlen(name);
  while (s <= end) {
    const char *stop = memchr(s, separator, (size_t)(end - s));
    const char *next = stop ? stop + 1 : end + 1;
    const char *to = stop ? stop : end;
    s = skip_blanks(s, to);
    while (to > s && (to[-1] == ' ' || to[-1] == '\t'))
      to--;
    if (to - s >= 2 && *s == '"' && to[-1] == '"') {
      s++;
      to--;
    }
    if ((size_t)(to - s) == want && dl_strncasecmp(s, name, want) == 0)
      return true;
    s = next;
  }
  return false;
}

bool dl_head_has(const struct dl_head *head, char separator,
                 const char *const *names) {
  const char *s = head->text + strspn(head->text, " \t\r\n");
  size_t len = strcspn(s, "\r\n");
  for (; *names; names++)
    if (!has_field(s, len, separator, *names))
      return false;
  return true;
}
