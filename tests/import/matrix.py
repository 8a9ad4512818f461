#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Five models through gltfpack and gltf-transform: what plush makes of each product against what gltf_reader.mjs reads
from it and from the model. PLUSH_TEST_FULL=1 adds each tool on the products of the other.

usage: matrix.py PLUSH NPM FOLDER     NPM has the packages of package.json; FOLDER gets the products
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

import import_files
import matrix_models
import plush_check

TOOLS = {"pack": ["gltfpack"], "pack_c": ["gltfpack", "-c"], "pack_cc": ["gltfpack", "-cc"],
         "pack_noq": ["gltfpack", "-noq"], "pack_vpf": ["gltfpack", "-vpf"],
         **{f"transform_{name}": ["gltf-transform", name] for name in ("quantize", "meshopt", "draco")},
         "transform_optimize": ["gltf-transform", "optimize", "--simplify", "false", "--join", "false", "--palette",
                                "false", "--flatten", "false"]}
DEGREES = math.pi / 180


def apply(npm, tool, source, target):
    """True if the tool made the target."""
    program = ["node", npm / "node_modules/.bin" / TOOLS[tool][0]]
    files = ["-i", source, "-o", target] if TOOLS[tool][0] == "gltfpack" else [source, target]
    options = TOOLS[tool][1:]
    command = program + options + files if files[0] == "-i" else program + options[:1] + files + options[1:]
    return subprocess.run(command, capture_output=True).returncode == 0


class Vertices:
    """Positions with normals, found by position."""

    def __init__(self, rows, cell):
        self.cell, self.rows = cell, {}
        for row in rows:
            self.rows.setdefault(self.key(row), []).append(row)

    def key(self, row):
        return tuple(math.floor(x / self.cell) for x in row[:3])

    def angle(self, row):
        """The least angle to the normal of a vertex within a cell's size; None if there is none."""
        i, j, k = self.key(row)
        near = [r for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)
                for r in self.rows.get((i + a, j + b, k + c), ()) if math.dist(r[:3], row[:3]) <= self.cell]
        return min((angle_of(r[3:], row[3:]) for r in near), default=None)


def angle_of(a, b):
    lengths = math.hypot(*a) * math.hypot(*b)
    return math.acos(max(-1, min(1, sum(x * y for x, y in zip(a, b)) / lengths))) if lengths else 0


def unmatched(rows, others, distance, angle, what):
    """A complaint if a vertex of `rows` has no like in `others`."""
    index = Vertices(others, distance)
    angles = [index.angle(row) for row in rows]
    lost = sum(a is None for a in angles)
    worst = max((a for a in angles if a is not None), default=0)
    return ([f"{lost} of {len(rows)} vertices are farther than {distance:.3g} m from {what}"] if lost else []) + (
        [f"a normal is {worst / DEGREES:.2f} degrees off {what}"] if worst > angle else [])


def bake(plush, path, *options):
    """What the bake's report says of the cage, and the render vertices as x y z nx ny nz; None and why if it fails."""
    plush_file, report = path.with_suffix(".plush"), path.with_suffix(".json")
    done = subprocess.run([plush, "bake", path, "-q", "-o", plush_file, "--report", report, *options],
                          capture_output=True)
    if done.returncode:
        return None, f"bake ends with {done.returncode}: {done.stderr.decode()[:200]}"
    usda = path.with_suffix(".usda")
    subprocess.run([plush, "export", plush_file, "-q", "-o", usda], check=True)
    text = usda.read_text()
    visual = text[text.index('def Mesh "Visual"'):]
    columns = [[list(map(float, row.split(","))) for row in re.search(name + r" = \[\((.*)\)\]", visual)[1].split("), (")]
               for name in ("points", "primvars:normals")]
    return json.loads(report.read_text())["simulation"], [p + n for p, n in zip(*columns)]


