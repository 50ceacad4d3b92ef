/* decisions.c - /v1/decisions: what was decided, and deciding it again. */
#include "handlers/stored/routes.h"

#include "handlers/common/page.h"
#include "handlers/operations/policy_words.h"
#include "handlers/pictures/answer_columns.h"
#include "handlers/pictures/pictures.h"
#include "handlers/stored/removal.h"
#include "models/decision_status.h"
#include "service/hash.h"
#include "service/json_holds.h"
#include "service/json_patch.h"
#include "service/openapi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_MAX = 100 };

/* Members of the answers that a replay does not compare; it leases nothing. */
#define IGNORED "decision_id", "timings", "lease_id", "lease_expires_at"
static const char *const ignored[] = {IGNORED, NULL};
static const char *const ignored_if_cut[] = {
    IGNORED, "status", "warnings", "because", "bounds", "stopped_early", NULL};
/* Cut before its first step, of which it is not known what came before it. */
static const char *const ignored_if_not_begun[] = {
    IGNORED,  "status",       "warnings",          "because",
    "bounds", "bound_effort", "improved_at_steps", NULL};
/* Likewise: the list policy is run that gave the plan. */
static const char *const ignored_if_listed[] = {
    IGNORED, "status",       "warnings",  "because",           "bounds", "algorithm",
    "steps", "bound_effort", "best_list", "improved_at_steps", NULL};
/* Where what is left of the clock went into bounds, a replay may know better ones. */
static const char *const bound_pointers[] = {"/objective/lower_bound_s",
                                             "/objective/gap_ratio", NULL};

struct decisions_query {
    struct page_query page;
    struct range_query range;
    const char *endpoint, *algorithm, *job_id, *q;
    int status;
};

/* The last one: any. */
static const char *const statuses[] = {"optimal",    "feasible", "cut",
                                       "infeasible", "any",      NULL};
enum { ANY_STATUS = 4 };

struct decisions_removal {
    struct range_query range;
    const char *endpoint;
    bool dry_run;
};

struct decisions_page {
    const struct store_decision *items;
    size_t item_count;
    const char *next_page_token;
};

struct replay_answer {
    const char *decision_id;
    bool identical;
    const char *const *differences;
    size_t difference_count;
    const char *const *ignored;
    size_t ignored_count;
    const char *const *warnings;
    size_t warning_count;
    const char *answer; /* JSON */
};

#define T struct decisions_query
static const struct json_field query_rows[] = {
    JSON_ID(
        T, endpoint, 0,
        "Decisions of this endpoint only, as /v1/placements or placements; default: all",
        JSON_WAS({"route", 0})),
    JSON_ID(T, algorithm, 0, "Decisions of this policy only; default: of any"),
    JSON_CHOICE(T, status, statuses, ANY_STATUS, 0, "Decisions that ended so only"),
    JSON_ID(T, job_id, 0, "Decisions that speak of this job or task only; default: all"),
    {.name = "q",
     .doc = "Decisions whose id begins so, or a text of their labels, only; default: all",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, q, const char *),
     .min = 1,
     .max = 200},
    RANGE_ROWS(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object decisions_query_json = {
    "DecisionsQuery", "Which decisions, newest first", sizeof(struct decisions_query),
    query_rows};

#define T struct decisions_removal
static const struct json_field removal_rows[] = {
    JSON_ID(
        T, endpoint, 0,
        "Decisions of this endpoint only, as /v1/placements or placements; default: of "
        "any"),
    RANGE_ROWS(T),
    DRY_RUN_ROW(T),
    {0},
};
#undef T
const struct json_object decisions_removal_json = {
    "DecisionsRemoval", "Which decisions to remove, by when they were stored",
    sizeof(struct decisions_removal), removal_rows};

#define T struct store_decision
#define INFO_ROWS                                                                    \
    JSON_TEXT(T, decision_id, 0, "UUID of the decision"),                            \
        JSON_INSTANT(T, created_at, 0, "When it was stored"),                        \
        JSON_TEXT(T, endpoint, 0, "Endpoint that decided"),                          \
        JSON_WORD_OF(T, algorithm, decision_words, JSON_OPTIONAL,                    \
                     "Policy that decided"),                                         \
        JSON_WORD(T, status, decision_status_names, 0,                               \
                  "optimal, feasible, infeasible or cut"),                           \
        JSON_INTEGER(T, seed, 0, JSON_EXACT, 0, 0, "Seed of the random numbers"),    \
        JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,                  \
                     "Jobs or tasks that the answer speaks of"),                     \
        JSON_INTEGER(T, unplaced_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,             \
                     "Those of them that found no place"),                           \
        JSON_NUMBER(T, makespan_s, 0, 0, 0, JSON_OPTIONAL,                           \
                    "From the start until the last job has ended"),                  \
        JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_OPTIONAL,                            \
                    "How far above the lower bound"),                                \
        JSON_NUMBER(T, decide_s, 0, 0, 0, JSON_OPTIONAL, "Time that deciding took"), \
        JSON_RAW(T, labels, JSON_OPTIONAL, "The labels of the request")
