/* placement/priority.c - whose job comes first, and on which resource.
 *
 * Jobs: Wfp*FP + Wsh*SH + Wdl*DL + Wwt*WT, each term in 0..1 (spec gridway.md 4.1).
 * Resources: Wrp*RP + Wra*RA + Wug*UG (4.2); failures act as a ban.
 *
 * Deviation: the request gives dispatched jobs by window already, so there is no
 * option for the length of a window. A job's user without an entry in `users` has
 * share 5 and an empty past.
 */
#include "algorithms/placement/priority.h"

#include "algorithms/placement/pair_map.h"

#include <stdlib.h>

enum {
    DEFAULT_SHARE = 5,
    URGENT = 20, /* fixed priority that goes before all others */
    DAY_S = 86400,
};

double priority_ban_s(double since_s, double max_ban_s)
{
    if (since_s <= 0)
        return trunc(0.1 * max_ban_s);
    if (since_s <= 10)
        return 0;
    return trunc(max_ban_s * (1 - exp(-since_s / 650)));
}

void priority_prepare(struct placement_problem *p)
{
    const struct placement_in *in = p->in;
    struct name_index resources;

    p->usage = NEW(p->arena, struct pair_map, 1);
    pair_map_create(p->usage, in->usage_count, p->arena);
    if (in->usage_count == 0)
        return;
    name_index_create(&resources, p->resource_count, p->arena);
    for (size_t pos = 0; pos < p->resource_count; pos++)
        name_index_add(&resources, p->resources[pos].given->id, pos);
    for (size_t i = 0; i < in->usage_count; i++) {
        size_t user = name_index_find(&p->user_numbers, in->usage[i].user);
        size_t pos = name_index_find(&resources, in->usage[i].resource_id);
        struct pair_place *place;

        if (user == NAME_NOT_FOUND) /* has no job here */
            continue;
        place = pair_map_at(p->usage, user, pos);
        if (!place->a) /* the first of several counts */
            *place = (struct pair_place){user + 1, pos, i};
    }
}

static const struct placement_usage *usage_of(const struct placement_problem *p,
                                              size_t job, size_t pos)
{
    const struct pair_place *place;

    if (p->in->usage_count == 0)
        return NULL;
    place = pair_map_at(p->usage, p->jobs[job].user, pos);
    return place->a ? &p->in->usage[place->value] : NULL;
}

bool priority_banned(const struct placement_problem *p, size_t job, size_t pos)
{
    const struct placement_usage *u = usage_of(p, job, pos);
    double now_s = p->in->snapshot->taken_at_s;
    double ban_s = priority_ban_s(0, p->common[COMMON_MAX_BAN]);

    if (!u)
        return false;
    if (!isnan(u->banned_until_s))
        return now_s <= u->banned_until_s;
    return ban_s > 0 && now_s <= u->first_failure_at_s + ban_s;
}

/* ---- jobs ---- */

struct user_state {
    double share, past, pending, seen;
};

/* Raw values of a job and where it stands. */
struct rated {
    double priority;
    size_t job;
    bool urgent;
};

