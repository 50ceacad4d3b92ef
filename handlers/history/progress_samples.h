/* progress_samples.h - /v1/progress-samples: what running tasks say of their progress,
 * and /v1/progress-applications: what those that finished have taught.
 */
#ifndef GRIDPLAN_PROGRESS_SAMPLES_H
#define GRIDPLAN_PROGRESS_SAMPLES_H

#include "models/progress/application.h"
#include "service/route.h"
#include "service/store_progress_samples.h"

/* A report as it is sent: its progress in percent, as simulated time, or as runs. */
struct progress_report {
    struct progress_sample sample;
    double simulated_s, simulated_total_s; /* NAN: not in this form */
    double done_count, total_count;
};

/* Of a struct T with a member struct progress_report `at`. */
#define PROGRESS_REPORT_NUMBER(T, m, kind, flag, lo, hi, text)              \
    {                                                                       \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER,                  \
        .offset = offsetof(T, kind m), .min = lo, .max = hi, .preset = NAN, \
        .flags = flag                                                       \
    }
#define PROGRESS_REPORT_RATIO(T, kind, flag, hi, text)                      \
    {                                                                       \
        .name = "progress_ratio", .doc = text, .type = JSON_TYPE_NUMBER,    \
        .offset = offsetof(T, kind progress_pct), .max = hi, .preset = NAN, \
        .flags = (flag) | JSON_PERCENT, JSON_WAS({"progress_pct", 0.01})    \
    }
#define PROGRESS_REPORT_ROWS(T, at)                                                      \
    PROGRESS_REPORT_NUMBER(T, elapsed_s, at sample., JSON_REQUIRED, 0, JSON_LARGEST,     \
                           "Run time of the task so far"),                               \
        PROGRESS_REPORT_RATIO(T, at sample., JSON_NULLABLE, 1,                           \
                              "Share of the task that is done"),                         \
        PROGRESS_REPORT_NUMBER(T, simulated_s, at, JSON_NULLABLE, 0, JSON_LARGEST,       \
                               "In place of progress_ratio: time that a simulation has " \
                               "reached"),                                               \
        PROGRESS_REPORT_NUMBER(T, simulated_total_s, at, JSON_NULLABLE | JSON_ABOVE_MIN, \
                               0, JSON_LARGEST, "... and the time at which it ends"),    \
        PROGRESS_REPORT_NUMBER(T, done_count, at, JSON_NULLABLE, 0, JSON_LARGEST,        \
                               "In place of progress_ratio: runs that are done"),        \
        PROGRESS_REPORT_NUMBER(T, total_count, at, JSON_NULLABLE | JSON_ABOVE_MIN, 0,    \
                               JSON_LARGEST, "... and all runs of the task"),            \
        PROGRESS_REPORT_NUMBER(T, mips_total, at sample., JSON_NULLABLE, 0,              \
                               JSON_LARGEST,                                             \
                               "Speed of the resource; 1: the reference machine; "       \
                               "default 1"),                                             \
        PROGRESS_REPORT_NUMBER(T, mips_external, at sample., JSON_NULLABLE, 0,           \
                               JSON_LARGEST,                                             \
                               "Part of it that load from outside takes; default 0"),    \
        PROGRESS_REPORT_NUMBER(T, job_count, at sample., JSON_NULLABLE, 1, JSON_LARGEST, \
                               "Tasks that share the rest, with this one; default 1"),   \
        PROGRESS_REPORT_NUMBER(T, work_done_ref_s, at sample., JSON_NULLABLE, 0,         \
                               JSON_LARGEST,                                             \
                               "Work done in reference seconds: the integral of the "    \
                               "share over the run time, right after moves too; "        \
                               "default: elapsed_s times the present share")

/* What is wrong with the form of its progress; member NULL: nothing. */
struct progress_mistake {
    const char *member;
    enum item_code code;
    const char *text;
};
struct progress_mistake progress_report_mistake(const struct progress_report *report);

/* The report with its progress in percent. */
struct progress_sample progress_report_sample(const struct progress_report *report);

/* The numbers of an application, for answers and lookups. */
extern const struct json_object progress_application_json;

/* The reports of a task as a decision looks them up. */
extern const struct json_object progress_point_json;

extern const struct json_object progress_sample_json; /* as it is sent */
extern const struct json_object progress_applications_query_json;
extern const struct json_object progress_applications_page_json;

/* POST /v1/progress-samples (bulk) */
handler_fn post_progress_samples;

/* GET /v1/progress-applications */
handler_fn get_progress_applications;

#endif
