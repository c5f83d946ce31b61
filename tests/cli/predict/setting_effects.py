# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets each setting of each kind of job to an unusual value: the estimate of the
physical method or the memory changes, a warning is new, or the call is refused.

  setting_effects.py DLEST
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

JOBS = {
    "images": "resnet50 --gpu a100 --gpus 2 --dataset imagenet --precision amp",
    "language": "gpt2 --gpu a100 --gpus 2 --tokens 1e9 --batch-size 8",
    "passes": "resnet50 --gpu a100 --phase inference --requests 999 -b 32",
    "tuned": "resnet50 --gpu a100 --phase inference --requests 999 -b 32"
             " --precision int8",
    "served": "llama-2-7b --gpu a100 --gpus 2 --phase inference -b 16"
              " --prompt-tokens 100 --output-tokens 100 --requests 100",
    "diffusion": "stable-diffusion-v1-5 --gpu a100 --train-samples 1e4 -e 1",
    "cpus": "resnet50 --gpu xeon-platinum-8380 --phase inference -b 32"
            " --requests 999",
}
SETTINGS = """--gpu-clock=900 --overhead=0.3 --startup=90s --idle-tail=90s --fine-tune=head
--optimizer=sgd --checkpointing=full --attention=eager --sharding=zero3
--pipeline-parallel=2 --context-parallel=2 --grad-accum=4 --image-px=128
--seq-len=64 --classes=10 --val-samples=77777 --prompt-tokens=400
--output-tokens=400 --denoising-steps=4 --request-rate=3 --epochs=7
--step-time=400ms --throughput=700/s --gpu-power=500 --gpu-util=40
--framework=tensorflow --scaling=strong --cores=4 --loader-workers=1
--set=power_limit_w=150 --set=gpu.tdp_w=150 --set=frozen_base=0.5
--set=host_class=desktop --set=launches=999 --set=params_m=9
--set=gpu.bandwidth_gb_s=100 --set=macs_g=99""".split()
# What a CPU does not have, and what a batch that fits does not need.
EXEMPT = {("cpus", "--set=gpu.tdp_w=150")}


def answer(dlest, job, *more):
    done = subprocess.run([dlest, "predict", "--arch", *job.split(), "--method",
                           "physical", "--format", "json", *more],
                          capture_output=True, text=True)
    if done.returncode:
        return None
    of = json.loads(done.stdout)
    return of["estimates"][0], of["memory_need_gb"], set(of["warnings"])


def main():
    dlest = sys.argv[1]
    before = {name: answer(dlest, job) for name, job in JOBS.items()}

    def silent(pair):
        name, setting = pair
        was, now = before[name], answer(dlest, JOBS[name], setting)
        return now and was[:2] == now[:2] and now[2] <= was[2]

    pairs = [(n, s) for n in JOBS for s in SETTINGS if (n, s) not in EXEMPT]
    with ThreadPoolExecutor(2) as pool:
        found = [p for p, bad in zip(pairs, pool.map(silent, pairs)) if bad]
    for name, setting in found:
        print("no effect and no warning: %s of %s" % (setting, name))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
