#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage of 90 % intervals of fits, on simulated runs whose truth is known.

  simulated_fits.py DLEST METHOD N [SEED]

Each of N simulations draws runs of four networks on three GPUs at three batch
sizes, with effects of the network, the GPU, both together and the batch size,
fits METHOD, and counts the runs at two new batch sizes between those that are
inside. Runs of one fit are not independent: the share is their mean over the
fits, and the test fails where 85 % are 3.1 standard errors of that mean above
it, or 95 % below it (once in 1000 times, if these are right), or an interval is
missing.
"""
import json
import math
import random
import statistics
import subprocess
import sys

GMACS = {"resnet18": 1.82, "resnet50": 4.11, "vgg16": 15.5, "googlenet": 1.5}
TFLOPS = {"v100": 15.7, "a100": 19.5, "t4": 8.1}
BATCHES, NEW = (32, 64, 128), (48, 96)
COLUMNS = ("arch,gpu,batch_size,image_px,train_samples,val_samples,epochs,"
           "energy_j,boundary")


class Truth:
    def __init__(self, rng):
        self.rng = rng
        self.effect = {}

    def of(self, key, sd):
        return self.effect.setdefault(key, self.rng.gauss(0, sd))

    def run(self, arch, gpu, batch):
        samples = self.rng.choice((5000, 10000, 20000, 50000))
        e = math.log(samples * GMACS[arch] * 6 / TFLOPS[gpu])
        e += self.of(arch, .1) + self.of(gpu, .1) + self.of((arch, gpu), .05)
        e += self.of(batch, .4) + self.rng.gauss(0, .03)
        return f"{arch},{gpu},{batch},224,{samples},0,1,{math.exp(e):.6g},gpu"


def write(path, truth, batches, runs):
    with open(path, "w") as f:
        print(COLUMNS, file=f)
        for arch in GMACS:
            for gpu in TFLOPS:
                for batch in batches:
                    for _ in range(runs):
                        print(truth.run(arch, gpu, batch), file=f)


def covered(dlest, method, seed):
    truth = Truth(random.Random(seed))
    write("seen.csv", truth, BATCHES, 3)
    write("new.csv", truth, NEW, 1)
    subprocess.run([dlest, "fit", "seen.csv", "--target", "epoch_energy_j",
                    "--method", method, "-q", "-o", "m.xml", "--format",
                    "json"], check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([dlest, "compare", "new.csv", "--model", "m.xml",
                           "--methods", "pre-epoch", "--bootstrap", "0", "-q",
                           "--format", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(said)["scores"][0]["covered"]


def main():
    dlest, method, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    shares = [covered(dlest, method, seed) for seed in range(first, first + n)]
    mean = statistics.mean(shares)
    se = statistics.stdev(shares) / math.sqrt(n)
    print(f"{method}: {100 * mean:.1f} % inside, standard error "
          f"{100 * se:.1f}, of {n} fits")
    sys.exit(mean + 3.1 * se < .85 or mean - 3.1 * se > .95)


main()
