/* cluster_labels.c - the policies that a cluster simulation compares. */
#include "algorithms/cluster_queue/settings.h"
#include "handlers/cluster_queue/cluster_bind.h"
#include "handlers/common/decision.h"
#include "handlers/simulation_cluster/cluster_simulation_parts.h"

#include <stdio.h>
#include <string.h>

enum { POINTER_BYTES = 256 };

/* Options of a queue policy here, and one of checkpoint policies. */
enum { BACKFILL_DEPTH, NODE_CHOICE };
static const struct param queue_params[] = {
    [BACKFILL_DEPTH] = {"backfill_depth", 0, 1e15, 1000,
                        "Waiting jobs that easy looks at; 0: all", PARAM_INTEGER, NULL},
    [NODE_CHOICE] = {"node_choice", 0, REPLAY_RUNS, REPLAY_BEST_FIT,
                     "Which of the nodes that fit", PARAM_CHOICE, replay_choice_names},
    {0},
};
static const struct param knows_params[] = {
    {"knows", 0, REPLAY_KNOWS_HISTORY, REPLAY_KNOWS_LAW, "What is known of failures",
     PARAM_CHOICE, replay_knows_names},
    {0},
};

enum { PREEMPT_TYPE, PREEMPT_MODE };
static const struct param slurm_params[] = {
    [PREEMPT_TYPE] = {"preempt_type", 0, CLUSTER_PREEMPT_TIER, CLUSTER_PREEMPT_NONE,
                      "Who may preempt whom", PARAM_CHOICE, cluster_preempt_type_names},
    [PREEMPT_MODE] = {"preempt_mode", 0, PREEMPT_REQUEUE, PREEMPT_OFF,
                      "What becomes of preempted jobs", PARAM_CHOICE,
                      cluster_preempt_mode_names},
    {0},
};

static const struct policy *const queue_tables[] = {queue_policies, cluster_policies,
                                                    NULL};

/* Mistakes of a list of its own, below `pointer`. */
static void repeat(const struct error *here, const char *pointer, struct error *err)
{
    for (const struct error_item *i = here->first; i; i = i->next)
        invalid_again(err, pointer, i);
}

/* Of slurm_backfill: what policy_settings say, or nobody. */
static struct cluster_settings_in settings_of(const struct cluster_playing *p)
{
    struct cluster_settings_in s = {
#define X(name, least, most, preset, text) .name = (preset),
        CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) .name = (preset),
            CLUSTER_SWITCHES(X)
#undef X
    };

    return p->body->cluster ? p->body->cluster->policy_settings : s;
}

/* Takes preempt_type and preempt_mode out of the options, the others are `rest`. */
static size_t take_preempting(const struct cluster_queue_in *in,
                              struct cluster_settings_in *to, struct named_value *rest,
                              struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < in->option_count; i++) {
        const char *name = in->options[i].name;
        bool is_type = strcmp(name, "preempt_type") == 0;
        double value[3];

        if (!is_type && strcmp(name, "preempt_mode") != 0)
            rest[count++] = in->options[i];
        else if (params_bind(slurm_params, &in->options[i], 1, value, err) == OK)
            *(is_type ? &to->preempt_type : &to->preempt_mode) =
                (int)value[is_type ? PREEMPT_TYPE : PREEMPT_MODE];
    }
    return count;
}

#define CALC_PERIOD_PRESET_S 300.0

