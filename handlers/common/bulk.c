/* bulk.c - bodies of many records: which are refused, and what the answer says. */
#include "handlers/common/bulk.h"

#include "service/clock.h"
#include "service/store.h"

#include <stdio.h>
#include <string.h>

#define T struct bulk_error
static const struct json_field error_rows[] = {
    JSON_INTEGER(T, line, 1, JSON_EXACT, 1, 0, "Line of the body, from 1"),
    JSON_TEXT(T, pointer, 0, "JSON Pointer to the value in that line"),
    JSON_TEXT(T, code, 0, "Kind of the mistake"),
    JSON_TEXT(T, detail, 0, "What was found and what is expected"),
    JSON_TEXT(T, hint, JSON_OPTIONAL, "What to do about it"),
    {0},
};
#undef T
const struct json_object bulk_error_json = {"BulkError", "A mistake in a line of NDJSON",
                                            sizeof(struct bulk_error), error_rows};

#define T            struct bulk_answer
#define RECEIVED_ROW JSON_INTEGER(T, received, 0, JSON_EXACT, 0, 0, "Records in the body")
#define STORED_ROW \
    JSON_INTEGER(T, stored, 0, JSON_EXACT, 0, 0, "Records stored and committed")
#define REFUSED_ROW \
    JSON_INTEGER(T, refused, 0, JSON_EXACT, 0, 0, "Lines of NDJSON refused")
#define ERRORS_ROW                                                         \
    JSON_LIST(T, errors, error_count, struct bulk_error, &bulk_error_json, \
              BULK_ERRORS_MAX, 0,                                          \
              "What was wrong with the refused lines: the first 100 mistakes")
static const struct json_field answer_rows[] = {
    RECEIVED_ROW, STORED_ROW, REFUSED_ROW, ERRORS_ROW, {0},
};
static const struct json_field unique_answer_rows[] = {
    RECEIVED_ROW,
    STORED_ROW,
    JSON_INTEGER(T, duplicates, 0, JSON_EXACT, 0, 0,
                 "Records that were stored already: left as they are"),
    REFUSED_ROW,
    ERRORS_ROW,
    {0},
};
#undef T
const struct json_object bulk_answer_json = {"BulkAnswer", "What was stored",
                                             sizeof(struct bulk_answer), answer_rows};
const struct json_object bulk_unique_answer_json = {
    "BulkUniqueAnswer", "What was stored, and what had been", sizeof(struct bulk_answer),
    unique_answer_rows};

void bulk_mistake(struct bulk_check *check, const char *member, enum item_code code,
                  const char *format, ...)
{
    char pointer[128] = "";
    char text[256];
    size_t used = 0;
    va_list args;

    if (check->in_list && !check->line)
        used = (size_t)snprintf(pointer, sizeof(pointer), "/%zu", check->index);
    if (*member)
        snprintf(pointer + used, sizeof(pointer) - used, "/%s", member);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    invalid(check->err, pointer, code, "%s", text);
    if (check->line)
        error_at_line(check->err, check->line);
}

void bulk_check_instant(struct bulk_check *check, const char *member, double at_s)
{
    if (at_s > check->now_s + STORE_FUTURE_MAX_S)
        bulk_mistake(check, member, ITEM_IN_THE_FUTURE,
                     "%.0f s ahead of the service's clock; at most %d s are accepted",
                     at_s - check->now_s, STORE_FUTURE_MAX_S);
}

void bulk_check_whole(struct bulk_check *check, const char *member, double number)
{
    if (number != floor(number) && !isnan(number))
        bulk_mistake(check, member, ITEM_NOT_AN_INTEGER, "must be a whole number");
}

/* Checks all records; `good` gets the bytes of those that have no mistake. The
 * number of these. */
static size_t check_items(struct bulk_check *check, const struct json_lines *in,
                          size_t item_bytes, bulk_check_fn *check_item, char *good)
{
    const char *item = in->items;
    size_t count = 0;

    for (size_t i = 0; i < in->count; i++, item += item_bytes) {
        size_t mistakes = check->err->item_count;

        check->index = i;
        check->line = in->line ? in->line[i] : 0;
        check_item(check, item);
        if (check->err->item_count > mistakes)
            continue;
        if (good)
            memcpy(good + count * item_bytes, item, item_bytes);
        count++;
    }
    return count;
}

/* The mistakes of both lists in the order of lines: those found when reading, and
 * those found by the check. */
static enum error_code merge_errors(const struct error_item *read,
                                    const struct error_item *checked,
                                    struct bulk_answer *answer, struct arena *a)
{
    struct bulk_error *list = NEW(a, struct bulk_error, BULK_ERRORS_MAX);
    size_t count = 0;

    while ((read || checked) && count < BULK_ERRORS_MAX) {
        bool take_read = !checked || (read && read->line <= checked->line);
        const struct error_item *item = take_read ? read : checked;

        list[count++] = (struct bulk_error){.line = item->line,
                                            .pointer = item->pointer,
                                            .code = item_kinds[item->code].name,
                                            .detail = item->detail,
                                            .hint = item->hint,
                                            .of = item};
        if (take_read)
            read = read->next;
        else
            checked = checked->next;
    }
    answer->errors = list;
    answer->error_count = count;
    return OK;
}

/* Nothing of an NDJSON body can be stored: its mistakes become the request's. */
static enum error_code refuse_all(const struct bulk_answer *answer, struct error *err)
{
    for (size_t i = 0; i < answer->error_count; i++)
        invalid_again(err, "", answer->errors[i].of);
    return err->code;
}

static enum error_code accept_lines(struct request *rq, const struct json_lines *in,
                                    size_t item_bytes, bulk_check_fn *check_item,
                                    const void **items, size_t *count,
                                    struct bulk_answer *answer)
{
    struct error refused = {.arena = rq->arena};
    struct bulk_check check = {.now_s = clock_wall_s(), .in_list = true, .err = &refused};
    char *good = arena_alloc(rq->arena, item_bytes, in->count);

    *count = check_items(&check, in, item_bytes, check_item, good);
    *items = good;
    answer->received = in->count + in->refused_count;
    answer->refused = answer->received - *count;
    TRY(merge_errors(in->refused, refused.first, answer, rq->arena));
    return answer->refused && *count == 0 ? refuse_all(answer, rq->err) : OK;
}

enum error_code bulk_accept(struct request *rq, const struct json_lines *in,
                            size_t item_bytes, bulk_check_fn *check, const void **items,
                            size_t *count, struct bulk_answer *answer)
{
    struct bulk_check whole = {
        .now_s = clock_wall_s(), .in_list = !in->is_single, .err = rq->err};

    rq->ingested = (struct metrics_rows){.refused_count = in->count + in->refused_count};
    if (in->line)
        return accept_lines(rq, in, item_bytes, check, items, count, answer);
    check_items(&whole, in, item_bytes, check, NULL);
    *items = in->items;
    *count = in->count;
    answer->received = in->count;
    return rq->err->code;
}

void bulk_stored(struct request *rq, size_t stored, struct bulk_answer *answer)
{
    answer->stored = stored;
    answer->duplicates = answer->received - answer->refused - stored;
    rq->ingested = (struct metrics_rows){stored, answer->duplicates, answer->refused};
    if (stored > 0 && stored == answer->received)
        rq->reply->status = 201;
}
