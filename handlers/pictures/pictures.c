/* pictures.c - answers to charts: bars from JSON. Graphs: picture_graph.c. */
#include "handlers/pictures/pictures.h"

#include "handlers/pictures/gantt.h"
#include "handlers/pictures/gantt_terminal.h"
#include "models/base/duration.h"
#include "models/base/names.h"
#include "models/json_walk.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDLE_ROWS_MAX = 60, /* with more rows only those with bars are shown */
    LANES_MAX = GANTT_LANES_MAX,
    ENTRY_STEPS = 128, /* what an entry costs, about */
    UNPLACED_SHOWN = 8,
    EDGE_ALONE_S = 60, /* of a picture in which nothing has an end */
    NODES_NAMED = 8    /* in the tooltip of a job on more */
};

#define EDGE_SHARE 0.25 /* of what is known, behind it */

enum rows_by { BY_RESOURCE, BY_SITE, BY_JOB };

/* What an element of a list says. */
struct entry {
    const char *workflow_id, *id, *resource_id, *state; /* NULL: not said */
    const char *site_id, *group, *reason, *from_id;
    const char *copies; /* of a job with count: which, behind its name; NULL */
    const char *const *resource_ids; /* of several nodes; NULL: not said */
    size_t resource_count;
    double slot, processors, start_s, finish_s, length_s;
    double data_ready_s, transfer_from_s;
    double stage_in_s, progress_ratio, deadline_s;
    double time_limit_s, elapsed_s, stay_s, move_s;
    bool is_reserved;
};

struct entries {
    struct entry *items;
    size_t count, size;
};

/* What kind of answer it is, by the list that was found. */
enum subject {
    NOTHING,
    PLACEMENT,
    SCHEDULE,
    QUEUE,
    PARALLEL,
    PHASES,
    COALLOCATION,
    JOB_MOVES,
    TASK_MOVES,
    SIMULATION,
    WORKFLOWS
};

static const struct {
    const char *title, *things;
} subjects[] = {
    [NOTHING] = {"Answer", "things"},
    [PLACEMENT] = {"Placement", "jobs"},
    [SCHEDULE] = {"Workflow schedule", "tasks"},
    [QUEUE] = {"Batch queue", "jobs"},
    [PARALLEL] = {"Parallel schedule", "jobs"},
    [PHASES] = {"Rescheduling plan", "intervals"},
    [COALLOCATION] = {"Co-allocation", "components"},
    [JOB_MOVES] = {"Reschedule", "jobs"},
    [TASK_MOVES] = {"Reschedule", "tasks"},
    [SIMULATION] = {"Simulation", "jobs"},
    [WORKFLOWS] = {"Simulation", "tasks"},
};

struct picture {
    struct arena *arena;
    struct error *err;
    enum error_code code;
    enum subject subject;
    struct entries entries;
    const char *algorithm, *policy, *kind;
    double makespan_s, lower_bound_s, gap_ratio, mean_wait_s;
    double processors, now_s; /* NAN: not said */
    bool rows_missing;        /* results without their jobs */
    bool by_resource;         /* entries say where */
    bool on_cluster;          /* of a queue: its jobs say on which nodes */
    size_t drawn_count;       /* entries that have times */
    size_t endless_count;     /* components whose run time nobody said */

    const char **rows; /* resources */
    size_t row_count, row_size;
    struct name_index row_index;
    struct name_index critical; /* ids of the tasks of the chain that ends last */
    size_t critical_count;
    const struct gantt_terminal *terminal; /* NULL: the chart is SVG */
    const struct gantt_view *view;         /* NULL: of all */
    enum rows_by rows_by;
    bool one_workflow;        /* its name need not be said */
    struct entries jobs;      /* of the request: group and deadline */
    struct entries resources; /* of the snapshot: site */
    struct entries unplaced;  /* with the first reason; of a class an example */
    double unplaced_count;    /* as the answer says; 0: it does not */
    struct entries around;    /* of the snapshot: what runs on resources, is reserved */
};

/* ---- walking ---- */

static void check(struct picture *p, enum error_code code)
{
    if (p->code == OK)
        p->code = code;
}

static const char *keep(struct picture *p, const char *text)
{
    return arena_text(p->arena, text, strlen(text));
}

/* A text, a number as text, NULL for anything else. */
static const char *take_text(struct picture *p, struct json_walk *w)
{
    if (json_walk_type(w) == '"')
        return keep(p, json_walk_string(w));
    json_walk_skip(w);
    return NULL;
}

/* The member of an entry that a JSON name stands for; it is taken. */
static bool take_number(struct entry *e, const char *name, struct json_walk *w)
{
    const struct {
        const char *name;
        double *to;
    } members[] = {
        {"start_s", &e->start_s},
        {"estimated_start_s", &e->start_s},
        {"finish_s", &e->finish_s},
        {"expected_end_s", &e->finish_s},
        {"end_s", &e->finish_s}, /* what was stored under former names */
        {"slot", &e->slot},
        {"processors", &e->processors},
        {"estimate_s", &e->length_s},
        {"data_ready_s", &e->data_ready_s},
        {"transfer_from_s", &e->transfer_from_s},
        {"stage_in_s", &e->stage_in_s},
        {"progress_ratio", &e->progress_ratio},
        {"deadline_s", &e->deadline_s},
        {"time_limit_s", &e->time_limit_s},
        {"elapsed_s", &e->elapsed_s},
        {"predicted_queue_wait_s", &e->start_s},
        {"predicted_execution_s", &e->length_s},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strcmp(name, members[i].name) == 0) {
            *members[i].to = json_walk_number(w);
            return true;
        }
    return false;
}

/* The first reason of a list. */
static const char *take_reason(struct picture *p, struct json_walk *w)
{
    const char *name, *reason = NULL;

    if (!json_walk_enter_if(w, '['))
        return NULL;
    while (json_walk_element(w)) {
        if (!json_walk_enter_if(w, '{'))
            continue;
        while ((name = json_walk_member(w)))
            if (!reason && strcmp(name, "reason") == 0)
                reason = take_text(p, w);
            else
                json_walk_skip(w);
    }
    return reason;
}

/* Names of nodes, of which one is no list. */
static void take_nodes(struct picture *p, struct entry *e, struct json_walk *w)
{
    const char **list = NULL;
    size_t size = 0;

    e->resource_count = 0;
    if (!json_walk_enter_if(w, '['))
        return;
    while (p->code == OK && json_walk_element(w)) {
        const char *name = take_text(p, w);

        if (e->resource_count == size) {
            size_t more = size ? 2 * size : 4;

            list = size ? GROW(p->arena, list, const char *, size, more)
                        : NEW(p->arena, const char *, more);
            size = more;
        }
        if (name)
            list[e->resource_count++] = name;
        check(p, json_go_on(1, p->err));
    }
    e->resource_ids = list;
    if (e->resource_count && !e->resource_id)
        e->resource_id = list[0];
}

/* The member of an entry that a JSON name stands for; it is taken. */
/* "[3]" or "[3-7]"; NULL: it is neither. */
static const char *take_copies(struct picture *p, struct json_walk *w)
{
    double said[2] = {NAN, NAN};
    size_t count = 0;

    if (json_walk_type(w) != '[') {
        said[0] = json_walk_number(w);
        return isnan(said[0]) ? NULL : arena_printf(p->arena, "[%.0f]", said[0]);
    }
    json_walk_enter(w, '[');
    while (p->code == OK && json_walk_element(w)) {
        double number = json_walk_number(w);

        if (count < 2)
            said[count++] = number;
    }
    return count < 2 ? NULL : arena_printf(p->arena, "[%.0f-%.0f]", said[0], said[1]);
}

