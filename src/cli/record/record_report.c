/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of dlest record, and the list of sensors. */

#include "cli/record/record_report.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "estimate/accounting/core_power.h"

static const char *const parts[] = {[DL_METER_GPU] = "GPU",
                                    [DL_METER_CPU] = "CPU",
                                    [DL_METER_RAM] = "memory",
                                    [DL_METER_NODE] = "node"};

const char *dl_sensor_part(const struct dl_sensor *x) {
  return x->assumed ? "CPU (assumed)" : parts[x->part];
}

struct dl_value dl_sensor_title(const struct dl_sensors *s,
                                const struct dl_sensor *x, struct dl_text *to) {
  size_t same = 0;
  for (size_t i = 0; i < s->n; i++)
    same += s->s[i].part == x->part && strcmp(s->s[i].name, x->name) == 0;
  dl_text_clear(to);
  dl_text_add(to, x->name);
  if (same > 1)
    dl_text_printf(to, " (%zu)", x->index);
  return dl_string(dl_text_str(to));
}

static void add_devices(struct dl_report *r, const struct dl_sensors *s,
                        double seconds) {
  const struct dl_column columns[] = {
      {"part", "part", NULL, DL_CODE, false},
      {"device", "device", NULL, DL_CODE, false},
      {"energy_j", "energy", "J", DL_KWH, false},
      {"power_w", "mean power", "W", DL_WATTS, false},
      {"assumed", NULL, NULL, DL_CODE, false},
  };
  struct dl_table *t = DL_TABLE(r, "devices", "By device", columns, false);
  struct dl_table *chart = dl_report_chart(r, "Energy by device", DL_KWH, "J");
  DL_TEXT(name);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *x = &s->s[i];
    DL_ROW(t, NULL, dl_string(dl_sensor_part(x)), dl_sensor_title(s, x, &name),
           dl_number(x->used_j), dl_number(x->used_j / seconds),
           dl_bool(x->assumed));
    dl_chart_bar(chart, dl_text_str(&name), x->used_j, NAN, NAN);
  }
}

void dl_record_mean_epoch(const struct dl_run *run, double *energy_j,
                          double *seconds) {
  double n = 0, j = 0, s = 0;
  for (size_t i = 0; i < run->n_epochs; i++)
    if (run->epoch[i].part == DL_PART_EPOCH) {
      j += run->epoch[i].energy_j;
      s += run->epoch[i].duration_s;
      n++;
    }
  *energy_j = n > 0 ? j / n : NAN;
  *seconds = n > 0 ? s / n : NAN;
}

/* Adds a table of the phases that the program marked. */
static void add_phases(struct dl_report *r, const struct dl_phases *p) {
  static const struct dl_column columns[] = {
      {"phase", "phase", NULL, DL_CODE, false},
      {"duration_s", "time", "s", DL_TIME, false},
      {"energy_j", "energy", "J", DL_ENERGY, false},
      {"energy_share", "share", "%", DL_PERCENT, false},
  };
  double all_j = 0;
  if (p->n == 0)
    return;
  for (size_t i = 0; i < p->n; i++)
    all_j += p->phase[i].energy_j;
  struct dl_table *t = DL_TABLE(r, "phases", "By phase", columns, false);
  for (size_t i = 0; i < p->n; i++) {
    const struct dl_phase *x = &p->phase[i];
    const struct dl_value row[] = {
        dl_string(*x->name ? x->name : "before the first mark"),
        dl_number(x->seconds), dl_number(x->energy_j),
        dl_number(x->energy_j / all_j)};
    if (x->seconds > 0)
      dl_table_row(t, row, NULL);
  }
}

/* Adds the totals of all measurements; cost and emissions if a grid is given.
 */
