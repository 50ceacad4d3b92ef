/* simulation_study.c - the member `study` of simulations of kind "queue": what would
 * happen if. */
#include "handlers/queue/simulation_study.h"

#include "algorithms/cluster_queue/settings.h"
#include "algorithms/queue/study.h"
#include "handlers/cluster_queue/cluster_patch.h"
#include "handlers/common/decision.h"
#include "handlers/operations/policy_words.h"
#include "models/base/budget_read.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "models/json_walk.h"
#include "service/json.h"
#include "service/json_holds.h"

#include <stdio.h>
#include <string.h>

enum { VARIANTS_MAX = 64 };

/* ---- the request ---- */

struct added_nodes {
    const char *like;
    uint64_t count;
};

struct cluster_changes {
    uint64_t processors; /* 0: as they are */
    const struct added_nodes *add_nodes;
    size_t add_node_count;
    const char *const *drop_nodes;
    size_t drop_node_count;
    double time_limit_max_s; /* NAN: as they are */
    const char *partitions;  /* JSON: changes of each, by id; NULL: none */
};

struct study_variant {
    const char *id, *policy;
    int estimates; /* -1: as the base */
    double workload_scale;
    const struct cluster_changes *cluster_changes;
    const char *settings; /* JSON: members of policy_settings; NULL: none */
};

struct study_grid {
    const char *const *policy;
    const char *const *estimates;
    const double *workload_scale, *processors;
    size_t policy_count, estimates_count, workload_scale_count, processors_count;
    struct study_numbers { /* of a setting */
        const double *list;
        size_t count;
    } settings[CLUSTER_OPTION_COUNT];
};

struct study_request {
    const struct study_variant *base;
    const struct study_variant *variants;
    size_t variant_count;
    const struct study_grid *grid;
    uint64_t resamples;
    double confidence, warm_up_s, cool_down_s;
};

#define T struct added_nodes
static const struct json_field added_rows[] = {
    JSON_ID(T, like, JSON_REQUIRED, "A node: the new ones are like it, and beside it"),
    JSON_INTEGER(T, count, 1, CLUSTER_NODES_MAX, 1, 0, "How many; default 1"),
    {0},
};
#undef T
static const struct json_object added_json = {"QueueStudyNodes",
                                              "Nodes of a cluster that are more",
                                              sizeof(struct added_nodes), added_rows};

#define T struct cluster_changes
static const struct json_field changes_rows[] = {
    JSON_LIST(T, add_nodes, add_node_count, struct added_nodes, &added_json, 1000, 0,
              "cluster: more nodes, in the partitions of those that they are like"),
    JSON_TEXTS(T, drop_nodes, drop_node_count, CLUSTER_NODES_MAX, 0,
               "cluster: nodes that are not there"),
    JSON_NUMBER(T, time_limit_max_s, 0, QUEUE_TIME_MAX_S, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN,
                "cluster: jobs ask for no more than this, in all partitions: longer "
                "limits are cut"),
    JSON_RAW(T, partitions, JSON_NULLABLE,
             "cluster: members of partitions that are different, {\"ID\": {\"member\": "
             "value}}; null: the default; an id that is not there: a further partition",
             JSON_HOLDS(&json_any_object)),
    JSON_INTEGER(T, processors, 1, QUEUE_PROCESSORS_MAX, 0, JSON_BOUND_ONLY,
                 "Processors of the cluster, instead of those that the request or the "
                 "log says"),
    {0},
};
#undef T
static const struct json_object changes_json = {
    "QueueStudyChanges", "What is different about the cluster",
    sizeof(struct cluster_changes), changes_rows};

#define T struct study_variant
#define VARIANT_ROWS                                                                     \
    JSON_TEXT(T, policy, JSON_NULLABLE,                                                  \
              "A policy of the family queue, or slurm_backfill of a cluster; default: "  \
              "that of the base, whose default is easy, on a cluster slurm_backfill"),   \
        JSON_CHOICE(T, estimates, simulation_estimates, -1, JSON_BOUND_ONLY,             \
                    "What the scheduler counts on; default: as the base, whose default " \
                    "is that of the simulation"),                                        \
        JSON_NUMBER(T, workload_scale, 0.001, 1000, NAN, JSON_NULLABLE,                  \
                    "Times between two arrivals are divided by this: 1.1 is a load a "   \
                    "tenth higher; default: as the base, whose default is 1"),           \
        JSON_RAW(                                                                        \
            T, settings, JSON_NULLABLE,                                                  \
            "cluster: members of policy_settings that are different, also "              \
            "preempt_type, select or {\"priority\": {\"weight_age\": 2000}}; null: "     \
            "the default; those that are not named are as in the base",                  \
            JSON_HOLDS(&json_any_object)),                                               \
    {                                                                                    \
        .name = "cluster_changes",                                                       \
        .doc = "What is different about the cluster; default: as the base",              \
        .type = JSON_TYPE_OBJECT,                                                        \
        .offset = JSON_AT(T, cluster_changes, const struct cluster_changes *),           \
        .of = &changes_json, .flags = JSON_POINTER | JSON_NULLABLE                       \
    }
static const struct json_field base_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Its name; default base"),
    VARIANT_ROWS,
    {0},
};
static const struct json_field variant_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Its name"),
    VARIANT_ROWS,
    {0},
};
#undef T
static const struct json_object base_json = {"QueueStudyBase",
                                             "What variants are compared with",
                                             sizeof(struct study_variant), base_rows};
