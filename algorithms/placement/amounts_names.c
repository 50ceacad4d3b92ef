/* placement/amounts_names.c - names of amounts: where they are, and how many. */
#include "algorithms/placement/amounts_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *amounts_path(char *buffer, size_t owner, const char *list, size_t number)
{
    if (owner == NO_INDEX)
        snprintf(buffer, AMOUNT_PATH_BYTES, "/snapshot/%s/%zu", list, number);
    else
        snprintf(buffer, AMOUNT_PATH_BYTES, "/snapshot/resources/%zu/%s/%zu", owner, list,
                 number);
    return buffer;
}

void amounts_mistake(struct error *err, const char *path, const char *member,
                     enum item_code code, const char *format, ...)
{
    char pointer[2 * AMOUNT_PATH_BYTES], text[384];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "%s/%s", path, member);
    invalid(err, pointer, code, "%s", text);
}

double amounts_from_now_s(const struct amounts *x, double given_s, double at_s)
{
    return isnan(at_s) ? given_s : at_s - x->in->snapshot->taken_at_s;
}

/* The name as a part of a JSON Pointer. */
static void escape(const char *name, char *buffer, size_t size)
{
    size_t used = 0;

    for (; *name && used + 3 < size; name++) {
        if (*name != '/') {
            buffer[used++] = *name;
            continue;
        }
        buffer[used++] = '~';
        buffer[used++] = '1';
    }
    buffer[used] = 0;
}

/* Its number, a new one for a new name; NO_INDEX: there is no room for it. */
static size_t number_of(struct amount_names *n, const char *name)
{
    size_t known = name_index_find(&n->index, name);

    if (known != NAME_NOT_FOUND)
        return known;
    if (n->count == AMOUNT_NAMES_MAX)
        return NO_INDEX;
    n->name[n->count] = name;
    name_index_add(&n->index, name, n->count);
    return n->count++;
}

/* Names of a list; false: there are too many, which is said once. */
static bool add_names(struct amounts *x, const struct named_value *list, size_t count,
                      const char *path, bool *mark, struct error *err)
{
    for (size_t k = 0; k < count; k++) {
        size_t number = number_of(&x->names, list[k].name);
        char name[2 * AMOUNT_PATH_BYTES / 3];

        if (number == NO_INDEX) {
            escape(list[k].name, name, sizeof(name));
            amounts_mistake(err, path, name, ITEM_TOO_MANY,
                            "a request may name %d different amounts", AMOUNT_NAMES_MAX);
            return false;
        }
        if (mark)
            mark[number] = true;
    }
    return true;
}

static bool add_resources(struct amounts *x, struct error *err)
{
    const struct snapshot *s = x->in->snapshot;
    char path[AMOUNT_PATH_BYTES];

    for (size_t i = 0; i < s->resource_count; i++) {
        const struct resource *r = &s->resources[i];

        if (r->capacity_count == 0)
            continue;
        snprintf(path, sizeof(path), "/snapshot/resources/%zu/capacities", i);
        if (!add_names(x, r->capacities, r->capacity_count, path, x->names.on_node, err))
            return false;
    }
    return add_names(x, s->shared_capacities, s->shared_capacity_count,
                     "/snapshot/shared_capacities", x->names.shared, err);
}

static bool add_taken(struct amounts *x, struct error *err)
{
    char path[AMOUNT_PATH_BYTES + 8];

    for (size_t i = 0; i < x->run_count; i++) {
        const struct running_ref *r = &x->runs[i];

        if (r->row->need_count == 0)
            continue;
        amounts_path(path, r->owner, "running", r->number);
        strcat(path, "/needs");
        if (!add_names(x, r->row->needs, r->row->need_count, path, NULL, err))
            return false;
    }
    for (size_t i = 0; i < x->reserve_count; i++) {
        const struct reservation_ref *r = &x->reserves[i];

        if (r->row->need_count == 0)
            continue;
        amounts_path(path, r->owner, "reservations", r->number);
        strcat(path, "/needs");
        if (!add_names(x, r->row->needs, r->row->need_count, path, NULL, err))
            return false;
    }
    return true;
}

static bool add_jobs(struct amounts *x, struct error *err)
{
    char path[AMOUNT_PATH_BYTES];

    for (size_t i = 0; i < x->in->job_count; i++) {
        const struct job *j = &x->in->jobs[i];

        if (j->need_count == 0 || j->copy)
            continue;
        snprintf(path, sizeof(path), "/jobs/%zu/needs", i);
        if (!add_names(x, j->needs, j->need_count, path, NULL, err))
            return false;
    }
    return true;
}

/* Rows of the world: names of nodes, known or not, before those that are shared. */
static void number_rows(struct amount_names *n)
{
    size_t row = AMOUNT_NAMED;

    for (size_t k = 0; k < n->count; k++)
        if (!n->shared[k])
            n->row[k] = row++;
    for (size_t k = 0; k < n->count; k++)
        if (n->shared[k])
            n->row[k] = row++;
}

void amounts_check_names(struct amounts *x, struct error *err)
{
    struct amount_names *n = &x->names;

    name_index_create(&n->index, AMOUNT_NAMES_MAX, x->arena);
    if (add_resources(x, err) && add_taken(x, err))
        add_jobs(x, err);
    for (size_t k = 0; k < n->count; k++) {
        char name[2 * AMOUNT_PATH_BYTES / 3];

        if (!n->shared[k] || !n->on_node[k])
            continue;
        escape(n->name[k], name, sizeof(name));
        amounts_mistake(err, "/snapshot/shared_capacities", name, ITEM_CONFLICT,
                        "'%.64s' is also a capacity of resources", n->name[k]);
    }
    number_rows(n);
}
