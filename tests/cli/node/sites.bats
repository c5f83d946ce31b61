#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Where a job runs: --country, --cloud, --site, --intensity, --pue. An A100 of
# 400 W for 10 h takes 4 kWh by `tdp`.

load ../common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CONFIG_HOME=$PWD/config
  unset DLEST_PATH
}

# job ARG...: that job
job() {
  gives 0 '' predict --gpu a100 --duration 10h --method tdp --format json -q \
    "$@"
}

# my_sites ENTRY...: the user's own sites
my_sites() {
  mkdir -p config/dlest
  {
    echo '<catalog kind="site" version="1">'
    echo '<sources><source id="bill" title="our bill of 2025"/></sources>'
    printf '%s\n' "$@"
    echo '</catalog>'
  } >config/dlest/sites.xml
}

default_site='<entry id="default" name="Our machine room" grid="es">
  <value name="pue" source="bill">1.4</value></entry>'

@test 'nothing said: no emissions' {
  job
  check '.site == null and .grid == null and .intensity_g_kwh == null and
    .pue == null and .co2e_of == null'
  check '.estimates[0] | .co2e_g == null and .facility_energy_j == null'
}

@test 'a country: its grid, with year and source' {
  job --country france
  check '.grid == "fr" and .intensity_of == "France" and .pue == null'
  check '.intensity_year >= 2021 and (.intensity_source | test("Ember"))'
  check '.co2e_of == "energy_j"'
  near '.estimates[0].co2e_g' '4 * .intensity_g_kwh'
}

@test 'a region: its own figure and year' {
  # Carbon Footprint, March 2022: California 216.43 in 2020, Quebec 1.5 in 2019,
  # Victoria 1060
  job --country us-ca
  check '.intensity_g_kwh == 216.4 and .intensity_year == 2020'
  job --country california
  check '.grid == "us-ca"'
  job --country CA-QC
  check '.intensity_g_kwh == 1.5 and .intensity_year == 2019'
  job --country victoria
  check '.intensity_g_kwh == 1060'
  job --country georgia
  check '.grid == "ge"'
}

@test "Google's regions: their own intensity, the campus's PUE" {
  # Google for 2023: us-central1 430 g/kWh; PUE of Council Bluffs 1.11
  job --cloud gcp:us-central1
  check '.site == "gcp:us-central1" and .grid == null'
  check '.intensity_g_kwh == 430 and .intensity_year == 2023 and .pue == 1.11'
  check '.intensity_of == "Google Cloud us-central1" and .pue_of == .intensity_of'
  check '.co2e_of == "facility_energy_j"'
  near '.estimates[0].energy_j' '4 * 3.6e6'
  near '.estimates[0].facility_energy_j' '4.44 * 3.6e6'
  near '.estimates[0].co2e_g' '4.44 * 430'
}

@test 'other regions: the grid they lie in, the PUE of the fleet' {
  job --cloud aws:eu-west-1
  # AWS for 2023: 1.10 for Ireland; for its fleet in 2024 1.15
  check '.grid == "ie" and .intensity_of == "Ireland" and .pue == 1.1'
  check '.pue_of == "AWS eu-west-1" and (.pue_source | test("2023"))'
  job --cloud aws:eu-west-3
  check '.grid == "fr" and .pue == 1.15 and (.pue_note | test("fleet"))'
  job --cloud aws:us-east-2
  check '.grid == "us-oh" and .intensity_g_kwh == 598.6'
  # Microsoft gives 1.14 for the Netherlands
  job --cloud azure:westeurope
  check '.grid == "nl" and .pue == 1.14'
}

@test 'regions in any spelling, and none taken for another' {
  for name in 'AWS:EU-WEST-1' 'aws: eu west 1'; do
    job --cloud "$name"
    check '.site == "aws:eu-west-1"'
  done
  job --site 'AWS eu-west-1'
  check '.site == "aws:eu-west-1"'
  job --cloud 'azure:West Europe'
  check '.site == "azure:westeurope"'
  for region in europe-west1 europe-west10 europe-west12 europe-west2; do
    job --cloud gcp:$region
    check ".site == \"gcp:$region\""
  done
}

