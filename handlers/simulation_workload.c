/* simulation_workload.c - the jobs of a simulation: preset, upload, request. */
#include "handlers/simulation_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- uploads ---- */

enum error_code simulation_upload(struct building *b, enum store_trace_kind kind,
                                  const char *member, const char *id,
                                  struct store_trace *out)
{
    struct db_session *db;
    struct error here = {.code = OK};
    enum error_code code;

    TRY(request_db(b->rq, &db));
    code =
        store_trace_read(db, b->rq->principal.tenant, kind, id, true, out, b->a, &here);
    if (code == OK)
        return OK;
    if (code != ERR_NOT_FOUND) {
        b->err->retry_after_s = here.retry_after_s;
        return fail(b->err, code, here.field, "%s", here.text);
    }
    return invalid(b->err, member, "unknown_id",
                   "there is no such upload '%.128s'; POST it to %s first", id,
                   kind == STORE_WORKLOAD ? "/v1/workloads" : "/v1/failure-traces");
}

static enum error_code take_log(struct building *b, const char *id, struct workload *w)
{
    struct store_trace trace = {0};
    struct swf_log log = {.arena = b->a};
    struct swf_header header;
    struct swf_counts *counts = NEW(b->a, struct swf_counts, 1);

    TRY(simulation_upload(b, STORE_WORKLOAD, "/workload_id", id, &trace));
    if (!counts)
        return fail_memory(b->err);
    TRY(swf_read((const char *)trace.document.data, trace.document.length, &log, &header,
                 counts, b->a, b->err));
    if (log.count > SIMULATION_JOBS_MAX && w->job_count == 0)
        return invalid(b->err, "/workload_id", "too_long",
                       "%zu jobs are more than %d; say how many with workload.job_count",
                       log.count, SIMULATION_JOBS_MAX);
    w->swf_jobs = log.jobs;
    w->swf_job_count = log.count;
    return OK;
}

/* ---- jobs that are given ---- */

/* The number of a user's name. */
static size_t user_of(struct name_index *users, const char *name, size_t *count)
{
    size_t at;

    if (!name)
        return SIM_ANY_USER;
    at = name_index_add(users, name, *count);
    return at == NAME_NOT_FOUND ? (*count)++ : at;
}

static enum error_code take_jobs(struct building *b, const struct simulation_workload *in,
                                 struct workload *w)
{
    struct sim_job *jobs = NEW(b->a, struct sim_job, in->job_count);
    const char **ids = NEW(b->a, const char *, in->job_count);
    struct name_index users;
    size_t user_count = 0;

    if (!jobs || !ids || !name_index_create(&users, in->job_count, b->a))
        return fail_memory(b->err);
    for (size_t i = 0; i < in->job_count; i++) {
        const struct simulation_job *job = &in->jobs[i];

        ids[i] = job->id;
        jobs[i] = (struct sim_job){
            .number = i,
            .arrival_s = job->arrival_s,
            .length_mi = job->length_mi,
            .input_bytes = job->input_bytes,
            .output_bytes = job->output_bytes,
            .checkpoint_bytes = job->checkpoint_bytes,
            .checkpoint_overhead_s = job->checkpoint_overhead_s,
            .user = user_of(&users, job->user, &user_count),
            .resource = SIM_NOT_PINNED,
            .cpus = job->cpus,
            .mips_required = job->mips_required,
            .session_s = job->session_s,
            .requested_s = job->requested_s,
            .given = i,
        };
    }
    w->jobs = b->jobs = jobs;
    w->given_count = in->job_count;
    b->out->job_ids = ids;
    return OK;
}

static int compare_id(const void *id, const void *name)
{
    return strcmp(id, ((const struct sim_resource_name *)name)->id);
}

static void pin(struct building *b, size_t index, const struct sim_resource_name *names,
                size_t name_count)
{
    const struct simulation_job *job = &b->body->workload->jobs[index];
    const struct sim_resource_name *found =
        bsearch(job->resource_id, names, name_count, sizeof(*names), compare_id);
    char pointer[64];

    if (!found) {
        snprintf(pointer, sizeof(pointer), "/workload/jobs/%zu/resource_id", index);
        invalid(b->err, pointer, "unknown_id", "no resource of the grid is called so");
        return;
    }
    b->jobs[index].resource = (size_t)(found - names);
    if (isnan(job->session_s))
        return;
    snprintf(pointer, sizeof(pointer), "/workload/jobs/%zu/resource_id", index);
    invalid(b->err, pointer, "conflict", "a session is placed by the vm policy");
}

enum error_code simulation_pins(struct building *b)
{
    const struct simulation_workload *in = b->body->workload;
    const struct sim_resource_name *names = NULL;
    size_t name_count = 0;

    for (size_t i = 0; b->jobs && i < in->job_count; i++) {
        if (!in->jobs[i].resource_id)
            continue;
        if (!names)
            TRY(sim_resource_names(&b->scenario, &names, &name_count, b->a, b->err));
        pin(b, i, names, name_count);
    }
    return b->err->code;
}

/* ---- the request over what is there ---- */

static void take_distribution(const struct distribution *given,
                              const struct distribution **to)
{
    if (given)
        *to = given;
}

