/* simulation/workload.c - the jobs that a simulated grid gets: what all share. */
#include "algorithms/simulation/workload.h"

#include "algorithms/simulation/workload_parts.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TIME_MAX_S 1e12
#define LARGEST    1e18
#define PRESET     ((double)NAN) /* the generator's own choice */
enum { USERS_MAX = 1000000, BATCHES_MAX = 1000000, COUNT_MAX = 1000000 };

const struct workload_generator_kind workload_generators[] = {
#define X(symbol, name, purpose, source) {#name, purpose, source},
    WORKLOAD_GENERATORS(X)
#undef X
        {0},
};

const char *const workload_generator_names[] = {
#define X(symbol, name, purpose, source) #name,
    WORKLOAD_GENERATORS(X)
#undef X
        NULL,
};

static const struct workload_maker *const makers[WORKLOAD_GENERATOR_COUNT] = {
    [WORKLOAD_BATCH] = &workload_batch,
    [WORKLOAD_INTERFACES] = &workload_interfaces,
    [WORKLOAD_LUBLIN] = &workload_lublin,
    [WORKLOAD_POISSON] = &workload_gaps,
    [WORKLOAD_SIMPLE_DAILY] = &workload_simple_daily,
    [WORKLOAD_SWF] = &workload_swf,
    [WORKLOAD_TORNADO_BATCH] = &workload_tornado,
    [WORKLOAD_UNIFORM_STREAM] = &workload_gaps,
    [WORKLOAD_VM_SESSION] = &workload_gaps,
};

/* ---- presets ---- */

/* Spec simulator.md 14. The two *_daily are what the tables of fault-tolerance.md 9.5
 * were made with. */
const struct workload_preset workload_presets[] = {
    {"ch3_desktop_long", "Desktop grid, jobs of 3.5 h", WORKLOAD_UNIFORM_STREAM, 0, 0,
     12600, PRESET, 0, 1},
    {"ch3_desktop_medium", "Desktop grid, jobs of 1.5 h", WORKLOAD_UNIFORM_STREAM, 0, 0,
     5400, PRESET, 0, 1},
    {"ch3_desktop_short", "Desktop grid, jobs of 10 min", WORKLOAD_UNIFORM_STREAM, 0, 0,
     600, PRESET, 0, 1},
    {"ch3_tornado", "Batches of 1000 simulations", WORKLOAD_TORNADO_BATCH, 0, 0, PRESET,
     PRESET, 0, 1},
    {"ch4_checkpoint", "About 7000 jobs in 7 days, 2.5 h, little data", WORKLOAD_LUBLIN,
     LUBLIN_HIGH, 0, PRESET, 10e6, 10e6, 1},
    {"ch4_checkpoint_stress", "9000 jobs of 2.5 h, checkpoints ten times as long",
     WORKLOAD_SIMPLE_DAILY, 0, 9000, 9000, 10e6, 10e6, 10},
    {"ch4_high", "About 7000 jobs in 7 days, 2.5 h, much data", WORKLOAD_LUBLIN,
     LUBLIN_HIGH, 0, PRESET, 10e9, 10e6, 1},
    {"ch4_high_daily", "7000 jobs, 2.5 h, much data", WORKLOAD_SIMPLE_DAILY, 0, 7000,
     9000, 10e9, 10e6, 1},
    {"ch4_low", "About 700 jobs in 7 days, 0.3 h, much data", WORKLOAD_LUBLIN, LUBLIN_LOW,
     0, PRESET, 10e9, 10e6, 1},
    {"ch4_low_daily", "700 jobs, 0.3 h, much data", WORKLOAD_SIMPLE_DAILY, 0, 700, 1080,
     10e9, 10e6, 1},
    {0},
};

struct workload workload_blank(enum workload_generator generator)
{
    struct workload w = {.generator = generator};
    struct lublin *l = &w.lublin;

