#!/usr/bin/env bash
# Starts a SLURM cluster of four nodes on this machine, without systemd, in a temporary folder. Runs shards of a small
# experiment on it, with a dead node, a time limit that is reached and a second submission, and compares every result with
# a local run, bit by bit.
#   scripts/slurm_box.sh [PROGRAM]     as root; PROGRAM is by default target/release/ssvm-bench
# Prints a verdict per step. Exit code 0: all steps passed, 1: a step failed, 77: SLURM cannot be installed here.
set -uo pipefail
program="${1:+$(realpath "$1")}"
cd "$(dirname "$0")/.." || exit 1
program="${program:-$(realpath "${CARGO_TARGET_DIR:-target}/release/ssvm-bench")}"
[ -x "$program" ] || { echo "no program at $program: cargo build --release" >&2; exit 1; }

[ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] || { echo "needs Linux and root: packages are installed, daemons started"; exit 77; }
have() { command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged; } >/dev/null
if ! have; then
    echo "installing slurm-wlm and munge"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -q && apt-get install -q -y --no-install-recommends slurm-wlm munge; } >/dev/null 2>&1
    have || { echo "slurm-wlm and munge cannot be installed here"; exit 77; }
fi

box="$(mktemp -d)"
chmod 711 "$box"
export SLURM_CONF="$box/slurm.conf"
port=$((20000 + RANDOM % 20000))
host="$(hostname -s 2>/dev/null || uname -n)"