static bool take_name(struct picture *p, struct entry *e, const char *name,
                      struct json_walk *w)
{
    const struct {
        const char *name;
        const char **to;
    } members[] = {
        {"job_id", &e->id},
        {"task_id", &e->id},
        {"component_id", &e->id},
        {"id", &e->id},
        {"workflow_id", &e->workflow_id},
        {"resource_id", &e->resource_id},
        {"site_id", &e->site_id},
        {"state", &e->state},
        {"status", &e->state},
        {"reason", &e->reason},
        {"example_job_id", &e->id},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strcmp(name, members[i].name) == 0) {
            *members[i].to = take_text(p, w);
            return true;
        }
    if (strcmp(name, "resource_ids") == 0 || strcmp(name, "planned_resource_ids") == 0)
        take_nodes(p, e, w);
    else if (strcmp(name, "reasons") == 0)
        e->reason = take_reason(p, w);
    else if (strcmp(name, "index") == 0 || strcmp(name, "indexes") == 0)
        e->copies = take_copies(p, w);
    else if (strcmp(name, "group") == 0 ||
             (strcmp(name, "application_id") == 0 && !e->group))
        e->group = take_text(p, w);
    else
        return false;
    return true;
}

static struct entry blank_entry(void)
{
    return (struct entry){
        .slot = NAN,
        .processors = NAN,
        .start_s = NAN,
        .finish_s = NAN,
        .length_s = NAN,
        .data_ready_s = NAN,
        .transfer_from_s = NAN,
        .progress_ratio = NAN,
        .deadline_s = NAN,
        .time_limit_s = NAN,
        .elapsed_s = NAN,
        .stay_s = NAN,
        .move_s = NAN,
    };
}

static void take_around(struct picture *p, struct json_walk *w, const char *state);

static void take_entry(struct picture *p, struct json_walk *w, struct entry *e,
                       bool is_resource)
{
    const char *name;

    *e = blank_entry();
    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w)))
        if (is_resource && strcmp(name, "running") == 0)
            take_around(p, w, "running");
        else if (is_resource && strcmp(name, "reservations") == 0)
            take_around(p, w, "reserved");
        else if (!take_name(p, e, name, w) && !take_number(e, name, w))
            json_walk_skip(w);
}

static enum error_code add_entry(struct picture *p, struct entries *list,
                                 const struct entry *e)
{
    if (list->count == list->size) {
        size_t size = list->size ? list->size * 2 : 64;
        struct entry *grown =
            list->items ? GROW(p->arena, list->items, struct entry, list->size, size)
                        : NEW(p->arena, struct entry, size);

        list->items = grown;
        list->size = size;
    }
    list->items[list->count++] = *e;
    return OK;
}

static void take_objects(struct picture *p, struct json_walk *w, struct entries *list,
                         bool resources)
{
    size_t around;
    struct entry e;

    if (json_walk_type(w) != '[') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '[');
    while (p->code == OK && json_walk_element(w)) {
        check(p, json_go_on(ENTRY_STEPS, p->err));
        if (json_walk_type(w) == '{') {
            around = p->around.count;
            take_entry(p, w, &e, resources);
            for (; resources && around < p->around.count; around++)
                p->around.items[around].resource_id = e.id;
            check(p, add_entry(p, list, &e));
        } else {
            json_walk_skip(w);
        }
    }
}

static void take_list(struct picture *p, struct json_walk *w, struct entries *list)
{
    take_objects(p, w, list, false);
}

/* What a resource has besides, whose name comes when it has been read. */
static void take_around(struct picture *p, struct json_walk *w, const char *state)
{
    size_t first = p->around.count;

    take_list(p, w, &p->around);
    for (size_t i = first; i < p->around.count; i++) {
        struct entry *e = &p->around.items[i];
        bool runs = strcmp(state, "running") == 0;

        e->state = state;
        if (runs && isnan(e->finish_s))
            e->finish_s = e->time_limit_s - e->elapsed_s;
        if (runs)
            e->start_s = isnan(e->elapsed_s) ? 0 : -e->elapsed_s;
    }
}

/* The tasks of simulated workflows, with the name of theirs. */
static void take_workflow(struct picture *p, struct json_walk *w)
{
    const char *name, *workflow_id = NULL;
    size_t first = p->entries.count;

    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w))) {
        if (strcmp(name, "workflow_id") == 0)
            workflow_id = take_text(p, w);
        else if (strcmp(name, "tasks") == 0)
            take_list(p, w, &p->entries);
        else
            json_walk_skip(w);
    }
    for (size_t i = first; i < p->entries.count; i++)
        p->entries.items[i].workflow_id = workflow_id;
}

/* Each object of a list. */
static void take_each(struct picture *p, struct json_walk *w,
                      void (*take)(struct picture *p, struct json_walk *w))
{
    if (json_walk_type(w) != '[') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '[');
    while (p->code == OK && json_walk_element(w)) {
        if (json_walk_type(w) == '{')
            take(p, w);
        else
            json_walk_skip(w);
    }
}

/* Of simulations: the rows of the first policy that has some. */
static void take_result(struct picture *p, struct json_walk *w)
{
    const char *name, *policy = NULL;
    bool found = p->entries.count > 0;

    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w))) {
        if (strcmp(name, "policy") == 0 || strcmp(name, "label") == 0) {
            policy = take_text(p, w);
        } else if (strcmp(name, "jobs") == 0 && !found) {
            take_list(p, w, &p->entries);
        } else if (strcmp(name, "workflows") == 0 && !found) {
            p->subject = WORKFLOWS;
            take_each(p, w, take_workflow);
        } else if (strcmp(name, "makespan_s") == 0 && !found) {
            p->makespan_s = json_walk_number(w);
        } else if (strcmp(name, "mean_wait_s") == 0 && !found) {
            p->mean_wait_s = json_walk_number(w);
        } else {
            json_walk_skip(w);
        }
    }
    if (!found && p->entries.count)
        p->policy = policy;
    p->rows_missing = p->entries.count == 0;
}

static void take_results(struct picture *p, struct json_walk *w)
{
    p->subject = SIMULATION;
    take_each(p, w, take_result);
}

static void take_objective(struct picture *p, struct json_walk *w)
{
    const char *name;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        if (strcmp(name, "makespan_s") == 0)
            p->makespan_s = json_walk_number(w);
        else if (strcmp(name, "lower_bound_s") == 0)
            p->lower_bound_s = json_walk_number(w);
        else if (strcmp(name, "gap_ratio") == 0)
            p->gap_ratio = json_walk_number(w);
        else if (strcmp(name, "mean_wait_s") == 0)
            p->mean_wait_s = json_walk_number(w);
        else
            json_walk_skip(w);
    }
}

/* One interval of an application in phases, which begins when the one before has ended,
 * with its move. */
static void take_interval(struct picture *p, struct json_walk *w, struct entry *e)
{
    double first = 0, last = 0, begin_s = e->finish_s, run_s = NAN, move_s = 0;
    const char *name;

    *e = blank_entry();
    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w)))
        if (strcmp(name, "first_phase") == 0)
            first = json_walk_number(w);
        else if (strcmp(name, "last_phase") == 0)
            last = json_walk_number(w);
        else if (strcmp(name, "predicted_s") == 0)
            run_s = json_walk_number(w);
        else if (strcmp(name, "reschedule_cost_s") == 0)
            move_s = json_walk_number(w);
        else if (!take_name(p, e, name, w))
            json_walk_skip(w);
    e->id = last > first ? arena_printf(p->arena, "phases %.0f-%.0f", first, last)
                         : arena_printf(p->arena, "phase %.0f", first);
    e->start_s = begin_s;
    e->stage_in_s = move_s > 0 ? move_s : 0;
    e->finish_s = begin_s + e->stage_in_s + run_s;
}

