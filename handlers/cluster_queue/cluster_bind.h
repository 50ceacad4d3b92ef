/* cluster_bind.h - from names to indexes: the cluster and the jobs of a request.
 */
#ifndef GRIDPLAN_CLUSTER_BIND_H
#define GRIDPLAN_CLUSTER_BIND_H

#include "algorithms/cluster_queue/rank.h"
#include "handlers/queue/queue_orders.h"
#include "models/base/names.h"

struct cluster_bound {
    struct request *rq;
    const struct queue_orders_request *body;
    bool is_replay; /* the jobs are still to come, each at its submit_s */
    const struct cluster_in *in;
    struct cluster of;
    struct cluster_ranking ranking;

    /* What names mean. Users and names of jobs are numbered as they come. */
    struct name_index nodes, amounts, shared, partitions, qos, accounts, users,
        reservations, arrays, job_names, associations;
    const char **amount_names, **array_ids;
    ptrdiff_t default_partition; /* CLUSTER_NONE: jobs must name one */
    ptrdiff_t *default_qos;      /* of each account */

    struct cluster_partition *partition_list;
    struct cluster_account *account_list;
    double *shares; /* of each account */
    struct cluster_array *array_list;
    struct cluster_running *running_list;

    /* Jobs, arrays expanded. */
    struct cluster_job *jobs;
    struct cluster_rank_job *rank_jobs;
    size_t *given; /* job of the request, of each */
    size_t job_count;
    struct cluster_row *rows;
    struct priority *parts; /* of each row's priority */
    size_t row_count, row_room;

    /* What is worth a warning: how many, and the first's index. */
    struct cluster_tally {
        size_t count, first;
    } gone, endless, later, ignored_promise, gang_promise, ignored_account, overdue,
        unknown_end, reserved, unknown_need;
    const char *unknown_amount; /* the first that nothing has, of unknown_need */
    const char *overcommitted;  /* a node, "amount of ID"; NULL: none */
};

void cluster_count(struct cluster_tally *t, size_t index);

/* Notes all mistakes in rq->err. With mistakes nothing else of `b` may be used. */
enum error_code cluster_bind(struct cluster_bound *b);

/* Backfill comes every second at most, or never (-1); a row of numbers cannot say that.
 */
void cluster_check_interval(double bf_interval_s, const char *pointer, struct error *err);

/* For the policy. */
struct cluster_settings cluster_settings_of(const struct cluster_settings_in *s);

/* Settings of slurm_backfill by name go before the cluster's. Mistakes are at
 * /options/NAME. */
void cluster_take_options(const struct named_value *options, size_t count,
                          struct cluster_settings_in *to, struct error *err);

/* ---- parts ---- */

void cluster_bind_jobs(struct cluster_bound *b);

/* The index of a name; a mistake at `pointer` if it is none, and CLUSTER_NONE. */
ptrdiff_t cluster_find(struct cluster_bound *b, const struct name_index *in,
                       const char *name, const char *what, const char *pointer);

/* The number of a user, or of a job's name: a new one, if it is new. */
ptrdiff_t cluster_user(struct cluster_bound *b, const char *name);
ptrdiff_t cluster_job_name(struct cluster_bound *b, const char *user, const char *name);

/* The association of a user in an account, the account itself if there is none. */
ptrdiff_t cluster_association(struct cluster_bound *b, const char *user,
                              const char *account_id, const char *pointer);

/* A set of nodes by their names; NULL for NULL. */
uint64_t *cluster_set_of(struct cluster_bound *b, const char *const *ids, size_t count,
                         const char *pointer);

/* Amounts as units, those of each node and those that exist once. */
const int64_t *cluster_units(struct cluster_bound *b, double cpus, double memory_bytes,
                             const struct named_value *needs, size_t need_count,
                             const struct cluster_take **shared, size_t *shared_count);

/* Warns of running jobs whose end is past, or not known, and of accounts where there are
 * none: whatever is made of the cluster. */
enum error_code cluster_warn_bound(struct request *rq, const struct cluster_bound *b,
                                   struct decision_answer *out);

/* Warns of members that have no effect, whatever the jobs are: of
 * policy_settings.priority
 * (`b` knows the amounts; NULL: nothing is said of those), of preemption where nobody is
 * preempted, and flags. cluster_warn_bound() does. */
void cluster_warn_priority(struct request *rq, const struct cluster_bound *b,
                           const struct cluster_in *in, struct decision_answer *out);
void cluster_warn_unused(struct request *rq, const struct cluster_bound *b,
                         struct decision_answer *out);

#endif
