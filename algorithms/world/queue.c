/* world/queue.c - a batch queue on resources with amounts, played by events.
 *
 * The board asks no clock here: a question that was begun is answered, and the budget is
 * looked at between questions.
 */
#include "algorithms/world/queue.h"

#include "algorithms/world/list.h"
#include "algorithms/world/queue_parts.h"
#include "models/base/heap.h"

#include <string.h>

/* Jobs that found no place at this moment: what is not smaller than one of them finds
 * none either, since what is free only falls until the next. */
enum { FAILED_MAX = 32 };
struct failed {
    size_t jobs[FAILED_MAX], count;
};

/* A queue while it is played. */
struct play {
    const struct world *w;
    const struct queue_discipline *rule;
    struct board *b;
    size_t *queue, *backfill; /* all jobs, in these orders */
    double now_s;
    double *events; /* times at which something may have become possible: a heap */
    size_t event_count;
    struct failed anyhow; /* however the head may lie */
    struct failed beside; /* each of its resources is too late for the head with them */
    bool has_after, cut;
    size_t head;            /* WORLD_NONE */
    double head_run_s;      /* the least of any resource */
    size_t *head_positions; /* of its place, whatever is asked meanwhile */
    bool head_is_unit;      /* whose members that wait are on the board */
    size_t *tried;          /* by group: the turn in which it was tried last */
    size_t turns;
    struct arena *arena;
};

static bool is_sooner(const double *a, const double *b)
{
    return *a < *b;
}
HEAP(times, double, is_sooner)

/* A question takes a look at each resource, more or less. */
static bool is_over(struct play *p)
{
    if (!p->cut)
        p->cut = budget_step(p->w->budget, 16 * p->w->resource_count + 64);
    return p->cut;
}

/* ---- questions ---- */

struct board_spot queue_fit_at(struct board *b, size_t job, double at_s)
{
    const struct world *w = board_world(b);
    const struct world_job *j = &w->jobs[job];
    const struct board_reach then = {.from_s = at_s, .latest_s = at_s};
    struct board_spot best = board_nowhere();

    if (!board_shared_is_enough(b, job))
        return best;
    if (j->nodes > 1)
        return board_fit_nodes(b, job, &then);
    for (size_t c = 0; c < j->choice_count; c++) {
        struct board_spot here = board_nowhere();

        for (size_t i = 0; i < w->resource_count; i++) {
            struct board_spot spot;

            if (at_s + world_run_s(w, j, i) > here.done_s)
                continue;
            spot = board_fit(b, job, c, i, at_s, at_s);
            if (board_is_better(b, &spot, &here))
                here = spot;
        }
        if (here.done_s < best.done_s)
            best = here;
    }
    return best;
}

static bool has_equal_choices(const struct world *w, const struct world_job *a,
                              const struct world_job *b)
{
    size_t bytes = (w->resource_count + 63) / 64 * sizeof(uint64_t);

    if (a->choice_count != b->choice_count)
        return false;
    for (size_t c = 0; c < a->choice_count; c++)
        if (!world_same_limits(&a->choices[c], &b->choices[c]) ||
            (a->choices[c].mask != b->choices[c].mask &&
             memcmp(a->choices[c].mask, b->choices[c].mask, bytes) != 0))
            return false;
    return true;
}

/* Given alike, and not less: NAN is not said. */
static bool is_not_less(double a, double b)
{
    return isnan(b) ? isnan(a) : a >= b;
}

/* Wherever and whenever `a` fits, `b` does. */
static bool is_no_smaller(const struct world *w, const struct world_job *a,
                          const struct world_job *b)
{
    if (a->nodes < b->nodes || a->etc_s || b->etc_s || a->group != WORLD_NONE ||
        b->group != WORLD_NONE || a->time_limit_s < b->time_limit_s ||
        !is_not_less(a->estimate_ref_s, b->estimate_ref_s) ||
        !is_not_less(a->estimate_s, b->estimate_s))
        return false;
    for (size_t k = 0; k < w->amount_count; k++)
        if (a->needs[k] < b->needs[k])
            return false;
    return has_equal_choices(w, a, b);
}

