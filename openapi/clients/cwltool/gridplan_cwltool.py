#!/usr/bin/env python3
"""cwltool whose steps get the memory that they have been seen to need. Standard library only.

    gridplan_cwltool.py [OPTIONS OF cwltool] wf.cwl in.json

cwltool runs everything on its own machine: gridplan sizes and learns, it does not place. A step
of an application that gridplan has seen gets the memory that 95 in 100 of its runs stayed below,
never less than its ramMin nor more than cwltool would give. Each run is reported with its
time, the bytes of its inputs and the memory that it took. Without a service everything is as
with cwltool itself.

The service is named by GRIDPLAN_URL, or by "url" in gridplan.json beside this file; the key by
GRIDPLAN_KEY_FILE or "key_file". The application of a step is NAME/STEP; NAME is
GRIDPLAN_APPLICATION, or the name of the workflow's file.
"""

import http.client
import json
import math
import os
import queue
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

def with_pythons_cwltool():
    """The program again, by the Python that the cwltool on PATH has: that may be another."""
    path = shutil.which("cwltool")
    try:
        with open(path or "", encoding="utf-8") as file:
            first = file.readline()
    except (OSError, UnicodeDecodeError):
        first = ""
    words = shlex.split(first[2:]) if first.startswith("#!") else []
    if words and not os.environ.get("GRIDPLAN_CWLTOOL_PYTHON"):
        os.environ["GRIDPLAN_CWLTOOL_PYTHON"] = words[-1]  # once
        os.execvp(words[0], words + [os.path.abspath(__file__)] + sys.argv[1:])
    sys.exit("gridplan_cwltool.py: this Python has no module cwltool, nor has that of a cwltool "
             "on PATH; install cwltool, or run this file with the Python that has it")


try:
    import cwltool.main
    from cwltool.executors import MultithreadedJobExecutor
    from cwltool.job import JobBase
except ImportError:
    if __name__ != "__main__":
        raise
    with_pythons_cwltool()


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
SAMPLE_S = 0.2
EXIT_CODES = {"success": 0, "temporaryFail": 75}  # 75: sysexits.h EX_TEMPFAIL


def settings():
    """Of the environment, else of the file beside this one."""
    stored = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gridplan.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    return {"url": os.environ.get("GRIDPLAN_URL") or stored.get("url"),
            "key_file": os.environ.get("GRIDPLAN_KEY_FILE") or stored.get("key_file"),
            "application": os.environ.get("GRIDPLAN_APPLICATION") or stored.get("application")}


def application_of(words):
    """The name of the workflow's file: the first word that is one."""
    for word in words:
        name, ending = os.path.splitext(os.path.basename(word.split("#")[0]))
        if name and ending in (".cwl", ".json", ".yml", ".yaml"):
            return name
    return "cwltool"


def step_of(name):
    """Jobs of a scatter are count, count_2, count_3."""
    return re.sub(r"_[0-9]+$", "", name)