    w.start_s = (double)NAN;
    w.stop_s = (double)NAN;
    w.checkpoint_overhead_factor = (double)NAN;
    w.swf_mips = (double)NAN;
    l->aarr = l->barr = l->arar = l->anum = l->bnum = (double)NAN;
    l->a1 = l->b1 = l->a2 = l->b2 = l->pa = l->pb = (double)NAN;
    return w;
}

/* A copy in `a`. */
static const struct distribution *keep(struct distribution d, struct arena *a)
{
    struct distribution *kept = NEW(a, struct distribution, 1);

    *kept = d;
    return kept;
}

static struct distribution daily_length(double mean_mi)
{
    struct distribution d = distribution_blank(DISTRIBUTION_LOGNORMAL);

    d.mean = mean_mi;
    d.sigma = 0.6;
    return d;
}

static struct distribution tornado_length(void)
{
    struct distribution d = distribution_blank(DISTRIBUTION_NORMAL);

    d.mean = 600;
    d.sd = 120;
    d.min = 60;
    return d;
}

enum error_code workload_from_preset(const char *name, struct workload *w,
                                     struct arena *a, struct error *err)
{
    const struct workload_preset *p = workload_presets;
    struct workload made;

    while (p->name && strcmp(p->name, name) != 0)
        p++;
    if (!p->name)
        return fail(err, ERR_NOT_FOUND, "", "there is no workload preset '%.100s'", name);
    made = workload_blank(p->generator);
    made.lublin.set = p->set;
    made.job_count = p->job_count;
    made.checkpoint_overhead_factor = p->checkpoint_overhead_factor;
    made.checkpoint_bytes = keep(distribution_constant(p->checkpoint_bytes), a);
    if (!isnan(p->bytes)) {
        made.input_bytes = keep(distribution_constant(p->bytes), a);
        made.output_bytes = made.input_bytes;
    }
    if (!isnan(p->mean_length_mi))
        made.length_mi = keep(p->generator == WORKLOAD_SIMPLE_DAILY
                                  ? daily_length(p->mean_length_mi)
                                  : distribution_constant(p->mean_length_mi),
                              a);
    *w = made;
    return OK;
}

/* ---- checks and defaults ---- */

void workload_mistake(struct workload_place at, const char *name, enum item_code code,
                      const char *format, ...)
{
    char pointer[256], text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "%.150s/%s", at.pointer, name);
    invalid(at.err, pointer, code, "%s", text);
}

/* `d` in the place of NULL; prepared, and checked not to give negative values. */
static enum error_code settle(const struct distribution **member, const char *name,
                              struct distribution preset, struct workload_place at,
                              struct arena *a)
{
    struct distribution *d = NEW(a, struct distribution, 1);
    char pointer[256];

    *d = *member ? **member : preset;
    snprintf(pointer, sizeof(pointer), "%.150s/%s", at.pointer, name);
    TRY(distribution_prepare(d, pointer, a, at.err));
    if (distribution_least(d) < 0)
        return invalid(at.err, pointer, ITEM_OUT_OF_BOUNDS,
                       "must not give negative values%s",
                       d->kind == DISTRIBUTION_NORMAL ? "; give it a min" : "");
    *member = d;
    return OK;
}

static struct distribution gap_preset(enum workload_generator generator)
{
    return generator == WORKLOAD_UNIFORM_STREAM ? distribution_uniform(60, 300)
                                                : distribution_exponential(60);
}

static struct distribution length_preset(enum workload_generator generator)
{
    switch (generator) {
    case WORKLOAD_TORNADO_BATCH:
        return tornado_length();
    case WORKLOAD_SIMPLE_DAILY:
        return daily_length(9000);
    case WORKLOAD_POISSON:
        return distribution_exponential(3600);
    default:
        return distribution_constant(600);
    }
}

