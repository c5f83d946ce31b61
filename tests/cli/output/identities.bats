#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Identities between keys of JSON that the manual and docs state. The arithmetic
# is Python's; a mistake in a report, a unit or a sum breaks one of them.

load ../common
load ../arithmetic

TRAINING="--arch resnet50 --gpu a100"

@test 'an estimate: kWh, facility, emissions, cost' {
  local priced='
for e in j["estimates"]:
    if e["energy_j"] is None:
        continue
    same(e["energy_kwh"], e["energy_j"] / KWH)
    same(e["power_w"] * e["duration_s"], e["energy_j"])
    charged = e["energy_j"]
    if j["pue"]:
        charged *= j["pue"]
        same(e["facility_energy_j"], charged)
        assert j["co2e_of"] == j["cost_of"] == "facility_energy_j"
    else:
        assert e["facility_energy_j"] is None
        assert j["co2e_of"] == j["cost_of"] == "energy_j"
    same(e["co2e_g"], charged / KWH * j["intensity_g_kwh"])
    same(e["cost"], charged / KWH * j["price_per_kwh"])
    assert (e["low_j"] is None) == (e["coverage"] is None)
    if e["low_j"] is not None:
        assert e["low_j"] < e["energy_j"] < e["high_j"]
'
  for gpus in 1 4; do
    for place in '--intensity 400' '--pue 1.5 --country FR' \
      '--cloud aws:us-east-1'; do
      # shellcheck disable=SC2086
      try predict $TRAINING --gpus $gpus $place --price '0.3 EUR' -f json -q
      [ "$status" -eq 0 ]
      holds "$priced"
    done
  done
}

@test 'tdp and flops: the formulas of the manual' {
  gives 0 '' show gpu a100 -f json
  cp out gpu.json
  # shellcheck disable=SC2086
  gives 0 '' predict $TRAINING --gpus 4 --duration 3h --method tdp -f json
  holds '
v = {x["field"]: x["value"] for x in k[0]["values"]}
same(j["estimates"][0]["energy_j"], float(v["tdp_w"]) * 3 * 3600 * 4)
' gpu.json
  # shellcheck disable=SC2086
  gives 0 '' predict $TRAINING --gpus 4 --method flops -f json
  holds '
v = {x["field"]: x["value"] for x in k[0]["values"]}
e = j["estimates"][0]
flop = 2 * j["macs_g"] * 1e9 * j["epochs"] * (
    3 * j["train_samples"] + j["val_samples"])
same(j["flop"], flop)
same(e["duration_s"], flop / (j["peak_tflops"] * 1e12 * j["efficiency"] * 4))
same(e["energy_j"], float(v["tdp_w"]) * e["duration_s"] * 4)
' gpu.json
}

NODE='
busy = {e["method"]: e for e in j["estimates"] if e["energy_j"] is not None}
n, pue = j["node"], j["pue"]
widest = "facility" if pue else "node"
for method, e in busy.items():
    part = {p["part"]: p for p in n["parts"] if p["estimate"] == method}
    bound = {b["boundary"]: b["energy_j"] for b in n["boundaries"]
             if b["estimate"] == method}
    J = {name: p["energy_j"] for name, p in part.items()}
    work = J["gpu_busy"] if "gpu_busy" in J else J["cpu_busy"]
    dc = (work + J.get("gpu_idle", 0) + J.get("cpu", 0) + J["memory"] +
          J["rest"])
    same(bound["gpu"], work)
    same(bound["gpu+ram"], work + J["memory"])
    same(bound["node"], dc / n["supply_efficiency"])
    same(J["supply"], bound["node"] - dc)
    if pue:
        same(bound["facility"], bound["node"] * pue)
        same(J["cooling"], bound["facility"] - bound["node"])
    same(sum(x for x in J.values() if x is not None), bound[widest])
    for p in part.values():
        if p["energy_j"] is None:
            continue
        same(p["power_w"], p["energy_j"] / e["duration_s"])
        same(p["share"], p["energy_j"] / bound[widest])
    if e["boundary"] == "gpu":
        same(work, e["energy_j"])
    if "cpu" in J:
        tdp, idle = n["cpu_tdp_w"], n["cpu_idle_w"]
        # 10 % and the cores that decode images, whose work is fixed
        decodes = (n["cpu_load"] - 0.1) * busy[n["estimate"]]["duration_s"]
        load = 0.1 + decodes / e["duration_s"]
        same(part["cpu"]["power_w"], SOCKETS * (idle + load * (tdp - idle)))
    if "gpu_idle" in J:
        used = n["used"] if n["on"] == "gpu" else 0
        same(part["gpu_idle"]["power_w"], (4 - used) * n["gpu_idle_w"])
