/* placement/bound_needs.c - part (c) of the bound: prices for cpus and memory.
 *
 * Where resources are short of cpus or memory, slots alone say little. A job's need_id
 * is 1 slot, its cpus, its memory; room_rd is what resource r has of each. For any
 * price_rd >= 0 with sum_rd room_rd * price_rd = 1 no plan is shorter than
 *
 *     sum_i min_r execution(i, r) * sum_d price_rd * need_id
 *         + sum_rd price_rd * (what is held now * min(time until free, bound))
 *
 * the dual of a linear programme; an ascent finds good prices. A row is jobs of a class
 * with the same needs, a column is resources for the same classes with the same slots,
 * cpus and memory. Where that gives too many, similar columns become one: valid, for it
 * is the choice of equal prices, a little smaller. Similar rows become one for the ascent
 * only; the value of the prices that it finds is summed over all needs as they are.
 *
 * Source: ours, after spec gridway.md 5.4 (b).
 * Cost: NEEDS_WORK products for the ascent, EXACT_MAX for the sum: a few tens of
 * milliseconds for 10^4 jobs and resources.
 */
#include "algorithms/placement/bound_parts.h"
#include "algorithms/placement/pair_map.h"

#include <string.h>

enum {
    COLUMNS_MAX = 256,            /* where jobs have estimates */
    PRODUCTS_MAX = 1 << 15,       /* rows * columns, as long as rows can merge */
    EXACT_MAX = 5 * 1000 * 1000,  /* products of the sum over all needs */
    NEEDS_WORK = 3 * 1000 * 1000, /* products of all steps of the ascent */
    NEEDS_STEPS_MAX = 300,
    LOOKS = 4, /* what a product costs, in looks at a number */
};

/* Rooms beyond are not priced, so that no product overflows. */
#define ROOM_MIN 1e-100
#define ROOM_MAX 1e200

enum dimension { SLOTS, CPUS, MEMORY, DIMENSIONS };

/* Jobs of a class that need the same; job_class is 0 for more than CLASSES_MAX. */
struct need {
    size_t job_class;
    double amount[DIMENSIONS]; /* of each job */
    double work;               /* their estimates together */
};

/* Resources that are priced alike. room is by dimension the sum over the resources of
 * what they have, times speed where jobs have estimates; HUGE_VAL: not limited, no price.
 * taken is the part of room, times seconds, that no job can have. */
struct column {
    uint64_t members;        /* which classes may use it */
    double most[DIMENSIONS]; /* that one job can have */
    double room[DIMENSIONS], taken[DIMENSIONS];
};

/* A linear programme; what has dimension and column is at [d * column_count + r]. */
struct programme {
    size_t row_count, column_count;
    struct need *rows;
    struct column *columns;
    double *time_s; /* row_count * column_count; HUGE_VAL: cannot run there */
    double *price, *lambda, *load, *best_lambda; /* lambda: price * room, 1 in sum */
    double *per_room;                            /* 1 / room; 0: not priced */
    double *cost;                                /* of a row on each column */
    double *share;                               /* of it, on the columns `shared` */
    size_t *shared;
    struct ticks *ticks;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static double amount_of(const struct problem_job *j, enum dimension d)
{
    double amount = d == SLOTS ? 1 : d == CPUS ? j->cpus : j->memory_bytes;

    return amount > 0 ? fmin(amount, ROOM_MAX) : 0;
}

static bool fits(const struct column *c, const double *amount)
{
    return amount[SLOTS] <= c->most[SLOTS] && amount[CPUS] <= c->most[CPUS] &&
           amount[MEMORY] <= c->most[MEMORY];
}

/* Seconds times share of the resource that no job can have before `bound_s`: all until
 * the first slot is free, then what busy slots hold until their end. */
static double taken_s(const struct problem_resource *r, double bound_s)
{
    double start_s = fmin(r->first_free_s, bound_s), held_s = 0;

    for (size_t k = 0; k < r->busy_count; k++)
        held_s += fmin(r->busy[k].free_s, bound_s) - start_s;
    held_s += (double)(r->free_slot - r->busy_count) * (bound_s - start_s);
    return start_s + held_s / (double)r->slot_count;
}

/* What one resource has; false: no job can run there. */
static bool column_of(const struct placement_plan *plan, size_t pos, double bound_s,
                      struct column *c)
{
    const struct problem_resource *r = &plan->problem->resources[pos];
    const double has[] = {1, r->cpus, r->memory_bytes};
    const double held[] = {0, r->cpus_held, r->memory_held_bytes};

