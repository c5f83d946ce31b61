/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/tables/run_overlaps.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/timestamp.h"

/* Times of a row may be rounded to seconds: consecutive runs overlap by no more
 * than ROUNDING_S, and by no more than this share of the shorter run. */
#define ROUNDING_S 2.0
#define ROUNDING_SHARE 0.1

/* Powers that several processes measure of one machine differ by no more than
 * this share. */
#define SAME_POWER 0.02

/* If only the kind of machine is known, a run is compared with this many runs
 * before it. */
enum { LOOK_BACK = 256 };

/* Names the hardware of a run. Returns false if nothing identifies it; sets
 * *alike if only the kind of machine is known. */
static bool name_hardware(const struct dl_run *r, const char *format,
                          const char *path, struct dl_text *name, bool *alike) {
  format = dl_text_or(r->format, format);
  *alike = dl_is_word(format, "eco2ai") ||
           (dl_is_word(format, "codecarbon") && r->boundary);
  if (*alike)
    dl_text_printf(name, "%s|%s|%s|%s|%g|%g", format, dl_text_or(r->host, ""),
                   dl_text_or(r->project, ""), dl_text_or(r->gpu, ""),
                   r->n_gpus, r->ram_gb);
  else if (dl_is_word(format, "zeus"))
    dl_text_printf(name, "zeus|%s", dl_text_or(r->file, path));
  else if (r->host && dl_is_word(r->boundary, "node"))
    dl_text_printf(name, "node|%s", r->host);
  return name->len > 0;
}

static double overlap_s(const struct dl_seen_span *a,
                        const struct dl_seen_span *b) {
  return fmin(a->to, b->to) - fmax(a->from, b->from);
}

/* Whether two spans overlap by more than rounding explains. */
static bool overlaps(const struct dl_seen_span *a,
                     const struct dl_seen_span *b) {
  double shorter_s = fmin(a->to - a->from, b->to - b->from);
  return overlap_s(a, b) > ROUNDING_SHARE * shorter_s;
}

static bool has_same_power(const struct dl_seen_span *a,
                           const struct dl_seen_span *b) {
  double a_w = a->energy_j / (a->to - a->from);
  double b_w = b->energy_j / (b->to - b->from);
  return fabs(a_w - b_w) <= SAME_POWER * fmax(a_w, b_w);
}

/* The energy of a new span that an earlier span already contains. */
static double energy_in_both(const struct dl_seen_span *s,
                             const struct dl_seen_span *new) {
  if (s->from <= new->from && s->to >= new->to)
    return new->energy_j;
  return s->energy_j * overlap_s(s, new) / (s->to - s->from);
}

static struct dl_seen_span join(const struct dl_seen_span *a,
                                const struct dl_seen_span *b) {
  return (struct dl_seen_span){fmin(a->from, b->from), fmax(a->to, b->to),
                               a->energy_j + b->energy_j};
}

/* Adds a span of a machine whose kind alone is known. An earlier span of
 * similar power at that time is taken to measure this machine too. Returns the
 * part of its energy that is new; *covered_s: how much of its time is not new.
 */
static double add_alike(struct dl_seen_spans *h, struct dl_seen_span new,
                        double *covered_s) {
  for (size_t i = h->n; i-- > 0 && h->n - i <= LOOK_BACK;) {
    struct dl_seen_span *s = &h->span[i];
    *covered_s = overlap_s(s, &new);
    if (!overlaps(s, &new) || *covered_s <= ROUNDING_S ||
        !has_same_power(s, &new))
      continue;
    new.energy_j = fmax(new.energy_j - energy_in_both(s, &new), 0);
    *s = join(s, &new);
    return new.energy_j;
  }
  *covered_s = 0;
  dl_seen_spans_replace(h, h->n, h->n, new);
  return new.energy_j;
}

/* Adds a span of a known machine. A span within another one adds no energy; a
 * span that contains others adds what they lack. Returns as add_alike() does.
 */
