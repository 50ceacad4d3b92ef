/* coallocation_reservations.c - POST /v1/coallocations/reservation-plans: when processors
 * on several sites can be reserved together.
 *
 * Either components, each with its site, begin at the first time at which all can; or a
 * fuzzy job leaves open when it runs, on how many processors and where, and says by what
 * criteria to choose. How long it runs is given, or is what stored executions took, and
 * is scaled from a reference number of processors by a table or by Amdahl's model.
 *
 * Source: spec coallocation.md 14, 15 (Roeblitz), 19 (4); 001_546dfcc428821807 2.4.
 */
#include "handlers/coallocation/coallocations.h"

#include "algorithms/coallocation/slot.h"
#include "handlers/coallocation/coallocation_json.h"
#include "handlers/coallocation/coallocation_refine.h"
#include "handlers/sites/coallocation_durations.h"

#include <stdarg.h>
#include <stdio.h>

enum { WINDOWS_MAX = 100000, SPEEDUPS_MAX = 10000, SIZES_MAX = 1024 };

/* A mistake; the pointer is formatted. */
__attribute__((format(printf, 4, 5))) static void mistake(struct error *err,
                                                          enum item_code code,
                                                          const char *detail,
                                                          const char *pointer, ...)
{
    char text[160];
    va_list args;

    va_start(args, pointer);
    vsnprintf(text, sizeof(text), pointer, args);
    va_end(args);
    invalid(err, text, code, "%s", detail);
}

/* ---- the request ---- */

struct window_site {
    const char *id;
    const struct co_window *windows;
    size_t window_count;
    double cost_per_processor_s;
};

struct wanted {
    const char *id, *site_id;
    uint64_t processors;
};

struct speedup {
    double processors, speedup;
};

struct fuzzy {
    double min_processors, max_processors; /* NAN: not given */
    const double *processor_counts;
    size_t processor_count_count;
    double max_sites; /* NAN: any number */
    const struct co_slot_wish *criteria;
    size_t criterion_count;
};

struct plans_request {
    struct decision_request decision;
    const struct window_site *sites;
    size_t site_count;
    const struct wanted *components;
    size_t component_count;
    const struct fuzzy *fuzzy;
    double duration_s; /* NAN: of duration_from */
    const struct co_duration_request *duration_from;
    double earliest_s, latest_end_s;
    double reference_processors; /* NAN: the duration is for these processors */
    const struct speedup *speedups;
    size_t speedup_count;
    double serial_ratio; /* NAN: by speedups */
};

#define T struct co_window
static const struct json_field window_rows[] = {
    JSON_NUMBER(T, start_s, -JSON_LARGEST, JSON_LARGEST, 0, JSON_REQUIRED, "From"),
    JSON_NUMBER(T, end_s, -JSON_LARGEST, JSON_LARGEST, 0, JSON_REQUIRED,
                "To, after start_s"),
    JSON_NUMBER(T, processors_free, 0, 1e9, 0, JSON_REQUIRED,
                "Processors that can be reserved all this time"),
    {0},
};
#undef T
static const struct json_object window_json = {"ReservationWindow",
                                               "A time with free processors",
                                               sizeof(struct co_window), window_rows};

#define T struct window_site
static const struct json_field window_site_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_LIST(T, windows, window_count, struct co_window, &window_json, WINDOWS_MAX,
              JSON_REQUIRED, "In any order; none may overlap another"),
    JSON_NUMBER(T, cost_per_processor_s, 0, 1e12, 0, 0,
                "What a second of a processor costs, in any unit; default 0"),
    {0},
};
#undef T
static const struct json_object window_site_json = {
    "ReservationSite", "A site and when it has processors", sizeof(struct window_site),
    window_site_rows};

#define T struct wanted
static const struct json_field wanted_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_ID(T, site_id, JSON_REQUIRED, "Where it runs"),
    JSON_INTEGER(T, processors, 1, 1e9, 0, JSON_REQUIRED, "Its processors"),
    {0},
};
#undef T
static const struct json_object wanted_json = {"ReservationComponent",
                                               "A component and its site",
                                               sizeof(struct wanted), wanted_rows};

