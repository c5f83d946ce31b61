/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for the place where a job runs: carbon intensity, PUE, price. */

#include "cli/options/site_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"

static const struct dl_factor unknown_factor = {.x = NAN, .year = NAN};

const struct dl_footprint dl_footprint_none = {
    .given_intensity = NAN,
    .given_pue = NAN,
    .price = NAN,
    .wue = NAN,
    .intensity = {.x = NAN, .year = NAN},
    .pue = {.x = NAN, .year = NAN},
};

/* The longest number, then the currency. */
bool dl_read_price(char *arg, const char *per, double *x,
                   const char **currency) {
  size_t n = strspn(arg, "0123456789.eE+-"), tail = strlen(per);
  bool valid = false;
  for (; n > 0 && !valid; n -= !valid) {
    char kept = arg[n];
    arg[n] = '\0';
    valid = dl_parse_double(arg, x) && *x >= 0;
    arg[n] = kept;
  }
  char *unit = arg + n + strspn(arg + n, " ");
  size_t len = strlen(unit);
  if (len >= tail && strcmp(unit + len - tail, per) == 0)
    unit[len -= tail] = '\0';
  /* A price of another quantity: 70EUR/MWh, 5kWh, 5%. */
  valid &= !strpbrk(unit, "/%") && !strstr(unit, "Wh");
  for (size_t i = 0; i < len; i++)
    valid &=
        !iscntrl((unsigned char)unit[i]) && !isdigit((unsigned char)unit[i]);
  *currency = len > 0 ? unit : NULL;
  return valid && len <= DL_CURRENCY_MOST;
}

static enum dl_status read_price(const struct dl_option *row, char *arg,
                                 void *at, struct dl_diag *d) {
  struct dl_footprint *o = at;
  (void)row, (void)d;
  return dl_read_price(arg, "/kWh", &o->price, &o->currency) ? DL_OK
                                                             : DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_footprint, member)

const struct dl_option dl_site_options_rows[] = {
    DL_HEADING("Emissions and cost:", 60),
    {"country", 0, "NAME",
     "carbon intensity of the grid of a country or region (ES, us-ca; dlest "
     "list grids)",
     AT(TEXT, country), .reads = true},
    {"cloud", 0, "PROVIDER:REGION",
     "carbon intensity and PUE of a cloud region (aws:eu-west-1; dlest list "
     "sites)",
     AT(TEXT, cloud)},
    {"site", 0, "NAME",
     "carbon intensity and PUE of a site (data-centre, hpc, workstation) or "
     "your own file",
     AT(TEXT, site_name), .reads = true},
    {"intensity", 0, "G",
     "carbon intensity, g CO2e/kWh; overrides that of the site",
     AT(NUMBER, given_intensity)},
    {"pue", 0, "P",
     "power usage effectiveness (1 or more); overrides that of the site",
     AT(NUMBER, given_pue), .low = 1},
    {"price", 0, "PRICE",
     "price per kWh with its currency: 0.28EUR; adds the cost",
     .kind = DL_OPTION_READ, .read = read_price,
     .expected = "a number and a currency: 0.28EUR"},
    {"wue", 0, "L",
     "water usage effectiveness, litres per kWh of the computers; adds the "
     "water",
     AT(ABOVE, wue), .high = 100},
    {"equivalents", 0, NULL,
     "compare energy and emissions with cars and households",
     AT(FLAG, equivalents)},
    {0},
};

/* Grids have 10 to 1300 g CO2e/kWh, single plants 3 to 1700. */
#define LEAST_INTENSITY 1
#define MOST_INTENSITY 3000

/* Data centres have 1.1 to 3. */
#define MOST_PUE 4

/* Refuses a cloud without a region: lists those of the provider. */
static enum dl_status fail_region(const char *cloud, struct dl_catalog *catalog,
                                  struct dl_diag *d) {
  const struct dl_descriptor **all = NULL;
  size_t n = 0, len = strlen(cloud);
  DL_TEXT(regions);
  DL_TRY(dl_catalog_all(catalog, DL_SITE, &all, &n, d));
  for (size_t i = 0; i < n; i++)
    if (len > 0 && strncasecmp(all[i]->id, cloud, len) == 0 &&
        all[i]->id[len] == ':')
      dl_text_printf(&regions, "%s%s", regions.len > 0 ? ", " : "",
                     all[i]->id + len + 1);
  free(all);
  if (regions.len == 0)
    return dl_fail(d, DL_EUSAGE,
                   "--cloud: invalid value '%.64s'; expected PROVIDER:REGION, "
                   "as aws:eu-west-1",
                   cloud);
  return dl_fail(
      d, DL_EUSAGE,
      "--cloud: '%s' lacks its region; write --cloud %s:REGION, one of %s",
      cloud, cloud, dl_text_str(&regions));
}

