/* placement/amounts_after.c - jobs that wait for others: who they are, and no circles.
 *
 * A gang or a pack is placed as one, when all predecessors outside of it have places. So
 * a way from one member to another through jobs outside is a circle too, and between
 * members of a gang every way is.
 */
#include "algorithms/placement/amounts_parts.h"

#include <stdio.h>
#include <string.h>

/* Who waits for whom, by node: before[first[i] .. first[i + 1] - 1]. */
struct waits {
    size_t count, *first, *before;
    size_t *cycle; /* nodes of a circle, each waits for the next */
    size_t cycle_count;
};

enum { LOOKED_NOT, LOOKED_NOW, LOOKED_ALL };

/* The part of the path from where the circle begins. */
static void note_cycle(struct waits *w, const size_t *path, size_t depth, size_t node)
{
    size_t from = depth;

    while (path[from - 1] != node)
        from--;
    w->cycle_count = depth - (from - 1);
    memcpy(w->cycle, path + from - 1, w->cycle_count * sizeof(*path));
}

/* Depth first from `start`; true: there is a circle. */
static bool walk(struct waits *w, size_t start, unsigned char *state, size_t *path,
                 size_t *next, struct budget *budget)
{
    size_t depth = 1;

    path[0] = start;
    next[start] = w->first[start];
    state[start] = LOOKED_NOW;
    while (depth) {
        size_t node = path[depth - 1], other;

        budget_step(budget, 1);
        if (next[node] == w->first[node + 1]) {
            state[node] = LOOKED_ALL;
            depth--;
            continue;
        }
        other = w->before[next[node]++];
        if (state[other] == LOOKED_NOW) {
            note_cycle(w, path, depth, other);
            return true;
        }
        if (state[other] == LOOKED_ALL)
            continue;
        state[other] = LOOKED_NOW;
        next[other] = w->first[other];
        path[depth++] = other;
    }
    return false;
}

static bool find_cycle(struct waits *w, struct budget *budget, struct arena *a)
{
    unsigned char *state = NEW(a, unsigned char, w->count);
    size_t *path = NEW(a, size_t, w->count), *next = NEW(a, size_t, w->count);

    w->cycle = NEW(a, size_t, w->count);
    for (size_t i = 0; i < w->count; i++)
        if (state[i] == LOOKED_NOT && walk(w, i, state, path, next, budget))
            return true;
    return false;
}

/* A job's node: itself, or its gang's or pack's where units count. */
static size_t node_of(const struct amounts *x, size_t job, bool units)
{
    size_t g = x->group_of[job];

    if (!units || g == NO_INDEX || x->group[g]->policy == JOB_SPREAD ||
        x->group[g]->policy == JOB_EXCLUDE)
        return job;
    return x->in->job_count + g;
}

/* Between members of one pack jobs may wait for each other. */
static bool is_inside(const struct amounts *x, size_t job, size_t other, bool units)
{
    size_t g = x->group_of[job];

    return units && g != NO_INDEX && g == x->group_of[other] &&
           x->group[g]->policy != JOB_GANG && node_of(x, job, units) != job;
}

/* Calls for each pair of the request: fills counts or places. */
static void add_edges(const struct amounts *x, bool units, struct waits *w, bool place)
{
    for (size_t i = 0; i < x->in->job_count; i++) {
        const struct job *j = &x->in->jobs[i];
        size_t node = node_of(x, i, units);

        if (j->copy) /* waits, and is waited for, as the first one */
            continue;
        for (size_t k = 0; k < j->after_count; k++) {
            size_t other = name_index_find(&x->jobs, j->after[k].job_id);

            if (other == NAME_NOT_FOUND || is_inside(x, i, other, units))
                continue;
            if (place)
                w->before[w->first[node]++] = node_of(x, other, units);
            else
                w->first[node]++;
        }
    }
}

static void make_waits(const struct amounts *x, bool units, struct waits *w)
{
    size_t count = x->in->job_count + x->group_count, sum = 0;

    *w = (struct waits){.count = count};
    w->first = NEW(x->arena, size_t, count + 1);
    add_edges(x, units, w, false);
    for (size_t i = 0; i <= count; i++) {
        size_t own = w->first[i];

        w->first[i] = sum;
        sum += own;
    }
    w->before = NEW(x->arena, size_t, sum);
    add_edges(x, units, w, true);
    for (size_t i = count; i > 0; i--)
        w->first[i] = w->first[i - 1];
    w->first[0] = 0;
}

/* "'a', 'b', 'c'", at most ten names. */
static const char *name_nodes(const struct amounts *x, const struct waits *w)
{
    const char *text = "";

    for (size_t k = 0; k < w->cycle_count && k < 10; k++) {
        size_t node = w->cycle[k], n = x->in->job_count;
        bool unit = node >= n;

        text = arena_printf(x->arena, "%s%s%s'%.60s'", text, k ? ", " : "",
                            unit ? "group " : "",
                            unit ? x->group[node - n]->id : x->in->jobs[node].id);
    }
    return w->cycle_count > 10 ? arena_printf(x->arena, "%s ...", text) : text;
}

/* A job of the node that has predecessors, to point at. */
static size_t job_of_node(const struct amounts *x, size_t node)
{
    if (node < x->in->job_count)
        return node;
    for (size_t i = 0; i < x->in->job_count; i++)
        if (x->group_of[i] == node - x->in->job_count && x->in->jobs[i].after_count)
            return i;
    return 0;
}

static void refuse_cycle(const struct amounts *x, const struct waits *w, bool units,
                         struct error *err)
{
    char path[64];

