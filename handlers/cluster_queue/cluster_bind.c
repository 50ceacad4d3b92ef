/* cluster_bind.c - from names to indexes: the cluster. */
#include "handlers/cluster_queue/cluster_bind.h"

#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/service.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS = 64 }; /* of a daily or weekly reservation */

void cluster_count(struct cluster_tally *t, size_t index)
{
    if (t->count++ == 0)
        t->first = index;
}

/* ---- names ---- */

ptrdiff_t cluster_find(struct cluster_bound *b, const struct name_index *in,
                       const char *name, const char *what, const char *pointer)
{
    size_t at = name_index_find(in, name);
    const char **known, *nearest;
    size_t n = 0;

    if (at != NAME_NOT_FOUND)
        return (ptrdiff_t)at;
    known = NEW(b->rq->arena, const char *, in->slot_count + 1);
    budget_step(&b->rq->budget, in->slot_count);
    for (size_t i = 0; i < in->slot_count; i++)
        if (in->key[i])
            known[n++] = in->key[i];
    invalid(b->rq->err, pointer, ITEM_UNKNOWN_ID, "no %s '%.100s'", what, name);
    nearest = names_nearest(name, known, n);
    if (nearest)
        error_hint(b->rq->err, "did you mean '%s'?", nearest);
    error_allow(b->rq->err, name, known, n);
    return CLUSTER_NONE;
}

static ptrdiff_t number_of(struct name_index *in, const char *name, size_t *count)
{
    size_t at;

    if (!name)
        return CLUSTER_NONE;
    at = name_index_add(in, name, *count);
    return at == NAME_NOT_FOUND ? (ptrdiff_t)(*count)++ : (ptrdiff_t)at;
}

ptrdiff_t cluster_user(struct cluster_bound *b, const char *name)
{
    return number_of(&b->users, name, &b->of.user_count);
}

/* Two names as one; no name of a user has a control character. */
static const char *joined(struct cluster_bound *b, const char *x, const char *y)
{
    return arena_printf(b->rq->arena, "%s\x1f%s", x ? x : "", y);
}

ptrdiff_t cluster_job_name(struct cluster_bound *b, const char *user, const char *name)
{
    return name ? number_of(&b->job_names, joined(b, user, name), &b->of.name_count)
                : CLUSTER_NONE;
}

ptrdiff_t cluster_association(struct cluster_bound *b, const char *user,
                              const char *account_id, const char *pointer)
{
    size_t at = NAME_NOT_FOUND;

    if (!b->in->account_count || (!user && !account_id))
        return CLUSTER_NONE;
    if (user)
        at = name_index_find(&b->associations,
                             joined(b, user, account_id ? account_id : ""));
    if (at != NAME_NOT_FOUND || !account_id)
        return at == NAME_NOT_FOUND ? CLUSTER_NONE : (ptrdiff_t)at;
    return cluster_find(b, &b->accounts, account_id, "account", pointer);
}

uint64_t *cluster_set_of(struct cluster_bound *b, const char *const *ids, size_t count,
                         const char *pointer)
{
    uint64_t *set;
    struct pointer at;

    if (!ids)
        return NULL;
    set = NEW(b->rq->arena, uint64_t, cluster_words(b->in->resource_count));
    budget_step(&b->rq->budget, count);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t node;

        at = pointer_in(pointer, i, NULL);
        node = cluster_find(b, &b->nodes, ids[i], "node", at.text);
        if (node >= 0)
            cluster_set_add(set, (size_t)node);
    }
    return set;
}

/* Who of `count` is named; NULL for NULL. */
static bool *named(struct cluster_bound *b, const struct name_index *in,
                   const char *const *ids, size_t id_count, size_t count,
                   const char *what, const char *pointer)
{
    bool *list;
    struct pointer at;

    if (!ids)
        return NULL;
    list = NEW(b->rq->arena, bool, count);
    budget_step(&b->rq->budget, id_count);
    for (size_t i = 0; i < id_count; i++) {
        ptrdiff_t k;

        at = pointer_in(pointer, i, NULL);
        k = cluster_find(b, in, ids[i], what, at.text);
        if (k >= 0)
            list[k] = true;
    }
    return list;
}

/* ---- amounts ---- */

static int64_t to_units(double value, double per_one)
{
    double units = isnan(value) ? (double)CLUSTER_ENDLESS : round(value * per_one);

    if (value > 0 && units < 1)
        units = 1;
    return units < (double)CLUSTER_ENDLESS ? (int64_t)units : CLUSTER_ENDLESS;
}

static void note_amounts(struct cluster_bound *b, const struct named_value *list,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (name_index_find(&b->shared, list[i].name) == NAME_NOT_FOUND &&
            name_index_add(&b->amounts, list[i].name, b->of.amount_count) ==
                NAME_NOT_FOUND)
            b->amount_names[b->of.amount_count++] = list[i].name;
}

/* Whether a job needs an amount of a number from `known` on: no node has it. */
static bool needs_beyond(const struct cluster_bound *b, const struct job *job,
                         size_t known)
{
    for (size_t k = 0; k < job->need_count; k++) {
        size_t at = name_index_find(&b->amounts, job->needs[k].name);

        if (at != NAME_NOT_FOUND && at >= known && job->needs[k].number > 0)
            return true;
    }
    return false;
}

