/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of runs from options, a table and the paths of logs. */

#include "logs/run_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"
#include "logs/path_pattern.h"
#include "quantities/quantities.h"

/* Rows by name: first[id], then next[row]; n_rows ends the chain. */
struct row_index {
  struct dl_intern ids;
  size_t *first, *next;
};

enum { FULL_NAME, BARE_NAME, N_INDICES };

struct dl_settings {
  struct dl_strlist set_names, set_values;
  struct dl_pattern pattern;
  bool has_pattern;
  struct dl_intern extra;

  /* The table. */
  char *path;              /* NULL: none */
  struct dl_strlist names; /* of its columns */
  struct dl_strlist cell;  /* n_rows x names.n */
  size_t *line, lines_cap; /* of each row */
  size_t n_rows;
  size_t key;                        /* column with the names of the logs */
  struct row_index index[N_INDICES]; /* by its cells without folders, and also
                                    without extension */
};

struct dl_settings *dl_settings_new(void) {
  return dl_calloc(1, sizeof(struct dl_settings));
}

void dl_settings_free(struct dl_settings *s) {
  if (!s)
    return;
  dl_strlist_free(&s->set_names);
  dl_strlist_free(&s->set_values);
  dl_intern_free(&s->extra);
  dl_pattern_free(&s->pattern);
  dl_strlist_free(&s->names);
  dl_strlist_free(&s->cell);
  free(s->line);
  free(s->path);
  for (size_t i = 0; i < N_INDICES; i++) {
    dl_intern_free(&s->index[i].ids);
    free(s->index[i].first);
    free(s->index[i].next);
  }
  free(s);
}

DL_FREES(dl_settings_free, struct dl_settings)

const struct dl_intern *dl_settings_extra(const struct dl_settings *s) {
  return &s->extra;
}

static void note_column(struct dl_settings *s, const char *name) {
  if (!dl_run_column_find(name))
    dl_intern(&s->extra, name);
}

/* Whether a value is none of its column, and why. */
static bool is_wrong(const struct dl_run_column *c, const char *value,
                     struct dl_text *why) {
  enum dl_fault_kind fault =
      c && *value ? dl_run_column_fault(c, value) : DL_FAULT_NONE;
  dl_text_clear(why);
  if (fault != DL_FAULT_NONE)
    dl_run_column_explain(c, fault, value, why);
  return fault != DL_FAULT_NONE;
}

enum dl_status dl_settings_set(struct dl_settings *s, const char *assignment,
                               struct dl_diag *d) {
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment)
    return dl_fail(d, DL_EUSAGE, "--set '%s': expected NAME=VALUE", assignment);
  DL_FREED char *name = dl_strndup(assignment, (size_t)(equals - assignment));
  const struct dl_run_column *c = dl_run_column_find(name);
  DL_TEXT(why);
  enum dl_status status = DL_OK;
  if (is_wrong(c, equals + 1, &why))
    status = dl_fail(d, DL_EUSAGE, "--set %s: %s", name, dl_text_str(&why));
  else if (c && c->role == DL_ROLE_MEASURED)
    status = dl_fail(d, DL_EUSAGE,
                     "--set %s: a measured column, which differs from run to "
                     "run; --set takes settings and names, such as batch_size",
                     name);
  dl_strlist_add(&s->set_names, name);
  dl_strlist_add(&s->set_values, equals + 1);
  note_column(s, name);
  return status;
}

enum dl_status dl_settings_pattern(struct dl_settings *s, const char *pattern,
                                   struct dl_diag *d) {
  if (s->has_pattern)
    return dl_fail(d, DL_EUSAGE, "one path pattern at a time");
  s->has_pattern = true;
  DL_TRY(dl_pattern_parse(&s->pattern, pattern, d));
  for (size_t i = 0; i < s->pattern.names.n; i++)
    note_column(s, s->pattern.names.s[i]);
  return DL_OK;
}

/* --- the table */

/* The name of a file without folders and extension. */
static void bare_name(struct dl_text *t, const char *path) {
  const char *name = dl_path_name(path);
  dl_text_clear(t);
  dl_text_add_n(t, name, dl_path_stem(name));
}

