/* placement/problem.c - a request made ready to be decided. */
#include "algorithms/placement/problem.h"

#include "algorithms/placement/check.h"
#include "algorithms/placement/classes.h"
#include "algorithms/placement/files.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/priority.h"
#include "algorithms/placement/select.h"
#include "models/base/order.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    WARNINGS_MAX = 64,
    TRANSFERS_MAX = 1 << 20, /* entries of the table file x site */
};

bool problem_warn(struct placement_problem *p, const char *format, ...)
{
    va_list args;

    if (!p->warnings)
        p->warnings = NEW(p->arena, const char *, WARNINGS_MAX);
    if (p->warning_count == WARNINGS_MAX)
        return true;
    va_start(args, format);
    p->warnings[p->warning_count] = arena_vprintf(p->arena, format, args);
    va_end(args);
    return p->warnings[p->warning_count++] != NULL;
}

/* ---- sites and files ---- */

/* Number of the site of that name; a new one for a new name. */
static size_t site_number(struct placement_problem *p, struct name_index *names,
                          const char *name)
{
    size_t known = name_index_add(names, name, p->site_count);

    if (known != NAME_NOT_FOUND)
        return known;
    p->site_ids[p->site_count] = name;
    return p->site_count++;
}

static void read_routes(struct placement_problem *p, struct name_index *sites)
{
    const struct network *n = &p->in->snapshot->network;

    p->routes = NEW(p->arena, struct pair_map, 1);
    pair_map_create(p->routes, n->route_count, p->arena);
    for (size_t i = 0; i < n->route_count; i++) {
        size_t from = site_number(p, sites, n->routes[i].from_site_id);
        size_t to = site_number(p, sites, n->routes[i].to_site_id);
        struct pair_place *place = pair_map_at(p->routes, from, to);

        if (!place->a) /* the first of several counts */
            *place = (struct pair_place){from + 1, to, i};
    }
}

static void read_replicas(struct placement_problem *p, struct name_index *sites)
{
    const struct snapshot *s = p->in->snapshot;
    size_t count = 0;

    for (size_t f = 0; f < s->file_count; f++)
        count += s->files[f].site_count;
    p->file_first = NEW(p->arena, size_t, s->file_count + 1);
    p->file_sites = NEW(p->arena, size_t, count);
    count = 0;
    for (size_t f = 0; f < s->file_count; f++) {
        p->file_first[f] = count;
        for (size_t k = 0; k < s->files[f].site_count; k++)
            p->file_sites[count++] = site_number(p, sites, s->files[f].site_ids[k]);
    }
    p->file_first[s->file_count] = count;
}

/* Seconds to move the bytes; HUGE_VAL: no way. */
static double route_s(const struct placement_problem *p, double bytes, size_t from,
                      size_t to)
{
    const struct network *n = &p->in->snapshot->network;
    const struct pair_place *place = pair_map_at(p->routes, from, to);
    double time_s;

    if (!place->a)
        place = pair_map_at(p->routes, to, from);
    if (place->a) {
        const struct network_route *r = &n->routes[place->value];

        time_s = transfer_s(bytes, r->bandwidth_mbps, r->latency_s);
    } else if (from == to) {
        if (isnan(n->lan_mbps))
            return 0;
        time_s = transfer_s(bytes, n->lan_mbps,
                            isnan(n->lan_latency_s) ? 0 : n->lan_latency_s);
    } else {
        if (isnan(n->wan_mbps))
            return HUGE_VAL;
        time_s = transfer_s(bytes, n->wan_mbps,
                            isnan(n->wan_latency_s) ? 0 : n->wan_latency_s);
    }
    return time_s <= LONGEST_S ? time_s : HUGE_VAL;
}

static double nearest_replica_s(const struct placement_problem *p, size_t file,
                                size_t site)
{
    bool by_resource = (int)p->common[COMMON_FILE_SCOPE] == SCOPE_RESOURCE;
    double bytes = p->in->snapshot->files[file].bytes;
    double least_s = HUGE_VAL;

    for (size_t k = p->file_first[file]; k < p->file_first[file + 1]; k++) {
        size_t from = p->file_sites[k];

        if (from == site && !by_resource)
            return 0;
        least_s = fmin(least_s, route_s(p, bytes, from, site));
    }
    return least_s;
}

double problem_transfer_s(const struct placement_problem *p, size_t file, size_t site)
{
    if (p->transfer_s)
        return p->transfer_s[file * p->site_count + site];
    return nearest_replica_s(p, file, site);
}

