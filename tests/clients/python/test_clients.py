"""What the clients of engines do: python3 -m unittest discover tests/clients/python

Without a gridplan: services here are made up, good ones and bad ones.
"""

import base64
import contextlib
import dataclasses
import http.server
import importlib.util
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLIENTS = os.path.join(ROOT, "openapi", "clients")
DATA = os.path.join(ROOT, "tests", "data", "engines")
SNAKEMAKE = os.path.join(CLIENTS, "snakemake", "gridplan_snakemake.py")
PLUGIN = os.path.join(CLIENTS, "snakemake-scheduler", "snakemake_scheduler_plugin_gridplan.py")
TOIL = os.path.join(CLIENTS, "toil", "gridplan_toil.py")
CWLTOOL = os.path.join(CLIENTS, "cwltool", "gridplan_cwltool.py")

sys.dont_write_bytecode = True


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def interface():
    """The part of snakemake-interface-scheduler-plugins 2.0 that a plugin sees."""
    base = types.ModuleType("snakemake_interface_scheduler_plugins.base")
    settings = types.ModuleType("snakemake_interface_scheduler_plugins.settings")

    class SchedulerBase:
        def __init__(self, dag, settings, logger):
            self.dag, self.settings, self.logger = dag, settings, logger
            self.__post_init__()

        def __post_init__(self):
            pass

    @dataclasses.dataclass
    class SchedulerSettingsBase:
        pass

    base.SchedulerBase = SchedulerBase
    settings.SchedulerSettingsBase = SchedulerSettingsBase
    package = types.ModuleType("snakemake_interface_scheduler_plugins")
    sys.modules.update({package.__name__: package, base.__name__: base,
                        settings.__name__: settings})


interface()
snakemake = load(SNAKEMAKE, "gridplan_snakemake")
plugin = load(PLUGIN, "snakemake_scheduler_plugin_gridplan")
toil = load(TOIL, "gridplan_toil")


class FakeService:
    """Answers with answer(path, body) -> (status, JSON); keeps what it was sent."""

    def __init__(self, answer):
        outer = self
        self.sent = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
                outer.sent.append((self.path, body, dict(self.headers)))
                status, reply = answer(self.path, body)
                text = json.dumps(reply).encode()
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def stores(path, body):
    lines = [x for x in body.split("\n") if x]
    return 201, {"stored": len(lines), "errors": []}


def records(service):
    return [json.loads(line) for _, body, _ in service.sent for line in body.split("\n") if line]


class Shared(unittest.TestCase):
    def test_every_client_has_the_shared_parts(self):
        for part, paths in (("shared.py", (SNAKEMAKE, PLUGIN, TOIL, CWLTOOL)),
                            ("shared_hosts.py", (SNAKEMAKE, TOIL)),
                            ("shared_sender.py", (SNAKEMAKE, CWLTOOL))):
            with open(os.path.join(CLIENTS, part)) as file:
                shared = file.read()
            self.assertLessEqual(shared.count("\n"), 120)
            for path in paths:
                with open(path) as file:
                    self.assertIn(shared, file.read(), path)

    def test_a_key_comes_from_a_file_that_nobody_else_reads(self):
        with tempfile.TemporaryDirectory() as folder, FakeService(stores) as service:
            key = os.path.join(folder, "key")
            with open(key, "w") as file:
                file.write("gp_x\n")
            os.chmod(key, 0o600)
            snakemake.Service(service.url, key).call("POST", "/v1/x", {})
            self.assertEqual(service.sent[0][2]["Authorization"], "Bearer gp_x")
            os.chmod(key, 0o640)
            with self.assertRaises(PermissionError):
                snakemake.Service(service.url, key).call("POST", "/v1/x", {})
        with self.assertRaises(ValueError):
            snakemake.Service("file:///etc/passwd")

    def test_backoff(self):
        backoff, waits = snakemake.Backoff(), []
        for _ in range(8):
            backoff.failed(100)
            waits.append(backoff.wait_s)
        self.assertEqual(waits, [0.5, 1, 2, 4, 8, 16, 30, 30])
        self.assertFalse(backoff.may_try(129))
        self.assertTrue(backoff.may_try(130))
        backoff.worked()
        self.assertTrue(backoff.may_try(0))


