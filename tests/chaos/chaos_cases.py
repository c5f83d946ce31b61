# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that chaos.py attacks, each with its input files.

A case is run in an empty folder that holds its files and, as config/, the
configuration folder. Inputs come from data/examples and tests/fuzz/corpus.
"""

import dataclasses
import os
import random


@dataclasses.dataclass
class Case:
    """A command line, and the files it reads: {name: content}.

    kinds names the structure of each file that may be changed (a key of
    chaos_mutations.KINDS); a file without a kind stays as it is.
    """
    name: str
    args: list
    files: dict
    kinds: dict
    stdin: bytes = b""


class Corpus:
    """Small inputs of every kind, read from a source tree."""

    def __init__(self, source):
        self.source = source

    def read(self, path):
        """The bytes of a file of the source tree."""
        with open(os.path.join(self.source, path), "rb") as f:
            return f.read()

    def folder(self, path):
        """The paths of the files in a folder, in order."""
        whole = os.path.join(self.source, path)
        return [os.path.join(path, name) for name in sorted(os.listdir(whole))]


# As dlest fit --predictions writes it.
HELD_OUT = (b"run_id,arch,gpu,config,target,unit,measured,predicted,low,high\n"
            b"0,resnet18,a100,c0,energy_j,J,100.0,95.0,80.0,120.0\n"
            b"1,resnet50,t4,c1,energy_j,J,110.0,106.0,89.0,132.0\n"
            b"2,vgg16,t4,c2,energy_j,J,310.0,290.0,241.0,370.0\n")


# As dlest fit --means and dlest report --totals write them.
MEANS = (b"config,arch,gpu,batch_size,epochs,gpu_power_w,gpu_power_w_sd,"
         b"gpu_power_w_log,gpu_power_w_log_sd,n\n"
         b"a,resnet50,a100,32,2,201.5,2.5,5.305,0.0125,4\n"
         b"b,resnet50,t4,64,2,60.25,1.5,4.098,0.025,3\n"
         b"c,vgg16,t4,32,2,66,,4.189654742026425,,1\n"
         b"d,vgg16,a100,128,2,240,4,5.48,0.0165,2\n")
TOTALS = (b"totals,user,jobs,measured_jobs,estimated_jobs,unknown_jobs,"
          b"at_tdp_jobs,duration_s,duration_s_rest,gpu_s,gpu_s_rest,"
          b"known_use_gpu_s,known_use_gpu_s_rest,idle_gpu_s,idle_gpu_s_rest,"
          b"energy_j,energy_j_rest,measured_energy_j,measured_energy_j_rest,"
          b"boundary,name,unit,of,source,year,value\n"
          b"group,ann,3,1,1,1,1,100,0,200,0,150,0,50,0,1e6,1e-12,5e5,0,node,"
          b",,,,,\n"
          b"group,,1,0,1,0,0,10,0,0,0,0,0,0,0,1e3,0,0,0,node,,,,,,\n"
          b"constant,,,,,,,,,,,,,,,,,,,,tdp_w,W,T4,a sheet,2019,70\n")


def table_cases(corpus):
    """Commands that read tables of runs."""
    runs = corpus.read("data/examples/runs.csv")
    plan = corpus.read("data/examples/plan.csv")
    measured = {"runs.csv": runs}
    table = {"runs.csv": "table"}
    yield Case("predict-input", ["predict", "--input", "plan.csv", "-f", "csv"],
               {"plan.csv": plan}, {"plan.csv": "table"})
    yield Case("fit-ols",
               ["fit", "runs.csv", "--target", "gpu_power_w", "--features",
                "log(macs_g),log(batch_size),gpu.tdp_w", "--method", "ols",
                "--cv", "group:arch", "-f", "json", "-o", "report.json"],
               measured, table)
    yield Case("fit-means",
               ["fit", "means.csv", "--target", "gpu_power_w", "--features",
                "log(batch_size)", "--method", "ridge", "--log", "-f", "json",
                "-o", "model.xml"],
               {"means.csv": MEANS}, {"means.csv": "table"})
    yield Case("report-totals", ["report", "totals.csv", "-f", "json"],
               {"totals.csv": TOTALS}, {"totals.csv": "table"})
    yield Case("fit-krr",
               ["fit", "runs.csv", "--target", "energy_j", "--log", "--features",
                "log(macs_g),log(batch_size)", "--method", "krr", "--cv",
                "kfold:3", "--no-model", "-f", "json"], measured, table)
    yield Case("fit-model",
               ["fit", "runs.csv", "--target", "energy_j", "--features",
                "macs_g,batch_size", "--cv", "none", "-o", "model.xml"],
               measured, table)
    yield Case("compare", ["compare", "runs.csv", "--bootstrap", "100", "--seed",
                           "7", "-f", "json"], measured, table)
    yield Case("calibrate", ["calibrate", "runs.csv", "-o", "mine.xml"],
               measured, table)
    yield Case("recommend-table",
               ["recommend", "--table", "runs.csv", "-f", "json"], measured,
               table)
    yield Case("plot-fit", ["plot", "fit", "held-out.csv", "--script"],
               {"held-out.csv": HELD_OUT}, {"held-out.csv": "table"})


def log_cases(corpus, importers):
    """extract, step and report on every kind of log; importers names those of
    extract --from."""
    importers = {*importers, "epochs"}
    for folder in corpus.folder("tests/fuzz/corpus"):
        kind = os.path.basename(folder)
        if kind not in importers:
            continue
        for path in corpus.folder(folder):
            name = "extract-%s-%s" % (
                kind, os.path.splitext(os.path.basename(path))[0])
            yield Case(name, ["extract", "log.txt", "--from", kind, "-f", "json"]
                       if kind != "epochs" else
                       ["extract", "gpu.csv", "log.txt", "--epochs", "-f",
                        "json"],
                       {"log.txt": corpus.read(path),
                        "gpu.csv": corpus.read("data/examples/gpu-7.csv")},
                       {"log.txt": "log"})
    gpu = {"gpu-7.csv": corpus.read("data/examples/gpu-7.csv"),
           "memory-7.csv": corpus.read("data/examples/memory-7.csv")}
    kinds = {"gpu-7.csv": "log", "memory-7.csv": "log"}
    yield Case("extract-joined", ["extract", *gpu, "-f", "json"], gpu, kinds)
    yield Case("extract-csv", ["extract", *gpu, "-f", "csv", "-o", "out.csv"],
               gpu, kinds)
    yield Case("extract-epochs", ["extract", *gpu, "--epochs", "-f", "json"],
               gpu, kinds)
    yield Case("step-log", ["step", *gpu, "--epochs", "90", "-f", "json"], gpu,
               kinds)
    yield Case("plot-trace", ["plot", "trace", "gpu-7.csv", "--script"], gpu,
               kinds)
    epochs = {"epochs.csv": corpus.read("data/examples/epochs.csv")}
    yield Case("step-table", ["step", "epochs.csv", "--epochs", "40", "-f",
                              "json"], epochs, {"epochs.csv": "table"})
    jobs = {"sacct.txt": corpus.read("data/examples/sacct.txt")}
    yield Case("report", ["report", "sacct.txt", "-f", "json"], jobs,
               {"sacct.txt": "pipes"})
    yield Case("report-users", ["report", "sacct.txt", "--by", "user,month",
                                "-f", "csv", "-o", "users.csv"], jobs,
               {"sacct.txt": "pipes"})
    settings = dict(gpu)
    settings["settings.csv"] = (b"path,arch,batch_size,epochs\n"
                                b"gpu-7.csv,resnet50,64,6\n")
    yield Case("extract-settings",
               ["extract", "gpu-7.csv", "--settings", "settings.csv", "-f",
                "json"], settings, {"settings.csv": "table"})


def xml_cases(corpus):
    """Catalogues of the user's own and model files."""
    card = {"lab-card.xml": corpus.read("data/examples/lab-card.xml")}
    yield Case("check", ["check", "lab-card.xml", "-f", "json"], card,
               {"lab-card.xml": "xml"})
    own = {"config/dlest/card.xml": card["lab-card.xml"]}
    kinds = {"config/dlest/card.xml": "xml"}
    yield Case("predict-own", ["predict", "--arch", "resnet50", "--gpu",
                               "lab-card", "-f", "json"], own, kinds)
    yield Case("list-own", ["list", "gpus", "--where", "tdp_w > 270", "-f",
                            "csv", "-o", "gpus.csv"], own, kinds)
    yield Case("show-own", ["show", "gpu", "lab-card", "-f", "json"], own, kinds)
    model = {"pre.xml": corpus.read("models/pre.xml")}
    yield Case("predict-model",
               ["predict", "--arch", "vgg16", "--gpu", "rtx-3070", "--model",
                "pre.xml", "--method", "pre-epoch,pre-power", "-f", "json"],
               model, {"pre.xml": "xml"})
    yield Case("check-model", ["check", "pre.xml", "-f", "json"], model,
               {"pre.xml": "xml"})


