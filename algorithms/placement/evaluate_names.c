/* placement/evaluate_names.c - what a plan breaks, in names and sentences. */
#include "algorithms/placement/amounts.h"
#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/classes.h"
#include "algorithms/placement/evaluate_parts.h"

static const struct {
    const char *name, *detail;
} filters[] = {
#define X(symbol, name, detail) {name, detail},
    FILTERS(X)
#undef X
};

/* One violation on its way. */
struct naming {
    const struct evaluation *e;
    const struct world_violation *v;
    const struct placement_row *row;
    size_t unknown; /* of a row's unknown resources, this is the n-th */
};

static double units(const struct naming *n, int64_t amount)
{
    return amount_value(n->e->world, n->v->amount, amount);
}

static const char *resource_id(const struct naming *n)
{
    return n->v->position == WORLD_NONE ? NULL
                                        : n->e->world->resources[n->v->position].id;
}

/* The n-th resource of the row that there is not; the count of resources: none. */
static size_t unknown_at(const struct naming *n)
{
    const struct world_claim *c = &n->e->claims[n->v->claim];
    size_t seen = 0;

    for (size_t k = 0; k < c->position_count; k++)
        if (c->positions[k] == WORLD_NONE && seen++ == n->unknown)
            return k;
    return c->position_count;
}

static const char *pointer_to(const struct naming *n, const char *member)
{
    return arena_printf(n->e->arena, "/placements/%zu/%s", n->v->claim, member);
}

/* Of the k-th resource of the row; beyond them of the list. */
static const char *pointer_to_resource(const struct naming *n, size_t k)
{
    if (!n->row->is_list)
        return pointer_to(n, "resource_id");
    if (k >= n->row->resource_count)
        return pointer_to(n, "resource_ids");
    return arena_printf(n->e->arena, "/placements/%zu/resource_ids/%zu", n->v->claim, k);
}

/* Where in the row the resource of the violation is; WORLD_NONE: nowhere. */
static size_t place_in_row(const struct naming *n)
{
    const struct world_claim *c = &n->e->claims[n->v->claim];

    for (size_t k = 0; k < c->position_count && n->v->position != WORLD_NONE; k++)
        if (c->positions[k] == n->v->position)
            return k;
    return WORLD_NONE;
}

static const char *pointer_of(const struct naming *n)
{
    switch (n->v->rule) {
    case RULE_UNKNOWN_ID:
        if (n->e->claims[n->v->claim].job == WORLD_NONE)
            return pointer_to(n, "job_id");
        return pointer_to_resource(n, unknown_at(n));
    case RULE_DUPLICATE:
    case RULE_NO_ESTIMATE:
        return pointer_to(n, "job_id");
    case RULE_BEFORE_RELEASE:
    case RULE_BEFORE_AFTER:
    case RULE_SHARED_EXCEEDED:
    case RULE_LIMIT_EXCEEDED:
    case RULE_GROUP_GANG:
        return pointer_to(n, "start_s");
    case RULE_FINISH_DIFFERS:
        return pointer_to(n, "finish_s");
    default:
        return pointer_to_resource(n, place_in_row(n));
    }
}

/* ---- sentences ---- */

static const char *unknown(const struct naming *n)
{
    size_t k = unknown_at(n);

    if (n->e->claims[n->v->claim].job == WORLD_NONE)
        return arena_printf(n->e->arena, "the request has no job '%.100s'",
                            n->row->job_id);
    return arena_printf(n->e->arena, "the snapshot has no resource '%.100s'",
                        k < n->row->resource_count ? n->row->resource_ids[k] : "");
}

