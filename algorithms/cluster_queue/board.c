/* board.c - what is free of each node ahead. */
#include "algorithms/cluster_queue/board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is free of a node from at_s on, until the next one. */
struct stretch {
    double at_s;
    int64_t *free;
    int32_t jobs, alone; /* that are there; of them, that have it for themselves */
};

struct lane {
    struct stretch *list;
    size_t first, count, room; /* [first, count) */
    size_t width;
};

struct cluster_board {
    const struct cluster_state *s;
    struct lane *lanes; /* of nodes, then of what exists once */
    int64_t **spare[2]; /* lists of amounts that nobody uses: of nodes, of the others */
    size_t spare_count[2], spare_room[2];
    struct arena *arena;
};

double cluster_end_s(double start_s, double limit_s)
{
    double end_s = start_s + limit_s;

    return end_s > start_s ? end_s : nextafter(start_s, HUGE_VAL);
}

int64_t cluster_reserved(const struct cluster *c, const struct cluster_job *job,
                         size_t what, double from_s, double to_s)
{
    int64_t units = 0;

    for (size_t i = 0; i < c->reservation_count; i++) {
        const struct cluster_reservation *r = &c->reservations[i];

        budget_step(c->budget, r->shared_count + 1);
        if (job->reservation == (ptrdiff_t)i || r->start_s >= to_s || from_s >= r->end_s)
            continue;
        for (size_t k = 0; k < r->shared_count; k++)
            if (r->shared[k].what == what)
                units += r->shared[k].units;
    }
    return units;
}

/* ---- lanes ---- */

static int64_t *amounts(struct cluster_board *b, size_t kind, size_t width)
{
    if (b->spare_count[kind])
        return b->spare[kind][--b->spare_count[kind]];
    return NEW(b->arena, int64_t, width + 1);
}

static void give_amounts(struct cluster_board *b, size_t kind, int64_t *list)
{
    if (b->spare_count[kind] == b->spare_room[kind]) {
        size_t room = 2 * b->spare_room[kind] + 64;

        b->spare[kind] = arena_grow(b->arena, b->spare[kind], sizeof(int64_t *),
                                    b->spare_room[kind], room);
        b->spare_room[kind] = room;
    }
    b->spare[kind][b->spare_count[kind]++] = list;
}

static size_t kind_of(const struct cluster_board *b, const struct lane *l)
{
    return l == &b->lanes[b->s->of->node_count];
}