best = [b for b in n["boundaries"]
        if b["estimate"] == n["estimate"] and b["boundary"] == widest][0]
if j["intensity_g_kwh"]:
    same(n["co2e_g"], best["energy_j"] / KWH * j["intensity_g_kwh"])
same(n["cost"], best["energy_j"] / KWH * j["price_per_kwh"])
assert n["cost_boundary"] == widest
'

@test 'a node: its parts add up to each boundary' {
  for options in '--use-gpus 1' '--use-gpus 4 --pue 1.3' \
    '--use-gpus 2 --country DE --pue 1.2' '--use-gpus 0 --duration 9h'; do
    # shellcheck disable=SC2086
    try predict --arch resnet50 --node xeon-8368-4xa100 $options --price 0.25 \
      -f json -q
    [ "$status" -eq 0 ]
    holds "${NODE//SOCKETS/2}"
  done
}

@test 'a node: TDP, runtime, embodied carbon' {
  gives 0 '' predict --arch resnet50 --node xeon-8368-4xa100 --use-gpus 1 \
    --duration 10h --method tdp --embodied --lifetime 5 --in-use 0.8 -f json
  holds '
n, T = j["node"], 10 * 3600
same(n["tdp_j"], 400 * T)
dc = 4 * 400 + 2 * 270 + 512 * 0.1562 + 200
same(n["runtime_j"], dc * T / n["supply_efficiency"])
for m in n["embodied"]:
    same(m["job_g"], m["embodied_kg"] * 1000 * m["count"] * T /
         (n["lifetime_years"] * 365.25 * 24 * 3600 * n["in_use"]))
assert [m["part"] for m in n["embodied"]] == ["server", "accelerator"]
assert n["lifetime_years"] == 5 and n["in_use"] == 0.8
'
}

@test 'all-reduce: the volume of the ring' {
  # shellcheck disable=SC2086
  gives 0 '' predict $TRAINING --gpus 8 --method tdp --duration 1h -f json
  holds '
gb = j["trained_params_m"] * 1e6 * 4 / 1e9
same(j["exchange_gb"], gb)
buckets = math.ceil(gb * 1e9 / (25 * 1024 ** 2))
same(j["exchange_s"],
     2 * 7 / 8 * gb / (0.8 * j["link_gb_s"]) + 2 * 7 * 1e-5 * buckets)
'
}

