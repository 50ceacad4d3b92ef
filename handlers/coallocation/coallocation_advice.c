/* coallocation_advice.c - rules before or beside a placement: POST
 * /v1/coallocations/advice, .../acquire-plans and .../replication-advice. */
#include "handlers/coallocation/coallocations.h"

#include "algorithms/coallocation/advice.h"
#include "handlers/coallocation/coallocation_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ACCESSES_MAX = 1000000 };

_Static_assert(sizeof(enum co_advice) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum co_acquire_mode) == sizeof(int), "a choice is an int");

/* A mistake; the pointer is formatted. */
__attribute__((format(printf, 4, 5))) static void mistake(struct error *err,
                                                          enum item_code code,
                                                          const char *detail,
                                                          const char *pointer, ...)
{
    char text[160];
    va_list args;

    va_start(args, pointer);
    vsnprintf(text, sizeof(text), pointer, args);
    va_end(args);
    invalid(err, text, code, "%s", detail);
}

/* ---- co-allocate or not ---- */

struct advice_request {
    struct decision_request decision;
    double now_s;
    const struct co_snapshot *snapshot;
    uint64_t processors;
    double single_run_time_s, co_allocated_run_time_s, slowdown; /* NAN: not given */
    double max_slowdown;
};

struct watched {
    const char *site_id;
    uint64_t processors_short;
};

struct advice_answer {
    struct decision_answer decision;
    enum co_advice advice;
    double slowdown;
    const char *site_id;
    uint64_t available;
    const struct watched *watch;
    size_t watch_count;
};

#define T struct advice_request
static const struct json_field advice_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, for warnings; default: the snapshot's taken_at, else 0"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json,
                JSON_POINTER | JSON_REQUIRED, "Clusters"),
    JSON_INTEGER(T, processors, 1, 1e9, 0, JSON_REQUIRED, "What the job needs in all"),
    JSON_NUMBER(T, single_run_time_s, 0, 1e12, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Its run time on one site", JSON_WAS({"single_runtime_s", 0}),
                JSON_WITH("co_allocated_run_time_s")),
    JSON_NUMBER(T, co_allocated_run_time_s, 0, 1e12, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Its run time over several sites",
                JSON_WAS({"co_allocated_runtime_s", 0}), JSON_WITH("single_run_time_s")),
    JSON_NUMBER(T, slowdown, 0, 1e12, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "The second over the first, instead of both",
                JSON_UNLESS("single_run_time_s", "co_allocated_run_time_s")),
    JSON_NUMBER(T, max_slowdown, 0, 1e12, CO_SLOWDOWN_WORTH, JSON_ABOVE_MIN,
                "Up to which several sites are worth it; default 1.25"),
    {0},
};
#undef T
const struct json_object coallocation_advice_request_json = {
    "CoallocationAdviceRequest", "A job that might be spread over sites",
    sizeof(struct advice_request), advice_rows};

#define T struct watched
static const struct json_field watched_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_INTEGER(T, processors_short, 0, JSON_EXACT, 0, 0,
                 "Once it has so many more, the job fits there"),
    {0},
};
#undef T
static const struct json_object watched_json = {"WatchedSite", "A site that may do later",
                                                sizeof(struct watched), watched_rows};

