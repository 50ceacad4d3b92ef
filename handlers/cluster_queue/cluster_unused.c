/* cluster_unused.c - what a cluster says that changes nothing, and why. */
#include "handlers/cluster_queue/cluster_bind.h"
#include "handlers/common/decision.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"

#include <string.h>

/* How many members, and the first of them with its reason. */
struct unused {
    size_t count;
    const char *first, *why;
};

static void add(struct unused *u, bool is_unused, const char *name, const char *why)
{
    if (!is_unused || u->count++)
        return;
    u->first = name;
    u->why = why;
}

static bool any_partition_factor(const struct cluster_in *in)
{
    for (size_t i = 0; i < in->partition_count; i++)
        if (in->partitions[i].priority_factor > 0)
            return true;
    return false;
}

static bool any_qos_priority(const struct cluster_in *in)
{
    for (size_t i = 0; i < in->qos_count; i++)
        if (in->qos[i].priority > 0)
            return true;
    return false;
}

static bool is_amount(const struct cluster_bound *b, const char *name)
{
    return strcmp(name, "cpus") == 0 || strcmp(name, "memory_bytes") == 0 ||
           strcmp(name, "nodes") == 0 ||
           name_index_find(&b->amounts, name) != NAME_NOT_FOUND ||
           name_index_find(&b->shared, name) != NAME_NOT_FOUND;
}

static void add_amount_weights(struct unused *u, const struct cluster_bound *b,
                               const struct cluster_priority_in *p, bool is_basic,
                               struct request *rq)
{
    for (size_t i = 0; i < p->weight_tres_count; i++) {
        const struct named_value *w = &p->weight_tres[i];

        budget_step(&rq->budget, 1);
        if (is_basic)
            add(u, w->number > 0, "weight_tres", "type basic goes by submission alone");
        else if (b && !is_amount(b, w->name))
            add(u, w->number > 0, arena_printf(rq->arena, "weight_tres/%s", w->name),
                "nothing in the cluster has such an amount, and no job needs it");
    }
}

/* By submission alone: no weight counts. */
static void add_of_basic(struct unused *u, const struct cluster_priority_in *p)
{
    static const char why[] = "type basic goes by submission alone";

    add(u, p->weight_age > 0, "weight_age", why);
    add(u, p->weight_assoc > 0, "weight_assoc", why);
    add(u, p->weight_fair_share > 0, "weight_fair_share", why);
    add(u, p->weight_job_size > 0, "weight_job_size", why);
    add(u, p->weight_partition > 0, "weight_partition", why);
    add(u, p->weight_qos > 0, "weight_qos", why);
}

static void add_of_factors(struct unused *u, const struct cluster_priority_in *p,
                           const struct cluster_in *in)
{
    bool shares = p->weight_fair_share > 0 && in->account_count;

    add(u, p->weight_assoc > 0, "weight_assoc",
        "associations have no factor of their own here");
    add(u, p->weight_fair_share > 0 && !in->account_count, "weight_fair_share",
        "the cluster has no accounts");
    add(u, p->weight_partition > 0 && !any_partition_factor(in), "weight_partition",
        "no partition has a priority_factor");
    add(u, p->weight_qos > 0 && !any_qos_priority(in), "weight_qos",
        "no quality of service has a priority");
    add(u, p->accrue_always && !(p->weight_age > 0), "accrue_always",
        "age has no weight");
    add(u, p->favor_small && !(p->weight_job_size > 0), "favor_small",
        "the size has no weight");
    add(u, p->small_relative_to_time && !(p->weight_job_size > 0),
        "small_relative_to_time", "the size has no weight");
    add(u, p->fair_share == 1 && !shares, "fair_share",
        "there are no fair shares with a weight");
    add(u, p->damping != 1 && !(shares && p->fair_share == 1), "damping",
        "there are no classic fair shares with a weight");
}

