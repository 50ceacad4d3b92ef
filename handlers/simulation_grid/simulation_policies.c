/* simulation_policies.c - the policies that a simulation compares, by their names. */
#include "handlers/simulation_grid/simulation_policies.h"

#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/placement_round.h"
#include "algorithms/simulation/vm.h"
#include "handlers/common/decision.h"
#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

/* No scheduler at all. */
static const struct policy pinned[] = {{.name = "pinned"}, {0}};

/* All that a name in `compare` may mean. */
static const struct policy *const tables[] = {dispatch_policies,
                                              replication_policies,
                                              fault_tolerance_policies,
                                              checkpoint_policies,
                                              placement_round_policies,
                                              vm_policies,
                                              pinned,
                                              NULL};

/* The policy of this name and the table that has it; NULL if none has. */
static const struct policy *find(const char *name, const struct policy **table)
{
    const struct policy *found = NULL;

    for (size_t t = 0; tables[t] && !found; t++) {
        found = policy_find(tables[t], name);
        *table = tables[t];
    }
    return found;
}

/* The values of a policy's options; mistakes below `pointer`. */
static const double *bind(const struct policy *policy, const struct named_value *options,
                          size_t option_count, const char *pointer, struct arena *a,
                          struct error *err)
{
    double *value = NEW(a, double, PARAMS_MAX);
    struct error here = {.arena = a};

    policy_bind(policy, options, option_count, value, &here);
    for (const struct error_item *i = here.first; i; i = i->next)
        invalid_again(err, pointer, i);
    return value;
}

static void set_checkpoint(struct simulation_label *label, const struct policy *policy,
                           const struct named_value *options, size_t option_count,
                           const char *pointer, struct arena *a, struct error *err)
{
    label->checkpoint = policy->name;
    label->policy.checkpoint = policy;
    label->policy.checkpoint_param = bind(policy, options, option_count, pointer, a, err);
}

/* `checkpoint` of an entry, or what its algorithm cannot do without. */
static void find_checkpoint(const struct simulation_compared *in, const char *pointer,
                            struct simulation_label *label, struct arena *a,
                            struct error *err)
{
    struct pointer here = pointer_of(pointer, "checkpoint");
    const struct policy *policy;

    if (!in->checkpoint) {
        if (label->policy.round && label->policy.round->flags & ROUND_CHECKPOINTS)
            set_checkpoint(label, policy_find(checkpoint_policies, "mean_failure"), NULL,
                           0, pointer, a, err);
        return;
    }
    policy = policy_find(checkpoint_policies, in->checkpoint->algorithm);
    if (!policy) {
        const struct policy *const known[] = {checkpoint_policies, NULL};

        decision_no_policy(pointer_of(here.text, "algorithm").text,
                           in->checkpoint->algorithm, "policy", known, err);
        return;
    }
    set_checkpoint(label, policy, in->checkpoint->options, in->checkpoint->option_count,
                   here.text, a, err);
}

/* A checkpoint policy or a VM policy leaves no room for another checkpoint policy. */
static void refuse_checkpoint(const struct simulation_compared *in, const char *pointer,
                              const char *why, struct error *err)
{
    if (!in->checkpoint)
        return;
    invalid(err, pointer_of(pointer, "checkpoint").text, ITEM_CONFLICT, "%s", why);
}

static void fill_label(const struct simulation_compared *in, const char *pointer,
                       struct simulation_label *label, struct arena *a, struct error *err)
{
    struct sim_policy *policy = &label->policy;
    struct pointer here;
    const struct policy *found, *table;

    policy->label = in->label ? in->label : in->algorithm;
    label->algorithm = in->algorithm;
    here = pointer_of(pointer, "algorithm");
    found = find(in->algorithm, &table);
    if (!found) {
        decision_no_policy(here.text, in->algorithm, "policy", tables, err);
    } else if (table == vm_policies) {
        policy->vm = found;
        policy->vm_param = bind(found, in->options, in->option_count, pointer, a, err);
        refuse_checkpoint(in, pointer, "sessions take no checkpoints", err);
    } else if (table == checkpoint_policies) {
        policy->round = policy_find(fault_tolerance_policies, "migration");
        policy->round_param = bind(policy->round, NULL, 0, pointer, a, err);
        set_checkpoint(label, found, in->options, in->option_count, pointer, a, err);
        refuse_checkpoint(in, pointer, "the algorithm is a checkpoint policy itself",
                          err);
    } else if (table == pinned) {
        (void)bind(found, in->options, in->option_count, pointer, a, err);
        find_checkpoint(in, pointer, label, a, err);
    } else {
        policy->round = found;
        policy->round_param = bind(found, in->options, in->option_count, pointer, a, err);
        find_checkpoint(in, pointer, label, a, err);
    }
}

enum error_code simulation_policies(const struct simulation_request *body,
                                    const struct simulation_label **labels,
                                    struct arena *a, struct error *err)
{
    struct simulation_label *list = NEW(a, struct simulation_label, body->compare_count);
    struct pointer pointer;

    if (body->compare_count == 0)
        invalid(err, "/compare", ITEM_TOO_SHORT, "name one policy at least");
    for (size_t i = 0; i < body->compare_count; i++) {
        pointer = pointer_in("/compare", i, NULL);
        fill_label(&body->compare[i], pointer.text, &list[i], a, err);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(list[k].policy.label, list[i].policy.label) != 0)
                continue;
            invalid(err, pointer_in("/compare", i, "label").text, ITEM_DUPLICATE,
                    "entry %zu has the same label", k);
            break;
        }
    }
    *labels = list;
    return err->code;
}
