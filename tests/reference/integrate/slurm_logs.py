# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of Slurm's accounting, sacct(1) and sstat(1) with --parsable2."""

import re

from readings import time_ns

NOT_MEASURED = {2.0**32 - 1, 2.0**32 - 2, 2.0**64}


def _energy(row):
    """J, 0 if unknown. Suffixes are powers of 1000."""
    text = row.get("ConsumedEnergyRaw") or row.get("ConsumedEnergy") or "0"
    power = "KMGTP".find(text[-1]) + 1
    joules = float(text[:-1] if power else text) * 1000**power
    return 0 if joules in NOT_MEASURED else joules


def _elapsed_s(row):
    if row.get("ElapsedRaw"):
        return float(row["ElapsedRaw"])
    days, clock = re.match(r"(?:(\d+)-)?(.*)", row["Elapsed"]).groups()
    hours, minutes, seconds = map(int, clock.split(":"))
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds


def _job_energy(job, steps, n_nodes):
    """The steps of a job overlap. In this order: .extern (all nodes, all the
    time), .batch of a job on one node, the larger of .batch (first node, all
    the time) and the sum of the numbered steps (all nodes) where there are
    both, the job's own energy, what there is."""
    numbered = sum(e for name, e in steps.items()
                   if name not in ("extern", "batch"))
    batch = steps.get("batch", 0)
    if steps.get("extern"):
        return steps["extern"]
    if batch and n_nodes == 1:
        return batch
    if batch and numbered:
        return max(batch, numbered)
    return job or batch or numbered or None


def _rows(lines):
    names = None
    for line in lines:
        cells = line.split("|")
        if "JobID" in cells:
            names = cells
        else:
            row = dict(zip(names, cells))
            row["job"], _, row["step"] = row["JobID"].partition(".")
            yield row


def sacct(lines):
    """One run per job that ran."""
    jobs = {}
    for row in _rows(lines):
        job = jobs.setdefault(row["job"], {"steps": {}})
        if row["step"]:
            job["steps"][row["step"]] = _energy(row)
            continue
        gpus = re.search(r"gres/gpu=(\d+)", row.get("AllocTRES", ""))
        job.update(own=_energy(row), seconds=_elapsed_s(row),
                   nodes=int(row.get("NNodes") or 0),
                   pending=row.get("State") == "PENDING",
                   gpus=int(gpus.group(1)) if gpus else None)
    return [{"energy_j": _job_energy(job["own"], job["steps"], job["nodes"]),
             "gpu_energy_j": None, "duration_s": job["seconds"],
             "n_gpus": job["gpus"]}
            for job in jobs.values() if not job["pending"]]


def sstat(lines, _interval=1):
    """The energies of a job's steps over time: counters of its node."""
    samples = {}
    for row in _rows(lines):
        at = samples.setdefault((row["job"], time_ns(row["Timestamp"])), {})
        at[row["step"]] = _energy(row)
    for (job, ns), steps in samples.items():
        yield ns, "node", job, None, _job_energy(0, steps, None) or 0
