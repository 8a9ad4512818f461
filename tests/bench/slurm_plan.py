#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays `plush batch --slurm` on paper: prints arrays, files, requests and times of a large batch.

usage: slurm_plan.py [ASSETS=100000] [NODES=200] [DEATHS=2]

Bakes take 1 to 30 s, evenly spread. The rules are those of tools/batch/slurm_run.cpp. Counted from its script
and from the collector: requests to the file system for each asset. Assumed: a task starts in 2 s, a
node runs one task at a time, a listing returns 128 names in a request. Slurm's own way to run the
tasks of dead nodes again, SlurmdTimeout and 120 s later, is left out.
"""

import heapq
import random
import sys

assets, nodes, deaths = [int(a) for a in sys.argv[1:]] + [100000, 200, 2][len(sys.argv) - 1:]
TASK_S, MAX_TASKS, START_S, ARRAY, FOLDER = 300.0, 8000, 2.0, 1001, 1000
POLL_S, NAMES = 10.0, 128
# Task: make and rename the folder, make 5 files of which 2 are renamed, look up 3 inputs. Collector: read 3,
# compare 1, rename 2, make and remove a script, remove 5. Ninja: find 2 outputs and 2 sources.
NODE_REQUESTS, COLLECTOR_REQUESTS = 12, 13 + 4

random.seed(20)
costs = sorted((random.uniform(1.0, 30.0) for _ in range(assets)), reverse=True)
task_s = max(TASK_S, sum(costs) / MAX_TASKS)
chunks, cost, bakes = [], 0.0, []
for c in costs:
    bakes.append(c)
    cost += c
    if cost >= task_s:
        chunks.append(bakes)
        cost, bakes = 0.0, []
if bakes:
    chunks.append(bakes)


def play(tasks, free, dying):
    """Runs tasks in order on nodes that get free; returns the end and the bakes of dead nodes."""
    heapq.heapify(free)
    ends, lost = [], []
    for task in tasks:
        start, node = heapq.heappop(free)
        end = start + START_S + sum(task)
        if dying.get(node, 1e18) < end:
            done_s = max(dying[node] - start - START_S, 0.0)
            for c in task:
                done_s -= c
                if done_s < 0.0:
                    lost.append(c)
            continue
        ends.append(end)
        heapq.heappush(free, (end, node))
    return max(ends), lost, free


ideal = sum(costs) / nodes
dying = {n: ideal * (n + 1) / (deaths + 1) for n in range(deaths)}
end, lost, free = play(chunks, [(0.0, n) for n in range(nodes)], dying)
total = end
if lost:
    patience = max(60.0, 4.0 * max(lost))
    silent = max(end + patience, 0.0)
    total, more, _ = play([[c] for c in lost], [(silent, n) for _, n in free], {})
    assert not more
sizes = [len(chunk) for chunk in chunks]
polls = total / POLL_S
listings = -(-assets // FOLDER) * (2 + FOLDER // NAMES)
print("assets, nodes, deaths          %d, %d, %d" % (assets, nodes, deaths))
print("tasks                          %d of %d to %d assets" % (len(chunks), min(sizes), max(sizes)))
print("arrays                         %d" % -(-len(chunks) // ARRAY))
print("sum of bakes / nodes           %.0f s" % ideal)
print("end of the first round         %.0f s (%.1f%%)" % (end, 100.0 * ideal / end))
print("lost with dead nodes           %d bakes" % len(lost))
print("end of the batch               %.0f s (%.1f%%)" % (total, 100.0 * ideal / total))
print("most entries of a folder       %d chunks, %d logs, %d results" % (len(chunks) + len(lost), len(chunks) + len(lost), FOLDER))
print("requests by tasks              %.0f per s" % (NODE_REQUESTS * assets / end))
print("requests by collector, at most %.0f per s for results, %.0f per s for listings" %
      (COLLECTOR_REQUESTS * assets / end, listings / POLL_S))
print("files made and removed         %.2f million" % (6 * assets / 1e6))
