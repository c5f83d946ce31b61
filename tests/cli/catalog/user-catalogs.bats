#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The user's own catalogues, in $XDG_CONFIG_HOME/dlest and in DLEST_PATH.

load ../common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CONFIG_HOME=$PWD/config
  unset DLEST_PATH
  mkdir -p config/dlest
}

# gpus FILE ENTRY...: a catalogue of accelerators
gpus() {
  local file=$1
  shift
  my_gpu "$@"
  mkdir -p "$(dirname "$file")"
  mv my.xml "$file"
}

# has NAME TDP: so many watts by that name
has() {
  gives 0 '' show gpu "$1" --format json
  check "[.values[] | select(.field == \"tdp_w\").value] == [$2]"
}

@test 'a configuration folder: new entries, and others replaced' {
  has v100-sxm2-16gb 300
  gpus config/dlest/lab.xml "$(entry 123 tdp_w lab-card)" \
    "$(entry 222 tdp_w v100-sxm2-16gb)"
  has lab-card 123
  has 'Lab Card' 123
  has v100-sxm2-16gb 222
  gives 0 '' predict --gpu lab-card --duration 1h --method tdp -q --format json
  near '.estimates[0].energy_j' '123 * 3600'
}

@test 'an alias of the user goes over an entry that ships' {
  gpus config/dlest/lab.xml '<entry id="our-a100" name="Our A100">
    <alias>a100</alias><value name="tdp_w" source="s">275</value></entry>'
  has a100 275
  has our-a100 275
  gives 0 '' show gpu a100-pcie-40gb --format json
  check '.id == "a100-pcie-40gb"'
}

@test 'the home folder, without XDG_CONFIG_HOME' {
  unset XDG_CONFIG_HOME
  gpus home/.config/dlest/lab.xml "$(entry 99 tdp_w lab-card)"
  HOME=$PWD/home has lab-card 99
}

@test 'relative paths of configuration folders are ignored' {
  gpus home/.config/dlest/lab.xml "$(entry 99 tdp_w lab-card)"
  export HOME=$PWD/home
  for XDG_CONFIG_HOME in config ./config ''; do
    gpus "$PWD/config/dlest/lab.xml" "$(entry 11 tdp_w lab-card)"
    has lab-card 99
  done
  unset XDG_CONFIG_HOME
  HOME=home
  refuses 3 "dlest: $(message unknown_nearest_see_list gpu lab-card '' gpus)" \
    show gpu lab-card
}

@test 'DLEST_PATH: a folder, a file, several' {
  gpus folder/a.xml "$(entry 1 tdp_w one)"
  gpus folder/b.xml "$(entry 2 tdp_w two)"
  gpus file.xml "$(entry 3 tdp_w three)"
  DLEST_PATH=folder has one 1
  DLEST_PATH=folder has two 2
  DLEST_PATH=file.xml has three 3
  export DLEST_PATH=folder:file.xml
  has two 2
  has three 3
  export DLEST_PATH=:file.xml:
  has three 3
}

@test 'DLEST_PATH goes over the configuration, what is first over the rest' {
  gpus config/dlest/lab.xml "$(entry 10 tdp_w lab-card)" \
    "$(entry 11 tdp_w other)"
  gpus a/x.xml "$(entry 20 tdp_w lab-card)"
  gpus b/x.xml "$(entry 30 tdp_w lab-card)"
  has lab-card 10
  DLEST_PATH=a:b has lab-card 20
  DLEST_PATH=b:a has lab-card 30
  DLEST_PATH=a:b has other 11
}

@test 'lists show what was replaced once' {
  gives 0 '' list gpus --format json
  n=$(jq '.gpus | length' out)
  gpus config/dlest/lab.xml "$(entry 222 tdp_w v100-sxm2-16gb)" \
    "$(entry 5 tdp_w lab-card)"
  gpus more.xml "$(entry 333 tdp_w v100-sxm2-16gb)"
  export DLEST_PATH=more.xml
  gives 0 '' list gpus --format json
  check ".gpus | length == $n + 1"
  check '[.gpus[] | select(.id == "v100-sxm2-16gb").tdp_w] == [333]'
}

@test 'every kind in one folder; what is no catalogue is passed over' {
  echo '<notes>mine</notes>' >config/dlest/notes.xml
  echo 'not xml' >config/dlest/readme.txt
  echo '<catalog kind="grid" version="1"><entry id="es" name="Our roof">
    <value name="carbon_g_kwh">40</value></entry></catalog>' \
    >config/dlest/roof.xml
  echo '<catalog kind="dataset" version="1"><entry id="birds" name="Birds">
    <value name="train_samples">500</value></entry></catalog>' \
    >config/dlest/birds.xml
  gives 0 '' predict --gpu a100 --duration 1h --country ES -q --format json
  check '.intensity_g_kwh == 40 and .intensity_of == "Our roof"'
  gives 0 '' predict --arch resnet50 --gpu a100 --dataset birds -q --format json
  check '.train_samples == 500'
}

@test 'a broken file is reported with its line and left out' {
  gpus config/dlest/lab.xml "$(entry abc)"
  gpus config/dlest/more.xml "$(entry 5 tdp_w lab-card)"
  wrong="$PWD/config/dlest/lab.xml:3: $(message value_invalid_number tdp_w abc)"
  gives 0 "dlest: warning: $wrong; $(message left_out)" show gpu a100
  gives 0 "dlest: warning: $wrong; $(message left_out)" show gpu lab-card
  grep -q '^tdp_w  *5 ' out
  # the entry that it has is unknown
  try show gpu my
  [ "$status" -eq 3 ]
  grep -qF "$(message unknown_nearest gpu my '')" err
  gpus config/dlest/lab.xml '<entry id="my" name="My">'
  try list gpus
  [ "$status" -eq 0 ]
  grep -q "^dlest: warning: $PWD/config/dlest/lab.xml:4: " err
  # where the user names it, it is an error
  DLEST_PATH=config/dlest/lab.xml try list gpus
  [ "$status" -eq 3 ]
  [ ! -s out ]
}

@test 'only regular files of a folder are opened' {
  mkfifo config/dlest/pipe.xml
  mkdir config/dlest/folder.xml
  ln -s /dev/zero config/dlest/zero.xml
  gpus config/dlest/lab.xml "$(entry 7 tdp_w lab-card)"
  run timeout 10 "$DLEST" show gpu lab-card
  [ "$status" -eq 0 ]
  grep -q '^tdp_w  *7 ' <<<"$output"
}

@test 'a place in DLEST_PATH that is not there' {
  DLEST_PATH=nowhere refuses 1 \
    "dlest: nowhere: $(message cannot_read 'No such file or directory')" list gpus
  gpus there.xml "$(entry 1)"
  DLEST_PATH=there.xml:nowhere.xml refuses 1 \
    "dlest: nowhere.xml: $(message cannot_read 'No such file or directory')" show gpu a100
  rm -r config
  gives 0 '' show gpu a100
}