static const struct json_object variant_json = {
    "QueueStudyVariant", "What is different from the base; all else is as there",
    sizeof(struct study_variant), variant_rows};

#define T struct study_grid
static const struct json_field grid_rows[] = {
    JSON_TEXTS(T, policy, policy_count, VARIANTS_MAX, 0, "Policies"),
    JSON_TEXTS(T, estimates, estimates_count, 3, 0, "requested, actual, model"),
    JSON_NUMBERS(T, workload_scale, workload_scale_count, 0.001, 1000, 0,
                 "See workload_scale of a variant"),
    JSON_NUMBERS(T, processors, processors_count, 1, QUEUE_PROCESSORS_MAX, JSON_WHOLE,
                 "Whole numbers, see cluster_changes"),
#define X(setting, least, most, preset, text)                                       \
    {.name = #setting,                                                              \
     .doc = "cluster: " text,                                                       \
     .type = JSON_TYPE_NUMBERS,                                                     \
     .offset = JSON_AT(T, settings[CLUSTER_OPTION_##setting].list, const double *), \
     .count_offset = JSON_AT(T, settings[CLUSTER_OPTION_##setting].count, size_t),  \
     .min = least,                                                                  \
     .max = most},
    CLUSTER_NUMBERS(X)
#undef X
        {0},
};
#undef T
static const struct json_object grid_json = {
    "QueueStudyGrid",
    "A variant for each combination, named like policy=easy,bf_window_s=3600, with the "
    "members in the order of this list. Combinations come in the order in which the "
    "request has its members and their values: the last member varies first",
    sizeof(struct study_grid), grid_rows};

#define T struct study_request
static const struct json_field request_rows[] = {
    {.name = "base",
     .doc = "What variants are compared with; default: easy, and all as it is",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, base, const struct study_variant *),
     .of = &base_json,
     .flags = JSON_POINTER | JSON_NULLABLE},
    JSON_LIST(T, variants, variant_count, struct study_variant, &variant_json,
              VARIANTS_MAX, JSON_UNIQUE_IDS, "Variants"),
    {.name = "grid",
     .doc = "Further variants, by what is combined; 64 in all",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, grid, const struct study_grid *),
     .of = &grid_json,
     .flags = JSON_POINTER | JSON_NULLABLE},
    JSON_INTEGER(T, resamples, 1, QUEUE_RESAMPLES_MAX, 1000, 0,
                 "How often the weeks are drawn again; default 1000"),
    JSON_NUMBER(T, confidence, 0.5, 0.999, 0.95, 0, "Of the intervals; default 0.95"),
    JSON_NUMBER(T, warm_up_s, 0, QUEUE_TIME_MAX_S, 0, 0,
                "Jobs that arrive within so long of the first one are not compared; "
                "default 0"),
    JSON_NUMBER(T, cool_down_s, 0, QUEUE_TIME_MAX_S, 0, 0,
                "Likewise within so long before the last one; default 0"),
    {0},
};
#undef T
const struct json_object study_request_json = {
    "QueueStudy", "A base and variants of it, which replay the same jobs",
    sizeof(struct study_request), request_rows};

/* ---- the answer ---- */

struct study_comparison {
#define X(name, member, doc) struct queue_change name;
    QUEUE_STUDY_FIGURES(X)
#undef X
};

struct hurt_row {
    const char *user;
    struct queue_hurt hurt;
};

struct study_row {
    const char *id, *policy;
    int estimates;
    double workload_scale;
    uint64_t processors, job_count, never_fit_count, compared_count;
    struct queue_figures figures;
    const struct study_comparison *vs_base; /* NULL: the base itself */
    int verdict;                            /* -1: likewise */
    const char *interval_absent;            /* NULL: there is one, or no comparison */
    const struct hurt_row *hurt;
    size_t hurt_count;
};

struct study_answer {
    uint64_t resamples;
    double confidence;
    const char *block; /* NULL: none */
    uint64_t block_count, job_count;
    const struct study_row *base; /* NULL: it was not done */
    const struct study_row *variants;
    size_t variant_count;
};

#define T struct queue_change
static const struct json_field change_rows[] = {
    JSON_NUMBER(T, mean, 0, 0, 0, JSON_MAY_BE_NULL,
                "Mean of the variant's figure less the base's; below 0: better; null: no "
                "job ran in both"),
    JSON_NUMBER(T, low, 0, 0, 0, JSON_OPTIONAL,
                "Where that mean lies with the confidence asked for, from"),
    JSON_NUMBER(T, high, 0, 0, 0, JSON_OPTIONAL, "And to"),
    JSON_NUMBER(T, better_ratio, 0, 1, 0, JSON_MAY_BE_NULL,
                "Jobs that are better off; null: no job ran in both"),
    JSON_NUMBER(T, worse_ratio, 0, 1, 0, JSON_MAY_BE_NULL,
                "Jobs that are worse off; the rest is served alike; null: no job ran in "
                "both"),
    {.name = "verdict",
     .doc = "better or worse when the interval excludes 0, else undecided",
     .type = JSON_TYPE_CHOICE,
     .offset = JSON_AT(T, verdict, enum queue_verdict_of_study),
     .choices = queue_study_verdicts},
    {0},
};
#undef T
static const struct json_object change_json = {
    "QueueStudyChange", "A figure of the same jobs under the variant and under the base",
    sizeof(struct queue_change), change_rows};

#define T struct study_comparison
static const struct json_field comparison_rows[] = {
#define X(figure, member, meaning) \
    JSON_OBJECT(T, figure, struct queue_change, &change_json, 0, meaning),
    QUEUE_STUDY_FIGURES(X)
#undef X
        {0},
};
#undef T
static const struct json_object comparison_json = {"QueueStudyComparison", "By figure",
                                                   sizeof(struct study_comparison),
                                                   comparison_rows};

#define T struct hurt_row
static const struct json_field hurt_rows[] = {
    JSON_TEXT(T, user, 0, "Number of the user, or 'unknown'"),
    {.name = "job_count",
     .doc = "Jobs that were compared",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, hurt.job_count, uint64_t),
     .max = JSON_EXACT},
    {.name = "mean_wait_change_s",
     .doc = "How much longer they wait on average",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, hurt.mean_wait_change_s, double)},
    {.name = "mean_bounded_slowdown_change",
     .doc = "How much their bounded slowdown grows on average",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, hurt.mean_slowdown_change, double)},
    {0},
};
#undef T
static const struct json_object hurt_json = {"QueueStudyUser",
                                             "A user who waits longer than in the base",
                                             sizeof(struct hurt_row), hurt_rows};

