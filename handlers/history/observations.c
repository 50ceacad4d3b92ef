/* observations.c - POST /v1/observations: since when resources have been watched. */
#include "handlers/history/routes.h"

#include "handlers/history/records.h"
#include "models/failure_history.h"
#include "service/records/records.h"

#include <stdlib.h>
#include <string.h>

static const char *component_of(const struct observation *o)
{
    return o->component ? o->component : "";
}

static int compare(const void *a, const void *b)
{
    const struct observation *x = *(const struct observation *const *)a;
    const struct observation *y = *(const struct observation *const *)b;
    int order = strcmp(x->resource_id, y->resource_id);

    if (order == 0)
        order = strcmp(component_of(x), component_of(y));
    if (order == 0)
        order = (x->from_at_s > y->from_at_s) - (x->from_at_s < y->from_at_s);
    return order ? order : (x > y) - (x < y);
}

/* Marks each record that begins before another one of the same resource and component
 * has ended. Those of one key are the same one. */
static void mark_overlaps(const struct observation *list, size_t count, bool *overlaps,
                          struct arena *a)
{
    const struct observation **sorted = NEW(a, const struct observation *, count);
    const struct observation *longest = NULL;

    for (size_t i = 0; i < count; i++)
        sorted[i] = &list[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), compare);
    for (size_t i = 0; i < count; i++) {
        const struct observation *o = sorted[i];

        if (!longest || strcmp(longest->resource_id, o->resource_id) != 0 ||
            strcmp(component_of(longest), component_of(o)) != 0 ||
            longest->to_at_s <= o->from_at_s)
            longest = o;
        else
            overlaps[o - list] = longest->from_at_s != o->from_at_s;
    }
}

/* All of them are told, with their places. */
static enum error_code refuse_overlaps(struct request *rq, struct bulk_items *items,
                                       struct bulk_answer *answer)
{
    bool *overlaps = NEW(rq->arena, bool, items->count + 1);
    struct error refused = {.arena = rq->arena};
    struct record_check check = {.in_list = !items->is_single,
                                 .err = items->line ? &refused : rq->err};

    mark_overlaps(items->list, items->count, overlaps, rq->arena);
    for (size_t i = 0; i < items->count; i++) {
        if (!overlaps[i])
            continue;
        check.index = i;
        check.line = items->line ? items->line[i] : 0;
        record_mistake(&check, "from_at", ITEM_CONFLICT,
                       "overlaps another observation of the same resource in this body");
    }
    return bulk_refuse(rq, items, sizeof(struct observation), overlaps, check.err,
                       answer);
}

enum error_code post_observations(struct request *rq, const void *in, void *out)
{
    struct bulk_items items;

    TRY(bulk_accept(rq, in, sizeof(struct observation), observation_record.check, &items,
                    out));
    TRY(refuse_overlaps(rq, &items, out));
    return records_store(rq, &observation_record, items.list, &items, out);
}
