/* simulation/vm.h - where an interactive session runs, or that it is rejected.
 *
 * A session needs a share of one resource for as long as it lasts. There is no queue:
 * it is placed when it comes, or rejected for good. The pool knows who runs where; a
 * policy looks at it and names a resource. Policies draw nothing and keep nothing.
 *
 * Source: spec simulator.md 10; 000_168dd5aef5075332 (T) 2.2. The formula of Erlang:
 * any textbook on queues.
 */
#ifndef GRIDPLAN_VM_H
#define GRIDPLAN_VM_H

#include "models/base/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_REJECTED SIZE_MAX

struct vm_session {
    size_t user;
    double mips_required; /* > 0 */
};

struct vm_resource {
    double capacity_mips; /* >= 0 */
    bool up;
    double used_mips; /* of the sessions that run */
    size_t session_count;
    size_t light_count; /* sessions at or below the light threshold */
};

/* Kept by vm_pool_*(); a policy only reads it. */
struct vm_pool {
    const struct policy *policy;
    const double *param;
    struct vm_resource *resources; /* ties go to the lower index */
    size_t resource_count;
    uint32_t *user_sessions; /* [user * resource_count + resource]; NULL: the policy does
                                not ask */
    size_t user_count;
    size_t last;       /* resource of the last session placed; VM_REJECTED: none yet */
    double light_mips; /* a session that requires no more is light: the limit given, else
                          half of the smallest capacity */
    size_t servers;    /* VM_MOVING: light sessions to be ready for on each resource */
    double now_s;
    /* Light sessions until now. */
    uint64_t light_arrivals, light_ended;
    double light_mips_sum;   /* of those that arrived */
    double light_time_s_sum; /* of those that ended */
    /* Stand in until there are some; > 0. */
    double expected_light_mips, expected_session_s;
};

/* A resource, or VM_REJECTED. */
typedef size_t vm_fn(const struct vm_pool *pool, const struct vm_session *session);

enum vm_flag {
    VM_BY_USER = 1, /* asks for user_sessions */
    VM_LIMIT = 2,   /* asks for vm_limit_mips(); its first option is the limit */
    VM_MOVING = 4,  /* the limit moves; its second option is the target blocking */
};

/* What runs a policy of this table. */
static inline vm_fn *vm_fn_of(const struct policy *policy)
{
    return (vm_fn *)policy->run;
}

/* Every policy: name, purpose, source, flags. To add one, write simulation/vm_NAME.c
 * with vm_NAME() and vm_NAME_params[], and its row here. */
#define VM_POLICIES(X)                                                                \
    X(dynamic_limit, "Round robin; heavy sessions where enough light ones run",       \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 2.2")),                                \
           BUT("The limit follows from the formula of Erlang for the share of light " \
               "sessions that find no place")),                                       \
      VM_LIMIT | VM_MOVING)                                                           \
    X(full_fill, "The first resource with room",                                      \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                  \
    X(limit, "Round robin; no session above a resource's limit",                      \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), VM_LIMIT)                           \
    X(round_robin, "The next resource with room after the one used last",             \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                  \
    X(user_clustering, "Where most sessions of the same user run",                    \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), VM_BY_USER)

#define X(name, purpose, source, flags) \
    vm_fn vm_##name;                    \
    extern const struct param vm_##name##_params[];
VM_POLICIES(X)
#undef X

extern const struct policy vm_policies[]; /* sorted by name, ended by {0} */

/* An empty pool, everything up. `param` holds a value for each row of the policy's
 * params (params_bind) and must outlive the pool. expected_*: see above; <= 0 or NAN:
 * 1 MIPS, 3600 s. At most 10^7 users times resources with VM_BY_USER, and the arena's
 * cap: ERR_TOO_LARGE. */
enum error_code vm_pool_create(struct vm_pool *pool, const struct policy *policy,
                               const double *param, const double *capacity_mips,
                               size_t resource_count, size_t user_count,
                               double expected_light_mips, double expected_session_s,
                               struct arena *a, struct error *err);

enum vm_reason {
    VM_PLACED,
    VM_NO_RESOURCE_UP,
    VM_NO_ROOM,     /* no resource that the policy allows has room */
    VM_ABOVE_LIMIT, /* it is above the limit of every resource that is up */
};

/* Names on the wire, by enum vm_reason. */
extern const char *const vm_reason_names[];

/* A session arrives at now_s, not before any earlier event; it runs on *resource from
 * now on, or is rejected (VM_REJECTED). O(resources). */
enum vm_reason vm_pool_arrive(struct vm_pool *pool, const struct vm_session *session,
                              double now_s, size_t *resource);

/* A session that arrived ends, `lasted_s` after its arrival. */
void vm_pool_leave(struct vm_pool *pool, const struct vm_session *session,
                   size_t resource, double lasted_s);

/* The resource fails or comes back. Sessions of one that failed are for the caller to
 * end with vm_pool_drop(), which does not count them as ended. */
void vm_pool_set_up(struct vm_pool *pool, size_t resource, bool up);
void vm_pool_drop(struct vm_pool *pool, const struct vm_session *session,
                  size_t resource);

/* Whether the resource is up and the session fits into what is free. */
bool vm_has_room(const struct vm_pool *pool, const struct vm_session *session,
                 size_t resource);

/* The limit of a resource for one session under the pool's policy, at the last arrival;
 * HUGE_VAL: the policy has none. */
double vm_limit_mips(const struct vm_pool *pool, size_t resource);

/* Erlang's B: probability that all k servers are busy with offered load a >= 0. O(k). */
double erlang_b(double load, size_t servers);

/* Least number of servers with erlang_b() <= target, at most `max`. target > 0. */
size_t erlang_servers(double load, double target, size_t max);

#endif
