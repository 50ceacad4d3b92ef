/* kinds.h - requests of several kinds, each with tables and a handler of its own. */
#ifndef GRIDPLAN_KINDS_H
#define GRIDPLAN_KINDS_H

#include "service/route.h"

/* Makes room for the answer of the body's kind, whose tables are answers[], and has
 * runs[kind] fill it. Kinds stand in the same order in all tables. */
enum error_code answer_by_kind(struct request *rq, const struct json_of_kind *body,
                               const struct json_kind *answers, handler_fn *const *runs,
                               struct json_of_kind *answer);

#endif
