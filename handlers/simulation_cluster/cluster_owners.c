/* cluster_owners.c - accounts and qualities of service of a cluster that is played.
 *
 * They are those of a cluster queue (handlers/cluster_queue/), read by what reads these,
 * with one node that has the names of all amounts. Limits are then put into the units
 * that needs have here.
 */
#include "handlers/cluster_queue/cluster_bind.h"
#include "handlers/common/decision.h"
#include "handlers/simulation_cluster/cluster_simulation_parts.h"
#include "models/base/pointer.h"

#include "models/base/plural.h"

#include <math.h>
#include <string.h>

#define NAMED_UNITS 1000.0 /* see cluster_site.c */
#define DISK        "\x1f" /* no name of an amount */

/* Units of a needed amount in one of CLUSTER_UNITS. */
static double ratio_of(const struct cluster_playing *p, size_t amount)
{
    if (amount == CLUSTER_CPUS)
        return p->site.cpu_units / CLUSTER_UNITS;
    return amount < CLUSTER_HOST_NAMED ? 1 : NAMED_UNITS / CLUSTER_UNITS;
}

static void rescale_amounts(const struct cluster_playing *p,
                            struct cluster_amount_limits *limits)
{
    int64_t *amounts;

    limits->cpu_s *= ratio_of(p, CLUSTER_CPUS);
    limits->cpu_s_running *= ratio_of(p, CLUSTER_CPUS);
    if (!limits->amounts)
        return;
    amounts = NEW(p->a, int64_t, p->site.amount_count);
    for (size_t k = 0; k < p->site.amount_count; k++)
        amounts[k] =
            limits->amounts[k] >= CLUSTER_ENDLESS
                ? CLUSTER_ENDLESS
                : (int64_t)floor((double)limits->amounts[k] * ratio_of(p, k) + 1e-9);
    budget_step(&p->rq->budget, p->site.amount_count);
    limits->amounts = amounts;
}

static void rescale(const struct cluster_playing *p, struct cluster_limits *limits)
{
    rescale_amounts(p, &limits->group);
    rescale_amounts(p, &limits->per_job);
    rescale_amounts(p, &limits->per_user);
    rescale_amounts(p, &limits->per_node);
}

static bool preempts(const struct cluster_playing *p, enum cluster_preempt_type type)
{
    for (size_t i = 0; i < p->body->compare_count; i++)
        if (p->labels[i].rules.slurm && p->labels[i].rules.slurm->preempt_type == type)
            return true;
    return false;
}

static void refuse_preempting(struct cluster_playing *p)
{
    const struct cluster_world_in *w = p->body->cluster;

    for (size_t i = 0; i < w->qos_count; i++) {
        budget_step(&p->rq->budget, 1);
        if (w->qos[i].preempt_count && !preempts(p, CLUSTER_PREEMPT_QOS))
            invalid(p->err, pointer_in("/cluster/qos", i, "preempts").text,
                    ITEM_NOT_ALLOWED,
                    "nobody is preempted: no label of slurm_backfill has preempt_type "
                    "qos and a preempt_mode");
    }
}

/* Whether priorities are reckoned: something has a weight. */
static bool has_weights(const struct cluster_priority_in *in)
{
    return in->type == 0 &&
           (in->weight_age > 0 || in->weight_assoc > 0 || in->weight_fair_share > 0 ||
            in->weight_job_size > 0 || in->weight_qos > 0 || in->weight_tres_count > 0);
}

static void refuse_settings(struct cluster_playing *p)
{
    const struct cluster_settings_in *s = &p->body->cluster->policy_settings;

    if (s->select != SELECT_CORES_MEMORY)
        invalid(p->err, "/cluster/policy_settings/select", ITEM_NOT_ALLOWED,
                "jobs have what they need of a node, memory too, or with exclusive all "
                "of it");
    if (s->priority.weight_partition > 0)
        invalid(p->err, "/cluster/policy_settings/priority/weight_partition",
                ITEM_NOT_ALLOWED, "partitions have no factor in this kind");
}

