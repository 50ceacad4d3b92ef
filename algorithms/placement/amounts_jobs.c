/* placement/amounts_jobs.c - jobs of a world: needs, run times, limits. */
#include "algorithms/placement/amounts_parts.h"

#include <stdio.h>

static void check_job(const struct amounts *x, size_t i, struct error *err)
{
    const struct job *j = &x->in->jobs[i];
    char path[64];

    snprintf(path, sizeof(path), "/jobs/%zu", i);
    if (!isnan(j->estimate_s) && !isnan(j->estimate_ref_s))
        amounts_mistake(err, path, "estimate_s", ITEM_CONFLICT,
                        "give estimate_s or estimate_ref_s, not both");
    if (j->nodes > 1 && j->input_file_count)
        amounts_mistake(err, path, "nodes", ITEM_INVALID_COMBINATION,
                        "input files of a job on several nodes are not supported yet");
    for (size_t k = 0; k < j->partition_id_count; k++) {
        const char *id = j->partition_ids[k] ? j->partition_ids[k] : "";
        char member[48];

        if (name_index_find(&x->partitions, id) != NAME_NOT_FOUND)
            continue;
        snprintf(member, sizeof(member), "partition_ids/%zu", k);
        amounts_mistake(err, path, member, ITEM_UNKNOWN_ID, "no partition '%.100s'", id);
    }
}

void amounts_check_jobs(struct amounts *x, struct error *err)
{
    for (size_t i = 0; i < x->in->job_count; i++)
        if (x->in->jobs[i].copy == 0)
            check_job(x, i, err);
}

/* Where a run time comes from, the first that is there. */
static void fill_run_time(struct world_maker *m, struct world_job *w,
                          const struct problem_job *j, size_t *from_limit)
{
    const struct job *given = j->given;

    w->etc_s = j->etc_s;
    w->row = j->row;
    w->estimate_ref_s = given->estimate_ref_s;
    w->estimate_s = given->estimate_s;
    w->time_limit_s = isnan(given->time_limit_s) ? HUGE_VAL : given->time_limit_s;
    if (w->etc_s || !isnan(w->estimate_ref_s) || !isnan(w->estimate_s))
        return;
    if (isnan(given->time_limit_s)) {
        w->barred = m->x->starts_now ? WORLD_WAIT_NONE : WORLD_WAIT_NO_ESTIMATE;
        return;
    }
    w->estimate_s = given->time_limit_s;
    ++*from_limit;
}

static void fill_job(struct world_maker *m, size_t i, int64_t *vector)
{
    const struct problem_job *j = &m->p->jobs[i];
    const struct job *given = j->given;
    double now_s = m->x->in->snapshot->taken_at_s;
    struct world_job *w = &m->jobs[i];

    amounts_vector(m,
                   &(struct amount_needs){
                       given->cpus, given->memory_bytes, given->disk_bytes, given->needs,
                       given->need_count, 1, given->exclusive ? AMOUNT_PRESENCE_ALL : 1},
                   vector);
    w->id = given->id;
    w->needs = amounts_keep(m, vector);
    w->nodes = given->nodes ? (size_t)given->nodes : 1;
    w->release_s = w->earliest_s = given->release_s;
    w->deadline_s = isnan(j->deadline_s) ? HUGE_VAL : j->deadline_s;
    w->queued_at_s = !isnan(given->queued_at_s) ? given->queued_at_s
                     : isnan(now_s)             ? HUGE_VAL
                                                : now_s;
    w->weight = given->weight;
    w->priority = given->priority;
    w->group = m->x->group_of[i] == NO_INDEX ? WORLD_NONE : m->x->group_of[i];
}

/* How many jobs need each name, and the first of them. */
struct needed {
    size_t count[AMOUNT_NAMES_MAX], first[AMOUNT_NAMES_MAX];
};

static void count_needed(const struct world_maker *m, struct needed *n)
{
    for (size_t i = m->p->in->job_count; i-- > 0;) {
        const struct job *j = &m->p->in->jobs[i];

        for (size_t k = 0; k < j->need_count; k++) {
            size_t name = name_index_find(&m->x->names.index, j->needs[k].name);

            if (j->needs[k].number <= 0)
                continue;
            n->count[name]++;
            n->first[name] = i;
        }
    }
}

/* Names that are needed and that nothing has: one warning each. */
static void warn_unknown(struct world_maker *m)
{
    const struct amount_names *n = &m->x->names;
    const char *known[AMOUNT_NAMES_MAX];
    struct needed needed = {0};
    size_t known_count = 0;

    for (size_t k = 0; k < n->count; k++)
        if (n->shared[k] || n->on_node[k])
            known[known_count++] = n->name[k];
    count_needed(m, &needed);
    for (size_t k = 0; k < n->count; k++) {
        const char *nearest;

        if (n->shared[k] || n->on_node[k] || needed.count[k] == 0)
            continue;
        nearest = names_nearest(n->name[k], known, known_count);
        problem_warn(
            m->p,
            "unknown_amount: no resource and not the snapshot has '%.64s', which "
            "%zu job%s (first /jobs/%zu/needs)%s%.64s%s",
            n->name[k], needed.count[k], needed.count[k] == 1 ? " needs" : "s need",
            needed.first[k], nearest ? "; did you mean '" : "", nearest ? nearest : "",
            nearest ? "'?" : "");
    }
}

/* A lease has it, or this copy of it. */
static bool is_leased(const struct world_maker *m, size_t i)
{
    const struct job *given = m->p->jobs[i].given;
    char name[JOB_COPY_NAME_BYTES];

    if (m->p->in->snapshot->leased_id_count == 0)
        return false;
    if (name_index_find(&m->x->leased, given->id) != NAME_NOT_FOUND)
        return true;
    return given->count > 1 &&
           name_index_find(&m->x->leased, job_copy_name(given->id, given->copy, name)) !=
               NAME_NOT_FOUND;
}

void amounts_make_jobs(struct world_maker *m)
{
    int64_t *vector = NEW(m->arena, int64_t, m->w->amount_count);
    size_t count = m->p->in->job_count, from_limit = 0;

    m->jobs = NEW(m->arena, struct world_job, count);
    for (size_t i = 0; i < count; i++) {
        budget_step(m->w->budget, m->w->amount_count);
        fill_job(m, i, vector);
        fill_run_time(m, &m->jobs[i], &m->p->jobs[i], &from_limit);
        if (is_leased(m, i))
            m->jobs[i].barred = WORLD_WAIT_LEASED;
    }
    m->w->jobs = m->jobs;
    m->w->job_count = count;
    if (from_limit)
        problem_warn(m->p,
                     "run_time_from_limit: %zu job%s no estimate; time_limit_s is taken "
                     "for the run time",
                     from_limit, from_limit == 1 ? " has" : "s have");
    warn_unknown(m);
}
