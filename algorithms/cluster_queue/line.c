/* line.c - a cluster's queue by the policies of queue.h.
 *
 * Who is ready stands in the policy's order; a job may have rows in several partitions,
 * which are tried as they were given.
 *
 * head and fit: a row fits if enough nodes have room now and no reservation of others
 * begins on them before it would have ended.
 *
 * easy: the first that cannot start is planned on the nodes that it gets at the earliest
 * time by the limits of those that run. Others start if they end by then, or have room on
 * these nodes beside its amounts.
 *
 * conservative: as algorithms/queue/conservative.c, on a board (board.h): arrivals are
 * laid in where they fit first, and move up in the queue's order when a job has ended
 * early. Who is not ready has no plan, and loses it when that is due.
 *
 * A gang starts where its first job stands in the order, all its jobs at once; by easy it
 * never starts before those ahead of it, and while it waits first its plan has nodes for
 * all of it. By conservative all of it has one start, at which each fits beside
 * those before it.
 *
 * On one node of P cpus all starts are those of P processors
 * (tests/cluster_line_test.cpp).
 *
 * Source: see queue/queue.h; on nodes they are ours.
 */
#include "algorithms/cluster_queue/board.h"
#include "algorithms/cluster_queue/replay.h"
#include "algorithms/queue/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INSTANT_RATIO =
    1e-9; /* of the time: no difference between instants, as on processors */

/* What conservative has planned for a job. */
struct plan {
    bool is_there;
    double start_s, end_s;
    size_t row;
    struct cluster_pick pick;
    size_t node_room; /* of the lists */
};

struct cluster_line {
    const struct cluster *of;
    const struct queue_discipline *discipline;
    struct cluster_board *board; /* conservative */
    struct plan *plans;          /* [job_count] */
    bool ended_early;
    const struct cluster_promises *promises; /* that are still to be laid in */
    struct arena *arena;
};

struct cluster_line *cluster_line_create(const struct cluster *c,
                                         const struct policy *policy, struct arena *a)
{
    struct cluster_line *l = NEW(a, struct cluster_line, 1);

    *l = (struct cluster_line){
        .of = c, .discipline = queue_discipline_of(policy), .arena = a};
    if (l->discipline->rule == QUEUE_CONSERVATIVE)
        l->plans = NEW(a, struct plan, c->job_count);
    return l;
}

void cluster_line_promise(struct cluster_line *l, const struct cluster_promises *promises)
{
    l->promises = l->plans ? promises : NULL;
}

double cluster_line_plan_s(const struct cluster_line *l, size_t job)
{
    return l->plans && l->plans[job].is_there ? l->plans[job].start_s : (double)NAN;
}

/* ---- its order ---- */

static double width_of(const struct cluster *c, const struct cluster_row *row)
{
    const struct cluster_job *job = &c->jobs[row->job];
    double times = job->tasks ? (double)job->tasks : (double)job->nodes;

    return times * (double)row->need[CLUSTER_CPUS];
}

struct ordering {
    const struct cluster *of;
    enum queue_order order;
};

static int in_order(const void *x, const void *y, void *context)
{
    const struct ordering *o = context;
    size_t i = *(const size_t *)x, k = *(const size_t *)y;
    const struct cluster_row *a = &o->of->rows[i], *b = &o->of->rows[k];
    double left = 0, right = 0;

    if (o->order == QUEUE_SHORTEST) {
        left = a->limit_s;
        right = b->limit_s;
    } else if (o->order == QUEUE_LARGEST) {
        left = width_of(o->of, b);
        right = width_of(o->of, a);
    }
    if (left < right || left > right)
        return left < right ? -1 : 1;
    left = o->of->jobs[a->job].submit_s;
    right = o->of->jobs[b->job].submit_s;
    if (left < right || left > right)
        return left < right ? -1 : 1;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return (i > k) - (i < k);
}

static void sort(const struct cluster *c, enum queue_order order, size_t *rows,
                 size_t count)
{
    struct ordering o = {c, order};

    qsort_r(rows, count, sizeof(*rows), in_order, &o);
    budget_step(c->budget, 16 * count);
}

void cluster_line_order(const struct cluster_line *l, size_t *rows, size_t count)
{
    sort(l->of, l->discipline->order, rows, count);
}

/* ---- the first one's plan ---- */

static bool is_alone(const struct cluster *c, const struct cluster_row *row)
{
    const struct cluster_job *job = &c->jobs[row->job];

    return job->exclusive || job->exclusive_user || c->settings.whole_nodes ||
           c->partitions[row->partition].sharing == CLUSTER_SHARES_NEVER;
}

/* Ends of those that run, one group for all that end together, exactly. */
struct endings {
    struct cluster_groups groups;
    double *end_s; /* [groups.count] */
};

/* A plan that others must leave room for. */
struct head {
    struct endings ends; /* without those that have started since */
    bool is_old;         /* there are such */
    bool is_gang;        /* the pick is of all of it, `row` one of them */
    double start_s;
    const struct cluster_row *row;
    struct cluster_pick pick;
    int64_t *then;     /* what it leaves of its nodes: [node_count][amount_count] */
    uint64_t *nodes;   /* set: those */
    int64_t *shared;   /* what it leaves of what exists once */
    int64_t *withheld; /* for the moment */
};

static bool shared_is_free(struct cluster_pass *p, const struct cluster_row *row,
                           const struct head *head, double end_s)
{
    const struct cluster_job *job = &p->of->jobs[row->job];

    for (size_t i = 0; i < job->shared_count; i++) {
        size_t what = job->shared[i].what;
        int64_t others = cluster_reserved(p->of, job, what, p->of->now_s, end_s);

        if (p->state->shared[what] - others < job->shared[i].units)
            return false;
        if (head && end_s > head->start_s &&
            head->shared[what] - others < job->shared[i].units)
            return false;
    }
    return true;
}

