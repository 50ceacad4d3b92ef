/* admission.c - whether a request is within the quotas of its key and its tenant. */
#include "service/admission.h"

#include "service/clock.h"
#include "service/config.h"
#include "service/cpu_quota.h"
#include "service/governor.h"
#include "service/ratelimit.h"
#include "service/service.h"

#include <math.h>
#include <stdio.h>

enum { NAME_SIZE = 160 };

const char *const admission_policy_names[] = {POLICY_REQUESTS,   POLICY_CPU,
                                              POLICY_CONCURRENT, POLICY_MEMORY,
                                              POLICY_TIME_LIMIT, NULL};
const char *const admission_scope_names[] = {POLICY_OF_KEY, POLICY_OF_TENANT,
                                             POLICY_OF_ADDRESS, NULL};
const char *const admission_unit_names[] = {UNIT_REQUESTS, UNIT_CPU,  UNIT_CONCURRENT,
                                            UNIT_MEMORY,   UNIT_TIME, NULL};

/* Often enough for others to see it, and to read the clock costs nothing then. */
static const double CHARGE_EVERY_S = 0.05;

/* One of the two buckets of requests that a caller has. */
struct request_bucket {
    const char *scope;
    char
        name[NAME_SIZE]; /* a tenant's begins with a blank, which no key or address has */
    double rate_per_s, burst_count;
    struct ratelimit_state state;
};

/* The bucket of the key or address, then that of the tenant; how many have a limit. */
static size_t request_buckets(const struct request *rq, struct request_bucket *out)
{
    const struct config *config = rq->service->config;
    const char *key_id = rq->principal.key_id;
    const char *address = rq->message->remote_address;
    double rate_per_s =
        isnan(rq->quota.rate_per_s) ? config->rate_limit_per_s : rq->quota.rate_per_s;
    double burst_count =
        isnan(rq->quota.burst_count) ? config->rate_burst_count : rq->quota.burst_count;
    size_t count = 0;

    if (!rq->service->limits || rq->route->scope == SCOPE_NONE)
        return 0;
    if (rate_per_s > 0) {
        struct request_bucket *b = &out[count++];

        *b = (struct request_bucket){.scope = *key_id ? POLICY_OF_KEY : POLICY_OF_ADDRESS,
                                     .rate_per_s = rate_per_s,
                                     .burst_count = burst_count};
        snprintf(b->name, sizeof(b->name), "%s",
                 *key_id   ? key_id
                 : address ? address
                           : "");
    }
    if (rq->tenant_quota.rate_per_s > 0) {
        struct request_bucket *b = &out[count++];

        *b = (struct request_bucket){.scope = POLICY_OF_TENANT,
                                     .rate_per_s = rq->tenant_quota.rate_per_s,
                                     .burst_count = rq->tenant_quota.burst_count};
        snprintf(b->name, sizeof(b->name), " %s", rq->principal.tenant);
    }
    for (size_t i = 0; i < count; i++)
        if (!(out[i].burst_count >= 1))
            out[i].burst_count = fmax(1, 2 * out[i].rate_per_s);
    return count;
}

/* The bucket with less left. */
static const struct request_bucket *scarcer(const struct request_bucket *buckets,
                                            size_t count)
{
    return count == 2 &&
                   buckets[1].state.remaining_count < buckets[0].state.remaining_count
               ? &buckets[1]
               : &buckets[0];
}

static void look_at_requests(const struct request *rq, struct request_bucket *buckets,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        ratelimit_look(rq->service->limits, buckets[i].name, buckets[i].rate_per_s,
                       buckets[i].burst_count, rq->started_s, &buckets[i].state);
}

static double whole_s(double s)
{
    return fmax(1, ceil(s - 1e-9));
}

/* ---- what is held now ---- */

/* A quota of the key and one of the tenant that bound what is held at once: the one with
 * less left. `held` says how much an account has. False: neither has a limit. */
static bool held_policy(const struct request *rq, const struct quota_member *member,
                        double (*held)(struct governor_holding), const char *policy,
                        const char *unit, struct admission_policy *out)
{
    bool found = false;

    for (int of_key = 1; of_key >= 0; of_key--) {
        double limit = quota_value(member, of_key ? &rq->quota : &rq->tenant_quota);
        double left;

        if (!(limit > 0))
            continue;
        left = limit;
        if (rq->service->governor && held)
            left -= held(governor_holding(
                rq->service->governor,
                of_key ? rq->principal.key_id : rq->principal.tenant, of_key));
        left = fmax(0, left);
        if (found && !(left < out->remaining))
            continue;
        found = true;
        *out = (struct admission_policy){
            policy, of_key ? POLICY_OF_KEY : POLICY_OF_TENANT, limit, unit, left, NAN};
    }
    return found;
}

