/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integration of the readings of one meter. */

#include "logs/readings/power_meter.h"

#include <math.h>
#include <stdio.h>

enum { BINS_PER_OCTAVE = 32, OCTAVES = DL_METER_BINS / BINS_PER_OCTAVE };

/* Lower end of the histogram of intervals. */
#define SHORTEST_NS 1000.0

/* A counter has a wrong unit or reading if its mean power exceeds the highest
 * power of at least POWERS_MIN samples by this factor, or if their energy
 * exceeds the counter's by this factor. */
#define CONTRADICTION 4.0
enum { POWERS_MIN = 10 };

/* A column holds the energy of each interval, and is no counter, if four in
 * five of its values, and at least LIKE_MIN, differ by less than this share
 * from the integral of the power over the interval. */
#define LIKE_POWER 0.25
enum { LIKE_MIN = 3 };

/* A counter alone deserves a doubt if one of its steps is more than this share
 * of what it counts. */
#define COARSE_SHARE 0.05

/* Readings of a counter this far apart (s) may be the energies of runs. */
#define SELDOM_S 600.0

/* A GPU is idle below this share of its power in use. */
#define IDLE_SHARE 0.7

void dl_power_meter_init(struct dl_power_meter *m,
                         const struct dl_meter_options *o) {
  *m = (struct dl_power_meter){.o = *o,
                               .usual_ns = o->usual_ns,
                               .last_util = NAN,
                               .power_w = NAN,
                               .counter_last = NAN,
                               .peak_w = NAN};
}

/* The bin of an interval in the histogram. The octave comes from the exponent
 * and the bin within it from the mantissa: close enough to logarithmic, and
 * fast. */
static size_t bin_of(double ns) {
  int octave;
  double mantissa = frexp(ns / SHORTEST_NS, &octave); /* 0.5 .. 1 */
  if (octave < 1)
    return 0;
  if (octave > OCTAVES)
    return DL_METER_BINS - 1;
  return (size_t)((octave - 1) * BINS_PER_OCTAVE +
                  (int)((mantissa * 2 - 1) * BINS_PER_OCTAVE));
}

/* Records the time since the last reading with a value. Returns its length in
 * s if it is a gap, 0 otherwise. */
static double add_interval(struct dl_power_meter *m, double ns) {
  double limit_ns =
      m->o.max_gap_s > 0
          ? m->o.max_gap_s * 1e9
          : dl_gap_limit_ns(m->usual_ns, DL_GAP_INTERVALS, DL_GAP_MIN_S);
  /* Otherwise the first interval sets the usual one. */
  bool has_limit = m->n_valued > 1 || m->o.max_gap_s > 0 || m->o.usual_ns > 0 ||
                   ns > DL_GAP_MAX_S * 1e9;
  double gap_s = has_limit && ns > limit_ns ? ns / 1e9 : 0;
  size_t bin = bin_of(ns);
  m->bin_n[bin]++;
  m->bin_sum_ns[bin] += ns;
  if (m->usual_ns == 0)
    m->usual_ns = ns;
  else
    m->usual_ns *= ns > m->usual_ns ? 1.02 : 1 / 1.02;
  if (gap_s > 0) {
    m->n_gaps++;
    m->gap_s += gap_s;
  }
  return gap_s;
}

/* Adds a sample to the idle or the busy time of a device. A pause within its
 * use is not idle time. */
static void follow_use(struct dl_power_meter *m, double util, double w) {
  if (util == 0) {
    m->n_pause++;
    m->pause_sum_w += w;
  } else if (util > 0) {
    if (m->n_busy++ == 0) {
      m->n_idle = m->n_pause;
      m->idle_sum_w = m->pause_sum_w;
    }
    m->busy_sum_w += w;
    m->n_pause = 0;
    m->pause_sum_w = 0;
  }
}

