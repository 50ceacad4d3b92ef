/* executions.c - /v1/executions: observed runs of applications. */
#include "handlers/history/routes.h"

#include "handlers/history/bulk.h"
#include "handlers/history/execution_loads.h"
#include "handlers/history/records.h"
#include "handlers/learning/auto_models.h"
#include "handlers/model/model_learn.h"
#include "handlers/stored/removal.h"
#include "models/base/plural.h"
#include "models/forecast/min_avg.h"
#include "models/performance/accuracy.h"
#include "service/records/execution.h"
#include "service/records/records.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/uuid.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { LOAD_SAMPLES_MAX = 100000, LOAD_RESOURCES_MAX = 2048 };

/* An execution as it is sent: with the load that was measured during it, from which
 * cpu_available_ratio and bandwidth_mbps are worked out. */
struct sent_execution {
    struct execution run;
    const char *const *resource_ids;
    size_t resource_count;
    const struct load_sample *load_samples;
    size_t load_sample_count;
    int load_mean; /* enum load_mean */
};

/* What one execution means to a model. */
struct execution_model {
    const char *model_id;
    uint64_t version;
    double predicted_s, ppe_pct;
    const char *reason;
};

struct executions_answer {
    struct bulk_answer bulk;
    uint64_t load_filled_count;
    const struct execution_model *models;
    size_t model_count;
};

#define EXECUTION_NULLABLE JSON_NULLABLE
#define S                  struct sent_execution
static const struct json_field sent_rows[] = {
    EXECUTION_ROWS(RECORD_FIELD) JSON_TEXTS(
        S, resource_ids, resource_count, LOAD_RESOURCES_MAX, 0,
        "The machines that it ran on; without a load its load is taken from the "
        "load samples stored of these, or of resource_id"),
    JSON_LIST(S, load_samples, load_sample_count, struct load_sample, &load_sample_json,
              LOAD_SAMPLES_MAX, 0,
              "Load of the machines and of the links between them while it ran, instead "
              "of cpu_available_ratio and bandwidth_mbps"),
    JSON_CHOICE(S, load_mean, load_mean_names, LOAD_MEAN_PLAIN, 0,
                "plain: every load sample counts the same; time_weighted: each holds "
                "until the next; default plain"),
    {0},
};
#undef S
const struct json_object sent_execution_json = {
    "ExecutionCreate",
    "An observed run of an application, or of one of its phases, perhaps with the load "
    "that was measured",
    sizeof(struct sent_execution), sent_rows};

struct execution_phase {
    double phase_index;
};

#define T struct execution_phase
static const struct json_field phase_rows[] = {
    JSON_NUMBER(T, phase_index, 0, EXECUTION_WHOLE_MAX, NAN, 0,
                "The phase, from 0; default: the whole run"),
    {0},
};
#undef T
const struct json_object execution_phase_json = {
    "ExecutionPhase", "Which part of the run", sizeof(struct execution_phase),
    phase_rows};

#define T struct execution_model
static const struct json_field model_rows[] = {
    JSON_TEXT(T, model_id, 0, "A model that will learn the run"),
    JSON_INTEGER(T, version, 0, JSON_EXACT, 0, 0, "Version that predicts now; 0: none"),
    JSON_NUMBER(T, predicted_s, 0, 0, 0, JSON_OPTIONAL,
                "What it would have predicted for the load that the run had"),
    JSON_RATIO(T, ppe_ratio, ppe_pct, 0, 0, JSON_OPTIONAL, "The error of that"),
    JSON_WORD(T, reason, fitted_reason_names, JSON_OPTIONAL, "Why it has no prediction"),
    {0},
};
#undef T
static const struct json_object model_json = {"ExecutionModel",
                                              "What a run means to a model",
                                              sizeof(struct execution_model), model_rows};

#define T struct executions_answer
static const struct json_field answer_rows[] = {
    BULK_ROWS,
    JSON_INTEGER(
        T, load_filled_count, 0, JSON_EXACT, 0, 0,
        "Records without a load whose cpu_available_ratio, and bandwidth_mbps as "
        "far as it is known, were taken from the stored load samples of their "
        "machines around the run"),
    BULK_WARNINGS,
    {.name = "models",
     .doc = "Of a single execution that is new: the models that will learn it",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, models, const struct execution_model *),
     .count_offset = JSON_AT(T, model_count, size_t),
     .of = &model_json,
     .flags = JSON_OPTIONAL},
    {0},
};
#undef T
const struct json_object executions_answer_json = {
    "ExecutionsAnswer", "What was stored, and what it means to the models",
    sizeof(struct executions_answer), answer_rows};

