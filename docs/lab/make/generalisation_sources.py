# SPDX-License-Identifier: GPL-3.0-or-later
"""How far `physical` is off across laboratories.

One table holds the means of all sources; a source, or a GPU, is left out of
it, and nothing else is learnt from. Times stand for the energies of sources
that measured no power; where both are there, the energy is their product.
"""

import csv
import math
import os

from generalisation_intervals import COVERAGE, interval, scaled

FACTOR = 1.5
RAM_W = 5  # in the energies of an epoch
# Half-width by which the time of another laboratory differs, of the logarithm
# (SOURCE_SD in src/model/predictor.c).
OF_SOURCE = 1.645 * .15


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
    """{key of the row: (source, fold, log(measured / predicted), spread)}."""
    return {tuple(r[c] for c in ("source", "config", "gpu", "arch", "dataset",
                                 "batch_size", "image_px", "power_limit_w",
                                 "macs_g", "precision", "launches", "params_m")
                  ): (r["source"], r["fold"],
                      math.log(float(r["measured"]) / float(r["predicted"])),
                      float(r["spread"]))
            for r in rows}


def energies(powers, times, spreads):
    """The product of both, where a row has both. spreads: of energies."""
    return {k: (v[0], v[1], v[2] + times[k][2], spreads[k][3])
            for k, v in powers.items() if k in times}


def with_energies(table, folder):
    """A copy of the table in which power x time is the energy of rows without
    one: energies have spreads there."""
    with open(table, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    path = os.path.join(folder, "energies.csv")
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, list(rows[0]))
        out.writeheader()
        for row in rows:
            if row["gpu_power_w"] and row["epoch_s"]:
                row["epoch_energy_j"] = row["epoch_energy_j"] or repr(
                    (float(row["gpu_power_w"]) + RAM_W) * float(row["epoch_s"]))
            out.writerow(row)
    return path


def mape(values):
    return sum(abs(math.exp(-x) - 1) for x in values) / len(values)


def within(values, low, high):
    return sum(low <= x <= high for x in values) / len(values)


def bounds_of_both(groups):
    """Of a network and a GPU that are both new, in multiples of the spread of a
    run with both."""
    ends = [interval([scaled(g) for g in groups[c]], COVERAGE)
            for c in ("arch", "gpu")]
    return min(low for low, _ in ends), max(high for _, high in ends)


def grouped(found, which, value=lambda found: found[2]):
    groups = {}
    for row in found.values():
        groups.setdefault(row[which], []).append(value(row))
    return groups


def of_all(groups):
    """The groups, and all of them as one more."""
    return [*groups.items(), ("all", [x for v in groups.values() for x in v])]


def source_rows(run, dlest, table, residuals, folder):
    """[(source, quantity, rows, MAPE, within the factor, inside)]."""
    powers, times, spreads = (
        logarithms(predictions(run, dlest, t, target, "source", folder))
        for t, target in ((table, "gpu_power_w"), (table, "epoch_s"),
                          (with_energies(table, folder), "epoch_energy_j")))
    both = energies(powers, times, spreads)
    limits = {t: bounds_of_both({c: residuals[t, c] for c in ("arch", "gpu")})
              for t in ("gpu_power_w", "epoch_energy_j", "epoch_s")}
    edge = math.log(FACTOR)
    rows = []
    for name, found, target in (("power", powers, "gpu_power_w"),
                                ("energy", both, "epoch_energy_j"),
                                ("time", times, "epoch_s")):
        more = OF_SOURCE if name == "time" else 0
        relative = dict(of_all(grouped(found, 0, lambda row: row[2] / math.hypot(
            row[3], more / limits[target][row[2] > 0]))))
        for source, values in of_all(grouped(found, 0)):
            rows.append((source, name, len(values), mape(values),
                         within(values, -edge, edge),
                         within(relative[source], *limits[target])))
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