static void index_amounts(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct arena *a = b->rq->arena;
    size_t room = CLUSTER_NAMED, known;
    int64_t *shared = NEW(a, int64_t, in->shared_capacity_count);

    for (size_t i = 0; i < in->resource_count; i++)
        room += in->resources[i].capacity_count;
    for (size_t i = 0; i < b->body->job_count; i++)
        room += b->body->jobs[i].of.need_count;
    b->amount_names = NEW(a, const char *, room);
    name_index_create(&b->amounts, room, a);
    name_index_create(&b->shared, in->shared_capacity_count, a);
    for (size_t i = 0; i < in->shared_capacity_count; i++) {
        name_index_add(&b->shared, in->shared_capacities[i].name, i);
        shared[i] = to_units(in->shared_capacities[i].number, CLUSTER_UNITS);
    }
    b->of.shared = shared;
    b->of.shared_count = in->shared_capacity_count;
    b->of.amount_count = CLUSTER_NAMED;
    b->amount_names[CLUSTER_CPUS] = "cpus";
    b->amount_names[CLUSTER_MEMORY] = "memory_bytes";
    for (size_t i = 0; i < in->resource_count; i++)
        note_amounts(b, in->resources[i].capacities, in->resources[i].capacity_count);
    known = b->of.amount_count;
    for (size_t i = 0; i < b->body->job_count; i++) {
        const struct job *job = &b->body->jobs[i].of;

        note_amounts(b, job->needs, job->need_count);
        if (needs_beyond(b, job, known))
            cluster_count(&b->unknown_need, i);
    }
    if (b->unknown_need.count)
        b->unknown_amount = b->amount_names[known];
    budget_step(&b->rq->budget, 4 * room);
    if (b->of.amount_count > 32 + CLUSTER_NAMED)
        invalid(b->rq->err, "/cluster/resources", ITEM_TOO_LONG,
                "%zu different names of amounts, at most 32",
                b->of.amount_count - CLUSTER_NAMED);
}

const int64_t *cluster_units(struct cluster_bound *b, double cpus, double memory_bytes,
                             const struct named_value *needs, size_t need_count,
                             const struct cluster_take **shared, size_t *shared_count)
{
    int64_t *units = NEW(b->rq->arena, int64_t, b->of.amount_count);
    struct cluster_take *once = NEW(b->rq->arena, struct cluster_take, need_count);
    size_t n = 0;

    units[CLUSTER_CPUS] = to_units(cpus, CLUSTER_UNITS);
    units[CLUSTER_MEMORY] = to_units(memory_bytes, 1);
    budget_step(&b->rq->budget, b->of.amount_count + need_count);
    for (size_t i = 0; i < need_count; i++) {
        size_t at = name_index_find(&b->shared, needs[i].name);
        int64_t is = to_units(needs[i].number, CLUSTER_UNITS);

        if (at != NAME_NOT_FOUND && is > 0)
            once[n++] = (struct cluster_take){at, is};
        if (at != NAME_NOT_FOUND)
            continue;
        at = name_index_find(&b->amounts, needs[i].name);
        if (at != NAME_NOT_FOUND)
            units[at] = is;
    }
    *shared = once;
    *shared_count = n;
    return units;
}

/* ---- limits ---- */

static double number_or_none(double value)
{
    return isnan(value) ? 0 : value;
}

static double number_or_endless(double value)
{
    return isnan(value) ? HUGE_VAL : value;
}

