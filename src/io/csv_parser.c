/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/csv_parser.h"

#ifdef DL_OWN_CSV
#include <stdlib.h>

int csv_init(struct csv_parser *p, unsigned char options) {
  *p = (struct csv_parser){
      .delim = ',', .options = options, .block_size = 128, .realloc = realloc};
  return 0;
}

void csv_free(struct csv_parser *p) {
  free(p->entry);
}

int csv_set_opts(struct csv_parser *p, unsigned char options) {
  p->options = options;
  return 0;
}

void csv_set_delim(struct csv_parser *p, unsigned char c) {
  p->delim = c;
}

unsigned char csv_get_delim(struct csv_parser *p) {
  return p->delim;
}

void csv_set_realloc_func(struct csv_parser *p, void *(*f)(void *, size_t)) {
  p->realloc = f;
}

void csv_set_blk_size(struct csv_parser *p, size_t size) {
  p->block_size = size;
}

/* A text that is parsed, and who hears of its fields and rows. */
struct parsing {
  struct csv_parser *p;
  csv_on_field *on_field;
  csv_on_row *on_row;
  void *data;
};

static void begin(struct csv_parser *p, int state) {
  p->state = state;
  p->quoted = false;
  p->spaces = p->entry_pos = 0;
}

/* Ends a field: blanks before its separator do not count, nor does what follows
 * the quote that ends it. */
static void end_field(const struct parsing *c) {
  struct csv_parser *p = c->p;
  if (p->state == FIELD_MIGHT_END)
    p->entry_pos -= p->spaces + 1;
  else if (!p->quoted)
    p->entry_pos -= p->spaces;
  p->entry[p->entry_pos] = '\0';
  c->on_field(p->entry, p->entry_pos, c->data);
  begin(p, FIELD_NOT_BEGUN);
}

static void end_row(const struct parsing *c, int end) {
  c->on_row(end, c->data);
  begin(c->p, ROW_NOT_BEGUN);
}

static void keep(struct csv_parser *p, char byte) {
  p->entry[p->entry_pos++] = byte;
}

static bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

static bool is_end(char byte) {
  return byte == '\r' || byte == '\n';
}

static void before_field(const struct parsing *c, char byte) {
  struct csv_parser *p = c->p;
  if (byte == (char)p->delim) {
    end_field(c);
  } else if (is_end(byte)) {
    bool in_row = p->state == FIELD_NOT_BEGUN;
    if (in_row)
      end_field(c);
    if (in_row || (p->options & CSV_REPALL_NL))
      end_row(c, byte);
  } else if (!is_blank(byte)) {
    p->state = FIELD_BEGUN;
    p->quoted = byte == '"';
    if (!p->quoted)
      keep(p, byte);
  }
}

static void in_field(const struct parsing *c, char byte) {
  struct csv_parser *p = c->p;
  bool ends = byte == (char)p->delim || is_end(byte);
  if (ends && !p->quoted) {
    end_field(c);
    if (byte != (char)p->delim)
      end_row(c, byte);
    return;
  }
  keep(p, byte);
  if (byte == '"' && p->quoted)
    p->state = FIELD_MIGHT_END;
  else
    p->spaces = !p->quoted && is_blank(byte) ? p->spaces + 1 : 0;
}

/* Behind a quote in a quoted field: its end, or the first of two quotes. Any
 * other text shows that the quote belongs to the field. */
static void behind_quote(const struct parsing *c, char byte) {
  struct csv_parser *p = c->p;
  if (byte == (char)p->delim || is_end(byte)) {
    end_field(c);
    if (byte != (char)p->delim)
      end_row(c, byte);
  } else if (is_blank(byte)) {
    keep(p, byte);
    p->spaces++;
  } else if (byte == '"' && p->spaces == 0) {
    p->state = FIELD_BEGUN;
  } else {
    keep(p, byte);
    p->spaces = 0;
    if (byte != '"')
      p->state = FIELD_BEGUN;
  }
}

size_t csv_parse(struct csv_parser *p, const void *s, size_t len,
                 csv_on_field *on_field, csv_on_row *on_row, void *data) {
  const struct parsing c = {p, on_field, on_row, data};
  const char *at = s;
  for (size_t i = 0; i < len; i++) {
    if (p->entry_pos + 1 >= p->entry_size) { /* a byte and the NUL */
      p->entry = p->realloc(p->entry, p->entry_size + p->block_size);
      p->entry_size += p->block_size;
    }
    if (p->state == FIELD_BEGUN)
      in_field(&c, at[i]);
    else if (p->state == FIELD_MIGHT_END)
      behind_quote(&c, at[i]);
    else
      before_field(&c, at[i]);
  }
  return len;
}

int csv_fini(struct csv_parser *p, csv_on_field *on_field, csv_on_row *on_row,
             void *data) {
  const struct parsing c = {p, on_field, on_row, data};
  if (p->state == FIELD_BEGUN && p->quoted && (p->options & CSV_STRICT_FINI))
    return -1;
  if (p->state != ROW_NOT_BEGUN) {
    end_field(&c);
    end_row(&c, -1);
  }
  return 0;
}
#endif
