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


# A recording, as dlest record writes it.
RECORDING = (b"# dlest record 0.1.0\n# command: train\n# host: node1\n"
             b"# gpu0: NVIDIA A100-SXM4-40GB, GPU-1, by nvml\n"
             b"timestamp,gpu0_power_w,gpu0_energy_j,gpu0_util,cpu0_energy_j\n"
             b"2024-03-05T10:00:00.000Z,200.0,0.000,90,0.000\n"
             b"2024-03-05T10:00:01.000Z,210.0,205.000,95,60.000\n"
             b"2024-03-05T10:00:02.000Z,190.0,405.000,,120.000\n"
             b"2024-03-05T10:00:03.500Z,200.0,700.000,80,\n")

# Lines that a recorded program writes for dlest record.
MARKS = (b"phase training\nsamples 50000\nepoch 0\nphase validation\n"
         b"epoch 1\nphase training\nepoch 2\n")

# Throughputs as others publish them, and a plan with all settings.
THROUGHPUT = (b"arch,gpu,n_gpus,batch_size,precision,stack,samples_per_s\n"
              b"resnet50,a100,8,256,amp,ngc,21000\n"
              b"resnet50,v100,8,208,amp,mlperf,11186\n"
              b"resnet50,t4,1,128,amp,eager,260\n"
              b"vgg16,a100,1,64,tf32,eager,700\n"
              b"vgg16,v100,4,64,amp,eager,1900\n"
              b"bert-large,a100,8,32,amp,ngc,900\n")
SETUP_PLAN = (b"arch,gpu,n_gpus,tokens,global_batch,seq_len,precision,optimizer,"
              b"sharding,tensor_parallel,pipeline_parallel,virtual_stages,"
              b"checkpointing,fine_tune,lora_rank,expert_parallel\n"
              b"llama-2-7b,a100,8,1e9,64,4096,bf16,adamw,fsdp,1,1,,full,full,,\n"
              b"llama-2-7b,h100,16,1e9,128,2048,bf16,adamw,zero1,2,2,4,none,"
              b"full,,\n"
              b"mixtral-8x7b,h200,16,1e9,128,2048,bf16,adamw,zero1,2,1,,none,"
              b"full,,8\n"
              b"llama-2-7b,a100,1,1e7,16,512,bf16,adam8bit,ddp,1,1,1,full,lora,"
              b"8,\n")


# What is known of trainings: times, speeds, utilization and power; loaders.
KNOWN = (b"arch,gpu,n_gpus,epochs,batch_size,train_samples,val_samples,epoch_s,"
         b"step_s,samples_per_s,gpu_util,gpu_power_w,duration_s,loader,"
         b"loader_workers,precision\n"
         b"resnet50,a100,1,90,256,1281167,50000,1800,,,,,,,,amp\n"
         b"resnet50,a100,1,90,256,1281167,50000,,0.25,,,,,,,amp\n"
         b"resnet50,a100,4,90,256,1281167,50000,,,4096,,,,,,amp\n"
         b"resnet50,a100,1,90,256,1281167,50000,,,,0.31,,,,,amp\n"
         b"resnet50,a100,1,90,256,1281167,50000,1800,,,,250,,,,amp\n"
         b"vgg16,t4,1,10,32,50000,10000,,,,0.9,60,36000,,,fp32\n"
         b"resnet50,a100,1,90,256,1281167,50000,,,,,,,disk,4,amp\n"
         b"resnet50,a100,1,90,256,1281167,50000,,,,,,,synthetic,,amp\n")
KNOWN_RUNS = (b"arch,gpu,epochs,batch_size,train_samples,epoch_s,gpu_util,"
              b"gpu_power_w,energy_j,boundary\n"
              b"resnet50,a100,1,256,1281167,3000,0.9,300,900000,gpu\n"
              b"resnet50,a100,1,128,1281167,3100,0.9,290,899000,gpu\n"
              b"vgg16,t4,2,32,50000,200,0.95,65,26000,gpu\n")

