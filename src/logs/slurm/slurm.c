/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/slurm/slurm.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/timestamp.h"
#include "base/text.h"

#define NAME(id, name) name,
static const char *const names[] = {DL_SLURM_COLUMNS(NAME)};

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* The length of a name at the beginning of s. */
static size_t name_length(const char *s, const char *end) {
  size_t n = 0;
  while (s + n < end && is_name_char(s[n]))
    n++;
  return n;
}

static const char *skip_blanks(const char *s, const char *end) {
  while (s < end && *s == ' ')
    s++;
  return s;
}

/* Finds the text between the first two names, without blanks. False if it is
 * too long. */
static bool find_delimiter(struct dl_slurm_table *t, const char *s,
                           const char *end) {
  const char *from = skip_blanks(s + name_length(s, end), end), *to = from;
  while (to < end && !is_name_char(*to))
    to++;
  while (to > from && to[-1] == ' ')
    to--;
  size_t n = (size_t)(to - from);
  if (n >= sizeof t->delimiter || memchr(from, '"', n))
    return false;
  memcpy(t->delimiter, from, n);
  t->delimiter[n] = '\0';
  return true;
}

/* Notes a column; an earlier name takes precedence (JobID, JobIDRaw). */
static void note_name(struct dl_slurm_table *t, const char *s, size_t len,
                      int *rank) {
  for (int c = 0; c < DL_SLURM_N; c++) {
    int at = dl_word_among(names[c], s, len);
    if (at >= 0 && (t->at[c] < 0 || at < rank[c])) {
      t->at[c] = (short)t->n_fields;
      rank[c] = at;
    }
  }
}

/* Reads a line of names, with a JobID or without. */
static bool read_names(struct dl_slurm_table *t, const char *s, size_t len) {
  struct dl_slurm_table new = {.n_fields = 0};
  int rank[DL_SLURM_N];
  const char *end = s + len;
  while (end > s && end[-1] == ' ')
    end--;
  s = skip_blanks(s, end);
  if (name_length(s, end) == 0 || !find_delimiter(&new, s, end))
    return false;
  size_t delimiter = strlen(new.delimiter);
  for (int c = 0; c < DL_SLURM_N; c++)
    new.at[c] = -1;
  while (s < end) {
    size_t n = name_length(s, end);
    if (n == 0 || new.n_fields == DL_SLURM_FIELDS)
      return false;
    note_name(&new, s, n, rank);
    new.n_fields++;
    s = skip_blanks(s + n, end);
    if (s == end || delimiter == 0)
      continue;
    if ((size_t)(end - s) < delimiter ||
        memcmp(s, new.delimiter, delimiter) != 0)
      return false;
    s = skip_blanks(s + delimiter, end);
    if (s == end)
      new.n_fields++; /* an empty one: --parsable */
  }
  if (new.n_fields < 2 || new.n_fields > DL_SLURM_FIELDS)
    return false;
  *t = new;
  return true;
}

bool dl_slurm_header(struct dl_slurm_table *t, const char *s, size_t len) {
  struct dl_slurm_table new;
  if (!read_names(&new, s, len) || new.at[DL_SLURM_JOB_ID] < 0)
    return false;
  *t = new;
  return true;
}

/* Reads a line of dashes that states the widths of the columns. */
static bool read_ruler(struct dl_slurm_table *t, const char *s) {
  size_t n = 0, i = 0;
  if (t->delimiter[0] != '\0' || s[strspn(s, "- ")] != '\0')
    return false;
  for (;;) {
    i += strspn(s + i, " ");
    if (s[i] == '\0')
      break;
    size_t width = strspn(s + i, "-");
    if (n == t->n_fields || i + width > 0xffff)
      return false;
    t->from[n] = (unsigned short)i;
    t->to[n++] = (unsigned short)(i + width);
    i += width;
  }
  t->ruled = n == t->n_fields && n > 0;
  return t->ruled;
}

bool dl_slurm_layout(struct dl_slurm_table *t, const char *s, size_t len) {
  bool row = *s >= '0' && *s <= '9'; /* most often, a JobID comes first */
  return (!row && strcasestr(s, "JobID") && dl_slurm_header(t, s, len)) ||
         read_ruler(t, s);
}