@test 'inference: phases, requests and tokens' {
  gives 0 "dlest: warning: $(message outside_training_data 'batch size')" \
    predict --arch llama-2-7b --gpu a100 --phase inference \
    --prompt-tokens 500 --output-tokens 200 --requests 1000 \
    --method physical,flops -f json
  holds '
s = j["served"]
work = {w["part"]: w for w in s["work"]}
whole = work.pop("all")
e = {x["method"]: x for x in j["estimates"]}
for key in ("energy_j", "duration_s"):
    same(sum(w[key] for w in work.values()), whole[key])
    same(whole[key], e["physical"][key])
for w in [*work.values(), whole]:
    same(w["share"], w["energy_j"] / whole["energy_j"])
    same(w["request_energy_j"], w["energy_j"] / 1000)
    same(w["token_energy_j"], w["energy_j"] / 1000 / 200)
same(s["most_tokens_a_second"], 200 * s["most_a_second"])
same(s["token_s"], work["decode"]["duration_s"] / 1000 * s["at_once"] / 200)
same(s["latency_s"], whole["duration_s"] / 1000 * s["at_once"])
flops = j["inference"]
same(sum(p["energy_j"] for p in flops), e["flops"]["energy_j"])
same(sum(p["duration_s"] for p in flops), e["flops"]["duration_s"])
same(sum(p["flop"] for p in flops), j["flop"])
'
}

@test 'a sweep, a table and single runs are the same' {
  local archs=resnet50,vgg16 gpus=a100,t4 batches=64,256
  try predict --arch $archs --gpu $gpus --batch-size $batches -f json -q
  [ "$status" -eq 0 ]
  cp out sweep.json
  echo arch,gpu,batch_size >runs.csv
  for a in resnet50 vgg16; do
    for g in a100 t4; do
      for b in 64 256; do
        echo "$a,$g,$b" >>runs.csv
        try predict --arch $a --gpu $g --batch-size $b -f json -q
        [ "$status" -eq 0 ]
        cp out "$a-$g-$b.json"
      done
    done
  done
  try predict --input runs.csv -f json -q
  [ "$status" -eq 0 ]
  holds '
single = {}
for d in k[1:]:
    for e in d["estimates"]:
        single[d["arch"], d["gpu"], d["batch_size"], e["method"]] = (d, e)
keys = ("energy_j", "low_j", "high_j", "energy_kwh", "power_w", "duration_s",
        "boundary", "duration_from", "interval_from", "interval_groups",
        "model", "extrapolates")
seen = 0
for row in k[0]["estimates"]:
    d, e = single[row["arch"], row["gpu"], row["batch_size"], row["method"]]
    for key in keys:
        if isinstance(e[key], float):
            same(row[key], e[key])
        else:
            assert row[key] == e[key], (key, row, e)
    assert row["recommended"] == (d["recommended"] == e["method"])
    same(row["memory_need_gb"], d["memory_need_gb"])
    seen += 1
assert seen == len(single)
names = {"a100": "a100-sxm4-40gb", "t4": "t4"}
for row in j["estimates"]:
    gpu = names.get(row["gpu"], row["gpu"])
    d, e = single[row["arch"], gpu, float(row["batch_size"]), row["method"]]
    for key in keys[:6]:
        same(row[key], e[key])
' sweep.json ./*-*-*.json
}

@test 'a log: parts of the energy, mean power' {
  local examples=$DLEST_DATADIR/data/examples
  gives 0 '' extract "$examples/gpu-7.csv" "$examples/memory-7.csv" -f json
  holds '
import csv
r, = j["runs"]
assert r["boundary"] == "gpu+ram"
same(r["energy_j"], r["gpu_energy_j"] + r["ram_energy_j"])
power = [float(row["power.draw [W]"].split()[0])
         for row in csv.DictReader(open("'"$examples"'/gpu-7.csv"),
                                   skipinitialspace=True)]
assert r["samples"] == len(power)
same(r["gpu_power_w"], sum(power) / len(power))
same(r["gpu_peak_w"], max(power))
'
}

