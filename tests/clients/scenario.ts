// scenario.ts - what the three programs send, and what they expect.
export const base = process.env.GRIDPLAN_URL ?? "http://127.0.0.1:8080";
export const name = `client-${process.pid}`;

export const placement = {
    snapshot: { resources: [{ id: "m0", mips_total: 1 }, { id: "m1", mips_total: 2 }] },
    jobs: [{ id: "a", estimate_ref_s: 12 }, { id: "b", estimate_ref_s: 6 }],
};
export const queue = {
    kind: "queue" as const,
    processors: 4,
    policies: ["easy"],
    jobs: [{ id: "a", submit_s: 0, processors: 2, run_time_s: 60 }],
};
export const interval = {
    algorithm: "none",
    jobs: [{ id: "j", checkpoint_overhead_s: 5, mean_failure_interval_s: 10800,
             execution_time_s: 9000 }],
};
export const failures = ["00", "01", "02"].map(hour => ({
    resource_id: name, down_at: `2026-10-01T${hour}:00:00Z`, up_at: `2026-10-01T${hour}:30:00Z`,
}));
export const snapshot = { resources: [{ id: "m0" }] };

export function expect(what: string, found: unknown, wanted: unknown): void {
    if (JSON.stringify(found) === JSON.stringify(wanted))
        return;
    console.error(`${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
    process.exit(1);
}

export function need<T>(what: string, value: T | undefined | null): T {
    if (value === undefined || value === null) {
        console.error(`${what}: there is none`);
        process.exit(1);
    }
    return value;
}

export const pause = (seconds: number) =>
    new Promise(resolve => setTimeout(resolve, seconds * 1e3));