/* What is free now and not there once the first one runs. */
static void withhold(struct cluster_pass *p, struct head *head)
{
    const struct cluster *c = p->of;

    for (size_t i = 0; i < head->pick.count; i++) {
        size_t at = head->pick.nodes[i] * c->amount_count;

        budget_step(c->budget, c->amount_count);
        for (size_t k = at; k < at + c->amount_count; k++) {
            int64_t more = p->state->free[k] - head->then[k];

            head->withheld[k] = more > 0 ? more : 0;
        }
    }
}

/* Whether the row fits now, beside the first one's plan; its nodes are p->usable. */
static bool fits_now(struct cluster_pass *p, size_t row, struct head *head)
{
    const struct cluster_row *r = &p->of->rows[row];
    double end_s = cluster_end_s(p->of->now_s, r->limit_s);
    bool fits;

    if (!shared_is_free(p, r, head, end_s))
        return false;
    cluster_usable(p->state, r, p->of->now_s, end_s, p->usable);
    if (head && end_s > head->start_s) {
        withhold(p, head);
        p->question.withheld = head->withheld;
    }
    cluster_ask(&p->question, r, NULL, p->usable);
    fits = cluster_enough(&p->question, p->usable, 0);
    return fits;
}

/* Starts a row that fits. */
static void start(struct cluster_pass *p, size_t row, struct head *head)
{
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    struct cluster_pick pick;

    cluster_choose(&p->question, p->usable, 0, &pick, p->arena);
    p->question.withheld = NULL;
    cluster_begin(p, row, &pick, r->limit_s, false);
    if (head)
        head->is_old = true;
    if (!head || cluster_end_s(c->now_s, r->limit_s) <= head->start_s)
        return;
    for (size_t i = 0; i < pick.count; i++) {
        int64_t need[64];

        budget_step(c->budget, c->amount_count);
        cluster_need_on(c, r, pick.nodes[i], pick.tasks ? pick.tasks[i] : 1, need);
        for (size_t k = 0; k < c->amount_count; k++)
            head->then[pick.nodes[i] * c->amount_count + k] -= need[k];
    }
    for (size_t i = 0; i < c->jobs[r->job].shared_count; i++)
        head->shared[c->jobs[r->job].shared[i].what] -= c->jobs[r->job].shared[i].units;
}

struct ending {
    double end_s;
    uint32_t index;
};

