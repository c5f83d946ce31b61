/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/power_meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* Intervals by length: 32 bins for each doubling, from 1 us on. */
enum { BINS_OCTAVE = 32, OCTAVES = 48, N_BINS = BINS_OCTAVE * OCTAVES };
#define SHORTEST_NS 1000.0

#define GAP_INTERVALS 10.0
#define GAP_MIN_S 10.0

struct bin {
  uint64_t n;
  double sum_ns;
};

struct sum {
  size_t n;
  double sum;
};

struct dl_meter {
  struct dl_meter_options o;
  struct sum power, util, idle;
  size_t n, n_gaps, n_resets, n_repeats;
  int64_t first_ns, last_ns;
  int64_t valued_ns; /* of the last reading with a value */
  size_t n_valued;
  double integral_j, peak_w, gap_s;
  double power_w; /* the last one, and its time */
  int64_t power_ns;
  double counter_j, counter_last; /* NaN: no counter yet */
  double usual_ns;                /* follows the median interval */
  struct bin bin[N_BINS];
};

enum dl_status dl_meter_new(struct dl_meter **m,
                            const struct dl_meter_options *o,
                            struct dl_diag *d) {
  *m = dl_calloc(1, sizeof **m);
  if (!*m)
    return dl_fail_memory(d);
  (*m)->o = *o;
  (*m)->counter_last = (*m)->peak_w = NAN;
  return DL_OK;
}

void dl_meter_free(struct dl_meter *m) {
  free(m);
}

/* Octaves by the exponent, bins within one by the mantissa: close enough to
 * logarithmic, and quick. */
static size_t bin_of(double ns) {
  int exponent;
  double mantissa = frexp(ns / SHORTEST_NS, &exponent); /* 0.5 .. 1 */
  if (exponent < 1)
    return 0;
  if (exponent > OCTAVES)
    return N_BINS - 1;
  return (size_t)(exponent - 1) * BINS_OCTAVE +
         (size_t)((mantissa * 2 - 1) * BINS_OCTAVE);
}

static double gap_limit_ns(const struct dl_meter *m) {
  if (m->o.max_gap_s > 0)
    return m->o.max_gap_s * 1e9;
  return fmax(m->usual_ns * GAP_INTERVALS, GAP_MIN_S * 1e9);
}

/* The first interval tells what is usual, unless the user does. */
static bool has_limit(const struct dl_meter *m) {
  return m->n_valued > 1 || m->o.max_gap_s > 0;
}

/* Books the time since the last reading with a value. */
static double add_interval(struct dl_meter *m, double ns) {
  bool is_gap = has_limit(m) && ns > gap_limit_ns(m);
  double gap = is_gap ? ns / 1e9 : 0;
  struct bin *b = &m->bin[bin_of(ns)];
  b->n++;
  b->sum_ns += ns;
  if (m->usual_ns == 0)
    m->usual_ns = ns;
  else
    m->usual_ns *= ns > m->usual_ns ? 1.02 : 1 / 1.02;
  if (gap > 0) {
    m->n_gaps++;
    m->gap_s += gap;
  }
  return gap;
}

static void add_to(struct sum *s, double x) {
  s->n++;
  s->sum += x;
}

/* `gap`: the time since the last value is too long. */
static void add_power(struct dl_meter *m, const struct dl_reading *r,
                      bool gap) {
  double w = m->o.truncate_watts ? trunc(r->power_w) : r->power_w;
  double ns = (double)(r->ns - m->power_ns);
  if (m->power.n > 0 && !(gap && m->o.cut_gaps))
    m->integral_j += (w + m->power_w) / 2 * (ns / 1e9);
  add_to(&m->power, w);
  if (r->util == 0)
    add_to(&m->idle, w);
  m->power_w = w;
  m->power_ns = r->ns;
  if (!(w <= m->peak_w))
    m->peak_w = w;
}

/* Whether the counter was reset. */
static bool add_counter(struct dl_meter *m, double energy_j) {
  bool reset = energy_j < m->counter_last;
  if (reset)
    m->counter_j += energy_j;
  else if (!isnan(m->counter_last))
    m->counter_j += energy_j - m->counter_last;
  m->counter_last = energy_j;
  m->n_resets += reset;
  return reset;
}

