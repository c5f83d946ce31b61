/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest recommend. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "cli/passes/recommend.h"
#include "cli/views/summary/recommend_summary.h"

/* Rows of a table without --all, or one more if that is all. */
enum { MOST_IN_TEXT = 5, MOST_ON_PAGE = 20 };

/* The columns of a choice, in the order of JSON and CSV; energies in kWh are
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
  C_REGION,
  C_CO2E,
  C_CO2E_LOW,
  C_CO2E_HIGH,
  C_COST,
  C_RESPONSE,
  C_KWH,
  C_LOW_KWH,
  C_HIGH_KWH,
  COLUMNS
};
#define OF(member) DL_MEMBER(dl_alternative, member)
static const struct dl_member_column columns[COLUMNS] = {
    [C_ARCH] = {{"arch", "arch", NULL, DL_CODE, 0}, OF(arch)},
    [C_GPU] = {{"gpu", "GPU", NULL, DL_CODE, 0}, OF(gpu)},
    [C_BATCH] = {{"batch_size", "batch", NULL, DL_CODE, 0}, OF(batch_size)},
    [C_PX] = {{"image_px", "input", "px", DL_CODE, 0}, OF(image_px)},
    [C_ACCURACY] = {{"accuracy", "accuracy", NULL, DL_PLAIN, 0}, OF(accuracy)},
    [C_ENERGY] = {{"energy_j", NULL, NULL, DL_PLAIN, 0}, OF(energy_j.x)},
    [C_LOW] = {{"energy_low_j", NULL, NULL, DL_PLAIN, 0}, OF(energy_j.low)},
    [C_HIGH] = {{"energy_high_j", NULL, NULL, DL_PLAIN, 0}, OF(energy_j.high)},
    [C_TIME] = {{"duration_s", "time", "s", DL_TIME, DL_MAIN}, OF(duration_s)},
    [C_BOUND] = {{"bound_by", "bound by", NULL, DL_CODE, DL_SPARE}, OF(bound)},
    [C_FRONT] = {.column = {.key = "pareto"}},
    [C_OPEN] = {.column = {.key = "overlaps"}},
    [C_GPUS] = {{"n_gpus", "GPUs", NULL, DL_CODE, 0}, OF(n_gpus)},
    [C_SEQ] = {{"seq_len", "sequence", "tokens", DL_CODE, 0}, OF(seq_len)},
    [C_SAVING] = {.column = {"saving", "saves", NULL, DL_PERCENT, 0}},
    [C_MEMORY] = {{"memory_need_gb", "memory", "GB", DL_PLAIN, DL_SPARE},
                  OF(memory_need_gb)},
    [C_RUNS] = {.column = {"runs", "runs", NULL, DL_CODE, 0}},
    [C_EXCLUDED] = {.column = {.key = "excluded"}},
    [C_BOUNDARY] = {{"boundary", NULL, NULL, DL_CODE, 0}, OF(boundary)},
    [C_NODE] = {{"node", "node", NULL, DL_CODE, 0}, OF(node)},
    [C_PRECISION] = {{"precision", "precision", NULL, DL_CODE, DL_SPARE},
                     OF(precision)},
    [C_REGION] = {{"region", "region", NULL, DL_CODE, DL_MAIN}, OF(region)},
    [C_CO2E] = {{"co2e_g", "CO2e", "g", DL_MASS, 0}, OF(co2e_g.x)},
    [C_CO2E_LOW] = {{"co2e_low_g", NULL, NULL, DL_PLAIN, 0}, OF(co2e_g.low)},
    [C_CO2E_HIGH] = {{"co2e_high_g", NULL, NULL, DL_PLAIN, 0}, OF(co2e_g.high)},
    [C_COST] = {{"cost", "cost", NULL, DL_PLAIN, 0}, OF(cost.x)},
    [C_RESPONSE] = {{"response_s", "response", "s", DL_TIME, 0},
                    OF(response_s)},
    [C_KWH] = {.column = {NULL, "energy", "J", DL_KWH, DL_MAIN}},
    [C_LOW_KWH] = {.column = {NULL, "interval", "J", DL_KWH,
                              DL_RANGE | DL_MAIN}},
    [C_HIGH_KWH] = {.column = {NULL, "", "J", DL_KWH, false}},
};

struct view {
  struct dl_report *r;
  const struct dl_recommend_options *o;
  const struct dl_choices *l;
  size_t n;         /* choices that meet the limits: they come first */
  double highest_j; /* energy of the highest-energy choice, J */
  char interval[32];
  bool varies[COLUMNS], known[COLUMNS]; /* among those that meet the limits */
  bool page;                            /* formats that shorten less */
  size_t most;                          /* rows of a table */
  bool marked[3]; /* whether a row that is shown has a mark: * ~ ! */
};

