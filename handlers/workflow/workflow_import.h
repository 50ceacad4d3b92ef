/* workflow_import.h - workflows from files that people have: DAX, STG, WfFormat, DOT,
 * what Snakemake prints, Pegasus 5.
 *
 * A request has such a text as a member beside its own, or as the whole body of another
 * content type (route.h, ROUTE_TAKES_WORKFLOW among the flags of the row): then the
 * query has the other members.
 */
#ifndef GRIDPLAN_WORKFLOW_IMPORT_H
#define GRIDPLAN_WORKFLOW_IMPORT_H

#include "models/snapshot.h"
#include "models/workflow_build.h"
#include "service/json.h"
#include "service/route.h"

enum workflow_format {
    WORKFLOW_DAX,
    WORKFLOW_STG,
    WORKFLOW_WFFORMAT,
    WORKFLOW_DOT,
    WORKFLOW_SNAKEMAKE_D3,
    WORKFLOW_PEGASUS,
    WORKFLOW_FORMAT_COUNT
};

/* Reads `length` bytes. Mistakes of the file are collected in *err, each with a pointer
 * that begins with `pointer` ("/dax"): of JSON formats a JSON Pointer to the value, of
 * the others the detail begins with the line. */
enum error_code workflow_import_text(enum workflow_format format, const char *text,
                                     size_t length, const char *pointer,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err);

/* ---- for endpoints: members of a request and of an answer ---- */

/* A request's struct has `struct workflow_import_request import`. */
struct workflow_import_request {
    const char *dax, *stg, *dot, *pegasus; /* text; NULL: none */
    const char *wfformat, *snakemake_d3;   /* JSON: the document, or a string that holds
                                              it; NULL: none */
    int format;           /* of the query: enum of json_formats; -1: not said */
    double default_ref_s; /* NAN: not said */
    const char *const *zero_classes; /* NULL: not said */
    size_t zero_class_count;
    const double *speeds; /* reference seconds a second, of machines of their own */
    size_t speed_count;
    double bandwidth_mbps; /* between any two of them */
};

/* Rows for the request and for its query: a simple cluster without a snapshot. */
#define WORKFLOW_IMPORT_QUERY_ROWS(T)                                                   \
    {.name = "speeds",                                                                  \
     .doc = "Instead of a snapshot: machines r1, r2 ... of these speeds, 1: run times " \
            "are as the file has them",                                                 \
     .type = JSON_TYPE_NUMBERS,                                                         \
     .offset = JSON_AT(T, import.speeds, const double *),                               \
     .count_offset = JSON_AT(T, import.speed_count, size_t),                            \
     .min = 1e-9,                                                                       \
     .max = 1e9,                                                                        \
     .flags = JSON_OPTIONAL},                                                           \
        {.name = "default_ref_s",                                                       \
         .doc = "Run time at speed 1 of tasks of a file that does not say it; default " \
                "60 of dot, snakemake_d3 and pegasus, else none",                       \
         .type = JSON_TYPE_NUMBER,                                                      \
         .offset = JSON_AT(T, import.default_ref_s, double),                            \
         .max = 1e15,                                                                   \
         .preset = NAN,                                                                 \
         .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_OPTIONAL},                      \
        {.name = "zero_classes",                                                        \
         .doc = "Classes of tasks that take no time unless the file says so; default "  \
                "[\"all\"] of dot and snakemake_d3, else none",                         \
         .type = JSON_TYPE_TEXTS,                                                       \
         .offset = JSON_AT(T, import.zero_classes, const char *const *),                \
         .count_offset = JSON_AT(T, import.zero_class_count, size_t),                   \
         .max = 1000,                                                                   \
         .flags = JSON_OPTIONAL},                                                       \
    {                                                                                   \
        .name = "bandwidth_mbps", .doc = "Of the links between these; default 1000",    \
        .type = JSON_TYPE_NUMBER, .offset = JSON_AT(T, import.bandwidth_mbps, double),  \
        .min = 0, .max = 1e12, .preset = 1000, .flags = JSON_ABOVE_MIN                  \
    }