double problem_output_s(const struct placement_problem *p, const struct problem_job *job,
                        size_t pos)
{
    size_t site = p->resources[pos].site;

    if (!p->has_outputs || job->given->output_bytes <= 0 || p->home_site == NO_INDEX ||
        site == p->home_site)
        return 0;
    return route_s(p, job->given->output_bytes, site, p->home_site);
}

static void tabulate_transfers(struct placement_problem *p)
{
    size_t files = p->in->snapshot->file_count;
    double *table;

    if (!p->has_files || files > TRANSFERS_MAX || files * p->site_count > TRANSFERS_MAX)
        return;
    table = NEW(p->arena, double, files * p->site_count);
    for (size_t f = 0; f < files; f++)
        for (size_t s = 0; s < p->site_count; s++) {
            if (budget_step(p->in->budget, 1 + p->file_first[f + 1] - p->file_first[f]))
                return; /* who asks for one works it out */
            table[f * p->site_count + s] = nearest_replica_s(p, f, s);
        }
    p->transfer_s = table;
}

/* Sites are named by resources, files, routes and the home site. A resource
 * without one is a site of its own. */
static void read_sites(struct placement_problem *p)
{
    const struct snapshot *s = p->in->snapshot;
    size_t room = p->resource_count + 2 * s->network.route_count + 1;
    struct name_index sites;

    for (size_t f = 0; f < s->file_count; f++)
        room += s->files[f].site_count;
    p->site_ids = NEW(p->arena, const char *, room);
    name_index_create(&sites, room, p->arena);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct problem_resource *r = &p->resources[pos];

        r->site = r->given->site_id ? site_number(p, &sites, r->given->site_id)
                                    : p->site_count++;
    }
    read_routes(p, &sites);
    read_replicas(p, &sites);
    p->home_site = s->home_site_id ? site_number(p, &sites, s->home_site_id) : NO_INDEX;
    p->store_count = p->site_count;
    if ((int)p->common[COMMON_FILE_SCOPE] == SCOPE_RESOURCE)
        p->store_count = p->resource_count;
    for (size_t pos = 0; pos < p->resource_count; pos++)
        p->resources[pos].store = (int)p->common[COMMON_FILE_SCOPE] == SCOPE_RESOURCE
                                      ? pos
                                      : p->resources[pos].site;
}

/* Numbers the architectures; needed only for file names with variables. */
static void read_archs(struct placement_problem *p)
{
    struct name_index names;

    p->archs = NEW(p->arena, const char *, p->resource_count);
    name_index_create(&names, p->resource_count, p->arena);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct problem_resource *r = &p->resources[pos];

        for (size_t k = 0; k < r->given->attribute_count && r->arch == NO_INDEX; k++) {
            const struct named_value *v = &r->given->attributes[k];

            if (!v->name || v->type != VALUE_TEXT || strcasecmp(v->name, "arch") != 0)
                continue;
            r->arch = name_index_add(&names, v->text, p->arch_count);
            if (r->arch == NAME_NOT_FOUND) {
                r->arch = p->arch_count;
                p->archs[p->arch_count++] = v->text;
            }
        }
    }
}

/* ---- resources ---- */

/* Running jobs of the request by resource, in the order of the request. */
struct running_list {
    size_t *first, *last, *count; /* by snapshot index; NO_INDEX: none */
    size_t *next;                 /* by running job */
};

static void list_running(const struct placement_problem *p, struct running_list *l)
{
    size_t m = p->resource_count, n = p->in->running_at ? p->in->running_count : 0;

    l->first = NEW(p->arena, size_t, m);
    l->last = NEW(p->arena, size_t, m);
    l->count = NEW(p->arena, size_t, m);
    l->next = NEW(p->arena, size_t, n);
    for (size_t i = 0; i < m; i++)
        l->first[i] = NO_INDEX;
    for (size_t i = 0; i < n; i++) {
        size_t at = p->in->running_at[i];

        l->next[i] = NO_INDEX;
        if (at >= m)
            continue;
        if (l->count[at]++ == 0)
            l->first[at] = i;
        else
            l->next[l->last[at]] = i;
        l->last[at] = i;
    }
}

/* Only cpus and memory limit how many jobs run there at a time. */
static bool opens(const struct resource *r)
{
    return isnan(r->n_max) && !isnan(r->cpus);
}

