/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dlest recommend says of its choices. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/text.h"
#include "cli/passes/recommend.h"

/* Rows of a table that people are shown, unless they ask for all. */
enum { SHOWN_FRONT = 20, SHOWN_OPEN = 10 };

/* For programs: every choice. The text shows parts of it. */
enum {
  C_GPU = 1,
  C_BATCH,
  C_PX,
  C_ACCURACY,
  C_TIME = 8,
  C_GPUS = 12,
  C_NODE = 19,
  COLUMNS
};
static const struct dl_column columns[COLUMNS] = {
    {"arch", NULL, NULL, DL_CODE, false},
    {"gpu", NULL, NULL, DL_CODE, false},
    {"batch_size", NULL, NULL, DL_CODE, false},
    {"image_px", NULL, "px", DL_CODE, false},
    {"accuracy", NULL, NULL, DL_PLAIN, false},
    {"energy_j", NULL, "J", DL_ENERGY, false},
    {"energy_low_j", NULL, "J", DL_ENERGY, false},
    {"energy_high_j", NULL, "J", DL_ENERGY, false},
    {"duration_s", NULL, "s", DL_TIME, false},
    {"bound_by", NULL, NULL, DL_CODE, false},
    {"pareto", NULL, NULL, DL_CODE, false},
    {"overlaps", NULL, NULL, DL_CODE, false},
    {"n_gpus", NULL, NULL, DL_CODE, false},
    {"seq_len", NULL, NULL, DL_CODE, false},
    {"saving", NULL, NULL, DL_PERCENT, false},
    {"memory_need_gb", NULL, "GB", DL_PLAIN, false},
    {"runs", NULL, NULL, DL_CODE, false},
    {"excluded", NULL, NULL, DL_CODE, false},
    {"boundary", NULL, NULL, DL_CODE, false},
    {"node", NULL, NULL, DL_CODE, false},
};

struct telling {
  struct dl_report *r;
  const struct dl_recommend_options *o;
  const struct dl_choices *l;
  size_t n;         /* that meet the limits: they come first */
  double highest_j; /* energy of the costliest of them, J */
  char interval[32];
  bool varies[COLUMNS]; /* by column, among those that meet */
  bool in_joules;       /* kWh would be tiny */
};

