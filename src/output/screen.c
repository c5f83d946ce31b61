/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"

/* Below that no table could be laid out. */
#define LEAST_WIDTH 20

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

bool dl_terminal_is_able(void) {
  const char *term = getenv("TERM");
  return term && !dl_is_word(term, "dumb");
}

struct dl_screen dl_screen_of(FILE *f) {
  struct dl_screen s = {0};
  struct winsize size = {0};
  const char *no_color = getenv("NO_COLOR");
  const char *columns = getenv("COLUMNS");
  int fd = fileno(f);
  if (fd < 0 || !isatty(fd))
    return s;
  s.colour = !(no_color && no_color[0]) && dl_terminal_is_able();
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    s.width = size.ws_col;
  else if (!columns || !dl_parse_count(columns, &s.width))
    s.width = 0;
  if (s.width < LEAST_WIDTH)
    s.width = 0;
  return s;
}

void dl_screen_add(struct dl_text *t, const struct dl_screen *s,
                   const char *effect, const char *text, size_t n) {
  if (s->colour && effect)
    dl_text_printf(t, "\033[%sm%.*s\033[0m", effect, (int)n, text);
  else
    dl_text_add_n(t, text, n);
}

size_t dl_utf8_next(const char *text, unsigned *point) {
  /* The range of the first byte, the number of bytes of the code point, and the
   * range of the second byte, which excludes overlong forms, surrogates and
   * code points above U+10FFFF (Unicode 15, table 3-7). */
  enum { FIRST, LAST, BYTES, LOW, HIGH };
  static const unsigned char forms[][5] = {
      {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
      {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F},
      {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
      {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F}};
  const unsigned char *s = (const unsigned char *)text;
  size_t form = 0, i = 1;
  *point = s[0];
  if (s[0] < 0x80)
    return 1;
  while (form < DL_LENGTH(forms) && s[0] > forms[form][LAST])
    form++;
  *point = 0xFFFD;
  if (form == DL_LENGTH(forms) || s[0] < forms[form][FIRST] ||
      s[1] < forms[form][LOW] || s[1] > forms[form][HIGH])
    return 1;
  unsigned n = forms[form][BYTES], value = s[0] & (0x7Fu >> n);
  for (; i < n && (s[i] & 0xC0) == 0x80; i++)
    value = value << 6 | (s[i] & 0x3F);
  if (i < n)
    return 1;
  *point = value;
  return n;
}

bool dl_utf8_is_unsafe(unsigned point) {
  static const unsigned unsafe[][2] = {/* first and last */
                                       {0x00, 0x1F},     {0x7F, 0x9F},
                                       {0x061C, 0x061C}, {0x200E, 0x200F},
                                       {0x2028, 0x202E}, {0x2066, 0x2069}};
  for (size_t i = 0; i < DL_LENGTH(unsafe); i++)
    if (point >= unsafe[i][0] && point <= unsafe[i][1])
      return true;
  return false;
}

void dl_utf8_clean(struct dl_text *t, const char *s, bool keep_unsafe) {
  while (*s) {
    size_t plain = 0; /* printable ASCII, the usual case */
    while (s[plain] >= 0x20 && s[plain] < 0x7F)
      plain++;
    dl_text_add_n(t, s, plain);
    s += plain;
    if (!*s)
      break;
    unsigned point;
    size_t n = dl_utf8_next(s, &point);
    if (point == 0xFFFD || (!keep_unsafe && dl_utf8_is_unsafe(point)))
      dl_text_add(t, REPLACEMENT);
    else
      dl_text_add_n(t, s, n);
    s += n;
  }
}

/* Columns of a code point: 0 for marks that combine with the character before,
 * 2 for wide characters, as wcwidth(3) has them, which depends on the locale.
 */
static size_t width_of(unsigned point) {
  static const struct {
    unsigned first, last, columns;
  } ranges[] = {
#include "output/character_widths.def"
  };
  size_t low = 0, high = DL_LENGTH(ranges);
  while (low < high) {
    const size_t i = (low + high) / 2;
    if (point > ranges[i].last)
      low = i + 1;
    else
      high = i;
  }
  return low < DL_LENGTH(ranges) && point >= ranges[low].first
             ? ranges[low].columns
             : 1;
}

size_t dl_utf8_width(const char *s, size_t len) {
  size_t width = 0;
  unsigned point;
  for (size_t i = 0; i < len;) {
    i += dl_utf8_next(s + i, &point);
    width += point < 0x80 ? 1 : width_of(point);
  }
  return width;
}

size_t dl_wrapped_line(const char *s, size_t width, bool hard) {
  size_t len = strlen(s), at = 0, column = 0, blank = 0;
  if (dl_utf8_width(s, len) <= width)
    return len;
  while (at < len && (column < width || (blank == 0 && !hard))) {
    unsigned point;
    size_t n = dl_utf8_next(s + at, &point);
    size_t wide = width_of(point);
    if (column + wide > width && (hard || blank > 0) && column > 0)
      break;
    if (point == ' ' && s[at + 1] != '%') /* 90 % stays together */
      blank = at;
    at += n;
    column += wide;
  }
  if ((s[at] == ' ' && s[at + 1] != '%') || at == len)
    return at;
  return blank > 0 ? blank : at;
}
