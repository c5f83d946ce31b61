/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record/record_answer.h"

#include <math.h>
#include <string.h>

#include "cli/views/summary/answer.h"
#include "output/units.h"

enum {
  ENERGY,
  ASSUMED,
  POWER,
  EPOCH,
  EMISSIONS,
  FACILITY,
  EQUIVALENTS,
  PROGRAM,
  PHASES,
  ESTIMATE,
  BASIS,
  BETTER,
  N_LINES
};

static void figure(struct dl_answer_line *l, const char *label,
                   enum dl_style style, const char *unit, double x) {
  if (!isnan(x))
    dl_answer_figure(l,
                     &(struct dl_answer){label, style, unit, x, NAN, NAN, NAN});
}

/* Appends "2 x NVIDIA H200, 1 x NVIDIA A100": GPUs of one name count. */
static size_t add_gpus(struct dl_text *t, const struct dl_sensors *s) {
  size_t all = 0;
  for (size_t i = 0; i < s->n; i++) {
    size_t before = 0, same = 0;
    if (s->s[i].part != DL_METER_GPU)
      continue;
    for (size_t k = 0; k < s->n; k++)
      if (s->s[k].part == DL_METER_GPU &&
          strcmp(s->s[k].name, s->s[i].name) == 0) {
        before += k < i;
        same++;
      }
    if (before == 0)
      dl_text_printf(t, "%s%zu x %s", all > 0 ? ", " : " on ", same,
                     s->s[i].name);
    all++;
  }
  return all;
}

/* "python3 train.py on 2 x NVIDIA H200: 1 h 22 min, 5 epochs", the command cut
 * to the width of a line; returns the number of GPUs. */
static size_t add_title(struct dl_text *t, const struct dl_record_summary *x) {
  enum { WIDTH = 80, LEAST = 12 };
  const char *command = dl_text_or(x->command, "Recording");
  const struct dl_value seconds = dl_number(x->run->duration_s);
  DL_TEXT(rest);
  const size_t gpus = add_gpus(&rest, x->sensors);
  if (x->job->nodes > 1)
    dl_text_printf(&rest, ", node %zu of %zu", x->job->node + 1, x->job->nodes);
  dl_text_add(&rest, ": ");
  dl_show(&rest, DL_TIME, "s", &seconds, NULL);
  if (x->run->epochs > 0)
    dl_text_printf(&rest, ", %g epochs", x->run->epochs);
  const size_t most = rest.len + LEAST < WIDTH ? WIDTH - rest.len : LEAST;
  if (strlen(command) > most)
    dl_text_printf(t, "%.*s...", (int)most - 3, command);
  else
    dl_text_add(t, command);
  dl_text_add(t, dl_text_str(&rest));
  return gpus;
}

/* The energy that was measured, or else assumed. */
static void energy_lines(struct dl_answer_line line[N_LINES],
                         const struct dl_record_summary *x, size_t gpus) {
  const bool measured = dl_sensors_measure(x->sensors);
  const struct dl_interval j = dl_record_assumed(x, !measured);
  if (measured)
    figure(&line[ENERGY], "Energy", DL_KWH, "J", x->run->energy_j);
  if (measured && x->run->boundary)
    dl_answer_remark(&line[ENERGY], "%s",
                     dl_boundary_words(x->run->boundary, gpus > 1));
  if (isnan(j.x))
    return;
  struct dl_answer_line *l = &line[measured ? ASSUMED : ENERGY];
  dl_answer_figure(l,
                   &(struct dl_answer){measured ? "Assumed" : "Energy", DL_KWH,
                                       "J", j.x, j.low, j.high, 0.9});
  dl_answer_remark(l, measured ? "CPUs, not in the energy" : "assumed");
  if (!measured)
    dl_answer_number(l, "", 100 * x->result->cpu_share, " % of the CPUs' work");
}

/* The energy of the answer, which is paid for and emits. */
static double answer_j(const struct dl_record_summary *x) {
  return dl_sensors_measure(x->sensors) ? x->run->energy_j
                                        : dl_record_assumed(x, true).x;
}

static void facility_line(struct dl_answer_line *l,
                          const struct dl_record_summary *x) {
  const struct dl_costs costs = dl_footprint_costs(x->foot, answer_j(x));
  figure(l, "Facility", DL_KWH, "J", costs.facility_j);
  if (l->label)
    dl_answer_number(l, "PUE ", x->foot->pue.x, "");
  if (isnan(costs.water_l))
    return;
  if (l->label)
    dl_answer_number(l, "", costs.water_l, " L of water");
  else
    figure(l, "Water", DL_PLAIN, "L", costs.water_l);
}

/* Emissions and cost of the energy, also if it is assumed. */
static void emission_line(struct dl_answer_line *l,
                          const struct dl_record_summary *x) {
  const bool measured = dl_sensors_measure(x->sensors);
  const struct dl_footprint *foot = x->foot;
  const struct dl_costs costs = dl_footprint_costs(foot, answer_j(x));
  if (isnan(costs.co2e_g)) {
    figure(l, "Cost", DL_PLAIN, foot->currency, costs.price);
  } else {
    figure(l, "CO2e", DL_MASS, "g", costs.co2e_g);
    dl_answer_quantity(l, DL_PLAIN, foot->currency, costs.price, "");
    dl_answer_number(l, "", foot->intensity.x, " g/kWh");
    if (foot->intensity.of)
      dl_answer_remark(l, "%s", foot->intensity.of);
  }
  if (l->label && !measured)
    dl_answer_remark(l, "of the assumed energy");
}

