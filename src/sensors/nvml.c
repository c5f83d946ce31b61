/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA GPUs through the driver's management library, libnvidia-ml.so.1, which
 * is loaded where it is there. The declarations follow NVIDIA's documentation
 * of NVML (NVML API Reference Guide). */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/portable.h"
#include "sensors/sensor_kinds.h"

enum { SUCCESS = 0, NO_PERMISSION = 4, MIG_ENABLED = 1, CLOCK_SM = 1 };

typedef void *device;

/* Indices into the results of two functions: percent of the GPU and of its
 * memory; bytes of memory. */
enum { UTIL_GPU, UTIL_MEMORY, N_UTILS };
enum { MEMORY_TOTAL, MEMORY_FREE, MEMORY_USED, N_MEMORY };

/* A field that is requested by number. */
struct nvml_field {
  unsigned id, scope;
  long long timestamp, latency_us;
  int type, result; /* nvmlReturn_t */
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
};

/* mW; nvmlDeviceGetPowerUsage averages over a second since Ampere. */
enum { FIELD_POWER_INSTANT = 186 };

static struct {
  int (*init)(void);
  const char *(*error)(int);
  int (*count)(unsigned *);
  int (*by_index)(unsigned, device *);
  int (*name)(device, char *, unsigned);
  int (*uuid)(device, char *, unsigned);
  int (*power)(device, unsigned *);            /* mW */
  int (*energy)(device, unsigned long long *); /* mJ since the driver began */
  int (*utilization)(device, unsigned[N_UTILS]);
  int (*memory)(device, unsigned long long[N_MEMORY]);
  int (*limit)(device, unsigned *); /* mW */
  int (*fields)(device, int, struct nvml_field *);
  int (*clock)(device, int, unsigned *); /* MHz */
  int (*mig_mode)(device, unsigned *, unsigned *);
  int (*by_uuid)(const char *, device *);
  int (*parent)(device, device *); /* of a MIG device */
} nvml;