    *c = (struct column){0};
    bound_slots(plan, pos, bound_s, &c->room[SLOTS], &c->taken[SLOTS]);
    if (!(c->room[SLOTS] > 0) || r->first_free_s > LONGEST_S)
        return false;
    c->most[SLOTS] = HUGE_VAL;
    for (enum dimension d = CPUS; d < DIMENSIONS; d++) {
        c->room[d] = c->most[d] = HUGE_VAL;
        if (!(has[d] < HUGE_VAL))
            continue;
        /* A little more than the filter lets through. */
        c->most[d] = fmin(has[d], has[d] * (1 + 1e-11) - held[d]);
        c->room[d] = has[d];
        c->taken[d] = has[d] * taken_s(r, bound_s);
    }
    return true;
}

/* Somewhere a job may need more cpus or memory than its slot's part of them. */
static bool is_short(const struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    double most_cpus = 0, most_memory = 0;

    if (!p->has_capacity)
        return false;
    for (size_t i = 0; i < p->job_count; i++) {
        if (plan->entries[i].pos == NO_INDEX)
            continue;
        most_cpus = fmax(most_cpus, amount_of(&p->jobs[i], CPUS));
        most_memory = fmax(most_memory, amount_of(&p->jobs[i], MEMORY));
    }
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];

        if (most_cpus * (double)r->slot_count > r->cpus ||
            most_memory * (double)r->slot_count > r->memory_bytes)
            return true;
    }
    return false;
}

static bool is_priced(double room)
{
    return room >= ROOM_MIN && room <= ROOM_MAX;
}

/* Lambda by room in the dimensions of the set; false: nothing to price. */
static bool price_only(struct programme *g, unsigned set)
{
    size_t columns = g->column_count;
    double sum = 0;

    for (enum dimension d = SLOTS; d < DIMENSIONS; d++) {
        double total = 0;

        for (size_t r = 0; r < columns; r++)
            total += is_priced(g->columns[r].room[d]) ? g->columns[r].room[d] : 0;
        for (size_t r = 0; r < columns; r++) {
            double *lambda = &g->lambda[d * columns + r], room = g->columns[r].room[d];

            *lambda = set >> d & 1 && is_priced(room) ? room / total : 0;
            sum += *lambda;
        }
    }
    if (sum <= 0)
        return false;
    for (size_t k = 0; k < DIMENSIONS * columns; k++)
        g->lambda[k] /= sum;
    return true;
}

/* Prices from lambda, and the loads from which every step begins; their value. */
static double start_step(struct programme *g)
{
    size_t columns = g->column_count;
    double value = 0;

    for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
        for (size_t r = 0; r < columns; r++) {
            const struct column *c = &g->columns[r];
            size_t k = d * columns + r;

            g->price[k] = g->load[k] = 0;
            if (!is_priced(c->room[d]))
                continue;
            g->per_room[k] = 1 / c->room[d];
            g->price[k] = g->lambda[k] / c->room[d];
            g->load[k] = c->taken[d] / c->room[d];
            value += g->lambda[k] * g->load[k];
        }
    return value;
}

/* The price of the cheapest column for a row, HUGE_VAL: none; all are in `cost`. */
static double cheapest(struct programme *g, const double *amount, const double *time_s)
{
    const double *slots = g->price, *cpus = slots + g->column_count;
    const double *memory = cpus + g->column_count;
    double least = HUGE_VAL;

    for (size_t r = 0; r < g->column_count; r++) {
        g->cost[r] =
            time_s[r] * (slots[r] + amount[CPUS] * cpus[r] + amount[MEMORY] * memory[r]);
        least = sooner_s(least, g->cost[r]);
    }
    return least;
}

/* A row goes to the columns that cost up to 1 + spread times the least, the more the
 * cheaper and the larger they are: whole rows on one column each would jump from step
 * to step. */
