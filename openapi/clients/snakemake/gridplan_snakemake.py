#!/usr/bin/env python3
"""What Snakemake knows of its jobs, for gridplan. One file, standard library only.

    gridplan_snakemake.py init --url URL --snapshot NAME [--profile FOLDER]
        writes a profile: CI=true snakemake --profile FOLDER ... then has each job started
        where and when gridplan says. Without a service jobs start in order of submission on
        the fastest host with room. GRIDPLAN_LAUNCH is the command that runs {jobscript} on
        {host}; default ssh. CI=true: Snakemake asks every second how jobs are, not every 10.

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
import fcntl
import hashlib
import http.client
import json
import math
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


# ---- shared with the other clients (openapi/clients/shared.py); a test compares ----


class Refused(Exception):
    """The service answered, with another status than 2xx."""

    def __init__(self, status, text):
        super().__init__("status %d: %s" % (status, text[:300]))
        self.status, self.text = status, text


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

# ---- sender (openapi/clients/shared_sender.py) ----

LINES_AT_ONCE = 1000


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


# ---- end of sender ----


MIB = 1048576


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
        "snapshot": stored.get("snapshot"),
        "resources": stored.get("resources") or [],
        "shared": stored.get("shared") or [],
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


# ---- history: what Snakemake leaves behind ----


def output_of(parts):
    """The output path that a file below metadata/ is about: base64, which is cut into
    folders with @ in front where it is too long for a name. None: it is none."""
    text = "".join(p[1:] if p.startswith("@") else p for p in parts)
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def read_metadata(folder, left_out):
    """Records of folder/.snakemake/metadata, by output; adds to left_out what is none."""
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
            except (OSError, ValueError, RecursionError):
                record = None
            if output is not None and isinstance(record, dict):
                records[output] = record
            else:
                left_out.append(os.path.join(at, name))
    return records


def is_time(value):
    return type(value) in (int, float) and math.isfinite(value)


def job_runs(folder, application, left_out=None):
    """An execution for each job of the metadata: a job with several outputs counts once.
    Adds to left_out the outputs whose records tell no run that was ended."""
    jobs, left_out = {}, [] if left_out is None else left_out
    for output, record in sorted(read_metadata(folder, left_out).items()):
        rule, start, end = (record.get(k) for k in ("rule", "starttime", "endtime"))
        numbers = is_time(start) and is_time(end)
        if not isinstance(rule, str) or not rule or not numbers or end <= start or \
                record.get("incomplete"):
            left_out.append(output)
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
        inputs = record.get("input")
        inputs = inputs if isinstance(inputs, list) else []
        size = bytes_of(folder, [x for x in inputs if isinstance(x, str)])
        if size:
            run["problem_size"] = size
        runs.append(run)
    return runs


def cell(text):
    """A number of a benchmark file; None: missing."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if value == value and abs(value) != float("inf") else None


def benchmark_row(values):
    """{column: number or None} of one line, with the rule as text where it is said."""
    row = {k: cell(v) for k, v in values.items() if k not in ("h:m:s", "rule_name")}
    rule = values.get("rule_name")
    if isinstance(rule, str) and rule:
        row["rule_name"] = rule
    return row


def read_lines(path):
    """The rows of a benchmark file with JSON lines (Snakemake 9); None: it is none."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            values = json.loads(line) if line.strip() else None
            if values is None:
                continue
            if not isinstance(values, dict) or "s" not in values or "max_rss" not in values:
                return None
            rows.append(benchmark_row(values))
    return rows or None


def read_benchmark(path):
    """Rows {column: number or None}; None: it is no benchmark file."""
    try:
        if path.endswith(".jsonl"):
            return read_lines(path)
        with open(path, encoding="utf-8") as file:
            head = file.readline().rstrip("\r\n").split("\t")
            if head[:3] != ["s", "h:m:s", "max_rss"]:
                return None
            lines = [line.rstrip("\r\n").split("\t") for line in file if line.strip()]
    except (OSError, ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None
    return [benchmark_row(dict(zip(head, line))) for line in lines]


def rule_of(path, rules):
    """The rule whose name is a part of the path, or the file's name without its ending."""
    parts = path.split(os.sep)
    parts[-1] = parts[-1].split(".")[0]
    found = [p for p in parts if p in rules]
    return found[-1] if found else None