@test 'a projection: the formulas of the manual' {
  local examples=$DLEST_DATADIR/data/examples
  try step "$examples/epochs.csv" --epochs 90 --k 2 --stable 2 --window 3 \
    --pue 1.25 --intensity 300 -f json
  [ "$status" -eq 0 ]
  EXAMPLES=$examples holds '
import csv
rows = list(csv.DictReader(open(os.environ["EXAMPLES"] + "/epochs.csv")))
J = [float(r["energy_j"]) for r in rows]
S = [float(r["duration_s"]) for r in rows]
same(j["seen_energy_j"], sum(J))
same(j["seen_duration_s"], sum(S))
e = {x["method"]: x for x in j["estimates"]}
same(e["carbontracker"]["energy_j"], 90 * sum(J[:2]) / 2)
same(e["step-energy"]["energy_j"], sum(J[:2]) + 88 * sum(J[2:5]) / 3)
T = sum(S[:2]) + 88 * sum(S[2:5]) / 3
same(e["step-energy"]["duration_s"], T)
same(e["step-power"]["energy_j"], T * sum(a / b for a, b in zip(
    J[2:5], S[2:5])) / 3)
same(e["step"]["energy_j"], sum(J) + 84 * j["evidence"]["level_j"])
assert j["verdict"] == "stable"
for x in e.values():
    same(x["energy_kwh"], x["energy_j"] / KWH)
    same(x["facility_energy_j"], 1.25 * x["energy_j"])
    same(x["co2e_g"], x["facility_energy_j"] / KWH * 300)
    same(x["power_w"], x["energy_j"] / x["duration_s"])
'
}

@test 'accounting: jobs add up to groups and to the total' {
  local sacct=$DLEST_DATADIR/data/examples/sacct.txt
  local options='--gpu v100 --core-power 2 --pue 1.4 --intensity 250 -f json -q'
  # shellcheck disable=SC2086
  for by in job user account,month; do
    try report "$sacct" --by $by $options
    [ "$status" -eq 0 ]
    cp out $by.json
  done
  holds '
jobs, groups = k[0]["jobs"], k[1:]
whole = k[0]["total"]
def known(rows, key):
    return [r[key] for r in rows if r[key] is not None]
same(whole["energy_j"], sum(known(jobs, "energy_j")))
same(whole["duration_s"], sum(known(jobs, "duration_s")))
assert whole["jobs"] == len(jobs)
same(whole["measured_energy_j"], sum(
    r["energy_j"] for r in jobs if r["energy_from"] == "measured"))
for d in groups:
    assert d["total"] == whole
    for key in ("jobs", "energy_j", "gpu_s", "duration_s", "measured_energy_j",
                "co2e_g"):
        same(whole[key], sum(known(d["groups"], key)))
for s in [whole] + [g for d in groups for g in d["groups"]]:
    if s["gpu_s"]:
        same(s["gpu_h"], s["gpu_s"] / 3600)
    same(s["energy_kwh"], s["energy_j"] / KWH)
    same(s["measured_share"], s["measured_energy_j"] / s["energy_j"])
    same(s["facility_energy_j"], 1.4 * s["energy_j"])
    same(s["co2e_g"], s["facility_energy_j"] / KWH * 250)
' job.json user.json account,month.json
}

@test 'recommend: savings, the front, what is excluded' {
  try recommend --arch resnet50,vgg16 --gpu a100,v100,t4 --batch-size 64,256 \
    --deadline 40h -f json -q
  [ "$status" -eq 0 ]
  holds '
c = j["choices"]
meets = [x for x in c if x["excluded"] is None]
assert j["n_choices"] == len(c) == 24
for key, why in (("n_deadline", "deadline"), ("n_memory", "memory")):
    assert j[key] == sum(x["excluded"] == why for x in c), key
highest = max(x["energy_j"] for x in meets)
for x in meets:
    same(x["saving"], 1 - x["energy_j"] / highest, 1e-6)
    beaten = any(y["energy_j"] <= x["energy_j"] and
                 y["duration_s"] <= x["duration_s"] and
                 (y["energy_j"] < x["energy_j"] or
                  y["duration_s"] < x["duration_s"]) for y in meets
                 if (y["accuracy"] or 0) >= (x["accuracy"] or 0))
    assert x["pareto"] == (not beaten), x
    assert x["duration_s"] <= 40 * 3600
best = {}
for x in meets:
    if x["arch"] not in best or x["energy_j"] < best[x["arch"]]["energy_j"]:
        best[x["arch"]] = x
for a in j["by_arch"]:
    x = best[a["arch"]]
    same(a["energy_j"], x["energy_j"])
    same(a["saving"], 1 - x["energy_j"] / max(
        b["energy_j"] for b in best.values()), 1e-6)
    others = [y["energy_j"] for y in meets
              if y["arch"] == a["arch"] and y["gpu"] != x["gpu"]]
    if others:
        same(a["next_more"], min(others) / x["energy_j"] - 1, 1e-6)
'
}

