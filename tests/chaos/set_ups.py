# SPDX-License-Identifier: GPL-3.0-or-later
"""What relations.py derives from the set-up of a training of a language model, and
from the catalogue."""

# What is assumed of a link that the catalogue does not have, the fastest PCIe of
# GPUs, and shares of their rates that collectives reach (language-models.md).
PCIE_3_X16_GB_S, PCIE_5_X16_GB_S = 15.8, 63.1
PCIE_SHARE, NVLINK_SHARE = 0.4, 0.7


def number(row, name):
    """A cell, NaN where it is empty."""
    return float(row[name]) if row.get(name) else float("nan")


def settings_of(row):
    """What is assumed for a training."""
    return dict(a.split("=", 1) for a in row["assumed"].split(";") if a)


def batch_of(row):
    """Sequences of an optimizer step, or NaN where they do not follow."""
    has = dict(settings_of(row), **{k: v for k, v in row.items() if v})
    split = int(has.get("tensor_parallel", 1)) * \
        int(has.get("pipeline_parallel", 1))
    return float(has.get("global_batch", 0)) or number(has, "batch_size") * \
        int(has.get("grad_accum", 1)) * number(has, "n_gpus") / split


def gradients_s(row, params, link):
    """Seconds of a training for which twice as many copies of the network, each
    divided as in that of the row, add up their gradients: in each step a copy
    sends and receives all but its own share of them (ring)."""
    has = settings_of(row)
    split = int(has.get("tensor_parallel", 1)) * \
        int(has.get("pipeline_parallel", 1))
    copies = 2 * number(row, "n_gpus") / split
    element = 4 if row["precision_used"] in ("fp32", "tf32") else 2
    each = 2 * (copies - 1) / copies * element * 1e6 * params / split
    share = PCIE_SHARE if link <= PCIE_5_X16_GB_S else NVLINK_SHARE
    steps = number(row, "tokens") / number(row, "seq_len") / batch_of(row)
    return steps * each / (1e9 * share * link)


def package_share(cpu):
    """The highest limit of a processor's package by its TDP: boards of desktops
    and notebooks set PL2 or PPT above it, those of servers little
    (docs/lab/cpus.md). Memory soldered beside it tells a notebook's: AMD lets a
    Ryzen AI Max of 55 W take 120 W.
    """
    tdp = float(cpu["tdp_w"])
    if cpu["memory_type"].startswith("lpddr") and tdp <= 150:
        return 2.5
    if float(cpu["memory_channels"] or 3) > 2:
        return 1 if cpu["id"].startswith("epyc") else 1.2
    if cpu["id"].startswith("xeon"):
        return 1.3
    return 2.1 if tdp > 60 else 2.5


def most_power(gpu):
    """W: the TDP, or a limit above it."""
    share = package_share(gpu) if gpu["form"] == "socket" else 1
    return max(float(gpu["tdp_w"]) * share,
               float(gpu["power_limit_w"] or 0),
               float(gpu["most_limit_w"] or 0))
