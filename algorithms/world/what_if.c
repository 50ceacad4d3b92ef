/* world/what_if.c - which change of one capacity would let most jobs run somewhere.
 *
 * Fewer jobs are helped by a smaller value, so that of each amount of each resource only
 * the WHAT_IF_CHANGES_MAX largest needs can be among the best.
 */
#include "algorithms/world/what_if.h"

#include "algorithms/world/columns.h"

#include <stdlib.h>
#include <string.h>

/* Jobs that lack one amount of one resource only. */
struct lack {
    size_t job_count; /* with smaller needs than those listed */
    double weight;
    size_t count; /* of largest needs */
    struct {
        int64_t needed;
        size_t job_count;
        double weight;
    } largest[WHAT_IF_CHANGES_MAX]; /* falling */
};

struct search {
    const struct world *w;
    struct arena *a;
    struct columns *columns;
    struct lack *lacks; /* by position and amount */
    struct column_short *list;
    uint64_t *passed, *mask;
    size_t words;
    struct what_if *out;
};

static void note_lack(struct lack *l, int64_t needed, size_t job_count, double weight)
{
    size_t i = 0, last = WHAT_IF_CHANGES_MAX - 1;

    while (i < l->count && l->largest[i].needed > needed)
        i++;
    if (i < l->count && l->largest[i].needed == needed) {
        l->largest[i].job_count += job_count;
        l->largest[i].weight += weight;
        return;
    }
    if (i > last) {
        l->job_count += job_count;
        l->weight += weight;
        return;
    }
    if (l->count > last) {
        l->job_count += l->largest[last].job_count;
        l->weight += l->largest[last].weight;
        l->count--;
    }
    memmove(&l->largest[i + 1], &l->largest[i], (l->count - i) * sizeof(l->largest[0]));
    l->largest[i].needed = needed;
    l->largest[i].job_count = job_count;
    l->largest[i].weight = weight;
    l->count++;
}

/* ---- classes of equal jobs ---- */

struct like_job {
    const struct world_job *j;
    size_t bytes; /* of its needs */
};

static int alike_together(const void *a, const void *b)
{
    const struct like_job *x = a, *y = b;
    int order = memcmp(x->j->needs, y->j->needs, x->bytes);

    if (order != 0)
        return order;
    if (x->j->choice_count != y->j->choice_count)
        return x->j->choice_count < y->j->choice_count ? -1 : 1;
    for (size_t i = 0; i < x->j->choice_count; i++)
        if (x->j->choices[i].mask != y->j->choices[i].mask)
            return x->j->choices[i].mask < y->j->choices[i].mask ? -1 : 1;
    return x->j < y->j ? -1 : x->j > y->j;
}

static bool are_alike(const struct like_job *a, const struct like_job *b)
{
    if (memcmp(a->j->needs, b->j->needs, a->bytes) != 0 ||
        a->j->choice_count != b->j->choice_count)
        return false;
    for (size_t i = 0; i < a->j->choice_count; i++)
        if (a->j->choices[i].mask != b->j->choices[i].mask)
            return false;
    return true;
}

/* Resources that some choice of the job has. */
static void fill_mask(struct search *s, const struct world_job *j)
{
    memset(s->mask, 0, s->words * sizeof(*s->mask));
    for (size_t i = 0; i < j->choice_count; i++)
        for (size_t n = 0; n < s->words; n++)
            s->mask[n] |= j->choices[i].mask[n];
}

static void note_class(struct search *s, const struct world_job *j, size_t job_count,
                       double weight)
{
    size_t rows = s->w->node_amount_count, count;

    fill_mask(s, j);
    count = columns_count(s->columns, j->needs, s->mask, s->list, s->passed);
    for (size_t n = 0; n < count; n++) {
        const struct column_short *c = &s->list[n];
        const uint64_t *alone = columns_alone(s->columns, c);

        if (c->alone_count == 0)
            continue;
        budget_step(s->w->budget, s->w->resource_count);
        for (size_t i = 0; i < s->w->resource_count; i++)
            if (world_mask_has(alone, i))
                note_lack(&s->lacks[i * rows + c->amount], c->needed, job_count, weight);
    }
}

static void note_classes(struct search *s, const size_t *jobs, size_t job_count)
{
    struct like_job *list = NEW(s->a, struct like_job, job_count);
    size_t first = 0;

    for (size_t i = 0; i < job_count; i++)
        list[i] = (struct like_job){&s->w->jobs[jobs[i]],
                                    s->w->node_amount_count * sizeof(int64_t)};
    qsort(list, job_count, sizeof(*list), alike_together);
    while (first < job_count) {
        size_t behind = first;
        double weight = 0;

        if (budget_step(s->w->budget, s->words)) {
            s->out->cut = true;
            return;
        }
        for (; behind < job_count && are_alike(&list[first], &list[behind]); behind++)
            weight += list[behind].j->weight;
        note_class(s, list[first].j, behind - first, weight);
        first = behind;
    }
}