@test 'every region gives an intensity' {
  gives 0 '' list sites --format json
  check '.sites | length > 100 and ([.[].vendor | values] | unique |
    contains(["aws", "azure", "coreweave", "gcp", "ovh", "scaleway"]))'
  jq -r '.sites[] | select(.vendor) | .id' out | sed -n '1~7p' >some
  while read -r id; do
    job --cloud "$id"
    check '.intensity_g_kwh > 0 and .intensity_source != null'
  done <some
}

@test 'kinds of sites: a PUE, and the country beside it' {
  # Uptime Institute 2024: 1.56
  job --site data-centre --country es
  check '.site == "data-centre" and .grid == "es" and .pue == 1.56'
  near '.estimates[0].co2e_g' '4 * 1.56 * .intensity_g_kwh'
  job --site workstation
  check '.pue == 1 and .estimates[0].co2e_g == null and .co2e_of == null'
}

@test 'a number goes over what the site says' {
  job --cloud gcp:us-central1 --intensity 100 --pue 2
  check '.site == "gcp:us-central1" and .intensity_of == "given" and
    .pue_of == "given" and .intensity_source == null and .pue_note == null'
  near '.estimates[0].co2e_g' '4 * 2 * 100'
  job --country fr --intensity 0
  check '.intensity_g_kwh == 0 and .estimates[0].co2e_g == 0 and .grid == null'
}

@test "the user's default site, when nothing else is said" {
  my_sites "$default_site"
  job
  check '.site == "default" and .grid == "es" and .pue == 1.4 and
    .pue_source == "our bill of 2025"'
  job --pue 1.1
  check '.site == "default" and .pue == 1.1 and .intensity_of == "Spain"'
  job --country fr
  check '.site == null and .grid == "fr" and .pue == null'
  job --cloud aws:eu-west-3
  check '.site == "aws:eu-west-3"'
  gives 0 '' list sites --format csv --limit 1
  sed -n 2p out | grep -q '^default,Our machine room,'
}

@test "a site's own intensity goes over its grid; an own file" {
  cat >lab.xml <<'END'
<catalog kind="site" version="1">
  <entry id="lab" name="Lab" grid="es">
    <value name="carbon_g_kwh">25</value>
    <value name="year">2025</value>
  </entry>
</catalog>
END
  job --site lab.xml
  check '.site == "lab" and .grid == null and .intensity_g_kwh == 25 and
    .intensity_year == 2025 and .pue == null'
  near '.estimates[0].co2e_g' '100'
}

@test 'text says what was used' {
  gives 0 '' predict --gpu a100 --duration 10h --method tdp -q \
    --cloud gcp:us-central1 --explain
  grep -q '^site  *gcp:us-central1$' out
  grep -q '^intensity  *430 g/kWh$' out
  grep -q '^intensity from  *Google, .*2023' out
  grep -q '^PUE  *1.11$' out
  grep -q '^Facility is 1.11 times the energy .*; emissions are those of the facility.$' out
  gives 0 '' predict --gpu a100 --duration 10h --method tdp -q --pue 1.5 \
    --explain
  grep -q '^Facility is 1.5 times the energy within each boundary.$' out
}