@test 'compare: scores are those of the estimates' {
  measured >runs.csv
  try predict --input runs.csv --method tdp -f json -q
  cp out estimates.json
  try compare runs.csv --methods tdp -f json -q
  [ "$status" -eq 0 ]
  holds '
import csv
y = [float(r["energy_j"]) for r in csv.DictReader(open("runs.csv"))]
f = [400 * float(r["duration_s"]) for r in csv.DictReader(open("runs.csv"))]
s, n = j["scores"][0], len(y)
mean = sum(y) / n
off = [b - a for a, b in zip(y, f)]
ape = sorted(abs(d) / a for a, d in zip(y, off))
same(s["bias_j"], sum(off) / n)
same(s["mae_j"], sum(map(abs, off)) / n)
same(s["rmse_j"], math.sqrt(sum(d * d for d in off) / n))
same(s["mape"], sum(ape) / n)
same(s["median_ape"], ape[n // 2])
same(s["r2"], 1 - sum(d * d for d in off) / sum((a - mean) ** 2 for a in y))
assert s["n"] == n
'
}

@test 'predict: the throughput is that of training samples while it trains' {
  for val in 0 50000 500000; do
    try predict --arch resnet50 --gpu a100 --batch-size 256 --epochs 1 \
      --train-samples 1000000 --val-samples $val --method flops -f json -q
    cat out
  done | jq -s '[.[].estimates[0] | .samples_per_s, .duration_s]' >figures
  # a validation sample takes a third of the time of a training sample
  jq -e '. as [$s, $t, $s2, $t2, $s3, $t3] |
    def same(a; b): (a / b - 1 | fabs) < 1e-9;
    same($s; 1e6 / $t) and same($s2; $s) and same($s3; $s) and
    same($t2; $t * (1 + 0.05 / 3)) and same($t3; $t * (1 + 0.5 / 3))' figures
}

@test 'fit: pooled scores and means of folds' {
  measured >runs.csv
  try fit runs.csv --target energy_j --method ols --features duration_s \
    --cv kfold:3 -f json -q
  [ "$status" -eq 0 ]
  holds '
f, = j["fits"]
cv = f["cv"]
folds = cv["folds"]
assert cv["pooled"]["n"] == sum(x["n"] for x in folds) == f["n"]
for key in ("r2", "rmse", "mae", "mape", "median_ape", "bias"):
    same(cv["mean"][key], sum(x[key] for x in folds) / len(folds))
for key in ("mae", "mape", "bias"):
    same(cv["pooled"][key], sum(x[key] * x["n"] for x in folds) / f["n"])
same(cv["pooled"]["rmse"] ** 2,
     sum(x["rmse"] ** 2 * x["n"] for x in folds) / f["n"])
# least squares: residuals are orthogonal to 1 and to the feature
import csv
rows = list(csv.DictReader(open("runs.csv")))
x, = f["features"]
r = [float(row["energy_j"]) - f["intercept"] - x["coefficient"] *
     (float(row["duration_s"]) - x["mean"]) / x["sd"] for row in rows]
scale = sum(abs(x) for x in r)
assert abs(sum(r)) < 1e-9 * scale
assert abs(sum(a * float(row["duration_s"])
               for a, row in zip(r, rows))) < 1e-6 * scale
'
}
