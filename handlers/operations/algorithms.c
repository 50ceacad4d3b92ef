/* algorithms.c - GET /v1/algorithms: the policy tables, printed. */
#include "handlers/operations/algorithms.h"

#include "handlers/operations/routes.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/cluster_queue/settings.h"
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
#include "handlers/common/page.h"
#include "models/progress/progress.h"
#include "service/config.h"
#include "service/service.h"

#include <string.h>

/* name, where its policies decide, they, which options one reads; NULL: all */
#define FAMILIES(X)                                                                   \
    X("checkpoint", "/v1/checkpoint-intervals", checkpoint_policies,                  \
      checkpoint_reads_option)                                                        \
    X("claim", "/v1/claims", co_claim_policies, NULL)                                 \
    X("coallocation", "/v1/coallocations", coallocation_policies, NULL)               \
    X("dispatch", "/v1/simulations", dispatch_policies, NULL)                         \
    X("fault_tolerance", "/v1/fault-tolerance-plans", fault_tolerance_policies, NULL) \
    X("migration", "/v1/reschedules", migration_policies, NULL)                       \
    X("parallel", "/v1/parallel-schedules", parallel_policies, NULL)                  \
    X("placement", "/v1/placements", placement_policies, NULL)                        \
    X("plan", "/v1/rescheduling-plans", plan_policies, NULL)                          \
    X("prediction", "/v1/predictions", progress_policies, NULL)                       \
    X("queue", "/v1/queue-orders", queue_policies, NULL)                              \
    X("queue", "/v1/queue-orders", cluster_policies, NULL)                            \
    X("replication", "/v1/replica-counts", replication_policies, NULL)                \
    X("scan", "/v1/queue-scans", co_scan_policies, NULL)                              \
    X("vm", "/v1/simulations", vm_policies, NULL)                                     \
    X("workflow", "/v1/workflow-schedules", workflow_policies, NULL)                  \
    X("workflow_round", "/v1/workflow-schedules", workflow_round_policies, NULL)

const struct policy_family policy_families[] = {
#define X(name, endpoint, policies, reads) {name, endpoint, policies, reads},
    FAMILIES(X)
#undef X
        {0},
};

static const char *const family_names[] = {
#define X(name, endpoint, policies, reads) name,
    FAMILIES(X)
#undef X
        NULL,
};

const char *algorithm_endpoint(const char *name)
{
    for (const struct policy_family *f = policy_families; f->name; f++)
        if (policy_find(f->policies, name))
            return f->endpoint;
    return NULL;
}

struct option {
    const char *name;
    int type;
    double min, max, preset;
    const char *preset_choice; /* of a choice */
    const char *const *choices;
    size_t choice_count;
    const char *documentation;
};

struct source {
    const char *authors;
    uint64_t year;
    const char *title, *published_in, *locator, *url;
};

struct algorithm {
    const char *family, *name, *purpose;
    int origin;
    const struct source *source;
    size_t source_count;
    const char *idea;
    const char *const *deviations;
    size_t deviation_count;
    const char *formula; /* NULL: there is no manual */
    const char *endpoint;
    const struct option *options;
    size_t option_count;
};

struct algorithms_answer {
    const struct algorithm *items;
    size_t item_count;
    const char *next_page_token;
};

