/* queue/usage.c - how busy a cluster was, step by step. */
#include "algorithms/queue/usage.h"

#include <math.h>

double queue_usage_step(double span_s, size_t count)
{
    return fmax(1, ceil(span_s / (double)count));
}

void queue_usage_begin(struct queue_usage *u, double from_s, double to_s, double step_s,
                       struct arena *a)
{
    double steps = ceil((to_s - from_s) / step_s);

    *u = (struct queue_usage){.from_s = from_s, .step_s = step_s};
    u->step_count = steps > 1 ? (size_t)steps : 1;
    for (int i = 0; i < QUEUE_LEVEL_COUNT; i++) {
        u->part[i] = NEW(a, struct precise_sum, u->step_count + 1);
        u->whole[i] = NEW(a, struct precise_sum, u->step_count + 1);
    }
}

static double begin_of(const struct queue_usage *u, size_t step)
{
    return u->from_s + (double)step * u->step_s;
}

/* The step in which this instant is; the end of the last one is in it. */
static size_t step_at(const struct queue_usage *u, double at_s)
{
    double step = floor((at_s - u->from_s) / u->step_s);
    size_t index = step < 1 ? 0 : (size_t)fmin(step, (double)(u->step_count - 1));

    while (index && begin_of(u, index) > at_s)
        index--;
    while (index + 1 < u->step_count && begin_of(u, index + 1) <= at_s)
        index++;
    return index;
}

void queue_usage_add(struct queue_usage *u, enum queue_level level, double begin_s,
                     double end_s, double weight)
{
    size_t first = step_at(u, begin_s), last = step_at(u, end_s);
    struct precise_sum *part = u->part[level], *whole = u->whole[level];

    if (first == last) {
        precise_add(&part[first], weight * ((long double)end_s - begin_s));
        return;
    }
    precise_add(&part[first], weight * ((long double)begin_of(u, first + 1) - begin_s));
    precise_add(&part[last], weight * ((long double)end_s - begin_of(u, last)));
    precise_add(&whole[first + 1], weight);
    precise_add(&whole[last], -weight);
}

void queue_usage_of(struct queue_usage *u, const struct queue_outcome *outcomes,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct queue_outcome *o = &outcomes[i];
        double end_s = o->start_s + o->run_s;

        if (!queue_ran(o))
            continue;
        queue_usage_add(u, QUEUE_WAITING, o->submit_s, o->start_s, 1);
        queue_usage_add(u, QUEUE_QUEUED, o->submit_s, o->start_s, o->cores);
        queue_usage_add(u, QUEUE_RUNNING, o->start_s, end_s, 1);
        queue_usage_add(u, QUEUE_BUSY, o->start_s, end_s, o->cores);
        queue_usage_add(u, QUEUE_ALLOCATED, o->start_s, end_s, o->cores);
    }
}

struct queue_usage_row *queue_usage_rows(const struct queue_usage *u, double cores,
                                         struct arena *a)
{
    struct queue_usage_row *rows = NEW(a, struct queue_usage_row, u->step_count);
    struct precise_sum weight[QUEUE_LEVEL_COUNT] = {{0}};

    for (size_t i = 0; i < u->step_count; i++) {
        long double span_s = (long double)begin_of(u, i + 1) - begin_of(u, i);
        long double sum[QUEUE_LEVEL_COUNT];

        for (int level = 0; level < QUEUE_LEVEL_COUNT; level++) {
            precise_add(&weight[level], precise_total(&u->whole[level][i]));
            sum[level] = precise_total(&u->part[level][i]) +
                         precise_total(&weight[level]) * span_s;
        }
        rows[i] = (struct queue_usage_row){
            .from_s = begin_of(u, i),
            .busy_ratio = (double)(sum[QUEUE_BUSY] / (span_s * cores)),
            .allocated_ratio = (double)(sum[QUEUE_ALLOCATED] / (span_s * cores)),
            .queued_core_s = (double)sum[QUEUE_QUEUED],
            .running_count = (double)(sum[QUEUE_RUNNING] / span_s),
            .waiting_count = (double)(sum[QUEUE_WAITING] / span_s),
        };
    }
    return rows;
}