static int by_end(const void *x, const void *y, void *context)
{
    const struct ending *a = x, *b = y;

    (void)context;
    if (a->end_s < b->end_s || a->end_s > b->end_s)
        return a->end_s < b->end_s ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct endings list_endings(struct cluster_pass *p)
{
    const struct cluster_state *s = p->state;
    struct ending *list = NEW(p->arena, struct ending, s->held_count);
    struct endings e = {.end_s = NEW(p->arena, double, s->held_count)};
    double now_s = p->of->now_s;

    e.groups.of = NEW(p->arena, uint32_t, s->held_count);
    for (size_t i = 0; i < s->held_count; i++) {
        double end_s = s->held[i]->end_s;

        if (s->held[i]->start_s >= now_s && end_s <= now_s)
            end_s = nextafter(now_s, HUGE_VAL); /* it takes no time */
        list[i] = (struct ending){end_s > now_s ? end_s : now_s + 1, (uint32_t)i};
    }
    qsort_r(list, s->held_count, sizeof(*list), by_end, NULL);
    budget_step(p->of->budget, 16 * s->held_count);
    for (size_t i = 0; i < s->held_count; i++) {
        if (!e.groups.count || list[i].end_s > e.end_s[e.groups.count - 1])
            e.end_s[e.groups.count++] = list[i].end_s;
        e.groups.of[list[i].index] = (uint32_t)e.groups.count;
    }
    return e;
}

static int64_t units_of(const struct cluster_held *held, size_t what)
{
    int64_t units = 0;

    for (size_t n = 0; n < held->shared_count; n++)
        if (held->shared[n].what == what)
            units += held->shared[n].units;
    return units;
}

/* Of what exists once, free when group k has ended. */
static bool shared_at(struct cluster_pass *p, const struct endings *e,
                      const struct cluster_row *row, size_t k, double from_s)
{
    const struct cluster_job *job = &p->of->jobs[row->job];
    const struct cluster_state *s = p->state;

    for (size_t i = 0; i < job->shared_count; i++) {
        size_t what = job->shared[i].what;
        int64_t free = s->shared[what];

        budget_step(p->of->budget, s->held_count);
        for (size_t h = 0; h < s->held_count; h++)
            free += e->groups.of[h] <= k ? units_of(s->held[h], what) : 0;
        free -= cluster_reserved(p->of, job, what, from_s,
                                 cluster_end_s(from_s, row->limit_s));
        if (free < job->shared[i].units)
            return false;
    }
    return true;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* Times at which the row might start: when a job ends, or a reservation does. */
static size_t list_times(struct cluster_pass *p, const struct endings *e,
                         const struct cluster_row *row, double **times)
{
    const struct cluster *c = p->of;
    ptrdiff_t own = c->jobs[row->job].reservation;
    size_t n = 0;

    *times = NEW(p->arena, double, e->groups.count + c->reservation_count + 2);
    (*times)[n++] = c->now_s;
    for (size_t i = 0; i < e->groups.count; i++)
        (*times)[n++] = e->end_s[i];
    for (size_t i = 0; i < c->reservation_count; i++)
        if (c->reservations[i].end_s > c->now_s && isfinite(c->reservations[i].end_s))
            (*times)[n++] = c->reservations[i].end_s;
    if (own >= 0 && c->reservations[own].start_s > c->now_s)
        (*times)[n++] = c->reservations[own].start_s;
    budget_step(c->budget, 8 * n);
    if (c->reservation_count)
        qsort(*times, n, sizeof(**times), by_value);
    return n;
}

/* The earliest start of a row by the limits of those that run; HUGE_VAL: none. */
static double earliest(struct cluster_pass *p, const struct endings *e,
                       const struct cluster_row *row, struct cluster_pick *pick,
                       size_t *group)
{
    double *times;
    size_t n = list_times(p, e, row, &times), low = 0, high = n, k = 0;
    bool has_reservations = p->of->reservation_count > 0;

    cluster_ask(&p->question, row, &e->groups, p->of->partitions[row->partition].nodes);
    /* Without reservations there is only more and more: the first is found by halves. */
    while (low < high) {
        size_t i = has_reservations ? low : low + (high - low) / 2;

        if (budget_step(p->of->budget, 4))
            return HUGE_VAL;
        for (k = has_reservations ? k : 0;
             k < e->groups.count && e->end_s[k] <= times[i];)
            k++;
        cluster_usable(p->state, row, times[i], cluster_end_s(times[i], row->limit_s),
                       p->usable);
        if (!cluster_enough(&p->question, p->usable, k) ||
            !shared_at(p, e, row, k, times[i])) {
            low = i + 1;
            continue;
        }
        high = i;
        if (has_reservations)
            break;
    }
    if (high == n)
        return HUGE_VAL;
    for (k = 0; k < e->groups.count && e->end_s[k] <= times[high];)
        k++;
    budget_step(p->of->budget, k);
    cluster_usable(p->state, row, times[high], cluster_end_s(times[high], row->limit_s),
                   p->usable);
    cluster_choose(&p->question, p->usable, k, pick, p->arena);
    *group = k;
    return times[high];
}

/* What is free on a node when the head starts: what is free now, and what has ended then.
 */
static void free_then(const struct cluster_pass *p, const struct head *head, size_t node,
                      size_t group, int64_t *then)
{
    const struct endings *e = &head->ends;
    size_t amounts = p->of->amount_count;

    memcpy(then, &p->state->free[node * amounts], amounts * sizeof(*then));
    for (const struct cluster_place *x = p->state->places[node]; x; x = x->next) {
        budget_step(p->of->budget, amounts);
        for (size_t k = 0; k < amounts && e->groups.of[x->held->index] <= group; k++)
            then[k] += x->taken[k];
    }
}

/* Likewise of what exists once. */
static void free_shared_then(const struct cluster_pass *p, struct head *head,
                             size_t group)
{
    const struct cluster_state *s = p->state;

    for (size_t k = 0; k < p->of->shared_count; k++)
        head->shared[k] = s->shared[k];
    for (size_t h = 0; h < s->held_count; h++) {
        const struct cluster_held *held = s->held[h];

        budget_step(p->of->budget, held->shared_count + 1);
        for (size_t n = 0; head->ends.groups.of[h] <= group && n < held->shared_count;
             n++)
            head->shared[held->shared[n].what] += held->shared[n].units;
    }
}

/* What the first one leaves of its nodes when it starts. */
static void fill_head(struct cluster_pass *p, struct head *head, size_t group)
{
    const struct cluster *c = p->of;
    const struct cluster_job *job = &c->jobs[head->row->job];
    size_t amounts = c->amount_count;
    bool alone = is_alone(c, head->row);

    if (!head->then) {
        head->then = NEW(p->arena, int64_t, c->node_count * amounts);
        head->withheld = NEW(p->arena, int64_t, c->node_count * amounts);
        head->shared = NEW(p->arena, int64_t, c->shared_count);
    }
    memset(head->withheld, 0, c->node_count * amounts * sizeof(*head->withheld));
    budget_step(c->budget, c->node_count * amounts / 4);
    for (size_t i = 0; i < head->pick.count; i++) {
        size_t node = head->pick.nodes[i];
        int64_t *then = &head->then[node * amounts], need[64];

        free_then(p, head, node, group, then);
        cluster_need_on(c, head->row, node, head->pick.tasks ? head->pick.tasks[i] : 1,
                        need);
        for (size_t k = 0; k < amounts; k++)
            then[k] = alone ? 0 : then[k] - need[k];
    }
    free_shared_then(p, head, group);
    for (size_t n = 0; n < job->shared_count; n++)
        head->shared[job->shared[n].what] -= job->shared[n].units;
}

/* ---- head, fit, easy ---- */

/* Whether this row is one of a job of which another one has been looked at. */
static bool is_same_job(const struct cluster_pass *p, size_t i)
{
    const struct cluster_row *rows = p->of->rows;

    return i > 0 && rows[p->out->order[i]].job == rows[p->out->order[i - 1]].job;
}

/* cluster_fit_fn: now, without a look at plans. */
static bool fits_beside(void *context, size_t row, struct cluster_pick *pick)
{
    struct cluster_pass *p = context;

    if (!fits_now(p, row, NULL))
        return false;
    cluster_choose(&p->question, p->usable, 0, pick, p->arena);
    return true;
}

/* Whether the row's gang has started. */
static bool start_gang(struct cluster_pass *p, size_t row)
{
    size_t gang = p->of->jobs[p->of->rows[row].job].gang;

    if (cluster_gang_ready(p, gang) && cluster_gang_begin(p, gang, fits_beside, p, false))
        return true;
    cluster_gang_waits(p, gang);
    return false;
}

/* Starts the first ones; index in the order of the first that has to wait, else the
 * number of rows. */
static size_t start_heads(struct cluster_pass *p)
{
    size_t i = 0;

    while (i < p->row_count) {
        size_t row = p->out->order[i], job = p->of->rows[row].job;

        if (budget_step(p->of->budget, 1)) {
            p->out->is_cut = true;
            return p->row_count;
        }
        if (p->started[job] || !cluster_ready(p, row)) {
            i++;
            continue;
        }
        if (p->of->jobs[job].gang) {
            if (!start_gang(p, row) && cluster_gang_ready(p, p->of->jobs[job].gang))
                return i;
            i++;
            continue;
        }
        if (fits_now(p, row, NULL)) {
            start(p, row, NULL);
            i++;
            continue;
        }
        /* It has to wait, unless it fits in another of its partitions. */
        if (i + 1 == p->row_count || !is_same_job(p, i + 1)) {
            while (is_same_job(p, i))
                i--;
            return i;
        }
        i++;
    }
    return i;
}

/* Whether a row does not fit since the other one did not. */
static bool is_no_easier(const struct cluster *c, const struct cluster_row *row,
                         const struct cluster_row *than)
{
    const struct cluster_job *a = &c->jobs[row->job], *b;

    if (!than || row->partition != than->partition || row->limit_s < than->limit_s)
        return false;
    b = &c->jobs[than->job];
    if (a->nodes < b->nodes || a->tasks < b->tasks || !a->tasks != !b->tasks ||
        a->reservation >= 0 || b->reservation >= 0 || b->exclusive || b->exclusive_user ||
        b->required || b->allowed || b->feature_count || b->shared_count)
        return false;
    for (size_t k = 0; k < c->amount_count; k++)
        if (row->need[k] < than->need[k])
            return false;
    return true;
}

static bool has_free_cpus(const struct cluster_pass *p)
{
    for (size_t i = 0; i < p->of->node_count; i++)
        if (p->state->free[i * p->of->amount_count + CLUSTER_CPUS] > 0)
            return true;
    budget_step(p->of->budget, p->of->node_count);
    return false;
}

/* Whether the first one still has enough nodes at its time when the row has the pick. */
static bool leaves_room(struct cluster_pass *p, const struct head *head, size_t row,
                        const struct cluster_pick *pick, size_t *group)
{
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    const struct cluster_job *job = &c->jobs[r->job];
    const struct endings *e = &head->ends;
    size_t k = 0;

    memset(head->withheld, 0, c->node_count * c->amount_count * sizeof(*head->withheld));
    budget_step(c->budget, c->node_count * c->amount_count / 4);
    for (size_t i = 0; i < pick->count; i++) {
        int64_t *need = &head->withheld[pick->nodes[i] * c->amount_count];

        budget_step(c->budget, c->amount_count);
        if (is_alone(c, r))
            memcpy(need, c->nodes[pick->nodes[i]].capacity,
                   c->amount_count * sizeof(*need));
        else
            cluster_need_on(c, r, pick->nodes[i], pick->tasks ? pick->tasks[i] : 1, need);
    }
    while (k < e->groups.count && e->end_s[k] <= head->start_s)
        k++;
    budget_step(c->budget, k);
    *group = k;
    p->question.withheld = head->withheld;
    cluster_ask(&p->question, head->row, &e->groups,
                c->partitions[head->row->partition].nodes);
    cluster_usable(p->state, head->row, head->start_s,
                   cluster_end_s(head->start_s, head->row->limit_s), p->usable);
    for (size_t i = 0; i < job->shared_count; i++)
        if (head->shared[job->shared[i].what] < job->shared[i].units)
            return false;
    return cluster_enough(&p->question, p->usable, k);
}

/* Starts a row that would have nodes of the first one, if that can have others then. */
static void start_beside(struct cluster_pass *p, size_t row, struct head *head)
{
    struct cluster_pick pick;
    size_t group = 0;

    p->question.withheld = NULL;
    if (!fits_now(p, row, NULL))
        return;
    cluster_choose(&p->question, p->usable, 0, &pick, p->arena);
    if (head->is_old)
        head->ends = list_endings(p);
    head->is_old = false;
    if (leaves_room(p, head, row, &pick, &group)) {
        cluster_choose(&p->question, p->usable, group, &head->pick, p->arena);
        p->question.withheld = NULL;
        cluster_begin(p, row, &pick, p->of->rows[row].limit_s, false);
        head->ends = list_endings(p);
        for (group = 0;
             group < head->ends.groups.count && head->ends.end_s[group] <= head->start_s;)
            group++;
        fill_head(p, head, group);
    } else {
        memset(head->withheld, 0,
               p->of->node_count * p->of->amount_count * sizeof(*head->withheld));
    }
    budget_step(p->of->budget, p->of->node_count + group);
    p->question.withheld = NULL;
}

static void start_others(struct cluster_line *l, struct cluster_pass *p,
                         struct head *head)
{
    size_t *rows = p->out->order;
    const struct cluster_row *failed = NULL;

    if (!has_free_cpus(p))
        return;
    if (l->discipline->backfill_order != l->discipline->order) {
        rows = NEW(p->arena, size_t, p->row_count);
        memcpy(rows, p->out->order, p->row_count * sizeof(*rows));
        sort(p->of, l->discipline->backfill_order, rows, p->row_count);
    }
    for (size_t i = 0; i < p->row_count; i++) {
        const struct cluster_row *r = &p->of->rows[rows[i]];

        if (budget_step(p->of->budget, p->of->amount_count)) {
            p->out->is_cut = true;
            return;
        }
        if (p->started[r->job] || (head && r->job == head->row->job) ||
            is_no_easier(p->of, r, failed) || !cluster_ready(p, rows[i]))
            continue;
        if (p->of->jobs[r->job].gang) {
            if (!head)
                start_gang(p, rows[i]);
            continue;
        }
        if (fits_now(p, rows[i], head))
            start(p, rows[i], head);
        else if (head && !head->is_gang && p->of->node_count > 1)
            start_beside(p, rows[i], head);
        p->question.withheld = NULL;
        if (!p->started[r->job])
            failed = r;
    }
}

/* Plans the first one that waits by that of its rows, [first, ...), that is first. */
static void plan_head(struct cluster_pass *p, struct head *head, size_t first)
{
    size_t group = 0;

    for (size_t i = first; i < p->row_count && (i == first || is_same_job(p, i)); i++) {
        const struct cluster_row *row = &p->of->rows[p->out->order[i]];
        struct cluster_pick pick = {0};
        size_t k = 0;
        double start_s = cluster_ready(p, p->out->order[i])
                             ? earliest(p, &head->ends, row, &pick, &k)
                             : HUGE_VAL;

        if (start_s >= head->start_s && head->row)
            continue;
        head->row = row;
        head->start_s = start_s;
        head->pick = pick;
        group = k;
    }
    if (isfinite(head->start_s))
        fill_head(p, head, group);
}

/* A member of the gang that waits first, and its nodes. */
struct seated {
    const struct cluster_row *row;
    struct cluster_pick pick;
};

static void make_head_room(struct cluster_pass *p, struct head *head)
{
    size_t cells = p->of->node_count * p->of->amount_count;

    head->then = NEW(p->arena, int64_t, cells);
    head->withheld = NEW(p->arena, int64_t, cells);
    head->shared = NEW(p->arena, int64_t, p->of->shared_count);
    head->nodes = NEW(p->arena, uint64_t, p->state->words);
}

/* What a member has cannot be had by those behind it. */
static void withhold_seat(struct cluster_pass *p, struct head *head,
                          const struct seated *seat)
{
    const struct cluster *c = p->of;

    for (size_t i = 0; i < seat->pick.count; i++) {
        size_t node = seat->pick.nodes[i];
        int64_t need[64];

        budget_step(c->budget, c->amount_count);
        cluster_need_on(c, seat->row, node, seat->pick.tasks ? seat->pick.tasks[i] : 1,
                        need);
        for (size_t k = 0; k < c->amount_count; k++)
            head->withheld[node * c->amount_count + k] +=
                is_alone(c, seat->row) ? c->nodes[node].capacity[k] : need[k];
    }
}

/* Nodes for all members when those that end by then have ended; the earliest time at
 * which the first of them that has none has some, else at_s. */
static double seat_gang(struct cluster_pass *p, struct head *head,
                        const struct cluster_gang *g, double at_s, struct seated *seats,
                        size_t *count)
{
    size_t k = 0;

    while (k < head->ends.groups.count && head->ends.end_s[k] <= at_s)
        k++;
    memset(head->withheld, 0,
           p->of->node_count * p->of->amount_count * sizeof(*head->withheld));
    budget_step(p->of->budget, p->of->node_count * p->of->amount_count / 4 + k);
    *count = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct seated *seat = &seats[*count];

        if (p->started[g->members[i].job])
            continue;
        seat->row = &p->of->rows[g->members[i].row];
        p->question.withheld = head->withheld;
        cluster_ask(&p->question, seat->row, &head->ends.groups,
                    p->of->partitions[seat->row->partition].nodes);
        cluster_usable(p->state, seat->row, at_s, cluster_end_s(at_s, seat->row->limit_s),
                       p->usable);
        if (!cluster_enough(&p->question, p->usable, k) ||
            !shared_at(p, &head->ends, seat->row, k, at_s)) {
            double next_s = earliest(p, &head->ends, seat->row, &seat->pick, &k);

            p->question.withheld = NULL;
            return next_s > at_s ? next_s : HUGE_VAL;
        }
        cluster_choose(&p->question, p->usable, k, &seat->pick, p->arena);
        withhold_seat(p, head, seat);
        ++*count;
    }
    p->question.withheld = NULL;
    return at_s;
}

/* What the gang leaves of its nodes, all of which are the head's. */
static void fill_gang(struct cluster_pass *p, struct head *head, struct seated *seats,
                      size_t count)
{
    const struct cluster *c = p->of;
    size_t group = 0, nodes = 0;
    uint32_t *list = NEW(p->arena, uint32_t, c->node_count);

    while (group < head->ends.groups.count && head->ends.end_s[group] <= head->start_s)
        group++;
    budget_step(c->budget, c->node_count + group);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < seats[i].pick.count; k++) {
            size_t node = seats[i].pick.nodes[k], at = node * c->amount_count;

            budget_step(c->budget, c->amount_count);
            if (cluster_set_has(head->nodes, node))
                continue;
            cluster_set_add(head->nodes, node);
            list[nodes++] = (uint32_t)node;
            free_then(p, head, node, group, &head->then[at]);
            for (size_t m = at; m < at + c->amount_count; m++)
                head->then[m] -= head->withheld[m];
        }
    free_shared_then(p, head, group);
    for (size_t i = 0; i < count; i++) {
        const struct cluster_job *job = &c->jobs[seats[i].row->job];

        budget_step(c->budget, job->shared_count);
        for (size_t n = 0; n < job->shared_count; n++)
            head->shared[job->shared[n].what] -= job->shared[n].units;
    }
    memset(head->withheld, 0, c->node_count * c->amount_count * sizeof(*head->withheld));
    head->row = seats[0].row;
    head->pick = (struct cluster_pick){.nodes = list, .count = nodes};
    head->is_gang = true;
}