struct algorithms_query {
    struct page_query page;
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

#define T struct source
static const struct json_field source_rows[] = {
    JSON_TEXT(T, authors, 0, "Who wrote it"),
    JSON_INTEGER(T, year, 0, 9999, 0, 0, "When it was published"),
    JSON_TEXT(T, title, 0, "Its title; in brackets: not confirmed"),
    JSON_TEXT(T, published_in, 0, "Journal with volume and number, conference or school"),
    JSON_TEXT(T, locator, JSON_OPTIONAL, "Chapter, section or equation; none: all of it"),
    JSON_TEXT(T, url, JSON_OPTIONAL, "Address"),
    {0},
};
#undef T
static const struct json_object source_json = {"AlgorithmSource",
                                               "A work that describes an algorithm",
                                               sizeof(struct source), source_rows};

#define T struct algorithm
static const struct json_field algorithm_rows[] = {
    JSON_WORD(T, family, family_names, 0, "Kind of decision"),
    JSON_TEXT(T, name, 0, "Value of `algorithm` in a request"),
    JSON_TEXT(T, purpose, 0, "What it does"),
    JSON_CHOICE(T, origin, policy_origin_names, 0, 0,
                "published: see source; ours: of this project; folklore: a textbook rule "
                "that nobody is cited for"),
    JSON_LIST(T, source, source_count, struct source, &source_json, 0, 0,
              "The works that describe it; none unless it is published"),
    JSON_TEXT(T, idea, JSON_OPTIONAL,
              "What it does, in a sentence, where there is no work to read"),
    JSON_TEXTS(T, deviations, deviation_count, 0, JSON_OPTIONAL,
               "How it differs from the works, in sentences"),
    JSON_TEXT(
        T, formula, JSON_OPTIONAL,
        "Where the manual has its first formula; left out where there is no manual"),
    JSON_TEXT(T, endpoint, 0, "Path that takes it"),
    JSON_LIST(T, options, option_count, struct option, &option_json, 0, 0, "Its options"),
    {0},
};
#undef T
static const struct json_object algorithm_json = {
    "Algorithm", "A policy of a family", sizeof(struct algorithm), algorithm_rows};

#define T struct algorithms_answer
static const struct json_field answer_rows[] = {
    JSON_LIST(T, items, item_count, struct algorithm, &algorithm_json, 0, 0,
              "The policies, by family and name"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object algorithms_answer_json = {
    "Algorithms", "All policies with their options", sizeof(struct algorithms_answer),
    answer_rows};

#define T struct algorithms_query
static const struct json_field query_rows[] = {
    JSON_TEXT(T, family, 0, "Only this family"),
    LARGE_PAGE_ROWS(T),
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

/* Its own options first, then those that it shares. */
static void fill_options(const struct policy_family *family, const struct policy *policy,
                         struct algorithm *out, struct arena *a)
{
    size_t own = params_count(policy->params), common = params_count(policy->common);
    struct option *list = NEW(a, struct option, own + common);

    for (size_t i = 0; i < own; i++)
        if (!family->reads || family->reads(policy, i))
            list[out->option_count++] = option_of(&policy->params[i]);
    for (size_t i = 0; i < common; i++)
        list[out->option_count++] = option_of(&policy->common[i]);
    out->options = list;
}

static void fill_sources(const struct policy *policy, struct algorithm *out,
                         struct arena *a)
{
    struct source *list;
    size_t count = 0;

    while (policy->cites && policy->cites[count].work)
        count++;
    list = NEW(a, struct source, count);
    for (size_t i = 0; i < count; i++) {
        const struct cited_work *work = policy->cites[i].work;

        list[i] =
            (struct source){work->authors,      (uint64_t)work->year,     work->title,
                            work->published_in, policy->cites[i].locator, work->url};
    }
    out->source = list;
    out->source_count = count;
    while (policy->deviations && policy->deviations[out->deviation_count])
        out->deviation_count++;
}

static bool is_wanted(const struct policy_family *family,
                      const struct algorithms_query *query)
{
    return !query->family || strcmp(query->family, family->name) == 0;
}

enum error_code get_algorithms(struct request *rq, const void *in, void *out)
{
    struct algorithms_answer *answer = out;
    const struct algorithms_query *query = rq->query;
    struct algorithm *list;
    size_t first, count = 0;

    (void)in;
    for (const struct policy_family *f = policy_families; f->name; f++)
        if (is_wanted(f, query))
            count += policies_count(f->policies);
    list = NEW(rq->arena, struct algorithm, count);
    TRY(page_cut(rq, &query->page, count, &first, &answer->item_count,
                 &answer->next_page_token));
    answer->items = list + first;
    for (const struct policy_family *f = policy_families; f->name; f++) {
        if (!is_wanted(f, query))
            continue;
        for (const struct policy *p = f->policies; p->name; p++, list++) {
            *list = (struct algorithm){.family = f->name,
                                       .name = p->name,
                                       .purpose = p->purpose,
                                       .origin = (int)p->origin,
                                       .idea = p->idea,
                                       .deviations = p->deviations,
                                       .endpoint = f->endpoint};
            if (rq->service->config->docs)
                list->formula = arena_printf(rq->arena, "/docs/algorithms/%s/%s#eq-1",
                                             f->name, p->name);
            fill_sources(p, list, rq->arena);
            fill_options(f, p, list, rq->arena);
        }
    }
    return OK;
}
