/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prometheus: its text format for exposition, 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats).
 *
 * Each number is a gauge, named by its key in base units: energy_j of the
 * table `estimates` is dlest_estimate_energy_joules. The texts of a row are its
 * labels, the texts of a report are the labels of dlest_info. Unknown values
 * have no sample. The samples of a metric must be contiguous: rows are held
 * back. */

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "output/format.h"
#include "output/screen.h"

enum { MOST_ROWS = 100000 };

/* Units by the end of a key; the first match counts. `unit` NULL: no metric,
 * another unit has it. */
static const struct dl_named_unit units[] = {
    {"_per_kwh", "_per_kilowatt_hour", 1},
    {"_g_kwh", "_grams_per_kilowatt_hour", 1},
    {"energy_kwh", NULL, 1},
    {"gpu_h", NULL, 1},
    {"macs_g", "macs", 1e9},
    {"params_m", "params", 1e6},
    {"acts_m", "acts", 1e6},
    {"_gb_s", "_bytes_per_second", 1e9},
    {"_tflops", "_flop_per_second", 1e12},
    {"_tops", "_operations_per_second", 1e12},
    {"_mhz", "_hertz", 1e6},
    {"weights_mb", "weights_bytes", 1e6},
    {"_w_gb", "_watts_per_byte", 1e-9},
    {"_kg", "_grams", 1e3},
    {"_j", "_joules", 1},
    {"_w", "_watts", 1},
    {"_per_s", "_per_second", 1},
    {"_s", "_seconds", 1},
    {"_g", "_grams", 1},
    {"_gb", "_bytes", 1e9},
    {"_px", "_pixels", 1},
    {"_util", "_utilisation_ratio", 1},
    {"share", "ratio", 1},
};

struct metrics_writer {
  FILE *f;
  struct dl_intern written; /* names of the metrics written so far */
};

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

/* A name has letters, digits and underscores. */
static void add_name(struct dl_text *t, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char c = s[i];
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || c == '_';
    dl_text_add_n(t, ok ? &c : "_", 1);
  }
}

/* The metric of a key; false if it has none. */
static bool metric_name(struct dl_text *t, const char *prefix, const char *key,
                        double *factor) {
  size_t n = strlen(key);
  const char *unit = "";
  *factor = 1;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (ends_with(key, units[i].names)) {
      if (!units[i].unit)
        return false;
      n -= strlen(units[i].names);
      unit = units[i].unit;
      *factor = units[i].factor;
      break;
    }
  dl_text_clear(t);
  dl_text_printf(t, "dlest_%s", prefix);
  add_name(t, key, n);
  dl_text_add(t, unit);
  return true;
}

/* "estimates" -> "estimate_", "boundaries" -> "boundary_" */
static void add_singular(struct dl_text *t, const char *key) {
  bool ies = ends_with(key, "ies");
  size_t n = strlen(key);
  if (ies)
    n -= 3;
  else if (n > 1 && key[n - 1] == 's')
    n--;
  add_name(t, key, n);
  dl_text_add(t, ies ? "y_" : "_");
}

/* Whether a column of texts does not identify the rows of a table: it is a
 * remark, or it changes while a row stays (a job ends, a sum of energies takes
 * in another boundary). As a label it would break the series of the row. */
static bool is_remark(const char *table, const char *column) {
  static const struct {
    const char *table, *columns;
  } remarks[] = {{"constants", "source|note"},
                 {"embodied", "source|note"},
                 {"values", "source|note"},
                 {"groups", "boundary"},
                 {"jobs", "state|energy_from|boundary"},
                 {"estimates", "duration_from|interval_from|model"}};
  for (size_t i = 0; i < DL_LENGTH(remarks); i++)
    if (strcmp(remarks[i].table, table) == 0 &&
        dl_word_among(remarks[i].columns, column, strlen(column)) >= 0)
      return true;
  return false;
}

/* Whether the label at the end, which begins at `at`, is a duplicate: names of
 * columns may differ only in characters that labels cannot have. A quote in a
 * value follows a backslash, so that the search finds names only. */
static bool has_label(const struct dl_text *t, size_t at) {
  if (at == 0 || t->len <= at)
    return false;
  const char *label = t->s + at; /* ,name=" */
  size_t n = t->len - at;
  return strncmp(t->s, label + 1, n - 1) == 0 ||
         memmem(t->s, at, label, n) != NULL;
}

static void add_label(struct dl_text *t, const char *name, const char *value) {
  DL_TEXT(clean);
  size_t before = t->len;
  dl_utf8_clean(&clean, value, false);
  dl_text_add(t, before > 0 ? "," : "");
  if (name[0] >= '0' && name[0] <= '9')
    dl_text_add(t, "_");
  add_name(t, name, strlen(name));
  dl_text_add(t, "=\"");
  if (has_label(t, before)) {
    t->len = before;
    t->s[before] = '\0';
    return;
  }
  for (const char *s = dl_text_str(&clean); *s; s++) {
    if (*s == '"' || *s == '\\')
      dl_text_add(t, "\\");
    dl_text_add_n(t, s, 1);
  }
  dl_text_add(t, "\"");
}

