/* plan_initial.c - a plan that the request brings, to start from.
 *
 * Phases that are done are passed over, so that the plan of an answer may come back as it
 * stands while its application runs. What is unknown, twice there or missing is a mistake
 * of the request; a plan that cannot be kept as things are now is refused with a warning.
 *
 * Source: spec search.md 3, 12.
 */
#include "handlers/rescheduling/plan_parts.h"

#include "models/base/names.h"
#include "models/base/pointer.h"

#include <string.h>

#define ANSWERED "As an answer has it; not read"

#define T        struct plan_answer_interval
static const struct json_field initial_rows[] = {
    JSON_INTEGER(T, first_phase, 1, PLAN_PHASES_MAX, 0, JSON_REQUIRED,
                 "First phase, from 1"),
    JSON_INTEGER(T, last_phase, 1, PLAN_PHASES_MAX, 0, JSON_REQUIRED, "Last phase"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Where they run"),
    JSON_TEXTS(T, resource_ids, resource_count, SITE_MACHINES_MAX, JSON_REQUIRED,
               "On which machines"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, ANSWERED),
    JSON_NUMBER(T, predicted_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, ANSWERED),
    JSON_CHOICE(T, action, plan_action_names, 0, 0, ANSWERED),
    JSON_NUMBER(T, reschedule_cost_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, ANSWERED),
    JSON_TEXT(T, reschedule_cost_basis, JSON_NULLABLE, ANSWERED),
    JSON_NUMBER(T, reschedule_cost_samples, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                ANSWERED),
    JSON_BOOLEAN(T, valid, 0, 0, ANSWERED),
    {0},
};
#undef T
const struct json_object plan_initial_json = {
    "PlanInitialRow", "Phases of a plan to start from",
    sizeof(struct plan_answer_interval), initial_rows};

/* Notes a mistake in a member of row k. */
static void mistake(struct plan_call *call, size_t k, const char *member,
                    enum item_code code, const char *text)
{
    struct request *rq = call->rq;

    invalid(rq->err, pointer_keep("/initial", k, member, rq->arena), code, "%s", text);
}

/* The row's machines as a schedule of its site; SIZE_MAX: they are none now. */
static size_t schedule_of(struct plan_call *call, size_t k, size_t s)
{
    const struct plan_answer_interval *row = &call->body->initial[k];
    const struct plan_call_site *at = &call->at[s];
    const struct site *site = &at->given->site;
    struct arena *a = call->rq->arena;
    size_t *members = NEW(a, size_t, row->resource_count), schedule = SIZE_MAX;
    struct name_index known, ready, used;
    bool usable = row->resource_count > 0;

    name_index_create(&known, site->resource_count, a);
    name_index_create(&ready, at->usable.machines.count, a);
    name_index_create(&used, row->resource_count, a);
    for (size_t i = 0; i < site->resource_count; i++)
        name_index_add(&known, site->resources[i].id, i);
    for (size_t i = 0; i < at->usable.machines.count; i++)
        name_index_add(&ready, site->resources[at->usable.resource[i]].id, i);
    for (size_t i = 0; i < row->resource_count; i++) {
        const char *id = row->resource_ids[i];

        if (name_index_find(&known, id) == NAME_NOT_FOUND)
            mistake(call, k, "resource_ids", ITEM_UNKNOWN_ID,
                    "a machine that the site does not have");
        else if (name_index_add(&used, id, i) != NAME_NOT_FOUND)
            mistake(call, k, "resource_ids", ITEM_DUPLICATE, "a machine is there twice");
        members[i] = name_index_find(&ready, id);
        usable = usable && members[i] != NAME_NOT_FOUND;
    }
    if (usable && at->machines && row->resource_count >= call->job->min_processors)
        plan_machines_add(at->machines, members, row->resource_count, &schedule);
    return schedule;
}

/* Reads row k, whose first phase is to be *next. False: it is of phases that are done. */
static bool read_row(struct plan_call *call, size_t k, size_t *next,
                     struct plan_interval *out)
{
    const struct plan_answer_interval *row = &call->body->initial[k];
    size_t first = row->first_phase, last = row->last_phase;
    size_t site = plan_site_named(call, row->site_id);

    if (last < first || last > call->in.phase_count)
        mistake(call, k, "last_phase", ITEM_OUT_OF_BOUNDS,
                last < first ? "before first_phase" : "the job has fewer phases");
    if (site == SIZE_MAX)
        mistake(call, k, "site_id", ITEM_UNKNOWN_ID, "the snapshot has no such site");
    if (last < call->in.first_phase)
        return false;
    if (first < call->in.first_phase)
        first = call->in.first_phase;
    if (first != *next)
        mistake(call, k, "first_phase", first < *next ? ITEM_DUPLICATE : ITEM_REQUIRED,
                first < *next ? "this phase stands in a row before"
                              : "phases before it have no row");
    *next = last + 1;
    *out =
        (struct plan_interval){.first = first, .last = last, .place = {site, SIZE_MAX}};
    if (site != SIZE_MAX)
        out->place.schedule = schedule_of(call, k, site);
    return true;
}

static bool takes_initial(const struct policy *policy)
{
    for (size_t i = 1; plan_start_names[i]; i++)
        if (strcmp(plan_start_names[i], policy->name) == 0)
            return false;
    return true;
}

enum error_code plan_initial_read(struct plan_call *call)
{
    const struct plan_request *body = call->body;
    struct plan_interval *list =
        NEW(call->rq->arena, struct plan_interval, body->initial_count);
    size_t count = 0, next = call->in.first_phase;
    bool kept = true;

    if (body->initial_count == 0)
        return OK;
    if (!takes_initial(call->policy))
        return invalid(call->rq->err, "/initial", ITEM_CONFLICT,
                       "%s starts from nothing: auto, optimal, mcrp_optimal, genetic and "
                       "brute_force take a plan to start from",
                       call->policy->name);
    for (size_t k = 0; k < body->initial_count; k++) {
        if (budget_step(&call->rq->budget, call->in.site_count + SITE_MACHINES_MAX))
            return plan_call_warn(call, "initial_refused: the time limit came before it "
                                        "had been read");
        if (read_row(call, k, &next, &list[count]))
            kept = list[count++].place.schedule != SIZE_MAX && kept;
    }
    if (next <= call->in.phase_count)
        invalid(call->rq->err, "/initial", ITEM_REQUIRED, "phase %zu has no row", next);
    if (call->rq->err->code != OK)
        return call->rq->err->code;
    if (!kept)
        return plan_call_warn(call,
                              "initial_refused: some of its machines cannot be used "
                              "now, or are fewer than min_processors; the planning "
                              "began without it");
    call->in.initial = list;
    call->in.initial_count = count;
    return OK;
}
