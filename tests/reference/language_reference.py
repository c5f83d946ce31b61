#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/unit/test_language.c expects: the cost of an optimizer step by the
formulas of src/physics/language/language_cost.h, written anew with plain
numbers. Prints a row of seconds and watts for each case."""
import math

C = dict(ec=.7, ec_tf32=.65, ec_fp32=.98, ec_fp8=.8, th=.2, h0=40, ea=.28,
         phi=.52, em=.55, ct=3.5, fused=.4, eager=2.3, wopt=1.9, tau=2e-5,
         c0=2.6e-3, graph=.33, xl=.54, xp=.18, xn=1.5, xtp=.42, alpha=2.5e-6,
         strag=.016, whole=1.25, pa=.1, pb=.05, pu=.3, pf=.65, pm=.42, pcap=.96,
         kappa=.47)
A100 = dict(peak=312e12, peak16=312e12, bw=2039e9, link=300e9, net=25e9, tdp=400,
            limit=400)
H100 = dict(peak=1978.9e12, peak16=989.4e12, bw=3350e9, link=450e9, net=50e9,
            tdp=700, limit=450)
TPU = dict(peak=918e12, peak16=918e12, bw=1640e9, link=400e9, net=12.5e9,
           tdp=390, limit=390)
L40S = dict(peak=362e12, peak16=362e12, bw=864e9, link=31.5e9, net=12.5e9,
            tdp=350, limit=350)
GDDR = L40S | dict(gddr=864, gb=48, limit=200)
BASE = dict(b=8, s=2048, m=2, linear=6.6e9, att=131072 * 1024, scores=0,
            passes=3, again=0, att_passes=3.5, params=6.7e9, trained=6.7e9,
            unpack=0, layers=32, hidden=4096, vocab=50000, e=2, state=30, n=64,
            tp=1, pp=1, vp=1, shards=64, nodes=8, domain=8, fmt="ec", gathers=1,
            fused=0, graphs=0, whole=0, pcie=0, by_weight=0, tiles=0, last=0,
            experts=0, ep=1, moe=0, n_experts=0, active=0, chosen=0, width=0,
            apart=0, systolic=0, adapted=0, plain=0, gated=0)
SOME = dict(gpu=.93, power=1.06, arch=1.05, stack=.9, framework=1.1)
NONE = dict.fromkeys(SOME, 1)
# Into and out of seven products in each layer: queries, keys, values, output;
# two up and one down.
ADAPTED = 32 * (4 * (4096 + 4096) + 3 * (4096 + 11008))
CASES = [("zero3", A100, {}, NONE), ("effects", A100, {}, SOME),
         ("whole", A100, dict(whole=1, again=1, att_passes=4.5), NONE),
         ("pipeline", H100, dict(tp=4, pp=8, m=16, b=1, n=512, gathers=0,
                                 shards=16, nodes=64, fmt="ec_fp8", fused=1,
                                 graphs=1), SOME),
         ("interleaved", H100, dict(tp=4, pp=8, vp=4, m=16, b=1, n=512,
                                    gathers=0, shards=16, nodes=64,
                                    fmt="ec_fp8", fused=1, graphs=1), SOME),
         ("few", A100, dict(tp=2, pp=4, vp=2, m=2, b=1, n=8, gathers=0,
                            shards=1, nodes=1), NONE),
         ("adapters", L40S, dict(n=4, nodes=1, pcie=1, gathers=0, shards=1, b=2,
                                 trained=4e7, passes=2.006, unpack=5, m=1,
                                 adapted=ADAPTED), NONE),
         ("adapters again", L40S, dict(n=2, nodes=1, pcie=1, gathers=0, shards=1,
                                       b=1, tp=2, trained=4e7, passes=2.006, m=1,
                                       again=1, fused=1, adapted=ADAPTED), NONE),
         # Two GPUs share each of four sequences
         ("shared sequences", GDDR, dict(n=8, nodes=1, pcie=1, gathers=0,
                                         shards=4, tp=2, b=.5, m=1), NONE),
         ("eager", A100, dict(n=1, nodes=1, gathers=0, shards=1, fmt="ec_tf32",
                              e=4, scores=32 * 32 * 2048,
                              att_passes=3), NONE),
         ("by weight", A100, dict(n=16, nodes=2, gathers=0, shards=1, m=4,
                                  by_weight=1), SOME),
         ("experts", A100, dict(tp=2, pp=2, m=4, b=1, again=1, gathers=0,
                                shards=16, experts=5e9, ep=16, moe=31,
                                n_experts=64, active=4), SOME),
         ("few experts", H100, dict(b=2, gathers=0, shards=1, experts=5e9, ep=4,
                                    moe=16, n_experts=8, active=2, chosen=2e9,
                                    width=1408, apart=1), NONE),
         ("gathered experts", A100, dict(experts=5e9, ep=32, moe=32,
                                         n_experts=32, active=8), NONE),
         ("mixture", A100, dict(n=8, nodes=1, b=.125, again=1, shards=8, moe=24,
                                n_experts=64, active=6, chosen=3e9, width=768,
                                tiles=16384 * 108), SOME),
         ("tiles", A100, dict(n=16, tp=2, nodes=2, gathers=0, shards=8, b=.5,
                              tiles=16384 * 108), SOME),
         ("summed up last", L40S, dict(n=4, nodes=1, pcie=1, gathers=0,
                                       shards=1, b=2, last=1), NONE),
         ("half again", A100, dict(again=.5, att_passes=4), NONE),
         ("systolic", TPU, dict(systolic=1), NONE),
         ("plain", A100, dict(n=1, nodes=1, gathers=0, shards=1, b=1, plain=1,
                              gated=1), NONE),
         ("half plain", L40S, dict(n=2, nodes=1, pcie=1, gathers=0, shards=1,
                                   b=1, plain=.5, whole=1), SOME)]


def overlap(a, b):
    return (a ** 4 + b ** 4) ** .25


def collective(w, g, size, calls, copies, adapters):
    link = g["link"] * C["xp" if w["pcie"] else "xl"]
    if w["n"] > w["domain"]:
        link = min(link, g["net"] * adapters * C["xn"])
    return size / link + calls * C["alpha"] * math.log2(copies)


def dispatch(w, g):
    """Tokens to their experts and back, by counting the sets of experts."""
    near = min(w["domain"] // w["tp"], w["ep"])
    nodes = w["ep"] // near
    of_node = w["n_experts"] // nodes
    sets = math.comb(w["n_experts"], w["active"])
    reached = (nodes - 1) * (
        1 - math.comb(w["n_experts"] - of_node, w["active"]) / sets)
    calls = (4 + 2 * w["again"]) * w["moe"] / w["pp"]
    size = calls * w["e"] * w["hidden"] * w["b"] * w["s"] / w["tp"]
    return overlap(
        size * w["active"] * (near - 1) / near / C["xl"] / g["link"],
        size * reached / C["xn"] / g["net"]) + (
        calls * C["alpha"] * math.log2(w["ep"]))


def slots(m, p, v):
    """Length of the forward passes of m micro-batches through p stages of v
    chunks each, in passes through a stage, by playing the schedule: a stage
    takes micro-batches in groups of p, chunk after chunk."""
    free = [0] * p
    done = {}
    for first in range(0, m, p):
        group = range(first, min(first + p, m))
        for chunk in range(v):
            for i in group:
                for stage in range(p):
                    before = done.get((i, chunk, stage - 1) if stage else
                                      (i, chunk - 1, p - 1), 0)
                    free[stage] = max(free[stage], before) + 1
                    done[i, chunk, stage] = free[stage]
    return max(free) / v


def step(g, w, f):
    split = w["tp"] * w["pp"]
    copies = w["n"] / split
    u = w["b"] * w["s"] / split
    own = f["gpu"] * f["arch"] * f["stack"] * f["framework"]
    ratio = 1 if w["systolic"] else max(1, g["peak16"] / g["tdp"] / .78e12)
    tokens = w["b"] * w["s"]

    def mix(tuned, plain):
        return (1 - w["plain"]) * tuned + w["plain"] * plain

    def shape(width, rows):
        return 1 + C["h0"] * w["tp"] / width + (
            w["tiles"] * w["tp"] / (4 * rows * width))

    here = w["n_experts"] / w["ep"]
    done = (w["linear"] - w["chosen"]) * shape(w["hidden"], tokens)
    done /= 1.25 if w["systolic"] else 1
    if w["chosen"]:
        rows_of_one = tokens * w["active"] / here
        done += w["chosen"] * (shape(w["width"], tokens * w["active"]) +
                               64 / rows_of_one)
    passes = w["passes"] + w["again"]
    compute = (2 * u * done * passes / g["peak"] / C[w["fmt"]] *
               ratio ** C["th"] * own)
    rate = C["ea"] * 312e12 * (g["peak16"] / 312e12) ** C["phi"]
    attention = 2 * u * w["att"] * w["att_passes"] / rate * own
    held = w["params"] - w["experts"] * (1 - 1 / w["ep"])
    # Dropout 2, first matrix 1, second matrix 1, scaling 2, sum 3; backward the
    # same and two gradients; half of inputs, half of outputs.
    adapters = w["e"] * w["adapted"] * u * (
        (2 + 1 + 1 + 2 + 3) / 2 * (1 + w["again"]) +
        (2 + 1 + 1 + 2 + 3 + 2) / 2) * (.6 + .4 * w["tp"])
    moved = ((34 * C["ct"] * w["e"] * w["layers"] * w["hidden"] * u *
              w["passes"] / 3 * (1 + .35 * w["again"]) *
              mix(1, (4 if w["gated"] else 1.9) *
                  (.7 if w["e"] > 2 else 1)) + adapters) *
             (C["fused"] if w["fused"] else 1) +
             12 * C["eager"] * w["e"] * w["scores"] * u +
             mix(2 * w["e"], 60) * w["vocab"] * u +
             (w["chosen"] > 0) * w["moe"] * w["active"] * u * w["hidden"] * w["e"] *
             (18 if w["ep"] > 1 else 10) * passes / 3 +
             (w["passes"] * w["e"] + w["unpack"]) * held / split)
    memory = moved / C["em"] / g["bw"] * own
    kernels = mix(10, 32 if w["gated"] else 20) * w["layers"]
    if w["chosen"]:
        kernels += w["moe"] * (24 + 2 * (here - 1) * w["apart"])
    launch = (kernels * C["tau"] / w["pp"] * passes + C["c0"]) * (C["graph"] if w["graphs"] else 1)
    exchange = reduce = 0
    trained = w["trained"] - w["experts"]
    for params, trained, n, adapters, calls in (
            (w["params"] - w["experts"], trained, copies, w["domain"],
             w["layers"]),
            (w["experts"] / w["ep"], w["experts"] / w["ep"], copies / w["ep"],
             max(1, w["domain"] / w["tp"] / w["ep"]), w["moe"] / 2)):
        if n <= 1 or params <= 0:
            continue
        ring = (n - 1) / n * w["e"] / split
        if w["gathers"]:
            exchange += collective(w, g, ring * (2 * params + trained),
                                   6 * calls, n, adapters)
        else:
            reduce += collective(w, g, 2 * ring * trained, 4 * calls, n,
                                 adapters)
    waits = 0
    if w["ep"] > 1:
        if w["ep"] * w["tp"] <= w["domain"]:
            waits = dispatch(w, g)
        else:
            exchange += dispatch(w, g)
    if w["tp"] > 1:
        calls = (4 + 2 * w["again"]) * w["layers"] / w["pp"]
        size = 2 * w["e"] * w["hidden"] * w["b"] * w["s"] * (1 - 1 / w["tp"])
        share = C["xp" if w["pcie"] else "xtp"]
        exchange += calls * (size / share / g["link"] + C["alpha"])
    if w["pp"] > 1:
        rate = (C["xn"] * g["net"] if w["n"] > w["domain"] else
                C["xp" if w["pcie"] else "xl"] * g["link"])
        exchange += 2 * w["vp"] * (
            w["e"] * w["hidden"] * w["b"] * w["s"] / w["tp"] / rate + C["alpha"])
    updated = w["trained"] / w["shards"] if w["shards"] > 1 else (
        w["trained"] - w["experts"] * (1 - 1 / w["ep"]))
    optimizer = (mix(1, 1.6) * C["wopt"] * w["state"] * updated / split /
                 C["em"] / g["bw"])
    one = overlap(overlap(compute + attention + memory + waits, launch),
                  exchange)
    behind = 200 * C["tau"] * w["layers"] / w["pp"] if w["by_weight"] else 0
    t = (slots(w["m"], w["pp"], w["vp"]) - 1) * (one + behind)
    t += one + reduce if w["last"] else overlap(one, reduce)
    t += behind + optimizer
    t *= 1 + C["strag"] * math.log2(w["nodes"])
    base = (C["pa"] * g["tdp"] + C["pb"] * g.get("gddr", 0)) * f["power"]
    wanted = base + g["tdp"] * f["power"] * (
        C["pu"] + (C["pf"] * w["m"] * (compute + attention) +
                   C["pm"] * (w["m"] * memory + optimizer)) / t)
    most = C["pcap"] * g["limit"]
    power = (wanted ** -8 + most ** -8) ** (-1 / 8)
    # 14 Gbit/s on each of the 32 pins of a chip of 2 GB, one or two a channel
    bw = g.get("gddr", 0)
    chips = min(max(g.get("gb", 0) / 2 * 32 * 14 / 8, bw), 2 * bw)
    low = .6 * (C["pa"] * g["tdp"] + C["pb"] * chips) * f["power"]
    share = min(1, max(.02, (power - low) / (wanted - low)))
    t *= math.exp(C["kappa"] * math.log(share) ** 2)
    return t * (C["whole"] if w["whole"] else 1), power


for name, gpu, change, effects in CASES:
    print(name, *(f"{x:.17g}" for x in step(gpu, BASE | change, effects)))