static double computing(struct governor_holding holding)
{
    return (double)holding.computing_count;
}

static double leased(struct governor_holding holding)
{
    return (double)holding.work_bytes;
}

static bool concurrent_policy(const struct request *rq, struct admission_policy *out)
{
    return held_policy(rq, &quota_members[QUOTA_concurrent_count], computing,
                       POLICY_CONCURRENT, UNIT_CONCURRENT, out);
}

/* ---- the fields ---- */

/* `requests`: the bucket to be shown; NULL: requests have no limit. */
static void add_fields(struct request *rq, const struct ratelimit_state *requests)
{
    struct text_buffer limits = {.arena = rq->arena}, left = {.arena = rq->arena};
    struct admission_policy concurrent;

    if (requests) {
        text_addf(&limits, "\"" POLICY_REQUESTS "\";q=%.0f;w=%.0f", requests->limit_count,
                  whole_s(requests->window_s));
        text_addf(&left, "\"" POLICY_REQUESTS "\";r=%.0f;t=%.0f",
                  requests->remaining_count, whole_s(requests->reset_s));
    }
    if (concurrent_policy(rq, &concurrent)) {
        text_addf(&limits, "%s\"" POLICY_CONCURRENT "\";q=%.0f;qu=\"%s\"",
                  requests ? ", " : "", concurrent.limit, concurrent.unit);
        text_addf(&left, "%s\"" POLICY_CONCURRENT "\";r=%.0f", requests ? ", " : "",
                  concurrent.remaining);
    }
    if (limits.length == 0 || limits.failed || left.failed)
        return;
    reply_header_add(rq->reply, "RateLimit-Policy", limits.data);
    reply_header_add(rq->reply, "RateLimit", left.data);
}

void admission_show(struct request *rq)
{
    struct request_bucket buckets[2];
    size_t count = request_buckets(rq, buckets);

    if (rq->route->scope == SCOPE_NONE)
        return;
    look_at_requests(rq, buckets, count);
    add_fields(rq, count > 0 ? &scarcer(buckets, count)->state : NULL);
}

enum error_code admission_request(struct request *rq)
{
    struct request_bucket buckets[2];
    size_t count = request_buckets(rq, buckets), taken = 0;
    const struct request_bucket *empty;

    if (rq->route->scope == SCOPE_NONE)
        return OK;
    while (taken < count &&
           ratelimit_take(rq->service->limits, buckets[taken].name,
                          buckets[taken].rate_per_s, buckets[taken].burst_count,
                          rq->started_s, &buckets[taken].state))
        taken++;
    if (taken == count) {
        add_fields(rq, count > 0 ? &scarcer(buckets, count)->state : NULL);
        return OK;
    }
    empty = &buckets[taken];
    for (size_t i = 0; i < taken; i++)
        ratelimit_give(rq->service->limits, buckets[i].name, buckets[i].rate_per_s,
                       buckets[i].burst_count, rq->started_s);
    add_fields(rq, &empty->state);
    rq->err->retry_after_s = (int)whole_s(empty->state.retry_after_s);
    rq->err->violated_policy = POLICY_REQUESTS;
    return fail(rq->err, ERR_RATE_LIMITED, "",
                "more than %g requests a second of the %s; try again in %d s, or send "
                "several jobs in one request",
                empty->rate_per_s, empty->scope, rq->err->retry_after_s);
}

/* ---- seconds of processor ---- */

/* Of the key, then of the tenant; false: that one must wait. Caps that are no limit are
 * passed over. */
static bool look_at_cpu(struct request *rq, bool of_key, struct cpu_state *state)
{
    double cap_s = of_key ? rq->quota.cpu_s_per_hour : rq->tenant_quota.cpu_s_per_hour;

    state->limit_s = 0;
    return !(cap_s > 0) ||
           cpu_quota_look(rq->service->cpu_quota, rq->principal.tenant,
                          of_key ? rq->principal.key_id : "", cap_s, state);
}

enum error_code admission_compute(struct request *rq)
{
    struct cpu_state key, tenant;
    bool key_waits = !look_at_cpu(rq, true, &key);
    bool tenant_waits = !look_at_cpu(rq, false, &tenant);
    double wait_s =
        fmax(key_waits ? key.retry_after_s : 0, tenant_waits ? tenant.retry_after_s : 0);