static bool fails_as_before(const struct world *w, const struct failed *f, size_t job)
{
    for (size_t i = 0; i < f->count; i++) {
        budget_step(w->budget, w->amount_count);
        if (is_no_smaller(w, &w->jobs[job], &w->jobs[f->jobs[i]]))
            return true;
    }
    return false;
}

/* In the place of one that it makes superfluous, or of the last. */
static void note_failed(const struct world *w, struct failed *f, size_t job)
{
    size_t at = 0;

    for (; at < f->count; at++) {
        budget_step(w->budget, w->amount_count);
        if (is_no_smaller(w, &w->jobs[f->jobs[at]], &w->jobs[job]))
            break;
    }
    if (at == FAILED_MAX)
        at--;
    f->jobs[at] = job;
    if (at == f->count)
        f->count++;
}

static bool is_open(const struct play *p, size_t job)
{
    return p->b->state[job] == BOARD_OPEN;
}

static bool is_ready(const struct play *p, size_t job)
{
    return is_open(p, job) && board_release_s(p->b, job) <= p->now_s;
}

static void add_event(struct play *p, double at_s)
{
    if (at_s > p->now_s && at_s < HUGE_VAL)
        times_push(p->events, &p->event_count, at_s);
}

static void start(struct play *p, size_t job, const struct board_spot *spot)
{
    board_take(p->b, job, spot);
    add_event(p, p->b->plan.placed[job].end_s);
    add_event(p, p->b->plan.placed[job].done_s);
}

static void refuse(struct play *p, size_t job)
{
    size_t on;
    enum world_wait why = board_why(p->b, job, &on);

    board_refuse(p->b, job, why, on);
}

/* ---- units ---- */

/* Members that start at this moment have begun. The first of the others, WORLD_NONE: all
 * have. */
static size_t begin_unit(struct play *p, size_t job)
{
    const struct world_group *g = &p->w->groups[p->w->jobs[job].group];
    size_t waits = WORLD_NONE;

    budget_step(p->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++) {
        const struct world_placed *x = &p->b->plan.placed[g->jobs[i]];

        if (!x->positions)
            continue;
        if (x->start_s <= p->now_s) {
            add_event(p, x->end_s);
            add_event(p, x->done_s);
        } else if (waits == WORLD_NONE || g->jobs[i] == job) {
            waits = g->jobs[i];
        }
    }
    return waits;
}

/* The unit as the first of the queue: who of it waits is the head, and keeps its place.
 */
static bool start_unit_first(struct play *p, size_t job)
{
    if (!queue_unit_is_ready(p->b, job, p->now_s) ||
        queue_unit_place(p->b, job, p->now_s) == HUGE_VAL)
        return true;
    p->head = begin_unit(p, job);
    p->head_is_unit = p->head != WORLD_NONE;
    return p->head == WORLD_NONE;
}

/* Beside the head's place, as far as it starts at this moment; once a turn. */
static void start_unit_behind(struct play *p, size_t job)
{
    size_t group = p->w->jobs[job].group;

    if (p->tried[group] == p->turns || !queue_unit_is_ready(p->b, job, p->now_s))
        return;
    p->tried[group] = p->turns;
    queue_unit_place(p->b, job, p->now_s);
    begin_unit(p, job);
    queue_unit_take_back(p->b, job, p->now_s);
    queue_unit_reopen(p->b, job);
}

/* ---- rules ---- */

/* Starts the first jobs; where the first of those that wait is to go comes back. Jobs
 * that can never have a place are nobody's head. */
