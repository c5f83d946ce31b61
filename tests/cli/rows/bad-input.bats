#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Input that is broken or hostile: one line that says where and what, the right
# exit status, nothing half-written.

load ../common

HEADER=arch,gpu,batch_size,train_samples,epochs
GOOD=resnet50,a100,64,1000,2
ROWS=(predict --input runs.csv --method tdp --format csv)
ONE=(predict --arch resnet50 --gpu my.xml --method tdp --duration 1h)
USE=(predict --arch resnet50 --gpu a100 --model m.xml)

# all STATUS STDERR: of the commands that read runs.csv
all() {
  refuses "$1" "$2" predict --input runs.csv
  refuses "$1" "$2" fit runs.csv -o m.xml
  refuses "$1" "$2" compare runs.csv
  [ ! -e m.xml ]
}

@test "no such file" {
  all 1 "dlest: runs.csv: $(message cannot_open 'No such file or directory')"
}

@test "a directory" {
  mkdir runs.csv
  all 3 "dlest: runs.csv: $(message is_a_directory)"
}

@test "a file that may not be read" {
  [ "$(id -u)" -ne 0 ] || skip 'root may read everything'
  table $HEADER $GOOD
  chmod 0 runs.csv
  all 1 "dlest: runs.csv: $(message cannot_open 'Permission denied')"
}

@test "an empty file" {
  : >runs.csv
  all 3 "dlest: runs.csv: $(message empty_file)"
}

@test "blank lines alone" {
  printf '\n\n\n' >runs.csv
  all 3 "dlest: runs.csv: $(message no_header)"
}

@test "binary garbage" {
  printf '\177ELF\002\001\001\000\000\000\000' >runs.csv
  all 3 "dlest: runs.csv: $(message not_a_csv_file)"
  printf '\211PNG\r\n\032\n' >runs.csv
  all 3 "dlest: runs.csv: $(message not_a_csv_file)"
  head -c 300000 /dev/urandom >runs.csv
  try predict --input runs.csv
  [ "$status" -eq 3 ]
  [ ! -s out ]
  [ "$(wc -l <err)" -eq 1 ]
}

@test "a duplicate column, one without a name" {
  table arch,gpu,arch x,y,z
  all 3 "dlest: runs.csv:1: $(message duplicate_column arch)"
  table arch,,gpu x,y,z
  all 3 "dlest: runs.csv:1: $(message column_has_no_name 2)"
}

@test "rows that cannot be used: line, reason, count, exit 3, the rest written" {
  table $HEADER $GOOD resnet50,rtx3091,64,1000,2 resnet50,a100,abc,1000,2 \
    resnet50,a100,64 resnet50,a100,nan,1000,2 resnet50,a100,-4,1000,2 \
    resnet50,a100,64,1000,inf resnet50,a100,64,1e400,2 \
    "resnet50,a100,64,1000,2,9" 'resnet50,a100,0x10,1000,2' $GOOD
  text="dlest: warning: runs.csv:5: $(message expected_fields_found 5 3)
dlest: warning: runs.csv:10: $(message expected_fields_found 5 6)
dlest: warning: runs.csv:3: $(message unknown_nearest_see_list gpu rtx3091 \
    "$(meant rtx-3090)" gpus)
dlest: warning: runs.csv:4: $(message column_invalid_number batch_size abc)
dlest: warning: runs.csv:6: $(message column_not_a_finite batch_size nan)
dlest: warning: runs.csv:7: $(message is_not_between "column 'batch_size'" -4 \
    1 1e+09)
dlest: warning: runs.csv:8: $(message column_not_a_finite epochs inf)
dlest: warning: runs.csv:9: $(message column_not_a_finite train_samples 1e400)
dlest: warning: runs.csv:11: $(message column_invalid_number batch_size 0x10)
dlest: $(message row_skipped 9 s)"
  gives 3 "$text" "${ROWS[@]}"
  [ "$(wc -l <out)" -eq 3 ]
  [ "$(sed -n 2p out)" = "$(sed -n 3p out)" ]
  gives 3 "$text" predict --input runs.csv --method tdp --format json
  check '(.estimates | length == 2) and (.warnings | length == 9)'
  refuses 3 "$text
dlest: $(message warning_with_strict_nothing 9 s)" "${ROWS[@]}" --strict
  gives 3 '' "${ROWS[@]}" --quiet
  [ "$(wc -l <out)" -eq 3 ]
}

