#!/usr/bin/env bash
# tests/slurm/cluster.sh - a real Slurm of eight made-up nodes, for the time of a command.
#
#     tests/slurm/cluster.sh COMMAND...
#
# Brings up munged, slurmctld and eight slurmd on this machine, as root, in a new folder
# with ports of its own; runs COMMAND with SLURM_CONF set, so that squeue and the others
# find it; then stops all of it and removes the folder, also when COMMAND failed. Two runs at
# once do not meet. Exits as COMMAND did; with 77, and a line that says why, when Slurm is not
# installed (docker/packages.sh slurm) or this is not root.
#
# Nodes: node1-8, 16 cpus of 2 sockets; node1-6 32000 MiB in partition batch, node7-8 64000
# MiB with 4 GPUs in partition gpu; partition all has all of them. Licences matlab 3, ansys 2.
set -euo pipefail

skip()
{
    printf 'slurm: SKIPPED: %s\n' "$*" >&2
    exit 77
}

die()
{
    printf 'slurm: %s\n' "$*" >&2
    exit 1
}

PATH=$PATH:/usr/sbin
[ $# -gt 0 ] || die "usage: tests/slurm/cluster.sh COMMAND..."
[ "$(id -u)" = 0 ] || skip "this is not root"
for program in munged munge slurmctld slurmd sinfo squeue scontrol sbatch scancel; do
    command -v "$program" >/dev/null || skip "$program is not installed: docker/packages.sh slurm"
done

host=$(hostname -s)
T=$(mktemp -d /tmp/gridplan-slurm.XXXXXX)
chmod 755 "$T" # jobs of other users need to get through
export SLURM_CONF=$T/slurm.conf
daemons=() # NAME:PIDFILE

# Ends a daemon by its pid file, and only where that process is this daemon.
stop()
{
    local name=${1%%:*} file=${1#*:} pid comm i
    [ -s "$file" ] || return 0
    pid=$(cat -- "$file")
    for ((i = 0; i < 100; i++)); do
        comm=$(cat "/proc/$pid/comm" 2>/dev/null) || return 0
        [ "$comm" = "$name" ] || return 0
        [ $i -gt 0 ] || kill "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

# shellcheck disable=SC2317 # the trap calls it
clean_up()
{
    local i
    set +e
    timeout 20 scancel --state=PENDING --state=RUNNING --full -u root >/dev/null 2>&1
    timeout 20 squeue -h -o %A 2>/dev/null | sort -u | xargs -r timeout 20 scancel >/dev/null 2>&1
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
        stop "${daemons[i]}"
    done
    if [ -n "${GRIDPLAN_SLURM_KEEP-}" ]; then
        printf 'slurm: kept %s\n' "$T" >&2
    else
        rm -rf -- "$T"
    fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The first of twenty ports that nobody has: 6817 may be a real Slurm's, and above 32768
# ports of clients come and go.
free_ports()
{
    python3 - "$1" <<'END'
import os, random, socket, sys
random.seed(os.getpid() * 7 + int(sys.argv[1]))
for _ in range(200):
    first = random.randrange(20000, 31980)
    held = []
    try:
        for port in range(first, first + 20):
            s = socket.socket()
            held.append(s)
            s.bind(("127.0.0.1", port))
    except OSError:
        continue
    finally:
        for s in held:
            s.close()
    print(first)
    break
END
}

start_munge()
{
    dd if=/dev/urandom of="$T/munge.key" bs=1024 count=1 status=none
    chmod 400 "$T/munge.key"
    munged --force --key-file="$T/munge.key" --socket="$T/munge.sock" --pid-file="$T/munge.pid" \
        --log-file="$T/munge.log" --seed-file="$T/munge.seed" >>"$T/munge.out" 2>&1 ||
        die "munged: $(cat "$T/munge.out" "$T/munge.log" 2>/dev/null)"
    daemons+=("munged:$T/munge.pid")
    munge -n -S "$T/munge.sock" >/dev/null || die "munged does not answer"
}

write_config()
{
    local p=$1
    mkdir -p "$T/state" "$T/log" "$T/run" "$T/spool"
    touch "$T/gpu0" "$T/gpu1" "$T/gpu2" "$T/gpu3"
    printf 'NodeName=node[7-8] Name=gpu File=%s/gpu[0-3]\n' "$T" >"$T/gres.conf"
    cat >"$T/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$p
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$T/munge.sock
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$T/state
SlurmdSpoolDir=$T/spool/%n
SlurmctldPidFile=$T/run/ctld.pid
SlurmdPidFile=$T/run/%n.pid
SlurmctldLogFile=$T/log/ctld.log
SlurmdLogFile=$T/log/%n.log
SlurmctldDebug=verbose
DebugFlags=Backfill
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
RebootProgram=/bin/false
SlurmdParameters=config_overrides
MinJobAge=3600
KillWait=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,sched_interval=5,sched_min_interval=500000,batch_sched_delay=0,bf_licenses
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=500
Licenses=matlab:3,ansys:2
GresTypes=gpu
DefMemPerCPU=500
NodeName=node[1-6] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((p + 1))-$((p + 6))] CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=32000 Feature=ib
NodeName=node[7-8] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((p + 7))-$((p + 8))] CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Feature=gpu Gres=gpu:4
PartitionName=batch Nodes=node[1-6] Default=YES MaxTime=2-0 DefaultTime=60 State=UP
PartitionName=gpu Nodes=node[7-8] MaxTime=1-0 DefaultTime=60 State=UP
PartitionName=all Nodes=node[1-8] MaxTime=4:00:00 DefaultTime=60 State=UP
END
}

# Whether all eight nodes are idle within 15 s.
start_slurm()
{
    local i
    slurmctld -f "$SLURM_CONF" >>"$T/log/start" 2>&1 || return 1
    daemons+=("slurmctld:$T/run/ctld.pid")
    for i in 1 2 3 4 5 6 7 8; do
        mkdir -p "$T/spool/node$i"
        slurmd -f "$SLURM_CONF" -N "node$i" >>"$T/log/start" 2>&1 || return 1
        daemons+=("slurmd:$T/run/node$i.pid")
    done
    for ((i = 0; i < 75; i++)); do
        [ "$(timeout 20 sinfo -h -N -p all -o '%N %T' 2>/dev/null | sort -u | grep -c ' idle$')" != 8 ] || return 0
        sleep 0.2
    done
    return 1
}

start_munge
for attempt in 1 2 3; do # a port may be taken in the meantime
    write_config "$(free_ports "$attempt")"
    start_slurm && break
    while [ ${#daemons[@]} -gt 1 ]; do
        stop "${daemons[-1]}"
        unset 'daemons[-1]'
    done
    rm -rf "$T/state"
    [ "$attempt" != 3 ] || die "the nodes do not become idle: $(tail -n 20 "$T/log/start" "$T/log/ctld.log" 2>/dev/null)"
done
"$@"
