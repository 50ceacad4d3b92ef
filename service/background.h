/* background.h - simulations that run without a client.
 *
 * A thread takes what waits in the table `simulation` and has the governor answer it,
 * behind what its tenant waits for, as if its request had come just now. While one runs
 * its lease is renewed, and what is complete of it is kept; when this process dies the
 * lease ends, and another replica goes on from there, with the same seeds and so with the
 * same result. When the service drains, or the database asks for it, what runs is given
 * back.
 *
 * Everything is in the row: nothing has to be told to any replica.
 */
#ifndef GRIDPLAN_BACKGROUND_H
#define GRIDPLAN_BACKGROUND_H

#include "service/service.h"

enum {
    BACKGROUND_AT_ONCE_MAX = 64,
    BACKGROUND_ATTEMPTS_MAX = 5 /* a simulation that kills its process is given up */
};

struct background_options {
    size_t at_once; /* simulations of this process at the same time, 1..AT_ONCE_MAX */
    double lease_s; /* > 0; renewed four times as often, once a second at least */
    double poll_s;  /* > 0: how often to look for work that others have queued */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Starts the thread. Uses db, governor, config, routes, metrics and draining of
 * *service, which must stay. */
struct background;
enum error_code background_create(struct service *service,
                                  const struct background_options *options,
                                  struct background **out, struct error *err);

/* Something was queued: look at once. Accepts NULL. */
void background_wake(struct background *b);

/* Simulations that this process runs now. Accepts NULL. */
size_t background_running_count(const struct background *b);

/* Stops what runs, gives it back, and ends the thread. The compute workers must
 * still run. Accepts NULL. */
void background_close(struct background *b);

#endif
