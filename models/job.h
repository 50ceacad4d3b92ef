/* job.h - one independent job that waits for a place. */
#ifndef GRIDPLAN_JOB_H
#define GRIDPLAN_JOB_H

#include "models/base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum group_policy { JOB_GANG, JOB_SPREAD, JOB_PACK, JOB_SAME_SITE, JOB_EXCLUDE };

/* Keys of groups that are not the name of an attribute of resources. */
#define JOB_KEY_RESOURCE "resource_id"
#define JOB_KEY_SITE     "site_id"

/* A rule that jobs of one id keep together (world-model.md 2.4). */
struct job_group {
    const char *id;
    enum group_policy policy;
    const char *key;      /* NULL: not said */
    uint64_t max_per_key; /* 0: not said */
};

enum job_after_kind { JOB_AFTER_OK, JOB_AFTER_ANY, JOB_AFTER_START };

/* Another job that a job waits for. */
struct job_after {
    const char *job_id;
    enum job_after_kind kind;
};

/* What a fitted model is asked for the run time of a job. */
struct job_model {
    const char *model_id, *application_id; /* one of them; the other NULL */
    double phase_index;                    /* NAN: whole runs */
    double problem_size, processors;       /* NAN: not said */
    const struct named_value *parameters;  /* further inputs */
    size_t parameter_count;
    double quantile; /* 0 to 1: of runs that are shorter than the time */
    bool resources;  /* memory_bytes becomes what its first attempt is to ask for */
};

/* Where a run time comes from. Numbers that do not exist are NAN. */
struct run_time_basis {
    const char *source; /* "etc", "estimate", "model", "limit" */
    const char *model_id;
    uint64_t model_version; /* UINT64_MAX: no model */
    double low_s, high_s, level;
    const char *interval_basis;
    double extrapolation_ratio;
    double memory_bytes; /* that took the place of the job's */
};

struct job {
    const char *id;
    double estimate_ref_s; /* run time at 1 MIPS, >= 0; NAN: not known */
    const double *etc_s;   /* run time on each resource of the snapshot, in its order; */
    size_t etc_count;      /* NAN: cannot run there; 0: use estimate_ref_s */
    double cpus;           /* needed while it runs, > 0 */
    double memory_bytes;   /* needed while it runs, >= 0 */
    const char *user;      /* NULL: anonymous */
    const char *const *organisations;
    size_t organisation_count;
    const char *requirement; /* expression, NULL: true */
    const char *rank; /* expression, NULL: -turnaround_s, or 0 without an estimate */
    const char *const *input_file_ids;
    size_t input_file_count;
    double output_bytes;    /* goes to the snapshot's home site, >= 0 */
    double release_s;       /* not to start before, seconds from now, >= 0 */
    double deadline_s;      /* to be done by, seconds from now; NAN: none */
    double queued_at_s;     /* instant; NAN: now */
    double deadline_at_s;   /* instant; NAN: none; used when deadline_s is not given */
    double fixed_priority;  /* 0..19; 20: urgent (spec gridway.md 4.1) */
    double task_index;      /* of a parameter sweep: ${GW_TASK_ID}; NAN: position */
    double param_start;     /* whole; ${PARAM} is this + param_increment * task_index; */
    double param_increment; /* whole; NAN: 0 and 1 */

    /* Only decisions about amounts look at these (world-model.md 2.3). */
    double disk_bytes;               /* >= 0 */
    const struct named_value *needs; /* other amounts: numbers >= 0, of each node */
    size_t need_count;
    uint64_t nodes;                /* different resources, >= 1 */
    bool exclusive;                /* shares them with nobody */
    double time_limit_s;           /* killed so long after its start, > 0; NAN: never */
    double estimate_s;             /* run time wherever it runs, >= 0; NAN: not known */
    double priority;               /* larger first */
    double weight;                 /* >= 0 */
    const struct job_group *group; /* NULL: none */
    const struct job_after *after;
    size_t after_count;
    bool preemptible;
    bool preempt;                     /* others may be stopped for it */
    const char *const *partition_ids; /* none: the default partition */
    size_t partition_id_count;
    const struct job_model *model; /* has told the times above, if the caller did not;
                                      NULL: none */
    const char *model_silence;     /* why it has not; NULL: it has */
    uint64_t count;                /* so many alike: selections take one for all, others
                                      have one for each of them; 0 is 1 */
    uint64_t copy;                 /* then: its number among them, from 0 */
};

/* The name of a copy where each needs its own, as in leases and among what runs:
 * "job[3]". */
enum { JOB_COPY_NAME_BYTES = 288 };
const char *job_copy_name(const char *id, uint64_t copy, char name[JOB_COPY_NAME_BYTES]);

/* The other way: the bytes of `name` that are the job's id, and which copy it is. 0: it
 * is not of that form. */
size_t job_copy_read(const char *name, uint64_t *copy);

/* What the group goes by: JOB_KEY_RESOURCE, JOB_KEY_SITE, or an attribute's name. */
const char *job_group_key(const struct job_group *g);

/* Two keys are the same: names of attributes in any case. */
bool job_group_keys_agree(const char *a, const char *b);

/* The attribute that the group goes by; NULL: none. */
const char *job_group_attribute(const struct job_group *g);

/* A job of which nothing is said: one cpu of one resource, no run time, no limits. */
struct job job_unset(const char *id);

#endif
