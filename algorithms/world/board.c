/* world/board.c - where jobs go, and what is free then. */
#include "algorithms/world/buckets.h"

#include <stdlib.h>
#include <string.h>

const struct world *board_world(const struct board *b)
{
    return b->w;
}

struct board_spot board_nowhere(void)
{
    return (struct board_spot){.start_s = HUGE_VAL, .done_s = HUGE_VAL};
}

bool board_tick(struct board *b)
{
    size_t looks = b->looks;

    b->looks = 0;
    return budget_step(b->w->budget, 2 * looks + 1);
}

struct profile_need board_need(struct board *b, size_t job)
{
    if (b->need_job != job) {
        const int64_t *needs = b->w->jobs[job].needs;

        for (size_t k = 0; k < b->row_count; k++) {
            b->taken[k] = needs[b->rows[k]];
            b->at_least[k] = b->taken[k] > 0 ? b->taken[k] : INT64_MIN;
        }
        b->need_job = job;
    }
    return (struct profile_need){b->at_least, b->taken};
}

double board_release_s(const struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];
    double release_s = fmax(j->release_s, j->earliest_s);

    for (size_t i = 0; i < j->after_count; i++) {
        const struct world_placed *p = &b->plan.placed[j->after[i].job];

        if (!p->positions)
            return HUGE_VAL;
        release_s =
            fmax(release_s, j->after[i].kind == AFTER_START ? p->start_s : p->done_s);
    }
    return release_s;
}

bool board_is_due(const struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];

    if (b->groups && board_is_unit(b, job))
        return board_unit_is_due(b, job);
    for (size_t i = 0; i < j->after_count; i++)
        if (b->state[j->after[i].job] == BOARD_OPEN)
            return false;
    return true;
}

bool board_may_use(const struct board *b, size_t job, size_t choice, size_t position)
{
    const struct world_job *j = &b->w->jobs[job];

    return world_mask_has(j->choices[choice].mask, position) &&
           world_run_s(b->w, j, position) < HUGE_VAL &&
           world_large_enough(b->w, j, position);
}

double board_past_closed(const struct board *b, size_t position, double from_s)
{
    const struct board_closed *c = b->closed ? &b->closed[position] : NULL;
    size_t low = 0, high = c ? c->count : 0;

    while (low < high) { /* the first that ends after from_s */
        size_t middle = low + (high - low) / 2;

        if (c->ends_s[middle] > from_s)
            high = middle;
        else
            low = middle + 1;
    }
    return c && low < c->count && c->starts_s[low] <= from_s ? c->ends_s[low] : from_s;
}

/* One after the other: the next round begins where the last of them let it. */
static double fit_limits(struct board *b, size_t job, size_t choice, double held_s,
                         double from_s, double latest_s)
{
    const struct world_job *j = &b->w->jobs[job];
    const struct world_choice *c = &j->choices[choice];

    for (size_t k = 0; b->limits && k < c->limit_count && from_s < HUGE_VAL; k++) {
        int64_t need = world_limit_need(&b->w->limits[c->limits[k]], j);

        from_s = profile_fit_amounts(&b->limits[c->limits[k]].now, &need, held_s, from_s,
                                     latest_s, &b->looks);
    }
    return from_s;
}

double board_fit_shared(struct board *b, size_t job, size_t choice, double held_s,
                        double from_s, double latest_s)
{
    const struct world *w = b->w;
    const int64_t *needs = w->jobs[job].needs;
    double start_s = from_s, before_s;

    do {
        before_s = start_s;
        for (size_t k = w->node_amount_count; k < w->amount_count; k++)
            if (needs[k] > 0 && start_s < HUGE_VAL)
                start_s =
                    profile_fit_amounts(&b->shared[k - w->node_amount_count].now,
                                        &needs[k], held_s, start_s, latest_s, &b->looks);
        if (b->limits && start_s < HUGE_VAL)
            start_s = fit_limits(b, job, choice, held_s, start_s, latest_s);
    } while (start_s > before_s && start_s < HUGE_VAL);
    return start_s;
}

/* Shared amounts are on no resource, so that what is large enough of them is asked once
 * for all. */
bool board_shared_is_enough(const struct board *b, size_t job)
{
    const struct world *w = b->w;

    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (w->jobs[job].needs[k] > w->shared_capacity[k])
            return false;
    return true;
}

/* Beside the resource's own amounts. */
static double fit_beside(struct board *b, size_t job, size_t choice, size_t position,
                         double held_s, double from_s, double latest_s)
{
    static const int64_t one = 1;
    double start_s = board_fit_shared(b, job, choice, held_s, from_s, latest_s);
    const struct profile *members =
        b->groups ? board_group_profile(b, job, position) : NULL;

    return members && start_s < HUGE_VAL
               ? profile_fit_amounts(members, &one, held_s, start_s, latest_s, &b->looks)
               : start_s;
}

