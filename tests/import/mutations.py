#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes files of tests/data/import at random: plush check must refuse each or read it, without a signal, a hang or a
box of absurd size that no finding mentions. 100 files per format, 2,000 with PLUSH_TEST_FULL=1.

usage: mutations.py PLUSH [FOLDER [SEED [FORMAT]]]     FOLDER keeps the files that fail
"""
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import sys
import tempfile
import zipfile

import plush_check

DATA = pathlib.Path(__file__).resolve().parent.parent / "data/import"
FORMATS = {"gltf": ("uri_data.gltf",), "meshopt": ("meshopt.glb", "meshopt_noq.glb"), "draco": ("draco.glb",),
           "glb": ("morph.glb", "sparse.glb", "strip_and_fan.glb", "skin.glb", "instancing_required.glb",
                   "quantized_short_norm.glb"),
           "ply_ascii": ("ply_ascii.ply",), "ply_binary": ("ply_lf.ply", "ply_big.ply", "ply_double.ply"),
           "stl_ascii": ("stl_two.stl", "stl_keywords.stl"), "stl_binary": ("stl_binary.stl",),
           "obj": ("obj_colours.obj", "obj_vt_u.obj", "polygon_comb.obj", "obj_continued.obj"),
           "3mf": ("3mf_components.3mf", "3mf_colours.3mf", "3mf_support.3mf")}
NUMBERS = [b"0", b"-1", b"1", b"2", b"3", b"255", b"65536", b"2147483648", b"4294967295", b"18446744073709551616", b"1e9",
           b"1e38", b"-1e38", b"1e400", b"nan", b"inf", b"0.1", b"1e-45", b""]
WORDS = [struct.pack("<I", x) for x in (0, 1, 2, 255, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000, 0x7FC00000,
                                        0x7F7FFFFF, 0x0000000A)]


def flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data, rng):
    return data[:rng.randrange(len(data))]


def remove(data, rng):
    at, size = rng.randrange(len(data)), rng.choice((1, 4, 16, 100))
    return data[:at] + data[at + size:]


def double(data, rng):
    at, size = rng.randrange(len(data)), rng.choice((1, 4, 16, 100))
    return data[:at + size] + data[at:]


def word(data, rng):
    at = rng.randrange(len(data)) & ~3
    return data[:at] + rng.choice(WORDS) + data[at + 4:]


def number(data, rng):
    """Another number in text, or a line that is there again."""
    places = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data))
    if not places:
        return word(data, rng)
    place = rng.choice(places)
    return data[:place.start()] + rng.choice(NUMBERS) + data[place.end():]


def edited(data, rng):
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        edit = rng.choice((flip, cut, remove, double, word, number, number, number))
        data = edit(data, rng) or b"\0"
    return data


def mutant(data, name, rng):
    """Half of the edits of containers are inside, so that the outside stays whole."""
    if name.endswith(".3mf") and rng.random() < 0.7:
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
            for item in source.namelist():
                inside = source.read(item)
                target.writestr(item, edited(inside, rng) if item.endswith(".model") else inside)
        return packed.getvalue()
    if name.endswith(".glb") and rng.random() < 0.8:
        size = struct.unpack_from("<I", data, 12)[0]
        text, rest = data[20:20 + size], data[28 + size:]
        if rng.random() < 0.7:
            text = number(text, rng) if rng.random() < 0.8 else edited(text, rng)
        else:
            rest = edited(rest, rng)
        text += b" " * (-len(text) % 4)
        return (struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(rest), len(text), 0x4E4F534A) + text +
                struct.pack("<II", len(rest), 0x004E4942) + rest)
    return edited(data, rng)


def faults(check, size):
    """What a run did that no file may cause."""
    if check.fault:
        return [check.fault]
    if check.exit == 6:
        return ["reached a limit: " + json.dumps(check.findings)[:300]]
    largest = max((abs(x) for corner in check.box or [] for x in corner), default=0)
    silent = not any(f["severity"] != "info" for f in check.findings)
    absurd = any(math.isnan(x) for corner in check.box or [] for x in corner) or not largest <= 1e6 * size
    return [f"exit code 0, a box of {largest} m, and no finding"] if check.exit == 0 and absurd and silent else []


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    plush = sys.argv[1]
    keep = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if keep:
        shutil.rmtree(keep, ignore_errors=True)
    seed = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("PLUSH_TEST_SEED", "0")
    count = 2000 if os.environ.get("PLUSH_TEST_FULL") else 100
    print(f"seed {seed}, {count} files per format")
    jobs = [(f"{form}_{i}", form) for form in sys.argv[4:] or FORMATS for i in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        def work(job):
            rng = random.Random(f"{seed}/{job[0]}")
            name = rng.choice(FORMATS[job[1]])
            path = pathlib.Path(folder) / (job[0] + pathlib.Path(name).suffix)
            path.write_bytes(mutant((DATA / name).read_bytes(), name, rng))
            wrong = faults(plush_check.Check(plush, path), 10)
            if wrong and keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / path.name).write_bytes(path.read_bytes())
            path.unlink()
            return wrong

        plush_check.run_all(jobs, work)


if __name__ == "__main__":
    main()
