/* world/check.c - each row of a plan by itself, and what it waits for.
 *
 * Amounts are check_amounts.c, groups check_groups.c.
 */
#include "algorithms/world/check.h"

#include "algorithms/world/check_parts.h"
#include "models/base/heap.h"

#include <float.h>
#include <stdlib.h>

const char *const world_rule_names[] = {
#define X(symbol, name) name,
    WORLD_RULES(X)
#undef X
        NULL,
};

/* A finish that differs by more than this is another one. */
#define FINISH_SLACK_S 1e-6

static double time_of(const struct checking *c, const struct world_violation *v)
{
    return isnan(v->at_s) ? c->claims[v->claim].start_s : v->at_s;
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* By time, then job; then whatever makes it one order. */
static bool is_later(const struct checking *c, const struct world_violation *a,
                     const struct world_violation *b)
{
    double ta = time_of(c, a), tb = time_of(c, b);
    int order = (ta > tb) - (ta < tb);

    if (order == 0)
        order = compare_sizes(c->claims[a->claim].job, c->claims[b->claim].job);
    if (order == 0)
        order = compare_sizes(a->claim, b->claim);
    if (order == 0)
        order = compare_sizes(a->rule, b->rule);
    if (order == 0)
        order = compare_sizes(a->position, b->position);
    if (order == 0)
        order = compare_sizes(a->amount, b->amount);
    return order > 0;
}

HEAP_IN(kept, struct world_violation, struct checking, is_later)

void check_note(struct checking *c, const struct world_violation *v)
{
    struct world_violation copy = *v;
    size_t *others;

    c->violation_count++;
    if (c->kept_count == CHECK_LISTED_MAX && !is_later(c, &c->kept[0], v))
        return;
    others = NEW(c->a, size_t, v->other_count);
    for (size_t i = 0; i < v->other_count; i++)
        others[i] = v->others[i];
    copy.others = others;
    if (c->kept_count == CHECK_LISTED_MAX)
        kept_pop(c, c->kept, &c->kept_count);
    kept_push(c, c->kept, &c->kept_count, copy);
}

static void note_at(struct checking *c, enum world_rule_broken rule, size_t claim,
                    size_t position, const char *detail)
{
    struct world_violation v = check_broken(rule, claim);

    v.position = position;
    v.detail = detail;
    check_note(c, &v);
}

static int by_size(const void *a, const void *b)
{
    return compare_sizes(*(const size_t *)a, *(const size_t *)b);
}

/* Its known resources, each once. */
static void read_positions(struct checking *c, size_t i)
{
    const struct world_claim *row = &c->claims[i];
    size_t *list = NEW(c->a, size_t, row->position_count), count = 0, kept = 0;

    for (size_t k = 0; k < row->position_count; k++)
        if (row->positions[k] < c->w->resource_count)
            list[count++] = row->positions[k];
        else
            note_at(c, RULE_UNKNOWN_ID, i, WORLD_NONE, "There is no such resource.");
    qsort(list, count, sizeof(*list), by_size);
    for (size_t k = 0; k < count; k++) {
        if (k > 0 && list[k] == list[k - 1]) {
            if (k == 1 || list[k] != list[k - 2])
                note_at(c, RULE_SAME_NODE_TWICE, i, list[k], NULL);
            continue;
        }
        list[kept++] = list[k];
    }
    c->facts[i].positions = list;
    c->facts[i].position_count = kept;
}

static bool choice_has(const struct world_choice *choice, const struct check_fact *f)
{
    for (size_t k = 0; k < f->position_count; k++)
        if (!world_mask_has(choice->mask, f->positions[k]))
            return false;
    return true;
}

static bool is_in_any(struct checking *c, const struct world_job *j, size_t position)
{
    bool found = is_spent(c, j->choice_count);

    for (size_t h = 0; h < j->choice_count && !found; h++)
        found = world_mask_has(j->choices[h].mask, position);
    return found;
}

size_t check_choice_of(struct checking *c, size_t claim)
{
    const struct world_job *j = &c->w->jobs[c->claims[claim].job];
    size_t choice = c->claims[claim].choice;

    if (choice != WORLD_NONE)
        return choice < j->choice_count &&
                       choice_has(&j->choices[choice], &c->facts[claim])
                   ? choice
                   : j->choice_count;
    for (choice = 0; choice < j->choice_count; choice++)
        if (is_spent(c, c->facts[claim].position_count) ||
            choice_has(&j->choices[choice], &c->facts[claim]))
            break;
    return choice;
}

/* All nodes are in one of its choices. */
static void check_choices(struct checking *c, size_t i, const struct world_job *j)
{
    const struct check_fact *f = &c->facts[i];
    bool none_named = true;

    if (c->claims[i].choice != WORLD_NONE && check_choice_of(c, i) == j->choice_count) {
        note_at(c, RULE_NOT_ELIGIBLE, i, WORLD_NONE,
                "It is not in the partition that the row names.");
        return;
    }
    for (size_t h = 0; h < j->choice_count; h++)
        if (is_spent(c, f->position_count) || choice_has(&j->choices[h], f))
            return;
    for (size_t k = 0; k < f->position_count; k++) {
        if (is_in_any(c, j, f->positions[k]))
            continue;
        note_at(c, RULE_NOT_ELIGIBLE, i, f->positions[k], NULL);
        none_named = false;
    }
    if (none_named)
        note_at(c, RULE_NOT_ELIGIBLE, i, WORLD_NONE,
                "None of its partitions has all these resources.");
}

static void check_barred(struct checking *c, size_t i, const struct world_job *j)
{
    switch (j->barred) {
    case WORLD_WAIT_NONE:
    case WORLD_WAIT_NO_ESTIMATE: /* read_times() says so */
        return;
    case WORLD_WAIT_AFTER_FAILED:
    case WORLD_WAIT_AFTER_UNPLACED:
        note_at(c, RULE_BEFORE_AFTER, i, WORLD_NONE,
                "What it waits for has failed, or can get no place.");
        return;
    case WORLD_WAIT_LEASED:
        note_at(c, RULE_NOT_ELIGIBLE, i, WORLD_NONE, "The job is in a lease.");
        return;
    default:
        note_at(c, RULE_NOT_ELIGIBLE, i, WORLD_NONE, "The job must not be placed.");
    }
}

static void note_size(struct checking *c, size_t i, size_t position, size_t amount,
                      int64_t needed, int64_t capacity)
{
    struct world_violation v = check_broken(RULE_TOO_LARGE, i);

    v.position = position;
    v.amount = amount;
    v.needed = needed;
    v.free = capacity;
    check_note(c, &v);
}

/* What it needs is there when nothing is taken. */
static void check_sizes(struct checking *c, size_t i, const struct world_job *j)
{
    const struct world *w = c->w;
    const struct check_fact *f = &c->facts[i];

    for (size_t n = 0; n < f->position_count; n++) {
        const int64_t *capacity = w->resources[f->positions[n]].capacity;

        if (is_spent(c, w->node_amount_count))
            return;
        for (size_t k = 0; k < w->node_amount_count; k++)
            if (j->needs[k] > capacity[k])
                note_size(c, i, f->positions[n], k, j->needs[k], capacity[k]);
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > w->shared_capacity[k])
            note_size(c, i, WORLD_NONE, k, j->needs[k], w->shared_capacity[k]);
}

/* The longest run of its nodes; HUGE_VAL: there is none, and that has been said. */
static double run_of(struct checking *c, size_t i, const struct world_job *j)
{
    const struct check_fact *f = &c->facts[i];
    bool has_any = j->etc_s || !isnan(j->estimate_ref_s) || !isnan(j->estimate_s);
    double longest_s = 0;

    if (!has_any || j->barred == WORLD_WAIT_NO_ESTIMATE) {
        note_at(c, RULE_NO_ESTIMATE, i, WORLD_NONE, NULL);
        return HUGE_VAL;
    }
    if (is_spent(c, f->position_count))
        return HUGE_VAL;
    for (size_t k = 0; k < f->position_count; k++) {
        double run_s = world_run_s(c->w, j, f->positions[k]);

        if (run_s == HUGE_VAL && is_in_any(c, j, f->positions[k]))
            note_at(c, RULE_NOT_ELIGIBLE, i, f->positions[k], "It cannot run there.");
        longest_s = fmax(longest_s, run_s);
    }
    return f->position_count > 0 ? longest_s : HUGE_VAL;
}

/* When it is done, and until when it holds what it takes. */
static void read_times(struct checking *c, size_t i, const struct world_job *j)
{
    const struct world_claim *row = &c->claims[i];
    struct check_fact *f = &c->facts[i];
    double run_s = run_of(c, i, j), begin_s = row->start_s + row->stage_in_s;

    f->done_s = begin_s + run_s;
    f->end_s = begin_s + world_held_s(c->w, j, run_s);
    if (run_s == HUGE_VAL) /* the best there is: it holds until it says it ends */
        f->done_s = f->end_s = row->finish_s;
    else if (fabs(row->finish_s - f->done_s) >
             fmax(FINISH_SLACK_S, 4 * DBL_EPSILON * fabs(f->done_s)))
        note_at(c, RULE_FINISH_DIFFERS, i, WORLD_NONE, NULL);
    f->holds = f->end_s > row->start_s;
    f->is_point = f->end_s == row->start_s;
}

static void check_release(struct checking *c, size_t i, const struct world_job *j)
{
    double start_s = c->claims[i].start_s, slack_s = check_slack(start_s);
    struct world_violation v = check_broken(RULE_BEFORE_RELEASE, i);

    v.at_s = start_s;
    if (!(start_s >= fmax(0, j->release_s) - slack_s)) {
        v.detail = start_s < -slack_s ? "It starts before now." : NULL;
        check_note(c, &v);
    } else if (start_s < j->earliest_s - slack_s) {
        v.rule = RULE_BEFORE_AFTER;
        v.detail = j->earliest_s == HUGE_VAL
                       ? "It waits for a running job whose end is not known."
                       : "It waits for a running job that ends later.";
        check_note(c, &v);
    }
}

static void check_row(struct checking *c, size_t i)
{
    const struct world_claim *row = &c->claims[i];
    const struct world_job *j;

    if (row->job >= c->w->job_count) {
        note_at(c, RULE_UNKNOWN_ID, i, WORLD_NONE, "There is no such job.");
        return;
    }
    if (c->claim_of[row->job] != WORLD_NONE) {
        struct world_violation v = check_broken(RULE_DUPLICATE, i);

        v.others = &c->claim_of[row->job];
        v.other_count = 1;
        check_note(c, &v);
        return;
    }
    j = &c->w->jobs[row->job];
    c->claim_of[row->job] = i;
    c->facts[i].counts = true;
    read_positions(c, i);
    if (row->position_count != j->nodes) {
        struct world_violation v = check_broken(RULE_NODE_COUNT, i);

        v.needed = (int64_t)j->nodes;
        v.free = (int64_t)row->position_count;
        check_note(c, &v);
    }
    check_choices(c, i, j);
    check_barred(c, i, j);
    check_sizes(c, i, j);
    check_release(c, i, j);
    read_times(c, i, j);
}

static void check_after(struct checking *c, size_t i, const struct world_after *after)
{
    size_t other = c->claim_of[after->job];
    struct world_violation v = check_broken(RULE_BEFORE_AFTER, i);
    double start_s = c->claims[i].start_s, from_s;

    v.at_s = start_s;
    if (other == WORLD_NONE) {
        v.detail = "It waits for a job that has no place.";
        check_note(c, &v);
        return;
    }
    from_s =
        after->kind == AFTER_START ? c->claims[other].start_s : c->facts[other].done_s;
    if (!(start_s < from_s - check_slack(from_s)))
        return;
    v.others = &other;
    v.other_count = 1;
    check_note(c, &v);
}

static void check_afters(struct checking *c)
{
    for (size_t i = 0; i < c->claim_count; i++) {
        const struct world_job *j;

        if (!c->facts[i].counts)
            continue;
        j = &c->w->jobs[c->claims[i].job];
        if (is_spent(c, 1 + j->after_count))
            return;
        for (size_t k = 0; k < j->after_count; k++)
            check_after(c, i, &j->after[k]);
    }
}

static void check_all(struct checking *c)
{
    for (size_t i = 0; i < c->claim_count; i++) {
        if (is_spent(c, 8 + c->claims[i].position_count))
            return;
        check_row(c, i);
    }
    check_afters(c);
    if (!c->cut)
        check_amounts(c);
    if (!c->cut)
        check_groups(c);
    if (!c->cut && c->w->limit_count)
        check_limits(c);
}

void world_check(const struct world *w, const struct world_claim *claims,
                 size_t claim_count, struct world_check *out, struct arena *a)
{
    struct checking c = {.w = w, .claims = claims, .claim_count = claim_count, .a = a};
    struct world_violation *list;

    c.facts = NEW(a, struct check_fact, claim_count);
    c.claim_of = NEW(a, size_t, w->job_count);
    c.kept = NEW(a, struct world_violation, CHECK_LISTED_MAX);
    for (size_t j = 0; j < w->job_count; j++)
        c.claim_of[j] = WORLD_NONE;
    check_all(&c);
    *out = (struct world_check){
        .violation_count = c.violation_count, .listed_count = c.kept_count, .cut = c.cut};
    list = NEW(a, struct world_violation, c.kept_count);
    while (c.kept_count > 0) {
        size_t last = c.kept_count - 1;

        list[last] = kept_pop(&c, c.kept, &c.kept_count);
    }
    out->violations = list;
}

const struct world_claim *world_claims(const struct world *w,
                                       const struct world_plan *plan, size_t *count,
                                       struct arena *a)
{
    struct world_claim *claims = NEW(a, struct world_claim, w->job_count);

    *count = 0;
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *p = &plan->placed[j];

        if (!p->positions)
            continue;
        claims[(*count)++] =
            (struct world_claim){.job = j,
                                 .positions = p->positions,
                                 .position_count = p->position_count,
                                 .choice = w->limit_count ? p->choice : WORLD_NONE,
                                 .start_s = p->start_s,
                                 .stage_in_s = p->stage_in_s,
                                 .finish_s = p->done_s};
    }
    return claims;
}
