/* launch_plan.c - how launch plans look in JSON. */
#include "handlers/coallocation/launch_plan.h"

const char *const launch_nameserver_modes[] = {"per_job", "pooled", NULL};

#define T struct launch_plan_nameserver
static const struct json_field plan_nameserver_rows[] = {
    JSON_CHOICE(T, mode, launch_nameserver_modes, 0, 0, "Its own, or of the pool"),
    JSON_TEXT(T, site_id, 0, "Where it runs"),
    JSON_TEXT(T, instance_id, JSON_MAY_BE_NULL, "Of the pool; null: to be started"),
    {0},
};
#undef T
const struct json_object launch_plan_nameserver_json = {
    "LaunchPlanNameserver", "Where components find each other",
    sizeof(struct launch_plan_nameserver), plan_nameserver_rows};

static const char *const barrier_names[] = {"none", "duroc", NULL};

#define T struct launch_plan_barrier
static const struct json_field barrier_rows[] = {
    JSON_WORD(T, type, barrier_names, 0, "duroc: components wait for each other; none"),
    JSON_NUMBER(T, release_at_s, 0, 0, 0, 0, "When it opens"),
    {0},
};
#undef T
const struct json_object launch_plan_barrier_json = {"LaunchPlanBarrier", "Common start",
                                                     sizeof(struct launch_plan_barrier),
                                                     barrier_rows};

#define T struct launch_plan_component
static const struct json_field plan_component_rows[] = {
    JSON_TEXT(T, component_id, 0, "The component"),
    JSON_TEXT(T, site_id, 0, "Where it runs"),
    JSON_NUMBER(T, claim_at_s, 0, 0, 0, 0, "When its processors are claimed"),
    JSON_INTEGER(T, wave, 0, JSON_EXACT, 0, 0,
                 "0: it launches at once; n: when n earlier groups of its site have"),
    JSON_TEXTS(T, pre_submission, pre_submission_count, 0, 0,
               "Steps just before it is submitted"),
    {0},
};
#undef T
const struct json_object launch_plan_component_json = {
    "LaunchPlanComponent", "How a component is launched",
    sizeof(struct launch_plan_component), plan_component_rows};

#define T struct launch_plan_alone
static const struct json_field plan_rows[] = {LAUNCH_PLAN_ROWS(T), {0}};
#undef T
const struct json_object launch_plan_json = {"LaunchPlan", "How a runner launches a job",
                                             sizeof(struct launch_plan_alone), plan_rows};

static void fill_components(const struct co_launch_in *in,
                            const struct co_launch_plan *plan, struct launch_plan *out,
                            struct arena *a)
{
    size_t count = in->component_count;
    struct launch_plan_component *list = NEW(a, struct launch_plan_component, count);
    const char **order = NEW(a, const char *, count);

    for (size_t i = 0; i < count; i++) {
        const struct co_launch_component *from = &in->components[i];

        list[i] = (struct launch_plan_component){.component_id = from->id,
                                                 .site_id = from->site_id,
                                                 .claim_at_s = from->claim_at_s,
                                                 .wave = plan->wave[i]};
        if (in->runner->pre_submission) {
            list[i].pre_submission = &in->runner->pre_submission;
            list[i].pre_submission_count = 1;
        }
        order[i] = in->components[plan->order[i]].id;
    }
    out->per_component = list;
    out->component_count = count;
    out->order = order;
    out->order_count = count;
}

static void fill_nameserver(const struct co_launch_in *in,
                            const struct co_launch_plan *plan, struct launch_plan *out,
                            struct arena *a)
{
    struct launch_plan_nameserver *nameserver;

    if (!plan->has_nameserver)
        return;
    nameserver = NEW(a, struct launch_plan_nameserver, 1);
    nameserver->mode = plan->nameserver_pooled ? LAUNCH_POOLED : LAUNCH_PER_JOB;
    nameserver->site_id = plan->nameserver_site_id;
    if (plan->nameserver_pooled)
        nameserver->instance_id = in->nameservers[plan->nameserver].id;
    out->nameserver = nameserver;
}

enum error_code launch_plan_make(const struct co_launch_in *in, struct launch_plan *out,
                                 struct arena *a, struct error *err)
{
    const struct co_runner *runner = in->runner;
    struct co_launch_plan plan;

    TRY(co_plan_launch(in, &plan, a, err));
    *out = (struct launch_plan){
        .runner = runner->name,
        .launch_at_s = plan.launch_at_s,
        .order_rule = (int)plan.rule,
        .barrier = {barrier_names[plan.barrier], plan.launch_at_s},
        .pre_phase = plan.pre_phase,
        .pre_phase_count = plan.pre_phase_count,
        .post_phase = plan.post_phase,
        .post_phase_count = plan.post_phase_count,
        .required_capability = runner->capability,
        .atomic = runner->atomic,
        .maps_components = runner->maps_components,
        .on_failure = (int)runner->on_failure,
    };
    fill_components(in, &plan, out, a);
    fill_nameserver(in, &plan, out, a);
    return OK;
}
