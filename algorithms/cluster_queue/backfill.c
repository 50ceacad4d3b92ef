/* backfill.c - plans a start for each row, and starts what fits beside all plans.
 *
 * Time ahead is a list of intervals with the nodes that are not promised in them. A row
 * that may use the nodes N from time s on, for its limit L, is tried on those nodes of N
 * that no interval that meets [s, s + L] has promised: now if it fits, else when enough
 * running jobs have ended. If it does not fit, or later than the next change of what
 * may be used, it is tried again from that change on. A plan takes its nodes, whole, out
 * of all intervals between its start and end, both rounded down to the resolution.
 *
 * Where the nodes of some intervals in a row are too few by themselves, no start before
 * the end of the first of these can be; the tries between are left out, which changes
 * nothing.
 *
 * A gang is started if all of its jobs fit, one after the other; else it is planned at
 * the latest of their first starts, or behind it, at one time for all, each on nodes of
 * its own.
 *
 * Cost: for q rows tested, I <= 2q + 1 intervals, n nodes, r running jobs: q (n + I n/64
 * + r) and mostly less.
 *
 * Deviation: Slurm plans onto nodes whose reservation begins only behind now + L;
 * strict_reservations does not.
 */
#include "algorithms/cluster_queue/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATER_NONE INT64_MAX

struct interval {
    int64_t begin_s, end_s;
    uint64_t *nodes;  /* set: not promised */
    int64_t *amounts; /* promised, [node_count][amount_count]; NULL: whole nodes are */
    int64_t *shared;  /* promised; [shared_count] */
    ptrdiff_t from;   /* row whose promise ends where it begins; CLUSTER_NONE */
};

struct backfill {
    struct cluster_pass *pass;
    const struct cluster *of;
    struct cluster_state *state;
    int64_t now_s, window_end_s;
    struct interval **intervals;
    size_t count, room;
    struct cluster_groups *groups; /* [2 * partition_count]; end_s NULL: not made */
    double *tested_user, *tested_account, *tested_partition; /* tests so far */
    double *tested_user_part; /* [user_count][partition_count]; NULL: no limit */
    double *array_plans;      /* of each array */
    bool *array_over;
    bool *gang_seen; /* of each gang */
    double tested, started;
    uint64_t *free; /* set, for the moment */
    int64_t
        *withheld; /* likewise, of each node's amounts; NULL: whole nodes are promised */
};

static int64_t floor_to(int64_t t, int64_t step)
{
    return t - ((t % step) + step) % step;
}

/* ---- groups of running jobs ---- */

struct ending {
    int64_t end_s;
    uint32_t index;
};