static struct cluster_amount_limits bind_amounts(struct cluster_bound *b,
                                                 const struct cluster_amounts_in *in)
{
    struct cluster_amount_limits made = {NULL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    int64_t *amounts;

    if (!in)
        return made;
    amounts = NEW(b->rq->arena, int64_t, b->of.amount_count);
    for (size_t k = 0; k < b->of.amount_count; k++)
        amounts[k] = CLUSTER_ENDLESS;
    amounts[CLUSTER_CPUS] = to_units(in->cpus, CLUSTER_UNITS);
    amounts[CLUSTER_MEMORY] = to_units(in->memory_bytes, 1);
    for (size_t i = 0; i < in->need_count; i++) {
        size_t at = name_index_find(&b->amounts, in->needs[i].name);

        if (at != NAME_NOT_FOUND)
            amounts[at] = to_units(in->needs[i].number, CLUSTER_UNITS);
    }
    made.amounts = amounts;
    made.nodes = number_or_endless(in->nodes);
    return made;
}

static struct cluster_limits bind_limits(struct cluster_bound *b,
                                         const struct cluster_limits_in *in)
{
    static const struct cluster_limits_in none = {(double)NAN, (double)NAN, (double)NAN,
                                                  (double)NAN, (double)NAN, NULL,
                                                  NULL,        NULL,        NULL};
    struct cluster_limits made;

    if (!in)
        in = &none;
    made = (struct cluster_limits){
        .jobs = number_or_endless(in->jobs_running_max),
        .jobs_per_user = number_or_endless(in->jobs_running_per_user_max),
        .jobs_per_account = number_or_endless(in->jobs_running_per_account_max),
        .wall_s = number_or_endless(in->wall_s_max),
        .group = bind_amounts(b, in->group),
        .per_job = bind_amounts(b, in->per_job),
        .per_user = bind_amounts(b, in->per_user),
        .per_node = bind_amounts(b, in->per_node),
    };
    if (in->group) {
        made.group.jobs = number_or_endless(in->group->jobs_running);
        made.group.cpu_s_running = number_or_endless(in->group->cpu_s_running);
        made.group.cpu_s = number_or_endless(in->group->cpu_s);
    }
    return made;
}

/* ---- nodes, accounts, qualities of service, partitions ---- */

static bool selects_cores(const struct cluster_in *in)
{
    int select = in->policy_settings.select;

    return select != SELECT_CPUS && select != SELECT_CPUS_MEMORY;
}

static void bind_nodes(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct cluster_node *nodes =
        NEW(b->rq->arena, struct cluster_node, in->resource_count);
    const struct cluster_take *shared;
    size_t n;

    for (size_t i = 0; i < in->resource_count; i++) {
        const struct cluster_resource_in *r = &in->resources[i];

        nodes[i] = (struct cluster_node){
            .id = r->id,
            .weight = r->weight,
            .capacity = cluster_units(b, r->cpus, r->memory_bytes, r->capacities,
                                      r->capacity_count, &shared, &n),
            .core_units = selects_cores(in)
                              ? (int64_t)(r->threads_per_core * (uint64_t)CLUSTER_UNITS)
                              : 1,
            .starts = r->state == CLUSTER_UP,
            .may_come_back = r->state != CLUSTER_FUTURE,
        };
        if (n)
            invalid(b->rq->err, pointer_in("/cluster/resources", i, "capacities").text,
                    ITEM_CONFLICT,
                    "a name is a capacity of nodes, or in shared_capacities, not both");
    }
    b->of.nodes = nodes;
    b->of.node_count = in->resource_count;
}

static void bind_qos(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct cluster_qos *list = NEW(b->rq->arena, struct cluster_qos, in->qos_count);
    struct pointer pointer;

    for (size_t i = 0; i < in->qos_count; i++) {
        const struct cluster_qos_in *q = &in->qos[i];

        pointer = pointer_in("/cluster/qos", i, "preempts");
        list[i] = (struct cluster_qos){
            .id = q->id,
            .priority = q->priority,
            .grace_s = q->grace_s,
            .usage_factor = q->usage_factor,
            .preempts = q->preempt_count
                            ? named(b, &b->qos, q->preempts, q->preempt_count,
                                    in->qos_count, "quality of service", pointer.text)
                            : NULL,
            .not_preempted = q->preempt_mode == PREEMPT_OFF,
            .limits = bind_limits(b, q->limits),
        };
        for (size_t k = 0; k < q->flag_count; k++) {
            list[i].no_reserve |= strcmp(q->flags[k], "no_reserve") == 0;
            list[i].overrides_partition |=
                strcmp(q->flags[k], "override_partition_limits") == 0;
        }
    }
    b->of.qos = list;
    b->of.qos_count = in->qos_count;
}

/* A way up that does not end. */
static void check_parents(struct cluster_bound *b)
{
    size_t count = b->in->account_count;
    size_t *seen = NEW(b->rq->arena, size_t, count);

    for (size_t i = 0; i < count; i++) {
        ptrdiff_t k = (ptrdiff_t)i;

        for (; k >= 0 && !seen[k]; k = b->account_list[k].parent) {
            seen[k] = i + 1;
            budget_step(&b->rq->budget, 1);
        }
        if (k >= 0 && seen[k] == i + 1) {
            invalid(b->rq->err,
                    pointer_in("/cluster/accounts", (size_t)k, "parent_id").text,
                    ITEM_CYCLE, "'%.100s' is above itself", b->account_list[k].id);
            b->account_list[k].parent = CLUSTER_NONE;
        }
    }
}

/* An account `root` without parent is the root itself: those below it have none. */
static bool is_root(const struct cluster_account_in *x)
{
    return !x->parent_id && !x->user_id && strcmp(x->id, "root") == 0;
}

static void bind_accounts(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct arena *a = b->rq->arena;
    double *shares = NEW(a, double, in->account_count);
    struct pointer pointer;

    b->shares = shares;
    b->account_list = NEW(a, struct cluster_account, in->account_count);
    b->default_qos = NEW(a, ptrdiff_t, in->account_count);
    name_index_create(&b->associations, 2 * in->account_count, a);
    for (size_t i = 0; i < in->account_count; i++) {
        const struct cluster_account_in *x = &in->accounts[i];

        b->account_list[i] = (struct cluster_account){
            .id = x->id,
            .parent = CLUSTER_NONE,
            .is_user = x->user_id,
            .used_cpu_s = x->usage_s,
            .limits = bind_limits(b, x->limits),
        };
        shares[i] = x->shares;
        pointer = pointer_in("/cluster/accounts", i, "default_qos_id");
        b->default_qos[i] = x->default_qos_id
                                ? cluster_find(b, &b->qos, x->default_qos_id,
                                               "quality of service", pointer.text)
                                : CLUSTER_NONE;
        pointer = pointer_in("/cluster/accounts", i, "qos_ids");
        b->account_list[i].qos = named(b, &b->qos, x->qos_ids, x->qos_id_count,
                                       in->qos_count, "quality of service", pointer.text);
        pointer = pointer_in("/cluster/accounts", i, "parent_id");
        if (x->parent_id)
            b->account_list[i].parent =
                cluster_find(b, &b->accounts, x->parent_id, "account", pointer.text);
        if (x->user_id) {
            cluster_user(b, x->user_id);
            name_index_add(&b->associations,
                           joined(b, x->user_id, x->parent_id ? x->parent_id : ""), i);
            name_index_add(&b->associations, joined(b, x->user_id, ""), i);
        }
    }
    check_parents(b);
    b->of.accounts = b->account_list;
    b->of.account_count = in->account_count;
    for (size_t i = 0; i < in->account_count; i++)
        if (is_root(&in->accounts[i]))
            for (size_t k = 0; k < in->account_count; k++) {
                budget_step(&b->rq->budget, 1);
                if (b->account_list[k].parent == (ptrdiff_t)i)
                    b->account_list[k].parent = CLUSTER_NONE;
            }
    cluster_fair_shares(&b->ranking, shares, b->account_list, in->account_count,
                        &b->rq->budget, a);
}

/* Whether the account or one above it is in the list. */
static bool is_below(struct cluster_bound *b, const bool *list, size_t account)
{
    for (ptrdiff_t k = (ptrdiff_t)account; list && k >= 0;
         k = b->account_list[k].parent) {
        budget_step(&b->rq->budget, 1);
        if (list[k])
            return true;
    }
    return false;
}

static const bool *allowed_accounts(struct cluster_bound *b,
                                    const struct cluster_partition_in *p, size_t i)
{
    size_t count = b->in->account_count;
    struct pointer pointer;
    bool *yes, *no, *may;

    pointer = pointer_in("/cluster/partitions", i, "accounts_allowed");
    yes = named(b, &b->accounts, p->accounts_allowed, p->accounts_allowed_count, count,
                "account", pointer.text);
    pointer = pointer_in("/cluster/partitions", i, "accounts_denied");
    no = named(b, &b->accounts, p->accounts_denied, p->accounts_denied_count, count,
               "account", pointer.text);
    if (!yes && !no)
        return NULL;
    may = NEW(b->rq->arena, bool, count);
    for (size_t k = 0; k < count; k++)
        may[k] = (!yes || is_below(b, yes, k)) && !is_below(b, no, k);
    return may;
}

static void bind_partition(struct cluster_bound *b, const struct cluster_partition_in *p,
                           size_t i)
{
    struct arena *a = b->rq->arena;
    uint64_t *nodes;
    struct pointer pointer;
    bool *users = NULL;

    pointer = pointer_in("/cluster/partitions", i, "resource_ids");
    nodes = cluster_set_of(b, p->resource_ids, p->resource_id_count, pointer.text);
    if (!nodes) {
        nodes = NEW(a, uint64_t, cluster_words(b->of.node_count));
        for (size_t k = 0; k < b->of.node_count; k++)
            cluster_set_add(nodes, k);
    }
    if (p->users_allowed)
        users = NEW(a, bool, b->of.user_count);
    for (size_t k = 0; users && k < p->users_allowed_count; k++)
        users[cluster_user(b, p->users_allowed[k])] = true;
    budget_step(&b->rq->budget, b->of.node_count + p->users_allowed_count);
    pointer = pointer_in("/cluster/partitions", i, "qos_allowed");
    b->partition_list[i] = (struct cluster_partition){
        .id = p->id,
        .nodes = nodes,
        .starts = p->state == PARTITION_UP || p->state == PARTITION_DRAIN,
        .tier = p->priority_tier,
        .factor = p->priority_factor,
        .limit_max_s = number_or_endless(p->time_limit_max_s),
        .nodes_min = p->nodes_per_job_min,
        .nodes_max = number_or_endless(p->nodes_per_job_max),
        .cpus_per_node_max = to_units(p->cpus_per_node_max, CLUSTER_UNITS),
        .memory_per_node_max = to_units(number_or_none(p->memory_per_node_max_bytes), 1),
        .memory_per_cpu_max = number_or_none(p->memory_per_cpu_max_bytes),
        .users = users,
        .accounts = allowed_accounts(b, p, i),
        .qos = named(b, &b->qos, p->qos_allowed, p->qos_allowed_count, b->in->qos_count,
                     "quality of service", pointer.text),
        .qos_id = CLUSTER_NONE,
        .sharing = p->sharing == SHARES_EXCLUSIVE ? CLUSTER_SHARES_NEVER
                   : p->sharing == SHARES_NO      ? CLUSTER_SHARES_NO
                                                  : CLUSTER_SHARES_MANY,
        .shared_jobs_max = p->shared_jobs_max,
        .preemptible_by_tier = p->preemptible_by_tier,
        .limits = bind_limits(b, p->limits),
    };
    pointer = pointer_in("/cluster/partitions", i, "qos_id");
    if (p->qos_id)
        b->partition_list[i].qos_id =
            cluster_find(b, &b->qos, p->qos_id, "quality of service", pointer.text);
}

static void bind_partitions(struct cluster_bound *b)
{
    static const struct cluster_partition_in all = {
        .id = "default",
        .is_default = true,
        .time_limit_max_s = (double)NAN,
        .time_limit_default_s = (double)NAN,
        .nodes_per_job_min = 1,
        .nodes_per_job_max = (double)NAN,
        .cpus_per_node_max = (double)NAN,
        .memory_per_node_default_bytes = (double)NAN,
        .memory_per_cpu_default_bytes = (double)NAN,
        .memory_per_cpu_max_bytes = (double)NAN,
        .memory_per_node_max_bytes = (double)NAN,
        .priority_tier = 1,
        .shared_jobs_max = 4,
        .preemptible_by_tier = true,
    };
    const struct cluster_in *in = b->in;
    size_t count = in->partition_count ? in->partition_count : 1;

    b->partition_list = NEW(b->rq->arena, struct cluster_partition, count);
    b->default_partition = in->partition_count ? CLUSTER_NONE : 0;
    name_index_create(&b->partitions, count, b->rq->arena);
    if (!in->partition_count) {
        bind_partition(b, &all, 0);
        name_index_add(&b->partitions, all.id, 0);
    }
    for (size_t i = 0; i < in->partition_count; i++) {
        name_index_add(&b->partitions, in->partitions[i].id, i);
        bind_partition(b, &in->partitions[i], i);
        if (!in->partitions[i].is_default)
            continue;
        if (b->default_partition >= 0)
            invalid(b->rq->err, pointer_in("/cluster/partitions", i, "default").text,
                    ITEM_CONFLICT, "at most one is the default");
        b->default_partition = (ptrdiff_t)i;
    }
    b->of.partitions = b->partition_list;
    b->of.partition_count = count;
}

static void bind_reservations(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct cluster_reservation *list =
        NEW(b->rq->arena, struct cluster_reservation, in->reservation_count * REPEATS);
    size_t count = in->reservation_count;
    struct pointer pointer;

    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct cluster_reservation_in *r = &in->reservations[i];
        bool *users = r->users_allowed ? NEW(b->rq->arena, bool, b->of.user_count) : NULL;
        double every_s = 0;

        list[i].id = r->id;
        list[i].start_s = r->start_s;
        list[i].end_s = number_or_endless(r->end_s);
        pointer = pointer_in("/cluster/reservations", i, "resource_ids");
        list[i].nodes =
            cluster_set_of(b, r->resource_ids, r->resource_id_count, pointer.text);
        cluster_units(b, 0, 0, r->needs, r->need_count, &list[i].shared,
                      &list[i].shared_count);
        budget_step(&b->rq->budget, r->users_allowed_count);
        for (size_t k = 0; users && k < r->users_allowed_count; k++)
            users[cluster_user(b, r->users_allowed[k])] = true;
        pointer = pointer_in("/cluster/reservations", i, "accounts_allowed");
        list[i].users = users;
        list[i].accounts =
            named(b, &b->accounts, r->accounts_allowed, r->accounts_allowed_count,
                  in->account_count, "account", pointer.text);
        for (size_t k = 0; k < r->flag_count; k++) {
            list[i].is_flexible |= strcmp(r->flags[k], "flex") == 0;
            if (strcmp(r->flags[k], "daily") == 0)
                every_s = 86400;
            if (strcmp(r->flags[k], "weekly") == 0)
                every_s = 604800;
        }
        /* Behind all that are given, so that indexes of those stay. */
        for (size_t k = 1; every_s > 0 && k < REPEATS; k++) {
            list[count] = list[i];
            list[count].start_s += (double)k * every_s;
            list[count++].end_s += (double)k * every_s;
        }
    }
    b->of.reservations = list;
    b->of.reservation_count = count;
}

