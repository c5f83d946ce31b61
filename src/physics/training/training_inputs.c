/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of the physics of training from a row. */

#include "physics/training/training_inputs.h"

#include "base/constants.h"
#include "physics/rows/inputs.h"
#include "run/setup/fine_tune.h"
#include "run/setup/training_setup.h"

const struct dl_physics_quantity
    dl_training_quantities[DL_N_TRAINING_QUANTITIES] = {
        {DL_ON_RUN(batch_size), true, true},
        {DL_ON_RUN(image_px), false, false},
        {DL_ON_RUN(train_samples), true, false},
        {DL_ON_RUN(val_samples), false, false},
        {DL_ON_RUN(drop_last), false, false},
        {DL_ON_RUN(frozen_base), false, false},
        {DL_ON_RUN(dataset), false, false},
        {DL_ON_RUN(macs_g), true, true},
        {DL_ON_RUN(acts_m), false, false},
        {DL_ON_ARCH(traffic_ratio), false, false},
        {DL_ON_ARCH(elementwise_ratio), false, false},
        {DL_ON_ARCH(padding_ratio), false, false},
        {DL_ON_ARCH(depthwise_share), false, false},
        {DL_ON_ARCH(attention_acts_m), false, false},
        {DL_ON_ARCH(attention_macs_g), false, false},
        {DL_ON_ARCH(heads), false, false},
        {DL_ON_ARCH(regions), false, false},
        {DL_ON_ARCH(macs_g), false, false},
        {DL_ON_ARCH(acts_m), false, false},
        {DL_ON_RUN(launches), false, false},
        {DL_ON_ARCH(layers), false, false},
        {DL_ON_ARCH(launches), false, false},
        {DL_ON_ARCH(launch_path), false, false},
        {DL_ON_RUN(params_m), false, false},
        {DL_ON_ARCH(sparse_params_m), false, false},
        {DL_ON_ARCH(head_params_m), false, false},
        {DL_ON_RUN(precision), false, false},
        {DL_ON_GPU(peak_fp32_tflops), true, false},
        {DL_ON_GPU(peak_tf32_tflops), false, false},
        {DL_ON_GPU(peak_fp16_tensor_tflops), false, false},
        {DL_ON_GPU(bandwidth_gb_s), true, true},
        {DL_ON_GPU(tdp_w), true, true},
        {DL_ON_RUN(power_limit_w), false, false},
        {DL_ON_GPU(memory_type), false, false},
        {DL_ON_GPU(memory_gb), false, false},
        {DL_ON_RUN(host_class), false, false},
        {DL_ON_RUN(boundary), false, false},
        {DL_ON_RUN(gpu), false, false},
        {DL_ON_RUN(host), false, false},
        {DL_ON_RUN(arch), false, false},
        {DL_ON_RUN(source), false, false},
        {DL_ON_RUN(framework), false, false},
        {DL_ON_RUN(n_gpus), false, false},
        {DL_ON_RUN(gpus_per_node), false, false},
        {DL_ON_RUN(network_gbps), false, false},
        {DL_ON_RUN(grad_accum), false, false},
        {DL_ON_RUN(stack), false, false},
        {DL_ON_RUN(samples_per_s), false, false},
        {DL_ON_RUN(step_s), false, false},
        {DL_ON_GPU(family), false, false},
        {DL_ON_GPU(link_gb_s), false, false},
        {DL_ON_GPU(link_domain), false, false},
        {DL_ON_GPU(peak_bf16_tensor_tflops), false, false},
        {DL_ON_GPU(multiprocessors), false, false},
        {DL_ON_GPU(boost_mhz), false, false},
        {DL_ON_OWN(facts_doubt), false, false},
        {DL_ON_OWN(doubt), false, false},
        {DL_ON_RUN(checkpointing), false, false},
        {DL_ON_RUN(fine_tune), false, false},
        {DL_ON_RUN(lora_rank), false, false},
        {DL_ON_RUN(cached_latents), false, false},
        {DL_ON_RUN(cpu_cores), false, false},
};
/* Numbers in other columns, in the order of the quantities: standard deviations
 * of logarithms, of the facts of the network (work, traffic, kernels) and of
 * the measured power. */