/* Settings that this simulation does not look at. */
static void count_unread(struct cluster_playing *p, const struct cluster_settings_in *s)
{
    const struct {
        const char *name;
        bool is_changed;
    } unread[] = {
#define X(name, least, most, preset, text) {#name, s->name != (preset)},
        CLUSTER_NUMBERS(X)
#undef X
#define X(name, preset, text) {#name, s->name != (preset)},
            CLUSTER_SWITCHES(X)
#undef X
    };
    static const char *const names[] = {"sched_interval_s", "sched_min_interval_s",
                                        "over_time_limit_s", "kill_wait_s",
                                        "bf_running_job_reserve"};

    for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++) {
        budget_step(&p->rq->budget, 1);
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            if (unread[i].is_changed && strcmp(unread[i].name, names[k]) == 0 &&
                p->unread_count++ == 0)
                p->unread = names[k];
    }
    if (p->body->cluster && s->priority.calc_period_s != CALC_PERIOD_PRESET_S &&
        p->unread_count++ == 0)
        p->unread = "priority.calc_period_s";
}

/* The settings of slurm_backfill, as GET /v1/algorithms lists them. */
static void bind_slurm(struct cluster_playing *p, const struct cluster_queue_in *in,
                       const char *at, struct cluster_label *to)
{
    struct cluster_settings *s = NEW(p->a, struct cluster_settings, 1);
    struct named_value *rest = NEW(p->a, struct named_value, in->option_count);
    struct cluster_settings_in settings = settings_of(p);
    struct error here = {.arena = p->a};
    size_t count = take_preempting(in, &settings, rest, &here);

    cluster_take_options(rest, count, &settings, &here);
    if (!here.first)
        cluster_check_interval(settings.bf_interval_s, "/options/bf_interval_s", &here);
    repeat(&here, at, p->err);
    count_unread(p, &settings);
    *s = cluster_settings_of(&settings);
    s->memory_counts = true;
    s->whole_nodes = false;
    if (s->preempt_type != CLUSTER_PREEMPT_NONE && p->body->cleanup_s > 0)
        invalid(p->err, "/cleanup_s", ITEM_INVALID_COMBINATION,
                "not together with preemption: whoever preempts has the nodes at once");
    to->queue = cluster_policies[0].name;
    to->rules.slurm = s;
    to->rules.choice = REPLAY_RUNS;
    to->rules.preempted_leave = settings.preempt_mode == PREEMPT_CANCEL;
    to->rules.preempted_delay_ms = kernel_ms(settings.requeue_delay_s);
}

static void bind_queue(struct cluster_playing *p, const struct cluster_compared *in,
                       const char *pointer, struct cluster_label *to)
{
    const char *name = in->queue ? in->queue->algorithm : "easy";
    const struct policy *found = policy_find(queue_policies, name);
    double value[sizeof(queue_params) / sizeof(*queue_params)];
    struct error here = {.arena = p->a};
    char at[POINTER_BYTES];
    bool deep = false, chosen = false;

    snprintf(at, sizeof(at), "%.99s/queue", pointer);
    if (in->queue && !found && policy_find(cluster_policies, name)) {
        bind_slurm(p, in->queue, at, to);
        return;
    }
    snprintf(at, sizeof(at), "%.99s/queue/algorithm", pointer);
    if (!found) {
        decision_no_policy(at, name, "policy", queue_tables, p->err);
        return;
    }
    to->queue = found->name;
    to->rules.policy = found;
    if (!in->queue)
        return;
    params_bind(queue_params, in->queue->options, in->queue->option_count, value, &here);
    snprintf(at, sizeof(at), "%.99s/queue", pointer);
    repeat(&here, at, p->err);
    if (here.first)
        return;
    for (size_t i = 0; i < in->queue->option_count; i++) {
        deep |= strcmp(in->queue->options[i].name, "backfill_depth") == 0;
        chosen |= strcmp(in->queue->options[i].name, "node_choice") == 0;
    }
    if (deep)
        to->rules.backfill_depth =
            value[BACKFILL_DEPTH] > 0 ? (size_t)value[BACKFILL_DEPTH] : SIZE_MAX;
    if (chosen)
        to->rules.choice = (enum replay_choice)value[NODE_CHOICE];
}