static enum dl_status find_site(const struct dl_footprint *o,
                                struct dl_catalog *catalog,
                                const struct dl_site **site,
                                struct dl_diag *d) {
  const char *name = o->cloud ? o->cloud : o->site_name;
  const struct dl_descriptor *e = NULL;
  *site = NULL;
  if (o->cloud && (o->country || o->site_name))
    return dl_fail(d, DL_EUSAGE,
                   "--cloud and %s exclude each other: a cloud region has a "
                   "grid and a PUE of its own",
                   o->country ? "--country" : "--site");
  if (!name && o->country)
    return DL_OK;
  if (o->cloud && !strchr(o->cloud, ':'))
    return fail_region(o->cloud, catalog, d);
  if (o->site_name)
    DL_TRY(dl_catalog_open(catalog, DL_SITE, o->site_name, d));
  DL_TRY(
      name ? dl_catalog_get(catalog, DL_SITE, name, &e, d)
           : dl_catalog_look_listed(catalog, DL_SITE, "default", true, &e, d));
  *site = DL_AS(site, e);
  return DL_OK;
}

static enum dl_status find_grid(const struct dl_footprint *o,
                                struct dl_catalog *catalog,
                                const struct dl_site *site,
                                const struct dl_grid **grid,
                                struct dl_diag *d) {
  const struct dl_descriptor *e = NULL;
  bool own = site && !isnan(site->carbon_g_kwh);
  if (o->country && site && (own || site->grid))
    return dl_fail(d, DL_EUSAGE,
                   "--country and --site exclude each other here: site '%s' "
                   "has %s of its own",
                   site->head.id, own ? "an intensity" : "a grid");
  if (o->country) {
    DL_TRY(dl_catalog_open(catalog, DL_GRID, o->country, d));
    DL_TRY(dl_catalog_get(catalog, DL_GRID, o->country, &e, d));
  } else if (site && !own && site->grid) {
    DL_TRY(dl_catalog_look(catalog, DL_GRID, site->grid, &e, d));
    if (!e)
      return dl_fail_at(d, DL_EINPUT, site->head.file, site->head.line,
                        "site '%s': unknown grid '%s' (see 'dlest list grids')",
                        site->head.id, site->grid);
  }
  *grid = DL_AS(grid, e);
  return DL_OK;
}

static struct dl_factor given(double x) {
  return (struct dl_factor){.x = x, .of = "given", .year = NAN};
}

/* Makes a factor from a value of a site or grid and the `year` of that value.
 */
static struct dl_factor factor_of(const struct dl_descriptor *e,
                                  const double *member, double year) {
  const struct dl_origin *from = &e->origin[dl_field_index(e, member)];
  return (struct dl_factor){.x = *member,
                            .of = e->name,
                            .source = from->source,
                            .note = from->note,
                            .year = year};
}

/* The year of its source, NaN where unknown. */
static double source_year(const struct dl_descriptor *e, const double *member) {
  double year;
  const char *text = e->origin[dl_field_index(e, member)].year;
  return text && dl_parse_double(text, &year) ? year : NAN;
}

enum dl_status dl_site_find(struct dl_footprint *foot,
                            struct dl_catalog *catalog, struct dl_diag *d) {
  double g_kwh = foot->given_intensity, pue = foot->given_pue;
  foot->intensity = foot->pue = unknown_factor;
  foot->hours = NULL;
  snprintf(foot->price_unit, sizeof foot->price_unit, "%s%s",
           dl_text_or(foot->currency, ""), foot->currency ? "/kWh" : "per kWh");
  DL_TRY(find_site(foot, catalog, &foot->site, d));
  DL_TRY(find_grid(foot, catalog, foot->site, &foot->grid, d));
  const struct dl_site *site = foot->site;
  const struct dl_grid *grid = foot->grid;
  if ((g_kwh > 0 && g_kwh < LEAST_INTENSITY) || g_kwh > MOST_INTENSITY)
    dl_warn(d, "--intensity: no grid has %g g CO2e/kWh; is it in another unit?",
            g_kwh);
  if (pue > MOST_PUE)
    dl_warn(d, "--pue: no data centre has a PUE of %g", pue);
  if (!isnan(g_kwh)) {
    foot->intensity = given(g_kwh);
    foot->grid = NULL;
  } else if (site && !isnan(site->carbon_g_kwh)) {
    foot->intensity = factor_of(&site->head, &site->carbon_g_kwh, site->year);
  } else if (grid) {
    foot->intensity = factor_of(&grid->head, &grid->carbon_g_kwh, grid->year);
  }
  if (!isnan(pue))
    foot->pue = given(pue);
  else if (site && !isnan(site->pue))
    foot->pue = factor_of(&site->head, &site->pue,
                          source_year(&site->head, &site->pue));
  return DL_OK;
}

double dl_paid_energy(const struct dl_footprint *foot, double energy_j) {
  return isnan(foot->pue.x) ? energy_j : energy_j * foot->pue.x;
}

struct dl_costs dl_footprint_costs(const struct dl_footprint *foot,
                                   double energy_j) {
  const double kwh = dl_paid_energy(foot, energy_j) / DL_J_PER_KWH;
  return (struct dl_costs){energy_j * foot->pue.x, kwh * foot->intensity.x,
                           kwh * foot->price,
                           energy_j / DL_J_PER_KWH * foot->wue};
}

