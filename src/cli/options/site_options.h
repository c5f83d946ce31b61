/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options for the place where a job runs, and what follows from them. */

#ifndef DL_CLI_OPTIONS_SITE_OPTIONS_H
#define DL_CLI_OPTIONS_SITE_OPTIONS_H

#include "catalog/catalog.h"
#include "cli/options/option.h"
#include "output/report.h"

/* Bytes of the name of a currency. */
enum { DL_CURRENCY_MOST = 16 };

/* A factor and where it comes from. */
struct dl_factor {
  double x;           /* NaN: unknown */
  const char *of;     /* name of the site or grid, or "given"; NULL: unknown */
  const char *source; /* NULL where it has none */
  const char *note;
  double year; /* NaN */
};

/* The place where a job runs, and the factors from energy to emissions and
 * cost there. Start from dl_footprint_none. The texts belong to the catalogue
 * and the command line. */
struct dl_footprint {
  /* The options give it so. */
  const char *country;    /* grid of a country or region, or NULL */
  const char *cloud;      /* "PROVIDER:REGION", or NULL */
  const char *site_name;  /* or NULL */
  double given_intensity; /* g CO2e/kWh; NaN */
  double given_pue;       /* NaN */
  double price;           /* of a kWh; NaN */
  const char *currency;   /* of the price; NULL: not given */
  double wue;       /* water usage effectiveness, L/kWh of the energy; NaN */
  bool equivalents; /* compare energy and emissions with everyday ones */

  /* Set by dl_site_find. */
  struct dl_factor intensity;            /* g CO2e/kWh */
  const struct dl_hours *hours;          /* where it changes by the hour; jobs
                                            have their own then; or NULL */
  struct dl_factor pue;                  /* facility energy / energy */
  const struct dl_site *site;            /* NULL: none */
  const struct dl_grid *grid;            /* NULL: none was needed */
  char price_unit[DL_CURRENCY_MOST + 5]; /* "EUR/kWh" */
};

extern const struct dl_footprint dl_footprint_none;

/* Options with a member in struct dl_footprint. */
extern const struct dl_option dl_site_options_rows[];

/* Reads a price with its currency in place: "0.28EUR", "0.28 EUR/kWh"; `per` is
 * what may follow it ("/kWh"). False: it is none. */
bool dl_read_price(char *arg, const char *per, double *x,
                   const char **currency);

/* Looks the factors up by what the options give, in the place of an earlier
 * look-up. A given number overrides the number of the site, which
 * overrides the number of the grid. Without --country, --cloud and --site the
 * user's own site `default` is taken if there is one. Errors: options that
 * exclude each other (DL_EUSAGE), unknown names (DL_EINPUT). */
enum dl_status dl_site_find(struct dl_footprint *foot,
                            struct dl_catalog *catalog, struct dl_diag *d);

/* The costs of an energy; NaN if a factor is unknown. */
struct dl_costs {
  double facility_j; /* with cooling and power distribution: energy * PUE */
  double co2e_g;     /* of the facility energy where the PUE is known, else of
                        the energy */
  double price;      /* of that energy, in the currency of the footprint */
  double water_l;    /* of the energy before the PUE, as WUE is defined */
};
struct dl_costs dl_footprint_costs(const struct dl_footprint *foot,
                                   double energy_j);

/* Adds the factors used, with names, years and sources. The report borrows from
 * foot. */
void dl_add_footprint(struct dl_report *r, const struct dl_footprint *foot);

/* The energy that is paid for and emits: of the facility where the PUE is
 * known. */
double dl_paid_energy(const struct dl_footprint *foot, double energy_j);

/* Everyday amounts of a paid energy and its emissions, if they were asked for:
 * appended as "19.1 km by car, 0.42 days of a US household's electricity", or
 * as a table for programs, with factors and sources. */
void dl_text_equivalents(struct dl_text *t, const struct dl_footprint *foot,
                         double paid_j);
void dl_add_equivalents(struct dl_report *r, const struct dl_footprint *foot,
                        double paid_j);

/* Explains facility energy, emissions and cost to people. */
void dl_say_footprint(struct dl_report *r, const struct dl_footprint *foot);

#endif
