/* cluster_of_world.c - a cluster from a snapshot without one: its resources, partitions,
 * what runs and what is reserved.
 *
 * Read as placements read it, with a job for each partition that has a requirement, whose
 * resources are then those of the partition, and one that needs a little of everything,
 * so that nothing is left out. What a cluster has no word for is said to be ignored.
 */
#include "handlers/cluster_queue/cluster_stored.h"

#include "algorithms/placement/amounts.h"
#include "handlers/common/decision.h"
#include "models/base/names.h"
#include "models/base/param.h"

#include <math.h>
#include <string.h>

struct making {
    struct request *rq;
    const struct snapshot *given;
    const struct world *w;
    struct text_buffer b;
    size_t partial; /* reservations of a part of a resource that begin later */
};

/* ---- as placements read it ---- */

/* Names of capacities, once each, at most so many as a request may have. */
static void list_needs(struct request *rq, const struct snapshot *s, struct job *job)
{
    struct named_value *needs = NEW(rq->arena, struct named_value, AMOUNT_NAMES_MAX);
    struct name_index names;

    name_index_create(&names, AMOUNT_NAMES_MAX, rq->arena);
    for (size_t i = 0; i <= s->resource_count; i++) {
        bool last = i == s->resource_count;
        const struct named_value *list =
            last ? s->shared_capacities : s->resources[i].capacities;
        size_t count = last ? s->shared_capacity_count : s->resources[i].capacity_count;

        budget_step(&rq->budget, count + 1);
        for (size_t k = 0; k < count && job->need_count < AMOUNT_NAMES_MAX; k++) {
            if (name_index_find(&names, list[k].name) != NAME_NOT_FOUND)
                continue;
            name_index_add(&names, list[k].name, job->need_count);
            needs[job->need_count++] = (struct named_value){
                .name = list[k].name, .type = VALUE_NUMBER, .number = 1};
        }
    }
    job->needs = needs;
    job->memory_bytes = job->disk_bytes = 1;
}

/* The last one needs everything. */
static const struct job *jobs_of(struct request *rq, const struct snapshot *s)
{
    struct job *jobs = NEW(rq->arena, struct job, s->partition_count + 1);

    for (size_t i = 0; i <= s->partition_count; i++) {
        jobs[i] = job_unset(arena_printf(rq->arena, "partition %zu of the snapshot", i));
        jobs[i].estimate_s = 0;
        if (i == s->partition_count)
            continue;
        jobs[i].partition_ids = &s->partitions[i].id;
        jobs[i].partition_id_count = 1;
    }
    list_needs(rq, s, &jobs[s->partition_count]);
    return jobs;
}

/* Nobody is kept out of a resource, nor of a partition. */
static const struct snapshot *opened(struct request *rq, const struct snapshot *s)
{
    struct snapshot *out = NEW(rq->arena, struct snapshot, 1);
    struct resource *resources = NEW(rq->arena, struct resource, s->resource_count);
    struct partition *partitions = NEW(rq->arena, struct partition, s->partition_count);

    *out = *s;
    for (size_t i = 0; i < s->resource_count; i++) {
        resources[i] = s->resources[i];
        resources[i].failed = false;
        resources[i].allowed = NULL;
        resources[i].allowed_count = 0;
    }
    for (size_t i = 0; i < s->partition_count; i++) {
        partitions[i] = s->partitions[i];
        partitions[i].time_limit_max_s = NAN;
        partitions[i].nodes_per_job_max = 0;
        partitions[i].users_allowed = NULL;
    }
    budget_step(&rq->budget, s->resource_count + s->partition_count);
    out->resources = resources;
    out->partitions = partitions;
    return out;
}

static enum error_code read_world(struct request *rq, const struct snapshot *s,
                                  const struct world **out)
{
    static const struct placement_world nothing_more = {0};
    struct placement_in *in = NEW(rq->arena, struct placement_in, 1);
    struct placement_problem *p = NEW(rq->arena, struct placement_problem, 1);
    double *common = NEW(rq->arena, double, PARAMS_MAX);
    size_t before = rq->err->item_count;
    struct amounts *checked;
    struct amounts_world made;

    *in = (struct placement_in){.jobs = jobs_of(rq, s),
                                .job_count = s->partition_count + 1,
                                .snapshot = opened(rq, s),
                                .world = &nothing_more,
                                .budget = &rq->budget};
    TRY(params_bind(placement_common_params, NULL, 0, common, rq->err));
    amounts_check(in, false, &checked, rq->arena, rq->err);
    problem_prepare(in, common, p, rq->arena, rq->err);
    if (rq->err->item_count > before)
        return ERR_INVALID;
    amounts_world(p, checked, &made);
    for (size_t k = 0; k < p->warning_count; k++) {
        budget_step(&rq->budget, 1);
        if (!strstr(p->warnings[k], "/jobs/")) /* about those that stand for nothing */
            decision_note(rq, p->warnings[k]);
    }
    *out = made.world;
    return OK;
}

