/* claim_choice.c - the L of a claim by what became of earlier ones. */
#include "handlers/claiming/claim_choice.h"

#include "algorithms/coallocation/claim_choice.h"
#include "handlers/common/decision.h"
#include "models/claim_attempt.h"
#include "service/clock.h"
#include "service/records/records.h"
#include "service/store_claim.h"

#define KEPT "claim_outcomes"

static const char *const bases[] = {"given", "history", NULL};
_Static_assert(sizeof(enum claim_l_basis) == sizeof(int), "a choice is an int");

#define T struct claim_l_request
static const struct json_field request_rows[] = {
    JSON_NUMBER(T, requeue_cost_s, 0, 1e12, NAN, JSON_NULLABLE,
                "Time that a job loses that is not claimed by its start and placed "
                "again; default: that of its longest transfer"),
    JSON_NUMBER(T, min_samples, 1, 1e6, 20, 0,
                "An L that so many placements on the same sites have ended with is "
                "looked at; default 20"),
    JSON_NUMBER(T, prior_weight, 0, 1e6, 10, 0,
                "Few placements are drawn towards those on any sites by the weight of so "
                "many; default 10"),
    JSON_NUMBER(T, window_s, 1, 315360000, 2592000, 0,
                "How far to look back; default 2592000"),
    JSON_INSTANT(T, at, JSON_NULLABLE, "Look back from here; default: now"),
    {0},
};
#undef T
const struct json_object claim_l_request_json = {
    "ClaimLChoice", "How to choose L", sizeof(struct claim_l_request), request_rows};

#define T struct claim_l_candidate
static const struct json_field candidate_rows[] = {
    JSON_NUMBER(T, l_value, 0, 1, 0, 0, "An L, in steps of 0.05"),
    JSON_INTEGER(T, samples, 0, JSON_EXACT, 0, 0,
                 "Placements on the same sites that were claimed with it and have ended"),
    JSON_INTEGER(T, successes, 0, JSON_EXACT, 0, 0, "Those that got their processors"),
    JSON_NUMBER(T, success_ratio, 0, 1, 0, 0, "p(L), the others considered"),
    JSON_NUMBER(T, cost_processor_s, 0, 0, 0, 0,
                "Processor seconds held in vain, and lost by being placed again, to be "
                "expected"),
    {0},
};
#undef T
static const struct json_object candidate_json = {
    "ClaimLCandidate", "An L and what it costs", sizeof(struct claim_l_candidate),
    candidate_rows};

#define T struct claim_l_answer
static const struct json_field answer_rows[] = {
    JSON_NUMBER(T, l_value, 0, 1, 0, 0, "The L that was chosen"),
    JSON_CHOICE(T, basis, bases, 0, 0,
                "given: too little is known of claims on these sites"),
    JSON_INTEGER(T, samples, 0, JSON_EXACT, 0, 0,
                 "Placements on the same sites that have ended, with any L"),
    JSON_NUMBER(T, success_ratio, 0, 1, 0, JSON_MAY_BE_NULL,
                "p of the chosen L; null: not known"),
    JSON_LIST(T, candidates, candidate_count, struct claim_l_candidate, &candidate_json,
              0, 0, "Every L that was looked at, ascending"),
    {0},
};
#undef T
const struct json_object claim_l_answer_json = {
    "ClaimLChosen", "How L was chosen", sizeof(struct claim_l_answer), answer_rows};

/* ---- what was looked up ---- */

struct kept {
    bool unavailable;
    const struct store_claim_outcome *outcomes;
    size_t outcome_count;
};

