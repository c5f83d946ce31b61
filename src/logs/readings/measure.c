/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/measure.h"

#include <math.h>

#include "logs/readings/memory_join.h"

const struct dl_track *dl_measure_track(const struct dl_track *track, size_t n,
                                        enum dl_meter_kind kind) {
  for (size_t i = 0; i < n; i++)
    if (track[i].kind[kind].n_meters > 0)
      return &track[i];
  return NULL;
}

void dl_measure_boundary(struct dl_run *run) {
  double gpu = dl_run_get(run, "gpu_energy_j");
  double cpu = dl_run_get(run, "cpu_energy_j");
  double ram = dl_run_get(run, "ram_energy_j");
  double node = dl_run_get(run, "node_energy_j");
  const char *parts = dl_parts_boundary(!isnan(gpu), !isnan(cpu), !isnan(ram));
  if (!isnan(node)) {
    dl_run_set(run, "energy_j", node);
    dl_run_set(run, "rest_energy_j", node - gpu);
    dl_run_set_text(run, "boundary", "node");
  } else if (parts) {
    dl_run_set(run, "energy_j",
               (isnan(gpu) ? 0 : gpu) + (isnan(cpu) ? 0 : cpu) +
                   (isnan(ram) ? 0 : ram));
    dl_run_set_text(run, "boundary", parts);
  }
}

static void set_total(struct dl_run *run, const struct dl_kind_total *total,
                      const char *energy, const char *power) {
  dl_run_set(run, energy, dl_curve_round(total->energy_j));
  dl_run_set(run, power, total->power_w);
}

static void set_gpus(struct dl_run *run, const struct dl_track *t) {
  const struct dl_kind_total *gpu = &t->kind[DL_METER_GPU];
  set_total(run, gpu, "gpu_energy_j", "gpu_power_w");
  if (isnan(gpu->power_w)) /* a counter alone */
    dl_run_set(run, "gpu_power_w", gpu->energy_j / dl_track_duration(t));
  dl_run_set_text(run, "gpu", t->gpu);
  dl_run_set(run, "n_gpus", (double)gpu->n_meters);
  dl_run_set(run, "gpu_util", gpu->util);
  dl_run_set(run, "gpu_idle_w", gpu->idle_w);
  dl_run_set(run, "gpu_peak_w", gpu->peak_w);
  dl_run_set(run, "gpu_limit_w", gpu->limit_w);
  dl_run_set(run, "counter_deviation", gpu->integral_j / gpu->counter_j - 1);
}

void dl_measure(struct dl_run *run, const struct dl_track *track, size_t n) {
  static const struct {
    enum dl_meter_kind kind;
    const char *energy, *power;
  } others[] = {{DL_METER_CPU, "cpu_energy_j", "cpu_power_w"},
                {DL_METER_RAM, "ram_energy_j", "ram_power_w"},
                {DL_METER_NODE, "node_energy_j", "node_power_w"}};
  const struct dl_track *t = dl_measure_track(track, n, DL_METER_GPU);
  if (t)
    set_gpus(run, t);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    t = dl_measure_track(track, n, others[i].kind);
    if (t)
      set_total(run, &t->kind[others[i].kind], others[i].energy,
                others[i].power);
  }
  for (size_t i = 0; i < n; i++)
    if (!isnan(track[i].kind[DL_METER_CPU].util)) {
      dl_run_set(run, "cpu_util", track[i].kind[DL_METER_CPU].util);
      break;
    }
  dl_run_set(run, "duration_s", dl_track_duration(track));
  dl_run_set(run, "samples", (double)track->samples);
  dl_run_set(run, "interval_s", track->interval_s);
  dl_run_set(run, "missing", track->missing);
  if (dl_clock_is_dated(track->clock, track->clock)) {
    char start[DL_TIMESTAMP_SIZE];
    dl_run_set_text(run, "start_time",
                    dl_format_timestamp(start, track->first_ns,
                                        track->clock == DL_CLOCK_ZONED));
  }
  dl_measure_boundary(run);
}
