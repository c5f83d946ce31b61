/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts that the inputs of several physics have in common. */

#ifndef DL_PHYSICS_ROWS_INPUTS_H
#define DL_PHYSICS_ROWS_INPUTS_H

#include <math.h>
#include <string.h>

#include "catalog/processors.h"
#include "physics/physics.h"
#include "quantities/gguf.h"

/* Automatic mixed precision and 16-bit formats: tensor cores, half the
 * bytes. GGUF weights are multiplied in 16 bits. */
static inline bool dl_is_16_bit(enum dl_precision precision) {
  return precision == DL_PRECISION_AMP || precision == DL_PRECISION_FP16 ||
         precision == DL_PRECISION_BF16 || dl_is_gguf(precision);
}

/* Share of the cores of all sockets that a run on CPUs uses; 1 on GPUs. */
static inline double dl_cores_share(const struct dl_run *run,
                                    const struct dl_accelerator *cpu) {
  double all = cpu->multiprocessors * fmax(dl_or(run->n_gpus, 1), 1);
  return dl_is_cpu(cpu) && run->cpu_cores < all ? run->cpu_cores / all : 1;
}

/* Bandwidth of an accelerator, B/s: what the cores used read of a CPU's. */
static inline double dl_bandwidth_used(const struct dl_run *run,
                                       const struct dl_accelerator *gpu) {
  double share = dl_cores_share(run, gpu), all = 1e9 * gpu->bandwidth_gb_s;
  double cores = share * gpu->multiprocessors;
  return share < 1 ? fmin(all, cores * dl_core_bandwidth(gpu)) : all;
}

/* Peak rate in a 16-bit format, TFLOP/s, 0 without one: BF16 is emulated where
 * there is FP16 alone, whereas mixed precision takes what there is. */
static inline double dl_peak_16_bit(const struct dl_accelerator *gpu,
                                    enum dl_precision precision) {
  double fp16 = precision == DL_PRECISION_BF16
                    ? 0
                    : dl_or(gpu->peak_fp16_tensor_tflops, 0);
  return fmax(fp16, dl_or(gpu->peak_bf16_tensor_tflops, 0));
}

/* NVIDIA's tensor cores that accumulate in FP32 at half rate (GeForce RTX,
 * A10G, L40, L20) do 512 FLOP a clock on a multiprocessor, others 1,024 or
 * more. A product waits less for its operands there: the fastest ones measured
 * (github.com/mag-/gpu_benchmark) reach .94 and 1.08 of the peak rate on an L40
 * and an RTX 4090, .78 in the geometric mean over 15 other GPUs of NVIDIA, 1.3
 * times less. Returns that factor, 1 for other GPUs and where their clock or
 * the number of multiprocessors is not known. */
#define DL_HALF_RATE_MOST 768.0
#define DL_HALF_RATE_SHARE 1.3
static inline double dl_half_rate_share(const struct dl_accelerator *gpu) {
  double clocks = 1e6 * gpu->boost_mhz * gpu->multiprocessors;
  double flop = 1e12 * dl_or(gpu->peak_fp16_tensor_tflops, 0) / clocks;
  bool halved = flop > 0 && flop < DL_HALF_RATE_MOST;
  return halved && dl_is_word(gpu->vendor, "nvidia") ? DL_HALF_RATE_SHARE : 1;
}

/* Peak rate outside 16-bit formats, TFLOP/s: frameworks use TF32 where there is
 * any, unless FP32 is requested. Boards whose TF32 rate is no more than their
 * FP32 rate gain nothing from it. */
static inline double dl_peak_32_bit(const struct dl_accelerator *gpu,
                                    enum dl_precision precision) {
  double tf32 =
      precision == DL_PRECISION_FP32 ? 0 : dl_or(gpu->peak_tf32_tflops, 0);
  return fmax(gpu->peak_fp32_tflops, tf32);
}

/* Bandwidth of GDDR6 and later memory, GB/s, whose static power grows with it;
 * 0: other memory. */
static inline double dl_gddr_gb_s(const struct dl_accelerator *gpu) {
  const char *memory = gpu->memory_type;
  return dl_is_word(memory, "gddr6") || dl_is_word(memory, "gddr6x") ||
                 dl_is_word(memory, "gddr7")
             ? gpu->bandwidth_gb_s
             : 0;
}

/* Rate that the chips of that memory could move on all their pins, GB/s: 2 GB
 * each at 14 Gbit/s on 32 pins. A channel has one of them, or two (clamshell):
 * the bandwidth at least, and twice of it at most. */
#define DL_CHIPS_GB_S_PER_GB 28
static inline double dl_gddr_chips_gb_s(const struct dl_accelerator *gpu) {
  double bandwidth = dl_gddr_gb_s(gpu);
  double chips = DL_CHIPS_GB_S_PER_GB * dl_or(gpu->memory_gb, 0);
  return chips > bandwidth ? fmin(chips, 2 * bandwidth) : bandwidth;
}

/* Links up to this rate are PCIe, faster ones NVLink and its like, GB/s of one
 * direction. */
#define DL_SLOWEST_NVLINK_GB_S 64

/* Network adapters beside a GPU, Gbit/s, if it is not given: what nodes of
 * its time have. */
static inline double dl_usual_network_gbps(const struct dl_accelerator *gpu) {
  if (!(gpu->link_gb_s > DL_SLOWEST_NVLINK_GB_S))
    return 100;
  return gpu->peak_fp8_tensor_tflops > 0 ? 400 : 200;
}

/* The first required quantity whose value is unknown, or NULL. */
struct dl_required {
  const char *name;
  double value;
};
static inline const char *dl_first_unknown(const struct dl_required *r,
                                           size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(r[i].value))
      return r[i].name;
  return NULL;
}

/* Names that a row groups by. */
static inline void dl_row_names_of(const struct dl_physics_row *row,
                                   const char *name[DL_N_NAMES]) {
  const struct dl_run *run = row->run;
  name[DL_NAME_NONE] = NULL;
  name[DL_NAME_GPU] = row->gpu->head.id ? row->gpu->head.id : run->gpu;
  name[DL_NAME_ARCH] = row->arch->head.id ? row->arch->head.id : run->arch;
  name[DL_NAME_HOST] = run->host;
  name[DL_NAME_SOURCE] = run->source;
  name[DL_NAME_DATASET] = run->dataset;
  name[DL_NAME_FRAMEWORK] = run->framework;
  name[DL_NAME_FAMILY] = row->gpu->family;
  name[DL_NAME_TUNED] = NULL;
  name[DL_NAME_STACK] = run->stack;
}

#endif
