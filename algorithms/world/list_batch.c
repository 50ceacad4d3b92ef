/* world/list_batch.c - of all jobs that are ready, one is chosen by its best places.
 *
 * While a plan grows nothing becomes free, so that a job's best place stays its best as
 * long as it can be had: after each placement only the jobs are looked at whose best (or
 * second best) place is on a resource that was taken from, or that share amounts with
 * what was placed. A tree of winners, with a leaf for each job by its place in the order,
 * says who is next; ties go to the order.
 *
 *     min_min    the least best completion: a time that is too early is found when its
 *                job wins, so that nobody else is looked at
 *     max_min    the largest best completion
 *     sufferage  the largest difference of the second best and the best
 *
 * Of jobs that are alike only the first of the order competes; the next one takes its
 * part once it is decided.
 *
 * Files that were moved for one job may bring another's completion forward: with files
 * all jobs are looked at before each choice.
 *
 * Source: Maheswaran et al. 1999 and Casanova et al. 2000; world-model.md 4.3.
 */
#include "algorithms/world/list_parts.h"

#include <string.h>

/* What is known of a job that competes. */
struct standing {
    struct board_spot best, rival; /* of several nodes: best.positions is not kept */
    bool competes, is_coupled;
    bool has_any; /* it is sure to have some place, and nobody asks for its time */
};

enum { NO_LINK = -1 };

struct batch {
    struct board *b;
    struct ready *r;
    enum world_rule rule;
    struct standing *of; /* by job */

    size_t *winner; /* [1]: of all; [leaf_count + rank]: a job; WORLD_NONE */
    size_t leaf_count;

    /* Jobs by the resources of their places: link 2 * job for the best, one more for the
     * rival. */
    ptrdiff_t *first, *next, *previous;
    size_t *link_at; /* by link: the position it is listed at */

    size_t *coupled,
        coupled_count; /* jobs that may lose a place they share with nobody */
    size_t **places;   /* by job, of such of several nodes: those of the best */
    size_t *taken_in;  /* by position: the last turn in which it was taken from */
    size_t turn;
    struct arena *arena;
    size_t *stale;  /* jobs to be looked at; room for all */
    bool unsettled; /* units were placed since all were looked at */

    struct list_alike alike;
    bool *is_held_back;               /* by job: ready, but somebody is ahead of it */
    size_t *released, released_count; /* of these, jobs that nobody is ahead of now */
};

static double key_of(const struct batch *t, size_t job)
{
    const struct standing *s = &t->of[job];

    if (t->rule == WORLD_MIN_MIN)
        return s->best.done_s;
    if (t->rule == WORLD_MAX_MIN)
        return -s->best.done_s;
    return s->rival.done_s < HUGE_VAL ? s->best.done_s - s->rival.done_s : -HUGE_VAL;
}

/* Of two jobs by the tree's order: the left one is earlier in the order of jobs. */
static size_t better_of(const struct batch *t, size_t left, size_t right)
{
    if (left == WORLD_NONE || right == WORLD_NONE)
        return left == WORLD_NONE ? right : left;
    return key_of(t, right) < key_of(t, left) ? right : left;
}

static bool by_sufferage(const struct batch *t)
{
    return t->rule == WORLD_SUFFERAGE || t->rule == WORLD_XSUFFERAGE;
}

static void update_tree(struct batch *t, size_t job)
{
    size_t at = t->leaf_count + t->r->rank[job];

    t->winner[at] = t->of[job].competes ? job : WORLD_NONE;
    for (at /= 2; at > 0; at /= 2)
        t->winner[at] = better_of(t, t->winner[2 * at], t->winner[2 * at + 1]);
    budget_step(t->b->w->budget, 32);
}

/* Of several nodes: where the best is, as only its turn asks for it again. */
static void keep_places(struct batch *t, size_t job, const struct board_spot *spot)
{
    if (spot->position_count < 2)
        return;
    if (!t->places[job])
        t->places[job] = NEW(t->arena, size_t, spot->position_count);
    memcpy(t->places[job], spot->positions,
           spot->position_count * sizeof(*spot->positions));
}

static void unlink_place(struct batch *t, ptrdiff_t link)
{
    size_t position = t->link_at[link];

    if (position == WORLD_NONE)
        return;
    if (t->previous[link] == NO_LINK)
        t->first[position] = t->next[link];
    else
        t->next[t->previous[link]] = t->next[link];
    if (t->next[link] != NO_LINK)
        t->previous[t->next[link]] = t->previous[link];
    t->link_at[link] = WORLD_NONE;
}

static void link_place(struct batch *t, ptrdiff_t link, const struct board_spot *spot)
{
    size_t position;

    if (spot->done_s == HUGE_VAL || spot->position_count != 1)
        return;
    position = spot->positions[0];
    t->next[link] = t->first[position];
    t->previous[link] = NO_LINK;
    if (t->next[link] != NO_LINK)
        t->previous[t->next[link]] = link;
    t->first[position] = link;
    t->link_at[link] = position;
}

