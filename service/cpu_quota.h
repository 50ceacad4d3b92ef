/* cpu_quota.h - seconds of processor that keys and tenants may use in an hour.
 *
 * A bucket for each key or tenant that has such a quota: it holds an hour's seconds and
 * fills evenly. It is paid afterwards: a computation begins while at least one second is
 * there and is charged what it used, so that the level can fall below 0; that debt is
 * paid by waiting. All replicas share the bucket through table quota_bucket: each asks
 * for the level when it meets a bucket, sends what it has used every few seconds and
 * learns the level. Without a database the level is this process's own.
 */
#ifndef GRIDPLAN_CPU_QUOTA_H
#define GRIDPLAN_CPU_QUOTA_H

#include <stdbool.h>

struct db;

/* One bucket; times on one monotonic clock. */
struct cpu_bucket {
    double cap_s;    /* what it holds, and what it gets in an hour; > 0 */
    double level_s;  /* at at_s; negative: debt */
    double at_s;     /* the last refill */
    double unsent_s; /* used, and not yet told to the others */
};

struct cpu_state {
    double limit_s;       /* cap */
    double remaining_s;   /* whole seconds, >= 0 */
    double reset_s;       /* until one more comes, rounded up, >= 1 */
    double retry_after_s; /* until a computation is admitted, rounded up; 0: now */
};

/* A full bucket. */
struct cpu_bucket cpu_bucket_make(double cap_s, double now_s);

/* The level is what it has become at now_s; a changed cap holds from now on. */
void cpu_bucket_refill(struct cpu_bucket *b, double cap_s, double now_s);

struct cpu_state cpu_bucket_state(const struct cpu_bucket *b);

/* The buckets of a process, and a thread that tells the database of them every sync_s.
 * `db` NULL: no database. NULL without memory or thread. */
struct cpu_quota;
struct cpu_quota *cpu_quota_create(struct db *db, double sync_s);

/* What has not been sent is sent once more. Accepts NULL. */
void cpu_quota_close(struct cpu_quota *q);

/* The state of the bucket of (tenant, key_id; "": the tenant itself), which holds cap_s;
 * it begins full. False: a computation must wait. Without memory for a new bucket: true.
 */
bool cpu_quota_look(struct cpu_quota *q, const char *tenant, const char *key_id,
                    double cap_s, struct cpu_state *state);

/* Takes used_s off; nothing when there is no such bucket. */
void cpu_quota_charge(struct cpu_quota *q, const char *tenant, const char *key_id,
                      double used_s);

/* Sends all that is unsent now, and learns the levels: what the thread does. */
void cpu_quota_sync(struct cpu_quota *q);

#endif
