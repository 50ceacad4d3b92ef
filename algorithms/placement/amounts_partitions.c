/* placement/amounts_partitions.c - partitions: which resources they are, whom they take,
 * and with the filters of a job the resources it may use. */
#include "algorithms/placement/amounts_parts.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/select.h"

#include <stdio.h>
#include <string.h>

static void check_resources(const struct amounts *x, const struct partition *p,
                            const char *path, struct error *err)
{
    for (size_t k = 0; k < p->resource_id_count; k++) {
        const char *id = p->resource_ids[k] ? p->resource_ids[k] : "";
        char member[48];

        if (name_index_find(&x->resources, id) != NAME_NOT_FOUND)
            continue;
        snprintf(member, sizeof(member), "resource_ids/%zu", k);
        amounts_mistake(err, path, member, ITEM_UNKNOWN_ID, "no resource '%.100s'", id);
    }
}

void amounts_check_partitions(struct amounts *x, struct error *err)
{
    const struct snapshot *s = x->in->snapshot;
    size_t defaults = 0;

    for (size_t i = 0; i < s->partition_count; i++) {
        const struct partition *p = &s->partitions[i];
        char path[64];

        snprintf(path, sizeof(path), "/snapshot/partitions/%zu", i);
        check_resources(x, p, path, err);
        if (p->is_default && defaults++)
            amounts_mistake(err, path, "default", ITEM_DUPLICATE,
                            "another partition is the default one");
        if (p->resource_ids && p->requirement)
            amounts_mistake(err, path, "requirement", ITEM_CONFLICT,
                            "give resource_ids or requirement, not both");
        if (!p->resource_ids && !p->requirement)
            amounts_mistake(err, path, "resource_ids", ITEM_REQUIRED,
                            "name its resources, or give a requirement");
    }
}

/* ---- masks ---- */

/* Sets of positions that are kept. */
struct mask_store {
    struct world_maker *m;
    size_t words;
    uint64_t **partitions; /* by partition */
    uint64_t *moving;      /* resources of some speed */
    uint64_t *scratch;
    bool all_move;
    struct pair_map known; /* of class and partition, and what else narrows it */
    const struct world_choice **choices;
    struct limit_store *limits; /* NULL: none counts */
    size_t count;
    size_t default_partition; /* NO_INDEX: none */
};

static void set_bit(uint64_t *mask, size_t pos)
{
    mask[pos / BLOCK] |= UINT64_C(1) << (pos % BLOCK);
}

static void make_partitions(struct mask_store *s)
{
    const struct placement_problem *p = s->m->p;
    const struct snapshot *snapshot = p->in->snapshot;

    s->default_partition = NO_INDEX;
    s->partitions = NEW(p->arena, uint64_t *, snapshot->partition_count);
    for (size_t i = 0; i < snapshot->partition_count; i++) {
        const struct partition *given = &snapshot->partitions[i];

        budget_step(p->in->budget, p->resource_count / BLOCK + given->resource_id_count);
        s->partitions[i] = NEW(p->arena, uint64_t, s->words);
        for (size_t k = 0; k < given->resource_id_count; k++) {
            size_t index = name_index_find(&s->m->x->resources, given->resource_ids[k]);

            set_bit(s->partitions[i], p->position_of[index]);
        }
        if (given->requirement)
            select_partition(p, i, s->partitions[i]);
        if (given->is_default)
            s->default_partition = i;
    }
}

static void make_moving(struct mask_store *s)
{
    s->moving = NEW(s->m->arena, uint64_t, s->words);
    s->all_move = true;
    for (size_t pos = 0; pos < s->m->w->resource_count; pos++) {
        if (s->m->resources[pos].speed > 0)
            set_bit(s->moving, pos);
        else
            s->all_move = false;
    }
}

/* Takes out where there is nothing that the job's group goes by. */
static void narrow_by_key(const struct mask_store *s, const struct world_values *values,
                          uint64_t *mask)
{
    const struct world *w = s->m->w;

    for (size_t pos = 0; pos < w->resource_count; pos++)
        if (values->of[pos] == WORLD_NONE)
            mask[pos / BLOCK] &= ~(UINT64_C(1) << (pos % BLOCK));
    budget_step(w->budget, w->resource_count);
}

