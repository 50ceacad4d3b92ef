/* world/buckets.c - the best place of a job, by bounds of where it cannot be. */
#include "algorithms/world/buckets_parts.h"

enum { LIKELY_MAX = 8 }; /* blocks that are looked into before the others */

/* A job on its way through the blocks. */
struct seek {
    struct board *b;
    const struct buckets *t;
    const struct world_job *j;
    size_t job, choice;
    const struct bucket *bucket;
    const int64_t *corner;
    double *first_s, *blocks_s; /* of its bucket */
    double release_s;
    struct board_pair found;
    bool with_rival, by_site;

    /* What counts completes no later than this, and if then, on a lower index: the best;
     * with a rival, that. */
    double limit_s;
    size_t limit_index;
};

static double least_run_s(const struct seek *s, size_t block)
{
    if (!s->bucket->is_related)
        return s->t->least_s[s->job];
    return s->t->speed[block] > 0 ? s->j->estimate_ref_s / s->t->speed[block] : HUGE_VAL;
}

/* Beside so late a release the job lasts no time: it needs nothing free, though what is
 * smaller had to wait when it was looked at from now on. */
static bool may_vanish(const struct buckets *t, size_t job, double release_s)
{
    double held_s = t->list[t->of_job[job]].is_related
                        ? t->list[t->of_job[job]].corner_s / t->speed_max
                        : t->least_s[job];

    return !(release_s + held_s > release_s);
}

/* No completion in the block is earlier. */
static double least_done_s(const struct seek *s, size_t block)
{
    double first_s = s->blocks_s[block];

    return (first_s > s->release_s ? first_s : s->release_s) + least_run_s(s, block);
}

/* Nothing in the block can be better. */
static bool is_worse(const struct seek *s, size_t block)
{
    double done_s = least_done_s(s, block);

    return done_s > s->limit_s || done_s == HUGE_VAL ||
           (done_s >= s->limit_s && s->t->index[block] > s->limit_index);
}

static bool is_large_enough(const struct seek *s, size_t position)
{
    const struct board *b = s->b;
    const int64_t *capacity = s->t->capacity + position * b->row_count;

    for (size_t k = 0; k < b->row_count; k++)
        if (b->at_least[k] > capacity[k])
            return false;
    return !b->groups || board_group_allows(b, s->job, position);
}

/* Raises the bound of the resource to the corner's first start. */
static void raise_bound(struct seek *s, size_t position)
{
    const struct bucket *bucket = s->bucket;
    double held_s = bucket->is_related
                        ? bucket->corner_s / s->b->w->resources[position].speed
                        : bucket->corner_s;

    s->first_s[position] =
        profile_fit_amounts(&s->b->now[position], s->corner, held_s, s->first_s[position],
                            HUGE_VAL, &s->b->looks);
}

static void set_limit(struct seek *s)
{
    const struct board_spot *limit = s->with_rival ? &s->found.rival : &s->found.best;

    s->limit_s = limit->done_s;
    s->limit_index =
        limit->positions ? s->b->w->resources[limit->positions[0]].index : SIZE_MAX;
}

/* Something was found that may be better. */
static void offer(struct seek *s, const struct board_spot *spot)
{
    if (!spot->positions)
        return;
    if (s->with_rival)
        board_offer(s->b, &s->found, spot, s->by_site);
    else if (board_is_better(s->b, spot, &s->found.best))
        s->found.best = *spot;
    set_limit(s);
}

/* It completes too late there to be the rival of a best one on the same site. */
static bool is_no_rival(const struct seek *s, size_t position, double done_s)
{
    const struct world_resource *r = s->b->w->resources;
    const struct board_spot *best = &s->found.best;

    return s->by_site && done_s > best->done_s &&
           r[position].site == r[best->positions[0]].site;
}

static void look_at(struct seek *s, size_t position)
{
    const struct world *w = s->b->w;
    size_t index = w->resources[position].index;
    double run_s = world_run_s(w, s->j, position), least_s;
    struct board_spot spot;

    least_s = fmax(s->first_s[position], s->release_s) + run_s;
    if (least_s > s->limit_s || least_s == HUGE_VAL ||
        (least_s >= s->limit_s && index > s->limit_index) ||
        is_no_rival(s, position, least_s) || !is_large_enough(s, position))
        return;
    raise_bound(s, position);
    least_s = fmax(s->first_s[position], s->release_s) + run_s;
    if (least_s > s->limit_s || least_s == HUGE_VAL)
        return;
    spot = board_fit_there(s->b, s->job, s->choice, position,
                           fmax(s->first_s[position], s->release_s),
                           board_latest_s(s->limit_s, run_s));
    offer(s, &spot);
}

