#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Versions and needs in the files of packagers are those of configure.ac, and
# these files parse. TAP.
set -eu
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"
n=0
ok() {
  n=$((n + 1))
  if [ -z "$2" ]; then echo "ok $n - $1"; else
    echo "not ok $n - $1"; printf '%s\n' "$2" | sed 's/^/# /'; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
recipes=contrib/packaging
conda=$recipes/conda-forge/meta.yaml
spack=$recipes/spack/package.py
brew=$recipes/homebrew/dlest.rb

echo 1..11
version=$(sed -n 's/^AC_INIT(\[dlest\], \[\([^]]*\)\].*/\1/p' configure.ac)
ok 'all have the version of configure.ac' "$(
  # FILE PATTERN: the lines with a version have this one
  while read -r file pattern; do
    found=$(grep -oE "$pattern" "$file" | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | sort -u)
    [ "$found" = "$version" ] || echo "$file: $found, not $version"
  done <<END
CITATION.cff ^version: .*
python/dlest/__init__.py ^__version__ = .*
$conda set.version.=.*
$spack (version\(|dlest-).*
$brew dlest-.*tar
END
)"

ok 'the release has one date' "$(
  date=$(sed -nE "s/^## $version \(([0-9-]*)\)\$/\1/p" CHANGELOG.md)
  grep -qx "date-released: $date" CITATION.cff || echo "CITATION.cff: not $date"
  [ "$(date -d "$(sed -n 's/^ -- .*>  //p; /^ -- /q' debian/changelog)" +%F)" = "$date" ] ||
    echo "debian/changelog: not $date")"

# The versions of libraries, as "name version", that a file asks for.
needs() {
  sed -nE 's/libxml-2\.0/xml/
    s/.*\[(lib)?(gsl|jansson|microhttpd|xxhash|xml) >= ([0-9.]+)\].*/\2 \3/p
    s/^ *- (lib)?(gsl|jansson|microhttpd|xxhash|xml)2? >=([0-9.]+).*/\2 \3/p
    s/.*depends_on\("(lib)?(gsl|jansson|microhttpd|xxhash|xml)2?@([0-9.]+):".*/\2 \3/p' "$1" |
    sort
}
asked=$(needs configure.ac)
ok 'configure.ac asks for libraries' "$([ "$(echo "$asked" | wc -l)" -eq 5 ] ||
  echo "$asked")"
ok 'recipes ask for their versions' "$(for file in $conda $spack; do
  needs "$file" | while read -r name least; do
    echo "$asked" | grep -qxF -e "$name $least" ||
      echo "$file: $name $least, not $asked"; done
  [ "$(needs "$file" | wc -l)" -ge 3 ] || echo "$file: no versions"; done)"

# Later releases of GSL have more functions; the list is that of the oldest.
ok 'nothing of GSL is used that the oldest release lacks' "$(
  list=tests/lint/gsl-$(echo "$asked" | sed -n 's/^gsl //p')
  [ -r "$list" ] || echo "no $list"
  grep -rhE 'gsl_|GSL_' src bench tests/unit --include='*.[ch]' | grep -v '# *include' |
    grep -owE 'gsl_[A-Za-z0-9_]+|GSL_[A-Z0-9_]+' | grep -v '_free_local$' | sort -u |
    grep -vxF -f "$list" || true)"

name='the recipe of conda-forge is YAML'
if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
  # Templates stand for texts; its comments choose platforms.
  ok "$name" "$(sed -E '/^\{%/d; s/\{\{[^}]*\}\}/x/g' $conda |
    /usr/bin/python3 -c 'import sys, yaml
x = yaml.safe_load(sys.stdin)
for key in ("package", "source", "build", "requirements", "test", "about"):
    if key not in x:
        print("no " + key)' 2>&1)"
else
  skip "$name" 'no yaml (Debian: python3-yaml)'
fi
name='the recipe of Spack compiles'
if command -v python3 >/dev/null; then
  ok "$name" "$(python3 -c 'import ast, sys
ast.parse(open(sys.argv[1]).read())' $spack 2>&1)"
else
  skip "$name" 'no python3'
fi
name='the formula of Homebrew parses'
if command -v ruby >/dev/null; then
  ok "$name" "$(ruby -c $brew 2>&1 | grep -v '^Syntax OK$' || true)"
else
  skip "$name" 'no ruby'
fi

# The address, which make dist writes for the placeholders.
url=$(sed -nE 's|^ *\[(https://[^]]*)\]\)$|\1|p' configure.ac)
ok 'configure.ac has the one address' "$([ "$(echo "$url" | grep -c .)" = 1 ] || echo "'$url'"
  for file in $conda $spack $brew debian/control debian/watch; do
    grep -qF -e '@PACKAGE_URL@' -e "${url:-none}" $file || echo "$file: not that address"
  done)"
ok 'nothing names another' "$(grep -rnIoE --exclude-dir=.git --exclude-dir='_build*' \
  --exclude-dir=autom4te.cache '[a-z]+://[^] "<>)]*dlest[^] "<>)]*' configure.ac README.md \
  AGENTS.md NEWS.md CITATION.cff SECURITY.md contrib debian docs man python src web |
  grep -vF -e "://$(echo "$url" | sed 's|.*://||')" || true)"

# The container installs what bootstrap does for building, and what Debian's
# package depends on.
built=$(awk '/^Build-Depends:/ { on = 1; next } /^[^ ]/ { on = 0 }
  on && !/<!nocheck>/ { sub(/,.*/, ""); print $1 }' debian/control |
  grep -vE '^(debhelper-compat|dh-python|help2man|python3|libopenblas-dev)$')
ok 'the container file installs what building needs' "$(for p in $built; do
  grep -qE "(^| )$p( |\$)" contrib/container/Containerfile || echo "$p"; done)"