static struct board_spot start_heads(struct play *p)
{
    p->head = WORLD_NONE;
    for (size_t k = 0; k < p->w->job_count; k++) {
        size_t job = p->queue[k];
        struct board_spot spot;

        if (queue_unit_is_whole(p->b, job)) {
            if (!start_unit_first(p, job) || is_over(p))
                break;
            continue;
        }
        if (!is_ready(p, job))
            continue;
        spot = queue_fit_at(p->b, job, p->now_s);
        if (spot.positions) {
            start(p, job, &spot);
        } else {
            spot = board_best(p->b, job);
            if (spot.positions) {
                p->head = job;
                return spot;
            }
            refuse(p, job);
        }
        if (is_over(p))
            break;
    }
    return board_nowhere();
}

/* Where the head is, which the board's next question would overwrite. */
static void keep_head(struct play *p, struct board_spot *head)
{
    memcpy(p->head_positions, head->positions,
           head->position_count * sizeof(*head->positions));
    head->positions = p->head_positions;
}

/* The head's best place, as far as it completes there by done_s. */
static struct board_spot best_by(struct play *p, double done_s)
{
    const struct board_reach soon = {.latest_s = board_latest_s(done_s, p->head_run_s)};

    return p->w->jobs[p->head].nodes > 1 && board_shared_is_enough(p->b, p->head)
               ? board_fit_nodes(p->b, p->head, &soon)
               : board_best(p->b, p->head);
}

/* Takes the spot if the head completes no later beside it, and lays the head anew. */
static bool goes_beside(struct play *p, size_t job, const struct board_spot *spot,
                        struct board_spot *head)
{
    struct board_spot again;

    if (!spot->positions)
        return false;
    board_take(p->b, job, spot);
    again = best_by(p, head->done_s);
    if (again.positions && again.done_s <= head->done_s) {
        *head = again;
        keep_head(p, head);
        return true;
    }
    board_give(p->b, job);
    return false;
}

/* The head may go elsewhere without loss: the job tries the best place of all, then the
 * head's own. The head has no place meanwhile. Since the job found no place beside it,
 * it can only go where the head is, unless what all share is short. */
static bool start_instead(struct play *p, size_t job, struct board_spot *head)
{
    const struct world *w = p->w;
    const struct world_job *j = &w->jobs[job];
    struct board_spot spot = queue_fit_at(p->b, job, p->now_s);

    if (!spot.positions) {
        note_failed(w, &p->anyhow, job);
        return false;
    }
    if (goes_beside(p, job, &spot, head))
        return true;
    if (j->nodes > 1)
        return false;
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < head->position_count; i++) {
            spot = board_fit(p->b, job, c, head->positions[i], p->now_s, p->now_s);
            if (goes_beside(p, job, &spot, head))
                return true;
        }
    if (w->amount_count == w->node_amount_count && w->limit_count == 0)
        note_failed(w, &p->beside, job);
    return false;
}

/* Beside the head's place first: that delays it surely not. */
static void start_behind(struct play *p, size_t job, struct board_spot *head)
{
    struct board_spot spot = queue_fit_at(p->b, job, p->now_s);

    if (spot.positions) {
        start(p, job, &spot);
        return;
    }
    if (p->head == WORLD_NONE || p->head_is_unit) {
        note_failed(p->w, &p->anyhow, job);
        return;
    }
    board_give(p->b, p->head);
    if (start_instead(p, job, head)) {
        p->beside.count = 0; /* the head lies elsewhere */
        add_event(p, p->b->plan.placed[job].end_s);
        add_event(p, p->b->plan.placed[job].done_s);
    }
    board_take(p->b, p->head, head);
}

static double least_run_s(const struct world *w, size_t job)
{
    double least_s = HUGE_VAL;

    for (size_t i = 0; i < w->resource_count; i++)
        least_s = fmin(least_s, world_run_s(w, &w->jobs[job], i));
    return least_s;
}

