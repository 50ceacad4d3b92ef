/* placement/check.c - what a request must fulfil before it is looked at.
 *
 * The bounds are those of the types' comments; the JSON tables of the endpoint
 * hold most of them too, but a stored snapshot or a simulation does not pass
 * there. Every mistake is reported.
 */
#include "algorithms/placement/check.h"

#include "models/base/names.h"
#include "models/base/plural.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONAL = 1, WHOLE = 2 };

/* A member that is a number; `flags` OPTIONAL: NAN is allowed. */
struct number_row {
    const char *member;
    size_t offset;
    double min, max;
    int flags;
};

#define LARGEST 1e100
#define COUNT   1e9
#define EXACT   9007199254740991.0 /* above it not every whole number is a double */

#define ROW(T, m, min, max, flags)                 \
    {                                              \
#m, offsetof(struct T, m), min, max, flags \
    }

static const struct number_row resource_rows[] = {
    ROW(resource, mips_total, 0, DBL_MAX, 0),
    ROW(resource, mips_external, 0, DBL_MAX, 0),
    ROW(resource, cpu_available_ratio, 0, 1, 0),
    ROW(resource, cpus, 0, COUNT, OPTIONAL),
    ROW(resource, memory_bytes, 0, LARGEST, OPTIONAL),
    ROW(resource, n_max, 0, COUNT, OPTIONAL | WHOLE),
    ROW(resource, job_count, 0, COUNT, WHOLE),
    ROW(resource, ready_s, 0, LARGEST, 0),
    ROW(resource, fixed_priority, 0, 99, 0),
    {0},
};

static const struct number_row job_rows[] = {
    ROW(job, estimate_ref_s, 0, DBL_MAX, OPTIONAL),
    ROW(job, cpus, 0, COUNT, 0),
    ROW(job, memory_bytes, 0, LARGEST, 0),
    ROW(job, output_bytes, 0, LARGEST, 0),
    ROW(job, release_s, 0, LARGEST, 0),
    ROW(job, deadline_s, -LARGEST, LARGEST, OPTIONAL),
    ROW(job, queued_at_s, -LARGEST, LARGEST, OPTIONAL),
    ROW(job, deadline_at_s, -LARGEST, LARGEST, OPTIONAL),
    ROW(job, fixed_priority, 0, 20, 0),
    ROW(job, task_index, 0, EXACT, OPTIONAL | WHOLE),
    ROW(job, param_start, -COUNT, COUNT, OPTIONAL | WHOLE),
    ROW(job, param_increment, -COUNT, COUNT, OPTIONAL | WHOLE),
    {0},
};

static const struct number_row file_rows[] = {
    ROW(file, bytes, 0, LARGEST, 0),
    {0},
};

static const struct number_row route_rows[] = {
    ROW(network_route, bandwidth_mbps, DBL_MIN, DBL_MAX, 0),
    ROW(network_route, latency_s, 0, LARGEST, 0),
    {0},
};

static const struct number_row network_rows[] = {
    ROW(network, wan_mbps, DBL_MIN, DBL_MAX, OPTIONAL),
    ROW(network, wan_latency_s, 0, LARGEST, OPTIONAL),
    ROW(network, lan_mbps, DBL_MIN, DBL_MAX, OPTIONAL),
    ROW(network, lan_latency_s, 0, LARGEST, OPTIONAL),
    {0},
};

static const struct number_row user_rows[] = {
    ROW(placement_user, share, 1, LARGEST, 0),
    ROW(placement_user, running_jobs, 0, LARGEST, 0),
    {0},
};

static const struct number_row usage_rows[] = {
    ROW(placement_usage, mean_s, 0, LARGEST, OPTIONAL),
    ROW(placement_usage, last_s, 0, LARGEST, OPTIONAL),
    ROW(placement_usage, first_failure_at_s, -LARGEST, LARGEST, OPTIONAL),
    ROW(placement_usage, banned_until_s, -LARGEST, LARGEST, OPTIONAL),
    {0},
};

static void check_numbers(const void *object, const struct number_row *rows,
                          const char *path, struct error *err)
{
    for (; rows->member; rows++) {
        double value;
        char pointer[160];

        memcpy(&value, (const char *)object + rows->offset, sizeof(value));
        if (isnan(value) ? rows->flags & OPTIONAL
                         : value >= rows->min && value <= rows->max &&
                               (!(rows->flags & WHOLE) || value == floor(value)))
            continue;
        snprintf(pointer, sizeof(pointer), "%s/%s", path, rows->member);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS,
                "%g is not a%s number between %g and %g", value,
                rows->flags & WHOLE ? " whole" : "", rows->min, rows->max);
    }
}

/* Checks that the text is there and, with an index, that it is new. */
static void check_id(const char *id, struct name_index *seen, size_t i, const char *path,
                     const char *member, struct error *err)
{
    char pointer[160];
    size_t before = NAME_NOT_FOUND;

    if (id && *id && seen)
        before = name_index_add(seen, id, i);
    if (id && *id && before == NAME_NOT_FOUND)
        return;
    snprintf(pointer, sizeof(pointer), "%s/%s", path, member);
    if (!id || !*id)
        invalid(err, pointer, ITEM_REQUIRED, "must be a text that is not empty");
    else
        invalid(err, pointer, ITEM_DUPLICATE, "'%.100s' is also the id of element %zu",
                id, before);
}

static void check_grants(const struct resource *r, const char *path, struct error *err)
{
    for (size_t k = 0; k < r->allowed_count; k++) {
        const char *grant = r->allowed[k];
        char pointer[160];

        if (grant && (strncmp(grant, "user:", 5) == 0 || strncmp(grant, "vo:", 3) == 0))
            continue;
        snprintf(pointer, sizeof(pointer), "%s/allowed/%zu", path, k);
        invalid(err, pointer, ITEM_NOT_A_GRANT, "must be user:NAME or vo:NAME");
    }
}

