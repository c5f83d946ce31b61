/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of dlest record, and the list of sensors. */

#include "cli/record/record_report.h"

#include <math.h>

#include "base/memory.h"

static const char *const parts[] = {[DL_METER_GPU] = "GPU",
                                    [DL_METER_CPU] = "CPU",
                                    [DL_METER_RAM] = "memory",
                                    [DL_METER_NODE] = "node"};

static void add_devices(struct dl_report *r, const struct dl_sensors *s) {
  static const struct dl_column columns[] = {
      {"part", "part", NULL, DL_CODE, false},
      {"device", "device", NULL, DL_CODE, false},
      {"energy_j", "energy", "J", DL_ENERGY, false},
  };
  struct dl_table *t = dl_report_table(r, "devices", "By device", columns,
                                       DL_LENGTH(columns), false);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_value row[] = {dl_string(parts[s->s[i].part]),
                                   dl_string(s->s[i].name),
                                   dl_number(s->s[i].used_j)};
    dl_table_row(t, row, NULL);
  }
}

struct dl_report *dl_record_report(const struct dl_run *run,
                                   const struct dl_sensors *s,
                                   const struct dl_record_result *result,
                                   const char *trace) {
  struct dl_report *r = dl_report_new();
  if (!r)
    return NULL;
  double seconds = run->duration_s;
  const struct dl_report_line lines[] = {
      {"energy_j", "Energy", "J", DL_ENERGY, dl_number(run->energy_j)},
      {"energy_kwh", "in kWh", NULL, DL_PLAIN,
       dl_number(run->energy_j / 3.6e6)},
      {"boundary", "Boundary", NULL, DL_CODE, dl_string(run->boundary)},
      {"gpu_energy_j", "GPUs", "J", DL_ENERGY, dl_known(run->gpu_energy_j)},
      {"cpu_energy_j", "CPUs", "J", DL_ENERGY, dl_known(run->cpu_energy_j)},
      {"ram_energy_j", "Memory", "J", DL_ENERGY, dl_known(run->ram_energy_j)},
      {"node_energy_j", "Node", "J", DL_ENERGY, dl_known(run->node_energy_j)},
      {"duration_s", "Time", "s", DL_TIME, dl_number(seconds)},
      {"power_w", "Mean power", "W", DL_PLAIN,
       dl_number(run->energy_j / seconds)},
      {"gpu_util", "GPU utilization", "%", DL_PERCENT, dl_known(run->gpu_util)},
      {"epochs", "Epochs", NULL, DL_CODE, dl_known(run->epochs)},
      {"epochs_verdict", "epoch detection", NULL, DL_CODE,
       dl_known_string(run->epochs_verdict)},
      {"epoch_energy_j", "Epoch energy", "J", DL_ENERGY,
       dl_known(run->epoch_energy_j)},
      {"epoch_s", "Epoch time", "s", DL_TIME, dl_known(run->epoch_s)},
      {"samples", "Samples", NULL, DL_CODE, dl_count(result->n_samples)},
      {"exit_status", NULL, NULL, DL_CODE,
       dl_number((double)result->exit_status)},
      {"trace", "Recording", NULL, DL_CODE, dl_known_string(trace)}};
  dl_report_lines(r, lines, DL_LENGTH(lines));
  if (s->n > 1)
    add_devices(r, s);
  return r;
}

struct dl_report *dl_sensors_report(const struct dl_sensors *s) {
  static const struct dl_column columns[] = {
      {"kind", "kind", NULL, DL_CODE, false},
      {"part", "part", NULL, DL_CODE, false},
      {"device", "device", NULL, DL_CODE, false},
      {"id", "identifier", NULL, DL_CODE, false},
      {"power_w", "power", "W", DL_PLAIN, false},
      {"counter", "energy counter", NULL, DL_CODE, false},
      {"limit_w", "limit", "W", DL_PLAIN, false},
  };
  static const struct dl_column notes[] = {
      {"kind", NULL, NULL, DL_CODE, false},
      {"note", NULL, NULL, DL_CODE, false}};
  struct dl_report *r = dl_report_new();
  struct dl_table *t =
      dl_report_table(r, "sensors", NULL, columns, DL_LENGTH(columns), true);
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_sensor *x = &s->s[i];
    const struct dl_value row[] = {
        dl_string(x->kind->name), dl_string(parts[x->part]),
        dl_string(x->name),       dl_string(x->id),
        dl_number(x->power_w),    dl_bool(!isnan(x->counter_j)),
        dl_number(x->limit_w)};
    dl_table_row(t, row, NULL);
  }
  t = dl_report_table(r, "notes", NULL, notes, DL_LENGTH(notes), false);
  for (size_t i = 0; i < s->n_notes; i++) {
    const struct dl_value row[] = {dl_string(s->note[i].kind->name),
                                   dl_string(s->note[i].text)};
    dl_table_row(t, row, NULL);
    dl_report_sayf(r, "%s: %s", s->note[i].kind->name, s->note[i].text);
  }
  if (s->n == 0 && s->n_notes == 0)
    dl_report_say(r, "No sensor of power or energy was found.");
  return r;
}
