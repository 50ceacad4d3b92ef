/* progress_sample.c - what a running task said of its progress.
 *
 * Sent in several forms (handlers/history/progress_samples.c), stored in one, with the
 * work of the whole task by this report alone. A task is what its reports make of it: a
 * trigger follows when they are corrected or removed.
 */
#include "service/records/records.h"
#include "service/store_progress_samples.h"

#include <math.h>

enum { OPTIONAL = JSON_OPTIONAL };

/* clang-format off */
#define T struct store_progress_sample
#define MEASURE(m, low, flag, text) \
    {.name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .min = low, .max = JSON_LARGEST, \
     .preset = NAN, .flags = flag, .offset = offsetof(T, sample.m)}
#define SHARE_DONE() \
    {.name = "progress_ratio", .doc = "Share that is done", .type = JSON_TYPE_NUMBER, \
     .max = 1, .preset = NAN, .flags = JSON_REQUIRED | JSON_PERCENT, \
     .offset = offsetof(T, sample.progress_pct), JSON_WAS({"progress_pct", 0.01})}
#define ROWS(ROW) \
    ROW(task_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, task_id, JSON_REQUIRED, "The task")) \
    ROW(application_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, application_id, OPTIONAL, "What runs")) \
    ROW(elapsed_s, DB_NUMBER, RECORD_KEY, \
        MEASURE(elapsed_s, 0, JSON_REQUIRED, "Run time so far")) \
    ROW(progress_pct, DB_NUMBER, 0, \
        SHARE_DONE()) \
    ROW(mips_total, DB_NUMBER, 0, \
        MEASURE(mips_total, 0, OPTIONAL, "Speed of the resource")) \
    ROW(mips_external, DB_NUMBER, 0, \
        MEASURE(mips_external, 0, OPTIONAL, "Part of it that load from outside takes")) \
    ROW(job_count, DB_NUMBER, 0, \
        MEASURE(job_count, 1, OPTIONAL, "Tasks that share the rest")) \
    ROW(work_done_ref_s, DB_NUMBER, 0, \
        MEASURE(work_done_ref_s, 0, OPTIONAL, "Work done, in reference seconds")) \
    ROW(extrapolated_ref_s, DB_NUMBER, RECORD_FILLED, \
        JSON_NUMBER(T, extrapolated_ref_s, 0, JSON_LARGEST, NAN, OPTIONAL, \
                    "Work of the whole task, by this report alone: worked out from the " \
                    "other members")) \
    ROW(actual_ref_s, DB_NUMBER, 0, \
        JSON_NUMBER(T, actual_ref_s, 0, JSON_LARGEST, NAN, OPTIONAL | JSON_ABOVE_MIN, \
                    "Work that the task was")) \
    ROW(received_at, DB_INSTANT, RECORD_GENERATED, \
        JSON_INSTANT(T, received_at, 0, "When it was stored"))
/* clang-format on */
RECORD_TABLES(sample, ROWS);

static const struct json_object sample_json = {"ProgressSample", "A report of a task",
                                               sizeof(T), sample_fields};

static double given_or(double number, double other)
{
    return isnan(number) ? other : number;
}

static enum error_code work_out(void *item, struct arena *a, struct error *err)
{
    T *s = item;
    const struct progress_sample *p = &s->sample;
    double share =
        progress_share(given_or(p->mips_total, 1), given_or(p->mips_external, 0),
                       given_or(p->job_count, 1));
    double work = given_or(p->work_done_ref_s, p->elapsed_s * share);
    double whole = p->progress_pct > 0 ? progress_from_work_ref_s(work, p->progress_pct)
                                       : (double)NAN;

    (void)a;
    (void)err;
    s->extrapolated_ref_s = whole > 0 && isfinite(whole) ? whole : (double)NAN;
    return OK;
}

const struct record progress_sample_record = {
    .table = "progress_sample",
    .json = &sample_json,
    .columns = sample_columns,
    .at = "received_at",
    .complete = work_out,
    .lock_base = 7453010373643072128,
    .part_rows = 250000, /* each statement brings what is learnt up to date */
};
