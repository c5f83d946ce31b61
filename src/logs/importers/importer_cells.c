/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parsing of cells, rows and headers for importers. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"
#include "io/csv_header.h"
#include "logs/importers/importer.h"
#include "logs/log.h"

/* Texts that stand for a missing value. */
#define MISSING                                                                \
  "|[n/a]|n/a|[not supported]|not supported|[unknown error]|-|nan|none|null|"  \
  "<not counted>|<not supported>|unknown"

double dl_unit(const char *s, size_t len, enum dl_dimension dimension) {
  static const char prefixes[] = "umkM";
  static const double scales[] = {1e-6, 1e-3, 1e3, 1e6};
  static const char *const symbols[] = {[DL_NO_DIMENSION] = "-",
                                        [DL_POWER] = "W|watt|watts",
                                        [DL_ENERGY_UNIT] = "J|joule|joules|Wh",
                                        [DL_SHARE] = "%"};
  double scale = dimension == DL_SHARE ? 0.01 : 1;
  if (len > 2 && strncmp(s, "\xC2\xB5", 2) == 0) { /* the sign for micro */
    scale = 1e-6;
    s += 2;
    len -= 2;
  } else if (len > 1 && strchr(prefixes, *s)) {
    scale = scales[strchr(prefixes, *s) - prefixes];
    s++;
    len--;
    if (scale > 1e3 && !isupper((unsigned char)*s)) /* "Mw": milli or mega */
      return NAN;
  }
  int at = dl_word_among(symbols[dimension], s, len);
  if (at < 0)
    return NAN;
  bool is_wh = dimension == DL_ENERGY_UNIT && at == 3;
  return is_wh ? scale * DL_J_PER_WH : scale;
}

/* Small scales divide: 0.001 is not exact in a double. */
static double scaled(double x, double scale) {
  return scale < 1 ? x / round(1 / scale) : x * scale;
}

bool dl_cell_value(const char *s, size_t len, enum dl_dimension dimension,
                   double scale, double *x) {
  const char *end = s + len;
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  const char *behind = dl_take_decimal(s, end, x), *unit;
  if (!behind || (behind < end && *behind != ' ' && strchr("eE+-.", *behind))) {
    *x = NAN;
    if (dl_word_among(MISSING, s, (size_t)(end - s)) >= 0)
      return true;
    size_t n = 0; /* the longest text that may be a number */
    while (s + n < end &&
           (isdigit((unsigned char)s[n]) || strchr("eE+-.", s[n])))
      n++;
    if (n == 0 || dl_parse_number(s, n, x) != DL_NUMBER_OK)
      return false;
    behind = s + n;
  }
  for (unit = behind; unit < end && *unit == ' ';)
    unit++;
  if (unit < end && dimension != DL_NO_DIMENSION)
    scale = dl_unit(unit, (size_t)(end - unit), dimension);
  else if (unit < end && unit == behind && !(*unit == '%' && unit + 1 == end))
    scale = NAN;
  for (const char *c = unit; dimension == DL_NO_DIMENSION && c < end; c++)
    if (*c == ' ' || *c == '.' || isdigit((unsigned char)*c))
      scale = NAN;
  *x = scaled(*x, scale);
  return !isnan(scale) && !isinf(*x);
}

bool dl_cell_number(const char *s, size_t len, double *x) {
  return dl_cell_value(s, len, DL_NO_DIMENSION, 1, x);
}

char *dl_cell_trim(char *s, char *end) {
  while (s < end && (*s == ' ' || *s == '\t'))
    s++;
  while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  *end = '\0';
  return s;
}

/* Removes quotes around a field; doubled quotes within become one. */
static char *unquote(char *s) {
  size_t len = strlen(s);
  if (len < 2 || s[0] != '"' || s[len - 1] != '"')
    return s;
  s[len - 1] = '\0';
  char *to = ++s;
  for (const char *from = s; *from != '\0'; from++) {
    if (from[0] == '"' && from[1] == '"')
      from++;
    *to++ = *from;
  }
  *to = '\0';
  return s;
}

