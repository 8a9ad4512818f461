#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that plush reads files right or refuses them by name.

usage: import_files.py PLUSH SUITE [NPM]
  own     tests/data/import, by its want.json; bakes them, too
  cases   the folder cases beside PLUSH_TEST_MODELS, by cases.json
  corpus  OBJ, PLY, STL and 3MF of Debian's assimp-testmodels, by readers.py
  gltf    glTF of assimp-testmodels, by gltf_reader.mjs with the packages in folder NPM
Files on which the readers rightly differ are listed in corpus.json, with the reason.
"""
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import plush_check
import readers

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path("/usr/share/assimp/models")


def skip(reason):
    print("SKIPPED: " + reason)
    sys.exit(0)


def read_gltf(npm, files, *options):
    """What gltf_reader.mjs says, by file. Skips the test if the packages are missing."""
    if not (pathlib.Path(npm) / "node_modules/.package-lock.json").exists():
        skip(f"there are no npm packages in {npm}; tools/setup.sh test installs them")
    script = pathlib.Path(npm) / "gltf_reader.mjs"  # node looks for packages beside the script
    script.write_bytes((HERE / "gltf_reader.mjs").read_bytes())
    lines = subprocess.run(["node", script, *options, *files], capture_output=True, check=True).stdout.splitlines()
    return {pathlib.Path(facts["file"]): facts for facts in map(json.loads, lines)}


def wanted_of(facts):
    """The want that follows from a second reader's facts: if it refuses, so must plush."""
    if "refused" in facts:
        return {"exit": [3, 5]}
    if facts["area"][1] == 0:
        return {"exit": 3, "code": "MESH_EMPTY"}
    return {k: facts[k] for k in ("triangles", "box", "area")}


def read_other(path):
    try:
        return readers.read(path)
    except readers.Refused as reason:
        return {"refused": str(reason)}


def own(plush):
    folder = HERE.parent / "data/import"
    wants = json.loads((folder / "want.json").read_text())
    names = {p.name for p in folder.iterdir()}
    lost = names - set(wants) - {w for want in wants.values() for w in want.get("uses", [])} - {"want.json"}
    if lost:
        sys.exit(f"want.json lacks {sorted(lost)}")

    def work(job):
        name, want = job
        check = plush_check.Check(plush, folder / name)
        wrong = plush_check.complaints(check, want)
        with tempfile.TemporaryDirectory() as out:
            bake = subprocess.run([plush, "bake", "--static", folder / name, "-q", "-o", out + "/a.plush"],
                                  capture_output=True, timeout=plush_check.SECONDS)
        return wrong + ([f"bake ends with {bake.returncode}, check with {check.exit}"]
                        if bake.returncode != check.exit else [])

    plush_check.run_all(list(wants.items()), work)


def cases(plush):
    models = os.environ.get("PLUSH_TEST_MODELS")
    folder = pathlib.Path(models).resolve().parent / "cases" if models else None
    if not folder or not folder.is_dir():
        skip("there is no folder cases beside PLUSH_TEST_MODELS" if folder else "PLUSH_TEST_MODELS is not set")
    rules = json.loads((HERE / "cases.json").read_text())
    files = [p for p in sorted(folder.glob("[01]*/*")) if p.parent.name[:2] <= "10"
             and p.suffix.lower() in (".glb", ".gltf", ".obj", ".ply", ".stl", ".3mf")]

    def want_of(path):
        wants = [want for pattern, want in rules.items() if fnmatch.fnmatch(str(path.relative_to(folder)), pattern)]
        return {k: v for want in wants for k, v in want.items()} if wants else wanted_of(read_other(path))

    plush_check.run_all([(str(p.relative_to(folder)), p, want_of(p)) for p in files],
                        lambda job: plush_check.complaints(plush_check.Check(plush, job[1]), job[2]))


def corpus(plush, endings, facts_of):
    if not CORPUS.is_dir():
        skip(f"there is no {CORPUS} (Debian package assimp-testmodels)")
    listed = json.loads((HERE / "corpus.json").read_text())
    files = [p for p in sorted(CORPUS.rglob("*")) if p.suffix.lower() in endings]
    facts = facts_of(files)

    def work(job):
        name, path = job
        want = listed[name]["want"] if name in listed else wanted_of(facts[path])
        return plush_check.complaints(plush_check.Check(plush, path), want)

    plush_check.run_all([(str(p.relative_to(CORPUS)), p) for p in files], work)


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("own", "cases", "corpus", "gltf"):
        sys.exit(__doc__)
    plush, suite = sys.argv[1:3]
    if suite == "own":
        own(plush)
    if suite == "cases":
        cases(plush)
    if suite == "corpus":
        corpus(plush, (".obj", ".ply", ".stl", ".3mf"), lambda files: {p: read_other(p) for p in files})
    corpus(plush, (".gltf", ".glb"), lambda files: read_gltf(sys.argv[3], files))


if __name__ == "__main__":
    main()
