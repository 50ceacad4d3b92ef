/* placement/amounts_reasons.c - why jobs have no place in a plan of amounts.
 *
 * First the filters, each with how many resources it dropped, up to too_small with the
 * amounts that are short; then one cause of waiting. Jobs that nothing tells apart share
 * their reasons, and are one class of the answer.
 *
 * Cost: what reasons.h of world says, and O(m / 64) for each such class.
 * Source: world-model.md 7.1.
 */
#include "algorithms/placement/amounts_answer.h"
#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/amounts_parts.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/reasons.h"
#include "algorithms/world/reasons.h"

#include "models/base/plural.h"

#include <assert.h>
#include <string.h>

enum {
    REASONS_MAX = FILTER_REQUIREMENT + 8, /* of one job */
    EXAMPLES_MAX = 10
};

/* Jobs with equal reasons. */
struct reason_class {
    size_t job; /* the first */
    const struct placement_reason *reasons;
    size_t count, main; /* main: the one that counts for the job */
    bool omitted;       /* its nearest miss was not looked for */
};

struct explainer {
    struct placement_problem *p;
    const struct world *w;
    const struct world_plan *plan;
    const struct amounts_result *found;
    struct reasoner *reasoner; /* up to the requirement, */
    struct reasons *amounts;   /* and behind it */
    struct reason_class *classes;
    size_t class_count, class_room;
    struct pair_map class_at;
    struct arena *arena;
};

/* ---- which jobs share their reasons ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

static size_t hash_of(const struct explainer *e, size_t job)
{
    const struct world_job *j = &e->w->jobs[job];
    const struct world_placed *x = &e->plan->placed[job];
    uint64_t hash = mix(e->p->jobs[job].job_class, (uint64_t)(uintptr_t)j->needs);

    hash = mix(hash, j->choices[0].count);
    hash = mix(hash, (uint64_t)x->wait);
    hash = mix(hash, x->wait_on);
    hash = mix(hash, j->nodes);
    return (size_t)(mix(hash, j->row) >> 1);
}

static bool same_choices(const struct world_job *a, const struct world_job *b)
{
    if (a->choice_count != b->choice_count)
        return false;
    for (size_t c = 0; c < a->choice_count; c++)
        if (a->choices[c].mask != b->choices[c].mask)
            return false;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_reasons(const struct explainer *e, size_t a, size_t b)
{
    const struct world_job *j = &e->w->jobs[a], *other = &e->w->jobs[b];
    const struct world_placed *x = &e->plan->placed[a], *y = &e->plan->placed[b];

    return e->p->jobs[a].job_class == e->p->jobs[b].job_class &&
           j->needs == other->needs && same_choices(j, other) && x->wait == y->wait &&
           x->wait_on == y->wait_on && j->nodes == other->nodes && j->row == other->row &&
           j->barred == other->barred &&
           isnan(j->estimate_ref_s) == isnan(other->estimate_ref_s) &&
           e->found->made->waits_for[a] == e->found->made->waits_for[b] &&
           same_text(e->p->jobs[a].given->model_silence,
                     e->p->jobs[b].given->model_silence);
}

/* What the wait is, in words. */
static const char *wait_detail(const struct explainer *e, size_t job,
                               enum world_wait wait)
{
    const char *silence = e->p->jobs[job].given->model_silence;

    if (wait != WORLD_WAIT_NO_ESTIMATE || !silence)
        return world_wait_details[wait];
    return arena_printf(e->arena,
                        "no run time is known for the job, and its model has "
                        "none: %s",
                        silence);
}

/* ---- filters behind the requirement ---- */

/* How resources that passed the tests up to the requirement are dropped. */
struct drops {
    size_t no_run_time, partition, group_key, unresolved, unreachable;
};

/* Resources of the class that are in none of the job's choices: no run time is known for
 * it there, they have not what its group goes by, or they are not in its partitions. */
static struct drops count_drops(const struct explainer *e, size_t job)
{
    const struct world *w = e->w;
    const struct world_job *j = &w->jobs[job];
    const struct problem_class *c = &e->p->classes[e->p->jobs[job].job_class];
    struct drops d = {0};