    snprintf(path, sizeof(path), "/jobs/%zu", job_of_node(x, w->cycle[0]));
    amounts_mistake(err, path, "after", ITEM_CYCLE,
                    units ? "what is placed as one waits for itself: %s"
                          : "each of these waits for the next, and the last for the "
                            "first: %s",
                    name_nodes(x, w));
}

static void check_target(const struct amounts *x, size_t job, size_t k, struct error *err)
{
    const char *id = x->in->jobs[job].after[k].job_id;
    char path[96];

    if (name_index_find(&x->jobs, id) != NAME_NOT_FOUND ||
        name_index_find(&x->running, id) != NAME_NOT_FOUND ||
        name_index_find(&x->finished, id) != NAME_NOT_FOUND)
        return;
    snprintf(path, sizeof(path), "/jobs/%zu/after/%zu", job, k);
    amounts_mistake(err, path, "job_id", ITEM_UNKNOWN_ID,
                    "no job of the request, running job or finished job is '%.100s'", id);
}

static void check_finished(struct amounts *x, struct error *err)
{
    const struct placement_world *given = x->in->world;

    name_index_create(&x->finished, given->finished_count, x->arena);
    for (size_t i = 0; i < given->finished_count; i++) {
        const char *id = given->finished[i].id;
        char path[64];

        name_index_add(&x->finished, id, i);
        if (name_index_find(&x->jobs, id) == NAME_NOT_FOUND &&
            name_index_find(&x->running, id) == NAME_NOT_FOUND)
            continue;
        snprintf(path, sizeof(path), "/finished_jobs/%zu", i);
        amounts_mistake(err, path, "id", ITEM_DUPLICATE,
                        "'%.100s' waits for a place, or runs", id);
    }
}

void amounts_check_after(struct amounts *x, struct error *err)
{
    size_t count = 0;
    struct waits w;

    check_finished(x, err);
    for (size_t i = 0; i < x->in->job_count; i++)
        for (size_t k = 0; !x->in->jobs[i].copy && k < x->in->jobs[i].after_count;
             k++, count++)
            check_target(x, i, k, err);
    if (count == 0)
        return;
    for (int units = 0; units < 2; units++) {
        make_waits(x, units, &w);
        if (!find_cycle(&w, x->in->budget, x->arena))
            continue;
        refuse_cycle(x, &w, units, err);
        return;
    }
}

/* ---- in the world ---- */

/* The job has to wait for what runs. */
static void wait_for_running(struct world_maker *m, size_t job, size_t run,
                             enum job_after_kind kind)
{
    const struct taken_running *row = m->x->runs[run].row;
    struct running_end end = amounts_end_of(m->x, row);
    struct world_job *j = &m->jobs[job];

    if (kind == JOB_AFTER_START)
        return;
    if (end.end_s < HUGE_VAL) {
        j->earliest_s = fmax(j->earliest_s, end.end_s);
        return;
    }
    j->earliest_s = HUGE_VAL;
    if (!m->waits_for[job])
        m->waits_for[job] = row->id;
}

/* What is waited for beyond the jobs of the request. */
static void wait_outside(struct world_maker *m, size_t job, const struct job_after *after)
{
    const struct amounts *x = m->x;
    size_t run, done;

    if (name_index_find(&x->jobs, after->job_id) != NAME_NOT_FOUND)
        return;
    run = name_index_find(&x->running, after->job_id);
    done = name_index_find(&x->finished, after->job_id);
    if (run != NAME_NOT_FOUND)
        wait_for_running(m, job, run, after->kind);
    else if (!x->in->world->finished[done].ok && after->kind == JOB_AFTER_OK) {
        m->jobs[job].barred = WORLD_WAIT_AFTER_FAILED;
        m->waits_for[job] = after->job_id;
    }
}

/* Jobs of the request with this id: one, or all copies of it. */
static size_t copies_of(const struct world_maker *m, size_t first)
{
    uint64_t count = m->p->jobs[first].given->count;

    return count > 1 ? (size_t)count : 1;
}

/* Those of the request that the job waits for. */
static void list_after(struct world_maker *m, size_t job)
{
    static const enum world_after_kind kinds[] = {[JOB_AFTER_OK] = AFTER_OK,
                                                  [JOB_AFTER_ANY] = AFTER_ANY,
                                                  [JOB_AFTER_START] = AFTER_START};
    const struct job *given = m->p->jobs[job].given;
    size_t room = 0, count = 0;
    struct world_after *list;

    for (size_t k = 0; k < given->after_count; k++) {
        size_t first = name_index_find(&m->x->jobs, given->after[k].job_id);

        room += first == NAME_NOT_FOUND ? 0 : copies_of(m, first);
    }
    list = NEW(m->arena, struct world_after, room);
    for (size_t k = 0; k < given->after_count; k++) {
        size_t first = name_index_find(&m->x->jobs, given->after[k].job_id);
        size_t copies = first == NAME_NOT_FOUND ? 0 : copies_of(m, first);

        budget_step(m->w->budget, copies);
        for (size_t i = 0; i < copies; i++)
            list[count++] = (struct world_after){first + i, kinds[given->after[k].kind]};
    }
    m->jobs[job].after = list;
    m->jobs[job].after_count = count;
}

void amounts_make_after(struct world_maker *m)
{
    m->waits_for = NEW(m->arena, const char *, m->w->job_count);
    for (size_t i = 0; i < m->w->job_count; i++) {
        const struct job *given = m->p->jobs[i].given;

        if (given->after_count == 0)
            continue;
        budget_step(m->w->budget, given->after_count);
        for (size_t k = 0; k < given->after_count; k++)
            wait_outside(m, i, &given->after[k]);
        if (given->copy) { /* they share the list */
            m->jobs[i].after = m->jobs[i - 1].after;
            m->jobs[i].after_count = m->jobs[i - 1].after_count;
        } else {
            list_after(m, i);
        }
    }
}
