#!/usr/bin/env python3
"""geometry.py - charts in SVG against what the answers say, computed independently.

    geometry.py URL

Asks for the charts of stored decisions and compares: which bars there are, their rows,
where they begin and end (within half a pixel), labels, and how large a summary is.
"""
import json
import re
import sys
import urllib.request
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
base = sys.argv[1]
checks, failures = 0, []


def get(path):
    with urllib.request.urlopen(base + path) as reply:
        return reply.read().decode()


def check(what, ok, more=""):
    global checks
    checks += 1
    if not ok:
        failures.append(f"{what} {more}")


def prefix_length(labels):
    """Of what all labels begin with, up to one of /._-: (face.md 5.2)."""
    if len(labels) < 2:
        return 0
    same = 0
    while all(len(l) > same and l[same] == labels[0][same] for l in labels):
        same += 1
    while same and (labels[0][same - 1] not in "/._-:" or any(len(l) <= same for l in labels)):
        same -= 1
    return same if same >= 3 else 0


def bars_of(answer):
    rows = answer.get("placements") or answer.get("schedule") or []
    return [(r.get("job_id") or r["task_id"], r["resource_id"], r["start_s"], r["finish_s"])
            for r in rows if r.get("start_s") is not None and r.get("finish_s") is not None]


def check_bars(decision, width):
    bars = bars_of(decision["answer"])
    svg = xml.fromstring(get(f"/v1/decisions/{decision['decision_id']}/chart?mode=bars&width={width}"))
    check("width", svg.get("width") == str(width), svg.get("width"))
    drawn = {}
    for g in svg.iter(SVG + "g"):
        title, rect = g.find(SVG + "title"), g.find(SVG + "rect")
        if title is not None and rect is not None:
            drawn[title.text.split("\n")[0]] = (rect, [t.text for t in g.findall(SVG + "text")])
    check("number of bars", len(drawn) == len(bars), f"{len(drawn)} of {len(bars)}")
    # The area begins where the names end: of the longest 6.7 px a character and 14, + 16.
    resources = [r["id"] for r in decision["request"]["snapshot"]["resources"]]
    cut = prefix_length(resources)
    longest = max(len(r) - cut for r in resources)
    left = 16 + min(220, 14 + 6.7 * longest)
    area = width - left - 32
    end = max(b[3] for b in bars)
    bound = decision["answer"]["objective"].get("lower_bound_s") or 0
    end = max(end, bound)
    names = prefix_length([b[0] for b in bars])
    tops = {}
    for name, resource, start, finish in bars:
        whole = name if name in drawn else next((k for k in drawn if k.endswith("/" + name)), None)
        if whole is None:
            check("a bar is drawn", False, name)
            continue
        rect, texts = drawn[whole]
        x, w = float(rect.get("x")), float(rect.get("width"))
        check("begin", abs(x - (left + start / end * area)) <= 0.5, f"{name}: {x}")
        wanted = max((finish - start) / end * area, 0.5)
        check("length", abs(w - (wanted - 0.6 if wanted > 3 else wanted)) <= 0.5, f"{name}: {w} {wanted}")
        label = name[names:]
        fits = len(label) * 6.2 <= wanted - 8
        check("label", texts == ([label] if fits else []) or "!" in texts, f"{name}: {texts}")
        tops.setdefault(resource, set()).add(float(rect.get("y")))
    flat = sorted((min(ys), resource) for resource, ys in tops.items())
    order = [r for r in resources if r in tops]
    check("rows are in the order of the request", [r for _, r in flat] == order, flat)


def check_summary(decision):
    text = get(f"/v1/decisions/{decision['decision_id']}/chart")
    check("size of a summary", len(text.encode()) <= 60000, len(text))
    svg = xml.fromstring(text)
    elements = sum(1 for _ in svg.iter())
    check("elements of a summary", elements <= 400, elements)
    # The share of the five busiest rows, from the answer.
    bars = bars_of(decision["answer"])
    end = max(max(b[3] for b in bars), decision["answer"]["objective"].get("lower_bound_s") or 0)
    busy = {}
    for _, resource, start, finish in bars:
        busy[resource] = busy.get(resource, 0) + (finish - start) / end
    order = {r["id"]: i for i, r in enumerate(decision["request"]["snapshot"]["resources"])}
    most = sorted(busy, key=lambda r: (-min(1, busy[r]), order[r]))[:5]
    said = next(t.text for t in svg.iter(SVG + "text") if t.text and t.text.startswith("Busiest: "))
    found = re.findall(r"(\S+) ([\d.]+) %", said)
    check("busiest rows", [f[0] for f in found] == most, f"{said} {most}")
    for name, share in found:
        check("their shares", abs(float(share) - 100 * min(1, busy[name])) < 0.06, f"{name} {share}")
    print(f"summary of {len(bars)} bars: {len(text.encode())} bytes, {elements} elements")
    bars_text = get(f"/v1/decisions/{decision['decision_id']}/chart?mode=bars")
    print(f"the same as bars: {len(bars_text.encode())} bytes")


for item in json.loads(get("/v1/decisions"))["items"]:
    if not re.search("placements|workflow-schedules", item["endpoint"]):
        continue
    whole = json.loads(get("/v1/decisions/" + item["decision_id"]))
    count = len(bars_of(whole["answer"]))
    if count > 1000:
        check_summary(whole)
    elif count and all(ord(c) < 128 for b in bars_of(whole["answer"]) for c in b[0] + b[1]):
        for width in (400, 1200, 3000):
            check_bars(whole, width)
for failure in failures:
    print("FAILED:", failure, file=sys.stderr)
print(f"geometry: {checks - len(failures)} checks passed, {len(failures)} failed")
sys.exit(1 if failures or not checks else 0)