    for (size_t b = 0; b < e->p->block_count; b++) {
        uint64_t left = c->mask[b];

        budget_step(w->budget, j->choice_count);
        for (size_t k = 0; k < j->choice_count; k++)
            left &= ~j->choices[k].mask[b];
        for (; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);

            enum filter filter = amounts_file_filter(e->p, job, pos);

            if (!(world_run_s(w, j, pos) < HUGE_VAL))
                d.no_run_time++;
            else if (filter == FILTER_FILE_UNRESOLVED)
                d.unresolved++;
            else if (filter == FILTER_FILE_UNREACHABLE)
                d.unreachable++;
            else if (!amounts_has_group_key(w, job, pos))
                d.group_key++;
            else
                d.partition++;
        }
    }
    return d;
}

/* On the wire; NAN: not limited. */
static double limited_value(const struct world *w, size_t amount, int64_t units)
{
    return units < AMOUNT_UNLIMITED ? amount_value(w, amount, units) : (double)NAN;
}

const struct placement_amount *
amounts_short(const struct world *w, const struct reason_amounts *of, struct arena *a)
{
    struct placement_amount *list = NEW(a, struct placement_amount, of->amount_count);

    for (size_t k = 0; k < of->amount_count; k++) {
        const struct reason_amount *x = &of->amounts[k];

        list[k] = (struct placement_amount){
            .name = w->amounts[x->amount].name,
            .needed = amount_value(w, x->amount, x->needed),
            .short_count = x->short_count,
            .alone_count = x->alone_count,
            .largest = limited_value(w, x->amount, x->largest),
        };
    }
    return list;
}

static void list_amounts(const struct explainer *e, const struct reason_amounts *of,
                         struct placement_reason *r)
{
    r->amounts = amounts_short(e->w, of, e->arena);
    r->amount_count = of->amount_count;
}

static void note_nearest(const struct explainer *e, const struct world_reason *found,
                         struct placement_reason *r)
{
    struct placement_nearest_miss *miss;

    if (found->nearest == WORLD_NONE)
        return;
    miss = NEW(e->arena, struct placement_nearest_miss, 1);
    miss->resource_id = e->w->resources[found->nearest].id;
    miss->shortfall = found->nearest_shortfall;
    r->nearest_miss = miss;
}

/* ---- what it waits for ---- */

/* The rule that keeps the job out of the partition; NULL: none does. */
static const char *closing_rule(const struct explainer *e, const struct partition *p,
                                size_t job)
{
    const struct world_job *j = &e->w->jobs[job];
    const char *user = e->p->jobs[job].given->user;
    const char *rule = amounts_closed(p, j, user);

    return rule || !e->found->checked->counts_limits ? rule : amounts_beyond(p, j, user);
}

static bool is_named(const struct job *given, const struct partition *p)
{
    bool named = given->partition_id_count == 0 && p->is_default;

    for (size_t k = 0; k < given->partition_id_count; k++)
        named = named || strcmp(given->partition_ids[k], p->id) == 0;
    return named;
}

/* What the job's user may have closes all of its partitions. */
static bool is_beyond(const struct explainer *e, size_t job)
{
    const struct job *given = e->p->jobs[job].given;
    const struct snapshot *s = e->p->in->snapshot;
    bool any = false;

    for (size_t i = 0; i < s->partition_count && e->found->checked->counts_limits; i++) {
        const struct partition *p = &s->partitions[i];
        const struct world_job *j = &e->w->jobs[job];

        budget_step(e->w->budget, 1 + given->partition_id_count);
        if (!is_named(given, p))
            continue;
        if (amounts_closed(p, j, given->user) || !amounts_beyond(p, j, given->user))
            return false;
        any = true;
    }
    return any;
}

static const char *limit_detail(const struct explainer *e, size_t limit)
{
    const struct world_limit *l = &e->w->limits[limit];

    return arena_printf(
        e->arena, "user '%.100s' has as much of partition '%.100s' as its %s allows",
        l->user, l->partition_id, world_limit_names[l->kind]);
}