def benchmark_runs(folder, application, rules, left_out=None):
    """An execution for each line of each benchmark file, and how many files have no rule.
    Adds to left_out the lines without a run time."""
    runs, unknown = [], 0
    left_out = [] if left_out is None else left_out
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != ".snakemake")
        for name in sorted(names):
            path = os.path.join(at, name)
            if not name.endswith((".tsv", ".txt", ".benchmark", ".jsonl")):
                continue
            rows = read_benchmark(path)
            if rows is None:
                continue
            below = os.path.relpath(path, folder)
            rule = rule_of(below, rules)
            if not rule and not all(row.get("rule_name") for row in rows):
                unknown += 1
                continue
            for number, row in enumerate(rows, 1):
                rule = row.get("rule_name") or rule  # of --benchmark-extended
                run = benchmark_run(path, below, number, row, "%s/%s" % (application, rule))
                if run:
                    runs.append(run)
                else:
                    left_out.append("%s, line %d" % (below, number + 1))
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
    if memory and memory > 0:  # 0: the job was shorter than the first sample
        run["memory_peak_bytes"] = memory * MIB
    for name, member in (("io_in", "read_bytes"), ("io_out", "write_bytes")):
        if row.get(name) and row[name] > 0:
            run["parameters"][member] = row[name] * MIB
    if row.get("mean_load"):
        run["parameters"]["cpu_ratio"] = row["mean_load"] / 100
    if row.get("threads") and row["threads"] >= 1 and row["threads"] == int(row["threads"]):
        run["processors"] = int(row["threads"])
    return run


def history(arguments):
    found = settings()
    service = Service(arguments.url or found["url"], arguments.key_file or found["key_file"], 30)
    no_runs, no_times = [], []
    jobs = job_runs(arguments.folder, arguments.application, no_runs)
    prefix = len(arguments.application) + 1
    rules = {run["application_id"][prefix:] for run in jobs}
    benchmarks, unknown = benchmark_runs(arguments.folder, arguments.application, rules,
                                         no_times)
    stored = send_executions(service, jobs + benchmarks)
    print("%d jobs, %d benchmarks: %d new" % (len(jobs), len(benchmarks), stored))
    if unknown:
        print("%d benchmark files have no rule's name in their path: left out" % unknown)
    if no_runs:
        print("%d records tell no run that has ended: left out, first %s" %
              (len(no_runs), no_runs[0]))
    if no_times:
        print("%d lines of benchmarks have no run time: left out, first %s" %
              (len(no_times), no_times[0]))
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
        if os.environ.get("GRIDPLAN_DRY_RUN"):
            keep_job_info(os.environ["GRIDPLAN_DRY_RUN"], msg)
            return
        if _handler is None:
            _handler = _make_handler()
        if _handler:
            run = _handler[0].take(msg, time.time())
            if run:
                _handler[1].put(run)
    except Exception:
        pass


# ---- jobs of a workflow, as a dry run and a job script name them ----

RESERVED = ("cpus", "memory_bytes", "disk_bytes", "n_max", "exclusive")
KNOWN = ("mem_mb", "disk_mb", "runtime", "tmpdir", "_cores", "_nodes", "mem_mib", "disk_mib")
NEED = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]{0,63}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e18


def amounts_of(threads, resources):
    """What the job takes of its host. What is no number (<TBD>) is not known yet."""
    known = {k: v for k, v in resources.items() if is_number(v)}
    cpus = threads if is_number(threads) and threads > 0 else known.get("_cores") or 1
    amounts = {"cpus": cpus}
    if "mem_mb" in known:
        amounts["memory_bytes"] = known["mem_mb"] * 1e6
    if "disk_mb" in known:
        amounts["disk_bytes"] = known["disk_mb"] * 1e6
    if known.get("runtime"):
        amounts["time_limit_s"] = known["runtime"] * 60
    needs = {k: v for k, v in known.items()
             if k not in KNOWN and k not in RESERVED and NEED.fullmatch(k)}
    if needs:
        amounts["needs"] = needs
    return amounts


def task_of(name, rule, job, folder):
    """A task of a session, without what it depends on."""
    task = {"id": name, "class": rule[:200], "attempts_max": 100}
    task.update(amounts_of(job.get("threads"), job.get("resources") or {}))
    size = bytes_of(folder, [str(x) for x in job.get("input") or []])
    if size:
        task["model"] = {"problem_size": size}
    return task


def tasks_of(jobs, folder="."):
    """Tasks with edges, of the job_info of a dry run. Local jobs are left out, and what
    needs them needs what they need."""
    makers, needs = {}, {}
    for number, job in enumerate(jobs):
        for output in job["output"]:
            makers[output] = number
    for number, job in enumerate(jobs):
        needs[number] = sorted({makers[x] for x in job["input"] if x in makers} - {number})
    names = [task_id(job["name"], job["output"]) for job in jobs]

    def before(number):
        found, seen, stack = set(), set(), list(needs[number])
        while stack:
            other = stack.pop()
            if other in seen:
                continue
            seen.add(other)
            if jobs[other].get("local"):
                stack.extend(needs[other])
            else:
                found.add(names[other])
        return sorted(found - {names[number]})

    tasks = {}
    for number, job in enumerate(jobs):
        if not job.get("local"):
            task = task_of(names[number], job["name"], job, folder)
            task["depends_on"] = before(number)
            tasks[task["id"]] = task
    return list(tasks.values())


