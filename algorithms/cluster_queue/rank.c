/* rank.c - priorities of a queue's rows, and fair shares of its accounts. */
#include "algorithms/cluster_queue/rank.h"

#include "algorithms/priority/fair_share.h"

#include <math.h>
#include <stdlib.h>

void cluster_fair_shares(const struct cluster_ranking *by, const double *shares,
                         struct cluster_account *accounts, size_t count,
                         struct budget *budget, struct arena *a)
{
    struct fair_share_member *members = NEW(a, struct fair_share_member, count);
    struct fair_share *out = NEW(a, struct fair_share, count);
    double *given = NEW(a, double, count);

    budget_step(budget, 8 * count);
    for (size_t i = 0; i < count; i++) {
        given[i] = accounts[i].used_cpu_s;
        members[i] =
            (struct fair_share_member){accounts[i].parent, accounts[i].is_user, shares[i],
                                       isnan(given[i]) ? 0 : given[i]};
    }
    fair_share_sum(members, count, a);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(given[i]))
            members[i].use = given[i];
        accounts[i].used_cpu_s = members[i].use;
    }
    if (by->classic)
        fair_share_classic(members, count, by->damping, out, budget, a);
    else
        fair_share_tree(members, count, out, budget, a);
    for (size_t i = 0; i < count; i++)
        accounts[i].fair_share = out[i].factor;
}

/* What there is in a partition: amounts, nodes, what exists once. */
static void sum_partition(const struct cluster *c, const uint64_t *nodes, double *there)
{
    for (size_t i = 0; i < c->node_count; i++) {
        if (nodes && !cluster_set_has(nodes, i))
            continue;
        budget_step(c->budget, c->amount_count);
        for (size_t k = 0; k < c->amount_count; k++)
            if (c->nodes[i].capacity[k] < CLUSTER_ENDLESS)
                there[k] += (double)c->nodes[i].capacity[k];
        there[c->amount_count]++;
    }
    for (size_t k = 0; k < c->shared_count; k++)
        there[c->amount_count + 1 + k] = (double)c->shared[k];
}

static void sum_job(const struct cluster *c, const struct cluster_row *row, double *asked)
{
    const struct cluster_job *job = &c->jobs[row->job];
    double times = job->tasks ? (double)job->tasks : (double)job->nodes;

    for (size_t k = 0; k < c->amount_count; k++)
        asked[k] = (double)row->need[k] * times;
    asked[c->amount_count] = (double)job->nodes;
    for (size_t k = 0; k < c->shared_count; k++)
        asked[c->amount_count + 1 + k] = 0;
    for (size_t k = 0; k < job->shared_count; k++)
        asked[c->amount_count + 1 + job->shared[k].what] = (double)job->shared[k].units;
}

static double age_of(const struct cluster *c, const struct cluster_ranking *by,
                     const struct cluster_job *job)
{
    if (by->ages_from_submission)
        return c->now_s - job->submit_s;
    if (job->after_count || job->held)
        return 0;
    return c->now_s - fmax(job->submit_s, job->eligible_s);
}

static int by_submission(const void *x, const void *y, void *context)
{
    const struct cluster *c = context;
    size_t i = *(const size_t *)x, k = *(const size_t *)y;
    double a = c->jobs[i].submit_s, b = c->jobs[k].submit_s;

    return a < b ? -1 : a > b ? 1 : (i > k) - (i < k);
}

/* Positions from the end of the order of submission. */
static double *basic_priorities(const struct cluster *c, struct arena *a)
{
    size_t *order = NEW(a, size_t, c->job_count);
    double *priority = NEW(a, double, c->job_count);

    for (size_t i = 0; i < c->job_count; i++)
        order[i] = i;
    qsort_r(order, c->job_count, sizeof(*order), by_submission, (void *)(uintptr_t)c);
    for (size_t i = 0; i < c->job_count; i++)
        priority[order[i]] = (double)(c->job_count - i);
    return priority;
}

