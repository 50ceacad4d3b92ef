#!/usr/bin/env python3
"""A batch system of Toil that asks gridplan where its jobs run. Standard library only.

    gridplan_toil.py init --url URL --snapshot NAME
        writes gridplan.json, the hosts, and gridplan-toil-cwl-runner beside this file.

    PYTHONPATH=FOLDER python3 flow.py STORE --batchSystem gridplan
        for a flow.py that says "import gridplan_toil". Each job is started where and when
        gridplan says, by GRIDPLAN_LAUNCH; default: ssh -o BatchMode=yes {host} {command}.
        Hosts must see the job store. Without a service jobs start in order of issue on the
        fastest host with room.

    gridplan-toil-cwl-runner --jobStore STORE flow.cwl in.json
        the same for flows in CWL.

    gridplan_toil.py tail FILE --application NAME
        tells gridplan of jobs that any batch system runs, from what --writeMessages FILE
        writes: what is issued, done and failed, at the time of reading. It says nothing of
        run times: the file has neither times nor starts.

The service is named by --url, by GRIDPLAN_URL, or by "url" in gridplan.json beside this file;
the key by --key-file, GRIDPLAN_KEY_FILE or "key_file". The application of a job is NAME/CLASS;
NAME is GRIDPLAN_APPLICATION, or "application" of gridplan.json, CLASS the name of the job.
"""

import argparse
import http.client
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

try:
    from toil.batchSystems.abstractBatchSystem import (
        BatchJobExitReason, BatchSystemSupport, InsufficientSystemResources, UpdatedBatchJobInfo)
    from toil.batchSystems.registry import addBatchSystemFactory
except ImportError:  # init and tail need no Toil
    BatchSystemSupport, addBatchSystemFactory = object, None


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


LAUNCH = "ssh -o BatchMode=yes {host} {command}"
KEPT_VARIABLES = ("PYTHONPATH", "PATH")


def folder():
    return os.path.dirname(os.path.abspath(__file__))


def settings():
    """Of the environment, else of the file beside this one."""
    stored = {}
    path = os.path.join(folder(), "gridplan.json")
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


def launch_template():
    """GRIDPLAN_LAUNCH. Raises ValueError: it would launch something else."""
    template = os.environ.get("GRIDPLAN_LAUNCH") or LAUNCH
    if "{command}" not in template:
        raise ValueError("GRIDPLAN_LAUNCH has no {command}, as '%s' has: '%s'"
                         % (LAUNCH, template))
    return template


def launch_line(template, host, command):
    """A line for the shell; `command` stays one word, for the shell of the host."""
    words = {"{host}": shlex.quote(host), "{command}": shlex.quote(command)}
    return re.sub(r"\{host\}|\{command\}", lambda m: words[m.group()], template)


def with_environment(command, variables):
    """The command as a line for a shell that has none of these variables."""
    words = ["%s=%s" % (name, shlex.quote(str(value))) for name, value in variables.items()
             if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)]
    return " ".join(["env"] + words + [command]) if words else command


def new_event(kind, task_id, attempt, **more):
    event = {"event_id": uuid.uuid4().hex, "kind": kind, "task_id": task_id,
             "attempt": attempt, "observed_at": time.time()}
    event.update(more)
    return event


class Job:
    """One issue of a job: it waits, then runs (child), then has ended."""

    def __init__(self, number, store_id, task, command):
        self.number, self.store_id, self.task, self.command = number, store_id, task, command
        self.child = self.host = self.attempt = self.started_s = self.killed_s = None
        self.killed = False

    def launch(self, template, host, attempt):
        self.child = subprocess.Popen(
            ["/bin/sh", "-c", launch_line(template, host, self.command)],
            stdin=subprocess.DEVNULL, start_new_session=True)
        self.host, self.attempt, self.started_s = host, attempt, time.time()

    def stop(self, now_s):
        """SIGTERM, and SIGKILL 10 s later."""
        if self.killed_s is not None and now_s < self.killed_s + 10:
            return
        number = signal.SIGTERM if self.killed_s is None else signal.SIGKILL
        self.killed_s = now_s
        try:
            os.killpg(self.child.pid, number)
        except OSError:
            pass