static void take_number(double given, double *to)
{
    if (!isnan(given))
        *to = given;
}

static void take_count(uint64_t given, uint64_t *to)
{
    if (given)
        *to = given;
}

static void take_lublin(const struct lublin *in, struct lublin *to)
{
    if ((int)in->set != SIMULATION_NOT_GIVEN)
        to->set = in->set;
    take_number(in->aarr, &to->aarr);
    take_number(in->barr, &to->barr);
    take_number(in->arar, &to->arar);
    take_number(in->anum, &to->anum);
    take_number(in->bnum, &to->bnum);
    take_number(in->a1, &to->a1);
    take_number(in->b1, &to->b1);
    take_number(in->a2, &to->a2);
    take_number(in->b2, &to->b2);
    take_number(in->pa, &to->pa);
    take_number(in->pb, &to->pb);
}

static void merge(const struct workload *in, struct workload *to)
{
    take_number(in->start_s, &to->start_s);
    take_number(in->stop_s, &to->stop_s);
    take_count(in->job_count, &to->job_count);
    take_count(in->user_count, &to->user_count);
    take_distribution(in->arrival_gap_s, &to->arrival_gap_s);
    take_distribution(in->length_mi, &to->length_mi);
    take_distribution(in->input_bytes, &to->input_bytes);
    take_distribution(in->output_bytes, &to->output_bytes);
    take_distribution(in->checkpoint_bytes, &to->checkpoint_bytes);
    take_distribution(in->checkpoint_overhead_s, &to->checkpoint_overhead_s);
    take_number(in->checkpoint_overhead_factor, &to->checkpoint_overhead_factor);
    take_count(in->batch_size, &to->batch_size);
    take_count(in->batches_min, &to->batches_min);
    take_count(in->batches_max, &to->batches_max);
    take_lublin(&in->lublin, &to->lublin);
    take_number(in->swf_mips, &to->swf_mips);
    take_distribution(in->mips_required, &to->mips_required);
    take_distribution(in->session_s, &to->session_s);
}

/* Where to begin: the workload's preset, the scenario's, or a blank one. */
static enum error_code begin(struct building *b, const struct simulation_workload *in,
                             struct workload *w)
{
    struct error here = {.code = OK};
    bool given = in && in->job_count;
    int generator = in ? in->generator : SIMULATION_NOT_GIVEN;

    if (generator == SIMULATION_NOT_GIVEN && b->body->workload_id)
        generator = WORKLOAD_SWF;
    else if (generator == SIMULATION_NOT_GIVEN && given)
        generator = WORKLOAD_BATCH;
    if (in && in->preset) {
        if (workload_from_preset(in->preset, w, b->a, &here) != OK)
            return invalid(b->err, "/workload/preset", "unknown_preset",
                           "there is no workload '%.60s'; one of them is '%s'",
                           in->preset, workload_presets[0].name);
    } else if (b->scenario.workload) {
        *w = *b->scenario.workload;
        if (isinf(w->stop_s)) /* prepared: to be left open again */
            w->stop_s = NAN;
    } else if (generator == SIMULATION_NOT_GIVEN) {
        return invalid(b->err, in ? "/workload/generator" : "/workload", "required",
                       "say which jobs come: workload.generator, workload.jobs, a "
                       "workload_id or a preset");
    } else {
        *w = workload_blank((enum workload_generator)generator);
    }
    if (generator != SIMULATION_NOT_GIVEN &&
        w->generator != (enum workload_generator)generator)
        *w = workload_blank((enum workload_generator)generator);
    return OK;
}

/* Generators that take a number of jobs as a limit get the service's. */
static void limit_jobs(struct workload *w)
{
    bool exact = w->generator == WORKLOAD_LUBLIN || w->generator == WORKLOAD_SIMPLE_DAILY;

    if (!exact && w->job_count == 0)
        w->job_count = SIMULATION_JOBS_MAX;
}

enum error_code simulation_workload(struct building *b)
{
    const struct simulation_workload *in = b->body->workload;
    struct workload *w = &b->out->workload;

    *w = workload_blank(WORKLOAD_BATCH);
    TRY(begin(b, in, w));
    if (in)
        merge(&in->workload, w);
    if (w->generator == WORKLOAD_SWF && !b->body->workload_id)
        return invalid(b->err, "/workload_id", "required",
                       "the generator swf needs an uploaded log");
    if (b->body->workload_id && w->generator != WORKLOAD_SWF)
        return invalid(b->err, "/workload_id", "conflict",
                       "only with the generator swf, not %s",
                       workload_generator_names[w->generator]);
    if (in && in->job_count && w->generator != WORKLOAD_BATCH)
        return invalid(b->err, "/workload/jobs", "conflict",
                       "only with the generator batch, not %s",
                       workload_generator_names[w->generator]);
    if (b->body->workload_id)
        TRY(take_log(b, b->body->workload_id, w));
    if (in && w->generator == WORKLOAD_BATCH)
        TRY(take_jobs(b, in, w));
    limit_jobs(w);
    return workload_prepare(w, "/workload", b->a, b->err);
}