def status_kib(pid):
    """(resident, its peak) of a process in KiB; None: it is gone."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
            found = dict(re.findall(r"^(VmRSS|VmHWM):\s*(\d+) kB", file.read(), re.M))
    except OSError:
        return None
    return int(found.get("VmRSS", 0)), int(found.get("VmHWM", 0))


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            return [int(x) for x in file.read().split()]
    except OSError:
        return []


def tree_bytes(pid):
    """What a process and those below it hold, and not less than the peak of one of them."""
    total, peak, stack = 0, 0, [pid]
    while stack:
        one = stack.pop()
        found = status_kib(one)
        if found:
            total, peak = total + found[0], max(peak, found[1])
            stack.extend(children_of(one))
    return 1024 * max(total, peak)


class Watch:
    """In the place of a job's process_monitor: waits for the process, and sees what it
    takes."""

    def __init__(self):
        self.peak_bytes = 0

    def __call__(self, process):
        wait_s = 0.01
        while True:
            self.peak_bytes = max(self.peak_bytes, tree_bytes(process.pid))
            try:
                process.wait(wait_s)
                return
            except subprocess.TimeoutExpired:
                wait_s = min(SAMPLE_S, 2 * wait_s)


class Executor(MultithreadedJobExecutor):
    """cwltool's own, which asks and reports."""

    ASK_S = 2.0

    def __init__(self, found):
        super().__init__()
        self.application = found["application"]
        self.run_id, self.sender, self.service = uuid.uuid4().hex, None, None
        self.backoff, self.answers, self.told = Backoff(), {}, False
        if found["url"]:
            self.service = Service(found["url"], found["key_file"], self.ASK_S)
            self.sender = Sender(Service(found["url"], found["key_file"], 5.0))
            self.sender.start()

    def application_id(self, step):
        return ("%s/%s" % (self.application, step))[:200]

    def execute(self, process, job_order_object, runtime_context, *more):
        # cwltool asks for sizes only if it made the executor itself, or if it is told to.
        runtime_context = runtime_context.copy()
        runtime_context.select_resources = self.select_resources
        return super().execute(process, job_order_object, runtime_context, *more)

    # sizes

    def select_resources(self, request, runtime_context):
        """Called once for each job, before it has a name of its own."""
        answer = super().select_resources(request, runtime_context)
        if self.service:
            step = step_of(getattr(runtime_context, "name", None) or "-")
            learnt = self.learnt_mib(step, answer["ram"])
            if learnt is not None:
                least = math.ceil(request["ramMin"])
                answer["ram"] = min(max(learnt, least), answer["ram"])
            answer["cores"] = max(1, math.floor(answer["cores"]))
        return answer

    def learnt_mib(self, step, requested_mib):
        """MiB that 95 of 100 runs stayed below; None: not known. Asked once for a step."""
        now_s = time.monotonic()
        if step in self.answers:
            return self.answers[step]
        if not self.backoff.may_try(now_s):
            return None
        try:
            answer = self.service.call("POST", "/v1/resource-sizings", {
                "tasks": [{"id": "1", "application_id": self.application_id(step),
                           "memory_requested_bytes": math.ceil(requested_mib) * MIB}],
                "first_failure_ratio_max": 0.05, "max_attempts": 2, "step_bytes": MIB})
            (task,) = answer["tasks"]
            known = "peak_bytes" in task and task.get("attempts")
            self.answers[step] = (math.ceil(task["attempts"][0]["memory_bytes"] / MIB)
                                  if known else None)
            self.backoff.worked()
        except (Refused, OSError, ValueError, KeyError, TypeError) as error:
            self.backoff.failed(now_s)
            if not self.told:
                self.told = True
                print("gridplan: no answer, sizes are cwltool's: %s" % error, file=sys.stderr)
            return None
        return self.answers[step]

    # reports

    def _runner(self, job, runtime_context, lock):
        if not self.sender or not isinstance(job, JobBase):
            return super()._runner(job, runtime_context, lock)
        watch, ends, told = Watch(), [], job.output_callback
        job.process_monitor = watch

        def output_callback(outputs, status):
            ends.append(status)
            told(outputs, status)

        job.output_callback = output_callback
        started_s = time.time()
        try:
            super()._runner(job, runtime_context, lock)
        finally:
            try:
                self.sender.put(self.execution(job, started_s, watch.peak_bytes, ends))
            except Exception as error:  # a report must not end a workflow
                print("gridplan: no report of %s: %s" % (job.name, error), file=sys.stderr)

    def execution(self, job, started_s, peak_bytes, ends):
        resources = job.builder.resources
        size = sum(x.get("size") or 0 for x in job.builder.files)
        run = {"execution_id": "cwltool:%s:%s" % (self.run_id, job.name),
               "application_id": self.application_id(step_of(job.name)),
               "resource_id": os.uname().nodename, "started_at": started_s,
               "run_time_s": max(1e-3, time.time() - started_s),
               "exit_code": EXIT_CODES.get(ends[-1], 1) if ends else 1,
               "processors": max(1, int(resources["cores"])),
               "memory_requested_bytes": resources["ram"] * MIB}
        if size:
            run["problem_size"] = size
        if peak_bytes:
            run["memory_peak_bytes"] = peak_bytes
        return run

    def finish(self):
        if self.sender:
            self.sender.finish()


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    found = settings()
    found["application"] = found["application"] or application_of(argv)
    executor = Executor(found)
    try:
        return cwltool.main.run(argsl=argv, executor=executor)
    finally:
        executor.finish()


if __name__ == "__main__":
    sys.exit(main())