/* The partitions' rules that closed them, or that none of these has it. */
static const char *partition_detail(const struct explainer *e, size_t job)
{
    const struct job *given = e->p->jobs[job].given;
    const struct snapshot *s = e->p->in->snapshot;

    for (size_t i = 0; i < s->partition_count; i++) {
        const struct partition *p = &s->partitions[i];
        bool named = is_named(given, p);
        const char *rule = closing_rule(e, p, job);

        if (named && rule)
            return arena_printf(e->arena, "partition '%.100s' is closed to the job: %s",
                                p->id, rule);
    }
    return "in none of the job's partitions, or its run time there is above their "
           "time_limit_max_s";
}

static const char *group_key_detail(const struct explainer *e, size_t job)
{
    return arena_printf(e->arena,
                        "it has no attribute '%.100s', which the job's group goes by",
                        e->w->groups[e->w->jobs[job].group].values->name);
}

static void list_blockers(const struct explainer *e, size_t job,
                          const struct world_reason *found, struct placement_reason *r)
{
    const char **ids = NEW(e->arena, const char *, REASON_BLOCKERS_MAX + 1);
    const char *waits_for = e->found->made->waits_for[job];

    if (waits_for)
        ids[r->blocker_count++] = waits_for;
    for (size_t k = 0; k < found->blocker_count; k++) {
        const char *id = e->w->holders[found->blockers[k]].id;

        if (id && r->blocker_count < REASON_BLOCKERS_MAX &&
            (!waits_for || strcmp(waits_for, id) != 0))
            ids[r->blocker_count++] = id;
    }
    r->blockers = ids;
}

static void explain_shared(const struct explainer *e, const struct world_reason *found,
                           struct placement_reason *r)
{
    struct placement_amount *amount = NEW(e->arena, struct placement_amount, 1);

    *amount = (struct placement_amount){
        .name = e->w->amounts[found->amount].name,
        .needed = amount_value(e->w, found->amount, found->needed),
        .largest = limited_value(e->w, found->amount, found->free),
    };
    r->amounts = amount;
    r->amount_count = 1;
}

/* More about the cause than its name. */
static void explain_wait(const struct explainer *e, size_t job, enum world_wait wait,
                         const struct world_reason *found, struct placement_reason *r)
{
    const char *waits_for = e->found->made->waits_for[job];

    if (wait == WORLD_WAIT_UNKNOWN_END)
        list_blockers(e, job, found, r);
    if (wait == WORLD_WAIT_NO_FREE_NOW)
        list_amounts(e, &found->free_now, r);
    if (wait == WORLD_WAIT_SHARED_SHORT)
        explain_shared(e, found, r);
    if (wait == WORLD_WAIT_SHARED_SHORT &&
        found->needed <= e->w->shared_capacity[found->amount])
        r->detail = "there is not enough of a shared amount free now";
    if (wait == WORLD_WAIT_AFTER_FAILED && waits_for)
        r->detail =
            arena_printf(e->arena, "it waits for '%.100s', which has failed", waits_for);
    if (wait == WORLD_WAIT_AFTER_UNPLACED && found->wait_on != WORLD_NONE)
        r->detail = arena_printf(e->arena, "it waits for '%.100s', which has no place",
                                 e->w->jobs[found->wait_on].id);
    if (wait == WORLD_WAIT_USER_LIMIT && found->wait_on < e->w->limit_count)
        r->detail = limit_detail(e, found->wait_on);
    if (wait == WORLD_WAIT_TOO_FEW_NODES)
        r->detail = arena_printf(
            e->arena, "%zu resource%s it, and it needs %zu", (size_t)r->resource_count,
            r->resource_count == 1 ? " suits" : "s suit", e->w->jobs[job].nodes);
}

static enum world_wait wait_of(const struct explainer *e, size_t job,
                               const struct world_reason *found)
{
    enum world_wait wait = found->wait;

    if (e->p->classes[e->p->jobs[job].job_class].cut)
        return WORLD_WAIT_OUT_OF_TIME;
    if (wait == WORLD_WAIT_NONE) /* nothing about amounts; perhaps the plan knows */
        wait = e->plan->placed[job].wait;
    return wait == WORLD_WAIT_NONE && e->plan->cut ? WORLD_WAIT_OUT_OF_TIME : wait;
}