/* Goes on after a mistake, so that all of them are found. */
static void settle_all(struct workload *w, struct workload_place at, struct arena *a)
{
    bool tornado = w->generator == WORKLOAD_TORNADO_BATCH;
    struct {
        const struct distribution **member;
        const char *name;
        struct distribution preset;
    } rows[] = {
        {&w->arrival_gap_s, "arrival_gap_s", gap_preset(w->generator)},
        {&w->length_mi, "length_mi", length_preset(w->generator)},
        {&w->input_bytes, "input_bytes", distribution_constant(tornado ? 2e6 : 0)},
        {&w->output_bytes, "output_bytes", distribution_constant(tornado ? 10e6 : 0)},
        {&w->checkpoint_bytes, "checkpoint_bytes", distribution_constant(0)},
        {&w->mips_required, "mips_required", distribution_constant(1)},
        {&w->session_s, "session_s", distribution_exponential(3600)},
        {&w->checkpoint_overhead_s, "checkpoint_overhead_s", distribution_constant(0)},
    };
    size_t count = sizeof(rows) / sizeof(rows[0]);
    enum error_code code = OK;

    if (!w->checkpoint_overhead_s)
        count--; /* stays NULL: the rule by length */
    for (size_t i = 0; i < count; i++) {
        enum error_code one = settle(rows[i].member, rows[i].name, rows[i].preset, at, a);

        code = one != OK ? one : code;
    }
    if (code == OK && !(distribution_mean(w->arrival_gap_s) > 0))
        workload_mistake(at, "arrival_gap_s", ITEM_OUT_OF_BOUNDS,
                         "its mean must be above 0");
}

static void settle_number(double *number, const char *name, double min, double max,
                          double preset, struct workload_place at)
{
    if (isnan(*number))
        *number = preset;
    else if (!(*number >= min && *number <= max))
        workload_mistake(at, name, ITEM_OUT_OF_BOUNDS, "%g is not between %g and %g",
                         *number, min, max);
}

static void settle_count(uint64_t *count, const char *name, uint64_t max, uint64_t preset,
                         struct workload_place at)
{
    if (*count == 0)
        *count = preset;
    else if (*count > max)
        workload_mistake(at, name, ITEM_OUT_OF_BOUNDS, "%ju is above %ju",
                         (uintmax_t)*count, (uintmax_t)max);
}

static void settle_numbers(struct workload *w, struct workload_place at)
{
    bool tornado = w->generator == WORKLOAD_TORNADO_BATCH;
    bool daily = w->generator == WORKLOAD_SIMPLE_DAILY;

    settle_number(&w->start_s, "start_s", 0, TIME_MAX_S, 0, at);
    settle_number(&w->stop_s, "stop_s", 0, TIME_MAX_S, HUGE_VAL, at);
    settle_number(&w->checkpoint_overhead_factor, "checkpoint_overhead_factor", 0,
                  LARGEST, 1, at);
    settle_number(&w->swf_mips, "swf_mips", DBL_MIN, LARGEST, 1, at);
    settle_count(&w->job_count, "job_count", COUNT_MAX, daily ? 7000 : 0, at);
    settle_count(&w->user_count, "user_count", USERS_MAX, tornado ? 10 : 1, at);
    settle_count(&w->batch_size, "batch_size", COUNT_MAX, 1000, at);
    settle_count(&w->batches_min, "batches_min", BATCHES_MAX, 1, at);
    settle_count(&w->batches_max, "batches_max", BATCHES_MAX,
                 w->batches_min > 2 ? w->batches_min : 2, at);
}

enum error_code workload_prepare(struct workload *w, const char *pointer, struct arena *a,
                                 struct error *err)
{
    struct workload_place at = {pointer, err};
    struct workload made = *w;
    size_t found_before = err->item_count;

    assert((unsigned)w->generator < WORKLOAD_GENERATOR_COUNT);
    assert((unsigned)w->lublin.set < LUBLIN_SET_COUNT);
    lublin_complete(&made.lublin);
    settle_numbers(&made, at);
    settle_all(&made, at, a);
    if (makers[made.generator]->check)
        makers[made.generator]->check(&made, at);
    if (err->item_count > found_before)
        return ERR_INVALID;
    *w = made;
    return OK;
}

