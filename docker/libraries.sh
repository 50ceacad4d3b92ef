#!/usr/bin/env bash
# docker/libraries.sh - put the shared libraries of PROGRAM into the folder ROOT.
#
#     docker/libraries.sh PROGRAM ROOT
#
# ROOT then holds all that PROGRAM needs to run as the whole file system of a
# container: its libraries, the loader, and the names of two users.
set -euo pipefail

[ $# = 2 ] || { sed -n '2,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2 && exit 2; }
program=$1
root=$2
if ldd "$program" | grep 'not found'; then
    echo "libraries: $program needs a library that is not installed" >&2
    exit 1
fi
mkdir -p "$root/etc" "$root/usr"
# Debian's own layout: /lib and /lib64 are links into /usr.
for folder in lib lib64; do
    mkdir -p "$root/usr/$folder"
    [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"
done
# libgcc_s is loaded when a thread ends itself, so ldd does not know of it.
{ ldd "$program" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' && gcc -print-file-name=libgcc_s.so.1; } |
    while IFS= read -r library; do
        case $library in
        /lib/* | /lib64/*) target=$root/usr$library ;;
        *) target=$root$library ;;
        esac
        mkdir -p "${target%/*}"
        cp -L "$library" "$target"
    done
printf 'root:x:0:0::/:\ngridplan:x:65532:65532::/:\n' >"$root/etc/passwd"
printf 'root:x:0:\ngridplan:x:65532:\n' >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
