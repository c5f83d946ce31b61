/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/validate/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/validate/rules_private.h"

/* --- architectures */

static void at_most(const struct dl_rules *s, const double *part,
                    const double *whole) {
  if (*part > *whole)
    dl_rule_report(s, part, "is more than %s %g", dl_field_label(s, whole),
                   *whole);
}

/* Inputs stand in ascending order behind the first, for which the values of
 * the entry are, and the work grows with them. */
static void against_input(const struct dl_rules *s,
                          const struct dl_input_size *in,
                          const struct dl_input_size *other, bool ordered) {
  double grown =
      (in->image_px - other->image_px) * (in->macs_g - other->macs_g);
  if (in->image_px == other->image_px ||
      (ordered && in->image_px < other->image_px))
    dl_rule_report_entry(s,
                         "input %g px comes after %g px; put them in ascending "
                         "order behind the first, each once",
                         in->image_px, other->image_px);
  else if (grown < 0)
    dl_rule_report_entry(s, "macs_g %g at %g px, but %g at %g px", in->macs_g,
                         in->image_px, other->macs_g, other->image_px);
}

static void check_inputs(const struct dl_rules *s,
                         const struct dl_architecture *arch) {
  const struct dl_input_size *in = arch->inputs;
  if (arch->n_inputs > 0 && arch->head_macs_g > in->macs_g)
    dl_rule_report_entry(s, "macs_g %g at %g px is less than head_macs_g %g",
                         in->macs_g, in->image_px, arch->head_macs_g);
  for (size_t i = 1; i < arch->n_inputs; i++) {
    against_input(s, &in[i], &in[0], false);
    if (i > 1)
      against_input(s, &in[i], &in[i - 1], true);
  }
}

static void check_architecture(const struct dl_rules *s) {
  const struct dl_architecture *arch = DL_AS(architecture, s->e);
  const double *whole[] = {&arch->classes, &arch->head_inputs, &arch->layers,
                           &arch->depth,   &arch->hidden_size, &arch->heads};
  dl_rule_range(s, &arch->params_m, 1e-6, 1e7);
  at_most(s, &arch->head_params_m, &arch->params_m);
  at_most(s, &arch->active_params_m, &arch->params_m);
  at_most(s, &arch->head_macs_g, &arch->macs_g);
  at_most(s, &arch->attention_macs_g, &arch->macs_g);
  at_most(s, &arch->attention_acts_m, &arch->acts_m);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    dl_rule_whole(s, whole[i]);
  check_inputs(s, arch);
}

/* --- data sets, grids, sites, nodes */

static void needs(const struct dl_rules *s, const double *member) {
  if (isnan(*member))
    dl_rule_report_entry(s, "no %s", dl_field_label(s, member));
}

static void check_dataset(const struct dl_rules *s) {
  const struct dl_dataset *data = DL_AS(dataset, s->e);
  if (isnan(data->tokens))
    needs(s, &data->train_samples);
  dl_rule_whole(s, &data->train_samples);
  dl_rule_whole(s, &data->tokens);
  dl_rule_whole(s, &data->val_samples);
  dl_rule_whole(s, &data->classes);
  dl_rule_whole(s, &data->image_px);
  at_most(s, &data->classes, &data->train_samples);
}

static void check_grid(const struct dl_rules *s) {
  const struct dl_grid *grid = DL_AS(grid, s->e);
  needs(s, &grid->carbon_g_kwh);
  needs(s, &grid->year);
  dl_rule_range(s, &grid->carbon_g_kwh, 0, 2000);
  dl_rule_whole(s, &grid->year);
}

static void check_site(const struct dl_rules *s) {
  const struct dl_site *site = DL_AS(site, s->e);
  dl_rule_range(s, &site->pue, 1, 4);
  dl_rule_range(s, &site->carbon_g_kwh, 0, 2000);
  dl_rule_whole(s, &site->year);
}

