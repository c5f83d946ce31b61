/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/architecture/scaling.h"

#include <math.h>

#include "catalog/architecture/from_onnx.h"
#include "catalog/architecture/token_costs.h"

const struct dl_use dl_use_reference = {NAN, NAN, NAN};

/* Shares of the work and of the activations at each stride of a convolutional
 * network. */
enum { N_STRIDES = 5 };
static const struct strides {
  double macs, acts;
} at_stride[N_STRIDES] = {
    {0.04, 0.15}, {0.14, 0.29}, {0.20, 0.23}, {0.40, 0.27}, {0.22, 0.06}};

static double or_else(double x, double other) {
  return isnan(x) ? other : x;
}

/* Side of the image that whole elements of a map at a stride stand for. */
static double covered(const struct dl_descriptor *e, double px, double stride) {
  double n =
      e->scaling == DL_SCALING_DOWN ? floor(px / stride) : ceil(px / stride);
  return stride * (n > 1 ? n : 1);
}

/* px * px, each stride's part in whole elements of its map. */
static double area(const struct dl_descriptor *e, double px, bool acts) {
  double coarsest = or_else(e->value[DL_ARCH_STRIDE_PX].x, 32);
  double sum = 0, shares = 0, stride = 2;
  for (size_t i = 0; i < N_STRIDES && stride <= coarsest; i++, stride *= 2) {
    double share = acts ? at_stride[i].acts : at_stride[i].macs;
    double side = covered(e, px, stride);
    sum += share * side * side;
    shares += share;
  }
  return shares > 0 ? sum / shares : px * px;
}

static double tokens(const struct dl_descriptor *e, double px) {
  double side = floor(px / e->value[DL_ARCH_PATCH_PX].x);
  return side * side + or_else(e->value[DL_ARCH_EXTRA_TOKENS].x, 1);
}

