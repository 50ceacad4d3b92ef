/* placement/reasons.c - why a job was not placed.
 *
 * One reason a filter that dropped resources, with their number; the requirement also
 * with its clauses and the nearest miss: the resource with the fewest untrue clauses,
 * then the least shortfall, then the first. Too few cpus and too little memory are one
 * reason, with the counts of each; its nearest miss is the resource with the most of the
 * one that is short there alone, shortfall (need - has) / max(need, 1).
 *
 * Counts are exact at any size (need_counts.h). Two things are not: beyond so many looks
 * clauses and nearest miss of further requirements are left out, with a warning, and
 * jobs with files or outputs have the reason `not_counted`. Nor are they when the time is
 * up: beyond the first EXPLAINED_ALWAYS jobs there is then only what the policy noted of
 * each, or `not_counted`, with a warning.
 *
 * Source: spec gridway.md 2.3; world-model.md 7.1, 8.3.
 */
#include "algorithms/placement/reasons.h"

#include "algorithms/placement/need_counts.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/select.h"
#include "algorithms/world/world.h"
#include "models/base/plural.h"
#include "models/reason_tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLAUSES_MAX = 32,               /* listed, those untrue on most resources */
    WORK_MAX = 50 * 1000 * 1000,    /* looks for clauses, over all requirements, */
    LATE_WORK_MAX = 1 << 15,        /* and when the time is up */
    CLAUSE_STEPS = 8,               /* what one costs, about */
    REASONS_MAX = FILTER_COUNT + 2, /* of one job */
    EXAMPLES_MAX = 10,              /* ids of an unplaced class */
    EXPLAINED_ALWAYS = 100          /* jobs, also when the time is up */
};

static const struct {
    const char *name, *detail;
} filters[] =
    {
#define X(symbol, name, detail) {name, detail},
        FILTERS(X)
#undef X
},
  waits[] = {
#define X(symbol, name, detail) {name, detail},
      PLAN_WAITS(X)
#undef X
};

const char *const placement_reason_names[] = {PLACEMENT_REASON_WORDS, NULL};

/* What is known of the requirement of a class. */
struct class_reason {
    bool known, omitted;
    const struct placement_clause *clauses;
    size_t clause_count;
    const struct placement_nearest_miss *miss;
};

/* The reasons of jobs of a stream with the same wait. */
struct wait_reason {
    const struct placement_reason *reasons;
    size_t count;
    size_t group; /* number of reasoner.groups */
    size_t main;  /* the cause of waiting, else the filter that dropped most */
    bool is_skipped;
};

struct reasoner {
    const struct placement_plan *plan;
    struct need_counter *counter;
    size_t work;
    size_t omitted_count;                  /* jobs whose clauses were left out */
    size_t explained_count, skipped_count; /* jobs with reasons, and without for lack of
                                              time */
    struct class_reason *classes;
    struct placement_unplaced_class *groups; /* jobs with equal reasons and needs */
    size_t group_count, group_room;
    struct pair_map group_at; /* of a hash and 0, 1, ... */
};

static int by_untrue(const void *a, const void *b)
{
    const struct placement_clause *x = a, *y = b;

    if (x->untrue_count != y->untrue_count)
        return x->untrue_count > y->untrue_count ? -1 : 1;
    return (x > y) - (x < y);
}

static void list_clauses(const struct reasoner *w, const struct expr *e,
                         const struct expr_tally *tally, struct class_reason *r)
{
    struct placement_clause *clauses =
        NEW(w->plan->arena, struct placement_clause, e->clause_count);
    size_t count = 0;

    for (size_t i = 0; i < e->clause_count; i++)
        if (tally[i].untrue || e->clause_count <= CLAUSES_MAX)
            clauses[count++] = (struct placement_clause){e->clauses[i].text,
                                                         tally[i].untrue, tally[i].alone};
    if (count > CLAUSES_MAX) {
        qsort(clauses, count, sizeof(*clauses), by_untrue);
        count = CLAUSES_MAX;
    }
    r->clauses = clauses;
    r->clause_count = count;
}

static void note_miss(const struct reasoner *w, size_t pos, double shortfall,
                      const struct placement_nearest_miss **out)
{
    struct placement_nearest_miss *m =
        NEW(w->plan->arena, struct placement_nearest_miss, 1);

    m->resource_id = w->plan->problem->resources[pos].given->id;
    m->shortfall = shortfall < LONGEST_S ? shortfall : LONGEST_S;
    *out = m;
}