/* Splits a row at one character, as nearly all tables have it. */
static size_t split_at(char delimiter, char *s, size_t len, char **field) {
  size_t n = 0;
  for (char *end = s + len, *next; s; s = next, n++) {
    char *stop = memchr(s, delimiter, (size_t)(end - s));
    next = stop ? stop + 1 : NULL;
    char *cell = dl_cell_trim(s, stop ? stop : end);
    if (n < DL_SLURM_FIELDS)
      field[n] = cell;
  }
  return n;
}

/* Splits a row in place; returns the number of fields, which equals the
 * header's in a sound row. In a table of columns of fixed width, columns are
 * separated by one blank. */
static size_t split(const struct dl_slurm_table *t, char *s, size_t len,
                    char **field) {
  size_t n = 0, delimiter = strlen(t->delimiter);
  if (delimiter == 1)
    return split_at(t->delimiter[0], s, len, field);
  if (delimiter > 0) {
    for (char *next; s; s = next) {
      char *end = strstr(s, t->delimiter);
      next = end ? end + delimiter : NULL;
      char *cell = dl_cell_trim(s, end ? end : s + strlen(s));
      if (n < DL_SLURM_FIELDS)
        field[n] = cell;
      n++;
    }
    return n;
  }
  for (; n < t->n_fields; n++) {
    size_t from = t->from[n] < len ? t->from[n] : len;
    size_t to = t->to[n] < len ? t->to[n] : len;
    if (to < len && s[to] != ' ')
      break; /* a longer value: sacct does not print such */
    field[n] = dl_cell_trim(s + from, s + to);
  }
  return n;
}

static bool has(const struct dl_slurm_table *t, enum dl_slurm_column c) {
  return t->at[c] >= 0;
}

/* Returns which kind of step a JobID denotes; *len is the length of the job's
 * own id ("123_4"). */
static enum dl_slurm_step step_of(const char *id, size_t *len) {
  for (*len = 0; id[*len] != '.' && id[*len] != '\0';)
    ++*len;
  if (id[*len] == '\0')
    return DL_SLURM_JOB;
  switch (id[*len + 1]) { /* names may be cut off: "123.ext+" */
  case 'e':
    return DL_SLURM_EXTERN;
  case 'b':
  case 'i':
    return DL_SLURM_BATCH;
  default:
    return DL_SLURM_NUMBERED;
  }
}

const char *dl_slurm_job_of(const struct dl_slurm_table *t, const char *s,
                            size_t len, size_t *id_len) {
  const char *end = s + len, *id = s;
  size_t delimiter = strlen(t->delimiter);
  char stop[] = {'.', ' ', t->delimiter[0], '\0'};
  if (t->n_fields == 0 || (delimiter == 0 && !t->ruled))
    return NULL;
  if (delimiter == 0)
    id = t->from[t->at[DL_SLURM_JOB_ID]] < len
             ? s + t->from[t->at[DL_SLURM_JOB_ID]]
             : end;
  for (short i = 0; delimiter > 0 && i < t->at[DL_SLURM_JOB_ID]; i++) {
    id = strstr(id, t->delimiter);
    if (!id)
      return NULL;
    id += delimiter;
  }
  id = skip_blanks(id, end);
  *id_len = strcspn(id, stop);
  return id;
}

/* The energy of a row, from the better one of its columns. */
static bool read_energy(const struct dl_slurm_row *row, double *joules) {
  const char *raw = dl_slurm_cell(row, DL_SLURM_ENERGY_RAW);
  const char *rounded = dl_slurm_cell(row, DL_SLURM_ENERGY);
  size_t len;
  const char *better = *raw ? raw : rounded;
  if (*better)
    return dl_slurm_energy(better, strlen(better), joules);
  const char *s = dl_slurm_resource(dl_slurm_cell(row, DL_SLURM_ALLOC_TRES),
                                    "energy", &len);
  *joules = NAN;
  return !s || len >= 32 || dl_slurm_energy(s, len, joules);
}