/* The load of the run, from what was measured. */
static enum error_code read_load(const struct sent_execution *in, struct min_avg *out,
                                 struct arena *a, struct error *err)
{
    struct min_avg_in question = {
        .samples = in->load_samples,
        .sample_count = in->load_sample_count,
        .resource_ids = in->resource_ids,
        .resource_count = in->resource_count,
        .from_s = in->run.started_at_s,
        .to_s = in->run.started_at_s + in->run.run_time_s,
        .mean = (enum load_mean)in->load_mean,
    };

    return min_avg_of_run(&question, out, a, err);
}

static void check_load(struct record_check *check, const struct sent_execution *in)
{
    struct error found = {.arena = check->err->arena};
    struct min_avg ignored;

    if (in->resource_ids && in->resource_count == 0)
        record_mistake(check, "resource_ids", ITEM_TOO_SHORT,
                       "give at least one machine");
    if (!in->load_samples)
        return;
    if (in->load_sample_count == 0)
        record_mistake(check, "load_samples", ITEM_REQUIRED, "give at least one sample");
    else if (!in->resource_ids || in->resource_count == 0)
        record_mistake(check, "resource_ids", ITEM_REQUIRED,
                       "load_samples need the machines that the run used");
    else if (!isnan(in->run.cpu_available_ratio) || !isnan(in->run.bandwidth_mbps))
        record_mistake(check, "load_samples", ITEM_CONFLICT,
                       "give either load_samples, or cpu_available_ratio and "
                       "bandwidth_mbps");
    else if (read_load(in, &ignored, check->err->arena, &found) == ERR_INVALID)
        for (const struct error_item *item = found.first; item; item = item->next) {
            bool is_sample = strncmp(item->pointer, "/samples/", 9) == 0;

            record_mistake(check,
                           arena_printf(check->err->arena, "%s%s",
                                        is_sample ? "load_" : "", item->pointer + 1),
                           item->code, "%s", item->detail);
        }
}

static void check_execution(struct record_check *check, const void *item)
{
    const struct sent_execution *in = item;

    execution_check(check, &in->run);
    check_load(check, in);
}

/* The UUID of a run that has no name: of its natural key, so that one that is sent again
 * is the same one. */
static const char *name_of(const struct execution *e, struct arena *a)
{
    struct text_buffer key = {.arena = a};
    char *id = NEW(a, char, UUID_TEXT_SIZE);
    double numbers[] = {e->phase_index, e->started_at_s, e->problem_size};
    const char *texts[] = {e->application_id, e->resource_id, e->parameters};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        /* 1 and the NUL: none is not the empty text */
        text_add(&key, texts[i] ? "1" : "0", 1);
        if (texts[i])
            text_add(&key, texts[i], strlen(texts[i]) + 1);
        text_addf(&key, "%.17g,", isnan(numbers[i]) ? -1 : numbers[i]);
    }
    if (key.failed)
        arena_leave(a);
    uuid_name(key.data, key.length, id);
    return id;
}

/* The runs with a UUID for every one that has no name, and their load. */
static enum error_code complete(const struct sent_execution *list, size_t count,
                                struct execution **out, struct arena *a,
                                struct error *err)
{
    struct execution *copy = NEW(a, struct execution, count);

    for (size_t i = 0; i < count; i++) {
        struct min_avg load;

        copy[i] = list[i].run;
        if (isnan(copy[i].processors))
            copy[i].processors =
                (double)(list[i].resource_count ? list[i].resource_count : 1);
        if (!copy[i].resource_id && list[i].resource_count)
            copy[i].resource_id = list[i].resource_ids[0];
        if (list[i].load_samples) {
            TRY(read_load(&list[i], &load, a, err));
            copy[i].cpu_available_ratio = load.cpu_available_ratio;
            copy[i].bandwidth_mbps = load.bandwidth_mbps;
        }
        TRY(execution_record.complete(&copy[i], a, err));
        if (!copy[i].execution_id)
            copy[i].execution_id = name_of(&copy[i], a);
    }
    *out = copy;
    return OK;
}

