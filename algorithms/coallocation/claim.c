/* coallocation/claim.c - the incremental claiming policy, one try at a time.
 *
 * Algorithm 2 of the source, line by line (a[s]: processors of site s still free in this
 * try, E_j: the site of component j, n_j: its processors):
 *
 *     1      F := share of the components that have started or can start now
 *     2      F < T: start nothing
 *     4-7    each of the others: the policy that placed the job chooses a site E' for it
 *            alone; it goes there if now + T(E', F') < JST
 *     8-14   else, if a[E_j] + processors of running jobs of lower priority there >= n_j:
 *            stop such jobs, the last to start first, until it fits
 *     15     start all that can
 *
 * A new site must have room beside what this scheduler has promised others there:
 *
 *     room(s) = min(a[s], idle - others' outstanding - own components waiting there)
 *
 * Source: spec coallocation.md 8, 9; 001_546dfcc428821807 4.2.2, 4.4 [L875-L918].
 * Deviation: ours are the split into components that can and cannot start (largest
 * first), room(), that E_j in line 9 is the site before line 5, that ties in line 11 go
 * to the lower priority and then by id, that the final try happens completely or not at
 * all, and what becomes of jobs that are not atomic: at JST what fits starts, whatever T
 * is. A site that is not usable is never made free by preemption.
 */
#include "algorithms/coallocation/claim.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const co_preempt_order_names[] = {"newest", "lowest_priority_then_newest",
                                              NULL};
const char *const co_preempt_site_names[] = {"original", "replacement", NULL};
const char *const co_claim_decision_names[] = {
    "start_all", "start_partial", "wait", "requeue_placement", "fail", NULL};

/* ---- policies ---- */

const struct policy co_claim_policies[] = {
#define X(policy, does, described, claim) \
    {.name = #policy,                     \
     .purpose = does,                     \
     described,                           \
     .params = co_claim_params,           \
     .run = (policy_fn *)claim},
    CO_CLAIM_POLICIES(X)
#undef X
        {0},
};

enum {
    T_THRESHOLD,
    L_DECREMENT,
    L_MIN,
    MAX_TRIES,
    ZERO_L_INTERVAL,
    START_EQUAL,
    PREEMPT_ORDER,
    PREEMPT_SITE,
    ONLY_IF_COMPLETE,
    BASE_PRIORITY,
};

const struct param co_claim_params[] = {
    [T_THRESHOLD] = {"t_threshold", 0, 1, 1,
                     "T: least share of the components that can start, else the job "
                     "waits; with 1 nothing is moved or preempted, 0.5 is worth a try "
                     "(default: Mohamed 2007)",
                     PARAM_NUMBER, NULL},
    [L_DECREMENT] = {"l_decrement", 0, 1, 0.25,
                     "What L loses when a job could not be claimed by its start "
                     "(default: Mohamed 2007)",
                     PARAM_NUMBER, NULL},
    [L_MIN] = {"l_min", 0, 1, 0, "Least L", PARAM_NUMBER, NULL},
    [MAX_TRIES] = {"max_claim_tries", 0, 1e9, NAN,
                   "The job fails with the try after so many; without: never",
                   PARAM_INTEGER, NULL},
    [ZERO_L_INTERVAL] = {"zero_l_claim_interval_s", 1e-3, 1e9, 10,
                         "Time between claims when L is 0", PARAM_NUMBER, NULL},
    [START_EQUAL] = {"allow_start_equal", 0, 1, 0,
                     "A new site will do if its file is there just at the job's start",
                     PARAM_BOOLEAN, NULL},
    [PREEMPT_ORDER] = {"preempt_order", 0, 1, CO_NEWEST,
                       "Which of the jobs of lower priority are stopped first",
                       PARAM_CHOICE, co_preempt_order_names},
    [PREEMPT_SITE] = {"preempt_site", 0, 1, CO_PREEMPT_ORIGINAL,
                      "Where: the site of the component, or the one that was found for "
                      "it too late",
                      PARAM_CHOICE, co_preempt_site_names},
    [ONLY_IF_COMPLETE] = {"preempt_only_if_complete", 0, 1, 0,
                          "Stop others only when the whole job can start then",
                          PARAM_BOOLEAN, NULL},
    [BASE_PRIORITY] = {"preempt_with_base_priority", 0, 1, 0,
                       "By the priority that the job had before it was promoted",
                       PARAM_BOOLEAN, NULL},
    {0},
};

