/* placement/amounts_keys.c - attributes of resources that groups of jobs go by: their
 * values are numbered in the order in which they first come. */
#include "algorithms/placement/amounts_parts.h"
#include "models/base/plural.h"

#include <ctype.h>
#include <string.h>

/* Texts and numbers in one index: a boolean is the number 1 or 0, and -0 is 0. */
static const char *text_of(const struct named_value *v, struct arena *a)
{
    return v->type == VALUE_TEXT ? arena_printf(a, "t%s", v->text)
                                 : arena_printf(a, "n%.17g", v->number + 0.0);
}

static const char *in_lower_case(const char *name, struct arena *a)
{
    char *lower = arena_printf(a, "%s", name);

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lower;
}

/* Positions by value, by counting. */
static void list_positions(const struct world_maker *m, struct world_values *v)
{
    size_t count = m->w->resource_count;
    size_t *positions = NEW(m->arena, size_t, count),
           *first = NEW(m->arena, size_t, v->count + 2);

    for (size_t pos = 0; pos < count; pos++)
        if (v->of[pos] != WORLD_NONE)
            first[v->of[pos] + 2]++;
    for (size_t k = 2; k < v->count + 2; k++)
        first[k] += first[k - 1];
    for (size_t pos = 0; pos < count; pos++)
        if (v->of[pos] != WORLD_NONE)
            positions[first[v->of[pos] + 1]++] = pos;
    v->positions = positions;
    v->first = first;
}

static struct world_values *make_values(const struct world_maker *m, const char *name)
{
    struct world_values *v = NEW(m->arena, struct world_values, 1);
    size_t count = m->w->resource_count, *of = NEW(m->arena, size_t, count);
    struct name_index values;

    name_index_create(&values, count, m->arena);
    for (size_t pos = 0; pos < count; pos++) {
        const struct resource *r = m->p->resources[pos].given;
        const struct named_value *value = resource_attribute(r, name);

        budget_step(m->w->budget, 8 + r->attribute_count);
        of[pos] = WORLD_NONE;
        if (!value)
            continue;
        of[pos] = name_index_add(&values, text_of(value, m->arena), v->count);
        if (of[pos] == NAME_NOT_FOUND)
            of[pos] = v->count++;
    }
    v->name = name;
    v->of = of;
    list_positions(m, v);
    return v;
}

/* ---- what is said about them ---- */

enum { KNOWN_MAX = 256 };

/* Names of attributes of the first resources, and those of other keys. */
static size_t known_names(const struct world_maker *m, const char **known)
{
    size_t count = 0;
    struct name_index seen;

    known[count++] = JOB_KEY_RESOURCE;
    known[count++] = JOB_KEY_SITE;
    name_index_create(&seen, KNOWN_MAX, m->arena);
    for (size_t pos = 0; pos < m->w->resource_count; pos++) {
        const struct resource *r = m->p->resources[pos].given;

        budget_step(m->w->budget, 1 + r->attribute_count);
        for (size_t k = 0; k < r->attribute_count && count < KNOWN_MAX; k++)
            if (r->attributes[k].name &&
                name_index_add(&seen, r->attributes[k].name, 0) == NAME_NOT_FOUND)
                known[count++] = r->attributes[k].name;
    }
    return count;
}

static void warn_unknown(struct world_maker *m, const struct world_values *v,
                         size_t groups)
{
    const char *known[KNOWN_MAX], *nearest;

    if (v->count || m->w->resource_count == 0)
        return;
    nearest = names_nearest(v->name, known, known_names(m, known));
    problem_warn(
        m->p, "unknown_attribute: no resource has '%.80s', by which %zu %s%s%.80s%s",
        v->name, groups, plural(groups, "group goes", "groups go"),
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Jobs that run with a group's id where there is nothing that it goes by. */
static void warn_running(struct world_maker *m, const struct world_group *groups,
                         size_t count)
{
    size_t nodes = 0;

    for (size_t g = 0; g < count; g++)
        for (size_t h = 0; groups[g].values && h < groups[g].holder_count; h++) {
            const struct world_holder *of = &m->w->holders[groups[g].holders[h]];

            budget_step(m->w->budget, 1 + of->position_count);
            for (size_t k = 0; k < of->position_count; k++)
                nodes += groups[g].values->of[of->positions[k]] == WORLD_NONE;
        }
    if (nodes)
        problem_warn(m->p,
                     "ignored: %zu running %s on %s without the attribute that the group "
                     "goes by, and %s for no value of it",
                     nodes, plural(nodes, "member is", "members are"),
                     plural(nodes, "a resource", "resources"),
                     plural(nodes, "counts", "count"));
}

bool amounts_has_group_key(const struct world *w, size_t job, size_t position)
{
    size_t group = w->jobs[job].group;

    return group == WORLD_NONE || !w->groups[group].values ||
           w->groups[group].values->of[position] != WORLD_NONE;
}

void amounts_make_keys(struct world_maker *m, struct world_group *groups, size_t count)
{
    size_t *users = NEW(m->arena, size_t, count), number = 0;
    struct world_values **made = NEW(m->arena, struct world_values *, count);
    struct name_index names;

    name_index_create(&names, count, m->arena);
    budget_step(m->w->budget, count);
    for (size_t g = 0; g < count; g++) {
        const char *name = job_group_attribute(m->x->group[g]);
        size_t at;

        if (!name)
            continue;
        at = name_index_add(&names, in_lower_case(name, m->arena), number);
        if (at == NAME_NOT_FOUND) {
            at = number++;
            made[at] = make_values(m, name);
            made[at]->number = number;
        }
        users[at]++;
        groups[g].values = made[at];
    }
    for (size_t k = 0; k < number; k++)
        warn_unknown(m, made[k], users[k]);
    warn_running(m, groups, count);
}