enum { FACTS_SD, SD };

/* Kernels per convolution or dense layer (its normalisation, activation, sum),
 * and kernels of a network of which nothing is known: the median of
 * torchvision's. */
#define KERNELS_PER_LAYER 3.2
#define USUAL_KERNELS 250

/* Length scales of the residual process, in factors of e. */
#define LENGTH_BATCH 0.7
#define LENGTH_PX 0.35
#define LENGTH_SAMPLES 1.4

/* GPUs of a node, if it is not given. */
#define USUAL_PER_NODE 8

/* Traffic of tuned software by outputs of layers: of all operators where it is
 * not known, of the layers themselves, and of the scores of attention, which
 * its kernels do not write. */
#define TRAFFIC_BY_OUTPUTS 7
#define TRAFFIC_OF_LAYERS 2
#define TRAFFIC_OF_SCORES 4

/* Traffic of layers beside the operators between them, by outputs: mean of the
 * 27 networks of which both are counted (1.0 to 4.1). */
#define TRAFFIC_OF_LAYERS_ALONE 1.7

/* Share of the traffic between layers that fused kernels leave (torch.compile):
 * docs/lab/estimation.md. */
#define LEFT_BY_COMPILER 0.2

/* MHz, of the A100: what the time of kernels in tuned software is for. */
#define USUAL_CLOCK_MHZ 1410

/* How uncertain the time of a row is, by how uncertain its power: of the input
 * pipeline nothing is known. */
#define TIME_UNCERTAINTY 4

/* del Rey et al. 2024 train 10 of about 80 epochs on ChessLive with a frozen
 * backbone. */
#define FROZEN_ON_CHESSLIVE 0.125

/* Factor by which the activations of a network differ from its descriptor's
 * where the run gives its own work: a width factor changes them by the square
 * root. */
static double width(const struct dl_physics_row *row) {
  double work = row->run->macs_g / dl_or(row->arch->macs_g, row->run->macs_g);
  bool own = !(row->run->acts_m < row->arch->acts_m) &&
             !(row->run->acts_m > row->arch->acts_m);
  return own && !isnan(row->arch->acts_m) ? pow(work, 0.5) : 1;
}

double dl_traffic_ratio(const struct dl_architecture *arch) {
  return dl_or(arch->traffic_ratio,
               arch->elementwise_ratio + TRAFFIC_OF_LAYERS_ALONE);
}

/* Outputs of convolutions and dense layers, 1e6 elements per sample; where they
 * are unknown they about follow sqrt(MACs) x side of the image. */
static double activations(const struct dl_physics_row *row) {
  double known = dl_or(row->run->acts_m * width(row), 0);
  if (known > 0)
    return known;
  return sqrt(row->run->macs_g) * fmax(dl_or(row->run->image_px, 0), 32) / 35;
}

static double kernels(const struct dl_physics_row *row) {
  if (row->run->launches > 0)
    return row->run->launches;
  if (row->arch->layers > 0)
    return KERNELS_PER_LAYER * row->arch->layers;
  return USUAL_KERNELS;
}

/* Kernels beside the longest path: TensorFlow's threads launch them at once. */
static double beside(const struct dl_physics_row *row, double all) {
  double path = row->arch->launch_path / row->arch->launches;
  return dl_framework_of(row->run) == DL_FRAMEWORK_TENSORFLOW && path < 1
             ? all * (1 - path)
             : 0;
}

/* Whether the peak rate is the tensor cores': 1 TF32, 2 a 16-bit format. On
 * boards whose TF32 rate is about their FP32 rate, products in either are
 * alike. */
#define FASTER 1.5
static int in_tensor_cores(const struct dl_accelerator *gpu,
                           enum dl_precision precision) {
  bool faster = gpu->peak_tf32_tflops > FASTER * gpu->peak_fp32_tflops;
  if (dl_is_16_bit(precision) && dl_peak_16_bit(gpu, precision) > 0)
    return 2;
  return gpu->peak_tf32_tflops > 0 &&
         !(precision == DL_PRECISION_FP32 && faster);
}

