/* claim_times.c - two modes of POST /v1/claims: when the tries of a job would be
 * (timeline), and in which order waiting jobs are claimed (queue).
 *
 * Source: spec coallocation.md 8.
 */
#include "handlers/claiming/claim_times.h"

#include "algorithms/coallocation/claim.h"
#include "handlers/claiming/claim_choice.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/operations/policy_words.h"

#define TIME_MAX_S 1e12

#define INSTANT_S(T, m, flag, text) \
    JSON_NUMBER(T, m, -TIME_MAX_S, TIME_MAX_S, NAN, flag, text)

static const char *const timeline_kind[] = {"timeline", NULL};
static const char *const queue_kind[] = {"queue", NULL};

/* ---- kind timeline ---- */

struct timeline_request {
    struct decision_request decision;
    int kind;
    double jpt_s, ftt_s, l_value;
    const char *const *site_ids;
    size_t site_count;
    double processors; /* NAN: not given */
    const struct claim_l_request *l_choice;
};

struct timeline_answer {
    struct decision_answer decision;
    int kind;
    double jst_s;
    const double *claim_times_s;
    size_t claim_time_count;
    const struct claim_l_answer *l_choice;
};

#define T struct timeline_request
static const struct json_field timeline_rows[] = {
    JSON_CHOICE(T, kind, timeline_kind, 0, JSON_REQUIRED,
                "timeline: when a job would be claimed, if no try succeeds"),
    INSTANT_S(T, jpt_s, JSON_REQUIRED, "When it is placed"),
    JSON_NUMBER(T, ftt_s, 0, TIME_MAX_S, 0, JSON_REQUIRED,
                "Time of its longest transfer"),
    JSON_NUMBER(T, l_value, 0, 1, 0.75, 0, "Its L; default 0.75"),
    JSON_TEXTS(T, site_ids, site_count, CO_SITES_MAX, 0,
               "Sites that it is placed on, in any order; l_choice needs them"),
    JSON_NUMBER(T, processors, 1, 1e9, NAN, JSON_NULLABLE,
                "Its processors on all of them; l_choice needs them"),
    CLAIM_L_CHOICE_ROW(T),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object claim_timeline_request_json = {
    "ClaimTimelineRequest", "A job to be placed", sizeof(struct timeline_request),
    timeline_rows};

#define T struct timeline_answer
static const struct json_field timeline_answer_rows[] = {
    JSON_CHOICE(T, kind, timeline_kind, 0, 0, "timeline"),
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(claim_words)),
    JSON_NUMBER(T, jst_s, 0, 0, 0, 0, "When it starts"),
    JSON_NUMBERS(T, claim_times_s, claim_time_count, 0, 0, 0,
                 "When it is claimed; the last is the final one"),
    CLAIM_L_ANSWER_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object claim_timeline_answer_json = {
    "ClaimTimelineAnswer", "Claiming times", sizeof(struct timeline_answer),
    timeline_answer_rows};

/* L by what became of earlier claims on these sites. */
static enum error_code choose_l(struct request *rq, const struct timeline_request *body,
                                struct timeline_answer *answer, double *l)
{
    const struct claim_l_question question = {
        body->site_ids, body->site_count, body->processors, body->ftt_s, body->l_value};
    struct claim_l_answer *chosen = NEW(rq->arena, struct claim_l_answer, 1);
    const char *warning;

    if (body->site_count == 0)
        invalid(rq->err, "/site_ids", ITEM_REQUIRED, "l_choice needs the sites");
    if (isnan(body->processors))
        invalid(rq->err, "/processors", ITEM_REQUIRED, "l_choice needs the processors");
    TRY(rq->err->code);
    TRY(claim_l_choose(rq, body->l_choice, &question, chosen, &warning));
    *l = chosen->l_value;
    answer->l_choice = chosen;
    co_add_warning(warning, &answer->decision.warnings, &answer->decision.warning_count,
                   rq->arena);
    return OK;
}

enum { TIMELINE_MIN_INTERVAL, TIMELINE_ZERO_L_INTERVAL, TIMELINE_PARAM_COUNT };

enum error_code claim_timeline(struct request *rq, const void *in, void *out)
{
    static const struct param rows[] = {
        [TIMELINE_MIN_INTERVAL] = {"min_claim_interval_s", 1e-3, 1e9, 1,
                                   "Least time between claims", PARAM_NUMBER, NULL},
        [TIMELINE_ZERO_L_INTERVAL] = {"zero_l_claim_interval_s", 1e-3, 1e9, 10,
                                      "Time between claims when L is 0", PARAM_NUMBER,
                                      NULL},
        [TIMELINE_PARAM_COUNT] = {0},
    };
    const struct timeline_request *body = in;
    struct timeline_answer *answer = out;
    double value[TIMELINE_PARAM_COUNT], l = body->l_value;
    struct co_claim_steps steps;
    enum error_code code;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    code = params_bind(rows, body->decision.options, body->decision.option_count, value,
                       rq->err);
    if (code != OK && code != ERR_INVALID)
        return code;
    if (body->l_choice)
        TRY(choose_l(rq, body, answer, &l));
    TRY(rq->err->code);
    steps = (struct co_claim_steps){value[TIMELINE_MIN_INTERVAL],
                                    value[TIMELINE_ZERO_L_INTERVAL]};
    answer->jst_s = co_jst_s(body->jpt_s, body->ftt_s);
    TRY(co_claim_schedule(body->jpt_s, body->ftt_s, l, &steps, &answer->claim_times_s,
                          &answer->claim_time_count, rq->arena, rq->err));
    decision_end(rq, "incremental", DECISION_FEASIBLE, &answer->decision);
    return OK;
}

/* ---- kind queue ---- */

struct waiting_job {
    const char *id;
    double jct_s, submit_time_s;
};

struct queue_request {
    struct decision_request decision;
    int kind;
    double now_s;
    const struct waiting_job *jobs;
    size_t job_count;
};

struct queue_answer {
    struct decision_answer decision;
    int kind;
    const char *const *job_ids;
    size_t job_count;
    uint64_t due_count;
    double next_jct_s;
};

#define T struct waiting_job
static const struct json_field waiting_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name"),
    INSTANT_S(T, jct_s, JSON_REQUIRED, "When it is claimed"),
    INSTANT_S(T, submit_time_s, JSON_NULLABLE,
              "When it was submitted; default: after those that say it"),
    {0},
};
#undef T
static const struct json_object waiting_json = {"ClaimWaitingJob",
                                                "A job in the claiming queue",
                                                sizeof(struct waiting_job), waiting_rows};

