/* world/search_nodes.c - jobs leave the resource that ends last.
 *
 * Each resource has a list of its jobs, which are placed in this order, each where it
 * fits first. Nothing but its list decides when a resource ends. With z the one that
 * ends last:
 *
 *     move   a job of z goes to the better of two resources at random that it may go
 *            to, or changes places with one there; kept if the other ends before z did
 *            and z does not end later
 *     swap   after TRIES_MAX moves in vain: two jobs of z change places in its list
 *     build  after both in vain STUCK_MAX times: all jobs of z and of some others that
 *            they may go to, by falling work with noise, each where it completes first;
 *            kept if none ends after z did
 */
#include "algorithms/world/search_parts.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES_MAX = 400, SWAPS_MAX = 30, STUCK_MAX = 4, OTHERS = 5, DRAWS_MAX = 8 };

struct node_list {
    size_t *jobs, count, room;
    double end_s;
};

struct weighed {
    double weight; /* largest first */
    size_t job;
};

struct node_search {
    struct world_searching *x;
    struct node_list *lists; /* by position */
    struct node_list trial[OTHERS + 1];
    struct profile free[OTHERS + 1];
    struct weighed *pool;
    double *share; /* by job: of the largest capacities of all, the largest */
};

/* Only amounts of the resource itself decide when a job starts. */
static bool is_alone(const struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];

    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0)
            return false;
    return j->nodes == 1 && j->after_count == 0 && j->group == WORLD_NONE &&
           j->stage_out_s <= 0;
}

static void find_shares(struct node_search *n)
{
    const struct board *b = n->x->b;
    const struct world *w = b->w;

    for (size_t k = 0; k < b->row_count; k++) {
        double largest = 0;

        for (size_t i = 0; i < w->resource_count; i++)
            if (w->resources[i].capacity[b->rows[k]] < AMOUNT_UNLIMITED)
                largest = fmax(largest, (double)w->resources[i].capacity[b->rows[k]]);
        for (size_t i = 0; i < w->job_count && largest > 0; i++)
            n->share[i] =
                fmax(n->share[i], (double)w->jobs[i].needs[b->rows[k]] / largest);
        budget_step(w->budget, w->resource_count + w->job_count);
    }
}

struct node_search *node_search_create(struct world_searching *x)
{
    const struct board *b = x->b;
    const struct world *w = b->w;
    struct node_search *n;

    if (b->files || w->resource_count < 2 || x->s->goal->level[0] != OBJECTIVE_MAKESPAN)
        return NULL;
    for (size_t i = 0; i < w->job_count; i++) {
        budget_step(w->budget, w->amount_count);
        if (b->state[i] == BOARD_PLACED && !is_alone(b, i))
            return NULL;
    }
    n = NEW(x->a, struct node_search, 1);
    *n = (struct node_search){.x = x,
                              .lists = NEW(x->a, struct node_list, w->resource_count),
                              .pool = NEW(x->a, struct weighed, w->job_count),
                              .share = NEW(x->a, double, w->job_count)};
    find_shares(n);
    return n;
}

static void make_room(struct node_search *n, struct node_list *l, size_t count)
{
    if (count <= l->room)
        return;
    l->jobs = GROW(n->x->a, l->jobs, size_t, l->count, 2 * count);
    l->room = 2 * count;
}

static void list_copy(struct node_search *n, struct node_list *l,
                      const struct node_list *from)
{
    l->count = 0;
    make_room(n, l, from->count + 1);
    if (from->count > 0)
        memcpy(l->jobs, from->jobs, from->count * sizeof(*l->jobs));
    l->count = from->count;
    l->end_s = from->end_s;
}

static void list_insert(struct node_search *n, struct node_list *l, size_t at, size_t job)
{
    make_room(n, l, l->count + 1);
    memmove(l->jobs + at + 1, l->jobs + at, (l->count - at) * sizeof(*l->jobs));
    l->jobs[at] = job;
    l->count++;
}

static void list_remove(struct node_list *l, size_t at)
{
    l->count--;
    memmove(l->jobs + at, l->jobs + at + 1, (l->count - at) * sizeof(*l->jobs));
}

/* The job's end on the resource with so much free; take: it is placed. */
static double place(struct node_search *n, struct profile *free, size_t position,
                    size_t job, bool take)
{
    struct board *b = n->x->b;
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct profile_need need = board_need(b, job);
    double run_s = world_run_s(w, j, position), held_s = world_held_s(w, j, run_s);
    double start_s =
        profile_fit_amounts(free, need.at_least, held_s,
                            fmax(j->release_s, j->earliest_s), HUGE_VAL, &b->looks);

    if (start_s < HUGE_VAL && !(start_s + held_s > start_s))
        start_s = board_past_closed(b, position, start_s);
    if (take && start_s < HUGE_VAL)
        profile_take_amounts(free, start_s, start_s + held_s, need.taken, n->x->a);
    return start_s + run_s;
}