static struct priority_settings settings_of(const struct cluster *c,
                                            const struct cluster_ranking *by,
                                            size_t amount_count, struct arena *a)
{
    double *all = NEW(a, double, amount_count);
    struct priority_settings s = {
        .weights = by->weights,
        .amount_weights = by->amount_weights,
        .amount_count = amount_count,
        .max_age_s = by->max_age_s,
        .favors_small = by->favors_small,
        .relative_to_time = by->relative_to_time,
    };

    sum_partition(c, NULL, all);
    s.cluster_nodes = (double)c->node_count;
    s.cluster_cpus = all[CLUSTER_CPUS] / CLUSTER_UNITS;
    for (size_t i = 0; i < c->partition_count; i++)
        s.partition_factor_max = fmax(s.partition_factor_max, c->partitions[i].factor);
    for (size_t i = 0; i < c->qos_count; i++)
        s.qos_max = fmax(s.qos_max, c->qos[i].priority);
    return s;
}

struct cluster_ranker {
    const struct cluster_ranking *by;
    struct priority_settings settings;
    size_t width;        /* amounts, nodes, what exists once */
    const double *there; /* of each partition, [width] */
    const double *basic; /* of jobs; NULL: by factors */
    double *asked;       /* for the moment */
};

struct cluster_ranker *cluster_ranker_create(const struct cluster *c,
                                             const struct cluster_ranking *by,
                                             struct arena *a)
{
    struct cluster_ranker *r = NEW(a, struct cluster_ranker, 1);
    size_t width = c->amount_count + 1 + c->shared_count;
    double *there = NEW(a, double, width * c->partition_count);

    for (size_t i = 0; i < c->partition_count; i++)
        sum_partition(c, c->partitions[i].nodes, &there[i * width]);
    *r = (struct cluster_ranker){
        .by = by,
        .settings = settings_of(c, by, width, a),
        .width = width,
        .there = there,
        .basic = by->basic ? basic_priorities(c, a) : NULL,
        .asked = NEW(a, double, width),
    };
    return r;
}

static void rank_row(const struct cluster_ranker *r, const struct cluster *c,
                     const struct cluster_rank_job *rank, struct cluster_row *row,
                     struct priority *part)
{
    const struct cluster_job *job = &c->jobs[row->job];
    const struct cluster_owner *of = &job->of;
    double given = isnan(rank->given) && r->basic ? r->basic[row->job] : rank->given;
    struct priority made;

    if (!isnan(given)) {
        row->priority = job->held ? 0 : given;
        return;
    }
    sum_job(c, row, r->asked);
    made = priority_of(
        &r->settings,
        &(struct priority_job){
            .held = job->held,
            .age_s = age_of(c, r->by, job),
            .fair_share = of->account >= 0 ? c->accounts[of->account].fair_share : 0,
            .nodes = (double)job->nodes,
            .cpus = r->asked[CLUSTER_CPUS] / CLUSTER_UNITS,
            .limit_s = row->limit_s,
            .partition_factor = c->partitions[row->partition].factor,
            .qos = of->qos >= 0 ? c->qos[of->qos].priority : 0,
            .site_factor = rank->site_factor,
            .nice = rank->nice,
            .asked = r->asked,
            .there = &r->there[row->partition * r->width],
        },
        NULL);
    row->priority = made.total;
    if (part)
        *part = made;
}

void cluster_rank_rows(const struct cluster_ranker *r, const struct cluster *c,
                       const struct cluster_rank_job *jobs, struct cluster_row *rows,
                       const size_t *which, size_t count, struct priority *parts)
{
    for (size_t i = 0; i < count; i++) {
        budget_step(c->budget, r->width);
        rank_row(r, c, &jobs[rows[which[i]].job], &rows[which[i]],
                 parts ? &parts[which[i]] : NULL);
    }
}

void cluster_rank(const struct cluster *c, const struct cluster_ranking *by,
                  const struct cluster_rank_job *jobs, struct cluster_row *rows,
                  struct priority *parts, struct arena *a)
{
    const struct cluster_ranker *r = cluster_ranker_create(c, by, a);

    for (size_t i = 0; i < c->row_count; i++) {
        budget_step(c->budget, r->width);
        rank_row(r, c, &jobs[rows[i].job], &rows[i], &parts[i]);
    }
}