enum { TOO_SHORT, NO_JOBS };
static const char *const interval_absent_names[] = {"too_short", "no_jobs", NULL};

#define T struct study_row
static const struct json_field figures_rows[] = {
#define X(figure, meaning)                             \
    {.name = #figure,                                  \
     .doc = meaning "; null: no job ran",              \
     .type = JSON_TYPE_NUMBER,                         \
     .offset = offsetof(struct queue_figures, figure), \
     .flags = JSON_MAY_BE_NULL},
    QUEUE_FIGURES(X)
#undef X
        {0},
};
static const struct json_object figures_json = {
    "QueueFigures", "Figures over all jobs that ran", sizeof(struct queue_figures),
    figures_rows};
static const struct json_field row_rows[] = {
    JSON_TEXT(T, id, 0, "Its name"),
    JSON_WORD_OF(T, policy, queue_words, 0, "The policy"),
    JSON_CHOICE(T, estimates, simulation_estimates, 0, 0,
                "What the scheduler counted on"),
    JSON_NUMBER(T, workload_scale, 0, 0, 0, 0,
                "By what times between arrivals are divided"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors of the cluster"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs that ran, of all figures"),
    JSON_INTEGER(T, never_fit_count, 0, JSON_EXACT, 0, 0,
                 "Jobs that need more processors than there are, and never ran"),
    JSON_OBJECT(T, figures, struct queue_figures, &figures_json, 0,
                "Over all jobs that ran, those before and after the window too"),
    JSON_INTEGER(T, compared_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "Jobs of the window that ran here and in the base"),
    {.name = "vs_base",
     .doc = "The same jobs, one by one; not of the base",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, vs_base, const struct study_comparison *),
     .of = &comparison_json,
     .flags = JSON_POINTER | JSON_OPTIONAL},
    JSON_CHOICE(T, verdict, queue_study_verdicts, 0, JSON_OPTIONAL,
                "That of wait_s; not of the base"),
    JSON_WORD(
        T, interval_absent, interval_absent_names, JSON_OPTIONAL,
        "Why there are no intervals. too_short: the window has jobs of fewer than 8 "
        "days; no_jobs: none ran in both"),
    {.name = "worst_hurt_users",
     .doc = "Users who wait longer than in the base, the longest first, 10 at most; not "
            "of the base",
     .type = JSON_TYPE_LIST,
     .offset = JSON_AT(T, hurt, const struct hurt_row *),
     .count_offset = JSON_AT(T, hurt_count, size_t),
     .of = &hurt_json,
     .flags = JSON_OPTIONAL},
    {0},
};
#undef T
static const struct json_object row_json = {"QueueStudyResult",
                                            "What came out for the base or a variant",
                                            sizeof(struct study_row), row_rows};

#define T struct study_answer
static const struct json_field answer_rows[] = {
    JSON_INTEGER(T, resamples, 0, JSON_EXACT, 0, 0, "How often the blocks were drawn"),
    JSON_NUMBER(T, confidence, 0, 1, 0, 0, "Of the intervals"),
    JSON_WORD(T, block, queue_block_names, JSON_OPTIONAL,
              "What was drawn: whole weeks or days, from the first arrival on; left out: "
              "there were too few"),
    JSON_INTEGER(T, block_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "Of them, those with jobs of the window"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0,
                 "Jobs of the window that ran in the base"),
    {.name = "base",
     .doc = "The base; left out: there was no time for it",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, base, const struct study_row *),
     .of = &row_json,
     .flags = JSON_POINTER | JSON_OPTIONAL},
    JSON_LIST(T, variants, variant_count, struct study_row, &row_json, 0, 0,
              "Those that there was time for, in the order of the request, those of the "
              "grid behind"),
    {0},
};
#undef T
const struct json_object study_answer_json = {
    "QueueStudyAnswer", "How the variants do, compared with the base",
    sizeof(struct study_answer), answer_rows};

/* ---- preparing ---- */