static enum dl_training_stack stack_of(const struct dl_run *run) {
  switch (dl_stack_of(run)) {
  case DL_SOFTWARE_NGC:
    return DL_STACK_NGC;
  case DL_SOFTWARE_MLPERF:
    return DL_STACK_MLPERF;
  default:
    return DL_STACK_EAGER;
  }
}

/* The machines that share the work. */
static void read_machines(struct dl_training_inputs *in,
                          const struct dl_physics_row *row) {
  const struct dl_run *run = row->run;
  double link = dl_or(row->gpu->link_gb_s, DL_PCIE_3_X16_GB_S);
  double domain = dl_or(row->gpu->link_domain, USUAL_PER_NODE);
  in->n_gpus = fmax(dl_or(run->n_gpus, 1), 1);
  in->per_node = fmax(dl_or(run->gpus_per_node, domain), 1);
  in->link = 1e9 * link;
  in->network =
      1e9 / 8 * dl_or(run->network_gbps, dl_usual_network_gbps(row->gpu));
  in->gradients = dl_is_16_bit(run->precision) ? 0.5 : 1;
}

/* Networks with attention do most of their work in dense layers, which reach
 * more of the 16-bit rate of tensor cores in eager mode than convolutions: .70
 * by the fit of language models, .50 by the fit of networks for images. In TF32
 * they are alike (.65, .69). */
#define DENSE_SHARE 1.4
static double dense_share(const struct dl_training_inputs *in,
                          const struct dl_architecture *arch) {
  bool dense = arch->heads > 0 || arch->attention_macs_g > 0;
  return dense && in->in_tensor == 2 && in->stack == DL_STACK_EAGER
             ? DENSE_SHARE
             : 1;
}

static double peak_tflops(const struct dl_accelerator *gpu,
                          enum dl_precision precision) {
  double half = dl_is_16_bit(precision) ? dl_peak_16_bit(gpu, precision) : 0;
  return fmax(dl_peak_32_bit(gpu, precision), half * dl_half_rate_share(gpu));
}

/* Tuned software, on machines of many laboratories: what GPUs and networks are
 * found to differ by there is kept apart. */
static void group_tuned(struct dl_grouping *g) {
  static const struct dl_level_names none = {DL_NAME_NONE, DL_NAME_NONE};
  g->name[DL_NAME_TUNED] = "tuned";
  g->level[DL_FACTOR_HOST] = g->level[DL_FACTOR_FRAMEWORK] =
      g->level[DL_FACTOR_ARCH] = g->unnamed[DL_FACTOR_HOST] = none;
  g->level[DL_FACTOR_FACTS] =
      (struct dl_level_names){DL_NAME_ARCH, DL_NAME_TUNED};
  g->level[DL_FACTOR_GPU].within = DL_NAME_TUNED;
  g->level[DL_FACTOR_FAMILY].name = DL_NAME_FAMILY;
}

/* A machine without a name is known by the source, if any, and its GPU, and so
 * is what runs on it; a network whose facts are uncertain is one of its own on
 * each data set. */
static void group(const struct dl_physics_row *row,
                  const struct dl_training_inputs *in, struct dl_grouping *g) {
  static const struct dl_level_names machine = {DL_NAME_SOURCE, DL_NAME_GPU},
                                     network = {DL_NAME_ARCH, DL_NAME_DATASET};
  double sd = dl_or(row->other[SD], 0),
         facts_sd = dl_or(row->other[FACTS_SD], 0);
  bool uncertain = facts_sd > 0;
  dl_row_names_of(row, g->name);
  g->level[DL_FACTOR_HOST] = machine;
  if (g->name[DL_NAME_HOST])
    g->level[DL_FACTOR_HOST] = (struct dl_level_names){.name = DL_NAME_HOST};
  g->unnamed[DL_FACTOR_HOST] = (struct dl_level_names){.within = DL_NAME_GPU};
  g->level[DL_FACTOR_GPU].name = DL_NAME_GPU;
  g->level[DL_FACTOR_ARCH].name = DL_NAME_ARCH;
  if (uncertain)
    g->level[DL_FACTOR_ARCH] = g->level[DL_FACTOR_FACTS] = network;
  g->level[DL_FACTOR_FRAMEWORK] = machine;
  if (g->name[DL_NAME_FRAMEWORK])
    g->level[DL_FACTOR_FRAMEWORK] =
        (struct dl_level_names){.name = DL_NAME_FRAMEWORK};
  if (!uncertain)
    g->level[DL_FACTOR_FACTS].name = DL_NAME_ARCH;
  if (in->stack != DL_STACK_EAGER)
    group_tuned(g);
  g->level_sd = facts_sd;
  g->sd[DL_TARGET_POWER] = g->sd[DL_TARGET_ENERGY] = sd;
  g->sd[DL_TARGET_TIME] =
      (in->stack == DL_STACK_EAGER ? TIME_UNCERTAINTY : 1) * sd;
  g->misfit_sd = hypot(sd, facts_sd);
  g->steady = sd > 0;
  g->x[0] = log(in->batch) / LENGTH_BATCH;
  g->x[1] = log(fmax(dl_or(row->run->image_px, 0), 1)) / LENGTH_PX;
  g->x[2] = log(in->train) / LENGTH_SAMPLES;
  g->exact = in->frozen;
}