def properties_of(text):
    """What Snakemake writes into a job script: # properties = {json}"""
    for line in text.split("\n"):
        if line.startswith("# properties = "):
            found = json.loads(line[len("# properties = "):])
            if isinstance(found, dict):
                return found
    raise ValueError("the job script has no line of properties")


def job_of(properties, folder="."):
    """Task of a job script."""
    outputs = [str(x) for x in properties.get("output") or []]
    if properties.get("type") == "group":
        rule = "group:%s" % properties.get("groupid")
    else:
        rule = properties.get("rule") or "-"
    return task_of(task_id(rule, outputs), rule, properties, folder)


def keep_job_info(path, msg):
    """One line for each job of a dry run."""
    if msg.get("level") != "job_info":
        return
    resources = msg.get("resources")
    job = {
        "name": msg.get("name") or "-",
        "input": [str(x) for x in msg.get("input") or []],
        "output": [str(x) for x in msg.get("output") or []],
        "threads": msg.get("threads"), "local": bool(msg.get("local")),
        "resources": {k: v for k, v in dict(resources.items() if resources else ()).items()
                      if is_number(v)},
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(job) + "\n")


def dry_run_command(line, handler):
    """The command line of a Snakemake, as a dry run that tells its jobs. --quiet goes: it
    would tell none."""
    words, quiet = [], False
    for word in line:
        if quiet and word in ("progress", "rules", "all", "host", "reason"):
            continue
        quiet = word in ("-q", "--quiet")
        if not quiet and not word.startswith("--quiet="):
            words.append(word)
    end = words.index("--") if "--" in words else len(words)
    return words[:end] + ["-n", "--log-handler-script", handler] + words[end:]


# ---- hosts (openapi/clients/shared_hosts.py) ----

HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Hosts:
    """The user's own hosts, in the order of the snapshot, and what is free on each."""

    def __init__(self, resources, shared=()):
        self.all, self.shared = {}, set(shared)
        for resource in resources:
            name = resource.get("id")
            if not isinstance(name, str) or not HOST.fullmatch(name):
                raise ValueError("%r is no name of a host" % (name,))
            self.all[name] = resource

    def refresh(self, resources):
        """Amounts and speeds of those that are known; a new one is the user's to add."""
        for resource in resources:
            if resource.get("id") in self.all:
                self.all[resource["id"]] = resource

    def room(self, name, amounts, taken=()):
        """Whether amounts fit beside those in taken. A capacity that is not stated is not
        limited; one of another name is 0."""
        host = self.all[name]
        most = host.get("n_max")
        if most is not None and len(taken) >= most:
            return False
        for kind in ("cpus", "memory_bytes", "disk_bytes"):
            used = sum(t.get(kind, 0) for t in taken)
            if host.get(kind) is not None and used + amounts.get(kind, 0) > host[kind] + 1e-9:
                return False
        capacities = host.get("capacities") or {}
        for kind, need in (amounts.get("needs") or {}).items():
            used = sum((t.get("needs") or {}).get(kind, 0) for t in taken)
            if kind not in self.shared and used + need > capacities.get(kind, 0) + 1e-9:
                return False
        return True

    def fits_some(self, amounts):
        return any(self.room(name, amounts) for name in self.all)

    def fastest(self, amounts, taken):
        """Name of the fastest with room; taken: lists of amounts by name."""
        found = [name for name, host in self.all.items()
                 if not host.get("failed") and self.room(name, amounts, taken.get(name, ()))]
        return max(found, key=lambda n: self.all[n].get("mips_total") or 1, default=None)


def hosts_of_snapshot(answer):
    """(resources, names of shared capacities) of GET /v1/snapshots/ID."""
    snapshot = answer["snapshot"]
    kept = ("id", "mips_total", "cpus", "memory_bytes", "disk_bytes", "capacities", "n_max",
            "failed")
    resources = [{k: r[k] for k in kept if r.get(k) is not None} for r in snapshot["resources"]]
    shared = snapshot.get("shared_capacities") or {}
    if not isinstance(shared, dict):
        shared = [x.get("name") for x in shared]
    return resources, sorted(shared)


# ---- end of hosts ----


# ---- sidecar: the one process of a run that asks gridplan ----

SPOOL = ".gridplan"
LAUNCH = "ssh -tt -o BatchMode=yes {host} sh {jobscript}"
# The job's own exit code stays behind, so that a later sidecar finds it.
WRAPPER = '(%s\n)\nrc=$?\necho $rc > "$1.tmp" && mv "$1.tmp" "$1"\nexit $rc\n'


