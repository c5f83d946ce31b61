/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/training/choice.h"

#include <string.h>

#include "base/number.h"

enum dl_status dl_cv_parse(struct dl_cv_spec *spec, const char *text,
                           struct dl_diag *d) {
  *spec = (struct dl_cv_spec){0};
  const char *arg = strchr(text, ':');
  size_t len = arg ? (size_t)(arg - text) : strlen(text);
  if (strcmp(text, "none") == 0) {
    spec->none = true;
    return DL_OK;
  }
  if (arg && len == 5 && strncmp(text, "group", 5) == 0 && arg[1] &&
      strlen(arg + 1) < sizeof spec->column) {
    spec->scheme = DL_GROUP;
    strcpy(spec->column, arg + 1);
    return DL_OK;
  }
  bool shuffled = len == 14 && strncmp(text, "kfold-shuffled", 14) == 0;
  if (arg && (shuffled || (len == 5 && strncmp(text, "kfold", 5) == 0)) &&
      dl_parse_count(arg + 1, &spec->k) && spec->k >= 2) {
    spec->scheme = shuffled ? DL_KFOLD_SHUFFLED : DL_KFOLD;
    return DL_OK;
  }
  return dl_fail(d, DL_EUSAGE,
                 "cross-validation '%s': expected kfold:K, kfold-shuffled:K, "
                 "group:COLUMN or none",
                 text);
}

void dl_cv_name(const struct dl_cv_spec *spec, char *buf, size_t size) {
  if (spec->none)
    snprintf(buf, size, "none");
  else if (spec->scheme == DL_GROUP)
    snprintf(buf, size, "group:%s", spec->column);
  else
    snprintf(buf, size, "%s:%zu",
             spec->scheme == DL_KFOLD ? "kfold" : "kfold-shuffled", spec->k);
}

enum dl_status dl_search_parse(struct dl_choice *c, const char *text,
                               struct dl_diag *d) {
  if (!text)
    return DL_OK;
  c->search = true;
  const char *n = strchr(text, ':');
  size_t len = n ? (size_t)(n - text) : strlen(text);
  bool grid = len == 4 && strncmp(text, "grid", 4) == 0;
  bool random = len == 6 && strncmp(text, "random", 6) == 0 && n;
  c->search_kind = random ? DL_SEARCH_RANDOM : DL_SEARCH_GRID;
  if ((!grid && !random) ||
      (n && (!dl_parse_count(n + 1, &c->search_count) || !c->search_count)))
    return dl_fail(d, DL_EUSAGE,
                   "search '%s': expected grid, grid:N or random:N", text);
  return DL_OK;
}