/* The filter that drops the resource, first its word. */
static const char *not_eligible(const struct naming *n)
{
    const struct world *w = n->e->world;
    size_t job = n->e->claims[n->v->claim].job;
    enum filter filter;

    if (n->v->position == WORLD_NONE)
        return n->v->detail;
    filter = classes_filter(n->e->problem, job, n->v->position);
    if (filter == FILTER_PASSED &&
        world_full_run_s(w, &w->jobs[job], n->v->position) == HUGE_VAL)
        filter = FILTER_NO_ESTIMATE;
    if (filter == FILTER_PASSED)
        filter = amounts_file_filter(n->e->problem, job, n->v->position);
    if (filter == FILTER_PASSED && !amounts_has_group_key(w, job, n->v->position))
        return "group_key: the resource has not the attribute that the job's group goes "
               "by";
    if (filter == FILTER_PASSED)
        return "partition: the resource is in none of those that the job may use, or "
               "they are closed to it";
    return arena_printf(n->e->arena, "%s: %s", filters[filter].name,
                        filters[filter].detail);
}

static const char *before_release(const struct naming *n)
{
    const struct world_job *j = &n->e->world->jobs[n->e->claims[n->v->claim].job];

    if (n->v->detail)
        return "it starts before now";
    return arena_printf(n->e->arena, "it must not start before %.9g s", j->release_s);
}

static const char *before_after(const struct naming *n)
{
    const struct world_claim *c;

    if (n->v->detail)
        return n->v->detail;
    c = &n->e->claims[n->v->others[0]];
    return arena_printf(n->e->arena, "it waits for '%.100s', which comes later",
                        n->e->world->jobs[c->job].id);
}

static const char *excess(const struct naming *n)
{
    const char *name = n->e->world->amounts[n->v->amount].name;

    if (n->v->detail)
        return n->v->detail;
    if (n->v->amount == AMOUNT_PRESENCE)
        return "what runs or is planned there then has the resource for itself, or all "
               "of it is reserved";
    return arena_printf(n->e->arena,
                        "the plan takes %.9g of %s at %.9g s, where what runs and is "
                        "reserved leaves %.9g",
                        units(n, n->v->needed), name, n->v->at_s, units(n, n->v->free));
}

static const struct world_limit *limit_of(const struct naming *n)
{
    return &n->e->world->limits[n->v->amount];
}

static double limit_units(const struct naming *n, int64_t units)
{
    return limit_of(n)->kind == LIMIT_JOBS ? (double)units
                                           : (double)units / AMOUNT_UNITS_PER_ONE;
}

static const char *beyond_limit(const struct naming *n)
{
    const struct world_limit *l = limit_of(n);

    return arena_printf(n->e->arena,
                        "the plan has %.9g %s of user '%.100s' in partition '%.100s' at "
                        "%.9g s, where %s and what runs leave %.9g",
                        limit_units(n, n->v->needed),
                        l->kind == LIMIT_JOBS ? "jobs" : "cpus", l->user, l->partition_id,
                        n->v->at_s, world_limit_names[l->kind],
                        limit_units(n, n->v->free));
}

static const char *too_large(const struct naming *n)
{
    return arena_printf(n->e->arena, "it needs %.9g of %s, and there are %.9g",
                        units(n, n->v->needed), n->e->world->amounts[n->v->amount].name,
                        units(n, n->v->free));
}

static const char *crowd(const struct naming *n, const char *when)
{
    return arena_printf(n->e->arena, "%lld members of its group are there%s, %lld may be",
                        (long long)n->v->needed, when, (long long)n->v->free);
}

static const char *finish_differs(const struct naming *n)
{
    return arena_printf(n->e->arena,
                        "it does not finish %.9g s after its start on these resources",
                        n->row->finish_s - n->row->start_s);
}

