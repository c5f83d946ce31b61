/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/views/summary/software_carbon.h"

#include <math.h>

#include "base/constants.h"

size_t dl_functional_units(struct dl_functional_unit unit[DL_MOST_UNITS],
                           const struct dl_predict_answer *s) {
  const struct dl_job *job = &s->result.job;
  const struct dl_run *run = job->run;
  const bool tokens = s->result.predictions.served.tokens;
  size_t n = 1;
  double total = job->epochs * job->train_samples * job->seq_len;
  if (dl_run_is_inference(run)) {
    unit[0] = (struct dl_functional_unit){tokens ? "request" : "sample",
                                          run->requests};
    total = tokens ? run->requests * run->output_tokens : NAN;
    if (total > 0)
      unit[n++] =
          (struct dl_functional_unit){"1,000 output tokens", total / 1e3};
    return n;
  }
  unit[0] = (struct dl_functional_unit){"training", 1};
  if (s->result.predictions.language && total > 0)
    unit[n++] = (struct dl_functional_unit){"1,000 tokens", total / 1e3};
  return n;
}

struct dl_interval dl_predict_energy(const struct dl_predict_answer *s) {
  const struct dl_estimate *e = dl_result_best(&s->result);
  if (!isnan(s->node_j.x) || !e)
    return s->node_j;
  return (struct dl_interval){e->energy_j.x, e->energy_j.low, e->energy_j.high};
}

double dl_predict_paid(const struct dl_predict_answer *s) {
  return isnan(s->node_j.x) ? dl_paid_energy(&s->o->foot, 1) : s->node_paid;
}

double dl_sci_energy(const struct dl_predict_answer *s) {
  return dl_predict_energy(s).x * dl_predict_paid(s);
}

void dl_report_sci(struct dl_report *r, const struct dl_predict_answer *s) {
  static const struct dl_column columns[] = {
      {"unit", "functional unit", NULL, DL_CODE, DL_MAIN},
      {"r", "R", NULL, DL_PLAIN, DL_MAIN},
      {"energy_kwh", "E", "kWh", DL_PLAIN, DL_MAIN},
      {"intensity_g_kwh", "I", "g/kWh", DL_PLAIN, DL_MAIN},
      {"embodied_g", "M", "g", DL_MASS, DL_MAIN},
      {"sci_g", "SCI", "g CO2e", DL_MASS, DL_MAIN}};
  const double g = s->o->foot.intensity.x;
  const double kwh = dl_sci_energy(s) / DL_J_PER_KWH;
  struct dl_functional_unit unit[DL_MOST_UNITS];
  if (isnan(g) || isnan(kwh))
    return;
  const size_t n = dl_functional_units(unit, s);
  struct dl_table *t = DL_TABLE(
      r, "sci", "Software Carbon Intensity (ISO/IEC 21031), (E I + M) / R",
      columns, false);
  for (size_t i = 0; i < n; i++)
    DL_ROW(t, NULL, dl_string(unit[i].name), dl_number(unit[i].r),
           dl_number(kwh), dl_number(g), dl_number(s->embodied_g),
           dl_number((kwh * g + s->embodied_g) / unit[i].r));
  if (isnan(s->embodied_g))
    dl_report_hint(r, "M, and with it the SCI, needs the node that the job "
                      "runs on: --node NAME --embodied.");
}
