/* placement/evaluate.h - what a plan of somebody else's is worth, and what it breaks.
 *
 * The plan is checked as world/check.h says, which shares nothing with policies; its
 * values have bounds where it is valid. A job's input files are not planned here: how
 * long they take is what the row says.
 *
 * Source: world-model.md 5.1, 8.2.
 */
#ifndef GRIDPLAN_PLACEMENT_EVALUATE_H
#define GRIDPLAN_PLACEMENT_EVALUATE_H

#include "algorithms/placement/amounts_values.h"
#include "algorithms/placement/placement.h"
#include "algorithms/world/goal.h"

/* Where a job goes, as somebody says. */
struct placement_row {
    const char *job_id;
    const char *partition_id; /* for limits; NULL: the first of the job's that has all */
    const char *const *resource_ids;
    size_t resource_count;
    bool is_list;      /* given as resource_ids, not resource_id */
    double start_s;    /* seconds from now */
    double stage_in_s; /* >= 0; NAN: not said, taken as 0 */
    double finish_s;   /* outputs at home; NAN: not said */
    uint64_t copy;     /* of the job, from 0; at most its last one */
};

/* A rule that a row breaks. */
struct placement_violation {
    const char *rule;                /* world_rule_names */
    const char *job_id;              /* as the row has it */
    const char *resource_id;         /* NULL: not about one */
    double at_s;                     /* NAN: not about a time */
    const char *amount;              /* name; NULL: not about one */
    const char *user, *partition_id; /* of a limit; NULL: not about one */
    double needed, free; /* of it, or of nodes, or members of a group; NAN: no such */
    const char *const *other_ids; /* jobs that have to do with it */
    size_t other_count;
    uint64_t index;      /* of the job's copy; UINT64_MAX: it has none */
    const char *pointer; /* JSON Pointer of the member that breaks it */
    const char *detail;  /* a sentence for people */
};

struct evaluation_in {
    const struct placement_in *request;
    const struct named_value *options; /* those of all placement policies */
    size_t option_count;
    const struct placement_row *rows;
    size_t row_count;
};

struct evaluation_out {
    enum decision_status status; /* optimal: valid, and at every bound; infeasible: it
                                    breaks rules; cut: not all was looked at */
    bool valid;
    uint64_t violation_count;                     /* all, */
    const struct placement_violation *violations; /* and the first by time, then job */
    size_t listed_count;
    double makespan_s;
    struct placement_value values[OBJECTIVE_LEVELS_MAX]; /* bounds of valid plans only */
    size_t value_count;
    const char *const *unplaced_ids; /* jobs without a row */
    size_t unplaced_count;
    const char *const *warnings;
    size_t warning_count;
};

/* Mistakes of the request are collected in *err; what is wrong with rows is no mistake
 * but a violation. O((rows + what runs) log), and the bounds. */
enum error_code placement_evaluate(const struct evaluation_in *in,
                                   struct evaluation_out *out, struct arena *a,
                                   struct error *err);

#endif
