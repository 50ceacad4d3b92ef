/* world/list.c - list policies: jobs in order, each to its place. */
#include "algorithms/world/list_parts.h"

#include <stdlib.h>

size_t list_next_single(struct board *b, struct ready *r, bool *placed)
{
    size_t job;

    while (!board_tick(b) && (job = ready_pop(r)) != WORLD_NONE) {
        if (!ready_is_unit(r, job))
            return job;
        ready_place_unit(r, job);
        *placed = true;
    }
    return WORLD_NONE;
}

/* Where it can start first. */
static struct board_spot earliest_start(struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    double release_s = board_release_s(b, job);
    struct board_spot best = board_nowhere();

    for (size_t c = 0; c < j->choice_count && release_s < HUGE_VAL; c++)
        for (size_t i = 0; i < w->resource_count && !board_tick(b); i++) {
            struct board_spot s;

            if (!board_may_go(b, job, c, i) || board_seen_before(j, c, i))
                continue;
            s = board_fit_there(b, job, c, i, release_s, best.start_s);
            if (s.start_s < best.start_s ||
                (s.start_s < HUGE_VAL && best.positions && s.start_s <= best.start_s &&
                 w->resources[i].index < w->resources[best.positions[0]].index))
                best = s;
        }
    return best;
}

/* Where it runs shortest, of those that it can have at all. */
static struct board_spot shortest_run(struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    double release_s = board_release_s(b, job);
    struct board_spot best = board_nowhere();

    best.run_s = HUGE_VAL;
    for (size_t c = 0; c < j->choice_count && release_s < HUGE_VAL; c++)
        for (size_t i = 0; i < w->resource_count && !board_tick(b); i++) {
            double run_s = world_run_s(w, j, i);
            struct board_spot s;

            if (run_s > best.run_s ||
                (run_s >= best.run_s && best.positions &&
                 w->resources[i].index > w->resources[best.positions[0]].index) ||
                !board_may_go(b, job, c, i) || board_seen_before(j, c, i))
                continue;
            s = board_fit_there(b, job, c, i, release_s, HUGE_VAL);
            if (s.start_s < HUGE_VAL)
                best = s;
        }
    return best;
}

struct candidate {
    double run_s;
    size_t index, position, choice;
};

static int by_run(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->run_s != y->run_s)
        return x->run_s < y->run_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* All resources that can run the job, by run time. Positions go by falling speed, so that
 * there is mostly nothing to sort. */
static size_t list_candidates(struct board *b, size_t job, struct candidate *list)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    size_t count = 0;
    bool sorted = true;

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < w->resource_count && !board_tick(b); i++) {
            if (!board_may_go(b, job, c, i) || board_seen_before(j, c, i))
                continue;
            list[count] =
                (struct candidate){world_run_s(w, j, i), w->resources[i].index, i, c};
            sorted = sorted && (count == 0 || by_run(&list[count - 1], &list[count]) < 0);
            count++;
        }
    if (!sorted)
        qsort(list, count, sizeof(*list), by_run);
    return count;
}

/* Where it completes first of the `ratio` of the resources that run it shortest; of all,
 * where these are taken for ever. */
static struct board_spot best_of_shortest(struct board *b, size_t job, double ratio,
                                          struct candidate *list)
{
    double release_s = board_release_s(b, job);
    struct board_spot best = board_nowhere();
    size_t count, looked;

    if (release_s == HUGE_VAL)
        return best;
    count = list_candidates(b, job, list);
    looked = (size_t)ceil((double)count * ratio - 1e-9);
    looked = looked ? looked : 1;
    for (size_t i = 0; i < count; i++) {
        struct board_spot s;

        if (i >= looked && best.done_s < HUGE_VAL)
            break;
        s = board_fit_there(b, job, list[i].choice, list[i].position, release_s,
                            board_latest_s(best.done_s, list[i].run_s));
        if (board_is_better(b, &s, &best))
            best = s;
        if (board_tick(b))
            break;
    }
    return best;
}

static struct board_spot place_of(struct board *b, enum world_rule rule, size_t job,
                                  double kpb_ratio, struct candidate *list)
{
    const struct world_job *j = &b->w->jobs[job];

    if (j->nodes > 1 || rule == WORLD_MCT)
        return board_best(b, job);
    if (!board_shared_is_enough(b, job))
        return board_nowhere();
    if (rule == WORLD_OLB)
        return earliest_start(b, job);
    return rule == WORLD_MET ? shortest_run(b, job)
                             : best_of_shortest(b, job, kpb_ratio, list);
}

static void list_in_order(struct board *b, enum world_rule rule, const size_t *order,
                          double kpb_ratio, struct arena *scratch)
{
    struct ready *r = ready_create(b, order, false, scratch);
    struct candidate *list =
        rule == WORLD_KPB
            ? NEW(scratch, struct candidate, b->w->resource_count * board_most_ways(b->w))
            : NULL;

    for (size_t job = ready_pop(r); job != WORLD_NONE; job = ready_pop(r)) {
        if (ready_is_unit(r, job)) {
            ready_place_unit(r, job);
        } else {
            struct board_spot spot = place_of(b, rule, job, kpb_ratio, list);

            if (board_tick(b)) /* the look was not finished */
                break;
            ready_place(r, job, &spot);
        }
        if (board_tick(b))
            break;
    }
}

void world_list(struct board *b, enum world_rule rule, const size_t *order,
                double kpb_ratio)
{
    struct arena *scratch = arena_create_beside(b->a, arena_cap_bytes(b->a));

    if (rule == WORLD_DUPLEX)
        list_duplex(b, order, scratch);
    else if (rule == WORLD_SUFFERAGE_PASS)
        list_passes(b, order, scratch);
    else if (rule >= WORLD_MIN_MIN)
        list_batch(b, rule, order, scratch);
    else
        list_in_order(b, rule, order, kpb_ratio, scratch);
    for (size_t i = 0; i < b->w->job_count; i++)
        b->plan.cut = b->plan.cut || b->state[i] == BOARD_OPEN;
    arena_close(scratch);
}