static void start_fitting(struct play *p, struct board_spot *head)
{
    if (p->head != WORLD_NONE && !p->head_is_unit) {
        keep_head(p, head);
        p->head_run_s = least_run_s(p->w, p->head);
        board_take(p->b, p->head, head);
    }
    for (size_t k = 0; k < p->w->job_count && !p->cut; k++) {
        size_t job = p->backfill[k];

        if (queue_unit_is_whole(p->b, job)) {
            start_unit_behind(p, job);
            is_over(p);
            continue;
        }
        if (!is_ready(p, job) || fails_as_before(p->w, &p->anyhow, job) ||
            fails_as_before(p->w, &p->beside, job))
            continue;
        start_behind(p, job, head);
        is_over(p);
    }
    if (p->head != WORLD_NONE && !p->head_is_unit)
        board_give(p->b, p->head);
}

static void decide_once(struct play *p)
{
    struct board_spot head = board_nowhere();

    p->head = WORLD_NONE;
    p->head_is_unit = false;
    p->turns++;
    p->anyhow.count = p->beside.count = 0;
    if (p->rule->rule != QUEUE_FIT)
        head = start_heads(p);
    if (p->rule->rule == QUEUE_FIT ||
        (p->rule->rule == QUEUE_EASY && p->head != WORLD_NONE))
        start_fitting(p, &head);
    if (p->head_is_unit)
        queue_unit_take_back(p->b, p->head, p->now_s);
}

/* Those that wait for one that has started may have their turn at the same moment, and a
 * pack that would have gone where another has. */
static void decide(struct play *p)
{
    size_t before;

    do {
        before = p->b->plan.placed_count;
        decide_once(p);
    } while ((p->has_after || p->b->groups) && !p->cut &&
             p->b->plan.placed_count > before);
}

/* ---- the future ---- */

static void list_events(struct play *p)
{
    const struct world *w = p->w;

    size_t held = 0;

    for (size_t i = 0; i < w->limit_count; i++)
        held += w->limits[i].held_count;
    p->events = NEW(p->arena, double, w->holder_count + held + 4 * w->job_count + 1);
    for (size_t i = 0; i < w->limit_count; i++)
        for (size_t k = 0; k < w->limits[i].held_count; k++)
            add_event(p, w->limits[i].held[k].end_s);
    for (size_t i = 0; i < w->holder_count; i++)
        add_event(p, w->holders[i].end_s);
    for (size_t i = 0; i < w->job_count; i++) {
        add_event(p, fmax(w->jobs[i].release_s, w->jobs[i].earliest_s));
        p->has_after = p->has_after || w->jobs[i].after_count;
    }
    budget_step(w->budget, 4 * (w->holder_count + held + w->job_count));
}

/* Nothing ends any more: who still waits goes where it completes first, or nowhere. */
static void place_rest(struct play *p)
{
    size_t before;

    do {
        before = p->b->plan.placed_count;
        for (size_t k = 0; k < p->w->job_count && !p->cut; k++) {
            size_t job = p->queue[k];
            struct board_spot spot;

            if (!is_open(p, job) || !board_is_due(p->b, job))
                continue;
            if (queue_unit_is_whole(p->b, job)) {
                queue_unit_place(p->b, job, p->now_s);
                is_over(p);
                continue;
            }
            spot = board_best(p->b, job);
            if (spot.positions)
                board_take(p->b, job, &spot);
            else
                refuse(p, job);
            is_over(p);
        }
    } while (p->has_after && !p->cut && p->b->plan.placed_count > before);
}

/* ---- when the time is up ---- */

/* Jobs behind all others cost looks at resources, which nothing limits but these. */
enum { BEHIND_PASSES = 8, BEHIND_TRIES = 64 };
static const size_t BEHIND_LOOKS = 20000000;

struct behind {
    double from_s; /* behind all that is there, and not before the one before */
    size_t looks;
};

