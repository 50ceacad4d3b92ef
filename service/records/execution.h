/* execution.h - the rows of an observed run, for what is stored and for what is sent. */
#ifndef GRIDPLAN_EXECUTION_RECORD_H
#define GRIDPLAN_EXECUTION_RECORD_H

#include "models/execution.h"
#include "service/json_holds.h"
#include "service/records/record.h"

#include <math.h>

#define EXECUTION_WHOLE_MAX 2147483647.0 /* what a column of type integer holds */

extern const char *const run_failure_names[]; /* by enum run_failure, ended by NULL */

/* EXECUTION_NULLABLE is what may be null besides: JSON_NULLABLE of what is sent, 0 of
 * what is answered. */
/* clang-format off */
#define EXECUTION_ROWS(ROW) \
    ROW(execution_id, DB_TEXT, RECORD_KEY, \
        JSON_ID(struct execution, execution_id, EXECUTION_NULLABLE, \
                "The caller's name of the run; a run of the same name and phase_index is " \
                "stored once; default: a UUID of application_id, phase_index, resource_id, " \
                "started_at, problem_size and parameters")) \
    ROW(application_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(struct execution, application_id, JSON_REQUIRED, \
                "The application that ran")) \
    ROW(site_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(struct execution, site_id, EXECUTION_NULLABLE | JSON_OPTIONAL, \
                "Where it ran")) \
    ROW(resource_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(struct execution, resource_id, EXECUTION_NULLABLE | JSON_OPTIONAL, \
                "The machine, or the first of several")) \
    ROW(parameters, DB_JSON, 0, \
        JSON_RAW(struct execution, parameters, EXECUTION_NULLABLE | JSON_OPTIONAL, \
                 "What it was started with: an object of any members", JSON_HOLDS(&json_any_object))) \
    ROW(started_at, DB_INSTANT, 0, \
        JSON_INSTANT(struct execution, started_at, JSON_REQUIRED, "When it started")) \
    ROW(run_time_s, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, run_time_s, 0, JSON_LARGEST, NAN, \
                    JSON_REQUIRED | JSON_ABOVE_MIN, "How long it ran; at most 1e9, 31 years")) \
    ROW(phase_index, DB_WHOLE, RECORD_KEY | RECORD_MINUS_ONE, \
        JSON_NUMBER(struct execution, phase_index, 0, EXECUTION_WHOLE_MAX, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_WHOLE, \
                    "Phase that this is about, from 0; default: the whole run")) \
    ROW(problem_size, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, problem_size, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, \
                    "Size of the problem: N of the model")) \
    ROW(processors, DB_WHOLE, 0, \
        JSON_NUMBER(struct execution, processors, 1, EXECUTION_WHOLE_MAX, NAN, \
                    JSON_WHOLE, "Processors used; default: as many as resource_ids, or 1", \
                    JSON_WAS({"cpus", -1}))) \
    ROW(cpu_available_ratio, DB_NUMBER, RECORD_FILLED, \
        JSON_NUMBER(struct execution, cpu_available_ratio, 0, 1, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, \
                    "Share of the CPU that it got: least of the machines' means")) \
    ROW(bandwidth_mbps, DB_NUMBER, RECORD_FILLED, \
        JSON_NUMBER(struct execution, bandwidth_mbps, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, \
                    "Bandwidth that it had: least of the links' means")) \
    ROW(memory_peak_bytes, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, memory_peak_bytes, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL, "Most memory that it used", \
                    JSON_WAS({"peak_memory_bytes", 0}))) \
    ROW(memory_requested_bytes, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, memory_requested_bytes, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, \
                    "Memory that was asked for", JSON_WAS({"memory_bytes", 0}))) \
    ROW(disk_peak_bytes, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, disk_peak_bytes, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL, "Most disk space that it used")) \
    ROW(cpus_used, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, cpus_used, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL, \
                    "Mean number of CPUs that it used")) \
    ROW(attempt, DB_WHOLE, 0, \
        JSON_NUMBER(struct execution, attempt, 1, EXECUTION_WHOLE_MAX, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_WHOLE, \
                    "Which attempt it was; default: the first")) \
    ROW(failure_kind, DB_TEXT, 0, \
        JSON_CHOICE(struct execution, failure_kind, run_failure_names, \
                    RUN_FAILURE_UNSAID, 0, \
                    "Why it failed; default: none, or error if exit_code is not 0")) \
    ROW(resource_class, DB_TEXT, RECORD_FILTER, \
        JSON_ID(struct execution, resource_class, EXECUTION_NULLABLE | JSON_OPTIONAL, \
                "Type of the machine")) \
    ROW(exit_code, DB_WHOLE, 0, \
        JSON_NUMBER(struct execution, exit_code, -EXECUTION_WHOLE_MAX, \
                    EXECUTION_WHOLE_MAX, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_WHOLE, \
                    "How it ended; 0: success")) \
    ROW(queue_wait_s, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, queue_wait_s, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL, \
                    "How long it waited in a batch queue before it started; later jobs " \
                    "of the site are expected to wait as long")) \
    ROW(predicted_s, DB_NUMBER, 0, \
        JSON_NUMBER(struct execution, predicted_s, 0, JSON_LARGEST, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_ABOVE_MIN, \
                    "Run time that had been predicted")) \
    ROW(model_version, DB_WHOLE, 0, \
        JSON_NUMBER(struct execution, model_version, 0, EXECUTION_WHOLE_MAX, NAN, \
                    EXECUTION_NULLABLE | JSON_OPTIONAL | JSON_WHOLE, \
                    "Version of the model that predicted it")) \
    ROW(dedicated, DB_BOOLEAN, 0, \
        JSON_BOOLEAN(struct execution, dedicated, 0, 0, \
                     "Nothing else ran on the machines; default false")) \
    ROW(outlier, DB_BOOLEAN, 0, \
        JSON_BOOLEAN(struct execution, outlier, 0, 0, \
                     "Predicted much too badly: left out of robust fits; default false")) \
    ROW(ignored, DB_BOOLEAN, 0, \
        JSON_BOOLEAN(struct execution, ignored, 0, 0, \
                     "No model is to learn it; default false"))
/* clang-format on */

#endif
