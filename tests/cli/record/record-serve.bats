#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# dlest record --serve: the live page, its figures as JSON, metrics.

bats_require_minimum_version 1.5.0
load ../common
load record

# serving ARG...: records in the background with --serve 0; sets $recorder and
# $url.
serving() {
  : >err
  "$DLEST" record --serve 0 "$@" >out 2>err &
  recorder=$!
  for _ in $(seq 100); do
    url=$(sed -n 's/^dlest: live page: //p' err)
    [ -z "$url" ] || break
    ! grep -qxF -e "dlest: $(message serve_absent)" \
      -e "dlest: $(message serve_not_loaded)" err || skip "no libmicrohttpd"
    sleep 0.05
  done
  port=${url##*:}
  port=${port%/}
  [ -n "$url" ]
}

# samples N: waits until the state has so many; leaves it in the file state
samples() {
  for _ in $(seq 100); do
    curl -sf "${url}state.json" >state
    [ "$(jq .samples state)" -lt "$1" ] || return 0
    sleep 0.1
  done
  return 1
}

# code ARG...: the status of a request by curl
code() {
  curl -s -o body -w '%{http_code}' "$@"
}

@test "the figures of a training that runs, as JSON and as metrics" {
  FAKE_NVML_PERIOD=0.5 serving --interval 50ms --epochs 40 --intensity 400 \
    --arch resnet50 --trace t.csv -- bash -c 'for i in 0 1 2 3 4 5; do
      sleep 0.5; echo epoch $i >"$DLEST_MARKS"; done'
  samples 30
  curl -s "${url}metrics" >metrics
  wait "$recorder"
  check '.program == "bash" and .arch == "resnet50" and .epochs >= 2' state
  # 90 % of the time at 450 W, 10 % at 120 W: 417 W.
  within 0.95 "$(jq '.energy_j / (417 * .duration_s)' state)" 1.05
  within 0.999 "$(jq '.co2e_g / (.energy_j / 3.6e6 * 400)' state)" 1.001
  within 0.98 "$(jq '[.devices[].energy_j] | add / (input.energy_j)' \
    state state)" 1.02
  # The trace adds up to the energy, and has the power of both devices.
  within 0.999 "$(jq '.trace as $t | [range($t | length) |
    $t[.].power_w * ($t[.].time_s - (if . == 0 then 0 else $t[. - 1].time_s end))]
    | add / input.energy_j' state state)" 1.001
  within 440 "$(jq '[.trace[].power_w] | max' state)" 460
  python3 "$TOP_SRCDIR/tests/check-schema.py" \
    "$TOP_SRCDIR/schemas/record-state.json" <state || [ $? -eq 77 ]
  python3 "$TOP_SRCDIR/tests/check-metrics.py" <metrics >values
  grep -q '^dlest_device_energy_joules{part="GPU",device=".* (1)",id="GPU-.*"} ' \
    metrics
  ! grep -q trace metrics || false
}

@test "series keep their labels while a training runs" {
  serving --interval 50ms --duration 3s --no-trace
  samples 5
  curl -s "${url}metrics" | sed -n 's/ [^ ]*$//p' >before
  samples 25
  curl -s "${url}metrics" | sed -n 's/ [^ ]*$//p' >after
  diff before after
  kill "$recorder"
}

@test "a training is projected on the page" {
  FAKE_NVML_PERIOD=0.2 serving --interval 20ms --epochs 100 --no-trace -- \
    bash -c 'for i in {0..60}; do sleep 0.2; echo epoch $i >"$DLEST_MARKS"; done'
  for _ in $(seq 80); do
    curl -sf "${url}state.json" >state
    ! jq -e ".whole.epochs_seen >= 10 and .whole.low_j" state >jq.out || break
    sleep 0.2
  done
  kill "$recorder"
  # 100 epochs of .2 s at 90 % of 450 W and 10 % of 120 W: 8,340 J; marks of a
  # shell come some ms late.
  check '.whole.epochs == 100 and .whole.low_j <= .whole.energy_j' state
  within 0.9 "$(jq '.whole.energy_j / 8340' state)" 1.2
}

@test "requests: the page, and what is refused" {
  serving --interval 50ms --duration 5s --no-trace
  [ "$(code "$url")" -eq 200 ]
  grep -q '<title>dlest record</title>' body
  # The page asks no other server for anything.
  ! grep -qE '(src|href)="(https?:)?//' body || false
  [ "$(code -I "$url")" -eq 200 ]
  [ "$(code "${url}nothing")" -eq 404 ]
  grep -q /metrics body
  [ "$(code -X POST -d x=1 "$url")" -eq 405 ]
  [ "$(code --path-as-is "${url}../../../etc/passwd")" -eq 404 ]
  # Names of other sites, which may lead to the loopback address.
  [ "$(code -H 'Host: site.example' "$url")" -eq 403 ]
  [ "$(code -H "Host: localhost:$port" "$url")" -eq 200 ]
  [ "$(code -H "Host: [::1]" "$url")" -eq 200 ]
  curl -sI "$url" | grep -qi '^content-security-policy:.*default-src .none'
  kill "$recorder"
}

