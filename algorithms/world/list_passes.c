/* world/list_passes.c - sufferage in passes over all jobs that are ready.
 *
 * In each pass the jobs in order claim their best resources; of two that claim the same
 * one, the one with the strictly larger sufferage keeps it. At the end of the pass all
 * holders are placed, by resource; then the next pass begins. What a holder shares with
 * others (amounts, groups, files) may be gone by its turn: it goes on in the next pass,
 * but for the first, whose place is as it was.
 *
 * A job of several nodes claims none: it is placed in its turn, where it completes first.
 *
 * Source: Maheswaran et al. 1999; gridway.md 5.1, world-model.md 4.3.
 * Cost: one scan for each open job a pass; a pass places one job at least.
 */
#include "algorithms/world/list_parts.h"

struct claim {
    size_t job; /* WORLD_NONE: nobody */
    double sufferage_s;
    struct board_spot spot;
};

struct passes {
    struct board *b;
    struct ready *r;
    size_t *jobs, count;  /* open and ready, in order */
    struct claim *claims; /* by position */
    size_t *by_index;     /* positions by snapshot index */
};

static void claim(struct passes *t, size_t job, const struct board_pair *pair)
{
    struct claim *c = &t->claims[pair->best.positions[0]];
    double sufferage_s =
        pair->rival.done_s < HUGE_VAL ? pair->rival.done_s - pair->best.done_s : HUGE_VAL;

    if (c->job == WORLD_NONE || sufferage_s > c->sufferage_s)
        *c = (struct claim){job, sufferage_s, pair->best};
}

/* Each job claims, or is placed or refused. false: the budget is spent. */
static bool claim_all(struct passes *t)
{
    struct board *b = t->b;

    for (size_t i = 0; i < t->count; i++) {
        size_t job = t->jobs[i];
        struct board_pair pair = {.best = board_nowhere(), .rival = board_nowhere()};
        bool several = b->w->jobs[job].nodes > 1;

        if (several)
            pair.best = board_best(b, job);
        else
            pair = board_pair_of(b, job, false);
        if (board_tick(b))
            return false;
        if (several || pair.best.done_s == HUGE_VAL)
            ready_place(t->r, job, &pair.best);
        else
            claim(t, job, &pair);
    }
    return true;
}

static bool place_claims(struct passes *t)
{
    struct board *b = t->b;
    bool first = true;

    for (size_t i = 0; i < b->w->resource_count; i++) {
        struct claim *c = &t->claims[t->by_index[i]];
        size_t job = c->job;
        struct board_spot now;

        c->job = WORLD_NONE;
        if (job == WORLD_NONE)
            continue;
        now = board_fit(b, job, c->spot.choice, c->spot.positions[0], c->spot.start_s,
                        HUGE_VAL);
        if (now.done_s < HUGE_VAL && (first || now.done_s <= c->spot.done_s)) {
            ready_place(t->r, job, &now);
            first = false;
        }
        if (board_tick(b))
            return false;
    }
    return true;
}

/* Those that are still open, and those that have become ready, in order. */
static void list_open(struct passes *t)
{
    size_t kept = 0, job;
    bool units = false;

    for (size_t i = 0; i < t->count; i++)
        if (t->b->state[t->jobs[i]] == BOARD_OPEN)
            t->jobs[kept++] = t->jobs[i];
    t->count = kept;
    while ((job = list_next_single(t->b, t->r, &units)) != WORLD_NONE) {
        size_t at = t->count++;

        for (; at > 0 && t->r->rank[t->jobs[at - 1]] > t->r->rank[job]; at--)
            t->jobs[at] = t->jobs[at - 1];
        t->jobs[at] = job;
        budget_step(t->b->w->budget, t->count - at);
    }
}

void list_passes(struct board *b, const size_t *order, struct arena *scratch)
{
    const struct world *w = b->w;
    struct passes t = {.b = b, .r = ready_create(b, order, true, scratch)};

    t.jobs = NEW(scratch, size_t, w->job_count);
    t.claims = NEW(scratch, struct claim, w->resource_count);
    t.by_index = NEW(scratch, size_t, w->resource_count);
    for (size_t i = 0; i < w->resource_count; i++) {
        t.claims[i].job = WORLD_NONE;
        t.by_index[w->resources[i].index] = i;
    }
    for (list_open(&t); t.count > 0; list_open(&t))
        if (!claim_all(&t) || !place_claims(&t))
            return;
}
