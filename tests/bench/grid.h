/* grid.h - made-up grids and jobs for the benchmarks. */
#ifndef GRIDPLAN_BENCH_GRID_H
#define GRIDPLAN_BENCH_GRID_H

#include "algorithms/placement/placement.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

struct grid {
    struct snapshot snapshot;
    struct resource *resources;
    struct job *jobs;
    size_t job_count, resource_count;
};

enum { GRID_SITES = 50, GRID_ATTRIBUTES = 3 };

static const char *const grid_archs[] = {"x86_64", "aarch64", "ppc64le"};

static inline void *grid_must(void *p)
{
    if (!p)
        bench_stop("no memory for the grid");
    return p;
}

static inline struct grid grid_empty(size_t job_count, size_t resource_count,
                                     struct arena *a)
{
    struct grid g = {.job_count = job_count, .resource_count = resource_count};

    g.resources = grid_must(NEW(a, struct resource, resource_count));
    g.jobs = grid_must(NEW(a, struct job, job_count));
    g.snapshot.taken_at_s = NAN;
    g.snapshot.list_observed_at_s = NAN;
    g.snapshot.network.wan_mbps = NAN;
    g.snapshot.network.lan_mbps = NAN;
    g.snapshot.resources = g.resources;
    g.snapshot.resource_count = resource_count;
    for (size_t i = 0; i < resource_count; i++)
        g.resources[i] = (struct resource){
            .id = grid_must(arena_printf(a, "node-%06zu", i)),
            .mips_total = 1,
            .cpu_available_ratio = 1,
            .cpus = NAN,
            .memory_bytes = NAN,
            .n_max = NAN,
            .observed_at_s = NAN,
            .fixed_priority = 1,
        };
    for (size_t i = 0; i < job_count; i++)
        g.jobs[i] = (struct job){
            .id = grid_must(arena_printf(a, "job-%06zu", i)),
            .estimate_ref_s = NAN,
            .cpus = 1,
            .deadline_s = NAN,
            .queued_at_s = NAN,
            .deadline_at_s = NAN,
            .task_index = NAN,
            .param_start = NAN,
            .param_increment = NAN,
        };
    return g;
}

static inline void grid_fill_resource(struct resource *r, size_t i, struct rng *rng,
                                      struct arena *a)
{
    struct named_value *v = grid_must(NEW(a, struct named_value, GRID_ATTRIBUTES));

    r->site_id = grid_must(arena_printf(a, "site-%02zu", i % GRID_SITES));
    r->mips_total = floor(500 + 4500 * rng_uniform(rng));
    r->cpus = (double)((size_t)4 << rng_index(rng, 5));
    r->memory_bytes = r->cpus * 2147483648.0 * (double)(1 + rng_index(rng, 4));
    v[0] = (struct named_value){"arch", VALUE_TEXT, 0, grid_archs[rng_index(rng, 3)]};
    v[1] = (struct named_value){"os", VALUE_TEXT, 0, "linux"};
    v[2] = (struct named_value){"scratch_mb", VALUE_NUMBER,
                                floor(100000 * rng_uniform(rng)), NULL};
    r->attributes = v;
    r->attribute_count = GRID_ATTRIBUTES;
}

static inline void grid_fill_job(struct job *j, size_t threshold_count, struct rng *rng,
                                 struct arena *a)
{
    j->estimate_ref_s = floor(1e5 * (1 + 99 * rng_uniform(rng)));
    j->cpus = (double)((size_t)1 << rng_index(rng, 3));
    j->memory_bytes = j->cpus * 1073741824.0 * (double)(1 + rng_index(rng, 2));
    j->requirement = grid_must(
        arena_printf(a, "arch == \"%s\" && scratch_mb >= %zu && os == \"linux\"",
                     grid_archs[rng_index(rng, 3)],
                     64000 / threshold_count * rng_index(rng, threshold_count)));
}

/* Related speeds: a job's time is its estimate over the resource's speed. Every
 * resource has CPUs, memory and attributes, every job asks for some by members
 * and by a requirement; of these there are 3 * threshold_count different ones. */
