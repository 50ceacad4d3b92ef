/* cluster_replay/rules.c - who starts: head, fit and easy on classes of nodes.
 *
 * easy: the first of the queue that cannot start has its shadow, the earliest time at
 * which enough nodes have room for it if all that run end as expected. Others start if
 * they end by then, or leave it enough nodes with room: of the nodes with room at that
 * time `spare` are more than it needs, and a job that runs into it may have so many of
 * them, and any of the others.
 *
 * What only arrived since the last round is tried alone: with nothing freed the others
 * still do not fit, and the shadow stands where it was. So a round costs little where
 * nothing can start.
 *
 * Source: A. Mu'alem, D. Feitelson 2001; counting nodes instead of processors is ours.
 */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <string.h>

/* ---- the first of the queue ---- */

static bool try_start(struct engine *e, uint32_t job)
{
    uint32_t set;

    if (!nodes_pick(e, job, &set, false))
        return false;
    life_start(e, job, set);
    return true;
}

/* Starts from the front; the first that cannot, or NULL. */
static const struct line_entry *start_heads(struct engine *e)
{
    const struct line_entry *first = NULL;

    for (;;) {
        struct line_place place = {0};
        size_t passed = 0;

        first = line_at(&e->line, &place, UINT32_MAX, &passed);
        if (!first || budget_step(e->budget, 16) || !try_start(e, first->job))
            return first;
    }
}

/* ---- its shadow ---- */

/* A walk over those that run, by their ends. */
struct ahead {
    struct engine *e;
    uint32_t job, set;
    int64_t *fitting; /* by class of the set: nodes with room */
    int64_t enough;
    bool repaired;     /* nodes that are down are counted */
    int64_t repair_ms; /* when the next ones are */
};

static int64_t count_at(const struct ahead *w, int64_t at_ms)
{
    const struct engine *e = w->e;
    const uint32_t *classes = e->set_classes[w->set];
    int64_t until_ms = later(at_ms, e->lives[w->job].estimate_ms), sum = 0;

    for (size_t i = 0; i < e->set_class_count[w->set]; i++)
        if (nodes_eligible(e, w->job, classes[i], at_ms, until_ms))
            sum += w->fitting[classes[i]];
    return sum;
}

static void free_later(struct ahead *w, const struct run *r)
{
    struct engine *e = w->e;

    if (e->whole && r->klass != REPLAY_NONE) {
        w->fitting[r->klass] += r->node_count;
        return;
    }
    for (size_t i = 0; i < r->node_count; i++) {
        uint32_t node = r->nodes[i];
        const struct klass *k = &e->classes[e->nodes[node].klass];
        const int64_t *need = e->in->jobs[r->job].need;
        int64_t *free = e->free + node * e->amount_count;

        if (e->whole) {
            w->fitting[e->nodes[node].klass]++;
            continue;
        }
        if (e->shadow_stamp[node] != e->shadow.stamp) {
            e->shadow_stamp[node] = e->shadow.stamp;
            memcpy(e->shadow_free + node * e->amount_count, free,
                   e->amount_count * sizeof(*free));
        }
        free = e->shadow_free + node * e->amount_count;
        w->fitting[e->nodes[node].klass] -= nodes_room(e, w->job, k, free);
        for (size_t a = 0; a < e->amount_count; a++)
            free[a] += r->exclusive ? k->amounts[a] : need[a];
        w->fitting[e->nodes[node].klass] += nodes_room(e, w->job, k, free);
    }
    budget_step(e->budget, 4 * (size_t)r->node_count);
}

static void share_later(struct engine *e, const struct run *r)
{
    const struct replay_job *j = &e->in->jobs[r->job];

    for (size_t i = 0; i < j->shared_count && !r->cleans; i++)
        e->shadow_shared[j->shared[i].name] += j->shared[i].amount;
}

/* Nodes that are down are back so long from now: the next such time from `after_ms` on.
 */
static int64_t next_repair_ms(const struct ahead *w, int64_t after_ms)
{
    const struct engine *e = w->e;
    int64_t first_ms = REPLAY_NEVER;

    for (size_t i = 0; i < e->set_class_count[w->set]; i++) {
        const struct klass *k = &e->classes[e->set_classes[w->set][i]];
        int64_t at_ms = later(e->kernel.now_ms, k->repair_ms);

        if (k->down_count && at_ms > after_ms && at_ms < first_ms)
            first_ms = at_ms;
    }
    return first_ms;
}

