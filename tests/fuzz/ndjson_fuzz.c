/* ndjson_fuzz.c - any bytes as lines of JSON: nothing is lost, nothing invented. */
#include "service/json.h"

#include <stdlib.h>
#include <string.h>

struct sample {
    const char *name;
    double value;
    double seen_at_s;
    const struct named_value *attributes;
    size_t attribute_count;
    const char *labels;
};

#define T struct sample
static const struct json_field rows[] = {
    JSON_ID(T, name, JSON_REQUIRED, "Name"),
    JSON_NUMBER(T, value, 0, 1e9, NAN, JSON_NULLABLE, "Value"),
    JSON_INSTANT(T, seen_at, JSON_OPTIONAL, "Instant"),
    JSON_VALUES(T, attributes, attribute_count, 0, "Attributes"),
    JSON_RAW(T, labels, JSON_OPTIONAL, "Labels"),
    {0},
};
#undef T
static const struct json_object table = {"Sample", "a sample", sizeof(struct sample),
                                         rows};

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* What was printed must be read back, and print the same again. */
static void round_trip(const struct sample *s, struct arena *a)
{
    struct error err = {.arena = a};
    struct text_buffer first = {.arena = a}, second = {.arena = a};
    struct sample again;

    json_print(&table, s, &first);
    if (first.failed)
        return;
    if (json_read(&table, first.data, first.length, &again, NULL, a, &err) != OK) {
        if (err.code != ERR_TOO_LARGE)
            abort();
        return;
    }
    json_print(&table, &again, &second);
    if (!second.failed && strcmp(first.data, second.data) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *a = arena_create(64 * 1024 * 1024);
    struct error err = {.arena = a};
    struct json_lines lines;
    size_t newlines = 1;

    for (size_t i = 0; i < size; i++)
        newlines += data[i] == '\n';
    if (a &&
        json_read_lines(&table, (const char *)data, size, &lines, NULL, a, &err) == OK) {
        const struct sample *list = lines.items;

        if (lines.count + lines.refused_count > newlines)
            abort();
        for (size_t i = 0; i < lines.count; i++)
            round_trip(&list[i], a);
    }
    arena_close(a);
    return 0;
}
