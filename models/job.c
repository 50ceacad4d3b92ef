/* job.c - a job of which nothing is said, and names of copies. */
#include "models/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

const char *job_group_key(const struct job_group *g)
{
    if (g->policy == JOB_SAME_SITE)
        return JOB_KEY_SITE;
    return g->key ? g->key : JOB_KEY_RESOURCE;
}

static bool is_attribute(const char *key)
{
    return strcmp(key, JOB_KEY_RESOURCE) != 0 && strcmp(key, JOB_KEY_SITE) != 0;
}

bool job_group_keys_agree(const char *a, const char *b)
{
    return is_attribute(a) && is_attribute(b) ? strcasecmp(a, b) == 0 : strcmp(a, b) == 0;
}

const char *job_group_attribute(const struct job_group *g)
{
    const char *key = job_group_key(g);

    return g->policy != JOB_GANG && is_attribute(key) ? key : NULL;
}
