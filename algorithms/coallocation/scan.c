/* coallocation/scan.c - the cycle of the placement queues, and one scan.
 *
 * The cycle has N_h (n_1 + n_2) + N_l (n_3 + n_4) scans. It is looked at run by run, so
 * the next queue that is not empty costs the number of rounds, not of scans.
 *
 * A scan counts for each job that was not placed how often later ones were placed past
 * it. Instead of adding one to all of them at each placement, it notes the number of
 * placements when the job failed:
 *
 *     overtaken(j) = overtaken before + placements now - placements when j failed
 *
 * and keeps the largest "before - placements when it failed" for the limit.
 *
 * Source: spec coallocation.md 10; 001_546dfcc428821807 4.2.1, 5.3 [L784-L803, L1119].
 * Deviation: the weights' order is not demanded; the wait-time limit, the tail as the
 * place of promoted jobs, and FCFS as max_overtakes 0 are ours. A job that is not atomic
 * and was placed in part counts as placed.
 */
#include "algorithms/coallocation/scan.h"

const char *const co_scan_outcome_names[] = {
    [CO_SCAN_NOT_REACHED] = "not_reached",
    [CO_SCAN_PLACED] = "placed",
    [CO_SCAN_KEPT] = "kept",
    [CO_SCAN_PROMOTED] = "promoted",
    [CO_SCAN_TRIES] = "max_placement_tries",
    [CO_SCAN_WAITED] = "max_wait_s",
    NULL,
};
const char *const co_requeue_rule_names[] = {"tail", "original", NULL};

/* ---- policies ---- */