static void take_phases(struct picture *p, struct json_walk *w)
{
    struct entry e = {.finish_s = 0};

    if (!json_walk_enter_if(w, '['))
        return;
    while (p->code == OK && json_walk_element(w)) {
        check(p, json_go_on(ENTRY_STEPS, p->err));
        if (json_walk_type(w) == '{') {
            take_interval(p, w, &e);
            check(p, add_entry(p, &p->entries, &e));
        } else {
            json_walk_skip(w);
        }
    }
}

/* The one job of a parallel schedule, when it has machines. */
static void take_parallel(struct picture *p, struct json_walk *w)
{
    struct entry e;

    take_entry(p, w, &e, false);
    e.processors = NAN; /* its machines are named */
    if (e.resource_count)
        check(p, add_entry(p, &p->entries, &e));
}

/* A component of a co-allocated job. */
static void take_component(struct picture *p, struct json_walk *w, struct entry *e)
{
    const char *name;

    *e = blank_entry();
    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w))) {
        if (strcmp(name, "transfer_time_s") == 0) {
            e->data_ready_s = json_walk_number(w);
        } else if (strcmp(name, "reserve") == 0) {
            e->is_reserved = json_walk_type(w) == '{';
            json_walk_skip(w);
        } else if (!take_name(p, e, name, w) && !take_number(e, name, w)) {
            json_walk_skip(w);
        }
    }
    e->resource_id = e->site_id;
}

/* The components of a job, whose names and times come with the job. */
static void take_components(struct picture *p, struct json_walk *w)
{
    struct entry e;

    if (!json_walk_enter_if(w, '['))
        return;
    while (p->code == OK && json_walk_element(w)) {
        check(p, json_go_on(ENTRY_STEPS, p->err));
        if (json_walk_type(w) == '{') {
            take_component(p, w, &e);
            check(p, add_entry(p, &p->entries, &e));
        } else {
            json_walk_skip(w);
        }
    }
}

/* A job with its place, or with places for its components: these have their processors
 * from the claim on, or from a reservation's start; when all files have come the job
 * starts. Seconds from the placement on. */
static void take_placement(struct picture *p, struct json_walk *w)
{
    double placed_s = NAN, claim_s = NAN, start_s = NAN;
    size_t first = p->entries.count;
    struct entry job = blank_entry();
    bool components = false;
    const char *name;

    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w)))
        if (strcmp(name, "components") == 0) {
            components = true;
            take_components(p, w);
        } else if (strcmp(name, "jpt_s") == 0) {
            placed_s = json_walk_number(w);
        } else if (strcmp(name, "jct_s") == 0) {
            claim_s = json_walk_number(w);
        } else if (strcmp(name, "jst_s") == 0) {
            start_s = json_walk_number(w);
        } else if (!take_name(p, &job, name, w) && !take_number(&job, name, w)) {
            json_walk_skip(w);
        }
    if (!components) {
        check(p, add_entry(p, &p->entries, &job));
        return;
    }
    p->subject = COALLOCATION;
    for (size_t i = first; i < p->entries.count; i++) {
        struct entry *e = &p->entries.items[i];

        e->workflow_id = job.id;
        e->group = job.id;
        e->finish_s = start_s - placed_s;
        e->start_s = e->is_reserved ? e->finish_s : claim_s - placed_s;
        e->stage_in_s = e->finish_s - e->start_s;
        e->transfer_from_s = 0;
    }
}

static void take_placements(struct picture *p, struct json_walk *w)
{
    if (p->subject == NOTHING)
        p->subject = PLACEMENT;
    if (!json_walk_enter_if(w, '['))
        return;
    while (p->code == OK && json_walk_element(w)) {
        check(p, json_go_on(ENTRY_STEPS, p->err));
        if (json_walk_type(w) == '{')
            take_placement(p, w);
        else
            json_walk_skip(w);
    }
}

/* How long the inputs of a move take. */
static double take_steps(struct picture *p, struct json_walk *w)
{
    const char *name;
    double input_s = 0;

    if (!json_walk_enter_if(w, '['))
        return 0;
    while (p->code == OK && json_walk_element(w)) {
        const char *step = NULL;
        double duration_s = NAN;

        if (!json_walk_enter_if(w, '{'))
            continue;
        while ((name = json_walk_member(w)))
            if (strcmp(name, "step") == 0)
                step = take_text(p, w);
            else if (strcmp(name, "duration_s") == 0)
                duration_s = json_walk_number(w);
            else
                json_walk_skip(w);
        if (step && strcmp(step, "prolog") == 0 && duration_s > 0)
            input_s += duration_s;
    }
    return input_s;
}

/* What is to be done with a running job, or a task: it moves, or stays where the request
 * says that it is. */
static void take_move(struct picture *p, struct json_walk *w, struct entry *e)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {
        {"start_s", &e->start_s},       {"stay_s", &e->stay_s},
        {"move_s", &e->move_s},         {"remaining_after_s", &e->move_s},
        {"transfer_s", &e->stage_in_s},
    };
    const char *name;
    bool found;

    *e = blank_entry();
    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w))) {
        found = false;
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !found; i++)
            if (strcmp(name, numbers[i].name) == 0) {
                *numbers[i].to = json_walk_number(w);
                found = true;
            }
        if (found)
            continue;
        if (strcmp(name, "action") == 0)
            e->state = take_text(p, w);
        else if (strcmp(name, "to_resource_id") == 0)
            e->resource_id = take_text(p, w);
        else if (strcmp(name, "from_resource_id") == 0)
            e->from_id = take_text(p, w);
        else if (strcmp(name, "steps") == 0)
            e->stage_in_s = take_steps(p, w);
        else if (!take_name(p, e, name, w))
            json_walk_skip(w);
    }
    if (p->subject == TASK_MOVES)
        e->start_s = 0;
}

static void take_moves(struct picture *p, struct json_walk *w, enum subject subject)
{
    struct entry e;

    p->subject = subject;
    if (!json_walk_enter_if(w, '['))
        return;
    while (p->code == OK && json_walk_element(w)) {
        check(p, json_go_on(ENTRY_STEPS, p->err));
        if (json_walk_type(w) == '{') {
            take_move(p, w, &e);
            if (e.resource_id)
                e.finish_s = e.start_s + e.move_s;
            check(p, add_entry(p, &p->entries, &e));
        } else {
            json_walk_skip(w);
        }
    }
}

static bool is_kind(const struct picture *p, const char *kind)
{
    return p->kind && strcmp(p->kind, kind) == 0;
}

