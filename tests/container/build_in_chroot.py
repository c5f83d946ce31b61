#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the steps of a Containerfile in chroots, where no container engine is.

    build_in_chroot.py CONTAINERFILE CONTEXT BARE FOLDER
    build_in_chroot.py --run FOLDER ARGUMENT...

BARE is a root with the base image's system, which stands for every image that
FROM names; stages are made in FOLDER. --run starts the ENTRYPOINT of the last
stage as its USER, with the arguments in place of CMD. Needs root. Mounts are for
the caller to end: run it in a mount namespace of its own (unshare --mount).
"""

import json
import os
import shlex
import subprocess
import sys

CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
         "DEBIAN_FRONTEND": "noninteractive", "HOME": "/", "TERM": "dumb"}


def instructions(path):
    """Yields each instruction with its text, lines joined."""
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().splitlines()
                 if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


class Stage:
    """A root that steps change."""

    def __init__(self, root):
        self.root = root
        self.state = {"workdir": "/", "user": "", "env": {}, "entrypoint": [],
                      "cmd": []}

    def at(self, path):
        """A path of the stage, seen from outside."""
        inside = os.path.normpath(os.path.join(self.state["workdir"], path))
        return self.root + inside

    def call(self, words):
        """The command that runs words in the stage."""
        user = ["--userspec=" + self.state["user"]] if self.state["user"] else []
        return ["chroot"] + user + [
            self.root, "/bin/sh", "-c", 'cd "$0" && exec "$@"',
            self.state["workdir"]] + words

    def env(self):
        """Its environment: nothing of the caller but the way to the network."""
        proxies = {k: v for k, v in os.environ.items()
                   if k.lower().endswith("_proxy")}
        return dict(CLEAN, **proxies, **self.state["env"])

    def run(self, text):
        """RUN."""
        subprocess.run(self.call(["/bin/sh", "-c", text]), check=True,
                       env=self.env(), stdin=subprocess.DEVNULL,
                       stdout=sys.stderr)

    def copy(self, text, context, stages):
        """COPY, of the context or of another stage."""
        words = shlex.split(text)
        options = [w for w in words if w.startswith("--")]
        *sources, target = [w for w in words if not w.startswith("--")]
        base = context
        for option in options:
            name, _, value = option.partition("=")
            if name != "--from":
                sys.exit("COPY %s: unknown" % option)
            base = stages[value].root
        os.makedirs(self.at(target), exist_ok=True)
        for source in sources:
            path = os.path.join(base, source.lstrip("/"))
            subprocess.run(["cp", "-a", path + "/." if os.path.isdir(path)
                            else path, self.at(target)], check=True)


def new_root(bare, root):
    """A copy of the bare root with the machine's network and repositories."""
    subprocess.run(["cp", "-a", bare, root], check=True)
    for path in ("/etc/apt", "/etc/ssl/certs", "/usr/share/keyrings",
                 "/usr/local/share/ca-certificates"):
        if os.path.isdir(path):
            os.makedirs(root + path, exist_ok=True)
            subprocess.run(["cp", "-aL", path + "/.", root + path], check=False,
                           stderr=subprocess.DEVNULL)
    for path in ("/etc/resolv.conf", "/etc/hosts"):
        subprocess.run(["cp", "-L", path, root + path], check=False)
    mount(root)


def mount(root):
    """Its /proc and /dev."""
    subprocess.run(["mount", "-t", "proc", "proc", root + "/proc"], check=True)
    subprocess.run(["mount", "--bind", "/dev", root + "/dev"], check=True)


def build(containerfile, context, bare, folder):
    """Makes all stages; the last one's state is kept in FOLDER/last.json."""
    stages, stage, name = {}, None, ""
    for word, text in instructions(containerfile):
        print("# %s %s" % (word, text[:60]), file=sys.stderr, flush=True)
        if word == "FROM":
            words = text.split()
            name = words[2] if len(words) == 3 else str(len(stages))
            stage = stages[name] = Stage(os.path.join(folder, name))
            new_root(bare, stage.root)
        elif word == "RUN":
            stage.run(text)
        elif word == "COPY":
            stage.copy(text, context, stages)
        elif word == "WORKDIR":
            stage.state["workdir"] = text
            os.makedirs(stage.at("."), exist_ok=True)
        elif word == "USER":
            stage.state["user"] = text
        elif word == "ENV":
            stage.state["env"].update(w.split("=", 1) for w in shlex.split(text))
        elif word in ("ENTRYPOINT", "CMD"):
            stage.state[word.lower()] = json.loads(text)
        else:
            sys.exit("%s: unknown" % word)
    with open(os.path.join(folder, "last.json"), "w", encoding="utf-8") as f:
        json.dump([stage.root, stage.state], f)


def start(folder, arguments):
    """Runs the container's program in place of this one."""
    with open(os.path.join(folder, "last.json"), encoding="utf-8") as f:
        root, state = json.load(f)
    stage = Stage(root)
    stage.state = state
    words = state["entrypoint"] + (arguments or state["cmd"])
    call = stage.call(words)
    os.execvpe(call[0], call, stage.env())


if sys.argv[1] == "--run":
    start(sys.argv[2], sys.argv[3:])
else:
    build(*sys.argv[1:])
