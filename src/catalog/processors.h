/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accelerators that are CPUs: entries of form "socket" without memory of their
 * own. */

#ifndef DL_CATALOG_PROCESSORS_H
#define DL_CATALOG_PROCESSORS_H

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "catalog/descriptor_kinds.h"

/* Whether an accelerator (or NULL) is a CPU. */
static inline bool dl_is_cpu(const struct dl_accelerator *gpu) {
  return gpu && dl_is_word(gpu->form, "socket") && isnan(gpu->memory_gb) &&
         gpu->peak_fp32_tflops > 0;
}

/* Whether the memory is soldered beside the CPU. */
static inline bool dl_has_soldered_memory(const struct dl_accelerator *cpu) {
  static const char soldered[] = "lpddr";
  return strncmp(dl_text_or(cpu->memory_type, ""), soldered,
                 sizeof soldered - 1) == 0;
}

/* Whether a CPU is for desktops, notebooks and small computers: it has at most
 * two memory channels, or soldered memory and no server's power. */
#define DL_CLIENT_CHANNELS 2
#define DL_CLIENT_SOLDERED_W 150
static inline bool dl_is_client_cpu(const struct dl_accelerator *cpu) {
  return cpu->memory_channels <= DL_CLIENT_CHANNELS ||
         (dl_has_soldered_memory(cpu) && cpu->tdp_w <= DL_CLIENT_SOLDERED_W);
}

/* The highest clock of all cores of a CPU, by its base clock; where it is not
 * known the highest clock of one core bounds it. */
static inline double dl_cpu_most_clock(const struct dl_accelerator *cpu) {
  double most = dl_or(cpu->all_core_mhz, cpu->boost_mhz);
  return fmax(1, dl_or(most / cpu->base_mhz, 1));
}

/* Returns the bytes that a core of a CPU reads from memory in a second. */
static inline double dl_core_bandwidth(const struct dl_accelerator *cpu) {
  return dl_is_client_cpu(cpu) ? 25e9 : 12e9;
}

#endif
