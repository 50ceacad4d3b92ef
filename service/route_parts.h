/* route_parts.h - the parts of a request's way that route.c and keyed.c share. */
#ifndef GRIDPLAN_ROUTE_PARTS_H
#define GRIDPLAN_ROUTE_PARTS_H

#include "service/route.h"

/* A body as the handler's tables want it: decompressed, JSON where texts were sent. */
struct content {
    const char *text;
    size_t length;
};

/* Reads it from the message. */
enum error_code route_content(struct request *rq, struct content *body);

/* Binds the body and runs the handler: rq->out. */
enum error_code route_run(struct request *rq, const struct content *body);

/* Prints rq->out into rq->reply; what a handler has put there itself stays. */
enum error_code route_print(struct request *rq);

/* What the request stores, and the answer, which may tell of it. */
enum error_code route_write(struct request *rq, struct db_session *db,
                            const struct content *body);

/* A request before it is computed, to be computed again when it was overtaken. */
struct route_tries {
    struct request before;
    struct reply reply;
    int count; /* that have failed */
};
struct route_tries route_tries_begin(const struct request *rq);

/* Whether it was overtaken and is to be run again, and there is somebody who waits for
 * it: then it is as it was, but for what it has used. */
bool route_try_again(struct route_tries *tries, struct request *rq);

/* route_run(), route_write() and route_print(), without a key. */
enum error_code route_run_whole(struct request *rq, const struct content *body);

/* Whether route_write() writes. */
bool route_writes(const struct request *rq);

/* The value of the reply's header of this name; NULL: there is none. */
const char *route_reply_header(const struct reply *reply, const char *name);

/* Sends the form that the client wanted, if it was made. */
void route_send_form(struct request *rq);

/* Has service->draw make the form of a stored JSON answer. */
enum error_code route_draw(struct request *rq, enum answer_form form, const char *answer);

#endif
