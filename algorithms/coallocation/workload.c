/* coallocation/workload.c - streams of parallel jobs as the source's experiments had.
 *
 * Exponential gaps of mean 1 / rate. A stream of 30 % or 50 % has
 *
 *     rate = load * capacity / mean processor-seconds of a job
 *
 * Sizes, files, levels and sites are drawn from streams of random numbers of their own,
 * so that jobs keep their sizes when replicas or gaps change.
 *
 * Source: spec coallocation.md 20.1 (w30, w50), 20.3 (spread), 20.5 (unreliable), 20.6
 * (w_nc, w_c).
 * Deviation: run times of components of 4 and 24 (spread), of jobs of 8, 32 and 48, and
 * arrivals of `unreliable` are not in the source; they are those of the spec.
 */
#include "algorithms/coallocation/workload.h"

#include "models/base/rng.h"

#include <assert.h>
#include <math.h>

const char *const co_workload_names[] = {
#define X(name, doc) #name,
    CO_WORKLOADS(X)
#undef X
        NULL,
};

enum { SIZES_MAX = 9, FILES_MAX = 3 };

struct job_size {
    size_t components, processors;
    double run_time_s;
};

struct stream {
    size_t job_count, size_count, file_count, replica_count;
    struct job_size sizes[SIZES_MAX];
    double file_gbytes[FILES_MAX];
    double load_ratio;   /* NAN: per_minute instead */
    double per_minute;   /* arrivals */
    bool has_two_levels; /* high or low by chance; else all high */
};

#define W_SIZES                                                          \
    {                                                                    \
        {1, 8, 192}, {2, 8, 192}, {4, 8, 192}, {1, 16, 90}, {2, 16, 90}, \
        {                                                                \
            4, 16, 90                                                    \
        }                                                                \
    }

static const struct stream streams[] = {
    [CO_WORKLOAD_w30] = {200, 6, 3, 1, W_SIZES, {2, 4, 6}, 0.30, 0, false},
    [CO_WORKLOAD_w50] = {200, 6, 3, 1, W_SIZES, {2, 4, 6}, 0.50, 0, false},
    [CO_WORKLOAD_spread] = {200,
                            8,
                            1,
                            1,
                            {{2, 4, 384},
                             {4, 4, 384},
                             {2, 8, 192},
                             {4, 8, 192},
                             {2, 16, 90},
                             {4, 16, 90},
                             {2, 24, 60},
                             {4, 24, 60}},
                            {2},
                            0.30,
                            0,
                            false},
    [CO_WORKLOAD_unreliable] =
        {500,
         6,
         2,
         2,
         {{3, 12, 127}, {4, 9, 99}, {3, 24, 37}, {4, 18, 51}, {6, 12, 127}, {8, 9, 99}},
         {4, 8},
         (double)NAN,
         1,
         true},
    [CO_WORKLOAD_w_nc] = {400,
                          3,
                          0,
                          0,
                          {{1, 8, 150}, {1, 32, 80}, {1, 48, 62}},
                          {0},
                          (double)NAN,
                          2.4,
                          false},
    [CO_WORKLOAD_w_c] =
        {400,
         6,
         0,
         0,
         {{2, 4, 150}, {4, 2, 150}, {4, 8, 80}, {8, 4, 80}, {6, 8, 62}, {12, 4, 62}},
         {0},
         (double)NAN,
         2.4,
         false},
};

double co_workload_mean_work(enum co_workload_kind kind)
{
    const struct stream *s = &streams[kind];
    double sum = 0;

    for (size_t i = 0; i < s->size_count; i++)
        sum += (double)(s->sizes[i].components * s->sizes[i].processors) *
               s->sizes[i].run_time_s;
    return sum / (double)s->size_count;
}

double co_workload_rate_per_s(enum co_workload_kind kind, double capacity)
{
    const struct stream *s = &streams[kind];

    if (isnan(s->load_ratio))
        return s->per_minute / 60;
    return s->load_ratio * capacity / co_workload_mean_work(kind);
}

/* Random numbers, one stream for each purpose. */
struct draws {
    struct rng gap, size, file, site, level;
};

/* `count` of the sites: without repetition as long as there are others. `order` is a
 * permutation that is shuffled further. */
static void draw_sites(struct draws *d, size_t *order, size_t site_count, size_t count,
                       const size_t **out, struct arena *a)
{
    size_t *sites = NEW(a, size_t, count);

    assert(site_count > 0);
    for (size_t i = 0; i < count; i++) {
        size_t at = i % site_count;
        size_t with = at + rng_index(&d->site, site_count - at);
        size_t site = order[with];

        order[with] = order[at];
        order[at] = site;
        sites[i] = site;
    }
    *out = sites;
}

static void draw_job(const struct co_workload_in *in, const struct stream *s,
                     size_t number, struct draws *d, size_t *order,
                     struct co_sim_job *job, struct arena *a)
{
    const struct job_size *size = &s->sizes[rng_index(&d->size, s->size_count)];
    size_t *processors = NEW(a, size_t, size->components);
    size_t replicas = s->replica_count;

    if (!isnan(in->replica_count))
        replicas = (size_t)in->replica_count;
    if (replicas > in->site_count)
        replicas = in->site_count;
    job->id = arena_printf(a, "j%zu", number);
    for (size_t c = 0; c < size->components; c++)
        processors[c] = size->processors;
    job->run_time_s = size->run_time_s;
    job->processors = processors;
    job->component_count = size->components;
    job->type = in->type;
    job->distinct = in->distinct;
    job->level = s->has_two_levels && rng_index(&d->level, 2) == 0 ? CO_LOW : CO_HIGH;
    if (s->file_count && replicas) {
        job->file_bytes = 1e9 * s->file_gbytes[rng_index(&d->file, s->file_count)];
        job->file_site_count = replicas;
        draw_sites(d, order, in->site_count, replicas, &job->file_sites, a);
    }
    if (in->type == CO_FIXED)
        draw_sites(d, order, in->site_count, size->components, &job->sites, a);
}

size_t co_workload_job_count(const struct co_workload_in *in)
{
    return in->job_count ? in->job_count : streams[in->kind].job_count;
}

enum error_code co_workload_draw(const struct co_workload_in *in,
                                 const struct co_sim_job **jobs, size_t *count,
                                 struct arena *a)
{
    const struct stream *s = &streams[in->kind];
    struct draws d = {
        rng_stream(in->seed, "coallocation.gap"),
        rng_stream(in->seed, "coallocation.size"),
        rng_stream(in->seed, "coallocation.file"),
        rng_stream(in->seed, "coallocation.site"),
        rng_stream(in->seed, "coallocation.level"),
    };
    double gap_s = isnan(in->mean_gap_s)
                       ? 1 / co_workload_rate_per_s(in->kind, in->capacity)
                       : in->mean_gap_s;
    size_t wanted = co_workload_job_count(in);
    struct co_sim_job *list = NEW(a, struct co_sim_job, wanted);
    size_t *order = NEW(a, size_t, in->site_count);
    double now_s = 0;

    for (size_t i = 0; i < in->site_count; i++)
        order[i] = i;
    for (size_t i = 0; i < wanted; i++) {
        draw_job(in, s, i, &d, order, &list[i], a);
        list[i].submit_s = now_s;
        now_s -= gap_s * log1p(-rng_uniform(&d.gap));
    }
    *jobs = list;
    *count = wanted;
    return OK;
}
