/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libnvidia-ml.so.1 for tests: GPUs that draw power by a formula of time,
 * with faults. Its settings are in the environment:
 *
 *   FAKE_NVML_GPUS     number of GPUs (2)
 *   FAKE_NVML_WATTS    power of GPU 0; GPU i draws i times 50 W more (200)
 *   FAKE_NVML_RESET    the energy counters begin anew after so many s
 *   FAKE_NVML_LOST     GPU 1 falls off the bus after so many s
 *   FAKE_NVML_NO_POWER power is not supported (an energy counter is)
 *   FAKE_NVML_OLD      neither energy counter nor fields
 *   FAKE_NVML_DENIED   nvmlInit has no permission
 *   FAKE_NVML_PERIOD   an epoch of so many s: the last tenth of it at 60 W
 *   FAKE_NVML_TRACE    a log of nvidia-smi with power in its 7th column, which
 *                      every GPU plays back from its beginning on
 *   FAKE_NVML_SPEED    so many of its samples per second (1)
 *   FAKE_NVML_NA       every so manieth power and utilization is unknown
 *   FAKE_NVML_MIG      GPU 1 is divided: MIG-1 and MIG-2 are parts of it
 *   FAKE_NVML_NAMES    GPU 1 has another name */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS, UNINITIALIZED, BAD_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION };
enum { GPU_IS_LOST = 15, UNKNOWN = 999, MOST_SAMPLES = 100000 };

struct utilization {
  unsigned gpu, memory;
};
struct memory {
  unsigned long long total, free, used;
};
struct field {
  unsigned id, scope;
  long long timestamp, latency_us;
  int type, result;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
};

static double start;
static char device[64];
static double sample_w[MOST_SAMPLES], sample_j[MOST_SAMPLES]; /* of a trace */
static int n_samples, n_calls;

static double setting(const char *name, double otherwise) {
  const char *s = getenv(name);
  return s && *s ? atof(s) : otherwise;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int index_of(const void *d) {
  return (int)((const char *)d - device);
}

static int lost(const void *d) {
  return index_of(d) == 1 && now() - start > setting("FAKE_NVML_LOST", 1e9);
}

/* Reads the trace: power between samples is linear, one sample per second. */
static void read_trace(const char *path) {
  char line[1024];
  FILE *f = fopen(path, "r");
  while (f && n_samples < MOST_SAMPLES && fgets(line, sizeof line, f)) {
    const char *at = line;
    for (int i = 0; at && i < 6; i++)
      at = strchr(at + (i > 0), ',');
    if (!at || atof(at + 1) <= 0)
      continue;
    sample_w[n_samples] = atof(at + 1);
    sample_j[n_samples] =
        n_samples == 0
            ? 0
            : sample_j[n_samples - 1] +
                  (sample_w[n_samples - 1] + sample_w[n_samples]) / 2;
    n_samples++;
  }
  if (f)
    fclose(f);
}

/* Power at a time, or energy up to it; the trace begins again at its end. */
static double play(double t, int energy) {
  double speed = setting("FAKE_NVML_SPEED", 1), all = n_samples - 1;
  double at = fmod(t * speed, all), rounds = floor(t * speed / all);
  int i = (int)at;
  double rest = at - i,
         w = sample_w[i] + rest * (sample_w[i + 1] - sample_w[i]);
  return energy ? (rounds * sample_j[n_samples - 1] + sample_j[i] +
                   rest * (sample_w[i] + w) / 2) /
                      speed
                : w;
}

/* Whether this reading is one of those that are unknown. */
static int unknown(void) {
  int every = (int)setting("FAKE_NVML_NA", 0);
  return every > 0 && ++n_calls % every == 0;
}

static double busy_w(const void *d) {
  return setting("FAKE_NVML_WATTS", 200) + 50 * index_of(d);
}

/* Seconds at full power, and all, until t. */
static double power_w(const void *d, double t) {
  double period = setting("FAKE_NVML_PERIOD", 0);
  if (n_samples > 1)
    return play(t, 0);
  return period > 0 && fmod(t, period) > 0.9 * period ? 60 : busy_w(d);
}

static double energy_j(const void *d, double t) {
  double period = setting("FAKE_NVML_PERIOD", 0);
  if (n_samples > 1)
    return play(t, 1);
  if (!(period > 0))
    return busy_w(d) * t;
  double whole = floor(t / period), rest = t - whole * period;
  double pause = rest > 0.9 * period ? rest - 0.9 * period : 0;
  return busy_w(d) * (0.9 * period * whole + rest - pause) +
         60 * (0.1 * period * whole + pause);
}

int nvmlInit_v2(void);
int nvmlInit_v2(void) {
  if (start == 0 && getenv("FAKE_NVML_TRACE"))
    read_trace(getenv("FAKE_NVML_TRACE"));
  start = now();
  return getenv("FAKE_NVML_DENIED") ? NO_PERMISSION : SUCCESS;
}

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result) {
  return result == NO_PERMISSION ? "Insufficient Permissions"
         : result == GPU_IS_LOST ? "GPU is lost"
                                 : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n) {
  *n = (unsigned)setting("FAKE_NVML_GPUS", 2);
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {
  *d = device + i;
  return i < sizeof device ? SUCCESS : BAD_ARGUMENT;
}

int nvmlDeviceGetName(void *d, char *to, unsigned size);
int nvmlDeviceGetName(void *d, char *to, unsigned size) {
  snprintf(to, size, "%s",
           getenv("FAKE_NVML_NAMES") && index_of(d) == 1
               ? "NVIDIA H100 PCIe"
               : "NVIDIA A100-SXM4-40GB");
  return SUCCESS;
}

int nvmlDeviceGetUUID(void *d, char *to, unsigned size);
int nvmlDeviceGetUUID(void *d, char *to, unsigned size) {
  snprintf(to, size, "GPU-%08x-0000-0000-0000-000000000000",
           0xa0U + (unsigned)index_of(d));
  return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *d, unsigned *mw);
int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) {
  if (getenv("FAKE_NVML_NO_POWER"))
    return NOT_SUPPORTED;
  *mw = (unsigned)(power_w(d, now() - start) * 1e3 + 0.5);
  return lost(d) ? GPU_IS_LOST : unknown() ? UNKNOWN : SUCCESS;
}

