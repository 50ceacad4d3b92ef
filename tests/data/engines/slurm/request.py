#!/usr/bin/env python3
"""Turns the recording of a Slurm into a request of POST /v1/queue-orders, and what that Slurm said.

    request.py RECORDING... writes requests/NAME.json for each:
      at_pass    the queue as the last backfill pass before t0 saw it, with given priorities
      at_t0      the same with priorities to be reckoned, at t0
      planned    the plans of that pass, in order; an array's tasks by its id
      tested     jobs that it tested, in order
      priorities what sprio showed; fair_shares: what sshare showed
    and for recordings to their end requests/NAME.replay.json: what was submitted when, and what became of it.
"""
import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

MIB = 1048576


def hosts(text):
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        part = part.strip(",")
        found = re.match(r"(.*)\[(.*)\]$", part)
        if not found:
            names.append(part)
            continue
        for piece in found[2].split(","):
            low, _, high = piece.partition("-")
            names += [f"{found[1]}{i}" for i in range(int(low), int(high or low) + 1)]
    return names


def records(text, key):
    """key=value records that begin with key=."""
    return [dict(p.split("=", 1) for p in re.split(r"\s+", r.strip()) if "=" in p)
            for r in re.split(rf"(?={key}=)", text) if r.startswith(key)]


def table(text):
    lines = text.strip().split("\n")
    names = lines[0].split("|")
    return [dict(zip(names, line.split("|"))) for line in lines[1:]]


def seconds(text):
    days, _, clock = text.rpartition("-")
    parts = [int(p) for p in clock.split(":")]
    if days:
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:
        parts = [0, parts[0], 0]
    while len(parts) < 3:
        parts.insert(0, 0)
    return int(days or 0) * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2]


def tres(text):
    made = {}
    for part in filter(None, (text or "").split(",")):
        name, _, value = part.partition("=")
        unit = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1048576}.get(value[-1])
        made[name] = float(value[:-1]) * unit if unit else float(value)
    return made


def cluster_of(folder):
    conf = (folder / "slurm.conf").read_text()
    settings = dict(re.findall(r"^(\w+)=(.*)$", conf, re.M))
    params = dict((p.partition("=")[::2]) for p in settings["SchedulerParameters"].split(","))
    weights = tres(settings["PriorityWeightTRES"])
    flags = settings.get("PriorityFlags", "")
    nodes, partitions = [], []
    for r in records(conf, "NodeName"):
        for name in hosts(r["NodeName"]):
            gpus = int(r.get("Gres", "gpu:0").split(":")[1])
            nodes.append({"id": name, "cpus": int(r["CPUs"]), "memory_bytes": int(r["RealMemory"]) * MIB,
                          "weight": int(r["Weight"]), "features": r["Feature"].split(","),
                          **({"capacities": {"gpus": gpus}} if gpus else {})})
    for r in records(conf, "PartitionName"):
        partitions.append({
            "id": r["PartitionName"], "resource_ids": hosts(r["Nodes"]),
            "default": r.get("Default") == "YES", "priority_tier": int(r["PriorityTier"]),
            "priority_factor": int(r["PriorityJobFactor"]), "time_limit_max_s": seconds(r["MaxTime"]),
            "time_limit_default_s": seconds(r["DefaultTime"]),
            "memory_per_cpu_default_bytes": int(settings["DefMemPerCPU"]) * MIB,
            **({"nodes_per_job_max": int(r["MaxNodes"])} if "MaxNodes" in r else {})})
    priority = {"weight_age": int(settings["PriorityWeightAge"]),
                "weight_fair_share": int(settings["PriorityWeightFairshare"]),
                "weight_job_size": int(settings["PriorityWeightJobSize"]),
                "weight_partition": int(settings["PriorityWeightPartition"]),
                "weight_qos": int(settings["PriorityWeightQOS"]),
                "weight_tres": {"cpus": weights["CPU"], "memory_bytes": weights["Mem"], "gpus": weights["GRES/gpu"]},
                "max_age_s": seconds(settings["PriorityMaxAge"]),
                "favor_small": settings["PriorityFavorSmall"] == "YES",
                "small_relative_to_time": "SMALL_RELATIVE_TO_TIME" in flags,
                "fair_share": "classic" if "NO_FAIR_TREE" in flags else "fair_tree"}
    policy = {"bf_interval_s": int(params["bf_interval"]), "bf_resolution_s": int(params["bf_resolution"]),
              "bf_window_s": int(params["bf_window"]) * 60, "bf_max_job_test": int(params["bf_max_job_test"]),
              "bf_licenses": "bf_licenses" in params, "preempt_type": "qos", "preempt_mode": "requeue",
              "bf_max_job_user": int(params.get("bf_max_job_user", 0)), "priority": priority}
    return {"resources": nodes, "partitions": partitions, "policy_settings": policy,
            "shared_capacities": {"licence." + p.split(":")[0]: int(p.split(":")[1])
                                  for p in settings["Licenses"].split(",")}}


