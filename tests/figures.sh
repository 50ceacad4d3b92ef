#!/usr/bin/env bash
# tests/figures.sh - the figures of HACKING.md that can be counted, as the tree is now.
#
# With --check: says where the lines of a folder in HACKING.md are more than 5 % off, and
# exits 1.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

folders=(models algorithms service handlers)

# lines FOLDER, calls FOLDER... of fail_memory(), definitions FOLDER of what can fail.
lines() { find "$1" -name '*.[ch]' -exec cat {} + | wc -l; }
calls() { grep -rhE --include='*.c' '\bfail_memory\(' "$@" | grep -cv '^enum error_code'; }
definitions()
{
    grep -rhzoP --include='*.c' '(?m)^(static )?enum error_code \w+\([^;{]*\)\s*\{' "$1" |
        tr -cd '\0' | wc -c
}

# with_commas NUMBER - thousands apart.
with_commas() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }

# join WORD... - with commas between them.
join()
{
    local all
    all=$(printf '%s, ' "$@")
    echo "${all%, }"
}

if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2016 # no expansion: a table of Markdown
    written=$(sed -nE 's/^\| lines of `models`.*\| ([0-9]+,[0-9]{3}, [0-9]+,[0-9]{3}, [0-9]+,[0-9]{3}, [0-9]+,[0-9]{3});.*/\1/p' HACKING.md)
    read -ra written <<<"${written//, / }"
    [ ${#written[@]} = 4 ] || { echo "HACKING.md has no lines of the four folders"; exit 1; }
    code=0
    for i in 0 1 2 3; do
        now=$(lines "${folders[i]}") then=${written[i]//,/}
        if [ $((20 * (now > then ? now - then : then - now))) -gt "$then" ]; then
            echo "HACKING.md: ${folders[i]} has $now lines, not $then"
            code=1
        fi
    done
    exit $code
fi

sizes=() definitions=()
for folder in "${folders[@]}"; do
    sizes+=("$(with_commas "$(lines "$folder")")")
    definitions+=("$(definitions "$folder")")
done
echo "lines of models, algorithms, service, handlers: $(join "${sizes[@]}")"
echo "calls of fail_memory(): $(calls service) in service/, $(calls models algorithms handlers || true) elsewhere"
echo "definitions that return an error code: $(join "${definitions[@]}")"
echo "test cases: $(cat tests/*.cpp | grep -cE '^TEST_CASE') in $(find tests -maxdepth 1 -name '*_test.cpp' | wc -l) files"
