#!/usr/bin/env bash
# tests/soak.sh - the system tests for longer: more kills, more restarts, more noise.
#
#     tests/soak.sh [ROUNDS [FACTOR]]     10 rounds, each with 5 times the work
#
# Ends at the first failure. Uses the build of ./test (build/dev); GRIDPLAN_BUILD
# names another.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

rounds=${1:-10}
export GRIDPLAN_SOAK=${2:-5}
build=${GRIDPLAN_BUILD:-build/dev}
[ -x "$build/tests/gridplan_tests" ] || { echo "soak: build it first: ./test" >&2 && exit 2; }
for ((i = 1; i <= rounds; i++)); do
    echo "==> round $i of $rounds, $(date +%T)"
    ctest --test-dir "$build" -L '^system$' --timeout 7200 --output-on-failure --stop-on-failure </dev/null
done
