#!/usr/bin/env bash
# tests/package.sh - what users install: unit, manual pages, completions, monitoring, deb.
#
#     tests/package.sh [BUILD]         default: build/release
#
# Each part whose tool is missing is skipped, with a line that says so. The package is tried
# in a chroot of its own where mmdebstrap and root are there.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build=$(realpath -- "${1:-build/release}")
if [ -z "${GRIDPLAN_TEST_DATABASE_URL-}" ]; then # some metrics are those of the database
    tests/postgres.sh start "$build/package-postgres" --fast >/dev/null
    trap 'tests/postgres.sh stop "$build/package-postgres" >/dev/null' EXIT
    tests/postgres.sh run "$build/package-postgres" package tests/package.sh "$build"
    exit
fi
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

has()
{
    command -v "$1" >/dev/null && return
    echo "package: no $1: $2 skipped"
    return 1
}

! has groff "the form of manual pages is" || groff -man -ww -z docker/package/*.1
bash -n docker/package/gridplan.bash
! has zsh "the completion of zsh is" || zsh -n docker/package/_gridplan
if has systemd-analyze "the exposure of the unit is"; then
    exposure=$(systemd-analyze security --offline=true docker/package/gridplan.service |
        sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
    echo "package: exposure $exposure"
    [ "${exposure/./}" -le 15 ]
fi
if has promtool "alert rules are"; then
    promtool check rules docker/monitoring/alerts.yml
    (cd docker/monitoring && promtool test rules alerts_test.yml)
    python3 - docker/monitoring/grafana.json >"$folder/board.yml" <<'PYTHON'
import json, sys
board = json.load(open(sys.argv[1]))
rules = [{"record": f"board:{p['id']}:{t['refId']}", "expr": t["expr"]}
         for p in board["panels"] for t in p["targets"]]
print(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
PYTHON
    promtool check rules "$folder/board.yml"
fi
# Every family that rules and board name is one that a service has.
port=18469
GRIDPLAN_PORT=$port GRIDPLAN_DATABASE=$GRIDPLAN_TEST_DATABASE_URL "$build/gridplan" serve 2>"$folder/log" &
service=$!
trap 'kill $service; rm -rf -- "$folder"' EXIT
for ((i = 0; i < 100; i++)); do
    "$build/gridplan" health --url "http://127.0.0.1:$port" >/dev/null && break
    sleep 0.1
done
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /docs/metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
cat <&3 >"$folder/metrics"
grep -ohE '(gridplan|process)_[a-z_]+' docker/monitoring/{alerts.yml,grafana.json} | sort -u |
    sed 's/_bucket$//' | while read -r name; do
    grep -q "id=\"$name\"" "$folder/metrics" || { echo "package: there is no metric $name"; exit 1; }
done

has cpack "the package is" || exit 0
(cd "$build" && cpack -G DEB -B "$folder/deb" >"$folder/cpack.log" 2>&1) ||
    { cat "$folder/cpack.log"; exit 1; }
deb=$(echo "$folder"/deb/*.deb)
dpkg-deb --contents "$deb" >"$folder/contents"
for file in usr/bin/gridplan usr/lib/systemd/system/gridplan.service etc/default/gridplan etc/gridplan/ \
    usr/share/man/man1/gridplan.1.gz usr/share/doc/gridplan/copyright \
    usr/share/bash-completion/completions/gridplan usr/share/gridplan/prometheus/gridplan.yml; do
    grep -q " \./$file" "$folder/contents" || { echo "package: $file is missing"; exit 1; }
done
# What is in it works: the manual page is found, the completion offers commands, answers are
# those that are recorded.
root=$folder/root/usr
dpkg-deb --extract "$deb" "$folder/root"
[ "$(stat -c %a "$folder/root/etc/gridplan")" = 750 ]
! has man "finding the manual page is" ||
    man -M "$root/share/man" -w gridplan gridplan-ask gridplan-client.conf >/dev/null
bash -c 'source "$1" && COMP_WORDS=(gridplan he) COMP_CWORD=1 && "$(complete -p gridplan |
    sed -n "s/.*-F \([^ ]*\).*/\1/p")" && [[ " ${COMPREPLY[*]} " = *" health "* ]]' - \
    "$root/share/bash-completion/completions/gridplan" ||
    { echo "package: the completion does not know gridplan health" && exit 1; }
examples='placement-mct workflow-heft queue-easy'
# answers_are_recorded FOLDER - are the answers there, NAME.json, those that are recorded?
answers_are_recorded()
{
    local name
    for name in $examples; do
        python3 - "$1/$name.json" "openapi/examples/$name.answer.json" <<'PYTHON' ||
import json, sys
got, want = ({k: v for k, v in json.load(open(f)).items() if k not in ("decision_id", "timings")}
             for f in sys.argv[1:])
sys.exit(got != want)
PYTHON
            { echo "package: $name is not answered as recorded" && exit 1; }
    done
}
mkdir "$folder/answers"
for name in $examples; do
    "$root/bin/gridplan" ask "$root/share/doc/gridplan/examples/$name.json" --json >"$folder/answers/$name.json"
done
answers_are_recorded "$folder/answers"
! has lintian "its form is" || lintian --fail-on error "$deb"
has mmdebstrap "trying it in a chroot is" || exit 0
[ "$(id -u)" = 0 ] || { echo "package: not root: trying it in a chroot is skipped"; exit 0; }
mkdir "$folder/examples" "$folder/chroot"
for name in $examples; do
    cp "openapi/examples/$name.json" "$folder/examples"
done
# shellcheck disable=SC2016 # the hooks expand them
mmdebstrap --variant=minbase \
    --customize-hook="copy-in $folder/examples $deb /tmp" \
    --customize-hook='chroot "$1" sh -c "apt-get install -y --no-install-recommends /tmp/gridplan_*.deb"' \
    --customize-hook='chroot "$1" gridplan --version' \
    --customize-hook='chroot "$1" sh -ec "mkdir /tmp/answers; for f in /tmp/examples/*.json; do gridplan ask \$f --json >/tmp/answers/\${f##*/}; done"' \
    --customize-hook="copy-out /tmp/answers $folder/chroot" \
    --customize-hook='chroot "$1" sh -ec "GRIDPLAN_DATABASE= gridplan serve & sleep 3; gridplan health --ready; kill \$!"' \
    --customize-hook='chroot "$1" sh -ec "dpkg --purge gridplan; ! find / -xdev -name \"*gridplan*\" ! -path \"/var/*\" ! -path \"/tmp/*\" | grep ."' \
    bookworm /dev/null
answers_are_recorded "$folder/chroot/answers"