# Every process of this box has its configuration in the environment, tasks and orphan included. No other program is
# called for the answer: tasks are short.
processes() { # [PROGRAM [NODE]]
    local folder words
    for folder in /proc/[0-9]*; do
        [ -z "${1:-}" ] || [ "$folder/exe" -ef "$1" ] || continue
        { mapfile -d '' words <"$folder/environ"; } 2>/dev/null
        words=$'\n'"$(IFS=$'\n'; echo "${words[*]}")"$'\n'
        [[ $words == *$'\n'"SLURM_CONF=$SLURM_CONF"$'\n'* ]] || continue
        [ -z "${2:-}" ] || [[ $words == *$'\n'"SLURMD_NODENAME=$2"$'\n'* ]] || continue
        echo "${folder#/proc/}"
    done
}
clean() {
    trap '' EXIT INT TERM HUP
    local pid
    for pid in $(processes); do
        [ "$pid" = "$BASHPID" ] || [ "$pid" = "$$" ] || kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$box"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP
# Even after kill -9 of this script nothing stays behind.
main=$$
(trap '' INT TERM HUP; trap - EXIT; exec >/dev/null 2>&1; while kill -0 "$main"; do sleep 1; done; clean) &

failures=0
verdict() { # CODE WORDS
    if [ "$1" = 0 ]; then echo "ok      $2 ($SECONDS s)"; else echo "FAILED  $2 ($SECONDS s)"; failures=$((failures + 1)); fi
}
# The log of a step, only when it fails.
quietly() { "$@" >"$box/last" 2>&1 || { local code=$?; sed 's/^/        /' "$box/last"; return $code; }; }
within() { # SECONDS COMMAND…: until it succeeds
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
}

head -c 1024 /dev/urandom >"$box/munge.key"
chmod 600 "$box/munge.key"
mkdir -p "$box/state" "$box/spool"
cat >"$SLURM_CONF" <<CONF
ClusterName=box
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$box/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$box/state
SlurmdSpoolDir=$box/spool/%n
SlurmctldPidFile=$box/slurmctld.pid
SlurmdPidFile=$box/%n.pid
SlurmctldLogFile=$box/slurmctld.log
SlurmdLogFile=$box/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$box/jobcomp.txt
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MaxArraySize=4
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,bf_interval=2
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=$(nproc)
PartitionName=box Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
CONF
munged --force --key-file="$box/munge.key" --socket="$box/munge.socket" --pid-file="$box/munged.pid" \
    --log-file="$box/munged.log" --seed-file="$box/munge.seed" 2>/dev/null
slurmctld -i
for node in n1 n2 n3 n4; do slurmd -N "$node"; done
idle() { [ "$(sinfo -h -o '%D %t' 2>/dev/null)" = "4 idle" ]; }
within 30 idle
verdict $? "a controller and four nodes of $(sbatch --version)"
[ "$failures" = 0 ] || { tail -n 5 "$box"/*.log; exit 1; }

# Seconds of work on a clock that is the same everywhere.
cat >"$box/box.toml" <<'CONFIG'
name = "box"
seed = 1
repeats = 2
clock = "virtual"
evaluate = "every:1"
[budget]
iterations = 600
[[dataset]]
name = "usps-synth:n=300"
[[dataset]]
name = "ocr-synth:n=100"
[[dataset]]
name = "horseseg-synth:n=10"
[[solver]]
name = "bcfw"
[[solver]]
name = "mp-bcfw"
[[solver]]
name = "mp-bcfw-avg"
CONFIG
quietly "$program" run "$box/box.toml" --out "$box/local"
verdict $? "local run"

bench() { "$program" "$@"; }
empty() { [ -z "$(squeue -h)" ]; }
same() { # DIR: its runs are those of the local run, to the bit
    local merged
    rm -rf "$box/both"
    merged="$(bench cluster merge "$box/local" "$1" --out "$box/both" --ids "$1/shards.txt" --format json)" || return 1
    # Of each run two records, and no run whose two records differ.
    [ "$(grep -o '"runs":[0-9]*' <<<"$merged" | head -1)" = '"runs":18' ] && grep -q '"contradictions":\[\]' <<<"$merged" &&
        [ "$(grep -o '"doubles":[0-9]*' <<<"$merged" | cut -d: -f2)" -ge 18 ]
}
# Tasks that hear SIGUSR1 (bit 10 of what is caught), on this node or on all.
tasks_on() {
    local pid caught
    for pid in $(processes "$program" "${1:-}"); do
        { caught="$(<"/proc/$pid/status")"; } 2>/dev/null || continue
        caught="${caught##*SigCgt:}"
        caught="${caught%%$'\n'*}"
        caught="${caught//[[:space:]]/}"
        [ $((16#${caught:-0} >> 9 & 1)) = 0 ] || echo "$pid"
    done
}
# Waits until this many tasks are stopped; their pids are in $caught.
stop() { # COUNT [NODE]
    caught="$(tasks_on "${2:-}" | head -n "$1")"
    [ "$(wc -w <<<"$caught")" = "$1" ] && kill -STOP $caught 2>/dev/null
}
states() { bench cluster status "$1" --format json 2>/dev/null | grep -o '"state":"[a-z]*"' | sort | uniq -c | tr -s ' \n' ' '; }

# 1. An array from end to end, whole nodes, a name that needs quotes, more shards than indices.
out="$box/it's \"one\" 100% #1"
quietly bench cluster submit "$box/box.toml" --out "$out" --shards 6 --time 10m --exclusive --dry-run &&
    empty && [ ! -e "$out" ]
verdict $? "a dry run writes nothing and submits nothing"
quietly bench cluster submit "$box/box.toml" --out "$out" --shards 6 --time 10m --exclusive
verdict $? "six shards submitted, in $(grep -c '"job"' "$out/slurm/jobs.json") arrays with indices below 4"
within 180 empty && [ -s "$out/report.html" ] && [ -s "$out/figures/oracle_convergence.svg" ] && same "$out"
verdict $? "they ran, were merged and reported, the same bits as the local run"
[ "$(states "$out")" = ' 6 "state":"done" ' ]
verdict $? "status: all done"
bench cluster submit "$box/box.toml" --out "$out" 2>&1 | grep -q "nothing to submit"
verdict $? "a second submission finds nothing to do"

# 2. A node dies. Its daemon is killed, its tasks are not: they go on while others do the same shards.
out="$box/two"
quietly bench cluster submit "$box/box.toml" --out "$out" --shards 2 --time 10m --jobs 1
within 60 stop 1 n1 && orphan="$caught" && kill -9 "$(cat "$box/n1.pid")"
verdict $? "the daemon of node n1 killed, its task stands still"
[ "$failures" = 0 ] || exit 1
requeued() { grep -qi "requeu" "$box/slurmctld.log"; }
within 90 requeued
verdict $? "what was on the node went back into the queue"
# SLURM lets such a job wait for two minutes.
for job in $(squeue -h -t PENDING -o %A); do scontrol update "JobId=$job" StartTime=now 2>/dev/null; done
within 180 empty
verdict $? "another node did it"
ended() { [ ! -e "/proc/$1" ]; }
kill -CONT "$orphan" && within 120 ended "$orphan"
verdict $? "the orphan went on and ended as well"
twice="$(ls "$out/shards" | cut -d. -f1 | sort | uniq -d | wc -l)"
[ "$twice" -gt 0 ] && same "$out"
verdict $? "shards that ran twice: $twice; nothing is lost, the same bits"
slurmd -N n1
within 60 idle
verdict $? "the node is back"

# 3. One task reaches the time limit, the signal before it stops another, the rest goes on. Both stand still until then:
# SLURM wakes who it signals, so the first is stopped again and again.
out="$box/three"
quietly bench cluster submit "$box/box.toml" --out "$out" --shards 3 --time 1m --jobs 1
within 60 stop 2
verdict $? "two tasks stand still"
[ "$failures" = 0 ] || exit 1
struck="$(head -n 1 <<<"$caught")"
warned="$(tail -n 1 <<<"$caught")"
(trap - EXIT; while kill -STOP "$struck" 2>/dev/null; do sleep 0.005; done) &
within 90 ended "$warned" && grep -q "runs are left" "$out"/slurm/*.log
verdict $? "SIGUSR1 before the time limit stopped one between two runs"
[ -e "/proc/$struck" ] && within 120 ended "$struck"
verdict $? "the time limit ended the other"
within 60 empty
verdict $? "no other task was cancelled, and the gathering job ran"
shown="$(bench cluster status "$out" 2>&1)"
grep -q "failed.*TIMEOUT\|failed.*TIME LIMIT" <<<"$shown" && grep -q "runs are left" <<<"$shown"
verdict $? "status: one failed by its time limit, one stopped between runs"
[ "$failures" = 0 ] || sed 's/^/        /' <<<"$shown"
[ -s "$out/report.html" ] && ! bench cluster merge "$out" --out "$out" --ids "$out/shards.txt" >/dev/null 2>&1
verdict $? "a report of what is there; merge --ids names what is missing"
# The two, and the third where this machine was too slow for it.
missing="$(grep -c "^[0-9].* failed " <<<"$shown")"
bench cluster submit "$box/box.toml" --out "$out" --time 10m --jobs 1 >"$box/last" 2>&1 &&
    [ "$missing" -ge 2 ] && grep -q "$missing shards to submit" "$box/last"
verdict $? "the same command submits the $missing shards that are missing"
[ "$failures" = 0 ] || sed 's/^/        /' "$box/last"
within 180 empty && same "$out"
verdict $? "all runs are there, the same bits"

# 4. All of it in one folder.
rm -rf "$box/all"
quietly bench cluster merge "$box/two" "$box/three" "$box/it's \"one\" 100% #1" "$box/local" --out "$box/all"
verdict $? "all folders merged"
[ "$failures" = 0 ] || { echo "$failures steps failed"; exit 1; }
echo "all is well ($SECONDS s)"
