/* placement/amounts_limits.c - what the jobs of a user may have together in a partition.
 *
 * Limits are made for pairs of a user and a partition that some job of the request has:
 * users times partitions would be too many. Jobs without a user are not limited.
 *
 * Source: world-model.md 13.
 */
#include "algorithms/placement/amounts_parts.h"
#include "algorithms/placement/pair_map.h"
#include "models/base/plural.h"

#include <string.h>

/* Of a user in a partition. */
struct limit_pair {
    size_t list[CHOICE_LIMITS_MAX], count;
};

struct limit_store {
    struct world_maker *m;
    uint64_t *const *partitions;
    struct pair_map known; /* of user and partition */
    struct limit_pair *pairs;
    struct world_limit *limits;
    size_t limit_count;
    size_t jobs_without, first_without, last_without; /* a user, where limits are */
    size_t running_without;
};

static bool has_limit(const struct partition *p)
{
    return !isnan(p->jobs_per_user_max) || !isnan(p->cpus_per_user_max);
}

static bool is_user(const char *user)
{
    return user && *user;
}

const char *amounts_beyond(const struct partition *p, const struct world_job *j,
                           const char *user)
{
    const struct world_limit cpus = {.kind = LIMIT_CPUS};

    if (!is_user(user))
        return NULL;
    if (p->jobs_per_user_max < 1)
        return world_limit_names[LIMIT_JOBS];
    return !isnan(p->cpus_per_user_max) &&
                   world_limit_need(&cpus, j) >
                       amount_units(p->cpus_per_user_max, AMOUNT_UNITS_PER_ONE)
               ? world_limit_names[LIMIT_CPUS]
               : NULL;
}

struct limit_store *amounts_limits_open(struct world_maker *m,
                                        uint64_t *const *partitions, size_t most)
{
    const struct snapshot *given = m->p->in->snapshot;
    struct limit_store *s;
    size_t limited = 0;

    for (size_t i = 0; i < given->partition_count; i++)
        limited += has_limit(&given->partitions[i]);
    if (limited == 0)
        return NULL;
    if (!m->x->counts_limits) {
        problem_warn(m->p,
                     "ignored: jobs_per_user_max and cpus_per_user_max of %zu %s: they "
                     "count where independent jobs are placed, in queue orders of a "
                     "snapshot and in evaluations of placements",
                     limited, plural(limited, "partition", "partitions"));
        return NULL;
    }
    s = NEW(m->arena, struct limit_store, 1);
    s->m = m;
    s->partitions = partitions;
    pair_map_create(&s->known, most, m->arena);
    s->pairs = NEW(m->arena, struct limit_pair, most);
    s->limits = NEW(m->arena, struct world_limit, CHOICE_LIMITS_MAX * most);
    return s;
}

static void add_limit(struct limit_store *s, struct limit_pair *pair,
                      enum world_limit_kind kind, int64_t capacity, const char *user,
                      const struct partition *p)
{
    s->limits[s->limit_count] = (struct world_limit){
        .kind = kind, .user = user, .partition_id = p->id, .capacity = capacity};
    pair->list[pair->count++] = s->limit_count++;
}

static void fill_pair(struct limit_store *s, struct limit_pair *pair, const char *user,
                      const struct partition *p)
{
    if (!isnan(p->jobs_per_user_max))
        add_limit(s, pair, LIMIT_JOBS, (int64_t)p->jobs_per_user_max, user, p);
    if (!isnan(p->cpus_per_user_max))
        add_limit(s, pair, LIMIT_CPUS,
                  amount_units(p->cpus_per_user_max, AMOUNT_UNITS_PER_ONE), user, p);
}

/* A job is counted once, however many partitions it names. */
static void note_without(struct limit_store *s, size_t job)
{
    if (s->jobs_without && s->last_without == job)
        return;
    if (s->jobs_without++ == 0)
        s->first_without = job;
    s->last_without = job;
}

void amounts_limit_choice(struct limit_store *s, size_t job, size_t partition,
                          struct world_choice *choice)
{
    const struct problem_job *j = &s->m->p->jobs[job];
    const struct partition *p = &s->m->p->in->snapshot->partitions[partition];
    size_t before = s->known.count, number;

    if (!has_limit(p))
        return;
    if (!is_user(j->given->user)) {
        note_without(s, job);
        return;
    }
    number = pair_map_number(&s->known, j->user, partition);
    if (s->known.count > before)
        fill_pair(s, &s->pairs[number], j->given->user, p);
    choice->limits = s->pairs[number].list;
    choice->limit_count = s->pairs[number].count;
}

/* ---- what runs ---- */

/* All rows of the id are on resources of the partition. */
static bool is_in(const struct limit_store *s, size_t first, size_t partition)
{
    const struct running_ref *runs = s->m->x->runs;
    size_t count = 0;

    for (size_t i = first; i != NO_INDEX; i = runs[i].next)
        for (size_t k = 0; k < runs[i].at_count; k++, count++)
            if (budget_step(s->m->w->budget, 1) ||
                !world_mask_has(s->partitions[partition],
                                s->m->p->position_of[runs[i].at[k]]))
                return false;
    return count > 0;
}