/* One node with all amounts, in their order. */
static const struct cluster_resource_in *make_node(const struct cluster_playing *p)
{
    struct cluster_resource_in *node = NEW(p->a, struct cluster_resource_in, 1);
    size_t count = p->site.amount_count - CLUSTER_HOST_DISK;
    struct named_value *names = NEW(p->a, struct named_value, count);

    names[0].name = DISK;
    for (size_t i = 1; i < count; i++)
        names[i].name = p->site.amount_names[CLUSTER_HOST_DISK + i];
    *node = (struct cluster_resource_in){.id = "n",
                                         .cpus = (double)NAN,
                                         .memory_bytes = (double)NAN,
                                         .capacities = names,
                                         .capacity_count = count,
                                         .threads_per_core = 1};
    return node;
}

void cluster_owners_bind(struct cluster_playing *p)
{
    const struct cluster_world_in *w = p->body->cluster;
    struct cluster_in *in = NEW(p->a, struct cluster_in, 1);
    struct queue_orders_request *body = NEW(p->a, struct queue_orders_request, 1);
    struct cluster_bound *b = NEW(p->a, struct cluster_bound, 1);
    struct cluster_qos *qos;
    struct cluster_account *accounts;

    if (!w || p->err->code != OK)
        return;
    refuse_settings(p);
    refuse_preempting(p);
    if (w->qos_count == 0 && w->account_count == 0 &&
        !has_weights(&w->policy_settings.priority))
        return;
    *in = (struct cluster_in){.resources = make_node(p),
                              .resource_count = 1,
                              .shared_capacities = w->shared_capacities,
                              .shared_capacity_count = w->shared_capacity_count,
                              .qos = w->qos,
                              .qos_count = w->qos_count,
                              .accounts = w->accounts,
                              .account_count = w->account_count,
                              .policy_settings = w->policy_settings};
    body->cluster = in;
    body->jobs = NULL;
    b->rq = p->rq;
    b->body = body;
    if (cluster_bind(b) != OK)
        return;
    qos = NEW(p->a, struct cluster_qos, w->qos_count);
    accounts = NEW(p->a, struct cluster_account, w->account_count);
    for (size_t i = 0; i < w->qos_count; i++) {
        qos[i] = b->of.qos[i];
        rescale(p, &qos[i].limits);
    }
    for (size_t i = 0; i < w->account_count; i++) {
        accounts[i] = b->of.accounts[i];
        accounts[i].used_cpu_s =
            (isnan(accounts[i].used_cpu_s) ? 0 : accounts[i].used_cpu_s) *
            ratio_of(p, CLUSTER_CPUS);
        rescale(p, &accounts[i].limits);
    }
    p->limits = (struct replay_owners){.qos = qos,
                                       .qos_count = w->qos_count,
                                       .accounts = accounts,
                                       .account_count = w->account_count,
                                       .user_count = b->of.user_count};
    if (has_weights(&w->policy_settings.priority)) {
        p->ranks = NEW(p->a, struct replay_ranks, 1);
        *p->ranks = (struct replay_ranks){b->ranking, b->shares,
                                          w->policy_settings.priority.decay_half_life_s};
    }
    /* more users come with the jobs */
    name_index_create(&b->users, w->account_count + p->body->job_count, p->a);
    b->of.user_count = 0;
    for (size_t i = 0; i < w->account_count; i++)
        cluster_user(b, w->accounts[i].user_id);
    p->owners = b;
}

static uint32_t from_one(ptrdiff_t index)
{
    return index >= 0 ? (uint32_t)index + 1 : 0;
}

