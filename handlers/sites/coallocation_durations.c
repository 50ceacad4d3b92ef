/* coallocation_durations.c - how long a reservation must be, from stored executions. */
#include "handlers/sites/coallocation_durations.h"

#include "algorithms/coallocation/metrics.h"
#include "handlers/common/decision.h"
#include "models/base/order.h"
#include "service/clock.h"
#include "service/store_claim.h"

#include <stdlib.h>

enum { LATEST = 10000 }; /* runs of an application that count */

#define KEPT "run_times"

#define T    struct co_duration_request
static const struct json_field request_rows[] = {
    JSON_ID(T, application_id, JSON_REQUIRED, "The application, as executions name it"),
    JSON_NUMBER(T, quantile, 0, 1, 0.95, 0,
                "Share of the runs that were not longer; default 0.95"),
    JSON_NUMBER(T, min_samples, 1, 1e6, 5, 0,
                "Runs that there must be on so many processors; default 5"),
    JSON_NUMBER(T, window_s, 1, 3153600000, 31536000, 0,
                "How far to look back; default 31536000"),
    JSON_INSTANT(T, at, JSON_NULLABLE, "Look back from here; default: now"),
    {0},
};
#undef T
const struct json_object co_duration_request_json = {
    "DurationFromExecutions", "Executions that say how long a job runs",
    sizeof(struct co_duration_request), request_rows};

struct kept {
    bool unavailable;
    const double *processors, *run_time_s;
    size_t processor_count, run_time_count;
};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The executions could not be read"),
    JSON_NUMBERS(T, processors, processor_count, 0, JSON_LARGEST, 0, "Of each run"),
    JSON_NUMBERS(T, run_time_s, run_time_count, 0, JSON_LARGEST, 0, "Likewise"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptRunTimes", "The runs of a decision",
                                             sizeof(struct kept), kept_rows};

static enum error_code query(struct request *rq, const struct co_duration_request *in,
                             struct kept *out)
{
    double at_s = isnan(in->at_s) ? clock_wall_s() : in->at_s;
    const struct store_run_time *rows;
    double *processors, *times_s;
    struct db_session *db;
    size_t count;

    TRY(request_db(rq, &db));
    TRY(store_run_times(db, rq->principal.tenant, in->application_id, at_s - in->window_s,
                        at_s, LATEST, &rows, &count, rq->arena, rq->err));
    processors = NEW(rq->arena, double, count);
    times_s = NEW(rq->arena, double, count);
    for (size_t i = 0; i < count; i++) {
        processors[i] = rows[i].processors;
        times_s[i] = rows[i].run_time_s;
    }
    *out = (struct kept){false, processors, times_s, count, count};
    return OK;
}

enum error_code co_run_times_find(struct request *rq,
                                  const struct co_duration_request *in,
                                  struct co_run_times *out)
{
    struct error before = *rq->err;
    struct kept kept = {0};
    enum error_code code = OK;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
    if (!replayed)
        code = query(rq, in, &kept);
    if (code == ERR_UNAVAILABLE || code == ERR_BUSY) {
        *rq->err = before;
        kept = (struct kept){.unavailable = true};
        code = OK;
    }
    TRY(code);
    if (!replayed)
        TRY(decision_keep_lookup(rq, KEPT, &kept_json, &kept));
    *out = (struct co_run_times){kept.unavailable, kept.processors, kept.run_time_s,
                                 kept.processor_count < kept.run_time_count
                                     ? kept.processor_count
                                     : kept.run_time_count};
    return OK;
}

void co_run_time_of(const struct co_run_times *runs, const struct co_duration_request *in,
                    double processors, double *run_time_s, size_t *samples,
                    struct arena *a)
{
    double *list = NEW(a, double, runs->count);
    size_t count = 0;

    for (size_t i = 0; i < runs->count; i++)
        if (runs->processors[i] == processors)
            list[count++] = runs->run_time_s[i];
    *samples = count;
    *run_time_s = (double)NAN;
    if (count == 0 || (double)count < in->min_samples)
        return;
    sort_numbers(list, count);
    *run_time_s = co_percentile(list, count, 100 * in->quantile);
}