static const struct dl_library_function functions[] = {
    {"nvmlInit_v2", &nvml.init, false},
    {"nvmlErrorString", &nvml.error, false},
    {"nvmlDeviceGetCount_v2", &nvml.count, false},
    {"nvmlDeviceGetHandleByIndex_v2", &nvml.by_index, false},
    {"nvmlDeviceGetName", &nvml.name, false},
    {"nvmlDeviceGetUUID", &nvml.uuid, false},
    {"nvmlDeviceGetPowerUsage", &nvml.power, false},
    {"nvmlDeviceGetTotalEnergyConsumption", &nvml.energy, true},
    {"nvmlDeviceGetUtilizationRates", &nvml.utilization, true},
    {"nvmlDeviceGetMemoryInfo", &nvml.memory, true},
    {"nvmlDeviceGetEnforcedPowerLimit", &nvml.limit, true},
    {"nvmlDeviceGetFieldValues", &nvml.fields, true},
    {"nvmlDeviceGetClockInfo", &nvml.clock, true},
    {"nvmlDeviceGetMigMode", &nvml.mig_mode, true},
    {"nvmlDeviceGetHandleByUUID", &nvml.by_uuid, true},
    {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle", &nvml.parent, true},
};

struct nvml_gpu {
  device device;
  bool instant; /* the present power can be requested */
};

static double power_of(const struct nvml_gpu *g) {
  struct nvml_field f = {.id = FIELD_POWER_INSTANT};
  unsigned mw;
  if (g->instant && nvml.fields(g->device, 1, &f) == SUCCESS &&
      f.result == SUCCESS)
    return f.value.u * 1e-3;
  return nvml.power(g->device, &mw) == SUCCESS ? mw * 1e-3 : NAN;
}

static bool read_gpu(struct dl_sensor *s) {
  const struct nvml_gpu *g = s->state;
  unsigned long long memory[N_MEMORY], mj;
  unsigned util[N_UTILS], mhz;
  bool counts = nvml.energy && nvml.energy(g->device, &mj) == SUCCESS;
  s->power_w = power_of(g);
  s->counter_j = counts ? (double)mj * 1e-3 : NAN;
  s->util = nvml.utilization && nvml.utilization(g->device, util) == SUCCESS
                ? util[UTIL_GPU] * 0.01
                : NAN;
  s->memory_b = nvml.memory && nvml.memory(g->device, memory) == SUCCESS
                    ? (double)memory[MEMORY_USED]
                    : NAN;
  s->clock_hz = nvml.clock && nvml.clock(g->device, CLOCK_SM, &mhz) == SUCCESS
                    ? mhz * 1e6
                    : NAN;
  return counts || !isnan(s->power_w);
}

/* The UUID of the GPU that a MIG device is a part of. Up to R450 the device was
 * called MIG-GPU-UUID/INSTANCE/INSTANCE. */
static bool find_parent(const char *name, char *uuid, unsigned size) {
  device part, whole;
  if (strncmp(name, "MIG-GPU-", 8) == 0) {
    snprintf(uuid, size, "%.*s", (int)strcspn(name + 4, "/"), name + 4);
    return true;
  }
  return nvml.by_uuid && nvml.parent && nvml.by_uuid(name, &part) == SUCCESS &&
         nvml.parent(part, &whole) == SUCCESS &&
         nvml.uuid(whole, uuid, size) == SUCCESS;
}

static bool is_named(const struct dl_sensor *s, const char *name, size_t n) {
  if (n < 4 || strncmp(name, "MIG-", 4) != 0)
    return strncasecmp(s->id, name, n) == 0;
  char text[DL_SENSOR_NAME], uuid[DL_SENSOR_NAME];
  snprintf(text, sizeof text, "%.*s", (int)n, name);
  return find_parent(text, uuid, sizeof uuid) && strcmp(uuid, s->id) == 0;
}

/* NVML measures the power of a whole GPU, whoever uses its parts. */
static bool is_divided(device d) {
  unsigned mode, pending;
  return nvml.mig_mode && nvml.mig_mode(d, &mode, &pending) == SUCCESS &&
         mode == MIG_ENABLED;
}

static void add_gpu(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                    unsigned i) {
  device handle;
  unsigned mw;
  int result = nvml.by_index(i, &handle);
  if (result != SUCCESS) {
    dl_sensors_note(s, kind, DL_METER_GPU, "GPU %u: %s", i, nvml.error(result));
    return;
  }
  struct nvml_gpu *g = dl_calloc(1, sizeof *g);
  struct dl_sensor *new = dl_sensors_add(s, kind, DL_METER_GPU);
  struct nvml_field f = {.id = FIELD_POWER_INSTANT};
  g->device = handle;
  g->instant = nvml.fields && nvml.fields(handle, 1, &f) == SUCCESS &&
               f.result == SUCCESS && f.value.u > 0;
  new->state = g;
  new->index = i;
  new->method = g->instant ? "instantaneous" : NULL;
  if (nvml.name(handle, new->name, sizeof new->name) != SUCCESS)
    snprintf(new->name, sizeof new->name, "GPU %u", i);
  if (nvml.uuid(handle, new->id, sizeof new->id) != SUCCESS)
    snprintf(new->id, sizeof new->id, "%u", i);
  if (nvml.limit && nvml.limit(handle, &mw) == SUCCESS)
    new->limit_w = mw * 1e-3;
  /* A single reading may be unknown. */
  if (!read_gpu(new) && !read_gpu(new) && !read_gpu(new)) {
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "%s: reports neither power nor energy", new->name);
    free(g);
    s->n--;
    return;
  }
  new->counter_j = NAN;
  if (is_divided(handle))
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "GPU %u is divided by MIG: its energy is that of the "
                    "whole GPU, with all programs on it",
                    i);
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  unsigned n = 0;
  if (!dl_load_functions("libnvidia-ml.so.1", functions, DL_LENGTH(functions)))
    return;
  int result = nvml.init();
  if (result == SUCCESS)
    result = nvml.count(&n);
  if (result != SUCCESS) {
    dl_sensors_note(s, kind, DL_METER_GPU, "%s%s", nvml.error(result),
                    result == NO_PERMISSION
                        ? "; the user needs access to /dev/nvidia*"
                        : "");
    return;
  }
  for (unsigned i = 0; i < n; i++)
    add_gpu(kind, s, i);
}

const struct dl_sensor_kind dl_sensor_nvml = {
    .name = "nvml",
    .summary = "NVIDIA GPUs: energy counter, power, utilization, memory, clock",
    .other = true,
    .visible = "CUDA_VISIBLE_DEVICES|SLURM_JOB_GPUS",
    .find = find,
    .read = read_gpu,
    .is_named = is_named,
};
