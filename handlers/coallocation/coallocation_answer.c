/* coallocation_answer.c - how placements of parallel jobs look in JSON.
 *
 * Deviation: a placement's remaining_available lists its own sites; an answer has those
 * of all sites once.
 */
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/placement/run_times.h"

_Static_assert(sizeof(enum co_request_type) == sizeof(int), "a choice is an int");

#define T struct co_site_processors
static const struct json_field site_processors_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_WHOLE, "Processors; negative: given back"),
    {0},
};
#undef T
const struct json_object co_site_processors_json = {
    "SiteProcessors", "Processors of a site", sizeof(struct co_site_processors),
    site_processors_rows};

#define T struct co_transfer_answer
static const struct json_field transfer_rows[] = {
    JSON_TEXT(T, file_id, 0, "The file"),
    JSON_TEXT(T, from_site_id, 0, "Site that sends"),
    JSON_TEXT(T, to_site_id, 0, "Site that receives"),
    JSON_NUMBER(T, bytes, 0, 0, 0, 0, "Bytes to move"),
    JSON_NUMBER(T, estimated_s, 0, 0, 0, 0, "Time that it should take"),
    {0},
};
#undef T
const struct json_object co_transfer_answer_json = {
    "CoallocationTransfer", "A file to be moved before the job starts",
    sizeof(struct co_transfer_answer), transfer_rows};

#define T struct co_reservation_answer
static const struct json_field reservation_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site, which supports reservation"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors to reserve"),
    JSON_NUMBER(T, start_s, 0, 0, 0, 0, "From when"),
    JSON_NUMBER(T, duration_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "How long: the estimated run time and a margin; null: it is not known"),
    {0},
};
#undef T
const struct json_object co_reservation_answer_json = {
    "CoallocationReservation", "What to reserve right after the placement",
    sizeof(struct co_reservation_answer), reservation_rows};

#define T struct co_component_answer
static const struct json_field component_rows[] = {
    JSON_TEXT(T, component_id, 0, "The component; c0, c1 ... of a flexible job"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Its processors"),
    JSON_TEXT(T, site_id, 0, "Where it runs"),
    JSON_BOOLEAN(T, site_fixed, 0, 0, "The request said so"),
    JSON_TEXT(T, file_site_id, JSON_MAY_BE_NULL,
              "Where its file comes from; null: it has none"),
    JSON_NUMBER(T, transfer_time_s, 0, 0, 0, 0, "Time to move its file there"),
    JSON_OBJECT(T, reserve, const struct co_reservation_answer *,
                &co_reservation_answer_json, JSON_POINTER | JSON_OPTIONAL,
                "What to reserve, where the site supports it: then it is not claimed"),
    {0},
};
#undef T
const struct json_object co_component_answer_json = {
    "CoallocationComponentPlace", "Where a component runs and gets its file from",
    sizeof(struct co_component_answer), component_rows};

#define T struct co_objective_answer
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, ftt_s, 0, 0, 0, 0, "Longest transfer"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0,
                "No placement on these processors has a shorter one"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "ftt_s / lower_bound_s - 1; null: the bound is 0 and ftt_s is not"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "CoallocationObjective", "How good a placement is",
    sizeof(struct co_objective_answer), objective_rows};

