/* simulation/workload_list.c - jobs that are given: batch, and swf for a log.
 *
 * They arrive in the order of their times, equal ones in the order given. A log's first
 * job arrives at the start of the workload; a job of run time t on a machine of m MIPS
 * has t * m MI on each of its processors. The users of a log are numbered by their
 * numbers there, from 0, those that are not known (if any) first.
 *
 * Source: spec simulator.md 9 (trace); data/README.md (order of arrivals).
 * Cost: O(n log n) to open, O(log users) a job; memory O(n).
 */
#include "algorithms/simulation/workload_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST   1e18
#define USERS_MAX 1000000

struct entry {
    double at_s;
    size_t index;
};

struct list {
    struct entry *entries; /* by time */
    size_t count, next;
    double *users; /* swf: numbers in the log, ascending */
    size_t user_count;
};

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void make_list(struct list **list, size_t count, struct arena *a)
{
    struct list *l = NEW(a, struct list, 1);

    l->entries = NEW(a, struct entry, count);
    l->count = count;
    *list = l;
}

/* A number of a job; NAN passes if it may be left open. */
static void check_measure(double value, bool open, const char *list, size_t index,
                          const char *name, struct workload_place at)
{
    char member[96];

    if ((open && isnan(value)) || (value >= 0 && value <= LARGEST))
        return;
    snprintf(member, sizeof(member), "%s/%zu/%s", list, index, name);
    workload_mistake(at, member, isnan(value) ? ITEM_REQUIRED : ITEM_OUT_OF_BOUNDS,
                     "%g is not between 0 and %g", value, LARGEST);
}

/* ---- batch ---- */

static void check_batch(const struct workload *w, struct workload_place at)
{
    for (size_t i = 0; i < w->given_count; i++) {
        const struct sim_job *j = &w->jobs[i];
        bool session = !isnan(j->mips_required) && !isnan(j->session_s);
        char member[64];

        check_measure(j->arrival_s, false, "jobs", i, "arrival_s", at);
        check_measure(j->length_mi, session, "jobs", i, "length_mi", at);
        check_measure(j->input_bytes, true, "jobs", i, "input_bytes", at);
        check_measure(j->output_bytes, true, "jobs", i, "output_bytes", at);
        check_measure(j->checkpoint_bytes, true, "jobs", i, "checkpoint_bytes", at);
        check_measure(j->checkpoint_overhead_s, true, "jobs", i, "checkpoint_overhead_s",
                      at);
        check_measure(j->mips_required, true, "jobs", i, "mips_required", at);
        check_measure(j->session_s, true, "jobs", i, "session_s", at);
        check_measure(j->requested_s, true, "jobs", i, "requested_s", at);
        if (j->user == SIM_ANY_USER || j->user < USERS_MAX)
            continue;
        snprintf(member, sizeof(member), "jobs/%zu/user", i);
        workload_mistake(at, member, ITEM_OUT_OF_BOUNDS, "%zu is not below %d", j->user,
                         USERS_MAX);
    }
}

/* Jobs mostly come in the order of their arrival. */
static bool is_sorted(const struct list *l)
{
    for (size_t i = 1; i < l->count; i++)
        if (l->entries[i].at_s < l->entries[i - 1].at_s)
            return false;
    return true;
}

static enum error_code open_batch(struct workload_source *s, struct arena *a,
                                  struct error *err)
{
    const struct workload *w = s->config;
    struct list *l = NULL;

    (void)err;
    make_list(&l, w->given_count, a);
    for (size_t i = 0; i < l->count; i++) {
        size_t user = w->jobs[i].user;

        l->entries[i] = (struct entry){w->jobs[i].arrival_s, i};
        if (user != SIM_ANY_USER && user >= s->user_count)
            s->user_count = user + 1;
    }
    if (!is_sorted(l))
        qsort(l->entries, l->count, sizeof(*l->entries), by_time);
    s->state = l;
    return OK;
}

static bool next_batch(struct workload_source *s, struct sim_job *job)
{
    struct list *l = s->state;
    size_t index;

    if (l->next >= l->count)
        return false;
    index = l->entries[l->next++].index;
    *job = s->config->jobs[index];
    job->given = index;
    if (isnan(job->length_mi))
        job->length_mi = job->mips_required * job->session_s;
    return true;
}

const struct workload_maker workload_batch = {check_batch, open_batch, next_batch};

/* ---- swf ---- */

static void check_swf(const struct workload *w, struct workload_place at)
{
    for (size_t i = 0; i < w->swf_job_count; i++) {
        const struct swf_job *j = &w->swf_jobs[i];
        double processors = swf_processors(j);

        check_measure(j->submit_s, false, "swf_jobs", i, "submit_s", at);
        check_measure(j->run_s, false, "swf_jobs", i, "run_s", at);
        check_measure(processors >= 1 ? processors : (double)NAN, false, "swf_jobs", i,
                      "processors", at);
    }
}

static double user_number(const struct swf_job *job)
{
    return isnan(job->user) ? -1 : job->user;
}

static void number_users(const struct workload *w, struct list *l, struct arena *a)
{
    size_t distinct = 0;

    l->users = NEW(a, double, l->count);
    for (size_t i = 0; i < l->count; i++)
        l->users[i] = user_number(&w->swf_jobs[i]);
    if (l->count)
        qsort(l->users, l->count, sizeof(*l->users), by_number);
    for (size_t i = 0; i < l->count; i++)
        if (i == 0 || l->users[i] > l->users[distinct - 1])
            l->users[distinct++] = l->users[i];
    l->user_count = distinct;
}

static enum error_code open_swf(struct workload_source *s, struct arena *a,
                                struct error *err)
{
    const struct workload *w = s->config;
    struct list *l = NULL;

    (void)err;
    make_list(&l, w->swf_job_count, a);
    number_users(w, l, a);
    for (size_t i = 0; i < l->count; i++)
        l->entries[i] = (struct entry){w->swf_jobs[i].submit_s, i};
    if (l->count)
        qsort(l->entries, l->count, sizeof(*l->entries), by_time);
    s->user_count = l->user_count ? l->user_count : 1;
    s->state = l;
    return OK;
}

static bool next_swf(struct workload_source *s, struct sim_job *job)
{
    struct list *l = s->state;
    const struct swf_job *given;
    const double *user;
    double number;

    if (l->next >= l->count)
        return false;
    job->given = l->entries[l->next].index;
    given = &s->config->swf_jobs[job->given];
    job->arrival_s = l->entries[l->next++].at_s - l->entries[0].at_s;
    job->length_mi = given->run_s * s->config->swf_mips;
    job->cpus = (uint64_t)swf_processors(given);
    job->requested_s = given->requested_s;
    number = user_number(given);
    user = bsearch(&number, l->users, l->user_count, sizeof(number), by_number);
    job->user = user ? (size_t)(user - l->users) : 0;
    return true;
}

const struct workload_maker workload_swf = {check_swf, open_swf, next_swf};
