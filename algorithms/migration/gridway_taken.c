/* migration/gridway_taken.c - running jobs of a request as rows of what runs. */
#include "algorithms/migration/gridway_taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows with such ids are of jobs that are asked for another place. */
#define HIDDEN "\001"

/* While rows are made. */
struct taken_maker {
    const struct gridway_request *request;
    struct gridway_taken *out;
    struct resource *resources;
    struct name_index jobs;  /* of the request, by id: number */
    struct name_index given; /* ids of the snapshot's own rows */
    struct taken_reservation *reservations;
    size_t *used; /* by resource: slots of jobs of the request */
    struct arena *arena;
};

static const char *hidden_id(const struct taken_maker *m, const char *id)
{
    return arena_printf(m->arena, HIDDEN "%s", id);
}

/* ---- when it ends ---- */

/* Time of the job's rest on the resource; NAN: not known. */
static double rest_s(const struct reschedule_job *j, const struct resource *r,
                     size_t index)
{
    double whole_ref_s = j->job.estimate_ref_s, done_ref_s = j->work_done_ref_s;
    double speed_mips = resource_speed_mips(r), rest;

    if (j->job.etc_count && isnan(j->job.etc_s[index]))
        return NAN;
    if (j->job.etc_count)
        rest = j->job.etc_s[index] *
               (whole_ref_s > 0 ? (whole_ref_s - done_ref_s) / whole_ref_s : 1);
    else if (!isnan(whole_ref_s))
        rest = speed_mips > 0 ? (whole_ref_s - done_ref_s) / speed_mips : (double)NAN;
    else
        rest = j->job.estimate_s - done_ref_s;
    return rest <= LONGEST_S ? fmax(rest, 0) : (double)NAN;
}

static double end_s(const struct taken_maker *m, size_t number)
{
    const struct snapshot *s = m->request->in->round.snapshot;
    const struct reschedule_job *j = &m->request->in->jobs[number];
    const struct gridway_nodes *nodes = &m->request->nodes[number];
    double last_s = 0;

    for (size_t k = 0; k < nodes->count; k++) {
        const struct resource *r = &s->resources[nodes->at[k]];
        size_t slot = m->used[nodes->at[k]];
        double at_s = slot < r->free_at_count && !isnan(r->free_at_s[slot])
                          ? r->free_at_s[slot]
                          : rest_s(j, r, nodes->at[k]);

        last_s = isnan(at_s) || isnan(last_s) ? (double)NAN : fmax(last_s, at_s);
    }
    return last_s;
}

/* ---- rows ---- */

static const char *const *ids_of(const struct taken_maker *m,
                                 const struct gridway_nodes *nodes)
{
    const struct snapshot *s = m->request->in->round.snapshot;
    const char **ids = NEW(m->arena, const char *, nodes->count);

    for (size_t k = 0; k < nodes->count; k++)
        ids[k] = s->resources[nodes->at[k]].id;
    return ids;
}

/* Needs of the names in shared_capacities, or the others. */
static const struct named_value *needs_of(const struct taken_maker *m,
                                          const struct job *j, bool shared, size_t *count)
{
    const struct snapshot *s = m->request->in->round.snapshot;
    struct named_value *list = NEW(m->arena, struct named_value, j->need_count);

    *count = 0;
    for (size_t k = 0; k < j->need_count; k++) {
        bool found = false;

        for (size_t i = 0; i < s->shared_capacity_count && !found; i++)
            found = strcmp(j->needs[k].name, s->shared_capacities[i].name) == 0;
        if (found == shared)
            list[(*count)++] = j->needs[k];
    }
    return list;
}

/* What is on no resource goes with the job: it is held wherever that moves, and nobody
 * who starts later may count on it. */
static void keep_shared(struct taken_maker *m, const struct job *j,
                        struct taken_running *row)
{
    struct snapshot *s = &m->out->snapshot;
    struct taken_reservation keep = {
        .start_s = NAN,
        .start_at_s = NAN,
        .end_s = NAN,
        .end_at_s = NAN,
        .cpus = NAN,
        .memory_bytes = NAN,
        .disk_bytes = NAN,
    };

    keep.needs = needs_of(m, j, true, &keep.need_count);
    if (!keep.need_count)
        return;
    row->needs = needs_of(m, j, false, &row->need_count);
    m->reservations[s->reservation_count++] = keep;
}