static bool differs(const struct dl_value *a, const struct dl_value *b) {
  if (a->type == DL_STRING && b->type == DL_STRING)
    return !dl_same_text(a->string, b->string);
  return a->type != b->type ||
         (a->type == DL_NUMBER &&
          (a->number < b->number || a->number > b->number));
}

static void fill(const struct view *w, const struct dl_alternative *c,
                 struct dl_value v[COLUMNS]) {
  bool meets = c->excluded == DL_CHOICE_MEETS;
  dl_member_values(columns, COLUMNS, c, v);
  v[C_FRONT] = dl_count(c->place.front);
  v[C_OPEN] = dl_count(c->place.open);
  v[C_SAVING] = dl_number(meets ? 1 - c->energy_j.x / w->highest_j : NAN);
  v[C_RUNS] = c->runs ? dl_count(c->runs) : dl_number(NAN);
  v[C_EXCLUDED] = dl_string(dl_excluded_name(c->excluded));
  v[C_KWH] = dl_number(c->energy_j.x);
  v[C_LOW_KWH] = dl_number(c->energy_j.low);
  v[C_HIGH_KWH] = dl_number(c->energy_j.high);
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
    c[k] = (struct dl_column){.key = columns[k].column.key};
  struct dl_table *t = dl_report_table(w->r, "choices", NULL, c, C_KWH, true);
  for (size_t i = 0; i < w->l->n; i++) {
    struct dl_value v[COLUMNS];
    fill(w, &w->l->c[i], v);
    dl_table_row(t, v, NULL);
  }
}

/* Sources of the carbon intensities of regions, for programs. */
static void add_regions(struct view *w, const struct dl_recommend_data *r) {
  static const struct dl_column c[] = {
      {.key = "region"},           {.key = "intensity_g_kwh"},
      {.key = "intensity_of"},     {.key = "intensity_year"},
      {.key = "intensity_source"}, {.key = "pue"}};
  struct dl_table *t =
      dl_report_table(w->r, "regions", NULL, c, DL_LENGTH(c), false);
  for (size_t i = 0; i < r->n_regions; i++) {
    const struct dl_footprint *f = &r->region[i];
    const struct dl_value v[] = {dl_string(dl_recommend_region_name(r, i)),
                                 dl_number(f->intensity.x),
                                 dl_string(f->intensity.of),
                                 dl_number(f->intensity.year),
                                 dl_string(f->intensity.source),
                                 dl_number(f->pue.x)};
    dl_table_row(t, v, NULL);
  }
}

static struct dl_column column_of(const struct view *w, enum column i,
                                  bool shown) {
  struct dl_column c = columns[i].column;
  if (i == C_LOW_KWH)
    c.heading = w->interval;
  if (!shown)
    c.heading = NULL;
  return c;
}

/* For a choice with the least energy, an open place on the front, and an
 * interval that exceeds the budget. */
static const char *mark_of(struct view *w, size_t i) {
  static const char *const marks[] = {NULL, "*",  "~",  "*~",
                                      "!",  "*!", "~!", "*~!"};
  const struct dl_alternative *c = &w->l->c[i];
  const bool has[] = {i == 0, c->place.front && c->place.open,
                      c->energy_j.high > w->o->budget_kwh * DL_J_PER_KWH};
  for (size_t k = 0; k < DL_LENGTH(has); k++)
    w->marked[k] |= has[k];
  return marks[has[0] + 2 * has[1] + 4 * has[2]];
}