/* ---- the text ---- */

static void add_number(struct text_buffer *b, const char *name, double number)
{
    if (isnan(number))
        return;
    text_addf(b, ",\"%s\":", name);
    json_print_number(number, b);
}

static void add_amounts(struct text_buffer *b, const char *name,
                        const struct named_value *list, size_t count)
{
    text_addf(b, ",\"%s\":{", name);
    for (size_t i = 0, n = 0; i < count; i++) {
        if (list[i].type != VALUE_NUMBER)
            continue;
        text_addf(b, n++ ? "," : "");
        json_print_text(list[i].name, b);
        text_addf(b, ":");
        json_print_number(list[i].number, b);
    }
    text_addf(b, "}");
}

static void add_texts(struct text_buffer *b, const char *name, const char *const *list,
                      size_t count)
{
    text_addf(b, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        text_addf(b, i ? "," : "");
        json_print_text(list[i], b);
    }
    text_addf(b, "]");
}

static void add_resource(struct making *m, const struct resource *r)
{
    text_addf(&m->b, "{\"id\":");
    json_print_text(r->id, &m->b);
    add_number(&m->b, "cpus", r->cpus);
    add_number(&m->b, "memory_bytes", r->memory_bytes);
    add_amounts(&m->b, "capacities", r->capacities, r->capacity_count);
    text_addf(&m->b, r->failed ? ",\"state\":\"down\"}" : "}");
}

/* Resources of the partition, by the choice of the job that stands for it. */
static void add_members(struct making *m, size_t partition)
{
    const struct world_choice *choice = &m->w->jobs[partition].choices[0];
    const char **ids = NEW(m->rq->arena, const char *, m->given->resource_count);
    size_t count = 0;

    budget_step(&m->rq->budget, m->w->resource_count);
    for (size_t p = 0; p < m->w->resource_count; p++)
        if (world_mask_has(choice->mask, p))
            ids[count++] = m->w->resources[p].id;
    add_texts(&m->b, "resource_ids", ids, count);
}

static void add_partition(struct making *m, size_t i)
{
    const struct partition *p = &m->given->partitions[i];

    text_addf(&m->b, "{\"id\":");
    json_print_text(p->id, &m->b);
    if (p->requirement)
        add_members(m, i);
    else
        add_texts(&m->b, "resource_ids", p->resource_ids, p->resource_id_count);
    text_addf(&m->b, ",\"default\":%s", p->is_default ? "true" : "false");
    add_number(&m->b, "time_limit_max_s", p->time_limit_max_s);
    add_number(&m->b, "priority_tier", p->priority_tier);
    if (p->nodes_per_job_max > 0)
        add_number(&m->b, "nodes_per_job_max", (double)p->nodes_per_job_max);
    if (p->users_allowed)
        add_texts(&m->b, "users_allowed", p->users_allowed, p->users_allowed_count);
    text_addf(&m->b, "}");
}

static void add_holder_ids(struct making *m, const struct world_holder *h, size_t number)
{
    const char **ids = NEW(m->rq->arena, const char *, h->position_count);

    for (size_t k = 0; k < h->position_count; k++)
        ids[k] = m->w->resources[h->positions[k]].id;
    budget_step(&m->rq->budget, h->position_count + 1);
    text_addf(&m->b, "{\"id\":");
    json_print_text(h->id ? h->id : arena_printf(m->rq->arena, "held-%zu", number),
                    &m->b);
    if (h->position_count)
        add_texts(&m->b, "resource_ids", ids, h->position_count);
}

/* Amounts by name, the shared ones alone or all. */
static void add_needs(struct making *m, const struct world_holder *h, bool shared)
{
    size_t first = shared ? m->w->node_amount_count : AMOUNT_NAMED, n = 0;

    text_addf(&m->b, ",\"needs\":{");
    for (size_t k = first; k < m->w->amount_count; k++) {
        if (h->amounts[k] <= 0)
            continue;
        text_addf(&m->b, n++ ? "," : "");
        json_print_text(m->w->amounts[k].name, &m->b);
        text_addf(&m->b, ":");
        json_print_number(amount_value(m->w, k, h->amounts[k]), &m->b);
    }
    text_addf(&m->b, "}");
}

static bool is_whole(const struct world_holder *h)
{
    return h->all || h->position_count == 0;
}