/* Likewise a gang: at the first of the tried times at which all have nodes. */
static void plan_gang_head(struct cluster_pass *p, struct head *head, size_t gang)
{
    const struct cluster_gang *g = &p->of->gangs[gang - 1];
    struct seated *seats = NEW(p->arena, struct seated, g->count);
    double at_s = p->of->now_s;
    size_t count = 0;

    make_head_room(p, head);
    for (int tries = 0; tries < GANG_TRIES_MAX && isfinite(at_s); tries++) {
        double next_s = seat_gang(p, head, g, at_s, seats, &count);

        if (budget_step(p->of->budget, 1))
            return;
        if (next_s > at_s) {
            at_s = next_s;
            continue;
        }
        head->start_s = at_s;
        fill_gang(p, head, seats, count);
        return;
    }
}

static void decide_easy(struct cluster_line *l, struct cluster_pass *p)
{
    size_t first = start_heads(p), gang;
    struct head head = {.start_s = HUGE_VAL};

    if (first >= p->row_count || p->out->is_cut)
        return;
    head.ends = list_endings(p);
    gang = p->of->jobs[p->of->rows[p->out->order[first]].job].gang;
    if (gang)
        plan_gang_head(p, &head, gang);
    else
        plan_head(p, &head, first);
    if (head.start_s <= nextafter(p->of->now_s, HUGE_VAL)) /* waits for such as take no
                                                              time */
        return;
    start_others(l, p, isfinite(head.start_s) ? &head : NULL);
}

