/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest recommend. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/passes/recommend.h"

/* Rows of a table that text shows without --all. */
enum { SHOWN_FRONT = 20, SHOWN_OPEN = 10 };

/* What is known of a choice, in the order of JSON and CSV; energies in kWh are
 * for text only. */
enum column {
  C_ARCH,
  C_GPU,
  C_BATCH,
  C_PX,
  C_ACCURACY,
  C_ENERGY,
  C_LOW,
  C_HIGH,
  C_TIME,
  C_BOUND,
  C_FRONT,
  C_OPEN,
  C_GPUS,
  C_SEQ,
  C_SAVING,
  C_MEMORY,
  C_RUNS,
  C_EXCLUDED,
  C_BOUNDARY,
  C_NODE,
  C_PRECISION,
  C_KWH,
  C_LOW_KWH,
  C_HIGH_KWH,
  COLUMNS
};
static const struct dl_column columns[COLUMNS] = {
    [C_ARCH] = {"arch", "arch", NULL, DL_CODE, false},
    [C_GPU] = {"gpu", "GPU", NULL, DL_CODE, false},
    [C_BATCH] = {"batch_size", "batch", NULL, DL_CODE, false},
    [C_PX] = {"image_px", "input", "px", DL_CODE, false},
    [C_ACCURACY] = {"accuracy", "accuracy", NULL, DL_PLAIN, false},
    [C_ENERGY] = {.key = "energy_j"},
    [C_LOW] = {.key = "energy_low_j"},
    [C_HIGH] = {.key = "energy_high_j"},
    [C_TIME] = {"duration_s", "time", "s", DL_TIME, DL_MAIN},
    [C_BOUND] = {"bound_by", "bound by", NULL, DL_CODE, DL_SPARE},
    [C_FRONT] = {.key = "pareto"},
    [C_OPEN] = {.key = "overlaps"},
    [C_GPUS] = {"n_gpus", "GPUs", NULL, DL_CODE, false},
    [C_SEQ] = {"seq_len", "sequence", "tokens", DL_CODE, false},
    [C_SAVING] = {"saving", "saves", NULL, DL_PERCENT, false},
    [C_MEMORY] = {"memory_need_gb", "memory", "GB", DL_PLAIN, DL_SPARE},
    [C_RUNS] = {"runs", "runs", NULL, DL_CODE, false},
    [C_EXCLUDED] = {.key = "excluded"},
    [C_BOUNDARY] = {.key = "boundary"},
    [C_NODE] = {"node", "node", NULL, DL_CODE, false},
    [C_PRECISION] = {"precision", "precision", NULL, DL_CODE, DL_SPARE},
    [C_KWH] = {NULL, "energy", "kWh", DL_PLAIN, DL_MAIN},
    [C_LOW_KWH] = {NULL, "interval", "kWh", DL_PLAIN, true},
    [C_HIGH_KWH] = {NULL, "", "kWh", DL_PLAIN, false},
};

struct view {
  struct dl_report *r;
  const struct dl_recommend_options *o;
  const struct dl_choices *l;
  size_t n;         /* choices that meet the limits: they come first */
  double highest_j; /* energy of the costliest of them, J */
  char interval[32];
  bool varies[COLUMNS], known[COLUMNS]; /* among those that meet the limits */
  bool in_joules;                       /* kWh would be tiny */
};

