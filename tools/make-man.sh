#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a manual page from --help and a hand-written part.
#
#   tools/make-man.sh DLEST VERSION MANDIR PAGE OUTPUT
#
# PAGE is dlest or dlest-COMMAND; MANDIR holds PAGE.h2m and common.h2m.
# HELP2MAN names the program. --help is not wrapped here: man wraps it.
set -eu
dlest=$1 version=$2 mandir=$3 page=$4 output=$5
table=$mandir/../src/quantities/quantities.def
command=${page#dlest}
command=${command#-}
temp=$output.tmp
trap 'rm -f "$temp" "$temp.h2m" "$temp.columns"' EXIT

# The columns of the runs table, from the table that the program is made of:
# rows NUMBER or WHOLE(name, "unit" or NULL, ..., "summary"), TEXT, WORD or
# OPEN(name, ..., "summary"). Further parts of a row follow on lines of their own.
columns() {
  awk '
    /Assumptions of an estimate/ { exit }
    /^(NUMBER|WHOLE|TEXT|WORD|OPEN)\(/ { row = ""; on = 1 }
    on { row = row $0 }
    on && /"[,)]$/ {
      on = 0
      name = row; sub(/^[A-Z]*\(/, "", name); sub(/,.*/, "", name)
      unit = ""
      if (row ~ /^(NUMBER|WHOLE)\([a-z0-9_]*, *"/) {
        unit = row; sub(/^[^"]*"/, "", unit); sub(/".*/, "", unit)
        sub(/^[A-Z]*\([a-z0-9_]*, *"[^"]*"/, "", row)
      }
      gsub(/" *"/, "", row)
      sub(/^[^"]*"/, "", row); sub(/"[,)]$/, "", row)
      printf ".TP\n.B %s\n%s%s\n", name, row, unit ? ", " unit : ""
    }' "$table"
}
columns >"$temp.columns"
sed "/COLUMNS: inserted/r $temp.columns" "$mandir/$page.h2m" >"$temp.h2m"

LC_ALL=C COLUMNS=400 ${HELP2MAN-help2man} --no-info --section=1 \
  --source="dlest $version" --manual='dlest manual' \
  --include="$temp.h2m" --include="$mandir/common.h2m" \
  --version-string="dlest $version" --output="$temp" "$dlest${command:+ $command}"

# The options become a section behind the description, its headings become
# subsections; examples are not filled.
awk -v page="$page" '
  function out(line) { if (inside) options = options line "\n"; else print line }
  function close_section() {
    if (example) print ".RE\n.fi"
    example = 0
    if (options) printf ".SH OPTIONS\n%s", options
    options = ""
  }
  /^\.TH / { sub(/^\.TH [^ ]+/, ".TH " toupper(page)) }
  paragraph && /^Mandatory or optional arguments/ { paragraph = inside = 0; next }
  paragraph && !/^\.(PP|SH)/ { out(".PP"); paragraph = 0 }
  indent && /^[A-Z][A-Za-z ]*:$/ {
    sub(/:$/, ""); inside = 1; out(".SS \"" $0 "\""); indent = 0; next
  }
  indent { out(heading ~ /EXAMPLES/ ? ".nf\n.RS 2" : ".IP")
           example = heading ~ /EXAMPLES/; indent = 0 }
  /^\.SH / { inside = paragraph = 0; close_section(); heading = $0 }
  /^\.IP$/ { indent = 1; next }
  /^\.PP$/ { paragraph = last !~ /^\.SH/; next }
  { out($0); last = $0 }
  END { close_section() }
' "$temp" >"$output.new"
mv "$output.new" "$output"