/* The lists that have bars; false: it is another member. */
static bool take_bars(struct picture *p, const char *name, struct json_walk *w)
{
    bool object = json_walk_type(w) == '{';

    if (strcmp(name, "plan") == 0) {
        p->subject = PHASES;
        take_phases(p, w);
        return true;
    }
    if (strcmp(name, "schedule") == 0 && object) {
        p->subject = PARALLEL;
        take_parallel(p, w);
        return true;
    }
    if (strcmp(name, "placements") == 0) {
        take_placements(p, w);
        return true;
    }
    if (strcmp(name, "reschedules") == 0 && is_kind(p, "workflow_round")) {
        take_moves(p, w, TASK_MOVES);
        return true;
    }
    if (strcmp(name, "jobs") == 0 && is_kind(p, "running_jobs")) {
        take_moves(p, w, JOB_MOVES);
        return true;
    }
    if (strcmp(name, "schedule") == 0)
        p->subject = SCHEDULE;
    else if (strcmp(name, "starts") == 0)
        p->subject = QUEUE;
    else if (!(strcmp(name, "waiting") == 0 && p->subject == QUEUE))
        return false;
    take_list(p, w, &p->entries);
    return true;
}

/* Ids of the chain that ends last; as many as there are entries at most. */
static void take_critical(struct picture *p, struct json_walk *w)
{
    if (json_walk_type(w) != '[' || p->entries.count == 0 ||
        !name_index_create(&p->critical, p->entries.count, p->arena)) {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '[');
    while (p->code == OK && json_walk_element(w)) {
        const char *id = take_text(p, w);

        if (id && p->critical_count < p->entries.count)
            name_index_add(&p->critical, id, p->critical_count++);
    }
}

static enum error_code read_answer(struct picture *p, const char *answer)
{
    struct json_walk w;
    const char *name;

    json_walk_open(&w, answer, strlen(answer), p->arena);
    json_walk_enter(&w, '{');
    while (p->code == OK && (name = json_walk_member(&w))) {
        if (take_bars(p, name, &w))
            continue;
        if (strcmp(name, "results") == 0)
            take_results(p, &w);
        else if (strcmp(name, "objective") == 0)
            take_objective(p, &w);
        else if (strcmp(name, "critical_tasks") == 0)
            take_critical(p, &w);
        else if (strcmp(name, "unplaced") == 0 || strcmp(name, "unplaced_classes") == 0)
            take_list(p, &w, &p->unplaced);
        else if (strcmp(name, "unplaced_count") == 0)
            p->unplaced_count = json_walk_number(&w);
        else if (strcmp(name, "algorithm") == 0)
            p->algorithm = take_text(p, &w);
        else if (strcmp(name, "kind") == 0)
            p->kind = take_text(p, &w);
        else if (strcmp(name, "processors") == 0)
            p->processors = json_walk_number(&w);
        else
            json_walk_skip(&w);
    }
    TRY(p->code);
    return json_walk_end(&w, "", p->err);
}

/* ---- what the request adds ---- */

static enum error_code add_row(struct picture *p, const char *name, size_t *row)
{
    size_t found = p->row_size ? name_index_find(&p->row_index, name) : NAME_NOT_FOUND;

    if (found != NAME_NOT_FOUND) {
        *row = found;
        return OK;
    }
    if (p->row_count == p->row_size) {
        size_t size = p->row_size ? p->row_size * 2 : 64;
        const char **grown =
            p->rows ? GROW(p->arena, p->rows, const char *, p->row_size, size)
                    : NEW(p->arena, const char *, size);

        name_index_create(&p->row_index, size, p->arena);
        p->rows = grown;
        p->row_size = size;
        for (size_t i = 0; i < p->row_count; i++)
            name_index_add(&p->row_index, p->rows[i], i);
    }
    p->rows[p->row_count] = name;
    name_index_add(&p->row_index, name, p->row_count);
    *row = p->row_count++;
    return OK;
}

/* Resources in the order of the snapshot. */
static void take_snapshot(struct picture *p, struct json_walk *w)
{
    bool of_sites = p->subject == COALLOCATION;
    struct entries resources = {0};
    const char *name;
    size_t row;

    if (json_walk_type(w) != '{') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '{');
    while (p->code == OK && (name = json_walk_member(w))) {
        if (strcmp(name, of_sites ? "sites" : "resources") == 0)
            take_objects(p, w, &resources, true);
        else
            json_walk_skip(w);
    }
    p->resources = resources;
    for (size_t i = 0; i < resources.count && p->code == OK; i++) {
        const struct entry *r = &resources.items[i];
        const char *of = p->rows_by == BY_JOB                    ? NULL
                         : p->rows_by == BY_RESOURCE || of_sites ? r->id
                                                                 : r->site_id;

        if (of)
            check(p, add_row(p, of, &row));
    }
}

/* The tasks of the one workflow of a request. */
static void take_tasks(struct picture *p, struct json_walk *w, struct entries *jobs)
{
    const char *name;

    if (!json_walk_enter_if(w, '{'))
        return;
    while (p->code == OK && (name = json_walk_member(w)))
        if (strcmp(name, "tasks") == 0)
            take_list(p, w, jobs);
        else
            json_walk_skip(w);
}

/* Machines that only their speeds describe (workflow_import.h). */
static void take_speeds(struct picture *p, struct json_walk *w)
{
    size_t row;

    if (json_walk_type(w) != '[') {
        json_walk_skip(w);
        return;
    }
    json_walk_enter(w, '[');
    for (size_t i = 1; p->code == OK && json_walk_element(w); i++) {
        const char *name = arena_printf(p->arena, "r%zu", i);

        json_walk_skip(w);
        check(p, add_row(p, name, &row));
    }
}

static double finish_or(const struct entry *e, double start_s)
{
    return isnan(e->finish_s) ? start_s + e->length_s : e->finish_s;
}

/* How long a job takes at most, as far as that is known. */
static double length_of(const struct entry *e)
{
    return isnan(e->length_s) ? e->time_limit_s : e->length_s;
}

/* Of the tasks 7_0, 7_1 ... of an array the job that stands in the request. */
static size_t find_job(const struct name_index *index, const char *id, struct arena *a)
{
    size_t found = id ? name_index_find(index, id) : NAME_NOT_FOUND;
    const char *task = id ? strrchr(id, '_') : NULL;

    if (found != NAME_NOT_FOUND || !task)
        return found;
    return name_index_find(index, arena_text(a, id, (size_t)(task - id)));
}

/* What runs, or is reserved, from now on; begun before now if that is said. */
static struct entry from_now(struct entry e, bool runs, double now_s)
{
    double left_s = e.time_limit_s - e.elapsed_s;

    e.start_s = !runs ? e.start_s - now_s : isnan(e.elapsed_s) ? 0 : -e.elapsed_s;
    e.finish_s = isnan(e.finish_s) && runs ? left_s : e.finish_s - now_s;
    e.state = runs ? "runs" : "reserved";
    return e;
}

/* Of a queue: how long its jobs take, what runs, what is reserved. */
static enum error_code join_queue(struct picture *p, const struct entries *jobs,
                                  const struct entries *running,
                                  const struct entries *reserved)
{
    struct name_index index;
    double now_s = isnan(p->now_s) ? 0 : p->now_s;

    name_index_create(&index, jobs->count, p->arena);
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->items[i].id)
            name_index_add(&index, jobs->items[i].id, i);
    for (size_t i = 0; i < p->entries.count; i++) {
        struct entry *e = &p->entries.items[i];
        size_t job = jobs->count ? find_job(&index, e->id, p->arena) : NAME_NOT_FOUND;

        e->length_s = length_of(e);
        if (job != NAME_NOT_FOUND && !isnan(length_of(&jobs->items[job])))
            e->length_s = length_of(&jobs->items[job]);
        e->finish_s = finish_or(e, e->start_s) - now_s;
        e->start_s -= now_s;
        e->state = e->start_s > 0 ? "planned" : "starts now";
    }
    for (size_t i = 0; i < running->count + reserved->count; i++) {
        bool runs = i < running->count;
        struct entry e = from_now(
            runs ? running->items[i] : reserved->items[i - running->count], runs, now_s);

        TRY(add_entry(p, &p->entries, &e));
    }
    return OK;
}

