/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/runs.h"

#include <string.h>

#define MOST 1e300

static const struct dl_run_column columns[] = {
    {"run_id", NULL, true, 0, 0, DL_ROLE_NAME, "name of the run"},
    {"arch", NULL, true, 0, 0, DL_ROLE_SETTING, "architecture"},
    {"gpu", NULL, true, 0, 0, DL_ROLE_SETTING, "accelerator"},
    {"n_gpus", NULL, false, 1, 1e6, DL_ROLE_SETTING, "accelerators used"},
    {"phase", NULL, true, 0, 0, DL_ROLE_SETTING, "training or inference"},
    {"framework", NULL, true, 0, 0, DL_ROLE_SETTING, "deep-learning framework"},
    {"precision", NULL, true, 0, 0, DL_ROLE_SETTING, "fp32, tf32, amp"},
    {"dataset", NULL, true, 0, 0, DL_ROLE_SETTING, "data set"},
    {"batch_size", NULL, false, 1, 1e9, DL_ROLE_SETTING, "samples a step"},
    {"image_px", "px", false, 1, 1e5, DL_ROLE_SETTING,
     "side of the input image"},
    {"seq_len", NULL, false, 1, 1e9, DL_ROLE_SETTING, "tokens a sample"},
    {"classes", NULL, false, 1, 1e9, DL_ROLE_SETTING,
     "outputs of the classifier"},
    {"train_samples", NULL, false, 0, 1e15, DL_ROLE_SETTING,
     "training samples"},
    {"val_samples", NULL, false, 0, 1e15, DL_ROLE_SETTING,
     "validation samples"},
    {"epochs", NULL, false, 1e-6, 1e9, DL_ROLE_GIVEN, "epochs of the run"},
    {"frozen_base", NULL, false, 0, 1, DL_ROLE_SETTING,
     "1 where only the classifier is trained"},
    {"macs_g", "GMAC", false, 0, 1e12, DL_ROLE_GIVEN,
     "multiply-accumulates of one forward pass of one sample"},
    {"params_m", "M", false, 0, 1e12, DL_ROLE_GIVEN, "parameters"},
    {"acts_m", "M", false, 0, 1e12, DL_ROLE_GIVEN, "activations of one sample"},
    {"ram_gb", "GB", false, 0, 1e9, DL_ROLE_GIVEN, "memory of the node"},
    {"utilisation", NULL, false, 0, 1, DL_ROLE_GIVEN,
     "share of the GPU in use"},
    {"duration_s", "s", false, 0, 1e12, DL_ROLE_MEASURED,
     "duration of the run"},
    {"epoch_s", "s", false, 0, 1e12, DL_ROLE_MEASURED,
     "mean duration of an epoch"},
    {"gpu_power_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "mean power of the GPUs"},
    {"gpu_util", NULL, false, 0, 1, DL_ROLE_MEASURED,
     "mean utilisation of the GPUs"},
    {"gpu_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the GPUs"},
    {"ram_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the memory"},
    {"cpu_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the CPUs"},
    {"node_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the node"},
    {"energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the run within its boundary"},
    {"epoch_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "mean energy of an epoch"},
    {"rest_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the node without its GPUs"},
    {"facility_energy_j", "J", false, 0, MOST, DL_ROLE_MEASURED,
     "energy of the run with cooling and supply"},
    {"pue", NULL, false, 1, 100, DL_ROLE_NAME,
     "power usage effectiveness applied to facility_energy_j"},
    {"co2e_g", "g", false, 0, MOST, DL_ROLE_MEASURED,
     "emissions as the log states them"},
    {"gpu_idle_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "mean power of the GPUs while none is in use"},
    {"gpu_peak_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "highest power of the GPUs"},
    {"gpu_limit_w", "W", false, 0, 1e9, DL_ROLE_NAME,
     "power limit of the GPUs"},
    {"cpu_power_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "mean power of the CPUs"},
    {"ram_power_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "mean power of the memory"},
    {"node_power_w", "W", false, 0, 1e9, DL_ROLE_MEASURED,
     "mean power of the node"},
    {"cpu_util", NULL, false, 0, 1, DL_ROLE_MEASURED,
     "mean utilisation of the CPUs"},
    {"samples", NULL, false, 0, 1e15, DL_ROLE_MEASURED,
     "samples of the log that count"},
    {"interval_s", "s", false, 0, 1e9, DL_ROLE_MEASURED,
     "median time between samples"},
    {"missing", NULL, false, 0, 1, DL_ROLE_MEASURED,
     "share of the samples that are missing"},
    {"counter_deviation", NULL, false, -1, 1e9, DL_ROLE_MEASURED,
     "integral of the power against the energy counter, less 1"},
    {"epochs_low", NULL, false, 0, 1e9, DL_ROLE_MEASURED,
     "lower end of the number of epochs found in the trace"},
    {"epochs_high", NULL, false, 0, 1e9, DL_ROLE_MEASURED,
     "upper end of the number of epochs found in the trace"},
    {"epochs_verdict", NULL, true, 0, 0, DL_ROLE_NAME,
     "given, sure, unsure, none"},
    {"boundary", NULL, true, 0, 0, DL_ROLE_NAME,
     "gpu, gpu+ram, node, facility"},
    {"config", NULL, true, 0, 0, DL_ROLE_NAME, "key of the configuration"},
    {"source", NULL, true, 0, 0, DL_ROLE_NAME, "where the run comes from"},
    {"start_time", NULL, true, 0, 0, DL_ROLE_NAME, "when the run began"},
    {"project", NULL, true, 0, 0, DL_ROLE_NAME, "project or experiment"},
    {"job_name", NULL, true, 0, 0, DL_ROLE_NAME, "name of the job"},
    {"user", NULL, true, 0, 0, DL_ROLE_NAME, "who ran it"},
    {"state", NULL, true, 0, 0, DL_ROLE_NAME, "how the job ended"},
    {"n_nodes", NULL, false, 0, 1e9, DL_ROLE_GIVEN, "nodes of the job"},
    {"n_cpus", NULL, false, 0, 1e9, DL_ROLE_GIVEN, "processors of the job"},
    {"format", NULL, true, 0, 0, DL_ROLE_NAME, "kind of log"},
    {"file", NULL, true, 0, 0, DL_ROLE_NAME, "log the run was read from"},
};

size_t dl_run_column_count(void) {
  return sizeof columns / sizeof *columns;
}

const struct dl_run_column *dl_run_column_at(size_t i) {
  return &columns[i];
}

const struct dl_run_column *dl_run_column_find(const char *name) {
  for (size_t i = 0; i < dl_run_column_count(); i++)
    if (strcmp(columns[i].name, name) == 0)
      return &columns[i];
  return NULL;
}