static int by_end(const void *x, const void *y, void *context)
{
    const struct ending *a = x, *b = y;

    (void)context;
    if (a->end_s != b->end_s)
        return a->end_s < b->end_s ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool uses(const struct backfill *b, const struct cluster_held *held,
                 const uint64_t *set)
{
    budget_step(b->of->budget, held->node_count);
    for (size_t i = 0; i < held->node_count; i++)
        if (cluster_set_has(set, held->nodes[i]))
            return true;
    return false;
}

/* Jobs over their time end in a second. */
static size_t list_endings(struct backfill *b, size_t partition, bool asks_shared,
                           struct ending *list)
{
    size_t n = 0;

    for (size_t i = 0; i < b->state->held_count; i++) {
        const struct cluster_held *held = b->state->held[i];
        double end_s = fmin(ceil(held->end_s), 9e15);

        if (!uses(b, held, b->of->partitions[partition].nodes) &&
            !(asks_shared && held->shared_count))
            continue;
        list[n++] = (struct ending){
            end_s > (double)b->now_s ? (int64_t)end_s : b->now_s + 1, (uint32_t)i};
    }
    qsort_r(list, n, sizeof(*list), by_end, NULL);
    return n;
}

/* For rows that ask for what exists once: with all jobs that have such. */
static const struct cluster_groups *groups_of(struct backfill *b, size_t partition,
                                              bool asks_shared)
{
    const struct cluster_settings *set = &b->of->settings;
    struct cluster_groups *g = &b->groups[2 * partition + asks_shared];
    struct ending *list;
    double width_s = 30;
    size_t n;

    if (g->end_s)
        return g;
    list = NEW(b->pass->arena, struct ending, b->state->held_count);
    n = list_endings(b, partition, asks_shared, list);
    *g = (struct cluster_groups){.end_s = NEW(b->pass->arena, int64_t, n + 1),
                                 .of =
                                     NEW(b->pass->arena, uint32_t, b->state->held_count)};
    for (size_t i = 0; i < n;) {
        size_t first = i;

        do {
            g->of[list[i].index] = (uint32_t)g->count + 1;
            i++;
        } while (i < n && !set->ends_one_by_one &&
                 (double)(list[i].end_s - list[first].end_s) <= width_s);
        g->end_s[g->count++] = list[i - 1].end_s;
        width_s = set->bf_window_linear_s > 0 ? width_s + set->bf_window_linear_s
                                              : fmin(2 * width_s, 1e9);
    }
    return g;
}

/* Others run. */
static void forget_groups(struct backfill *b)
{
    memset(b->groups, 0, 2 * b->of->partition_count * sizeof(*b->groups));
}

/* ---- intervals ---- */

static size_t cell_count(const struct cluster *c)
{
    return c->settings.promises_amounts ? c->node_count * c->amount_count : 0;
}

static struct interval *make_interval(struct backfill *b, int64_t begin_s, int64_t end_s)
{
    struct interval *x = NEW(b->pass->arena, struct interval, 1);
    size_t cells = cell_count(b->of);

    *x = (struct interval){begin_s,
                           end_s,
                           NEW(b->pass->arena, uint64_t, b->state->words),
                           cells ? NEW(b->pass->arena, int64_t, cells) : NULL,
                           NEW(b->pass->arena, int64_t, b->of->shared_count),
                           CLUSTER_NONE};
    return x;
}

/* What is free in another one. */
static void copy_free(const struct backfill *b, struct interval *to,
                      const struct interval *from)
{
    memcpy(to->nodes, from->nodes, b->state->words * sizeof(*to->nodes));
    if (to->shared && from->shared)
        memcpy(to->shared, from->shared, b->of->shared_count * sizeof(*to->shared));
    if (to->amounts && from->amounts)
        memcpy(to->amounts, from->amounts, cell_count(b->of) * sizeof(*to->amounts));
}

/* Index of the first interval that ends behind t; count: none. */
static size_t interval_at(const struct backfill *b, int64_t t)
{
    size_t low = 0, high = b->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (b->intervals[middle]->end_s > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Makes an interval begin at t, unless t is outside of all. */
static void split(struct backfill *b, int64_t t)
{
    size_t i = interval_at(b, t);
    struct interval *x, *behind;

    if (i == b->count || b->intervals[i]->begin_s >= t)
        return;
    if (b->count == b->room) {
        b->intervals = arena_grow(b->pass->arena, b->intervals, sizeof(*b->intervals),
                                  b->room, 2 * b->room);
        b->room *= 2;
    }
    x = b->intervals[i];
    behind = make_interval(b, t, x->end_s);
    copy_free(b, behind, x);
    x->end_s = t;
    memmove(&b->intervals[i + 2], &b->intervals[i + 1],
            (b->count - i - 1) * sizeof(*b->intervals));
    b->intervals[i + 1] = behind;
    b->count++;
    budget_step(b->of->budget, b->state->words + b->count / 8 + cell_count(b->of));
}

/* Nodes whole, or what the row needs of them; of an exclusive job all there is. */
static void promise_nodes(struct backfill *b, const struct cluster_row *row,
                          const struct cluster_pick *pick, struct interval *x)
{
    size_t amounts = b->of->amount_count;
    int64_t need[64];

    budget_step(b->of->budget, pick->count * amounts);
    for (size_t k = 0; k < pick->count; k++) {
        size_t node = pick->nodes[k];

        if (!x->amounts) {
            x->nodes[node / 64] &= ~(UINT64_C(1) << node % 64);
            continue;
        }
        cluster_need_on(b->of, row, node, pick->tasks ? pick->tasks[k] : 1, need);
        for (size_t i = 0; i < amounts; i++)
            x->amounts[node * amounts + i] += b->of->jobs[row->job].exclusive
                                                  ? b->of->nodes[node].capacity[i]
                                                  : need[i];
    }
}

static void promise(struct backfill *b, size_t row, const struct cluster_pick *pick,
                    int64_t begin_s, int64_t end_s)
{
    const struct cluster_job *job = &b->of->jobs[b->of->rows[row].job];
    size_t i;

    split(b, begin_s);
    split(b, end_s);
    for (i = interval_at(b, begin_s); i < b->count && b->intervals[i]->begin_s < end_s;
         i++) {
        struct interval *x = b->intervals[i];

        promise_nodes(b, &b->of->rows[row], pick, x);
        for (size_t k = 0; k < job->shared_count && b->of->settings.bf_licenses; k++)
            x->shared[job->shared[k].what] += job->shared[k].units;
    }
    if (i < b->count && b->intervals[i]->begin_s == end_s)
        b->intervals[i]->from = (ptrdiff_t)row;
}

/* ---- when a row runs ---- */

/* A row on its way to a plan. */
struct trial {
    struct backfill *b;
    size_t row;
    const struct cluster_groups *groups;
    int64_t limit_s, from_s, later_s;
    bool later_is_interval;
};

enum trial_result { TRIAL_RUNS, TRIAL_LATER, TRIAL_NONE };

static bool meets(const struct cluster_reservation *r, double from_s, double to_s)
{
    return r->start_s < to_s && from_s < r->end_s;
}

/* Of what exists once: what jobs that have ended after group k give back. */
static int64_t released(const struct trial *t, size_t what, size_t k)
{
    const struct cluster_state *s = t->b->state;
    int64_t units = 0;

    budget_step(t->b->of->budget, s->held_count);
    for (size_t h = 0; h < s->held_count; h++) {
        if (!t->groups->of[h] || t->groups->of[h] > k)
            continue;
        for (size_t n = 0; n < s->held[h]->shared_count; n++)
            if (s->held[h]->shared[n].what == what)
                units += s->held[h]->shared[n].units;
    }
    return units;
}

/* The most that is promised of it in the row's time. */
static int64_t promised(const struct trial *t, size_t what)
{
    const struct backfill *b = t->b;
    int64_t most = 0;

    budget_step(b->of->budget, b->count);
    for (size_t n = interval_at(b, t->from_s);
         n < b->count && b->intervals[n]->begin_s <= t->from_s + t->limit_s; n++)
        if (b->intervals[n]->shared[what] > most)
            most = b->intervals[n]->shared[what];
    return most;
}

/* What others have reserved of it in the row's time. */
static int64_t reserved(const struct trial *t, size_t what)
{
    const struct cluster *c = t->b->of;
    ptrdiff_t own = c->jobs[c->rows[t->row].job].reservation;
    int64_t units = 0;

    budget_step(c->budget, c->reservation_count);
    for (size_t n = 0; n < c->reservation_count; n++) {
        const struct cluster_reservation *r = &c->reservations[n];

        if (own == (ptrdiff_t)n ||
            !meets(r, (double)t->from_s, (double)(t->from_s + t->limit_s)))
            continue;
        for (size_t m = 0; m < r->shared_count; m++)
            if (r->shared[m].what == what)
                units += r->shared[m].units;
    }
    return units;
}

/* Whether there is enough of what exists once after group k has ended. */
static bool has_shared(const struct trial *t, size_t k)
{
    const struct backfill *b = t->b;
    const struct cluster_job *job = &b->of->jobs[b->of->rows[t->row].job];

    if (!b->of->settings.bf_licenses)
        return cluster_has_shared(b->state, job);
    for (size_t i = 0; i < job->shared_count; i++) {
        size_t what = job->shared[i].what;

        if (b->state->shared[what] + released(t, what, k) - promised(t, what) -
                reserved(t, what) <
            job->shared[i].units)
            return false;
    }
    return true;
}

/* The least group after which the row fits on `within`; false: none. */
static bool least_group(const struct trial *t, const uint64_t *within, size_t *group)
{
    struct cluster_question *q = &t->b->pass->question;
    size_t low = 0, high = t->groups->count;
    bool asks_shared = t->b->of->jobs[t->b->of->rows[t->row].job].shared_count > 0;

    if (!cluster_enough(q, within, high) || (asks_shared && !has_shared(t, high)))
        return false;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (cluster_enough(q, within, middle) && (!asks_shared || has_shared(t, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    *group = low;
    return true;
}

/* The next change of what may be used, in t->later_s. */
static void find_later(struct trial *t)
{
    const struct backfill *b = t->b;
    size_t i = interval_at(b, t->from_s);
    int64_t step = b->of->settings.bf_resolution_s;

    t->later_s = i + 1 < b->count ? b->intervals[i]->end_s : LATER_NONE;
    t->later_is_interval = true;
    budget_step(b->of->budget, b->of->reservation_count);
    for (size_t k = 0; k < b->of->reservation_count; k++) {
        double end_s = b->of->reservations[k].end_s;
        int64_t change_s;

        if (end_s <= (double)t->from_s || end_s > 9e15)
            continue;
        change_s = floor_to((int64_t)ceil(end_s) + step - 1, step) + 1;
        if (change_s < t->later_s) {
            t->later_s = change_s;
            t->later_is_interval = false;
        }
    }
}

/* Asks anew what fits beside the most that intervals have promised of each amount. */
static void withhold(struct trial *t, size_t first, size_t end)
{
    struct backfill *b = t->b;
    const struct cluster_row *row = &b->of->rows[t->row];
    size_t cells = cell_count(b->of);

    memset(b->withheld, 0, cells * sizeof(*b->withheld));
    for (size_t i = first; i < end; i++) {
        budget_step(b->of->budget, cells);
        for (size_t k = 0; k < cells; k++)
            if (b->intervals[i]->amounts[k] > b->withheld[k])
                b->withheld[k] = b->intervals[i]->amounts[k];
    }
    b->pass->question.withheld = b->withheld;
    cluster_ask(&b->pass->question, row, t->groups,
                b->of->partitions[row->partition].nodes);
}

/* Leaves in b->free the nodes that fit once and that no interval of the row's time has
 * promised. False: they are too few, and are so until t->from_s, which is moved on. */
static bool find_free(struct trial *t)
{
    struct backfill *b = t->b;
    struct cluster_question *q = &b->pass->question;
    size_t words = b->state->words, first = interval_at(b, t->from_s), end = first;

    while (end < b->count && b->intervals[end]->begin_s <= t->from_s + t->limit_s)
        end++;
    if (b->withheld)
        withhold(t, first, end);
    memcpy(b->free, q->fits, words * sizeof(*b->free));
    for (size_t i = end; i-- > first && !b->withheld;) {
        const struct cluster_job *job = &b->of->jobs[b->of->rows[t->row].job];
        size_t least = job->tasks ? 1 : job->nodes;

        budget_step(b->of->budget, words);
        cluster_set_keep(b->free, b->intervals[i]->nodes, words);
        if (cluster_set_count(b->free, words) >= least)
            continue;
        t->from_s = i + 1 < b->count ? b->intervals[i]->end_s : LATER_NONE;
        return false;
    }
    return true;
}

/* The reservation of others that begins before the row would end on these nodes. */
static bool runs_into(const struct trial *t, const struct cluster_pick *pick,
                      int64_t start_s)
{
    const struct cluster *c = t->b->of;
    ptrdiff_t own = c->jobs[c->rows[t->row].job].reservation;

    for (size_t k = 0; k < c->reservation_count; k++) {
        const struct cluster_reservation *r = &c->reservations[k];

        if (own == (ptrdiff_t)k || !r->nodes ||
            !meets(r, (double)start_s, (double)(start_s + t->limit_s)))
            continue;
        budget_step(c->budget, pick->count);
        for (size_t i = 0; i < pick->count; i++)
            if (cluster_set_has(r->nodes, pick->nodes[i]))
                return true;
    }
    return false;
}

/* Whether nodes of the pick are promised to others while the row would run; of amounts it
 * is not known before it is tried then. */
static bool is_promised(const struct trial *t, const struct cluster_pick *pick,
                        int64_t start_s)
{
    const struct backfill *b = t->b;
    int64_t step = b->of->settings.bf_resolution_s;
    int64_t end_s = floor_to(start_s + t->limit_s, step);

    if (b->withheld)
        return true;
    for (size_t i = interval_at(b, floor_to(start_s, step));
         i < b->count && b->intervals[i]->begin_s < end_s; i++) {
        budget_step(b->of->budget, pick->count);
        for (size_t k = 0; k < pick->count; k++)
            if (!cluster_set_has(b->intervals[i]->nodes, pick->nodes[k]))
                return true;
    }
    return false;
}

/* Tries the row from t->from_s on; TRIAL_LATER: it is to be tried again at t->later_s. */
static enum trial_result try_from(struct trial *t, int64_t *start_s,
                                  struct cluster_pick *pick)
{
    struct backfill *b = t->b;
    const struct cluster_settings *set = &b->of->settings;
    int64_t counted_s;
    size_t group;

    find_later(t);
    cluster_usable(b->state, &b->of->rows[t->row], (double)t->from_s,
                   (double)(t->from_s + t->limit_s), b->pass->usable);
    cluster_set_keep(b->pass->usable, b->free, b->state->words);
    if (!least_group(t, b->pass->usable, &group))
        return TRIAL_LATER;
    *start_s = group ? t->groups->end_s[group - 1] : b->now_s;
    if (*start_s < t->from_s)
        *start_s = t->from_s;
    counted_s =
        t->later_is_interval ? *start_s : floor_to(*start_s, set->bf_resolution_s);
    if (*start_s > b->now_s && t->later_s != LATER_NONE && counted_s > t->later_s)
        return TRIAL_LATER;
    if (*start_s > b->window_end_s)
        return TRIAL_NONE;
    cluster_choose(&b->pass->question, b->pass->usable, group, pick, b->pass->arena);
    if (*start_s > t->from_s &&
        (is_promised(t, pick, *start_s) ||
         (set->strict_reservations && runs_into(t, pick, *start_s)))) {
        t->later_s = *start_s;
        return TRIAL_LATER;
    }
    return TRIAL_RUNS;
}

/* The start of a row and its nodes; false: none. */
static bool will_run(struct trial *t, int64_t *start_s, struct cluster_pick *pick)
{
    enum trial_result result = TRIAL_LATER;

    for (; t->from_s != LATER_NONE && result == TRIAL_LATER; t->from_s = t->later_s) {
        while (t->from_s != LATER_NONE && !find_free(t))
            if (budget_step(t->b->of->budget, 1))
                return false;
        if (t->from_s == LATER_NONE)
            return false;
        result = try_from(t, start_s, pick);
        if (result != TRIAL_LATER)
            break;
    }
    return result == TRIAL_RUNS;
}

/* ---- a pass ---- */

static bool over(double *tested, ptrdiff_t i, double most)
{
    return i >= 0 && tested[i] >= most;
}

static ptrdiff_t user_part(const struct backfill *b, const struct cluster_row *row)
{
    ptrdiff_t user = b->of->jobs[row->job].of.user;

    return user < 0
               ? CLUSTER_NONE
               : user * (ptrdiff_t)b->of->partition_count + (ptrdiff_t)row->partition;
}

/* Counts the test of a row; false: it is one too many. */
static bool may_test(struct backfill *b, const struct cluster_row *row)
{
    const struct cluster_settings *set = &b->of->settings;
    const struct cluster_owner *of = &b->of->jobs[row->job].of;
    ptrdiff_t partition = (ptrdiff_t)row->partition;

    if (over(b->tested_user, of->user, set->bf_max_job_user) ||
        over(b->tested_account, of->account, set->bf_max_job_assoc) ||
        over(b->tested_partition, partition, set->bf_max_job_part) ||
        (b->tested_user_part &&
         over(b->tested_user_part, user_part(b, row), set->bf_max_job_user_part)))
        return false;
    if (b->tested_user_part && of->user >= 0)
        b->tested_user_part[user_part(b, row)]++;
    if (of->user >= 0)
        b->tested_user[of->user]++;
    if (of->account >= 0)
        b->tested_account[of->account]++;
    b->tested_partition[partition]++;
    b->tested++;
    return true;
}

static void plan(struct backfill *b, const struct trial *t, size_t row, int64_t start_s,
                 const struct cluster_pick *pick)
{
    struct cluster_verdict *v = &b->pass->out->verdicts[row];
    int64_t step = b->of->settings.bf_resolution_s;
    int64_t begin_s = floor_to(start_s, step);
    int64_t end_s = floor_to(start_s + t->limit_s, step);
    size_t at = interval_at(b, t->from_s);

    v->start_s = (double)start_s;
    v->until_s = (double)end_s;
    v->pick = *pick;
    v->by_backfill = true;
    if (t->from_s > b->now_s && at < b->count)
        v->behind = b->intervals[at]->from;
    for (size_t i = 0; i < pick->count; i++)
        for (const struct cluster_place *x = b->state->places[pick->nodes[i]]; x;
             x = x->next)
            if (ceil(x->held->end_s) <= (double)start_s &&
                (!v->waits_for || x->held->end_s > v->waits_for->end_s))
                v->waits_for = x->held;
    if (begin_s < b->now_s)
        begin_s = b->now_s;
    promise(b, row, pick, begin_s, end_s);
}

/* The longest whole minutes that fit now, at least the job's least limit; 0: none. */
static double shortened(struct backfill *b, size_t row)
{
    const struct cluster_row *r = &b->of->rows[row];
    double least_s = b->of->jobs[r->job].limit_min_s;
    double low = ceil(least_s / 60), high = floor(r->limit_s / 60);
    struct trial t = {
        .b = b,
        .row = row,
        .groups = groups_of(b, r->partition, b->of->jobs[r->job].shared_count > 0)};
    double found = 0;

    if (isnan(least_s))
        return 0;
    while (low <= high) {
        double minutes = floor((low + high) / 2);
        size_t group;
        bool fits = false;

        t.limit_s = (int64_t)(minutes * 60);
        t.from_s = b->now_s;
        if (find_free(&t)) {
            t.from_s = b->now_s;
            cluster_usable(b->state, r, (double)b->now_s, (double)(b->now_s + t.limit_s),
                           b->pass->usable);
            cluster_set_keep(b->pass->usable, b->free, b->state->words);
            fits = least_group(&t, b->pass->usable, &group) && group == 0;
        }
        if (fits) {
            found = minutes * 60;
            low = minutes + 1;
        } else {
            high = minutes - 1;
        }
    }
    if (found > 0) {
        t.limit_s = (int64_t)found;
        t.from_s = b->now_s;
        find_free(&t);
        cluster_usable(b->state, r, (double)b->now_s, (double)b->now_s + found,
                       b->pass->usable);
        cluster_set_keep(b->pass->usable, b->free, b->state->words);
    }
    return found;
}

static void begin(struct backfill *b, size_t row, const struct cluster_pick *pick,
                  double limit_s)
{
    cluster_begin(b->pass, row, pick, limit_s, true);
    forget_groups(b);
    b->started++;
}

/* Plans or starts a row; false: neither. */
static bool test_row(struct backfill *b, size_t row)
{
    const struct cluster_row *r = &b->of->rows[row];
    const struct cluster_job *job = &b->of->jobs[r->job];
    struct cluster_verdict *v = &b->pass->out->verdicts[row];
    struct trial t = {
        .b = b,
        .row = row,
        .groups = groups_of(b, r->partition, b->of->jobs[r->job].shared_count > 0),
        .limit_s = (int64_t)ceil(fmin(r->limit_s, 1e12)),
        .from_s = b->now_s};
    struct cluster_pick pick = {0};
    int64_t start_s = 0;
    bool runs;

    if (job->reservation >= 0 &&
        b->of->reservations[job->reservation].start_s > (double)t.from_s)
        t.from_s = (int64_t)ceil(b->of->reservations[job->reservation].start_s);
    cluster_ask(&b->pass->question, r, t.groups, b->of->partitions[r->partition].nodes);
    runs = will_run(&t, &start_s, &pick);
    if (!(runs && start_s == b->now_s)) {
        double limit_s = shortened(b, row);

        if (limit_s > 0) {
            cluster_choose(&b->pass->question, b->pass->usable, 0, &pick, b->pass->arena);
            begin(b, row, &pick, limit_s);
            return true;
        }
    }
    if (!runs) {
        v->reason = cluster_has_shared(b->state, job) ? CLUSTER_REASON_BEYOND_WINDOW
                                                      : CLUSTER_REASON_LICENCE;
        return false;
    }
    if (start_s == b->now_s) {
        begin(b, row, &pick, r->limit_s);
        return true;
    }
    if ((double)start_s + r->limit_s > job->deadline_s ||
        (job->of.qos >= 0 && b->of->qos[job->of.qos].no_reserve))
        return false;
    plan(b, &t, row, start_s, &pick);
    if (job->of.array >= 0)
        b->array_plans[job->of.array]++;
    return true;
}

/* ---- gangs ---- */

static bool fits_at(struct backfill *b, size_t row, int64_t from_s, struct trial *t,
                    int64_t *start_s, struct cluster_pick *pick)
{
    const struct cluster_row *r = &b->of->rows[row];
    const struct cluster_job *job = &b->of->jobs[r->job];

    *t = (struct trial){.b = b,
                        .row = row,
                        .groups = groups_of(b, r->partition, job->shared_count > 0),
                        .limit_s = (int64_t)ceil(fmin(r->limit_s, 1e12)),
                        .from_s = from_s};
    if (job->reservation >= 0 &&
        b->of->reservations[job->reservation].start_s > (double)t->from_s)
        t->from_s = (int64_t)ceil(b->of->reservations[job->reservation].start_s);
    cluster_ask(&b->pass->question, r, t->groups, b->of->partitions[r->partition].nodes);
    return will_run(t, start_s, pick);
}

/* cluster_fit_fn: now, beside all plans. What began before it in its gang counts. */
static bool fits_now(void *context, size_t row, struct cluster_pick *pick)
{
    struct backfill *b = context;
    struct trial t;
    int64_t start_s;
    bool fits;

    forget_groups(b);
    fits = fits_at(b, row, b->now_s, &t, &start_s, pick) && start_s == b->now_s;
    b->pass->question.withheld = NULL;
    return fits;
}

/* Intervals as they are, to come back to. */
struct kept {
    struct interval **intervals;
    size_t count;
};

static struct kept keep_intervals(struct backfill *b)
{
    struct kept k = {NEW(b->pass->arena, struct interval *, b->count), b->count};

    for (size_t i = 0; i < b->count; i++) {
        const struct interval *x = b->intervals[i];

        k.intervals[i] = make_interval(b, x->begin_s, x->end_s);
        k.intervals[i]->from = x->from;
        copy_free(b, k.intervals[i], x);
        budget_step(b->of->budget, b->state->words + cell_count(b->of) + 8);
    }
    return k;
}

/* The row of a member by which it is planned: its first that could start; -1: it runs. */
static ptrdiff_t row_of(const struct backfill *b, const struct cluster_member *m)
{
    if (b->pass->started[m->job])
        return -1;
    for (size_t row = m->row; row < m->row + m->row_count; row++)
        if (b->pass->out->verdicts[row].outcome == CLUSTER_WAITS &&
            cluster_ready(b->pass, row))
            return (ptrdiff_t)row;
    return -1;
}

/* Whether a plan of its first row is allowed at that time. */
static bool may_plan(const struct backfill *b, size_t row, int64_t start_s)
{
    const struct cluster_job *job = &b->of->jobs[b->of->rows[row].job];

    return (double)start_s + b->of->rows[row].limit_s <= job->deadline_s &&
           !(job->of.qos >= 0 && b->of->qos[job->of.qos].no_reserve);
}

/* The latest of the first starts of all members from then on; false: one has none. */
static bool latest_start(struct backfill *b, const struct cluster_gang *g,
                         int64_t *from_s)
{
    int64_t start_s = *from_s;

    for (size_t i = 0; i < g->count; i++) {
        ptrdiff_t row = row_of(b, &g->members[i]);
        struct cluster_pick pick;
        struct trial t;

        if (row >= 0 && !fits_at(b, (size_t)row, *from_s, &t, &start_s, &pick))
            return false;
        b->pass->question.withheld = NULL;
        if (row >= 0 && start_s > *from_s)
            *from_s = start_s;
    }
    return true;
}

/* Promises all members their nodes from *from_s on; false: not all have such, and the
 * first start of one is later, *from_s; LATER_NONE: never. */
static bool plan_members(struct backfill *b, const struct cluster_gang *g,
                         int64_t *from_s)
{
    for (size_t i = 0; i < g->count; i++) {
        ptrdiff_t row = row_of(b, &g->members[i]);
        struct cluster_pick pick;
        struct trial t;
        int64_t start_s;

        if (row < 0)
            continue;
        if (!fits_at(b, (size_t)row, *from_s, &t, &start_s, &pick) ||
            !may_plan(b, (size_t)row, start_s))
            start_s = LATER_NONE;
        b->pass->question.withheld = NULL;
        if (start_s > *from_s) {
            *from_s = start_s;
            return false;
        }
        plan(b, &t, (size_t)row, start_s, &pick);
    }
    return true;
}

static void forget_plans(struct backfill *b, const struct cluster_gang *g)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t row = g->members[i].row;
             row < g->members[i].row + g->members[i].row_count; row++) {
            struct cluster_verdict *v = &b->pass->out->verdicts[row];

            budget_step(b->of->budget, 1);
            if (b->pass->started[g->members[i].job])
                continue;
            v->start_s = v->until_s = (double)NAN;
            v->by_backfill = false;
            v->behind = CLUSTER_NONE;
            v->waits_for = NULL;
            v->pick = (struct cluster_pick){0};
        }
}

static void plan_gang(struct backfill *b, const struct cluster_gang *g)
{
    int64_t from_s = b->now_s + 1;

    for (int tries = 0; tries < GANG_TRIES_MAX && latest_start(b, g, &from_s); tries++) {
        struct kept before = keep_intervals(b);

        if (budget_step(b->of->budget, 1) || plan_members(b, g, &from_s))
            return;
        forget_plans(b, g);
        for (size_t i = 0; i < before.count; i++)
            b->intervals[i] = before.intervals[i];
        b->count = before.count;
        budget_step(b->of->budget, before.count);
        if (from_s == LATER_NONE)
            return;
    }
}

/* Once for all of a gang, where its first one stands in the queue. */
static void look_at_gang(struct backfill *b, size_t gang)
{
    const struct cluster_settings *set = &b->of->settings;
    const struct cluster_gang *g = &b->of->gangs[gang - 1];
    bool may = b->tested < set->bf_max_job_test && b->started < set->bf_max_job_start;

    if (b->gang_seen[gang - 1])
        return;
    b->gang_seen[gang - 1] = true;
    if (!cluster_gang_ready(b->pass, gang)) {
        cluster_gang_waits(b->pass, gang);
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        ptrdiff_t row = row_of(b, &g->members[i]);

        budget_step(b->of->budget, 1);
        if (row < 0)
            continue;
        may = may && may_test(b, &b->of->rows[row]);
        if (may)
            b->pass->out->tested[b->pass->out->tested_count++] = (size_t)row;
        else
            b->pass->out->verdicts[row].reason = CLUSTER_REASON_NOT_TESTED;
    }
    if (!may)
        return;
    if (cluster_gang_begin(b->pass, gang, fits_now, b, true)) {
        b->started += (double)g->count;
        forget_groups(b);
        return;
    }
    forget_groups(b); /* some may have begun, and were taken back */
    plan_gang(b, g);
}

static void look_at(struct backfill *b, size_t row)
{
    const struct cluster_row *r = &b->of->rows[row];
    const struct cluster_settings *set = &b->of->settings;
    ptrdiff_t array = b->of->jobs[r->job].of.array;
    struct cluster_verdict *v = &b->pass->out->verdicts[row];

    if (v->outcome != CLUSTER_WAITS || b->pass->started[r->job])
        return;
    if (b->of->jobs[r->job].gang) {
        look_at_gang(b, b->of->jobs[r->job].gang);
        return;
    }
    if (array >= 0 && b->array_over[array])
        return;
    if (!cluster_ready(b->pass, row))
        return;
    if (b->tested >= set->bf_max_job_test || b->started >= set->bf_max_job_start ||
        !may_test(b, r)) {
        v->reason = CLUSTER_REASON_NOT_TESTED;
        return;
    }
    b->pass->out->tested[b->pass->out->tested_count++] = row;
    if (array >= 0 && b->array_plans[array] >= set->bf_max_job_array_resv)
        return;
    if (!test_row(b, row) && array >= 0)
        b->array_over[array] = true;
}

void cluster_backfill(struct cluster_pass *p)
{
    const struct cluster *c = p->of;
    struct backfill b = {
        .pass = p,
        .of = c,
        .state = p->state,
        .now_s = (int64_t)floor(c->now_s),
        .room = 64,
        .intervals = NEW(p->arena, struct interval *, 64),
        .groups = NEW(p->arena, struct cluster_groups, 2 * c->partition_count),
        .tested_user = NEW(p->arena, double, c->user_count),
        .tested_account = NEW(p->arena, double, c->account_count),
        .tested_partition = NEW(p->arena, double, c->partition_count),
        .array_plans = NEW(p->arena, double, c->array_count),
        .array_over = NEW(p->arena, bool, c->array_count),
        .gang_seen = NEW(p->arena, bool, c->gang_count),
        .free = NEW(p->arena, uint64_t, p->state->words),
    };

    if (c->settings.bf_max_job_user_part < HUGE_VAL)
        b.tested_user_part = NEW(p->arena, double, c->user_count * c->partition_count);
    if (cell_count(c))
        b.withheld = NEW(p->arena, int64_t, cell_count(c));
    b.window_end_s = b.now_s + c->settings.bf_window_s;
    b.intervals[b.count++] = make_interval(&b, b.now_s, b.window_end_s);
    memset(b.intervals[0]->nodes, 0xff, p->state->words * sizeof(uint64_t));
    for (size_t i = 0; i < p->row_count; i++) {
        if (budget_step(c->budget, 1)) {
            p->out->is_cut = true;
            return;
        }
        look_at(&b, p->out->order[i]);
        p->question.withheld = NULL;
    }
}
