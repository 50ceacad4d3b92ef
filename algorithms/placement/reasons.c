/* placement/reasons.c - why a job was not placed.
 *
 * One reason a filter that dropped resources, with their number; the requirement also
 * with its clauses and the nearest miss: the resource with the fewest untrue clauses,
 * then the least shortfall, then the first. For cpus and memory the nearest miss is
 * the resource with the most of it, shortfall (need - has) / need.
 *
 * Source: spec gridway.md 2.3.
 */
#include "algorithms/placement/reasons.h"

#include "algorithms/placement/select.h"

#include <stdlib.h>

enum {
    CLAUSES_MAX = 32,              /* listed, those untrue on most resources */
    WORK_MAX = 50 * 1000 * 1000,   /* looks at a resource, over all jobs */
    REASONS_MAX = FILTER_COUNT + 2 /* of one job */
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

/* What is known of the requirement of a class. */
struct class_reason {
    bool known;
    const struct placement_clause *clauses;
    size_t clause_count;
    const struct placement_nearest_miss *miss;
};

/* Reasons of the stream's jobs with the same wait. */
struct stream_reason {
    const struct placement_reason *reasons;
    size_t count;
    enum plan_wait wait;
};

struct reasoner {
    const struct placement_plan *plan;
    bool estimate;
    size_t work;
    struct class_reason *classes;
    struct stream_reason *streams;
};

static int by_untrue(const void *a, const void *b)
{
    const struct placement_clause *x = a, *y = b;

    if (x->untrue_count != y->untrue_count)
        return x->untrue_count > y->untrue_count ? -1 : 1;
    return (x > y) - (x < y);
}

static enum error_code list_clauses(const struct reasoner *w, const struct expr *e,
                                    const struct expr_tally *tally,
                                    struct class_reason *r, struct error *err)
{
    struct placement_clause *clauses =
        NEW(w->plan->arena, struct placement_clause, e->clause_count);
    size_t count = 0;

    if (!clauses)
        return fail_memory(err);
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
    return OK;
}

static enum error_code note_miss(const struct reasoner *w, size_t pos, double shortfall,
                                 const struct placement_nearest_miss **out,
                                 struct error *err)
{
    struct placement_nearest_miss *m =
        NEW(w->plan->arena, struct placement_nearest_miss, 1);

    if (!m)
        return fail_memory(err);
    m->resource_id = w->plan->problem->resources[pos].given->id;
    m->shortfall = shortfall < LONGEST_S ? shortfall : LONGEST_S;
    *out = m;
    return OK;
}

/* Clauses and nearest miss over the resources that the requirement dropped. */
static enum error_code explain_requirement(struct reasoner *w, size_t class_index,
                                           struct error *err)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_class *c = &p->classes[class_index];
    const struct expr *e = select_requirement(p, c->example);
    struct class_reason *r = &w->classes[class_index];
    struct expr_tally *tally = NEW(w->plan->arena, struct expr_tally, e->clause_count);
    struct expr_miss best = {0};
    size_t best_pos = NO_INDEX;

    r->known = true;
    if (!tally)
        return fail_memory(err);
    for (size_t i = 0; i < p->resource_count && w->work < WORK_MAX; i++) {
        size_t pos = p->position_of[i];
        struct select_state state = {0};
        struct expr_miss miss;

        w->work += 1 + e->clause_count;
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
        TRY(note_miss(w, best_pos, best.shortfall, &r->miss, err));
    return list_clauses(w, e, tally, r, err);
}

/* Counts over the resources that the class's filters left. */
struct need_counts {
    size_t dropped[FILTER_COUNT], passed;
    size_t most_cpus, most_memory; /* positions; NO_INDEX: none was dropped for it */
};

static void count_needs(struct reasoner *w, size_t job, struct need_counts *n)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];

    *n = (struct need_counts){.most_cpus = NO_INDEX, .most_memory = NO_INDEX};
    for (size_t i = 0; i < p->resource_count && c->passed_count; i++) {
        size_t pos = p->position_of[i];
        enum filter f;

        if (!problem_class_has(c, pos))
            continue;
        f = problem_need_filter(p, &p->jobs[job], pos, w->estimate);
        if (f == FILTER_PASSED) {
            n->passed++;
            continue;
        }
        n->dropped[f]++;
        if (f == FILTER_CPUS &&
            (n->most_cpus == NO_INDEX ||
             p->resources[pos].cpus > p->resources[n->most_cpus].cpus))
            n->most_cpus = pos;
        if (f == FILTER_MEMORY &&
            (n->most_memory == NO_INDEX ||
             p->resources[pos].memory_bytes > p->resources[n->most_memory].memory_bytes))
            n->most_memory = pos;
    }
    w->work += p->resource_count;
}

