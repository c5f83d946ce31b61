/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of dlest step, and its line of progress. */

#include "cli/views/step_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "cli/views/result_columns.h"
#include "cli/views/summary/answer.h"
#include "output/units.h"

static const char *verdict_name(enum dl_projection_verdict v) {
  if (v == DL_PROJECTION_STABLE)
    return "stable";
  return v == DL_PROJECTION_DRIFTING ? "drifting" : "not yet stable";
}

/* Longer epochs at an equal distance, in one line, for people. */
static void add_brief_pattern(struct dl_report *r,
                              const struct dl_projection *p) {
  DL_TEXT(t);
  char share[DL_NUMBER_SIZE];
  dl_text_printf(
      &t,
      "1 of %zu epochs takes %s %% more energy (%zu, %zu, ...; %zu "
      "seen)",
      p->pattern_every, dl_format_digits(share, 100 * p->pattern_share, 2),
      p->pattern_first, p->pattern_first + p->pattern_every, p->pattern_seen);
  dl_report_add(r, NULL, "Pattern", NULL, DL_CODE, dl_string(dl_text_str(&t)));
}

/* The energy and the time that a training took so far. */
static void sum_seen(const struct dl_epoch_series *e, double *seconds,
                     double *joules) {
  *seconds = e->head_s + e->open_s;
  *joules = e->head_j + e->open_j;
  for (size_t i = 0; i < e->n; i++) {
    *seconds += e->duration_s[i];
    *joules += e->energy_j[i];
  }
}

/* "epochs.csv: 6 of 50 epochs, steady since epoch 1", without the name of a
 * pipe, a mere number. */
static void add_title(struct dl_text *t, const struct dl_step *s) {
  const struct dl_projection *p = &s->p[dl_step_best(s)];
  const char *name = strrchr(s->input, '/');
  const bool pipe = strncmp(s->input, "/dev/", strlen("/dev/")) == 0;
  if (!pipe)
    dl_text_printf(t, "%s: ", name ? name + 1 : s->input);
  dl_text_printf(t, "%zu of ", s->seen.n);
  if (s->n_low < s->n_high)
    dl_text_printf(t, "%g to ", s->n_low);
  dl_text_printf(t, "%g epochs", s->n_high);
  if (s->n == 0)
    return;
  if (p->verdict == DL_PROJECTION_STABLE && p->n_stable > 0)
    dl_text_printf(t, ", steady since epoch %zu", p->stable_from);
  else
    dl_text_printf(t, ", %s", verdict_name(p->verdict));
}

/* Emissions and cost of an energy, as remarks. */
static void add_costs(struct dl_answer_line *l, const struct dl_footprint *foot,
                      double joules) {
  const struct dl_costs costs = dl_footprint_costs(foot, joules);
  dl_answer_quantity(l, DL_MASS, "g CO2e", costs.co2e_g, "");
  if (!isnan(costs.co2e_g) && foot->intensity.of)
    dl_text_printf(&l->remark, " (%s)", foot->intensity.of);
  if (!isnan(costs.price)) {
    dl_answer_number(l, "", costs.price, " ");
    dl_text_add(&l->remark, dl_text_or(foot->currency, ""));
  }
  dl_answer_number(l, "", costs.water_l, " L of water");
}

/* Fills in a line: an energy and a time. */
static void put(struct dl_answer_line *l, const char *label, double joules,
                double seconds) {
  dl_answer_figure(
      l, &(struct dl_answer){label, DL_KWH, "J", joules, NAN, NAN, NAN});
  dl_answer_quantity(l, DL_TIME, "s", seconds, "");
}

/* The time of day, with its date, `after_s` seconds behind the first sample;
 * local time. */