class Names(unittest.TestCase):
    def test_tasks(self):
        self.assertEqual(snakemake.task_id("align", ["bam/s1.bam"]), "align:bam/s1.bam")
        self.assertEqual(snakemake.task_id("all", []), "all:-")
        long = snakemake.task_id("r", ["x" * 300, "y"])
        self.assertEqual(len(long), 34)
        self.assertNotEqual(long, snakemake.task_id("r", ["x" * 300, "z"]))

    def test_outputs_of_metadata(self):
        self.assertEqual(snakemake.output_of(["YmFtL3MxLmJhbQ=="]), "bam/s1.bam")
        path = "out/" + "d" * 400 + "/file?>.txt"
        text = base64.urlsafe_b64encode(path.encode()).decode()
        parts = ["@" + text[i:i + 254] for i in range(0, len(text) - 254, 254)]
        parts.append(text[254 * len(parts):])
        self.assertEqual(snakemake.output_of(parts), path)
        self.assertIsNone(snakemake.output_of(["no base64!"]))


def script(**properties):
    return "#!/bin/sh\n# properties = %s\ncd /x\n" % json.dumps(properties)


class Jobs(unittest.TestCase):
    """From a dry run and job scripts to tasks and edges."""

    def test_the_recorded_dry_run(self):
        with open(os.path.join(DATA, "snakemake-fan", "dry-run.ndjson")) as file:
            recorded = [json.loads(line) for line in file]
        with open(os.path.join(DATA, "snakemake-fan", "expected.json")) as file:
            expected = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "jobs")
            snakemake.keep_job_info(path, {"level": "job_finished", "jobid": 1})
            self.assertFalse(os.path.exists(path))
            for job in recorded:
                snakemake.keep_job_info(path, {
                    "level": "job_info", "name": job["rule"], "input": job["in"],
                    "output": job["out"], "threads": job["threads"], "resources": job["res"],
                    "local": job["local"]})
            with open(path) as file:
                tasks = snakemake.tasks_of([json.loads(line) for line in file], folder)
        here = [t for t in expected["tasks"] if not t["local"]]
        self.assertEqual([t["id"] for t in tasks], [t["id"] for t in here])
        for task, want in zip(tasks, here):
            self.assertEqual(task["class"], want["class"])
            for member, default in (("cpus", 1), ("memory_bytes", 0), ("time_limit_s", None)):
                self.assertEqual(task.get(member, default), want[member])
            self.assertEqual(task.get("needs", {}), want["needs"])
        edges = sorted([a, t["id"]] for t in tasks for a in t["depends_on"])
        self.assertEqual(edges, sorted(e for e in expected["task_edges"] if e[1] != "all:-"))

    def test_edges_go_through_local_jobs(self):
        def job(name, needs, makes, local=False):
            return {"name": name, "input": needs, "output": makes, "local": local}
        tasks = snakemake.tasks_of([
            job("d", ["c1"], ["d1"]), job("a", ["given"], ["a1", "a2"]),
            job("b", ["a2", "a1"], ["b1"], True), job("c", ["b1", "a1"], ["c1"], True)])
        self.assertEqual([(t["id"], t["depends_on"]) for t in tasks],
                         [("d:d1", ["a:a1"]), ("a:a1", [])])
        self.assertEqual(snakemake.tasks_of([]), [])

    def test_amounts(self):
        self.assertEqual(snakemake.amounts_of(None, {}), {"cpus": 1})
        self.assertEqual(
            snakemake.amounts_of(4, {
                "_cores": 2, "_nodes": 1, "mem_mb": 500, "mem_mib": 477, "disk_mb": "<TBD>",
                "runtime": 2, "tmpdir": "/tmp", "gpu": 1, "cpus": 9, "1x": 3, "yes": True}),
            {"cpus": 4, "memory_bytes": 5e8, "time_limit_s": 120, "needs": {"gpu": 1}})
        self.assertEqual(snakemake.amounts_of("<TBD>", {"_cores": 2})["cpus"], 2)

    def test_job_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "in"), "w") as file:
                file.write("x" * 7)
            text = script(type="single", rule="align", output=["b/1"], input=["in", "gone"],
                          threads=2, resources={"mem_mb": 3})
            self.assertEqual(snakemake.job_of(snakemake.properties_of(text), folder), {
                "id": "align:b/1", "class": "align", "attempts_max": 100, "cpus": 2,
                "memory_bytes": 3e6, "model": {"problem_size": 7}})
        text = script(type="group", groupid="g1", output=["o1", "o2"], threads=3)
        self.assertEqual(snakemake.job_of(snakemake.properties_of(text))["id"], "group:g1:o1")
        for bad in ("", "#!/bin/sh\n", "# properties = [1]\n", "# properties = {\n"):
            with self.assertRaises(ValueError):
                snakemake.properties_of(bad)

    def test_the_dry_run_is_the_same_command(self):
        self.assertEqual(
            snakemake.dry_run_command(
                ["snakemake", "--quiet", "rules", "-j", "2", "--quiet=all", "-q", "all"], "h"),
            ["snakemake", "-j", "2", "-n", "--log-handler-script", "h"])
        self.assertEqual(snakemake.dry_run_command(["s", "--", "t"], "h"),
                         ["s", "-n", "--log-handler-script", "h", "--", "t"])


