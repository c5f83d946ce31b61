# SPDX-License-Identifier: GPL-3.0-or-later
"""How far `physical` is off across laboratories.

One table holds the means of all sources; a source, or a GPU, is left out of
it, and nothing else is learnt from. Times stand for the energies of sources
that measured no power; where both are there, the energy is their product.
"""

import csv
import math
import os

from generalisation_intervals import COVERAGE, interval

FACTOR = 1.5


def predictions(run, dlest, table, target, by, folder):
    """[row] of the table, with what each is predicted."""
    path = os.path.join(folder, "predictions.csv")
    run(dlest, "fit", table, "--alias", "mobilenet_v2=mobilenetv2_050",
        "--method", "physical", "--with", "none", "--target", target, "--cv",
        "group:" + by, "--predictions", path, "-q", "--no-model", "--format",
        "json")
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def logarithms(rows):
    """{key of the row: (source, fold, log(measured / predicted))}."""
    return {tuple(r[c] for c in ("source", "config", "gpu", "arch", "dataset",
                                 "batch_size", "image_px", "power_limit_w",
                                 "macs_g", "precision", "launches", "params_m")
                  ): (r["source"], r["fold"],
                      math.log(float(r["measured"]) / float(r["predicted"])))
            for r in rows}


def energies(powers, times):
    """The product of both, where a row has both."""
    return {k: (v[0], v[1], v[2] + times[k][2])
            for k, v in powers.items() if k in times}


def mape(values):
    return sum(abs(math.exp(-x) - 1) for x in values) / len(values)


def within(values, low, high):
    return sum(low <= x <= high for x in values) / len(values)


def bounds_of_both(groups):
    """Of a network and a GPU that are both new: squares add up."""
    ends = [interval([g for _, g in groups[c]], COVERAGE)
            for c in ("arch", "gpu")]
    return (-math.hypot(*(min(low, 0) for low, _ in ends)),
            math.hypot(*(max(high, 0) for _, high in ends)))


def grouped(found, which):
    groups = {}
    for value in found.values():
        groups.setdefault(value[which], []).append(value[2])
    return groups


def source_rows(run, dlest, table, residuals, folder):
    """[(source, quantity, rows, MAPE, within the factor, inside)]."""
    powers, times = (logarithms(predictions(run, dlest, table, t, "source",
                                            folder))
                     for t in ("gpu_power_w", "epoch_s"))
    both = energies(powers, times)
    limits = {t: bounds_of_both({c: residuals[t, c] for c in ("arch", "gpu")})
              for t in ("gpu_power_w", "epoch_energy_j")}
    edge = math.log(FACTOR)
    rows = []
    for name, found, target in (("power", powers, "gpu_power_w"),
                                ("energy", both, "epoch_energy_j"),
                                ("time", times, "epoch_energy_j")):
        every = grouped(found, 0)
        for source, values in [*every.items(),
                               ("all", [x for v in every.values()
                                        for x in v])]:
            rows.append((source, name, len(values), mape(values),
                         within(values, -edge, edge),
                         within(values, *limits[target])))
    return rows


def gpu_rows(run, dlest, table, folder, only):
    """[(GPU, powers, MAPE, times, MAPE)] of a source's GPUs."""
    powers, times = (
        {k: v for k, v in logarithms(predictions(
            run, dlest, table, t, "gpu", folder)).items() if v[0] == only}
        for t in ("gpu_power_w", "epoch_s"))
    power, time = grouped(powers, 1), grouped(times, 1)
    rows = [(gpu, len(power.get(gpu, [])),
             mape(power[gpu]) if gpu in power else None, len(values),
             mape(values)) for gpu, values in time.items()]
    return rows + [("all", len(powers),
                    mape([v[2] for v in powers.values()]) if powers else None,
                    len(times), mape([v[2] for v in times.values()]))]