static bool find_time(char text[DL_NUMBER_SIZE],
                      const struct dl_epoch_series *e, double after_s) {
  const double s = e->start_s + after_s;
  const double most = sizeof(time_t) < sizeof(int64_t) ? 0x1p31 : 9e9;
  struct tm local;
  if (!(fabs(s) < (e->start_zoned ? most : 9e9))) /* of the type, of a stamp */
    return false;
  if (!e->start_zoned) {
    char stamp[DL_TIMESTAMP_SIZE];
    dl_format_timestamp(stamp, (int64_t)s * DL_SECOND, false);
    return snprintf(text, DL_NUMBER_SIZE, "%.10s %.5s", stamp, stamp + 11) > 0;
  }
  const time_t t = (time_t)s;
  return localtime_r(&t, &local) &&
         strftime(text, DL_NUMBER_SIZE, "%Y-%m-%d %H:%M", &local) > 0;
}

/* "ends about 10:42", with the date where it is not that of the last sample. */
static void add_end(struct dl_answer_line *l, const struct dl_epoch_series *e,
                    double seen_s, double whole_s) {
  enum { DATE = sizeof "2024-03-05 " - 1 };
  char last[DL_NUMBER_SIZE], end[DL_NUMBER_SIZE];
  if (whole_s > seen_s && find_time(last, e, seen_s) &&
      find_time(end, e, whole_s))
    dl_answer_remark(l, "ends about %s",
                     end + (strncmp(last, end, DATE) == 0 ? DATE : 0));
}

/* The answer, for people: so far, what is left, and the whole training. */
static void add_answer(struct dl_report *r, const struct dl_step *s) {
  enum { SO_FAR, LEFT, WHOLE, EQUIVALENTS, BASIS, N_LINES };
  static const struct dl_named_text epochs[] = {
      {"given", "of the log"},
      {"sure", "found in the power"},
      {"unsure", "found in the power, unsure"}};
  struct dl_answer_line line[N_LINES] = {0};
  const struct dl_projection *p = &s->p[dl_step_best(s)];
  const bool any = s->n > 0 && !isnan(p->energy_j);
  double seconds, joules;
  DL_TEXT(title);
  DL_TEXT(basis);
  DL_TEXT(equals);
  add_title(&title, s);
  sum_seen(&s->seen, &seconds, &joules);
  struct dl_report *g = dl_report_group(r, "summary", dl_text_str(&title));
  put(&line[SO_FAR], "So far", joules, seconds);
  if (any) {
    put(&line[LEFT], "Left", fmax(0, p->energy_j - joules),
        fmax(0, p->duration_s - seconds));
    add_end(&line[LEFT], &s->seen, seconds, p->duration_s);
    dl_answer_figure(&line[WHOLE],
                     &(struct dl_answer){"Whole", DL_KWH, "J", p->energy_j,
                                         p->low_j, p->high_j, s->coverage});
    if (isnan(p->low_j))
      dl_answer_quantity(&line[WHOLE], DL_TIME, "s", p->duration_s, "");
    else if (s->seen.boundary[0])
      dl_answer_remark(&line[WHOLE], "%s",
                       dl_boundary_words(s->seen.boundary, false));
    add_costs(&line[WHOLE], &s->foot, p->energy_j);
    dl_text_equivalents(&equals, &s->foot,
                        dl_paid_energy(&s->foot, p->energy_j));
    dl_answer_text(&line[EQUIVALENTS], "Equals", dl_text_str(&equals));
  }
  if (s->n > 0)
    dl_text_add(&basis, s->by[dl_step_best(s)]->name);
  if (p->reason && s->n > 0)
    dl_text_printf(&basis, ": %s", p->reason);
  if (s->seen.verdict[0])
    dl_text_printf(&basis, "%sepochs %s", basis.len > 0 ? ", " : "",
                   dl_text_of_name(epochs, DL_LENGTH(epochs), s->seen.verdict,
                                   s->seen.verdict));
  dl_answer_text(&line[BASIS], "Basis", dl_text_str(&basis));
  dl_answer_lines(g, line, N_LINES);
  if (s->n > 0 && p->pattern_every > 0)
    add_brief_pattern(g, p);
  if (s->n > 0 && p->lacks)
    dl_report_say(g, "%s: %s.", s->by[dl_step_best(s)]->name, p->lacks);
  if (!s->details)
    dl_report_hint(g, "Other methods and the evidence: --details.");
}

