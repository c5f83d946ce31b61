#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The progress bar of long work: on a terminal only, with a remaining time, and
# gone at the end.

load ../common

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_CONFIG_HOME=$PWD/config
}

# on_terminal WANT SIZE ARG...: runs dlest with its messages on a terminal, with
# a greater SIZE in place of each SIZE in the arguments until that takes two seconds;
# make(SIZE) of make.py makes the input. Checks what the terminal was sent: bars
# whose shares grow, erased before the end; "none" in place of bars: nothing.
on_terminal() {
  cat >on_terminal.py <<'PY'
import os, pty, re, sys, time
want, size, *args = sys.argv[1:]
try:
    from make import make
except ImportError:
    make = None

def run(command):
    master, slave = pty.openpty()
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.environ.setdefault('TERM', 'xterm')
        os.dup2(os.open('out', os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(slave, 2)
        os.execv(command[0], command)
    os.close(slave)
    seen = b''
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        seen += block
    status = os.waitpid(pid, 0)[1]
    return time.monotonic() - start, status, seen.decode()

size = int(size)
while True:
    if make:
        make(size)
    took, status, seen = run([a.replace('SIZE', str(size)) for a in args])
    assert status == 0, (status, seen)
    if took > 2:
        break
    size = int(size * max(1.3, min(2.6 / max(took, .01), 20)))
bars = re.findall(r'\r\033\[K\[(#*)(\.*)\] +(\d+) %(?:, [\d.]+ (?:s|min|h) left)?',
                  seen)
if want == 'none':
    assert '\r\033' not in seen and '%' not in seen, seen
else:
    assert bars and 'left' in seen, seen
    shares = [int(share) for _, _, share in bars]
    assert shares == sorted(shares), shares
    assert all(len(full + rest) == 40 for full, rest, _ in bars), bars
    assert len(bars) <= 10 * took + 1, (len(bars), took)
    end = seen.rindex('\r\033[K')
    assert not re.search(r'\[[#.]{40}\]', seen[end:]), seen
PY
  python3 on_terminal.py "$@"
}

# runs.csv: 60 runs with two features
runs() {
  awk -v OFS=, 'BEGIN { print "x,z,y"
    for (i = 0; i < 60; i++) print i % 13, i * 7 % 11, 5 + i % 7 + i % 3 }' >runs.csv
}

FIT='--target y --features x,z --method krr --no-model --search random:SIZE --cv kfold:20'

@test 'a fit' {
  runs
  # shellcheck disable=SC2086
  on_terminal bars 4000 "$DLEST" fit runs.csv $FIT
}

@test 'a sweep and a table of predict' {
  on_terminal bars 200 "$DLEST" predict --arch resnet50 --gpu a100 \
    --batch-size 1..1000 --image-px 64..SIZE --format csv
  cat >make.py <<'PY'
def make(n):
    with open('many.csv', 'w') as f:
        f.write('arch,gpu,batch_size,train_samples,epochs\n')
        f.write('resnet50,a100,64,100000,2\n' * n)
PY
  on_terminal bars 100000 "$DLEST" predict --input many.csv --format csv
}

@test 'a report' {
  cat >make.py <<'PY'
def make(n):
    with open('jobs.txt', 'w') as f:
        f.write('JobID|ElapsedRaw|AllocTRES|ConsumedEnergyRaw\n')
        for i in range(n):
            f.write('%d|3600|billing=8,cpu=8,gres/gpu=1|1000000\n' % i)
PY
  on_terminal bars 200000 "$DLEST" report jobs.txt
}

@test 'scores of a table' {
  cat >make.py <<'PY'
def make(n):
    with open('runs.csv', 'w') as f:
        f.write('arch,gpu,batch_size,epochs,train_samples,energy_j,boundary\n')
        for i in range(n):
            f.write('resnet50,a100,%d,1,50000,%d,gpu\n' % (i % 100 + 1, i + 1e5))
PY
  on_terminal bars 10000 "$DLEST" compare runs.csv
}

@test 'none with --quiet, on a dumb terminal and without a terminal' {
  runs
  # shellcheck disable=SC2086
  on_terminal none 4000 "$DLEST" fit runs.csv $FIT --quiet
  # shellcheck disable=SC2086
  TERM=dumb on_terminal none 4000 "$DLEST" fit runs.csv $FIT
  # shellcheck disable=SC2086
  gives 0 '' fit runs.csv ${FIT/SIZE/4000}
}