@test "the page in a browser" {
  command -v chromium >chromium || skip "no chromium"
  serving --interval 50ms --duration 30s --no-trace
  samples 5
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=chrome \
    --virtual-time-budget=1500 --dump-dom "$url" >page 2>chrome.err ||
    skip "chromium does not run here"
  kill "$recorder"
  grep -q '<dd id="power">450 W' page
  [ "$(grep -o '<td>NVIDIA A100-SXM4-40GB ([01])</td>' page | wc -l)" -eq 2 ]
  grep -q '<path class="power" d="M' page
  grep -q 'Recording\.' page
}

@test "100 clients that stall change nothing about the recording" {
  "$DLEST" record --interval 20ms --duration 4s --trace alone.csv 2>err
  serving --interval 20ms --duration 4s --trace served.csv
  python3 "$TOP_SRCDIR/tests/cli/record/serve_clients.py" "$port" 3 >fetched
  before=$(date +%s%N)
  wait "$recorder"
  # The end is not delayed by connections that are open, either.
  [ $((($(date +%s%N) - before) / 1000000)) -lt 1500 ]
  [ "$(cat fetched)" -ge 20 ]
  python3 - alone.csv served.csv <<'END'
import csv, datetime, statistics, sys
counts, gaps = [], []
for path in sys.argv[1:]:
    rows = [r for r in open(path) if not r.startswith("#")]
    t = [datetime.datetime.fromisoformat(r["timestamp"].replace("Z", "+00:00"))
         for r in csv.DictReader(rows)]
    apart = [(b - a).total_seconds() for a, b in zip(t, t[1:])]
    counts.append(len(t))
    gaps.append((statistics.median(apart), sorted(apart)[len(apart) * 9 // 10]))
print(counts, gaps)
assert counts[1] >= 0.95 * counts[0], counts
assert abs(gaps[1][0] - 0.02) < 0.002, gaps
assert gaps[1][1] < gaps[0][1] + 0.005, gaps
END
}

@test "the program has none of the server's descriptors" {
  serving --no-trace -- bash -c 'sleep 1; ls -l /proc/self/fd'
  samples 1
  wait "$recorder"
  ! grep -E 'socket:|eventpoll|eventfd' out || false
}

@test "addresses: the loopback interface unless another is given" {
  serving --duration 3s --no-trace
  [[ $url == http://127.0.0.1:* ]]
  ! grep -q "$(message serve_open 0)" err || false
  # The port is in use.
  misused record "$(message serve_in_use "$port" 'Address already in use')" \
    --serve "$port" --no-trace -- touch started
  [ ! -e started ]
  kill "$recorder"
  for address in :0 localhost:0 127.0.0.2:0 '[::1]:0'; do
    [ "$address" != '[::1]:0' ] || [ -e /proc/net/if_inet6 ] || continue
    "$DLEST" record --duration 100ms --no-trace --serve "$address" >out 2>err
    grep -qE '^dlest: live page: http://(127.0.0.[12]|\[::1\]):[1-9][0-9]*/$' err
  done
  "$DLEST" record --duration 100ms --no-trace --serve 0.0.0.0:0 >out 2>err
  grep -qxF "dlest: warning: $(message serve_open 0.0.0.0:0)" err
}

@test "a library that cannot be loaded" {
  serving --duration 100ms --no-trace
  wait "$recorder"
  mkdir lib
  : >lib/libmicrohttpd.so.12
  LD_LIBRARY_PATH=$PWD/lib:${LD_LIBRARY_PATH-} misused record "$(message serve_not_loaded)" \
    --serve 0 --no-trace -- touch started
  [ ! -e started ]
}

@test "addresses that are none" {
  serving --duration 100ms --no-trace
  wait "$recorder"
  local text
  for text in '' x 8000x -1 65536 127.0.0.1 127.0.0.1: host.example:80 ::1:80 \
    '[::1' 1.2.3:80 '127.0.0.1:80 '; do
    misused record "$(message serve_no_address "$text")" "--serve=$text" \
      --no-trace -- touch started
  done
  misused record "$(message serve_elsewhere 192.0.2.1:80 \
    'Cannot assign requested address')" --serve 192.0.2.1:80 -- touch started
  [ ! -e started ]
}

@test "a port for which the user has no right" {
  serving --duration 100ms --no-trace
  wait "$recorder"
  local port user=()
  port=$(($(cat /proc/sys/net/ipv4/ip_unprivileged_port_start) - 1))
  [ "$port" -gt 0 ] || skip "all ports are allowed"
  if [ "$(id -u)" -eq 0 ]; then
    user=(setpriv --bounding-set -net_bind_service
      --inh-caps -net_bind_service)
    "${user[@]}" true || skip "root keeps its rights"
  fi
  status=0
  "${user[@]}" "$DLEST" record --serve "$port" --no-trace -- touch started \
    2>err || status=$?
  [ "$status" -eq 2 ]
  [ ! -e started ]
  [ "$(cat err)" = "dlest: $(message serve_privileged "$port" \
    'Permission denied')" ]
}