static enum error_code ask_model(const struct store_model_now *now,
                                 const struct execution *e, struct execution_model *out,
                                 struct arena *a, struct error *err)
{
    struct store_sample sample = {
        .run_time_s = e->run_time_s,
        .problem_size = e->problem_size,
        .processors = e->processors,
        .cpu_available_ratio = e->cpu_available_ratio,
        .bandwidth_mbps = e->bandwidth_mbps,
        .dedicated = e->dedicated,
        .parameters = e->parameters,
        .resource_class = e->resource_class,
        .site_id = e->site_id,
        .verdict = "new",
    };
    struct fitted_model m;
    struct fitted_prediction p;
    struct fitted_run *run;
    size_t *place, count;

    *out = (struct execution_model){.model_id = now->model.model_id,
                                    .version = now->version.version};
    TRY(stored_fitted(&now->model, &now->version, &m, a, err));
    TRY(stored_runs(m.kind, &m.settings, m.names, &sample, 1, true, &run, &place, &count,
                    a, err));
    fitted_predict(&m,
                   &(struct perf_query){run->run.problem_size, run->run.processors,
                                        run->run.cpu_available_ratio,
                                        run->run.bandwidth_mbps},
                   run->inputs, NULL, &p);
    out->predicted_s = p.time_s;
    out->reason = p.reason;
    out->ppe_pct = p.reason ? (double)NAN : ppe_pct(e->run_time_s, p.time_s);
    return OK;
}

/* What a single new run means to the models of its application. */
static enum error_code ask_models(struct request *rq, struct db_session *db,
                                  const struct execution *e,
                                  struct executions_answer *out)
{
    const struct store_model_now *list;
    struct execution_model *models;
    size_t count;

    TRY(store_models_now(db, rq->principal.tenant, e->application_id, e->site_id,
                         e->phase_index, &list, &count, rq->arena, rq->err));
    models = NEW(rq->arena, struct execution_model, count + 1);
    for (size_t i = 0; i < count; i++)
        TRY(ask_model(&list[i], e, &models[i], rq->arena, rq->err));
    out->models = models;
    out->model_count = count;
    return OK;
}

/* It is stored already: what it means to models must not make it fail. */
static void explain_single(struct request *rq, struct db_session *db,
                           const struct json_lines *in, const struct execution *list,
                           struct executions_answer *answer)
{
    bool runs_failed = list->exit_code != 0 && !isnan(list->exit_code);
    struct error before = *rq->err;

    if (!in->is_single || answer->bulk.stored != 1 || runs_failed)
        return;
    if (ask_models(rq, db, list, answer) != OK)
        *rq->err = before;
}

/* Runs without a load take that which was stored of their machines. */
static enum error_code fill_loads(struct request *rq, struct db_session *db,
                                  const struct sent_execution *sent,
                                  struct execution *list, size_t count,
                                  struct executions_answer *answer)
{
    struct execution_load *loads = NEW(rq->arena, struct execution_load, count + 1);
    size_t wanted = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].dedicated || !isnan(list[i].cpu_available_ratio) ||
            !isnan(list[i].bandwidth_mbps) || !list[i].resource_id)
            continue;
        loads[wanted].run = &list[i];
        loads[wanted].resource_ids =
            sent[i].resource_count ? sent[i].resource_ids : &list[i].resource_id;
        loads[wanted++].resource_count =
            sent[i].resource_count ? sent[i].resource_count : 1;
    }
    TRY(execution_loads_fill(rq, db, loads, wanted));
    for (size_t i = 0; i < wanted; i++)
        answer->load_filled_count += loads[i].filled;
    return OK;
}

static enum error_code fill_warnings(struct request *rq, const struct execution *list,
                                     size_t count, const char *full,
                                     struct executions_answer *answer)
{
    const char **warnings = NEW(rq->arena, const char *, 3);
    size_t failed = 0;

    for (size_t i = 0; i < count; i++)
        failed += list[i].failure_kind != RUN_FAILURE_NONE || list[i].ignored ||
                  (list[i].exit_code != 0 && !isnan(list[i].exit_code));
    if (answer->load_filled_count > 0)
        warnings[answer->bulk.warning_count++] = arena_printf(
            rq->arena, "load_filled: %llu of %s %s load from stored load samples",
            (unsigned long long)answer->load_filled_count, counted(count, "record").text,
            plural(answer->load_filled_count, "takes its", "take their"));
    if (failed > 0)
        warnings[answer->bulk.warning_count++] = arena_printf(
            rq->arena,
            "not_learnt: %zu of %s %s an exit_code other than 0, a failure_kind "
            "other than none or %s ignored: no model learns %s",
            failed, counted(count, "record").text, plural(failed, "has", "have"),
            plural(failed, "is", "are"),
            plural(failed, "its run time", "their run times"));
    if (full)
        warnings[answer->bulk.warning_count++] = full;
    answer->bulk.warnings = warnings;
    return OK;
}

