"""A real Snakemake with the profile that init writes (real_service.py says how)."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from real_service import CLIENTS, DEBIAN, RealService  # noqa: E402

CLIENT = os.path.join(CLIENTS, "snakemake", "gridplan_snakemake.py")
SNAKEMAKE = shutil.which("snakemake", path=DEBIAN)

SNAKEFILE = """
S = ["s%d" % i for i in range(5)]
localrules: gather
rule all:
    input: "out/report.txt"
rule fetch:
    output: "out/{s}.raw"
    shell: "touch {output}"
rule align:
    input: "out/{s}.raw"
    output: "out/{s}.bam"
    shell: "touch {output}"
rule gather:
    input: expand("out/{s}.bam", s=S)
    output: "out/list.txt"
    shell: "ls {input} > {output}"
rule report:
    input: "out/list.txt"
    output: "out/report.txt"
    shell: "touch {output}"
"""

# Instead of a Snakemake in each job: the output, made in some tenths of a second.
JOBSCRIPT = """#!/bin/sh
# properties = {properties}
out=$(sed -n 's/^# properties = .*"output": \\["\\([^"]*\\)"\\].*/\\1/p' "$0")
mkdir -p out; sleep 0.4
[ -z "$CI" ] || exit 1
echo "$GP_HOST $out" >> starts.log
echo x > "$out"
"""


@unittest.skipUnless(SNAKEMAKE, "snakemake is not installed: apt-get install snakemake")
class Run(RealService):
    HOSTS = [{"id": "slow", "mips_total": 1, "cpus": 2},
             {"id": "fast", "mips_total": 4, "cpus": 2}]

    def setUp(self):
        super().setUp()
        for name, text in (("Snakefile", SNAKEFILE), ("job.sh", JOBSCRIPT)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        done = subprocess.run(
            ["python3", CLIENT, "init", "--url", self.url, "--snapshot", self.snapshot,
             "--application", "fan"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def begin(self, *more):
        environment = dict(os.environ, CI="true",
                           GRIDPLAN_LAUNCH="GP_HOST={host} sh {jobscript}")
        self.output = open(os.path.join(self.folder, "output.txt"), "w+")
        self.addCleanup(self.output.close)
        return subprocess.Popen(
            [SNAKEMAKE, "--profile", os.path.join(self.folder, "gridplan"), "--quiet", "rules",
             "--jobscript", "job.sh", "--latency-wait", "3", *more],
            cwd=self.folder, env=environment, stdout=self.output, stderr=self.output,
            start_new_session=True)

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def lines(self, name="starts.log"):
        try:
            with open(os.path.join(self.folder, name)) as file:
                return file.read().split("\n")[:-1]
        except OSError:
            return []

    def logged(self, what):
        return [x for x in self.lines("jobs.log") if x.startswith(what)]

    def write_job(self, wait):
        """A job that says when it begins and when it ends."""
        middle = "\n".join([
            'end() { [ "$?" = 0 ] || echo "stop $GP_HOST $out" >> jobs.log; }',
            "trap end EXIT", "trap 'exit 1' TERM",
            'mkdir -p out; echo "begin $GP_HOST $out" >> jobs.log', wait,
            'echo "end $GP_HOST $out" >> jobs.log'])
        with open(os.path.join(self.folder, "job.sh"), "w") as file:
            # Snakemake fills in what is in single braces.
            file.write(JOBSCRIPT.replace("mkdir -p out; sleep 0.4",
                                         middle.replace("{", "{{").replace("}", "}}")))

    def until(self, condition, seconds=30):
        until_s = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until_s, self.text())
            time.sleep(0.05)

    def processes(self):
        """Command lines of jobs of this run that are still there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid) as file:
                    line = file.read()
            except OSError:
                continue
            if os.path.join(self.folder, ".gridplan") in line:
                found.append(line)
        return found

    def wait(self, run, seconds=50):
        try:
            return run.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            self.fail("it does not end: " + self.text())

    def test_a_run(self):
        before = {x["session_id"] for x in self.sessions("fan")}
        self.assertEqual(self.wait(self.begin()), 0, self.text())
        outputs = sorted(line.split()[1] for line in self.lines())
        self.assertEqual(len(outputs), 11)
        self.assertEqual(len(set(outputs)), 11)  # none twice
        (session,) = [x for x in self.sessions("fan") if x["session_id"] not in before]
        self.assertEqual(session["status"], "finished")
        self.assertEqual(session["counts"]["done"], 11)
        path = "/v1/workflow-sessions/" + session["session_id"]
        events = self.call("GET", path + "/events")["items"]
        kinds = [e["kind"] for e in events]
        self.assertEqual((kinds.count("started"), kinds.count("ended")), (11, 11))
        self.assertEqual(len(kinds), 22)
        # The graph was there before the first job: local rules are left out.
        tasks = {t["id"]: t for t in
                 self.call("GET", path)["definition"]["workflow"]["tasks"]}
        self.assertEqual(tasks["report:out/report.txt"]["depends_on"],
                         ["align:out/s%d.bam" % i for i in range(5)])
        # Jobs ran where events say.
        where = dict(reversed(line.split()) for line in self.lines())
        for event in events:
            if event["kind"] == "started":
                self.assertEqual(where[event["task_id"].split(":")[1]], event["resource_id"])
        self.assertEqual(set(where.values()) - {"slow", "fast"}, set())

    def test_the_service_is_killed_in_the_middle(self):
        run = self.begin()
        self.until(lambda: len(self.lines()) >= 3)
        self.kill()
        self.assertEqual(self.wait(run), 0, self.text())
        outputs = [line.split()[1] for line in self.lines()]
        self.assertEqual(len(outputs), 11)
        self.assertEqual(len(set(outputs)), 11)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "out", "report.txt")))
        self.assertIn("jobs start without it", self.text())
        with open(os.path.join(self.folder, ".gridplan", "events.ndjson")) as file:
            self.assertIn('"ended"', file.read())  # what the service has not seen

    def test_snakemake_is_killed_and_begins_again(self):
        self.write_job("sleep 3")
        run = self.begin()
        self.until(lambda: len(self.logged("begin")) >= 2)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        self.assertEqual(self.logged("end"), [])
        self.write_job("sleep 0.2")
        status = self.wait(self.begin("--rerun-incomplete", "--nolock"))
        if status and "broken symlink" in self.text():
            # Snakemake asks for the size of a file that a job of before is just writing.
            status = self.wait(self.begin("--rerun-incomplete", "--nolock"))
        self.assertEqual(status, 0, self.text())
        running = set()  # outputs that are being made: none by two jobs at once
        for line in self.lines("jobs.log"):
            what, _, output = line.split()
            if what == "begin":
                self.assertNotIn(output, running)
                running.add(output)
            else:
                running.discard(output)

    def test_ctrl_c(self):
        self.write_job("sleep 30")
        run = self.begin()
        self.until(lambda: len(self.logged("begin")) >= 2)
        os.killpg(run.pid, signal.SIGINT)
        self.assertNotEqual(self.wait(run, 20), 0)
        self.assertEqual(self.logged("end"), [])
        self.until(lambda: not self.processes(), 5)


if __name__ == "__main__":
    unittest.main()
