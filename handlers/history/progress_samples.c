/* progress_samples.c - POST /v1/progress-samples: what running tasks say of their
 * progress, and /v1/progress-applications: what those that finished have taught.
 *
 * A task ends with a report of 100 %, with one that says what its work was, or with an
 * execution of its name. It is scored then, some at a time, by whoever posts or reads
 * next: a bulk of finished tasks does not keep its sender waiting.
 */
#include "handlers/history/progress_samples.h"

#include "handlers/common/page.h"
#include "handlers/history/records.h"
#include "service/records/records.h"
#include "service/service.h"

enum { TASK_SAMPLES_MAX = 20000, POINTS_MAX = 5000, SCORES_MAX = 100 };
static const double SCORING_S = 1; /* of one request */

struct sent_sample {
    const char *task_id, *application_id;
    struct progress_report report;
    double actual_ref_s;
};

struct application_query {
    struct page_query page;
    const char *application_id;
};

struct application_row {
    const char *application_id;
    struct progress_application known;
    const char *policy;
};

struct applications_page {
    const struct application_row *items;
    size_t item_count;
    const char *next_page_token;
};

/* ---- tables ---- */

#define T struct sent_sample
static const struct json_field sent_rows[] = {
    JSON_ID(T, task_id, JSON_REQUIRED, "The task"),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "What runs: later tasks of it learn from this one"),
    PROGRESS_REPORT_ROWS(T, report.),
    JSON_NUMBER(T, actual_ref_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Of a task that is done: the work that it was, in reference seconds; "
                "default: the work of its report at 100 %"),
    {0},
};
#undef T
const struct json_object progress_sample_json = {"ProgressSampleCreate",
                                                 "What a task says of its progress",
                                                 sizeof(struct sent_sample), sent_rows};

/* Reading bounds serve lookups that are replayed. */
#define KNOWN_NUMBER(T, at, json_name, member, text) \
    KNOWN_ROW(T, at, json_name, member, JSON_OPTIONAL, text)
#define KNOWN_COUNT(T, at, json_name, member, text) \
    KNOWN_ROW(T, at, json_name, member, JSON_OPTIONAL | JSON_WHOLE, text)
#define KNOWN_ROW(T, at, json_name, member, flag, text)                       \
    {                                                                         \
        .name = #json_name, .doc = text, .type = JSON_TYPE_NUMBER,            \
        .offset = offsetof(T, at member), .max = JSON_LARGEST, .preset = NAN, \
        .flags = flag                                                         \
    }
#define KNOWN_ROWS(T, at)                                                              \
    KNOWN_COUNT(T, at, task_count, task_count, "Finished tasks, the latest 1000"),     \
        KNOWN_NUMBER(T, at, fit_error_10_ratio, fit_error[0],                          \
                     "Mean relative error of the fit with 10 % of the work done"),     \
        KNOWN_NUMBER(T, at, fit_error_20_ratio, fit_error[1], "... with 20 %"),        \
        KNOWN_NUMBER(T, at, fit_error_50_ratio, fit_error[2], "... with 50 %"),        \
        KNOWN_NUMBER(T, at, extrapolation_error_10_ratio, extrapolation_error[0],      \
                     "Mean relative error of the extrapolation with 10 % of the work " \
                     "done"),                                                          \
        KNOWN_NUMBER(T, at, extrapolation_error_20_ratio, extrapolation_error[1],      \
                     "... with 20 %"),                                                 \
        KNOWN_NUMBER(T, at, extrapolation_error_50_ratio, extrapolation_error[2],      \
                     "... with 50 %"),                                                 \
        KNOWN_NUMBER(T, at, estimate_05_ratio, estimate_ratio[0],                      \
                     "Median of extrapolation over actual work, at 5 % of progress"),  \
        KNOWN_NUMBER(T, at, estimate_10_ratio, estimate_ratio[1], "... at 10 %"),      \
        KNOWN_NUMBER(T, at, estimate_20_ratio, estimate_ratio[2], "... at 20 %"),      \
        KNOWN_NUMBER(T, at, estimate_50_ratio, estimate_ratio[3], "... at 50 %"),      \
        KNOWN_COUNT(T, at, psi1_task_count, shape[0].task_count,                       \
                    "Tasks whose estimates fell to their limit"),                      \
        KNOWN_NUMBER(T, at, psi1_amplitude_ratio, shape[0].amplitude_ratio,            \
                     "Median of x2 / x1 over them"),                                   \
        KNOWN_NUMBER(T, at, psi1_decay_ratio, shape[0].decay_ratio,                    \
                     "Median of x3 x1: decay over the task's own work"),               \
        KNOWN_COUNT(T, at, psi2_task_count, shape[1].task_count,                       \
                    "Tasks whose estimates rose to their limit"),                      \
        KNOWN_NUMBER(T, at, psi2_amplitude_ratio, shape[1].amplitude_ratio,            \
                     "Median of y2 / y1 over them"),                                   \
        KNOWN_NUMBER(T, at, psi2_decay_ratio, shape[1].decay_ratio, "Median of y3 y1")