/* Everything that ends has ended. */
static double end_of_all(const struct play *p)
{
    double end_s = p->now_s;

    for (size_t i = 0; i < p->w->holder_count; i++)
        if (p->w->holders[i].end_s < HUGE_VAL)
            end_s = fmax(end_s, p->w->holders[i].end_s);
    for (size_t k = 0; k < p->b->plan.placed_count; k++) {
        double job_s = p->b->plan.placed[p->b->plan.sequence[k]].end_s;

        if (job_s < HUGE_VAL)
            end_s = fmax(end_s, job_s);
    }
    return end_s;
}

/* The first resource on which the job fits then. */
static struct board_spot spot_behind(struct play *p, size_t job, struct behind *x)
{
    const struct world_job *j = &p->w->jobs[job];
    double from_s = fmax(x->from_s, board_release_s(p->b, job));
    struct board_spot spot = board_nowhere();
    size_t tries = 0;

    if (!(from_s < HUGE_VAL) || !board_shared_is_enough(p->b, job))
        return spot;
    if (j->nodes > 1) {
        const struct board_reach behind = {.from_s = from_s, .latest_s = HUGE_VAL};

        x->looks += 16 * p->w->resource_count;
        return board_fit_nodes(p->b, job, &behind);
    }
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < p->w->resource_count && tries < BEHIND_TRIES; i++) {
            x->looks++;
            if (!board_may_go(p->b, job, c, i))
                continue;
            tries++;
            spot = board_fit(p->b, job, c, i, from_s, HUGE_VAL);
            if (spot.positions)
                return spot;
        }
    budget_step(p->w->budget, p->w->resource_count);
    return spot;
}

/* Jobs that there was no time for, in the order of the queue; what waits for others comes
 * in a later pass. */
static size_t place_behind(struct play *p, struct world_queue_out *out)
{
    struct behind x = {.from_s = end_of_all(p)};
    size_t count = 0, before;

    for (int pass = 0; pass < BEHIND_PASSES; pass++) {
        before = count;
        for (size_t k = 0; k < p->w->job_count && x.looks < BEHIND_LOOKS; k++) {
            size_t job = p->queue[k];
            struct board_spot spot;

            if (!is_open(p, job) || !board_is_due(p->b, job) ||
                (p->b->groups && board_is_unit(p->b, job)))
                continue;
            spot = spot_behind(p, job, &x);
            if (!spot.positions)
                continue;
            board_take(p->b, job, &spot);
            x.from_s = fmax(x.from_s, spot.start_s);
            out->verdicts[job].behind = true;
            count++;
        }
        if (count == before || !p->has_after)
            break;
    }
    return count;
}

static void play_future(struct play *p, struct world_queue_out *out)
{
    while (p->event_count && !p->cut) {
        double at_s = times_pop(p->events, &p->event_count);

        if (at_s <= p->now_s)
            continue;
        p->now_s = at_s;
        decide(p);
    }
    place_rest(p);
    if (p->cut)
        out->behind_count = place_behind(p, out);
    for (size_t i = 0; i < p->w->job_count; i++)
        if (is_open(p, i))
            board_refuse(p->b, i,
                         p->cut ? WORLD_WAIT_OUT_OF_TIME : WORLD_WAIT_AFTER_UNPLACED,
                         WORLD_NONE);
}

/* ---- what they wait for ---- */

/* Whose end makes room at `at_s`: what runs, a job that starts now, a reservation. */
static void blame_end(const struct play *p, double at_s, struct world_queue_verdict *v)
{
    for (size_t i = 0; i < p->w->holder_count; i++) {
        const struct world_holder *h = &p->w->holders[i];

        if (h->end_s != at_s)
            continue;
        v->by = h->kind == HOLDER_RUNNING ? QUEUE_BY_RUNNING : QUEUE_BY_RESERVATION;
        v->blocker = i;
        if (h->kind == HOLDER_RUNNING)
            return;
    }
    for (size_t i = 0; i < p->w->job_count; i++)
        if (p->b->plan.placed[i].positions && p->b->plan.placed[i].end_s == at_s) {
            v->by = QUEUE_BY_JOB;
            v->blocker = i;
            return;
        }
}