/* Of the query alone: what a JSON body is. */
extern const char *const workflow_json_formats[];
#define WORKFLOW_IMPORT_FORMAT_ROW(T)                                                 \
    {                                                                                 \
        .name = "format",                                                             \
        .doc = "snakemake_d3: the body, application/json, is what snakemake --d3dag " \
               "prints",                                                              \
        .type = JSON_TYPE_CHOICE, .offset = JSON_AT(T, import.format, int),           \
        .choices = workflow_json_formats, .preset = -1, .flags = JSON_OPTIONAL        \
    }

/* Rows for the request: these and the file. */
#define WORKFLOW_IMPORT_ROWS(T)                                                        \
    WORKFLOW_IMPORT_QUERY_ROWS(T),                                                     \
        {.name = "dot",                                                                \
         .doc = "Instead of a workflow: a graph in the DOT language, as snakemake "    \
                "--dag prints it",                                                     \
         .type = JSON_TYPE_TEXT,                                                       \
         .offset = JSON_AT(T, import.dot, const char *),                               \
         .max = WORKFLOW_IMPORT_MAX_BYTES,                                             \
         .flags = JSON_NULLABLE},                                                      \
        {.name = "pegasus",                                                            \
         .doc = "Instead of a workflow: a workflow of Pegasus 5, YAML as text",        \
         .type = JSON_TYPE_TEXT,                                                       \
         .offset = JSON_AT(T, import.pegasus, const char *),                           \
         .max = WORKFLOW_IMPORT_MAX_BYTES,                                             \
         .flags = JSON_NULLABLE},                                                      \
        {.name = "snakemake_d3",                                                       \
         .doc = "Instead of a workflow: what snakemake --d3dag prints, as an object "  \
                "or as a string",                                                      \
         .type = JSON_TYPE_RAW,                                                        \
         .offset = JSON_AT(T, import.snakemake_d3, const char *),                      \
         .flags = JSON_NULLABLE},                                                      \
        {.name = "dax",                                                                \
         .doc = "Instead of a workflow: a Pegasus DAX document, XML as text",          \
         .type = JSON_TYPE_TEXT,                                                       \
         .offset = JSON_AT(T, import.dax, const char *),                               \
         .max = WORKFLOW_IMPORT_MAX_BYTES,                                             \
         .flags = JSON_NULLABLE},                                                      \
        {.name = "stg",                                                                \
         .doc = "Instead of a workflow: a Standard Task Graph, with or without costs " \
                "of communication, as text",                                           \
         .type = JSON_TYPE_TEXT,                                                       \
         .offset = JSON_AT(T, import.stg, const char *),                               \
         .max = WORKFLOW_IMPORT_MAX_BYTES,                                             \
         .flags = JSON_NULLABLE},                                                      \
    {                                                                                  \
        .name = "wfformat",                                                            \
        .doc = "Instead of a workflow: a WfFormat document, 1.5 or 1.4, as an object " \
               "or as a string",                                                       \
        .type = JSON_TYPE_RAW, .offset = JSON_AT(T, import.wfformat, const char *),    \
        .flags = JSON_NULLABLE                                                         \
    }

enum { WORKFLOW_IMPORT_MAX_BYTES = 1 << 30 }; /* max_body_bytes comes first */

/* What was read, for the answer: `const struct workflow_import *import` and
 * JSON_OBJECT(T, import, const struct workflow_import *, &workflow_import_json,
 *             JSON_POINTER | JSON_OPTIONAL, "What was read from the file"). */
extern const struct json_object workflow_import_json;

/* Whether the request has a file. */
bool workflow_import_given(const struct workflow_import_request *in);

/* Reads the file of the request; two of them are a mistake. Call when one is given. */
enum error_code workflow_import_read(const struct workflow_import_request *in,
                                     struct workflow_import *out, struct arena *a,
                                     struct error *err);

/* The cluster that `speeds` describes: a site for each machine;
 * whether a snapshot is given besides is the caller's to check. */
const struct snapshot *workflow_import_snapshot(const struct workflow_import_request *in,
                                                struct arena *a);

#endif
