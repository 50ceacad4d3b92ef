/* workflow_import.c - workflows from files that people have: which format, and what an
 * endpoint says about it. The readers are in models/. */
#include "handlers/workflow/workflow_import.h"

#include "models/dax.h"
#include "models/dot.h"
#include "models/json_walk.h"
#include "models/pegasus.h"
#include "models/snakemake_d3.h"
#include "models/stg.h"
#include "models/wfformat.h"

#include <assert.h>
#include <string.h>

#define T struct workflow_repaired
static const struct json_field repair_rows[] = {
    JSON_WORD(T, kind, workflow_repair_names, 0, "Name of the rule"),
    JSON_INTEGER(T, count, 0, 0, 0, 0, "How often"),
    JSON_TEXT(T, detail, 0, "What was done"),
    {0},
};
#undef T
static const struct json_object repair_json = {
    "WorkflowRepair",
    "What was wrong or missing in a file and was repaired, or was left out",
    sizeof(struct workflow_repaired), repair_rows};

static const char *const workflow_format_names[] = {WORKFLOW_IN_DAX,
                                                    WORKFLOW_IN_STG,
                                                    WORKFLOW_IN_WFFORMAT,
                                                    WORKFLOW_IN_DOT,
                                                    WORKFLOW_IN_SNAKEMAKE_D3,
                                                    WORKFLOW_IN_PEGASUS,
                                                    NULL};

#define T struct workflow_import
static const struct json_field import_rows[] = {
    JSON_WORD(T, format, workflow_format_names, 0,
              "dax, stg, wfformat, dot, snakemake_d3 or pegasus"),
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

const char *const workflow_json_formats[] = {WORKFLOW_IN_SNAKEMAKE_D3, NULL};

typedef enum error_code read_fn(const char *text, size_t length, const char *pointer,
                                struct workflow_import *out, struct arena *a,
                                struct error *err);

#define MEMBER(name) offsetof(struct workflow_import_request, name)
static const char *const all[] = {"all"};

static const struct {
    read_fn *read;
    const char *member;
    size_t offset;           /* of the text in a request */
    bool is_json;            /* it may stand in a string */
    double default_ref_s;    /* what it never says; NAN: it may */
    size_t zero_class_count; /* of `all` */
} formats[WORKFLOW_FORMAT_COUNT] = {
    [WORKFLOW_DAX] = {dax_read, WORKFLOW_IN_DAX, MEMBER(dax), false, NAN, 0},
    [WORKFLOW_STG] = {stg_read, WORKFLOW_IN_STG, MEMBER(stg), false, NAN, 0},
    [WORKFLOW_WFFORMAT] = {wfformat_read, WORKFLOW_IN_WFFORMAT, MEMBER(wfformat), true,
                           NAN, 0},
    [WORKFLOW_DOT] = {dot_read, WORKFLOW_IN_DOT, MEMBER(dot), false, 60, 1},
    [WORKFLOW_SNAKEMAKE_D3] = {snakemake_d3_read, WORKFLOW_IN_SNAKEMAKE_D3,
                               MEMBER(snakemake_d3), true, 60, 1},
    [WORKFLOW_PEGASUS] = {pegasus_read, WORKFLOW_IN_PEGASUS, MEMBER(pegasus), false, 60,
                          0},
};

enum error_code workflow_import_text(enum workflow_format format, const char *text,
                                     size_t length, const char *pointer,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err)
{
    return formats[format].read(text, length, pointer, out, a, err);
}

/* The request's text of that format; NULL: none. */
static const char *text_of(const struct workflow_import_request *in, size_t format)
{
    return *(const char *const *)((const char *)in + formats[format].offset);
}

bool workflow_import_given(const struct workflow_import_request *in)
{
    for (size_t i = 0; i < WORKFLOW_FORMAT_COUNT; i++)
        if (text_of(in, i))
            return true;
    return false;
}

/* A document that stands in a string. */
static enum error_code unpack(const char *json, const char *pointer, const char **text,
                              struct arena *a, struct error *err)
{
    struct json_walk walk;

    json_walk_open(&walk, json, strlen(json), a);
    *text = json;
    if (json_walk_type(&walk) != '"')
        return OK;
    *text = json_walk_string(&walk);
    return json_walk_end(&walk, pointer, err);
}

static void assume(const struct workflow_import_request *in, size_t format,
                   struct workflow_import *out)
{
    struct workflow_assumed assumed = {all, formats[format].zero_class_count,
                                       formats[format].default_ref_s};

    if (!isnan(in->default_ref_s))
        assumed.default_ref_s = in->default_ref_s;
    if (in->zero_classes) {
        assumed.zero_classes = in->zero_classes;
        assumed.zero_class_count = in->zero_class_count;
    }
    workflow_import_assume(out, &assumed);
}

enum error_code workflow_import_read(const struct workflow_import_request *in,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err)
{
    size_t format = 0, second;
    const char *text, *pointer;

    assert(workflow_import_given(in));
    while (!text_of(in, format))
        format++;
    second = format + 1;
    while (second < WORKFLOW_FORMAT_COUNT && !text_of(in, second))
        second++;
    if (second < WORKFLOW_FORMAT_COUNT)
        return invalid(err, arena_printf(a, "/%s", formats[second].member), ITEM_CONFLICT,
                       "one other tool's file can be given, not two");
    pointer = arena_printf(a, "/%s", formats[format].member);
    text = text_of(in, format);
    if (formats[format].is_json)
        TRY(unpack(text, pointer, &text, a, err));
    TRY(formats[format].read(text, strlen(text), pointer, out, a, err));
    assume(in, format, out);
    return OK;
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
            .disk_bytes = NAN,
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
