/* store_simulation.h - what simulations read and leave: uploaded traces, and the
 * queue of those that run without a client.
 *
 * The rules and errors of store.h hold here too.
 *
 * A simulation is queued, then running under a lease of its owner, then done,
 * cut, cancelled or failed. An owner renews its lease; one that is dead does
 * not, and whoever claims next takes its simulation up again. Parts that were complete
 * by then are kept, and need not be played again. All that an owner writes is written
 * only while it still is the owner.
 */
#ifndef GRIDPLAN_STORE_SIMULATION_H
#define GRIDPLAN_STORE_SIMULATION_H

#include "service/store.h"

enum { STORE_SIMULATIONS_WAITING_MAX = 1000 }; /* not finished, of one tenant */

/* ---- uploads ---- */

enum store_trace_kind { STORE_WORKLOAD, STORE_FAILURE_TRACE };

enum { STORE_PIECE_BYTES = 8 * 1024 * 1024 };

struct store_trace {
    const char *trace_id;
    const char *format;       /* "swf", "lanl_cfdr", "fta" */
    struct db_bytes document; /* byte for byte as it was given; none in lists, and empty
                                 when it is in pieces */
    uint64_t piece_bytes;     /* length of it in pieces; 0: there are none */
    uint64_t document_bytes;
    uint64_t line_count, record_count, skipped_count;
    const char *summary; /* JSON: what was found when it was read */
    double created_at_s; /* instant; set by the database */
};

/* ERR_CONFLICT if there is one of that name. */
enum error_code store_trace_create(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind,
                                   const struct store_trace *trace,
                                   struct store_trace *out, struct arena *a,
                                   struct error *err);

/* Stores piece `number`, from 0, of a document, in the transaction that created it. */
enum error_code store_trace_piece(struct db_session *s, const char *tenant,
                                  enum store_trace_kind kind, const char *trace_id,
                                  uint64_t number, struct db_bytes content,
                                  struct error *err);

/* Gets a piece of a document, which lives during the call; what is taken of the arena
 * meanwhile is gone behind it. A failure ends the reading. */
typedef enum error_code store_piece_fn(void *context, const char *piece, size_t length,
                                       struct error *err);

/* The pieces in their order; `a` has one of them at a time. ERR_NOT_FOUND: it has been
 * deleted meanwhile. */
enum error_code store_trace_pieces(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind,
                                   const struct store_trace *trace, store_piece_fn *take,
                                   void *context, struct arena *a, struct error *err);

/* With the document if it is wanted. ERR_NOT_FOUND. */
enum error_code store_trace_read(struct db_session *s, const char *tenant,
                                 enum store_trace_kind kind, const char *trace_id,
                                 bool with_document, struct store_trace *out,
                                 struct arena *a, struct error *err);

/* By trace_id (bytewise), without the documents. */
enum error_code store_traces_list(struct db_session *s, const char *tenant,
                                  enum store_trace_kind kind,
                                  const struct store_page *page,
                                  const struct store_trace **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err);

/* ERR_NOT_FOUND. */
enum error_code store_trace_delete(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind, const char *trace_id,
                                   struct error *err);

/* ---- simulations ---- */

/* How far one has come. Written by the thread that runs it, read by another. */
struct store_progress {
    double ratio; /* 0..1 */
    uint64_t event_count, run_count;
};

static inline void progress_write(struct store_progress *to, struct store_progress now)
{
    __atomic_store(&to->ratio, &now.ratio, __ATOMIC_RELAXED);
    __atomic_store(&to->event_count, &now.event_count, __ATOMIC_RELAXED);
    __atomic_store(&to->run_count, &now.run_count, __ATOMIC_RELAXED);
}

static inline struct store_progress progress_read(const struct store_progress *from)
{
    struct store_progress now;

    __atomic_load(&from->ratio, &now.ratio, __ATOMIC_RELAXED);
    __atomic_load(&from->event_count, &now.event_count, __ATOMIC_RELAXED);
    __atomic_load(&from->run_count, &now.run_count, __ATOMIC_RELAXED);
    return now;
}

/* A part that is complete. What it means is the business of who plays the simulation. */
struct store_part {
    uint64_t number;
    struct db_bytes content;
};

/* For who plays one: what is there of it, and where to leave more. */
struct store_parts {
    const struct store_part *found; /* by earlier owners, ascending */
    size_t found_count;
    /* The content must stay as long as it is played. */
    void (*keep)(void *context, const struct store_part *part);
    void *context;
};

