/* simulation_policies.c - the policies that a simulation compares, by their names. */
#include "handlers/simulation_grid/simulation_policies.h"

#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/placement_round.h"
#include "algorithms/simulation/vm.h"
#include "models/base/names.h"

#include <stdio.h>
#include <string.h>

/* No scheduler at all. */
static const char PINNED[] = "pinned";

enum { NAMES_MAX = 256, POINTER_BYTES = 256 };

/* What a name in `compare` may mean. */
struct found {
    const struct round_policy *round;
    const struct policy *placement;
    const struct checkpoint_policy *checkpoint;
    const struct vm_policy *vm;
};

static const struct round_policy *find_round(const char *name)
{
    const struct round_policy *policy = dispatch_policy_find(name);

    if (!policy)
        policy = replication_policy_find(name);
    return policy ? policy : fault_tolerance_policy_find(name);
}

static size_t add_round_names(const struct round_policy *table, const char **names,
                              size_t count)
{
    for (; table->name && count < NAMES_MAX; table++)
        names[count++] = table->name;
    return count;
}

static size_t add_checkpoint_names(const char **names, size_t count)
{
    for (size_t i = 0; checkpoint_policies[i].name && count < NAMES_MAX; i++)
        names[count++] = checkpoint_policies[i].name;
    return count;
}

static size_t add_other_names(const char **names, size_t count)
{
    for (size_t i = 0; placement_policies[i].name && count < NAMES_MAX; i++)
        names[count++] = placement_policies[i].name;
    for (size_t i = 0; vm_policies[i].name && count < NAMES_MAX; i++)
        names[count++] = vm_policies[i].name;
    if (count < NAMES_MAX)
        names[count++] = PINNED;
    return count;
}

static void unknown_policy(const char *pointer, const char *name,
                           const char *const *names, size_t count, struct error *err)
{
    char hint[NAMES_HINT_BYTES];

    invalid(err, pointer, "unknown_algorithm", "there is no policy '%.60s' here; %s",
            name, names_hint(name, names, count, hint, sizeof(hint)));
}

static bool find_algorithm(const char *name, const char *pointer, struct found *found,
                           struct error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    *found = (struct found){.round = find_round(name)};
    if (!found->round)
        found->placement = policy_find(placement_policies, name);
    if (!found->round && !found->placement)
        found->checkpoint = checkpoint_policy_find(name);
    if (!found->round && !found->placement && !found->checkpoint)
        found->vm = vm_policy_find(name);
    if (found->round || found->placement || found->checkpoint || found->vm)
        return true;
    count = add_round_names(dispatch_policies, names, count);
    count = add_round_names(replication_policies, names, count);
    count = add_round_names(fault_tolerance_policies, names, count);
    count = add_checkpoint_names(names, count);
    count = add_other_names(names, count);
    unknown_policy(pointer, name, names, count, err);
    return false;
}

/* The values of a policy's options; mistakes below `pointer`. */
static const double *bind(const struct param *params, const struct named_value *options,
                          size_t option_count, const char *pointer, struct arena *a,
                          struct error *err)
{
    double *value = NEW(a, double, PARAMS_MAX);
    struct error here = {.arena = a};

    if (!value) {
        fail_memory(err);
        return NULL;
    }
    params_bind(params, options, option_count, value, &here);
    for (const struct error_item *i = here.first; i; i = i->next) {
        char whole[2 * POINTER_BYTES];

        snprintf(whole, sizeof(whole), "%s%.*s", pointer, POINTER_BYTES, i->pointer);
        invalid(err, whole, i->kind, "%s", i->detail);
    }
    return value;
}

static void set_checkpoint(struct simulation_label *label,
                           const struct checkpoint_policy *policy,
                           const struct named_value *options, size_t option_count,
                           const char *pointer, struct arena *a, struct error *err)
{
    label->checkpoint = policy->name;
    label->policy.checkpoint = policy;
    label->policy.checkpoint_param =
        bind(policy->params, options, option_count, pointer, a, err);
}