/* Power of the idle device; NaN: unknown. */
static double idle_power(const struct dl_power_meter *m) {
  double idle_w = (m->idle_sum_w + m->pause_sum_w) /
                  (double)(m->n_idle + m->n_pause); /* 0 / 0: NaN */
  double busy_w = m->busy_sum_w / (double)m->n_busy;
  return idle_w > IDLE_SHARE * busy_w ? NAN : idle_w;
}

static void add_power(struct dl_power_meter *m, const struct dl_reading *r,
                      bool after_gap) {
  double w = m->o.truncate_watts ? trunc(r->power_w) : r->power_w;
  double ns = (double)(r->ns - m->power_ns);
  double mean_w = r->is_mean ? w : (w + m->power_w) / 2;
  if (m->n_power > 0 && !(after_gap && m->o.cut_gaps))
    m->integral_j += mean_w * (ns / 1e9);
  m->n_power++;
  m->power_sum_w += w;
  follow_use(m, r->util, w);
  m->power_w = w;
  m->power_ns = r->ns;
  if (!(w <= m->peak_w))
    m->peak_w = w;
}

/* Whether the counter should have moved after so long a time, in which there
 * are powers. */
static bool is_stuck(const struct dl_power_meter *m, int64_t ns) {
  double step_ns = fmax(m->step_ns, m->usual_ns);
  return (double)(m->n_power - m->moved_n_power) >= DL_GAP_INTERVALS &&
         (double)(ns - m->moved_ns) >
             dl_gap_limit_ns(step_ns, DL_GAP_INTERVALS, DL_GAP_MIN_S);
}

/* The counter has moved by `delta` (J) after it stood still, or was missing,
 * since moved_ns. Either it has counted that time, or the power stands in for
 * it. */
static void end_standstill(struct dl_power_meter *m, double delta, int64_t ns) {
  double power_j = m->integral_j - m->moved_integral_j;
  double step_ns = (double)(ns - m->moved_ns);
  bool stood = is_stuck(m, ns) && delta < power_j / 2 && m->n_steps > 1;
  if (stood) {
    m->stand_in_j += power_j - delta;
    m->stand_in_s += step_ns / 1e9;
  } else if (step_ns > 0) {
    if (m->step_ns == 0)
      m->step_ns = step_ns;
    else if (step_ns > m->step_ns)
      m->step_ns *= 1.1;
    else
      m->step_ns /= 1.1;
  }
  if (m->n_moves++ == 0 && !stood)
    m->first_step_j = power_j - delta;
  m->least_move_j = m->n_moves == 1 ? delta : fmin(m->least_move_j, delta);
  m->moved_ns = ns;
  m->moved_integral_j = m->integral_j;
  m->moved_n_power = m->n_power;
}

/* Begins the counter at its first reading. The power before it counts, if there
 * are enough samples. */
static void begin_counter(struct dl_power_meter *m, int64_t ns) {
  m->moved_ns = m->first_valued_ns;
  if (m->n_power > 1 && is_stuck(m, ns)) {
    m->stand_in_j = m->integral_j;
    m->stand_in_s = (double)(ns - m->first_valued_ns) / 1e9;
  }
  m->moved_ns = ns;
  m->moved_integral_j = m->integral_j;
  m->moved_n_power = m->n_power;
}

/* Whether the counter is so coarse that it stands still between most of its
 * readings. */
static bool is_coarse(const struct dl_power_meter *m) {
  return m->n_moves > 0 && m->n_still > m->n_moves;
}

static bool ends_stuck(const struct dl_power_meter *m) {
  return m->n_power > 1 && is_stuck(m, m->power_ns);
}

/* What the power adds to the counter at both ends: the energy since the counter
 * moved last, if it is stuck. Of a coarse counter the first step began before
 * the first reading and the last one ends after the last reading: the power
 * divides both, and the second part is at most a step. */
