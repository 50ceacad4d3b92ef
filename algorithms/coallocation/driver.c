/* coallocation/driver.c - goes through the components of a job.
 *
 * Components with a site come first, then the others by decreasing size: the large ones
 * are hard to fit. For each, the candidates are the sites that the job may use, that have
 * enough processors left and, with distinct sites, no component of the job. A component
 * with a site takes the replica with the least transfer time, for any other the policy
 * chooses among the candidates.
 *
 * Refused, a job gets the reason of the component that failed, and each site counts once,
 * under the first thing that is wrong with it.
 *
 * Source: 001_546dfcc428821807 4.3 [L825-L863]; spec coallocation.md 6.1, 6.7.
 * Deviation: components with a site first is ours. A component with a site counts only
 * that site in its reasons. Under data_present a site without the file counts as
 * no_replica.
 */
#include "algorithms/coallocation/parts.h"

#include <math.h>
#include <stdlib.h>

/* ---- sites of a job ---- */

enum co_reason co_site_bar(const struct co_grid *grid, const struct co_job *job,
                           size_t site, bool avoid)
{
    enum co_reason bar = job->barred ? (enum co_reason)job->barred[site] : CO_NO_REASON;

    if (!grid->sites[site].usable)
        return CO_NOT_USABLE;
    return bar == CO_AVOIDED && !avoid ? CO_NO_REASON : bar;
}

void co_site_bars(const struct co_grid *grid, const struct co_job *job, bool avoid,
                  char *bars)
{
    for (size_t s = 0; s < grid->site_count; s++)
        bars[s] = (char)co_site_bar(grid, job, s, avoid);
}

/* Why the component cannot go to a site, as far as rules and processors tell. */
static enum co_reason site_refuses(const struct co_state *s,
                                   const struct co_component *component, size_t site,
                                   const char *bars)
{
    enum co_reason bar = (enum co_reason)bars[site];

    if (bar != CO_NO_REASON)
        return bar;
    if (s->job->distinct && s->used[site])
        return CO_ALREADY_USED;
    return s->available[site] < component->processors ? CO_TOO_FEW_PROCESSORS
                                                      : CO_NO_REASON;
}

static void find_candidates(struct co_state *s, const struct co_component *component,
                            const char *bars, bool *candidate)
{
    for (size_t e = 0; e < s->grid->site_count; e++)
        candidate[e] = (component->fixed_site == CO_NONE || component->fixed_site == e) &&
                       site_refuses(s, component, e, bars) == CO_NO_REASON;
}

/* More processors are left, or as many that are more likely to stay. */
static bool is_fuller(const struct co_state *s, size_t site, size_t than)
{
    if (than == CO_NONE || s->available[site] != s->available[than])
        return than == CO_NONE || s->available[site] > s->available[than];
    return co_stays_longer(s->grid, site, than);
}

bool co_choose_fullest(const struct co_state *s, const bool *among, struct co_choice *out)
{
    size_t best[2] = {CO_NONE, CO_NONE}; /* of all, of those among */

    for (size_t e = 0; e < s->grid->site_count; e++) {
        if (!s->candidate[e] || !isfinite(s->reach_s[e]))
            continue;
        if (is_fuller(s, e, best[0]))
            best[0] = e;
        if (among && among[e] && is_fuller(s, e, best[1]))
            best[1] = e;
    }
    if (best[1] != CO_NONE)
        best[0] = best[1];
    if (best[0] == CO_NONE)
        return false;
    *out = (struct co_choice){best[0], s->reach_file[best[0]], s->reach_s[best[0]]};
    return true;
}

/* ---- why not ---- */

/* The same of files: which of the policy's ways leads to no site. */
static enum co_reason data_refuses(const struct co_state *s, const struct policy *policy,
                                   const struct co_component *component, size_t site)
{
    const struct co_grid_file *file;
    bool known = false;

    if (component->file == CO_NONE)
        return CO_NO_REASON;
    file = &s->grid->files[component->file];
    if (policy->flags & CO_NEEDS_DATA)
        return CO_NO_REPLICA;
    for (size_t i = 0; i < file->site_count && !known; i++)
        known = !s->history || !s->history->known ||
                s->history->known[site * s->grid->site_count + file->sites[i]];
    if (policy->flags & CO_USES_HISTORY && component->fixed_site == CO_NONE && !known)
        return CO_NO_HISTORY_PAIR;
    return CO_NO_LINK;
}