static const struct json_field info_rows[] = {
    INFO_ROWS,
    {0},
};
static const struct json_field stored_rows[] = {
    INFO_ROWS,
    JSON_RAW(T, request, JSON_OPTIONAL, "The request as it came; see parts",
             JSON_HOLDS(&json_any_object)),
    {.name = "snapshot",
     .doc = "What the snapshot_id of the request meant then",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS(&json_any_object),
     .offset = JSON_AT(T, snapshot_document, const char *),
     .flags = JSON_OPTIONAL},
    {.name = "history",
     .doc = "What else was looked up for it then: a replay takes it from here",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS(&json_any_object),
     .offset = JSON_AT(T, history_document, const char *),
     .flags = JSON_OPTIONAL},
    JSON_RAW(T, answer, JSON_OPTIONAL, "The answer; see parts",
             JSON_HOLDS(&json_any_object)),
    JSON_RAW(
        T, answer_columns, JSON_OPTIONAL,
        "Where lists are asked for as columns: the lists of objects of the answer, "
        "which then lacks them, by name. A list is an object: count, and columns, by "
        "the name of the objects' member. A column has values and, where not all "
        "objects have the member, at: which do, from 0; one value is that of all of "
        "them; with index the values are different texts, and it says for each of "
        "them which",
        JSON_HOLDS(&json_any_object)),
    {0},
};
#undef T

enum list_form { LISTS_ROWS, LISTS_COLUMNS };
static const char *const list_forms[] = {"rows", "columns", NULL};

struct decision_query {
    const char *const *parts;
    size_t part_count;
    int lists; /* enum list_form */
};
enum { PARTS_MAX = 4 };

#define T struct decision_query
static const struct json_field decision_query_rows[] = {
    JSON_CHOICE(T, lists, list_forms, LISTS_ROWS, 0,
                "How lists of objects in the answer stand: object by object, or column "
                "by column in answer_columns, which is shorter and quicker to read; "
                "default rows"),
    JSON_TEXTS(T, parts, part_count, PARTS_MAX, 0,
               "Only these of request, answer, snapshot and history; default: all that "
               "there are"),
    {0},
};
#undef T
const struct json_object decision_query_json = {"DecisionQuery", "What is answered of it",
                                                sizeof(struct decision_query),
                                                decision_query_rows};

static const struct json_object info_json = {"DecisionInfo",
                                             "A stored decision without request and "
                                             "answer",
                                             sizeof(struct store_decision), info_rows};
const struct json_object stored_decision_json = {
    "StoredDecision", "A stored decision", sizeof(struct store_decision), stored_rows};

#define T struct decisions_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_decision, &info_json, 0, 0,
              "The decisions, newest first"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object decisions_page_json = {"DecisionsPage",
                                                "A page of stored decisions",
                                                sizeof(struct decisions_page), page_rows};

#define T struct replay_answer
static const struct json_field replay_rows[] = {
    JSON_TEXT(T, decision_id, 0, "The stored decision"),
    JSON_BOOLEAN(T, identical, 0, 0,
                 "Whether the new answer is the stored one; false also when they were "
                 "not compared: see warnings"),
    JSON_TEXTS(T, differences, difference_count, DIFFERENCES_MAX, 0,
               "JSON Pointers to what differs: the first 100"),
    JSON_TEXTS(T, ignored, ignored_count, 16, 0,
               "Members of the answer that were not compared"),
    JSON_TEXTS(T, warnings, warning_count, 0, JSON_OPTIONAL,
               "earlier_release: it was decided under an earlier description, and the "
               "answers are not compared"),
    JSON_RAW(T, answer, 0, "The new answer", JSON_HOLDS(&json_any_object)),
    {0},
};
#undef T
const struct json_object replay_answer_json = {
    "ReplayAnswer", "A stored request answered again, and compared",
    sizeof(struct replay_answer), replay_rows};

