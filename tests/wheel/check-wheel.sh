#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The wheel in a fresh virtual environment, without another dlest: the program,
# its data, the package; answers as of the program in the build folder. TAP.
#
#   check-wheel.sh WHEEL DLEST TOP_SRCDIR
# shellcheck disable=SC2317 # functions that others call
set -euo pipefail
wheel=$(realpath "$1")
built=$(realpath "$2")
top=$(realpath "$3")
python=${PYTHON-/usr/bin/python3}
"$python" -c 'import venv, ensurepip' 2>/dev/null || {
  echo '1..0 # SKIP not installed: venv of Python (Debian: python3-venv)'
  exit 0
}
# shellcheck source=tests/environment
. "$top/tests/environment"
unset DLEST_DATADIR DLEST_PATH DLEST_PROGRAM PYTHONPATH PIP_CONFIG_FILE
work=$(mktemp -d "${TMPDIR:-/tmp}/dlest-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work XDG_CONFIG_HOME=$work/config PATH=$work/env/bin:/usr/bin:/bin
made=$(dirname "$built")/tests/record

n=0 failed=0
# ok DESCRIPTION COMMAND...: the command succeeds.
ok() {
  local what=$1
  shift
  n=$((n + 1))
  if "$@" >said 2>&1; then
    echo "ok $n - $what"
  else
    failed=1
    echo "not ok $n - $what"
    head -n 20 said | sed 's/^/# /'
  fi
}

size() {
  local bytes
  bytes=$(stat -c %s "$wheel")
  echo "$bytes bytes"
  [ "$bytes" -gt 1000000 ] && [ "$bytes" -lt 5000000 ]
}
ok 'from 1 to 5 MB' size

# The tag promises a glibc: the program needs no newer one, and no other library.
tag() {
  local glibc
  glibc=$(basename "$wheel" | sed -n 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_.*/\1.\2/p')
  [ -n "$glibc" ] && unzip_one 'dlest-*.data/scripts/dlest' >program
  objdump -p program >needs
  ! grep NEEDED needs | grep -vE 'lib(c|m)\.so\.6|ld-linux' || return 1
  grep -o 'GLIBC_[0-9.]*' needs | sed 's/GLIBC_//' | sort -V | tail -n 1 >newest
  [ "$(cat newest)" = "$glibc" ]
}
# unzip_one PATTERN: a file of the wheel
unzip_one() {
  "$python" - "$wheel" "$1" <<'END'
import fnmatch, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
[name] = fnmatch.filter(z.namelist(), sys.argv[2])
sys.stdout.buffer.write(z.read(name))
END
}
ok 'it needs libc alone, of the version in its tag' tag

install() {
  "$python" -m venv env && env/bin/pip install -q --no-index "$wheel" &&
    env/bin/pip check
}
ok 'pip installs it in a virtual environment' install
ok 'dlest is on PATH there' [ "$(command -v dlest)" = "$work/env/bin/dlest" ]
ok 'dlest, its catalogues and models' dlest check --strict \
  env/share/dlest/data/accelerators.xml env/share/dlest/models/physical.xml
ok 'its manual page' [ -s env/share/man/man1/dlest-predict.1 ]

# same STATUS ARG...: the answer of the program in the build folder, to the bit
same() {
  local status=$1 one=0 two=0
  shift
  DLEST_DATADIR=$top "$built" "$@" >want 2>want.err || one=$?
  dlest "$@" >got 2>got.err || two=$?
  sed -i "s|$top/models/|$work/env/share/dlest/models/|" want
  [ "$one $two" = "$status $status" ] && diff want got &&
    diff want.err got.err
}
ok 'an estimate' same 0 predict resnet50 a100 --format json
ok 'a language model' same 0 predict llama-3-8b '8 x h100' '1T tokens' --format json
ok 'serving' same 0 predict --arch llama-2-7b --gpu a100 --phase inference \
  --requests 1000 --prompt-tokens 100 --output-tokens 100 -f json
ok 'a recommendation' same 0 recommend --arch resnet50 --gpu a100,h100 -f json
ok 'a log' same 0 extract "$top/data/examples/gpu-7.csv" -f json
ok 'an ONNX file' same 0 describe "$top/data/examples/tiny-cnn.onnx" -f json
cp "$top/data/examples/runs.csv" .
ok 'a fit' same 0 fit runs.csv --target gpu_power_w --method ols -f json
sed 's/<value/<valve/' "$top/data/examples/lab-card.xml" >broken.xml
head -c 300 "$top/data/examples/lab-card.xml" >cut.xml
iconv -f UTF-8 -t UTF-16 "$top/data/examples/lab-card.xml" >wide.xml
catalogues() {
  same 0 check "$top/data/examples/lab-card.xml" && same 3 check broken.xml &&
    same 3 check cut.xml && same 0 check wide.xml
}
ok 'catalogues: a good one, a wrong one, a cut one, another encoding' \
  catalogues

cat >use.py <<'END'
import os, sys, time, dlest
assert dlest.__file__.startswith(sys.prefix), dlest.__file__
assert dlest.program() == os.path.join(sys.prefix, "bin", "dlest")
x = dlest.predict("resnet50", "a100")
assert x["dlest"] == dlest.__version__, x["dlest"]
assert all(1e7 < e["energy_j"] < 1e9 for e in x["estimates"])
assert dlest.recommend(arch="resnet50", gpu=["a100", "h100"])["choices"]
assert dlest.extract(sys.argv[1], set={"arch": "resnet50"})["runs"]
try: dlest.predict("resnet50", gpu="nothing")
except dlest.Error as e: assert "nothing" in str(e)
else: raise SystemExit("no error")
END
ok 'import dlest: predict, recommend, extract' \
  env/bin/python use.py "$top/data/examples/gpu-7.csv"
cat >measure.py <<'END'
import time, dlest
with dlest.measure(interval="50ms", country="FR") as meter:
    time.sleep(0.5)
assert 220 < meter.energy_j < 450 and meter.co2e_g > 0, meter
assert dlest.record(["sleep", "0.3"], interval="50ms").energy_j > 100
END
if [ -f "$made/libnvidia-ml.so.1" ]; then
  ok 'import dlest: measure and record, with a made driver' \
    env LD_LIBRARY_PATH="$made" DLEST_SYSFS="$work/sys" env/bin/python measure.py
fi
cat >fetch.py <<'END'
import socket, subprocess, time, urllib.request
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
record = subprocess.Popen(["dlest", "record", "--duration=20s", "--no-trace", "-q",
                           "--serve=127.0.0.1:%d" % port])
try:
    for _ in range(100):
        try:
            url = "http://127.0.0.1:%d/metrics" % port
            assert b"dlest" in urllib.request.urlopen(url, timeout=5).read()
            break
        except OSError:
            time.sleep(0.1)
    else:
        raise SystemExit("no answer")
finally:
    record.terminate()
    record.wait()
END
if [ -f "$made/libnvidia-ml.so.1" ]; then
  ok 'the live page of a recording' env LD_LIBRARY_PATH="$made" \
    DLEST_SYSFS="$work/sys" no_proxy='*' env/bin/python fetch.py
fi
if command -v mypy >/dev/null; then
  echo 'import dlest; x: str = dlest.predict("a")' >typed.py
  types() {
    ! mypy --python-executable env/bin/python typed.py >typed || return 1
    grep -q 'Incompatible types in assignment' typed
  }
  ok 'its types are found' types
fi

moved() {
  mv env moved && env -i moved/bin/dlest predict resnet50 a100 -q -f json >got &&
    mv moved env
}
ok 'a folder that is moved' moved
elsewhere() {
  env/bin/pip install -q --no-index --target there "$wheel" &&
    PYTHONPATH=$work/there PATH=/usr/bin:/bin "$python" -c '
import dlest
assert dlest.program().endswith("/there/bin/dlest"), dlest.program()
dlest.predict("resnet50", "a100")'
}
ok 'pip install --target' elsewhere
removed() {
  env/bin/pip uninstall -q -y dlest && ! find env -type f -iname '*dlest*' | grep .
}
ok 'pip uninstall leaves nothing' removed
echo "1..$n"
exit $failed