/* Urgent ones first, then by falling priority; ties keep their places. */
static int by_priority(const void *a, const void *b, void *places)
{
    const struct rated *x = a, *y = b;
    const size_t *place = places;

    if (x->urgent != y->urgent)
        return x->urgent ? -1 : 1;
    if (!x->urgent && x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (place[x->job] > place[y->job]) - (place[x->job] < place[y->job]);
}

static void sort_rated(struct rated *rated, size_t count, size_t *place)
{
    for (size_t i = 0; i < count; i++)
        place[rated[i].job] = i;
    qsort_r(rated, count, sizeof(*rated), by_priority, place);
}

/* Jobs that the windows count, fading by exp(-w / 3.5). */
static double past_jobs(const struct placement_user *u, double depth)
{
    double past = 0;

    for (size_t w = 0; w < u->window_count && (double)w < depth; w++)
        past += trunc(u->dispatched_by_window[w] * exp(-(double)w / 3.5));
    return past;
}

static double max_share_of(struct placement_problem *p, struct user_state *users)
{
    double most = 1;

    for (size_t u = 0; u < p->user_count; u++)
        users[u].share = DEFAULT_SHARE;
    for (size_t i = 0; i < p->in->user_count; i++) {
        const struct placement_user *given = &p->in->users[i];
        size_t u = name_index_find(&p->user_numbers, given->user);

        if (u == NAME_NOT_FOUND)
            continue;
        users[u].share = given->share;
        users[u].past = past_jobs(given, p->common[COMMON_WINDOW_DEPTH]);
    }
    for (size_t i = 0; i < problem_pending(p); i++)
        users[p->jobs[i].user].pending++;
    for (size_t u = 0; u < p->user_count; u++)
        if (users[u].pending > 0)
            most = fmax(most,
                        trunc((users[u].pending + users[u].past - 1) / users[u].share));
    return most;
}

static double deadline_raw(const struct placement_problem *p, const struct problem_job *j)
{
    double half_s = p->common[COMMON_DL_HALF_DAYS] * DAY_S;

    if (isnan(j->deadline_s))
        return 0;
    if (j->deadline_s <= 0)
        return 100;
    return trunc(100 * exp(-j->deadline_s / (1.5 * half_s)));
}

static double waiting_raw(const struct placement_problem *p, const struct problem_job *j)
{
    double waited_s = trunc(p->in->snapshot->taken_at_s - j->given->queued_at_s);

    return waited_s > 0 ? waited_s : 0; /* also without one of the instants */
}

/* Wfp*FP + Wwt*WT + Wdl*DL of every job. */
static void rate_without_share(const struct placement_problem *p, struct rated *rated)
{
    double fixed = 0, deadline = 0, waiting = 0;

    for (size_t i = 0; i < problem_pending(p); i++) {
        fixed = fmax(fixed, p->jobs[i].given->fixed_priority);
        deadline = fmax(deadline, deadline_raw(p, &p->jobs[i]));
        waiting = fmax(waiting, waiting_raw(p, &p->jobs[i]));
    }
    for (size_t i = 0; i < problem_pending(p); i++) {
        const struct problem_job *j = &p->jobs[i];
        double sum = 0;

        if (fixed > 0)
            sum += p->common[COMMON_W_FIXED] * j->given->fixed_priority / fixed;
        if (waiting > 0)
            sum += p->common[COMMON_W_WAIT] * waiting_raw(p, j) / waiting;
        if (deadline > 0)
            sum += p->common[COMMON_W_DEADLINE] * deadline_raw(p, j) / deadline;
        rated[i] = (struct rated){sum, i, j->given->fixed_priority >= URGENT};
    }
}

void priority_jobs(struct placement_problem *p, double *priority)
{
    struct rated *rated = NEW(p->arena, struct rated, p->job_count);
    struct user_state *users = NEW(p->arena, struct user_state, p->user_count);
    size_t count = problem_pending(p);
    double max_share;

    max_share = max_share_of(p, users);
    rate_without_share(p, rated);
    sort_rated(rated, count, p->order);
    for (size_t i = 0; i < count; i++) {
        struct user_state *u = &users[p->jobs[rated[i].job].user];
        double used = trunc((u->past + u->seen++) / u->share);

        rated[i].priority += p->common[COMMON_W_SHARE] * (max_share - used) / max_share;
    }
    sort_rated(rated, count, p->order);
    for (size_t i = 0; i < count; i++) {
        p->order[i] = rated[i].job;
        priority[rated[i].job] = rated[i].priority;
    }
}

void priority_job_order(struct placement_problem *p)
{
    double *priority;

    p->order = NEW(p->arena, size_t, p->job_count);
    for (size_t i = 0; i < p->job_count; i++)
        p->order[i] = i;
    if ((int)p->common[COMMON_JOB_ORDER] != ORDER_PRIORITY)
        return;
    priority = NEW(p->arena, double, p->job_count);
    priority_jobs(p, priority);
}

/* ---- resources ---- */

/* Expected time of the user's jobs there, NAN: nothing known. */
static double usage_s(const struct placement_problem *p, size_t job, size_t pos)
{
    const struct placement_usage *u = usage_of(p, job, pos);
    double w = p->common[COMMON_USAGE_LAST_SHARE];

    if (!u)
        return NAN;
    if (isnan(u->mean_s))
        return u->last_s;
    return isnan(u->last_s) ? u->mean_s : (1 - w) * u->mean_s + w * u->last_s;
}

/* The rank as a share of the best positive or the worst negative one. */
static double rank_share(double rank, double most, double least)
{
    if (rank > 0)
        return rank / most;
    return rank < 0 ? -(rank / least) : 0;
}

void priority_resources(const struct placement_problem *p, size_t job, const size_t *pos,
                        const double *rank, size_t count, double *priority)
{
    double fixed = 0, most = 0, least = 0, shortest_s = NAN, longest_s = NAN;

    for (size_t i = 0; i < count; i++) {
        double known_s = usage_s(p, job, pos[i]);

        fixed = fmax(fixed, p->resources[pos[i]].given->fixed_priority);
        most = fmax(most, rank[i]);
        least = fmin(least, rank[i]);
        shortest_s = fmin(shortest_s, known_s);
        longest_s = fmax(longest_s, known_s);
    }
    for (size_t i = 0; i < count; i++) {
        double known_s = usage_s(p, job, pos[i]), usage = 0;

        if (!isnan(longest_s)) {
            known_s = isnan(known_s) ? longest_s : known_s;
            usage = known_s > 0 ? shortest_s / known_s : 1;
        }
        priority[i] =
            p->common[COMMON_W_RESOURCE_FIXED] *
                (fixed > 0 ? p->resources[pos[i]].given->fixed_priority / fixed : 0) +
            p->common[COMMON_W_RANK] * rank_share(rank[i], most, least) +
            p->common[COMMON_W_USAGE] * usage;
    }
}
