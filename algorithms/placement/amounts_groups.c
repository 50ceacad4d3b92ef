/* placement/amounts_groups.c - groups of jobs: their members agree on the rule. */
#include "algorithms/placement/amounts_parts.h"

#include <stdio.h>
#include <string.h>

static bool is_counted(const struct job_group *g)
{
    return g->policy == JOB_SPREAD || g->policy == JOB_EXCLUDE;
}

static uint64_t most_of(const struct job_group *g)
{
    return g->max_per_key ? g->max_per_key : 1;
}

const char *amounts_group_differs(const struct job_group *g,
                                  const struct job_group *first)
{
    if (g->policy != first->policy)
        return "policy";
    if (!job_group_keys_agree(job_group_key(g), job_group_key(first)))
        return "key";
    return most_of(g) != most_of(first) ? "max_per_key" : NULL;
}

/* The rule of the job's group against that of the first member. */
static void check_member(const struct job_group *g, const struct job_group *first,
                         size_t job, struct error *err)
{
    const char *member = amounts_group_differs(g, first);
    char path[64];

    snprintf(path, sizeof(path), "/jobs/%zu/group", job);
    if (member)
        amounts_mistake(err, path, member, ITEM_CONFLICT,
                        "another member of group '%.100s' says something else", g->id);
    if (g->max_per_key && !is_counted(g))
        amounts_mistake(err, path, "max_per_key", ITEM_NOT_ALLOWED,
                        "only spread and exclude count members");
    if (g->policy == JOB_SAME_SITE && g->key && strcmp(g->key, JOB_KEY_SITE) != 0)
        amounts_mistake(err, path, "key", ITEM_CONFLICT,
                        "the key of same_site is site_id; for another one take pack");
}

void amounts_check_groups(struct amounts *x, struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < x->in->job_count; i++)
        count += x->in->jobs[i].group != NULL;
    x->group = NEW(x->arena, const struct job_group *, count);
    x->group_of = NEW(x->arena, size_t, x->in->job_count);
    name_index_create(&x->groups, count, x->arena);
    for (size_t i = 0; i < x->in->job_count; i++) {
        const struct job_group *g = x->in->jobs[i].group;

        x->group_of[i] = NO_INDEX;
        if (!g)
            continue;
        x->group_of[i] = name_index_add(&x->groups, g->id, x->group_count);
        if (x->group_of[i] == NAME_NOT_FOUND) {
            x->group_of[i] = x->group_count;
            x->group[x->group_count++] = g;
        }
        if (x->in->jobs[i].copy == 0)
            check_member(g, x->group[x->group_of[i]], i, err);
    }
}

static enum world_group_policy policy_of(const struct job_group *g)
{
    static const enum world_group_policy policies[] = {
        [JOB_GANG] = GROUP_GANG,       [JOB_SPREAD] = GROUP_SPREAD,
        [JOB_PACK] = GROUP_PACK,       [JOB_SAME_SITE] = GROUP_PACK,
        [JOB_EXCLUDE] = GROUP_EXCLUDE,
    };

    return policies[g->policy];
}

static enum world_group_key key_of(const struct job_group *g)
{
    if (job_group_attribute(g))
        return GROUP_BY_ATTRIBUTE;
    return strcmp(job_group_key(g), JOB_KEY_SITE) == 0 ? GROUP_BY_SITE
                                                       : GROUP_BY_RESOURCE;
}

/* Numbers 0 .. count-1 by their group, each list rising; group_of may be WORLD_NONE. */
static void list_members(struct world_maker *m, size_t count,
                         size_t (*group_of)(const struct world_maker *m, size_t i),
                         size_t **lists, size_t *lengths)
{
    for (size_t i = 0; i < count; i++)
        if (group_of(m, i) != WORLD_NONE)
            lengths[group_of(m, i)]++;
    for (size_t g = 0; g < m->x->group_count; g++) {
        lists[g] = NEW(m->arena, size_t, lengths[g]);
        lengths[g] = 0;
    }
    for (size_t i = 0; i < count; i++)
        if (group_of(m, i) != WORLD_NONE)
            lists[group_of(m, i)][lengths[group_of(m, i)]++] = i;
}

static size_t group_of_job(const struct world_maker *m, size_t job)
{
    return m->jobs[job].group;
}

static size_t group_of_holder(const struct world_maker *m, size_t holder)
{
    return m->holders[holder].group;
}

void amounts_make_groups(struct world_maker *m)
{
    size_t count = m->x->group_count, keys = 0;
    struct world_group *groups = NEW(m->arena, struct world_group, count);
    size_t **jobs = NEW(m->arena, size_t *, count),
           *job_count = NEW(m->arena, size_t, count);
    size_t **held = NEW(m->arena, size_t *, count),
           *held_count = NEW(m->arena, size_t, count);

    list_members(m, m->w->job_count, group_of_job, jobs, job_count);
    list_members(m, m->w->holder_count, group_of_holder, held, held_count);
    for (size_t g = 0; g < count; g++) {
        const struct job_group *given = m->x->group[g];

        keys += given->policy == JOB_GANG && given->key;
        groups[g] = (struct world_group){
            .id = given->id,
            .policy = policy_of(given),
            .key = key_of(given),
            .max_per_key = (size_t)most_of(given),
            .jobs = jobs[g],
            .job_count = job_count[g],
            .holders = held[g],
            .holder_count = held_count[g],
        };
    }
    if (keys)
        problem_warn(m->p,
                     "ignored: key of %zu group%s: members of a gang may be anywhere",
                     keys, keys == 1 ? "" : "s");
    amounts_make_keys(m, groups, count);
    m->w->groups = groups;
    m->w->group_count = count;
}
