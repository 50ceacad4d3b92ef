/* store_rollup.c - rows of roll-ups as they are stored. */
#include "service/store_rollup.h"

#include "service/store_token.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Bytes of a sketch are read and written where the model has them. */
_Static_assert(offsetof(struct db_bytes, length) - offsetof(struct db_bytes, data) ==
                   offsetof(struct rollup_measure, sketch_bytes) -
                       offsetof(struct rollup_measure, sketch),
               "the model's bytes look as those of the database do");

#define MEASURE_NAMES(m) \
#m "_count," #m "_mean," #m "_m2," #m "_min," #m "_max," #m "_sketch"

#define ALL_NAMES                                                                                  \
    "resource_id,to_resource_id,level_s,at," MEASURE_NAMES(cpu_available_ratio) "," MEASURE_NAMES( \
        memory_available_bytes) "," MEASURE_NAMES(bandwidth_mbps) "," MEASURE_NAMES(latency_s)

const char store_rollup_names[] = ALL_NAMES;

#define AT_MEASURE(i) \
    (offsetof(struct load_rollup, measure) + (i) * sizeof(struct rollup_measure))
#define MEASURE_COLUMNS(m, base)                                                         \
    {#m "_count", DB_WHOLE, (base) + offsetof(struct rollup_measure, moments.count)},    \
        {#m "_mean", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.mean)}, \
        {#m "_m2", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.m2)},     \
        {#m "_min", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.min)},   \
        {#m "_max", DB_NUMBER, (base) + offsetof(struct rollup_measure, moments.max)},   \
    {                                                                                    \
#m "_sketch", DB_BYTES, (base) + offsetof(struct rollup_measure, sketch)         \
    }

const struct db_column store_rollup_columns[] = {
    DB_COLUMN(struct load_rollup, resource_id, DB_TEXT),
    DB_COLUMN(struct load_rollup, to_resource_id, DB_TEXT),
    DB_COLUMN(struct load_rollup, level_s, DB_WHOLE),
    DB_COLUMN(struct load_rollup, at_s, DB_INSTANT),
    MEASURE_COLUMNS(cpu_available_ratio, AT_MEASURE(LOAD_CPU_AVAILABLE_RATIO)),
    MEASURE_COLUMNS(memory_available_bytes, AT_MEASURE(LOAD_MEMORY_AVAILABLE_BYTES)),
    MEASURE_COLUMNS(bandwidth_mbps, AT_MEASURE(LOAD_BANDWIDTH_MBPS)),
    MEASURE_COLUMNS(latency_s, AT_MEASURE(LOAD_LATENCY_S)),
    {0},
};

static const struct db_statement copy_rollups = {
    "copy_load_rollup",
    "COPY load_rollup (tenant," ALL_NAMES ") FROM STDIN (FORMAT binary)", 0};

enum error_code store_rollup_copy(struct db_session *s, const char *tenant,
                                  const struct load_rollup *rows, size_t count,
                                  struct error *err)
{
    return db_copy(s, &copy_rollups, tenant, store_rollup_columns, sizeof(*rows), rows,
                   count, err);
}

/* ---- what there is ---- */

static const struct db_statement select_kept = {
    "rollup_kept",
    "SELECT max(kept_from) FILTER (WHERE level_s = 0),"
    " max(kept_from) FILTER (WHERE level_s = 60),"
    " max(kept_from) FILTER (WHERE level_s = 3600),"
    " max(kept_from) FILTER (WHERE level_s = 86400), max(known_until)"
    " FROM rollup_progress",
    DB_REPEATABLE};

static const struct db_column kept_columns[] = {
    DB_COLUMN(struct store_rollup_kept, samples_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, minutes_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, hours_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, days_from_s, DB_INSTANT),
    DB_COLUMN(struct store_rollup_kept, known_until_s, DB_INSTANT),
    {0},
};

enum error_code store_rollup_kept(struct db_session *s, struct store_rollup_kept *out,
                                  struct arena *a, struct error *err)
{
    bool found;

    *out =
        (struct store_rollup_kept){-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    return db_row(s, &select_kept, NULL, kept_columns, sizeof(*out), out, &found, a, err);
}

struct sum {
    uint64_t count;
};
static const struct db_column sum_columns[] = {
    DB_COLUMN(struct sum, count, DB_INTEGER),
    {0},
};

#define ESTIMATE(m)                                                          \
    {                                                                        \
        "rollup_estimate_" #m,                                               \
            "SELECT coalesce(sum(" #m "_count), 0)::bigint FROM load_rollup" \
            " WHERE tenant = $1 AND resource_id = $2 AND level_s = 3600"     \
            " AND at >= $3 AND at < $4"                                      \
            " AND ($5::text IS NULL OR to_resource_id = $5)",                \
            DB_REPEATABLE                                                    \
    }

static const struct db_statement estimates[] = {
    [LOAD_CPU_AVAILABLE_RATIO] = ESTIMATE(cpu_available_ratio),
    [LOAD_MEMORY_AVAILABLE_BYTES] = ESTIMATE(memory_available_bytes),
    [LOAD_BANDWIDTH_MBPS] = ESTIMATE(bandwidth_mbps),
    [LOAD_LATENCY_S] = ESTIMATE(latency_s),
};

enum error_code store_rollup_estimate(struct db_session *s, const char *tenant,
                                      const struct store_filter *filter,
                                      enum load_measure measure, uint64_t *count,
                                      struct arena *a, struct error *err)
{
    struct sum sum = {0};
    bool found;

    TRY(db_row(s, &estimates[measure],
               DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                         db_instant(filter->from_at_s), db_instant(filter->to_at_s),
                         db_text(filter->to_resource_id)),
               sum_columns, sizeof(sum), &sum, &found, a, err));
    *count = sum.count;
    return OK;
}

/* ---- one measure ---- */

/* A part of a range that is taken of one level; 0: of the samples. */
struct part {
    double from_s, to_s;
    const char *resource_id, *to_resource_id;
    uint64_t level_s;
};

static const struct db_column part_columns[] = {
    DB_COLUMN(struct part, from_s, DB_INSTANT),
    DB_COLUMN(struct part, to_s, DB_INSTANT),
    DB_COLUMN(struct part, resource_id, DB_TEXT),
    DB_COLUMN(struct part, to_resource_id, DB_TEXT),
    DB_COLUMN(struct part, level_s, DB_INTEGER),
    {0},
};

/* $1 tenant, $2 ... the parts. */
#define PART_ROWS \
    " FROM unnest($2, $3, $4, $5, $6) AS p (from_at, to_at, id, to_id, level_s)"

#define POINTS(m)                                                                    \
    {                                                                                \
        "rollup_points_" #m,                                                         \
            "SELECT r.at," MEASURE_NAMES(m) PART_ROWS                                \
            " CROSS JOIN LATERAL (SELECT * FROM load_rollup WHERE tenant = $1"       \
            " AND resource_id = p.id AND level_s = p.level_s AND at >= p.from_at"    \
            " AND at < p.to_at AND (p.to_id IS NULL OR to_resource_id = p.to_id)"    \
            " AND " #m "_count > 0) AS r WHERE p.level_s > 0"                        \
            " UNION ALL SELECT s.observed_at, 1, s." #m ", 0, s." #m ", s." #m       \
            ", NULL" PART_ROWS " CROSS JOIN LATERAL (SELECT * FROM load_sample"      \
            " WHERE tenant = $1 AND resource_id = p.id AND observed_at >= p.from_at" \
            " AND observed_at < p.to_at AND (p.to_id IS NULL OR to_resource_id = "   \
            "p.to_id)"                                                               \
            " AND " #m " IS NOT NULL) AS s WHERE p.level_s = 0",                     \
            DB_REPEATABLE                                                            \
    }

static const struct db_statement points[] = {
    [LOAD_CPU_AVAILABLE_RATIO] = POINTS(cpu_available_ratio),
    [LOAD_MEMORY_AVAILABLE_BYTES] = POINTS(memory_available_bytes),
    [LOAD_BANDWIDTH_MBPS] = POINTS(bandwidth_mbps),
    [LOAD_LATENCY_S] = POINTS(latency_s),
};

static const struct db_column point_columns[] = {
    DB_COLUMN(struct store_rollup_point, at_s, DB_INSTANT),
    MEASURE_COLUMNS(of, offsetof(struct store_rollup_point, of)),
    {0},
};

struct due {
    double at_s;
};
static const struct db_column due_columns[] = {
    DB_COLUMN(struct due, at_s, DB_INSTANT),
    {0},
};

static const struct db_statement select_due = {
    "rollup_due_of",
    "SELECT at FROM rollup_due WHERE tenant = $1 AND shard = hashtext($2) & 63"
    " AND at > $3::timestamptz - interval '1 day' AND at < $4::timestamptz"
    " + interval '1 day' ORDER BY at",
    DB_REPEATABLE};

/* How a range is divided, from `at_s` on. */
struct cover {
    double at_s, to_s, level_s;
    const struct store_rollup_kept *kept;
    const struct due *due; /* by time */
    size_t due_count;
};

static double kept_from(const struct cover *c, double level_s)
{
    return level_s > ROLLUP_HOUR_S   ? c->kept->days_from_s
           : level_s < ROLLUP_HOUR_S ? c->kept->minutes_from_s
                                     : c->kept->hours_from_s;
}

/* Up to where rows of a level may be taken from at_s on, if a longer level may begin at
 * `longer_s`; at_s: none. Minutes and days are made with their hours. */
static double level_end_s(const struct cover *c, double level_s, double longer_s)
{
    double end_s = fmin(c->to_s, c->kept->known_until_s);

    if (c->due_count > 0)
        end_s = fmin(end_s, c->due[0].at_s);
    if (longer_s > c->at_s)
        end_s = fmin(end_s, longer_s);
    if (level_s > c->level_s || c->at_s < kept_from(c, level_s) ||
        fmod(c->at_s, level_s) > 0)
        return c->at_s;
    return fmax(c->at_s, floor(end_s / level_s) * level_s);
}

static double next_multiple_s(double at_s, double step_s)
{
    return floor(at_s / step_s) * step_s + step_s;
}

/* Up to where samples are taken: where there may be rows again. */
static double samples_end_s(const struct cover *c)
{
    double kept_s =
        fmin(kept_from(c, ROLLUP_MINUTE_S),
             c->level_s < ROLLUP_HOUR_S ? HUGE_VAL : kept_from(c, ROLLUP_HOUR_S));

    if (c->at_s >= c->kept->known_until_s)
        return c->to_s;
    if (c->due_count > 0 && c->due[0].at_s <= c->at_s)
        return fmin(c->to_s, c->due[0].at_s + ROLLUP_HOUR_S);
    if (c->level_s >= ROLLUP_DAY_S)
        kept_s = fmin(kept_s, kept_from(c, ROLLUP_DAY_S));
    return fmin(c->to_s, fmax(next_multiple_s(c->at_s, ROLLUP_MINUTE_S), kept_s));
}

/* The next part: of rows as long as there are. */
static struct part next_part(struct cover *c)
{
    static const double levels_s[] = {ROLLUP_DAY_S, ROLLUP_HOUR_S, ROLLUP_MINUTE_S};
    struct part p = {.from_s = c->at_s};
    double longer_s = -HUGE_VAL;

    while (c->due_count > 0 && c->due[0].at_s + ROLLUP_HOUR_S <= c->at_s) {
        c->due++;
        c->due_count--;
    }
    for (size_t i = 0; i < sizeof(levels_s) / sizeof(*levels_s); i++) {
        p.to_s = level_end_s(c, levels_s[i], longer_s);
        p.level_s = (uint64_t)levels_s[i];
        if (p.to_s > c->at_s)
            return p;
        if (levels_s[i] <= c->level_s)
            longer_s = next_multiple_s(c->at_s, levels_s[i]);
    }
    p.to_s = samples_end_s(c);
    p.level_s = 0;
    return p;
}

/* Adds a part to those that go on from there, or as a new one. */
static bool add_part(const struct part *p, struct part **list, size_t *count,
                     size_t *room, struct arena *a)
{
    if (*count > 0 && (*list)[*count - 1].level_s == p->level_s &&
        !((*list)[*count - 1].to_s < p->from_s)) {
        (*list)[*count - 1].to_s = p->to_s;
        return true;
    }
    if (*count == *room) {
        *list = TRY_GROW(a, *list, struct part, *room, *room ? 2 * *room : 64);
        *room = *room ? 2 * *room : 64;
        if (!*list)
            return false;
    }
    (*list)[(*count)++] = *p;
    return true;
}

enum error_code store_rollup_points(struct db_session *s, const char *tenant,
                                    const struct store_filter *filter,
                                    enum load_measure measure, double level_s,
                                    const struct store_rollup_kept *kept,
                                    const struct store_rollup_point **list, size_t *count,
                                    struct arena *a, struct error *err)
{
    struct cover cover = {filter->from_at_s, filter->to_at_s, level_s, kept, NULL, 0};
    struct part *parts = NULL;
    size_t part_count = 0, room = 0;
    void *rows;

    TRY(db_rows(s, &select_due,
                DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                          db_instant(filter->from_at_s), db_instant(filter->to_at_s)),
                due_columns, sizeof(struct due), &rows, &cover.due_count, a, err));
    cover.due = rows;
    while (cover.at_s < cover.to_s) {
        struct part p = next_part(&cover);

        p.resource_id = filter->resource_id;
        p.to_resource_id = filter->to_resource_id;
        cover.at_s = p.to_s;
        if (!add_part(&p, &parts, &part_count, &room, a))
            return fail_memory(err);
    }
    TRY(db_list_rows(s, &points[measure], tenant, part_columns, sizeof(*parts), parts,
                     part_count, point_columns, sizeof(struct store_rollup_point), &rows,
                     count, a, err));
    *list = rows;
    return OK;
}

/* ---- pages ---- */

/* $1 tenant, $2 resource, $3 link or NULL, $4 level, $5 from, $6 to; after ($7, $8). */
static const struct db_statement select_page = {
    "rollup_page",
    "SELECT " ALL_NAMES " FROM load_rollup WHERE tenant = $1 AND resource_id = $2"
    " AND ($3::text IS NULL OR to_resource_id = $3) AND level_s = $4 AND at >= $5"
    " AND at < $6 AND (at, to_resource_id) > ($7, $8) ORDER BY at, to_resource_id LIMIT "
    "$9",
    DB_REPEATABLE};

enum error_code store_rollups_list(struct db_session *s, const char *tenant,
                                   const struct store_filter *filter, double level_s,
                                   const struct store_page *page,
                                   const struct load_rollup **list, size_t *count,
                                   const char **next_token, struct arena *a,
                                   struct error *err)
{
    double from_s = isnan(filter->from_at_s) ? -HUGE_VAL : filter->from_at_s;
    double to_s = isnan(filter->to_at_s) ? HUGE_VAL : filter->to_at_s;
    double after_s = -HUGE_VAL;
    const char *after = "";
    struct load_rollup *rows;
    size_t row_count;

    if (page->token) {
        TRY(token_read(page->token, &after_s, &after, a, err));
        after += *after == '='; /* a token is of a name, and that of none is empty */
    }
    TRY(db_rows(s, &select_page,
                DB_PARAMS(db_text(tenant), db_text(filter->resource_id),
                          db_text(filter->to_resource_id), db_integer((uint64_t)level_s),
                          db_instant(fmax(from_s, after_s)), db_instant(to_s),
                          db_instant(after_s), db_text(after),
                          db_integer(page->limit + 1)),
                store_rollup_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    *count = page_count(page, row_count);
    *list = rows;
    *next_token = NULL;
    if (row_count > page->limit) {
        const struct load_rollup *last = &rows[*count - 1];

        TRY(token_make(last->at_s, arena_try_printf(a, "=%s", last->to_resource_id),
                       next_token, a, err));
    }
    return OK;
}
