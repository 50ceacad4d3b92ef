/* placement/selection.c - which of the ready jobs start now.
 *
 * What starts becomes holders of a second world, of which the reasons of the rest are
 * asked: what is free there is what is left.
 */
#include "algorithms/placement/selection.h"

#include "algorithms/placement/amounts_answer.h"
#include "algorithms/placement/unused.h"

#include <stdio.h>
#include <string.h>

struct selecting {
    const struct placement_in *in;
    struct placement_problem *p;
    const struct amounts *checked;
    struct amounts_world made;
    struct world *w;
    const size_t *origin; /* by job of the world: row of the request */
    uint64_t *counts;     /* by job of the world */
    uint64_t *started;    /* by row */
    struct now_out now;
    struct selected_jobs *selected;
    size_t selected_count;
    struct world_holder *holders; /* of what starts */
    size_t holder_count;
    bool is_pool;
    struct arena *a;
};

static uint64_t count_of(const struct job *j)
{
    return j->count ? j->count : 1;
}

static bool is_wide(const struct job *j)
{
    return j->nodes > 1 || j->group;
}

/* ---- mistakes ---- */

static void check_rows(const struct placement_in *in, struct error *err)
{
    double sum = 0;
    bool wide = false;

    for (size_t i = 0; i < in->job_count; i++) {
        const struct job *j = &in->jobs[i];
        char pointer[64];

        sum += (double)count_of(j);
        wide = wide || is_wide(j);
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/count", i);
        if (j->group && count_of(j) > 1)
            invalid(err, pointer, ITEM_INVALID_COMBINATION,
                    "a job of a group stands for itself only");
        if (!j->input_file_count && !(in->snapshot->home_site_id && j->output_bytes > 0))
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", i,
                 j->input_file_count ? "input_file_ids" : "output_bytes");
        invalid(err, pointer, ITEM_INVALID_COMBINATION,
                "files are not looked at when jobs start now");
    }
    if (wide && sum > SELECTION_EXPANDED_MAX)
        invalid(
            err, "/jobs", ITEM_TOO_LONG,
            "with jobs on several nodes or in groups at most %d jobs in all, counting "
            "each as often as its `count`",
            SELECTION_EXPANDED_MAX);
}

static enum error_code prepare(struct selecting *s, struct error *err)
{
    const struct policy *policy = policy_find(placement_policies, "auto");
    double *values = NEW(s->a, double, PARAMS_MAX); /* the problem goes on using them */
    size_t before = err->item_count;
    struct amounts *checked;

    TRY(policy_bind(policy, NULL, 0, values, err));
    check_rows(s->in, err);
    amounts_check(s->in, false, &checked, s->a, err);
    TRY(problem_prepare(s->in, values, s->p, s->a, err));
    if (err->item_count > before)
        return ERR_INVALID;
    amounts_start_now(checked);
    s->checked = checked;
    amounts_world(s->p, checked, &s->made);
    s->w = s->made.world;
    return OK;
}

/* ---- each job for itself ---- */

/* Copies behind the rows, so that what names jobs by number stays true. */
static void expand(struct selecting *s)
{
    const struct world *w = s->w;
    size_t total = 0, next = w->job_count, *origin;
    struct world_job *jobs;

    for (size_t i = 0; i < s->in->job_count; i++)
        total += (size_t)count_of(&s->in->jobs[i]);
    jobs = NEW(s->a, struct world_job, total);
    origin = NEW(s->a, size_t, total);
    for (size_t i = 0; i < w->job_count; i++) {
        jobs[i] = w->jobs[i];
        origin[i] = i;
        budget_step(w->budget, (size_t)count_of(&s->in->jobs[i]));
        for (uint64_t k = 1; k < count_of(&s->in->jobs[i]); k++, next++) {
            jobs[next] = w->jobs[i];
            origin[next] = i;
        }
    }
    s->w = NEW(s->a, struct world, 1);
    *s->w = *w;
    s->w->jobs = jobs;
    s->w->job_count = total;
    s->origin = origin;
}

static void number_rows(struct selecting *s)
{
    size_t *origin = NEW(s->a, size_t, s->w->job_count);

    s->counts = NEW(s->a, uint64_t, s->w->job_count);
    for (size_t i = 0; i < s->w->job_count; i++) {
        origin[i] = i;
        s->counts[i] = count_of(&s->in->jobs[i]);
    }
    s->origin = origin;
}

/* ---- what starts ---- */

