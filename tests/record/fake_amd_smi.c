/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libamd_smi.so and a librocm_smi64.so for tests: AMD GPUs with energy
 * counters in units of 15.3 uJ, with faults. Settings in the environment:
 *
 *   FAKE_AMD_GPUS   devices of the driver (0); device i is on PCI bus 0xc1 + i
 *   FAKE_AMD_WATTS  power of device 0; device i draws i times 100 W more (300)
 *   FAKE_AMD_STILL  the counter of device 0 stands still
 *   FAKE_AMD_NONE   device 0 has no counter: it shows 2^64 - 1
 *   FAKE_AMD_DIES   devices 1, 3, ... are second dies: their counter is 0
 *   FAKE_AMD_PARTS  so many devices are partitions of one GPU: one PCI address
 *   FAKE_AMD_BACK   each third reading is 1 J lower
 *   FAKE_AMD_DENIED amdsmi_init fails: librocm_smi64 is left */

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { SUCCESS, FAILED };

static char device[64];
static double start;
static int n_readings;

static double setting(const char *name, double otherwise) {
  const char *s = getenv(name);
  return s && *s ? atof(s) : otherwise;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int begin(void) {
  start = now();
  return SUCCESS;
}

/* 1,000 J before the program began. */
static int count(uint32_t i, uint64_t *to, float *resolution_uj, uint64_t *ns) {
  int parts = (int)setting("FAKE_AMD_PARTS", 1);
  uint32_t gpu = i / (uint32_t)parts;
  double j = 1000 + (setting("FAKE_AMD_WATTS", 300) + 100 * gpu) *
                        (now() - start);
  *resolution_uj = 15.3F;
  *ns = (uint64_t)(now() * 1e9);
  if (i == 0 && getenv("FAKE_AMD_STILL"))
    j = 1000;
  if (getenv("FAKE_AMD_BACK") && ++n_readings % 3 == 0)
    j -= 1;
  *to = i % 2 == 1 && getenv("FAKE_AMD_DIES") ? 0 : (uint64_t)(j / 15.3e-6);
  if (i == 0 && getenv("FAKE_AMD_NONE"))
    *to = UINT64_MAX;
  return SUCCESS;
}

static int address(uint32_t i, uint64_t *to) {
  uint32_t parts = (uint32_t)setting("FAKE_AMD_PARTS", 1);
  *to = (uint64_t)(0xc1 + i / parts) << 8 | i % parts;
  return SUCCESS;
}

int amdsmi_init(uint64_t flags);
int amdsmi_init(uint64_t flags) {
  return flags == 2 && !getenv("FAKE_AMD_DENIED") ? begin() : FAILED;
}

/* One socket per device, as the library has it. */
int amdsmi_get_socket_handles(uint32_t *n, void **socket);
int amdsmi_get_socket_handles(uint32_t *n, void **socket) {
  uint32_t all = (uint32_t)setting("FAKE_AMD_GPUS", 0);
  for (uint32_t i = 0; i < all && i < *n; i++)
    socket[i] = device + i;
  *n = all;
  return SUCCESS;
}

int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **processor);
int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **processor) {
  processor[0] = socket;
  *n = 1;
  return SUCCESS;
}

int amdsmi_get_energy_count(void *d, uint64_t *to, float *uj, uint64_t *ns);
int amdsmi_get_energy_count(void *d, uint64_t *to, float *uj, uint64_t *ns) {
  return count((uint32_t)((char *)d - device), to, uj, ns);
}

int amdsmi_get_gpu_bdf_id(void *d, uint64_t *to);
int amdsmi_get_gpu_bdf_id(void *d, uint64_t *to) {
  return address((uint32_t)((char *)d - device), to);
}

int rsmi_init(uint64_t flags);
int rsmi_init(uint64_t flags) {
  return flags == 0 ? begin() : FAILED;
}

int rsmi_num_monitor_devices(uint32_t *n);
int rsmi_num_monitor_devices(uint32_t *n) {
  *n = (uint32_t)setting("FAKE_AMD_GPUS", 0);
  return SUCCESS;
}

int rsmi_dev_energy_count_get(uint32_t i, uint64_t *to, float *uj,
                              uint64_t *ns);
int rsmi_dev_energy_count_get(uint32_t i, uint64_t *to, float *uj,
                              uint64_t *ns) {
  return count(i, to, uj, ns);
}

int rsmi_dev_pci_id_get(uint32_t i, uint64_t *to);
int rsmi_dev_pci_id_get(uint32_t i, uint64_t *to) {
  return address(i, to);
}
