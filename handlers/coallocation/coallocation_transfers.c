/* coallocation_transfers.c - POST /v1/coallocations/transfer-estimates and
 * /v1/coallocations/replica-lookups: how long files take, and where they are. */
#include "handlers/coallocation/coallocations.h"

#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/sites/coallocation_stored.h"
#include "models/base/pointer.h"
#include "service/service.h"
#include "service/store_coallocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- transfer estimates ---- */

struct estimates_request {
    struct decision_request decision;
    double now_s;
    const struct co_snapshot *snapshot;
    const char *snapshot_id;
    const struct co_from_history *from_history;
    const char *file_id;
    double bytes; /* NAN: the file's */
    const char *const *execution_site_ids;
    size_t execution_site_count;
};

struct estimate {
    const char *execution_site_id, *file_site_id;
    double transfer_time_s; /* NAN: no link */
    bool best;
    size_t execution, file; /* not printed */
};

struct estimates_answer {
    struct decision_answer decision;
    const struct estimate *estimates;
    size_t estimate_count;
    const struct co_history_basis *history_basis;
};

#define T struct estimates_request
static const struct json_field estimates_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, for warnings; default: the snapshot's taken_at, else 0"),
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json, JSON_POINTER,
                "Clusters, links and replicas"),
    CO_SNAPSHOT_ID_ROW(T),
    CO_FROM_HISTORY_ROW(T),
    JSON_ID(T, file_id, JSON_REQUIRED, "The file"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Bytes of it; default: all"),
    JSON_TEXTS(T, execution_site_ids, execution_site_count, CO_SITES_MAX, JSON_NULLABLE,
               "Where it is wanted; default: every site"),
    {0},
};
#undef T
const struct json_object transfer_estimates_request_json = {
    "TransferEstimatesRequest", "A file and where it is wanted",
    sizeof(struct estimates_request), estimates_rows};

#define T struct estimate
static const struct json_field estimate_rows[] = {
    JSON_TEXT(T, execution_site_id, 0, "Where it is wanted"),
    JSON_TEXT(T, file_site_id, 0, "Where it comes from"),
    JSON_NUMBER(T, transfer_time_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Time to move it; null: no link"),
    JSON_BOOLEAN(T, best, 0, 0, "The replica that placements take for this site"),
    {0},
};
#undef T
static const struct json_object estimate_json = {"TransferEstimate",
                                                 "A way for a file to a site",
                                                 sizeof(struct estimate), estimate_rows};

#define T struct estimates_answer
static const struct json_field estimates_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("transfer_estimates")),
    JSON_LIST(T, estimates, estimate_count, struct estimate, &estimate_json, 0, 0,
              "Every pair of sites, by time, then by name"),
    CO_HISTORY_BASIS_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object transfer_estimates_answer_json = {
    "TransferEstimatesAnswer", "How long a file takes", sizeof(struct estimates_answer),
    estimates_answer_rows};