/* The number of a value; false where it has none. */
static bool number_of(const struct dl_value *v, double *x) {
  if (dl_value_absent(v))
    return false;
  *x = v->type == DL_NUMBER ? v->number : (double)v->count;
  return v->type == DL_NUMBER || v->type == DL_COUNT || v->type == DL_BOOL;
}

/* Appends "lower end of the interval, joules, of each estimate": a key in
 * words, its base unit, and the table (or ""). */
static void add_help(struct dl_text *t, const char *key, const char *table) {
  static const struct dl_named_text words[] = {
      {"n_gpus", "number of GPUs"},
      {"n_", "number of "},
      {"train_", "training "},
      {"val_", "validation "},
      {"low_", "lower end of the interval of the energy "},
      {"high_", "upper end of the interval of the energy "},
      {"macs_g", "multiply-accumulate operations of a sample"},
      {"mfu", "model FLOPs utilization"},
      {"co2e_", "emissions, CO2 equivalents "},
      {"gpu_s", "time of GPUs "},
      {"pue", "power usage effectiveness"}};
  const size_t n = strlen(key);
  const char *unit = "";
  size_t end = n, from = 0;
  for (size_t i = 0; i < DL_LENGTH(units) && !unit[0]; i++)
    if (ends_with(key, units[i].names) && units[i].unit) {
      unit = units[i].unit;
      if (unit[0] == '_')
        end = n - strlen(units[i].names);
      else if (strncmp(units[i].names, unit, strlen(unit)) == 0)
        end = n - strlen(units[i].names) + strlen(unit); /* "params_m" */
    }
  for (size_t i = 0; i < DL_LENGTH(words) && from == 0; i++)
    if (strncmp(key, words[i].name, strlen(words[i].name)) == 0) {
      dl_text_add(t, words[i].text);
      from = strlen(words[i].name);
    }
  for (size_t i = from; i < end; i++)
    dl_text_add_n(t, key[i] == '_' ? " " : key + i, 1);
  while (t->len > 0 && t->s[t->len - 1] == ' ')
    t->s[--t->len] = '\0';
  if (unit[0] == '_')
    dl_text_add(t, ", ");
  for (const char *s = unit; unit[0] == '_' && *++s;)
    dl_text_add_n(t, *s == '_' ? " " : s, 1);
  if (table[0])
    dl_text_printf(t, ", in %s", table);
}

/* The lines above a metric; false if it was written before. */
static bool begin_metric(struct metrics_writer *w, const char *name,
                         const char *key, const char *what) {
  size_t before = w->written.n;
  dl_intern(&w->written, name);
  if (w->written.n == before)
    return false;
  DL_TEXT(help);
  add_help(&help, key, what);
  fprintf(w->f, "# HELP %s %s\n# TYPE %s gauge\n", name, dl_text_str(&help),
          name);
  return true;
}

static void put_sample(struct metrics_writer *w, const char *name,
                       const char *labels, double x) {
  char buf[DL_NUMBER_SIZE];
  fprintf(w->f, labels[0] ? "%s{%s} %s\n" : "%s%s %s\n", name, labels,
          dl_format_short(buf, x));
}

/* The texts of each row as labels, owned; with equal ones all rows are
 * numbered. */
static struct dl_text *make_labels(const struct dl_table *table,
                                   const char *key) {
  DL_SCOPED(dl_intern_free) struct dl_intern seen = {0};
  struct dl_text *labels = dl_calloc(table->n_rows, sizeof *labels);
  for (size_t i = 0; i < table->n_rows; i++) {
    const struct dl_value *v = table->values + i * table->n_cols;
    for (size_t c = 0; c < table->n_cols; c++) {
      const char *column = table->columns[c].key;
      if (v[c].type == DL_STRING && !dl_value_absent(&v[c]) && column &&
          !is_remark(key, column))
        add_label(&labels[i], column, v[c].string);
    }
    dl_intern(&seen, dl_text_str(&labels[i]));
  }
  bool repeats = seen.n < table->n_rows;
  for (size_t i = 0; repeats && i < table->n_rows; i++)
    dl_text_printf(&labels[i], "%sdlest_row=\"%zu\"",
                   labels[i].len > 0 ? "," : "", i + 1);
  return labels;
}

