#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `plush batch --slurm` on a real Slurm cluster of two virtual nodes on the loopback. Half-way, one node
# dies with its step daemons and its bakes. Every asset must be there, with the bytes of a local run,
# as must every failed bake with its exit code. Needs root and the Debian packages slurm-wlm and munge.
#
# usage: PLUSH_TEST_FULL=1 slurm_batch.sh PLUSH WORK_DIR
set -uo pipefail
[ $# = 2 ] || { sed -n '7s/^# //p' "$0"; exit 1; }
[ "${PLUSH_TEST_FULL:-0}" != 0 ] || { echo "SKIPPED: tests/run.sh --full runs the group farm"; exit 0; }
for program in ninja slurmctld slurmd sbatch munged; do
  command -v $program >/dev/null || { echo "SKIPPED: there is no $program (tools/setup.sh farm)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "SKIPPED: Slurm's daemons need root"; exit 0; }
[ ! -e /run/munge/munge.socket.2 ] || { echo "SKIPPED: this machine has a munge of its own"; exit 0; }
plush=$(realpath "$1") work=$2
failed=0

rm -rf "$work"
mkdir -p "$work/models" "$work/slurm" /run/munge
work=$(realpath "$work")
cd "$work" || exit
daemons=()
stop() {
  scancel --user=root 2>/dev/null && sleep 2
  pkill_tree "${n2:-}"
  [ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
  wait 2>/dev/null
  rm -f /run/munge/plush_test.*
}
# Kills a process and all below it, which may have sessions of their own.
pkill_tree() {
  local child
  [ -n "$1" ] || return 0
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do pkill_tree "$child"; done
  kill -KILL "$1" 2>/dev/null
}
trap stop EXIT

key=/run/munge/plush_test.key
head -c 1024 /dev/urandom >$key
chown munge /run/munge $key
chmod 400 $key
runuser -u munge -- munged --foreground --key-file=$key --pid-file=/run/munge/plush_test.pid \
  --log-file=/dev/null --seed-file=/run/munge/plush_test.seed >munge.log 2>&1 &
daemons+=($!)
cat >slurm/slurm.conf <<END
ClusterName=plush
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
MpiDefault=none
SlurmctldPort=46817
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool.%n
SlurmctldPidFile=$work/slurm/ctld.pid
SlurmdPidFile=$work/slurm/slurmd.%n.pid
SlurmctldLogFile=$work/slurm/ctld.log
SlurmdLogFile=$work/slurm/slurmd.%n.log
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=46821 CPUs=1 RealMemory=1000
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=46822 CPUs=1 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES
END
cat >slurm/cgroup.conf <<END
CgroupPlugin=cgroup/v1
CgroupAutomount=no
IgnoreSystemd=yes
END
export SLURM_CONF=$work/slurm/slurm.conf
mkdir -p slurm/state
for _ in 1 2 3 4 5 6 7 8 9 10; do [ ! -e /run/munge/munge.socket.2 ] || break; sleep 0.2; done
slurmctld -c -D >ctld.out 2>&1 &
daemons+=($!)
slurmd -N n1 -D >n1.out 2>&1 &
n1=$!
daemons+=($n1)
slurmd -N n2 -D >n2.out 2>&1 &
n2=$!
for _ in $(seq 100); do
  [ "$(sinfo --noheader --Node --format=%t 2>/dev/null | grep -c idle)" != 2 ] || break
  sleep 0.3
done
[ "$(sinfo --noheader --Node --format=%t | grep -c idle)" = 2 ] || { echo "the cluster does not start"; tail ./*.out slurm/*.log; exit 1; }

# Balls of 0.5 to 2 s, and a model that cannot be baked.
ball() {
  awk -v n="$1" -v m="$2" 'BEGIN {
    pi = atan2(0, -1)
    for (i = 0; i <= n; ++i) for (j = 0; j < m; ++j) {
      a = pi * i / n; b = 2 * pi * j / m
      printf "v %.5f %.5f %.5f\n", sin(a) * cos(b), cos(a), sin(a) * sin(b) }
    for (i = 0; i < n; ++i) for (j = 0; j < m; ++j) {
      k = (j + 1) % m
      printf "f %d %d %d %d\n", i * m + j + 1, i * m + k + 1, (i + 1) * m + k + 1, (i + 1) * m + j + 1 } }'
}
for i in $(seq 24); do ball $((12 + i)) $((20 + i)) >"models/Bob's ball \$$i.obj"; done
echo "v 0 0 0" >models/broken.obj
echo '{"root": "models", "inputs": ["*.obj"], "options": [{"match": "**", "bake": {"tets": 900}}]}' >batch.json
sums() { (cd "$1" && find . -name '*.plush' -exec sha256sum {} + | LC_ALL=C sort -k2); }

"$plush" batch batch.json -o expected -q
expected_code=$?
sums expected >expected.sums

"$plush" batch batch.json -o tree --slurm --slurm-task 20 --report report.json &
batch=$!
# The step daemons of n2: their tasks know its name.
steps_of_n2() {
  local p child
  for p in $(pgrep -f '^slurmstepd: '); do
    child=$(awk '{ print $1; exit }' "/proc/$p/task/$p/children" 2>/dev/null)
    ! grep -qzF "SLURMD_NODENAME=n2" "/proc/$child/environ" 2>/dev/null || echo "$p"
  done
}
# Half-way: when a third of the results are there, and n2 has a task.
steps=
for _ in $(seq 1200); do
  if [ "$(find tree/.batch/slurm.*/done -mindepth 2 -maxdepth 2 2>/dev/null | wc -l)" -ge 8 ]; then
    steps=$(steps_of_n2)
    [ -z "$steps" ] || break
  fi
  sleep 0.05
done
[ -n "$steps" ] || { echo "n2 had no task"; failed=1; }
echo "killing n2 and $(wc -w <<<"$steps") step daemon; the queue: $(squeue --noheader --array --format='%i %t %N' | tr '\n' ' ')"
pkill_tree "$n2"
for step in $steps; do pkill_tree "$step"; done
start=$SECONDS
wait $batch
code=$?
echo "the batch ended $((SECONDS - start)) s after the node's death"
[ $code = $expected_code ] || { echo "exit code $code instead of $expected_code"; failed=1; }
sums tree | cmp - expected.sums || { echo "other bytes"; failed=1; }
grep -q '"failed": 1' report.json && grep -q '"baked": 24' report.json || { echo "a wrong report"; failed=1; }
left=$(find tree -name 'slurm.*' -o -name '*.tmp*')
[ -z "$left" ] || { echo "left: $left"; failed=1; }
[ -z "$(squeue --noheader)" ] || sleep 5

# Ninja holds all for done but the failed bake.
"$plush" batch batch.json -o tree --report again.json -q 2>/dev/null
grep -q '"unchanged": 24' again.json || { echo "the next run baked again"; failed=1; }

# A batch that is killed leaves jobs; the next one ends them and does the rest.
rm -rf tree
"$plush" batch batch.json -o tree --slurm --slurm-task 20 -q 2>/dev/null &
batch=$!
sleep 4
kill -KILL $batch
wait $batch 2>/dev/null
"$plush" batch batch.json -o tree -q 2>/dev/null
[ -z "$(find tree -name 'slurm.*')" ] || { echo "the next batch left a folder"; failed=1; }
sums tree | cmp - expected.sums || { echo "other bytes after a kill of the batch"; failed=1; }
[ "$failed" = 0 ] && echo "24 assets on two nodes, one killed: the bytes of a local run"
exit $failed
