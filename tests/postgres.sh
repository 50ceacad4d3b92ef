#!/usr/bin/env bash
# tests/postgres.sh - a private PostgreSQL below a folder, for ./run and the tests.
#
#     tests/postgres.sh start DIR [--fast]    start it (made at the first call); prints its URL
#     tests/postgres.sh stop DIR              stop it; the data stays
#     tests/postgres.sh url DIR [DATABASE]    print the connection string
#     tests/postgres.sh data DIR              print where the data are
#     tests/postgres.sh run DIR DATABASE COMMAND...
#                                             make DATABASE anew, and run COMMAND with
#                                             its URL in GRIDPLAN_TEST_DATABASE_URL
#
# It listens on a unix socket only, which only its owner (and root) can reach. With
# --fast it does not wait for the disk: for tests. The server refuses to be root:
# started by root it runs as the user postgres, and when that user cannot reach DIR
# (a project below a home folder with mode 700) the cluster lives in that user's
# home folder instead; DIR/README then says where. A second start uses the same
# data. Everything else is the owner's: made by alice, it runs as alice.
#
# After a crash the server replays what it had written ahead. `start` waits for that, at
# most GRIDPLAN_RECOVERY_WAIT_S seconds (900), and does not stop the server.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

die()
{
    say "postgres: $1"
    shift
    while [ $# -gt 0 ]; do
        say "  $1"
        shift
    done
    exit 1
}

move_away()
{
    local old=$cluster.old
    printf '%s' "mv ${cluster@Q} ${old@Q}"
}

usage()
{
    sed -n '2,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2
    exit 2
}

# ---- where it lives, and who runs it ----

as_owner()
{
    if [ "$(id -u)" != 0 ]; then
        "$@"
    else
        setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups -- \
            env HOME=/nonexistent "$@"
    fi
}

# Sets dir, cluster (the folder with data, log and socket) and owner.
locate()
{
    [ -d "$1" ] || die "there is no folder $1" "start it first: tests/postgres.sh start ${1@Q}"
    dir=$(cd -- "$1" && pwd -P)
    cluster=$dir/cluster
    if [ "$(id -u)" != 0 ]; then
        owner=$(id -un)
        return
    fi
    owner=postgres
    if [ -d "$cluster" ]; then
        owner=$(stat -c %U -- "$cluster")
        [ "$owner" != root ] || die "$cluster belongs to root, but PostgreSQL refuses to run as root" \
            "give it back: chown -R postgres: ${cluster@Q}"
        [ "$owner" != UNKNOWN ] || die "$cluster belongs to a user that does not exist here" \
            "take it over: chown -R postgres: ${cluster@Q}"
    fi
    id "$owner" >/dev/null 2>&1 || die "there is no user '$owner' to run the server" \
        "the Debian package postgresql makes it: docker/packages.sh run"
    if ! as_owner test -x "$dir"; then
        cluster=$(getent passwd "$owner" | cut -d: -f6)/gridplan/$(printf %s "$dir" | sha256sum | cut -c1-12)
    fi
}

# The server's programs: those that made the data, else the newest.
find_programs()
{
    local wanted='*' newest
    if [ -s "$cluster/data/PG_VERSION" ]; then
        wanted=$(cat -- "$cluster/data/PG_VERSION")
    fi
    # shellcheck disable=SC2086 # the star is meant
    newest=$(printf '%s\n' /usr/lib/postgresql/$wanted/bin | sort -V | tail -n 1)
    if [ -x "$newest/initdb" ]; then
        bin=$newest
    elif command -v initdb >/dev/null &&
        { [ "$wanted" = '*' ] || initdb --version | grep -q " $wanted\b"; }; then
        bin=$(dirname "$(command -v initdb)")
    elif [ "$wanted" = '*' ]; then
        die "no PostgreSQL server is installed" "install it: docker/packages.sh run"
    else
        die "the data in $cluster/data was made by PostgreSQL $wanted, which is not installed" \
            "install the package postgresql-$wanted, or start with new data: $(move_away)"
    fi
}

# ---- the socket: its path is at most 107 bytes long ----

socket_folder()
{
    local LC_ALL=C name=$cluster/socket
    if [ ${#name} -le 90 ]; then
        printf '%s' "$name"
    elif [ -s "$cluster/socket-folder" ]; then
        cat -- "$cluster/socket-folder"
    fi
}

make_socket_folder()
{
    socket=$(socket_folder)
    if [ -n "$socket" ] && as_owner mkdir -m 700 -p -- "$socket" 2>/dev/null &&
        [ "$(stat -c %U -- "$socket")" = "$owner" ]; then
        return
    fi
    socket=$(as_owner mktemp -d /tmp/gridplan-pg.XXXXXX) ||
        die "cannot make a short folder for the socket below /tmp"
    printf '%s' "$socket" | as_owner tee "$cluster/socket-folder" >/dev/null
}

url()
{
    local socket i letter text=''
    socket=$(socket_folder)
    { [ -n "$socket" ] && [ -d "$cluster" ]; } ||
        die "nothing was started in $dir" "start it first: tests/postgres.sh start ${dir@Q}"
    for ((i = 0; i < ${#socket}; i++)); do
        letter=${socket:i:1}
        case $letter in
        [a-zA-Z0-9/._~-]) text+=$letter ;;
        *) text+=$(printf %s "$letter" | od -An -v -tx1 | tr ' ' % | tr -d '\n') ;;
        esac
    done
    printf 'postgresql://gridplan@/%s?host=%s&port=5432\n' "$1" "$text"
}

sql()
{
    PGOPTIONS='-c client_min_messages=warning' psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$(socket_folder)" -p 5432 -U postgres -d postgres "$@"
}

# ---- start and stop ----

# Runs a program of the server inside the cluster's folder: with short names, as
# pg_ctl hands its arguments to a shell.
server_tool() { (cd -- "$cluster" && as_owner "$bin/$1" "${@:2}"); }

# A postmaster that was killed can stay as a zombie where nobody collects it (a
# container without an init): it holds nothing, but its lock file would count.
running()
{
    local pid
    pid=$(head -n 1 -- "$cluster/data/postmaster.pid" 2>/dev/null) || return 1
    if grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" &&
        grep -qs '^Name:[[:space:]]*postgres$' "/proc/$pid/status"; then
        as_owner rm -f -- "$cluster/data/postmaster.pid"
        return 1
    fi
    server_tool pg_ctl -D data status >/dev/null 2>&1
}

# The data appears under its name when it is whole: a start that was killed half
# way leaves nothing that a later start could take for a cluster.
initialize()
{
    local out
    as_owner rm -rf -- "$cluster/data.new"
    if ! out=$(server_tool initdb -D data.new -U postgres --auth=trust -E UTF8 \
        --locale=C.UTF-8 ${fast:+--no-sync} 2>&1 </dev/null); then
        say "$out"
        die "could not make the cluster in $cluster" "check the free disk space (df -h ${cluster@Q}) and the message above"
    fi
    echo "include_if_exists = 'gridplan.conf'" |
        as_owner tee -a "$cluster/data.new/postgresql.conf" >/dev/null
    as_owner mv -- "$cluster/data.new" "$cluster/data"
}

settings()
{
    local quoted=${socket//\'/\'\'}
    quoted=${quoted//\"/\"\"}
    cat <<END
# written at every start by tests/postgres.sh
listen_addresses = ''
port = 5432
unix_socket_directories = '"$quoted"'
unix_socket_permissions = 0700
jit = off
log_line_prefix = '%m [%p] %d '
timezone = 'UTC'
END
    [ -z "$fast" ] || cat <<END
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
autovacuum = off
END
}

# 0: it takes connections; 1: it is up and takes none yet (start-up, recovery); 2: there is
# no answer.
answers() { "$bin/pg_isready" -q -t 5 -h "$(socket_folder)" -p 5432 -U postgres -d postgres; }

# Waits while the server recovers. Fails when it has ended, or has not answered for 30 s:
# only then is there something to stop.
wait_for_recovery()
{
    local limit=${GRIDPLAN_RECOVERY_WAIT_S:-900} begin=$SECONDS silent=0 said=0 state
    while running; do
        answers && return
        state=$?
        if [ "$state" = 1 ]; then
            silent=0
        else
            silent=$((silent + 1))
            [ "$silent" -lt 60 ] || return 1
        fi
        if [ $((SECONDS - begin)) -ge "$limit" ]; then
            die "the server on $cluster/data is still recovering after $limit s; it goes on" \
                "wait for it (its log: $cluster/log), then start again; GRIDPLAN_RECOVERY_WAIT_S waits longer"
        fi
        if [ $((SECONDS - begin)) -ge $((said + 5)) ]; then
            said=$((SECONDS - begin))
            say "postgres: waiting for the server on $cluster/data, $said s: $(
                [ "$state" = 1 ] && echo "it recovers from a crash" || echo "no answer yet"
            )"
        fi
        sleep 0.5
    done
    return 1
}

# The process that pg_ctl has begun writes its lock file in a moment, and then recovers.
wait_for_start()
{
    local tries=0
    until running; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || return 1
        sleep 0.1
    done
    unlock # who comes second sees that it runs
    wait_for_recovery
}

make_cluster_folder()
{
    [ ! -d "$cluster" ] || return 0
    if [ "$cluster" != "$dir/cluster" ]; then
        as_owner mkdir -p -- "$cluster"
    elif [ "$(id -u)" = 0 ]; then
        install -d -o "$owner" -g "$(id -g "$owner")" -m 700 -- "$cluster"
    else
        mkdir -- "$cluster"
    fi || die "cannot make the folder $cluster" "check who owns the folder above it, and the free disk space"
}

check_data()
{
    [ -O "$cluster" ] || [ "$(id -u)" = 0 ] ||
        die "$cluster belongs to $(stat -c %U -- "$cluster"), you are $owner" \
            "start it as that user or as root, or use another folder (for ./run: GRIDPLAN_VAR=var2 ./run)"
    [ -e "$cluster/data" ] || return 0
    if [ ! -s "$cluster/data/PG_VERSION" ] || [ ! -s "$cluster/data/global/pg_control" ]; then
        die "the data in $cluster/data is damaged: files that every cluster has are missing" \
            "restore it from a backup, or start with new data: $(move_away)"
    fi
}

# One start at a time: a second one would take the socket of a server that is just coming up
# for what a killed one left, and remove it. The server itself must not inherit the lock.
lock()
{
    exec 9<"$dir"
    flock 9 || die "cannot lock the folder $dir" "check that its file system has locks (flock)"
}
unlock() { exec 9<&-; }

make_database()
{
    if [ "$(sql -c "SELECT count(*) FROM pg_roles WHERE rolname = 'gridplan'")" = 0 ]; then
        sql -c 'CREATE ROLE gridplan LOGIN CREATEDB'
    fi
    if [ "$(sql -c "SELECT count(*) FROM pg_database WHERE datname = 'gridplan'")" = 0 ]; then
        sql -c 'CREATE DATABASE gridplan OWNER gridplan'
    fi
}

start()
{
    fast=
    case ${2-} in
    --fast) fast=yes ;;
    '') ;;
    *) usage ;;
    esac
    (umask 022 && mkdir -p -- "$1") 2>/dev/null ||
        die "cannot make the folder $1" "check that its parent is a folder, that you may write there, and that the disk is not full"
    locate "$1"
    umask 077
    lock
    make_cluster_folder
    check_data
    find_programs
    if [ "$cluster" != "$dir/cluster" ]; then
        printf 'The user %s cannot reach this folder, so its PostgreSQL cluster is in\n%s\n' \
            "$owner" "$cluster" >"$dir/README"
    fi
    if running; then
        unlock
        if wait_for_recovery && sql -c 'SELECT 1' >/dev/null 2>&1; then
            lock
            make_database
            url gridplan
            return
        fi
        lock
        ! running || stop "$1" # it runs, but nobody can reach it
    fi
    make_socket_folder
    as_owner rm -f -- "$socket/.s.PGSQL.5432" "$socket/.s.PGSQL.5432.lock" # of a killed server
    [ -e "$cluster/data" ] || initialize
    settings | as_owner tee "$cluster/data/gridplan.conf" >/dev/null
    # Not waited for by pg_ctl, which gives up, and says so, during a long recovery.
    if ! server_tool pg_ctl -D data -l log -s -W start </dev/null >&2 9<&- || ! wait_for_start; then
        say "the end of $cluster/log:"
        tail -n 12 -- "$cluster/log" >&2 || true
        die "the server did not start on $cluster/data" \
            "if another one still runs on this data, stop it; else restore the data from a backup" \
            "or start with new data: $(move_away)"
    fi
    lock
    make_database
    url gridplan
}

stop()
{
    [ -d "$1" ] || return 0
    locate "$1"
    [ -e "$cluster/data/PG_VERSION" ] || return 0
    find_programs
    if running && ! server_tool pg_ctl -D data -s -m fast -w -t 120 stop </dev/null >&2; then
        die "the server on $cluster/data did not stop" \
            "its process is $(head -n 1 -- "$cluster/data/postmaster.pid"), its log $cluster/log"
    fi
    if [ -s "$cluster/socket-folder" ]; then
        as_owner rm -rf -- "$(cat -- "$cluster/socket-folder")" "$cluster/socket-folder"
    fi
}

run()
{
    local database=$2
    locate "$1"
    shift 2
    case $database in *[!a-z0-9_]* | '') die "bad database name '$database'" ;; esac
    sql -c "DROP DATABASE IF EXISTS $database WITH (FORCE)" \
        -c "CREATE DATABASE $database OWNER gridplan"
    GRIDPLAN_TEST_DATABASE_URL=$(url "$database")
    export GRIDPLAN_TEST_DATABASE_URL
    cd "$caller"
    exec "$@"
}

# The caller's own libpq settings are not meant for this cluster.
for name in ${!PG@}; do unset "$name"; done
caller=$PWD
command=${1-}
[ $# -ge 2 ] || usage
shift
case $1 in /*) folder=$1 ;; *) folder=$PWD/$1 ;; esac
shift
cd / # the owner may not be allowed into the caller's folder
case $command in
start) start "$folder" "$@" ;;
stop) stop "$folder" ;;
data) locate "$folder" && printf '%s\n' "$cluster/data" ;;
url) locate "$folder" && url "${1:-gridplan}" ;;
run)
    [ $# -ge 2 ] || usage
    run "$folder" "$@"
    ;;
*) usage ;;
esac