/* When the list ends; HUGE_VAL as soon as it is later than latest_s. */
static double decode(struct node_search *n, struct node_list *l, size_t position,
                     double latest_s)
{
    struct board *b = n->x->b;

    profile_copy(&n->free[0], &b->empty[position], n->x->a);
    l->end_s = 0;
    for (size_t i = 0; i < l->count; i++) {
        l->end_s = fmax(l->end_s, place(n, &n->free[0], position, l->jobs[i], true));
        n->x->s->steps++;
        board_tick(b); /* who calls asks whether it is over */
        if (l->end_s > latest_s)
            return l->end_s = HUGE_VAL;
    }
    return l->end_s;
}

/* The choice of the job that has the position; WORLD_NONE: it may not go there. */
static size_t choice_of(const struct node_search *n, size_t job, size_t position)
{
    const struct board *b = n->x->b;

    for (size_t c = 0; c < b->w->jobs[job].choice_count; c++)
        if (board_may_use(b, job, c, position))
            return c;
    return WORLD_NONE;
}

/* Lists from the best plan. */
static void take_best(struct node_search *n)
{
    const struct world_searching *x = n->x;
    const struct world_copy *best = &x->best;

    for (size_t i = 0; i < x->b->w->resource_count; i++)
        n->lists[i].count = 0;
    for (size_t i = 0; i < best->count; i++) {
        size_t job = best->sequence[i], position = best->placed[job].positions[0];

        list_insert(n, &n->lists[position], n->lists[position].count, job);
        budget_step(x->b->w->budget, 4);
    }
    for (size_t i = 0; i < x->b->w->resource_count; i++)
        decode(n, &n->lists[i], i, HUGE_VAL);
}

/* The lists become the board's plan. */
static void give_best(struct node_search *n)
{
    struct board *b = n->x->b;
    struct world_worth worth;

    board_reset(b);
    world_copy_refuse(&n->x->best, b);
    for (size_t i = 0; i < b->w->resource_count; i++)
        for (size_t k = 0; k < n->lists[i].count; k++) {
            size_t job = n->lists[i].jobs[k];
            struct board_spot spot = board_fit_there(b, job, choice_of(n, job, i), i,
                                                     board_release_s(b, job), HUGE_VAL);

            board_take(b, job, &spot);
        }
    world_search_worth(n->x, &worth);
    world_search_keep(n->x, &worth);
}

static size_t last_of(const struct node_search *n)
{
    size_t last = 0;

    for (size_t i = 1; i < n->x->b->w->resource_count; i++)
        if (n->lists[i].end_s > n->lists[last].end_s)
            last = i;
    budget_step(n->x->b->w->budget, n->x->b->w->resource_count);
    return last;
}

/* Another that the job may go to, found within DRAWS_MAX; WORLD_NONE. */
static size_t draw_one(struct node_search *n, size_t z, size_t job)
{
    for (int i = 0; i < DRAWS_MAX; i++) {
        size_t y = rng_index(&n->x->rng, n->x->b->w->resource_count - 1);

        y += y >= z;
        if (choice_of(n, job, y) != WORLD_NONE)
            return y;
    }
    return WORLD_NONE;
}

/* The better of two others. */
static size_t draw_other(struct node_search *n, size_t z, size_t job)
{
    size_t a = draw_one(n, z, job), c = draw_one(n, z, job);

    if (a == WORLD_NONE || c == WORLD_NONE)
        return a == WORLD_NONE ? c : a;
    return n->lists[c].end_s < n->lists[a].end_s ? c : a;
}

/* One job moves, or two change places. Also kept if z ends as before; true: earlier. */
static bool try_move(struct node_search *n, size_t z)
{
    double end_s = n->lists[z].end_s;
    struct rng *r = &n->x->rng;
    struct node_list *from = &n->lists[z], *mine = &n->trial[0], *theirs = &n->trial[1];
    size_t at = rng_index(r, from->count), job = from->jobs[at], back = WORLD_NONE;
    size_t y = draw_other(n, z, job), there;
    bool swaps = rng_uniform(r) < 0.5;

    n->x->s->steps++;
    if (y == WORLD_NONE)
        return false;
    there = rng_index(r, n->lists[y].count + 1);
    if (swaps) {
        if (there == n->lists[y].count)
            return false;
        back = n->lists[y].jobs[there];
        if (choice_of(n, back, z) == WORLD_NONE)
            return false;
    }
    list_copy(n, mine, from);
    list_copy(n, theirs, &n->lists[y]);
    if (swaps) {
        mine->jobs[at] = back;
        theirs->jobs[there] = job;
    } else {
        list_remove(mine, at);
        list_insert(n, theirs, there, job);
    }
    if (decode(n, theirs, y, from->end_s) >= from->end_s ||
        decode(n, mine, z, from->end_s) > from->end_s)
        return false;
    list_copy(n, from, mine);
    list_copy(n, &n->lists[y], theirs);
    return from->end_s < end_s;
}