/* Nodes, what runs on them, what is reserved. */
static void take_cluster(struct picture *p, struct json_walk *w, struct entries *running,
                         struct entries *reserved)
{
    struct entries nodes = {0};
    const char *name;
    size_t row;

    if (!json_walk_enter_if(w, '{'))
        return;
    p->on_cluster = true;
    while (p->code == OK && (name = json_walk_member(w)))
        if (strcmp(name, "resources") == 0)
            take_list(p, w, &nodes);
        else if (strcmp(name, "running") == 0)
            take_list(p, w, running);
        else if (strcmp(name, "reservations") == 0)
            take_list(p, w, reserved);
        else
            json_walk_skip(w);
    for (size_t i = 0; i < nodes.count && p->code == OK; i++)
        if (nodes.items[i].id && p->rows_by == BY_RESOURCE)
            check(p, add_row(p, nodes.items[i].id, &row));
    p->resources = nodes;
}

static enum error_code read_request(struct picture *p, const char *request)
{
    struct entries jobs = {0}, running = {0}, reserved = {0};
    bool queue = p->subject == QUEUE;
    struct json_walk w;
    const char *name;

    json_walk_open(&w, request, strlen(request), p->arena);
    json_walk_enter(&w, '{');
    while (p->code == OK && (name = json_walk_member(&w))) {
        if (strcmp(name, "snapshot") == 0)
            take_snapshot(p, &w);
        else if (strcmp(name, "speeds") == 0)
            take_speeds(p, &w);
        else if (strcmp(name, "jobs") == 0)
            take_list(p, &w, &jobs);
        else if (strcmp(name, "workflow") == 0)
            take_tasks(p, &w, &jobs);
        else if (queue && strcmp(name, "cluster") == 0)
            take_cluster(p, &w, &running, &reserved);
        else if (queue && strcmp(name, "running") == 0)
            take_list(p, &w, &running);
        else if (queue && strcmp(name, "reservations") == 0)
            take_list(p, &w, &reserved);
        else if (queue && strcmp(name, "processors") == 0)
            p->processors = json_walk_number(&w);
        else if (queue && strcmp(name, "now_s") == 0)
            p->now_s = json_walk_number(&w);
        else
            json_walk_skip(&w);
    }
    TRY(p->code);
    TRY(json_walk_end(&w, "", p->err));
    p->jobs = jobs;
    return queue ? join_queue(p, &jobs, &running, &reserved) : OK;
}

/* ---- bars on resources ---- */

static const char *name_of(struct picture *p, const struct entry *e)
{
    const char *name = e->id ? e->id : "";

    if (e->workflow_id && !p->one_workflow)
        name = arena_printf(p->arena, "%s/%s", e->workflow_id, name);
    return e->copies ? arena_printf(p->arena, "%s%s", name, e->copies) : name;
}

static const char *detail_of(struct picture *p, const struct entry *e)
{
    struct text_buffer b = {.arena = p->arena};
    const char *text;

    if (e->resource_id)
        text_addf(&b, "on %s", e->resource_id);
    for (size_t i = 1; i < e->resource_count && i < NODES_NAMED; i++)
        text_addf(&b, ", %s", e->resource_ids[i]);
    if (e->resource_count > NODES_NAMED)
        text_addf(&b, " and %zu more", e->resource_count - NODES_NAMED);
    if (e->from_id)
        text_addf(&b, "%sfrom %s", b.length ? ", " : "", e->from_id);
    if (e->resource_id && e->slot > 0)
        text_addf(&b, ", slot %.0f", e->slot);
    if (!isnan(e->processors))
        text_addf(&b, "%s%.0f processor%s", b.length ? ", " : "", e->processors,
                  e->processors == 1 ? "" : "s");
    if (e->state)
        text_addf(&b, "%s%s", b.length ? ", " : "", e->state);
    text = text_end(&b);
    return b.length ? text : NULL;
}

static bool has_state(const struct entry *e, const char *state)
{
    return e->state && strcmp(e->state, state) == 0;
}

static enum gantt_state state_of(const struct entry *e)
{
    return has_state(e, "done")                              ? GANTT_DONE
           : has_state(e, "reserved")                        ? GANTT_RESERVED
           : has_state(e, "running") || has_state(e, "runs") ? GANTT_RUNNING
                                                             : GANTT_PLANNED;
}

/* What runs has begun some time, if only now. */
static double start_of(const struct entry *e)
{
    return isnan(e->start_s) && has_state(e, "running") ? 0 : e->start_s;
}

static bool is_late(const struct entry *e)
{
    return finish_or(e, start_of(e)) > e->deadline_s;
}

/* What runs is at now, which is 0, if it does not say how far it is. */
static double progress_of(const struct entry *e)
{
    double start_s = start_of(e), length_s = finish_or(e, start_s) - start_s;

    if (!isnan(e->progress_ratio))
        return e->progress_ratio;
    return length_s > 0 ? fmax(0, fmin(1, -start_s / length_s)) : 0;
}

static bool is_critical(const struct picture *p, const struct entry *e)
{
    return e->id && p->critical_count > 0 &&
           name_index_find(&p->critical, e->id) != NAME_NOT_FOUND;
}

/* Entries by id, of which each is known once. */
static void index_entries(struct picture *p, const struct entries *list,
                          struct name_index *index)
{
    name_index_create(index, list->count, p->arena);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].id)
            name_index_add(index, list->items[i].id, i);
}

static const struct entry *entry_of(const struct entries *list,
                                    const struct name_index *index, const char *id)
{
    size_t at = id && list->count ? name_index_find(index, id) : NAME_NOT_FOUND;

    return at == NAME_NOT_FOUND ? NULL : &list->items[at];
}

/* A component runs as long as its job. */
static void join_component(struct entry *e, const struct entry *job)
{
    e->length_s = job && !isnan(job->length_s) ? job->length_s : HUGE_VAL;
    if (isfinite(e->length_s))
        e->finish_s += e->length_s;
    if (job && job->group)
        e->group = job->group;
}

/* Components whose run time nobody said go on to the edge. */
static void end_components(struct picture *p)
{
    double last_s = 0, edge_s;

    for (size_t i = 0; i < p->entries.count; i++)
        last_s = fmax(last_s, p->entries.items[i].finish_s);
    edge_s = last_s > 0 ? last_s * (1 + EDGE_SHARE) : EDGE_ALONE_S;
    for (size_t i = 0; i < p->entries.count; i++)
        if (isinf(p->entries.items[i].length_s)) {
            p->entries.items[i].finish_s = edge_s;
            p->endless_count++;
        }
}

/* A running job is where the request says; if it stays, its rest takes stay_s. */
static void join_running(struct entry *e, const struct entry *job)
{
    if (!job || !(job->resource_id || job->resource_count))
        return;
    if (e->resource_id) {
        e->from_id = job->resource_id;
        return;
    }
    e->resource_id = job->resource_id;
    e->resource_ids = job->resource_ids;
    e->resource_count = job->resource_count;
    e->start_s = isnan(job->elapsed_s) ? 0 : -job->elapsed_s;
    e->finish_s = e->stay_s;
    e->progress_ratio = job->progress_ratio;
    e->state = "running";
}