/* Whether there has been what the meter is there for. */
static bool has_values(const struct dl_meter *m) {
  return m->power.n > 0 || !isnan(m->counter_last);
}

struct dl_meter_event dl_meter_add(struct dl_meter *m,
                                   const struct dl_reading *r) {
  struct dl_meter_event event = {0};
  if (m->n++ == 0)
    m->first_ns = m->valued_ns = r->ns;
  m->last_ns = r->ns;
  if (!isnan(r->util))
    add_to(&m->util, r->util);
  bool valued = !isnan(r->power_w) || !isnan(r->energy_j);
  if (!valued && has_values(m))
    return event;
  if (valued && !has_values(m)) /* those before had none */
    m->n_valued = m->n_repeats = 0;
  double ns = (double)(r->ns - m->valued_ns);
  if (ns > 0 && m->n_valued > 0)
    event.gap_s = add_interval(m, ns);
  else if (m->n_valued > 0)
    m->n_repeats++;
  m->n_valued++;
  m->valued_ns = r->ns;
  if (!isnan(r->power_w))
    add_power(m, r, event.gap_s > 0);
  if (!isnan(r->energy_j))
    event.reset = add_counter(m, r->energy_j);
  return event;
}

double dl_meter_energy(const struct dl_meter *m) {
  return isnan(m->counter_last) ? m->integral_j : m->counter_j;
}

static double mean(const struct sum *s) {
  return s->n > 0 ? s->sum / (double)s->n : NAN;
}

/* The mean of the bin that holds the median. */
static double median_interval_s(const struct dl_meter *m) {
  uint64_t total = 0, seen = 0;
  for (size_t i = 0; i < N_BINS; i++)
    total += m->bin[i].n;
  for (size_t i = 0; i < N_BINS; i++) {
    seen += m->bin[i].n;
    if (seen * 2 >= total && seen > 0)
      return m->bin[i].sum_ns / (double)m->bin[i].n / 1e9;
  }
  return NAN;
}

/* Samples that the length and the interval let expect, against those with a
 * value. Readings with the time of another do not count. */
static double missing_share(const struct dl_meter *m, double interval_s) {
  double expected = (double)(m->last_ns - m->first_ns) / 1e9 / interval_s + 1;
  double there = (double)m->n_valued - (double)m->n_repeats;
  double share = 1 - there / round(expected);
  return isnan(share) ? NAN : fmin(fmax(share, 0), 1);
}

void dl_meter_summarise(const struct dl_meter *m, struct dl_meter_summary *s) {
  double interval = median_interval_s(m);
  bool counter = !isnan(m->counter_last), spans = m->last_ns > m->first_ns;
  *s = (struct dl_meter_summary){
      .n = m->n,
      .n_power = m->power.n,
      .first_ns = m->first_ns,
      .last_ns = m->last_ns,
      .integral_j = m->power.n > 1 && spans ? m->integral_j : NAN,
      .counter_j = counter && spans ? m->counter_j : NAN,
      .power_w = mean(&m->power),
      .util = mean(&m->util),
      .idle_w = mean(&m->idle),
      .peak_w = m->peak_w,
      .interval_s = interval,
      .missing = missing_share(m, interval),
      .n_gaps = m->n_gaps,
      .n_resets = m->n_resets,
      .n_repeats = m->n_repeats,
      .gap_s = m->gap_s,
  };
  s->energy_j = isnan(s->counter_j) ? s->integral_j : s->counter_j;
}

bool dl_meter_fault(char text[DL_FAULT_SIZE], enum dl_meter_kind kind,
                    const struct dl_reading *r) {
  /* A board, a socket; a machine hall. Processors are counted in all. */
  double most_w = kind == DL_METER_NODE ? 1e9 : 1e5;
  double most_util = kind == DL_METER_GPU ? 1 : 1e4;
  text[0] = '\0';
  if (r->power_w < 0 || r->power_w > most_w)
    snprintf(text, DL_FAULT_SIZE, "power of %g W", r->power_w);
  else if (r->energy_j < 0 || r->energy_j > 1e18)
    snprintf(text, DL_FAULT_SIZE, "energy of %g J", r->energy_j);
  else if (r->util < 0 || r->util > most_util)
    snprintf(text, DL_FAULT_SIZE, "utilisation of %g %%", r->util * 100);
  return text[0] != '\0';
}