static double ends_j(const struct dl_power_meter *m) {
  double tail_j = m->integral_j - m->moved_integral_j;
  if (ends_stuck(m))
    return tail_j + (is_coarse(m) ? m->first_step_j : 0);
  return m->n_power > 1 && is_coarse(m)
             ? m->first_step_j + fmin(tail_j, m->least_move_j)
             : 0;
}

/* Adds a reading of the counter. If the counter was reset or wrapped around,
 * the energy since its last reading is lost. The power before the reset stands
 * in for it, if it gives more than the counter has counted since. */
static void add_counter(struct dl_power_meter *m, double energy_j, int64_t ns) {
  bool reset = energy_j < m->counter_last && !m->counter_restarts;
  double s = (double)(ns - m->counter_ns) / 1e9;
  double power_j = m->integral_j - m->read_integral_j;
  if (isnan(m->counter_last)) {
    m->counter_first = energy_j;
    begin_counter(m, ns);
  } else {
    m->n_steps++;
    m->n_like_power += fabs(energy_j - power_j) <= LIKE_POWER * power_j;
    m->n_still += energy_j == m->counter_last && s > 0;
    if (energy_j != m->counter_last)
      end_standstill(m, reset ? power_j : energy_j - m->counter_last, ns);
  }
  m->read_integral_j = m->integral_j;
  if (reset) {
    m->counter_j += fmax(energy_j, m->counter_w * s);
  } else if (!isnan(m->counter_last) && !m->counter_restarts) {
    m->counter_j += energy_j - m->counter_last;
    m->counter_w = s > 0 ? (energy_j - m->counter_last) / s : m->counter_w;
  }
  m->counter_last = energy_j;
  m->counter_ns = ns;
  m->counter_restarts = false;
  m->n_resets += reset;
}

double dl_power_meter_add(struct dl_power_meter *m,
                          const struct dl_reading *r) {
  double gap_s = 0;
  bool valued = !isnan(r->power_w) || !isnan(r->energy_j);
  bool had_values = m->n_power > 0 || !isnan(m->counter_last);
  if (m->n++ == 0)
    m->first_ns = m->valued_ns = r->ns;
  m->last_ns = r->ns;
  if (!isnan(r->util)) {
    m->n_util++;
    m->util_sum += r->util;
    m->last_util = r->util;
  }
  if (!valued && had_values)
    return 0;
  if (valued && !had_values) { /* the readings before had no value */
    m->n_valued = m->n_repeats = 0;
    m->first_valued_ns = r->ns;
  }
  double ns = (double)(r->ns - m->valued_ns);
  if (ns > 0 && m->n_valued > 0)
    gap_s = add_interval(m, ns);
  else if (m->n_valued > 0)
    m->n_repeats++;
  m->n_valued++;
  m->valued_ns = r->ns;
  if (!isnan(r->power_w))
    add_power(m, r, gap_s > 0);
  if (!isnan(r->energy_j))
    add_counter(m, r->energy_j, r->ns);
  return gap_s;
}

void dl_power_meter_restart(struct dl_power_meter *m) {
  m->counter_restarts = true;
}

double dl_power_meter_energy(const struct dl_power_meter *m) {
  return isnan(m->counter_last) ? m->integral_j
                                : m->counter_j + m->stand_in_j + ends_j(m);
}

/* Explains why an energy is not a counter; NULL if it is one. */
static const char *no_counter_why(const struct dl_power_meter *m) {
  double s = (double)(m->last_ns - m->first_ns) / 1e9;
  if (isnan(m->counter_last))
    return NULL;
  if (m->counter_j == 0 && m->counter_last > 0)
    return "never changes";
  if (m->n_resets > 1 && m->n_resets * 5 > m->n_valued)
    return "falls too often";
  double energy_j = dl_power_meter_energy(m);
  bool too_little = energy_j * CONTRADICTION < m->integral_j;
  if (m->n_steps >= LIKE_MIN && m->n_like_power * 5 >= m->n_steps * 4 &&
      too_little)
    return "is that of each interval";
  if (m->n_power >= POWERS_MIN && !m->o.assumed_times &&
      (energy_j > CONTRADICTION * m->peak_w * s || too_little))
    return "contradicts the power";
  return NULL;
}