static void repair_later(struct ahead *w, int64_t at_ms)
{
    const struct engine *e = w->e;

    for (size_t i = 0; i < e->set_class_count[w->set]; i++) {
        uint32_t class = e->set_classes[w->set][i];
        const struct klass *k = &e->classes[class];

        if (k->down_count && later(e->kernel.now_ms, k->repair_ms) == at_ms)
            w->fitting[class] += (int64_t)k->down_count;
    }
    w->repaired = true;
    w->repair_ms = next_repair_ms(w, at_ms);
}

/* The next end of a reservation of a class of the set. */
static int64_t next_opening_ms(const struct ahead *w, int64_t after_ms)
{
    const struct engine *e = w->e;
    int64_t first_ms = REPLAY_NEVER;

    for (size_t i = 0; i < e->set_class_count[w->set]; i++) {
        uint32_t class = e->set_classes[w->set][i];

        for (size_t k = 0; k < e->class_reservation_count[class]; k++) {
            int64_t end_ms = e->class_reservations[class][k].end_ms;

            if (end_ms > after_ms && end_ms < first_ms)
                first_ms = end_ms;
        }
    }
    return first_ms;
}

static bool has_room(const struct ahead *w, int64_t at_ms)
{
    return count_at(w, at_ms) >= w->enough &&
           nodes_shared_fit(w->e, w->job, w->e->shadow_shared);
}

/* What ends by then, from the i-th that runs on; the first that does not. */
static size_t free_until(struct ahead *w, size_t i, int64_t at_ms)
{
    const struct engine *e = w->e;

    for (; i < e->running_count && running_end_ms(e, &e->running[i]) <= at_ms; i++) {
        free_later(w, e->running[i].run);
        share_later(w->e, e->running[i].run);
    }
    return i;
}

/* When the job starts on the set; what is free then stays in e->shadow_... */
static int64_t walk_ahead(struct ahead *w)
{
    struct engine *e = w->e;
    int64_t at_ms = e->kernel.now_ms, opening_ms = next_opening_ms(w, at_ms);
    size_t i = 0;

    w->repaired = false;
    w->repair_ms = next_repair_ms(w, at_ms);
    memcpy(e->shadow_shared, e->shared_free, e->in->shared_count * sizeof(int64_t));
    e->shadow.stamp++;
    for (size_t k = 0; k < e->set_class_count[w->set]; k++)
        w->fitting[e->set_classes[w->set][k]] =
            nodes_need_fits(e, e->in->jobs[w->job].need,
                            e->classes[e->set_classes[w->set][k]].amounts)
                ? (int64_t)nodes_fitting(e, w->job, e->set_classes[w->set][k], SIZE_MAX)
                : 0;
    while (!has_room(w, at_ms)) {
        int64_t next_ms = w->repair_ms < opening_ms ? w->repair_ms : opening_ms;

        if (i < e->running_count) {
            int64_t end_ms = running_end_ms(e, &e->running[i]);

            next_ms = end_ms < next_ms ? end_ms : next_ms;
        }
        if (next_ms == REPLAY_NEVER || budget_step(e->budget, 8))
            return REPLAY_NEVER;
        at_ms = next_ms;
        i = free_until(w, i, at_ms);
        if (w->repair_ms <= at_ms)
            repair_later(w, at_ms);
        if (opening_ms <= at_ms)
            opening_ms = next_opening_ms(w, at_ms);
    }
    return at_ms;
}

