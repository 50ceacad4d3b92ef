/* world/board_nodes.c - jobs of several nodes on a board: who may be asked, and what of.
 *
 * many_nodes.c does the work; here is said which nodes are candidates, what they have
 * free, and what a group counts by value of its key.
 *
 * Source: world-model.md 4.2.
 */
#include "algorithms/world/board_groups.h"
#include "algorithms/world/many_nodes.h"

#include <string.h>

/* What was told of a job last. */
struct told {
    size_t *positions; /* room for its nodes; NULL: it was not asked yet */
    double held_s;     /* nodes_answer.held_s */
    size_t choice;
    bool is_least; /* while that is free there, the job completes no earlier elsewhere */
};

/* Kept from question to question. */
struct board_nodes {
    struct nodes_room *room;
    struct nodes_candidate *candidates;
    struct nodes_shared *shared;
    size_t *group_room; /* by value */
    const struct profile **places;
    size_t value_count;
    struct profile *closed; /* by position, no steps: never; NULL: not asked yet */
    size_t *found;          /* positions in one choice */
    struct told *told;      /* by job */
};

static struct board_nodes *nodes_of(struct board *b)
{
    const struct world *w = b->w;
    struct board_nodes *n = b->nodes;
    size_t shared_count = w->amount_count - w->node_amount_count + CHOICE_LIMITS_MAX;

    if (n)
        return n;
    b->nodes = n = NEW(b->a, struct board_nodes, 1);
    n->value_count =
        w->resource_count > w->site_count ? w->resource_count : w->site_count;
    n->room = nodes_room_create(w->resource_count, shared_count, n->value_count, b->a);
    n->candidates = NEW(b->a, struct nodes_candidate, w->resource_count);
    n->shared = NEW(b->a, struct nodes_shared, shared_count);
    n->group_room = NEW(b->a, size_t, n->value_count);
    n->places = NEW(b->a, const struct profile *, n->value_count);
    n->found = NEW(b->a, size_t, w->resource_count);
    n->told = NEW(b->a, struct told, w->job_count);
    return n;
}

/* Whole reservations as profiles: 1 where there is none. */
static void make_closed(struct board *b, struct board_nodes *n)
{
    n->closed = NEW(b->a, struct profile, b->w->resource_count);
    for (size_t i = 0; i < b->w->resource_count; i++) {
        const struct board_closed *c = &b->closed[i];

        if (!c->count)
            continue;
        profile_reset(&n->closed[i], &(int64_t){1}, 1, b->a);
        for (size_t k = 0; k < c->count; k++)
            profile_take_amounts(&n->closed[i], c->starts_s[k], c->ends_s[k],
                                 &(int64_t){1}, b->a);
        budget_step(b->w->budget, c->count * c->count);
    }
}

/* What the group counts at the position; its value. */
static size_t count_value(struct board *b, struct nodes_question *q, size_t job,
                          size_t position)
{
    struct board_nodes *n = b->nodes;
    const struct world_group *spread =
        b->groups ? group_of(b->w, job, GROUP_SPREAD) : NULL;
    const struct world_group *exclude =
        b->groups ? group_of(b->w, job, GROUP_EXCLUDE) : NULL;
    size_t value = 0;

    if (spread || exclude) {
        value = group_value(b->w, spread ? spread : exclude, position);
        q->value_count = n->value_count;
    }
    if (exclude) {
        n->places[value] = board_group_profile(b, job, position);
        q->room = NULL;
        q->places = n->places;
    } else {
        n->group_room[value] = spread ? board_group_room(b, job, position) : SIZE_MAX;
    }
    return value;
}

static void add_candidate(struct board *b, struct nodes_question *q, size_t job,
                          size_t choice, const struct board_reach *reach, size_t position)
{
    const struct world *w = b->w;
    struct board_nodes *n = b->nodes;
    double run_s = world_run_s(w, q->job, position);
    bool closed = n->closed && n->closed[position].count > 0;

    if (!board_may_use(b, job, choice, position) ||
        (!reach->positions && b->groups && !board_group_allows(b, job, position)))
        return;
    n->candidates[q->candidate_count++] = (struct nodes_candidate){
        .position = position,
        .index = w->resources[position].index,
        .value = count_value(b, q, job, position),
        .run_s = run_s,
        .profile = &b->now[position],
        .closed = closed ? &n->closed[position] : NULL,
    };
}

/* All that is to be known of one choice; false: it has not enough nodes. */
static bool make_question(struct board *b, size_t job, size_t choice,
                          const struct board_reach *reach, struct nodes_question *q)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct board_nodes *n = nodes_of(b);
    size_t count = reach->positions ? reach->position_count : w->resource_count;

    *q = (struct nodes_question){
        .w = w,
        .job = j,
        .candidates = n->candidates,
        .wanted = j->nodes,
        .at_least = board_need(b, job).at_least,
        .shared = n->shared,
        .room = n->group_room,
        .value_count = 1,
        .from_s = fmax(reach->from_s, board_release_s(b, job)),
        .latest_s = reach->latest_s,
    };
    if (b->closed && !n->closed)
        make_closed(b, n);
    for (size_t i = 0; i < count && q->from_s < HUGE_VAL; i++)
        add_candidate(b, q, job, choice, reach,
                      reach->positions ? reach->positions[i] : i);
    budget_step(w->budget, 4 * count);
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0)
            n->shared[q->shared_count++] = (struct nodes_shared){
                &b->shared[k - w->node_amount_count].now, j->needs[k]};
    for (size_t k = 0; b->limits && k < j->choices[choice].limit_count; k++) {
        size_t limit = j->choices[choice].limits[k];

        n->shared[q->shared_count++] = (struct nodes_shared){
            &b->limits[limit].now, world_limit_need(&w->limits[limit], j)};
    }
    return q->candidate_count >= q->wanted && q->from_s <= q->latest_s;
}

