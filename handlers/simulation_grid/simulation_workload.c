/* simulation_workload.c - the jobs of a simulation: preset, upload, request. */
#include "handlers/simulation/simulation_parts.h"
#include "handlers/stored/workload_log.h"
#include "models/base/names.h"
#include "models/base/pointer.h"
#include "service/hash.h"
#include "service/stored_hint.h"

#include "models/base/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- uploads ---- */

/* What is kept of an upload: whose content it was. */
struct kept_upload {
    const char *id, *sha256;
};

#define T struct kept_upload
static const struct json_field kept_rows[] = {
    JSON_TEXT(T, id, JSON_REQUIRED, "Name of the upload"),
    JSON_TEXT(T, sha256, JSON_REQUIRED, "SHA-256 of the document, in hexadecimal"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptUpload", "An upload as it was",
                                             sizeof(struct kept_upload), kept_rows};

/* A replay, and what was queued, need the very upload that was asked for. */
static enum error_code check_upload(struct building *b, const char *member,
                                    struct db_session *db, enum store_trace_kind kind,
                                    const struct store_trace *upload)
{
    char digest[SHA256_HEX_SIZE];
    struct kept_upload now = {upload->trace_id, digest}, kept = {0};
    bool found;

    TRY(workload_sha256(db, b->rq->principal.tenant, kind, upload, digest, b->a, b->err));
    TRY(decision_lookup(b->rq, member + 1, &kept_json, &kept, &found));
    if (!found)
        return decision_keep_lookup(b->rq, member + 1, &kept_json, &now);
    if (strcmp(kept.sha256, digest) == 0)
        return OK;
    return fail(b->err, ERR_CONFLICT, member,
                "the upload '%.128s' is another than when the simulation was asked for: "
                "its SHA-256 was %.64s and is %s; ask again",
                upload->trace_id, kept.sha256, digest);
}

static enum error_code fail_gone(struct building *b, const char *member, const char *id)
{
    struct kept_upload kept = {0};
    bool found;

    TRY(decision_lookup(b->rq, member + 1, &kept_json, &kept, &found));
    if (found)
        return fail(b->err, ERR_CONFLICT, member,
                    "the upload '%.128s' with the SHA-256 %.64s has been deleted since "
                    "the simulation was asked for",
                    id, kept.sha256);
    return invalid(b->err, member, ITEM_UNKNOWN_ID,
                   "there is no such upload '%.128s'; POST it to %s first", id,
                   strcmp(member, "/workload_id") == 0 ? "/v1/workloads"
                                                       : "/v1/failure-traces");
}

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
        return check_upload(b, member, db, kind, out);
    if (code == ERR_NOT_FOUND) {
        code = fail_gone(b, member, id);
        stored_hint(b->rq, member + 1, id);
        return code;
    }
    b->err->retry_after_s = here.retry_after_s;
    return fail(b->err, code, here.field, "%s", here.text);
}

static enum error_code take_log(struct building *b, const char *id, struct workload *w)
{
    struct store_trace trace = {0};
    struct workload_log *read = NEW(b->a, struct workload_log, 1);
    const struct swf_counts *counts = &read->counts;
    struct db_session *db;
    struct swf_log log;
    const char *left_out;

