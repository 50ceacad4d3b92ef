/* queue/fairness.c - how evenly a replay serves users and jobs. */
#include "algorithms/queue/fairness.h"

#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

double queue_jain(const double *values, size_t count)
{
    double largest = 0, sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, values[i]);
    if (largest == 0)
        return 1;
    for (size_t i = 0; i < count; i++) { /* of parts of the largest: no overflow */
        double part = values[i] / largest;

        sum += part;
        squares += part * part;
    }
    return sum * sum / ((double)count * squares);
}

double queue_gini(double *values, size_t count)
{
    double n = (double)count, largest = 0, sum = 0, weighted = 0;

    sort_numbers(values, count);
    largest = count ? values[count - 1] : 0;
    if (largest == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i] / largest;
        weighted += (2 * (double)(i + 1) - n - 1) * (values[i] / largest);
    }
    return fmax(0, weighted / (n * sum));
}

/* ---- users ---- */

struct of_user {
    double user, wait_s, bounded; /* unknown: HUGE_VAL */
};

static int compare_users(const void *left, const void *right)
{
    const struct of_user *l = left, *r = right;

    if (l->user != r->user)
        return l->user < r->user ? -1 : 1;
    if (l->wait_s != r->wait_s)
        return l->wait_s < r->wait_s ? -1 : 1;
    return l->bounded < r->bounded ? -1 : l->bounded > r->bounded;
}

/* The users' means, in place: how many there are. */
static size_t mean_of_users(struct of_user *jobs, size_t count, double *waits,
                            double *slowdowns)
{
    size_t users = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        double wait_s = 0, bounded = 0;

        for (end = begin; end < count && jobs[end].user == jobs[begin].user; end++) {
            wait_s += jobs[end].wait_s;
            bounded += jobs[end].bounded;
        }
        waits[users] = wait_s / (double)(end - begin);
        slowdowns[users++] = bounded / (double)(end - begin);
    }
    return users;
}

/* ---- who was overtaken ---- */

struct runner {
    double submit_s, start_s, priority;
    size_t rank; /* of the priority, from 1 */
};

static int by_priority(const void *left, const void *right)
{
    const struct runner *l = left, *r = right;

    return l->priority < r->priority ? -1 : l->priority > r->priority;
}

static int last_first(const void *left, const void *right)
{
    const struct runner *l = left, *r = right;

    return l->submit_s > r->submit_s ? -1 : l->submit_s < r->submit_s;
}

/* Earliest start of those with a rank up to this one: a Fenwick tree of minima. */
static double earliest(const double *tree, size_t rank)
{
    double start_s = HUGE_VAL;

    for (; rank; rank -= rank & -rank)
        start_s = fmin(start_s, tree[rank]);
    return start_s;
}

static void note_start(double *tree, size_t count, size_t rank, double start_s)
{
    for (; rank <= count; rank += rank & -rank)
        tree[rank] = fmin(tree[rank], start_s);
}

static size_t count_overtaken(struct runner *jobs, size_t count, struct budget *budget,
                              struct arena *a)
{
    double *tree = NEW(a, double, count + 1);
    size_t overtaken = 0;

    qsort(jobs, count, sizeof(*jobs), by_priority);
    for (size_t i = 0; i < count; i++) {
        bool same = i && jobs[i].priority == jobs[i - 1].priority;

        tree[i + 1] = HUGE_VAL;
        jobs[i].rank = same ? jobs[i - 1].rank : i + 1;
    }
    qsort(jobs, count, sizeof(*jobs), last_first);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && jobs[end].submit_s == jobs[begin].submit_s;
             end++)
            overtaken += earliest(tree, jobs[end].rank) < jobs[end].start_s;
        if (budget_step(budget, 64 * (end - begin)))
            break;
        for (size_t i = begin; i < end; i++)
            note_start(tree, count, jobs[i].rank, jobs[i].start_s);
    }
    return overtaken;
}

bool queue_fairness(const struct queue_outcome *outcomes, size_t count,
                    struct budget *budget, struct queue_fairness *out, struct arena *a)
{
    struct of_user *users = NEW(a, struct of_user, count);
    struct runner *runners = NEW(a, struct runner, count);
    double *waits = NEW(a, double, count), *slowdowns = NEW(a, double, count);
    size_t ran = 0;

    for (size_t i = 0; i < count; i++) {
        const struct queue_outcome *o = &outcomes[i];
        double user = o->key[QUEUE_KEY_USER];

        if (!queue_ran(o))
            continue;
        users[ran] =
            (struct of_user){isnan(user) ? HUGE_VAL : user, o->wait_s, o->bounded};
        runners[ran++] =
            (struct runner){.submit_s = o->submit_s, o->start_s, o->priority, 0};
    }
    if (!ran || budget_step(budget, 64 * ran))
        return false;
    qsort(users, ran, sizeof(*users), compare_users);
    out->user_count = mean_of_users(users, ran, waits, slowdowns);
    out->jain_index = queue_jain(slowdowns, out->user_count);
    out->gini_wait = queue_gini(waits, out->user_count);
    out->overtaken_ratio = (double)count_overtaken(runners, ran, budget, a) / (double)ran;
    return !budget_step(budget, 1);
}