@test "more complaints than anyone reads" {
  { echo $HEADER; yes resnet50,a100,x,1000,2 | head -100; echo $GOOD; } >runs.csv
  gives 3 "$(for i in $(seq 2 21); do
    echo "dlest: warning: runs.csv:$i: column 'batch_size': invalid number 'x'"
  done)
dlest: warning: 80 more like these
dlest: 100 rows skipped" "${ROWS[@]}"
  gives 3 "$(cat err)" predict --input runs.csv --method tdp --format json
  check '.warnings | length == 21 and last == "80 more warnings"'
}

@test "a complaint of another kind is shown, however late" {
  local last=$((30 + 2))
  { echo $HEADER; yes resnet50,a100,x,1000,2 | head -30
    echo resnet50,a100,32,y,2; echo resnet50,b17,32,1000,2
    echo resnet50,b18,32,1000,2; echo $GOOD; } >runs.csv
  try "${ROWS[@]}"
  [ "$status" -eq 3 ]
  [ "$(grep -c '^dlest: warning: runs.csv:[0-9]*: ' err)" -eq 22 ]
  grep -qx "dlest: warning: runs.csv:$last: $(message column_invalid_number \
    train_samples y)" err
  grep -q "^dlest: warning: runs.csv:$((last + 1)): .*b17" err
  # 10 further numbers and the GPU of the row after it
  grep -qx "dlest: warning: 11 more like these" err
  grep -qx "dlest: $(message row_skipped 33 s)" err
}

@test "--strict and -o: the old file stays" {
  table $HEADER $GOOD resnet50,a100,x,1000,2
  echo old >estimates.csv
  try "${ROWS[@]}" --strict -o estimates.csv
  [ "$status" -eq 3 ]
  [ "$(cat estimates.csv)" = old ]
  printf '"open\n' >>runs.csv
  try "${ROWS[@]}" -o estimates.csv
  [ "$status" -eq 3 ]
  [ "$(cat estimates.csv)" = old ]
  try fit runs.csv -o estimates.csv
  [ "$(cat estimates.csv)" = old ]
  [ -z "$(find . -name 'estimates.csv?*')" ]
}

@test "a column cannot be what an option wants" {
  table $HEADER $GOOD
  refuses 2 "dlest: runs.csv: $(message no_column_nearest nope \
    "$(message the_table_has "'arch', 'gpu', 'batch_size', 'train_samples', 'epochs'")")" "${ROWS[@]}" --define 'macs_g=nope*2'
}

@test "quotes that do not close" {
  printf '"arch,gpu\nresnet50,a100\n' >runs.csv
  all 3 "dlest: runs.csv:1: $(message quote_not_closed)"
  printf '%s\n%s\nresnet50,"a100,64,1000,2\n' $HEADER $GOOD >runs.csv
  gives 3 "dlest: runs.csv:3: $(message quote_not_closed)" "${ROWS[@]}"
}

@test "a line of 1 MB" {
  long=$(head -c 1048576 /dev/zero | tr '\0' x)
  printf '%s\n' $HEADER $GOOD "$long" "$long,a100,64,1000,2" $GOOD >runs.csv
  try "${ROWS[@]}"
  [ "$status" -eq 3 ]
  [ "$(wc -l <out)" -eq 3 ]
  [ "$(wc -l <err)" -eq 3 ]
  [ "$(wc -c <err)" -lt 400 ]
  grep -q "^dlest: warning: runs.csv:3: $(message expected_fields_found 5 1)$" err
  grep -q "^dlest: warning: runs.csv:4: $(message unknown_nearest_or_export \
    arch "xxx*\.\.\." '' archs)" err
}

@test "a row without an end" {
  { echo $HEADER; head -c 17825792 /dev/zero | tr '\0' x; } >runs.csv
  try "${ROWS[@]}"
  [ "$status" -eq 3 ]
  [ "$(tail -1 err)" = "dlest: runs.csv:2: $(message row_longer_than_mib 16)" ]
}

@test "a byte order mark, CR LF, no end of line at the end" {
  printf '%s\n%s\n' $HEADER $GOOD >runs.csv
  gives 0 '' "${ROWS[@]}"
  mv out plain
  printf '\357\273\277%s\r\n%s\r\n' $HEADER $GOOD >runs.csv
  gives 0 '' "${ROWS[@]}"
  cmp out plain
  printf '%s\n%s' $HEADER $GOOD >runs.csv
  gives 0 '' "${ROWS[@]}"
  cmp out plain
  printf '%s\r%s\r' $HEADER $GOOD >runs.csv
  gives 0 '' "${ROWS[@]}"
  cmp out plain
}