class Toil(unittest.TestCase):
    def test_words_of_its_runner_of_cwl_may_begin_with_an_option(self):
        told = []
        cwltoil = types.SimpleNamespace(main=lambda words: told.append(words) or 0)
        modules = {"toil": types.ModuleType("toil"), "toil.cwl": types.ModuleType("toil.cwl")}
        modules["toil.cwl"].cwltoil = cwltoil
        with unittest.mock.patch.dict(sys.modules, modules):
            for words in (["--jobStore", "s", "f.cwl", "--help"], ["f.cwl", "--x", "1"], []):
                self.assertEqual(toil.main(["cwl-runner", *words]), 0)
                self.assertEqual(told.pop(), ["--batchSystem", "gridplan", *words])

    def test_what_launches_a_job_names_it(self):
        for line, good in ((None, True), ("sh -c {command}", True), ("sh {jobscript}", False)):
            with unittest.mock.patch.dict(os.environ):
                os.environ.pop("GRIDPLAN_LAUNCH", None)
                if line:
                    os.environ["GRIDPLAN_LAUNCH"] = line
                if good:
                    self.assertEqual(toil.launch_template(), line or toil.LAUNCH)
                else:
                    with self.assertRaisesRegex(ValueError, "has no {command}"):
                        toil.launch_template()


class Hosts(unittest.TestCase):
    def test_names_that_are_options_are_refused(self):
        for bad in ("-oProxyCommand", "", "a b", "a;b", ".a", "a\n"):
            with self.assertRaises(ValueError):
                snakemake.launch_command("ssh {host} sh {jobscript}", bad, "/x")
            with self.assertRaises(ValueError):
                snakemake.Hosts([{"id": bad}])
        self.assertEqual(
            snakemake.launch_command("on {host} ${X} sh {jobscript}", "n-1.x", "/a b/{host}"),
            "on n-1.x ${X} sh '/a b/{host}'")

    def test_room(self):
        hosts = snakemake.Hosts([
            {"id": "a", "mips_total": 1, "cpus": 2, "memory_bytes": 10},
            {"id": "b", "mips_total": 4, "cpus": 1, "capacities": {"gpu": 1}},
            {"id": "c", "mips_total": 9, "failed": True}, {"id": "d", "n_max": 0}])
        one = {"cpus": 1}
        self.assertEqual(hosts.fastest(one, {}), "b")
        self.assertEqual(hosts.fastest(one, {"b": [one]}), "a")
        self.assertIsNone(hosts.fastest(one, {"a": [one, one], "b": [one]}))
        self.assertEqual(hosts.fastest({"cpus": 2, "memory_bytes": 10}, {}), "a")
        self.assertIsNone(hosts.fastest({"cpus": 2, "memory_bytes": 11}, {}))
        self.assertEqual(hosts.fastest({"cpus": 1, "needs": {"gpu": 1}}, {}), "b")
        self.assertFalse(hosts.fits_some({"cpus": 1, "needs": {"gpu": 2}}))
        hosts.refresh([{"id": "a", "mips_total": 8, "cpus": 2}, {"id": "-x"}])
        self.assertEqual(hosts.fastest(one, {}), "a")
        self.assertEqual(list(hosts.all), ["a", "b", "c", "d"])


