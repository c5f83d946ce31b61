#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/grids.xml: carbon intensity of electricity.

usage: grids-from-csv.py MIX.json CI.csv ISO.json > data/grids.xml

MIX.json  CodeCarbon's global_energy_mix.json: a record a country with the
          keys iso_code (alpha-3), country_name, carbon_intensity (g CO2e a
          kWh), year and the generation by source (*_TWh). It carries the
          figures of Our World in Data, which come from Ember.
CI.csv    Green Algorithms' CI_aggregated.csv, for the world (row WORLD) and
          for the regions of countries (rows of type Region), g CO2e a kWh.
ISO.json  iso_3166-1.json of Debian's iso-codes package: alpha-3 to alpha-2.

Every country comes from MIX.json: one method (life cycle of the generation
within the country) and years 2021 to 2023. CI.csv is older (2018 to 2022),
has 50 countries and mixes generation, consumption and residual-mix figures,
so the two are not merged. Countries whose figures differ by more than a third
are listed on stderr.

Regions come from CI.csv, which has them for the United States, Canada,
Australia and Hong Kong; their year stands in the source column ("data from
2019"), not the year of the compilation. Its codes are ISO 3166-2 but for those
in REGIONS below. A row of a region that is a country of its own here (Taiwan)
is passed over; a row whose unit is off would show as a region that is more
than twenty times above or below its country, which ends the run, but for those
whose hydropower explains it (CLEAN).
"""

import csv
import json
import re
import sys
from xml.sax.saxutils import quoteattr

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Carbon intensity of electricity by country and region, g CO2e a kWh,
     with the year of the figure. Written by data/make/grids-from-csv.py, which
     says where the figures come from and why; do not edit by hand. Countries:
     generation within the country, life cycle, one source for all. Imports, exports and
     losses in the network are not in it. Regions: older, by the inventory of
     their country, mostly direct emissions; those of one country compare with
     each other rather than with countries. -->
<catalog kind="grid" version="1">
  <sources>
    <source id="iea-2019" title="IEA, Global Energy and CO2 Status Report \
2019, as used by Green Algorithms (CC BY 4.0)" year="2019" \
url="https://www.iea.org/reports/global-energy-co2-status-report-2019"/>
    <source id="ipcc-2014" title="IPCC AR5, Working Group III, Annex III: \
median life-cycle emissions of electricity supply technologies" year="2014" \
url="https://www.ipcc.ch/report/ar5/wg3/"/>
    <source id="owid-2024" title="Ember and Energy Institute, processed by \
Our World in Data: carbon intensity of electricity (CC BY 4.0), as in \
CodeCarbon's global_energy_mix (MIT)" year="2024" \
url="https://ourworldindata.org/grapher/carbon-intensity-electricity"/>"""

IPCC_HYDRO = 24.0  # g/kWh, AR5 WG3 Annex III, median
WORLD_YEAR = 2018  # the IEA report of 2019 is about 2018
DIFFER = 4.0 / 3.0

# Where the regions of a country come from.
CF = ("Carbon Footprint, Country specific electricity grid greenhouse gas "
      "emission factors (March 2022)")
GA = ", as in Green Algorithms' CI_aggregated (CC BY 4.0)"
URL = "https://www.carbonfootprint.com/international_electricity_factors.html"
SOURCES = {
    "AU": ("cf-au-2022", CF + ", from the Australian government's factors of "
           "2021" + GA),
    "CA": ("cf-ca-2022", CF + ", from Canada's submission of 2021 to the "
           "UNFCCC" + GA),
    "HK": ("cf-hk-2022", CF + ", from the sustainability reports of the two "
           "companies for 2020" + GA),
    "US": ("cf-us-2022", CF + ", states of the USA" + GA),
}

# Codes of CI.csv that are not those of ISO 3166-2, or name a part of a region;
# and a name that is cut off there.
REGIONS = {
    "AU-NT2": ("au-nt-dkis", None),
    "AU-WA1": ("au-wa-nwis", None),
    "AU-WA2": ("au-wa-swis", None),
    "CA-MT": ("ca-mb", None),
    "CA-YT": ("ca-yt", "Yukon"),
    "CN-HK": ("hk-hke", "Hong Kong (HK Electric)"),
    "CN-HK2": ("hk-clp", "Hong Kong (CLP)"),
    "US-MS": ("us-ms", "Mississippi"),
}
CLEAN = {"ca-mb", "ca-pe", "ca-qc", "us-vt"}

# What people write besides the name and the codes.
ALSO = {
    "CD": ["dr-congo"],
    "CI": ["ivory-coast"],
    "CZ": ["czech-republic"],
    "GB": ["uk", "great-britain"],
    "KR": ["republic-of-korea"],
    "MO": ["macau"],
    "NL": ["holland"],
    "RU": ["russian-federation"],
    "TR": ["turkiye"],
    "US": ["united-states-of-america"],
    "VN": ["viet-nam"],
}


def figure(value):
    """The shortest decimal that keeps one place."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def value(name, source, text, note=None):
    extra = f" note={quoteattr(note)}" if note else ""
    return (f'    <value name="{name}" source="{source}"{extra}>'
            f"{text}</value>")


def intensity(row):
    """Figure, source and note of one country.

    Emissions are published to 0.01 Mt and generation to 0.01 TWh, so the
    quotient of a small grid is coarse, and 0 only means less than 0.005 Mt.
    """
    total, figure_g = row["total_TWh"], row["carbon_intensity"]
    if figure_g == 0.0 and total > 0.0:
        if row["hydroelectricity_TWh"] < 0.99 * total:
            raise SystemExit(f"{row['iso_code']}: zero, but not hydropower")
        return (IPCC_HYDRO, "ipcc-2014",
                "derived: all hydropower; the published 0 is rounded")
    coarse = 0.005 * (1000.0 + figure_g) / total
    note = None
    if coarse > 0.1 * figure_g:
        note = f"coarse: the rounding of the source is +-{coarse:.0f}"
    return figure_g, "owid-2024", note


def entry(ident, name, aliases, figure_g, source, note, year):
    lines = [f'  <entry id="{ident}" name={quoteattr(name)}>']
    lines += [f"    <alias>{alias}</alias>" for alias in aliases]
    lines.append(value("carbon_g_kwh", source, figure(figure_g), note))
    lines.append(value("year", source, str(year)))
    lines.append("  </entry>")
    return "\n".join(lines)


def read_ci(path):
    """Country rows of Green Algorithms' table: {alpha-2: g/kWh}."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) > 5]
    return {row[0]: float(row[4]) for row in rows
            if row[5] in ("Country", "World")}


def region_year(row):
    """The year that the figure of a region is of."""
    years = re.findall(r"data from (\d{4})", row[6])
    if len(years) != 1:
        raise SystemExit(f"{row[0]}: no one year in '{row[6]}'")
    return int(years[0])


def read_regions(path, countries):
    """(id, name, country, g/kWh, year) of each region, by id."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) > 5]
    found = []
    for row in rows:
        if row[5] != "Region" or row[0] in countries:
            continue
        ident, name = REGIONS.get(row[0], (row[0].lower(), None))
        country = ident[:2].upper()
        found.append((ident, name or row[3], country, float(row[4]),
                      region_year(row)))
    return sorted(found)


def check_unit(ident, figure_g, country_g):
    if ident in CLEAN:
        return
    if not country_g / 20.0 <= figure_g <= country_g * 20.0:
        raise SystemExit(f"{ident}: {figure_g} beside {country_g} of its "
                         "country: another unit?")


def print_regions(path, mix):
    """Their entries; mix is by alpha-2 code."""
    taken = {row["country_name"].lower() for row in mix.values()}
    for ident, name, country, figure_g, year in read_regions(path, mix):
        check_unit(ident, figure_g, mix[country]["carbon_intensity"])
        known = name.lower() in taken or "(" in name
        aliases = [] if known else [name]
        full = name if country == "HK" else (
            f"{name}, {mix[country]['country_name']}")
        print(entry(ident, full, aliases, figure_g, SOURCES[country][0],
                    None, year))


def print_head():
    print(HEAD)
    for ident, title in SOURCES.values():
        print(f'    <source id="{ident}" title={quoteattr(title)} '
              f'year="2022" url="{URL}"/>')
    print("  </sources>")


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.split("\n\n")[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        mix = json.load(file)
    other = read_ci(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        codes = {c["alpha_3"]: c["alpha_2"]
                 for c in json.load(file)["3166-1"]}
    total = sum(row["total_TWh"] for row in mix.values())
    mean = sum(row["carbon_intensity"] * row["total_TWh"]
               for row in mix.values()) / total
    print_head()
    print(entry("world", "World", [], other["WORLD"], "iea-2019",
                "the mean of the countries below, by generation, is "
                + figure(mean), WORLD_YEAR))
    for code in sorted(mix, key=lambda c: codes[c]):
        row, alpha2 = mix[code], codes[code]
        figure_g, source, note = intensity(row)
        aliases = [code.lower()] + ALSO.get(alpha2, [])
        print(entry(alpha2.lower(), row["country_name"], aliases, figure_g,
                    source, note, row["year"]))
        if alpha2 in other:
            low, high = sorted((figure_g, other[alpha2]))
            if high > DIFFER * low:
                print(f"{alpha2}: {figure(figure_g)} here, "
                      f"{figure(other[alpha2])} in {sys.argv[2]}",
                      file=sys.stderr)
    print_regions(sys.argv[2], {codes[code]: row
                                for code, row in mix.items()})
    print("</catalog>")


if __name__ == "__main__":
    main()