static bool same(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool differs(const struct dl_value *a, const struct dl_value *b) {
  if (a->type == DL_STRING && b->type == DL_STRING)
    return !same(a->string, b->string);
  return a->type != b->type ||
         (a->type == DL_NUMBER &&
          (a->number < b->number || a->number > b->number));
}

static void fill(const struct view *w, const struct dl_alternative *c,
                 struct dl_value v[COLUMNS]) {
  bool meets = c->excluded == DL_CHOICE_MEETS;
  double unit = w->in_joules ? 1 : DL_J_PER_KWH;
  v[C_ARCH] = dl_string(c->arch);
  v[C_GPU] = dl_string(c->gpu);
  v[C_BATCH] = dl_number(c->batch_size);
  v[C_PX] = dl_number(c->image_px);
  v[C_ACCURACY] = dl_number(c->accuracy);
  v[C_ENERGY] = dl_number(c->energy_j);
  v[C_LOW] = dl_number(c->low_j);
  v[C_HIGH] = dl_number(c->high_j);
  v[C_TIME] = dl_number(c->duration_s);
  v[C_BOUND] = dl_string(c->bound);
  v[C_FRONT] = dl_count(c->place.front);
  v[C_OPEN] = dl_count(c->place.open);
  v[C_GPUS] = dl_number(c->n_gpus);
  v[C_SEQ] = dl_number(c->seq_len);
  v[C_SAVING] = dl_number(meets ? 1 - c->energy_j / w->highest_j : NAN);
  v[C_MEMORY] = dl_number(c->memory_need_gb);
  v[C_RUNS] = c->runs ? dl_count(c->runs) : dl_number(NAN);
  v[C_EXCLUDED] = dl_string(dl_excluded_name(c->excluded));
  v[C_BOUNDARY] = dl_string(c->boundary);
  v[C_NODE] = dl_string(c->node);
  v[C_PRECISION] = dl_string(c->precision);
  v[C_KWH] = dl_number(c->energy_j / unit);
  v[C_LOW_KWH] = dl_number(c->low_j / unit);
  v[C_HIGH_KWH] = dl_number(c->high_j / unit);
}

/* Which columns vary and which are known among the choices that meet the
 * limits. */
static void compare_columns(struct view *w) {
  struct dl_value first[COLUMNS], v[COLUMNS];
  fill(w, &w->l->c[0], first);
  for (size_t i = 0; i < w->n; i++) {
    fill(w, &w->l->c[i], v);
    for (size_t k = 0; k < COLUMNS; k++) {
      w->varies[k] |= differs(&first[k], &v[k]);
      w->known[k] |= v[k].type != DL_NULL;
    }
  }
}

/* All choices, for programs. */
static void add_choices(struct view *w) {
  struct dl_column c[C_KWH];
  for (size_t k = 0; k < C_KWH; k++)
    c[k] = (struct dl_column){.key = columns[k].key};
  struct dl_table *t = dl_report_table(w->r, "choices", NULL, c, C_KWH, true);
  for (size_t i = 0; i < w->l->n; i++) {
    struct dl_value v[COLUMNS];
    fill(w, &w->l->c[i], v);
    dl_table_row(t, v, NULL);
  }
}

static struct dl_column column_of(const struct view *w, enum column i,
                                  bool shown) {
  struct dl_column c = columns[i];
  if (i == C_LOW_KWH)
    c.heading = w->interval;
  if (!shown)
    c.heading = NULL;
  if (w->in_joules && i >= C_KWH) {
    c.unit = "J";
    c.style = DL_ENERGY;
  }
  return c;
}

/* For a choice with the least energy, an open place on the front, and an
 * interval that exceeds the budget. */
static const char *mark_of(const struct view *w, size_t i) {
  static const char *const marks[] = {NULL, "*",  "~",  "*~",
                                      "!",  "*!", "~!", "*~!"};
  const struct dl_alternative *c = &w->l->c[i];
  bool over = c->high_j > w->o->budget_kwh * DL_J_PER_KWH;
  return marks[(i == 0) + 2 * (c->place.front && c->place.open) + 4 * over];
}

/* The energies of choices, each named by what distinguishes it. */
static void add_chart(struct view *w, const char *title, size_t from,
                      size_t end) {
  struct dl_table *t = dl_report_chart(w->r, title, DL_KWH, "J");
  for (size_t i = from; i < end; i++) {
    const struct dl_alternative *c = &w->l->c[i];
    struct dl_text name = {0};
    dl_text_printf(&name, "%s on %s", c->arch ? c->arch : "?",
                   c->node  ? c->node
                   : c->gpu ? c->gpu
                            : "?");
    if (w->varies[C_GPUS])
      dl_text_printf(&name, " x %g", c->n_gpus);
    if (w->varies[C_BATCH])
      dl_text_printf(&name, ", batch %g", c->batch_size);
    const struct dl_value bar[] = {dl_string(dl_text_str(&name)),
                                   dl_number(c->energy_j), dl_number(c->low_j),
                                   dl_number(c->high_j)};
    dl_table_row(t, bar, NULL);
    dl_text_free(&name);
  }
}

/* Rows from..end under a title, for text; those beyond `most` are counted. A
 * setting that all choices share has no column, nor has what is unknown. */
static void add_text(struct view *w, const char *title, size_t from, size_t end,
                     size_t most) {
  static const enum column shown[] = {
      C_ARCH,  C_NODE,      C_GPU,      C_GPUS, C_PX,      C_SEQ,
      C_BATCH, C_PRECISION, C_ACCURACY, C_KWH,  C_LOW_KWH, C_HIGH_KWH,
      C_TIME,  C_BOUND,     C_MEMORY,   C_RUNS};
  struct dl_column c[DL_LENGTH(shown)];
  struct dl_value v[COLUMNS], row[DL_LENGTH(shown)];
  if (from == end)
    return;
  for (size_t k = 0; k < DL_LENGTH(shown); k++) {
    enum column i = shown[k];
    bool setting = i == C_GPUS || i == C_PX || i == C_SEQ || i == C_BATCH ||
                   i == C_PRECISION;
    bool known = w->known[i == C_HIGH_KWH ? C_LOW_KWH : i];
    c[k] = column_of(w, i, setting ? w->varies[i] : known);
  }
  struct dl_table *t =
      dl_report_table(w->r, NULL, title, c, DL_LENGTH(shown), false);
  size_t stop = w->o->all || end - from <= most ? end : from + most;
  for (size_t i = from; i < stop; i++) {
    fill(w, &w->l->c[i], v);
    for (size_t k = 0; k < DL_LENGTH(shown); k++)
      row[k] = v[shown[k]];
    dl_table_row(t, row, mark_of(w, i));
  }
  add_chart(w, title, from, stop);
  if (stop < end) {
    char text[64];
    snprintf(text, sizeof text, "and %zu more (--all)", end - stop);
    dl_report_say(w->r, text);
  }
}

static void add_front(struct view *w) {
  size_t front = 0, open = 0;
  for (size_t i = 0; i < w->n; i++) {
    front += w->l->c[i].place.front;
    open += !w->l->c[i].place.front && w->l->c[i].place.open;
  }
  add_text(w, "Pareto front", 0, front, SHOWN_FRONT);
  add_text(w, "Dominated, but within the intervals", front, front + open,
           SHOWN_OPEN);
  if (w->o->all)
    add_text(w, "Dominated", front + open, w->n, SHOWN_OPEN);
}

/* Where a choice runs: a node, or only a GPU. */
static const char *place_of(const struct dl_alternative *c) {
  return c->node ? c->node : c->gpu;
}

/* The lowest-energy choice of an architecture, and that in another place. */
struct best {
  const struct dl_alternative *c, *other;
};

static struct best best_of(const struct view *w, const char *arch) {
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

/* Whether a choice is the first of its architecture. */
static bool is_first(const struct view *w, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same(w->l->c[k].arch, w->l->c[i].arch))
      return false;
  return true;
}

/* Whether the next best place may do as well. */
static bool overlap(const struct best *b) {
  return b->other && b->other->low_j <= b->c->high_j;
}

static int by_energy(const void *a, const void *b) {
  double x = ((const struct best *)a)->c->energy_j;
  double y = ((const struct best *)b)->c->energy_j;
  return (x > y) - (x < y);
}

static void say_archs(struct view *w, bool several, bool places, bool open) {
  struct dl_text t = {0};
  if (several)
    dl_text_add(&t, "saves: relative to the highest of these energies");
  if (places)
    dl_text_printf(&t, "%stakes more: on the next best %s%s",
                   several ? "; " : "", w->l->c[0].node ? "node" : "GPU",
                   open ? " (~: within the intervals, it may take less)" : "");
  dl_text_add(&t, ".");
  dl_report_say(w->r, dl_text_str(&t));
  dl_text_free(&t);
}

enum { MOST_ARCHS = 200 };

/* The lowest-energy choice of each architecture, lowest first; how many. */
static size_t find_best(const struct view *w, struct best best[MOST_ARCHS],
                        double *highest_j) {
  size_t n = 0;
  for (size_t i = 0; i < w->n && n < MOST_ARCHS; i++)
    if (is_first(w, i)) {
      best[n] = best_of(w, w->l->c[i].arch);
      *highest_j = fmax(*highest_j, best[n++].c->energy_j);
    }
  qsort(best, n, sizeof *best, by_energy);
  return n;
}

/* Each architecture at its lowest energy: what it saves, and whether another
 * GPU or node does as well. */
static void add_archs(struct view *w) {
  static const enum column common[] = {
      C_ARCH, C_NODE,   C_GPU, C_GPUS, C_BATCH, C_PX,    C_ACCURACY,
      C_KWH,  C_ENERGY, C_LOW, C_HIGH, C_TIME,  C_SAVING};
  enum { COMMON = DL_LENGTH(common), A_COLUMNS = COMMON + 4 };
  bool nodes = w->l->c[0].node, open = false;
  bool places = w->varies[nodes ? C_NODE : C_GPU];
  struct best best[MOST_ARCHS] = {0};
  double highest_j = 0;
  size_t n = find_best(w, best, &highest_j);
  bool show = n > 1 || (n == 1 && places);
  struct dl_column c[A_COLUMNS] = {
      [COMMON] = {"next_node", show && places && nodes ? "next node" : NULL,
                  NULL, DL_CODE, false},
      {"next_gpu", show && places && !nodes ? "next GPU" : NULL, NULL, DL_CODE,
       false},
      {"next_more", show && places ? "takes more" : NULL, NULL, DL_PERCENT,
       false},
      {.key = "next_overlaps"}};
  for (size_t k = 0; k < COMMON; k++) {
    enum column i = common[k];
    bool shown = i == C_ARCH || i == C_KWH ? true
                 : i == C_NODE             ? nodes
                 : i == C_GPU              ? !nodes
                 : i == C_SAVING           ? n > 1
                                           : w->varies[i];
    c[k] = column_of(w, i, show && shown);
  }
  struct dl_table *t = dl_report_table(
      w->r, "by_arch", show ? "Each architecture at its lowest energy" : NULL,
      c, A_COLUMNS, false);
  for (size_t i = 0; i < n; i++) {
    struct dl_value all[COLUMNS], v[A_COLUMNS];
    const struct dl_alternative *b = best[i].c, *o = best[i].other;
    bool both = o && !isnan(o->low_j) && !isnan(b->high_j);
    fill(w, b, all);
    all[C_SAVING] = dl_number(1 - b->energy_j / highest_j);
    for (size_t k = 0; k < COMMON; k++)
      v[k] = all[common[k]];
    v[COMMON] = dl_string(o ? o->node : NULL);
    v[COMMON + 1] = dl_string(o ? o->gpu : NULL);
    v[COMMON + 2] = dl_number(o ? o->energy_j / b->energy_j - 1 : NAN);
    v[COMMON + 3] = both ? dl_bool(overlap(&best[i])) : dl_number(NAN);
    dl_table_row(t, v, overlap(&best[i]) ? "~" : NULL);
    open |= overlap(&best[i]);
  }
  if (show)
    say_archs(w, n > 1, places, open);
}

/* Where the choices come from, and how many were excluded. */
static void add_settings(struct view *w) {
  static const struct {
    enum dl_excluded why;
    const char *key, *label;
  } out[] = {{DL_CHOICE_SILENT, "n_silent", "without an estimate"},
             {DL_CHOICE_MEMORY, "n_memory", "beyond the GPU's memory"},
             {DL_CHOICE_DEADLINE, "n_deadline", "past the deadline"},
             {DL_CHOICE_BUDGET, "n_budget", "over the budget"}};
  const struct dl_recommend_options *o = w->o;
  const struct dl_choices *l = w->l;
  const struct dl_alternative *c = &l->c[0];
  bool infers = !isnan(l->requests);
  const char *phase = infers ? "inference" : "training";
  bool assumed =
      c->precision && !dl_job_options_give(&o->job, DL_RUN_precision);
  char precision[64];
  snprintf(precision, sizeof precision, "%.40s%s",
           c->precision ? c->precision : "", assumed ? " (assumed)" : "");
  const struct dl_report_line lines[] = {
      {"method", "method", NULL, DL_CODE,
       dl_known_string(o->table ? NULL : o->method)},
      {"table", "measured runs", NULL, DL_CODE, dl_known_string(o->table)},
      {"boundary", "boundary", NULL, DL_CODE, dl_known_string(c->boundary)},
      {"phase", infers ? "phase" : NULL, NULL, DL_CODE,
       dl_string(o->table ? NULL : phase)},
      {"dataset", "data set", NULL, DL_CODE, dl_known_string(o->job.dataset)},
      {"train_samples", "training samples", NULL, DL_CODE,
       dl_known(l->train_samples)},
      {"val_samples", "validation samples", NULL, DL_CODE,
       dl_known(l->val_samples)},
      {"epochs", "epochs", NULL, DL_CODE, dl_known(l->epochs)},
      {"requests", "requests", NULL, DL_CODE, dl_known(l->requests)},
      {"prompt_tokens", "prompt", "tokens", DL_CODE,
       dl_known(l->prompt_tokens)},
      {"output_tokens", "answer", "tokens", DL_CODE,
       dl_known(l->output_tokens)},
      {NULL, "input", "px", DL_CODE,
       dl_known(w->varies[C_PX] ? NAN : c->image_px)},
      {NULL, "GPUs", NULL, DL_CODE,
       dl_known(!w->varies[C_GPUS] && c->n_gpus > 1 ? c->n_gpus : NAN)},
      {NULL, "batch size", NULL, DL_CODE,
       dl_known(w->varies[C_BATCH] ? NAN : c->batch_size)},
      {NULL, "precision", NULL, DL_CODE,
       dl_known_string(w->varies[C_PRECISION] || !c->precision ? NULL
                                                               : precision)},
      {.key = "coverage", .value = dl_number(o->coverage)},
      {"deadline_s", "deadline", "s", DL_TIME, dl_known(o->deadline_s)},
      {.key = "budget_j", .value = dl_number(o->budget_kwh * DL_J_PER_KWH)},
      {NULL, "budget", "kWh", DL_PLAIN, dl_known(o->budget_kwh)},
      {"n_choices", "choices", NULL, DL_CODE, dl_count(l->n)}};
  dl_report_lines(w->r, lines, DL_LENGTH(lines));
  for (size_t i = 0; i < DL_LENGTH(out); i++) {
    size_t n = l->n_excluded[out[i].why];
    dl_report_add(w->r, out[i].key, n > 0 ? out[i].label : NULL, NULL, DL_CODE,
                  dl_count(n));
  }
}

static void add_notes(struct view *w) {
  bool open = false, marked = false, over = false;
  for (size_t i = 0; i < w->n; i++) {
    open |= w->l->c[i].place.open;
    marked |= w->l->c[i].place.open && w->l->c[i].place.front;
    over |= w->l->c[i].high_j > w->o->budget_kwh * DL_J_PER_KWH;
  }
  dl_report_say(w->r, "* lowest energy.");
  if (w->l->c[0].node)
    dl_report_say(w->r, strcmp(w->l->c[0].boundary, "facility") == 0
                            ? "Boundary facility: the whole node at its plug, "
                              "times the PUE of its site."
                            : "Boundary node: the whole node, at its plug.");
  if (marked)
    dl_report_say(w->r,
                  "~ within the intervals, another choice may be as good in "
                  "every respect and take less energy.");
  if (over)
    dl_report_say(w->r, "! the interval exceeds the budget.");
  if (open && !w->o->table)
    dl_report_say(w->r, "Errors are correlated within a GPU or a network, so "
                        "rankings are more reliable than the intervals "
                        "suggest.");
}

enum dl_status dl_recommend_report(struct dl_cli *cli,
                                   const struct dl_recommend_options *o,
                                   const struct dl_choices *l) {
  struct view w = {.r = dl_report_new(), .o = o, .l = l};
  if (!w.r)
    return dl_fail_memory(&cli->diag);
  snprintf(w.interval, sizeof w.interval, "%g %% interval", 100 * o->coverage);
  w.n = l->n_excluded[DL_CHOICE_MEETS];
  for (size_t i = 0; i < w.n; i++)
    w.highest_j = fmax(w.highest_j, l->c[i].energy_j);
  w.in_joules = w.highest_j < 0.1 * DL_J_PER_KWH;
  compare_columns(&w);
  add_settings(&w);
  add_choices(&w);
  add_front(&w);
  add_archs(&w);
  add_notes(&w);
  return dl_cli_print(cli, w.r);
}