@test "what a terminal acts upon is not passed on" {
  table $HEADER $GOOD "$(printf '"res\033[2J\nnet",a100,64,1000,2')"
  try "${ROWS[@]}"
  [ "$status" -eq 3 ]
  [ "$(wc -l <err)" -eq 2 ]
  ! grep -q $'\033' err || false
  table "run_id,$HEADER" "x,$GOOD" "$(printf 'a\033[2J,resnet50,a100,64,1000,2')"
  try predict --input runs.csv --method tdp
  ! grep -q $'\033' out || false
}

@test "bytes that are no UTF-8 leave JSON valid" {
  table "note,$HEADER" "$(printf 'caf\351 "q" \\,')$GOOD"
  gives 0 '' predict --input runs.csv --method tdp --format json
  check '.estimates[0].note | startswith("caf")'
}

@test "a locale with a decimal comma" {
  line='x,y,gpu_power_w\n0.5,1.25,2.5\n1.5,2.5,2.25\n2.5,4.75,1.5\n3.5,5.5,1\n'
  # shellcheck disable=SC2059
  printf "$line" >runs.csv
  fit=(fit runs.csv --target y --features x --method ols --cv kfold:2
    --format json -o m.xml)
  run=(predict --arch resnet50 --gpu a100 --utilisation 0.5 -q)
  use=(predict --model m.xml --set x=1.5 -q --format json)
  LC_ALL=C
  try "${fit[@]}"
  cp out fit.C
  mv m.xml model.C
  try "${run[@]}"
  cp out run.C
  cp model.C m.xml
  try "${use[@]}"
  mv out use.C
  needs_decimal_comma
  try "${fit[@]}"
  cmp out fit.C
  cmp m.xml model.C
  try "${run[@]}"
  cmp out run.C
  try "${use[@]}"
  cmp out use.C
  invalid predict utilisation=0,5
}

# Output that cannot be written

@test "/dev/full" {
  [ -c /dev/full ] || skip 'no /dev/full'
  table $HEADER $GOOD
  full='cannot write: No space left on device'
  for command in 'predict --arch resnet50 --gpu a100 -q' \
    'predict --input runs.csv' 'list gpus' 'show gpu a100 --format json'; do
    for format in text json csv; do
      # shellcheck disable=SC2086
      refuses 1 "dlest: <output>: $full" $command --format $format -o /dev/full
      status=0
      # shellcheck disable=SC2086
      "$DLEST" $command --format $format >/dev/full 2>err || status=$?
      [ $status -eq 1 ]
      [ "$(cat err)" = "dlest: <output>: $full" ]
    done
  done
  for command in --help --version 'predict --help' 'fit --usage'; do
    status=0
    # shellcheck disable=SC2086
    "$DLEST" $command >/dev/full 2>err || status=$?
    [ $status -eq 1 ]
    [ "$(cat err)" = "dlest: <stdout>: $full" ]
  done
  table x,y 1,2 2,3 3,5
  refuses 1 "dlest: /dev/full: $full" fit runs.csv --target y --features x \
    --method ols --cv none -o /dev/full
}

# XML

refused_xml() { # of my.xml
  refuses 3 "dlest: my.xml$1" "${ONE[@]}"
}

@test "an own GPU: values" {
  my_gpu "$(entry -5)"
  refused_xml ":3: value 'tdp_w': -5 is not between 1 and 2000"
  my_gpu "$(entry 1e9)"
  refused_xml ":3: value 'tdp_w': 1e9 is not between 1 and 2000"
  my_gpu "$(entry abc)"
  refused_xml ":3: value 'tdp_w': invalid number 'abc'"
  my_gpu "$(entry NaN)"
  refused_xml ":3: value 'tdp_w': invalid number 'NaN'"
  my_gpu "$(entry 1,5)"
  refused_xml ":3: value 'tdp_w': invalid number '1,5'"
  my_gpu "$(entry '')"
  refused_xml ":3: value 'tdp_w': invalid number ''"
  my_gpu "$(entry 5 watts)"
  refused_xml ":3: unknown value 'watts'"
  my_gpu '<entry id="a" name="a"><value name="tdp_w" source="s">5</value><value name="tdp_w" source="s">6</value></entry>'
  refused_xml ":3: value 'tdp_w' is given twice"
}

@test "an own GPU: files that are not catalogues of accelerators" {
  my_gpu
  refused_xml ': no entry in this file'
  my_gpu '<entry name="a"/>'
  refused_xml ':3: entry without an id'
  my_gpu "$(entry 5)"
  sed -i 's/accelerator/grid/' my.xml
  refused_xml ":1: not a catalogue of kind 'accelerator'"
  echo '<html/>' >my.xml
  refused_xml ":1: not a catalogue of kind 'accelerator'"
  my_gpu '<entry id="a" name="a"><value name="tdp_w" source="s">5</value><cost>9</cost></entry>'
  try "${ONE[@]}"
  [ "$status" -eq 3 ]
  grep -q "^dlest: my.xml:3: $(message not_valid '')" err
  [ "$(wc -l <err)" -eq 1 ]
}

@test "XML that is none" {
  for text in '' hello '<a' '<a><b></a>' '<a/><b/>'; do
    printf '%s' "$text" >my.xml
    try "${ONE[@]}"
    [ "$status" -eq 3 ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -q "^dlest: my.xml:1: $(message not_well_formed_xml '')" err
  done
  head -c 5000 /dev/urandom >my.xml
  try "${ONE[@]}"
  [ "$status" -eq 3 ]
  printf '<a>%.0s' $(seq 100000) >my.xml
  try "${ONE[@]}"
  [ "$status" -eq 3 ]
  [ "$(wc -l <err)" -eq 1 ]
  rm my.xml
  refuses 1 "dlest: my.xml: $(message cannot_open 'No such file or directory')" "${ONE[@]}"
  mkdir my.xml
  refused_xml ': is a directory'
}

no_dtd=":1: $(message a_document_type_declaration)"

with_dtd() { # DTD ENTRY
  my_gpu "$2"
  { echo "<!DOCTYPE catalog $1>"; cat my.xml; } >dtd.xml
  mv dtd.xml my.xml
}

@test "XML: entities are not expanded, internal ones" {
  with_dtd '[<!ENTITY watts "123">]' "$(entry '&watts;')"
  refused_xml "$no_dtd"
  with_dtd '[<!ENTITY name "x">]' "$(entry 123 tdp_w '&name;')"
  refused_xml "$no_dtd"
}

@test "XML: entities are not expanded, external ones" {
  echo 123 >secret
  with_dtd "[<!ENTITY file SYSTEM \"file://$PWD/secret\">]" "$(entry '&file;')"
  refused_xml "$no_dtd"
  with_dtd "[<!ENTITY % file SYSTEM \"file://$PWD/secret\"> %file;]" \
    "$(entry 123)"
  refused_xml "$no_dtd"
  with_dtd "SYSTEM \"file://$PWD/secret\"" "$(entry 123)"
  refused_xml "$no_dtd"
}

@test "XML: a billion laughs" {
  laughs='<!ENTITY l0 "lol">'
  for i in 1 2 3 4 5 6 7 8 9; do
    l="&l$((i - 1));"
    laughs="$laughs<!ENTITY l$i \"$l$l$l$l$l$l$l$l$l$l\">"
  done
  with_dtd "[$laughs]" "$(entry 123 tdp_w '&l9;')"
  refused_xml "$no_dtd"
}

# Model files

a_model() {
  table x,gpu_power_w 1,10 2,20 3,35 4,40
  "$DLEST" fit runs.csv --target gpu_power_w --features x --method ols \
    --cv none -o m.xml >/dev/null
}

# model SED-SCRIPT MESSAGE
model() {
  a_model
  sed -i "$1" m.xml
  refuses 3 "dlest: $2" "${USE[@]}"
}

# again: the command that makes the model of a_model again
again() {
  local fit='dlest fit runs.csv --target gpu_power_w --features x --method ols --cv none'
  printf %s "$(message made_by_make_it_again "$1" "${2-$fit}" m.xml)"
}

@test "a model of another version, of none" {
  local version
  version=$("$DLEST" --version | sed -n '1s/.* //p')
  model 's/format="2"/format="3"/' \
    "m.xml:2: $(message model_format_this_reads 3 2)$(again "$version")"
  model 's/dlest="[^"]*"/dlest="9.0.0"/; s/format="2"/format="3"/' \
    "m.xml:2: $(message model_format_this_reads 3 2)$(again 9.0.0)"
  model 's/ format="2"//' 'm.xml:2: <model>: a count is missing or invalid'
  model 's/format="2"/format="x"/' \
    "m.xml:2: <model>: a count is missing or invalid$(again "$version")"
  model '4s/method="[a-z]*"/method="physical"/' \
    "m.xml:4: <fit>: $(message of_a_model_format_before)"
}

# Files of 0.1.0 are read, or refused with the command that makes them again.
@test "models of 0.1.0" {
  a_model
  "$DLEST" "${USE[@]}" -f json >want
  for format in 1 2; do
    sed -E "2s/.*/<model format=\"$format\" dlest=\"0.1.0\">/" m.xml >old.xml
    mv old.xml m.xml
    "$DLEST" "${USE[@]}" -f json >got
    diff want got
  done
  sed -i 's/dlest="0.1.0"/dlest="0.0.9"/' m.xml # of another version, whatever this is
  sed -i '4s/method="[a-z]*"/method="physical"/' m.xml
  refuses 3 "dlest: m.xml:4: <fit>: $(message of_a_model_format_before)$(again 0.0.9)" \
    "${USE[@]}"
  # the constants of another version
  sed '0,/<array name="/s/<array name="/&no_/; s/ dlest="[^"]*"/ dlest="0.0.9"/' \
    "$DLEST_DATADIR/models/physical.xml" >m.xml
  try predict --arch resnet50 --gpu a100 --model m.xml
  [ "$status" -eq 3 ]
  grep -q '; the file is of dlest 0.0.9; make it again: dlest fit runs.csv .* -o m.xml$' err
}

@test "a model that is cut off, anywhere" {
  a_model
  cp m.xml whole
  size=$(wc -c <whole)
  for n in 0 10 40 100 $((size / 3)) $((size / 2)) $((size - 10)); do
    head -c "$n" whole >m.xml
    try "${USE[@]}"
    [ "$status" -eq 3 ]
    [ ! -s out ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -q "^dlest: m.xml:[0-9]*: $(message not_well_formed_xml '')" err
  done
}

@test "files that are not models" {
  a_model
  echo '<html/>' >m.xml
  refuses 3 "dlest: m.xml:1: <html>: $(message not_a_model_file)" "${USE[@]}"
  my_gpu "$(entry 5)"
  mv my.xml m.xml
  refuses 3 "dlest: m.xml:1: <catalog>: $(message not_a_model_file)" "${USE[@]}"
  echo '<model format="1" dlest="1"/>' >m.xml
  refuses 3 "dlest: m.xml:1: <model>: $(message holds_no_fit)$(again 1 'dlest fit')" "${USE[@]}"
  rm m.xml
  refuses 1 "dlest: m.xml: $(message cannot_open 'No such file or directory')" "${USE[@]}"
  mkdir m.xml
  refuses 3 "dlest: m.xml: $(message is_a_directory)" "${USE[@]}"
}

@test "a model that was tampered with" {
  for change in 's/method="ols"/method="svm"/' 's/rows="4"/rows="-4"/' \
    's/<feature [^>]*mean="[^"]*"/<feature mean="nan"/' \
    's/cols="1"/cols="99999999999"/' 's/rows="1" cols="1"/rows="2" cols="2"/' \
    's/<array name="coefficient"/<array name="other"/' \
    's/ target="gpu_power_w"//' 's/<state>/<state evil="1">/'; do
    a_model
    cp m.xml before
    sed -i "$change" m.xml
    ! cmp -s m.xml before || false
    try "${USE[@]}"
    if [ "$status" -ne 3 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ]; then
      echo "$change"
      cat err
      return 1
    fi
    grep -q '^dlest: ' err
  done
}

@test "a model with entities" {
  a_model
  { head -1 m.xml; echo '<!DOCTYPE model [<!ENTITY a "1">]>'; sed 1d m.xml; } >n
  mv n m.xml
  refuses 3 "dlest: m.xml:2: $(message a_document_type_declaration)" \
    "${USE[@]}"
}

@test "a model for what predict does not know: its targets all the same" {
  table x,y 1,10 2,20 3,30
  try fit runs.csv --target y --features x --method ols --cv none --no-scale \
    -o m.xml
  gives 0 '' predict --model m.xml --set x=5 --method tdp --format json -q
  near '.predictions[0].value' 50
  check '.recommended == null and .estimates[0].energy_j == null'
  try predict --model m.xml --method tdp --format json
  grep -q "^dlest: warning: $(message has_no_value_give y x x)" err
}
