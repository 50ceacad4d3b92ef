#!/usr/bin/env python3
"""tests/bench/costs.py - what each policy costs at three sizes, for its page in the manual.

    tests/bench/costs.py [PROGRAM] [FAMILY ...] >openapi/docs/costs.csv

    PROGRAM    default: build/release/gridplan
    FAMILY     only these; default: all of GET /v1/algorithms

Starts PROGRAM without a database and posts, for each policy, its example of
openapi/examples made larger: jobs, tasks, machines, samples or phases, drawn by a fixed
seed. The first row is `machine` and its processor. Others are family, policy, what is counted, how many there are, seconds of deciding
(`timings.decide_s`: without reading and printing; the best of three), and `cut` when its
limit of steps, or of 2 s, ended a search. Sizes that a policy refuses are tried smaller; a policy
that has no three sizes ends it with 1. Of policies of the simulator it is the whole
simulation. Run it on an idle machine.
"""
import copy
import json
import math
import os
import pathlib
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "openapi" / "examples"
LIMIT_S = 2
SHORT_S = 0.5  # what takes longer is not tried three times


def example(policy):
    """The smallest example of an endpoint that names the policy."""
    prefixes = {"dispatch": "simulation-dispatch", "vm": "simulation-vm"}
    prefix = prefixes.get(policy["family"], policy["family"]) + "-"
    found = [f for f in sorted(EXAMPLES.glob(prefix + "*.json"))
             if not f.name.endswith(".answer.json") and names(json.loads(f.read_text()), policy)]
    return json.loads(min(found, key=lambda f: f.stat().st_size).read_text())


def names(request, policy):
    return policy["name"] in (request.get("algorithm"), request.get("policy")) or any(
        c.get("algorithm") == policy["name"] for c in request.get("compare", []))


def renamed(part, suffix):
    """A copy of which every id has the suffix."""
    if isinstance(part, list):
        return [renamed(p, suffix) for p in part]
    if not isinstance(part, dict):
        return part
    copied = {}
    for name, value in part.items():
        if (name == "id" or name.endswith("_id")) and isinstance(value, str):
            value += suffix
        elif name.endswith("_ids"):
            value = [v + suffix for v in value]
        else:
            value = renamed(value, suffix)
        copied[name] = value
    return copied


def repeated(items, count):
    """count items: the list again and again, with other ids each time."""
    return [renamed(items[i % len(items)], f"-{i // len(items)}") for i in range(count)]


def place(parts, path):
    for name in path[:-1]:
        parts = parts[name]
    return parts, path[-1]


def grow(*paths):
    """The example again and again: the first list as long as wanted, the others whole."""
    def grown(request, size):
        parts, name = place(request, paths[0])
        times = math.ceil(size / len(parts[name]))
        for path in paths:
            parts, name = place(request, path)
            parts[name] = repeated(parts[name], times * len(parts[name]))
        parts, name = place(request, paths[0])
        del parts[name][size:]
        return request
    return grown


def only(path, ids=True):
    """Makes one list so long; what it names stays as it is."""
    def grown(request, size):
        parts, name = place(request, path)
        old = parts[name]
        parts[name] = [copy.deepcopy(old[i % len(old)]) for i in range(size)]
        for i, item in enumerate(parts[name]):
            if ids:
                item["id"] = f"{item['id']}-{i}"
        return request
    return grown


def placement(request, size):
    draw = random.Random(size)
    if request["algorithm"] == "identical_optimum":
        request["snapshot"] = {"resources": [{"id": f"m{i}"} for i in range(10)]}
        request["jobs"] = [{"id": f"j{i}", "estimate_ref_s": 60} for i in range(size)]
        return request
    request["snapshot"] = {"resources": [{"id": f"m{i:03}", "mips_total": 1 + i % 4 / 2} for i in range(100)]}
    request["jobs"] = [{"id": f"j{i}", "estimate_ref_s": draw.lognormvariate(5, 1)} for i in range(size)]
    return request


def workflow(request, size):
    draw = random.Random(size)
    tasks = [{"id": f"t{i}", "estimate_ref_s": draw.uniform(10, 100),
              "depends_on": [{"task_id": f"t{p}", "transfer_s": draw.uniform(0, 5)}
                             for p in sorted({draw.randrange(max(0, i - 50), i) for _ in range(2)})] if i >= 10 else []}
             for i in range(size)]
    return {"algorithm": request["algorithm"], "workflow": {"tasks": tasks},
            "snapshot": {"resources": [{"id": f"m{i}", "mips_total": 1 + i % 4 / 2} for i in range(10)]}}


