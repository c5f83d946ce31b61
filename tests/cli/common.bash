# SPDX-License-Identifier: GPL-3.0-or-later
# Loaded by the tests of the command line. They run in an empty folder.

# bats reads this file for each test, but the environment needs it once.
if [ -z "${DLEST_TEST_ENVIRONMENT-}" ]; then
  # shellcheck source-path=SCRIPTDIR/.. source=environment
  source "${BASH_SOURCE[0]%/*}/../environment"
  export DLEST_TEST_ENVIRONMENT=set
fi
MESSAGES=${BASH_SOURCE[0]%/*}/../messages

# bats calls this before each command of a test and of the functions that it
# calls, so that the report of a failure names a line. Its own version copies the
# whole stack each time, which takes longer than most commands; this one keeps
# the line of the test alone.
bats_debug_trap() {
  if [[ ${FUNCNAME[1]-} == "${BATS_TEST_NAME-}" ]]; then
    BATS_DEBUG_LASTLAST_STACK_TRACE=("${BATS_DEBUG_LAST_STACK_TRACE[@]}")
    BATS_DEBUG_LAST_LINENO=("${BASH_LINENO[@]}")
    BATS_DEBUG_LAST_SOURCE=("${BASH_SOURCE[@]}")
    BATS_DEBUG_LAST_STACK_TRACE=(
      "${BASH_LINENO[0]} ${FUNCNAME[1]} ${BASH_SOURCE[1]}")
  fi
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

# message KEY ARG...: the text of tests/messages with that key, its %s replaced
# by the arguments. The texts of errors and warnings stand in that file only.
message() {
  local key=$1 line
  shift
  # grep reads the table: a loop of bash would call the trap of bats for each
  # line of it, which takes a hundred times as long.
  if ! line=$(grep -m 1 "^$key"$'\t' "$MESSAGES"); then
    echo "no message '$key' in tests/messages"
    return 1
  fi
  # shellcheck disable=SC2059 # the text is a format
  printf -- "${line#*$'\t'}" "$@"
}

# meant A [B [C]]: the suggestion behind an unknown name.
meant() {
  local names="'$1'" n=$#
  shift
  while [ $# -gt 1 ]; do names+=", '$1'"; shift; done
  [ "$n" -eq 1 ] || names+=" or '$1'"
  printf %s "$(message did_you_mean "$names")"
}

# try ARG...: runs dlest; leaves $status and the files out and err.
try() {
  status=0
  "$DLEST" "$@" >out 2>err || status=$?
}

# gives STATUS STDERR ARG...: both as told, the text exactly ('' is none).
gives() {
  local want=$1 text=$2
  shift 2
  try "$@"
  if [ "$status" -ne "$want" ]; then
    echo "exit status $status, expected $want: dlest $*"
    cat err
    return 1
  fi
  if [ -n "$text" ]; then
    printf '%s\n' "$text" | diff -u - err
  else
    diff -u /dev/null err
  fi
}

# as_options: a message about columns as one about options
as_options() {
  local columns='n_gpus|(tensor|pipeline|context|expert)_parallel|seq_len'
  columns+='|(global|micro)_batch|grad_accum|batch_size|virtual_stages|fine_tune'
  columns+='|image_px|loader_workers|augmentation|cached_latents'
  sed -E "s/(^|[^'a-z_])($columns)\b/\1--\2/g; s/--n_gpus/--gpus/g; \
s/\bcheckpointed_layers\b/--set &/g; s/\bcheckpointing full\b/--&/g; \
s/\bgpu_power_w\b/--gpu-power/g; s/\b(duration|epoch|step)_s\b/--\1-time/g; \
s/\b(samples|tokens)_per_s\b/--throughput/g; s/--duration-time/--duration/g" |
    sed -E ':a; s/(--[a-z-]+)_([a-z]+)/\1-\2/; ta'
}

# refuses STATUS STDERR ARG...: the same, and nothing on standard output.
refuses() {
  gives "$@"
  if [ -s out ]; then
    echo "printed:"
    cat out
    return 1
  fi
}

# misused COMMAND TEXT ARG...: wrong usage
misused() {
  local command=$1 text=$2
  shift 2
  refuses 2 "dlest: $text" "$command" "$@"
}

# invalid COMMAND OPTION=VALUE ARG...: the value is refused with what the option
# takes.
invalid() {
  local command=$1 pair=$2
  shift 2
  try "$command" "--$pair" "$@"
  [ "$status" -eq 2 ]
  [ ! -s out ]
  grep -qF -e "$(message invalid_value "${pair%%=*}" "${pair#*=}" '')" err
}

# check FILTER [FILE]: jq finds it true.
check() {
  if ! jq -e "$1" "${2:-out}" >jq.out 2>&1; then
    echo "not so: $1"
    cat jq.out
    head -c 2000 "${2:-out}"
    return 1
  fi
}

# near FILTER NUMBER: within 1e-12 of the number.
near() {
  check "($1) as \$x | ($2) as \$y |
    ((\$x - \$y) | fabs) <= 1e-12 * (\$y | fabs)"
}

# table HEADER ROW...: a table in runs.csv
table() {
  printf '%s\n' "$@" >runs.csv
}

# my_gpu [ENTRY...]: a catalogue of accelerators in my.xml
my_gpu() {
  {
    echo '<catalog kind="accelerator" version="1">'
    echo '<sources><source id="s" title="measured at home"/></sources>'
    printf '%s\n' "$@"
    echo '</catalog>'
  } >my.xml
}

# entry VALUE [NAME [ID]]: one of its entries
entry() {
  printf '<entry id="%s" name="My GPU"><value name="%s" source="s">%s</value></entry>' \
    "${3:-my}" "${2:-tdp_w}" "$1"
}

needs_measured_runs() {
  if [ ! -f "$MEASURED_RUNS/delrey2024/pre-runs.csv" ]; then
    skip "no measured runs in '$MEASURED_RUNS'"
  fi
}

# needs_decimal_comma: sets LC_ALL to a locale with one, or skips.
needs_decimal_comma() {
  if ! locale -a 2>/dev/null | grep -qix 'de_DE\.utf-\?8'; then
    localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null ||
      skip "no locale de_DE.UTF-8"
    export LOCPATH=$PWD
  fi
  export LC_ALL=de_DE.UTF-8
  # a program of its own: this shell has read its locales already
  if [ "$(env printf '%.1f' 0,5 2>/dev/null)" != 0,5 ]; then
    skip "locale de_DE.UTF-8 has no decimal comma here"
  fi
}

# needs_turkish_case: sets LC_ALL to a locale whose lower case of I is not i, or
# skips.
needs_turkish_case() {
  if ! locale -a 2>/dev/null | grep -qix 'tr_TR\.utf-\?8'; then
    localedef -i tr_TR -f UTF-8 ./tr_TR.UTF-8 2>/dev/null ||
      skip "no locale tr_TR.UTF-8"
    export LOCPATH=$PWD
  fi
  export LC_ALL=tr_TR.UTF-8
}