/* Clauses and nearest miss over the resources that the requirement dropped. */
static void explain_requirement(struct reasoner *w, size_t class_index)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_class *c = &p->classes[class_index];
    const struct expr *e = select_requirement(p, c->example);
    struct class_reason *r = &w->classes[class_index];
    struct expr_tally *tally = NEW(w->plan->arena, struct expr_tally, e->clause_count);
    struct expr_miss best = {0};
    size_t best_pos = NO_INDEX;

    r->known = true;
    r->omitted = p->resource_count * (1 + e->clause_count) > WORK_MAX - w->work;
    if (r->omitted)
        return;
    for (size_t i = 0; i < p->resource_count; i++) {
        size_t pos = p->position_of[i];
        struct select_state state = {0};
        struct expr_miss miss;

        w->work += 1 + e->clause_count;
        r->omitted = budget_step(p->in->budget, CLAUSE_STEPS * (1 + e->clause_count)) &&
                     w->work > LATE_WORK_MAX;
        if (r->omitted)
            return;
        if (!problem_class_unmet(c, pos))
            continue;
        if (e->on_plan)
            state = select_state_now(p, c->example, pos);
        miss = expr_tally_add(e, select_values(p, e, c->example, pos, &state), tally);
        if (best_pos == NO_INDEX || expr_miss_nearer(&miss, &best)) {
            best = miss;
            best_pos = pos;
        }
    }
    if (best_pos != NO_INDEX)
        note_miss(w, best_pos, best.shortfall, &r->miss);
    list_clauses(w, e, tally, r);
}

static void add_short(const struct need_short *s, const char *name, double needed,
                      struct placement_amount *list, size_t *count)
{
    if (s->count)
        list[(*count)++] = (struct placement_amount){
            .name = name,
            .needed = needed,
            .short_count = s->count,
            .alone_count = s->alone,
            .largest = s->largest < HUGE_VAL ? s->largest : (double)NAN,
        };
}

/* Of which amounts resources have too little, and the one that came nearest: by one
 * amount alone if there is such a one. */
static void note_short(const struct reasoner *w, const struct problem_job *j,
                       const struct need_counts *n, struct placement_reason *r)
{
    const struct problem_resource *has = w->plan->problem->resources;
    struct placement_amount *list = NEW(w->plan->arena, struct placement_amount, 2);
    double few = HUGE_VAL, little = HUGE_VAL;

    add_short(&n->cpus, "cpus", j->cpus, list, &r->amount_count);
    add_short(&n->memory, "memory_bytes", j->memory_bytes, list, &r->amount_count);
    r->amounts = list;
    if (!n->memory.count)
        r->detail = "the job needs more cpus than the resource has";
    if (!n->cpus.count)
        r->detail = "the job needs more memory than the resource has";
    if (n->cpus.count)
        few = (j->cpus - has[n->cpus.nearest].cpus) / fmax(j->cpus, 1);
    if (n->memory.count)
        little = (j->memory_bytes - has[n->memory.nearest].memory_bytes) /
                 fmax(j->memory_bytes, 1);
    if (little < few ? n->memory.alone || !n->cpus.alone
                     : n->memory.alone && !n->cpus.alone)
        note_miss(w, n->memory.nearest, little, &r->nearest_miss);
    else
        note_miss(w, n->cpus.nearest, few, &r->nearest_miss);
}

static void filter_reason(struct reasoner *w, size_t job, enum filter f,
                          const struct need_counts *n, size_t count,
                          struct placement_reason *r)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_class *c = &p->classes[j->job_class];
    const struct class_reason *known = &w->classes[j->job_class];

    r->reason = filters[f].name;
    r->detail = filters[f].detail;
    r->resource_count = count;
    if (f == FILTER_CPUS)
        note_short(w, j, n, r);
    if (f != FILTER_REQUIREMENT)
        return;
    if (!known->known)
        explain_requirement(w, j->job_class);
    r->clauses = known->clauses;
    r->clause_count = known->clause_count;
    r->nearest_miss = known->miss;
    if (c->undefined_count) {
        r->detail = arena_printf(w->plan->arena,
                                 "the requirement is not true there; on %zu of them it "
                                 "is undefined, because a name has no value",
                                 c->undefined_count);
    }
}

