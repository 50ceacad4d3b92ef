/* queue/spread.c - how unevenly a replay serves its jobs: percentiles, users, widths. */
#include "algorithms/queue/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const queue_size_names[] = {"1",      "2-4",      "5-16",  "17-64",
                                        "65-256", "257-1024", "1025-", NULL};
static const double size_ends[] = {1, 4, 16, 64, 256, 1024, HUGE_VAL};

static int compare_numbers(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;

    return l < r ? -1 : l > r;
}

/* Of `count` sorted values, at least one. */
static double percentile(const double *sorted, size_t count, double percent)
{
    double at = (double)(count - 1) * percent / 100;
    size_t below = (size_t)at;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* ---- a job ---- */

static double wait_of(const struct queue_replay_in *in,
                      const struct queue_replay_out *out, size_t job)
{
    return out->start_s[job] - in->jobs[job].submit_s;
}

static double response_of(const struct queue_replay_in *in,
                          const struct queue_replay_out *out, size_t job)
{
    return wait_of(in, out, job) + out->run_s[job];
}

static double slowdown_of(const struct queue_replay_in *in,
                          const struct queue_replay_out *out, size_t job)
{
    return fmax(1, response_of(in, out, job) / fmax(in->bound_s, out->run_s[job]));
}

static double width_of(const struct queue_replay_in *in, size_t job)
{
    return ceil(swf_processors(&in->jobs[job]));
}

/* ---- percentiles ---- */

typedef double measure_fn(const struct queue_replay_in *in,
                          const struct queue_replay_out *out, size_t job);

/* `values` has room for all jobs. */
static size_t measure(const struct queue_replay_in *in,
                      const struct queue_replay_out *out, measure_fn *of, double *values)
{
    size_t count = 0;

    for (size_t i = 0; i < in->job_count; i++)
        if (!isnan(out->start_s[i]))
            values[count++] = of(in, out, i);
    qsort(values, count, sizeof(*values), compare_numbers);
    return count;
}

enum error_code queue_spread(const struct queue_replay_in *in,
                             const struct queue_replay_out *out,
                             struct queue_spread *spread, bool *ran, struct arena *a,
                             struct error *err)
{
    const struct {
        measure_fn *of;
        struct queue_percentiles *to;
    } rows[] = {{wait_of, &spread->wait_s},
                {response_of, &spread->response_s},
                {slowdown_of, &spread->bounded_slowdown}};
    double *values = NEW(a, double, in->job_count);

    (void)err;
    *ran = false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t count = measure(in, out, rows[i].of, values);

        if (!count)
            return OK;
        *ran = true;
#define X(name, percent) rows[i].to->name = percentile(values, count, percent);
        QUEUE_PERCENTILES(X)
#undef X
    }
    return OK;
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

static double key_of(const struct queue_replay_in *in, enum queue_grouping grouping,
                     size_t job)
{
    double user = in->jobs[job].user;
    size_t size = 0;

    if (grouping == QUEUE_BY_USER)
        return isnan(user) ? HUGE_VAL : user;
    while (width_of(in, job) > size_ends[size])
        size++;
    return (double)size;
}

static size_t list_members(const struct queue_replay_in *in,
                           const struct queue_replay_out *out,
                           enum queue_grouping grouping, struct member *members)
{
    size_t count = 0;

    for (size_t i = 0; i < in->job_count; i++)
        if (!isnan(out->start_s[i]))
            members[count++] = (struct member){key_of(in, grouping, i), i};
    qsort(members, count, sizeof(*members), compare_members);
    return count;
}

static size_t list_spans(const struct queue_replay_in *in,
                         const struct queue_replay_out *out, const struct member *members,
                         size_t count, struct span *spans)
{
    size_t span_count = 0;

    for (size_t i = 0; i < count; i++) {
        size_t job = members[i].job;

        if (i == 0 || members[i].key != members[i - 1].key)
            spans[span_count++] = (struct span){.key = members[i].key, .begin = i};
        spans[span_count - 1].end = i + 1;
        spans[span_count - 1].core_s += out->run_s[job] * width_of(in, job);
    }
    qsort(spans, span_count, sizeof(*spans), compare_spans);
    return span_count;
}

/* Adds the jobs of a span to a group; their waits to a list. */
static void add_span(const struct queue_replay_in *in, const struct queue_replay_out *out,
                     const struct member *members, const struct span *span,
                     struct queue_group *g, double *waits)
{
    g->core_s += span->core_s;
    for (size_t i = span->begin; i < span->end; i++) {
        size_t job = members[i].job;
        double wait_s = wait_of(in, out, job);

        waits[g->job_count++] = wait_s;
        g->mean_wait_s += wait_s;
        g->max_wait_s = fmax(g->max_wait_s, wait_s);
        g->mean_bounded_slowdown += slowdown_of(in, out, job);
    }
}

static void close_group(struct queue_group *g, double *waits)
{
    double n = (double)g->job_count;

    qsort(waits, g->job_count, sizeof(*waits), compare_numbers);
    g->mean_wait_s /= n;
    g->mean_bounded_slowdown /= n;
    g->p50_wait_s = percentile(waits, g->job_count, 50);
    g->p90_wait_s = percentile(waits, g->job_count, 90);
}

void queue_tabulate(const struct queue_replay_in *in, const struct queue_replay_out *out,
                    enum queue_grouping grouping, size_t rows_max,
                    struct queue_table *table, struct arena *a)
{
    struct member *members = NEW(a, struct member, in->job_count);
    struct span *spans = NEW(a, struct span, in->job_count);
    double *waits = NEW(a, double, in->job_count);
    struct queue_group *groups;
    size_t count, rows;

    count = list_members(in, out, grouping, members);
    count = list_spans(in, out, members, count, spans);
    rows = count < rows_max ? count : rows_max;
    groups = NEW(a, struct queue_group, rows + 1);
    for (size_t i = 0; i < count; i++) {
        struct queue_group *g = &groups[i < rows ? i : rows];

        g->is_others = i >= rows;
        g->key = isfinite(spans[i].key) && i < rows ? spans[i].key : (double)NAN;
        add_span(in, out, members, &spans[i], g, waits);
        if (i < rows || i + 1 == count)
            close_group(g, waits);
    }
    *table = (struct queue_table){groups, rows + (count > rows), count - rows};
}
