/* tpv.c - what Galaxy's Total Perspective Vortex asks. */
#include "models/tpv.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
#include "models/json_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_STEPS = 64 };

#define EARTH_RADIUS_KM 6371.0
#define DEGREE          0.017453292519943295

struct places {
    struct tpv_place *list;
    size_t count, room;
};

struct reader {
    struct json_walk walk;
    struct tpv_request *out;
    struct places destinations, stores, datasets; /* of a dataset: id of its store */
    struct arena *a;
};

static void add_place(struct reader *r, struct places *p, const struct tpv_place *place)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 16;

        p->list = p->room ? GROW(r->a, p->list, struct tpv_place, p->room, room)
                          : NEW(r->a, struct tpv_place, room);
        p->room = room;
    }
    p->list[p->count++] = *place;
}

/* Members of an object that say where it is, or what it is. */
static void read_place(struct reader *r, struct tpv_place *place)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcmp(member, "latitude") == 0)
            place->latitude = json_walk_number(&r->walk);
        else if (strcmp(member, "longitude") == 0)
            place->longitude = json_walk_number(&r->walk);
        else if (strcmp(member, "size") == 0)
            place->gigabytes = json_walk_number(&r->walk);
        else if (strcmp(member, "id") == 0 || strcmp(member, "object_store_id") == 0)
            place->id = json_walk_text(&r->walk, r->a);
        else if (strcmp(member, "context") == 0)
            read_place(r, place);
        else
            json_walk_skip(&r->walk);
}

/* {name: place, ...}; of datasets the name is not kept. */
static void read_named(struct reader *r, struct places *p, bool keep_name)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk))) {
        struct tpv_place place = {NULL, NAN, NAN, 0};

        if (budget_read_step(PLACE_STEPS))
            return;
        if (keep_name)
            place.id = arena_text(r->a, member, strlen(member));
        read_place(r, &place);
        if (place.id)
            add_place(r, p, &place);
    }
}

static void read_destinations(struct reader *r)
{
    if (!json_walk_enter_if(&r->walk, '['))
        return;
    while (json_walk_element(&r->walk)) {
        struct tpv_place place = {NULL, NAN, NAN, 0};

        if (budget_read_step(PLACE_STEPS))
            return;
        read_place(r, &place);
        if (place.id)
            add_place(r, &r->destinations, &place);
    }
}

static void read_job(struct reader *r)
{
    const char *member;

    if (!json_walk_enter_if(&r->walk, '{'))
        return;
    while ((member = json_walk_member(&r->walk)))
        if (strcmp(member, "tool_id") == 0)
            r->out->tool_id = json_walk_text(&r->walk, r->a);
        else
            json_walk_skip(&r->walk);
}

/* Bytes of the datasets to their stores. */
static void fill_stores(struct reader *r)
{
    struct name_index index;

    name_index_create(&index, r->stores.count, r->a);
    for (size_t i = 0; i < r->stores.count; i++)
        name_index_add(&index, r->stores.list[i].id, i);
    for (size_t i = 0; i < r->datasets.count; i++) {
        size_t store = name_index_find(&index, r->datasets.list[i].id);

        if (store != NAME_NOT_FOUND && r->datasets.list[i].gigabytes > 0)
            r->stores.list[store].gigabytes += r->datasets.list[i].gigabytes;
    }
}

static void drop_repeated(struct reader *r)
{
    struct places *p = &r->destinations;
    struct name_index index;
    size_t kept = 0;

    name_index_create(&index, p->count, r->a);
    for (size_t i = 0; i < p->count; i++)
        if (name_index_add(&index, p->list[i].id, i) == NAME_NOT_FOUND)
            p->list[kept++] = p->list[i];
    p->count = kept;
}

enum error_code tpv_read(const char *text, size_t length, struct tpv_request *out,
                         struct arena *a, struct error *err)
{
    struct reader r = {.out = out, .a = a};
    const char *member;

    *out = (struct tpv_request){0};
    json_walk_open(&r.walk, text, length, a);
    json_walk_enter(&r.walk, '{');
    while ((member = json_walk_member(&r.walk)))
        if (strcmp(member, "objectstores") == 0)
            read_named(&r, &r.stores, true);
        else if (strcmp(member, "datasets") == 0)
            read_named(&r, &r.datasets, false);
        else if (strcmp(member, "destinations") == 0)
            read_destinations(&r);
        else if (strcmp(member, "job_info") == 0)
            read_job(&r);
        else
            json_walk_skip(&r.walk);
    if (json_walk_end(&r.walk, "", &(struct error){.arena = a}) != OK)
        return fail(err, ERR_MALFORMED, "", "the body is no JSON object");
    fill_stores(&r);
    drop_repeated(&r);
    out->destinations = r.destinations.list;
    out->destination_count = r.destinations.count;
    out->stores = r.stores.list;
    out->store_count = r.stores.count;
    return OK;
}

/* ---- order ---- */

double tpv_distance_km(const struct tpv_place *from, const struct tpv_place *to)
{
    double across = sin((to->latitude - from->latitude) * DEGREE / 2);
    double along = sin((to->longitude - from->longitude) * DEGREE / 2);
    double h = across * across +
               cos(from->latitude * DEGREE) * cos(to->latitude * DEGREE) * along * along;

    return isnan(h) ? (double)NAN : 2 * EARTH_RADIUS_KM * asin(sqrt(fmin(1, h)));
}

struct ranked {
    int tier; /* 0: the time is known, 1: the distance, 2: neither */
    double value;
    size_t number;
};

static int best_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier < y->tier ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The store that holds most, the first of equal ones; NULL: none says where it is. */
static const struct tpv_place *largest_store(const struct tpv_request *request)
{
    const struct tpv_place *best = NULL;

    for (size_t i = 0; i < request->store_count; i++)
        if (!best || request->stores[i].gigabytes > best->gigabytes)
            best = &request->stores[i];
    return best && !isnan(best->latitude) && !isnan(best->longitude) ? best : NULL;
}

void tpv_sort(const struct tpv_request *request, const double *finish_s, size_t *order,
              struct arena *a)
{
    struct ranked *list = NEW(a, struct ranked, request->destination_count);
    const struct tpv_place *store = largest_store(request);

    for (size_t i = 0; i < request->destination_count; i++) {
        double away_km =
            store ? tpv_distance_km(store, &request->destinations[i]) : (double)NAN;

        list[i] = (struct ranked){2, 0, i};
        if (finish_s && isfinite(finish_s[i]))
            list[i] = (struct ranked){0, finish_s[i], i};
        else if (!isnan(away_km))
            list[i] = (struct ranked){1, away_km, i};
    }
    qsort(list, request->destination_count, sizeof(*list), best_first);
    for (size_t i = 0; i < request->destination_count; i++)
        order[i] = list[i].number;
}
