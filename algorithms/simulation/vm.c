/* simulation/vm.c - where an interactive session runs, or that it is rejected. */
#include "algorithms/simulation/vm.h"

#include <assert.h>
#include <math.h>

#define PAIRS_MAX 10000000.0
#define ROUNDING  1e-9 /* sums of shares may go beyond the capacity by this part of it */

enum { LIMIT, BLOCKING }; /* options of policies with VM_LIMIT, VM_MOVING */

const struct policy vm_policies[] = {
#define X(policy, does, described, its_flags) \
    {.name = #policy,                         \
     .purpose = does,                         \
     described,                               \
     .params = vm_##policy##_params,          \
     .run = (policy_fn *)vm_##policy,         \
     .flags = its_flags},
    VM_POLICIES(X)
#undef X
        {0},
};

const char *const vm_reason_names[] = {
    [VM_PLACED] = "placed",
    [VM_NO_RESOURCE_UP] = "no_resource_up",
    [VM_NO_ROOM] = "no_room",
    [VM_ABOVE_LIMIT] = "above_limit",
};

/* ---- Erlang B ---- */

double erlang_b(double load, size_t servers)
{
    double b = 1;

    for (size_t k = 1; k <= servers; k++)
        b = load * b / ((double)k + load * b);
    return b;
}

size_t erlang_servers(double load, double target, size_t max)
{
    double b = 1;
    size_t k = 0;

    while (b > target && k < max) {
        k++;
        b = load * b / ((double)k + load * b);
    }
    return k;
}

/* ---- the pool ---- */

static double light_of(const struct policy *policy, const double *param,
                       const struct vm_resource *resources, size_t count)
{
    double least = count ? HUGE_VAL : 0;

    if ((policy->flags & VM_LIMIT) && !isnan(param[LIMIT]))
        return param[LIMIT];
    for (size_t i = 0; i < count; i++)
        least = fmin(least, resources[i].capacity_mips);
    return least / 2;
}

enum error_code vm_pool_create(struct vm_pool *pool, const struct policy *policy,
                               const double *param, const double *capacity_mips,
                               size_t resource_count, size_t user_count,
                               double expected_light_mips, double expected_session_s,
                               struct arena *a, struct error *err)
{
    struct vm_pool made = {
        .policy = policy,
        .param = param,
        .resource_count = resource_count,
        .user_count = user_count,
        .last = VM_REJECTED,
        .expected_light_mips = expected_light_mips > 0 ? expected_light_mips : 1,
        .expected_session_s = expected_session_s > 0 ? expected_session_s : 3600,
    };

    made.resources = NEW(a, struct vm_resource, resource_count);
    for (size_t i = 0; i < resource_count; i++)
        made.resources[i] =
            (struct vm_resource){.capacity_mips = capacity_mips[i], .up = true};
    if (policy->flags & VM_BY_USER) {
        if ((double)user_count * (double)resource_count > PAIRS_MAX)
            return fail(err, ERR_TOO_LARGE, "",
                        "%s counts sessions of each user on each resource: %zu users on "
                        "%zu resources are too many",
                        policy->name, user_count, resource_count);
        made.user_sessions = NEW(a, uint32_t, user_count * resource_count);
    }
    made.light_mips = light_of(policy, param, made.resources, resource_count);
    *pool = made;
    return OK;
}

bool vm_has_room(const struct vm_pool *pool, const struct vm_session *session,
                 size_t resource)
{
    const struct vm_resource *r = &pool->resources[resource];

    return r->up &&
           r->used_mips + session->mips_required <= r->capacity_mips * (1 + ROUNDING);
}

static double mean_light_mips(const struct vm_pool *pool)
{
    return pool->light_mips_sum > 0 ? pool->light_mips_sum / (double)pool->light_arrivals
                                    : pool->expected_light_mips;
}

/* As many places on each resource as block light sessions no more often than the target
 * allows; no more are looked for than can matter: with l light sessions there and room
 * for n more, n + l places are as good as any more. */