/* "placements" is "/v1/placements"; NULL: any. */
static const char *whole_endpoint(const char *given, struct arena *a)
{
    return !given || given[0] == '/' ? given : arena_printf(a, "/v1/%s", given);
}

enum error_code get_decisions(struct request *rq, const void *in, void *out)
{
    const struct decisions_query *query = rq->query;
    struct decisions_page *page = out;
    struct store_page part;
    struct db_session *db;
    const struct store_decision_filter filter = {
        .endpoint = whole_endpoint(query->endpoint, rq->arena),
        .algorithm = query->algorithm,
        .status = query->status == ANY_STATUS ? NULL : statuses[query->status],
        .job_id = query->job_id,
        .q = query->q,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s};

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_decisions_list(db, rq->principal.tenant, &filter, &part, &page->items,
                             &page->item_count, &page->next_page_token, rq->arena,
                             rq->err));
    return page_link(rq, &page->next_page_token);
}

/* What the query asks for. */
static enum error_code find_parts(const struct decision_query *query,
                                  struct store_decision_parts *wanted, struct error *err)
{
    const struct {
        const char *name;
        bool *is_wanted;
    } parts[PARTS_MAX] = {{"request", &wanted->request},
                          {"answer", &wanted->answer},
                          {"snapshot", &wanted->snapshot},
                          {"history", &wanted->history}};

    for (size_t k = 0; k < PARTS_MAX; k++)
        *parts[k].is_wanted = query->part_count == 0;
    for (size_t i = 0; i < query->part_count; i++) {
        size_t k = 0;

        while (k < PARTS_MAX && strcmp(query->parts[i], parts[k].name) != 0)
            k++;
        if (k == PARTS_MAX)
            return invalid(err, "?/parts", ITEM_NOT_A_CHOICE,
                           "'%.40s' is none of request, answer, snapshot and history",
                           query->parts[i]);
        *parts[k].is_wanted = true;
    }
    return OK;
}

/* A strong ETag of what is printed of a decision, which never changes: by id, parts,
 * form and the program that prints it. */
static void add_etag(struct request *rq, const struct store_decision *stored,
                     enum answer_form form)
{
    char hex[SHA256_HEX_SIZE];
    const char *text = arena_printf(
        rq->arena, "%s %d %d%d%d%d%d %s", stored->decision_id, (int)form,
        !!stored->request, !!stored->answer, !!stored->snapshot_document,
        !!stored->history_document, !!stored->answer_columns, GRIDPLAN_VERSION);

    hash_sha256_hex(text, strlen(text), hex);
    reply_header_add(rq->reply, "ETag", arena_printf(rq->arena, "\"%.16s\"", hex));
}

enum error_code get_decision(struct request *rq, const void *in, void *out)
{
    const struct decision_query *query = rq->query;
    enum answer_form form = request_answer_form(rq);
    struct store_decision *stored = out;
    struct store_decision_parts wanted;
    struct db_session *db;

    (void)in;
    TRY(find_parts(query, &wanted, rq->err));
    if (form == ANSWER_CHART)
        wanted = (struct store_decision_parts){true, true, false, true};
    TRY(request_db(rq, &db));
    TRY(store_decision_read_parts(db, rq->principal.tenant, rq->path_value[0], &wanted,
                                  stored, rq->arena, rq->err));
    if (form == ANSWER_CHART)
        TRY(picture_stored(rq, stored->request, stored->snapshot_document,
                           stored->answer));
    else if (query->lists == LISTS_COLUMNS && stored->answer)
        TRY(answer_columns(stored->answer, &stored->answer, &stored->answer_columns,
                           rq->arena, rq->err));
    add_etag(rq, stored, form);
    return OK;
}

enum error_code get_decision_chart(struct request *rq, const void *in, void *out)
{
    struct store_decision stored;
    struct db_session *db;

    (void)in, (void)out;
    TRY(request_db(rq, &db));
    TRY(store_decision_read(db, rq->principal.tenant, rq->path_value[0], &stored,
                            rq->arena, rq->err));
    return picture_reply(rq, stored.request, stored.snapshot_document, stored.answer);
}

enum error_code delete_decision(struct request *rq, const void *in, void *out)
{
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(store_decision_remove(db, rq->principal.tenant, rq->path_value[0], rq->err));
    log_correction(rq, 1);
    rq->reply->status = 204;
    return OK;
}

