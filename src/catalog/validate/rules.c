/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/validate/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/validate/rules_private.h"

/* --- architectures */

static void at_most(const struct dl_subject *s, const double *part,
                    const double *whole) {
  if (*part > *whole)
    dl_object(s, part, "is more than %s %g", dl_name_of(s, whole), *whole);
}

/* Inputs stand in ascending order behind the first, for which the values of
 * the entry are, and the work grows with them. */
static void against_input(const struct dl_subject *s,
                          const struct dl_input_size *in,
                          const struct dl_input_size *other, bool ordered) {
  const struct dl_finding_place at = dl_entry_place(s->e);
  double grown =
      (in->image_px - other->image_px) * (in->macs_g - other->macs_g);
  if (in->image_px == other->image_px ||
      (ordered && in->image_px < other->image_px))
    dl_findings_add(s->l, true, &at,
                    "input %g px comes after %g px; put them in ascending "
                    "order behind the first, each once",
                    in->image_px, other->image_px);
  else if (grown < 0)
    dl_findings_add(s->l, true, &at, "macs_g %g at %g px, but %g at %g px",
                    in->macs_g, in->image_px, other->macs_g, other->image_px);
}

static void check_inputs(const struct dl_subject *s,
                         const struct dl_architecture *arch) {
  const struct dl_finding_place at = dl_entry_place(s->e);
  const struct dl_input_size *in = arch->inputs;
  if (arch->n_inputs > 0 && arch->head_macs_g > in->macs_g)
    dl_findings_add(s->l, true, &at,
                    "macs_g %g at %g px is less than head_macs_g %g",
                    in->macs_g, in->image_px, arch->head_macs_g);
  for (size_t i = 1; i < arch->n_inputs; i++) {
    against_input(s, &in[i], &in[0], false);
    if (i > 1)
      against_input(s, &in[i], &in[i - 1], true);
  }
}

static void check_architecture(const struct dl_subject *s) {
  const struct dl_architecture *arch = DL_AS(architecture, s->e);
  const double *whole[] = {&arch->classes, &arch->head_inputs, &arch->layers,
                           &arch->depth,   &arch->hidden_size, &arch->heads};
  dl_within(s, &arch->params_m, 1e-6, 1e7);
  at_most(s, &arch->head_params_m, &arch->params_m);
  at_most(s, &arch->active_params_m, &arch->params_m);
  at_most(s, &arch->head_macs_g, &arch->macs_g);
  at_most(s, &arch->attention_macs_g, &arch->macs_g);
  at_most(s, &arch->attention_acts_m, &arch->acts_m);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    dl_whole(s, whole[i]);
  check_inputs(s, arch);
}

/* --- data sets, grids, sites, nodes */

static void needs(const struct dl_subject *s, const double *member) {
  const struct dl_finding_place at = dl_entry_place(s->e);
  if (isnan(*member))
    dl_findings_add(s->l, true, &at, "no %s", dl_name_of(s, member));
}

static void check_dataset(const struct dl_subject *s) {
  const struct dl_dataset *data = DL_AS(dataset, s->e);
  needs(s, &data->train_samples);
  dl_whole(s, &data->train_samples);
  dl_whole(s, &data->val_samples);
  dl_whole(s, &data->classes);
  dl_whole(s, &data->image_px);
  at_most(s, &data->classes, &data->train_samples);
}

static void check_grid(const struct dl_subject *s) {
  const struct dl_grid *grid = DL_AS(grid, s->e);
  needs(s, &grid->carbon_g_kwh);
  needs(s, &grid->year);
  dl_within(s, &grid->carbon_g_kwh, 0, 2000);
  dl_whole(s, &grid->year);
}

static void check_site(const struct dl_subject *s) {
  const struct dl_site *site = DL_AS(site, s->e);
  dl_within(s, &site->pue, 1, 4);
  dl_within(s, &site->carbon_g_kwh, 0, 2000);
  dl_whole(s, &site->year);
}

static void check_node(const struct dl_subject *s) {
  const struct dl_finding_place at = dl_entry_place(s->e);
  const struct dl_node *node = DL_AS(node, s->e);
  double tdp = node->cpu_tdp_w;
  needs(s, &node->sockets);
  needs(s, &node->memory_gb);
  dl_whole(s, &node->gpus);
  dl_whole(s, &node->cores);
  dl_whole(s, &node->year);
  dl_within(s, &node->memory_w_gb, 0.02, 1.5);
  dl_within(s, &node->supply_efficiency, 0.5, 1);
  dl_within(s, &node->pue, 1, 4);
  if (!node->cpu && isnan(tdp))
    dl_findings_add(s->l, true, &at, "neither a cpu nor a cpu_tdp_w");
  if (dl_bound_value(s, &node->cpu_idle_w) > tdp)
    dl_object(s, &node->cpu_idle_w, "is more than cpu_tdp_w %g", tdp);
  if (node->gpus > 0 && !node->gpu)
    dl_object(s, &node->gpus, "without a gpu; name one of the catalogue");
  if (node->gpu && !(node->gpus > 0))
    dl_findings_add(s->l, true, &at, "gpu '%s', but no number of gpus",
                    node->gpu);
}

/* --- all of them */

static void check_rules(const struct dl_descriptor *e, struct dl_findings *l) {
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

/* A name stays with the entry that came first. */
static void check_name(struct dl_rules_names *names,
                       const struct dl_descriptor *e, const char *name,
                       struct dl_findings *l) {
  const struct dl_finding_place at = dl_entry_place(e);
  DL_TEXT(folded);
  dl_fold_name(e->kind, name, &folded);
  size_t before = names->folded.n;
  long k = folded.len > 0 ? dl_intern(&names->folded, folded.s) : -1;
  if (names->folded.n > before) {
    DL_GROW(names->owner, names->cap, names->folded.n);
    names->owner[k] =
        (struct dl_name_owner){names->n, (size_t)dl_intern(&names->id, e->id)};
  } else if (k >= 0 && names->owner[k].entry != names->n) {
    dl_findings_add(l, true, &at, "'%s' is also a name of '%s'", name,
                    names->id.s[names->owner[k].id]);
  }
}

void dl_rules_next(struct dl_rules_names *names, const struct dl_descriptor *e,
                   struct dl_findings *l) {
  check_name(names, e, e->id, l);
  if (strcmp(e->name, e->id) != 0)
    check_name(names, e, e->name, l);
  for (size_t a = 0; a < e->n_aliases; a++)
    check_name(names, e, e->aliases[a], l);
  names->n++;
  check_rules(e, l);
}

void dl_rules_names_free(struct dl_rules_names *names) {
  dl_intern_free(&names->folded);
  dl_intern_free(&names->id);
  free(names->owner);
  *names = (struct dl_rules_names){0};
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
    const struct dl_finding_place at = {e->file, e->origin[k].line, e->id};
    if (fabs(x - y) > 0.1 * y)
      dl_findings_add(l, false, &at,
                      "%s %g is not the %g of '%s' in the catalogue (%s)",
                      f->name, x, y, known->id, source ? source : "no source");
  }
}