def onnx_cases(corpus):
    """Models of the exchange format, as binary files."""
    yield Case("describe", ["describe", "net.onnx", "-f", "json"],
               {"net.onnx": corpus.read("data/examples/tiny-cnn.onnx")},
               {"net.onnx": "bytes"})
    for path in corpus.folder("tests/fuzz/corpus/onnx"):
        name = os.path.splitext(os.path.basename(path))[0]
        yield Case("describe-" + name, ["describe", "net.onnx", "-f", "json"],
                   {"net.onnx": corpus.read(path)}, {"net.onnx": "bytes"})


def plain_cases():
    """Commands without an input file."""
    yield Case("predict", ["predict", "--arch", "resnet50", "--gpu", "a100",
                           "-f", "json", "-o", "estimate.json"], {}, {})
    yield Case("predict-text", ["predict", "--arch", "resnet50", "--gpu",
                                "a100"], {}, {})
    yield Case("predict-tdp", ["predict", "--gpu", "a100", "--duration", "2h",
                               "--method", "tdp", "-f", "json"], {}, {})
    yield Case("predict-node",
               ["predict", "--arch", "vgg16", "--node", "dgx-a100", "--parts",
                "-f", "json"], {}, {})
    yield Case("predict-sweep",
               ["predict", "--arch", "resnet50,vgg16", "--gpu", "a100,t4",
                "--batch-size", "32,64", "-f", "csv", "-o", "sweep.csv"], {}, {})
    yield Case("predict-serve",
               ["predict", "--arch", "llama-2-7b", "--gpu", "a100", "--phase",
                "inference", "--prompt-tokens", "500", "--output-tokens", "200",
                "-f", "json"], {}, {})
    yield Case("list-archs", ["list", "archs", "-f", "json"], {}, {})
    yield Case("show-arch", ["show", "arch", "resnet50", "-f", "json"], {}, {})
    yield Case("recommend", ["recommend", "--arch", "resnet50", "--gpu",
                             "a100,t4", "-f", "json"], {}, {})