/* ---- what runs ---- */

static ptrdiff_t find_if(struct cluster_bound *b, const struct name_index *in,
                         const char *name, const char *what, const char *pointer)
{
    return name ? cluster_find(b, in, name, what, pointer) : CLUSTER_NONE;
}

static const double OVERDUE_S = 1; /* a job that should have ended ends so soon (ours) */

/* The job without its nodes. */
static struct cluster_running make_running(struct cluster_bound *b,
                                           const struct cluster_running_in *r,
                                           const char *pointer)
{
    double left_s = r->time_limit_s - r->elapsed_s;
    struct cluster_running to = {
        .id = r->id,
        .of = {cluster_user(b, r->user),
               cluster_association(b, r->user, r->account_id,
                                   pointer_of(pointer, "account_id").text),
               find_if(b, &b->qos, r->qos_id, "quality of service",
                       pointer_of(pointer, "qos_id").text),
               find_if(b, &b->partitions, r->partition_id, "partition",
                       pointer_of(pointer, "partition_id").text),
               number_of(&b->arrays, r->array_id, &b->of.array_count),
               cluster_job_name(b, r->user, r->name)},
        .exclusive = r->exclusive,
        .exclusive_user = r->exclusive_user,
        .preemptible = r->preemptible,
        .start_s = b->body->now_s - r->elapsed_s,
        .end_s = 1e15,
        .priority = r->priority,
    };

    if (!isnan(r->expected_end_s))
        to.end_s = r->expected_end_s;
    else if (!isnan(left_s))
        to.end_s = b->body->now_s + left_s;
    else
        cluster_count(&b->unknown_end, b->of.running_count);
    if (to.end_s <= b->body->now_s) {
        cluster_count(&b->overdue, b->of.running_count);
        to.end_s = b->body->now_s + OVERDUE_S;
    }
    return to;
}

