#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a round of requests costs by the formula of src/physics/serving/serving_cost.h.

usage: serving_reference.py

Prints, for every case of tests/unit/test_serving.c, its name, the time of a
round, the power of one GPU, and time and energy of prefill and of decoding,
with all digits. The constants are inputs: where they come from does not
matter to what is compared. Written from the formula alone, step by step, with
plain powers where the library has shortcuts.
"""
import math

C = dict(em=.861, ec=.926, ep=.987, tau=85e-6, alpha=24.2e-6, x=.71,
         c0=.692e-3, c1=30.2e-6, c2=13e-6, old=13.5, uneven=1.4, pa=.181, pu=.126,
         pf=1.53, pm=.577, pcap=.95, kappa=.6)
NONE = dict(compute=1., memory=1., power=1., time=1., arch_power=1., prompt=1.)
SOME = dict(compute=1.15, memory=.9, power=1.07, time=.93, arch_power=1.02,
            prompt=1.6)

H100 = dict(peak=989.4e12, bandwidth=3350e9, link=450e9, tdp=700.)
A100 = dict(peak=312e12, bandwidth=1555e9, link=300e9, tdp=400.)
L40 = dict(peak=181e12, bandwidth=864e9, link=31.5e9, tdp=300.)
# Llama 3 8B; Mixtral 8x7B: 32 layers of 3 x 4096 x 14336 weights an expert
DENSE = dict(weights=7504658432., experts=0., share=0.,
             token_weights=7504658432., pair_macs=262144., kept=65536.,
             layers=32., width=4096.)
EXPERTS = 8 * 32 * 3 * 4096 * 14336.
MIXED = dict(weights=1.47e9, experts=EXPERTS, share=.25,
             token_weights=1.47e9 + EXPERTS / 4, pair_macs=262144.,
             kept=65536., layers=32., width=4096.)


def case(net, gpu, batch, prompt, answer, gpus=1, weight_bytes=2.,
         kept_bytes=2., old=False, fx=None, peak=None, window=None, share=0.,
         limit=None, beams=1.):
    return dict(net, **gpu, b=batch, beams=beams, u=prompt, v=answer, n=gpus,
                wb=weight_bytes, kb=kept_bytes, old=old, fx=fx or NONE,
                peak_weights=peak or gpu["peak"], window=window, z=share,
                limit=limit or gpu["tdp"])


CASES = [
    ("dense", case(DENSE, H100, 32., 512., 256.)),
    ("effects", case(DENSE, H100, 32., 512., 256., fx=SOME)),
    ("one", case(DENSE, A100, 1., 100., 50., old=True)),
    ("mixture", case(MIXED, H100, 8., 300., 400., gpus=4)),
    ("mixture_fp8", case(MIXED, H100, 700., 300., 400., gpus=2,
                         weight_bytes=1., fx=SOME, peak=1978.9e12)),
    ("slow_link", case(DENSE, L40, 16., 512., 256., gpus=8)),
    ("prompts_alone", case(DENSE, H100, 64., 2000., 0.)),
    ("answers_alone", case(DENSE, H100, 64., 0., 300.)),
    ("window", case(DENSE, H100, 32., 512., 256., window=600., share=.75)),
    ("window_passed", case(DENSE, H100, 8., 4000., 500., window=1000.,
                           share=.5, fx=SOME)),
    ("capped", case(DENSE, H100, 32., 512., 256., limit=350.)),
    ("beams", case(MIXED, H100, 8., 300., 400., gpus=4, beams=4.)),
]


def integral(f, low, high, steps=200000):
    """By the midpoint rule."""
    h = (high - low) / steps
    return h * sum(f(low + (i + .5) * h) for i in range(steps))


def tokens_attended(x, u, v):
    """Mean over the layers and the tokens of the output."""
    if not x["z"]:
        return u + v / 2
    w = x["window"]
    mean = integral(lambda n: min(n, w), u, u + v) / v if v else min(u, w)
    return (1 - x["z"]) * (u + v / 2) + x["z"] * mean


def pairs_of(x, u):
    if not x["z"]:
        return u ** 2 / 2
    return (1 - x["z"]) * u ** 2 / 2 \
        + x["z"] * integral(lambda n: min(n, x["window"]), 0, u)


def round_of(x):
    """time, power, prefill s, decode s, prefill J, decode J"""
    fx, n, b, v = x["fx"], x["n"], x["b"], x["v"]
    u = x["u"] * fx["prompt"]
    at = tokens_attended(x, u, v)
    e = C["uneven"] if x["experts"] else 1.
    r = b * x["beams"]
    s = 1 - (1 - x["share"]) ** r
    read = e * x["wb"] * (x["weights"] + s * x["experts"]) \
        + x["kb"] * r * at * x["kept"]
    memory = read / (C["em"] * x["bandwidth"] * n * fx["memory"])
    # FLOP over the peak: weights in their format, attention in that of keys
    ideal = 2 * r * (x["token_weights"] / x["peak_weights"]
                     + at * x["pair_macs"] / x["peak"]) * e
    compute = ideal / (C["ec"] * n * fx["compute"])
    layers = x["layers"] * C["tau"]
    wire = 0. if n == 1 else (n - 1) / n / (C["x"] * x["link"])
    exchange = 0. if n == 1 else \
        2 * x["layers"] * (C["alpha"] + 4 * r * x["width"] * wire)
    group = C["c2"] if n > 1 else 0.
    host = (C["c0"] + (C["c1"] + group) * r) * (C["old"] if x["old"] else 1)
    p_ideal = 2 * (u * x["token_weights"] / x["peak_weights"]
                   + pairs_of(x, u) * x["pair_macs"] / x["peak"]) * e
    p_compute = p_ideal / (C["ep"] * n * fx["compute"])
    p_wire = 8 * x["layers"] * u * x["width"] * wire
    memory, compute, layers, exchange, p_compute, p_wire = (
        t * fx["time"]
        for t in (memory, compute, layers, exchange, p_compute, p_wire))
    decode = v * (memory + compute + layers + exchange)
    prefill = b * (p_compute + p_wire)
    total = decode + prefill + v * host
    tdp = x["tdp"]
    base = C["pa"] * tdp
    d_decode = tdp * (C["pu"] * decode + C["pf"] * C["ec"] * v * compute
                      + C["pm"] * C["em"] * v * memory)
    d_prefill = tdp * (C["pu"] * prefill + C["pf"] * C["ep"] * b * p_compute)
    wanted = (base + (d_decode + d_prefill) / total) \
        * fx["power"] * fx["arch_power"]
    power = (wanted ** -8 + (C["pcap"] * x["limit"]) ** -8) ** -.125
    floor = .6 * base
    left = min(max((power - floor) / (wanted - floor), .02), 1.)
    slow = math.exp(C["kappa"] * math.log(left) ** 2)
    time = slow * (decode + prefill) + v * host
    energy = n * power * time
    part = (base * prefill + d_prefill) / (base * total + d_decode + d_prefill)
    return (time, power, slow * prefill, slow * decode + v * host,
            energy * part, energy * (1 - part))


for name, x in CASES:
    print(name, *("%.17g" % y for y in round_of(x)))
