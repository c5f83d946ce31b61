#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a wheel of dlest by the binary distribution format (version 1.0).

    make-wheel.py --version V --url URL --program FILE --root FOLDER --sources FOLDER
        --licences FOLDER --output FOLDER

The program goes among the scripts, so that it is on PATH; what is installed in
share of --root goes beside it, where it looks for its data. The platform's tag
names the newest version of glibc that the program needs. The URL may be empty.
Prints the path.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import time
import zipfile

# Libraries that every Linux with glibc has (the manylinux policies).
EVERYWHERE = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
              "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def read(path):
    """The bytes of a file."""
    with open(path, "rb") as f:
        return f.read()


def platform_tag(program):
    """The tag of a program's platform; ends where it needs other libraries."""
    dynamic = subprocess.run(["readelf", "-dVW", program], check=True,
                             capture_output=True, text=True,
                             env=dict(os.environ, LC_ALL="C")).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    if not needed or needed - EVERYWHERE:
        sys.exit("make-wheel: the program needs libraries that not every system "
                 "has: %s" % (", ".join(sorted(needed - EVERYWHERE)) or
                              "it is not dynamically linked"))
    versions = [tuple(map(int, v.split(".")))
                for v in re.findall(r"Name: GLIBC_([0-9.]+)", dynamic)]
    return "manylinux_%d_%d_%s" % (max(versions)[:2] + (platform.machine(),))


def metadata(version, url, readme):
    """The metadata of the distribution (version 2.1)."""
    return """Metadata-Version: 2.1
Name: dlest
Version: %s
Summary: Energy of training and running deep-learning models
License: GPL-3.0-or-later
Keywords: energy,power,carbon,deep learning,GPU,green AI
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Requires-Python: >=3.8
Description-Content-Type: text/markdown
%s
%s""" % (version, "Project-URL: Homepage, %s\n" % url if url else "", readme)


class Wheel:
    """A wheel that is written; the same contents make the same bytes."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                                   compresslevel=9)
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or 315532800)
        # The format begins with 1980.
        self.time = max(time.gmtime(seconds)[:6], (1980, 1, 1, 0, 0, 0))
        self.rows = []

    def add(self, name, data, mode=0o644, record=True):
        """Adds a file."""
        entry = zipfile.ZipInfo(name, self.time)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        self.rows.append((name, "sha256=" + digest.rstrip(b"=").decode(),
                          len(data)) if record else (name, "", ""))

    def add_tree(self, folder, prefix, skip=()):
        """Adds the files below a folder."""
        for here, folders, files in os.walk(folder):
            folders[:] = sorted(f for f in folders if f not in skip)
            for name in sorted(files):
                path = os.path.join(here, name)
                self.add(os.path.join(prefix, os.path.relpath(path, folder)),
                         read(path), 0o755 if os.access(path, os.X_OK) else 0o644)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("version", "url", "program", "root", "sources", "licences",
                 "output"):
        parser.add_argument("--" + name, required=True)
    return parser.parse_args()


def main():
    """Writes it."""
    a = arguments()
    tag = "py3-none-" + platform_tag(a.program)
    path = os.path.join(a.output, "dlest-%s-%s.whl" % (a.version, tag))
    info = "dlest-%s.dist-info" % a.version
    data = "dlest-%s.data" % a.version
    wheel = Wheel(path)
    wheel.add_tree(os.path.join(a.sources, "python", "dlest"), "dlest",
                   ("__pycache__",))
    wheel.add(data + "/scripts/dlest", read(a.program), 0o755)
    # The package of Python is there already; documents are on the page.
    wheel.add_tree(os.path.join(a.root, "share"), data + "/data/share",
                   ("python", "doc"))
    for name in sorted(os.listdir(a.licences)):
        if name.endswith(".copyright"):
            wheel.add("%s/licenses/%s" % (info, name),
                      read(os.path.join(a.licences, name)))
    wheel.add(info + "/licenses/COPYING", read(os.path.join(a.sources, "COPYING")))
    readme = read(os.path.join(a.sources, "README.md")).decode()
    wheel.add(info + "/METADATA", metadata(a.version, a.url, readme).encode())
    wheel.add(info + "/WHEEL", (
        "Wheel-Version: 1.0\nGenerator: dlest make-wheel (%s)\n"
        "Root-Is-Purelib: false\nTag: %s\n" % (a.version, tag)).encode())
    rows = io.StringIO()
    csv.writer(rows, lineterminator="\n").writerows(
        wheel.rows + [(info + "/RECORD", "", "")])
    wheel.add(info + "/RECORD", rows.getvalue().encode(), record=False)
    wheel.zip.close()
    print(path)


main()
