#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write data/sites.xml: cloud regions and kinds of sites.

usage: sites-from-csv.py REGIONS.csv IMPACT.csv PLACES.csv GRIDS.xml
           > data/sites.xml

REGIONS.csv  CodeCarbon's cloud/impact.csv as of 2025: regions of Google Cloud
             with the carbon intensity of their grid, g CO2e a kWh. The figures
             are those that Google publishes for 2023.
IMPACT.csv   ML CO2 Impact's impact.csv: regions of several providers with an
             intensity of 2016 to 2019 and some PUE.
PLACES.csv   Green Algorithms' cloudProviders_datacenters.csv: regions of Google
             and Microsoft with the code of their grid and some PUE of 2020.
GRIDS.xml    data/grids.xml: what `grid` may name, and what figures of a region
             are compared with.

What is taken, where the tables differ:

- Intensity: Google's own figures for 2023, by region. No other provider gives
  any; those of IMPACT.csv are older than the grids in GRIDS.xml, mostly of a
  whole country, and far off in places (623 for the United Kingdom), so such a
  region has a grid and no figure. Intensities net of bought certificates
  (Seeweb's 0) are not taken: they say nothing of the electricity used.
- PUE: the latest that the provider publishes, for the region (AWS), the campus
  (Google) or the state (Microsoft) it lies in, else for its fleet; the note
  says which, and which older figure of the tables differs. A provider that
  publishes none has none here.
- Regions younger than the tables, and those of Oracle (Regions and Availability
  Domains, 2025) and Lambda (documentation of its on-demand cloud, 2025), come
  from MORE, with the grid they lie in.
"""

import csv
import sys
import xml.etree.ElementTree as ET
from xml.sax.saxutils import quoteattr

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Where machines stand: PUE, and the carbon intensity of the electricity or
     the grid it comes from. Written by data/make/sites-from-csv.py, which says
     where the figures come from and why; do not edit by hand. -->
<catalog kind="site" version="1">
  <sources>"""

SOURCES = {
    "aws": ("AWS, Sustainability: power usage effectiveness, global, 2024",
            2024, "https://sustainability.aboutamazon.com/products-services/"
            "aws-cloud"),
    "aws-region": ("AWS, PUE by region, 2023, as in the Green Software "
                   "Foundation's Cloud Region Metadata", 2023,
                   "https://github.com/Green-Software-Foundation/"
                   "real-time-cloud"),
    "google": ("Google, Data center efficiency: PUE of twelve months, by "
               "campus, as of October 2025", 2025,
               "https://datacenters.google/efficiency/"),
    "google-fleet": ("Google, Environmental report 2025: average annual PUE "
                     "of the fleet, 2024", 2024,
                     "https://sustainability.google/reports/"),
    "google-region": ("Google, Carbon free energy for Google Cloud regions, "
                      "2023, as in CodeCarbon (MIT)", 2023,
                      "https://cloud.google.com/sustainability/"
                      "region-carbon"),
    "iso-30134": ("ISO/IEC 30134-2:2016, Key performance indicators: power "
                  "usage effectiveness", 2016, None),
    "microsoft": ("Microsoft, Measuring energy and water efficiency for "
                  "Microsoft datacenters, as of October 2025", 2025,
                  "https://datacenters.microsoft.com/sustainability/"
                  "efficiency/"),
    "nrel": ("NREL, High-Performance Computing Data Center Power Usage "
             "Effectiveness", 2018, "https://www.nrel.gov/"
             "computational-science/measuring-efficiency-pue.html"),
    "ovh": ("OVHcloud, average PUE as given with its carbon calculator, 2023",
            2023, "https://corporate.ovhcloud.com/en/sustainability/"
            "environment/"),
    "scaleway": ("Scaleway, Impact report 2018-2020", 2020,
                 "https://www.scaleway.com/en/environmental-leadership/"),
    "seeweb": ("The Green Web Foundation on Seeweb, as in ML CO2 Impact (MIT)",
               2022, "https://www.thegreenwebfoundation.org/green-web-check/"
               "?url=www.seeweb.it"),
    "uptime-2024": ("Uptime Institute, Global Data Center Survey 2024, as in "
                    "Green Algorithms' defaults_PUE (CC BY 4.0)", 2024,
                    "https://uptimeinstitute.com/resources/research-and-"
                    "reports/"),
}

# Name of a provider, source and figure for its fleet, older figures.
PROVIDERS = {
    "aws": ("AWS", "aws", 1.15, "1.2 in Green Algorithms (2023)"),
    "azure": ("Azure", "microsoft", 1.16, "1.12 in Green Algorithms (2023)"),
    "coreweave": ("CoreWeave", None, None, None),
    "gcp": ("Google Cloud", "google-fleet", 1.09,
            "1.12 in Green Algorithms (2023)"),
    "lambda": ("Lambda", None, None, None),
    "oci": ("Oracle Cloud", None, None, None),
    "ovh": ("OVHcloud", "ovh", 1.28, "1.09 in Green Algorithms (2023)"),
    "scaleway": ("Scaleway", "scaleway", 1.31,
                 "1.15 to 1.55 by data centre, DC3 taken"),
    "seeweb": ("Seeweb", "seeweb", 1.2, None),
}

# Campuses of Google by region, the first one of a place.
GOOGLE = {
    "asia-east1": 1.12, "asia-southeast1": 1.13, "europe-north1": 1.10,
    "europe-west1": 1.08, "europe-west4": 1.08, "southamerica-west1": 1.09,
    "us-central1": 1.11, "us-east1": 1.10, "us-east4": 1.09, "us-east5": 1.05,
    "us-south1": 1.10, "us-west1": 1.10, "us-west4": 1.09,
}

# What AWS gives by region; its others have the fleet's.
AWS = {
    "af-south-1": 1.24, "ap-northeast-1": 1.30, "ap-south-1": 1.44,
    "ap-south-2": 1.50, "ap-southeast-1": 1.30, "ap-southeast-2": 1.15,
    "ap-southeast-3": 1.35, "ap-southeast-4": 1.08, "ca-central-1": 1.22,
    "cn-northwest-1": 1.26, "eu-central-1": 1.33, "eu-north-1": 1.12,
    "eu-south-2": 1.11, "eu-west-1": 1.10, "me-central-1": 1.36,
    "me-south-1": 1.32, "sa-east-1": 1.18, "us-east-1": 1.15,
    "us-east-2": 1.12, "us-west-1": 1.17, "us-west-2": 1.13,
}

# What Microsoft gives by state or country, by the grid of a region.
MICROSOFT = {
    "ie": 1.18, "nl": 1.14, "pl": 1.19, "se": 1.16, "sg": 1.30,
    "us-az": 1.13, "us-ia": 1.16, "us-il": 1.25, "us-tx": 1.28,
    "us-va": 1.14, "us-wa": 1.16, "us-wy": 1.12,
}

# Grid of a city or of a country; regions of a country without the former have
# no figures of their own.
CITIES = {
    "Ashburn": "us-va", "Beauharnois": "ca-qc", "Berkeley County,": "us-sc",
    "Chicago": "us-il", "Columbus": "us-oh", "Council Bluffs": "us-ia",
    "Dallas": "us-tx", "Hong Kong": "hk", "Las Vegas": "us-nv",
    "Los Angeles": "us-ca", "Melbourne": "au-vic", "Moncks Corner": "us-sc",
    "Montreal": "ca-qc", "Nevada": "us-nv", "Portland": "us-or",
    "Salt Lake City": "us-ut", "San Francisco": "us-ca", "Sydney": "au-nsw",
    "The Dalles": "us-or", "Toronto": "ca-on", "Weehawken": "us-nj",
}
COUNTRIES = {
    "Belgium": "be", "Brazil": "br", "Chile": "cl", "China": "cn",
    "Finland": "fi", "France": "fr", "Germany": "de", "India": "in",
    "Indonesia": "id", "Ireland": "ie", "Israel": "il", "Italy": "it",
    "Japan": "jp", "Korea": "kr", "Netherlands": "nl", "Poland": "pl",
    "Qatar": "qa", "Saudi Arabia": "sa", "Singapore": "sg",
    "South Africa": "za", "South Korea": "kr", "Spain": "es", "Sweden": "se",
    "Switzerland": "ch", "Taiwan": "tw", "United Kingdom": "gb",
}
# Mistakes of the tables.
MISTAKES = {"me-cenrtal1": "me-central1"}
GOVERNMENT = {"us-gov-east-1": ("us-oh", "Ohio"),
              "us-gov-west-1": ("us-or", "Oregon")}
GRID_OF_CODE = {"": "qa", "CN-HK": "hk"}  # Qatar has no code there

# Regions younger than the tables: grid and place, as providers list them.
MORE = {
    "aws:af-south-1": ("za", "Cape Town, South Africa"),
    "aws:ap-south-2": ("in", "Hyderabad, India"),
    "aws:ap-southeast-3": ("id", "Jakarta, Indonesia"),
    "aws:ap-southeast-4": ("au-vic", "Melbourne, Australia"),
    "aws:ap-southeast-5": ("my", "Malaysia"),
    "aws:ap-southeast-7": ("th", "Thailand"),
    "aws:ca-west-1": ("ca-ab", "Calgary, Canada"),
    "aws:eu-central-2": ("ch", "Zurich, Switzerland"),
    "aws:eu-south-1": ("it", "Milan, Italy"),
    "aws:eu-south-2": ("es", "Aragon, Spain"),
    "aws:il-central-1": ("il", "Tel Aviv, Israel"),
    "aws:me-central-1": ("ae", "United Arab Emirates"),
    "aws:me-south-1": ("bh", "Bahrain"),
    "aws:mx-central-1": ("mx", "Queretaro, Mexico"),
    "azure:Indonesia Central": ("id", "Jakarta, Indonesia"),
    "azure:Malaysia West": ("my", "Kuala Lumpur, Malaysia"),
    "azure:Sweden Central": ("se", "Gavle, Sweden"),
    "gcp:europe-north2": ("se", "Stockholm, Sweden"),
    "gcp:northamerica-south1": ("mx", "Queretaro, Mexico"),
    "lambda:asia-northeast-1": ("jp", "Osaka, Japan"),
    "lambda:asia-northeast-2": ("jp", "Tokyo, Japan"),
    "lambda:asia-south-1": ("in", "India"),
    "lambda:europe-central-1": ("de", "Germany"),
    "lambda:me-west-1": ("il", "Israel"),
    "lambda:us-east-1": ("us-va", "Virginia, USA"),
    "lambda:us-midwest-1": ("us-il", "Illinois, USA"),
    "lambda:us-south-1": ("us-tx", "Texas, USA"),
    "lambda:us-west-1": ("us-ca", "California, USA"),
    "lambda:us-west-2": ("us-az", "Arizona, USA"),
    "lambda:us-west-3": ("us-ut", "Utah, USA"),
    "oci:af-johannesburg-1": ("za", "Johannesburg, South Africa"),
    "oci:ap-chuncheon-1": ("kr", "Chuncheon, South Korea"),
    "oci:ap-hyderabad-1": ("in", "Hyderabad, India"),
    "oci:ap-melbourne-1": ("au-vic", "Melbourne, Australia"),
    "oci:ap-mumbai-1": ("in", "Mumbai, India"),
    "oci:ap-osaka-1": ("jp", "Osaka, Japan"),
    "oci:ap-seoul-1": ("kr", "Seoul, South Korea"),
    "oci:ap-singapore-1": ("sg", "Singapore"),
    "oci:ap-sydney-1": ("au-nsw", "Sydney, Australia"),
    "oci:ap-tokyo-1": ("jp", "Tokyo, Japan"),
    "oci:ca-montreal-1": ("ca-qc", "Montreal, Canada"),
    "oci:ca-toronto-1": ("ca-on", "Toronto, Canada"),
    "oci:eu-amsterdam-1": ("nl", "Amsterdam, Netherlands"),
    "oci:eu-frankfurt-1": ("de", "Frankfurt, Germany"),
    "oci:eu-madrid-1": ("es", "Madrid, Spain"),
    "oci:eu-marseille-1": ("fr", "Marseille, France"),
    "oci:eu-milan-1": ("it", "Milan, Italy"),
    "oci:eu-paris-1": ("fr", "Paris, France"),
    "oci:eu-stockholm-1": ("se", "Stockholm, Sweden"),
    "oci:eu-zurich-1": ("ch", "Zurich, Switzerland"),
    "oci:il-jerusalem-1": ("il", "Jerusalem, Israel"),
    "oci:me-abudhabi-1": ("ae", "Abu Dhabi, United Arab Emirates"),
    "oci:me-dubai-1": ("ae", "Dubai, United Arab Emirates"),
    "oci:me-jeddah-1": ("sa", "Jeddah, Saudi Arabia"),
    "oci:mx-monterrey-1": ("mx", "Monterrey, Mexico"),
    "oci:mx-queretaro-1": ("mx", "Queretaro, Mexico"),
    "oci:sa-santiago-1": ("cl", "Santiago, Chile"),
    "oci:sa-saopaulo-1": ("br", "Sao Paulo, Brazil"),
    "oci:sa-vinhedo-1": ("br", "Vinhedo, Brazil"),
    "oci:uk-cardiff-1": ("gb", "Newport, United Kingdom"),
    "oci:uk-london-1": ("gb", "London, United Kingdom"),
    "oci:us-ashburn-1": ("us-va", "Ashburn, USA"),
    "oci:us-chicago-1": ("us-il", "Chicago, USA"),
    "oci:us-phoenix-1": ("us-az", "Phoenix, USA"),
    "oci:us-sanjose-1": ("us-ca", "San Jose, USA"),
}

# Sites by kind: name, aliases, PUE, its source and note, year.
KINDS = [
    ("data-centre", "A data centre as the industry reports it",
     ["data-center"], 1.56, "uptime-2024",
     "mean of the operators that answered", 2024),
    ("hpc", "A supercomputing centre",
     ["supercomputer"], 1.2, "nrel",
     "assumed: the upper end of centres that focus on efficiency; NREL's own "
     "is 1.036", 2018),
    ("workstation", "A machine in a room without cooling of its own",
     ["desktop", "office"], 1.0, "iso-30134",
     "assumed: nothing but the machine is supplied", 2016),
]


def rows_of(path, skip=0):
    with open(path, encoding="utf-8-sig", newline="") as file:
        for _ in range(skip):
            file.readline()
        return list(csv.DictReader(file))


def read_grids(path):
    """g/kWh and name of each grid by its id."""
    entries = ET.parse(path).getroot().findall("entry")
    return ({e.get("id"): float(e.find("value[@name='carbon_g_kwh']").text)
             for e in entries}, {e.get("id"): e.get("name") for e in entries})


def grid_of(row, country):
    """The finest grid that a row of the tables tells of."""
    city = row["city"].strip()
    if row["region"] in GOVERNMENT:
        return GOVERNMENT[row["region"]][0]
    if city in CITIES:
        return CITIES[city]
    return COUNTRIES[country]


def place_of(row, country):
    if row["region"] in GOVERNMENT:
        return GOVERNMENT[row["region"]][1] + ", USA"
    if row["city"] == "Nevada":
        return "Las Vegas, USA"
    if row["city"] == "Hong Kong":
        return "Hong Kong"
    city = row["city"].strip().rstrip(",")
    return city if city == country else f"{city}, {country}"


def add_google(sites, rows):
    for row in rows:
        region = MISTAKES.get(row["region"], row["region"])
        country = row["country_name"]
        sites["gcp:" + region] = {
            "grid": grid_of(row, country), "place": place_of(row, country),
            "carbon": float(row["impact"])}


def add_impact(sites, rows):
    for row in rows:
        provider = row["provider"]
        if provider in ("azure", "gcp"):
            continue  # in the other tables, with more regions
        region = (row["region"] or row["regionName"]).lower()
        country = row["country"]
        sites[f"{provider}:{region}"] = {
            "grid": grid_of(row, country), "place": place_of(row, country)}


def add_azure(sites, rows):
    for row in rows:
        if row["provider"] != "azure" or "Sovereign" in row["Name"]:
            continue  # the sovereign cloud closed in 2021
        name = row["Name"].replace(" (Public)", "")
        sites["azure:" + name.replace(" ", "").lower()] = {
            "grid": GRID_OF_CODE.get(row["location"], row["location"].lower()),
            "place": row["location_freeForm"].strip(), "name": name}


def complete_places(sites, names):
    """A city or a state alone gets its country behind it."""
    for site in sites.values():
        country = names[site["grid"][:2]]
        if "," not in site["place"] and site["place"] != country:
            site["place"] += ", " + country


def add_more(sites):
    for name, (grid, place) in MORE.items():
        provider, region = name.split(":")
        ident = f"{provider}:{region.replace(' ', '').lower()}"
        sites.setdefault(ident, {"grid": grid, "place": place,
                                 "name": region})


def older_pue(impact, places):
    """PUE of Google's regions in the two tables: {region: [texts]}."""
    found = {}
    for rows, name, of in ((places, "Name", "Green Algorithms (2020)"),
                           (impact, "region", "ML CO2 Impact (2019)")):
        for row in rows:
            if row["provider"] == "gcp" and row["PUE"]:
                found.setdefault(row[name], []).append(
                    (float(row["PUE"]), of))
    return found


def pue_of(ident, site, older):
    """Figure, source, note; None where the provider publishes none."""
    provider, region = ident.split(":")
    _, source, fleet, other = PROVIDERS[provider]
    if provider == "gcp" and region in GOOGLE:
        figure = GOOGLE[region]
        differ = [f"{x:g} in {of}" for x, of in older.get(region, [])
                  if abs(x - figure) > 0.005]
        note = "of the campus there"
        if differ:
            note += "; older: " + ", ".join(differ)
        return figure, "google", note
    if provider == "aws" and region in AWS:
        return (AWS[region], "aws-region",
                f"of the region; the provider's fleet has {fleet:g}")
    if provider == "azure" and site["grid"] in MICROSOFT:
        return (MICROSOFT[site["grid"]], source,
                f"of the provider's sites in {site['grid']}; "
                f"its fleet has {fleet:g}")
    if fleet is None:
        return None
    note = "provider's fleet" + (f"; disputed: {other}" if other else "")
    return fleet, source, note


def carbon_note(site, grids):
    """Where Google's figure and that of the grid are far apart."""
    low, high = sorted((site["carbon"], grids[site["grid"]]))
    if high <= 4.0 / 3.0 * low:
        return None
    return (f"disputed: {grids[site['grid']]:g} for {site['grid']} in the "
            "list of grids")


def value(name, source, figure, note=None):
    extra = f" note={quoteattr(note)}" if note else ""
    return (f'    <value name="{name}" source="{source}"{extra}>'
            f"{figure:g}</value>")


def entry(ident, site, grids, older):
    provider, region = ident.split(":")
    name = f"{PROVIDERS[provider][0]} {site.get('name', region)}"
    print(f'  <entry id="{ident}" name={quoteattr(name)} vendor="{provider}" '
          f'grid="{site["grid"]}" place={quoteattr(site["place"])}>')
    pue = pue_of(ident, site, older)
    year = 2023, "google-region"
    if pue:
        print(value("pue", pue[1], pue[0], pue[2]))
        if "carbon" not in site:
            year = SOURCES[pue[1]][1], pue[1]
    if "carbon" in site:
        print(value("carbon_g_kwh", "google-region", site["carbon"],
                    carbon_note(site, grids)))
    if pue or "carbon" in site:
        print(value("year", year[1], year[0]))
    print("  </entry>")


def print_head():
    print(HEAD)
    for ident, (title, year, url) in SOURCES.items():
        link = f" url={quoteattr(url)}" if url else ""
        print(f'    <source id="{ident}" title={quoteattr(title)} '
              f'year="{year}"{link}/>')
    print("  </sources>")


def main():
    if len(sys.argv) != 5:
        raise SystemExit(__doc__.split("\n\n")[1])
    impact = rows_of(sys.argv[2])
    places = rows_of(sys.argv[3], 1)
    grids, names = read_grids(sys.argv[4])
    sites = {}
    add_google(sites, rows_of(sys.argv[1]))
    add_impact(sites, impact)
    add_azure(sites, places)
    complete_places(sites, names)
    add_more(sites)
    print_head()
    for ident, name, aliases, pue, source, note, year in KINDS:
        print(f'  <entry id="{ident}" name={quoteattr(name)}>')
        for alias in aliases:
            print(f"    <alias>{alias}</alias>")
        print(value("pue", source, pue, note))
        print(value("year", source, year))
        print("  </entry>")
    older = older_pue(impact, places)
    for ident in sorted(sites):
        entry(ident, sites[ident], grids, older)
    print("</catalog>")


if __name__ == "__main__":
    main()