/* NO_INDEX: in none. */
static size_t partition_of(const struct limit_store *s, size_t first)
{
    const struct running_ref *runs = s->m->x->runs;
    size_t count = s->m->p->in->snapshot->partition_count;

    for (size_t i = first; i != NO_INDEX; i = runs[i].next)
        if (runs[i].row->partition_id)
            return name_index_find(&s->m->x->partitions, runs[i].row->partition_id);
    for (size_t i = 0; i < count; i++)
        if (is_in(s, first, i))
            return i;
    return NO_INDEX;
}

/* Of all rows of the id. */
static int64_t cpus_of(const struct limit_store *s, size_t first)
{
    const struct running_ref *runs = s->m->x->runs;
    int64_t sum = 0;

    for (size_t i = first; i != NO_INDEX; i = runs[i].next) {
        int64_t cpus = amount_units(runs[i].row->cpus, AMOUNT_UNITS_PER_ONE), units;

        if (__builtin_mul_overflow(cpus, (int64_t)runs[i].at_count, &units))
            units = AMOUNT_UNLIMITED;
        sum = amount_add(sum, units);
    }
    return sum;
}

/* The pair that what runs has a part of; NULL: none. */
static const struct limit_pair *pair_of(struct limit_store *s, size_t first)
{
    const struct taken_running *row = s->m->x->runs[first].row;
    size_t user = is_user(row->user) ? name_index_find(&s->m->p->user_numbers, row->user)
                                     : NAME_NOT_FOUND;
    const struct pair_place *place;
    size_t partition;

    if (is_user(row->user) && user == NAME_NOT_FOUND)
        return NULL; /* none of the jobs is its user's */
    partition = partition_of(s, first);
    if (partition == NO_INDEX)
        return NULL;
    if (!is_user(row->user)) {
        s->running_without += has_limit(&s->m->p->in->snapshot->partitions[partition]);
        return NULL;
    }
    place = pair_map_at(&s->known, user, partition);
    return place->a ? &s->pairs[place->value] : NULL;
}

/* Lists of equal length first, then what they hold. */
static void fill_holds(struct limit_store *s)
{
    const struct amounts *x = s->m->x;
    const struct limit_pair **pair_of_run =
        NEW(s->m->arena, const struct limit_pair *, x->run_count);
    struct world_limit_hold **held =
        NEW(s->m->arena, struct world_limit_hold *, s->limit_count);
    size_t *counts = NEW(s->m->arena, size_t, s->limit_count);

    for (size_t i = 0; i < x->run_count; i++) {
        budget_step(s->m->w->budget, 4);
        if (!x->runs[i].is_first)
            continue;
        pair_of_run[i] = pair_of(s, i);
        for (size_t k = 0; pair_of_run[i] && k < pair_of_run[i]->count; k++)
            counts[pair_of_run[i]->list[k]]++;
    }
    for (size_t k = 0; k < s->limit_count; k++)
        s->limits[k].held = held[k] =
            NEW(s->m->arena, struct world_limit_hold, counts[k]);
    for (size_t i = 0; i < x->run_count; i++) {
        budget_step(s->m->w->budget, 4);
        for (size_t k = 0; pair_of_run[i] && k < pair_of_run[i]->count; k++) {
            struct world_limit *l = &s->limits[pair_of_run[i]->list[k]];

            held[pair_of_run[i]->list[k]][l->held_count++] =
                (struct world_limit_hold){amounts_end_of(x, x->runs[i].row).end_s,
                                          l->kind == LIMIT_JOBS ? 1 : cpus_of(s, i)};
        }
    }
}

/* ---- what is said ---- */

static void warn_overcommitted(const struct limit_store *s)
{
    const struct world_limit *first = NULL;
    int64_t first_held = 0;
    size_t count = 0;

    for (size_t k = 0; k < s->limit_count; k++) {
        const struct world_limit *l = &s->limits[k];
        int64_t held = 0;

        budget_step(s->m->w->budget, 1 + l->held_count);
        for (size_t h = 0; h < l->held_count; h++)
            held = amount_add(held, l->held[h].units);
        if (held <= l->capacity || count++)
            continue;
        first = l;
        first_held = held;
    }
    if (count)
        problem_warn(s->m->p,
                     "overcommitted: what runs exceeds %zu %s of users in partitions; "
                     "first user '%.100s' in '%.100s': %s %.15g, and %.15g",
                     count, plural(count, "limit", "limits"), first->user,
                     first->partition_id, world_limit_names[first->kind],
                     (double)first->capacity /
                         (first->kind == LIMIT_JOBS ? 1 : AMOUNT_UNITS_PER_ONE),
                     (double)first_held /
                         (first->kind == LIMIT_JOBS ? 1 : AMOUNT_UNITS_PER_ONE));
}

static void warn_without_user(const struct limit_store *s)
{
    if (s->jobs_without)
        problem_warn(s->m->p,
                     "no_user: %zu %s (first /jobs/%zu): no limit of a partition counts "
                     "%s",
                     s->jobs_without,
                     plural(s->jobs_without, "job has no user", "jobs have no user"),
                     s->first_without, plural(s->jobs_without, "it", "them"));
    if (s->running_without)
        problem_warn(s->m->p,
                     "no_user: %zu running %s: no limit of a partition counts %s",
                     s->running_without,
                     plural(s->running_without, "job has no user", "jobs have no user"),
                     plural(s->running_without, "it", "them"));
}

void amounts_limits_close(struct limit_store *s)
{
    fill_holds(s);
    s->m->w->limits = s->limits;
    s->m->w->limit_count = s->limit_count;
    warn_overcommitted(s);
    warn_without_user(s);
}
