/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/sweep_axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

static void free_axis(struct dl_axis *a) {
  dl_intern_free(&a->text);
  free(a->cell);
  *a = (struct dl_axis){0};
}

void dl_axes_free(struct dl_axes *axes) {
  for (size_t i = 0; i < axes->n; i++)
    free_axis(&axes->a[i]);
  axes->n = 0;
}

static bool is_shape(const char *text) {
  return strncmp(text, "transformer:", 12) == 0;
}

bool dl_axis_is_list(const char *text) {
  if (strstr(text, "..") && strspn(text, "0123456789") > 0)
    return true;
  /* A comma in a shape is followed by KEY=VALUE. */
  for (const char *comma = strchr(text, ','); comma;
       comma = strchr(comma + 1, ',')) {
    size_t len = strcspn(comma + 1, ",");
    if (!is_shape(text) || is_shape(comma + 1) || !memchr(comma + 1, '=', len))
      return true;
  }
  return false;
}

static enum dl_status add_text(struct dl_axis *a, const char *text,
                               struct dl_diag *d) {
  dl_intern(&a->text, text);
  return a->text.n > DL_MOST_VALUES
             ? dl_fail(d, DL_EUSAGE, "more than %d values", DL_MOST_VALUES)
             : DL_OK;
}

static enum dl_status add_number(struct dl_axis *a, double x,
                                 struct dl_diag *d) {
  char buf[DL_NUMBER_SIZE];
  return add_text(a, dl_format_short(buf, round(x)), d);
}

static enum dl_status add_range(struct dl_axis *a, const char *text,
                                struct dl_diag *d) {
  const char *dots = strstr(text, ".."), *end = dots + 2;
  size_t len = strcspn(end, "x+");
  double low, high, by = 1;
  if (dl_parse_number(text, (size_t)(dots - text), &low) != DL_NUMBER_OK ||
      dl_parse_number(end, len, &high) != DL_NUMBER_OK ||
      (end[len] && !dl_parse_double(end + len + 1, &by)))
    return dl_fail(d, DL_EUSAGE,
                   "invalid range '%s'; expected LOW..HIGH, LOW..HIGHxBY or "
                   "LOW..HIGH+BY",
                   text);
  bool times = end[len] == 'x';
  if (high < low || (times ? !(by > 1 && low > 0) : !(by > 0)))
    return dl_fail(d, DL_EUSAGE, "the range '%s' has no end", text);
  /* From the beginning each time: sums of steps would drift. */
  for (size_t i = 0; i <= DL_MOST_VALUES; i++) {
    double x = times ? low * pow(by, (double)i) : low + by * (double)i;
    if (x > high * (1 + 1e-12))
      return DL_OK;
    DL_TRY(add_number(a, x, d));
  }
  return dl_fail(d, DL_EUSAGE, "more than %d values", DL_MOST_VALUES);
}

static enum dl_status add_part(struct dl_axis *a, const char *part,
                               bool numbers, struct dl_diag *d) {
  double x;
  if (!*part)
    return dl_fail(d, DL_EUSAGE, "an empty value in the list");
  if (!numbers)
    return add_text(a, part, d);
  if (strstr(part, ".."))
    return add_range(a, part, d);
  if (!dl_parse_double(part, &x))
    return dl_fail(d, DL_EUSAGE, "invalid number '%s'", part);
  return add_text(a, part, d);
}

/* Parts of a list, where KEY=VALUE goes on with the shape before it. */
static void split(struct dl_strlist *to, const char *text) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  dl_strlist_split(&parts, text, ',');
  for (size_t i = 0; i < parts.n; i++) {
    bool goes_on = to->n > 0 && strchr(parts.s[i], '=') &&
                   !is_shape(parts.s[i]) && is_shape(to->s[to->n - 1]);
    if (!goes_on) {
      dl_strlist_add(to, parts.s[i]);
      continue;
    }
    struct dl_text whole = {0};
    dl_text_printf(&whole, "%s,%s", to->s[to->n - 1], parts.s[i]);
    free(to->s[to->n - 1]);
    to->s[to->n - 1] = whole.s;
  }
}

/* The texts, which have their place now, as cells. */
static void make_cells(struct dl_axis *a) {
  a->n = a->text.n;
  a->cell = dl_calloc(a->n, sizeof *a->cell);
  for (size_t i = 0; i < a->n; i++) {
    const char *s = a->text.s[i];
    a->cell[i].s = s;
    dl_parse_number(s, strlen(s), &a->cell[i].x);
  }
}

/* Room for the axis of a column, emptied; NULL where there is none left. */
static struct dl_axis *take(struct dl_axes *axes, const char *column) {
  for (size_t i = 0; i < axes->n; i++)
    if (strcmp(axes->a[i].column, column) == 0) {
      free_axis(&axes->a[i]);
      axes->a[i].column = column;
      return &axes->a[i];
    }
  if (axes->n == DL_MOST_AXES)
    return NULL;
  axes->a[axes->n] = (struct dl_axis){.column = column};
  return &axes->a[axes->n++];
}

enum dl_status dl_axes_set(struct dl_axes *axes, const char *column,
                           const char *text, bool numbers, struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  struct dl_axis *a = take(axes, column);
  if (!a)
    return dl_fail(d, DL_EUSAGE, "more than %d axes", DL_MOST_AXES);
  split(&parts, text);
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < parts.n && status == DL_OK; i++)
    status = add_part(a, parts.s[i], numbers, d);
  make_cells(a);
  return status;
}

/* Sets the axis to n values as they stand. */
static enum dl_status set_texts(struct dl_axes *axes, const char *column,
                                const char *const *text, size_t n,
                                struct dl_diag *d) {
  struct dl_axis *a = take(axes, column);
  if (!a)
    return dl_fail(d, DL_EUSAGE, "more than %d axes", DL_MOST_AXES);
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < n && status == DL_OK; i++)
    status = add_text(a, text[i], d);
  make_cells(a);
  return status;
}

enum dl_status dl_axes_set_one(struct dl_axes *axes, const char *column,
                               const char *text, struct dl_diag *d) {
  return set_texts(axes, column, &text, 1, d);
}

enum dl_status dl_axes_offer(struct dl_axes *axes, const char *column,
                             const char *text, struct dl_diag *d) {
  DL_TRY(set_texts(axes, column, (const char *const[]){"", text}, 2, d));
  dl_axes_find(axes, column)->cell[0].s = NULL;
  return DL_OK;
}

const struct dl_axis *dl_axes_find(const struct dl_axes *axes,
                                   const char *column) {
  for (size_t i = 0; i < axes->n; i++)
    if (strcmp(axes->a[i].column, column) == 0)
      return &axes->a[i];
  return NULL;
}

enum dl_status dl_axes_combinations(const struct dl_axes *axes, size_t *n,
                                    struct dl_diag *d) {
  double product = 1;
  *n = 1;
  for (size_t i = 0; i < axes->n; i++) {
    product *= (double)axes->a[i].n;
    if (product > DL_MOST_COMBINATIONS)
      return dl_fail(d, DL_EUSAGE, "more than %g combinations",
                     (double)DL_MOST_COMBINATIONS);
    *n *= axes->a[i].n;
  }
  return DL_OK;
}

void dl_axes_at(const struct dl_axes *axes, size_t combination,
                size_t at[DL_MOST_AXES]) {
  for (size_t i = axes->n; i > 0; i--) {
    at[i - 1] = combination % axes->a[i - 1].n;
    combination /= axes->a[i - 1].n;
  }
}
