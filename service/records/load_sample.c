/* load_sample.c - what was observed of a resource or a link. */
#include "models/load_history.h"
#include "service/records/records.h"

#include <math.h>

enum { MEASURE = RECORD_KEY_MEASURE, OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct load_sample
#define ROWS(ROW) \
    ROW(resource_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, resource_id, JSON_REQUIRED, "The resource, or where the link begins")) \
    ROW(to_resource_id, DB_TEXT, RECORD_KEY_OR_EMPTY | RECORD_FILTER, \
        JSON_ID(T, to_resource_id, OPTIONAL, \
                "Where the link ends; default: the sample is of the resource itself")) \
    ROW(observed_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, observed_at, JSON_REQUIRED, "When it was observed")) \
    ROW(cpu_available_ratio, DB_NUMBER, MEASURE, \
        JSON_NUMBER(T, cpu_available_ratio, 0, 1, NAN, OPTIONAL, \
                    "Share of the CPU that a new job would get")) \
    ROW(memory_available_bytes, DB_NUMBER, MEASURE, \
        JSON_NUMBER(T, memory_available_bytes, 0, JSON_LARGEST, NAN, OPTIONAL, \
                    "Memory that a new job could use")) \
    ROW(bandwidth_mbps, DB_NUMBER, MEASURE, \
        JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, NAN, OPTIONAL, \
                    "Available bandwidth in 10^6 bits per second")) \
    ROW(latency_s, DB_NUMBER, MEASURE, \
        JSON_NUMBER(T, latency_s, 0, JSON_LARGEST, NAN, OPTIONAL, "Latency in seconds"))
/* clang-format on */
RECORD_TABLES(sample, ROWS);

const struct json_object load_sample_json = {
    "LoadSample", "What was observed of a resource or a link; one measure at least",
    sizeof(T), sample_fields};

static void check_sample(struct record_check *check, const void *item)
{
    const struct load_sample *s = item;

    record_check_instant(check, "observed_at", s->observed_at_s);
    if (isnan(s->cpu_available_ratio) && isnan(s->memory_available_bytes) &&
        isnan(s->bandwidth_mbps) && isnan(s->latency_s))
        record_mistake(check, "", ITEM_NO_MEASURE,
                       "one of cpu_available_ratio, memory_available_bytes, "
                       "bandwidth_mbps and latency_s is needed");
}

const struct record load_sample_record = {
    .table = "load_sample",
    .json = &load_sample_json,
    .columns = sample_columns,
    .at = "observed_at",
    .check = check_sample,
    .expires = true,
};
