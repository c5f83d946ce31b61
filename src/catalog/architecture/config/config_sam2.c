/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/config/config_sam2.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/config/config_families.h"
#include "catalog/architecture/config/config_values.h"
#include "catalog/architecture/file_name.h"
#include "catalog/architecture/transformer.h"
#include "catalog/catalog_file.h"

enum { MOST_STAGES = 8, MOST_LAYERS = 1000 };

/* A network as it is counted; wrong: the first key whose value cannot be. */
struct sam2 {
  const dl_json *whole, *vision, *backbone, *prompt, *decoder;
  const char *wrong;
  struct dl_pass pass;
  double params, layers, image;
  size_t stages;
  double side[MOST_STAGES]; /* of the grid behind a stage */
  double dim[MOST_STAGES];
};

static double checked(struct sam2 *s, const char *key, struct dl_json_value v,
                      double usual) {
  if (v.type == DL_JSON_ABSENT)
    return usual;
  bool fits = v.type == DL_JSON_NUMBER && v.number >= 0 && v.number <= 1e6;
  if (!fits && !s->wrong)
    s->wrong = key;
  return fits ? v.number : usual;
}

/* A number, or the first of a list: sides of images and kernels are equal. */
static double size_of(struct sam2 *s, const dl_json *j, const char *key,
                      double usual) {
  const dl_json *list = dl_json_member(j, key);
  struct dl_json_value own =
      dl_json_size(list) > 0 ? dl_json_value_at(list, 0) : dl_json_get(j, key);
  double first = checked(s, key, own, usual);
  for (size_t i = 1; i < dl_json_size(list); i++)
    if (dl_json_value_at(list, i).number != first && !s->wrong)
      s->wrong = key;
  if (first < 1 && !s->wrong)
    s->wrong = key;
  return first;
}

/* How many there are of what is counted one by one. */
static size_t count_of(struct sam2 *s, const dl_json *j, const char *key,
                       size_t usual) {
  double n = size_of(s, j, key, (double)usual);
  bool fits = n <= MOST_LAYERS && n == floor(n);
  if (!fits && !s->wrong)
    s->wrong = key;
  return fits ? (size_t)n : usual;
}

static double of_stage(struct sam2 *s, const char *key, size_t i,
                       const double usual[4]) {
  const dl_json *list = dl_json_member(s->backbone, key);
  if (list && dl_json_size(list) != s->stages && !s->wrong)
    s->wrong = key;
  if (!list && s->stages != 4 && !s->wrong)
    s->wrong = key;
  return checked(s, key, dl_json_value_at(list, i), usual[i % 4]);
}

/* Counts a layer with biases for n outputs of a size. */
static void linear(struct sam2 *s, double n, double in, double out) {
  s->params += in * out + out;
  s->pass.macs += n * in * out;
  s->pass.acts += n * out;
  s->layers += 1;
}

/* Counts a convolution that doubles the sides of n inputs. */
static void upscale(struct sam2 *s, double n, double in, double out) {
  linear(s, n, in, 4 * out);
  s->params -= 3 * out; /* one bias a channel */
}

static void attend(struct sam2 *s, double queries, double keys, double d,
                   double heads) {
  s->pass.attention_macs += 2 * queries * keys * d;
  s->pass.attention_acts += queries * (keys * heads + d);
}

/* Counts a stack of `layers` layers of one width between in and out. */
static void perceptron(struct sam2 *s, double in, double wide, double out,
                       size_t layers) {
  linear(s, 1, in, wide);
  for (size_t i = 2; i < layers; i++)
    linear(s, 1, wide, wide);
  linear(s, 1, wide, out);
}

static bool is_global(const struct sam2 *s, double block) {
  static const double usual[] = {5, 7, 9};
  const dl_json *list = dl_json_member(s->backbone, "global_attention_blocks");
  for (size_t i = 0; i < (list ? dl_json_size(list) : DL_LENGTH(usual)); i++)
    if ((list ? dl_json_value_at(list, i).number : usual[i]) == block)
      return true;
  return false;
}

/* Counts a block: in windows, which pad the grid, or with all of it; a stride
 * over 1 pools queries and what is added to them. */
