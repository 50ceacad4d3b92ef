/* job.c - a job of which nothing is said, and names of copies. */
#include "models/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *job_copy_name(const char *id, uint64_t copy, char name[JOB_COPY_NAME_BYTES])
{
    snprintf(name, JOB_COPY_NAME_BYTES, "%.256s[%llu]", id, (unsigned long long)copy);
    return name;
}

size_t job_copy_read(const char *name, uint64_t *copy)
{
    const char *open = strrchr(name, '[');
    size_t digits = open ? strspn(open + 1, "0123456789") : 0;

    if (digits == 0 || digits > 7 || strcmp(open + 1 + digits, "]") != 0 ||
        (digits > 1 && open[1] == '0'))
        return 0;
    *copy = strtoull(open + 1, NULL, 10);
    return (size_t)(open - name);
}