/* Slots 0 .. job_count-1 are busy, in the order of free_at_s. With more jobs than
 * slots, slot k is free when all but n_max - 1 - k of the jobs have ended; `more`: there
 * are always more slots. */
static void read_slots(struct placement_problem *p, struct problem_resource *r, bool more)
{
    size_t busy = (size_t)r->given->job_count;
    size_t listed = r->given->free_at_count < busy ? r->given->free_at_count : busy;
    struct problem_slot *slots;
    double *times;
    size_t skipped;

    r->slot_count = resource_slots(r->given);
    if (more && r->slot_count <= busy)
        r->slot_count = busy + 1;
    r->free_slot = busy < r->slot_count ? busy : r->slot_count;
    r->first_free_s = r->free_slot < r->slot_count ? r->given->ready_s : HUGE_VAL;
    skipped = busy > r->slot_count ? busy - r->slot_count : 0;
    if (listed == 0 || r->slot_count == 0)
        return;
    slots = NEW(p->arena, struct problem_slot, listed);
    times = NEW(p->arena, double, listed);
    for (size_t k = 0; k < listed; k++) {
        double at_s = r->given->free_at_s[k];

        times[k] =
            isnan(at_s) || at_s > LONGEST_S ? HUGE_VAL : fmax(at_s, r->given->ready_s);
    }
    if (skipped)
        sort_numbers(times, listed);
    for (size_t k = skipped; k < listed; k++) {
        if (times[k] > LONGEST_S)
            continue;
        slots[r->busy_count++] = (struct problem_slot){times[k], k - skipped};
        r->first_free_s = fmin(r->first_free_s, times[k]);
    }
    r->busy = slots;
}

/* When slot `slot` is free; HUGE_VAL: not known. *at: place in the busy slots, which go
 * by number, as slots that are asked for do. */
static double slot_free_s(const struct problem_resource *r, size_t slot, size_t *at)
{
    while (*at < r->busy_count && r->busy[*at].slot < slot)
        ++*at;
    return *at < r->busy_count && r->busy[*at].slot == slot ? r->busy[*at].free_s
                                                            : HUGE_VAL;
}

static void add_hold(struct problem_resource *r, struct problem_hold *holds,
                     struct problem_hold h)
{
    h.number = r->hold_count;
    holds[r->hold_count++] = h;
    if (h.end_s < HUGE_VAL)
        return;
    r->cpus_held += h.cpus;
    r->memory_held_bytes += h.memory_bytes;
}