static void count_block(struct sam2 *s, size_t stage, double from, double side,
                        double window, double stride) {
  static const double usual[] = {1, 2, 4, 8};
  double to = s->dim[stage], after = floor(side / stride);
  double wide = floor(
      to * checked(s, "mlp_ratio", dl_json_get(s->backbone, "mlp_ratio"), 4));
  double heads = of_stage(s, "num_attention_heads_per_stage", stage, usual);
  double across = window > 0 ? window : side, windows = ceil(side / across);
  double queries = floor(across / stride), all = windows * windows;
  s->params += 2 * from + 2 * to;
  linear(s, all * across * across, from, 3 * to);
  attend(s, all * queries * queries, across * across, to, heads);
  linear(s, all * queries * queries, to, to);
  linear(s, after * after, to, wide);
  linear(s, after * after, wide, to);
  if (from != to)
    linear(s, side * side, from, to);
}

static void count_stages(struct sam2 *s, double side) {
  static const double dims[] = {96, 192, 384, 768}, blocks[] = {1, 2, 7, 2},
                      windows[] = {8, 4, 14, 7};
  double pools = size_of(s, s->backbone, "num_query_pool_stages", 3);
  double pool = size_of(s, s->backbone, "query_stride", 2);
  double block = 0, from = 0, before = 0;
  for (size_t i = 0; i < s->stages; i++) {
    double n = of_stage(s, "blocks_per_stage", i, blocks);
    double window = of_stage(s, "window_size_per_stage", i, windows);
    s->dim[i] = of_stage(s, "embed_dim_per_stage", i, dims);
    if ((n < 1 || n > MOST_LAYERS || s->dim[i] < 1) && !s->wrong)
      s->wrong =
          n < 1 || n > MOST_LAYERS ? "blocks_per_stage" : "embed_dim_per_stage";
    for (size_t k = 0; (double)k < n && !s->wrong; k++, block++) {
      bool first = i > 0 && k == 0;
      double stride = first && (double)i <= pools ? pool : 1;
      double in = first ? from : s->dim[i];
      double across = first ? before : window;
      if (is_global(s, block))
        across = 0;
      count_block(s, i, in, side, across, stride);
      side = floor(side / stride);
    }
    s->side[i] = side;
    from = s->dim[i];
    before = window;
  }
}

static void count_encoder(struct sam2 *s) {
  static const double windows[] = {8, 4, 14, 7};
  const dl_json *j = s->backbone;
  double d = size_of(s, j, "hidden_size", 96);
  double kernel = size_of(s, j, "patch_kernel_size", 7);
  double stride = size_of(s, j, "patch_stride", 4);
  double ground =
      size_of(s, j, "window_positional_embedding_background_size", 7);
  double window = of_stage(s, "window_size_per_stage", 0, windows);
  s->image = size_of(s, j, "image_size", 1024);
  double side =
      floor((s->image + 2 * size_of(s, j, "patch_padding", 3) - kernel) /
            stride) +
      1;
  s->params += d * (ground * ground + window * window);
  linear(s, side * side, kernel * kernel * size_of(s, j, "num_channels", 3), d);
  count_stages(s, side);
  if (s->dim[0] != d && !s->wrong)
    s->wrong = "hidden_size";
}

/* Counts what joins the stages: a product for each. */
static void count_neck(struct sam2 *s, double d) {
  const dl_json *list = dl_json_member(s->vision, "backbone_channel_list");
  double k = size_of(s, s->vision, "fpn_kernel_size", 1);
  for (size_t i = 0; i < s->stages; i++) {
    if (list && !s->wrong &&
        dl_json_value_at(list, s->stages - 1 - i).number != s->dim[i])
      s->wrong = "backbone_channel_list";
    linear(s, s->side[i] * s->side[i], s->dim[i] * k * k, d);
  }
}

/* Counts a way between points and the image: fewer channels in between. */
static void attend_across(struct sam2 *s, double queries, double keys, double d,
                          double less) {
  double heads = size_of(s, s->decoder, "num_attention_heads", 8);
  double inner = floor(d / less);
  linear(s, queries, d, inner);
  linear(s, keys, d, inner);
  linear(s, keys, d, inner);
  attend(s, queries, keys, inner, heads);
  linear(s, queries, inner, d);
}

