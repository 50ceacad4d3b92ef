/* session_census.h - how many workflow sessions there are of each status.
 *
 * What is stored with each session is counted, over all tenants, every CENSUS_EVERY_S by
 * a thread; /metrics shows the last count. A count that takes long is made more seldom.
 */
#ifndef GRIDPLAN_SESSION_CENSUS_H
#define GRIDPLAN_SESSION_CENSUS_H

#include "service/metrics.h"
#include "service/store_session.h"

#define CENSUS_EVERY_S 2

struct session_census_options {
    struct db *db;
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Does nothing before session_census_begin(), which starts the thread when the schema is
 * there. */
struct session_census;
enum error_code session_census_create(const struct session_census_options *options,
                                      struct session_census **out, struct error *err);
void session_census_begin(struct session_census *c);

/* Accepts NULL. */
void session_census_close(struct session_census *c);

/* Rows of /metrics; `c` NULL: none. */
void session_census_metrics(struct session_census *c, struct metrics *m);

#endif
