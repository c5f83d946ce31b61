/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the physics of tuned inference from a row. */

#include "physics/tuned/tuned_inputs.h"

#include "physics/rows/inputs.h"

const struct dl_physics_quantity dl_tuned_quantities[DL_N_TUNED_QUANTITIES] = {
    {DL_ON_RUN(batch_size), true, false},
    {DL_ON_RUN(requests), false, false},
    {DL_ON_RUN(image_px), false, false},
    {DL_ON_RUN(macs_g), true, true},
    {DL_ON_RUN(acts_m), false, false},
    {DL_ON_ARCH(attention_acts_m), false, false},
    {DL_ON_ARCH(attention_macs_g), false, false},
    {DL_ON_ARCH(heads), false, false},
    {DL_ON_ARCH(traffic_ratio), false, false},
    {DL_ON_ARCH(elementwise_ratio), false, false},
    {DL_ON_ARCH(macs_g), false, false},
    {DL_ON_ARCH(acts_m), false, false},
    {DL_ON_RUN(launches), false, false},
    {DL_ON_ARCH(layers), false, false},
    {DL_ON_ARCH(launches), false, false},
    {DL_ON_RUN(params_m), false, false},
    {DL_ON_ARCH(sparse_params_m), false, false},
    {DL_ON_RUN(precision), false, false},
    {DL_ON_RUN(n_gpus), false, false},
    {DL_ON_GPU(peak_fp32_tflops), false, false},
    {DL_ON_GPU(peak_tf32_tflops), false, false},
    {DL_ON_GPU(peak_bf16_tensor_tflops), false, false},
    {DL_ON_GPU(peak_fp16_tensor_tflops), false, false},
    {DL_ON_GPU(peak_fp8_tensor_tflops), false, false},
    {DL_ON_GPU(peak_fp4_tensor_tflops), false, false},
    {DL_ON_GPU(peak_int8_tensor_tops), false, false},
    {DL_ON_GPU(peak_int8_tops), false, false},
    {DL_ON_GPU(bandwidth_gb_s), true, true},
    {DL_ON_GPU(tdp_w), true, true},
    {DL_ON_RUN(power_limit_w), false, false},
    {DL_ON_GPU(family), false, false},
    {DL_ON_RUN(gpu), false, false},
    {DL_ON_RUN(arch), false, false},
    {DL_ON_RUN(source), false, false},
    {DL_ON_RUN(request_s), false, false},
    {DL_ON_RUN(request_power_w), false, false},
    {DL_ON_OWN(doubt), false, false},
};

/* Numbers in other columns: standard deviation of the logarithm of the measured
 * power. */
enum { POWER_SD };

/* Kernels of a layer (its normalisation, activation, sum), and of a network of
 * which nothing is known, where these are fused. */
#define KERNELS_PER_LAYER 3.2
#define USUAL_KERNELS 100

/* Traffic by outputs: of layers, whose outputs are written and read once; of
 * layers where what is between them is counted apart; of scores of attention in
 * eager software. */
#define TRAFFIC_OF_LAYERS 2
#define TRAFFIC_OF_LAYERS_ALONE 1.7
#define TRAFFIC_OF_SCORES 4

/* A format: bytes of an element and the peak rate, TFLOP/s; 0: none. */
struct format {
  double bytes, peak;
};

static struct format in_16_bits(const struct dl_accelerator *gpu,
                                enum dl_precision precision) {
  enum dl_precision p = dl_is_16_bit(precision) ? precision : DL_PRECISION_FP16;
  return (struct format){2, dl_peak_16_bit(gpu, p) * dl_half_rate_share(gpu)};
}

/* Rate of the units for fewer than 16 bits, TFLOP/s; 0: none. */
static double peak_of_few_bits(const struct dl_accelerator *gpu,
                               enum dl_precision precision) {
  switch (precision) {
  case DL_PRECISION_INT8:
    return dl_or(gpu->peak_int8_tensor_tops, dl_or(gpu->peak_int8_tops, 0));
  case DL_PRECISION_FP8:
    return dl_or(gpu->peak_fp8_tensor_tflops, 0);
  case DL_PRECISION_FP4:
    return dl_or(gpu->peak_fp4_tensor_tflops, 0);
  default:
    return 0;
  }
}

/* Software takes 16 bits where a board has no units for fewer, and TF32 or FP32
 * where it has none for 16 either. */
static struct format format_of(const struct dl_accelerator *gpu,
                               enum dl_precision precision) {
  bool in_32 = precision == DL_PRECISION_FP32 || precision == DL_PRECISION_TF32;
  double bytes = precision == DL_PRECISION_FP4 ? 0.5 : 1;
  struct format f = {bytes, peak_of_few_bits(gpu, precision)};
  if (!(f.peak > 0) && !in_32)
    f = in_16_bits(gpu, precision);
  if (!(f.peak > 0))
    f = (struct format){4, dl_peak_32_bit(gpu, precision)};
  return f;
}

/* The precision of products: there are no convolutions in FP4, nor does every
 * GPU have units for it. */