/* Counts the layers in which points and the image attend to each other. */
static void count_two_ways(struct sam2 *s, double points, double pixels,
                           double d) {
  size_t layers = count_of(s, s->decoder, "num_hidden_layers", 2);
  double wide = size_of(s, s->decoder, "mlp_dim", 2048);
  double less = size_of(s, s->decoder, "attention_downsample_rate", 2);
  for (size_t i = 0; i < layers && !s->wrong; i++) {
    attend_across(s, points, points, d, 1);
    attend_across(s, points, pixels, d, less);
    linear(s, points, d, wide);
    for (size_t k = 2; k < layers; k++) /* as many as there are such layers */
      linear(s, points, wide, wide);
    linear(s, points, wide, d);
    attend_across(s, pixels, points, d, less);
    s->params += 4 * 2 * d;
  }
  attend_across(s, points, pixels, d, less);
  s->params += 2 * d;
}

static void count_decoder(struct sam2 *s) {
  enum { SCORES = 2, PROMPT = 2 }; /* tokens; a point and what ends the list */
  double d = size_of(s, s->decoder, "hidden_size", 256);
  size_t each = count_of(s, s->decoder, "num_multimask_outputs", 3) + 1;
  double masks = (double)each;
  double fine = s->side[0] * s->side[0], mid = s->side[1] * s->side[1],
         pixels = s->side[2] * s->side[2];
  s->params += (SCORES + masks) * d;
  count_two_ways(s, SCORES + masks + PROMPT, pixels, d);
  upscale(s, pixels, d, d / 4);
  s->params += 2 * d / 4;
  upscale(s, 4 * pixels, d / 4, d / 8);
  for (size_t i = 0; i < each; i++)
    perceptron(s, d, d, d / 8, 3);
  s->pass.macs += 16 * pixels * masks * d / 8;
  s->pass.acts += 16 * pixels * masks;
  perceptron(s, d, size_of(s, s->decoder, "iou_head_hidden_dim", 256), masks,
             count_of(s, s->decoder, "iou_head_depth", 3));
  linear(s, fine, d, d / 8);
  linear(s, mid, d, d / 4);
  perceptron(s, d, d, 1, 3);
}

/* Counts the embeddings of points, and of a mask, which no point needs. */
static void count_prompt(struct sam2 *s) {
  double d = size_of(s, s->prompt, "hidden_size", 256);
  double c = size_of(s, s->prompt, "mask_input_channels", 16), few = c / 4;
  double points = size_of(s, s->prompt, "num_point_embeddings", 4);
  s->params += (points + 2) * d + 4 * few + few + 2 * few + 4 * few * c + c +
               2 * c + c * d + d;
}

static double memory(struct sam2 *s, const char *key, double usual) {
  return size_of(s, s->whole, key, usual);
}

/* Counts the layers that attend to frames before. */
static void count_memory_attention(struct sam2 *s, double kept) {
  double d = memory(s, "memory_attention_hidden_size", 256);
  double layers = memory(s, "memory_attention_num_layers", 4);
  double f = memory(s, "memory_attention_feed_forward_hidden_size", 2048);
  double e = floor(d / memory(s, "memory_attention_downsample_rate", 1));
  double own = 3 * (d * e + e) + e * d + d;
  double across = d * e + e + 2 * (kept * e + e) + e * d + d;
  s->params += layers * (own + across + 2 * d * f + f + d + 6 * d) + 2 * d;
}

/* Counts the encoder of masks: convolutions with strides, and mixers. */
static void count_memory_encoder(struct sam2 *s, double kept) {
  double d = memory(s, "memory_encoder_hidden_size", 256);
  double k = memory(s, "mask_downsampler_kernel_size", 3);
  double stride = memory(s, "mask_downsampler_stride", 2);
  double total = memory(s, "mask_downsampler_total_stride", 16);
  double last = memory(s, "mask_downsampler_embed_dim", 256);
  double layers = memory(s, "memory_fuser_num_layers", 2);
  double e = memory(s, "memory_fuser_embed_dim", 256);
  double f = memory(s, "memory_fuser_intermediate_dim", 1024);
  double wide = memory(s, "memory_fuser_kernel_size", 7), in = 1;
  if (stride < 2 && !s->wrong)
    s->wrong = "mask_downsampler_stride";
  for (double at = stride; at <= total && !s->wrong; at *= stride) {
    double out = in * stride * stride;
    s->params += in * out * k * k + 3 * out;
    in = out;
  }
  s->params += in * last + last + d * d + d;
  s->params += layers * (wide * wide * e + 4 * e + 2 * e * f + f + e);
  s->params += d * kept + kept;
}