#define T struct speedup
static const struct json_field speedup_rows[] = {
    JSON_NUMBER(T, processors, 1, 1e9, 0, JSON_REQUIRED, "On so many processors"),
    JSON_NUMBER(T, speedup, 0, JSON_LARGEST, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "the job is so many times as fast as on one"),
    {0},
};
#undef T
static const struct json_object speedup_json = {"Speedup", "How fast a job is",
                                                sizeof(struct speedup), speedup_rows};

#define T struct co_slot_wish
static const struct json_field wish_rows[] = {
    JSON_CHOICE(T, criterion, co_slot_criterion_names, 0, JSON_REQUIRED,
                "What should be small: when it ends or starts, its cost, its processors, "
                "processors times duration, its sites"),
    JSON_NUMBER(T, tolerance_ratio, 0, 1e9, 0, 0,
                "What is no worse than the best by this share of it is as good, and the "
                "next criterion decides; instants count from earliest_s; default 0"),
    {0},
};
#undef T
_Static_assert(sizeof(enum co_slot_criterion) == sizeof(int), "a choice is an int");
static const struct json_object wish_json = {"ReservationCriterion", "What is wanted",
                                             sizeof(struct co_slot_wish), wish_rows};

#define T struct fuzzy
static const struct json_field fuzzy_rows[] = {
    JSON_NUMBER(T, min_processors, 1, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "It runs on so many processors at least"),
    JSON_NUMBER(T, max_processors, 1, 1e9, NAN, JSON_NULLABLE | JSON_WHOLE,
                "At most; default: min_processors"),
    JSON_NUMBERS(T, processor_counts, processor_count_count, 1, 1e9,
                 JSON_NULLABLE | JSON_WHOLE,
                 "Or on one of these numbers of processors; default: those of speedups "
                 "between the bounds, or all between them"),
    JSON_NUMBER(T, max_sites, 1, CO_SITES_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
                "It is spread over so many sites at most; default: any number"),
    JSON_LIST(T, criteria, criterion_count, struct co_slot_wish, &wish_json,
              CO_SLOT_CRITERION_COUNT, 0,
              "How to choose, the most important first; default: end_s"),
    {0},
};
#undef T
static const struct json_object fuzzy_json = {"FuzzyReservation",
                                              "A job that leaves open how large it is",
                                              sizeof(struct fuzzy), fuzzy_rows};

#define T struct plans_request
static const struct json_field plans_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_LIST(T, sites, site_count, struct window_site, &window_site_json, CO_SITES_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Sites that support reservation"),
    JSON_LIST(T, components, component_count, struct wanted, &wanted_json,
              CO_COMPONENTS_MAX, JSON_UNIQUE_IDS, "What to reserve where"),
    JSON_OBJECT(T, fuzzy, const struct fuzzy *, &fuzzy_json, JSON_POINTER,
                "Instead of components: a job that leaves open where it runs, and on how "
                "many processors"),
    JSON_NUMBER(T, duration_s, 0, 1e12, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "How long all of it is needed; needed without duration_from"),
    JSON_OBJECT(T, duration_from, const struct co_duration_request *,
                &co_duration_request_json, JSON_POINTER,
                "As long as stored executions took on so many processors, and duration_s "
                "only where these are too few; default: duration_s"),
    JSON_NUMBER(T, earliest_s, -JSON_LARGEST, JSON_LARGEST, 0, JSON_REQUIRED,
                "Not before"),
    JSON_NUMBER(T, latest_end_s, -JSON_LARGEST, JSON_LARGEST, JSON_LARGEST, JSON_NULLABLE,
                "Done by; default: any time"),
    JSON_NUMBER(T, reference_processors, 1, 1e9, NAN, JSON_NULLABLE,
                "The duration is that on so many processors; it is scaled by speedups or "
                "serial_ratio to those of the job"),
    JSON_LIST(T, speedups, speedup_count, struct speedup, &speedup_json, SPEEDUPS_MAX, 0,
              "For all numbers of processors, if reference_processors is given"),
    JSON_NUMBER(T, serial_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Instead of speedups: share of the work that one processor does alone, "
                "by Amdahl's model"),
    {0},
};
#undef T
const struct json_object reservation_plans_request_json = {
    "ReservationPlanRequest", "Components and when their sites have processors",
    sizeof(struct plans_request), plans_rows};

/* ---- the answer ---- */

enum duration_basis { DURATION_GIVEN, DURATION_EXECUTIONS };
static const char *const duration_bases[] = {"given", "executions", NULL};
_Static_assert(sizeof(enum duration_basis) == sizeof(int), "a choice is an int");