#define T struct co_placement_answer
static const struct json_field placement_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_WORD_OF(T, policy, coallocation_words, 0, "Policy that placed it"),
    JSON_CHOICE(T, request_type, co_request_type_names, 0, 0, "As requested"),
    JSON_LIST(T, components, component_count, struct co_component_answer,
              &co_component_answer_json, 0, 0, "Its placed components"),
    JSON_LIST(T, transfers, transfer_count, struct co_transfer_answer,
              &co_transfer_answer_json, 0, 0,
              "What to move: a whole file once to a site, each chunk"),
    JSON_NUMBER(T, ftt_s, 0, 0, 0, 0, "Its longest transfer"),
    JSON_NUMBER(T, jpt_s, 0, 0, 0, 0, "Placed at: now_s"),
    JSON_NUMBER(T, jst_s, 0, 0, 0, 0, "Starts at: jpt_s + ftt_s"),
    JSON_NUMBER(T, jct_s, 0, 0, 0, 0, "To be claimed at: POST /v1/claims"),
    JSON_NUMBER(T, l_value, 0, 0, 0, 0,
                "Share of the transfer time after which it is claimed"),
    JSON_LIST(T, outstanding_delta, outstanding_delta_count, struct co_site_processors,
              &co_site_processors_json, 0, 0,
              "What it adds to processors_outstanding of its sites"),
    JSON_LIST(T, history_pairs_added, history_pair_count, struct co_named_pair,
              &co_named_pair_json, 0, 0,
              "Pairs that close_to_files put into its history table"),
    JSON_NUMBER(T, job_spread_ratio, 0, 0, 0, 0, "Its sites over its components"),
    JSON_BOOLEAN(T, co_allocated, 0, 0, "It runs on more than one site"),
    JSON_LIST(T, remaining_available, remaining_count, struct co_site_processors,
              &co_site_processors_json, 0, 0, "What it leaves of its sites"),
    JSON_TEXTS(T, unplaced_component_ids, unplaced_component_count, 0, 0,
               "Not atomic: components without a place, to be queued again"),
    JSON_OBJECT(T, objective, struct co_objective_answer, &objective_json, 0,
                "How good it is"),
    JSON_BOOLEAN(T, avoided_sites_used, 0, 0,
                 "It had no place without the sites to avoid"),
    JSON_NUMBER(
        T, placement_time_s, 0, 0, 0, JSON_OPTIONAL,
        "How long it was in the placement queue, jpt_s - queue_entry_s; left out: "
        "queue_entry_s is not known, or later than now_s"),
    JSON_NUMBER(T, total_placement_time_s, 0, 0, 0, JSON_OPTIONAL,
                "With its earlier stays there, as far as they are known: to be sent when "
                "it is placed again; left out: none is"),
    JSON_OBJECT(T, launch_plan, const struct launch_plan_alone *, &launch_plan_json,
                JSON_POINTER | JSON_OPTIONAL,
                "How its runner launches it; left out: none is named, or one of the "
                "caller's own"),
    RUN_TIME_BASIS_ROWS(T),
    {0},
};
#undef T
const struct json_object co_placement_answer_json = {
    "CoallocationPlacement", "Where and when a parallel job runs",
    sizeof(struct co_placement_answer), placement_rows};

#define T struct co_reason_answer
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, co_reason_names, 0, "What is wrong with them"),
    JSON_INTEGER(T, site_count, 0, JSON_EXACT, 0, 0, "Sites; each counts once"),
    {0},
};
#undef T
static const struct json_object reason_json = {
    "CoallocationReason", "Why sites were not used", sizeof(struct co_reason_answer),
    reason_rows};

#define T struct co_nearest_miss_answer
static const struct json_field miss_rows[] = {
    JSON_TEXT(T, site_id, 0, "Of the sites with too few processors the largest"),
    JSON_INTEGER(T, processors_short, 0, JSON_EXACT, 0, 0, "What it lacks"),
    {0},
};
#undef T
static const struct json_object miss_json = {
    "CoallocationNearestMiss", "The site that came nearest",
    sizeof(struct co_nearest_miss_answer), miss_rows};

#define T struct co_unplaced_answer
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_TEXT(T, failed_component_id, JSON_MAY_BE_NULL,
              "The component that has no place; null: a flexible job"),
    JSON_WORD(T, reason, co_reason_names, 0, "Why"),
    JSON_LIST(T, reasons, reason_count, struct co_reason_answer, &reason_json, 0, 0,
              "What is wrong with the sites, when it was that component's turn"),
    JSON_OBJECT(T, nearest_miss, const struct co_nearest_miss_answer *, &miss_json,
                JSON_POINTER | JSON_MAY_BE_NULL,
                "The site that came nearest; null: not for processors"),
    JSON_BOOLEAN(T, never_fits, 0, 0, "It would not fit if nothing else ran"),
    JSON_INTEGER(T, placement_tries, 0, JSON_EXACT, 0, 0, "Tries, with this one"),
    JSON_LIST(T, history_pairs_added, history_pair_count, struct co_named_pair,
              &co_named_pair_json, 0, 0,
              "Pairs that close_to_files put into its history table all the same"),
    {0},
};
#undef T
const struct json_object co_unplaced_answer_json = {
    "CoallocationUnplaced", "A job without a place", sizeof(struct co_unplaced_answer),
    unplaced_rows};

/* ---- from indexes to names ---- */