static void add_loads(struct programme *g, const struct need *row, const double *time_s,
                      double least, double spread)
{
    double per = 1 / (spread * least), limit = least + spread * least, sum = 0;
    size_t count = 0;

    for (size_t r = 0; r < g->column_count; r++) {
        double weight = (limit - g->cost[r]) * per;

        if (!(weight > 0))
            continue;
        weight *= weight * g->columns[r].room[SLOTS];
        sum += weight;
        g->share[count] = weight;
        g->shared[count++] = r;
    }
    for (size_t k = 0; k < count && sum > 0; k++) {
        size_t r = g->shared[k];
        double load = time_s[r] * g->share[k] / sum;

        for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
            g->load[d * g->column_count + r] +=
                load * row->amount[d] * g->per_room[d * g->column_count + r];
    }
}

/* The value of lambda; with a spread the loads too. When the time is up that of the rows
 * so far, which is less and holds as well. */
static double value_of(struct programme *g, double spread)
{
    double value = start_step(g);

    for (size_t i = 0; i < g->row_count; i++) {
        const double *time_s = g->time_s + i * g->column_count;
        double least = cheapest(g, g->rows[i].amount, time_s);

        if (!(least < HUGE_VAL))
            continue;
        value += least;
        if (spread > 0 && least > 0)
            add_loads(g, &g->rows[i], time_s, least, spread);
        if (ticks_spent(g->ticks, LOOKS * g->column_count))
            break;
    }
    return value;
}

static void keep_best(struct programme *g, double value_s, double *best_s)
{
    if (!(value_s > *best_s && value_s < HUGE_VAL))
        return;
    *best_s = value_s;
    memcpy(g->best_lambda, g->lambda, DIMENSIONS * g->column_count * sizeof(*g->lambda));
}

/* Begins with the best of: one dimension, all; the others get a little of it. Then as
 * bound_ascent_s(), but loads are spread. Keeps the best lambda. */
static double ascend(struct programme *g)
{
    size_t products = g->row_count * g->column_count;
    size_t steps = smaller(NEEDS_STEPS_MAX, NEEDS_WORK / (products + 1) + 8);
    size_t count = DIMENSIONS * g->column_count;
    const unsigned all = (1U << DIMENSIONS) - 1;
    double best_s = 0, eta = 1, spread = 3; /* at the end 1/300 of it */
    double decay = pow(1 / 300.0, 1 / (double)steps);

    for (unsigned set = 1; set < all; set *= 2)
        if (price_only(g, set))
            keep_best(g, value_of(g, 0), &best_s);
    if (!price_only(g, all))
        return 0;
    keep_best(g, value_of(g, 0), &best_s);
    if (!(best_s > 0))
        return 0;
    for (size_t i = 0; i < count; i++)
        g->lambda[i] = 0.9 * g->best_lambda[i] + 0.1 * g->lambda[i];
    for (size_t k = 0; k < steps; k++) {
        double value_s = value_of(g, spread), sum = 0;

        if (!(value_s > 0 && value_s < HUGE_VAL))
            break;
        keep_best(g, value_s, &best_s);
        if (g->ticks->spent)
            break;
        for (size_t i = 0; i < count; i++)
            if (g->lambda[i] > 0)
                sum += g->lambda[i] *= exp(eta * fmin(g->load[i] / value_s - 1, 1));
        for (size_t i = 0; i < count; i++)
            g->lambda[i] /= sum;
        eta *= decay;
        spread *= decay;
    }
    return best_s;
}

static void make_programme(struct programme *g, struct arena *a)
{
    size_t count = DIMENSIONS * g->column_count;

    g->time_s = NEW(a, double, g->row_count * g->column_count);
    g->price = NEW(a, double, count);
    g->lambda = NEW(a, double, count);
    g->load = NEW(a, double, count);
    g->best_lambda = NEW(a, double, count);
    g->per_room = NEW(a, double, count);
    g->cost = NEW(a, double, g->column_count);
    g->share = NEW(a, double, g->column_count);
    g->shared = NEW(a, size_t, g->column_count);
}

/* With a matrix: a row for each placed job, a column for each resource. */
static enum error_code needs_of_rows(const struct placement_plan *plan, double *bound_s,
                                     struct ticks *ticks)
{
    const struct placement_problem *p = plan->problem;
    size_t columns = p->resource_count;
    struct programme g = {.column_count = columns, .ticks = ticks};