/* What the request says of the bars' jobs: their groups and deadlines. */
static void join_jobs(struct picture *p)
{
    struct name_index index;

    index_entries(p, &p->jobs, &index);
    for (size_t i = 0; i < p->entries.count; i++) {
        struct entry *e = &p->entries.items[i];
        bool component = p->subject == COALLOCATION;
        const struct entry *job =
            entry_of(&p->jobs, &index, component ? e->workflow_id : e->id);

        if (component)
            join_component(e, job);
        if (p->subject == JOB_MOVES)
            join_running(e, job);
        if (component)
            continue;
        if (!job)
            continue;
        e->group = e->group ? e->group : job->group;
        if (isnan(e->deadline_s))
            e->deadline_s = job->deadline_s;
        if (isnan(e->progress_ratio))
            e->progress_ratio = job->progress_ratio;
    }
    if (p->subject == COALLOCATION)
        end_components(p);
}

static void find_workflows(struct picture *p)
{
    const char *first = p->entries.count ? p->entries.items[0].workflow_id : NULL;

    p->one_workflow = first != NULL;
    for (size_t i = 0; i < p->entries.count && p->one_workflow; i++)
        p->one_workflow = p->entries.items[i].workflow_id &&
                          strcmp(p->entries.items[i].workflow_id, first) == 0;
}

/* The row of a place of an entry: the resource's, its site's, or the entry's own. */
static const char *row_of(const struct picture *p, const struct name_index *resources,
                          const struct entry *e, const char *resource_id, const char *own)
{
    const struct entry *r;

    if (p->rows_by == BY_JOB || !resource_id)
        return own;
    if (p->rows_by == BY_RESOURCE)
        return resource_id;
    r = entry_of(&p->resources, resources, resource_id);
    return r && r->site_id ? r->site_id : e->site_id ? e->site_id : resource_id;
}

static struct gantt_bar bar_of(struct picture *p, const struct entry *e)
{
    return (struct gantt_bar){.state = state_of(e),
                              .critical = is_critical(p, e),
                              .transfer_from_s = e->transfer_from_s,
                              .transfer_to_s = e->data_ready_s,
                              .id = name_of(p, e),
                              .detail = detail_of(p, e),
                              .group = e->group,
                              .progress_ratio = progress_of(e),
                              .stage_in_s = e->stage_in_s,
                              .late = is_late(e),
                              .row_count = 1,
                              .start_s = start_of(e),
                              .finish_s = finish_or(e, start_of(e))};
}

/* A bar on each node of an entry, once on each row. */
static enum error_code add_bars(struct picture *p, const struct name_index *resources,
                                const struct entry *e, struct gantt_bar *bars,
                                size_t *count)
{
    size_t places = p->rows_by != BY_JOB && e->resource_count ? e->resource_count : 1;
    struct gantt_bar bar = bar_of(p, e);

    for (size_t i = 0; i < places; i++) {
        const char *place = e->resource_count ? e->resource_ids[i] : e->resource_id;

        TRY(json_go_on(ENTRY_STEPS, p->err));
        TRY(add_row(p, row_of(p, resources, e, place, bar.id), &bar.row));
        if (i == 0 || bar.row != bars[*count - 1].row)
            bars[(*count)++] = bar;
    }
    p->by_resource = p->by_resource || e->resource_id;
    return OK;
}

/* Bars for each entry; without resources each has a row of its own. What is there besides
 * begins before the last of them ends, or is left out. */
static enum error_code bars_on_rows(struct picture *p, struct gantt *chart)
{
    struct gantt_bar *bars;
    struct name_index resources;
    size_t size = p->around.count;
    double end_s = 0;

    for (size_t i = 0; i < p->entries.count; i++)
        size += 1 + p->entries.items[i].resource_count;
    bars = NEW(p->arena, struct gantt_bar, size);
    index_entries(p, &p->resources, &resources);
    for (size_t i = 0; i < p->entries.count; i++) {
        const struct entry *e = &p->entries.items[i];

        if (isnan(start_of(e)) || isnan(finish_or(e, start_of(e))))
            continue;
        TRY(add_bars(p, &resources, e, bars, &chart->bar_count));
        p->drawn_count++;
        end_s = fmax(end_s, finish_or(e, start_of(e)));
    }
    for (size_t i = 0; i < p->around.count && p->rows_by == BY_RESOURCE; i++) {
        const struct entry *e = &p->around.items[i];

        if (e->resource_id && e->start_s < end_s && isfinite(finish_or(e, e->start_s)))
            TRY(add_bars(p, &resources, e, bars, &chart->bar_count));
    }
    chart->bars = bars;
    chart->rows = p->rows;
    chart->row_count = p->row_count;
    return p->code;
}

/* Leaves rows without bars out if there are many rows. How many. */
static void drop_idle(struct picture *p, struct gantt *chart, size_t *idle)
{
    struct gantt_bar *bars = (struct gantt_bar *)(void *)chart->bars;
    size_t *number = NEW(p->arena, size_t, chart->row_count + 1);
    const char **rows = NEW(p->arena, const char *, chart->row_count + 1);
    size_t kept = 0;

    *idle = 0;
    if (chart->row_count <= IDLE_ROWS_MAX || chart->bar_count == 0)
        return;
    for (size_t i = 0; i < chart->bar_count; i++)
        number[bars[i].row] = 1;
    for (size_t row = 0; row < chart->row_count; row++) {
        bool used = number[row];

        number[row] = kept;
        if (used)
            rows[kept++] = chart->rows[row];
    }
    for (size_t i = 0; i < chart->bar_count; i++)
        bars[i].row = number[bars[i].row];
    *idle = chart->row_count - kept;
    chart->rows = rows;
    chart->row_count = kept;
}

/* ---- bars on processors ---- */

struct packing {
    double free_s[LANES_MAX]; /* of each lane: when it is free */
    size_t lanes, taken[LANES_MAX];
    double processors_per_lane;
};

static int by_start(const void *x, const void *y)
{
    const struct entry *const *p = x, *const *q = y;

    if ((*p)->start_s != (*q)->start_s)
        return (*p)->start_s < (*q)->start_s ? -1 : 1;
    return *p < *q ? -1 : *p > *q;
}

/* `wanted` lanes for a bar: next to each other if there is such room, else the lowest
 * free ones, else those that are free first. Their numbers in `taken`, rising. */
static void take_lanes(struct packing *k, size_t wanted, double start_s, double finish_s)
{
    double slack_s = 1e-9 * fabs(start_s);
    size_t run = 0, found = 0;

    for (size_t i = 0; i < k->lanes && run < wanted; i++) {
        run = k->free_s[i] <= start_s + slack_s ? run + 1 : 0;
        if (run == wanted)
            for (size_t j = 0; j < wanted; j++)
                k->taken[found++] = i + 1 - wanted + j;
    }
    for (size_t i = 0; i < k->lanes && found < wanted && run < wanted; i++)
        if (k->free_s[i] <= start_s + slack_s)
            k->taken[found++] = i;
    for (size_t i = k->lanes; i-- > 0 && found < wanted;)
        if (k->free_s[i] > start_s + slack_s) { /* rounding: no room */
            k->taken[found++] = i;
        }
    for (size_t i = 0; i < found; i++)
        k->free_s[k->taken[i]] = fmax(k->free_s[k->taken[i]], finish_s);
}

static int by_size(const void *x, const void *y)
{
    const size_t *p = x, *q = y;

    return *p < *q ? -1 : *p > *q;
}

