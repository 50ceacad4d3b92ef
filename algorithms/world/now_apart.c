/* world/now_apart.c - jobs on several nodes, and jobs of groups, that start now.
 *
 * They are no members of classes: where one goes decides where others may. So they are
 * placed first, by falling tier, priority and weight (ties: queued earlier, request
 * order), a gang or pack in the turn of its first member: each at 0, on the nodes on
 * which it runs shortest. What they take is no choice of the knapsacks any more.
 *
 * Source: world-model.md 6. Cost: that of a board, and for each of them O(resources).
 */
#include "algorithms/world/board_groups.h"
#include "algorithms/world/now_parts.h"

#include <stdlib.h>
#include <string.h>

static bool is_apart(const struct world_job *j)
{
    return j->nodes > 1 || j->group != WORLD_NONE;
}

/* By rank; pointers into jobs of the world. */
static int by_rank(const void *left, const void *right)
{
    const struct world_job *a = *(const struct world_job *const *)left;
    const struct world_job *b = *(const struct world_job *const *)right;

    if (a->tier != b->tier)
        return a->tier > b->tier ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->queued_at_s != b->queued_at_s)
        return a->queued_at_s < b->queued_at_s ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool has_run_time(const struct world_job *j)
{
    return j->etc_s || !isnan(j->estimate_ref_s) || !isnan(j->estimate_s);
}

/* The world in which a job without a run time runs longer than anything lasts. */
static const struct world *with_run_times(const struct world *w, struct arena *a)
{
    struct world *lasting = NEW(a, struct world, 1);
    struct world_job *jobs = NEW(a, struct world_job, w->job_count);

    *lasting = *w;
    lasting->jobs = jobs;
    for (size_t j = 0; j < w->job_count; j++) {
        jobs[j] = w->jobs[j];
        if (!has_run_time(&jobs[j])) {
            jobs[j].estimate_s = WORLD_LONGEST_S;
            jobs[j].time_limit_s = HUGE_VAL;
        }
    }
    return lasting;
}

static struct board_spot spot_before(const struct world_placed *p)
{
    return (struct board_spot){.positions = p->positions,
                               .position_count = p->position_count,
                               .choice = p->choice,
                               .start_s = p->start_s,
                               .stage_in_s = p->stage_in_s,
                               .run_s = p->run_s,
                               .end_s = p->end_s,
                               .done_s = p->done_s};
}

/* Where a job of one node can start now and runs shortest. */
static struct board_spot shortest_now(struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct board_spot best = board_nowhere();

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < w->resource_count; i++) {
            struct board_spot spot;

            budget_step(w->budget, 1);
            if (!world_mask_has(j->choices[c].mask, i) ||
                world_run_s(w, j, i) > best.done_s)
                continue;
            spot = board_fit(b, job, c, i, 0, 0);
            if (board_is_better(b, &spot, &best))
                best = spot;
        }
    return best;
}

static struct board_spot spot_now(struct board *b, size_t job)
{
    const struct board_reach now = {.latest_s = 0};

    if (!board_shared_is_enough(b, job))
        return board_nowhere();
    return b->w->jobs[job].nodes > 1 ? board_fit_nodes(b, job, &now)
                                     : shortest_now(b, job);
}

/* Those that are placed already keep their places; of the others only those that are
 * `asked` are asked. */
static void begin(struct board *b, const struct world_plan *before,
                  const struct world_job *const *asked, size_t asked_count)
{
    const struct world *w = b->w;
    unsigned char *state = b->state;

    for (size_t j = 0; j < w->job_count; j++)
        if (state[j] == BOARD_OPEN)
            board_refuse(b, j, WORLD_WAIT_NO_FREE_NOW, WORLD_NONE);
    for (size_t i = 0; i < asked_count; i++)
        board_reopen(b, (size_t)(asked[i] - w->jobs));
    for (size_t j = 0; before && j < w->job_count; j++)
        if (before->placed[j].positions && before->placed[j].start_s <= 0) {
            struct board_spot spot = spot_before(&before->placed[j]);

            board_take(b, j, &spot);
        }
}

/* It cannot start now, because of its group if it could start without that. */
static void refuse_now(struct board *b, size_t job)
{
    static const enum world_wait of_policy[] = {[GROUP_GANG] = WORLD_WAIT_GROUP_GANG,
                                                [GROUP_SPREAD] = WORLD_WAIT_GROUP_SPREAD,
                                                [GROUP_PACK] = WORLD_WAIT_GROUP_PACK,
                                                [GROUP_EXCLUDE] = WORLD_WAIT_NO_FREE_NOW};
    size_t group = b->w->jobs[job].group;
    struct board_groups *groups = b->groups;
    bool could;

    b->groups = NULL;
    could = group != WORLD_NONE && spot_now(b, job).start_s < HUGE_VAL;
    b->groups = groups;
    if (could)
        board_refuse(b, job, of_policy[b->w->groups[group].policy], group);
    else
        board_refuse(b, job, WORLD_WAIT_NO_FREE_NOW, WORLD_NONE);
}

static void start(struct board *b, size_t job)
{
    if (board_is_unit(b, job)) {
        board_start_unit(b, job);
    } else {
        struct board_spot spot = spot_now(b, job);

        if (spot.start_s < HUGE_VAL)
            board_take(b, job, &spot);
    }
}

/* What has no run time has no end. */
static void forget_run_times(const struct world *w, struct world_plan *plan)
{
    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions && plan->placed[j].run_s >= WORLD_LONGEST_S)
            plan->placed[j].run_s = plan->placed[j].end_s = plan->placed[j].done_s =
                HUGE_VAL;
}

const struct world_plan *now_apart(const struct world *w, const struct world_plan *before,
                                   struct arena *a)
{
    const struct world_job **asked = NEW(a, const struct world_job *, w->job_count);
    const struct world *lasting = w;
    size_t count = 0;
    bool timeless = false;
    struct board *b;

    for (size_t j = 0; j < w->job_count; j++)
        if (is_apart(&w->jobs[j]) && now_is_ready(&w->jobs[j]) &&
            !(before && before->placed[j].positions)) {
            asked[count++] = &w->jobs[j];
            timeless = timeless || !has_run_time(&w->jobs[j]);
        }
    if (count == 0)
        return before;
    if (timeless)
        lasting = with_run_times(w, a);
    for (size_t i = 0; i < count; i++)
        asked[i] = lasting->jobs + (asked[i] - w->jobs);
    qsort(asked, count, sizeof(*asked), by_rank);
    b = board_create(lasting, NULL, a);
    begin(b, before, asked, count);
    for (size_t i = 0; i < count && !budget_step(w->budget, 1); i++)
        if (b->state[asked[i] - lasting->jobs] == BOARD_OPEN)
            start(b, (size_t)(asked[i] - lasting->jobs));
    for (size_t i = 0; i < count; i++)
        if (b->state[asked[i] - lasting->jobs] == BOARD_OPEN)
            refuse_now(b, (size_t)(asked[i] - lasting->jobs));
    forget_run_times(w, &b->plan);
    return board_plan(b);
}