static void add_nodes(struct cluster_bound *b, struct cluster_running *to,
                      const uint32_t *nodes, size_t count, const int64_t *units)
{
    struct arena *a = b->rq->arena;
    size_t amounts = b->of.amount_count, had = to->node_count;
    uint32_t *all_nodes = NEW(a, uint32_t, had + count);
    int64_t *taken = NEW(a, int64_t, (had + count) * amounts);

    if (had) {
        memcpy(all_nodes, to->nodes, had * sizeof(*all_nodes));
        memcpy(taken, to->taken, had * amounts * sizeof(*taken));
    }
    for (size_t i = 0; i < count; i++) {
        all_nodes[had + i] = nodes[i];
        memcpy(&taken[(had + i) * amounts], units, amounts * sizeof(*taken));
        budget_step(&b->rq->budget, amounts);
    }
    to->nodes = all_nodes;
    to->taken = taken;
    to->node_count = had + count;
}

/* Adds a row of a running job, of its first or of a further node. What exists once counts
 * by the first. */
static void add_running(struct cluster_bound *b, struct name_index *ids,
                        const struct cluster_running_in *r, const uint32_t *nodes,
                        size_t node_count, const char *pointer)
{
    const struct cluster_take *shared;
    size_t shared_count, at;
    const int64_t *units = cluster_units(b, r->cpus, r->memory_bytes, r->needs,
                                         r->need_count, &shared, &shared_count);

    at = name_index_add(ids, r->id, b->of.running_count);
    if (at == NAME_NOT_FOUND) {
        at = b->of.running_count;
        b->running_list[at] = make_running(b, r, pointer);
        b->running_list[at].shared = shared;
        b->running_list[at].shared_count = shared_count;
        b->of.running_count++;
    }
    add_nodes(b, &b->running_list[at], nodes, node_count, units);
}

