/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/table_scan.h"

#include <string.h>

bool dl_scan_head(const struct dl_head *head, size_t *at, char *buf,
                  size_t size) {
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

/* The end of a field that begins at s: a separator or the line's end. */
static char *field_end(char *s, char separator) {
  for (bool quoted = false; *s != '\0' && (quoted || *s != separator); s++)
    if (*s == '"')
      quoted = !quoted;
  return s;
}

/* Takes off blanks and one pair of quotes; doubled quotes become one. */
static char *bare(char *s, char *end) {
  s = dl_cell_trim(s, end);
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

void dl_scan_fields(char *s, char separator, char **field, size_t most,
                    size_t *n) {
  *n = 0;
  for (bool last = false; !last; (*n)++) {
    char *end = field_end(s, separator);
    last = *end == '\0';
    char *next = end + 1;
    if (*n < most)
      field[*n] = bare(s, end);
    s = next;
  }
}

size_t dl_scan_round(struct dl_rounds *r, size_t device) {
  size_t i = device % DL_ROUND_DEVICES;
  uint64_t bit = UINT64_C(1) << (i % 64);
  if (!r->begun) {
    r->begun = true;
    r->first = device;
  } else if (device == r->first || (r->seen[i / 64] & bit) != 0) {
    r->round++;
    memset(r->seen, 0, sizeof r->seen);
  }
  r->seen[i / 64] |= bit;
  return r->round;
}