class Profile(unittest.TestCase):
    """What init writes, as Snakemake calls it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("submit", snakemake.SUBMIT), ("status", snakemake.STATUS),
                           ("cancel", snakemake.CANCEL)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)

    def sh(self, *words):
        return subprocess.run(("sh",) + words, cwd=self.folder, check=True,
                              capture_output=True, text=True).stdout

    def spool(self, name):
        return os.path.join(self.folder, ".gridplan", name)

    def write(self, name, text=""):
        with open(self.spool(name), "w") as file:
            file.write(text)

    def test_a_job_through_its_words(self):
        one, two = self.sh("submit", "status"), self.sh("submit", "status")
        self.assertRegex(one, r"^[A-Za-z0-9]{10}\n$")
        self.assertNotEqual(one, two)
        self.assertEqual(os.stat(self.spool("")).st_mode & 0o777, 0o700)
        one, two = one.strip(), two.strip()
        with open(self.spool(one + ".sub")) as file:
            self.assertEqual(file.read(), snakemake.STATUS)
        self.write("alive")
        self.assertEqual(self.sh("status", one), "running\n")
        os.utime(self.spool("alive"), (1, 1))
        self.assertEqual(self.sh("status", one), "failed\n")  # nobody cares for it
        self.write(one + ".rc", "success")
        self.assertEqual(self.sh("status", one), "success\n")
        self.write(one + ".rc", "of another kind")
        for name in (one, "unknown", "../x", ""):
            self.assertEqual(self.sh("status", name), "failed\n")
        self.sh("cancel", one, two, "../x")
        self.assertTrue(os.path.exists(self.spool(one + ".cancel")))
        self.assertTrue(os.path.exists(self.spool(two + ".cancel")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "x.cancel")))

    def test_at_the_end_it_is_tried_once_more(self):
        def answer(path, body):
            if path.startswith("/v1/snapshots/"):
                return 200, {"snapshot": {"resources": [{"id": "n1"}]}}
            return 200, {"start": [], "not_startable": [], "events": {"errors": []}}

        os.makedirs(self.spool(""))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with FakeService(answer) as service:
            one = snakemake.Sidecar({"url": "http://127.0.0.1:9", "key_file": None,
                                     "snapshot": "lab", "application": "a",
                                     "resources": [{"id": "n1"}]}, "true")
            one.events = [{"event_id": "1", "kind": "ended", "task_id": "t", "attempt": 1}]
            one.defined = True
            with contextlib.redirect_stderr(io.StringIO()):
                one.try_sync([])
            self.assertTrue(one.down())
            one.service.url = service.url
            self.assertTrue(one.told_all())
            (path, body, _), = service.sent
            self.assertTrue(path.endswith("/starts"))
            self.assertEqual(json.loads(body)["events"], one.events)
            # Nobody is there: it is not tried for ever.
            one.events, one.confirmed, one.service.url = one.events * 2, 1, "http://127.0.0.1:9"
            with contextlib.redirect_stderr(io.StringIO()):
                one.try_sync([])
                self.assertTrue(one.told_all())
            self.assertEqual(len(service.sent), 1)

    def test_init(self):
        snapshot = {"snapshot": {"resources": [{"id": "n1", "cpus": 2, "attributes": {}}]}}
        with FakeService(lambda *_: (200, snapshot)) as service:
            profile = os.path.join(self.folder, "p")
            run = [sys.executable, SNAKEMAKE, "init", "--url", service.url, "--snapshot", "lab"]
            subprocess.run(run + ["--profile", profile], check=True, capture_output=True)
            blank = subprocess.run(run + ["--profile", self.folder + "/a b"],
                                   capture_output=True, text=True)
            self.assertEqual(blank.returncode, 1)
            snapshot["snapshot"]["resources"][0]["id"] = "-oProxyCommand"
            option = subprocess.run(run + ["--profile", profile], capture_output=True, text=True)
            self.assertEqual(option.returncode, 1)
            self.assertIn("-oProxyCommand", option.stderr)
        with open(os.path.join(profile, "gridplan.json")) as file:
            self.assertEqual(json.load(file)["resources"], [{"id": "n1", "cpus": 2}])
        with open(os.path.join(profile, "config.yaml")) as file:
            self.assertIn("cluster-sidecar: %s/gridplan-sidecar\n" % profile, file.read())
        for name in ("submit", "status", "cancel", "sidecar"):
            self.assertTrue(os.access(os.path.join(profile, "gridplan-" + name), os.X_OK))


class History(unittest.TestCase):
    def workflow(self, name):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(os.path.join(DATA, name, "metadata"),
                        os.path.join(folder, ".snakemake", "metadata"))
        bench = os.path.join(DATA, name, "bench")
        if os.path.exists(bench):
            shutil.copytree(bench, os.path.join(folder, "bench"))
        with open(os.path.join(DATA, name, "expected.json")) as file:
            return folder, json.load(file)["metadata"]

    def test_jobs_of_the_recorded_runs(self):
        for name in ("snakemake-fan", "snakemake-failure"):
            folder, expected = self.workflow(name)
            runs = snakemake.job_runs(folder, "lab")
            got = sorted((r["application_id"], round(r["run_time_s"], 6)) for r in runs)
            want = sorted(("lab/" + e["rule"], e["run_time_s"]) for e in expected)
            self.assertEqual(got, want)
            self.assertEqual(len({r["execution_id"] for r in runs}), len(runs))
            again = snakemake.job_runs(folder, "lab")
            self.assertEqual(runs, again)

    def test_a_job_with_several_outputs_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, ".snakemake", "metadata")
            os.makedirs(root)
            with open(os.path.join(folder, "in"), "w") as file:
                file.write("12345")

            def write(output, **record):
                name = base64.b64encode(output.encode()).decode()
                with open(os.path.join(root, name), "w") as file:
                    json.dump(record, file)

            common = {"rule": "r", "starttime": 10.0, "endtime": 12.0, "input": ["in", "gone"]}
            write("b", **common)
            write("a", **common)
            write("c", rule="r", starttime=11.0, endtime=12.5)
            write("d", rule="r", starttime=13.0, endtime=None)   # it has not ended
            write("e", rule="r", starttime=14.0, endtime=15.0, incomplete=True)
            write("f", starttime=14.0, endtime=15.0)
            write("g", rule="r", starttime=float("nan"), endtime=15.0)
            write("h", rule=["r"], starttime=True, endtime=15.0)
            with open(os.path.join(root, "no base64"), "w") as file:
                file.write("{")
            left_out = []
            runs = snakemake.job_runs(folder, "w", left_out)
            self.assertEqual(sorted(r["run_time_s"] for r in runs), [1.5, 2.0])
            self.assertEqual(sorted(os.path.basename(x) for x in left_out),
                             ["d", "e", "f", "g", "h", "no base64"])
            first = [r for r in runs if r["run_time_s"] == 2.0][0]
            self.assertEqual(first["problem_size"], 5)
            self.assertEqual(first["started_at"], 10.0)

    def test_benchmarks(self):
        folder, _ = self.workflow("snakemake-fan")
        runs, unknown = snakemake.benchmark_runs(folder, "lab", {"align", "merge", "fetch"})
        self.assertEqual(unknown, 3)  # of trim
        count = {}
        for run in runs:
            count[run["application_id"]] = count.get(run["application_id"], 0) + 1
        self.assertEqual(count, {"lab/align": 6, "lab/merge": 1, "lab/fetch": 3})
        align = [r for r in runs if r["run_time_s"] == 0.2025][0]
        self.assertAlmostEqual(align["memory_peak_bytes"], 4.83 * 1048576)
        os.makedirs(os.path.join(folder, "other", "align"))
        with open(os.path.join(folder, "other", "align", "x.tsv"), "w") as file:
            file.write("s\th:m:s\tmax_rss\tio_in\n-1\t-\t-\t-\n2\t-\t-3\t-4\n")
        left_out = []
        runs, _ = snakemake.benchmark_runs(os.path.join(folder, "other"), "lab", {"align"},
                                           left_out)
        self.assertEqual(left_out, [os.path.join("align", "x.tsv") + ", line 2"])
        self.assertEqual([r["run_time_s"] for r in runs], [2])
        self.assertNotIn("memory_peak_bytes", runs[0])
        self.assertEqual(runs[0]["parameters"], {"source": "benchmark"})
        path = os.path.join(folder, "short.tsv")
        with open(path, "w") as file:
            file.write("s\th:m:s\tmax_rss\tio_in\n0.1\t0:00:00\t0.00\t-\nNA\tx\t1\t2\n")
        rows = snakemake.read_benchmark(path)
        self.assertEqual(rows, [{"s": 0.1, "max_rss": 0.0, "io_in": None},
                                {"s": None, "max_rss": 1.0, "io_in": 2.0}])
        self.assertNotIn("memory_peak_bytes",
                         snakemake.benchmark_run(path, "short.tsv", 1, rows[0], "x/y"))
        self.assertIsNone(snakemake.benchmark_run(path, "short.tsv", 2, rows[1], "x/y"))
        self.assertIsNone(snakemake.read_benchmark(SNAKEMAKE))

    def test_extended_benchmarks(self):
        """Of Snakemake 8 and 9: more columns, or a line of JSON for each repeat."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "one.tsv"), "w") as file:
            file.write("s\th:m:s\tmax_rss\tio_in\tmean_load\tcpu_time\tjobid\trule_name\t"
                       "wildcards\tparams\tthreads\tcpu_usage\tresources\tinput_size_mb\n"
                       "2.5\t0:00:02\t10.0\t1\t90\t2\t7\talign\tx=1\t{}\t4\t9\t{}\t{}\n")
        with open(os.path.join(folder, "two.jsonl"), "w") as file:
            file.write('{"s": 3, "h:m:s": "0:00:03", "max_rss": 20, "io_in": null, '
                       '"rule_name": "merge", "threads": 2, "wildcards": {"x": "1"}}\n')
        with open(os.path.join(folder, "other.jsonl"), "w") as file:
            file.write('{"s": 3}\n')
        with open(os.path.join(folder, "broken.jsonl"), "w") as file:
            file.write('{"s": 3\n')
        runs, unknown = snakemake.benchmark_runs(folder, "lab", set())
        self.assertEqual(unknown, 0)
        self.assertEqual([(r["application_id"], r["run_time_s"], r["memory_peak_bytes"],
                           r["processors"]) for r in runs],
                         [("lab/align", 2.5, 10 * 1048576, 4), ("lab/merge", 3, 20 * 1048576, 2)])
        self.assertEqual(runs[0]["parameters"],
                         {"source": "benchmark", "read_bytes": 1048576, "cpu_ratio": 0.9})

    def test_the_command(self):
        folder, expected = self.workflow("snakemake-fan")
        with FakeService(stores) as service, contextlib.redirect_stdout(io.StringIO()) as out:
            code = snakemake.main(["history", folder, "--application", "lab", "--url",
                                   service.url])
        self.assertEqual(code, 0)
        self.assertIn("%d jobs, 13 benchmarks" % len(expected), out.getvalue())
        self.assertEqual(service.sent[0][0], "/v1/executions?on_conflict=keep")
        self.assertEqual(service.sent[0][2]["Content-Type"], "application/x-ndjson")
        self.assertEqual(len(records(service)), len(expected) + 13)
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            code = snakemake.main(["history", folder, "--application", "x", "--url",
                                   "http://127.0.0.1:1"])
        self.assertEqual(code, 1)
        self.assertIn("gridplan:", errors.getvalue())


