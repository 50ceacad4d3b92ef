/* algorithms.c - GET /v1/algorithms: the policy tables, printed. */
#include "handlers/operations/routes.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/coallocation/claim.h"
#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/scan.h"
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/migration/migration.h"
#include "algorithms/parallel/parallel.h"
#include "algorithms/placement/placement.h"
#include "algorithms/plan/plan.h"
#include "algorithms/queue/queue.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/vm.h"
#include "algorithms/workflow/round.h"
#include "models/progress/progress.h"

#include <string.h>

/* What the tables of all families have in common. */
struct policy_row {
    const char *name, *purpose, *source;
    const struct param *params;
    const struct param *common; /* options of all policies of the family */
};

/* Row `i` of a family's table; false behind the last. */
typedef bool policy_at_fn(size_t i, struct policy_row *row);

static bool placement_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &placement_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params,
                               placement_common_params};
    return p->name;
}

static bool migration_at(size_t i, struct policy_row *row)
{
    const struct migration_policy *p = &migration_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, p->common};
    return p->name;
}

static bool parallel_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &parallel_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params,
                               parallel_common_params};
    return p->name;
}

static bool plan_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &plan_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params,
                               plan_common_params};
    return p->name;
}

static bool checkpoint_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &checkpoint_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool coallocation_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &coallocation_policies[i];

    *row =
        (struct policy_row){p->name, p->purpose, p->source, p->params, co_common_params};
    return p->name;
}

static bool round_at(const struct policy *p, struct policy_row *row)
{
    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool replication_at(size_t i, struct policy_row *row)
{
    return round_at(&replication_policies[i], row);
}

static bool fault_tolerance_at(size_t i, struct policy_row *row)
{
    return round_at(&fault_tolerance_policies[i], row);
}

static bool dispatch_at(size_t i, struct policy_row *row)
{
    return round_at(&dispatch_policies[i], row);
}

static bool queue_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &queue_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool vm_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &vm_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool prediction_at(size_t i, struct policy_row *row)
{
    static const struct policy_row methods[] = {
#define X(symbol, name, purpose, source) {#name, purpose, source, progress_params, NULL},
        PROGRESS_METHODS(X)
#undef X
            {0},
    };

    *row = methods[i];
    return row->name;
}

static bool claim_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &co_claim_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool scan_at(size_t i, struct policy_row *row)
{
    const struct policy *p = &co_scan_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

static bool workflow_at(size_t i, struct policy_row *row)
{
    const struct workflow_policy *p = &workflow_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params,
                               p->name ? workflow_common_params_of(p) : NULL};
    return p->name;
}

static bool workflow_round_at(size_t i, struct policy_row *row)
{
    const struct workflow_round_policy *p = &workflow_round_policies[i];

    *row = (struct policy_row){p->name, p->purpose, p->source, p->params, NULL};
    return p->name;
}

/* Every family, by name. */
static const struct {
    const char *name, *endpoint;
    policy_at_fn *at;
} families[] = {
    {"checkpoint", "/v1/checkpoint-intervals", checkpoint_at},
    {"claim", "/v1/claims", claim_at},
    {"coallocation", "/v1/coallocations", coallocation_at},
    {"dispatch", "/v1/simulations", dispatch_at},
    {"fault_tolerance", "/v1/fault-tolerance-plans", fault_tolerance_at},
    {"migration", "/v1/reschedules", migration_at},
    {"parallel", "/v1/parallel-schedules", parallel_at},
    {"placement", "/v1/placements", placement_at},
    {"plan", "/v1/rescheduling-plans", plan_at},
    {"prediction", "/v1/predictions", prediction_at},
    {"queue", "/v1/queue-orders", queue_at},
    {"replication", "/v1/replica-counts", replication_at},
    {"scan", "/v1/queue-scans", scan_at},
    {"vm", "/v1/simulations", vm_at},
    {"workflow", "/v1/workflow-schedules", workflow_at},
    {"workflow_round", "/v1/workflow-schedules", workflow_round_at},
};

struct option {
    const char *name;
    int type;
    double min, max, preset;
    const char *preset_choice; /* of a choice */
    const char *const *choices;
    size_t choice_count;
    const char *documentation;
};

struct algorithm {
    const char *family, *name, *purpose, *source, *endpoint;
    const struct option *options;
    size_t option_count;
};

struct algorithms_answer {
    const struct algorithm *algorithms;
    size_t algorithm_count;
};

struct algorithms_query {
    const char *family;
};

static const char *const option_types[] = {"number", "integer", "boolean", "choice",
                                           NULL};

#define T struct option
static const struct json_field option_rows[] = {
    JSON_TEXT(T, name, 0, "Member of options"),
    JSON_CHOICE(T, type, option_types, 0, 0, "Type of the value"),
    JSON_NUMBER(T, min, 0, 0, 0, JSON_OPTIONAL, "Least value"),
    JSON_NUMBER(T, max, 0, 0, 0, JSON_OPTIONAL, "Largest value"),
    {.name = "default",
     .doc = "Value when it is not given; none: not set",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, preset, double),
     .flags = JSON_OPTIONAL},
    {.name = "default_choice",
     .doc = "Choice when it is not given",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, preset_choice, const char *),
     .flags = JSON_OPTIONAL},
    JSON_TEXTS(T, choices, choice_count, 0, JSON_OPTIONAL, "Possible values"),
    JSON_TEXT(T, documentation, 0, "Meaning and unit"),
    {0},
};
#undef T
static const struct json_object option_json = {
    "AlgorithmOption", "An option of an algorithm", sizeof(struct option), option_rows};

