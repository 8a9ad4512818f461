#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws how a body's free end moves, from a file that plush_bench writes.

    plush_bench --models MODELS --curves . --benchmark_filter='step/arm_4k$'
    tests/bench/plot_motion.py step_arm_4k.csv samples/pictures/swing.png

Needs matplotlib (Debian: python3-matplotlib, which brings Pillow).
"""
import csv
import io
import sys

import matplotlib
from PIL import Image

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# Column prefix, label, colour, width, dashes.
SOLVERS = [
    ("kug", "Kugelstadt's step", "#d95f02", 1.6, (5, 2)),
    ("reference", "converged implicit Euler", "#bbbbbb", 5.0, ()),
    ("plush", "Plush", "#1b4f9c", 1.6, ()),
]
PANELS = [("along_m", "horizontal position [m]"), ("height_m", "height [m]")]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_motion.py CURVES.csv PICTURE.png")
    columns = read(sys.argv[1])
    pyplot.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = pyplot.subplots(1, 2, figsize=(8.4, 3.0), sharex=True)
    for panel, (quantity, label) in zip(panels, PANELS):
        for solver, name, colour, width, dashes in SOLVERS:
            line, = panel.plot(columns["time_s"], columns[f"{solver}_{quantity}"], color=colour,
                               linewidth=width, label=name)
            if dashes:
                line.set_dashes(dashes)
        panel.set_xlabel("time [s]")
        panel.set_ylabel(label)
        panel.set_xlim(0.0, columns["time_s"][-1])
        panel.grid(color="#e8e8e8", linewidth=0.6)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncol=3, frameon=False)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.92))
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100, format="png")
    Image.open(picture).convert("RGB").quantize(48).save(sys.argv[2], optimize=True)


if __name__ == "__main__":
    main()
