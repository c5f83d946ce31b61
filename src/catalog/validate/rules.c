/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/validate/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/validate/rules_private.h"

double dl_value(const struct dl_subject *s, size_t field) {
  return s->e->value[field].x;
}

double dl_bound_value(const struct dl_subject *s, size_t field) {
  const char *note = s->e->value[field].note;
  bool excused = note && (strncmp(note, "disputed:", 9) == 0 ||
                          strncmp(note, "exception:", 10) == 0);
  return excused ? NAN : s->e->value[field].x;
}

void dl_object(const struct dl_subject *s, size_t field, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  size_t line = s->e->value_line[field];
  dl_findings_add(s->l, true, s->e->file, line ? line : s->e->line, s->e->id,
                  "%s %g %s", dl_kind_info(s->e->kind)->fields[field].name,
                  s->e->value[field].x, text);
}

void dl_within(const struct dl_subject *s, size_t field, double low,
               double high) {
  double x = dl_bound_value(s, field);
  if (x < low || x > high)
    dl_object(s, field, "is not between %g and %g", low, high);
}

void dl_whole(const struct dl_subject *s, size_t field) {
  double x = dl_value(s, field);
  if (!isnan(x) && x != floor(x))
    dl_object(s, field, "is no whole number");
}

/* --- architectures */

static void at_most(const struct dl_subject *s, size_t part, size_t whole) {
  if (dl_value(s, part) > dl_value(s, whole))
    dl_object(s, part, "is more than %s %g",
              dl_kind_info(s->e->kind)->fields[whole].name, dl_value(s, whole));
}

/* Inputs stand in ascending order behind the first, for which the values of
 * the entry are, and the work grows with them. */
static void against_input(const struct dl_subject *s, const struct dl_input *in,
                          const struct dl_input *other, bool ordered) {
  double grown =
      (in->image_px - other->image_px) * (in->macs_g.x - other->macs_g.x);
  if (in->image_px == other->image_px ||
      (ordered && in->image_px < other->image_px))
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id,
                    "input %g px comes after %g px; put them in ascending "
                    "order behind the first, each once",
                    in->image_px, other->image_px);
  else if (grown < 0)
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id,
                    "macs_g %g at %g px, but %g at %g px", in->macs_g.x,
                    in->image_px, other->macs_g.x, other->image_px);
}

static void at_input(const struct dl_subject *s, size_t i) {
  const struct dl_input *in = &s->e->inputs[i];
  double head = dl_value(s, DL_ARCH_HEAD_MACS_G);
  if (i == 0 && head > in->macs_g.x)
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id,
                    "macs_g %g at %g px is less than head_macs_g %g",
                    in->macs_g.x, in->image_px, head);
  if (i > 0)
    against_input(s, in, &s->e->inputs[0], false);
  if (i > 1)
    against_input(s, in, in - 1, true);
}

static void check_architecture(const struct dl_subject *s) {
  dl_within(s, DL_ARCH_PARAMS_M, 1e-6, 1e7);
  at_most(s, DL_ARCH_HEAD_PARAMS_M, DL_ARCH_PARAMS_M);
  at_most(s, DL_ARCH_ACTIVE_PARAMS_M, DL_ARCH_PARAMS_M);
  at_most(s, DL_ARCH_HEAD_MACS_G, DL_ARCH_MACS_G);
  at_most(s, DL_ARCH_ATTENTION_MACS_G, DL_ARCH_MACS_G);
  at_most(s, DL_ARCH_ATTENTION_ACTS_M, DL_ARCH_ACTS_M);
  static const size_t whole[] = {DL_ARCH_CLASSES, DL_ARCH_HEAD_INPUTS,
                                 DL_ARCH_LAYERS,  DL_ARCH_DEPTH,
                                 DL_ARCH_WIDTH,   DL_ARCH_HEADS};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    dl_whole(s, whole[i]);
  for (size_t i = 0; i < s->e->n_inputs; i++)
    at_input(s, i);
}

/* --- data sets, grids, sites, nodes */

static void needs(const struct dl_subject *s, size_t field) {
  if (isnan(dl_value(s, field)))
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id, "no %s",
                    dl_kind_info(s->e->kind)->fields[field].name);
}

static void check_dataset(const struct dl_subject *s) {
  needs(s, DL_DATA_TRAIN);
  for (size_t i = 0; i < dl_kind_info(DL_DATASET)->n_fields; i++)
    dl_whole(s, i);
  at_most(s, DL_DATA_CLASSES, DL_DATA_TRAIN);
}

