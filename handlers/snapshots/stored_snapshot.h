/* stored_snapshot.h - what all that is about one stored snapshot shares. */
#ifndef GRIDPLAN_STORED_SNAPSHOT_H
#define GRIDPLAN_STORED_SNAPSHOT_H

#include "models/snapshot.h"
#include "service/json_patch.h"
#include "service/route.h"
#include "service/store.h"

/* Adds the ETag of its version. */
void snapshot_add_etag(struct request *rq, const struct store_snapshot *s);

/* Whether If-Match names no certain version. */
bool snapshot_matches_any(const struct message *m);

/* ERR_STALE unless If-Match names the stored version, or any, or is missing. */
enum error_code snapshot_check_if_match(struct request *rq,
                                        const struct store_snapshot *stored);

/* Checks that `text` is a snapshot that makes sense: what it names is there, amounts and
 * times do not contradict each other. */
enum error_code snapshot_check_document(struct request *rq, const char *text,
                                        size_t length);

/* The same of what a change has made; mistakes have the pointers of the change. */
enum error_code snapshot_check_patched(struct request *rq,
                                       const struct json_patched *patched);

/* A change of a part of the snapshot rq->path_value[0], while its row is locked. */
struct snapshot_change;
typedef enum error_code snapshot_change_fn(struct snapshot_change *c,
                                           struct db_session *db, const char **document);
struct snapshot_change {
    struct request *rq;
    snapshot_change_fn *make; /* *document: the new one; NULL: it stays as it is. It may
                                 be called again from its start */
    void *context;
    struct store_snapshot stored; /* as it was */
    struct store_snapshot now;    /* as it is then; without the document */
};

/* If-Match, if the route honours it, is checked first. */
enum error_code snapshot_change(struct snapshot_change *c);

#endif