static double growth(const struct dl_descriptor *e, double from, double to,
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

/* The part that grows with the square of the tokens, at an input: `field` as
 * the descriptor gives it, or `each` for a pair of tokens in a block. */
static double square_part(const struct dl_descriptor *e, size_t field,
                          double each, double px) {
  double given = e->value[field].x;
  double g = growth(e, e->inputs[0].image_px, px, false);
  if (!isnan(given))
    return given * g * g;
  if (e->scaling != DL_SCALING_TOKENS)
    return 0;
  double n = tokens(e, px);
  return e->value[DL_ARCH_DEPTH].x * n * n * each;
}

double dl_classifier_macs_g(const struct dl_descriptor *e) {
  return 1e-9 * e->value[DL_ARCH_HEAD_INPUTS].x *
         or_else(e->value[DL_ARCH_CLASSES].x, 0);
}

static double fixed_macs(const struct dl_descriptor *e,
                         const struct dl_input *in) {
  if (in->headless)
    return 0;
  return or_else(e->value[DL_ARCH_HEAD_MACS_G].x,
                 or_else(dl_classifier_macs_g(e), 0));
}

/* Grows x by g, but for a part that stays and one that grows by g^2. */
static double grow(double x, double fixed, double square, double g) {
  double rest = x - fixed - square;
  return fixed + (rest < 0 ? 0 : rest) * g + square * g * g;
}

static void scale_input(const struct dl_descriptor *e, struct dl_input *in,
                        double px) {
  static const char *const notes[] = {
      [DL_SCALING_NONE] = "assumed: as at the input that its weights are for",
      [DL_SCALING_AREA] = "derived: scaled with the area of the input",
      [DL_SCALING_DOWN] = "derived: scaled with the area of the input",
      [DL_SCALING_TOKENS] = "derived: scaled with the tokens and their square",
      [DL_SCALING_SEQUENCE] = NULL};
  double heads = or_else(e->value[DL_ARCH_HEADS].x, 0);
  double acts =
      square_part(e, DL_ARCH_ATTENTION_ACTS_M, 1e-6 * heads, in->image_px);
  double macs = square_part(e, DL_ARCH_ATTENTION_MACS_G,
                            2e-9 * e->value[DL_ARCH_WIDTH].x, in->image_px);
  in->macs_g.x = grow(in->macs_g.x, fixed_macs(e, in), macs,
                      growth(e, in->image_px, px, false));
  in->acts_m.x = grow(in->acts_m.x, 0, acts, growth(e, in->image_px, px, true));
  in->macs_g.note = in->acts_m.note = notes[e->scaling];
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

/* Weights of one output of the classifier, with its bias if it has one. */
static double weights_a_class(const struct dl_descriptor *e) {
  double inputs = e->value[DL_ARCH_HEAD_INPUTS].x;
  double each =
      1e6 * e->value[DL_ARCH_HEAD_PARAMS_M].x / e->value[DL_ARCH_CLASSES].x;
  return or_else(round(each), inputs + 1);
}

/* Of the classifier, from its shape. */
static struct dl_value_of head_params(const struct dl_descriptor *e) {
  const struct dl_value_of *inputs = &e->value[DL_ARCH_HEAD_INPUTS];
  double each = inputs->x + 1;
  return (struct dl_value_of){each * e->value[DL_ARCH_CLASSES].x / 1e6,
                              inputs->source,
                              "derived: weights and biases of the classifier"};
}

static void set(struct dl_descriptor *e, size_t field, double x,
                const char *note) {
  struct dl_value_of *v = &e->value[field];
  if (!isnan(x))
    *v = (struct dl_value_of){x < 0 ? 0 : x, v->source, note};
}

/* Millions and billions, with `more` ones added. */
static double add_to(double x, double unit, double more) {
  return (x * unit + more) / unit;
}

static void replace_head(struct dl_descriptor *e, double classes, bool headless,
                         bool scaled) {
  const char *note = "derived: with a classifier of that many classes";
  const char *counted =
      scaled ? "derived: scaled, and with a classifier of that many classes"
             : note;
  double inputs = e->value[DL_ARCH_HEAD_INPUTS].x;
  double own = or_else(e->value[DL_ARCH_CLASSES].x, 0);
  double each = weights_a_class(e), more = classes - own;
  if (isnan(inputs) || (classes == own && !headless))
    return;
  /* What was counted without a head has none to take away. */
  double outputs = headless ? classes : more;
  set(e, DL_ARCH_MACS_G,
      add_to(e->value[DL_ARCH_MACS_G].x, 1e9, inputs * outputs), counted);
  set(e, DL_ARCH_ACTS_M, add_to(e->value[DL_ARCH_ACTS_M].x, 1e6, outputs),
      counted);
  set(e, DL_ARCH_PARAMS_M,
      add_to(e->value[DL_ARCH_PARAMS_M].x, 1e6, each * more), note);
  set(e, DL_ARCH_HEAD_MACS_G,
      add_to(e->value[DL_ARCH_HEAD_MACS_G].x, 1e9, inputs * more), note);
  set(e, DL_ARCH_HEAD_PARAMS_M, each * classes / 1e6, note);
  set(e, DL_ARCH_CLASSES, classes, "given");
}

/* A network that was counted without its head has no weights there. */
static void drop_head(struct dl_descriptor *e) {
  double head = or_else(1e3 * e->value[DL_ARCH_HEAD_MACS_G].x,
                        e->value[DL_ARCH_HEAD_PARAMS_M].x);
  set(e, DL_ARCH_PARAMS_M, e->value[DL_ARCH_PARAMS_M].x - or_else(head, 0),
      "derived: without the head");
}

struct dl_descriptor dl_architecture_at(const struct dl_descriptor *e,
                                        const struct dl_use *use,
                                        bool *scaled) {
  if (e->transformer)
    return dl_transformer_at(e, use, scaled);
  double image_px = use->image_px;
  struct dl_descriptor at = *e;
  bool headless = false;
  *scaled = false;
  if (e->recount && dl_recount_at(e->recount, use, &at))
    return at;
  if (e->n_inputs > 0) {
    struct dl_input in =
        isnan(image_px) ? e->inputs[0] : *nearest_input(e, image_px);
    headless = in.headless;
    if (!isnan(image_px) && in.image_px != image_px) {
      scale_input(e, &in, image_px);
      *scaled = true;
    }
    if (isnan(in.acts_m.x))
      in.acts_m = acts_at(e, in.image_px);
    at.value[DL_ARCH_MACS_G] = in.macs_g;
    at.value[DL_ARCH_ACTS_M] = in.acts_m;
    at.value[DL_ARCH_IMAGE_PX] = (struct dl_value_of){in.image_px, NULL, NULL};
  }
  if (isnan(at.value[DL_ARCH_HEAD_PARAMS_M].x))
    at.value[DL_ARCH_HEAD_PARAMS_M] = head_params(e);
  if (!isnan(use->classes))
    replace_head(&at, use->classes, headless, *scaled);
  else if (headless)
    drop_head(&at);
  return at;
}
