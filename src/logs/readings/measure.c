/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/measure.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

const enum dl_run_id dl_energy_column[] = {[DL_METER_GPU] = DL_RUN_gpu_energy_j,
                                           [DL_METER_CPU] = DL_RUN_cpu_energy_j,
                                           [DL_METER_RAM] = DL_RUN_ram_energy_j,
                                           [DL_METER_NODE] =
                                               DL_RUN_node_energy_j};

const enum dl_run_id dl_power_column[] = {[DL_METER_GPU] = DL_RUN_gpu_power_w,
                                          [DL_METER_CPU] = DL_RUN_cpu_power_w,
                                          [DL_METER_RAM] = DL_RUN_ram_power_w,
                                          [DL_METER_NODE] =
                                              DL_RUN_node_power_w};

const struct dl_log_summary *dl_measure_find(const struct dl_log_summary *log,
                                             size_t n,
                                             enum dl_meter_kind kind) {
  for (size_t i = 0; i < n; i++)
    if (log[i].kind[kind].n_meters > 0)
      return &log[i];
  return NULL;
}

/* Whether an energy of a node is no more than a sum of its parts: a node takes
 * more than they do. */
static bool is_sum(double node_j, double parts_j) {
  const double share = 1e-3;
  return fabs(node_j - parts_j) < share * parts_j;
}

void dl_measure_boundary(struct dl_run *run) {
  bool gpu = !isnan(run->gpu_energy_j);
  bool cpu = !isnan(run->cpu_energy_j);
  bool ram = !isnan(run->ram_energy_j);
  const char *boundary = dl_parts_boundary(gpu, cpu, ram);
  double energy_j = dl_or(run->gpu_energy_j, 0) + dl_or(run->cpu_energy_j, 0) +
                    dl_or(run->ram_energy_j, 0);
  if (!isnan(run->node_energy_j) && !is_sum(run->node_energy_j, energy_j) &&
      !is_sum(run->node_energy_j, run->gpu_energy_j)) {
    energy_j = run->node_energy_j;
    boundary = "node";
    dl_run_set_number(run, DL_RUN_rest_energy_j, energy_j - run->gpu_energy_j);
  }
  if (!boundary)
    return;
  dl_run_set_number(run, DL_RUN_energy_j, energy_j);
  dl_run_lend_text(run, DL_RUN_boundary, boundary);
}

static void set_nodes(struct dl_run *run, double n) {
  double gpus = run->n_gpus / n;
  dl_run_set_number(run, DL_RUN_n_nodes, n);
  if (n > 1 && gpus >= 1 && gpus == floor(gpus))
    dl_run_set_number(run, DL_RUN_gpus_per_node, gpus);
}

void dl_measure(struct dl_run *run, const struct dl_log_summary *log,
                size_t n) {
  for (int kind = 0; kind < DL_N_METER_KINDS; kind++) {
    const struct dl_log_summary *from =
        dl_measure_find(log, n, (enum dl_meter_kind)kind);
    if (!from)
      continue;
    dl_run_set_number(run, dl_energy_column[kind],
                      dl_energy_curve_round(from->kind[kind].energy_j));
    dl_run_set_number(run, dl_power_column[kind], from->kind[kind].power_w);
  }
  const struct dl_log_summary *gpus = dl_measure_find(log, n, DL_METER_GPU);
  if (gpus) {
    const struct dl_kind_total *gpu = &gpus->kind[DL_METER_GPU];
    if (isnan(gpu->power_w)) /* energy counter only */
      dl_run_set_number(run, DL_RUN_gpu_power_w,
                        gpu->energy_j / gpus->duration_s);
    dl_run_copy_text(run, DL_RUN_gpu, gpus->gpu);
    dl_run_set_number(run, DL_RUN_n_gpus, (double)gpu->n_meters);
    dl_run_set_number(run, DL_RUN_gpu_util, gpu->util);
    dl_run_set_number(run, DL_RUN_gpu_idle_w, gpu->idle_w);
    dl_run_set_number(run, DL_RUN_gpu_peak_w, gpu->peak_w);
    dl_run_set_number(run, DL_RUN_gpu_limit_w, gpu->limit_w);
    dl_run_set_number(run, DL_RUN_counter_deviation,
                      gpu->integral_j / gpu->counter_j - 1);
  }
  for (size_t i = 0; i < n && isnan(run->cpu_util); i++)
    dl_run_set_number(run, DL_RUN_cpu_util, log[i].kind[DL_METER_CPU].util);
  if (log->n_nodes > 0)
    set_nodes(run, (double)log->n_nodes);
  dl_run_set_number(run, DL_RUN_duration_s, log->duration_s);
  dl_run_set_number(run, DL_RUN_samples, (double)log->samples);
  dl_run_set_number(run, DL_RUN_interval_s, log->interval_s);
  dl_run_set_number(run, DL_RUN_missing, log->missing);
  bool zoned = log->span.clock == DL_CLOCK_ZONED;
  if (zoned || log->span.clock == DL_CLOCK_WALL) {
    char start[DL_TIMESTAMP_SIZE];
    dl_run_copy_text(run, DL_RUN_start_time,
                     dl_format_timestamp(start, log->span.start_ns, zoned));
  }
  dl_measure_boundary(run);
}

