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

/* Notes each record that overlaps the one before it of the same resource and component,
 * so that all are told at once with their places. Those of one key are the same one. */
static enum error_code check_overlaps(struct request *rq, const struct observation *list,
                                      size_t count)
{
    const struct observation **sorted = NEW(rq->arena, const struct observation *, count);
    struct record_check check = {.in_list = true, .err = rq->err};

    for (size_t i = 0; i < count; i++)
        sorted[i] = &list[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), compare);
    for (size_t i = 1; i < count; i++) {
        const struct observation *before = sorted[i - 1], *o = sorted[i];

        if (strcmp(before->resource_id, o->resource_id) != 0 ||
            strcmp(component_of(before), component_of(o)) != 0 ||
            before->to_at_s <= o->from_at_s || before->from_at_s == o->from_at_s)
            continue;
        check.index = (size_t)(o - list);
        record_mistake(&check, "from_at", ITEM_CONFLICT,
                       "overlaps another observation of the same resource in this body");
    }
    return rq->err->code;
}

enum error_code post_observations(struct request *rq, const void *in, void *out)
{
    struct bulk_items items;

    TRY(bulk_accept(rq, in, sizeof(struct observation), observation_record.check, &items,
                    out));
    TRY(check_overlaps(rq, items.list, items.count));
    return records_store(rq, &observation_record, items.list, &items, out);
}
