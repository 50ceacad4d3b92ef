"""A real Toil with the batch system of gridplan (real_service.py says how)."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from real_service import CLIENTS, DATA, DEBIAN, RealService  # noqa: E402

CLIENT = os.path.join(CLIENTS, "toil", "gridplan_toil.py")
TOIL = importlib.util.find_spec("toil")

# The recorded flow, with a main program. Its third leaf fails once.
MAIN = """
import gridplan_toil
from toil.common import Toil
if __name__ == "__main__":
    options = Job.Runner.getDefaultArgumentParser().parse_args()
    options.clean = "always"
    with Toil(options) as toil:
        first = Job.wrapJobFn(root, 4, cores=1, memory="64M", disk="10M")
        print("RESULT", toil.start(first))
"""

# Notes where a job begins, and how.
LAUNCH = 'echo {host} >> "$STARTS"; sh -c {command}'


@unittest.skipUnless(TOIL, "toil is not installed: apt-get install toil")
class Run(RealService):
    HOSTS = [{"id": "slow", "mips_total": 1, "cpus": 1, "memory_bytes": 4e9, "disk_bytes": 1e11},
             {"id": "fast", "mips_total": 4, "cpus": 1, "memory_bytes": 4e9, "disk_bytes": 1e11}]

    def setUp(self):
        super().setUp()
        self.application = "toil-%d" % self.port
        shutil.copy(CLIENT, self.folder)
        self.client("init", "--url", self.url, "--snapshot", self.snapshot,
                    "--application", self.application)
        with open(os.path.join(DATA, "toil", "flow.py")) as file:
            flow = file.read()
        with open(os.path.join(self.folder, "flow.py"), "w") as file:
            file.write(flow + MAIN)

    def client(self, *words):
        done = subprocess.run([sys.executable, os.path.join(self.folder, "gridplan_toil.py"),
                               *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def begin(self):
        self.output = open(os.path.join(self.folder, "output.txt"), "w+")
        self.addCleanup(self.output.close)
        environment = dict(
            os.environ, PATH=DEBIAN, PYTHONPATH=self.folder, GRIDPLAN_LAUNCH=LAUNCH,
            FLOW_MARK=os.path.join(self.folder, "mark"),
            STARTS=os.path.join(self.folder, "starts"))
        return subprocess.Popen(
            [sys.executable, "flow.py", os.path.join(self.folder, "store"), "--batchSystem",
             "gridplan", "--retryCount", "1"], cwd=self.folder, env=environment,
            stdout=self.output, stderr=self.output)

    def finish(self, run):
        try:
            code = run.wait(90)
        except subprocess.TimeoutExpired:
            run.kill()
            code = "too long"
        self.output.seek(0)
        text = self.output.read()
        self.assertEqual(code, 0, text)
        self.assertIn("RESULT 6", text)
        return text

    def starts(self):
        try:
            with open(os.path.join(self.folder, "starts")) as file:
                return file.read().split()
        except OSError:
            return []

    def test_a_flow_with_a_retry(self):
        self.finish(self.begin())
        (session,) = self.sessions(self.application)
        self.assertEqual((session["status"], session["counts"]["done"]), ("finished", 6))
        events = self.call("GET", "/v1/workflow-sessions/%s/events" % session["session_id"])
        kinds = [e["kind"] for e in events["items"]]
        self.assertEqual([kinds.count(k) for k in ("started", "ended", "failed")], [7, 6, 1])
        told = sorted(e["resource_id"] for e in events["items"] if e["kind"] == "started")
        self.assertEqual(sorted(self.starts()), told)
        (failed,) = [e for e in events["items"] if e["kind"] == "failed"]
        again = [e for e in events["items"]
                 if e["kind"] == "ended" and e["task_id"] == failed["task_id"]]
        self.assertEqual([e["attempt"] for e in again], [2])
        runs = self.call("GET", "/v1/executions?application_id=%s/leaf" % self.application)
        self.assertEqual(sorted(x["exit_code"] for x in runs["items"]), [0, 0, 0, 0, 1])

    def test_without_a_service(self):
        self.kill()
        self.assertIn("jobs start without it", self.finish(self.begin()))
        self.assertEqual(len(self.starts()), 7)
        self.assertEqual(self.starts()[0], "fast")

    def test_the_service_is_killed_in_the_middle(self):
        run = self.begin()
        self.until(lambda: len(self.starts()) >= 2, 60)
        self.kill()
        self.finish(run)
        self.assertEqual(len(self.starts()), 7)

    def test_messages_of_another_batch_system(self):
        bus = os.path.join(DATA, "toil", "bus.tsv")
        text = self.client("tail", bus, "--application", "bus", "--once")
        self.assertIn("6 jobs, 7 ends", text)
        path = "/v1/workflow-sessions/" + text.split()[1]
        with open(os.path.join(DATA, "toil", "bus.expected.json")) as file:
            expected = json.load(file)["completed"]
        tasks = {t["task_id"] for t in self.call("GET", path + "/tasks")["items"]}
        self.assertEqual(tasks, {e["job_id"] for e in expected})
        events = self.call("GET", path + "/events")["items"]
        self.assertEqual(
            [(e["task_id"], e["attempt"], e.get("exit_code", 0)) for e in events],
            [(e["job_id"], e["attempt"], e["exit_code"]) for e in expected])
        # Nothing began, as far as the file says: no run time is learnt.
        runs = self.call("GET", "/v1/executions?application_id=bus/leaf")["items"]
        self.assertEqual(runs, [])


if __name__ == "__main__":
    unittest.main()
