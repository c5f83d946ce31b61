/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/descriptor.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"

static const struct dl_field accelerator_fields[] = {
    [DL_GPU_TDP_W] = {"tdp_w", "W", 1, 2000, "thermal design power"},
    [DL_GPU_LIMIT_W] = {"power_limit_w", "W", 1, 2000,
                        "power limit in force, where it is not the TDP"},
    [DL_GPU_FP32_TFLOPS] = {"peak_fp32_tflops", "TFLOP/s", 1e-3, 1e4,
                            "peak FP32 rate, outside tensor cores"},
    [DL_GPU_TF32_TFLOPS] = {"peak_tf32_tflops", "TFLOP/s", 1e-3, 1e5,
                            "peak TF32 tensor rate, dense"},
    [DL_GPU_FP16_TENSOR_TFLOPS] = {"peak_fp16_tensor_tflops", "TFLOP/s", 1e-3,
                                   1e5, "peak FP16/BF16 tensor rate, dense"},
    [DL_GPU_MEMORY_GB] = {"memory_gb", "GB", 0.1, 1e4, "memory of the board"},
    [DL_GPU_BANDWIDTH_GB_S] = {"bandwidth_gb_s", "GB/s", 1, 1e5,
                               "memory bandwidth"},
    [DL_GPU_CORES] = {"cuda_cores", NULL, 1, 1e6,
                      "FP32 lanes (CUDA cores, stream processors)"},
    [DL_GPU_BOOST_MHZ] = {"boost_mhz", "MHz", 100, 1e4, "boost clock"},
    [DL_GPU_YEAR] = {"year", NULL, 2000, 2100, "year of release"},
};

static const struct dl_field architecture_fields[] = {
    [DL_ARCH_MACS_G] = {"macs_g", "GMAC", 1e-6, 1e9,
                        "multiply-accumulates of one forward pass"},
    [DL_ARCH_ACTS_M] = {"acts_m", "M", 1e-6, 1e9,
                        "outputs of convolutions and dense layers"},
    [DL_ARCH_PARAMS_M] = {"params_m", "M", 1e-6, 1e9, "parameters"},
    [DL_ARCH_IMAGE_PX] = {"image_px", "px", 1, 1e5, "side of the square input"},
    [DL_ARCH_HEAD_MACS_G] = {"head_macs_g", "GMAC", 0, 1e9,
                             "part that does not grow with the input"},
    [DL_ARCH_PATCH_PX] = {"patch_px", "px", 1, 1e5, "side of a patch"},
    [DL_ARCH_DEPTH] = {"depth", NULL, 1, 1e5, "attention blocks"},
    [DL_ARCH_WIDTH] = {"width", NULL, 1, 1e6, "width of the embedding"},
};

static const struct dl_field dataset_fields[] = {
    [DL_DATA_TRAIN] = {"train_samples", NULL, 1, 1e12, "training samples"},
    [DL_DATA_VAL] = {"val_samples", NULL, 0, 1e12, "validation samples"},
    [DL_DATA_CLASSES] = {"classes", NULL, 1, 1e9, "classes"},
    [DL_DATA_IMAGE_PX] = {"image_px", "px", 1, 1e5, "usual input size"},
};

static const struct dl_field grid_fields[] = {
    [DL_GRID_CARBON_G_KWH] = {"carbon_g_kwh", "g/kWh", 0, 5000,
                              "carbon intensity, CO2 equivalent"},
    [DL_GRID_YEAR] = {"year", NULL, 2000, 2100, "year of the figure"},
};

static const char *const no_noise[] = {NULL};
static const char *const accelerator_noise[] = {
    "nvidia", "amd",      "intel",    "geforce", "tesla",
    "radeon", "instinct", "graphics", NULL};

#define COUNT(a) (sizeof(a) / sizeof *(a))

_Static_assert(COUNT(accelerator_fields) <= DL_MAX_FIELDS &&
                   COUNT(architecture_fields) <= DL_MAX_FIELDS,
               "DL_MAX_FIELDS is too small");

static const struct dl_kind_info kinds[] = {
    [DL_ACCELERATOR] = {"accelerator", "gpu", "gpus", "data/accelerators.xml",
                        "data/accelerators.rng", accelerator_fields,
                        COUNT(accelerator_fields), accelerator_noise},
    [DL_ARCHITECTURE] = {"architecture", "arch", "archs",
                         "data/architectures.xml", "data/architectures.rng",
                         architecture_fields, COUNT(architecture_fields),
                         no_noise},
    [DL_DATASET] = {"dataset", "dataset", "datasets", "data/datasets.xml",
                    "data/datasets.rng", dataset_fields, COUNT(dataset_fields),
                    no_noise},
    [DL_GRID] = {"grid", "grid", "grids", "data/grids.xml", "data/grids.rng",
                 grid_fields, COUNT(grid_fields), no_noise},
};

const struct dl_kind_info *dl_kind_info(enum dl_kind kind) {
  return &kinds[kind];
}

long dl_field_find(enum dl_kind kind, const char *name) {
  const struct dl_kind_info *k = &kinds[kind];
  for (size_t i = 0; i < k->n_fields; i++)
    if (strcmp(k->fields[i].name, name) == 0)
      return (long)i;
  return -1;
}