#define T struct algorithm
static const struct json_field algorithm_rows[] = {
    JSON_TEXT(T, family, 0, "Kind of decision"),
    JSON_TEXT(T, name, 0, "Value of `algorithm` in a request"),
    JSON_TEXT(T, purpose, 0, "What it does"),
    JSON_TEXT(T, source, 0, "Where it is described"),
    JSON_TEXT(T, endpoint, 0, "Path that takes it"),
    JSON_LIST(T, options, option_count, struct option, &option_json, 0, 0, "Its options"),
    {0},
};
#undef T
static const struct json_object algorithm_json = {
    "Algorithm", "A policy of a family", sizeof(struct algorithm), algorithm_rows};

#define T struct algorithms_answer
static const struct json_field answer_rows[] = {
    JSON_LIST(T, algorithms, algorithm_count, struct algorithm, &algorithm_json, 0, 0,
              "All policies, by family and name"),
    {0},
};
#undef T
const struct json_object algorithms_answer_json = {
    "Algorithms", "All policies with their options", sizeof(struct algorithms_answer),
    answer_rows};

#define T struct algorithms_query
static const struct json_field query_rows[] = {
    JSON_TEXT(T, family, 0, "Only this family"),
    {0},
};
#undef T
const struct json_object algorithms_query_json = {
    "AlgorithmsQuery", "Which policies", sizeof(struct algorithms_query), query_rows};

static struct option option_of(const struct param *p)
{
    struct option o = {.name = p->name,
                       .type = (int)p->type,
                       .min = p->min,
                       .max = p->max,
                       .preset = p->preset,
                       .documentation = p->doc};

    if (p->type == PARAM_BOOLEAN || p->type == PARAM_CHOICE)
        o.min = o.max = NAN;
    if (p->type != PARAM_CHOICE)
        return o;
    o.preset = NAN;
    o.preset_choice = p->choices[(size_t)p->preset];
    o.choices = p->choices;
    while (p->choices[o.choice_count])
        o.choice_count++;
    return o;
}

/* Checkpoint policies take each other's options, but list only those that they read. */
static bool reads(const struct policy_row *row, size_t option)
{
    for (const struct policy *p = checkpoint_policies; p->name; p++)
        if (p->params == row->params)
            return checkpoint_reads_option(p, (enum checkpoint_param)option);
    return true;
}

static enum error_code fill_options(const struct policy_row *row, struct algorithm *out,
                                    struct arena *a, struct error *err)
{
    size_t own = params_count(row->params), common = params_count(row->common);
    struct option *list = NEW(a, struct option, own + common);

    if (!list)
        return fail_memory(err);
    for (size_t i = 0; i < own; i++)
        if (reads(row, i))
            list[out->option_count++] = option_of(&row->params[i]);
    for (size_t i = 0; i < common; i++)
        list[out->option_count++] = option_of(&row->common[i]);
    out->options = list;
    return OK;
}

enum error_code get_algorithms(struct request *rq, const void *in, void *out)
{
    const struct algorithms_query *query = rq->query;
    struct algorithms_answer *answer = out;
    struct algorithm *list;
    struct policy_row row;
    size_t count = 0;

    (void)in;
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++)
        for (size_t i = 0; families[f].at(i, &row); i++)
            count++;
    list = NEW(rq->arena, struct algorithm, count);
    if (!list)
        return fail_memory(rq->err);
    count = 0;
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        if (query && query->family && strcmp(query->family, families[f].name) != 0)
            continue;
        for (size_t i = 0; families[f].at(i, &row); i++) {
            list[count] = (struct algorithm){families[f].name,
                                             row.name,
                                             row.purpose,
                                             row.source,
                                             families[f].endpoint,
                                             NULL,
                                             0};
            TRY(fill_options(&row, &list[count++], rq->arena, rq->err));
        }
    }
    answer->algorithms = list;
    answer->algorithm_count = count;
    return OK;
}