struct duration_answer {
    enum duration_basis basis;
    double processors;
    uint64_t samples;
};

struct plans_answer {
    struct decision_answer decision;
    double start_s, duration_s, end_s, processors, cost;
    const struct co_reservation_answer *reservations;
    size_t reservation_count;
    const struct duration_answer *duration_basis;
};

#define T struct duration_answer
static const struct json_field duration_rows[] = {
    JSON_CHOICE(T, basis, duration_bases, 0, 0, "given: executions are too few"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_WHOLE, "Processors of the executions"),
    JSON_INTEGER(T, samples, 0, JSON_EXACT, 0, 0, "Executions on so many"),
    {0},
};
#undef T
static const struct json_object duration_json = {
    "ReservationDurationBasis", "Where the duration comes from",
    sizeof(struct duration_answer), duration_rows};

#define T struct plans_answer
static const struct json_field plans_answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("common_slot", "fuzzy_slot")),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it begins: for components the first time at which all can; null: "
                "there is none"),
    JSON_NUMBER(T, duration_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "How long, scaled by the speedups; null: not known"),
    JSON_NUMBER(T, end_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it ends; null: there is no such time"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_MAY_BE_NULL | JSON_WHOLE,
                "On all sites together; null: there is no such time"),
    JSON_NUMBER(T, cost, 0, 0, 0, JSON_MAY_BE_NULL,
                "By cost_per_processor_s of the sites; null: there is no such time"),
    JSON_LIST(T, reservations, reservation_count, struct co_reservation_answer,
              &co_reservation_answer_json, 0, 0, "What to reserve on each site"),
    JSON_OBJECT(T, duration_basis, const struct duration_answer *, &duration_json,
                JSON_POINTER | JSON_OPTIONAL, "With duration_from"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object reservation_plans_answer_json = {
    "ReservationPlan", "A slot that all sites have in common",
    sizeof(struct plans_answer), plans_answer_rows};

/* ---- reading ---- */

struct planning {
    struct request *rq;
    const struct plans_request *body;
    struct co_run_times runs; /* of duration_from */
    struct plans_answer *answer;
};

/* Windows that end before they begin or overlap. */
static enum error_code check_windows(const struct plans_request *body, struct arena *a,
                                     struct error *err)
{
    for (size_t s = 0; s < body->site_count; s++) {
        const struct window_site *site = &body->sites[s];
        size_t overlap;

        for (size_t i = 0; i < site->window_count; i++)
            if (!(site->windows[i].end_s > site->windows[i].start_s))
                mistake(err, ITEM_OUT_OF_BOUNDS, "must be after start_s",
                        "/sites/%zu/windows/%zu/end_s", s, i);
        co_window_overlap(site->windows, site->window_count, &overlap, a);
        if (overlap != SIZE_MAX)
            mistake(err, ITEM_OVERLAP, "overlaps another window of this site",
                    "/sites/%zu/windows/%zu", s, overlap);
    }
    return OK;
}

static double speedup_of(const struct plans_request *body, double processors)
{
    if (!isnan(body->serial_ratio))
        return co_speedup_amdahl(body->serial_ratio, processors);
    for (size_t i = 0; i < body->speedup_count; i++)
        if (body->speedups[i].processors == processors)
            return body->speedups[i].speedup;
    return (double)NAN;
}

static void need_speedup(const struct plans_request *body, double processors,
                         struct error *err)
{
    if (!isnan(body->reference_processors) && isnan(speedup_of(body, processors)))
        invalid(err, "/speedups", ITEM_REQUIRED, "there is no entry for %g processor%s",
                processors, processors == 1 ? "" : "s");
}

static void check_request(const struct plans_request *body, struct error *err)
{
    if (body->fuzzy && body->component_count)
        mistake(err, ITEM_CONFLICT, "give either components or fuzzy, not both",
                "/fuzzy");
    if (!body->fuzzy && body->component_count == 0)
        mistake(err, ITEM_REQUIRED, "the list is missing or empty", "/components");
    if (isnan(body->duration_s) && !body->duration_from)
        mistake(err, ITEM_REQUIRED, "the member is missing: give it, or duration_from",
                "/duration_s");
    if (!isnan(body->serial_ratio) && body->speedup_count)
        mistake(err, ITEM_CONFLICT, "give either speedups or serial_ratio, not both",
                "/serial_ratio");
}

/* ---- durations ---- */

/* How long the job runs on so many processors; NAN: not known. */
static void duration_of(const struct planning *p, double processors, double *duration_s,
                        struct duration_answer *basis)
{
    const struct plans_request *body = p->body;
    bool scaled = !isnan(body->reference_processors);
    double told_s = (double)NAN;
    size_t samples = 0;

    *basis = (struct duration_answer){DURATION_GIVEN, processors, 0};
    if (scaled)
        basis->processors = body->reference_processors;
    if (body->duration_from)
        co_run_time_of(&p->runs, body->duration_from, basis->processors, &told_s,
                       &samples, p->rq->arena);
    basis->samples = samples;
    if (told_s > 0)
        basis->basis = DURATION_EXECUTIONS;
    *duration_s = told_s > 0 ? told_s : body->duration_s;
    if (scaled)
        *duration_s *=
            speedup_of(body, body->reference_processors) / speedup_of(body, processors);
}

static void say_duration(const struct planning *p, double processors)
{
    struct duration_answer *basis = NEW(p->rq->arena, struct duration_answer, 1);
    struct decision_answer *out = &p->answer->decision;
    const char *warning = NULL;

    duration_of(p, processors, &p->answer->duration_s, basis);
    if (!p->body->duration_from)
        return;
    p->answer->duration_basis = basis;
    if (p->runs.unavailable)
        warning = "history_unavailable: the stored executions cannot be read now; "
                  "duration_s is used";
    else if (basis->basis == DURATION_GIVEN)
        warning = "few_samples: too few executions on so many processors; duration_s is "
                  "used";
    co_add_warning(warning, &out->warnings, &out->warning_count, p->rq->arena);
}

/* ---- components ---- */

/* What each site needs; *total of all. */
static enum error_code sum_needs(const struct plans_request *body,
                                 struct co_slot_site **needs, double *total,
                                 struct arena *a, struct error *err)
{
    struct co_slot_site *list = NEW(a, struct co_slot_site, body->site_count);
    struct name_index index;

    name_index_create(&index, body->site_count, a);
    for (size_t s = 0; s < body->site_count; s++) {
        name_index_add(&index, body->sites[s].id, s);
        list[s] =
            (struct co_slot_site){body->sites[s].windows, body->sites[s].window_count, 0};
    }
    for (size_t i = 0; i < body->component_count; i++) {
        size_t site = name_index_find(&index, body->components[i].site_id);

        if (site == NAME_NOT_FOUND)
            mistake(err, ITEM_UNKNOWN_ID, "the request has no such site",
                    "/components/%zu/site_id", i);
        else
            list[site].processors += (double)body->components[i].processors;
        *total += (double)body->components[i].processors;
    }
    *needs = list;
    return OK;
}

static void fill_components(struct planning *p, const struct co_slot_site *needs)
{
    struct plans_answer *out = p->answer;
    struct co_reservation_answer *list =
        NEW(p->rq->arena, struct co_reservation_answer, p->body->site_count);

    for (size_t s = 0; s < p->body->site_count; s++) {
        if (needs[s].processors <= 0)
            continue;
        list[out->reservation_count++] = (struct co_reservation_answer){
            p->body->sites[s].id, (uint64_t)needs[s].processors, out->start_s,
            out->duration_s};
        out->cost += needs[s].processors * out->duration_s *
                     p->body->sites[s].cost_per_processor_s;
    }
    out->reservations = list;
    out->end_s = out->start_s + out->duration_s;
}

static enum error_code plan_components(struct planning *p)
{
    const struct plans_request *body = p->body;
    struct plans_answer *out = p->answer;
    struct co_slot_site *needs = NULL;
    double total = 0;

    TRY(sum_needs(body, &needs, &total, p->rq->arena, p->rq->err));
    need_speedup(body, body->reference_processors, p->rq->err);
    if (total > 0)
        need_speedup(body, total, p->rq->err);
    TRY(p->rq->err->code);
    if (body->duration_from)
        TRY(co_run_times_find(p->rq, body->duration_from, &p->runs));
    say_duration(p, total);
    out->processors = total;
    if (!isnan(out->duration_s))
        co_common_slot(needs, body->site_count, out->duration_s, body->earliest_s,
                       body->latest_end_s, &out->start_s, p->rq->arena);
    if (!isnan(out->start_s)) {
        out->cost = 0;
        fill_components(p, needs);
    }
    decision_end(p->rq, "common_slot",
                 isnan(out->start_s) ? DECISION_INFEASIBLE : DECISION_OPTIMAL,
                 &out->decision);
    return OK;
}

/* ---- fuzzy ---- */

/* Numbers of processors that will do: given, of the table, or all between the bounds. */
struct counts {
    double *list;
    size_t count;
};

static void check_counts(const struct plans_request *body, struct error *err)
{
    const struct fuzzy *f = body->fuzzy;

    for (size_t i = 0; i < f->processor_count_count; i++)
        need_speedup(body, f->processor_counts[i], err);
    if (f->processor_count_count > SIZES_MAX)
        mistake(err, ITEM_TOO_MANY, "at most 1024 are possible",
                "/fuzzy/processor_counts");
}

static void check_bounds(const struct plans_request *body, struct error *err)
{
    const struct fuzzy *f = body->fuzzy;
    bool by_table = body->speedup_count > 0 && !isnan(body->reference_processors);

    if (isnan(f->min_processors)) {
        mistake(err, ITEM_REQUIRED, "the member is missing: give it, or processor_counts",
                "/fuzzy/min_processors");
        return;
    }
    if (f->max_processors < f->min_processors)
        mistake(err, ITEM_OUT_OF_BOUNDS, "must not be below min_processors",
                "/fuzzy/max_processors");
    else if (!by_table && f->max_processors - f->min_processors >= SIZES_MAX)
        mistake(err, ITEM_TOO_MANY,
                "more than 1024 numbers of processors: name some in processor_counts",
                "/fuzzy/max_processors");
}

static void check_criteria(const struct fuzzy *f, struct error *err)
{
    bool seen[CO_SLOT_CRITERION_COUNT] = {false};

    for (size_t i = 0; i < f->criterion_count; i++) {
        if (seen[f->criteria[i].criterion])
            mistake(err, ITEM_DUPLICATE, "the criterion is in the list already",
                    "/fuzzy/criteria/%zu/criterion", i);
        seen[f->criteria[i].criterion] = true;
    }
}

static void list_counts(const struct plans_request *body, struct counts *out,
                        struct arena *a)
{
    const struct fuzzy *f = body->fuzzy;
    double most = isnan(f->max_processors) ? f->min_processors : f->max_processors;
    bool by_table = body->speedup_count > 0 && !isnan(body->reference_processors);

    out->list = NEW(a, double, SPEEDUPS_MAX + SIZES_MAX);
    for (size_t i = 0; i < f->processor_count_count; i++)
        out->list[out->count++] = f->processor_counts[i];
    if (f->processor_count_count)
        return;
    for (size_t i = 0; by_table && i < body->speedup_count; i++)
        if (body->speedups[i].processors >= f->min_processors &&
            body->speedups[i].processors <= most &&
            body->speedups[i].processors == floor(body->speedups[i].processors))
            out->list[out->count++] = body->speedups[i].processors;
    for (double n = f->min_processors; !by_table && n <= most; n++)
        out->list[out->count++] = n;
}

static void list_sizes(const struct planning *p, const struct counts *counts,
                       struct co_fuzzy_size **sizes, size_t *size_count)
{
    struct co_fuzzy_size *list = NEW(p->rq->arena, struct co_fuzzy_size, counts->count);
    struct duration_answer basis;

    *size_count = 0;
    for (size_t i = 0; i < counts->count; i++) {
        double duration_s;

        duration_of(p, counts->list[i], &duration_s, &basis);
        if (duration_s > 0 && isfinite(duration_s))
            list[(*size_count)++] = (struct co_fuzzy_size){counts->list[i], duration_s};
    }
    *sizes = list;
}

static void fill_fuzzy(struct planning *p, const struct co_fuzzy_out *slot)
{
    struct plans_answer *out = p->answer;
    struct co_reservation_answer *list =
        NEW(p->rq->arena, struct co_reservation_answer, slot->part_count);

    say_duration(p, slot->processors);
    out->start_s = slot->start_s;
    out->end_s = slot->end_s;
    out->processors = slot->processors;
    out->cost = slot->cost;
    for (size_t i = 0; i < slot->part_count; i++)
        list[i] = (struct co_reservation_answer){p->body->sites[slot->parts[i].site].id,
                                                 (uint64_t)slot->parts[i].processors,
                                                 slot->start_s, out->duration_s};
    out->reservations = list;
    out->reservation_count = slot->part_count;
}

static void list_sites(const struct plans_request *body,
                       const struct co_fuzzy_site **sites, struct arena *a)
{
    struct co_fuzzy_site *list = NEW(a, struct co_fuzzy_site, body->site_count);

    for (size_t s = 0; s < body->site_count; s++)
        list[s] =
            (struct co_fuzzy_site){body->sites[s].windows, body->sites[s].window_count,
                                   body->sites[s].cost_per_processor_s};
    *sites = list;
}

static enum error_code plan_fuzzy(struct planning *p)
{
    static const struct co_slot_wish by_end = {CO_SLOT_END, 0};
    const struct plans_request *body = p->body;
    const struct fuzzy *f = body->fuzzy;
    struct co_fuzzy_size *sizes = NULL;
    struct co_fuzzy_out slot;
    struct co_fuzzy_in in = {
        .site_count = body->site_count,
        .earliest_s = body->earliest_s,
        .latest_end_s = body->latest_end_s,
        .max_sites = isnan(f->max_sites) ? CO_SITES_MAX : (size_t)f->max_sites,
        .wishes = f->criterion_count ? f->criteria : &by_end,
        .wish_count = f->criterion_count ? f->criterion_count : 1,
        .budget = &p->rq->budget,
    };
    struct counts counts = {NULL, 0};
    enum decision_status status = DECISION_FEASIBLE;

    need_speedup(body, body->reference_processors, p->rq->err);
    check_criteria(f, p->rq->err);
    check_counts(body, p->rq->err);
    if (f->processor_count_count == 0)
        check_bounds(body, p->rq->err);
    TRY(p->rq->err->code);
    if (body->duration_from)
        TRY(co_run_times_find(p->rq, body->duration_from, &p->runs));
    list_counts(body, &counts, p->rq->arena);
    list_sizes(p, &counts, &sizes, &in.size_count);
    list_sites(body, &in.sites, p->rq->arena);
    in.sizes = sizes;
    TRY(co_fuzzy_slot(&in, &slot, p->rq->arena));
    if (slot.found)
        fill_fuzzy(p, &slot);
    else if (counts.count)
        say_duration(p, counts.list[0]);
    if (!slot.found)
        p->answer->duration_s = (double)NAN;
    if (co_fuzzy_is_exact(&in))
        status = DECISION_OPTIMAL;
    if (!slot.found)
        status = DECISION_INFEASIBLE;
    decision_end(p->rq, "fuzzy_slot", slot.cut ? DECISION_CUT : status,
                 &p->answer->decision);
    return OK;
}

static void warn_of_unused(struct planning *p)
{
    static const char no_reference[] = "there is no reference_processors";
    static const char by_counts[] = "processor_counts names the numbers";
    const struct plans_request *body = p->body;
    const struct fuzzy *f = body->fuzzy;
    bool scaled = !isnan(body->reference_processors);
    bool by_list = f && f->processor_count_count;
    struct decision_answer *out = &p->answer->decision;

    co_warn_unused_members(
        p->rq, out,
        (const struct co_unused_member[]){
            {"/speedups", no_reference, body->speedup_count && !scaled},
            {"/serial_ratio", no_reference, !isnan(body->serial_ratio) && !scaled},
            {"/fuzzy/min_processors", by_counts, by_list && !isnan(f->min_processors)},
            {"/fuzzy/max_processors", by_counts, by_list && !isnan(f->max_processors)},
        },
        4);
    co_warn_unused_envelope(p->rq, out, &body->decision, f);
}

enum error_code post_reservation_plans(struct request *rq, const void *in, void *out)
{
    struct planning p = {.rq = rq, .body = in, .answer = out};

    p.answer->start_s = p.answer->end_s = p.answer->cost = (double)NAN;
    p.answer->duration_s = p.answer->processors = (double)NAN;
    TRY(decision_begin(rq, &p.body->decision, &p.answer->decision));
    co_plain_decision(&p.body->decision, rq->err);
    check_request(p.body, rq->err);
    TRY(check_windows(p.body, rq->arena, rq->err));
    warn_of_unused(&p);
    return p.body->fuzzy ? plan_fuzzy(&p) : plan_components(&p);
}
