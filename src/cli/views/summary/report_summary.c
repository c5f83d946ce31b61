/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/report_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "cli/views/report_rows.h"
#include "cli/views/summary/answer.h"
#include "output/units.h"

enum {
  ENERGY,
  FACILITY,
  GPU_TIME,
  LOST,
  UNKNOWN,
  BASIS,
  EMISSIONS,
  COST,
  WATER,
  EQUIVALENTS,
  N_LINES
};

static void figure(struct dl_answer_line *l, const char *label,
                   enum dl_style style, const char *unit, double x) {
  dl_answer_figure(l,
                   &(struct dl_answer){label, style, unit, x, NAN, NAN, NAN});
}

/* "5,912" */
static const char *grouped(char number[DL_NUMBER_SIZE], size_t n) {
  snprintf(number, DL_NUMBER_SIZE, "%zu", n);
  return dl_group_digits(number);
}

/* "9.79 kWh measured (2 jobs)". */
static void add_part(struct dl_answer_line *l, double energy_j,
                     const char *what, size_t jobs) {
  char n[DL_NUMBER_SIZE];
  if (jobs == 0)
    return;
  dl_answer_quantity(l, DL_KWH, "J", energy_j, "");
  dl_text_printf(&l->remark, " %s (%s job%s)", what, grouped(n, jobs),
                 jobs == 1 ? "" : "s");
}

/* "0.426 kWh by cores (90 % interval 0.21 to 0.7 kWh)". */
static void add_cores(struct dl_answer_line *l, const struct dl_sums *s) {
  const struct dl_value low = dl_number(s->cores_low_j),
                        high = dl_number(s->cores_high_j);
  dl_answer_quantity(l, DL_KWH, "J", s->cores_j, " by cores (90 % interval ");
  dl_show(&l->remark, DL_KWH, "J", &low, NULL);
  dl_text_add(&l->remark, " to ");
  dl_show(&l->remark, DL_KWH, "J", &high, NULL);
  dl_text_add(&l->remark, ")");
}

static void energy_lines(struct dl_answer_line line[N_LINES],
                         const struct dl_sums *s,
                         const struct dl_footprint *foot) {
  const double energy = dl_sums_energy(s);
  struct dl_answer_line *l = &line[ENERGY];
  figure(l, "Energy", DL_KWH, "J", energy);
  if (s->estimated == 0 && s->measured > 0)
    dl_answer_remark(l, "measured");
  if (s->measured == 0 && s->estimated > 0)
    dl_answer_remark(l, "estimated");
  if (s->measured > 0 && s->estimated > 0) {
    add_part(l, s->measured_j, "measured", s->measured);
    add_part(l, energy - s->measured_j, "estimated", s->estimated);
  }
  if (s->cores_low_j < s->cores_high_j)
    add_cores(l, s);
  if (strcmp(s->boundary, "unknown") == 0)
    dl_answer_remark(l, "boundary unknown");
  else if (s->boundary[0] && strcmp(s->boundary, "mixed") != 0)
    dl_answer_remark(l, "%s", dl_boundary_words(s->boundary, true));
  if (!isnan(foot->pue.x)) {
    figure(&line[FACILITY], "Facility", DL_KWH, "J", energy * foot->pue.x);
    dl_answer_number(&line[FACILITY], "PUE ", foot->pue.x, "");
  }
}

static void gpu_line(struct dl_answer_line *l, const struct dl_sums *s) {
  const double idle = dl_sums_idle(s), known = s->known_gpu_s / s->gpu_s;
  if (!(s->gpu_s > 0))
    return;
  figure(l, "GPU time", DL_PLAIN, "h", s->gpu_s / DL_S_PER_HOUR);
  dl_answer_number(l, "", 100 * idle, " % idle");
  if (isnan(idle))
    dl_answer_remark(l, "utilization unknown: sacct has no gres/gpuutil");
  else if (known < 1)
    dl_answer_number(l, "utilization known for ", 100 * known, " %");
}