/* What the job waits for that has not started. */
static void blame_before(const struct play *p, size_t job, struct world_queue_verdict *v)
{
    const struct world_job *j = &p->w->jobs[job];

    for (size_t i = 0; i < j->after_count && v->by == QUEUE_NOTHING; i++)
        if (!p->b->plan.placed[j->after[i].job].positions) {
            v->by = QUEUE_BY_JOB;
            v->blocker = j->after[i].job;
        }
    budget_step(p->w->budget, j->after_count);
}

/* Promises that are not kept. The board holds the plan. */
static void blame_broken(struct play *p, const struct world_queue_promises *promises,
                         struct world_queue_out *out)
{
    for (size_t i = 0; i < p->w->job_count; i++) {
        const struct world_placed *x = &p->b->plan.placed[i];
        double promise_s = fmax(promises->of[i].start_s, 0);
        struct world_queue_verdict found = {.by = QUEUE_NOTHING, .blocker = WORLD_NONE};

        if (isnan(promises->of[i].start_s) || !x->positions || out->verdicts[i].behind ||
            board_is_unit(p->b, i) || x->start_s <= promise_s)
            continue;
        budget_step(p->w->budget, p->w->holder_count + p->w->job_count);
        blame_end(p, x->start_s, &found);
        out->verdicts[i].broken_by_s = x->start_s - promise_s;
        out->verdicts[i].breaker_by = found.by;
        out->verdicts[i].breaker = found.blocker;
        out->broken_count++;
    }
}

/* Whether its unit could have it start now; else when it starts, NAN: never. */
static bool unit_starts(struct play *p, size_t job, double *start_s)
{
    const struct world_placed *x = &p->b->plan.placed[job];
    const struct world_group *g = &p->w->groups[p->w->jobs[job].group];
    bool *open = NEW(p->arena, bool, g->job_count);

    budget_step(p->w->budget, 2 * g->job_count);
    for (size_t i = 0; i < g->job_count; i++)
        open[i] = is_open(p, g->jobs[i]);
    queue_unit_place(p->b, job, 0);
    *start_s = x->positions ? x->start_s : (double)NAN;
    queue_unit_take_back(p->b, job, -1);
    for (size_t i = 0; i < g->job_count; i++)
        if (open[i] && !is_open(p, g->jobs[i]))
            board_reopen(p->b, g->jobs[i]);
    return *start_s <= 0;
}

/* Who has what it lacks until v->until_s. */
static void blame_short(const struct play *p, size_t job, struct world_queue_verdict *v)
{
    blame_end(p, v->until_s, v);
    if (board_limit_now(p->b, job, 0) != WORLD_NONE)
        v->wait = WORLD_WAIT_USER_LIMIT;
    else if (v->by == QUEUE_BY_RESERVATION)
        v->reason = QUEUE_REASON_RESERVATION;
    else
        v->wait = WORLD_WAIT_NO_FREE_NOW;
}

/* The board holds what starts now, and nothing else of the plan. */
static struct world_queue_verdict explain(struct play *p, size_t job, double start_s)
{
    struct world_queue_verdict v = {
        .blocker = WORLD_NONE, .until_s = (double)NAN, .broken_by_s = (double)NAN};
    double release_s = board_release_s(p->b, job);
    bool starts;
    struct board_spot spot;

