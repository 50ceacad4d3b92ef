/* bulk.c - bodies of many records: which are refused, and what the answer says. */
#include "handlers/history/bulk.h"

#include "service/clock.h"

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

static const struct json_field answer_rows[] = {BULK_ROWS, BULK_WARNINGS, {0}};
const struct json_object bulk_answer_json = {"BulkAnswer", "What was stored",
                                             sizeof(struct bulk_answer), answer_rows};

/* Checks all records; `good` gets the bytes of those that have no mistake, and `line`
 * their lines. The number of these. */
static size_t check_items(struct record_check *check, const struct json_lines *in,
                          size_t item_bytes, record_check_fn *check_item, char *good,
                          uint64_t *line)
{
    const char *item = in->items;
    size_t count = 0;

    for (size_t i = 0; i < in->count; i++, item += item_bytes) {
        size_t mistakes = check->err->item_count;

        check->index = i;
        check->line = in->line ? in->line[i] : 0;
        if (check_item)
            check_item(check, item);
        if (check->err->item_count > mistakes)
            continue;
        if (good) {
            memcpy(good + count * item_bytes, item, item_bytes);
            line[count] = check->line;
        }
        count++;
    }
    return count;
}

static struct bulk_error error_of(const struct error_item *item)
{
    return (struct bulk_error){.line = item->line,
                               .pointer = item->pointer,
                               .code = item_kinds[item->code].name,
                               .detail = item->detail,
                               .hint = item->hint,
                               .of = item};
}

/* Adds further mistakes, each list in the order of lines: so is the answer's. */
static void merge_errors(const struct error_item *more, struct bulk_answer *answer,
                         struct arena *a)
{
    struct bulk_error *list = NEW(a, struct bulk_error, BULK_ERRORS_MAX);
    const struct bulk_error *known = answer->errors;
    size_t left = answer->error_count, count = 0;

    while ((left > 0 || more) && count < BULK_ERRORS_MAX) {
        if (left > 0 && (!more || known->line <= more->line)) {
            list[count++] = *known++;
            left--;
            continue;
        }
        list[count++] = error_of(more);
        more = more->next;
    }
    answer->errors = list;
    answer->error_count = count;
}

/* Nothing of an NDJSON body can be stored: its mistakes become the request's. */
static enum error_code refuse_all(const struct bulk_answer *answer, struct error *err)
{
    for (size_t i = 0; i < answer->error_count; i++)
        invalid_again(err, "", answer->errors[i].of);
    return err->code;
}

static enum error_code accept_lines(struct request *rq, const struct json_lines *in,
                                    size_t item_bytes, record_check_fn *check_item,
                                    struct bulk_items *items, struct bulk_answer *answer)
{
    struct error refused = {.arena = rq->arena};
    struct record_check check = {
        .now_s = clock_wall_s(), .in_list = true, .err = &refused};
    char *good = arena_alloc(rq->arena, item_bytes, in->count);
    uint64_t *line = NEW(rq->arena, uint64_t, in->count);

    items->count = check_items(&check, in, item_bytes, check_item, good, line);
    items->list = good;
    items->line = line;
    answer->received = in->count + in->refused_count;
    answer->refused = answer->received - items->count;
    merge_errors(in->refused, answer, rq->arena);
    merge_errors(refused.first, answer, rq->arena);
    return answer->refused && items->count == 0 ? refuse_all(answer, rq->err) : OK;
}

enum error_code bulk_accept(struct request *rq, const struct json_lines *in,
                            size_t item_bytes, record_check_fn *check,
                            struct bulk_items *items, struct bulk_answer *answer)
{
    struct record_check whole = {
        .now_s = clock_wall_s(), .in_list = !in->is_single, .err = rq->err};

    rq->ingested = (struct metrics_rows){.refused_count = in->count + in->refused_count};
    *items = (struct bulk_items){in->items, in->count, NULL, in->is_single};
    if (in->line)
        return accept_lines(rq, in, item_bytes, check, items, answer);
    check_items(&whole, in, item_bytes, check, NULL, NULL);
    answer->received = in->count;
    return rq->err->code;
}