const struct policy co_scan_policies[] = {
#define X(policy, does, described) \
    {.name = #policy, .purpose = does, described, .params = co_scan_params},
    CO_SCAN_POLICIES(X)
#undef X
        {0},
};

enum { MAX_TRIES = CO_SCAN_PARAM_FIRST, PROMOTION, MAX_OVERTAKES, MAX_WAIT };

const struct param co_scan_params[] = {
    [CO_SCAN_INTERVAL_S] = {"scan_interval_s", 1e-3, 1e9, 60,
                            "Time between scans (default: Mohamed 2007)", PARAM_NUMBER,
                            NULL},
    [MAX_TRIES] = {"max_placement_tries", 0, 1e9, NAN,
                   "A job fails with the try after so many; without: never",
                   PARAM_INTEGER, NULL},
    [PROMOTION] = {"promotion_p", 1, 1e9, NAN,
                   "Jobs of low and high move up a level every so many tries; without: "
                   "never",
                   PARAM_INTEGER, NULL},
    [MAX_OVERTAKES] = {"max_overtakes", 0, 1e9, NAN,
                       "So many jobs may be placed past a waiting one, then the scan "
                       "stops; 0: first come, first served; without: any number",
                       PARAM_INTEGER, NULL},
    [MAX_WAIT] = {"max_wait_s", 0, 1e12, NAN,
                  "A job that is not placed fails after so long in its queue; without: "
                  "never",
                  PARAM_NUMBER, NULL},
    {0},
};

static size_t limit(double value)
{
    return isnan(value) ? SIZE_MAX : (size_t)value;
}

struct co_scan_options co_scan_options_of(const double *value)
{
    return (struct co_scan_options){
        .max_tries = limit(value[MAX_TRIES]),
        .promotion = isnan(value[PROMOTION]) ? 0 : (size_t)value[PROMOTION],
        .max_overtakes = limit(value[MAX_OVERTAKES]),
        .max_wait_s = isnan(value[MAX_WAIT]) ? HUGE_VAL : value[MAX_WAIT],
    };
}

/* ---- which queue ---- */

static size_t higher_round(const struct co_scan_weights *w)
{
    return w->level[CO_SUPER_HIGH] + w->level[CO_HIGH];
}

static size_t lower_round(const struct co_scan_weights *w)
{
    return w->level[CO_LOW] + w->level[CO_SUPER_LOW];
}

size_t co_scan_cycle_length(const struct co_scan_weights *w)
{
    return w->higher * higher_round(w) + w->lower * lower_round(w);
}

enum co_level co_scan_cycle_at(const struct co_scan_weights *w, size_t cursor,
                               size_t *run)
{
    size_t at = cursor % co_scan_cycle_length(w);
    size_t higher = w->higher * higher_round(w);
    enum co_level first = at < higher ? CO_SUPER_HIGH : CO_LOW;
    enum co_level second = at < higher ? CO_HIGH : CO_SUPER_LOW;
    size_t in_round = at < higher ? at % higher_round(w) : (at - higher) % lower_round(w);
    bool is_first = in_round < w->level[first];

    if (run)
        *run = w->level[first] + (is_first ? 0 : w->level[second]) - in_round;
    return is_first ? first : second;
}

bool co_scan_weights_ordered(const struct co_scan_weights *w)
{
    return w->higher >= w->lower && w->level[CO_SUPER_HIGH] >= w->level[CO_HIGH] &&
           w->level[CO_LOW] >= w->level[CO_SUPER_LOW];
}

bool co_scan_next(const struct co_scan_weights *w, size_t cursor,
                  const bool nonempty[CO_LEVEL_COUNT], enum co_level *level, size_t *next)
{
    size_t length = co_scan_cycle_length(w), run;

    for (size_t k = 0; k < length; k += run) {
        enum co_level queue = co_scan_cycle_at(w, cursor + k, &run);

        if (nonempty[queue]) {
            *level = queue;
            *next = (cursor + k + 1) % length;
            return true;
        }
    }
    *next = cursor;
    return false;
}

/* ---- a scan ---- */

struct scan {
    const struct co_scan_in *in;
    const struct co_scan_options *options;
    struct co_scan_out *out;
    size_t *placed_before; /* of each job, when it had its try */
    bool someone_waits;    /* a job that was not placed is still in the queue */
    /* Of those the most overtaken, as the greatest overtaken - placed_before: */
    size_t worst_overtaken, worst_before;
    struct co_history history; /* unless the caller has one */
};

static bool must_stop(const struct scan *s)
{
    const struct co_scan_options *o = s->options;

    if (budget_spent(s->in->budget))
        return true;
    return s->someone_waits && o->max_overtakes != SIZE_MAX &&
           s->worst_overtaken + s->out->placed_count - s->worst_before >=
               o->max_overtakes;
}

static enum co_scan_outcome refused(const struct scan *s, size_t job)
{
    const struct co_scan_options *o = s->options;
    size_t tries = s->out->jobs[job].tries;
    bool can_rise = s->in->level == CO_LOW || s->in->level == CO_HIGH;

    if (tries > o->max_tries)
        return CO_SCAN_TRIES;
    if (s->in->now_s - s->in->jobs[job].queue_entry_s > o->max_wait_s)
        return CO_SCAN_WAITED;
    return o->promotion && can_rise && tries % o->promotion == 0 ? CO_SCAN_PROMOTED
                                                                 : CO_SCAN_KEPT;
}

static void note_waiting(struct scan *s, size_t job)
{
    size_t overtaken = s->out->jobs[job].overtaken, before = s->out->placed_count;

    s->placed_before[job] = before;
    if (!s->someone_waits || overtaken + s->worst_before > s->worst_overtaken + before) {
        s->worst_overtaken = overtaken;
        s->worst_before = before;
    }
    s->someone_waits = true;
}

static enum error_code try_job(struct scan *s, size_t job, size_t *available,
                               struct arena *a, struct error *err)
{
    struct co_scanned *entry = &s->out->jobs[job];
    const struct co_place_in place = {
        .grid = s->in->grid,
        .job = s->in->jobs[job].job,
        .available = available,
        .history = s->in->history ? s->in->history : &s->history,
        .budget = s->in->budget,
    };

    TRY(co_place(&place, &entry->placement, a, err));
    entry->tries++;
    s->out->reached_count++;
    if (entry->placement.placed) {
        co_hold(&entry->placement, available);
        entry->outcome = CO_SCAN_PLACED;
        s->out->placed_count++;
        return OK;
    }
    entry->outcome = refused(s, job);
    if (entry->outcome == CO_SCAN_KEPT)
        note_waiting(s, job);
    return OK;
}

enum error_code co_scan(const struct co_scan_in *in,
                        const struct co_scan_options *options, size_t *available,
                        struct co_scan_out *out, struct arena *a, struct error *err)
{
    struct co_scan_out answer = {.jobs = NEW(a, struct co_scanned, in->job_count)};
    struct scan s = {.in = in,
                     .options = options,
                     .out = &answer,
                     .placed_before = NEW(a, size_t, in->job_count)};

    if (!in->history)
        TRY(co_history_create(in->grid, &s.history, a));
    for (size_t i = 0; i < in->job_count; i++) {
        answer.jobs[i].tries = in->jobs[i].tries;
        answer.jobs[i].overtaken = in->jobs[i].overtaken;
    }
    for (size_t i = 0; i < in->job_count && !must_stop(&s); i++)
        TRY(try_job(&s, i, available, a, err));
    for (size_t i = 0; i < in->job_count; i++)
        if (answer.jobs[i].outcome == CO_SCAN_KEPT)
            answer.jobs[i].overtaken += answer.placed_count - s.placed_before[i];
    *out = answer;
    return OK;
}

/* ---- coming back ---- */

size_t co_requeue_position(const double *entry_s, size_t count, enum co_requeue_rule rule,
                           double original_entry_s)
{
    size_t at = 0;

    if (rule == CO_REQUEUE_TAIL)
        return count;
    while (at < count && !(entry_s[at] > original_entry_s))
        at++;
    return at;
}