def write_file(path, text):
    """Whole, or not at all."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".tmp", path)


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def launch_command(template, host, jobscript):
    """A line for the shell. Raises ValueError: host is an option, or worse."""
    if not HOST.fullmatch(host):
        raise ValueError("%r is no name of a host" % host)
    words = {"{host}": shlex.quote(host), "{jobscript}": shlex.quote(jobscript)}
    return re.sub(r"\{host\}|\{jobscript\}", lambda m: words[m.group()], template)


def start_of(pid):
    """When the process began, in ticks of its machine; None: it is gone, or has ended."""
    text = read_text("/proc/%d/stat" % pid)
    fields = text.rpartition(")")[2].split() if text else []
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else None


class Job:
    """A job script of the spool. It waits, then runs (pid), then has ended (its .rc)."""

    def __init__(self, name, task):
        self.id, self.task = name, task
        self.attempt = self.host = self.pid = self.begun = self.child = None
        self.killed_s = self.started_s = None
        self.cancelled = False

    def path(self, ending):
        return os.path.abspath(os.path.join(SPOOL, self.id + "." + ending))

    def launch(self, template, host, attempt):
        command = launch_command(template, host, self.path("sub"))
        environment = {k: v for k, v in os.environ.items() if k != "CI"}
        with open(self.path("log"), "ab") as log:
            self.child = subprocess.Popen(
                ["/bin/sh", "-c", WRAPPER % command, "gridplan-job", self.path("exit")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True)
        self.pid, self.host, self.attempt = self.child.pid, host, attempt
        self.started_s, self.begun = time.time(), start_of(self.pid)
        write_file(self.path("run"), json.dumps({
            "pid": self.pid, "begun": self.begun, "host": host, "attempt": attempt,
            "started_s": self.started_s, "task": self.task}))

    def finish(self, word):
        """For Snakemake; what is needed no more goes."""
        write_file(self.path("rc"), word)
        for ending in ("sub", "run", "exit", "cancel"):
            if os.path.exists(self.path(ending)):
                os.unlink(self.path(ending))

    def ended(self):
        """Its exit code; None: it runs."""
        if self.child:
            return self.child.poll()
        if self.begun is not None and start_of(self.pid) == self.begun:
            return None
        text = read_text(self.path("exit"))
        return int(text) if text and text.strip().isdigit() else 1

    def stop(self, now_s):
        """SIGTERM, and SIGKILL 10 s later."""
        if self.killed_s is not None and now_s < self.killed_s + 10:
            return
        number = signal.SIGTERM if self.killed_s is None else signal.SIGKILL
        self.killed_s = now_s
        try:
            os.killpg(self.pid, number)
        except OSError:
            pass


class Sidecar:
    HOLD_S, IDLE_S, ASKED_S, EVENTS_AT_ONCE = 60, 60, 5, 1000

    def __init__(self, found, template):
        self.service = Service(found["url"], found["key_file"])
        self.snapshot, self.application = found["snapshot"], found["application"]
        self.hosts = Hosts(found["resources"], found.get("shared") or ())
        self.template, self.backoff, self.parent = template, Backoff(), os.getppid()
        self.jobs, self.known, self.old = {}, set(), {}  # by id; ids seen; adopted, by task
        self.attempts, self.told = {}, set()  # by task; warnings that were given
        self.replaced = set()  # ids of jobs of an earlier run that were submitted again
        self.stamp = None      # of the spool as it was read
        self.cancel_s = None   # when Snakemake cancelled last
        self.left = None       # (session, events) of a run that was killed
        self.stopping, self.tried_last, self.unstartable = False, False, set()
        self.changed, self.asked_s, self.progress_s = True, 0.0, time.monotonic()
        self.grouped = False
        self.begin_session([])

    def begin_session(self, tasks, events=()):
        """A new one: outputs that are made again are not done in it."""
        self.session = "snakemake:%s:%s" % (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), uuid.uuid4().hex[:8])
        self.definition = tasks
        self.tasks = {task["id"]: task for task in tasks}
        self.events, self.confirmed = list(events), 0
        self.submitted, self.untold = {}, set()  # tasks of job scripts; ids not compared yet
        self.defined = False
        for job in self.jobs.values():
            self.submit(job)

    def submit(self, job):
        self.submitted[job.task["id"]] = job.task
        self.untold.add(job.task["id"])

    def path(self, rest=""):
        return "/v1/workflow-sessions/%s%s" % (self.session, rest)

    def tell(self, text):
        if text not in self.told:
            self.told.add(text)
            print("gridplan: " + text, file=sys.stderr, flush=True)

    # what Snakemake asks for

    def scan(self):
        stamp = os.stat(SPOOL).st_mtime_ns
        if stamp == self.stamp and time.time_ns() > stamp + 1000000000:
            return  # nothing came and nothing went
        self.stamp = stamp
        for entry in sorted(os.scandir(SPOOL), key=lambda e: e.name):
            name, _, ending = entry.name.rpartition(".")
            if ending == "sub" and name not in self.known:
                self.known.add(name)
                self.take(name)
            elif ending == "cancel" and name in self.jobs:
                self.cancel(self.jobs[name])

    def take(self, name):
        job = Job(name, None)
        try:
            properties = properties_of(read_text(job.path("sub")) or "")
            job.task = job_of(properties)
        except ValueError as error:
            return self.refuse(job, str(error))
        if properties.get("type") == "group" and not self.grouped:
            self.group_session()
        if not self.hosts.fits_some(job.task):
            return self.refuse(job, "no host has room for %s" % json.dumps(job.task))
        self.jobs[name], self.changed = job, True
        self.submit(job)

    def group_session(self):
        """A dry run does not show groups: from now on without a graph."""
        self.grouped = True
        running = {(j.task["id"], j.attempt) for j in self.jobs.values() if j.pid}
        self.begin_session([], [e for e in self.events if e["kind"] == "started"
                                and (e["task_id"], e["attempt"]) in running])

    def refuse(self, job, reason):
        with open(job.path("log"), "a", encoding="utf-8") as file:
            file.write("gridplan: %s\n" % reason)
        self.tell("job %s: %s" % (job.id, reason))
        job.finish("failed")

    def cancel(self, job):
        self.cancel_s = time.monotonic()
        if job.pid:
            job.cancelled = True
        else:
            self.end(job, "cancelled")

    # what happens

    def event(self, job, kind, **more):
        event = {"event_id": uuid.uuid4().hex, "kind": kind, "task_id": job.task["id"],
                 "attempt": job.attempt or 1 + self.attempts.get(job.task["id"], 0),
                 "observed_at": time.time()}
        event.update(more)
        self.events.append(event)
        self.keep_events()
        self.changed = True

    def keep_events(self):
        write_file(os.path.join(SPOOL, "events.ndjson"),
                   "".join(json.dumps(e) + "\n" for e in self.events[self.confirmed:]))

    def start(self, job, host, attempt):
        if host not in self.hosts.all:
            self.tell("host %r is not among those of gridplan.json: refused" % host)
            return
        self.attempts[job.task["id"]] = attempt
        try:
            job.launch(self.template, host, attempt)
        except (OSError, ValueError) as error:
            self.refuse(job, str(error))
            del self.jobs[job.id]
            return
        self.progress_s = time.monotonic()
        self.event(job, "started", resource_id=host, observed_at=job.started_s)

    def end(self, job, kind, **more):
        """Snakemake is told first: it waits for that, and for nothing else."""
        job.finish("success" if kind == "ended" else "failed")
        del self.jobs[job.id]
        if self.old.get(job.task["id"]) is job:
            del self.old[job.task["id"]]
        self.event(job, kind, **more)
        self.progress_s = time.monotonic()

    def poll(self, now_s):
        for job in list(self.jobs.values()):
            if not job.pid:
                continue
            code = job.ended()
            if code is None:
                if job.cancelled:
                    job.stop(now_s)
            elif job.cancelled and job.id in self.replaced:
                self.end(job, "failed", exit_code=1, failure_kind="cancelled")
            elif job.cancelled:
                self.end(job, "cancelled")
            elif code == 0:
                self.end(job, "ended", run_time_s=max(0.0, time.time() - job.started_s))
            else:
                self.end(job, "failed", exit_code=abs(code))

    def waiting(self):
        """In order of submission, but for those whose old process is still there."""
        found = []
        for job in self.jobs.values():
            if job.pid:
                continue
            old = self.old.get(job.task["id"])
            if old:
                old.cancelled = True
                self.replaced.add(old.id)
            else:
                found.append(job)
        return found

    # with the service

    def sync(self, waiting):
        """Tasks and events that it has not, and what may start. Raises what call raises."""
        if self.left:
            try:
                self.service.call(
                    "POST", "/v1/workflow-sessions/%s/events" % self.left[0], self.left[1])
            except Refused:
                pass  # it is gone, and holds nothing
            self.left = None
        if not self.defined:
            self.service.call("PUT", self.path(), {
                "workflow": {"tasks": self.definition}, "application_id": self.application,
                "snapshot_id": self.snapshot})
            write_file(os.path.join(SPOOL, "session"), self.session)
            self.tasks = {task["id"]: task for task in self.definition}
            self.untold = set(self.submitted)
            self.defined = True
            self.refresh()
        self.add_tasks()
        events = self.events[self.confirmed:self.confirmed + self.EVENTS_AT_ONCE]
        answer = self.service.call("POST", self.path("/starts"), {
            "holder": "%s:%d" % (os.uname().nodename[:150], os.getpid()),
            "hold_s": self.HOLD_S, "resource_ids": list(self.hosts.all), "queue_depth": 0,
            "candidate_task_ids": sorted({job.task["id"] for job in waiting}),
            "events": events})
        self.confirmed += len(events)
        for mistake in (answer.get("events") or {}).get("errors") or []:
            self.put_aside(mistake.get("event_id"), mistake)
        self.keep_events()
        by_task = {job.task["id"]: job for job in reversed(waiting)}
        for row in answer["start"]:
            job = by_task.get(row["task_id"])
            if job and not job.pid:
                self.start(job, row["resource_id"], row["attempt"])
        self.unstartable = {row["task_id"] for row in answer["not_startable"]}
        self.changed = self.confirmed < len(self.events)

    def add_tasks(self):
        """Jobs that the dry run did not show, or with other amounts."""
        tasks = []
        for name in sorted(self.untold):
            told = self.tasks.get(name, {})
            task = dict(told, **self.submitted[name])
            if task != told:
                tasks.append(task)
        if tasks:
            self.service.call("POST", self.path("/tasks"), [dict(t, replace=True) for t in tasks])
            self.tasks.update((task["id"], task) for task in tasks)
        self.untold = set()

    def put_aside(self, event_id, mistake):
        """One event that is refused holds up no other."""
        for event in self.events:
            if event["event_id"] == event_id:
                with open(os.path.join(SPOOL, "refused.ndjson"), "a", encoding="utf-8") as file:
                    file.write(json.dumps({"event": event, "mistake": mistake}) + "\n")

    def refresh(self):
        resources, shared = hosts_of_snapshot(
            self.service.call("GET", "/v1/snapshots/" + urllib.parse.quote(self.snapshot)))
        self.hosts.refresh(resources)
        self.hosts.shared = set(shared)

    def refused(self, refused):
        if refused.status == 404:
            self.defined, self.confirmed = False, 0
        elif refused.status == 410:
            self.begin_session(self.definition, self.events)
        elif refused.status == 422 and self.drop_events(str(refused.text)):
            return  # the others at once
        else:
            self.tell("the service refuses: %s" % refused)
        self.backoff.failed(time.monotonic())

    def drop_events(self, text):
        """Those that a problem names, /events/3/..., go. True: there were some."""
        bad = sorted({int(x) for x in re.findall(r'"/events/(\d+)', text)}, reverse=True)
        for number in bad:
            at = self.confirmed + number
            if at < len(self.events):
                self.put_aside(self.events[at]["event_id"], "422")
                del self.events[at]
        return bool(bad)

    # without it

    def greedy(self, jobs):
        """In order of submission on the fastest host with room."""
        taken = {}
        for job in self.jobs.values():
            if job.pid:
                taken.setdefault(job.host, []).append(job.task)
        for job in jobs:
            host = self.hosts.fastest(job.task, taken)
            if host:
                taken.setdefault(host, []).append(job.task)
                self.start(job, host, 1 + self.attempts.get(job.task["id"], 0))

    # the run

    def down(self):
        return not self.backoff.may_try(time.monotonic())

    def try_sync(self, waiting):
        self.asked_s = time.monotonic()
        try:
            self.sync(waiting)
            self.backoff.worked()
        except Refused as refused:
            self.refused(refused)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.tell("no answer, jobs start without it: %s" % error)
            self.backoff.failed(time.monotonic())

    def step(self):
        now_s = time.monotonic()
        self.scan()
        self.poll(now_s)
        waiting = self.waiting()
        due = self.changed or (waiting and now_s >= self.asked_s + 1)
        if due and not self.down():
            self.try_sync(waiting)
            waiting = [job for job in self.waiting() if job in waiting]
        if not waiting:
            self.progress_s = now_s
        idle = any(not job.pid for job in waiting) and now_s > self.progress_s + self.IDLE_S
        if idle and not any(job.pid for job in self.jobs.values()):
            self.tell("nothing was started for %d s: jobs start without it" % self.IDLE_S)
        else:
            idle = False
        down = self.down()
        self.greedy([job for job in waiting if down or idle
                     or job.task["id"] in self.unstartable])

    def told_all(self):
        """Whether nothing is left to tell, or nobody to tell it to: at the end it is tried
        once more, whenever the next try was due."""
        if self.confirmed < len(self.events) and self.down() and not self.tried_last:
            self.tried_last = True
            self.try_sync([])
        return self.confirmed >= len(self.events) or self.down()

    def leave(self):
        """What the session of a killed run holds becomes free: its jobs are this one's."""
        session = (read_text(os.path.join(SPOOL, "session")) or "").strip()
        lines = (read_text(os.path.join(SPOOL, "events.ndjson")) or "").split("\n")
        events = [json.loads(line) for line in lines if line]
        for entry in os.scandir(SPOOL):
            if entry.name.endswith(".run"):
                noted = json.loads(read_text(entry.path))
                events.append({
                    "event_id": uuid.uuid4().hex, "kind": "failed", "exit_code": 1,
                    "failure_kind": "cancelled", "task_id": noted["task"]["id"],
                    "attempt": noted["attempt"], "observed_at": time.time()})
        if re.fullmatch(r"[A-Za-z0-9._:-]{1,200}", session) and events:
            self.left = (session, events[-10000:])

    def adopt(self):
        """What an earlier run has left."""
        try:
            self.leave()
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.tell("what an earlier run has left: %s" % error)
        for entry in sorted(os.scandir(SPOOL), key=lambda e: e.name):
            name, _, ending = entry.name.rpartition(".")
            if ending != "sub":
                continue
            self.known.add(name)
            job = Job(name, None)
            if os.path.exists(job.path("rc")):
                continue
            try:
                noted = json.loads(read_text(job.path("run")) or "null")
                job.task, job.pid, job.begun = noted["task"], noted["pid"], noted["begun"]
                job.host, job.started_s, job.attempt = noted["host"], noted["started_s"], 1
            except (ValueError, KeyError, TypeError):
                job.pid = None
            if job.pid and (job.ended() is None or os.path.exists(job.path("exit"))):
                self.jobs[name] = self.old[job.task["id"]] = job
                self.submit(job)
                self.attempts[job.task["id"]] = 1
                self.event(job, "started", resource_id=job.host, observed_at=job.started_s)
            else:
                job.finish("failed")

    def run(self):
        alive = os.path.join(SPOOL, "alive")
        touched_s = 0.0
        while os.getppid() == self.parent:  # without it another sidecar takes over
            if time.monotonic() >= touched_s + 1:
                touched_s = time.monotonic()
                with open(alive, "a", encoding="ascii"):
                    os.utime(alive)
            try:
                self.step()
            except OSError as error:  # a full disk: the next step may do it
                self.tell(str(error))
            if self.cancel_s and not self.jobs and time.monotonic() > self.cancel_s + self.ASKED_S:
                # Snakemake cancels only when it ends. 7.21 then waits for ever for its own
                # threads beside this process, if nobody interrupts it a second time, and
                # once more if it was not that far.
                self.cancel_s = time.monotonic()
                os.kill(self.parent, signal.SIGINT)
            if self.stopping and not self.jobs and self.told_all():
                break
            time.sleep(0.05)
        return 0