#define T struct store_claim_outcome
static const struct json_field outcome_rows[] = {
    JSON_BOOLEAN(T, same_sites, 0, JSON_REQUIRED, "Of the same sites, else of any"),
    JSON_INTEGER(T, step, 0, STORE_L_STEPS, 0, JSON_REQUIRED, "L times 20"),
    JSON_INTEGER(T, end_count, 0, JSON_EXACT, 0, JSON_REQUIRED, "Ended placements"),
    JSON_INTEGER(T, success_count, 0, JSON_EXACT, 0, JSON_REQUIRED, "Claimed ones"),
    {0},
};
#undef T
static const struct json_object outcome_json = {
    "KeptClaimOutcome", "How placements ended", sizeof(struct store_claim_outcome),
    outcome_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The claim attempts could not be read"),
    JSON_LIST(T, outcomes, outcome_count, struct store_claim_outcome, &outcome_json, 0, 0,
              "How placements ended, by L"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptClaimOutcomes",
                                             "The claim attempts of a decision",
                                             sizeof(struct kept), kept_rows};

/* The sites as they are stored: a JSON array of them, each once, sorted. */
static enum error_code site_set(const struct claim_l_question *question,
                                const char **text, struct arena *a, struct error *err)
{
    struct claim_attempt t = {.site_ids = question->site_ids,
                              .site_count = question->site_count};
    struct text_buffer b = {.arena = a};

    TRY(claim_attempt_record.complete(&t, a, err));
    text_add(&b, "[", 1);
    for (size_t i = 0; i < t.site_count; i++) {
        text_add(&b, ",", i > 0);
        json_print_text(t.site_ids[i], &b);
    }
    text_add(&b, "]", 1);
    *text = text_end(&b);
    return OK;
}

static enum error_code query(struct request *rq, const struct claim_l_request *in,
                             const struct claim_l_question *question, struct kept *out)
{
    double at_s = isnan(in->at_s) ? clock_wall_s() : in->at_s;
    struct db_session *db;
    const char *sites;

    TRY(site_set(question, &sites, rq->arena, rq->err));
    TRY(request_db(rq, &db));
    return store_claim_outcomes(db, rq->principal.tenant, sites, at_s - in->window_s,
                                at_s, &out->outcomes, &out->outcome_count, rq->arena,
                                rq->err);
}

static enum error_code look_up(struct request *rq, const struct claim_l_request *in,
                               const struct claim_l_question *question, struct kept *out)
{
    struct error before = *rq->err;
    enum error_code code;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, out, &replayed));
    if (replayed)
        return OK;
    code = query(rq, in, question, out);
    out->unavailable = code == ERR_UNAVAILABLE || code == ERR_BUSY;
    if (out->unavailable)
        *rq->err = before;
    else if (code != OK)
        return code;
    return decision_keep_lookup(rq, KEPT, &kept_json, out);
}

/* ---- choosing ---- */

static void sum_up(const struct kept *kept, struct co_l_outcome *list)
{
    for (size_t i = 0; i <= STORE_L_STEPS; i++)
        list[i] = (struct co_l_outcome){.l = (double)i / STORE_L_STEPS};
    for (size_t i = 0; i < kept->outcome_count; i++) {
        const struct store_claim_outcome *o = &kept->outcomes[i];
        struct co_l_outcome *l = &list[o->step > STORE_L_STEPS ? STORE_L_STEPS : o->step];

        if (o->same_sites) {
            l->ends += (double)o->end_count;
            l->successes += (double)o->success_count;
        } else {
            l->all_ends += (double)o->end_count;
            l->all_successes += (double)o->success_count;
        }
    }
}

static void fill(const struct co_l_choice *choice, struct claim_l_answer *out,
                 struct arena *a)
{
    struct claim_l_candidate *list =
        NEW(a, struct claim_l_candidate, choice->candidate_count);

    for (size_t i = 0; i < choice->candidate_count; i++) {
        const struct co_l_candidate *c = &choice->candidates[i];

        list[i] =
            (struct claim_l_candidate){c->l, (uint64_t)c->ends, (uint64_t)c->successes,
                                       c->success_ratio, c->cost_processor_s};
    }
    *out = (struct claim_l_answer){
        .l_value = choice->l,
        .basis = choice->learnt ? CLAIM_L_HISTORY : CLAIM_L_GIVEN,
        .samples = (uint64_t)choice->ends,
        .success_ratio =
            choice->learnt ? list[choice->chosen].success_ratio : (double)NAN,
        .candidates = list,
        .candidate_count = choice->candidate_count,
    };
}

enum error_code claim_l_choose(struct request *rq, const struct claim_l_request *in,
                               const struct claim_l_question *question,
                               struct claim_l_answer *out, const char **warning)
{
    struct co_l_outcome outcomes[STORE_L_STEPS + 1];
    const struct co_l_choice_in choice_in = {
        .list = outcomes,
        .count = STORE_L_STEPS + 1,
        .given_l = question->given_l,
        .processors = question->processors,
        .ftt_s = question->ftt_s,
        .requeue_cost_s =
            isnan(in->requeue_cost_s) ? question->ftt_s : in->requeue_cost_s,
        .prior_weight = in->prior_weight,
        .min_samples = in->min_samples,
    };
    struct co_l_choice choice;
    struct kept kept = {0};

    TRY(look_up(rq, in, question, &kept));
    sum_up(&kept, outcomes);
    co_choose_l(&choice_in, &choice, rq->arena);
    *warning = NULL;
    if (kept.unavailable)
        *warning = "history_unavailable: the stored claim attempts cannot be read now; L "
                   "is as given";
    else if (!choice.learnt)
        *warning = "few_samples: too few claims on these sites have ended; L is as given";
    fill(&choice, out, rq->arena);
    return OK;
}