/* ---- all reasons of a job ---- */

/* How many resources wait for the cause: those that it names, else all that suit. */
static size_t waiting_count(const struct world_reason *found)
{
    switch (found->wait) {
    case WORLD_WAIT_NO_FREE_NOW:
    case WORLD_WAIT_UNKNOWN_END:
    case WORLD_WAIT_RESERVED_FOR_EVER:
    case WORLD_WAIT_TOO_FEW_NODES:
        return found->resource_count;
    default:
        return found->passed_count - found->too_small.short_count;
    }
}

/* The cause of waiting counts for the job, else what drops most resources. */
static void choose_main(struct reason_class *c, bool waits)
{
    c->main = waits ? c->count - 1 : 0;
    for (size_t k = 0; !waits && k < c->count; k++)
        if (c->reasons[k].resource_count > c->reasons[c->main].resource_count)
            c->main = k;
}

static void explain(struct explainer *e, size_t job, struct reason_class *c)
{
    struct placement_reason *r = NEW(e->arena, struct placement_reason, REASONS_MAX);
    struct drops d = count_drops(e, job);
    struct world_reason found;
    enum world_wait wait;

    reasons_of(e->amounts, job, &found);
    wait = wait_of(e, job, &found);
    c->omitted = found.nearest_omitted;
    c->count = reasons_of_class(e->reasoner, e->p->jobs[job].job_class, r);
    if (d.group_key)
        r[c->count++] = (struct placement_reason){.reason = REASON_GROUP_KEY,
                                                  .detail = group_key_detail(e, job),
                                                  .resource_count = d.group_key};
    if (d.partition)
        r[c->count++] = (struct placement_reason){
            .reason = is_beyond(e, job) ? "user_limit" : REASON_PARTITION,
            .detail = partition_detail(e, job),
            .resource_count = d.partition};
    if (d.no_run_time && wait != WORLD_WAIT_NO_ESTIMATE)
        r[c->count++] =
            (struct placement_reason){.reason = "no_estimate",
                                      .detail = "no run time is known for the job there",
                                      .resource_count = d.no_run_time};
    if (d.unresolved)
        r[c->count++] =
            (struct placement_reason){.reason = "file_unresolved",
                                      .detail = "no file for its architecture",
                                      .resource_count = d.unresolved};
    if (d.unreachable)
        r[c->count++] =
            (struct placement_reason){.reason = "file_unreachable",
                                      .detail = "no route for an input or output",
                                      .resource_count = d.unreachable};
    if (found.too_small.short_count) {
        r[c->count] =
            (struct placement_reason){.reason = "too_small",
                                      .detail = "it has less than the job needs",
                                      .resource_count = found.too_small.short_count};
        note_nearest(e, &found, &r[c->count]);
        list_amounts(e, &found.too_small, &r[c->count++]);
    }
    if (world_wait_names[wait][0]) {
        r[c->count] = (struct placement_reason){.reason = world_wait_names[wait],
                                                .detail = wait_detail(e, job, wait),
                                                .resource_count = waiting_count(&found)};
        explain_wait(e, job, wait, &found, &r[c->count++]);
    }
    if (c->count == 0)
        r[c->count++] =
            (struct placement_reason){.reason = REASON_NO_RESOURCE,
                                      .detail = "the snapshot has no resource for it"};
    c->reasons = r;
    choose_main(c, world_wait_names[wait][0]);
}

/* The number of the class that has the job's reasons. */
static size_t class_of(struct explainer *e, size_t job)
{
    size_t hash = hash_of(e, job), nth = 0;
    struct pair_place *place = pair_map_at(&e->class_at, hash, nth);

    assert(!place->a || e->classes); /* the map has numbers of these only */
    while (place->a && !same_reasons(e, e->classes[place->value].job, job))
        place = pair_map_at(&e->class_at, hash, ++nth);
    if (place->a)
        return place->value;
    if (e->class_count == e->class_room) {
        size_t room = e->class_room ? 2 * e->class_room : 16;

        e->classes = GROW(e->arena, e->classes, struct reason_class, e->class_room, room);
        e->class_room = room;
    }
    *place = (struct pair_place){hash + 1, nth, e->class_count};
    e->classes[e->class_count] = (struct reason_class){.job = job};
    explain(e, job, &e->classes[e->class_count]);
    return e->class_count++;
}