static const char *cell_of(const struct dl_settings *s, size_t row,
                           size_t column) {
  return s->cell.s[row * s->names.n + column];
}

static enum dl_status read_table(struct dl_settings *s, const char *path,
                                 struct dl_diag *d) {
  struct dl_csv *csv;
  const struct dl_csv_block *block;
  enum dl_status status = dl_csv_open(&csv, path, 0, d);
  if (status != DL_OK)
    return status;
  s->path = dl_strdup(dl_csv_path(csv));
  for (size_t c = 0; c < dl_csv_n_cols(csv); c++) {
    dl_strlist_add(&s->names, dl_csv_name(csv, c));
    note_column(s, dl_csv_name(csv, c));
  }
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block) {
    DL_GROW(s->line, s->lines_cap, s->n_rows + block->n_rows);
    for (size_t r = 0; r < block->n_rows; r++)
      s->line[s->n_rows++] = block->line[r];
    for (size_t i = 0; i < block->n_rows * s->names.n; i++)
      dl_strlist_add(&s->cell, block->cell[i]);
  }
  dl_csv_free(csv);
  return status;
}

/* How much a column looks like names of logs: the number of cells with an
 * extension or a folder; columns with a suitable heading come first. */
static size_t likeness(const struct dl_settings *s, size_t c) {
  static const char *const headings[] = {"file", "trace",    "log",
                                         "path", "filename", "run_id"};
  size_t n = 0;
  for (size_t r = 0; r < s->n_rows; r++)
    n += strpbrk(cell_of(s, r, c), "./") != NULL &&
         !dl_parse_double(cell_of(s, r, c), &(double){0});
  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
    if (strcmp(s->names.s[c], headings[i]) == 0)
      n += s->n_rows + sizeof headings / sizeof *headings - i;
  return n;
}

static void make_index(const struct dl_settings *s, struct row_index *x,
                       bool bare) {
  DL_TEXT(name);
  x->first = dl_calloc(s->n_rows, sizeof *x->first);
  x->next = dl_calloc(s->n_rows, sizeof *x->next);
  for (size_t r = s->n_rows; r-- > 0;) { /* in front of later rows */
    const char *cell = cell_of(s, r, s->key);
    size_t known = x->ids.n;
    bare_name(&name, cell);
    long id =
        dl_intern(&x->ids, bare ? dl_text_str(&name) : dl_path_name(cell));
    x->next[r] = (size_t)id < known ? x->first[id] : s->n_rows;
    x->first[id] = r;
  }
}

static enum dl_status index_table(struct dl_settings *s, struct dl_diag *d) {
  size_t best = 0;
  for (size_t c = 0; c < s->names.n; c++) {
    size_t like = likeness(s, c);
    if (like > best) {
      best = like;
      s->key = c;
    }
  }
  if (best == 0)
    return dl_fail_at(d, DL_EINPUT, s->path, 0,
                      "no column names logs; name it 'file'");
  make_index(s, &s->index[FULL_NAME], false);
  make_index(s, &s->index[BARE_NAME], true);
  return DL_OK;
}

enum dl_status dl_settings_table(struct dl_settings *s, const char *path,
                                 struct dl_diag *d) {
  if (s->path)
    return dl_fail(d, DL_EUSAGE, "one table of settings at a time");
  DL_TRY(read_table(s, path, d));
  return index_table(s, d);
}

/* How many cells of a row are folders of the path. */
static size_t folders_in_common(const struct dl_settings *s, size_t row,
                                const char *path) {
  size_t n = 0;
  for (const char *at = path, *slash; (slash = strchr(at, '/')); at = slash + 1)
    for (size_t c = 0; c < s->names.n; c++) {
      const char *cell = cell_of(s, row, c);
      n += c != s->key && strlen(cell) == (size_t)(slash - at) && *cell &&
           strncmp(cell, at, (size_t)(slash - at)) == 0;
    }
  return n;
}