/* A trial, with all that it takes from the base filled in. */
struct study_trial {
    const char *id;
    const struct policy *policy;
    int estimates;
    double workload_scale;
    uint64_t processors; /* 0: as the log says */
    /* On a cluster: */
    const struct cluster_changes *changes; /* NULL: none */
    const struct cluster_settings_in *settings;
    struct study_row row;
};

struct study_state {
    struct queue_study study;
    double *submit_s;
};

static const struct policy *find_policy(const struct study_plan *plan, const char *name,
                                        const char *pointer)
{
    struct request *rq = plan->rq;
    const struct policy *const tables[] = {queue_policies,
                                           plan->cluster ? cluster_policies : NULL, NULL};
    const struct policy *policy = policy_find(queue_policies, name);

    if (!policy && plan->cluster)
        policy = policy_find(cluster_policies, name);
    if (!policy)
        decision_no_policy(pointer, name, "queue policy", tables, rq->err);
    return policy;
}

/* A copy of the settings, which a cluster has, to be changed. */
static struct cluster_settings_in *own_settings(const struct study_plan *plan,
                                                struct study_trial *trial)
{
    struct cluster_settings_in *own = NEW(plan->rq->arena, struct cluster_settings_in, 1);

    if (trial->settings)
        *own = *trial->settings;
    trial->settings = own;
    return own;
}

static void check_changes(const struct study_plan *plan, const struct study_variant *v,
                          const char *pointer)
{
    const struct cluster_changes *c = v->cluster_changes;
    struct arena *a = plan->rq->arena;
    const struct {
        const char *member;
        bool is_given, of_cluster;
    } members[] = {
        {"settings", v->settings, true},
        {"cluster_changes/processors", c && c->processors, false},
        {"cluster_changes/add_nodes", c && c->add_node_count, true},
        {"cluster_changes/drop_nodes", c && c->drop_node_count, true},
        {"cluster_changes/time_limit_max_s", c && !isnan(c->time_limit_max_s), true},
        {"cluster_changes/partitions", c && c->partitions, true},
    };
    size_t ignored;

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (members[i].is_given && members[i].of_cluster != !!plan->cluster)
            invalid(plan->rq->err, arena_printf(a, "%s/%s", pointer, members[i].member),
                    ITEM_CONFLICT, "it goes %s",
                    members[i].of_cluster ? "with a cluster alone"
                                          : "with processors alone");
    if (plan->cluster && c && c->partitions)
        cluster_patched_partitions(plan->rq, plan->cluster->partitions,
                                   plan->cluster->partition_count, c->partitions,
                                   pointer_of(pointer, "cluster_changes/partitions").text,
                                   &ignored);
}

/* Models are those of jobs on a cluster. */
static void check_estimates(const struct study_plan *plan,
                            const struct study_trial *trial, const char *pointer)
{
    if (trial->estimates == BY_MODEL && !plan->cluster)
        invalid(plan->rq->err, pointer, ITEM_CONFLICT, "model goes with a cluster alone");
}

static void take_variant(const struct study_plan *plan, const struct study_variant *v,
                         const char *pointer, struct study_trial *trial)
{
    check_changes(plan, v, pointer);
    if (v->id)
        trial->id = v->id;
    if (v->policy)
        trial->policy = find_policy(plan, v->policy, pointer_of(pointer, "policy").text);
    if (v->estimates >= 0)
        trial->estimates = v->estimates;
    if (v->estimates >= 0)
        check_estimates(plan, trial, pointer_of(pointer, "estimates").text);
    if (!isnan(v->workload_scale))
        trial->workload_scale = v->workload_scale;
    if (v->cluster_changes && v->cluster_changes->processors)
        trial->processors = v->cluster_changes->processors;
    if (v->cluster_changes)
        trial->changes = v->cluster_changes;
    if (plan->cluster && v->settings)
        cluster_patch_settings(plan->rq, v->settings,
                               pointer_of(pointer, "settings").text,
                               own_settings(plan, trial));
}

/* Members of a grid: those of a variant, then the settings. */
enum { AXIS_POLICY, AXIS_ESTIMATES, AXIS_SCALE, AXIS_PROCESSORS, AXIS_SETTINGS };
enum { AXIS_COUNT = AXIS_SETTINGS + CLUSTER_OPTION_COUNT };

static size_t values_of(const struct study_grid *g, size_t axis)
{
    switch (axis) {
    case AXIS_POLICY:
        return g->policy_count;
    case AXIS_ESTIMATES:
        return g->estimates_count;
    case AXIS_SCALE:
        return g->workload_scale_count;
    case AXIS_PROCESSORS:
        return g->processors_count;
    default:
        return g->settings[axis - AXIS_SETTINGS].count;
    }
}

static const char *axis_name(size_t axis)
{
    static const char *const names[] = {"policy", "estimates", "workload_scale",
                                        "processors"};

    return axis < AXIS_SETTINGS ? names[axis]
                                : cluster_policies[0].params[axis - AXIS_SETTINGS].name;
}

static void take_estimates(struct study_plan *plan, size_t index,
                           struct study_trial *trial)
{
    const char *word = plan->request->grid->estimates[index];

    const struct pointer at = pointer_in("/study/grid/estimates", index, NULL);

    for (int i = 0; simulation_estimates[i]; i++)
        if (strcmp(simulation_estimates[i], word) == 0) {
            trial->estimates = i;
            check_estimates(plan, trial, at.text);
            return;
        }
    invalid(plan->rq->err, at.text, ITEM_NOT_A_CHOICE,
            "'%.40s' is not requested, actual or model", word);
}