/* ---- lists of the answer ---- */

static void list_classes(const struct explainer *e, const size_t *class_at,
                         const size_t *jobs, struct placement_out *out)
{
    struct placement_unplaced_class *list =
        NEW(e->arena, struct placement_unplaced_class, e->class_count);
    const char **ids = NEW(e->arena, const char *, e->class_count *EXAMPLES_MAX);

    for (size_t c = 0; c < e->class_count; c++) {
        const struct job *given = e->p->jobs[e->classes[c].job].given;

        list[c] = (struct placement_unplaced_class){
            .example_job_id = given->id,
            .cpus = given->cpus,
            .memory_bytes = given->memory_bytes,
            .job_ids = &ids[c * EXAMPLES_MAX],
            .needs = given->needs,
            .need_count = given->need_count,
            .reasons = e->classes[c].reasons,
            .reason_count = e->classes[c].count,
        };
    }
    for (size_t i = 0; i < out->unplaced_count; i++) {
        struct placement_unplaced_class *c = &list[class_at[i]];
        const char *id = e->w->jobs[jobs[i]].id;
        const char **own = &ids[class_at[i] * EXAMPLES_MAX];

        c->job_count++;
        if (c->id_count < EXAMPLES_MAX &&
            (c->id_count == 0 || own[c->id_count - 1] != id))
            own[c->id_count++] = id; /* of a job's copies once */
    }
    out->unplaced_classes = list;
    out->unplaced_class_count = e->class_count;
}

static void warn_omitted(const struct explainer *e, const struct placement_out *out)
{
    size_t count = 0;

    for (size_t c = 0; c < e->class_count; c++)
        if (e->classes[c].omitted)
            count += (size_t)out->unplaced_classes[c].job_count;
    if (count)
        problem_warn(e->p,
                     "nearest_miss_omitted: the nearest miss of %s without a place "
                     "is left out, there are too many different needs",
                     counted(count, "job").text);
}

static void list_unplaced(struct explainer *e, struct placement_out *out)
{
    size_t count = e->w->job_count - e->plan->placed_count, filled = 0;
    struct placement_unplaced *list = NEW(e->arena, struct placement_unplaced, count);
    size_t *class_at = NEW(e->arena, size_t, count);
    size_t *jobs = NEW(e->arena, size_t, count);

    out->unplaced = list;
    out->unplaced_count = count;
    if (count == 0)
        return;
    e->reasoner = reasons_start(e->p);
    e->amounts = reasons_create(e->w, e->plan, e->found->starts_now, e->arena);
    pair_map_create(&e->class_at, count, e->arena);
    for (size_t job = 0; job < e->w->job_count; job++) {
        const struct reason_class *c;

        if (e->plan->placed[job].positions)
            continue;
        jobs[filled] = job;
        class_at[filled] = class_of(e, job);
        c = &e->classes[class_at[filled]];
        list[filled++] = (struct placement_unplaced){
            e->w->jobs[job].id, e->p->resource_count, c->reasons, c->count, c->main, job,
            PLACEMENT_NO_COPIES};
    }
    list_classes(e, class_at, jobs, out);
}

static struct explainer explainer_of(struct placement_problem *p,
                                     const struct amounts_result *found)
{
    return (struct explainer){
        .p = p,
        .w = found->made->world,
        .plan = found->plan,
        .found = found,
        .arena = p->arena,
    };
}

void amounts_list_unplaced(struct placement_problem *p,
                           const struct amounts_result *found, struct placement_out *out)
{
    struct explainer e = explainer_of(p, found);

    list_unplaced(&e, out);
}

void amounts_reasons(struct placement_problem *p, const struct amounts_result *found,
                     struct placement_out *out)
{
    struct explainer e = explainer_of(p, found);

    list_unplaced(&e, out);
    if (out->unplaced_count == 0)
        return;
    warn_omitted(&e, out);
    reasons_warn_unplaced(p, out->unplaced, out->unplaced_count);
}
