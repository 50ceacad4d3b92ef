#!/usr/bin/env python3
"""What Snakemake knows of its jobs, for gridplan. One file, standard library only.

    gridplan_snakemake.py history DIR --application NAME [--url URL] [--key-file FILE]
        sends the runs that Snakemake has kept in DIR/.snakemake/metadata, and the benchmark
        files below DIR whose path has the name of a rule; sent twice they are stored once.

    snakemake --log-handler-script gridplan_snakemake.py ...
        sends each job of a local run as it ends. It never places a job, and never fails a
        run: without a service only the history is missing.

The service is named by --url, by GRIDPLAN_URL, or by "url" in gridplan.json beside this file;
the key by --key-file, GRIDPLAN_KEY_FILE or "key_file". The application of a job is NAME/RULE;
NAME of the log handler is GRIDPLAN_APPLICATION, or the name of the folder.
"""

import argparse
import atexit
import base64
import binascii
import hashlib
import http.client
import json
import os
import queue
import re
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid


# ---- shared with the other clients (openapi/clients/shared.py); a test compares ----


class Refused(Exception):
    """The service answered, with another status than 2xx."""

    def __init__(self, status, text):
        super().__init__("status %d: %s" % (status, text[:300]))
        self.status = status


class Service:
    """One gridplan service: calls with a limit of time, a key from a file."""

    def __init__(self, url, key_file=None, timeout_s=2.0):
        if not re.match(r"https?://[^/\s]+", url or ""):
            raise ValueError("the URL of gridplan must begin with http:// or https://")
        self.url = url.rstrip("/")
        self.key_file = key_file
        self.timeout_s = timeout_s

    def headers(self):
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key_file:
            if os.stat(self.key_file).st_mode & 0o077:
                raise PermissionError("%s must be readable by its owner only" % self.key_file)
            with open(self.key_file, encoding="ascii") as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        return headers

    def call(self, method, path, body=None, content_type=None):
        """The answer as JSON (None: empty). Raises Refused, or OSError without answer."""
        headers = self.headers()
        if content_type:
            headers["Content-Type"] = content_type
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode(errors="replace")) from None
        except (urllib.error.URLError, http.client.HTTPException) as error:
            raise OSError(str(error)) from None
        return json.loads(text) if text else None


class Backoff:
    """Seconds until the next try: 0.5, 1, 2 ... 30."""

    def __init__(self):
        self.wait_s, self.until_s = 0.0, 0.0

    def failed(self, now_s):
        self.wait_s = min(30.0, self.wait_s * 2 or 0.5)
        self.until_s = now_s + self.wait_s

    def worked(self):
        self.wait_s, self.until_s = 0.0, 0.0

    def may_try(self, now_s):
        return now_s >= self.until_s


# ---- end of what is shared ----


MIB = 1048576
LINES_AT_ONCE = 1000


def settings():
    """url and key_file, of the environment or of the file beside this one."""
    stored = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gridplan.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    return {
        "url": os.environ.get("GRIDPLAN_URL") or stored.get("url"),
        "key_file": os.environ.get("GRIDPLAN_KEY_FILE") or stored.get("key_file"),
        "application": os.environ.get("GRIDPLAN_APPLICATION") or stored.get("application"),
    }


def task_id(rule, outputs):
    """The same in every process of a workflow: RULE:FIRST OUTPUT."""
    text = "%s:%s" % (rule, outputs[0] if outputs else "-")
    if len(text) <= 200:
        return text
    digest = hashlib.sha256("\n".join(outputs).encode()).hexdigest()
    return "%s:%s" % (rule[:160], digest[:32])


def bytes_of(folder, names):
    """Of the files that exist; None: of none."""
    sizes = []
    for name in names:
        try:
            sizes.append(os.path.getsize(os.path.join(folder, name)))
        except OSError:
            pass
    return sum(sizes) if sizes and sum(sizes) > 0 else None


def send_executions(service, executions):
    """In portions; what is stored already stays. Returns how many were new."""
    stored = 0
    for first in range(0, len(executions), LINES_AT_ONCE):
        lines = "".join(json.dumps(x) + "\n" for x in executions[first:first + LINES_AT_ONCE])
        answer = service.call("POST", "/v1/executions?on_conflict=keep", lines.encode(),
                              "application/x-ndjson")
        stored += answer.get("stored", 0)
        for mistake in answer.get("errors", []):
            print("gridplan: refused: %s" % json.dumps(mistake), file=sys.stderr)
    return stored


# ---- history: what Snakemake leaves behind ----


