/* world/list_pair.c - the best place of a job and the best one elsewhere. */
#include "algorithms/world/list_parts.h"

static bool is_elsewhere(const struct world *w, const struct board_spot *a,
                         const struct board_spot *b, bool by_site)
{
    size_t at = a->positions[0], other = b->positions[0];

    return by_site ? w->resources[at].site != w->resources[other].site : at != other;
}

static void offer(const struct board *b, struct list_pair *p,
                  const struct board_spot *spot, bool by_site)
{
    bool elsewhere =
        p->best.done_s == HUGE_VAL || is_elsewhere(b->w, spot, &p->best, by_site);

    if (board_is_better(b, spot, &p->best)) {
        if (elsewhere)
            p->rival = p->best;
        p->best = *spot;
    } else if (elsewhere && board_is_better(b, spot, &p->rival)) {
        p->rival = *spot;
    }
}

struct list_pair list_pair_of(struct board *b, size_t job, bool by_site)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    double release_s = board_release_s(b, job);
    struct list_pair p = {.best = board_nowhere(), .rival = board_nowhere()};

    if (release_s == HUGE_VAL || !board_shared_is_enough(b, job))
        return p;
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < w->resource_count && !board_tick(b); i++) {
            double run_s = world_run_s(w, j, i);
            struct board_spot spot;

            if (release_s + run_s > p.rival.done_s || !board_may_go(b, job, c, i) ||
                list_seen_before(j, c, i))
                continue;
            spot = board_fit_there(b, job, c, i, release_s,
                                   board_latest_s(p.rival.done_s, run_s));
            if (spot.done_s < HUGE_VAL)
                offer(b, &p, &spot, by_site);
        }
    return p;
}

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