static void bind_running(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct arena *a = b->rq->arena;
    struct name_index ids;
    size_t room = in->running_count;
    struct pointer pointer;

    for (size_t i = 0; i < in->resource_count; i++)
        room += in->resources[i].running_count;
    b->running_list = NEW(a, struct cluster_running, room);
    name_index_create(&ids, room, a);
    for (size_t i = 0; i < in->running_count; i++) {
        const struct cluster_running_in *r = &in->running[i];
        uint32_t *nodes = NEW(a, uint32_t, r->resource_id_count);
        size_t n = 0;

        for (size_t k = 0; k < r->resource_id_count; k++) {
            ptrdiff_t node;

            pointer = pointer_in(pointer_in("/cluster/running", i, "resource_ids").text,
                                 k, NULL);
            node = cluster_find(b, &b->nodes, r->resource_ids[k], "node", pointer.text);
            if (node >= 0)
                nodes[n++] = (uint32_t)node;
            budget_step(&b->rq->budget, 1);
        }
        pointer = pointer_in("/cluster/running", i, NULL);
        add_running(b, &ids, r, nodes, n, pointer.text);
    }
    for (size_t i = 0; i < in->resource_count; i++)
        for (size_t k = 0; k < in->resources[i].running_count; k++) {
            uint32_t node = (uint32_t)i;

            pointer =
                pointer_in(pointer_in("/cluster/resources", i, "running").text, k, NULL);
            add_running(b, &ids, &in->resources[i].running[k], &node, 1, pointer.text);
        }
    b->of.running = b->running_list;
}

static bool is_in_the_way(struct cluster_bound *b, const struct cluster_running *r)
{
    for (size_t k = 0; k < b->of.reservation_count; k++) {
        const struct cluster_reservation *x = &b->of.reservations[k];

        budget_step(&b->rq->budget, r->node_count + 1);
        if (!x->nodes || x->start_s >= r->end_s || x->end_s <= b->of.now_s)
            continue;
        for (size_t n = 0; n < r->node_count; n++)
            if (cluster_set_has(x->nodes, r->nodes[n]))
                return true;
    }
    return false;
}

/* Takes what the job has; notes where that is more than there is. */
static void take_from(struct cluster_bound *b, const struct cluster_running *r,
                      int64_t *free)
{
    size_t amounts = b->of.amount_count;

    budget_step(&b->rq->budget, r->node_count * amounts);
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t k = 0; k < amounts; k++) {
            int64_t *left = &free[r->nodes[n] * amounts + k];

            *left -= r->taken[n * amounts + k];
            if (*left < 0 && !b->overcommitted)
                b->overcommitted =
                    arena_printf(b->rq->arena, "%s of %s", b->amount_names[k],
                                 b->of.nodes[r->nodes[n]].id);
        }
}