/* Depthwise layers do not run in tensor cores, which compute padded tiles. */
static void split_work(struct dl_training_inputs *in,
                       const struct dl_architecture *arch) {
  double share = dl_or(arch->depthwise_share, 0), all = in->flops;
  double padded = all * dl_or(arch->padding_ratio, 1 - share);
  in->depthwise = all * share;
  in->flops = in->in_tensor ? padded : all * (1 - share);
  in->other_flops = in->other_in_tensor ? padded : all * (1 - share);
}

/* 16 bits may give way to TF32, or FP32, and TF32 to FP32. */
static void read_rates(struct dl_training_inputs *in,
                       const struct dl_physics_row *row) {
  const struct dl_accelerator *gpu = row->gpu;
  enum dl_precision precision = row->run->precision;
  double tera = 1e12 * dl_cores_share(row->run, gpu);
  in->in_tensor = in_tensor_cores(gpu, precision);
  in->peak = tera * peak_tflops(gpu, precision) * dense_share(in, row->arch);
  in->plain = tera * gpu->peak_fp32_tflops;
  in->has_tensor = gpu->peak_fp16_tensor_tflops > 0;
  enum dl_precision other =
      in->in_tensor == 2 ? DL_PRECISION_UNKNOWN : DL_PRECISION_FP32;
  in->other_in_tensor = in_tensor_cores(gpu, other);
  if (in->other_in_tensor < in->in_tensor)
    in->other_peak = tera * dl_peak_32_bit(gpu, other);
}

/* Counts layers apart from what is between them where kernels are fused.
 * `element`: bytes. */
static void split_traffic(struct dl_training_inputs *in,
                          const struct dl_physics_row *row, double element) {
  const struct dl_architecture *arch = row->arch;
  double outputs = activations(row);
  double scores = dl_or(arch->attention_acts_m * outputs / arch->acts_m, 0);
  double layers = fmax(outputs - scores, 0);
  double all = outputs * dl_or(dl_traffic_ratio(arch), TRAFFIC_BY_OUTPUTS);
  in->bytes = 1e6 * element * TRAFFIC_OF_LAYERS * layers;
  in->between =
      1e6 * element *
      fmax(all - TRAFFIC_OF_LAYERS * layers - TRAFFIC_OF_SCORES * scores, 0);
  in->bytes_known = 1;
}

/* Share of the traffic that software which fuses kernels leaves. */
static void fuse_kernels(struct dl_training_inputs *in,
                         const struct dl_physics_row *row, double element) {
  in->clock = 1;
  if (in->stack != DL_STACK_EAGER) {
    split_traffic(in, row, element);
    in->clock = dl_or(row->gpu->boost_mhz, USUAL_CLOCK_MHZ) / USUAL_CLOCK_MHZ;
  } else if (dl_stack_of(row->run) == DL_SOFTWARE_COMPILED) {
    split_traffic(in, row, element);
    in->bytes += LEFT_BY_COMPILER * in->between;
    in->between = 0;
  }
}

double dl_training_memory_w(const struct dl_accelerator *gpu) {
  bool shared = gpu && gpu->memory_type &&
                strncmp(gpu->memory_type, "lpddr", strlen("lpddr")) == 0;
  return shared ? 0 : DL_PHYSICAL_MEMORY_W;
}