/* The options without `knows`, which is ours. */
static size_t take_knows(struct cluster_playing *p,
                         const struct simulation_checkpoint *in, const char *pointer,
                         struct cluster_label *to, struct named_value *rest)
{
    struct error here = {.arena = p->a};
    size_t count = 0;
    double value[2];

    for (size_t i = 0; i < in->option_count; i++) {
        if (strcmp(in->options[i].name, "knows") != 0) {
            rest[count++] = in->options[i];
            continue;
        }
        if (params_bind(knows_params, &in->options[i], 1, value, &here) == OK)
            to->rules.knows = (enum replay_knows)value[0];
    }
    repeat(&here, pointer, p->err);
    return count;
}

/* Whether its intervals follow from how often a job's nodes fail. */
static bool goes_by_failures(const char *checkpoint)
{
    static const char *const able[] = {"young", "daly", "exact", "finite"};

    for (size_t i = 0; i < sizeof(able) / sizeof(*able); i++)
        if (strcmp(checkpoint, able[i]) == 0)
            return true;
    return false;
}

/* Levels make a pattern by the failures: of policies that go by these. */
static void bind_levels(struct cluster_playing *p, const struct cluster_checkpoint_in *in,
                        const char *pointer, struct replay_rules *to)
{
    struct level *levels = NEW(p->a, struct level, in->level_count);
    const char *at = arena_printf(p->a, "%s/checkpoint/levels", pointer);

    if (in->level_count == 0)
        return;
    if (p->body->io)
        invalid(p->err, at, ITEM_INVALID_COMBINATION, "not together with io");
    if (!goes_by_failures(in->policy.algorithm))
        invalid(
            p->err, at, ITEM_INVALID_COMBINATION,
            "not with algorithm %s: a pattern of levels follows from the failures, as "
            "young, daly, exact and finite do",
            in->policy.algorithm);
    checkpoint_check_levels(in->levels, in->level_count, in->level_count == 1, at,
                            p->err);
    for (size_t l = 0; l < in->level_count; l++)
        levels[l] = (struct level){
            in->levels[l].checkpoint_overhead_s, in->levels[l].restart_s,
            isnan(in->levels[l].survives_ratio) ? 1 : in->levels[l].survives_ratio};
    to->levels = levels;
    to->level_count = in->level_count;
}

static void bind_checkpoint(struct cluster_playing *p, const struct cluster_compared *in,
                            const char *pointer, struct cluster_label *to)
{
    const struct simulation_checkpoint *policy;
    struct named_value *rest;
    struct error here = {.arena = p->a};
    const struct policy *const known[] = {checkpoint_policies, NULL};
    const struct policy *found;
    double *value = NEW(p->a, double, PARAMS_MAX);
    char at[POINTER_BYTES];
    size_t count;

    if (!in->checkpoint)
        return;
    snprintf(at, sizeof(at), "%.99s/checkpoint/algorithm", pointer);
    policy = &in->checkpoint->policy;
    found = policy_find(checkpoint_policies, policy->algorithm);
    if (!found) {
        decision_no_policy(at, policy->algorithm, "policy", known, p->err);
        return;
    }
    rest = NEW(p->a, struct named_value, policy->option_count);
    bind_levels(p, in->checkpoint, pointer, &to->rules);
    snprintf(at, sizeof(at), "%.99s/checkpoint", pointer);
    count = take_knows(p, policy, at, to, rest);
    policy_bind(found, rest, count, value, &here);
    repeat(&here, at, p->err);
    to->checkpoint = found->name;
    if (strcmp(found->name, "none") == 0) /* no images: nobody needs to be asked */
        return;
    to->rules.io.has_places =
        p->body->io && p->body->io->stagger && goes_by_failures(found->name);
    to->rules.checkpoint = found;
    to->rules.checkpoint_param = value;
}