def output_of(parts):
    """The output path that a file below metadata/ is about: base64, which is cut into
    folders with @ in front where it is too long for a name. None: it is none."""
    text = "".join(p[1:] if p.startswith("@") else p for p in parts)
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def read_metadata(folder):
    """Records of folder/.snakemake/metadata, by output."""
    root = os.path.join(folder, ".snakemake", "metadata")
    records = {}
    for at, _, names in os.walk(root):
        below = os.path.relpath(at, root)
        parts = [] if below == "." else below.split(os.sep)
        for name in names:
            output = output_of(parts + [name])
            try:
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    record = json.load(file)
            except (OSError, ValueError):
                continue
            if output is not None and isinstance(record, dict):
                records[output] = record
    return records


def job_runs(folder, application):
    """An execution for each job of the metadata: a job with several outputs counts once."""
    jobs = {}
    for output, record in sorted(read_metadata(folder).items()):
        rule, start, end = (record.get(k) for k in ("rule", "starttime", "endtime"))
        numbers = isinstance(start, (int, float)) and isinstance(end, (int, float))
        if not rule or not numbers or end <= start or record.get("incomplete"):
            continue
        jobs.setdefault((rule, start), (output, record))
    runs = []
    for (rule, start), (output, record) in jobs.items():
        name = hashlib.sha256(("%s\n%s\n%r" % (rule, output, start)).encode()).hexdigest()
        run = {
            "execution_id": "snakemake:" + name,
            "application_id": "%s/%s" % (application, rule),
            "started_at": start,
            "run_time_s": record["endtime"] - start,
            "exit_code": 0,
        }
        size = bytes_of(folder, [x for x in record.get("input") or [] if isinstance(x, str)])
        if size:
            run["problem_size"] = size
        runs.append(run)
    return runs


def cell(text):
    """A number of a benchmark file; None: missing."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def read_benchmark(path):
    """Rows {column: number or None}; None: it is no benchmark file."""
    try:
        with open(path, encoding="utf-8") as file:
            head = file.readline().rstrip("\r\n").split("\t")
            if head[:3] != ["s", "h:m:s", "max_rss"]:
                return None
            lines = [line.rstrip("\r\n").split("\t") for line in file if line.strip()]
    except (OSError, UnicodeDecodeError):
        return None
    return [{k: cell(v) for k, v in zip(head, line) if k != "h:m:s"} for line in lines]


def rule_of(path, rules):
    """The rule whose name is a part of the path, or the file's name without its ending."""
    parts = path.split(os.sep)
    parts[-1] = parts[-1].split(".")[0]
    found = [p for p in parts if p in rules]
    return found[-1] if found else None


def benchmark_runs(folder, application, rules):
    """An execution for each line of each benchmark file, and how many files have no rule."""
    runs, unknown = [], 0
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != ".snakemake")
        for name in sorted(names):
            path = os.path.join(at, name)
            if not name.endswith((".tsv", ".txt", ".benchmark")):
                continue
            rows = read_benchmark(path)
            if rows is None:
                continue
            below = os.path.relpath(path, folder)
            rule = rule_of(below, rules)
            if not rule:
                unknown += 1
                continue
            for number, row in enumerate(rows, 1):
                run = benchmark_run(path, below, number, row, "%s/%s" % (application, rule))
                if run:
                    runs.append(run)
    return runs, unknown


def benchmark_run(path, below, number, row, application):
    seconds, memory = row.get("s"), row.get("max_rss")
    if not seconds or seconds <= 0:
        return None
    text = "%s\n%d\n%s" % (below, number, json.dumps(row, sort_keys=True))
    run = {
        "execution_id": "snakemake:" + hashlib.sha256(text.encode()).hexdigest(),
        "application_id": application,
        "started_at": os.path.getmtime(path) - seconds,
        "run_time_s": seconds,
        "exit_code": 0,
        "parameters": {"source": "benchmark"},
    }
    if memory:  # 0: the job was shorter than the first sample
        run["memory_peak_bytes"] = memory * MIB
    for name, member in (("io_in", "read_bytes"), ("io_out", "write_bytes")):
        if row.get(name):
            run["parameters"][member] = row[name] * MIB
    if row.get("mean_load"):
        run["parameters"]["cpu_ratio"] = row["mean_load"] / 100
    return run


def history(arguments):
    found = settings()
    service = Service(arguments.url or found["url"], arguments.key_file or found["key_file"], 30)
    jobs = job_runs(arguments.folder, arguments.application)
    prefix = len(arguments.application) + 1
    rules = {run["application_id"][prefix:] for run in jobs}
    benchmarks, unknown = benchmark_runs(arguments.folder, arguments.application, rules)
    stored = send_executions(service, jobs + benchmarks)
    print("%d jobs, %d benchmarks: %d new" % (len(jobs), len(benchmarks), stored))
    if unknown:
        print("%d benchmark files have no rule's name in their path: left out" % unknown)
    return 0