/* Of several sets that with the earliest start. */
static void find_shadow(struct engine *e, uint32_t job)
{
    struct ahead w = {.e = e,
                      .job = job,
                      .enough =
                          (int64_t)e->in->jobs[job].nodes + e->in->jobs[job].spare_nodes,
                      .fitting = e->class_fitting};
    size_t count = nodes_set_count(e, job), best = 0;
    int64_t best_ms = REPLAY_NEVER, until_ms;

    e->shadow.job = job;
    for (size_t i = 0; i < count && count > 1; i++) {
        int64_t at_ms;

        w.set = nodes_set(e, job, i);
        at_ms = walk_ahead(&w);
        if (at_ms < best_ms) {
            best_ms = at_ms;
            best = i;
        }
    }
    w.set = e->shadow.set = nodes_set(e, job, best);
    e->shadow.at_ms = walk_ahead(&w);
    e->shadow.by_repair = w.repaired;
    e->shadow.spare = count_at(&w, e->shadow.at_ms) - w.enough;
    until_ms = later(e->shadow.at_ms, e->lives[job].estimate_ms);
    memset(e->shadow_classes, 0, e->class_count * sizeof(bool));
    for (size_t i = 0; i < e->set_class_count[w.set]; i++) {
        uint32_t class = e->set_classes[w.set][i];

        e->shadow_classes[class] =
            nodes_eligible(e, job, class, e->shadow.at_ms, until_ms);
    }
    for (size_t i = 0; i < e->in->jobs[job].shared_count; i++)
        e->shadow_shared[e->in->jobs[job].shared[i].name] -=
            e->in->jobs[job].shared[i].amount;
}

/* ---- those that overtake ---- */

/* At the shadow's time the nodes of a job that ends by then are as they were. */
static void keep_later(struct engine *e)
{
    for (size_t i = 0; i < e->picked_count && !e->whole; i++) {
        uint32_t node = e->picked[i];

        if (e->shadow_stamp[node] == e->shadow.stamp)
            continue;
        e->shadow_stamp[node] = e->shadow.stamp;
        memcpy(e->shadow_free + node * e->amount_count, e->free + node * e->amount_count,
               e->amount_count * sizeof(int64_t));
    }
}

/* It runs into the shadow. */
static void take_later(struct engine *e, uint32_t job)
{
    const struct replay_job *j = &e->in->jobs[job];

    e->shadow.spare -= (int64_t)e->picked_harm;
    for (size_t i = 0; i < j->shared_count; i++)
        e->shadow_shared[j->shared[i].name] -= j->shared[i].amount;
    for (size_t i = 0; i < e->picked_count && !e->whole; i++) {
        uint32_t node = e->picked[i];
        const struct klass *k = &e->classes[e->nodes[node].klass];
        int64_t *free = e->shadow_free + node * e->amount_count;

        if (e->shadow_stamp[node] != e->shadow.stamp)
            continue; /* what is free now is less all the same */
        for (size_t a = 0; a < e->amount_count; a++)
            free[a] -= j->exclusive ? k->amounts[a] : j->need[a];
    }
}

/* Starts a job that may overtake the shadow's, if there is one. */
static bool try_backfill(struct engine *e, uint32_t job)
{
    bool beside = e->shadow.job != REPLAY_NONE &&
                  later(e->kernel.now_ms, e->lives[job].estimate_ms) > e->shadow.at_ms;
    uint32_t set, first = e->shadow.job;

    if (e->whole && beside && e->class_count == 1 &&
        (int64_t)e->in->jobs[job].nodes + e->in->jobs[job].spare_nodes > e->shadow.spare)
        return false;
    if (!nodes_pick(e, job, &set, beside))
        return false;
    if (first != REPLAY_NONE && beside)
        take_later(e, job);
    else if (first != REPLAY_NONE)
        keep_later(e);
    if (first != REPLAY_NONE)
        e->out->outcomes[first].overtaken = true;
    life_start(e, job, set);
    return true;
}

/* Nodes on which anything might fit. */
static uint32_t nodes_left(const struct engine *e)
{
    size_t count = 0;

    for (size_t c = 0; c < e->class_count; c++)
        count += e->whole ? e->classes[c].idle.count : e->classes[c].at_least[0];
    return (uint32_t)count;
}

/* Shapes that did not fit in this round do not fit later in it. */
enum { FAILED_MAX = 64 };
struct failed {
    const int64_t *need;
    const uint32_t *sets;
    uint32_t nodes;
    bool beside, exclusive;
};

static bool has_failed(const struct failed *list, const struct replay_job *j, bool beside)
{
    const struct failed *f = &list[((uintptr_t)j->need >> 3) % FAILED_MAX];

    return f->need == j->need && f->sets == j->sets &&
           j->nodes + j->spare_nodes >= f->nodes && f->exclusive == j->exclusive &&
           (beside || !f->beside);
}

