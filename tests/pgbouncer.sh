#!/usr/bin/env bash
# tests/pgbouncer.sh - run a program's tests through PgBouncer in transaction mode.
#
#     tests/postgres.sh run DIR DATABASE tests/pgbouncer.sh COMMAND...
#
# Puts a PgBouncer before the database in GRIDPLAN_TEST_DATABASE_URL, and runs
# COMMAND with the URL of it and GRIDPLAN_TEST_PREPARED=0. Two connections stand
# behind it and each is cleared between two transactions, so that whoever relies on
# a session is found out. The command's output is shown when it fails: its tests
# count elsewhere.
set -euo pipefail

die()
{
    printf 'pgbouncer: %s\n' "$*" >&2
    exit 1
}

[ $# -gt 0 ] || die "usage: tests/postgres.sh run DIR DATABASE tests/pgbouncer.sh COMMAND..."
url=${GRIDPLAN_TEST_DATABASE_URL:?is set by tests/postgres.sh run}
program=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || die "not installed: docker/packages.sh test"

# postgresql://gridplan@/NAME?host=FOLDER&port=5432
database=${url##*@/}
database=${database%%\?*}
host=${url##*host=}
host=${host%%&*}
host=$(printf '%b' "${host//%/\\x}")
owner=$(stat -c %U -- "$host")

folder=$(mktemp -d /tmp/gridplan-bouncer.XXXXXX)
pid=
# shellcheck disable=SC2317 # the trap calls it
clean_up()
{
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    rm -rf -- "$folder"
}
trap clean_up EXIT

cat >"$folder/pgbouncer.ini" <<END
[databases]
$database = host=$host port=5432 user=gridplan
[pgbouncer]
listen_addr =
unix_socket_dir = $folder
unix_socket_mode = 0777
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
server_reset_query_always = 1
server_reset_query = DISCARD ALL
logfile = $folder/log
pidfile = $folder/pid
END

run=()
if [ "$(id -u)" = 0 ]; then # which PgBouncer refuses to be
    chown -R "$owner" "$folder"
    run=(setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --init-groups --)
fi
"${run[@]}" "$program" -q "$folder/pgbouncer.ini" </dev/null >"$folder/output" 2>&1 &
pid=$!
for _ in {1..200}; do
    [ ! -S "$folder/.s.PGSQL.6432" ] || break
    kill -0 "$pid" 2>/dev/null || die "did not start: $(cat "$folder/output" "$folder/log" 2>/dev/null)"
    sleep 0.05
done

code=0
GRIDPLAN_TEST_PREPARED=0 GRIDPLAN_TEST_DATABASE_URL="postgresql://gridplan@/$database?host=$folder&port=6432" \
    "$@" >"$folder/tests" 2>&1 || code=$?
if [ $code != 0 ] || ! grep -q '^All tests passed' "$folder/tests"; then
    cat "$folder/tests"
    echo "pgbouncer: the end of its log"
    tail -n 20 "$folder/log"
    die "the tests failed through $("$program" --version | head -n 1), exit code $code"
fi
printf 'through %s: %s\n' "$("$program" --version | head -n 1)" \
    "$(sed -n 's/^All tests passed (\(.*\))$/\1/p' "$folder/tests")"