/* `checkpoint` of an entry, or what its algorithm cannot do without. */
static void find_checkpoint(const struct simulation_compared *in, const char *pointer,
                            struct simulation_label *label, struct arena *a,
                            struct error *err)
{
    const struct checkpoint_policy *policy;
    char here[POINTER_BYTES];

    if (!in->checkpoint) {
        if (label->policy.round && label->policy.round->flags & ROUND_CHECKPOINTS)
            set_checkpoint(label, checkpoint_policy_find("mean_failure"), NULL, 0,
                           pointer, a, err);
        return;
    }
    policy = checkpoint_policy_find(in->checkpoint->algorithm);
    if (!policy) {
        const char *names[NAMES_MAX];
        size_t count = add_checkpoint_names(names, 0);

        snprintf(here, sizeof(here), "%.99s/checkpoint/algorithm", pointer);
        unknown_policy(here, in->checkpoint->algorithm, names, count, err);
        return;
    }
    snprintf(here, sizeof(here), "%.99s/checkpoint", pointer);
    set_checkpoint(label, policy, in->checkpoint->options, in->checkpoint->option_count,
                   here, a, err);
}

/* A checkpoint policy or a VM policy leaves no room for another checkpoint policy. */
static void refuse_checkpoint(const struct simulation_compared *in, const char *pointer,
                              const char *why, struct error *err)
{
    char here[POINTER_BYTES];

    if (!in->checkpoint)
        return;
    snprintf(here, sizeof(here), "%.99s/checkpoint", pointer);
    invalid(err, here, "conflict", "%s", why);
}

static void fill_label(const struct simulation_compared *in, const char *pointer,
                       struct simulation_label *label, struct arena *a, struct error *err)
{
    struct sim_policy *policy = &label->policy;
    char here[POINTER_BYTES];
    struct found found;

    policy->label = in->label ? in->label : in->algorithm;
    label->algorithm = in->algorithm;
    snprintf(here, sizeof(here), "%.99s/algorithm", pointer);
    if (strcmp(in->algorithm, PINNED) == 0) {
        (void)bind(NULL, in->options, in->option_count, pointer, a, err);
        find_checkpoint(in, pointer, label, a, err);
        return;
    }
    if (!find_algorithm(in->algorithm, here, &found, err) ||
        (found.placement &&
         placement_round_policy(found.placement, &found.round, a, err) != OK))
        return;
    if (found.vm) {
        policy->vm = found.vm;
        policy->vm_param =
            bind(found.vm->params, in->options, in->option_count, pointer, a, err);
        refuse_checkpoint(in, pointer, "sessions take no checkpoints", err);
    } else if (found.checkpoint) {
        policy->round = fault_tolerance_policy_find("migration");
        policy->round_param = bind(policy->round->params, NULL, 0, pointer, a, err);
        set_checkpoint(label, found.checkpoint, in->options, in->option_count, pointer, a,
                       err);
        refuse_checkpoint(in, pointer, "the algorithm is a checkpoint policy itself",
                          err);
    } else {
        policy->round = found.round;
        policy->round_param =
            bind(found.round->params, in->options, in->option_count, pointer, a, err);
        find_checkpoint(in, pointer, label, a, err);
    }
}

enum error_code simulation_policies(const struct simulation_request *body,
                                    const struct simulation_label **labels,
                                    struct arena *a, struct error *err)
{
    struct simulation_label *list = NEW(a, struct simulation_label, body->compare_count);
    char pointer[POINTER_BYTES];

    if (!list)
        return fail_memory(err);
    if (body->compare_count == 0)
        invalid(err, "/compare", "too_short", "name one policy at least");
    for (size_t i = 0; i < body->compare_count; i++) {
        snprintf(pointer, sizeof(pointer), "/compare/%zu", i);
        fill_label(&body->compare[i], pointer, &list[i], a, err);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(list[k].policy.label, list[i].policy.label) != 0)
                continue;
            snprintf(pointer, sizeof(pointer), "/compare/%zu/label", i);
            invalid(err, pointer, "duplicate", "entry %zu has the same label", k);
            break;
        }
    }
    *labels = list;
    return err->code;
}