/* The positions of the block that the job's choice has, from bit 0 on. */
static uint32_t bits_of(const struct seek *s, size_t block)
{
    const uint64_t *mask = s->j->choices[s->choice].mask;
    size_t begin = block * BUCKETS_BLOCK, count = s->b->w->resource_count - begin;
    uint32_t bits = (uint32_t)(mask[begin / 64] >> begin % 64);

    return count < BUCKETS_BLOCK ? bits & (((uint32_t)1 << count) - 1) : bits;
}

static void refresh_block(struct seek *s, size_t block)
{
    size_t end = (block + 1) * BUCKETS_BLOCK;
    double least_s = HUGE_VAL;

    if (end > s->b->w->resource_count)
        end = s->b->w->resource_count;
    for (size_t i = block * BUCKETS_BLOCK; i < end; i++)
        least_s = s->first_s[i] < least_s ? s->first_s[i] : least_s;
    s->blocks_s[block] = least_s;
}

static void look_into(struct seek *s, size_t block)
{
    double run_s = least_run_s(s, block), release_s = s->release_s;
    bool is_raised = false;

    for (uint32_t bits = bits_of(s, block); bits; bits &= bits - 1) {
        size_t i = block * BUCKETS_BLOCK + (size_t)__builtin_ctz(bits);
        double first_s = s->first_s[i];

        if ((first_s > release_s ? first_s : release_s) + run_s > s->limit_s)
            continue;
        look_at(s, i);
        is_raised = is_raised || s->first_s[i] > first_s;
    }
    if (is_raised)
        refresh_block(s, block);
    s->b->looks += BUCKETS_BLOCK / 4;
}

/* The blocks of least completion, at most LIKELY_MAX of them, the least first. */
static size_t list_likely(const struct seek *s, size_t *likely)
{
    double done_s[LIKELY_MAX];
    size_t count = 0;

    for (size_t i = 0; i < s->t->block_count; i++) {
        double here_s = least_done_s(s, i);
        size_t at;

        if (here_s == HUGE_VAL ||
            (count == LIKELY_MAX && here_s >= done_s[LIKELY_MAX - 1]))
            continue;
        at = count < LIKELY_MAX ? count++ : LIKELY_MAX - 1;
        for (; at > 0 && done_s[at - 1] > here_s; at--) {
            done_s[at] = done_s[at - 1];
            likely[at] = likely[at - 1];
        }
        done_s[at] = here_s;
        likely[at] = i;
    }
    return count;
}

static bool is_among(const size_t *list, size_t count, size_t block)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == block)
            return true;
    return false;
}

/* Looks into the blocks where something may count. */
static void look_through(struct seek *s)
{
    struct board *b = s->b;
    const struct buckets *t = s->t;
    size_t bucket = t->of_job[s->job], likely[LIKELY_MAX], count;

    if (!t->is_known)
        buckets_fill(b);
    board_need(b, s->job);
    s->bucket = &t->list[bucket];
    s->corner = t->corners + bucket * b->row_count;
    s->first_s = t->first_s + bucket * b->w->resource_count;
    s->blocks_s = t->blocks_s + bucket * t->block_count;
    count = list_likely(s, likely);
    for (size_t i = 0; i < count && !board_tick(b); i++)
        if (!is_worse(s, likely[i]))
            look_into(s, likely[i]);
    for (size_t i = 0; i < t->block_count && !board_tick(b); i++)
        if (!is_worse(s, i) && !is_among(likely, count, i))
            look_into(s, i);
    b->looks += t->block_count;
}

struct board_spot buckets_best(struct board *b, size_t job, size_t choice)
{
    struct seek s = {.b = b,
                     .t = b->buckets,
                     .j = &b->w->jobs[job],
                     .job = job,
                     .choice = choice,
                     .release_s = board_release_s(b, job),
                     .found = {board_nowhere(), board_nowhere()}};

    if (s.release_s == HUGE_VAL)
        return s.found.best;
    if (may_vanish(s.t, job, s.release_s))
        return board_best_of_all(b, job, choice);
    set_limit(&s);
    look_through(&s);
    return s.found.best;
}

bool buckets_pair(struct board *b, size_t job, bool by_site, struct board_pair *found)
{
    struct seek s = {.b = b,
                     .t = b->buckets,
                     .j = &b->w->jobs[job],
                     .job = job,
                     .release_s = board_release_s(b, job),
                     .found = {board_nowhere(), board_nowhere()},
                     .with_rival = !by_site || b->w->site_count > 1,
                     .by_site = by_site};

    if (may_vanish(s.t, job, s.release_s))
        return false;
    set_limit(&s);
    for (s.choice = 0; s.choice < s.j->choice_count; s.choice++)
        look_through(&s);
    *found = s.found;
    return true;
}
