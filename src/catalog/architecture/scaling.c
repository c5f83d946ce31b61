/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/scaling.h"

#include <math.h>

#include "base/number.h"
#include "catalog/architecture/from_onnx.h"
#include "catalog/architecture/token_costs.h"

const struct dl_use dl_use_reference = {NAN, NAN, NAN};

/* Shares of the MACs and of the activations of a convolutional network at each
 * stride. */
enum { N_STRIDES = 5 };
static const double macs_at[N_STRIDES] = {0.04, 0.14, 0.20, 0.40, 0.22};
static const double acts_at[N_STRIDES] = {0.15, 0.29, 0.23, 0.27, 0.06};

/* Computes the side of the image that the whole elements of a map at a stride
 * cover. */
static double covered(const struct dl_architecture *e, double px,
                      double stride) {
  double n =
      e->scaling == DL_SCALING_DOWN ? floor(px / stride) : ceil(px / stride);
  return stride * (n > 1 ? n : 1);
}

/* Computes the area of an image, each stride's part in whole elements of its
 * map. */
static double area(const struct dl_architecture *e, double px, bool acts) {
  double coarsest = dl_or(e->stride_px, 32);
  double sum = 0, shares = 0, stride = 2;
  for (size_t i = 0; i < N_STRIDES && stride <= coarsest; i++, stride *= 2) {
    double share = acts ? acts_at[i] : macs_at[i];
    double side = covered(e, px, stride);
    sum += share * side * side;
    shares += share;
  }
  return shares > 0 ? sum / shares : px * px;
}

static double tokens(const struct dl_architecture *e, double px) {
  double side = floor(px / e->patch_px);
  return side * side + dl_or(e->extra_tokens, 1);
}

static double growth(const struct dl_architecture *e, double from, double to,
                     bool acts) {
  switch (e->scaling) {
  case DL_SCALING_AREA:
  case DL_SCALING_DOWN:
    return area(e, to, acts) / area(e, from, acts);
  case DL_SCALING_TOKENS:
    return tokens(e, to) / tokens(e, from);
  default:
    return 1;
  }
}

/* Computes the part that grows with the square of the tokens, at an input: from
 * `given`, the descriptor's value, or from `each` for a pair of tokens in a
 * block. */
static double square_part(const struct dl_architecture *e, double given,
                          double each, double px) {
  double g = growth(e, e->inputs[0].image_px, px, false);
  if (!isnan(given))
    return given * g * g;
  if (e->scaling != DL_SCALING_TOKENS)
    return 0;
  double n = tokens(e, px);
  return e->depth * n * n * each;
}

double dl_scores_m(const struct dl_architecture *at) {
  if (!isnan(at->attention_acts_m) || at->n_inputs == 0)
    return at->attention_acts_m;
  return square_part(at, NAN, 1e-6 * at->heads, at->image_px);
}

double dl_classifier_macs_g(const struct dl_architecture *e) {
  return 1e-9 * e->head_inputs * dl_or(e->classes, 0);
}

static double fixed_macs(const struct dl_architecture *e,
                         const struct dl_input_size *in) {
  if (in->headless)
    return 0;
  return dl_or(e->head_macs_g, dl_or(dl_classifier_macs_g(e), 0));
}

/* Scales x by g, except a constant part and one that grows by g^2. */
static double grow(double x, double fixed, double square, double g) {
  double rest = x - fixed - square;
  return fixed + (rest < 0 ? 0 : rest) * g + square * g * g;
}

static void scale_input(const struct dl_architecture *e,
                        struct dl_input_size *in, double px) {
  static const char *const notes[] = {
      [DL_SCALING_NONE] = "assumed: as at the input that its weights are for",
      [DL_SCALING_AREA] = "derived: scaled with the area of the input",
      [DL_SCALING_DOWN] = "derived: scaled with the area of the input",
      [DL_SCALING_TOKENS] = "derived: scaled with the tokens and their square",
      [DL_SCALING_SEQUENCE] = NULL};
  double heads = dl_or(e->heads, 0);
  double acts = square_part(e, e->attention_acts_m, 1e-6 * heads, in->image_px);
  double macs =
      square_part(e, e->attention_macs_g, 2e-9 * e->hidden_size, in->image_px);
  in->macs_g = grow(in->macs_g, fixed_macs(e, in), macs,
                    growth(e, in->image_px, px, false));
  in->acts_m = grow(in->acts_m, 0, acts, growth(e, in->image_px, px, true));
  in->macs_origin.note = in->acts_origin.note = notes[e->scaling];
  in->image_px = px;
}

static const struct dl_input_size *
nearest_input(const struct dl_architecture *e, double px) {
  const struct dl_input_size *best = &e->inputs[0];
  for (size_t i = 1; i < e->n_inputs; i++)
    if (fabs(log(e->inputs[i].image_px / px)) < fabs(log(best->image_px / px)))
      best = &e->inputs[i];
  return best;
}