static struct taken_running row_of(const struct taken_maker *m, size_t number,
                                   bool hidden)
{
    const struct reschedule_job *j = &m->request->in->jobs[number];

    return (struct taken_running){
        .id = hidden ? hidden_id(m, j->job.id) : j->job.id,
        .resource_ids = ids_of(m, &m->request->nodes[number]),
        .resource_id_count = m->request->nodes[number].count,
        .cpus = j->job.cpus,
        .memory_bytes = j->job.memory_bytes,
        .disk_bytes = j->job.disk_bytes,
        .needs = j->job.needs,
        .need_count = j->job.need_count,
        .expected_end_s = end_s(m, number),
        .expected_end_at_s = NAN,
        .time_limit_s = j->job.time_limit_s,
        .elapsed_s = j->elapsed_s,
        .started_at_s = NAN,
        .weight = j->job.weight,
        .priority = j->job.priority,
        .user = j->job.user,
        .group = j->job.group ? j->job.group->id : NULL,
        .preemptible = j->job.preemptible,
        .exclusive = j->job.exclusive,
    };
}

/* A pending job that has just got its place. */
static struct taken_running row_of_started(const struct taken_maker *m,
                                           const struct placement *x, const struct job *j)
{
    const char **one = NEW(m->arena, const char *, 1);
    char name[JOB_COPY_NAME_BYTES];

    *one = x->resource_id;
    return (struct taken_running){
        .id = hidden_id(m, j->count > 1 ? job_copy_name(j->id, j->copy, name) : j->id),
        .resource_ids = x->resource_id ? one : x->resource_ids,
        .resource_id_count = x->resource_id ? 1 : x->resource_id_count,
        .cpus = j->cpus,
        .memory_bytes = j->memory_bytes,
        .disk_bytes = j->disk_bytes,
        .needs = j->needs,
        .need_count = j->need_count,
        .expected_end_s = x->held_s,
        .expected_end_at_s = NAN,
        .time_limit_s = NAN,
        .elapsed_s = NAN,
        .started_at_s = NAN,
        .weight = j->weight,
        .priority = j->priority,
        .user = j->user,
        .group = j->group ? j->group->id : NULL,
        .exclusive = j->exclusive,
    };
}

/* Copies rows, under other ids those that are of jobs of the request. */
static const struct taken_running *hide(const struct taken_maker *m,
                                        const struct taken_running *rows, size_t count)
{
    struct taken_running *copy = NEW(m->arena, struct taken_running, count);

    for (size_t k = 0; k < count; k++) {
        copy[k] = rows[k];
        if (name_index_find(&m->jobs, rows[k].id) != NAME_NOT_FOUND)
            copy[k].id = hidden_id(m, rows[k].id);
    }
    return copy;
}

static void index_ids(struct taken_maker *m)
{
    const struct gridway_in *in = m->request->in;
    const struct snapshot *s = in->round.snapshot;
    size_t rows = s->running_count;

    for (size_t i = 0; i < s->resource_count; i++)
        rows += s->resources[i].running_count;
    name_index_create(&m->given, rows, m->arena);
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(in->round.budget, s->resources[i].running_count + 1);
        for (size_t k = 0; k < s->resources[i].running_count; k++)
            name_index_add(&m->given, s->resources[i].running[k].id, i);
    }
    for (size_t k = 0; k < s->running_count; k++)
        name_index_add(&m->given, s->running[k].id, NO_INDEX - 1);
    name_index_create(&m->jobs, in->job_count, m->arena);
    for (size_t i = 0; i < in->job_count; i++)
        name_index_add(&m->jobs, in->jobs[i].job.id, i);
}

/* The snapshot's row of the job is somewhere else. */
static void check_given(const struct taken_maker *m, size_t number, struct error *err)
{
    const struct gridway_nodes *nodes = &m->request->nodes[number];
    const struct reschedule_job *j = &m->request->in->jobs[number];
    size_t at = name_index_find(&m->given, j->job.id);
    char pointer[64];
    bool found = at >= NO_INDEX - 1; /* the snapshot's own list names them */

    for (size_t k = 0; k < nodes->count && !found; k++)
        found = nodes->at[k] == at;
    if (found)
        return;
    snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", number,
             j->resource_id_count ? "resource_ids" : "resource_id");
    invalid(err, pointer, ITEM_CONFLICT,
            "/snapshot/resources/%zu/running says that it runs there", at);
}

static void add_own(struct taken_maker *m, bool hidden, struct taken_running *rows,
                    size_t *own_job, struct error *err)
{
    const struct gridway_request *request = m->request;

    for (size_t i = 0; i < request->in->job_count; i++) {
        const struct gridway_nodes *nodes = &request->nodes[i];

        if (request->holds[i] == NO_INDEX || nodes->count == 0)
            continue;
        budget_step(request->in->round.budget, nodes->count + 16);
        if (name_index_find(&m->given, request->in->jobs[i].job.id) != NAME_NOT_FOUND) {
            if (hidden) /* once a request */
                check_given(m, i, err);
            continue;
        }
        own_job[m->out->own_count] = i;
        rows[m->out->own_count] = row_of(m, i, hidden);
        if (hidden)
            keep_shared(m, &request->in->jobs[i].job, &rows[m->out->own_count]);
        m->out->own_count++;
        for (size_t k = 0; k < nodes->count; k++)
            m->used[nodes->at[k]]++;
    }
}

