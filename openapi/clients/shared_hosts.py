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