class LogHandler(unittest.TestCase):
    def messages(self, name):
        with open(os.path.join(DATA, name, "log-handler.ndjson")) as file:
            return [json.loads(line) for line in file]

    def test_attempts_of_the_recorded_runs(self):
        for name in ("snakemake-fan", "snakemake-failure"):
            jobs = snakemake.Jobs("lab", "run")
            runs = [r for r in (jobs.take(m, 0) for m in self.messages(name)) if r]
            with open(os.path.join(DATA, name, "expected.json")) as file:
                expected = json.load(file)["attempts"]
            got = sorted((r["execution_id"].split(":", 2)[2], round(r["run_time_s"], 6),
                          r["exit_code"]) for r in runs)
            want = sorted(("%s:%d" % (e["task_id"], e["attempt"]), e["run_time_s"],
                           0 if e["kind"] == "ended" else 1) for e in expected)
            self.assertEqual(got, want)
            self.assertEqual({r["application_id"] for r in runs},
                             {"lab/" + e["class"] for e in expected})

    def test_a_retry_is_the_next_attempt(self):
        jobs = snakemake.Jobs("lab", "run")
        info = {"level": "job_info", "jobid": 3, "name": "r", "output": ["o"], "threads": 2}
        self.assertIsNone(jobs.take(info, 1))
        failed = jobs.take({"level": "job_error", "jobid": 3}, 2)
        self.assertEqual((failed["exit_code"], failed["parameters"]["attempt"]), (1, 1))
        self.assertIsNone(jobs.take({"level": "job_finished", "jobid": 3}, 3))
        jobs.take(info, 4)
        done = jobs.take({"level": "job_finished", "jobid": 3}, 6)
        self.assertEqual(done["execution_id"], "snakemake:run:r:o:2")
        self.assertEqual((done["run_time_s"], done["processors"]), (2, 2))

    def run_handler(self, url, count=3):
        """A process that handles `count` jobs; seconds of handling and of ending."""
        program = textwrap.dedent("""
            import importlib.util, sys, time
            spec = importlib.util.spec_from_file_location("handler", sys.argv[1])
            handler = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(handler)
            began = time.monotonic()
            for i in range(int(sys.argv[2])):
                handler.log_handler({"level": "job_info", "jobid": i, "name": "r",
                                     "output": ["o%d" % i], "timestamp": 100.0})
                handler.log_handler({"level": "job_finished", "jobid": i, "timestamp": 101.5})
            handler.log_handler(None)
            handler.log_handler({"level": "job_finished", "jobid": []})
            print(time.monotonic() - began)
            """)
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-B", "-c", program, SNAKEMAKE, str(count)],
                              env={**os.environ, "GRIDPLAN_URL": url,
                                   "GRIDPLAN_APPLICATION": "lab"},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return float(done.stdout), time.monotonic() - began

    def test_jobs_arrive(self):
        with FakeService(stores) as service:
            self.run_handler(service.url)
            runs = records(service)
        self.assertEqual(sorted(r["application_id"] for r in runs), ["lab/r"] * 3)
        self.assertEqual(runs[0]["run_time_s"], 1.5)

    def test_a_bad_service_fails_nothing_and_delays_little(self):
        _, usual_s = self.run_handler("")
        handling_s, ending_s = self.run_handler("http://127.0.0.1:1")
        self.assertLess(handling_s, 0.5)
        self.assertLess(ending_s, usual_s + 3)
        with FakeService(lambda *_: (500, {})) as service:
            handling_s, ending_s = self.run_handler(service.url)
            self.assertLess(ending_s, usual_s + 3)
        with FakeService(lambda *_: (time.sleep(20), (200, {}))[1]) as service:
            handling_s, ending_s = self.run_handler(service.url)
            self.assertLess(handling_s, 0.5)
            self.assertLess(ending_s, usual_s + 3)

    def test_what_does_not_fit_is_dropped_and_counted(self):
        sender = snakemake.Sender(None)  # not started: nothing is taken out
        for _ in range(sender.ROOM + 5):
            sender.put({})
        self.assertEqual(sender.dropped, 5)