static bool same(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool differs(const struct dl_value *a, const struct dl_value *b) {
  if (a->type == DL_STRING && b->type == DL_STRING)
    return !same(a->string, b->string);
  return a->type != b->type || a->number < b->number || a->number > b->number ||
         isnan(a->number) != isnan(b->number);
}

static void fill(const struct telling *w, const struct dl_alternative *c,
                 struct dl_value v[COLUMNS]) {
  bool meets = c->excluded == DL_CHOICE_MEETS;
  size_t i = 0;
  v[i++] = dl_string(c->arch);
  v[i++] = dl_string(c->gpu);
  v[i++] = dl_number(c->batch_size);
  v[i++] = dl_number(c->image_px);
  v[i++] = dl_number(c->accuracy);
  v[i++] = dl_number(c->energy_j);
  v[i++] = dl_number(c->low_j);
  v[i++] = dl_number(c->high_j);
  v[i++] = dl_number(c->duration_s);
  v[i++] = dl_string(c->bound);
  v[i++] = dl_count(c->place.front);
  v[i++] = dl_count(c->place.open);
  v[i++] = dl_number(c->n_gpus);
  v[i++] = dl_number(c->seq_len);
  v[i++] = dl_number(meets ? 1 - c->energy_j / w->highest_j : NAN);
  v[i++] = dl_number(c->memory_need_gb);
  v[i++] = c->runs ? dl_count(c->runs) : dl_number(NAN);
  v[i++] = dl_string(dl_excluded_name(c->excluded));
  v[i++] = dl_string(c->boundary);
  v[i++] = dl_string(c->node);
}

/* Columns that people see, where they differ or are known at all. */
enum {
  T_ARCH,
  T_NODE,
  T_GPU,
  T_GPUS,
  T_PX,
  T_SEQ,
  T_BATCH,
  T_ACCURACY,
  T_ENERGY,
  T_LOW,
  T_HIGH,
  T_TIME,
  T_BOUND,
  T_MEMORY,
  T_RUNS,
  T_COLUMNS
};
static const struct dl_column told[T_COLUMNS] = {
    [T_ARCH] = {NULL, "arch", NULL, DL_CODE, false},
    [T_NODE] = {NULL, "node", NULL, DL_CODE, false},
    [T_GPU] = {NULL, "GPU", NULL, DL_CODE, false},
    [T_GPUS] = {NULL, "GPUs", NULL, DL_CODE, false},
    [T_PX] = {NULL, "input", "px", DL_CODE, false},
    [T_SEQ] = {NULL, "sequence", "tokens", DL_CODE, false},
    [T_BATCH] = {NULL, "batch", NULL, DL_CODE, false},
    [T_ACCURACY] = {NULL, "accuracy", NULL, DL_PLAIN, false},
    [T_ENERGY] = {NULL, "energy", "kWh", DL_PLAIN, false},
    [T_LOW] = {NULL, "interval", "kWh", DL_PLAIN, true},
    [T_HIGH] = {NULL, "", "kWh", DL_PLAIN, false},
    [T_TIME] = {NULL, "time", "s", DL_TIME, false},
    [T_BOUND] = {NULL, "bound by", NULL, DL_CODE, false},
    [T_MEMORY] = {NULL, "memory", "GB", DL_PLAIN, false},
    [T_RUNS] = {NULL, "runs", NULL, DL_CODE, false},
};

static void tell(const struct telling *w, const struct dl_alternative *c,
                 struct dl_value v[T_COLUMNS]) {
  double unit = w->in_joules ? 1 : DL_J_PER_KWH;
  v[T_ARCH] = dl_string(c->arch);
  v[T_NODE] = dl_string(c->node);
  v[T_GPU] = dl_string(c->gpu);
  v[T_GPUS] = dl_number(c->n_gpus);
  v[T_PX] = dl_number(c->image_px);
  v[T_SEQ] = dl_number(c->seq_len);
  v[T_BATCH] = dl_number(c->batch_size);
  v[T_ACCURACY] = dl_number(c->accuracy);
  v[T_ENERGY] = dl_number(c->energy_j / unit);
  v[T_LOW] = dl_number(c->low_j / unit);
  v[T_HIGH] = dl_number(c->high_j / unit);
  v[T_TIME] = dl_number(c->duration_s);
  v[T_BOUND] = dl_string(c->bound);
  v[T_MEMORY] = dl_number(c->memory_need_gb);
  v[T_RUNS] = dl_number(c->runs > 0 ? (double)c->runs : (double)NAN);
}

/* Nothing, the least energy, an open place, an interval over the budget. */
static const char *mark_of(const struct telling *w, size_t i) {
  static const char *const marks[] = {NULL, "*",  "~",  "*~",
                                      "!",  "*!", "~!", "*~!"};
  const struct dl_alternative *c = &w->l->c[i];
  bool over = c->high_j > w->o->budget_kwh * DL_J_PER_KWH;
  return marks[(i == 0) + 2 * (c->place.front && c->place.open) + 4 * over];
}

/* Whether a column tells nothing: unknown throughout, or a setting that all
 * choices share. */
static bool is_dull(const struct telling *w, size_t column) {
  bool setting = column >= T_GPUS && column <= T_BATCH, known = false;
  struct dl_value first[T_COLUMNS], v[T_COLUMNS];
  tell(w, &w->l->c[0], first);
  for (size_t i = 0; i < w->n; i++) {
    tell(w, &w->l->c[i], v);
    if (setting && differs(&first[column], &v[column]))
      return false;
    known |= v[column].string ||
             (v[column].type == DL_NUMBER && !isnan(v[column].number));
  }
  return setting || !known;
}

static void text_columns(const struct telling *w,
                         struct dl_column c[T_COLUMNS]) {
  for (size_t i = 0; i < T_COLUMNS; i++) {
    c[i] = told[i];
    if (is_dull(w, i))
      c[i].heading = NULL;
    if (w->in_joules && (i == T_ENERGY || i == T_LOW || i == T_HIGH)) {
      c[i].unit = "J";
      c[i].style = DL_ENERGY;
    }
  }
  if (c[T_LOW].heading)
    c[T_LOW].heading = w->interval;
  else
    c[T_HIGH].heading = NULL;
}

/* Rows from..end under a title; those beyond `most` are counted. */
static void add_text(struct telling *w, const char *title, size_t from,
                     size_t end, size_t most) {
  struct dl_column c[T_COLUMNS];
  struct dl_value v[T_COLUMNS];
  if (from == end)
    return;
  text_columns(w, c);
  struct dl_table *t = dl_report_table(w->r, NULL, title, c, T_COLUMNS, false);
  size_t stop = w->o->all || end - from <= most ? end : from + most;
  for (size_t i = from; i < stop; i++) {
    tell(w, &w->l->c[i], v);
    dl_table_row(t, v, mark_of(w, i));
  }
  if (stop < end) {
    char text[64];
    snprintf(text, sizeof text, "and %zu more (--all)", end - stop);
    dl_report_say(w->r, text);
  }
}

static void add_front(struct telling *w) {
  size_t front = 0, open = 0;
  for (size_t i = 0; i < w->n; i++) {
    front += w->l->c[i].place.front;
    open += !w->l->c[i].place.front && w->l->c[i].place.open;
  }
  add_text(w, "Pareto front: what nothing beats", 0, front, SHOWN_FRONT);
  add_text(w, "Beaten, but within the intervals", front, front + open,
           SHOWN_OPEN);
  if (w->o->all)
    add_text(w, "Beaten", front + open, w->n, SHOWN_OPEN);
}

/* Where a choice runs: a node, or a GPU alone. */
static const char *place_of(const struct dl_alternative *c) {
  return c->node ? c->node : c->gpu;
}

/* The least energy of an architecture, and of it in another place. */
struct best {
  const struct dl_alternative *c, *other;
};

static struct best best_of(const struct telling *w, const char *arch) {
  struct best b = {NULL, NULL};
  for (size_t i = 0; i < w->n; i++) {
    const struct dl_alternative *c = &w->l->c[i];
    if (same(c->arch, arch) && (!b.c || c->energy_j < b.c->energy_j))
      b.c = c;
  }
  for (size_t i = 0; i < w->n; i++) {
    const struct dl_alternative *c = &w->l->c[i];
    if (same(c->arch, arch) && !same(place_of(c), place_of(b.c)) &&
        (!b.other || c->energy_j < b.other->energy_j))
      b.other = c;
  }
  return b;
}

/* Architectures that have been told of are those before. */
static bool is_first(const struct telling *w, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same(w->l->c[k].arch, w->l->c[i].arch))
      return false;
  return true;
}