static enum dl_status no_such_field(enum dl_kind kind, const char *field,
                                    struct dl_diag *d) {
  const struct dl_kind_info *k = &kinds[kind];
  const char *names[DL_MAX_FIELDS];
  struct dl_text near = {0};
  for (size_t i = 0; i < k->n_fields; i++)
    names[i] = k->fields[i].name;
  dl_nearest_names(field, names, k->n_fields, 3, &near);
  dl_fail(d, DL_EUSAGE, "%s has no field '%s'; nearest: %s", k->word, field,
          dl_text_str(&near));
  dl_text_free(&near);
  return DL_EUSAGE;
}

enum dl_status dl_descriptor_set(struct dl_descriptor *e, const char *field,
                                 const char *text, struct dl_diag *d) {
  const struct dl_kind_info *k = &kinds[e->kind];
  long i = dl_field_find(e->kind, field);
  if (i < 0)
    return no_such_field(e->kind, field, d);
  double x;
  if (!dl_parse_double(text, &x))
    return dl_fail(d, DL_EUSAGE, "%s.%s: invalid number '%s'", k->word, field,
                   text);
  const struct dl_field *f = &k->fields[i];
  if (x < f->low || x > f->high)
    return dl_fail(d, DL_EINPUT, "%s.%s: %s is not between %g and %g", k->word,
                   field, text, f->low, f->high);
  e->value[i] = (struct dl_value_of){x, "given", NULL};
  return DL_OK;
}

/* Attention over n tokens: 2 depth n^2 width MACs for scores and mixing. */
static double attention_macs_g(const struct dl_descriptor *e, double px) {
  double side = floor(px / e->value[DL_ARCH_PATCH_PX].x);
  double n = side * side + 1;
  return 2e-9 * e->value[DL_ARCH_DEPTH].x * n * n * e->value[DL_ARCH_WIDTH].x;
}

static double tokens(const struct dl_descriptor *e, double px) {
  double side = floor(px / e->value[DL_ARCH_PATCH_PX].x);
  return side * side + 1;
}

static void scale_input(const struct dl_descriptor *e, struct dl_input *in,
                        double px) {
  double area = (px / in->image_px) * (px / in->image_px);
  if (e->scaling == DL_SCALING_AREA) {
    double head = e->value[DL_ARCH_HEAD_MACS_G].x;
    if (isnan(head))
      head = 0;
    in->macs_g.x = head + (in->macs_g.x - head) * area;
    in->acts_m.x *= area;
  } else if (e->scaling == DL_SCALING_TOKENS) {
    double was = attention_macs_g(e, in->image_px);
    double more = tokens(e, px) / tokens(e, in->image_px);
    in->macs_g.x = (in->macs_g.x - was) * more + attention_macs_g(e, px);
    /* Attention maps are activations too, but a minor part of them. */
    in->acts_m.x *= more;
  }
  in->macs_g.note = in->acts_m.note = "derived: scaled with the input size";
  in->image_px = px;
}

static const struct dl_input *nearest_input(const struct dl_descriptor *e,
                                            double px) {
  const struct dl_input *best = &e->inputs[0];
  for (size_t i = 1; i < e->n_inputs; i++)
    if (fabs(log(e->inputs[i].image_px / px)) < fabs(log(best->image_px / px)))
      best = &e->inputs[i];
  return best;
}

/* Activations may be listed for fewer inputs than MACs. */
static struct dl_value_of acts_at(const struct dl_descriptor *e, double px) {
  struct dl_value_of none = {NAN, NULL, NULL};
  for (size_t i = 0; i < e->n_inputs; i++) {
    if (isnan(e->inputs[i].acts_m.x))
      continue;
    struct dl_input in = e->inputs[i];
    if (in.image_px != px)
      scale_input(e, &in, px);
    return in.acts_m;
  }
  return none;
}

struct dl_descriptor dl_architecture_at(const struct dl_descriptor *e,
                                        double image_px, bool *scaled) {
  struct dl_descriptor at = *e;
  *scaled = false;
  if (e->n_inputs == 0)
    return at;
  struct dl_input in =
      isnan(image_px) ? e->inputs[0] : *nearest_input(e, image_px);
  if (!isnan(image_px) && in.image_px != image_px) {
    scale_input(e, &in, image_px);
    *scaled = true;
  }
  if (isnan(in.acts_m.x))
    in.acts_m = acts_at(e, in.image_px);
  at.value[DL_ARCH_MACS_G] = in.macs_g;
  at.value[DL_ARCH_ACTS_M] = in.acts_m;
  at.value[DL_ARCH_IMAGE_PX] = (struct dl_value_of){in.image_px, NULL, NULL};
  return at;
}

static bool is_noise(const char *const *noise, const char *word, size_t n) {
  for (; *noise; noise++)
    if (strlen(*noise) == n && strncasecmp(*noise, word, n) == 0)
      return true;
  return false;
}

/* A dot between digits counts: 1.6GF is not 16GF. */
static bool decimal_point(const char *start, const char *p) {
  return *p == '.' && p > start && isdigit((unsigned char)p[-1]) &&
         isdigit((unsigned char)p[1]);
}

void dl_fold_name(enum dl_kind kind, const char *name, struct dl_text *to) {
  const char *const *noise = kinds[kind].noise;
  for (const char *p = name; *p;) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || decimal_point(name, p + n))
      n++;
    if (n == 0) {
      p++;
      continue;
    }
    if (!is_noise(noise, p, n))
      for (size_t i = 0; i < n; i++) {
        char c = (char)tolower((unsigned char)p[i]);
        dl_text_add_n(to, &c, 1);
      }
    p += n;
  }
}
