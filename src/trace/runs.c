#include "trace/runs.h"

#include <string.h>

#define MOST 1e300

static const struct dl_run_column columns[] = {
    {"run_id", NULL, true, 0, 0, false, "name of the run"},
    {"arch", NULL, true, 0, 0, true, "architecture"},
    {"gpu", NULL, true, 0, 0, true, "accelerator"},
    {"n_gpus", NULL, false, 1, 1e6, true, "accelerators used"},
    {"phase", NULL, true, 0, 0, true, "training or inference"},
    {"framework", NULL, true, 0, 0, true, "deep-learning framework"},
    {"precision", NULL, true, 0, 0, true, "fp32, tf32, amp"},
    {"dataset", NULL, true, 0, 0, true, "data set"},
    {"batch_size", NULL, false, 1, 1e9, true, "samples a step"},
    {"image_px", "px", false, 1, 1e5, true, "side of the input image"},
    {"seq_len", NULL, false, 1, 1e9, true, "tokens a sample"},
    {"train_samples", NULL, false, 0, 1e15, true, "training samples"},
    {"val_samples", NULL, false, 0, 1e15, true, "validation samples"},
    {"epochs", NULL, false, 0, 1e9, false, "epochs of the run"},
    {"frozen_base", NULL, false, 0, 1, true,
     "1 where only the classifier is trained"},
    {"macs_g", "GMAC", false, 0, 1e12, false,
     "multiply-accumulates of one forward pass of one sample"},
    {"params_m", "M", false, 0, 1e12, false, "parameters"},
    {"acts_m", "M", false, 0, 1e12, false, "activations of one sample"},
    {"ram_gb", "GB", false, 0, 1e9, false, "memory of the node"},
    {"utilisation", NULL, false, 0, 1, false, "share of the GPU in use"},
    {"duration_s", "s", false, 0, 1e12, false, "duration of the run"},
    {"epoch_s", "s", false, 0, 1e12, false, "mean duration of an epoch"},
    {"gpu_power_w", "W", false, 0, 1e9, false, "mean power of the GPUs"},
    {"gpu_util", NULL, false, 0, 1, false, "mean utilisation of the GPUs"},
    {"gpu_energy_j", "J", false, 0, MOST, false, "energy of the GPUs"},
    {"ram_energy_j", "J", false, 0, MOST, false, "energy of the memory"},
    {"cpu_energy_j", "J", false, 0, MOST, false, "energy of the CPUs"},
    {"node_energy_j", "J", false, 0, MOST, false, "energy of the node"},
    {"energy_j", "J", false, 0, MOST, false,
     "energy of the run within its boundary"},
    {"epoch_energy_j", "J", false, 0, MOST, false, "mean energy of an epoch"},
    {"boundary", NULL, true, 0, 0, false, "gpu, gpu+ram, node, facility"},
    {"config", NULL, true, 0, 0, false, "key of the configuration"},
    {"source", NULL, true, 0, 0, false, "where the run comes from"},
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
