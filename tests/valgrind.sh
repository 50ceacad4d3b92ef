#!/usr/bin/env bash
# tests/valgrind.sh - the API tests under valgrind: bad accesses, and leaks.
#
#     tests/valgrind.sh [BUILD [TESTS]]
#
# BUILD is a folder with a build without sanitizers (build/release; made when it is
# missing), TESTS a Catch2 expression (the quick ones of [api]). AddressSanitizer does not
# see bytes that were never written: that is what this is for. (Where a finding comes from
# --track-origins=yes would say, at twice the time.)
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

build=${1:-build/release}
tests=${2:-'[api]~[db]~[million]~[.]'}
docker/packages.sh build test
if [ ! -x "$build/tests/gridplan_tests" ]; then
    cmake --preset release -B "$build" -DBUILD_TESTING=ON >/dev/null
    cmake --build "$build" --target gridplan_tests >/dev/null
fi
if grep -q '^GRIDPLAN_SANITIZE:.*=.' "$build/CMakeCache.txt"; then
    echo "valgrind: $build has sanitizers; it needs a build without" >&2
    exit 2
fi
# One file of tests on each core: those that have such cases at all, large ones first.
start=$SECONDS
if ! grep -l '\[api\]' tests/*_test.cpp | xargs ls -S | sed 's,.*/,,; s,\.cpp$,,' | xargs -P "$(nproc)" -I '{}' \
    valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
    --errors-for-leak-kinds=definite,indirect,possible \
    "$build/tests/gridplan_tests" -\# "[#{}]$tests"; then
    echo "valgrind: there are findings, or failed tests, above" >&2
    exit 1
fi
echo "valgrind: clean, $((SECONDS - start)) s"
