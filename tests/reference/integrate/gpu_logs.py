# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the logs of GPUs."""

import csv
import re
from datetime import datetime

from readings import SECOND, number, power, time_ns


def nvidia_smi(lines, _interval=1):
    """nvidia-smi --help-query-gpu: one line per GPU and moment, comma and
    blank between cells, the header as often as it was started."""
    time = draw = device = None
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        if "timestamp" in cells:
            header = cells
            names = [re.sub(r"\s*\[.*", "", cell) for cell in cells]
            time = names.index("timestamp")
            draw = next(i for i, name in enumerate(names)
                        if name in ("power.draw", "gpu_power_draw"))
            device = next((names.index(name)
                           for name in ("uuid", "pci.bus_id", "index")
                           if name in names), None)
        else:
            yield (time_ns(cells[time]), "gpu",
                   cells[device] if device is not None else "0",
                   power(cells[draw], header[draw]), None)


def rounds(rows, interval):
    """Times for rows (device, ...) of a log without any: a device that comes
    again begins the next round."""
    seen, at = set(), 0
    for device, *rest in rows:
        if device in seen:
            seen.clear()
            at += 1
        seen.add(device)
        yield at * interval * SECOND, device, *rest


def nvidia_smi_dmon(lines, interval=1):
    """nvidia-smi dmon --help: comment lines name the columns; -o puts Date
    (YYYYMMDD) and Time in front; "-" is a sensor that is not there."""
    names, untimed, day, last = [], [], 0, None
    for line in lines:
        cells = line.replace(",", " ").replace("#", "# ").split()
        if cells[0] == "#":
            if "pwr" in cells:
                names = cells[1:]
            continue
        row = dict(zip(names, cells))
        if "Time" in row:
            # A time of day that goes back without a date: the next day.
            date = row.get("Date", "20240305")
            ns = time_ns(f"{date[:4]}-{date[4:6]}-{date[6:]} {row['Time']}")
            if "Date" not in row:
                day += last is not None and ns < last - 43200 * SECOND
                last = ns
            yield (ns + day * 86400 * SECOND, "gpu", row["gpu"],
                   number(row["pwr"]), None)
        else:
            untimed.append((row["gpu"], number(row["pwr"])))
    for ns, device, watts in rounds(untimed, interval):
        yield ns, "gpu", device, watts, None


def dcgmi_dmon(lines, interval=1):
    """dcgmi dmon -e 155,156: POWER in W, TOTEC in mJ since the driver was
    loaded. Entities of a GPU (GPU-I, GPU-CI) are parts of it. `ts` may put a
    time in front."""
    names, untimed, timed = [], [], []
    for line in lines:
        cells = line.split()
        ns = time_ns(cells[0]) if "T" in cells[0] and "-" in cells[0] else None
        if ns is not None:
            cells = cells[1:]
        if cells[0].startswith("#"):
            names = [cell for cell in cells if cell not in ("#", "Entity",
                                                            "#Entity")]
        elif cells[0] == "GPU":
            row = dict(zip(names, cells[2:]))
            watts, mj = (number(row.get(name, "")) for name in
                         ("POWER", "TOTEC"))
            joules = None if mj is None else mj / 1000
            if ns is None:
                untimed.append((cells[1], watts, joules))
            else:
                timed.append((ns, cells[1], watts, joules))
    for ns, device, watts, joules in timed or rounds(untimed, interval):
        yield ns, "gpu", device, watts, joules


def rocm_smi(lines, interval=1):
    """rocm-smi --csv prints its header each time; a loop prints `date` before.
    amd-smi --csv writes a column timestamp. Both know the energy so far."""
    names, now, untimed, timed = [], None, [], []
    for cells in csv.reader(lines):
        if len(cells) == 1:
            day = re.sub(r" [A-Z]{3,4} ", " ", cells[0])
            now = time_ns(str(datetime.strptime(day, "%a %b %d %H:%M:%S %Y")))
        elif "device" in cells or "gpu" in cells:
            names = cells
        elif cells:
            row = dict(zip(names, cells))
            cell = next((row[name] for name in row if name == "power_usage"
                         or name == "socket_power"
                         or name.endswith("Package Power (W)")), "")
            if "Secondary die" in cell or row.get("xcp", "0") != "0":
                continue  # the first die's or partition's is that of all
            uj = number(row.get("Accumulated Energy (uJ)", ""))
            joules = (uj / 1e6 if uj is not None else
                      number(row.get("total_energy_consumption", "")))
            device = row.get("device") or row["gpu"]
            ns = time_ns(row["timestamp"]) if "timestamp" in row else now
            if ns is None:
                untimed.append((device, number(cell), joules))
            else:
                timed.append((ns, device, number(cell), joules))
    for ns, device, watts, joules in timed or rounds(untimed, interval):
        yield ns, "gpu", device, watts, joules
