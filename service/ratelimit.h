/* ratelimit.h - a token bucket for each key or address.
 *
 * A bucket holds `burst` requests and fills at `rate` a second. The table is
 * bounded: when it is full, the bucket that is nearest to full, which loses
 * least, makes room.
 */
#ifndef GRIDPLAN_RATELIMIT_H
#define GRIDPLAN_RATELIMIT_H

#include <stdbool.h>
#include <stddef.h>

struct ratelimit;

/* For about `bucket_count` callers at a time; NULL without memory. */
struct ratelimit *ratelimit_create(size_t bucket_count);
void ratelimit_close(struct ratelimit *limits);

struct ratelimit_state {
    double limit_count;     /* burst: what a full bucket allows */
    double remaining_count; /* requests left now */
    double reset_s;         /* until one more is left, were it not full; > 0 */
    double retry_after_s;   /* until the next request is allowed; 0: now */
    double window_s;        /* limit_count / rate: "w" of RateLimit-Policy */
};

/* Takes one request out of the bucket `name` (a key's id, or an address); false
 * when it is empty. rate_per_s > 0, burst_count >= 1. `now_s` is monotonic. */
bool ratelimit_take(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s, struct ratelimit_state *state);

/* Puts the request back that ratelimit_take() has taken. */
void ratelimit_give(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s);

/* The state of the bucket, of which nothing is taken. */
void ratelimit_look(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s, struct ratelimit_state *state);

#endif