def add_accounts(folder, cluster, shares):
    cluster["qos"] = []
    for r in table((folder / "t0/sacctmgr_qos.txt").read_text()):
        limits = {"jobs_running_per_user_max": int(r["MaxJobsPU"])} if r["MaxJobsPU"] else None
        cluster["qos"].append({"id": r["Name"], "priority": int(r["Priority"]),
                               "preempts": list(filter(None, r["Preempt"].split(","))),
                               **({"limits": limits} if limits else {})})
    max_jobs = {(r["Account"], r["User"]): r["MaxJobs"] for r in
                table((folder / "t0/sacctmgr_assoc.txt").read_text()) if r["MaxJobs"]
                and r["Cluster"] == re.search(r"ClusterName=(\w+)", (folder / "slurm.conf").read_text())[1]}
    cluster["accounts"] = []
    for r in table((folder / "t0/sshare.txt").read_text()):
        account, user = r["Account"].strip(), r["User"]
        if account == "root" and not user:
            continue
        row = {"id": f"{account}/{user}" if user else account, "shares": int(r["RawShares"]),
               "usage_s": float(r["NormUsage"]) * 1e6}
        if user:
            row["user_id"] = user
            shares[user] = float(r["FairShare"])
            if account != "root":
                row["parent_id"] = account
        if (account, user) in max_jobs:
            row["limits"] = {"jobs_running_max": int(max_jobs[account, user])}
        cluster["accounts"].append(row)


def licences(text):
    return {"licence." + p.partition(":")[0]: int(p.partition(":")[2] or 1) for p in filter(None, text.split(","))}


def owner(j):
    return {"user": j["user_name"], "account_id": j["account"], "qos_id": j["qos"]}


def add_running(j, to, now_s):
    allocated = tres(j["tres_alloc_str"])
    count = j["job_resources"]["allocated_hosts"]
    for node in j["job_resources"]["allocated_nodes"]:
        cores = sum(c.startswith("allocated") for s in node["sockets"].values() for c in s["cores"].values())
        needs = licences(j["licenses"])
        if allocated.get("gres/gpu"):
            needs["gpus"] = allocated["gres/gpu"] / count
        to.append({"id": str(j["job_id"]), "resource_ids": [node["nodename"]], "cpus": cores,
                   "memory_bytes": node["memory_allocated"] * MIB, "needs": needs,
                   "exclusive": j["shared"] == "none", "partition_id": j["partition"], **owner(j),
                   "expected_end_s": j["start_time"] + 60 * j["time_limit"], "elapsed_s": max(0, now_s - j["start_time"]),
                   **({"array_id": str(j["array_job_id"])} if j["array_job_id"] else {})})