/* What is worth a warning of what runs: more than there is, or in a reservation's way. */
static void look_at_running(struct cluster_bound *b)
{
    size_t amounts = b->of.amount_count;
    int64_t *free = NEW(b->rq->arena, int64_t, b->of.node_count * amounts);

    for (size_t i = 0; i < b->of.node_count; i++)
        memcpy(&free[i * amounts], b->of.nodes[i].capacity, amounts * sizeof(*free));
    for (size_t i = 0; i < b->of.running_count; i++) {
        take_from(b, &b->running_list[i], free);
        if (is_in_the_way(b, &b->running_list[i]))
            cluster_count(&b->reserved, i);
    }
}

/* ---- settings ---- */

void cluster_take_options(const struct named_value *options, size_t count,
                          struct cluster_settings_in *to, struct error *err)
{
    const struct param *params = cluster_policies[0].params;
    double value[PARAMS_MAX];
    double *const numbers[] = {
#define X(name, ...) &to->name,
        CLUSTER_NUMBERS(X)
#undef X
    };
    bool *const switches[] = {
#define X(name, ...) &to->name,
        CLUSTER_SWITCHES(X)
#undef X
    };
    size_t number_count = sizeof(numbers) / sizeof(*numbers);

    if (params_bind(params, options, count, value, err) != OK)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < CLUSTER_OPTION_COUNT; k++) {
            if (strcmp(options[i].name, params[k].name) != 0)
                continue;
            if (k < number_count)
                *numbers[k] = value[k];
            else
                *switches[k - number_count] = value[k] > 0;
        }
}

static double endless_if_0(double value)
{
    return value > 0 ? value : HUGE_VAL;
}

void cluster_check_interval(double bf_interval_s, const char *pointer, struct error *err)
{
    if (bf_interval_s != -1 && bf_interval_s < 1)
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS,
                "%.15g is not -1, nor at least 1 and at most 10800", bf_interval_s);
}

struct cluster_settings cluster_settings_of(const struct cluster_settings_in *s)
{
    return (struct cluster_settings){
        .bf_interval_s = s->bf_interval_s,
        .bf_window_s = (int64_t)s->bf_window_s,
        .bf_resolution_s = (int64_t)s->bf_resolution_s,
        .bf_max_job_test = s->bf_max_job_test,
        .bf_max_job_user = endless_if_0(s->bf_max_job_user),
        .bf_max_job_user_part = endless_if_0(s->bf_max_job_user_part),
        .bf_max_job_part = endless_if_0(s->bf_max_job_part),
        .bf_max_job_assoc = endless_if_0(s->bf_max_job_assoc),
        .bf_max_job_start = endless_if_0(s->bf_max_job_start),
        .bf_max_job_array_resv = s->bf_max_job_array_resv,
        .bf_licenses = s->bf_licenses,
        .bf_window_linear_s = s->bf_window_linear_s,
        .sched_max_job_start = endless_if_0(s->sched_max_job_start),
        .default_queue_depth = s->default_queue_depth,
        .partition_job_depth = s->partition_job_depth,
        .defer = s->defer,
        .assoc_limit_stop = s->assoc_limit_stop,
        .preempt_type = s->preempt_mode == PREEMPT_OFF
                            ? CLUSTER_PREEMPT_NONE
                            : (enum cluster_preempt_type)s->preempt_type,
        .preempt_exempt_s = s->preempt_exempt_s,
        .memory_counts = s->select != SELECT_CORES && s->select != SELECT_CPUS,
        .whole_nodes = s->select == SELECT_WHOLE_NODES,
        .ends_one_by_one = !s->bf_end_grouping,
        .strict_reservations = s->strict_reservations,
        .promises_amounts = !s->reserve_whole_nodes,
    };
}

static void bind_settings(struct cluster_bound *b)
{
    const struct cluster_settings_in *s = &b->in->policy_settings;
    const struct cluster_priority_in *p = &s->priority;

    cluster_check_interval(s->bf_interval_s, "/cluster/policy_settings/bf_interval_s",
                           b->rq->err);
    b->of.settings = cluster_settings_of(s);
    b->ranking = (struct cluster_ranking){
        .weights = {.age = p->weight_age,
                    .association = p->weight_assoc,
                    .fair_share = p->weight_fair_share,
                    .job_size = p->weight_job_size,
                    .partition = p->weight_partition,
                    .qos = p->weight_qos},
        .basic = p->type == 1,
        .classic = p->fair_share == 1,
        .favors_small = p->favor_small,
        .relative_to_time = p->small_relative_to_time,
        .ages_from_submission = p->accrue_always,
        .max_age_s = p->max_age_s,
        .damping = p->damping,
    };
}