void co_pairs_fill(const struct co_grid *grid, const struct co_pair *pairs, size_t count,
                   const struct co_named_pair **out, struct arena *a)
{
    struct co_named_pair *list = NEW(a, struct co_named_pair, count);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct co_named_pair){grid->sites[pairs[i].execution_site].id,
                                         grid->sites[pairs[i].file_site].id};
    *out = list;
}

void co_transfers_fill(const struct co_grid *grid, const struct co_transfer *transfers,
                       size_t count, const struct co_transfer_answer **out,
                       struct arena *a)
{
    struct co_transfer_answer *list = NEW(a, struct co_transfer_answer, count);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct co_transfer_answer){
            grid->files[transfers[i].file].id, grid->sites[transfers[i].from_site].id,
            grid->sites[transfers[i].to_site].id, transfers[i].bytes,
            transfers[i].estimated_s};
    *out = list;
}

/* ---- a placement ---- */

struct filling {
    const struct co_world *world;
    const struct co_job_request *request;
    const struct co_placement *placement;
    struct co_placement_answer *out;
    struct arena *arena;
    struct error *err;
};

static void fill_component(const struct filling *f, size_t i,
                           struct co_component_answer *out)
{
    const struct co_component *component = &f->placement->components[i];
    const struct co_choice *choice = &f->placement->choices[i];
    const struct co_grid_site *site = &f->world->grid.sites[choice->site];
    struct co_reservation_answer *reserve;

    *out = (struct co_component_answer){
        .component_id = component->id,
        .processors = component->processors,
        .site_id = site->id,
        .site_fixed = component->fixed_site != CO_NONE,
        .transfer_time_s = choice->transfer_s,
    };
    if (choice->file_site != CO_NONE)
        out->file_site_id = f->world->grid.sites[choice->file_site].id;
    if (!site->source->supports_reservation)
        return;
    reserve = NEW(f->arena, struct co_reservation_answer, 1);
    *reserve = (struct co_reservation_answer){
        site->id, component->processors, f->out->jst_s,
        f->request->estimate_s * (1 + f->world->common[CO_RESERVATION_MARGIN])};
    out->reserve = reserve;
}

static void fill_components(const struct filling *f)
{
    const struct co_placement *p = f->placement;
    struct co_component_answer *list =
        NEW(f->arena, struct co_component_answer, p->placed_count);
    const char **left = NEW(f->arena, const char *, p->component_count - p->placed_count);

    f->out->components = list;
    f->out->unplaced_component_ids = left;
    for (size_t i = 0; i < p->component_count; i++)
        if (p->choices[i].site == CO_NONE)
            left[f->out->unplaced_component_count++] = p->components[i].id;
        else
            fill_component(f, i, &list[f->out->component_count++]);
}

/* What it takes of its sites, and what it leaves. */
static void fill_sites(const struct filling *f, const size_t *available)
{
    const struct co_placement *p = f->placement;
    const struct co_grid *grid = &f->world->grid;
    size_t *taken = NEW(f->arena, size_t, grid->site_count), count = 0;
    struct co_site_processors *delta, *left;

    delta = NEW(f->arena, struct co_site_processors, p->site_count);
    left = NEW(f->arena, struct co_site_processors, p->site_count);
    for (size_t i = 0; i < p->component_count; i++)
        if (p->choices[i].site != CO_NONE)
            taken[p->choices[i].site] += p->components[i].processors;
    for (size_t s = 0; s < grid->site_count; s++) {
        if (taken[s] == 0)
            continue;
        delta[count] = (struct co_site_processors){grid->sites[s].id, (double)taken[s]};
        left[count++] =
            (struct co_site_processors){grid->sites[s].id, (double)available[s]};
    }
    f->out->outstanding_delta = delta;
    f->out->remaining_available = left;
    f->out->outstanding_delta_count = f->out->remaining_count = count;
}

/* How a runner that is known launches what was placed. */
static enum error_code fill_launch(const struct filling *f)
{
    const struct co_placement_answer *out = f->out;
    const char *name = f->request->runner;
    struct co_launch_in in = {.runner = name ? co_runner_find(name) : NULL,
                              .component_count = out->component_count,
                              .jst_s = out->jst_s,
                              .stages_files = true};
    struct co_launch_component *list;
    struct launch_plan_alone *plan;

