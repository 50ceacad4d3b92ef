/* quota.h - what a key, and its tenant, may take of the service.
 *
 * A key has quotas and its tenant has them; a request must stay within both. What
 * neither says is the service's setting.
 */
#ifndef GRIDPLAN_QUOTA_H
#define GRIDPLAN_QUOTA_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Member, flag, least, most, whether a key has it too (else only a tenant), what it is.
 * Every one is a column of tenant_quota, and of api_key where a key has it. */
#define QUOTA_MEMBERS(X)                                                               \
    X(rate_per_s, "rate-per-s", 0.001, 1e6, true, "requests per second")               \
    X(burst_count, "burst-count", 1, 1e6, true, "requests at once")                    \
    X(cpu_s_per_hour, "cpu-s-per-hour", 1, 1e7, true, "seconds of processor per hour") \
    X(concurrent_count, "concurrent-count", 1, 1e4, true, "computations at once")      \
    X(memory_bytes, "memory-bytes", 1048576, 1e13, true, "memory of computations")     \
    X(time_limit_max_s, "time-limit-max-s", 0.001, 86400, true,                        \
      "largest time_limit_s of a request")                                             \
    X(weight, "weight", 0.01, 100, false, "share of the processors, beside others")

/* NAN: not said, the service's setting; 0: no limit (but for weight). */
struct quota {
#define X(member, ...) double member;
    QUOTA_MEMBERS(X)
#undef X
};

enum quota_index {
#define X(member, ...) QUOTA_##member,
    QUOTA_MEMBERS(X)
#undef X
        QUOTA_COUNT
};

struct quota_member {
    const char *name, *flag;
    double least, most;
    bool of_key;
    const char *doc;
    size_t offset; /* in struct quota */
};
extern const struct quota_member quota_members[QUOTA_COUNT];

/* Nothing said. */
struct quota quota_none(void);

/* The member's value. */
double quota_value(const struct quota_member *member, const struct quota *quota);

/* A value as people write it: a number within the member's bounds, "0" or "none": no
 * limit, "default": the service's setting. ERR_INVALID names the member. */
enum error_code quota_read(const struct quota_member *member, const char *text,
                           struct quota *quota, struct error *err);

/* The lower of two limits: NAN does not bound, 0 neither. NAN: none bounds. */
double quota_lower(double a, double b);

#endif