/* 1,000 J before the program began; less after the counter began anew. */
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) {
  double t = now() - start, reset = setting("FAKE_NVML_RESET", 1e9);
  double j =
      t > reset ? energy_j(d, t) - energy_j(d, reset) : 1000 + energy_j(d, t);
  *mj = (unsigned long long)(j * 1e3);
  return getenv("FAKE_NVML_OLD") ? NOT_SUPPORTED
         : lost(d)               ? GPU_IS_LOST
                                 : SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *d, struct utilization *u);
int nvmlDeviceGetUtilizationRates(void *d, struct utilization *u) {
  *u = (struct utilization){power_w(d, now() - start) > 60 ? 95 : 0, 50};
  return lost(d) ? GPU_IS_LOST : unknown() ? UNKNOWN : SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *d, struct memory *m);
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m) {
  *m = (struct memory){40000000000ULL, 30000000000ULL, 10000000000ULL};
  return lost(d) ? GPU_IS_LOST : SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mw) {
  (void)d;
  *mw = 400000;
  return SUCCESS;
}

int nvmlDeviceGetFieldValues(void *d, int n, struct field *f);
int nvmlDeviceGetFieldValues(void *d, int n, struct field *f) {
  for (int i = 0; i < n; i++) {
    f[i].result = getenv("FAKE_NVML_OLD") || getenv("FAKE_NVML_NO_POWER")
                      ? NOT_SUPPORTED
                  : lost(d)   ? GPU_IS_LOST
                  : unknown() ? UNKNOWN
                              : SUCCESS;
    f[i].value.u = (unsigned)(power_w(d, now() - start) * 1e3 + 0.5);
  }
  return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *d, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *d, int type, unsigned *mhz) {
  *mhz = type == 1 ? 1410 : 1215;
  return getenv("FAKE_NVML_OLD") ? NOT_SUPPORTED
         : lost(d)               ? GPU_IS_LOST
                                 : SUCCESS;
}

int nvmlDeviceGetMigMode(void *d, unsigned *mode, unsigned *pending);
int nvmlDeviceGetMigMode(void *d, unsigned *mode, unsigned *pending) {
  *mode = *pending = getenv("FAKE_NVML_MIG") && index_of(d) == 1;
  return SUCCESS;
}

/* The parts of GPU 1 have handles behind those of GPUs. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **d);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **d) {
  *d = device + 32;
  return getenv("FAKE_NVML_MIG") && strncmp(uuid, "MIG-", 4) == 0 &&
                 (uuid[4] == '1' || uuid[4] == '2')
             ? SUCCESS
             : BAD_ARGUMENT;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **d);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **d) {
  *d = device + 1;
  return index_of(part) == 32 ? SUCCESS : BAD_ARGUMENT;
}
