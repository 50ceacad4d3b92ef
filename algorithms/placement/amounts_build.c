/* placement/amounts_build.c - from a request to a world, part by part. */
#include "algorithms/placement/amounts_parts.h"

static bool resource_asks(const struct resource *r)
{
    return !isnan(r->disk_bytes) || r->capacity_count || r->running_count ||
           r->reservation_count;
}

static bool job_asks(const struct job *j)
{
    return j->disk_bytes > 0 || j->need_count || j->nodes > 1 || j->exclusive ||
           !isnan(j->time_limit_s) || !isnan(j->estimate_s) || j->group ||
           j->after_count || j->partition_id_count || j->model || j->preempt;
}

bool amounts_are_given(const struct placement_in *in)
{
    const struct snapshot *s = in->snapshot;
    bool given = s->shared_capacity_count || s->running_count || s->reservation_count ||
                 s->partition_count || s->leased_id_count || in->world->finished_count ||
                 in->world->what_if || in->world->preempt || in->world->objective;

    for (size_t i = 0; i < s->resource_count && !given; i++)
        given = resource_asks(&s->resources[i]);
    for (size_t i = 0; i < in->job_count && !given; i++)
        given = job_asks(&in->jobs[i]);
    return given;
}

static void index_names(struct amounts *x)
{
    const struct snapshot *s = x->in->snapshot;

    name_index_create(&x->resources, s->resource_count, x->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&x->resources, s->resources[i].id, i);
    name_index_create(&x->jobs, x->in->job_count, x->arena);
    for (size_t i = 0; i < x->in->job_count; i++)
        name_index_add(&x->jobs, x->in->jobs[i].id, i);
    name_index_create(&x->leased, s->leased_id_count, x->arena);
    for (size_t i = 0; i < s->leased_id_count; i++)
        name_index_add(&x->leased, s->leased_ids[i], i);
    name_index_create(&x->partitions, s->partition_count, x->arena);
    for (size_t i = 0; i < s->partition_count; i++)
        name_index_add(&x->partitions, s->partitions[i].id, i);
}

enum error_code amounts_check(const struct placement_in *in, bool plan_with_limit,
                              struct amounts **out, struct arena *a, struct error *err)
{
    struct amounts *x = NEW(a, struct amounts, 1);
    size_t before = err->item_count;

    x->in = in;
    x->plan_with_limit = plan_with_limit;
    x->arena = a;
    index_names(x);
    amounts_list_taken(x, err);
    amounts_check_names(x, err);
    amounts_check_taken(x, err);
    amounts_check_jobs(x, err);
    amounts_check_groups(x, err);
    amounts_check_after(x, err);
    amounts_check_partitions(x, err);
    *out = x;
    return err->item_count > before ? ERR_INVALID : OK;
}

void amounts_start_now(struct amounts *checked)
{
    checked->starts_now = true;
}

void amounts_count_limits(struct amounts *checked)
{
    checked->counts_limits = true;
}

/* ---- the world ---- */

static void make_amounts(struct world_maker *m)
{
    static const char *const fixed[] = {[AMOUNT_CPUS] = "cpus",
                                        [AMOUNT_MEMORY] = "memory_bytes",
                                        [AMOUNT_DISK] = "disk_bytes",
                                        [AMOUNT_JOBS] = "n_max",
                                        [AMOUNT_PRESENCE] = "exclusive"};
    const struct amount_names *n = &m->x->names;
    const struct snapshot *s = m->x->in->snapshot;
    int64_t *shared;

    for (size_t k = 0; k < AMOUNT_NAMED; k++)
        m->w->amounts[k] =
            (struct world_amount){fixed[k], k == AMOUNT_CPUS ? AMOUNT_UNITS_PER_ONE : 1};
    m->w->node_amount_count = m->w->amount_count = AMOUNT_NAMED;
    for (size_t k = 0; k < n->count; k++) {
        m->w->amounts[n->row[k]] =
            (struct world_amount){n->name[k], AMOUNT_UNITS_PER_ONE};
        m->w->node_amount_count += !n->shared[k];
        m->w->amount_count++;
    }
    shared = NEW(m->arena, int64_t, m->w->amount_count);
    for (size_t k = 0; k < s->shared_capacity_count; k++)
        shared[n->row[name_index_find(&n->index, s->shared_capacities[k].name)]] =
            amount_units(s->shared_capacities[k].number, AMOUNT_UNITS_PER_ONE);
    m->w->shared_capacity = shared;
}

static void fill_capacity(const struct world_maker *m, const struct resource *r,
                          int64_t *capacity)
{
    bool states = !isnan(r->cpus) || r->capacity_count;

    capacity[AMOUNT_CPUS] = amount_units(r->cpus, AMOUNT_UNITS_PER_ONE);
    capacity[AMOUNT_MEMORY] = amount_units(r->memory_bytes, 1);
    capacity[AMOUNT_DISK] = amount_units(r->disk_bytes, 1);
    if (isnan(r->n_max))
        capacity[AMOUNT_JOBS] = states ? AMOUNT_UNLIMITED : 1;
    else
        capacity[AMOUNT_JOBS] = (int64_t)r->n_max;
    capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
    for (size_t k = 0; k < r->capacity_count; k++) {
        size_t name = name_index_find(&m->x->names.index, r->capacities[k].name);

        capacity[m->x->names.row[name]] =
            amount_units(r->capacities[k].number, AMOUNT_UNITS_PER_ONE);
    }
}

static void make_resources(struct world_maker *m)
{
    size_t count = m->p->resource_count, nodes = m->w->node_amount_count;
    int64_t *capacity = NEW(m->arena, int64_t, count * nodes);

    m->resources = NEW(m->arena, struct world_resource, count);
    for (size_t pos = 0; pos < count; pos++) {
        const struct problem_resource *r = &m->p->resources[pos];

        budget_step(m->p->in->budget, nodes);
        fill_capacity(m, r->given, &capacity[pos * nodes]);
        m->resources[pos] = (struct world_resource){
            .id = r->given->id,
            .index = r->index,
            .speed = r->speed_mips,
            .site = r->site,
            .capacity = &capacity[pos * nodes],
            .price_per_s = r->given->price_per_s,
            .price_per_cpu_s = r->given->price_per_cpu_s,
            .power_node_w = r->given->power_node_w,
            .power_per_cpu_w = r->given->power_per_cpu_w,
        };
    }
    m->w->resources = m->resources;
    m->w->resource_count = count;
    m->w->site_count = m->p->site_count;
}

void amounts_world(struct placement_problem *p, const struct amounts *checked,
                   struct amounts_world *out)
{
    struct world_maker *m = NEW(p->arena, struct world_maker, 1); /* masks keep it */

    *m = (struct world_maker){
        .x = checked,
        .p = p,
        .w = NEW(p->arena, struct world, 1),
        .arena = p->arena,
    };

    m->w->plan_with_limit = checked->plan_with_limit;
    m->w->seed = p->in->seed;
    m->w->budget = p->in->budget;
    make_amounts(m);
    make_resources(m);
    amounts_make_holders(m);
    amounts_warn_overcommitted(m);
    amounts_make_jobs(m);
    amounts_make_groups(m);
    amounts_make_after(m);
    amounts_make_choices(m);
    amounts_make_files(m);
    *out = (struct amounts_world){m->w, m->waits_for, m->masks};
}