struct co_claim_options co_claim_options_of(const double *value, double min_interval_s)
{
    return (struct co_claim_options){
        .t_threshold = value[T_THRESHOLD],
        .l_decrement = value[L_DECREMENT],
        .l_min = value[L_MIN],
        .max_tries = isnan(value[MAX_TRIES]) ? SIZE_MAX : (size_t)value[MAX_TRIES],
        .steps = {min_interval_s, value[ZERO_L_INTERVAL]},
        .allow_start_equal = value[START_EQUAL] > 0,
        .preempt_only_if_complete = value[ONLY_IF_COMPLETE] > 0,
        .preempt_with_base_priority = value[BASE_PRIORITY] > 0,
        .preempt_order = (enum co_preempt_order)value[PREEMPT_ORDER],
        .preempt_site = (enum co_preempt_site)value[PREEMPT_SITE],
    };
}

/* ---- the claiming queue ---- */

static int compare_waiting(const void *left, const void *right)
{
    const struct co_claim_waiting *x = left, *y = right;
    double x_submitted = isnan(x->submitted_s) ? HUGE_VAL : x->submitted_s;
    double y_submitted = isnan(y->submitted_s) ? HUGE_VAL : y->submitted_s;

    if (x->jct_s != y->jct_s)
        return x->jct_s < y->jct_s ? -1 : 1;
    if (x_submitted != y_submitted)
        return x_submitted < y_submitted ? -1 : 1;
    return strcmp(x->id, y->id);
}

void co_claim_queue_sort(struct co_claim_waiting *list, size_t count)
{
    if (count)
        qsort(list, count, sizeof(*list), compare_waiting);
}

/* ---- a try under way ---- */

enum fate { STUCK, NOW, BEFORE };

/* A running job at one site, in the order in which jobs are preempted there. */
struct victim {
    size_t site, running, processors;
    double jst_s;
    enum co_level level;
    const char *id;
    enum co_preempt_order order;
};

struct attempt {
    const struct co_claim_in *in;
    const struct co_claim_options *options;
    enum co_level level;  /* jobs below it can be preempted */
    size_t *order;        /* components, largest first */
    size_t *idle;         /* of each site */
    size_t *others;       /* outstanding of other jobs */
    size_t *free_count;   /* a[s] */
    size_t *pending;      /* of this job, not started before, by present site */
    size_t *preemptible;  /* processors of running jobs of lower priority */
    size_t *room;         /* for one component */
    size_t *used;         /* components of this job on each site */
    bool *used_by_others; /* for one component */
    bool *stopped;        /* running jobs */
    size_t *site;         /* of each component, after moves */
    enum fate *fate;      /* of each component */
    struct co_claim_move *moves;
    size_t move_count;
    struct co_claim_preemption *preemptions;
    size_t preemption_count, preemption_size;
    struct victim *victims; /* by site; NULL: not made yet */
    size_t victim_count;
    struct co_history history;
    struct co_pair *added;
    size_t added_count;
    size_t now_count, before_count;
    bool cut;
    struct arena *arena;
    struct error *err;
};

struct sized {
    size_t processors, index;
};

static int compare_sized(const void *left, const void *right)
{
    const struct sized *x = left, *y = right;

    if (x->processors != y->processors)
        return x->processors > y->processors ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void sort_components(struct attempt *t)
{
    size_t count = t->in->component_count;
    struct sized *list = NEW(t->arena, struct sized, count);

    t->order = NEW(t->arena, size_t, count);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct sized){t->in->components[i].processors, i};
    qsort(list, count, sizeof(*list), compare_sized);
    for (size_t i = 0; i < count; i++)
        t->order[i] = list[i].index;
}