static void check_node(const struct dl_rules *s) {
  const struct dl_node *node = DL_AS(node, s->e);
  double tdp = node->cpu_tdp_w;
  bool of_any_cpu = !node->cpu && isnan(tdp) && node->gpus <= 0;
  if (!of_any_cpu) {
    needs(s, &node->sockets);
    needs(s, &node->memory_gb);
  }
  dl_rule_whole(s, &node->gpus);
  dl_rule_whole(s, &node->cores);
  dl_rule_whole(s, &node->year);
  dl_rule_range(s, &node->memory_w_gb, 0.02, 1.5);
  dl_rule_range(s, &node->supply_efficiency, 0.5, 1);
  if (dl_rule_value(s, &node->fans_w) > node->rest_w)
    dl_rule_report(s, &node->fans_w, "is more than rest_w %g", node->rest_w);
  dl_rule_range(s, &node->pue, 1, 4);
  if (!node->cpu && isnan(tdp) && !of_any_cpu)
    dl_rule_report_entry(s, "neither a cpu nor a cpu_tdp_w");
  if (dl_rule_value(s, &node->cpu_idle_w) > tdp)
    dl_rule_report(s, &node->cpu_idle_w, "is more than cpu_tdp_w %g", tdp);
  if (node->gpus > 0 && !node->gpu)
    dl_rule_report(s, &node->gpus, "without a gpu; name one of the catalogue");
  if (node->gpu && !(node->gpus > 0))
    dl_rule_report_entry(s, "gpu '%s', but no number of gpus", node->gpu);
}

/* --- all of them */

/* A name stays with the entry that came first. */
static void check_name(struct dl_rules *r, const char *name) {
  DL_TEXT(folded);
  dl_fold_name(r->e->kind, name, &folded);
  size_t before = r->folded.n;
  long k = folded.len > 0 ? dl_intern(&r->folded, folded.s) : -1;
  if (r->folded.n > before) {
    DL_GROW(r->owner, r->cap, r->folded.n);
    r->owner[k] = r->n;
  } else if (k >= 0 && r->owner[k] != r->n) {
    dl_rule_report_entry(r, "'%s' is also a name of '%s'", name,
                         r->id.s[r->owner[k]]);
  }
}

void dl_rules_next(struct dl_rules *r, const struct dl_descriptor *e,
                   struct dl_findings *l) {
  static void (*const check[])(const struct dl_rules *) = {
      [DL_ACCELERATOR] = dl_rules_accelerator,
      [DL_ARCHITECTURE] = check_architecture,
      [DL_DATASET] = check_dataset,
      [DL_GRID] = check_grid,
      [DL_SITE] = check_site,
      [DL_NODE] = check_node,
  };
  r->e = e;
  r->findings = l;
  dl_strlist_add(&r->id, e->id);
  check_name(r, e->id);
  if (strcmp(e->name, e->id) != 0)
    check_name(r, e->name);
  for (size_t a = 0; a < e->n_aliases; a++)
    check_name(r, e->aliases[a]);
  r->n++;
  check[e->kind](r);
}

void dl_rules_free(struct dl_rules *r) {
  dl_intern_free(&r->folded);
  dl_strlist_free(&r->id);
  free(r->owner);
  *r = (struct dl_rules){0};
}

void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known,
                      struct dl_findings *l) {
  if (e->kind != DL_ACCELERATOR || known->kind != DL_ACCELERATOR)
    return;
  const struct dl_accelerator *a = DL_AS(accelerator, e);
  const double *compared[] = {&a->tdp_w, &a->peak_fp32_tflops, &a->memory_gb,
                              &a->bandwidth_gb_s};
  for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
    size_t k = dl_field_index(e, compared[i]);
    const struct dl_field *f = &dl_kinds[DL_ACCELERATOR].fields[k];
    double x = *compared[i], y = dl_field_number(known, f);
    const char *source = known->origin[k].source;
    if (fabs(x - y) > 0.1 * y)
      dl_findings_warn(l, e->file, e->origin[k].line, e->id,
                       "%s %g is not the %g of '%s' in the catalogue (%s)",
                       f->name, x, y, known->id, source ? source : "no source");
  }
}