enum error_code delete_decisions(struct request *rq, const void *in, void *out)
{
    const struct decisions_removal *query = rq->query;
    struct removed_answer *answer = out;
    const char *endpoint = whole_endpoint(query->endpoint, rq->arena);
    struct db_session *db;
    size_t removed;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    if (!endpoint && isnan(query->range.from_at_s) && isnan(query->range.to_at_s))
        return invalid(rq->err, "?/endpoint", ITEM_REQUIRED,
                       "say which decisions: endpoint, from or to at least");
    TRY(request_db(rq, &db));
    TRY(store_decisions_remove(db, rq->principal.tenant, endpoint, query->range.from_at_s,
                               query->range.to_at_s, query->dry_run, &removed,
                               &answer->more, rq->arena, rq->err));
    answer->deleted = removed;
    if (!query->dry_run)
        log_correction(rq, removed);
    return OK;
}

static bool was_cut(const struct store_decision *stored)
{
    return strcmp(stored->status, "cut") == 0;
}

/* The member of the answer as JSON, or of its object `parent`; NULL: it has none. */
static enum error_code answer_member(const char *answer, const char *parent,
                                     const char *name, const char **value,
                                     struct arena *a, struct error *err)
{
    *value = NULL;
    if (parent) {
        TRY(json_member(answer, parent, &answer, a, err));
        if (!answer)
            return OK;
    }
    return json_member(answer, name, value, a, err);
}

/* How a search that its clock ended is made again without the clock. */
enum again {
    AGAIN_AS_IT_CAME,
    AGAIN_BY_STEPS, /* as many */
    AGAIN_NO_STEPS, /* before its first one: what it began with, which the request may
                       have brought, or the best of its list policies */
    AGAIN_LISTED    /* likewise, when the request brought nothing: that list policy */
};

/* Options that make a search take the same way without its clock. */
static enum error_code add_options(const struct store_decision *stored, const char *steps,
                                   const char *effort, struct text_buffer *patch,
                                   struct error *err)
{
    const char *start, *questions;

    text_addf(patch, ",\"options\":{\"max_steps\":%s", steps);
    TRY(answer_member(stored->answer, "best_list", "algorithm", &start, patch->arena,
                      err));
    TRY(answer_member(stored->answer, NULL, "scheduler_calls", &questions, patch->arena,
                      err));
    if (effort)
        text_addf(patch, ",\"bound_effort\":%s", effort);
    if (start && !questions) /* of plans all planners count their steps */
        text_addf(patch, ",\"start\":%s", start);
    text_addf(patch, "}");
    return OK;
}

static enum error_code find_again(const struct store_decision *stored, const char *steps,
                                  const char *list, enum again *again, struct arena *a,
                                  struct error *err)
{
    const char *initial;

    *again = AGAIN_BY_STEPS;
    if (steps && strtod(steps, NULL) >= 1)
        return OK;
    *again = AGAIN_AS_IT_CAME;
    if (!list)
        return OK;
    TRY(json_member(stored->request, "initial", &initial, a, err));
    *again = initial && strcmp(initial, "null") != 0 ? AGAIN_NO_STEPS : AGAIN_LISTED;
    return OK;
}

/* The request to answer again: as it came, or for a search that its clock ended with what
 * it had come to in place of the time. */
static enum error_code request_again(const struct store_decision *stored,
                                     const char **body, enum again *again,
                                     struct arena *a, struct error *err)
{
    struct text_buffer patch = {.arena = a};
    const char *steps, *effort, *list;

    *body = stored->request;
    *again = AGAIN_AS_IT_CAME;
    if (!was_cut(stored))
        return OK;
    TRY(answer_member(stored->answer, NULL, "steps", &steps, a, err));
    TRY(answer_member(stored->answer, NULL, "bound_effort", &effort, a, err));
    TRY(answer_member(stored->answer, "best_list", "algorithm", &list, a, err));
    TRY(find_again(stored, steps, list, again, a, err));
    if (*again == AGAIN_AS_IT_CAME)
        return OK;
    text_addf(&patch, "{\"time_limit_s\":null");
    if (*again == AGAIN_LISTED)
        text_addf(&patch,
                  ",\"initial\":null,\"options\":{\"max_steps\":null,"
                  "\"bound_effort\":null,\"start\":null},\"algorithm\":%s",
                  list);
    else
        TRY(add_options(stored, *again == AGAIN_BY_STEPS ? steps : "null", effort, &patch,
                        err));
    if (*again == AGAIN_BY_STEPS && !effort && stored->algorithm) {
        text_addf(&patch, ",\"algorithm\":");
        json_print_text(stored->algorithm, &patch);
    }
    text_add(&patch, "}", 2); /* with the NUL */
    return json_merge_patch(stored->request, text_end(&patch), body, a, err);
}

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return *list != NULL;
}