static bool is_on(const struct sam2 *s, const char *key) {
  struct dl_json_value v = dl_json_get(s->whole, key);
  return v.type == DL_JSON_ABSENT || v.number > 0;
}

/* Counts what a video needs beyond an image. */
static void count_memory(struct sam2 *s) {
  enum { TO_MASK = 4 * 4 + 1 };
  double d = size_of(s, s->vision, "fpn_hidden_size", 256);
  double kept = memory(s, "memory_encoder_output_channels", 64);
  count_memory_attention(s, kept);
  count_memory_encoder(s, kept);
  s->params += memory(s, "num_maskmem", 7) * kept + 2 * d;
  s->params += 3 * (d * d + d) + TO_MASK;
  if (is_on(s, "enable_temporal_pos_encoding_for_object_pointers"))
    s->params += d * kept + kept;
  if (is_on(s, "enable_occlusion_spatial_embedding"))
    s->params += kept;
}

static void add(struct dl_xml *x, dl_node *to, const char *name, double value) {
  dl_add_value(x, to, "config",
               "derived: counted from its config.json, a prompt of one point",
               name, value);
}

static void write_entry(const struct sam2 *s, struct dl_xml *x,
                        dl_node *entry) {
  char side[DL_NUMBER_SIZE];
  const struct dl_pass *p = &s->pass;
  dl_xml_set(x, entry, "scaling", dl_scaling_names[DL_SCALING_NONE]);
  add(x, entry, "params_m", s->params * 1e-6);
  add(x, entry, "layers", s->layers);
  add(x, entry, "attention_macs_g", p->attention_macs * 1e-9);
  add(x, entry, "attention_acts_m", p->attention_acts * 1e-6);
  dl_node *at = dl_xml_add(x, entry, "input");
  dl_xml_set(x, at, "image_px", dl_format_short(side, s->image));
  add(x, at, "macs_g", (p->macs + p->attention_macs) * 1e-9);
  add(x, at, "acts_m", (p->acts + p->attention_acts) * 1e-6);
}

bool dl_config_is_sam2(const dl_json *whole) {
  static const char *const types[] = {"sam2", "sam2_video", NULL};
  const char *type = dl_json_get(whole, "model_type").text;
  return type && dl_config_has_word(types, type);
}

enum dl_status dl_config_add_sam2(struct dl_xml *x, dl_node *entry,
                                  const dl_json *whole, const char *path,
                                  struct dl_diag *d) {
  struct sam2 s = {.whole = whole,
                   .vision = dl_json_member(whole, "vision_config"),
                   .prompt = dl_json_member(whole, "prompt_encoder_config"),
                   .decoder = dl_json_member(whole, "mask_decoder_config")};
  bool video = dl_config_has_text(whole, "model_type", "video");
  s.backbone = dl_json_member(s.vision, "backbone_config");
  size_t stages = dl_json_count(s.backbone, "blocks_per_stage");
  s.stages = stages > 0 ? stages : 4;
  if (s.stages < 3 || s.stages > MOST_STAGES)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "'blocks_per_stage' has %zu stages; 3 to %d are counted",
                      s.stages, MOST_STAGES);
  if (dl_json_get(s.backbone, "model_type").text &&
      !dl_config_has_text(s.backbone, "model_type", "sam2_hiera"))
    s.wrong = "backbone_config";
  double width = size_of(&s, s.vision, "fpn_hidden_size", 256);
  count_encoder(&s);
  count_neck(&s, width);
  count_prompt(&s);
  count_decoder(&s);
  s.params += width; /* in place of a memory */
  if (video)
    count_memory(&s);
  if (s.wrong)
    return dl_fail_at(d, DL_EINPUT, path, 0,
                      "'%s' is of no known kind or size, or does not fit the "
                      "others; export the network to ONNX",
                      s.wrong);
  dl_warn_at(d, path, 0,
             video ? "parameters of the memory of videos are counted, its work "
                     "is not: samples are taken as images with a prompt of one "
                     "point"
                   : "samples are taken as images with a prompt of one point; "
                     "a network with a memory for videos has the model_type "
                     "'sam2_video'");
  write_entry(&s, x, entry);
  return DL_OK;
}
