/* store_reliability.h - stored failures of many resources, and costs of checkpoints
 * of many applications, at once.
 *
 * As store.h, whose rules hold here: for decisions that need the histories of all
 * resources, or applications, of a request.
 */
#ifndef GRIDPLAN_STORE_RELIABILITY_H
#define GRIDPLAN_STORE_RELIABILITY_H

#include "models/failure_history.h"
#include "service/store.h"

struct store_failure_of {
    uint64_t resource;            /* index into the ids */
    double down_at_s;             /* instant */
    double up_at_s;               /* NAN: still down */
    const char *component, *kind; /* as in struct failure */
    const char *site_id;          /* NULL: not known */
};

/* Of each resource the newest failures that began until now_s, `limit` at most, in
 * no order. `ids` is a JSON array of texts. */
enum error_code store_failures_of(struct db_session *s, const char *tenant,
                                  const char *ids, double now_s, size_t limit,
                                  const struct store_failure_of **list, size_t *count,
                                  struct arena *a, struct error *err);

struct store_first_seen {
    uint64_t resource;
    double seen_at_s; /* instant of its first load sample, or row of kind failure: the
                         others do not say that failures would have been stored;
                         NAN: never */
};

/* Since when each resource has been observed; a row for each. */
enum error_code store_first_seen(struct db_session *s, const char *tenant,
                                 const char *ids, double now_s,
                                 const struct store_first_seen **list, size_t *count,
                                 struct arena *a, struct error *err);

struct store_observation_of {
    uint64_t resource; /* index into the ids */
    const char *component, *site_id;
    double from_at_s, to_at_s;
    double component_count;
};

/* The observations of each resource that began until now_s, in the order of time. */
enum error_code store_observations_of(struct db_session *s, const char *tenant,
                                      const char *ids, double now_s,
                                      const struct store_observation_of **list,
                                      size_t *count, struct arena *a, struct error *err);

struct store_peer {
    const char *resource_id;
};

/* The resources that an observation or a failure says to be of one of these sites (a
 * JSON array of texts), or with `sites` NULL all that are known by one; `limit` at
 * most, by id. */
enum error_code store_peers(struct db_session *s, const char *tenant, const char *sites,
                            size_t limit, const struct store_peer **list, size_t *count,
                            struct arena *a, struct error *err);

struct store_checkpoint_cost {
    uint64_t application;                         /* index into the ids */
    uint64_t log_count;                           /* logs with an overhead_s */
    double overhead_s, stored_after_s, restart_s; /* means; NAN: none is known */
};

/* Of each application the mean costs of its newest checkpoints that were taken,
 * `limit` at most; a row for each. */
enum error_code store_checkpoint_costs(struct db_session *s, const char *tenant,
                                       const char *ids, size_t limit,
                                       const struct store_checkpoint_cost **list,
                                       size_t *count, struct arena *a, struct error *err);

struct store_failure_level {
    uint64_t resource; /* index into the ids; without ids: 0 */
    uint64_t level;    /* the lowest that survives them, from 1 */
    uint64_t failure_count;
};

/* Failures (of kind failure) by the level that is stored with them, of each resource in
 * the order of the ids, or with ids NULL of all. */
enum error_code store_failure_levels(struct db_session *s, const char *tenant,
                                     const char *ids,
                                     const struct store_failure_level **list,
                                     size_t *count, struct arena *a, struct error *err);

#endif