/* Takes out where the job never ends, or runs longer than `longest_s`. */
static void narrow_by_time(const struct mask_store *s, const struct world_job *j,
                           double longest_s, uint64_t *mask)
{
    const struct world *w = s->m->w;

    for (size_t pos = 0; pos < w->resource_count; pos++) {
        if (budget_step(w->budget, 1))
            return;
        if (!(world_run_s(w, j, pos) <= longest_s))
            mask[pos / BLOCK] &= ~(UINT64_C(1) << (pos % BLOCK));
    }
}

/* Of the attribute that the job's group goes by; NULL. */
static const struct world_values *values_of(const struct mask_store *s, size_t job)
{
    size_t group = s->m->jobs[job].group;

    return group == WORLD_NONE ? NULL : s->m->w->groups[group].values;
}

/* Takes out of the mask what the partition and the run time leave out. */
static void narrow(const struct mask_store *s, size_t job, size_t partition,
                   double longest_s, uint64_t *mask)
{
    const struct world_job *made = &s->m->jobs[job];

    for (size_t b = 0; b < s->m->p->block_count; b++) {
        if (partition != NO_INDEX)
            mask[b] &= s->partitions[partition][b];
        if (!made->etc_s && !isnan(made->estimate_ref_s))
            mask[b] &= s->moving[b];
    }
    if (values_of(s, job))
        narrow_by_key(s, values_of(s, job), mask);
    if (made->etc_s || longest_s < HUGE_VAL)
        narrow_by_time(s, made, fmin(longest_s, WORLD_LONGEST_S), mask);
}

static const struct world_choice *make_choice(const struct mask_store *s, size_t job,
                                              size_t partition, double longest_s)
{
    const struct problem_job *j = &s->m->p->jobs[job];
    const struct problem_class *c = &s->m->p->classes[j->job_class];
    struct world_choice *choice = NEW(s->m->arena, struct world_choice, 1);
    uint64_t *mask = NEW(s->m->arena, uint64_t, s->words);

    memcpy(mask, c->mask, s->m->p->block_count * sizeof(*mask));
    narrow(s, job, partition, longest_s, mask);
    for (size_t b = 0; b < s->m->p->block_count; b++)
        choice->count += (size_t)__builtin_popcountll(mask[b]);
    choice->mask = mask;
    if (partition != NO_INDEX)
        choice->partition_id = s->m->p->in->snapshot->partitions[partition].id;
    return choice;
}

/* What the partition's limit of run times leaves of a job without a limit of its own. */
static double longest_in(const struct mask_store *s, size_t job, size_t partition)
{
    double longest_s;

    if (partition == NO_INDEX || s->m->jobs[job].time_limit_s < HUGE_VAL)
        return HUGE_VAL;
    longest_s = s->m->p->in->snapshot->partitions[partition].time_limit_max_s;
    return isnan(longest_s) ? HUGE_VAL : longest_s;
}

/* Jobs of one class that nothing else tells apart share their choices. */
static const struct world_choice *choice_of(struct mask_store *s, size_t job,
                                            size_t partition)
{
    const struct world_job *made = &s->m->jobs[job];
    size_t partitions = s->m->p->in->snapshot->partition_count + 1;
    size_t variant = made->etc_s                                    ? 1 + made->row
                     : !isnan(made->estimate_ref_s) && !s->all_move ? 1
                                                                    : 0;
    double longest_s = longest_in(s, job, partition);
    size_t number;

    if (values_of(s, job))
        variant += values_of(s, job)->number * (s->m->w->job_count + 2);
    if (longest_s < HUGE_VAL)
        return make_choice(s, job, partition, longest_s);
    number = pair_map_number(&s->known,
                             s->m->p->jobs[job].job_class * partitions +
                                 (partition == NO_INDEX ? partitions - 1 : partition),
                             variant);
    if (!s->choices[number])
        s->choices[number] = make_choice(s, job, partition, HUGE_VAL);
    return s->choices[number];
}

static bool takes_user(const struct partition *p, const char *user)
{
    if (!p->users_allowed)
        return true;
    for (size_t k = 0; k < p->users_allowed_count; k++)
        if (user && p->users_allowed[k] && strcmp(p->users_allowed[k], user) == 0)
            return true;
    return false;
}

const char *amounts_closed(const struct partition *p, const struct world_job *j,
                           const char *user)
{
    if (j->time_limit_s < HUGE_VAL && j->time_limit_s > p->time_limit_max_s)
        return "time_limit_max_s";
    if (p->nodes_per_job_max && j->nodes > p->nodes_per_job_max)
        return "nodes_per_job_max";
    return takes_user(p, user) ? NULL : "users_allowed";
}