    if (release_s > 0 ||
        (queue_unit_is_whole(p->b, job) && !queue_unit_is_ready(p->b, job, 0))) {
        v.wait = WORLD_WAIT_NOT_RELEASED;
        v.until_s = release_s > 0 && release_s < HUGE_VAL ? release_s : start_s;
        blame_before(p, job, &v);
        return v;
    }
    starts = queue_unit_is_whole(p->b, job)
                 ? unit_starts(p, job, &v.until_s)
                 : queue_fit_at(p->b, job, 0).positions != NULL;
    if (starts) {
        v.until_s = (double)NAN;
        v.reason =
            p->rule->rule == QUEUE_HEAD ? QUEUE_REASON_ORDER : QUEUE_REASON_WOULD_DELAY;
        v.by = p->head == WORLD_NONE || p->head == job ? QUEUE_NOTHING : QUEUE_BY_JOB;
        v.blocker = v.by == QUEUE_NOTHING ? WORLD_NONE : p->head;
        return v;
    }
    if (isnan(v.until_s)) {
        spot = board_best(p->b, job);
        v.until_s = spot.positions ? spot.start_s : start_s;
    }
    blame_short(p, job, &v);
    return v;
}

static void explain_all(struct play *p, struct world_queue_out *out)
{
    p->now_s = 0;
    p->head = out->head;
    for (size_t k = 0; k < p->w->job_count; k++) {
        size_t job = out->order[k];
        struct world_queue_verdict *v = &out->verdicts[job];
        const struct world_placed *x = &out->plan->placed[job];

        *v = (struct world_queue_verdict){.reason = QUEUE_REASON_TIME_LIMIT,
                                          .blocker = WORLD_NONE,
                                          .until_s = (double)NAN,
                                          .behind = v->behind,
                                          .broken_by_s = (double)NAN};
        if (x->positions && x->start_s <= 0) {
            v->reason = QUEUE_REASON_STARTS;
            continue;
        }
        if ((!x->positions && x->wait != WORLD_WAIT_OUT_OF_TIME) || v->behind ||
            is_over(p))
            continue;
        *v = explain(p, job, x->positions ? x->start_s : (double)NAN);
    }
    for (size_t i = 0; i < p->w->job_count; i++) {
        struct world_queue_verdict *v = &out->verdicts[i];

        if (v->wait == WORLD_WAIT_NONE && v->by == QUEUE_BY_JOB &&
            v->reason != QUEUE_REASON_RESERVATION &&
            out->plan->placed[v->blocker].positions)
            v->until_s = out->plan->placed[v->blocker].start_s;
    }
    out->cut = out->cut || p->cut;
}

/* ---- all ---- */

/* Jobs that are not to be placed at all, and gangs that miss one of these. */
static void refuse_some(struct play *p)
{
    for (size_t i = 0; i < p->w->job_count; i++) {
        size_t group = p->w->jobs[i].group;

        budget_step(p->w->budget, 1);
        if (p->w->jobs[i].barred == WORLD_WAIT_NONE)
            continue;
        board_refuse(p->b, i, p->w->jobs[i].barred, WORLD_NONE);
        if (group == WORLD_NONE || p->w->groups[group].policy != GROUP_GANG)
            continue;
        for (size_t k = 0; k < p->w->groups[group].job_count; k++) {
            size_t member = p->w->groups[group].jobs[k];

            if (p->w->jobs[member].barred == WORLD_WAIT_NONE)
                board_refuse(p->b, member, WORLD_WAIT_GROUP_GANG, group);
        }
        budget_step(p->w->budget, p->w->groups[group].job_count);
    }
}

/* A world whose questions are answered to the end. */
static const struct world *patient(const struct world *w, struct arena *a)
{
    struct world *copy = NEW(a, struct world, 1);

    *copy = *w;
    copy->budget = budget_finish(w->budget);
    return copy;
}

static void play_all(struct play *p, struct world_queue_out *out)
{
    list_events(p);
    refuse_some(p);
    decide(p);
    out->head = p->head;
    play_future(p, out);
}