enum { A_COLUMNS = 17, MOST_ARCHS = 200 };

/* Whether the next GPU may do as well. */
static bool overlap(const struct best *b) {
  return b->other && b->other->low_j <= b->c->high_j;
}

static void fill_best(const struct telling *w, const struct best *b,
                      double highest_j, struct dl_value v[A_COLUMNS]) {
  const struct dl_alternative *c = b->c, *o = b->other;
  size_t i = 0;
  v[i++] = dl_string(c->arch);
  v[i++] = dl_string(c->node);
  v[i++] = dl_string(c->gpu);
  v[i++] = dl_number(c->n_gpus);
  v[i++] = dl_number(c->batch_size);
  v[i++] = dl_number(c->image_px);
  v[i++] = dl_number(c->accuracy);
  v[i++] = dl_number(c->energy_j / (w->in_joules ? 1 : DL_J_PER_KWH));
  v[i++] = dl_number(c->energy_j);
  v[i++] = dl_number(c->low_j);
  v[i++] = dl_number(c->high_j);
  v[i++] = dl_number(c->duration_s);
  v[i++] = dl_number(1 - c->energy_j / highest_j);
  v[i++] = dl_string(o ? o->node : NULL);
  v[i++] = dl_string(o ? o->gpu : NULL);
  v[i++] = dl_number(o ? o->energy_j / c->energy_j - 1 : NAN);
  bool both = o && !isnan(o->low_j) && !isnan(c->high_j);
  v[i++] = both ? dl_bool(overlap(b)) : dl_number(NAN);
}

static int by_energy(const void *a, const void *b) {
  double x = ((const struct best *)a)->c->energy_j;
  double y = ((const struct best *)b)->c->energy_j;
  return (x > y) - (x < y);
}

static void say_archs(struct telling *w, bool several, bool places, bool open) {
  struct dl_text t = {0};
  if (several)
    dl_text_add(&t, "saves: against the costliest of these");
  if (places)
    dl_text_printf(&t, "%stakes more: the same on the next best %s%s",
                   several ? "; " : "", w->l->c[0].node ? "node" : "GPU",
                   open ? " (~: by the intervals, it may take less)" : "");
  dl_text_add(&t, ".");
  dl_report_say(w->r, dl_text_str(&t));
  dl_text_free(&t);
}

/* Each architecture at its thriftiest: what another one would save, and
 * whether another GPU does as well. */
