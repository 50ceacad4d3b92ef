#!/usr/bin/env bash
# docker/sbom.sh - what a program consists of, as SPDX 2.3 in JSON.
#
#     docker/sbom.sh PROGRAM               print it
#     docker/sbom.sh --check FILE PROGRAM  does FILE name the libraries that PROGRAM loads,
#                                          at their versions? Exit 1 if not
#
# The program itself with its SHA-256, and the Debian package of every shared library
# that the loader takes for it, with version and licence. Needs dpkg, ldd and readelf, and
# no network. The same program gives the same bytes when SOURCE_DATE_EPOCH is set.
set -euo pipefail

usage() { sed -n '2,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2 && exit 2; }

# Paths of all libraries, as dpkg may know them: /lib is a link into /usr.
libraries() # PROGRAM
{
    ldd "$1" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | sort -u
}

# "file package" of each library, by one question to dpkg.
owners() # PROGRAM
{
    libraries "$1" | while IFS= read -r path; do
        printf '%s\n' "$path" "/usr$path" "${path#/usr}" "$(readlink -f "$path")"
    done | sort -u | { xargs -d '\n' dpkg -S 2>/dev/null || true; } |
        sed -E 's|^([^:,]+)[^/]*.*/([^/]+)$|\2 \1|' | sort -u
}

# "package version direct|indirect" of each package, sorted. Direct: the program names it.
packages() # PROGRAM
{
    local needed list path package
    needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    list=$(owners "$1")
    libraries "$1" | while IFS= read -r path; do
        package=$(awk -v a="${path##*/}" -v b="$(basename "$(readlink -f "$path")")" \
            '$1 == a || $1 == b { print $2; exit }' <<<"$list")
        if [ -z "$package" ]; then
            echo "sbom: no package has $path" >&2
            exit 1
        elif grep -qxF "${path##*/}" <<<"$needed"; then
            echo "$package 0direct"
        else
            echo "$package 1indirect"
        fi
    done | sort | awk '!seen[$1]++' | while read -r package how; do
        echo "$package $(dpkg-query -W -f '${Version}' "$package") ${how#?}"
    done
}

# The licence of a package's main files in SPDX's words. Debian's file is either in a
# fixed form, or a text that no program reads: then NOASSERTION, which is the truth. It is
# of the source package: of libuuid1 and libcom-err2 the main files are other programs.
licence() # PACKAGE
{
    local name
    name=$(awk '/^Files: *\*/ { main = 1 } main && /^License:/ { sub(/^License: */, ""); print; exit }' \
        "/usr/share/doc/$1/copyright" 2>/dev/null) || true
    case $1 in
    libuuid1) name=BSD-3-clause ;;
    libcom-err2) name=MIT ;;
    esac
    case $name in
    MIT | Expat) echo MIT ;;
    PostgreSQL) echo PostgreSQL ;;
    zlib | Zlib) echo Zlib ;;
    Apache-2.0 | Apache-2) echo Apache-2.0 ;;
    BSD-2-clause) echo BSD-2-Clause ;;
    BSD-3-clause) echo BSD-3-Clause ;;
    ISC) echo ISC ;;
    LGPL-2+) echo LGPL-2.0-or-later ;;
    LGPL-2.1+) echo LGPL-2.1-or-later ;;
    LGPL-3+) echo LGPL-3.0-or-later ;;
    GPL-2) echo GPL-2.0-only ;;
    GPL-2+) echo GPL-2.0-or-later ;;
    GPL-3) echo GPL-3.0-only ;;
    GPL-3+) echo GPL-3.0-or-later ;;
    *) echo NOASSERTION ;;
    esac
}

# All licences that the file names, in its own words; "none" when it has no fixed form.
licences_named() # PACKAGE
{
    sed -n 's/^License: *\([A-Za-z0-9][A-Za-z0-9.+ -]*\).*/\1/p' \
        "/usr/share/doc/$1/copyright" 2>/dev/null | sort -u | paste -sd, | sed 's/,/, /g; s/^$/none/'
}

id() { printf 'SPDXRef-%s' "${1//[^A-Za-z0-9.-]/-}"; }

print_package() # NAME VERSION LICENCE SUPPLIER CHECKSUM COMMENT
{
    printf '    {"SPDXID": "%s", "name": "%s", "versionInfo": "%s", "supplier": "%s",\n' \
        "$(id "$1")" "$1" "$2" "$4"
    printf '     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "copyrightText": "NOASSERTION",\n'
    [ -z "$5" ] ||
        printf '     "checksums": [{"algorithm": "SHA256", "checksumValue": "%s"}],\n' "$5"
    [ -z "$6" ] || printf '     "licenseComments": "%s",\n' "$6"
    printf '     "licenseConcluded": "NOASSERTION", "licenseDeclared": "%s"}' "$3"
}

print() # PROGRAM
{
    local name=${1##*/} version sum created list
    version=$("$1" --version | awk '{ print $2; exit }')
    sum=$(sha256sum "$1" | cut -d' ' -f1)
    created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)
    list=$(packages "$1")
    printf '{\n  "spdxVersion": "SPDX-2.3",\n  "dataLicense": "CC0-1.0",\n'
    printf '  "SPDXID": "SPDXRef-DOCUMENT",\n  "name": "%s-%s",\n' "$name" "$version"
    printf '  "documentNamespace": "urn:%s:spdx:%s:%s",\n' "$name" "$version" "$sum"
    printf '  "creationInfo": {"created": "%s", "creators": ["Tool: sbom.sh"]},\n' "$created"
    printf '  "packages": [\n'
    print_package "$name" "$version" MIT NOASSERTION "$sum" ""
    while read -r package number _; do
        printf ',\n'
        print_package "$package" "$number" "$(licence "$package")" "Organization: Debian" "" \
            "/usr/share/doc/$package/copyright names: $(licences_named "$package")"
    done <<<"$list"
    printf '\n  ],\n  "relationships": [\n'
    printf '    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "%s"}' \
        "$(id "$name")"
    while read -r package _ how; do
        printf ',\n    {"spdxElementId": "%s", "relationshipType": "%s", "relatedSpdxElement": "%s"}' \
            "$(id "$name")" "$([ "$how" = direct ] && echo DYNAMIC_LINK || echo DEPENDS_ON)" \
            "$(id "$package")"
    done <<<"$list"
    printf '\n  ]\n}\n'
}

check() # FILE PROGRAM
{
    diff <(sed -n 's/.*"name": "\([^"]*\)", "versionInfo": "\([^"]*\)", "supplier": "Organization.*/\1 \2/p' "$1") \
        <(packages "$2" | cut -d' ' -f1,2)
}

case ${1-} in
--check) [ $# = 3 ] || usage && check "$2" "$3" ;;
'' | -*) usage ;;
*) [ $# = 1 ] || usage && print "$1" ;;
esac
