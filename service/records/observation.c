/* observation.c - a time in which every failure of a resource was stored.
 *
 * Times of one resource and component do not overlap: what is stored or changed is
 * compared with what is there, under the locks of its resources.
 */
#include "models/failure_history.h"
#include "service/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENT_COUNT_MAX = 1000000, OPTIONAL = JSON_NULLABLE | JSON_OPTIONAL };

/* clang-format off */
#define T struct observation
#define ROWS(ROW) \
    ROW(resource_id, DB_TEXT, RECORD_KEY | RECORD_FILTER, \
        JSON_ID(T, resource_id, JSON_REQUIRED, "The resource that was watched")) \
    ROW(from_at, DB_INSTANT, RECORD_KEY, \
        JSON_INSTANT(T, from_at, JSON_REQUIRED, \
                     "Since when every failure of it is stored, as far as there was any")) \
    ROW(to_at, DB_INSTANT, 0, \
        JSON_INSTANT(T, to_at, OPTIONAL, \
                     "Until when, after from_at: for good when it was decommissioned; " \
                     "left out: it still is")) \
    ROW(component, DB_TEXT, RECORD_KEY_OR_EMPTY | RECORD_EMPTY | RECORD_FILTER, \
        JSON_ID(T, component, OPTIONAL, \
                "Only this part of it; default: the whole resource")) \
    ROW(component_count, DB_WHOLE, 0, \
        JSON_NUMBER(T, component_count, 1, COMPONENT_COUNT_MAX, 1, JSON_WHOLE, \
                    "So many parts of it that are alike and have no names; not beside " \
                    "component; default 1")) \
    ROW(site_id, DB_TEXT, RECORD_FILTER, \
        JSON_ID(T, site_id, OPTIONAL, \
                "Its site: resources of one site tell of each other; default: not " \
                "known"))
/* clang-format on */
RECORD_TABLES(observation, ROWS);

static const struct json_object observation_json = {
    "Observation", "A time in which every failure of a resource was stored", sizeof(T),
    observation_fields};

static void check_observation(struct record_check *check, const void *item)
{
    const struct observation *o = item;

    record_check_instant(check, "from_at", o->from_at_s);
    record_check_instant(check, "to_at", o->to_at_s);
    if (o->to_at_s <= o->from_at_s)
        record_mistake(check, "to_at", ITEM_OUT_OF_BOUNDS, "to_at is not after from_at");
    if (o->component && o->component_count > 1)
        record_mistake(check, "component_count", ITEM_CONFLICT,
                       "a component that has a name is one");
}

/* Those that begin before another one of their resource and component has ended. */
static const struct db_statement find_overlaps = {
    "find_overlaps",
    "SELECT y.resource_id, y.component, x.from_at, y.from_at AS second_at"
    " FROM resource_observation AS x"
    " JOIN resource_observation AS y ON y.tenant = x.tenant"
    " AND y.resource_id = x.resource_id AND y.component = x.component"
    " AND y.from_at > x.from_at AND y.from_at < coalesce(x.to_at, 'infinity')"
    " WHERE x.tenant = $1 AND x.resource_id IN (SELECT unnest($2))"
    " ORDER BY y.resource_id, y.component, x.from_at, y.from_at LIMIT 100000",
    DB_REPEATABLE};

struct overlap {
    const char *resource_id, *component;
    double first_s, second_s; /* instants at which they begin */
};
static const struct db_column overlap_columns[] = {
    {"resource_id", DB_TEXT, offsetof(struct overlap, resource_id)},
    {"component", DB_TEXT, offsetof(struct overlap, component)},
    {"from_at", DB_INSTANT, offsetof(struct overlap, first_s)},
    {"second_at", DB_INSTANT, offsetof(struct overlap, second_s)},
    {0}};

/* An observation of the list by its key. */
struct keyed {
    const char *resource_id, *component;
    double from_us; /* as it is stored */
    size_t place;
};

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static int compare_keys(const void *left, const void *right)
{
    const struct keyed *x = left, *y = right;
    int order = strcmp(x->resource_id, y->resource_id);

    if (order == 0)
        order = strcmp(x->component, y->component);
    return order ? order : (x->from_us > y->from_us) - (x->from_us < y->from_us);
}

static struct keyed key_of(const char *resource_id, const char *component, double from_s,
                           size_t place)
{
    return (struct keyed){resource_id, text_or_empty(component), round(from_s * 1e6),
                          place};
}

/* Which of the pair is in the list: of both the later one there. other_s: when that
 * begins which it overlaps. NULL: none. */
static const struct keyed *find_newer(const struct keyed *keys, size_t count,
                                      const struct overlap *o, double *other_s)
{
    const struct keyed first = key_of(o->resource_id, o->component, o->first_s, 0);
    const struct keyed second = key_of(o->resource_id, o->component, o->second_s, 0);
    const struct keyed *x = bsearch(&first, keys, count, sizeof(first), compare_keys);
    const struct keyed *y = bsearch(&second, keys, count, sizeof(second), compare_keys);

    *other_s = o->second_s;
    if (!y || (x && x->place > y->place))
        return x;
    *other_s = o->first_s;
    return y;
}

/* Notes each once, with the first that it overlaps. */
static enum error_code note_overlaps(const struct overlap *overlaps, size_t overlap_count,
                                     const T *list, size_t count,
                                     struct record_clashes *out, struct arena *a,
                                     struct error *err)
{
    struct keyed *keys = arena_try(a, sizeof(*keys), count);
    const char **of = arena_try(a, sizeof(*of), count), **why;
    uint64_t *places = arena_try(a, sizeof(*places), count);

    why = arena_try(a, sizeof(*why), count);
    if (!keys || !of || !places || !why)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        keys[i] = key_of(list[i].resource_id, list[i].component, list[i].from_at_s, i);
        of[i] = NULL;
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t k = 0; k < overlap_count; k++) {
        double other_s;
        const struct keyed *newer = find_newer(keys, count, &overlaps[k], &other_s);
        const char *text;
        char from[48];

        if (!newer || of[newer->place])
            continue;
        instant_print(other_s, from, sizeof(from));
        text = arena_try_printf(
            a,
            "it would overlap the observation of '%.100s' from %s on, of the same "
            "component: close that one first, or delete it",
            newer->resource_id, from);
        of[newer->place] = text ? text : "it would overlap another observation";
    }
    for (size_t i = 0; i < count; i++) {
        if (!of[i])
            continue;
        places[out->count] = i;
        why[out->count++] = of[i];
    }
    out->places = places;
    out->why = why;
    return OK;
}

static enum error_code verify_apart(struct db_session *s, const char *tenant,
                                    const void *list, size_t count,
                                    struct record_clashes *out, struct arena *a,
                                    struct error *err)
{
    static const struct db_column ids[] = {DB_COLUMN(T, resource_id, DB_TEXT), {0}};
    size_t overlap_count;
    void *rows;

    TRY(db_list_rows(s, &find_overlaps, tenant, ids, sizeof(T), list, count,
                     overlap_columns, sizeof(struct overlap), &rows, &overlap_count, a,
                     err));
    if (overlap_count == 0)
        return OK;
    return note_overlaps(rows, overlap_count, list, count, out, a, err);
}

const struct record observation_record = {
    .table = "resource_observation",
    .json = &observation_json,
    .columns = observation_columns,
    .at = "from_at",
    .until = "to_at",
    .check = check_observation,
    .verify = verify_apart,
    .verified = "to_at",
    .lock_base = 7453010373643072064,
};