/* The last stretch that begins at t or before. */
static size_t stretch_at(const struct lane *l, double t)
{
    size_t low = l->first, high = l->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (l->list[middle].at_s <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The stretch that begins at t; l->count for the end of all times. */
static size_t split(struct cluster_board *b, struct lane *l, double t)
{
    size_t at;
    int64_t *copy;

    if (!isfinite(t) && t > 0)
        return l->count;
    at = stretch_at(l, t);
    if (l->list[at].at_s >= t)
        return at;
    if (l->count == l->room) {
        l->list = GROW(b->arena, l->list, struct stretch, l->room, 2 * l->room);
        l->room *= 2;
    }
    copy = amounts(b, kind_of(b, l), l->width);
    memcpy(copy, l->list[at].free, l->width * sizeof(*copy));
    memmove(&l->list[at + 2], &l->list[at + 1], (l->count - at - 1) * sizeof(*l->list));
    l->list[at + 1] = l->list[at];
    l->list[at + 1].at_s = t;
    l->list[at + 1].free = copy;
    l->count++;
    budget_step(b->s->of->budget, l->width + (l->count - at) / 4);
    return at + 1;
}

/* Two stretches that are alike become one. */
static void join(struct cluster_board *b, struct lane *l, size_t at)
{
    struct stretch *x, *y;

    if (at <= l->first || at >= l->count)
        return;
    x = &l->list[at - 1];
    y = &l->list[at];
    if (x->jobs != y->jobs || x->alone != y->alone ||
        memcmp(x->free, y->free, l->width * sizeof(*x->free)) != 0)
        return;
    give_amounts(b, kind_of(b, l), y->free);
    memmove(y, y + 1, (l->count - at - 1) * sizeof(*y));
    l->count--;
}

static void change(struct cluster_board *b, struct lane *l, double from_s, double to_s,
                   const int64_t *units, bool alone, int sign)
{
    size_t from = split(b, l, from_s), to = split(b, l, to_s);

    for (size_t i = from; i < to; i++) {
        struct stretch *x = &l->list[i];

        budget_step(b->s->of->budget, l->width);
        for (size_t k = 0; k < l->width; k++)
            x->free[k] -= sign * units[k];
        x->jobs += sign;
        x->alone += alone ? sign : 0;
    }
    join(b, l, to);
    join(b, l, from);
}

static void change_shared(struct cluster_board *b, const struct cluster_take *list,
                          size_t count, double from_s, double to_s, int sign)
{
    struct lane *l = &b->lanes[b->s->of->node_count];
    int64_t *units;

    if (!count)
        return;
    units = amounts(b, 1, l->width);
    memset(units, 0, l->width * sizeof(*units));
    for (size_t k = 0; k < count; k++)
        units[list[k].what] += list[k].units;
    budget_step(b->s->of->budget, l->width + count);
    change(b, l, from_s, to_s, units, false, sign);
    give_amounts(b, 1, units);
}

static void open_lane(struct cluster_board *b, struct lane *l, const int64_t *capacity,
                      size_t width)
{
    *l = (struct lane){
        .list = NEW(b->arena, struct stretch, 4), .count = 1, .room = 4, .width = width};
    l->list[0] = (struct stretch){-HUGE_VAL, NEW(b->arena, int64_t, width + 1), 0, 0};
    if (width)
        memcpy(l->list[0].free, capacity, width * sizeof(*capacity));
}

void cluster_board_give(struct cluster_board *b, const struct cluster_held *held,
                        double from_s, double to_s)
{
    for (size_t i = 0; i < held->node_count; i++)
        change(b, &b->lanes[held->nodes[i]], from_s, to_s,
               &held->taken[i * b->s->of->amount_count],
               held->exclusive || held->exclusive_user, -1);
    change_shared(b, held->shared, held->shared_count, from_s, to_s, -1);
}

static void lay_running(struct cluster_board *b, const struct cluster_held *held)
{
    double now_s = b->s->of->now_s;
    double end_s = held->end_s > now_s ? held->end_s : now_s + 1;

    for (size_t i = 0; i < held->node_count; i++)
        change(b, &b->lanes[held->nodes[i]], now_s, end_s,
               &held->taken[i * b->s->of->amount_count],
               held->exclusive || held->exclusive_user, 1);
    change_shared(b, held->shared, held->shared_count, now_s, end_s, 1);
}

struct cluster_board *cluster_board_create(const struct cluster_state *s, struct arena *a)
{
    const struct cluster *c = s->of;
    struct cluster_board *b = NEW(a, struct cluster_board, 1);

    b->s = s;
    b->arena = a;
    b->lanes = NEW(a, struct lane, c->node_count + 1);
    budget_step(c->budget, c->node_count * c->amount_count);
    for (size_t i = 0; i < c->node_count; i++)
        open_lane(b, &b->lanes[i], c->nodes[i].capacity, c->amount_count);
    open_lane(b, &b->lanes[c->node_count], c->shared, c->shared_count);
    for (size_t i = 0; i < s->held_count; i++)
        lay_running(b, s->held[i]);
    return b;
}

void cluster_board_advance(struct cluster_board *b, double now_s)
{
    budget_step(b->s->of->budget, b->s->of->node_count);
    for (size_t i = 0; i <= b->s->of->node_count; i++) {
        struct lane *l = &b->lanes[i];

        while (l->first + 1 < l->count && l->list[l->first + 1].at_s <= now_s)
            give_amounts(b, kind_of(b, l), l->list[l->first++].free);
        if (l->first <= l->count / 2)
            continue;
        budget_step(b->s->of->budget, l->count);
        memmove(l->list, &l->list[l->first], (l->count - l->first) * sizeof(*l->list));
        l->count -= l->first;
        l->first = 0;
    }
}

static bool is_alone(const struct cluster *c, const struct cluster_row *row)
{
    const struct cluster_job *job = &c->jobs[row->job];

    return job->exclusive || job->exclusive_user || c->settings.whole_nodes ||
           c->partitions[row->partition].sharing == CLUSTER_SHARES_NEVER;
}

void cluster_board_lay(struct cluster_board *b, const struct cluster_row *row,
                       const struct cluster_pick *pick, double from_s, double to_s,
                       int sign)
{
    const struct cluster *c = b->s->of;
    const struct cluster_job *job = &c->jobs[row->job];
    int64_t need[64];

    for (size_t i = 0; i < pick->count; i++) {
        cluster_need_on(c, row, pick->nodes[i], pick->tasks ? pick->tasks[i] : 1, need);
        change(b, &b->lanes[pick->nodes[i]], from_s, to_s, need, is_alone(c, row), sign);
    }
    change_shared(b, job->shared, job->shared_count, from_s, to_s, sign);
}

/* ---- where a row could start ---- */

/* A time from which on, or until which, it could start on a node. */
struct edge {
    double at_s;
    uint32_t node;
    bool closes;
    bool looks; /* only: more tasks may have room there */
};

struct finding {
    struct cluster_board *b;
    const struct cluster_row *row;
    const struct cluster_job *job;
    double from_s, before_s, limit_s;
    struct edge *edges;
    size_t count, room;
    struct arena *scratch;
};

static void add_edge(struct finding *f, double at_s, size_t node, bool closes, bool looks)
{
    if (f->count == f->room) {
        f->edges = arena_grow(f->scratch, f->edges, sizeof(*f->edges), f->room,
                              2 * f->room + 64);
        f->room = 2 * f->room + 64;
    }
    f->edges[f->count++] = (struct edge){at_s, (uint32_t)node, closes, looks};
}

/* A start from low_s on with which it ends by end_s, the latest but for rounding. */
static double latest(const struct finding *f, double low_s, double end_s)
{
    double ulp_s = nextafter(end_s, HUGE_VAL) - end_s, at_s = end_s - f->limit_s;

    while (at_s > low_s && cluster_end_s(at_s, f->limit_s) > end_s)
        at_s -= ulp_s;
    return at_s > low_s ? at_s : low_s;
}

/* It could start in [low, high], but for reservations from the k-th on. */
static void add_window(struct finding *f, size_t node, double low, double high, size_t k)
{
    const struct cluster *c = f->b->s->of;

    for (; k < c->reservation_count && low <= high; k++) {
        const struct cluster_reservation *r = &c->reservations[k];
        bool own = f->job->reservation == (ptrdiff_t)k;

        budget_step(c->budget, 1);
        if (own && !r->is_flexible) {
            low = fmax(low, r->start_s);
            high = isfinite(r->end_s) ? fmin(high, latest(f, low, r->end_s)) : high;
            if (cluster_end_s(low, f->limit_s) > r->end_s)
                return;
        }
        if (own || !r->nodes || node >= c->node_count || !cluster_set_has(r->nodes, node))
            continue;
        if (r->end_s <= low || cluster_end_s(high, f->limit_s) <= r->start_s)
            continue;
        if (cluster_end_s(low, f->limit_s) <= r->start_s)
            add_window(f, node, low, fmin(high, latest(f, low, r->start_s)), k + 1);
        low = fmax(low, r->end_s);
    }
    if (low > high || low >= f->before_s)
        return;
    add_edge(f, low, node, false, false);
    if (isfinite(high))
        add_edge(f, high, node, true, false);
}

static bool node_bears(const struct finding *f, size_t node, const struct stretch *x)
{
    const struct cluster *c = f->b->s->of;

    budget_step(c->budget, c->amount_count);
    if (is_alone(c, f->row) ? x->jobs > 0 : x->alone > 0)
        return false;
    return cluster_room(f->b->s, f->row, node, x->free, 1) > 0;
}

/* Of what exists once, with what its own reservation has of it. */
static bool shared_bears(const struct finding *f, const struct stretch *x, double end_s)
{
    const struct cluster *c = f->b->s->of;

    for (size_t i = 0; i < f->job->shared_count; i++) {
        size_t what = f->job->shared[i].what;
        double from_s = fmax(x->at_s, f->from_s);

        if (x->free[what] - cluster_reserved(c, f->job, what, from_s, end_s) <
            f->job->shared[i].units)
            return false;
    }
    return true;
}

static void find_windows(struct finding *f, size_t node)
{
    const struct lane *l = &f->b->lanes[node];
    bool is_node = node < f->b->s->of->node_count;
    double since_s = (double)NAN;

    for (size_t i = stretch_at(l, f->from_s); i < l->count; i++) {
        const struct stretch *x = &l->list[i];
        double end_s = i + 1 < l->count ? x[1].at_s : HUGE_VAL;
        bool bears = is_node ? node_bears(f, node, x) : shared_bears(f, x, end_s);

        if (isnan(since_s) && x->at_s >= f->before_s)
            return;
        if (bears && f->job->tasks && x->at_s > f->from_s && x->at_s < f->before_s)
            add_edge(f, x->at_s, node, false, true);
        if (bears && isnan(since_s))
            since_s = fmax(x->at_s, f->from_s);
        if (!bears && !isnan(since_s)) {
            if (cluster_end_s(since_s, f->limit_s) <= x->at_s)
                add_window(f, node, since_s, latest(f, since_s, x->at_s), 0);
            since_s = (double)NAN;
        }
    }
    if (!isnan(since_s))
        add_window(f, node, since_s, HUGE_VAL, 0);
}

static int by_time(const void *x, const void *y, void *context)
{
    const struct edge *a = x, *b = y;

    (void)context;
    if (a->at_s < b->at_s || a->at_s > b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    if (a->closes != b->closes)
        return a->closes ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

/* What each node of the set has free all the time that the row takes from at_s on. */
static void find_least(const struct finding *f, const uint64_t *set, double at_s,
                       int64_t *then)
{
    const struct cluster *c = f->b->s->of;
    double end_s = cluster_end_s(at_s, f->limit_s);

    for (size_t node = 0; node < c->node_count; node++) {
        const struct lane *l = &f->b->lanes[node];
        int64_t *least = &then[node * c->amount_count];
        size_t first = stretch_at(l, at_s);

        budget_step(c->budget, 1);
        if (!cluster_set_has(set, node))
            continue;
        for (size_t i = first; i < l->count && (i == first || l->list[i].at_s < end_s);
             i++) {
            budget_step(c->budget, c->amount_count);
            for (size_t k = 0; k < c->amount_count; k++)
                if (i == first || l->list[i].free[k] < least[k])
                    least[k] = l->list[i].free[k];
        }
    }
}

/* Whether the nodes of the set are enough from at_s on. */
static bool is_enough(struct finding *f, struct cluster_question *q, const uint64_t *set,
                      size_t count, double at_s)
{
    const struct cluster *c = f->b->s->of;
    const struct cluster_job *job = f->job;
    size_t words = f->b->s->words;

    if (count < (job->tasks ? 1 : job->nodes))
        return false;
    q->row = f->row;
    q->groups = NULL;
    q->withheld = NULL;
    budget_step(c->budget, words);
    memcpy(q->fits, set, words * sizeof(*set));
    if (job->tasks) {
        int64_t *then = NEW(f->scratch, int64_t, c->node_count * c->amount_count);

        find_least(f, set, at_s, then);
        q->then = then;
    }
    return cluster_enough(q, set, 0);
}

/* The first time at which enough nodes are open, by their edges. */
static double sweep(struct finding *f, struct cluster_question *q,
                    struct cluster_pick *pick)
{
    const struct cluster *c = f->b->s->of;
    uint64_t *set = NEW(f->scratch, uint64_t, f->b->s->words);
    bool shared = f->job->shared_count == 0;
    size_t open = 0;

    memset(q->first, 0, c->node_count * sizeof(*q->first));
    if (f->count)
        qsort_r(f->edges, f->count, sizeof(*f->edges), by_time, NULL);
    budget_step(c->budget, 8 * f->count + c->node_count);
    for (size_t i = 0; i < f->count; i++) {
        const struct edge *x = &f->edges[i];
        bool is_node = x->node < c->node_count;

        if (x->looks) {
            /* the set stays */
        } else if (is_node && x->closes) {
            set[x->node / 64] &= ~(UINT64_C(1) << x->node % 64);
            open--;
        } else if (is_node) {
            cluster_set_add(set, x->node);
            open++;
        } else {
            shared = !x->closes;
        }
        if (x->closes || (i + 1 < f->count && f->edges[i + 1].at_s <= x->at_s &&
                          !f->edges[i + 1].closes))
            continue;
        if (budget_step(c->budget, 1))
            return HUGE_VAL;
        if (shared && is_enough(f, q, set, open, x->at_s)) {
            cluster_choose(q, set, 0, pick, f->scratch);
            q->then = NULL;
            return x->at_s;
        }
        q->then = NULL;
    }
    return HUGE_VAL;
}

double cluster_board_find(struct cluster_board *b, struct cluster_question *q,
                          const struct cluster_row *row, double from_s, double before_s,
                          struct cluster_pick *pick, struct arena *scratch)
{
    const struct cluster *c = b->s->of;
    struct finding f = {.b = b,
                        .row = row,
                        .job = &c->jobs[row->job],
                        .from_s = from_s,
                        .before_s = before_s,
                        .limit_s = row->limit_s,
                        .scratch = scratch};
    const uint64_t *nodes = c->partitions[row->partition].nodes;
    ptrdiff_t own = f.job->reservation;

    for (size_t w = 0; w < b->s->words; w++)
        for (uint64_t bits = nodes[w]; bits; bits &= bits - 1) {
            size_t node = w * 64 + (size_t)__builtin_ctzll(bits);

            budget_step(c->budget, 1);
            if (c->nodes[node].starts &&
                (!f.job->allowed || cluster_set_has(f.job->allowed, node)) &&
                (own < 0 || !c->reservations[own].nodes ||
                 cluster_set_has(c->reservations[own].nodes, node)))
                find_windows(&f, node);
        }
    if (f.job->shared_count)
        find_windows(&f, c->node_count);
    return sweep(&f, q, pick);
}