double board_fit_held(struct board *b, size_t job, size_t choice, size_t position,
                      double held_s, double from_s, double latest_s)
{
    struct profile_need need = board_need(b, job);
    double start_s = from_s;

    if (!(from_s <= latest_s) || from_s == HUGE_VAL)
        return HUGE_VAL;
    while (start_s + held_s > start_s) { /* else it needs nothing */
        double here_s = profile_fit_amounts(&b->now[position], need.at_least, held_s,
                                            start_s, latest_s, &b->looks);

        if (here_s == HUGE_VAL)
            return HUGE_VAL;
        start_s = fit_beside(b, job, choice, position, held_s, here_s, latest_s);
        if (start_s == HUGE_VAL || start_s <= here_s)
            break;
    }
    if (start_s < HUGE_VAL && !(start_s + held_s > start_s))
        start_s = board_past_closed(b, position, start_s);
    return start_s <= latest_s ? start_s : HUGE_VAL;
}

/* Amounts are held while files come; later starts may find them nearer, or come later
 * themselves: again until the hold is long enough. Each round starts at a later step.
 * What lasts no time waits for its files without holding anything. */
static double fit_staged(struct board *b, size_t job, size_t choice, size_t position,
                         double held_s, double from_s, double latest_s,
                         double *stage_in_s)
{
    const struct board_files *f = b->files;
    double start_s = from_s, needed_s;

    *stage_in_s = 0;
    if (!f)
        return board_fit_held(b, job, choice, position, held_s, from_s, latest_s);
    if (!(from_s + held_s > from_s)) {
        start_s = fmax(from_s, f->staged_s(f->context, job, position, from_s));
        return board_fit_held(b, job, choice, position, 0, start_s, latest_s);
    }
    for (;;) {
        start_s = board_fit_held(b, job, choice, position, *stage_in_s + held_s, start_s,
                                 latest_s);
        if (start_s == HUGE_VAL)
            return HUGE_VAL;
        needed_s = fmax(0, f->staged_s(f->context, job, position, start_s) - start_s);
        if (!(needed_s < HUGE_VAL)) /* one can never be there */
            return HUGE_VAL;
        if (needed_s <= *stage_in_s)
            break;
        *stage_in_s = needed_s;
    }
    *stage_in_s = needed_s;
    return start_s;
}

bool board_may_go(const struct board *b, size_t job, size_t choice, size_t position)
{
    return board_may_use(b, job, choice, position) &&
           (!b->groups || board_group_allows(b, job, position));
}

struct board_spot board_fit_there(struct board *b, size_t job, size_t choice,
                                  size_t position, double from_s, double latest_s)
{
    const struct world *w = b->w;
    double run_s = world_run_s(w, &w->jobs[job], position);
    double held_s = world_held_s(w, &w->jobs[job], run_s), stage_in_s;
    double start_s =
        fit_staged(b, job, choice, position, held_s, from_s, latest_s, &stage_in_s);

    if (start_s == HUGE_VAL)
        return board_nowhere();
    return (struct board_spot){.positions = &b->identity[position],
                               .position_count = 1,
                               .choice = choice,
                               .start_s = start_s,
                               .stage_in_s = stage_in_s,
                               .run_s = run_s,
                               .end_s = start_s + (stage_in_s + held_s),
                               .done_s = start_s + (stage_in_s + run_s)};
}

struct board_spot board_fit(struct board *b, size_t job, size_t choice, size_t position,
                            double from_s, double latest_s)
{
    double release_s = fmax(from_s, board_release_s(b, job));
    struct board_spot spot = board_nowhere();

    if (board_may_go(b, job, choice, position) && board_shared_is_enough(b, job))
        spot = board_fit_there(b, job, choice, position, release_s, latest_s);
    board_tick(b);
    return spot;
}

bool board_is_better(const struct board *b, const struct board_spot *spot,
                     const struct board_spot *than)
{
    const struct world_resource *r = b->w->resources;

    if (!spot->positions || spot->done_s > than->done_s)
        return false;
    return spot->done_s < than->done_s || !than->positions ||
           r[spot->positions[0]].index < r[than->positions[0]].index;
}

/* A start that is later cannot complete by done_s, whatever rounding does. */
double board_latest_s(double done_s, double run_s)
{
    return done_s == HUGE_VAL ? HUGE_VAL : done_s - run_s + 1e-15 * done_s;
}

struct board_spot board_best_of_all(struct board *b, size_t job, size_t choice)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    double release_s = board_release_s(b, job);
    struct board_spot best = board_nowhere();

    for (size_t i = 0; i < w->resource_count && release_s < HUGE_VAL; i++) {
        struct board_spot spot;

        if (release_s + world_run_s(w, j, i) > best.done_s ||
            (best.positions && release_s + world_run_s(w, j, i) >= best.done_s &&
             w->resources[i].index > w->resources[best.positions[0]].index) ||
            !board_may_go(b, job, choice, i))
            continue;
        spot = board_fit_there(b, job, choice, i, release_s,
                               board_latest_s(best.done_s, world_run_s(w, j, i)));
        if (board_is_better(b, &spot, &best))
            best = spot;
        if (board_tick(b))
            break;
    }
    return best;
}