/* ---- a stream of jobs ---- */

double checkpoint_overhead_of(double length_mi)
{
    return 0.1 + 4.9 * fmin(1, length_mi / 36000);
}

static struct stream stream_open(uint64_t seed, const char *name)
{
    return (struct stream){rng_stream(seed, name), 0};
}

enum error_code workload_open(const struct workload *config, uint64_t seed,
                              double horizon_s, struct workload_source **source,
                              struct arena *a, struct error *err)
{
    struct workload_source *s = NEW(a, struct workload_source, 1);

    s->config = config;
    s->seed = seed;
    s->end_s = fmin(horizon_s, config->stop_s) - config->start_s;
    s->limit = config->job_count ? config->job_count : UINT64_MAX;
    s->missed_s = HUGE_VAL;
    s->user_count = (size_t)config->user_count;
    s->arrival = stream_open(seed, "job.arrival");
    s->length = stream_open(seed, "job.length");
    s->input = stream_open(seed, "job.input");
    s->output = stream_open(seed, "job.output");
    s->checkpoint = stream_open(seed, "job.checkpoint");
    s->overhead = stream_open(seed, "job.overhead");
    s->user = stream_open(seed, "job.user");
    s->mips = stream_open(seed, "job.mips");
    s->session = stream_open(seed, "job.session");
    if (makers[config->generator]->open)
        TRY(makers[config->generator]->open(s, a, err));
    *source = s;
    return OK;
}

/* What the generator left open. */
static void complete(struct workload_source *s, struct sim_job *job)
{
    const struct workload *w = s->config;

    if (isnan(job->length_mi))
        job->length_mi = stream_draw(&s->length, w->length_mi);
    if (isnan(job->input_bytes))
        job->input_bytes = stream_draw(&s->input, w->input_bytes);
    if (isnan(job->output_bytes))
        job->output_bytes = stream_draw(&s->output, w->output_bytes);
    if (isnan(job->checkpoint_bytes))
        job->checkpoint_bytes = stream_draw(&s->checkpoint, w->checkpoint_bytes);
    if (isnan(job->checkpoint_overhead_s))
        job->checkpoint_overhead_s =
            w->checkpoint_overhead_factor *
            (w->checkpoint_overhead_s
                 ? stream_draw(&s->overhead, w->checkpoint_overhead_s)
                 : checkpoint_overhead_of(job->length_mi));
    if (job->user == SIM_ANY_USER)
        job->user = s->user_count > 1 ? rng_index(&s->user.rng, s->user_count) : 0;
    if (job->cpus == 0)
        job->cpus = 1;
}

bool workload_next(struct workload_source *source, struct sim_job *job)
{
    const struct workload *w = source->config;
    struct sim_job made = {
        .length_mi = (double)NAN,
        .input_bytes = (double)NAN,
        .output_bytes = (double)NAN,
        .checkpoint_bytes = (double)NAN,
        .checkpoint_overhead_s = (double)NAN,
        .user = SIM_ANY_USER,
        .resource = SIM_NOT_PINNED,
        .mips_required = (double)NAN,
        .session_s = (double)NAN,
        .requested_s = (double)NAN,
        .given = SIZE_MAX,
    };

    if (source->number >= source->limit) {
        if (w->truncates && source->limit > 0 &&
            makers[w->generator]->next(source, &made) && made.arrival_s < source->end_s)
            source->missed_s = made.arrival_s;
        source->limit = 0;
        return false;
    }
    if (!makers[w->generator]->next(source, &made) || !(made.arrival_s < source->end_s)) {
        source->limit = 0; /* for good */
        return false;
    }
    complete(source, &made);
    made.number = source->number++;
    source->arrival_s = made.arrival_s;
    made.arrival_s += w->start_s;
    *job = made;
    return true;
}

double workload_truncated_s(const struct workload_source *source)
{
    return source->missed_s + source->config->start_s;
}

size_t workload_user_count(const struct workload_source *source)
{
    return source->user_count;
}