static bool is_earlier(const struct nodes_answer *a, const struct nodes_answer *than)
{
    if (a->done_s != than->done_s)
        return a->done_s < than->done_s;
    return a->start_s != than->start_s ? a->start_s < than->start_s
                                       : a->run_s < than->run_s;
}

struct board_spot board_fit_nodes(struct board *b, size_t job,
                                  const struct board_reach *reach)
{
    const struct world_job *j = &b->w->jobs[job];
    struct board_nodes *n = nodes_of(b);
    struct told *told = &n->told[job];
    struct nodes_answer best = {
        .start_s = HUGE_VAL, .run_s = HUGE_VAL, .done_s = HUGE_VAL};
    double others_s = HUGE_VAL;
    size_t choice = 0;

    for (size_t c = 0; c < j->choice_count; c++) {
        struct nodes_answer found;
        struct nodes_question q;

        if (!make_question(b, job, c, reach, &q))
            continue;
        if (!told->positions)
            told->positions = NEW(b->a, size_t, j->nodes);
        nodes_best(n->room, &q, n->found, &found);
        others_s = fmin(others_s, found.others_s);
        if (!is_earlier(&found, &best)) {
            others_s = fmin(others_s, found.done_s);
            continue;
        }
        others_s = fmin(others_s, best.done_s);
        best = found;
        choice = c;
        memcpy(told->positions, n->found, j->nodes * sizeof(*told->positions));
    }
    told->held_s = best.held_s;
    told->choice = choice;
    told->is_least = others_s >= best.done_s;
    if (best.start_s == HUGE_VAL)
        return board_nowhere();
    return (struct board_spot){
        .positions = told->positions,
        .position_count = j->nodes,
        .choice = choice,
        .start_s = best.start_s,
        .run_s = best.run_s,
        .end_s = best.start_s + world_held_s(b->w, j, best.run_s),
        .done_s = best.done_s,
    };
}

double board_first_nodes(struct board *b, size_t job, const struct board_reach *reach)
{
    double first_s = HUGE_VAL;

    for (size_t c = 0; c < b->w->jobs[job].choice_count; c++) {
        struct nodes_question q;

        if (make_question(b, job, c, reach, &q))
            first_s = fmin(first_s, nodes_first_start(b->nodes->room, &q));
    }
    return first_s;
}

struct board_spot board_best_nodes(struct board *b, size_t job)
{
    const struct board_reach anywhere = {.latest_s = HUGE_VAL};

    return board_fit_nodes(b, job, &anywhere);
}

static bool holds_last(const struct profile *p, const int64_t *at_least)
{
    const int64_t *free = p->free + (p->count - 1) * p->amount_count;

    for (size_t k = 0; k < p->amount_count; k++)
        if (free[k] < at_least[k])
            return false;
    return true;
}

static bool limits_last(const struct board *b, const struct world_job *j,
                        const struct world_choice *c)
{
    for (size_t k = 0; k < c->limit_count; k++) {
        int64_t need = world_limit_need(&b->w->limits[c->limits[k]], j);

        if (!holds_last(&b->limits[c->limits[k]].empty, &need))
            return false;
    }
    return true;
}

/* Whatever is planned ends, so that the last steps stay what they are. */
bool board_has_last_resort(struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    const int64_t *at_least = board_need(b, job).at_least;
    size_t most = 0;

    if (j->group != WORLD_NONE || j->barred != WORLD_WAIT_NONE)
        return false;
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0 &&
            !holds_last(&b->shared[k - w->node_amount_count].empty, &j->needs[k]))
            return false;
    for (size_t c = 0; c < j->choice_count && most < j->nodes; c++) {
        most = 0;
        if (b->limits && !limits_last(b, j, &j->choices[c]))
            continue;
        for (size_t i = 0; i < w->resource_count && most < j->nodes; i++)
            most += board_may_use(b, job, c, i) && holds_last(&b->empty[i], at_least);
        budget_step(w->budget, 4 * w->resource_count);
    }
    return most >= j->nodes;
}

bool board_keeps_nodes(struct board *b, size_t job, const size_t *positions,
                       double start_s)
{
    const struct world_job *j = &b->w->jobs[job];
    const struct told *told = &b->nodes->told[job];
    const int64_t *at_least = board_need(b, job).at_least;

    if (!told->is_least || j->group != WORLD_NONE ||
        !(start_s + told->held_s > start_s) ||
        board_fit_shared(b, job, told->choice, told->held_s, start_s, start_s) > start_s)
        return false;
    for (size_t i = 0; i < j->nodes; i++)
        if (profile_fit_amounts(&b->now[positions[i]], at_least, told->held_s, start_s,
                                start_s, &b->looks) > start_s)
            return false;
    return true;
}