static void add_archs(struct telling *w) {
  bool nodes = w->l->c[0].node;
  bool places = w->varies[nodes ? C_NODE : C_GPU];
  struct best best[MOST_ARCHS] = {0};
  struct dl_value v[A_COLUMNS];
  double highest_j = 0;
  size_t n = 0;
  for (size_t i = 0; i < w->n && n < MOST_ARCHS; i++)
    if (is_first(w, i)) {
      best[n] = best_of(w, w->l->c[i].arch);
      highest_j = fmax(highest_j, best[n++].c->energy_j);
    }
  qsort(best, n, sizeof *best, by_energy);
  struct dl_column c[A_COLUMNS] = {
      {"arch", "arch", NULL, DL_CODE, false},
      {"node", nodes ? "node" : NULL, NULL, DL_CODE, false},
      {"gpu", nodes ? NULL : "GPU", NULL, DL_CODE, false},
      {"n_gpus", w->varies[C_GPUS] ? "GPUs" : NULL, NULL, DL_CODE, false},
      {"batch_size", w->varies[C_BATCH] ? "batch" : NULL, NULL, DL_CODE, false},
      {"image_px", w->varies[C_PX] ? "input" : NULL, "px", DL_CODE, false},
      {"accuracy", w->varies[C_ACCURACY] ? "accuracy" : NULL, NULL, DL_PLAIN,
       false},
      {NULL, "energy", w->in_joules ? "J" : "kWh",
       w->in_joules ? DL_ENERGY : DL_PLAIN, false},
      {"energy_j", NULL, "J", DL_ENERGY, false},
      {"energy_low_j", NULL, "J", DL_ENERGY, true},
      {"energy_high_j", NULL, "J", DL_ENERGY, false},
      {"duration_s", w->varies[C_TIME] ? "time" : NULL, "s", DL_TIME, false},
      {"saving", n > 1 ? "saves" : NULL, NULL, DL_PERCENT, false},
      {"next_node", places && nodes ? "next node" : NULL, NULL, DL_CODE, false},
      {"next_gpu", places && !nodes ? "next GPU" : NULL, NULL, DL_CODE, false},
      {"next_more", places ? "takes more" : NULL, NULL, DL_PERCENT, false},
      {"next_overlaps", NULL, NULL, DL_CODE, false}};
  bool show = n > 1 || (n == 1 && places), open = false;
  for (size_t i = 0; i < A_COLUMNS && !show; i++)
    c[i].heading = NULL;
  struct dl_table *t = dl_report_table(
      w->r, "by_arch", show ? "Each architecture at its thriftiest" : NULL, c,
      A_COLUMNS, false);
  for (size_t i = 0; i < n; i++) {
    fill_best(w, &best[i], highest_j, v);
    dl_table_row(t, v, overlap(&best[i]) ? "~" : NULL);
    open |= overlap(&best[i]);
  }
  if (show)
    say_archs(w, n > 1, places, open);
}

static void add_known(struct dl_report *r, const char *key, const char *label,
                      const char *unit, enum dl_style style, double x) {
  dl_report_add(r, key, isfinite(x) ? label : NULL, unit, style, dl_number(x));
}