/* NULL: there is no such part. `parts` may be NULL. */
const struct store_part *store_parts_find(const struct store_parts *parts,
                                          uint64_t number);

struct store_simulation {
    const char *tenant;
    const char *simulation_id; /* UUID */
    const char *name;          /* NULL: none */
    const char *kind;          /* as POST /v1/simulations; NULL: stored earlier */
    int stored_kind;           /* 0: of those that this is of among answers, the first */
    const char *status;        /* see above */
    struct store_progress progress;
    uint64_t attempt_count;
    bool cancel_requested;
    double created_at_s, started_at_s, finished_at_s; /* instants; NAN: not yet */
    const char *error;                                /* JSON; NULL: it did not fail */
    const char *result;                               /* JSON; NULL: none, and in lists */
    const char *route;             /* path template; claimed ones only, as what follows */
    const char *request;           /* JSON as it came */
    const char *snapshot_document; /* what snapshot_id meant then; NULL: not named */
    const char *history_document;  /* JSON of what else was looked up; NULL: nothing */
};

/* Queues one: simulation_id, name, kind, route, request, both documents and the digest
 * count. *out is what was stored. ERR_BUSY when too many wait. */
enum error_code store_simulation_create(struct db_session *s, const char *tenant,
                                        const struct store_simulation *simulation,
                                        struct db_bytes request_sha256,
                                        struct store_simulation *out, struct arena *a,
                                        struct error *err);

/* With the result. ERR_NOT_FOUND, also when the id is no UUID. */
enum error_code store_simulation_read(struct db_session *s, const char *tenant,
                                      const char *simulation_id,
                                      struct store_simulation *out, struct arena *a,
                                      struct error *err);

/* Newest first; status, kind NULL: any. */
enum error_code store_simulations_list(struct db_session *s, const char *tenant,
                                       const char *status, const char *kind,
                                       const struct store_page *page,
                                       const struct store_simulation **list,
                                       size_t *count, const char **next_token,
                                       struct arena *a, struct error *err);

/* Asks its owner to stop; one that nobody runs is cancelled at once. *found
 * false: there is none that has not finished. *out is how it is now. */
enum error_code store_simulation_cancel(struct db_session *s, const char *tenant,
                                        const char *simulation_id, bool *found,
                                        struct store_simulation *out, struct arena *a,
                                        struct error *err);

/* Deletes a finished one. ERR_NOT_FOUND when there is none of that id,
 * ERR_CONFLICT when it has not finished. */
enum error_code store_simulation_delete(struct db_session *s, const char *tenant,
                                        const char *simulation_id, struct arena *a,
                                        struct error *err);

/* ---- for who runs them ---- */

/* The one that waits longest, of any tenant: queued, or left by an owner whose
 * lease has ended. It is running now, for `owner_id` (a new UUID for each
 * claim), until lease_s from now. *found false: none waits. */
enum error_code store_simulation_claim(struct db_session *s, const char *owner_id,
                                       double lease_s, bool *found,
                                       struct store_simulation *out, struct arena *a,
                                       struct error *err);

/* Renews the lease and notes the progress. *held false: it is somebody else's, or
 * no more. */
enum error_code store_simulation_renew(struct db_session *s, const char *owner_id,
                                       const struct store_simulation *claimed,
                                       double lease_s,
                                       const struct store_progress *progress, bool *held,
                                       bool *cancel_requested, struct arena *a,
                                       struct error *err);

/* The parts of one that was claimed, by number. */
enum error_code store_simulation_parts(struct db_session *s,
                                       const struct store_simulation *claimed,
                                       const struct store_part **list, size_t *count,
                                       struct arena *a, struct error *err);

/* Keeps a part until the simulation ends; nothing happens when it is there, or when the
 * simulation is somebody else's. */
enum error_code store_simulation_keep(struct db_session *s, const char *owner_id,
                                      const struct store_simulation *claimed,
                                      const struct store_part *part, struct error *err);

/* Gives it back to the queue as if it had not been claimed; nothing happens when
 * it is somebody else's. */
enum error_code store_simulation_release(struct db_session *s, const char *owner_id,
                                         const struct store_simulation *claimed,
                                         struct error *err);

/* Ends it: `status` is done, cut or failed; instead of cut it is cancelled if that
 * was asked for. Nothing happens when it is somebody else's. */
enum error_code store_simulation_finish(struct db_session *s, const char *owner_id,
                                        const struct store_simulation *claimed,
                                        const char *status, const char *result,
                                        const char *error,
                                        const struct store_progress *progress,
                                        struct error *err);

#endif
