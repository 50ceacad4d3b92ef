/* weights.c - ready jobs weigh what waits for them: the upward ranks of a session's
 * tasks. */
#include "handlers/session_run/plan.h"

#include "models/base/names.h"

#include <string.h>

/* What a stored decision keeps. */
struct kept_weights {
    const double *weights; /* by job; NAN: the session has no such task left */
    size_t count;
};
#define T struct kept_weights
static const struct json_field kept_rows[] = {
    JSON_NUMBERS(T, weights, count, 0, JSON_LARGEST, JSON_NULLABLE, "By job"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptSessionWeights", "Weights of jobs",
                                             sizeof(struct kept_weights), kept_rows};

static const char KEPT[] = "session_weights";

/* Of the session as it is now. */
static enum error_code read_weights(struct request *rq, const char *session_id,
                                    const struct job *jobs, size_t count, double *weights)
{
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    struct session_run run;
    struct name_index ids;
    const double *ranks;

    TRY(session_run_find(&run, rq, session_id, &now, false));
    TRY(session_world(&run));
    TRY(session_ranks(&run, session_times_of(&run), &ids, &ranks));
    for (size_t i = 0; i < count; i++) {
        size_t at = name_index_find(&ids, jobs[i].id);

        budget_step(&rq->finish, 1);
        weights[i] = at == NAME_NOT_FOUND ? (double)NAN : ranks[at];
    }
    return OK;
}

enum error_code session_weigh(struct request *rq, const char *session_id,
                              const struct job *jobs, size_t count,
                              const struct job **out, size_t *unknown_count,
                              size_t *first_unknown)
{
    struct job *weighed = NEW(rq->arena, struct job, count);
    double *weights = NEW(rq->arena, double, count);
    struct kept_weights kept = {weights, count};
    bool replayed = false;

    *unknown_count = 0;
    if (session_id) {
        TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
        if (!replayed) {
            TRY(read_weights(rq, session_id, jobs, count, weights));
            TRY(decision_keep_lookup(rq, KEPT, &kept_json, &kept));
        }
    }
    memcpy(weighed, jobs, count * sizeof(*jobs));
    for (size_t i = 0; i < count; i++) {
        double rank_s = session_id && i < kept.count ? kept.weights[i] : (double)NAN;

        if (!isnan(jobs[i].weight))
            continue;
        weighed[i].weight = isnan(rank_s) ? 1 : rank_s;
        if (session_id && isnan(rank_s) && (*unknown_count)++ == 0)
            *first_unknown = i;
    }
    *out = weighed;
    return OK;
}