static void add_name(struct text_buffer *name, const char *member, const char *value)
{
    text_addf(name, "%s%s=%s", name->length ? "," : "", member, value);
}

/* Settings of the grid; choice: which value of each member. */
static void take_settings(struct study_plan *plan, const size_t *choice,
                          struct text_buffer *name, struct study_trial *trial)
{
    const struct study_grid *g = plan->request->grid;
    struct named_value *list =
        NEW(plan->rq->arena, struct named_value, CLUSTER_OPTION_COUNT);
    size_t n = 0;

    for (size_t i = 0; i < CLUSTER_OPTION_COUNT; i++) {
        if (!g->settings[i].count)
            continue;
        if (!plan->cluster && n == 0)
            invalid(plan->rq->err,
                    arena_printf(plan->rq->arena, "/study/grid/%s",
                                 axis_name(AXIS_SETTINGS + i)),
                    ITEM_CONFLICT, "it goes with a cluster alone");
        list[n] = (struct named_value){
            .name = axis_name(AXIS_SETTINGS + i),
            .type = VALUE_NUMBER,
            .number = g->settings[i].list[choice[AXIS_SETTINGS + i]]};
        add_name(name, list[n].name,
                 arena_printf(plan->rq->arena, "%.15g", list[n].number));
        n++;
    }
    if (n && plan->cluster)
        cluster_take_options(list, n, own_settings(plan, trial), plan->rq->err);
}

/* Goes into the object of this name. */
static bool walk_into(struct json_walk *w, const char *name)
{
    const char *found;

    if (!json_walk_enter_if(w, '{'))
        return false;
    while ((found = json_walk_member(w))) {
        budget_read_step(1);
        if (strcmp(found, name) == 0)
            return true;
        json_walk_skip(w);
    }
    return false;
}

/* Members of the grid in the order in which the request has them. */
static size_t order_of_grid(const struct study_plan *plan, size_t *order)
{
    const struct study_grid *g = plan->request->grid;
    bool is_listed[AXIS_COUNT] = {false};
    const char *name;
    struct json_walk w;
    size_t n = 0;

    json_walk_open(&w, plan->rq->body, plan->rq->body_length, plan->rq->arena);
    if (walk_into(&w, "study") && walk_into(&w, "grid") && json_walk_enter_if(&w, '{'))
        while ((name = json_walk_member(&w))) {
            budget_read_step(AXIS_COUNT);
            for (size_t i = 0; i < AXIS_COUNT; i++)
                if (values_of(g, i) && !is_listed[i] && strcmp(axis_name(i), name) == 0) {
                    is_listed[i] = true;
                    order[n++] = i;
                }
            json_walk_skip(&w);
        }
    for (size_t i = 0; i < AXIS_COUNT; i++)
        if (values_of(g, i) && !is_listed[i])
            order[n++] = i;
    return n;
}

/* The combination of this number. */
static void take_combination(struct study_plan *plan, const size_t *order,
                             size_t order_count, size_t number, struct study_trial *trial)
{
    const struct study_grid *g = plan->request->grid;
    struct arena *a = plan->rq->arena;
    struct text_buffer name = {.arena = a};
    size_t choice[AXIS_COUNT] = {0};

    for (size_t i = order_count; i-- > 0;) {
        choice[order[i]] = number % values_of(g, order[i]);
        number /= values_of(g, order[i]);
    }
    if (g->policy_count) {
        const char *policy = g->policy[choice[AXIS_POLICY]];

        trial->policy =
            find_policy(plan, policy,
                        pointer_in("/study/grid/policy", choice[AXIS_POLICY], NULL).text);
        add_name(&name, "policy", policy);
    }
    if (g->estimates_count) {
        take_estimates(plan, choice[AXIS_ESTIMATES], trial);
        add_name(&name, "estimates", g->estimates[choice[AXIS_ESTIMATES]]);
    }
    if (g->workload_scale_count) {
        trial->workload_scale = g->workload_scale[choice[AXIS_SCALE]];
        add_name(&name, "workload_scale",
                 arena_printf(a, "%.15g", trial->workload_scale));
    }
    if (g->processors_count) {
        double wanted = g->processors[choice[AXIS_PROCESSORS]];

        trial->processors = (uint64_t)wanted;
        add_name(&name, "processors", arena_printf(a, "%.15g", wanted));
    }
    take_settings(plan, choice, &name, trial);
    text_add(&name, "", 1);
    trial->id = text_end(&name);
}

/* 0: no grid; more than VARIANTS_MAX: too many. */
static size_t combinations(const struct study_grid *g)
{
    size_t product = 1, given = 0;

    if (!g)
        return 0;
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        size_t count = values_of(g, i);

        given += count;
        if (count > VARIANTS_MAX || product * (count ? count : 1) > VARIANTS_MAX)
            return VARIANTS_MAX + 1;
        product *= count ? count : 1;
    }
    return given ? product : 0;
}

static void check_names(const struct study_plan *plan)
{
    for (size_t i = 1; i < plan->trial_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(plan->trials[i].id, plan->trials[k].id) == 0) {
                invalid(plan->rq->err, "/study", ITEM_DUPLICATE,
                        "'%.80s' is the name of two variants, or of one and the base",
                        plan->trials[i].id);
                return;
            }
}