/* What `count` of the job hold on one of its nodes; shared amounts on the first. */
static void hold(struct selecting *s, size_t job, const size_t *position, uint64_t count,
                 bool first)
{
    const struct world *w = s->w;
    int64_t *amounts = NEW(s->a, int64_t, w->amount_count);

    for (size_t k = 0; k < w->amount_count; k++) {
        int64_t need = w->jobs[job].needs[k];

        if (k >= w->node_amount_count && !first)
            continue;
        amounts[k] = need > AMOUNT_UNLIMITED / (int64_t)count ? AMOUNT_UNLIMITED
                                                              : need * (int64_t)count;
    }
    s->holders[s->holder_count++] = (struct world_holder){
        .kind = HOLDER_RUNNING,
        .end_s = HUGE_VAL,
        .amounts = amounts,
        .positions = position,
        .position_count = 1,
        .group = WORLD_NONE,
    };
}

/* So many of the job start at each of its positions. */
static void start(struct selecting *s, size_t job, const size_t *positions, size_t nodes,
                  uint64_t count)
{
    size_t row = s->origin[job];
    struct selected_jobs *last = s->selected + s->selected_count;
    const char **ids = NEW(s->a, const char *, nodes);

    for (size_t k = 0; k < nodes; k++) {
        budget_step(s->w->budget, s->w->amount_count);
        ids[k] = s->w->resources[positions[k]].id;
        hold(s, job, &positions[k], count, k == 0);
    }
    s->started[row] += count;
    if (s->selected_count > 0 && nodes == 1 && last[-1].job_id == s->w->jobs[job].id &&
        (s->is_pool || last[-1].resource_id == ids[0])) {
        last[-1].count += count;
        return;
    }
    *last = (struct selected_jobs){.job_id = s->w->jobs[job].id, .count = count};
    if (nodes > 1) {
        last->resource_ids = ids;
        last->resource_id_count = nodes;
    } else if (!s->is_pool) {
        last->resource_id = ids[0];
    }
    s->selected_count++;
}

static void make_room(struct selecting *s, size_t rows, size_t nodes)
{
    s->selected = NEW(s->a, struct selected_jobs, rows);
    s->holders = NEW(s->a, struct world_holder, s->w->holder_count + nodes);
    s->started = NEW(s->a, uint64_t, s->in->job_count);
    if (s->w->holder_count > 0)
        memcpy(s->holders, s->w->holders, s->w->holder_count * sizeof(*s->holders));
    s->holder_count = s->w->holder_count;
}

static void collect_starts(struct selecting *s)
{
    make_room(s, s->now.start_count, s->now.start_count);
    for (size_t i = 0; i < s->now.start_count; i++) {
        const struct now_start *x = &s->now.starts[i];

        start(s, x->job, &x->position, 1, (uint64_t)x->count);
    }
}

/* Jobs of the world that start, by row of the request. */
static size_t *by_row(const struct selecting *s, size_t *nodes)
{
    const struct world_plan *plan = &s->now.plan;
    size_t *next = NEW(s->a, size_t, s->in->job_count + 1);
    size_t *list = NEW(s->a, size_t, plan->placed_count);

    for (size_t i = 0; i < plan->placed_count; i++)
        next[s->origin[plan->sequence[i]] + 1]++;
    for (size_t i = 0; i < s->in->job_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < plan->placed_count; i++) {
        size_t job = plan->sequence[i];

        *nodes += plan->placed[job].position_count;
        list[next[s->origin[job]]++] = job;
    }
    return list;
}

static void collect_expanded(struct selecting *s)
{
    const struct world_plan *plan = &s->now.plan;
    size_t nodes = 0, *list = by_row(s, &nodes);

    make_room(s, plan->placed_count, nodes);
    for (size_t i = 0; i < plan->placed_count; i++) {
        const struct world_placed *x = &plan->placed[list[i]];

        start(s, list[i], x->positions, x->position_count, 1);
    }
}

/* ---- why the rest does not ---- */

/* Holders of each resource, those of what starts included. */
static struct world_resource *hold_resources(const struct selecting *s)
{
    const struct world *w = s->w;
    struct world_resource *resources =
        NEW(s->a, struct world_resource, w->resource_count);
    size_t *first = NEW(s->a, size_t, w->resource_count + 1), total = 0;
    size_t *numbers;

    for (size_t h = 0; h < s->holder_count; h++) {
        budget_step(w->budget, s->holders[h].position_count);
        for (size_t i = 0; i < s->holders[h].position_count; i++, total++)
            first[s->holders[h].positions[i] + 1]++;
    }
    numbers = NEW(s->a, size_t, total);
    for (size_t i = 0; i < w->resource_count; i++) {
        first[i + 1] += first[i];
        resources[i] = w->resources[i];
        resources[i].holders = numbers + first[i];
        resources[i].holder_count = 0;
    }
    for (size_t h = 0; h < s->holder_count; h++) {
        budget_step(w->budget, s->holders[h].position_count);
        for (size_t i = 0; i < s->holders[h].position_count; i++) {
            struct world_resource *r = &resources[s->holders[h].positions[i]];

            numbers[first[r - resources] + r->holder_count++] = h;
        }
    }
    return resources;
}

