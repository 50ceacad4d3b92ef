/* resource.h - a host that runs jobs, as a snapshot describes it. */
#ifndef GRIDPLAN_RESOURCE_H
#define GRIDPLAN_RESOURCE_H

#include "models/base/value.h"
#include "models/taken.h"

#include <stdbool.h>
#include <stddef.h>

enum sharing {
    SHARING_SLOTS,
    SHARING_EQUAL
}; /* a slot has the whole speed, or 1/n_max of it */

/* How a machine is taken back: spot machines, preemption. */
struct interruption_notice {
    double interruptions_per_hour; /* >= 0 */
    double notice_s;               /* how long before it is told, >= 0 */
    double proactive_overhead_s;   /* of a checkpoint then; NAN: as any other */
};

struct resource {
    const char *id;
    const char *site_id;        /* NULL: a site of its own */
    double mips_total;          /* speed of one slot without outside load, >= 0 */
    double mips_external;       /* what outside load takes of it, >= 0 */
    double cpu_available_ratio; /* 0..1, share of mips_total that is available */
    double cpus;                /* >= 0; NAN: not limited */
    double memory_bytes;        /* >= 0; NAN: not limited */
    double disk_bytes;          /* >= 0; NAN: not limited */
    const struct named_value *capacities; /* any other amounts: numbers >= 0 */
    size_t capacity_count;
    double n_max;     /* slots, a whole number >= 0; NAN: as many as cpus allow, else 1 */
    double job_count; /* slots in use now, a whole number >= 0 */
    const double
        *free_at_s;       /* of each used slot: seconds from now; NAN: unknown, never */
    size_t free_at_count; /* fewer than job_count: the others are unknown */
    double ready_s;       /* no slot is free before, seconds from now, >= 0 */
    enum sharing sharing;
    bool failed;
    const char *boot_id;        /* changes when it has been down; NULL: not said */
    double observed_at_s;       /* instant of the last observation; NAN: fresh */
    const char *const *allowed; /* "user:NAME", "vo:NAME"; */
    size_t allowed_count;       /* NULL: everybody; none: nobody */
    double fixed_priority;      /* 0..99, 0: not used (spec gridway.md 4.2) */
    const struct named_value *attributes; /* free-form, for expressions */
    size_t attribute_count;
    const struct taken_running *running; /* what runs here; without resource_ids */
    size_t running_count;
    const struct taken_reservation *reservations; /* likewise */
    size_t reservation_count;
    double price_per_s;     /* while a planned job is on it, >= 0 */
    double price_per_cpu_s; /* of a cpu of a job, >= 0 */
    double power_node_w;    /* the same in watts */
    double power_per_cpu_w;

    /* What the caller has seen of its failures; seconds on one scale. NAN: not said. */
    double observed_since_s;
    double last_failure_at_s;
    double up_since_s;     /* last restore */
    double failure_count;  /* a whole number >= 0 */
    double uptime_total_s; /* >= 0 */
    const double *failure_times_s;
    size_t failure_time_count;
    const struct interruption_notice *notice; /* NULL: it is not taken back */

    /* What models of run times know it by. */
    const char *resource_class;           /* type of machine; NULL: not said */
    const struct named_value *benchmarks; /* seconds by name; 0: not measured */
    size_t benchmark_count;
};

/* The attribute of that name, in any case; NULL: it has none, or null. */
const struct named_value *resource_attribute(const struct resource *r, const char *name);

/* Equal as in expressions: a boolean is the number 1 or 0. */
bool resource_attributes_are_equal(const struct named_value *a,
                                   const struct named_value *b);

/* Speed that one slot gives to a job now, >= 0 (spec gridway.md 2.1, v(r)). */
double resource_speed_mips(const struct resource *r);

/* Number of slots. Without n_max: one for each whole cpu, at least one; independent jobs
 * that need less than a cpu may be more. */
size_t resource_slots(const struct resource *r);

#endif