enum error_code study_prepare(struct request *rq, const struct study_request *request,
                              const struct queue_replay_in *log,
                              const struct cluster_in *cluster,
                              enum simulation_estimates estimates, uint64_t seed,
                              struct study_plan *plan)
{
    size_t of_grid = combinations(request->grid);
    size_t count = request->variant_count + of_grid;
    size_t order[AXIS_COUNT], order_count;
    struct study_trial base = {.id = "base",
                               .policy = policy_find(queue_policies, "easy"),
                               .estimates = (int)estimates,
                               .workload_scale = 1};

    *plan =
        (struct study_plan){.rq = rq, .request = request, .log = log, .cluster = cluster};
    if (cluster) {
        base.policy = &cluster_policies[0];
        base.settings = &cluster->policy_settings;
    }
    if (count == 0 || count > VARIANTS_MAX)
        return invalid(rq->err, "/study", count ? ITEM_TOO_LONG : ITEM_REQUIRED,
                       count ? "variants and grid are more than %d variants"
                             : "which variants? give variants or grid, at most %d",
                       VARIANTS_MAX);
    plan->state = NEW(rq->arena, struct study_state, 1);
    plan->state->study = (struct queue_study){.seed = seed,
                                              .resamples = (size_t)request->resamples,
                                              .confidence = request->confidence,
                                              .budget = &rq->budget};
    plan->trials = NEW(rq->arena, struct study_trial, count + 1);
    plan->trial_count = count + 1;
    if (request->base)
        take_variant(plan, request->base, "/study/base", &base);
    plan->trials[0] = base;
    order_count = of_grid ? order_of_grid(plan, order) : 0;
    for (size_t i = 0; i < count; i++) {
        plan->trials[i + 1] = base;
        if (i < request->variant_count)
            take_variant(plan, &request->variants[i],
                         pointer_in("/study/variants", i, NULL).text,
                         &plan->trials[i + 1]);
        else
            take_combination(plan, order, order_count, i - request->variant_count,
                             &plan->trials[i + 1]);
    }
    check_names(plan);
    return rq->err->code;
}

bool study_asks_models(const struct study_request *request)
{
    const struct study_grid *g = request->grid;
    bool asks = request->base && request->base->estimates == BY_MODEL;

    for (size_t i = 0; i < request->variant_count; i++)
        asks |= request->variants[i].estimates == BY_MODEL;
    for (size_t i = 0; g && i < g->estimates_count; i++)
        asks |= strcmp(g->estimates[i], simulation_estimates[BY_MODEL]) == 0;
    return asks;
}

const char *study_name(const struct study_plan *plan, size_t trial)
{
    return plan->trials[trial].id;
}

enum error_code study_check_window(const struct study_plan *plan)
{
    const struct queue_replay_in *log = plan->log;
    const struct study_request *in = plan->request;
    double processors = (double)(plan->trials[0].processors ? plan->trials[0].processors
                                                            : log->processors);
    double first_s = HUGE_VAL, last_s = -HUGE_VAL;

    for (size_t i = 0; i < log->job_count; i++) {
        first_s = fmin(first_s, log->jobs[i].submit_s);
        last_s = fmax(last_s, log->jobs[i].submit_s);
    }
    for (size_t i = 0; i < log->job_count; i++) {
        double submit_s = log->jobs[i].submit_s;

        if (submit_s >= first_s + in->warm_up_s && submit_s <= last_s - in->cool_down_s &&
            (plan->cluster || ceil(swf_processors(&log->jobs[i])) <= processors))
            return OK;
    }
    return invalid(
        plan->rq->err, "/study", ITEM_NO_JOBS,
        "no job that the base can run arrives in the window: warm_up_s %.15g "
        "after the first of %s at %.15g, and cool_down_s %.15g before the last "
        "at %.15g",
        in->warm_up_s, counted(log->job_count, "job").text, first_s, in->cool_down_s,
        last_s);
}

/* ---- playing ---- */

const struct policy *study_trial_of(const struct study_plan *plan, size_t number,
                                    struct queue_replay_in *in, struct arena *a)
{
    const struct study_trial *trial = &plan->trials[number];
    double first_s = HUGE_VAL;
    struct swf_job *jobs;

    *in = *plan->log;
    in->estimates = trial->estimates == BY_RUN ? QUEUE_EXACT : QUEUE_REQUESTED;
    if (trial->processors)
        in->processors = trial->processors;
    if (trial->workload_scale == 1)
        return trial->policy;
    jobs = NEW(a, struct swf_job, in->job_count);
    for (size_t i = 0; i < in->job_count; i++)
        first_s = fmin(first_s, in->jobs[i].submit_s);
    for (size_t i = 0; i < in->job_count; i++) {
        jobs[i] = in->jobs[i];
        jobs[i].submit_s = first_s + (jobs[i].submit_s - first_s) / trial->workload_scale;
    }
    in->jobs = jobs;
    return trial->policy;
}

/* ---- on a cluster ---- */

/* Nodes that are more come behind the one that they are like, those that are dropped go,
 * also from partitions and reservations. */
struct changing {
    struct request *rq;
    const struct cluster_in *base;
    const struct cluster_changes *changes;
    struct name_index nodes;
    size_t *copies; /* of each node */
    bool *dropped;
    struct cluster_in *to;
};

