/* world/bounds_field.c - each job alone on the empty world: when it can start and end.
 *
 * On what runs and reservations leave, head_s is the earliest start of the job on any
 * resources, each for its own run time, done_s its least completion; both after the
 * done_s (or head_s) of what it waits for. least_s, the nodes-th least run time, is how
 * long it runs at least.
 *
 * Jobs whose run time follows from the speed, or is the same everywhere, look at
 * resources by falling speed until no other can be better: mostly at a few. Where all are
 * busy a job looks closely at BOUNDS_LOOKS_MAX / jobs of them, LOOKS_A_ROW at least, and
 * takes the others for free. That gives times that are lower, and true. Files are left
 * out, which only lowers.
 *
 * Source: world-model.md 5.2, 4.2.
 */
#include "algorithms/world/bounds_parts.h"

#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIMES_MAX = 64, /* unlike run times of a job of several nodes */
    LOOKS_A_ROW = 64,
};

/* A resource that a job of several nodes may use. */
struct node {
    size_t position;
    double run_s, fit_s;
};

/* What one job can do through one choice. */
struct look {
    struct bounds_field *f;
    const struct world_job *job;
    const struct world_choice *choice;
    double from_s;
    double head_s, done_s, least_s;
};

static bool is_rising(const struct world_job *j)
{
    return j->etc_s == NULL;
}