size_t dl_cell_split(char *s, char separator, char **field, size_t most) {
  size_t n = 0;
  bool quotes = strchr(s, '"') != NULL;
  for (bool last = false; !last; n++) {
    char *end = s + strcspn(s, (char[]){separator, '\0'});
    if (quotes) {
      bool quoted = false;
      for (end = s; *end != '\0' && (quoted || *end != separator); end++)
        quoted ^= *end == '"';
    }
    last = *end == '\0';
    char *cell = dl_cell_trim(s, end);
    if (n < most)
      field[n] = quotes ? unquote(cell) : cell;
    s = end + 1;
  }
  return n;
}

size_t dl_cell_words(char *s, char **field, size_t most) {
  for (size_t n = 0;; n++) {
    s += strspn(s, " \t");
    if (*s == '\0')
      return n;
    if (n < most)
      field[n] = s;
    s += strcspn(s, " \t");
    if (*s != '\0')
      *s++ = '\0';
  }
}

/* Whether a field is the decimals of a time and not a number of its own:
 * microseconds, nanoseconds, or a zone behind them. */
static bool is_fraction(const char *s) {
  size_t n = strspn(s, "0123456789");
  return n == 6 || n == 9 || (n > 0 && s[n] != '\0' && strchr("+-Z", s[n]));
}

size_t dl_cell_join_time(char **field, size_t n, size_t expected) {
  struct dl_timestamp t;
  for (size_t i = 0; n == expected + 1 && i < expected; i++) {
    char *comma = strchr(field[i], '\0');
    if (field[i + 1] != comma + 1 || !is_fraction(comma + 1) ||
        !dl_parse_timestamp(field[i], strlen(field[i]), &t))
      continue;
    *comma = ',';
    if (dl_parse_timestamp(field[i], strlen(field[i]), &t)) {
      memmove(field + i + 1, field + i + 2, (expected - i - 1) * sizeof *field);
      return expected;
    }
    *comma = '\0';
  }
  return n;
}

const char *dl_cell_hint(char separator, size_t n, size_t expected) {
  return separator == ',' && n > expected
             ? ": write points for commas within numbers and times"
             : "";
}

bool dl_cell_fields(struct dl_log *log, char separator, char **field, size_t n,
                    size_t expected) {
  if (separator == ',')
    n = dl_cell_join_time(field, n, expected);
  return n == expected ||
         dl_log_bad(log, "expected %zu fields, found %zu%s", expected, n,
                    dl_cell_hint(separator, n, expected));
}

bool dl_cell_row(struct dl_log *log, char *s, char separator, char **field,
                 size_t expected) {
  size_t n = separator == ' '
                 ? dl_cell_words(s, field, expected)
                 : dl_cell_split(s, separator, field, expected + 1);
  return dl_cell_fields(log, separator, field, n, expected);
}

void dl_cell_columns(char *const *field, size_t n,
                     const struct dl_cell_column *columns, size_t n_columns,
                     int *at) {
  memset(at, -1, n_columns * sizeof *at);
  for (size_t i = n; i-- > 0;) {
    size_t len = strcspn(field[i], "["); /* "power.draw [W]" */
    while (len > 0 && field[i][len - 1] == ' ')
      len--;
    for (size_t c = 0; c < n_columns; c++)
      if (dl_word_among(columns[c].names, field[i], len) >= 0)
        at[c] = (int)i;
  }
}

bool dl_cell_header(char *const *field, size_t n,
                    const struct dl_cell_column *columns, size_t n_columns,
                    int *at) {
  for (size_t i = 0; i < n; i++)
    if (dl_csv_begins_number(field[i]))
      return false;
  dl_cell_columns(field, n, columns, n_columns, at);
  return true;
}

bool dl_cell_quantity(struct dl_log *log, const struct dl_cell_column *column,
                      const char *s, double *x) {
  return (dl_cell_value(s, strlen(s), column->dimension, column->scale, x) &&
          !(*x < 0)) ||
         dl_log_bad(log, "column '%.*s': invalid number '%.40s'",
                    (int)strcspn(column->names, "|"), column->names, s);
}

bool dl_cell_time(struct dl_log *log, const char *column, const char *s,
                  int64_t *ns) {
  return dl_log_time(log, s, strlen(s), ns) ||
         dl_log_bad(log, "column '%s': invalid time '%.40s'", column, s);
}