/* After the amounts have their indexes. */
static void bind_amount_weights(struct cluster_bound *b)
{
    const struct cluster_priority_in *p = &b->in->policy_settings.priority;
    double *weights =
        NEW(b->rq->arena, double, b->of.amount_count + 1 + b->of.shared_count);

    for (size_t i = 0; i < p->weight_tres_count; i++) {
        const struct named_value *w = &p->weight_tres[i];
        size_t amount = name_index_find(&b->amounts, w->name);
        size_t shared = name_index_find(&b->shared, w->name);

        if (strcmp(w->name, "cpus") == 0)
            weights[CLUSTER_CPUS] = w->number;
        else if (strcmp(w->name, "memory_bytes") == 0)
            weights[CLUSTER_MEMORY] = w->number;
        else if (strcmp(w->name, "nodes") == 0)
            weights[b->of.amount_count] = w->number;
        else if (amount != NAME_NOT_FOUND)
            weights[amount] = w->number;
        else if (shared != NAME_NOT_FOUND)
            weights[b->of.amount_count + 1 + shared] = w->number;
    }
    b->ranking.amount_weights = weights;
}

/* Users are numbered before lists of them are made. */
static void index_all(struct cluster_bound *b)
{
    const struct cluster_in *in = b->in;
    struct arena *a = b->rq->arena;
    size_t users = in->account_count + in->running_count + b->body->job_count;

    for (size_t i = 0; i < in->resource_count; i++)
        users += in->resources[i].running_count;
    for (size_t i = 0; i < in->partition_count; i++)
        users += in->partitions[i].users_allowed_count;
    for (size_t i = 0; i < in->reservation_count; i++)
        users += in->reservations[i].users_allowed_count;
    budget_step(&b->rq->budget, 8 * users + in->resource_count);
    name_index_create(&b->users, users, a);
    name_index_create(&b->job_names, users, a);
    name_index_create(&b->arrays, users, a);
    name_index_create(&b->nodes, in->resource_count, a);
    name_index_create(&b->qos, in->qos_count, a);
    name_index_create(&b->accounts, in->account_count, a);
    name_index_create(&b->reservations, in->reservation_count, a);
    for (size_t i = 0; i < in->resource_count; i++)
        name_index_add(&b->nodes, in->resources[i].id, i);
    for (size_t i = 0; i < in->qos_count; i++)
        name_index_add(&b->qos, in->qos[i].id, i);
    for (size_t i = 0; i < in->account_count; i++) {
        name_index_add(&b->accounts, in->accounts[i].id, i);
        cluster_user(b, in->accounts[i].user_id);
    }
    for (size_t i = 0; i < in->reservation_count; i++) {
        name_index_add(&b->reservations, in->reservations[i].id, i);
        for (size_t k = 0; k < in->reservations[i].users_allowed_count; k++)
            cluster_user(b, in->reservations[i].users_allowed[k]);
    }
    for (size_t i = 0; i < in->partition_count; i++)
        for (size_t k = 0; k < in->partitions[i].users_allowed_count; k++)
            cluster_user(b, in->partitions[i].users_allowed[k]);
    for (size_t i = 0; i < b->body->job_count; i++)
        cluster_user(b, b->body->jobs[i].of.user);
}

enum error_code cluster_bind(struct cluster_bound *b)
{
    b->in = b->body->cluster;
    b->of.now_s = b->body->now_s;
    b->of.budget = &b->rq->budget;
    index_all(b);
    bind_settings(b);
    index_amounts(b);
    TRY(b->rq->err->code);
    bind_amount_weights(b);
    bind_nodes(b);
    bind_qos(b);
    bind_accounts(b);
    bind_partitions(b);
    bind_reservations(b);
    bind_running(b);
    look_at_running(b);
    cluster_bind_jobs(b);
    return b->rq->err->code;
}

enum error_code cluster_warn_bound(struct request *rq, const struct cluster_bound *b,
                                   struct decision_answer *out)
{
    if (b->overdue.count)
        TRY(decision_warn(rq, out,
                          "overdue: %s, first '%s', should have ended; "
                          "%s taken to end a second from now",
                          counted(b->overdue.count, "running job").text,
                          b->of.running[b->overdue.first].id,
                          plural(b->overdue.count, "it is", "they are")));
    if (b->unknown_end.count)
        TRY(decision_warn(rq, out,
                          "unknown_end: %s, first '%s', %s; %s nodes are never free",
                          counted(b->unknown_end.count, "running job").text,
                          b->of.running[b->unknown_end.first].id,
                          plural(b->unknown_end.count, "does not say when it ends",
                                 "do not say when they end"),
                          plural(b->unknown_end.count, "its", "their")));
    if (b->ignored_account.count)
        TRY(decision_warn(rq, out,
                          "no_accounts: account_id of %s, first "
                          "/jobs/%zu/account_id, says nothing: the cluster has none",
                          counted(b->ignored_account.count, "job").text,
                          b->ignored_account.first));
    if (b->unknown_need.count)
        TRY(decision_warn(
            rq, out,
            "unknown_amount: %s, first /jobs/%zu/needs, %s what no node "
            "and not the cluster has, as '%.64s'",
            counted(b->unknown_need.count, "job").text, b->unknown_need.first,
            plural(b->unknown_need.count, "needs", "need"), b->unknown_amount));
    cluster_warn_unused(rq, b, out);
    return OK;
}