# Chips of hwmon and a counter of RAPL: 300 W, 200 W, and a CPU.
SENSORS = {
    "sys/class/hwmon/hwmon0/name": b"amdgpu\n",
    "sys/class/hwmon/hwmon0/power1_average": b"300000000\n",
    "sys/class/hwmon/hwmon0/device/gpu_busy_percent": b"90\n",
    "sys/class/hwmon/hwmon1/name": b"amdgpu\n",
    "sys/class/hwmon/hwmon1/power1_average": b"200000000\n",
    "sys/class/powercap/intel-rapl:0/name": b"package-0\n",
    "sys/class/powercap/intel-rapl:0/energy_uj": b"1000000\n",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj": b"262143328850\n"}
SENSOR_KINDS = {name: "log" for name in SENSORS}


def known_cases(corpus):
    """Estimates with known times and loaders; pages."""
    plan, table = {"plan.csv": KNOWN}, {"plan.csv": "table"}
    yield Case("predict-known", ["predict", "--input", "plan.csv", "--method",
                                 "physical,tdp", "-f", "csv"], plan, table)
    yield Case("predict-known-time",
               ["predict", "--input", "plan.csv", "--known", "time,gpu_util",
                "--method", "physical", "-f", "json", "-o", "known.json"], plan,
               table)
    yield Case("predict-page", ["predict", "--input", "plan.csv", "--method",
                                "physical,tdp", "-f", "html", "-o", "p.html"],
               plan, {"plan.csv": "means"})  # whose columns keep their order
    yield Case("compare-known",
               ["compare", "runs.csv", "--known", "time", "--methods",
                "physical,tdp", "--bootstrap", "0", "-f", "json"],
               {"runs.csv": KNOWN_RUNS}, {"runs.csv": "table"})
    yield Case("calibrate-known", ["calibrate", "runs.csv", "-o", "mine.xml"],
               {"runs.csv": KNOWN_RUNS}, {"runs.csv": "table"})
    train = ["predict", "--arch", "resnet50", "--gpu", "a100"]
    for name, more in [
            ("epoch-time", ["--epoch-time", "20m"]),
            ("step-time", ["--step-time", "250ms", "--gpus", "4"]),
            ("throughput", ["--throughput", "1024/s", "--gpu-util", "40"]),
            ("gpu-power", ["--duration", "10h", "--gpu-power", "250"]),
            ("loader", ["--loader", "disk", "--loader-workers", "4"])]:
        yield Case("predict-" + name, [*train, *more, "-f", "json"], {}, {})
    yield Case("predict-one-page", [*train, "--country", "ES", "-f", "html",
                                    "-o", "one.html"], {}, {})
    jobs = {"sacct.txt": corpus.read("data/examples/sacct.txt")}
    yield Case("report-page", ["report", "sacct.txt", "--by", "user", "-f",
                               "html"], jobs, {"sacct.txt": "pipes"})
    yield Case("compare-page",
               ["compare", "runs.csv", "--methods", "physical,tdp", "--bootstrap",
                "0", "-f", "html"], {"runs.csv": KNOWN_RUNS},
               {"runs.csv": "table"})


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
               {"means.csv": MEANS}, {"means.csv": "means"})
    yield Case("fit-throughput",
               ["fit", "rates.csv", "--target", "samples_per_s", "--features",
                "log(macs_g),log(gpu.peak_fp32_tflops),log(n_gpus)", "--log",
                "--method", "ridge", "--lambda", "0.1", "--cv", "none",
                "--no-model", "-f", "json"],
               {"rates.csv": THROUGHPUT}, {"rates.csv": "table"})
    yield Case("fit-make-means", ["fit", "rates.csv", "--means", "-"],
               {"rates.csv": THROUGHPUT}, {"rates.csv": "table"})
    yield Case("predict-setup", ["predict", "--input", "plan.csv", "-f", "csv"],
               {"plan.csv": SETUP_PLAN}, {"plan.csv": "table"})
    yield Case("report-join-totals",
               ["report", "totals.csv", "two.csv", "--by", "user", "-f", "csv"],
               {"totals.csv": TOTALS,
                "two.csv": TOTALS.replace(b"ann", b"bob") +
                           b"shard" + b"," * 20 + b"1/1" + b"," * 5 + b"\n"},
               {"totals.csv": "table", "two.csv": "table"})
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
    yield Case("suggest", ["calibrate", "plan.csv", "--suggest", "-f", "json"],
               {"plan.csv": plan}, {"plan.csv": "table"})
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
    yield Case("extract-recording", ["extract", "trace.csv", "-f", "json"],
               {"trace.csv": RECORDING}, {"trace.csv": "log"})
    nodes = {"a.csv": RECORDING, "b.csv": RECORDING.replace(b"node1", b"node2")}
    both = {"a.csv": "log", "b.csv": "log"}
    yield Case("extract-join", ["extract", "--join", *nodes, "-f", "json"],
               nodes, both)
    yield Case("extract-join-page", ["extract", "--join", *nodes, "-f", "html"],
               nodes, both)
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