@test 'a price: the cost of the same energy' {
  job
  check '.price_per_kwh == null and .currency == null and .cost_of == null and
    .estimates[0].cost == null'
  job --price 0.25EUR
  check '.price_per_kwh == 0.25 and .currency == "EUR" and
    .cost_of == "energy_j" and .co2e_of == null'
  near '.estimates[0].cost' '4 * 0.25'
  job --price 30 --pue 1.5
  check '.currency == null and .cost_of == "facility_energy_j"'
  near '.estimates[0].cost' '4 * 1.5 * 30'
  gives 0 '' predict --gpu a100 --duration 10h --method tdp -q \
    --price '0.25 EUR/kWh' --pue 1.5 --all --explain
  grep -q '^price  *0.250 EUR/kWh$' out
  grep -q ' facility  *cost$' out
  grep -q ' kWh  *EUR$' out
  grep -q '; cost is that of the facility.$' out
  gives 0 '' predict --gpu a100 --duration 10h --method tdp -q --price 0.25 \
    --explain
  grep -q '^price  *0.250 per kWh$' out
}

@test 'a price of another quantity than a kWh is refused' {
  for price in 70EUR/MWh 0.28EUR/h 5% 5kWh; do
    invalid predict "price=$price" --gpu a100 --duration 10h --method tdp
  done
}

@test 'a price: tables of runs, and trainings that have begun' {
  table arch,gpu resnet50,a100
  gives 0 '' predict --input runs.csv --duration 10h --method tdp -q \
    --price 0.25EUR --format json
  check '.estimates[0] | .price_per_kwh == 0.25 and .currency == "EUR"'
  near '.estimates[0].cost' '1'
  gives 0 '' step "$TOP_SRCDIR/data/examples/epochs.csv" --epochs 50 -q \
    --price 0.25EUR --pue 1.2 --format json
  near '.estimates[0].cost' '.estimates[0].facility_energy_j / 3.6e6 * 0.25'
}

@test 'a price: what it refuses' {
  what='a number and a currency: 0.28EUR'
  for price in -1 EUR -1EUR 0.2EUR5 '' nan inf '1 23456789' '5 a-very-long-long-name'; do
    misused predict "$(message invalid_value price "$price" "$what")" \
      --gpu a100 --price="$price"
  done
  misused step "$(message invalid_value price nan "$what")" log.csv --epochs 5 \
    --price nan
  misused report "$(message invalid_value price -1 "$what")" sacct.txt --price=-1
}

@test 'step: the same' {
  cp "$TOP_SRCDIR/data/examples/epochs.csv" .
  gives 0 '' step epochs.csv --epochs 50 --format json -q
  check '.intensity_g_kwh == null and .estimates[0].co2e_g == null'
  gives 0 '' step epochs.csv --epochs 50 --format json -q \
    --cloud gcp:us-central1
  check '.site == "gcp:us-central1" and .co2e_of == "facility_energy_j"'
  near '.estimates[0].co2e_g' '.estimates[0].energy_j / 3.6e6 * 1.11 * 430'
  gives 0 '' step epochs.csv --epochs 50 -q --country es
  grep -q '^factors  [0-9]* g CO2e/kWh (Spain)$' out
  grep -q 'emissions$' out
}

@test 'predict --input: every row says what was used' {
  table arch,gpu,pue resnet50,a100,7
  gives 0 '' predict --input runs.csv --duration 10h --method tdp -q \
    --cloud gcp:us-central1 --format json
  check '.estimates[0] | .intensity_g_kwh == 430 and .pue == 1.11 and
    .pue_of == "Google Cloud us-central1" and .measured_pue == 7'
  near '.estimates[0].co2e_g' '4.44 * 430'
  gives 0 '' predict --input runs.csv --duration 10h --method tdp -q
  ! grep -q 'intensity' out || false
}