const struct dl_kind_total dl_kind_unknown = {0,   NAN, NAN, NAN, NAN,
                                              NAN, NAN, NAN, NAN};

void dl_kind_add(struct dl_kind_total *to, const struct dl_kind_total *from) {
  if (to->n_meters == 0) {
    *to = *from;
    return;
  }
  to->n_meters += from->n_meters;
  to->energy_j += from->energy_j;
  to->integral_j += from->integral_j;
  to->counter_j += from->counter_j;
  to->power_w += from->power_w;
  to->util +=
      (from->util - to->util) * ((double)from->n_meters / (double)to->n_meters);
  to->idle_w += from->idle_w;
  to->peak_w = NAN;
  to->limit_w += from->limit_w;
}

struct dl_meter_summary dl_power_meter_summarise(const struct dl_power_meter *m,
                                                 double limit_w) {
  bool spans = m->last_ns > m->first_ns;
  bool integral = m->n_power > 1 && spans;
  const char *no_counter = spans ? no_counter_why(m) : NULL;
  bool counter = !isnan(m->counter_last) && spans && !no_counter;
  uint64_t total = 0, below = 0;
  size_t median = 0; /* bin that contains the median interval */
  for (size_t i = 0; i < DL_METER_BINS; i++)
    total += m->bin_n[i];
  while (total > 0 && (below += m->bin_n[median]) * 2 < total)
    median++;
  double tail_s = ends_stuck(m) ? (double)(m->power_ns - m->moved_ns) / 1e9 : 0;
  struct dl_meter_summary s = {
      .total = {.n_meters = 1,
                .energy_j = NAN,
                .integral_j = integral ? m->integral_j : NAN,
                .counter_j = counter ? dl_power_meter_energy(m) : NAN,
                .power_w = m->power_sum_w / (double)m->n_power, /* 0/0: NaN */
                .util = m->util_sum / (double)m->n_util,
                .idle_w = idle_power(m),
                .peak_w = m->peak_w,
                .limit_w = limit_w},
      .interval_s = m->bin_sum_ns[median] / (double)m->bin_n[median] / 1e9,
      .no_counter = no_counter,
      .stand_in_s = counter ? m->stand_in_s + tail_s : 0,
  };
  if (counter && m->n_power == 0 && is_coarse(m) &&
      m->least_move_j > COARSE_SHARE * m->counter_j)
    s.coarse_step_j = m->least_move_j;
  s.seldom_read = counter && m->n_power == 0 && s.interval_s > SELDOM_S;
  s.total.energy_j = counter ? s.total.counter_j : s.total.integral_j;
  /* Expected samples against those with a value; a reading with the time of
   * another one does not count. */
  double expected = (double)(m->last_ns - m->first_ns) / 1e9 / s.interval_s + 1;
  double share =
      1 - ((double)m->n_valued - (double)m->n_repeats) / round(expected);
  s.missing = isnan(share) ? NAN : fmin(fmax(share, 0), 1);
  return s;
}

bool dl_power_meter_hardly_rises(const struct dl_power_meter *m,
                                 const struct dl_meter_summary *sum) {
  const double idle_w = 2, least_w = 5, most_w = 3000;
  double s = (double)(m->last_ns - m->first_ns) / 1e9;
  double of_interval_w = m->counter_first / sum->interval_s;
  return m->n_power == 0 && sum->total.counter_j < idle_w * s &&
         of_interval_w > least_w && of_interval_w < most_w;
}

bool dl_reading_fault(char text[DL_FAULT_SIZE], enum dl_meter_kind kind,
                      const struct dl_reading *r) {
  /* More than any board or socket takes, and any machine hall. The utilization
   * of processors may be the sum over their cores. */
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
