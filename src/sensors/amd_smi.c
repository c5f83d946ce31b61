/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energy counters of AMD GPUs through the management libraries of ROCm,
 * libamd_smi or else librocm_smi64, which are loaded where they are there. The
 * declarations follow AMD's documentation ("AMD SMI C/C++ functions", "ROCm SMI
 * C API"). All else, also the power of a GPU whose counter is no good, is read
 * from the driver's files in sysfs (hwmon.c).
 *
 * Some counters stand still (MI100) or count in another unit: they are compared
 * with the power once. The second die of a board (MI250) has a counter of 0 and
 * no power, and the first die counts both. GPUs divided into partitions (MI300)
 * are devices with one PCI address and one counter. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/portable.h"
#include "sensors/hwmon.h"
#include "sensors/sensor_kinds.h"
#include "sensors/sysfs.h"

enum { SUCCESS = 0, INIT_AMD_GPUS = 2, MOST_GPUS = 64 };

/* A library: its GPUs have handles in amd-smi, and indices in rocm-smi. */
static struct {
  int (*init)(uint64_t flags);
  int (*sockets)(uint32_t *n, void **sockets);
  int (*processors)(void *socket, uint32_t *n, void **processors);
  int (*energy)(void *, uint64_t *count, float *resolution_uj, uint64_t *ns);
  int (*address)(void *, uint64_t *pci);
} amd;

static struct {
  int (*init)(uint64_t flags);
  int (*count)(uint32_t *n);
  int (*energy)(uint32_t, uint64_t *count, float *resolution_uj, uint64_t *ns);
  int (*address)(uint32_t, uint64_t *pci);
} rocm;

static const struct dl_library_function amd_functions[] = {
    {"amdsmi_init", &amd.init, false},
    {"amdsmi_get_socket_handles", &amd.sockets, false},
    {"amdsmi_get_processor_handles", &amd.processors, false},
    {"amdsmi_get_energy_count", &amd.energy, false},
    {"amdsmi_get_gpu_bdf_id", &amd.address, false}};

static const struct dl_library_function rocm_functions[] = {
    {"rsmi_init", &rocm.init, false},
    {"rsmi_num_monitor_devices", &rocm.count, false},
    {"rsmi_dev_energy_count_get", &rocm.energy, false},
    {"rsmi_dev_pci_id_get", &rocm.address, false}};

/* A GPU of either library, as its driver counts them. */
struct amd_gpu {
  void *handle;          /* of amd-smi; NULL: of rocm-smi */
  uint32_t index;        /* of rocm-smi */
  char pci[DL_PCI_SIZE]; /* without function and partition */

  /* Members of a sensor's state: */
  bool counts;      /* the counter agrees with the power */
  double counted_j; /* highest reading */
  char *folder;     /* of its chip in sysfs; NULL: it has none */
};

/* Adds a GPU with an address as the libraries state it. */
static void list_gpu(struct amd_gpu *to, size_t *n, struct amd_gpu g,
                     uint64_t address) {
  if (*n == MOST_GPUS)
    return;
  snprintf(g.pci, sizeof g.pci, "%04x:%02x:%02x", (unsigned)(address >> 32),
           (unsigned)(address >> 8 & 0xff), (unsigned)(address >> 3 & 0x1f));
  to[(*n)++] = g;
}

/* Lists the GPUs of libamd_smi. */
static size_t list_amd(struct amd_gpu to[MOST_GPUS]) {
  void *socket[MOST_GPUS], *gpu[MOST_GPUS];
  uint32_t n_sockets = MOST_GPUS;
  uint64_t address;
  size_t n = 0;
  if (!dl_load_functions(
          "libamd_smi.so|libamd_smi.so.26|libamd_smi.so.25|libamd_smi.so.24|"
          "/opt/rocm/lib/libamd_smi.so",
          amd_functions, DL_LENGTH(amd_functions)) ||
      amd.init(INIT_AMD_GPUS) != SUCCESS ||
      amd.sockets(&n_sockets, socket) != SUCCESS)
    return 0;
  for (uint32_t i = 0; i < n_sockets; i++) {
    uint32_t n_gpus = MOST_GPUS;
    if (amd.processors(socket[i], &n_gpus, gpu) != SUCCESS)
      continue;
    for (uint32_t k = 0; k < n_gpus; k++)
      if (amd.address(gpu[k], &address) == SUCCESS)
        list_gpu(to, &n, (struct amd_gpu){.handle = gpu[k]}, address);
  }
  return n;
}

/* Lists the GPUs of librocm_smi64. */
static size_t list_rocm(struct amd_gpu to[MOST_GPUS]) {
  uint32_t n_gpus = 0;
  uint64_t address;
  size_t n = 0;
  if (!dl_load_functions(
          "librocm_smi64.so|librocm_smi64.so.7|librocm_smi64.so.6|"
          "librocm_smi64.so.5|librocm_smi64.so.1|"
          "/opt/rocm/lib/librocm_smi64.so",
          rocm_functions, DL_LENGTH(rocm_functions)) ||
      rocm.init(0) != SUCCESS || rocm.count(&n_gpus) != SUCCESS)
    return 0;
  for (uint32_t i = 0; i < n_gpus; i++)
    if (rocm.address(i, &address) == SUCCESS)
      list_gpu(to, &n, (struct amd_gpu){.index = i}, address);
  return n;
}

/* The counter, J; NaN: it has none. */
static double count_j(const struct amd_gpu *g) {
  uint64_t count, ns;
  float resolution_uj;
  int result = g->handle ? amd.energy(g->handle, &count, &resolution_uj, &ns)
                         : rocm.energy(g->index, &count, &resolution_uj, &ns);
  return result == SUCCESS && count != UINT64_MAX && resolution_uj > 0
             ? (double)count * (double)resolution_uj * 1e-6
             : NAN;
}