def config_cases(corpus):
    """Architectures in the form of model hubs."""
    for path in corpus.folder("tests/fuzz/corpus/config"):
        name = os.path.splitext(os.path.basename(path))[0]
        yield Case("config-" + name,
                   ["show", "arch", "./config.json", "-f", "json"],
                   {"config.json": corpus.read(path)}, {"config.json": "json"})
        if name in ("gpt2", "mixtral", "bert"):
            yield Case("predict-config-" + name,
                       ["predict", "--arch", "./config.json", "--gpu", "a100",
                        "--tokens", "1e9", "-f", "json"],
                       {"config.json": corpus.read(path)},
                       {"config.json": "json"})


def timed_cases():
    """Commands whose results depend on the time: they are damaged, but not
    compared."""
    yield Case("record-marks",
               ["record", "--allow-none", "--no-trace", "-f", "json", "--",
                "sh", "-c", 'cat marks.txt >"$DLEST_MARKS"'],
               {"marks.txt": MARKS}, {"marks.txt": "log"})
    yield Case("record-sensors", RECORD, SENSORS, SENSOR_KINDS)
    yield Case("record-page",
               ["record", "--interval", "20ms", "--no-trace", "--epochs", "9",
                "-f", "html", "-o", "page.html", "--", "sh", "-c",
                "for i in 0 1 2; do sleep 0.05; echo epoch $i >$DLEST_MARKS; done"],
               SENSORS, SENSOR_KINDS)
    yield Case("list-sensors", ["list", "sensors", "-f", "json"], SENSORS,
               SENSOR_KINDS)


RECORD = ["record", "--duration", "0.3s", "--interval", "20ms", "--trace",
          "t.csv", "--force", "-o", "row.csv", "-q"]


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
            *xml_cases(corpus), *onnx_cases(corpus), *config_cases(corpus),
            *known_cases(corpus), *plain_cases()]


# Words that option values and formulas are made from.
HOSTILE = ["", "0", "-1", "1e308", "1e-320", "nan", "inf", "-inf", "0x10",
           "1e999", "999999999999999999999", "1,2", "1;2", "'", '"', "`", "\\",
           "%s%n", "../../etc/passwd", "/dev/null", "/", ".", "-", "--", "=",
           "a=b", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\xe9", "\n",
           "a" * 5000, "1" * 400, "5%", "3h", "90m", "-3h", "1e400h",
           "resnet50", "a100", "all", "group:", "group:arch", "kfold:0",
           "kfold:1e9", "mig:1g.5gb", "2024-02-30", "9999-12-31", "0..1",
           "9..1", "log(", "1/0", "(((((((((", "0/0", "a100,", ",,,"]


# Options of known times, with values that may be right, wrong or contradictory.
TIMED = {"--epoch-time": ["20m", "1s", "1000h", "1e-9s", "1:30:00"],
         "--step-time": ["250ms", "4it/s", "1e-12s", "1e12it/s", "3h"],
         "--throughput": ["1024/s", "1e-6/s", "1e15/s", "40tokens/s", "7img/s"],
         "--gpu-util": ["31", "100", "0.001", "31%"],
         "--gpu-power": ["250", "1", "4e5", "250W"],
         "--duration": ["10h", "1s", "1e9s"],
         "--loader": ["disk", "cached", "synthetic"],
         "--loader-workers": ["1", "1024", "0"],
         "--augmentation": ["crop", "contrastive", "mosaic"]}


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
    if command == "record":  # else it would wait for Ctrl-C
        args += ["--duration", "100ms", "--no-trace", "--allow-none"]
    elif rng.random() < 0.7:
        args += {"predict": ["--arch", "resnet50", "--gpu", "a100"],
                 "recommend": ["--arch", "resnet50", "--gpu", "a100"],
                 "list": ["gpus"], "show": ["gpu", "a100"],
                 "step": ["epochs.csv", "--epochs", "20"],
                 "report": ["sacct.txt"], "extract": ["gpu-7.csv"],
                 "describe": ["tiny-cnn.onnx"], "check": ["lab-card.xml"],
                 "plot": ["trace", "gpu-7.csv"]}.get(command, ["runs.csv"])
    for _ in range(rng.randint(1, 4)):
        name, value = rng.choice(options[command])
        if command == "predict" and rng.random() < 0.3:
            name, value = rng.choice(sorted(TIMED)), True
        if command == "record" and name in ("--duration", "--pid", "--trace"):
            continue
        if name in ("--help", "--version", "--usage", "--follow", "--output",
                    "--totals"):
            continue
        word = (formula(rng) if name in ("--where", "--define", "--features",
                                         "--offset") and rng.random() < 0.7
                else rng.choice(TIMED[name]) if name in TIMED and
                rng.random() < 0.6 else rng.choice(HOSTILE))
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