bool dl_measure_is_dead(const struct dl_log *log,
                        const struct dl_meter_info *info,
                        const struct dl_meter_summary *sum, struct dl_diag *d) {
  const bool gpu = info->kind == DL_METER_GPU;
  if (sum->total.power_w != 0 || sum->total.energy_j > 0 || info->elsewhere ||
      (gpu && log->n_meters < 2))
    return false;
  dl_warn_at(d, log->path, 0,
             gpu ? "GPU '%s' takes 0 W in all samples: its energy is missing, "
                   "unless another's includes it"
                 : "meter '%s' is 0 in all samples: taken as not measured",
             info->id ? info->id
                      : dl_run_columns[dl_power_column[info->kind]].name);
  return !gpu;
}

void dl_measure_doubt_sums(const struct dl_log *log,
                           const struct dl_power_meter *meter, size_t n,
                           struct dl_diag *d) {
  double sum_j[DL_METER_EPOCH + 1] = {0};
  size_t n_working[DL_METER_EPOCH + 1] = {0};
  for (size_t i = 0; i < n; i++) {
    const double energy_j = dl_power_meter_energy(&meter[i]);
    sum_j[log->meter[i].kind] += energy_j;
    n_working[log->meter[i].kind] += energy_j > 0;
  }
  for (size_t i = 0; i < n; i++) {
    const enum dl_meter_kind kind = log->meter[i].kind;
    const double energy_j = dl_power_meter_energy(&meter[i]);
    if (n_working[kind] > 2 && log->meter[i].id &&
        is_sum(energy_j, sum_j[kind] - energy_j))
      dl_warn_at(d, log->path, 0,
                 "meter '%s' has the energy of all others together: if it is "
                 "their sum, leave it out",
                 log->meter[i].id);
  }
}

void dl_measure_warn_counter(const struct dl_log *log,
                             const struct dl_meter_summary *sum,
                             struct dl_diag *d) {
  char duration[DL_NUMBER_SIZE];
  if (sum->no_counter) {
    /* without a power nothing is left */
    (isnan(sum->total.energy_j) ? dl_skip_at : dl_warn_at)(
        d, log->path, 0, "the energy %s: it is no counter and is not used",
        sum->no_counter);
  }
  if (sum->stand_in_s > 0)
    dl_warn_at(d, log->path, 0,
               "the energy counter stands still or is missing for %s: the "
               "power is integrated there",
               dl_format_duration(duration, sum->stand_in_s));
  if (sum->seldom_read)
    dl_warn_at(d, log->path, 0,
               "readings of an energy counter are %s apart: if rows are of "
               "runs, it is no counter; name the columns of a table of runs "
               "'run_id' and 'duration_s'",
               dl_format_duration(duration, sum->interval_s));
  if (sum->coarse_step_j > 0)
    dl_warn_at(d, log->path, 0,
               "the energy counter has steps of %.3g J: the energy may be one "
               "step, %.2g %%, too high or too low",
               sum->coarse_step_j,
               sum->coarse_step_j / sum->total.counter_j * 100);
}

void dl_measure_gpu(struct dl_log_summary *s, const struct dl_log *log,
                    const struct dl_meter_info *info,
                    const struct dl_power_meter *m,
                    const struct dl_meter_summary *sum, struct dl_diag *d) {
  bool zoned = log->clock == DL_CLOCK_ZONED;
  char start[DL_TIMESTAMP_SIZE];
  if (dl_power_meter_hardly_rises(m, sum))
    dl_warn_at(d, log->path, 0,
               "the energy rises by %.3g J in all, less than it begins with: "
               "if it is that of each interval, call its column "
               "energy_delta_j",
               sum->total.counter_j);
  if (!info->id || !(info->of_uuid || dl_cell_is_uuid(info->id)) ||
      (!zoned && log->clock != DL_CLOCK_WALL))
    return;
  DL_GROW(s->device, s->devices_cap, s->n_devices + 1);
  struct dl_run *r = &s->device[s->n_devices++];
  *r = dl_run_unknown;
  dl_run_copy_text(r, DL_RUN_run_id, info->id);
  dl_run_copy_text(r, DL_RUN_start_time,
                   dl_format_timestamp(start, m->first_ns, zoned));
  dl_run_set_number(r, DL_RUN_duration_s,
                    (double)(m->last_ns - m->first_ns) / 1e9);
  dl_run_set_number(r, DL_RUN_energy_j, sum->total.energy_j);
}