/* What is told of the component: the first thing that is wrong with it. */
static enum co_reason main_reason(const struct co_state *s, const struct policy *policy,
                                  const struct co_component *component,
                                  const size_t *count)
{
    size_t barred = count[CO_NOT_USABLE] + count[CO_CAPABILITY];
    size_t looked_at = component->fixed_site == CO_NONE ? s->grid->site_count : 1;
    size_t candidates =
        count[CO_NO_HISTORY_PAIR] + count[CO_NO_LINK] + count[CO_NO_REPLICA];

    if (component->file != CO_NONE && s->grid->files[component->file].site_count == 0)
        return CO_NO_REPLICA;
    if (barred == looked_at)
        return CO_CAPABILITY;
    if (candidates == 0)
        return component->fixed_site == CO_NONE ? CO_NO_SITE_WITH_ENOUGH_PROCESSORS
                                                : CO_FIXED_SITE_FULL;
    if (policy->flags & CO_NEEDS_DATA)
        return CO_NO_REPLICA;
    return count[CO_NO_LINK] == 0 ? CO_NO_HISTORY_PAIR : CO_NO_LINK;
}

static void explain(const struct co_state *s, const struct policy *policy,
                    const struct co_component *component, const char *bars,
                    struct co_placement *out)
{
    out->nearest_site = CO_NONE;
    for (size_t r = 0; r < CO_REASON_COUNT; r++)
        out->reason_count[r] = 0;
    for (size_t e = 0; e < s->grid->site_count; e++) {
        enum co_reason reason;

        if (component->fixed_site != CO_NONE && component->fixed_site != e)
            continue;
        reason = site_refuses(s, component, e, bars);
        if (reason == CO_NO_REASON)
            reason = data_refuses(s, policy, component, e);
        out->reason_count[reason]++;
        if (reason == CO_TOO_FEW_PROCESSORS &&
            (out->nearest_site == CO_NONE ||
             s->available[e] > s->available[out->nearest_site]))
            out->nearest_site = e;
    }
    if (out->nearest_site != CO_NONE)
        out->processors_short = component->processors - s->available[out->nearest_site];
    out->reason = main_reason(s, policy, component, out->reason_count);
}

/* ---- one component after the other ---- */

struct sized {
    size_t position, processors;
    bool fixed;
};

static int by_size(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;

    if (a->fixed != b->fixed)
        return a->fixed ? -1 : 1;
    if (a->processors != b->processors)
        return a->processors > b->processors ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

void co_component_order(const struct co_component *components, size_t count,
                        size_t **order, struct arena *a)
{
    struct sized *list = NEW(a, struct sized, count);

    *order = NEW(a, size_t, count);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct sized){i, components[i].processors,
                                 components[i].fixed_site != CO_NONE};
    qsort(list, count, sizeof(*list), by_size);
    for (size_t i = 0; i < count; i++)
        (*order)[i] = list[i].position;
}

static bool choose(struct co_state *s, const struct policy *policy,
                   const struct co_component *component, struct co_choice *out)
{
    size_t site = component->fixed_site;

    co_state_reach(s, component);
    if (site == CO_NONE)
        return co_choose_fn_of(policy)(s, component, s->job->param, out);
    *out = (struct co_choice){site, s->reach_file[site], s->reach_s[site]};
    return s->candidate[site] && isfinite(s->reach_s[site]);
}

static void take(struct co_state *s, const struct co_component *component,
                 const struct co_choice *choice, struct co_placement *out)
{
    s->available[choice->site] -= component->processors;
    if (!s->used[choice->site])
        out->site_count++;
    s->used[choice->site] = true;
    out->placed_count++;
    out->ftt_s = fmax(out->ftt_s, choice->transfer_s);
}

void co_place_components(const struct co_place_in *in, const struct policy *policy,
                         const struct co_component *components, size_t count, bool avoid,
                         struct co_placement *out, struct arena *a)
{
    struct co_state s;
    size_t *order;
    bool *candidate;
    char *bars;

    *out = (struct co_placement){.components = components,
                                 .component_count = count,
                                 .choices = NEW(a, struct co_choice, count),
                                 .algorithm = policy->name,
                                 .failed_component = CO_NONE,
                                 .nearest_site = CO_NONE};
    candidate = NEW(a, bool, in->grid->site_count);
    bars = NEW(a, char, in->grid->site_count);
    co_site_bars(in->grid, in->job, avoid, bars);
    co_state_create(in, &s, a);
    co_component_order(components, count, &order, a);
    s.candidate = candidate;
    for (size_t i = 0; i < count; i++)
        out->choices[i] = (struct co_choice){CO_NONE, CO_NONE, 0};
    for (size_t i = 0; i < count; i++) {
        const struct co_component *component = &components[order[i]];
        struct co_choice choice;

        out->cut = budget_step(in->budget, co_reach_steps(in->grid, component->file));
        if (out->cut)
            break;
        find_candidates(&s, component, bars, candidate);
        if (choose(&s, policy, component, &choice)) {
            out->choices[order[i]] = choice;
            take(&s, component, &choice, out);
            continue;
        }
        if (out->failed_component == CO_NONE) {
            out->failed_component = order[i];
            explain(&s, policy, component, bars, out);
        }
        if (in->job->atomic)
            break;
    }
    out->placed = (out->failed_component == CO_NONE && !out->cut) ||
                  (!in->job->atomic && out->placed_count >= in->job->min_placed);
    co_state_added(&s, &out->added, &out->added_count);
}

