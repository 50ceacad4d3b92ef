/* store.h - what is stored: one typed function per named statement.
 *
 * Everything belongs to a tenant. Every function is one statement, whole or not
 * at all, and takes part in the session's transaction if one is open. Texts
 * must be UTF-8 without U+0000; results live in the arena.
 *
 * Errors, besides those named: ERR_UNAVAILABLE and ERR_BUSY (try again after
 * retry_after_s), ERR_CANCELLED, ERR_TOO_LARGE (the arena is full), ERR_INVALID
 * for a page token or an instant that makes no sense (outside the years 1 to
 * 9999; pointer "/INDEX/MEMBER"). Instants are kept to the microsecond.
 *
 * Rows of any time can be stored: months that have no partition go to a default
 * one and are moved when theirs is made. Yet a handler should refuse instants
 * more than STORE_FUTURE_MAX_S ahead of its clock: they are mistakes.
 */
#ifndef GRIDPLAN_STORE_H
#define GRIDPLAN_STORE_H

#include "models/checkpoint_log.h"
#include "models/execution.h"
#include "models/failure_history.h"
#include "models/load_history.h"
#include "models/reschedule_event.h"
#include "service/db.h"
#include "service/quota.h"

enum {
    STORE_FUTURE_MAX_S = 86400,
    STORE_PAGE_MAX = 1000000,    /* rows of one read; handlers allow 1000 */
    STORE_INTERVALS_MAX = 10000, /* of one aggregate */
    STORE_IDEMPOTENCY_KEPT_S = 86400
};

/* ---- pages ---- */

/* A part of a list. The token says where the last page ended: the same call
 * with it gives the next one, also when rows were added meanwhile. */
struct store_page {
    const char *token; /* NULL: from the start */
    size_t limit;      /* 1..STORE_PAGE_MAX */
};

/* ---- history: load samples, failures, executions, checkpoint logs, moves ---- */

/* Which rows: all that are given must fit. */
struct store_filter {
    const char *resource_id;    /* NULL: any */
    const char *to_resource_id; /* load samples: the link's end; NULL: any */
    const char *application_id; /* executions, checkpoint logs; NULL: any */
    const char *site_id;        /* executions; NULL: any */
    const char *job_id;         /* checkpoint logs; NULL: any */
    const char *run_id;         /* moves; NULL: any; the next two likewise */
    const char *from_site_id, *to_site_id;
    double from_at_s; /* instant, included; NAN: from the first */
    double to_at_s;   /* instant, excluded; NAN: to the last */
    bool newest_first;
};

/* Ends the failures of a resource that are still open and began before the
 * instant; *closed counts them. */
enum error_code store_failure_close(struct db_session *s, const char *tenant,
                                    const char *resource_id, double up_at_s,
                                    size_t *closed, struct error *err);

/* Statistics of one measure for each interval of `step_s` seconds (>= 0.001)
 * that has samples, from filter->from_at_s (an interval begins there; neither
 * end may be NAN), in the order of time. resource_id must be given. ERR_INVALID
 * when there would be more than STORE_INTERVALS_MAX. */
enum error_code store_load_intervals(struct db_session *s, const char *tenant,
                                     const struct store_filter *filter,
                                     enum load_measure measure, double step_s,
                                     const struct load_interval **list, size_t *count,
                                     struct arena *a, struct error *err);

/* The failures that overlap [from, to), open ones too, by down_at, at most
 * STORE_PAGE_MAX (*cut says that there are more): for statistics. */
enum error_code store_failures_overlapping(struct db_session *s, const char *tenant,
                                           const char *resource_id, double from_at_s,
                                           double to_at_s, const struct failure **list,
                                           size_t *count, bool *cut, struct arena *a,
                                           struct error *err);

/* ---- snapshots ---- */

struct store_snapshot {
    const char *snapshot_id;
    uint64_t generation;  /* 1, 2 ...: of every change */
    const char *document; /* JSON, byte for byte as it was given; NULL in lists */
    uint64_t document_bytes;
    double created_at_s, updated_at_s; /* instants */
    double written_at_s;               /* instant of the last whole write */
    uint64_t lease_revision;           /* grows with each lease made or confirmed */
};

/* ERR_CONFLICT if there is one of that name. */
enum error_code store_snapshot_create(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, const char *document,
                                      struct store_snapshot *out, struct arena *a,
                                      struct error *err);

/* ERR_NOT_FOUND. */
enum error_code store_snapshot_read(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err);

/* The same without the document. */
enum error_code store_snapshot_head(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err);

/* With it, and nobody else changes it before the open transaction ends. */
enum error_code store_snapshot_lock(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, struct store_snapshot *out,
                                    struct arena *a, struct error *err);

/* By snapshot_id (bytewise), without the documents. */
enum error_code store_snapshots_list(struct db_session *s, const char *tenant,
                                     const struct store_page *page,
                                     const struct store_snapshot **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err);

/* Of one that is locked: a part of the document is another one. ERR_NOT_FOUND. */
enum error_code store_snapshot_change(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, const char *document,
                                      struct store_snapshot *out, struct arena *a,
                                      struct error *err);

/* ERR_NOT_FOUND; ERR_STALE when the stored generation is not `expected` (0: any).
 * *out has all but the document. */
enum error_code store_snapshot_update(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, uint64_t expected,
                                      const char *document, struct store_snapshot *out,
                                      struct arena *a, struct error *err);
enum error_code store_snapshot_delete(struct db_session *s, const char *tenant,
                                      const char *snapshot_id, uint64_t expected,
                                      struct arena *a, struct error *err);

/* ---- decisions ---- */

