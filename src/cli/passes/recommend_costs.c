/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of the choices of dlest recommend, their emissions and cost. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "cli/passes/recommend.h"

enum dl_status dl_read_hour_prices(const struct dl_option *row, char *arg,
                                   void *at, struct dl_diag *d) {
  struct dl_hour_prices *p = at;
  (void)row;
  p->n = 0;
  for (char *part = arg, *end; part; part = end) {
    char *eq = strchr(part, '=');
    const char *currency = NULL;
    end = strchr(part, ',');
    if (end)
      *end++ = '\0';
    if (p->n == DL_LENGTH(p->of))
      return dl_fail(d, DL_EUSAGE, "--gpu-price: more than %zu prices", p->n);
    struct dl_named_number *of = &p->of[p->n++];
    of->name = eq ? part : NULL;
    if (eq)
      *eq = '\0';
    if (!dl_read_price(eq ? eq + 1 : part, "/h", &of->x, &currency) ||
        (!eq && (end || p->n > 1)))
      return DL_EUSAGE;
    if (currency && p->currency && strcmp(currency, p->currency) != 0)
      return dl_fail(d, DL_EUSAGE, "--gpu-price: prices in %s and in %s",
                     p->currency, currency);
    p->currency = currency ? currency : p->currency;
  }
  return DL_OK;
}

static enum dl_status look_prices_up(struct dl_cli *cli,
                                     struct dl_hour_prices *p) {
  for (size_t i = 0; i < p->n; i++) {
    const struct dl_descriptor *e;
    if (!p->of[i].name)
      continue;
    DL_TRY(dl_catalog_get(dl_cli_catalog(cli), DL_ACCELERATOR, p->of[i].name,
                          &e, &cli->diag));
    p->of[i].name = e->id;
  }
  return DL_OK;
}

/* Refuses an objective that nothing gives, and a PUE that counts for nothing.
 */
static enum dl_status check_objectives(struct dl_cli *cli,
                                       const struct dl_recommend_options *o,
                                       const struct dl_recommend_data *r) {
  const struct dl_footprint *first = &r->region[0];
  bool counted = !isnan(first->intensity.x) || !isnan(first->price);
  if (!o->nodes && !counted)
    DL_TRY(dl_cli_refuse(cli, "cloud|site|pue",
                         "without --node, --country, --intensity or --price"));
  for (size_t i = 0; i < o->limits.n_by; i++) {
    enum dl_objective by = o->limits.by[i];
    if (by == DL_BY_CO2E && isnan(first->intensity.x) && !o->nodes)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "--by co2e needs --country, --cloud, --site or "
                     "--intensity");
    if (by == DL_BY_COST && isnan(first->price) && o->gpu_price.n == 0 &&
        !o->nodes)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "--by cost needs --price or --gpu-price");
  }
  return DL_OK;
}

/* Reads the intensities; the place has the intensity at the start. */
static enum dl_status take_hours(struct dl_cli *cli,
                                 struct dl_recommend_options *o,
                                 struct dl_recommend_data *r) {
  struct dl_factor *at = &r->region[0].intensity;
  if (r->n_regions > 1 || o->nodes)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--intensity-hours is for one place, without --node");
  DL_TRY(dl_hours_options_read(&o->hours, &cli->diag));
  *at = (struct dl_factor){.of = o->hours.path, .year = NAN};
  return dl_hours_mean(&o->hours.hours, o->hours.start_ns, o->hours.start_ns,
                       &at->x, &cli->diag);
}

enum dl_status dl_recommend_regions(struct dl_cli *cli,
                                    struct dl_recommend_options *o,
                                    struct dl_recommend_data *r) {
  const struct dl_footprint *s = &o->job.foot;
  const char *list = s->cloud ? s->cloud : s->country;
  if (list)
    dl_strlist_split(&r->names, list, ',');
  r->n_regions = list ? r->names.n : 1;
  r->region = dl_calloc(r->n_regions, sizeof *r->region);
  for (size_t i = 0; i < r->n_regions; i++) {
    struct dl_footprint *to = &r->region[i];
    const char *name = list ? r->names.s[i] : NULL;
    *to = *s;
    if (s->cloud)
      to->cloud = name;
    else
      to->country = name;
    if (name && !*name && !s->cloud)
      return dl_fail(&cli->diag, DL_EUSAGE,
                     "--country: '' is none; expected names of countries or "
                     "regions between commas");
    DL_TRY(dl_site_find(to, dl_cli_catalog(cli), &cli->diag));
  }
  o->job.foot = r->region[0];
  if (r->n_regions > 1 && !o->by.n)
    o->limits.by[0] = DL_BY_CO2E;
  DL_TRY(look_prices_up(cli, &o->gpu_price));
  if (o->hours.path)
    DL_TRY(take_hours(cli, o, r));
  return check_objectives(cli, o, r);
}

