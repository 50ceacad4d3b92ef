/* admission.h - whether a request is within the quotas of its key and its tenant. */
#ifndef GRIDPLAN_ADMISSION_H
#define GRIDPLAN_ADMISSION_H

#include "service/route.h"

/* The policies by name, as in RateLimit fields and violated_policies. */
#define POLICY_REQUESTS   "default"
#define POLICY_CPU        "cpu"
#define POLICY_CONCURRENT "concurrent"
#define POLICY_MEMORY     "memory"
#define POLICY_TIME_LIMIT "time_limit" /* shown only: a refusal names the member */

/* Whose limit, and in which unit. */
#define POLICY_OF_KEY     "key"
#define POLICY_OF_TENANT  "tenant"
#define POLICY_OF_ADDRESS "address" /* without keys */
#define UNIT_REQUESTS     "requests"
#define UNIT_CPU          "cpu-seconds"
#define UNIT_CONCURRENT   "concurrent-requests"
#define UNIT_MEMORY       "bytes"
#define UNIT_TIME         "seconds"

/* Words of struct admission_policy, ended by NULL. */
extern const char *const admission_policy_names[];
extern const char *const admission_scope_names[];
extern const char *const admission_unit_names[];

/* One policy that bounds the caller: of its key's and its tenant's the one with less
 * left. */
struct admission_policy {
    const char *policy;
    const char *scope; /* "key" or "tenant"; "address" without keys */
    double limit;      /* of `unit` */
    const char *unit;
    double remaining; /* whole ones */
    double reset_s;   /* until one more; NAN: nothing refills */
};

enum { ADMISSION_POLICIES_MAX = 5 };

/* Takes one request of the buckets of the key (or address) and of the tenant, and adds
 * the RateLimit fields. ERR_RATE_LIMITED when one is empty. */
enum error_code admission_request(struct request *rq);

/* Adds the fields without taking anything: of a request that was counted already. */
void admission_show(struct request *rq);

/* Whether a computation may begin: seconds of processor are left. ERR_RATE_LIMITED. */
enum error_code admission_compute(struct request *rq);

/* From here on this thread computes for the request, until here; meanwhile the looks of
 * its budget (now_s: monotonic clock) charge what was used since. Without a client
 * the tenant pays. */
void admission_begin(struct request *rq);
void admission_look(struct request *rq, double now_s);
void admission_end(struct request *rq);

/* What other threads have used for it, meanwhile. */
void admission_charge(struct request *rq, double used_s);

/* What bounds the caller, for GET /v1/quotas; the count. */
size_t admission_policies(struct request *rq, struct admission_policy *out);

/* The largest time limit of the request by its quotas; NAN: they say none. */
double admission_time_limit_s(const struct request *rq);

#endif