    TRY(simulation_upload(b, STORE_WORKLOAD, "/workload_id", id, &trace));
    TRY(request_db(b->rq, &db));
    TRY(workload_log_load(db, b->rq->principal.tenant, &trace, read, b->a, b->err));
    log = read->log;
    left_out = workload_left_out(read, false, b->a);
    if (left_out)
        simulation_warn(b->out, b->a, "%s", left_out);
    if (counts->skipped)
        simulation_warn(
            b->out, b->a, "skipped: %s of /workload_id, first line %llu (%s), %s",
            counted(counts->skipped, "line").text,
            (unsigned long long)counts->issues[0].line,
            swf_skip_names[counts->issues[0].reason],
            plural(counts->skipped, "is no usable job", "are no usable jobs"));
    if (counts->unsorted)
        simulation_warn(b->out, b->a,
                        "unsorted: %s of /workload_id, first line %llu, %s "
                        "not in the order of arrival, and %s been sorted",
                        counted(counts->unsorted, "line").text,
                        (unsigned long long)counts->first_unsorted_line,
                        plural(counts->unsorted, "was", "were"),
                        plural(counts->unsorted, "has", "have"));
    if (log.count > SIMULATION_JOBS_MAX && w->job_count == 0)
        return invalid(b->err, "/workload_id", ITEM_TOO_LONG,
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

static void take_jobs(struct building *b, const struct simulation_workload *in,
                      const char *pointer, struct workload *w)
{
    struct sim_job *jobs = NEW(b->a, struct sim_job, in->job_count);
    struct name_index users;
    size_t user_count = 0;

    name_index_create(&users, in->job_count, b->a);
    for (size_t i = 0; i < in->job_count; i++) {
        const struct simulation_job *job = &in->jobs[i];

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
    w->jobs = jobs;
    w->given_count = in->job_count;
    b->given[b->given_count++] = (struct given_jobs){in, pointer, jobs};
}

/* The names of all of them, by their numbers. */
static void name_jobs(struct building *b)
{
    const char **ids;
    size_t count = 0;

    for (size_t i = 0; i < b->given_count; i++)
        count += b->given[i].in->job_count;
    ids = NEW(b->a, const char *, count);
    b->out->job_ids = ids;
    b->out->job_id_count = count;
    for (size_t i = 0; i < b->given_count; i++)
        for (size_t k = 0; k < b->given[i].in->job_count; k++)
            *ids++ = b->given[i].in->jobs[k].id;
}

static int compare_id(const void *id, const void *name)
{
    return strcmp(id, ((const struct sim_resource_name *)name)->id);
}

static void pin(struct building *b, const struct given_jobs *given, size_t index,
                const struct sim_resource_name *names, size_t name_count)
{
    const struct simulation_job *job = &given->in->jobs[index];
    const struct sim_resource_name *found =
        bsearch(job->resource_id, names, name_count, sizeof(*names), compare_id);
    struct pointer pointer;

    pointer = pointer_in(pointer_of(given->pointer, "jobs").text, index, "resource_id");
    if (!found) {
        invalid(b->err, pointer.text, ITEM_UNKNOWN_ID,
                "no resource of the grid is called so");
        return;
    }
    given->jobs[index].resource = (size_t)(found - names);
    if (!isnan(job->session_s))
        invalid(b->err, pointer.text, ITEM_CONFLICT,
                "a session is placed by the vm policy");
}

enum error_code simulation_pins(struct building *b)
{
    const struct sim_resource_name *names = NULL;
    size_t name_count = 0;

    for (size_t g = 0; g < b->given_count; g++) {
        const struct given_jobs *given = &b->given[g];

        for (size_t i = 0; i < given->in->job_count; i++) {
            if (!given->in->jobs[i].resource_id)
                continue;
            if (!names)
                sim_resource_names(&b->scenario, &names, &name_count, b->a);
            pin(b, given, i, names, name_count);
        }
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

/* Another set has numbers of its own: those of a preset's do not stay. */
static void take_lublin(const struct lublin *in, struct lublin *to)
{
    if ((int)in->set != SIMULATION_NOT_GIVEN) {
        *to = workload_blank(WORKLOAD_LUBLIN).lublin;
        to->set = in->set;
    }
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

static enum error_code mistake(struct building *b, const char *pointer,
                               const char *member, enum item_code code, const char *text)
{
    char whole[128];

    snprintf(whole, sizeof(whole), "%s%s", pointer, member);
    return invalid(b->err, whole, code, "%s", text);
}

static const char *preset_at(const void *presets, size_t i)
{
    return ((const struct workload_preset *)presets)[i].name;
}

static enum error_code unknown_workload(struct error *err, const char *pointer,
                                        const char *name)
{
    char hint[NAMES_HINT_BYTES];

    invalid(err, pointer, ITEM_NOT_A_CHOICE, "there is no workload '%.60s'; %s", name,
            names_hint_in(name, preset_at, workload_presets, hint, sizeof(hint)));
    error_allow_in(err, name, preset_at, workload_presets);
    return ERR_INVALID;
}

/* Where to begin: the workload's preset, the scenario's, or a blank one. */
static enum error_code begin(struct building *b, const struct simulation_workload *in,
                             const char *pointer, struct workload *w)
{
    struct error here = {.code = OK};
    bool given = in && in->job_count;
    int generator = in ? in->generator : SIMULATION_NOT_GIVEN;
    bool has_preset = b->scenario.workload && !b->body->user_interface_count;

    if (generator == SIMULATION_NOT_GIVEN && b->body->workload_id)
        generator = WORKLOAD_SWF;
    else if (generator == SIMULATION_NOT_GIVEN && given)
        generator = WORKLOAD_BATCH;
    if (in && in->preset) {
        struct pointer whole = pointer_of(pointer, "preset");

        if (workload_from_preset(in->preset, w, b->a, &here) != OK)
            return unknown_workload(b->err, whole.text, in->preset);
    } else if (has_preset) {
        *w = *b->scenario.workload;
        if (isinf(w->stop_s)) /* prepared: to be left open again */
            w->stop_s = NAN;
    } else if (generator == SIMULATION_NOT_GIVEN) {
        return mistake(b, pointer, in ? "/generator" : "", ITEM_REQUIRED,
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

/* A slot runs one processor's worth: what needs several would be a fraction of
 * itself. */
static void check_width(struct building *b, const char *pointer, const struct workload *w)
{
    size_t log_count = w->swf_job_count, wide = 0;

    if (w->job_count && w->job_count < log_count)
        log_count = w->job_count;
    for (size_t i = 0; i < log_count; i++)
        wide += swf_processors(&w->swf_jobs[i]) > 1;
    if (wide > 0 && !b->body->ignore_width)
        invalid(b->err, "/workload_id", ITEM_NOT_ALLOWED,
                "%zu of %s %s several processors, which a slot of kind grid is not: play "
                "them with kind cluster, or with ignore_width on one slot each",
                wide, counted(log_count, "job").text, plural(wide, "needs", "need"));
    for (size_t i = 0; i < w->given_count; i++) {
        if (w->jobs[i].cpus <= 1)
            continue;
        wide++;
        if (b->body->ignore_width)
            continue;
        invalid(
            b->err, pointer_in(pointer_of(pointer, "jobs").text, i, "cpus").text,
            ITEM_NOT_ALLOWED,
            "a slot of kind grid is one processor, not %llu: play it with kind cluster, "
            "or with ignore_width on one slot",
            (unsigned long long)w->jobs[i].cpus);
    }
    if (wide > 0 && b->body->ignore_width)
        simulation_warn(b->out, b->a,
                        "width_ignored: %s of several processors %s on one slot "
                        "each, as long as each of %s processors would",
                        counted(wide, "job").text, plural(wide, "runs", "run"),
                        plural(wide, "its", "their"));
}

static bool has_lublin(const struct lublin *l)
{
    return (int)l->set != SIMULATION_NOT_GIVEN || !isnan(l->aarr) || !isnan(l->barr) ||
           !isnan(l->arar) || !isnan(l->anum) || !isnan(l->bnum) || !isnan(l->a1) ||
           !isnan(l->b1) || !isnan(l->a2) || !isnan(l->b2) || !isnan(l->pa) ||
           !isnan(l->pb);
}

/* What the request says of the workload and its generator does not look at. */
static void warn_unused(struct building *b, const struct workload *in,
                        enum workload_generator generator, const char *pointer)
{
    enum {
        GAPS = 1U << WORKLOAD_UNIFORM_STREAM | 1U << WORKLOAD_POISSON |
               1U << WORKLOAD_VM_SESSION,
        OWN_LENGTH = 1U << WORKLOAD_BATCH | 1U << WORKLOAD_LUBLIN | 1U << WORKLOAD_SWF |
                     1U << WORKLOAD_VM_SESSION,
        BATCHES = 1U << WORKLOAD_TORNADO_BATCH,
        SESSIONS = 1U << WORKLOAD_VM_SESSION
    };
    const struct {
        const char *name;
        unsigned used_by; /* generators */
        bool given;
    } members[] = {
        {"arrival_gap_s", GAPS, in->arrival_gap_s != NULL},
        {"length_mi", ~(unsigned)OWN_LENGTH, in->length_mi != NULL},
        {"batch_size", BATCHES, in->batch_size > 0},
        {"batches_min", BATCHES, in->batches_min > 0},
        {"batches_max", BATCHES, in->batches_max > 0},
        {"lublin", 1U << WORKLOAD_LUBLIN, has_lublin(&in->lublin)},
        {"swf_mips", 1U << WORKLOAD_SWF, !isnan(in->swf_mips)},
        {"mips_required", SESSIONS, in->mips_required != NULL},
        {"session_s", SESSIONS, in->session_s != NULL},
    };
    const char *names = "";
    size_t count = 0;

    for (size_t k = 0; k < sizeof(members) / sizeof(*members) && names; k++)
        if (members[k].given && !(members[k].used_by & 1U << generator))
            names = arena_printf(b->a, "%s%s%s/%s", names, count++ ? ", " : "", pointer,
                                 members[k].name);
    if (count && names)
        simulation_warn(b->out, b->a,
                        "ignored: %zu member%s (%s): jobs of the generator %s do not "
                        "come by %s",
                        count, count == 1 ? "" : "s", names,
                        workload_generator_names[generator], count == 1 ? "it" : "them");
}

/* Generators that take a number of jobs as a limit get the service's. */
static void limit_jobs(struct workload *w, uint64_t most)
{
    bool exact = w->generator == WORKLOAD_LUBLIN || w->generator == WORKLOAD_SIMPLE_DAILY;

    if (exact || w->job_count > 0)
        return;
    w->job_count = most;
    w->truncates = w->given_count == 0 && w->swf_job_count == 0;
}

/* One workload: the request's, or that of an interface. */
static enum error_code make_workload(struct building *b,
                                     const struct simulation_workload *in,
                                     const char *pointer, struct workload *w)
{
    TRY(begin(b, in, pointer, w));
    if (in)
        merge(&in->workload, w);
    if (w->generator == WORKLOAD_INTERFACES)
        return mistake(b, pointer, "/generator", ITEM_CONFLICT,
                       "interfaces are given by user_interfaces");
    if (w->generator == WORKLOAD_SWF && !b->body->workload_id)
        return invalid(b->err, "/workload_id", ITEM_REQUIRED,
                       "the generator swf needs an uploaded log");
    if (b->body->workload_id && w->generator != WORKLOAD_SWF)
        return invalid(b->err, "/workload_id", ITEM_CONFLICT,
                       "only with the generator swf, not %s",
                       workload_generator_names[w->generator]);
    if (in && in->job_count && w->generator != WORKLOAD_BATCH)
        return mistake(b, pointer, "/jobs", ITEM_CONFLICT,
                       "only with the generator batch");
    if (b->body->workload_id)
        TRY(take_log(b, b->body->workload_id, w));
    if (in && w->generator == WORKLOAD_BATCH)
        take_jobs(b, in, pointer, w);
    check_width(b, pointer, w);
    if (in)
        warn_unused(b, &in->workload, w->generator, pointer);
    /* an interface may have one more than all together, so that one is missed */
    limit_jobs(w, SIMULATION_JOBS_MAX + (b->body->user_interface_count ? 1 : 0));
    return workload_prepare(w, pointer, b->a, b->err);
}

/* ---- user interfaces ---- */

static void check_interface(struct building *b, const char *pointer,
                            const struct workload *w)
{
    bool sessions = w->generator == WORKLOAD_VM_SESSION;

    for (size_t i = 0; w->generator == WORKLOAD_BATCH && i < w->given_count; i++)
        sessions |= !isnan(w->jobs[i].session_s);
    if (sessions)
        mistake(b, pointer, "", ITEM_CONFLICT, "sessions come from a single workload");
}

static enum error_code make_interface(struct building *b, size_t index,
                                      struct workload_interface *out)
{
    const struct simulation_interface *in = &b->body->user_interfaces[index];
    struct workload *w = NEW(b->a, struct workload, 1);
    const char *pointer = pointer_keep("/user_interfaces", index, "workload", b->a);
    enum error_code code;

    *w = workload_blank(WORKLOAD_BATCH);
    code = make_workload(b, in->workload, pointer, w);
    if (code == OK)
        check_interface(b, pointer, w);
    *out = (struct workload_interface){in->id, w};
    return code == ERR_INVALID ? OK : code; /* noted */
}

static enum error_code make_interfaces(struct building *b, struct workload *w)
{
    const struct simulation_request *body = b->body;
    size_t count = body->user_interface_count, mistakes = b->err->item_count;
    struct workload_interface *list = NEW(b->a, struct workload_interface, count);

    if (body->workload)
        invalid(b->err, "/workload", ITEM_CONFLICT, "give either it or user_interfaces");
    if (body->workload_id)
        return invalid(b->err, "/workload_id", ITEM_CONFLICT,
                       "a log comes from a single workload");
    for (size_t i = 0; i < count; i++)
        TRY(make_interface(b, i, &list[i]));
    if (b->err->item_count > mistakes)
        return b->err->code;
    *w = workload_blank(WORKLOAD_INTERFACES);
    w->interfaces = list;
    w->interface_count = count;
    limit_jobs(w, SIMULATION_JOBS_MAX);
    return workload_prepare(w, "/user_interfaces", b->a, b->err);
}

enum error_code simulation_workload(struct building *b)
{
    const struct simulation_request *body = b->body;
    struct workload *w = &b->out->workload;

    *w = workload_blank(WORKLOAD_BATCH);
    b->given = NEW(b->a, struct given_jobs, body->user_interface_count + 1);
    if (body->user_interface_count)
        TRY(make_interfaces(b, w));
    else
        TRY(make_workload(b, body->workload, "/workload", w));
    name_jobs(b);
    return OK;
}
