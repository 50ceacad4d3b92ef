/* weights.h - ready jobs weigh what waits for them: the upward ranks of a session's
 * tasks.
 */
#ifndef GRIDPLAN_SESSION_WEIGHTS_H
#define GRIDPLAN_SESSION_WEIGHTS_H

#include "handlers/common/decision.h"
#include "models/job.h"

/* *out: the jobs, those without a weight (NAN) with that of the task of their id: its
 * time and that of the longest way behind it, in mean seconds. Jobs that are no task of
 * the session, or one that is done, and without a session_id (NULL) all, weigh 1; of the
 * former the count, and the first. ERR_NOT_FOUND, ERR_GONE: there is no such session. A
 * replay takes what the decision has kept. O(tasks * resources + edges). */
enum error_code session_weigh(struct request *rq, const char *session_id,
                              const struct job *jobs, size_t count,
                              const struct job **out, size_t *unknown_count,
                              size_t *first_unknown);

#endif
