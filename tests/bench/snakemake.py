#!/usr/bin/env python3
"""A real Snakemake of 81 jobs on hosts of speeds 1, 2 and 4: round robin, first come on the
fastest free host, and gridplan without and with history; and what interrupts them.

    tests/postgres.sh start DIR
    GRIDPLAN_BINARY=build/release/gridplan tests/postgres.sh run DIR bench \\
        python3 -B tests/bench/snakemake.py [--runs N] [--asked 1,10] [--cases speed,...]

Jobs are faked: each sleeps scale * work / speed + 0.15 s. A time is from the first start to
the last end of a job, told by the jobs themselves; medians of N runs, and ratios against the
bars of the specification. Cases: speed (all four), stopped (Ctrl-C, SIGTERM, kill -9, each
followed by the same command), service (killed and not back; killed and back after 15 s).
--data FOLDER: another Snakefile with its nodes.json and work.tsv. Ends with 1 if a bar is
missed. 20 minutes for three runs of everything.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "clients", "python"))
import real_service  # noqa: E402

CLIENT = os.path.join(real_service.CLIENTS, "snakemake", "gridplan_snakemake.py")
SNAKEMAKE = shutil.which("snakemake", path=real_service.DEBIAN)
BACK_S = 15  # how long the service is away

# Snakemake fills in what is in single braces. A job that is stopped says so.
JOBSCRIPT = """#!/bin/sh
# properties = {properties}
out=$(sed -n 's/^# properties = .*"output": \\["\\([^"]*\\)"\\].*/\\1/p' "$0")
mkdir -p "$(dirname "$out")"
said=stop
trap 'echo "$said $(date +%s.%N) $GP_NODE $out" >> jobs.log' EXIT
trap 'exit 1' TERM
echo "begin $(date +%s.%N) $GP_NODE $out" >> jobs.log
sleep "$(awk -v o="$out" -v v="$GP_SPEED" -v k="$GP_SCALE" \\
    '$1 == o {{ print k * $2 / v + 0.15 }}' work.tsv)" &