static struct replay_rules rules_of(const struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    const struct cluster_job_defaults *d = &body->job_defaults;
    struct replay_rules r = replay_rules_default();

    if (body->io)
        r.io = (struct replay_io){.is_shared = true,
                                  .use_max_ratio = body->io->use_max_ratio};
    r.knows = (enum replay_knows)body->knows;
    r.requeue = (enum replay_requeue)d->requeue;
    r.choice = (enum replay_choice)body->node_choice;
    r.requeue_at_limit = d->limit_action == CLUSTER_LIMIT_REQUEUE;
    r.estimate_remaining = body->estimate_after_restart == 1;
    r.max_restarts = d->max_restarts == CLUSTER_NOT_SAID ? UINT64_MAX : d->max_restarts;
    r.cleanup_ms = kernel_ms(body->cleanup_s);
    r.backfill_depth = body->backfill_depth ? (size_t)body->backfill_depth : SIZE_MAX;
    return r;
}

static void bind_label(struct cluster_playing *p, size_t i)
{
    const struct cluster_compared *in = &p->body->compare[i];
    struct cluster_label *to = &p->labels[i];
    char pointer[POINTER_BYTES];

    snprintf(pointer, sizeof(pointer), "/compare/%zu", i);
    *to = (struct cluster_label){.rules = rules_of(p)};
    if (in->requeue >= 0)
        to->rules.requeue = (enum replay_requeue)in->requeue;
    bind_queue(p, in, pointer, to);
    bind_checkpoint(p, in, pointer, to);
    to->label = in->label        ? in->label
                : to->checkpoint ? arena_printf(p->a, "%s+%s", to->queue ? to->queue : "",
                                                to->checkpoint)
                                 : to->queue;
    budget_step(&p->rq->budget, 16 + i);
    for (size_t k = 0; k < i && to->label; k++) {
        if (!p->labels[k].label || strcmp(p->labels[k].label, to->label) != 0)
            continue;
        snprintf(pointer, sizeof(pointer), "/compare/%zu/label", i);
        invalid(p->err, pointer, ITEM_DUPLICATE, "entry %zu has the same label", k);
        break;
    }
}

static void bind_baseline(struct cluster_playing *p)
{
    const char *name = p->body->baseline;

    p->baseline = 0;
    for (size_t i = 0; name && i < p->body->compare_count; i++)
        if (p->labels[i].label && strcmp(p->labels[i].label, name) == 0) {
            p->baseline = i;
            return;
        }
    if (name)
        invalid(p->err, "/baseline", ITEM_UNKNOWN_ID, "no label is called '%.80s'", name);
}

static void bind_confidence(struct cluster_playing *p)
{
    const struct cluster_confidence *c = p->body->confidence;
    char hint[NAMES_HINT_BYTES];

    p->confidence_metric = -1;
    if (!c)
        return;
    for (int i = 0; i < CLUSTER_METRIC_COUNT; i++)
        if (strcmp(cluster_metric_names[i], c->metric) == 0)
            p->confidence_metric = i;
    if (p->confidence_metric < 0) {
        invalid(p->err, "/confidence/metric", ITEM_NOT_A_CHOICE,
                "there is no figure '%.60s'; %s", c->metric,
                names_hint(c->metric, cluster_metric_names, CLUSTER_METRIC_COUNT, hint,
                           sizeof(hint)));
        error_allow(p->err, c->metric, cluster_metric_names, CLUSTER_METRIC_COUNT);
    }
    if (p->body->runs > c->runs_max)
        invalid(p->err, "/confidence/runs_max", ITEM_OUT_OF_BOUNDS, "below runs");
}

void cluster_labels_bind(struct cluster_playing *p)
{
    p->labels = NEW(p->a, struct cluster_label, p->body->compare_count);
    if (p->body->compare_count == 0)
        invalid(p->err, "/compare", ITEM_TOO_SHORT, "name one label at least");
    for (size_t i = 0; i < p->body->compare_count; i++) {
        budget_step(&p->rq->budget, 64);
        bind_label(p, i);
    }
    bind_baseline(p);
    bind_confidence(p);
}
