/* placement/amounts_taken.c - what runs and is reserved: whose rows they are, and what is
 * wrong with them. */
#include "algorithms/placement/amounts_parts.h"

#include <stdio.h>

struct running_end amounts_end_of(const struct amounts *x,
                                  const struct taken_running *row)
{
    double expected_s =
        amounts_from_now_s(x, row->expected_end_s, row->expected_end_at_s);
    double elapsed_s = isnan(row->elapsed_s) ? 0 : row->elapsed_s, rest_s;

    if (!isnan(row->started_at_s))
        elapsed_s = fmax(0, -amounts_from_now_s(x, 0, row->started_at_s));
    rest_s = row->time_limit_s - elapsed_s; /* NAN without a limit */
    if (x->plan_with_limit && rest_s > 0)
        return (struct running_end){.end_s = rest_s};
    if (expected_s > 0)
        return (struct running_end){.end_s = expected_s};
    if (rest_s > 0)
        return (struct running_end){.end_s = rest_s};
    if (isnan(expected_s) && isnan(rest_s))
        return (struct running_end){.end_s = HUGE_VAL};
    return (struct running_end){.end_s = 1, .overdue = true};
}

/* ---- which rows there are ---- */

/* Resources of a row of the snapshot's own list; unknown and repeated ones are
 * mistakes. */
static size_t *resources_of(struct amounts *x, const char *const *ids, size_t id_count,
                            const char *path, size_t *count, struct error *err)
{
    size_t *at = NEW(x->arena, size_t, id_count);

    *count = 0;
    for (size_t k = 0; k < id_count; k++) {
        size_t i = ids[k] ? name_index_find(&x->resources, ids[k]) : NAME_NOT_FOUND;
        char member[40];

        if (i != NAME_NOT_FOUND) {
            at[(*count)++] = i;
            continue;
        }
        snprintf(member, sizeof(member), "resource_ids/%zu", k);
        amounts_mistake(err, path, member, ITEM_UNKNOWN_ID, "no resource '%.100s'",
                        ids[k] ? ids[k] : "");
    }
    return at;
}

/* The index of the resource, to point to. */
static size_t *itself(struct amounts *x, size_t index)
{
    size_t *at = NEW(x->arena, size_t, 1);

    *at = index;
    return at;
}

static void list_running(struct amounts *x, struct error *err)
{
    const struct snapshot *s = x->in->snapshot;
    size_t count = s->running_count;
    char path[AMOUNT_PATH_BYTES];

    for (size_t i = 0; i < s->resource_count; i++)
        count += s->resources[i].running_count;
    x->runs = NEW(x->arena, struct running_ref, count);
    for (size_t i = 0; i < s->resource_count; i++) {
        size_t *at = s->resources[i].running_count ? itself(x, i) : NULL;

        for (size_t k = 0; k < s->resources[i].running_count; k++)
            x->runs[x->run_count++] = (struct running_ref){
                &s->resources[i].running[k], i, k, at, 1, NO_INDEX, false};
    }
    for (size_t k = 0; k < s->running_count; k++) {
        const struct taken_running *row = &s->running[k];
        struct running_ref *r = &x->runs[x->run_count++];

        amounts_path(path, NO_INDEX, "running", k);
        *r = (struct running_ref){row, NO_INDEX, k, NULL, 0, NO_INDEX, false};
        r->at = resources_of(x, row->resource_ids, row->resource_id_count, path,
                             &r->at_count, err);
    }
}

static void list_reservations(struct amounts *x, struct error *err)
{
    const struct snapshot *s = x->in->snapshot;
    size_t count = s->reservation_count;
    char path[AMOUNT_PATH_BYTES];

    for (size_t i = 0; i < s->resource_count; i++)
        count += s->resources[i].reservation_count;
    x->reserves = NEW(x->arena, struct reservation_ref, count);
    for (size_t i = 0; i < s->resource_count; i++) {
        size_t *at = s->resources[i].reservation_count ? itself(x, i) : NULL;

        for (size_t k = 0; k < s->resources[i].reservation_count; k++)
            x->reserves[x->reserve_count++] =
                (struct reservation_ref){&s->resources[i].reservations[k], i, k, at, 1};
    }
    for (size_t k = 0; k < s->reservation_count; k++) {
        const struct taken_reservation *row = &s->reservations[k];
        struct reservation_ref *r = &x->reserves[x->reserve_count++];

        amounts_path(path, NO_INDEX, "reservations", k);
        *r = (struct reservation_ref){row, NO_INDEX, k, NULL, 0};
        r->at = resources_of(x, row->resource_ids, row->resource_id_count, path,
                             &r->at_count, err);
    }
}

/* ---- mistakes ---- */