const char *dl_recommend_region_name(const struct dl_recommend_data *r,
                                     size_t i) {
  return r->n_regions > 1 ? r->names.s[i] : NULL;
}

bool dl_is_of_provider(const char *node, const char *cloud) {
  size_t n = cloud ? strcspn(cloud, ":") + 1 : 0;
  return !cloud || strncmp(node, cloud, n) == 0;
}

/* Price of an hour on accelerators of one kind; NaN: unknown. */
static double hour_price(const struct dl_hour_prices *p, const char *gpu) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->of[i].name || dl_same_text(p->of[i].name, gpu))
      return p->of[i].x;
  return NAN;
}

/* Mean intensity of the time of a choice, at its best start; NaN where the file
 * does not have it. */
static double hours_intensity(const struct dl_hours_options *o,
                              double duration_s) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  struct dl_hours_start start;
  double given;
  return !isnan(duration_s) && dl_hours_find_start(o, duration_s, &start,
                                                   &given, &quiet) == DL_OK
             ? start.g
             : (double)NAN;
}

void dl_recommend_cost(const struct dl_recommend_options *o,
                       const struct dl_footprint *foot, double node_price,
                       struct dl_alternative *c) {
  double pue = c->node ? 1 : dl_or(foot->pue.x, 1);
  double hour =
      dl_or(c->billed * hour_price(&o->gpu_price, c->gpu), node_price);
  double g_kwh = o->hours.path ? hours_intensity(&o->hours, c->duration_s)
                               : foot->intensity.x;
  const struct dl_interval *paid = c->node ? &c->paid_j : &c->energy_j;
  c->co2e_g = dl_interval_scale(*paid, pue * g_kwh / DL_J_PER_KWH);
  c->cost = dl_interval_scale(*paid, pue * foot->price / DL_J_PER_KWH);
  if (!isnan(hour))
    c->cost =
        (struct dl_interval){c->duration_s / DL_S_PER_HOUR * hour, NAN, NAN};
}

/* Warns of prices of accelerators that no choice has. */
static void warn_of_prices(const struct dl_hour_prices *p,
                           const struct dl_choices *l, struct dl_diag *d) {
  for (size_t i = 0; i < p->n; i++) {
    bool used = !p->of[i].name;
    for (size_t k = 0; k < l->n && !used; k++)
      used = dl_same_text(p->of[i].name, l->c[k].gpu);
    if (!used)
      dl_warn(d, "--gpu-price %s: no choice has this accelerator",
              p->of[i].name);
  }
}

/* Choices that run beyond the file have no emissions; an error if all do. */
static enum dl_status check_hours(const struct dl_recommend_options *o,
                                  const struct dl_choices *l,
                                  struct dl_diag *d) {
  double shortest = INFINITY, given;
  size_t without = 0;
  struct dl_hours_start start;
  for (size_t i = 0; i < l->n; i++) {
    without += isnan(l->c[i].co2e_g.x) && !isnan(l->c[i].duration_s);
    shortest = fmin(shortest, l->c[i].duration_s);
  }
  if (without == 0 || !isfinite(shortest))
    return DL_OK;
  DL_TRY(dl_hours_find_start(&o->hours, shortest, &start, &given, d));
  dl_warn_at(d, o->hours.path, 0,
             "%zu of %zu choices run beyond the file: without emissions",
             without, l->n);
  return DL_OK;
}

enum dl_status dl_recommend_costs(struct dl_cli *cli,
                                  const struct dl_recommend_options *o,
                                  struct dl_recommend_data *r) {
  struct dl_choices *l = &r->choices;
  size_t n = l->n;
  bool priced = false;
  for (size_t i = 1; i < r->n_regions && !o->nodes; i++)
    dl_choices_repeat(l, n, dl_recommend_region_name(r, i));
  for (size_t i = 0; i < l->n; i++) {
    if (!o->nodes) {
      l->c[i].region = dl_recommend_region_name(r, i / n);
      dl_recommend_cost(o, &r->region[i / n], NAN, &l->c[i]);
    }
    priced |= !isnan(l->c[i].cost.x);
  }
  if (o->hours.path)
    DL_TRY(check_hours(o, l, &cli->diag));
  warn_of_prices(&o->gpu_price, l, &cli->diag);
  for (size_t i = 0; i < o->limits.n_by; i++)
    if (o->limits.by[i] == DL_BY_COST && !priced)
      return dl_fail(&cli->diag, DL_EINPUT,
                     "--by cost: no choice has a price; give --gpu-price, "
                     "--price or price_h in your own node");
  return DL_OK;
}