/* ---- conservative ---- */

/* The plan keeps the pick. */
static void keep_pick(struct cluster_line *l, struct plan *plan,
                      const struct cluster_pick *pick)
{
    if (plan->node_room < pick->count) {
        plan->pick.nodes = NEW(l->arena, uint32_t, pick->count);
        plan->pick.tasks = NEW(l->arena, uint32_t, pick->count);
        plan->node_room = pick->count;
    }
    plan->pick.count = pick->count;
    memcpy(plan->pick.nodes, pick->nodes, pick->count * sizeof(*pick->nodes));
    for (size_t i = 0; i < pick->count; i++)
        plan->pick.tasks[i] = pick->tasks ? pick->tasks[i] : 1;
    budget_step(l->of->budget, pick->count);
}

/* Lays the job in where it fits first before before_s, in its partition that is first;
 * rows [at, end) of the order are its own. False: nowhere. */
static bool lay_within(struct cluster_line *l, struct cluster_pass *p, size_t at,
                       size_t end, double from_s, double before_s)
{
    struct arena_mark mark = arena_mark(p->arena);
    size_t job = l->of->rows[p->out->order[at]].job;
    struct plan *plan = &l->plans[job];
    double best_s = before_s;

    for (size_t i = at; i < end; i++) {
        const struct cluster_row *row = &l->of->rows[p->out->order[i]];
        struct cluster_pick pick;
        double start_s = cluster_board_find(l->board, &p->question, row, from_s, best_s,
                                            &pick, p->arena);

        if (start_s >= best_s)
            continue;
        best_s = start_s;
        plan->row = p->out->order[i];
        plan->start_s = start_s;
        plan->end_s = cluster_end_s(start_s, row->limit_s);
        keep_pick(l, plan, &pick);
    }
    arena_rewind(p->arena, mark);
    if (best_s >= before_s)
        return false;
    plan->is_there = true;
    cluster_board_lay(l->board, &l->of->rows[plan->row], &plan->pick, plan->start_s,
                      plan->end_s, 1);
    return true;
}