/* The share of a forward pass that checkpointing computes again. A frozen
 * backbone has nothing to compute again. */
static double computed_again(const struct dl_physics_row *row) {
  const struct dl_run *run = row->run;
  if (run->frozen_base > 0)
    return 0;
  if (run->checkpointing == DL_CHECKPOINT_FULL)
    return 1;
  return run->checkpointing == DL_CHECKPOINT_SELECTIVE
             ? dl_or(row->arch->attention_macs_g / run->macs_g, 0)
             : 0;
}

/* Work of text and image encoders by the text encoders and the image decoder,
 * which the catalogue has: 558 and 6.5 GMAC for 1,270 of Stable Diffusion 1 at
 * 512 px, by layers. */
#define ENCODERS 0.44

/* The encoders of a diffusion model, which are not trained, by a forward pass
 * of the network: scripts compute them for each sample, unless they cache what
 * these put out. Containers and entries to MLPerf have computed them before. */
static double encoded(const struct dl_training_inputs *in,
                      const struct dl_physics_row *row) {
  const struct dl_architecture *arch = row->arch;
  bool cached = row->run->cached_latents == DL_CACHED_LATENTS_YES;
  return in->stack == DL_STACK_EAGER && !cached && arch->pipeline_macs_g > 0
             ? ENCODERS * arch->pipeline_macs_g / arch->macs_g
             : 0;
}

/* Kernels that an adapter adds to a pass: two products, and a scaling, a sum
 * and two conversions from FP32. */
#define KERNELS_OF_ADAPTER 6

/* Weights that are trained, in FP32, updated once in so many batches: all, or
 * adapters beside them. */
static void set_weights(struct dl_training_inputs *in,
                        const struct dl_physics_row *row) {
  enum dl_fine_tune tune = dl_fine_tune_of(row->run);
  double all = dl_or(row->run->params_m, 0);
  double dense = fmax(all - dl_or(row->arch->sparse_params_m, 0), 0);
  in->weights = 4e6 * dense / dl_or(row->run->grad_accum, 1);
  if (tune != DL_TUNE_LORA && tune != DL_TUNE_QLORA)
    return;
  in->spared = 1;
  in->kernels += KERNELS_OF_ADAPTER * dl_adapted_layers(row->arch);
  in->weights = 4 * dl_adapter_params(row->run, row->arch) /
                dl_or(row->run->grad_accum, 1);
}

const char *dl_training_inputs_read(const struct dl_physics_row *row,
                                    void *inputs) {
  struct dl_training_inputs *in = inputs;
  const struct dl_run *run = row->run;
  const struct dl_architecture *arch = row->arch;
  const struct dl_accelerator *gpu = row->gpu;
  double frozen = dl_or(run->frozen_base, 0);
  double traffic = dl_or(run->acts_m * dl_traffic_ratio(arch) * width(row), 0);
  double element = dl_is_16_bit(run->precision) ? 2 : 4;
  *in = (struct dl_training_inputs){0};
  in->batch = dl_micro_batch(run);
  in->train = dl_batched_samples(run, run->train_samples);
  in->val = dl_batched_samples(run, dl_or(run->val_samples, 0));
  in->again = computed_again(row);
  in->frozen = fmax(
      frozen, dl_is_word(run->dataset, "chesslive") ? FROZEN_ON_CHESSLIVE : 0);
  in->flops = 2e9 * run->macs_g; /* a multiply-accumulate is two FLOPs */
  /* Traffic of all layers where it is known, else their outputs. */
  in->bytes_known = traffic > 0;
  in->bytes = 1e6 * (traffic > 0 ? traffic : activations(row)) * element;
  in->kernels = kernels(row);
  in->stack = stack_of(run);
  in->again += encoded(in, row);
  in->beside = beside(row, in->kernels);
  in->regions = arch->regions > 0;
  in->head = 4e6 * (frozen * dl_or(arch->head_params_m, 0)) /
             dl_or(run->grad_accum, 1);
  set_weights(in, row);
  read_rates(in, row);
  split_work(in, arch);
  fuse_kernels(in, row, element);
  in->bandwidth = dl_bandwidth_used(row->run, gpu);
  in->tdp = gpu->tdp_w;
  in->limit = run->power_limit_w > 0 ? run->power_limit_w : gpu->tdp_w;
  in->ada_32 = dl_is_word(gpu->family, "ada") && in->in_tensor < 2;
  in->gddr = dl_gddr_gb_s(gpu);
  in->chips = dl_gddr_chips_gb_s(gpu);
  in->server =
      in->stack == DL_STACK_EAGER && dl_host_class_of(run) == DL_HOST_SERVER;
  /* Memory of the node, where the boundary has it. */
  in->ram_w = !run->boundary || dl_is_word(run->boundary, "gpu+ram")
                  ? dl_training_memory_w(gpu)
                  : 0;
  read_machines(in, row);
  group(row, in, &in->grouping);
  in->mid_run = in->grouping.steady > 0;
  const struct dl_required required[] = {
      {"batch_size", run->batch_size},
      {"train_samples", run->train_samples},
      {"macs_g", run->macs_g},
      {"gpu.peak_fp32_tflops", in->peak > 0 ? in->peak : NAN},
      /* depthwise layers run outside of tensor cores */
      {"gpu.peak_fp32_tflops", in->depthwise > 0 ? in->plain : 0},
      {"gpu.bandwidth_gb_s", gpu->bandwidth_gb_s},
      {"gpu.tdp_w", gpu->tdp_w}};
  return dl_first_unknown(required, sizeof required / sizeof *required);
}