    if (plan->placed_count > ROWS_MAX / columns)
        return OK;
    g.rows = NEW(plan->arena, struct need, plan->placed_count);
    g.columns = NEW(plan->arena, struct column, columns);
    g.row_count = plan->placed_count;
    make_programme(&g, plan->arena);
    for (size_t pos = 0; pos < columns; pos++)
        if (!column_of(plan, pos, *bound_s, &g.columns[pos]))
            g.columns[pos] = (struct column){.most = {-1, -1, -1}};
    for (size_t i = 0, row = 0; i < p->job_count; i++) {
        const struct problem_job *j = &p->jobs[i];
        double *amount;

        if (plan->entries[i].pos == NO_INDEX)
            continue;
        amount = g.rows[row].amount;
        for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
            amount[d] = amount_of(j, d);
        for (size_t pos = 0; pos < columns; pos++)
            g.time_s[row * columns + pos] =
                problem_class_has(&p->classes[j->job_class], pos) &&
                        fits(&g.columns[pos], amount)
                    ? problem_execution_s(p, j, pos)
                    : HUGE_VAL;
        row++;
        if (ticks_spent(ticks, columns))
            return OK;
    }
    *bound_s = fmax(*bound_s, ascend(&g));
    return OK;
}

/* How much of a number's bits does not count: alike is the same number, then within
 * 1/4, 1/2, all of an octave, then several; in the end all are alike. */
static const unsigned blur[] = {0, 50, 51, 52, 53, 54, 64};

enum { BLURS = sizeof(blur) / sizeof(*blur) };

static uint64_t blurred(double number, size_t level)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return blur[level] < 64 ? bits >> blur[level] : 0;
}