/* A part of resources from now on; what is set aside of them is a job as any other. */
static void add_running(struct making *m, const struct world_holder *h, size_t number)
{
    add_holder_ids(m, h, number);
    add_number(&m->b, "cpus", amount_value(m->w, AMOUNT_CPUS, h->amounts[AMOUNT_CPUS]));
    add_number(&m->b, "memory_bytes",
               amount_value(m->w, AMOUNT_MEMORY, h->amounts[AMOUNT_MEMORY]));
    add_needs(m, h, false);
    if (h->amounts[AMOUNT_PRESENCE] >= AMOUNT_PRESENCE_ALL)
        text_addf(&m->b, ",\"exclusive\":true");
    if (h->preemptible)
        text_addf(&m->b, ",\"preemptible\":true");
    add_number(&m->b, "priority", h->priority);
    if (h->end_s < HUGE_VAL)
        add_number(&m->b, "expected_end_s", h->end_s);
    text_addf(&m->b, "}");
}

static void add_reservation(struct making *m, const struct world_holder *h, size_t number)
{
    add_holder_ids(m, h, number);
    add_needs(m, h, true);
    add_number(&m->b, "start_s", h->start_s);
    if (h->end_s < HUGE_VAL)
        add_number(&m->b, "end_s", h->end_s);
    text_addf(&m->b, "}");
}

static void add_holders(struct making *m, bool reservations)
{
    size_t n = 0;

    for (size_t k = 0; k < m->w->holder_count; k++) {
        const struct world_holder *h = &m->w->holders[k];
        bool reserved = h->kind == HOLDER_RESERVATION && is_whole(h);

        if (reserved != reservations)
            continue;
        if (!reserved && h->start_s > 0) {
            m->partial++;
            continue;
        }
        if (n++ == 0)
            text_addf(&m->b, reservations ? ",\"reservations\":[" : ",\"running\":[");
        else
            text_addf(&m->b, ",");
        if (reserved)
            add_reservation(m, h, k);
        else
            add_running(m, h, k);
    }
    if (n)
        text_addf(&m->b, "]");
}

/* ---- what a cluster does not know ---- */

static bool has_disk(const struct resource *r)
{
    return !isnan(r->disk_bytes);
}

static bool has_slots(const struct resource *r)
{
    return !isnan(r->n_max);
}

static bool has_grants(const struct resource *r)
{
    return r->allowed != NULL;
}

static const struct {
    const char *member;
    bool (*given)(const struct resource *r);
} unknown[] = {{"disk_bytes", has_disk}, {"n_max", has_slots}, {"allowed", has_grants}};

static void warn(struct making *m)
{
    const struct snapshot *s = m->given;

    for (size_t k = 0; k < sizeof(unknown) / sizeof(*unknown); k++) {
        size_t count = 0, first = 0;

        budget_step(&m->rq->budget, s->resource_count);
        for (size_t i = s->resource_count; i-- > 0;)
            if (unknown[k].given(&s->resources[i])) {
                first = i;
                count++;
            }
        if (count)
            decision_note(m->rq,
                          arena_printf(m->rq->arena,
                                       "ignored: %s of %zu resource%s (first "
                                       "/snapshot/resources/%zu/%s): the nodes of a "
                                       "queue have none",
                                       unknown[k].member, count, count == 1 ? "" : "s",
                                       first, unknown[k].member));
    }
    if (m->partial)
        decision_note(m->rq,
                      arena_printf(m->rq->arena,
                                   "ignored: %zu reservation%s of a part of resources "
                                   "that begin%s later: those of a queue have whole "
                                   "nodes",
                                   m->partial, m->partial == 1 ? "" : "s",
                                   m->partial == 1 ? "s" : ""));
}

enum error_code cluster_text_of_world(struct request *rq, const struct snapshot *s,
                                      const char **text)
{
    struct making m = {.rq = rq, .given = s, .b.arena = rq->arena};

    TRY(read_world(rq, s, &m.w));
    text_addf(&m.b, "{\"resources\":[");
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(&rq->budget, 8);
        text_addf(&m.b, i ? "," : "");
        add_resource(&m, &s->resources[i]);
    }
    text_addf(&m.b, "]");
    add_amounts(&m.b, "shared_capacities", s->shared_capacities,
                s->shared_capacity_count);
    for (size_t i = 0; i < s->partition_count; i++) {
        budget_step(&rq->budget, 8 + s->partitions[i].resource_id_count);
        text_addf(&m.b, i ? "," : ",\"partitions\":[");
        add_partition(&m, i);
    }
    text_addf(&m.b, s->partition_count ? "]" : "");
    add_holders(&m, false);
    add_holders(&m, true);
    text_addf(&m.b, "}");
    text_add(&m.b, "", 1);
    if (m.b.failed)
        arena_leave(rq->arena);
    warn(&m);
    *text = m.b.data;
    return OK;
}
