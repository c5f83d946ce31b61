#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a batch costs by the formula of src/physics/tuned/tuned_cost.h.

usage: tuned_reference.py

Prints, for every case of tests/unit/test_tuned.c, its name, the time of the
batch and the power of a GPU, with all digits. The constants are inputs: where
they come from does not matter to what is compared. Written from the formula
alone.
"""
C = dict(ec=.5, em=1.2, gamma=.3, tau=3e-6, pa=.15, pe=1e-12, pm=30e-12,
         pcap=.97)
NONE = dict(compute=1., memory=1., power=1., family=1., arch=1.,
            arch_power=1.)
SOME = dict(compute=1.1, memory=.9, power=1.2, family=.95, arch=1.3,
            arch_power=.8)
H100 = dict(peak=1979e12, bandwidth=3350e9, tdp=700.)
T4 = dict(peak=130e12, bandwidth=320e9, tdp=70.)
RESNET = dict(flops=8.22e9, bytes=22.22e6, weights=25.56e6, kernels=175.)
BERT = dict(flops=110.8e9, bytes=156.4e6, weights=672e6, kernels=290.)

CASES = (
    ("large", NONE, dict(H100, **RESNET, batch=2048., element=1., limit=700.)),
    ("effects", SOME, dict(H100, **RESNET, batch=2048., element=1.,
                           limit=700.)),
    ("one", NONE, dict(H100, **RESNET, batch=1., element=1., limit=700.)),
    ("capped", NONE, dict(T4, **RESNET, batch=128., element=1., limit=70.)),
    ("lowered", SOME, dict(H100, **RESNET, batch=512., element=1.,
                           limit=250.)),
    ("raised", NONE, dict(T4, **RESNET, batch=512., element=1., limit=100.)),
    ("in_16_bits", SOME, dict(H100, **BERT, batch=64., element=2.,
                              limit=700.)),
)


def cap(wanted, limit):
    return (wanted ** -8 + limit ** -8) ** (-1 / 8)


def cost(fx, i):
    most = max(i["tdp"], i["limit"])
    x = i["element"] * i["peak"] / (most * 1.5e12)
    compute = (i["batch"] * i["flops"] * x ** C["gamma"]
               / (C["ec"] * i["peak"] * fx["compute"] * fx["family"]))
    memory = (i["batch"] * i["bytes"]
              / (C["em"] * i["bandwidth"] * fx["memory"]))
    time = (fx["arch"] * (compute ** 2 + memory ** 2) ** .5
            + i["weights"] / (C["em"] * i["bandwidth"])
            + i["kernels"] * C["tau"])
    base = C["pa"] * i["tdp"]
    joules = (C["pe"] * i["element"] * i["batch"] * i["flops"]
              + C["pm"] * i["batch"] * i["bytes"])
    power = cap(base + fx["power"] * fx["arch_power"] * joules / time,
                C["pcap"] * most)
    if i["limit"] < i["tdp"]:
        lowered = cap(power, C["pcap"] * i["limit"])
        time *= ((lowered - base) / (power - base)) ** (-1 / 3)
        power = lowered
    return time, power


for name, effects, inputs in CASES:
    print(name, *("%.17g" % value for value in cost(effects, inputs)))
