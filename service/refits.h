/* refits.h - models learn the executions that were stored for them.
 *
 * A thread asks the database which models have executions that nobody has looked at,
 * and has the governor run each of them, behind what its tenant waits for, by the route
 * POST /v1/models/{model_id}/refine as if a client had asked for it. Every replica
 * does so; a claim that ends by itself sees to it that one of them does the work, and the
 * model's generation that one of them writes. Predictions go on with the version before.
 */
#ifndef GRIDPLAN_REFITS_H
#define GRIDPLAN_REFITS_H

#include "service/service.h"

enum { REFITS_AT_ONCE_MAX = 16 };

struct refits_options {
    size_t at_once; /* models of this process at the same time, 1..AT_ONCE_MAX */
    double poll_s;  /* > 0: how often to look for what others have stored */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Starts the thread. Uses db, governor, config, routes, metrics and draining of
 * *service, which must stay. */
struct refits;
enum error_code refits_create(struct service *service,
                              const struct refits_options *options, struct refits **out,
                              struct error *err);

/* There are executions to learn: look at once. Accepts NULL. */
void refits_wake(struct refits *r);

/* Waits for what runs. Accepts NULL. */
void refits_close(struct refits *r);

#endif
