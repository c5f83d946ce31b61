/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/accounting/totals_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "io/csv.h"

enum { N_COUNTS = 8, N_TEXTS = 5 };

static const char *const counts[N_COUNTS] = {
    "jobs",        "measured_jobs", "estimated_jobs",   "unknown_jobs",
    "at_tdp_jobs", "failed_jobs",   "unknown_mig_jobs", "unknown_cpu_jobs"};
static const char *const sums[DL_N_STORED_SUMS] = {
    "duration_s",     "gpu_s",       "known_use_gpu_s",
    "idle_gpu_s",     "energy_j",    "measured_energy_j",
    "cores_energy_j", "cores_low_j", "cores_high_j",
    "failed_energy_j"};
static const char *const texts[N_TEXTS] = {"name", "unit", "of", "source",
                                           "year"};

const char *dl_key_name(enum dl_key key) {
  static const char *const names[DL_N_KEYS] = {"user",  "account", "partition",
                                               "state", "gpu",     "month"};
  return names[key];
}

static size_t *count_at(struct dl_sums *s, size_t i) {
  static const size_t at[N_COUNTS] = {offsetof(struct dl_sums, jobs),
                                      offsetof(struct dl_sums, measured),
                                      offsetof(struct dl_sums, estimated),
                                      offsetof(struct dl_sums, unknown),
                                      offsetof(struct dl_sums, at_tdp),
                                      offsetof(struct dl_sums, failed),
                                      offsetof(struct dl_sums, unknown_mig),
                                      offsetof(struct dl_sums, unknown_cpu)};
  return (size_t *)(void *)((char *)s + at[i]);
}

/* --- writing */

static void write_text(FILE *f, const char *text) {
  fputc(',', f);
  dl_csv_write_cell(f, text ? text : "");
}

static void write_number(FILE *f, double x) {
  char buf[DL_NUMBER_SIZE];
  fprintf(f, ",%s", dl_format_short(buf, x));
}

static void write_blanks(FILE *f, size_t n) {
  while (n-- > 0)
    fputc(',', f);
}

static void write_head(const bool keys[DL_N_KEYS], FILE *f) {
  fputs("totals", f);
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (keys[k])
      fprintf(f, ",%s", dl_key_name(k));
  for (size_t i = 0; i < N_COUNTS; i++)
    fprintf(f, ",%s", counts[i]);
  for (size_t i = 0; i < DL_N_STORED_SUMS; i++)
    fprintf(f, ",%s,%s_rest", sums[i], sums[i]);
  fputs(",boundary", f);
  for (size_t i = 0; i < N_TEXTS; i++)
    fprintf(f, ",%s", texts[i]);
  fputs(",value\n", f);
}

static void write_group(const struct dl_group_totals *t, size_t i,
                        const bool keys[DL_N_KEYS], FILE *f) {
  const char *key[DL_N_KEYS];
  struct dl_sums s = *dl_group_totals_at(t, i, key);
  fputs("group", f);
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (keys[k])
      write_text(f, key[k]);
  for (size_t n = 0; n < N_COUNTS; n++)
    fprintf(f, ",%zu", *count_at(&s, n));
  for (size_t n = 0; n < DL_N_STORED_SUMS; n++) {
    write_number(f, *dl_sums_at(&s, n));
    write_number(f, s.rest[n]);
  }
  write_text(f, s.boundary);
  write_blanks(f, N_TEXTS + 1);
  fputc('\n', f);
}

static void write_constant(const struct dl_constant *c, size_t blanks,
                           FILE *f) {
  const char *const text[N_TEXTS] = {c->name, c->unit, c->of, c->source,
                                     c->year};
  fputs("constant", f);
  write_blanks(f, blanks);
  for (size_t i = 0; i < N_TEXTS; i++)
    write_text(f, text[i]);
  write_number(f, c->x);
  fputc('\n', f);
}

static void write_shard(const struct dl_shard *shard, size_t blanks, FILE *f) {
  fputs("shard", f);
  write_blanks(f, blanks);
  fprintf(f, ",%zu/%zu", shard->index + 1, shard->count);
  write_blanks(f, N_TEXTS);
  fputc('\n', f);
}

enum dl_status dl_totals_write(const struct dl_totals *t, const char *path,
                               struct dl_diag *d) {
  struct dl_output out;
  size_t n;
  DL_FREED struct dl_constant *c = dl_accounting_constants(t->accounting, &n);
  size_t blanks = N_COUNTS + 2 * DL_N_STORED_SUMS + 1;
  DL_TRY(dl_output_open(&out, path, false, d));
  for (size_t k = 0; k < DL_N_KEYS; k++)
    blanks += t->keys[k];
  write_head(t->keys, out.f);
  for (size_t i = 0; i < dl_group_totals_n(t->groups); i++)
    write_group(t->groups, i, t->keys, out.f);
  for (size_t i = 0; i < n; i++)
    write_constant(&c[i], blanks, out.f);
  for (size_t i = 0; i < t->n_shards; i++)
    write_shard(&t->shard[i], blanks, out.f);
  return dl_output_commit(&out, d);
}