wait $! && echo x > "$out" && said=end
"""

# Against which, how often Snakemake asks in s, and the bar.
BARS = {
    "cold": [("rr", 1, 0.56), ("free", 1, 0.86), ("rr", 10, 0.60), ("free", 10, 0.90)],
    "warm": [("rr", 1, 0.55), ("free", 1, 0.85), ("rr", 10, 0.80)],
    "service gone": [("free", 1, 1.05), ("free", 10, 1.05)],
    "service back": [("free", 1, 1.05), ("free", 10, 1.05)],
}


class Run:
    """One workflow in a folder of its own."""

    def __init__(self, bench, policy, asked_s, application=None):
        self.bench, self.policy = bench, policy
        self.folder = tempfile.mkdtemp(prefix="gridplan-bench-")
        for name in os.listdir(bench.data):
            shutil.copy(os.path.join(bench.data, name), self.folder)
        self.write("job.sh", JOBSCRIPT)
        self.environment = {k: v for k, v in os.environ.items() if k != "CI"}
        self.environment.update(GP_SCALE=str(bench.scale), BASELINE=policy)
        if asked_s == 1:
            self.environment["CI"] = "true"
        self.command = [
            SNAKEMAKE, "--jobscript", "job.sh", "--latency-wait", "2", "--rerun-incomplete",
            "--nolock", "--quiet", "all", "--config", "n=%d" % bench.samples]
        if policy == "ours":
            self.init(application)
        else:
            self.command += [
                "--scheduler", "greedy", "--jobs", "40", "--max-jobs-per-second", "50",
                "--max-status-checks-per-second", "100", "--cluster", "./submit.sh",
                "--cluster-status", "./status.sh", "--cluster-sidecar",
                "./baseline_sidecar.py"]

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def init(self, application):
        """On hosts of its own: a run whose service went away holds what it had for long."""
        subprocess.run(
            [sys.executable, CLIENT, "init", "--url", self.bench.url, "--snapshot",
             self.bench.new_snapshot(), "--application", application],
            cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        self.write("launch.sh", "case $1 in %s esac\nGP_NODE=$1 GP_SPEED=$s exec sh \"$2\"\n" % (
            " ".join("%s) s=%s ;;" % (h["id"], h["mips_total"]) for h in self.bench.hosts)))
        self.environment["GRIDPLAN_LAUNCH"] = "exec sh launch.sh {host} {jobscript}"
        self.command += ["--profile", os.path.join(self.folder, "gridplan")]

    def begin(self):
        self.output = open(os.path.join(self.folder, "output.txt"), "ab")
        self.process = subprocess.Popen(
            self.command, cwd=self.folder, env=self.environment, stdout=self.output,
            stderr=self.output, stdin=subprocess.DEVNULL, start_new_session=True)

    def log(self):
        """(what, when, host, output) in the order of the lines."""
        try:
            with open(os.path.join(self.folder, "jobs.log"), encoding="utf-8") as file:
                rows = [line.split() for line in file.read().split("\n")[:-1]]
        except OSError:
            return []
        return [(r[0], float(r[1]), r[2], r[3]) for r in rows]

    def ended(self):
        return sum(row[0] == "end" for row in self.log())

    def until_ended(self, count, limit_s=400):
        until_s = time.monotonic() + limit_s
        while self.ended() < count and self.process.poll() is None:
            if time.monotonic() > until_s:
                self.give_up("does not go on")
            time.sleep(0.05)

    def give_up(self, why):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        with open(os.path.join(self.folder, "output.txt"), encoding="utf-8") as file:
            raise AssertionError("%s: %s" % (why, file.read()[-2000:]))

    def end(self, wanted=0, limit_s=400):
        """Waits for it. wanted None: whatever code."""
        try:
            code = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.give_up("does not end")
        self.output.close()
        if wanted is not None and code != wanted:
            self.give_up("ends with %d" % code)
        return code

    def check_outputs(self):
        missing = [o for o in self.bench.outputs
                   if not os.path.exists(os.path.join(self.folder, o))]
        if missing:
            raise AssertionError("%d outputs are missing, %s" % (len(missing), missing[0]))

    def check_once(self):
        """No output is made by two jobs at once: each says when it begins, and when it is over
        or was stopped."""
        running = {}
        for what, when_s, host, output in sorted(self.log(), key=lambda row: row[1]):
            if what == "begin" and output in running:
                raise AssertionError("%s runs on %s and on %s" % (output, running[output], host))
            if what == "begin":
                running[output] = host
            else:
                running.pop(output, None)

    def seconds(self):
        rows = self.log()
        return (max(r[1] for r in rows if r[0] == "end") -
                min(r[1] for r in rows if r[0] == "begin"))

    def done(self):
        self.check_outputs()
        self.check_once()
        seconds = self.seconds()
        shutil.rmtree(self.folder, True)
        return seconds


class Bench(real_service.Gridplan):
    def __init__(self, arguments):
        self.data, self.samples, self.scale = arguments.data, arguments.samples, arguments.scale
        with open(os.path.join(self.data, "nodes.json"), encoding="utf-8") as file:
            self.hosts = json.load(file)
        self.times = {}  # (case, asked_s): seconds
        self.failures = []
        self.open()
        self.snapshots = 0
        self.outputs = self.find_outputs()

    def new_snapshot(self):
        self.snapshots += 1
        name = "bench-%d-%d" % (self.port, self.snapshots)
        self.call("POST", "/v1/snapshots?id=" + name, {"resources": self.hosts})
        return name

    def find_outputs(self):
        """What the workflow makes: of a dry run."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(self.data, "Snakefile"), folder)
            told = subprocess.run(
                [SNAKEMAKE, "--summary", "--config", "n=%d" % self.samples], cwd=folder,
                capture_output=True, text=True, check=True).stdout.split("\n")
        return [line.split("\t")[0] for line in told[1:] if line]

    def note(self, case, asked_s, seconds, more=""):
        self.times.setdefault((case, asked_s), []).append(seconds)
        print("%-14s asked every %2d s: %6.1f s  %s (load %.1f)" % (
            case, asked_s, seconds, more, os.getloadavg()[0]), flush=True)

    def attempt(self, case, function, *rest):
        try:
            function(*rest)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            self.failures.append("%s: %s" % (case, error))
            print("FAILED %s" % self.failures[-1], flush=True)

    def play(self, case, policy, asked_s, application=None):
        run = Run(self, policy, asked_s, application)
        run.begin()
        run.end()
        self.note(case, asked_s, run.done())

    def speed(self, number, asked_s):
        name = "bench-%d-%d-%d" % (self.port, asked_s, number)
        for case, policy in (("rr", "rr"), ("free", "free"), ("cold", "ours"), ("warm", "ours")):
            self.attempt(case, self.play, case, policy, asked_s, name)

    def stop_and_again(self, case, send, asked_s):
        run = Run(self, "ours", asked_s, "bench-%s-%d" % (case, self.port))
        run.begin()
        run.until_ended(len(self.outputs) // 5)
        began_s = time.monotonic()
        send(run.process.pid)
        code = run.end(None, 90)
        took_s = time.monotonic() - began_s
        if code == 0:
            run.give_up("ends with 0 though it was stopped")
        before = run.ended()
        run.begin()
        run.end()
        run.check_outputs()
        run.check_once()
        made = [row[3] for row in run.log() if row[0] == "end"]
        print("%-14s ended with %d after %.1f s; %d jobs had ended, %d were run twice in turn; "
              "the same command then ends with 0" % (
                  case, code, took_s, before, len(made) - len(set(made))), flush=True)
        shutil.rmtree(run.folder, True)

    def stopped(self, asked_s):
        for case, send in (
                ("Ctrl-C", lambda pid: os.killpg(pid, signal.SIGINT)),
                ("SIGTERM", lambda pid: os.killpg(pid, signal.SIGTERM)),
                ("kill -9", lambda pid: os.kill(pid, signal.SIGKILL))):
            self.attempt(case, self.stop_and_again, case, send, asked_s)

    def service_gone(self, asked_s):
        run = Run(self, "ours", asked_s, "bench-gone-%d" % self.port)
        run.begin()
        run.until_ended(len(self.outputs) * 6 // 10)
        self.kill()
        try:
            run.end()
        finally:
            self.serve()
        self.note("service gone", asked_s, run.done())

    def service_back(self, asked_s):
        application = "bench-back-%d-%d" % (self.port, asked_s)
        run = Run(self, "ours", asked_s, application)
        run.begin()
        run.until_ended(len(self.outputs) * 4 // 10)
        self.kill()
        back = threading.Timer(BACK_S, self.serve)
        back.start()
        try:
            run.end()
        finally:
            back.join()
        (session,) = self.sessions(application)
        events = self.call(
            "GET", "/v1/workflow-sessions/%s/events?page_size=1000" % session["session_id"])
        pairs = [(e["kind"], e["task_id"]) for e in events["items"]]
        count = len(self.outputs)
        kinds = [kind for kind, _ in pairs]
        if (len(set(pairs)) != len(pairs) or kinds.count("started") != count or
                kinds.count("ended") != count):
            raise AssertionError("the session holds %d started, %d ended of %d" % (
                kinds.count("started"), kinds.count("ended"), count))
        self.note("service back", asked_s, run.done(),
                  "%d started and %d ended, none twice" % (count, count))

    def report(self):
        """The bars; whether all are met."""
        met = not self.failures
        medians = {key: statistics.median(times) for key, times in self.times.items()}
        print("\n| case | asked every | seconds (median of) | ratio to | bar | |")
        print("| --- | --- | --- | --- | --- | --- |")
        for (case, asked_s), seconds in sorted(medians.items(), key=lambda row: row[0][::-1]):
            rows = [bar for bar in BARS.get(case, ()) if bar[1] == asked_s]
            told = "| %s | %d s | %.1f (%d) |" % (
                case, asked_s, seconds, len(self.times[case, asked_s]))
            if not rows:
                print(told + " | | |")
            for against, _, bar in rows:
                if (against, asked_s) not in medians:
                    print(told + " %s, not run | %.2f | |" % (against, bar))
                    continue
                ratio = seconds / medians[against, asked_s]
                met &= ratio <= bar
                print(told + " %s %.3f | %.2f | %s |" % (
                    against, ratio, bar, "met" if ratio <= bar else "**missed**"))
        for failure in self.failures:
            print("\nFAILED " + failure)
        return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="of each speed; default 3")
    parser.add_argument("--asked", default="1,10", help="seconds; default 1,10")
    parser.add_argument("--cases", default="speed,stopped,service")
    parser.add_argument("--data", default=os.path.join(real_service.DATA, "end-to-end"))
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--scale", type=float, default=4.0)
    arguments = parser.parse_args()
    cases, asked = arguments.cases.split(","), [int(x) for x in arguments.asked.split(",")]
    if not SNAKEMAKE or not real_service.DATABASE:
        sys.exit("needs snakemake (apt-get install snakemake) and GRIDPLAN_TEST_DATABASE_URL "
                 "(tests/postgres.sh run)")
    bench = Bench(arguments)
    try:
        for number in range(arguments.runs):
            for asked_s in asked if "speed" in cases else ():
                bench.speed(number, asked_s)
        if "stopped" in cases:
            bench.stopped(asked[0])
        for asked_s in asked if "service" in cases else ():
            bench.attempt("service gone", bench.service_gone, asked_s)
            bench.attempt("service back", bench.service_back, asked_s)
        return 0 if bench.report() else 1
    finally:
        bench.kill()


if __name__ == "__main__":
    sys.exit(main())