static void put_table(struct metrics_writer *w, const char *prefix,
                      const char *key, const struct dl_table *table) {
  DL_TEXT(name);
  DL_TEXT(one);
  DL_TEXT(whole);
  DL_FREED struct dl_text *labels = make_labels(table, key);
  double factor, x;
  add_singular(&one, key);
  dl_text_printf(&whole, "%s%s", prefix, dl_text_str(&one));
  for (size_t c = 0; c < table->n_cols; c++) {
    const char *column = table->columns[c].key;
    bool begun = false, repeated = false;
    if (!column)
      continue;
    /* embodied_kg needs no prefix "embodied_" */
    bool prefixed = strncmp(column, dl_text_str(&one), one.len) == 0;
    if (!metric_name(&name, prefixed ? prefix : dl_text_str(&whole), column,
                     &factor))
      continue;
    for (size_t i = 0; !repeated && i < table->n_rows; i++) {
      if (!number_of(&table->values[i * table->n_cols + c], &x))
        continue;
      repeated = !begun && !begin_metric(w, dl_text_str(&name), column, key);
      begun = true;
      if (!repeated)
        put_sample(w, dl_text_str(&name), dl_text_str(&labels[i]), x * factor);
    }
  }
  for (size_t i = 0; i < table->n_rows; i++)
    dl_text_free(&labels[i]);
}

/* The texts of a report, as labels of a metric without a value. */
static void put_info(struct metrics_writer *w, const struct dl_report *r,
                     const char *prefix) {
  DL_TEXT(labels);
  DL_TEXT(name);
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    if (node->type == DL_REPORT_VALUE && node->key &&
        node->value.type == DL_STRING && !dl_value_absent(&node->value))
      add_label(&labels, node->key, node->value.string);
  }
  if (prefix[0] == '\0')
    add_label(&labels, "dlest", PACKAGE_VERSION);
  dl_text_printf(&name, "dlest_%sinfo", prefix);
  if (labels.len > 0 && begin_metric(w, dl_text_str(&name),
                                     "what the other metrics are about", ""))
    put_sample(w, dl_text_str(&name), dl_text_str(&labels), 1);
}

/* The main table of a report, if it has no key: the rows of its list. */
static const struct dl_table *summary_of(const struct dl_report *r) {
  for (size_t i = 0; i < r->n_nodes; i++)
    if (r->nodes[i].type == DL_REPORT_TABLE && !r->nodes[i].key &&
        r->nodes[i].table == r->root->main)
      return r->nodes[i].table;
  return NULL;
}

static void put_report(struct metrics_writer *w, const struct dl_report *r,
                       const char *prefix) {
  DL_TEXT(t);
  double factor, x;
  put_info(w, r, prefix);
  for (size_t i = 0; i < r->n_nodes; i++) {
    const struct dl_report_node *node = &r->nodes[i];
    if (!node->key)
      continue;
    if (node->type == DL_REPORT_TABLE) {
      put_table(w, prefix, node->key, node->table);
    } else if (node->type == DL_REPORT_LIST && summary_of(r)) {
      put_table(w, prefix, node->key, summary_of(r));
    } else if (node->type == DL_REPORT_GROUP && node->n_reports > 0) {
      dl_text_clear(&t);
      dl_text_printf(&t, "%s%s_", prefix, node->key);
      put_report(w, node->reports[0], dl_text_str(&t));
    } else if (node->type == DL_REPORT_VALUE && number_of(&node->value, &x) &&
               metric_name(&t, prefix, node->key, &factor) &&
               begin_metric(w, dl_text_str(&t), node->key, "")) {
      put_sample(w, dl_text_str(&t), "", x * factor);
    }
  }
}

static enum dl_status prometheus_report(const struct dl_format *format,
                                        const struct dl_report *r, FILE *f,
                                        struct dl_diag *d) {
  struct metrics_writer w = {.f = f};
  (void)format, (void)d;
  put_report(&w, r, "");
  dl_intern_free(&w.written);
  return DL_OK;
}

static enum dl_status prometheus_begin(struct dl_stream *s, struct dl_diag *d) {
  (void)d;
  s->head = dl_table_new(NULL, s->columns, s->n_cols);
  return DL_OK;
}

static enum dl_status prometheus_row(struct dl_stream *s,
                                     const struct dl_value *values,
                                     struct dl_diag *d) {
  if (s->head && s->head->n_rows < MOST_ROWS) {
    dl_table_row(s->head, values, NULL);
    return DL_OK;
  }
  dl_table_free(s->head); /* so that none is written */
  s->head = NULL;
  return dl_fail(d, DL_EUSAGE,
                 "more than %d rows are no metrics; sum them up (dlest report "
                 "--by user) or take CSV",
                 MOST_ROWS);
}

static enum dl_status prometheus_end(struct dl_stream *s, struct dl_diag *d) {
  struct metrics_writer w = {.f = s->f};
  (void)d;
  if (s->head)
    put_table(&w, "", s->key, s->head);
  if (s->tail)
    put_report(&w, s->tail, "");
  dl_intern_free(&w.written);
  return DL_OK;
}

const struct dl_format dl_format_prometheus = {
    .name = "prometheus",
    .summary = "numbers as metrics, for Prometheus",
    .whole = true,
    .extension = "prom",
    .report = prometheus_report,
    .begin = prometheus_begin,
    .row = prometheus_row,
    .end = prometheus_end,
};