static inline struct grid grid_create(size_t job_count, size_t resource_count,
                                      size_t threshold_count, struct arena *a)
{
    struct grid g = grid_empty(job_count, resource_count, a);
    struct rng rng = rng_stream(1, "bench.grid");

    for (size_t i = 0; i < resource_count; i++)
        grid_fill_resource(&g.resources[i], i, &rng, a);
    for (size_t i = 0; i < job_count; i++)
        grid_fill_job(&g.jobs[i], threshold_count, &rng, a);
    return g;
}

/* Jobs with a matrix of times, task and machine heterogeneity high, inconsistent. */
static inline struct grid grid_create_matrix(size_t job_count, size_t resource_count,
                                             struct arena *a)
{
    struct grid g = grid_empty(job_count, resource_count, a);
    struct rng rng = rng_stream(1, "bench.matrix");

    for (size_t i = 0; i < job_count; i++) {
        double *etc_s = grid_must(NEW(a, double, resource_count));
        double task = 1 + 3000 * rng_uniform(&rng);

        for (size_t j = 0; j < resource_count; j++)
            etc_s[j] = task * (1 + 1000 * rng_uniform(&rng));
        g.jobs[i].etc_s = etc_s;
        g.jobs[i].etc_count = resource_count;
    }
    return g;
}

static inline void grid_print_resource(const struct resource *r, struct bench_text *out)
{
    bench_add(out, "{\"id\":\"%s\"", r->id);
    if (r->site_id)
        bench_add(out, ",\"site_id\":\"%s\",\"mips_total\":%.17g", r->site_id,
                  r->mips_total);
    if (isfinite(r->cpus))
        bench_add(out, ",\"cpus\":%.17g,\"memory_bytes\":%.17g", r->cpus,
                  r->memory_bytes);
    if (r->attribute_count > 0)
        bench_add(out,
                  ",\"attributes\":{\"arch\":\"%s\",\"os\":\"%s\",\"scratch_mb\":%.17g}",
                  r->attributes[0].text, r->attributes[1].text, r->attributes[2].number);
    bench_add(out, "}");
}

/* An expression as a JSON string: its only special characters are quotes. */
static inline void grid_print_expression(const char *text, struct bench_text *out)
{
    bench_add(out, "\"");
    for (; *text; text++)
        bench_add(out, "%s%c", *text == '"' ? "\\" : "", *text);
    bench_add(out, "\"");
}

static inline void grid_print_job(const struct job *j, struct bench_text *out)
{
    bench_add(out, "{\"id\":\"%s\"", j->id);
    if (j->requirement) {
        bench_add(out, ",\"estimate_ref_s\":%.17g,\"cpus\":%.17g,\"memory_bytes\":%.17g,",
                  j->estimate_ref_s, j->cpus, j->memory_bytes);
        bench_add(out, "\"requirement\":");
        grid_print_expression(j->requirement, out);
    }
    for (size_t i = 0; i < j->etc_count; i++)
        bench_add(out, "%s%.17g%s", i == 0 ? ",\"etc_s\":[" : ",", j->etc_s[i],
                  i + 1 == j->etc_count ? "]" : "");
    bench_add(out, "}");
}

/* A body for POST /v1/placements. `more`: further members, beginning with a comma. */
static inline void grid_print(const struct grid *g, const char *algorithm,
                              const char *more, struct bench_text *out)
{
    bench_add(out, "{\"algorithm\":\"%s\"%s,\"snapshot\":{\"resources\":[", algorithm,
              more);
    for (size_t i = 0; i < g->resource_count; i++) {
        bench_add(out, "%s", i ? "," : "");
        grid_print_resource(&g->resources[i], out);
    }
    bench_add(out, "]},\"jobs\":[");
    for (size_t i = 0; i < g->job_count; i++) {
        bench_add(out, "%s", i ? "," : "");
        grid_print_job(&g->jobs[i], out);
    }
    bench_add(out, "]}");
}

#endif
