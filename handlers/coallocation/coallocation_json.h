/* coallocation_json.h - how multiclusters, parallel jobs and placements look in JSON.
 *
 * Shared by the endpoints of co-allocation. A request has a struct co_snapshot and jobs
 * (struct co_job_request); co_world_read() and co_job_read() check what tables cannot and
 * make indexes of names; placements go back by co_placement_fill(), refusals by
 * co_unplaced_fill().
 *
 * Source: spec coallocation.md 3.4, 6.7, 18.
 */
#ifndef GRIDPLAN_COALLOCATION_JSON_H
#define GRIDPLAN_COALLOCATION_JSON_H

#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/timeline.h"
#include "handlers/coallocation/launch_plan.h"
#include "handlers/common/decision.h"
#include "service/json.h"

enum { CO_JOBS_MAX = 10000, CO_COMPONENTS_MAX = 100000, CO_FILES_MAX = 1000000 };

/* ---- requests ---- */

extern const struct json_object co_site_json;
extern const struct json_object co_link_json;
extern const struct json_object co_file_json;
extern const struct json_object co_replica_json;
extern const struct json_object co_named_pair_json;
extern const struct json_object co_snapshot_json;

enum co_site_rule { CO_SITES_ANY, CO_SITES_DISTINCT };
extern const char *const co_site_rule_names[];

/* Which sites a job may have: of a struct that has these members, and those of the texts'
 * counts. */
#define CO_SITE_ROWS(T)                                                                  \
    JSON_CHOICE(T, component_site_rule, co_site_rule_names, CO_SITES_ANY, 0,             \
                "distinct: every component on another site; default any"),               \
        JSON_TEXTS(T, required_capabilities, required_capability_count, 1000, 0,         \
                   "What its sites must have"),                                          \
        JSON_TEXTS(T, allowed_site_ids, allowed_site_count, CO_SITES_MAX, JSON_NULLABLE, \
                   "Sites it may use; default: all"),                                    \
        JSON_TEXTS(T, avoid_site_ids, avoid_site_count, CO_SITES_MAX, 0,                 \
                   "Sites to do without"),                                               \
        JSON_BOOLEAN(T, avoid_sites_soft, 1, 0,                                          \
                     "Use them after all where it would have no place; default true")

/* Classes of jobs, in the order of the levels they stand for. */
extern const char *const co_job_class_names[]; /* cycle_scavenging, batch, occasional,
                                                  interactive */

struct co_component_request {
    const char *id;
    uint64_t processors;
    const char *site_id; /* NULL: free */
    const char *file_id; /* NULL: no input */
    double chunk_bytes;  /* NAN: not given */
};

struct co_job_request {
    const char *id;
    enum co_request_type request_type;
    const char *policy; /* NULL: the request's algorithm */
    int priority;       /* enum co_level; -1: not given */
    int job_class;      /* enum co_level; -1: not given */
    const char *group;  /* NULL: not given */
    const char *runner; /* NULL: not given */
    bool atomic;
    uint64_t min_placed_components;
    enum co_site_rule component_site_rule;
    const char *const *required_capabilities;
    size_t required_capability_count;
    const char *const *allowed_site_ids; /* NULL: all */
    size_t allowed_site_count;
    const char *const *avoid_site_ids;
    size_t avoid_site_count;
    bool avoid_sites_soft;
    double estimate_s;                   /* NAN: not given */
    const struct job_model *model;       /* NULL: none */
    double submit_time_s, queue_entry_s; /* NAN: not given */
    const struct co_component_request *components;
    size_t component_count;
    /* Flexible only; NAN: not given. */
    double total_processors;
    double min_components, max_components;
    double min_component_processors, max_component_processors;
    bool equal_components;
    const char *file_id;
    /* What the caller keeps of the job between requests. */
    uint64_t placement_tries, claim_tries, overtaken_count;
    double l_value;                /* NAN: options.l_initial */
    double original_jst_s;         /* NAN: never placed */
    double total_placement_time_s; /* of earlier placements */
};

extern const struct json_object co_component_request_json;
extern const struct json_object co_job_request_json;

/* What jobs are read against. */
struct co_world {
    struct co_grid grid;
    const struct policy *policy; /* of jobs that name none; NULL: by the type of job */
    const struct named_value *options;
    size_t option_count;
    double common[CO_COMMON_COUNT]; /* options that every policy takes */
    struct co_bound *bound;         /* options of the policies in use */
    double now_s;
};

/* Reads the snapshot, the algorithm and the options that are common to all policies;
 * mistakes are noted in *err, with pointers below /snapshot, /algorithm, /options. now_s
 * NAN: the snapshot's taken_at, else 0. Goes on after mistakes, so that the jobs can be
 * checked too: return err->code when they are. */
enum error_code co_world_read(const struct co_snapshot *snapshot,
                              const struct decision_request *decision, double now_s,
                              struct co_world *out, struct arena *a, struct error *err);

/* For decisions without a policy: notes an algorithm other than "auto", and options other
 * than cache_expiry_s; the decision without an algorithm, for co_world_read(). */
struct decision_request co_plain_decision(const struct decision_request *decision,
                                          struct error *err);

/* Whether a policy in use has a history table. Call once all jobs are read. */
bool co_world_uses_history(const struct co_world *world);