static bool lay_first(struct cluster_line *l, struct cluster_pass *p, size_t at,
                      size_t end, double before_s)
{
    return lay_within(l, p, at, end, l->of->now_s, before_s);
}

static void lay_again(struct cluster_line *l, const struct plan *plan, int sign)
{
    cluster_board_lay(l->board, &l->of->rows[plan->row], &plan->pick, plan->start_s,
                      plan->end_s, sign);
}

/* The end of the rows in the order that are of the same job as the one at `at`. */
static size_t end_of_job(const struct cluster_pass *p, size_t at)
{
    size_t end = at + 1;

    while (end < p->row_count && is_same_job(p, end))
        end++;
    return end;
}

/* ---- gangs by conservative ---- */

/* A member's place while it is not known whether all have one. */
struct seat {
    size_t row;
    struct cluster_pick pick;
    double end_s;
};

/* The row of a member that is planned: its first that could start; -1: it does not wait.
 */
static ptrdiff_t seat_row(const struct cluster_pass *p, const struct cluster_member *m)
{
    for (size_t row = m->row; row < m->row + m->row_count && !p->started[m->job]; row++)
        if (p->out->verdicts[row].outcome == CLUSTER_WAITS && cluster_ready(p, row))
            return (ptrdiff_t)row;
    return -1;
}

static double find_seat(struct cluster_line *l, struct cluster_pass *p, size_t row,
                        double from_s, double before_s, struct cluster_pick *pick)
{
    return cluster_board_find(l->board, &p->question, &l->of->rows[row], from_s, before_s,
                              pick, p->arena);
}

/* The latest of the first starts of all members; HUGE_VAL: one has none before before_s.
 */
static double latest_seat(struct cluster_line *l, struct cluster_pass *p,
                          const struct cluster_gang *g, double from_s, double before_s)
{
    double latest_s = from_s;

    for (size_t i = 0; i < g->count; i++) {
        ptrdiff_t row = seat_row(p, &g->members[i]);
        struct cluster_pick pick;
        double start_s;

        budget_step(l->of->budget, 1);
        if (row < 0)
            continue;
        start_s = find_seat(l, p, (size_t)row, from_s, before_s, &pick);
        if (start_s >= before_s)
            return HUGE_VAL;
        latest_s = fmax(latest_s, start_s);
    }
    return latest_s;
}

static void lay_seat(struct cluster_line *l, const struct seat *seat, double start_s,
                     int sign)
{
    cluster_board_lay(l->board, &l->of->rows[seat->row], &seat->pick, start_s,
                      seat->end_s, sign);
}

/* Seats for all members at that time, laid in; the number of them. Else none is, and
 * *next_s is when the one that has none could start at the earliest. */
static size_t lay_seats(struct cluster_line *l, struct cluster_pass *p,
                        const struct cluster_gang *g, double start_s, double before_s,
                        struct seat *seats, double *next_s)
{
    double behind_s = nextafter(start_s, HUGE_VAL);
    size_t count = 0;

    for (size_t i = 0; i < g->count; i++) {
        ptrdiff_t row = seat_row(p, &g->members[i]);
        struct seat *seat = &seats[count];

        budget_step(l->of->budget, 1);
        if (row < 0)
            continue;
        seat->row = (size_t)row;
        seat->end_s = cluster_end_s(start_s, l->of->rows[row].limit_s);
        if (find_seat(l, p, (size_t)row, start_s, behind_s, &seat->pick) < behind_s) {
            lay_seat(l, seat, start_s, 1);
            count++;
            continue;
        }
        *next_s = find_seat(l, p, (size_t)row, behind_s, before_s, &seat->pick);
        while (count > 0)
            lay_seat(l, &seats[--count], start_s, -1);
        return 0;
    }
    return count;
}