# ---- the scheduler plugin, in a harness as small as the interface ----


class Job:
    numbers = itertools.count()

    def __init__(self, resources, output=("o/x.bam",), priority=0):
        self.scheduler_resources, self.output, self.priority = resources, list(output), priority
        self.input, self.log, self.benchmark = [], [], None
        self.number = next(Job.numbers)

    def __hash__(self):
        return self.number


class Dag:
    def __init__(self, dependencies):
        self.dependencies = dependencies  # job: jobs that it needs

    def needrun_jobs(self):
        return list(self.dependencies)

    def job_dependencies(self, job):
        return {parent: set() for parent in self.dependencies[job]}

    def finished(self, job):
        return False


class Logger:
    def __init__(self):
        self.lines = []

    def warning(self, text, *values):
        self.lines.append(text % values)


def greedy(path, body):
    """Selects in order what fits: enough of a service for these cases."""
    asked = json.loads(body)
    left, selected = dict(asked["capacities"]), []
    for job in asked["jobs"]:
        needs = {k: job.get(k, 0) for k in ("cpus", "memory_bytes", "disk_bytes")}
        needs.update(job.get("needs", {}))
        count = 0
        while count < job["count"] and all(needs[k] <= left.get(k, float("inf"))
                                           for k in needs):
            count += 1
            for k in needs:
                if k in left:
                    left[k] -= needs[k]
        if count:
            selected.append({"job_id": job["id"], "count": count})
    return 200, {"selected": selected}


