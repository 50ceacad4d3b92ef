"""A real cwltool that gridplan sizes (real_service.py says how)."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from real_service import CLIENTS, DATA, DEBIAN, RealService  # noqa: E402

CLIENT = os.path.join(CLIENTS, "cwltool", "gridplan_cwltool.py")
CWLTOOL = importlib.util.find_spec("cwltool")


@unittest.skipUnless(CWLTOOL, "cwltool is not installed: apt-get install cwltool")
class Run(RealService):
    def setUp(self):
        super().setUp()
        self.application = "cwl-%d" % self.port
        for name in ("wf.cwl", "step.cwl", "cat.cwl", "in.json"):
            shutil.copy(os.path.join(DATA, "cwltool", name), self.folder)
        for i in (1, 2, 3):
            with open(os.path.join(self.folder, "f%d.dat" % i), "w") as file:
                file.write("x" * 1000 * i)

    def begin(self, **more):
        return subprocess.Popen(
            [sys.executable, CLIENT, "--outdir", "out", "wf.cwl", "in.json"], cwd=self.folder,
            env=dict(os.environ, PATH=DEBIAN, GRIDPLAN_URL=self.url,
                     GRIDPLAN_APPLICATION=self.application, **more),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, run):
        output, errors = run.communicate(timeout=90)
        self.assertEqual(run.returncode, 0, errors)
        self.assertEqual(json.loads(output)["out"]["basename"], "all.txt")
        with open(os.path.join(self.folder, "out", "all.txt")) as file:
            self.assertEqual([line.split()[0] for line in file], ["1000", "2000", "3000"])
        return errors

    def runs(self, step):
        items = self.call("GET", "/v1/executions?application_id=%s/%s"
                          % (self.application, step))["items"]
        return sorted(items, key=lambda x: x["started_at"])

    def test_runs_are_stored_and_then_sized(self):
        self.finish(self.begin())
        first = self.runs("count")
        self.assertEqual(sorted(x["problem_size"] for x in first), [1000, 2000, 3000])
        self.assertEqual({x["exit_code"] for x in first}, {0})
        asked = {x["memory_requested_bytes"] for x in first}
        self.assertEqual(len(asked), 1)  # ramMax, or the machine's
        for run in first:
            self.assertGreater(run["run_time_s"], 0.19)
            self.assertTrue(1e5 < run["memory_peak_bytes"] < 1e8, run)
        self.assertEqual(len(self.runs("join")), 1)
        # wc takes some megabytes: what the step must have at least rules from now on.
        self.finish(self.begin())
        second = self.runs("count")[3:]
        self.assertEqual({x["memory_requested_bytes"] for x in second}, {700 * 1048576})

    def test_without_a_service(self):
        self.kill()
        self.assertIn("sizes are cwltool's", self.finish(self.begin()))

    def test_the_service_is_killed_in_the_middle(self):
        run = self.begin()
        time.sleep(1)
        self.kill()
        self.finish(run)

    def test_a_step_fails(self):
        with open(os.path.join(self.folder, "step.cwl")) as file:
            step = file.read()
        with open(os.path.join(self.folder, "step.cwl"), "w") as file:
            file.write(step.replace("wc -c $(inputs.i.path)", "exit 3; wc"))
        run = self.begin()
        run.communicate(timeout=90)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual({x["exit_code"] for x in self.runs("count")}, {1})


if __name__ == "__main__":
    unittest.main()
