#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an epoch costs by the formula of src/physics/training/training_cost.h, in numpy.

usage: physical_reference.py

Prints, for every case of tests/unit/test_physical.c, its name, time_s and
energy_j of the GPU, and the targets power_w, epoch_energy_j (with RAM) and
epoch_s with all digits. Constants and effects are those of a joint fit on
published runs, rounded; they are inputs here, so their origin does not matter
to what is compared.

Written from the formula alone, phase by phase, with numpy's power and
logarithm where the library has shortcuts.
"""

import numpy as np

CONSTANTS = {
    "ec": 1.1099, "ec_tf32": 0.734419, "ec_half": 0.4, "em": 0.560272,
    "tau": 9.66866e-06, "lambda": 2.24895e-05, "c0": 0.00118424,
    "beside": 0.47,
    "srv": 1.84966, "t0": 0.275637, "wopt": 11.3664, "ca": 6.96977,
    "pa": 0.0960883, "pb": 0.0522051, "pu": 0.26597, "pf": 1.21749,
    "pm": 0.38122, "pcap": 0.950854, "ptc": 0.714354, "mtc": 0.641,
    "kappa": 0.487044, "ngc_ec": 1.13, "ngc_tf32": 0.46, "ngc_half": 0.71,
    "ngc_em": 0.68, "ngc_tau": 5.3e-06, "ngc_lambda": 7.1e-05,
    "ngc_c0": 0.00123, "ngc_between_32": 1.3, "ngc_between_16": 0.55,
    "ngc_regions": 0.031, "mlperf_between": 0.42, "mlperf_regions": 0.0017,
    "mlperf_half": 1.2, "mlperf_em": 1.07, "mlperf_tau": 0.53,
    "mlperf_lambda": 0.31, "mlperf_c0": 0.61, "tuned_wopt": 9.1,
    "depthwise": 0.05, "xl": 0.71, "xn": 1.7, "xs": 0.029,
    "xk": 0.13, "eager_depthwise": 0.07,
}

EFFECTS = ("host_launch", "host_epoch", "gpu_compute", "gpu_memory",
           "gpu_power", "arch_time", "arch_kernels", "arch_power",
           "framework_launch", "framework_time", "facts_flops", "facts_bytes",
           "facts_kernels", "family_compute", "family_memory")

NONE = dict.fromkeys(EFFECTS, 1.0)

RTX_3090 = dict(peak=35.58e12, bandwidth=936e9, tdp=350.0, limit=350.0,
                gddr=936.0, gb=24.0, has_tensor=True)
RTX_3070 = dict(peak=20.31e12, bandwidth=448e9, tdp=220.0, limit=220.0,
                gddr=448.0, gb=8.0, has_tensor=True)
A40 = dict(peak=37.4e12, bandwidth=696e9, tdp=300.0, limit=300.0,
           gddr=696.0, gb=48.0, has_tensor=True)
V100 = dict(peak=14.13e12, bandwidth=900e9, tdp=250.0, limit=250.0, gddr=0.0,
            gb=16.0, has_tensor=True)
P100 = dict(peak=9.526e12, bandwidth=732e9, tdp=250.0, limit=250.0, gddr=0.0,
            gb=16.0, has_tensor=False)

# Inception v3 on 224 px, base frozen; ResNet-50 on 128 px, an eighth of its
# epochs with a frozen base.
INCEPTION = dict(batch=32, train=3047, val=6097, frozen=1.0,
                 flops=5671746240.0, bytes=147358720.0, bytes_known=True,
                 kernels=310.0, weights=87142272.0, head=419438592.0)
RESNET = dict(batch=32, train=23807, val=10203, frozen=0.125,
              flops=2518155264.0, bytes=104184672.0, bytes_known=True,
              kernels=175.0, weights=94138368.0, head=0.0)

INCEPTION_FX = dict(NONE, host_launch=0.96503, host_epoch=1.30414,
                    gpu_compute=1.14944, gpu_memory=0.957168,
                    gpu_power=1.10829, arch_time=1.01953,
                    arch_kernels=0.992315, arch_power=1.0123)
RESNET_FX = dict(NONE, host_launch=0.71291, host_epoch=0.751769,
                 gpu_compute=1.13237, gpu_memory=1.26358, gpu_power=1.03753,
                 arch_time=0.89488, arch_kernels=0.892686,
                 arch_power=0.992518)
FRAMEWORK_FX = dict(RESNET_FX, framework_launch=1.21, framework_time=0.87)
FACTS_FX = dict(RESNET_FX, facts_flops=1.3, facts_bytes=0.8,
                facts_kernels=1.1)


TUNED_FX = dict(RESNET_FX, facts_flops=1.3, family_compute=0.93,
                family_memory=1.07)


def by_software(c, load):
    """The constants with the values that they have for the software."""
    stack = load["stack"]
    if stack == "eager":
        return c
    own = dict(c, ec=c["ngc_ec"], ec_tf32=c["ngc_tf32"],
               wopt=c["tuned_wopt"])
    for name in ("em", "tau", "lambda", "c0", "ec_half"):
        short = name.replace("ec_", "")
        own[name] = c["ngc_" + short]
        if stack == "mlperf":
            own[name] *= c["mlperf_" + short]
    own["kappa"] *= np.clip((1 - load["limit"] / load["tdp"]) * 4, 0, 1)
    return own


def between(c, load):
    """Share of the traffic between layers that is left."""
    if load["stack"] == "mlperf":
        return c["mlperf_between"]
    if load["stack"] == "eager":
        return 1.0
    return c["ngc_between_16" if load["in_tensor"] == 2 else "ngc_between_32"]


def together(c, load, alone, trained, late):
    """Seconds of a step with the other GPUs; late: waited by doubling of those
    in the node, for kernels that start late."""
    n = load["n_gpus"]
    if n == 1 or trained == 0:
        return alone
    inside = min(n, load["per_node"])
    sent = 2 * trained * load["gradients"]
    exchange = (sent * (inside - 1) / inside / (c["xl"] * load["link"])
                + sent * (n - inside) / n / (c["xn"] * load["network"]))
    both = np.power(alone ** 4 + exchange ** 4, 0.25)
    return both * (1 + c["xs"] * np.log2(n)) + late * np.log2(inside)


def step(fp32, fx, load, mode):
    """Seconds of one step, with other GPUs and alone, and watts."""
    c = by_software(fp32, load)
    m = 3.0 if mode == "full" else 1.0
    moved = (load["bytes"] * (1.0 if load["bytes_known"] else c["ca"])
             + between(c, load) * load["between"])
    trained = {"full": load["weights"], "frozen": load["head"],
               "validation": 0.0}[mode]
    formats = [("in_tensor", "flops", "peak")]
    if load["other_peak"]:
        formats.append(("other_in_tensor", "other_flops", "other_peak"))
    arithmetic = min(
        load[flops] / (c[("ec", "ec_tf32", "ec_half")[load[which]]]
                       * load[peak]) for which, flops, peak in formats)
    kernels = m * load["kernels"] * fx["arch_kernels"] * fx["facts_kernels"]
    samples = m * fx["arch_time"] * fx["framework_time"] * load["batch"]
    em = c["em"] * (1.0 if load["has_tensor"] else c["mtc"])
    rate = em * load["bandwidth"] * fx["gpu_memory"] * fx["family_memory"]
    t_c = (samples * arithmetic * fx["facts_flops"]
           / (fx["gpu_compute"] * fx["family_compute"]))
    t_m = samples * moved * fx["facts_bytes"] / rate
    t_w = trained * c["wopt"] / rate
    t_k = kernels * c["tau"] / load["clock"]
    dw = c["eager_depthwise" if load["stack"] == "eager" else "depthwise"]
    t_d = samples * load["depthwise"] / (dw * load["plain"])
    proposals = c["mlperf_regions" if load["stack"] == "mlperf"
                  else "ngc_regions"] * load["regions"] * load["batch"]
    launches = kernels * (1 - load["beside"] / load["kernels"]
                          * (1 - c["beside"]))
    t_h = ((launches * c["lambda"] + c["c0"] + proposals) * fx["host_launch"]
           * fx["framework_launch"] * (c["srv"] if load["server"] else 1.0))
    t_g = t_c + t_m + t_w + t_k + t_d
    t_0 = np.hypot(t_g, t_h)
    g = fx["gpu_power"] * fx["arch_power"]
    ptc = 1.0 if load["has_tensor"] else c["ptc"]
    base = c["pa"] * load["tdp"] + c["pb"] * load["gddr"]
    dyn = load["tdp"] * ptc * (c["pu"] * t_g + c["pf"] * fp32["ec"] * t_c
                               + c["pm"] * em * (t_m + t_w)) / t_0
    wanted = (base + dyn) * g
    most = c["pcap"] * np.minimum(load["tdp"], load["limit"])
    power = np.power(np.power(wanted, -8.0) + np.power(most, -8.0), -0.125)
    # 14 Gbit/s on each of the 32 pins of a chip of 2 GB, one or two a channel
    chips = np.clip(load["gb"] / 2 * 32 * 14 / 8, load["gddr"],
                    2 * load["gddr"])
    low = 0.6 * g * (c["pa"] * load["tdp"] + c["pb"] * chips)
    r = np.clip((power - low) / (wanted - low), 0.02, 1.0)
    slow = np.exp(c["kappa"] * np.log(r) ** 2)
    alone = np.hypot(t_g * slow, t_h)
    late = c["xk"] * t_k if load["stack"] == "ngc" else 0.0
    return together(c, load, alone, trained, late), alone, power


def batches(samples, load):
    """The sizes of the batches of a GPU and how often each occurs."""
    own = samples / load["n_gpus"]
    if load["n_gpus"] > 1:
        own = np.ceil(own)
    left = own % load["batch"]
    return [(load["batch"], (own - left) / load["batch"]),
            (left, 1.0 if left else 0.0)]


def epoch(c, fx, load):
    """Seconds, and joules of a GPU."""
    phases = []
    for size, n in batches(load["train"], load):
        phases += [("full", size, n * (1.0 - load["frozen"])),
                   ("frozen", size, n * load["frozen"]),
                   ("validation", size, n * load["again"])]
    phases += [("validation", size, n)
               for size, n in batches(load["val"], load)]
    time = energy = 0.0
    for mode, size, steps in phases:
        if steps > 0:
            t, alone, p = step(c, fx, dict(load, batch=size), mode)
            time += steps * t
            # A GPU that waits draws half.
            energy += steps * p * (alone + (t - alone) / 2)
    fixed = 0.0 if load["mid_run"] else c["t0"] * fx["host_epoch"]
    base = ((c["pa"] * load["tdp"] + c["pb"] * load["gddr"])
            * fx["gpu_power"] * fx["arch_power"])
    return time + fixed, energy + fixed * base


def case(net, gpu, **more):
    load = dict(net, **gpu)
    load.update(server=False, mid_run=False, in_tensor=0, stack="eager",
                n_gpus=1, beside=0.0, between=0.0, depthwise=0.0, plain=1.0, regions=0.0,
                clock=1.0, again=0.0, other_peak=0.0)
    load.update(more)
    return load


CASES = (
    ("inception", INCEPTION_FX, 5.0, case(INCEPTION, RTX_3090, server=True,
                                          in_tensor=1)),
    ("inception_alone", NONE, 5.0, case(INCEPTION, RTX_3090, server=True,
                                        in_tensor=1)),
    ("resnet", RESNET_FX, 5.0, case(RESNET, RTX_3070, in_tensor=1)),
    ("resnet_alone", NONE, 5.0, case(RESNET, RTX_3070, in_tensor=1)),
    # The limit binds, and binds so that clocks are at their lowest.
    ("capped", RESNET_FX, 5.0, case(RESNET, RTX_3070, limit=120.0)),
    ("floored", NONE, 0.0, case(RESNET, RTX_3070, limit=40.0)),
    ("limit_over_tdp", NONE, 0.0, case(RESNET, RTX_3070, limit=300.0)),
    ("fp32", NONE, 5.0, case(RESNET, RTX_3070)),
    ("half", NONE, 0.0, case(RESNET, V100, peak=112e12, in_tensor=2,
                             bytes=52092336.0)),
    ("no_tensor", NONE, 0.0, case(RESNET, P100, server=True)),
    # Outputs of the layers alone are known, and facts are in doubt.
    ("outputs", FACTS_FX, 5.0, case(RESNET, RTX_3070, bytes=13828096.0,
                                    bytes_known=False)),
    ("mid_run", RESNET_FX, 0.0, case(RESNET, RTX_3070, mid_run=True)),
    # Less than a batch is a step of its own.
    ("part", NONE, 0.0, case(RESNET, RTX_3070, train=20.0, val=8.0)),
    # TF32 that plain FP32 beats, and 16 bits that TF32 does not.
    ("other", RESNET_FX, 0.0, case(RESNET, RTX_3070, in_tensor=1,
                                   other_peak=18.1e12, other_in_tensor=0,
                                   other_flops=2.1e9)),
    ("not_other", RESNET_FX, 0.0, case(RESNET, V100, peak=112e12, in_tensor=2,
                                       other_peak=20.31e12, other_in_tensor=1,
                                       other_flops=2.6e9)),
    # Activations that are computed again.
    ("again", NONE, 0.0, case(RESNET, RTX_3070, again=0.25, frozen=0.0)),
    ("no_validation", NONE, 0.0, case(RESNET, RTX_3070, val=0.0,
                                      frozen=0.0)),
    ("framework", FRAMEWORK_FX, 5.0, case(RESNET, RTX_3070, in_tensor=1,
                                          beside=61.0)),
    ("ngc", TUNED_FX, 5.0, case(RESNET, RTX_3090, in_tensor=1, stack="ngc",
                                n_gpus=8, per_node=8, link=300e9,
                                network=12.5e9, gradients=1, between=6.1e7,
                                depthwise=1.3e8, plain=35.58e12, clock=.8)),
    ("mlperf", TUNED_FX, 0.0, case(RESNET, RTX_3070, in_tensor=2, limit=180.0,
                                   stack="mlperf", n_gpus=32, per_node=8,
                                   link=300e9, network=25e9, gradients=0.5,
                                   between=4.7e7, regions=1.0, clock=1.25)),
    ("containers", TUNED_FX, 0.0, case(RESNET, V100, in_tensor=2, stack="ngc",
                                       between=4.7e7, regions=1.0)),
    ("three", NONE, 5.0, case(RESNET, RTX_3070, in_tensor=1, n_gpus=3,
                              per_node=2, link=16e9, network=1.25e9,
                              gradients=1)),
    ("depthwise", RESNET_FX, 5.0, case(RESNET, RTX_3070, in_tensor=1,
                                       depthwise=3e8, plain=20.31e12)),
    # Twice the chips of its bus.
    ("chips", RESNET_FX, 0.0, case(RESNET, A40, limit=125.0)),
)


def main():
    for name, fx, ram_w, load in CASES:
        time, energy = epoch(CONSTANTS, fx, load)
        print('    {"%s", %.17g, %.17g,' % (name, time, energy))
        print('     %.17g, %.17g, %.17g},' % (energy / time,
                                             load["n_gpus"] * energy + ram_w * time,
                                             time))


if __name__ == "__main__":
    main()