static double instant_of(const struct json_field *at, const void *item)
{
    double at_s;

    memcpy(&at_s, (const char *)item + at->offset, sizeof(at_s));
    return at_s;
}

enum error_code bulk_refuse(struct request *rq, struct bulk_items *items,
                            size_t item_bytes, const bool *is_refused,
                            const struct error *err, struct bulk_answer *answer)
{
    char *good = arena_alloc(rq->arena, item_bytes, items->count + 1);
    uint64_t *line = NEW(rq->arena, uint64_t, items->count + 1);
    size_t count = 0;

    if (err->item_count == 0)
        return OK;
    if (!items->line)
        return err->code;
    for (size_t i = 0; i < items->count; i++) {
        if (is_refused[i])
            continue;
        memcpy(good + count * item_bytes, (const char *)items->list + i * item_bytes,
               item_bytes);
        line[count++] = items->line[i];
    }
    answer->refused += items->count - count;
    merge_errors(err->first, answer, rq->arena);
    items->list = good;
    items->line = line;
    items->count = count;
    return count > 0 ? OK : refuse_all(answer, rq->err);
}

enum error_code bulk_expire(struct request *rq, struct bulk_items *items,
                            size_t item_bytes, const struct json_field *at,
                            double kept_from_s, struct bulk_answer *answer)
{
    struct error refused = {.arena = rq->arena};
    struct record_check check = {.in_list = !items->is_single,
                                 .err = items->line ? &refused : rq->err};
    bool *is_refused = NEW(rq->arena, bool, items->count + 1);
    size_t others = answer->refused;
    enum error_code code;

    for (size_t i = 0; i < items->count; i++) {
        is_refused[i] =
            !(instant_of(at, (const char *)items->list + i * item_bytes) >= kept_from_s);
        if (!is_refused[i])
            continue;
        check.index = i;
        check.line = items->line ? items->line[i] : 0;
        record_mistake(&check, at->name, ITEM_RAW_EXPIRED,
                       "samples are kept from %.0f on, in seconds since 1970",
                       kept_from_s);
    }
    code = bulk_refuse(rq, items, item_bytes, is_refused, check.err, answer);
    return code == OK || (items->line && others > 0) ? code : error_is_conflict(rq->err);
}

/* Notes the records that are stored with other values, or clash with others. */
static void refuse_stored(const struct bulk_items *items,
                          const struct record_stored *stored, struct error *err)
{
    struct record_check check = {.in_list = !items->is_single, .err = err};

    for (size_t i = 0; i < stored->refused_count; i++) {
        check.index = stored->refused[i];
        check.line = items->line ? items->line[check.index] : 0;
        if (stored->why && stored->why[i]) {
            record_mistake(&check, "", ITEM_CONFLICT, "%s", stored->why[i]);
            continue;
        }
        record_mistake(&check, "", ITEM_CONFLICT,
                       "it is stored already, with other values");
        error_hint(err,
                   "on_conflict=replace stores these values, on_conflict=keep leaves "
                   "what is stored");
    }
}

enum error_code bulk_stored(struct request *rq, const struct bulk_items *items,
                            const struct record_stored *stored,
                            struct bulk_answer *answer)
{
    struct error refused = {.arena = rq->arena};

    answer->stored = stored->stored;
    answer->replaced = stored->replaced;
    answer->duplicates =
        items->count - stored->stored - stored->replaced - stored->refused_count;
    answer->refused += stored->refused_count;
    rq->ingested = (struct metrics_rows){stored->stored + stored->replaced,
                                         answer->duplicates, answer->refused};
    if (stored->refused_count > 0) {
        refuse_stored(items, stored, items->line ? &refused : rq->err);
        if (!items->line)
            return rq->err->code;
        merge_errors(refused.first, answer, rq->arena);
        if (answer->refused == answer->received)
            return refuse_all(answer, rq->err);
    }
    if (answer->stored > 0 && answer->stored == answer->received)
        rq->reply->status = 201;
    return OK;
}
