/* workflow_import.c - workflows from files that people have: which format, and what an
 * endpoint says about it. The readers are models/dax.c, stg.c and wfformat.c. */
#include "handlers/workflow/workflow_import.h"

#include "models/dax.h"
#include "models/json_walk.h"
#include "models/stg.h"
#include "models/wfformat.h"

#include <assert.h>
#include <string.h>

#define T struct workflow_repaired
static const struct json_field repair_rows[] = {
    JSON_TEXT(T, kind, 0, "Name of the rule"),
    JSON_INTEGER(T, count, 0, 0, 0, 0, "How often"),
    JSON_TEXT(T, detail, 0, "What was done"),
    {0},
};
#undef T
static const struct json_object repair_json = {
    "WorkflowRepair",
    "What was wrong or missing in a file and was repaired, or was left out",
    sizeof(struct workflow_repaired), repair_rows};

#define T struct workflow_import
static const struct json_field import_rows[] = {
    JSON_TEXT(T, format, 0, "dax, stg or wfformat"),
    JSON_INTEGER(T, task_count, 0, 0, 0, 0, "Tasks"),
    JSON_INTEGER(T, dependency_count, 0, 0, 0, 0,
                 "Dependencies, each once; those that only files show are added"),
    JSON_NUMBER(T, dependency_bytes, 0, 0, 0, 0,
                "Sum over dependencies of the files that the parent writes and the child "
                "reads, with the parent's sizes, bytes"),
    JSON_NUMBER(T, input_bytes, 0, 0, 0, 0,
                "Sum over tasks of the files that no task writes, bytes; they are there "
                "at once unless the tasks say from where they come"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, 0,
                "Sum of the run times at speed 1, those that are known, s"),
    JSON_NUMBER(T, critical_path_s, 0, 0, 0, 0,
                "Longest chain of run times at speed 1, without transfers, s"),
    JSON_LIST(T, repairs, repair_count, struct workflow_repaired, &repair_json, 0, 0,
              "What was repaired or left out. Refused (422) are: two tasks of one id, "
              "dependencies on tasks that are not there, circles, a document type "
              "declaration, a text that breaks off"),
    {0},
};
#undef T
const struct json_object workflow_import_json = {
    "WorkflowImport", "What was read from a workflow file of another tool",
    sizeof(struct workflow_import), import_rows};

enum error_code workflow_import_text(enum workflow_format format, const char *text,
                                     size_t length, const char *pointer,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err)
{
    switch (format) {
    case WORKFLOW_DAX:
        return dax_read(text, length, pointer, out, a, err);
    case WORKFLOW_STG:
        return stg_read(text, length, pointer, out, a, err);
    default:
        return wfformat_read(text, length, pointer, out, a, err);
    }
}

bool workflow_import_given(const struct workflow_import_request *in)
{
    return in->dax || in->stg || in->wfformat;
}

/* A document that stands in a string. */
static enum error_code unpack(const char *json, const char **text, struct arena *a,
                              struct error *err)
{
    struct json_walk walk;

    json_walk_open(&walk, json, strlen(json), a);
    *text = json;
    if (json_walk_type(&walk) != '"')
        return OK;
    *text = json_walk_string(&walk);
    return json_walk_end(&walk, "/wfformat", err);
}

enum error_code workflow_import_read(const struct workflow_import_request *in,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err)
{
    const char *text;

    assert(workflow_import_given(in));
    if (!!in->dax + !!in->stg + !!in->wfformat > 1)
        return invalid(err, in->dax && in->stg ? "/stg" : "/wfformat", ITEM_CONFLICT,
                       "one of dax, stg and wfformat can be given, not two");
    if (in->dax)
        return workflow_import_text(WORKFLOW_DAX, in->dax, strlen(in->dax), "/dax", out,
                                    a, err);
    if (in->stg)
        return workflow_import_text(WORKFLOW_STG, in->stg, strlen(in->stg), "/stg", out,
                                    a, err);
    assert(in->wfformat);
    TRY(unpack(in->wfformat, &text, a, err));
    return workflow_import_text(WORKFLOW_WFFORMAT, text, strlen(text), "/wfformat", out,
                                a, err);
}

const struct snapshot *workflow_import_snapshot(const struct workflow_import_request *in,
                                                struct arena *a)
{
    struct snapshot *snapshot = NEW(a, struct snapshot, 1);
    struct resource *resources = NEW(a, struct resource, in->speed_count);

    for (size_t i = 0; i < in->speed_count; i++) {
        resources[i] = (struct resource){
            .id = arena_printf(a, "r%zu", i + 1),
            .mips_total = in->speeds[i],
            .cpu_available_ratio = 1,
            .cpus = NAN,
            .memory_bytes = NAN,
            .n_max = NAN,
            .observed_at_s = NAN,
            .fixed_priority = 1,
            .observed_since_s = NAN,
            .last_failure_at_s = NAN,
            .up_since_s = NAN,
            .failure_count = NAN,
            .uptime_total_s = NAN,
        };
    }
    *snapshot = (struct snapshot){
        .taken_at_s = NAN,
        .list_observed_at_s = NAN,
        .network = {.wan_mbps = in->bandwidth_mbps, .lan_mbps = NAN, .lan_latency_s = 0},
        .resources = resources,
        .resource_count = in->speed_count,
    };
    return snapshot;
}
