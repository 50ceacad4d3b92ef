/* world/board_pair.c - the best place of a job and the best one elsewhere. */
#include "algorithms/world/buckets.h"

static bool is_elsewhere(const struct world *w, const struct board_spot *a,
                         const struct board_spot *b, bool by_site)
{
    size_t at = a->positions[0], other = b->positions[0];

    return by_site ? w->resources[at].site != w->resources[other].site : at != other;
}

void board_offer(const struct board *b, struct board_pair *p,
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

bool board_seen_before(const struct world_job *j, size_t choice, size_t position)
{
    for (size_t c = 0; c < choice; c++)
        if (j->choices[c].limit_count == 0 &&
            world_mask_has(j->choices[c].mask, position))
            return true;
    return false;
}

size_t board_most_ways(const struct world *w)
{
    size_t most = 1;

    for (size_t j = 0; w->limit_count && j < w->job_count; j++)
        if (w->jobs[j].choice_count > most)
            most = w->jobs[j].choice_count;
    budget_step(w->budget, w->limit_count ? w->job_count : 0);
    return most;
}

struct board_pair board_pair_of(struct board *b, size_t job, bool by_site)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    double release_s = board_release_s(b, job);
    struct board_pair p = {.best = board_nowhere(), .rival = board_nowhere()};

    if (release_s == HUGE_VAL || !board_shared_is_enough(b, job))
        return p;
    if (b->buckets && buckets_pair(b, job, by_site, &p))
        return p;
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < w->resource_count && !board_tick(b); i++) {
            double run_s = world_run_s(w, j, i);
            struct board_spot spot;

            if (release_s + run_s > p.rival.done_s || !board_may_go(b, job, c, i) ||
                board_seen_before(j, c, i))
                continue;
            spot = board_fit_there(b, job, c, i, release_s,
                                   board_latest_s(p.rival.done_s, run_s));
            if (spot.done_s < HUGE_VAL)
                board_offer(b, &p, &spot, by_site);
        }
    return p;
}