#define T struct advice_answer
static const struct json_field advice_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("co_allocate_or_not")),
    JSON_CHOICE(T, advice, co_advice_names, 0, 0,
                "single_site: one has room now; co_allocate; wait"),
    JSON_NUMBER(T, slowdown, 0, 0, 0, 0, "As it was used"),
    JSON_TEXT(T, site_id, JSON_MAY_BE_NULL,
              "The site with most available processors; null: none"),
    JSON_INTEGER(T, available, 0, JSON_EXACT, 0, 0, "Processors on all sites together"),
    JSON_LIST(T, watch, watch_count, struct watched, &watched_json, 0, 0,
              "wait: sites that will do, those that lack least first"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object coallocation_advice_answer_json = {
    "CoallocationAdvice", "Whether to spread a job over sites",
    sizeof(struct advice_answer), advice_answer_rows};

enum error_code post_coallocation_advice(struct request *rq, const void *in, void *out)
{
    const struct advice_request *body = in;
    struct advice_answer *answer = out;
    struct decision_request plain;
    struct co_advised advised;
    struct co_world world;
    struct watched *watch;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    plain = co_plain_decision(&body->decision, rq->err);
    answer->slowdown = isnan(body->slowdown)
                           ? body->co_allocated_run_time_s / body->single_run_time_s
                           : body->slowdown;
    TRY(co_world_read(body->snapshot, &plain, body->now_s, &world, rq->arena, rq->err));
    TRY(rq->err->code);
    co_advise(&world.grid, body->processors, answer->slowdown, body->max_slowdown,
              &advised, rq->arena);
    watch = NEW(rq->arena, struct watched, advised.watch_count);
    for (size_t i = 0; i < advised.watch_count; i++)
        watch[i] = (struct watched){world.grid.sites[advised.watch[i].site].id,
                                    advised.watch[i].processors_short};
    answer->advice = advised.advice;
    if (advised.site != CO_NONE)
        answer->site_id = world.grid.sites[advised.site].id;
    answer->available = advised.available;
    answer->watch = watch;
    answer->watch_count = advised.watch_count;
    co_world_warnings(&world, &answer->decision.warnings, &answer->decision.warning_count,
                      rq->arena);
    co_warn_unused_members(
        rq, &answer->decision,
        (const struct co_unused_member[]){
            {"/single_run_time_s", "slowdown is given",
             !isnan(body->slowdown) && !isnan(body->single_run_time_s)},
            {"/co_allocated_run_time_s", "slowdown is given",
             !isnan(body->slowdown) && !isnan(body->co_allocated_run_time_s)},
        },
        2);
    co_warn_unused_envelope(rq, &answer->decision, &body->decision, false);
    decision_end(rq, "co_allocate_or_not", DECISION_FEASIBLE, &answer->decision);
    return OK;
}

/* ---- acquiring several sites ---- */

struct acquire_request {
    struct decision_request decision;
    enum co_acquire_mode mode;
    const char *const *site_ids;
    size_t site_count;
    const char *const *acquired_site_ids;
    size_t acquired_count;
    const char *failed_site_id; /* NULL: none failed */
};

enum acquire_action { ACQUIRE_NEXT, ACQUIRE_RELEASE, ACQUIRE_WAIT, ACQUIRE_DONE };
static const char *const acquire_actions[] = {"acquire", "release", "wait", "done", NULL};
_Static_assert(sizeof(enum acquire_action) == sizeof(int), "a choice is an int");

struct acquire_answer {
    struct decision_answer decision;
    enum acquire_action action;
    const char *const *order;
    size_t order_count;
    const char *next_site_id;
    const char *const *release_site_ids;
    size_t release_count;
};

#define T struct acquire_request
static const struct json_field acquire_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_CHOICE(T, mode, co_acquire_mode_names, CO_AONP, 0,
                "aonp: all or nothing, in the order given; odp2: one at a time by name, "
                "hold and wait: no deadlock; default aonp"),
    JSON_TEXTS(T, site_ids, site_count, CO_SITES_MAX, JSON_REQUIRED,
               "Sites that the job needs together", JSON_LEAST(1)),
    JSON_TEXTS(T, acquired_site_ids, acquired_count, CO_SITES_MAX, 0,
               "Those that it has, in the order in which it got them"),
    JSON_ID(T, failed_site_id, JSON_NULLABLE, "The one that was refused just now"),
    {0},
};
#undef T
const struct json_object acquire_plans_request_json = {
    "AcquirePlanRequest", "Sites to acquire together", sizeof(struct acquire_request),
    acquire_rows};