/* Bars of one entry: one for each group of neighbouring lanes. */
static enum error_code add_pieces(struct picture *p, struct packing *k,
                                  const struct entry *e, struct gantt_bar **bars,
                                  size_t *count, size_t *size)
{
    double lanes = fmax(1, round(e->processors / k->processors_per_lane));
    size_t wanted = (size_t)fmin((double)k->lanes, lanes);
    double finish_s = finish_or(e, e->start_s);
    const char *id = name_of(p, e), *detail = detail_of(p, e);

    take_lanes(k, wanted, e->start_s, finish_s);
    qsort(k->taken, wanted, sizeof(k->taken[0]), by_size);
    for (size_t i = 0, end; i < wanted; i = end) {
        for (end = i + 1; end < wanted && k->taken[end] == k->taken[end - 1] + 1; end++)
            ;
        if (*count == *size) {
            struct gantt_bar *grown =
                GROW(p->arena, *bars, struct gantt_bar, *size, *size * 2);

            *bars = grown;
            *size *= 2;
        }
        (*bars)[(*count)++] = (struct gantt_bar){.id = id,
                                                 .detail = detail,
                                                 .row = k->taken[i],
                                                 .row_count = end - i,
                                                 .start_s = e->start_s,
                                                 .finish_s = finish_s,
                                                 .group = e->group,
                                                 .progress_ratio = progress_of(e),
                                                 .late = is_late(e),
                                                 .state = state_of(e)};
    }
    return p->code;
}

/* Names of lanes that stand for several processors: the first of them. */
static void name_lanes(struct picture *p, const struct packing *k, struct gantt *chart)
{
    const char **rows = NEW(p->arena, const char *, k->lanes);

    chart->row_count = k->lanes;
    if (k->processors_per_lane == 1.0)
        return;
    for (size_t i = 0; i < k->lanes; i++) {
        rows[i] =
            arena_printf(p->arena, "%.0f", floor((double)i * k->processors_per_lane));
    }
    chart->rows = rows;
}

/* 1, 2, 5, 10, 20 ... so that there are at most LANES_MAX lanes. */
static double per_lane(double processors)
{
    double count = 1;

    for (int n = 0; processors / count > LANES_MAX; n++)
        count *= n % 3 == 1 ? 2.5 : 2;
    return count;
}

static enum error_code bars_on_processors(struct picture *p, struct gantt *chart)
{
    struct packing *k = NEW(p->arena, struct packing, 1);
    const struct entry **order = NEW(p->arena, const struct entry *, p->entries.count);
    size_t count = 0, size = p->entries.count + 1, placed = 0;
    struct gantt_bar *bars = NEW(p->arena, struct gantt_bar, size);
    double processors = p->processors;

    for (size_t i = 0; i < p->entries.count; i++) {
        const struct entry *e = &p->entries.items[i];

        if (isfinite(e->start_s) && isfinite(finish_or(e, e->start_s)) &&
            e->processors > 0)
            order[count++] = e;
        if (!(processors >= e->processors))
            processors = fmax(1, isnan(e->processors) ? 1 : e->processors);
    }
    k->processors_per_lane = per_lane(processors);
    k->lanes = (size_t)ceil(fmax(1, processors) / k->processors_per_lane);
    for (size_t i = 0; i < k->lanes; i++)
        k->free_s[i] = -HUGE_VAL;
    qsort(order, count, sizeof(const struct entry *), by_start);
    for (size_t i = 0; i < count; i++) {
        TRY(json_go_on(ENTRY_STEPS + 2 * k->lanes, p->err));
        TRY(add_pieces(p, k, order[i], &bars, &placed, &size));
    }
    chart->bars = bars;
    chart->bar_count = placed;
    p->drawn_count = count;
    p->processors = processors;
    name_lanes(p, k, chart);
    return OK;
}

/* ---- the chart ---- */

/* " . name 1 h 5 min", unless it is not known. */
static void add_time(struct text_buffer *b, const char *name, double time_s)
{
    char text[64];

    if (isnan(time_s))
        return;
    duration_text(time_s, text, sizeof(text));
    text_addf(b, " \xc2\xb7 %s %s", name, text);
}

/* "3 jobs", "1 job". */
static void add_count(struct text_buffer *b, size_t count, const char *things)
{
    size_t length = strlen(things);

    text_addf(b, "%zu %.*s", count, (int)(length - (count == 1)), things);
}

/* Of jobs that have so many processors, wherever they are. */
static bool is_on_processors(const struct picture *p)
{
    return !p->on_cluster && (p->subject == QUEUE || !isnan(p->processors));
}

/* What stands below the title. */
static const char *subtitle_of(struct picture *p, const struct gantt *chart, size_t idle)
{
    bool on_processors = is_on_processors(p);
    const char *places = p->subject == COALLOCATION ? "sites" : "resources";
    struct text_buffer b = {.arena = p->arena};

    if (p->drawn_count < p->entries.count)
        text_addf(&b, "%zu of ", p->drawn_count);
    add_count(&b, p->entries.count, subjects[p->subject].things);
    text_addf(&b, " on ");
    if (on_processors)
        text_addf(&b, "%.0f processor%s", p->processors, p->processors == 1 ? "" : "s");
    else if (p->rows_by == BY_JOB && p->by_resource && p->resources.count)
        add_count(&b, p->resources.count, places);
    else
        add_count(&b, chart->row_count + idle,
                  !p->by_resource || p->rows_by == BY_JOB ? "rows"
                  : p->rows_by == BY_SITE                 ? "sites"
                                                          : places);
    if (idle)
        text_addf(&b, ", %zu of them idle and not shown", idle);
    add_time(&b, "makespan", p->makespan_s);
    add_time(&b, "lower bound", p->lower_bound_s);
    if (p->gap_ratio > 0)
        text_addf(&b, " (%.3g %% above it)", 100 * p->gap_ratio);
    add_time(&b, "mean wait", p->mean_wait_s);
    return text_end(&b);
}

/* The bound, and the present if there is a past. Their number. */
static size_t choose_marks(const struct picture *p, const struct gantt *chart,
                           struct gantt_mark *marks)
{
    bool past = false;
    size_t count = 0;

    for (size_t i = 0; i < chart->bar_count; i++)
        past = past || chart->bars[i].start_s < 0;
    if (p->lower_bound_s > 0 && chart->bar_count)
        marks[count++] = (struct gantt_mark){"lower bound", p->lower_bound_s};
    if (past)
        marks[count++] = (struct gantt_mark){"now", 0};
    return count;
}

/* What bars lack; NULL: nothing. */
static const char *lack_of(const struct picture *p)
{
    if (p->subject == COALLOCATION && p->endless_count)
        return arena_printf(p->arena,
                            "%zu without estimate_s: their ends are not known, bars go "
                            "on to the edge.",
                            p->endless_count);
    return p->subject == TASK_MOVES
               ? "What moves is shown, from now to its end. Tasks that stay are not."
               : NULL;
}

/* "Without a place: big (memory), ..."; NULL: all have one. */
static const char *unplaced_of(struct picture *p)
{
    struct text_buffer b = {.arena = p->arena};
    size_t listed = p->unplaced.count, count = listed;

    if (p->unplaced_count > (double)listed)
        count = (size_t)p->unplaced_count;
    if (!count)
        return NULL;
    text_addf(&b, "%zu without a place%s", count, listed ? ":" : "");
    for (size_t i = 0; i < listed && i < UNPLACED_SHOWN; i++) {
        const struct entry *e = &p->unplaced.items[i];

        text_addf(&b, "%s %.60s (%.60s)", i ? "," : "", e->id ? e->id : "",
                  e->reason ? e->reason : "no reason");
    }
    text_addf(&b, "%s",
              listed && (count > listed || listed > UNPLACED_SHOWN) ? " ..." : ".");
    return text_end(&b);
}

