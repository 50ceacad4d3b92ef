/* queue/usage.h - how busy a cluster was, step by step.
 *
 * The time from the first arrival to the last end is cut into steps of equal length.
 * What holds from one instant to another (processors busy, jobs that wait) is added with
 * its weight, and counts in each step by the time that it has of it: nothing is sampled.
 * Where instants are whole seconds and weights whole numbers, sums are exact up to 2^53.
 *
 * Cost: O(1) for each addition, whatever it spans, and O(steps) in the end.
 */
#ifndef GRIDPLAN_QUEUE_USAGE_H
#define GRIDPLAN_QUEUE_USAGE_H

#include "algorithms/queue/outcome.h"
#include "models/base/precise_sum.h"

enum {
    QUEUE_STEPS = 200,      /* unless the caller says how long a step is */
    QUEUE_STEPS_MAX = 10000 /* at most */
};

enum queue_level {
    QUEUE_BUSY,      /* cores that jobs asked for, and have */
    QUEUE_ALLOCATED, /* cores that nobody else can have */
    QUEUE_QUEUED,    /* cores that waiting jobs ask for */
    QUEUE_RUNNING,   /* jobs */
    QUEUE_WAITING,   /* jobs */
    QUEUE_LEVEL_COUNT
};

struct queue_usage {
    double from_s, step_s;
    size_t step_count; /* >= 1 */
    /* [level][step_count + 1]: of steps that are met in part, and changes of the weight
     * of those that are met as a whole. */
    struct precise_sum *part[QUEUE_LEVEL_COUNT], *whole[QUEUE_LEVEL_COUNT];
};

/* A step. */
struct queue_usage_row {
    double from_s;
    double busy_ratio, allocated_ratio; /* of all cores and the step's time */
    double queued_core_s;               /* cores that were waited for, times their time */
    double running_count, waiting_count; /* means */
};

/* The shortest step, whole seconds, of which `count` suffice for the span. */
double queue_usage_step(double span_s, size_t count);

/* Steps of step_s > 0 from from_s on until to_s is passed; in `a`. */
void queue_usage_begin(struct queue_usage *u, double from_s, double to_s, double step_s,
                       struct arena *a);

/* From begin_s to end_s, >= begin_s, both within the time of the steps, the level is
 * `weight` more. */
void queue_usage_add(struct queue_usage *u, enum queue_level level, double begin_s,
                     double end_s, double weight);

/* All jobs: they wait from arrival to start and run as long as they ran, on the cores
 * that they asked for. */
void queue_usage_of(struct queue_usage *u, const struct queue_outcome *outcomes,
                    size_t count);

/* The rows, step_count of them, in `a`, of a cluster with so many cores. */
struct queue_usage_row *queue_usage_rows(const struct queue_usage *u, double cores,
                                         struct arena *a);

#endif