class SchedulerPlugin(unittest.TestCase):
    def scheduler(self, url, dependencies=None, **settings):
        dag = Dag(dependencies or {})
        self.logger = Logger()
        return plugin.Scheduler(dag, plugin.SchedulerSettings(url=url, **settings), self.logger)

    def test_the_published_cases(self):
        large = Job({"_cores": 1, "mem_mb": 2048})
        with FakeService(greedy) as service:
            s = self.scheduler(service.url)
            self.assertEqual(s.select_jobs([large], [large], {"_cores": 5, "mem_mb": 1024}, {}),
                             set())
            small = Job({"_cores": 1, "mem_mb": 512})
            self.assertEqual(s.select_jobs([small], [small], {"_cores": 5, "mem_mb": 1024}, {}),
                             {small})
            two = [Job({"_cores": 2, "mem_mb": 4000}), Job({"_cores": 3, "mem_mb": 6000})]
            self.assertEqual(s.select_jobs(two, two, {"_cores": 5, "mem_mb": 10000}, {}),
                             set(two))
            self.assertEqual(s.select_jobs([], [], {"_cores": 5}, {}), set())

    def test_equal_jobs_are_one_row(self):
        jobs = [Job({"_cores": 1, "mem_mb": 10}, ["bam/%d.bam" % i]) for i in range(5000)]
        jobs += [Job({"_cores": 1, "mem_mb": 10}, ["vcf/%d.vcf" % i]) for i in range(5000)]
        with FakeService(greedy) as service:
            s = self.scheduler(service.url)
            selected = s.select_jobs(jobs, jobs, {"_cores": 7000, "mem_mb": 2 ** 63 - 1}, {})
            self.assertEqual(len(selected), 7000)
            self.assertIsInstance(selected, set)
            asked = json.loads(service.sent[0][1])
        self.assertEqual([row["count"] for row in asked["jobs"]], [5000, 5000])
        self.assertEqual(asked["capacities"], {"cpus": 7000})  # memory is not limited
        self.assertLess(len(service.sent[0][1]), 500)

    def test_ranks_and_other_resources(self):
        a, b, c = (Job({"_cores": 1, "gpu": 1, "tmpdir": "/tmp", "_nodes": 1,
                        "big": 4 * 10 ** 9}, [x]) for x in "abc")
        with FakeService(greedy) as service:
            s = self.scheduler(service.url, {a: [], b: [a], c: [b]})
            s.select_jobs([a], [a, b, c],
                          {"_cores": 4, "gpu": 2, "_nodes": 1, "big": 8 * 10 ** 9}, {})
            asked = json.loads(service.sent[0][1])
        self.assertEqual(asked["capacities"], {"cpus": 4, "gpu": 2, "r_nodes": 1, "big": 1e9})
        row = asked["jobs"][0]
        self.assertEqual(row["weight"], 3)
        self.assertEqual(row["needs"], {"gpu": 1, "r_nodes": 1, "big": 5e8})

    def test_without_an_answer_snakemake_selects(self):
        job = Job({"_cores": 1})
        asks = ([job], [job], {"_cores": 4}, {})
        self.assertIsNone(self.scheduler(None).select_jobs(*asks))
        for reply in ((500, {}), (422, {}), (200, {}), (200, {"selected": [{"job_id": "7",
                      "count": 1}]}), (200, {"selected": [{"job_id": "0", "count": 2}]})):
            with FakeService(lambda *_: reply) as service:
                s = self.scheduler(service.url)
                self.assertIsNone(s.select_jobs(*asks))
                self.assertIsNone(s.select_jobs(*asks))
                self.assertEqual(len(service.sent), 1)  # not asked again for ten seconds
                self.assertEqual(len(self.logger.lines), 1)
                s.retry_at = 0
                s.select_jobs(*asks)
                self.assertEqual(len(service.sent), 2)
        self.assertIsNone(self.scheduler("http://127.0.0.1:1").select_jobs(*asks))
        big = [Job({"_cores": 3}), Job({"_cores": 3}, ["other/y"])]
        both = (200, {"selected": [{"job_id": "0", "count": 1}, {"job_id": "1", "count": 1}]})
        with FakeService(lambda *_: both) as service:  # more than there is
            self.assertIsNone(self.scheduler(service.url).select_jobs(big, big, {"_cores": 4},
                                                                      {}))

    def test_a_slow_answer_is_not_waited_for(self):
        job = Job({"_cores": 1})
        with FakeService(lambda *_: (time.sleep(10), (200, {"selected": []}))[1]) as service:
            s = self.scheduler(service.url, timeout_ms=300)
            began = time.monotonic()
            self.assertIsNone(s.select_jobs([job], [job], {"_cores": 1}, {}))
            self.assertLess(time.monotonic() - began, 1.5)


if __name__ == "__main__":
    unittest.main()