static void count_copies(struct changing *x)
{
    const struct cluster_changes *c = x->changes;
    size_t more = 0;

    for (size_t i = 0; i < c->add_node_count; i++) {
        size_t at = name_index_find(&x->nodes, c->add_nodes[i].like);

        if (at == NAME_NOT_FOUND)
            invalid(x->rq->err, "/study", ITEM_UNKNOWN_ID,
                    "add_nodes: there is no node '%.100s'", c->add_nodes[i].like);
        else
            x->copies[at] += (size_t)c->add_nodes[i].count;
        more += (size_t)c->add_nodes[i].count;
    }
    if (more + x->base->resource_count > CLUSTER_NODES_MAX)
        invalid(x->rq->err, "/study", ITEM_TOO_LONG, "add_nodes: more than %d nodes",
                CLUSTER_NODES_MAX);
    for (size_t i = 0; i < c->drop_node_count; i++) {
        size_t at = name_index_find(&x->nodes, c->drop_nodes[i]);

        if (at == NAME_NOT_FOUND)
            invalid(x->rq->err, "/study", ITEM_UNKNOWN_ID,
                    "drop_nodes: there is no node '%.100s'", c->drop_nodes[i]);
        else
            x->dropped[at] = true;
    }
    budget_step(&x->rq->budget, c->add_node_count + c->drop_node_count);
}

static const char *copy_name(struct changing *x, const char *id, size_t copy)
{
    return copy ? arena_printf(x->rq->arena, "%s+%zu", id, copy) : id;
}

static void change_nodes(struct changing *x)
{
    size_t room = 0, n = 0;
    struct cluster_resource_in *list;

    for (size_t i = 0; i < x->base->resource_count; i++)
        room += 1 + x->copies[i];
    list = NEW(x->rq->arena, struct cluster_resource_in, room);
    for (size_t i = 0; i < x->base->resource_count; i++)
        for (size_t k = x->dropped[i]; k <= x->copies[i]; k++) {
            budget_step(&x->rq->budget, 1);
            list[n] = x->base->resources[i];
            list[n].id = copy_name(x, list[n].id, k);
            list[n].running_count = k ? 0 : list[n].running_count;
            n++;
        }
    x->to->resources = list;
    x->to->resource_count = n;
}

/* Names of nodes, with those that are more and without those that are dropped. */
static void change_names(struct changing *x, const char *const **ids, size_t *count)
{
    size_t room = 0, n = 0;
    const char **list;

    if (!*ids)
        return;
    for (size_t i = 0; i < *count; i++) {
        size_t at = name_index_find(&x->nodes, (*ids)[i]);

        room += 1 + (at == NAME_NOT_FOUND ? 0 : x->copies[at]);
    }
    list = NEW(x->rq->arena, const char *, room);
    for (size_t i = 0; i < *count; i++) {
        size_t at = name_index_find(&x->nodes, (*ids)[i]);

        for (size_t k = at != NAME_NOT_FOUND && x->dropped[at];
             k <= (at == NAME_NOT_FOUND ? 0 : x->copies[at]); k++) {
            budget_step(&x->rq->budget, 1);
            list[n++] = copy_name(x, (*ids)[i], k);
        }
    }
    *ids = list;
    *count = n;
}

static void change_partitions(struct changing *x)
{
    const struct cluster_partition_in *from = x->base->partitions;
    size_t count = x->base->partition_count;
    struct cluster_partition_in *list;
    double most_s = x->changes->time_limit_max_s;

    if (x->changes->partitions)
        from = cluster_patched_partitions(x->rq, from, count, x->changes->partitions,
                                          "/study", &count);
    list = NEW(x->rq->arena, struct cluster_partition_in, count);
    for (size_t i = 0; i < count; i++) {
        list[i] = from[i];
        change_names(x, &list[i].resource_ids, &list[i].resource_id_count);
        if (!isnan(most_s))
            list[i].time_limit_max_s = most_s;
        if (list[i].time_limit_default_s > most_s)
            list[i].time_limit_default_s = most_s;
        budget_step(&x->rq->budget, 1);
    }
    x->to->partitions = list;
    x->to->partition_count = count;
}

static void change_reservations(struct changing *x)
{
    size_t count = x->base->reservation_count;
    struct cluster_reservation_in *list =
        NEW(x->rq->arena, struct cluster_reservation_in, count);

    for (size_t i = 0; i < count; i++) {
        list[i] = x->base->reservations[i];
        change_names(x, &list[i].resource_ids, &list[i].resource_id_count);
        budget_step(&x->rq->budget, 1);
    }
    x->to->reservations = list;
}

static void change_cluster(struct request *rq, const struct cluster_in *base,
                           const struct cluster_changes *changes, struct cluster_in *to)
{
    struct changing x = {.rq = rq, .base = base, .changes = changes, .to = to};

    x.copies = NEW(rq->arena, size_t, base->resource_count);
    x.dropped = NEW(rq->arena, bool, base->resource_count);
    name_index_create(&x.nodes, base->resource_count, rq->arena);
    for (size_t i = 0; i < base->resource_count; i++)
        name_index_add(&x.nodes, base->resources[i].id, i);
    budget_step(&rq->budget, base->resource_count);
    count_copies(&x);
    if (rq->err->code != OK)
        return;
    change_nodes(&x);
    change_partitions(&x);
    change_reservations(&x);
}