def all_cases(source, importers):
    """Every case, in a fixed order."""
    corpus = Corpus(source)
    return [*table_cases(corpus), *log_cases(corpus, importers),
            *xml_cases(corpus), *onnx_cases(corpus), *plain_cases()]


# Words that option values and formulas are made from.
HOSTILE = ["", "0", "-1", "1e308", "1e-320", "nan", "inf", "-inf", "0x10",
           "1e999", "999999999999999999999", "1,2", "1;2", "'", '"', "`", "\\",
           "%s%n", "../../etc/passwd", "/dev/null", "/", ".", "-", "--", "=",
           "a=b", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\xe9", "\n",
           "a" * 5000, "1" * 400, "5%", "3h", "90m", "-3h", "1e400h",
           "resnet50", "a100", "all", "group:", "group:arch", "kfold:0",
           "kfold:1e9", "mig:1g.5gb", "2024-02-30", "9999-12-31", "0..1",
           "9..1", "log(", "1/0", "(((((((((", "0/0", "a100,", ",,,"]


def formula(rng, depth=0):
    """A random formula, valid or nearly so."""
    names = ["tdp_w", "memory_gb", "name", "peak_fp32_tflops", "year",
             "`no such`", "vendor", "x"]
    if depth > 5 or rng.random() < 0.3:
        return rng.choice([rng.choice(names), str(rng.randint(-9, 9999)),
                           "'text'", "1e308", "0", "nan"])
    shape = rng.randrange(5)
    a, b = formula(rng, depth + 1), formula(rng, depth + 1)
    if shape == 0:
        return "(%s)" % a
    if shape == 1:
        return "%s %s %s" % (a, rng.choice(
            ["+", "-", "*", "/", "^", "<", ">=", "==", "!=", "&&", "||", ","]), b)
    if shape == 2:
        return "%s(%s, %s)" % (rng.choice(
            ["max", "min", "log", "exp", "sqrt", "coalesce", "if", "none"]), a, b)
    if shape == 3:
        return rng.choice(["!", "-", "+"]) + a
    return "%s(%s" % (rng.choice(["log", "sqrt", "abs"]), a)


def option_case(rng, options):
    """A command with random options; options: {command: [(name, has value)]}."""
    command = rng.choice(sorted(options))
    args = [command]
    if rng.random() < 0.7:
        args += {"predict": ["--arch", "resnet50", "--gpu", "a100"],
                 "recommend": ["--arch", "resnet50", "--gpu", "a100"],
                 "list": ["gpus"], "show": ["gpu", "a100"],
                 "step": ["epochs.csv", "--epochs", "20"],
                 "report": ["sacct.txt"], "extract": ["gpu-7.csv"],
                 "describe": ["tiny-cnn.onnx"], "check": ["lab-card.xml"],
                 "plot": ["trace", "gpu-7.csv"]}.get(command, ["runs.csv"])
    for _ in range(rng.randint(1, 4)):
        name, value = rng.choice(options[command])
        if name in ("--help", "--version", "--usage", "--follow", "--output"):
            continue
        word = (formula(rng) if name in ("--where", "--define", "--features",
                                         "--offset") and rng.random() < 0.7
                else rng.choice(HOSTILE))
        if name in ("--define", "--set") and rng.random() < 0.7:
            word = rng.choice(["batch_size", "energy_j", "gpu.tdp_w", "x",
                               "precision", "phase"]) + "=" + word
        args.append("%s=%s" % (name, word) if value else name)
    return args


def example_files(source):
    """The small inputs that option cases name."""
    corpus = Corpus(source)
    names = ["epochs.csv", "gpu-7.csv", "lab-card.xml", "runs.csv", "sacct.txt",
             "tiny-cnn.onnx", "plan.csv"]
    return {name: corpus.read("data/examples/" + name) for name in names}


def stream(seed, *names):
    """A random stream that depends on the seed and the names alone."""
    return random.Random("/".join(map(str, (seed, *names))))
