/* auto_models.h - models that come by themselves: of kind auto, with the first run of an
 * application that has none, and for memory with the second that says its peak. */
#ifndef GRIDPLAN_AUTO_MODELS_H
#define GRIDPLAN_AUTO_MODELS_H

#include "models/execution.h"
#include "service/route.h"

/* After these runs were stored. A failure leaves nothing behind but models that are not
 * there yet. *warning: there are too many models; NULL: all is well. */
void auto_models_make(struct request *rq, struct db_session *db,
                      const struct execution *list, size_t count, const char **warning);

#endif