static double add_identified(struct dl_seen_spans *h, struct dl_seen_span new,
                             double *covered_s) {
  size_t at = dl_seen_spans_after(h, new.from);
  double known_j = 0, known_s = 0;
  while (at < h->n && h->span[at].from <= new.from &&
         !overlaps(&h->span[at], &new))
    at++;
  size_t end = at;
  struct dl_seen_span all = {new.from, new.to, 0};
  for (; end < h->n && overlaps(&h->span[end], &new); end++) {
    known_j += energy_in_both(&h->span[end], &new);
    known_s += overlap_s(&h->span[end], &new);
    all = join(&all, &h->span[end]);
  }
  double new_j = fmax(new.energy_j - known_j, 0);
  all.energy_j += new_j;
  dl_seen_spans_replace(h, at, end, all);
  *covered_s = known_s;
  return new_j;
}

/* Adds a run of CodeCarbon, or a task of one ("ID/TASK"). Tasks are parts of
 * their run whatever their times are, since the run's own row has the times of
 * its last task. Returns the part of the energy that is new. */
static double add_task(struct dl_seen_times *t, const struct dl_run *run) {
  DL_TEXT(name);
  size_t len = strcspn(run->run_id, "/");
  bool is_task = run->run_id[len] == '/';
  dl_text_printf(&name, "run|%.*s", (int)len, run->run_id);
  struct dl_seen_spans *h = dl_seen_spans_of(t, name.s);
  if (h->n == 0)
    dl_seen_spans_replace(h, 0, 0, (struct dl_seen_span){0});
  struct dl_seen_span *tasks = &h->span[0];
  bool run_counted = tasks->to > 0;
  if (!is_task) {
    tasks->to = 1;
    return fmax(run->energy_j - tasks->energy_j, 0);
  }
  tasks->energy_j += run->energy_j;
  return run_counted ? 0 : run->energy_j;
}

/* Copies the time of a run to a span; false if the time is unknown. */
static bool read_times(const struct dl_run *run, struct dl_seen_span *s) {
  struct dl_timestamp t;
  if (!(run->duration_s > 0) || !run->start_time ||
      !dl_parse_start(run->start_time, &t))
    return false;
  s->from = (double)t.ns / 1e9;
  s->to = s->from + run->duration_s;
  return true;
}

double dl_run_overlaps_add(struct dl_seen_times *t, const struct dl_run *run,
                           const char *format, const char *path,
                           double *time_share) {
  DL_TEXT(name);
  struct dl_seen_span span = {.energy_j = run->energy_j};
  double covered_s = 0, new_j = run->energy_j;
  bool alike;
  *time_share = 1;
  if (!(run->energy_j > 0))
    return run->energy_j;
  if (run->run_id && dl_is_word(dl_text_or(run->format, format), "codecarbon"))
    new_j = add_task(t, run);
  if (new_j < run->energy_j) {
    *time_share = new_j / run->energy_j;
  } else if (read_times(run, &span) &&
             name_hardware(run, format, path, &name, &alike)) {
    struct dl_seen_spans *h = dl_seen_spans_of(t, name.s);
    new_j = (alike ? add_alike : add_identified)(h, span, &covered_s);
    *time_share = fmax(1 - covered_s / run->duration_s, 0);
  }
  t->n_shared += *time_share < 1;
  t->shared_j += run->energy_j - new_j;
  return new_j;
}

void dl_run_overlaps_add_devices(struct dl_seen_times *t,
                                 const struct dl_run *device, size_t n) {
  double shared_j = 0, covered_s;
  for (size_t i = 0; i < n; i++) {
    DL_TEXT(name);
    struct dl_seen_span span = {.energy_j = device[i].energy_j};
    if (!(span.energy_j > 0) || !read_times(&device[i], &span))
      continue;
    dl_text_printf(&name, "device|%s", device[i].run_id);
    struct dl_seen_spans *h = dl_seen_spans_of(t, name.s);
    shared_j += span.energy_j - add_identified(h, span, &covered_s);
  }
  t->n_shared += shared_j > 0;
  t->shared_j += shared_j;
}

void dl_run_overlaps_warn(const struct dl_seen_times *t, struct dl_diag *d) {
  if (t->n_shared == 0)
    return;
  dl_warn(d,
          "%zu run%s measured what others did at the same time: %.3g kWh count "
          "once in sums (a column host distinguishes machines)",
          t->n_shared, t->n_shared == 1 ? "" : "s", t->shared_j / DL_J_PER_KWH);
}