static void add_started(struct taken_maker *m, const struct placement_out *started,
                        struct taken_running *rows)
{
    for (size_t k = 0; k < started->placement_count; k++) {
        const struct placement *x = &started->placements[k];
        const struct job *j = &m->request->in->round.jobs[x->job]; /* they come first */

        if (x->held_s <= 0)
            continue;
        rows[m->out->own_count++] = row_of_started(m, x, j);
    }
}

/* Used slots that are left for others. */
static void leave_slots(struct taken_maker *m)
{
    const struct snapshot *s = m->request->in->round.snapshot;

    for (size_t i = 0; i < s->resource_count; i++) {
        struct resource *r = &m->resources[i];
        size_t ends = m->used[i] < r->free_at_count ? m->used[i] : r->free_at_count;

        r->job_count = fmax(0, r->job_count - (double)m->used[i]);
        r->free_at_s += ends;
        r->free_at_count -= ends;
    }
}

void gridway_taken_make(const struct gridway_request *request,
                        const struct placement_out *started, bool hidden,
                        struct gridway_taken *out, struct arena *a, struct error *err)
{
    const struct snapshot *s = request->in->round.snapshot;
    size_t most = request->in->job_count + (started ? started->placement_count : 0);
    struct taken_running *rows = NEW(a, struct taken_running, s->running_count + most);
    size_t *own_job = NEW(a, size_t, most);
    struct taken_maker m = {
        .request = request,
        .out = out,
        .resources = NEW(a, struct resource, s->resource_count),
        .reservations = NEW(a, struct taken_reservation,
                            s->reservation_count + request->in->job_count),
        .used = NEW(a, size_t, s->resource_count),
        .arena = a,
    };

    *out = (struct gridway_taken){.snapshot = *s, .own_job = own_job};
    if (s->resource_count)
        memcpy(m.resources, s->resources, s->resource_count * sizeof(*m.resources));
    if (s->reservation_count)
        memcpy(m.reservations, s->reservations,
               s->reservation_count * sizeof(*m.reservations));
    out->snapshot.reservations = m.reservations;
    index_ids(&m);
    for (size_t i = 0; i < s->resource_count && hidden; i++)
        if (m.resources[i].running_count)
            m.resources[i].running =
                hide(&m, m.resources[i].running, m.resources[i].running_count);
    if (s->running_count)
        memcpy(rows, hidden ? hide(&m, s->running, s->running_count) : s->running,
               s->running_count * sizeof(*rows));
    add_own(&m, hidden, rows + s->running_count, own_job, err);
    if (started)
        add_started(&m, started, rows + s->running_count);
    leave_slots(&m);
    out->snapshot.resources = m.resources;
    out->snapshot.running = rows;
    out->snapshot.running_count = s->running_count + out->own_count;
}

const char *gridway_shown_text(const char *text, struct arena *a)
{
    const char *hidden = strstr(text, HIDDEN);
    char *copy, *end;

    if (!hidden)
        return text;
    copy = end = NEW(a, char, strlen(text) + 1);
    for (; *text; text++)
        if (*text != *HIDDEN)
            *end++ = *text;
    return copy;
}

void gridway_taken_point(const struct gridway_request *request,
                         const struct gridway_taken *taken, const char *list,
                         const struct error_item *after, struct error *err)
{
    static const char jobs[] = "/jobs/", rows[] = "/snapshot/running/";
    size_t given = request->in->round.snapshot->running_count;

    for (struct error_item *e = after ? after->next : err->first; e; e = e->next) {
        size_t number;
        char *rest;

        e->detail = gridway_shown_text(e->detail, err->arena);
        if (strncmp(e->pointer, jobs, sizeof(jobs) - 1) == 0) {
            e->pointer =
                arena_printf(err->arena, "/%s/%s", list, e->pointer + sizeof(jobs) - 1);
            continue;
        }
        if (strncmp(e->pointer, rows, sizeof(rows) - 1) != 0)
            continue;
        number = strtoull(e->pointer + sizeof(rows) - 1, &rest, 10);
        if (number >= given)
            e->pointer = arena_printf(err->arena, "/jobs/%zu%s",
                                      taken->own_job[number - given], rest);
    }
    if (err->first)
        snprintf(err->field, sizeof(err->field), "%s", err->first->pointer);
}
