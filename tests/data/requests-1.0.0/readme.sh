    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/placements \
        --data @tests/data/requests-1.0.0/placement-plain.json | jq '{status, placements, objective}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/placements --data '{
        "snapshot": {"resources": [{"id": "m0", "mips_total": 1000, "memory_bytes": 4e9},
                                   {"id": "m1", "mips_total": 2000, "memory_bytes": 8e9}]},
        "jobs": [{"id": "small", "estimate_ref_s": 6000, "memory_bytes": 1e9},
                 {"id": "big", "estimate_ref_s": 6000, "memory_bytes": 16e9}],
        "algorithm": "min_min"}' | jq .unplaced
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/placements \
        --data '{"algoritm": "min_min", "jobs": [{"id": "j0", "etc_s": [-1]}]}' | jq .errors
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/checkpoint-intervals \
        --data @tests/data/requests-1.0.0/checkpoint-young.json | jq '.intervals[0]'
    curl -s -H 'Content-Type: application/x-ndjson' http://127.0.0.1:8080/v1/load-samples --data-binary \
    '{"resource_id": "m0", "observed_at": "2026-11-20T10:00:00Z", "cpu_available_ratio": 0.5}
    {"resource_id": "m0", "observed_at": "2026-11-20T10:01:00Z", "cpu_available_ratio": 0.75}'
    curl -s 'http://127.0.0.1:8080/v1/load-samples/aggregates?resource_id=m0&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&interval_s=3600' | jq '.intervals[0]'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/failures --data '[
        {"resource_id": "m0", "down_at": "2026-10-01T00:00:00Z", "up_at": "2026-10-01T02:00:00Z"},
        {"resource_id": "m0", "down_at": "2026-10-11T00:00:00Z", "up_at": "2026-10-11T01:00:00Z"},
        {"resource_id": "m0", "down_at": "2026-11-01T00:00:00Z", "up_at": "2026-11-01T04:00:00Z"}]'
    curl -s 'http://127.0.0.1:8080/v1/failures/statistics?resource_id=m0&from=2026-10-01T00:00:00Z&to=2026-11-21T00:00:00Z' \
        | jq -c '{failure_count, mttr_s, availability_ratio, mtbf_uptime_mean_s}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/checkpoint-intervals --data '{
        "algorithm": "exact", "now_s": 1795219200, "render": ["scr", "slurm"],
        "jobs": [{"id": "j", "resource_id": "m0", "execution_time_s": 864000,
                  "checkpoint_overhead_s": 60, "restart_s": 120}]}' \
        | jq -c '.intervals[0] | {interval_s, expected_completion_s, basis, rendered}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/fault-tolerance-plans \
        --data @tests/data/requests-1.0.0/fault_tolerance-expected_time.json \
        | jq '.choices[0] | {choice, replicas, because}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/simulations --data '{
        "preset": "ch4_checkpoint", "runs": 3,
        "compare": [{"algorithm": "none"},
                    {"algorithm": "periodic", "options": {"initial_interval_s": 28800}},
                    {"algorithm": "mean_failure", "options": {"initial_interval_s": 28800}}]}' \
        | jq -c '.results[] | {label: .label, jobs_done: .metrics.jobs_done.mean, ci95: .metrics.jobs_done.ci95}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/models \
        --data '{"id": "solver", "application_id": "solver"}' | jq -c '{id, kind, state}'
    jq -nc 'range(60) | [1, 1, 2, 2, 4, 8][. % 6] as $p | (400 + 40 * .) as $n
        | (0.3 + (. * 7 % 10) / 15) as $cpu | (20 + . * 13 % 70) as $bw
        | {execution_id: "run-\(.)", application_id: "solver", started_at: (1795132800 + 600 * . | todate),
           processors: $p, problem_size: $n, cpu_available_ratio: $cpu, bandwidth_mbps: $bw,
           run_time_s: (2e-4 * $n * $n / ($cpu * $p) + (if $p > 1 then 0.5 * $n / ($bw * ($p | sqrt)) else 0 end))}' \
        | curl -s -H 'Content-Type: application/x-ndjson' http://127.0.0.1:8080/v1/executions --data-binary @- \
        | jq -c '{received, stored}'
    sleep 2
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/predictions --data '{
        "model_id": "solver", "problem_size": 3000, "processors": 16,
        "cpu_available_ratio": 0.5, "bandwidth_mbps": 40}' \
        | jq -c '{run_time_s, computation_s, communication_s, problem_size_ratio, processors_ratio}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/parallel-schedules --data '{
        "snapshot": {"sites": [{"id": "alpha", "links": {"form": "uplinks"}, "resources": [
            {"id": "a1", "cpu_available_ratio": 0.9, "uplink_mbps": 70},
            {"id": "a2", "cpu_available_ratio": 0.8, "uplink_mbps": 60},
            {"id": "a3", "cpu_available_ratio": 0.2, "uplink_mbps": 70},
            {"id": "a4", "cpu_available_ratio": 0.75, "uplink_mbps": 8},
            {"id": "a5", "cpu_available_ratio": 0.7, "uplink_mbps": 55}]}]},
        "jobs": [{"id": "j", "problem_size": 3000, "model": {"model_id": "solver"}}]}' \
        | jq -c '{status, resource_ids: .schedule.resource_ids, objective}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/workflow-schedules --data '{
        "algorithm": "heft", "snapshot": {"resources": [{"id": "p0"}, {"id": "p1"}]},
        "workflow": {"tasks": [{"id": "a", "etc_s": [3, 4]},
            {"id": "b", "etc_s": [2, 2], "depends_on": [{"task_id": "a", "transfer_s": 1.5}]}]}}' \
        | jq -c '{status, schedule: [.schedule[] | {task_id, resource_id, start_s, finish_s}], critical_tasks}'
    curl -s -H 'Content-Type: application/xml' -H 'Accept: image/svg+xml' \
        'http://127.0.0.1:8080/v1/workflow-schedules?speeds=1,2&bandwidth_mbps=100&algorithm=search' --data '<adag>
        <job id="split" runtime="20"><uses file="f" link="output" size="4e8"/><uses file="g" link="output" size="4e8"/></job>
        <job id="left" runtime="300"><uses file="f" link="input"/><uses file="h" link="output" size="1e6"/></job>
        <job id="right" runtime="200"><uses file="g" link="input"/><uses file="i" link="output" size="1e6"/></job>
        <job id="merge" runtime="40"><uses file="h" link="input"/><uses file="i" link="input"/></job></adag>' \
        | tee /tmp/schedule.svg | grep -o '[0-9]* tasks on[^<]*'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/reschedules \
        --data @tests/data/requests-1.0.0/migration-workflow_round.json | jq -c '.reschedules[]
            | {task_id, from_resource_id, to_resource_id, remaining_before_s, remaining_after_s, role}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/reschedules \
        --data @tests/data/requests-1.0.0/migration-gridway.json \
        | jq -c '.jobs[] | {job_id, event, action, reason, resource_id}'
    jq -nc '[6.4, 14.9, 24, 35, 44.5, 56.4, 65.5, 78.6] | to_entries[]
        | {task_id: "cfd-1", application_id: "cfd", elapsed_s: (100 * (.key + 1)), progress_pct: .value}' \
        | curl -s -H 'Content-Type: application/x-ndjson' http://127.0.0.1:8080/v1/progress-samples --data-binary @- \
        | jq -c '{received, stored}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/predictions --data '{
        "kind": "remaining_time", "task_id": "cfd-1", "resources": [{"id": "fast", "mips_total": 2}]}' \
        | jq -c '{remaining_ref_s, remaining_low_ref_s, remaining_high_ref_s, source, resources}'
    curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/simulations \
        --data @tests/data/requests-1.0.0/simulation-queue.json | jq -c '.results[:2][] | {policy, mean_wait_s, utilisation_ratio}'
    curl -s -o /dev/null -H 'Content-Type: application/json' 'http://127.0.0.1:8080/v1/snapshots?id=lab' \
        --data '{"resources": [{"id": "m0", "mips_total": 1000}, {"id": "m1", "mips_total": 2000}]}'
    curl -s -o /dev/null -X PATCH -H 'Content-Type: application/merge-patch+json' http://127.0.0.1:8080/v1/snapshots/lab \
        --data '{"resources": [{"id": "m0", "mips_total": 1000}, {"id": "m1", "mips_total": 500}]}'
    id=$(curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/placements --data '{
        "snapshot_id": "lab", "store": true, "algorithm": "mct",
        "jobs": [{"id": "j0", "estimate_ref_s": 6000}]}' | jq -r .decision_id)
    curl -s -X POST "http://127.0.0.1:8080/v1/decisions/$id/replay" \
        | jq -c '{identical, differences, placements: .answer.placements}'
