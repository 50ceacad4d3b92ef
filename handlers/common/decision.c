/* decision.c - the envelope that all decisions share. */
#include "handlers/common/decision.h"

#include "handlers/common/snapshot_json.h"
#include "handlers/operations/routes.h"
#include "handlers/snapshots/lease_view.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/spelling.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store.h"
#include "service/stored_hint.h"
#include "service/uuid.h"

#include <string.h>

#define T struct decision_timings
static const struct json_field timings_rows[] = {
    JSON_NUMBER(T, time_limit_s, 0, 0, 0, 0, "Seconds that the decision might take"),
    JSON_BOOLEAN(T, cut, false, 0, "Whether that ended it"),
    JSON_NUMBER(T, parse_s, 0, 0, 0, 0, "Reading the request"),
    JSON_NUMBER(T, decide_s, 0, 0, 0, 0, "Deciding"),
    {0},
};
#undef T
const struct json_object decision_timings_json = {
    "Timings", "Where the time went", sizeof(struct decision_timings), timings_rows};

/* No clock is better than that, and short numbers print faster. */
static double microseconds(double duration_s)
{
    return round(duration_s * 1e6) / 1e6;
}

enum error_code decision_begin(struct request *rq, const struct decision_request *in,
                               struct decision_answer *out)
{
    bool derived = rq->keyed_id && !rq->replay;
    char *id = NEW(rq->arena, char, UUID_TEXT_SIZE);

    TRY(request_check_time_limit(rq, in->time_limit_s));
    if (in->store && !rq->replay) {
        struct db_session *db;

        TRY(request_db(rq,
                       &db)); /* say now, not after a long search, that there is none */
        rq->store_decision = true;
    }
    if (derived)
        memcpy(id, rq->keyed_id, UUID_TEXT_SIZE);
    else
        uuid_make(id);
    out->decision_id = id;
    out->seed = in->seed;
    out->labels = in->labels;
    out->timings.parse_s = microseconds(rq->parse_s);
    out->timings.decide_s = request_elapsed_s(rq);
    rq->decision_id = id;
    rq->seed = in->seed;
    request_set_time_limit(rq, in->time_limit_s);
    out->timings.time_limit_s = microseconds(rq->deadline_s - rq->limited_from_s);
    if (in->time_limit_s > request_time_limit_max_s(rq)) /* it was allowed once */
        return decision_warn(
            rq, out,
            "clamped: /time_limit_s: %.15g is more than the %.15g s that are in "
            "force here; the latter are taken",
            in->time_limit_s, request_time_limit_max_s(rq));
    return OK;
}

void decision_end(struct request *rq, const char *algorithm, enum decision_status status,
                  struct decision_answer *out)
{
    out->algorithm = algorithm;
    out->status = status;
    out->timings.cut = status == DECISION_CUT;
    for (size_t i = 0; i < rq->note_count; i++)
        decision_warn(rq, out, "%s", rq->notes[i]);
    out->timings.decide_s = microseconds(request_elapsed_s(rq) - out->timings.decide_s);
    rq->algorithm = algorithm;
    rq->decision_status = status;
}

enum error_code decision_warn(struct request *rq, struct decision_answer *out,
                              const char *format, ...)
{
    const char **warnings = NEW(rq->arena, const char *, out->warning_count + 1);
    va_list args;

    for (size_t i = 0; i < out->warning_count; i++)
        warnings[i] = out->warnings[i];
    va_start(args, format);
    warnings[out->warning_count] = arena_vprintf(rq->arena, format, args);
    va_end(args);
    out->warnings = warnings;
    out->warning_count++;
    return OK;
}

void decision_check_failed(const struct request *rq)
{
    metrics_check_failure(rq->service->metrics, rq->route);
    log_write_request(LOG_ERROR, rq->id, "the checker refused a plan of %s",
                      rq->route->path);
}

void decision_note(struct request *rq, const char *text)
{
    const char **notes = NEW(rq->arena, const char *, rq->note_count + 1);

    for (size_t i = 0; i < rq->note_count; i++)
        notes[i] = rq->notes[i];
    notes[rq->note_count++] = text;
    rq->notes = notes;
}

enum { VIEW_KEPT_ALWAYS, VIEW_KEPT_WITH_LEASES };

/* A stored snapshot with what belongs to it: looked up, or as it was for a replay. What
 * was stored before its leases were kept has none, and says no "now". */
static enum error_code read_view(struct request *rq, const char *snapshot_id, int kept)
{
    struct snapshot_view *view = NEW(rq->arena, struct snapshot_view, 1);
    enum error_code code;
    bool found;