static int by_time(const void *left, const void *right)
{
    const struct estimate *a = left, *b = right;
    double a_s = isnan(a->transfer_time_s) ? HUGE_VAL : a->transfer_time_s;
    double b_s = isnan(b->transfer_time_s) ? HUGE_VAL : b->transfer_time_s;

    if (a_s != b_s)
        return a_s < b_s ? -1 : 1;
    if (a->execution != b->execution)
        return a->execution < b->execution ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* Sites where the file is wanted, each once; mistakes are noted. */
static enum error_code wanted_sites(const struct estimates_request *body,
                                    const struct co_grid *grid, bool *wanted,
                                    struct error *err)
{
    for (size_t s = 0; s < grid->site_count; s++)
        wanted[s] = !body->execution_site_ids;
    for (size_t i = 0; body->execution_site_ids && i < body->execution_site_count; i++) {
        size_t site = co_site_find(grid, body->execution_site_ids[i]);

        if (site == CO_NONE)
            invalid(err, pointer_in("/execution_site_ids", i, NULL).text, ITEM_UNKNOWN_ID,
                    "the snapshot has no such site");
        else
            wanted[site] = true;
    }
    return err->code;
}

static void list_estimates(const struct co_grid *grid, const bool *wanted, size_t file,
                           double bytes, struct estimates_answer *answer, struct arena *a)
{
    const struct co_grid_file *f = &grid->files[file];
    struct estimate *list = NEW(a, struct estimate, grid->site_count * f->site_count);
    size_t count = 0, best;

    for (size_t e = 0; e < grid->site_count; e++) {
        if (!wanted[e])
            continue;
        co_replica_s(grid, e, file, bytes, &best);
        for (size_t i = 0; i < f->site_count; i++) {
            double time_s = co_transfer_s(grid, e, f->sites[i], bytes);

            list[count++] = (struct estimate){grid->sites[e].id,
                                              grid->sites[f->sites[i]].id,
                                              isinf(time_s) ? (double)NAN : time_s,
                                              f->sites[i] == best,
                                              e,
                                              f->sites[i]};
        }
    }
    qsort(list, count, sizeof(*list), by_time);
    answer->estimates = list;
    answer->estimate_count = count;
}

enum error_code post_transfer_estimates(struct request *rq, const void *in, void *out)
{
    const struct estimates_request *body = in;
    struct estimates_answer *answer = out;
    bool *wanted, reached = false;
    struct decision_request plain;
    const struct co_snapshot *snapshot;
    const char *warning;
    struct co_world world;
    double bytes;
    size_t file;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    plain = co_plain_decision(&body->decision, rq->err);
    TRY(co_snapshot_find(rq, body->snapshot, body->snapshot_id, true, &snapshot));
    TRY(co_world_read(snapshot, &plain, body->now_s, &world, rq->arena, rq->err));
    wanted = NEW(rq->arena, bool, world.grid.site_count);
    file = co_file_find(&world.grid, body->file_id);
    if (file == CO_NONE) /* no replica is known: an answer */
        file = world.grid.file_count;
    TRY(wanted_sites(body, &world.grid, wanted, rq->err));
    TRY(co_refine(rq, body->from_history, &world.grid, &answer->history_basis, &warning));
    bytes = isnan(body->bytes) ? world.grid.files[file].bytes : body->bytes;
    list_estimates(&world.grid, wanted, file, bytes, answer, rq->arena);
    for (size_t i = 0; i < answer->estimate_count; i++)
        reached = reached || !isnan(answer->estimates[i].transfer_time_s);
    co_world_warnings(&world, &answer->decision.warnings, &answer->decision.warning_count,
                      rq->arena);
    co_add_warning(warning, &answer->decision.warnings, &answer->decision.warning_count,
                   rq->arena);
    co_warn_unused_envelope(rq, &answer->decision, &body->decision, false);
    decision_end(rq, "transfer_estimates",
                 reached ? DECISION_OPTIMAL : DECISION_INFEASIBLE, &answer->decision);
    return OK;
}

/* ---- where replicas are ---- */

struct lookups_request {
    const struct co_snapshot *snapshot;
    const char *const *file_ids;
    size_t file_count;
};

/* Who knows it. */
enum location_source { SOURCE_SNAPSHOT, SOURCE_CATALOGUE };
static const char *const sources[] = {"snapshot", "catalogue", NULL};

struct location {
    const char *site_id, *url;
    double bytes;
};

struct located {
    const char *file_id;
    const struct location *locations;
    size_t location_count;
    enum location_source source;
};

struct lookups_answer {
    const struct located *replicas;
    size_t replica_count;
    const char *const *unresolved;
    size_t unresolved_count;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct lookups_request
static const struct json_field lookups_rows[] = {
    JSON_OBJECT(T, snapshot, const struct co_snapshot *, &co_snapshot_json, JSON_POINTER,
                "What is known of replicas; files that it does not have, or all without "
                "it, are looked up in the catalogue (/v1/replicas)"),
    JSON_TEXTS(T, file_ids, file_count, 100000, JSON_REQUIRED, "Files to look up"),
    {0},
};
#undef T
const struct json_object replica_lookups_request_json = {
    "ReplicaLookupsRequest", "Files to look up", sizeof(struct lookups_request),
    lookups_rows};

#define T struct location
static const struct json_field location_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_TEXT(T, url, JSON_OPTIONAL, "Where it is on the site"),
    JSON_NUMBER(T, bytes, 0, 0, 0, JSON_MAY_BE_NULL, "Size; null: not known"),
    {0},
};
#undef T
static const struct json_object location_json = {"ReplicaLocation", "A copy of a file",
                                                 sizeof(struct location), location_rows};

#define T struct located
static const struct json_field located_rows[] = {
    JSON_TEXT(T, file_id, 0, "The file"),
    JSON_LIST(T, locations, location_count, struct location, &location_json, 0, 0,
              "Its copies, by site"),
    JSON_CHOICE(T, source, sources, 0, 0, "Who knows them"),
    {0},
};
#undef T
_Static_assert(sizeof(enum location_source) == sizeof(int), "a choice is an int");
static const struct json_object located_json = {"LocatedFile", "A file and its copies",
                                                sizeof(struct located), located_rows};

#define T struct lookups_answer
static const struct json_field lookups_answer_rows[] = {
    JSON_LIST(T, replicas, replica_count, struct located, &located_json, 0, 0,
              "Files with copies, in the order of the request"),
    JSON_TEXTS(T, unresolved, unresolved_count, 0, 0, "Files without any"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0,
               "catalogue_unavailable: the catalogue could not be read, so files that "
               "only it has are unresolved"),
    {0},
};
#undef T
const struct json_object replica_lookups_answer_json = {
    "ReplicaLookupsAnswer", "Where files are", sizeof(struct lookups_answer),
    lookups_answer_rows};

/* URLs by place: [file * sites + site] would be large, so a list for each file. */
static void note_urls(const struct co_grid *grid, const struct co_snapshot *snapshot,
                      const char ***url_of, struct arena *a)
{
    for (size_t i = 0; i < snapshot->replica_count; i++) {
        const struct co_replica *r = &snapshot->replicas[i];
        size_t file = co_file_find(grid, r->file_id),
               site = co_site_find(grid, r->site_id);
        const struct co_grid_file *f = &grid->files[file];

        if (!r->url)
            continue;
        if (!url_of[file])
            url_of[file] = NEW(a, const char *, f->site_count);
        for (size_t k = 0; k < f->site_count; k++)
            if (f->sites[k] == site && !url_of[file][k])
                url_of[file][k] = r->url;
    }
}

static void locate(const struct co_grid *grid, size_t file, const char **urls,
                   struct located *out, struct arena *a)
{
    const struct co_grid_file *f = &grid->files[file];
    struct location *list = NEW(a, struct location, f->site_count);

    for (size_t i = 0; i < f->site_count; i++)
        list[i] = (struct location){grid->sites[f->sites[i]].id, urls ? urls[i] : NULL,
                                    f->bytes};
    *out = (struct located){f->id, list, f->site_count, SOURCE_SNAPSHOT};
}

/* Every file of the request that the snapshot has into found[its place]. */
static enum error_code look_in_snapshot(struct request *rq,
                                        const struct lookups_request *body,
                                        struct located *found)
{
    const char ***url_of;
    struct co_grid grid;

    TRY(co_grid_create(body->snapshot, "/snapshot", &grid, rq->arena, rq->err));
    url_of = NEW(rq->arena, const char **, grid.file_count);
    note_urls(&grid, body->snapshot, url_of, rq->arena);
    for (size_t i = 0; i < body->file_count; i++) {
        size_t file = co_file_find(&grid, body->file_ids[i]);

        if (file != CO_NONE && grid.files[file].site_count > 0)
            locate(&grid, file, url_of[file], &found[i], rq->arena);
    }
    return OK;
}

/* The others, if the catalogue has them. */
static enum error_code look_in_catalogue(struct request *rq,
                                         const struct lookups_request *body,
                                         struct located *found)
{
    struct text_buffer ids = {.arena = rq->arena};
    const struct store_location *rows;
    size_t *place = NEW(rq->arena, size_t, body->file_count);
    size_t count, asked = 0;
    struct location *list;
    struct db_session *db;

    for (size_t i = 0; i < body->file_count; i++) {
        if (found[i].locations)
            continue;
        text_add(&ids, asked ? "," : "[", 1);
        json_print_text(body->file_ids[i], &ids);
        place[asked++] = i;
    }
    if (asked == 0)
        return OK;
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_replicas_find(db, rq->principal.tenant, text_end(&ids), &rows, &count,
                            rq->arena, rq->err));
    list = NEW(rq->arena, struct location, count);
    for (size_t i = 0; i < count; i++) {
        struct located *f = &found[place[rows[i].file]];

        list[i] = (struct location){rows[i].site_id, rows[i].url, rows[i].bytes};
        if (!f->locations)
            *f = (struct located){body->file_ids[place[rows[i].file]], &list[i], 0,
                                  SOURCE_CATALOGUE};
        f->location_count++;
    }
    return OK;
}

enum error_code post_replica_lookups(struct request *rq, const void *in, void *out)
{
    static const char *const unavailable[] = {
        "catalogue_unavailable: the catalogue cannot be read now; what the snapshot does "
        "not have is unresolved"};
    const struct lookups_request *body = in;
    struct lookups_answer *answer = out;
    struct located *found = NEW(rq->arena, struct located, body->file_count);
    const char **missing = NEW(rq->arena, const char *, body->file_count);
    struct error before = *rq->err;
    enum error_code code = OK;

    if (body->snapshot)
        TRY(look_in_snapshot(rq, body, found));
    if (!body->snapshot || rq->service->db)
        code = look_in_catalogue(rq, body, found);
    if (body->snapshot && (code == ERR_UNAVAILABLE || code == ERR_BUSY)) {
        *rq->err = before;
        answer->warnings = unavailable;
        answer->warning_count = 1;
    } else if (code != OK) {
        return code;
    }
    for (size_t i = 0; i < body->file_count; i++)
        if (found[i].locations)
            found[answer->replica_count++] = found[i];
        else
            missing[answer->unresolved_count++] = body->file_ids[i];
    answer->replicas = found;
    answer->unresolved = missing;
    return OK;
}
