/* simulation_trace.c - uploaded failures as outages of the simulated resources. */
#include "handlers/simulation/simulation_parts.h"
#include "models/base/plural.h"
#include "models/failure_trace.h"
#include "service/json.h"

#include <stdlib.h>
#include <string.h>

struct laying {
    struct building *b;
    struct failure *failures; /* by resource, then as they came */
    size_t failure_count;
    struct simulation_trace trace;
};

static int compare_failures(const void *left, const void *right)
{
    const struct failure *a = left, *b = right;
    int order = strcmp(a->resource_id, b->resource_id);

    if (order)
        return order;
    return (a->down_at_s > b->down_at_s) - (a->down_at_s < b->down_at_s);
}

/* store_piece_fn */
static enum error_code feed(void *context, const char *piece, size_t length,
                            struct error *err)
{
    TRY(json_go_on(length, err));
    return failure_trace_feed(context, piece, length, err);
}

/* Of a long document a piece is in memory at a time. */
static enum error_code feed_document(struct building *b, const struct store_trace *trace,
                                     struct failure_trace_reader *reader)
{
    struct arena *of_piece;
    struct db_session *db;

    if (!trace->piece_bytes)
        return failure_trace_feed(reader, (const char *)trace->document.data,
                                  trace->document.length, b->err);
    TRY(request_db(b->rq, &db));
    of_piece = arena_create_beside(b->a, arena_cap_bytes(b->a));
    TRY(store_trace_pieces(db, b->rq->principal.tenant, STORE_FAILURE_TRACE, trace, feed,
                           reader, of_piece, b->err));
    arena_reset(of_piece);
    return OK;
}

static enum error_code read_failures(struct laying *l)
{
    struct building *b = l->b;
    struct store_trace trace = {0};
    struct failure_trace_reader *reader = NEW(b->a, struct failure_trace_reader, 1);
    struct failure_log log = {.arena = b->a};
    const char *offset = NULL;
    enum failure_trace_format format = FAILURE_TRACE_LANL_CFDR;

    TRY(simulation_upload(b, STORE_FAILURE_TRACE, "/failure_trace_id",
                          b->body->failure_trace_id, &trace));
    if (strcmp(trace.format, failure_trace_format_names[FAILURE_TRACE_FTA]) == 0)
        format = FAILURE_TRACE_FTA;
    TRY(json_member(trace.summary, "utc_offset_s", &offset, b->a, b->err));
    failure_trace_open(reader, format, offset ? strtod(offset, NULL) : 0, failure_log_add,
                       &log);
    TRY(feed_document(b, &trace, reader));
    TRY(failure_trace_end(reader, b->err));
    l->failures = log.failures;
    l->failure_count = log.count;
    qsort(l->failures, l->failure_count, sizeof(*l->failures), compare_failures);
    return OK;
}

/* Outages from the instant that is the begin of a run on. */
static void make_outages(struct laying *l)
{
    struct simulation_trace *t = &l->trace;
    double from_at_s = l->b->body->failure_trace_from_s;

    if (isnan(from_at_s))
        for (size_t i = 0; i < l->failure_count; i++)
            from_at_s = fmin(l->failures[i].down_at_s, from_at_s); /* of NAN the other */
    t->outages = NEW(l->b->a, struct failure_interval, l->failure_count);
    t->nodes = NEW(l->b->a, struct simulation_trace_node, l->failure_count);
    name_index_create(&t->by_name, l->failure_count, l->b->a);
    for (size_t i = 0; i < l->failure_count; i++) {
        const struct failure *f = &l->failures[i];
        bool same = t->node_count &&
                    strcmp(t->nodes[t->node_count - 1].name, f->resource_id) == 0;

        if (!same) {
            name_index_add(&t->by_name, f->resource_id, t->node_count);
            t->nodes[t->node_count++] =
                (struct simulation_trace_node){f->resource_id, t->outage_count, 0};
        }
        if (f->up_at_s <= from_at_s)
            continue;
        t->outages[t->outage_count++] = (struct failure_interval){
            fmax(0, f->down_at_s - from_at_s), f->up_at_s - from_at_s};
        t->nodes[t->node_count - 1].count++;
    }
}

enum error_code simulation_trace_read(struct building *b, struct simulation_trace *out)
{
    struct laying l = {.b = b};

    TRY(read_failures(&l));
    make_outages(&l);
    *out = l.trace;
    return OK;
}

/* Which node each resource has: that of its name, or if no resource has the name of a
 * node, the next one. */
static bool uses_names(const struct simulation_trace *t,
                       const struct sim_resource_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (name_index_find(&t->by_name, names[i].id) != NAME_NOT_FOUND)
            return true;
    return false;
}

static void lay(struct building *b, const struct simulation_trace *t,
                const struct sim_resource_name *names, size_t count)
{
    bool by_name = uses_names(t, names, count);
    size_t used = 0;
    struct sim_trace **traces = NEW(b->a, struct sim_trace *, b->group_count);

    for (size_t i = 0; i < b->group_count; i++) {
        traces[i] = NEW(b->a, struct sim_trace, b->groups[i].count);
        b->groups[i].fails = false;
        b->groups[i].failure_group = SIM_NO_FAILURE_GROUP;
        b->groups[i].traces = traces[i];
    }
    for (size_t i = 0; i < count; i++) {
        size_t node = by_name ? name_index_find(&t->by_name, names[i].id) : i;

        if (node >= t->node_count)
            continue;
        used++;
        traces[names[i].group][names[i].number].outages =
            t->outages + t->nodes[node].first;
        traces[names[i].group][names[i].number].outage_count = t->nodes[node].count;
    }
    if (used < count || used < t->node_count)
        simulation_warn(
            b->out, b->a,
            "failure_trace: %zu of %s %s, by %s; %zu of %s of the trace %s "
            "used",
            used, counted(count, "resource").text, plural(used, "fails", "fail"),
            by_name ? "their names" : "the order of names", used,
            counted(t->node_count, "resource").text, plural(used, "is", "are"));
}

enum error_code simulation_failure_trace(struct building *b)
{
    struct sim_scenario prepared = b->scenario;
    const struct sim_resource_name *names;
    struct simulation_trace trace;
    size_t count;

    TRY(simulation_trace_read(b, &trace));
    TRY(sim_scenario_prepare(&prepared, "", b->a, b->err));
    sim_resource_names(&prepared, &names, &count, b->a);
    lay(b, &trace, names, count);
    return OK;
}