    if (!in.runner || out->component_count == 0)
        return OK;
    list = NEW(f->arena, struct co_launch_component, out->component_count);
    plan = NEW(f->arena, struct launch_plan_alone, 1);
    for (size_t i = 0; i < out->component_count; i++) {
        const struct co_component_answer *c = &out->components[i];

        list[i] = (struct co_launch_component){
            .id = c->component_id,
            .processors = c->processors,
            .site_id = c->site_id,
            .claim_at_s = c->reserve ? c->reserve->start_s : out->jct_s};
    }
    in.components = list;
    f->out->launch_plan = plan;
    return launch_plan_make(&in, &plan->plan, f->arena, f->err);
}

/* In the placement queue; NAN: not known. */
static double last_stay_s(const struct co_job_request *request, double now_s)
{
    double stay_s = now_s - request->queue_entry_s;

    return stay_s >= 0 ? stay_s : (double)NAN;
}

static double total_stay_s(double earlier_s, double last_s)
{
    if (isnan(last_s))
        return earlier_s > 0 ? earlier_s : (double)NAN;
    return earlier_s + last_s;
}

enum error_code
co_placement_fill(const struct co_world *world, const struct co_job_request *request,
                  const struct co_job *job, const struct co_placement *placement,
                  const size_t *available, struct co_placement_answer *out,
                  struct arena *a, struct error *err)
{
    struct filling f = {world, request, placement, out, a, err};
    struct co_claim_steps steps = CO_CLAIM_STEPS;
    double stay_s = last_stay_s(request, world->now_s);
    const struct co_transfer *transfers;

    steps.min_interval_s = world->common[CO_MIN_CLAIM_INTERVAL_S];
    *out = (struct co_placement_answer){
        .job_id = job->id,
        .policy = job->policy->name,
        .request_type = job->type,
        .ftt_s = placement->ftt_s,
        .jpt_s = world->now_s,
        .jst_s = co_jst_s(world->now_s, placement->ftt_s),
        .l_value =
            isnan(request->l_value) ? world->common[CO_L_INITIAL] : request->l_value,
        .job_spread_ratio =
            (double)placement->site_count / (double)placement->placed_count,
        .co_allocated = placement->site_count > 1,
        .objective = {placement->ftt_s, placement->lower_bound_s, placement->gap_ratio},
        .avoided_sites_used = placement->avoided_used,
        .placement_time_s = stay_s,
        .total_placement_time_s = total_stay_s(request->total_placement_time_s, stay_s),
        .history_pair_count = placement->added_count,
        .run_time_index = UINT64_MAX,
    };
    out->jct_s = co_first_claim_s(out->jpt_s, out->ftt_s, out->l_value, &steps);
    fill_components(&f);
    TRY(fill_launch(&f));
    fill_sites(&f, available);
    co_pairs_fill(&world->grid, placement->added, placement->added_count,
                  &out->history_pairs_added, a);
    co_transfers(&world->grid, placement, &transfers, &out->transfer_count, a);
    co_transfers_fill(&world->grid, transfers, out->transfer_count, &out->transfers, a);
    return OK;
}

/* ---- a refusal ---- */

void co_unplaced_fill(const struct co_world *world, const struct co_job_request *request,
                      const struct co_placement *placement,
                      struct co_unplaced_answer *out, struct arena *a)
{
    struct co_reason_answer *reasons = NEW(a, struct co_reason_answer, CO_REASON_COUNT);
    struct co_nearest_miss_answer *miss = NULL;

    *out = (struct co_unplaced_answer){
        .job_id = request->id,
        .reason = co_reason_names[placement->reason],
        .reasons = reasons,
        .never_fits = placement->never_fits,
        .placement_tries = request->placement_tries + 1,
        .history_pair_count = placement->added_count,
    };
    if (placement->failed_component != CO_NONE)
        out->failed_component_id = placement->components[placement->failed_component].id;
    for (size_t r = CO_NO_REASON + 1; r < CO_REASON_COUNT; r++)
        if (placement->reason_count[r] > 0)
            reasons[out->reason_count++] =
                (struct co_reason_answer){co_reason_names[r], placement->reason_count[r]};
    if (placement->nearest_site != CO_NONE) {
        miss = NEW(a, struct co_nearest_miss_answer, 1);
        *miss = (struct co_nearest_miss_answer){
            world->grid.sites[placement->nearest_site].id, placement->processors_short};
        out->nearest_miss = miss;
    }
    co_pairs_fill(&world->grid, placement->added, placement->added_count,
                  &out->history_pairs_added, a);
}