/* --- where they come from */

void dl_totals_add_shard(struct dl_totals *t, const struct dl_shard *shard) {
  if (shard->count == 0)
    return;
  DL_GROW(t->shard, t->cap_shards, t->n_shards + 1);
  t->shard[t->n_shards++] = *shard;
}

static int by_count(const void *a, const void *b) {
  const struct dl_shard *x = a, *y = b;
  if (x->count != y->count)
    return x->count < y->count ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* Counts which of the n shards of one number, in their order, occur less often
 * than the most frequent; *first becomes the first of these. */
static size_t rarer_shards(const struct dl_shard *s, size_t n, size_t *first) {
  size_t most = 0, rarer = 0, at = 0;
  for (size_t i = 0, same = 0; i < n; i++) {
    same = i > 0 && s[i].index == s[i - 1].index ? same + 1 : 1;
    most = same > most ? same : most;
  }
  for (size_t k = 0; k < s->count; k++) {
    size_t here = 0;
    for (; at < n && s[at].index == k; at++)
      here++;
    if (here < most && rarer++ == 0)
      *first = k;
  }
  return rarer;
}

void dl_totals_check_shards(const struct dl_totals *t, struct dl_diag *d) {
  struct dl_shard *s = t->shard;
  size_t first = 0, n = t->n_shards;
  if (n > 0)
    qsort(s, n, sizeof *s, by_count);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && s[end].count == s[i].count;)
      end++;
    size_t rarer = rarer_shards(s + i, end - i, &first);
    if (rarer > 0)
      dl_warn(d,
              "%zu of %zu shards are missing from these totals (the first: "
              "%zu), or others are there twice",
              rarer, s[i].count, first + 1);
  }
}

void dl_totals_free(struct dl_totals *t) {
  dl_same_tables_free(&t->same);
  free(t->shard);
}

/* --- reading */

bool dl_totals_is_file(const char *path) {
  struct stat st;
  struct dl_csv *csv;
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
    return false;
  bool is = dl_csv_open(&csv, path, 0, &quiet) == DL_OK &&
            dl_csv_find(csv, "totals") >= 0 &&
            dl_csv_find(csv, "measured_jobs") >= 0;
  dl_csv_free(csv);
  return is;
}

static enum dl_status no_totals(const char *path, struct dl_diag *d) {
  return dl_fail_at(d, DL_EINPUT, path, 0,
                    "no totals, and only these are added up: make them "
                    "with dlest report --totals");
}

/* Opens totals: all columns but the keys must be there. A file that is no
 * table, such as another input of a report, has no totals either. */
static enum dl_status open_totals(struct dl_csv **csv, const char *path,
                                  struct dl_diag *d) {
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  enum dl_status status = dl_csv_open(csv, path, 0, &inner);
  if (status != DL_OK && status != DL_EINPUT)
    dl_fail(d, status, "%s", inner.error);
  if (status == DL_EINPUT)
    return no_totals(path, d);
  if (status != DL_OK)
    return status;
  bool ok = dl_csv_find(*csv, "totals") >= 0 &&
            dl_csv_find(*csv, "boundary") >= 0 &&
            dl_csv_find(*csv, "value") >= 0;
  for (size_t i = 0; i < N_COUNTS; i++)
    ok = ok && dl_csv_find(*csv, counts[i]) >= 0;
  for (size_t i = 0; i < DL_N_STORED_SUMS; i++) {
    char rest[32];
    snprintf(rest, sizeof rest, "%s_rest", sums[i]);
    ok = ok && dl_csv_find(*csv, sums[i]) >= 0 && dl_csv_find(*csv, rest) >= 0;
  }
  for (size_t i = 0; i < N_TEXTS; i++)
    ok = ok && dl_csv_find(*csv, texts[i]) >= 0;
  if (!ok) {
    dl_csv_free(*csv);
    *csv = NULL;
  }
  return ok ? DL_OK : no_totals(path, d);
}

enum dl_status dl_totals_keys(const char *path, bool keys[DL_N_KEYS],
                              struct dl_diag *d) {
  struct dl_csv *csv;
  DL_TRY(open_totals(&csv, path, d));
  for (size_t k = 0; k < DL_N_KEYS; k++)
    keys[k] = dl_csv_find(csv, dl_key_name(k)) >= 0;
  dl_csv_free(csv);
  return DL_OK;
}

static const char *cell(const struct dl_csv_row *s, const char *name) {
  return s->cell[dl_csv_find(s->csv, name)];
}

static enum dl_status bad_cell(const struct dl_csv_row *s, const char *name,
                               struct dl_diag *d) {
  return dl_fail_at(d, DL_EINPUT, dl_csv_path(s->csv), s->line,
                    "column '%s': invalid number '%.64s'", name, cell(s, name));
}