static void add_energy(struct dl_report *r, const struct dl_record_summary *x) {
  const struct dl_run *run = x->run;
  struct dl_costs costs = dl_footprint_costs(x->foot, run->energy_j);
  const char *share_by =
      x->result->share_by_group ? "control group" : "processes";
  DL_LINES(
      r, {"energy_j", "Energy", "J", DL_KWH, dl_number(run->energy_j)},
      {.key = "energy_kwh", .value = dl_number(run->energy_j / DL_J_PER_KWH)},
      {"boundary", "Boundary", NULL, DL_CODE, dl_string(run->boundary)},
      {"gpu_energy_j", "GPUs", "J", DL_KWH, dl_known(run->gpu_energy_j)},
      {"cpu_energy_j", "CPUs", "J", DL_KWH, dl_known(run->cpu_energy_j)},
      {"ram_energy_j", "Memory", "J", DL_KWH, dl_known(run->ram_energy_j)},
      {"node_energy_j", "Node", "J", DL_KWH, dl_known(run->node_energy_j)},
      {"cpu_share", "Program's share of CPU time", "%", DL_PERCENT,
       dl_known(x->result->cpu_share)},
      {"cpu_share_by", "CPU time from", NULL, DL_CODE,
       dl_known_string(isnan(x->result->cpu_share) ? NULL : share_by)},
      {"own_cpu_energy_j", "Program's CPU energy", "J", DL_KWH,
       dl_known(x->result->own_cpu_j)},
      {"facility_energy_j", "With cooling and power distribution", "J", DL_KWH,
       dl_known(costs.facility_j)},
      {"co2e_g", "Emissions", "g CO2e", DL_MASS, dl_known(costs.co2e_g)},
      {"cost", "Cost", x->foot->currency, DL_PLAIN, dl_known(costs.price)},
      {"water_l", "Water", "L", DL_PLAIN, dl_known(costs.water_l)});
  DL_LINES(
      r, {.key = "intensity_g_kwh", .value = dl_number(x->foot->intensity.x)},
      {.key = "intensity_of", .value = dl_string(x->foot->intensity.of)},
      {.key = "intensity_year", .value = dl_number(x->foot->intensity.year)},
      {.key = "intensity_source",
       .value = dl_string(x->foot->intensity.source)},
      {.key = "pue", .value = dl_number(x->foot->pue.x)},
      {.key = "wue_l_kwh", .value = dl_number(x->foot->wue)},
      {.key = "site",
       .value = dl_string(x->foot->site ? x->foot->site->head.id : NULL)});
  DL_TEXT(equals);
  dl_text_equivalents(&equals, x->foot, dl_paid_energy(x->foot, run->energy_j));
  dl_report_add(r, NULL, equals.len > 0 ? "Equals" : NULL, NULL, DL_CODE,
                dl_string(dl_text_str(&equals)));
  dl_add_equivalents(r, x->foot, dl_paid_energy(x->foot, run->energy_j));
}

struct dl_interval dl_record_assumed(const struct dl_record_summary *x,
                                     bool of_program) {
  const struct dl_sensors *s = x->sensors;
  const double share = of_program ? dl_or(x->result->cpu_share, 1) : 1;
  const double all_j = s->cpu_tdp_w * x->run->duration_s;
  struct dl_interval w = DL_NO_INTERVAL;
  for (size_t i = 0; i < s->n; i++)
    if (s->s[i].assumed)
      dl_core_power_range((const double[3]){1, 1, 1}, s->s[i].used_j / all_j, 1,
                          &w);
  return (struct dl_interval){w.x * all_j * share, w.low * all_j * share,
                              w.high * all_j * share};
}

/* Adds the energy of CPUs without a sensor by their load, as the accounting of
 * jobs has it; its costs where nothing else is known. */
static void add_assumed(struct dl_report *r,
                        const struct dl_record_summary *x) {
  static const struct dl_column low = {"cpu_estimate_low_j", "90 % interval",
                                       "J", DL_KWH, false};
  const struct dl_interval j = dl_record_assumed(x, false);
  const struct dl_value bounds[2] = {dl_known(j.low), dl_known(j.high)};
  const struct dl_costs costs = dl_footprint_costs(
      x->foot,
      dl_sensors_measure(x->sensors) ? NAN : dl_record_assumed(x, true).x);
  if (isnan(j.x))
    return;
  DL_LINES(r, {"cpu_estimate_j", "CPUs, estimated from load and TDP", "J",
               DL_KWH, dl_number(j.x)});
  dl_report_range(r, &low, "cpu_estimate_high_j", bounds);
  DL_LINES(r,
           {"own_cpu_estimate_j", "Program's part of it", "J", DL_KWH,
            dl_known(j.x * x->result->cpu_share)},
           {"assumed", "Assumed", NULL, DL_CODE, dl_string(x->assumed)},
           {"assumed_co2e_g", "Emissions, assumed", "g CO2e", DL_MASS,
            dl_known(costs.co2e_g)},
           {"assumed_cost", "Cost, assumed", x->foot->currency, DL_PLAIN,
            dl_known(costs.price)});
}

static void add_estimate(struct dl_report *r,
                         const struct dl_record_summary *x) {
  const struct dl_record_estimate *e = x->estimate;
  if (!e->method)
    return;
  const struct dl_column low = {"estimate_low_j", "90 % interval", "J", DL_KWH,
                                false};
  const struct dl_value bounds[2] = {dl_known(e->energy_j.low),
                                     dl_known(e->energy_j.high)};
  const struct dl_report_line lines[] = {
      {"estimate_method", "Estimated by method", NULL, DL_CODE,
       dl_string(e->method)},
      {"estimate_j",
       e->of_cpus ? "Estimate for the CPUs" : "Estimate for the GPUs", "J",
       DL_KWH, dl_number(e->energy_j.x)}};
  const struct dl_report_line behind[] = {
      {"estimate_error", "Error of the estimate", "%", DL_PERCENT,
       dl_number(e->energy_j.x / e->measured_j - 1)},
      {"estimate_duration_s", "Estimated time", "s", DL_TIME,
       dl_known(e->duration_s)}};
  dl_report_lines(r, lines, DL_LENGTH(lines));
  if (!isnan(e->energy_j.low))
    dl_report_range(r, &low, "estimate_high_j", bounds);
  dl_report_lines(r, behind, DL_LENGTH(behind));
}