static enum error_code draw(struct picture *p, struct text_buffer *b)
{
    struct gantt_mark marks[2];
    const char *by = p->policy ? p->policy : p->algorithm;
    struct gantt_view view;
    struct gantt chart = {.marks = marks, .view = p->view};
    bool on_processors = p->rows_by == BY_RESOURCE && is_on_processors(p);
    const char *remarks[2], *unplaced = unplaced_of(p), *lack;
    size_t idle = 0;

    join_jobs(p);
    find_workflows(p);
    lack = lack_of(p);
    if (p->subject == COALLOCATION) { /* transfers begin at the placement, claims later */
        view = p->view ? *p->view : (struct gantt_view){.from_s = NAN, .to_s = NAN};
        view.from_s = isnan(view.from_s) ? 0 : view.from_s;
        chart.view = &view;
    }
    chart.remarks = remarks;
    if (unplaced)
        remarks[chart.remark_count++] = unplaced;
    if (lack)
        remarks[chart.remark_count++] = lack;
    if (on_processors) {
        TRY(bars_on_processors(p, &chart));
    } else {
        TRY(bars_on_rows(p, &chart));
        drop_idle(p, &chart, &idle);
        chart.mark_count = choose_marks(p, &chart, marks);
    }
    chart.numbered = on_processors;
    chart.title = arena_printf(p->arena, "%s%s%s", subjects[p->subject].title,
                               !by                        ? ""
                               : p->subject >= SIMULATION ? ": "
                                                          : " by ",
                               by ? by : "");
    chart.subtitle = subtitle_of(p, &chart, idle);
    TRY(p->code);
    return p->terminal ? gantt_print_terminal(&chart, p->terminal, b, p->arena, p->err)
                       : gantt_print(&chart, b, p->err);
}

/* Why there is nothing to draw; NULL: there is something. What a round places has no
 * start and no finish. */
static const char *why_blank(const struct picture *p)
{
    if (is_kind(p, "round"))
        return ": a round says what to do now, a schedule has times";
    if (p->rows_missing && (p->subject == SIMULATION || p->subject == WORKFLOWS))
        return ": ask for its rows (per_job, output.per_job, per_workflow)";
    return p->subject == NOTHING ? ": those of placements, workflow-schedules, "
                                   "queue-orders, parallel-schedules, "
                                   "rescheduling-plans, coallocations, reschedules "
                                   "(phase_end, running_jobs, workflow_round) and "
                                   "simulations have times"
                                 : NULL;
}

/* Draws into `b`. */
static enum error_code draw_answer(struct request *rq, const char *request,
                                   const char *snapshot, const char *answer,
                                   const struct gantt_terminal *terminal,
                                   const struct gantt_view *view, enum rows_by rows_by,
                                   struct text_buffer *b)
{
    struct picture p = {
        .arena = rq->arena,
        .err = rq->err,
        .makespan_s = NAN,
        .lower_bound_s = NAN,
        .gap_ratio = NAN,
        .mean_wait_s = NAN,
        .processors = NAN,
        .now_s = NAN,
        .terminal = terminal,
        .view = view,
        .rows_by = rows_by,
    };
    struct json_walk w;
    const char *hint;

    TRY(read_answer(&p, answer));
    hint = why_blank(&p);
    if (hint)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "there is nothing to draw in this answer%s; accept application/json",
                    hint);
    if (request)
        TRY(read_request(&p, request));
    if (snapshot) {
        json_walk_open(&w, snapshot, strlen(snapshot), rq->arena);
        take_snapshot(&p, &w);
    }
    TRY(p.code);
    return draw(&p, b);
}

enum error_code picture_stored(struct request *rq, const char *request,
                               const char *snapshot, const char *answer)
{
    struct text_buffer b = {.arena = rq->arena};

    TRY(draw_answer(rq, request, snapshot, answer, NULL, NULL, BY_RESOURCE, &b));
    request_answer_as(rq, ANSWER_CHART, b.data, b.length);
    return OK;
}

/* ---- a picture at an address of its own ---- */

static const char *const modes[] = {"auto", "bars", "summary", NULL};
static const char *const row_kinds[] = {"resource", "site", "job", NULL};
static const char *const themes[] = {"auto", "light", "dark", NULL};

#define T struct chart_query
static const struct json_field chart_rows[] = {
    JSON_CHOICE(T, rows, row_kinds, BY_RESOURCE, 0,
                "What a row is: a resource (or processor), a site, or a job"),
    JSON_INTEGER(T, width, GANTT_WIDTH_MIN, GANTT_WIDTH_MAX, GANTT_WIDTH, 0,
                 "Width of the picture in pixels"),
    JSON_NUMBER(
        T, from_s, -JSON_LARGEST, JSON_LARGEST, NAN, 0,
        "From this time on, as the answer counts it; default: from the first bar"),
    JSON_NUMBER(T, to_s, -JSON_LARGEST, JSON_LARGEST, NAN, 0,
                "Up to this time; default: to the last bar"),
    JSON_CHOICE(
        T, mode, modes, GANTT_AUTO, 0,
        "bars, or a summary of how busy rows are; auto: above 1,000 bars the latter"),
    JSON_CHOICE(T, theme, themes, GANTT_READERS, 0,
                "light or dark; auto: as the reader likes it"),
    JSON_BOOLEAN(T, critical, 1, 0, "Whether the chain that ends last is marked"),
    JSON_BOOLEAN(T, transfers, 1, 0, "Whether transfers of inputs are drawn"),
    {0},
};
#undef T
const struct json_object chart_query_json = {"ChartQuery", "What is drawn, and how",
                                             sizeof(struct chart_query), chart_rows};

enum error_code picture_reply(struct request *rq, const char *request,
                              const char *snapshot, const char *answer)
{
    const struct chart_query *q = rq->query;
    const struct gantt_view view = {
        q->from_s,    q->to_s,       (enum gantt_mode)q->mode, (enum gantt_theme)q->theme,
        !q->critical, !q->transfers, (double)q->width};
    struct text_buffer b = {.arena = rq->arena};

    if (q->from_s >= q->to_s)
        return invalid(rq->err, "?/to_s", ITEM_OUT_OF_BOUNDS, "to_s is not above from_s");
    TRY(draw_answer(rq, request, snapshot, answer, NULL, &view, (enum rows_by)q->rows,
                    &b));
    rq->reply->content_type = "image/svg+xml";
    rq->reply->body = text_end(&b);
    rq->reply->body_length = b.length;
    return OK;
}

enum error_code picture_terminal(struct request *rq, const char *request,
                                 const char *answer, const struct ask_look *look,
                                 const char **text)
{
    const struct gantt_terminal how = {look->width, look->utf8, look->colour};
    struct text_buffer b = {.arena = rq->arena};

    TRY(draw_answer(rq, request, NULL, answer, &how, NULL, BY_RESOURCE, &b));
    *text = text_end(&b);
    return OK;
}

enum error_code picture_answer(struct request *rq, const void *out)
{
    struct text_buffer b = {.arena = rq->arena};

    enum answer_form form = request_answer_form(rq);

    if (form == ANSWER_GRAPH && !rq->drawn.text)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "there is no graph of this answer; accept application/json");
    if (form != ANSWER_CHART || rq->reply->body)
        return OK;
    json_print(rq->route->response, out, &b);
    return picture_stored(rq, rq->body, rq->snapshot_document, text_end(&b));
}