static enum dl_status read_sums(struct dl_sums *to, const struct dl_csv_row *s,
                                struct dl_diag *d) {
  for (size_t i = 0; i < N_COUNTS; i++)
    if (!dl_parse_count(cell(s, counts[i]), count_at(to, i)))
      return bad_cell(s, counts[i], d);
  for (size_t i = 0; i < DL_N_STORED_SUMS; i++) {
    char rest[32];
    double *x = dl_sums_at(to, i);
    snprintf(rest, sizeof rest, "%s_rest", sums[i]);
    if (!dl_parse_double(cell(s, sums[i]), x) || *x < 0)
      return bad_cell(s, sums[i], d);
    if (!dl_parse_double(cell(s, rest), &to->rest[i]))
      return bad_cell(s, rest, d);
  }
  if (to->jobs != to->measured + to->estimated + to->unknown)
    return bad_cell(s, "jobs", d);
  snprintf(to->boundary, sizeof to->boundary, "%s", cell(s, "boundary"));
  return DL_OK;
}

static enum dl_status take_group(struct dl_group_totals *t, struct dl_sums *all,
                                 const struct dl_csv_row *s,
                                 struct dl_diag *d) {
  struct dl_sums of_group = {0};
  const char *key[DL_N_KEYS];
  DL_TRY(read_sums(&of_group, s, d));
  for (size_t k = 0; k < DL_N_KEYS; k++) {
    long i = dl_csv_find(s->csv, dl_key_name(k));
    key[k] = i >= 0 && s->cell[i][0] ? s->cell[i] : NULL;
  }
  dl_sums_join(all, &of_group);
  if (t)
    dl_group_totals_join(t, key, &of_group);
  return DL_OK;
}

/* Warns of a constant that has another value in totals before. */
static void compare_constant(const struct dl_accounting *a,
                             const struct dl_constant *c,
                             const struct dl_csv_row *s, struct dl_diag *d) {
  size_t n;
  DL_FREED struct dl_constant *old = dl_accounting_constants(a, &n);
  for (size_t i = 0; i < n; i++)
    if (dl_same_text(old[i].name, c->name) && dl_same_text(old[i].of, c->of) &&
        dl_same_text(old[i].source, c->source) && old[i].x != c->x) {
      dl_warn_at(d, dl_csv_path(s->csv), s->line,
                 "%s is %g here and %g in totals before", c->name, c->x,
                 old[i].x);
      return;
    }
}

static enum dl_status take_constant(struct dl_accounting *a,
                                    const struct dl_csv_row *s,
                                    struct dl_diag *d) {
  const char *text[N_TEXTS];
  struct dl_constant c = {0};
  for (size_t i = 0; i < N_TEXTS; i++) {
    text[i] = cell(s, texts[i]);
    if (!text[i][0])
      text[i] = NULL;
  }
  if (!text[0] || !dl_parse_double(cell(s, "value"), &c.x))
    return bad_cell(s, "value", d);
  c = (struct dl_constant){text[0], text[1], c.x, text[2], text[3], text[4]};
  compare_constant(a, &c, s, d);
  dl_accounting_add_constant(a, &c);
  return DL_OK;
}

static enum dl_status
take_shard(struct dl_totals *t, const struct dl_csv_row *s, struct dl_diag *d) {
  const char *text = cell(s, "name"), *slash = strchr(text, '/');
  struct dl_shard shard = {0};
  char index[24];
  snprintf(index, sizeof index, "%.*s", (int)(slash ? slash - text : 0), text);
  if (!slash || slash - text >= (int)sizeof index ||
      !dl_parse_count(index, &shard.index) ||
      !dl_parse_count(slash + 1, &shard.count) || shard.index == 0 ||
      shard.index-- > shard.count || shard.count > DL_MOST_SHARDS)
    return bad_cell(s, "name", d);
  dl_totals_add_shard(t, &shard);
  return DL_OK;
}

static enum dl_status take_row(struct dl_totals *t, struct dl_sums *all,
                               const struct dl_csv_row *s, struct dl_diag *d) {
  if (strcmp(cell(s, "totals"), "group") == 0)
    return take_group(t->groups, all, s, d);
  if (strcmp(cell(s, "totals"), "constant") == 0)
    return take_constant(t->accounting, s, d);
  if (strcmp(cell(s, "totals"), "shard") == 0)
    return take_shard(t, s, d);
  return bad_cell(s, "totals", d);
}

enum dl_status dl_totals_read(const char *path, struct dl_totals *t,
                              struct dl_sums *all, struct dl_diag *d) {
  const struct dl_csv_block *block;
  DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL;
  DL_TRY(open_totals(&csv, path, d));
  do {
    DL_TRY(dl_csv_next(csv, &block, d));
    for (size_t i = 0; block && i < block->n_rows; i++) {
      const struct dl_csv_row s = {csv, block->cell + i * block->n_cols,
                                   block->line[i]};
      DL_TRY(take_row(t, all, &s, d));
    }
  } while (block);
  dl_same_tables_add(&t->same, csv, d);
  return DL_OK;
}