/* Notes every option that no policy in use knows. Call once all jobs are read. */
void co_world_check_options(const struct co_world *world, struct error *err);

/* What is odd about the sites, as warnings inconsistent_site and stale_site. *list grows
 * to hold them. */
void co_world_warnings(const struct co_world *world, const char *const **warnings,
                       size_t *count, struct arena *a);

/* Makes a struct co_job of a request's, `pointer` says where it is ("/jobs/3"). Notes
 * every mistake; *out is complete only if there was none. */
enum error_code co_job_read(const struct co_job_request *in, const char *pointer,
                            struct co_world *world, struct co_job *out, struct arena *a,
                            struct error *err);

/* ---- answers ---- */

struct co_site_processors {
    const char *site_id;
    double processors; /* may be negative in a difference */
};
extern const struct json_object co_site_processors_json;

struct co_transfer_answer {
    const char *file_id, *from_site_id, *to_site_id;
    double bytes, estimated_s;
};
extern const struct json_object co_transfer_answer_json;

struct co_reservation_answer {
    const char *site_id;
    uint64_t processors;
    double start_s, duration_s;
};
extern const struct json_object co_reservation_answer_json;

struct co_component_answer {
    const char *component_id;
    uint64_t processors;
    const char *site_id;
    bool site_fixed;
    const char *file_site_id; /* NULL: no input */
    double transfer_time_s;
    const struct co_reservation_answer *reserve; /* NULL: the site cannot */
};
extern const struct json_object co_component_answer_json;

struct co_objective_answer {
    double ftt_s, lower_bound_s, gap_ratio;
};

struct co_placement_answer {
    const char *job_id;
    const char *policy;
    enum co_request_type request_type;
    const struct co_component_answer *components;
    size_t component_count;
    const struct co_transfer_answer *transfers;
    size_t transfer_count;
    double ftt_s, jpt_s, jst_s, jct_s, l_value;
    const struct co_site_processors *outstanding_delta;
    size_t outstanding_delta_count;
    const struct co_named_pair *history_pairs_added;
    size_t history_pair_count;
    double job_spread_ratio;
    bool co_allocated;
    const struct co_site_processors *remaining_available;
    size_t remaining_count;
    const char *const *unplaced_component_ids;
    size_t unplaced_component_count;
    struct co_objective_answer objective;
    bool avoided_sites_used;
    double placement_time_s, total_placement_time_s; /* NAN: not known */
    const struct launch_plan_alone *launch_plan; /* NULL: no runner of ours is named */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};
extern const struct json_object co_placement_answer_json;

struct co_reason_answer {
    const char *reason;
    uint64_t site_count;
};

struct co_nearest_miss_answer {
    const char *site_id;
    uint64_t processors_short;
};

struct co_unplaced_answer {
    const char *job_id;
    const char *failed_component_id; /* NULL: none in particular */
    const char *reason;
    const struct co_reason_answer *reasons;
    size_t reason_count;
    const struct co_nearest_miss_answer *nearest_miss; /* NULL: none */
    bool never_fits;
    uint64_t placement_tries; /* with this one */
    const struct co_named_pair *history_pairs_added;
    size_t history_pair_count;
};
extern const struct json_object co_unplaced_answer_json;

/* An accepted placement as an answer. `available` is what it left (co_hold() was called).
 * JCT and L are those of a first claim after this placement. */
enum error_code
co_placement_fill(const struct co_world *world, const struct co_job_request *request,
                  const struct co_job *job, const struct co_placement *placement,
                  const size_t *available, struct co_placement_answer *out,
                  struct arena *a, struct error *err);

/* A refused one. */
void co_unplaced_fill(const struct co_world *world, const struct co_job_request *request,
                      const struct co_placement *placement,
                      struct co_unplaced_answer *out, struct arena *a);

/* Pairs and transfers with names instead of indexes. */
void co_pairs_fill(const struct co_grid *grid, const struct co_pair *pairs, size_t count,
                   const struct co_named_pair **out, struct arena *a);
void co_transfers_fill(const struct co_grid *grid, const struct co_transfer *transfers,
                       size_t count, const struct co_transfer_answer **out,
                       struct arena *a);

/* ---- members that nothing looks at ---- */

/* A list of jobs in a body. `is_queue`: of a scan, which looks at
 * overtaken_count. */
struct co_job_list {
    const char *pointer; /* "/jobs" */
    const struct co_job_request *jobs;
    size_t count;
    bool is_queue;
    enum co_level level; /* of the queue */
};

/* A warning for each member that jobs have for nothing: how many, and where the first
 * one is. */
void co_warn_unused(struct request *rq, struct decision_answer *out,
                    const struct co_world *world, const struct co_job_list *list);

/* The history table, as a member that is named, where no policy in use has one. */
void co_warn_unused_history(struct request *rq, struct decision_answer *out,
                            const struct co_world *world,
                            const struct co_snapshot *snapshot, bool is_persisted);

/* A seed; and a limit of the time where nothing is searched for. */
void co_warn_unused_envelope(struct request *rq, struct decision_answer *out,
                             const struct decision_request *decision, bool searches);

/* A member that is given and not looked at, in the single object of a body. */
struct co_unused_member {
    const char *pointer, *why;
    bool unused;
};
void co_warn_unused_members(struct request *rq, struct decision_answer *out,
                            const struct co_unused_member *list, size_t count);

#endif