# ---- log handler: jobs of a local run ----


class Jobs:
    """From messages of Snakemake to executions. A job's number means something only until
    the next message that names it, so what it is is kept from its last job_info."""

    def __init__(self, application, run_id, folder="."):
        self.application, self.run_id, self.folder = application, run_id, folder
        self.running = {}   # jobid: (task id, rule, start, job_info)
        self.attempts = {}  # task id: so far

    def take(self, message, now_s):
        """The execution that the message completes, else None."""
        level, jobid = message.get("level"), message.get("jobid")
        now_s = message.get("timestamp", now_s)
        if level == "job_info":
            self.start(message, now_s)
        elif level in ("job_finished", "job_error") and jobid in self.running:
            return self.end(jobid, now_s, level == "job_error")
        return None

    def start(self, message, now_s):
        rule = message.get("name") or "-"
        name = task_id(rule, [str(x) for x in message.get("output") or []])
        self.attempts[name] = self.attempts.get(name, 0) + 1
        inputs = [str(x) for x in message.get("input") or []]
        self.running[message.get("jobid")] = {
            "task": name, "rule": rule, "start": now_s, "threads": message.get("threads"),
            "bytes": bytes_of(self.folder, inputs), "attempt": self.attempts[name]}

    def end(self, jobid, now_s, failed):
        job = self.running.pop(jobid)
        if now_s <= job["start"]:
            return None
        run = {
            "execution_id": "snakemake:%s:%s:%d" % (self.run_id, job["task"], job["attempt"]),
            "application_id": "%s/%s" % (self.application, job["rule"]),
            "started_at": job["start"],
            "run_time_s": now_s - job["start"],
            "exit_code": 1 if failed else 0,
            "parameters": {"attempt": job["attempt"]},
        }
        if job["bytes"]:
            run["problem_size"] = job["bytes"]
        if isinstance(job["threads"], int) and job["threads"] >= 1:
            run["processors"] = job["threads"]
        return run


class Sender(threading.Thread):
    """Sends what is put into its queue, and never stands in anybody's way: what does not
    fit is counted and dropped, what cannot be sent waits for the next try."""

    ROOM, EXIT_S = 10000, 2.0

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.queue, self.backoff = service, queue.Queue(self.ROOM), Backoff()
        self.waiting, self.dropped, self.ending = [], 0, threading.Event()

    def put(self, execution):
        try:
            self.queue.put_nowait(execution)
        except queue.Full:
            self.dropped += 1

    def run(self):
        while True:
            self.collect()
            now_s = time.monotonic()
            if self.waiting and (self.backoff.may_try(now_s) or self.ending.is_set()):
                self.try_send(now_s)
            if self.ending.is_set() and self.queue.empty():
                return

    def collect(self):
        try:
            self.waiting.append(self.queue.get(timeout=0.1))
            while len(self.waiting) < self.ROOM:
                self.waiting.append(self.queue.get_nowait())
        except queue.Empty:
            pass

    def try_send(self, now_s):
        try:
            send_executions(self.service, self.waiting)
        except Refused as refused:
            if refused.status in (400, 422):
                self.dropped += len(self.waiting)
                self.waiting = []
            self.backoff.failed(now_s)
        except Exception:  # the next try comes
            self.backoff.failed(now_s)
        else:
            self.waiting = []
            self.backoff.worked()

    def finish(self):
        """At most EXIT_S, whatever the service does."""
        self.ending.set()
        self.join(self.EXIT_S)


_handler = None  # (Jobs, Sender), or False: there is no service


def _make_handler():
    found = settings()
    if not found["url"]:
        return False
    sender = Sender(Service(found["url"], found["key_file"], 1.5))
    sender.start()
    atexit.register(sender.finish)
    application = found["application"] or os.path.basename(os.getcwd()) or "snakemake"
    return Jobs(application, uuid.uuid4().hex), sender


def log_handler(msg):
    """What snakemake --log-handler-script calls. It must not raise: that would end the
    workflow."""
    global _handler
    try:
        if _handler is None:
            _handler = _make_handler()
        if _handler:
            run = _handler[0].take(msg, time.time())
            if run:
                _handler[1].put(run)
    except Exception:
        pass


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("history", help="send what Snakemake has kept of earlier runs")
    sub.add_argument("folder", help="where the workflow ran")
    sub.add_argument("--application", required=True, help="its name")
    sub.add_argument("--url", help="of gridplan; default GRIDPLAN_URL")
    sub.add_argument("--key-file", help="file with the key, mode 0600")
    sub.set_defaults(run=history)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except (Refused, OSError, ValueError) as error:
        print("gridplan: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
