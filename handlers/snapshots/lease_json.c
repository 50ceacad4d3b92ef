/* lease_json.c - how leases look in JSON. */
#include "handlers/common/world_json.h"
#include "handlers/snapshots/lease.h"

#include <math.h>

#include <string.h>

enum { PLACEMENTS_MAX = 10000 };

#define AMOUNT_ROWS(T, at)                                                          \
    {.name = "job_id",                                                              \
     .doc = "The job; in one live lease at most, and in none once it runs",         \
     .type = JSON_TYPE_TEXT,                                                        \
     .offset = JSON_AT(T, at job_id, const char *),                                 \
     .min = 1,                                                                      \
     .max = 256,                                                                    \
     .flags = JSON_REQUIRED},                                                       \
        {.name = "resource_ids",                                                    \
         .doc = "Resources of the snapshot that it is on, all at the same time",    \
         .type = JSON_TYPE_TEXTS,                                                   \
         .offset = JSON_AT(T, at resource_ids, const char *const *),                \
         .count_offset = JSON_AT(T, at resource_id_count, size_t),                  \
         .max = JOB_NODES_MAX,                                                      \
         .flags = JSON_REQUIRED},                                                   \
        {.name = "cpus",                                                            \
         .doc = "CPUs of each resource; default 1",                                 \
         .type = JSON_TYPE_NUMBER,                                                  \
         .offset = JSON_AT(T, at cpus, double),                                     \
         .max = 1e9,                                                                \
         .preset = 1,                                                               \
         .flags = JSON_ABOVE_MIN},                                                  \
        {.name = "memory_bytes",                                                    \
         .doc = "Memory of each resource; default 0",                               \
         .type = JSON_TYPE_NUMBER,                                                  \
         .offset = JSON_AT(T, at memory_bytes, double),                             \
         .max = AMOUNT_BYTES_MAX},                                                  \
        {.name = "disk_bytes",                                                      \
         .doc = "Disk of each resource; default 0",                                 \
         .type = JSON_TYPE_NUMBER,                                                  \
         .offset = JSON_AT(T, at disk_bytes, double),                               \
         .max = AMOUNT_BYTES_MAX},                                                  \
        {.name = "needs",                                                           \
         .doc = "Other amounts, by the names of capacities (of each resource) and " \
                "shared_capacities (once)",                                         \
         .type = JSON_TYPE_VALUES,                                                  \
         .offset = JSON_AT(T, at needs, const struct named_value *),                \
         .count_offset = JSON_AT(T, at need_count, size_t),                         \
         .max = AMOUNT_LIST_MAX,                                                    \
         .flags = JSON_AMOUNTS_ONLY},                                               \
    {                                                                               \
        .name = "exclusive", .doc = "It shares its resources with nobody",          \
        .type = JSON_TYPE_BOOLEAN, .offset = JSON_AT(T, at exclusive, bool)         \
    }

#define T struct lease_wish
static const struct json_field wish_rows[] = {
    AMOUNT_ROWS(T, row.),
    JSON_NUMBER(T, start_s, 0, JSON_LARGEST, 0, 0,
                "When it begins, seconds from now; default 0"),
    JSON_NUMBER(
        T, end_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
        "When it ends, seconds from now; null: not known, it holds its amounts as "
        "long as the lease lives"),
    {0},
};
#undef T
static const struct json_object wish_json = {"LeaseRequestPlacement",
                                             "Amounts that a job is to have for a while",
                                             sizeof(struct lease_wish), wish_rows};

#define T struct lease_request
static const struct json_field request_rows[] = {
    JSON_ID(T, owner, JSON_REQUIRED,
            "Who asks; names that begin with session: belong to sessions"),
    JSON_NUMBER(T, ttl_s, 1, 86400, 60, 0,
                "Seconds after which it expires unless it is prolonged; default 60"),
    JSON_LIST(T, placements, placement_count, struct lease_wish, &wish_json,
              PLACEMENTS_MAX, JSON_REQUIRED, "What is asked for: all of it or nothing",
              JSON_LEAST(1)),
    {0},
};
#undef T
const struct json_object lease_request_json = {
    "LeaseRequest", "A lease that is asked for", sizeof(struct lease_request),
    request_rows};

#define T struct lease_row
static const struct json_field row_rows[] = {
    AMOUNT_ROWS(T, ),
    JSON_INSTANT(T, start_at, 0, "When it begins"),
    JSON_INSTANT(T, end_at, JSON_OPTIONAL, "When it ends; absent: not known"),
    JSON_ID(T, running_id, JSON_OPTIONAL,
            "Its id among what runs of the snapshot; absent: job_id"),
    {0},
};
#undef T
const struct json_object lease_row_json = {"LeasePlacement",
                                           "Amounts that a job has for a while",
                                           sizeof(struct lease_row), row_rows};

#define T struct lease
static const struct json_field lease_rows[] = {
    JSON_ID(T, lease_id, 0, "UUID of the lease"),
    JSON_ID(T, owner, 0, "Who has it"),
    JSON_INSTANT(T, created_at, 0, "When it was made"),
    JSON_INSTANT(T, expires_at, JSON_OPTIONAL,
                 "From when on it counts no more, by the database's clock; absent: it "
                 "does not expire"),
    JSON_INTEGER(T, generation, 1, JSON_EXACT, 1, 0,
                 "Of the snapshot when it was made, or confirmed"),
    JSON_LIST(T, placements, placement_count, struct lease_row, &lease_row_json, 0, 0,
              "What it holds"),
    {0},
};
#undef T
const struct json_object lease_json = {
    "Lease", "Amounts of a stored snapshot that an owner holds for a while",
    sizeof(struct lease), lease_rows};

const char *lease_rows_text(const struct lease_row *rows, size_t count, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_add(&b, "[", 1);
    for (size_t i = 0; i < count; i++) {
        text_addf(&b, i ? "," : "");
        json_print(&lease_row_json, &rows[i], &b);
    }
    text_add(&b, "]", 2); /* with the NUL */
    return text_end(&b);
}

enum error_code lease_read(const struct store_lease *stored, struct lease *out,
                           struct arena *a, struct error *err)
{
    struct json_lines lines;

    TRY(json_read_list(&lease_row_json, stored->rows, strlen(stored->rows), &lines, NULL,
                       a, err));
    *out = (struct lease){stored->lease_id,     stored->owner,      stored->created_at_s,
                          stored->expires_at_s, stored->generation, lines.items,
                          lines.count};
    return OK;
}

enum error_code lease_read_all(const struct store_lease *stored, size_t count,
                               const struct lease **out, struct arena *a,
                               struct error *err)
{
    struct lease *list = NEW(a, struct lease, count);

    for (size_t i = 0; i < count; i++)
        TRY(lease_read(&stored[i], &list[i], a, err));
    *out = list;
    return OK;
}

struct taken_running lease_row_running(const struct lease_row *row,
                                       const char *const *resource_ids,
                                       size_t resource_id_count, double started_at_s)
{
    return (struct taken_running){
        .id = row->job_id,
        .resource_ids = resource_ids,
        .resource_id_count = resource_id_count,
        .cpus = row->cpus,
        .memory_bytes = row->memory_bytes,
        .disk_bytes = row->disk_bytes,
        .needs = row->needs,
        .need_count = row->need_count,
        .expected_end_s = NAN,
        .expected_end_at_s = row->end_at_s,
        .time_limit_s = NAN,
        .elapsed_s = NAN,
        .started_at_s = started_at_s,
        .weight = 1,
        .exclusive = row->exclusive,
    };
}