struct board_spot board_best(struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];
    struct board_spot best = board_nowhere();

    if (j->barred != WORLD_WAIT_NONE || !board_shared_is_enough(b, job))
        return best;
    if (j->nodes > 1)
        return board_best_nodes(b, job);
    for (size_t c = 0; c < j->choice_count; c++) {
        struct board_spot spot =
            b->buckets ? buckets_best(b, job, c) : board_best_of_all(b, job, c);

        if (spot.done_s < best.done_s)
            best = spot;
    }
    return best;
}

/* The job's positions, where they stay while it is placed. */
static const size_t *keep_positions(struct board *b, size_t job,
                                    const struct board_spot *spot)
{
    size_t nodes = b->w->jobs[job].nodes;

    if (nodes == 1)
        return &b->identity[spot->positions[0]];
    if (!b->positions[job])
        b->positions[job] = NEW(b->a, size_t, nodes);
    memcpy(b->positions[job], spot->positions, nodes * sizeof(*spot->positions));
    return b->positions[job];
}

static void touch(struct board *b, size_t position)
{
    if (!b->is_touched[position])
        b->touched[b->touched_count++] = position;
    b->is_touched[position] = true;
}

/* Takes or gives what the job has of the limits of its choice. */
static void hold_limits(struct board *b, size_t job, const struct world_placed *p,
                        bool taken)
{
    const struct world_job *j = &b->w->jobs[job];
    const struct world_choice *c = &j->choices[p->choice];

    for (size_t k = 0; k < c->limit_count; k++) {
        int64_t need = world_limit_need(&b->w->limits[c->limits[k]], j);
        struct profile *free = &b->limits[c->limits[k]].now;

        if (taken)
            profile_take_amounts(free, p->start_s, p->end_s, &need, b->a);
        else
            profile_give_amounts(free, p->start_s, p->end_s, &need, b->a);
        b->looks += free->count - profile_at(free, p->start_s);
    }
}

/* Takes or gives all that the job holds. */
static void hold(struct board *b, size_t job, const struct world_placed *p, bool taken)
{
    const struct world *w = b->w;
    struct profile_need need = board_need(b, job);
    const int64_t *needs = w->jobs[job].needs;

    for (size_t i = 0; i < p->position_count; i++) {
        struct profile *free = &b->now[p->positions[i]];

        touch(b, p->positions[i]);
        if (taken)
            profile_take_amounts(free, p->start_s, p->end_s, need.taken, b->a);
        else
            profile_give_amounts(free, p->start_s, p->end_s, need.taken, b->a);
        b->looks += free->count - profile_at(free, p->start_s);
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++) {
        struct profile *free = &b->shared[k - w->node_amount_count].now;

        if (needs[k] > 0 && taken)
            profile_take_amounts(free, p->start_s, p->end_s, &needs[k], b->a);
        else if (needs[k] > 0)
            profile_give_amounts(free, p->start_s, p->end_s, &needs[k], b->a);
        b->looks += needs[k] > 0 ? free->count - profile_at(free, p->start_s) : 0;
    }
    if (b->limits)
        hold_limits(b, job, p, taken);
}

/* Others are told: files move with the job, and groups count it. */
static void tell(struct board *b, size_t job, bool taken)
{
    const struct world_placed *p = &b->plan.placed[job];

    if (b->files && b->files->placed)
        b->files->placed(b->files->context, job, p->positions[0], p->start_s, taken);
    if (b->groups)
        board_group_placed(b, job, taken);
}

void board_take(struct board *b, size_t job, const struct board_spot *spot)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct world_placed *p = &b->plan.placed[job];

    *p = (struct world_placed){.positions = keep_positions(b, job, spot),
                               .position_count = spot->position_count,
                               .choice = spot->choice,
                               .start_s = spot->start_s,
                               .stage_in_s = spot->stage_in_s,
                               .run_s = spot->run_s,
                               .end_s = spot->end_s,
                               .done_s = spot->done_s,
                               .wait_on = WORLD_NONE};
    for (size_t i = 0; i < p->position_count; i++)
        p->killed =
            p->killed || world_full_run_s(w, j, p->positions[i]) > j->time_limit_s;
    hold(b, job, p, true);
    tell(b, job, true);
    b->state[job] = BOARD_PLACED;
    b->stamps[job] = b->stamp++;
    b->plan.placed_count++;
    board_tick(b);
}

void board_give(struct board *b, size_t job)
{
    struct world_placed *p = &b->plan.placed[job];

    tell(b, job, false);
    hold(b, job, p, false);
    for (size_t i = 0; b->buckets && i < p->position_count; i++)
        buckets_forget_at(b, p->positions[i]);
    *p = (struct world_placed){.wait_on = WORLD_NONE};
    b->state[job] = BOARD_OPEN;
    b->plan.placed_count--;
    board_tick(b);
}

void board_reopen(struct board *b, size_t job)
{
    b->plan.placed[job] = (struct world_placed){.wait_on = WORLD_NONE};
    b->state[job] = BOARD_OPEN;
}

void board_refuse(struct board *b, size_t job, enum world_wait wait, size_t wait_on)
{
    b->plan.placed[job] = (struct world_placed){.wait = wait, .wait_on = wait_on};
    b->state[job] = BOARD_REFUSED;
}
