# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates logs for the test of energies. One function per format takes a
random.Random and returns the lines of a log: several devices, gaps, counter
resets, cells without a value, repeated rows and headers, late rows, jitter."""

from datetime import datetime, timedelta

START = datetime(2024, 3, 5, 9, 0, 0, 123000)


def moments(r, n=None, jitter=0.2, gaps=True, steps=(0.25, 0.5, 1, 1, 2)):
    """Times in s: a usual interval, with jitter and some long pauses."""
    n = n or r.randint(30, 150)
    step = r.choice(steps)
    long_ones = r.sample(range(n // 4, n - 2), r.randint(0, 3)) if gaps else ()
    t, times = 0, []
    for i in range(n):
        times.append(round(t, 3))
        t += step * r.uniform(1 - jitter, 1 + jitter)
        if i in long_ones:
            t += r.uniform(60, 600)
    return times


class Device:
    """A power that walks about, and the energy so far."""

    def __init__(self, r, most=500):
        self.r, self.most = r, most
        self.watts = r.uniform(0.1, 0.9) * most
        self.joules = r.uniform(0, 1e5)
        self.last_s = 0

    def at(self, t):
        step = self.r.uniform(-0.1, 0.1) * self.most
        self.watts = min(max(self.watts + step, 10), self.most)
        self.joules += self.watts * (t - self.last_s)
        self.last_s = t
        return round(self.watts, 2)

    def reset(self):
        self.joules = self.r.uniform(0, 5)


def disturb(r, rows, header=None, late=True):
    """Some rows twice, neighbours exchanged, and the header again."""
    rows = list(rows)
    for _ in range(r.randint(0, 3)):
        at = r.randrange(2, len(rows) - 2)
        rows.insert(at, rows[at])
    if late:
        for _ in range(r.randint(0, 3)):
            at = r.randrange(2, len(rows) - 3)
            if rows[at][0] - rows[at - 1][0] < 5:
                rows[at - 1], rows[at] = rows[at], rows[at - 1]
    lines = [line for _, line in rows]
    if header:
        for _ in range(r.randint(0, 2)):
            lines.insert(r.randrange(2, len(lines)), header)
        lines.insert(0, header)
    return lines


def stamp(t, form="%Y-%m-%d %H:%M:%S", digits=3):
    text = (START + timedelta(seconds=t)).strftime(form + ".%f")
    return text[:len(text) - 6 + digits] if digits else text[:-7]


def nvidia_smi(r):
    unit, scale = r.choice([("W", 1), ("W", 1), ("mW", 1e3), ("kW", 1e-3)])
    columns = ["timestamp", "name", "index", "uuid", "pci.bus_id",
               f"power.draw [{unit}]", "utilization.gpu [%]"]
    for name in r.sample(["index", "uuid", "pci.bus_id", None], 2):
        if name:
            columns.remove(name)
    r.shuffle(columns)
    units = r.random() < 0.5
    devices = [Device(r) for _ in range(r.choice([1, 2, 4, 8]))]
    rows = []
    times = moments(r)
    for i, t in enumerate(times):
        for k, device in enumerate(devices):
            watts = f"{device.at(t) * scale:.6g}" + f" {unit}" * units
            if 2 < i < len(times) - 3 and r.random() < 0.03:
                watts = r.choice(["[N/A]", "[Not Supported]"])
            cell = {"timestamp": stamp(t + k / 1000, "%Y/%m/%d %H:%M:%S"),
                    "name": "NVIDIA A100-SXM4-80GB", "index": str(k),
                    "uuid": f"GPU-{k:08x}", "pci.bus_id": f"0000:{k + 7:02X}",
                    f"power.draw [{unit}]": watts,
                    "utilization.gpu [%]":
                        f"{r.randint(0, 100)}" + " %" * units}
            rows.append((t, ", ".join(cell[name] for name in columns)))
    return disturb(r, rows, ", ".join(columns))


def nvidia_smi_dmon(r):
    form = r.choice(["", "T", "DT"])
    comma = r.random() < 0.3
    names = {"": [], "T": ["Time"], "DT": ["Date", "Time"]}[form] + \
        ["gpu", "pwr", "gtemp", "mtemp", "sm", "mem"]
    units = {"": [], "T": ["HH:MM:SS"], "DT": ["YYYYMMDD", "HH:MM:SS"]}[form]
    joint = ", " if comma else "  "
    header = ["#" + joint.join(names),
              "#" + joint.join(units + ["Idx", "W", "C", "C", "%", "%"])]
    devices = [Device(r) for _ in range(r.choice([1, 2, 4]))]
    times = moments(r, gaps=form == "DT") if form else range(100)
    lines = []
    late = r.uniform(0, 80000)  # some go beyond midnight
    for i, t in enumerate(times):
        if i % 20 == 0:
            lines += header
        for k, device in enumerate(devices):
            watts = str(int(device.at(t)))
            if 2 < i < len(times) - 3 and r.random() < 0.02:
                watts = "-"
            day, clock = stamp(t + late, "%Y%m%d %H:%M:%S", 0).split(" ")
            when = {"": [], "T": [clock], "DT": [day, clock]}[form]
            lines.append(" " + joint.join(
                when + [str(k), watts, "50", "-", str(r.randint(0, 100)), "1"]))
    return lines


def dcgmi_dmon(r):
    counter, timed, parts = (r.random() < 0.5 for _ in range(3))
    names = ["POWER", "TOTEC", "GPUTL"] if counter else ["POWER", "GPUTL"]
    devices = [Device(r) for _ in range(r.choice([1, 2, 4]))]
    lines = []
    times = moments(r) if timed else range(r.randint(30, 100))
    for i, t in enumerate(times):
        when = stamp(t, "%Y-%m-%dT%H:%M:%S") + " " if timed else ""
        if i % 15 == 0:
            lines.append(when + "#Entity   " + "   ".join(names))
            lines.append(when + "ID        " + "W  " + "mJ  " * counter + "%")
        for k, device in enumerate(devices):
            cells = {"POWER": f"{device.at(t):.3f}",
                     "TOTEC": str(round(device.joules * 1000)),
                     "GPUTL": str(r.randint(0, 100))}
            if 2 < i < len(times) - 3 and r.random() < 0.03:
                cells[r.choice(names[:2])] = "N/A"
            if r.random() < 0.01:
                device.reset()
            lines.append(when + f"GPU {k}     " +
                         "   ".join(cells[name] for name in names))
            if parts:
                lines.append(when + f"GPU-I {k}   " + "   N/A" * len(names))
    return lines


def rocm_smi(r):
    tool = r.choice(["blocks", "date", "monitor"])
    counter = r.random() < 0.5 and tool == "date"
    names = {"blocks": "device,Average Graphics Package Power (W),GPU use (%)",
             "date": "device,GPU use (%),Current Socket Graphics Package Power "
                     "(W)",
             "monitor": "timestamp,gpu,xcp,power_usage,max_power,gfx,mem"}[tool]
    if counter:
        names += ",Energy counter,Accumulated Energy (uJ)"
    devices = [Device(r) for _ in range(r.choice([1, 2, 4]))]
    lines = [names] if tool == "monitor" else []
    for t in moments(r) if tool != "blocks" else range(60):
        t = round(t)
        if tool == "date":
            lines += [stamp(t, "%a %b %d %H:%M:%S UTC %Y", 0), ""]
        if tool != "monitor":
            lines.append(names)
        for k, device in enumerate(devices):
            watts, use = f"{device.at(t):.1f}", r.randint(0, 100)
            lines.append({
                "blocks": f"card{k},{watts},{use}",
                "date": f"card{k},{use},{watts}",
                "monitor": f"{1709629200 + t},{k},0,{watts},750,{use},0"}[tool])
            if counter:
                lines[-1] += f",{round(device.joules * 65536)}," \
                    f"{device.joules * 1e6:.1f}"
                if r.random() < 0.01:
                    device.reset()
            if tool == "monitor":
                lines.append(f"{1709629200 + t},{k},1,N/A,N/A,{use},0")
        if tool != "monitor":
            lines.append("")
    return lines


def psutil(r):
    header = "timestamp,cpu usage (%),memory usage (MB)"
    used = Device(r, 60000)
    return disturb(r, [(t, f"{stamp(t, '%Y-%m-%dT%H:%M:%S')},"
                           f"{r.uniform(0, 100):.1f},{used.at(t)}")
                       for t in moments(r)], header)


def perf(r):
    layout = r.choice([",", ";", "people", "total"])
    kinds = r.sample(["pkg", "ram", "psys"], r.randint(1, 3))
    sockets = range(r.choice([1, 2]))
    if layout == "total":
        lines = []
        for _ in range(r.randint(1, 3)):
            lines += [
                "# started on Tue Mar  5 09:00:00 2024", "",
                " Performance counter stats for 'system wide':", "",
                *(f"   {r.uniform(10, 99999):,.2f} Joules power/energy-{kind}/"
                  for kind in kinds), "",
                f"   {r.uniform(1, 900):.9f} seconds time elapsed", ""]
        return lines
    lines = ["# started on Tue Mar  5 09:00:00 2024", ""]
    t = 0
    for i in range(r.randint(20, 100)):
        t += r.uniform(0.99, 1.01)
        for socket in sockets:
            for kind in kinds:
                x = f"{r.uniform(0.5, 2000):.2f}"
                if 0 < i and r.random() < 0.03 and kind != kinds[0]:
                    x = "<not counted>"
                if layout == ";":
                    x = x.replace(".", ",")
                if layout == "people":
                    x = x if "<" in x else f"{float(x):,.2f}"
                    lines.append(f"  {t:.9f} S{socket}  1   {x} Joules "
                                 f"power/energy-{kind}/")
                else:
                    clock = f"{t:.9f}".replace(
                        ".", "," if layout == ";" else ".")
                    lines.append(layout.join(
                        [clock, f"S{socket}", "1", x, "Joules",
                         f"power/energy-{kind}/", "1", "100", "", ""]))
    return lines


def turbostat(r):
    timed, packages = r.random() < 0.5, r.choice([0, 2])
    names = ["Time_Of_Day_Seconds"] * timed + \
        ["Package", "Core", "CPU"] * bool(packages) + \
        ["Busy%", "PkgWatt", "CorWatt", "RAMWatt", "SysWatt"]
    if not packages:
        names.insert(timed, "CPU")
    cpu, ram, node = Device(r, 300), Device(r, 50), Device(r, 900)
    lines = ["turbostat version 2023.11.07 - Len Brown <lenb@kernel.org>"]
    for i, t in enumerate(moments(r) if timed else range(60)):
        if packages or i % 20 == 0:
            lines.append("\t".join(names))
        when = [f"{1709629200 + t:.6f}"] if timed else []
        watts = [f"{x.at(t):.2f}" for x in (cpu, ram, node)]
        if not packages:
            lines.append("\t".join(when + ["-", "1.0", watts[0], "9",
                                           *watts[1:]]))
            continue
        parts = [[f"{float(w) * share:.2f}" for w in watts[:2]]
                 for share in (0.375, 0.625)]
        lines.append("\t".join(when + ["-"] * 3 + ["1", watts[0], "9",
                                                   *watts[1:]]))
        for k, part in enumerate(parts):
            lines.append("\t".join(when + [str(k), "0", str(k), "1", part[0],
                                           "9", part[1], watts[2]]))
            lines.append("\t".join(when + [str(k), "0", str(k + 8), "1"]))
    return lines


def powerjoular(r):
    cpu, gpu = Device(r, 200), Device(r)
    return ["Date,CPU Utilization,Total Power,CPU Power,GPU Power"] + [
        f"{stamp(t, digits=0)},0.5,9,{cpu.at(t):.6f},{gpu.at(t) + 1:.6f}"
        for t in range(r.randint(60, 600))]


def mlperf_training(r):
    device, start = Device(r, 9000), 1700000000000
    return [f':::MLLOG {{"key": "power_reading", "time_ms": {start + 1000 * t}, '
            f'"value": {device.at(t)}, "metadata": {{"host": "node_0"}}}}'
            for t in range(r.randint(60, 600))]


def ptdaemon(r):
    channels = r.choice([0, 0, 2])
    device = Device(r, 3000)
    rows = []
    times = moments(r)
    for i, t in enumerate(times):
        watts = device.at(t)
        if 2 < i < len(times) - 3 and r.random() < 0.03:
            watts = -1
        line = f"Time,{stamp(t, '%m-%d-%Y %H:%M:%S')},Watts,{watts:.6f}," \
            "Volts,-1.000000,Amps,-1.000000,PF,-1.000000,Mark,notset"
        for k in range(channels):
            line += f",Ch{k + 1},Watts,{watts / 2:.6f},Volts,229.1,Amps,1,PF,1"
        rows.append((t, line))
    return disturb(r, rows, late=False)


def _slurm_energy(r, joules):
    if r.random() < 0.5:
        return f"{joules / 1e3:.2f}K"
    return f"{joules / 1e6:.2f}M" if joules > 1e6 else str(round(joules))


def sacct(r):
    raw = r.random() < 0.5
    energy = (lambda x: str(round(x))) if raw else \
        (lambda x: _slurm_energy(r, x))
    lines = ["|".join(["JobID", "State", "ElapsedRaw" if raw else "Elapsed",
                       "NNodes", "ConsumedEnergyRaw" if raw else
                       "ConsumedEnergy", "AllocTRES"])]
    for job in range(100, 130):
        seconds, nodes = r.randint(60, 200000), r.choice([1, 1, 2, 4])
        joules = seconds * nodes * r.uniform(200, 900)
        gpus = r.choice([0, 1, 4])
        tres = f"cpu=8,node={nodes}"
        if gpus:
            tres += f",gres/gpu:a100={gpus},gres/gpu={gpus}"
        clock = str(seconds) if raw else \
            (f"{seconds // 86400}-" if seconds >= 86400 else "") + \
            f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:" \
            f"{seconds % 60:02d}"
        name = f"{job}_{job % 7}" if job % 3 == 0 else str(job)
        if r.random() < 0.1:
            lines.append(f"{name}|PENDING|{'0' if raw else '00:00:00'}|1||")
            continue
        own = r.choice([joules, joules * 2, 0])
        steps = []
        if r.random() < 0.4:
            steps.append(("extern", joules, nodes))
        if r.random() < 0.7:
            steps.append(("batch", joules / nodes * 0.98, 1))
        for k in range(r.randint(0, 3)):
            steps.append((str(k), joules * r.uniform(0.1, 0.4), nodes))
        lines.append(f"{name}|COMPLETED|{clock}|{nodes}|{energy(own)}|{tres}")
        lines += [f"{name}.{step}|COMPLETED|{clock}|{n}|{energy(e)}|cpu=8"
                  for step, e, n in steps]
    return lines


def sstat(r):
    lines = ["Timestamp|JobID|ConsumedEnergyRaw"]
    inner = r.choice([["extern", "batch", "0"], ["0", "1"], ["0"]])
    job, device = r.randint(10, 999), Device(r, 900)
    device.joules = 0
    for i, t in enumerate(moments(r, steps=[2, 5, 30])):
        device.at(t)
        for k, step in enumerate(inner):
            if "extern" not in inner:
                energy = device.joules / len(inner)
            else:
                energy = device.joules * (1 - k / 100)
            lines.append(f"{stamp(t, digits=0)}|{job}.{step}|{round(energy)}")
        if i and r.random() < 0.05:
            lines.append(lines[0])
    return lines


def codecarbon(r):
    names = ["timestamp", "project_name", "run_id", "duration", "emissions",
             "energy_consumed", "cpu_energy", "gpu_energy", "ram_energy",
             "country_name", "gpu_count", "gpu_model", "tracking_mode", "pue"]
    lines = [",".join(names)]
    for run in range(r.randint(3, 12)):
        gpus, pue = r.choice([0, 1, 4]), r.choice([1.0, 1.0, 1.2])
        parts = [0.0, 0.0, 0.0]
        duration = 0
        for _ in range(r.randint(1, 4)):  # flush() writes the state so far
            duration += r.uniform(10, 4000)
            parts = [x + r.uniform(0.001, 0.9) for x in parts]
            parts[1] *= gpus > 0
            lines.append(",".join(map(str, [
                stamp(duration, "%Y-%m-%dT%H:%M:%S", 0), "p", f"run-{run}",
                duration, sum(parts) * 0.4, sum(parts), *parts, "France",
                gpus or "", f"{gpus} x NVIDIA A100" if gpus else "", "machine",
                pue])))
    return lines


def eco2ai(r):
    lines = ["id,project_name,experiment_description,epoch,start_time,"
             "duration(s),power_consumption(kWh),CO2_emissions(kg),CPU_name,"
             "GPU_name,OS,region/country,cost,CPU_consumption(kWh),"
             "GPU_consumption(kWh),RAM_consumption(kWh)"]
    for run in range(r.randint(3, 10)):
        gpus, training = r.choice([0, 1, 2]), r.random() < 0.5
        for k in range(r.randint(2, 9) if training else 1):
            cpu, ram = r.uniform(0.01, 0.2), r.uniform(0.001, 0.01)
            gpu = r.uniform(0.1, 2) if gpus else 0
            epoch = f'"epoch: {k + 1}, loss: 0.5, "' if training else "N/A"
            lines.append(
                f"id-{run},p,fit,{epoch},{stamp(60 * k, digits=0)},"
                f"{r.uniform(10, 900)},{cpu + gpu + ram},0.1,"
                f'"Intel/1 device(s), TDP:300.0",Tesla T4 {gpus} device(s),'
                f"Linux,DE,0,{cpu},{gpu},{ram}")
    return lines


def zeus(r):
    gpus, cpus = r.randint(1, 8), r.randint(0, 2)
    lines = [",".join(["start_time", "window_name", "elapsed_time"] +
                      [f"gpu{k}_energy" for k in range(gpus)] +
                      [f"cpu{k}_energy" for k in range(cpus)])]
    for window in range(r.randint(3, 30)):
        energies = [r.uniform(1, 90000) for _ in range(gpus + cpus)]
        if r.random() < 0.1:
            energies[0] = 0.0
        lines.append(",".join(map(str, [1709629200 + window * 60, f"w{window}",
                                        r.uniform(0.01, 60)] + energies)))
    return lines


def carbontracker(r):
    lines = []
    for _ in range(r.randint(1, 3)):
        gpus, cpus = r.choice([1, 2, 12]), r.choice([0, 1])
        start = stamp(0, digits=0)
        lines.append(f"{start} - carbontracker version 1.1.6")
        for epoch in range(r.randint(1, 6)):
            s = r.uniform(1, 90000)
            days = f"{int(s // 86400)} day, " if s >= 86400 else ""
            lines += [f"{start} - Epoch {epoch + 1}:",
                      f"{start} - Duration: {days}{int(s // 3600 % 24)}:"
                      f"{int(s // 60 % 60):02d}:{s % 60:05.2f}"]
            for kind, n in (("gpu", gpus), ("cpu", cpus)):
                # numpy wraps its text behind 75 columns
                text, width = "[", 1
                for i in range(n):
                    cell = " " * (i > 0) + f"{r.uniform(20, 700):.8f}"
                    if width + len(cell) > 75:
                        text, width = text + "\n", 0
                    text, width = text + cell, width + len(cell)
                if n:
                    lines += (f"{start} - Average power usage (W) for {kind}: "
                              f"{text}]").split("\n")
        lines.append(f"{start} - Monitoring thread ended.")
    return lines


def carbontracker_output(r):
    lines = []
    for run in range(r.randint(1, 4)):
        for what in r.sample(["Actual", "Predicted"], 2):
            s, when = r.randint(1, 200000), stamp(run * 3600, digits=0)
            days = f"{s // 86400} day{'s' * (s >= 172800)}, " \
                if s >= 86400 else ""
            lines += [f"{when} - CarbonTracker: ",
                      f"{what} consumption for {3 if what == 'Actual' else 9} "
                      "epoch(s):",
                      f"\tTime:\t{days}{s // 3600 % 24}:{s // 60 % 60:02d}:"
                      f"{s % 60:02d}",
                      f"\tEnergy:\t{r.uniform(0.01, 90):.12f} kWh",
                      "\tCO2eq:\t299.601022 g"]
    return lines


def runs(r):
    lines = ["run_id,gpu,n_gpus,duration_s,energy_j,gpu_energy_j,boundary"]
    for run in range(r.randint(1, 20)):
        gpu = r.uniform(1e3, 1e9)
        lines.append(f"r{run},a100,{r.randint(1, 8)},{r.uniform(1, 1e5)},"
                     f"{gpu * r.uniform(1.1, 1.5)},{gpu},node")
    return lines


def samples(r):
    separator = r.choice([",", ";", "\t"])
    time = r.choice(["timestamp", "unix_time", "timestamp_ms", "t_s", "t_ms"])
    unit, scale = r.choice([("w", 1), ("mw", 1e3), ("kw", 1e-3)])
    counter = r.choice([None, None, ("mj", 1e3), ("j", 1), ("wh", 1 / 3600)])
    long = r.random() < 0.5
    gpus = [Device(r) for _ in range(r.choice([1, 2, 4]))]
    host = None if long else Device(r, 900)
    names = [time]
    for k in [None] if long else range(len(gpus)):
        names += ["index"] * long
        label = "gpu" if k is None else f"gpu{k}"
        names.append(f"{label}_power_{unit}")
        if counter:
            names.append(f"{label}_energy_{counter[0]}")
    if host:
        names.append("node_power_w")
    rows = []
    times = moments(r)
    for i, t in enumerate(times):
        when = {"timestamp": stamp(t), "t_s": f"{t:.3f}",
                "unix_time": f"{1709629200 + t:.3f}",
                "timestamp_ms": str(1709629200000 + round(t * 1000)),
                "t_ms": str(round(t * 1000))}[time]
        cells = []
        for k, gpu in enumerate(gpus):
            watts = f"{gpu.at(t) * scale:.6f}"
            if 2 < i < len(times) - 3 and r.random() < 0.02:
                watts = ""
            cells.append([str(k)] * long + [watts])
            if counter:
                cells[-1].append(f"{gpu.joules * counter[1]:.6f}")
            if r.random() < 0.01:
                gpu.reset()
        if long:
            rows += [(t, separator.join([when] + each)) for each in cells]
        else:
            row = [when] + sum(cells, []) + [str(host.at(t))]
            rows.append((t, separator.join(row)))
    return disturb(r, rows, separator.join(names))


# Needs the functions above.
from made_series import grafana, prometheus  # noqa: E402,F401
