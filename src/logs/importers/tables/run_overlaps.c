/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/tables/run_overlaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/timestamp.h"

/* Times of a row may be rounded to seconds: runs that follow each other overlap
 * by no more than this, and this share of the shorter. */
#define ROUNDING_S 2.0
#define ROUNDING_SHARE 0.1

/* The powers of one machine that several processes measure are this close. */
#define SAME_POWER 0.02

/* So many runs before one are compared with it where hardware is alike. */
enum { LOOK_BACK = 256 };

/* A time in which the hardware was measured, s since 1970. */
struct span {
  double from, to, energy_j;
};

/* Those of one piece of hardware, in order and without overlap; or of several
 * pieces that are alike. */
struct hardware {
  struct span *span;
  size_t n, cap;
};

struct dl_run_overlaps {
  struct dl_intern names;
  struct hardware *of; /* each name */
  size_t cap, n_shared;
  double shared_j;
};

void dl_run_overlaps_free(struct dl_run_overlaps *o) {
  if (!o)
    return;
  for (size_t i = 0; i < o->names.n; i++)
    free(o->of[i].span);
  free(o->of);
  dl_intern_free(&o->names);
  free(o);
}

static bool is(const char *a, const char *b) {
  return a && strcmp(a, b) == 0;
}

/* What names the hardware of a run. False if nothing does; *alike: its kind
 * alone is known. */
static bool name_hardware(const struct dl_run *r, const char *format,
                          const char *path, struct dl_text *name, bool *alike) {
  format = r->format ? r->format : format;
  *alike = is(format, "eco2ai") || (is(format, "codecarbon") && r->boundary);
  if (*alike)
    dl_text_printf(name, "%s|%s|%s|%s|%g|%g", format, r->host ? r->host : "",
                   r->project ? r->project : "", r->gpu ? r->gpu : "",
                   r->n_gpus, r->ram_gb);
  else if (is(format, "zeus"))
    dl_text_printf(name, "zeus|%s", r->file ? r->file : path);
  else if (r->host && is(r->boundary, "node"))
    dl_text_printf(name, "node|%s", r->host);
  return name->len > 0;
}

static double overlap(const struct span *a, const struct span *b) {
  return fmin(a->to, b->to) - fmax(a->from, b->from);
}

/* Rows that follow each other do not. */
static bool overlaps(const struct span *a, const struct span *b) {
  double least = fmin(a->to - a->from, b->to - b->from);
  return overlap(a, b) > ROUNDING_SHARE * least;
}

static bool same_power(const struct span *a, const struct span *b) {
  double a_w = a->energy_j / (a->to - a->from);
  double b_w = b->energy_j / (b->to - b->from);
  return fabs(a_w - b_w) <= SAME_POWER * fmax(a_w, b_w);
}

/* What a span has of the energy of another, new one. */
static double known_of(const struct span *s, const struct span *new) {
  bool within = s->from <= new->from && s->to >= new->to;
  return within ? new->energy_j
                : s->energy_j *overlap(s, new) / (s->to - s->from);
}

static struct span join(const struct span *a, const struct span *b) {
  return (struct span){fmin(a->from, b->from), fmax(a->to, b->to),
                       a->energy_j + b->energy_j};
}

/* Adds a span of hardware that may be one of several alike. Returns how much of
 * its energy is new; *covered: how much of its time is not. */
static double add_alike(struct hardware *h, struct span new, double *covered) {
  for (size_t i = h->n; i-- > 0 && h->n - i <= LOOK_BACK;) {
    struct span *s = &h->span[i];
    *covered = overlap(s, &new);
    if (!overlaps(s, &new) || *covered <= ROUNDING_S || !same_power(s, &new))
      continue;
    new.energy_j = fmax(new.energy_j - known_of(s, &new), 0);
    *s = join(s, &new);
    return new.energy_j;
  }
  *covered = 0;
  DL_GROW(h->span, h->cap, h->n + 1);
  h->span[h->n++] = new;
  return new.energy_j;
}