static void estimate_line(struct dl_answer_line *l,
                          const struct dl_record_summary *x) {
  const struct dl_record_estimate *e = x->estimate;
  if (e->method) {
    dl_answer_figure(l, &(struct dl_answer){"Estimate", DL_KWH, "J",
                                            e->energy_j.x, e->energy_j.low,
                                            e->energy_j.high, 0.9});
    dl_answer_remark(l, "%s by %s", e->of_cpus ? "CPUs" : "GPUs", e->method);
    dl_answer_remark(l, "%+.0f %%", 100 * (e->energy_j.x / e->measured_j - 1));
  } else if (x->run->arch && e->lacks != DL_LACKS_NOTHING) {
    l->label = "Estimate";
    dl_text_printf(&l->figure, "none: %s", dl_record_lack_words(e->lacks));
  }
}

/* Appends "energy counters (nvml, powercap)": the kinds of sensors that gave
 * energy, or else power. */
static void add_kinds(struct dl_text *t, const struct dl_sensors *s,
                      bool counters) {
  bool any = false;
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *x = &s->s[i];
    bool shown = x->assumed || x->gave_energy != counters;
    for (size_t k = 0; k < i; k++)
      shown |= s->s[k].kind == x->kind && s->s[k].gave_energy == counters;
    if (shown)
      continue;
    if (!any)
      dl_text_printf(t, "%s%s (", t->len > 0 ? ", " : "",
                     counters ? "energy counters" : "power");
    dl_text_printf(t, "%s%s", any ? ", " : "", x->kind->name);
    any = true;
  }
  dl_text_add(t, any ? ")" : "");
}

/* "energy counters (nvml), 52 samples in dlest-....csv" */
static void basis_line(struct dl_answer_line *l,
                       const struct dl_record_summary *x) {
  DL_TEXT(t);
  if (!dl_sensors_measure(x->sensors)) {
    dl_answer_text(l, "Basis", dl_text_or(x->assumed, "nothing was measured"));
    return;
  }
  add_kinds(&t, x->sensors, true);
  add_kinds(&t, x->sensors, false);
  dl_text_printf(&t, ", %zu samples", x->result->n_samples);
  if (x->trace)
    dl_text_printf(&t, " in %s", x->trace);
  dl_answer_text(l, "Basis", dl_text_str(&t));
}

/* "train 88 %, validation 12 % of the energy" */
static void phase_line(struct dl_answer_line *l, const struct dl_phases *p) {
  double all_j = 0;
  for (size_t i = 0; i < p->n; i++)
    all_j += p->phase[i].energy_j;
  if (p->n < 2 || !(all_j > 0))
    return;
  l->label = "Phases";
  for (size_t i = 0; i < p->n; i++)
    if (*p->phase[i].name)
      dl_text_printf(&l->figure, "%s%s %.0f %%", l->figure.len > 0 ? ", " : "",
                     p->phase[i].name, 100 * p->phase[i].energy_j / all_j);
  dl_text_add(&l->figure, " of the energy");
}

/* The one step that tells most about the run beyond its answer. */
static const char *better(const struct dl_record_summary *x) {
  const struct dl_sensors *s = x->sensors;
  if (!dl_sensors_measure(s))
    return "a sensor: dlest list sensors says what permits it";
  if (!dl_sensors_has(s, NULL, DL_METER_CPU) &&
      !dl_sensors_has(s, NULL, DL_METER_NODE))
    return "the CPUs are not measured: --cpu NAME estimates them";
  if (isnan(x->run->epochs) && x->command)
    return "mark epochs (DLEST_MARKS): the whole training is projected";
  return "";
}

void dl_record_answer(struct dl_report *r, const struct dl_record_summary *x) {
  struct dl_answer_line line[N_LINES] = {0};
  const struct dl_run *run = x->run;
  DL_TEXT(title);
  DL_TEXT(equals);
  const size_t gpus = add_title(&title, x);
  struct dl_report *g = dl_report_group(r, NULL, dl_text_str(&title));
  double epoch_j, epoch_s;
  dl_record_mean_epoch(run, &epoch_j, &epoch_s);
  energy_lines(line, x, gpus);
  figure(&line[POWER], "Power", DL_WATTS, "W", run->energy_j / run->duration_s);
  dl_answer_number(&line[POWER], "GPU utilization ", 100 * run->gpu_util, " %");
  figure(&line[EPOCH], "Epoch", DL_ENERGY, "J", epoch_j);
  dl_answer_quantity(&line[EPOCH], DL_TIME, "s", epoch_s, "");
  emission_line(&line[EMISSIONS], x);
  facility_line(&line[FACILITY], x);
  dl_text_equivalents(&equals, x->foot, dl_paid_energy(x->foot, answer_j(x)));
  dl_answer_text(&line[EQUIVALENTS], "Equals", dl_text_str(&equals));
  figure(&line[PROGRAM], "Program", DL_KWH, "J", x->result->own_cpu_j);
  if (!isnan(x->result->own_cpu_j))
    dl_answer_number(&line[PROGRAM], "", 100 * x->result->cpu_share,
                     " % of the CPUs' energy, by CPU time");
  phase_line(&line[PHASES], &x->result->phases);
  estimate_line(&line[ESTIMATE], x);
  basis_line(&line[BASIS], x);
  if (!line[PHASES].label)
    dl_answer_text(&line[BETTER], "Better", better(x));
  line[BETTER].hint = true;
  dl_answer_lines(g, line, N_LINES);
  if (x->trace && !dl_sensors_measure(x->sensors))
    dl_report_say(g, "Recording: %s", x->trace);
  dl_report_hint(g, "Devices, phases and all figures: --details.");
}