    if (rq->snapshot_view && rq->snapshot_document) /* it has been read already */
        return OK;
    TRY(decision_lookup(rq, "snapshot_view", &snapshot_view_json, view, &found));
    if (!found)
        *view = (struct snapshot_view){.now_at_s = NAN};
    rq->snapshot_view = view;
    if (rq->replay && rq->snapshot_document)
        return OK;
    code = snapshot_view_read(rq, snapshot_id, view, &rq->snapshot_document);
    if (code == ERR_NOT_FOUND) {
        invalid(rq->err, "/snapshot_id", ITEM_UNKNOWN_ID,
                "there is no stored snapshot '%.100s'; POST it to /v1/snapshots first",
                snapshot_id);
        stored_hint(rq, "snapshot_id", snapshot_id);
        return ERR_INVALID;
    }
    TRY(code);
    if (kept == VIEW_KEPT_WITH_LEASES && view->lease_count == 0)
        return OK;
    return decision_keep_lookup(rq, "snapshot_view", &snapshot_view_json, view);
}

/* The inline snapshot, or the stored one as its document says it. */
static enum error_code read_snapshot(struct request *rq, const struct snapshot *given,
                                     const char *snapshot_id, bool required, int kept,
                                     struct snapshot **stored)
{
    *stored = NULL;
    if (given && snapshot_id)
        return invalid(rq->err, "/snapshot_id", ITEM_CONFLICT,
                       "give either snapshot or snapshot_id, not both");
    if (!given && !snapshot_id && required)
        return invalid(
            rq->err, "/snapshot", ITEM_REQUIRED,
            "the resources are missing: give snapshot, or the snapshot_id of a "
            "stored one");
    if (!snapshot_id)
        return OK;
    TRY(read_view(rq, snapshot_id, kept));
    *stored = NEW(rq->arena, struct snapshot, 1);
    return json_read(&snapshot_json, rq->snapshot_document, strlen(rq->snapshot_document),
                     *stored, NULL, rq->arena, rq->err);
}

enum error_code decision_world_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id, bool required,
                                        const struct snapshot **snapshot)
{
    const struct snapshot_view *view;
    struct snapshot *stored;

    *snapshot = given;
    TRY(read_snapshot(rq, given, snapshot_id, required, VIEW_KEPT_ALWAYS, &stored));
    if (!stored)
        return OK;
    *snapshot = stored;
    view = rq->snapshot_view;
    if (isnan(view->now_at_s))
        return OK;
    *stored = snapshot_with_leases(stored, view, rq->arena);
    if (stored->leased_id_count)
        decision_note(
            rq,
            arena_printf(rq->arena,
                         "leases: %zu of /snapshot_id count%s, with %s that %s not run "
                         "yet: %s amounts are not free",
                         view->lease_count, view->lease_count == 1 ? "s" : "",
                         counted(stored->leased_id_count, "job").text,
                         plural(stored->leased_id_count, "does", "do"),
                         plural(stored->leased_id_count, "its", "their")));
    return OK;
}

/* The leases of the stored snapshot that was read are of no use, as `why` says. */
static void note_leases(struct request *rq, const char *why)
{
    size_t count = rq->snapshot_view->lease_count;

    if (count)
        decision_note(rq,
                      arena_printf(rq->arena, "ignored: %zu lease%s of /snapshot_id: %s",
                                   count, count == 1 ? "" : "s", why));
}

enum error_code decision_queue_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id,
                                        const struct snapshot **snapshot)
{
    struct snapshot *stored;

    TRY(read_snapshot(rq, given, snapshot_id, false, VIEW_KEPT_ALWAYS, &stored));
    *snapshot = stored ? stored : given;
    if (stored && stored->cluster)
        note_leases(rq, "its cluster knows of no leases");
    return OK;
}

/* ---- what only decisions about amounts look at ---- */

static bool has_disk(const struct resource *r)
{
    return !isnan(r->disk_bytes);
}

static bool has_capacities(const struct resource *r)
{
    return r->capacity_count > 0;
}

static bool has_running(const struct resource *r)
{
    return r->running_count > 0;
}

static bool has_reservations(const struct resource *r)
{
    return r->reservation_count > 0;
}

static bool has_price(const struct resource *r)
{
    return r->price_per_s > 0 || r->price_per_cpu_s > 0;
}

static bool has_power(const struct resource *r)
{
    return r->power_node_w > 0 || r->power_per_cpu_w > 0;
}

static bool has_notice(const struct resource *r)
{
    return r->notice != NULL;
}

static const struct {
    const char *member;
    bool (*given)(const struct resource *r);
} amount_members[] = {
    {"disk_bytes", has_disk},   {"capacities", has_capacities},
    {"running", has_running},   {"reservations", has_reservations},
    {"price_per_s", has_price}, {"power_node_w", has_power},
    {"notice", has_notice},
};

enum { AMOUNT_MEMBERS = sizeof(amount_members) / sizeof(*amount_members) };

void decision_ignore_amounts(struct request *rq, const struct snapshot *s)
{
    static const char why[] = "it is not looked at here";
    const struct {
        const char *member;
        size_t count;
    } lists[] = {{"shared_capacities", s->shared_capacity_count},
                 {"running", s->running_count},
                 {"reservations", s->reservation_count},
                 {"partitions", s->partition_count}};

    for (size_t k = 0; k < AMOUNT_MEMBERS; k++) {
        size_t count = 0, first = 0;

        for (size_t i = s->resource_count; i-- > 0;) {
            if (!amount_members[k].given(&s->resources[i]))
                continue;
            first = i;
            count++;
        }
        if (count)
            decision_note(rq, arena_printf(rq->arena,
                                           "ignored: %s of %zu resource%s (first "
                                           "/snapshot/resources/%zu/%s): %s",
                                           amount_members[k].member, count,
                                           count == 1 ? "" : "s", first,
                                           amount_members[k].member, why));
    }
    for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++)
        if (lists[k].count)
            decision_note(rq, arena_printf(rq->arena, "ignored: %zu of /snapshot/%s: %s",
                                           lists[k].count, lists[k].member, why));
}