/* A time that is given twice, or as an instant where nothing says what is now. */
static void check_time(const struct amounts *x, const char *path, const char *seconds,
                       double given_s, const char *instant, double at_s,
                       struct error *err)
{
    if (isnan(at_s))
        return;
    if (!isnan(given_s))
        amounts_mistake(err, path, instant, ITEM_CONFLICT, "give %s or %s, not both",
                        seconds, instant);
    if (isnan(x->in->snapshot->taken_at_s))
        amounts_mistake(err, path, instant, ITEM_CONFLICT,
                        "an instant means nothing without the snapshot's taken_at; give "
                        "that, or %s",
                        seconds);
}

/* What counts slots does not go with rows of what runs. */
static void check_slots(const struct amounts *x, const struct running_ref *r, bool *told,
                        struct error *err)
{
    const struct placement_in *in = x->in;

    if (r->owner == NO_INDEX &&
        r->number >= in->snapshot->running_count - in->own_running_count)
        return;
    for (size_t k = 0; k < r->at_count; k++) {
        const struct resource *of = &x->in->snapshot->resources[r->at[k]];
        const char *member = of->job_count > 0   ? "job_count"
                             : of->free_at_count ? "free_at_s"
                             : of->ready_s > 0   ? "ready_s"
                                                 : NULL;
        char path[64];

        if (!member || told[r->at[k]])
            continue;
        told[r->at[k]] = true;
        snprintf(path, sizeof(path), "/snapshot/resources/%zu", r->at[k]);
        amounts_mistake(err, path, member, ITEM_CONFLICT,
                        "the resource has rows of what runs, which say it in full");
    }
}

/* The job, or copy of a job, of the request that has this name; NAME_NOT_FOUND. */
static size_t job_named(const struct amounts *x, const char *name)
{
    size_t job = name_index_find(&x->jobs, name), length;
    uint64_t copy = 0;

    if (job != NAME_NOT_FOUND)
        return job;
    length = job_copy_read(name, &copy);
    if (length)
        job = name_index_find(&x->jobs, arena_text(x->arena, name, length));
    return job != NAME_NOT_FOUND && x->in->jobs[job].count > 1 &&
                   copy < x->in->jobs[job].count
               ? job
               : NAME_NOT_FOUND;
}

static void check_row(struct amounts *x, const struct running_ref *r, bool *told,
                      struct error *err)
{
    const struct taken_running *row = r->row;
    char path[AMOUNT_PATH_BYTES];
    size_t job;

    amounts_path(path, r->owner, "running", r->number);
    check_time(x, path, "expected_end_s", row->expected_end_s, "expected_end_at",
               row->expected_end_at_s, err);
    check_time(x, path, "elapsed_s", row->elapsed_s, "started_at", row->started_at_s,
               err);
    if (row->started_at_s > x->in->snapshot->taken_at_s)
        amounts_mistake(err, path, "started_at", ITEM_OUT_OF_BOUNDS,
                        "it starts after the snapshot was taken");
    if (row->partition_id &&
        name_index_find(&x->partitions, row->partition_id) == NAME_NOT_FOUND)
        amounts_mistake(err, path, "partition_id", ITEM_UNKNOWN_ID,
                        "no partition '%.100s'", row->partition_id);
    check_slots(x, r, told, err);
    job = job_named(x, row->id);
    if (job == NAME_NOT_FOUND || name_index_find(&x->leased, row->id) != NAME_NOT_FOUND)
        return;
    amounts_mistake(err, path, "id", ITEM_DUPLICATE,
                    "'%.100s' is also the id of /jobs/%zu", row->id, job);
    if (x->in->jobs[job].count > 1)
        error_hint(err,
                   "that copy of the job runs, as of a lease that was confirmed: ask for "
                   "those that do not run under another id");
    else
        error_hint(err,
                   "the job runs, as of a lease that was confirmed: leave it out, or "
                   "give what is to run beside it another id");
}

/* Rows of one id are one job on several nodes. */
static void check_chain(struct amounts *x, struct running_ref *first, size_t *seen,
                        size_t number, struct error *err)
{
    double end_s = amounts_end_of(x, first->row).end_s;
    char path[AMOUNT_PATH_BYTES];

    for (size_t i = (size_t)(first - x->runs); i != NO_INDEX; i = x->runs[i].next) {
        const struct running_ref *r = &x->runs[i];
        double other_s = amounts_end_of(x, r->row).end_s;

        amounts_path(path, r->owner, "running", r->number);
        for (size_t k = 0; k < r->at_count; k++) {
            if (seen[r->at[k]] == number)
                amounts_mistake(err, path, "id", ITEM_DUPLICATE,
                                "'%.100s' runs on '%.100s' twice", r->row->id,
                                x->in->snapshot->resources[r->at[k]].id);
            seen[r->at[k]] = number;
        }
        if (other_s < end_s || other_s > end_s)
            amounts_mistake(err, path, "id", ITEM_CONFLICT,
                            "rows of '%.100s' end at different times: %g and %g s",
                            r->row->id, end_s, other_s);
        if (r->row->weight < first->row->weight || r->row->weight > first->row->weight)
            amounts_mistake(err, path, "weight", ITEM_CONFLICT,
                            "rows of '%.100s' have different weights", r->row->id);
    }
}

