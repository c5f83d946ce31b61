/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the physics of CPUs from a row. */

#include "physics/cpu/cpu_inputs.h"

#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

const struct dl_physics_quantity dl_cpu_quantities[DL_N_CPU_QUANTITIES] = {
    {DL_ON_RUN(batch_size), true, true},
    {DL_ON_RUN(macs_g), true, true},
    {DL_ON_RUN(acts_m), true, false},
    {DL_ON_RUN(params_m), true, false},
    {DL_ON_RUN(launches), false, false},
    {DL_ON_RUN(precision), false, false},
    {DL_ON_RUN(n_gpus), false, false},
    {DL_ON_RUN(cpu_cores), false, false},
    {DL_ON_RUN(isa), false, false},
    {DL_ON_RUN(stack), false, false},
    {DL_ON_RUN(framework), false, false},
    {DL_ON_RUN(gpu), false, false},
    {DL_ON_RUN(arch), false, false},
    {DL_ON_RUN(dataset), false, false},
    {DL_ON_RUN(host), false, false},
    {DL_ON_RUN(source), false, false},
    {DL_ON_RUN(seq_len), false, false},
    {DL_ON_RUN(image_px), false, false},
    {DL_ON_ARCH(layers), false, false},
    {DL_ON_ARCH(launches), false, false},
    {DL_ON_ARCH(depthwise_share), false, false},
    {DL_ON_GPU(peak_fp32_tflops), true, false},
    {DL_ON_GPU(peak_bf16_tflops), false, false},
    {DL_ON_GPU(peak_bf16_tensor_tflops), false, false},
    {DL_ON_GPU(peak_int8_tops), false, false},
    {DL_ON_GPU(peak_int8_tensor_tops), false, false},
    {DL_ON_GPU(bandwidth_gb_s), true, true},
    {DL_ON_GPU(memory_channels), false, false},
    {DL_ON_GPU(memory_type), false, false},
    {DL_ON_GPU(tdp_w), false, false},
    {DL_ON_GPU(base_mhz), false, false},
    {DL_ON_GPU(boost_mhz), false, false},
    {DL_ON_GPU(all_core_mhz), false, false},
    {DL_ON_GPU(multiprocessors), false, false},
    {DL_ON_GPU(cuda_cores), false, false},
    {DL_ON_GPU(family), false, false},
    {DL_ON_OWN(instances), false, false},
};

/* Numbers in other columns: processes or streams of all sockets. */
enum { INSTANCES };

/* Kernels of a layer with products, where the layers are not counted. */
#define KERNELS_PER_LAYER 2.5
#define USUAL_LAYERS 80

/* Without dot products INT8 is multiplied in 16 bits, at twice the rate of
 * FP32. */
#define INT8_BY_16_BITS 2
#define LEAST_VNNI 3 /* times the rate of FP32 */

/* Parts of which no clock is above this share of the base clock hold the base
 * clock, and not the usual one of client parts. */
#define LEAST_TURBO 1.1

bool dl_cpu_software_given(const struct dl_run *run) {
  enum dl_software stack = dl_stack_of(run);
  return run->framework || (stack != DL_SOFTWARE_UNKNOWN &&
                            stack != DL_SOFTWARE_VLLM);
}

enum dl_cpu_software dl_cpu_software_of(const struct dl_run *run) {
  if (dl_stack_of(run) == DL_SOFTWARE_MLPERF ||
      dl_stack_of(run) == DL_SOFTWARE_TUNED)
    return DL_CPU_TUNED;
  if (dl_stack_of(run) == DL_SOFTWARE_COMPILED)
    return DL_CPU_COMPILED;
  switch (dl_framework_of(run)) {
  case DL_FRAMEWORK_OPENVINO:
    return DL_CPU_TUNED;
  case DL_FRAMEWORK_TENSORFLOW:
    return DL_CPU_TENSORFLOW;
  case DL_FRAMEWORK_ONNXRUNTIME:
    return DL_CPU_ONNXRUNTIME;
  default:
    return DL_CPU_PYTORCH;
  }
}

static void set_float(struct dl_cpu_inputs *in, double peak) {
  in->matrix = in->vector = peak;
  in->matrix_share = in->vector_share = DL_CPU_FP32;
  in->bytes = 4;
}

static void set_tiles(struct dl_cpu_inputs *in, double peak) {
  if (!(peak > 0))
    return;
  in->matrix = peak;
  in->matrix_share = DL_CPU_AMX;
}

/* Whether a run uses an instruction set, as far as its CPU has it. */
static bool uses(const struct dl_run *run, enum dl_isa isa) {
  return run->isa == DL_ISA_UNKNOWN || run->isa >= isa;
}

/* A core with 512-bit units has this many lanes, of which AVX2 uses half. */
#define LANES_OF_512_BITS 32

static double fp32_tflops(const struct dl_run *run,
                          const struct dl_accelerator *cpu) {
  bool wide = cpu->cuda_cores >= LANES_OF_512_BITS * cpu->multiprocessors;
  return cpu->peak_fp32_tflops * (wide && !uses(run, DL_ISA_AVX512) ? 0.5 : 1);
}

/* 16 bits without units for them are computed in FP32. ONNX Runtime does not
 * use the tiles. */
