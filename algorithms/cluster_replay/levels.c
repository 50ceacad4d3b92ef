/* cluster_replay/levels.c - jobs whose images are of several levels.
 *
 * A job goes by the pattern of checkpoint/levels.h that is best for the failures of its
 * nodes. A failure is of class l with the probability f_l - f_(l-1): images of lower
 * levels are gone, and the job goes back to the last one of level l or higher, read in
 * R_l. A level that the pattern does not use passes its failures on to the next one that
 * it does. While an image is read a failure of a lower class leaves what is read: it is
 * read again. A job at its time limit has lost nothing.
 *
 * Patterns are kept by mean and delay. Where the mean is of a history, and so never the
 * same, it is taken on a grid of 1 %: the overhead is flat about its least value.
 *
 * Source: spec reliability.md 5 and 8.2.
 */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <string.h>

enum { PATTERNS = 1024 };
static const double GRID = 0.01; /* of log M */

struct known_pattern {
    double mean_s; /* 0: empty */
    int64_t delay_ms;
    struct levels_pattern *pattern; /* NULL: no time is enough */
};

const struct levels_pattern *levels_known(struct engine *e, double mean_s,
                                          int64_t delay_ms)
{
    const struct replay_rules *rules = e->rules;
    struct levels_job job = {rules->levels, rules->level_count, mean_s,
                             1e-3 * (double)delay_ms, e->budget};
    struct known_pattern *known;
    uint64_t bits;

    if (rules->level_count == 0 || !(mean_s > 0) || isinf(mean_s))
        return NULL;
    if (rules->knows == REPLAY_KNOWS_HISTORY)
        job.mean_s = exp(GRID * round(log(mean_s) / GRID));
    if (!e->patterns)
        e->patterns = NEW(e->a, struct known_pattern, PATTERNS);
    memcpy(&bits, &job.mean_s, sizeof(bits));
    bits = (bits ^ (uint64_t)delay_ms) * 0x9e3779b97f4a7c15U;
    known = &e->patterns[bits >> 54];
    if (known->mean_s != job.mean_s || known->delay_ms != delay_ms) {
        struct levels_pattern found = levels_best(&job);

        known->mean_s = job.mean_s;
        known->delay_ms = delay_ms;
        known->pattern = NULL;
        if (!isinf(found.overhead_ratio) && !isnan(found.overhead_ratio)) {
            known->pattern = NEW(e->a, struct levels_pattern, 1);
            *known->pattern = found;
        }
    }
    return known->pattern;
}

size_t levels_due(const struct levels_pattern *p, int64_t done_ms, int64_t segment_ms)
{
    double boundary = fmax(1, round((double)done_ms / (double)segment_ms));
    size_t level = 0;

    while (level + 1 < p->level_count && fmod(boundary, p->every[level + 1]) <= 0)
        level++;
    return p->levels[level];
}

/* The class of the failure in hand, of the levels that the run uses. */
static size_t class_of(const struct engine *e, const struct run *r)
{
    const struct replay_rules *rules = e->rules;
    size_t class = 0;

    while (class + 1 < rules->level_count &&
           e->failed_at >= rules->levels[class].survives_ratio)
        class ++;
    for (size_t l = 0; r->pattern && l < r->pattern->level_count; l++)
        if (r->pattern->levels[l] >= class)
            return r->pattern->levels[l];
    return class;
}

void levels_lose(struct engine *e, struct life *life, const struct run *r,
                 const struct progress *p, bool failed)
{
    size_t level = failed ? class_of(e, r) : 0;

    if (!p->has_restarted && life->read_level > level)
        level = life->read_level;
    if (!life->level_ms)
        life->level_ms = NEW(e->a, int64_t, e->rules->level_count);
    for (size_t l = 0; l < e->rules->level_count; l++)
        life->level_ms[l] = p->level_ms[l < level ? level : l];
    life->read_level = level;
    life->has_image = life->level_ms[level] >= 0;
    life->image_ms = life->has_image ? life->level_ms[level] : 0;
}

int64_t levels_restart_ms(const struct engine *e, uint32_t job)
{
    const struct life *life = &e->lives[job];
    const struct replay_job *j = &e->in->jobs[job];

    if (!life->has_image)
        return j->scratch_ms;
    if (e->rules->level_count == 0)
        return j->restart_ms;
    return kernel_ms(e->rules->levels[life->read_level].restart_s);
}
