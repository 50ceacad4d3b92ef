#!/usr/bin/env bash
# tests/valgrind.sh - the API tests under valgrind: bad accesses, and leaks.
#
#     tests/valgrind.sh [--since REVISION] [BUILD [TESTS]]
#
# With --since only all examples (api_test) and the test files that changed since that revision;
# all files when it is unknown. BUILD is a folder with a build without sanitizers (build/release; made when it is
# missing), TESTS a Catch2 expression (the quick ones of [api]). AddressSanitizer does not
# see bytes that were never written: that is what this is for. (Where a finding comes from
# --track-origins=yes would say, at twice the time.)
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

since=
if [ "${1-}" = --since ]; then
    since=${2:?--since needs a revision}
    shift 2
fi
build=${1:-build/release}
tests=${2:-'[api]~[db]~[million]~[heavy]~[mutants]~[.]'}
docker/packages.sh build test
if [ ! -x "$build/tests/gridplan_tests" ]; then
    cmake --preset release -B "$build" -DBUILD_TESTING=ON >/dev/null
    cmake --build "$build" --target gridplan_tests >/dev/null
fi
if grep -q '^GRIDPLAN_SANITIZE:.*=.' "$build/CMakeCache.txt"; then
    echo "valgrind: $build has sanitizers; it needs a build without" >&2
    exit 2
fi
# The files that have such cases at all, large ones first.
files()
{
    local all=(tests/*_test.cpp)
    if [ -n "$since" ] && git cat-file -e "$since^{commit}" 2>/dev/null; then
        mapfile -t all < <({ printf '%s\n' tests/api_test.cpp && git diff --name-only --diff-filter=d "$since" -- 'tests/*_test.cpp' &&
            git ls-files --others --exclude-standard -- 'tests/*_test.cpp'; } | sort -u)
    fi
    grep -l '\[api\]' "${all[@]}" | xargs ls -S | sed 's,.*/,,; s,\.cpp$,,'
}

# One file on each core.
start=$SECONDS
files >build/valgrind.files
echo "valgrind: $(wc -l <build/valgrind.files) files of tests"
if ! xargs -a build/valgrind.files -P "$(nproc)" -I '{}' \
    valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
    --errors-for-leak-kinds=definite,indirect,possible \
    "$build/tests/gridplan_tests" -\# "[#{}]$tests"; then
    echo "valgrind: there are findings, or failed tests, above" >&2
    exit 1
fi
echo "valgrind: clean, $((SECONDS - start)) s"