def compare(plush, job):
    """The complaints about a product: (name, path, facts, facts of the model, its cage, the tools)."""
    _, path, facts, model, cage, tools = job
    exact = tools in ((), ("pack_noq",))
    if "refused" in facts:
        return ["the second reader refuses it: " + facts["refused"]]
    check = plush_check.Check(plush, path)
    wrong = plush_check.complaints(check, import_files.wanted_of(facts))
    if wrong or check.exit:  # a tool may leave nothing of another one's product
        return wrong
    materials = {p["material"] for p in check.source["parts"]}
    if not {m for m in facts["materials"] if m} <= materials or len(materials) != len(facts["materials"]):
        wrong.append(f"materials {sorted(materials)}, wanted {facts['materials']}")
    found = {a.split(".")[0] for a in check.source["attributes"]} | ({"TEXCOORD_0"} if check.source["has_uvs"] else set())
    wanted = {a for a in facts["attributes"] if a[0] == "_" or a.startswith("COLOR") or a == "TEXCOORD_0"}
    if found != wanted:
        wrong.append(f"attributes {sorted(found)}, wanted {sorted(wanted)}")
    if len(check.source["joints"]) != facts["joints"]:
        wrong.append(f"{len(check.source['joints'])} joints, wanted {facts['joints']}")
    # With cells of the model's size: the search for a number of tets may end anywhere within 5% of it.
    found, vertices = bake(plush, path, "--cell", repr(cage["cell_m"]))
    if found is None:
        return wrong + [vertices]
    if abs(found["tets"] - cage["tets"]) > (0 if exact else 0.02 * cage["tets"]):
        wrong.append(f"{found['tets']} tets, wanted {cage['tets']}")
    size = math.dist(*model["box"])
    read = facts["vertices"]
    # Decoders of normals in bytes round differently: half a degree for each unit.
    wrong += unmatched(vertices, read, 3e-6 * size, DEGREES, "what the second reader reads")
    wrong += unmatched(read, vertices, 3e-6 * size, DEGREES, "what plush bakes")
    distance, angle = (3e-6, DEGREES) if exact else (2.0**-13 * len(tools), 2 * DEGREES * len(tools))
    return wrong + unmatched(vertices, model["vertices"], distance * size, angle, "the model")


def models(folder):
    """GLB files: two samples, one of assimp-testmodels, two of our own."""
    samples = import_files.HERE.parent.parent / "samples/models"
    for name in ("bear", "duck"):
        shutil.copy(samples / (name + ".glb"), folder)
    boxed = import_files.CORPUS / "glTF2/BoxTextured-glTF-Binary/BoxTextured.glb"
    if boxed.exists():
        shutil.copy(boxed, folder)
    (folder / "coloured.glb").write_bytes(matrix_models.coloured())
    (folder / "worm.glb").write_bytes(matrix_models.worm())
    return sorted(folder.glob("*.glb"))


def products(npm, folder, sources):
    """(path, model, tools) of what the tools make, two at a time."""
    names = [(t,) for t in TOOLS]
    if os.environ.get("PLUSH_TEST_FULL"):
        names += [(a, b) for a in TOOLS for b in TOOLS if TOOLS[a][0] != TOOLS[b][0]]
    jobs = [(model.with_suffix(f".{'.'.join(tools)}.glb"), model, tools) for tools in names for model in sources]

    def make(job):
        path, model, tools = job
        source = model if len(tools) == 1 else model.with_suffix(f".{tools[0]}.glb")
        return apply(npm, tools[-1], source, path)

    made = []
    for step in (1, 2):
        mine = [job for job in jobs if len(job[2]) == step]
        with plush_check.concurrent.futures.ThreadPoolExecutor(2) as pool:
            for job, ok in zip(mine, pool.map(make, mine)):
                if ok:
                    made.append(job)
                elif step == 1:
                    sys.exit(f"{job[2][0]} fails on {job[1]}")
                else:
                    print(f"left out: {job[2][1]} refuses {job[0].name}")
    return made


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    plush, npm, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources = models(folder)
    facts = import_files.read_gltf(npm, sources, "--vertices")
    made = products(npm, folder, sources)
    facts.update(import_files.read_gltf(npm, [p for p, _, _ in made], "--vertices"))
    cages = {}
    for m in sources:
        cages[m], why = bake(plush, m)
        if cages[m] is None:
            sys.exit(f"{m.name}: {why}")
        cages[m] = bake(plush, m, "--cell", repr(cages[m]["cell_m"]))[0]
    jobs = [(m.name, m, facts[m], facts[m], cages[m], ()) for m in sources]
    jobs += [(p.name, p, facts[p], facts[m], cages[m], tools) for p, m, tools in made]
    plush_check.run_all(jobs, lambda job: compare(plush, job))


if __name__ == "__main__":
    main()