static int by_run(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    if (x->run_s != y->run_s)
        return x->run_s < y->run_s ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* ---- fits ---- */

/* The earliest start from from_s on for which the shared amounts are free. */
static double shared_fit_s(struct look *l, double held_s, double from_s)
{
    const struct world *w = l->f->w;
    double before_s;

    do {
        before_s = from_s;
        for (size_t k = w->node_amount_count; k < w->amount_count; k++) {
            size_t profile = w->resource_count + k - w->node_amount_count;

            if (l->job->needs[k] > 0)
                from_s = profile_fit_amounts(&l->f->free[profile], &l->job->needs[k],
                                             held_s, from_s, HUGE_VAL, &l->f->looks);
            if (budget_step(w->budget, 2))
                return from_s;
        }
    } while (from_s > before_s && from_s < HUGE_VAL);
    return from_s;
}

static double node_fit_s(struct look *l, size_t position, double held_s, double from_s,
                         double latest_s)
{
    const struct profile *p = &l->f->free[position];

    if (p->count == 0)
        return from_s;
    return profile_fit_amounts(p, l->f->at_least, held_s, from_s, latest_s, &l->f->looks);
}

/* Both at the same time. */
static double fit_s(struct look *l, size_t position, double held_s, double latest_s)
{
    double start_s = l->from_s, before_s;

    do {
        before_s = start_s;
        start_s = node_fit_s(l, position, held_s, start_s, latest_s);
        if (start_s < HUGE_VAL)
            start_s = shared_fit_s(l, held_s, start_s);
    } while (start_s > before_s && start_s < HUGE_VAL);
    return start_s;
}

static double held_s(const struct look *l, double run_s)
{
    return world_held_s(l->f->w, l->job, run_s);
}

/* ---- one node ---- */

/* The resource as it is; or, once there were too many looks, as if it were free: no start
 * is earlier. */
static void see_node(struct look *l, size_t position, double run_s, bool closely)
{
    /* A little more, so that no start is given up for the rounding of a difference. */
    double latest_s = fmax(l->head_s, (l->done_s - run_s) * (1 + 1e-12));
    double start_s = closely ? fit_s(l, position, held_s(l, run_s), latest_s) : l->from_s;

    l->least_s = fmin(l->least_s, run_s);
    l->head_s = fmin(l->head_s, start_s);
    l->done_s = fmin(l->done_s, start_s + run_s);
}

static void look_at_one_node(struct look *l)
{
    struct bounds_field *f = l->f;
    size_t seen = 0, stop = f->looks + f->looks_a_row;

    for (; seen < f->w->resource_count; seen++) {
        size_t position = f->by_speed[seen];
        double run_s;

        f->looks++;
        if (!bounds_usable(f->w, l->job, l->choice, position))
            continue;
        run_s = world_run_s(f->w, l->job, position);
        if (is_rising(l->job) && l->head_s <= l->from_s && l->from_s + run_s >= l->done_s)
            break;
        see_node(l, position, run_s, f->looks < stop && f->looks < BOUNDS_LOOKS_MAX);
    }
    budget_step(f->w->budget, 4 * seen + 1);
}

/* ---- several nodes ---- */

/* The usable ones by rising run time; not more than `most` where they come so. */
static size_t gather_nodes(struct look *l, struct node *nodes, size_t most)
{
    const struct bounds_field *f = l->f;
    size_t count = 0, seen = 0;

    for (; seen < f->w->resource_count; seen++) {
        size_t position = f->by_speed[seen];

        if (!bounds_usable(f->w, l->job, l->choice, position))
            continue;
        nodes[count++] = (struct node){position, world_run_s(f->w, l->job, position), 0};
        if (is_rising(l->job) && count == most)
            break;
    }
    if (!is_rising(l->job))
        qsort(nodes, count, sizeof(*nodes), by_run);
    budget_step(f->w->budget, 4 * seen + 1);
    return count;
}

/* The least time from from_s on at which `nodes` of them fit; all held for hold_s, or
 * each for its own run time (NAN), shared amounts for shared_s. At a time before the
 * fits of all but nodes - 1 of those that do not fit now, too few fit. */
static double many_fit_s(struct look *l, struct node *nodes, size_t count, double hold_s,
                         double shared_s, double latest_s)
{
    size_t want = l->job->nodes;
    double *later_s = NEW(l->f->arena, double, count);
    double at_s = l->from_s;

    while (count >= want && at_s <= latest_s) {
        size_t found = 0, later = 0;

        at_s = shared_fit_s(l, shared_s, at_s);
        if (at_s == HUGE_VAL || budget_step(l->f->w->budget, 2 * count))
            break;
        for (size_t i = 0; i < count && found < want; i++) {
            double hold = isnan(hold_s) ? held_s(l, nodes[i].run_s) : hold_s;
            double start_s = node_fit_s(l, nodes[i].position, hold, at_s, HUGE_VAL);

            if (start_s == at_s)
                found++;
            else if (start_s < HUGE_VAL)
                later_s[later++] = start_s;
        }
        if (found == want)
            return at_s;
        if (later < want - found)
            break;
        sort_numbers(later_s, later);
        at_s = later_s[want - found - 1];
    }
    return HUGE_VAL;
}

/* The least completion: of each run time x the least time at which enough of those that
 * take no longer fit for x. */
static double many_done_s(struct look *l, struct node *nodes, size_t count)
{
    size_t want = l->job->nodes, times = 0;
    double done_s = HUGE_VAL;

    for (size_t i = want - 1; i < count; i++) {
        double x = nodes[i].run_s, start_s;

        if (i + 1 < count && nodes[i + 1].run_s == x)
            continue;
        if (l->head_s + x >= done_s)
            break;
        if (++times > TIMES_MAX || l->f->looks > BOUNDS_LOOKS_MAX)
            return l->head_s + l->least_s;
        start_s = many_fit_s(l, nodes, i + 1, held_s(l, x), held_s(l, x),
                             (done_s - x) * (1 + 1e-12));
        done_s = fmin(done_s, start_s + x);
    }
    return done_s;
}

/* Nothing is held on the first `nodes` of them, which take the least time. */
static bool look_at_free_nodes(struct look *l, const struct node *nodes)
{
    double start_s;

    for (size_t i = 0; i < l->job->nodes; i++)
        if (l->f->free[nodes[i].position].count > 0)
            return false;
    start_s = shared_fit_s(l, held_s(l, l->least_s), l->from_s);
    l->head_s = start_s;
    l->done_s = start_s + l->least_s;
    return start_s == l->from_s;
}

static void look_at_many_nodes(struct look *l)
{
    size_t want = l->job->nodes, count;
    struct arena_mark mark = arena_mark(l->f->arena);
    struct node *nodes = NEW(l->f->arena, struct node, l->f->w->resource_count);

    count = gather_nodes(l, nodes, want);
    if (count >= want) {
        l->least_s = nodes[want - 1].run_s;
        if (l->f->looks > BOUNDS_LOOKS_MAX) {
            l->head_s = l->from_s;
            l->done_s = l->from_s + l->least_s;
        } else if (!look_at_free_nodes(l, nodes)) {
            count = gather_nodes(l, nodes, SIZE_MAX);
            l->head_s =
                many_fit_s(l, nodes, count, (double)NAN, held_s(l, l->least_s), HUGE_VAL);
            l->done_s = many_done_s(l, nodes, count);
        }
    }
    arena_rewind(l->f->arena, mark);
}

/* ---- all rows ---- */

/* Products of run time and speed: exact where no time limit cuts. */
static double work_of(const struct bounds_field *f, const struct bounds_row *row)
{
    const struct world_job *j = row->of;

    if (!j->etc_s && !isnan(j->estimate_ref_s))
        return fmin(j->estimate_ref_s, j->time_limit_s * f->slowest);
    return f->any_stands ? 0 : row->least_s * f->slowest;
}

static void look_at_row(struct bounds_field *f, struct bounds_row *row, double from_s)
{
    const struct world_job *j = row->of;
    double head_s = HUGE_VAL, done_s = HUGE_VAL, least_s = HUGE_VAL;

    for (size_t k = 0; k < f->w->node_amount_count; k++)
        f->at_least[k] = j->needs[k] > 0 ? j->needs[k] : INT64_MIN;
    for (size_t c = 0; c < j->choice_count; c++) {
        struct look l = {f, j, &j->choices[c], from_s, HUGE_VAL, HUGE_VAL, HUGE_VAL};

        if (j->nodes > 1)
            look_at_many_nodes(&l);
        else
            look_at_one_node(&l);
        head_s = fmin(head_s, l.head_s);
        done_s = fmin(done_s, l.done_s);
        least_s = fmin(least_s, l.least_s);
    }
    row->least_s = least_s < HUGE_VAL ? least_s : 0;
    row->work = work_of(f, row);
    /* None found, or cut: what is certain. */
    if (head_s == HUGE_VAL || budget_step(f->w->budget, 1))
        done_s = head_s = from_s;
    row->head_s = head_s;
    row->done_s = fmax(done_s < HUGE_VAL ? done_s : 0, head_s + row->least_s);
}

/* What the row waits for is known. */
static double from_of(const struct bounds_field *f, const struct bounds_row *row)
{
    double from_s = row->of->earliest_s;

    for (size_t i = 0; i < row->of->after_count; i++) {
        const struct world_after *after = &row->of->after[i];
        size_t before = f->row_of[after->job];

        if (before == WORLD_NONE)
            continue;
        from_s = fmax(from_s, after->kind == AFTER_START ? f->rows[before].head_s
                                                         : f->rows[before].done_s);
    }
    return from_s;
}

/* Who waits for each row: followers[first[r]..first[r + 1]); waits: for how many. */
static size_t *find_followers(const struct bounds_field *f, size_t *first, size_t *waits)
{
    size_t edges = 0, *followers;

    for (size_t r = 0; r < f->row_count; r++)
        for (size_t i = 0; i < f->rows[r].of->after_count; i++) {
            size_t before = f->row_of[f->rows[r].of->after[i].job];

            if (before == WORLD_NONE)
                continue;
            first[before + 2]++;
            waits[r]++;
            edges++;
        }
    for (size_t r = 0; r < f->row_count; r++)
        first[r + 1] += first[r];
    followers = NEW(f->arena, size_t, edges);
    for (size_t r = 0; r < f->row_count; r++)
        for (size_t i = 0; i < f->rows[r].of->after_count; i++) {
            size_t before = f->row_of[f->rows[r].of->after[i].job];

            if (before != WORLD_NONE)
                followers[first[before + 1]++] = r;
        }
    return followers;
}

/* Rows so that what is waited for comes first; a row in a circle is left out. */
static size_t sort_rows(const struct bounds_field *f, size_t *order)
{
    size_t *waits = NEW(f->arena, size_t, f->row_count), count = 0;
    size_t *first = NEW(f->arena, size_t, f->row_count + 2);
    size_t *followers = find_followers(f, first, waits);

    for (size_t r = 0; r < f->row_count; r++)
        if (waits[r] == 0)
            order[count++] = r;
    for (size_t at = 0; at < count; at++)
        for (size_t i = first[order[at]]; i < first[order[at] + 1]; i++)
            if (--waits[followers[i]] == 0)
                order[count++] = followers[i];
    return count;
}

static void find_tails(struct bounds_field *f, const size_t *order, size_t count)
{
    for (size_t at = count; at-- > 0;) {
        const struct bounds_row *row = &f->rows[order[at]];

        for (size_t i = 0; i < row->of->after_count; i++) {
            size_t before = f->row_of[row->of->after[i].job];

            if (before != WORLD_NONE && row->of->after[i].kind != AFTER_START)
                f->rows[before].tail_s =
                    fmax(f->rows[before].tail_s, row->least_s + row->tail_s);
        }
    }
}

/* ---- what is held ---- */

static int by_change(const void *a, const void *b)
{
    const struct bounds_change *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    if (x->profile != y->profile)
        return x->profile < y->profile ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static void make_profiles(struct bounds_field *f)
{
    const struct world *w = f->w;
    size_t count = 0;

    f->profile_count = w->resource_count + w->amount_count - w->node_amount_count;
    f->free = NEW(f->arena, struct profile, f->profile_count);
    for (size_t i = 0; i < w->resource_count; i++)
        if (w->resources[i].holder_count > 0)
            profile_of_resource(w, i, &f->free[i], f->arena);
    for (size_t i = w->resource_count; i < f->profile_count; i++)
        profile_of_shared(w, w->node_amount_count + i - w->resource_count, &f->free[i],
                          f->arena);
    for (size_t i = 0; i < f->profile_count; i++)
        count += f->free[i].count;
    f->changes = NEW(f->arena, struct bounds_change, count);
    for (size_t i = 0; i < f->profile_count; i++)
        for (size_t step = 1; step < f->free[i].count; step++)
            f->changes[f->change_count++] =
                (struct bounds_change){f->free[i].at_s[step], i, step};
    budget_step(w->budget, 8 * count);
    qsort(f->changes, f->change_count, sizeof(*f->changes), by_change);
}

/* ---- the field ---- */

/* A number and what it is of, for sorting. */
struct ranked {
    double value;
    size_t of;
};

static int falling(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->of > y->of) - (x->of < y->of);
}

static size_t *ranks(struct ranked *list, size_t count, struct arena *a)
{
    size_t *order = NEW(a, size_t, count);

    qsort(list, count, sizeof(*list), falling);
    for (size_t i = 0; i < count; i++)
        order[i] = list[i].of;
    return order;
}

static void sort_resources(struct bounds_field *f)
{
    const struct world *w = f->w;
    struct ranked *list = NEW(f->arena, struct ranked, w->resource_count);

    f->slowest = HUGE_VAL;
    for (size_t i = 0; i < w->resource_count; i++) {
        double speed = w->resources[i].speed;

        list[i] = (struct ranked){speed, i};
        if (speed > 0)
            f->slowest = fmin(f->slowest, speed);
        else
            f->any_stands = true;
        f->fastest = fmax(f->fastest, speed);
    }
    if (!(f->slowest < HUGE_VAL))
        f->slowest = f->fastest = 1;
    f->by_speed = ranks(list, w->resource_count, f->arena);
}

static void make_rows(struct bounds_field *f, const struct world_plan *plan)
{
    const struct world *w = f->w;

    f->rows = NEW(f->arena, struct bounds_row, w->job_count);
    f->row_of = NEW(f->arena, size_t, w->job_count);
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_job *job = &w->jobs[j];

        f->row_of[j] = WORLD_NONE;
        if (!plan->placed[j].positions)
            continue;
        for (size_t k = 0; k < w->amount_count; k++)
            f->needed[k] |= job->needs[k] > (k == AMOUNT_PRESENCE);
        f->row_of[j] = f->row_count;
        f->rows[f->row_count++] = (struct bounds_row){
            .job = j, .of = job, .head_s = job->earliest_s, .done_s = job->earliest_s};
        if (!job->etc_s && !isnan(job->estimate_ref_s) && f->slowest < f->fastest) {
            f->any_by_work = true;
            f->any_by_time |= job->estimate_ref_s > job->time_limit_s * f->slowest;
        } else {
            f->any_by_time = true;
        }
    }
}

bool bounds_field_make(const struct world *w, const struct world_plan *plan,
                       struct bounds_field *f, struct arena *a)
{
    size_t *order, count, done = 0;
    struct ranked *heads;

    *f = (struct bounds_field){.w = w, .arena = a};
    f->at_least = NEW(a, int64_t, w->amount_count);
    f->needed = NEW(a, bool, w->amount_count);
    sort_resources(f);
    make_rows(f, plan);
    make_profiles(f);
    f->looks_a_row = BOUNDS_LOOKS_MAX / (f->row_count + 1);
    if (f->looks_a_row < LOOKS_A_ROW)
        f->looks_a_row = LOOKS_A_ROW;
    order = NEW(a, size_t, f->row_count);
    count = sort_rows(f, order);
    for (; done < count && !budget_step(w->budget, 16); done++) {
        struct bounds_row *row = &f->rows[order[done]];

        look_at_row(f, row, from_of(f, row));
    }
    find_tails(f, order, count);
    heads = NEW(a, struct ranked, f->row_count);
    for (size_t r = 0; r < f->row_count; r++)
        heads[r] = (struct ranked){f->rows[r].head_s, r};
    f->by_head = ranks(heads, f->row_count, a);
    return done == count;
}