bool dl_slurm_read(struct dl_log *log, const struct dl_slurm_table *t, char *s,
                   size_t len, struct dl_slurm_row *row) {
  if (t->n_fields == 0)
    return dl_log_bad(log, "no header with a column 'JobID' before this line");
  if (t->delimiter[0] == '\0' && !t->ruled)
    return dl_log_bad(log, "no line of dashes below the header");
  size_t n = split(t, s, len, row->field);
  if (n != t->n_fields)
    return dl_log_bad(log, "expected %zu fields, found %zu", t->n_fields, n);
  row->table = t;
  row->id = dl_slurm_cell(row, DL_SLURM_JOB_ID);
  row->step = step_of(row->id, &row->id_len);
  if (*row->id < '0' || *row->id > '9')
    return dl_log_bad(log, "column 'JobID': invalid id '%.40s'", row->id);
  return read_energy(row, &row->joules) ||
         dl_log_bad(log, "column 'ConsumedEnergy': invalid number '%.40s'",
                    dl_slurm_cell(row, has(t, DL_SLURM_ENERGY_RAW)
                                           ? DL_SLURM_ENERGY_RAW
                                           : DL_SLURM_ENERGY));
}

bool dl_slurm_has_elapsed(const struct dl_slurm_table *t) {
  return has(t, DL_SLURM_ELAPSED) || has(t, DL_SLURM_ELAPSED_RAW);
}

double dl_slurm_elapsed(const struct dl_slurm_row *row) {
  const char *raw = dl_slurm_cell(row, DL_SLURM_ELAPSED_RAW);
  const char *text = dl_slurm_cell(row, DL_SLURM_ELAPSED);
  double x;
  bool ok = dl_parse_number(raw, strlen(raw), &x) == DL_NUMBER_OK ||
            dl_parse_elapsed(text, strlen(text), &x);
  return ok && x >= 0 && x <= 1e12 ? x : NAN;
}

bool dl_slurm_has_figures(const struct dl_slurm_table *t) {
  return dl_slurm_has_elapsed(t) || has(t, DL_SLURM_ENERGY) ||
         has(t, DL_SLURM_ENERGY_RAW) || has(t, DL_SLURM_ALLOC_TRES);
}

void dl_slurm_missing(const struct dl_slurm_table *t, struct dl_text *to) {
  const char *next;
  for (const char *s = DL_SLURM_USED; *s; s = next) {
    size_t len = strcspn(s, ",");
    next = s + len + (s[len] == ',');
    bool found = false;
    for (int c = 0; c < DL_SLURM_N && !found; c++)
      found = has(t, c) && dl_word_among(names[c], s, len) >= 0;
    if (found)
      continue;
    dl_text_add(to, to->len > 0 ? ", " : "");
    dl_text_add_n(to, s, len);
  }
}

/* Whether the first step below the header comes again at a later time. */
static bool is_sampled(struct dl_slurm_table t, const char *s) {
  struct dl_slurm_row row = {.table = &t};
  char first[64] = "", text[1024];
  double first_s = NAN;
  for (size_t n; *s; s += n + (s[n] != '\0')) {
    n = strcspn(s, "\n");
    if (n == 0 || n >= sizeof text || s[n] == '\0')
      continue;
    size_t len = n - (s[n - 1] == '\r');
    memcpy(text, s, len);
    text[len] = '\0';
    if (read_ruler(&t, text) || (t.delimiter[0] == '\0' && !t.ruled) ||
        split(&t, text, len, row.field) != t.n_fields)
      continue;
    const char *id = dl_slurm_cell(&row, DL_SLURM_JOB_ID);
    double x = dl_slurm_elapsed(&row);
    if (first[0] == '\0' && strlen(id) < sizeof first && !isnan(x)) {
      memcpy(first, id, strlen(id) + 1);
      first_s = x;
    } else if (x > first_s && strcmp(id, first) == 0) {
      return true;
    }
  }
  return false;
}

