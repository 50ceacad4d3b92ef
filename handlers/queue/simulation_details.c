/* simulation_details.c - `details` of simulations of kind "queue". */
#include "handlers/queue/simulation_details.h"

#include <math.h>

#define T struct queue_usage_row
static const struct json_field usage_rows[] = {
    JSON_NUMBER(T, from_s, 0, 0, 0, 0,
                "Begin of the step; it ends where the next begins"),
    JSON_NUMBER(T, busy_ratio, 0, 0, 0, 0, "Processors that jobs run on, of all"),
    JSON_NUMBER(T, allocated_ratio, 0, 0, 0, 0,
                "Processors that nobody else can have, of all"),
    JSON_NUMBER(T, queued_core_s, 0, 0, 0, 0,
                "Processors that waiting jobs ask for, times their time"),
    JSON_NUMBER(T, running_count, 0, 0, 0, 0, "Jobs that run, on average"),
    JSON_NUMBER(T, waiting_count, 0, 0, 0, 0, "Jobs that wait, on average"),
    {0},
};
#undef T
const struct json_object queue_usage_row_json = {
    "QueueUtilisation", "A step of time, by what holds how long in it",
    sizeof(struct queue_usage_row), usage_rows};

struct queue_details queue_details_none(void)
{
    return (struct queue_details){
        .fairness = {NAN, NAN, NAN, 0},
        .killed_count = JSON_NO_INTEGER,
        .preempted_count = JSON_NO_INTEGER,
        .failed_count = JSON_NO_INTEGER,
        .killed_core_s = NAN,
        .fragmented_core_s = NAN,
        .lost_core_s = NAN,
    };
}

bool queue_details_steps(const struct queue_outcome *outcomes, size_t count,
                         uint64_t step_s, struct queue_usage *usage,
                         struct queue_details *out, struct arena *run)
{
    double from_s = HUGE_VAL, to_s = -HUGE_VAL, step;

    for (size_t i = 0; i < count; i++)
        if (queue_ran(&outcomes[i])) {
            from_s = fmin(from_s, outcomes[i].submit_s);
            to_s = fmax(to_s, outcomes[i].start_s + outcomes[i].run_s);
            /* It was preempted: its last attempt is not its first one. */
            if (outcomes[i].response_s > outcomes[i].wait_s + outcomes[i].run_s)
                to_s = fmax(to_s, outcomes[i].submit_s + outcomes[i].response_s);
        }
    if (!isfinite(from_s))
        return false;
    step = step_s ? (double)step_s : queue_usage_step(to_s - from_s, QUEUE_STEPS);
    out->is_coarse = step < queue_usage_step(to_s - from_s, QUEUE_STEPS_MAX);
    if (out->is_coarse)
        step = queue_usage_step(to_s - from_s, QUEUE_STEPS_MAX);
    queue_usage_begin(usage, from_s, to_s, step, run);
    return true;
}

static void read_usage(const struct queue_outcome *outcomes, size_t count, double cores,
                       uint64_t step_s, struct queue_details *out, struct arena *run,
                       struct arena *a)
{
    struct queue_usage usage;

    if (!queue_details_steps(outcomes, count, step_s, &usage, out, run))
        return;
    queue_usage_of(&usage, outcomes, count);
    out->utilisation = queue_usage_rows(&usage, cores, a);
    out->step_count = usage.step_count;
}

static void count_killed(const struct queue_replay_in *in,
                         const struct queue_outcome *outcomes, struct queue_details *out)
{
    out->killed_count = 0;
    out->killed_core_s = 0;
    for (size_t i = 0; i < in->job_count; i++)
        if (queue_ran(&outcomes[i]) && outcomes[i].run_s < in->jobs[i].run_s) {
            out->killed_count++;
            out->killed_core_s += outcomes[i].run_s * outcomes[i].cores;
        }
}

bool queue_details_read(const struct queue_replay_in *in,
                        const struct queue_replay_out *played,
                        const struct queue_outcome *outcomes, size_t rows_max,
                        uint64_t step_s, struct budget *budget, struct queue_details *out,
                        struct arena *run, struct arena *a)
{
    size_t n = in->job_count;
    uint64_t rest;

    *out = queue_details_none();
    queue_group_rows(outcomes, n, QUEUE_KEY_ACCOUNT, rows_max, NULL, &out->by_account,
                     &out->by_account_count, &rest, run, a);
    queue_group_rows(outcomes, n, QUEUE_KEY_PARTITION, rows_max, NULL, &out->by_partition,
                     &out->by_partition_count, &rest, run, a);
    queue_group_rows(outcomes, n, QUEUE_KEY_QOS, rows_max, NULL, &out->by_qos,
                     &out->by_qos_count, &rest, run, a);
    count_killed(in, outcomes, out);
    out->preempted_count = 0;
    out->fragmented_core_s = 0;
    read_usage(outcomes, n, (double)in->processors, step_s, out, run, a);
    if (played->run_count == 0)
        return true;
    return queue_fairness(outcomes, n, budget, &out->fairness, run);
}
