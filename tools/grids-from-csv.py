#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/grids.xml: carbon intensity of electricity by country.

usage: grids-from-csv.py MIX.json CI.csv ISO.json > data/grids.xml

MIX.json  CodeCarbon's global_energy_mix.json: a record a country with the
          keys iso_code (alpha-3), country_name, carbon_intensity (g CO2e a
          kWh), year and the generation by source (*_TWh). It carries the
          figures of Our World in Data, which come from Ember.
CI.csv    Green Algorithms' CI_aggregated.csv, for the world alone
          (row WORLD, g CO2e a kWh).
ISO.json  iso_3166-1.json of Debian's iso-codes package: alpha-3 to alpha-2.

Every country comes from MIX.json: one method (life cycle of the generation
within the country) and years 2021 to 2023. CI.csv is older (2018 to 2022),
has 50 countries and mixes generation, consumption and residual-mix figures,
so the two are not merged. Countries whose figures differ by more than a third
are listed on stderr.
"""

import csv
import json
import sys
from xml.sax.saxutils import quoteattr

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Carbon intensity of electricity by country, g CO2e a kWh, with the year
     of the figure. Written by tools/grids-from-csv.py, which says where the
     figures come from and why; do not edit by hand. Countries: generation
     within the country, life cycle, one source for all. Imports, exports and
     losses in the network are not in it. -->
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
url="https://ourworldindata.org/grapher/carbon-intensity-electricity"/>
  </sources>"""

IPCC_HYDRO = 24.0  # g/kWh, AR5 WG3 Annex III, median
WORLD_YEAR = 2018  # the IEA report of 2019 is about 2018
DIFFER = 4.0 / 3.0

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
    print(HEAD)
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
    print("</catalog>")


if __name__ == "__main__":
    main()