/* Why jobs of a class wait that was not looked at for lack of time, or none. */
static enum plan_wait wait_of(const struct reasoner *w, size_t job,
                              const struct need_counts *n)
{
    const struct placement_problem *p = w->plan->problem;
    enum plan_wait wait = w->plan->entries[job].wait;

    if (p->classes[p->jobs[job].job_class].cut)
        return WAIT_OUT_OF_TIME;
    return wait == WAIT_NO_FREE_SLOT && n->passed == 0 ? WAIT_NONE : wait;
}

static size_t most_dropped(const struct placement_reason *reasons, size_t count)
{
    size_t most = 0;

    for (size_t k = 1; k < count; k++)
        if (reasons[k].resource_count > reasons[most].resource_count)
            most = k;
    return most;
}

static void explain(struct reasoner *w, size_t job, struct wait_reason *s)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];
    struct placement_reason *r =
        NEW(w->plan->arena, struct placement_reason, REASONS_MAX);
    struct need_counts n;
    enum plan_wait wait;
    size_t count = 0;

    need_counts_of(w->counter, job, &n);
    wait = wait_of(w, job, &n);
    if (wait == WAIT_NONE) /* what is there is held for ever */
        n.dropped[FILTER_NEVER_FREE] += n.passed;
    for (enum filter f = 0; f < FILTER_COUNT; f++) {
        size_t dropped = c->dropped[f] + n.dropped[f];

        if (f == FILTER_CPUS)
            dropped += n.dropped[FILTER_MEMORY];
        if (dropped && f != FILTER_MEMORY)
            filter_reason(w, job, f, &n, dropped, &r[count++]);
    }
    if (!n.known)
        r[count++] = (struct placement_reason){
            .reason = REASON_NOT_COUNTED,
            .detail =
                "cpus, memory, run time, files and slots were not counted: too many "
                "jobs with files or outputs have no place",
            .resource_count = c->passed_count};
    if (wait != WAIT_NONE)
        r[count++] = (struct placement_reason){.reason = waits[wait].name,
                                               .detail = waits[wait].detail,
                                               .resource_count = n.passed};
    if (count == 0)
        r[count++] =
            (struct placement_reason){.reason = REASON_NO_RESOURCE,
                                      .detail = "the snapshot has no resource for it"};
    *s = (struct wait_reason){
        .reasons = r,
        .count = count,
        .main = wait != WAIT_NONE || n.dropped[FILTER_NEVER_FREE]
                    ? count - 1
                    : most_dropped(r, count),
    };
}

/* ---- jobs with equal reasons and needs ---- */

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3U;
    return hash ^ hash >> 29;
}

static uint64_t group_hash(const struct placement_unplaced_class *g)
{
    uint64_t hash = mix(0xcbf29ce484222325U, &g->cpus, sizeof(g->cpus));

    hash = mix(hash, &g->memory_bytes, sizeof(g->memory_bytes));
    for (size_t i = 0; i < g->reason_count; i++) {
        const struct placement_reason *r = &g->reasons[i];

        hash = mix(hash, r->reason, strlen(r->reason));
        hash = mix(hash, &r->resource_count, sizeof(r->resource_count));
        hash = mix(hash, &r->clauses, sizeof(r->clauses));
    }
    return hash;
}

static bool same_miss(const struct placement_nearest_miss *a,
                      const struct placement_nearest_miss *b)
{
    if (!a || !b)
        return a == b;
    return a->shortfall == b->shortfall && strcmp(a->resource_id, b->resource_id) == 0;
}

static bool same_amounts(const struct placement_reason *a,
                         const struct placement_reason *b)
{
    if (a->amount_count != b->amount_count)
        return false;
    for (size_t k = 0; k < a->amount_count; k++)
        if (strcmp(a->amounts[k].name, b->amounts[k].name) != 0 ||
            a->amounts[k].short_count != b->amounts[k].short_count ||
            a->amounts[k].alone_count != b->amounts[k].alone_count)
            return false;
    return true;
}

static bool same_group(const struct placement_unplaced_class *a,
                       const struct placement_unplaced_class *b)
{
    if (a->cpus != b->cpus || a->memory_bytes != b->memory_bytes ||
        a->reason_count != b->reason_count)
        return false;
    for (size_t i = 0; i < a->reason_count; i++) {
        const struct placement_reason *x = &a->reasons[i], *y = &b->reasons[i];

        if (strcmp(x->reason, y->reason) != 0 || strcmp(x->detail, y->detail) != 0 ||
            x->resource_count != y->resource_count || x->clauses != y->clauses ||
            !same_miss(x->nearest_miss, y->nearest_miss) || !same_amounts(x, y))
            return false;
    }
    return true;
}

