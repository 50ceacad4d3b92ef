/* machine_effects.h - how much faster machines are than each other, for the models that
 * learn. */
#ifndef GRIDPLAN_MACHINE_EFFECTS_H
#define GRIDPLAN_MACHINE_EFFECTS_H

#include "models/fitted/fitted.h"
#include "service/route.h"

/* The tenant's effects, by key, as they were worked out last. */
enum error_code machine_effects_stored(struct request *rq, struct db_session *db,
                                       const struct fitted_effect **list, size_t *count);

/* The tenant's effects, by key; worked out anew when they are older than a minute. */
enum error_code machine_effects_now(struct request *rq, struct db_session *db,
                                    const struct fitted_effect **list, size_t *count);

#endif