/* Everyday amounts, each per kWh or per g of CO2e. */
static const struct {
  const char *key, *words, *source;
  double factor;
  bool of_energy;
} equivalents[] = {
    {"car_km", "km by car",
     "400 g CO2 per mile of the average passenger car: US EPA, Greenhouse Gas "
     "Emissions from a Typical Passenger Vehicle, EPA-420-F-23-014, 2023",
     1.609344 / 400, false},
    {"household_days", "days of a US household's electricity",
     "10,715 kWh a year: US Energy Information Administration, How much "
     "electricity does an American home use?, of 2020",
     365 / 10715.0, true}};

static double equivalent(size_t i, const struct dl_footprint *foot,
                         double paid_j) {
  const double kwh = paid_j / DL_J_PER_KWH;
  return equivalents[i].factor *
         (equivalents[i].of_energy ? kwh : kwh * foot->intensity.x);
}

void dl_text_equivalents(struct dl_text *t, const struct dl_footprint *foot,
                         double paid_j) {
  char number[DL_NUMBER_SIZE];
  for (size_t i = 0; foot->equivalents && i < DL_LENGTH(equivalents); i++) {
    const double x = equivalent(i, foot, paid_j);
    if (!isnan(x))
      dl_text_printf(t, "%s%s %s", t->len > 0 ? ", " : "",
                     dl_group_digits(dl_format_digits(number, x, 2)),
                     equivalents[i].words);
  }
}

void dl_add_equivalents(struct dl_report *r, const struct dl_footprint *foot,
                        double paid_j) {
  static const struct dl_column columns[] = {{.key = "what"},
                                             {.key = "amount"},
                                             {.key = "factor"},
                                             {.key = "per"},
                                             {.key = "source"}};
  if (!foot->equivalents)
    return;
  struct dl_table *t = DL_TABLE(r, "equivalents", NULL, columns, false);
  for (size_t i = 0; i < DL_LENGTH(equivalents); i++)
    DL_ROW(t, NULL, dl_string(equivalents[i].key),
           dl_number(equivalent(i, foot, paid_j)),
           dl_number(equivalents[i].factor),
           dl_string(equivalents[i].of_energy ? "kWh" : "g CO2e"),
           dl_string(equivalents[i].source));
}

/* A factor of the site or grid, with where it comes from. */
static void add_factor(struct dl_report *r, const struct dl_factor *f,
                       const char *const keys[4], const char *const labels[4]) {
  const char *const texts[] = {f->of, NULL, f->source, f->note};
  for (size_t i = 0; i < 4; i++)
    dl_report_add(r, keys[i], labels[i], NULL, DL_CODE,
                  i == 1 ? dl_known(f->year) : dl_known_string(texts[i]));
}

void dl_add_footprint(struct dl_report *r, const struct dl_footprint *foot) {
  static const char *const intensity[2][4] = {
      {"intensity_of", "intensity_year", "intensity_source", "intensity_note"},
      {"intensity of", "intensity in", "intensity from", "intensity note"}};
  static const char *const pue[2][4] = {
      {"pue_of", "pue_year", "pue_source", "pue_note"},
      {"PUE of", "PUE in", "PUE from", "PUE note"}};
  const struct dl_factor *g = &foot->intensity, *p = &foot->pue;
  bool priced = !isnan(foot->price);
  const char *of = isnan(p->x) ? "energy_j" : "facility_energy_j";
  DL_LINES(r,
           {"site", "site", NULL, DL_CODE,
            dl_known_string(foot->site ? foot->site->head.id : NULL)},
           {"grid", "grid", NULL, DL_CODE,
            dl_known_string(foot->grid ? foot->grid->head.id : NULL)},
           {"intensity_g_kwh", "intensity", "g/kWh", DL_PLAIN, dl_known(g->x)});
  add_factor(r, g, intensity[0], intensity[1]);
  dl_report_add(r, "pue", "PUE", NULL, DL_PLAIN, dl_known(p->x));
  add_factor(r, p, pue[0], pue[1]);
  DL_LINES(r,
           {"co2e_of", NULL, NULL, DL_CODE, dl_string(isnan(g->x) ? NULL : of)},
           {"price_per_kwh", "price", foot->price_unit, DL_PLAIN,
            dl_known(foot->price)},
           {"currency", NULL, NULL, DL_CODE, dl_string(foot->currency)},
           {"cost_of", NULL, NULL, DL_CODE, dl_string(priced ? of : NULL)},
           {"wue_l_kwh", "WUE", "L/kWh", DL_PLAIN, dl_known(foot->wue)});
}

void dl_say_footprint(struct dl_report *r, const struct dl_footprint *foot) {
  bool co2e = !isnan(foot->intensity.x), cost = !isnan(foot->price);
  const char *end = ".";
  if (co2e && cost)
    end = "; emissions and cost are those of the facility.";
  else if (co2e)
    end = "; emissions are those of the facility.";
  else if (cost)
    end = "; cost is that of the facility.";
  if (!isnan(foot->pue.x))
    dl_report_say(r, "Facility is %g times the energy within each boundary%s",
                  foot->pue.x, end);
}