/* Gives the job its place, or refuses it. */
static void decide(struct batch *t, size_t job, const struct board_spot *spot)
{
    size_t behind = t->alike.behind[job];

    ready_place(t->r, job, spot);
    if (behind != WORLD_NONE && t->is_held_back[behind])
        t->released[t->released_count++] = behind;
}

/* These are the job's places now. One that can have none is refused. */
static void settle(struct batch *t, size_t job, const struct board_pair *pair)
{
    struct standing *s = &t->of[job];
    ptrdiff_t link = 2 * (ptrdiff_t)job;

    unlink_place(t, link);
    unlink_place(t, link + 1);
    s->best = pair->best;
    s->rival = pair->rival;
    keep_places(t, job, &s->best);
    s->competes = s->best.done_s < HUGE_VAL;
    if (t->rule != WORLD_MIN_MIN) {
        link_place(t, link, &s->best);
        link_place(t, link + 1, &s->rival);
    }
    update_tree(t, job);
    if (!s->competes)
        decide(t, job, &s->best);
}

/* Looks for the job's places anew; false: the budget is spent. */
static bool look_anew(struct batch *t, size_t job)
{
    struct board *b = t->b;
    struct board_pair pair = {.best = board_nowhere(), .rival = board_nowhere()};

    if (b->w->jobs[job].nodes > 1 || t->rule == WORLD_MIN_MIN || t->rule == WORLD_MAX_MIN)
        pair.best = board_best(b, job);
    else
        pair = board_pair_of(b, job, t->rule == WORLD_XSUFFERAGE);
    if (board_tick(b))
        return false;
    settle(t, job, &pair);
    return true;
}

static bool can_be_had(struct batch *t, size_t job, const struct board_spot *spot)
{
    struct board *b = t->b;
    struct board_spot now;

    if (spot->done_s == HUGE_VAL)
        return true;
    if (spot->position_count != 1)
        return !b->files && board_keeps_nodes(b, job, t->places[job], spot->start_s);
    /* files that come in time for a start have to set out before it */
    now = board_fit(b, job, spot->choice, spot->positions[0],
                    b->files ? 0 : spot->start_s, spot->start_s);
    return now.done_s <= spot->done_s;
}

/* Looks at the job's places after something was taken; false: the budget is spent. */
static bool look_again(struct batch *t, size_t job)
{
    const struct standing *s = &t->of[job];

    if (!s->competes || s->has_any ||
        (can_be_had(t, job, &s->best) && can_be_had(t, job, &s->rival)))
        return !board_tick(t->b);
    return look_anew(t, job);
}

/* Whether it can lose a place that nothing was taken from. */
static bool shares(const struct world *w, size_t job)
{
    const struct world_job *j = &w->jobs[job];

    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0)
            return true;
    return j->group != WORLD_NONE || (w->limit_count && world_is_limited(j));
}

static bool is_coupled(const struct world *w, size_t job)
{
    return w->jobs[job].nodes > 1 || shares(w, job);
}

static bool look_at_all(struct batch *t)
{
    for (size_t i = 0; i < t->b->w->job_count; i++)
        if (t->of[i].competes && !(t->b->files ? look_anew(t, i) : look_again(t, i)))
            return false;
    return true;
}

/* A single job that is to compete from now on; WORLD_NONE: there is none, or the budget
 * is spent. */
static size_t next_to_compete(struct batch *t)
{
    size_t job;

    if (t->released_count > 0)
        return t->released[--t->released_count];
    while ((job = list_next_single(t->b, t->r, &t->unsettled)) != WORLD_NONE) {
        size_t ahead = t->alike.ahead[job];

        if (ahead == WORLD_NONE || t->b->state[ahead] != BOARD_OPEN)
            return job;
        t->is_held_back[job] = true;
    }
    return WORLD_NONE;
}

/* A sufferage without a rival is infinite, whenever the job completes: of several nodes
 * it is asked for its best in its turn only. false: the budget is spent. */
static bool let_compete(struct batch *t, size_t job)
{
    struct standing *s = &t->of[job];

    if (by_sufferage(t) && t->b->w->jobs[job].nodes > 1 && !t->b->files)
        s->has_any = board_has_last_resort(t->b, job);
    s->is_coupled = !s->has_any && is_coupled(t->b->w, job);
    if (s->is_coupled)
        t->coupled[t->coupled_count++] = job;
    return look_anew(t, job);
}

/* Single jobs that have become ready compete; units are placed at once, wherever they
 * are. false: the budget is spent. */
static bool let_in(struct batch *t)
{
    do {
        size_t job;

        if (t->unsettled && t->rule != WORLD_MIN_MIN && !look_at_all(t))
            return false;
        t->unsettled = false;
        while ((job = next_to_compete(t)) != WORLD_NONE) {
            if (!let_compete(t, job))
                return false;
        }
    } while (t->unsettled && t->rule != WORLD_MIN_MIN);
    return !board_tick(t->b);
}