/* Samples per second. */
static double speed(const struct dl_run *run) {
  double n = fmax(dl_or(run->n_gpus, 1), 1);
  return run->samples_per_s > 0 ? run->samples_per_s
                                : dl_micro_batch(run) * n / run->step_s;
}

/* The work of an epoch in training samples: a validation sample is a third of
 * one, or as much where the backbone is frozen. */
static double epoch_samples(const struct dl_run *run) {
  double val = dl_batched_samples(run, dl_or(run->val_samples, 0));
  return dl_batched_samples(run, run->train_samples) +
         val * (1 + 2 * dl_or(run->frozen_base, 0)) / 3;
}

void dl_training_measured(const struct dl_run *run, double *value) {
  double n = fmax(dl_or(run->n_gpus, 1), 1);
  value[DL_TARGET_POWER] =
      run->gpu_power_w > 0 ? log(run->gpu_power_w / n) : NAN;
  value[DL_TARGET_ENERGY] =
      run->epoch_energy_j > 0 ? log(run->epoch_energy_j) : NAN;
  value[DL_TARGET_TIME] = NAN;
  if (run->epoch_s > 0)
    value[DL_TARGET_TIME] = log(run->epoch_s);
  else if (speed(run) > 0)
    value[DL_TARGET_TIME] = log(epoch_samples(run) / speed(run));
}

const char *dl_training_inputs_check(const void *inputs) {
  const struct dl_training_inputs *in = inputs;
  bool ok = in->batch > 0 && in->train > 0 && in->flops > 0 && in->peak > 0 &&
            in->tdp > 0 && in->bandwidth > 0;
  return ok ? NULL
            : "batch, samples, work, peak rate, bandwidth and TDP must be "
              "above "
              "0";
}

/* Networks whose facts are more uncertain than that (standard deviation of the
 * logarithm) say nothing of the errors of a fit. An energy may follow from
 * power and time, and a time from power and energy. */
#define UNCERTAIN_FACTS_SD 0.5

double dl_training_scored(const void *inputs, const double *value,
                          size_t target) {
  const struct dl_training_inputs *in = inputs;
  if (in->grouping.level_sd > UNCERTAIN_FACTS_SD)
    return NAN;
  if (target == DL_TARGET_ENERGY && isnan(value[target]))
    return log(exp(value[DL_TARGET_POWER]) + in->ram_w) + value[DL_TARGET_TIME];
  if (target == DL_TARGET_TIME && isnan(value[target]))
    return value[DL_TARGET_ENERGY] -
           log(in->n_gpus * exp(value[DL_TARGET_POWER]) + in->ram_w);
  return value[target];
}