void cluster_warn_priority(struct request *rq, const struct cluster_bound *b,
                           const struct cluster_in *in, struct decision_answer *out)
{
    const struct cluster_priority_in *p = &in->policy_settings.priority;
    struct unused u = {0};

    budget_step(&rq->budget, in->partition_count + in->qos_count);
    if (p->type == 1)
        add_of_basic(&u, p);
    else
        add_of_factors(&u, p, in);
    add_amount_weights(&u, b, p, p->type == 1, rq);
    if (u.count)
        decision_warn(rq, out,
                      "without_effect: %s of "
                      "/cluster/policy_settings/priority, first %s: %s",
                      counted(u.count, "member").text, u.first, u.why);
}

static const char *qos_pointer(struct request *rq, size_t qos, const char *member)
{
    return arena_printf(rq->arena, "%s", pointer_in("/cluster/qos", qos, member).text);
}

/* Who may preempt, where nobody is preempted. */
static void warn_preempting(struct request *rq, const struct cluster_in *in,
                            struct decision_answer *out)
{
    const struct cluster_settings_in *s = &in->policy_settings;
    static const char no_mode[] = "preempt_mode is off";
    static const char no_type[] = "preempt_type is none";
    const char *why = s->preempt_mode == PREEMPT_OFF ? no_mode : no_type;
    bool preempts =
        s->preempt_type != CLUSTER_PREEMPT_NONE && s->preempt_mode != PREEMPT_OFF;
    struct unused u = {0};

    add(&u, s->preempt_type != CLUSTER_PREEMPT_NONE && !preempts,
        "/cluster/policy_settings/preempt_type", no_mode);
    add(&u, s->preempt_mode != PREEMPT_OFF && !preempts,
        "/cluster/policy_settings/preempt_mode", no_type);
    add(&u, s->preempt_exempt_s > 0 && !preempts,
        "/cluster/policy_settings/preempt_exempt_s", why);
    budget_step(&rq->budget, in->qos_count);
    for (size_t i = 0; i < in->qos_count; i++)
        if (in->qos[i].preempt_count &&
            (!preempts || s->preempt_type != CLUSTER_PREEMPT_QOS))
            add(&u, true, qos_pointer(rq, i, "preempts"),
                preempts ? "preempt_type is not qos" : why);
    if (u.count)
        decision_warn(rq, out, "without_effect: %s about preemption, first %s: %s",
                      counted(u.count, "member").text, u.first, u.why);
}

static void add_flags(struct unused *u, struct request *rq, const char *list, size_t i,
                      const char *const *flags, size_t count, const char *const *known)
{
    for (size_t k = 0; k < count; k++) {
        size_t at = 0;

        budget_step(&rq->budget, 1);
        while (known[at] && strcmp(known[at], flags[k]) != 0)
            at++;
        if (!known[at])
            add(u, true, arena_printf(rq->arena, "%s/%zu/flags/%zu", list, i, k),
                flags[k]);
    }
}

void cluster_warn_unused(struct request *rq, const struct cluster_bound *b,
                         struct decision_answer *out)
{
    static const char *const of_qos[] = {"no_reserve", "override_partition_limits", NULL};
    static const char *const of_reservations[] = {"flex", "daily", "weekly", NULL};
    const struct cluster_in *in = b->in;
    struct unused flags = {0};

    cluster_warn_priority(rq, b, in, out);
    warn_preempting(rq, in, out);
    for (size_t i = 0; i < in->qos_count; i++)
        add_flags(&flags, rq, "/cluster/qos", i, in->qos[i].flags, in->qos[i].flag_count,
                  of_qos);
    for (size_t i = 0; i < in->reservation_count; i++)
        add_flags(&flags, rq, "/cluster/reservations", i, in->reservations[i].flags,
                  in->reservations[i].flag_count, of_reservations);
    if (flags.count)
        decision_warn(rq, out, "without_effect: %s, first '%.80s' of %s, %s nothing here",
                      counted(flags.count, "flag").text, flags.why, flags.first,
                      plural(flags.count, "does", "do"));
}