bool dl_cell_date(struct dl_log *log, char *s, int64_t *ns) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char *word[8], text[64];
  const char *clock = NULL, *zone = "";
  int month = 0, noon = -1;
  size_t n = dl_cell_words(s, word, 8), count, day = 0, year = 0, hour;
  for (size_t i = 0; i < n && n <= 8; i++) {
    if (strchr(word[i], ':'))
      clock = word[i];
    else if (dl_parse_count(word[i], &count))
      *(count > 31 ? &year : &day) = count;
    else if (dl_is_word(word[i], "UTC") || dl_is_word(word[i], "GMT"))
      zone = "Z";
    else if (dl_word_among("AM|PM", word[i], strlen(word[i])) >= 0)
      noon = dl_word_among("AM|PM", word[i], strlen(word[i]));
    else
      for (int m = 0; m < 12 && month == 0; m++)
        if (strncasecmp(word[i], months + 3 * m, 3) == 0)
          month = m + 1;
  }
  if (!clock || strlen(clock) < 8 || clock[2] != ':' || month == 0 ||
      year > 9999)
    return false;
  snprintf(text, sizeof text, "%.2s", clock);
  if (!dl_parse_count(text, &hour) || hour > 23)
    return false;
  if (noon >= 0)
    hour = hour % 12 + (noon ? 12 : 0);
  int len = snprintf(text, sizeof text, "%04zu-%02d-%02zu %02zu%.18s%s", year,
                     month, day, hour, clock + 2, zone);
  return len > 0 && (size_t)len < sizeof text &&
         dl_log_time(log, text, (size_t)len, ns);
}

bool dl_head_line(const struct dl_head *head, size_t *at, char *buf,
                  size_t size) {
  if (!head->text)
    return false;
  const char *s = head->text + *at;
  s += strspn(s, " \t\r\n");
  if (*s == '\0')
    return false;
  size_t len = strcspn(s, "\r\n");
  *at = (size_t)(s - head->text) + len;
  while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
    len--;
  if (len > size - 1)
    len = size - 1;
  memcpy(buf, s, len);
  buf[len] = '\0';
  return true;
}

bool dl_head_has(const struct dl_head *head, const char *names) {
  char line[DL_HEAD_LINE], *field[DL_HEAD_FIELDS];
  size_t at = 0, len, i;
  if (!dl_head_line(head, &at, line, sizeof line))
    return false;
  size_t n = dl_cell_split(line, ',', field, DL_HEAD_FIELDS);
  for (; *names; names += len + (names[len] == ',')) {
    len = strcspn(names, ",");
    for (i = 0; i < n && i < DL_HEAD_FIELDS; i++)
      if (strlen(field[i]) == len && strncasecmp(field[i], names, len) == 0)
        break;
    if (i == n || i == DL_HEAD_FIELDS)
      return false;
  }
  return true;
}

void dl_round_twice(struct dl_rounds *r, size_t device) {
  if (r->n_twice++ == 0)
    r->twice = device;
}

size_t dl_round_of(struct dl_rounds *r, size_t device) {
  size_t i = device % DL_ROUND_DEVICES;
  uint64_t bit = UINT64_C(1) << (i % 64);
  if (!r->begun) {
    r->begun = true;
    r->first = device;
  } else if (device == r->first || (r->seen[i / 64] & bit) != 0) {
    r->round++;
    memset(r->seen, 0, sizeof r->seen);
  }
  bool again = r->round > 0 && device == r->last;
  if (r->again && !again)
    dl_round_twice(r, r->last);
  r->again = again;
  r->last = device;
  r->seen[i / 64] |= bit;
  return r->round;
}

bool dl_cell_is_uuid(const char *s) {
  static const char hexadecimal[] = "0123456789abcdefABCDEF";
  bool prefix = false;
  while (strncmp(s, "GPU-", 4) == 0 || strncmp(s, "MIG-", 4) == 0) {
    prefix = true;
    s += 4;
  }
  return prefix && strspn(s, hexadecimal) == 8 && s[8] == '-';
}