/* Whether the partition never lets the job in. */
static bool is_barred(const struct mask_store *s, size_t partition,
                      const struct world_job *j, const char *user)
{
    const struct partition *p = &s->m->p->in->snapshot->partitions[partition];

    return amounts_closed(p, j, user) || (s->limits && amounts_beyond(p, j, user));
}

/* Adds the partition to the job's choices, unless it is closed to it. */
static void add_partition(struct mask_store *s, size_t job, size_t partition,
                          struct world_choice *list, size_t *count)
{
    const struct partition *p = &s->m->p->in->snapshot->partitions[partition];
    struct world_job *j = &s->m->jobs[job];
    const char *user = s->m->p->jobs[job].given->user;

    if (*count == 0 || p->priority_tier > j->tier)
        j->tier = p->priority_tier;
    list[*count] = (struct world_choice){.partition_id = p->id, .mask = NULL};
    if (!is_barred(s, partition, j, user)) {
        list[*count] = *choice_of(s, job, partition);
        if (s->limits)
            amounts_limit_choice(s->limits, job, partition, &list[*count]);
    }
    ++*count;
}

/* Those that are open; when none is, the first, empty. */
static void keep_open(struct mask_store *s, struct world_job *j,
                      struct world_choice *list, size_t count)
{
    size_t open = 0;

    for (size_t k = 0; k < count; k++)
        if (list[k].mask)
            list[open++] = list[k];
    if (open == 0) {
        list[0].mask = NEW(s->m->arena, uint64_t, s->words);
        list[0].count = 0;
        open = 1;
    }
    j->choices = list;
    j->choice_count = open;
}

static void fill_choices(struct mask_store *s, size_t job)
{
    const struct job *given = s->m->p->jobs[job].given;
    struct world_job *j = &s->m->jobs[job];
    struct world_choice *list;
    size_t count = 0;

    if (given->partition_id_count == 0 && s->default_partition == NO_INDEX) {
        j->choices = choice_of(s, job, NO_INDEX);
        j->choice_count = 1;
        return;
    }
    list = NEW(s->m->arena, struct world_choice, given->partition_id_count + 1);
    for (size_t k = 0; k < given->partition_id_count; k++)
        add_partition(s, job,
                      name_index_find(&s->m->x->partitions, given->partition_ids[k]),
                      list, &count);
    if (count == 0)
        add_partition(s, job, s->default_partition, list, &count);
    keep_open(s, j, list, count);
}

void amounts_would_use(const struct mask_store *s, size_t job, uint64_t *mask)
{
    const struct world_maker *m = s->m;
    const struct world_job *j = &m->jobs[job];
    const struct problem_class *c = &m->p->classes[m->p->jobs[job].job_class];
    size_t words = m->p->block_count;
    uint64_t *one = s->scratch;

    memset(mask, 0, words * sizeof(*mask));
    for (size_t k = 0; c->rights && k < j->choice_count; k++) {
        const char *id = j->choices[k].partition_id;
        size_t partition = id ? name_index_find(&m->x->partitions, id) : NO_INDEX;
        uint64_t *into = k ? one : mask;

        if (partition != NO_INDEX &&
            is_barred(s, partition, j, m->p->jobs[job].given->user))
            continue; /* kept for its name alone */
        memcpy(into, c->rights, words * sizeof(*into));
        narrow(s, job, partition, longest_in(s, job, partition), into);
        for (size_t b = 0; k && b < words; b++)
            mask[b] |= one[b];
    }
}

void amounts_make_choices(struct world_maker *m)
{
    struct mask_store *kept = NEW(m->arena, struct mask_store, 1);
    struct mask_store s = {.m = m, .words = m->p->block_count + 1};
    size_t most = m->w->job_count * 2 + 1;

    make_partitions(&s);
    make_moving(&s);
    for (size_t i = 0; i < m->w->job_count; i++)
        most += m->p->jobs[i].given->partition_id_count;
    pair_map_create(&s.known, most, m->arena);
    s.choices = NEW(m->arena, const struct world_choice *, most);
    s.limits = amounts_limits_open(m, s.partitions, most);
    for (size_t i = 0; i < m->w->job_count; i++) {
        budget_step(m->w->budget, s.words);
        fill_choices(&s, i);
    }
    if (s.limits)
        amounts_limits_close(s.limits);
    s.scratch = NEW(m->arena, uint64_t, s.words);
    *kept = s;
    m->masks = kept;
}