class Scheduler(threading.Thread):
    """The one thread that starts jobs and asks gridplan. The lists are the callers', too:
    under `lock`."""

    HOLD_S, IDLE_S, STEP_S, EVENTS_AT_ONCE = 60, 60, 0.05, 1000

    def __init__(self, found, template, name):
        super().__init__(daemon=True)
        self.service = Service(found["url"], found["key_file"]) if found["url"] else None
        self.snapshot, self.application = found["snapshot"], found["application"] or "toil"
        self.hosts = Hosts(found["resources"], found["shared"])
        self.template, self.name, self.backoff = template, name, Backoff()
        self.lock, self.ended, self.ending = threading.RLock(), queue.Queue(), False
        self.jobs = {}        # by number
        self.done = {}        # by store id: how many of its tasks have ended well
        self.attempts = {}    # by task id: the last one that was started
        self.told, self.unstartable, self.tasks = set(), set(), {}
        self.events, self.confirmed, self.untold = [], 0, {}
        self.defined, self.changed, self.asked_s = False, False, 0.0
        self.progress_s = time.monotonic()
        self.session = "toil:%s:%s" % (re.sub("[^A-Za-z0-9._-]", "_", name)[:120],
                                       uuid.uuid4().hex[:8])

    def path(self, rest=""):
        return "/v1/workflow-sessions/%s%s" % (self.session, rest)

    def tell(self, text):
        if text not in self.told:
            self.told.add(text)
            print("gridplan: " + text, file=sys.stderr, flush=True)

    # what Toil asks for

    def issue(self, number, store_id, amounts, command):
        """A job that is issued again after it has failed is the next attempt of its task,
        with the amounts of now; one that had ended well is another task."""
        with self.lock:
            again = self.done.get(store_id, 0)
            task = dict(amounts, id=(store_id if not again else "%s:%d" % (store_id, again)),
                        attempts_max=100)
            if len(task["id"]) > 200:
                task["id"] = task["id"][-200:]
            self.jobs[number] = Job(number, store_id, task, command)
            self.untold[task["id"]] = task
            self.changed = True

    def kill(self, numbers):
        """Returns when they are gone."""
        with self.lock:
            jobs = [self.jobs[n] for n in numbers if n in self.jobs]
            for job in jobs:
                job.killed = True
                if not job.child:
                    self.forget(job, new_event("cancelled", job.task["id"],
                                               1 + self.attempts.get(job.task["id"], 0)))
        while any(job.number in self.jobs for job in jobs) and self.is_alive():
            time.sleep(self.STEP_S)

    def running(self):
        with self.lock:
            now_s = time.time()
            return {n: now_s - j.started_s for n, j in self.jobs.items() if j.child}

    # what happens

    def forget(self, job, event):
        del self.jobs[job.number]
        self.events.append(event)
        self.changed, self.progress_s = True, time.monotonic()

    def start_job(self, job, host, attempt):
        """An event follows, whatever comes of it."""
        if host not in self.hosts.all:
            self.tell("host %r is not among those of gridplan.json: refused" % host)
            return
        self.attempts[job.task["id"]] = attempt
        try:
            job.launch(self.template, host, attempt)
        except OSError as error:
            self.tell("job %s does not start: %s" % (job.task["id"], error))
            self.ended.put((job.number, 127, 0.001))
            self.forget(job, new_event("failed", job.task["id"], attempt, exit_code=127))
            return
        self.progress_s = time.monotonic()
        self.events.append(new_event("started", job.task["id"], attempt, resource_id=host,
                                     observed_at=job.started_s))
        self.changed = True

    def poll(self):
        for job in list(self.jobs.values()):
            code = job.child.poll() if job.child else None
            if code is None:
                if job.child and job.killed:
                    job.stop(time.monotonic())
                continue
            wall_s = max(0.001, time.time() - job.started_s)
            name = job.task["id"]
            if job.killed:
                self.forget(job, new_event("cancelled", name, job.attempt))
                continue
            self.ended.put((job.number, code, wall_s))
            if code == 0:
                self.done[job.store_id] = self.done.get(job.store_id, 0) + 1
                event = new_event("ended", name, job.attempt, run_time_s=wall_s)
            else:
                event = new_event("failed", name, job.attempt, exit_code=min(255, abs(code)))
            self.forget(job, event)

    def waiting(self):
        return [job for job in self.jobs.values() if not job.child]

    # with the service

    def sync(self):
        """Tasks and events that it has not, and what may start. Raises what call raises. The
        lock is not held while it answers."""
        with self.lock:
            tasks = [dict(t, replace=True) for t in self.untold.values()]
            names = list(self.untold)
            waiting = sorted({job.task["id"] for job in self.waiting()})
            events = self.events[self.confirmed:self.confirmed + self.EVENTS_AT_ONCE]
            everything = [dict(t, replace=True) for t in self.tasks.values()]
        if not self.defined:
            self.service.call("PUT", self.path(), {
                "workflow": {"tasks": []}, "application_id": self.application,
                "snapshot_id": self.snapshot})
            if everything:
                self.service.call("POST", self.path("/tasks"), everything)
            self.defined = True
            self.refresh()
        if tasks:
            self.service.call("POST", self.path("/tasks"), tasks)
        answer = self.service.call("POST", self.path("/starts"), {
            "holder": "%s:%d" % (os.uname().nodename[:150], os.getpid()),
            "hold_s": self.HOLD_S, "resource_ids": list(self.hosts.all), "queue_depth": 0,
            "candidate_task_ids": waiting, "events": events})
        with self.lock:
            self.confirmed += len(events)
            for task in tasks:
                self.tasks[task["id"]] = {k: v for k, v in task.items() if k != "replace"}
            for name in names:
                if self.untold.get(name) == self.tasks.get(name):
                    del self.untold[name]
            for mistake in (answer.get("events") or {}).get("errors") or []:
                self.tell("an event is refused: %s" % json.dumps(mistake))
            by_task = {job.task["id"]: job for job in reversed(self.waiting())}
            for row in answer["start"]:
                job = by_task.get(row["task_id"])
                if job and not job.child:
                    self.start_job(job, row["resource_id"], row["attempt"])
            self.unstartable = {row["task_id"] for row in answer["not_startable"]}
            self.changed = self.confirmed < len(self.events) or bool(self.untold)

    def refresh(self):
        resources, shared = hosts_of_snapshot(self.service.call(
            "GET", "/v1/snapshots/" + urllib.parse.quote(self.snapshot, safe="")))
        self.hosts.refresh(resources)
        self.hosts.shared = set(shared)

    def try_sync(self):
        self.asked_s = time.monotonic()
        try:
            self.sync()
            self.backoff.worked()
        except Refused as refused:
            if refused.status in (404, 410):  # once more, from the first event on
                self.defined, self.confirmed = False, 0
                if refused.status == 410:
                    self.session += "+"
            else:
                self.tell("the service refuses: %s" % refused)
            self.backoff.failed(time.monotonic())
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.tell("no answer, jobs start without it: %s" % error)
            self.backoff.failed(time.monotonic())

    # without it

    def greedy(self, jobs):
        """In order of issue on the fastest host with room."""
        taken = {}
        for job in self.jobs.values():
            if job.child:
                taken.setdefault(job.host, []).append(job.task)
        for job in jobs:
            host = self.hosts.fastest(job.task, taken)
            if host:
                taken.setdefault(host, []).append(job.task)
                self.start_job(job, host, 1 + self.attempts.get(job.task["id"], 0))

    # the run

    def down(self):
        return not self.service or not self.backoff.may_try(time.monotonic())

    def step(self):
        with self.lock:
            self.poll()
            waiting = bool(self.waiting())
        now_s = time.monotonic()
        if (self.changed or (waiting and now_s >= self.asked_s + 1)) and not self.down():
            self.try_sync()
        with self.lock:
            waiting = self.waiting()
            if not waiting:
                self.progress_s = now_s
            idle = (now_s > self.progress_s + self.IDLE_S and
                    not any(job.child for job in self.jobs.values()))
            if idle and waiting:
                self.tell("nothing was started for %d s: jobs start without it" % self.IDLE_S)
            down = self.down()
            self.greedy([job for job in waiting
                         if down or idle or job.task["id"] in self.unstartable])

    def run(self):
        while True:
            try:
                self.step()
            except Exception as error:  # a flow must not stand still for this thread
                self.tell("%s: %s" % (type(error).__name__, error))
            if self.ending and not self.jobs:
                if self.service and self.confirmed < len(self.events) and not self.down():
                    self.try_sync()
                return
            time.sleep(self.STEP_S)

    def finish(self):
        """What runs is killed."""
        self.kill(list(self.jobs))
        self.ending = True
        if self.is_alive():
            self.join(15)