static void list_unselected(const struct selecting *s, const struct placement_out *found,
                            struct selection_out *out)
{
    struct unselected_jobs *list =
        NEW(s->a, struct unselected_jobs, found->unplaced_count);
    size_t row = 0;

    for (size_t i = 0; i < found->unplaced_count; i++, row++) {
        const struct placement_unplaced *u = &found->unplaced[i];
        const struct placement_reason *r = &u->reasons[u->main_reason];

        budget_step(s->w->budget, 1);
        while (s->started[row] == count_of(&s->in->jobs[row]))
            row++;
        list[i] = (struct unselected_jobs){
            .job_id = u->job_id,
            .count = count_of(&s->in->jobs[row]) - s->started[row],
            .reason = r->reason,
            .detail = r->detail,
            .amounts = r->amounts,
            .amount_count = r->amount_count,
        };
    }
    out->unselected = list;
    out->unselected_count = found->unplaced_count;
}

/* A row that has not started as a whole has no place in the plan that is explained. */
static void explain(struct selecting *s, struct selection_out *out)
{
    static const size_t somewhere = 0;
    struct world *left = s->made.world;
    struct world_plan plan = {
        .placed = NEW(s->a, struct world_placed, left->job_count),
        .cut = s->now.plan.cut,
    };
    struct amounts_result found = {
        .plan = &plan, .starts_now = true, .made = &s->made, .checked = s->checked};
    struct placement_out listed = {0};

    left->resources = hold_resources(s);
    left->holders = s->holders;
    left->holder_count = s->holder_count;
    for (size_t i = 0; i < left->job_count; i++) {
        plan.placed[i].wait = s->now.plan.placed[i].wait;
        plan.placed[i].wait_on = s->now.plan.placed[i].wait_on;
        if (s->started[i] > 0)
            plan.placed[i].wait = WORLD_WAIT_NO_FREE_NOW;
        if (s->started[i] < count_of(&s->in->jobs[i]))
            continue;
        plan.placed[i].positions = &somewhere;
        plan.placed[i].start_s = HUGE_VAL; /* what it takes is with the holders */
        plan.placed_count++;
    }
    amounts_list_unplaced(s->p, &found, &listed);
    list_unselected(s, &listed, out);
}

/* ---- how good it is ---- */

static void say_values(const struct selecting *s, struct selection_out *out)
{
    const struct now_out *now = &s->now;
    struct placement_tier *tiers = NEW(s->a, struct placement_tier, now->tier_count);

    for (size_t k = 0; k < now->tier_count; k++) {
        tiers[k] = (struct placement_tier){now->tiers[k].priority, now->tiers[k].value,
                                           now->tiers[k].bound, now->tiers[k].proven};
        out->started_now_weight += tiers[k].value;
    }
    out->tiers = tiers;
    out->tier_count = now->tier_count;
    out->proven = now->proven || now->tier_count == 0;
    if (out->proven)
        out->bound = out->started_now_weight;
    else
        out->bound = now->tier_count == 1 ? tiers[0].bound : (double)NAN;
}

static enum decision_status status_of(const struct selecting *s,
                                      const struct selection_out *out)
{
    if (s->now.plan.cut)
        return DECISION_CUT;
    if (s->in->job_count > 0 && out->selected_count == 0)
        return DECISION_INFEASIBLE;
    return out->proven ? DECISION_OPTIMAL : DECISION_FEASIBLE;
}

static void warn_unused(struct selecting *s)
{
    unused_warn(s->p, &(struct unused_in){
                          .policy = policy_find(placement_policies, "auto"),
                          .list = "jobs",
                          .amounts = true,
                          .weights = true,
                          .priorities = true,
                          .starts = true,
                          .no_chains = true,
                      });
}

enum error_code placement_select(const struct placement_in *in, bool is_pool,
                                 struct selection_out *out, struct arena *a,
                                 struct error *err)
{
    struct selecting s = {.in = in, .is_pool = is_pool, .a = a};
    struct selection_out x = {.bound = 0};
    struct now_in start = {0};
    bool wide = false;

    s.p = NEW(a, struct placement_problem, 1);
    TRY(prepare(&s, err));
    for (size_t i = 0; i < in->job_count; i++)
        wide = wide || is_wide(&in->jobs[i]);
    if (wide)
        expand(&s);
    else
        number_rows(&s);
    start.w = s.w;
    start.counts = s.counts;
    world_start_all(&start, &s.now, a);
    if (wide)
        collect_expanded(&s);
    else
        collect_starts(&s);
    x.selected = s.selected;
    x.selected_count = s.selected_count;
    say_values(&s, &x);
    explain(&s, &x);
    x.status = status_of(&s, &x);
    warn_unused(&s);
    x.warnings = s.p->warnings;
    x.warning_count = s.p->warning_count;
    *out = x;
    return OK;
}