/* Whether a running job may be stopped for this one. */
static bool is_lower(const struct attempt *t, const struct co_running_job *job)
{
    return job->level < t->level;
}

/* The state before line 1. */
static void attempt_reset(struct attempt *t)
{
    const struct co_claim_in *in = t->in;
    size_t sites = in->grid->site_count;

    memcpy(t->free_count, t->idle, sites * sizeof(*t->free_count));
    memset(t->pending, 0, sites * sizeof(*t->pending));
    memset(t->preemptible, 0, sites * sizeof(*t->preemptible));
    memset(t->used, 0, sites * sizeof(*t->used));
    memset(t->stopped, 0, in->running_count * sizeof(*t->stopped));
    t->move_count = t->preemption_count = 0;
    t->now_count = t->before_count = 0;
    for (size_t i = 0; i < in->component_count; i++) {
        size_t site = in->choices[i].site;

        t->site[i] = site;
        t->fate[i] = in->started[i] ? BEFORE : STUCK;
        t->before_count += in->started[i];
        if (site == CO_NONE)
            continue;
        t->used[site]++;
        if (!in->started[i])
            t->pending[site] += in->components[i].processors;
    }
    for (size_t r = 0; r < in->running_count; r++)
        for (size_t p = 0; p < in->running[r].part_count; p++)
            if (is_lower(t, &in->running[r]))
                t->preemptible[in->running[r].parts[p].site] +=
                    in->running[r].parts[p].processors;
}

static enum error_code attempt_create(struct attempt *t)
{
    const struct co_claim_in *in = t->in;
    size_t sites = in->grid->site_count, count = in->component_count;

    t->idle = NEW(t->arena, size_t, sites);
    t->others = NEW(t->arena, size_t, sites);
    t->free_count = NEW(t->arena, size_t, sites);
    t->pending = NEW(t->arena, size_t, sites);
    t->preemptible = NEW(t->arena, size_t, sites);
    t->room = NEW(t->arena, size_t, sites);
    t->used = NEW(t->arena, size_t, sites);
    t->used_by_others = NEW(t->arena, bool, sites);
    t->stopped = NEW(t->arena, bool, in->running_count);
    t->site = NEW(t->arena, size_t, count);
    t->fate = NEW(t->arena, enum fate, count);
    t->moves = NEW(t->arena, struct co_claim_move, count);
    if (!in->history)
        TRY(co_history_create(in->grid, &t->history, t->arena));
    sort_components(t);
    for (size_t s = 0; s < sites; s++) {
        bool usable = in->grid->sites[s].usable;

        t->idle[s] = in->idle ? in->idle[s] : co_claimable(in->grid, s);
        if (!usable)
            t->idle[s] = 0;
    }
    attempt_reset(t);
    for (size_t s = 0; s < sites; s++) {
        size_t all =
            in->outstanding ? in->outstanding[s] : in->grid->sites[s].outstanding;

        t->others[s] = all > t->pending[s] ? all - t->pending[s] : 0;
    }
    return OK;
}

static void start_now(struct attempt *t, size_t component)
{
    t->free_count[t->site[component]] -= t->in->components[component].processors;
    t->fate[component] = NOW;
    t->now_count++;
}

/* ---- lines 4 to 7: another site ---- */

static void find_room(struct attempt *t, size_t component)
{
    size_t own_site = t->site[component];

    for (size_t s = 0; s < t->in->grid->site_count; s++) {
        size_t own = s == own_site ? t->in->components[component].processors : 0;
        size_t taken = t->others[s] + t->pending[s] - own;
        size_t left = t->idle[s] > taken ? t->idle[s] - taken : 0;

        t->room[s] = left < t->free_count[s] ? left : t->free_count[s];
        t->used_by_others[s] = t->used[s] > (s == own_site);
    }
}