class GridplanBatchSystem(BatchSystemSupport):
    """Toil's view: jobs are issued, and end."""

    @classmethod
    def supportsAutoDeployment(cls):
        return False

    @classmethod
    def supportsWorkerCleanup(cls):
        return True

    def __init__(self, config, maxCores, maxMemory, maxDisk):
        super().__init__(config, maxCores, maxMemory, maxDisk)
        found = settings()
        if not found["resources"]:
            raise ValueError("gridplan has no hosts: gridplan_toil.py init --url URL "
                             "--snapshot NAME writes them beside %s" % __file__)
        self.number = 0
        self.scheduler = Scheduler(found, launch_template(), config.workflowID)
        self.scheduler.start()

    def setUserScript(self, userScript):
        raise NotImplementedError("hosts must see the flow themselves")

    def check_resource_request(self, requirer):
        super().check_resource_request(requirer)
        if not self.scheduler.hosts.fits_some(amounts_of(requirer)):
            for name, requested, kind in (("cores", requirer.cores, "cpus"),
                                          ("memory", requirer.memory, "memory_bytes"),
                                          ("disk", requirer.disk, "disk_bytes")):
                most = max(h.get(kind) if h.get(kind) is not None else float("inf")
                           for h in self.scheduler.hosts.all.values())
                if requested > most:
                    raise InsufficientSystemResources(requirer, name, most)
            raise InsufficientSystemResources(requirer, "cores", details=[
                "No single host of gridplan.json has room for all of it."])

    def issueBatchJob(self, jobDesc, job_environment=None):
        self.check_resource_request(jobDesc)
        variables = {k: os.environ[k] for k in KEPT_VARIABLES if k in os.environ}
        variables.update(self.environment)
        variables.update(job_environment or {})
        self.number += 1
        task = dict(amounts_of(jobDesc), **{"class": str(jobDesc.jobName)[:200]})
        self.scheduler.issue(self.number, str(jobDesc.jobStoreID), task,
                             with_environment(jobDesc.command, variables))
        return self.number

    def killBatchJobs(self, jobIDs):
        self.scheduler.kill(jobIDs)

    def getIssuedBatchJobIDs(self):
        return list(self.scheduler.jobs)

    def getRunningBatchJobIDs(self):
        return self.scheduler.running()

    def getUpdatedBatchJob(self, maxWait):
        try:
            number, code, wall_s = self.scheduler.ended.get(timeout=maxWait)
        except queue.Empty:
            return None
        reason = BatchJobExitReason.FINISHED if code == 0 else BatchJobExitReason.FAILED
        return UpdatedBatchJobInfo(jobID=number, exitStatus=code, exitReason=reason,
                                   wallTime=wall_s)

    def getSchedulingStatusMessage(self):
        return "; ".join(sorted(self.scheduler.told)) or None

    def shutdown(self):
        self.scheduler.finish()