/* Whoever may have lost a place by what was placed on `positions`. */
static bool look_around(struct batch *t, size_t position)
{
    size_t count = 0;

    for (ptrdiff_t link = t->first[position]; link != NO_LINK; link = t->next[link])
        t->stale[count++] = (size_t)link / 2;
    for (size_t i = 0; i < count; i++)
        if (!look_again(t, t->stale[i]))
            return false;
    return true;
}

/* Nothing was taken where its best place is, nor of what it shares. */
static bool has_kept_place(const struct batch *t, size_t job)
{
    const struct board_spot *best = &t->of[job].best;

    if (!t->places[job] || best->done_s == HUGE_VAL || shares(t->b->w, job))
        return false;
    budget_step(t->b->w->budget, best->position_count);
    for (size_t i = 0; i < best->position_count; i++)
        if (t->taken_in[t->places[job][i]] == t->turn)
            return false;
    return true;
}

static bool look_at_coupled(struct batch *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->coupled_count; i++)
        if (t->b->state[t->coupled[i]] == BOARD_OPEN)
            t->coupled[kept++] = t->coupled[i];
    t->coupled_count = kept;
    for (size_t i = 0; i < t->coupled_count; i++)
        if (!has_kept_place(t, t->coupled[i]) && !look_again(t, t->coupled[i]))
            return false;
    return true;
}

/* The job that has won gets its place; false: the budget is spent, or it has to compete
 * again. */
static bool place_winner(struct batch *t, size_t job, bool *again)
{
    struct standing *s = &t->of[job];
    struct board_spot spot = s->best;
    bool several = spot.position_count > 1;

    if (several)
        spot = board_best(t->b, job);
    *again = several ? spot.done_s > s->best.done_s && !s->has_any
                     : !can_be_had(t, job, &spot);
    if (board_tick(t->b))
        return false;
    if (*again && several)
        settle(t, job, &(struct board_pair){.best = spot, .rival = board_nowhere()});
    else if (*again)
        return look_anew(t, job);
    if (*again)
        return true;
    s->competes = false;
    unlink_place(t, 2 * (ptrdiff_t)job);
    unlink_place(t, 2 * (ptrdiff_t)job + 1);
    update_tree(t, job);
    decide(t, job, &spot);
    return true;
}

/* What the placement of `job` changes for others. */
static bool look_after(struct batch *t, size_t job)
{
    const struct board *b = t->b;
    const struct world_placed *p = &b->plan.placed[job];

    if (b->files)
        return look_at_all(t);
    if (t->rule == WORLD_MIN_MIN)
        return true;
    t->turn++;
    for (size_t i = 0; i < p->position_count; i++) {
        t->taken_in[p->positions[i]] = t->turn;
        if (!look_around(t, p->positions[i]))
            return false;
    }
    return t->coupled_count == 0 || look_at_coupled(t);
}

static struct batch *batch_create(struct board *b, enum world_rule rule,
                                  const size_t *order, struct arena *a)
{
    const struct world *w = b->w;
    struct batch *t = NEW(a, struct batch, 1);

    t->b = b;
    t->rule = rule;
    t->r = ready_create(b, order, true, a);
    t->of = NEW(a, struct standing, w->job_count);
    for (t->leaf_count = 1; t->leaf_count < w->job_count;)
        t->leaf_count *= 2;
    t->winner = NEW(a, size_t, 2 * t->leaf_count);
    for (size_t i = 0; i < 2 * t->leaf_count; i++)
        t->winner[i] = WORLD_NONE;
    t->first = NEW(a, ptrdiff_t, w->resource_count);
    for (size_t i = 0; i < w->resource_count; i++)
        t->first[i] = NO_LINK;
    t->next = NEW(a, ptrdiff_t, 2 * w->job_count);
    t->previous = NEW(a, ptrdiff_t, 2 * w->job_count);
    t->link_at = NEW(a, size_t, 2 * w->job_count);
    for (size_t i = 0; i < 2 * w->job_count; i++)
        t->link_at[i] = WORLD_NONE;
    t->coupled = NEW(a, size_t, w->job_count);
    t->arena = a;
    t->places = NEW(a, size_t *, w->job_count);
    t->taken_in = NEW(a, size_t, w->resource_count);
    t->stale = NEW(a, size_t, 2 * w->job_count);
    t->alike = list_alike_of(b, order, a);
    t->is_held_back = NEW(a, bool, w->job_count);
    t->released = NEW(a, size_t, w->job_count);
    return t;
}

void list_batch(struct board *b, enum world_rule rule, const size_t *order,
                struct arena *scratch)
{
    struct batch *t = batch_create(b, rule, order, scratch);

    while (let_in(t) && t->winner[1] != WORLD_NONE) {
        size_t job = t->winner[1];
        bool again;

        if (!place_winner(t, job, &again))
            return;
        if (!again && !look_after(t, job))
            return;
    }
}