/* Adds the energy of failed jobs, and why jobs have none. */
static void lost_lines(struct dl_answer_line line[N_LINES],
                       const struct dl_sums *s) {
  char n[DL_NUMBER_SIZE];
  const size_t gpus = s->unknown - s->unknown_mig - s->unknown_cpu;
  struct dl_answer_line *l = &line[LOST];
  if (s->failed > 0) {
    figure(l, "Failed", DL_KWH, "J", s->failed_j);
    dl_answer_number(l, "", 100 * s->failed_j / s->energy_j,
                     " % of the energy");
    dl_answer_remark(l, "%s failed or cancelled job%s", grouped(n, s->failed),
                     s->failed == 1 ? "" : "s");
  }
  l = &line[UNKNOWN];
  if (s->unknown == 0)
    return;
  l->label = "Unknown";
  dl_text_printf(&l->figure, "%s job%s", grouped(n, s->unknown),
                 s->unknown == 1 ? "" : "s");
  if (s->unknown_mig > 0)
    dl_answer_remark(l, "MIG %s", grouped(n, s->unknown_mig));
  if (gpus > 0)
    dl_answer_remark(l, "other GPUs %s", grouped(n, gpus));
  if (s->unknown_cpu > 0)
    dl_answer_remark(l, "CPU %s", grouped(n, s->unknown_cpu));
}

/* Says what sums hide. */
static void basis_line(struct dl_answer_line *l, const struct dl_sums *s) {
  DL_TEXT(t);
  if (s->at_tdp > 0) {
    char n[DL_NUMBER_SIZE];
    dl_text_printf(&t, "an upper bound for %s job%s of unknown utilization",
                   grouped(n, s->at_tdp), s->at_tdp == 1 ? "" : "s");
  }
  if (strcmp(s->boundary, "mixed") == 0)
    dl_text_printf(&t, "%sboundaries differ", t.len > 0 ? "; " : "");
  dl_answer_text(l, "Basis", dl_text_str(&t));
}

void dl_report_answer(struct dl_report *r, const struct dl_sums *s,
                      const struct dl_footprint *of, struct dl_text *title) {
  const struct dl_footprint own = dl_sums_footprint(of, s), *foot = &own;
  const struct dl_costs costs = dl_footprint_costs(foot, dl_sums_energy(s));
  struct dl_answer_line line[N_LINES] = {0};
  DL_TEXT(equals);
  struct dl_report *g = dl_report_group(r, NULL, dl_text_str(title));
  energy_lines(line, s, foot);
  gpu_line(&line[GPU_TIME], s);
  lost_lines(line, s);
  basis_line(&line[BASIS], s);
  figure(&line[EMISSIONS], "CO2e", DL_MASS, "g", costs.co2e_g);
  if (isnan(foot->intensity.x) && !foot->hours) {
    dl_answer_remark(&line[EMISSIONS],
                     "add --country DE or --cloud aws:us-east-1");
    line[EMISSIONS].hint = true;
  } else {
    dl_answer_number(&line[EMISSIONS], "", foot->intensity.x, " g/kWh");
    if (foot->intensity.of)
      dl_answer_remark(&line[EMISSIONS], "%s", foot->intensity.of);
  }
  if (!isnan(costs.price))
    figure(&line[COST], "Cost", DL_PLAIN, foot->currency, costs.price);
  if (!isnan(costs.water_l))
    figure(&line[WATER], "Water", DL_PLAIN, "L", costs.water_l);
  dl_text_equivalents(&equals, foot, dl_paid_energy(foot, dl_sums_energy(s)));
  dl_answer_text(&line[EQUIVALENTS], "Equals", dl_text_str(&equals));
  dl_answer_lines(g, line, N_LINES);
}

void dl_report_hints(struct dl_report *r, bool months, bool all, bool explain,
                     bool estimated) {
  DL_TEXT(t);
  dl_text_add(&t, months ? "Months: --by month. " : "");
  dl_text_add(&t, all ? "" : "Each job: --all. ");
  if (!explain)
    dl_text_add(&t, estimated ? "Sources of the estimates: --explain."
                              : "Details: --explain.");
  if (t.len > 0)
    dl_report_hint(r, dl_text_str(&t));
}