/* The energies of choices, each named by what distinguishes it. */
static void add_chart(struct view *w, size_t from, size_t end) {
  struct dl_table *t =
      dl_report_chart(w->r, "Energy and its interval", DL_KWH, "J");
  for (size_t i = from; i < end; i++) {
    const struct dl_alternative *c = &w->l->c[i];
    DL_TEXT(name);
    const char *place = c->node ? c->node : c->gpu;
    dl_text_printf(&name, "%s on ", c->arch ? c->arch : "?");
    dl_text_add(&name, place ? place : "?");
    if (w->varies[C_GPUS])
      dl_text_printf(&name, " x %g", c->n_gpus);
    if (w->varies[C_BATCH])
      dl_text_printf(&name, ", batch %g", c->batch_size);
    dl_chart_bar(t, dl_text_str(&name), c->energy_j.x, c->energy_j.low,
                 c->energy_j.high);
  }
}

/* A title that says how many of n rows the table has. */
static void title_of(char *title, size_t size, const char *text, size_t shown,
                     size_t n) {
  if (shown < n)
    snprintf(title, size, "%s: %zu of %zu", text, shown, n);
  else
    snprintf(title, size, "%s", text);
}

/* Rows from..end under a title, for text, of which w->most at most are shown.
 * A setting that all choices share has no column, nor has what is unknown. */
static void add_text(struct view *w, const char *text, size_t from,
                     size_t end) {
  static const enum column shown[] = {
      C_ARCH, C_REGION,  C_NODE,     C_GPU,       C_GPUS,
      C_PX,   C_SEQ,     C_BATCH,    C_PRECISION, C_ACCURACY,
      C_KWH,  C_LOW_KWH, C_HIGH_KWH, C_TIME,      C_RESPONSE,
      C_CO2E, C_COST,    C_BOUND,    C_MEMORY,    C_RUNS};
  struct dl_column c[DL_LENGTH(shown)];
  struct dl_value v[COLUMNS], row[DL_LENGTH(shown)];
  char title[96];
  if (from == end)
    return;
  for (size_t k = 0; k < DL_LENGTH(shown); k++) {
    enum column i = shown[k];
    bool setting = (i == C_ARCH && !w->o->all) || i == C_GPUS || i == C_PX ||
                   i == C_SEQ || i == C_BATCH || i == C_PRECISION;
    bool known = w->known[i == C_HIGH_KWH ? C_LOW_KWH : i] &&
                 !(i == C_RESPONSE && !w->l->at_rate);
    c[k] = column_of(w, i, setting ? w->varies[i] : known);
  }
  bool fits = w->o->all || end - from <= w->most + 1;
  size_t stop = fits ? end : from + w->most;
  title_of(title, sizeof title, text, stop - from, end - from);
  struct dl_table *t =
      dl_report_table(w->r, NULL, title, c, DL_LENGTH(shown), false);
  for (size_t i = from; i < stop; i++) {
    fill(w, &w->l->c[i], v);
    for (size_t k = 0; k < DL_LENGTH(shown); k++)
      row[k] = v[shown[k]];
    dl_table_row(t, row, mark_of(w, i));
  }
  add_chart(w, from, stop);
}

/* The front where accuracies are compared; all choices with --all. */
static void add_front(struct view *w, bool shown) {
  size_t front = 0, open = 0;
  for (size_t i = 0; i < w->n; i++) {
    front += w->l->c[i].place.front;
    open += !w->l->c[i].place.front && w->l->c[i].place.open;
  }
  if (w->o->all || w->page || (shown && front > 1))
    add_text(w, "Pareto front", 0, front);
  if (w->o->all || w->page)
    add_text(w, "As good within the intervals", front, front + open);
  if (w->o->all)
    add_text(w, "Others", front + open, w->n);
}

/* Adds the place that a choice runs on: a node, or only a GPU. */
static const char *place_of(const struct dl_alternative *c) {
  return c->node ? c->node : c->gpu;
}

/* The quantity that the choices are sorted by. */
static double value_of(const struct view *w, const struct dl_alternative *c) {
  return dl_choice_value(w->l, c, w->l->by[0]);
}

/* The best choice of an architecture, `but` for those that run where
 * that choice does (NULL: all); NULL if there is none. */