/* ---- one job ---- */

/* What pack_retry found instead of the policy. */
static void use_packing(const struct co_place_in *in, struct co_choice *choices,
                        struct co_placement *out)
{
    const struct co_grid *grid = in->grid;

    out->placed = true;
    out->choices = choices;
    out->placed_count = out->component_count;
    out->site_count = 0;
    out->ftt_s = 0;
    out->failed_component = out->nearest_site = CO_NONE;
    out->reason = CO_NO_REASON;
    for (size_t i = 0; i < out->component_count; i++)
        out->ftt_s = fmax(out->ftt_s, choices[i].transfer_s);
    for (size_t e = 0; e < grid->site_count; e++) {
        bool used = false;

        for (size_t i = 0; i < out->component_count && !used; i++)
            used = choices[i].site == e;
        out->site_count += used;
    }
}

/* With or without the sites to avoid. */
static enum error_code place_once(const struct co_place_in *in, bool avoid,
                                  struct co_placement *out, struct arena *a,
                                  struct error *err)
{
    enum { PACK_MOST = 12 };
    const struct co_job *job = in->job;
    struct co_choice *choices;
    bool found, cut;

    if (job->type == CO_FLEXIBLE)
        return co_place_flexible(in, avoid, out, a, err);
    co_place_components(in, job->policy, job->components, job->component_count, avoid,
                        out, a);
    if (out->placed || out->cut || !job->atomic || job->param[CO_PACK_RETRY] == 0 ||
        job->component_count > PACK_MOST)
        return OK;
    choices = NEW(a, struct co_choice, job->component_count);
    co_pack(in, job->components, job->component_count, avoid, choices, &found, &cut, a);
    if (found)
        use_packing(in, choices, out);
    out->cut = cut;
    return OK;
}

static bool avoids_any(const struct co_place_in *in)
{
    if (!in->job->barred)
        return false;
    for (size_t s = 0; s < in->grid->site_count; s++)
        if (in->job->barred[s] == CO_AVOIDED)
            return true;
    return false;
}

/* The bound of what was placed, and how far above it that is. */
static enum error_code measure(const struct co_place_in *in, bool avoid,
                               struct co_placement *out, struct arena *a,
                               struct error *err)
{
    struct co_component *placed = NEW(a, struct co_component, out->placed_count);
    size_t count = 0;

    for (size_t i = 0; i < out->component_count; i++)
        if (out->choices[i].site != CO_NONE)
            placed[count++] = out->components[i];
    TRY(co_bound(in, placed, count, avoid, &out->lower_bound_s, a, err));
    if (out->lower_bound_s > 0)
        out->gap_ratio = (out->ftt_s - out->lower_bound_s) / out->lower_bound_s;
    else
        out->gap_ratio = out->ftt_s == 0 ? 0 : (double)NAN;
    return OK;
}

enum error_code co_place(const struct co_place_in *in, struct co_placement *out,
                         struct arena *a, struct error *err)
{
    bool avoids = avoids_any(in);
    struct co_placement first;

    TRY(place_once(in, avoids, &first, a, err));
    *out = first;
    if (!first.placed && avoids && in->job->avoid_soft) {
        avoids = false;
        TRY(place_once(in, false, out, a, err));
        co_merge_added(&first, out, a);
        out->avoided_used = out->placed;
    }
    out->lower_bound_s = out->gap_ratio = (double)NAN;
    if (out->placed)
        return measure(in, avoids, out, a, err);
    out->never_fits = co_never_fits(in->grid, in->job);
    return OK;
}

/* ---- one component by itself ---- */

void co_choose(const struct co_place_in *in, const struct co_component *component,
               const bool *used, struct co_choice *out, bool *found,
               const struct co_pair **added, size_t *added_count, struct arena *a)
{
    const struct policy *policy = in->job->policy;
    bool *candidate = NEW(a, bool, in->grid->site_count);
    char *bars = NEW(a, char, in->grid->site_count);
    bool avoids = avoids_any(in);
    struct co_state s;

    co_state_create(in, &s, a);
    for (size_t e = 0; used && e < in->grid->site_count; e++)
        s.used[e] = used[e];
    s.candidate = candidate;
    co_site_bars(in->grid, in->job, avoids, bars);
    find_candidates(&s, component, bars, candidate);
    *found = choose(&s, policy, component, out);
    if (!*found && avoids && in->job->avoid_soft) {
        co_site_bars(in->grid, in->job, false, bars);
        find_candidates(&s, component, bars, candidate);
        *found = choose(&s, policy, component, out);
    }
    if (!*found)
        *out = (struct co_choice){CO_NONE, CO_NONE, HUGE_VAL};
    co_state_added(&s, added, added_count);
}
