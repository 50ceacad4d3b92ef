/* placement/amounts_advice.c - what would help, and what to stop. */
#include "algorithms/placement/amounts_answer.h"
#include "algorithms/placement/amounts_changes.h"
#include "algorithms/placement/reasons.h"
#include "algorithms/world/preempt.h"
#include "algorithms/world/what_if.h"

const char *const placement_change_names[] = {"raise_capacity", "change_attribute", NULL};

static const char **job_ids(const struct placement_problem *p, const struct world *w,
                            const size_t *jobs, size_t count)
{
    const char **ids = NEW(p->arena, const char *, count);

    for (size_t k = 0; k < count; k++)
        ids[k] = w->jobs[jobs[k]].id;
    return ids;
}

static struct placement_change raised(const struct placement_problem *p,
                                      const struct world *w,
                                      const struct what_if_change *c)
{
    return (struct placement_change){
        .change = placement_change_names[PLACEMENT_RAISE_CAPACITY],
        .resource_id = w->resources[c->position].id,
        .amount = w->amounts[c->amount].name,
        .capacity = amount_value(w, c->amount, c->capacity),
        .value = amount_value(w, c->amount, c->value),
        .job_count = c->job_count,
        .weight = c->weight,
        .job_ids = job_ids(p, w, c->jobs, c->listed_count),
        .id_count = c->listed_count,
    };
}

/* A clause is not true, 0, and would be, 1. */
static struct placement_change attributed(const struct placement_problem *p,
                                          const struct world *w,
                                          const struct clause_change *c)
{
    return (struct placement_change){
        .change = placement_change_names[PLACEMENT_CHANGE_ATTRIBUTE],
        .resource_id = w->resources[c->position].id,
        .amount = c->name,
        .clause = c->clause,
        .capacity = 0,
        .value = 1,
        .job_count = c->job_count,
        .weight = c->weight,
        .job_ids = job_ids(p, w, c->jobs, c->listed_count),
        .id_count = c->listed_count,
    };
}

/* More jobs, or as many of more weight; else a capacity. */
static bool raise_is_better(const struct what_if_change *a, const struct clause_change *b)
{
    if (a->job_count != b->job_count)
        return a->job_count > b->job_count;
    return a->weight >= b->weight;
}

static void advise_changes(struct placement_problem *p,
                           const struct amounts_result *found, struct placement_out *out)
{
    const struct world *w = found->made->world;
    size_t *jobs = NEW(p->arena, size_t, w->job_count), count = 0, r = 0, c = 0;
    struct placement_change *list =
        NEW(p->arena, struct placement_change, WHAT_IF_CHANGES_MAX);
    struct what_if *raises = NEW(p->arena, struct what_if, 1);
    struct clause_changes *clauses = NEW(p->arena, struct clause_changes, 1);

    for (size_t i = 0; i < w->job_count; i++)
        if (!found->plan->placed[i].positions)
            jobs[count++] = i;
    world_what_if(w, jobs, count, raises, p->arena);
    amounts_changes(p, found->made, jobs, count, clauses);
    while (r + c < WHAT_IF_CHANGES_MAX &&
           (r < raises->change_count || c < clauses->change_count)) {
        bool raise = c == clauses->change_count ||
                     (r < raises->change_count &&
                      raise_is_better(&raises->changes[r], &clauses->changes[c]));
        size_t k = r + c;

        if (raise)
            list[k] = raised(p, w, &raises->changes[r++]);
        else
            list[k] = attributed(p, w, &clauses->changes[c++]);
    }
    out->changes = list;
    out->change_count = r + c;
    if (raises->cut || clauses->cut)
        problem_warn(p, "what_if_cut: the time was up before all changes were compared");
}

static struct placement_preemption preemption_of(const struct placement_problem *p,
                                                 const struct world *w, size_t job,
                                                 const struct preemption *x)
{
    const char **resources = NEW(p->arena, const char *, x->position_count);
    const char **stop = NEW(p->arena, const char *, x->stop_count);

    for (size_t k = 0; k < x->position_count; k++)
        resources[k] = w->resources[x->positions[k]].id;
    for (size_t k = 0; k < x->stop_count; k++)
        stop[k] = w->holders[x->stop[k]].id;
    return (struct placement_preemption){
        w->jobs[job].id, resources, x->position_count,  stop, x->stop_count, x->weight,
        x->proven,       job,       PLACEMENT_NO_COPIES};
}

const bool *amounts_preempting(const struct placement_problem *p, bool *any)
{
    bool *wants = NEW(p->arena, bool, p->job_count);

    *any = false;
    for (size_t i = 0; i < p->job_count; i++) {
        wants[i] = p->in->world->preempt || p->jobs[i].given->preempt;
        *any = *any || wants[i];
    }
    return wants;
}

/* What the plan assumes to be stopped, and for whom. */
static void list_stops(struct placement_problem *p, const struct amounts_result *found,
                       struct placement_out *out)
{
    const struct world_stops *stops = found->stops;
    const struct world *w = found->made->world;
    size_t vain = 0, first = 0;
    struct placement_preemption *list =
        NEW(p->arena, struct placement_preemption, stops->count);

    for (size_t k = 0; k < stops->count; k++) {
        const struct world_placed *placed = &found->plan->placed[stops->jobs[k]];

        budget_step(w->budget, stops->of[k].stop_count + 1);
        list[k] = preemption_of(p, w, stops->jobs[k], &stops->of[k]);
        if ((!placed->positions || placed->start_s > 0) && vain++ == 0)
            first = stops->jobs[k];
    }
    out->preemptions = list;
    out->preemption_count = stops->count;
    if (stops->stop_count)
        problem_warn(p,
                     "preempted: the plan assumes that %zu running job%s stopped "
                     "(/options/assume_preempted): see preemptions",
                     stops->stop_count, stops->stop_count == 1 ? " is" : "s are");
    if (vain)
        problem_warn(
            p,
            "preempted_for_others: %zu job%s for which others are stopped (first "
            "/jobs/%zu) do not start now by this plan: the policy gives what is "
            "free to others; job_order priority puts them first",
            vain, vain == 1 ? "" : "s", first);
}

/* For jobs that could start now but for what runs. */
static void advise_stops(struct placement_problem *p, const struct amounts_result *found,
                         struct placement_out *out)
{
    const struct world *w = found->made->world;
    struct placement_preemption *list =
        NEW(p->arena, struct placement_preemption, w->job_count);

    size_t last = WORLD_NONE;
    struct preemption x = {0};
    bool any;
    const bool *wants = amounts_preempting(p, &any);

    for (size_t i = 0; any && i < w->job_count; i++) {
        const struct world_placed *placed = &found->plan->placed[i];

        if (budget_step(w->budget, w->resource_count))
            break;
        if (!wants[i] || w->jobs[i].barred != WORLD_WAIT_NONE ||
            w->jobs[i].earliest_s > 0 || (placed->positions && placed->start_s <= 0))
            continue;
        if (last == WORLD_NONE || w->jobs[last].id != w->jobs[i].id) {
            x = (struct preemption){0}; /* the same for all copies of a job */
            world_preempt(w, found->plan, i, 0, &x, p->arena);
        }
        last = i;
        if (x.possible && x.stop_count)
            list[out->preemption_count++] = preemption_of(p, w, i, &x);
    }
    out->preemptions = list;
}

void amounts_advice(struct placement_problem *p, const struct amounts_result *found,
                    struct placement_out *out)
{
    if (p->in->world->what_if)
        advise_changes(p, found, out);
    if (found->stops)
        list_stops(p, found, out);
    else
        advise_stops(p, found, out);
}