def queue(request, size):
    draw = random.Random(size)
    jobs = [{"id": f"j{i}", "submit_s": i - size, "estimate_s": draw.randrange(60, 36000)} for i in range(size)]
    if request["algorithm"] == "slurm_backfill":
        for job in jobs:
            job.update(cpus=draw.choice([1, 2, 4, 8, 16]), nodes=1, time_limit_s=job.pop("estimate_s"))
        return {"algorithm": "slurm_backfill", "now_s": 0, "jobs": jobs, "cluster": {
            "partitions": [{"id": "batch", "default": True}],
            "resources": [{"id": f"n{i}", "cpus": 16} for i in range(64)]}}
    for job in jobs:
        job["processors"] = draw.choice([1, 4, 16, 64, 256])
    running = [{"id": f"r{i}", "processors": 8, "expected_end_s": 60 + 300 * i} for i in range(100)]
    return {"algorithm": request["algorithm"], "now_s": 0, "processors": 1024, "jobs": jobs, "running": running}


def coallocation(request, size):
    for site in request["snapshot"]["sites"]:
        for name in ("processors_total", "processors_busy"):
            site[name] *= 2 * size
    return only(["jobs"])(request, size)


def machines(request, size):
    draw = random.Random(size)
    site = request["snapshot"]["sites"][0]
    request["snapshot"] = {"sites": [{"id": site["id"], "resources": [
        {"id": f"m{i}", "cpu_available_ratio": round(draw.uniform(0.2, 1), 3), "uplink_mbps": draw.randrange(20, 100)}
        for i in range(size)], "links": {"form": "uplinks"}}]}
    return request


def phases(request, size):
    job = request["jobs"][0]
    job["phases"] = size
    job["phase_models"] = [dict(copy.deepcopy(job["phase_models"][i % len(job["phase_models"])]), phase=i + 1)
                           for i in range(size)]
    return request


def components(request, size):
    job = request["job"]
    job["components"] = [dict(job["components"][0], id=f"c{i}", site_id=f"s{i}") for i in range(size)]
    request["error"]["component_id"] = "c0"
    request["site_error_counters"] = [{"site_id": f"s{i}", "consecutive_errors": 1} for i in range(size)]
    return request


def samples(request, size):
    draw = random.Random(size)
    request.pop("previous", None)
    request["samples"] = [{"elapsed_s": 100 * (i + 1), "work_done_ref_s": 100 * (i + 1), "mips_total": 1,
                           "mips_external": 0, "job_count": 1,
                           "progress_ratio": 0.9 * (i + 1) / size * draw.uniform(0.995, 1)} for i in range(size)]
    for i in range(1, size):
        request["samples"][i]["progress_ratio"] = max(request["samples"][i]["progress_ratio"],
                                                      request["samples"][i - 1]["progress_ratio"] + 1e-9)
    return request


def users(request, size):
    request["runs"] = 1
    request["workload"]["user_count"] = size
    request["workload"]["arrival_gap_s"]["mean"] = request["stop"]["time_s"] / size
    return request


def dispatched(request, size):
    request["stop"]["time_s"] = 1e6
    return only(["workload", "jobs"])(request, size)


def rounds(request, size):
    request.pop("carry_over", None)
    if "workflows" in request:
        return grow(["workflows"], ["snapshot", "resources"])(request, size * len(request["workflows"]))
    flow = request.pop("workflow")
    request["workflows"] = [renamed(dict(flow, id=flow.get("id", "w")), f"-{i}") for i in range(size)]
    request["snapshot"]["resources"] = repeated(request["snapshot"]["resources"], size * len(request["snapshot"]["resources"]))
    return request


