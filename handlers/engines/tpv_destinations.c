/* tpv_destinations.c - Galaxy asks which destination is best for a job.
 *
 * Destinations where the tool has run are ordered by how long it waited and ran there,
 * the others by their distance to the data. Whatever goes wrong, the answer has every
 * destination that was sent.
 */
#include "handlers/engines/routes.h"

#include "models/tpv.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store_facade.h"

#include <math.h>
#include <string.h>

struct tpv_answer {
    const char *const *sorted_destinations;
    size_t destination_count;
};

#define T struct tpv_answer
static const struct json_field answer_rows[] = {
    JSON_TEXTS(T, sorted_destinations, destination_count, 0, 0,
               "Ids of all destinations that were sent, the best first"),
    {0},
};
#undef T
const struct json_object tpv_answer_json = {"TpvAnswer", "Which destination is best",
                                            sizeof(struct tpv_answer), answer_rows};

/* How long the tool waits and runs at each destination; NULL: it has not run, or that
 * cannot be asked. */
static const double *times_of(struct request *rq, const struct tpv_request *job,
                              const char **result)
{
    struct error before = *rq->err;
    const struct store_place_times *list;
    double *finish_s;
    struct db_session *db;
    size_t count;

    *result = "by_distance";
    if (!job->tool_id || !rq->service->db)
        return NULL;
    if (request_db(rq, &db) != OK ||
        store_place_times(db, rq->principal.tenant,
                          arena_printf(rq->arena, "galaxy/%s", job->tool_id), &list,
                          &count, rq->arena, rq->err) != OK) {
        *rq->err = before;
        *result = "no_history";
        return NULL;
    }
    finish_s = NEW(rq->arena, double, job->destination_count);
    for (size_t i = 0; i < job->destination_count; i++) {
        finish_s[i] = NAN;
        for (size_t k = 0; k < count; k++)
            if (strcmp(list[k].place, job->destinations[i].id) == 0)
                finish_s[i] = list[k].wait_s + list[k].run_time_s;
        if (!isnan(finish_s[i]))
            *result = "by_time";
    }
    return finish_s;
}

enum error_code post_tpv(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct tpv_answer *answer = out;
    struct tpv_request job;
    const char **ids, *result;
    const double *finish_s;
    size_t *order;

    if (!json_is_utf8(body->text, body->length))
        return fail(rq->err, ERR_MALFORMED, "", "the body is no UTF-8");
    TRY(tpv_read(body->text, body->length, &job, rq->arena, rq->err));
    finish_s = times_of(rq, &job, &result);
    order = NEW(rq->arena, size_t, job.destination_count);
    ids = NEW(rq->arena, const char *, job.destination_count);
    tpv_sort(&job, finish_s, order, rq->arena);
    for (size_t i = 0; i < job.destination_count; i++)
        ids[i] = job.destinations[order[i]].id;
    answer->sorted_destinations = ids;
    answer->destination_count = job.destination_count;
    metrics_facade(rq->service->metrics, "tpv", result, 1);
    return OK;
}
