#!/usr/bin/env bash
# tests/check_layers.sh - the rules of the layout that a compiler does not check.
#
# Layers look down only: models < algorithms < handlers, models < service < handlers,
# and service/main.c sees everything. Each outside library is one file's business.
# Below service/ nothing allocates, and algorithms and models have no clock but the
# budget's, no input or output and no global random numbers. Every folder says what it is for.
# Prints every breach; exits 1 when there is one.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

breaches=0

breach()
{
    printf '%s\n' "$*"
    breaches=$((breaches + 1))
}

# sources FOLDER... - its C files, without the one that sees everything.
sources() { find "$@" -name '*.[ch]' ! -path service/main.c | sort; }

# ---- includes: from the top folder, and only downwards ----

layer()
{
    local folder=$1 allowed=$2 file line included
    while IFS= read -r file; do
        while IFS=: read -r line included; do
            included=${included#*\"}
            included=${included%\"*}
            [[ $included =~ ^($allowed)/ ]] ||
                breach "$file:$line: $folder/ may not include \"$included\" (allowed: ${allowed//|/, }, named from the top folder)"
        done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" || true)
    done < <(sources "$folder")
}

layer models 'models'
layer algorithms 'models|algorithms'
layer service 'models|service'
layer handlers 'models|algorithms|service|handlers'

# ---- outside libraries: one .c file of service/ each (LAPACK: of models/) ----

library()
{
    local name=$1 header=$2 folder=${3:-service} also=${4:-} users
    mapfile -t users < <(find models algorithms service handlers -name '*.[ch]' -exec \
        grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($header)[>\"]" {} + |
        grep -vxF "$also" | sort)
    case ${#users[@]} in
    0) ;;
    1) [[ ${users[0]} =~ ^$folder/[a-z_]+\.c$ ]] || breach "${users[0]}: $name belongs in a .c file of $folder/" ;;
    *) breach "$name is included by more than one file: ${users[*]}" ;;
    esac
}

library libmicrohttpd 'microhttpd\.h'
# (documents that no table describes are walked as the trees that json.c has made)
library cJSON '(cjson/)?cJSON\.h' service $'service/openapi_compare.c\nservice/json_patch.c\nservice/client/set.c\nservice/client/table.c\nservice/client/explain.c'
library libpq '(postgresql/)?(libpq-fe|libpq-events|pg_config)\.h'
library libuuid '(uuid/)?uuid\.h'
library expat 'expat\.h' models
library LAPACKE 'lapacke[a-z_]*\.h' models/performance

# ---- what the lower layers do without ----

# without WORDS WHY FILE... - calls of these functions.
without()
{
    local words=$1 why=$2 hit
    shift 2
    [ $# -gt 0 ] || return 0
    while IFS= read -r hit; do
        breach "$hit   ($why)"
    done < <(grep -nHE "(^|[^[:alnum:]_.>\"])($words)[[:space:]]*\(" "$@" |
        grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|/\*|//)' || true)
}

mapfile -t lower < <(sources models algorithms handlers | grep -v '^models/base/arena\.c$')
mapfile -t pure < <(sources models algorithms | grep -v '^models/base/budget\.c$')
mapfile -t all < <(find models algorithms service handlers -name '*.[ch]' | sort)
without 'malloc|calloc|realloc|free|strdup|strndup|asprintf|vasprintf' \
    'memory comes from the arena' "${lower[@]}"
without 'time|clock|clock_gettime|gettimeofday|localtime|rand|random|srand|drand48|getenv|printf|fprintf|puts|fopen|syslog' \
    'pure code: no clock, no input or output, no global random numbers' "${pure[@]}"
without 'setlocale' 'numbers would be read and printed by the locale' "${all[@]}"

# ---- whoever computes leaves when there is no memory: only service/ says so ----

fail_memory_calls() { grep -rhE '\bfail_memory\(' "$@" --include='*.c' | wc -l; }
mapfile -t computing < <(printf '%s\n' "${lower[@]}" | grep -v '^models/base/error\.[ch]$')
without fail_memory 'in a computation memory that is not there ends it: arena_run()' "${computing[@]}"
[ "$(fail_memory_calls service)" -le 100 ] ||
    breach "service has $(fail_memory_calls service) calls of fail_memory(), more than 100"

# ---- a room of handlers/ can be overlooked ----

while read -r room; do
    count=$(find "$room" -name '*.[ch]' | wc -l)
    [ "$count" -le 15 ] || breach "$room has $count files, more than 15"
done < <(find handlers -mindepth 1 -maxdepth 1 -type d | sort)

# ---- a README for every folder, of at most 30 lines ----

for folder in service handlers algorithms models migrations openapi docker tests; do
    [ -s $folder/README.md ] || breach "$folder/README.md is missing: what is in it, what may not be, how to add to it"
done
while IFS= read -r folder; do
    [ -s "$folder/README.md" ] ||
        breach "$folder/README.md is missing: what the family decides, from what, and its sources"
done < <(find algorithms -mindepth 2 -name '*.c' -printf '%h\n' | sort -u)
while IFS= read -r readme; do
    [ "$(wc -l <"$readme")" -le 30 ] || breach "$readme has more than 30 lines"
done < <(find service handlers algorithms models migrations openapi docker tests -name README.md | sort)

# ---- HACKING's figures are those of about today ----

while IFS= read -r figure; do breach "$figure (tests/figures.sh prints them)"; done < <(tests/figures.sh --check || true)

# ---- loops over input count their work ----

python3 tests/check_budget.py || breach "tests/check_budget.py found the above"

[ $breaches = 0 ] || {
    echo "layers: $breaches breaches"
    exit 1
}
echo "layers: as they should be"
