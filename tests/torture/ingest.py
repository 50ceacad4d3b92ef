"""ingest.py - writers of histories under Idempotency-Keys for the torture commands, and the
checker of what they were told: acknowledged and not there once is broken, as is there more
than once."""
import collections
import json
import os
import shutil
import tempfile
import threading
import time

import rig

ROWS = 20
NOW = int(time.time())
HISTORIES = { # path: table, column of the name, a row of a name
    "/v1/load-samples": ("load_sample", "resource_id", lambda name: {
        "resource_id": name, "observed_at": NOW, "cpu_available_ratio": 0.5}),
    "/v1/failures": ("failure", "resource_id", lambda name: {
        "resource_id": name, "down_at": NOW - 60, "up_at": NOW}),
    "/v1/executions": ("execution", "execution_id", lambda name: {
        "execution_id": name, "application_id": "a", "started_at": NOW, "run_time_s": 10}),
    "/v1/checkpoint-logs": ("checkpoint_log", "job_id", lambda name: {
        "job_id": name, "application_id": "a", "requested_at": NOW, "action": "take"}),
    "/v1/site-errors": ("site_error", "site_id", lambda name: {
        "site_id": name, "observed_at": NOW, "message": "lost"}),
}


class Log:
    """What a writer has sent, and what was acknowledged: on disk before it goes on."""

    def __init__(self, folder, number):
        self.file = open(os.path.join(folder, f"writer-{number}.log"), "a",
                         encoding="utf-8")

    def write(self, event, **more):
        self.file.write(json.dumps({"event": event, "t": time.time(), **more}) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())


def read_logs(folder):
    """The names that were sent and those that were acknowledged, by table."""
    sent, acknowledged = collections.defaultdict(set), collections.defaultdict(set)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                to = sent if entry["event"] == "sent" else acknowledged
                if entry["event"] in ("sent", "acknowledged"):
                    to[entry["table"]].update(entry["names"])
    return sent, acknowledged


def judge(sent, acknowledged, present):
    """What is broken: `present` has (name, count) of each table."""
    broken = []
    for table in sorted(set(sent) | set(present)):
        rows = dict(present.get(table, []))
        lost = [n for n in sorted(acknowledged[table]) if n not in rows]
        twice = [n for n, count in sorted(rows.items()) if int(count) != 1]
        foreign = [n for n in sorted(rows) if n not in sent[table]]
        for what, names in (("acknowledged rows are missing", lost),
                            ("rows are there more than once", twice),
                            ("rows were never sent", foreign)):
            if names:
                broken.append(f"{table}: {len(names)} {what}, as {names[0]}")
    return broken


class Ingest:
    """Writers that send bodies of ROWS rows, each until it is answered 2xx."""

    def __init__(self, random, replicas, folder, prefix):
        self.random, self.replicas = random, replicas
        self.folder, self.prefix = folder, prefix
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.posts = self.acknowledged = 0
        self.times = [] # of acknowledgements, monotonic
        self.over = threading.Event()
        self.broken = []
        self.threads = []

    def begin(self, writers):
        self.threads = [threading.Thread(target=self.writer, args=(w,))
                        for w in range(writers)]
        for thread in self.threads:
            thread.start()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def writer(self, number):
        log = Log(self.folder, number)
        count = 0
        while not self.over.is_set() and not self.broken:
            count += 1
            with self.lock:
                path = self.random.choice(list(HISTORIES))
            self.store(log, path, f"{self.prefix}-{number}-{count}")

    def store(self, log, path, key):
        table, _, row = HISTORIES[path]
        names = [f"{key}-{i}" for i in range(ROWS)]
        body = "\n".join(json.dumps(row(n)) for n in names)
        log.write("sent", key=key, table=table, names=names)
        with self.lock:
            self.posts += 1
        while not self.over.is_set():
            with self.lock:
                replica = self.random.choice(self.replicas)
            status, answer, headers = replica.call(
                "POST", path, body, {"Content-Type": "application/x-ndjson",
                                     "Idempotency-Key": key}, timeout=30)
            log.write("answered", key=key, status=status)
            with self.lock:
                self.statuses[status] += 1
            if status in (200, 201):
                log.write("acknowledged", key=key, table=table, names=names)
                with self.lock:
                    self.acknowledged += ROWS
                    self.times.append(time.monotonic())
                    if json.loads(answer)["refused"]:
                        self.broken.append(f"{path}: {answer[:300]!r}")
                return
            if status == 503 and "Retry-After" not in headers:
                with self.lock:
                    self.broken.append(f"{path}: a 503 without Retry-After")
            if status not in (0, 409, 503):
                with self.lock:
                    self.broken.append(f"{path}: {status} {answer[:300]!r}")
                return
            time.sleep(0.05)


