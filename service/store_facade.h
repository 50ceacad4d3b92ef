/* store_facade.h - what other tools tell of a run once, and need again later. */
#ifndef GRIDPLAN_STORE_FACADE_H
#define GRIDPLAN_STORE_FACADE_H

#include "service/db.h"

/* Keeps the application of a run until the instant; what was kept of it before goes. */
enum error_code store_run_put(struct db_session *s, const char *tenant,
                              const char *run_id, const char *application_id,
                              double expires_at_s, struct error *err);

/* *application_id: NULL if nothing is kept. */
enum error_code store_run_get(struct db_session *s, const char *tenant,
                              const char *run_id, const char **application_id,
                              struct arena *a, struct error *err);

/* What runs of an application took at a site, or on a machine of that name. */
struct store_place_times {
    const char *place;
    double run_time_s, wait_s; /* means of the last runs that ended well; no wait: 0 */
};

/* Of all places. */
enum error_code store_place_times(struct db_session *s, const char *tenant,
                                  const char *application_id,
                                  const struct store_place_times **list, size_t *count,
                                  struct arena *a, struct error *err);

#endif
