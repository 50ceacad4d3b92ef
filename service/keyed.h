/* keyed.h - requests with an Idempotency-Key: each is done once, its answer given again.
 *
 * A request that only stores is one transaction with its answer. One that computes for
 * long goes by steps: reserve the key (a short transaction), compute without a
 * connection, publish (the second one). A request whose key is being computed by somebody
 * else waits, as an entry of a timer.
 */
#ifndef GRIDPLAN_KEYED_H
#define GRIDPLAN_KEYED_H

#include "service/idempotency.h"
#include "service/route_parts.h"
#include "service/session_watch.h"

#define KEYED_POLL_S 0.25 /* how often somebody who waits looks */

enum {
    KEYED_KEY_MAX_BYTES = 255,
    KEYED_HEADERS_MAX = 6, /* of the first step, for the reply of the last one */
    KEYED_HEADER_BYTES = 192,
};

enum keyed_stage {
    KEYED_NEW,   /* nothing is known of the key */
    KEYED_WAITS, /* somebody else is computing it */
    KEYED_OURS,  /* reserved: compute and publish */
    KEYED_LOCAL, /* without a key: it cannot be kept; compute */
};

/* A request on its way through the steps. Zeroed at the start; it points to nothing that
 * dies with a step. */
struct attempt {
    struct held_key held;
    struct waiter waiter; /* http.c's, and whose it is: */
    void *exchange;
    struct session_waiter watch; /* of a ROUTE_WAITS: what it waits for */
    enum keyed_stage stage;
    bool in_memory; /* the key is kept by this process */
    char owner_id[UUID_TEXT_SIZE];
    unsigned char digest[SHA256_BYTES];
    uint64_t begun_count; /* attempts that have begun this request */
    double started_s;     /* monotonic clock; 0: the first step */
    double wait_until_s;  /* 0: it has not waited yet */
    char request_id[REQUEST_ID_MAX_BYTES + 1];
    size_t header_count;
    struct {
        const char *name; /* a string literal */
        char value[KEYED_HEADER_BYTES];
    } headers[KEYED_HEADERS_MAX];
};

/* For `exchange`: `wake` is called when it is time for the next step, `cancelled` is set
 * when the key is lost. To be released by free(); NULL: no memory,
 * then route_answer() does it all in one call. */
struct attempt *attempt_create(void *exchange, void (*wake)(struct waiter *waiter),
                               bool *cancelled);

/* Whether this is not the request's first step; then the headers of that one are in the
 * reply. */
enum error_code keyed_begin(struct request *rq, bool *begun);

/* The request has been let in: keeps the headers that say so. */
void keyed_admitted(struct request *rq);

/* The next step, by rq->attempt->stage: fills rq->reply, or sets rq->next. */
enum error_code keyed_step(struct request *rq);

/* There will be no further step: gives the key back if it is ours, so that who sends the
 * request again computes it. Talks to the database. */
void keyed_give_back(struct service *service, struct attempt *attempt, struct arena *a);

/* A request that only stores: one transaction. */
enum error_code keyed_store(struct request *rq, const struct content *body);

#endif