    if (!key_waits && !tenant_waits)
        return OK;
    rq->err->retry_after_s = (int)fmin(wait_s, 86400);
    rq->err->violated_policy = POLICY_CPU;
    return fail(rq->err, ERR_RATE_LIMITED, "",
                "the %s has used the %g seconds of processor that it has for an hour; "
                "computations are possible again in %.0f s; GET /v1/quotas shows what is "
                "left",
                key_waits ? POLICY_OF_KEY : POLICY_OF_TENANT,
                key_waits ? key.limit_s : tenant.limit_s, wait_s);
}

/* Buckets that nobody has are passed over. */
static void charge(struct request *rq, double used_s)
{
    struct cpu_quota *quota = rq->service->cpu_quota;

    if (*rq->principal.key_id)
        cpu_quota_charge(quota, rq->principal.tenant, rq->principal.key_id, used_s);
    cpu_quota_charge(quota, rq->principal.tenant, "", used_s);
}

void admission_begin(struct request *rq)
{
    bool counts =
        rq->replay || rq->quota.cpu_s_per_hour > 0 || rq->tenant_quota.cpu_s_per_hour > 0;

    rq->cpu_began_s = counts ? clock_thread_cpu_s() : (double)NAN;
    rq->cpu_charged_at_s = clock_monotonic_s();
}

void admission_look(struct request *rq, double now_s)
{
    double cpu_s;

    if (isnan(rq->cpu_began_s) || now_s - rq->cpu_charged_at_s < CHARGE_EVERY_S)
        return;
    cpu_s = clock_thread_cpu_s();
    charge(rq, cpu_s - rq->cpu_began_s);
    rq->cpu_began_s = cpu_s;
    rq->cpu_charged_at_s = now_s;
}

void admission_end(struct request *rq)
{
    if (isnan(rq->cpu_began_s))
        return;
    charge(rq, clock_thread_cpu_s() - rq->cpu_began_s);
    rq->cpu_began_s = NAN;
}

void admission_charge(struct request *rq, double used_s)
{
    if (!isnan(rq->cpu_began_s) && used_s > 0)
        charge(rq, used_s);
}

/* ---- what is left ---- */

static size_t request_policy(struct request *rq, struct admission_policy *out)
{
    struct request_bucket buckets[2];
    size_t count = request_buckets(rq, buckets);
    const struct request_bucket *b;

    look_at_requests(rq, buckets, count);
    if (count == 0)
        return 0;
    b = scarcer(buckets, count);
    *out = (struct admission_policy){POLICY_REQUESTS,          b->scope,
                                     b->state.limit_count,     UNIT_REQUESTS,
                                     b->state.remaining_count, whole_s(b->state.reset_s)};
    return 1;
}

static size_t cpu_policy(struct request *rq, struct admission_policy *out)
{
    struct cpu_state key = {0}, tenant = {0};
    bool of_key;

    look_at_cpu(rq, true, &key);
    look_at_cpu(rq, false, &tenant);
    of_key =
        key.limit_s > 0 && !(tenant.limit_s > 0 && tenant.remaining_s < key.remaining_s);
    if (!of_key && !(tenant.limit_s > 0))
        return 0;
    *out = (struct admission_policy){POLICY_CPU,
                                     of_key ? POLICY_OF_KEY : POLICY_OF_TENANT,
                                     of_key ? key.limit_s : tenant.limit_s,
                                     UNIT_CPU,
                                     of_key ? key.remaining_s : tenant.remaining_s,
                                     of_key ? key.reset_s : tenant.reset_s};
    return 1;
}

size_t admission_policies(struct request *rq, struct admission_policy *out)
{
    size_t count = request_policy(rq, out);

    count += cpu_policy(rq, out + count);
    count += concurrent_policy(rq, out + count);
    count += held_policy(rq, &quota_members[QUOTA_memory_bytes], leased, POLICY_MEMORY,
                         UNIT_MEMORY, out + count);
    count += held_policy(rq, &quota_members[QUOTA_time_limit_max_s], NULL,
                         POLICY_TIME_LIMIT, UNIT_TIME, out + count);
    return count;
}

double admission_time_limit_s(const struct request *rq)
{
    return quota_lower(rq->quota.time_limit_max_s, rq->tenant_quota.time_limit_max_s);
}
