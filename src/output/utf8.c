/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin made safe to print. */

#include "output/utf8.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

static bool is_tail(unsigned char c) {
  return (c & 0xC0) == 0x80;
}

/* Whether the second byte may follow the first: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
static bool is_second(unsigned char first, unsigned char c) {
  switch (first) {
  case 0xE0:
    return c >= 0xA0 && c <= 0xBF;
  case 0xED:
    return c >= 0x80 && c <= 0x9F;
  case 0xF0:
    return c >= 0x90 && c <= 0xBF;
  case 0xF4:
    return c >= 0x80 && c <= 0x8F;
  default:
    return is_tail(c);
  }
}

/* Bytes of the code point at s, 0 if it is not valid. A NUL ends it early. */
static size_t code_point(const unsigned char *s) {
  size_t n = 0;
  if (s[0] < 0x80)
    return 1;
  if (s[0] >= 0xC2 && s[0] <= 0xDF)
    n = 2;
  else if (s[0] >= 0xE0 && s[0] <= 0xEF)
    n = 3;
  else if (s[0] >= 0xF0 && s[0] <= 0xF4)
    n = 4;
  if (n == 0 || !is_second(s[0], s[1]))
    return 0;
  for (size_t i = 2; i < n; i++)
    if (!is_tail(s[i]))
      return 0;
  return n;
}

/* C0, DEL and C1, which terminals interpret. */
static bool is_control(const unsigned char *s) {
  return s[0] < 0x20 || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0);
}

void dl_utf8_clean(struct dl_text *t, const char *s, bool keep_controls) {
  const unsigned char *at = (const unsigned char *)s;
  while (*at) {
    size_t plain = 0; /* printable ASCII, the usual case */
    while (at[plain] >= 0x20 && at[plain] < 0x7F)
      plain++;
    dl_text_add_n(t, (const char *)at, plain);
    at += plain;
    if (!*at)
      break;
    size_t n = code_point(at);
    if (n == 0 || (!keep_controls && is_control(at)))
      dl_text_add(t, REPLACEMENT);
    else
      dl_text_add_n(t, (const char *)at, n);
    at += n ? n : 1;
  }
}

size_t dl_utf8_width(const char *s, size_t len) {
  size_t width = 0;
  for (size_t i = 0; i < len; i++)
    width += (s[i] & 0xC0) != 0x80; /* no continuation byte */
  return width;
}
