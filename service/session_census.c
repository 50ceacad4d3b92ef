/* session_census.c - how many workflow sessions there are of each status. */
#include "service/session_census.h"

#include "service/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { ARENA_BYTES = 1 << 20 };

static const double SHARE = 0.01; /* of the time that counting may take */

struct session_census {
    struct session_census_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool begun, closing;
    bool failing; /* the thread's: the last count failed, and that was said */
    struct store_session_census last;
};

static void count(struct session_census *c)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct db_session *s = a ? db_session_create(c->options.db, NULL, a) : NULL;
    struct store_session_census now = {0};
    struct error err = {.code = OK};

    if (s && store_session_census(s, &now, a, &err) == OK) {
        pthread_mutex_lock(&c->mutex);
        c->last = now;
        pthread_mutex_unlock(&c->mutex);
    }
    if (err.code != OK && !c->failing && c->options.log)
        c->options.log(c->options.log_context, err.text);
    c->failing = err.code != OK;
    db_session_close(s);
    arena_close(a);
}

/* False when it is time to end. */
static bool pause_for(struct session_census *c, double pause_s)
{
    double end_s = clock_monotonic_s() + pause_s;
    struct timespec until = {(time_t)end_s, (long)((end_s - floor(end_s)) * 1e9)};
    bool go_on;

    pthread_mutex_lock(&c->mutex);
    while (!c->closing)
        if (pthread_cond_timedwait(&c->wake, &c->mutex, &until) != 0)
            break;
    go_on = !c->closing;
    pthread_mutex_unlock(&c->mutex);
    return go_on;
}

static void *work(void *context)
{
    struct session_census *c = context;
    double took_s;

    pthread_setname_np(pthread_self(), "census");
    do {
        took_s = -clock_monotonic_s();
        count(c);
        took_s += clock_monotonic_s();
    } while (pause_for(c, fmax(CENSUS_EVERY_S, took_s / SHARE)));
    return NULL;
}

enum error_code session_census_create(const struct session_census_options *options,
                                      struct session_census **out, struct error *err)
{
    struct session_census *c = calloc(1, sizeof(*c));
    pthread_condattr_t attributes;

    if (!c)
        return fail_memory(err);
    c->options = *options;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    *out = c;
    return OK;
}

void session_census_begin(struct session_census *c)
{
    if (!c || c->begun)
        return;
    c->begun = pthread_create(&c->thread, NULL, work, c) == 0;
    if (!c->begun && c->options.log)
        c->options.log(c->options.log_context, "no thread to count workflow sessions");
}

void session_census_close(struct session_census *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->mutex);
    c->closing = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->mutex);
    if (c->begun)
        pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

/* ---- /metrics ---- */

#define READ(status)                           \
    static double read_##status(void *context) \
    {                                          \
        struct session_census *c = context;    \
        double value;                          \
                                               \
        pthread_mutex_lock(&c->mutex);         \
        value = (double)c->last.status;        \
        pthread_mutex_unlock(&c->mutex);       \
        return value;                          \
    }
READ(running)
READ(finished)
READ(stuck)
READ(expired)
#undef READ

void session_census_metrics(struct session_census *c, struct metrics *m)
{
    static const struct {
        const char *labels;
        metric_fn *read;
    } rows[] = {{"status=\"running\"", read_running},
                {"status=\"finished\"", read_finished},
                {"status=\"stuck\"", read_stuck},
                {"status=\"expired\"", read_expired}};

    for (size_t i = 0; c && i < sizeof(rows) / sizeof(rows[0]); i++)
        metrics_add(m, &(struct metric_row){
                           METRIC_GAUGE, "gridplan_workflow_sessions", rows[i].labels,
                           "Workflow sessions stored in the database, of all tenants: "
                           "every replica shows the same number.",
                           rows[i].read, c, false});
}