static void check_resources(const struct snapshot *s, struct name_index *ids,
                            struct error *err)
{
    for (size_t i = 0; i < s->resource_count; i++) {
        const struct resource *r = &s->resources[i];
        char path[64];

        snprintf(path, sizeof(path), "/snapshot/resources/%zu", i);
        check_id(r->id, ids, i, path, "id", err);
        check_numbers(r, resource_rows, path, err);
        check_grants(r, path, err);
    }
}

static void check_matrix(const struct job *job, size_t resource_count, const char *path,
                         struct error *err)
{
    char pointer[160];

    if (job->etc_count != 0 && job->etc_count != resource_count) {
        snprintf(pointer, sizeof(pointer), "%s/etc_s", path);
        invalid(err, pointer, ITEM_WRONG_LENGTH,
                "has %s for %s; give one for each, null where the job cannot run",
                counted(job->etc_count, "time").text,
                counted(resource_count, "resource").text);
        return;
    }
    for (size_t k = 0; k < job->etc_count; k++) {
        if (isnan(job->etc_s[k]) || job->etc_s[k] >= 0)
            continue;
        snprintf(pointer, sizeof(pointer), "%s/etc_s/%zu", path, k);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "%g is not a time", job->etc_s[k]);
    }
}

static void check_jobs(const struct placement_in *in, struct name_index *ids,
                       struct error *err)
{
    for (size_t i = 0; i < in->job_count; i++) {
        const struct job *job = &in->jobs[i];
        char path[64];

        if (job->copy)
            continue;
        snprintf(path, sizeof(path), "/jobs/%zu", i);
        check_id(job->id, ids, i, path, "id", err);
        check_numbers(job, job_rows, path, err);
        check_matrix(job, in->snapshot->resource_count, path, err);
    }
}

static void check_network(const struct network *n, struct error *err)
{
    check_numbers(n, network_rows, "/snapshot/network", err);
    for (size_t i = 0; i < n->route_count; i++) {
        char path[64];

        snprintf(path, sizeof(path), "/snapshot/network/routes/%zu", i);
        check_id(n->routes[i].from_site_id, NULL, i, path, "from_site_id", err);
        check_id(n->routes[i].to_site_id, NULL, i, path, "to_site_id", err);
        check_numbers(&n->routes[i], route_rows, path, err);
    }
}

static void check_files(const struct snapshot *s, struct name_index *ids,
                        struct error *err)
{
    for (size_t i = 0; i < s->file_count; i++) {
        const struct file *f = &s->files[i];
        char path[64], pointer[80];

        snprintf(path, sizeof(path), "/snapshot/files/%zu", i);
        snprintf(pointer, sizeof(pointer), "%s/site_ids", path);
        check_id(f->id, ids, i, path, "id", err);
        check_numbers(f, file_rows, path, err);
        if (f->site_count == 0)
            invalid(err, pointer, ITEM_NO_REPLICA, "a file must be at one site at least");
        for (size_t k = 0; k < f->site_count; k++) {
            char member[40];

            snprintf(member, sizeof(member), "site_ids/%zu", k);
            check_id(f->site_ids[k], NULL, k, path, member, err);
        }
    }
}

static void check_users(const struct placement_in *in, struct name_index *ids,
                        struct error *err)
{
    for (size_t i = 0; i < in->user_count; i++) {
        const struct placement_user *u = &in->users[i];
        char path[64];

        snprintf(path, sizeof(path), "/users/%zu", i);
        check_id(u->user, ids, i, path, "user", err);
        check_numbers(u, user_rows, path, err);
        for (size_t k = 0; k < u->window_count; k++) {
            char pointer[120];

            if (u->dispatched_by_window[k] >= 0 && u->dispatched_by_window[k] <= LARGEST)
                continue;
            snprintf(pointer, sizeof(pointer), "%s/dispatched_by_window/%zu", path, k);
            invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "%g is not a number of jobs",
                    u->dispatched_by_window[k]);
        }
    }
}

static void check_usage(const struct placement_in *in, const struct name_index *resources,
                        struct error *err)
{
    for (size_t i = 0; i < in->usage_count; i++) {
        const struct placement_usage *u = &in->usage[i];
        char path[64], pointer[96];

        snprintf(path, sizeof(path), "/usage/%zu", i);
        check_id(u->user, NULL, i, path, "user", err);
        check_numbers(u, usage_rows, path, err);
        snprintf(pointer, sizeof(pointer), "%s/resource_id", path);
        if (!u->resource_id)
            invalid(err, pointer, ITEM_REQUIRED, "must name a resource");
        else if (name_index_find(resources, u->resource_id) == NAME_NOT_FOUND)
            invalid(err, pointer, ITEM_UNKNOWN_ID, "no resource '%.100s'",
                    u->resource_id);
    }
}

enum error_code check_request(const struct placement_in *in, struct name_index *resources,
                              struct name_index *files, struct arena *a,
                              struct error *err)
{
    struct name_index jobs, users;
    size_t before = err->item_count;

    name_index_create(resources, in->snapshot->resource_count, a);
    name_index_create(files, in->snapshot->file_count, a);
    name_index_create(&jobs, in->job_count, a);
    name_index_create(&users, in->user_count, a);
    check_resources(in->snapshot, resources, err);
    check_network(&in->snapshot->network, err);
    check_files(in->snapshot, files, err);
    check_jobs(in, &jobs, err);
    check_users(in, &users, err);
    check_usage(in, resources, err);
    return err->item_count > before ? ERR_INVALID : OK;
}
