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

@test "what an entry lacks, by method" {
  my_gpu '<entry id="a" name="A"><value name="tdp_w">300</value></entry>' \
    '<entry id="b" name="B"><value name="memory_gb">8</value></entry>'
  gives 0 '' check my.xml --format json
  check '[.lacking[] | select(.entry == "a").method] | sort ==
    ["flops", "physical", "pre-epoch", "pre-power"]'
  check '.lacking[] | select(.entry == "a" and .method == "flops").lacks ==
    "peak_fp32_tflops"'
  check '.lacking[] | select(.entry == "b" and .method == "tdp").lacks ==
    "tdp_w"'
  check '.lacking[] | select(.entry == "b" and .method == "pre-power").lacks ==
    "tdp_w, bandwidth_gb_s, peak_fp32_tflops"'
  gives 0 '' check my.xml
  grep -q '^ *b  *green-algorithms  *tdp_w$' out
  cat >arch.xml <<END
<catalog kind="architecture" version="1">
<entry id="net" name="Net" scaling="area"><value name="params_m">5</value>
<input image_px="224"><value name="macs_g">1.5</value></input></entry>
</catalog>
END
  gives 0 '' check arch.xml --format json
  check '.lacking == [{"file": "arch.xml", "entry": "net",
    "method": "pre-epoch", "lacks": "acts_m"}]'
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

@test "rows of ML CO2 Impact that are wrong are found" {
  # GTX 750, H100 SXM, A10G; Lacoste et al., gpus.csv of the calculator
  my_gpu '<entry id="gtx-750" name="GTX 750"><value name="tdp_w">250</value>' \
    '<value name="peak_fp32_tflops">1111</value>' \
    '<value name="memory_gb">24</value></entry>' \
    '<entry id="h100-sxm" name="H100 SXM"><value name="tdp_w">700</value>' \
    '<value name="peak_fp32_tflops">989</value></entry>' \
    '<entry id="a10g" name="A10G"><value name="tdp_w">150</value>' \
    '<value name="peak_fp32_tflops">31.52</value></entry>'
  gives 3 "dlest: $(message error_found 2 s)" check my.xml
  grep -q 'error: gtx-750: peak_fp32_tflops 1111 by tdp_w 250 is 4.44 ' out
  grep -q "warning: gtx-750: tdp_w 250 is not the 55 of 'gtx-750'" out
  grep -q 'error: h100-sxm: peak_fp32_tflops 989 by tdp_w 700 is 1.41 ' out
  grep -q "warning: a10g: tdp_w 150 is not the 300 of 'a10g'" out
}

@test "a warning alone is no error, but with --strict" {
  my_gpu '<entry id="a100" name="A100"><value name="tdp_w">300</value></entry>'
  gives 0 '' check my.xml
  grep -q "my.xml:3: warning: a100: tdp_w 300 is not the 400 of " out
  gives 3 "dlest: $(message finding_found 1 '')" check my.xml --strict
  grep -q warning out
}

@test "a note excuses a value that is right" {
  bad='<value name="bandwidth_gb_s"'
  my_gpu "<entry id=\"my\" name=\"My GPU\" memory_type=\"gddr6\">$bad>2000</value></entry>"
  gives 3 "dlest: $(message error_found 1 '')" check my.xml
  my_gpu "<entry id=\"my\" name=\"My GPU\" memory_type=\"gddr6\">$bad note=\"exception: two boards in one\">2000</value></entry>"
  gives 0 '' check my.xml
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

@test "one bad file does not hide another" {
  printf '<page/>\n' >page.xml
  my_gpu "$(entry 123)"
  try check page.xml my.xml --format json
  [ "$status" -eq 3 ]
  check '[.files[].errors] == [1, 0]'
  check '.files[0].kind == null and .files[1].kind == "accelerator"'
}

@test "a file that is in use already" {
  mkdir mine
  my_gpu '<entry id="a" name="A"><value name="tdp_w">1e30</value></entry>'
  mv my.xml mine
  export DLEST_PATH=$PWD/mine
  gives 3 "dlest: $(message error_found 1 '')" check mine/my.xml
  grep -q "mine/my.xml:3: error: a: value 'tdp_w': 1e30 is not between" out
}

@test "what it refuses" {
  misused check "$(message missing_argument FILE... check)"
  refuses 1 "dlest: none.xml: $(message cannot_open \
    'No such file or directory')" \
    check none.xml
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