def amounts_of(requirer):
    return {"cpus": requirer.cores, "memory_bytes": requirer.memory,
            "disk_bytes": requirer.disk}


def factory():
    return GridplanBatchSystem


if addBatchSystemFactory:
    addBatchSystemFactory("gridplan", factory)


# ---- init ----

RUNNER = """#!/bin/sh
# Toil's runner of CWL with the batch system of gridplan.
PYTHONPATH=%s${PYTHONPATH:+:$PYTHONPATH} exec %s -B %s cwl-runner "$@"
"""


def init(arguments):
    key_file = arguments.key_file or os.environ.get("GRIDPLAN_KEY_FILE")
    key_file = os.path.abspath(key_file) if key_file else None
    url = arguments.url or os.environ.get("GRIDPLAN_URL")
    resources, shared = hosts_of_snapshot(Service(url, key_file, 10).call(
        "GET", "/v1/snapshots/" + urllib.parse.quote(arguments.snapshot, safe="")))
    Hosts(resources)  # refuses a name that would be an option
    if not resources:
        raise ValueError("snapshot %s has no hosts" % arguments.snapshot)
    stored = {"url": url, "snapshot": arguments.snapshot, "key_file": key_file,
              "application": arguments.application or "toil", "resources": resources,
              "shared": shared}
    path = os.path.join(folder(), "gridplan.json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(json.dumps(stored, indent=1) + "\n")
    os.rename(path + ".tmp", path)
    runner = os.path.join(folder(), "gridplan-toil-cwl-runner")
    with open(runner, "w", encoding="utf-8") as file:
        file.write(RUNNER % tuple(map(shlex.quote, (folder(), sys.executable,
                                                    os.path.abspath(__file__)))))
    os.chmod(runner, 0o755)
    print("%d hosts; run: PYTHONPATH=%s python3 flow.py STORE --batchSystem gridplan"
          % (len(resources), folder()))
    return 0


def cwl_runner(arguments):
    from toil.cwl import cwltoil
    return cwltoil.main(["--batchSystem", "gridplan"] + arguments.words)


# ---- tail: messages of another batch system ----


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")


class Bus:
    """From lines of --writeMessages to tasks and events of a session."""

    def __init__(self):
        self.tasks, self.issued, self.finished = {}, {}, {}
        self.new_tasks, self.new_events, self.skipped = [], [], 0

    def take(self, line):
        words = line.rstrip("\n").split("\t")
        kind = words[0].rpartition(".")[2].replace("Message", "")
        try:
            fields = [unescape(x) for x in words[1:]]
            if kind == "JobIssued":
                self.issue(fields[0], fields[1])
            elif kind == "JobCompleted":
                self.end(fields[0], fields[1], int(fields[2]))
            elif kind == "JobFailed":
                self.end(fields[0], fields[1], 1)
        except (IndexError, ValueError):
            self.skipped += 1

    def issue(self, job_class, name):
        self.issued[name] = self.issued.get(name, 0) + 1
        if name not in self.tasks:
            self.tasks[name] = {"id": name[-200:], "class": job_class[:200],
                                "attempts_max": 100}
            self.new_tasks.append(self.tasks[name])

    def end(self, job_class, name, code):
        """The issue that it is about is the oldest that has not ended. What ended before it
        was seen to be issued (the file is cut) counts as issued."""
        if self.finished.get(name, 0) >= self.issued.get(name, 0):
            self.issue(job_class, name)
        attempt = self.finished[name] = self.finished.get(name, 0) + 1
        more = {} if code == 0 else {"exit_code": min(255, abs(code))}
        event = new_event("failed" if code else "ended", name[-200:], attempt, **more)
        self.new_events.append(event)


def tail(arguments):
    found = settings()
    service = Service(arguments.url or found["url"], arguments.key_file or found["key_file"], 10)
    snapshot = arguments.snapshot or found["snapshot"]
    if not snapshot:
        raise ValueError("a session needs hosts: --snapshot NAME")
    session = arguments.session or "toil:bus:" + uuid.uuid4().hex
    path = "/v1/workflow-sessions/" + session
    service.call("PUT", path, {"workflow": {"tasks": []}, "snapshot_id": snapshot,
                               "application_id": arguments.application})
    print("session " + session, flush=True)
    bus, backoff = Bus(), Backoff()
    with open(arguments.file, encoding="latin-1") as file:
        rest = ""
        while True:
            text = file.read(1 << 20)
            rest += text
            lines = rest.split("\n")
            rest = lines.pop()
            for line in lines:
                bus.take(line)
            if backoff.may_try(time.monotonic()):
                try:
                    send(service, path, bus)
                    backoff.worked()
                except OSError as error:
                    print("gridplan: not sent yet: %s" % error, file=sys.stderr)
                    backoff.failed(time.monotonic())
            if not text:
                sent = not bus.new_tasks and not bus.new_events
                if arguments.once and sent:
                    break
                time.sleep(0.5)
    if bus.skipped:
        print("%d lines could not be read" % bus.skipped)
    print("%d jobs, %d ends" % (len(bus.tasks), sum(bus.finished.values())))
    return 0


def send(service, path, bus):
    for rows, rest in ((bus.new_tasks, "/tasks"), (bus.new_events, "/events")):
        while rows:
            service.call("POST", path + rest, rows[:1000])
            del rows[:1000]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, run, text in (("init", init, "write the hosts beside this file"),
                            ("tail", tail, "tell gridplan what another batch system does")):
        sub = commands.add_parser(name, help=text)
        sub.add_argument("--url", help="of gridplan; default GRIDPLAN_URL")
        sub.add_argument("--key-file", help="file with the key, mode 0600; only its path is kept")
        sub.add_argument("--snapshot", required=name == "init", help="name of the stored hosts")
        sub.add_argument("--application", required=name == "tail", help="its name")
        sub.set_defaults(run=run)
    sub.add_argument("file", help="what --writeMessages names")
    sub.add_argument("--session", help="id of the session; default: a new one")
    sub.add_argument("--once", action="store_true", help="end with the file")
    commands.add_parser("cwl-runner", help="toil-cwl-runner with this batch system")
    words = sys.argv[1:] if argv is None else list(argv)
    # Whatever follows is toil-cwl-runner's; argparse would take its first option for one of ours.
    arguments = (argparse.Namespace(run=cwl_runner, words=words[1:])
                 if words[:1] == ["cwl-runner"] else parser.parse_args(words))
    try:
        return arguments.run(arguments)
    except (Refused, OSError, ValueError) as error:
        print("gridplan: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