/* The number of the group of such jobs, a new one for new reasons. */
static void find_group(struct reasoner *w, size_t job, struct wait_reason *s)
{
    const struct problem_job *j = &w->plan->problem->jobs[job];
    struct placement_unplaced_class fresh = {
        .example_job_id = j->given->id,
        .cpus = j->cpus,
        .memory_bytes = j->memory_bytes,
        .reasons = s->reasons,
        .reason_count = s->count,
    };
    size_t hash = (size_t)(group_hash(&fresh) >> 1), nth = 0;
    struct pair_place *place = pair_map_at(&w->group_at, hash, nth);

    while (place->a && !same_group(&w->groups[place->value], &fresh))
        place = pair_map_at(&w->group_at, hash, ++nth);
    s->group = place->value;
    if (place->a)
        return;
    if (w->group_count == w->group_room) {
        size_t room = w->group_room ? 2 * w->group_room : 16;

        w->groups = GROW(w->plan->arena, w->groups, struct placement_unplaced_class,
                         w->group_count, room);
        w->group_room = room;
    }
    s->group = w->group_count++;
    w->groups[s->group] = fresh;
    *place = (struct pair_place){hash + 1, nth, s->group};
}

/* Instead of explain(), without looking at a resource. */
static void explain_not(struct reasoner *w, size_t job, struct wait_reason *s)
{
    const struct placement_problem *p = w->plan->problem;
    struct placement_reason *r = NEW(w->plan->arena, struct placement_reason, 1);
    enum plan_wait wait = p->classes[p->jobs[job].job_class].cut
                              ? WAIT_OUT_OF_TIME
                              : w->plan->entries[job].wait;

    if (wait == WAIT_NO_FREE_SLOT) /* perhaps it passes nowhere */
        wait = WAIT_NONE;
    r->reason = wait == WAIT_NONE ? REASON_NOT_COUNTED : waits[wait].name;
    r->detail = wait == WAIT_NONE ? "the time was up before its reasons were looked for"
                                  : waits[wait].detail;
    *s = (struct wait_reason){.reasons = r, .count = 1, .is_skipped = true};
}

/* Whether there is time to look for the job's reasons; the first ones are told in full,
 * however late it is. */
static bool may_explain(const struct reasoner *w, size_t job)
{
    const struct placement_problem *p = w->plan->problem;
    size_t words = p->jobs[job].etc_s || p->has_files || p->has_outputs ? BLOCK : 8;

    return !budget_step(p->in->budget, words * p->block_count) ||
           w->explained_count < EXPLAINED_ALWAYS;
}

/* The reasons of every job of the stream that has no place; number[job] is its number
 * among such jobs. */
static void explain_stream(struct reasoner *w, const struct problem_stream *stream,
                           const size_t *number, struct placement_unplaced *list,
                           size_t *group_of)
{
    const struct placement_problem *p = w->plan->problem;
    struct wait_reason known[PLAN_WAIT_COUNT] = {0};

    for (size_t i = 0; i < stream->count; i++) {
        size_t job = p->stream_jobs[stream->first + i];
        const struct plan_entry *e = &w->plan->entries[job];
        struct wait_reason *s = &known[e->wait];

        if (e->pos != NO_INDEX || job >= problem_pending(p))
            continue;
        if (!s->reasons) {
            if (may_explain(w, job))
                explain(w, job, s);
            else
                explain_not(w, job, s);
            find_group(w, job, s);
        }
        w->explained_count += !s->is_skipped;
        w->skipped_count += s->is_skipped;
        list[number[job]] = (struct placement_unplaced){
            p->jobs[job].given->id, p->resource_count, s->reasons, s->count, s->main, job,
            PLACEMENT_NO_COPIES};
        group_of[number[job]] = s->group;
        w->groups[s->group].job_count++;
        w->omitted_count += w->classes[p->jobs[job].job_class].omitted;
    }
}

/* The groups in the order of their first jobs, with some ids of these. */
static void list_groups(struct reasoner *w, const size_t *group_of,
                        struct placement_out *out)
{
    struct arena *a = w->plan->arena;
    struct placement_unplaced_class *list =
        NEW(a, struct placement_unplaced_class, w->group_count);
    const char ***ids = NEW(a, const char **, w->group_count);
    size_t *place = NEW(a, size_t, w->group_count), filled = 0;