static void check_grid(const struct dl_subject *s) {
  needs(s, DL_GRID_CARBON_G_KWH);
  needs(s, DL_GRID_YEAR);
  dl_within(s, DL_GRID_CARBON_G_KWH, 0, 2000);
  dl_whole(s, DL_GRID_YEAR);
}

static void check_site(const struct dl_subject *s) {
  dl_within(s, DL_SITE_PUE, 1, 4);
  dl_within(s, DL_SITE_CARBON_G_KWH, 0, 2000);
  dl_whole(s, DL_SITE_YEAR);
}

static void check_node(const struct dl_subject *s) {
  double gpus = dl_value(s, DL_NODE_GPUS);
  double tdp = dl_value(s, DL_NODE_CPU_TDP_W);
  needs(s, DL_NODE_SOCKETS);
  needs(s, DL_NODE_MEMORY_GB);
  dl_whole(s, DL_NODE_GPUS);
  dl_whole(s, DL_NODE_YEAR);
  dl_within(s, DL_NODE_MEMORY_W_GB, 0.02, 1.5);
  dl_within(s, DL_NODE_EFFICIENCY, 0.5, 1);
  dl_within(s, DL_NODE_PUE, 1, 4);
  if (!s->e->cpu && isnan(tdp))
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id,
                    "neither a cpu nor a cpu_tdp_w");
  if (dl_bound_value(s, DL_NODE_CPU_IDLE_W) > tdp)
    dl_object(s, DL_NODE_CPU_IDLE_W, "is more than cpu_tdp_w %g", tdp);
  if (gpus > 0 && !s->e->gpu)
    dl_object(s, DL_NODE_GPUS, "without a gpu; name one of the catalogue");
  if (s->e->gpu && !(gpus > 0))
    dl_findings_add(s->l, true, s->e->file, s->e->line, s->e->id,
                    "gpu '%s', but no number of gpus", s->e->gpu);
}

/* --- all of them */

void dl_rules_entry(const struct dl_descriptor *e, struct dl_findings *l) {
  static void (*const check[])(const struct dl_subject *) = {
      [DL_ACCELERATOR] = dl_rules_accelerator,
      [DL_ARCHITECTURE] = check_architecture,
      [DL_DATASET] = check_dataset,
      [DL_GRID] = check_grid,
      [DL_SITE] = check_site,
      [DL_NODE] = check_node,
  };
  struct dl_subject s = {e, l};
  check[e->kind](&s);
}

static void check_name(const struct dl_shelf *s, const struct dl_descriptor *e,
                       const char *name, struct dl_findings *l) {
  struct dl_text folded = {0};
  dl_fold_name(e->kind, name, &folded);
  const struct dl_descriptor *owner =
      folded.s ? dl_shelf_find(s, folded.s) : NULL;
  if (folded.failed)
    l->failed = true;
  else if (owner && owner != e)
    dl_findings_add(l, true, e->file, e->line, e->id,
                    "'%s' is also a name of '%s'", name, owner->id);
  dl_text_free(&folded);
}

void dl_rules_shelf(const struct dl_shelf *s, struct dl_findings *l) {
  for (size_t i = 0; i < s->n; i++) {
    const struct dl_descriptor *e = &s->e[i];
    check_name(s, e, e->id, l);
    if (strcmp(e->name, e->id) != 0)
      check_name(s, e, e->name, l);
    for (size_t a = 0; a < e->n_aliases; a++)
      check_name(s, e, e->aliases[a], l);
    dl_rules_entry(e, l);
  }
}

void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known,
                      struct dl_findings *l) {
  static const size_t compared[] = {DL_GPU_TDP_W, DL_GPU_FP32_TFLOPS,
                                    DL_GPU_MEMORY_GB, DL_GPU_BANDWIDTH_GB_S};
  if (e->kind != DL_ACCELERATOR || known->kind != DL_ACCELERATOR)
    return;
  for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
    size_t f = compared[i];
    double x = e->value[f].x, y = known->value[f].x;
    if (fabs(x - y) > 0.1 * y)
      dl_findings_add(l, false, e->file, e->value_line[f], e->id,
                      "%s %g is not the %g of '%s' in the catalogue (%s)",
                      dl_kind_info(e->kind)->fields[f].name, x, y, known->id,
                      known->value[f].source ? known->value[f].source
                                             : "no source");
  }
}