/* Jobs ask for no more than that. */
static void cut_limits(struct request *rq, double most_s, struct simulation_jobs *jobs)
{
    struct waiting_job *list = NEW(rq->arena, struct waiting_job, jobs->count);

    for (size_t i = 0; i < jobs->count; i++) {
        list[i] = jobs->list[i];
        if (list[i].of.time_limit_s > most_s)
            list[i].of.time_limit_s = most_s;
        if (list[i].cluster.time_limit_min_s > most_s)
            list[i].cluster.time_limit_min_s = most_s;
        budget_step(&rq->budget, 1);
    }
    jobs->list = list;
}

enum error_code study_cluster_of(const struct study_plan *plan, size_t number,
                                 struct request *rq, const struct cluster_in *base,
                                 const struct simulation_jobs *jobs,
                                 bool strict_dependencies, const struct policy **policy,
                                 enum simulation_estimates *counted_on,
                                 struct simulation_cluster *out)
{
    const struct study_trial *trial = &plan->trials[number];
    struct cluster_in *in = NEW(rq->arena, struct cluster_in, 1);
    struct simulation_jobs with = *jobs;

    *in = *base;
    *policy = trial->policy;
    *counted_on = (enum simulation_estimates)trial->estimates;
    if (trial->changes)
        change_cluster(rq, base, trial->changes, in);
    TRY(rq->err->code);
    in->policy_settings = *trial->settings;
    if (trial->changes && !isnan(trial->changes->time_limit_max_s))
        cut_limits(rq, trial->changes->time_limit_max_s, &with);
    return simulation_cluster_bind(rq, in, &with, trial->workload_scale,
                                   strict_dependencies, out);
}

static void begin_study(struct study_plan *plan, const struct queue_outcome *outcomes)
{
    struct arena *a = plan->rq->arena;
    size_t count = plan->log->job_count;
    double *submit_s = NEW(a, double, count);

    for (size_t i = 0; i < count; i++)
        submit_s[i] = plan->log->jobs[i].submit_s;
    queue_study_begin(&plan->state->study, outcomes, submit_s, count,
                      plan->request->warm_up_s, plan->request->cool_down_s, a);
}

static const struct hurt_row *name_hurt(const struct queue_comparison *c,
                                        const char *const *users, struct arena *a)
{
    struct hurt_row *rows = NEW(a, struct hurt_row, c->hurt_count);

    for (size_t i = 0; i < c->hurt_count; i++)
        rows[i] = (struct hurt_row){isnan(c->hurt[i].user) ? "unknown"
                                    : users ? users[(size_t)c->hurt[i].user]
                                            : arena_printf(a, "%.15g", c->hurt[i].user),
                                    c->hurt[i]};
    return rows;
}

static bool compare(struct study_plan *plan, struct study_row *row,
                    const struct queue_outcome *outcomes, const char *const *users,
                    struct arena *scratch)
{
    struct arena *a = plan->rq->arena;
    struct study_comparison *vs = NEW(a, struct study_comparison, 1);
    struct queue_comparison c;

    queue_study_compare(&plan->state->study, outcomes, &c, a, scratch);
    if (c.is_cut)
        return false;
#define X(name, member, doc) vs->name = c.change[QUEUE_STUDY_##name];
    QUEUE_STUDY_FIGURES(X)
#undef X
    row->vs_base = vs;
    row->compared_count = c.job_count;
    row->verdict = (int)vs->wait_s.verdict;
    if (c.job_count == 0)
        row->interval_absent = interval_absent_names[NO_JOBS];
    else if (plan->state->study.block == QUEUE_NO_BLOCKS)
        row->interval_absent = interval_absent_names[TOO_SHORT];
    row->hurt = name_hurt(&c, users, a);
    row->hurt_count = c.hurt_count;
    return true;
}

bool study_note(struct study_plan *plan, size_t number, const struct queue_replay_in *in,
                const struct queue_replay_out *out, const struct queue_outcome *outcomes,
                const char *const *users, struct arena *scratch)
{
    struct study_trial *trial = &plan->trials[number];

    trial->row = (struct study_row){
        .id = trial->id,
        .policy = trial->policy->name,
        .estimates = trial->estimates,
        .workload_scale = trial->workload_scale,
        .processors = in->processors,
        .job_count = out->run_count,
        .never_fit_count = out->never_fit_count,
        .compared_count = JSON_NO_INTEGER,
        .figures = out->figures,
        .verdict = -1,
    };
    if (number)
        return compare(plan, &trial->row, outcomes, users, scratch);
    begin_study(plan, outcomes);
    return true;
}

const struct study_answer *study_end(const struct study_plan *plan, size_t done)
{
    struct arena *a = plan->rq->arena;
    const struct queue_study *s = &plan->state->study;
    struct study_answer *answer = NEW(a, struct study_answer, 1);
    struct study_row *variants = NEW(a, struct study_row, done);
    bool has_blocks = done && s->block != QUEUE_NO_BLOCKS;

    for (size_t i = 1; i < done; i++)
        variants[i - 1] = plan->trials[i].row;
    *answer = (struct study_answer){
        .resamples = plan->request->resamples,
        .confidence = plan->request->confidence,
        .block = has_blocks ? queue_block_names[s->block] : NULL,
        .block_count = has_blocks ? s->block_count : JSON_NO_INTEGER,
        .job_count = s->counted,
        .base = done ? &plan->trials[0].row : NULL,
        .variants = variants,
        .variant_count = done ? done - 1 : 0,
    };
    return answer;
}