#define T struct acquire_answer
static const struct json_field acquire_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_ONE(co_acquire_mode_names)),
    JSON_CHOICE(T, action, acquire_actions, 0, 0,
                "acquire: next_site_id; release: release_site_ids, then start again "
                "later; wait: keep all, try next_site_id again; done: it has all"),
    JSON_TEXTS(T, order, order_count, 0, 0, "Order in which to acquire"),
    JSON_TEXT(T, next_site_id, JSON_MAY_BE_NULL, "The next one; null: none"),
    JSON_TEXTS(T, release_site_ids, release_count, 0, 0,
               "What to give back, the last first"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object acquire_plans_answer_json = {
    "AcquirePlan", "What to acquire or give back next", sizeof(struct acquire_answer),
    acquire_answer_rows};

/* Repeated and unknown sites; has[i]: site i is acquired. */
static enum error_code check_acquired(const struct acquire_request *body, bool *has,
                                      struct arena *a, struct error *err)
{
    struct name_index index;
    size_t failed;

    name_index_create(&index, body->site_count, a);
    for (size_t i = 0; i < body->site_count; i++)
        if (name_index_add(&index, body->site_ids[i], i) != NAME_NOT_FOUND)
            mistake(err, ITEM_DUPLICATE, "the site is in the list already",
                    "/site_ids/%zu", i);
    for (size_t i = 0; i < body->acquired_count; i++) {
        size_t site = name_index_find(&index, body->acquired_site_ids[i]);

        if (site == NAME_NOT_FOUND)
            mistake(err, ITEM_UNKNOWN_ID, "site_ids has no such site",
                    "/acquired_site_ids/%zu", i);
        else if (has[site])
            mistake(err, ITEM_DUPLICATE, "the site is in the list already",
                    "/acquired_site_ids/%zu", i);
        else
            has[site] = true;
    }
    if (!body->failed_site_id)
        return err->code;
    failed = name_index_find(&index, body->failed_site_id);
    if (failed == NAME_NOT_FOUND)
        mistake(err, ITEM_UNKNOWN_ID, "site_ids has no such site", "/failed_site_id");
    else if (has[failed])
        mistake(err, ITEM_NOT_ALLOWED, "the site is acquired", "/failed_site_id");
    return err->code;
}

enum error_code post_acquire_plans(struct request *rq, const void *in, void *out)
{
    const struct acquire_request *body = in;
    struct acquire_answer *answer = out;
    bool *has = NEW(rq->arena, bool, body->site_count);
    const char **names = NEW(rq->arena, const char *, body->site_count);
    const char **release = NEW(rq->arena, const char *, body->acquired_count);
    size_t *order;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    co_plain_decision(&body->decision, rq->err);
    TRY(check_acquired(body, has, rq->arena, rq->err));
    co_acquire_order(body->mode, body->site_ids, body->site_count, &order, rq->arena);
    answer->action = ACQUIRE_DONE;
    for (size_t i = 0; i < body->site_count; i++) {
        names[i] = body->site_ids[order[i]];
        if (!has[order[i]] && !answer->next_site_id) {
            answer->next_site_id = names[i];
            answer->action = ACQUIRE_NEXT;
        }
    }
    if (body->failed_site_id && body->mode == CO_AONP) {
        answer->action = ACQUIRE_RELEASE;
        answer->next_site_id = NULL;
        answer->release_count = body->acquired_count;
        for (size_t i = 0; i < body->acquired_count; i++)
            release[i] = body->acquired_site_ids[body->acquired_count - 1 - i];
    } else if (body->failed_site_id) {
        answer->action = ACQUIRE_WAIT;
        answer->next_site_id = body->failed_site_id;
    }
    answer->order = names;
    answer->order_count = body->site_count;
    answer->release_site_ids = release;
    co_warn_unused_envelope(rq, &answer->decision, &body->decision, false);
    decision_end(rq, co_acquire_mode_names[body->mode], DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}

/* ---- copying popular files ---- */

struct access {
    const char *file_id, *site_id;
    uint64_t count;
};

struct replication_request {
    struct decision_request decision;
    double now_s;
    const struct co_snapshot *snapshot;
    const struct access *accesses;
    size_t access_count;
    uint64_t file_count;
};

struct popular {
    const char *file_id;
    double access_count;
    const char *const *copy_to_site_ids;
    size_t copy_count;
};

struct replication_answer {
    struct decision_answer decision;
    const struct popular *files;
    size_t file_count;
};

#define T struct access
static const struct json_field access_rows[] = {
    JSON_ID(T, file_id, JSON_REQUIRED, "The file"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Site that read it"),
    JSON_INTEGER(T, count, 0, 1e12, 1, 0, "How often; default 1"),
    {0},
};
#undef T
static const struct json_object access_json = {"FileAccess", "A site read a file",
                                               sizeof(struct access), access_rows};

#define T struct replication_request
static const struct json_field replication_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, for warnings; default: the snapshot's taken_at, else 0"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json,
                JSON_POINTER | JSON_REQUIRED, "Clusters and replicas"),
    JSON_LIST(T, accesses, access_count, struct access, &access_json, ACCESSES_MAX,
              JSON_REQUIRED, "What was read; the same pair is summed up"),
    JSON_INTEGER(T, file_count, 1, CO_FILES_MAX, 10, 0,
                 "How many files to name at most; default 10"),
    {0},
};
#undef T
const struct json_object replication_advice_request_json = {
    "ReplicationAdviceRequest", "What was read where", sizeof(struct replication_request),
    replication_rows};

#define T struct popular
static const struct json_field popular_rows[] = {
    JSON_TEXT(T, file_id, 0, "The file"),
    JSON_NUMBER(T, access_count, 0, 0, 0, JSON_WHOLE, "How often it was read"),
    JSON_TEXTS(T, copy_to_site_ids, copy_count, 0, 0,
               "Sites that read it and have no copy, those that read it most first"),
    {0},
};
#undef T
static const struct json_object popular_json = {"PopularFile", "A file that is read much",
                                                sizeof(struct popular), popular_rows};

#define T struct replication_answer
static const struct json_field replication_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("popular_files")),
    JSON_LIST(T, files, file_count, struct popular, &popular_json, 0, 0,
              "Files, those that are read most first"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object replication_advice_answer_json = {
    "ReplicationAdvice", "Which files to copy where", sizeof(struct replication_answer),
    replication_answer_rows};

static enum error_code read_accesses(const struct replication_request *body,
                                     const struct co_grid *grid, struct co_access *out,
                                     struct error *err)
{
    for (size_t i = 0; i < body->access_count; i++) {
        out[i] = (struct co_access){co_file_find(grid, body->accesses[i].file_id),
                                    co_site_find(grid, body->accesses[i].site_id),
                                    (double)body->accesses[i].count};
        if (out[i].file == CO_NONE)
            mistake(err, ITEM_UNKNOWN_ID, "the snapshot has no such file",
                    "/accesses/%zu/file_id", i);
        if (out[i].site == CO_NONE)
            mistake(err, ITEM_UNKNOWN_ID, "the snapshot has no such site",
                    "/accesses/%zu/site_id", i);
    }
    return err->code;
}

enum error_code post_replication_advice(struct request *rq, const void *in, void *out)
{
    const struct replication_request *body = in;
    struct replication_answer *answer = out;
    struct co_access *accesses = NEW(rq->arena, struct co_access, body->access_count);
    const struct co_popular *files;
    struct decision_request plain;
    struct popular *list;
    struct co_world world;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    plain = co_plain_decision(&body->decision, rq->err);
    TRY(co_world_read(body->snapshot, &plain, body->now_s, &world, rq->arena, rq->err));
    TRY(read_accesses(body, &world.grid, accesses, rq->err));
    co_popular_files(&world.grid, accesses, body->access_count, body->file_count, &files,
                     &answer->file_count, rq->arena);
    list = NEW(rq->arena, struct popular, answer->file_count);
    for (size_t i = 0; i < answer->file_count; i++) {
        const char **sites = NEW(rq->arena, const char *, files[i].site_count);

        for (size_t k = 0; k < files[i].site_count; k++)
            sites[k] = world.grid.sites[files[i].sites[k]].id;
        list[i] = (struct popular){world.grid.files[files[i].file].id,
                                   files[i].access_count, sites, files[i].site_count};
    }
    answer->files = list;
    co_world_warnings(&world, &answer->decision.warnings, &answer->decision.warning_count,
                      rq->arena);
    co_warn_unused_envelope(rq, &answer->decision, &body->decision, false);
    decision_end(rq, "popular_files", DECISION_FEASIBLE, &answer->decision);
    return OK;
}
