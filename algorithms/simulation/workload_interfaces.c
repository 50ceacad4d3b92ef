/* simulation/workload_interfaces.c - several user interfaces, each with its own jobs.
 *
 * An interface is a workload whose streams are named after it: what one submits does not
 * depend on the others. Their jobs come together by arrival.
 *
 * Source: spec simulator.md 3.5; 000_168dd5aef5075332 2.2 [L713].
 * Deviation: interfaces have no node: a submission moves no data, inputs come from the
 * storage.
 * Cost: O(interfaces) a job.
 */
#include "algorithms/simulation/workload_parts.h"
#include "models/base/names.h"

struct interface_state {
    struct workload_source *source;
    struct sim_job next;
    bool has_next;
    size_t first_user, first_given;
};

static size_t given_count(const struct workload *w)
{
    return w->generator == WORKLOAD_SWF ? w->swf_job_count : w->given_count;
}

static enum error_code open_interfaces(struct workload_source *s, struct arena *a,
                                       struct error *err)
{
    const struct workload *w = s->config;
    struct interface_state *list = NEW(a, struct interface_state, w->interface_count);
    size_t users = 0, given = 0;

    for (size_t i = 0; i < w->interface_count; i++) {
        const struct workload_interface *interface = &w->interfaces[i];
        const char *name = arena_printf(a, "ui.%s", interface->id);

        TRY(workload_open(interface->workload, s->seed ^ hash_fnv1a(name), s->end_s,
                          &list[i].source, a, err));
        list[i].first_user = users;
        list[i].first_given = given;
        users += workload_user_count(list[i].source);
        given += given_count(interface->workload);
        list[i].has_next = workload_next(list[i].source, &list[i].next);
    }
    s->user_count = users ? users : 1;
    s->state = list;
    return OK;
}

static bool next_of_interfaces(struct workload_source *s, struct sim_job *job)
{
    struct interface_state *list = s->state, *first = NULL;

    for (size_t i = 0; i < s->config->interface_count; i++)
        if (list[i].has_next &&
            (!first || list[i].next.arrival_s < first->next.arrival_s))
            first = &list[i];
    if (!first)
        return false;
    *job = first->next;
    job->user += first->first_user;
    if (job->given != SIZE_MAX)
        job->given += first->first_given;
    first->has_next = workload_next(first->source, &first->next);
    return true;
}

const struct workload_maker workload_interfaces = {NULL, open_interfaces,
                                                   next_of_interfaces};