/* The row of a log; n_rows if there is none, or several match equally. A row
 * with the name of the file is preferred to one with the name without its
 * extension (which may contain dots itself: lr0.01), and that to one with
 * another extension. */
static size_t find_row(const struct dl_settings *s, const char *path,
                       struct dl_diag *d) {
  DL_TEXT(bare);
  const struct row_index *x = &s->index[FULL_NAME];
  bare_name(&bare, path);
  long id = dl_intern_find(&x->ids, dl_path_name(path));
  if (id < 0)
    id = dl_intern_find(&x->ids, dl_text_str(&bare));
  if (id < 0) {
    x = &s->index[BARE_NAME];
    id = dl_intern_find(&x->ids, dl_text_str(&bare));
  }
  if (id < 0) {
    dl_warn_at(d, path, 0, "no row in %s", s->path);
    return s->n_rows;
  }
  size_t row = s->n_rows, most = 0, n_best = 0;
  for (size_t r = x->first[id]; r < s->n_rows; r = x->next[r]) {
    size_t common = folders_in_common(s, r, path);
    if (n_best == 0 || common > most) {
      row = r;
      most = common;
      n_best = 1;
    } else {
      n_best += common == most;
    }
  }
  if (n_best > 1) {
    dl_warn_at(d, path, 0, "%zu rows in %s: none taken", n_best, s->path);
    return s->n_rows;
  }
  return row;
}

/* --- filling in a run */

struct filling {
  const struct dl_settings *s;
  struct dl_run *run;
  char **extra;
  struct dl_run_set given; /* columns with a value from an earlier source */
};

/* Sets a column, unless an earlier source has a value. */
static void set_column(struct filling *f, const char *name, const char *value) {
  const struct dl_run_column *c = dl_run_column_find(name);
  if (*value == '\0')
    return;
  if (!c) {
    char **cell = &f->extra[dl_intern_find(&f->s->extra, name)];
    if (!*cell)
      *cell = dl_strdup(value);
    return;
  }
  enum dl_run_id id = c->id;
  if (dl_run_set_has(&f->given, id) ||
      (c->role == DL_ROLE_MEASURED && dl_run_has(f->run, id)))
    return;
  dl_run_set_put(&f->given, id, true);
  dl_run_read(f->run, c, value);
}

static void set_from_row(struct filling *f, const char *path,
                         struct dl_diag *d) {
  const struct dl_settings *s = f->s;
  DL_TEXT(why);
  size_t row = find_row(s, path, d);
  for (size_t c = 0; row < s->n_rows && c < s->names.n; c++) {
    const char *value = cell_of(s, row, c);
    if (is_wrong(dl_run_column_find(s->names.s[c]), value, &why))
      dl_skip_at(d, s->path, s->line[row], "column '%s': %s", s->names.s[c],
                 dl_text_str(&why));
    else
      set_column(f, s->names.s[c], value);
  }
}

static void set_from_path(struct filling *f, const char *path,
                          struct dl_diag *d) {
  const struct dl_pattern *p = &f->s->pattern;
  DL_FREED char **value = dl_calloc(p->names.n, sizeof *value);
  DL_TEXT(why);
  bool found = dl_pattern_match(p, path, value);
  if (!found)
    dl_warn_at(d, path, 0, "does not match the path pattern");
  for (size_t i = 0; found && i < p->names.n; i++) {
    if (is_wrong(dl_run_column_find(p->names.s[i]), value[i], &why))
      dl_warn_at(d, path, 0, "{%s}: %s", p->names.s[i], dl_text_str(&why));
    else
      set_column(f, p->names.s[i], value[i]);
    free(value[i]);
  }
}

void dl_settings_apply(const struct dl_settings *s, const char *path,
                       struct dl_run *run, char **extra, struct dl_diag *d) {
  struct filling f = {.s = s, .run = run, .extra = extra};
  for (size_t i = s->set_names.n; i-- > 0;)
    set_column(&f, s->set_names.s[i], s->set_values.s[i]);
  if (s->path)
    set_from_row(&f, path, d);
  if (s->has_pattern)
    set_from_path(&f, path, d);
}
