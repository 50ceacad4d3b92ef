/* observation.c - a time in which every failure of a resource was stored.
 *
 * Times of one resource and component do not overlap: what is stored or changed is
 * compared with what is there, under the locks of its resources.
 */
#include "models/failure_history.h"
#include "service/records/records.h"

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

/* One that begins before another one of its resource and component has ended. */
static const struct db_statement find_overlap = {
    "find_overlap",
    "SELECT y.resource_id, y.from_at FROM resource_observation AS x"
    " JOIN resource_observation AS y ON y.tenant = x.tenant"
    " AND y.resource_id = x.resource_id AND y.component = x.component"
    " AND y.from_at > x.from_at AND y.from_at < coalesce(x.to_at, 'infinity')"
    " WHERE x.tenant = $1 AND x.resource_id IN (SELECT unnest($2)) LIMIT 1",
    DB_REPEATABLE};

static enum error_code verify_apart(struct db_session *s, const char *tenant,
                                    const void *list, size_t count, struct arena *a,
                                    struct error *err)
{
    static const struct db_column ids[] = {DB_COLUMN(T, resource_id, DB_TEXT), {0}};
    static const struct db_column found[] = {
        DB_COLUMN(T, resource_id, DB_TEXT), DB_COLUMN(T, from_at_s, DB_INSTANT), {0}};
    char from[48];
    size_t overlap_count;
    void *rows;
    T *overlap;

    TRY(db_list_rows(s, &find_overlap, tenant, ids, sizeof(T), list, count, found,
                     sizeof(T), &rows, &overlap_count, a, err));
    if (overlap_count == 0)
        return OK;
    overlap = rows;
    instant_print(overlap->from_at_s, from, sizeof(from));
    return invalid(err, "", ITEM_CONFLICT,
                   "the observation of '%.100s' from %s on would overlap another one of "
                   "the resource and component: close that one first, or delete it",
                   overlap->resource_id, from);
}

const struct record observation_record = {
    .table = "resource_observation",
    .json = &observation_json,
    .columns = observation_columns,
    .at = "from_at",
    .until = "to_at",
    .check = check_observation,
    .verify = verify_apart,
    .lock_base = 7453010373643072064,
};
