#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add processors to the catalogue of CPUs, and what their entries lack.

usage: cpus.py CPUS.xml > NEW.xml

cpus.list has what the vendors' pages say, cpus-all-core.list the clocks of all
cores; the peak rates follow: cores x lanes x 2 x base clock in FP32, 4 times
that in INT8 with dot products (2 times without, in 16-bit products), 2 times
that in BF16 with dot products. Apple's cores are at the clock of all
performance cores, without the matrix unit of a cluster, which no framework's
CPU backend documents (1.5 TFLOP/s in FP32 of an M1, zhen8838.github.io).
A core with AMX does 2,048 operations a cycle in INT8 and 1,024 in BF16: TDPBUSD
multiplies 16 x 64 by 64 x 16 bytes in 16 cycles (Intel 64 and IA-32
Architectures Optimization Reference Manual, chapter on AMX). Entries that are
there keep their values but for these rates.
"""
import os
import re
import sys
import xml.etree.ElementTree as ET

# Per family: vendor, lanes of a core, VNNI, BF16, AMX, memory, channels, MT/s.
FAMILIES = {
    "haswell": ("intel", 16, 0, 0, 0, "ddr4", 4, 2133),
    "broadwell": ("intel", 16, 0, 0, 0, "ddr4", 4, 2400),
    "skylake": ("intel", 32, 0, 0, 0, "ddr4", 6, 2666),
    "cascade-lake": ("intel", 32, 1, 0, 0, "ddr4", 6, 2933),
    "cooper-lake": ("intel", 32, 1, 1, 0, "ddr4", 6, 3200),
    "ice-lake": ("intel", 32, 1, 0, 0, "ddr4", 8, 3200),
    "sapphire-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 4800),
    "emerald-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 5600),
    "granite-rapids": ("intel", 32, 1, 1, 1, "ddr5", 8, 6400),
    "sierra-forest": ("intel", 8, 1, 0, 0, "ddr5", 8, 6400),
    "kaby-lake": ("intel", 16, 0, 0, 0, "ddr4", 2, 2400),
    "coffee-lake": ("intel", 16, 0, 0, 0, "ddr4", 2, 2666),
    "comet-lake": ("intel", 16, 0, 0, 0, "ddr4", 2, 2933),
    "rocket-lake": ("intel", 16, 1, 0, 0, "ddr4", 2, 3200),
    "tiger-lake": ("intel", 16, 1, 0, 0, "ddr4", 2, 3200),
    "alder-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 4800),
    "raptor-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 5600),
    "meteor-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 5600),
    "lunar-lake": ("intel", 16, 1, 0, 0, "lpddr5x", 2, 8533),
    "arrow-lake": ("intel", 16, 1, 0, 0, "ddr5", 2, 6400),
    "zen": ("amd", 8, 0, 0, 0, "ddr4", 8, 2666),
    "zen2": ("amd", 16, 0, 0, 0, "ddr4", 8, 3200),
    "zen3": ("amd", 16, 0, 0, 0, "ddr4", 8, 3200),
    "zen4": ("amd", 16, 1, 1, 0, "ddr5", 12, 4800),
    "zen5": ("amd", 32, 1, 1, 0, "ddr5", 12, 6400),
    "neoverse-n1": ("ampere", 8, 1, 0, 0, "ddr4", 8, 3200),
    "neoverse-v1": ("aws", 16, 1, 1, 0, "ddr5", 8, 4800),
    "neoverse-v2": ("aws", 16, 1, 1, 0, "ddr5", 12, 5600),
    "neoverse-n2": ("microsoft", 8, 1, 1, 0, "ddr5", 12, 5600),
    "neoverse-v3ae": ("nvidia", 16, 1, 1, 0, "lpddr5x", 4, 8533),
    "ampereone": ("ampere", 8, 1, 1, 0, "ddr5", 8, 5200),
    "taishan-v110": ("huawei", 8, 1, 0, 0, "ddr4", 8, 2933),
    "a64fx": ("fujitsu", 32, 1, 0, 0, "hbm2", 4, 2000),
    "apple-m1": ("apple", 16, 1, 0, 0, "lpddr5", 2, 6400),
    "apple-m2": ("apple", 16, 1, 1, 0, "lpddr5", 2, 6400),
    "apple-m3": ("apple", 16, 1, 1, 0, "lpddr5", 2, 6400),
    "apple-m4": ("apple", 16, 1, 1, 0, "lpddr5x", 2, 7500),
    "cortex-a57": ("nvidia", 4, 0, 0, 0, "lpddr4", 1, 3200),
    "cortex-a72": ("raspberry-pi", 4, 0, 0, 0, "lpddr4", 1, 3200),
    "cortex-a76": ("raspberry-pi", 8, 1, 0, 0, "lpddr4x", 1, 4267),
    "cortex-a78ae": ("nvidia", 8, 1, 0, 0, "lpddr5", 2, 6400),
    "carmel": ("nvidia", 8, 0, 0, 0, "lpddr4x", 2, 3200),
}
SOURCE = {"amd": "amd-epyc", "intel": "intel-ark", "ampere": "ampere-altra",
          "aws": "aws-graviton", "nvidia": "nvidia-jetson-cpu",
          "google": "google-axion", "microsoft": "microsoft-cobalt",
          "huawei": "huawei-kunpeng", "fujitsu": "fujitsu-a64fx",
          "apple": "apple-cpu", "raspberry-pi": "raspberry-pi"}
# What an operating system reports, where the name alone does not say it. EPYCs
# whose number ends in P are for one socket.
ALIASES = {
    "ampere-altra-q80-30": ["ampere-altra", "Ampere(R) Altra(R) Processor"],
    "ampere-altra-max-m128-30": ["ampere-altra-max",
                                 "Ampere(R) Altra(R) Max Processor"],
    "ampereone-a192-32x": ["AmpereOne(R) Processor", "ampereone"],
    "aws-graviton2": ["graviton2"], "aws-graviton4": ["graviton4"],
    "aws-graviton3": ["graviton3", "Neoverse-V1"],
    "nvidia-grace": ["Grace A02"], "azure-cobalt-100": ["cobalt-100"],
    "fujitsu-a64fx": ["a64fx"], "google-axion": ["axion"],
    "huawei-kunpeng-920-6426": ["Kunpeng-920", "TSV110"],
    "jetson-agx-orin-cores": ["jetson-agx-orin-64gb CPU cores",
                              "jetson-agx-orin-32gb CPU cores"],
    "jetson-orin-nx-cores": ["jetson-orin-nx-16gb CPU cores",
                             "jetson-orin-nx-8gb CPU cores"],
    "jetson-orin-nano-cores": ["jetson-orin-nano-8gb CPU cores",
                               "jetson-orin-nano-4gb CPU cores"],
    "raspberry-pi-4": ["Cortex-A72", "BCM2711"],
    "raspberry-pi-5": ["Cortex-A76", "BCM2712"],
}
ALIASES.update({f"epyc-{n}": [f"AMD EPYC {n}P", f"AMD EPYC {n}P {c}-Core "
                              "Processor"] for n, c in (
    (7351, 16), (7401, 24), (7551, 32), (7302, 16), (7402, 24), (7502, 32),
    (7702, 64), (7313, 16), (7443, 24), (7543, 32), (7713, 64), (9354, 32),
    (9454, 48), (9554, 64), (9654, 96), (9355, 32), (9455, 48), (9555, 64),
    (9655, 96))})
ALL_CORE = "intel-turbo", "amd-epyc"  # sources of their clocks
NEW_SOURCES = {
    "ampere-altra": ("Ampere Altra, Altra Max and AmpereOne processors, "
                     "product briefs", 2024,
                     "https://amperecomputing.com/products/processors"),
    "intel-turbo": ("Intel Xeon processors, specification updates and SKU "
                    "tables: turbo with all cores active", 2024,
                    "https://www.intel.com/content/www/us/en/products/details/"
                    "processors/xeon.html"),
    "apple-cpu": ("AnandTech, Apple M1, M1 Pro and M1 Max reviews (clocks by "
                  "active cores, pipes, package power); Apple's announcements "
                  "of M1 to M4", 2025,
                  "https://www.anandtech.com/show/17024/apple-m1-max-"
                  "performance-review"),
    "raspberry-pi": ("Raspberry Pi documentation, processors and power supply",
                     2024, "https://www.raspberrypi.com/documentation/"
                     "computers/"),
    "nvidia-jetson-cpu": ("NVIDIA Jetson modules, data sheets", 2025,
                          "https://developer.nvidia.com/embedded/"
                          "jetson-modules"),
    "google-axion": ("Google Cloud, C4A machine series", 2024,
                     "https://cloud.google.com/compute/docs/"
                     "general-purpose-machines"),
    "microsoft-cobalt": ("Microsoft Azure, Cobalt 100 virtual machines", 2024,
                         "https://learn.microsoft.com/azure/virtual-machines/"
                         "sizes/cobalt-overview"),
    "huawei-kunpeng": ("Huawei Kunpeng 920 chipset, HiSilicon", 2019,
                       "https://www.hisilicon.com/en/products/Kunpeng"),
    "fujitsu-a64fx": ("Fujitsu A64FX data sheet", 2020,
                      "https://github.com/fujitsu/A64FX"),
}
HERE = os.path.dirname(os.path.abspath(__file__))


def rows(name):
    """the fields of each row of a list beside this script"""
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("|") for line in f
                if not line.startswith("#")]


def short(x):
    return f"{x:.4g}"


def ident(name):
    words = name.lower().split()
    if words[0] in ("intel", "amd") or words[1] == "jetson":
        words = words[1:]
    text = "-".join(words).replace("-cpu", "").replace("ryzen-threadripper",
                                                       "threadripper")
    return text.replace("microsoft-", "azure-")


def rates(flop, family, cores, base):
    """peak rates: element, value in 1e12, note"""
    vendor, _, vnni, bf16, amx, *_ = FAMILIES[family]
    slow = "AVX2" if vendor in ("intel", "amd") else "NEON"
    yield "peak_fp64_tflops", flop / 2, "derived: half of the fp32 rate"
    yield "peak_fp32_tflops", flop, None
    if bf16:
        yield ("peak_bf16_tflops", 2 * flop,
               "derived: BF16 dot products, 2 x fp32 rate")
    if amx:
        yield ("peak_bf16_tensor_tflops", cores * base * 1024e6 / 1e12,
               "derived: AMX, 1024 operations a cycle and core at the base "
               "clock")
    yield ("peak_int8_tops", (4 if vnni else 2) * flop,
           "derived: INT8 dot products, 4 x fp32 rate" if vnni else
           f"derived: 16-bit products of {slow}, 2 x fp32 rate")
    if amx:
        yield ("peak_int8_tensor_tops", cores * base * 2048e6 / 1e12,
               "derived: AMX, 2048 operations a cycle and core at the base "
               "clock")


def fp32_note(own, cores, lanes, total, vendor):
    """how the FP32 rate follows"""
    note = f"derived: {cores} cores x {lanes} lanes x 2 x base clock"
    if "all" in own:
        note = f"derived: {total} lanes x 2 x base clock"
    if "ecores" in own:
        note += f", {own['ecores']} among them"
    if lanes == 32 and vendor == "intel":
        note += "; the clock of wide vector code may be lower"
    return note


def tdp_note(own, family):
    if family.startswith("apple"):
        return "assumed: its CPU with all cores at work, in reviews"
    if family.startswith(("cortex", "carmel", "neoverse-v3ae")):
        return "assumed: the part of its CPU in the computer's power"
    if "tdp_w" in own.get("assumed", ""):
        note = "assumed: the vendor does not publish it"
        if "codecarbon" in own:
            note += f"; CodeCarbon has {own['codecarbon']} W"
        return note
    if "turbo" in own:
        return f"disputed: base power; the highest is {own['turbo']} W"
    return own.get("tdp")


def entry(fields):
    name, family, cores, base, boost, tdp, cache, year, *more = fields
    own = dict(part.split("=") for part in more[0].split(",")) if more else {}
    vendor, lanes, vnni, bf16, amx, memory, channels, speed = FAMILIES[family]
    vendor = own.get("vendor", vendor)
    cores, base = int(cores), float(base)
    lanes = int(own.get("lanes", lanes))
    total = int(own.get("all", cores * lanes))
    channels = int(own.get("ch", channels))
    speed = int(own.get("mts", speed))
    memory = own.get("mem", memory)
    source = SOURCE[vendor]
    if vendor == "amd" and "Ryzen" in name:
        source = "amd-ryzen"
    if "Grace" in name:
        source = "nvidia-grace"
    flop = total * 2 * base * 1e6 / 1e12
    out = [f'  <entry id="{ident(name)}" name="{name}" vendor="{vendor}" '
           f'family="{family}" form="socket" memory_type="{memory}">']
    def value(field, x, note=None):
        text = f' note="{note}"' if note else ""
        out.append(f'    <value name="{field}" source="{source}"{text}>{x}'
                   "</value>")
    value("tdp_w", short(float(tdp)), tdp_note(own, family))
    for field, x, note in rates(flop, family, cores, base):
        if field == "peak_fp32_tflops":
            note = fp32_note(own, cores, lanes, total, vendor)
        value(field, short(x), note)
    if "bw" in own:
        value("bandwidth_gb_s", own["bw"])
    else:
        value("bandwidth_gb_s", short(channels * speed * 8 / 1e3),
              ("exception: two dies, " if channels > 8 and memory == "ddr4"
               else "derived: ") + f"{channels} channels of {memory.upper()}-"
              f"{speed}")
    value("cuda_cores", total, "derived: fp32 lanes")
    value("multiprocessors", cores, "cores")
    value("memory_channels", channels)
    value("base_mhz", short(base), "of all performance cores" if vendor ==
          "apple" else None)
    value("boost_mhz", short(float(boost)), "highest, one core")
    value("l2_mb", cache, "last-level cache (L3)")
    value("year", year)
    return "\n".join(out + ["  </entry>"]) + "\n"


def completed(block, clocks):
    """an entry with its aliases and its clock of all cores"""
    ident_ = re.search(r'id="([^"]*)"', block).group(1)
    head, rest = block.split("\n", 1)
    for alias in reversed(ALIASES.get(ident_, [])):
        line = f"    <alias>{alias}</alias>\n"
        rest = rest if line in rest else line + rest
    if ident_ in clocks and "all_core_mhz" not in rest:
        source = ALL_CORE["epyc" in ident_]
        rest = rest.replace(
            '    <value name="l2_mb"',
            f'    <value name="all_core_mhz" source="{source}">'
            f'{clocks[ident_]}</value>\n    <value name="l2_mb"')
    return head + "\n" + rest


def renewed(block):
    """an entry of the catalogue with the rates and channels that it lacks"""
    family = re.search(r'family="([^"]*)"', block).group(1)
    known = FAMILIES.get(family)
    number = re.search(r"derived: (\d+) channels", block)
    if not known or 'form="socket"' not in block or not number:
        return block
    cores = float(re.search(r'multiprocessors"[^>]*>([^<]*)', block).group(1))
    base = float(re.search(r'base_mhz"[^>]*>([^<]*)', block).group(1))
    flop = float(re.search(r'peak_fp32_tflops"[^>]*>([^<]*)', block).group(1))
    source = re.search(r'base_mhz" source="([^"]*)"', block).group(1)
    for field, x, note in rates(flop, family, cores, base):
        line = (f'    <value name="{field}" source="{source}" note="{note}">'
                f"{short(x)}</value>\n")
        old = re.search(rf'    <value name="{field}"[^\n]*\n', block)
        if field in ("peak_bf16_tensor_tflops", "peak_int8_tensor_tops"):
            block = block.replace(old.group(0), line)
        elif not old:
            block = block.replace('    <value name="bandwidth_gb_s"',
                                  line + '    <value name="bandwidth_gb_s"')
    if "memory_channels" not in block:
        block = block.replace(
            '    <value name="base_mhz"',
            f'    <value name="memory_channels" source="{source}">'
            f'{number.group(1)}</value>\n    <value name="base_mhz"')
    return block


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    there = {e.get("id") for e in ET.fromstring(text).findall("entry")}
    new = [entry(row) for row in rows("cpus.list") if ident(row[0]) not in there]
    text = text.replace("</catalog>", "".join(new) + "</catalog>")
    clocks = dict(rows("cpus-all-core.list"))
    for name, *_, last in rows("cpus.list"):
        if "also=" in last:
            ALIASES[ident(name)] = [name + last.partition("also=")[2]]
    text = re.sub(r"  <entry .*?</entry>\n",
                  lambda m: completed(renewed(m.group(0)), clocks), text,
                  flags=re.S)
    for name, (title, year, url) in NEW_SOURCES.items():
        if f'<source id="{name}"' not in text and f'source="{name}"' in text:
            text = text.replace(
                "  </sources>", f'    <source id="{name}" title="{title}" '
                f'year="{year}" url="{url}"/>\n  </sources>', 1)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