#define T struct queue_request
static const struct json_field queue_rows[] = {
    JSON_CHOICE(T, kind, queue_kind, 0, JSON_REQUIRED,
                "queue: in which order jobs are claimed"),
    INSTANT_S(T, now_s, JSON_REQUIRED, "The present"),
    JSON_LIST(T, jobs, job_count, struct waiting_job, &waiting_json, CO_JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Placed jobs that wait"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object claim_queue_request_json = {
    "ClaimQueueRequest", "The claiming queue", sizeof(struct queue_request), queue_rows};

#define T struct queue_answer
static const struct json_field queue_answer_rows[] = {
    JSON_CHOICE(T, kind, queue_kind, 0, 0, "queue"),
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(claim_words)),
    JSON_TEXTS(T, job_ids, job_count, 0, 0,
               "By claiming time, then submission, then name"),
    JSON_INTEGER(T, due_count, 0, JSON_EXACT, 0, 0, "So many of them are due"),
    JSON_NUMBER(T, next_jct_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Claiming time of the first that is not; null: there is none"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object claim_queue_answer_json = {
    "ClaimQueueAnswer", "The claiming queue in order", sizeof(struct queue_answer),
    queue_answer_rows};

enum error_code claim_queue(struct request *rq, const void *in, void *out)
{
    const struct queue_request *body = in;
    struct queue_answer *answer = out;
    struct co_claim_waiting *list =
        NEW(rq->arena, struct co_claim_waiting, body->job_count);
    const char **ids = NEW(rq->arena, const char *, body->job_count);

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(params_bind(NULL, body->decision.options, body->decision.option_count, NULL,
                    rq->err));
    for (size_t i = 0; i < body->job_count; i++)
        list[i] = (struct co_claim_waiting){body->jobs[i].id, body->jobs[i].jct_s,
                                            body->jobs[i].submit_time_s, i};
    co_claim_queue_sort(list, body->job_count);
    answer->next_jct_s = NAN;
    for (size_t i = 0; i < body->job_count; i++) {
        ids[i] = list[i].id;
        if (body->now_s >= list[i].jct_s - CO_TIME_SLACK_S)
            answer->due_count = i + 1;
        else if (isnan(answer->next_jct_s))
            answer->next_jct_s = list[i].jct_s;
    }
    answer->job_ids = ids;
    answer->job_count = body->job_count;
    decision_end(rq, "incremental", DECISION_FEASIBLE, &answer->decision);
    return OK;
}