# What is counted, at which sizes, and how the example grows. By family, or policy.
GROWTH = {
    "checkpoint": ("jobs", (100, 1000, 10000), only(["jobs"])),
    "claim": ("running jobs", (10, 100, 1000), only(["running_jobs"])),
    "coallocation": ("jobs of some components each on 5 sites", (10, 100, 1000), coallocation),
    "dispatch": ("jobs simulated on 2 machines", (10, 100, 1000), dispatched),
    "fault_tolerance": ("jobs on as many resources or half as many", (10, 100, 1000), grow(["jobs"], ["snapshot", "resources"])),
    "migration.gridway": ("running jobs on about as many resources", (10, 100, 1000), grow(["jobs"], ["snapshot", "resources"])),
    "migration.component_error": ("components", (10, 100, 1000), components),
    "migration.runner_liveness": ("jobs", (10, 100, 1000), grow(["runners"])),
    "migration.multi_phase": ("phases on 10 machines of 2 sites", (10, 20, 40), phases),
    "parallel": ("machines of one site", (10, 100, 1000), machines),
    "placement": ("jobs on 100 resources", (100, 1000, 10000), placement),
    "placement.identical_optimum": ("jobs on 10 like machines", (100, 1000, 10000), placement),
    "plan": ("phases on 10 machines of 2 sites", (10, 20, 40), phases),
    "prediction": ("samples of one task", (10, 100, 1000), samples),
    "queue": ("jobs on 1024 processors", (100, 1000, 10000), queue),
    "queue.slurm_backfill": ("jobs on 64 nodes of 16 cpus", (100, 1000, 10000), queue),
    "replication": ("jobs on about as many resources", (10, 100, 1000), grow(["jobs"], ["snapshot", "resources"])),
    "scan": ("jobs that wait", (10, 100, 1000), grow(["queues", "high"], ["queues", "low"])),
    "vm": ("users simulated on 2 hosts", (10, 100, 1000), users),
    "workflow": ("tasks on 10 resources", (100, 1000, 10000), workflow),
    "workflow_round": ("workflows as that of the example with its resources for each", (1, 10, 100), rounds),
}
SMALLER = ((8, 12, 16), (4, 6, 8))


class Service:
    def __init__(self, program):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        environment = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "GRIDPLAN_DATABASE")}
        environment.update(GRIDPLAN_PORT=str(self.port), GRIDPLAN_LOG_LEVEL="error")
        self.process = subprocess.Popen([program, "serve"], env=environment, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.call("/livez")
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("costs: the service does not start")

    def call(self, path, body=None):
        """(status, answer)"""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data,
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as e:
            return e.code, json.load(e)


def measured(service, policy, grown, size):
    """(seconds, whether it was cut), or what was wrong with it."""
    request = grown(copy.deepcopy(example(policy)), size)
    request["time_limit_s"] = LIMIT_S
    best_s, cut = None, False
    for _ in range(3):
        status, answer = service.call(policy["endpoint"], request)
        if status != 200:
            return f"{status} {answer.get('detail')} {json.dumps(answer.get('errors', [])[:2])}"
        timings = answer["timings"]
        best_s = timings["decide_s"] if best_s is None else min(best_s, timings["decide_s"])
        cut = cut or timings["cut"]
        if best_s > SHORT_S:
            break
    return best_s, cut


def rows_of(service, policy):
    own = f"{policy['family']}.{policy['name']}"
    what, sizes, grown = GROWTH.get(own) or GROWTH[policy["family"]]
    for tried in (sizes, *SMALLER):
        found = []
        for size in tried:
            got = measured(service, policy, grown, size)
            if isinstance(got, str):
                print(f"costs: {own} of {size}: {got}", file=sys.stderr)
                break
            found.append((policy["family"], policy["name"], what, size,
                          f"{got[0]:.3g}", "cut" if got[1] else ""))
        if len(found) == len(tried):
            return found
    return []


def processor():
    """What kind of processor this is, without marks and speeds."""
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return " ".join(line.split(":")[1].replace("(R)", "").split()).replace(",", ";")
    return "an unnamed processor"


def main():
    arguments = sys.argv[1:]
    program = arguments.pop(0) if arguments else str(ROOT / "build" / "release" / "gridplan")
    service = Service(program)
    missing = []
    print("machine", processor(), "", "", "", "", sep=",")
    try:
        for policy in service.call("/v1/algorithms?page_size=1000")[1]["items"]:
            if arguments and policy["family"] not in arguments:
                continue
            rows = rows_of(service, policy)
            for row in rows:
                print(*row, sep=",", flush=True)
            if not rows:
                missing.append(f"{policy['family']}.{policy['name']}")
    finally:
        service.process.terminate()
        service.process.wait()
    if missing:
        sys.exit("costs: none of " + ", ".join(missing))


main()
