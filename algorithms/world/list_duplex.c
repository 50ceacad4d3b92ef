/* world/list_duplex.c - the better of min_min and max_min.
 *
 * The one that places more jobs, else the one of less makespan; tie: min_min. Jobs that
 * had their places before keep them.
 *
 * Source: Braun et al. 2001; world-model.md 4.3.
 */
#include "algorithms/world/list_parts.h"

#include <string.h>

/* Jobs that one of the two has decided. */
struct half {
    size_t *jobs; /* placed ones, in order, then those that were refused */
    struct world_placed *placed;
    size_t count, placed_count;
    double makespan_s;
};

static struct half half_of(struct board *b, const bool *open, struct arena *a)
{
    const struct world *w = b->w;
    const struct world_plan *plan = board_plan(b);
    struct half h = {.jobs = NEW(a, size_t, w->job_count),
                     .placed = NEW(a, struct world_placed, w->job_count)};

    for (size_t i = 0; i < plan->placed_count; i++)
        if (open[plan->sequence[i]])
            h.jobs[h.count++] = plan->sequence[i];
    h.placed_count = h.count;
    for (size_t i = 0; i < w->job_count; i++)
        if (open[i] && b->state[i] == BOARD_REFUSED)
            h.jobs[h.count++] = i;
    for (size_t i = 0; i < h.count; i++) {
        const struct world_placed *p = &plan->placed[h.jobs[i]];

        h.placed[i] = *p;
        if (p->position_count > 1) { /* the board uses theirs again */
            size_t *kept = NEW(a, size_t, p->position_count);

            memcpy(kept, p->positions, p->position_count * sizeof(*kept));
            h.placed[i].positions = kept;
        }
        if (i < h.placed_count)
            h.makespan_s = fmax(h.makespan_s, world_finish_s(w, &w->jobs[h.jobs[i]], p));
        budget_step(w->budget, p->position_count + 4);
    }
    return h;
}

static void undo(struct board *b, const struct half *h)
{
    for (size_t i = h->count; i-- > 0;)
        if (i < h->placed_count)
            board_give(b, h->jobs[i]);
        else
            board_reopen(b, h->jobs[i]);
}

static void redo(struct board *b, const struct half *h)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct world_placed *p = &h->placed[i];
        struct board_spot spot = board_spot_of(p);

        if (i < h->placed_count)
            board_take(b, h->jobs[i], &spot);
        else
            board_refuse(b, h->jobs[i], p->wait, p->wait_on);
    }
}

void list_duplex(struct board *b, const size_t *order, struct arena *scratch)
{
    const struct world *w = b->w;
    bool *open = NEW(scratch, bool, w->job_count);
    struct half least, largest;

    for (size_t i = 0; i < w->job_count; i++)
        open[i] = b->state[i] == BOARD_OPEN;
    list_batch(b, WORLD_MIN_MIN, order, scratch);
    if (board_tick(b)) /* what is open goes on from here */
        return;
    least = half_of(b, open, scratch);
    undo(b, &least);
    list_batch(b, WORLD_MAX_MIN, order, scratch);
    largest = half_of(b, open, scratch);
    if (!board_tick(b) && (largest.placed_count > least.placed_count ||
                           (largest.placed_count == least.placed_count &&
                            largest.makespan_s < least.makespan_s)))
        return;
    b->plan.cut = board_tick(b);
    undo(b, &largest);
    redo(b, &least);
}
