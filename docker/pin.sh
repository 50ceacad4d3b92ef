#!/usr/bin/env bash
# docker/pin.sh - name every image by what it is, not by a tag that may move.
#
#     docker/pin.sh             ask the registries, write digests.txt, pin the files
#     docker/pin.sh --apply     pin the files by the digests.txt that is there
#     docker/pin.sh --check     print the images that are not pinned as digests.txt says
#
# The first form needs docker with buildx, and the network. Exit 1: an image is unknown,
# or (--check) not pinned.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

files=(Dockerfile compose.yaml)
own=gridplan # our own image has no registry

# NAME:TAG of each image, whether pinned already or not.
images()
{
    sed -nE 's/^FROM ([^ ]+).*/\1/p; s/^ *image: *([^ ]+).*/\1/p' "${files[@]}" |
        sed 's/@sha256:.*//' | grep -v -e '^scratch$' -e "^$own:" | sort -u
}

digest_of() # NAME:TAG
{
    awk -v image="$1" '!/^#/ && $1 ":" $2 == image { print $3 }' digests.txt
}

ask()
{
    local image digest list
    list=$(sed -n '/^#/p' digests.txt | sed 's/; empty: nothing is pinned yet//')
    for image in $(images); do
        digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
        [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || {
            echo "pin: the registry gives no digest for $image" >&2
            exit 1
        }
        list+=$'\n'"${image%:*} ${image##*:} $digest"
    done
    printf '%s\n' "$list" >digests.txt
}

apply()
{
    local image digest
    for image in $(images); do
        digest=$(digest_of "$image")
        [ -n "$digest" ] || {
            echo "pin: digests.txt does not know $image" >&2
            exit 1
        }
        sed -i -E "s|^(FROM \|.*image: *)${image//./\\.}(@sha256:[0-9a-f]*)?( .*)?\$|\1$image@$digest\3|" \
            "${files[@]}"
    done
}

check()
{
    local image digest status=0
    for image in $(images); do
        digest=$(digest_of "$image")
        if [ -z "$digest" ] || ! grep -qF "$image@$digest" "${files[@]}"; then
            echo "$image"
            status=1
        fi
    done
    return $status
}

case ${1-} in
'') ask && apply ;;
--apply) apply ;;
--check) check ;;
*) sed -n '2,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2 && exit 2 ;;
esac