    assert(w->groups || out->unplaced_count == 0); /* each job has a group */
    for (size_t i = 0; i < out->unplaced_count; i++) {
        size_t group = group_of[i];
        struct placement_unplaced_class *g;

        if (!ids[group]) {
            uint64_t jobs = w->groups[group].job_count;

            place[group] = filled;
            list[filled++] = w->groups[group];
            ids[group] = NEW(a, const char *, jobs < EXAMPLES_MAX ? jobs : EXAMPLES_MAX);
        }
        g = &list[place[group]];
        if (g->id_count == 0)
            g->example_job_id = out->unplaced[i].job_id;
        g->job_ids = ids[group];
        if (g->id_count < EXAMPLES_MAX &&
            (g->id_count == 0 || ids[group][g->id_count - 1] != out->unplaced[i].job_id))
            ids[group][g->id_count++] = out->unplaced[i].job_id; /* of copies once */
    }
    out->unplaced_classes = list;
    out->unplaced_class_count = filled;
}

static void create(struct reasoner *w, bool estimate, size_t unplaced)
{
    const struct placement_problem *p = w->plan->problem;
    size_t kinds = p->stream_count * PLAN_WAIT_COUNT;

    w->counter = need_counter_create(p, estimate, w->plan->arena);
    w->classes = NEW(w->plan->arena, struct class_reason, p->class_count);
    pair_map_create(&w->group_at, kinds < unplaced ? kinds : unplaced, w->plan->arena);
}

/* What is left out of the reasons. */
static void warn_of_rest(const struct reasoner *w)
{
    struct placement_problem *p = w->plan->problem;

    if (w->omitted_count)
        problem_warn(p,
                     "nearest_miss_omitted: clauses and nearest miss of %s without "
                     "a place are left out, there are too many different requirements",
                     counted(w->omitted_count, "job").text);
    if (w->skipped_count)
        problem_warn(p,
                     "explained: %zu of %s without a place; the time was up before the "
                     "reasons of the %s were looked for",
                     w->explained_count,
                     counted(w->explained_count + w->skipped_count, "job").text,
                     plural(w->skipped_count, "other", "others"));
}

void reasons_fill(const struct placement_plan *plan, bool estimate,
                  struct placement_out *out)
{
    struct placement_problem *p = plan->problem;
    size_t count = problem_pending(p) - plan->placed_count, filled = 0;
    struct placement_unplaced *list = NEW(plan->arena, struct placement_unplaced, count);
    size_t *group_of = NEW(plan->arena, size_t, count), *number;
    struct reasoner w = {.plan = plan};

    out->unplaced = list;
    out->unplaced_count = count;
    if (count == 0)
        return;
    number = NEW(plan->arena, size_t, p->job_count);
    for (size_t i = 0; i < problem_pending(p); i++) {
        number[i] = filled;
        filled += plan->entries[i].pos == NO_INDEX;
    }
    create(&w, estimate, count);
    for (size_t i = 0; i < p->stream_count; i++)
        explain_stream(&w, &p->streams[i], number, list, group_of);
    list_groups(&w, group_of, out);
    warn_of_rest(&w);
}

void reasons_warn_unplaced(struct placement_problem *p,
                           const struct placement_unplaced *list, size_t count)
{
    struct reason_tally tally = {0};

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        budget_step(p->in->budget, 1);
        reason_tally_add(&tally, list[i].reasons[list[i].main_reason].reason);
    }
    problem_warn(p, "%s", reason_tally_text(&tally, p->arena));
}

/* ---- for plans of amounts ---- */

struct reasoner *reasons_start(struct placement_problem *p)
{
    struct placement_plan *plan = NEW(p->arena, struct placement_plan, 1);
    struct reasoner *w = NEW(p->arena, struct reasoner, 1);

    plan->problem = p;
    plan->arena = p->arena;
    w->plan = plan;
    w->classes = NEW(p->arena, struct class_reason, p->class_count);
    return w;
}

size_t reasons_of_class(struct reasoner *w, size_t job_class,
                        struct placement_reason *list)
{
    const struct problem_class *c = &w->plan->problem->classes[job_class];
    size_t count = 0;

    for (enum filter f = 0; f <= FILTER_REQUIREMENT; f++) {
        if (!c->dropped[f])
            continue;
        list[count] = (struct placement_reason){0};
        filter_reason(w, c->example, f, NULL, c->dropped[f], &list[count++]);
    }
    return count;
}