static void set_rates(struct dl_cpu_inputs *in, const struct dl_run *run,
                      const struct dl_accelerator *cpu) {
  double fp32 = fp32_tflops(run, cpu);
  double bf16 = uses(run, DL_ISA_BF16) ? dl_or(cpu->peak_bf16_tflops, 0) : 0;
  double tiles = dl_or(cpu->peak_bf16_tensor_tflops, 0);
  if (!uses(run, DL_ISA_AMX))
    tiles = 0;
  set_float(in, fp32);
  if (run->precision == DL_PRECISION_INT8) {
    double int8 = INT8_BY_16_BITS * fp32;
    if (uses(run, DL_ISA_VNNI))
      int8 = dl_or(cpu->peak_int8_tops, int8);
    in->matrix = in->vector = int8;
    in->matrix_share = in->vector_share =
        int8 > LEAST_VNNI * fp32 ? DL_CPU_VNNI : DL_CPU_AVX2;
    in->bytes = 1;
    tiles = uses(run, DL_ISA_AMX) ? dl_or(cpu->peak_int8_tensor_tops, 0) : 0;
  } else if (dl_is_16_bit(run->precision) && (bf16 > 0 || tiles > 0)) {
    in->matrix = in->vector = fmax(bf16, fp32);
    in->matrix_share = in->vector_share = bf16 > 0 ? DL_CPU_BF16 : DL_CPU_FP32;
    in->bytes = 2;
  } else {
    tiles = 0;
  }
  if (in->software != DL_CPU_ONNXRUNTIME)
    set_tiles(in, tiles);
}

static void group(const struct dl_physics_row *row, struct dl_cpu_inputs *in) {
  static const char *const words[DL_N_CPU_SOFTWARE] = {
      "tuned", "pytorch", "tensorflow", "onnxruntime", "compiled"};
  struct dl_grouping *g = &in->grouping;
  dl_row_names_of(row, g->name);
  g->name[DL_NAME_STACK] = words[in->software];
  g->level[DL_CPU_EFFECT_CPU].name = DL_NAME_GPU;
  g->level[DL_CPU_EFFECT_FAMILY].name = DL_NAME_FAMILY;
  g->level[DL_CPU_EFFECT_NETWORK] =
      (struct dl_level_names){DL_NAME_ARCH, DL_NAME_STACK};
  if (in->software != DL_CPU_TUNED)
    return;
  bool openvino = dl_framework_of(row->run) == DL_FRAMEWORK_OPENVINO;
  g->name[DL_NAME_TUNED] = openvino ? "openvino" : "mlperf";
  g->level[DL_CPU_EFFECT_TOOL] =
      (struct dl_level_names){DL_NAME_ARCH, DL_NAME_TUNED};
}

const char *dl_cpu_inputs_read(const struct dl_physics_row *row, void *inputs) {
  struct dl_cpu_inputs *in = inputs;
  const struct dl_run *run = row->run;
  const struct dl_accelerator *cpu = row->gpu;
  *in = (struct dl_cpu_inputs){0};
  double sockets = dl_or(run->n_gpus, 1), share = dl_cores_share(run, cpu);
  double kernels = dl_or(run->launches, row->arch->launches);
  in->software = (int)dl_cpu_software_of(run);
  in->macs = 1e9 * run->macs_g;
  in->depthwise = dl_or(row->arch->depthwise_share, 0);
  in->activations = 1e6 * run->acts_m;
  in->weights = 1e6 * run->params_m;
  in->layers = dl_or(row->arch->layers,
                     dl_or(kernels / KERNELS_PER_LAYER, USUAL_LAYERS));
  in->batch = run->batch_size;
  in->streams = dl_or(row->other[INSTANCES], sockets);
  set_rates(in, run, cpu);
  in->matrix *= 1e12 * sockets * share;
  in->vector *= 1e12 * sockets * share;
  in->vector_bytes = 1e12 * fp32_tflops(run, cpu) * sockets * share;
  in->bandwidth = dl_bandwidth_used(run, cpu) * sockets;
  in->client = dl_is_client_cpu(cpu) && dl_cpu_most_clock(cpu) > LEAST_TURBO;
  group(row, in);
  const struct dl_required required[] = {
      {"batch_size", run->batch_size},
      {"macs_g", run->macs_g},
      {"acts_m", run->acts_m},
      {"params_m", run->params_m},
      {"gpu.peak_fp32_tflops", cpu->peak_fp32_tflops},
      {"gpu.bandwidth_gb_s", cpu->bandwidth_gb_s}};
  return dl_first_unknown(required, sizeof required / sizeof *required);
}

void dl_cpu_measured(const struct dl_run *run, double *value) {
  value[DL_CPU_TARGET_TIME] = run->request_s > 0 ? log(run->request_s) : NAN;
}

const char *dl_cpu_inputs_check(const void *inputs) {
  const struct dl_cpu_inputs *in = inputs;
  bool ok = in->batch > 0 && in->macs > 0 && in->matrix > 0 && in->vector > 0 &&
            in->bandwidth > 0 && in->streams > 0 && in->activations > 0 &&
            in->weights > 0;
  return ok ? NULL
            : "batch, work, activations, weights, peak rate and bandwidth must "
              "be above 0";
}