static size_t servers_needed(const struct vm_pool *pool)
{
    double time_s = pool->light_ended ? pool->light_time_s_sum / (double)pool->light_ended
                                      : pool->expected_session_s;
    double load = 0, most = 0, room;

    if (pool->now_s > 0)
        load = (double)pool->light_arrivals / pool->now_s / (double)pool->resource_count *
               time_s;
    for (size_t i = 0; i < pool->resource_count; i++) {
        const struct vm_resource *r = &pool->resources[i];

        room = ceil(r->capacity_mips / mean_light_mips(pool)) + 1;
        most = fmax(most, room + (double)r->light_count);
    }
    return erlang_servers(load, pool->param[BLOCKING], (size_t)fmin(most, 1e6));
}

double vm_limit_mips(const struct vm_pool *pool, size_t resource)
{
    const struct vm_resource *r = &pool->resources[resource];
    double kept;

    if (!(pool->policy->flags & VM_LIMIT))
        return HUGE_VAL;
    if (!(pool->policy->flags & VM_MOVING))
        return isnan(pool->param[LIMIT]) ? r->capacity_mips / 2 : pool->param[LIMIT];
    if (pool->servers <= r->light_count)
        return fmax(pool->light_mips, r->capacity_mips);
    kept = (double)(pool->servers - r->light_count) * mean_light_mips(pool);
    return fmax(pool->light_mips, r->capacity_mips - kept);
}

static enum vm_reason reason_of(const struct vm_pool *pool,
                                const struct vm_session *session)
{
    enum vm_reason reason = VM_NO_RESOURCE_UP;

    for (size_t i = 0; i < pool->resource_count; i++) {
        if (!pool->resources[i].up)
            continue;
        if (vm_limit_mips(pool, i) >= session->mips_required)
            return VM_NO_ROOM;
        reason = VM_ABOVE_LIMIT;
    }
    return reason;
}

static uint32_t *user_count_at(struct vm_pool *pool, const struct vm_session *session,
                               size_t resource)
{
    assert(!pool->user_sessions || session->user < pool->user_count);
    return pool->user_sessions
               ? &pool->user_sessions[session->user * pool->resource_count + resource]
               : NULL;
}

static void occupy(struct vm_pool *pool, const struct vm_session *session,
                   size_t resource)
{
    struct vm_resource *r = &pool->resources[resource];
    uint32_t *of_user = user_count_at(pool, session, resource);

    r->used_mips += session->mips_required;
    r->session_count++;
    r->light_count += session->mips_required <= pool->light_mips;
    if (of_user)
        ++*of_user;
    pool->last = resource;
}

enum vm_reason vm_pool_arrive(struct vm_pool *pool, const struct vm_session *session,
                              double now_s, size_t *resource)
{
    enum vm_reason reason = VM_PLACED;

    pool->now_s = now_s;
    if (pool->policy->flags & VM_MOVING)
        pool->servers = servers_needed(pool);
    *resource = vm_fn_of(pool->policy)(pool, session);
    if (*resource == VM_REJECTED)
        reason = reason_of(pool, session);
    else
        occupy(pool, session, *resource);
    if (session->mips_required <= pool->light_mips) {
        pool->light_arrivals++;
        pool->light_mips_sum += session->mips_required;
    }
    return reason;
}

void vm_pool_drop(struct vm_pool *pool, const struct vm_session *session, size_t resource)
{
    struct vm_resource *r = &pool->resources[resource];
    uint32_t *of_user = user_count_at(pool, session, resource);

    assert(r->session_count > 0);
    r->session_count--;
    r->light_count -= session->mips_required <= pool->light_mips;
    r->used_mips -= session->mips_required;
    if (r->session_count == 0 || r->used_mips < 0) /* rounding does not add up */
        r->used_mips = 0;
    if (of_user)
        --*of_user;
}

void vm_pool_leave(struct vm_pool *pool, const struct vm_session *session,
                   size_t resource, double lasted_s)
{
    vm_pool_drop(pool, session, resource);
    if (session->mips_required <= pool->light_mips) {
        pool->light_ended++;
        pool->light_time_s_sum += lasted_s;
    }
}

void vm_pool_set_up(struct vm_pool *pool, size_t resource, bool up)
{
    pool->resources[resource].up = up;
}