/* What ends first comes first; equal ends in the order in which they were found. */
static int by_end(const void *a, const void *b)
{
    const struct problem_hold *x = a, *y = b;

    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The k-th running job that the request names holds what it needs until the k-th busy
 * slot is free; a busy slot without such a job holds its part of cpus and memory. */
static void read_holds(struct placement_problem *p, struct problem_resource *r,
                       const struct running_list *running)
{
    double slots = (double)resource_slots(r->given);
    size_t named = running->count[r->index], k = 0, at = 0, never;
    struct problem_hold *holds;

    if (r->free_slot + named == 0)
        return;
    holds = NEW(p->arena, struct problem_hold, named + r->busy_count + 1);
    for (size_t i = running->first[r->index]; i != NO_INDEX; i = running->next[i], k++) {
        const struct problem_job *j = &p->jobs[problem_pending(p) + i];

        add_hold(r, holds,
                 (struct problem_hold){.end_s = slot_free_s(r, k, &at),
                                       .cpus = j->cpus,
                                       .memory_bytes = j->memory_bytes});
    }
    never = r->free_slot > named ? r->free_slot - named : 0;
    for (size_t i = 0; i < r->busy_count; i++) {
        if (r->busy[i].slot < named)
            continue;
        never--;
        add_hold(r, holds,
                 (struct problem_hold){.end_s = r->busy[i].free_s,
                                       .cpus = r->cpus / slots,
                                       .memory_bytes = r->memory_bytes / slots});
    }
    if (never > 0)
        add_hold(r, holds,
                 (struct problem_hold){.end_s = HUGE_VAL,
                                       .cpus = r->cpus / slots * (double)never,
                                       .memory_bytes =
                                           r->memory_bytes / slots * (double)never});
    qsort(holds, r->hold_count, sizeof(*holds), by_end);
    r->holds = holds;
}

/* Without n_max only cpus and memory limit how many run at a time: as many slots as the
 * least of the jobs' needs leaves room for. */
static void open_slots(const struct placement_problem *p, struct problem_resource *r)
{
    double most = (double)p->job_count + (double)r->free_slot;

    if (!opens(r->given))
        return;
    if (p->least_cpus > 0)
        most = fmin(most, floor(r->cpus * ROUNDING / p->least_cpus));
    if (most > (double)r->slot_count)
        r->slot_count = (size_t)most;
}

static void read_resource(struct placement_problem *p, struct problem_resource *r,
                          size_t index, const struct running_list *running)
{
    const struct resource *given = &p->in->snapshot->resources[index];

    r->given = given;
    r->index = index;
    r->speed_mips = resource_speed_mips(given);
    r->cpus = isnan(given->cpus) ? HUGE_VAL : given->cpus;
    r->memory_bytes = isnan(given->memory_bytes) ? HUGE_VAL : given->memory_bytes;
    r->capacity = r->cpus < HUGE_VAL || r->memory_bytes < HUGE_VAL;
    r->arch = NO_INDEX;
    p->has_capacity = p->has_capacity || r->capacity;
    if (given->job_count > 0 || given->ready_s > 0)
        p->all_free = false;
    read_slots(p, r, opens(given) && running->count[index]);
    if (!r->capacity)
        return;
    read_holds(p, r, running);
    open_slots(p, r);
}

static int by_speed(const void *a, const void *b)
{
    const struct problem_resource *x = a, *y = b;

    if (x->speed_mips != y->speed_mips)
        return x->speed_mips > y->speed_mips ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void read_resources(struct placement_problem *p)
{
    size_t count = p->resource_count;
    struct running_list running;

    p->block_count = (count + BLOCK - 1) / BLOCK;
    p->resources = NEW(p->arena, struct problem_resource, count);
    p->position_of = NEW(p->arena, size_t, count);
    p->slowness = NEW(p->arena, double, count);
    p->block_slowness = NEW(p->arena, double, p->block_count);
    p->speed_mips = NEW(p->arena, double, count);
    p->cpus = NEW(p->arena, double, count);
    p->memory_bytes = NEW(p->arena, double, count);
    p->all_free = true;
    list_running(p, &running);
    for (size_t i = 0; i < count; i++)
        read_resource(p, &p->resources[i], i, &running);
    if (!p->has_matrix)
        qsort(p->resources, count, sizeof(*p->resources), by_speed);
    for (size_t pos = 0; pos < count; pos++) {
        double speed = p->resources[pos].speed_mips;
        size_t block = pos / BLOCK;

        p->position_of[p->resources[pos].index] = pos;
        p->cpus[pos] = p->resources[pos].cpus;
        p->memory_bytes[pos] = p->resources[pos].memory_bytes;
        p->speed_mips[pos] = speed;
        p->slowness[pos] = speed > 0 ? 1 / speed : HUGE_VAL;
        if (pos % BLOCK == 0 || p->slowness[pos] < p->block_slowness[block])
            p->block_slowness[block] = p->slowness[pos];
    }
}

/* ---- jobs ---- */

static void read_jobs(struct placement_problem *p)
{
    size_t users = 0;

    for (size_t i = 0; i < p->job_count; i++)
        users += p->in->jobs[i].user != NULL;
    p->jobs = NEW(p->arena, struct problem_job, p->job_count);
    name_index_create(&p->user_numbers, users, p->arena);
    p->user_count = 1;
    p->least_cpus = p->least_memory_bytes = p->job_count ? HUGE_VAL : 0;
    for (size_t i = 0; i < p->job_count; i++) {
        const struct job *given = &p->in->jobs[i];
        struct problem_job *j = &p->jobs[i];

        j->given = given;
        j->etc_s = given->etc_count ? given->etc_s : NULL;
        j->estimate_ref_s = given->estimate_ref_s;
        j->cpus = given->cpus;
        j->memory_bytes = given->memory_bytes;
        j->release_s = given->release_s;
        j->deadline_s = given->deadline_s;
        if (isnan(j->deadline_s))
            j->deadline_s = given->deadline_at_s - p->in->snapshot->taken_at_s;
        if (given->user && *given->user) {
            j->user = name_index_add(&p->user_numbers, given->user, p->user_count);
            if (j->user == NAME_NOT_FOUND)
                j->user = p->user_count++;
        }
        p->least_cpus = fmin(p->least_cpus, j->cpus);
        p->least_memory_bytes = fmin(p->least_memory_bytes, j->memory_bytes);
        p->has_files = p->has_files || given->input_file_count;
        p->has_matrix = p->has_matrix || j->etc_s;
        p->has_release = p->has_release || j->release_s > 0;
        p->has_outputs = p->has_outputs || given->output_bytes > 0;
    }
}

/* A number for the content of a row; times that compare equal count as equal. */
static uint64_t row_hash(const double *row, size_t count)
{
    uint64_t hash = count;

    for (size_t k = 0; k < count; k++) {
        uint64_t bits = 0;

        if (isnan(row[k]))
            bits = 1;
        else if (row[k] != 0)
            memcpy(&bits, &row[k], sizeof(bits));
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool rows_equal(const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k] != b[k] && !(isnan(a[k]) && isnan(b[k])))
            return false;
    return true;
}

/* Numbers the rows of the matrix: the first job that has it, and 1. O(n * m). */
static void number_rows(struct placement_problem *p)
{
    struct pair_map rows;

    if (!p->has_matrix)
        return;
    pair_map_create(&rows, p->job_count, p->arena);
    for (size_t i = 0; i < p->job_count; i++) {
        struct problem_job *j = &p->jobs[i];
        struct pair_place *place;
        uint64_t hash;

        if (!j->etc_s)
            continue;
        j->row = i + 1;
        hash = row_hash(j->etc_s, p->resource_count);
        place = pair_map_at(&rows, (size_t)(hash >> 1), 0);
        if (!place->a)
            *place = (struct pair_place){(size_t)(hash >> 1) + 1, 0, i};
        else if (rows_equal(j->etc_s, p->jobs[place->value].etc_s, p->resource_count))
            j->row = place->value + 1;
    }
}

static int compare(double a, double b)
{
    a = isnan(a) ? -1 : a;
    b = isnan(b) ? -1 : b;
    return (a > b) - (a < b);
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_files(const struct problem_job *a, const struct problem_job *b)
{
    int c = compare_sizes(a->file_count, b->file_count);

    if (c == 0)
        c = compare_sizes(a->by_arch, b->by_arch);
    if (c || a->by_arch) /* jobs with names by architecture stay apart */
        return c;
    for (size_t k = 0; k < a->file_count && c == 0; k++)
        c = compare_sizes(a->files[k], b->files[k]);
    return c;
}

/* 0: nothing but the estimate differs. */
static int compare_kinds(const struct problem_job *a, const struct problem_job *b)
{
    int c = compare_sizes(a->job_class, b->job_class);

    if (c == 0)
        c = compare_sizes(a->row, b->row);
    if (c == 0 && !a->row)
        c = compare_sizes(a->estimate_ref_s >= 0, b->estimate_ref_s >= 0);
    if (c == 0)
        c = compare(a->cpus, b->cpus);
    if (c == 0)
        c = compare(a->memory_bytes, b->memory_bytes);
    if (c == 0)
        c = compare(a->release_s, b->release_s);
    if (c == 0)
        c = compare(a->given->output_bytes, b->given->output_bytes);
    if (c == 0)
        c = compare_files(a, b);
    if (c == 0 && a->by_arch && a != b)
        c = a < b ? -1 : 1;
    return c;
}

static int by_stream(const void *a, const void *b, void *jobs)
{
    const struct problem_job *x = (struct problem_job *)jobs + *(const size_t *)a;
    const struct problem_job *y = (struct problem_job *)jobs + *(const size_t *)b;
    int c = compare_kinds(x, y);

    if (c == 0 && !x->etc_s)
        c = compare(x->estimate_ref_s, y->estimate_ref_s);
    return c ? c : (x > y) - (x < y);
}

static void make_streams(struct placement_problem *p)
{
    size_t n = p->job_count, room = 0;

    p->stream_jobs = NEW(p->arena, size_t, n);
    for (size_t i = 0; i < n; i++)
        p->stream_jobs[i] = i;
    qsort_r(p->stream_jobs, n, sizeof(size_t), by_stream, p->jobs);
    for (size_t i = 0; i < n; i++) {
        struct problem_job *j = &p->jobs[p->stream_jobs[i]];

        if (i == 0 || compare_kinds(&p->jobs[p->stream_jobs[i - 1]], j) != 0) {
            if (p->stream_count == room) {
                room = room ? 2 * room : 16;
                p->streams = GROW(p->arena, p->streams, struct problem_stream,
                                  p->stream_count, room);
            }
            p->streams[p->stream_count++].first = i;
        }
        p->streams[p->stream_count - 1].count++;
        j->stream = p->stream_count - 1;
    }
}

/* ---- filters behind the requirement ---- */

enum filter problem_need_filter(const struct placement_problem *p,
                                const struct problem_job *job, size_t pos, bool estimate)
{
    const struct problem_resource *r = &p->resources[pos];
    const size_t *files;

    if (job->cpus > r->cpus)
        return FILTER_CPUS;
    if (job->memory_bytes > r->memory_bytes)
        return FILTER_MEMORY;
    if (estimate || job->etc_s || !isnan(job->estimate_ref_s)
            ? problem_execution_s(p, job, pos) > LONGEST_S
            : r->speed_mips <= 0)
        return FILTER_NO_ESTIMATE;
    if (job->file_count) {
        files = problem_files(p, job, pos);
        for (size_t k = 0; k < job->file_count; k++)
            if (!files || files[k] == NO_INDEX)
                return FILTER_FILE_UNRESOLVED;
        for (size_t k = 0; k < job->file_count; k++)
            if (problem_transfer_s(p, files[k], r->site) > LONGEST_S)
                return FILTER_FILE_UNREACHABLE;
    }
    if (problem_output_s(p, job, pos) > LONGEST_S)
        return FILTER_FILE_UNREACHABLE;
    if (r->first_free_s > LONGEST_S || job->cpus + r->cpus_held > r->cpus * ROUNDING ||
        job->memory_bytes + r->memory_held_bytes > r->memory_bytes * ROUNDING)
        return FILTER_NEVER_FREE;
    return FILTER_PASSED;
}

/* File names and expressions, with the mistakes of both. */
static enum error_code read_names(struct placement_problem *p,
                                  const struct name_index *files, struct error *err)
{
    enum error_code code = files_resolve(p, files, err);

    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(select_prepare(p, err));
    return code;
}

/* After other mistakes: adds those of file names and expressions. */
static enum error_code check_texts(struct placement_problem *p,
                                   const struct name_index *files, struct error *err)
{
    if (err->code != ERR_INVALID)
        return err->code;
    p->resource_count = 0;
    read_jobs(p);
    TRY(read_names(p, files, err));
    return ERR_INVALID;
}

/* Options that only decisions about amounts have. */
static enum error_code check_options(const struct placement_in *in, const double *common,
                                     struct error *err)
{
    double max_nodes = common[COMMON_MAX_NODES];
    double preset = placement_common_params[COMMON_MAX_NODES].preset;
    enum error_code code = OK;

    if (in->world)
        return OK;
    if (common[COMMON_JOB_ORDER] >= ORDER_AMOUNTS)
        code = invalid(err, "/options/job_order", ITEM_NOT_ALLOWED,
                       "only POST /v1/placements has orders beyond fifo and "
                       "gridway_priority");
    if (common[COMMON_PLAN_WITH] > PLAN_WITH_ESTIMATE)
        code = invalid(err, "/options/plan_with", ITEM_NOT_ALLOWED,
                       "only POST /v1/placements plans with limits");
    if (max_nodes > 0 && max_nodes != preset) /* 0: the options have mistakes */
        code = invalid(err, "/options/max_nodes", ITEM_NOT_ALLOWED,
                       "only POST /v1/placements searches for the largest "
                       "started_now_weight");
    if (common[COMMON_ASSUME_PREEMPTED] > 0)
        code = invalid(err, "/options/assume_preempted", ITEM_NOT_ALLOWED,
                       "only POST /v1/placements proposes what to stop");
    return code;
}

enum error_code problem_prepare(const struct placement_in *in, const double *common,
                                struct placement_problem *p, struct arena *a,
                                struct error *err)
{
    struct name_index resources, files;
    enum error_code options;

    memset(p, 0, sizeof(*p));
    p->in = in;
    p->common = common;
    p->arena = a;
    p->job_count = in->job_count;
    p->resource_count = in->snapshot->resource_count;
    options = check_options(in, common, err);
    if (check_request(in, &resources, &files, a, err) != OK)
        return check_texts(p, &files, err);
    TRY(options);
    read_jobs(p);
    read_resources(p);
    number_rows(p);
    read_sites(p);
    tabulate_transfers(p);
    if (p->has_files)
        read_archs(p);
    TRY(read_names(p, &files, err));
    classes_make(p);
    make_streams(p);
    priority_job_order(p);
    return OK;
}
