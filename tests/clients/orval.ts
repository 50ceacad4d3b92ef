// orval.ts - a client of orval, for fetch, at work.
import * as api from "./generated/orval/api";
import * as s from "./scenario";

// Its paths begin with a slash, as in a page of the service.
const plain = globalThis.fetch;
globalThis.fetch = (target, init) => plain(new URL(String(target), s.base), init);

async function main() {
    const placed = await api.decidePlacements(s.placement);
    if (placed.status !== 200)
        return s.expect("placement", placed.status, 200);
    s.expect("placements", placed.data.placements.map(p => p.job_id).sort(), ["a", "b"]);
    s.expect("makespan", placed.data.objective.makespan_s, 6);

    const simulated = await api.simulate(s.queue);
    if (simulated.status !== 200 || simulated.data.kind !== "queue")
        return s.expect("simulation", simulated.status, 200);
    s.expect("mean wait", simulated.data.results[0].mean_wait_s, 0);

    const intervals = await api.decideCheckpointIntervals(s.interval);
    if (intervals.status !== 200)
        return s.expect("intervals", intervals.status, 200);
    const none: number | null = intervals.data.intervals[0].interval_s;
    s.expect("interval", none, null);

    const wrong = await api.decidePlacements(
        { ...s.placement, jobs: [{ id: "a", estimate_ref_s: -1 }] });
    if (wrong.status !== 422)
        return s.expect("problem", wrong.status, 422);
    s.expect("problem", [wrong.data.code, wrong.data.errors?.[0].pointer],
        ["invalid", "/jobs/0/estimate_ref_s"]);

    const stored = await api.addFailures(s.failures);
    s.expect("stored", stored.status === 201 && stored.data.stored, 3);
    const query = { resource_id: s.name, page_size: 2 };
    const first = await api.listFailures(query);
    if (first.status !== 200)
        return s.expect("page", first.status, 200);
    const second = await api.listFailures(
        { ...query, page_token: first.data.next_page_token });
    if (second.status !== 200)
        return s.expect("second page", second.status, 200);
    s.expect("pages", [first.data.items.length, second.data.items.length,
        second.data.next_page_token], [2, 1, undefined]);

    const made = await api.replaceSnapshot(s.name, s.snapshot);
    const tag = s.need("ETag", made.headers.get("ETag"));
    const put = async (match: string) => (await api.replaceSnapshot(
        s.name, s.snapshot, { headers: { "If-Match": match } })).status;
    s.expect("PUT", [made.status, await put(tag), await put(tag)], [201, 200, 412]);

    const accepted = await api.simulate(s.queue, undefined, { headers: { Prefer: "respond-async" } });
    s.expect("accepted", accepted.status, 202);
    const id = s.need("Location", accepted.headers.get("Location")).replace(/.*\//, "");
    for (;;) {
        const now = await api.getSimulation(id);
        if (now.status === 200 && now.data.status === "done") {
            const result = s.need("result", now.data.result);
            if (result.kind !== "queue")
                return s.expect("kind of the result", result, "queue");
            s.expect("its mean wait", result.results[0].mean_wait_s, 0);
            break;
        }
        await s.pause(0.2);
    }
}

main().then(() => console.log("orval: works"));