/* Two jobs of the list change places; kept if it ends earlier. */
static bool try_swap(struct node_search *n, size_t z)
{
    struct node_list *from = &n->lists[z], *mine = &n->trial[0];
    size_t i = rng_index(&n->x->rng, from->count), k = rng_index(&n->x->rng, from->count);

    n->x->s->steps++;
    if (i == k)
        return false;
    list_copy(n, mine, from);
    mine->jobs[i] = from->jobs[k];
    mine->jobs[k] = from->jobs[i];
    if (decode(n, mine, z, from->end_s) >= from->end_s)
        return false;
    list_copy(n, from, mine);
    return true;
}

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* z and some others that its jobs may go to, each once; how many. */
static size_t draw_some(struct node_search *n, size_t z, size_t *some)
{
    const struct node_list *from = &n->lists[z];
    size_t count = 1;

    some[0] = z;
    for (int i = 0; i < OTHERS; i++) {
        size_t job = from->jobs[rng_index(&n->x->rng, from->count)];
        size_t drawn = draw_one(n, z, job);
        bool is_new = drawn != WORLD_NONE;

        for (size_t k = 0; k < count; k++)
            is_new = is_new && some[k] != drawn;
        if (is_new)
            some[count++] = drawn;
    }
    return count;
}

/* All jobs of these resources, by falling work with noise. */
static size_t fill_pool(struct node_search *n, const size_t *some, size_t count)
{
    const struct world *w = n->x->b->w;
    struct rng *r = &n->x->rng;
    bool by_share = rng_uniform(r) < 0.5;
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < n->lists[some[i]].count; k++) {
            size_t job = n->lists[some[i]].jobs[k];
            double work = world_run_s(w, &w->jobs[job], some[i]);

            if (w->resources[some[i]].speed > 0 && !w->jobs[job].etc_s)
                work *= w->resources[some[i]].speed;
            work *= 1 + 0.6 * rng_uniform(r);
            if (by_share)
                work *= sqrt(n->share[job]);
            n->pool[total++] = (struct weighed){work, job};
            budget_step(w->budget, 8);
        }
    qsort(n->pool, total, sizeof(*n->pool), by_weight);
    return total;
}

/* The job to where it completes first of these; false: later than latest_s. */
static bool insert_best(struct node_search *n, size_t job, const size_t *some,
                        size_t count, double latest_s)
{
    size_t best = count;
    double best_s = HUGE_VAL;

    for (size_t i = 0; i < count; i++) {
        double done_s;

        board_tick(n->x->b);
        if (choice_of(n, job, some[i]) == WORLD_NONE)
            continue;
        done_s = place(n, &n->free[i], some[i], job, false);
        if (done_s < best_s) {
            best = i;
            best_s = done_s;
        }
    }
    n->x->s->steps += count;
    if (best == count || best_s > latest_s)
        return false;
    place(n, &n->free[best], some[best], job, true);
    list_insert(n, &n->trial[best], n->trial[best].count, job);
    n->trial[best].end_s = fmax(n->trial[best].end_s, best_s);
    return true;
}

/* Kept if none ends after z did. */
static void build_anew(struct node_search *n, size_t z)
{
    struct board *b = n->x->b;
    size_t some[OTHERS + 1], count = draw_some(n, z, some);
    size_t total = fill_pool(n, some, count);
    double latest_s = n->lists[z].end_s;

    for (size_t i = 0; i < count; i++) {
        n->trial[i].count = 0;
        n->trial[i].end_s = 0;
        profile_copy(&n->free[i], &b->empty[some[i]], n->x->a);
        budget_step(b->w->budget, n->free[i].count);
    }
    for (size_t i = 0; i < total; i++)
        if (!insert_best(n, n->pool[i].job, some, count, latest_s))
            return;
    for (size_t i = 0; i < count; i++)
        list_copy(n, &n->lists[some[i]], &n->trial[i]);
}

void node_search_run(struct node_search *n)
{
    size_t stuck = 0;
    bool is_over = false;

    take_best(n);
    while (!is_over && !world_search_is_over(n->x, 0)) {
        size_t z = last_of(n);
        bool found = false;

        if (n->lists[z].count == 0)
            break;
        for (int i = 0; i < TRIES_MAX && !found && !is_over; i++) {
            found = try_move(n, z);
            is_over = world_search_is_over(n->x, 0);
        }
        for (int i = 0; i < SWAPS_MAX && !found && !is_over; i++) {
            found = try_swap(n, z);
            is_over = world_search_is_over(n->x, 0);
        }
        stuck = found ? 0 : stuck + 1;
        if (stuck == STUCK_MAX && !is_over) {
            build_anew(n, z);
            stuck = 0;
        }
    }
    give_best(n);
}