/* Activations may be listed for fewer inputs than MACs. */
static void add_acts(const struct dl_architecture *e,
                     struct dl_input_size *to) {
  for (size_t i = 0; i < e->n_inputs && isnan(to->acts_m); i++) {
    struct dl_input_size in = e->inputs[i];
    if (isnan(in.acts_m))
      continue;
    if (in.image_px != to->image_px)
      scale_input(e, &in, to->image_px);
    to->acts_m = in.acts_m;
    to->acts_origin = in.acts_origin;
  }
}

/* Counts the weights of one class in the classifier, with its bias if it has
 * one. */
static double weights_a_class(const struct dl_architecture *e) {
  double inputs = e->head_inputs;
  double each = 1e6 * e->head_params_m / e->classes;
  return dl_or(round(each), inputs + 1);
}

/* Replaces a value by one that is computed, where it is known. */
static void set(struct dl_architecture *e, double *member, double x,
                const char *note) {
  if (isnan(x))
    return;
  *member = x < 0 ? 0 : x;
  e->head.origin[dl_field_index(&e->head, member)].note = note;
}

/* Computes the parameters of the classifier from its shape. */
static void add_head_params(struct dl_architecture *e) {
  size_t from = dl_field_index(&e->head, &e->head_inputs);
  size_t to = dl_field_index(&e->head, &e->head_params_m);
  e->head_params_m = (e->head_inputs + 1) * e->classes / 1e6;
  e->head.origin[to] = (struct dl_origin){
      .source = e->head.origin[from].source,
      .note = "derived: weights and biases of the classifier"};
}

/* Adds `more` ones to x, a multiple of `unit`. */
static double add_to(double x, double unit, double more) {
  return (x * unit + more) / unit;
}

static void replace_head(struct dl_architecture *e, double classes,
                         bool headless, bool scaled) {
  const char *note = "derived: with a classifier of that many classes";
  const char *counted =
      scaled ? "derived: scaled, and with a classifier of that many classes"
             : note;
  double inputs = e->head_inputs;
  double own = dl_or(e->classes, 0);
  double each = weights_a_class(e), more = classes - own;
  if (isnan(inputs) || (classes == own && !headless))
    return;
  /* A count without a head contains no old classifier. */
  double outputs = headless ? classes : more;
  set(e, &e->macs_g, add_to(e->macs_g, 1e9, inputs * outputs), counted);
  set(e, &e->acts_m, add_to(e->acts_m, 1e6, outputs), counted);
  set(e, &e->params_m, add_to(e->params_m, 1e6, each * more), note);
  set(e, &e->head_macs_g, add_to(e->head_macs_g, 1e9, inputs * more), note);
  set(e, &e->head_params_m, each * classes / 1e6, note);
  set(e, &e->classes, classes, "given");
}

/* Takes the head out of the parameters of a network counted without it. */
static void drop_head(struct dl_architecture *e) {
  double head = dl_or(1e3 * e->head_macs_g, e->head_params_m);
  set(e, &e->params_m, e->params_m - dl_or(head, 0),
      "derived: without the head");
}

/* The decoder of an image grows with its area. */
static void scale_pipeline(struct dl_architecture *e, double from) {
  double larger = e->image_px * e->image_px / (from * from);
  e->pipeline_macs_g *= larger;
  e->pipeline_traffic_m *= larger;
}

/* Takes the figures of an input. */
static void set_input(struct dl_architecture *e,
                      const struct dl_input_size *in) {
  struct dl_origin *origin = e->head.origin;
  e->macs_g = in->macs_g;
  e->acts_m = in->acts_m;
  e->image_px = in->image_px;
  origin[dl_field_index(&e->head, &e->macs_g)] = in->macs_origin;
  origin[dl_field_index(&e->head, &e->acts_m)] = in->acts_origin;
  origin[dl_field_index(&e->head, &e->image_px)] = (struct dl_origin){0};
}

struct dl_architecture dl_architecture_at(const struct dl_architecture *e,
                                          const struct dl_use *use,
                                          bool *scaled) {
  if (e->transformer)
    return dl_transformer_at(e, use, scaled);
  double image_px = use->image_px;
  struct dl_architecture at = *e;
  bool headless = false;
  *scaled = false;
  if (e->recount && dl_recount_at(e->recount, use, &at))
    return at;
  if (e->n_inputs > 0) {
    struct dl_input_size in =
        isnan(image_px) ? e->inputs[0] : *nearest_input(e, image_px);
    headless = in.headless;
    if (!isnan(image_px) && in.image_px != image_px) {
      scale_input(e, &in, image_px);
      *scaled = true;
    }
    if (isnan(in.acts_m))
      add_acts(e, &in);
    set_input(&at, &in);
    if (!isnan(image_px * e->attention_acts_m))
      at.attention_acts_m = square_part(e, e->attention_acts_m, 0, in.image_px);
    scale_pipeline(&at, e->inputs[0].image_px);
  }
  if (isnan(at.head_params_m))
    add_head_params(&at);
  if (!isnan(use->classes))
    replace_head(&at, use->classes, headless, *scaled);
  else if (headless)
    drop_head(&at);
  return at;
}