/* Reasons for having no estimate. */
static const char *const not_compared[] = {
    [DL_LACKS_GPU] = "the GPU is unknown",
    [DL_LACKS_GPU_ENERGY] = "no GPU energy was measured",
    [DL_LACKS_CPU_ENERGY] = "no CPU energy was measured",
    [DL_LACKS_REQUESTS] =
        "the number of requests is unknown; give --set requests=N",
    [DL_LACKS_EPOCHS] =
        "no epochs were found in the power; the program can mark them "
        "(DLEST_MARKS in 'man dlest-record')",
    [DL_LACKS_SAMPLES] =
        "the number of training samples is unknown; give --dataset or --set "
        "train_samples=N"};

const char *dl_record_lack_words(enum dl_record_lack lacks) {
  return not_compared[lacks];
}

void dl_record_details(struct dl_report *r, const struct dl_record_summary *x) {
  const struct dl_run *run = x->run;
  double seconds = run->duration_s;
  bool several = x->job->nodes > 1;
  double epoch_j, epoch_s;
  dl_record_mean_epoch(run, &epoch_j, &epoch_s);
  const struct dl_report_line lines[] = {
      {"host", several ? "Node" : NULL, NULL, DL_CODE,
       dl_known_string(*x->job->host ? x->job->host : NULL)},
      {"nodes", several ? "Number of nodes" : NULL, NULL, DL_CODE,
       dl_count(x->job->nodes)},
      {"duration_s", "Time", "s", DL_TIME, dl_number(seconds)},
      {"power_w", "Mean power", "W", DL_WATTS,
       dl_number(run->energy_j / seconds)},
      {"gpu_util", "GPU utilization", "%", DL_PERCENT, dl_known(run->gpu_util)},
      {"epochs", "Epochs", NULL, DL_CODE, dl_known(run->epochs)},
      {"epochs_verdict", "Epoch detection", NULL, DL_CODE,
       dl_known_string(run->epochs_verdict)},
      {"epoch_energy_j", "Epoch energy", "J", DL_ENERGY, dl_known(epoch_j)},
      {"epoch_s", "Epoch time", "s", DL_TIME, dl_known(epoch_s)}};
  const struct dl_report_line last[] = {
      {"arch", NULL, NULL, DL_CODE, dl_known_string(run->arch)},
      {"gpu", NULL, NULL, DL_CODE, dl_known_string(run->gpu)},
      {"n_gpus", NULL, NULL, DL_CODE, dl_known(run->n_gpus)},
      {"samples", "Samples", NULL, DL_CODE, dl_count(x->result->n_samples)},
      {"exit_status", NULL, NULL, DL_CODE,
       dl_number((double)x->result->exit_status)},
      {"trace", "Recording", NULL, DL_CODE, dl_known_string(x->trace)}};
  add_energy(r, x);
  add_assumed(r, x);
  dl_report_lines(r, lines, DL_LENGTH(lines));
  add_estimate(r, x);
  dl_report_lines(r, last, DL_LENGTH(last));
  if (x->sensors->n > 1 || !dl_sensors_measure(x->sensors))
    add_devices(r, x->sensors, seconds);
  add_phases(r, &x->result->phases);
  if (run->arch && x->estimate->lacks != DL_LACKS_NOTHING)
    dl_report_say(r, "Not compared with an estimate: %s.",
                  not_compared[x->estimate->lacks]);
}

struct dl_report *dl_sensors_report(const struct dl_sensors *s) {
  static const struct dl_column columns[] = {
      {"kind", "kind", NULL, DL_CODE, false},
      {"part", "part", NULL, DL_CODE, false},
      {"device", "device", NULL, DL_CODE, false},
      {"id", "identifier", NULL, DL_CODE, false},
      {"power_w", "power", "W", DL_WATTS, false},
      {"counter", "energy counter", NULL, DL_CODE, false},
      {"limit_w", "limit", "W", DL_WATTS, false},
  };
  static const struct dl_column notes[] = {
      {"kind", NULL, NULL, DL_CODE, false},
      {"note", NULL, NULL, DL_CODE, false}};
  struct dl_report *r = dl_report_new();
  struct dl_table *t = DL_TABLE(r, "sensors", NULL, columns, true);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *x = &s->s[i];
    const struct dl_value row[] = {
        dl_string(x->kind->name), dl_string(parts[x->part]),
        dl_string(x->name),       dl_string(x->id),
        dl_number(x->power_w),    dl_bool(!isnan(x->counter_j)),
        dl_number(x->limit_w)};
    dl_table_row(t, row, NULL);
  }
  t = DL_TABLE(r, "notes", NULL, notes, false);
  for (size_t i = 0; i < s->n_notes; i++) {
    DL_ROW(t, NULL, dl_string(s->note[i].kind->name),
           dl_string(s->note[i].text));
    dl_report_say(r, "%s: %s", s->note[i].kind->name, s->note[i].text);
  }
  if (s->n == 0 && s->n_notes == 0)
    dl_report_say(r, "No sensor of power or energy was found.");
  return r;
}