/* ---- trace files ---- */

static bool is_trace(const struct request *rq)
{
    const char *type = rq->message->content_type;

    return type && strncasecmp(type, "text/tab-separated-values", 25) == 0;
}

/* Of a body that is no trace file. */
static enum error_code refuse_trace_query(const struct request *rq)
{
    const struct trace_query *q = records_trace_query(rq);
    const char *const given[] = {
        q->format >= 0 ? "?/format" : NULL, q->application_id ? "?/application_id" : NULL,
        q->run_id ? "?/run_id" : NULL, q->utc_offset_s != 0 ? "?/utc_offset_s" : NULL};

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (given[i])
            invalid(rq->err, given[i], ITEM_CONFLICT,
                    "goes with a body of text/tab-separated-values");
    return rq->err->code;
}

/* The rows of the file as if they had been sent. */
static enum error_code read_trace(struct request *rq, struct trace_rows *trace,
                                  struct json_lines *lines)
{
    struct sent_execution *sent;

    TRY(trace_read(records_trace_query(rq), rq->body ? rq->body : "", rq->body_length,
                   trace, rq->arena, rq->err));
    sent = NEW(rq->arena, struct sent_execution, trace->count + 1);
    for (size_t i = 0; i < trace->count; i++)
        sent[i].run = trace->runs[i];
    *lines = (struct json_lines){.items = sent,
                                 .count = trace->count,
                                 .refused_count = trace->refused_count,
                                 .refused = trace->refused,
                                 .line = trace->lines};
    return OK;
}

static void add_warnings(struct request *rq, const struct trace_rows *trace,
                         struct executions_answer *answer)
{
    size_t count = answer->bulk.warning_count;
    const char **all = NEW(rq->arena, const char *, count + trace->warning_count);

    for (size_t i = 0; i < count; i++)
        all[i] = answer->bulk.warnings[i];
    for (size_t i = 0; i < trace->warning_count; i++)
        all[count++] = trace->warnings[i];
    answer->bulk.warnings = all;
    answer->bulk.warning_count = count;
}

enum error_code post_executions(struct request *rq, const void *in, void *out)
{
    struct executions_answer *answer = out;
    struct execution *list = NULL;
    struct trace_rows trace = {0};
    struct json_lines rows;
    struct bulk_items given;
    struct db_session *db;
    const char *full;

    if (is_trace(rq)) {
        TRY(read_trace(rq, &trace, &rows));
        in = &rows;
    } else {
        TRY(refuse_trace_query(rq));
    }
    TRY(bulk_accept(rq, in, sizeof(struct sent_execution), check_execution, &given,
                    &answer->bulk));
    TRY(complete(given.list, given.count, &list, rq->arena, rq->err));
    TRY(request_db(rq, &db));
    TRY(fill_loads(rq, db, given.list, list, given.count, answer));
    TRY(records_store(rq, &execution_record, list, &given, &answer->bulk));
    auto_models_make(rq, db, list, given.count, &full);
    TRY(fill_warnings(rq, list, given.count, full, answer));
    add_warnings(rq, &trace, answer);
    explain_single(rq, db, in, list, answer);
    refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
    return OK;
}

/* ---- one run by its name ---- */

static struct record_filter filter_of(const struct request *rq, struct execution *like)
{
    const struct execution_phase *query = rq->query;

    like->execution_id = rq->path_value[0];
    like->phase_index = query->phase_index;
    return (struct record_filter){
        .like = like,
        .columns = 1u << record_place(&execution_record, "execution_id") |
                   1u << record_place(&execution_record, "phase_index"),
        .from_at_s = NAN,
        .to_at_s = NAN,
    };
}

enum error_code patch_execution(struct request *rq, const void *in, void *out)
{
    struct execution like = {0};
    struct record_filter filter = filter_of(rq, &like);

    return record_patch(rq, &execution_record, &filter, in, out);
}

enum error_code delete_execution(struct request *rq, const void *in, void *out)
{
    struct execution like = {0};
    struct record_filter filter = filter_of(rq, &like);
    struct db_session *db;
    size_t removed;
    bool more;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(record_remove(db, rq->principal.tenant, &execution_record, &filter, false,
                      &removed, &more, rq->arena, rq->err));
    if (removed == 0)
        return fail(rq->err, ERR_NOT_FOUND, "", "no such execution is stored");
    log_correction(rq, removed);
    rq->reply->status = 204;
    return OK;
}