void cluster_owner_of(struct cluster_playing *p, const struct cluster_sim_job *in,
                      const char *at, struct replay_job *to)
{
    struct cluster_bound *b = p->owners;
    ptrdiff_t account, qos = CLUSTER_NONE;

    p->ignored_accounts += in->account_id && p->limits.account_count == 0;
    if (!b) {
        if (in->qos_id)
            invalid(p->err, arena_printf(p->a, "%s/qos_id", at), ITEM_UNKNOWN_ID,
                    "cluster has no qos");
        return;
    }
    account = cluster_association(b, in->user, in->account_id,
                                  arena_printf(p->a, "%s/account_id", at));
    if (in->qos_id)
        qos = cluster_find(b, &b->qos, in->qos_id, "quality of service",
                           arena_printf(p->a, "%s/qos_id", at));
    else if (account >= 0)
        qos = b->default_qos[account];
    if (account >= 0 && qos >= 0 && p->limits.accounts[account].qos &&
        !p->limits.accounts[account].qos[qos])
        invalid(p->err, arena_printf(p->a, "%s/qos_id", at), ITEM_NOT_ALLOWED,
                "account '%.80s' may not use it", p->limits.accounts[account].id);
    to->user = from_one(cluster_user(b, in->user));
    to->account = from_one(account);
    to->qos = from_one(qos);
    p->limits.user_count = b->of.user_count;
}

static void warn_without_slurm(struct cluster_playing *p)
{
    const struct cluster_world_in *w = p->body->cluster;
    const struct cluster_settings_in *s;
    const char *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < p->body->compare_count; i++)
        if (p->labels[i].rules.slurm)
            return;
    if (!w)
        return;
    s = &w->policy_settings;
#define COUNT(name, is_changed)       \
    if ((is_changed) && count++ == 0) \
        first = name;
#define X(name, least, most, preset, text) COUNT(#name, s->name != (preset))
    CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) COUNT(#name, s->name != (preset))
    CLUSTER_SWITCHES(X)
#undef X
    COUNT("preempt_type", s->preempt_type != CLUSTER_PREEMPT_NONE)
    COUNT("preempt_mode", s->preempt_mode != PREEMPT_OFF)
#undef COUNT
    if (count)
        decision_warn(p->rq, &p->answer->decision,
                      "without_effect: %s, first /cluster/policy_settings/%s, %s of "
                      "slurm_backfill, which no label has",
                      counted(count, "setting").text, first, plural(count, "is", "are"));
}

/* What is said of preempted jobs one by one, and settings that no run looks at. */
static void warn_settings(struct cluster_playing *p)
{
    const struct cluster_world_in *w = p->body->cluster;
    size_t own = 0;

    if (w)
        cluster_warn_priority(p->rq, p->owners,
                              &(struct cluster_in){.accounts = w->accounts,
                                                   .account_count = w->account_count,
                                                   .qos = w->qos,
                                                   .qos_count = w->qos_count,
                                                   .policy_settings = w->policy_settings},
                              &p->answer->decision);
    if (p->unread_count)
        decision_warn(p->rq, &p->answer->decision,
                      "without_effect: %s of slurm_backfill, first %s: its "
                      "main loop runs after each event, and jobs end at their limit",
                      counted(p->unread_count, "setting").text, p->unread);
    for (size_t i = 0; w && i < w->qos_count; i++)
        own += w->qos[i].grace_s > 0 || w->qos[i].preempt_mode > PREEMPT_OFF;
    if (own)
        decision_warn(p->rq, &p->answer->decision,
                      "without_effect: grace_s or preempt_mode of %zu QOS; here who is "
                      "preempted ends at once, as preempt_mode of the label has it",
                      own);
}

void cluster_owners_warn(struct cluster_playing *p)
{
    size_t count = 0, first = 0;

    if (p->ignored_accounts)
        decision_warn(p->rq, &p->answer->decision,
                      "account_ignored: %s %s an account, and the cluster has none",
                      counted(p->ignored_accounts, "job").text,
                      plural(p->ignored_accounts, "names", "name"));
    for (size_t i = 0; p->owners && i < p->body->compare_count; i++)
        if (!p->labels[i].rules.slurm)
            first = count++ ? first : i;
    if (count)
        decision_warn(
            p->rq, &p->answer->decision,
            "limits_unused: %s, first %.80s, %s a queue policy that "
            "does not know of accounts, qualities of service and weights of priorities",
            counted(count, "label").text, p->labels[first].label,
            plural(count, "has", "have"));
    warn_without_slurm(p);
    warn_settings(p);
}
