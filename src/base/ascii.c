/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of ASCII text without regard to case. */

#include "base/ascii.h"

#include <stdint.h>
#include <string.h>

int dl_strncasecmp(const char *a, const char *b, size_t n) {
  for (; n > 0; a++, b++, n--) {
    char x = dl_lower(*a), y = dl_lower(*b);
    if (x != y || x == '\0')
      return (unsigned char)x - (unsigned char)y;
  }
  return 0;
}

int dl_strcasecmp(const char *a, const char *b) {
  return dl_strncasecmp(a, b, SIZE_MAX);
}

const char *dl_strcasestr(const char *text, const char *word) {
  size_t n = strlen(word);
  for (; *text; text++)
    if (dl_strncasecmp(text, word, n) == 0)
      return text;
  return n == 0 ? text : NULL;
}
