#!/usr/bin/env bash
# A throw-away Slurm cluster on this machine: needs no systemd and no root, and touches nothing under /etc.
#   one-machine-slurm.sh start DIR [NODES=2] [GPUS_PER_NODE=0]     then: . DIR/env.sh
#   one-machine-slurm.sh stop  DIR
# DIR must be new or empty, and short: a socket's path holds 107 characters. PORT (16800) is the first of NODES + 3
# ports on the loopback interface; CPUS (4) is what each node claims. GPUs (at most 5 a node) are pretended: every job
# gets a CUDA_VISIBLE_DEVICES of its own.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
action=$1 dir=$(realpath -m "$2") nodes=${3:-2} gpus=${4:-0} cpus=${CPUS:-4} port=${PORT:-16800}
me=$(id -un) host=$(hostname -s)

is_alive() { grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"; } # a zombie is not alive

wait_for() { # WHAT SECONDS COMMAND...
    local what=$1 tries=$(($2 * 5))
    shift 2
    until "$@" > /dev/null 2>&1; do
        tries=$((tries - 1))
        if [ $tries -le 0 ]; then
            echo "one-machine-slurm: $what never became ready" >&2
            tail -n 15 "$dir"/log/*.log >&2
            return 1
        fi
        sleep 0.2
    done
}

all_idle() { [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" -eq "$nodes" ]; }

stop() {
    local pid file
    if [ -s "$dir/run/slurmctld.pid" ] && is_alive "$(< "$dir/run/slurmctld.pid")"; then
        SLURM_CONF=$dir/slurm.conf timeout 10 scancel --user="$me" || true
        sleep 1
    fi
    for signal in TERM KILL; do
        for file in "$dir"/run/*.pid; do
            pid=$(cat "$file" 2> /dev/null) || continue
            ! is_alive "$pid" || kill -$signal "$pid" || true
        done
        sleep 1
    done
    rm -f "$dir"/run/*.pid
}

start_munge() {
    (umask 077 && head -c 1024 /dev/urandom > "$dir/munge.key")
    munged --key-file="$dir/munge.key" --socket="$dir/run/munge.socket" --pid-file="$dir/run/munged.pid" \
        --log-file="$dir/log/munged.log" --seed-file="$dir/run/munged.seed" --num-threads=10
    wait_for munged 10 munge -S "$dir/run/munge.socket" -n
}

slurm_conf() {
    local memory=$(($(awk '/MemTotal/{print $2}' /proc/meminfo) / 1024 * 8 / 10 / nodes))
    cat << CONF
ClusterName=onebox
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$dir/run/munge.socket
CredType=cred/munge
SlurmctldPort=$port
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdPidFile=$dir/run/slurmd.%n.pid
SlurmdSpoolDir=$dir/spool.%n
SlurmdLogFile=$dir/log/slurmd.%n.log
SlurmdParameters=config_overrides
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
MinJobAge=3600
KillWait=5
ReturnToService=2
CONF
    [ "$gpus" -eq 0 ] || echo "GresTypes=gpu"
    for i in $(seq "$nodes"); do
        echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2 + i))" \
            "CPUs=$cpus RealMemory=$memory $([ "$gpus" -eq 0 ] || echo "Gres=gpu:$gpus")"
    done
    echo "PartitionName=main Nodes=ALL Default=YES MaxTime=300 State=UP"
}

gres_conf() { # slurmd wants character devices; any that exist will do
    local devices=(/dev/null /dev/zero /dev/full /dev/random /dev/urandom) list
    list=$(IFS=, && echo "${devices[*]:0:gpus}")
    for i in $(seq "$nodes"); do echo "NodeName=n$i Name=gpu File=$list"; done
}

env_sh() { # Snakemake's job step drops SLURM_CONF before it calls srun, so srun is wrapped to set it again
    printf '#!/bin/sh\nSLURM_CONF=%q exec %q "$@"\n' "$dir/slurm.conf" "$(command -v srun)" > "$dir/bin/srun"
    chmod +x "$dir/bin/srun"
    printf 'export SLURM_CONF=%q PATH=%q:$PATH\n' "$dir/slurm.conf" "$dir/bin" > "$dir/env.sh"
}

start() {
    mkdir -p "$dir"/{run,log,state,bin}
    chmod 755 "$dir" "$dir/run"
    chmod 700 "$dir/log"
    start_munge
    slurm_conf > "$dir/slurm.conf"
    [ "$gpus" -eq 0 ] || gres_conf > "$dir/gres.conf"
    env_sh
    . "$dir/env.sh"
    slurmctld -c
    wait_for slurmctld 30 scontrol ping
    for i in $(seq "$nodes"); do
        mkdir -p "$dir/spool.n$i"
        slurmd -N "n$i"
    done
    wait_for "every node" 30 all_idle
    timeout 30 srun -n1 true # one real job, or a failure now
}

case $action in
    start)
        [ -z "$(ls -A "$dir" 2> /dev/null)" ] || { echo "one-machine-slurm: $dir is not empty" >&2; exit 2; }
        trap 'status=$?; [ $status -eq 0 ] || stop; exit $status' EXIT
        start
        ;;
    stop) stop ;;
    *) echo "one-machine-slurm: start or stop, not '$action'" >&2; exit 2 ;;
esac