static void note_added(struct attempt *t, const struct co_pair *pairs, size_t count)
{
    struct co_pair *list;

    if (count == 0)
        return;
    list =
        GROW(t->arena, t->added, struct co_pair, t->added_count, t->added_count + count);
    memcpy(list + t->added_count, pairs, count * sizeof(*list));
    t->added = list;
    t->added_count += count;
}

static void choose_site(struct attempt *t, size_t component, struct co_choice *choice,
                        bool *found)
{
    struct co_component alone = t->in->components[component];
    const struct co_place_in place = {
        .grid = t->in->grid,
        .job = t->in->job,
        .available = t->room,
        .history = t->in->history ? t->in->history : &t->history,
        .budget = t->in->budget,
    };
    const struct co_pair *added = NULL;
    size_t added_count = 0;

    *found = false;
    if (alone.fixed_site != CO_NONE)
        return;
    if (budget_spent(t->in->budget)) {
        t->cut = true;
        return;
    }
    find_room(t, component);
    co_choose(&place, &alone, t->used_by_others, choice, found, &added, &added_count,
              t->arena);
    note_added(t, added, added_count);
}

static void move(struct attempt *t, size_t component, const struct co_choice *to)
{
    size_t from = t->site[component];
    size_t processors = t->in->components[component].processors;

    t->moves[t->move_count++] = (struct co_claim_move){component, from, *to};
    if (from != CO_NONE) {
        t->pending[from] -= processors;
        t->used[from]--;
    }
    t->pending[to->site] += processors;
    t->used[to->site]++;
    t->site[component] = to->site;
}

/* ---- lines 8 to 14: preemption ---- */

static int compare_victims(const void *left, const void *right)
{
    const struct victim *x = left, *y = right;
    int by_name;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->order == CO_LOWEST_PRIORITY_THEN_NEWEST && x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->jst_s != y->jst_s)
        return x->jst_s > y->jst_s ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    by_name = strcmp(x->id, y->id);
    if (by_name != 0)
        return by_name;
    return x->running < y->running ? -1 : x->running > y->running;
}

/* Parts of a job on one site become one. */
static void merge_victims(struct attempt *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->victim_count; i++) {
        struct victim *last = kept ? &t->victims[kept - 1] : NULL;

        if (last && last->site == t->victims[i].site &&
            last->running == t->victims[i].running)
            last->processors += t->victims[i].processors;
        else
            t->victims[kept++] = t->victims[i];
    }
    t->victim_count = kept;
}

static void find_victims(struct attempt *t)
{
    const struct co_claim_in *in = t->in;
    size_t count = 0;

    for (size_t r = 0; r < in->running_count; r++)
        count += in->running[r].part_count;
    t->victims = NEW(t->arena, struct victim, count);
    for (size_t r = 0; r < in->running_count; r++) {
        const struct co_running_job *job = &in->running[r];

        for (size_t p = 0; is_lower(t, job) && p < job->part_count; p++)
            t->victims[t->victim_count++] = (struct victim){
                job->parts[p].site, r,       job->parts[p].processors, job->jst_s,
                job->level,         job->id, t->options->preempt_order};
    }
    if (t->victim_count)
        qsort(t->victims, t->victim_count, sizeof(*t->victims), compare_victims);
    merge_victims(t);
}

static void stop(struct attempt *t, const struct victim *victim)
{
    const struct co_running_job *job = &t->in->running[victim->running];

    if (t->preemption_count == t->preemption_size) {
        size_t size = t->preemption_size ? 2 * t->preemption_size : 8;

        t->preemptions = GROW(t->arena, t->preemptions, struct co_claim_preemption,
                              t->preemption_size, size);
        t->preemption_size = size;
    }
    t->preemptions[t->preemption_count++] =
        (struct co_claim_preemption){victim->running, victim->site, victim->processors};
    t->stopped[victim->running] = true;
    for (size_t p = 0; p < job->part_count; p++)
        t->preemptible[job->parts[p].site] -= job->parts[p].processors;
    t->free_count[victim->site] += victim->processors;
}

