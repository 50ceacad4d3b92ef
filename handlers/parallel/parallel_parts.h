/* parallel_parts.h - POST /v1/parallel-schedules: the body, and a request on its way. */
#ifndef GRIDPLAN_PARALLEL_PARTS_H
#define GRIDPLAN_PARALLEL_PARTS_H

#include "algorithms/parallel/sites.h"
#include "handlers/common/decision.h"
#include "handlers/sites/sites_lookup.h"

/* ---- the body ---- */

struct schedule_site {
    struct site site;
    const struct site_model *model; /* NULL: the job's */
};

struct schedule_snapshot {
    const struct schedule_site *sites;
    size_t site_count;
};

struct schedule_job {
    const char *id, *application_id;
    double problem_size; /* NAN: not given */
    uint64_t min_processors;
    const struct site_model *model;
};

struct schedules_request {
    struct decision_request decision;
    const struct schedule_snapshot *snapshot;
    const char *snapshot_id;
    const struct schedule_job *jobs;
    size_t job_count;
    bool prefer_fewer_machines;
};

/* ---- one request ---- */

struct schedule_call {
    struct request *rq;
    const struct schedules_request *body;
    const struct schedule_job *job;
    const struct policy *policy;
    double param[PARAMS_MAX];
    const struct schedule_site *sites;
    size_t site_count;
    struct sites_problem *problems;      /* of each site */
    const struct stored_model **sources; /* of each site; NULL: no stored model */
    const char **warnings;
    size_t warning_count, warning_room;
};

/* Reads the body and notes every mistake. */
enum error_code schedule_call_begin(struct schedule_call *call, struct request *rq,
                                    const struct schedules_request *body);

/* Adds a warning of the request. */
enum error_code schedule_warn(struct schedule_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A warning for each member that was given for nothing: how many, and where the first
 * one is. Once the models are there. */
enum error_code schedule_warn_unused(struct schedule_call *call);

/* The model of each site: its own, the job's, or a stored one. Sites without stay
 * without (problems[].model NULL). Needs the machines of call->problems. */
enum error_code schedule_models(struct schedule_call *call);

#endif