struct store_decision {
    const char *decision_id; /* UUID */
    double created_at_s;     /* instant; set by the database */
    const char *endpoint;    /* path template */
    const char *algorithm;   /* NULL: none */
    const char *status;      /* "optimal", "feasible", "infeasible", "cut" */
    uint64_t seed;
    struct db_bytes request_sha256;
    const char *request;           /* JSON as it came; NULL in lists */
    const char *snapshot_document; /* what snapshot_id meant then; NULL: not named */
    const char *history_document;  /* JSON of what else was looked up; NULL: nothing */
    const char *answer;            /* JSON; NULL in lists */
    const char *answer_columns;    /* JSON; for who prints lists of it so; not stored */
    double api_revision; /* of the release that decided; NAN: before they were counted */
    /* Taken from the answer by the database; JSON_NO_INTEGER, NAN: not known. */
    uint64_t job_count, unplaced_count;
    double makespan_s, gap_ratio, decide_s;
    const char *labels; /* JSON; NULL: none */
};

/* Which decisions; NULL, NAN: any. */
struct store_decision_filter {
    const char *endpoint, *algorithm, *status;
    const char *job_id;        /* the answer names this job or task */
    const char *q;             /* the decision's id begins so, or a text of its labels */
    double from_at_s, to_at_s; /* made in [from, to) */
};

/* ERR_CONFLICT if there is one of that id. */
enum error_code store_decision_create(struct db_session *s, const char *tenant,
                                      const struct store_decision *decision,
                                      struct error *err);

/* Documents of a decision, each of which can be as long as a body. */
struct store_decision_parts {
    bool request, snapshot, history, answer;
};

/* ERR_NOT_FOUND, also when the id is no UUID. */
enum error_code store_decision_read(struct db_session *s, const char *tenant,
                                    const char *decision_id, struct store_decision *out,
                                    struct arena *a, struct error *err);

/* The same, but the other documents are NULL: they do not leave the database. */
enum error_code store_decision_read_parts(struct db_session *s, const char *tenant,
                                          const char *decision_id,
                                          const struct store_decision_parts *parts,
                                          struct store_decision *out, struct arena *a,
                                          struct error *err);

/* Newest first. */
enum error_code store_decisions_list(struct db_session *s, const char *tenant,
                                     const struct store_decision_filter *filter,
                                     const struct store_page *page,
                                     const struct store_decision **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err);

/* ERR_NOT_FOUND. */
enum error_code store_decision_remove(struct db_session *s, const char *tenant,
                                      const char *decision_id, struct error *err);

/* Those of such a list, the oldest first, STORE_REMOVED_MAX at most; *more: there is
 * more. `only_count`: how many that would be. */
enum { STORE_REMOVED_MAX = 100000 };
enum error_code store_decisions_remove(struct db_session *s, const char *tenant,
                                       const char *route, double from_at_s,
                                       double to_at_s, bool only_count, size_t *removed,
                                       bool *more, struct arena *a, struct error *err);

/* ---- keys ---- */

struct store_key {
    const char *tenant;
    const char *key_id;            /* the public part of the key, unique everywhere */
    struct db_bytes digest_sha256; /* of the whole key */
    uint64_t scopes;               /* bits of enum scope */
    const char *label;             /* for people; NULL: none */
    double created_at_s;           /* instant; set by the database */
    double expires_at_s;           /* instant; NAN: never */
    double revoked_at_s;           /* instant; NAN: not revoked */
    struct quota quota;            /* its own */
    struct quota tenant_quota;     /* of all keys of the tenant; only read */
};

/* ERR_CONFLICT if the key_id exists. */
enum error_code store_key_create(struct db_session *s, const struct store_key *key,
                                 struct error *err);

/* Of any tenant, also revoked or expired ones: the caller looks. ERR_NOT_FOUND. */
enum error_code store_key_find(struct db_session *s, const char *key_id,
                               struct store_key *out, struct arena *a, struct error *err);

/* By key_id. */
enum error_code store_keys_list(struct db_session *s, const char *tenant,
                                const struct store_page *page,
                                const struct store_key **list, size_t *count,
                                const char **next_token, struct arena *a,
                                struct error *err);

/* Replaces its own quotas. ERR_NOT_FOUND. */
enum error_code store_key_set_quota(struct db_session *s, const char *tenant,
                                    const char *key_id, const struct quota *quota,
                                    struct error *err);

/* ERR_NOT_FOUND. Revoking twice keeps the first instant. */
enum error_code store_key_revoke(struct db_session *s, const char *tenant,
                                 const char *key_id, struct error *err);

/* ---- idempotency keys ---- */

/* The answer to a request that may come again. */
struct store_answer {
    uint64_t status;          /* HTTP */
    const char *content_type; /* NULL: none, as the next two */
    const char *location;
    const char *etag;
    struct db_bytes body;
};

/* For requests that only store: what they write and their answer are one transaction.
 * Long computations take two (store_attempt.h).
 *
 * Inside the transaction that will hold the request's own writes, before them:
 * *found true: *out is the answer that was given, repeat it. Else the key is ours
 * until the transaction ends: write, store_answer_save(), commit. ERR_CONFLICT:
 * the same request is running now. ERR_INVALID: the key was used for another
 * request (route or body) in the last 24 hours. */
enum error_code store_answer_find(struct db_session *s, const char *tenant,
                                  const char *key, const char *route,
                                  struct db_bytes request_sha256, bool *found,
                                  struct store_answer *out, struct arena *a,
                                  struct error *err);
enum error_code store_answer_save(struct db_session *s, const char *tenant,
                                  const char *key, const char *route,
                                  struct db_bytes request_sha256,
                                  const struct store_answer *answer, struct error *err);

#endif