static void add_seen(struct dl_report *r, const struct dl_step *s) {
  const struct dl_epoch_series *e = &s->seen;
  double seconds, joules;
  sum_seen(e, &seconds, &joules);
  bool range = s->n_low < s->n_high;
  const struct dl_column low = {"epochs_low", range ? "epochs in total" : NULL,
                                NULL, DL_CODE, false};
  const struct dl_value bounds[2] = {dl_number(s->n_low), dl_number(s->n_high)};
  const struct dl_report_line before[] = {
      {"input", "trace", NULL, DL_CODE, dl_string(s->input)},
      {"epochs_seen", "epochs seen", NULL, DL_CODE, dl_count(e->n)},
      {"epochs_verdict", "epoch detection", NULL, DL_CODE,
       dl_string(e->verdict[0] ? e->verdict : NULL)}};
  const struct dl_report_line behind[] = {
      {NULL, range ? NULL : "epochs in total", NULL, DL_CODE, bounds[1]},
      {"boundary", "boundary", NULL, DL_CODE,
       dl_string(e->boundary[0] ? e->boundary : NULL)},
      {"seen_duration_s", "time so far", "s", DL_TIME, dl_number(seconds)},
      {"seen_energy_j", "energy so far", "J", DL_ENERGY, dl_number(joules)}};
  const struct dl_report_line regime[] = {
      {"regime_sample", "regime (FLUSS) at sample", NULL, DL_CODE,
       dl_number(e->regime_sample)},
      {"regime_cac", "arc curve there", NULL, DL_EXACT,
       dl_number(e->regime_cac)},
      {"regime_s", "regime begins at", "s", DL_TIME, dl_number(e->regime_s)}};
  dl_report_lines(r, before, DL_LENGTH(before));
  dl_report_range(r, &low, "epochs_high", bounds);
  dl_report_lines(r, behind, DL_LENGTH(behind));
  dl_report_lines(r, regime, isnan(e->regime_s) ? 0 : DL_LENGTH(regime));
  dl_report_add(r, "stable", "published methods from epoch", NULL, DL_CODE,
                dl_count(s->stable));
}

/* The verdict of the recommended projection, and the evidence for it. */
static void add_verdict(struct dl_report *r, const struct dl_step *s) {
  const struct dl_projection *p = &s->p[dl_step_best(s)];
  bool any = p->n_stable > 0 && !isnan(p->level_j);
  bool every = p->pattern_every > 0;
  const struct dl_report_line verdict[] = {
      {"verdict", "verdict", NULL, DL_CODE,
       dl_string(verdict_name(p->verdict))},
      {"reason", "reason", NULL, DL_CODE, dl_known_string(p->reason)}};
  const struct dl_report_line evidence[] = {
      {"stable_from", any ? "steady state since epoch" : NULL, NULL, DL_CODE,
       any ? dl_count(p->stable_from) : dl_number(NAN)},
      {"n_stable", "epochs in it", NULL, DL_CODE, dl_count(p->n_stable)},
      {"regimes", "regimes so far", NULL, DL_CODE, dl_count(p->n_regimes)},
      {"last_change", "change from the previous regime", NULL, DL_PLAIN,
       dl_known(p->last_change)},
      {"level_j", "epoch energy", "J/epoch", DL_ENERGY, dl_known(p->level_j)},
      {"level_share", "its standard error", NULL, DL_PERCENT,
       dl_known(p->level_share)},
      {"scatter", "scatter of epochs", NULL, DL_PERCENT, dl_known(p->scatter)},
      {"drift", "drift per epoch", NULL, DL_PERCENT, dl_known(p->drift)},
      {"drift_se", "its standard error", NULL, DL_PERCENT,
       dl_known(p->drift_se)},
      {"outliers", "outliers", NULL, DL_PERCENT, dl_known(p->outliers)},
      {"pattern_every", every ? "distance of longer epochs" : NULL, NULL,
       DL_CODE, every ? dl_count(p->pattern_every) : dl_number(NAN)},
      {"pattern_first", every ? "first longer epoch" : NULL, NULL, DL_CODE,
       every ? dl_count(p->pattern_first) : dl_number(NAN)},
      {"pattern_seen", every ? "longer epochs seen" : NULL, NULL, DL_CODE,
       every ? dl_count(p->pattern_seen) : dl_number(NAN)},
      {"pattern_share", every ? "their excess energy" : NULL, NULL, DL_PERCENT,
       dl_known(p->pattern_share)}};
  dl_report_lines(r, verdict, DL_LENGTH(verdict));
  dl_report_lines(dl_report_group(r, "evidence", any ? "Evidence" : NULL),
                  evidence, DL_LENGTH(evidence));
}

