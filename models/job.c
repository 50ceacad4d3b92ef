/* job.c - a job of which nothing is said. */
#include "models/job.h"

#include <math.h>

struct job job_unset(const char *id)
{
    return (struct job){.id = id,
                        .estimate_ref_s = NAN,
                        .cpus = 1,
                        .deadline_s = NAN,
                        .queued_at_s = NAN,
                        .deadline_at_s = NAN,
                        .task_index = NAN,
                        .param_start = NAN,
                        .param_increment = NAN,
                        .nodes = 1,
                        .time_limit_s = NAN,
                        .estimate_s = NAN,
                        .weight = 1};
}