def waiting(j, asked):
    job = {"id": str(j["job_id"]), "partition_ids": j["partition"].split(","), **owner(j),
           "submit_s": j["submit_time"], "time_limit_s": 60 * j["time_limit"], "priority": j["priority"],
           "eligible_s": j["accrue_time"] or j["eligible_time"] or j["submit_time"], "nice": j["nice"] or 0}
    wanted = tres(j["tres_req_str"])
    if not j["max_nodes"] and not j["tasks_per_node"] and j["tasks"] > 1:
        job.update(tasks=j["tasks"], cpus_per_task=j["cpus_per_task"] or 1)
        nodes = 1
    else:
        nodes = int(wanted.get("node") or j["node_count"])
        job.update(nodes=nodes, cpus=-(-int(wanted["cpu"]) // nodes))
        if j["max_nodes"] > nodes:
            job["nodes_max"] = j["max_nodes"]
    if j["memory_per_node"]:
        job["memory_bytes"] = j["memory_per_node"] * MIB
    elif j["memory_per_cpu"]:
        job["memory_per_cpu_bytes"] = j["memory_per_cpu"] * MIB
    needs = licences(j["licenses"])
    if wanted.get("gres/gpu"):
        needs["gpus"] = wanted["gres/gpu"] / nodes
    if needs:
        job["needs"] = needs
    if j["shared"] == "none":
        job["exclusive"] = True
    if j["features"]:
        job["features"] = j["features"]
    for name, key in (("resource_ids_required", "required_nodes"), ("resource_ids_excluded", "excluded_nodes")):
        if j[key]:
            job[name] = hosts(j[key])
    if j["time_minimum"]:
        job["time_limit_min_s"] = 60 * j["time_minimum"]
    if j["state_reason"].startswith("JobHeld"):
        job["held"] = True
    if j["eligible_time"] > asked:
        job["begin_s"] = j["eligible_time"]
    after = []
    for part in re.split(r"[,?]", re.sub(r"\([^)]*\)", "", j["dependency"])):
        kind, *ids = part.split(":")
        if kind == "singleton":
            job["singleton"] = True
        kind = {"afterok": "ok", "afterany": "any", "after": "start", "afternotok": "notok", "aftercorr": "corr"}.get(kind)
        after += [{"job_id": re.sub(r"_\*$", "", i).partition("+")[0], "kind": kind} for i in ids if kind]
    if after:
        job["after"] = after
        if "?" in j["dependency"]:
            job["after_mode"] = "any"
    if j["array_job_id"]:
        text, _, most = j["array_task_string"].partition("%")
        job["array"] = {"id": str(j["array_job_id"]), "task_ids": text,
                        **({"running_max": int(most or j["array_max_tasks"])} if most or j["array_max_tasks"] else {})}
    return job


def tasks(text):
    made = []
    for part in text.split(","):
        piece, _, step = part.partition(":")
        low, _, high = piece.partition("-")
        made += range(int(low), int(high or low) + 1, int(step or 1))
    return made


def make(folder):
    truth = json.loads((folder / "truth.json").read_text())
    queue = json.loads((folder / "t0/squeue.json").read_text())["jobs"]
    t0_s = float((folder / "t0/now_s").read_text())
    shares = {}
    cluster = cluster_of(folder)
    add_accounts(folder, cluster, shares)
    cluster["reservations"] = []
    for r in records((folder / "t0/scontrol_show_reservation.txt").read_text(), "ReservationName"):
        at = [datetime.fromisoformat(r[k]).replace(tzinfo=timezone.utc).timestamp() for k in ("StartTime", "EndTime")]
        cluster["reservations"].append({"id": r["ReservationName"], "start_s": at[0], "end_s": at[1],
                                        "resource_ids": hosts(r["Nodes"]), "users_allowed": r["Users"].split(","),
                                        "flags": ["maint"]})
    cluster["running"] = []
    jobs = []
    for j in queue:
        if j["job_state"] in ("RUNNING", "COMPLETING"):
            add_running(j, cluster["running"], truth["pass_s"])
        elif j["job_state"] == "PENDING":
            jobs.append(waiting(j, truth["pass_s"]))
    common = {"algorithm": "slurm_backfill", "cluster": cluster}
    plans = [p["job_id"] for p in truth["planned"]]
    kept = []
    for job in jobs:
        number = int(job["id"])
        if number in truth["unplanned"]:
            continue
        job = dict(job)
        if "array" in job and number in plans:
            some = tasks(job["array"]["task_ids"])[:plans.count(number)]
            job["array"] = {**job["array"], "task_ids": ",".join(map(str, some))}
        kept.append(job)
    priorities = {}
    for line in (folder / "t0/sprio.txt").read_text().split("\n")[1:]:
        parts = line.split()
        if parts:
            priorities[parts[0] + " " + parts[1]] = int(parts[3])
    return {"at_pass": {**common, "now_s": truth["pass_s"], "jobs": kept},
            "at_t0": {**common, "now_s": t0_s, "jobs": [
                {k: v for k, v in j.items() if k not in ("priority", "begin_s")} for j in jobs]},
            "planned": truth["planned"], "tested": truth["tested"], "unplanned": truth["unplanned"],
            "priorities": priorities, "fair_shares": shares}


def submitted(x):
    """A job of scenario.json, for a replay."""
    args, job = x["args"], {"user": x["user"], "account_id": "physics" if x["user"] in ("user1", "user2") else "biology"}
    options = {}
    k = 0
    while k < len(args):
        name, _, value = args[k].partition("=")
        if len(name) == 2 and not value and k + 1 < len(args):
            k += 1
            value = args[k]
        options[name.lstrip("-")] = value
        k += 1
    nodes, tasks = int(options.get("N", 0)), int(options.get("n", 0))
    if nodes:
        job["nodes"] = nodes
        job["cpus"] = int(options.get("ntasks-per-node", 0)) or -(-(tasks or nodes) // nodes)
    elif tasks > 1:
        job["tasks"] = tasks
    job["partition_ids"] = [options.get("p", "batch")]
    job["time_limit_s"] = 60 * int(options["t"])
    job["qos_id"] = options.get("qos", "normal")
    job["nice"] = int(options.get("nice", 0))
    if "mem" in options:
        job["memory_bytes"] = int(options["mem"]) * MIB
    needs = licences(options.get("L", ""))
    if "gres" in options:
        needs["gpus"] = int(options["gres"].split(":")[1])
    if needs:
        job["needs"] = needs
    if "C" in options:
        job["features"] = options["C"]
    if "exclusive" in options:
        job["exclusive"] = True
    made = {"at_s": x["at_s"], "run_s": x["run_s"], "held": "hold" in options, "job": job}
    if "begin" in options:
        made["begin_s"] = int(options["begin"].split("+")[1])
    if "dependency" in options:
        kind, _, made["after"] = options["dependency"].partition(":")
        made["kind"] = {"afterok": "ok", "afterany": "any"}[kind]
    text, _, most = options.get("array", "").partition("%")
    made["tasks"] = [{"array": {"id": x["job_id"], "task_ids": str(i), "running_max": int(most)}, "id": f"{x['job_id']}_{i}"}
                     for i in tasks_of(text)] or [{"id": x["job_id"]}]
    return made


def tasks_of(text):
    return tasks(text) if text else []


def replay(folder):
    truth = json.loads((folder / "truth.json").read_text())
    scenario = json.loads((folder / "scenario.json").read_text())
    cluster = cluster_of(folder)
    add_accounts(folder, cluster, {})
    for x in cluster["accounts"]:
        x["usage_s"] = 0
    first = re.search(r"\[(\S+)\] sched/backfill: _attempt_backfill: beginning", next(
        line for line in (folder / "ctld.log").read_text().split("\n") if "beginning" in line and datetime.fromisoformat(
            re.match(r"\[(\S+)\]", line)[1]).replace(tzinfo=timezone.utc).timestamp() >= scenario["base_s"]))[1]
    made = {"base_s": scenario["base_s"], "first_pass_s": datetime.fromisoformat(first).replace(tzinfo=timezone.utc).timestamp(),
            "cluster": cluster, "submissions": [], "releases": [], "reservations": [], "actual": []}
    for x in scenario["log"]:
        if "args" in x:
            made["submissions"].append(submitted(x))
        elif "release" in x["command"]:
            made["releases"].append({"at_s": x["at_s"], "job": x["command"][2]})
        else:
            words = dict(w.partition("=")[::2] for w in x["command"])
            start_s = datetime.fromisoformat(words["starttime"]).replace(tzinfo=timezone.utc).timestamp()
            made["reservations"].append({"id": words["reservationname"], "start_s": start_s, "end_s": start_s + 60 * int(words["duration"]),
                                         "resource_ids": words["nodes"].split(","), "users_allowed": ["root"]})
    made["actual"] = [{k: a[k] for k in ("job", "submit_s", "start_s", "end_s", "priority_at_start", "state")}
                      for a in truth["actual"]]
    return made


for name in sys.argv[1:]:
    if (Path(name).name).startswith("live"):
        out = Path(__file__).parent / "requests" / (Path(name).name + ".replay.json")
        out.write_text(json.dumps(replay(Path(name)), separators=(",", ":")) + "\n")
    out = Path(__file__).parent / "requests" / (Path(name).name + ".json")
    out.write_text(json.dumps(make(Path(name)), separators=(",", ":")) + "\n")