static bool read_gpu(struct dl_sensor *s) {
  struct amd_gpu *g = s->state;
  bool ok = g->folder && dl_hwmon_read_gpu(s, g->folder);
  double j = g->counts ? count_j(g) : NAN;
  /* Readings may come out of order; a counter that began anew is far lower. */
  if (j < g->counted_j && j > g->counted_j / 2)
    j = g->counted_j;
  g->counted_j = j;
  s->counter_j = j;
  return ok || !isnan(j);
}

static void free_gpu(struct dl_sensor *s) {
  struct amd_gpu *g = s->state;
  free(g->folder);
  free(g);
}

/* Finds the chip of a PCI device; NULL: there is none. */
static char *find_chip(const struct dl_sensors *s, const char *pci) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist paths = {0};
  char at[DL_PCI_SIZE];
  dl_sysfs_find(s->root, "class/hwmon/hwmon*", &paths);
  for (size_t i = 0; i < paths.n; i++)
    if (dl_hwmon_pci(paths.s[i], at) && strcmp(at, pci) == 0)
      return dl_strdup(paths.s[i]);
  return NULL;
}

static void add_gpu(const struct dl_sensor_kind *kind, struct dl_sensors *s,
                    const struct amd_gpu *listed, size_t index) {
  struct amd_gpu *g = dl_calloc(1, sizeof *g);
  struct dl_sensor *new = dl_sensors_add(s, kind, DL_METER_GPU);
  *g = *listed;
  g->counts = true;
  g->folder = find_chip(s, g->pci);
  new->state = g;
  new->index = index;
  snprintf(new->name, sizeof new->name, "AMD GPU %zu", index);
  snprintf(new->id, sizeof new->id, "%s", g->pci);
  if (g->folder)
    dl_hwmon_describe_gpu(new, g->folder);
  if (!read_gpu(new)) {
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "GPU %zu: reports neither power nor energy", index);
    dl_sensors_remove(s, s->n - 1);
  }
}

/* Whether a GPU is a part of the one that was added last: a partition of it, or
 * the second die of its board. */
static bool is_part(const struct dl_sensors *s, const struct amd_gpu *g) {
  const struct amd_gpu *last = s->s[s->n - 1].state;
  struct dl_sensor x = {.power_w = NAN};
  if (strcmp(last->pci, g->pci) == 0)
    return true;
  if (count_j(g) != 0 || !(count_j(last) > 0))
    return false;
  DL_FREED char *folder = find_chip(s, g->pci);
  return !folder || !dl_hwmon_read_gpu(&x, folder) || !(x.power_w > 0);
}

/* Gives up a counter that stands still, or differs from the power by more than
 * a factor of 3, since its reading `pause_s` ago. */
static void check_counter(const struct dl_sensor_kind *kind,
                          struct dl_sensors *s, struct dl_sensor *x,
                          double pause_s) {
  const double most = 3, before_j = x->counter_j;
  struct amd_gpu *g = x->state;
  read_gpu(x);
  const double rise_j = x->counter_j - before_j;
  const double ratio = rise_j / (x->power_w * pause_s);
  g->counts = isnan(x->power_w) ? rise_j > 0 : ratio > 1 / most && ratio < most;
  if (isnan(x->power_w) && !g->counts)
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "GPU %zu: its energy counter stands still, and it reports "
                    "no power",
                    x->index);
  else if (!g->counts && !isnan(rise_j))
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "GPU %zu: its energy counter rose by %.3g J in %g s at "
                    "%.0f W; its power is integrated instead",
                    x->index, rise_j, pause_s, x->power_w);
}

static void check_counters(const struct dl_sensor_kind *kind,
                           struct dl_sensors *s, size_t first) {
  const double pause_s = 0.5;
  usleep((useconds_t)(pause_s * 1e6));
  for (size_t i = s->n; i-- > first;) {
    check_counter(kind, s, &s->s[i], pause_s);
    if (!read_gpu(&s->s[i]))
      dl_sensors_remove(s, i);
    else
      s->s[i].counter_j = NAN;
  }
}

static void find(const struct dl_sensor_kind *kind, struct dl_sensors *s) {
  struct amd_gpu gpu[MOST_GPUS];
  const size_t first = s->n;
  size_t n = 0, boards = 0;
  if (dl_sysfs_exists(s->root, "module/amdgpu"))
    n = list_amd(gpu);
  if (n == 0 && dl_sysfs_exists(s->root, "module/amdgpu"))
    n = list_rocm(gpu);
  for (size_t i = 0; i < n; i++) {
    dl_strlist_add(&s->taken, gpu[i].pci);
    if (s->n > first && is_part(s, &gpu[i]))
      boards += s->s[s->n - 1].more++ == 0;
    else
      add_gpu(kind, s, &gpu[i], i);
  }
  if (s->n > first)
    check_counters(kind, s, first);
  if (boards > 0)
    dl_sensors_note(s, kind, DL_METER_GPU,
                    "%zu boards have several GPUs each (dies or partitions): "
                    "the energy is of the whole board",
                    boards);
}

const struct dl_sensor_kind dl_sensor_amd_smi = {
    .name = "amd-smi",
    .summary = "AMD GPUs: energy counter; power, utilization, memory by hwmon",
    .other = true,
    .visible = DL_ROCM_VISIBLE,
    .find = find,
    .read = read_gpu,
    .is_named = dl_hwmon_is_named,
    .free = free_gpu,
};