def dry_run(parent, stopped):
    """Jobs that the Snakemake with this pid will run; []: it does not tell."""
    line = [x for x in (read_text("/proc/%d/cmdline" % parent) or "").split("\0") if x]
    environment = (read_text("/proc/%d/environ" % parent) or "").split("\0")
    began = [x[4:] for x in environment if x.startswith("PWD=") and os.path.isdir(x[4:])]
    folders = list(dict.fromkeys([os.getcwd()] + began))
    if any(x in ("-d", "--directory") or x.startswith("--directory=") for x in line):
        folders.reverse()  # it is relative to where Snakemake began
    path = os.path.abspath(os.path.join(SPOOL, "dry-run.ndjson"))
    until_s = time.monotonic() + 60
    for folder in folders if line else []:
        write_file(path, "")
        child = subprocess.Popen(
            dry_run_command(line, os.path.abspath(__file__)), cwd=folder,
            env=dict(os.environ, GRIDPLAN_DRY_RUN=path), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while child.poll() is None and time.monotonic() < until_s and not stopped():
            time.sleep(0.05)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        elif child.returncode == 0:
            return [json.loads(x) for x in (read_text(path) or "").split("\n") if x]
    return []


def sidecar(_):
    # Ctrl-C reaches the group; then cancel comes. (SIG_IGN would be left to the jobs.)
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGHUP, lambda *_: None)
    os.umask(0o077)
    os.makedirs(SPOOL, mode=0o700, exist_ok=True)
    os.chmod(SPOOL, 0o700)
    one = Sidecar(settings(), os.environ.get("GRIDPLAN_LAUNCH") or LAUNCH)

    def stop(*_):
        one.stopping = True

    signal.signal(signal.SIGTERM, stop)
    with open(os.path.join(SPOOL, "lock"), "w", encoding="ascii") as lock:
        until_s = time.monotonic() + 15
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > until_s:
                    raise OSError("another sidecar runs in this folder") from None
                time.sleep(0.1)
        try:
            one.begin_session(tasks_of(dry_run(one.parent, lambda: one.stopping)))
        except (OSError, ValueError, KeyError) as error:
            one.tell("no graph: %s" % error)
        one.adopt()
        one.service.timeout_s = 10  # a large graph takes its time
        one.try_sync([])
        one.service.timeout_s = 2
        write_file(os.path.join(SPOOL, "alive"), "")
        print("ready", flush=True)  # Snakemake submits nothing before this line
        return one.run()


