// openapi_fetch.ts - a client of openapi-typescript and openapi-fetch at work.
import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi_typescript";
import * as s from "./scenario";

async function main() {
    const api = createClient<paths>({ baseUrl: s.base });

    const placed = s.need("placement",
        (await api.POST("/v1/placements", { body: s.placement })).data);
    s.expect("placements", placed.placements.map(p => p.job_id).sort(), ["a", "b"]);
    s.expect("makespan", placed.objective.makespan_s, 6);

    const simulated = s.need("simulation",
        (await api.POST("/v1/simulations", { body: s.queue })).data);
    if (simulated.kind !== "queue")
        return s.expect("kind", simulated, "queue");
    s.expect("mean wait", simulated.results[0].mean_wait_s, 0);

    const intervals = s.need("intervals",
        (await api.POST("/v1/checkpoint-intervals", { body: s.interval })).data);
    const none: number | null = intervals.intervals[0].interval_s;
    s.expect("interval", none, null);

    const wrong = (await api.POST("/v1/placements", {
        body: { ...s.placement, jobs: [{ id: "a", estimate_ref_s: -1 }] } })).error;
    s.expect("problem", [wrong?.status, wrong?.code, wrong?.errors?.[0].pointer],
        [422, "invalid", "/jobs/0/estimate_ref_s"]);

    s.expect("stored", (await api.POST("/v1/failures", { body: s.failures })).data?.stored, 3);
    const query = { resource_id: s.name, page_size: 2 };
    const first = s.need("page", (await api.GET("/v1/failures", { params: { query } })).data);
    const second = s.need("second page", (await api.GET("/v1/failures", { params: { query:
        { ...query, page_token: first.next_page_token } } })).data);
    s.expect("pages", [first.items.length, second.items.length, second.next_page_token],
        [2, 1, undefined]);

    const path = { snapshot_id: s.name };
    const made = await api.PUT("/v1/snapshots/{snapshot_id}",
        { params: { path }, body: s.snapshot });
    const tag = s.need("ETag", made.response.headers.get("ETag"));
    const put = (match: string) => api.PUT("/v1/snapshots/{snapshot_id}",
        { params: { path, header: { "If-Match": match } }, body: s.snapshot });
    s.expect("PUT", [made.response.status, (await put(tag)).response.status,
        (await put(tag)).response.status], [201, 200, 412]);

    const accepted = await api.POST("/v1/simulations",
        { body: s.queue, params: { header: { Prefer: "respond-async" } } });
    s.expect("accepted", accepted.response.status, 202);
    const simulation_id = s.need("Location", accepted.response.headers.get("Location"))
        .replace(/.*\//, "");
    for (;;) {
        const now = s.need("state", (await api.GET("/v1/simulations/{simulation_id}",
            { params: { path: { simulation_id } } })).data);
        if (now.status === "done") {
            const result = s.need("result", now.result);
            if (result.kind !== "queue")
                return s.expect("kind of the result", result, "queue");
            s.expect("its mean wait", result.results[0].mean_wait_s, 0);
            break;
        }
        await s.pause(0.2);
    }
}

main().then(() => console.log("openapi-fetch: works"));