/* Lays all of a gang in at one time, the first that is tried before before_s. */
static bool lay_gang(struct cluster_line *l, struct cluster_pass *p, size_t gang,
                     double from_s, double before_s)
{
    const struct cluster_gang *g = &l->of->gangs[gang - 1];
    struct arena_mark mark = arena_mark(p->arena);
    struct seat *seats = NEW(p->arena, struct seat, g->count);
    size_t count = 0;

    for (int tries = 0; tries < GANG_TRIES_MAX && !count; tries++) {
        from_s = latest_seat(l, p, g, from_s, before_s);
        if (from_s >= before_s || budget_step(l->of->budget, 1))
            break;
        count = lay_seats(l, p, g, from_s, before_s, seats, &from_s);
    }
    for (size_t i = 0; i < count; i++) {
        struct plan *plan = &l->plans[l->of->rows[seats[i].row].job];

        plan->is_there = true;
        plan->row = seats[i].row;
        plan->start_s = from_s;
        plan->end_s = seats[i].end_s;
        keep_pick(l, plan, &seats[i].pick);
    }
    arena_rewind(p->arena, mark);
    return count > 0;
}

/* The start that is planned for a gang; NAN: none. */
static double gang_plan_s(const struct cluster_line *l, size_t gang)
{
    const struct cluster_gang *g = &l->of->gangs[gang - 1];

    budget_step(l->of->budget, g->count);
    for (size_t i = 0; i < g->count; i++)
        if (l->plans[g->members[i].job].is_there)
            return l->plans[g->members[i].job].start_s;
    return (double)NAN;
}

/* Takes the plans of a gang off the board, or puts them there again. */
static void lay_plans(struct cluster_line *l, size_t gang, int sign)
{
    const struct cluster_gang *g = &l->of->gangs[gang - 1];

    budget_step(l->of->budget, g->count);
    for (size_t i = 0; i < g->count; i++)
        if (l->plans[g->members[i].job].is_there)
            lay_again(l, &l->plans[g->members[i].job], sign);
}

static void drop_plans(struct cluster_line *l, size_t gang)
{
    const struct cluster_gang *g = &l->of->gangs[gang - 1];

    lay_plans(l, gang, -1);
    for (size_t i = 0; i < g->count; i++)
        l->plans[g->members[i].job].is_there = false;
}

/* The gang of the row, if it has not been looked at; 0: none. */
static size_t fresh_gang(const struct cluster_pass *p, size_t row, bool *seen)
{
    size_t gang = p->of->jobs[p->of->rows[row].job].gang;

    if (!gang || seen[gang - 1])
        return 0;
    seen[gang - 1] = true;
    return gang;
}

static bool is_of_gang(const struct cluster_pass *p, size_t row)
{
    return p->of->jobs[p->of->rows[row].job].gang > 0;
}

static void compress_gang(struct cluster_line *l, struct cluster_pass *p, size_t gang)
{
    double start_s = gang ? gang_plan_s(l, gang) : (double)NAN;

    if (!(start_s > l->of->now_s))
        return;
    lay_plans(l, gang, -1);
    if (!lay_gang(l, p, gang, l->of->now_s, start_s))
        lay_plans(l, gang, 1);
}

static void compress(struct cluster_line *l, struct cluster_pass *p)
{
    bool *seen = NEW(p->arena, bool, l->of->gang_count);

    for (size_t i = 0, end; i < p->row_count; i = end) {
        struct plan *plan = &l->plans[l->of->rows[p->out->order[i]].job];

        end = end_of_job(p, i);
        if (budget_step(l->of->budget, 1)) {
            p->out->is_cut = true;
            return;
        }
        if (is_of_gang(p, p->out->order[i])) {
            compress_gang(l, p, fresh_gang(p, p->out->order[i], seen));
            continue;
        }
        if (!plan->is_there || plan->start_s <= l->of->now_s)
            continue;
        lay_again(l, plan, -1);
        if (!lay_first(l, p, i, end, plan->start_s))
            lay_again(l, plan, 1);
    }
}

/* A job that was promised a start. */
struct promise {
    double start_s; /* not before now */
    size_t at, end; /* its rows in the order */
};