/* Where the choices come from, and what has been left out. */
static void add_settings(struct telling *w) {
  static const struct {
    enum dl_excluded why;
    const char *key, *label;
  } out[] = {{DL_CHOICE_SILENT, "n_silent", "without an estimate"},
             {DL_CHOICE_MEMORY, "n_memory", "beyond the GPU's memory"},
             {DL_CHOICE_DEADLINE, "n_deadline", "past the deadline"},
             {DL_CHOICE_BUDGET, "n_budget", "over the budget"}};
  struct dl_report *r = w->r;
  const struct dl_recommend_options *o = w->o;
  const struct dl_choices *l = w->l;
  const char *from = o->table ? NULL : o->method;
  dl_report_add(r, "method", from ? "method" : NULL, NULL, DL_CODE,
                dl_string(from));
  dl_report_add(r, "table", o->table ? "measured runs" : NULL, NULL, DL_CODE,
                dl_string(o->table));
  dl_report_add(r, "boundary", l->c[0].boundary ? "boundary" : NULL, NULL,
                DL_CODE, dl_string(l->c[0].boundary));
  bool infers = !isnan(l->requests);
  dl_report_add(r, "phase", infers ? "phase" : NULL, NULL, DL_CODE,
                dl_string(o->table ? NULL
                          : infers ? "inference"
                                   : "training"));
  dl_report_add(r, "dataset", o->job.dataset ? "data set" : NULL, NULL, DL_CODE,
                dl_string(o->job.dataset));
  add_known(r, "train_samples", "training samples", NULL, DL_CODE,
            l->train_samples);
  add_known(r, "val_samples", "validation samples", NULL, DL_CODE,
            l->val_samples);
  add_known(r, "epochs", "epochs", NULL, DL_CODE, l->epochs);
  add_known(r, "requests", "requests", NULL, DL_CODE, l->requests);
  add_known(r, "prompt_tokens", "prompt", "tokens", DL_CODE, l->prompt_tokens);
  add_known(r, "output_tokens", "answer", "tokens", DL_CODE, l->output_tokens);
  add_known(r, NULL, "input", "px", DL_CODE,
            w->varies[C_PX] ? NAN : l->c[0].image_px);
  add_known(r, NULL, "GPUs", NULL, DL_CODE,
            w->varies[C_GPUS] || !(l->c[0].n_gpus > 1) ? NAN : l->c[0].n_gpus);
  add_known(r, NULL, "batch size", NULL, DL_CODE,
            w->varies[C_BATCH] ? NAN : l->c[0].batch_size);
  dl_report_add(r, "coverage", NULL, NULL, DL_PERCENT, dl_number(o->coverage));
  add_known(r, "deadline_s", "deadline", "s", DL_TIME, o->deadline_s);
  add_known(r, "budget_j", NULL, "J", DL_ENERGY, o->budget_kwh * DL_J_PER_KWH);
  add_known(r, NULL, "budget", "kWh", DL_PLAIN, o->budget_kwh);
  dl_report_add(r, "n_choices", "choices", NULL, DL_CODE, dl_count(l->n));
  for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
    size_t n = l->n_excluded[out[i].why];
    dl_report_add(r, out[i].key, n > 0 ? out[i].label : NULL, NULL, DL_CODE,
                  dl_count(n));
  }
}

static void find_varying(struct telling *w) {
  struct dl_value first[COLUMNS], v[COLUMNS];
  fill(w, &w->l->c[0], first);
  for (size_t i = 1; i < w->n; i++) {
    fill(w, &w->l->c[i], v);
    for (size_t k = 0; k < COLUMNS; k++)
      w->varies[k] |= differs(&first[k], &v[k]);
  }
}

static void add_choices(struct telling *w) {
  struct dl_table *t =
      dl_report_table(w->r, "choices", NULL, columns, COLUMNS, true);
  for (size_t i = 0; i < w->l->n; i++) {
    struct dl_value v[COLUMNS];
    fill(w, &w->l->c[i], v);
    dl_table_row(t, v, NULL);
  }
}

static void add_notes(struct telling *w) {
  bool open = false, marked = false, over = false;
  for (size_t i = 0; i < w->n; i++) {
    open |= w->l->c[i].place.open;
    marked |= w->l->c[i].place.open && w->l->c[i].place.front;
    over |= w->l->c[i].high_j > w->o->budget_kwh * DL_J_PER_KWH;
  }
  dl_report_say(w->r, "* the least energy.");
  if (w->l->c[0].node)
    dl_report_say(w->r, strcmp(w->l->c[0].boundary, "facility") == 0
                            ? "Boundary facility: all of the node at its plug, "
                              "times the PUE of where it stands."
                            : "Boundary node: all of the node, at its plug.");
  if (marked)
    dl_report_say(w->r,
                  "~ open: by the intervals, another choice may be as good in "
                  "all and take less.");
  if (over)
    dl_report_say(w->r, "! the interval goes beyond the budget.");
  if (open && !w->o->table)
    dl_report_say(w->r, "Choices that share the GPU or the network err alike: "
                        "their order is surer than the intervals say.");
}

enum dl_status dl_recommend_report(struct dl_cli *cli,
                                   const struct dl_recommend_options *o,
                                   const struct dl_choices *l) {
  struct telling w = {.r = dl_report_new(), .o = o, .l = l};
  if (!w.r)
    return dl_fail_memory(&cli->diag);
  snprintf(w.interval, sizeof w.interval, "%g %% interval", 100 * o->coverage);
  w.n = l->n_excluded[DL_CHOICE_MEETS];
  for (size_t i = 0; i < w.n; i++)
    w.highest_j = fmax(w.highest_j, l->c[i].energy_j);
  w.in_joules = w.highest_j < 0.1 * DL_J_PER_KWH;
  find_varying(&w);
  add_settings(&w);
  add_choices(&w);
  add_front(&w);
  add_archs(&w);
  add_notes(&w);
  return dl_cli_print(cli, w.r);
}