/* The first span that ends behind the beginning of another. */
static size_t first_behind(const struct hardware *h, const struct span *s) {
  size_t low = 0, high = h->n;
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (h->span[mid].to <= s->from)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* The same of one piece of hardware: a span within another adds nothing, one
 * that has others within what these lack. */
static double add_span(struct hardware *h, struct span new, double *covered) {
  size_t at = first_behind(h, &new);
  double known_j = 0, known_s = 0;
  while (at < h->n && h->span[at].from <= new.from &&
         !overlaps(&h->span[at], &new))
    at++;
  size_t end = at;
  struct span all = {new.from, new.to, 0};
  for (; end < h->n && overlaps(&h->span[end], &new); end++) {
    known_j += known_of(&h->span[end], &new);
    known_s += overlap(&h->span[end], &new);
    all = join(&all, &h->span[end]);
  }
  double new_j = fmax(new.energy_j - known_j, 0);
  all.energy_j += new_j;
  DL_GROW(h->span, h->cap, h->n + 1);
  memmove(h->span + at + 1, h->span + end, (h->n - end) * sizeof *h->span);
  h->span[at] = all;
  h->n = h->n + 1 - (end - at);
  *covered = known_s;
  return new_j;
}

/* The hardware of a name. */
static struct hardware *find(struct dl_run_overlaps *o, const char *name) {
  size_t n = o->names.n;
  size_t i = (size_t)dl_intern(&o->names, name);
  DL_GROW(o->of, o->cap, o->names.n);
  if (o->names.n > n)
    o->of[i] = (struct hardware){0};
  return &o->of[i];
}

/* The tasks of a run of CodeCarbon, "ID/TASK", are parts of it, whatever their
 * times: the run's own is that of its last part. */
static double take_task(struct dl_run_overlaps *o, const struct dl_run *run) {
  DL_TEXT(name);
  size_t len = strcspn(run->run_id, "/");
  bool is_task = run->run_id[len] == '/';
  dl_text_printf(&name, "run|%.*s", (int)len, run->run_id);
  struct hardware *h = find(o, name.s);
  DL_GROW(h->span, h->cap, 1);
  if (h->n++ == 0)
    h->span[0] = (struct span){0};
  struct span *tasks = &h->span[0]; /* `to`: the run was counted */
  double new_j = is_task ? (tasks->to > 0 ? 0 : run->energy_j)
                         : fmax(run->energy_j - tasks->energy_j, 0);
  tasks->to += is_task ? 0 : 1;
  tasks->energy_j += is_task ? run->energy_j : 0;
  return new_j;
}

static bool start_of(const struct dl_run *run, struct span *s) {
  struct dl_timestamp t;
  if (!(run->duration_s > 0) || !run->start_time ||
      !dl_parse_start(run->start_time, &t))
    return false;
  s->from = (double)t.ns / 1e9;
  s->to = s->from + run->duration_s;
  return true;
}

double dl_run_overlaps_take(struct dl_run_overlaps **at,
                            const struct dl_run *run, const char *format,
                            const char *path, double *time_share) {
  DL_TEXT(name);
  struct span span = {.energy_j = run->energy_j};
  double covered = 0, new_j = run->energy_j;
  bool alike;
  *time_share = 1;
  if (!(run->energy_j > 0))
    return run->energy_j;
  if (!*at)
    *at = dl_calloc(1, sizeof **at);
  struct dl_run_overlaps *o = *at;
  if (run->run_id && is(run->format ? run->format : format, "codecarbon"))
    new_j = take_task(o, run);
  if (new_j < run->energy_j) {
    *time_share = new_j / run->energy_j;
  } else if (start_of(run, &span) &&
             name_hardware(run, format, path, &name, &alike)) {
    struct hardware *h = find(o, name.s);
    new_j = (alike ? add_alike : add_span)(h, span, &covered);
    *time_share = fmax(1 - covered / run->duration_s, 0);
  }
  o->n_shared += *time_share < 1;
  o->shared_j += run->energy_j - new_j;
  return new_j;
}

void dl_run_overlaps_take_devices(struct dl_run_overlaps **at,
                                  const struct dl_run *device, size_t n) {
  double shared_j = 0, covered;
  if (!*at)
    *at = dl_calloc(1, sizeof **at);
  for (size_t i = 0; i < n; i++) {
    DL_TEXT(name);
    struct span span = {.energy_j = device[i].energy_j};
    if (!(span.energy_j > 0) || !start_of(&device[i], &span))
      continue;
    dl_text_printf(&name, "device|%s", device[i].run_id);
    shared_j += span.energy_j - add_span(find(*at, name.s), span, &covered);
  }
  (*at)->n_shared += shared_j > 0;
  (*at)->shared_j += shared_j;
}

void dl_run_overlaps_warn(const struct dl_run_overlaps *o, struct dl_diag *d) {
  if (!o || o->n_shared == 0)
    return;
  dl_warn(d,
          "%zu run%s measured what others did at the same time: %.3g kWh count "
          "once in sums (a column host distinguishes machines)",
          o->n_shared, o->n_shared == 1 ? "" : "s", o->shared_j / DL_J_PER_KWH);
}
