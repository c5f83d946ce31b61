/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Characters and case of ASCII, the same under every locale: in Turkish ones
 * strcasecmp() takes 'i' and 'I' for different letters. */

#ifndef DL_BASE_ASCII_H
#define DL_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline bool dl_is_digit(char c) {
  return c >= '0' && c <= '9';
}

static inline bool dl_is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static inline bool dl_is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static inline bool dl_is_alpha(char c) {
  return dl_is_lower(c) || dl_is_upper(c);
}

static inline bool dl_is_alnum(char c) {
  return dl_is_alpha(c) || dl_is_digit(c);
}

/* Space, tab, line feed, vertical tab, form feed, carriage return. */
static inline bool dl_is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool dl_is_control(char c) {
  return (c >= '\0' && c < ' ') || c == '\x7f';
}

static inline char dl_lower(char c) {
  return dl_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char dl_upper(char c) {
  return dl_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

/* Compare without regard to case: negative, 0 or positive as strcasecmp(). The
 * second looks at the first n bytes at most. */
int dl_strcasecmp(const char *a, const char *b);
int dl_strncasecmp(const char *a, const char *b, size_t n);

/* The first place of `word` in `text`, in any case; NULL without one. */
const char *dl_strcasestr(const char *text, const char *word);

#endif