static void check_running(struct amounts *x, struct error *err)
{
    size_t m = x->in->snapshot->resource_count;
    bool *told = NEW(x->arena, bool, m);
    size_t *last = NEW(x->arena, size_t, x->run_count);
    size_t *seen = NEW(x->arena, size_t, m);

    name_index_create(&x->running, x->run_count, x->arena);
    for (size_t i = 0; i < x->run_count; i++) {
        size_t first = name_index_add(&x->running, x->runs[i].row->id, i);

        check_row(x, &x->runs[i], told, err);
        x->runs[i].is_first = first == NAME_NOT_FOUND;
        if (first == NAME_NOT_FOUND) {
            last[i] = i;
            continue;
        }
        x->runs[last[first]].next = i;
        last[first] = i;
    }
    for (size_t i = 0; i < x->run_count; i++)
        if (x->runs[i].is_first)
            check_chain(x, &x->runs[i], seen, i + 1, err);
}

/* Amounts of resources, which a row without resources has nowhere to take from. */
static const char *node_amount(const struct amounts *x,
                               const struct taken_reservation *row)
{
    if (row->all)
        return "all";
    if (row->cpus > 0)
        return "cpus";
    if (row->memory_bytes > 0)
        return "memory_bytes";
    if (row->disk_bytes > 0)
        return "disk_bytes";
    for (size_t k = 0; k < row->need_count; k++) {
        size_t name = name_index_find(&x->names.index, row->needs[k].name);

        if (name == NAME_NOT_FOUND || !x->names.shared[name])
            return "needs";
    }
    return NULL;
}

static void check_reservation(const struct amounts *x, const struct reservation_ref *r,
                              struct error *err)
{
    const struct taken_reservation *row = r->row;
    const char *member = !isnan(row->cpus)           ? "cpus"
                         : !isnan(row->memory_bytes) ? "memory_bytes"
                         : !isnan(row->disk_bytes)   ? "disk_bytes"
                         : row->need_count           ? "needs"
                                                     : NULL;
    double start_s = amounts_from_now_s(x, row->start_s, row->start_at_s);
    double end_s = amounts_from_now_s(x, row->end_s, row->end_at_s);
    char path[AMOUNT_PATH_BYTES];

    amounts_path(path, r->owner, "reservations", r->number);
    check_time(x, path, "start_s", row->start_s, "start_at", row->start_at_s, err);
    check_time(x, path, "end_s", row->end_s, "end_at", row->end_at_s, err);
    if (end_s <= (isnan(start_s) ? 0 : start_s) &&
        (!isnan(start_s) || isnan(row->end_at_s)))
        amounts_mistake(err, path, isnan(row->end_s) ? "end_at" : "end_s",
                        ITEM_OUT_OF_BOUNDS, "it ends at %g s and begins at %g s", end_s,
                        isnan(start_s) ? 0 : start_s);
    if (row->all && member)
        amounts_mistake(err, path, member, ITEM_CONFLICT,
                        "a reservation of all takes every amount; leave it out");
    if (r->owner == NO_INDEX && row->resource_id_count == 0 && node_amount(x, row))
        amounts_mistake(err, path, "resource_ids", ITEM_REQUIRED,
                        "%s is taken of resources: name them", node_amount(x, row));
}

/* Resources that a row names twice. */
static void check_repeated(const struct reservation_ref *r, size_t *seen, size_t number,
                           struct error *err)
{
    char path[AMOUNT_PATH_BYTES];

    for (size_t k = 0; k < r->at_count; k++) {
        if (seen[r->at[k]] == number) {
            amounts_path(path, r->owner, "reservations", r->number);
            amounts_mistake(err, path, "resource_ids", ITEM_DUPLICATE,
                            "it names a resource twice");
        }
        seen[r->at[k]] = number;
    }
}

void amounts_check_taken(struct amounts *x, struct error *err)
{
    size_t *seen = NEW(x->arena, size_t, x->in->snapshot->resource_count);

    check_running(x, err);
    for (size_t i = 0; i < x->reserve_count; i++) {
        check_reservation(x, &x->reserves[i], err);
        check_repeated(&x->reserves[i], seen, i + 1, err);
    }
}

void amounts_list_taken(struct amounts *x, struct error *err)
{
    list_running(x, err);
    list_reservations(x, err);
}