/* Of an objective, or of one of its levels. */
static bool is_of_bound(const char *pointer)
{
    static const char values[] = "/objective/values/";
    const char *member;

    if (is_one_of(pointer, bound_pointers))
        return true;
    if (strncmp(pointer, values, sizeof(values) - 1) != 0)
        return false;
    member = pointer + sizeof(values) - 1;
    member += strspn(member, "0123456789");
    return strcmp(member, "/bound") == 0 || strcmp(member, "/gap_ratio") == 0;
}

/* Takes out of the differences those of bounds. */
static void forgive_bounds(struct replay_answer *replay, const char **kept)
{
    size_t count = 0;

    for (size_t i = 0; i < replay->difference_count; i++)
        if (!is_of_bound(replay->differences[i]))
            kept[count++] = replay->differences[i];
    replay->differences = kept;
    replay->difference_count = count;
}

static enum error_code compare(const struct store_decision *stored, enum again again,
                               struct replay_answer *replay, struct arena *a,
                               struct error *err)
{
    replay->ignored = was_cut(stored) ? ignored_if_cut : ignored;
    if (again == AGAIN_NO_STEPS)
        replay->ignored = ignored_if_not_begun;
    if (again == AGAIN_LISTED)
        replay->ignored = ignored_if_listed;
    while (replay->ignored[replay->ignored_count])
        replay->ignored_count++;
    TRY(json_differences(stored->answer, replay->answer, replay->ignored, DIFFERENCES_MAX,
                         &replay->differences, &replay->difference_count, a, err));
    if (was_cut(stored)) {
        const char **kept = NEW(a, const char *, replay->difference_count);

        forgive_bounds(replay, kept);
    }
    replay->identical = replay->difference_count == 0;
    return OK;
}

/* Members may have had other names and units then: what differs would say nothing. */
static void tell_release(const struct store_decision *stored,
                         struct replay_answer *replay, struct arena *a)
{
    const char **warning = NEW(a, const char *, 1);

    *warning =
        isnan(stored->api_revision)
            ? "earlier_release: it was decided by a release before API revision 1; "
              "the answers are not compared"
            : arena_printf(a,
                           "earlier_release: it was decided under API revision "
                           "%.0f, this is %d; the answers are not compared",
                           stored->api_revision, API_REVISION);
    replay->warnings = warning;
    replay->warning_count = 1;
}

struct replay_query {
    bool with_current_models;
};

#define T struct replay_query
static const struct json_field replay_query_rows[] = {
    JSON_BOOLEAN(T, with_current_models, 0, 0,
                 "Asks the models of run times and memory as they are now, not as they "
                 "were; default false"),
    {0},
};
#undef T
const struct json_object replay_query_json = {"ReplayQuery", "What is to be as it is now",
                                              sizeof(struct replay_query),
                                              replay_query_rows};

/* What a decision looked up, but for its models. */
static enum error_code forget_models(const char **document, struct arena *a,
                                     struct error *err)
{
    static const char none[] =
        "{\"models\": null, \"job_models\": null, \"sizing_models\": null}";

    if (!*document)
        return OK;
    return json_merge_patch(*document, none, document, a, err);
}

enum error_code post_decision_replay(struct request *rq, const void *in, void *out)
{
    const struct replay_query *query = rq->query;
    struct replay_answer *replay = out;
    struct store_decision stored = {0};
    struct db_session *db;
    const char *body;
    enum again again;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_decision_read(db, rq->principal.tenant, rq->path_value[0], &stored,
                            rq->arena, rq->err));
    if (query->with_current_models)
        TRY(forget_models(&stored.history_document, rq->arena, rq->err));
    TRY(request_again(&stored, &body, &again, rq->arena, rq->err));
    rq->no_steps = again == AGAIN_NO_STEPS;
    TRY(request_replay(rq, stored.endpoint, body, stored.snapshot_document,
                       stored.history_document, &replay->answer));
    replay->decision_id = stored.decision_id;
    if (stored.api_revision == API_REVISION)
        return compare(&stored, again, replay, rq->arena, rq->err);
    tell_release(&stored, replay, rq->arena);
    return OK;
}