# ---- init: a profile for Snakemake ----

SUBMIT = """#!/bin/sh
# A job script into the spool; its id on one line. No network, no interpreter.
umask 077
d=.gridplan
mkdir -p "$d" && f=$(mktemp "$d/XXXXXXXXXX") && cp "$1" "$f" && mv "$f" "$f.sub" &&
    echo "${f##*/}"
"""

STATUS = """#!/bin/sh
# One word: running, success or failed. Any other would end the workflow.
d=.gridplan
case "$1" in '' | *[!A-Za-z0-9]*) echo failed; exit 0 ;; esac
ended()
{
    [ -f "$d/$1.rc" ] || return 1
    if [ "$(cat "$d/$1.rc")" = success ]; then echo success; else echo failed; fi
}
alive() { [ -n "$(find "$d/alive" -mmin -1 2>/dev/null)" ]; }
ended "$1" && exit 0
if [ -f "$d/$1.sub" ] && { alive || { sleep 3; alive; }; }; then
    ended "$1" || echo running
else
    ended "$1" || echo failed
fi
"""

CANCEL = """#!/bin/sh
# Marks jobs; the sidecar ends them.
for id; do
    case "$id" in '' | *[!A-Za-z0-9]*) continue ;; esac
    : > ".gridplan/$id.cancel"
done
"""