@test 'what it refuses' {
  run='--gpu a100 --duration 1h -q'
  refuses 2 "dlest: $(message cloud_exclude_each_other --country)" \
    predict $run --cloud aws:eu-west-1 --country es
  refuses 2 "dlest: $(message cloud_exclude_each_other --site)" \
    predict $run --cloud aws:eu-west-1 --site hpc
  refuses 2 "dlest: $(message country_site_exclude_each aws:eu-west-1 \
    "a grid")" \
    predict $run --site aws:eu-west-1 --country es
  refuses 2 "dlest: $(message country_site_exclude_each gcp:us-east1 \
    "an intensity")" \
    predict $run --site gcp:us-east1 --country es
  refuses 3 "dlest: $(message unknown_nearest_see_list site aws:eu-west-9 \
    "$(meant aws:eu-west-1 aws:eu-west-2 aws:eu-west-3)" sites)" \
    predict $run --cloud aws:eu-west-9
  refuses 3 "dlest: $(message unknown_nearest_see_list grid us-cx \
    "$(meant us-ca us-co us-ct)" grids)" \
    predict $run --country us-cx
  misused predict "$(message invalid_value cloud aws \
    'PROVIDER:REGION, as aws:eu-west-1')" $run --cloud aws
  invalid predict intensity=-1 $run
  misused step "$(message invalid_value pue 0.9 "$(message expected_from 1)")" \
    log.csv --epochs 5 --pue 0.9
}

@test "a site's grid that is not known" {
  my_sites '<entry id="lab" name="Lab" grid="xx"/>'
  refuses 3 "dlest: $PWD/config/dlest/sites.xml:3: $(message site_unknown_grid_see lab xx)" \
    predict --gpu a100 --duration 1h -q --site lab
}

@test 'a grid of your own, by its path' {
  echo '<catalog kind="grid" version="1"><entry id="roof" name="Our roof">
    <value name="carbon_g_kwh">40</value></entry></catalog>' >roof.xml
  job --country roof.xml
  check '.grid == "roof" and .intensity_g_kwh == 40 and
    .intensity_source == null and .intensity_year == null'
}

@test 'the files are what their tools write' {
  local from=$MEASURED_RUNS/carbon iso=/usr/share/iso-codes/json/iso_3166-1.json
  [ -d "$from" ] || skip "no carbon intensities in '$MEASURED_RUNS'"
  [ -e "$iso" ] || skip 'no iso-codes'
  "$TOP_SRCDIR/data/make/grids-from-csv.py" \
    "$from/codecarbon_global_energy_mix.json" \
    "$from/greenalgorithms_CI_aggregated.csv" "$iso" >grids.xml 2>/dev/null
  cmp grids.xml "$TOP_SRCDIR/data/grids.xml"
  "$TOP_SRCDIR/data/make/sites-from-csv.py" \
    "$from/codecarbon_cloud_region_intensity.csv" \
    "$from/mlco2_cloud_region_impact_pue.csv" \
    "$from/greenalgorithms_cloudProviders_datacenters.csv" grids.xml >sites.xml
  cmp sites.xml "$TOP_SRCDIR/data/sites.xml"
}

@test 'show and list: sites and grids' {
  gives 0 '' show site 'AWS eu-west-1'
  grep -q '^grid  *ie$' out
  grep -q '^place  *Dublin, Ireland$' out
  gives 0 '' show site gcp:us-central1 --format json
  check '.kind == "site" and .vendor == "gcp" and .grid == "us-ia" and
    .place == "Council Bluffs, USA"'
  check '.values | all(.source != null)'
  gives 0 '' list grids --format json
  check '.grids | length >= 270 and all(.carbon_g_kwh > 0 and .year >= 2005)'
  check '[.grids[].id | select(test("^[a-z][a-z]$"))] | length >= 200'
}

@test "an intensity in kg, and one that no grid has: a warning" {
  job=(predict --gpu a100 --duration 1h --method tdp -f json --intensity)
  for g in 0.4 40000; do
    gives 0 "dlest: warning: $(message intensity_no_grid_has $g)" \
      "${job[@]}" $g
  done
  for g in 0 12 1700; do
    gives 0 '' "${job[@]}" $g
  done
}

@test "a PUE that no data centre has" {
  job=(predict --arch resnet50 --gpu a100 --method tdp --duration 1h)
  gives 0 "dlest: warning: $(message pue_no_site_has 12)" "${job[@]}" --pue 12
  gives 0 '' "${job[@]}" --pue 3
}