/* A plan that was cut goes on without a limit in time. */
static void plan_behind(struct play *p, struct world_queue_out *out)
{
    const struct world_plan *plan = board_plan(p->b);
    struct board *b = board_create(patient(p->w, p->arena), NULL, p->arena);

    for (size_t k = 0; k < plan->placed_count; k++) {
        struct board_spot spot = board_spot_of(&plan->placed[plan->sequence[k]]);

        board_take(b, plan->sequence[k], &spot);
    }
    for (size_t i = 0; i < p->w->job_count; i++)
        if (!plan->placed[i].positions && plan->placed[i].wait != WORLD_WAIT_OUT_OF_TIME)
            board_refuse(b, i, plan->placed[i].wait, plan->placed[i].wait_on);
    p->b = b;
    out->behind_count = place_behind(p, out);
    for (size_t i = 0; i < p->w->job_count; i++)
        if (is_open(p, i))
            board_refuse(p->b, i, WORLD_WAIT_OUT_OF_TIME, WORLD_NONE);
}

/* The first job of the plan that waits: nobody may delay it or any other. */
static void plan_all(struct play *p, const struct world_queue_promises *promises,
                     struct world_queue_out *out)
{
    if (promises)
        queue_keep_promises(p->b, p->queue, promises, p->arena);
    world_list(p->b, WORLD_MCT, p->queue, 1);
    out->head = WORLD_NONE;
    for (size_t k = 0; k < p->w->job_count && out->head == WORLD_NONE; k++) {
        const struct world_placed *x = &p->b->plan.placed[p->queue[k]];

        if (x->positions && x->start_s > 0)
            out->head = p->queue[k];
    }
    p->cut = budget_spent(p->w->budget);
    for (size_t i = 0; i < p->w->job_count; i++)
        p->has_after = p->has_after || p->w->jobs[i].after_count;
    if (board_plan(p->b)->cut)
        plan_behind(p, out);
}

/* A board with what starts now alone. */
static void keep_starts(struct play *p, const struct world_plan *plan)
{
    p->b = board_create(patient(p->w, p->arena), NULL, p->arena);
    for (size_t i = 0; i < p->w->job_count; i++) {
        const struct world_placed *x = &plan->placed[i];

        if (!x->positions && x->wait != WORLD_WAIT_OUT_OF_TIME)
            board_refuse(p->b, i, x->wait, x->wait_on); /* it has no turn at all */
        if (x->positions && x->start_s <= 0)
            board_take(p->b, i,
                       &(struct board_spot){x->positions, x->position_count, x->choice,
                                            x->start_s, x->stage_in_s, x->run_s, x->end_s,
                                            x->done_s});
    }
}

void world_queue(const struct world *w, const struct queue_discipline *discipline,
                 const struct world_queue_promises *promises, struct world_queue_out *out,
                 struct arena *a)
{
    bool planned = discipline->rule == QUEUE_CONSERVATIVE;
    struct play p = {.w = w, .rule = discipline, .head = WORLD_NONE, .arena = a};
    struct board *full;

    p.queue = NEW(a, size_t, w->job_count);
    p.backfill = NEW(a, size_t, w->job_count);
    p.tried = NEW(a, size_t, w->group_count);
    p.head_positions = NEW(a, size_t, w->resource_count);
    world_queue_order(w, discipline->order, p.queue, a);
    world_queue_order(w, discipline->backfill_order, p.backfill, a);
    p.b = board_create(planned ? w : patient(w, a), NULL, a);
    *out = (struct world_queue_out){
        .order = p.queue, .verdicts = NEW(a, struct world_queue_verdict, w->job_count)};
    if (planned)
        plan_all(&p, promises, out);
    else
        play_all(&p, out);
    out->plan = board_plan(p.b);
    out->cut = p.cut;
    for (size_t i = 0; i < w->job_count; i++)
        out->start_count +=
            out->plan->placed[i].positions && out->plan->placed[i].start_s <= 0;
    full = p.b;
    keep_starts(&p, out->plan);
    explain_all(&p, out);
    p.b = full;
    if (planned && promises)
        blame_broken(&p, promises, out);
}