static uint64_t mixed(uint64_t key, uint64_t more)
{
    key = (key ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* The number of a key. Two that should differ may come out the same: all that follows
 * is valid for any grouping. */
static size_t number_of(struct pair_map *map, uint64_t key)
{
    return pair_map_number(map, (size_t)(key >> 32), (size_t)(key & UINT32_MAX));
}

static void forget(struct pair_map *map)
{
    memset(map->places, 0, (map->mask + 1) * sizeof(*map->places));
    map->count = 0;
}

static bool is_same_need(const struct need *a, const struct need *b)
{
    for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
        if (a->amount[d] != b->amount[d])
            return false;
    return a->job_class == b->job_class;
}

/* Needs of the placed jobs as they are, by class. */
static size_t collect_needs(const struct placement_plan *plan, struct need *needs)
{
    const struct placement_problem *p = plan->problem;
    size_t count = 0;

    for (size_t s = 0; s < p->stream_count; s++) {
        const size_t *jobs = p->stream_jobs + p->streams[s].first;
        const struct problem_job *j = &p->jobs[jobs[0]];
        struct need n = {.job_class = p->class_count > CLASSES_MAX ? 0 : j->job_class};

        for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
            n.amount[d] = amount_of(j, d);
        for (size_t k = 0; k < p->streams[s].count; k++)
            if (plan->entries[jobs[k]].pos != NO_INDEX &&
                p->jobs[jobs[k]].estimate_ref_s <= LONGEST_S)
                n.work += p->jobs[jobs[k]].estimate_ref_s;
        if (!(n.work > 0))
            continue;
        if (count && is_same_need(&needs[count - 1], &n))
            needs[count - 1].work += n.work;
        else
            needs[count++] = n;
    }
    return count;
}

/* Similar needs together, at most `most` of them unless the classes are more. */
static void merge_needs(struct programme *g, const struct need *needs, size_t count,
                        size_t most, struct pair_map *map)
{
    for (size_t level = 0; level < BLURS; level++) {
        forget(map);
        for (size_t i = 0; i < count && (map->count <= most || level == BLURS - 1); i++) {
            const struct need *n = &needs[i];
            uint64_t key = mixed(mixed(n->job_class, blurred(n->amount[CPUS], level)),
                                 blurred(n->amount[MEMORY], level));
            size_t row = number_of(map, key);
            double share;

            if (row >= g->row_count) { /* new at this level */
                g->rows[row] = *n;
                g->row_count = row + 1;
                continue;
            }
            g->rows[row].work += n->work;
            share = n->work / g->rows[row].work;
            for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
                g->rows[row].amount[d] += share * (n->amount[d] - g->rows[row].amount[d]);
        }
        if (map->count <= most)
            return;
        if (level < BLURS - 1)
            g->row_count = 0;
    }
}

static void add_column(struct column *sum, const struct column *c, double speed)
{
    sum->members |= c->members;
    for (enum dimension d = SLOTS; d < DIMENSIONS; d++) {
        sum->most[d] = fmax(sum->most[d], c->most[d]);
        sum->room[d] += c->room[d] * speed;
        sum->taken[d] += c->taken[d] * speed;
    }
}

/* Equal for columns that are merged at this level; at the last one all are. */
static uint64_t column_key(const struct column *c, size_t level)
{
    uint64_t key = 0;

    if (level == BLURS - 1)
        return 0;
    for (enum dimension d = SLOTS; d < DIMENSIONS; d++)
        key = mixed(mixed(key, blurred(c->room[d], level)), blurred(c->most[d], level));
    return mixed(key, c->members);
}

/* Similar resources together, at most `most` columns. */
static void merge_resources(struct programme *g, const struct placement_plan *plan,
                            double bound_s, size_t most, struct pair_map *map)
{
    const struct placement_problem *p = plan->problem;

    for (size_t level = 0; level < BLURS; level++) {
        forget(map);
        memset(g->columns, 0, (most + 1) * sizeof(*g->columns));
        for (size_t pos = 0; pos < p->resource_count && map->count <= most; pos++) {
            double speed = p->resources[pos].speed_mips;
            struct column c;

            if (!(speed > 0 && speed <= LONGEST_S) || !column_of(plan, pos, bound_s, &c))
                continue;
            c.members = bound_classes(p, pos);
            if (c.members == 0)
                continue;
            add_column(&g->columns[number_of(map, column_key(&c, level))], &c, speed);
        }
        g->column_count = map->count;
        if (map->count <= most)
            return;
    }
}

static void fill_times(struct programme *g)
{
    for (size_t i = 0; i < g->row_count; i++)
        for (size_t r = 0; r < g->column_count; r++)
            g->time_s[i * g->column_count + r] =
                bound_is_member(g->columns[r].members, g->rows[i].job_class) &&
                        fits(&g->columns[r], g->rows[i].amount)
                    ? g->rows[i].work
                    : HUGE_VAL;
}

/* What the best prices are worth, summed over the needs as they are. */
static double exact_s(struct programme *g, const struct need *needs, size_t count)
{
    double *time_s = g->load, value;

    memcpy(g->lambda, g->best_lambda, DIMENSIONS * g->column_count * sizeof(*g->lambda));
    value = start_step(g);
    for (size_t i = 0; i < count; i++) {
        double least;

        for (size_t r = 0; r < g->column_count; r++)
            time_s[r] = bound_is_member(g->columns[r].members, needs[i].job_class) &&
                                fits(&g->columns[r], needs[i].amount)
                            ? needs[i].work
                            : HUGE_VAL;
        least = cheapest(g, needs[i].amount, time_s);
        value += least < HUGE_VAL ? least : 0;
        if (ticks_spent(g->ticks, LOOKS * g->column_count))
            break;
    }
    return value;
}

/* With estimates. */
static enum error_code needs_of_work(const struct placement_plan *plan, double *bound_s,
                                     struct ticks *ticks)
{
    const struct placement_problem *p = plan->problem;
    struct arena *a = plan->arena;
    struct need *needs = NEW(a, struct need, p->stream_count);
    struct programme g = {.ticks = ticks};
    size_t count, most;
    struct pair_map map;
    double found_s;

    count = collect_needs(plan, needs);
    most = smaller(smaller(COLUMNS_MAX, EXACT_MAX / (count + 1) + 1), p->resource_count);
    g.rows = NEW(a, struct need, count);
    g.columns = NEW(a, struct column, most + 1);
    pair_map_create(&map, count > p->resource_count ? count : p->resource_count, a);
    merge_resources(&g, plan, *bound_s, most, &map);
    if (g.column_count == 0 || count == 0 || ticks_ask(ticks))
        return OK;
    merge_needs(&g, needs, count, PRODUCTS_MAX / g.column_count, &map);
    if (ticks_ask(ticks))
        return OK;
    make_programme(&g, a);
    fill_times(&g);
    if (!(ascend(&g) > 0))
        return OK;
    found_s = exact_s(&g, needs, count);
    if (found_s < HUGE_VAL)
        *bound_s = fmax(*bound_s, found_s);
    return OK;
}

enum error_code bound_of_needs(struct placement_plan *plan, double *bound_s,
                               struct ticks *ticks)
{
    if (!is_short(plan))
        return OK;
    return plan->problem->has_matrix ? needs_of_rows(plan, bound_s, ticks)
                                     : needs_of_work(plan, bound_s, ticks);
}