/* First victim of a site. */
static size_t first_victim(const struct attempt *t, size_t site)
{
    size_t low = 0, high = t->victim_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->victims[middle].site < site)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* *done: the site has room for the processors now. */
static void preempt(struct attempt *t, size_t site, size_t processors, bool *done)
{
    *done = false;
    if (site == CO_NONE || !t->in->grid->sites[site].usable ||
        t->free_count[site] + t->preemptible[site] < processors)
        return;
    if (!t->victims)
        find_victims(t);
    for (size_t i = first_victim(t, site);
         i < t->victim_count && t->free_count[site] < processors; i++)
        if (!t->stopped[t->victims[i].running])
            stop(t, &t->victims[i]);
    *done = true;
}

/* Lines 4 to 14 for one component. */
static void make_startable(struct attempt *t, size_t component, bool may_preempt)
{
    size_t processors = t->in->components[component].processors;
    struct co_choice choice = {CO_NONE, CO_NONE, 0};
    bool found, elsewhere, done = false;
    double ready_s;

    choose_site(t, component, &choice, &found);
    ready_s = found ? t->in->now_s + choice.transfer_s : HUGE_VAL;
    if (ready_s < t->in->jst_s ||
        (t->options->allow_start_equal && ready_s <= t->in->jst_s)) {
        move(t, component, &choice);
        start_now(t, component);
        return;
    }
    if (!may_preempt)
        return;
    elsewhere = found && t->options->preempt_site == CO_PREEMPT_REPLACEMENT;
    preempt(t, elsewhere ? choice.site : t->site[component], processors, &done);
    if (!done)
        return;
    if (elsewhere)
        move(t, component, &choice);
    start_now(t, component);
}

/* ---- one try ---- */

static bool is_final(const struct co_claim_in *in)
{
    return in->now_s >= in->jst_s - CO_TIME_SLACK_S;
}

static double threshold(const struct attempt *t)
{
    return is_final(t->in) && !t->in->job->atomic ? 0 : t->options->t_threshold;
}