static enum error_code filter_reason(struct reasoner *w, size_t job, enum filter f,
                                     const struct need_counts *n, size_t count,
                                     struct placement_reason *r, struct error *err)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_class *c = &p->classes[j->job_class];
    const struct class_reason *known = &w->classes[j->job_class];

    r->reason = filters[f].name;
    r->detail = filters[f].detail;
    r->resource_count = count;
    if (f == FILTER_CPUS)
        TRY(note_miss(w, n->most_cpus,
                      (j->cpus - p->resources[n->most_cpus].cpus) / fmax(j->cpus, 1),
                      &r->nearest_miss, err));
    if (f == FILTER_MEMORY)
        TRY(note_miss(w, n->most_memory,
                      (j->memory_bytes - p->resources[n->most_memory].memory_bytes) /
                          fmax(j->memory_bytes, 1),
                      &r->nearest_miss, err));
    if (f != FILTER_REQUIREMENT)
        return OK;
    if (!known->known)
        TRY(explain_requirement(w, j->job_class, err));
    r->clauses = known->clauses;
    r->clause_count = known->clause_count;
    r->nearest_miss = known->miss;
    if (c->undefined_count) {
        r->detail = arena_printf(w->plan->arena,
                                 "the requirement is not true there; on %zu of them it "
                                 "is undefined, because a name has no value",
                                 c->undefined_count);
        if (!r->detail)
            return fail_memory(err);
    }
    return OK;
}

static enum error_code explain(struct reasoner *w, size_t job, struct stream_reason *s,
                               struct error *err)
{
    const struct placement_problem *p = w->plan->problem;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];
    enum plan_wait wait = w->plan->entries[job].wait;
    struct placement_reason *r =
        NEW(w->plan->arena, struct placement_reason, REASONS_MAX);
    struct need_counts n = {0};
    size_t count = 0;

    if (!r)
        return fail_memory(err);
    if (w->work < WORK_MAX)
        count_needs(w, job, &n);
    if (wait == WAIT_NONE && c->cut)
        wait = WAIT_OUT_OF_TIME;
    if (wait == WAIT_NO_FREE_SLOT && n.passed == 0)
        wait = WAIT_NONE;
    if (wait == WAIT_NONE) /* what is there is held for ever */
        n.dropped[FILTER_NEVER_FREE] += n.passed;
    for (enum filter f = 0; f < FILTER_COUNT; f++) {
        size_t dropped = c->dropped[f] + n.dropped[f];

        if (dropped)
            TRY(filter_reason(w, job, f, &n, dropped, &r[count++], err));
    }
    if (wait != WAIT_NONE)
        r[count++] = (struct placement_reason){.reason = waits[wait].name,
                                               .detail = waits[wait].detail,
                                               .resource_count = n.passed};
    if (count == 0)
        r[count++] = (struct placement_reason){
            .reason = "no_resource", .detail = "the snapshot has no resource for it"};
    *s = (struct stream_reason){r, count, w->plan->entries[job].wait};
    return OK;
}

enum error_code reasons_fill(const struct placement_plan *plan, bool estimate,
                             const struct placement_unplaced **unplaced, size_t *count,
                             struct error *err)
{
    const struct placement_problem *p = plan->problem;
    struct reasoner w = {.plan = plan, .estimate = estimate};
    struct placement_unplaced *list = NEW(plan->arena, struct placement_unplaced,
                                          problem_pending(p) - plan->placed_count);
    size_t filled = 0;

    w.classes = NEW(plan->arena, struct class_reason, p->class_count);
    w.streams = NEW(plan->arena, struct stream_reason, p->stream_count);
    if (!list || !w.classes || !w.streams)
        return fail_memory(err);
    for (size_t i = 0; i < problem_pending(p); i++) {
        struct stream_reason *s = &w.streams[p->jobs[i].stream];

        if (plan->entries[i].pos != NO_INDEX)
            continue;
        if (!s->reasons || s->wait != plan->entries[i].wait)
            TRY(explain(&w, i, s, err));
        list[filled++] = (struct placement_unplaced){
            p->jobs[i].given->id, p->resource_count, s->reasons, s->count};
    }
    *unplaced = list;
    *count = filled;
    return OK;
}
