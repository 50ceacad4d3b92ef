#!/usr/bin/env bash
# docker/packages.sh - install the Debian packages that a task needs.
#
#     docker/packages.sh LIST...      install what is missing of these lists
#     docker/packages.sh --show LIST...   print the packages of these lists
#
# Every row below is one need: list, package, how to see that it is there. A need
# that is met (by a package or by hand) installs nothing, so a second call takes
# a moment and needs no network. Works as root and with sudo.
set -euo pipefail

# list   package             probe        argument
needs='
build    cmake               command      cmake
build    ninja-build         command      ninja
build    gcc                 command      gcc
build    g++                 command      g++
build    libc6-dev           header       stdio.h
build    pkg-config          command      pkg-config
build    libmicrohttpd-dev   library      libmicrohttpd
build    libcjson-dev        library      libcjson
build    uuid-dev            library      uuid
build    libpq-dev           library      libpq
build    liblapacke-dev      library      lapacke
build    libexpat1-dev       library      expat
build    libssl-dev          library      libcrypto
build    zlib1g-dev          library      zlib
run      postgresql          server       initdb
run      postgresql-client   command      psql
run      curl                command      curl
run      jq                  command      jq
run      util-linux          command      setpriv
test     catch2              header       catch2/catch.hpp
test     nginx               program      nginx
test     pgbouncer           program      pgbouncer
test     python3             command      python3
test     valgrind            command      valgrind
lint     clang-format        command      clang-format
lint     clang-tidy          command      clang-tidy
lint     nodejs              command      node
lint     npm                 command      npx
lint     shellcheck          command      shellcheck
lint     ca-certificates     file         /etc/ssl/certs/ca-certificates.crt
fuzz     clang               command      clang
fuzz     libclang-rt-dev     libfuzzer    -
fuzz     llvm                command      llvm-symbolizer
browser  chromium            command      chromium
bench    wrk                 command      wrk
bench    libsimgrid-dev      header       simgrid/s4u.hpp
slurm    munge               program      munged
slurm    slurmctld           program      slurmctld
slurm    slurmd              program      slurmd
slurm    slurm-client        command      squeue
slurm    python3             command      python3
slurm    jq                  command      jq
ha       patroni             command      patroni
ha       etcd-server         command      etcd
ha       etcd-client         command      etcdctl
ha       haproxy             program      haproxy
ha       postgresql          server       initdb
ha       python3             command      python3
engines  snakemake           command      snakemake
engines  cwltool             file         /usr/bin/cwltool
engines  toil                file         /usr/bin/toil-cwl-runner
engines  python3             command      python3
'

say() { printf '%s\n' "$*" >&2; }

die()
{
    say "packages: $*"
    exit 1
}

# Is the need met? The answer of a compiler counts, not that of dpkg alone: a tool
# installed by hand is as good.
met()
{
    local program
    case $1 in
    command) command -v "$2" >/dev/null ;;
    program) PATH=$PATH:/usr/sbin command -v "$2" >/dev/null ;;
    file) [ -s "$2" ] ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2" 2>/dev/null ;;
    header)
        command -v g++ >/dev/null &&
            printf '#include <%s>\n' "$2" | g++ -E -x c++ - >/dev/null 2>&1
        ;;
    libfuzzer)
        command -v clang >/dev/null || return 1
        [ -e "$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a")" ] ||
            [ -e "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a" ]
        ;;
    server)
        command -v "$2" >/dev/null && return 0
        for program in /usr/lib/postgresql/*/bin/"$2"; do
            [ -x "$program" ] && return 0
        done
        return 1
        ;;
    *) die "unknown probe '$1'" ;;
    esac
}

# Every need of the lists that is not met, one package a line.
missing()
{
    local list package probe argument
    while read -r list package probe argument; do
        case " $* " in
        *" $list "*) met "$probe" "$argument" || printf '%s\n' "$package" ;;
        esac
    done <<<"$needs"
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo -- "$@"
    else
        sudo -n -- "$@"
    fi
}

apt()
{
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Debian makes and starts a cluster on port 5432 when it installs a server. This
# project brings up its own, so for the time of the installation that is off.
no_main_cluster=/etc/postgresql-common/createcluster.d/gridplan-install.conf

# Nor is any other service to be started by being installed (Slurm, munge, nginx).
policy=/usr/sbin/policy-rc.d
made_policy=
forbid_services()
{
    [ ! -e $policy ] || return 0
    as_root sh -c "printf '#!/bin/sh\\nexit 101\\n' >$policy && chmod 755 $policy"
    made_policy=yes
}
allow_services() { [ -z "$made_policy" ] || as_root rm -f $policy; }

install()
{
    local log=$1 code=0
    shift
    apt update >"$log" 2>&1 || code=$?
    if [ $code = 0 ]; then
        forbid_services
        as_root mkdir -p "${no_main_cluster%/*}"
        as_root sh -c "echo 'create_main_cluster = false' >$no_main_cluster"
        apt install --no-install-recommends "$@" >>"$log" 2>&1 || code=$?
        as_root rm -f "$no_main_cluster"
        allow_services
    fi
    return $code
}

main()
{
    local names package log
    [ $# -gt 0 ] || die "usage: docker/packages.sh [--show] LIST...; lists: $(lists)"
    if [ "$1" = --show ]; then
        shift
        awk -v wanted=" $* " 'NF && index(wanted, " " $1 " ") { print $2 }' <<<"$needs"
        return
    fi
    for package; do
        case " $(lists) " in
        *" $package "*) ;;
        *) die "no list '$package'; lists: $(lists)" ;;
        esac
    done
    mapfile -t names < <(missing "$@")
    [ ${#names[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        die "missing: ${names[*]} (Debian's names). Install them with this system's package manager, then try again."
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "missing, and neither root nor sudo to install them. As root: apt-get install ${names[*]}"
    fi

    say "installing: ${names[*]}"
    log=$(mktemp "${TMPDIR:-/tmp}/gridplan-packages.XXXXXX")
    if ! install "$log" "${names[@]}"; then
        tail -n 15 "$log" >&2
        say "packages: the installation failed; the whole log is $log"
        die "check the network (and the proxy settings of apt), then try again, or as root: apt-get update && apt-get install ${names[*]}"
    fi
    rm -f "$log"
    mapfile -t names < <(missing "$@")
    [ ${#names[@]} = 0 ] || die "installed, but still not usable: ${names[*]}"
}

lists() { awk 'NF && !seen[$1]++ { printf "%s%s", sep, $1; sep = " " }' <<<"$needs"; }

main "$@"