static enum dl_precision precision_of(const struct dl_physics_row *row) {
  const struct dl_architecture *arch = row->arch;
  bool dense = arch->heads > 0 || arch->attention_macs_g > 0;
  bool in_4 = dense && row->gpu->peak_fp4_tensor_tflops > 0;
  enum dl_precision p = row->run->precision;
  return p == DL_PRECISION_FP4 && !in_4 ? DL_PRECISION_FP8 : p;
}

/* Bytes of what layers write and read, without scores of attention, which stay
 * on the chip. Where outputs are unknown they about follow sqrt(MACs) x side of
 * the image. Normalisations of networks with attention depend on the sample:
 * they are not fused into layers, and computed in 16 bits. */
static double traffic(const struct dl_physics_row *row, double element) {
  const struct dl_architecture *arch = row->arch;
  double all = dl_or(row->run->acts_m, 0);
  double scores = dl_or(all * arch->attention_acts_m / arch->acts_m, 0);
  double between = dl_or(arch->traffic_ratio,
                         arch->elementwise_ratio + TRAFFIC_OF_LAYERS_ALONE);
  if (!(all > 0))
    all = sqrt(row->run->macs_g) * fmax(dl_or(row->run->image_px, 0), 32) / 35;
  double layers = TRAFFIC_OF_LAYERS * (all - scores);
  if (!(arch->attention_acts_m > 0) || isnan(between))
    return 1e6 * element * layers;
  return 1e6 * fmax(element, 2) *
         fmax(between * all - TRAFFIC_OF_SCORES * scores, layers);
}

/* Operations of a sample. Attention is computed in 16 bits, whose rate falls
 * with the bytes. */
static double operations(const struct dl_physics_row *row, double bytes) {
  const struct dl_architecture *arch = row->arch;
  double macs = row->run->macs_g;
  double attention =
      dl_or(arch->attention_macs_g / arch->macs_g, 0) * fmax(2 / bytes - 1, 0);
  return 2e9 * macs * (1 + attention);
}

static double kernels(const struct dl_physics_row *row) {
  if (row->run->launches > 0)
    return row->run->launches;
  return row->arch->layers > 0 ? KERNELS_PER_LAYER * row->arch->layers
                               : USUAL_KERNELS;
}

static void group(const struct dl_physics_row *row, struct dl_grouping *g) {
  dl_row_names_of(row, g->name);
  g->level[DL_TUNED_FACTOR_GPU].name = DL_NAME_GPU;
  g->level[DL_TUNED_FACTOR_FAMILY].name = DL_NAME_FAMILY;
  g->level[DL_TUNED_FACTOR_ARCH].name = DL_NAME_ARCH;
  g->sd[DL_TUNED_TARGET_POWER] = dl_or(row->other[POWER_SD], 0);
}

const char *dl_tuned_inputs_read(const struct dl_physics_row *row,
                                 void *inputs) {
  struct dl_tuned_inputs *in = inputs;
  const struct dl_run *run = row->run;
  const struct dl_accelerator *gpu = row->gpu;
  struct format f = format_of(gpu, precision_of(row));
  double params =
      dl_or(run->params_m, 0) - dl_or(row->arch->sparse_params_m, 0);
  *in = (struct dl_tuned_inputs){0};
  in->batch = run->batch_size;
  in->flops = operations(row, f.bytes);
  in->element = f.bytes;
  in->bytes = traffic(row, f.bytes);
  in->weights = 1e6 * f.bytes * fmax(params, 0);
  in->kernels = kernels(row);
  in->n_gpus = fmax(dl_or(run->n_gpus, 1), 1);
  in->peak = 1e12 * f.peak;
  in->bandwidth = 1e9 * gpu->bandwidth_gb_s;
  in->tdp = gpu->tdp_w;
  in->limit = run->power_limit_w > 0 ? run->power_limit_w : gpu->tdp_w;
  group(row, &in->grouping);
  const struct dl_required required[] = {
      {"batch_size", run->batch_size},
      {"macs_g", run->macs_g},
      {"gpu.peak_fp32_tflops", in->peak > 0 ? in->peak : NAN},
      {"gpu.bandwidth_gb_s", gpu->bandwidth_gb_s},
      {"gpu.tdp_w", gpu->tdp_w}};
  return dl_first_unknown(required, sizeof required / sizeof *required);
}

void dl_tuned_measured(const struct dl_run *run, double *value) {
  value[DL_TUNED_TARGET_TIME] = run->request_s > 0 ? log(run->request_s) : NAN;
  value[DL_TUNED_TARGET_POWER] =
      run->request_power_w > 0 ? log(run->request_power_w) : NAN;
}

const char *dl_tuned_inputs_check(const void *inputs) {
  const struct dl_tuned_inputs *in = inputs;
  bool ok = in->batch > 0 && in->flops > 0 && in->peak > 0 &&
            in->bandwidth > 0 && in->tdp > 0 && in->limit > 0;
  return ok ? NULL
            : "batch, work, peak rate, bandwidth and TDP must be above 0";
}
