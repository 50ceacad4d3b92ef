/* queue/spread.c - how unevenly a replay serves its jobs: percentiles, users, widths. */
#include "algorithms/queue/spread.h"

#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const queue_size_names[] = {"1",      "2-4",      "5-16",  "17-64",
                                        "65-256", "257-1024", "1025-", NULL};
static const double size_ends[] = {1, 4, 16, 64, 256, 1024, HUGE_VAL};

/* ---- percentiles ---- */

/* A member of an outcome. */
static double measure_of(const struct queue_outcome *o, size_t offset)
{
    return *(const double *)((const char *)o + offset);
}

/* `values` has room for all jobs. */
static size_t measure(const struct queue_outcome *outcomes, size_t job_count,
                      size_t offset, double *values)
{
    size_t count = 0;

    for (size_t i = 0; i < job_count; i++)
        if (queue_ran(&outcomes[i]))
            values[count++] = measure_of(&outcomes[i], offset);
    sort_numbers(values, count);
    return count;
}

bool queue_spread(const struct queue_outcome *outcomes, size_t count,
                  struct queue_spread *spread, struct arena *a)
{
    const struct {
        size_t offset;
        struct queue_percentiles *to;
    } rows[] = {{offsetof(struct queue_outcome, wait_s), &spread->wait_s},
                {offsetof(struct queue_outcome, response_s), &spread->response_s},
                {offsetof(struct queue_outcome, bounded), &spread->bounded_slowdown}};
    double *values = NEW(a, double, count);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t ran = measure(outcomes, count, rows[i].offset, values);

        if (!ran)
            return false;
#define X(name, percent) rows[i].to->name = queue_percentile(values, ran, percent);
        QUEUE_PERCENTILES(X)
#undef X
    }
    return true;
}

/* ---- tables ---- */

struct member {
    double key; /* HUGE_VAL: not known */
    size_t job;
};

/* Neighbours among the members, sorted. */
struct span {
    double key, core_s;
    size_t begin, end;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *l = left, *r = right;

    if (l->key != r->key)
        return l->key < r->key ? -1 : 1;
    return l->job < r->job ? -1 : l->job > r->job;
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *l = left, *r = right;

    if (l->core_s != r->core_s)
        return l->core_s > r->core_s ? -1 : 1;
    return l->key < r->key ? -1 : l->key > r->key;
}

static double key_of(const struct queue_outcome *o, int grouping)
{
    size_t size = 0;

    if (grouping != QUEUE_BY_SIZE)
        return isnan(o->key[grouping]) ? HUGE_VAL : o->key[grouping];
    while (o->cores > size_ends[size])
        size++;
    return (double)size;
}

static size_t list_members(const struct queue_outcome *outcomes, size_t job_count,
                           int grouping, struct member *members)
{
    size_t count = 0;

    for (size_t i = 0; i < job_count; i++)
        if (queue_ran(&outcomes[i]))
            members[count++] = (struct member){key_of(&outcomes[i], grouping), i};
    qsort(members, count, sizeof(*members), compare_members);
    return count;
}

static size_t list_spans(const struct queue_outcome *outcomes,
                         const struct member *members, size_t count, struct span *spans)
{
    size_t span_count = 0;

    for (size_t i = 0; i < count; i++) {
        const struct queue_outcome *o = &outcomes[members[i].job];

        if (i == 0 || members[i].key != members[i - 1].key)
            spans[span_count++] = (struct span){.key = members[i].key, .begin = i};
        spans[span_count - 1].end = i + 1;
        spans[span_count - 1].core_s += o->run_s * o->cores;
    }
    qsort(spans, span_count, sizeof(*spans), compare_spans);
    return span_count;
}

/* Adds the jobs of a span to a group; their waits to a list. */
static void add_span(const struct queue_outcome *outcomes, const struct member *members,
                     const struct span *span, struct queue_group *g, double *waits)
{
    g->core_s += span->core_s;
    for (size_t i = span->begin; i < span->end; i++) {
        const struct queue_outcome *o = &outcomes[members[i].job];

        waits[g->job_count++] = o->wait_s;
        g->mean_wait_s += o->wait_s;
        g->max_wait_s = fmax(g->max_wait_s, o->wait_s);
        g->mean_bounded_slowdown += o->bounded;
    }
}

static void close_group(struct queue_group *g, double *waits)
{
    double n = (double)g->job_count;

    sort_numbers(waits, g->job_count);
    g->mean_wait_s /= n;
    g->mean_bounded_slowdown /= n;
    g->p50_wait_s = queue_percentile(waits, g->job_count, 50);
    g->p90_wait_s = queue_percentile(waits, g->job_count, 90);
}

void queue_tabulate(const struct queue_outcome *outcomes, size_t job_count, int grouping,
                    size_t rows_max, struct queue_table *table, struct arena *a)
{
    struct member *members = NEW(a, struct member, job_count);
    struct span *spans = NEW(a, struct span, job_count);
    double *waits = NEW(a, double, job_count);
    struct queue_group *groups;
    size_t count, rows;

    count = list_members(outcomes, job_count, grouping, members);
    count = list_spans(outcomes, members, count, spans);
    rows = count < rows_max ? count : rows_max;
    groups = NEW(a, struct queue_group, rows + 1);
    for (size_t i = 0; i < count; i++) {
        struct queue_group *g = &groups[i < rows ? i : rows];

        g->is_others = i >= rows;
        g->key = isfinite(spans[i].key) && i < rows ? spans[i].key : (double)NAN;
        add_span(outcomes, members, &spans[i], g, waits);
        if (i < rows || i + 1 == count)
            close_group(g, waits);
    }
    *table = (struct queue_table){groups, rows + (count > rows), count - rows};
}