CONFIG = """cluster: {p}/gridplan-submit
cluster-status: {p}/gridplan-status
cluster-cancel: {p}/gridplan-cancel
cluster-sidecar: {p}/gridplan-sidecar
"""
CONFIG_8 = """executor: cluster-generic
cluster-generic-submit-cmd: {p}/gridplan-submit
cluster-generic-status-cmd: {p}/gridplan-status
cluster-generic-cancel-cmd: {p}/gridplan-cancel
cluster-generic-sidecar-cmd: {p}/gridplan-sidecar
"""
CONFIG_BOTH = """jobs: 100
max-jobs-per-second: 50
max-status-checks-per-second: 100
scheduler: greedy
"""


def init(arguments):
    folder = os.path.abspath(arguments.profile)
    if not re.fullmatch(r"[A-Za-z0-9_./+@%,-]+", folder):
        raise ValueError("%s: Snakemake calls it by a shell; no blanks, please" % folder)
    key_file = arguments.key_file or os.environ.get("GRIDPLAN_KEY_FILE")
    key_file = os.path.abspath(key_file) if key_file else None
    url = arguments.url or os.environ.get("GRIDPLAN_URL")
    answer = Service(url, key_file, 10).call(
        "GET", "/v1/snapshots/" + urllib.parse.quote(arguments.snapshot, safe=""))
    resources, shared = hosts_of_snapshot(answer)
    Hosts(resources)  # refuses a name that would be an option
    if not resources:
        raise ValueError("snapshot %s has no hosts" % arguments.snapshot)
    os.makedirs(folder, exist_ok=True)
    client = os.path.join(folder, "gridplan_snakemake.py")
    if os.path.abspath(__file__) != client:
        shutil.copyfile(os.path.abspath(__file__), client)
    stored = {"url": url, "snapshot": arguments.snapshot, "key_file": key_file,
              "application": arguments.application or os.path.basename(os.getcwd()) or "snakemake",
              "resources": resources, "shared": shared}
    write_file(os.path.join(folder, "gridplan.json"), json.dumps(stored, indent=1) + "\n")
    run = "#!/bin/sh\nexec %s -B %s sidecar\n" % (shlex.quote(sys.executable), client)
    for name, text in (("submit", SUBMIT), ("status", STATUS), ("cancel", CANCEL),
                       ("sidecar", run)):
        path = os.path.join(folder, "gridplan-" + name)
        write_file(path, text)
        os.chmod(path, 0o755)
    write_file(os.path.join(folder, "config.yaml"), CONFIG.format(p=folder) + CONFIG_BOTH)
    write_file(os.path.join(folder, "config.v8+.yaml"), CONFIG_8.format(p=folder) + CONFIG_BOTH)
    print("%d hosts; run: CI=true snakemake --profile %s ..." % (len(resources), folder))
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("history", help="send what Snakemake has kept of earlier runs")
    sub.add_argument("folder", help="where the workflow ran")
    sub.add_argument("--application", required=True, help="its name")
    sub.add_argument("--url", help="of gridplan; default GRIDPLAN_URL")
    sub.add_argument("--key-file", help="file with the key, mode 0600")
    sub.set_defaults(run=history)
    sub = commands.add_parser("init", help="write a profile for snakemake --profile")
    sub.add_argument("--url", help="of gridplan; default GRIDPLAN_URL")
    sub.add_argument("--snapshot", required=True, help="name of the stored hosts")
    sub.add_argument("--key-file", help="file with the key, mode 0600; only its path is kept")
    sub.add_argument("--application", help="its name; default: that of the folder")
    sub.add_argument("--profile", default="gridplan", help="folder to write; default gridplan")
    sub.set_defaults(run=init)
    sub = commands.add_parser("sidecar", help="what Snakemake starts beside itself")
    sub.set_defaults(run=sidecar)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except (Refused, OSError, ValueError) as error:
        print("gridplan: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
