/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"

/* Below that no table could be laid out. */
#define LEAST_WIDTH 20

struct dl_screen dl_screen_of(FILE *f) {
  struct dl_screen s = {0};
  struct winsize size = {0};
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM"), *columns = getenv("COLUMNS");
  int fd = fileno(f);
  if (fd < 0 || !isatty(fd))
    return s;
  s.colour = !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
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