static int by_promise(const void *x, const void *y)
{
    const struct promise *a = x, *b = y;

    if (a->start_s < b->start_s || a->start_s > b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Each at its time; those that do not fit there come behind all others, so that they
 * break no promise but their own. */
static void keep_promises(struct cluster_line *l, struct cluster_pass *p)
{
    struct promise *list = NEW(p->arena, struct promise, p->row_count);
    size_t n = 0, late = 0;
    bool keeps_gaps = l->promises->keeps_gaps;

    for (size_t i = 0, end; i < p->row_count; i = end) {
        double start_s = l->promises->start_s[l->of->rows[p->out->order[i]].job];

        end = end_of_job(p, i);
        budget_step(l->of->budget, 1);
        if (!isnan(start_s) && !is_of_gang(p, p->out->order[i]) &&
            cluster_ready(p, p->out->order[i]))
            list[n++] = (struct promise){fmax(start_s, l->of->now_s), i, end};
    }
    if (n)
        qsort(list, n, sizeof(*list), by_promise);
    l->promises = NULL;
    for (size_t i = 0; i < n; i++) {
        double start_s = list[i].start_s;

        if (budget_step(l->of->budget, 16) && start_s > l->of->now_s)
            break; /* those that are due start at any rate */
        if (!lay_within(l, p, list[i].at, list[i].end, start_s,
                        nextafter(start_s, HUGE_VAL)))
            list[late++] = list[i];
    }
    for (size_t i = 0; i < late; i++)
        if (!budget_step(l->of->budget, 1))
            lay_first(l, p, list[i].at, list[i].end, HUGE_VAL);
    if (!keeps_gaps)
        compress(l, p);
}

static void plan_arrivals(struct cluster_line *l, struct cluster_pass *p)
{
    bool *seen = NEW(p->arena, bool, l->of->gang_count);

    for (size_t i = 0, end; i < p->row_count; i = end) {
        struct plan *plan = &l->plans[l->of->rows[p->out->order[i]].job];

        end = end_of_job(p, i);
        if (budget_step(l->of->budget, 1)) {
            p->out->is_cut = true;
            return;
        }
        if (is_of_gang(p, p->out->order[i])) {
            size_t gang = fresh_gang(p, p->out->order[i], seen);

            if (gang && isnan(gang_plan_s(l, gang)) && cluster_gang_ready(p, gang))
                lay_gang(l, p, gang, l->of->now_s, HUGE_VAL);
            continue;
        }
        if (!plan->is_there && cluster_ready(p, p->out->order[i]))
            lay_first(l, p, i, end, HUGE_VAL);
    }
}

/* Whether the nodes of a plan are free now. */
static bool is_free(struct cluster_pass *p, const struct plan *plan)
{
    const struct cluster_row *row = &p->of->rows[plan->row];

    memset(p->usable, 0, p->state->words * sizeof(*p->usable));
    for (size_t i = 0; i < plan->pick.count; i++)
        cluster_set_add(p->usable, plan->pick.nodes[i]);
    budget_step(p->of->budget, plan->pick.count + p->state->words);
    cluster_ask(&p->question, row, NULL, p->usable);
    return cluster_has_shared(p->state, &p->of->jobs[row->job]) &&
           cluster_enough(&p->question, p->usable, 0);
}

/* What starts on the nodes that it was planned on. */
struct starting {
    struct cluster_line *line;
    struct cluster_pass *pass;
};

/* cluster_fit_fn */
static bool fits_as_planned(void *context, size_t row, struct cluster_pick *pick)
{
    const struct starting *x = context;
    const struct plan *plan = &x->line->plans[x->line->of->rows[row].job];

    if (!plan->is_there || plan->row != row || !is_free(x->pass, plan))
        return false;
    *pick = plan->pick;
    return true;
}

/* A gang whose plan is due by then. */
static void start_planned_gang(struct cluster_line *l, struct cluster_pass *p,
                               size_t gang, double due_s)
{
    struct starting x = {l, p};
    double now_s = l->of->now_s, start_s = gang ? gang_plan_s(l, gang) : (double)NAN;

    if (!(start_s <= due_s))
        return;
    if (!cluster_gang_ready(p, gang)) {
        drop_plans(l, gang);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (start_s <= now_s && start_s >= now_s &&
            cluster_gang_begin(p, gang, fits_as_planned, &x, false)) {
            const struct cluster_gang *g = &l->of->gangs[gang - 1];

            budget_step(l->of->budget, g->count);
            for (size_t k = 0; k < g->count; k++) /* what runs is on the board so long */
                l->plans[g->members[k].job].is_there = false;
            return;
        }
        if (i == 1)
            return;
        drop_plans(l, gang);
        lay_gang(l, p, gang, now_s, HUGE_VAL);
        start_s = gang_plan_s(l, gang);
    }
}

static void start_planned(struct cluster_line *l, struct cluster_pass *p)
{
    bool *seen = NEW(p->arena, bool, l->of->gang_count);
    double now_s = l->of->now_s;
    double due_s = now_s + INSTANT_RATIO * fmax(1, fabs(now_s));

    for (size_t i = 0, end; i < p->row_count; i = end) {
        size_t job = l->of->rows[p->out->order[i]].job;
        struct plan *plan = &l->plans[job];

        end = end_of_job(p, i);
        budget_step(l->of->budget, 1);
        if (is_of_gang(p, p->out->order[i])) {
            start_planned_gang(l, p, fresh_gang(p, p->out->order[i], seen), due_s);
            continue;
        }
        if (!plan->is_there || plan->start_s > due_s || p->started[job])
            continue;
        if (!cluster_ready(p, plan->row)) {
            lay_again(l, plan, -1);
            plan->is_there = false;
            continue;
        }
        if (plan->start_s > now_s || plan->start_s < now_s || !is_free(p, plan)) {
            lay_again(l, plan, -1);
            plan->is_there = false;
            lay_first(l, p, i, end, HUGE_VAL);
            if (!plan->is_there || plan->start_s > now_s || !is_free(p, plan))
                continue;
        }
        plan->is_there = false;
        cluster_begin(p, plan->row, &plan->pick, l->of->rows[plan->row].limit_s, false);
    }
}

static double next_plan_s(const struct cluster_line *l, const struct cluster_pass *p)
{
    double next_s = HUGE_VAL;

    budget_step(l->of->budget, p->row_count);
    for (size_t i = 0; i < p->row_count; i++) {
        size_t job = l->of->rows[p->out->order[i]].job;

        if (l->plans[job].is_there && !p->started[job])
            next_s = fmin(next_s, l->plans[job].start_s);
    }
    return next_s;
}

static double decide_conservative(struct cluster_line *l, struct cluster_pass *p)
{
    if (!l->board)
        l->board = cluster_board_create(p->state, l->arena);
    cluster_board_advance(l->board, l->of->now_s);
    if (l->promises)
        keep_promises(l, p);
    if (l->ended_early)
        compress(l, p);
    l->ended_early = false;
    plan_arrivals(l, p);
    start_planned(l, p);
    return next_plan_s(l, p);
}

void cluster_line_end(struct cluster_line *l, const struct cluster_held *held,
                      double now_s)
{
    double end_s =
        held->end_s > held->start_s ? held->end_s : nextafter(held->start_s, HUGE_VAL);

    if (!l->board || !(end_s > now_s))
        return;
    cluster_board_give(l->board, held, now_s, end_s);
    l->ended_early |= held->end_s > held->start_s;
}

void cluster_line_leave(struct cluster_line *l, size_t job)
{
    struct plan *plan = l->plans ? &l->plans[job] : NULL;

    if (!plan || !plan->is_there)
        return;
    lay_again(l, plan, -1);
    plan->is_there = false;
    l->ended_early = true;
}

void cluster_line_more(struct cluster_line *l)
{
    l->ended_early |= l->board != NULL;
}

double cluster_line_decide(struct cluster_line *l, struct cluster_pass *p)
{
    switch (l->discipline->rule) {
    case QUEUE_HEAD:
        start_heads(p);
        break;
    case QUEUE_FIT:
        start_others(l, p, NULL);
        break;
    case QUEUE_EASY:
        decide_easy(l, p);
        break;
    case QUEUE_CONSERVATIVE:
        return decide_conservative(l, p);
    }
    return HUGE_VAL;
}
