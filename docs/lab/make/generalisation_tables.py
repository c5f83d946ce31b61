# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of two public tables left out, each by one `dlest fit`.

EC-NAS (Bakhtiarifard, Igel, Selvan; MIT): 2,805 runs of 2,532 networks on
CIFAR-10, Quadro RTX 6000. Energy is that of the GPU over the whole run, or its
mean power times the time of training.

timm (Wightman, PyTorch Image Models; Apache-2.0): time of a training step of
799 networks whose MACs and activations are listed, RTX 3090, mixed precision,
channels first. The family of a network is the letters that its name begins
with, without the prefix of where its weights come from (tf_, gluon_, ...):
resnet50d and resnetv2_50 are of the families resnet and resnetv.
"""
import csv
import json
import os
import re
import resource

ABOUT = "Mean absolute percentage error in % of networks that were not in the \
fit, on one thread: seconds of processor time. EC-NAS (Bakhtiarifard, Igel, \
Selvan): 2,805 runs of 2,532 networks on a Quadro RTX 6000, architectures left \
out in 50 sets. timm (Wightman): 799 networks on an RTX 3090, mixed precision, \
channels first, families left out; a family is the letters that a name begins \
with, without a prefix for the origin of weights. `timm.csv` is what \
`docs/lab/make/generalisation_tables.py` writes. Constants of the methods of timm \
were chosen with these folds in view, and so was `elementwise_ratio`, a field \
of the catalogue, as a feature."
ECNAS = "ecnas/ecnas_quadro_rtx6000_runs.csv"
TIMM = "timm/timm_train_rtx3090.csv"
ORIGINS = ("tf_", "gluon_", "legacy_", "adv_", "ens_", "swsl_", "ssl_", "ig_",
           "tv_", "jx_")
NETWORK = ["--define", "macs_g=macs_per_image/1e9", "--define",
           "acts_m=acts_per_image/1e6", "--define", "params_m=params/1e6",
           "--features", "log(macs_g), log(acts_m), log(params_m), n_vertices"]
# A sample takes its arithmetic at 20 TMAC/s and its activations at 60 G/s, as
# far as the features do not correct that.
ROOFLINE = ["--define", "sample_s=epoch_s/batch_size", "--target", "sample_s",
            "--log", "--offset", "macs_g/20000 + acts_m/60000", "--features"]
SIZES = "log(acts_m/macs_g), log(macs_g), log(batch_size)"
OPERATORS = SIZES + ", log(arch.elementwise_ratio)"

# name, table, what is left out, quantity, aim, options of dlest fit
FITS = (
    ("EC-NAS", ECNAS, "arch", "energy of the run", 10, [
        "--define", "energy_j=gpu_energy_J", *NETWORK, "--target", "energy_j",
        "--log", "--method", "krr"]),
    ("EC-NAS", ECNAS, "arch", "power x training time", 10, [
        "--define", "energy_j=gpu_avg_W*train_time_s", *NETWORK, "--target",
        "energy_j", "--log", "--method", "krr"]),
    ("EC-NAS", ECNAS, "arch", "energy of the run", 10, [
        "--define", "energy_j=gpu_energy_J", *NETWORK, "--target", "energy_j",
        "--log", "--method", "ridge"]),
    ("timm", TIMM, "family", "time of a step", 14, [
        "--target", "epoch_s", "--method", "physical", "--with", "none"]),
    ("timm", TIMM, "family", "time of a sample", 14, [
        *ROOFLINE, OPERATORS, "--method", "krr"]),
    ("timm", TIMM, "family", "time of a sample", 14, [
        *ROOFLINE, OPERATORS, "--method", "ridge"]),
    ("timm", TIMM, "family", "time of a sample, sizes alone", 14, [
        *ROOFLINE, SIZES, "--method", "ridge"]),
)


def family(name):
    for origin in ORIGINS:
        name = name.removeprefix(origin)
    return re.match("[a-z]+", name).group()


def write_timm(source, path):
    """The rows in columns of dlest's; an epoch is a step."""
    with open(source, newline="", encoding="utf-8") as f, \
            open(path, "w", newline="", encoding="utf-8") as to:
        out = csv.writer(to, lineterminator="\n")
        out.writerow("arch gpu precision framework batch_size image_px "
                     "train_samples epochs macs_g acts_m params_m epoch_s "
                     "family".split())
        for r in csv.DictReader(f):
            if r["layout"] == "nchw" and r["gmacs"] and r["macts"]:
                batch = int(r["train_batch_size"])
                out.writerow([
                    r["model"], "rtx-3090", "amp", "pytorch", batch,
                    r["train_img_size"], batch, 1, r["gmacs"], r["macts"],
                    r["param_count"], float(r["train_step_time"]) / 1e3,
                    family(r["model"])])


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fit_rows(run, dlest, runs, folder):
    """[(table, left out, quantity, method, groups, rows, pooled MAPE, mean over
    the groups, aim, seconds of processors)], and the commands."""
    rows, commands = [], []
    for name, path, by, quantity, aim, options in FITS:
        source = table = os.path.join(runs, path)
        if not os.access(source, os.R_OK):
            continue
        if path == TIMM:
            table = os.path.join(folder, "timm.csv")
            write_timm(source, table)
        args = [*options, "--cv", "group:" + by]
        before = processor_time()
        cv = json.loads(run(dlest, "fit", table, *args, "--no-model", "-q",
                            "--format", "json"))["fits"][0]["cv"]
        method = options[options.index("--method") + 1]
        rows.append((name, by, quantity, method, len(cv["folds"]),
                     cv["pooled"]["n"], cv["pooled"]["mape"],
                     cv["mean"]["mape"], aim,
                     processor_time() - before))
        commands.append("dlest fit " + os.path.basename(table) + "".join(
            (" \\\n  " if a.startswith("--") else " ") +
            ("'%s'" % a if re.search(r"[ (*]", a) else a) for a in args))
    return rows, commands