enum dl_slurm_kind dl_slurm_kind(const char *head) {
  struct dl_slurm_table t;
  struct dl_timestamp time;
  const char *s = head + strspn(head, " \t\r\n");
  size_t len = strcspn(s, "\r\n");
  bool stamped = dl_parse_timestamp(s, len, &time);
  if (stamped) {
    s += len + strspn(s + len, " \t\r\n");
    len = strcspn(s, "\r\n");
  }
  if (!dl_slurm_header(&t, s, len))
    return DL_SLURM_OTHER;
  bool energy = has(&t, DL_SLURM_ENERGY) || has(&t, DL_SLURM_ENERGY_RAW);
  bool job = has(&t, DL_SLURM_NAME) || has(&t, DL_SLURM_USER) ||
             has(&t, DL_SLURM_ACCOUNT) || has(&t, DL_SLURM_STATE) ||
             has(&t, DL_SLURM_PARTITION) || has(&t, DL_SLURM_START) ||
             has(&t, DL_SLURM_END);
  if (stamped || has(&t, DL_SLURM_TIME))
    return energy ? DL_SLURM_SAMPLES : DL_SLURM_OTHER;
  if (job)
    return DL_SLURM_JOBS;
  if (dl_slurm_has_elapsed(&t))
    return energy && is_sampled(t, s + len) ? DL_SLURM_SAMPLES : DL_SLURM_JOBS;
  return energy ? DL_SLURM_SAMPLES : DL_SLURM_OTHER;
}

/* Whether a row of sacct -n comes first: a number, and a state among others. */
static bool is_row(const char *s, size_t len) {
  static const char *const states[] = {"|COMPLETED|", "|FAILED|", "|TIMEOUT|",
                                       "|RUNNING|", "|CANCELLED"};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (isdigit((unsigned char)*s) &&
        memmem(s, len, states[i], strlen(states[i])))
      return true;
  return false;
}

const char *dl_slurm_lacks(const char *head) {
  struct dl_slurm_table t;
  const char *s = head + strspn(head, " \t\r\n");
  size_t len = strcspn(s, "\r\n");
  if (is_row(s, len))
    return "rows of sacct without a header: leave out -n (--noheader)";
  if (!read_names(&t, s, len))
    return NULL;
  bool own = has(&t, DL_SLURM_ENERGY) || has(&t, DL_SLURM_ENERGY_RAW) ||
             has(&t, DL_SLURM_ALLOC_TRES) || has(&t, DL_SLURM_REQ_TRES) ||
             has(&t, DL_SLURM_ELAPSED_RAW);
  if (own && !has(&t, DL_SLURM_JOB_ID))
    return "a table of sacct without column 'JobID': add it, as in sacct -P "
           "-o " DL_SLURM_USED;
  return has(&t, DL_SLURM_JOB_ID)
             ? "a table of sacct without states, times and energies of jobs: "
               "use sacct -P -o " DL_SLURM_USED
             : NULL;
}

bool dl_slurm_energy(const char *s, size_t n, double *joules) {
  static const char suffixes[] = "KMGTPE";
  double x, scale = 1;
  *joules = NAN;
  const char *suffix =
      n > 1 ? memchr(suffixes, s[n - 1], sizeof suffixes - 1) : NULL;
  if (suffix) {
    scale = pow(1000, (double)(suffix - suffixes + 1));
    n--;
  }
  enum dl_number found = dl_parse_number(s, n, &x);
  if (found == DL_NUMBER_EMPTY)
    return true;
  if (n > 0 && (*s == '[' || *s == '<') && dl_cell_number(s, n, &x))
    return true; /* "[N/A]", "<not counted>" */
  if (found != DL_NUMBER_OK || x < 0)
    return false;
  x *= scale;
  /* NO_VAL and INFINITE of 32 bits, of a node or of several, and of 63 and 64
   * bits. */
  bool none = fmod(x, 4294967294.0) == 0 || fmod(x, 4294967295.0) == 0;
  if (x == 0 || (!none && x < 9e18))
    *joules = x;
  return true;
}

double dl_slurm_job_energy(const double energy_j[DL_SLURM_STEPS],
                           double n_nodes, bool *counted_twice) {
  double job = energy_j[DL_SLURM_JOB], batch = energy_j[DL_SLURM_BATCH];
  double numbered = energy_j[DL_SLURM_NUMBERED], x = numbered;
  if (energy_j[DL_SLURM_EXTERN] > 0)
    x = energy_j[DL_SLURM_EXTERN];
  else if (batch > 0 && n_nodes == 1)
    x = batch;
  else if (batch > 0 && (numbered > 0 || !(job > 0)))
    x = fmax(batch, numbered);
  else if (job > 0)
    x = job;
  *counted_twice = job > x * 1.01;
  return x > 0 ? x : NAN;
}
