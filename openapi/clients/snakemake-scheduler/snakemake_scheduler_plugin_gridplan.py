"""Scheduler plugin of Snakemake: gridplan picks which of the ready jobs start now.

    pip install ./snakemake-scheduler
    snakemake --scheduler gridplan --scheduler-gridplan-url http://gridplan:8080 ...

Jobs that ask for the same and are as far from the end are sent as one row, so that hundreds
of thousands of ready jobs are a few kilobytes. Whatever goes wrong - no service, no answer
within timeout_ms, an answer that does not fit - Snakemake's own greedy scheduler takes over,
and the service is asked again ten seconds later.
"""

import http.client
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Optional

from snakemake_interface_scheduler_plugins.base import SchedulerBase
from snakemake_interface_scheduler_plugins.settings import SchedulerSettingsBase


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


AGAIN_AFTER_S = 10
UNLIMITED = 2 ** 53    # from here on a resource is not limited
AMOUNT_MAX = 1e9       # of a named amount
RANKS = 64             # buckets of ranks


@dataclass
class SchedulerSettings(SchedulerSettingsBase):
    url: Optional[str] = field(
        default=None, metadata={"help": "gridplan, for example http://gridplan:8080"})
    key_file: Optional[str] = field(
        default=None, metadata={"help": "File with the key, mode 0600"})
    timeout_ms: Optional[int] = field(
        default=None, metadata={"help": "Longest wait for an answer; default 500"})


def amount_of(name):
    """Name and factor of a resource in gridplan."""
    known = {"_cores": ("cpus", 1), "mem_mb": ("memory_bytes", 10 ** 6),
             "disk_mb": ("disk_bytes", 10 ** 6)}
    if name in known:
        return known[name]
    plain = re.sub(r"[^A-Za-z0-9_.:/-]", "-", name)[:60]
    return ("r" + plain if not plain[:1].isalpha() else plain), 1


def numbers(resources):
    """Those that are numbers and limited."""
    return {k: v for k, v in resources.items()
            if isinstance(v, (int, float)) and not isinstance(v, bool) and v < UNLIMITED}


class Capacities:
    """What is available, as gridplan has it; large amounts are scaled."""

    def __init__(self, available):
        self.available = numbers(available)
        self.scale, self.request = {}, {}
        for name, value in sorted(self.available.items()):
            amount, factor = amount_of(name)
            if amount in ("cpus", "memory_bytes", "disk_bytes"):
                self.request[amount] = max(0, value) * factor
            else:
                factor = min(1.0, AMOUNT_MAX / value) if value > 0 else 1.0
                self.request[amount] = max(0, value) * factor
            self.scale[name] = (amount, factor)

    def job(self, resources):
        """Members of a job that asks for these; what is not limited is left out."""
        job, needs = {}, {}
        for name, value in numbers(resources).items():
            if name not in self.scale or value <= 0:
                continue
            amount, factor = self.scale[name]
            if amount in ("cpus", "memory_bytes", "disk_bytes"):
                job[amount] = value * factor
            else:
                needs[amount] = value * factor
        job.setdefault("cpus", 1e-6)  # next to none
        if needs:
            job["needs"] = needs
        return job

    def fits(self, jobs):
        left = dict(self.available)
        for job in jobs:
            for name, value in numbers(job.scheduler_resources).items():
                if name in left:
                    left[name] -= value
        return all(value >= 0 for value in left.values())


def class_of(job):
    """What jobs of one kind have in common: Snakemake does not say their rule."""
    outputs = [str(x) for x in getattr(job, "output", None) or []]
    first = outputs[0] if outputs else ""
    return os.path.dirname(first), os.path.splitext(first)[1]


class Scheduler(SchedulerBase):
    def __init__(self, dag, settings, logger):
        self.ranks, self.retry_at = {}, 0.0
        self.service, self.timeout_s = None, 0.5
        super().__init__(dag, settings, logger)
        self.dag, self.logger = dag, logger
        url = getattr(settings, "url", None) or os.environ.get("GRIDPLAN_URL")
        key_file = (getattr(settings, "key_file", None)
                    or os.environ.get("GRIDPLAN_KEY_FILE"))
        if getattr(settings, "timeout_ms", None):
            self.timeout_s = settings.timeout_ms / 1000
        if url:
            self.service = Service(url, key_file, self.timeout_s)

    def __post_init__(self):
        pass

    def dag_updated(self):
        self.ranks = {}

    # ---- how far a job is from the end ----

    def find_ranks(self):
        """Jobs on the longest way from each to the end, itself included."""
        jobs = list(self.dag.needrun_jobs())
        needed = set(jobs)
        waiting, children = {}, {}
        for job in jobs:
            waiting.setdefault(job, 0)
            for parent in self.dag.job_dependencies(job):
                if parent in needed:
                    children.setdefault(parent, []).append(job)
        parents = {job: [] for job in jobs}
        for parent, list_ in children.items():
            waiting[parent] = len(list_)
            for child in list_:
                parents[child].append(parent)
        ranks = {job: 1 for job in jobs}
        ready = [job for job in jobs if not waiting[job]]
        while ready:
            job = ready.pop()
            for parent in parents[job]:
                ranks[parent] = max(ranks[parent], ranks[job] + 1)
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(parent)
        return ranks

    def rank(self, job):
        if not self.ranks:
            self.ranks = self.find_ranks()
        return self.ranks.get(job, 1)

    # ---- the question ----

    def rows(self, jobs, capacities):
        """Rows of the request, and the jobs behind each."""
        most = max([self.rank(job) for job in jobs] or [1])
        groups = {}
        for job in jobs:
            asks = tuple(sorted(numbers(job.scheduler_resources).items()))
            rank = self.rank(job) if most <= RANKS else -(-self.rank(job) * RANKS // most)
            key = (class_of(job), getattr(job, "priority", 0) or 0, asks, rank)
            groups.setdefault(key, []).append(job)
        rows, members = [], []
        for (_, priority, asks, rank), list_ in groups.items():
            row = capacities.job(dict(asks))
            row.update(id=str(len(rows)), count=len(list_), priority=priority, weight=rank)
            rows.append(row)
            members.append(list_)
        return rows, members

    def ask(self, body):
        """The answer within the time limit, else an exception."""
        found = []

        def call():
            try:
                found.append(self.service.call("POST", "/v1/selections", body))
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(self.timeout_s)
        if not found:
            raise TimeoutError("no answer within %g s" % self.timeout_s)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    def select(self, jobs, available):
        capacities = Capacities(available)
        rows, members = self.rows(jobs, capacities)
        answer = self.ask({"capacities": capacities.request, "jobs": rows,
                           "time_limit_s": max(0.01, self.timeout_s / 2)})
        selected = []
        for row in answer["selected"]:
            list_ = members[int(row["job_id"])]
            count = int(row["count"])
            if count > len(list_):
                raise ValueError("more jobs are selected than there are")
            selected += list_[:count]
        if not capacities.fits(selected):
            raise ValueError("what is selected does not fit")
        return set(selected)

    def select_jobs(self, selectable_jobs, remaining_jobs, available_resources, input_sizes):
        """A set of jobs, or None: Snakemake's own scheduler takes over."""
        try:
            jobs = list(selectable_jobs)
            if not jobs:
                return set()
            if not self.service or time.monotonic() < self.retry_at:
                return None
            return self.select(jobs, available_resources)
        except Exception as error:
            self.retry_at = time.monotonic() + AGAIN_AFTER_S
            try:
                self.logger.warning("gridplan: %s; the greedy scheduler selects", error)
            except Exception:
                pass
            return None