static const struct json_field known_rows[] = {
    KNOWN_ROWS(struct progress_application, ),
    {0},
};
const struct json_object progress_application_json = {
    "ProgressKnown", "What finished tasks of an application say",
    sizeof(struct progress_application), known_rows};

#define T struct application_query
static const struct json_field application_query_rows[] = {
    JSON_ID(T, application_id, 0, "This application only; default: all"),
    LARGE_PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object progress_applications_query_json = {
    "ProgressApplicationsQuery", "Which applications", sizeof(struct application_query),
    application_query_rows};

/* By whether fits are worse. */
static const char *const progress_policy_names[] = {"fit", "extrapolation", NULL};

#define T struct application_row
static const struct json_field application_rows[] = {
    JSON_TEXT(T, application_id, 0, "The application"),
    KNOWN_ROWS(T, known.),
    JSON_WORD(T, policy, progress_policy_names, 0,
              "What answers about it: fit, or extrapolation where fits were worse over "
              "30 tasks and more"),
    {0},
};
#undef T
static const struct json_object application_json = {
    "ProgressApplication", "What finished tasks of an application say",
    sizeof(struct application_row), application_rows};

#define T struct applications_page
static const struct json_field applications_rows[] = {
    JSON_LIST(T, items, item_count, struct application_row, &application_json, 0, 0,
              "Applications of which finished tasks reported their progress, by name"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object progress_applications_page_json = {
    "ProgressApplications", "Applications and what is known of them",
    sizeof(struct applications_page), applications_rows};

#define T struct progress_sample
static const struct json_field point_rows[] = {
    PROGRESS_REPORT_NUMBER(T, elapsed_s, , 0, 0, JSON_LARGEST, "Run time so far"),
    PROGRESS_REPORT_RATIO(T, , 0, 1, "Share that is done"),
    PROGRESS_REPORT_NUMBER(T, mips_total, , JSON_OPTIONAL, 0, JSON_LARGEST, "Speed"),
    PROGRESS_REPORT_NUMBER(T, mips_external, , JSON_OPTIONAL, 0, JSON_LARGEST,
                           "Load from outside"),
    PROGRESS_REPORT_NUMBER(T, job_count, , JSON_OPTIONAL, 0, JSON_LARGEST, "Tasks"),
    PROGRESS_REPORT_NUMBER(T, work_done_ref_s, , JSON_OPTIONAL, 0, JSON_LARGEST, "Work"),
    {0},
};
#undef T
const struct json_object progress_point_json = {
    "ProgressLookedUpReport", "A report that was looked up",
    sizeof(struct progress_sample), point_rows};

/* ---- forms of progress ---- */

struct progress_mistake progress_report_mistake(const struct progress_report *r)
{
    bool ratio = !isnan(r->sample.progress_pct);
    bool simulated = !isnan(r->simulated_s) || !isnan(r->simulated_total_s);
    bool runs = !isnan(r->done_count) || !isnan(r->total_count);

    if (ratio + simulated + runs == 0)
        return (struct progress_mistake){"progress_ratio", ITEM_REQUIRED,
                                         "give progress_ratio, or simulated_s with "
                                         "simulated_total_s, or done_count with "
                                         "total_count"};
    if (ratio + simulated + runs > 1)
        return (struct progress_mistake){ratio ? "progress_ratio" : "simulated_s",
                                         ITEM_CONFLICT,
                                         "give the progress in one form only"};
    if (simulated && (isnan(r->simulated_s) || isnan(r->simulated_total_s)))
        return (struct progress_mistake){
            isnan(r->simulated_s) ? "simulated_s" : "simulated_total_s", ITEM_REQUIRED,
            "both are needed: simulated_s and simulated_total_s"};
    if (runs && (isnan(r->done_count) || isnan(r->total_count)))
        return (struct progress_mistake){
            isnan(r->done_count) ? "done_count" : "total_count", ITEM_REQUIRED,
            "both are needed: done_count and total_count"};
    return (struct progress_mistake){0};
}

struct progress_sample progress_report_sample(const struct progress_report *r)
{
    struct progress_sample s = r->sample;

    if (!isnan(r->simulated_total_s))
        s.progress_pct = progress_pct_of(r->simulated_s, r->simulated_total_s);
    if (!isnan(r->total_count))
        s.progress_pct = progress_pct_of(r->done_count, r->total_count);
    return s;
}

static void check_sample(struct record_check *check, const void *item)
{
    const struct sent_sample *s = item;
    struct progress_mistake m = progress_report_mistake(&s->report);

    if (m.member)
        record_mistake(check, m.member, m.code, "%s", m.text);
}

/* ---- scores ---- */

/* The work of a task that ended: as reported, or by the run time of its execution, of
 * which the rest after the last report went on at the same share. */
static double actual_of(const struct store_progress_task *task,
                        const struct progress_history *h,
                        const struct progress_sample *last)
{
    const struct progress_point *p = h->count ? &h->points[h->count - 1] : NULL;
    double share;

    if (!isnan(task->actual_ref_s) || !p)
        return task->actual_ref_s;
    share = progress_share(isnan(last->mips_total) ? 1 : last->mips_total,
                           isnan(last->mips_external) ? 0 : last->mips_external,
                           isnan(last->job_count) ? 1 : last->job_count);
    return progress_work_ref_s(p->work_ref_s, fmax(0, task->run_time_s - p->elapsed_s),
                               share);
}

static enum error_code score_task(struct request *rq, struct db_session *db,
                                  const struct store_progress_task *task)
{
    const struct progress_sample *samples;
    struct progress_history history = {.count = 0};
    struct progress_score score;
    size_t count;
    double actual;

    TRY(store_progress_task_samples(db, rq->principal.tenant, task->task_id,
                                    TASK_SAMPLES_MAX, &samples, &count, rq->arena,
                                    rq->err));
    TRY(progress_history_of(samples, count, POINTS_MAX, &history, rq->arena));
    actual = actual_of(task, &history, samples);
    if (!(actual > 0) || !isfinite(actual)) {
        history.count = 0; /* nothing to compare with: an empty score ends its wait */
        actual = 1;
    }
    TRY(progress_score_of(&history, actual, &score, rq->arena));
    return store_progress_score(db, rq->principal.tenant, task, &score, rq->err);
}

/* Scores tasks that ended, as many as time allows. */
static enum error_code score_pending(struct request *rq, struct db_session *db)
{
    double until_s = request_elapsed_s(rq) + SCORING_S;
    const struct store_progress_task *list;
    size_t count;

    TRY(store_progress_pending(db, rq->principal.tenant, SCORES_MAX, &list, &count,
                               rq->arena, rq->err));
    for (size_t i = 0; i < count && request_elapsed_s(rq) < until_s; i++)
        TRY(score_task(rq, db, &list[i]));
    return OK;
}

/* ---- handlers ---- */

static struct store_progress_sample stored_of(const struct sent_sample *in)
{
    return (struct store_progress_sample){
        .task_id = in->task_id,
        .application_id = in->application_id,
        .sample = progress_report_sample(&in->report),
        .actual_ref_s = in->actual_ref_s,
    };
}

enum error_code post_progress_samples(struct request *rq, const void *in, void *out)
{
    const struct record *record = &progress_sample_record;
    struct store_progress_sample *list;
    const struct sent_sample *sent;
    struct db_session *db;
    struct error before;
    struct bulk_items given;

    TRY(bulk_accept(rq, in, sizeof(struct sent_sample), check_sample, &given, out));
    sent = given.list;
    list = NEW(rq->arena, struct store_progress_sample, given.count + 1);
    for (size_t i = 0; i < given.count; i++) {
        list[i] = stored_of(&sent[i]);
        TRY(record->complete(&list[i], rq->arena, rq->err));
    }
    TRY(records_store(rq, record, list, &given, out));
    TRY(request_db(rq, &db));
    before = *rq->err;
    if (score_pending(rq, db) != OK) /* they are stored: the next one tries again */
        *rq->err = before;
    return OK;
}

enum error_code get_progress_applications(struct request *rq, const void *in, void *out)
{
    const struct application_query *query = rq->query;
    const struct store_progress_application *list;
    struct applications_page *page = out;
    struct store_page part;
    struct application_row *rows;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(score_pending(rq, db));
    TRY(store_progress_applications(db, rq->principal.tenant, query->application_id,
                                    &part, &list, &page->item_count,
                                    &page->next_page_token, rq->arena, rq->err));
    page->items = rows = NEW(rq->arena, struct application_row, page->item_count + 1);
    for (size_t i = 0; i < page->item_count; i++)
        rows[i] = (struct application_row){
            list[i].application_id, list[i].known,
            progress_policy_names[progress_fit_loses(&list[i].known)]};
    return page_link(rq, &page->next_page_token);
}