static const struct dl_alternative *best_of(const struct view *w,
                                            const char *arch,
                                            const struct dl_alternative *but) {
  const struct dl_alternative *best = NULL;
  for (size_t i = 0; i < w->n; i++) {
    const struct dl_alternative *c = &w->l->c[i];
    if (dl_same_text(c->arch, arch) &&
        !(but && dl_same_text(place_of(c), place_of(but))) &&
        (!best || value_of(w, c) < value_of(w, best)))
      best = c;
  }
  return best;
}

/* Whether a choice is the first of its architecture. */
static bool is_first(const struct view *w, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (dl_same_text(w->l->c[k].arch, w->l->c[i].arch))
      return false;
  return true;
}

/* Whether the next best place may do as well. */
static bool overlap(const struct dl_alternative *c,
                    const struct dl_alternative *other) {
  return other && other->energy_j.low <= c->energy_j.high;
}

static int by_value(const void *a, const void *b, void *w) {
  const struct dl_alternative *c = *(const struct dl_alternative *const *)a;
  const struct dl_alternative *other = *(const struct dl_alternative *const *)b;
  double x = value_of(w, c), y = value_of(w, other);
  return x == y ? (c > other) - (c < other) : (x > y) - (x < y);
}

enum { MOST_ARCHS = 200 };

/* The best choice of each architecture, in order; how many. */
static size_t find_best(struct view *w,
                        const struct dl_alternative *best[MOST_ARCHS],
                        double *highest_j) {
  size_t n = 0;
  for (size_t i = 0; i < w->n && n < MOST_ARCHS; i++)
    if (is_first(w, i)) {
      best[n] = best_of(w, w->l->c[i].arch, NULL);
      *highest_j = fmax(*highest_j, best[n++]->energy_j.x);
    }
  dl_sort_with(best, n, sizeof *best, by_value, w);
  return n;
}

enum {
  COMMON = 15, /* columns of `of_arch` */
  NEXT_NODE = COMMON,
  NEXT_GPU,
  NEXT_MORE,
  NEXT_OVERLAPS,
  A_COLUMNS
};
static const enum column of_arch[COMMON] = {
    C_ARCH,    C_NODE,     C_GPU,    C_GPUS, C_BATCH, C_PX,   C_ACCURACY, C_KWH,
    C_LOW_KWH, C_HIGH_KWH, C_ENERGY, C_LOW,  C_HIGH,  C_TIME, C_SAVING};

/* The columns, those that vary with a heading. */
static void arch_columns(const struct view *w, bool several,
                         struct dl_column c[A_COLUMNS]) {
  bool nodes = w->l->c[0].node;
  bool places = w->varies[nodes ? C_NODE : C_GPU];
  for (size_t k = 0; k < COMMON; k++) {
    enum column i = of_arch[k];
    bool shown = w->varies[i];
    if (i == C_ARCH || i == C_KWH)
      shown = true;
    else if (i == C_NODE || i == C_GPU)
      shown = nodes == (i == C_NODE);
    else if (i == C_LOW_KWH || i == C_HIGH_KWH)
      shown = w->known[C_LOW_KWH];
    else if (i == C_SAVING)
      shown = several;
    c[k] = column_of(w, i, shown);
    c[k].use |= i == C_ARCH || i == C_NODE || i == C_GPU ? DL_MAIN : 0;
    c[k].use |= i == C_SAVING ? DL_SPARE : 0;
  }
  c[NEXT_NODE] = (struct dl_column){
      "next_node", places && nodes ? "next node" : NULL, NULL, DL_CODE, 0};
  c[NEXT_GPU] = (struct dl_column){
      "next_gpu", places && !nodes ? "next GPU" : NULL, NULL, DL_CODE, 0};
  c[NEXT_MORE] = (struct dl_column){"next_more", places ? "more energy" : NULL,
                                    NULL, DL_PERCENT, 0};
  c[NEXT_OVERLAPS] = (struct dl_column){.key = "next_overlaps"};
}

