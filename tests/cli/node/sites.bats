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

@test "a site's grid that is not known" {
  my_sites '<entry id="lab" name="Lab" grid="xx"/>'
  refuses 3 "dlest: $PWD/config/dlest/sites.xml:3: $(message site_unknown_grid_see lab xx)" \
    predict --gpu a100 --duration 1h -q --site lab
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