enum error_code decision_snapshot(struct request *rq, const struct snapshot *given,
                                  const char *snapshot_id, bool required,
                                  const struct snapshot **snapshot)
{
    struct snapshot *stored;

    TRY(read_snapshot(rq, given, snapshot_id, required, VIEW_KEPT_WITH_LEASES, &stored));
    *snapshot = stored ? stored : given;
    if (*snapshot)
        decision_ignore_amounts(rq, *snapshot);
    if (stored)
        note_leases(rq, "they are not looked at here");
    return OK;
}

enum error_code decision_lookup(struct request *rq, const char *name,
                                const struct json_object *table, void *out, bool *found)
{
    const char *text = NULL;

    *found = false;
    if (!rq->replay || !rq->history_document)
        return OK;
    TRY(json_member(rq->history_document, name, &text, rq->arena, rq->err));
    if (!text)
        return OK;
    TRY(json_read(table, text, strlen(text), out, NULL, rq->arena, rq->err));
    *found = true;
    return OK;
}

enum error_code decision_keep_lookup(struct request *rq, const char *name,
                                     const struct json_object *table, const void *in)
{
    struct text_buffer b = {.arena = rq->arena, .prints_request = true}; /* read again */
    const char *before = rq->history_document;

    if (!rq->store_decision)
        return OK;
    if (before) /* its members, without the brace at its end */
        text_add(&b, before, strlen(before) - 1);
    text_add(&b, before ? "," : "{", 1);
    json_print_text(name, &b);
    text_add(&b, ":", 1);
    json_print(table, in, &b);
    text_add(&b, "}", 2); /* with the NUL */
    rq->history_document = text_end(&b);
    return OK;
}

enum { ALGORITHM_BYTES = 64 };

/* "Min-Min" min_min; what is too long is no algorithm. */
static const char *algorithm_spelling(const char *name, char spelling[ALGORITHM_BYTES])
{
    return name_spell(name, strlen(name), spelling, ALGORITHM_BYTES) ? spelling : "";
}

/* What was meant by the name of an algorithm: one of another endpoint, or the nearest. */
static void hint_algorithm(const char *name, const char *nearest, struct error *err)
{
    char spelling[ALGORITHM_BYTES];
    const char *elsewhere = algorithm_endpoint(algorithm_spelling(name, spelling));

    if (elsewhere && !(nearest && strcmp(nearest, spelling) == 0))
        error_hint(err, "'%s' belongs to POST %s", spelling, elsewhere);
    else if (nearest)
        error_hint(err, "did you mean '%s'?", nearest);
}

/* What others call a policy that the tables have; NULL: no word for any. */
static const char *also_called(const char *name, const struct policy *const *tables)
{
    static const char *const words[][2] = {
        {"backfill", "easy"}, {"backfilling", "easy"},       {"fifo", "fcfs"},
        {"shortest", "sjf"},  {"shortest_job_first", "sjf"}, {"spt", "sjf"},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (size_t t = 0; strcmp(words[i][0], name) == 0 && tables[t]; t++)
            if (policy_find(tables[t], words[i][1]))
                return words[i][1];
    return NULL;
}

void decision_no_policy(const char *pointer, const char *name, const char *what,
                        const struct policy *const *tables, struct error *err)
{
    char hint[NAMES_HINT_BYTES], spelling[ALGORITHM_BYTES];
    const char *nearest = policy_nearest(name, tables);

    if (!nearest)
        nearest = also_called(algorithm_spelling(name, spelling), tables);
    invalid(err, pointer, ITEM_UNKNOWN_ALGORITHM, "there is no %s '%.60s' here; %s", what,
            name, policy_hint(name, tables, hint, sizeof(hint)));
    hint_algorithm(name, nearest, err);
    policy_allow(err, name, tables);
}

enum error_code decision_unknown_policy(const char *name, const struct policy *policies,
                                        struct error *err)
{
    const struct policy *const tables[] = {policies, NULL};

    decision_no_policy("/algorithm", name, "algorithm", tables, err);
    return ERR_INVALID;
}

enum error_code decision_unknown_algorithm(const char *name, const char *const *names,
                                           size_t count, struct error *err)
{
    char hint[NAMES_HINT_BYTES];

    invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM,
            "there is no algorithm '%.60s' here; %s", name,
            names_hint(name, names, count, hint, sizeof(hint)));
    hint_algorithm(name, names_meant(name, names, count), err);
    error_allow(err, name, names, count);
    return ERR_INVALID;
}