def is_ready(replica, key):
    """Says so, and stores."""
    _, _, row = HISTORIES["/v1/site-errors"]
    return (replica.call("GET", "/readyz", timeout=5)[0] == 200 and
            replica.call("POST", "/v1/transfers", json.dumps(
                {"from_site_id": key, "to_site_id": "b", "bytes": 1, "estimated_s": 1,
                 "actual_s": 1, "finished_at": NOW}),
                {"Content-Type": "application/json"}, timeout=5)[0] in (200, 201))


def wait_until_ready(replicas, key, begin, limit_s):
    """Until all replicas are; the seconds since `begin`, monotonic. Raises after limit_s."""
    for replica in replicas:
        while not is_ready(replica, key):
            if time.monotonic() > begin + limit_s:
                raise rig.Broken(f"port {replica.port} is not ready after {limit_s:.0f} s")
            time.sleep(0.02)
    return time.monotonic() - begin


def check(ingest, url, prefix=""):
    """Adds what is broken to ingest.broken; numbers of rows for the record. `prefix`: of
    the names that count, where others wrote before."""
    sent, acknowledged = read_logs(ingest.folder)
    present = {table: rig.sql(url, f"SELECT {name}, count(*) FROM {table}"
                                   f" WHERE starts_with({name}, '{prefix}') GROUP BY 1")
               for table, name, _ in HISTORIES.values()}
    ingest.broken += judge(sent, acknowledged, present)
    return {"posts": ingest.posts,
            "rows_sent": sum(len(n) for n in sent.values()),
            "rows_acknowledged": sum(len(n) for n in acknowledged.values()),
            "rows_present": sum(len(rows) for rows in present.values()),
            "statuses": {str(k): n for k, n in sorted(ingest.statuses.items())}}


def figures(outages):
    return {what: {"kills": len(found), "median_s": round(sorted(found)[len(found) // 2], 2),
                   "max_s": round(max(found), 2)}
            for what, found in outages.items() if found}


def self_test():
    """The checker must be able to fail."""
    folder = tempfile.mkdtemp(prefix="gridplan-ingest.")
    log = Log(folder, 0)
    log.write("sent", key="k", table="failure", names=["a", "b", "c"])
    log.write("acknowledged", key="k", table="failure", names=["a", "b"])
    log.write("sent", key="l", table="transfer", names=["d"])
    found = read_logs(folder)
    shutil.rmtree(folder)
    cases = [
        ([["a", "1"], ["b", "1"]], 0), # c was not acknowledged: it may be missing
        ([["a", "1"], ["b", "1"], ["c", "1"]], 0), # or there
        ([["a", "1"]], 1), # b is lost
        ([], 1),
        ([["a", "1"], ["b", "2"]], 1), # b is doubled
        ([["a", "1"], ["b", "1"], ["c", "2"]], 1), # not acknowledged, but doubled
        ([["a", "1"], ["b", "1"], ["x", "1"]], 1), # from nowhere
        ([["b", "2"]], 2),
    ]
    for rows, wanted in cases:
        broken = judge(*found, {"failure": rows})
        if len(broken) != wanted:
            print(f"self-test: {rows}: {broken}, not {wanted}")
            return 1
    print("self-test: the checker finds what is broken")
    return 0