/* All lines; *fraction is F. */
static void run_try(struct attempt *t, bool may_preempt, double *fraction)
{
    const struct co_claim_in *in = t->in;
    size_t count = in->component_count;

    attempt_reset(t);
    for (size_t i = 0; i < count; i++) {
        size_t component = t->order[i], site = t->site[component];

        if (t->fate[component] == STUCK && site != CO_NONE &&
            t->free_count[site] >= in->components[component].processors)
            start_now(t, component);
    }
    *fraction = (double)(t->before_count + t->now_count) / (double)count;
    if (*fraction < threshold(t)) {
        attempt_reset(t);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (t->fate[t->order[i]] == STUCK)
            make_startable(t, t->order[i], may_preempt);
}

static bool is_complete(const struct attempt *t)
{
    return t->before_count + t->now_count == t->in->component_count;
}

static void decide(struct attempt *t, struct co_claim_out *out)
{
    const struct co_claim_in *in = t->in;

    run_try(t, true, &out->fraction_f);
    if (!is_complete(t) && t->preemption_count && t->options->preempt_only_if_complete)
        run_try(t, false, &out->fraction_f);
    if (is_complete(t))
        out->decision = CO_START_ALL;
    else if (out->tries > t->options->max_tries)
        out->decision = CO_CLAIM_FAIL;
    else if (is_final(in) && (in->job->atomic || t->now_count + t->before_count == 0))
        out->decision = CO_REQUEUE_PLACEMENT;
    else
        out->decision = t->now_count || is_final(in) ? CO_START_PARTIAL : CO_WAIT;
    if (out->decision == CO_CLAIM_FAIL || out->decision == CO_REQUEUE_PLACEMENT)
        attempt_reset(t);
}

/* ---- the answer ---- */

static bool is_over(enum co_claim_decision decision)
{
    return decision == CO_CLAIM_FAIL || decision == CO_REQUEUE_PLACEMENT;
}

static void fill_lists(struct attempt *t, struct co_claim_out *out)
{
    size_t count = t->in->component_count, sites = t->in->grid->site_count;
    bool given_up = is_over(out->decision);
    bool split = out->decision == CO_START_PARTIAL && is_final(t->in);
    size_t *start = NEW(t->arena, size_t, count), *wait = NEW(t->arena, size_t, count);
    size_t *stop_list = NEW(t->arena, size_t, count);
    size_t *released = NEW(t->arena, size_t, sites);
    size_t wait_count = 0;

    for (size_t i = 0; i < count; i++) {
        size_t component = t->order[i], site = t->in->choices[component].site;
        enum fate fate = t->fate[component];
        bool leaves = fate == NOW || (fate == STUCK && (given_up || split));

        if (fate == NOW)
            start[out->start_count++] = component;
        else if (fate == BEFORE && given_up)
            stop_list[out->abort_count++] = component;
        else if (fate == STUCK && !given_up)
            wait[wait_count++] = component;
        if (leaves && site != CO_NONE)
            released[site] += t->in->components[component].processors;
    }
    out->start = start;
    out->abort = stop_list;
    out->released = released;
    *(split ? &out->requeue : &out->waiting) = wait;
    *(split ? &out->requeue_count : &out->waiting_count) = wait_count;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct co_pair *x = left, *y = right;

    if (x->execution_site != y->execution_site)
        return x->execution_site < y->execution_site ? -1 : 1;
    return x->file_site < y->file_site ? -1 : x->file_site > y->file_site;
}

static void fill_pairs(struct attempt *t, struct co_claim_out *out)
{
    size_t kept = 0;

    if (t->added_count == 0)
        return;
    qsort(t->added, t->added_count, sizeof(*t->added), compare_pairs);
    for (size_t i = 0; i < t->added_count; i++)
        if (kept == 0 || compare_pairs(&t->added[kept - 1], &t->added[i]) != 0)
            t->added[kept++] = t->added[i];
    out->added = t->added;
    out->added_count = kept;
}

static void fill(struct attempt *t, struct co_claim_out *out)
{
    const struct co_claim_in *in = t->in;
    const struct co_claim_options *options = t->options;

    fill_lists(t, out);
    fill_pairs(t, out);
    out->moves = t->moves;
    out->move_count = t->move_count;
    out->preemptions = t->preemptions;
    out->preemption_count = t->preemption_count;
    out->cut = t->cut;
    if (out->decision == CO_REQUEUE_PLACEMENT || out->requeue_count)
        out->l = fmin(in->l, fmax(options->l_min, in->l - options->l_decrement));
    if (out->waiting_count)
        out->next_jct_s = co_next_claim_s(in->now_s, in->jst_s, in->l, &options->steps);
}

/* It is not JCT yet: nothing happens, and the try does not count. */
static void too_early(struct attempt *t, struct co_claim_out *out)
{
    out->decision = CO_WAIT;
    out->tries = t->in->tries;
    fill_lists(t, out);
    out->next_jct_s = t->in->jct_s;
}

enum error_code co_claim(const struct co_claim_in *in,
                         const struct co_claim_options *options, struct co_claim_out *out,
                         struct arena *a, struct error *err)
{
    struct attempt *t = NEW(a, struct attempt, 1);
    struct co_claim_out answer = {
        .fraction_f = NAN, .next_jct_s = NAN, .l = in->l, .tries = in->tries + 1};

    assert(in->component_count > 0);
    t->in = in;
    t->options = options;
    t->level = options->preempt_with_base_priority ? in->base_level : in->job->level;
    t->arena = a;
    t->err = err;
    TRY(attempt_create(t));
    if (!isnan(in->jct_s) && in->now_s < in->jct_s - CO_TIME_SLACK_S && !is_final(in)) {
        too_early(t, &answer);
    } else {
        decide(t, &answer);
        fill(t, &answer);
    }
    *out = answer;
    return OK;
}
