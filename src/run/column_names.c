/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/column_names.h"

#include <ctype.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "run/run.h"

bool dl_fold_column(const char *name, char to[DL_MOST_NAME]) {
  size_t n = 0;
  for (; *name && n < DL_MOST_NAME - 1; name++)
    if (isalnum((unsigned char)*name))
      to[n++] = (char)tolower((unsigned char)*name);
  to[n] = '\0';
  return !*name;
}

/* Units that names state, and their factor to the unit of the runs table. */
static const struct dl_named_unit units[] = {
    {"s|sec|secs|seconds", "s", 1},
    {"ms", "s", 1e-3},
    {"min|mins|minutes", "s", 60},
    {"h|hr|hrs|hours", "s", DL_S_PER_HOUR},
    {"days", "s", DL_S_PER_DAY},
    {"J", "J", 1},
    {"kJ", "J", 1e3},
    {"MJ", "J", 1e6},
    {"Wh", "J", DL_J_PER_WH},
    {"kWh", "J", DL_J_PER_KWH},
    {"MWh", "J", 1e3 * DL_J_PER_KWH},
    {"W|watts", "W", 1},
    {"kW", "W", 1e3},
};

const struct dl_named_unit *dl_stated_unit(const char *name,
                                           char stem[DL_MOST_NAME]) {
  char text[DL_MOST_NAME];
  size_t n = strlen(name);
  if (n >= DL_MOST_NAME)
    return NULL;
  memcpy(text, name, n + 1);
  if (n > 0 && strchr("])", text[n - 1]))
    text[--n] = '\0';
  char *from = text + n;
  while (from > text && isalpha((unsigned char)from[-1]))
    from--;
  if (from == text)
    return NULL;
  for (size_t i = 0; i < DL_LENGTH(units); i++)
    if (dl_word_among(units[i].names, from, strlen(from)) >= 0 &&
        !isalnum((unsigned char)from[-1])) {
      *from = '\0';
      dl_fold_column(text, stem);
      return &units[i];
    }
  return NULL;
}

const char *dl_column_called(const char *folded) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const char *names = dl_run_columns[i].called;
    if (names && dl_word_among(names, folded, strlen(folded)) >= 0)
      return dl_run_columns[i].name;
  }
  return NULL;
}

const char *dl_column_in_unit(const char *name, double *factor) {
  char folded[DL_MOST_NAME], known[DL_MOST_NAME];
  const struct dl_named_unit *unit = dl_stated_unit(name, folded);
  *factor = unit ? unit->factor : 1;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS && unit; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    const char *other = dl_column_called(folded);
    if (!c->unit || strcmp(c->unit, unit->unit) != 0)
      continue;
    dl_fold_column(c->name, known);
    known[strlen(known) - 1] = '\0'; /* the unit: epoch_s */
    if (strcmp(known, folded) == 0 || (other && strcmp(other, c->name) == 0))
      return c->name;
  }
  return NULL;
}
