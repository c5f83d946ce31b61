# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies of generated images as ML.ENERGY measured them (v2: A100, H100; 25
denoising steps with guidance), against those of dlest.

usage: generated_images.py DLEST TABLE
Prints the number of means, the median error, and the shares within a factor of 1.5
and inside the 90 % interval.
"""

import csv
import io
import math
import statistics
import subprocess
import sys

# Checkpoint: network and side of the image that its pipeline makes.
NETWORKS = {
    "prompthero/openjourney-v4": ("stable-diffusion-v1-5", 512),
    "stabilityai/stable-diffusion-2-1": ("stable-diffusion-v2", 768),
    "stabilityai/stable-diffusion-xl-base-1.0": ("stable-diffusion-xl", 1024),
    "stabilityai/sdxl-turbo": ("stable-diffusion-xl", 512),
    "stabilityai/stable-diffusion-3-medium-diffusers":
        ("stable-diffusion-3-medium", 1024)}
COLUMNS = ("arch", "image_px", "gpu", "phase", "precision", "batch_size",
           "requests", "denoising_steps")


def main(dlest, table):
    with open(table, encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["Model"] in NETWORKS]
    asked = io.StringIO()
    writer = csv.writer(asked)
    writer.writerow(COLUMNS)
    for r in rows:
        writer.writerow((*NETWORKS[r["Model"]], r["GPU"], "inference", "fp16",
                         r["Batch size"], r["Batch size"],
                         r["Denoising steps"]))
    out = subprocess.run(
        [dlest, "predict", "--input", "-", "--method", "physical", "--quiet",
         "--format", "csv"], input=asked.getvalue(), capture_output=True,
        check=True, text=True).stdout
    errors, inside = [], 0
    for r, e in zip(rows, csv.DictReader(io.StringIO(out)), strict=True):
        measured = float(r["Energy/image (J)"]) * float(r["Batch size"])
        errors.append(abs(math.log(float(e["energy_j"]) / measured)))
        inside += float(e["low_j"]) <= measured <= float(e["high_j"])
    print(len(errors), "%.3f" % math.expm1(statistics.median(errors)),
          "%.3f" % (sum(x < math.log(1.5) for x in errors) / len(errors)),
          "%.3f" % (inside / len(errors)))


if __name__ == "__main__":
    main(*sys.argv[1:])
