# SPDX-License-Identifier: MIT
"""Runs plush check on files and compares what it says with what is wanted.

A want is a dictionary: exit (0) and, as far as given, triangles, area [m^2] (a number, or least and most), box [[low],
[high]] or size [m], within (1e-5: of the size), code (of a finding), says (a part of a finding's text). `either` lists
wants of which one must hold.
"""
import concurrent.futures
import json
import math
import subprocess
import sys

SECONDS = 60  # far above what a small file takes


class Check:
    """One run of plush check. `fault` says how it died, if it did."""

    def __init__(self, plush, path, *options):
        self.exit, self.document, self.fault = None, {}, ""
        try:
            run = subprocess.run([plush, "check", "--json", *options, "--", path], capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.fault = f"still running after {SECONDS} s"
            return
        self.exit = run.returncode
        if self.exit not in (0, 2, 3, 5, 6):
            said = run.stderr.decode(errors="replace").strip().splitlines() or [""]
            self.fault = f"ended with {self.exit}: {said[0][:300]}"
        try:
            self.document = json.loads(run.stdout)
        except ValueError:
            self.fault = self.fault or "no JSON on stdout"

    @property
    def findings(self):
        return self.document.get("findings", [])

    @property
    def source(self):
        return self.document.get("source", {})

    @property
    def box(self):
        box = self.source.get("bounding_box")
        return [[math.nan if x is None else x for x in box[k]] for k in ("low", "high")] if box else None


def complaints(check, want):
    """What differs from the want; empty if nothing."""
    if check.fault:
        return [check.fault]
    if "either" in want:
        sets = [complaints(check, {**{k: v for k, v in want.items() if k != "either"}, **w}) for w in want["either"]]
        return [] if [] in sets else [" / ".join("; ".join(s) for s in sets)]
    wrong = [f"{f['code']} has the count 0" for f in check.findings if f["count"] == 0]
    text = " | ".join(f"{f['code']}: {f['message']}" for f in check.findings)
    exits = want.get("exit", 0)
    if check.exit not in (exits if isinstance(exits, list) else [exits]):
        return wrong + [f"exit code {check.exit}, wanted {exits} ({text[:200]})"]
    if "code" in want and want["code"] not in [f["code"] for f in check.findings]:
        wrong.append(f"lacks the finding {want['code']} ({text[:200]})")
    if "says" in want and want["says"] not in text:
        wrong.append(f"does not say '{want['says']}' ({text[:200]})")
    if check.exit:
        return wrong  # a refusal has no facts
    source, within = check.source, want.get("within", 1e-5)
    if "triangles" in want and source.get("triangles") != want["triangles"]:
        wrong.append(f"{source.get('triangles')} triangles, wanted {want['triangles']}")
    if "area" in want:
        least, most = want["area"] if isinstance(want["area"], list) else (want["area"], want["area"])
        if not least * (1 - 2 * within) - 1e-12 <= source.get("area_m2", -1) <= most * (1 + 2 * within) + 1e-12:
            wrong.append(f"area {source.get('area_m2')}, wanted {want['area']}")
    box = check.box or [[math.nan] * 3] * 2
    for name, found in (("box", box), ("size", [[h - l for l, h in zip(*box)]])):
        if name in want:
            wanted = want[name] if name == "box" else [want[name]]
            scale = max(abs(x) for corner in wanted for x in corner)
            if not all(abs(f - w) <= within * scale + 1e-12 for c, d in zip(found, wanted) for f, w in zip(c, d)):
                wrong.append(f"{name} {found}, wanted {wanted}")
    return wrong


def run_all(jobs, work):
    """Calls work(job) for each job, two at a time; prints the complaints it returns. Exit code 1 if there are any."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job, wrong in zip(jobs, pool.map(work, jobs)):
            failed += bool(wrong)
            for line in wrong:
                print(f"FAILED: {job[0]}: {line}")
    print(f"{len(jobs)} cases, {failed} failed")
    sys.exit(bool(failed) or not jobs)