static void arch_values(const struct view *w, const struct dl_alternative *c,
                        const struct dl_alternative *o, double highest_j,
                        struct dl_value v[A_COLUMNS]) {
  struct dl_value all[COLUMNS];
  bool both = o && !isnan(o->energy_j.low) && !isnan(c->energy_j.high);
  fill(w, c, all);
  all[C_SAVING] = dl_number(1 - c->energy_j.x / highest_j);
  for (size_t k = 0; k < COMMON; k++)
    v[k] = all[of_arch[k]];
  v[NEXT_NODE] = dl_string(o ? o->node : NULL);
  v[NEXT_GPU] = dl_string(o ? o->gpu : NULL);
  v[NEXT_MORE] = dl_number(o ? o->energy_j.x / c->energy_j.x - 1 : NAN);
  v[NEXT_OVERLAPS] = both ? dl_bool(overlap(c, o)) : dl_number(NAN);
}

/* Each architecture at its lowest energy: what it saves, and whether another
 * GPU or node does as well. Programs get all; people the first, if there are
 * several. */
static void add_archs(struct view *w, const struct dl_alternative *const *best,
                      size_t n, double highest_j) {
  struct dl_column c[A_COLUMNS];
  bool open = false;
  size_t most = w->o->all || n <= w->most + 1 ? n : w->most;
  if (n < 2)
    most = 0;
  if (!w->o->all && !w->page)
    most = 0;
  arch_columns(w, n > 1, c);
  struct dl_table *t = NULL;
  char title[96];
  title_of(title, sizeof title, "Each architecture at its lowest energy", most,
           n);
  if (most > 0)
    t = dl_report_table(w->r, NULL, title, c, A_COLUMNS, false);
  for (size_t k = 0; k < A_COLUMNS; k++)
    c[k].heading = NULL;
  struct dl_table *all =
      dl_report_table(w->r, "by_arch", NULL, c, A_COLUMNS, false);
  for (size_t i = 0; i < n; i++) {
    struct dl_value v[A_COLUMNS];
    const struct dl_alternative *other = best_of(w, best[i]->arch, best[i]);
    bool marked = overlap(best[i], other);
    arch_values(w, best[i], other, highest_j, v);
    dl_table_row(all, v, NULL);
    if (i < most)
      dl_table_row(t, v, marked ? "~" : NULL);
    open |= i < most && marked;
  }
  w->marked[1] |= open;
}

enum dl_status dl_recommend_report(struct dl_cli *cli,
                                   const struct dl_recommend_options *o,
                                   const struct dl_recommend_data *r) {
  const struct dl_choices *l = &r->choices;
  struct view w = {.r = dl_report_new(),
                   .o = o,
                   .l = l,
                   .page = cli->format->whole,
                   .most = cli->format->whole ? MOST_ON_PAGE : MOST_IN_TEXT};
  const struct dl_alternative *best[MOST_ARCHS] = {0};
  double highest_j = 0;
  snprintf(w.interval, sizeof w.interval, "%g %% interval", 100 * o->coverage);
  w.n = l->n_excluded[DL_CHOICE_MEETS];
  for (size_t i = 0; i < w.n; i++)
    w.highest_j = fmax(w.highest_j, l->c[i].energy_j.x);
  compare_columns(&w);
  size_t n = find_best(&w, best, &highest_j);
  const struct dl_recommended_choices choices = {
      .o = o,
      .l = l,
      .n = w.n,
      .next = best_of(&w, l->c[0].arch, best_of(&w, l->c[0].arch, NULL)),
      .interval = w.interval,
      .archs = n,
      .best = best,
      .brief = !w.page && !o->all,
      .varies_px = w.varies[C_PX],
      .varies_gpus = w.varies[C_GPUS],
      .varies_batch = w.varies[C_BATCH],
      .varies_precision = w.varies[C_PRECISION]};
  dl_recommend_answer(w.r, &choices);
  if (o->explain)
    dl_recommend_settings(w.r, &choices);
  if (r->n_regions > 0 && !o->nodes)
    add_regions(&w, r);
  add_choices(&w);
  add_front(&w, o->accuracy);
  add_archs(&w, best, n, highest_j);
  dl_recommend_notes(w.r, &choices, w.marked);
  return dl_cli_print(cli, w.r);
}