/* ---- the best changes ---- */

/* By value / capacity; from nothing is the most. */
static int compare_ratio(const struct what_if_change *a, const struct what_if_change *b)
{
    double x = a->capacity > 0 ? (double)a->value / (double)a->capacity : HUGE_VAL;
    double y = b->capacity > 0 ? (double)b->value / (double)b->capacity : HUGE_VAL;

    return (x > y) - (x < y);
}

static bool is_before(const struct world *w, const struct what_if_change *a,
                      const struct what_if_change *b)
{
    int ratio = compare_ratio(a, b);

    if (a->job_count != b->job_count)
        return a->job_count > b->job_count;
    if (a->weight != b->weight)
        return a->weight > b->weight;
    if (ratio != 0)
        return ratio < 0;
    if (a->position != b->position)
        return w->resources[a->position].index < w->resources[b->position].index;
    return strcmp(w->amounts[a->amount].name, w->amounts[b->amount].name) < 0;
}

static void keep(struct search *s, const struct what_if_change *change)
{
    struct what_if *out = s->out;
    size_t i = out->change_count;

    while (i > 0 && is_before(s->w, change, &out->changes[i - 1]))
        i--;
    if (i == WHAT_IF_CHANGES_MAX)
        return;
    if (out->change_count < WHAT_IF_CHANGES_MAX)
        out->change_count++;
    memmove(&out->changes[i + 1], &out->changes[i],
            (out->change_count - 1 - i) * sizeof(*change));
    out->changes[i] = *change;
}

static void keep_best(struct search *s)
{
    size_t rows = s->w->node_amount_count;

    for (size_t i = 0; i < s->w->resource_count; i++)
        for (size_t k = 0; k < rows; k++) {
            const struct lack *l = &s->lacks[i * rows + k];
            size_t job_count = l->job_count;
            double weight = l->weight;

            budget_step(s->w->budget, 1 + l->count);
            for (size_t n = l->count; n-- > 0;) {
                struct what_if_change change = {.position = i, .amount = k};

                change.capacity = s->w->resources[i].capacity[k];
                change.value = l->largest[n].needed;
                change.job_count = job_count += l->largest[n].job_count;
                change.weight = weight += l->largest[n].weight;
                keep(s, &change);
            }
        }
}

static bool helps(const struct world *w, const struct what_if_change *c,
                  const struct world_job *j)
{
    const int64_t *capacity = w->resources[c->position].capacity;
    bool eligible = false;

    if (j->needs[c->amount] <= c->capacity || j->needs[c->amount] > c->value)
        return false;
    for (size_t i = 0; i < j->choice_count; i++)
        eligible |= world_mask_has(j->choices[i].mask, c->position);
    for (size_t k = 0; eligible && k < w->node_amount_count; k++)
        eligible = k == c->amount || j->needs[k] <= capacity[k];
    return eligible;
}

static void list_jobs(const struct world *w, const size_t *jobs, size_t job_count,
                      struct what_if_change *c)
{
    for (size_t i = 0; i < job_count && c->listed_count < WHAT_IF_JOBS_MAX; i++) {
        budget_step(w->budget, 1);
        if (helps(w, c, &w->jobs[jobs[i]]) &&
            (c->listed_count == 0 ||
             w->jobs[c->jobs[c->listed_count - 1]].id != w->jobs[jobs[i]].id))
            c->jobs[c->listed_count++] = jobs[i]; /* of a job's copies once */
    }
}

void world_what_if(const struct world *w, const size_t *jobs, size_t job_count,
                   struct what_if *out, struct arena *a)
{
    struct search s = {.w = w, .a = a, .out = out};

    *out = (struct what_if){0};
    s.words = (w->resource_count + 63) / 64;
    s.mask = NEW(a, uint64_t, s.words);
    s.passed = NEW(a, uint64_t, s.words);
    s.list = NEW(a, struct column_short, w->node_amount_count);
    s.lacks = NEW(a, struct lack, w->resource_count * w->node_amount_count);
    s.columns = columns_of_capacities(w, a);
    note_classes(&s, jobs, job_count);
    keep_best(&s);
    for (size_t i = 0; i < out->change_count; i++)
        list_jobs(w, jobs, job_count, &out->changes[i]);
}
