#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest check: catalogues of one's own, models.

load ../common

# The GTX 1080 Ti of its specification.
TI='<value name="tdp_w">250</value><value name="peak_fp32_tflops">11.34</value>
<value name="memory_gb">11</value><value name="bandwidth_gb_s">484</value>
<value name="cuda_cores">3584</value><value name="boost_mhz">1582</value>'
PASCAL='family="pascal" memory_type="gddr5x"'

@test "what ships is sound" {
  gives 0 '' check "$DLEST_DATADIR"/data/*.xml "$DLEST_DATADIR"/models/*.xml \
    --strict --format json
  check '.findings == [] and (.files | length) >= 6'
  check '.files[] | select(.kind == "accelerator").entries >= 150'
}

@test "a sound file of one's own" {
  my_gpu "<entry id=\"my\" name=\"My GPU\" $PASCAL>$TI</entry>"
  gives 0 '' check my.xml --format json
  check '.files == [{"file": "my.xml", "kind": "accelerator", "entries": 1,
    "errors": 0, "warnings": 0}]'
  check '.findings == [] and .lacking == []'
  gives 0 '' check my.xml
  grep -q '^my.xml  *accelerator  *1  *0  *0$' out
  # From standard input, too.
  gives 0 '' check - --format csv <my.xml
  [ "$(cat out)" = file,line,level,entry,message ]
}

@test "findings name file and line; all are printed" {
  my_gpu '<entry id="a" name="A" family="turing" memory_type="gddr6">' \
    '<value name="tdp_w">1e30</value>' \
    '<value name="bandwidth_gb_s">2560</value>' \
    '<value name="boost_mhz">fast</value></entry>' \
    '<entry id="b" name="A"><value name="tdp_w">100</value>' \
    '<value name="idle_w">60</value></entry>'
  gives 3 "dlest: $(message error_found 5 s)" check my.xml
  grep -qF "my.xml:4: error: a: $(message value_is_not_between tdp_w 1e30 1 \
    2000)" \
    out
  grep -qF "my.xml:5: error: a: bandwidth_gb_s 2560 is not what gddr6 gives" out
  grep -qF "my.xml:6: error: a: $(message value_invalid_number boost_mhz fast)" out
  grep -qF "my.xml:8: error: b: idle_w 60 is half of tdp_w 100 or more" out
  grep -qF "my.xml:7: error: b: 'A' is also a name of 'a'" out
  try check my.xml --format json
  check '.files[0].errors == 5 and (.findings | length) == 5'
  check '.findings | all(.level == "error")'
  check '[.findings[] | select(.entry == "a").line] | index(5) != null'
}

@test "files that are no catalogue" {
  printf '<page/>\n' >page.xml
  gives 3 "dlest: $(message error_found 1 '')" check page.xml
  grep -q 'page.xml: error: neither a catalogue of a known kind nor a model' out
  printf '<catalog kind="pets" version="1"/>' >pets.xml
  gives 3 "dlest: $(message error_found 1 '')" check pets.xml
  printf '<catalog' >cut.xml
  gives 3 "dlest: $(message error_found 1 '')" check cut.xml
  grep -q 'cut.xml:1: error: not well-formed XML' out
  printf '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>' >dtd.xml
  gives 3 "dlest: $(message error_found 1 '')" check dtd.xml
  grep -q "error: $(message a_document_type_declaration)" out
  printf '<catalog kind="grid" version="1"></catalog>' >none.xml
  gives 3 "dlest: $(message error_found 1 '')" check none.xml
  grep -q "none.xml: error: $(message no_entry_in_this)" out
  my_gpu '<entry id="My" name="M"><value name="tdp_w">5</value></entry>'
  gives 3 "dlest: $(message error_found 1 '')" check my.xml
  grep -q 'my.xml:3: error: not valid' out
  printf '<model format="1"/>' >model.xml
  gives 3 "dlest: $(message error_found 1 '')" check model.xml
  grep -q '^model.xml  *model ' out
  gives 3 "dlest: $(message error_found 1 '')" check - <model.xml
  grep -q "$(message a_model_check_by)" out
}

@test "a file that is in use already" {
  mkdir mine
  my_gpu '<entry id="a" name="A"><value name="tdp_w">1e30</value></entry>'
  mv my.xml mine
  export DLEST_PATH=$PWD/mine
  gives 3 "dlest: $(message error_found 1 '')" check mine/my.xml
  grep -q "mine/my.xml:3: error: a: value 'tdp_w': 1e30 is not between" out
}

@test "many entries: the first 1,000 that lack values are listed" {
  {
    echo '<catalog kind="accelerator" version="1">'
    echo '<sources><source id="s" title="here"/></sources>'
    for i in $(seq 1200); do
      echo "<entry id=\"board$i\" name=\"Board no. $i\">"
      echo '<value name="tdp_w" source="s">300</value></entry>'
    done
    echo '</catalog>'
  } >many.xml
  try check many.xml --format json
  [ "$status" -eq 0 ]
  check '.files[0].entries == 1200'
  check '[.lacking[].entry] | unique | length == 1000'
  try check many.xml
  grep -q '^200 more entries lack values' out
}

# $1 entries that are alike, with the lines of standard input after them.
many() {
  echo '<catalog kind="accelerator" version="1">'
  seq "$1" | sed 's|.*|<entry id="b&" name="B &"><value name="tdp_w"\
>300</value></entry>|'
  cat
  echo '<entry id="last" name="Last"><value name="tdp_w">300</value></entry>'
  echo '</catalog>'
}

@test "one entry that the schema refuses among many that are alike" {
  local bad
  while IFS= read -r bad; do
    many 40 <<<"<entry $bad</entry>" >many.xml
    gives 3 "dlest: $(message error_found 1 '')" check many.xml
    grep -q 'many.xml:8[23]: error: not valid' out
  done <<END
id="Upper" name="N"><value name="tdp_w">300</value>
id="n" name=""><value name="tdp_w">300</value>
id="n" name="$(printf '%0501d' 1)"><value name="tdp_w">300</value>
id="$(printf '%081d' 1)" name="N"><value name="tdp_w">300</value>
id="n-" name="N"><value name="tdp_w">300</value>
id="n" name="N" colour="red"><value name="tdp_w">300</value>
id="n" name="N"><value name="tdp_w">3e2</value>
id="n" name="N"><value name="tdp_w" source="a b">300</value>
id="n" name="N"><value name="tdp_w" source="">300</value>
id="n" name="N"><value name="tdp_w" note=" ">300</value>
id="n" name="N"><value name="tdp_w" year="2020">300</value>
id="n" name="N"><value name="tdp_w">300</value><wing/>
id="n" name="N">text<value name="tdp_w">300</value>
id="n" name="N"><value name="tdp_w">300</value><alias></alias>
id="n" name="N"><value xmlns="urn:other" name="idle_w">9</value>
END
  # What the schema takes is taken among them, too.
  while IFS= read -r bad; do
    many 40 <<<"<entry $bad</entry>" >many.xml
    gives 0 '' check many.xml
  done <<END
id="n" name="N &amp; M"><alias>n b</alias><value name="tdp_w">300.50</value>
id="0.+" name="N"><value name="tdp_w" source="s" note="assumed: x">300</value>
END
}

@test "text between entries that are alike" {
  local text
  text=$(printf '%03000d' 7)
  sed "s|</entry>|&$text|" <(many 40 </dev/null) >many.xml
  gives 3 "dlest: $(message error_found 1 '')" check many.xml
  grep -q 'error: not valid: Did not expect text' out
}

@test "lines beyond 65,535 have their numbers" {
  many 33000 <<<'<entry id="Upper" name="N"><value name="idle_w">9</value>
<value name="tdp_w">12</value></entry>' >many.xml
  try check many.xml
  [ "$status" -eq 3 ]
  grep -q 'many.xml:66002: error: not valid' out
  grep -q 'many.xml:66002: error: Upper: idle_w 9 is half of tdp_w 12' out
}

@test "memory does not grow with the values of entries" {
  ! ldd "$DLEST" | grep -q libasan || skip 'a sanitizer takes its own memory'
  many 100000 </dev/null >many.xml
  (ulimit -v 260000; gives 0 '' check many.xml)
}