static const char *detail_of(const struct naming *n)
{
    switch (n->v->rule) {
    case RULE_UNKNOWN_ID:
        return unknown(n);
    case RULE_DUPLICATE:
        return arena_printf(n->e->arena, "the job has a place in /placements/%zu already",
                            n->v->others[0]);
    case RULE_NOT_ELIGIBLE:
        return not_eligible(n);
    case RULE_BEFORE_RELEASE:
        return before_release(n);
    case RULE_BEFORE_AFTER:
        return before_after(n);
    case RULE_TOO_LARGE:
        return too_large(n);
    case RULE_AMOUNT_EXCEEDED:
    case RULE_SHARED_EXCEEDED:
        return excess(n);
    case RULE_LIMIT_EXCEEDED:
        return beyond_limit(n);
    case RULE_NODE_COUNT:
        return arena_printf(n->e->arena, "it runs on %lld resources, not on %lld",
                            (long long)n->v->needed, (long long)n->v->free);
    case RULE_SAME_NODE_TWICE:
        return "each resource of a job is another one";
    case RULE_GROUP_SPREAD:
        return crowd(n, "");
    case RULE_GROUP_EXCLUDE:
        return crowd(n, " at that time");
    case RULE_NO_ESTIMATE:
        return "no run time is known for the job";
    case RULE_FINISH_DIFFERS:
        return finish_differs(n);
    default:
        return n->v->detail;
    }
}

/* ---- numbers and names ---- */

static void fill_numbers(const struct naming *n, struct placement_violation *out)
{
    out->needed = out->free = NAN;
    if (n->v->rule == RULE_LIMIT_EXCEEDED) {
        out->amount = world_limit_names[limit_of(n)->kind];
        out->user = limit_of(n)->user;
        out->partition_id = limit_of(n)->partition_id;
        out->needed = limit_units(n, n->v->needed);
        out->free = limit_units(n, n->v->free);
    } else if (n->v->amount != WORLD_NONE) {
        out->amount = n->e->world->amounts[n->v->amount].name;
        out->needed = units(n, n->v->needed);
        out->free = units(n, n->v->free);
    } else if (n->v->needed > 0) {
        out->needed = (double)n->v->needed;
        out->free = (double)n->v->free;
    }
}

/* Jobs of the other rows, each once, without its own. */
static void fill_others(const struct naming *n, struct placement_violation *out)
{
    const char **ids = NEW(n->e->arena, const char *, n->v->other_count);
    size_t own = n->e->claims[n->v->claim].job;

    for (size_t k = 0; k < n->v->other_count; k++) {
        size_t job = n->e->claims[n->v->others[k]].job;

        if (job == own)
            continue;
        if (out->other_count == 0 ||
            ids[out->other_count - 1] != n->e->world->jobs[job].id)
            ids[out->other_count++] = n->e->world->jobs[job].id; /* of copies once */
    }
    out->other_ids = ids;
}

static struct placement_violation name_it(const struct naming *n)
{
    struct placement_violation out = {.rule = world_rule_names[n->v->rule],
                                      .job_id = n->row->job_id,
                                      .resource_id = resource_id(n),
                                      .at_s = n->v->at_s,
                                      .index = UINT64_MAX};
    size_t job = n->e->claims[n->v->claim].job;

    if (job != WORLD_NONE && n->e->in->request->jobs[job].count > 1)
        out.index = n->row->copy;
    fill_numbers(n, &out);
    fill_others(n, &out);
    out.pointer = pointer_of(n);
    out.detail = detail_of(n);
    return out;
}

const struct placement_violation *evaluation_named(const struct evaluation *e,
                                                   const struct world_check *found)
{
    struct placement_violation *list =
        NEW(e->arena, struct placement_violation, found->listed_count);
    struct naming n = {.e = e};

    for (size_t i = 0; i < found->listed_count; i++) {
        const struct world_violation *v = &found->violations[i];
        bool again = n.v && v->rule == RULE_UNKNOWN_ID && n.v->rule == v->rule &&
                     n.v->claim == v->claim;

        budget_step(e->world->budget, 1 + e->claims[v->claim].position_count);
        n.unknown = again ? n.unknown + 1 : 0;
        n.v = v;
        n.row = &e->in->rows[v->claim];
        list[i] = name_it(&n);
    }
    return list;
}