size_t dl_step_best(const struct dl_step *s) {
  for (size_t i = 0; i < s->n; i++)
    if (s->by[i] == dl_projector_at(0))
      return i;
  return 0;
}

static struct dl_estimate estimate_of(const struct dl_step *s, size_t i) {
  const struct dl_projection *p = &s->p[i];
  return (struct dl_estimate){
      .method = s->by[i]->name,
      .boundary = s->seen.boundary[0] ? s->seen.boundary : NULL,
      .energy_j = {p->energy_j, p->low_j, p->high_j},
      .power_w = {p->energy_j / p->duration_s, NAN, NAN},
      .duration_s = {p->duration_s, NAN, NAN},
      .duration_from = isnan(p->duration_s) ? NULL
                       : p->duration_given  ? "given"
                                            : "projected",
      .lacks = p->lacks};
}

static void add_estimates(struct dl_report *r, const struct dl_step *s) {
  size_t best = dl_step_best(s);
  bool any = s->n > 0 && !isnan(s->p[best].energy_j);
  dl_report_add(r, "recommended", NULL, NULL, DL_CODE,
                dl_string(any ? s->by[best]->name : NULL));
  struct dl_column columns[DL_MOST_RESULT_COLUMNS];
  size_t n = dl_result_columns(columns, DL_COLUMNS_OF_ENERGY, &s->foot, true);
  struct dl_table *t =
      dl_report_table(r, "estimates", "The whole training", columns, n, true);
  for (size_t i = 0; i < s->n; i++) {
    struct dl_value v[DL_MOST_RESULT_COLUMNS];
    struct dl_estimate e = estimate_of(s, i);
    const struct dl_result_view of = {&e, NULL, i == best, &s->foot,
                                      s->coverage};
    dl_result_values(v, DL_COLUMNS_OF_ENERGY, &of, NULL);
    dl_table_row(t, v, any && i == best && s->n > 1 ? "*" : NULL);
  }
}

static void add_notes(struct dl_report *r, const struct dl_step *s) {
  for (size_t i = 0; i < s->n; i++)
    if (s->p[i].lacks)
      dl_report_say(r, "%s: %s.", s->by[i]->name, s->p[i].lacks);
  if (s->n > 0 && !isnan(s->p[dl_step_best(s)].low_j))
    dl_report_say(r, "Intervals have a coverage of %g %%. * recommended.",
                  100 * s->coverage);
}

struct dl_report *dl_step_report(const struct dl_step *s) {
  struct dl_report *r = dl_report_new();
  add_answer(r, s);
  if (!s->details)
    return r;
  add_seen(r, s);
  dl_add_footprint(r, &s->foot);
  if (s->n > 0)
    add_verdict(r, s);
  add_estimates(r, s);
  add_notes(r, s);
  dl_say_footprint(r, &s->foot);
  if (s->n > 0)
    dl_add_equivalents(
        r, &s->foot, dl_paid_energy(&s->foot, s->p[dl_step_best(s)].energy_j));
  return r;
}

void dl_step_line(const struct dl_step *s, struct dl_text *t) {
  const struct dl_projection *p = &s->p[dl_step_best(s)];
  dl_text_printf(t, "%zu of %g epochs", s->seen.n, s->n_high);
  if (s->n == 0 || isnan(p->energy_j)) {
    dl_text_add(t, ": no projection yet");
    return;
  }
  dl_text_printf(t, ": %.4g MJ in total", p->energy_j * 1e-6);
  if (!isnan(p->low_j))
    dl_text_printf(t, " (%.4g .. %.4g)", p->low_j * 1e-6, p->high_j * 1e-6);
  dl_text_printf(t, ", %s", verdict_name(p->verdict));
}