static void backfill(struct engine *e, size_t depth)
{
    const struct line *line = e->has_backfill_line ? &e->backfill : &e->line;
    struct failed failed[FAILED_MAX] = {{0}};
    struct line_place place = {0};
    size_t seen = 0;
    const struct line_entry *x;

    for (;;) {
        const struct replay_job *j;
        uint32_t job, left = nodes_left(e);
        bool beside;

        x = left ? line_at(line, &place, left, &seen) : NULL;
        if (!x || seen > depth || budget_step(e->budget, 2))
            return;
        job = x->job;
        j = &e->in->jobs[job];
        beside = later(e->kernel.now_ms, e->lives[job].estimate_ms) > e->shadow.at_ms;
        if (job != e->shadow.job && (e->whole || !has_failed(failed, j, beside))) {
            if (try_backfill(e, job))
                continue; /* the next one is in its place */
            failed[((uintptr_t)j->need >> 3) % FAILED_MAX] = (struct failed){
                j->need, j->sets, j->nodes + j->spare_nodes, beside, j->exclusive};
        }
        place.entry++;
        seen++;
    }
}

/* ---- rounds ---- */

static void whole_round(struct engine *e)
{
    const struct line_entry *first = NULL;

    e->out->totals.rounds++;
    e->shadow.job = REPLAY_NONE;
    e->shadow.at_ms = REPLAY_NEVER;
    e->shadow.spare = 0;
    if (e->discipline->rule != QUEUE_FIT)
        first = start_heads(e);
    if (e->discipline->rule == QUEUE_HEAD) {
        e->shadow.job = first ? first->job : REPLAY_NONE;
        return;
    }
    if (e->discipline->rule == QUEUE_EASY) {
        if (!first)
            return;
        find_shadow(e, first->job);
        if (e->shadow.at_ms <= e->kernel.now_ms) /* behind jobs that take no time */
            return;
    }
    backfill(e, e->discipline->rule == QUEUE_EASY ? e->rules->backfill_depth : SIZE_MAX);
}

/* Whether what came may be tried alone. */
static bool stands(const struct engine *e)
{
    const struct line_entry *entry;
    struct line_entry shadow;
    struct line_place place = {0};
    size_t passed = 0;

    if (e->freed || e->in->reservation_count || e->in->shared_count)
        return false;
    if (e->discipline->rule == QUEUE_FIT)
        return true;
    if (e->shadow.job == REPLAY_NONE)
        return false;
    entry = line_at(&e->line, &place, UINT32_MAX, &passed);
    shadow = queue_entry(e, e->shadow.job, false);
    if (entry && line_is_before(entry, &shadow))
        return false; /* another is the first */
    if (e->discipline->rule == QUEUE_HEAD)
        return true;
    return e->kernel.now_ms < e->shadow.at_ms && !e->shadow.by_repair &&
           e->line.count <= e->rules->backfill_depth &&
           (e->running_count == 0 || e->running[0].end_ms > e->kernel.now_ms);
}

static int fresh_before(const struct engine *e, uint32_t a, uint32_t b)
{
    struct line_entry x = queue_entry(e, a, true), y = queue_entry(e, b, true);

    return line_is_before(&x, &y);
}

static void fresh_round(struct engine *e)
{
    if (e->discipline->rule == QUEUE_HEAD)
        return;
    for (size_t i = 1; i < e->fresh_count; i++) /* those of an instant are few */
        for (size_t k = i; k > 0 && fresh_before(e, e->fresh[k], e->fresh[k - 1]); k--) {
            uint32_t other = e->fresh[k];

            e->fresh[k] = e->fresh[k - 1];
            e->fresh[k - 1] = other;
        }
    for (size_t i = 0; i < e->fresh_count; i++)
        if (e->lives[e->fresh[i]].stage == LIFE_WAITS)
            try_backfill(e, e->fresh[i]);
}

void rules_round(struct engine *e)
{
    if (e->line.count == 0)
        return;
    if (stands(e) && e->fresh_count < 64)
        fresh_round(e);
    else
        whole_round(e);
}
